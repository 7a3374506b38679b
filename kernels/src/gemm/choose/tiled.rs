//! The configuration for a given tile, as a tile program has it.

use girih_codegen::Operand;
use girih_codegen::gemm::{GemmConfig, Mainloop, Major, Schedule};
use girih_layout::{Lay, lay};

use super::configs::{Input, ROW_SM80, tensor};
use super::plan::Plan;
use super::{
    Hardware, KernelKind, STORES_SIMT, STORES_SM80, aligned, between, facts, mixed, plans, several, with,
};
use crate::Error;
use crate::gemm::Problem;
use crate::gemm::repitch::{Copying, copied};
use girih_device::sizes::size;

/// What is asked of a configuration. A kernel takes of it what fits the problem.
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{Asked, Layout, Problem, tiled};
/// use girih_tensor::DType;
///
/// let problem = Problem::new(DType::Bf16, [4096; 3], Layout::Tt)?;
/// let config = tiled(&problem, 90, 132, &Asked::tile([128, 256, 64]))?;
/// assert_eq!((config.tile, config.name), ([128, 256, 64], "gemm_sm90_bf16"));
/// let config = tiled(&problem, 80, 108, &Asked::tile([64, 128, 64]))?;
/// assert_eq!((config.tile, config.name), ([64, 128, 64], "gemm_sm80_bf16"));
/// # Ok::<(), girih_kernels::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Rows and columns of a tile of C, and elements along K.
    pub tile: [i64; 3],
    /// The blocks of a cluster, which bring tiles together: 1, 2 or 4.
    pub multicast: Option<i64>,
    /// The warps that multiply.
    pub warps: Option<i64>,
    /// Tiles along K that are in flight.
    pub stages: Option<i64>,
    /// Whether TMA copies may bring A and B.
    pub tma: bool,
}

impl Asked {
    /// A tile, and nothing else.
    pub const fn tile(tile: [i64; 3]) -> Asked {
        Asked { tile, multicast: None, warps: None, stages: None, tma: true }
    }
}

/// The configuration for a problem on a device of architecture `sm`, such as 90, whose blocks compute tiles of these extents, or of those
/// nearest to them that a kernel has. Where tensor maps describe A and B as they are laid out, these are the warp-specialised kernels of sm_90, else
/// those of warps of tensor cores or, of f32, those of the CUDA cores: no operand is copied.
///
/// # Errors
/// [`Error::Kernel`] for dtypes that the device does not multiply; those of [`GemmConfig::check`].
pub fn tiled(
    problem: &Problem,
    sm: u32,
    hardware: impl Into<Hardware>,
    asked: &Asked,
) -> Result<GemmConfig, Error> {
    let hardware = hardware.into();
    let kind = KernelKind::for_problem(problem, sm);
    if problem.mixed_input().is_some() && asked.tma {
        let config = mixed::tiled(problem, asked)?;
        // What is not aligned is refused.
        copied(&problem.oriented(config.c_major).0, &config)?;
        return Ok(staged(config, asked));
    }
    if kind == KernelKind::Sm90
        && let Some(input) = tensor(problem).filter(|input| input.of_warps().is_none())
        && asked.tma
        && let Some(config) = by_warpgroups(problem, input, asked)?
    {
        return Ok(config);
    }
    if problem.mixed_input().is_some() || problem.block_scales().is_some() {
        let accepted = "sm_90 takes operands that are contiguous along K, with pitches of whole 16 bytes";
        return Err(Error::Kernel { kernel: "gemm with scales", dtype: problem.dtype().name(), accepted });
    }
    let row_major = problem.oriented(Major::K).0;
    let usual = match (kind, tensor(problem)) {
        (KernelKind::Simt, _) => facts(&row_major, &STORES_SIMT).simt(),
        (KernelKind::Sm90, Some(input)) if input.of_warps().is_some() => {
            super::single(problem, kind, hardware)?
        }
        (_, Some(input)) => facts(&row_major, &STORES_SM80).sm80(input),
        (_, None) => super::single(problem, kind, hardware)?,
    };
    let usual = several(usual, row_major.batch());
    let swapped = problem.c().major() == Major::Mn;
    let [m, n, k] = asked.tile;
    let tile = if swapped { [n, m, k] } else { [m, n, k] };
    Ok(by_warps(&usual, tile, (asked, problem.is_fused()), hardware).unwrap_or(usual))
}

/// The likeliest warp-specialised configuration for a tile: with C as it is laid out in the kernel's rows, or else in its columns. There is none if a
/// tensor map does not describe A or B as they are laid out.
fn by_warpgroups(problem: &Problem, input: &Input, asked: &Asked) -> Result<Option<GemmConfig>, Error> {
    let [m, n, k] = asked.tile;
    let bits = i64::from(problem.dtype().bits());
    let row_major = problem.c().major() == Major::K;
    let turned = if row_major { [n, m] } else { [m, n] };
    let straight = if row_major { [m, n] } else { [n, m] };
    let sized = |tile: [i64; 2], columns: bool| {
        let default = match tile[0] {
            192 => 3,
            rows if rows >= 128 && tile[1] >= 64 => 2,
            _ => 1,
        };
        let named = asked.warps.map(|warps| size(warps) / 4);
        let counts = [named.unwrap_or(default), default, 1, 2, 3];
        counts.into_iter().filter(move |count| (1..=3).contains(count)).map(move |count| {
            let known = plans::named(None).find(|plan| plan.is_plain(tile, count));
            let plan = known.unwrap_or(Plan::new(tile, count));
            let plan = plan.with_depth(k * bits);
            if columns { plan.of_columns() } else { plan }
        })
    };
    let candidates = sized(straight, false).chain(sized(turned, true));
    let multicasts = [asked.multicast.unwrap_or(1), 1];
    for plan in candidates {
        for multicast in multicasts.into_iter().filter(|by| [1, 2, 4].contains(by)) {
            let plan = plan.multicast(multicast);
            let whole = plan.tile[0] % (64 * plan.warpgroups() as i64) == 0 && plan.tile[1] % 8 == 0;
            if !whole || plan.tile[1] > 256 || !with(problem, plan).runs(input) {
                continue;
            }
            let Ok(config) = with(problem, plan).config(input) else { continue };
            let oriented = problem.oriented(config.c_major).0;
            // Where rows lie in two lines of the cache each, a launch may copy them: that is for its sizes to say.
            let lies = |reason: &Option<Copying>| matches!(reason, None | Some(Copying::Straddling));
            if config.check().is_err() || !copied(&oriented, &config)?.iter().all(lies) {
                continue;
            }
            return Ok(Some(staged(config, asked)));
        }
    }
    Ok(None)
}

/// With as many stages as are asked for, if these fit.
fn staged(config: GemmConfig, asked: &Asked) -> GemmConfig {
    let Some(stages) = asked.stages else { return config };
    let mut other = config;
    match &mut other.mainloop {
        Mainloop::WarpSpecialized(parts) => parts.stages = stages.clamp(2, parts.stages),
        Mainloop::Multistage(parts) => parts.stages = stages.max(2),
    }
    if other.check().is_ok() { other } else { config }
}

/// Warps of a block: (AtomM,AtomN) -> warp.
const FOUR: Lay = lay!("(2,2):(1,2)");
const EIGHT_WIDE: Lay = lay!("(2,4):(1,2)");
const EIGHT_TALL: Lay = lay!("(4,2):(1,4)");
/// The most accumulators of a thread of warps of tensor cores.
const MOST_SUMS: i64 = 128;

/// The usual configuration of warps of tensor cores with another tile, if such warps have one.
fn by_warps(
    usual: &GemmConfig,
    [m, n, k]: [i64; 3],
    (asked, is_fused): (&Asked, bool),
    hardware: Hardware,
) -> Option<GemmConfig> {
    let parts = usual.mainloop.multistage()?;
    let bytes = i64::from(parts.atom.a_type.bits()) / 8;
    // Of f32 and f64 few tiles have registers, and narrow loads take registers of their own.
    let vectors = [parts.a.vector, parts.b.vector].map(|vector| vector * bytes);
    let sized = [usual.tile[0], usual.tile[1]] == [m, n];
    if bytes > 2 || sized || vectors.iter().any(|&vector| vector < 16) {
        return sized.then(|| staged(*usual, asked));
    }
    let mut counts = vec![4, 8];
    if asked.warps.map_or(m * n > MOST_SUMS * 128, |warps| warps >= 8) {
        counts.reverse();
    }
    // Long rows leave no registers for an epilogue.
    let longest = if is_fused { ROW_SM80 } else { 2 * ROW_SM80 };
    let row = (k * bytes).clamp(ROW_SM80, longest);
    for warps in counts {
        let atoms = match (warps, m >= n) {
            (4, _) => FOUR,
            (_, true) => EIGHT_TALL,
            (_, false) => EIGHT_WIDE,
        };
        let sums = m * n / (32 * warps);
        let whole = sums <= MOST_SUMS && m % (16 * atoms.mode(0).ok()?.size().ok()?.get()?) == 0;
        let stages = (i64::from(hardware.shared) / ((m + n) * row)).min(4);
        if !whole || stages < 2 {
            continue;
        }
        let mut other = *parts;
        (other.atoms, other.stages) = (atoms, stages);
        let schedule = Schedule::Raster { group: 4 };
        let tile = [m, n, row / bytes];
        let config = GemmConfig { tile, schedule, ..usual.with_mainloop(Mainloop::Multistage(other)) };
        if config.check().is_ok() {
            return Some(staged(config, asked));
        }
    }
    None
}

/// Checks that a configuration computes a problem by tiles of these extents, rows and columns of C and elements along K, with A, B and C as
/// they are: each is contiguous and aligned as the configuration relies on.
///
/// # Errors
/// [`Error::Configuration`], with what is found and what is accepted; those of [`GemmConfig::check`].
pub fn accepts(problem: &Problem, config: &GemmConfig, [m, n, k]: [i64; 3]) -> Result<(), Error> {
    let refuse = |what, found: String, accepted: String| Err(Error::Configuration { what, found, accepted });
    config.check()?;
    let (oriented, swapped) = problem.oriented(config.c_major);
    let tile = if swapped { [n, m, k] } else { [m, n, k] };
    if config.tile != tile {
        return refuse("tile", format!("{:?}", config.tile), format!("{tile:?}"));
    }
    super::super::fits(&oriented, config)?;
    let lies = |reason: &Option<Copying>| matches!(reason, None | Some(Copying::Straddling));
    let copies = copied(&oriented, config)?;
    let matrices = [oriented.a(), oriented.b(), oriented.c()];
    for (operand, reason) in [Operand::A, Operand::B].into_iter().zip(&copies) {
        if !lies(reason) {
            let (matrix, vector) = (matrices[operand as usize], config.aligned(operand)?);
            let major = config.majors()[operand as usize];
            let accepted = format!("{matrix} at multiples of {} bytes", matrix.alignment());
            return refuse("loads", format!("of {vector} elements along {major:?} of {operand:?}"), accepted);
        }
    }
    let (c, vector) = (matrices[2], config.aligned(Operand::C)?);
    let numbers = [c.ld(), c.extents()[c.contiguous()], aligned(&c, oriented.output()), between(&c)];
    if numbers.iter().any(|n| n % vector != 0) {
        let accepted = format!("{c} at multiples of {} bytes", c.alignment());
        return refuse("stores", format!("of {vector} elements of C"), accepted);
    }
    let k_vector = config.aligned_k()?;
    if oriented.mnk()[2] % k_vector != 0 {
        return refuse(
            "loads",
            format!("of {k_vector} elements along K"),
            format!("K of {}", oriented.mnk()[2]),
        );
    }
    Ok(())
}
