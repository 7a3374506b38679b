//! Binding commutes with every operation of the command line's table: a sample of what `cargo xtask soak` runs long.

use girih_proptests::binding;

#[test]
fn operations_commute_with_binding() {
    let report = binding::run_all(20_000, 1);
    println!("{report}");
    assert_eq!(report.wrong(), 0, "{report}");
    for (name, counts) in &report.0 {
        assert!(counts.right > 0, "no case of {name} has an answer: its operands need a better generator");
    }
}
