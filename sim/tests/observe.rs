//! What an observer is told: the order of instructions, waits, mbarriers, and what is in flight.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};

use crate::common::asynchronous::run;
use girih_sim::{Awaited, Flight, InFlight, Moment, Observer, Options, Phases};

/// What was seen after an instruction.
struct Seen {
    text: String,
    warp: u32,
    steps: [u64; 2],
    awaited: Option<Awaited>,
    passed: Option<(u64, u64)>,
    mbarriers: Vec<Phases>,
    in_flight: Vec<InFlight>,
}

#[derive(Default)]
struct All {
    /// For each warp, the step at which its instruction was begun.
    begun: Mutex<Vec<u64>>,
    seen: Mutex<Vec<Seen>>,
}

impl Observer for All {
    fn chooses(&self, _: [u32; 3], _: u32) -> bool {
        true
    }

    fn before(&self, moment: &Moment<'_>) {
        let mut begun = self.begun.lock().unwrap();
        let warp = moment.warp() as usize;
        let warps = begun.len().max(warp + 1);
        begun.resize(warps, 0);
        begun[warp] = moment.step();
    }

    fn after(&self, moment: &Moment<'_>) {
        assert_eq!((moment.kernel().name(), moment.launch().grid), ("k", [1; 3]));
        self.seen.lock().unwrap().push(Seen {
            text: moment.instruction().into(),
            warp: moment.warp(),
            steps: [self.begun.lock().unwrap()[moment.warp() as usize], moment.step()],
            awaited: moment.awaited(),
            passed: moment.passed(),
            mbarriers: moment.mbarriers(),
            in_flight: moment.in_flight(),
        });
    }
}

/// Runs a block; returns what was seen, in order.
fn watched(threads: u32, options: Options, lines: &[&str]) -> Vec<Seen> {
    let all = Arc::new(All::default());
    run(1, threads, &Options { observer: Some(all.clone()), ..options }, lines).unwrap();
    std::mem::take(&mut all.seen.lock().unwrap())
}

fn find<'a>(seen: &'a [Seen], text: &str) -> impl Iterator<Item = &'a Seen> {
    let found: Vec<&Seen> = seen.iter().filter(|seen| seen.text.contains(text)).collect();
    assert!(!found.is_empty(), "{text}");
    found.into_iter()
}

/// Counts how often it is asked which warps it watches.
#[derive(Default)]
struct Asked(Mutex<Vec<([u32; 3], u32)>>);

impl Observer for Asked {
    fn chooses(&self, block: [u32; 3], warp: u32) -> bool {
        self.0.lock().unwrap().push((block, warp));
        false
    }
}

#[test]
fn an_observer_is_asked_once_for_each_warp_of_each_block() {
    let asked = Arc::new(Asked::default());
    run(3, 64, &Options { observer: Some(asked.clone()), ..Options::default() }, &[]).unwrap();
    let mut warps = std::mem::take(&mut *asked.0.lock().unwrap());
    warps.sort_unstable();
    let wanted: Vec<_> = (0..3).flat_map(|x| (0..2).map(move |warp| ([x, 0, 0], warp))).collect();
    assert_eq!(warps, wanted);
}

/// A thread loads 512 bytes, for which the block of two warps waits.
const LOAD: [&str; 8] = [
    "@%first mbarrier.init.shared::cta.b64 [%b+8], 1;",
    "@%first fence.mbarrier_init.release.cluster;",
    "bar.sync 0;",
    "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b+8], 512;",
    "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+256], [%q], 512, [%b+8];",
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%b+8], 0;",
    "@!%p0 bra WAIT;",
    "ld.shared.u32 %r0, [%m+256]; st.global.u32 [%o], %r0;",
];

#[test]
fn steps_order_the_instructions_of_all_warps() {
    for seed in 0..6 {
        let seen = watched(64, Options { seed, ..Options::checked() }, &LOAD);
        // Each warp begins an instruction when it has executed the one before, and no two are executed at one step.
        assert!(seen.is_sorted_by(|a, b| a.steps[1] < b.steps[1]), "seed {seed}");
        assert!(seen.iter().all(|seen| seen.steps[0] <= seen.steps[1]));
        // Every step is an instruction.
        let last = seen.last().unwrap().steps[1];
        assert_eq!(seen.len() as u64, last, "seed {seed}");
        // Who did not wait was executed when it began.
        for seen in seen.iter().filter(|seen| seen.awaited.is_none()) {
            assert_eq!(seen.steps[0], seen.steps[1], "seed {seed}: {}", seen.text);
        }
    }
}

#[test]
fn a_wait_says_what_for_and_the_copy_is_in_flight_until_then() {
    let seen = watched(64, Options::checked(), &LOAD);
    let copy = find(&seen, "cp.async.bulk").find(|seen| seen.warp == 0).unwrap();
    let [flight] = &copy.in_flight[..] else { panic!("{:?}", copy.in_flight) };
    let [mbarrier] = copy.mbarriers[..] else { panic!("{:?}", copy.mbarriers) };
    assert_eq!((flight.warp, flight.lanes, flight.block), (0, 1, [0; 3]));
    assert!(
        (flight.bytes, flight.reads.is_empty()) == (512, true)
            && flight.writes.iter().cloned().eq(std::iter::once(256..768))
    );
    assert_eq!((flight.signals, flight.done), (Some(mbarrier.address), false));
    assert_eq!(flight.kind, Flight::Bulk);
    assert!(flight.instruction.contains("cp.async.bulk"));
    // s has 1024 bytes, and the mbarrier is the second of those that follow.
    assert_eq!((mbarrier.offset, mbarrier.address), (1032, 1024 + 1032));
    assert_eq!((mbarrier.completed, mbarrier.pending, mbarrier.transactions), (0, 0, 512));
    for wait in find(&seen, "try_wait") {
        let Some(Awaited::Mbarrier { address, parity, transactions, .. }) = wait.awaited else {
            panic!("warp {} has waited for {:?}", wait.warp, wait.awaited)
        };
        assert_eq!((address, parity, transactions), (mbarrier.address, 0, 512));
        assert!(wait.steps[0] < wait.steps[1], "the other warp goes on meanwhile");
        assert_eq!(wait.passed, Some((address, 0)));
        assert!(wait.in_flight.is_empty());
        assert_eq!((wait.mbarriers[0].completed, wait.mbarriers[0].transactions), (1, 0));
    }
    assert!(find(&seen, "ld.shared").all(|load| load.awaited.is_none() && load.passed.is_none()));
}

#[test]
fn copies_of_threads_are_in_flight_until_their_group_is_waited_for() {
    let lines = [
        "cp.async.ca.shared.global [%m], [%n], 4;",
        "cp.async.ca.shared.global [%m+256], [%n], 4;",
        "cp.async.commit_group;",
        "cp.async.ca.shared.global [%m+512], [%n], 4;",
        "cp.async.commit_group;",
        "cp.async.wait_group 1;",
        "cp.async.wait_group 0;",
    ];
    let seen = watched(64, Options::checked(), &lines);
    // The lanes of a warp copy 128 bytes, those of the second after those of the first.
    let of = |warp: usize, at: usize| {
        (u32::MAX, 128, Vec::from_iter(std::iter::once(at + 128 * warp..at + 128 * (warp + 1))))
    };
    assert!(seen.iter().flat_map(|seen| &seen.in_flight).all(|flight| flight.kind == Flight::Copy));
    let told = |seen: &Seen| -> Vec<_> {
        seen.in_flight.iter().map(|of| (of.lanes, of.bytes, of.writes.clone())).collect()
    };
    for (text, offsets) in [("wait_group 1", &[512][..]), ("wait_group 0", &[])] {
        for seen in find(&seen, text) {
            let warp = seen.warp as usize;
            assert_eq!(told(seen), offsets.iter().map(|&at| of(warp, at)).collect::<Vec<_>>(), "{text}");
        }
    }
    for commit in find(&seen, "commit_group") {
        let warp = commit.warp as usize;
        let all = [of(warp, 0), of(warp, 256), of(warp, 512)];
        let issued = told(commit);
        assert!(issued == all[..2] || issued == all, "{issued:?}");
    }
}
