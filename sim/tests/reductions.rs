//! Asynchronous reductions race with every other access to their bytes that is not ordered before their issue or after
//! their end, except with asynchronous reductions of the same manner: the same proxy, and elements of the same size.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::asynchronous::{INIT, SYNC, run, seeds};
use crate::common::{launch, module, u64_arg, upload};
use girih_ptx::{TensorElement, Tiled};
use girih_sim::{Error, Launch, Memory, Options};

/// Asynchronous reductions into shared memory: how many bytes, and the instruction of a thread `@IF` into `[TO]`, which
/// signals the mbarrier `[AT]`. No two are of the same manner.
const INTO_SHARED: [(u32, &str); 4] = [
    (4, "@IF red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [TO], %i, [AT];"),
    (
        8,
        "@IF red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [TO], %rd8, [AT];",
    ),
    (
        16,
        "@IF cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [TO], [%s+512], 16, [AT];",
    ),
    (
        16,
        "@IF cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [TO], [%s+512], 16, [AT];",
    ),
];

/// Other accesses to the word at `%s` by the first thread of the second warp. The two of `.shared::cluster` have
/// the address in another window of the same memory.
const ACCESSES: [&str; 14] = [
    "@%p1 ld.shared.u32 %r1, [%s];",
    "@%p1 st.shared.u32 [%s], 9;",
    "@%p1 ld.shared::cluster.u32 %r1, [%r9];",
    "@%p1 st.shared::cluster.u32 [%r9], 9;",
    "@%p1 ld.volatile.shared.u32 %r1, [%s];",
    "@%p1 ld.relaxed.cluster.shared.u32 %r1, [%s];",
    "@%p1 ld.acquire.cluster.shared.u32 %r1, [%s];",
    "@%p1 st.relaxed.cluster.shared.u32 [%s], 9;",
    "@%p1 st.release.cta.shared.u32 [%s], 9;",
    "@%p1 atom.shared.add.u32 %r1, [%s], 1;",
    "@%p1 red.relaxed.cluster.shared::cluster.add.u32 [%r9], 1;",
    "@%p1 cp.async.ca.shared.global [%s], [%q], 4; cp.async.wait_all;",
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s];",
];

/// Zeros in shared memory, which the async proxy sees; %p1 is true in the first thread of the second warp, and %b has
/// two mbarriers that expect these bytes.
fn start(bytes: [u32; 2]) -> [String; 3] {
    let expect = bytes.iter().enumerate().map(|(i, bytes)| {
        let at = format!("[%b+{}]", 8 * i);
        format!(
            "@%first mbarrier.init.shared::cta.b64 {at}, 1; @%first fence.mbarrier_init.release.cluster; \
             @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, {at}, {bytes};"
        )
    });
    [
        "setp.eq.u32 %p1, %i, 32; mov.u32 %r0, 0; mov.u64 %rd8, 1; mapa.shared::cluster.u32 %r9, %s, 0; \
         st.shared.u32 [%m], %r0; st.shared.u32 [%m+512], %r0;"
            .into(),
        expect.collect::<String>(),
        "fence.proxy.async; bar.sync 0;".into(),
    ]
}

/// The wait of the threads `of` for the end of what signals the mbarrier `at`.
fn wait(of: &str, at: u32) -> String {
    format!(
        "@!{of} bra PAST{at}; WAIT{at}: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b+{at}], 0; \
         @!%p0 bra WAIT{at}; PAST{at}:"
    )
}

/// What each seed says of a block of two warps.
fn verdicts(start: &[String], lines: &[&str]) -> Vec<Option<Error>> {
    let all: Vec<&str> = start.iter().map(String::as_str).chain(lines.iter().copied()).collect();
    seeds().map(|options| run(1, 64, &options, &all).err()).collect()
}

fn is_race(error: &Option<Error>) -> bool {
    matches!(error, Some(Error::Race { .. } | Error::InFlight { .. }))
}

#[track_caller]
fn right(start: &[String], lines: &[&str]) {
    let found = verdicts(start, lines);
    assert!(found.iter().all(Option::is_none), "{lines:#?}: {found:?}");
}

#[track_caller]
fn races(start: &[String], lines: &[&str]) {
    let found = verdicts(start, lines);
    assert!(found.iter().all(is_race), "{lines:#?}: {found:?}");
}

/// A reduction of a thread into the word at `%s`, which signals the mbarrier `at`.
fn reduction(text: &str, of: &str, at: u32) -> String {
    text.replace("IF", of).replace("TO", "%s").replace("AT", &format!("%b+{at}"))
}

const EVERYBODY: &str = "%p7";
const TRUE: &str = "setp.eq.u32 %p7, 0, 0;";

#[test]
fn any_other_access_is_ordered_before_the_issue_or_after_the_end() {
    for (bytes, text) in INTO_SHARED {
        let start = start([bytes, 0]);
        let (issue, ended) = (&reduction(text, "%first", 0)[..], &wait(EVERYBODY, 0)[..]);
        for access in ACCESSES {
            // All lanes of a warp execute an `ldmatrix`.
            let (head, access) = match access.contains("ldmatrix") {
                true => ("setp.eq.u32 %p2, %w, 1;", &access.replace("%p1", "%p2")[..]),
                false => ("", access),
            };
            let fence = "fence.proxy.async;";
            right(&start, &[TRUE, head, issue, ended, fence, access]);
            right(&start, &[TRUE, head, access, fence, SYNC, issue, ended]);
            races(&start, &[TRUE, head, issue, access, ended]);
            races(&start, &[TRUE, head, fence, access, issue, ended]);
            // Only the thread that issued it waits before the access; the others wait later, since the block stays
            // until the reduction has ended.
            let own = wait("%first", 0);
            let later = ended.replace("PAST", "END").replace("WAIT", "AGAIN");
            races(&start, &[TRUE, head, issue, &own, access, &later]);
            right(&start, &[TRUE, head, issue, &own, fence, SYNC, fence, access, &later]);
        }
    }
}

/// An asynchronous reduction is not part of its thread's program order.
#[test]
fn the_issuing_thread_waits_too() {
    for (bytes, text) in INTO_SHARED {
        let (start, issue, ended) = (start([bytes, 0]), reduction(text, "%p1", 0), wait(EVERYBODY, 0));
        for access in ACCESSES.iter().filter(|access| !access.contains("ldmatrix")) {
            races(&start, &[TRUE, &issue, access, &ended]);
            right(&start, &[TRUE, &issue, &ended, "fence.proxy.async;", access]);
            right(&start, &[TRUE, access, "fence.proxy.async;", &issue, &ended]);
        }
    }
}

#[test]
fn reductions_of_one_manner_may_meet_and_others_may_not() {
    for (i, (first_bytes, first)) in INTO_SHARED.into_iter().enumerate() {
        for (j, (second_bytes, second)) in INTO_SHARED.into_iter().enumerate() {
            let start = start([first_bytes, second_bytes]);
            let [first, second] = [reduction(first, "%first", 0), reduction(second, "%p1", 8)];
            let [ended, both] = [wait(EVERYBODY, 0), wait(EVERYBODY, 8)];
            match i == j {
                true => right(&start, &[TRUE, &first, &second, &ended, &both]),
                false => races(&start, &[TRUE, &first, &second, &ended, &both]),
            }
            right(&start, &[TRUE, &first, &ended, "fence.proxy.async;", &second, &both]);
        }
    }
}

/// Of two reductions that were in flight together, whoever accesses the bytes has waited for both.
#[test]
fn the_end_of_one_is_not_that_of_another() {
    for (bytes, text) in INTO_SHARED {
        let start = start([bytes, bytes]);
        let [first, second] = [reduction(text, "%first", 0), reduction(text, "%p1", 8)];
        let waits = [wait(EVERYBODY, 0), wait(EVERYBODY, 8)];
        for access in ACCESSES.iter().filter(|access| !access.contains("ldmatrix")) {
            for [early, late] in [[&waits[0], &waits[1]], [&waits[1], &waits[0]]] {
                let fence = "fence.proxy.async;";
                races(&start, &[TRUE, &first, &second, early, fence, access, late]);
                right(&start, &[TRUE, &first, &second, early, late, fence, access]);
            }
        }
    }
}

/// What comes before a reduction's issue comes before what follows its end, for the bytes that it reduced into, and for
/// no others.
#[test]
fn a_reduction_hands_on_its_own_bytes_alone() {
    for (bytes, text) in INTO_SHARED {
        let (start, issue, ended) = (start([bytes, 0]), reduction(text, "%first", 0), wait("%p1", 0));
        let later = wait("%first", 0).replace("PAST", "END").replace("WAIT", "AGAIN");
        let lines = |word: &str| {
            [
                format!("@%first st.shared.u32 [%s+{word}], 7; fence.proxy.async;"),
                issue.clone(),
                ended.clone(),
                format!("@%p1 ld.shared.u32 %r1, [%s+{word}];"),
                later.clone(),
            ]
        };
        right(&start, &lines("0").each_ref().map(String::as_str));
        races(&start, &lines("256").each_ref().map(String::as_str));
    }
}

/// A reduction that was issued after the end of another one comes after it, and so does who waits for the later one
/// alone. Who has waited for the earlier one alone knows what that had to come after.
#[test]
fn a_reduction_after_another_stands_for_both() {
    for (bytes, text) in INTO_SHARED {
        let start = start([bytes, bytes]);
        let [first, second] = [reduction(text, "%first", 0), reduction(text, "%p1", 8)];
        let later = [wait(EVERYBODY, 0), wait(EVERYBODY, 8)];
        let later = later.map(|wait| wait.replace("PAST", "END").replace("WAIT", "AGAIN"));
        let (one, other) = (wait("%p1", 0), wait("%p2", 8));
        let read = "@%p2 ld.shared.u32 %r1, [%s];";
        let third = "setp.eq.u32 %p2, %i, 1;";
        right(&start, &[TRUE, third, &first, &one, &second, &other, read, &later[0], &later[1]]);
        races(&start, &[TRUE, third, &first, &second, &one, &other, read, &later[0], &later[1]]);
        // The word is written before the first reduction, of which the second thread knows nothing else.
        let write = "@%first st.shared.u32 [%s], 3; fence.proxy.async;";
        right(&start, &[TRUE, write, &first, &one, &second, &later[0], &later[1]]);
        races(&start, &[TRUE, write, &first, &second, &later[0], &later[1]]);
    }
}

#[test]
fn bulk_reductions_need_a_fence_after_what_the_generic_proxy_wrote() {
    for (bytes, text) in INTO_SHARED {
        let (start, issue, ended) = (start([bytes, 0]), reduction(text, "%first", 0), wait(EVERYBODY, 0));
        let bulk = text.contains("bulk");
        for write in ["st.shared.u32 [%s], 7;", "atom.shared.add.u32 %r1, [%s], 1;"] {
            let found = verdicts(&start, &[TRUE, &format!("@%p1 {write}"), SYNC, &issue, &ended]);
            match bulk {
                true => assert!(
                    found.iter().all(|error| matches!(error, Some(Error::Unfenced { .. }))),
                    "{write} {issue}: {found:?}"
                ),
                false => assert!(found.iter().all(Option::is_none), "{write} {issue}: {found:?}"),
            }
        }
        // What a reduction of the async proxy wrote needs no fence; what `red.async` wrote needs one.
        let store = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 16; cp.async.bulk.commit_group; \
                     cp.async.bulk.wait_group 0;";
        let found = verdicts(&start, &[TRUE, &issue, &ended, store]);
        match bulk {
            true => assert!(found.iter().all(Option::is_none), "{issue}: {found:?}"),
            false => assert!(
                found.iter().all(|error| matches!(error, Some(Error::Unfenced { .. }))),
                "{issue}: {found:?}"
            ),
        }
    }
}

/// The moments in flight are checked also where races are not.
#[test]
fn accesses_in_flight_are_found_without_the_check_of_races() {
    for (bytes, text) in INTO_SHARED {
        let (start, issue, ended) = (start([bytes, 0]), reduction(text, "%p1", 0), wait(EVERYBODY, 0));
        let lines = |access: &str| {
            let rest = [TRUE, &issue, access, &ended, "@%p1 ld.shared.u32 %r1, [%s];"].map(String::from);
            start.iter().cloned().chain(rest).collect::<Vec<_>>()
        };
        let options = Options { uninitialised: true, ..Options::default() };
        let found = |lines: Vec<String>| {
            run(1, 64, &options, &lines.iter().map(String::as_str).collect::<Vec<_>>()).err()
        };
        assert_eq!(found(lines("")), None);
        let early = found(lines("@%p1 ld.shared.u32 %r1, [%s];"));
        assert!(matches!(early, Some(Error::InFlight { .. })), "{early:?}");
    }
}

/// A kernel with reductions into 16 bytes of global memory at %p, from shared memory: %p1 is true in the second block,
/// and the first thread of each block runs the lines.
fn global(lines: &[&str]) -> Vec<Option<Error>> {
    let text = module(&format!(
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {{
           .shared .align 128 .b8 s[1024]; .reg .b32 %i, %c, %s, %r<9>; .reg .b64 %m, %p, %rd<9>; .reg .pred %p<9>;
           ld.param.u64 %p, [out]; mov.b64 %m, map; cvta.param.u64 %m, %m; mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x;
           mov.u32 %s, s; setp.ne.u32 %p0, %i, 0; @%p0 exit; setp.eq.u32 %p1, %c, 1; mov.u32 %r0, 0;
           st.shared.v4.u32 [%s], {{%r0, %r0, %r0, %r0}}; fence.proxy.async;
           {}
           END: ret; }}",
        lines.join("\n")
    ));
    let run = |options: Options| {
        let memory = Memory::new();
        let out = upload(&memory, &[0; 256]);
        let map = Tiled::new(TensorElement::U32, &[256], &[4]).at(out).unwrap();
        let args = vec![map.to_bytes().into(), u64_arg(out)];
        let shape = Launch { grid: [2, 1, 1], block: [32, 1, 1], args, ..Launch::default() };
        launch(&text, &memory, &shape, &options).err()
    };
    seeds().map(run).collect()
}

/// Reductions into global memory, all of words.
const INTO_GLOBAL: [&str; 2] = [
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p], [%s], 16;",
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%m, {%r0}], [%s];",
];
const WRITTEN: &str = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
const READ: &str = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;";

#[test]
fn reductions_into_global_memory_race_with_other_accesses() {
    let accesses = [
        "ld.global.u32 %r1, [%p+4];",
        "st.global.u32 [%p+4], 9;",
        "ld.volatile.global.u32 %r1, [%p+4];",
        "ld.relaxed.gpu.global.u32 %r1, [%p+4];",
        "st.relaxed.gpu.global.u32 [%p+4], 9;",
        "atom.global.add.u32 %r1, [%p+4], 1;",
        "red.relaxed.sys.global.add.u32 [%p+4], 1;",
        "cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%p], [%s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    ];
    let set = "st.release.gpu.global.u32 [%p+512], 1;";
    let wait = "WAIT: ld.acquire.gpu.global.u32 %r2, [%p+512]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;";
    for issue in INTO_GLOBAL {
        for access in accesses {
            let apart = global(&["@%p1 bra SECOND;", issue, WRITTEN, "bra END; SECOND:", access]);
            assert!(apart.iter().all(is_race), "{issue} {access}: {apart:?}");
            let fence = "fence.proxy.async;";
            let handed = |until| {
                let first = ["@%p1 bra SECOND;", issue, until, set, "bra END; SECOND:"];
                global(&[&first[..], &[wait, fence, access]].concat())
            };
            // To have read the source is not to have written.
            assert!(handed(READ).iter().all(is_race), "{issue} {access}: {:?}", handed(READ));
            assert!(handed(WRITTEN).iter().all(Option::is_none), "{issue} {access}: {:?}", handed(WRITTEN));
            let before =
                ["@%p1 bra SECOND;", wait, fence, issue, WRITTEN, "bra END; SECOND:", access, fence, set];
            assert!(global(&before).iter().all(Option::is_none), "{issue} {access}: {:?}", global(&before));
            // The thread that issued the reduction waits too.
            let own = global(&["@%p1 bra END;", issue, "cp.async.bulk.commit_group;", access, WRITTEN]);
            assert!(own.iter().all(is_race), "{issue} {access}: {own:?}");
        }
        let meet = global(&[issue, WRITTEN]);
        assert!(meet.iter().all(Option::is_none), "{issue}: {meet:?}");
    }
}

/// A block that has waited for its own reduction does not know another block's, whichever was first.
#[test]
fn the_end_of_a_blocks_reduction_is_not_that_of_another_blocks() {
    for issue in INTO_GLOBAL {
        for access in ["ld.global.u32 %r1, [%p];", "ld.relaxed.gpu.global.u32 %r1, [%p];"] {
            for reader in ["@%p1", "@!%p1"] {
                let found = global(&[issue, WRITTEN, &format!("{reader} {access}")]);
                assert!(found.iter().all(is_race), "{issue} {reader} {access}: {found:?}");
            }
        }
    }
}

/// Two blocks reduce into the shared memory of the first, which reads the sums after the end of both.
#[test]
fn a_cluster_reduces_into_one_block() {
    for (bytes, text) in INTO_SHARED {
        let into = text.replace("IF", "%first").replace("TO", "%r2").replace("AT", "%r3");
        let zero = "mov.u32 %r0, 0; mov.u64 %rd8, 1; st.shared.u32 [%m], %r0; st.shared.u32 [%m+512], %r0; fence.proxy.async;";
        let expect = format!(
            "@%first fence.mbarrier_init.release.cluster; @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], {};",
            2 * bytes
        );
        let lines = [
            INIT,
            &expect[..],
            zero,
            "barrier.cluster.arrive; barrier.cluster.wait;",
            "mapa.shared::cluster.u32 %r2, %s, 0; mapa.shared::cluster.u32 %r3, %b, 0;",
            &into,
            "setp.ne.u32 %p3, %me, 0; @%p3 bra DONE;",
            "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;",
            "ld.shared.u32 %r4, [%m];",
            "DONE: barrier.cluster.arrive; barrier.cluster.wait;",
        ];
        // The second block does not wait for the source of its reduction, which the first does for both.
        let errors = |lines: &[&str], block: u32| {
            let options = |seed| Options { seed, races: true, ..Options::default() };
            (0..8).map(move |seed| run(block, 64, &options(seed), lines).err()).collect::<Vec<_>>()
        };
        assert!(errors(&lines, 2).iter().all(Option::is_none), "{into}: {:?}", errors(&lines, 2));
        // The second block reads the sums without waiting for them.
        let mut early = lines;
        early[6] = "setp.ne.u32 %p3, %me, 0; @%p3 ld.shared::cluster.u32 %r4, [%r2]; @%p3 bra DONE;";
        assert!(errors(&early, 2).iter().all(is_race), "{into}: {:?}", errors(&early, 2));
    }
}
