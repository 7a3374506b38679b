//! A linear layer, `C = gelu(A * B^T + bias) + residual`, in one kernel: the ready GEMM with an epilogue, by any of its mainloops.

use girih::device::{Device, Pod};
use girih::kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Problem};
use girih::tensor::{DType, Element};

use crate::Outcome;

/// The epilogue over values of `dtype`.
pub(super) fn linear(dtype: DType) -> Epilogue {
    Epilogue::new().plus(Input::row("bias", dtype)).gelu().plus(Input::matrix("residual", dtype))
}

pub(super) fn run<T: Element + Pod>(device: &Device, mnk: [i64; 3], kind: KernelKind) -> Outcome {
    let [m, n, k] = mnk.map(|extent| extent as usize);
    let [a, b, bias, residual] = [m * k, n * k, n, m * n].map(filled::<T>);

    let [on_a, on_b] = [device.upload(&a)?, device.upload(&b)?];
    let [on_bias, on_residual] = [device.upload(&bias)?, device.upload(&residual)?];
    let on_c = device.alloc::<T>(m * n)?;
    let problem = Problem::new(T::DTYPE, mnk, Layout::Tn)?;
    let gemm = Gemms::new(device).fused(&problem, kind, &linear(T::DTYPE))?;
    let given = [("bias", Given::from(&on_bias)), ("residual", Given::from(&on_residual))];
    gemm.run_with(&on_a, &on_b, &on_c, &given)?;

    for (at, found) in on_c.download()?.into_iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let product = |i: usize| a[row * k + i].to_f64() * b[column * k + i].to_f64();
        let x = (0..k).map(product).sum::<f64>() + bias[column].to_f64();
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        let expected = x / 2.0 * (1.0 + inner.tanh()) + residual[at].to_f64();
        let bound = 1e-4 + 2.0 * T::DTYPE.epsilon() * expected.abs();
        assert!((found.to_f64() - expected).abs() <= bound, "({row},{column}): {found:?}, not {expected}");
    }
    Ok(())
}

/// Numbers between -1 and 1.
fn filled<T: Element>(len: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64((i * 7919 % 201) as f64 / 100.0 - 1.0)).collect()
}
