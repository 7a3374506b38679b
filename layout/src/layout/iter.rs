//! Coordinates and indices one after the other (CuTe's `make_coord_iterator`).

use core::iter::FusedIterator;

use crate::arith::scale::carryless;
use crate::tuple::store::Small;
use crate::{Coord, Crd, Error, IntTuple, Lay, MAX_LEAVES, Shape, Stride};

const OP: &str = "an iteration";

/// The coordinates of a shape, leftmost leaf fastest; see [`Shape::coords`].
///
/// ```
/// use girih_layout::Shape;
/// assert_eq!(Shape::parse("(4,(2,3))")?.coords()?.count(), 24);
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coords {
    extents: [i64; MAX_LEAVES],
    /// The leaves from the fastest to the slowest.
    order: [usize; MAX_LEAVES],
    next: Option<Coord>,
}

/// The indices of a layout in the order of its coordinates; see [`Lay::indices`].
///
/// ```
/// use girih_layout::lay;
/// assert_eq!(lay!("(2,3):(3,1)").indices()?.max(), Some(5));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Indices {
    leaves: [Wheel; MAX_LEAVES],
    len: usize,
    /// The next index: the sum of the integers, and the exclusive or of the F2 columns.
    sum: i64,
    columns: u64,
    done: bool,
}

/// The digit of one leaf.
#[derive(Clone, Copy, Debug)]
struct Wheel {
    digit: i64,
    extent: i64,
    /// The increment of the sum at a step of the digit, and at the digit's return to 0.
    step: i64,
    back: i64,
    /// The F2 column, and the exclusive or of the shifted columns that the digit selects.
    column: u64,
    selected: u64,
}

impl Shape {
    /// All coordinates, congruent to the shape, in the order in which the shape counts them.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// let text: Vec<_> = Shape::parse("(2,(1,2))")?.coords()?.map(|c| c.to_string()).collect();
    /// assert_eq!(text, ["(0,(0,0))", "(1,(0,0))", "(0,(0,1))", "(1,(0,1))"]);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for a symbolic extent.
    pub fn coords(&self) -> Result<Coords, Error> {
        let mut extents = [1; MAX_LEAVES];
        for (extent, leaf) in extents.iter_mut().zip(self.leaves()) {
            *extent = leaf.get().ok_or(Error::NotKnown { op: OP, value: leaf.quoted() })?;
        }
        let origin = Coord::zeros(*self.profile());
        let empty = extents.iter().any(|extent| *extent < 1);
        Ok(Coords { extents, order: core::array::from_fn(|leaf| leaf), next: (!empty).then_some(origin) })
    }

    /// All coordinates, the leaf with the smallest key fastest (CuTe's `make_coord_iterator` with an order). Equal keys count from the left.
    ///
    /// ```
    /// use girih_layout::{IntTuple, Shape};
    /// let rows = Shape::parse("(2,2)")?.coords_by(&IntTuple::parse("(1,0)")?)?;
    /// assert!(rows.map(|c| c.to_string()).eq(["(0,0)", "(0,1)", "(1,0)", "(1,1)"]));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCongruent`] unless there is a key for each leaf, [`Error::NotKnown`] for a symbolic extent or key.
    pub fn coords_by(&self, keys: &IntTuple) -> Result<Coords, Error> {
        if let Some(leaf) = self.profile.differs_at(&keys.profile) {
            return Err(Error::NotCongruent { op: OP, leaf });
        }
        let mut coords = self.coords()?;
        for key in keys.leaves() {
            key.get().ok_or(Error::NotKnown { op: OP, value: key.quoted() })?;
        }
        // A stable sort without a heap.
        for i in 1..self.leaf_count() {
            let mut to = i;
            while to > 0 && keys.leaves.coefs[coords.order[to]] < keys.leaves.coefs[coords.order[to - 1]] {
                coords.order.swap(to, to - 1);
                to -= 1;
            }
        }
        Ok(coords)
    }
}

impl Iterator for Coords {
    type Item = Coord;

    fn next(&mut self) -> Option<Coord> {
        let current = self.next?;
        let mut next = current;
        let count = next.leaf_count();
        for leaf in self.order.into_iter().take(count) {
            let Crd::At(position) = next.at_leaf(leaf) else { break };
            if position + 1 < self.extents[leaf] {
                next.leaves.set(leaf, Small::number(position + 1, false));
                self.next = Some(next);
                return Some(current);
            }
            next.leaves.set(leaf, Small::number(0, false));
        }
        self.next = None;
        Some(current)
    }
}

impl FusedIterator for Coords {}

impl Lay {
    /// The indices of all coordinates in order: the layout as a list, from which [`Lay::recognise`] finds the coalesced
    /// layout again.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(2,3):(3,1)").indices()?.eq([0, 3, 1, 4, 2, 5]));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotKnown`] for symbols, [`Error::Unsupported`] for basis strides, [`Error::Overflow`] where an index does not fit.
    pub fn indices(&self) -> Result<Indices, Error> {
        let still = Wheel { digit: 0, extent: 1, step: 0, back: 0, column: 0, selected: 0 };
        let mut out =
            Indices { leaves: [still; MAX_LEAVES], len: self.leaf_count(), sum: 0, columns: 0, done: false };
        let mut integers = *self;
        for (i, wheel) in out.leaves.iter_mut().take(out.len).enumerate() {
            let extent = self.extent(i);
            wheel.extent = extent.get().ok_or(Error::NotKnown { op: OP, value: extent.quoted() })?;
            out.done |= wheel.extent < 1;
            match self.step(i) {
                Stride::F2(column) => {
                    integers.steps.set(i, Small::ZERO);
                    wheel.column = column;
                    carryless((wheel.extent - 1).max(0), column)?;
                }
                stride => {
                    wheel.step = stride.require_known(OP)?;
                    // Both ends of the range are checked below: nothing wraps.
                    wheel.back = wheel.step.wrapping_mul(1i64.wrapping_sub(wheel.extent));
                }
            }
        }
        integers.min_index()?;
        integers.max_index()?;
        Ok(out)
    }
}

impl Indices {
    /// Goes on to the next coordinate: a digit that reaches its extent returns to 0 and carries into the next leaf.
    fn carry(&mut self) {
        for wheel in &mut self.leaves[..self.len] {
            if wheel.digit + 1 < wheel.extent {
                wheel.digit += 1;
                self.sum = self.sum.wrapping_add(wheel.step);
                if wheel.column != 0 {
                    let selected = carryless(wheel.digit, wheel.column).unwrap_or(0);
                    self.columns ^= wheel.selected ^ selected;
                    wheel.selected = selected;
                }
                return;
            }
            wheel.digit = 0;
            self.sum = self.sum.wrapping_add(wheel.back);
            self.columns ^= wheel.selected;
            wheel.selected = 0;
        }
        self.done = true;
    }
}

impl Iterator for Indices {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        if self.done {
            return None;
        }
        let index = self.sum ^ self.columns as i64;
        self.carry();
        Some(index)
    }
}

impl FusedIterator for Indices {}
