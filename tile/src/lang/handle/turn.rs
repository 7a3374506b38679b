//! Cooperation of blocks: tickets with decoupled look-back, and the last block.
//!
//! The functions are written in the tile language: atomic operations, loads that are repeated until another block has stored, and reductions.

use girih_tile_macros::function;

use super::{Array, Scalar, arange, assert_, full, num_blocks, reduce, scalar, select, strict};
use crate::elem::Num;
use crate::ir::{Order, Scope};

/// States of a block's word: its own elements are combined, and those of all blocks before it too.
const OWN: i32 = 1;
const ALL: i64 = 2;

/// A block's ticket: its position in the order in which the blocks of a one-dimensional grid begin. A block may wait for the blocks before it, in
/// whatever order the device schedules them.
///
/// The state is an array of `u64` with one element more than the grid has blocks, which is zeroed once, when it is allocated. The next launch, of any
/// kernel and grid, may use the same array without clearing it, unless the launch has failed. Launches that run at the same time need separate
/// arrays.
///
/// # Examples
/// ```
/// use girih_tile::prelude::*;
///
/// /// Each block's index, and the numbers of all before it, in the order in which they begin.
/// #[kernel]
/// fn sums(x: &Array<i32, 1>, y: &mut Array<i32, 1>, state: &mut Array<u64, 1>) {
///     let turn = Turn::take(state);
///     let own = x.tiles([1]).load((turn.number(),)).reshape(());
///     let before = turn.before(state, own, 0, 128, |left, right| left + right);
///     // SAFETY: a turn is taken once.
///     let mut y = unsafe { y.tiles_mut([1]).assume_disjoint("each block stores at its turn") };
///     y.store((turn.number(),), before + own);
/// }
/// assert!(sums::ir().is_ok());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    number: Scalar<i32>,
    launch: Scalar<u32>,
}

impl Turn {
    /// Takes the next ticket. Every block of the kernel takes one.
    #[function(crate = crate)]
    pub fn take(state: &mut Array<u64, 1>) -> Turn {
        let blocks = num_blocks(0);
        assert_(state.dim(0) > blocks, "the state of turns has an element for each block, and one more");
        // The lower half of the first word counts tickets, the upper half launches.
        let clock = state.elements_mut().memory_order(Order::Relaxed, Scope::Device).atomic_add((0,), 1);
        let number = (clock & 0xffff_ffff).to::<i32>();
        if number == blocks - 1 {
            // All blocks have begun: the next launch begins at 0.
            let next = strict(1u64 << 32) - blocks.to::<u64>();
            state.elements_mut().memory_order(Order::Relaxed, Scope::Device).atomic_add((0,), next);
        }
        Turn { number, launch: (clock >> 32).to::<u32>() & 0x3fff_ffff }
    }

    /// The number of blocks that have taken a ticket before: 0 to `num_blocks(0) - 1`.
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn number(self) -> Scalar<i32> {
        self.number
    }

    /// The combined values of all earlier blocks in the order of their tickets, by decoupled look-back (Merrill and Garland, "Single-pass Parallel
    /// Prefix Scan with Decoupled Look-back", 2016). `own` is the value of this block, of 32 bits. `identity` is the identity of `f`, which is
    /// associative. All blocks call this once. Each step reads `window` words, at most the threads of a block.
    ///
    /// The order of floating-point additions depends on the blocks' timing.
    #[track_caller]
    pub fn before<T: Num>(
        self,
        state: &mut Array<u64, 1>,
        own: Scalar<T>,
        identity: T,
        window: usize,
        f: impl Fn(Scalar<T>, Scalar<T>) -> Scalar<T>,
    ) -> Scalar<T> {
        self.since(state, own, full::<bool>((), false), identity, window, f)
    }

    /// As [`Turn::before`], restarted at each block with `anew`: the values of blocks before it are left out, and its own result is `own` (a
    /// segmented scan).
    #[function(crate = crate)]
    pub fn since<T: Num>(
        self,
        state: &mut Array<u64, 1>,
        own: Scalar<T>,
        anew: Scalar<bool>,
        identity: T,
        window: usize,
        f: impl Fn(Scalar<T>, Scalar<T>) -> Scalar<T>,
    ) -> Scalar<T> {
        crate::static_assert!(
            T::DTYPE.bits() == 32,
            "what turns have is {}, of {} bits: types of 32 bits are accepted",
            T::DTYPE,
            T::DTYPE.bits()
        );
        self.say(state, select(anew, ALL, scalar::<u32>(i64::from(OWN))), own);
        let mut before = strict(identity);
        let mut end = self.number;
        loop {
            // The words of the tickets end - 1, end - 2, ...
            let places = end - arange::<i32>(window);
            let words = state.elements_mut().memory_order(Order::Relaxed, Scope::Device).gather((places,));
            let low = (words & 0xffff_ffff).to::<u32>();
            // A word of an earlier launch counts as empty, and the block of the first ticket has no predecessors.
            let said = select(low >> 2 == self.launch, low & 3, 0).to::<i32>();
            let said = select(places > 0, said, ALL);
            let values = select(places > 0, (words >> 32).to::<u32>().bitcast::<T>(), strict(identity));
            // Combines words from the nearest ticket on while they are `OWN`, up to the first that is `ALL`.
            let (said, value) = reduce((said, values), 0, (OWN, identity), |near, far| {
                let goes_on = near.0 == i64::from(OWN);
                (select(goes_on, far.0, near.0), select(goes_on, f(far.1, near.1), near.1))
            });
            before = select(said == 0, before, f(value, before));
            if said == ALL {
                break;
            }
            end = select(said == i64::from(OWN), end - window as i64, end);
        }
        self.say(state, scalar::<u32>(ALL), select(anew, own, f(before, own)));
        before
    }

    /// Stores this ticket's word. The state and the value are one store, so that a reader gets both.
    fn say<T: Num>(self, state: &mut Array<u64, 1>, what: Scalar<u32>, value: Scalar<T>) {
        let low = (self.launch << 2) | what;
        let word = (value.bitcast::<u32>().to::<u64>() << 32) | low.to::<u64>();
        let mut words = state.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device);
        words.store((self.number + 1,), word);
    }
}

/// Whether a block is the last of the grid to call this. The last block sees all stores that the others did before their calls. `count` is an array
/// of one element, which is zeroed once, when it is allocated. The last block resets it for the next launch.
///
/// # Examples
/// ```
/// use girih_tile::prelude::*;
///
/// /// The sum of everything, the same each time: the last block adds what each has left.
/// #[kernel]
/// fn sum(x: &Array<f32, 1>, y: &mut Array<f32, 1>, parts: &mut Array<f32, 1>, count: &mut Array<u32, 1>) {
///     let own = x.tiles([1024]).padding(Padding::Zero).load((bid(0),)).sum(0);
///     parts.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((bid(0),), own);
///     if last_block(count) {
///         let parts = parts.tiles_mut([256]).memory_order(Order::Relaxed, Scope::Device).padding(Padding::Zero);
///         y.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device).store((0,), parts.load((0,)).sum(0));
///     }
/// }
/// assert!(sum::ir().is_ok());
/// ```
#[function(crate = crate)]
pub fn last_block(count: &mut Array<u32, 1>) -> Scalar<bool> {
    let blocks = (num_blocks(0) * num_blocks(1) * num_blocks(2)).to::<u32>();
    let last = count.atomic_add((0,), 1) == blocks - 1;
    if last {
        let mut count = count.tiles_mut([1]).memory_order(Order::Relaxed, Scope::Device);
        count.store((0,), scalar::<u32>(0));
    }
    last
}
