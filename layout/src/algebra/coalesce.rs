//! Coalescing: the fewest modes that give the same function, and equality of functions.

use crate::leaf::int::{FACTORS, KNOWN};
use crate::leaf::step::Step;
use crate::tuple::profile::Node;
use crate::tuple::store::Small;
use crate::{Error, Int, IntTuple, Lay};

impl Lay {
    /// The same function on the same domain with as few modes as possible: no mode of extent 1, and no two neighbours
    /// that can be merged (CuTe guide, 02 Layout algebra, Coalesce).
    ///
    /// The result is a canonical form: two known layouts of the same size are the same function exactly when they
    /// coalesce to the same layout (`1:0` for size 1). With symbols, modes merge where the strides are provably equal.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(2,(1,6)):(1,(6,2))").coalesce(), lay!("12:1"));
    /// ```
    pub const fn coalesce(&self) -> Lay {
        let mut out = Lay::EMPTY;
        if self.is_known() {
            coalesce_into::<KNOWN>(self, self.root(), false, &mut out);
        } else {
            coalesce_into::<FACTORS>(self, self.root(), false, &mut out);
        }
        let _fits = out.wrap_from(0); // fewer leaves and levels than there were
        out
    }

    /// Coalesces by itself each subtree that is where `profile` has a leaf; the layout's tree refines the result's.
    /// Modes past those of the profile stay as they are.
    ///
    /// ```
    /// use girih_layout::{lay, Shape};
    /// let l = lay!("(2,(1,6)):(1,(6,2))");
    /// assert_eq!(l.coalesce_by(&Shape::parse("(1,1)")?)?, lay!("(2,6):(1,2)"));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RankMismatch`] where the profile has more modes than the layout.
    pub const fn coalesce_by(&self, profile: &IntTuple) -> Result<Lay, Error> {
        let mut out = Lay::EMPTY;
        tri!(self.coalesce_by_into(self.root(), profile, profile.profile.root(), &mut out));
        Ok(out)
    }

    const fn coalesce_by_into(&self, n: Node, by: &IntTuple, p: Node, out: &mut Lay) -> Result<(), Error> {
        if p.is_leaf() {
            let first = out.leaf_count();
            coalesce_into::<FACTORS>(self, n, false, out);
            return out.wrap_from(first);
        }
        let (rank, other) = (self.shape.profile.rank_of(n), by.profile.rank_of(p));
        if n.is_leaf() || other > rank {
            return Err(Error::RankMismatch { op: "coalesce_by", rank, other });
        }
        tri!(out.open());
        let (mut i, mut j) = (n.begin, p.begin);
        while i < n.end {
            let child = self.shape.profile.child(n, i);
            if j < p.end {
                let wanted = by.profile.child(p, j);
                tri!(self.coalesce_by_into(child, by, wanted, out));
                j = wanted.end;
            } else {
                tri!(out.copy(self, child));
            }
            i = child.end;
        }
        out.close();
        Ok(())
    }

    /// Whether both are the same function on domains of the same size, whatever their trees. With symbols, `false` may also mean "not
    /// provably".
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert!(lay!("((2,4),3):((1,2),8)").equivalent(&lay!("(8,3):(1,8)")));
    /// ```
    pub const fn equivalent(&self, other: &Lay) -> bool {
        let (a, b) = (self.coalesce(), other.coalesce());
        if a.leaf_count() != b.leaf_count() {
            return false;
        }
        let mut i = 0;
        while i < a.leaf_count() {
            let same_stride = a.step(i).same(b.step(i));
            if !a.extent(i).same(b.extent(i)) || !same_stride {
                return false;
            }
            i += 1;
        }
        true
    }

    /// The layout without modes of extent 1 or stride 0, coalesced (CuTe's `filter`). The image is the same.
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,8,1):(1,0,5)").filter(), lay!("4:1"));
    /// ```
    pub const fn filter(&self) -> Lay {
        self.filter_zeros().coalesce()
    }

    /// The layout with extent 1 wherever the stride is 0 (CuTe's `filter_zeros`).
    ///
    /// ```
    /// use girih_layout::lay;
    /// assert_eq!(lay!("(4,8):(1,0)").filter_zeros(), lay!("(4,1):(1,0)"));
    /// ```
    pub const fn filter_zeros(&self) -> Lay {
        let mut out = *self;
        let mut i = 0;
        while i < out.leaf_count() {
            if out.step(i).is_zero() {
                out.shape.leaves.set(i, Small::ONE);
            }
            i += 1;
        }
        out
    }
}

/// Writes the coalesced modes of a subtree to `out`, side by side without a tuple.
///
/// With `keep_last`, the last leaf survives even if its extent is 1, and its extent is not to be relied on: then the function is the same
/// past the end of the domain too, which is what composition needs (CuTe's `coalesce_x`).
pub(crate) const fn coalesce_into<const F: usize>(from: &Lay, node: Node, keep_last: bool, out: &mut Lay) {
    let (mut s, mut d) = (Int::<F>::number(1, true), Step::ZERO);
    let mut i = node.begin;
    while i < node.end {
        let (next_s, next_d) = (from.extent_at(i), from.step_at(i));
        i += 1;
        if next_s.is(1) && !(keep_last && i == node.end) {
            continue;
        }
        if s.is(1) {
            (s, d) = (next_s, next_d);
            continue;
        }
        if let (true, Ok(merged)) = (follows(s, d, &next_d), s.mul(next_s)) {
            s = merged;
            continue;
        }
        let _fits = out.push_leaf(s, d); // no more leaves than `from` has
        (s, d) = (next_s, next_d);
    }
    if !s.is(1) || keep_last {
        let _fits = out.push_leaf(s, d);
    }
}

/// Whether the leaves of a subtree are coalesced as they are, as `coalesce_into` with `keep_last` would write them.
pub(crate) const fn is_coalesced<const F: usize>(from: &Lay, node: Node) -> bool {
    let mut i = node.begin;
    while i + 1 < node.end {
        let s = from.extent_at::<F>(i);
        if s.is(1) || follows(s, from.step_at(i), &from.step_at(i + 1)) {
            return false;
        }
        i += 1;
    }
    node.begin < node.end
}

/// The stride of a subtree that coalesces to a single mode, past its end too, unless it is an F2 column. This saves
/// writing the coalesced mode.
pub(crate) const fn single_step<const F: usize>(from: &Lay, node: Node) -> Option<Step<F>> {
    if node.begin == node.end {
        return None;
    }
    let (mut s, d) = (from.extent_at::<F>(node.begin), from.step_at(node.begin));
    let mut i = node.begin + 1;
    while i < node.end {
        let next = from.extent_at(i);
        if !follows(s, d, &from.step_at(i)) {
            return None;
        }
        s = match s.mul(next) {
            Ok(s) => s,
            Err(_) => return None,
        };
        i += 1;
    }
    if d.is_column() { None } else { Some(d) }
}

/// Whether a mode of stride `next` continues the mode `s:d`, so that the two can be merged.
#[inline]
const fn follows<const F: usize>(s: Int<F>, d: Step<F>, next: &Step<F>) -> bool {
    match d.scaled(s) {
        Ok(end) => end.same(next),
        Err(_) => false,
    }
}
