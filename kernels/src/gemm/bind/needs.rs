//! Requirements on buffers: alignment and number of elements.

use girih_codegen::Operand;
use girih_codegen::gemm::{GemmKernel, Input, Param};
use girih_device::BufferArg;
use girih_tensor::DType;

use super::{BLOCK_SCALES, Binding, OFFSETS, SCALES};
use crate::Error;
use girih_device::sizes::wide;

/// Bytes that divide the address of what has a tensor map.
const OF_MAPS: i64 = 16;

/// What a buffer must be that takes the place of another one in a prepared launch.
#[derive(Clone, Debug)]
pub(in crate::gemm) struct Need {
    /// As the caller names it.
    name: String,
    dtype: DType,
    elements: i64,
    /// Bytes that divide the address.
    aligned: i64,
}

/// The parameters that are A, B and C, and how messages name them.
const MATRICES: [(&str, &str); 3] = [("a", "A"), ("b", "B"), ("c", "C")];

impl Need {
    pub(in crate::gemm) fn of(operand: Operand, dtype: DType, elements: i64, aligned: i64) -> Need {
        Need { name: MATRICES[operand as usize].0.into(), dtype, elements, aligned }
    }

    pub(in crate::gemm) fn is_of(&self, name: &str) -> bool {
        self.name == name
    }

    /// Checks a buffer, whose elements are taken to be of the right dtype.
    pub(in crate::gemm) fn check(&self, buffer: &BufferArg<'_>) -> Result<(), Error> {
        let (address, needed) = (buffer.address(), self.aligned.max(1));
        let len = buffer.bytes() / (self.dtype.bits() as usize / 8).max(1);
        let is_short = (len as i64) < self.elements;
        let is_odd = !address.is_multiple_of(wide(needed));
        match MATRICES.iter().find(|(name, _)| *name == self.name) {
            Some((_, matrix)) if is_short => {
                Err(Error::BufferTooSmall { matrix, needed: self.elements, len })
            }
            Some((_, matrix)) if is_odd => Err(Error::Address { matrix, address, needed }),
            None if is_short => Err(Error::few(&self.name, len, self.elements)),
            None if is_odd => Err(Error::begins(&self.name, address, needed)),
            _ => Ok(()),
        }
    }
}

impl Error {
    /// That a buffer has fewer elements than an input or output that it is given for.
    pub(super) fn few(name: &str, len: usize, needed: i64) -> Error {
        let (found, accepted) = (format!("{len} elements"), format!("{needed} elements or more"));
        Error::Input { name: name.into(), found, accepted }
    }

    /// That what is given for an input or an output begins where it can't be accessed.
    fn begins(name: &str, address: u64, needed: i64) -> Error {
        let found = format!("memory that begins at {address:#x}");
        let is_input = name != SCALES && !BLOCK_SCALES.contains(&name);
        let anywhere = if is_input { ", and any address by `Input::unaligned`" } else { "" };
        let accepted = format!("multiples of {needed} bytes{anywhere}");
        Error::Input { name: name.into(), found, accepted }
    }
}

impl Binding<'_> {
    /// The bytes that divide where a kernel accesses what is given for an input, or for an output.
    fn aligned(&self, kernel: &GemmKernel, named: &str) -> i64 {
        let mut params = kernel.kernel.params().iter().zip(&kernel.params);
        let found = params.find_map(|(info, param)| match param {
            Param::InputMap(name) if name == named => Some(OF_MAPS),
            Param::Input(name) | Param::Output(name) if name == named => {
                info.fact.as_ref().map(|fact| fact.multiple)
            }
            _ => None,
        });
        found.unwrap_or(1)
    }

    /// Checks that what is given for an input begins where the kernel can read it.
    pub(super) fn begins(&self, kernel: &GemmKernel, input: &Input) -> Result<(), Error> {
        let Some(memory) = self.given(input)?.memory() else { return Ok(()) };
        let needed = match memory.pointers {
            Some(_) => input.aligned(self.config)? * i64::from(input.dtype.bits()) / 8,
            None => self.aligned(kernel, &input.name),
        };
        let odd = memory.starts().iter().find(|start| !start.is_multiple_of(wide(needed.max(1))));
        odd.map_or(Ok(()), |odd| Err(Error::begins(&input.name, *odd, needed)))
    }

    /// What buffers must be that take the places of those that are given by their names.
    pub(in crate::gemm) fn needs(&self, kernel: &GemmKernel) -> Result<Vec<Need>, Error> {
        let mut needs = Vec::new();
        let mut push = |name: &str, dtype, elements, aligned| {
            needs.push(Need { name: name.into(), dtype, elements, aligned });
        };
        for input in &kernel.inputs {
            if self.given(input)?.memory().is_some_and(|memory| memory.pointers.is_none()) {
                let [_, elements] = self.fit(input)?;
                push(&input.name, input.dtype, elements, self.aligned(kernel, &input.name));
            }
        }
        for output in &kernel.outputs {
            let elements = self.elements_of(output, self.given_output(output)?);
            push(&output.name, output.dtype, elements, self.aligned(kernel, &output.name));
        }
        for operand in [Operand::A, Operand::B] {
            if let (Some(name), Some((dtype, _))) = (self.scales_name(operand), self.problem.scaling(operand))
            {
                push(name, dtype, self.problem.scales(operand), OF_MAPS);
            }
        }
        if let Some(groups) = self.problem.groups() {
            push(OFFSETS, DType::U32, groups + 1, 4);
        }
        Ok(needs)
    }
}
