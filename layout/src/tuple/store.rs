//! How trees store their leaves: each leaf has a number, and references to the symbolic factors of the whole tree,
//! which are held once.

use crate::leaf::int::FACTORS;
use crate::leaf::step::{COLUMN, KIND, Step};
use crate::leaf::symbol::{Packed, learn};
use crate::{Crd, Error, Factor, Int, MAX_LEAVES, ModePath, Symbol};

/// The most different factors (a symbol, or a symbol divided by a number) in one tree.
pub(crate) const MAX_SYMBOLS: usize = 12;

const PLACES: u16 = 0xfff;
const FIXED: u16 = 1 << 12;
/// The kind of `_` in a coordinate; the kinds of strides are in `step.rs`.
const ALL: u16 = KIND;

const _: () = assert!(FACTORS * 4 == PLACES.count_ones() as usize && MAX_SYMBOLS < 16);

/// A leaf as a tree stores it. Its meaning depends on the [`Symbols`] of that tree.
#[derive(Clone, Copy)]
pub(crate) struct Small {
    coef: i64,
    /// Three places of factors, 4 bits each; the mark of a static integer; the kind.
    tag: u16,
    /// The mode of a basis vector; the root for other leaves.
    mode: ModePath,
}

/// The leaves of a tree.
#[derive(Clone, Copy)]
pub(crate) struct Leaves {
    pub(crate) coefs: [i64; MAX_LEAVES],
    tags: [u16; MAX_LEAVES],
    modes: [ModePath; MAX_LEAVES],
}

/// The factors of a tree, each once.
#[derive(Clone, Copy)]
pub(crate) struct Symbols<const N: usize> {
    len: u8,
    factors: [Packed; N],
}

impl Small {
    /// Static 0.
    pub(crate) const ZERO: Small = Small::number(0, true);
    /// Static 1.
    pub(crate) const ONE: Small = Small::number(1, true);

    /// A known integer, or a position of a coordinate.
    pub(crate) const fn number(coef: i64, fixed: bool) -> Small {
        Small { coef, tag: if fixed { FIXED } else { 0 }, mode: ModePath::ROOT }
    }

    pub(crate) const fn of_crd(crd: Crd) -> Small {
        match crd {
            Crd::At(position) => Small::number(position, false),
            Crd::All => Small { coef: 0, tag: ALL, mode: ModePath::ROOT },
        }
    }

    pub(crate) const fn crd(self) -> Crd {
        if self.tag & KIND == ALL { Crd::All } else { Crd::At(self.coef) }
    }

    #[inline]
    pub(crate) const fn is_symbolic(self) -> bool {
        self.tag & PLACES != 0
    }

    #[inline]
    pub(crate) const fn is_column(self) -> bool {
        self.tag & KIND == COLUMN
    }

    /// Whether the leaf's number is static; an F2 column always is.
    pub(crate) const fn is_static(self) -> bool {
        self.tag & FIXED != 0 || self.tag & KIND == COLUMN
    }

    const fn place(self, factor: usize) -> usize {
        (self.tag >> (4 * factor) & 15) as usize
    }
}

impl Leaves {
    pub(crate) const ZEROS: Leaves =
        Leaves { coefs: [0; MAX_LEAVES], tags: [0; MAX_LEAVES], modes: [ModePath::ROOT; MAX_LEAVES] };

    #[inline]
    pub(crate) const fn get(&self, i: usize) -> Small {
        Small { coef: self.coefs[i], tag: self.tags[i], mode: self.modes[i] }
    }

    #[inline]
    pub(crate) const fn set(&mut self, i: usize, leaf: Small) {
        (self.coefs[i], self.tags[i], self.modes[i]) = (leaf.coef, leaf.tag, leaf.mode);
    }

    /// The number at a leaf that is a known integer.
    #[inline]
    pub(crate) const fn known(&self, i: usize) -> Option<i64> {
        if self.tags[i] & (PLACES | KIND) == 0 { Some(self.coefs[i]) } else { None }
    }

    /// [`Leaves::known`] of the same leaf in two trees.
    #[inline]
    pub(crate) const fn known_beside(&self, other: &Leaves, i: usize) -> Option<(i64, i64)> {
        let known = (self.tags[i] | other.tags[i]) & (PLACES | KIND) == 0;
        if known { Some((self.coefs[i], other.coefs[i])) } else { None }
    }

    /// The factors that the first leaves refer to, as a mask with a bit for each place.
    pub(crate) const fn used(&self, leaves: usize) -> u16 {
        let (mut used, mut i) = (0, 0);
        while i < leaves {
            let mut k = 0;
            while k < FACTORS {
                used |= 1 << self.get(i).place(k);
                k += 1;
            }
            i += 1;
        }
        used
    }

    #[inline]
    pub(crate) const fn int<const F: usize, const N: usize>(&self, i: usize, symbols: &Symbols<N>) -> Int<F> {
        let mut out = Int::number(self.coefs[i], self.tags[i] & FIXED != 0);
        if F > 0 && self.tags[i] & PLACES != 0 {
            out.factors = symbols.read(self.tags[i]);
        }
        out
    }

    /// The factors of the first leaves.
    pub(crate) fn factors<const N: usize>(
        &self,
        leaves: usize,
        symbols: &Symbols<N>,
    ) -> impl Iterator<Item = Factor> + Clone {
        (0..leaves).flat_map(|i| self.int::<FACTORS, N>(i, symbols).factors()).flatten()
    }

    #[inline]
    pub(crate) const fn step<const F: usize, const N: usize>(
        &self,
        i: usize,
        symbols: &Symbols<N>,
    ) -> Step<F> {
        Step { scale: self.int(i, symbols), kind: self.tags[i] & KIND, mode: self.modes[i] }
    }
}

impl<const N: usize> Symbols<N> {
    pub(crate) const EMPTY: Symbols<N> = Symbols { len: 0, factors: [Packed::NONE; N] };

    /// Whether no leaf refers to a factor.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds what is known of a symbol. Returns whether there is such a symbol.
    pub(crate) const fn learn(&mut self, symbol: Symbol) -> bool {
        learn(self.factors.split_at_mut(self.len as usize).0, symbol)
    }

    pub(crate) const fn forget(&mut self) {
        self.len = 0;
    }

    const fn read<const F: usize>(&self, tag: u16) -> [Packed; F] {
        let mut out = [Packed::NONE; F];
        let mut k = 0;
        while k < F && k < FACTORS {
            let place = (tag >> (4 * k) & 15) as usize;
            if place == 0 {
                break;
            }
            out[k] = self.factors[place - 1];
            k += 1;
        }
        out
    }

    /// Stores the factors of an integer and returns the integer as a leaf: `None` if there is no room. The places that
    /// `used` has a bit for are not overwritten.
    #[inline]
    pub(crate) const fn write<const F: usize>(&mut self, int: &Int<F>, used: u16) -> Option<Small> {
        if !int.is_symbolic() {
            return Some(Small::number(int.coef, int.is_static()));
        }
        self.write_factors(int.coef, &int.factors, used)
    }

    const fn write_factors<const F: usize>(
        &mut self,
        coef: i64,
        factors: &[Packed; F],
        mut used: u16,
    ) -> Option<Small> {
        let (mut tag, mut k) = (0, 0);
        while k < F && factors[k].is_some() {
            let Some(place) = self.place(&factors[k], used) else { return None };
            used |= 1 << place;
            tag |= (place as u16) << (4 * k);
            k += 1;
        }
        Some(Small { coef, tag, mode: ModePath::ROOT })
    }

    /// Stores the factors of a stride, as [`Symbols::write`] does for an integer.
    #[inline]
    pub(crate) const fn write_step<const F: usize>(&mut self, step: &Step<F>, used: u16) -> Option<Small> {
        match self.write(&step.scale, used) {
            Some(leaf) => Some(Small { tag: leaf.tag | step.kind, mode: step.mode, ..leaf }),
            None => None,
        }
    }

    /// Stores the factors of a leaf of another tree, as [`Symbols::write`] does for an integer.
    #[inline]
    pub(crate) const fn take<const M: usize>(
        &mut self,
        leaf: Small,
        from: &Symbols<M>,
        used: u16,
    ) -> Option<Small> {
        if !leaf.is_symbolic() {
            return Some(leaf);
        }
        match self.write_factors(leaf.coef, &from.read::<FACTORS>(leaf.tag), used) {
            Some(new) => Some(Small { tag: new.tag | leaf.tag & KIND, ..leaf }),
            None => None,
        }
    }

    /// The place of a factor, counted from 1; a new factor is stored. All factors of a symbol have the same facts,
    /// which are all that is known of the symbol.
    const fn place(&mut self, factor: &Packed, used: u16) -> Option<usize> {
        let (mut place, mut facts, mut i) = (0, factor.facts, 0);
        let mut differ = false;
        while i < self.len as usize {
            let held = &self.factors[i];
            if held.key == factor.key {
                place = i + 1;
            }
            if held.id() == factor.id() && !held.facts.same(&facts) {
                (facts, differ) = (facts.and(held.facts), true);
            }
            i += 1;
        }
        if place == 0 {
            place = self.free(used);
            if place == 0 {
                return None;
            }
            self.factors[place - 1] = Packed { key: factor.key, facts };
        }
        if differ {
            self.spread(factor.id(), facts);
        }
        Some(place)
    }

    /// A place that nothing refers to, 0 where there is none.
    const fn free(&mut self, used: u16) -> usize {
        if (self.len as usize) < N {
            self.len += 1;
            return self.len as usize;
        }
        let free = (used | 1).trailing_ones() as usize;
        if free <= N { free } else { 0 }
    }

    const fn spread(&mut self, id: u8, facts: crate::leaf::symbol::Facts) {
        let mut i = 0;
        while i < self.len as usize {
            if self.factors[i].id() == id {
                self.factors[i].facts = facts;
            }
            i += 1;
        }
    }
}

/// The refusal of one more factor than a tree holds.
pub(crate) const FULL: Error = Error::Capacity { op: "the symbols of the tree" };

/// Whether two leaves of two trees are the same; the static mark and the facts of symbols don't count.
pub(crate) const fn same<const N: usize, const M: usize>(
    (a, of): (Small, &Symbols<N>),
    (b, from): (Small, &Symbols<M>),
) -> bool {
    if a.coef != b.coef || a.tag & KIND != b.tag & KIND || !a.mode.same(b.mode) {
        return false;
    }
    if !(a.is_symbolic() || b.is_symbolic()) {
        return true;
    }
    let (a, b): ([Packed; FACTORS], [Packed; FACTORS]) = (of.read(a.tag), from.read(b.tag));
    let mut i = 0;
    while i < FACTORS && a[i].key == b[i].key {
        i += 1;
    }
    i == FACTORS
}
