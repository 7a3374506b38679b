//! The pure choice: a problem and a device -> facts -> the plan of the least cost -> its configuration.

mod all;
mod cost;
mod facts;
mod forms;
mod inputs;
mod multistage;
mod plan;
mod reasons;
mod space;
mod wide;

use girih_codegen::gemm::{Epilogue, GemmConfig, Mainloop, Major, Schedule, Store};
use girih_device::Limits;
use girih_tensor::DType;

use cost::{Work, cost};
use facts::Facts;
use forms::LARGE;
use inputs::{Input, Sm90};
use space::{INVARIANT, Rule, by_cost, ordered, sides_of};

use super::repitch::is_worth_transposing;
use super::{Problem, Records};
use crate::Error;

pub use all::all;
pub use cost::{Cost, ERROR};
pub(super) use facts::taken;
pub use facts::{takes_epilogues, takes_outputs};
pub(super) use multistage::tuned;
pub use plan::Plan;
pub use reasons::reasons;
pub(super) use wide::wide;

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

    /// The kernel that is expected to be the fastest for a problem on a device of architecture `sm`, which is 90 for sm_90: there that of warpgroups, unless
    /// warps, which load operands as they are, are sooner than the copies that tensor maps need.
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
/// What a kernel may rely on are facts: which modes are contiguous, and what divides the pitches and N. Which tile is fastest depends on M and N, and
/// is what was measured for a product where girih comes with a record of it ([`Records::shipped`](super::Records::shipped)). A and B that the kernel
/// does not take as they are laid out are copied ([`repitched`](super::repitched)). What an epilogue reads comes in pieces that fit the registers
/// beside the accumulators of most tiles; the largest are for products without one ([`Problem::with_epilogue`]), and outputs besides C leave the
/// smaller ones.
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
    let found = shipped(hardware.multiprocessors).ok().flatten();
    let found = found.and_then(|records| records.follow(problem, kind).ok().flatten());
    found.map_or_else(|| by_rules(problem, kind, hardware), |(config, _)| Ok(config))
}

/// The records that girih comes with, if they were measured on as many SMs.
fn shipped(multiprocessors: u32) -> Result<Option<&'static Records>, &'static Error> {
    let records = Records::shipped()?;
    Ok((records.multiprocessors() == multiprocessors).then_some(records))
}

/// The choice, whatever was measured.
fn by_rules(problem: &Problem, kind: KernelKind, hardware: Hardware) -> Result<GemmConfig, Error> {
    let refused =
        |dtype: DType, accepted| Err(Error::Kernel { kernel: kind.name(), dtype: dtype.name(), accepted });
    if let Some(mixed) = problem.mixed_input().filter(|_| kind != KernelKind::Sm90) {
        return refused(mixed.dtype, "sm90 takes weights with scales");
    }
    if problem.block_scales().is_some() && kind != KernelKind::Sm90 {
        return refused(problem.dtype(), "sm90 takes blocks with scales");
    }
    let input = Input::of(problem);
    let of_threads = input.is_some_and(|input| input.dtype == DType::F32);
    match (kind, input) {
        (_, Some(input)) if of_threads != (kind == KernelKind::Simt) => {
            let accepted = if input.dtype == DType::F32 {
                "f64, tf32, f16, bf16, e4m3, e5m2 and s8 are accepted; simt takes f32"
            } else {
                "f32 is accepted; sm80 and sm90 take the other dtypes"
            };
            refused(problem.dtype(), accepted)
        }
        (KernelKind::Sm90, Some(Input { sm90: Sm90::Warpgroups, .. })) => match problem.pointers() {
            None => by_plan(problem, hardware.multiprocessors),
            Some(_) => {
                let accepted = "one address for all products is accepted; sm80 takes one for each";
                refused(problem.dtype(), accepted)
            }
        },
        (_, Some(input)) => Ok(multistage::choose(problem, input, kind, hardware)),
        (_, None) => refused(problem.dtype(), "sums of the dtype's own kind are accepted"),
    }
}

/// What kernels of warpgroups rely on for a problem, by C's contiguous mode.
fn sides(problem: &Problem) -> Result<[Facts; 2], Error> {
    let [rows, columns] = sides_of(|major| Facts::of(problem, major));
    Ok([rows?, columns?])
}

/// The configuration by the best plan that fits.
fn by_plan(problem: &Problem, multiprocessors: u32) -> Result<GemmConfig, Error> {
    let sides = sides(problem)?;
    let plans = ordered(problem, &sides, multiprocessors);
    let of = |plan: &Plan| &sides[usize::from(plan.columns)];
    let last = plans.last().unwrap_or(&INVARIANT[1]);
    plans.iter().find_map(|plan| of(plan).fitting(plan)).map_or_else(|| of(last).config(last), Ok)
}

/// The configuration for a problem by a plan, if that fits, and TMA copies store C.
pub(super) fn fitted(problem: &Problem, plan: &Plan) -> Option<GemmConfig> {
    let facts = Facts::of(problem, plan.c_major()).ok().filter(|facts| facts.store.is_none())?;
    facts.fitting(&facts.adapted(*plan))
}

/// The configurations of all plans that fit a problem, in the order of the choice.
pub(super) fn fitting(problem: &Problem, multiprocessors: u32) -> Vec<GemmConfig> {
    let Ok(sides) = sides(problem) else { return Vec::new() };
    let plans = ordered(problem, &sides, multiprocessors);
    plans.iter().filter_map(|plan| sides[usize::from(plan.columns)].fitting(plan)).collect()
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
    let sides = sides(problem).ok().filter(|_| Rule::of(problem) == Rule::Least);
    let all = sides.into_iter().flat_map(|sides| {
        let all = by_cost(problem, &sides, multiprocessors).into_iter();
        all.filter_map(move |(plan, cost)| Some((sides[usize::from(plan.columns)].fitting(&plan)?, cost)))
    });
    all.take(most).collect()
}

/// What a configuration is expected to take for a problem on a device of this many SMs, if the formulas say: of warpgroups, but for groups and for weights with
/// scales.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [64, 64, 11200], Layout::Tt)?;
/// let (config, cost) = choose::least(&problem, 132, 1)[0];
/// assert_eq!(choose::expected(&problem, &config, 132), Some(cost));
/// assert_eq!(choose::expected(&problem, &choose(&problem, KernelKind::Sm80, 132)?, 132), None);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn expected(problem: &Problem, config: &GemmConfig, multiprocessors: u32) -> Option<Cost> {
    let counts = problem.groups().is_none() && problem.mixed_input().is_none();
    let plan = Plan::of(config).filter(|_| counts)?;
    let work = Work::of(&problem.oriented(config.c_major).0);
    Some(cost(&work, &plan, &(config.store, plan.stages?), multiprocessors))
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
        return multistage::spread(config);
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
        () if transposed == [false; 2] => !is_sooner_by_warps(problem),
        // Whether it is worth it depends on M.
        () => !problem.is_invariant() && is_worth_transposing(problem, transposed),
    }
}

/// The SMs of an H200. Which of two kernels is sooner depends little on their number.
const SMS: u32 = 132;

/// Whether warps, which load operands as they are, are expected to be sooner than warpgroups with the copies that these need.
fn is_sooner_by_warps(problem: &Problem) -> bool {
    let row_major = problem.oriented(Major::K).0;
    if Work::of(&row_major).is_taken() {
        return false;
    }
    let by_warps = multistage::expected(&row_major, SMS).map(|cost| cost.total());
    let by_warpgroups = least(problem, SMS, 1).first().map(|(_, cost)| cost.total());
    by_warps.zip(by_warpgroups).is_some_and(|(warps, warpgroups)| warps < warpgroups)
}
