//! The options that all kinds of attention have: score modifiers, and inputs and outputs other than Q, K, V and O.

use girih_device::sizes::{rounded, size};
use girih_device::{Buffer, Device, Pod};
use girih_kernels::attention::{Host, Problem};
use girih_kernels::gemm::Given;
use girih_tensor::{DType, Element};
use rand::rngs::StdRng;
use serde::Serialize;

use crate::gemm::random;
use crate::run::bytes;

/// The byte that results are filled with before a run, so that they are NaN.
pub(super) const POISON: u8 = 0xff;

/// The arguments of the options.
#[derive(clap::Args)]
pub(crate) struct OptionArgs {
    /// What scores are multiplied by [default: 1 / sqrt(head dim)]
    #[arg(long)]
    scale: Option<f32>,
    /// Let scores become cap * tanh(score / cap)
    #[arg(long, value_name = "CAP")]
    softcap: Option<f32>,
    /// Let a random logit of each query head join the softmax's denominator
    #[arg(long)]
    sinks: bool,
    /// Compute the logsumexps too
    #[arg(long)]
    lse: bool,
}

impl OptionArgs {
    /// The problem with the options.
    pub(super) fn of(&self, problem: Problem) -> Result<Problem, girih_kernels::Error> {
        let lse = problem.lse() || self.lse;
        let problem = problem.with_lse(lse).with_sinks(self.sinks);
        let problem = self.scale.map_or(Ok(problem.clone()), |scale| problem.with_scale(scale))?;
        self.softcap.map_or(Ok(problem.clone()), |cap| problem.with_softcap(cap))
    }
}

/// The inputs other than Q, K and V, on the host.
#[derive(Default)]
pub(crate) struct Extras {
    bias: Vec<f32>,
    sinks: Vec<f32>,
}

impl Extras {
    /// Random elements, of a bias those that `T` has.
    pub(super) fn random<T: Element>(problem: &Problem, rng: &mut StdRng) -> Extras {
        let bias: Vec<T> = random(rng, problem.bias_len());
        let bias = bias.into_iter().map(|x| rounded(x.to_f64())).collect();
        Extras { bias, sinks: random(rng, problem.sinks_len()) }
    }

    /// These elements of a bias.
    pub(super) fn of_bias(bias: Vec<f32>) -> Extras {
        Extras { bias, sinks: Vec::new() }
    }

    /// All that the reference reads.
    pub(super) fn host<'a, T>(&'a self, [q, k, v]: [&'a [T]; 3]) -> Host<'a, T> {
        Host { q, k, v, bias: &self.bias, sinks: &self.sinks }
    }

    /// The bytes of the inputs on a device, the bias in both dtypes.
    pub(super) fn bytes(problem: &Problem) -> [u64; 2] {
        [DType::F32, problem.dtype()].map(|dtype| bytes(problem.bias_len(), dtype))
    }
}

/// The inputs and outputs other than Q, K, V and O, on a device.
pub(crate) struct ExtrasOnDevice<T: Pod> {
    pub(super) lse: Buffer<f32>,
    /// The bias in f32, and in the dtype of the tensors.
    wide: Buffer<f32>,
    narrow: Buffer<T>,
    sinks: Buffer<f32>,
}

impl<T: Element + Pod> ExtrasOnDevice<T> {
    pub(super) fn new(
        device: &Device,
        problem: &Problem,
        extras: &Extras,
    ) -> Result<ExtrasOnDevice<T>, girih_device::Error> {
        // A bias that is not of f32 has elements that `T` has.
        let narrow: Vec<T> = extras.bias.iter().map(|&x| T::from_f64(x.into())).collect();
        Ok(ExtrasOnDevice {
            lse: device.alloc::<f32>(size(problem.lse_len()))?,
            wide: device.upload(&extras.bias)?,
            narrow: device.upload(&narrow)?,
            sinks: device.upload(&extras.sinks)?,
        })
    }

    /// The arguments of a call, by name.
    pub(crate) fn given(&self, problem: &Problem) -> Vec<(&'static str, Given<'_>)> {
        let (wide, narrow) = (Given::from(&self.wide), Given::from(&self.narrow));
        let bias =
            problem.bias().map(|bias| ("bias", if bias.dtype() == DType::F32 { wide } else { narrow }));
        let lse = problem.lse().then(|| ("lse", Given::from(&self.lse)));
        let sinks = problem.sinks().then(|| ("sinks", Given::from(&self.sinks)));
        bias.into_iter().chain(lse).chain(sinks).collect()
    }
}

/// The options in a report.
#[derive(Serialize)]
pub(super) struct OptionReport {
    pub(super) scale: f32,
    softcap: Option<f32>,
    bias: Option<&'static str>,
    lse: bool,
    sinks: bool,
}

impl OptionReport {
    pub(super) fn new(problem: &Problem) -> OptionReport {
        OptionReport {
            scale: problem.scale(),
            softcap: problem.softcap(),
            bias: problem.bias().map(|bias| bias.dtype().name()),
            lse: problem.lse(),
            sinks: problem.sinks(),
        }
    }

    /// The score modifiers, to follow other words.
    pub(super) fn modifiers(&self) -> String {
        let cap = self.softcap.map_or(String::new(), |cap| format!(", cap {cap}"));
        let bias = self.bias.map_or(String::new(), |dtype| format!(", bias of {dtype}"));
        let sinks = if self.sinks { ", sinks" } else { "" };
        format!("{cap}{bias}{sinks}")
    }
}
