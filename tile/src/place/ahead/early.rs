//! How one tile gets to shared memory iterations ahead.

use girih_codegen::plan::{Dist, fastest};

use crate::ir::{Func, Kind, OpId, Padding};
use crate::place::access::aligned;
use crate::place::rule;
use crate::place::wgmma::SharedTile;
use crate::place::wgmma::choice::NARROWEST;

/// The most words of a thread that wait in registers for the end of an iteration, of one tile.
const WAITING: i64 = 32;

/// A tile that is loaded iterations ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct Early {
    /// The axis along which elements are in a row.
    pub fast: usize,
    /// Elements of a copy at the most.
    pub vector: i64,
    /// Whether `cp.async` copies it, or why it goes through registers.
    pub copied: Result<(), String>,
    /// Which thread copies what.
    pub dist: Dist,
    /// Where elements are by axis, in elements.
    pub strides: Vec<i64>,
    /// The extents that products read: beyond the tile's there are zeros.
    pub covered: Vec<i64>,
    /// Where it begins in a slot.
    pub start: i64,
    /// How it is laid out for products by `wgmma`, where it is for these.
    pub tile: Option<SharedTile>,
    /// Whether threads read it into registers, to compute an operand from it; else products read it in its slot.
    pub computed: bool,
}

impl Early {
    /// How a load gets a tile whose rows are along an axis to shared memory.
    pub(super) fn new(
        func: &Func,
        threads: u32,
        load: OpId,
        fast: usize,
        tile: Option<&SharedTile>,
    ) -> Result<Early, String> {
        let op = func.op(load);
        let Kind::Load(view) = &op.kind else { return Err("it is no load".into()) };
        let dtype = func.ty(op.results[0]).dtype;
        let (size, extents, width) = (dtype.bytes(), rule::extents(&view.tile), aligned(func, view));
        let most = if width.contiguous == Some(fast) { width.most } else { 1 };
        let vector = most.min(1 << extents[fast].cast_unsigned().next_power_of_two().trailing_zeros());
        // Integers have one zero, and nothing else beside numbers.
        let zero = matches!(view.padding, Padding::Zero | Padding::Undetermined) || !dtype.is_float();
        let copied = match () {
            () if !zero => {
                Err(format!("outside of the array is {:?}: cp.async fills with zeros", view.padding))
            }
            () if vector * size < NARROWEST => Err(format!(
                "{} bytes at once, since {}: cp.async copies {NARROWEST} and more",
                vector * size,
                width.why
            )),
            () => Ok(()),
        };
        let dist = Dist::blocked(&extents, &fastest(fast, extents.len()), vector, threads.into());
        // Elements that are loaded alone have registers of their own.
        let waiting = dist.size() as i64 * if vector == 1 { size.max(4) } else { size } / 4;
        if let Err(why) = &copied
            && waiting > WAITING
        {
            return Err(format!("{why}; {waiting} registers a thread: {WAITING} may wait"));
        }
        let tile = tile.cloned();
        let (strides, covered) = (Vec::new(), extents);
        Ok(Early { fast, vector, copied, dist, strides, covered, start: 0, tile, computed: false })
    }

    /// How a load gets a tile to shared memory from which threads compute an operand.
    pub(super) fn of_computed(func: &Func, threads: u32, load: OpId) -> Result<Early, String> {
        let op = func.op(load);
        let Kind::Load(view) = &op.kind else { return Err("it is no load".into()) };
        let fast = aligned(func, view).contiguous.unwrap_or(view.tile.rank() - 1);
        Ok(Early { computed: true, ..Early::new(func, threads, load, fast, None)? })
    }
}
