//! The run-time layout: construction and questions about it.

use crate::tuple::Node;
use crate::{Error, Int, IntTuple, MAX_LEAVES, Shape, Stride, Strides, Symbol, Tuple};

/// A layout: a shape and a congruent tree of strides, as a function from coordinates to indices.
///
/// A plain value of fixed size; every operation returns a new one. `Display` prints `((2,2),4):((1,8),2)`, and with `{:#}` static integers
/// carry CuTe's mark, `_8:_1`. Equality is of shape and stride, leaf by leaf; [`Lay::equivalent`] compares functions.
#[derive(Clone, Copy)]
pub struct Lay {
    pub(crate) shape: Shape,
    pub(crate) stride: [Stride; MAX_LEAVES],
}

impl Lay {
    /// Nothing yet: what the operations write their results into. Finished, it is the layout of rank 0, `():()`.
    pub(crate) const EMPTY: Lay = Lay { shape: Tuple::filled(Int::ONE), stride: [Stride::ZERO; MAX_LEAVES] };

    /// The layout of one element, `1:0`.
    pub const UNIT: Lay = Lay::raw_leaf(Int::ONE, Stride::ZERO);

    /// `shape:stride`.
    ///
    /// # Errors
    /// [`Error::NotCongruent`], [`Error::NonPositiveShape`].
    pub const fn new(shape: &Shape, stride: &Strides) -> Result<Lay, Error> {
        if let Some(leaf) = shape.profile.differs_at(&stride.profile) {
            return Err(Error::NotCongruent { op: "a layout of shape and stride", leaf });
        }
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let mut i = 0;
        while i < shape.leaf_count() {
            out.stride[i] = stride.leaves[i];
            i += 1;
        }
        Ok(out)
    }

    /// The layout of a single leaf, `extent:stride`.
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`].
    pub const fn leaf(extent: Int, stride: Stride) -> Result<Lay, Error> {
        tri!(IntTuple::leaf(extent).checked());
        Ok(Lay::raw_leaf(extent, stride))
    }

    pub(crate) const fn raw_leaf(extent: Int, stride: Stride) -> Lay {
        let mut out = Lay::EMPTY;
        out.shape = Tuple::leaf(extent);
        out.stride[0] = stride;
        out
    }

    /// Compact, leftmost fastest (column-major): CuTe's `LayoutLeft`.
    ///
    /// ```
    /// use girih_layout::{Lay, Shape};
    /// assert_eq!(Lay::left(&Shape::parse("(4,(2,3))")?)?.to_string(), "(4,(2,3)):(1,(4,8))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`], [`Error::Overflow`], or [`Error::Unsupported`] for strides of more than two symbols.
    pub const fn left(shape: &Shape) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let (mut step, mut i) = (Int::ONE, 0);
        while i < shape.leaf_count() {
            out.stride[i] = Stride::Int(step);
            i += 1;
            if i < shape.leaf_count() {
                step = tri!(step.mul(shape.leaves[i - 1]));
            }
        }
        Ok(out)
    }

    /// Compact, rightmost fastest (row-major): CuTe's `LayoutRight`.
    ///
    /// # Errors
    /// As [`Lay::left`].
    pub const fn right(shape: &Shape) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let (mut step, mut i) = (Int::ONE, shape.leaf_count());
        while i > 0 {
            i -= 1;
            out.stride[i] = Stride::Int(step);
            if i > 0 {
                step = tri!(step.mul(shape.leaves[i]));
            }
        }
        Ok(out)
    }

    /// The layout that sends each coordinate to itself: mode `i` of the shape steps along basis `E<i>`.
    ///
    /// A nested mode is one coordinate that counts leftmost first: `(4,(2,3)):(1@0,(1@1,2@1))`.
    ///
    /// # Errors
    /// As [`Lay::left`].
    pub const fn identity(shape: &Shape) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let root = shape.profile.root();
        let (mut at, mut mode) = (0, 0);
        while at < root.end {
            let child = shape.profile.child(root, at);
            let (mut step, mut i) = (Int::ONE, child.begin);
            while i < child.end {
                out.stride[i] = Stride::Basis { scale: step, mode };
                i += 1;
                if i < child.end {
                    step = tri!(step.mul(shape.leaves[i - 1]));
                }
            }
            at = child.end;
            mode += 1;
        }
        Ok(out)
    }

    /// Compact, in the order of the keys: the mode with the smallest key is fastest (CuTe's `make_ordered_layout`). Equal keys keep their
    /// order from left to right; `order` has one key a leaf.
    ///
    /// # Errors
    /// [`Error::NotCongruent`], [`Error::NotKnown`] for a symbolic key, and those of [`Lay::left`].
    pub const fn ordered(shape: &Shape, order: &IntTuple) -> Result<Lay, Error> {
        if let Some(leaf) = shape.profile.differs_at(&order.profile) {
            return Err(Error::NotCongruent { op: "an ordered layout", leaf });
        }
        let mut out = Lay::EMPTY;
        out.shape = tri!(shape.checked());
        let (mut step, mut done, mut placed) = (Int::ONE, [false; MAX_LEAVES], 0);
        while placed < shape.leaf_count() {
            let (mut best, mut best_key, mut i) = (MAX_LEAVES, 0, 0);
            while i < shape.leaf_count() {
                let Some(key) = order.leaves[i].get() else {
                    return Err(Error::NotKnown { op: "an ordered layout", value: order.leaves[i] });
                };
                if !done[i] && (best == MAX_LEAVES || key < best_key) {
                    (best, best_key) = (i, key);
                }
                i += 1;
            }
            done[best] = true;
            out.stride[best] = Stride::Int(step);
            placed += 1;
            if placed < shape.leaf_count() {
                step = tri!(step.mul(shape.leaves[best]));
            }
        }
        Ok(out)
    }

    /// Layouts side by side, each a mode: CuTe's `make_layout(a, b, ...)`.
    ///
    /// # Errors
    /// [`Error::Capacity`], or [`Error::Unsupported`] for none.
    pub const fn concat(layouts: &[Lay]) -> Result<Lay, Error> {
        if layouts.is_empty() {
            return Err(Error::Unsupported { op: "a layout of layouts", what: "no modes" });
        }
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut i = 0;
        while i < layouts.len() {
            tri!(out.copy(&layouts[i], layouts[i].root()));
            i += 1;
        }
        out.close();
        Ok(out)
    }

    /// The shape.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The strides, congruent to the shape.
    pub const fn stride(&self) -> Strides {
        Tuple { profile: self.shape.profile, leaves: self.stride }
    }

    /// The number of modes: 1 for a leaf.
    pub const fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// How deep the tree is: 0 for a leaf.
    pub const fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// The number of leaves.
    pub const fn leaf_count(&self) -> usize {
        self.shape.leaf_count()
    }

    /// Whether it is a single leaf, no tuple.
    pub const fn is_leaf(&self) -> bool {
        self.shape.is_leaf()
    }

    /// The number of coordinates: the product of the extents.
    ///
    /// # Errors
    /// [`Error::Overflow`], or [`Error::Unsupported`] for a product of more than two symbols.
    pub const fn size(&self) -> Result<Int, Error> {
        self.shape.size()
    }

    /// The least index.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for strides that are no integers, [`Error::NotKnown`] for symbols, [`Error::Overflow`].
    pub const fn min_index(&self) -> Result<i64, Error> {
        self.extreme(false)
    }

    /// The greatest index.
    ///
    /// # Errors
    /// As [`Lay::min_index`].
    pub const fn max_index(&self) -> Result<i64, Error> {
        self.extreme(true)
    }

    const fn extreme(&self, upper: bool) -> Result<i64, Error> {
        const OP: &str = "the range of indices";
        let (mut sum, mut i) = (0i64, 0);
        while i < self.leaf_count() {
            let stride = tri!(self.stride[i].require_int(OP));
            let (n, d) = match (self.shape.leaves[i].get(), stride.get()) {
                (Some(1), _) | (_, Some(0)) => (0, 0),
                (Some(n), Some(d)) => (n - 1, d),
                (None, _) => return Err(Error::NotKnown { op: OP, value: self.shape.leaves[i] }),
                (_, None) => return Err(Error::NotKnown { op: OP, value: stride }),
            };
            if upper == (d > 0) {
                sum = match n.checked_mul(d) {
                    Some(reach) => match sum.checked_add(reach) {
                        Some(sum) => sum,
                        None => return Err(Error::Overflow { op: OP }),
                    },
                    None => return Err(Error::Overflow { op: OP }),
                };
            }
            i += 1;
        }
        Ok(sum)
    }

    /// One more than the greatest index: the number of elements that a buffer needs.
    ///
    /// A symbolic layout has one where it is a single product, such as `ld*N` of an unpadded matrix.
    ///
    /// # Errors
    /// [`Error::NonPositiveStride`] where an index is negative (see [`Lay::min_index`]), and those of [`Lay::max_index`].
    pub const fn cosize(&self) -> Result<Int, Error> {
        const OP: &str = "cosize";
        if self.is_symbolic() {
            return self.symbolic_cosize();
        }
        let least = tri!(self.min_index());
        if least < 0 {
            return Err(Error::NonPositiveStride { op: OP, stride: Int::value(least) });
        }
        let Some(cosize) = tri!(self.max_index()).checked_add(1) else {
            return Err(Error::Overflow { op: OP });
        };
        Ok(if self.is_static() { Int::fixed(cosize) } else { Int::value(cosize) })
    }

    /// The number of indices from the least to the greatest, `max_index - min_index + 1`; what CuTe calls cosize where strides are negative.
    ///
    /// # Errors
    /// As [`Lay::max_index`].
    pub const fn span(&self) -> Result<i64, Error> {
        match tri!(self.max_index()).checked_sub(tri!(self.min_index())) {
            Some(reach) if reach < i64::MAX => Ok(reach + 1),
            _ => Err(Error::Overflow { op: "the range of indices" }),
        }
    }

    /// Strides that follow on from one another: the last end.
    const fn symbolic_cosize(&self) -> Result<Int, Error> {
        const OP: &str = "cosize";
        let (mut end, mut done, mut placed) = (Int::ONE, [false; MAX_LEAVES], 0);
        while placed < self.leaf_count() {
            let mut i = 0;
            while i < self.leaf_count() {
                let skip = self.shape.leaves[i].is(1) || self.stride[i].is_zero();
                if !done[i] && (skip || self.stride[i].same(Stride::Int(end))) {
                    if !skip {
                        end = tri!(end.mul(self.shape.leaves[i]));
                    }
                    done[i] = true;
                    break;
                }
                i += 1;
            }
            if i == self.leaf_count() {
                return Err(Error::NotKnown { op: OP, value: self.first_symbolic() });
            }
            placed += 1;
        }
        Ok(end)
    }

    const fn first_symbolic(&self) -> Int {
        let mut i = 0;
        while i < self.leaf_count() {
            if self.shape.leaves[i].is_symbolic() {
                return self.shape.leaves[i];
            }
            if let Stride::Int(d) = self.stride[i]
                && d.is_symbolic()
            {
                return d;
            }
            i += 1;
        }
        Int::ONE
    }

    /// The layout at launch: `symbol`, by its id, becomes `value`.
    ///
    /// # Errors
    /// Those of [`Int::bind`]; [`Error::NonPositiveShape`] where an extent becomes 0: the layout is empty then.
    pub const fn bind(&self, symbol: Symbol, value: i64) -> Result<Lay, Error> {
        let mut out = *self;
        let mut i = 0;
        while i < self.leaf_count() {
            out.shape.leaves[i] = tri!(self.shape.leaves[i].bind(symbol, value));
            out.stride[i] = match self.stride[i] {
                Stride::Int(d) => Stride::Int(tri!(d.bind(symbol, value))),
                Stride::Basis { scale, mode } => {
                    Stride::Basis { scale: tri!(scale.bind(symbol, value)), mode }
                }
                column => column,
            };
            i += 1;
        }
        tri!(out.shape.checked());
        Ok(out)
    }

    /// Whether a symbol is anywhere in it.
    pub const fn is_symbolic(&self) -> bool {
        let mut i = 0;
        while i < self.leaf_count() {
            let scale = match self.stride[i] {
                Stride::Int(d) => d,
                Stride::Basis { scale, .. } => scale,
                Stride::F2(_) => Int::ZERO,
            };
            if self.shape.leaves[i].is_symbolic() || scale.is_symbolic() {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether every integer is static.
    pub const fn is_static(&self) -> bool {
        let mut i = 0;
        while i < self.leaf_count() {
            let scale = match self.stride[i] {
                Stride::Int(d) => d,
                Stride::Basis { scale, .. } => scale,
                Stride::F2(_) => Int::ZERO,
            };
            if !self.shape.leaves[i].is_static() || !scale.is_static() {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Extent and stride of a leaf, counted from the left; past the last leaf `1:0`.
    pub const fn flat_leaf(&self, leaf: usize) -> (Int, Stride) {
        if leaf >= self.leaf_count() {
            return (Int::ONE, Stride::ZERO);
        }
        (self.shape.leaves[leaf], self.stride[leaf])
    }

    /// Mode `mode`; a leaf is its own mode 0.
    ///
    /// # Errors
    /// [`Error::ModeOutOfRange`].
    pub const fn mode(&self, mode: usize) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(out.copy(self, tri!(self.node(mode))));
        Ok(out)
    }

    pub(crate) const fn node(&self, mode: usize) -> Result<Node, Error> {
        match self.shape.profile.nth(self.root(), mode) {
            Some(node) => Ok(node),
            None => Err(Error::ModeOutOfRange { mode, rank: self.rank() }),
        }
    }

    pub(crate) const fn root(&self) -> Node {
        self.shape.profile.root()
    }

    pub(crate) const fn open(&mut self) -> Result<(), Error> {
        self.shape.profile.open()
    }

    pub(crate) const fn close(&mut self) {
        self.shape.profile.close();
    }

    pub(crate) const fn push(&mut self, extent: Int, stride: Stride) -> Result<(), Error> {
        let i = tri!(self.shape.profile.leaf());
        self.shape.leaves[i] = extent;
        self.stride[i] = stride;
        Ok(())
    }

    /// Appends a subtree of `from`.
    pub(crate) const fn copy(&mut self, from: &Lay, node: Node) -> Result<(), Error> {
        let mut i = node.begin;
        while i < node.end {
            let (opens, closes) = from.shape.profile.parens(node, i);
            tri!(self.shape.profile.open_many(opens));
            tri!(self.push(from.shape.leaves[i], from.stride[i]));
            self.shape.profile.close_many(closes);
            i += 1;
        }
        Ok(())
    }

    /// Appends flat modes as one node: a leaf where there is one, a tuple where there are more, `1:0` where there is none.
    pub(crate) const fn push_node(&mut self, from: &Lay) -> Result<(), Error> {
        let n = from.leaf_count();
        if n == 0 {
            return self.push(Int::ONE, Stride::ZERO);
        }
        if n > 1 {
            tri!(self.open());
        }
        let mut i = 0;
        while i < n {
            tri!(self.push(from.shape.leaves[i], from.stride[i]));
            i += 1;
        }
        if n > 1 {
            self.close();
        }
        Ok(())
    }
}

impl PartialEq for Lay {
    fn eq(&self, other: &Lay) -> bool {
        let n = self.leaf_count();
        self.shape == other.shape && self.stride[..n] == other.stride[..n]
    }
}

impl Eq for Lay {}
