//! The decision to copy A or B before the kernel, and the layout of the copy.

use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, GemmConfig, Major, RepitchConfig};

use super::Matrix;
use super::Problem;
use crate::Error;

/// The bytes of which the pitch of a copy is a multiple: a line of the cache.
const LINE: i64 = 128;

/// Tensor maps describe rows that begin at multiples of 16 bytes, but where these are no multiples of 128, every row of a tile is in two
/// lines of the cache. In the time in which the L2 cache then gives the SMs an element, they compute this many products. An estimate
/// from an H200: 4095x4097x4099 in bf16 by tiles of 128x128 takes 336 us with pitches of 4104, and 254 us, the pass included, where A and B
/// are copied first.
const STRADDLING: i64 = 100;
/// The products that are computed in the time in which an element is copied. An estimate too: a copy of such a size reads and writes 4.2 TB/s.
const COPIED: i64 = 360;
/// The products that are computed in the time that any pass takes, about 2 us.
const PASS: f64 = 0.7e9;

/// The products that the CUDA cores compute, for an element that is copied, in the time that the copy takes and that loads without
/// transposing save, and those in the time that any pass takes. Estimates from an H200: 2048^3 takes 420 us where both operands are transposed
/// on their way and 339 us where none is; 8 bytes of an element take 2 ps.
const TURNED: f64 = 410.0;
const TURNING: f64 = 0.6e9;

/// The problem that the kernel of `config` solves for `problem`, which is [oriented](Problem::oriented) as the kernel takes it. That is
/// `problem` itself, unless the pitch or the address of A or B is no multiple of what the kernel loads at once: such an operand is first
/// copied to where it has a pitch of whole 128 bytes. So are operands by tensor maps whose pitch is no multiple of 128 bytes, where that
/// is expected to be faster, and operands that `wgmma` takes along K alone where the other mode is contiguous: the copy is contiguous
/// along K. A kernel that loads by tensor maps takes no empty operands: where K is 0, it multiplies a column of zeros.
///
/// # Errors
/// [`Error::Mixed`] for a product of mixed inputs of which an operand would have to be copied, [`Error::Configuration`] for matrices at
/// addresses of their own; those of [`GemmConfig::aligned`].
///
/// # Examples
/// ```
/// use girih_kernels::gemm::{KernelKind, Layout, Problem, choose, repitched};
/// use girih_tensor::DType;
///
/// // A begins a row every 127 elements of 2 bytes, B every 128.
/// let problem = Problem::new(DType::Bf16, [512, 256, 127], Layout::Tn)?.with_pitches(None, Some(128), None)?;
/// let solved = repitched(&problem, &choose(&problem, KernelKind::Sm90, 132)?)?;
/// assert_eq!((solved.a().ld(), solved.b()), (128, problem.b()));
/// assert_eq!(repitched(&problem, &choose(&problem, KernelKind::Sm80, 132)?)?, problem);
/// # Ok::<(), girih_kernels::Error>(())
/// ```
pub fn repitched(problem: &Problem, config: &GemmConfig) -> Result<Problem, Error> {
    let [m, n, _] = problem.mnk();
    let mut operands = [problem.a(), problem.b()];
    let reasons = [m, n].into_iter().zip(copied(problem, config)?);
    for ((matrix, operand), (lines, reason)) in operands.iter_mut().zip([Operand::A, Operand::B]).zip(reasons)
    {
        let extents = match reason {
            None => continue,
            Some(Copying::Zeros) => [lines, 1],
            Some(Copying::Transposed | Copying::Unaligned | Copying::Straddling) => matrix.extents(),
        };
        let contiguous = usize::from(config.majors()[operand as usize] == Major::K);
        let (row, element) = (extents[contiguous], bytes_of(problem, operand));
        let pitch = ((row * element + LINE - 1) / LINE * LINE / element).max(1);
        *matrix = matrix.elsewhere(extents, contiguous, pitch);
    }
    Ok(problem.with_operands(operands))
}

/// Why an operand is not taken from where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copying {
    /// It is empty, since K is 0, and tensor maps describe no empty matrices.
    Zeros,
    /// It is contiguous along the other mode than that along which the kernel takes it.
    Transposed,
    /// Its rows, its matrices in a batch, or its first element do not begin at multiples of what the kernel loads at once.
    Unaligned,
    /// Its rows do not begin at lines of the cache, and many small tiles read them.
    Straddling,
}

/// Which of A and B the kernel of `config` takes from a copy, and why.
pub(super) fn copied(problem: &Problem, config: &GemmConfig) -> Result<[Option<Copying>; 2], Error> {
    let ([m, n, k], is_scaled) = (problem.mnk(), problem.scaled().is_some());
    // GEMMs wait longer for rows in two cache lines than the pass takes. Large tiles read so little that they do not wait.
    let [rows, columns, _] = config.tile.map(|extent| extent.max(1));
    let multicast = config.mainloop.warp_specialized().map_or(1, |parts| parts.multicast.max(1));
    let reads = rows + columns / multicast;
    let waits = (STRADDLING * reads - rows * columns).max(0) as f64 / (rows * columns) as f64;
    let lost = m as f64 * n as f64 * k as f64 * waits;
    let is_worth_it =
        config.loads_by_maps() && !is_scaled && lost > (COPIED * (m + n)) as f64 * k as f64 + PASS;
    let mut reasons = [None; 2];
    for (reason, operand) in reasons.iter_mut().zip([Operand::A, Operand::B]) {
        let matrix = [problem.a(), problem.b()][operand as usize];
        let (aligned, element) = (config.aligned(operand)?, bytes_of(problem, operand));
        let begin_at =
            |multiple: i64| matrix.bound_pitch() % multiple == 0 && between(&matrix) % multiple == 0;
        *reason = match () {
            () if k == 0 && config.loads_by_maps() => Some(Copying::Zeros),
            () if matrix.major() != config.majors()[operand as usize] => Some(Copying::Transposed),
            () if !begin_at(aligned) || matrix.alignment() / element % aligned != 0 => {
                Some(Copying::Unaligned)
            }
            () if is_worth_it && !begin_at(LINE / element) => Some(Copying::Straddling),
            () => None,
        };
        if problem.pointers().is_some() && reason.is_some() {
            let (from, major) = (["A", "B"][operand as usize], config.majors()[operand as usize]);
            return Err(Error::Configuration {
                what: "loads",
                found: format!("of {aligned} elements along {major:?} of {from}"),
                accepted: format!("{matrix} at multiples of {} bytes, without a copy", matrix.alignment()),
            });
        }
        if is_scaled && matches!(reason, Some(Copying::Unaligned | Copying::Transposed)) {
            let name = if problem.scaled() == Some(operand) { "B" } else { "A" };
            let (layout, alignment) = (matrix.to_string(), matrix.alignment());
            return Err(Error::Mixed { matrix: name, layout, alignment });
        }
    }
    Ok(reasons)
}

/// Whether it is faster to copy the operands of which `is_transposed` tells than to multiply by warps, which take any contiguous modes. By
/// warps a product takes at least twice as long as by warpgroups, an estimate, so that the copy must not take longer than the latter.
pub(super) fn is_worth_transposing(problem: &Problem, is_transposed: [bool; 2]) -> bool {
    let products = problem.mnk()[..2].iter().fold(problem.batches() as f64, |all, x| all * *x as f64);
    let rows =
        [problem.a(), problem.b()].map(|matrix| matrix.extents()[0] as f64 * matrix.different() as f64);
    let copied: f64 = rows.into_iter().zip(is_transposed).filter_map(|(rows, is)| is.then_some(rows)).sum();
    products > COPIED as f64 * copied
}

/// Whether it is faster to copy an operand of f32 that is contiguous along K to where it is contiguous along its other mode than to transpose
/// its vectors on their way to shared memory.
pub(super) fn is_worth_turning(problem: &Problem, operand: Operand) -> bool {
    let matrix = [problem.a(), problem.b()][operand as usize];
    let products = problem.mnk().iter().fold(problem.batches() as f64, |all, extent| all * *extent as f64);
    let copied = matrix.extents().iter().fold(matrix.different() as f64, |all, extent| all * *extent as f64);
    matrix.major() == Major::K && products > TURNED * copied + TURNING
}

/// The elements from a matrix of a batch to the next, if there are several.
pub(super) fn between(matrix: &Matrix) -> i64 {
    if matrix.different() > 1 { matrix.batch_stride() } else { 0 }
}

/// Every pass that copies A or B, or both, each once.
///
/// # Examples
/// ```
/// // Of one matrix, or of those of a batch.
/// assert_eq!(girih_kernels::gemm::passes().count(), 3 * 2);
/// ```
pub fn passes() -> impl Iterator<Item = RepitchConfig> {
    let copied = [[true, false], [false, true], [true, true]];
    copied
        .into_iter()
        .flat_map(|copied| [Batch::Single, Batch::Strided].map(|batch| pass(copied, batch, true)))
}

pub(super) fn pass(copied: [bool; 2], batch: Batch, programmatic: bool) -> RepitchConfig {
    RepitchConfig { name: "gemm_repitch", copied, batch, programmatic }
}

/// Bytes of an element of an operand.
fn bytes_of(problem: &Problem, operand: Operand) -> i64 {
    i64::from(problem.dtype_of(operand).bits() / 8)
}
