//! Calls of a GEMM, whose common arguments are encoded once.

use girih_codegen::gemm::GemmKernel;
use girih_device::{Arg, Launch, Template};

use super::bind::{self, Binding};
use super::passes::{Open, Opened};
use crate::Error;
use crate::launch::run;

/// The launches of a GEMM without what each call is given: A, B and C, and the inputs of the epilogue. Of buffers that were given before,
/// nothing is encoded again, and of others their addresses.
#[derive(Debug)]
pub(super) struct Call {
    copies: Vec<(Template, Vec<Open>)>,
    product: Template,
    /// The pitch of the input that the kernel reads ahead, which its tensor map has.
    pitch: Option<i64>,
}

impl Call {
    /// A call by launches that were prepared for the buffers of `binding`.
    pub(super) fn new(
        (copying, product): (Vec<Opened>, Launch),
        binding: &Binding<'_>,
        kernel: &GemmKernel,
    ) -> Result<Call, Error> {
        let copies = copying.into_iter().map(|(launch, open)| {
            let names: Vec<&str> = open.iter().map(|open| &*open.name).collect();
            Ok::<_, Error>((launch.open(&names)?, open))
        });
        Ok(Call {
            copies: copies.collect::<Result<_, _>>()?,
            product: product.open(&bind::open(kernel))?,
            pitch: binding.ahead(kernel)?.map(|(_, pitch)| pitch),
        })
    }

    /// Whether only what each call is given is another one for the buffers of `binding`.
    pub(super) fn serves(&self, binding: &Binding<'_>, kernel: &GemmKernel) -> Result<bool, Error> {
        Ok(self.pitch == binding.ahead(kernel)?.map(|(_, pitch)| pitch))
    }

    /// Puts the launches into the stream.
    pub(super) fn run(&mut self, binding: &Binding<'_>, kernel: &GemmKernel) -> Result<(), Error> {
        for (template, open) in &mut self.copies {
            let arg = |open: &Open| open.arg(Arg::Buffer(binding.from[open.operand]));
            run(template, &open.iter().map(arg).collect::<Vec<_>>())?;
        }
        Ok(run(&mut self.product, &binding.open(kernel)?)?)
    }
}
