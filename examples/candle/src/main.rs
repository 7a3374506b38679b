//! A linear layer of candle's in one kernel of girih's: `gelu(x * w^T + bias)` as a [`CustomOp3`], which candle's CPU path runs on
//! girih's simulator, checked for races, beside the same layer of candle's own operations.
//!
//! `cargo run --release --manifest-path examples/candle/Cargo.toml`

use candle_core::backend::BackendStorage as _;
use candle_core::{CpuStorage, CustomOp3, DType, Device, Error, Layout, Result, Shape, Tensor, WithDType};
use girih::device::{Pod, Select};
use girih::kernels::gemm::{self, Epilogue, Gemms, Given, Input, KernelKind, Problem};
use girih::tensor::Element;
use half::{bf16, f16};

type Outcome<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// `gelu(x * w^T + bias)` for x of `(m,k)`, w of `(n,k)` and bias of `(n)`, all f32, f16 or bf16. x and w may be transposed views
/// and parts of larger tensors: their strides go to the kernel.
struct LinearGelu {
    device: girih::device::Device,
    gemms: Gemms,
}

/// A tensor of candle's.
#[derive(Clone, Copy)]
struct View<'a, T> {
    values: &'a [T],
    layout: &'a Layout,
}

impl<'a, T: WithDType> View<'a, T> {
    fn new(storage: &'a CpuStorage, layout: &'a Layout) -> Result<View<'a, T>> {
        Ok(View { values: &storage.as_slice()?[layout.start_offset()..], layout })
    }

    /// The matrix's extents, whether its columns (K) are contiguous, and the stride of its other mode.
    fn matrix(&self) -> Outcome<([i64; 2], bool, i64)> {
        let (&[rows, columns], &[down, across]) = (self.layout.dims(), self.layout.stride()) else {
            return Err(format!("{:?}: a matrix is accepted", self.layout.shape()).into());
        };
        let extents = [i64::try_from(rows)?, i64::try_from(columns)?];
        match (down, across) {
            (ld, 1) => Ok((extents, true, i64::try_from(ld)?)),
            (1, ld) => Ok((extents, false, i64::try_from(ld)?)),
            _ => Err(format!(
                "strides {down} and {across}: a stride of 1 is accepted, as `contiguous` makes it"
            )
            .into()),
        }
    }
}

impl LinearGelu {
    fn open(select: Select) -> Outcome<LinearGelu> {
        let device = girih::device::Device::open(select)?;
        Ok(LinearGelu { gemms: Gemms::new(&device), device })
    }

    fn layer<T: WithDType + Element + Pod>(&self, [x, w, bias]: [View<'_, T>; 3]) -> Outcome<Vec<T>> {
        let (([m, k], x_rows, lda), ([n, depth], w_rows, ldb)) = (x.matrix()?, w.matrix()?);
        if depth != k || bias.layout.dims() != [n as usize] || !bias.layout.is_contiguous() {
            let [x, w, bias] = [x, w, bias].map(|view| view.layout.shape());
            return Err(
                format!("{x:?}, {w:?}, {bias:?}: (m,k), (n,k) and a contiguous (n) are accepted").into()
            );
        }
        let layout = match (x_rows, w_rows) {
            (true, true) => gemm::Layout::Tn,
            (true, false) => gemm::Layout::Tt,
            (false, true) => gemm::Layout::Nn,
            (false, false) => gemm::Layout::Nt,
        };
        let dtype = <T as Element>::DTYPE;
        let problem = Problem::new(dtype, [m, n, k], layout)?.with_pitches(Some(lda), Some(ldb), None)?;
        let a = self.device.upload(&x.values[..problem.a().span() as usize])?;
        let b = self.device.upload(&w.values[..problem.b().span() as usize])?;
        let (bias, c) =
            (self.device.upload(&bias.values[..n as usize])?, self.device.alloc((m * n) as usize)?);
        let epilogue = Epilogue::new().plus(Input::row("bias", dtype)).gelu();
        let kind = KernelKind::for_problem(&problem, self.device.limits().sm);
        self.gemms.fused(&problem, kind, &epilogue)?.run_with(&a, &b, &c, &[("bias", Given::from(&bias))])?;
        Ok(c.download()?)
    }
}

impl CustomOp3 for LinearGelu {
    fn name(&self) -> &'static str {
        "girih-linear-gelu"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        of_x: &Layout,
        w: &CpuStorage,
        of_w: &Layout,
        bias: &CpuStorage,
        of_bias: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        macro_rules! by {
            ($t:ty) => {{
                let views = [View::<$t>::new(x, of_x)?, View::new(w, of_w)?, View::new(bias, of_bias)?];
                <$t>::to_cpu_storage_owned(self.layer(views).map_err(Error::wrap)?)
            }};
        }
        let out = match x.dtype() {
            DType::F32 => by!(f32),
            DType::F16 => by!(f16),
            DType::BF16 => by!(bf16),
            other => candle_core::bail!("{other:?}: f32, f16 and bf16 are accepted"),
        };
        Ok((out, Shape::from((of_x.dims()[0], of_w.dims()[0]))))
    }
}

/// The greatest difference from candle's own operations on the same values in f32, as a share of what rounding to `dtype` explains.
fn difference(x: &Tensor, w: &Tensor, bias: &Tensor, op: &LinearGelu) -> Result<f64> {
    let epsilon = match x.dtype() {
        DType::F32 => 2f64.powi(-20),
        DType::F16 => 2f64.powi(-10),
        _ => 2f64.powi(-7),
    };
    let found = x.apply_op3_no_bwd(w, bias, op)?.to_dtype(DType::F32)?;
    let [x, w, bias] = [x, w, bias].map(|tensor| tensor.to_dtype(DType::F32));
    let wanted = x?.matmul(&w?.t()?)?.broadcast_add(&bias?)?.gelu()?;
    let allowed = ((wanted.abs()? * epsilon)? + 16.0 * f64::from(f32::EPSILON))?;
    let share = ((found - wanted)?.abs()? / allowed)?.max_all()?.to_scalar::<f32>()?;
    Ok(share.into())
}

/// Layers whose operands are whole, transposed, and a part of something larger.
fn layers(dtype: DType) -> Result<Vec<[Tensor; 3]>> {
    let random = |shape: &[usize]| Tensor::randn(0f32, 1.0, shape, &Device::Cpu)?.to_dtype(dtype);
    let ([m, n, k], bias) = ([70, 48, 40], random(&[48])?);
    let (x, w) = (random(&[m, k])?, random(&[n, k])?);
    Ok(vec![
        [x.clone(), w.clone(), bias.clone()],
        [random(&[k, m])?.t()?, random(&[k, n])?.t()?, bias.clone()],
        [x.narrow(0, 3, 65)?.narrow(1, 8, 24)?, w.narrow(1, 16, 24)?, bias],
    ])
}

fn main() -> Outcome<()> {
    let op = LinearGelu::open(Select::Sim)?;
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for [x, w, bias] in layers(dtype)? {
            let share = difference(&x, &w, &bias, &op)?;
            println!("{dtype:?} x {:?} w {:?}: {share:.2} of what rounding explains", x.layout(), w.layout());
            if share > 1.0 {
                return Err(format!("a value differs by {share} of what rounding explains").into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_those_of_candle() {
        main().expect("equal layers");
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let op = LinearGelu::open(Select::Sim).expect("there is always a simulator");
        let ones = |shape: &[usize], dtype| Tensor::ones(shape, dtype, &Device::Cpu).expect("ones");
        let told = |x: &Tensor, w: &Tensor, bias: &Tensor| {
            x.apply_op3_no_bwd(w, bias, &op).expect_err("refused").to_string()
        };
        let (x, w, bias) = (ones(&[4, 8], DType::F32), ones(&[2, 8], DType::F32), ones(&[2], DType::F32));
        assert!(x.apply_op3_no_bwd(&w, &bias, &op).is_ok());
        for (found, wanted) in [
            (told(&x, &ones(&[2, 4], DType::F32), &bias), "(m,k), (n,k) and a contiguous (n) are accepted"),
            (told(&x, &w, &ones(&[3], DType::F32)), "(m,k), (n,k) and a contiguous (n) are accepted"),
            (told(&x.unsqueeze(0).expect("one more"), &w, &bias), "a matrix is accepted"),
            (
                told(
                    &ones(&[4, 2, 8], DType::F32).narrow(2, 0, 1).expect("a part").squeeze(2).expect("two"),
                    &w,
                    &bias,
                ),
                "as `contiguous` makes it",
            ),
            (told(&ones(&[4, 8], DType::F64), &w, &bias), "f32, f16 and bf16 are accepted"),
            (told(&x, &ones(&[2, 8], DType::BF16), &bias), "dtype"),
        ] {
            assert!(found.contains(wanted), "{found}");
        }
    }
}
