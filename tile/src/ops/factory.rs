//! Creating tiles: constants, counting, lists of numbers.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::Const;
//! use girih_tile::ir::Build;
//!
//! let mut b = Build::new("numbers");
//! let steps = b.arange(DType::S32, 16, Const::Int(0), Const::Int(2))?;
//! assert_eq!((b.ty(steps).dtype, &b.ty(steps).dims[..]), (DType::S32, &[16][..]));
//! assert!(b.filled(DType::F32, &[0], Const::Float(1.0)).is_err(), "extents are 1 or more");
//! # Ok::<(), girih_tile::error::Fault>(())
//! ```

use girih_tensor::DType;

use super::Mode;
use super::number::encode;
use super::table::Each;
use crate::dtype::{Category, Const, category, holds};
use crate::error::{Fault, ensure};
use crate::ir::{Build, Dialect, Dims, Kind, Rounding, Type, Value};

/// Numbers in nested lists, which give a tile its shape and its elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Nested {
    /// A number.
    One(Const),
    /// A list.
    Many(Vec<Nested>),
}

impl Build {
    /// The shape of a tile. Extents are 1 or more, and powers of two where the build asks for them.
    ///
    /// # Errors
    /// [`Fault::Extents`]; [`Fault::ShapeNotPow2`] if [`Build::strict_pow2`] is set.
    pub fn tile_dims(&self, shape: &[i64]) -> Result<Dims, Fault> {
        let pow2 = |&n: &i64| u32::try_from(n).is_ok_and(u32::is_power_of_two);
        let fits = !self.strict_pow2 || shape.iter().all(pow2);
        ensure!(fits, Fault::ShapeNotPow2 { shape: shape.to_vec() });
        let extents = shape.iter().map(|&n| u32::try_from(n).ok().filter(|&n| n > 0));
        let dims = extents.collect::<Option<Vec<u32>>>().and_then(|extents| Dims::new(&extents));
        let dims = dims.filter(|dims| dims.size() <= u64::from(u32::MAX));
        dims.ok_or_else(|| Fault::Extents { shape: shape.to_vec() })
    }

    /// A tile of this shape whose elements are one number.
    ///
    /// # Errors
    /// As [`Build::tile_dims`]; [`Fault::ConstOutOfRange`] for a number that the dtype does not have, floats aside, which are rounded.
    pub fn filled(&mut self, dtype: DType, shape: &[i64], value: Const) -> Result<Value, Fault> {
        let dims = self.tile_dims(shape)?;
        self.check_constant(dtype, value)?;
        Ok(self.full(dtype, dims, value))
    }

    fn check_constant(&self, dtype: DType, value: Const) -> Result<(), Fault> {
        let fits = match value {
            Const::Int(n) if dtype.is_integer() => holds(dtype, n),
            Const::Int(n) if dtype == DType::Bool => matches!(n, 0 | 1),
            Const::Float(x) => category(dtype) == Category::Float || x.fract() == 0.0 && is_held(dtype, x),
            Const::Bool(_) | Const::Int(_) => true,
        };
        match (fits, self.dialect, value) {
            (true, ..) => Ok(()),
            (_, Dialect::Cxx, Const::Float(_)) => Err(Fault::NarrowingConst { constant: value, dtype }),
            _ => Err(Fault::ConstOutOfRange { constant: value, dtype }),
        }
    }

    /// `size` numbers from `start` on, in steps of `step`. Floats are computed in f32, f64 in f64, and rounded once.
    ///
    /// # Errors
    /// As [`Build::filled`]; [`Fault::BoolArithmetic`] and [`Fault::NonArithmeticDtype`] for dtypes that do not count.
    pub fn arange(&mut self, dtype: DType, size: i64, start: Const, step: Const) -> Result<Value, Fault> {
        let dims = self.tile_dims(&[size])?;
        self.check_constant(dtype, start)?;
        self.check_constant(dtype, step)?;
        let (count, compute) = match dtype {
            DType::Bool => return Err(Fault::BoolArithmetic { operation: "arange" }),
            DType::F64 => (DType::S32, DType::F64),
            _ if category(dtype) == Category::Float => (DType::S32, DType::F32),
            _ if dtype.bits() < 8 => (DType::S32, DType::S32),
            _ => (dtype, dtype),
        };
        let mut value = self.push1(Kind::Iota, &[], Type { dtype: count, dims });
        value = self.cast(value, compute, Rounding::Nearest)?;
        if encode(compute, step) != encode(compute, Const::Int(1)) {
            let step = self.full(compute, dims, step);
            value = self.each(Each::Mul, &[value.into(), step.into()], Mode::default())?;
        }
        if encode(compute, start) != 0 {
            let start = self.full(compute, dims, start);
            value = self.each(Each::Add, &[value.into(), start.into()], Mode::default())?;
        }
        self.cast(value, dtype, Rounding::Nearest)
    }

    /// 0, 1, 2, ... in row-major order, in any shape.
    ///
    /// # Errors
    /// As [`Build::arange`].
    pub fn iota(&mut self, dtype: DType, shape: &[i64]) -> Result<Value, Fault> {
        let dims = self.tile_dims(shape)?;
        let value = self.arange(dtype, dims.size() as i64, Const::Int(0), Const::Int(1))?;
        Ok(self.reshaped(value, dims))
    }

    /// A tile of these numbers, row-major.
    ///
    /// # Errors
    /// As [`Build::filled`]; [`Fault::Constants`] for another number of values than the shape has elements.
    pub fn dense(&mut self, dtype: DType, shape: &[i64], values: &[Const]) -> Result<Value, Fault> {
        let dims = self.tile_dims(shape)?;
        let given = values.len();
        ensure!(dims.size() == given as u64, Fault::Constants { tile: dims, given });
        values.iter().try_for_each(|&value| self.check_constant(dtype, value))?;
        let bits: Vec<u64> = values.iter().map(|&value| encode(dtype, value)).collect();
        Ok(match bits.first() {
            Some(&first) if bits.iter().all(|&b| b == first) => {
                self.push1(Kind::Full(first), &[], Type { dtype, dims })
            }
            _ => self.push1(Kind::Dense(bits.into()), &[], Type { dtype, dims }),
        })
    }

    /// A tile of nested lists of numbers.
    ///
    /// # Errors
    /// As [`Build::dense`]; [`Fault::AstileRagged`] for rows of different lengths.
    pub fn tile_of(&mut self, dtype: DType, nested: &Nested) -> Result<Value, Fault> {
        let mut values = Vec::new();
        let shape = nested.flatten(&mut values)?;
        self.dense(dtype, &shape, &values)
    }
}

impl Nested {
    /// Adds the numbers in row-major order; the extents.
    fn flatten(&self, into: &mut Vec<Const>) -> Result<Vec<i64>, Fault> {
        let list = match self {
            Nested::One(value) => {
                into.push(*value);
                return Ok(Vec::new());
            }
            Nested::Many(list) => list,
        };
        let mut shapes = list.iter().map(|row| row.flatten(into));
        let first = shapes.next().transpose()?.unwrap_or_default();
        for shape in shapes {
            let shape = shape?;
            ensure!(shape == first, Fault::AstileRagged { shapes: [first, shape] });
        }
        Ok([list.len() as i64].into_iter().chain(first).collect())
    }
}

/// Whether a dtype has an integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "cannot lose: what i128 does not hold becomes a number that no dtype holds"
)]
fn is_held(dtype: DType, x: f64) -> bool {
    holds(dtype, x as i128)
}
