//! The rules that choose a plan for a problem without a record, one a line.

use super::plan::Plan;
use super::recorded;
use crate::gemm::records::Kind;

/// All plans of the rules, some of them twice.
pub(super) const ALL: [Plan; 1 + TILES.len() + 2 * FEW.len() + 6 * SHARED.len()] = {
    let mut all = [SHORT; 1 + TILES.len() + 2 * FEW.len() + 6 * SHARED.len()];
    let (mut i, mut next) = (0, 1);
    while i < TILES.len() {
        all[next] = TILES[i].0;
        (i, next) = (i + 1, next + 1);
    }
    i = 0;
    while i < FEW.len() {
        all[next] = FEW[i];
        all[next + 1] = FEW[i].of_columns();
        (i, next) = (i + 1, next + 2);
    }
    i = 0;
    while i < 3 * SHARED.len() {
        let (plan, parts) = SHARED[i / 3];
        all[next] = plan.split(parts[i % 3]);
        all[next + 1] = all[next].of_columns();
        (i, next) = (i + 1, next + 2);
    }
    all
};

/// Tiles of persistent blocks, and the time that an SM takes for one of them, in units of which the first takes 100: such that the
/// products of the records are ranked as they were measured on an H200. Smaller tiles read more for each product. Kernels of the smallest
/// tiles are over so soon that they gain by beginning early.
pub(super) const TILES: [(Plan, i64); 8] = [
    (Plan::new([128, 256], 2), 100),
    (Plan::new([256, 192], 2), 148),
    (Plan::new([256, 176], 2), 143),
    (Plan::new([256, 112], 2), 89),
    (Plan::new([128, 192], 2), 80),
    (Plan::new([128, 128], 2), 54),
    (Plan::new([192, 96], 3).early(), 60),
    (Plan::new([128, 64], 2).early(), 30),
];

/// Where K is so short that a block stores for a good part of its time: two teams of a warpgroup each, of which one stores while the other one
/// multiplies, as long as each has some tiles.
const SHORT: Plan = Plan::new([128, 128], 1).teams(2);
/// The most elements along K that are short, as measured for 512 (`benches/records/2026-11-23-h200-sweeps.md`), and the least tiles of a team.
const SHORTEST: i64 = 512;
const TURNS: i64 = 3;

/// The plans of problems whose rows are the same wherever they are: one for any N, and one for an N of a few.
pub(super) const INVARIANT: [Plan; 2] = [TILES[5].0, TILES[7].0];

/// The plan for such a problem of this many columns, of those that `fits` accepts.
pub(super) fn invariant(n: i64, fits: impl Fn(&Plan) -> bool) -> Plan {
    let [any, few] = INVARIANT;
    if n > few.tile[1] && fits(&any) { any } else { few }
}

/// Few columns, such as the tokens of a small batch, and many rows, such as those of a weight. Where the columns are a good part of
/// what a block reads, blocks multicast their tile.
const FEW: [Plan; 4] = [
    Plan::new([128, 16], 1).deep(),
    Plan::new([128, 32], 1).deep(),
    Plan::new([128, 64], 1).deep().multicast(4).early(),
    Plan::new([128, 128], 2).multicast(4).early(),
];

/// The same with so few rows that SMs would have no tile: smaller tiles, and as many blocks for a tile as are named.
const SHARED: [(Plan, [i64; 3]); 3] = [
    (Plan::new([64, 16], 1).deep().early(), [1, 2, 4]),
    (Plan::new([64, 64], 1).deep().early(), [1, 2, 4]),
    (Plan::new([64, 128], 1).deep().early(), [1, 2, 4]),
];

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

/// The most columns that are few, and how many times as many rows there are.
const FEWEST: i64 = 128;
const TIMES: i64 = 8;

/// The rule by which a problem gets its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Few columns, and so few tiles that several blocks share each, or have one each.
    Shared,
    /// Few columns.
    Few,
    /// K is short.
    Short,
    /// The tile with which the last SM finishes first.
    Turns,
    /// One tile for any M.
    Invariant,
    /// The same of groups, whose last tiles are filled by half.
    Groups,
}

/// The plans that can be chosen, each once: those of the rules, and for products of a kind those that shipped records name.
pub(super) fn named(kind: Option<Kind>) -> impl Iterator<Item = Plan> {
    let mut named: Vec<Plan> = Vec::new();
    for plan in ALL.into_iter().chain(kind.into_iter().flat_map(recorded::plans)) {
        if !named.contains(&plan) {
            named.push(plan);
        }
    }
    named.into_iter()
}

/// The plan for `batches` products, each of which is a C of M x N with contiguous rows and sums of K products, of the plans that `fits`
/// accepts.
pub(super) fn plan(
    [m, n, k]: [i64; 3],
    batches: i64,
    multiprocessors: i64,
    fits: impl Fn(&Plan) -> bool,
) -> (Plan, Rule) {
    let (few, many) = (m.min(n), m.max(n));
    let oriented = |plan: Plan| if m < n { plan.of_columns() } else { plan };
    if few <= FEWEST && many >= TIMES * few {
        // Where tiles of 64 rows are no more than multiprocessors, each block has one or shares it, as long as there is enough of K.
        let tiles = ((many + 63) / 64).saturating_mul(batches);
        let shared = SHARED.into_iter().filter(|(plan, _)| few <= plan.tile[1]).find_map(|(plan, parts)| {
            let enough = |parts: &i64| {
                tiles.saturating_mul(*parts) <= together(multiprocessors, *parts) && k >= 512 * parts
            };
            parts.into_iter().rev().filter(enough).map(|parts| oriented(plan.split(parts))).find(&fits)
        });
        let shared = shared.map(|plan| (plan, Rule::Shared));
        // Else the fewest columns that hold all, if most multiprocessors have a tile.
        let filled = |plan: &Plan| {
            few <= plan.tile[1] && 2 * many.saturating_mul(batches) >= plan.tile[0] * multiprocessors
        };
        let multicast =
            || FEW.into_iter().filter(filled).map(oriented).find(&fits).map(|plan| (plan, Rule::Few));
        if let Some(chosen) = shared.or_else(multicast) {
            return chosen;
        }
    }
    let tiles = |[tile_m, tile_n]: [i64; 2]| {
        ((m + tile_m - 1) / tile_m).saturating_mul((n + tile_n - 1) / tile_n).saturating_mul(batches)
    };
    if k <= SHORTEST && tiles(SHORT.tile) >= TURNS * SHORT.teams * multiprocessors && fits(&SHORT) {
        return (SHORT, Rule::Short);
    }
    // The tile with which the last multiprocessor finishes first: every one takes as many turns as that.
    let time = |plan: &Plan, each: i64| {
        tiles(plan.tile)
            .saturating_add(multiprocessors - 1)
            .div_euclid(multiprocessors.max(1))
            .saturating_mul(each)
    };
    let mut plans = TILES;
    plans.sort_by_key(|(plan, each)| time(plan, *each));
    (plans.into_iter().map(|(plan, _)| plan).find(fits).unwrap_or(TILES[TILES.len() - 1].0), Rule::Turns)
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
