//! Copies of A and B for kernels that do not take them as they lie.

use std::sync::{Arc, Mutex};

use girih_codegen::Operand;
use girih_codegen::gemm::{GemmConfig, Repitch, RepitchConfig, RepitchParam, repitch};
use girih_device::{Arg, Buffer, Device, Kernel, LaunchConfig};

use super::Problem;
use super::problem::Matrix;
use crate::Error;
use crate::launch::widest;

/// The bytes of which the pitch of a copy is a multiple: a line of the cache.
const LINE: i64 = 128;
/// The most bytes that the pass reads at once.
const WIDEST: i64 = 8;

/// The problem that the kernel of `config` solves for `problem`, which is [oriented](Problem::oriented) as the kernel takes it. That is
/// `problem` itself, unless the pitch or the address of A or B is no multiple of what the kernel loads at once: such an operand is first
/// copied to where it has a pitch of whole 128 bytes. A kernel that loads by tensor maps takes no empty operands: where K is 0, it
/// multiplies a column of zeros.
///
/// # Errors
/// Those of [`GemmConfig::aligned`].
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
    let element = bytes(problem);
    let [m, n, k] = problem.mnk();
    let zeros = k == 0 && config.loads_by_maps();
    let elsewhere = |matrix: Matrix, extents: [i64; 2]| {
        let row = extents[matrix.contiguous()];
        matrix.elsewhere(extents, ((row * element + LINE - 1) / LINE * LINE / element).max(1))
    };
    let mut operands = [problem.a(), problem.b()];
    for (matrix, operand) in operands.iter_mut().zip([Operand::A, Operand::B]) {
        let aligned = config.aligned(operand)?;
        let extents = matrix.extents();
        if zeros {
            *matrix = elsewhere(*matrix, [if operand == Operand::A { m } else { n }, 1]);
        } else if matrix.ld() % aligned != 0 || matrix.alignment() % (aligned * element) != 0 {
            *matrix = elsewhere(*matrix, extents);
        }
    }
    Ok(problem.with_operands(operands))
}

/// Every pass that copies A or B, or both, each once.
///
/// # Examples
/// ```
/// // Elements of 8, 16, 32 and 64 bits, of which up to 8 bytes are read at once.
/// assert_eq!(girih_kernels::gemm::passes().count(), 24 + 15 + 8 + 3);
/// ```
pub fn passes() -> impl Iterator<Item = RepitchConfig> {
    [8, 16, 32, 64].into_iter().flat_map(|bits| {
        let vectors = [None].into_iter().chain(widths(bits).map(Some));
        let pairs = vectors.clone().flat_map(move |a| vectors.clone().map(move |b| [a, b]));
        pairs.filter(|pair| *pair != [None; 2]).map(move |vectors| pass(bits, vectors))
    })
}

fn pass(bits: u32, vectors: [Option<i64>; 2]) -> RepitchConfig {
    RepitchConfig { name: "gemm_repitch", bits, vectors }
}

/// How many elements of so many bits the pass may read at once, the most first.
fn widths(bits: u32) -> impl Iterator<Item = i64> + Clone {
    [8, 4, 2, 1].into_iter().filter(move |width| width * i64::from(bits / 8) <= WIDEST)
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
    /// How many elements the pass reads at once.
    vectors: [Option<i64>; 2],
    problem: Problem,
    solved: Problem,
    /// Held from the pass to the product, so that no other pass comes between.
    pub(super) turn: Arc<Mutex<()>>,
}

impl Copies {
    /// What has to be copied for a kernel that solves `solved` in the place of `problem`, if anything.
    pub(super) fn new(device: &Device, problem: &Problem, solved: &Problem) -> Result<Option<Copies>, Error> {
        let element = bytes(problem);
        let pairs = [(problem.a(), solved.a()), (problem.b(), solved.b())];
        if pairs.iter().all(|(from, to)| from == to) {
            return Ok(None);
        }
        let (mut places, mut vectors) = ([None, None], [None, None]);
        let bits = problem.dtype().bits();
        let widths: Vec<i64> = widths(bits).collect();
        for (i, (from, to)) in pairs.iter().enumerate() {
            if from == to {
                continue;
            }
            let lines = to.extents()[1 - to.contiguous()];
            places[i] = Some(device.zeros((lines * to.ld() * element) as usize)?);
            // Copies of empty operands are zeros already.
            if from.span() > 0 {
                let row = from.extents()[from.contiguous()];
                vectors[i] = Some(widest(&widths, &[from.ld(), row, from.alignment() / element]));
            }
        }
        let pass = match vectors {
            [None, None] => None,
            vectors => {
                let (config, pass) = (pass(bits, vectors), repitch(&pass(bits, vectors))?);
                Some((device.load(&pass.kernel)?.kernel(config.name)?, pass))
            }
        };
        let (problem, solved) = (*problem, *solved);
        Ok(Some(Copies { places, pass, vectors, problem, solved, turn: Arc::default() }))
    }

    /// Whether an operand has a place that no pass writes: it is empty, and zeros stand for it.
    pub(super) fn is_fixed(&self, operand: usize) -> bool {
        self.places[operand].is_some() && (self.pass.is_none() || self.vectors[operand].is_none())
    }

    /// How many bytes the address of an operand must be a multiple of, if the operand is copied.
    pub(super) fn needed(&self, operand: usize) -> Option<i64> {
        self.places[operand].as_ref().map(|_| self.vectors[operand].unwrap_or(1) * bytes(&self.problem))
    }

    /// Calls `then` with the launch that copies the operands, A and B; there is none where they are empty.
    pub(super) fn launch<R>(
        &self,
        operands: [Arg<'_>; 2],
        then: impl FnOnce(&Kernel, &LaunchConfig, &[(&str, Arg<'_>)]) -> Result<R, girih_device::Error>,
    ) -> Result<Option<R>, Error> {
        let Some((kernel, pass)) = &self.pass else { return Ok(None) };
        let from = [self.problem.a(), self.problem.b()];
        let to = [self.solved.a(), self.solved.b()];
        let lines = |i: usize| from[i].extents()[1 - from[i].contiguous()];
        let mut blocks = [0; 2];
        for (i, blocks) in blocks.iter_mut().enumerate() {
            if self.vectors[i].is_some() {
                *blocks = pass.blocks(i, lines(i), to[i].ld())?;
            }
        }
        let number = |value: i64| Arg::U32(value as u32);
        let arg = |param: &RepitchParam| match *param {
            RepitchParam::From(i) => Some(operands[i]),
            RepitchParam::To(i) => self.places[i].as_ref().map(Arg::from),
            RepitchParam::Rows(i) => Some(number(lines(i))),
            RepitchParam::Columns(i) => Some(number(from[i].extents()[from[i].contiguous()])),
            RepitchParam::Pitch(i) => Some(number(from[i].ld())),
            RepitchParam::NewPitch(i) => Some(number(to[i].ld())),
            RepitchParam::Blocks => Some(Arg::U32(blocks[0])),
        };
        let named = pass.kernel.params().iter().zip(&pass.params);
        // A missing argument is reported when the launch checks its arguments.
        let args: Vec<_> = named.filter_map(|(info, param)| Some((&*info.name, arg(param)?))).collect();
        let config = kernel.config([blocks[0].saturating_add(blocks[1]), 1, 1])?;
        Ok(Some(then(kernel, &config, &args)?))
    }
}
