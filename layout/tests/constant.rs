//! The algebra runs when the program is compiled.

use girih_layout::{Coord, Int, Lay, Shape, Sum, Swizzle, Symbol, Tiler, lay, tiler};

/// A result, or the end of the compilation.
macro_rules! known {
    ($e:expr) => {
        match $e {
            Ok(value) => value,
            Err(_) => panic!("not a layout"),
        }
    };
}

const MATRIX: Lay = known!(Lay::left(&known!(Shape::parse("(128,64)"))));
const TILES: Lay = known!(MATRIX.zipped_divide(&tiler!("<32,8>")));
const THREADS: Lay = known!(lay!("(16,8)").composition(&lay!("((4,8),(2,2)):((32,1),(16,8))")));
const INVERSE: Lay = known!(THREADS.right_inverse());
const REST: Lay = known!(lay!("(2,2):(1,6)").complement(Int::fixed(24)));
const COPIES: Lay = known!(lay!("(2,2):(4,1)").logical_product(&Tiler::Lay(lay!("6:1"))));
const ROW: (Lay, Sum) = known!(MATRIX.slice(&known!(Coord::parse("(3,_)"))));
const PLACE: i64 = known!(THREADS.crd2idx(&known!(Coord::of(&[5, 3]))));
const SWIZZLED: i64 = known!(Swizzle::new(3, 4, 3)).apply(128);
const COUNT: Int = known!(Int::symbol(Symbol::new(0).divisible_by(8)).ceil_div(Int::fixed(8)));
const ANY: Lay = known!(known!(Lay::parse("(s0,s1):(s2,1)")).logical_divide(&tiler!("<128,_>")));

#[test]
fn constants_are_what_the_program_computes() {
    let text = |lay: &Lay| lay.to_string();
    assert_eq!(text(&TILES), "((32,8),(4,8)):((1,128),(32,1024))");
    assert_eq!(text(&THREADS), "((4,8),(2,2)):((32,1),(16,8))");
    assert_eq!((text(&INVERSE), text(&REST)), ("(8,2,2,4):(4,64,32,1)".into(), "(3,2):(2,12)".into()));
    assert_eq!(text(&COPIES), "((2,2),(2,3)):((4,1),(2,8))");
    assert_eq!(
        (text(&ROW.0), ROW.1.get(), PLACE, SWIZZLED),
        ("(64):(128)".into(), Some(3), 32 + 1 + 16 + 8, 144)
    );
    assert_eq!(
        (COUNT.to_string(), text(&ANY)),
        ("ceil(s0/8)".into(), "((128,ceil(s0/128)),s1):((s2,128*s2),1)".into())
    );
    // The same at run time.
    let run_time = Lay::parse("(128,64)").and_then(|l| l.zipped_divide(&tiler!("<32,8>")));
    assert_eq!(run_time, Ok(TILES));
}
