//! Accesses outside of the variable from which their address is computed, and to local memory of other threads.

use crate::common::{self, map, module, per_thread};
use girih_sim::{Access, Error, Nearest, Space};

/// Shared `a` of 64 words, then `b` of 16 words, then local `x` of 4 words and `y` of 4.
fn run(body: &str) -> Result<Vec<u32>, Error> {
    let head = ".shared .align 4 .b8 a[256]; .shared .align 4 .b8 b[64]; .local .align 4 .b8 x[16]; .local .align 4 .b8 y[16];
        mov.u32 %d0, 0;";
    map(&per_thread(0, 1, &format!("{head} {body}")), 32, &[0], 32)
}

#[track_caller]
fn right(body: &str) {
    run(body).unwrap_or_else(|e| panic!("{body}: {e}"));
}

#[track_caller]
fn broken(body: &str, name: &str) {
    match run(body) {
        Err(Error::Overrun { variable, .. }) => assert_eq!(&*variable, name, "{body}"),
        other => panic!("{body}: {other:?}"),
    }
}

/// The ways in which compilers compute the address of an element, with an index in bounds and with one beyond.
#[test]
fn an_address_stays_in_its_variable() {
    let forms = [
        "mov.u32 %r0, a; mad.lo.u32 %r0, %r9, 4, %r0; st.shared.u32 [%r0], 1;",
        "mad.lo.u32 %r0, %r9, 4, a; st.shared.u32 [%r0], 1;",
        "mov.u32 %r0, a; shl.b32 %r1, %r9, 2; add.u32 %r0, %r1, %r0; st.shared.u32 [%r0], 1;",
        "mov.u32 %r0, a; shl.b32 %r1, %r9, 2; add.u32 %r0, %r0, %r1; st.shared.u32 [%r0+-4], 1; st.shared.u32 [%r0], 2;",
        "mov.u64 %rd0, a; mul.wide.u32 %rd1, %r9, 4; add.s64 %rd2, %rd0, %rd1; st.shared.u32 [%rd2], 1;",
        "mov.u64 %rd0, a; cvta.shared.u64 %rd1, %rd0; mul.wide.u32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2; st.u32 [%rd3], 1;",
        "mov.u32 %r0, a; cvt.u64.u32 %rd0, %r0; mul.wide.u32 %rd1, %r9, 4; add.s64 %rd2, %rd0, %rd1; atom.shared.add.u32 %r3, [%rd2], 1;",
        // A pointer that walks.
        "mov.u32 %r0, a; mov.u32 %r1, 0; L: st.shared.u32 [%r0], 1; add.u32 %r0, %r0, 4; add.u32 %r1, %r1, 1;
         setp.le.u32 %p0, %r1, %r9; @%p0 bra L;",
        // Counted down from one beyond the end.
        "mov.u32 %r0, a; shl.b32 %r1, %r9, 2; add.u32 %r2, %r0, %r1; sub.u32 %r3, %r2, 4; st.shared.u32 [%r3+4], 1;",
        "mov.u32 %r0, a; mad.lo.u32 %r1, %r9, 4, %r0; cp.async.ca.shared.global [%r1], [%q], 4; cp.async.wait_all;",
    ];
    for form in forms {
        // Only one thread, as all together would race.
        let with =
            |index: u32| format!("setp.ne.u32 %p1, %i, 0; @%p1 bra END; mov.u32 %r9, {index}; {form} END:");
        let with_init = |index: u32| match form.contains("atom") {
            true => {
                with(index).replace("mov.u32 %r9", "mov.u32 %r8, a; st.shared.u32 [%r8+252], 0; mov.u32 %r9")
            }
            false => with(index),
        };
        right(&with_init(63));
        broken(&with_init(64), "a");
    }
    broken("setp.eq.u32 %p1, %i, 0; @%p1 st.shared.u32 [a+256], 1;", "a");
    right("setp.eq.u32 %p1, %i, 0; @%p1 st.shared.u32 [b], 1;");
    broken("setp.eq.u32 %p1, %i, 0; mov.u32 %r0, b; @%p1 st.shared.u32 [%r0+-4], 1;", "b");
    // A vector that begins inside and ends outside.
    broken(
        "setp.eq.u32 %p1, %i, 0; mov.u32 %r0, a; mov.u32 %r1, 1; @%p1 st.shared.v2.u32 [%r0+256], {%r1, %r1};",
        "a",
    );
    // Local memory.
    let local =
        |index: u32| format!("mov.u32 %r0, x; add.u32 %r0, %r0, {}; st.local.u32 [%r0], 1;", 4 * index);
    right(&local(3));
    broken(&local(4), "x");
    let generic = |index: u32| {
        format!(
            "mov.u64 %rd0, x; cvta.local.u64 %rd1, %rd0; add.s64 %rd2, %rd1, {}; st.u32 [%rd2], 1; ld.u32 %d0, [%rd2];",
            4 * index
        )
    };
    right(&generic(3));
    broken(&generic(4), "x");
}

/// Asynchronous operations and mbarriers stay in their variables too, and matrices.
#[test]
fn other_operands_stay_in_their_variables() {
    let bar = "mov.u32 %r5, m; add.u32 %r5, %r5, %r9; mbarrier.init.shared::cta.b64 [%r5], 1;";
    let wait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra WAIT;";
    // Bytes to the next place, the last place of `a` that is right, and what is done at %r0.
    let forms = [
        (8, 248, "mbarrier.init.shared.b64 [%r0], 1;".to_owned()),
        (8, 248, "mbarrier.init.shared.b64 [%r0], 2; mbarrier.arrive.shared.b64 _, [%r0];".to_owned()),
        (16, 224, format!("{bar} mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 32;
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%q], 32, [%r5]; {wait}")),
        (16, 224, "mov.u32 %r1, 0; st.shared.v4.u32 [%r0], {%r1, %r1, %r1, %r1}; st.shared.v4.u32 [%r0+16], {%r1, %r1, %r1, %r1};
            fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%p], [%r0], 32;
            cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;".to_owned()),
        (16, 240, format!("{bar} mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16; mov.u32 %r1, 0;
            st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r0], {{%r1, %r1, %r1, %r1}}, [%r5]; {wait}")),
        (8, 248, "mbarrier.init.shared.b64 [%r0], 1; cp.async.mbarrier.arrive.noinc.shared.b64 [%r0];".to_owned()),
    ];
    for (step, last, form) in forms {
        let with = |at: u32| {
            format!(
                "setp.ne.u32 %p1, %i, 0; @%p1 bra END; mov.u32 %r9, 0; mov.u32 %r0, a; add.u32 %r0, %r0, {at}; {form} END:"
            )
        };
        let run = |at| {
            let head = ".shared .align 16 .b8 a[256]; .shared .align 16 .b8 b[64]; .shared .align 8 .b8 m[8]; mov.u32 %d0, 0;";
            let memory = girih_sim::Memory::new();
            let (out, source) = (common::upload(&memory, &[0; 128]), common::upload(&memory, &[0; 128]));
            let mut launch = common::shape(1, 32);
            launch.args = vec![common::u64_arg(out), common::u64_arg(source)];
            let text = per_thread(0, 0, &format!("{head} {}", with(at)));
            common::launch(&text, &memory, &launch, &girih_sim::Options::checked())
        };
        run(last).unwrap_or_else(|e| panic!("{form}: {e}"));
        match run(last + step) {
            Err(Error::Overrun { variable, .. }) => assert_eq!(&*variable, "a", "{form}"),
            other => panic!("{form}: {other:?}"),
        }
    }
}

/// Where an address may be computed from several variables, nothing is checked.
#[test]
fn other_addresses_are_left_alone() {
    // One of two, chosen at run time; an address in a register that had another before.
    right(
        "setp.eq.u32 %p1, %i, 0; mov.u32 %r0, a; mov.u32 %r1, b; selp.u32 %r2, %r0, %r1, %p1; setp.lt.u32 %p2, %i, 2; @%p2 st.shared.u32 [%r2], 1;",
    );
    right(
        "setp.eq.u32 %p1, %i, 0; mov.u32 %r0, a; add.u32 %r0, %r0, 8; mov.u32 %r0, b; add.u32 %r0, %r0, 60; @%p1 st.shared.u32 [%r0], 1;",
    );
    // The distance of two.
    right(
        "setp.eq.u32 %p1, %i, 0; mov.u32 %r0, a; mov.u32 %r1, b; sub.u32 %r2, %r1, %r0; add.u32 %r3, %r0, %r2; @%p1 st.shared.u32 [%r3], 1;",
    );
    // Dynamic memory has no end but the block's.
    let text = module(
        ".extern .shared .align 16 .b8 d[]; .visible .entry k(.param .u64 out, .param .u64 in) {
         .shared .align 4 .b8 s[16]; .reg .b32 %r<4>; mov.u32 %r0, d; st.shared.u32 [%r0+60], 1; st.shared.u32 [s+12], 1; ret; }",
    );
    let memory = girih_sim::Memory::new();
    let mut launch = common::shape(1, 1);
    (launch.dynamic_shared, launch.args) = (64, vec![common::u64_arg(0), common::u64_arg(0)]);
    common::launch(&text, &memory, &launch, &girih_sim::Options::checked()).unwrap();
}

#[test]
fn the_message_names_the_variable() {
    let found = run("setp.eq.u32 %p1, %i, 3; mov.u32 %r0, a; @%p1 st.shared.u32 [%r0+260], 1;");
    let Err(error @ Error::Overrun { .. }) = found else { panic!("{found:?}") };
    assert_eq!(error.kind(), "overrun");
    let Error::Overrun { at, access: Access::Write, space: Space::Shared, bytes: 4, nearest, .. } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(at.thread, [3, 0, 0]);
    assert!(matches!(nearest, Nearest::Region { bytes: 256, beyond: 8, .. }), "{nearest:?}");
    assert!(error.to_string().contains("outside of `a`"), "{error}");
}

/// A generic address of local memory belongs to the thread that made it.
#[test]
fn local_addresses_are_not_handed_on() {
    let give = ".shared .align 8 .b8 p[256]; mov.u64 %rd0, x; cvta.local.u64 %rd1, %rd0; st.u32 [%rd1], %i; mov.u32 %r0, p;
        mad.lo.u32 %r1, %i, 8, %r0; st.shared.u64 [%r1], %rd1; bar.warp.sync -1;";
    let take = |lane: &str| {
        format!("{give} xor.b32 %r2, %i, {lane}; mad.lo.u32 %r3, %r2, 8, %r0; ld.shared.u64 %rd2, [%r3];")
    };
    right(&format!("{} ld.u32 %d0, [%rd2];", take("0")));
    for access in ["ld.u32 %d0, [%rd2];", "st.u32 [%rd2], 1;"] {
        let found = run(&format!("{} {access}", take("1")));
        assert!(matches!(found, Err(Error::ForeignLocal { owner: [1, 0, 0], .. })), "{found:?}");
    }
    // Back to an address of the local space, and what tells spaces apart.
    let back =
        "mov.u64 %rd0, y; cvta.local.u64 %rd1, %rd0; isspacep.local %p0, %rd1; cvta.to.local.u64 %rd2, %rd1;
        st.local.u32 [%rd2+12], 5; ld.local.u32 %r1, [y+12]; selp.u32 %d0, %r1, 9, %p0;";
    assert_eq!(run(back).unwrap(), [5; 32]);
}

/// Functions that call themselves have their variables in frames.
#[test]
fn an_address_stays_in_its_variable_of_a_frame() {
    let kernel = |index: u32, walks: &str| {
        module(&format!(
            ".func (.param .b32 r) f(.param .b32 n) {{
                .local .align 4 .b8 x[16]; .local .align 4 .b8 y[16];
                .reg .b32 %n, %a, %i; .reg .b64 %p, %q; .reg .pred %z;
                ld.param.u32 %n, [n]; st.local.u32 [y], %n; st.local.u32 [x+4], %n;
                mov.u64 %p, x; {walks} mov.u32 %i, {index}; mul.wide.u32 %q, %i, 4; add.s64 %p, %p, %q;
                setp.eq.u32 %z, %n, 0; @%z bra DONE;
                {{ .param .b32 a; .param .b32 b; sub.u32 %a, %n, 1; st.param.b32 [a], %a;
                  call.uni (b), f, (a); ld.param.b32 %a, [b]; }}
                st.SPACE.u32 [%p], %a; ld.local.u32 %n, [y];
                DONE: st.param.b32 [r], %n; ret;
            }}
            .visible .entry k(.param .u64 out, .param .u64 in) {{
                .reg .b32 %r; .reg .b64 %p; ld.param.u64 %p, [out];
                {{ .param .b32 a; .param .b32 b; mov.u32 %r, 3; st.param.b32 [a], %r;
                  call.uni (b), f, (a); ld.param.b32 %r, [b]; }}
                st.global.u32 [%p], %r; ret;
            }}"
        ))
        .replace("SPACE.", if walks.is_empty() { "local." } else { "" })
    };
    for walks in ["", "cvta.local.u64 %p, %p;"] {
        assert_eq!(map(&kernel(3, walks), 1, &[0], 1).unwrap(), [3]);
        match map(&kernel(4, walks), 1, &[0], 1) {
            Err(Error::Overrun { variable, .. }) => assert_eq!(&*variable, "x"),
            other => panic!("{walks}: {other:?}"),
        }
    }
}
