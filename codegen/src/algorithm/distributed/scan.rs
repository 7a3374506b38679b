//! Running combinations. The digits of the coordinate along the mode are taken from the least significant one: at each, neighbouring blocks
//! become one, and each block but the first learns what is before it. What holds for a whole block is added to its elements once, at
//! the end.

use super::combine::{By, Combine, Rule, Tuple, butterfly};
use super::reduce::by_operand;
use super::through::{Through, batch};
use super::{Group, LANE_BITS, Tile, bit_is_set, weigh};
use crate::builder::{Cond, Reg};
use crate::plan::Digit;
use crate::{AlgorithmError, Error, Expr};

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

/// How a scan goes along its mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// From the last element to the first.
    pub reverse: bool,
    /// Each result is what is before its element, without the element.
    pub exclusive: bool,
}

/// What is asked of a scan.
struct How<'f, G: Group> {
    rule: Rule<'f, G>,
    reverse: bool,
    exclusive: bool,
}

/// For each element of a tile, combines the elements along a mode up to it. The results are distributed as the tile is.
///
/// # Errors
/// As [`reduce`](super::reduce()); [`AlgorithmError::Scan`] for the index of the greatest or the least.
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::distributed::{Combine, Group, Scan, ThreadBlock, Tile, scan};
/// use girih_codegen::plan::Dist;
/// use girih_codegen::{Builder, Width};
/// use girih_tensor::DType;
///
/// // 256 threads with an element each; before each element, the sum of all elements before it.
/// let dist = Dist::blocked(&[256], &[0], 1, 256);
/// let mut b = Builder::new("offsets", 90, 256);
/// let mut block = ThreadBlock::new(&mut b);
/// let number = block.thread();
/// let number = block.builder().value(&number, Width::W32)?;
/// let tile = Tile::new(&dist, &[256], vec![(DType::S32, vec![number])])?;
/// let before = scan(&mut block, &tile, 0, &Combine::Sum, Scan { exclusive: true, ..Scan::default() })?;
/// assert_eq!(before[0].len(), 1);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn scan<'f, G: Group>(
    group: &mut G,
    tile: &Tile<'_>,
    mode: usize,
    combine: &Combine<By<'f, G>>,
    Scan { reverse, exclusive }: Scan,
) -> Result<Vec<Vec<Reg>>, G::Error> {
    tile.check(group, "scan", Some(mode))?;
    if let Combine::ArgMax(_) | Combine::ArgMin(_) = combine {
        let combination = "the index of the greatest or the least";
        return Err(Error::from(AlgorithmError::Scan { combination }).into());
    }
    let rule = Rule::new(combine, &tile.dtypes(), false)?;
    let how = How { rule, reverse, exclusive };
    let (dist, rank) = (tile.dist, tile.extents.len());
    let origin = group.origin(dist, rank)?;

    let mut blocks = Vec::new();
    for value in 0..dist.size() {
        // From the beginning, padding stands behind all elements.
        let total = how.rule.element(group, (tile, mode, &origin), value, reverse)?;
        let through = Some(total.clone());
        blocks.push(Block { value, total, before: None, through, parts: Vec::new() });
    }

    let digits = dist.digits(mode);
    let mut done = Vec::new();
    let mut at = 0;
    while at < digits.len() {
        match digits[at] {
            Digit::Values { leaf, extent, .. } => {
                blocks = scan_values(group, &how, blocks, dist.stride(leaf), extent as usize)?;
                at += 1;
            }
            Digit::Bit { bit, .. } if bit < LANE_BITS => {
                for block in &mut blocks {
                    scan_lanes(group, &how, block, bit)?;
                }
                done.push(bit);
                at += 1;
            }
            Digit::Bit { .. } => {
                let warps = digits[at..].iter().map_while(|digit| match digit {
                    Digit::Bit { bit, .. } if *bit >= LANE_BITS => Some(*bit),
                    _ => None,
                });
                let warps: Vec<usize> = warps.collect();
                let own = weigh(&group.thread(), &warps, 1)?;
                for batch in blocks.chunks_mut(batch(&how.rule.dtypes, dist)) {
                    let totals: Vec<Tuple> = batch.iter().map(|block| block.total.clone()).collect();
                    let through = Through::of_warps(group, &how.rule.dtypes, dist, [&done, &warps], &totals)?;
                    for (place, block) in batch.iter_mut().enumerate() {
                        let all = through.read_all(group, place)?;
                        scan_warps(group, &how, block, all, &own)?;
                    }
                }
                at += warps.len();
                done.extend(warps);
            }
        }
    }

    let mut results: Vec<Option<Tuple>> = vec![None; dist.size()];
    for block in blocks {
        spread_out(group, &how, block, None, &mut results)?;
    }
    let mut finished = Vec::new();
    let first = if reverse { tile.extents[mode] - 1 } else { 0 };
    for (value, tuple) in results.into_iter().enumerate() {
        let mut tuple = tuple.unwrap_or_default();
        let own = first - dist.offset(value, rank)[mode];
        if exclusive && (0..=dist.reach(mode)).contains(&own) {
            // Nothing stands before the first element.
            let nothing = how.rule.empty(group)?;
            let here = Cond::equal(&origin[mode], &Expr::from(own));
            tuple = how.rule.select(group, &here, &nothing, &tuple)?;
        }
        finished.push(how.rule.finish(group, &tuple)?);
    }
    Ok(by_operand(&finished))
}

/// Blocks whose values differ in a leaf become one.
fn scan_values<G: Group>(
    group: &mut G,
    how: &How<'_, G>,
    blocks: Vec<Block>,
    stride: usize,
    extent: usize,
) -> Result<Vec<Block>, G::Error> {
    let mut rows: Vec<Vec<Block>> = Vec::new();
    for block in blocks {
        let digit = block.value / stride % extent;
        let first = block.value - digit * stride;
        let same = |row: &&mut Vec<Block>| row[0].value - row[0].value / stride % extent * stride == first;
        match rows.iter_mut().find(same) {
            Some(row) => row.push(block),
            None => rows.push(vec![block]),
        }
    }
    let mut joined = Vec::new();
    for mut row in rows {
        let value = row[0].value;
        if how.reverse {
            row.reverse();
        }
        let mut parts = Vec::new();
        let mut sum: Option<Tuple> = None;
        for mut block in row {
            let Some(before) = sum else {
                sum = Some(block.total.clone());
                parts.push(block);
                continue;
            };
            let next = how.rule.combine(group, &before, &block.total)?;
            if block.through.as_ref() == Some(&block.total) {
                // A single element that nothing stands before yet.
                block.through = Some(next.clone());
                block.before = Some(before);
            } else {
                prepend(group, how, &mut block, &before)?;
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
fn scan_lanes<G: Group>(
    group: &mut G,
    how: &How<'_, G>,
    block: &mut Block,
    bit: usize,
) -> Result<(), G::Error> {
    let other = butterfly(group, &block.total, bit);
    let set = bit_is_set(&group.thread(), bit)?;
    let second = if how.reverse { Cond::not(set) } else { set };
    let before = match block.before.take() {
        None if how.exclusive || !block.parts.is_empty() => {
            let nothing = how.rule.identity(group)?;
            Some(how.rule.select(group, &second, &other, &nothing)?)
        }
        None => None,
        Some(before) => {
            let more = how.rule.combine(group, &other, &before)?;
            Some(how.rule.select(group, &second, &more, &before)?)
        }
    };
    block.before = before;
    if let Some(through) = block.through.take_if(|_| !how.exclusive) {
        let more = how.rule.combine(group, &other, &through)?;
        block.through = Some(how.rule.select(group, &second, &more, &through)?);
    }
    block.total = how.rule.combine_sides(group, &block.total.clone(), &other, bit, how.reverse)?;
    Ok(())
}

/// Blocks of warps become one: `all` are their totals, and `own` is the number of the thread's.
fn scan_warps<G: Group>(
    group: &mut G,
    how: &How<'_, G>,
    block: &mut Block,
    mut all: Vec<Tuple>,
    own: &Expr,
) -> Result<(), G::Error> {
    let last = all.len() as i64 - 1;
    if how.reverse {
        all.reverse();
    }
    let mut before = how.rule.identity(group)?;
    let mut sum: Option<Tuple> = None;
    for (i, total) in all.into_iter().enumerate() {
        sum = Some(match sum {
            None => total,
            Some(sum) => {
                let slot = if how.reverse { last - i as i64 } else { i as i64 };
                let here = Cond::equal(own, &Expr::from(slot));
                before = how.rule.select(group, &here, &sum, &before)?;
                how.rule.combine(group, &sum, &total)?
            }
        });
    }
    prepend(group, how, block, &before)?;
    block.total = sum.unwrap_or_default();
    Ok(())
}

/// More is before a block.
fn prepend<G: Group>(
    group: &mut G,
    how: &How<'_, G>,
    block: &mut Block,
    more: &[Reg],
) -> Result<(), G::Error> {
    block.before = Some(match block.before.take() {
        None => more.to_vec(),
        Some(before) if how.exclusive || !block.parts.is_empty() => how.rule.combine(group, more, &before)?,
        Some(before) => before,
    });
    if let Some(through) = block.through.take_if(|_| !how.exclusive) {
        block.through = Some(how.rule.combine(group, more, &through)?);
    }
    Ok(())
}

/// Gives the elements of a block what is before it.
fn spread_out<G: Group>(
    group: &mut G,
    how: &How<'_, G>,
    mut block: Block,
    more: Option<&[Reg]>,
    results: &mut [Option<Tuple>],
) -> Result<(), G::Error> {
    if let Some(more) = more {
        prepend(group, how, &mut block, more)?;
    }
    if let Some(through) = block.through {
        results[block.value] = Some(match (how.exclusive, block.before) {
            (false, _) => through,
            (true, None) => how.rule.empty(group)?,
            (true, Some(before)) => before,
        });
        return Ok(());
    }
    for part in block.parts {
        spread_out(group, how, part, block.before.as_deref(), results)?;
    }
    Ok(())
}
