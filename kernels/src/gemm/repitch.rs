//! Copies of A and B for kernels that do not take them as they lie.

use std::sync::{Arc, Mutex};

use girih_codegen::Operand;
use girih_codegen::gemm::{Batch, GemmConfig, MAX_EXTENT, Repitch, RepitchConfig, RepitchParam, repitch};
use girih_device::{Arg, Buffer, BufferArg, Device, Kernel, Launch};

use super::Matrix;
use super::Problem;
use crate::Error;

/// The bytes of which the pitch of a copy is a multiple: a line of the cache.
const LINE: i64 = 128;

/// Tensor maps describe rows that begin at multiples of 16 bytes, but where these are no multiples of 128, every row of a tile lies in two
/// lines of the cache. In the time in which the L2 cache then gives the multiprocessors an element, they compute so many products. An estimate
/// from an H200: 4095x4097x4099 in bf16 by tiles of 128x128 takes 336 us with pitches of 4104, and 254 us, the pass included, where A and B
/// are copied first.
const STRADDLING: i64 = 100;
/// The products that are computed in the time in which an element is copied. An estimate too: a copy of such a size reads and writes 4.2 TB/s.
const COPIED: i64 = 360;

/// The problem that the kernel of `config` solves for `problem`, which is [oriented](Problem::oriented) as the kernel takes it. That is
/// `problem` itself, unless the pitch or the address of A or B is no multiple of what the kernel loads at once: such an operand is first
/// copied to where it has a pitch of whole 128 bytes. So are operands by tensor maps whose pitch is no multiple of 128 bytes, where that
/// is expected to be faster. A kernel that loads by tensor maps takes no empty operands: where K is 0, it multiplies a column of zeros.
///
/// # Errors
/// [`Error::Mixed`] for a product of mixed inputs of which an operand would have to be copied; those of [`GemmConfig::aligned`].
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
            Some(Copying::Unaligned | Copying::Straddling) => matrix.extents(),
        };
        let (row, element) = (extents[matrix.contiguous()], bytes_of(problem, operand));
        *matrix = matrix.elsewhere(extents, ((row * element + LINE - 1) / LINE * LINE / element).max(1));
    }
    Ok(problem.with_operands(operands))
}

/// Why an operand is not taken from where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copying {
    /// It is empty, since K is 0, and tensor maps describe no empty matrices.
    Zeros,
    /// Its rows, its matrices in a batch, or its first element do not begin at multiples of what the kernel loads at once.
    Unaligned,
    /// Its rows do not begin at lines of the cache, and many small tiles read them.
    Straddling,
}

/// Which of A and B the kernel of `config` takes from a copy, and why.
pub(super) fn copied(problem: &Problem, config: &GemmConfig) -> Result<[Option<Copying>; 2], Error> {
    let ([m, n, k], is_scaled) = (problem.mnk(), problem.scaled().is_some());
    // What products wait for rows in two lines is more than the pass takes. Large tiles read so little that they do not wait.
    let [rows, columns, _] = config.tile.map(|extent| extent.max(1));
    let waits = (STRADDLING * (rows + columns) - rows * columns).max(0) as f64 / (rows * columns) as f64;
    let is_worth_it =
        config.loads_by_maps() && !is_scaled && m as f64 * n as f64 * waits > (COPIED * (m + n)) as f64;
    let mut reasons = [None; 2];
    for (reason, operand) in reasons.iter_mut().zip([Operand::A, Operand::B]) {
        let matrix = [problem.a(), problem.b()][operand as usize];
        let (aligned, element) = (config.aligned(operand)?, bytes_of(problem, operand));
        let begin_at = |multiple: i64| matrix.ld() % multiple == 0 && between(&matrix) % multiple == 0;
        *reason = match () {
            () if k == 0 && config.loads_by_maps() => Some(Copying::Zeros),
            () if !begin_at(aligned) || matrix.alignment() / element % aligned != 0 => {
                Some(Copying::Unaligned)
            }
            () if is_worth_it && !begin_at(LINE / element) => Some(Copying::Straddling),
            () => None,
        };
        if is_scaled && *reason == Some(Copying::Unaligned) {
            let name = if problem.scaled() == Some(operand) { "B" } else { "A" };
            let (layout, alignment) = (matrix.to_string(), matrix.alignment());
            return Err(Error::Mixed { matrix: name, layout, alignment });
        }
    }
    Ok(reasons)
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

fn pass(copied: [bool; 2], batch: Batch, programmatic: bool) -> RepitchConfig {
    RepitchConfig { name: "gemm_repitch", copied, batch, programmatic }
}

/// Bytes of an element of an operand.
fn bytes_of(problem: &Problem, operand: Operand) -> i64 {
    i64::from(problem.dtype_of(operand).bits() / 8)
}

/// Bytes of an element of A and B.
fn bytes(problem: &Problem) -> i64 {
    i64::from(problem.dtype().bits() / 8)
}

/// The memory that operands are copied to, and the pass that copies them.
#[derive(Debug)]
pub(super) struct Copies {
    /// A's and B's place, where they are copied.
    pub(super) places: [Option<Buffer<u8>>; 2],
    pass: Option<(Kernel, Repitch)>,
    /// What the pass copies.
    copied: [Option<Copied>; 2],
    /// Bytes of an element.
    element: i64,
    /// Whether the pass may begin before the kernel before it has ended, and the product before the pass has.
    pub(super) early: bool,
    /// Held from the pass to the product, so that no other pass comes between.
    pub(super) turn: Arc<Mutex<()>>,
}

/// Matrices that the pass copies, each as rows of its contiguous mode, in bytes.
#[derive(Clone, Copy, Debug)]
struct Copied {
    rows: i64,
    bytes: i64,
    pitch: i64,
    new_pitch: i64,
    batches: i64,
    stride: i64,
}

impl Copied {
    fn new(from: &Matrix, to: &Matrix, element: i64) -> Copied {
        let (row, lines) = (from.extents()[from.contiguous()], from.extents()[1 - from.contiguous()]);
        // Matrices that follow each other without a gap are one.
        let together = between(from) == lines * from.ld() && lines * from.different() <= MAX_EXTENT;
        let [rows, batches] =
            if together { [lines * from.different(), 1] } else { [lines, from.different()] };
        let [bytes, pitch, new_pitch, stride] =
            [row, from.ld(), to.ld(), between(from)].map(|elements| elements * element);
        Copied { rows, bytes, pitch, new_pitch, batches, stride }
    }
}

impl Copies {
    /// What has to be copied for a kernel that solves `solved` in the place of `problem`, if anything. The kernel may begin before the pass
    /// has ended if it is `early`.
    pub(super) fn new(
        device: &Device,
        [problem, solved]: [&Problem; 2],
        early: bool,
    ) -> Result<Option<Copies>, Error> {
        let element = bytes(problem);
        let pairs = [(problem.a(), solved.a()), (problem.b(), solved.b())];
        if pairs.iter().all(|(from, to)| from == to) {
            return Ok(None);
        }
        let (mut places, mut copied) = ([None, None], [None, None]);
        for (i, (from, to)) in pairs.iter().enumerate().filter(|(_, (from, to))| from != to) {
            let elements = to.extents()[1 - to.contiguous()] * to.ld() * to.different();
            places[i] = Some(device.zeros((elements * element) as usize)?);
            // Copies of empty operands are zeros already.
            copied[i] = (from.span() > 0).then(|| Copied::new(from, to, element));
        }
        let several = copied.iter().flatten().any(|copied| copied.batches > 1);
        let batch = if several { Batch::Strided } else { Batch::Single };
        let config = pass(copied.each_ref().map(Option::is_some), batch, early);
        let pass = if config.copied == [false; 2] {
            None
        } else {
            let pass = repitch(&config)?;
            Some((device.load(&pass.kernel)?.kernel(config.name)?, pass))
        };
        Ok(Some(Copies { places, pass, copied, element, early, turn: Arc::default() }))
    }

    /// Whether an operand has a place that no pass writes: it is empty, and zeros stand for it.
    pub(super) fn is_fixed(&self, operand: usize) -> bool {
        self.places[operand].is_some() && self.copied[operand].is_none()
    }

    /// How many bytes the address of an operand must be a multiple of, if the operand is copied.
    pub(super) fn needed(&self, operand: usize) -> Option<i64> {
        self.places[operand].as_ref().map(|_| self.element)
    }

    /// The names of the pass's parameters whose arguments each call is given, each with the operand that it is of.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, usize)> {
        let named = self.pass.iter().flat_map(|(_, pass)| pass.kernel.params().iter().zip(&pass.params));
        named.filter_map(|(info, param)| match param {
            RepitchParam::From(operand) => Some((&*info.name, *operand)),
            _ => None,
        })
    }

    /// The launch that copies the operands, A and B; there is none where they are empty.
    pub(super) fn prepare(&self, operands: [BufferArg<'_>; 2]) -> Result<Option<Launch>, Error> {
        let Some((kernel, pass)) = &self.pass else { return Ok(None) };
        let mut blocks = [0; 2];
        for (i, blocks) in blocks.iter_mut().enumerate() {
            if let Some(Copied { rows, bytes, batches, .. }) = self.copied[i] {
                *blocks = pass.blocks([rows, bytes, batches])?;
            }
        }
        let wide = |i: usize, value: fn(&Copied) -> i64| {
            self.copied[i].as_ref().map(|copied| Arg::U64(value(copied) as u64))
        };
        let arg = |param: &RepitchParam| match *param {
            RepitchParam::From(i) => Some(Arg::Buffer(operands[i])),
            RepitchParam::To(i) => self.places[i].as_ref().map(Arg::from),
            RepitchParam::Rows(i) => self.copied[i].map(|copied| Arg::U32(copied.rows as u32)),
            RepitchParam::Bytes(i) => wide(i, |copied| copied.bytes),
            RepitchParam::Pitch(i) => wide(i, |copied| copied.pitch),
            RepitchParam::NewPitch(i) => wide(i, |copied| copied.new_pitch),
            RepitchParam::Stride(i) => wide(i, |copied| copied.stride),
            RepitchParam::Blocks => Some(Arg::U32(blocks[0])),
        };
        let named = pass.kernel.params().iter().zip(&pass.params);
        // A missing argument is reported when the launch checks its arguments.
        let args: Vec<_> = named.filter_map(|(info, param)| Some((&*info.name, arg(param)?))).collect();
        let config = kernel.config([blocks[0].saturating_add(blocks[1]), 1, 1])?;
        let config = if self.early { config.programmatic() } else { config };
        Ok(Some(kernel.prepare(&config, &kernel.arguments(&args)?)?))
    }
}
