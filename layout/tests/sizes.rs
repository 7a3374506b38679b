//! How large the values are that every operation passes and returns. A change here is felt in each of them: see
//! `benches/records/layout-algebra.md`.

use girih_layout::{Coord, Error, Int, Lay, MAX_LEAVES, Shape, Stride, Symbol};

/// What a leaf takes: a number, references to three factors with a mark and a kind, the path of a basis vector.
const LEAF: usize = 8 + 2 + 2;
/// What a factor of symbols takes: its name with a denominator, and a divisor and two bounds that are exact to 64 bits.
const FACTOR: usize = 8 + 3 * 8;

/// Rounded up to whole words.
const fn words(bytes: usize) -> usize {
    bytes.next_multiple_of(8)
}

#[test]
fn a_layout_keeps_each_symbol_once_because_it_is_copied_whole() {
    let profile = 3 + 2 * MAX_LEAVES;
    let symbols = words(1) + 12 * FACTOR;
    assert_eq!(size_of::<Lay>(), words(2 * MAX_LEAVES * LEAF + profile) + symbols);
    assert_eq!(size_of::<Lay>(), 1024);
    assert_eq!(size_of::<Shape>(), words(MAX_LEAVES * LEAF + profile) + symbols);
    // A coordinate has no symbols, and no room for them.
    assert_eq!(size_of::<Coord>(), words(MAX_LEAVES * LEAF + profile) + words(1));
}

#[test]
fn an_integer_has_room_for_three_factors_only_where_there_may_be_symbols() {
    assert_eq!(size_of::<Int>(), words(8 + 1) + 3 * FACTOR);
    assert_eq!(size_of::<Int<0>>(), 16);
    assert_eq!(size_of::<Stride>(), words(size_of::<Int>()) + 8);
    assert_eq!(size_of::<Symbol>(), 8 + 3 * 8);
}

#[test]
fn an_error_is_smaller_than_what_compilers_copy_by_a_call() {
    assert!(size_of::<Error>() <= 128 && size_of::<Result<i64, Error>>() <= 128, "{}", size_of::<Error>());
}
