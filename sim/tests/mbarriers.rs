//! mbarriers: what they do, and that taking away any edge of happens-before that a kernel needs is found.

use crate::common::asynchronous::{FENCE, FIRST, INIT, early, line, mutants, run, seeds};
use crate::common::{launch, module, shape};
use girih_sim::{Awaited, Deny, Error, MbarrierFault, Memory, Options};

#[test]
fn a_bulk_load_is_there_when_its_phase_is_complete() {
    let kernel = [
        "!@%first mbarrier.init.shared::cta.b64 [%b], 1;",
        "!@%first fence.mbarrier_init.release.cluster;",
        "!bar.sync 0;",
        "!@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 512;",
        "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%q], 512, [%b];",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;",
        "!@!%p0 bra WAIT;",
        "ld.shared.u32 %r0, [%m]; st.global.u32 [%o], %r0;",
    ];
    let want = |got: &[u32]| assert_eq!(got[..128], (1000..1128).collect::<Vec<_>>());
    mutants(1, 128, &kernel, &want, &|which, error| match which {
        0 => matches!(error, Error::Mbarrier { fault: MbarrierFault::Absent, .. }),
        1 => matches!(error, Error::MbarrierUnfenced { .. }) && line(error) == FIRST + 4,
        2 => matches!(error, Error::Mbarrier { .. } | Error::Race { .. }),
        // Only the arrival completes the phase; and without the wait the bytes are in flight.
        3 => matches!(error, Error::Deadlock { .. } | Error::Mbarrier { .. }),
        _ => early(error),
    });
}

/// A ring of two stages: a producer warp loads 64 bytes into each, a consumer warp adds them up.
const RING: &[&str] = &[
    "setp.lt.u32 %p1, %i, 4; mad.lo.u32 %r0, %i, 8, %b; setp.lt.u32 %p2, %i, 2;",
    "!@%p1 mbarrier.init.shared::cta.b64 [%r0], 1;",
    "@%p1 fence.mbarrier_init.release.cluster;",
    "!bar.sync 0;",
    "mov.u32 %r1, 0; mov.u32 %v, 0; setp.ne.u32 %p3, %w, 0; @%p3 bra CONSUME;",
    "@!%first bra END;",
    "PRODUCE: and.b32 %r2, %r1, 1; mad.lo.u32 %r3, %r2, 8, %b; mad.lo.u32 %r4, %r2, 64, %s; shr.u32 %r5, %r1, 1; not.b32 %r5, %r5; and.b32 %r5, %r5, 1;",
    "PW: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r3+16], %r5;",
    "!@!%p0 bra PW;",
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;",
    "mul.wide.u32 %rd0, %r1, 64; add.s64 %rd0, %rd0, %q;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd0], 64, [%r3];",
    "add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 8; @%p4 bra PRODUCE; bra END;",
    "CONSUME: and.b32 %r2, %r1, 1; mad.lo.u32 %r3, %r2, 8, %b; and.b32 %r6, %l, 15; mad.lo.u32 %r4, %r2, 64, %s; mad.lo.u32 %r4, %r6, 4, %r4;",
    "shr.u32 %r5, %r1, 1; and.b32 %r5, %r5, 1;",
    "CW: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r3], %r5;",
    "!@!%p0 bra CW;",
    "ld.shared.u32 %r7, [%r4]; add.u32 %v, %v, %r7;",
    "bar.warp.sync -1;",
    "!@%lead mbarrier.arrive.shared::cta.b64 _, [%r3+16];",
    "add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 8; @%p4 bra CONSUME;",
    "st.global.u32 [%o], %v;",
    "END:",
];

#[test]
fn a_ring_of_stages() {
    let want = |got: &[u32]| {
        let sum = |l: u32| (0..8).map(|stage| 1000 + 16 * stage + l % 16).sum::<u32>();
        assert_eq!(got[32..64], (0..32).map(sum).collect::<Vec<_>>());
    };
    mutants(1, 64, RING, &want, &|which, error| match which {
        0 => matches!(error, Error::Mbarrier { fault: MbarrierFault::Absent, .. }),
        1 => matches!(error, Error::Mbarrier { .. } | Error::Race { .. }),
        // The slot is filled again while it is read, or before.
        2 => matches!(error, Error::InFlight { .. } | Error::Race { .. } | Error::Mbarrier { .. }),
        3 => early(error),
        _ => matches!(error, Error::Deadlock { .. }),
    });
}

#[test]
fn a_deadlock_tells_what_each_warp_waits_for() {
    let stuck: Vec<String> =
        RING.iter().map(|l| l.trim_start_matches('!').replace("_, [%r3], 64;", "_, [%r3], 80;")).collect();
    let stuck: Vec<&str> = stuck.iter().map(String::as_str).collect();
    for options in seeds() {
        let Err(Error::Deadlock { waiting, .. }) = run(1, 64, &options, &stuck) else { panic!() };
        let told: Vec<_> = waiting.iter().map(|w| (w.warp, w.line, w.awaited)).collect();
        let full = |stage: u64| Awaited::Mbarrier {
            address: 1024 + 1024 + 8 * stage,
            parity: 0,
            pending: 0,
            expected: 1,
            transactions: 16,
        };
        let empty = Awaited::Mbarrier { address: 2064, parity: 0, pending: 1, expected: 1, transactions: 0 };
        assert_eq!(told, [(0, FIRST + 7, empty), (1, FIRST + 15, full(0))]);
        assert!(waiting[1].to_string().contains("0 of 1 arrivals pending, 16 bytes outstanding"));
    }
}

#[test]
fn cp_async_arrives_at_an_mbarrier() {
    for (count, noinc) in [("64", ".noinc"), ("1", "")] {
        let init = format!("@%first mbarrier.init.shared::cta.b64 [%b], {count};");
        let arrive = format!("!cp.async.mbarrier.arrive{noinc}.shared::cta.b64 [%b];");
        // Without .noinc the copies' arrivals are extra: the one that counts comes after all were issued.
        let last = if noinc.is_empty() {
            "bar.sync 0; @%first mbarrier.arrive.shared::cta.b64 _, [%b];"
        } else {
            ""
        };
        let kernel = [
            init.as_str(),
            "!bar.sync 0;",
            "cp.async.ca.shared.global [%m], [%n], 4;",
            arrive.as_str(),
            last,
            "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;",
            "!@!%p0 bra WAIT;",
            "xor.b32 %r0, %i, 33; mad.lo.u32 %r0, %r0, 4, %s; ld.shared.u32 %r1, [%r0]; st.global.u32 [%o], %r1;",
        ];
        let want = |got: &[u32]| assert_eq!(got[..64], (0..64).map(|i| 1000 + (i ^ 33)).collect::<Vec<_>>());
        mutants(1, 64, &kernel, &want, &|which, error| match which {
            0 => matches!(error, Error::Mbarrier { .. } | Error::Race { .. }),
            1 => matches!(error, Error::Deadlock { .. } | Error::InFlight { .. } | Error::Race { .. }),
            _ => early(error),
        });
    }
}

#[test]
fn states_counts_and_drops() {
    let lines = [
        "mbarrier.init.shared::cta.b64 [%b], 3;",
        "mbarrier.arrive.shared::cta.b64 %st, [%b]; mbarrier.pending_count.b64 %r0, %st; st.global.u32 [%p], %r0;",
        "mbarrier.test_wait.shared::cta.b64 %p0, [%b], %st; selp.u32 %r1, 1, 0, %p0; st.global.u32 [%p+4], %r1;",
        "mbarrier.arrive_drop.shared::cta.b64 %st, [%b]; mbarrier.pending_count.b64 %r0, %st; st.global.u32 [%p+8], %r0;",
        "mbarrier.arrive.noComplete.shared::cta.b64 %rd0, [%b+8], 1;",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 40; mbarrier.arrive.shared::cta.b64 _, [%b];",
        "mbarrier.test_wait.parity.shared::cta.b64 %p0, [%b], 0; selp.u32 %r1, 1, 0, %p0; st.global.u32 [%p+12], %r1;",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%b], 40;",
        "mbarrier.test_wait.parity.shared::cta.b64 %p0, [%b], 0; selp.u32 %r1, 1, 0, %p0; st.global.u32 [%p+16], %r1;",
        "mbarrier.try_wait.shared::cta.b64 %p0, [%b], %st; selp.u32 %r1, 1, 0, %p0; st.global.u32 [%p+20], %r1;",
        // One was dropped: two arrivals complete the next phase.
        "mbarrier.arrive.shared::cta.b64 _, [%b], 2; mbarrier.test_wait.parity.shared::cta.b64 %p0, [%b], 1; selp.u32 %r1, 1, 0, %p0; st.global.u32 [%p+24], %r1;",
        "mbarrier.inval.shared::cta.b64 [%b]; st.shared.u64 [%b], %rd0; mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b+8], 0, 100; selp.u32 %r1, 1, 0, %p0; st.global.u32 [%p+28], %r1;",
    ];
    let mut all = lines.to_vec();
    all.insert(0, "mbarrier.init.shared::cta.b64 [%b+8], 2;");
    for options in seeds() {
        assert_eq!(run(1, 1, &options, &all).unwrap()[..8], [3, 0, 2, 0, 1, 1, 1, 0]);
    }
}

#[test]
fn misuse_of_an_mbarrier_is_told() {
    use MbarrierFault as F;
    let init = "mbarrier.init.shared::cta.b64 [%b], 2;";
    let cases: &[(&[&str], F)] = &[
        (&["mbarrier.arrive.shared::cta.b64 _, [%b];"], F::Absent),
        (&["mbarrier.init.shared::cta.b64 [%b], 0;"], F::Count { count: 0 }),
        (&["mbarrier.init.shared::cta.b64 [%b], 1048576;"], F::Count { count: 1 << 20 }),
        (&[init, init], F::Present),
        (
            &[init, "mbarrier.arrive.shared::cta.b64 _, [%b], 3;"],
            F::Arrivals { count: 3, pending: 2, expected: 2 },
        ),
        (
            &[init, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], 1048576;"],
            F::Transactions { bytes: 1 << 20 },
        ),
        (&[init, "mbarrier.arrive.noComplete.shared::cta.b64 %st, [%b], 2;"], F::Completes),
        (&[init, "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 2;"], F::Parity { parity: 2 }),
        (
            &[init, "mov.u64 %st, 0x500000; mbarrier.test_wait.shared::cta.b64 %p0, [%b], %st;"],
            F::State { state: 5 << 20 },
        ),
        (
            &[init, "mbarrier.inval.shared::cta.b64 [%b];", "mbarrier.arrive.shared::cta.b64 _, [%b];"],
            F::Absent,
        ),
    ];
    for (lines, fault) in cases {
        match run(1, 1, &Options::default(), lines) {
            Err(Error::Mbarrier { at, address: 2048, fault: found }) => {
                assert_eq!((at.place.line, found), (FIRST - 1 + lines.len() as u32, *fault), "{lines:?}");
            }
            other => panic!("{lines:?}: {other:?}"),
        }
    }
    for access in
        ["ld.shared.u32 %r0, [%b+4];", "st.shared.u32 [%b], %i;", "atom.shared.add.u32 %r0, [%b], 1;"]
    {
        let found = run(1, 1, &Options::checked(), &[init, access]);
        assert!(matches!(found, Err(Error::MbarrierAccess { .. })), "{access} {found:?}");
    }
    let early = [INIT, FENCE, "mbarrier.test_wait.parity.shared::cta.b64 %p0, [%b], 1;"];
    let found = run(1, 32, &Options::checked(), &early);
    assert!(matches!(found, Err(Error::Race { .. })), "{found:?}");
}

#[test]
fn relaxed_arrivals_and_waits_need_fences() {
    let kernel = [
        "@%first mbarrier.init.shared::cta.b64 [%b], 1;",
        "bar.sync 0;",
        "setp.ne.u32 %p1, %w, 0; @%p1 bra READ;",
        "st.shared.u32 [%m], %i; bar.warp.sync -1;",
        "!fence.acq_rel.cta;",
        "@%first mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%b]; bra END;",
        "READ: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p0, [%b], 0; @!%p0 bra READ;",
        "!fence.acq_rel.cta;",
        "ld.shared.u32 %r0, [%m+-128]; st.global.u32 [%o], %r0;",
        "END:",
    ];
    let want = |got: &[u32]| assert_eq!(got[32..64], (0..32).collect::<Vec<_>>());
    let race = |_, error: &Error| matches!(error, Error::Race { .. }) && line(error) == FIRST + 8;
    mutants(1, 64, &kernel, &want, &race);
    let ordered = kernel.map(|l| match l.starts_with('!') {
        true => String::new(),
        false => l.replace("arrive.relaxed", "arrive.release").replace("parity.relaxed", "parity.acquire"),
    });
    let ordered: Vec<&str> = ordered.iter().map(String::as_str).collect();
    assert!(seeds().all(|options| run(1, 64, &options, &ordered).is_ok()));
}

/// Triton's order: `mbarrier.init; bar.sync; expect_tx; cp.async.bulk` without a fence in between. Only the missing
/// fence of the initialisation is a warning: data that the generic proxy wrote needs a fence of its own.
#[test]
fn a_missing_fence_of_an_initialisation_is_a_warning() {
    let load =
        "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%q], 512, [%b];";
    let kernel = |before: &'static str| {
        [
            before,
            INIT,
            "bar.sync 0;",
            "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 512;",
            load,
            "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;",
            "ld.shared.u32 %r0, [%m]; st.global.u32 [%o], %r0;",
        ]
    };
    for seed in 0..8 {
        let with = |deny| Options { seed, deny, ..Options::checked() };
        let got = run(1, 128, &with(Deny::Nothing), &kernel("")).unwrap();
        assert_eq!(got[..128], (1000..1128).collect::<Vec<_>>());
        for deny in [Deny::Warnings, Deny::Kinds(vec!["mbarrier-unfenced".into()])] {
            let error = run(1, 128, &with(deny), &kernel("")).unwrap_err();
            assert!(matches!(error, Error::MbarrierUnfenced { .. }), "{error}");
            assert_eq!((line(&error), error.sites().count()), (FIRST + 4, 2));
        }
        let written = run(1, 128, &with(Deny::Nothing), &kernel("st.shared.u32 [%m], %i;"));
        assert!(matches!(written, Err(Error::Unfenced { .. })), "{written:?}");
    }
}

/// A lane that waits is woken though another lane of its warp never stops.
#[test]
fn a_lane_that_waits_is_not_starved_by_one_that_spins_for_it() {
    let kernel = [
        INIT,
        FENCE,
        "@!%first bra OTHERS;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 128;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%q], 128, [%b];",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;",
        "ld.shared.u32 %r0, [%s]; st.global.u32 [%p], %r0; st.release.gpu.global.u32 [%p+1024], 1; bra END;",
        "OTHERS: setp.ne.u32 %p1, %l, 31; @%p1 bra END;",
        "SPIN: ld.acquire.gpu.global.u32 %r1, [%p+1024]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN;",
        "ld.global.u32 %r2, [%p]; st.global.u32 [%p+4], %r2;",
        "END:",
    ];
    for options in seeds() {
        let got = run(1, 32, &options, &kernel).unwrap_or_else(|e| panic!("seed {}: {e}", options.seed));
        assert_eq!(got[..2], [1000, 1000]);
    }
}

/// A warp waits for a phase that others complete, and which nothing keeps from completing the next one: the warp that comes too late waits for ever.
#[test]
fn a_warp_that_falls_behind_is_found_where_it_is_slow() {
    let text = |meet: &str| {
        module(&format!(
            ".visible .entry k() {{
            .reg .pred %p<4>; .reg .b32 %r<2>; .shared .align 8 .b8 m[8];
            mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [m], 1; bar.sync 0;
            setp.lt.u32 %p1, %r0, 32; @%p1 bra WAIT;
            setp.eq.u32 %p2, %r0, 32; @%p2 mbarrier.arrive.shared::cta.b64 _, [m];
            bar.sync 1, 64;
            {meet}
            @%p2 mbarrier.arrive.shared::cta.b64 _, [m]; ret;
            WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [m], 0; @!%p3 bra WAIT;
            {meet}
            ret; }}"
        ))
    };
    let outcome = |text: &str, slow| {
        launch(text, &Memory::new(), &shape(1, 96), &Options { slow, ..Options::checked() })
    };
    let (missing, present) = (text(""), text("bar.sync 2, 96;"));
    for slow in [None, Some(0), Some(1), Some(2), Some(3)] {
        outcome(&present, slow).unwrap();
        match (slow, outcome(&missing, slow)) {
            (Some(0), Err(Error::Deadlock { .. })) | (None | Some(1..), Ok(_)) => {}
            (_, other) => panic!("{slow:?}: {other:?}"),
        }
    }
}
