//! The operations that pick, cut and repeat, on numbers against enumeration: a sample of what `cargo xtask soak` runs long.

use girih_proptests::numeric;

#[test]
fn answers_on_numbers_are_those_of_enumeration() {
    for family in numeric::FAMILIES {
        let counts = numeric::run(family, 2000, 1);
        assert_eq!(counts.wrong, 0, "{:?}", counts.worst);
        assert!(counts.right > 500, "{family}: {counts:?}");
    }
}
