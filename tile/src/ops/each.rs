//! Functions that work element by element: promotion, broadcasting, casts.
//!
//! # Examples
//! ```
//! use girih_tile::ir::Dims;
//! use girih_tile::ops::each::broadcast;
//!
//! let dims = |extents: &[u32]| Dims::new(extents).expect("a shape");
//! assert_eq!(broadcast(dims(&[8, 1]), dims(&[4])), Ok(dims(&[8, 4])));
//! assert!(broadcast(dims(&[8]), dims(&[4])).is_err());
//! ```

use girih_tensor::DType;

use super::Arg;
use super::number::encode;
use super::table::{Each, Gives, Takes};
use crate::dtype::{self, Category, Const, category, is_restricted};
use crate::error::{Fault, ensure};
use crate::ir::{Build, Dialect, Dims, Kind, MAX_RANK, Nan, Overflow, Rounding, Type, Value};

/// How an element-wise function is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mode {
    /// Rounding; none is to nearest.
    pub rounding: Option<Rounding>,
    /// Subnormal f32 numbers are zero.
    pub ftz: bool,
    /// Minimum and maximum.
    pub nan: Nan,
    /// Sums, differences, products and shifts to the left of integers.
    pub overflow: Overflow,
}

/// The shape that two shapes broadcast to: aligned at the last axis, extents of 1 stretch.
///
/// # Errors
/// [`Fault::Broadcast`].
pub fn broadcast(a: Dims, b: Dims) -> Result<Dims, Fault> {
    let rank = a.rank().max(b.rank());
    let at = |dims: &Dims, axis: usize| (axis + dims.rank()).checked_sub(rank).map_or(1, |i| dims[i]);
    let mut extents = [1; MAX_RANK];
    for (axis, extent) in extents[..rank].iter_mut().enumerate() {
        *extent = match (at(&a, axis), at(&b, axis)) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            (x, y) => return Err(Fault::Broadcast { a, b, axis, extents: [x, y] }),
        };
    }
    Ok(Dims::new(&extents[..rank]).unwrap_or_default())
}

/// Refuses dtypes that take no part in arithmetic.
pub(super) fn arithmetic(name: &'static str, dtype: DType) -> Result<(), Fault> {
    ensure!(!is_restricted(dtype), Fault::NonArithmeticDtype { operation: name, dtype });
    Ok(())
}

/// Refuses a rounding mode that a function does not have.
fn rounds(
    operation: &'static str,
    dtype: DType,
    rounding: Rounding,
    has: impl Fn(Rounding) -> bool,
) -> Result<(), Fault> {
    let accepted = || Rounding::ALL.iter().copied().filter(|&other| has(other)).collect();
    ensure!(has(rounding), Fault::RoundingUnsupported { operation, dtype, rounding, accepted: accepted() });
    Ok(())
}

impl Build {
    /// A tile of one value.
    pub fn full(&mut self, dtype: DType, dims: Dims, value: Const) -> Value {
        self.push1(Kind::Full(encode(dtype, value)), &[], Type { dtype, dims })
    }

    /// The value of an operand as a tile of this dtype and shape.
    fn arrange(&mut self, arg: Arg, dtype: DType, dims: Dims) -> Result<Value, Fault> {
        let value = match arg {
            Arg::Loose(constant) => return Ok(self.full(dtype, dims, constant)),
            Arg::Strict(own, constant) => self.full(own, Dims::SCALAR, constant),
            Arg::Value(value) => value,
        };
        let value = self.cast(value, dtype, Rounding::Nearest)?;
        self.broadcast_to(value, dims)
    }

    /// A value of its own for an operand: loose constants get the dtype that they have alone.
    ///
    /// # Errors
    /// [`Fault::ConstTooLarge`].
    pub fn value(&mut self, arg: Arg) -> Result<Value, Fault> {
        Ok(match arg {
            Arg::Value(value) => value,
            Arg::Strict(dtype, constant) => self.full(dtype, Dims::SCALAR, constant),
            Arg::Loose(constant) => self.full(dtype::dtype_of(constant)?, Dims::SCALAR, constant),
        })
    }

    fn arg_type(&self, arg: Arg) -> Result<Type, Fault> {
        Ok(match arg {
            Arg::Value(value) => self.ty(value),
            Arg::Strict(dtype, _) => Type::scalar(dtype),
            Arg::Loose(constant) => Type::scalar(dtype::dtype_of(constant)?),
        })
    }

    /// The common dtype of operands.
    ///
    /// # Errors
    /// Those of [`dtype::promote`] and [`dtype::loose`]; [`Fault::NarrowingConst`] in the dialect of C++.
    pub fn common_dtype(&self, args: &[Arg]) -> Result<DType, Fault> {
        let mut found: Option<DType> = None;
        for &arg in args {
            if let Arg::Value(_) | Arg::Strict(..) = arg {
                let dtype = self.arg_type(arg)?.dtype;
                found = Some(found.map_or(Ok(dtype), |found| dtype::promote(found, dtype))?);
            }
        }
        let Some(mut found) = found else {
            let loose = args.iter().map(|&arg| match arg {
                Arg::Loose(constant) => constant,
                Arg::Strict(_, constant) => constant,
                Arg::Value(_) => Const::Bool(false),
            });
            return dtype::of_constants(&loose.collect::<Vec<_>>());
        };
        for &arg in args {
            if let Arg::Loose(constant) = arg {
                let wider = category(dtype::dtype_of(constant)?) > category(found);
                let narrows = self.dialect == Dialect::Cxx && wider;
                ensure!(!narrows, Fault::NarrowingConst { constant, dtype: found });
                found = dtype::loose(found, constant)?;
            }
        }
        Ok(found)
    }

    /// Applies a function element by element.
    ///
    /// # Errors
    /// A [`Fault`] for dtypes, shapes or modes that the function does not take.
    pub fn each(&mut self, op: Each, args: &[Arg], mode: Mode) -> Result<Value, Fault> {
        let row = op.row();
        let name = row.name;
        let operands = if op == Each::Select { &args[1..] } else { args };
        let all = operands.iter().map(|&arg| self.arg_type(arg)).collect::<Result<Vec<_>, _>>()?;
        if row.takes != Takes::Ordered {
            all.iter().try_for_each(|ty| arithmetic(name, ty.dtype))?;
        }
        let mut dtype = match row.takes {
            Takes::Bits | Takes::Integers
                if matches!(op, Each::And | Each::Or | Each::Xor | Each::Shl | Each::Shr | Each::Not) =>
            {
                self.bits_dtype(op, operands)?
            }
            _ => self.common_dtype(operands)?,
        };
        if op != Each::Select {
            arithmetic(name, dtype)?;
        }
        match row.takes {
            Takes::Numbers | Takes::Integers if dtype == DType::Bool => {
                return Err(Fault::BoolArithmetic { operation: name });
            }
            Takes::Floats if category(dtype) != Category::Float => dtype = DType::F32,
            Takes::FloatsOnly if category(dtype) != Category::Float => {
                return Err(Fault::IntegerInputUnsupported { operation: name, dtype });
            }
            Takes::Integers if !dtype.is_integer() => {
                return Err(Fault::FloatInputUnsupported { operation: name, dtype });
            }
            _ => {}
        }
        self.check_mode(op, dtype, mode)?;
        let mut dims = Dims::SCALAR;
        for ty in &all {
            dims = broadcast(dims, ty.dims)?;
        }
        let mut values = Vec::new();
        if op == Each::Select {
            let cond = self.arg_type(args[0])?;
            dims = broadcast(dims, cond.dims)?;
            arithmetic(name, cond.dtype)?;
            values.push(self.arrange(args[0], DType::Bool, dims)?);
        }
        for &arg in operands {
            values.push(self.arrange(arg, dtype, dims)?);
        }
        let nan = if matches!(op, Each::Min | Each::Max) { mode.nan } else { Nan::Ignored };
        let rounding = mode.rounding.unwrap_or_default();
        let kind = Kind::Each { op, rounding, ftz: mode.ftz, nan, overflow: mode.overflow };
        let result = if row.gives == Gives::Bool { DType::Bool } else { dtype };
        Ok(self.push1(kind, &values, Type { dtype: result, dims }))
    }

    fn bits_dtype(&self, op: Each, args: &[Arg]) -> Result<DType, Fault> {
        let operation = op.row().name;
        let shift = matches!(op, Each::Shl | Each::Shr);
        let mut found: Option<DType> = None;
        for &arg in args {
            let dtype = self.arg_type(arg)?.dtype;
            if category(dtype) == Category::Float || shift && dtype == DType::Bool {
                return Err(match op {
                    Each::Not => Fault::FloatInputUnsupported { operation, dtype },
                    _ if shift => Fault::ShiftNonInteger { operation, dtype },
                    _ => Fault::BitwiseNonInteger { operation, dtype },
                });
            }
            if let Arg::Loose(_) = arg {
                continue;
            }
            match found {
                Some(first) if first != dtype && !shift => {
                    return Err(Fault::BitwiseDtypeMismatch { operation, a: first, b: dtype });
                }
                Some(first) if first != dtype => found = Some(dtype::promote(first, dtype)?),
                _ => found = Some(dtype),
            }
        }
        match found {
            Some(_) if args.iter().any(|arg| matches!(arg, Arg::Loose(_))) => self.common_dtype(args),
            Some(dtype) => Ok(dtype),
            None => self.common_dtype(args),
        }
    }

    fn check_mode(&self, op: Each, dtype: DType, mode: Mode) -> Result<(), Fault> {
        let row = op.row();
        let operation = row.name;
        if let Some(rounding) = mode.rounding {
            let directed =
                matches!(rounding, Rounding::Nearest | Rounding::Zero | Rounding::Down | Rounding::Up);
            let float = category(dtype) == Category::Float;
            ensure!(float, Fault::RoundingNeedsFloat { operation, dtype });
            rounds(operation, dtype, rounding, |rounding| row.rounds.has(rounding))?;
            let has = directed || dtype == DType::F32;
            ensure!(has, Fault::RoundingNeedsF32 { operation, dtype, rounding });
        }
        let flushes = dtype == DType::F32 && row.ftz;
        ensure!(!mode.ftz || flushes, Fault::FtzNeedsF32 { operation, dtype });
        let overflows = op.overflows() && dtype.is_integer();
        ensure!(mode.overflow == Overflow::Wraps || overflows, Fault::Overflow { operation, dtype });
        Ok(())
    }

    /// Converts to another dtype: floats are rounded, floats become integers toward zero, integers wrap, bool is `!= 0`.
    ///
    /// # Errors
    /// [`Fault::RoundingUnsupported`] for a direction that the conversion does not have.
    pub fn cast(&mut self, value: Value, dtype: DType, rounding: Rounding) -> Result<Value, Fault> {
        let from = self.ty(value);
        rounds("cast", dtype, rounding, |rounding| match rounding {
            Rounding::Nearest => true,
            Rounding::Zero if dtype.is_integer() => true,
            Rounding::Zero | Rounding::Down | Rounding::Up => {
                matches!(dtype, DType::F16 | DType::Bf16 | DType::F32 | DType::F64)
            }
            _ => false,
        })?;
        if from.dtype == dtype {
            return Ok(value);
        }
        Ok(self.push1(Kind::Cast(rounding), &[value], Type { dtype, ..from }))
    }

    /// [`Build::broadcast_to`] of each of these tiles.
    pub(super) fn broadcast_all(&mut self, values: &[Value], dims: Dims) -> Result<Vec<Value>, Fault> {
        values.iter().map(|&value| self.broadcast_to(value, dims)).collect()
    }

    /// Stretches a tile to a shape by the rules of broadcasting.
    ///
    /// # Errors
    /// [`Fault::BroadcastTo`].
    pub fn broadcast_to(&mut self, value: Value, dims: Dims) -> Result<Value, Fault> {
        let from = self.ty(value);
        if from.dims == dims {
            return Ok(value);
        }
        let fits = broadcast(from.dims, dims) == Ok(dims);
        ensure!(fits, Fault::BroadcastTo { from: from.dims, to: dims });
        let mut value = value;
        if from.dims.rank() < dims.rank() {
            let mut extents = [1; MAX_RANK];
            extents[dims.rank() - from.dims.rank()..dims.rank()].copy_from_slice(&from.dims);
            let dims = Dims::new(&extents[..dims.rank()]).unwrap_or_default();
            value = self.push1(Kind::Reshape, &[value], Type { dims, ..from });
        }
        if self.ty(value).dims == dims {
            return Ok(value);
        }
        Ok(self.push1(Kind::Broadcast, &[value], Type { dims, ..from }))
    }
}
