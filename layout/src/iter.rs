//! Coordinates and indices one after the other (CuTe's `make_coord_iterator`).

use core::iter::FusedIterator;

use crate::stride::carryless;
use crate::{Coord, Crd, Error, IntTuple, Lay, MAX_LEAVES, Shape, Stride, Tuple};

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
    coords: Coords,
    strides: [Stride; MAX_LEAVES],
}

impl Shape {
    /// All coordinates, congruent to the shape, in the order in which it counts them.
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
            *extent = leaf.get().ok_or(Error::NotKnown { op: "an iteration", value: *leaf })?;
        }
        let origin = Tuple { profile: *self.profile(), leaves: [Crd::At(0); MAX_LEAVES] };
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
    /// [`Error::NotCongruent`] unless there is a key a leaf, [`Error::NotKnown`] for a symbolic extent or key.
    pub fn coords_by(&self, keys: &IntTuple) -> Result<Coords, Error> {
        const OP: &str = "an iteration";
        if let Some(leaf) = self.profile.differs_at(&keys.profile) {
            return Err(Error::NotCongruent { op: OP, leaf });
        }
        let mut coords = self.coords()?;
        for key in keys.leaves() {
            key.get().ok_or(Error::NotKnown { op: OP, value: *key })?;
        }
        // A stable sort without a heap.
        for i in 1..self.leaf_count() {
            let mut to = i;
            while to > 0 && keys.leaves[coords.order[to]].coef < keys.leaves[coords.order[to - 1]].coef {
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
            let Crd::At(position) = next.leaves[leaf] else { break };
            if position + 1 < self.extents[leaf] {
                next.leaves[leaf] = Crd::At(position + 1);
                self.next = Some(next);
                return Some(current);
            }
            next.leaves[leaf] = Crd::At(0);
        }
        self.next = None;
        Some(current)
    }
}

impl FusedIterator for Coords {}

impl Lay {
    /// The indices of all coordinates in order: the layout as a list, which [`Lay::recognise`] turns back.
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
        let mut integers = *self;
        for stride in integers.stride.iter_mut().take(self.leaf_count()) {
            match stride {
                Stride::F2(_) => *stride = Stride::ZERO,
                stride => {
                    stride.require_known("an iteration")?;
                }
            }
        }
        let coords = self.shape.coords()?;
        integers.min_index()?;
        integers.max_index()?;
        if self.has_columns() {
            // The last coordinate has every bit that any has.
            self.at(integers.size()?.get().map_or(0, |size| size - 1))?;
        }
        Ok(Indices { coords, strides: self.stride })
    }
}

impl Iterator for Indices {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let coord = self.coords.next()?;
        let (mut sum, mut columns) = (0i64, 0);
        for (leaf, stride) in coord.leaves().iter().zip(self.strides) {
            match (leaf, stride) {
                (Crd::At(digit), Stride::Int(stride)) => {
                    sum = sum.wrapping_add(digit.wrapping_mul(stride.coef))
                }
                (Crd::At(digit), Stride::F2(column)) => columns ^= carryless(*digit, column).unwrap_or(0),
                _ => {}
            }
        }
        Some(sum ^ columns as i64)
    }
}

impl FusedIterator for Indices {}
