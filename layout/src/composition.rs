//! Composition: `R(c) = A(B(c))` (CuTe guide, 02 Layout algebra, Composition).
//!
//! A leaf `s:d` of the right-hand side walks the modes of the coalesced left-hand side. A mode of extent `m` is
//! * skipped where `m` divides `d`: the leaf steps over it, with `d/m` steps in what follows;
//! * taken with extent `s` and done, where the walk ends inside it: `(s-1)*d < m`;
//! * taken with extent `m/d` where `d` divides `m` and `m/d` divides `s`; what is left of the leaf goes on with step 1.
//!
//! The last mode takes what is left, past its extent too. If none applies, the leaf's values are laid out exactly if any layout has them.
//!
//! Several leaves compose one by one only if their digits don't carry into one another: for every mode end `P` on the left but the last,
//! the sum over the leaves of the greatest `x*d mod P` stays below `P`. Neither CuTe nor "the right-hand side is injective" gives that:
//! `(4,2):(1,10)` with `(2,2):(2,3)` has the index 11 at `(1,1)`, mode by mode it would be 5. Where the condition fails, the composition is
//! compared with its definition point by point and refused with the first difference.

use crate::coalesce::coalesce_into;
use crate::symbol::gcd;
use crate::tuple::Node;
use crate::{EXACT_LIMIT, Error, Fact, Int, Lay, MAX_LEAVES, Stride, Tile, Tiler, Tiles, Witness};

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
    /// [`Error::StrideDivisibility`] and [`Error::ShapeDivisibility`] where a leaf's values are those of no layout, [`Error::Carry`] where
    /// the leaves interact, with a witness; [`Error::NeedsFact`] and [`Error::NotKnown`] where a symbol decides;
    /// [`Error::NonPositiveStride`] for a negative right-hand stride unless `self` is a single mode; [`Error::Unsupported`] for a right-hand
    /// side of basis strides; [`Error::Capacity`], [`Error::Overflow`].
    pub const fn composition(&self, right: &Lay) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(compose_into(self, self.root(), right, right.root(), &mut out));
        Ok(out)
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
    /// # Errors
    /// As those.
    pub const fn compose(&self, tiler: &Tiler) -> Result<Lay, Error> {
        match tiler {
            Tiler::Lay(right) => self.composition(right),
            Tiler::Modes(tiles) => self.compose_tiles(tiles),
        }
    }

    const fn compose_tiles(&self, tiles: &Tiles) -> Result<Lay, Error> {
        tri!(self.require_tiles(OP, tiles));
        let mut out = Lay::EMPTY;
        tri!(out.open());
        let mut k = 0;
        while k < tiles.len() {
            let mode = tri!(self.node(k));
            if tiles.is_all(k) {
                tri!(out.copy(self, mode));
            } else {
                tri!(compose_into(self, mode, tiles.layouts(), tri!(tiles.node(k)), &mut out));
            }
            k += 1;
        }
        out.close();
        Ok(out)
    }

    pub(crate) const fn require_tiles(&self, op: &'static str, tiles: &Tiles) -> Result<(), Error> {
        let rank = self.rank();
        if tiles.len() > rank { Err(Error::RankMismatch { op, rank, other: tiles.len() }) } else { Ok(()) }
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
    let mut a = Lay::EMPTY;
    coalesce_into(left, l, true, &mut a);
    let first = out.leaf_count();
    let mut i = r.begin;
    while i < r.end {
        let (opens, closes) = right.shape.profile.parens(r, i);
        tri!(out.shape.profile.open_many(opens));
        let mut modes = Lay::EMPTY;
        let stride = tri!(right.stride[i].require_int(OP));
        tri!(compose_leaf(&a, right.shape.leaves[i], stride, &mut modes));
        tri!(out.push_node(&modes));
        out.shape.profile.close_many(closes);
        i += 1;
    }
    if r.end - r.begin > 1 && a.leaf_count() > 1 && !no_carry(&a, right, r) {
        return by_definition(&a, right, r, out, first);
    }
    Ok(())
}

/// The modes of `a` after `s:d`, flat; `a` is coalesced with its last mode kept.
const fn compose_leaf(a: &Lay, s: Int, d: Int, out: &mut Lay) -> Result<(), Error> {
    if s.is(1) || d.is(0) {
        return if s.is(1) { Ok(()) } else { out.push(s, Stride::ZERO) };
    }
    let last = a.leaf_count() - 1;
    if last > 0
        && let Some(lower) = d.lower()
        && lower < 0
    {
        return Err(Error::NonPositiveStride { op: OP, stride: d });
    }
    let strict = strict_leaf(a, s, d, out);
    if let (Err(_), Some(s), Some(d)) = (&strict, s.get(), d.get())
        && s <= EXACT_LIMIT
        && a.has_known_integers()
    {
        *out = Lay::EMPTY;
        return match recognise(a, s, d, out) {
            Ok(true) => Ok(()),
            Ok(false) => strict,
            Err(error) => Err(error),
        };
    }
    strict
}

const fn strict_leaf(a: &Lay, s: Int, d: Int, out: &mut Lay) -> Result<(), Error> {
    let (mut s, mut d, mut i) = (s, d, 0);
    while i + 1 < a.leaf_count() {
        let (m, e) = (a.shape.leaves[i], a.stride[i]);
        i += 1;
        if let Some(steps) = d.div_exact(m) {
            d = steps;
            continue;
        }
        if ends_within(s, d, m) {
            return out.push(s, tri!(e.scaled(d)));
        }
        let Some(taken) = m.div_exact(d) else {
            return Err(undecided(m, s, d));
        };
        let Some(rest) = s.div_exact(taken) else {
            return Err(match first_symbol(m, s, d) {
                Some(_) => undecided(m, s, d),
                None => Error::ShapeDivisibility { divisor: taken, shape: s },
            });
        };
        if !taken.is(1) {
            tri!(out.push(taken, tri!(e.scaled(d))));
        }
        (s, d) = (rest, Int::ONE);
        if s.is(1) {
            return Ok(());
        }
    }
    out.push(s, tri!(a.stride[i].scaled(d)))
}

/// Whether `(s-1)*d < m` is known.
const fn ends_within(s: Int, d: Int, m: Int) -> bool {
    if let (Some(s), Some(d), Some(m)) = (s.upper(), d.upper(), m.lower()) {
        return match (s - 1).checked_mul(d) {
            Some(reach) => reach < m,
            None => false,
        };
    }
    false
}

const fn first_symbol(m: Int, s: Int, d: Int) -> Option<crate::Symbol> {
    if let Some(symbol) = m.first_symbol() {
        return Some(symbol);
    }
    if let Some(symbol) = d.first_symbol() {
        return Some(symbol);
    }
    s.first_symbol()
}

/// The error of a walk that is stuck at extent `m`: what is wrong, or which fact would help.
const fn undecided(m: Int, s: Int, d: Int) -> Error {
    if let (Some(symbol), true, Some(s), Some(d)) = (m.first_symbol(), m.coefficient() == 1, s.get(), d.get())
        && matches!(m.factors(), [Some(crate::Factor { den: 1, .. }), None])
    {
        let reach = (s - 1).saturating_mul(d).saturating_add(1);
        return Error::NeedsFact { op: OP, symbol, fact: Fact::AtLeast(reach) };
    }
    if let (Some(symbol), Some(m)) = (d.first_symbol(), m.get()) {
        return Error::NeedsFact { op: OP, symbol, fact: Fact::DivisibleBy(m) };
    }
    if let (None, None, Some(_)) = (m.first_symbol(), d.first_symbol(), s.first_symbol())
        && let Some(taken) = m.div_exact(d)
        && let (Some(n), Some(symbol)) = (taken.get(), s.first_symbol())
    {
        return Error::NeedsFact { op: OP, symbol, fact: Fact::DivisibleBy(n) };
    }
    match first_symbol(m, s, d) {
        Some(_) if m.is_symbolic() => Error::NotKnown { op: OP, value: m },
        Some(_) if d.is_symbolic() => Error::NotKnown { op: OP, value: d },
        Some(_) => Error::NotKnown { op: OP, value: s },
        None => Error::StrideDivisibility { extent: m, shape: s, stride: d },
    }
}

impl Lay {
    const fn has_known_integers(&self) -> bool {
        let mut i = 0;
        while i < self.leaf_count() {
            let known = match self.stride[i] {
                Stride::Int(d) => d.get().is_some(),
                _ => false,
            };
            if !known || self.shape.leaves[i].get().is_none() {
                return false;
            }
            i += 1;
        }
        true
    }
}

/// Writes the layout of `j -> a(d*j)`, `j < s`, if there is one.
///
/// The first stride is the value at 1, the first extent the length of the straight run; then every block of that length must look like the
/// first, and the blocks' origins are laid out in the same way.
const fn recognise(a: &Lay, s: i64, d: i64, out: &mut Lay) -> Result<bool, Error> {
    let (mut s, mut d) = (s, d);
    while s > 1 {
        let step = tri!(extended(a, d));
        let mut run = 2;
        while run < s && tri!(sampled(a, run, d)) == step as i128 * run as i128 {
            run += 1;
        }
        if s % run != 0 {
            return Ok(false);
        }
        let mut j = run;
        while j < s {
            let split = tri!(sampled(a, j - j % run, d)) + step as i128 * (j % run) as i128;
            if tri!(sampled(a, j, d)) != split {
                return Ok(false);
            }
            j += 1;
        }
        tri!(out.push(Int::value(run), Stride::Int(Int::value(step))));
        s /= run;
        d = match d.checked_mul(run) {
            Some(d) => d,
            None => return Err(Error::Overflow { op: OP }),
        };
    }
    Ok(true)
}

const fn sampled(a: &Lay, j: i64, d: i64) -> Result<i128, Error> {
    match j.checked_mul(d) {
        Some(index) => Ok(tri!(extended(a, index)) as i128),
        None => Err(Error::Overflow { op: OP }),
    }
}

/// The value of flat known modes, the last one without an end.
const fn extended(a: &Lay, index: i64) -> Result<i64, Error> {
    let (mut rest, mut sum, mut i) = (index, 0i64, 0);
    while i < a.leaf_count() {
        let stride = tri!(a.stride[i].require_known(OP));
        let mut digit = rest;
        if i + 1 < a.leaf_count()
            && let Some(m) = a.shape.leaves[i].get()
        {
            digit = rest % m;
            rest /= m;
        }
        let next = match digit.checked_mul(stride) {
            Some(reach) => sum.checked_add(reach),
            None => None,
        };
        sum = match next {
            Some(sum) => sum,
            None => return Err(Error::Overflow { op: OP }),
        };
        i += 1;
    }
    Ok(sum)
}

/// Whether the digits of the right-hand leaves provably never carry across an end of a left-hand mode.
const fn no_carry(a: &Lay, right: &Lay, r: Node) -> bool {
    let (mut end, mut i) = (Int::ONE, 0);
    while i + 1 < a.leaf_count() {
        end = match end.mul(a.shape.leaves[i]) {
            Ok(end) => end,
            Err(Error::Overflow { .. }) => return true, // no index gets there
            Err(_) => return false,
        };
        if !stays_below(right, r, end) && !chain_divides(right, r, end) {
            return false;
        }
        i += 1;
    }
    true
}

/// The condition itself, where the numbers are known as far as they matter.
const fn stays_below(right: &Lay, r: Node, end: Int) -> bool {
    let (mut sum, mut i) = (0i64, r.begin);
    while i < r.end {
        let (s, d) = (right.shape.leaves[i], right.stride[i]);
        i += 1;
        let Stride::Int(d) = d else { return false };
        if s.is(1) || d.div_exact(end).is_some() {
            continue;
        }
        let most = match (s.get(), d.get(), end.get()) {
            (Some(s), Some(d), Some(end)) => most_modulo(s, d, end),
            (_, Some(d), Some(end)) => end - gcd(d, end),
            (Some(s), Some(d), None) => match (s - 1).checked_mul(d) {
                Some(reach) => reach,
                None => return false,
            },
            _ => return false,
        };
        sum = match sum.checked_add(most) {
            Some(sum) => sum,
            None => return false,
        };
    }
    matches!(Int::value(sum).less(end), Some(true))
}

/// The greatest `x*d mod p` for `0 <= x < s`, or a bound on it where that would take long.
const fn most_modulo(s: i64, d: i64, p: i64) -> i64 {
    const FEW: i64 = 4096;
    let d = d % p;
    let g = gcd(d, p);
    if let Some(reach) = (s - 1).checked_mul(d)
        && reach < p
    {
        return reach;
    }
    if s >= p / g || s > FEW {
        return p - g;
    }
    let (mut most, mut x, mut value) = (0, 1, 0i128);
    while x < s {
        value = (value + d as i128) % p as i128;
        if value > most {
            most = value;
        }
        x += 1;
    }
    most as i64
}

/// Whether the leaves below `end`, from left to right, each begin at a multiple of where the one before ends, and `end` is a multiple of the
/// last end: then no sum of digits reaches it. Works on symbols.
const fn chain_divides(right: &Lay, r: Node, end: Int) -> bool {
    let (mut reach, mut i) = (Int::ONE, r.begin);
    while i < r.end {
        let (s, d) = (right.shape.leaves[i], right.stride[i]);
        i += 1;
        let Stride::Int(d) = d else { return false };
        if s.is(1) || d.is(0) || d.div_exact(end).is_some() {
            continue;
        }
        if d.div_exact(reach).is_none() {
            return false;
        }
        reach = match d.mul(s) {
            Ok(reach) => reach,
            Err(_) => return false,
        };
    }
    end.div_exact(reach).is_some()
}

/// Compares the leaves from `first` on in `out` with `a(right(c))` over the whole domain.
const fn by_definition(a: &Lay, right: &Lay, r: Node, out: &Lay, first: usize) -> Result<(), Error> {
    const UNKNOWN: Error = Error::Carry { witness: None };
    let mut size = 1i64;
    let mut i = r.begin;
    while i < r.end {
        let known = match (right.shape.leaves[i].get(), right.stride[i]) {
            (Some(s), Stride::Int(d)) if d.get().is_some() => size.checked_mul(s),
            _ => None,
        };
        size = match known {
            Some(size) if size <= EXACT_LIMIT => size,
            _ => return Err(UNKNOWN),
        };
        i += 1;
    }
    if !a.has_known_integers() {
        return Err(UNKNOWN);
    }
    let mut coord = 0;
    while coord < size {
        let inner = tri!(flat_index(right, r.begin, r.end, coord));
        let expected = tri!(extended(a, inner));
        let obtained = tri!(flat_index(out, first, out.leaf_count(), coord));
        if expected != obtained {
            return Err(Error::Carry { witness: Some(Witness { coord, expected, obtained }) });
        }
        coord += 1;
    }
    Ok(())
}

/// The index of a 1-D coordinate over the leaves `begin..end`.
const fn flat_index(lay: &Lay, begin: usize, end: usize, coord: i64) -> Result<i64, Error> {
    let (mut rest, mut sum, mut i) = (coord, 0i64, begin);
    while i < end {
        let stride = tri!(lay.stride[i].require_known(OP));
        let Some(extent) = lay.shape.leaves[i].get() else {
            return Err(Error::NotKnown { op: OP, value: lay.shape.leaves[i] });
        };
        let next = match (rest % extent).checked_mul(stride) {
            Some(reach) => sum.checked_add(reach),
            None => None,
        };
        sum = match next {
            Some(sum) => sum,
            None => return Err(Error::Overflow { op: OP }),
        };
        rest /= extent;
        i += 1;
    }
    Ok(sum)
}

const _: () = assert!(MAX_LEAVES <= 32, "a tiler marks its modes in 32 bits");
