//! Accesses by tiles of indices: gather, scatter, atomic operations. Elements are taken row-major.

use super::memory::Part;
use super::tile::Tile;
use super::{Block, Result, decided, failed};
use girih_tile::exact::apply;
use girih_tile::exact::integer;
use girih_tile::ir::table::{Each, How};
use girih_tile::ir::{Indexed, Nan, Op, Rmw, Rounding, Value};

/// The indices and the mask of an access.
struct Where {
    part: Part,
    indices: Vec<Tile>,
    mask: Option<Tile>,
    check: bool,
}

impl Where {
    /// The coordinate in the parameter of an element; `None` where it is masked or outside of the array.
    fn at(&self, i: usize) -> Result<Option<Vec<i64>>> {
        if let Some(mask) = &self.mask
            && decided(mask.at(i), "a mask")? == 0
        {
            return Ok(None);
        }
        let mut at = Vec::new();
        for index in &self.indices {
            let bits = decided(index.at(i), "an index")?;
            // What 64 bits do not hold is beyond any array.
            at.push(i64::try_from(integer(index.ty.dtype, bits)).unwrap_or(i64::MAX));
        }
        self.part.inside(at, self.check)
    }
}

impl Block<'_> {
    /// Takes indices and mask off the front of operands.
    fn places<'v>(&self, at: &Indexed, operands: &'v [Value]) -> Result<(Where, &'v [Value])> {
        let part = self.part(at.array)?;
        let rank = part.extents.len();
        let count = rank + usize::from(at.masked);
        if operands.len() < count {
            return failed(format!("an access with {} operands to an array of rank {rank}", operands.len()));
        }
        let indices = self.all(&operands[..rank])?;
        let mask = if at.masked { Some(self.get(operands[rank])?) } else { None };
        Ok((Where { part, indices, mask, check: at.check }, &operands[count..]))
    }

    /// Elements of an array.
    pub(super) fn gather(&mut self, at: &Indexed, op: &Op) -> Result<Tile> {
        let (places, rest) = self.places(at, &op.operands)?;
        let padding = rest.first().map(|&value| self.get(value)).transpose()?;
        let result = self.func.ty(op.results[0]);
        let mut elements = Vec::new();
        for i in 0..result.dims.size() as usize {
            elements.push(match (places.at(i)?, &padding) {
                (Some(at), _) => (self.read(places.part.param, &at)?, false),
                (None, Some(padding)) => padding.at(i),
                (None, None) => (0, true),
            });
        }
        Ok(Tile::of(result, elements))
    }

    /// Stores elements to an array.
    pub(super) fn scatter(&mut self, at: &Indexed, op: &Op) -> Result {
        let value = self.get(op.operands[0])?;
        let (places, _) = self.places(at, &op.operands[1..])?;
        for i in 0..value.bits.len() {
            if let Some(at) = places.at(i)? {
                self.write(places.part.param, &at, value.at(i))?;
            }
        }
        Ok(())
    }

    /// Atomic operations, one element after the other. What they return where nothing happens is the expected value of a
    /// compare-and-swap, and 0 else.
    pub(super) fn atomic(&mut self, rmw: Rmw, at: &Indexed, op: &Op) -> Result<Option<Tile>> {
        let own = if rmw == Rmw::Cas { 2 } else { 1 };
        let values = self.all(&op.operands[..own])?;
        let (places, _) = self.places(at, &op.operands[own..])?;
        let update = &values[own - 1];
        let dtype = update.ty.dtype;
        let how = How { rounding: Rounding::Nearest, ftz: false, nan: Nan::Ignored };
        let mut olds = Vec::new();
        for i in 0..update.bits.len() {
            let (new, poison) = update.at(i);
            let Some(at) = places.at(i)? else {
                olds.push(if rmw == Rmw::Cas { values[0].at(i) } else { (0, false) });
                continue;
            };
            let old = self.read(places.part.param, &at)?;
            olds.push((old, false));
            let each = |op| apply(op, how, dtype, [old, new, 0]).unwrap_or(0);
            let stored = match rmw {
                Rmw::Add => each(Each::Add),
                Rmw::Min => each(Each::Min),
                Rmw::Max => each(Each::Max),
                Rmw::And => each(Each::And),
                Rmw::Or => each(Each::Or),
                Rmw::Xor => each(Each::Xor),
                Rmw::Xchg => new,
                // Bits are compared.
                Rmw::Cas => match decided(values[0].at(i), "the expected value of a compare-and-swap")? {
                    expected if expected == old => new,
                    _ => continue,
                },
            };
            self.write(places.part.param, &at, (stored, poison))?;
        }
        Ok(op.results.first().map(|&result| Tile::of(self.func.ty(result), olds)))
    }
}
