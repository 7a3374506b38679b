//! Order among the lanes of a warp: a wait, a fence or a release of one lane is not one of the other lanes.
#![expect(clippy::unwrap_used, reason = "tests")]

mod graph;
mod law;
mod program;
mod text;

use crate::common::asynchronous::{FENCE, FIRST, INIT, line, run};
use girih_sim::{Deny, Error, Options, Site, Space};

/// Runs a cluster with every seed; returns the errors.
fn found(shape: (u32, u32), lines: &[&str]) -> Vec<Option<Error>> {
    let options = |seed| Options { races: true, seed, deny: Deny::Warnings, ..Options::default() };
    (0..8).map(|seed| run(shape.0, shape.1, &options(seed), lines).err()).collect()
}

/// A kernel of so many blocks and threads is right with the line that starts with `!`; without it the accesses that
/// start with `1:` and `2:` race, of threads for which this is so (counted through the cluster).
fn pair(shape: (u32, u32), space: Space, marked: &[&str], races: fn(u32, u32) -> bool) {
    let lines = |ordered| {
        let plain = marked.iter().map(move |line| match line.strip_prefix('!') {
            Some(line) => {
                if ordered {
                    line
                } else {
                    ""
                }
            }
            None => line.trim_start_matches("1:").trim_start_matches("2:"),
        });
        plain.collect::<Vec<_>>()
    };
    let ordered = found(shape, &lines(true));
    assert!(ordered.iter().all(Option::is_none), "{marked:?}: {ordered:?}");
    let place = |mark: &str| FIRST + marked.iter().position(|line| line.starts_with(mark)).unwrap() as u32;
    let thread = |at: &Site| at.block[0] * shape.1 + at.thread[0];
    for error in found(shape, &lines(false)) {
        let Some(Error::Race { at, space: of, other, .. }) = error else { panic!("{marked:?}: {error:?}") };
        let (at, other) = (*at, other.at);
        let [first, second] = if at.place.line == place("1:") { [at, other] } else { [other, at] };
        assert_eq!(
            (first.place.line, second.place.line, of),
            (place("1:"), place("2:"), space),
            "{marked:?}"
        );
        assert!(races(thread(&first), thread(&second)), "{marked:?}: {first} {second}");
    }
}

/// Two accesses in this space: the first half of the threads writes, and the second half reads what the first has
/// written.
fn accesses(space: Space) -> [&'static str; 2] {
    match space {
        Space::Shared => ["1:@!%p1 st.shared.u32 [%m], %i;", "2:@%p1 ld.shared.u32 %r1, [%m+-128];"],
        _ => ["1:@!%p1 st.global.u32 [%o], %i;", "2:@%p1 ld.global.u32 %r1, [%o+-128];"],
    }
}

const SPACES: [Space; 2] = [Space::Shared, Space::Global];

/// An mbarrier at %b and flags in shared and global memory; %p1 in the second warp, %p2 in its first lane.
const START: [&str; 2] = [
    "setp.ne.u32 %p1, %w, 0; setp.eq.u32 %p2, %i, 32; mov.u32 %r2, 0; mov.u32 %r3, 0;",
    "@%first mbarrier.init.shared::cta.b64 [%b], 1; @%first st.shared.u32 [%s+512], %r2; bar.sync 0;",
];
const ARRIVE: &str = "mbarrier.arrive.release.cta.shared::cta.b64 _, [%b];";
const WAIT: &str = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;";
/// Ways of one lane to release, and of one to acquire that.
const WAYS: [[&str; 2]; 7] = [
    [ARRIVE, WAIT],
    ["fence.acq_rel.cta; mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%b];", WAIT],
    [
        ARRIVE,
        "WAIT: mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT; fence.acq_rel.cluster;",
    ],
    [
        "st.release.cta.shared.u32 [%s+512], 1;",
        "WAIT: ld.acquire.cta.shared.u32 %r0, [%s+512]; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT;",
    ],
    [
        "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%p+1024], 1;",
        "WAIT: ld.relaxed.gpu.global.u32 %r0, [%p+1024]; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT; fence.acq_rel.gpu;",
    ],
    [
        "red.release.gpu.global.add.u32 [%p+1024], 1;",
        "WAIT: ld.acquire.gpu.global.u32 %r0, [%p+1024]; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT;",
    ],
    [
        "membar.cta; st.volatile.shared.u32 [%s+512], 1;",
        "WAIT: atom.acquire.cta.shared.or.b32 %r0, [%s+512], 0; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT;",
    ],
];

#[test]
fn what_one_lane_has_waited_for_is_not_known_to_its_warp() {
    for space in SPACES {
        let [store, load] = accesses(space);
        for [release, acquire] in WAYS {
            let release = format!("@!%first bra RELEASED; {release} RELEASED:");
            let acquire = format!("@!%p2 bra WAITED; {acquire} WAITED:");
            let lines = [store, "bar.warp.sync -1;", &release, &acquire, "!bar.warp.sync -1;", load];
            pair((1, 64), space, &[&START[..], &lines].concat(), |_, reader| reader > 32);
        }
    }
}

#[test]
fn what_one_lane_releases_is_not_what_its_warp_has_done() {
    for space in SPACES {
        let [store, load] = accesses(space);
        for [release, acquire] in WAYS {
            let release = format!("@!%first bra RELEASED; {release} RELEASED:");
            let acquire = format!("@!%p1 bra WAITED; {acquire} WAITED:");
            let lines = [store, "!bar.warp.sync -1;", &release, &acquire, load];
            pair((1, 64), space, &[&START[..], &lines].concat(), |writer, _| (1..32).contains(&writer));
        }
    }
}

/// A fence orders its own thread's accesses: a barrier hands on what it has seen, but not that it has fenced.
#[test]
fn another_lanes_fence_is_none() {
    let [store, load] = accesses(Space::Shared);
    let flag = ["@%first st.relaxed.cta.shared.u32 [%s+512], 1;", "@!%p1 bra WAITED;"];
    let wait =
        "WAIT: ld.acquire.cta.shared.u32 %r0, [%s+512]; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT; WAITED:";
    let lines = [store, "fence.acq_rel.cta; bar.warp.sync -1;", "!@%first fence.acq_rel.cta;"];
    let lines = [&START[..], &lines, &flag, &[wait, load]].concat();
    pair((1, 64), Space::Shared, &lines, |writer, _| (1..32).contains(&writer));
}

/// Nor does it stand for what its neighbour has read or will write.
#[test]
fn a_neighbours_fence_is_none() {
    let [store, load] = accesses(Space::Shared);
    let spin = |order: &str| {
        format!(
            "WAIT: ld.{order}.cta.shared.u32 %r0, [%s+512]; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT; WAITED:"
        )
    };
    let set = "@%first st.relaxed.cta.shared.u32 [%s+512], 1;";
    let next = "setp.eq.u32 %p4, %l, 1; @%p4 fence.acq_rel.cta;";
    let (acquire, relaxed) = (spin("acquire"), spin("relaxed"));
    let writer = [store, "bar.warp.sync -1;", next, "!@%first fence.acq_rel.cta;", set, "@!%p1 bra WAITED;"];
    let lines = [&START[..], &writer, &[&acquire, load]].concat();
    pair((1, 64), Space::Shared, &lines, |writer, _| writer < 32);
    let reader = [store, "bar.warp.sync -1; fence.acq_rel.cta;", set, "@!%p2 bra WAITED;", &relaxed, next];
    let after = ["@%p2 fence.acq_rel.cta;", "!bar.warp.sync -1;"];
    let lines = [&START[..], &reader, &after, &[load]].concat();
    pair((1, 64), Space::Shared, &lines, |_, reader| reader > 32);
}

#[test]
fn an_elected_lane_waits_for_itself() {
    let [store, load] = accesses(Space::Shared);
    let lines = [
        store,
        "bar.warp.sync -1;",
        "@%first mbarrier.arrive.shared::cta.b64 _, [%b];",
        "elect.sync _|%p3, -1; and.pred %p3, %p3, %p1;",
        "@!%p3 bra WAITED; WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT; WAITED:",
        "!bar.warp.sync -1;",
        load,
    ];
    pair((1, 64), Space::Shared, &[&START[..], &lines].concat(), |_, reader| reader > 32);
}

/// Between the blocks of a cluster: each writes into the other's shared memory.
#[test]
fn lanes_arrive_at_the_clusters_barrier_for_themselves() {
    let head = [
        "xor.b32 %r0, %me, 1; mapa.shared::cluster.u32 %r1, %m, %r0; setp.lt.u32 %p1, %l, 16; xor.b32 %r5, %l, 5;",
        "mad.lo.u32 %r5, %r5, 4, %s; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
    ];
    let [store, load] = ["1:st.shared::cluster.u32 [%r1], %i;", "2:ld.shared.u32 %r2, [%r5];"];
    // Half of the lanes arrive before they write, unless the others make them wait until they have.
    for [early, late] in [
        ["@%p1 barrier.cluster.arrive.release;", "@!%p1 barrier.cluster.arrive.release;"],
        [
            "@%p1 fence.acq_rel.cluster; @%p1 barrier.cluster.arrive.relaxed;",
            "@!%p1 fence.acq_rel.cluster; @!%p1 barrier.cluster.arrive.relaxed;",
        ],
    ] {
        let wait = "barrier.cluster.wait.acquire;";
        let lines = [&head[..], &[early, store, late, wait, load]].concat();
        let races =
            found((2, 32), &lines.iter().map(|l| l.trim_start_matches(['1', '2', ':'])).collect::<Vec<_>>());
        for race in races {
            let Some(Error::Race { at, other, .. }) = race else { panic!("{race:?}") };
            let writer = if at.place.line == FIRST + 3 { *at } else { other.at };
            assert!(writer.place.line == FIRST + 3 && writer.thread[0] < 16, "{writer}");
        }
        let lines = [&head[..], &[store, early, late, wait, load]].concat();
        let none =
            found((2, 32), &lines.iter().map(|l| l.trim_start_matches(['1', '2', ':'])).collect::<Vec<_>>());
        assert!(none.iter().all(Option::is_none), "{none:?}");
    }
    // Half of the lanes wait before they read, the others after.
    let waits =
        ["barrier.cluster.arrive.release;", "@%p1 barrier.cluster.wait.acquire;", "!bar.warp.sync -1;"];
    let lines = [&head[..], &[store], &waits, &[load, "@!%p1 barrier.cluster.wait.acquire;"]].concat();
    pair((2, 32), Space::Shared, &lines, |_, reader| reader % 32 >= 16);
}

#[test]
fn a_lane_fences_and_stores_what_it_is_ordered_after() {
    let issue = "2:@%lead cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 128;";
    let wait = "@%lead cp.async.bulk.commit_group; @%lead cp.async.bulk.wait_group 0;";
    let store = "1:st.shared.u32 [%m], %i;";
    let others: fn(u32, u32) -> bool = |writer, issuer| writer != 0 && issuer == 0;
    let one = [store, "!bar.warp.sync -1;", "@%lead fence.proxy.async.shared::cta;", issue, wait];
    pair((1, 32), Space::Shared, &one, others);
    let all = [store, "fence.proxy.async.shared::cta;", "!bar.warp.sync -1;", issue, wait];
    pair((1, 32), Space::Shared, &all, others);
    // A fence of one lane only, and then a barrier: what the others wrote is not fenced.
    let before =
        ["st.shared.u32 [%m], %i;", "@%lead fence.proxy.async;", "bar.warp.sync -1;", &issue[2..], wait];
    for error in found((1, 32), &before) {
        let Some(Error::Unfenced { at, other, .. }) = error else { panic!("{error:?}") };
        assert_eq!((at.place.line, at.thread[0], other.at.place.line), (FIRST + 3, 0, FIRST));
        assert!(other.at.thread[0] != 0, "{other:?}");
    }
}

/// A fence of the async proxy that is handed on by a flag in global memory.
#[test]
fn fences_are_seen_through_global_memory() {
    let errors = |fence: &str, release: &str| {
        let set = format!("@!%p1 bra WAIT; {release} bra SET;");
        let kernel = [
            "setp.eq.u32 %p1, %i, 32; @%p1 st.shared.v4.u32 [%s], {%i, %i, %i, %i};",
            fence,
            &set,
            "WAIT: ld.acquire.gpu.global.u32 %r0, [%p+1024]; setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT;",
            "SET: @%first cp.async.bulk.global.shared::cta.bulk_group [%p], [%s], 16;",
            "@%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;",
        ];
        found((1, 64), &kernel)
    };
    for release in [
        "st.release.gpu.global.u32 [%p+1024], 1;",
        "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%p+1024], 1;",
    ] {
        let none = errors("@%p1 fence.proxy.async;", release);
        assert!(none.iter().all(Option::is_none), "{none:?}");
        let unfenced = errors("@%p1 fence.acq_rel.cta;", release);
        assert!(unfenced.iter().all(|error| matches!(error, Some(Error::Unfenced { .. }))), "{unfenced:?}");
    }
}

#[test]
fn a_fence_of_mbarriers_is_of_those_that_its_thread_has_initialised() {
    let load =
        "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%q], 128, [%b];";
    let wait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;";
    let expect = "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 128;";
    let kernel = |fence| [INIT, fence, "bar.sync 0;", expect, load, wait];
    assert!(found((1, 32), &kernel(FENCE)).iter().all(Option::is_none));
    let other = "setp.eq.u32 %p1, %l, 1; @%p1 fence.mbarrier_init.release.cluster;";
    for error in found((1, 32), &kernel(other)) {
        assert!(
            matches!(&error, Some(e @ Error::MbarrierUnfenced { .. }) if line(e) == FIRST + 4),
            "{error:?}"
        );
    }
}

/// What a thread does between `cp.async.mbarrier.arrive` and its copies' arrival is not handed on by that.
#[test]
fn copies_arrive_for_what_came_before_them() {
    let copy = "cp.async.ca.shared.global [%m], [%n], 4;";
    let arrive = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];";
    let [store, load] = ["1:@!%p1 st.shared.u32 [%m+512], %i;", "2:@%p1 ld.shared.u32 %r1, [%m+384];"];
    let wait = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b], 0; @!%p0 bra WAIT;";
    let head = ["setp.ne.u32 %p1, %w, 0;", "@%first mbarrier.init.shared::cta.b64 [%b], 64; bar.sync 0;"];
    let before = [&head[..], &[&store[2..], copy, arrive, wait, &load[2..]]].concat();
    let none = found((1, 64), &before);
    assert!(none.iter().all(Option::is_none), "{none:?}");
    pair(
        (1, 64),
        Space::Shared,
        &[&head[..], &[copy, arrive, store, wait, "!bar.sync 0;", load]].concat(),
        |_, _| true,
    );
}

/// Lanes that have exited are not at the barriers of those that have not.
#[test]
fn lanes_that_exit_leave_their_accesses_unordered() {
    let lines = ["setp.lt.u32 %p1, %l, 16;", "1:@%p1 st.shared.u32 [%m], %i;", "!bar.warp.sync -1;"];
    let after = ["@%p1 exit;", "bar.warp.sync -1;", "2:ld.shared.u32 %r1, [%m+-64];"];
    pair((1, 32), Space::Shared, &[&lines[..], &after].concat(), |writer, reader| writer + 16 == reader);
}

/// Of the reads of three lanes a write comes after two; which one it does not come after makes no difference.
#[test]
fn every_read_is_remembered_until_something_orders_it() {
    for alone in 0..3 {
        let load = |lane: u32| {
            let mark = if lane == alone { "2:" } else { "" };
            format!("{mark}@%p{lane} ld.shared.u32 %r1, [%s];")
        };
        let mask = 15 & !(1 << alone);
        let some =
            format!("setp.ne.u32 %p5, %l, {alone}; and.pred %p5, %p4, %p5; @%p5 bar.warp.sync {mask};");
        let [a, b, c] = [0, 1, 2].map(load);
        let lanes = [0, 1, 2, 3].map(|lane| format!("setp.eq.u32 %p{lane}, %l, {lane};")).concat();
        let all = "!setp.lt.u32 %p4, %l, 4; @%p4 bar.warp.sync 15;";
        let lines =
            [&lanes, "setp.lt.u32 %p4, %l, 4;", &a, &b, &c, &some, all, "1:@%p3 st.shared.u32 [%s], %l;"];
        pair((1, 32), Space::Shared, &lines, |_, _| true);
    }
}
