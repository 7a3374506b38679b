//! `transform`, `axpby` and `reduce`, which compute with the values of tensors one by one.

use std::panic::Location;

use girih_tensor::{DType, Tensor};

use super::congruent::{self, Held};
use super::data::{Data, Site};
use super::scalars::{read, read_pairs, write};
use crate::builder::Builder;
use crate::scalar::IntoScalar;
use crate::{Error, Scalar};

/// `target(i) = op(source0(i), source1(i), ...)` for all `i` (CuTe's `transform`).
///
/// `op` takes and returns scalars as [`read`] gives them. Tensors in memory are loaded and stored in the widest vectors. If `op` does
/// the same to two floats of 16 bits that fill a register, one instruction computes both (`fma.rn.f16x2`), where PTX has one: for sums,
/// differences, products, `mul_add`, minima, maxima, `abs` and negation. All sources are in one kind of memory: values of another kind are
/// brought to registers first (`copy` to `Rmem::like`).
///
/// # Errors
/// [`Error::Mismatch`] if the tensors have different numbers of values, or cannot be copied; those of `op`.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::transform;
/// use girih_codegen::{Builder, Gmem};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("square", 80, 1);
/// let x = b.pointer("x", 16);
/// let x = Tensor::new(Gmem::new(x, DType::F32), lay!("4:1"));
/// transform(&mut b, &[&x], &x, |_, x| Ok(&x[0] * &x[0]))?;
/// assert!(b.finish()?.module().to_string().contains("mul.rn.f32"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn transform<S: Data, D: Data>(
    b: &mut Builder,
    sources: &[&Tensor<S>],
    target: &Tensor<D>,
    mut op: impl FnMut(&mut Builder, &[Scalar]) -> Result<Scalar, Error>,
) -> Result<(), Error> {
    let site = Location::caller();
    let (sources, target) =
        (sources.iter().copied().map(Site::tensor).collect::<Vec<_>>(), Site::tensor(target));
    let (count, columns) = columns(b, site, &sources, &target)?;
    let mut results = Vec::new();
    for i in 0..count {
        let values: Vec<Scalar> = columns.iter().map(|column| column[i].clone()).collect();
        results.push(op(b, &values)?);
    }
    b.on_behalf(site, |b| write(b, &target, &results))
}

/// The number of values, and those of each source.
fn columns(
    b: &mut Builder,
    site: &'static Location<'static>,
    sources: &[Tensor<Site>],
    target: &Tensor<Site>,
) -> Result<(usize, Vec<Vec<Scalar>>), Error> {
    let size = |layout: &girih_layout::Lay| crate::sizes::static_size("transform", layout);
    let count = size(target.layout())?;
    let (mut held, mut columns) = (Held::of_sites(target), Vec::new());
    for source in sources {
        if size(source.layout())? != count {
            return Err(Error::Mismatch {
                what: "transform",
                layout: source.layout().to_string(),
                with: target.layout().to_string(),
                accepted: "tensors of as many values",
            });
        }
        match (Held::of_sites(source), &held) {
            (Some(from), Some(to)) => congruent::elementwise("transform", &from, to)?,
            (from, to) => held = if to.is_some() { held } else { from },
        }
        columns.push(b.on_behalf(site, |b| read_pairs(b, source))?);
    }
    Ok((count as usize, columns))
}

/// `op(... op(op(initial, x(0)), x(1)) ..., x(n - 1))` over a tensor's values in colexicographic order (CuTe's `reduce`).
///
/// # Errors
/// As [`read`]; those of `op`.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::reduce;
/// use girih_codegen::{Builder, Gmem, Scalar};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("largest", 80, 1);
/// let x = Tensor::new(Gmem::new(b.pointer("x", 16), DType::F32), lay!("8:1"));
/// let largest = reduce(&mut b, &x, Scalar::new(DType::F32, f64::NEG_INFINITY), |_, max, x| Ok(max.max(x)))?;
/// b.scalar(&largest)?;
/// assert_eq!(b.finish()?.module().to_string().matches("max.f32").count(), 8);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn reduce<E: Data>(
    b: &mut Builder,
    tensor: &Tensor<E>,
    initial: Scalar,
    mut op: impl FnMut(&mut Builder, &Scalar, &Scalar) -> Result<Scalar, Error>,
) -> Result<Scalar, Error> {
    let site = Location::caller();
    let mut result = initial;
    for value in b.on_behalf(site, |b| read(b, tensor))? {
        let next = op(b, &result, &value)?;
        // Without this, an expression over many values would be deeper than is accepted.
        result = b.on_behalf(site, |b| b.hold(&next))?;
    }
    Ok(result)
}

/// `y(i) = alpha * x(i) + beta * y(i)` for all `i` (CuTe's `axpby`). The factors are numbers or scalars; `y` is not read if `beta` is the
/// number 0. Floats of 16 bits are computed in f32, so that scalars for them are of f32, and rounded once, to nearest even.
///
/// # Errors
/// [`Error::Mismatch`] for tensors of different sizes or dtypes, or of other dtypes than f64, f32, f16 and bf16; as [`read`] and
/// [`Builder::scalar`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::axpby;
/// use girih_codegen::{Builder, Gmem};
/// use girih_layout::lay;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("scaled_sum", 80, 1);
/// let alpha = b.scalar_parameter("alpha", DType::F32)?;
/// let [x, y] = ["x", "y"].map(|name| Tensor::new(Gmem::new(b.pointer(name, 16), DType::F16), lay!("8:1")));
/// axpby(&mut b, &alpha, &x, 1.0, &y)?;
/// assert_eq!(b.finish()?.module().to_string().matches("fma.rn.f32").count(), 8);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn axpby<S: Data, D: Data>(
    b: &mut Builder,
    alpha: impl IntoScalar,
    x: &Tensor<S>,
    beta: impl IntoScalar,
    y: &Tensor<D>,
) -> Result<(), Error> {
    let dtypes = [Site::of(x).dtype(), Site::of(y).dtype()];
    let (sizes, same) = ([x.layout().size()?.get(), y.layout().size()?.get()], dtypes[0] == dtypes[1]);
    let dtype = match dtypes[0] {
        Some(dtype @ (DType::F64 | DType::F32 | DType::F16 | DType::Bf16))
            if same && sizes[0] == sizes[1] =>
        {
            dtype
        }
        _ => {
            let text =
                |dtype: Option<DType>| dtype.map_or_else(|| String::from("coordinates"), |d| d.to_string());
            return Err(Error::Mismatch {
                what: "axpby",
                layout: format!("{} of {}", x.layout(), text(dtypes[0])),
                with: format!("{} of {}", y.layout(), text(dtypes[1])),
                accepted: "as many values of one dtype, f64, f32, f16 or bf16",
            });
        }
    };
    if let (Some(from), Some(to)) = (Held::of(x), Held::of(y)) {
        congruent::elementwise("axpby", &from, &to)?;
    }
    let work = if dtype == DType::F64 { dtype } else { DType::F32 };
    let [alpha, beta] = [alpha.into_scalar(work), beta.into_scalar(work)];
    let unread = [0.0, -0.0].iter().any(|&zero| beta == Scalar::new(work, zero));
    b.on_behalf(Location::caller(), |b| {
        let xs = read(b, x)?;
        let ys = if unread { Vec::new() } else { read(b, y)? };
        let sum = |(i, x): (usize, &Scalar)| match ys.get(i) {
            Some(y) => x.to(work).mul_add(&alpha, y.to(work) * &beta).to(dtype),
            None => (x.to(work) * &alpha).to(dtype),
        };
        let sums: Vec<Scalar> = xs.iter().enumerate().map(sum).collect();
        write(b, y, &sums)
    })
}
