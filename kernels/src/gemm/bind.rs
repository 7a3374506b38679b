//! From a problem's matrices, and what an epilogue reads, to the arguments of a launch.

mod given;
mod needs;
mod outputs;

use girih_codegen::Operand;
use girih_codegen::gemm::{Epilogue, GemmKernel, Input, InputKind, Output, Param};
use girih_device::{Arg, Buffer, BufferArg, Kernel, Launch, LaunchConfig, TensorMap};
use girih_tensor::DType;

use super::memory::Memory;
use super::repitch::between;
use super::workspace::Workspace;
use super::{GemmConfig, Matrix, Problem};
use crate::Error;
use girih_device::sizes::{wide, word};

pub use given::Given;
pub(super) use needs::Need;

/// The names by which a launch gives scales: those of a problem with mixed inputs, and those of blocks of A and of B.
const SCALES: &str = "scales";
const BLOCK_SCALES: [&str; 2] = ["scales_a", "scales_b"];
/// The same of where the groups begin, and of where the last one ends.
const OFFSETS: &str = "offsets";

/// What the parameters of a GEMM kernel are made of: the problem as the kernel computes it, and what the epilogue reads.
pub(super) struct Binding<'a> {
    pub(super) problem: &'a Problem,
    /// Whether `problem` is the transpose of the problem that the caller asked for.
    pub(super) transposed: bool,
    pub(super) config: &'a GemmConfig,
    pub(super) epilogue: &'a Epilogue,
    /// A and B as they are given.
    pub(super) from: [BufferArg<'a>; 2],
    /// A, B and C where the kernel finds them.
    pub(super) operands: [BufferArg<'a>; 3],
    pub(super) order: Option<&'a Buffer<u32>>,
    pub(super) workspace: Option<&'a Workspace>,
    pub(super) given: &'a [(&'a str, Given<'a>)],
}

/// The names of the parameters whose arguments each call is given.
pub(super) fn open(kernel: &GemmKernel) -> Vec<&str> {
    let named = kernel.kernel.params().iter().zip(&kernel.params);
    named.filter(|(_, param)| is_open(param)).map(|(info, _)| &*info.name).collect()
}

/// Whether each call is given the argument of a parameter. What the problem says is the same for all.
fn is_open(param: &Param) -> bool {
    use Param::*;
    let of_inputs = matches!(param, Input(_) | InputPitch(_) | InputMap(_) | InputBatchStride(_));
    let of_outputs = matches!(param, Output(_) | OutputBatchStride(_));
    of_inputs || of_outputs || matches!(param, Pointer(_) | Pointers(_) | Map(_) | Scales(_) | Offsets)
}

impl Binding<'_> {
    /// Checks what is given for the epilogue: each input is given once, as it is declared, and shares no memory with C unless it is C
    /// itself; and what is given for the outputs. `matrices` are A, B and C.
    pub(super) fn check(&self, kernel: &GemmKernel, matrices: &[Memory<'_>; 3]) -> Result<(), Error> {
        let c = &matrices[2];
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
            self.begins(kernel, input)?;
        }
        self.check_outputs(kernel, matrices)?;
        self.offsets()?;
        self.scales(Operand::A)?;
        self.scales(Operand::B).map(drop)
    }

    /// The name by which the scales of the kernel's A or B are given, if it has scales.
    fn scales_name(&self, operand: Operand) -> Option<&'static str> {
        self.problem.scaling(operand)?;
        let blocks = self.problem.block_scales().is_some();
        // A and B are named as the caller names them.
        Some(if blocks {
            BLOCK_SCALES[usize::from((operand == Operand::B) != self.transposed)]
        } else {
            SCALES
        })
    }

    /// The scales of the kernel's A or B, if it has scales.
    fn scales(&self, operand: Operand) -> Result<Option<BufferArg<'_>>, Error> {
        let (Some(name), Some((scale, _))) = (self.scales_name(operand), self.problem.scaling(operand))
        else {
            return Ok(None);
        };
        self.vector(name, scale, self.problem.scales(operand))
    }

    /// Where the groups begin, if the problem has groups.
    fn offsets(&self) -> Result<Option<BufferArg<'_>>, Error> {
        let Some(groups) = self.problem.groups() else { return Ok(None) };
        self.vector(OFFSETS, DType::U32, groups + 1)
    }

    /// The buffer that is given as `name`, of `needed` elements of `wanted` or more.
    fn vector(&self, name: &str, wanted: DType, needed: i64) -> Result<Option<BufferArg<'_>>, Error> {
        let refuse = |found: String| Error::Input {
            name: name.into(),
            found,
            accepted: format!("a buffer of {needed} elements of {wanted} or more"),
        };
        let given = self.given.iter().find(|(given, _)| *given == name).map(|(_, given)| given);
        let Some(given) = given else { return Err(refuse(String::from("nothing"))) };
        match (given.memory(), given.pitch) {
            (_, Some(pitch)) => Err(refuse(format!("a pitch of {pitch}"))),
            (None, _) => Err(refuse(String::from("a number"))),
            (Some(memory), _) if memory.pointers.is_some() => Err(refuse(given.found())),
            (Some(Memory { dtype, len, .. }), _) if *dtype != wanted || (*len as i64) < needed => {
                Err(refuse(format!("{len} elements of {dtype}")))
            }
            (Some(memory), _) => Ok(Some(memory.arg)),
        }
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

    /// What of the memory of an input is read.
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

    fn given(&self, input: &Input) -> Result<&Given<'_>, Error> {
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
        // What is read before a gate has the shape of the product.
        let matrix = match self.is_before_gate(input) {
            true => Matrix { extents: [m, n], ..self.problem.c() },
            false => self.problem.c(),
        };
        self.given(input)?.check(input, self.problem, &matrix, self.transposed)
    }

    fn is_before_gate(&self, input: &Input) -> bool {
        self.epilogue.is_gated() && !self.epilogue.is_behind_gate(&input.name)
    }

    /// The arguments of the parameters that are [`open`], in their order.
    pub(super) fn open(&self, kernel: &GemmKernel) -> Result<Vec<Arg<'_>>, Error> {
        let mut args = Vec::with_capacity(kernel.params.len());
        for param in kernel.params.iter().filter(|param| is_open(param)) {
            args.extend(self.given_arg(kernel, param)?);
        }
        Ok(args)
    }

    /// The argument of a parameter that is open; of a tensor map its matrix.
    fn given_arg(&self, kernel: &GemmKernel, param: &Param) -> Result<Option<Arg<'_>>, Error> {
        let given = |name: &String| {
            let input = kernel.inputs.iter().find(|input| input.name == *name);
            input.map(|input| Ok::<_, Error>((input, self.given(input)?))).transpose()
        };
        Ok(match param {
            Param::Pointer(operand) | Param::Pointers(operand) | Param::Map(operand) => {
                Some(Arg::Buffer(self.operands[*operand as usize]))
            }
            Param::Scales(operand) => self.scales(*operand)?.map(Arg::Buffer),
            Param::Offsets => self.offsets()?.map(Arg::Buffer),
            Param::Input(name) | Param::InputMap(name) => given(name)?.map(|(input, given)| given.arg(input)),
            Param::InputBatchStride(name) => {
                given(name)?.map(|(_, given)| Arg::U64(wide(given.step(self.problem.products()))))
            }
            Param::InputPitch(name) => match given(name)? {
                Some((input, _)) => Some(Arg::U32(word(self.pitch(input)?))),
                None => None,
            },
            Param::Output(name) => self.output(kernel, name)?,
            Param::OutputBatchStride(name) => self.output_stride(kernel, name)?,
            _ => None,
        })
    }

    /// What is given for the input that the kernel reads ahead, if there is one, and its pitch.
    pub(super) fn ahead(&self, kernel: &GemmKernel) -> Result<Option<(Arg<'_>, i64)>, Error> {
        let ahead = kernel.params.iter().find_map(|param| match param {
            Param::InputMap(name) => kernel.inputs.iter().find(|input| input.name == *name),
            _ => None,
        });
        ahead.map(|input| Ok((self.given(input)?.arg(input), self.pitch(input)?))).transpose()
    }

    /// The launch with all of its arguments.
    pub(super) fn prepare(
        &self,
        loaded: &Kernel,
        kernel: &GemmKernel,
        config: &LaunchConfig,
    ) -> Result<Launch, Error> {
        let problem = self.problem;
        let matrices = [problem.a(), problem.b(), problem.c()];
        let ([m, n, k], pitches) = (problem.mnk(), matrices.map(|matrix| matrix.bound_pitch()));
        let mnk = [m, n, k];
        let mut maps = Vec::new();
        for operand in Operand::ALL {
            let matrix = &matrices[operand as usize];
            // Of one matrix, the stride does not matter.
            let stride = if matrix.different() > 1 { matrix.batch_stride() } else { matrix.bound_pitch() };
            maps.push(match kernel.map(operand, mnk, pitches, [matrix.different(), stride])? {
                Some(tiled) => Some(TensorMap::new(self.operands[operand as usize], &tiled)?),
                None => None,
            });
        }
        let mut scales = [None, None];
        for (scales, operand) in scales.iter_mut().zip([Operand::A, Operand::B]) {
            let tiled =
                kernel.map_of_scales(operand, [m, n, k.max(1)], problem.pitch_of_scales(operand).max(1));
            *scales = match self.scales(operand)? {
                Some(buffer) => tiled?.map(|tiled| TensorMap::new(buffer, &tiled)).transpose()?,
                None => None,
            };
        }
        let ahead = match self.ahead(kernel)? {
            Some((Arg::Buffer(buffer), pitch)) => {
                let tiled = kernel.map_of_input(mnk, pitch)?;
                tiled.map(|tiled| TensorMap::new(buffer, &tiled)).transpose()?
            }
            _ => None,
        };
        let number = |value: i64| Arg::U32(word(value));
        let mut args = Vec::new();
        for (info, param) in kernel.kernel.params().iter().zip(&kernel.params) {
            let arg = match param {
                Param::Map(operand) => maps[*operand as usize].as_ref().map(Arg::from),
                Param::InputMap(_) => ahead.as_ref().map(Arg::from),
                Param::Extent(mode) => Some(number(mnk[*mode])),
                Param::Pitch(operand) => Some(number(pitches[*operand as usize])),
                Param::Order | Param::Pieces => self.order.map(Arg::from),
                Param::Workspace => self.workspace.map(|workspace| Arg::from(&workspace.sums)),
                Param::Semaphores => self.workspace.map(|workspace| Arg::from(&workspace.turns)),
                Param::Partials(name) => self.left(kernel, name, 0),
                Param::Arrivals(name) => self.left(kernel, name, 1),
                Param::Tiles => Some(Arg::U32(kernel.all_tiles([m, n, problem.products()])?)),
                Param::Scales(operand) => scales[usize::from(*operand == Operand::B)].as_ref().map(Arg::from),
                Param::Groups => Some(number(problem.products())),
                Param::TilesOfBatch => Some(Arg::U32(kernel.all_tiles([m, n, 1])?)),
                Param::BatchStride(operand) => Some(Arg::U64(wide(between(&matrices[*operand as usize])))),
                Param::LastOfBatch(operand) => Some(number(matrices[*operand as usize].different() - 1)),
                open => self.given_arg(kernel, open)?,
            };
            // A missing argument is reported when the launch checks its arguments.
            args.extend(arg.map(|arg| (&*info.name, arg)));
        }
        Ok(loaded.prepare(config, &loaded.arguments(&args)?)?)
    }
}
