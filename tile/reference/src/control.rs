//! Regions, loops and branches.

use std::iter::{repeat, successors};

use super::tile::Tile;
use super::{Block, Result, decided, failed};
use girih_tile::exact::integer;
use girih_tile::ir::{End, Kind, Op, RegionId};

/// How a region was left. Depths count the loops around, the innermost is 0.
pub(super) enum Left {
    Yield(Vec<Tile>),
    Continue(u32, Vec<Tile>),
    Break(u32, Vec<Tile>),
}

impl Block<'_> {
    /// Runs a region.
    pub(super) fn region(&mut self, id: RegionId, args: Vec<Tile>) -> Result<Left> {
        let region = self.func.region(id);
        for (&value, tile) in region.args.iter().zip(args) {
            self.set(value, tile);
        }
        for &op in &region.ops {
            self.steps += 1;
            if self.steps > self.limit {
                return failed(format!("more than {} operations: a loop without an end?", self.limit));
            }
            if let Some(left) = self.op(self.func.op(op))? {
                return Ok(left);
            }
        }
        Ok(match &region.end {
            End::Yield(list) => Left::Yield(self.all(list)?),
            End::Continue(depth, list) => Left::Continue(*depth, self.all(list)?),
            End::Break(depth, list) => Left::Break(*depth, self.all(list)?),
            End::Unreachable => return failed("the end of a region that cannot be reached".into()),
        })
    }

    /// Runs a loop or a branch. What leaves an outer loop is returned.
    pub(super) fn control(&mut self, op: &Op) -> Result<Option<Left>> {
        let mut operands = self.all(&op.operands)?;
        match op.kind {
            Kind::If => {
                let cond = decided(operands[0].at(0), "a condition")?;
                match self.region(op.regions[usize::from(cond == 0)], Vec::new())? {
                    Left::Yield(values) => self.bind(op, values),
                    out => Ok(Some(out)),
                }
            }
            Kind::For => {
                let carried = operands.split_off(3);
                let dtype = operands[0].ty.dtype;
                let mut range = [0; 3];
                for (number, tile) in range.iter_mut().zip(&operands) {
                    *number = integer(dtype, decided(tile.at(0), "a bound of a loop")?);
                }
                let [start, stop, step] = range;
                if step <= 0 {
                    return failed(format!("a loop in steps of {step}; steps of 1 or more are accepted"));
                }
                let numbers = successors(Some(start), |at| Some(at + step)).take_while(|&at| at < stop);
                let tile = |at| Tile::scalar(dtype, at as u64 & girih_tile::exact::mask(dtype));
                self.repeat(op, numbers.map(|at| Some(tile(at))), carried)
            }
            _ => self.repeat(op, repeat(None), operands),
        }
    }

    /// Runs an iteration of a loop for each number, if it counts.
    fn repeat(
        &mut self,
        op: &Op,
        numbers: impl Iterator<Item = Option<Tile>>,
        mut carried: Vec<Tile>,
    ) -> Result<Option<Left>> {
        for number in numbers {
            match self.region(op.regions[0], number.into_iter().chain(carried).collect())? {
                Left::Continue(0, values) => carried = values,
                Left::Break(0, values) => return self.bind(op, values),
                Left::Continue(depth, values) => return Ok(Some(Left::Continue(depth - 1, values))),
                Left::Break(depth, values) => return Ok(Some(Left::Break(depth - 1, values))),
                Left::Yield(_) => return failed("the body of a loop yields; it continues or breaks".into()),
            }
        }
        self.bind(op, carried)
    }

    fn bind(&mut self, op: &Op, values: Vec<Tile>) -> Result<Option<Left>> {
        if values.len() != op.results.len() {
            return failed(format!("{} values for {} results", values.len(), op.results.len()));
        }
        for (&result, tile) in op.results.iter().zip(values) {
            self.set(result, tile);
        }
        Ok(None)
    }

    /// Runs the region of a combination on two lists of elements.
    pub(super) fn combine(
        &mut self,
        op: &Op,
        left: &[(u64, bool)],
        right: &[(u64, bool)],
    ) -> Result<Vec<(u64, bool)>> {
        let Some(&region) = op.regions.first() else {
            return failed("a combination of several tiles without a region".into());
        };
        let types: Vec<_> = self.func.region(region).args.iter().map(|&value| self.func.ty(value)).collect();
        let elements = left.iter().chain(right);
        let args = types.into_iter().zip(elements).map(|(ty, &element)| Tile::of(ty, [element])).collect();
        match self.region(region, args)? {
            Left::Yield(values) => Ok(values.iter().map(|tile| tile.at(0)).collect()),
            _ => failed("a combination does not yield".into()),
        }
    }
}
