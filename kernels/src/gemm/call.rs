//! What calls of a GEMM have in common, encoded once.

use girih_codegen::gemm::GemmKernel;
use girih_device::{Arg, Launch, Template};

use super::bind::{self, Binding};
use super::repitch::Copies;
use crate::Error;
use crate::launch::run;

/// The launches of a GEMM without what each call is given: A, B and C, and the inputs of the epilogue. Of buffers that were given before,
/// nothing is encoded again, and of others their addresses.
#[derive(Debug)]
pub(super) struct Call {
    copies: Option<Template>,
    product: Template,
}

impl Call {
    /// A call by launches that were prepared for some buffers.
    pub(super) fn new(
        (copying, product): (Option<Launch>, Launch),
        copies: Option<&Copies>,
        kernel: &GemmKernel,
    ) -> Result<Call, Error> {
        let open: Vec<&str> = copies.into_iter().flat_map(Copies::open).map(|(name, _)| name).collect();
        let copies = copying.map(|launch| launch.open(&open)).transpose()?;
        Ok(Call { copies, product: product.open(&bind::open(kernel))? })
    }

    /// Puts the launches into the stream.
    pub(super) fn run(
        &mut self,
        binding: &Binding<'_>,
        copies: Option<&Copies>,
        kernel: &GemmKernel,
    ) -> Result<(), Error> {
        if let (Some(template), Some(copies)) = (&mut self.copies, copies) {
            let args: Vec<_> = copies.open().map(|(_, operand)| Arg::Buffer(binding.from[operand])).collect();
            run(template, &args)?;
        }
        Ok(run(&mut self.product, &binding.open(kernel)?)?)
    }
}
