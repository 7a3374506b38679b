//! The plans that a tuner measures beside those that are chosen: more tiles, schedules, stages, and ways to stage C.

use girih_codegen::builder::MAX_SHARED;
use girih_codegen::gemm::{GemmConfig, Major, Store};

use super::facts::Facts;
use super::inputs::MAJORS;
use super::plan::{LEAST_STAGES, Plan, RASTER, ROW, promoted};
use super::space::COLUMNS_OF_WEIGHTS;
use crate::gemm::Problem;

/// Rows, how many warpgroups share them, and how many such teams take tiles in alternation.
const ROWS: [(i64, usize, i64); 8] =
    [(64, 1, 1), (128, 1, 1), (128, 2, 1), (192, 3, 1), (256, 2, 1), (64, 1, 2), (128, 1, 2), (64, 1, 3)];
const COLUMNS: [i64; 16] = [8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 256];
/// Blocks of a cluster, and how many share a tile.
const PARTS: [(i64, &[i64]); 4] = [
    (1, &[2, 3, 4, 6, 8, 16, 32, 66, 132]),
    (2, &[2, 16, 32, 66, 132]),
    (4, &[4, 8, 28, 60, 120]),
    (8, &[8, 24, 56, 120]),
];
/// Blocks that bring tiles of B together.
const MULTICASTS: [i64; 3] = [1, 2, 4];
/// The most rows of C for which its columns may be those of the tiles' rows: more fill the rows of a tile themselves.
const SWAPPED: i64 = 256;

/// The configurations of all these plans that can be built for a problem. There are none where `wgmma` does not take the elements.
pub(in crate::gemm) fn wide(problem: &Problem, multiprocessors: u32) -> Vec<GemmConfig> {
    let by_columns = problem.c().major() == Major::K;
    let [first, second] = MAJORS;
    let majors = match () {
        // Weights are the rows of tiles.
        () if problem.mixed_input().is_some() => vec![if by_columns { second } else { first }],
        () if problem.mnk()[0] <= SWAPPED => vec![first, second],
        () => vec![first],
    };
    let mut all = Vec::new();
    for major in majors {
        let Ok(facts) = Facts::of(problem, major) else { continue };
        let oriented = problem.oriented(major).0;
        let plans = bases(&facts, &oriented, multiprocessors).into_iter();
        let plans = plans
            .flat_map(|base| schedules(&facts, &oriented, base))
            .flat_map(|plan| variants(&facts, &oriented, plan));
        all.extend(plans.filter_map(|plan| facts.config(&plan).ok()).filter(|config| config.check().is_ok()));
    }
    if problem.mixed_input().is_some() {
        // The fewest columns that hold all tokens come first.
        all.sort_by_key(|config| config.tile[1]);
    }
    all
}

/// Plans of each tile, whose blocks take whole tiles.
fn bases(facts: &Facts, problem: &Problem, multiprocessors: u32) -> Vec<Plan> {
    let [m, n, _] = problem.mnk();
    let fewest = COLUMNS_OF_WEIGHTS.iter().position(|columns| n <= *columns);
    let few = &COLUMNS_OF_WEIGHTS[fewest.unwrap_or(COLUMNS_OF_WEIGHTS.len() - 1)..];
    let columns = if facts.mixed.is_some() { &few[..few.len().min(2)] } else { &COLUMNS[..] };
    let mut all = Vec::new();
    for (rows, warpgroups, teams) in ROWS {
        for &columns in columns {
            let tiles = ((m + rows - 1) / rows).saturating_mul((n + columns - 1) / columns);
            // Some block has a tile for each team.
            let enough = tiles.saturating_mul(problem.batches()) > (teams - 1) * i64::from(multiprocessors);
            // A swizzled row of elements that are contiguous along N is as long as one along K.
            let narrow =
                facts.majors[1] == Major::Mn && columns % (ROW * 8 / i64::from(facts.dtype.bits())) != 0;
            // Where atoms share a tile's columns, each has whole rows of the swizzle through which C is stored.
            let of_atom = if facts.promotes { promoted(columns) } else { columns };
            let parted = of_atom < columns && of_atom % 64 != 0;
            let plan =
                Plan { columns: problem.c().major() == Major::Mn, ..Plan::new([rows, columns], warpgroups) };
            match facts.mixed {
                Some(_) if teams == 1 => all.push(plan.deep().early()),
                None if enough && !narrow && !parted => {
                    all.extend([plan.teams(teams), plan.teams(teams).deep()])
                }
                _ => {}
            }
        }
    }
    all
}

/// The plan with the schedules that make sense for its tile.
fn schedules(facts: &Facts, problem: &Problem, base: Plan) -> Vec<Plan> {
    let raster = Plan { schedule: RASTER, ..base };
    if facts.mixed.is_some() {
        return vec![base, Plan { early: false, ..base }, raster, base.stream()];
    }
    let tile = base.depth * 8 / i64::from(facts.dtype.bits());
    let along_k = (problem.mnk()[2] + tile - 1) / tile;
    // Each part has some tiles along K, so that its pipeline fills.
    let all = PARTS.iter().flat_map(|(cluster, all)| all.iter().map(|parts| (*parts, *cluster)));
    let parts =
        all.filter(|(parts, _)| along_k / parts >= 4).map(|(parts, cluster)| base.split(parts, cluster));
    [base, base.stream(), raster].into_iter().chain(parts).collect()
}

/// The plan with each way to stage C, each number of stages, and each multicast.
fn variants(facts: &Facts, problem: &Problem, plan: Plan) -> Vec<Plan> {
    let ([rows, columns], element) = (plan.tile, i64::from(facts.output.bits()) / 8);
    let (unit, by_maps) = (64 * plan.warpgroups as i64, facts.store.is_none());
    // All of the tile, or some rows, or some columns of these. Tensor copies of one turn read while the next one is written.
    let share = |shares: i64| ([unit, columns / shares], if by_maps { 2 } else { 1 });
    let turns = if by_maps { [share(4), share(8)] } else { [share(2), share(4)] };
    let mut staged = vec![([rows, columns], 1), ([unit, columns], 1)];
    staged.extend(turns.into_iter().filter(|(tile, _)| tile[1] * element % 64 == 0));
    staged.dedup();
    if facts.mixed.is_some() || matches!(facts.store(&plan, staged[0]).0, Store::Direct { .. }) {
        staged.truncate(1);
    }
    // Only blocks that have rows of C bring something.
    let multicasts = MULTICASTS.into_iter().filter(|by| *by == 1 || problem.mnk()[0] > (by - 1) * rows);
    let mut all = Vec::new();
    for staged in staged {
        let (store, held) = facts.store(&plan, staged);
        let staged = (!matches!(store, Store::Direct { .. })).then_some(staged);
        // As many as fit, or as many as leave room for a second block on the multiprocessor.
        let most = facts.stages(&plan, MAX_SHARED, held);
        let mut stages = vec![most, facts.stages(&plan, MAX_SHARED / 2 - 1024, held)];
        stages.sort_unstable();
        stages.dedup();
        stages.retain(|stages| *stages >= LEAST_STAGES);
        for stages in stages.into_iter().map(Some) {
            all.extend(multicasts.clone().map(|multicast| Plan { multicast, stages, staged, ..plan }));
        }
        // Parts of C that come in turns make room for stages, where these are few. Turns take no time of a team that multiplies meanwhile.
        if plan.teams == 1 && most > LEAST_STAGES {
            break;
        }
    }
    all
}
