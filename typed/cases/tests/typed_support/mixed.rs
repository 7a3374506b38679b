//! One case each with dynamic integers: an answer is the run-time layer's as a function, mode by mode. Says whether there was one.

#![allow(clippy::unwrap_used, reason = "it is a part of tests")]

use girih_layout::{Error, Lay};
use girih_typed::{Layout, Modes};

/// A dynamic integer.
pub(crate) fn d(n: usize) -> usize {
    std::hint::black_box(n)
}

/// For results whose two modes are the operation's own.
pub(crate) fn same_pair<M: Modes>(found: Result<Layout<M>, Error>, exact: &Lay) -> bool {
    if let Ok(found) = &found {
        let found = found.erase().unwrap();
        for k in 0..exact.rank() {
            assert_eq!(found.mode(k).unwrap().size(), exact.mode(k).unwrap().size(), "{found} for {exact}");
        }
        assert_eq!(found.rank(), exact.rank(), "{found} for {exact}");
    }
    same(found, exact)
}

/// For results of which the number of modes may depend on what is static.
pub(crate) fn same<M: Modes>(found: Result<Layout<M>, Error>, exact: &Lay) -> bool {
    match found {
        Ok(found) => compare(&found.erase().unwrap(), exact, &|c| found.at_signed(c)),
        Err(Error::Unsupported { what, .. }) if what.starts_with("these values") => return false,
        Err(error) => panic!("{exact}: {error}"),
    }
    true
}

fn compare(found: &Lay, exact: &Lay, at: &dyn Fn(usize) -> i64) {
    assert_eq!(found.size(), exact.size(), "{found} for {exact}");
    for c in 0..exact.size().unwrap().get().unwrap() {
        assert_eq!(at(c as usize), exact.at(c).unwrap(), "{found} for {exact} at {c}");
    }
}

/// What is common to two layouts may stop where nothing more is provable.
pub(crate) fn common<A: Modes, B: Modes, R: Modes>(
    a: Layout<A>,
    b: Layout<B>,
    found: Result<Layout<R>, Error>,
) -> bool {
    let common = found.unwrap();
    counts(a, common) && counts(b, common)
}

/// A right inverse is whole, `a(r(i)) = i`, or its type has no room for it.
pub(crate) fn inverts<M: Modes, R: Modes>(a: Layout<M>, found: Result<Layout<R>, Error>) -> bool {
    let r = match found {
        Err(Error::Unsupported { what, .. }) if what.starts_with("these values") => return false,
        found => found.unwrap(),
    };
    assert_eq!(r.erase().unwrap().size(), a.erase().unwrap().right_inverse().unwrap().size(), "{a}");
    counts(a, r)
}

/// Whether the places of the indices 0, 1, 2 ... are those.
fn counts<M: Modes, R: Modes>(a: Layout<M>, r: Layout<R>) -> bool {
    for i in 0..r.try_size().unwrap() {
        assert_eq!(a.at_signed(r.at(i)), i as i64, "{a} after {r} at {i}");
    }
    true
}

/// The same for layouts along basis vectors.
pub(crate) fn same_coordinates<M: Modes>(found: Result<Layout<M>, Error>, exact: &Lay) -> bool {
    let found = match found {
        Err(Error::Unsupported { what, .. }) if what.starts_with("these values") => return false,
        found => found.unwrap(),
    };
    assert_eq!(found.erase().unwrap().size(), exact.size(), "{found} for {exact}");
    for c in 0..exact.size().unwrap().get().unwrap() {
        let coordinate = exact.coord_at(c, 4).unwrap();
        let at = found.coord_at::<_, 4>(c as usize).map(|axis| girih_layout::Crd::At(axis as i64));
        assert!(coordinate.leaves().eq(at), "{found} for {exact} at {c}");
    }
    true
}

/// The same where the coordinates are nested, which no array holds.
pub(crate) fn same_nested<M: Modes>(found: Result<Layout<M>, Error>, exact: &Lay) -> bool {
    let found = match found {
        Err(Error::Unsupported { what, .. }) if what.starts_with("these values") => return false,
        found => found.unwrap().erase().unwrap(),
    };
    assert_eq!(found.size(), exact.size(), "{found} for {exact}");
    for c in 0..exact.size().unwrap().get().unwrap() {
        assert_eq!(found.coord_at(c, 4), exact.coord_at(c, 4), "{found} for {exact} at {c}");
    }
    true
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
        support::same($a.try_coalesce(), &$a.erase().unwrap().coalesce())
    };
    (left_inverse, $a:expr) => {
        support::leads_back($a, $a.try_left_inverse())
    };
    (quasi_inverse, $a:expr) => {
        support::leads_back($a, $a.try_quasi_inverse())
    };
    (right_inverse, $a:expr) => {
        support::inverts($a, $a.try_right_inverse())
    };
}

macro_rules! complement {
    ($a:expr, $n:literal) => {
        support::same(
            $a.try_complement(d($n)),
            &$a.erase().unwrap().complement(girih_layout::Int::value($n)).unwrap(),
        ) && support::same(
            $a.try_complement(int!($n)),
            &$a.erase().unwrap().complement(girih_layout::Int::value($n)).unwrap(),
        )
    };
}

macro_rules! binary {
    (composition try_composition, $a:expr, $t:expr) => {
        binary!(same compose try_composition, $a, $t)
    };
    (tiled_divide try_tiled_divide, $a:expr, $t:expr) => {
        binary!(same tiled_divide try_tiled_divide, $a, $t)
    };
    (flat_divide try_flat_divide, $a:expr, $t:expr) => {
        binary!(same flat_divide try_flat_divide, $a, $t)
    };
    (tiled_product try_tiled_product, $a:expr, $t:expr) => {
        binary!(same tiled_product try_tiled_product, $a, $t)
    };
    (flat_product try_flat_product, $a:expr, $t:expr) => {
        binary!(same flat_product try_flat_product, $a, $t)
    };
    ($op:ident $try:ident, $a:expr, $t:expr) => {
        binary!(same_pair $op $try, $a, $t)
    };
    ($same:ident $op:ident $try:ident, $a:expr, $t:expr) => {
        support::$same(
            $a.$try($t),
            &$a.erase().unwrap().$op(&girih_typed::Tiler::erase(&$t).unwrap()).unwrap(),
        )
    };
}

macro_rules! pairs {
    ($op:ident $try:ident, $a:expr, $t:expr) => {
        support::same_pair($a.$try($t), &$a.erase().unwrap().$op(&$t.erase().unwrap()).unwrap())
    };
}

macro_rules! common {
    ($a:expr, $b:expr) => {
        support::common($a, $b, $a.try_max_common_layout($b))
    };
}

/// A left inverse means nothing off the image: `a(l(a(i))) = a(i)`.
pub(crate) fn leads_back<M: Modes, L: Modes>(a: Layout<M>, found: Result<Layout<L>, Error>) -> bool {
    let l = match found {
        Err(Error::Unsupported { what, .. }) if what.starts_with("these values") => return false,
        found => found.unwrap(),
    };
    for i in 0..a.try_size().unwrap() {
        assert_eq!(a.at(l.at(a.at(i))), a.at(i), "{l} of {a} at {i}");
    }
    true
}

macro_rules! answer {
    ($found:expr, $exact:literal) => {
        support::same($found, &girih_layout::Lay::parse($exact).unwrap())
    };
}

macro_rules! number {
    ($found:expr, $exact:literal) => {{
        assert_eq!(format!("{}:0", $found.unwrap()), $exact);
        true
    }};
}

/// Most cases must have an answer, or they say little. Without one are chiefly those whose dynamic strides belong between static ones.
pub(crate) fn enough(answered: &[bool], percent: usize) {
    let n = answered.iter().filter(|answered| **answered).count();
    assert!(n * 100 >= answered.len() * percent, "{n} of {} answered", answered.len());
}
