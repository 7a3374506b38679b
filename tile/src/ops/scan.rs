//! Running combinations along an axis.
//!
//! # Examples
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::Const;
//! use girih_tile::ir::Build;
//! use girih_tile::ops::{Running, scan::Scan};
//!
//! let mut b = Build::new("sums");
//! let x = b.filled(DType::F32, &[8, 4], Const::Float(1.0))?;
//! let sums = b.scan(Running::Sum, x, 0, Scan { exclusive: true, ..Scan::default() })?;
//! assert_eq!(b.ty(sums), b.ty(x));
//! # Ok::<(), girih_tile::error::Fault>(())
//! ```

use girih_tensor::DType;

use super::each::arithmetic;
use super::shape::axis;
use crate::dtype::Const;
use crate::error::Fault;
use crate::fit;
use crate::ir::{Build, Combine, Kind, Nan, RegionId, Rounding, Type, Value};
use crate::types::named;

named! {
    /// What a scan combines by.
    Running {
        Sum "cumsum" "Sums. Integers wrap and keep their dtype, bool is counted in s32; f16 and bf16 are summed in f32, and each sum is rounded once.",
        Prod "cumprod" "Products, as [`Running::Sum`].",
        Max "cummax" "The greatest so far.",
        Min "cummin" "The least so far.",
    }
}

/// How a scan is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Scan {
    /// From the end; results are where their elements are.
    pub reverse: bool,
    /// Without the element itself: the first result is what changes nothing.
    pub exclusive: bool,
    /// NaN in minimum and maximum.
    pub nan: Nan,
}

impl Scan {
    fn kind(self, axis: usize, combine: Combine, identity: Vec<u64>) -> Kind {
        let Scan { reverse, exclusive, .. } = self;
        Kind::Scan { axis: fit::axis(axis), combine, identity: identity.into(), reverse, exclusive }
    }
}

impl Build {
    /// Running combinations of a tile along an axis.
    ///
    /// # Errors
    /// [`Fault::AxisOutOfRange`], [`Fault::NonArithmeticDtype`].
    pub fn scan(&mut self, op: Running, value: Value, along: i64, how: Scan) -> Result<Value, Fault> {
        let dtype = self.ty(value).dtype;
        arithmetic(op.name(), dtype)?;
        let at = axis(op.name(), along, self.ty(value).dims.rank())?;
        let value =
            if dtype == DType::Bool { self.cast(value, DType::S32, Rounding::Nearest)? } else { value };
        let combine = match op {
            Running::Sum => Combine::Sum,
            Running::Prod => Combine::Prod,
            Running::Max => Combine::Max(how.nan),
            Running::Min => Combine::Min(how.nan),
        };
        let ty = self.ty(value);
        Ok(self.push1(how.kind(at, combine, Vec::new()), &[value], ty))
    }

    /// Running combinations of tiles along an axis by a combination of one's own, as [`Build::reduce_by`].
    ///
    /// # Errors
    /// As [`Build::reduce_by`].
    pub fn scan_by(
        &mut self,
        values: &[Value],
        along: i64,
        identity: &[Const],
        region: RegionId,
        how: Scan,
    ) -> Result<Vec<Value>, Fault> {
        let (operands, at, bits) = self.combined("scan", values, along, identity)?;
        let types: Vec<Type> = operands.iter().map(|&value| self.ty(value)).collect();
        Ok(self.push_regions(how.kind(at, Combine::By(()), bits), &operands, &types, vec![region]))
    }
}
