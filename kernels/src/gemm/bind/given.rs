//! The buffers and scalars of an epilogue in a launch.

use girih_codegen::gemm::{Input, InputKind, MAX_EXTENT, MAX_STRIDE};
use girih_device::{Arg, Buffer, Pod, Pointers};
use girih_tensor::{DType, Element};

use crate::Error;
use crate::family::{Memory, Untyped};
use crate::gemm::{Matrix, Problem};
use girih_device::sizes::{rounded, word};

/// An argument of a launch for an input of an epilogue: a buffer that holds a vector or a matrix, or a number. For an output other than C, a buffer
/// that the launch writes.
///
/// # Examples
/// ```
/// use girih_device::{Device, Select};
/// use girih_kernels::gemm::Given;
///
/// let device = Device::open(Select::Sim)?;
/// let (bias, residual) = (device.zeros::<f32>(64)?, device.zeros::<f32>(100 * 80)?);
/// // A vector; a matrix whose rows are 80 elements apart; a number.
/// let given = [("bias", Given::from(&bias)), ("residual", Given::pitched(&residual, 80)), ("alpha", Given::from(0.5))];
/// # let _ = given;
/// # Ok::<(), girih_device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    what: What<'a>,
    pub(super) pitch: Option<i64>,
    /// The elements from the tensor of a GEMM of a batch to that of the next.
    stride: i64,
}

#[derive(Clone, Copy, Debug)]
enum What<'a> {
    Memory(Memory<'a>),
    Number(f64),
    /// The bits of a number of a dtype.
    Bits(DType, u64),
}

impl<'a, T: Element + Pod> From<&'a Buffer<T>> for Given<'a> {
    fn from(buffer: &'a Buffer<T>) -> Given<'a> {
        Given { what: What::Memory(buffer.into()), pitch: None, stride: 0 }
    }
}

/// A matrix for each GEMM whose own matrices are given by their addresses ([`Problem::by_pointers`]).
impl<'a, T: Element + Pod> From<&'a Pointers<'_, T>> for Given<'a> {
    fn from(pointers: &'a Pointers<'_, T>) -> Given<'a> {
        Given { what: What::Memory(pointers.into()), pitch: None, stride: 0 }
    }
}

/// A buffer whose elements have a dtype that is known at run time.
impl<'a> From<Untyped<'a>> for Given<'a> {
    fn from(buffer: Untyped<'a>) -> Given<'a> {
        Given { what: What::Memory(buffer.into()), pitch: None, stride: 0 }
    }
}

/// A number for a scalar of f32 or f64, to which the number is rounded. A finite number that f32 does not hold is refused for one of f32.
impl From<f64> for Given<'_> {
    fn from(value: f64) -> Self {
        Given { what: What::Number(value), pitch: None, stride: 0 }
    }
}

impl From<f32> for Given<'_> {
    fn from(value: f32) -> Self {
        Given::from(f64::from(value))
    }
}

impl<'a> Given<'a> {
    /// A matrix whose rows (columns, if those of C are contiguous) are `pitch` elements apart; without a pitch they follow each other.
    pub fn pitched(matrix: impl Into<Given<'a>>, pitch: i64) -> Given<'a> {
        Given { pitch: Some(pitch), ..matrix.into() }
    }

    /// A number for a scalar of this dtype, of 32 or 64 bits, as its bits.
    pub fn bits(dtype: DType, bits: u64) -> Given<'a> {
        Given { what: What::Bits(dtype, bits), pitch: None, stride: 0 }
    }

    /// The memory, of what is no number.
    pub(crate) fn memory(&self) -> Option<&Memory<'a>> {
        if let What::Memory(memory) = &self.what { Some(memory) } else { None }
    }

    /// The argument of this name: a buffer of this many elements of this dtype.
    pub(crate) fn list(
        given: &[(&str, Given<'a>)],
        name: &str,
        wanted: DType,
        needed: i64,
    ) -> Result<Memory<'a>, Error> {
        let refuse = |found: String| Error::Input {
            name: name.into(),
            found,
            accepted: format!("a buffer of {needed} elements of {wanted} or more"),
        };
        let given = given.iter().find(|(given, _)| *given == name).map(|(_, given)| given);
        let Some(given) = given else { return Err(refuse(String::from("nothing"))) };
        match (given.memory(), given.pitch) {
            (_, Some(pitch)) => Err(refuse(format!("a pitch of {pitch}"))),
            (None, _) => Err(refuse(String::from("a number"))),
            (Some(memory), _) if memory.pointers.is_some() => Err(refuse(given.found())),
            (Some(Memory { dtype, len, .. }), _) if *dtype != wanted || (*len as i64) < needed => {
                Err(refuse(format!("{len} elements of {dtype}")))
            }
            (Some(memory), _) => Ok(*memory),
        }
    }

    /// A description of the argument, for errors.
    pub(super) fn found(&self) -> String {
        match &self.what {
            What::Memory(Memory { dtype, pointers: Some(count), .. }) => {
                format!("the addresses of {count} buffers of {dtype}")
            }
            What::Memory(memory) => format!("a buffer of {}", memory.dtype),
            What::Number(_) => String::from("a number of f32 or f64"),
            What::Bits(dtype, _) => format!("a number of {dtype}"),
        }
    }

    /// The argument for `input`, which it fits.
    pub(super) fn arg(&self, input: &Input) -> Arg<'a> {
        match &self.what {
            What::Memory(memory) => Arg::Buffer(memory.arg),
            What::Number(value) if input.dtype == DType::F32 => Arg::F32(rounded(*value)),
            What::Number(value) => Arg::F64(*value),
            What::Bits(DType::F32, bits) => Arg::F32(f32::from_bits(word(*bits))),
            What::Bits(DType::F64, bits) => Arg::F64(f64::from_bits(*bits)),
            What::Bits(dtype, bits) if dtype.bits() == 64 => Arg::U64(*bits),
            What::Bits(_, bits) => Arg::U32(word(*bits)),
        }
    }

    /// With a vector or a matrix of its own for each GEMM of a batch, or a row of its own for each group, which are `stride` elements apart.
    /// Otherwise all GEMMs have the same.
    #[must_use]
    pub fn for_each(self, stride: i64) -> Given<'a> {
        Given { stride, ..self }
    }

    /// The elements from the tensor of a GEMM to that of the next one, of this many GEMMs. A single GEMM has no next one.
    pub(super) fn step(&self, products: i64) -> i64 {
        if products > 1 { self.stride } else { 0 }
    }

    /// Checks that what is given fits `input`, for this problem and what it takes for C. Returns the pitch, which counts for a matrix alone, and
    /// how many elements are read.
    pub(super) fn check(
        &self,
        input: &Input,
        problem: &Problem,
        c: &Matrix,
        transposed: bool,
    ) -> Result<[i64; 2], Error> {
        let [m, n] = c.extents();
        let [lines, line] = [1 - c.contiguous(), c.contiguous()].map(|mode| c.extents()[mode]);
        let refuse =
            |found: String, accepted: String| Err(Error::Input { name: input.name.clone(), found, accepted });
        let kind = input.kind;
        let pointers = problem.pointers().filter(|_| kind == InputKind::Matrix);
        let fits = match (&self.what, self.memory()) {
            (What::Bits(dtype, _), _) => kind == InputKind::Scalar && *dtype == input.dtype,
            (_, None) => kind == InputKind::Scalar && matches!(input.dtype, DType::F32 | DType::F64),
            (_, Some(memory)) => {
                kind != InputKind::Scalar && memory.dtype == input.dtype && memory.pointers == pointers
            }
        };
        if !fits {
            let each = |count| format!("{input}, by the addresses of {count} buffers");
            return refuse(self.found(), pointers.map_or(input.to_string(), each));
        }
        // A number beyond 32 bits would be truncated.
        match self.what {
            What::Number(value)
                if input.dtype == DType::F32 && value.is_finite() && !rounded(value).is_finite() =>
            {
                return refuse(format!("{value:e}"), format!("{input}, {:e} to {:e}", f32::MIN, f32::MAX));
            }
            What::Bits(dtype, bits) if dtype.bits() < 64 && bits >> dtype.bits() != 0 => {
                return refuse(
                    format!("the bits {bits:#x}"),
                    format!("{input}, the {} bits of one", dtype.bits()),
                );
            }
            _ => {}
        }
        let row = line.max(1);
        // A mode of one element has no stride.
        let has_pitch = kind != InputKind::Matrix || lines > 1 && line > 0;
        let pitch = self.pitch.filter(|_| has_pitch).unwrap_or(row);
        if self.pitch.is_some() && (kind != InputKind::Matrix || !(row..=MAX_EXTENT).contains(&pitch)) {
            let accepted = match kind {
                InputKind::Matrix => format!("{row} to {MAX_EXTENT}: rows do not overlap"),
                _ => String::from("no pitch, which only a matrix has"),
            };
            return refuse(format!("a pitch of {pitch}"), accepted);
        }
        let needed = match kind {
            InputKind::Matrix if m > 0 && n > 0 => (lines - 1) * pitch + line,
            InputKind::Matrix | InputKind::Scalar => 0,
            InputKind::Row => {
                if transposed {
                    m
                } else {
                    n
                }
            }
            InputKind::Column => {
                if transposed {
                    n
                } else {
                    m
                }
            }
        };
        let stride = self.step(problem.products());
        if stride != 0 && (kind == InputKind::Scalar || !(0..=MAX_STRIDE).contains(&stride)) {
            let accepted = format!("0 to {MAX_STRIDE} for a vector or a matrix");
            return refuse(format!("a stride of {stride}"), accepted);
        }
        if stride != 0 && problem.groups().is_some() && kind != InputKind::Row {
            let accepted = String::from("no stride, which only a row has that is another one for each group");
            return refuse(format!("a stride of {stride}"), accepted);
        }
        if stride != 0 && pointers.is_some() {
            let accepted =
                String::from("no stride, since each product has a matrix at an address of its own");
            return refuse(format!("a stride of {stride}"), accepted);
        }
        let needed = if needed > 0 { needed + (problem.products() - 1).max(0) * stride } else { 0 };
        match self.memory() {
            Some(memory) if (memory.len as i64) < needed => Err(Error::few(&input.name, memory.len, needed)),
            _ => Ok([pitch, needed]),
        }
    }
}
