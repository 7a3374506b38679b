//! `redux`, `match`, `elect`: what lanes learn from one another, compared lane by lane with the definitions.

use crate::common::{self, map, per_thread};
use girih_sim::Error;

/// Lanes by halves of odd sizes; each lane names its own half.
const MASKS: [[u32; 2]; 3] = [[u32::MAX, 0], [0x0000_ffff, 0xffff_0000], [0x5a5a_1111, !0x5a5a_1111]];

/// Runs `body` with values in `%a0`, `%a1`, and in `%a2` the mask that the lane belongs to.
fn with_masks(body: &str, values: &[u32; 32], check: &dyn Fn(usize, u32, &[u32])) {
    for masks in MASKS {
        let mine = |t: usize| if masks[0] >> t & 1 == 1 { masks[0] } else { masks[1] };
        let input: Vec<u32> = (0..32).flat_map(|t| [values[t], values[t] / 3, mine(t)]).collect();
        // The two sets of lanes come to the instruction at different times.
        let body =
            format!("setp.eq.u32 %p9, %a2, {}; @%p9 bra ONE; {body} bra END; ONE: {body} END:", masks[0]);
        let got = map(&per_thread(3, 2, &body), 32, &input, 64).unwrap_or_else(|e| panic!("{body}: {e}"));
        (0..32).for_each(|t| check(t, mine(t), &got[2 * t..2 * t + 2]));
    }
}

fn values() -> [u32; 32] {
    std::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9) >> (i % 3 * 13))
}

#[test]
fn redux_combines_the_members() {
    type Fold = fn(u32, u32) -> u32;
    let ops: [(&str, Fold); 9] = [
        ("add.u32", u32::wrapping_add),
        ("add.s32", u32::wrapping_add),
        ("min.u32", u32::min),
        ("max.u32", u32::max),
        ("min.s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max.s32", |a, b| (a as i32).max(b as i32) as u32),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
    ];
    let values = values();
    for (op, fold) in ops {
        let body = format!("redux.sync.{op} %d0, %a0, %a2; mov.b32 %d1, 0;");
        with_masks(&body, &values, &|t, mask, got| {
            let members = (0..32).filter(|i| mask >> i & 1 == 1).map(|i| values[i]);
            assert_eq!(got[0], members.reduce(fold).unwrap(), "{op} lane {t}");
        });
    }
    for op in ["add.b32", "and.u32", "min.f32", "add.u64"] {
        let found = common::load(&per_thread(1, 1, &format!("redux.sync.{op} %d0, %a0, -1;")));
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{op}: {found:?}");
    }
}

#[test]
fn match_finds_equal_values() {
    let values: [u32; 32] = std::array::from_fn(|i| (i as u32 * 7) % 5);
    with_masks("match.any.sync.b32 %d0, %a0, %a2; mov.b32 %d1, 0;", &values, &|t, mask, got| {
        let same = (0..32).filter(|&i| mask >> i & 1 == 1 && values[i] == values[t]);
        assert_eq!(got[0], same.fold(0, |bits, i| bits | 1 << i), "lane {t}");
    });
    // 64 bits, of which the upper half tells all apart.
    let body = "mov.b64 %rd0, {%a1, %i}; match.any.sync.b64 %d0, %rd0, %a2; mov.b32 %d1, 0;";
    with_masks(body, &values, &|t, _, got| assert_eq!(got[0], 1 << t));
    let body = "match.all.sync.b32 %d0|%p0, %a0, %a2; selp.b32 %d1, 1, 0, %p0;";
    with_masks(body, &values, &|_, _, got| assert_eq!(got, [0, 0]));
    with_masks(body, &[9; 32], &|_, mask, got| assert_eq!(got, [mask, 1]));
}

#[test]
fn one_member_is_elected() {
    with_masks("elect.sync %d0|%p0, %a2; selp.b32 %d1, 1, 0, %p0;", &values(), &|t, mask, got| {
        let leader = mask.trailing_zeros();
        assert_eq!(got, [leader, u32::from(leader == t as u32)]);
    });
}

#[test]
fn an_exchange_needs_its_members() {
    for op in [
        "redux.sync.add.u32 %d0, %a0, 0xff;",
        "match.any.sync.b32 %d0, %a0, 0xff;",
        "elect.sync _|%p0, 0xff;",
    ] {
        let found = map(&per_thread(1, 1, &format!("mov.b32 %d0, 0; {op}")), 32, &[0; 32], 32);
        assert!(matches!(found, Err(Error::BadValue { what: "member mask", .. })), "{op}: {found:?}");
        let guarded = format!("mov.b32 %d0, 0; setp.lt.u32 %p1, %i, 4; @%p1 {op}");
        let found = map(&per_thread(1, 1, &guarded), 32, &[0; 32], 32);
        assert!(matches!(found, Err(Error::Divergent { .. })), "{op}: {found:?}");
    }
}

/// Instructions that have no effect here: still, their forms are checked.
#[test]
fn hints_are_checked_and_do_nothing() {
    let body = "prefetch.global.L2 [%q]; prefetch.L1 [%q]; discard.global.L2 [%q], 128; nanosleep.u32 20;
        setmaxnreg.dec.sync.aligned.u32 40; griddepcontrol.wait; griddepcontrol.launch_dependents; mov.b32 %d0, %a0;";
    assert_eq!(map(&per_thread(1, 1, body), 1, &[7], 1).unwrap(), [7]);
    for op in [
        "setmaxnreg.inc.sync.aligned.u32 41;",
        "setmaxnreg.inc.sync.aligned.u32 264;",
        "setmaxnreg.inc.u32 40;",
        "griddepcontrol;",
        "discard.global.L2 [%q], 64;",
        "prefetch.global.L2 %q;",
        "nanosleep.u32;",
        "fence.sc.cta %a0;",
    ] {
        let found = common::load(&per_thread(1, 1, op));
        assert!(matches!(found, Err(Error::Unsupported { .. } | Error::Operand { .. })), "{op}: {found:?}");
    }
}
