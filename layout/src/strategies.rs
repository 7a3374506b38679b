//! Strategies of proptest for tests of computations on layouts (feature `proptest`, of `girih` too): random layouts, swizzles,
//! coordinates, tilers and pairs that compose. All shrink to the smallest case that fails, and layouts nest to depth 4.
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

use crate::{Coord, Crd, Int, Lay, ModePath, Stride, Swizzle, Symbol, Tile, Tiler};

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

/// How leaves are grouped: for each leaf, how many tuples open before it, and how many leaves the outermost of them has at most.
type Grouping = Vec<(usize, usize)>;

/// The deepest tree: tuples in tuples in tuples in a tuple.
const DEPTH: usize = 4;

/// One entry for each of `most` leaves, of which fewer may be there: a length that depends on another value would keep
/// both from shrinking.
fn grouping(most: usize) -> impl Strategy<Value = Grouping> {
    let opens = prop_oneof![5 => Just(0usize), 3 => Just(1), 1 => Just(2), 1 => Just(3)];
    prop::collection::vec((opens, 1..=most), most)
}

/// Flat leaves as a tree: a leaf alone, a flat tuple, or a tuple with groups of groups.
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed layout must stop the test")]
fn tree(leaves: &[Lay], groups: &[(usize, usize)], bare: bool, depth: usize) -> Lay {
    if bare && leaves.len() == 1 {
        return leaves[0];
    }
    let mut modes = Vec::new();
    let mut i = 0;
    while i < leaves.len() {
        let (opens, reach) = groups[i];
        let end = if opens > 0 && depth < DEPTH { (i + reach).min(leaves.len()) } else { i + 1 };
        if opens > 0 && depth < DEPTH {
            let mut inner = groups[i..end].to_vec();
            inner[0].0 -= 1;
            modes.push(tree(&leaves[i..end], &inner, false, depth + 1));
        } else {
            modes.push(leaves[i]);
        }
        i = end;
    }
    Lay::concat(&modes).expect("few leaves")
}

fn of_leaves(most: usize, leaves: impl Strategy<Value = Vec<(i64, i64)>>) -> impl Strategy<Value = Lay> {
    trees(most, leaves.prop_map(|leaves| leaves.into_iter().map(|(s, d)| line(s, d)).collect()))
}

fn trees(most: usize, leaves: impl Strategy<Value = Vec<Lay>>) -> impl Strategy<Value = Lay> {
    (leaves, grouping(most), prop::bool::ANY)
        .prop_map(|(leaves, groups, nested)| tree(&leaves, &groups, !nested, 1))
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
    of_leaves(most, prop::collection::vec((select(EXTENTS), select(STRIDES)), 1..=most))
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
    of_leaves(most, prop::collection::vec((select(EXTENTS), stride), 1..=most))
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
    of_leaves(most, gapped(most, &[1, 1, 2, 3]))
}

/// Layouts that are a permutation of `0..size`: tractable without gaps.
///
/// ```
/// use girih_layout::strategies::compact;
/// use proptest::prelude::*;
/// proptest!(|(layout in compact(4))| prop_assert!(layout.leaf_count() <= 4));
/// ```
pub fn compact(most: usize) -> impl Strategy<Value = Lay> {
    of_leaves(most, gapped(most, &[1]))
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
        most,
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
    // The key of a leaf is its place in the order of the strides.
    prop::collection::vec((select(EXTENTS), select(gaps), 0u32..64), 1..=most).prop_map(|modes| {
        let mut order: Vec<usize> = (0..modes.len()).collect();
        order.sort_by_key(|i| modes[*i].2);
        let mut leaves = vec![(1, 0); modes.len()];
        let mut step = 1;
        for i in order {
            let (extent, gap, _) = modes[i];
            step *= gap;
            leaves[i] = (extent, step);
            step *= extent;
        }
        leaves
    })
}

/// Tilers of up to `most` tiles: a layout of the whole domain, or for each mode a tractable layout or `_`.
///
/// ```
/// use girih_layout::{Tiler, strategies::tilers};
/// use proptest::prelude::*;
/// proptest!(|(tiler in tilers(2))| if let Tiler::Modes(tiles) = tiler { prop_assert!(tiles.len() <= 2) });
/// ```
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed tiler must stop the test")]
pub fn tilers(most: usize) -> impl Strategy<Value = Tiler> {
    let tile = prop_oneof![3 => tractable(2).prop_map(Tile::Lay), 1 => Just(Tile::All)];
    let modes = prop::collection::vec(tile, 1..=most);
    prop_oneof![
        tractable(3).prop_map(Tiler::Lay),
        modes.prop_map(|tiles| Tiler::modes(&tiles).expect("few tiles")),
    ]
}

/// Pairs `(a, b)` that compose: `a.composition(&b)` is a layout. The leaves of `b` walk the modes of `a` in order.
///
/// ```
/// use girih_layout::strategies::composable;
/// use proptest::prelude::*;
/// proptest!(|((a, b) in composable(4))| {
///     let both = a.composition(&b)?;
///     for i in 0..b.size()?.get().unwrap_or(0) {
///         prop_assert_eq!(both.at(i)?, a.at_extended(b.at(i)?)?);
///     }
/// });
/// ```
pub fn composable(most: usize) -> impl Strategy<Value = (Lay, Lay)> {
    let left = prop_oneof![arbitrary(most), tractable(most), compact(most), generic(most)];
    let right = (prop::collection::vec((any::<bool>(), 1i64..5), most), grouping(most), any::<bool>());
    (left, right).prop_map(|(a, (kept, groups, nested))| {
        // Whole modes of the left-hand side, some of them left out, and the last one cut to a part.
        let (mut leaves, mut step) = (Vec::new(), 1);
        for (i, extent) in a.shape().leaves().enumerate() {
            let extent = extent.get().unwrap_or(1);
            let (keeps, part) = kept[i];
            if keeps {
                leaves.push(line(if i + 1 == a.leaf_count() { part } else { extent }, step));
            }
            step *= extent;
        }
        if leaves.is_empty() {
            leaves.push(line(1, 1));
        }
        (a, tree(&leaves, &groups, !nested, 1))
    })
}

/// Layouts with symbols in extents and strides, and for each symbol a value that its facts allow: at launch, `bind` them
/// in turn.
///
/// ```
/// use girih_layout::strategies::symbolic;
/// use proptest::prelude::*;
/// proptest!(|((layout, values) in symbolic(3))| {
///     let bound = values.iter().try_fold(layout, |l, (symbol, value)| l.bind(*symbol, *value))?;
///     prop_assert!(!bound.is_symbolic());
/// });
/// ```
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed layout must stop the test")]
pub fn symbolic(most: usize) -> impl Strategy<Value = (Lay, Vec<(Symbol, i64)>)> {
    let number = || (any::<bool>(), 0usize..3, select(&[1i64, 2, 4, 8][..]));
    let facts = prop::collection::vec((select(&[1i64, 2, 8][..]), 1i64..5), 3);
    (prop::collection::vec((number(), number()), 1..=most), grouping(most), facts).prop_map(
        |(leaves, groups, facts)| {
            let symbols: Vec<(Symbol, i64)> = facts
                .into_iter()
                .zip(0u8..)
                .map(|((divisor, times), id)| {
                    (Symbol::new(id).divisible_by(divisor).at_least(1), divisor * times)
                })
                .collect();
            let int = |(known, id, n): (bool, usize, i64)| {
                let symbol = Int::symbol(symbols[id].0);
                if known { Int::value(n) } else { symbol.mul(Int::value(n)).expect("a small product") }
            };
            let leaves: Vec<Lay> = leaves
                .into_iter()
                .map(|(s, d)| Lay::leaf(int(s), Stride::Int(int(d))).expect("an extent of at least 1"))
                .collect();
            (tree(&leaves, &groups, false, 1), symbols)
        },
    )
}

/// Layouts of F2 columns below `2^8`, whose extents are powers of two.
///
/// ```
/// use girih_layout::{F2Matrix, strategies::columns};
/// use proptest::prelude::*;
/// proptest!(|(layout in columns(3))| prop_assert!(F2Matrix::of_layout(&layout).is_ok()));
/// ```
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed layout must stop the test")]
pub fn columns(most: usize) -> impl Strategy<Value = Lay> {
    let leaf = (select(&[1i64, 2, 4, 8][..]), 0u64..256);
    let leaf =
        leaf.prop_map(|(s, d)| Lay::leaf(Int::value(s), Stride::F2(d)).expect("an extent of at least 1"));
    trees(most, prop::collection::vec(leaf, 1..=most))
}

/// Layouts whose indices are coordinates of `rank` entries, which are numbers, tuples, or tuples of tuples: strides that
/// are scaled basis vectors.
///
/// ```
/// use girih_layout::strategies::along;
/// use proptest::prelude::*;
/// proptest!(|(layout in along(3, 2))| prop_assert!(layout.coord_at(0, 2).is_ok()));
/// ```
#[expect(clippy::expect_used, reason = "a strategy that makes a malformed layout must stop the test")]
pub fn along(most: usize, rank: usize) -> impl Strategy<Value = Lay> {
    let leaf = (select(EXTENTS), 1i64..9, 0..rank.max(1), 0usize..2, 0usize..3);
    // How deep each entry is: an entry that is a number for one leaf is a number for all.
    let depths = prop::collection::vec(select(&[1usize, 1, 2, ModePath::MAX_DEPTH][..]), rank.max(1));
    let leaves = (prop::collection::vec(leaf, 1..=most), depths).prop_map(|(leaves, depths)| {
        let line = |(s, scale, entry, inner, innermost)| {
            let mode = ModePath::new(&[entry, inner, innermost][..depths[entry]]).expect("few modes");
            Lay::leaf(Int::value(s), Stride::Basis { scale: Int::value(scale), mode })
                .expect("an extent of at least 1")
        };
        leaves.into_iter().map(line).collect()
    });
    trees(most, leaves)
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
