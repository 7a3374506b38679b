//! Composition: `R(c) = A(B(c))` (CuTe guide, 02 Layout algebra, Composition).
//!
//! A leaf `s:d` of the right-hand side walks the modes of the coalesced left-hand side. A mode of extent `m` is
//! * skipped where `m` divides `d`: the leaf steps over it, with `d/m` steps in what follows;
//! * taken with extent `s` and done, where the walk ends inside it: `(s-1)*d < m`;
//! * taken with extent `m/d` where `d` divides `m` and `m/d` divides `s`; what is left of the leaf goes on with step 1.
//!
//! The last mode takes the rest of the leaf, past the mode's extent too. If no rule applies, the leaf's values are
//! enumerated, and a layout is found if any has them.
//!
//! Several leaves compose one by one only if their digits don't carry into one another: for every mode end `P` on the left but the last,
//! the sum over the leaves of the greatest `x*d mod P` stays below `P`. Neither CuTe nor "the right-hand side is injective" gives that:
//! `(4,2):(1,10)` with `(2,2):(2,3)` has the index 11 at `(1,1)`, mode by mode it would be 5. Where the condition fails, the composition is
//! compared with its definition point by point and refused with the first difference.

use crate::carry::{by_definition, composes_by_leaf};
use crate::coalesce::{coalesce_into, is_coalesced, single_step};
use crate::compose_columns::compose_columns;
use crate::definition::Function;
use crate::int::{FACTORS, KNOWN};
use crate::profile::Node;
use crate::space::Space;
use crate::step::Step;
use crate::tiler::Part;
use crate::{EXACT_LIMIT, Error, Int, Lay, Tile, Tiler, Tiles, ask};

const OP: &str = "composition";

impl Lay {
    /// `R(c) = self(right(c))` for every coordinate of `right`; the result's shape refines the shape of `right`.
    ///
    /// Where `right` reaches past the size of `self`, the last leaf of `self` goes on.
    ///
    /// ```
    /// use girih_layout::lay;
    /// let r = lay!("(10,2):(16,4)").composition(&lay!("(5,4):(1,5)"))?;
    /// assert_eq!(r, lay!("(5,(2,2)):(16,(80,4))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoLayout`] where a leaf's values are those of no layout, with a witness ([`Error::StrideDivisibility`] and
    /// [`Error::ShapeDivisibility`] where there are too many to look at); [`Error::Carry`] where the leaves interact, with a witness; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides;
    /// [`Error::NonPositiveStride`] for a negative right-hand stride unless `self` is a single mode; [`Error::NoLayout`] where F2 columns on the
    /// right come out as neither integers nor columns; [`Error::Unsupported`] for a right-hand side of basis strides; [`Error::Capacity`],
    /// [`Error::Overflow`].
    pub const fn composition(&self, right: &Lay) -> Result<Lay, Error> {
        written!(|out| compose_into(self, self.root(), right, right.root(), out))
    }

    /// Composes mode `i` with tile `i`; modes without a tile are dropped, as in CuTe.
    ///
    /// ```
    /// use girih_layout::{Tile, lay};
    /// let a = lay!("(12,(4,8)):(59,(13,1))");
    /// let r = a.composition_by(&[Tile::Lay(lay!("3:1")), Tile::Lay(lay!("8:1"))])?;
    /// assert_eq!(r, lay!("(3,(4,2)):(59,(13,1))"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Lay::composition`], [`Error::RankMismatch`] for more tiles than modes.
    pub const fn composition_by(&self, tiles: &[Tile]) -> Result<Lay, Error> {
        self.compose_tiles(&tri!(Tiles::new(tiles)))
    }

    /// [`Lay::composition`] with a layout, [`Lay::composition_by`] with tiles.
    ///
    /// ```
    /// use girih_layout::{lay, tiler};
    /// let a = lay!("(8,6):(1,8)");
    /// assert_eq!(a.compose(&tiler!("<4,2>"))?, lay!("(4,2):(1,8)"));
    /// assert_eq!(a.compose(&tiler!("4:8"))?, lay!("4:8"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the two operations.
    pub const fn compose(&self, tiler: &Tiler) -> Result<Lay, Error> {
        match tiler {
            Tiler::Lay(right) => self.composition(right),
            Tiler::Modes(tiles) => self.compose_tiles(tiles),
        }
    }

    const fn compose_tiles(&self, tiles: &Tiles) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(self.compose_tiles_into(self.root(), tiles, tiles.root(), 1, &mut out));
        tri!(self.require_added(OP, tiles, &out));
        Ok(out)
    }

    const fn compose_tiles_into(
        &self,
        n: Node,
        tiles: &Tiles,
        t: Node,
        depth: u8,
        out: &mut Lay,
    ) -> Result<(), Error> {
        tri!(self.require_tiles(OP, n, tiles, t));
        tri!(out.open());
        let mut k = 0;
        while k < tiles.count(t) {
            let mode = tri!(self.part(n, k));
            match tiles.part(t, k, depth) {
                Part::All => tri!(out.copy(self, mode)),
                Part::Lay(tile) => tri!(compose_into(self, mode, tiles.layouts(), tile, out)),
                Part::Modes(inner) => tri!(self.compose_tiles_into(mode, tiles, inner, depth + 1, out)),
            }
            k += 1;
        }
        out.close();
        Ok(())
    }

    /// Refuses tiles of F2 columns that would join modes by exclusive or where this layout adds them up.
    pub(crate) const fn require_added(
        &self,
        op: &'static str,
        tiles: &Tiles,
        out: &Lay,
    ) -> Result<(), Error> {
        if !tiles.layouts().has_columns() {
            return Ok(());
        }
        // Where this layout itself joins its modes by exclusive or, only the integers have to stay apart from the
        // columns.
        if !self.has_columns() {
            return out.require_modes_apart(op);
        }
        match out.parts(op) {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Refuses more tiles in the bracket `t` than the mode `n` has modes.
    pub(crate) const fn require_tiles(
        &self,
        op: &'static str,
        n: Node,
        tiles: &Tiles,
        t: Node,
    ) -> Result<(), Error> {
        let (rank, other) = (self.shape.profile.rank_of(n), tiles.count(t));
        if other > rank { Err(Error::RankMismatch { op, rank, other }) } else { Ok(()) }
    }
}

/// Appends the composition of two subtrees to `out`.
pub(crate) const fn compose_into(
    left: &Lay,
    l: Node,
    right: &Lay,
    r: Node,
    out: &mut Lay,
) -> Result<(), Error> {
    if left.has_columns_in(l) || right.has_columns_in(r) {
        return compose_columns(left, l, right, r, out);
    }
    if left.is_known() && right.is_known() {
        return compose_integers::<KNOWN>(left, l, right, r, out);
    }
    compose_integers::<FACTORS>(left, l, right, r, out)
}

/// [`compose_into`] with a right-hand side of integers.
pub(crate) const fn compose_integers<const F: usize>(
    left: &Lay,
    l: Node,
    right: &Lay,
    r: Node,
    out: &mut Lay,
) -> Result<(), Error> {
    if let Some(step) = single_step::<F>(left, l) {
        return scale_into(step, right, r, out);
    }
    let mut coalesced;
    let a = if l.end == left.leaf_count() && l.begin == 0 && is_coalesced::<F>(left, l) {
        left
    } else {
        coalesced = Lay::EMPTY;
        coalesce_into::<F>(left, l, true, &mut coalesced);
        &coalesced
    };
    let mut i = r.begin;
    while i < r.end {
        let (opens, closes) = right.shape.profile.parens(r, i);
        tri!(out.shape.profile.open_many(opens));
        let (begin, stride) = (out.leaf_count(), tri!(right.step_at::<F>(i).require_int(OP)));
        tri!(compose_leaf(a, right.extent_at(i), stride, out));
        tri!(out.wrap_from(begin));
        out.shape.profile.close_many(closes);
        i += 1;
    }
    if composes_by_leaf::<F>(a, right, r) { Ok(()) } else { by_definition(a, right, r) }
}

/// Appends a subtree with its strides in units of `step`: the composition with a single mode.
const fn scale_into<const F: usize>(step: Step<F>, right: &Lay, r: Node, out: &mut Lay) -> Result<(), Error> {
    let mut i = r.begin;
    while i < r.end {
        let (opens, closes) = right.shape.profile.parens(r, i);
        tri!(out.shape.profile.open_many(opens));
        let (s, d) = (right.extent_at::<F>(i), tri!(right.step_at(i).require_int(OP)));
        if s.is(1) {
            tri!(out.push_leaf::<F>(Int::number(1, true), Step::ZERO));
        } else {
            tri!(out.push_leaf(s, if d.is(0) { Step::ZERO } else { tri!(step.scaled(d)) }));
        }
        out.shape.profile.close_many(closes);
        i += 1;
    }
    Ok(())
}

/// Appends the modes of the composition `a o s:d`, flat; `a` is coalesced with its last mode kept.
const fn compose_leaf<const F: usize>(a: &Lay, s: Int<F>, d: Int<F>, out: &mut Lay) -> Result<(), Error> {
    if s.is(1) || d.is(0) {
        return if s.is(1) { Ok(()) } else { out.push_leaf(s, Step::ZERO) };
    }
    let last = a.leaf_count() - 1;
    if last > 0
        && let Some(lower) = d.lower()
        && lower < 0
    {
        // Only a single mode allows steps back. For some values of the symbols, several modes may be a single one.
        return Err(match a.is_symbolic() {
            true => Error::NotKnown { op: OP, value: a.first_symbolic().quoted() },
            false => Error::NonPositiveStride { op: OP, stride: d.quoted() },
        });
    }
    let begin = out.leaf_count();
    let strict = strict_leaf(a, s, d, out);
    if let (Err(_), Some(s), Some(d)) = (&strict, s.get(), d.get())
        && s <= EXACT_LIMIT
    {
        out.shape.profile.take_back(begin);
        match (Function::Extended { left: a, step: d }).line(&Space::of(a), 1, s, out) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(refusal)) if !a.is_symbolic() => {
                return Err(Error::NoLayout { op: OP, witness: refusal.witness });
            }
            Err(error @ (Error::Capacity { .. } | Error::Overflow { .. })) => return Err(error),
            _ => {}
        }
    }
    match strict {
        // For some values of the symbols there may be a layout where the rules refuse.
        Err(Error::StrideDivisibility { .. } | Error::ShapeDivisibility { .. }) if a.is_symbolic() => {
            Err(Error::NotKnown { op: OP, value: a.first_symbolic().quoted() })
        }
        strict => strict,
    }
}

const fn strict_leaf<const F: usize>(a: &Lay, s: Int<F>, d: Int<F>, out: &mut Lay) -> Result<(), Error> {
    let (mut s, mut d, mut i) = (s, d, 0);
    while i + 1 < a.leaf_count() {
        let (m, e) = (a.extent_at::<F>(i), a.step_at::<F>(i));
        i += 1;
        if let Some(steps) = d.div_exact(m) {
            d = steps;
            continue;
        }
        if ends_within(s, d, m) {
            return out.push_leaf(s, tri!(e.scaled(d)));
        }
        let Some(taken) = m.div_exact(d) else {
            return Err(undecided(m, s, d));
        };
        let Some(rest) = s.div_exact(taken) else {
            return Err(match first_symbol(m, s, d) {
                Some(_) => undecided(m, s, d),
                None => Error::ShapeDivisibility { op: OP, divisor: taken.quoted(), shape: s.quoted() },
            });
        };
        if !taken.is(1) {
            tri!(out.push_leaf(taken, tri!(e.scaled(d))));
        }
        (s, d) = (rest, Int::number(1, true));
        if s.is(1) {
            return Ok(());
        }
    }
    out.push_leaf(s, tri!(a.step_at(i).scaled(d)))
}

/// Whether `(s-1)*d < m` is known.
const fn ends_within<const F: usize>(s: Int<F>, d: Int<F>, m: Int<F>) -> bool {
    if let (Some(s), Some(d), Some(m)) = (s.upper(), d.upper(), m.lower()) {
        return match (s - 1).checked_mul(d) {
            Some(reach) => reach < m,
            None => false,
        };
    }
    false
}

const fn first_symbol<const F: usize>(m: Int<F>, s: Int<F>, d: Int<F>) -> Option<crate::Symbol> {
    if let Some(symbol) = m.first_symbol() {
        return Some(symbol);
    }
    if let Some(symbol) = d.first_symbol() {
        return Some(symbol);
    }
    s.first_symbol()
}

/// The error of a walk that is stuck at extent `m`: what is wrong, or which fact would help.
const fn undecided<const F: usize>(m: Int<F>, s: Int<F>, d: Int<F>) -> Error {
    let (m, s, d) = (m.wide(), s.wide(), d.wide());
    if let (true, Some(s), Some(d)) = (m.is_symbolic(), s.get(), d.get()) {
        return ask::at_least(OP, m, (s - 1).saturating_mul(d).saturating_add(1));
    }
    if let (true, Some(m)) = (d.is_symbolic(), m.get()) {
        return ask::divisible(OP, d, m);
    }
    if let (false, false, true) = (m.is_symbolic(), d.is_symbolic(), s.is_symbolic())
        && let Some(taken) = m.div_exact(d)
        && let Some(n) = taken.get()
    {
        return ask::divisible(OP, s, n);
    }
    match first_symbol(m, s, d) {
        Some(_) if m.is_symbolic() => Error::NotKnown { op: OP, value: m.quoted() },
        Some(_) if d.is_symbolic() => Error::NotKnown { op: OP, value: d.quoted() },
        Some(_) => Error::NotKnown { op: OP, value: s.quoted() },
        None => Error::StrideDivisibility { op: OP, extent: m.coef, shape: s.quoted(), stride: d.coef },
    }
}
