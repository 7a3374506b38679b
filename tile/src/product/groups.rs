//! Products of groups of rows whose ends are in memory: blocks that go through the tiles of one group after the other.
//!
//! ```text
//! for group in 0..groups carry from = 0, first = 0
//!     to = ends[group]
//!     tiles = cdiv(to - from, BM) * columns
//!     for tile in (block - first) % blocks .. tiles in steps of blocks
//!         row, column = tile / columns, tile % columns
//!     from, first = to, first + tiles
//! ```
//!
//! Tiles are counted from those of the first group on, and a block has every `blocks`-th of them, so that each tile of a group is that of one
//! block.

use super::refused;
use crate::error::Refusal;
use crate::facts::{Index, Poly};
use crate::ir::table::Each;
use crate::ir::{Array, ArrayId, Def, Dims, End, Func, Kind, Op, OpId, Value};

/// What the loops around a product of groups say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    /// The array of the ends.
    pub(super) ends: ArrayId,
    /// The group, where its rows begin and end, and the row of tiles among them.
    pub(super) group: Value,
    pub(super) from: Value,
    pub(super) to: Value,
    pub(super) row: Value,
    /// The rows and columns of a tile.
    tile: [i64; 2],
}

/// The operation that makes a value.
fn op_of(func: &Func, value: Value) -> Option<&Op> {
    match func.value(value).def {
        Def::Result(id, _) => Some(func.op(id)),
        Def::Argument(..) => None,
    }
}

/// The operands of a function of two.
fn both(func: &Func, value: Value, each: Each) -> Option<[Value; 2]> {
    let op = op_of(func, value)?;
    match (&op.kind, &op.operands[..]) {
        (Kind::Each { op, .. }, &[x, y]) if *op == each => Some([x, y]),
        _ => None,
    }
}

/// Whether a value is such a function of these, in this order, or where that makes no difference in any.
fn is(func: &Func, value: Value, each: Each, of: [Value; 2]) -> bool {
    let turns = matches!(each, Each::Add | Each::Mul);
    both(func, value, each).is_some_and(|found| found == of || turns && found == [of[1], of[0]])
}

impl Groups {
    /// What two loops around say, if these are those of groups. `at` is the index of the tile that is stored.
    pub(super) fn of(
        func: &Func,
        index: &Index<'_>,
        path: &[(OpId, usize)],
        (c, store): (ArrayId, &Op),
        at: [Value; 2],
        tile: [i64; 2],
    ) -> Result<Groups, Refusal> {
        let [(outer, 0), (inner, 0)] = *path else {
            return Err(refused(
                store,
                "a loop around carries something, and is not one over groups of rows",
            ));
        };
        let (outer, inner) = (func.op(outer), func.op(inner));
        Groups::read(func, index, [outer, inner], c, at, tile).ok_or_else(|| {
            refused(outer, "the loop around carries something else than where a group of rows begins, and its first tile")
        })
    }

    fn read(
        func: &Func,
        index: &Index<'_>,
        [outer, inner]: [&Op; 2],
        c: ArrayId,
        [row, column]: [Value; 2],
        tile: [i64; 2],
    ) -> Option<Groups> {
        let number = |value: Value| index.poly(value).as_number();
        let region = func.region(outer.regions[0]);
        let &[group, x, y] = &region.args[..] else { return None };
        let &[start, stop, step, x0, y0] = &outer.operands[..] else { return None };
        let End::Continue(0, next) = &region.end else { return None };
        let &[next_x, next_y] = &next[..] else { return None };
        if [start, x0, y0].map(number) != [Some(0); 3] || number(step) != Some(1) {
            return None;
        }
        // The end of a group, and the array that it is loaded from.
        let ends_of = |value: Value| {
            let reshape = op_of(func, value).filter(|op| op.kind == Kind::Reshape)?;
            let load = op_of(func, reshape.operands[0])?;
            let Kind::Load(view) = &load.kind else { return None };
            let one = Dims::new(&[1])?;
            let plain = view.tile == one && view.steps == one && func.is_pure(&load.kind);
            (plain && load.operands == [group]).then_some(view.array)
        };
        let (from, first, to, next_first) = match (ends_of(next_x), ends_of(next_y)) {
            (Some(_), _) => (x, y, next_x, next_y),
            (_, Some(_)) => (y, x, next_y, next_x),
            _ => return None,
        };
        let ends = ends_of(to)?;
        let Array::Param(param) = &func.arrays()[ends.index()] else { return None };
        if param.dtype != girih_tensor::DType::S32
            || !op_of(func, stop).is_some_and(|op| matches!(op.kind, Kind::Dim(_, 0)))
        {
            return None;
        }
        let &[begin, tiles, blocks] = &inner.operands[..] else { return None };
        let iteration = *func.region(inner.regions[0]).args.first()?;
        // Rows of tiles times columns of tiles.
        let [a, b] = both(func, tiles, Each::Mul)?;
        let rows_of = |value: Value| {
            let [rows, by] = both(func, value, Each::CeilDiv)?;
            // The extent of a part is 0 where its end is before its begin.
            let length =
                both(func, rows, Each::Max).filter(|of| number(of[1]) == Some(0)).map_or(rows, |of| of[0]);
            (number(by) == Some(tile[0]) && is(func, length, Each::Sub, [to, from])).then_some(())
        };
        let columns = if rows_of(a).is_some() { b } else { rows_of(b).map(|()| a)? };
        let [extent, by] = both(func, columns, Each::CeilDiv)?;
        let of_c = matches!(op_of(func, extent)?.kind, Kind::Dim(array, 1) if array == c);
        if !of_c || number(by) != Some(tile[1]) {
            return None;
        }
        let is_blocks = op_of(func, blocks)?.kind == Kind::NumBlocks(0);
        let [ahead, modulus] = both(func, begin, Each::Mod)?;
        let [block, before] = both(func, ahead, Each::Sub)?;
        let is_block = op_of(func, block)?.kind == Kind::Bid(0);
        let walks = is_blocks && modulus == blocks && is_block && before == first;
        let counts = is(func, next_first, Each::Add, [first, tiles]);
        let places = is(func, row, Each::FloorDiv, [iteration, columns])
            && is(func, column, Each::Mod, [iteration, columns]);
        (walks && counts && places).then_some(Groups { ends, group, from, to, row, tile })
    }

    /// Whether an array is the rows of a group in another one.
    pub(super) fn rows_of(&self, func: &Func, array: ArrayId, mode: usize) -> Option<ArrayId> {
        match &func.arrays()[array.index()] {
            Array::Slice { of, axis, start, stop } => {
                let own = usize::from(*axis) == mode && [*start, *stop] == [self.from, self.to];
                let of_param = matches!(func.arrays()[of.index()], Array::Param(_));
                (own && of_param).then_some(*of)
            }
            Array::Param(_) => None,
        }
    }

    /// Whether an index in elements is that of the tile's first row.
    pub(super) fn is_row(&self, index: &Index<'_>, at: &Poly) -> bool {
        let rows = index.poly(self.row).times(&Poly::number(self.tile[0]));
        rows.and_then(|rows| rows.plus(&index.poly(self.from), 1)).is_some_and(|first| first == *at)
    }
}
