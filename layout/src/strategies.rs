//! Strategies of proptest for tests of computations on layouts (feature `proptest`): random layouts, swizzles and
//! coordinates.
//!
//! Each family of layouts finds other mistakes: arbitrary and signed layouts find wrong preconditions, tractable and
//! compact layouts find wrong results, and generic strides, which are large and coprime, find equalities that hold by
//! accident.
//!
//! ```
//! use girih_layout::strategies::{compact, swizzles};
//! use proptest::prelude::*;
//!
//! proptest!(|(layout in compact(4), swizzle in swizzles())| {
//!     // What is compact has an inverse, and a swizzle is its own.
//!     let inverse = layout.right_inverse()?;
//!     for i in inverse.indices()? {
//!         prop_assert_eq!(layout.at(inverse.at(layout.at(i)?)?)?, layout.at(i)?);
//!         prop_assert_eq!(swizzle.apply(swizzle.apply(i)), i);
//!     }
//! });
//! ```

extern crate std;

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;

use crate::{Coord, Crd, Int, Lay, Stride, Swizzle};

const EXTENTS: &[i64] = &[1, 2, 2, 3, 4, 4, 6, 8];
const STRIDES: &[i64] = &[0, 1, 2, 3, 4, 6, 8, 12, 16, 24];
const GENERIC: &[i64] = &[1_009, 10_007, 100_003, 1_000_003, 10_000_019, 7_919, 65_537];

/// The layout `s:d` of a single leaf.
///
/// ```
/// use girih_layout::{lay, strategies::line};
/// assert_eq!(line(4, 2), lay!("4:2"));
/// ```
///
/// # Panics
/// For an extent below 1.
#[expect(clippy::expect_used, reason = "a helper of strategies must stop the test")]
pub fn line(s: i64, d: i64) -> Lay {
    Lay::leaf(Int::value(s), Stride::from(d)).expect("an extent of at least 1")
}

/// How leaves are grouped: for each leaf, whether a tuple opens before it, and how many leaves that tuple has.
type Grouping = Vec<(bool, usize)>;

fn grouping(n: usize) -> impl Strategy<Value = Grouping> {
    prop::collection::vec((prop::bool::weighted(0.3), 1..=n), n)
}

/// Flat leaves as a tree: a leaf alone, a flat tuple, or a tuple with some groups.
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed layout must stop the test")]
fn tree(leaves: &[(i64, i64)], groups: &[(bool, usize)], bare: bool) -> Lay {
    let leaf = |&(s, d): &(i64, i64)| {
        Lay::leaf(Int::value(s), Stride::Int(Int::value(d))).expect("extents are at least 1")
    };
    if bare && leaves.len() == 1 {
        return leaf(&leaves[0]);
    }
    let mut modes = Vec::new();
    let mut i = 0;
    while i < leaves.len() {
        let (grouped, reach) = groups[i];
        if grouped {
            let end = (i + reach).min(leaves.len());
            let inner = vec![(false, 1); end - i];
            modes.push(tree(&leaves[i..end], &inner, false));
            i = end;
        } else {
            modes.push(leaf(&leaves[i]));
            i += 1;
        }
    }
    Lay::concat(&modes).expect("few leaves")
}

fn of_leaves(leaves: impl Strategy<Value = Vec<(i64, i64)>>) -> impl Strategy<Value = Lay> {
    leaves
        .prop_flat_map(|leaves| (grouping(leaves.len()), Just(leaves), any::<bool>()))
        .prop_map(|(groups, leaves, bare)| tree(&leaves, &groups, bare))
}

fn extents(most: usize) -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(select(EXTENTS), 1..=most)
}

/// Layouts of up to `most` leaves with any small extents and any small strides of at least 0.
///
/// ```
/// use girih_layout::strategies::arbitrary;
/// use proptest::prelude::*;
/// proptest!(|(layout in arbitrary(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn arbitrary(most: usize) -> impl Strategy<Value = Lay> {
    of_leaves(prop::collection::vec((select(EXTENTS), select(STRIDES)), 1..=most))
}

/// Layouts of up to `most` leaves with any small extents and any small strides of either sign.
///
/// ```
/// use girih_layout::strategies::signed;
/// use proptest::prelude::*;
/// proptest!(|(layout in signed(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn signed(most: usize) -> impl Strategy<Value = Lay> {
    let stride = (select(STRIDES), any::<bool>()).prop_map(|(d, minus)| if minus { -d } else { d });
    of_leaves(prop::collection::vec((select(EXTENTS), stride), 1..=most))
}

/// Layouts in which each mode, in the order of the strides, ends where a step of the next can begin: the modes have a
/// random order, and the next stride is 1, 2 or 3 times the end.
///
/// ```
/// use girih_layout::strategies::tractable;
/// use proptest::prelude::*;
/// proptest!(|(layout in tractable(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn tractable(most: usize) -> impl Strategy<Value = Lay> {
    of_leaves(gapped(most, &[1, 1, 2, 3]))
}

/// Layouts that are a permutation of `0..size`: tractable without gaps.
///
/// ```
/// use girih_layout::strategies::compact;
/// use proptest::prelude::*;
/// proptest!(|(layout in compact(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn compact(most: usize) -> impl Strategy<Value = Lay> {
    of_leaves(gapped(most, &[1]))
}

/// Layouts with any small extents and large coprime strides: two sums are equal only if their digits are.
///
/// ```
/// use girih_layout::strategies::generic;
/// use proptest::prelude::*;
/// proptest!(|(layout in generic(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn generic(most: usize) -> impl Strategy<Value = Lay> {
    of_leaves(
        (extents(most), Just(GENERIC.to_vec()).prop_shuffle())
            .prop_map(|(extents, strides)| extents.into_iter().zip(strides).collect()),
    )
}

/// Swizzles of up to 3 bits, both ways.
///
/// ```
/// use girih_layout::strategies::swizzles;
/// use proptest::prelude::*;
/// proptest!(|(swizzle in swizzles())| prop_assert_eq!(swizzle.apply(swizzle.apply(77)), 77));
/// ```
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed swizzle must stop the test")]
pub fn swizzles() -> impl Strategy<Value = Swizzle> {
    (0u32..4, 0u32..5, 0i32..4, any::<bool>()).prop_map(|(bits, base, more, down)| {
        let distance = bits as i32 + more;
        Swizzle::new(bits, base, if down { -distance } else { distance }).expect("bits at most the shift")
    })
}

/// Layouts of all families.
///
/// ```
/// use girih_layout::strategies::any_layout;
/// use proptest::prelude::*;
/// proptest!(|(layout in any_layout(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn any_layout(most: usize) -> impl Strategy<Value = Lay> {
    prop_oneof![arbitrary(most), signed(most), tractable(most), compact(most), generic(most)]
}

fn gapped(most: usize, gaps: &'static [i64]) -> impl Strategy<Value = Vec<(i64, i64)>> {
    extents(most)
        .prop_flat_map(move |extents| {
            let n = extents.len();
            let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
            (Just(extents), order, prop::collection::vec(select(gaps), n))
        })
        .prop_map(|(extents, order, gaps)| {
            let mut leaves = vec![(1, 0); extents.len()];
            let mut step = 1;
            for (k, i) in order.into_iter().enumerate() {
                step *= gaps[k];
                leaves[i] = (extents[i], step);
                step *= extents[i];
            }
            leaves
        })
}

/// A coordinate congruent to a layout's shape, with some modes `_`.
///
/// ```
/// use girih_layout::{lay, strategies::slicing};
/// use proptest::prelude::*;
/// let layouts = slicing(lay!("(4,(2,3)):(1,(4,8))"));
/// proptest!(|((layout, coord) in layouts)| prop_assert_eq!(coord.leaf_count(), layout.leaf_count()));
/// ```
pub fn slicing(layout: Lay) -> impl Strategy<Value = (Lay, Coord)> {
    let extents: Vec<i64> = layout.shape().leaves().map(|s| s.get().unwrap_or(1)).collect();
    let digits: Vec<_> =
        extents.into_iter().map(|s| (0..s, any::<bool>()).prop_map(|(c, all)| (!all).then_some(c))).collect();
    digits.prop_map(move |digits| (layout, coordinate(&layout, &digits)))
}

/// The digits as a coordinate congruent to the layout's shape; `None` is `_`.
///
/// ```
/// use girih_layout::{lay, strategies::coordinate};
/// assert_eq!(coordinate(&lay!("(4,2):(1,4)"), &[Some(3), None]).to_string(), "(3,_)");
/// ```
#[expect(clippy::expect_used, reason = "a helper of strategies must stop the test")]
pub fn coordinate(layout: &Lay, digits: &[Option<i64>]) -> Coord {
    fn of(layout: &Lay, digits: &mut dyn Iterator<Item = Crd>) -> Coord {
        if layout.is_leaf() {
            return Coord::leaf(digits.next().expect("a digit a leaf"));
        }
        let modes: Vec<Coord> =
            (0..layout.rank()).map(|i| of(&layout.mode(i).expect("a mode"), digits)).collect();
        Coord::concat(&modes).expect("few leaves")
    }
    of(layout, &mut digits.iter().map(|digit| digit.map_or(Crd::All, Crd::At)))
}
