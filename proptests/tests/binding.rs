//! Binding commutes with every operation of the command line's table: a sample of what `cargo xtask soak` runs long.

use girih_layout::{Lay, lay, tiler};
use girih_proptests::binding;

#[test]
fn errors_name_the_operation_that_was_called() {
    let (a, t) = (lay!("(4,6):(1,8)"), tiler!("<(2,3):(1,3)>"));
    let b = lay!("(2,3):(1,3)");
    let calls = [
        ("logical_divide", a.logical_divide(&t)),
        ("zipped_divide", a.zipped_divide(&t)),
        ("tiled_divide", a.tiled_divide(&t)),
        ("flat_divide", a.flat_divide(&t)),
        ("logical_product", lay!("4:2").logical_product(&tiler!("3:1"))),
        ("zipped_product", lay!("4:2").zipped_product(&tiler!("3:1"))),
        ("tiled_product", lay!("4:2").tiled_product(&tiler!("3:1"))),
        ("flat_product", lay!("4:2").flat_product(&tiler!("3:1"))),
        ("blocked_product", lay!("4:2").blocked_product(&lay!("3:1"))),
        ("raked_product", lay!("4:2").raked_product(&lay!("3:1"))),
        ("complement", b.complement(24.into())),
        ("divide_with_residue", a.divide_with_residue(&t).map(|(tiles, _)| tiles)),
        (
            "divide_with_residue",
            lay!("(4,2):(1,10)").divide_with_residue(&tiler!("(2,2):(2,3)")).map(|(tiles, _)| tiles),
        ),
        ("compact_like", lay!("(4,6):(s0,1)").compact_like()),
        ("compact_like", lay!("4:-1").compact_like()),
        ("fragment_like", lay!("(4,6):(1,s0)").fragment_like()),
        ("compose_general", lay!("(4,2):(1,10)").compose_general(&lay!("(s0,2):(2,3)"))),
        ("composition", lay!("(4,2):(1,10)").composition(&lay!("(2,2):(2,3)"))),
        ("logical_divide", lay!("(4,2):(1,10)").logical_divide(&tiler!("(2,2):(2,3)"))),
    ];
    for (name, result) in calls {
        let message = result.map(|l: Lay| l.to_string()).expect_err(name).to_string();
        assert!(message.starts_with(name), "{name}: {message}");
    }
}

#[test]
fn operations_commute_with_binding() {
    let report = binding::run_all(20_000, 1);
    println!("{report}");
    assert_eq!(report.wrong(), 0, "{report}");
    for (name, counts) in &report.0 {
        assert!(counts.right > 0, "no case of {name} has an answer: its operands need a better generator");
    }
}
