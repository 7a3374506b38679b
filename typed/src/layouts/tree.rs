//! Trees of integers as the rules compute with them: the run-time layer's shapes and strides, side by side.

use girih_layout::{Error, Int, Lay, MAX_LEAVES, ModePath, Profile, Shape, Stride, Strides};

/// A shape and congruent strides, not yet a layout: numbers, orders and profiles are trees too, with strides of 0 and any
/// integers for extents.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Tree {
    pub(crate) shape: Shape,
    pub(crate) stride: Strides,
}

/// Edits that move modes: those of the shape and of the strides.
macro_rules! edits {
    ($($name:ident($($x:ident: $t:ty),*) $(with $tree:ident)?;)*) => {
        impl Tree {$(
            pub(crate) const fn $name(&self, $($x: $t,)* $($tree: &Tree)?) -> Result<Tree, Error> {
                let shape = tri!(self.shape.$name($($x,)* $(&$tree.shape)?));
                let stride = tri!(self.stride.$name($($x,)* $(&$tree.stride)?));
                Ok(Tree { shape, stride })
            }
        )*}
    };
}

edits! {
    mode(mode: usize);
    select(modes: &[usize]);
    take(begin: usize, end: usize);
    group(begin: usize, end: usize);
    unflatten(profile: &Profile);
    append() with mode;
    prepend() with mode;
    replace(mode: usize) with by;
}

impl Tree {
    /// The tuple of no modes.
    pub(crate) const EMPTY: Tree = match Tree::leaf(Int::ONE, Stride::ZERO).take(0, 0) {
        Ok(empty) => empty,
        Err(_) => panic!("a leaf has a part of no modes"),
    };

    /// The mode of one element, `1:0`.
    pub(crate) const UNIT: Tree = Tree::leaf(Int::ONE, Stride::ZERO);

    pub(crate) const fn leaf(extent: Int, stride: Stride) -> Tree {
        Tree { shape: Shape::leaf(extent), stride: Strides::leaf(stride) }
    }

    /// A number as an operand, or as a result.
    pub(crate) const fn number(n: Int) -> Tree {
        Tree::leaf(n, Stride::ZERO)
    }

    /// The tuple of these modes.
    pub(crate) const fn concat<const R: usize>(modes: &[Tree; R]) -> Result<Tree, Error> {
        let (mut shapes, mut strides, mut k) = ([Tree::UNIT.shape; R], [Tree::UNIT.stride; R], 0);
        while k < R {
            (shapes[k], strides[k]) = (modes[k].shape, modes[k].stride);
            k += 1;
        }
        Ok(Tree { shape: tri!(Shape::concat(&shapes)), stride: tri!(Strides::concat(&strides)) })
    }

    pub(crate) const fn of(layout: &Lay) -> Tree {
        Tree { shape: *layout.shape(), stride: layout.stride() }
    }

    /// The layout.
    ///
    /// # Errors
    /// [`Error::NonPositiveShape`] for an extent below 1.
    pub(crate) const fn lay(&self) -> Result<Lay, Error> {
        Lay::new(&self.shape, &self.stride)
    }

    pub(crate) const fn profile(&self) -> &Profile {
        self.shape.profile()
    }

    pub(crate) const fn rank(&self) -> usize {
        self.shape.rank()
    }

    pub(crate) const fn is_leaf(&self) -> bool {
        self.shape.is_leaf()
    }

    pub(crate) const fn leaf_count(&self) -> usize {
        self.shape.leaf_count()
    }

    /// The extent of leaf `i`; past the last leaf 1.
    pub(crate) const fn extent(&self, i: usize) -> Int {
        match self.shape.get(i) {
            Some(extent) => extent,
            None => Int::ONE,
        }
    }

    /// The stride of leaf `i`; past the last leaf 0.
    pub(crate) const fn step(&self, i: usize) -> Stride {
        match self.stride.get(i) {
            Some(stride) => stride,
            None => Stride::ZERO,
        }
    }

    pub(crate) const fn flatten(&self) -> Tree {
        Tree { shape: self.shape.flatten(), stride: self.stride.flatten() }
    }

    pub(crate) const fn reverse(&self) -> Tree {
        Tree { shape: self.shape.reverse(), stride: self.stride.reverse() }
    }

    pub(crate) const fn zip(&self, other: &Tree) -> Result<Tree, Error> {
        let shape = tri!(Shape::zip(&[self.shape, other.shape]));
        Ok(Tree { shape, stride: tri!(Strides::zip(&[self.stride, other.stride])) })
    }
}

/// Leaves from left to right: what a list of leaves is among types, which know neither symbols nor F2 columns.
#[derive(Clone, Copy)]
pub(crate) struct LeafList {
    extents: [Number; MAX_LEAVES],
    strides: [Number; MAX_LEAVES],
    /// The basis vectors that strides go along.
    paths: [Option<ModePath>; MAX_LEAVES],
    len: usize,
}

#[derive(Clone, Copy)]
struct Number {
    value: i64,
    fixed: bool,
}

impl Number {
    const ZERO: Number = Number { value: 0, fixed: true };

    const fn of(n: Int) -> Number {
        Number { value: n.coefficient(), fixed: n.is_static() }
    }

    const fn int(self) -> Int {
        if self.fixed { Int::fixed(self.value) } else { Int::value(self.value) }
    }
}

impl LeafList {
    pub(crate) const EMPTY: LeafList = LeafList {
        extents: [Number::ZERO; MAX_LEAVES],
        strides: [Number::ZERO; MAX_LEAVES],
        paths: [None; MAX_LEAVES],
        len: 0,
    };

    pub(crate) const fn of(tree: &Tree) -> LeafList {
        let mut out = LeafList::EMPTY;
        while out.len < tree.leaf_count() {
            out.set_extent(out.len, tree.extent(out.len));
            out.set_step(out.len, tree.step(out.len));
            out.len += 1;
        }
        out
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn extent(&self, i: usize) -> Int {
        self.extents[i].int()
    }

    pub(crate) const fn step(&self, i: usize) -> Stride {
        let scale = self.strides[i].int();
        match self.paths[i] {
            Some(mode) => Stride::Basis { scale, mode },
            None => Stride::Int(scale),
        }
    }

    pub(crate) const fn set_extent(&mut self, i: usize, extent: Int) {
        self.extents[i] = Number::of(extent);
    }

    pub(crate) const fn set_step(&mut self, i: usize, stride: Stride) {
        (self.strides[i], self.paths[i]) = match stride {
            Stride::Int(step) => (Number::of(step), None),
            Stride::Basis { scale, mode } => (Number::of(scale), Some(mode)),
            Stride::F2(_) => (Number::ZERO, None),
        };
    }

    pub(crate) const fn push(&mut self, extent: Int, stride: Stride) -> Result<(), Error> {
        if self.len == MAX_LEAVES {
            return Err(Error::Capacity { op: "the tree" });
        }
        self.set_extent(self.len, extent);
        self.set_step(self.len, stride);
        self.len += 1;
        Ok(())
    }

    /// The product of the extents.
    pub(crate) const fn size(&self) -> Result<Int, Error> {
        let (mut size, mut i) = (Int::ONE, 0);
        while i < self.len {
            size = tri!(size.mul(self.extent(i)));
            i += 1;
        }
        Ok(size)
    }

    /// The leaves as a flat tuple.
    pub(crate) const fn tuple(&self) -> Result<Tree, Error> {
        match self.len {
            0 => Ok(Tree::EMPTY),
            1..=4 => self.tuple_of::<4>(),
            _ => self.tuple_of::<MAX_LEAVES>(),
        }
    }

    /// [`LeafList::tuple`] by way of `N` integers, which are large.
    const fn tuple_of<const N: usize>(&self) -> Result<Tree, Error> {
        let (mut extents, mut strides, mut i) = ([Int::ONE; N], [Stride::ZERO; N], 0);
        while i < self.len {
            (extents[i], strides[i]) = (self.extent(i), self.step(i));
            i += 1;
        }
        let shape = tri!(Shape::flat(extents.split_at(i).0));
        Ok(Tree { shape, stride: tri!(Strides::flat(strides.split_at(i).0)) })
    }

    /// The leaves as one mode: a single leaf stays a leaf, several become a tuple, and none become `1:0`.
    pub(crate) const fn wrapped(&self) -> Result<Tree, Error> {
        match self.len {
            0 => Ok(Tree::UNIT),
            1 => Ok(Tree::leaf(self.extent(0), self.step(0))),
            _ => self.tuple(),
        }
    }

    /// The leaves in the place of those of a tree.
    pub(crate) const fn under(&self, profile: &Profile) -> Result<Tree, Error> {
        tri!(self.tuple()).unflatten(profile)
    }
}
