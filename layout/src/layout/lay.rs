//! The run-time layout: its construction and its properties.

use crate::leaf::int::FACTORS;
use crate::leaf::step::Step;
use crate::tuple::profile::Node;
use crate::tuple::store::{Leaves, same};
use crate::{Error, Int, IntTuple, Shape, Stride, Strides, Symbol};

/// A layout: a shape and a congruent tree of strides, as a function from coordinates to indices.
///
/// A `Lay` is a plain value of fixed size; every operation returns a new layout. `Display` prints
/// `((2,2),4):((1,8),2)`, and with `{:#}` static integers carry CuTe's mark, `_8:_1`. Equality is of shape and stride,
/// leaf by leaf; [`Lay::equivalent`] compares functions.
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
    /// The extents, and the symbols of the extents and of the strides.
    pub(crate) shape: Shape,
    pub(crate) steps: Leaves,
}

impl Lay {
    /// The empty layout, which operations write their results into. As a finished layout it has rank 0, `():()`.
    pub(crate) const EMPTY: Lay = Lay { shape: Shape::EMPTY, steps: Leaves::ZEROS };

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
        tri!(shape.checked());
        let mut out = Lay { shape: *shape, steps: Leaves::ZEROS };
        tri!(out.take_steps(&stride.leaves, &stride.symbols));
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
        let mut out = Lay { shape: Shape::leaf(extent), steps: Leaves::ZEROS };
        let _fits = out.set_step(0, stride); // a leaf has few symbols
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
        Strides { leaves: self.steps, ..self.shape.retyped() }
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

    /// Whether the layout is a single leaf, no tuple.
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
        // The layout is written anew, so that bound symbols take no room.
        let mut out = Lay { shape: Shape::zeros(self.shape.profile), steps: Leaves::ZEROS };
        let mut i = 0;
        while i < self.leaf_count() {
            tri!(out.set_extent(i, tri!(self.extent(i).bind(symbol, value))));
            let step = match self.step(i) {
                Stride::Int(d) => Stride::Int(tri!(d.bind(symbol, value))),
                Stride::Basis { scale, mode } => {
                    Stride::Basis { scale: tri!(scale.bind(symbol, value)), mode }
                }
                column => column,
            };
            tri!(out.set_step(i, step));
            i += 1;
        }
        tri!(out.shape.checked());
        Ok(out)
    }

    /// The same layout with more facts about a symbol, see [`Int::assume`].
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
            tri!(out.set_extent(i, tri!(self.extent(i).assume(symbol))));
            let step = match self.step(i) {
                Stride::Int(d) => Stride::Int(tri!(d.assume(symbol))),
                Stride::Basis { scale, mode } => Stride::Basis { scale: tri!(scale.assume(symbol)), mode },
                column => column,
            };
            tri!(out.set_step(i, step));
            i += 1;
        }
        Ok(out)
    }

    /// Whether any extent or stride has a symbol.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("(s0,8):(8,1)").is_symbolic());
    /// ```
    pub const fn is_symbolic(&self) -> bool {
        let mut i = 0;
        while i < self.leaf_count() {
            if self.shape.leaves.get(i).is_symbolic() || self.steps.get(i).is_symbolic() {
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
            if self.steps.get(i).is_column() {
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
            if !self.shape.leaves.get(i).is_static() || !self.steps.get(i).is_static() {
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
        (self.extent(leaf), self.step(leaf))
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

    /// The extent of leaf `i`.
    #[inline]
    pub(crate) const fn extent(&self, i: usize) -> Int {
        self.extent_at(i)
    }

    /// The stride of leaf `i`.
    #[inline]
    pub(crate) const fn step(&self, i: usize) -> Stride {
        self.step_at::<FACTORS>(i).stride()
    }

    /// Whether no leaf has a symbol: then there is no need of room for factors, and the operations compute with
    /// [`KNOWN`](crate::leaf::int::KNOWN) integers.
    #[inline]
    pub(crate) const fn is_known(&self) -> bool {
        self.shape.symbols.is_empty()
    }

    /// The extent of leaf `i`. If `F` is [`KNOWN`](crate::leaf::int::KNOWN), the layout must be one that [`Lay::is_known`].
    #[inline]
    pub(crate) const fn extent_at<const F: usize>(&self, i: usize) -> Int<F> {
        self.shape.leaves.int(i, &self.shape.symbols)
    }

    /// The stride of leaf `i`, as [`Lay::extent_at`].
    #[inline]
    pub(crate) const fn step_at<const F: usize>(&self, i: usize) -> Step<F> {
        self.steps.step(i, &self.shape.symbols)
    }

    /// Extent and stride of leaf `i`, if both are known integers.
    #[inline]
    pub(crate) const fn known_leaf(&self, i: usize) -> Option<(i64, i64)> {
        self.shape.leaves.known_beside(&self.steps, i)
    }

    /// Whether the extent of leaf `i` is known to be 1.
    #[inline]
    pub(crate) const fn is_narrow(&self, i: usize) -> bool {
        matches!(self.shape.leaves.known(i), Some(1))
    }
}

impl PartialEq for Lay {
    fn eq(&self, other: &Lay) -> bool {
        let (a, b) = (&self.shape.symbols, &other.shape.symbols);
        self.shape == other.shape
            && (0..self.leaf_count()).all(|i| same((self.steps.get(i), a), (other.steps.get(i), b)))
    }
}

impl Eq for Lay {}

impl core::hash::Hash for Lay {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.shape.hash(state);
        self.steps.coefs[..self.leaf_count()].hash(state);
    }
}
