//! Running combinations. The digits of the coordinate along the axis are taken from the least significant one: at each, neighbouring blocks
//! become one, and each block but the first learns what is before it. What holds for a whole block is added to its elements once, at
//! the end.

use girih_codegen::plan::Digit;
use girih_codegen::{Cond, Expr, Reg};

use super::Lowering;
use super::combine::{Rule, Tuple};
use super::reduce::{LANE_BITS, batch};
use crate::error::Result;
use crate::fit;
use crate::ir::{Kind, Op};

/// A block of elements that the digits so far tell apart.
struct Block {
    /// The number of its first value.
    value: usize,
    /// All its elements combined.
    total: Tuple,
    /// What is before it in the blocks that it is part of.
    before: Option<Tuple>,
    /// Of a single element: what is before it, and it. The element alone where the scan is exclusive.
    through: Option<Tuple>,
    /// The blocks that it consists of.
    parts: Vec<Block>,
}

/// What is asked of a scan.
struct How {
    rule: Rule,
    reverse: bool,
    exclusive: bool,
}

impl Lowering<'_> {
    /// Lowers a [`Kind::Scan`].
    pub(super) fn scan(&mut self, op: &Op) -> Result {
        let Kind::Scan { axis, combine, identity, reverse, exclusive } = &op.kind else { return Ok(()) };
        let axis = usize::from(*axis);
        let [rule, _] = self.rules(op, axis, *combine, identity);
        let how = How { rule, reverse: *reverse, exclusive: *exclusive };
        let lines = self.lines(op, axis)?;
        let (dist, rank) = (&lines.dist, lines.dims.rank());

        let mut blocks = Vec::new();
        for value in 0..dist.size() {
            // From the beginning, padding stands behind all elements.
            let total = self.element(&lines, &how.rule, value, how.reverse)?;
            let through = Some(total.clone());
            blocks.push(Block { value, total, before: None, through, parts: Vec::new() });
        }

        let digits = dist.digits(axis);
        let mut done = Vec::new();
        let mut at = 0;
        while at < digits.len() {
            match digits[at] {
                Digit::Values { leaf, extent, .. } => {
                    blocks = self.scan_values(&how, blocks, dist.stride(leaf), fit::size(extent))?;
                    at += 1;
                }
                Digit::Bit { bit, .. } if bit < LANE_BITS => {
                    for block in &mut blocks {
                        self.scan_lanes(&how, block, bit)?;
                    }
                    done.push(bit);
                    at += 1;
                }
                Digit::Bit { .. } => {
                    let warps: Vec<usize> = digits[at..]
                        .iter()
                        .map_while(|digit| match digit {
                            Digit::Bit { bit, .. } if *bit >= LANE_BITS => Some(*bit),
                            _ => None,
                        })
                        .collect();
                    let own = self.weigh(&warps, 1)?;
                    for batch in blocks.chunks_mut(batch(&how.rule.dtypes, dist)) {
                        let totals: Vec<Tuple> = batch.iter().map(|block| block.total.clone()).collect();
                        let through = self.through_warps(&how.rule.dtypes, dist, [&done, &warps], &totals)?;
                        for (place, block) in batch.iter_mut().enumerate() {
                            let all = through.read_all(self, place)?;
                            self.scan_warps(&how, block, all, &own)?;
                        }
                    }
                    at += warps.len();
                    done.extend(warps);
                }
            }
        }

        let mut results: Vec<Option<Tuple>> = vec![None; dist.size()];
        for block in blocks {
            self.spread_out(&how, block, None, &mut results)?;
        }
        let mut finished = Vec::new();
        let first = if how.reverse { lines.extent - 1 } else { 0 };
        for (value, tuple) in results.into_iter().enumerate() {
            let mut tuple = tuple.unwrap_or_default();
            let own = first - dist.offset(value, rank)[axis];
            if how.exclusive && (0..=dist.reach(axis)).contains(&own) {
                // Nothing stands before the first element.
                let nothing = self.empty(&how.rule)?;
                let here = Cond::equal(&lines.origin, &Expr::from(own));
                tuple = self.select_all(&how.rule, &here, &nothing, &tuple)?;
            }
            finished.push(self.finish(&how.rule, &tuple)?);
        }
        self.hold_tuples(&op.results, finished)
    }

    /// Blocks whose values differ in a leaf become one.
    fn scan_values(
        &mut self,
        how: &How,
        blocks: Vec<Block>,
        stride: usize,
        extent: usize,
    ) -> Result<Vec<Block>> {
        let mut groups: Vec<Vec<Block>> = Vec::new();
        for block in blocks {
            let digit = block.value / stride % extent;
            let first = block.value - digit * stride;
            match groups
                .iter_mut()
                .find(|group| group[0].value - group[0].value / stride % extent * stride == first)
            {
                Some(group) => group.push(block),
                None => groups.push(vec![block]),
            }
        }
        let mut joined = Vec::new();
        for mut group in groups {
            let value = group[0].value;
            if how.reverse {
                group.reverse();
            }
            let mut parts = Vec::new();
            let mut sum: Option<Tuple> = None;
            for mut block in group {
                let Some(before) = sum else {
                    sum = Some(block.total.clone());
                    parts.push(block);
                    continue;
                };
                let next = self.combine(&how.rule, &before, &block.total)?;
                if block.through.as_ref() == Some(&block.total) {
                    // A single element that nothing stands before yet.
                    block.through = Some(next.clone());
                    block.before = Some(before);
                } else {
                    self.prepend(how, &mut block, &before)?;
                }
                parts.push(block);
                sum = Some(next);
            }
            let total = sum.unwrap_or_default();
            joined.push(Block { value, total, before: None, through: None, parts });
        }
        Ok(joined)
    }

    /// Blocks of lanes whose numbers differ in a bit become one.
    fn scan_lanes(&mut self, how: &How, block: &mut Block, bit: usize) -> Result {
        let rule = &how.rule;
        let other = self.butterfly(&block.total, bit);
        let set = self.bit_is_set(bit)?;
        let second = if how.reverse { Cond::not(set) } else { set };
        let before = match block.before.take() {
            None if how.exclusive || !block.parts.is_empty() => {
                let nothing = self.identity(rule)?;
                Some(self.select_all(rule, &second, &other, &nothing)?)
            }
            None => None,
            Some(before) => {
                let more = self.combine(rule, &other, &before)?;
                Some(self.select_all(rule, &second, &more, &before)?)
            }
        };
        block.before = before;
        if let Some(through) = block.through.take_if(|_| !how.exclusive) {
            let more = self.combine(rule, &other, &through)?;
            block.through = Some(self.select_all(rule, &second, &more, &through)?);
        }
        block.total = self.combine_sides(rule, &block.total.clone(), &other, bit, how.reverse)?;
        Ok(())
    }

    /// Blocks of warps become one: `all` are their totals, and `own` is the number of the thread's.
    fn scan_warps(&mut self, how: &How, block: &mut Block, mut all: Vec<Tuple>, own: &Expr) -> Result {
        let rule = &how.rule;
        let last = all.len() as i64 - 1;
        if how.reverse {
            all.reverse();
        }
        let mut before = self.identity(rule)?;
        let mut sum: Option<Tuple> = None;
        for (i, total) in all.into_iter().enumerate() {
            sum = Some(match sum {
                None => total,
                Some(sum) => {
                    let slot = if how.reverse { last - i as i64 } else { i as i64 };
                    let here = Cond::equal(own, &Expr::from(slot));
                    before = self.select_all(rule, &here, &sum, &before)?;
                    self.combine(rule, &sum, &total)?
                }
            });
        }
        self.prepend(how, block, &before)?;
        block.total = sum.unwrap_or_default();
        Ok(())
    }

    /// More is before a block.
    fn prepend(&mut self, how: &How, block: &mut Block, more: &[Reg]) -> Result {
        block.before = Some(match block.before.take() {
            None => more.to_vec(),
            Some(before) if how.exclusive || !block.parts.is_empty() => {
                self.combine(&how.rule, more, &before)?
            }
            Some(before) => before,
        });
        if let Some(through) = block.through.take_if(|_| !how.exclusive) {
            block.through = Some(self.combine(&how.rule, more, &through)?);
        }
        Ok(())
    }

    /// Gives the elements of a block what is before it.
    fn spread_out(
        &mut self,
        how: &How,
        mut block: Block,
        more: Option<&[Reg]>,
        results: &mut [Option<Tuple>],
    ) -> Result {
        if let Some(more) = more {
            self.prepend(how, &mut block, more)?;
        }
        if let Some(through) = block.through {
            results[block.value] = Some(match (how.exclusive, block.before) {
                (false, _) => through,
                (true, None) => self.empty(&how.rule)?,
                (true, Some(before)) => before,
            });
            return Ok(());
        }
        for part in block.parts {
            self.spread_out(how, part, block.before.as_deref(), results)?;
        }
        Ok(())
    }
}
