//! Integer scalars as index expressions, where their ranges show that nothing wraps.

use girih_codegen::Expr;
use girih_codegen::algorithm::distributed::{Move, access, singles};
use girih_codegen::algorithm::element::extended;
use girih_codegen::plan::{Dist, Line};
use girih_tensor::{DType, Space};

use super::each::fits;
use super::{Held, Lowering};
use crate::dtype::{integer, range};
use crate::error::Result;
use crate::fit;
use crate::ir::table::Each;
use crate::ir::{Kind, Op, OpId, Value};

impl Lowering<'_> {
    /// A tile of one value, of values, or of numbers along an axis.
    pub(crate) fn constant(&mut self, id: OpId, op: &Op) -> Result {
        let result = op.results[0];
        let ty = self.plan.func.ty(result);
        let dist = self.plan.dist(result).clone();
        match &op.kind {
            Kind::Full(bits)
                if ty.dims.rank() == 0 && ty.dtype.is_integer() && small(ty.dtype, *bits).is_some() =>
            {
                let value = small(ty.dtype, *bits).unwrap_or_default();
                self.hold(result, Held::Index(Expr::from(value)));
            }
            Kind::Full(bits) => {
                let reg = self.bits(ty.dtype, *bits)?;
                self.hold_regs(result, vec![reg; dist.size()])?;
            }
            Kind::Iota => {
                let mut regs = Vec::new();
                for value in 0..dist.size() {
                    let at = self.coordinates(&dist, value, 1)?.swap_remove(0);
                    let reg = self.materialise(&at, ty.dtype)?;
                    // Padding may be beyond the dtype's range.
                    let whole = fits(&at, ty.dtype) || ty.dtype.bits() >= 32;
                    regs.push(if whole { reg } else { extended(&mut self.b, ty.dtype, &reg) });
                }
                self.hold_regs(result, regs)?;
            }
            Kind::Dense(values) => {
                let regs = self.table(&dist, ty, values)?;
                self.hold_regs(result, regs)?;
            }
            _ => return Err(self.unsupported(id, "is no constant")),
        }
        Ok(())
    }

    /// The registers of a tile of given values: a constant where all threads have one value, else selected bit by bit of the coordinates.
    fn table(&mut self, dist: &Dist, ty: crate::ir::Type, values: &[u64]) -> Result<Vec<girih_codegen::Reg>> {
        let strides = Line::row_major(&crate::place::extents(&ty.dims)).strides;
        let bytes = ty.dtype.bytes();
        let data: Vec<u8> =
            values.iter().flat_map(|value| value.to_le_bytes()[..fit::size(bytes)].to_vec()).collect();
        let base = self.b.table(&data)?;
        let runs = singles(dist.size());
        access(self, &Space::Gmem.into(), ty.dtype, &runs, &Move::Load(None), |low, value| {
            let at = low.coordinates(dist, value, ty.dims.rank())?;
            let linear = at.iter().zip(&strides).fold(Expr::from(0), |sum, (at, &by)| &sum + &(at * by));
            Ok((&base + &(&linear * bytes), low.inside(dist, value, &ty.dims)?))
        })
    }

    /// The value of a function of integer scalars as an index expression, if nothing can wrap.
    pub(crate) fn scalar_each(&mut self, op: Each, operands: &[Value], dtype: DType) -> Result<Option<Expr>> {
        let known = |low: &Self, value: Value| match &low.held[value.index()] {
            Some(Held::Index(expr)) => Some(expr.clone()),
            _ => None,
        };
        if !dtype.is_integer() {
            return Ok(None);
        }
        let [a, b] = match *operands {
            [a] => [known(self, a), Some(Expr::from(0))],
            [a, b] => [known(self, a), known(self, b)],
            _ => return Ok(None),
        };
        let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
        let by = b.as_constant().filter(|&by| by > 0 && a.range().0 >= 0);
        let value = match (op, by) {
            (Each::Add, _) => Ok(&a + &b),
            (Each::Sub, _) => Ok(&a - &b),
            (Each::Mul, _) => Ok(&a * &b),
            (Each::Min, _) => Ok(a.minimum(&b)),
            (Each::Max, _) => Ok(a.maximum(&b)),
            (Each::Neg, _) => Ok(&b - &a),
            (Each::FloorDiv, Some(by)) => a.div(by),
            (Each::CeilDiv, Some(by)) => (&a + (by - 1)).div(by),
            (Each::Mod, Some(by)) => a.rem(by),
            (Each::Shl, Some(by)) if by < 32 => Ok(&a * (1 << by)),
            (Each::Shr, Some(by)) if by < 32 => a.div(1 << by),
            _ => return Ok(None),
        };
        match value {
            Ok(value) => Ok(Some(value).filter(|value| fits(value, dtype))),
            // What is too large for an expression is computed in registers.
            Err(girih_codegen::Error::Large { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an integer scalar that was computed in a register the range that its operands show.
    pub(crate) fn narrow(&mut self, op: Each, operands: &[Value], result: Value) -> Result {
        let dtype = self.plan.func.ty(result).dtype;
        let (Some(Held::Index(reg)), &[a, b]) = (self.held[result.index()].clone(), operands) else {
            return Ok(());
        };
        let mut ranges = [(0, 0); 2];
        for (range, value) in ranges.iter_mut().zip([a, b]) {
            match &self.held[value.index()] {
                Some(Held::Index(expr)) => *range = expr.range(),
                _ => return Ok(()),
            }
        }
        let [(lower, upper), (least, most)] = ranges;
        if lower < 0 || least < 1 {
            return Ok(());
        }
        let (lower, upper) = match op {
            Each::FloorDiv => (lower / most, upper / least),
            Each::CeilDiv => ((lower + most - 1) / most, (upper + least - 1) / least),
            Each::Mod => (0, upper.min(most - 1)),
            _ => return Ok(()),
        };
        let reg = self.materialise(&reg, dtype)?;
        let expr = self.b.var(&reg, lower, upper, 1);
        self.hold(result, Held::Index(expr));
        Ok(())
    }

    /// Holds a scalar of at most 32 bits as an index expression over its register.
    pub(crate) fn hold_number(&mut self, value: Value, reg: &girih_codegen::Reg, dtype: DType) -> Result {
        let expr = if matches!(dtype, DType::S32 | DType::U32) {
            let scalar = self.b.scalar_in(reg, dtype)?;
            self.b.index_of(&scalar)?
        } else {
            let (lower, upper) = range(dtype);
            self.b.var(reg, lower, upper, 1)
        };
        self.hold(value, Held::Index(expr));
        Ok(())
    }

    /// A conversion of an integer scalar that keeps its value.
    pub(crate) fn scalar_cast(&mut self, from: Value, to: DType) -> Option<Expr> {
        match &self.held[from.index()] {
            Some(Held::Index(expr)) if fits(expr, to) => Some(expr.clone()),
            _ => None,
        }
    }
}

/// The number that bits of an integer dtype are, if index expressions have it.
fn small(dtype: DType, bits: u64) -> Option<i64> {
    let (lower, upper) = range(dtype);
    integer(dtype, bits).filter(|value| (lower..=upper).contains(value))
}
