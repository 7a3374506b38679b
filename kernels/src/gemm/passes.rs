//! Passes that copy or transpose A and B before a kernel that cannot read them in their layout.

use std::sync::{Arc, Mutex};

use girih_codegen::gemm::{Batch, MAX_EXTENT, Repitch, RepitchConfig, Rows, repitch};
use girih_device::{Buffer, Device};
use girih_tensor::DType;

use super::repitch::{between, pass};
use super::{Matrix, Problem};
use crate::family::{Cache, Loaded, Step};
use crate::{Error, copy};
use girih_device::sizes::size;

/// The passes that copy A and B for a kernel, loaded once for each configuration.
pub(super) type Passes = Cache<RepitchConfig, Arc<Loaded<Repitch>>>;

/// The memory that operands are copied to, and the passes that copy them.
#[derive(Debug)]
pub(super) struct Copies {
    /// A's and B's place, where they are copied. Zeros stand for an empty operand, which no pass copies.
    pub(super) places: [Option<Arc<Buffer<u8>>>; 2],
    /// The launches of the passes.
    pub(super) steps: Vec<Step>,
    /// How many bytes the addresses of A and B must be a multiple of for the passes, if they are copied.
    pub(super) needed: [Option<i64>; 2],
    /// Whether the passes may begin before the kernel before them has ended, and the GEMM before they have.
    pub(super) early: bool,
    /// Held from the first pass to the GEMM, so that no other pass comes between.
    pub(super) lock: Arc<Mutex<()>>,
}

/// Matrices that the pass copies, each as rows of its contiguous mode.
fn copied(from: &Matrix, to: &Matrix, element: i64) -> Rows {
    let (row, lines) = (from.extents()[from.contiguous()], from.extents()[1 - from.contiguous()]);
    // Matrices that follow each other without a gap are one.
    let together = between(from) == lines * from.ld() && lines * from.different() <= MAX_EXTENT;
    let [rows, batches] = if together { [lines * from.different(), 1] } else { [lines, from.different()] };
    let [bytes, pitch, new_pitch, stride] =
        [row, from.ld(), to.ld(), between(from)].map(|elements| elements * element);
    Rows { rows, bytes, pitch, new_pitch, batches, stride }
}

impl Copies {
    /// The copies that a kernel for `solved` needs to compute `problem`, if any. The kernel may begin before the passes have ended if it is `early`.
    /// Calls pass A and B by these names.
    pub(super) fn new(
        device: &Device,
        loaded: &Passes,
        [problem, solved]: [&Problem; 2],
        early: bool,
        names: [&str; 2],
    ) -> Result<Option<Copies>, Error> {
        let element = i64::from(problem.dtype().bits() / 8);
        let pairs = pairs(problem, solved);
        if pairs.iter().all(|[from, to]| from == to) {
            return Ok(None);
        }
        let (mut places, mut steps, mut needed) = ([None, None], Vec::new(), [None; 2]);
        for (operand, pair) in pairs.iter().enumerate().filter(|(_, [from, to])| from != to) {
            let to = &pair[1];
            let elements = to.extents()[1 - to.contiguous()] * to.ld() * to.different();
            let place = Arc::new(device.zeros::<u8>(size(elements * element))?);
            needed[operand] = Some(element);
            if let Some((problem, chosen)) = transposition(pair, element, early)? {
                let copy = copy::Copy::configured(device, &problem, chosen)?;
                needed[operand] = Some(copy.config().src.vector * element);
                let of_copy =
                    |step: &Step| step.clone().renamed("src", names[operand]).with_own("dst", place.clone());
                steps.extend(copy.steps().iter().map(of_copy));
            }
            places[operand] = Some(place);
        }
        let rows = pairs.each_ref().map(|pair| rows(pair, element));
        if let Some(config) = repitched(&rows, early) {
            let pass = loaded.get(&config, || Loaded::new(device, repitch(&config)?).map(Arc::new))?;
            let rows = rows.map(Option::unwrap_or_default);
            let mut blocks = 0u32;
            for (rows, _) in rows.iter().zip(config.copied).filter(|(_, is_copied)| *is_copied) {
                blocks = blocks.saturating_add(rows.blocks()?);
            }
            let launch = pass.kernel.config([blocks, 1, 1])?;
            let launch = if early { launch.programmatic() } else { launch };
            let mut step = Step::new(&pass.kernel, launch, pass.generated.params.values(&rows)?);
            for (operand, (from, to)) in [("a", "a_to"), ("b", "b_to")].into_iter().enumerate() {
                step = step.renamed(from, names[operand]);
                step = places[operand].iter().fold(step, |step, place| step.with_own(to, place.clone()));
            }
            steps.push(step);
        }
        Ok(Some(Copies { places, steps, needed, early, lock: Arc::default() }))
    }
}

/// The kernels that copy A and B for a kernel that solves `solved` in the place of `problem`, as [`Copies`] loads them.
pub(super) fn kernels(
    [problem, solved]: [&Problem; 2],
    early: bool,
) -> Result<Vec<girih_codegen::Kernel>, Error> {
    let element = i64::from(problem.dtype().bits() / 8);
    let pairs = pairs(problem, solved);
    let mut kernels = Vec::new();
    for pair in &pairs {
        if let Some((_, chosen)) = transposition(pair, element, early)? {
            kernels.push(girih_codegen::copy::generate(&chosen.config)?.kernel);
        }
    }
    if let Some(config) = repitched(&pairs.each_ref().map(|pair| rows(pair, element)), early) {
        kernels.push(repitch(&config)?.kernel);
    }
    Ok(kernels)
}

/// A and B where they are, and where the kernel takes them.
fn pairs(problem: &Problem, solved: &Problem) -> [[Matrix; 2]; 2] {
    [[problem.a(), solved.a()], [problem.b(), solved.b()]]
}

/// The rows that are copied to another pitch, if any. Copies of empty operands are zeros already.
fn rows([from, to]: &[Matrix; 2], element: i64) -> Option<Rows> {
    let is_copied = from != to && from.span() > 0 && from.major() == to.major();
    is_copied.then(|| copied(from, to, element))
}

/// The pass that copies rows, if there are any.
fn repitched(rows: &[Option<Rows>; 2], early: bool) -> Option<RepitchConfig> {
    let copied = rows.each_ref().map(Option::is_some);
    let several = rows.iter().flatten().any(|rows| rows.batches > 1);
    let batch = if several { Batch::Strided } else { Batch::Single };
    (copied != [false; 2]).then(|| pass(copied, batch, early))
}

/// The copy of an operand's matrices to where their other mode is contiguous, if that is where the kernel takes them.
fn transposition(
    [from, to]: &[Matrix; 2],
    element: i64,
    early: bool,
) -> Result<Option<(copy::Problem, copy::Chosen)>, Error> {
    if from.span() == 0 || from.major() == to.major() {
        return Ok(None);
    }
    let dtype = match element {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    };
    let [x, k] = from.extents();
    let strides = |matrix: &Matrix| {
        let [dx, dk] = matrix.strides();
        [dx, dk, between(matrix)]
    };
    let problem = copy::Problem::strided(dtype, &[x, k, from.different()], &strides(from), &strides(to))?;
    let mut chosen = copy::choose(&problem, [from.alignment(), to.alignment()])?;
    chosen.config.programmatic = early;
    Ok(Some((problem, chosen)))
}
