//! The run-time layout: construction and questions about it.

use crate::profile::Node;
use crate::{Error, Int, IntTuple, MAX_LEAVES, Shape, Stride, Strides, Symbol, Tuple};

/// A layout: a shape and a congruent tree of strides, as a function from coordinates to indices.
///
/// A plain value of fixed size; every operation returns a new one. `Display` prints `((2,2),4):((1,8),2)`, and with `{:#}` static integers
/// carry CuTe's mark, `_8:_1`. Equality is of shape and stride, leaf by leaf; [`Lay::equivalent`] compares functions.
///
/// ```
/// use girih_layout::lay;
/// let row_major = lay!("(4,(2,3)):(6,(3,1))");
/// assert_eq!(row_major.at(1)?, 6);
/// assert_eq!((row_major.rank(), row_major.size()?.get()), (2, Some(24)));
/// # Ok::<(), girih_layout::Error>(())
/// ```
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
    /// ```
    /// use girih_layout::{Lay, Shape, Strides, lay};
    /// assert_eq!(Lay::new(&Shape::parse("(4,2)")?, &Strides::parse("(1,4)")?)?, lay!("(4,2):(1,4)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
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
    /// ```
    /// use girih_layout::{Int, Lay, Stride, lay};
    /// assert_eq!(Lay::leaf(Int::fixed(4), Stride::from(2))?, lay!("4:2"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
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

    /// The shape.
    ///
    /// ```
    /// use girih_layout::{Shape, lay};
    /// assert_eq!(lay!("(4,2):(1,4)").shape(), &Shape::parse("(4,2)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The strides, congruent to the shape.
    ///
    /// ```
    /// use girih_layout::{Strides, lay};
    /// assert_eq!(lay!("(4,2):(1,4)").stride(), Strides::parse("(1,4)")?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn stride(&self) -> Strides {
        Tuple { profile: self.shape.profile, leaves: self.stride }
    }

    /// The number of modes: 1 for a leaf.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").rank(), 2);
    /// ```
    pub const fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// How deep the tree is: 0 for a leaf.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").depth(), 2);
    /// ```
    pub const fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// The number of leaves.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").leaf_count(), 3);
    /// ```
    pub const fn leaf_count(&self) -> usize {
        self.shape.leaf_count()
    }

    /// Whether it is a single leaf, no tuple.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("4:1").is_leaf() && !lay!("(4):(1)").is_leaf());
    /// ```
    pub const fn is_leaf(&self) -> bool {
        self.shape.is_leaf()
    }

    /// The layout at launch: `symbol`, by its id, becomes `value`.
    ///
    /// ```
    /// use girih_layout::{Symbol, lay};
    /// const M: Symbol = Symbol::new(0);
    /// assert_eq!(lay!("(s0,8):(1,s0)").bind(M, 100)?, lay!("(100,8):(1,100)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
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

    /// The same layout with what else is known of a symbol, see [`Int::assume`].
    ///
    /// ```
    /// use girih_layout::{Symbol, lay};
    /// let a = lay!("(s0,8):(1,s0)").assume(Symbol::new(0).at_least(16))?;
    /// assert_eq!(a.composition(&lay!("16:1"))?, lay!("16:1"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Int::assume`].
    pub const fn assume(&self, symbol: Symbol) -> Result<Lay, Error> {
        let (mut out, mut i) = (*self, 0);
        while i < self.leaf_count() {
            out.shape.leaves[i] = tri!(self.shape.leaves[i].assume(symbol));
            out.stride[i] = match self.stride[i] {
                Stride::Int(d) => Stride::Int(tri!(d.assume(symbol))),
                Stride::Basis { scale, mode } => Stride::Basis { scale: tri!(scale.assume(symbol)), mode },
                column => column,
            };
            i += 1;
        }
        Ok(out)
    }

    /// Whether a symbol is anywhere in it.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(s0,8):(8,1)").is_symbolic());
    /// ```
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

    /// Whether a leaf has an F2 column.
    pub(crate) const fn has_columns(&self) -> bool {
        self.has_columns_in(self.root())
    }

    pub(crate) const fn has_columns_in(&self, node: Node) -> bool {
        let mut i = node.begin;
        while i < node.end {
            if matches!(self.stride[i], Stride::F2(_)) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether every integer is static.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(_4,_2):(_1,_4)").is_static() && !lay!("(4,2):(1,4)").is_static());
    /// ```
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
    ///
    /// ```
    /// use girih_layout::{Int, Stride, lay};
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").flat_leaf(2), (Int::fixed(3), Stride::from(1)));
    /// ```
    pub const fn flat_leaf(&self, leaf: usize) -> (Int, Stride) {
        if leaf >= self.leaf_count() {
            return (Int::ONE, Stride::ZERO);
        }
        (self.shape.leaves[leaf], self.stride[leaf])
    }

    /// Mode `mode`; a leaf is its own mode 0.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,(2,3)):(6,(3,1))").mode(1)?, lay!("(2,3):(3,1)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
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

    /// Makes one node of the leaves that were pushed from `first` on, flat: a leaf of one, a tuple of more, `1:0` of none.
    pub(crate) const fn wrap_from(&mut self, first: usize) -> Result<(), Error> {
        match self.leaf_count() - first {
            0 => self.push(Int::ONE, Stride::ZERO),
            1 => Ok(()),
            _ => self.shape.profile.wrap_from(first),
        }
    }
}

impl PartialEq for Lay {
    fn eq(&self, other: &Lay) -> bool {
        let n = self.leaf_count();
        self.shape == other.shape && self.stride[..n] == other.stride[..n]
    }
}

impl Eq for Lay {}

impl core::hash::Hash for Lay {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.shape.hash(state);
        self.stride[..self.leaf_count()].hash(state);
    }
}
