//! The pure choice: (problem, kernel) -> facts -> configuration, one reasoned rule a line.

mod configs;
mod cost;
mod mixed;
mod plan;
mod plans;
mod reasons;
mod recorded;

use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, Epilogue, GemmConfig, Mainloop, Major, Schedule, Source, Store};
use girih_device::Limits;
use girih_tensor::DType;

use configs::{
    Input, LARGE, LARGE_SHARED, MultistageFacts, STORES_SIMT, STORES_SM80, STORES_SM90, beside_groups,
    beside_pointers, loads, stores_of_groups, tensor,
};
use plan::{Plan, WarpSpecializedFacts};
use plans::Rule;

use super::repitch::{between, is_worth_transposing, is_worth_turning};
use super::{Matrix, Problem};
use crate::Error;
use crate::launch::widest;

pub use configs::all;
pub(super) use configs::taken;
pub use cost::Cost;
pub(super) use cost::{Way, Work, cost};
pub(super) use mixed::candidates as mixed_candidates;
pub(super) use plan::{LEAST_STAGES, MOST_STAGES, PROMOTION, promoted, registers};
pub use plan::{takes_epilogues, takes_outputs};
pub use reasons::reasons;
pub use recorded::planned;
pub(super) use recorded::{followed, recorded};

/// A family of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// f32 on the CUDA cores.
    Simt,
    /// f64, tf32, f16, bf16 and s8, and from sm_89 on e4m3 and e5m2, by warps of tensor cores.
    Sm80,
    /// f16, bf16, tf32, e4m3, e5m2 and s8 by `wgmma` and TMA copies, on sm_90 alone; f64 by the larger products of warps that sm_90 has.
    /// An A or B of tf32 or of 8 bits that is not contiguous along K is copied before ([`repitched`](super::repitched)).
    Sm90,
}

impl KernelKind {
    /// The kernel for a dtype that runs on every device from sm_80 on; of e4m3 and e5m2 from sm_89 on.
    pub fn for_dtype(dtype: DType) -> KernelKind {
        if dtype == DType::F32 { KernelKind::Simt } else { KernelKind::Sm80 }
    }

    /// The fastest kernel for a problem on a device of architecture `sm`, which is 90 for sm_90.
    pub fn for_problem(problem: &Problem, sm: u32) -> KernelKind {
        if problem.mixed_input().is_some() || problem.block_scales().is_some() {
            return KernelKind::Sm90;
        }
        let fits = match problem.dtype() {
            DType::F32 => false,
            DType::F64 => sm >= 90,
            _ => sm == 90 && by_warpgroups(problem),
        };
        if fits { KernelKind::Sm90 } else { KernelKind::for_dtype(problem.dtype()) }
    }

    /// The name of the kernel on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KernelKind::Simt => "simt",
            KernelKind::Sm80 => "sm80",
            KernelKind::Sm90 => "sm90",
        }
    }
}

impl std::str::FromStr for KernelKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<KernelKind, Error> {
        match text {
            "simt" => Ok(KernelKind::Simt),
            "sm80" => Ok(KernelKind::Sm80),
            "sm90" => Ok(KernelKind::Sm90),
            _ => Err(Error::Unknown {
                what: "kernel",
                text: text.into(),
                accepted: "simt, sm80 and sm90 are accepted",
            }),
        }
    }
}

/// What a choice depends on of a device, beside its architecture. A number of SMs is a device of which no more is known.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose, choose::Hardware};
/// use girih_tensor::DType;
///
/// // A tile of which shared memory holds four stages of 48 KB.
/// let (problem, h200) = (Problem::new(DType::Bf16, [4096; 3], Layout::Tn)?, Hardware { shared: 227 << 10, ..Hardware::from(132) });
/// assert_eq!(choose(&problem, KernelKind::Sm80, h200)?.tile, [128, 256, 64]);
/// assert_eq!(choose(&problem, KernelKind::Sm80, 132)?.tile, [128, 128, 64]);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hardware {
    /// The number of SMs.
    pub multiprocessors: u32,
    /// The most bytes of shared memory that a block may have.
    pub shared: u32,
}

/// The shared memory of a block on GPUs of sm_86 and sm_89, which have the least.
const LEAST_SHARED: u32 = 99 << 10;

impl From<u32> for Hardware {
    fn from(multiprocessors: u32) -> Hardware {
        Hardware { multiprocessors, shared: LEAST_SHARED }
    }
}

impl From<&Limits> for Hardware {
    fn from(limits: &Limits) -> Hardware {
        Hardware { multiprocessors: limits.multiprocessors, shared: limits.shared_per_block_optin }
    }
}

/// Chooses the configuration for a problem on a device, of which the number of SMs is enough, or its [`Limits`]. The kernel
/// computes [`Problem::oriented`].
///
/// What a kernel may rely on are facts: which modes are contiguous, and what divides the pitches and N. Which tile is fastest depends
/// on M and N, and is what was measured for a product where girih comes with a record of it ([`Records::shipped`](super::Records::shipped)). A and B that the kernel does not take as they are laid out are copied ([`repitched`](super::repitched)). What an epilogue
/// reads comes in pieces that fit the registers beside the accumulators of most tiles; the largest are for products without one
/// ([`Problem::with_epilogue`]), and outputs besides C leave the smaller ones.
///
/// # Errors
/// [`Error::Kernel`] if the kernel does not take the dtype, or not with these contiguous modes.
pub fn choose(
    problem: &Problem,
    kind: KernelKind,
    hardware: impl Into<Hardware>,
) -> Result<GemmConfig, Error> {
    let hardware = hardware.into();
    // Of a record that does not count any more `reasons` tells.
    let shipped = recorded::shipped(hardware.multiprocessors).ok().flatten();
    let found = shipped.and_then(|records| recorded(problem, kind, records).ok().flatten());
    found.map_or_else(|| by_rules(problem, kind, hardware), |(config, _)| Ok(config))
}

/// The same, whatever was measured.
pub(super) fn by_rules(problem: &Problem, kind: KernelKind, hardware: Hardware) -> Result<GemmConfig, Error> {
    let config = single(problem, kind, hardware)?;
    let config = several(config, problem.oriented(config.c_major).0.batch());
    Ok(if problem.is_invariant() { forwards(config) } else { config })
}

/// The configuration with blocks that go through K in one order.
fn forwards(config: GemmConfig) -> GemmConfig {
    match config.schedule {
        Schedule::Persistent { .. } => {
            GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..config }
        }
        _ => config,
    }
}

/// Whether a row of C has the same bits by this configuration, wherever it is ([`Problem::with_invariant`]).
pub(super) fn is_invariant(config: &GemmConfig) -> bool {
    matches!(config.schedule, Schedule::Raster { .. } | Schedule::Persistent { alternate: false })
}

/// The configuration with room for what an epilogue reduces: with as many stages less as leave shared memory for it, and by warps of tensor
/// cores with this many threads that each has registers for it. Of pairs of columns that are gated, C's tile has half
/// as many columns; what TMA copies do not store, threads store element by element.
///
/// # Examples
/// ```
/// use girih_codegen::gemm::{Epilogue, Output, Reduction};
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
/// use girih_tensor::DType;
///
/// let config = choose(&Problem::new(DType::Bf16, [2048, 1024, 512], Layout::Tn)?, KernelKind::Sm90, 132)?;
/// let sums = Epilogue::new().reduce(Output::row("sums", Reduction::Sum));
/// assert!(choose::with_room(config, &sums).takes(&sums).is_ok());
/// assert_eq!(choose::with_room(config, &Epilogue::new()), config);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn with_room(mut config: GemmConfig, epilogue: &Epilogue) -> GemmConfig {
    if epilogue.is_gated() {
        if let Store::Tma { tile: [rows, columns], stages } = config.store {
            let halved = Store::Tma { tile: [rows, columns / 2], stages };
            let halved = GemmConfig { store: halved, ..config };
            if halved.takes(epilogue).is_ok() {
                return halved;
            }
        }
        config.store = Store::Direct { vector: 1 };
    } else if epilogue.outputs().is_empty() {
        return config;
    }
    if let Mainloop::Multistage(_) = config.mainloop {
        return configs::spread(config);
    }
    while config.takes(epilogue).is_err() {
        let Mainloop::WarpSpecialized(parts) = &mut config.mainloop else { break };
        if parts.stages == 2 {
            break;
        }
        parts.stages -= 1;
    }
    config
}

/// The configuration for several products.
fn several(config: GemmConfig, batch: Batch) -> GemmConfig {
    match batch {
        Batch::Single | Batch::Strided => GemmConfig { batch, ..config },
        Batch::Pointers => GemmConfig { batch, ..beside_pointers(config) },
        Batch::Grouped { .. } => {
            // Only such blocks go through groups.
            let schedule = Schedule::Persistent { alternate: false };
            GemmConfig { batch, schedule, ..beside_groups(config) }
        }
    }
}

/// The configuration without regard to other products of a batch than their number.
fn single(problem: &Problem, kind: KernelKind, hardware: Hardware) -> Result<GemmConfig, Error> {
    let multiprocessors = hardware.multiprocessors;
    if problem.mixed_input().is_some() {
        return mixed::choose(problem, kind, multiprocessors);
    }
    let row_major = problem.oriented(Major::K).0;
    let refused = |kernel, accepted| Err(Error::Kernel { kernel, dtype: problem.dtype().name(), accepted });
    if problem.block_scales().is_some() && kind != KernelKind::Sm90 {
        return refused(kind.name(), "sm90 takes blocks with scales");
    }
    match (kind, tensor(problem)) {
        (KernelKind::Simt, _) if problem.dtype() == DType::F32 => Ok(of_f32(&row_major).simt()),
        (KernelKind::Sm80, Some(input)) => {
            let facts = facts(&row_major, &STORES_SM80);
            Ok(MultistageFacts { large: is_large(&row_major, hardware), ..facts }.sm80(input))
        }
        (KernelKind::Sm90, Some(input)) => match input.of_warps() {
            Some((atom, name)) => Ok(facts(&row_major, &STORES_SM80).doubles(atom, name)),
            None if problem.pointers().is_some() => {
                refused("sm90", "one address for all products is accepted; sm80 takes one for each")
            }
            None => fastest(problem, input, multiprocessors).0.config(input),
        },
        (KernelKind::Simt, _) => refused("simt", "f32 is accepted; sm80 and sm90 take the other dtypes"),
        (KernelKind::Sm80, _) => {
            refused("sm80", "f64, tf32, f16, bf16, e4m3, e5m2 and s8 are accepted; simt takes f32")
        }
        (KernelKind::Sm90, _) => {
            refused("sm90", "f64, tf32, f16, bf16, e4m3, e5m2 and s8 are accepted; simt takes f32")
        }
    }
}

/// The configurations of f32 on the CUDA cores that a tuner measures for a problem, the usual one first.
pub(super) fn simt(problem: &Problem) -> impl Iterator<Item = GemmConfig> {
    let row_major = problem.oriented(Major::K).0;
    of_f32(&row_major).all_simt().map(move |config| several(config, row_major.batch()))
}

/// The configurations of warps of tensor cores that a tuner measures for a problem, the usual one first.
pub(super) fn sm80(problem: &Problem) -> impl Iterator<Item = GemmConfig> {
    let row_major = problem.oriented(Major::K).0;
    let facts = || facts(&row_major, &STORES_SM80);
    let all = tensor(problem).into_iter().flat_map(move |input| facts().all_sm80(input));
    all.map(move |config| several(config, row_major.batch())).collect::<Vec<_>>().into_iter()
}

/// Whether an operand can be copied to where a kernel takes it: groups begin anywhere, and a copy reads from one address.
fn has_copies(problem: &Problem) -> bool {
    problem.groups().is_none() && problem.pointers().is_none()
}

/// What a kernel of f32 relies on. Operands along K that are worth it are copied first, to rows of whole vectors.
fn of_f32(problem: &Problem) -> MultistageFacts {
    let facts = facts(problem, &STORES_SIMT);
    let turned = |source: Source, operand| {
        let is_copied = !problem.is_invariant() && has_copies(problem) && is_worth_turning(problem, operand);
        if is_copied { Source { major: Major::Mn, vector: 4 } } else { source }
    };
    MultistageFacts { a: turned(facts.a, Operand::A), b: turned(facts.b, Operand::B), ..facts }
}

/// The widest loads and stores that pitches and N are aligned to.
fn facts(problem: &Problem, stores: &[i64]) -> MultistageFacts {
    let source = |matrix: &Matrix, mode: usize| {
        // Vectors of f32 along K are transposed, and end with K.
        let transposed = problem.dtype() == DType::F32 && matrix.major() == Major::K;
        let k = if transposed { problem.mnk()[2] } else { 0 };
        // Groups begin at any element.
        let anywhere = matrix.major() == Major::Mn && problem.batch().grouped() == Some(mode);
        let begins = [aligned(matrix, problem.dtype()), between(matrix), i64::from(anywhere)];
        let vector = widest(
            loads(problem.dtype(), matrix.major()),
            &[matrix.ld(), k, begins[0], begins[1], begins[2]],
        );
        Source { major: matrix.major(), vector }
    };
    MultistageFacts {
        dtype: problem.dtype(),
        a: source(&problem.a(), 0),
        b: source(&problem.b(), 1),
        store: stored(problem, stores),
        output: problem.output(),
        fused: problem.is_fused(),
        large: false,
    }
}

/// Whether the large tile of warps finishes before two blocks of the usual one on each SM, if it fits: it takes 97 % of the time
/// of two of these, 359 us instead of 371 us for 4096 x 4096 x 4096 on an H200.
fn is_large(problem: &Problem, hardware: Hardware) -> bool {
    let ([m, n, _], each) = (problem.mnk(), i64::from(hardware.multiprocessors.max(1)));
    let tiles = |[rows, columns]: [i64; 2]| {
        ((m + rows - 1) / rows).saturating_mul((n + columns - 1) / columns).saturating_mul(problem.batches())
    };
    let turns = |tiles: i64, at_once: i64| tiles.saturating_add(at_once - 1) / at_once;
    let (large, usual) = (tiles(LARGE), tiles([LARGE[0], LARGE[1] / 2]));
    let sooner = turns(large, each).saturating_mul(97) <= turns(usual, 2 * each).saturating_mul(100);
    let together = matches!(problem.batch(), Batch::Single | Batch::Strided);
    together && large >= each && sooner && hardware.shared >= LARGE_SHARED
}

/// How many elements the address of a matrix is a multiple of.
fn aligned(matrix: &Matrix, dtype: DType) -> i64 {
    matrix.alignment() * 8 / i64::from(dtype.bits())
}

/// The widest of `stores` that C's rows are aligned to.
fn stored(problem: &Problem, stores: &[i64]) -> i64 {
    let c = problem.c();
    let anywhere = i64::from(problem.batch().grouped() == Some(c.contiguous()));
    let line = c.extents()[c.contiguous()];
    widest(stores, &[c.ld(), line, aligned(&c, problem.output()), between(&c), anywhere])
}

/// What a warp-specialised kernel by this plan relies on.
fn with(problem: &Problem, plan: Plan) -> WarpSpecializedFacts {
    let oriented = problem.oriented(plan.c_major()).0;
    let line = 128 / i64::from(oriented.output().bits());
    let by_maps = stored(&oriented, &[line]) == line;
    let store = match oriented.batch() {
        Batch::Grouped { .. } => Some(stored(&oriented, &stores_of_groups(oriented.output()))),
        Batch::Single | Batch::Strided | Batch::Pointers => {
            (!by_maps).then(|| stored(&oriented, &STORES_SM90))
        }
    };
    WarpSpecializedFacts {
        dtype: oriented.dtype(),
        sums: oriented.sums(),
        majors: taken(oriented.dtype(), [oriented.a().major(), oriented.b().major()]),
        output: oriented.output(),
        store,
        batch: oriented.batch(),
        promotes: problem.promotes(),
        fused: problem.is_fused(),
        // Groups have no such epilogues, which is refused where the kernel is generated.
        reduces: (problem.reduces() || problem.is_gated()) && problem.groups().is_none(),
        scales: oriented.block_scales(),
        plan,
    }
}

/// What warp-specialised kernels for groups rely on, the one that is expected to finish first before the others.
fn of_groups(problem: &Problem, input: &Input, multiprocessors: u32) -> Vec<WarpSpecializedFacts> {
    let row_major = problem.oriented(Major::K).0;
    let (Some(mode), Some(groups)) = (row_major.batch().grouped(), problem.groups()) else {
        return Vec::new();
    };
    let plans = if problem.is_invariant() {
        vec![plans::invariant_of_groups(mode)]
    } else {
        plans::of_groups(row_major.mnk(), mode, groups, i64::from(multiprocessors)).collect()
    };
    plans.into_iter().map(|plan| with(problem, plan)).filter(|facts| facts.fits(input)).collect()
}

/// The configurations of warpgroups that a tuner measures for groups, the usual one first.
pub(super) fn sm90_of_groups(problem: &Problem, multiprocessors: u32) -> impl Iterator<Item = GemmConfig> {
    let input = tensor(problem).filter(|input| input.of_warps().is_none());
    let all = move |input| {
        of_groups(problem, input, multiprocessors).into_iter().filter_map(|facts| facts.config(input).ok())
    };
    input.into_iter().flat_map(all).collect::<Vec<_>>().into_iter()
}

/// What the fastest warp-specialised kernel relies on, and the rule that says which it is.
fn fastest(problem: &Problem, input: &Input, multiprocessors: u32) -> (WarpSpecializedFacts, Rule) {
    if let Some(facts) = of_groups(problem, input, multiprocessors).into_iter().next() {
        return (facts, if problem.is_invariant() { Rule::Invariant } else { Rule::Groups });
    }
    if problem.is_invariant() {
        let plan = plans::invariant(problem.mnk()[1], |plan| fits(with(problem, *plan), problem, input));
        return (with(problem, plan), Rule::Invariant);
    }
    let least = by_cost(problem, multiprocessors).into_iter().map(|(facts, _)| facts);
    let usual = with(problem, plans::INVARIANT[1]);
    (least.into_iter().find(|facts| fits(*facts, problem, input)).unwrap_or(usual), Rule::Least)
}

/// What the kernels of all plans rely on, with their costs, those of the least cost first.
fn by_cost(problem: &Problem, multiprocessors: u32) -> Vec<(WarpSpecializedFacts, Cost)> {
    // All that plans of one orientation ask of the problem is the same.
    let [any, _] = plans::INVARIANT;
    let sides = [any, any.of_columns()]
        .map(|plan| (with(problem, plan), Work::of(&problem.oriented(plan.c_major()).0)));
    let of = |plan: Plan| {
        let (facts, work) = sides[usize::from(plan.columns)];
        let facts = WarpSpecializedFacts { plan, ..facts };
        (facts, cost(&work, &facts.way(), multiprocessors))
    };
    let mut all: Vec<_> = plans::all().map(of).collect();
    all.retain(|(_, cost)| cost.total().is_finite());
    all.sort_by(|(_, x), (_, y)| x.total().total_cmp(&y.total()));
    all
}

/// The configurations that are expected to take the least time, at most `most`, with what they are expected to take. There are none
/// of problems that are not solved by warpgroups, of groups, of weights with scales, and where rows are the same wherever they are.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [64, 64, 11200], Layout::Tt)?;
/// let found = choose::least(&problem, 132, 4);
/// assert_eq!(found[0].0, choose(&problem, KernelKind::Sm90, 132)?);
/// assert!(found.windows(2).all(|pair| pair[0].1.total() <= pair[1].1.total()));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn least(problem: &Problem, multiprocessors: u32, most: usize) -> Vec<(GemmConfig, Cost)> {
    let other = problem.is_invariant() || problem.groups().is_some() || problem.mixed_input().is_some();
    let input = tensor(problem).filter(|input| !other && input.of_warps().is_none());
    let found = input.into_iter().flat_map(|input| {
        let all = by_cost(problem, multiprocessors).into_iter();
        all.filter(|(facts, _)| fits(*facts, problem, input))
            .filter_map(|(facts, cost)| Some((facts.config(input).ok()?, cost)))
            .map(|(config, cost)| (several(config, problem.oriented(config.c_major).0.batch()), cost))
    });
    found.take(most).collect()
}

/// Whether a kernel that relies on these facts computes a problem, and ptxas has registers for it.
fn fits(facts: WarpSpecializedFacts, problem: &Problem, input: &Input) -> bool {
    // Both columns of a pair lie in a thread, both rows do not; half the columns are stored.
    let stored = facts.plan.tile[1] / 2 * i64::from(facts.output.bits() / 8);
    let gates = !facts.plan.columns && stored % 32 == 0;
    (gates || !problem.is_gated()) && facts.fits(input)
}

/// Which of A and B `wgmma` takes from a copy that is contiguous along K.
fn transposed(problem: &Problem) -> [bool; 2] {
    let majors = [problem.a(), problem.b()].map(|matrix| matrix.major());
    let taken = taken(problem.dtype(), majors);
    [0, 1].map(|i| taken[i] != majors[i])
}

/// Whether `wgmma` multiplies the matrices faster than warps do.
fn by_warpgroups(problem: &Problem) -> bool {
    let transposed = transposed(problem);
    match () {
        // A tensor map has one address.
        () if problem.pointers().is_some() => false,
        () if transposed == [false; 2] => true,
        // Whether it is worth it depends on M.
        () => !problem.is_invariant() && is_worth_transposing(problem, transposed),
    }
}
