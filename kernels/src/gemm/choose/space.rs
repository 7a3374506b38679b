//! The space of plans: what can be configured, and for a problem in the order of the choice.

use girih_codegen::gemm::Major;

use super::cost::{Cost, Work, cost, together};
use super::facts::Facts;
use super::inputs::MAJORS;
use super::plan::Plan;
use crate::gemm::Problem;

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
const LONG: [Plan; 18] = [
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
    Plan::new([64, 64], 1).early(),
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
const ALONE: [Plan; 12] = [
    Plan::new([128, 128], 1).early(),
    Plan::new([128, 128], 1).teams(2),
    Plan::new([128, 128], 1).teams(2).multicast(2),
    Plan::new([128, 128], 1).teams(2).staged([64, 128]),
    Plan::new([128, 128], 1).teams(2).staged([64, 128]).multicast(2),
    Plan::new([128, 192], 1).teams(2).staged([64, 192]),
    Plan::new([128, 192], 1).teams(2).staged([64, 192]).multicast(2),
    Plan::new([64, 160], 1).teams(2).staged([64, 160]).multicast(2),
    Plan::new([128, 64], 1).teams(2).staged([64, 64]).early(),
    Plan::new([128, 160], 2).multicast(4),
    Plan::new([128, 256], 2).multicast(2),
    Plan::new([128, 192], 2).multicast(2),
];

/// Plans for few columns and many rows, or the reverse: four blocks bring the tile of the few together.
const FEW: [Plan; 4] = [
    Plan::new([64, 32], 1).deep().multicast(4).early(),
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

/// The plans of single products and batches, first those for a C with contiguous rows. The one that is expected to take the least time is chosen.
pub(super) fn listed() -> impl Iterator<Item = Plan> {
    let either = |plan: &Plan| [*plan, plan.stream()];
    let both = LONG.iter().flat_map(either).chain(FEW);
    let both = both.chain(SHARED.iter().flat_map(|plan| [plan.split(2, 2), plan.split(4, 4)]));
    let both = both.chain(MANY.map(|(parts, cluster)| SHARED[2].split(parts, cluster)));
    let rows = EVEN.iter().flat_map(either).chain(both.clone()).chain(ALONE);
    rows.chain(both.map(Plan::of_columns))
}

/// The plans of problems whose rows are the same wherever they are: one for any N, and one for an N of a few.
pub(super) const INVARIANT: [Plan; 2] = [Plan::new([128, 128], 2), Plan::new([128, 64], 2).early()];

/// Tiles of groups and the time that an SM takes for one of them, of which the first takes 100: such that 8 to 64 groups of
/// 8192 x 4096 x 4096 are ranked as they were measured (`benches/records/2026-11-25-h100-groups.md`). The columns of a weight may be the tile's
/// rows. A group's last tile takes as long as a whole one, since it reads as much, so that tiles have few of a group's rows.
pub(super) const GROUPED: [(Plan, i64); 7] = [
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

/// Columns of a tile for weights with scales, which are tokens. With more of them, ptxas has no registers for the accumulators of a tile along K beside all
/// accumulators.
pub(super) const COLUMNS_OF_WEIGHTS: [i64; 3] = [16, 32, 64];
/// Rows of such a tile, and the blocks of a cluster that share its K. The more rows there are, the less often activations are read.
pub(super) const WEIGHTS: [(i64, i64); 4] = [(256, 1), (128, 1), (128, 2), (128, 4)];
/// The least elements of K of such a block.
const LEAST_K: i64 = 512;

/// The plan of a tile whose rows are those of weights, since `wgmma` takes A from registers.
pub(super) fn of_weights(tile: [i64; 2], parts: i64, columns: bool) -> Plan {
    let plan = Plan { columns, ..Plan::new(tile, 2).deep().early() };
    if parts > 1 { plan.split(parts, parts) } else { plan }
}

/// The rule by which a problem of warpgroups gets its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The least time that is expected.
    Least,
    /// One tile for any M.
    Invariant,
    /// The tile with which the last SM finishes first, of groups, whose last tiles are filled by half.
    Groups,
    /// The fewest columns that hold all tokens, of weights with scales.
    Weights,
}

impl Rule {
    /// The rule for a problem.
    pub(super) fn of(problem: &Problem) -> Rule {
        match () {
            () if problem.mixed_input().is_some() => Rule::Weights,
            () if problem.is_invariant() => Rule::Invariant,
            () if problem.groups().is_some() => Rule::Groups,
            () => Rule::Least,
        }
    }
}

/// The plans for a problem of warpgroups, the best first, of which the first one that fits is chosen, or else the last one.
pub(super) fn ordered(problem: &Problem, sides: &[Facts; 2], multiprocessors: u32) -> Vec<Plan> {
    match Rule::of(problem) {
        Rule::Weights => for_weights(problem, i64::from(multiprocessors)),
        Rule::Invariant | Rule::Groups if problem.groups().is_some() => {
            for_groups(problem, i64::from(multiprocessors))
        }
        Rule::Invariant => {
            let few = usize::from(problem.mnk()[1] <= INVARIANT[1].tile[1]);
            INVARIANT[few..].to_vec()
        }
        Rule::Least | Rule::Groups => {
            let by_cost = by_cost(problem, sides, multiprocessors).into_iter().map(|(plan, _)| plan);
            by_cost.chain([INVARIANT[1]]).collect()
        }
    }
}

/// The plans that are listed with what they are expected to take, those of the least cost first.
pub(super) fn by_cost(problem: &Problem, sides: &[Facts; 2], multiprocessors: u32) -> Vec<(Plan, Cost)> {
    let works = sides_of(|major| Work::of(&problem.oriented(major).0));
    let timed = listed().map(|plan| {
        let (facts, work) = (&sides[usize::from(plan.columns)], &works[usize::from(plan.columns)]);
        let plan = facts.adapted(plan);
        let cost = cost(work, &plan, &facts.room(&plan), multiprocessors);
        (plan, cost)
    });
    let timed: Vec<_> = timed.collect();
    let totals = timed.iter().map(|(_, cost)| cost.total()).enumerate();
    let mut order: Vec<(usize, f64)> = totals.filter(|(_, total)| total.is_finite()).collect();
    order.sort_by(|(_, x), (_, y)| x.total_cmp(y));
    order.into_iter().map(|(at, _)| timed[at]).collect()
}

/// What is made for a C with contiguous rows, and for one with contiguous columns.
pub(super) fn sides_of<T>(of: impl Fn(Major) -> T) -> [T; 2] {
    MAJORS.map(of)
}

/// The plans for groups, the one that is expected to finish first before the others: along the shorter side of the tile.
fn for_groups(problem: &Problem, multiprocessors: i64) -> Vec<Plan> {
    let row_major = problem.oriented(Major::K).0;
    let ([m, n, _], mode) = (row_major.mnk(), row_major.batch().grouped().unwrap_or(0));
    let groups = problem.groups().unwrap_or(1);
    let (along, across) = if mode == 0 { (m, n) } else { (n, m) };
    let lying = |plan: Plan| if shorter(&plan) == mode { plan } else { plan.of_columns() };
    if problem.is_invariant() {
        return vec![lying(GROUPED[2].0)];
    }
    let time = |plan: &Plan, each: i64| {
        let short = shorter(plan);
        let (tile, other) = (plan.tile[short], plan.tile[1 - short]);
        // A group's last tile is filled by half.
        let lines = (100 * along / tile + 50 * groups).max(100 * groups.min(along));
        let tiles = lines.saturating_mul((across + other - 1) / other);
        // How many there will be is not known, so that the last turn is half a turn on average.
        tiles.saturating_add(50 * multiprocessors).saturating_mul(each)
    };
    let mut all = GROUPED.map(|(plan, each)| (lying(plan), each));
    all.sort_by_key(|(plan, each)| time(plan, *each));
    all.map(|(plan, _)| plan).to_vec()
}

/// The mode along which a tile is shorter.
pub(super) fn shorter(plan: &Plan) -> usize {
    usize::from(plan.tile[1] < plan.tile[0])
}

/// The plans for weights with scales, the one of which an SM has to go through the fewest rows before the others: with the fewest columns that hold
/// all tokens, and with blocks that share K where each of them is on an SM of its own.
fn for_weights(problem: &Problem, multiprocessors: i64) -> Vec<Plan> {
    let ([m, n, k], by_columns) = (problem.mnk(), problem.c().major() == Major::K);
    let [.., most] = COLUMNS_OF_WEIGHTS;
    let fewest = COLUMNS_OF_WEIGHTS.into_iter().find(|columns| m <= *columns && !problem.is_invariant());
    let columns = fewest.unwrap_or(most);
    let turns = |rows: i64, parts: i64| {
        let blocks = (n + rows - 1) / rows * ((m + columns - 1) / columns) * parts;
        let together = together(multiprocessors, parts).max(1);
        (blocks + together - 1) / together
    };
    let enough = |(rows, parts): &(i64, i64)| {
        *parts == 1 || !problem.is_invariant() && turns(*rows, *parts) <= 1 && k >= LEAST_K * parts
    };
    let mut all: Vec<(i64, i64)> = WEIGHTS.into_iter().filter(enough).collect();
    all.sort_by_key(|&(rows, parts)| (turns(rows, parts) * rows / parts, parts));
    all.push(WEIGHTS[1]);
    all.into_iter().map(|(rows, parts)| of_weights([rows, columns], parts, by_columns)).collect()
}
