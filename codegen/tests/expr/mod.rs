//! The normal form against plain integers.

#![expect(clippy::unwrap_used, reason = "tests")]

pub(crate) mod formula;
mod large;
pub(crate) mod program;

use girih_codegen::{Builder, Error, Expr, Gmem, Memory};
use girih_layout::{Coord, F2Matrix, Int, Lay, Stride, Swizzle, Symbol};
use girih_ptx::Type;
use girih_tensor::{DType, Slice, Tensor};
use proptest::prelude::*;

use formula::{Formula, Leaf};
use program::{programs, swizzles};

/// The least and the greatest value of a variable, and a divisor of all its values.
const VARIABLES: [(i64, i64, i64); 7] =
    [(0, 31, 1), (0, 127, 1), (0, 1016, 8), (-4, 3, 1), (-7, 90, 1), (0, 3 << 20, 3), (16, 48, 4)];

/// Registers of a kernel, from number 0 on, with their least and greatest values and the divisors of their values.
fn registers<const N: usize>(facts: [(i64, i64, i64); N]) -> [Expr; N] {
    let mut b = Builder::new("k", 80, 32);
    facts.map(|(lower, upper, multiple)| {
        let reg = b.reg(Type::B64);
        b.var(&reg, lower, upper, multiple)
    })
}

/// Every variable, two symbols and the quotient of a symbol, rounded up.
fn inputs() -> Vec<Expr> {
    let [m, ld] = symbols();
    let tiles = Int::symbol(m).ceil_div(Int::fixed(48)).unwrap();
    let ints = [Int::symbol(m), Int::symbol(ld), tiles].map(|i| Expr::from_int(&i));
    registers(VARIABLES).into_iter().chain(ints).collect()
}

fn symbols() -> [Symbol; 2] {
    [Symbol::new(0).at_most(1 << 20), Symbol::new(1).at_least(1).at_most(1 << 30).divisible_by(8)]
}

/// A value for each variable, then one for each symbol.
fn valuations() -> impl Strategy<Value = Vec<i64>> {
    let edge = |lower: i64, upper: i64, multiple: i64| {
        let (first, last) = ((lower + multiple - 1).div_euclid(multiple), upper.div_euclid(multiple));
        prop_oneof![1 => Just(first), 1 => Just(last), 3 => first..=last].prop_map(move |i| i * multiple)
    };
    let variables = VARIABLES.map(|(lower, upper, multiple)| edge(lower, upper, multiple)).to_vec();
    let symbols = symbols().map(|s| edge(s.lower(), s.upper().unwrap(), s.divisor())).to_vec();
    (variables, symbols).prop_map(|(mut v, s)| {
        v.extend(s);
        v
    })
}

fn leaf(values: &[i64]) -> impl Fn(Leaf) -> i64 {
    move |leaf| match leaf {
        Leaf::Var(number) => values[number],
        Leaf::Symbol(number) => values[VARIABLES.len() + number],
    }
}

/// The bits below 2^47 that can be set in some value: those that a mask does not make 0.
fn possible_bits(expr: &Expr) -> i64 {
    let possible = |bit: &i64| expr.and(*bit).unwrap() != Expr::from(0);
    (0..47).map(|bit| 1 << bit).filter(possible).sum()
}

/// The registers of extents 4, 8 and 16 of index `i`, the first fastest.
fn digit_of(i: i64) -> impl Fn(Leaf) -> i64 {
    move |leaf| match leaf {
        Leaf::Var(0) => i % 4,
        Leaf::Var(1) => i / 4 % 8,
        _ => i / 32,
    }
}

/// Checks that the range, the divisor and the possible bits of an expression hold for `value`, one of its values.
fn check_claims(expr: &Expr, possible: Option<i64>, value: i64) -> Result<(), TestCaseError> {
    let (lower, upper) = expr.range();
    prop_assert!((lower..=upper).contains(&value), "{expr} = {value} is outside {lower}..={upper}");
    let multiple = expr.multiple();
    let divided = if multiple == 0 { value == 0 } else { value % multiple == 0 };
    prop_assert!(divided, "{expr} = {value} is no multiple of {multiple}");
    if let Some(possible) = possible {
        prop_assert!(value & !possible == 0, "{expr} = {value:#b} has a bit outside {possible:#b}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn normal_forms_are_the_direct_computation(
        program in programs(8),
        valuations in proptest::collection::vec(valuations(), 12),
    ) {
        let inputs = inputs();
        let computation = program.over(&inputs);
        let formulas: Vec<Formula> = computation.exprs.iter().map(Formula::of).collect();
        let natural = |expr: &Expr| (expr.range().0 >= 0).then(|| possible_bits(expr));
        let possible: Vec<_> = computation.exprs.iter().map(natural).collect();
        for values in valuations {
            let leaf = leaf(&values);
            let given: Vec<i64> = formulas[..inputs.len()].iter().map(|f| f.value(&leaf)).collect();
            for (i, value) in computation.values(&given).into_iter().enumerate() {
                let expr = &computation.exprs[i];
                prop_assert_eq!(formulas[i].value(&leaf), value, "{} with {:?}", expr, &values);
                check_claims(expr, possible[i], value)?;
            }
        }
    }

    /// A polynomial is the same value in whatever order it is built.
    #[test]
    fn equal_polynomials_are_equal(
        terms in proptest::collection::vec((0..VARIABLES.len(), 0..VARIABLES.len(), -9..9i64), 1..6),
    ) {
        let variables = registers(VARIABLES);
        let sum = |terms: &mut dyn Iterator<Item = &(usize, usize, i64)>| {
            terms.fold(Expr::from(5), |sum, &(a, b, by)| &sum + &(&(&variables[a] * &variables[b]) * by))
        };
        let swapped: Vec<_> = terms.iter().map(|&(a, b, by)| (b, a, by)).collect();
        prop_assert_eq!(sum(&mut terms.iter()), sum(&mut swapped.iter().rev()));
        prop_assert_eq!(&sum(&mut terms.iter()) - &sum(&mut swapped.iter()), Expr::from(0));
    }

    /// `Sw` of an offset that a layout gives, at every coordinate.
    #[test]
    fn swizzles_of_offsets(swizzle in swizzles(), strides in [0..200i64, 0..200, 0..200], start in 0..3000i64) {
        let bounds = [4, 8, 16];
        let digits = registers(bounds.map(|n| (0, n - 1, 1)));
        let offset = digits.iter().zip(strides).fold(Expr::from(start), |sum, (digit, by)| &sum + &(digit * by));
        let swizzled = offset.swizzle(&swizzle).unwrap();
        let [plain_text, swizzled_text] = [&offset, &swizzled].map(Formula::of);
        for i in 0..bounds.iter().product::<i64>() {
            let leaf = digit_of(i);
            let plain = plain_text.value(&leaf);
            prop_assert_eq!(swizzled_text.value(&leaf), swizzle.apply(plain), "{} of {}", swizzle, offset);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    /// A map of bits is applied to an offset that a layout gives, at every coordinate; the map may also be one that
    /// loses bits.
    #[test]
    fn linear_maps_of_offsets(
        columns in proptest::collection::vec(0..256u64, 0..9), strides in [0..200i64, 0..200, 0..200], start in 0..3000i64,
    ) {
        let map = F2Matrix::of_columns(&columns).unwrap();
        let bounds = [4, 8, 16];
        let digits = registers(bounds.map(|n| (0, n - 1, 1)));
        let offset = digits.iter().zip(strides).fold(Expr::from(start), |sum, (digit, by)| &sum + &(digit * by));
        let mapped = offset.linear(&map).unwrap();
        let [plain_text, mapped_text] = [&offset, &mapped].map(Formula::of);
        for i in 0..bounds.iter().product::<i64>() {
            let leaf = digit_of(i);
            let plain = plain_text.value(&leaf);
            let low = (0..columns.len()).filter(|bit| plain >> bit & 1 == 1).fold(0, |sum, bit| sum ^ columns[bit]);
            let expected = low as i64 ^ (plain >> columns.len() << columns.len());
            prop_assert_eq!(mapped_text.value(&leaf), expected, "{:?} of {}", map, offset);
        }
    }
}

#[test]
fn what_a_divisor_divides_leaves_the_division() {
    let [x, y, low, high, wide] =
        registers([(0, 7, 1), (0, 1000, 1), (-4, 3, 1), (1, 9, 1), (0, 1 << 60, 1)]);
    let sum = &(&(&y * 8) + &x) + 16; // 8y + x + 16, x < 8
    assert_eq!(sum.div(8).unwrap(), &y + 2);
    assert_eq!(sum.rem(8).unwrap(), x);
    assert_eq!(sum.div(4).unwrap(), &(&(&y * 2) + 4) + &x.div(4).unwrap());
    assert_eq!(sum.div(2).unwrap().div(4).unwrap(), &y + 2);
    // A remainder that can be negative borrows: `(8y + x) / 8` is less than `y` for negative `x`.
    let borrowing = &(&high * 8) + &low;
    for (low, high) in (-4..=3).flat_map(|l| (1..=9).map(move |h| (l, h))) {
        let value =
            |expr: &Expr| Formula::of(expr).value(&|leaf| if leaf == Leaf::Var(2) { low } else { high });
        assert_eq!(value(&borrowing.div(8).unwrap()), (8 * high + low) / 8);
        assert_eq!(value(&borrowing.rem(8).unwrap()), (8 * high + low) % 8);
    }
    assert_eq!(x.div(8).unwrap(), Expr::from(0));
    assert_eq!(x.rem(8).unwrap(), x);
    assert_eq!(y.div(10).unwrap().div(10).unwrap(), y.div(100).unwrap());
    assert_eq!(y.div(1).unwrap(), y);
    // A quotient beyond any value.
    let far = y.div(i64::MAX / 2).unwrap();
    assert_eq!(far.as_constant(), Some(0));
    let wide = wide.div(1 << 32).unwrap().div(1 << 32).unwrap();
    assert_eq!(Formula::of(&wide).value(&|_| 1 << 60), 0);
}

#[test]
fn bit_disjoint_operands_need_no_instruction() {
    let [lane, warp] = registers([(0, 31, 1), (0, 3, 1)]);
    let thread = &lane + &(&warp * 32);
    assert_eq!(lane.xor(&(&warp * 32)).unwrap(), thread);
    assert_eq!(lane.xor(&lane).unwrap(), Expr::from(0));
    assert_eq!(thread.and(31).unwrap(), lane);
    assert_eq!(thread.and(127).unwrap(), thread);
    assert_eq!(thread.and(7 << 33 | 5).unwrap(), thread.and(5).unwrap());
    assert_eq!(thread.and(!127 & i64::MAX).unwrap(), Expr::from(0));
    // The swizzle moves bits 3.. to 0..; the bits above come out as they went in, and constants become immediates.
    let offset = &(&lane + &(&warp * 1024)) + 4096;
    let swizzled = offset.swizzle(&Swizzle::new(2, 0, 3).unwrap()).unwrap();
    assert_eq!(swizzled.constant(), 4096);
    assert!(swizzled.to_string().contains("1024*v1"), "{swizzled}");
}

#[test]
fn ranges_decide_minima_and_maxima() {
    let [low, high] = registers([(-5, 4, 1), (4, 9, 1)]);
    assert_eq!((low.minimum(&high), low.maximum(&high)), (low.clone(), high.clone()));
    assert_eq!((high.minimum(&low), high.maximum(&low)), (low.clone(), high));
    assert_eq!(low.maximum(&Expr::from(0)).range(), (0, 4));
}

#[test]
fn arithmetic_without_a_rule_is_refused() {
    let [natural, signed] = registers([(0, 9, 1), (-1, 9, 1)]);
    let swizzle = Swizzle::new(2, 0, 3).unwrap();
    let refused = [
        ("a negative operand", signed.div(3), "division", Some(3)),
        ("a negative operand", signed.rem(3), "remainder", Some(3)),
        ("a zero divisor", natural.div(0), "division", Some(0)),
        ("a zero divisor", natural.rem(0), "remainder", Some(0)),
        ("a negative divisor", natural.div(-2), "division", Some(-2)),
        ("a negative divisor", natural.rem(i64::MIN), "remainder", Some(i64::MIN)),
        ("a negative operand", signed.and(7), "and", Some(7)),
        ("a negative mask", natural.and(-8), "and", Some(-8)),
        ("a negative operand", signed.xor(&natural), "exclusive or", None),
        ("a negative operand", natural.xor(&signed), "exclusive or", None),
        ("a negative operand", signed.swizzle(&swizzle), "swizzle", None),
        ("a negative constant", Expr::from(-3).swizzle(&swizzle), "swizzle", None),
    ];
    for (what, result, operation, by) in refused {
        match result {
            Err(Error::Arithmetic { operation: found, by: at, operand, accepted }) => {
                assert_eq!((found, at), (operation, by), "{what}");
                assert!(!operand.is_empty() && accepted.contains("non-negative"), "{what}: {accepted}");
            }
            other => panic!("{what}: {other:?}"),
        }
    }
    let message = signed.xor(&natural).unwrap_err().to_string();
    assert!(!message.contains(" by "), "{message}");
    let message = signed.div(3).unwrap_err().to_string();
    assert_eq!(message, "division of v1 by 3: a non-negative expression and a positive constant is accepted");
}

#[test]
fn expressions_print_as_sums_of_products() {
    let [x, y, ..] = registers(VARIABLES);
    let sum = &(&(&x * &y) * 3) + &(&y.div(10).unwrap() + 7);
    assert_eq!(sum.to_string(), "3*v0*v1 + (v1)/10 + 7");
    assert_eq!(Expr::from(-2).to_string(), "-2");
    let tiles = Int::symbol(symbols()[0]).ceil_div(Int::fixed(48)).unwrap();
    assert_eq!(Expr::from_int(&tiles).to_string(), "ceil(s0/48)");
}

/// The algebra's sum and the steps of a kernel's engine are one polynomial.
#[test]
fn an_index_is_the_offset_of_a_slice() {
    let [m, ld] = symbols();
    let tiles = Int::symbol(m).ceil_div(Int::fixed(48)).unwrap();
    let area = Int::symbol(ld).mul(tiles).unwrap();
    let strides = [Int::symbol(ld), Int::ONE, area, Int::value(-7)];
    let modes = strides.map(|stride| Lay::leaf(Int::fixed(5), Stride::Int(stride)).unwrap());
    let layout = Lay::concat(&modes).unwrap();
    let [pointer] = registers([(0, 1 << 40, 4)]);
    let tensor = Tensor::new(Gmem::new(pointer.clone(), DType::F32), layout);
    for position in [[0, 0, 0, 0], [1, 2, 3, 4], [4, 0, 1, 0]] {
        let slice = Slice::tuple(position.map(|p| Slice::At(Expr::from(p))));
        let part = tensor.slice(&slice).unwrap();
        let index = layout.index(&Coord::of(&position).unwrap()).unwrap();
        let address = &pointer + &(&Expr::from_sum(&index) * 4);
        assert_eq!(part.engine().address().unwrap(), address, "{index}");
    }
}
