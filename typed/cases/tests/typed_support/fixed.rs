//! One static case each: the type of the result is the run-time result, leaf by leaf, and its indices are the same.

#![allow(clippy::unwrap_used, reason = "it is a part of tests")]

use girih_layout::Lay;
use girih_typed::{Layout, Modes};

pub(crate) fn same<M: Modes>(found: Layout<M>, exact: &Lay) {
    compare(&found.lay(), size_of::<Layout<M>>(), exact, &|c| found.at_signed(c));
}

fn compare(found: &Lay, bytes: usize, exact: &Lay, at: &dyn Fn(usize) -> i64) {
    assert_eq!(found, exact);
    assert!(found.is_static() && bytes == 0, "{found:?}");
    for c in 0..exact.size().unwrap().get().unwrap() {
        assert_eq!(at(c as usize), exact.at(c).unwrap(), "{found} at {c}");
    }
}

/// The same for layouts along basis vectors.
pub(crate) fn same_coordinates<M: Modes>(found: Layout<M>, exact: &Lay) {
    assert_eq!(&found.lay(), exact);
    assert!(found.lay().is_static() && size_of::<Layout<M>>() == 0, "{found}");
    for c in 0..exact.size().unwrap().get().unwrap() {
        let coordinate = exact.coord_at(c, 4).unwrap();
        let at = found.coord_at::<_, 4>(c as usize).map(|axis| girih_layout::Crd::At(axis as i64));
        assert!(coordinate.leaves().eq(at), "{found} at {c}");
    }
}

/// The same where the coordinates are nested, which no array holds.
pub(crate) fn same_nested<M: Modes>(found: Layout<M>, exact: &Lay) {
    assert_eq!(&found.lay(), exact);
    assert!(found.lay().is_static() && size_of::<Layout<M>>() == 0, "{found}");
}

macro_rules! nested {
    ($found:expr, $exact:literal) => {
        support::same_nested($found, &girih_layout::Lay::parse($exact).unwrap())
    };
}

macro_rules! coordinates {
    ($found:expr, $exact:literal) => {
        support::same_coordinates($found, &girih_layout::Lay::parse($exact).unwrap())
    };
}

macro_rules! unary {
    (coalesce, $a:expr) => {
        support::same($a.coalesce(), &$a.lay().coalesce())
    };
    (left_inverse, $a:expr) => {
        support::same($a.left_inverse(), &$a.lay().left_inverse().unwrap())
    };
    (right_inverse, $a:expr) => {
        support::same($a.right_inverse(), &$a.lay().right_inverse().unwrap())
    };
}

macro_rules! complement {
    ($a:expr, $n:literal) => {
        support::same($a.complement(int!($n)), &$a.lay().complement(girih_layout::Int::fixed($n)).unwrap())
    };
}

macro_rules! binary {
    (composition, $a:expr, $t:expr) => {
        support::same(
            $a.composition($t),
            &$a.lay().compose(&girih_typed::Tiler::erase(&$t).unwrap()).unwrap(),
        )
    };
    ($op:ident, $a:expr, $t:expr) => {
        support::same($a.$op($t), &$a.lay().$op(&girih_typed::Tiler::erase(&$t).unwrap()).unwrap())
    };
}

macro_rules! pairs {
    ($op:ident, $a:expr, $t:expr) => {
        support::same($a.$op($t), &$a.lay().$op(&$t.lay()).unwrap())
    };
}

macro_rules! answer {
    ($found:expr, $exact:literal) => {
        support::same($found, &girih_layout::Lay::parse($exact).unwrap())
    };
}

macro_rules! number {
    ($found:expr, $exact:literal) => {
        assert_eq!(format!("{}:0", $found), $exact)
    };
}
