//! Symbols: whatever an operation answers for symbols is what it answers for every value that their facts admit.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_layout::{Error, Fact, Int, Lay, Shape, Stride, Symbol, Tiler, lay, tiler};
use girih_proptests::oracle;
use proptest::prelude::*;
use proptest::sample::select;

const M: Symbol = Symbol::new(0);
const N: Symbol = Symbol::new(1);
const LD: Symbol = Symbol::new(2);

fn bound(l: &Lay, values: [i64; 3]) -> Lay {
    let mut out = *l;
    for (symbol, value) in [M, N, LD].into_iter().zip(values) {
        out = out.bind(symbol, value).unwrap();
    }
    out
}

fn symbol(id: u8) -> impl Strategy<Value = (Symbol, i64)> {
    (select(&[1i64, 2, 3, 8, 12, 32][..]), 1i64..20, any::<bool>()).prop_map(move |(by, times, bounded)| {
        let symbol = Symbol::new(id).divisible_by(by);
        let value = by * times;
        (if bounded { symbol.at_least(value / 2).at_most(value + 5) } else { symbol }, value)
    })
}

/// Facts of every magnitude, as they are stated.
fn facts() -> impl Strategy<Value = Vec<Fact>> {
    let number = prop_oneof![4 => 1i64..50, 2 => 1i64..1 << 40, 1 => 1..i64::MAX];
    let fact = (0..3, number).prop_map(|(kind, n)| match kind {
        0 => Fact::DivisibleBy(n),
        1 => Fact::AtLeast(n),
        _ => Fact::AtMost(n),
    });
    prop::collection::vec(fact, 1..6)
}

fn stated(id: u8, facts: &[Fact]) -> Symbol {
    facts.iter().fold(Symbol::new(id), |symbol, fact| match *fact {
        Fact::DivisibleBy(n) => symbol.divisible_by(n),
        Fact::AtLeast(n) => symbol.at_least(n),
        Fact::AtMost(n) => symbol.at_most(n),
    })
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn holds(facts: &[Fact], value: i64) -> bool {
    value >= 0
        && facts.iter().all(|fact| match *fact {
            Fact::DivisibleBy(n) => value % n == 0,
            Fact::AtLeast(n) => value >= n,
            Fact::AtMost(n) => value <= n,
        })
}

/// `c * S / d` in every form that the arithmetic can make.
fn int() -> impl Strategy<Value = (Int, i64)> {
    let factor = (symbol(0), select(&[1i64, 2, 4, 6, 8, 128][..])).prop_map(|((s, value), den)| {
        (Int::symbol(s).ceil_div(Int::fixed(den)).unwrap(), (value + den - 1) / den)
    });
    (factor, select(&[1i64, 2, 3, 8, 16][..]))
        .prop_map(|((int, value), c)| (int.mul(Int::value(c)).unwrap(), value * c))
}

/// What a symbolic integer is at launch.
fn at(int: Int, value: i64) -> i64 {
    let admitted = int.factors().into_iter().flatten().next().map_or(M, |f| f.symbol);
    int.bind(admitted, value).unwrap().get().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn arithmetic_agrees_with_numbers((s, value) in symbol(0), c in 1i64..20, d in 1i64..40, e in 1i64..40) {
        let x = Int::symbol(s);
        let y = x.mul(Int::value(c)).unwrap();
        prop_assert_eq!(at(y, value), c * value);
        match y.ceil_div(Int::value(d)) {
            Ok(q) => {
                prop_assert_eq!(at(q, value), (c * value + d - 1) / d);
                if let Ok(q) = q.ceil_div(Int::value(e)) {
                    prop_assert_eq!(at(q, value), (c * value + d * e - 1) / (d * e));
                }
                let back = q.mul(Int::value(d)).unwrap();
                prop_assert_eq!(at(back, value), (c * value + d - 1) / d * d);
                prop_assert!(y.is_divisible_by(d) != Some(true) || back == y);
            }
            Err(Error::NeedsFact { symbol, fact: Fact::DivisibleBy(n), .. }) => {
                // The named fact settles it.
                let better = Int::symbol(symbol.divisible_by(n)).mul(Int::value(c)).unwrap();
                prop_assert!(better.ceil_div(Int::value(d)).is_ok());
            }
            // A fact that would settle it contradicts what is known.
            Err(error) => prop_assert_eq!(error.kind(), "not_known", "{}", error),
        }
        if let Some(q) = y.div_exact(Int::value(d)) {
            prop_assert_eq!(at(q, value) * d, c * value);
        } else {
            prop_assert!(y.is_divisible_by(d) != Some(true));
        }
    }

    /// Lower end, upper end, divisor and verdict are those of all the facts together, to the last unit, wherever the symbol has been.
    #[test]
    fn facts_are_kept_exactly(facts in facts(), probe in 0..i64::MAX, times in 0i64..100) {
        let symbol = stated(0, &facts);
        let leaf = Lay::leaf(Int::symbol(symbol), Stride::from(1)).unwrap();
        let held = Lay::concat(&[leaf, lay!("(8,s1):(s0,1)")]).unwrap();
        let held = held.mode(0).unwrap().flat_leaf(0).0.factors()[0].unwrap().symbol;
        let lcm = facts.iter().fold(1i128, |lcm, fact| match *fact {
            Fact::DivisibleBy(n) if lcm <= i64::MAX.into() => lcm / i128::from(gcd(lcm as i64, n)) * i128::from(n),
            _ => lcm,
        });
        for symbol in [symbol, held] {
            let ends = [symbol.lower(), symbol.upper().unwrap_or(i64::MAX)];
            let near = |end: i64| [end.saturating_sub(1), end, end.saturating_add(1)];
            let multiple = symbol.divisor().saturating_mul(times);
            for value in [probe, probe % 1000, 0, multiple].into_iter().chain(ends.into_iter().flat_map(near)) {
                prop_assert_eq!(symbol.admits(value), holds(&facts, value), "{:?} of {:?} at {}", symbol, facts, value);
            }
            // Both ends are values, unless there is none or nothing bounds it.
            let [lower, upper] = ends;
            if (1..=1 << 62).contains(&lcm) && lower <= upper && lower < i64::MAX {
                prop_assert!(i128::from(symbol.divisor()) == lcm || upper == 0, "{:?} of {:?}", symbol, facts);
                prop_assert!(symbol.admits(lower), "{:?}", symbol);
                prop_assert!(symbol.upper().is_none_or(|upper| symbol.admits(upper)), "{:?}", symbol);
            }
        }
    }

    #[test]
    fn facts_are_true((x, _) in int(), k in 0i64..200, n in 1i64..40) {
        // Any value that the facts admit, not the one they were made from.
        let symbol = x.factors()[0].unwrap().symbol;
        let value = k * symbol.divisor();
        if !symbol.admits(value) {
            return Ok(()); // not what the law is about
        }
        let number = at(x, value);
        prop_assert!(x.is_divisible_by(n) != Some(true) || number % n == 0);
        prop_assert!(x.lower().is_none_or(|lower| lower <= number));
        prop_assert!(x.upper().is_none_or(|upper| number <= upper));
        prop_assert!(x.less(Int::value(n)).is_none_or(|less| less == (number < n)));
    }

    #[test]
    fn products_of_symbols_commute((a, x) in symbol(0), (b, y) in symbol(1), c in 1i64..9) {
        let (p, q) = (Int::symbol(a).mul(Int::symbol(b)).unwrap(), Int::symbol(b).mul(Int::symbol(a)).unwrap());
        prop_assert_eq!(p, q);
        let scaled = p.mul(Int::value(c)).unwrap();
        prop_assert_eq!(scaled.bind(a, x).unwrap().bind(b, y).unwrap().get(), Some(c * x * y));
        prop_assert_eq!(scaled.div_exact(Int::symbol(a)), Some(Int::symbol(b).mul(Int::value(c)).unwrap()));
        prop_assert_eq!(p.mul(p).unwrap_err().kind(), "unsupported");
        prop_assert_eq!(Int::parse(&scaled.to_string()).unwrap(), scaled);
    }

    #[test]
    fn bounds_are_sound(n in 1i64..1_000_000_000, by in 1i64..3_000_000, and in 1i64..4_000) {
        let s = M.at_least(n).at_most(n);
        prop_assert!(s.lower() <= n && n <= s.upper().unwrap());
        prop_assert!(s.lower() > n / 2 && s.upper().unwrap() < 2 * n);
        let s = M.divisible_by(by).divisible_by(and);
        prop_assert_eq!(by * and % s.divisor(), 0);
        prop_assert!(s.divisor() % and == 0 || s.divisor() % by == 0 || by > 1 << 20 || by * and > 1 << 20);
    }

    /// Tiling a matrix of any size and pitch, then binding, is binding, then tiling.
    #[test]
    fn divides_commute_with_binding(
        m in 1i64..40, n in 1i64..40, extra in 0i64..9, p in 1i64..9, q in 1i64..9, row_major: bool,
    ) {
        let (rows, columns, ld) = (Int::symbol(M), Int::symbol(N), Stride::Int(Int::symbol(LD)));
        let one = Stride::Int(Int::ONE);
        let strides = if row_major { [ld, one] } else { [one, ld] };
        let a = Lay::concat(&[Lay::leaf(rows, strides[0]).unwrap(), Lay::leaf(columns, strides[1]).unwrap()]).unwrap();
        let tiler = Tiler::sizes(&[p, q]).unwrap();
        let values = [m, n, m.max(n) + extra];
        let numbers = bound(&a, values);
        for op in [Lay::logical_divide, Lay::zipped_divide, Lay::tiled_divide, Lay::flat_divide] {
            let (symbolic, known) = (op(&a, &tiler).unwrap(), op(&numbers, &tiler).unwrap());
            prop_assert_eq!(oracle::table(&bound(&symbolic, values)), oracle::table(&known));
        }
        // A thread layout on top of the tile.
        let tile = a.zipped_divide(&tiler).unwrap().mode(0).unwrap();
        let threads = Tiler::sizes(&[1, q]).unwrap();
        let (symbolic, known) = (tile.zipped_divide(&threads).unwrap(), bound(&tile, values).zipped_divide(&threads).unwrap());
        prop_assert_eq!(oracle::table(&bound(&symbolic, values)), oracle::table(&known));
    }

    /// The same with a composition over several symbolic modes, where it is decided at all.
    #[test]
    fn compositions_commute_with_binding((s, m) in symbol(0), (t, n) in symbol(1), shape in 1i64..9, step in 1i64..9) {
        let a = Lay::concat(&[
            Lay::leaf(Int::symbol(s), Stride::from(3)).unwrap(),
            Lay::leaf(Int::symbol(t), Stride::from(1000)).unwrap(),
        ]).unwrap();
        let b = Lay::leaf(Int::value(shape), Stride::from(step)).unwrap();
        match a.composition(&b) {
            Ok(r) => {
                let known = a.bind(s, m).unwrap().bind(t, n).unwrap();
                let expected: Vec<i64> = (0..shape).map(|j| oracle::at(&known, j * step)).collect();
                prop_assert_eq!(oracle::table(&r.bind(s, m).unwrap().bind(t, n).unwrap()), expected);
            }
            Err(Error::NeedsFact { symbol, fact: Fact::AtLeast(least), .. }) => {
                let better = Lay::leaf(Int::symbol(symbol.at_least(least)), Stride::from(3)).unwrap();
                let r = Lay::concat(&[better, a.mode(1).unwrap()]).unwrap().composition(&b);
                // Bounds are kept as powers of two: the fact may have to be rounded up by the caller.
                let rounded = Int::symbol(symbol.at_least(2 * least));
                let twice = Lay::concat(&[Lay::leaf(rounded, Stride::from(3)).unwrap(), a.mode(1).unwrap()]).unwrap();
                prop_assert!(r.is_ok() || twice.composition(&b).is_ok());
            }
            Err(error) => prop_assert!(matches!(error.kind(), "needs_fact" | "not_known"), "{}", error),
        }
    }
}

/// Leaves of numbers and of everything that two symbols with facts make.
fn symbolic() -> impl Strategy<Value = (Lay, [(Symbol, i64); 2])> {
    let kinds = prop::collection::vec((0usize..7, 0usize..8, select(&[1i64, 2, 4, 8][..])), 1..4);
    (symbol(0), symbol(1), kinds).prop_map(|(m, n, kinds)| {
        let symbols = [(m.0.at_least(1), m.1), (n.0.at_least(1), n.1)];
        let [m, n] = symbols.map(|(symbol, _)| Int::symbol(symbol));
        let product = m.mul(n).unwrap();
        let leaves: Vec<Lay> = kinds
            .into_iter()
            .map(|(extent, stride, by)| {
                let by = Int::value(by);
                let tiles = [m, n].map(|s| s.ceil_div(by).unwrap());
                let extent = [Int::value(4), by, m, n, tiles[0], tiles[1], product][extent];
                let stride = [Int::ZERO, Int::ONE, by, m, n, product, m.mul(by).unwrap(), tiles[0]][stride];
                Lay::leaf(extent, Stride::Int(stride)).unwrap()
            })
            .collect();
        (Lay::concat(&leaves).unwrap(), symbols)
    })
}

fn at_launch(l: &Lay, symbols: &[(Symbol, i64); 2]) -> Lay {
    symbols.iter().fold(*l, |l, (symbol, value)| l.bind(*symbol, *value).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn symbolic_answers_hold_for_the_numbers((l, symbols) in symbolic(), cotarget in 1i64..40, tile in 1i64..9) {
        let known = at_launch(&l, &symbols);
        if oracle::size(&known) > 4096 {
            return Ok(()); // enumeration takes long
        }
        let table = oracle::table(&known);
        prop_assert_eq!(oracle::table(&at_launch(&l.coalesce(), &symbols)), &table[..]);
        if let Ok(inverse) = l.right_inverse() {
            let inverse = at_launch(&inverse, &symbols);
            for (i, c) in oracle::table(&inverse).into_iter().enumerate() {
                prop_assert_eq!(table[c as usize], i as i64);
            }
        }
        if let Ok(inverse) = l.left_inverse() {
            let inverse = at_launch(&inverse, &symbols);
            for (i, index) in table.iter().enumerate() {
                prop_assert_eq!(oracle::at(&inverse, *index), i as i64);
            }
        }
        if let Ok(cosize) = l.cosize() {
            let cosize = symbols.iter().fold(cosize, |c, (s, value)| c.bind(*s, *value).unwrap());
            prop_assert_eq!(cosize.get(), table.iter().max().map(|most| most + 1));
        }
        if let Ok(rest) = l.complement(Int::value(cotarget)) {
            let expected = known.complement(Int::value(cotarget)).unwrap();
            prop_assert_eq!(oracle::table(&at_launch(&rest, &symbols)), oracle::table(&expected));
        }
        if let Ok(divided) = l.logical_divide(&Tiler::Lay(Lay::leaf(Int::value(tile), Stride::Int(Int::ONE)).unwrap())) {
            // Every element is there, in its place within tiles of the mode that the tile ends in.
            let divided = at_launch(&divided, &symbols);
            let there = oracle::table(&divided);
            prop_assert!(table.iter().all(|index| there.contains(index)));
        }
    }

    #[test]
    fn symbolic_compositions_hold_for_the_numbers((a, symbols) in symbolic(), (b, _) in symbolic()) {
        // One set of facts for both sides.
        let Ok(r) = a.composition(&b) else { return Ok(()) };
        let [a, b, r] = [a, b, r].map(|l| {
            symbols.iter().try_fold(l, |l, (s, value)| l.bind(*s, *value))
        });
        let (Ok(a), Ok(b), Ok(r)) = (a, b, r) else { return Ok(()) };
        if oracle::size(&b) > 4096 {
            return Ok(()); // enumeration takes long
        }
        let expected: Vec<i64> = oracle::table(&b).into_iter().map(|i| oracle::at(&a, i)).collect();
        prop_assert_eq!(oracle::table(&r), expected);
    }
}

#[test]
fn a_matrix_of_any_size_in_tiles() {
    let a = lay!("(s0,s1):(s2,1)");
    let tiles = a.zipped_divide(&tiler!("<128,32>")).unwrap();
    assert_eq!(tiles.to_string(), "((128,32),(ceil(s0/128),ceil(s1/32))):((s2,1),(128*s2,32))");
    // The k loop of one block row, in fragments of 8.
    let row = tiles.slice(&girih_layout::Coord::parse("(_,(0,_))").unwrap()).unwrap().0;
    assert_eq!(row.to_string(), "((128,32),ceil(s1/32)):((s2,1),32)");
    let fragments = row.zipped_divide(&tiler!("<((16,8)):((1,16))>")).map(|l| l.rank());
    assert!(fragments.is_ok());
}

#[test]
fn compact_layouts_of_symbols() {
    let shape = Shape::parse("(s0,s1)").unwrap();
    let (left, right) = (Lay::left(&shape).unwrap(), Lay::right(&shape).unwrap());
    assert_eq!((left.to_string(), right.to_string()), ("(s0,s1):(1,s0)".into(), "(s0,s1):(s1,1)".into()));
    assert_eq!(left.coalesce().to_string(), "s0*s1:1");
    assert_eq!(left.cosize().unwrap().to_string(), "s0*s1");
    assert_eq!(right.size().unwrap(), left.size().unwrap());
    assert_eq!(left.right_inverse().unwrap().to_string(), "s0*s1:1");
    assert_eq!(lay!("(s0,s1):(s2,1)").cosize().unwrap().to_string(), "s0*s2 + s1 - s2");
}

#[test]
fn symbolic_leaves_carry_too() {
    let a = lay!("(4,4,8):(1,100,10000)");
    let fours = Lay::leaf(Int::symbol(M.divisible_by(4)), Stride::from(4)).unwrap();
    // 0..8 and multiples of 4 up to 12 modulo 16 meet above 16; 0..4 and those don't.
    assert_eq!(a.composition(&Lay::concat(&[lay!("8:1"), fours]).unwrap()).unwrap_err().kind(), "not_known");
    let r = a.composition(&Lay::concat(&[lay!("4:1"), fours]).unwrap()).unwrap();
    assert_eq!(r.to_string(), "(4,(4,ceil(s0/4))):(1,(100,10000))");
}

#[test]
fn questions_without_an_answer_name_the_fact() {
    let a = Lay::concat(&[lay!("s0:1"), lay!("s1:s2")]).unwrap();
    let Err(Error::NeedsFact { symbol, fact: Fact::AtLeast(32), .. }) = a.composition(&lay!("32:1")) else {
        panic!("{:?}", a.composition(&lay!("32:1")));
    };
    let known = Lay::leaf(Int::symbol(symbol.at_least(32)), Stride::Int(Int::ONE)).unwrap();
    let a = Lay::concat(&[known, lay!("s1:s2")]).unwrap();
    assert_eq!(a.composition(&lay!("32:1")).unwrap(), lay!("32:1"));
    // A position past a symbolic stride has no known index.
    assert_eq!(lay!("(s0,s1):(s2,1)").at(0), Ok(0));
    assert_eq!(lay!("4:s2").at(1).unwrap_err().kind(), "not_known");
}

#[test]
fn facts_have_no_rounding() {
    assert_eq!(M.at_least(97).lower(), 97);
    assert_eq!(M.at_most(1_000_003).upper(), Some(1_000_003));
    assert_eq!(M.divisible_by(2_000_000).divisor(), 2_000_000);
    assert_eq!(M.divisible_by(6).divisible_by(4).divisor(), 12);
    assert_eq!(M.at_least(97).divisible_by(8).lower(), 104);
    assert_eq!(M.divisible_by(8).at_most(99).upper(), Some(96));
    // Nothing but 0 is a multiple of both; nothing at all is below 0.
    let both = M.divisible_by(i64::MAX).divisible_by(i64::MAX - 1);
    assert!(both.admits(0) && !both.admits(i64::MAX) && !both.admits(i64::MAX - 1));
    assert!(!M.at_most(-1).admits(0) && !M.at_least(5).at_most(4).admits(4));
    // A fact in a leaf is the same fact.
    let l = Lay::leaf(Int::symbol(M.at_least(97)), Stride::from(1)).unwrap();
    assert_eq!(l.flat_leaf(0).0.lower(), Some(97));
    assert_eq!(l.composition(&lay!("97:1")).unwrap(), lay!("97:1"));
}

/// More symbols than a layout holds are refused, and places are found again when symbols go.
#[test]
fn a_layout_holds_twelve_symbols() {
    let many = |n: u8| {
        let leaf = |id| Lay::leaf(Int::symbol(Symbol::new(id)), Stride::from(1)).unwrap();
        Lay::concat(&(0..n).map(leaf).collect::<Vec<_>>())
    };
    let twelve = many(12).unwrap();
    assert_eq!(many(13).unwrap_err().kind(), "capacity");
    let bound = (0..12u8).fold(twelve, |l, id| l.bind(Symbol::new(id), 3).unwrap());
    assert!(!bound.is_symbolic());
    let again = (20..32u8).fold(bound, |l, id| {
        l.replace((id - 20).into(), &Lay::leaf(Int::symbol(Symbol::new(id)), Stride::from(1)).unwrap())
            .unwrap()
    });
    assert_eq!(
        again.to_string(),
        format!(
            "({}):(1,1,1,1,1,1,1,1,1,1,1,1)",
            (20..32).map(|i| format!("s{i}")).collect::<Vec<_>>().join(",")
        )
    );
}
