//! Bulk copies, asynchronous stores and reductions: what they move, and that taking away any fence or wait that a
//! kernel needs is found.

use crate::common::asynchronous::{FIRST, INIT, SYNC, early, line, mutants, run, seeds};
use girih_sim::{Error, Options};

#[test]
fn a_bulk_store_reads_what_a_proxy_fence_has_shown_and_until_it_is_waited_for() {
    let kernel = [
        "ld.global.u32 %r0, [%n]; add.u32 %r0, %r0, 1; st.shared.u32 [%m], %r0;",
        "!fence.proxy.async.shared::cta;",
        "!bar.sync 0;",
        "@%first cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 512;",
        "!@%first cp.async.bulk.commit_group;",
        "!@%first cp.async.bulk.wait_group.read 0;",
        "bar.sync 0;",
        "st.shared.u32 [%m], %i;",
    ];
    let want = |got: &[u32]| assert_eq!(got[..128], (1001..1129).collect::<Vec<_>>());
    mutants(1, 128, &kernel, &want, &|which, error| match which {
        0 => matches!(error, Error::Unfenced { .. }) && line(error) == FIRST + 3,
        1 => matches!(error, Error::Race { .. } | Error::UninitialisedMemory { .. }),
        _ => matches!(error, Error::InFlight { .. }) && line(error) == FIRST + 7,
    });
    // Without a later write, it is the block's exit that must wait.
    let lines: Vec<&str> = kernel[..7].iter().map(|l| l.trim_start_matches('!')).collect();
    assert!(run(1, 128, &Options::checked(), &lines).is_ok());
    for options in seeds() {
        let found = run(1, 128, &options, &lines[..5]);
        assert!(matches!(found, Err(Error::Unfinished { .. })), "{found:?}");
    }
    // The fence may come before or after the barrier.
    let issuer = [
        kernel[0],
        SYNC,
        "@%first fence.proxy.async;",
        kernel[3],
        "cp.async.bulk.commit_group;",
        "cp.async.bulk.wait_group 0;",
    ];
    assert!(run(1, 128, &Options::checked(), &issuer).is_ok());
}

#[test]
fn what_is_stored_is_there_after_the_wait_that_is_not_only_for_reading() {
    let store = [
        "mov.u32 %r0, 7; st.shared.u32 [%m], %r0; fence.proxy.async.shared::cta; bar.sync 0;",
        "@%first cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 512; @%first cp.async.bulk.commit_group;",
        "@%first cp.async.bulk.wait_group.read 0;",
        "mov.u32 %r2, 0; LATER: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 500; @%p1 bra LATER;",
        "@%first ld.global.u32 %r1, [%p]; @%first st.global.u32 [%p+1024], %r1;",
    ];
    let raced = |options| matches!(run(1, 128, &options, &store), Err(Error::Race { .. }));
    assert!(seeds().all(raced));
    let plain = |seed| run(1, 128, &Options { seed, ..Options::default() }, &store).unwrap()[256];
    assert_eq!(plain(0), 0);
    let seen: Vec<u32> = (0..8).map(plain).collect();
    assert!(seen.iter().all(|&v| v == 0 || v == 7) && seen.contains(&7), "{seen:?}");
    let waited = store.map(|line| line.replace("wait_group.read", "wait_group"));
    let waited: Vec<&str> = waited.iter().map(String::as_str).collect();
    assert!(seeds().all(|options| run(1, 128, &options, &waited).unwrap()[256] == 7));
}

#[test]
fn what_the_generic_proxy_wrote_needs_a_fence_before_a_load_over_it() {
    let kernel = [
        INIT,
        "@%first fence.mbarrier_init.release.cluster;",
        "st.shared.u32 [%m], %i;",
        "!fence.proxy.async;",
        "!bar.sync 0;",
        "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 512;",
        "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%q], 512, [%b];",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;",
        "ld.shared.u32 %r0, [%m]; st.global.u32 [%o], %r0;",
    ];
    let want = |got: &[u32]| assert_eq!(got[..128], (1000..1128).collect::<Vec<_>>());
    mutants(1, 128, &kernel, &want, &|which, error| match which {
        0 => matches!(error, Error::Unfenced { .. }) && line(error) == FIRST + 6,
        _ => matches!(error, Error::Race { .. } | Error::Mbarrier { .. } | Error::InFlight { .. }),
    });
}

#[test]
fn multicast_and_arrivals_at_a_peer() {
    let kernel = [
        "@%first mbarrier.init.shared::cta.b64 [%b], 1; @%first mbarrier.init.shared::cta.b64 [%b+8], 2;",
        "!@%first fence.mbarrier_init.release.cluster;",
        "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;",
        "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 512;",
        // Each block loads half for both; it must know that its peer expects it no more than by the transaction count.
        "mov.u16 %h0, 3; mad.lo.u32 %r0, %me, 256, %s; mul.wide.u32 %rd0, %me, 256; add.s64 %rd0, %rd0, %q;",
        "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%rd0], 256, [%b], %h0;",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;",
        "!@!%p0 bra WAIT;",
        "ld.shared.u32 %r1, [%m]; mad.lo.u32 %r2, %me, 512, 0; cvt.u64.u32 %rd1, %r2; add.s64 %rd1, %rd1, %o; st.global.u32 [%rd1], %r1;",
        "bar.sync 0;",
        // Both blocks arrive at both mbarriers before either block may write what the other has read.
        "mapa.shared::cluster.u32 %r3, %b, 0; @%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3+8];",
        "mapa.shared::cluster.u32 %r3, %b, 1; @%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3+8];",
        "DONE: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b+8], 0;",
        "!@!%p1 bra DONE;",
        "xor.b32 %r4, %me, 1; mapa.shared::cluster.u32 %r5, %m, %r4; st.shared::cluster.u32 [%r5], %i;",
        "!barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    let want = |got: &[u32]| {
        let half: Vec<u32> = (1000..1128).collect();
        assert_eq!((&got[..128], &got[128..256]), (&half[..], &half[..]));
    };
    mutants(2, 128, &kernel, &want, &|which, error| match which {
        0 => matches!(error, Error::Unfenced { .. } | Error::Race { .. }),
        1 => early(error),
        2 => matches!(error, Error::Race { .. } | Error::InFlight { .. }),
        _ => matches!(error, Error::ExitedBlock { .. }),
    });
}

#[test]
fn copies_between_blocks_and_asynchronous_stores() {
    let kernel = [
        INIT,
        "@%first fence.mbarrier_init.release.cluster;",
        "ld.global.u32 %r0, [%n]; mad.lo.u32 %r0, %me, 5000, %r0; st.shared.u32 [%m], %r0;",
        "!fence.proxy.async;",
        "!barrier.cluster.arrive; barrier.cluster.wait;",
        "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 264;",
        "xor.b32 %r1, %me, 1; mapa.shared::cluster.u32 %r2, %s, %r1; mapa.shared::cluster.u32 %r3, %b, %r1;",
        "@%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2+512], [%s], 256, [%r3];",
        "setp.eq.u32 %p1, %i, 33; mov.u64 %rd0, 77; @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r2+768], %rd0, [%r3];",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;",
        "!@!%p0 bra WAIT;",
        "setp.lt.u32 %p2, %i, 66; @!%p2 bra SKIP; mul.wide.u32 %rd1, %me, 512; add.s64 %rd1, %rd1, %o; ld.shared.u32 %r4, [%m+512]; st.global.u32 [%rd1], %r4;",
        "SKIP: barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    let want = |got: &[u32]| {
        for me in [0, 1] {
            let mine: Vec<u32> = (0..64).map(|i| 1000 + i + 5000 * (1 - me)).chain([77, 0]).collect();
            assert_eq!(got[128 * me as usize..][..66], mine);
        }
    };
    mutants(2, 128, &kernel, &want, &|which, error| match which {
        0 => matches!(error, Error::Unfenced { .. }),
        1 => matches!(error, Error::NotStarted { .. } | Error::Mbarrier { .. }),
        _ => early(error),
    });
}

#[test]
fn reductions_meet_in_memory() {
    // Each warp adds its 32 words to the output; then to the shared memory of block 0 as sums of bytes that arrive.
    let kernel = [
        "@%first mbarrier.init.shared::cta.b64 [%b], 1; @%first fence.mbarrier_init.release.cluster;",
        "ld.global.u32 %r0, [%n]; st.shared.u32 [%m], %r0; setp.lt.u32 %p1, %i, 32; mov.u32 %r6, 1; @%p1 st.shared.u32 [%m+512], %r6;",
        "fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;",
        "mad.lo.u32 %r1, %w, 128, %s;",
        "@%lead cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p], [%r1], 128; cp.async.bulk.commit_group;",
        "setp.eq.u32 %p2, %me, 0; and.pred %p2, %p2, %first;",
        "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 1024;",
        "mapa.shared::cluster.u32 %r2, %s, 0; mapa.shared::cluster.u32 %r3, %b, 0;",
        "@%lead cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r2+512], [%r1], 128, [%r3];",
        "cp.async.bulk.wait_group 0; setp.ne.u32 %p3, %me, 0; @%p3 bra DONE;",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;",
        "@!%p1 bra DONE; ld.shared.u32 %r4, [%m+512]; st.global.u32 [%o+1024], %r4;",
        "DONE: barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    for options in seeds() {
        let got = run(2, 128, &options, &kernel).unwrap_or_else(|e| panic!("seed {}: {e}", options.seed));
        let sum = |i: u32| 2 * (0..4).map(|w| 1000 + 32 * w + i).sum::<u32>();
        assert_eq!(got[..32], (0..32).map(sum).collect::<Vec<_>>());
        assert_eq!(got[256..288], (0..32).map(|i| sum(i) + 1).collect::<Vec<_>>());
    }
}

#[test]
fn bulk_copies_are_checked_when_they_are_issued() {
    let load = |to: &str, from: &str, bytes: &str| {
        let copy = format!(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [{from}], {bytes}, [%b];"
        );
        run(1, 1, &Options::default(), &[INIT, &copy])
    };
    assert!(matches!(load("%s+8", "%q", "16"), Err(Error::Misaligned { alignment: 16, .. })));
    assert!(matches!(load("%s", "%q+8", "16"), Err(Error::Misaligned { alignment: 16, .. })));
    assert!(matches!(load("%s", "%q", "24"), Err(Error::BadValue { value: 24, .. })));
    assert!(matches!(load("%s+1024", "%q", "128"), Err(Error::OutOfBounds { .. })));
    assert!(matches!(load("%s", "%q+2032", "32"), Err(Error::OutOfBounds { .. })));
    assert!(matches!(load("%s", "%q", "32"), Err(Error::Unfinished { .. })));
}

#[test]
fn asynchronous_reductions_of_registers() {
    // 2 x 64 threads add to a word of block 0 and take the maximum of another.
    let kernel = [
        "@%first mbarrier.init.shared::cta.b64 [%b], 1; @%first st.shared.u32 [%s], 5; @%first st.shared.u32 [%s+4], 0;",
        "@%first fence.mbarrier_init.release.cluster;",
        "!barrier.cluster.arrive; barrier.cluster.wait;",
        "setp.eq.u32 %p1, %me, 0; and.pred %p2, %p1, %first; @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 1024;",
        "mapa.shared::cluster.u32 %r0, %s, 0; mapa.shared::cluster.u32 %r1, %b, 0; mad.lo.u32 %r2, %me, 64, %i;",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0], %r2, [%r1];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%r0+4], %r2, [%r1];",
        "@!%p1 bra DONE;",
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0;",
        "!@!%p0 bra WAIT;",
        "@%first ld.shared.v2.u32 {%r3, %r4}, [%s]; @%first st.global.v2.u32 [%p], {%r3, %r4};",
        "DONE: barrier.cluster.arrive; barrier.cluster.wait;",
    ];
    let want = |got: &[u32]| assert_eq!(got[..2], [5 + 127 * 64, 127]);
    mutants(2, 64, &kernel, &want, &|_, error| {
        early(error) || matches!(error, Error::Mbarrier { .. } | Error::Unfinished { .. })
    });
}

/// Random instructions on random operands: the run ends with a result or an error.
#[test]
fn no_sequence_of_instructions_panics_or_hangs() {
    let pool = [
        "mbarrier.init.shared::cta.b64 [%b+B], N;",
        "@%first mbarrier.init.shared::cta.b64 [%b+B], N;",
        "@%first mbarrier.inval.shared::cta.b64 [%b+B];",
        "mbarrier.arrive.shared::cta.b64 %st, [%b+B];",
        "@%lead mbarrier.arrive_drop.shared::cta.b64 %st, [%b+B], N;",
        "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b+B], S;",
        "@%lead mbarrier.arrive.noComplete.shared::cta.b64 %st, [%b+B], N;",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%b+B], S;",
        "mbarrier.test_wait.shared::cta.b64 %p0, [%b+B], %st;",
        "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b+B], P;",
        "mapa.shared::cluster.u32 %r0, %b, P; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r0+B];",
        "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+O], [%q+O], S, [%b+B];",
        "mov.u16 %h0, N; @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s+O], [%q+O], S, [%b+B], %h0;",
        "@%lead cp.async.bulk.global.shared::cta.bulk_group [%p+O], [%s+O], S; cp.async.bulk.commit_group;",
        "cp.async.bulk.global.shared::cta.bulk_group [%p+O], [%s+O], S;",
        "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p+O], [%s+O], S;",
        "cp.async.bulk.wait_group P;",
        "cp.async.bulk.wait_group.read P;",
        "mapa.shared::cluster.u32 %r1, %s, P; mapa.shared::cluster.u32 %r0, %b, P; @%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1+O], [%s+O], S, [%r0+B];",
        "mapa.shared::cluster.u32 %r1, %s, P; mapa.shared::cluster.u32 %r0, %b, N; @%first st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1+O], %i, [%r0+B];",
        "mapa.shared::cluster.u32 %r1, %s, P; mapa.shared::cluster.u32 %r0, %b, P; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+O], %i, [%r0+B];",
        "cp.async.ca.shared.global [%m+O], [%n], 4;",
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b+B];",
        "cp.async.mbarrier.arrive.shared::cta.b64 [%b+B];",
        "cp.async.wait_all;",
        "fence.proxy.async; fence.mbarrier_init.release.cluster;",
        "bar.sync 0;",
        "barrier.cluster.arrive; barrier.cluster.wait;",
        "barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
        "@%first exit;",
        "setp.eq.u32 %p1, %me, 1; @%p1 exit;",
        "st.shared.u32 [%m+O], %i;",
        "ld.shared.u32 %r3, [%m+O];",
        "mapa.shared::cluster.u32 %r1, %m, P; ld.shared::cluster.u32 %r3, [%r1+O];",
        "st.global.u32 [%o], %r3;",
    ];
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % n
    };
    let (mut done, mut failed) = (0, 0);
    for round in 0..1000 {
        let start = [
            "mov.u64 %st, 0; mov.u32 %r3, 0; st.shared.u32 [%m], %i;",
            "@%first mbarrier.init.shared::cta.b64 [%b], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;",
            "barrier.cluster.arrive; barrier.cluster.wait;",
        ];
        let mut lines: Vec<String> = start.map(String::from).into();
        for _ in 0..1 + below(6) {
            let operands = [
                ("B", [0, 0, 0, 0, 8, 4][below(6)]),
                ("N", [1, 1, 2, 3, 0][below(5)]),
                ("S", [16, 16, 64, 8, 0, 1024][below(6)]),
                ("O", [0, 0, 64, 256, 8, 1008][below(6)]),
                ("P", below(3)),
            ];
            let replace = |line: String, (name, value): (&str, usize)| {
                let ends = [("]", "]"), (";", ";"), (",", ",")];
                ends.iter().fold(line, |line, (end, _)| {
                    let line = line.replace(&format!("+{name}{end}"), &format!("+{value}{end}"));
                    line.replace(&format!(" {name}{end}"), &format!(" {value}{end}"))
                })
            };
            lines.push(operands.into_iter().fold(pool[below(pool.len())].to_string(), replace));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for (seed, races) in [(0, true), (round, true), (round, false)] {
            let options = Options { seed, races, steps: Some(1 << 20), ..Options::default() };
            match run(2, 64, &options, &lines) {
                Ok(_) => done += 1,
                Err(Error::StepLimit { .. }) => panic!("{lines:?}"),
                Err(_) => failed += 1,
            }
        }
    }
    assert!(done > 100 && failed > 100, "{done} {failed}");
}
