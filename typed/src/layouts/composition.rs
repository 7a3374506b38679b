//! Composition, by what is static.
//!
//! A leaf `s:d` walks the coalesced left-hand modes: of a mode `m:e` it takes `t = min(ceil(m/d), s)` steps of `e*d`, and goes on with
//! `ceil(s/t)` and `ceil(d/m)`. Where the divisions leave remainders, the run-time layer refuses the operands or finds another layout.

use girih_layout::{Error, Stride};
use typenum::{B0, B1};

use super::coalesce::Flat;
use super::int::Int;
use super::list::{Cons, List, Nil, PushUnlessOne};
use super::modes::Modes;
use super::rules::{ceil_div, integer, is_one, is_zero, least};
use super::tiler::Tiler;
use super::tree::{LeafList, Tree};

/// The type of [`Layout::composition`](super::Layout::composition).
///
/// ```
/// use girih_typed::{Composition, Layout, Mode, S, int, layout};
/// let made: Layout<Composition<(Mode<S<4>, S<1>>, Mode<S<8>, S<4>>), (S<2>, S<4>)>> = layout!((4, 8) : (1, 4)).composition((int!(2), int!(4)));
/// ```
pub type Composition<M, X> = <X as Tiler>::Composed<M>;

/// The composition `M o R`.
pub(super) type Composed<M, R> = <R as Modes>::Over<Flat<M, B1>>;

/// The walk of a leaf over left-hand modes.
#[doc(hidden)]
pub trait Walk {
    type Walk<S: Int, D: Int>: List;
    /// The walk from the mode `M:E` on, which comes before the modes of this list.
    type WalkFrom<M: Int, E: Int, S: Int, D: Int>: List;
}

#[doc(hidden)]
/// Case distinctions: each type has its value for the named condition being false in [`B0`] and true in [`B1`].
pub trait Decide {
    /// If S is 1.
    type Enter<A: List, S: Int, D: Int>: List;
    /// If D is 0.
    type Step<A: List, S: Int, D: Int>: List;
}

impl Walk for Nil {
    type Walk<S: Int, D: Int> = Nil;
    type WalkFrom<M: Int, E: Int, S: Int, D: Int> = Cons<S, E::Mul<D>, Nil>;
}

impl<M: Int, E: Int, T: List> Walk for Cons<M, E, T> {
    type Walk<S: Int, D: Int> = T::WalkFrom<M, E, S, D>;
    type WalkFrom<M0: Int, E0: Int, S: Int, D: Int> = PushUnlessOne<
        Taken<M0, S, D>,
        E0::Mul<D>,
        <<S::CDiv<Taken<M0, S, D>> as Int>::IsOne as Decide>::Enter<
            Self,
            S::CDiv<Taken<M0, S, D>>,
            D::CDiv<M0>,
        >,
    >;
}

type Taken<M, S, D> = <<M as Int>::CDiv<D> as Int>::Min<S>;

impl Decide for B0 {
    type Enter<A: List, S: Int, D: Int> = <D::IsZero as Decide>::Step<A, S, D>;
    type Step<A: List, S: Int, D: Int> = A::Walk<S, D>;
}

impl Decide for B1 {
    type Enter<A: List, S: Int, D: Int> = Nil;
    type Step<A: List, S: Int, D: Int> = Cons<S, D, Nil>;
}

/// The modes of the composition `A o S:D`, for the leaf `S:D` of a right-hand side.
pub(super) type Leaf<A, S, D> = <<<S as Int>::IsOne as Decide>::Enter<A, S, D> as List>::Wrapped;

/// The composition of coalesced left-hand modes and a tree.
pub(super) const fn composed(left: &LeafList, right: &Tree) -> Result<Tree, Error> {
    if right.is_leaf() {
        let stride = tri!(integer("composition", right.step(0)));
        return tri!(walk(left, right.extent(0), stride)).wrapped();
    }
    let (mut out, mut k) = (Tree::EMPTY, 0);
    while k < right.rank() {
        out = tri!(out.append(&tri!(composed(left, &tri!(right.mode(k))))));
        k += 1;
    }
    Ok(out)
}

const fn walk(a: &LeafList, s: girih_layout::Int, d: girih_layout::Int) -> Result<LeafList, Error> {
    let mut out = LeafList::EMPTY;
    let (mut s, mut d, mut i) = (s, d, 0);
    while !is_one(s) {
        if is_zero(d) {
            tri!(out.push(s, Stride::ZERO));
            break;
        }
        let (m, step) = (a.extent(i), tri!(a.step(i).scaled(d)));
        i += 1;
        if i == a.len() {
            tri!(out.push(s, step));
            break;
        }
        let taken = least(tri!(ceil_div(m, d)), s);
        if !is_one(taken) {
            tri!(out.push(taken, step));
        }
        (s, d) = (tri!(ceil_div(s, taken)), tri!(ceil_div(d, m)));
    }
    Ok(out)
}
