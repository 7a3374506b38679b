//! `transform` and `axpby`: what is done to values one by one.

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Type, Word};
use girih_tensor::{DType, Tensor};

use super::data::{Data, Site};
use super::scalars::{read, write};
use crate::Error;
use crate::builder::{Builder, Reg};

/// `target(i) = op(source0(i), source1(i), ...)` for all `i` (CuTe's `transform`).
///
/// Each value is in a register of its own when `op` sees it: floats of 64 and 32 bits and 64-bit integers in registers of
/// their type, 16-bit floats in `.b16`, smaller integers extended to 32 bits, 8-bit floats as their bits. What `op`
/// returns must be of that kind for the target's dtype. Tensors in memory are loaded and stored in the widest vectors.
///
/// # Errors
/// [`Error::Mismatch`] if the tensors have not as many values, or cannot be copied; those of `op`.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::transform;
/// use girih_codegen::{Builder, Gmem};
/// use girih_layout::lay;
/// use girih_ptx::Type;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("square", 80, 1);
/// let x = b.pointer("x", 16);
/// let x = Tensor::new(Gmem::new(x, DType::F32), lay!("4:1"));
/// transform(&mut b, &[&x], &x, |b, values| {
///     let square = b.reg(Type::F32);
///     b.ptx("mul.rn.f32 %0, %1, %1;", &[&square, &values[0]])?;
///     Ok(square)
/// })?;
/// assert!(b.finish()?.module().to_string().contains("mul.rn.f32"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn transform<S: Data, D: Data>(
    b: &mut Builder,
    sources: &[&Tensor<S>],
    target: &Tensor<D>,
    mut op: impl FnMut(&mut Builder, &[Reg]) -> Result<Reg, Error>,
) -> Result<(), Error> {
    let size = |layout: &girih_layout::Lay| crate::tiled_copy::static_size("transform", layout);
    let count = size(target.layout())?;
    let (site, mut columns) = (Location::caller(), Vec::new());
    for source in sources {
        if size(source.layout())? != count {
            return Err(Error::Mismatch {
                what: "transform",
                layout: source.layout().to_string(),
                with: target.layout().to_string(),
                accepted: "tensors of as many values",
            });
        }
        columns.push(b.on_behalf(site, |b| read(b, "transform", source))?);
    }
    let mut results = Vec::new();
    for i in 0..count as usize {
        let values: Vec<Reg> = columns.iter().map(|column| column[i].clone()).collect();
        results.push(op(b, &values)?);
    }
    b.on_behalf(site, |b| write(b, "transform", target, &results))
}

/// `y(i) = alpha * x(i) + beta * y(i)` for all `i` (CuTe's `axpby`). `y` is not read if `beta` is 0. Floats of 16 bits are
/// computed in f32 and rounded once, to nearest even.
///
/// # Errors
/// [`Error::Mismatch`] for tensors of different sizes or dtypes, or others than f64, f32, f16 and bf16.
#[track_caller]
pub fn axpby<S: Data, D: Data>(
    b: &mut Builder,
    alpha: f64,
    x: &Tensor<S>,
    beta: f64,
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
    b.on_behalf(Location::caller(), |b| combined(b, dtype, (alpha, x), (beta, y)))
}

fn combined<S: Data, D: Data>(
    b: &mut Builder,
    dtype: DType,
    (alpha, x): (f64, &Tensor<S>),
    (beta, y): (f64, &Tensor<D>),
) -> Result<(), Error> {
    let xs = read(b, "axpby", x)?;
    let ys = if beta == 0.0 { Vec::new() } else { read(b, "axpby", y)? };
    let mut results = Vec::new();
    for (i, x) in xs.iter().enumerate() {
        let x = widen(b, dtype, x);
        let old = ys.get(i).map(|y| widen(b, dtype, y));
        let sum = combine(b, alpha, &x, beta, old.as_ref());
        results.push(narrow(b, dtype, &sum));
    }
    write(b, "axpby", y, &results)
}

/// The value in the type that is computed in.
fn widen(b: &mut Builder, dtype: DType, value: &Reg) -> Reg {
    let ty = match dtype {
        DType::F16 => Type::F16,
        DType::Bf16 => Type::Bf16,
        _ => return value.clone(),
    };
    let out = b.reg(Type::F32);
    let [target, source] = [Operand::from(&out), Operand::from(value)];
    if ty == Type::Bf16 {
        // The upper half of an f32.
        let zero = b.reg(Type::B16);
        b.inst(Opcode::Mov, &[Type::B16.into()], vec![Operand::from(&zero), Operand::Int(0)]);
        let halves = Operand::Vector(vec![Operand::from(&zero), source]);
        b.inst(Opcode::Mov, &[Type::B32.into()], vec![target, halves]);
    } else {
        b.inst(Opcode::Cvt, &[Type::F32.into(), ty.into()], vec![target, source]);
    }
    out
}

fn narrow(b: &mut Builder, dtype: DType, value: &Reg) -> Reg {
    let ty = match dtype {
        DType::F16 => Type::F16,
        DType::Bf16 => Type::Bf16,
        _ => return value.clone(),
    };
    let out = b.reg(Type::B16);
    let modifiers = [Word::Rn.into(), ty.into(), Type::F32.into()];
    b.inst(Opcode::Cvt, &modifiers, vec![Operand::from(&out), Operand::from(value)]);
    out
}

fn combine(b: &mut Builder, alpha: f64, x: &Reg, beta: f64, y: Option<&Reg>) -> Reg {
    let ty = x.ty();
    let constant = |value: f64| {
        if ty == Type::F64 { Operand::F64(value.to_bits()) } else { Operand::F32((value as f32).to_bits()) }
    };
    let modifiers = [Word::Rn.into(), ty.into()];
    let out = b.reg(ty);
    match y {
        None => {
            let operands = vec![Operand::from(&out), Operand::from(x), constant(alpha)];
            b.inst(Opcode::Mul, &modifiers, operands);
        }
        Some(y) => {
            let scaled = b.reg(ty);
            b.inst(Opcode::Mul, &modifiers, vec![Operand::from(&scaled), Operand::from(y), constant(beta)]);
            let operands =
                vec![Operand::from(&out), Operand::from(x), constant(alpha), Operand::from(&scaled)];
            b.inst(Opcode::Fma, &modifiers, operands);
        }
    }
    out
}
