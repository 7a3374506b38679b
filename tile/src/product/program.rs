//! A slice of a program at one element, as steps that are written with the words of lowering.

use std::fmt;

use girih_codegen::gemm::Element;
use girih_codegen::scalar::computed;
use girih_codegen::{Builder, Error, Reg, Scalar};
use girih_ptx::{Operand, Type, Word};
use girih_tensor::DType;

use crate::fit;
use crate::ir::Rounding;
use crate::ir::table::Each;
use crate::lower::{How, Words};

/// A step, whose arguments are numbers of steps before it.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The sum, of its own dtype.
    Sum,
    /// A step again.
    Same(usize),
    /// An input: its name, its dtype, and the dtype as which it is passed.
    Input { name: String, dtype: DType, passed: DType },
    /// A constant.
    Bits(DType, u64),
    /// A function of operands of a dtype.
    Each(Each, How, DType, Vec<usize>),
    /// A conversion.
    Cast { from: DType, to: DType, rounding: Rounding, of: usize },
    /// The same bits.
    Bitcast { from: DType, to: DType, of: usize },
}

/// Steps from a sum to what is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    steps: Vec<Step>,
    result: usize,
    dtype: Option<DType>,
}

impl Program {
    /// Adds a step and returns its number.
    pub(super) fn push(&mut self, step: Step) -> usize {
        if let Step::Same(number) = step {
            return number;
        }
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Says which step is the result, and its dtype.
    pub(super) fn finish(&mut self, result: usize, dtype: DType) {
        (self.result, self.dtype) = (result, Some(dtype));
    }

    /// Writes the steps for an element.
    pub(super) fn run(&self, b: &mut Builder, element: &Element<'_>) -> Result<Scalar, Error> {
        let mut regs: Vec<Reg> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let reg = self.step(b, element, step, &regs)?;
            regs.push(reg);
        }
        let dtype = self.dtype.unwrap_or(DType::F32);
        let stored = if dtype == DType::Bool { dtype } else { computed(dtype) };
        b.scalar_in(&regs[self.result], stored)
    }

    /// The name of the input of 16-bit floats that a step is.
    fn halves(&self, of: usize) -> Option<&str> {
        match &self.steps[of] {
            Step::Input { name, dtype: DType::F16 | DType::Bf16, passed: DType::F16 | DType::Bf16 } => {
                Some(name)
            }
            _ => None,
        }
    }

    fn step(&self, b: &mut Builder, element: &Element<'_>, step: &Step, regs: &[Reg]) -> Result<Reg, Error> {
        let unsupported = |what: &'static str, value: String| Error::Config {
            what,
            value,
            accepted: String::from("what the architecture has instructions for"),
        };
        match step {
            Step::Sum => b.scalar(element.sum()),
            Step::Same(number) => Ok(regs[*number].clone()),
            Step::Input { name, dtype, passed } => {
                let reg = b.scalar(&element.input_as_given(name))?;
                let mut words = Words { b };
                match dtype {
                    DType::Bool => Ok(words.setp(Word::Ne, Type::U32, &reg, Operand::Int(0))),
                    DType::F16 | DType::Bf16 if *passed == DType::F32 => {
                        words.convert_to(*passed, *dtype, Rounding::Nearest, &reg).map_err(codegen)
                    }
                    _ => Ok(reg),
                }
            }
            // The builder keeps constants and widened inputs for other elements.
            Step::Bits(DType::F32, bits) if f32::from_bits(fit::low(*bits)).is_finite() => {
                b.scalar(&Scalar::new(DType::F32, f64::from(f32::from_bits(fit::low(*bits)))))
            }
            Step::Bits(dtype, bits) => Words { b }.bits(*dtype, *bits).map_err(codegen),
            Step::Each(each, how, dtype, args) => {
                let args: Vec<&Reg> = args.iter().map(|&arg| &regs[arg]).collect();
                let reg = Words { b }.apply(*each, *how, *dtype, &args).map_err(codegen)?;
                reg.ok_or_else(|| unsupported("function", each.row().name.into()))
            }
            Step::Cast { to: DType::F32, of, .. } if let Some(name) = self.halves(*of) => {
                b.scalar(&element.input_as_given(name).to(DType::F32))
            }
            Step::Cast { from, to, rounding, of } => {
                Words { b }.convert_to(*from, *to, *rounding, &regs[*of]).map_err(codegen)
            }
            Step::Bitcast { from, to, of } => Ok(Words { b }.recast(*from, *to, &regs[*of])),
        }
    }
}

/// The error of code generation that an error of lowering is, or that says the same.
fn codegen(error: crate::error::Error) -> Error {
    match error {
        crate::error::Error::Codegen(error) => error,
        other => Error::Config {
            what: "function of an epilogue",
            value: other.to_string(),
            accepted: String::from("what the architecture has instructions for"),
        },
    }
}

/// Writes the steps as text, which names everything that the code depends on.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            write!(f, "%{number} = ")?;
            match step {
                Step::Sum => f.write_str("sum")?,
                Step::Same(of) => write!(f, "%{of}")?,
                Step::Input { name, dtype, .. } => write!(f, "{name}: {dtype}")?,
                Step::Bits(dtype, bits) => write!(f, "{dtype} {bits:#x}")?,
                Step::Each(each, how, dtype, args) => {
                    let args: Vec<String> = args.iter().map(|arg| format!("%{arg}")).collect();
                    write!(f, "{} {}: {dtype}", each.row().name, args.join(", "))?;
                    if *how != How::default() {
                        write!(f, " {how:?}")?;
                    }
                }
                Step::Cast { from, to, rounding, of } => write!(f, "{from} %{of} as {to} {rounding:?}")?,
                Step::Bitcast { from, to, of } => write!(f, "{from} %{of} bits as {to}")?,
            }
            f.write_str("; ")?;
        }
        write!(f, "%{}", self.result)
    }
}
