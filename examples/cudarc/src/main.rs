//! A program of cudarc's that has a context, a stream and slices of its own, and lets girih compute a linear layer on them:
//! `C = gelu(A * B^T + bias) + residual`, once by itself and a hundred times in a graph.
//!
//! `cargo run --release -p girih-example-cudarc`; where there is no GPU it says so.

use std::error::Error;

use cudarc::driver::{CudaContext, sys};
use girih::device::Device;
use girih::kernels::gemm::{Epilogue, Gemms, Given, Input, KernelKind, Layout, Problem};
use girih::tensor::DType;

const M: usize = 1000;
const N: usize = 776;
const K: usize = 520;
const REPLAYS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: the call only looks for the library.
    #[expect(unsafe_code, reason = "cudarc panics without a driver")]
    if !unsafe { sys::is_culib_present() } {
        println!("skipped: there is no CUDA driver");
        return Ok(());
    }
    let stream = CudaContext::new(0)?.new_stream()?;
    let filled =
        |len: usize| -> Vec<f32> { (0..len).map(|i| (i * 7919 % 201) as f32 / 100.0 - 1.0).collect() };
    let [a, b, bias, residual] = [M * K, N * K, N, M * N].map(filled);
    let (on_a, on_b) = (stream.clone_htod(&a)?, stream.clone_htod(&b)?);
    let (on_bias, on_residual) = (stream.clone_htod(&bias)?, stream.clone_htod(&residual)?);
    let (mut once, mut replayed) = (stream.alloc_zeros::<f32>(M * N)?, stream.alloc_zeros::<f32>(M * N)?);

    // girih joins the stream: what either of the two puts into it runs in order.
    let device = Device::from_cudarc(&stream)?;
    let problem = Problem::new(DType::F32, [M, N, K].map(|extent| extent as i64), Layout::Tn)?;
    let epilogue = Epilogue::new()
        .plus(Input::row("bias", DType::F32))
        .gelu()
        .plus(Input::matrix("residual", DType::F32));
    let kind = KernelKind::for_problem(&problem, device.limits().sm);
    let gemm = Gemms::new(&device).fused(&problem, kind, &epilogue)?;
    {
        let (a, b) = (device.borrow_cudarc(&on_a)?, device.borrow_cudarc(&on_b)?);
        let (bias, residual) = (device.borrow_cudarc(&on_bias)?, device.borrow_cudarc(&on_residual)?);
        let given = [("bias", Given::from(&*bias)), ("residual", Given::from(&*residual))];
        gemm.run_with(&a, &b, &*device.borrow_cudarc_mut(&mut once)?, &given)?;
        let c = device.borrow_cudarc_mut(&mut replayed)?;
        let graph = device.capture(|| gemm.run_with(&a, &b, &c, &given))?;
        for _ in 0..REPLAYS {
            // SAFETY: the slices are borrowed, and nothing else writes them.
            #[expect(unsafe_code, reason = "the graph uses borrowed memory")]
            unsafe { graph.launch() }?;
        }
    }

    let (once, replayed) = (stream.clone_dtoh(&once)?, stream.clone_dtoh(&replayed)?);
    for (at, (once, replayed)) in once.iter().zip(&replayed).enumerate() {
        let (row, column) = (at / N, at % N);
        let products = (0..K).map(|i| f64::from(a[row * K + i]) * f64::from(b[column * K + i]));
        let x = products.sum::<f64>() + f64::from(bias[column]);
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
        let expected = x / 2.0 * (1.0 + inner.tanh()) + f64::from(residual[at]);
        let bound = 1e-4 + 1e-5 * expected.abs();
        if (f64::from(*once) - expected).abs() > bound || once != replayed {
            return Err(
                format!("({row},{column}): {once} and {replayed} in the graph, not {expected}").into()
            );
        }
    }
    println!(
        "{M} x {N} x {K} on {} by {}: every value is right, {REPLAYS} replays too",
        device.name(),
        kind.name()
    );
    Ok(())
}
