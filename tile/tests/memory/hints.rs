//! Values of hints, where they belong, and which one holds.

use expect_test::{Expect, expect};
use girih_tile::error::Fault;
use girih_tile::hints::{Construct, Hint, Hints, arch};

fn refused<T: std::fmt::Debug>(result: Result<T, Fault>, code: &str, text: Expect) {
    let fault = result.unwrap_err();
    assert_eq!(fault.code(), code);
    text.assert_eq(&format!("{fault}\n"));
}

#[test]
fn values_are_those_of_the_cuda_tile_model() {
    let accepted = |hint: Hint| -> Vec<i64> { (-2..40).filter(|&n| hint.check(n, None).is_ok()).collect() };
    assert_eq!(accepted(Hint::NumCtas), [1, 2, 4, 8, 16]);
    assert_eq!(accepted(Hint::Occupancy), (1..=32).collect::<Vec<_>>());
    assert_eq!(accepted(Hint::NumWorkerWarps), [4, 8, 16, 32]);
    assert_eq!(accepted(Hint::OptLevel), [0, 1, 2, 3]);
    assert_eq!(accepted(Hint::NumStages), (1..=8).collect::<Vec<_>>());
    assert_eq!(accepted(Hint::Latency), (1..=10).collect::<Vec<_>>());
    for &hint in Hint::ALL {
        assert_eq!(Hint::named(hint.name()), Some(hint));
    }
    refused(
        Hint::NumCtas.check(3, None),
        "hint_value",
        expect![[r#"
        `num_ctas = 3`: 1, 2, 4, 8 or 16 is accepted
    "#]],
    );
    refused(
        Hint::NumCtas.check(2, Some(80)),
        "hint_value",
        expect![[r#"
            `num_ctas = 2` on sm_80: 1, since clusters begin with sm_90, is accepted
        "#]],
    );
    refused(
        Hint::Latency.check(0, None),
        "hint_value",
        expect![[r#"
        `latency = 0`: 1 to 10 is accepted
    "#]],
    );
    refused(
        Hint::Occupancy.check(33, Some(90)),
        "hint_value",
        expect![[r#"
        `occupancy = 33` on sm_90: 1 to 32 is accepted
    "#]],
    );
}

#[test]
fn hints_belong_to_what_they_are_about() {
    let on = |hint: Hint| -> Vec<&str> {
        Construct::ALL.iter().filter(|&&on| hint.check_on(on).is_ok()).map(|on| on.name()).collect()
    };
    assert_eq!(on(Hint::NumCtas), ["kernel"]);
    assert_eq!(on(Hint::AllowTma), ["load", "store"]);
    assert_eq!(on(Hint::Latency), ["load", "store", "gather", "scatter"]);
    refused(
        Hint::AllowTma.check_on(Construct::Gather),
        "hint_unsupported_here",
        expect![[r#"
            `allow_tma` at the construct `gather`: load, store are accepted for it
        "#]],
    );
    refused(
        Hints::default().set(None, Hint::Latency, 3),
        "hint_unsupported_here",
        expect![[r#"
            `latency` at the construct `kernel`: load, store, gather, scatter are accepted for it
        "#]],
    );
}

#[test]
fn an_architecture_s_own_hints_come_first() {
    assert_eq!(arch("sm_90"), Ok(90));
    for key in ["sm90", "90", "compute_90", "sm_9x", "sm_", "sm_+90", "sm_1", ""] {
        assert_eq!(arch(key).unwrap_err().code(), "arch_key", "{key}");
    }
    refused(
        arch("sm90"),
        "arch_key",
        expect![[r#"
            no architecture is called `sm90`: sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_101, sm_103, sm_110, sm_120, sm_121 are accepted
        "#]],
    );
    let mut hints = Hints::default();
    hints.set(None, Hint::Occupancy, 2).unwrap();
    hints.set(None, Hint::NumCtas, 8).unwrap();
    hints.set(Some("sm_90"), Hint::Occupancy, 4).unwrap();
    assert!(hints.set(Some("sm_80"), Hint::NumCtas, 2).is_err());
    let of = |sm| (hints.resolve(sm).occupancy, hints.resolve(sm).num_ctas, hints.resolve(sm).opt_level);
    assert_eq!(of(90), (Some(4), Some(8), None));
    assert_eq!(of(100), (Some(2), Some(8), None));
    assert_eq!(of(80), (Some(2), Some(1), None));
}
