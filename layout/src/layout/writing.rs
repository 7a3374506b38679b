//! Construction of layouts by operations: leaf by leaf or subtree by subtree, with the symbols of the leaves.

use crate::leaf::step::Step;
use crate::tuple::profile::{Node, Profile};
use crate::tuple::store::{FULL, Leaves, MAX_SYMBOLS, Small, Symbols};
use crate::{Error, Factor, Int, Lay, Stride, Symbol};

impl Lay {
    pub(crate) const fn open(&mut self) -> Result<(), Error> {
        self.shape.profile.open()
    }

    pub(crate) const fn close(&mut self) {
        self.shape.profile.close();
    }

    /// Adds the facts of a symbol. Returns whether the layout contains the symbol.
    pub(crate) const fn learn(&mut self, symbol: Symbol) -> bool {
        self.shape.learn(symbol)
    }

    /// The factors of extents and strides.
    pub(crate) fn factors(&self) -> impl Iterator<Item = Factor> + Clone {
        let (leaves, symbols) = (self.leaf_count(), &self.shape.symbols);
        self.shape.leaves.factors(leaves, symbols).chain(self.steps.factors(leaves, symbols))
    }

    /// The factors that the leaves refer to, as a bit mask.
    const fn used(&self) -> u16 {
        self.shape.leaves.used(self.leaf_count()) | self.steps.used(self.leaf_count())
    }

    #[inline]
    pub(crate) const fn set_extent<const F: usize>(&mut self, i: usize, extent: Int<F>) -> Result<(), Error> {
        let mut kept = self.shape.symbols.write(&extent, u16::MAX);
        if kept.is_none() {
            self.shape.leaves.set(i, Small::number(0, false));
            kept = self.shape.symbols.write(&extent, self.used());
        }
        let Some(kept) = kept else { return Err(FULL) };
        self.shape.leaves.set(i, kept);
        Ok(())
    }

    pub(crate) const fn set_step(&mut self, i: usize, stride: Stride) -> Result<(), Error> {
        self.set_step_at(i, stride.step())
    }

    #[inline]
    pub(crate) const fn set_step_at<const F: usize>(&mut self, i: usize, step: Step<F>) -> Result<(), Error> {
        let mut kept = self.shape.symbols.write_step(&step, u16::MAX);
        if kept.is_none() {
            self.steps.set(i, Small::number(0, false));
            kept = self.shape.symbols.write_step(&step, self.used());
        }
        let Some(kept) = kept else { return Err(FULL) };
        self.steps.set(i, kept);
        Ok(())
    }

    pub(crate) const fn push(&mut self, extent: Int, stride: Stride) -> Result<(), Error> {
        self.push_leaf(extent, stride.step())
    }

    /// Pushes a leaf.
    #[inline]
    pub(crate) const fn push_leaf<const F: usize>(
        &mut self,
        extent: Int<F>,
        step: Step<F>,
    ) -> Result<(), Error> {
        let i = tri!(self.push_zeros());
        tri!(self.set_extent(i, extent));
        self.set_step_at(i, step)
    }

    const fn push_zeros(&mut self) -> Result<usize, Error> {
        let i = tri!(self.shape.profile.leaf());
        self.shape.leaves.set(i, Small::number(0, false));
        self.steps.set(i, Small::number(0, false));
        Ok(i)
    }

    /// Overwrites leaf `to` with leaf `from`.
    pub(crate) const fn copy_leaf(&mut self, to: usize, from: usize) {
        self.shape.leaves.set(to, self.shape.leaves.get(from));
        self.steps.set(to, self.steps.get(from));
    }

    /// Makes the layout empty again. The old leaves stay in place, but are overwritten before they are read.
    pub(crate) const fn restart(&mut self) {
        self.shape.profile = Profile::EMPTY;
        self.shape.symbols.forget();
    }

    /// Sets all strides to those of another tree, with that tree's symbols.
    pub(crate) const fn take_steps(
        &mut self,
        steps: &Leaves,
        symbols: &Symbols<MAX_SYMBOLS>,
    ) -> Result<(), Error> {
        let mut i = 0;
        while i < self.leaf_count() {
            tri!(self.take_leaf(i, None, steps.get(i), symbols));
            i += 1;
        }
        Ok(())
    }

    /// Sets leaf `i` to a leaf of another tree, with that tree's symbols `of`; without an `extent` only the stride.
    #[inline]
    const fn take_leaf(
        &mut self,
        i: usize,
        extent: Option<Small>,
        step: Small,
        of: &Symbols<MAX_SYMBOLS>,
    ) -> Result<(), Error> {
        if let Some(extent) = extent {
            let kept = match self.shape.symbols.take(extent, of, u16::MAX) {
                None => self.shape.symbols.take(extent, of, self.used()),
                kept => kept,
            };
            let Some(kept) = kept else { return Err(FULL) };
            self.shape.leaves.set(i, kept);
        }
        let kept = match self.shape.symbols.take(step, of, u16::MAX) {
            None => self.shape.symbols.take(step, of, self.used()),
            kept => kept,
        };
        let Some(kept) = kept else { return Err(FULL) };
        self.steps.set(i, kept);
        Ok(())
    }

    /// Appends a subtree of `from`.
    pub(crate) const fn copy(&mut self, from: &Lay, node: Node) -> Result<(), Error> {
        let first = self.leaf_count();
        tri!(self.shape.profile.graft(&from.shape.profile, node));
        let mut i = node.begin;
        while i < node.end {
            let (to, extent, step) = (first + i - node.begin, from.shape.leaves.get(i), from.steps.get(i));
            self.shape.leaves.set(to, if extent.is_symbolic() { Small::ZERO } else { extent });
            self.steps.set(to, if step.is_symbolic() { Small::ZERO } else { step });
            i += 1;
        }
        if from.is_known() {
            return Ok(());
        }
        i = node.begin;
        while i < node.end {
            let (to, extent, step) = (first + i - node.begin, from.shape.leaves.get(i), from.steps.get(i));
            if extent.is_symbolic() || step.is_symbolic() {
                tri!(self.take_leaf(to, Some(extent), step, &from.shape.symbols));
            }
            i += 1;
        }
        Ok(())
    }

    /// A subtree as a layout: this layout if the subtree is the whole tree, else a copy in `room`.
    pub(crate) const fn subtree<'a>(&'a self, node: Node, room: &'a mut Lay) -> Result<&'a Lay, Error> {
        if self.root().same(node) {
            return Ok(self);
        }
        tri!(room.copy(self, node));
        Ok(room)
    }

    /// Makes one node of the leaves that were pushed from `first` on, flat: a single leaf stays a leaf, several become
    /// a tuple, and none become `1:0`.
    pub(crate) const fn wrap_from(&mut self, first: usize) -> Result<(), Error> {
        match self.leaf_count() - first {
            0 => self.push(Int::ONE, Stride::ZERO),
            1 => Ok(()),
            _ => self.shape.profile.wrap_from(first),
        }
    }
}
