//! The plans that a problem without a record may have: for single products and batches the one that is expected to take the least
//! time ([`cost`](super::cost)).

use super::plan::Plan;
use super::recorded;
use crate::gemm::records::Kind;

/// Tiles of which one orientation is enough, whose blocks each take whole tiles, or share what is left over along K.
const EVEN: [Plan; 6] = [
    Plan::new([128, 256], 2),
    Plan::new([192, 192], 3),
    Plan::new([192, 128], 3),
    Plan::new([128, 192], 2),
    Plan::new([128, 128], 2),
    Plan::new([64, 64], 1).deep().early(),
];

/// The same of tiles that are chosen in both orientations: large ones read the least for each product, and small ones are many where C has few
/// elements. Kernels of the smallest are over so soon that they gain by beginning early.
const LONG: [Plan; 17] = [
    Plan::new([256, 192], 2),
    Plan::new([256, 176], 2),
    Plan::new([256, 112], 2),
    Plan::new([256, 96], 2),
    Plan::new([256, 80], 2),
    Plan::new([256, 64], 2),
    Plan::new([192, 96], 3).early(),
    Plan::new([192, 64], 3).early(),
    Plan::new([128, 64], 2).early(),
    Plan::new([64, 96], 1).early(),
    Plan::new([64, 48], 1).early(),
    Plan::new([64, 32], 1).deep().early(),
    Plan::new([64, 16], 1).deep().early(),
    Plan::new([64, 8], 1).deep().early(),
    Plan::new([128, 32], 1).deep(),
    Plan::new([128, 16], 1).deep(),
    Plan::new([256, 8], 2),
];

/// Plans of one orientation whose blocks take whole tiles: of two teams, of which one stores while the other one multiplies, and of blocks that
/// bring their tiles of B together.
const ALONE: [Plan; 5] = [
    Plan::new([128, 128], 1).early(),
    Plan::new([128, 128], 1).teams(2),
    Plan::new([128, 128], 1).teams(2).multicast(2),
    Plan::new([128, 256], 2).multicast(2),
    Plan::new([128, 192], 2).multicast(2),
];

/// Plans for few columns and many rows, or the reverse: four blocks bring the tile of the few together.
const FEW: [Plan; 3] = [
    Plan::new([128, 128], 2).multicast(4).early(),
    Plan::new([128, 64], 1).deep().multicast(4).early(),
    Plan::new([64, 96], 1).multicast(4).early(),
];

/// Plans of which 2 or 4 blocks of a cluster share the K of each tile.
const SHARED: [Plan; 5] = [
    Plan::new([64, 128], 1).deep().early(),
    Plan::new([64, 64], 1).deep().early(),
    Plan::new([64, 32], 1).deep().early(),
    Plan::new([64, 16], 1).deep().early(),
    Plan::new([64, 8], 1).deep().early(),
];

/// Blocks that share the K of each of few small tiles, and those of a cluster.
const MANY: [(i64, i64); 3] = [(28, 4), (60, 4), (120, 4)];

const LISTED: usize = EVEN.len() + LONG.len() + ALONE.len() + FEW.len() + SHARED.len();

/// The plans of which the others are variants, which have the same atoms.
pub(super) const TILES: [Plan; LISTED] = {
    let (lists, mut all): ([&[Plan]; 5], _) = ([&EVEN, &LONG, &ALONE, &FEW, &SHARED], [EVEN[0]; LISTED]);
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let mut i = 0;
        while i < lists[list].len() {
            all[next] = lists[list][i];
            (i, next) = (i + 1, next + 1);
        }
        list += 1;
    }
    all
};

/// All plans of single products and batches, first those for a C with contiguous rows.
pub(super) fn all() -> impl Iterator<Item = Plan> {
    let either = |plan: &Plan| [*plan, plan.stream()];
    let both = LONG.iter().flat_map(either).chain(FEW);
    let both = both.chain(SHARED.iter().flat_map(|plan| [plan.split(2), plan.split(4)]));
    let both = both.chain(MANY.map(|(parts, cluster)| SHARED[2].clusters(parts, cluster)));
    let rows = EVEN.iter().flat_map(either).chain(ALONE).chain(both.clone());
    rows.chain(both.map(Plan::of_columns))
}

/// The plans of problems whose rows are the same wherever they are: one for any N, and one for an N of a few.
pub(super) const INVARIANT: [Plan; 2] = [Plan::new([128, 128], 2), Plan::new([128, 64], 2).early()];

/// The plan for such a problem of this many columns, of those that `fits` accepts.
pub(super) fn invariant(n: i64, fits: impl Fn(&Plan) -> bool) -> Plan {
    let [any, few] = INVARIANT;
    if n > few.tile[1] && fits(&any) { any } else { few }
}

/// Tiles of groups and the time that an SM takes for one of them, of which the first takes 100: such that 8 to 64 groups of
/// 8192 x 4096 x 4096 are ranked as they were measured (`benches/records/2026-11-25-h100-groups.md`). The columns of a weight may be the tile's
/// rows. A group's last tile takes as long as a whole one, since it reads as much, so that tiles have few of a group's rows.
const GROUPED: [(Plan, i64); 7] = [
    (LARGE_OF_GROUPS[1], 100),
    (LARGE_OF_GROUPS[0], 82),
    (Plan::new([128, 128], 2), 63),
    (Plan::new([256, 64], 2), 63),
    (Plan::new([128, 64], 2), 44),
    (Plan::new([128, 32], 1).deep(), 35),
    (Plan::new([128, 16], 1).deep(), 31),
];

/// The largest tiles of groups: for rows that are contiguous along K, and for others, of which 112 are no whole rows of the widest swizzle, or
/// outputs of 32 bits, for which 112 leave no registers.
pub(super) const LARGE_OF_GROUPS: [Plan; 2] = [Plan::new([256, 112], 2), Plan::new([128, 256], 2)];

/// The rule by which a problem gets its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The least time that is expected.
    Least,
    /// One tile for any M.
    Invariant,
    /// The tile with which the last SM finishes first, of groups, whose last tiles are filled by half.
    Groups,
}

/// The plans that can be chosen, each once: those of the rules, and for products of a kind those that shipped records name.
pub(super) fn named(kind: Option<Kind>) -> impl Iterator<Item = Plan> {
    let mut named: Vec<Plan> = Vec::new();
    for plan in all().chain(kind.into_iter().flat_map(recorded::plans)) {
        if !named.contains(&plan) {
            named.push(plan);
        }
    }
    named.into_iter()
}

/// The plans of groups along a mode of the kernel's C: along the shorter side of the tile.
pub(super) fn grouped(mode: usize) -> impl Iterator<Item = Plan> {
    let plans = GROUPED.into_iter().map(|(plan, _)| plan).filter(move |plan| shorter(plan) == mode);
    plans.flat_map(|plan| [plan, plan.of_columns()])
}

/// The mode along which a tile is shorter.
fn shorter(plan: &Plan) -> usize {
    usize::from(plan.tile[1] < plan.tile[0])
}

/// The plan, with the shorter side of its tile along a mode of the kernel's C.
fn lying_along(plan: Plan, mode: usize) -> Plan {
    if shorter(&plan) == mode { plan } else { plan.of_columns() }
}

/// The plan of groups along mode `mode` whose rows are the same wherever they are: one for any N.
pub(super) fn invariant_of_groups(mode: usize) -> Plan {
    lying_along(GROUPED[2].0, mode)
}

/// The plans for `groups` groups along mode `mode` of a C of M x N with contiguous rows, the one that is expected to finish first before the
/// others.
pub(super) fn of_groups(
    [m, n, _]: [i64; 3],
    mode: usize,
    groups: i64,
    multiprocessors: i64,
) -> impl Iterator<Item = Plan> {
    let (along, across) = if mode == 0 { (m, n) } else { (n, m) };
    let time = |plan: &Plan, each: i64| {
        let short = shorter(plan);
        let (tile, other) = (plan.tile[short], plan.tile[1 - short]);
        // A group's last tile is filled by half.
        let lines = (100 * along / tile + 50 * groups).max(100 * groups.min(along));
        let tiles = lines.saturating_mul((across + other - 1) / other);
        // How many there will be is not known, so that the last turn is half a turn on average.
        tiles.saturating_add(50 * multiprocessors).saturating_mul(each)
    };
    let mut all = GROUPED.map(|(plan, each)| (lying_along(plan, mode), each));
    all.sort_by_key(|(plan, each)| time(plan, *each));
    all.into_iter().map(|(plan, _)| plan)
}

/// The blocks that run at a time, where this many are a cluster: the SMs of a cluster are neighbours, and of an H200's 132 only 120
/// make up clusters of 4 or 8 (`cuOccupancyMaxActiveClusters`).
pub(in crate::gemm) fn together(multiprocessors: i64, cluster: i64) -> i64 {
    if cluster > 2 { multiprocessors * 10 / 11 } else { multiprocessors }
}
