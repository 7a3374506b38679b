//! The arguments of a launch, from a problem's matrices and the inputs of an epilogue.

mod given;
mod outputs;

use girih_codegen::gemm::{Epilogue, GemmKernel, Input, InputKind, Output};
use girih_codegen::{Operand, Slot};
use girih_device::{Arg, BufferArg};
use girih_tensor::DType;

use super::repitch::between;
use super::{GemmConfig, Matrix, Problem};
use crate::Error;
use crate::family::{Memory, Need};
use girih_device::sizes::{wide, word};

pub use given::Given;

/// The names by which a launch gives scales: those of a problem with mixed inputs, and those of blocks of A and of B.
const SCALES: &str = "scales";
const BLOCK_SCALES: [&str; 2] = ["scales_a", "scales_b"];
/// The same of where the groups begin, and of where the last one ends.
const OFFSETS: &str = "offsets";

/// The arguments of a call: the matrices, and the buffers that the epilogue reads and writes, for the problem that the kernel computes.
pub(super) struct Binding<'a> {
    pub(super) problem: &'a Problem,
    /// Whether `problem` is the transpose of the problem that the caller asked for.
    pub(super) transposed: bool,
    pub(super) config: &'a GemmConfig,
    pub(super) epilogue: &'a Epilogue,
    pub(super) kernel: &'a GemmKernel,
    /// The caller's A, B and C.
    pub(super) matrices: [Memory<'a>; 3],
    pub(super) given: &'a [(&'a str, Given<'a>)],
}

/// The name by which the scales of the kernel's A or B are given, if it has scales.
pub(super) fn scales_name(problem: &Problem, transposed: bool, operand: Operand) -> Option<&'static str> {
    problem.scaling(operand)?;
    // A and B are named as the caller names them.
    let of_blocks = BLOCK_SCALES[usize::from((operand == Operand::B) != transposed)];
    Some(if problem.block_scales().is_some() { of_blocks } else { SCALES })
}

impl<'a> Binding<'a> {
    /// Checks what is given for the epilogue: each input is given once, as it is declared, and shares no memory with C unless it is C
    /// itself; and what is given for the outputs.
    pub(super) fn check(&self) -> Result<(), Error> {
        let (kernel, c) = (self.kernel, &self.matrices[2]);
        let names = || {
            let outputs = kernel.outputs.iter().map(Output::to_string);
            kernel.inputs.iter().map(Input::to_string).chain(outputs).collect::<Vec<_>>().join(", ")
        };
        for (i, (name, given)) in self.given.iter().enumerate() {
            let refuse = |found: &str| {
                let (name, accepted) = (name.to_string(), format!("each of these once: [{}]", names()));
                Err(Error::Input { name, found: found.into(), accepted })
            };
            let input = kernel.inputs.iter().find(|input| input.name == *name);
            let is_scales =
                [Operand::A, Operand::B].into_iter().any(|of| self.scales_name(of) == Some(*name));
            let is_output = kernel.outputs.iter().any(|output| output.name == *name);
            let is_offsets = *name == OFFSETS && self.problem.groups().is_some();
            if input.is_none() && !is_scales && !is_output && !is_offsets {
                return refuse("no input of the epilogue");
            }
            if self.given[..i].iter().any(|(other, _)| other == name) {
                return refuse("given twice");
            }
            let is_c = |memory| input.map_or(Ok(false), |input| self.is_c(input, memory, c));
            if let Some(memory) = given.memory()
                && !is_output
                && let Some(common) = c.common(&self.used(input, memory)?)?
                && !is_c(memory)?
            {
                return Err(common.error("C", "an input"));
            }
        }
        for input in &kernel.inputs {
            self.fit(input)?;
            self.begins(input)?;
        }
        self.check_outputs()?;
        self.offsets()?;
        self.scales(Operand::A)?;
        self.scales(Operand::B).map(drop)
    }

    fn scales_name(&self, operand: Operand) -> Option<&'static str> {
        scales_name(self.problem, self.transposed, operand)
    }

    /// The scales of the kernel's A or B, if it has scales.
    fn scales(&self, operand: Operand) -> Result<Option<BufferArg<'a>>, Error> {
        let (Some(name), Some((scale, _))) = (self.scales_name(operand), self.problem.scaling(operand))
        else {
            return Ok(None);
        };
        Given::list(self.given, name, scale, self.problem.scales(operand)).map(|list| Some(list.arg))
    }

    /// Where the groups begin, if the problem has groups.
    fn offsets(&self) -> Result<Option<BufferArg<'a>>, Error> {
        let Some(groups) = self.problem.groups() else { return Ok(None) };
        Given::list(self.given, OFFSETS, DType::U32, groups + 1).map(|list| Some(list.arg))
    }

    /// Whether an input is C itself. That may be read: an element is read at its own place, before its block stores it.
    fn is_c(&self, input: &Input, memory: &Memory<'_>, c: &Memory<'_>) -> Result<bool, Error> {
        let lies_so = memory.address == c.address && input.dtype == self.problem.output();
        let c = self.problem.c();
        let lies_so = lies_so
            && self.pitch(input)? == c.ld()
            && self.given(input)?.step(self.problem.products()) == between(&c);
        Ok(lies_so && input.kind == InputKind::Matrix && !self.is_before_gate(input))
    }

    /// The part of an input's memory that is read.
    fn used<'m>(&self, input: Option<&Input>, memory: &Memory<'m>) -> Result<Memory<'m>, Error> {
        let Some(input) = input.filter(|input| input.kind == InputKind::Matrix) else { return Ok(*memory) };
        let c = self.problem.c();
        let [m, n, _] = self.problem.mnk();
        let [x, y] = if self.is_before_gate(input) { [m, n] } else { c.extents() };
        let (pitch, products) = (self.pitch(input)?, self.problem.products());
        let [dx, dy] = if c.contiguous() == 1 { [pitch, 1] } else { [1, pitch] };
        let step = self.given(input)?.step(products);
        let repeated =
            if memory.pointers.is_some() || self.problem.groups().is_some() { 1 } else { products };
        Ok(memory.used([x, y, repeated, 1], [dx, dy, step, 0]))
    }

    fn given(&self, input: &Input) -> Result<&'a Given<'a>, Error> {
        let found = self.given.iter().find(|(name, _)| *name == input.name).map(|(_, given)| given);
        found.ok_or_else(|| Error::Input {
            name: input.name.clone(),
            found: String::from("nothing"),
            accepted: input.to_string(),
        })
    }

    fn pitch(&self, input: &Input) -> Result<i64, Error> {
        self.fit(input).map(|[pitch, _]| pitch)
    }

    /// The pitch of what is given for an input, which it fits, and how many elements are read.
    fn fit(&self, input: &Input) -> Result<[i64; 2], Error> {
        let [m, n, _] = self.problem.mnk();
        // Inputs that are read before a gate have the shape of the product.
        let matrix = match self.is_before_gate(input) {
            true => Matrix { extents: [m, n], ..self.problem.c() },
            false => self.problem.c(),
        };
        self.given(input)?.check(input, self.problem, &matrix, self.transposed)
    }

    fn is_before_gate(&self, input: &Input) -> bool {
        self.epilogue.is_gated() && !self.epilogue.is_behind_gate(&input.name)
    }

    /// All that is given, by the caller's names.
    pub(super) fn slots(&self) -> Result<Vec<(Slot<&'a str>, Arg<'a>)>, Error> {
        let buffer = |name: &'a str, arg: BufferArg<'a>| (Slot::Memory(name), Arg::Buffer(arg));
        let [a, b, c] = self.matrices;
        let mut slots = vec![buffer("a", a.arg), buffer("b", b.arg), buffer("c", c.arg)];
        for operand in [Operand::A, Operand::B] {
            if let (Some(name), Some(scales)) = (self.scales_name(operand), self.scales(operand)?) {
                slots.push(buffer(name, scales));
            }
        }
        slots.extend(self.offsets()?.map(|offsets| buffer(OFFSETS, offsets)));
        for input in &self.kernel.inputs {
            let (name, given) = (&*input.name, self.given(input)?);
            slots.push((Slot::Memory(name), given.arg(input)));
            slots.push((Slot::Pitch(name), Arg::U32(word(self.pitch(input)?))));
            slots.push((Slot::Step(name), Arg::U64(wide(given.step(self.problem.products())))));
        }
        for output in &self.kernel.outputs {
            let (name, given) = (&*output.name, self.given_output(output)?);
            slots.extend(given.memory().map(|memory| buffer(name, memory.arg)));
            slots.push((Slot::Step(name), Arg::U64(wide(given.step(self.problem.batches())))));
        }
        Ok(slots)
    }

    /// The pitch of the input that the kernel reads ahead; 0 where it reads none ahead.
    pub(super) fn ahead(&self) -> Result<i64, Error> {
        let ahead = self.kernel.inputs.iter().find(|input| self.kernel.params.is_mapped(&input.name));
        ahead.map_or(Ok(0), |input| self.pitch(input))
    }

    /// Checks that what is given for an input begins where the kernel can read it.
    fn begins(&self, input: &Input) -> Result<(), Error> {
        let Some(memory) = self.given(input)?.memory() else { return Ok(()) };
        let mut need = self.need(&input.name, input.dtype, 0);
        if memory.pointers.is_some() {
            need.aligned = input.aligned(self.config)? * i64::from(input.dtype.bits()) / 8;
        }
        memory.starts().iter().try_for_each(|start| need.begins(*start))
    }

    /// The requirements of a buffer for an input or an output.
    fn need(&self, name: &str, dtype: DType, elements: i64) -> Need {
        let aligned = self.kernel.params.alignment(&self.kernel.kernel, name);
        Need { name: name.into(), matrix: None, dtype, elements, aligned, anywhere: true }
    }

    /// The requirements of the buffers that replace those that are passed by name.
    pub(super) fn needs(&self) -> Result<Vec<Need>, Error> {
        let mut needs = Vec::new();
        for input in &self.kernel.inputs {
            if self.given(input)?.memory().is_some_and(|memory| memory.pointers.is_none()) {
                let [_, elements] = self.fit(input)?;
                needs.push(self.need(&input.name, input.dtype, elements));
            }
        }
        for output in &self.kernel.outputs {
            let elements = self.elements_of(output, self.given_output(output)?);
            needs.push(self.need(&output.name, output.dtype, elements));
        }
        for operand in [Operand::A, Operand::B] {
            if let (Some(name), Some((dtype, _))) = (self.scales_name(operand), self.problem.scaling(operand))
            {
                let need = self.need(name, dtype, self.problem.scales(operand));
                let aligned = self.kernel.params.alignment(&self.kernel.kernel, name);
                needs.push(Need { aligned, anywhere: false, ..need });
            }
        }
        if let Some(groups) = self.problem.groups() {
            needs.push(self.need(OFFSETS, DType::U32, groups + 1));
        }
        Ok(needs)
    }
}
