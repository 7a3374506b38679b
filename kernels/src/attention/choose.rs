//! The choice of a configuration, a pure function: (problem, device) -> facts -> configuration.

mod candidates;
mod configs;
mod reasons;

use girih_codegen::attention::{AttentionConfig, Form, Tensor4};
use girih_device::Limits;
use girih_tensor::DType;

use super::{Problem, Table};
use crate::Error;
use crate::launch::widest;
use configs::{LINE, Tiling, Tilings, multistage, ring};

pub use candidates::{candidates, described};
pub use configs::all;
pub use reasons::reasons;

/// A family of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// By warps of tensor cores, f32 by multiply-adds, from sm_80 on, for any strides ([`Form::Multistage`]).
    Sm80,
    /// By warpgroups and TMA copies, on sm_90 alone, for strides and addresses that tensor maps take ([`Form::Ring`]).
    Sm90,
}

impl KernelKind {
    /// The fastest kernel for a problem on a device of architecture `sm`, which is 90 for sm_90.
    pub fn for_problem(problem: &Problem, sm: u32) -> KernelKind {
        if sm == 90 && misfit(problem).is_none() { KernelKind::Sm90 } else { KernelKind::Sm80 }
    }

    /// The name of the kernel on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KernelKind::Sm80 => "sm80",
            KernelKind::Sm90 => "sm90",
        }
    }
}

impl std::str::FromStr for KernelKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<KernelKind, Error> {
        let known = [KernelKind::Sm80, KernelKind::Sm90].into_iter().find(|kind| kind.name() == text);
        let accepted = "sm80 and sm90 are accepted";
        known.ok_or_else(|| Error::Unknown { what: "kernel", text: text.into(), accepted })
    }
}

/// The properties of a device on which a choice depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hardware {
    /// The architecture: 90 for sm_90.
    pub sm: u32,
    /// The number of SMs.
    pub multiprocessors: u32,
}

impl From<&Limits> for Hardware {
    fn from(limits: &Limits) -> Hardware {
        Hardware { sm: limits.sm, multiprocessors: limits.multiprocessors }
    }
}

/// Chooses the configuration for a problem: by the fastest family of kernels, or by `kind`.
///
/// The facts on which a kernel may rely are the divisors of strides, columns and addresses, and the features that it need not have. The tile depends
/// on the head dim and on the longest sequence of queries.
///
/// # Errors
/// [`Error::Misfit`] for [`KernelKind::Sm90`] and a problem that TMA copies or `wgmma` do not take.
///
/// # Examples
/// ```
/// use girih_kernels::attention::{Hardware, Order, Problem, choose};
/// use girih_tensor::DType;
///
/// let h200 = Hardware { sm: 90, multiprocessors: 132 };
/// let problem = |queries, dim| Problem::new(DType::Bf16, Order::Bshd, [16384 / queries, 16, queries, queries, dim]);
/// assert_eq!(choose(&problem(8192, 128)?, None, h200)?.tile, [192, 128]);
/// assert_eq!(choose(&problem(1024, 128)?, None, h200)?.tile, [128, 128]);
/// assert_eq!(choose(&problem(4096, 64)?, None, h200)?.tile, [256, 96]);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn choose(
    problem: &Problem,
    kind: Option<KernelKind>,
    hardware: impl Into<Hardware>,
) -> Result<AttentionConfig, Error> {
    let hardware = hardware.into();
    let kind = kind.unwrap_or_else(|| KernelKind::for_problem(problem, hardware.sm));
    Ok(match kind {
        KernelKind::Sm90 => {
            if let Some((what, found, accepted)) = misfit(problem) {
                return Err(Error::Misfit { kernel: kind.name(), what, found, accepted });
            }
            configured(problem, ring(fastest(problem, hardware).0))
        }
        KernelKind::Sm80 => multistage(problem.dtype(), dims(problem), vector(problem), problem.features()),
    })
}

fn configured(problem: &Problem, config: AttentionConfig) -> AttentionConfig {
    AttentionConfig { dtype: problem.dtype(), features: problem.features(), ..config }
}

/// The columns of Q and K, and those of V and O.
fn dims(problem: &Problem) -> [i64; 2] {
    [Tensor4::K, Tensor4::V].map(|tensor| problem.columns(tensor))
}

/// The blocks that share the columns of V of each tile.
pub(super) fn shares(problem: &Problem, config: &AttentionConfig) -> i64 {
    let [of_problem, of_tile] = [problem.columns(Tensor4::V), config.columns(Tensor4::V)];
    (of_problem + of_tile - 1) / of_tile
}

/// The longest sequence of queries.
fn longest(problem: &Problem) -> i64 {
    problem.sequences().map(|sequence| sequence.queries).max().unwrap_or(0)
}

/// The fastest tile of the kernels for sm_90, and why.
fn fastest(problem: &Problem, hardware: Hardware) -> (Tiling, String) {
    let (tilings, queries, features) = (Tilings::of(dims(problem)), longest(problem), problem.features());
    let (small, Tilings { large, short, .. }) = (tilings.small(&features), tilings);
    let Some(large) = large else { return (small, small.reason.into()) };
    if queries <= short {
        return (small, format!("{}, since sequences have {queries} queries or less", small.reason));
    }
    let (tiles, of_large) = (Table::count(problem, large.tile[0]), large.tile[0]);
    if tiles < i64::from(hardware.multiprocessors) {
        let why = format!("since {tiles} tiles of {of_large} queries would leave SMs without work");
        return (small, format!("{}, {why}", small.reason));
    }
    if let Some(what) = large.refuses(problem.dtype(), &features) {
        return (small, format!("two warpgroups, whose threads have registers for {what}"));
    }
    (large, large.reason.into())
}

/// The first property of a problem that kernels for sm_90 do not support, with its value and the accepted values.
fn misfit(problem: &Problem) -> Option<(&'static str, String, String)> {
    if problem.dtype() == DType::F32 {
        return Some(("dtype", "f32".into(), "f16 and bf16, which wgmma multiplies".into()));
    }
    let line = LINE / i64::from(problem.dtype().bits() / 8);
    for tensor in Tensor4::ALL {
        let array = problem.array(tensor);
        let [rows, _, heads, batches] = array.extents();
        let fits = |(stride, extent): (i64, i64)| extent <= 1 || (stride > 0 && stride % line == 0);
        if !array.strides().into_iter().zip([rows, heads, batches]).all(fits) {
            let found = format!("{} of {array}", tensor.name());
            return Some((
                "strides",
                found,
                format!("multiples of {line} elements from {line} on, as tensor maps have them"),
            ));
        }
        if array.alignment() < LINE {
            let found = format!("{} at multiples of {} bytes", tensor.name(), array.alignment());
            return Some((
                "addresses",
                found,
                format!("multiples of {LINE} bytes, as tensor maps have them"),
            ));
        }
    }
    // With other numbers of columns the last unit of a row contains elements after the row's end.
    for (what, tensor) in [("head dim", Tensor4::K), ("value dim", Tensor4::V)] {
        let columns = problem.columns(tensor);
        if columns % line != 0 {
            let accepted = format!("multiples of {line}, since O is stored in units of {LINE} bytes");
            return Some((what, columns.to_string(), accepted));
        }
    }
    None
}

/// The elements of the widest copies that divide the strides, columns and addresses of a problem.
fn vector(problem: &Problem) -> i64 {
    let bytes = i64::from(problem.dtype().bits() / 8);
    let mut all = vec![problem.columns(Tensor4::K), problem.columns(Tensor4::V)];
    for tensor in Tensor4::ALL {
        let array = problem.array(tensor);
        let [rows, _, heads, batches] = array.extents();
        let used = array.strides().into_iter().zip([rows, heads, batches]).filter(|(_, extent)| *extent > 1);
        all.extend(used.map(|(stride, _)| stride));
        all.push(array.alignment() / bytes);
    }
    let widths: Vec<i64> =
        [16, 8, 4, 2].into_iter().map(|width| width / bytes).filter(|&width| width > 0).collect();
    widest(&widths, &all)
}

/// Checks that a configuration computes a problem.
pub(super) fn accepts(problem: &Problem, config: &AttentionConfig) -> Result<(), Error> {
    let refuse = |what, found: String, accepted: String| Err(Error::Configuration { what, found, accepted });
    if config.dtype != problem.dtype() {
        return refuse("dtypes", config.dtype.to_string(), problem.dtype().to_string());
    }
    for tensor in [Tensor4::K, Tensor4::V] {
        let (found, least) = (config.columns(tensor), problem.columns(tensor));
        if found < least && (tensor == Tensor4::K || config.value_dim.is_none()) {
            return refuse("columns", found.to_string(), format!("{least} or more"));
        }
    }
    let [of_keys, of_values] = dims(problem);
    if config.value_dim.is_none() && of_keys != of_values {
        return refuse("columns of V", "those of K".into(), format!("{of_values} beside {of_keys} of K"));
    }
    if config.features != problem.features() {
        return refuse("features", format!("{:?}", config.features), format!("{:?}", problem.features()));
    }
    match (config.form, misfit(problem)) {
        (Form::Ring(_), Some((what, found, accepted))) => {
            Err(Error::Misfit { kernel: KernelKind::Sm90.name(), what, found, accepted })
        }
        (Form::Multistage(form), _) if vector(problem) % form.vector != 0 => {
            refuse("elements of a copy", form.vector.to_string(), format!("divisors of {}", vector(problem)))
        }
        _ => Ok(()),
    }
}

/// The number of blocks of a launch for this many tiles. Kernels of sm_90 are persistent; in the others each block computes one tile.
pub fn blocks(config: &AttentionConfig, tiles: i64, multiprocessors: u32) -> u32 {
    let tiles = u32::try_from(tiles).unwrap_or(u32::MAX);
    match config.form {
        Form::Ring(_) => tiles.min(multiprocessors),
        Form::Multistage(_) => tiles,
    }
}
