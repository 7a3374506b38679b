//! Products and attentions that were made before: what was checked, chosen and prepared for them serves the next call.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use girih::device::Device;
use girih::kernels::attention::{self, Attention, Attentions};
use girih::kernels::gemm::{self, Epilogue, Gemm, Gemms, Input, KernelKind};
use girih::tensor::DType;
use pyo3::exceptions::PyValueError;

use crate::error::{Error, Result};

/// The most products that are kept.
const MOST: usize = 1024;
/// The same of products that copy A or B first: each has memory on the device for the copies.
const MOST_COPYING: usize = 4;
/// The most attentions that are kept: each has a table of its tiles on the device.
const MOST_ATTENDED: usize = 256;

/// The function of sums after a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Activation {
    Relu,
    Gelu,
    GeluTanh,
    Silu,
}

impl Activation {
    pub(crate) fn named(name: &str) -> Result<Activation> {
        match name {
            "relu" => Ok(Activation::Relu),
            "gelu" => Ok(Activation::Gelu),
            "gelu_tanh" => Ok(Activation::GeluTanh),
            "silu" => Ok(Activation::Silu),
            other => Err(PyValueError::new_err(format!(
                "activation must be 'relu', 'gelu', 'gelu_tanh', 'silu' or None, not {other:?}"
            ))
            .into()),
        }
    }
}

/// A problem with the dtype of its bias, whether the bias begins at a multiple of 16 bytes, and its activation.
pub(crate) type Fused = (gemm::Problem, Option<(DType, bool)>, Option<Activation>);

/// The kernels of a device, with what calls of them have in common.
pub(crate) struct Products {
    device: Device,
    gemms: Gemms,
    attentions: Attentions,
    products: Kept<Fused, Gemm>,
    copying: Kept<Fused, Gemm>,
    attended: Kept<attention::Problem, Attention>,
}

impl Products {
    pub(crate) fn new(device: &Device) -> Products {
        Products {
            device: device.clone(),
            gemms: Gemms::new(device),
            attentions: Attentions::new(device),
            products: Kept::new(MOST),
            copying: Kept::new(MOST_COPYING),
            attended: Kept::new(MOST_ATTENDED),
        }
    }

    pub(crate) fn gemm(&self, fused: Fused) -> Result<Arc<Gemm>> {
        if let Some(known) = self.products.get(&fused).or_else(|| self.copying.get(&fused)) {
            return Ok(known);
        }
        let (problem, bias, activation) = &fused;
        let epilogue = match bias {
            Some((dtype, true)) => Epilogue::new().plus(Input::row("bias", *dtype)),
            Some((dtype, false)) => Epilogue::new().plus(Input::row("bias", *dtype).unaligned()),
            None => Epilogue::new(),
        };
        let epilogue = match activation {
            None => epilogue,
            Some(Activation::Relu) => epilogue.relu(),
            Some(Activation::Gelu) => epilogue.gelu_erf(),
            Some(Activation::GeluTanh) => epilogue.gelu(),
            Some(Activation::Silu) => epilogue.silu(),
        };
        let kind = KernelKind::for_problem(problem, self.device.limits().sm);
        let made = Arc::new(self.gemms.fused(problem, kind, &epilogue)?);
        let is_copying = made.copied().iter().any(Option::is_some);
        if is_copying { &self.copying } else { &self.products }.insert(fused, &made);
        Ok(made)
    }

    pub(crate) fn attention(&self, problem: attention::Problem) -> Result<Arc<Attention>> {
        if let Some(known) = self.attended.get(&problem) {
            return Ok(known);
        }
        let made = Arc::new(self.attentions.get(&problem).map_err(Error::from)?);
        self.attended.insert(problem, &made);
        Ok(made)
    }
}

/// Values by what they were made for. Where there are too many, all are forgotten.
struct Kept<K, V> {
    values: Mutex<HashMap<K, Arc<V>>>,
    most: usize,
}

impl<K: Eq + Hash, V> Kept<K, V> {
    fn new(most: usize) -> Self {
        Kept { values: Mutex::default(), most }
    }

    fn get(&self, key: &K) -> Option<Arc<V>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn insert(&self, key: K, value: &Arc<V>) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let forgotten = if values.len() >= self.most { std::mem::take(&mut *values) } else { HashMap::new() };
        values.insert(key, value.clone());
        drop(values);
        // What is dropped here may wait for the device.
        drop(forgotten);
    }
}
