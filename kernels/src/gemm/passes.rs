//! Passes that copy or transpose A and B before a kernel that cannot read them in their layout.

use std::sync::{Arc, Mutex};

use girih_codegen::gemm::{Batch, MAX_EXTENT, Repitch, RepitchConfig, RepitchParam, repitch};
use girih_device::{Arg, Buffer, BufferArg, Device, Kernel, Launch};
use girih_tensor::DType;

use super::repitch::{between, pass};
use super::{Matrix, Problem};
use crate::{Error, copy};
use girih_device::sizes::{size, wide, word};

/// The memory that operands are copied to, and the passes that copy them.
#[derive(Debug)]
pub(super) struct Copies {
    /// A's and B's place, where they are copied.
    pub(super) places: [Option<Buffer<u8>>; 2],
    passes: Vec<Pass>,
    /// Whether a pass copies A, and whether one copies B.
    is_copied: [bool; 2],
    /// Bytes of an element.
    element: i64,
    /// Whether the passes may begin before the kernel before them has ended, and the product before they have.
    pub(super) early: bool,
    /// Held from the first pass to the product, so that no other pass comes between.
    pub(super) turn: Arc<Mutex<()>>,
}

/// A kernel that runs before the product.
#[derive(Debug)]
enum Pass {
    /// Copies A or B, or both, to rows with other pitches.
    Repitch(Box<Rows>),
    /// Copies an operand to where its other mode is contiguous.
    Transpose { operand: usize, copy: Box<copy::Copy> },
}

/// The pass that copies rows, and what it copies.
#[derive(Debug)]
struct Rows {
    kernel: Kernel,
    repitch: Repitch,
    copied: [Option<Copied>; 2],
}

/// The launch of a pass, with those of its parameters whose arguments each call is given.
pub(super) type Opened = (Launch, Vec<Open>);

/// A parameter of a pass that is the address of A or B.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The parameter's name.
    pub(super) name: Arc<str>,
    /// 0 or 1.
    pub(super) operand: usize,
    /// The byte of the operand that the address is of.
    first: usize,
}

impl Open {
    /// The argument for such an operand.
    pub(super) fn arg<'a>(&self, operand: Arg<'a>) -> Arg<'a> {
        match operand {
            Arg::Buffer(buffer) => Arg::Buffer(buffer.from_byte(self.first)),
            other => other,
        }
    }
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
    /// What has to be copied for a kernel that solves `solved` in the place of `problem`, if anything. The kernel may begin before the passes
    /// have ended if it is `early`.
    pub(super) fn new(
        device: &Device,
        [problem, solved]: [&Problem; 2],
        early: bool,
    ) -> Result<Option<Copies>, Error> {
        let element = i64::from(problem.dtype().bits() / 8);
        let pairs = pairs(problem, solved);
        if pairs.iter().all(|[from, to]| from == to) {
            return Ok(None);
        }
        let (mut places, mut passes) = ([None, None], Vec::new());
        for (place, [_, to]) in places.iter_mut().zip(&pairs).filter(|(_, [from, to])| from != to) {
            let elements = to.extents()[1 - to.contiguous()] * to.ld() * to.different();
            *place = Some(device.zeros(size(elements * element))?);
        }
        let rows = pairs.each_ref().map(|pair| rows(pair, element));
        let mut is_copied = rows.each_ref().map(Option::is_some);
        for (operand, pair) in pairs.iter().enumerate() {
            if let Some((problem, chosen)) = transposition(pair, element, early)? {
                is_copied[operand] = true;
                let copy = Box::new(copy::Copy::configured(device, &problem, chosen)?);
                passes.push(Pass::Transpose { operand, copy });
            }
        }
        if let Some(config) = repitched(&rows, early) {
            let repitch = repitch(&config)?;
            let kernel = device.load(&repitch.kernel)?.kernel(config.name)?;
            passes.push(Pass::Repitch(Box::new(Rows { kernel, repitch, copied: rows })));
        }
        Ok(Some(Copies { places, passes, is_copied, element, early, turn: Arc::default() }))
    }

    /// Whether an operand has a place that no pass writes: it is empty, and zeros stand for it.
    pub(super) fn is_fixed(&self, operand: usize) -> bool {
        self.places[operand].is_some() && !self.is_copied[operand]
    }

    /// How many bytes the address of an operand must be a multiple of for the passes, if the operand is copied.
    pub(super) fn needed(&self, operand: usize) -> Option<i64> {
        let transposed = self.passes.iter().find_map(|pass| match pass {
            Pass::Transpose { operand: own, copy } if *own == operand => {
                Some(copy.config().src.vector * self.element)
            }
            _ => None,
        });
        self.places[operand].as_ref().map(|_| transposed.unwrap_or(self.element))
    }

    /// The launches that copy the operands, A and B; there are none where these are empty.
    pub(super) fn prepare(&self, operands: [BufferArg<'_>; 2]) -> Result<Vec<Opened>, Error> {
        let mut launches = Vec::new();
        for pass in &self.passes {
            match pass {
                Pass::Repitch(rows) => {
                    let launch = self.prepare_rows(rows, operands)?;
                    let named = rows.repitch.kernel.params().iter().zip(&rows.repitch.params);
                    let open = named.filter_map(|(info, param)| match param {
                        RepitchParam::From(i) => {
                            Some(Open { name: info.name.clone(), operand: *i, first: 0 })
                        }
                        _ => None,
                    });
                    launches.push((launch, open.collect()));
                }
                Pass::Transpose { operand, copy } => {
                    let Some(place) = &self.places[*operand] else { continue };
                    let own = copy.prepare(place.into(), operands[*operand])?.into_iter();
                    launches.extend(own.zip(copy.sources()).map(|(launch, first)| {
                        (launch, vec![Open { name: copy::SOURCE.into(), operand: *operand, first }])
                    }));
                }
            }
        }
        Ok(launches)
    }

    /// The launch that copies rows.
    fn prepare_rows(&self, rows: &Rows, operands: [BufferArg<'_>; 2]) -> Result<Launch, Error> {
        let Rows { kernel, repitch: pass, copied } = rows;
        let mut blocks = [0; 2];
        for (i, blocks) in blocks.iter_mut().enumerate() {
            if let Some(Copied { rows, bytes, batches, .. }) = copied[i] {
                *blocks = pass.blocks([rows, bytes, batches])?;
            }
        }
        let wide = |i: usize, value: fn(&Copied) -> i64| {
            copied[i].as_ref().map(|copied| Arg::U64(wide(value(copied))))
        };
        let arg = |param: &RepitchParam| match *param {
            RepitchParam::From(i) => Some(Arg::Buffer(operands[i])),
            RepitchParam::To(i) => self.places[i].as_ref().map(Arg::from),
            RepitchParam::Rows(i) => copied[i].map(|copied| Arg::U32(word(copied.rows))),
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
        Ok(kernel.prepare(&config, &kernel.arguments(&args)?)?)
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
fn rows([from, to]: &[Matrix; 2], element: i64) -> Option<Copied> {
    let copied = from != to && from.span() > 0 && from.major() == to.major();
    copied.then(|| Copied::new(from, to, element))
}

/// The pass that copies rows, if there are any.
fn repitched(rows: &[Option<Copied>; 2], early: bool) -> Option<RepitchConfig> {
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
