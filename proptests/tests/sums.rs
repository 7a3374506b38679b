//! Sums of symbols: polynomials, by comparison with their values.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Coord, Crd, Error, Int, Lay, Stride, Sum, Symbol, lay};
use proptest::prelude::*;

/// `coefficient * ceil(S/d) * ...`, a symbol by its place among the facts.
type Product = (i64, Vec<(usize, i64)>);

const SYMBOLS: usize = 3;

fn facts() -> impl Strategy<Value = [Symbol; SYMBOLS]> {
    let one = (prop::sample::select(vec![1i64, 1, 2, 3, 4, 6, 12]), 0i64..5, prop::option::of(24i64..60));
    prop::array::uniform3(one).prop_map(|facts| {
        let mut id = 0;
        facts.map(|(divisor, least, most)| {
            let symbol = Symbol::new(id).divisible_by(divisor).at_least(least);
            id += 1;
            most.map_or(symbol, |most| symbol.at_most(most))
        })
    })
}

fn products() -> impl Strategy<Value = Vec<Product>> {
    // The denominators that cancelling leaves are among these: 12 factors, which fit.
    let factor = (0..SYMBOLS, prop::sample::select(vec![1i64, 1, 2, 3, 6]));
    prop::collection::vec((-6i64..7, prop::collection::vec(factor, 0..4)), 0..7)
}

fn int((coefficient, factors): &Product, facts: &[Symbol]) -> Int {
    factors.iter().fold(Int::value(*coefficient), |product, (symbol, den)| {
        product.mul(Int::symbol(facts[*symbol]).ceil_div(Int::value(*den)).unwrap()).unwrap()
    })
}

fn sum<'a>(products: impl IntoIterator<Item = &'a Product>, facts: &[Symbol]) -> Sum {
    products.into_iter().fold(Sum::ZERO, |sum, product| sum.add(&int(product, facts).into()).unwrap())
}

/// The definition.
fn value(products: &[Product], values: &[i64]) -> i64 {
    let factor = |(symbol, den): &(usize, i64)| (values[*symbol] + den - 1).div_euclid(*den);
    products.iter().map(|(c, factors)| c * factors.iter().map(factor).product::<i64>()).sum()
}

/// Numbers that agree with the facts: the least ones and some more.
fn admitted(facts: &[Symbol]) -> Vec<Vec<i64>> {
    let some = |symbol: &Symbol| (0..400).filter(|v| symbol.admits(*v)).take(5).collect::<Vec<_>>();
    facts.iter().map(some).fold(vec![vec![]], |all, values| {
        all.iter().flat_map(|head| values.iter().map(|v| [&head[..], &[*v]].concat())).collect()
    })
}

fn bound(sum: &Sum, facts: &[Symbol], values: &[i64]) -> Sum {
    facts.iter().zip(values).fold(*sum, |sum, (symbol, value)| sum.bind(*symbol, *value).unwrap())
}

proptest! {
    #[test]
    fn a_sum_has_the_values_of_its_products(facts in facts(), a in products(), b in products(), by in products()) {
        let (x, y) = (sum(&a, &facts), sum(&b, &facts));
        let both = x.add(&y).unwrap();
        let scale = by.first().cloned().unwrap_or((3, vec![]));
        let scaled = x.mul(int(&scale, &facts));
        for values in admitted(&facts) {
            let (of_a, of_b) = (value(&a, &values), value(&b, &values));
            prop_assert_eq!(bound(&x, &facts, &values).get(), Some(of_a));
            prop_assert_eq!(bound(&both, &facts, &values).get(), Some(of_a + of_b));
            match &scaled {
                Ok(scaled) => prop_assert_eq!(
                    bound(scaled, &facts, &values).get(),
                    Some(of_a * value(std::slice::from_ref(&scale), &values))
                ),
                Err(error) => prop_assert_eq!(error.kind(), "unsupported", "four factors and more"),
            }
        }
    }

    #[test]
    fn what_is_known_of_a_sum_holds(facts in facts(), a in products(), n in -12i64..13) {
        let sum = sum(&a, &facts);
        for values in admitted(&facts) {
            let value = value(&a, &values);
            prop_assert!(sum.lower().is_none_or(|lower| lower <= value), "{sum} >= {:?}", sum.lower());
            prop_assert!(sum.upper().is_none_or(|upper| upper >= value), "{sum} <= {:?}", sum.upper());
            let divides = if n == 0 { value == 0 } else { value % n == 0 };
            prop_assert!(sum.is_divisible_by(n).is_none_or(|known| known == divides), "{n} | {sum} at {values:?}");
            prop_assert!(sum.get().is_none_or(|known| known == value));
        }
    }

    #[test]
    fn equal_sums_are_equal_polynomials(facts in facts(), a in products(), b in products(), seed in 0usize..100) {
        let x = sum(&a, &facts);
        // In another order, a product in two parts.
        let mut parts = a.clone();
        if let Some((coefficient, factors)) = parts.pop() {
            parts.insert(0, (coefficient - 5, factors.clone()));
            parts.insert(seed % parts.len(), (5, factors));
            parts.rotate_left(seed % a.len());
        }
        let y = sum(&parts, &facts);
        prop_assert_eq!(x, y);
        prop_assert_eq!(y, x);
        // Facts that come later.
        let plain = sum(&a, &[0, 1, 2].map(Symbol::new));
        let assumed = facts.iter().fold(plain, |sum, symbol| sum.assume(*symbol).unwrap());
        prop_assert_eq!(assumed, x);
        // Others are others.
        let z = sum(&b, &facts);
        let differs = admitted(&facts).iter().any(|values| value(&a, values) != value(&b, values));
        prop_assert!(!(differs && x == z), "{x} and {z}");
        let difference = x.add(&z.mul(Int::value(-1)).unwrap()).unwrap();
        prop_assert_eq!(difference.get() == Some(0), x == z);
    }

    #[test]
    fn a_sum_is_read_as_it_is_printed(facts in facts(), a in products()) {
        let sum = sum(&a, &facts);
        prop_assert_eq!(Sum::parse(&sum.to_string()).unwrap(), sum);
        prop_assert_eq!(Sum::parse(&format!("{sum:#}")).unwrap(), sum);
        if let Ok(int) = Int::try_from(sum) {
            prop_assert_eq!(Sum::from(int), sum);
            prop_assert_eq!(int.to_string(), sum.to_string());
        }
    }

    #[test]
    fn sums_of_text_never_panic(text in "[0-9s*+/ceil() _-]{0,24}") {
        if let Ok(sum) = Sum::parse(&text) {
            prop_assert_eq!(Sum::parse(&sum.to_string()).unwrap(), sum);
        }
    }

    /// Index, slice and cosize of a matrix of any pitch, by the definition on the numbers.
    #[test]
    fn layouts_of_any_pitch(
        facts in facts(),
        extents in prop::collection::vec(1i64..6, 1..5),
        strides in prop::collection::vec((0i64..7, prop::collection::vec((0..SYMBOLS, Just(1i64)), 0..3)), 4),
        position in prop::collection::vec(0i64..6, 4),
        open in 0usize..16,
    ) {
        let modes = extents.iter().zip(&strides).map(|(n, d)| Lay::leaf(Int::value(*n), Stride::Int(int(d, &facts))).unwrap());
        let layout = Lay::concat(&modes.collect::<Vec<_>>()).unwrap();
        let position: Vec<i64> = position.iter().zip(&extents).map(|(p, n)| p % n).collect();
        let fixed = Coord::of(&position).unwrap();
        let leaves: Vec<Crd> =
            position.iter().enumerate().map(|(i, p)| if open >> i & 1 == 1 { Crd::All } else { Crd::At(*p) }).collect();
        let slicing = Coord::flat(&leaves).unwrap();
        let (index, cosize, extended) =
            (layout.index(&fixed).unwrap(), layout.cosize().unwrap(), layout.index_extended(&fixed).unwrap());
        let (slice, offset) = layout.slice(&slicing).unwrap();
        prop_assert_eq!(layout.domain_offset(&fixed).unwrap(), index);
        prop_assert_eq!(index, extended);
        for values in admitted(&facts).into_iter().step_by(7) {
            let d = |i: usize| value(std::slice::from_ref(&strides[i]), &values);
            let at = |kept: bool| -> i64 {
                (0..position.len()).filter(|i| kept || open >> i & 1 == 0).map(|i| position[i] * d(i)).sum()
            };
            prop_assert_eq!(bound(&index, &facts, &values).get(), Some(at(true)));
            prop_assert_eq!(bound(&offset, &facts, &values).get(), Some(at(false)));
            let most: i64 = (0..extents.len()).map(|i| (extents[i] - 1) * d(i)).sum();
            prop_assert_eq!(bound(&cosize, &facts, &values).get(), Some(1 + most));
            let known = facts.iter().zip(&values).try_fold(slice, |l, (s, v)| l.bind(*s, *v)).unwrap();
            let free: Vec<i64> = (0..position.len()).filter(|i| open >> i & 1 == 1).map(d).collect();
            let there: Vec<i64> = (0..known.leaf_count()).map(|i| known.flat_leaf(i).1.int().unwrap().get().unwrap()).collect();
            prop_assert_eq!(there, free);
        }
    }
}

#[test]
fn what_a_sum_refuses() {
    let (most, least) = (Sum::from(i64::MAX), Sum::from(i64::MIN));
    assert_eq!(most.add(&1.into()).unwrap_err(), Error::Overflow { op: "a sum" });
    assert_eq!(least.mul(Int::value(-1)).unwrap_err().kind(), "overflow");
    assert_eq!(Sum::parse("9223372036854775807*s0 + s0").unwrap_err().kind(), "overflow");
    assert_eq!(Sum::parse("s0*s1*s2*s3").unwrap_err().kind(), "unsupported");
    assert_eq!(
        Sum::parse("s0*s1*s2").unwrap().mul(Int::symbol(Symbol::new(3))).unwrap_err().kind(),
        "unsupported"
    );
    // As many symbols as a layout has, and no more.
    let symbols = |n: u8| (0..n).try_fold(Sum::ZERO, |sum, id| sum.add(&Int::symbol(Symbol::new(id)).into()));
    assert_eq!(symbols(12).unwrap().terms().count(), 12);
    assert_eq!(symbols(13).unwrap_err().kind(), "capacity");
    // Products of few symbols, more of them than fit: 1, s0 ... of degree up to 3 over 6 symbols.
    let monomials = (0..6u8).flat_map(|a| (a..6).flat_map(move |b| (b..6).map(move |c| [a, b, c])));
    let many = monomials.take(25).try_fold(Sum::ZERO, |sum, ids| {
        let product = ids.iter().try_fold(Int::ONE, |p, id| p.mul(Int::symbol(Symbol::new(*id))))?;
        sum.add(&product.into())
    });
    assert_eq!(many.unwrap_err().kind(), "capacity");
    assert_eq!(Int::try_from(Sum::parse("s0 + 1").unwrap()).unwrap_err().kind(), "unsupported");
    for (text, at) in [("", 0), ("s0 +", 4), ("s0 + + 1", 5), ("+ s0", 0), ("s0 1", 3), ("2*(s0 + 1)", 2)] {
        assert!(
            matches!(Sum::parse(text), Err(Error::Parse { at: found, .. }) if found == at),
            "{text:?}: {:?}",
            Sum::parse(text)
        );
    }
}

#[test]
fn layouts_whose_offsets_no_sum_holds() {
    let coord = |text: &str| Coord::parse(text).unwrap();
    // Where a symbolic extent decides how a position is counted.
    assert_eq!(lay!("(s0,4):(s1,1)").index(&coord("5")).unwrap_err().kind(), "not_known");
    assert_eq!(lay!("(4,4):(s0,1)").index(&coord("(4,0)")).unwrap_err().kind(), "coord_out_of_range");
    assert_eq!(lay!("(4,4):(s0,1)").index(&coord("(_,0)")).unwrap_err().kind(), "unsupported");
    // An exclusive or is no sum.
    let mixed = Lay::parse("(4,4):(s0,^5)").unwrap();
    assert_eq!(mixed.index(&coord("(3,1)")).unwrap_err().kind(), "unsupported");
    assert_eq!(mixed.index(&coord("(3,0)")).unwrap().to_string(), "3*s0");
    assert_eq!(mixed.slice(&coord("(3,_)")).unwrap_err().kind(), "unsupported");
    assert_eq!(mixed.domain_offset(&coord("(3,0)")).unwrap_err().kind(), "unsupported");
    assert_eq!(lay!("(4,4):(-1*s0,1)").cosize().unwrap_err().kind(), "non_positive_stride");
    assert_eq!(lay!("(4,4):(-1*s0,1)").span().unwrap().to_string(), "3*s0 + 4");
    assert_eq!(lay!("(4,4):(s0,1)").crd2idx(&coord("(3,2)")).unwrap_err().kind(), "not_known");
    let far = Lay::parse("(4,4):(9223372036854775807*s0,1)").unwrap();
    assert_eq!(far.index(&coord("(3,2)")).unwrap_err().kind(), "overflow");
}
