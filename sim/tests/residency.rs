//! How many blocks are resident at a time: grid barriers of that many blocks and of one more, and endless waits.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::common::{download, load, module, shape, u64_arg, upload};
use girih_sim::{Awaited, Error, Launch, Memory, Options, Space, Verdict, judge, run};

/// Each block writes a word, comes to a barrier of the grid as cooperative groups have it (a bit of a counter turns when
/// all have come), and reads the next block's word.
fn grid_barrier(directives: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out) {directives} {{
         .reg .b32 %i, %me, %n, %x, %r<9>; .reg .b64 %p, %q, %o; .reg .pred %p<9>, %first;
         ld.param.u64 %p, [out]; mov.u32 %me, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %i, %tid.x;
         setp.eq.u32 %first, %i, 0; mul.wide.u32 %q, %me, 4; add.s64 %q, %q, %p;
         add.u32 %x, %me, 100; @%first st.global.u32 [%q+4], %x;
         bar.sync 0; @!%first bra OUT;
         mov.u32 %r0, 1; setp.ne.u32 %p1, %me, 0; @%p1 bra ADD; sub.u32 %r0, %n, 1; sub.u32 %r0, 0x80000000, %r0;
         ADD: fence.acq_rel.gpu;
         atom.relaxed.gpu.global.add.u32 %r1, [%p], %r0;
         WAIT: ld.relaxed.gpu.global.u32 %r2, [%p];
         xor.b32 %r2, %r2, %r1; setp.ge.s32 %p2, %r2, 0; @%p2 bra WAIT;
         fence.acq_rel.gpu;
         OUT: bar.sync 0; @!%first exit;
         add.u32 %r3, %me, 1; rem.u32 %r3, %r3, %n; mul.wide.u32 %o, %r3, 4; add.s64 %o, %o, %p;
         ld.global.u32 %r4, [%o+4]; mul.wide.u32 %q, %me, 4; add.s64 %q, %q, %p; st.global.u32 [%q+4096], %r4; ret; }}"
    ))
}

fn outcome(directives: &str, blocks: u32, threads: u32, options: &Options) -> (Verdict, Vec<u32>) {
    let (memory, program) = (Memory::new(), load(&grid_barrier(directives)).unwrap());
    let out = upload(&memory, &[0; 2048]);
    let mut shape = shape(blocks, threads);
    shape.args = vec![u64_arg(out)];
    let verdict = judge(program.kernel("k").unwrap(), &memory, &shape, options).unwrap();
    (verdict, download(&memory, out, 2048))
}

#[test]
fn grid_barriers_of_as_many_blocks_as_there_is_room_for() {
    // One of 768 threads with 80 registers each, or two of 1024 threads on each of 132 multiprocessors.
    let checked = Options { seed: 3, ..Options::checked() };
    for (directives, threads, room, options) in
        [(".maxnreg 80", 768, 132, checked), ("", 1024, 264, Options::default())]
    {
        let (verdict, out) = outcome(directives, room, threads, &options);
        assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
        let want: Vec<u32> = (0..room).map(|me| 100 + (me + 1) % room).collect();
        assert_eq!(out[1024..1024 + room as usize], want);
        let (verdict, _) = outcome(directives, room + 1, threads, &Options::default());
        let [finding] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
        let Error::NotResident { at, awaited, blocks, residency } = &finding.error else {
            panic!("{finding}")
        };
        assert_eq!(
            (*blocks, residency.blocks(), finding.error.kind()),
            (room as u64 + 1, room as u64, "not-resident")
        );
        assert!(at.place.instruction.starts_with("ld.relaxed") && at.thread == [0; 3], "{at}");
        assert!(matches!(awaited, Some(Awaited::Value { space: Space::Global, .. })), "{awaited:?}");
        let told = format!("of the grid's {} blocks {room} are resident at a time", room + 1);
        assert!(finding.to_string().contains(&told), "{finding}");
    }
}

#[test]
fn the_device_may_be_another() {
    let with = |multiprocessors| Options { multiprocessors: Some(multiprocessors), ..Options::checked() };
    for (multiprocessors, blocks, passes) in [(1, 2, true), (1, 3, false), (4, 8, true), (4, 9, false)] {
        let (verdict, _) = outcome("", blocks, 1024, &with(multiprocessors));
        assert_eq!(verdict.passed(), passes, "{multiprocessors} {blocks}: {:?}", verdict.findings);
    }
    // Blocks that do not wait need not be resident together.
    let text = module(".visible .entry k() { ret; }");
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    assert!(judge(program.kernel("k").unwrap(), &memory, &shape(500, 1024), &with(1)).unwrap().passed());
}

/// Against what the driver's occupancy calculator gives for sm_90: a cooperative launch of as many blocks, and of one more.
#[test]
fn blocks_of_a_multiprocessor() {
    for (threads, shared, registers, each, limit) in [
        (128, 0, None, 16, "threads"),
        (32, 0, None, 32, "blocks"),
        (1024, 0, None, 2, "threads"),
        (768, 0, None, 2, "threads"),
        (384, 227 << 10, None, 1, "shared memory"),
        (128, 48 << 10, None, 4, "shared memory"),
        (128, 113 << 10, None, 2, "shared memory"),
        (128, (113 << 10) + 1, None, 1, "shared memory"),
        (256, 0, Some(32), 8, "threads"),
        (256, 0, Some(40), 6, "registers"),
        (256, 0, Some(64), 4, "registers"),
        (256, 0, Some(128), 2, "registers"),
        (384, 0, Some(168), 1, "registers"),
        (1, 0, Some(16), 32, "blocks"),
    ] {
        let directive = registers.map_or(String::new(), |most: u32| format!(".maxnreg {most}"));
        let text = module(&format!(".extern .shared .b8 s[]; .visible .entry k() {directive} {{ ret; }}"));
        let program = load(&text).unwrap();
        let outcome = |blocks, multiprocessors| {
            let shape = Launch { cooperative: true, dynamic_shared: shared, ..shape(blocks, threads) };
            let options = Options { multiprocessors, ..Options::default() };
            run(program.kernel("k").unwrap(), &Memory::new(), &shape, &options).map(|_| ())
        };
        assert_eq!(outcome(3 * each, Some(3)), Ok(()));
        for (multiprocessors, of) in [(None, 132), (Some(3), 3)] {
            let Err(Error::LaunchShape { given, accepted, .. }) = outcome(of * each + 1, multiprocessors)
            else {
                panic!("{threads} {shared} {registers:?}");
            };
            let most = of * each;
            let wanted =
                format!("at most {most}: {each} on each of {of} multiprocessors, as its {limit} allow");
            assert_eq!((given, accepted), (u64::from(most) + 1, wanted), "{threads} {shared} {registers:?}");
        }
    }
}

/// Loops that wait for something that does not happen end with the address, whatever else they do meanwhile.
#[test]
fn a_livelock_is_told_with_the_address() {
    let run = |lines: &str| {
        let text = module(&format!(
            ".visible .entry k(.param .u64 out) {{
             .shared .align 16 .b8 s[64]; .local .align 8 .b8 own[16]; .shared .align 8 .b64 bar;
             .reg .b32 %i, %s, %b, %r<9>; .reg .b64 %p, %d; .reg .pred %p<9>;
             ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mov.u32 %s, s; mov.u32 %b, bar; mov.u32 %r1, 0;
             {lines} ret; }}"
        ));
        let (memory, program) = (Memory::new(), load(&text).unwrap());
        let out = upload(&memory, &[0; 64]);
        let mut shape = shape(2, 64);
        shape.args = vec![u64_arg(out)];
        let verdict = judge(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
        let [finding] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
        match &finding.error {
            Error::Spinning { awaited, .. } => awaited.map(|awaited| (awaited, out)),
            other => panic!("{other}"),
        }
    };
    let global = |offset, value| {
        move |(awaited, out): (Awaited, u64)| {
            assert_eq!(awaited, Awaited::Value { space: Space::Global, address: out + offset, value });
        }
    };
    let wait = "setp.eq.u32 %p0, %r0, 0; @%p0 bra WAIT;";
    run(&format!("WAIT: ld.volatile.global.u32 %r0, [%p+12]; {wait}")).map(global(12, 0)).unwrap();
    // The same by a weak load: only another thread's write could end it.
    run(&format!("WAIT: ld.global.u32 %r0, [%p+16]; {wait}")).map(global(16, 0)).unwrap();
    run("WAIT: ld.global.u32 %r0, [%p+20]; setp.ne.u32 %p0, %r0, 0; @%p0 bra OUT; bra.uni WAIT; OUT:")
        .map(global(20, 0))
        .unwrap();
    // It counts on its stack, and sets its own flag again and again.
    let counts = "ld.local.u32 %r2, [own]; add.u32 %r2, %r2, 1; st.local.u32 [own], %r2; st.volatile.shared.u32 [%s], 1;";
    let lines =
        format!("st.local.u32 [own], 0; WAIT: ld.acquire.gpu.global.u32 %r0, [%p+8]; {counts} {wait}");
    run(&lines).map(global(8, 0)).unwrap();
    // A lock that is never given back.
    let lock = "atom.acquire.gpu.global.cas.b32 %r3, [%p], 0, 1;";
    run(&format!("WAIT: {lock} setp.ne.u32 %p0, %r3, 0; @%p0 bra WAIT;")).map(global(0, 1)).unwrap();
    // A phase that no one completes, asked for again and again.
    let init = "setp.eq.u32 %p1, %i, 0; @%p1 mbarrier.init.shared::cta.b64 [%b], 1; bar.sync 0;";
    let test = "WAIT: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%b], 0; @!%p2 bra WAIT;";
    let (awaited, _) = run(&format!("{init} {test}")).unwrap();
    assert!(matches!(awaited, Awaited::Mbarrier { pending: 1, parity: 0, .. }), "{awaited:?}");
}

/// The same where a loop shares what a thread has looked at with the others, by shared memory and barriers, and where it
/// takes a lock and gives it back each time.
#[test]
fn a_livelock_with_barriers_is_told_with_the_address() {
    let share = "ld.shared.u32 %r4, [s]; bar.sync 0;";
    let looks = [
        ("@%p0 ld.acquire.gpu.global.u32 %r3, [%p+8];", 8, 0, "eq"),
        ("@%p0 atom.global.cas.b32 %r3, [%p+4], 0, 1;", 4, 1, "ne"),
        ("@%p0 atom.global.exch.b32 %r3, [%p+4], 1;", 4, 1, "ne"),
        (
            "@%p0 atom.global.exch.b32 %r5, [%p+12], 1; @%p0 ld.relaxed.gpu.global.u32 %r3, [%p+8];
             @%p0 atom.global.exch.b32 %r5, [%p+12], 0;",
            8,
            0,
            "eq",
        ),
    ];
    for (look, offset, value, again) in looks {
        let text = module(&format!(
            ".visible .entry k(.param .u64 out) {{ .shared .b32 s; .reg .b32 %i, %r<9>; .reg .b64 %p; .reg .pred %p<9>;
             ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; setp.eq.u32 %p0, %i, 0;
             L: {look} @%p0 st.shared.u32 [s], %r3; bar.sync 0; {share}
             setp.{again}.u32 %p1, %r4, 0; @%p1 bra L; ret; }}"
        ));
        for blocks in [1, 3] {
            let (memory, program) = (Memory::new(), load(&text).unwrap());
            let out = upload(&memory, &[0, 1, 0, 0]);
            let launch = Launch { args: vec![u64_arg(out)], ..shape(blocks, 96) };
            let begun = std::time::Instant::now();
            let error = run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked()).unwrap_err();
            let Error::Spinning { at, awaited } = &error else { panic!("{look}: {error}") };
            assert_eq!(at.place.line, 6, "{look}");
            let want = Awaited::Value { space: Space::Global, address: out + offset, value };
            assert_eq!(*awaited, Some(want), "{look}");
            assert!(begun.elapsed().as_secs() < 5, "{look}");
        }
    }
}

/// A barrier of all blocks that is made of atomics, where a thread looks and shares what it sees: blocks that wait let
/// the others run.
#[test]
fn blocks_that_wait_with_barriers_let_others_run() {
    let text = module(
        ".visible .entry k(.param .u64 out) { .shared .b32 s; .reg .b32 %i, %r<9>; .reg .b64 %p; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; setp.eq.u32 %p0, %i, 0; mov.u32 %r7, 16;
         ROUND: bar.sync 0; @%p0 atom.acq_rel.gpu.global.add.u32 %r3, [%p], 1;
         L: @%p0 ld.acquire.gpu.global.u32 %r3, [%p]; @%p0 st.shared.u32 [s], %r3; bar.sync 0; ld.shared.u32 %r4, [s]; bar.sync 0;
         setp.lt.u32 %p1, %r4, %r7; @%p1 bra L; add.u32 %r7, %r7, 16; setp.lt.u32 %p1, %r7, 100; @%p1 bra ROUND; ret; }",
    );
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    let launch = Launch { args: vec![u64_arg(upload(&memory, &[0; 64]))], ..shape(16, 128) };
    let report = run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked()).unwrap();
    // Of what each block would do until it is interrupted, only a small part.
    assert!(report.instructions < 16 * 6 * 20_000, "{report}");
}

/// Long searches by weak loads are not waits: they change registers or their own memory.
#[test]
fn a_search_is_no_livelock() {
    let loops = [
        "L: ld.global.u32 %r0, [%p]; add.u32 %r1, %r1, 1; setp.eq.u32 %p0, %r0, 9; @%p0 bra OUT; setp.lt.u32 %p0, %r1, 90000; @%p0 bra L; OUT:",
        "L: ld.local.u32 %r0, [own]; add.u32 %r0, %r0, 1; st.local.u32 [own], %r0; setp.lt.u32 %p0, %r0, 90000; @%p0 bra L;",
    ];
    for body in loops {
        let text = module(&format!(
            ".visible .entry k(.param .u64 out) {{ .local .align 8 .b8 own[16]; .reg .b32 %r<9>; .reg .b64 %p; .reg .pred %p<9>;
             ld.param.u64 %p, [out]; mov.u32 %r1, 0; st.local.u32 [own], 0; {body} ret; }}"
        ));
        let (memory, program) = (Memory::new(), load(&text).unwrap());
        let mut shape = shape(2, 32);
        shape.args = vec![u64_arg(upload(&memory, &[0; 64]))];
        let verdict = judge(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
        assert!(verdict.passed(), "{:?}", verdict.findings);
    }
}

#[test]
fn an_endless_loop_ends_at_the_step_limit() {
    let text =
        module(".visible .entry k() { .reg .b32 %r; mov.u32 %r, 0; AGAIN: add.u32 %r, %r, 1; bra AGAIN; }");
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    let options = Options { steps: Some(10_000), ..Options::checked() };
    let verdict = judge(program.kernel("k").unwrap(), &memory, &shape(3, 32), &options).unwrap();
    assert!(matches!(verdict.findings[0].error, Error::StepLimit { limit: 10_000, .. }), "{verdict:?}");
    assert!(verdict.findings[0].to_string().contains("--steps"), "{verdict:?}");
    // There is a limit where none is given, too.
    let fast = run(program.kernel("k").unwrap(), &memory, &shape(1, 32), &Options::fast());
    assert!(matches!(fast, Err(Error::StepLimit { limit: Options::STEPS, .. })), "{fast:?}");
}

/// A caller that has lost patience ends a launch, also one without a limit on many threads.
#[test]
fn a_launch_stops_when_its_caller_says_so() {
    let text =
        module(".visible .entry k() { .reg .b32 %r; mov.u32 %r, 0; AGAIN: add.u32 %r, %r, 1; bra AGAIN; }");
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    for grid in [1, 200] {
        let stop = Arc::new(AtomicBool::new(false));
        let options =
            Options { steps: Some(u64::MAX), stop: Some(stop.clone()), seeds: 4, ..Options::checked() };
        let verdict = std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                stop.store(true, Relaxed);
            });
            judge(program.kernel("k").unwrap(), &memory, &shape(grid, 64), &options).unwrap()
        });
        assert!(
            matches!(verdict.findings[0].error, Error::Stopped { .. }) && verdict.seeds == [0],
            "{verdict:?}"
        );
    }
}
