//! Control flow: every lane executes its own program, whatever the others do.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{self, map, module, per_thread};
use girih_sim::{Awaited, Error, Memory, Options};

fn results(threads: u32, body: &str) -> Vec<u32> {
    map(&per_thread(0, 1, body), threads, &[0], threads as usize).unwrap()
}

#[test]
fn nested_branches_and_guards() {
    let body = "mov.u32 %d0, 0; and.b32 %r0, %i, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra EVEN;
        setp.lt.u32 %p1, %i, 16; @!%p1 bra HIGH; mov.u32 %d0, 1; bra JOIN;
        HIGH: mov.u32 %d0, 2; setp.gt.u32 %p2, %i, 24; @%p2 add.u32 %d0, %d0, 10; bra.uni JOIN;
        EVEN: mov.u32 %d0, 3; @%p0 bra JOIN; mov.u32 %d0, 99;
        JOIN: add.u32 %d0, %d0, 100;";
    let want = |i: u32| {
        100 + if i.is_multiple_of(2) {
            3
        } else if i < 16 {
            1
        } else {
            2 + if i > 24 { 10 } else { 0 }
        }
    };
    // 45 threads: the last warp has 13.
    assert_eq!(results(45, body), (0..45).map(want).collect::<Vec<_>>());
}

#[test]
fn loops_with_a_trip_count_of_their_own() {
    // The number of Collatz steps, a loop in a loop of its own length.
    let body = "mov.u32 %d0, 0; mov.u32 %r2, 0;
        OUTER: add.u32 %r0, %i, 1; add.u32 %r0, %r0, %r2;
        INNER: setp.le.u32 %p0, %r0, 1; @%p0 bra DONE; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
        @%p1 shr.u32 %r0, %r0, 1; @%p1 bra NEXT; mad.lo.u32 %r0, %r0, 3, 1;
        NEXT: add.u32 %d0, %d0, 1; bra INNER;
        DONE: add.u32 %r2, %r2, 1; and.b32 %r3, %i, 3; setp.le.u32 %p2, %r2, %r3; @%p2 bra OUTER;";
    let steps = |mut n: u32| {
        let mut count = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        count
    };
    let want = |i: u32| (0..=i % 4).map(|j| steps(i + 1 + j)).sum::<u32>();
    assert_eq!(results(64, body), (0..64).map(want).collect::<Vec<_>>());
}

#[test]
fn an_irreducible_loop_entered_at_two_places() {
    let body = "mov.u32 %d0, 0; mov.u32 %r0, 0; setp.lt.u32 %p0, %i, 10; @%p0 bra B;
        A: add.u32 %d0, %d0, 1;
        B: add.u32 %d0, %d0, 100; add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, %i; @%p1 bra A;";
    let want = |i: u32| {
        let rounds = i.max(1);
        100 * rounds + rounds - u32::from(i < 10)
    };
    assert_eq!(results(32, body), (0..32).map(want).collect::<Vec<_>>());
}

/// A label after the code that jumps to it from both sides, in an order that is not the program's.
#[test]
fn backward_layout_reaches_barriers_together() {
    let body = ".shared .align 4 .b8 s[128]; mov.u32 %r0, s; mad.lo.u32 %r0, %i, 4, %r0; bra START;
        MEET: bar.sync 0; xor.b32 %r1, %i, 1; mov.u32 %r2, s; mad.lo.u32 %r1, %r1, 4, %r2; ld.shared.u32 %d0, [%r1]; bra END;
        START: st.shared.u32 [%r0], %i; setp.lt.u32 %p0, %i, 7; @%p0 bra MEET;
        mov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %i; @%p1 bra LOOP; bra MEET;
        END: mov.u32 %r3, 0;";
    assert_eq!(results(32, body), (0..32).map(|i| i ^ 1).collect::<Vec<_>>());
}

#[test]
fn lanes_and_warps_that_exit_early_are_not_waited_for() {
    let text = module(
        ".visible .entry k(.param .u64 out, .param .u64 in) {
         .reg .b32 %i, %r<4>; .reg .b64 %p, %o; .reg .pred %q<3>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.s64 %p, %p, %o;
         setp.ge.u32 %q0, %i, 64; @%q0 exit;
         and.b32 %r0, %i, 3; setp.eq.u32 %q1, %r0, 3; @%q1 ret;
         barrier.sync 0;
         st.global.u32 [%p], 1; }",
    );
    let got = map(&text, 96, &[0], 96).unwrap();
    assert_eq!(got, (0..96).map(|i| u32::from(i < 64 && i % 4 != 3)).collect::<Vec<_>>());
}

#[test]
fn special_registers_tell_the_place_of_a_thread() {
    let text = module(
        ".visible .entry k(.param .u64 out) {
         .reg .b32 %r<20>; .reg .b64 %p, %o;
         ld.param.u64 %p, [out];
         mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
         mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mad.lo.u32 %r5, %r2, %r4, %r1; mad.lo.u32 %r5, %r5, %r3, %r0;
         mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;
         mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y; mad.lo.u32 %r11, %r8, %r10, %r7; mad.lo.u32 %r11, %r11, %r9, %r6;
         mov.u32 %r12, %ntid.z; mul.lo.u32 %r13, %r3, %r4; mul.lo.u32 %r13, %r13, %r12; mad.lo.u32 %r11, %r11, %r13, %r5;
         mul.wide.u32 %o, %r11, 4; add.s64 %p, %p, %o;
         mov.u32 %r14, %laneid; mov.u32 %r15, %warpid; mad.lo.u32 %r14, %r15, 32, %r14; xor.b32 %r14, %r14, %r5;
         add.u32 %r14, %r14, %r11; st.global.u32 [%p], %r14; ret; }",
    );
    let memory = Memory::new();
    let count = 3 * 2 * 2 * 5 * 3 * 4;
    let out = common::upload(&memory, &vec![0; count]);
    let launch = girih_sim::Launch {
        grid: [3, 2, 2],
        block: [5, 3, 4],
        cluster: None,
        cooperative: false,
        dynamic_shared: 0,
        args: vec![common::u64_arg(out)],
    };
    let report = common::launch(&text, &memory, &launch, &Options::checked()).unwrap();
    assert_eq!((report.blocks, report.global), (12, 24));
    assert_eq!(common::download(&memory, out, count), (0..count as u32).collect::<Vec<_>>());
}

#[test]
fn named_barriers_pass_data_from_producers_to_consumers() {
    // Warp 0 fills a slot and arrives; warp 1 waits for it, reads, and lets it go on.
    let body =
        ".shared .align 4 .b8 s[128]; mov.u32 %r0, s; and.b32 %r1, %i, 31; mad.lo.u32 %r0, %r1, 4, %r0;
        mov.u32 %d0, 0; mov.u32 %r2, 0; setp.ge.u32 %p0, %i, 32; @%p0 bra CONSUMER;
        PRODUCER: mad.lo.u32 %r3, %r2, 1000, %i; bar.sync 2, 64; st.shared.u32 [%r0], %r3; bar.arrive 1, 64;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra PRODUCER; bra END;
        CONSUMER: bar.arrive 2, 64; bar.sync 1, 64; ld.shared.u32 %r3, [%r0]; add.u32 %d0, %d0, %r3;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra CONSUMER;
        END: mov.u32 %r3, 0;";
    let got = results(64, body);
    assert_eq!(got[32..], (0..32).map(|i| 10_000 + 5 * i).collect::<Vec<_>>());
    let raced = body.replace("bar.sync 2, 64; st", "st");
    let raced = raced.replace("CONSUMER: bar.arrive 2, 64;", "CONSUMER:");
    let found = map(&per_thread(0, 1, &raced), 64, &[0], 64);
    // The producer runs ahead: it completes the barrier by itself, or overwrites what is being read.
    assert!(matches!(found, Err(Error::Race { .. } | Error::Deadlock { .. })), "{found:?}");
}

/// Every mode, offset and width of a shuffle, against what `__shfl_*_sync` is documented to do.
#[test]
fn shuffles_move_values_between_lanes() {
    for width in [1u32, 2, 4, 8, 16, 32] {
        for offset in [0u32, 1, 2, 3, 7, 16, 31] {
            for mode in ["up", "down", "bfly", "idx"] {
                let c = (32 - width) << 8 | if mode == "up" { 0 } else { 31 };
                let body = format!(
                    "mad.lo.u32 %r0, %i, 3, 7; shfl.sync.{mode}.b32 %d0|%p0, %r0, {offset}, {c}, 0xffffffff;
                     @!%p0 or.b32 %d0, %d0, 0x100;"
                );
                let want = |lane: u32| {
                    let (start, place) = (lane / width * width, lane % width);
                    let from = match mode {
                        "up" => place.checked_sub(offset).map(|p| start + p),
                        "down" => (place + offset < width).then_some(lane + offset),
                        // Beyond its own segment a lane may read those before it.
                        "bfly" => Some(lane ^ offset).filter(|&from| from < start + width),
                        _ => Some(start + offset % width),
                    };
                    from.map_or((3 * lane + 7) | 0x100, |from| 3 * from + 7)
                };
                assert_eq!(
                    results(32, &body),
                    (0..32).map(want).collect::<Vec<_>>(),
                    "{mode} {width} {offset}"
                );
            }
        }
    }
    // A sum over the warp by halves.
    let body = "mov.u32 %d0, %i; mov.u32 %r1, 16;
        L: shfl.sync.bfly.b32 %r0, %d0, %r1, 31, -1; add.u32 %d0, %d0, %r0; shr.u32 %r1, %r1, 1;
        setp.ne.u32 %p0, %r1, 0; @%p0 bra L;";
    assert_eq!(results(32, body), [31 * 16; 32]);
    let alone = "mov.u32 %d0, 0; setp.lt.u32 %p0, %i, 8; @%p0 shfl.sync.down.b32 %d0, %i, 4, 31, 0xff;";
    let found = map(&per_thread(0, 1, alone), 32, &[0], 32);
    assert!(matches!(found, Err(Error::AbsentLane { lane: 8, .. })), "{found:?}");
}

#[test]
fn votes_count_the_members_alone() {
    let body = "and.b32 %r0, %i, 3; setp.eq.u32 %p0, %r0, 1; setp.lt.u32 %p1, %i, 16; mov.u32 %d0, 0; mov.u32 %r1, 0;
        @!%p1 bra HIGH;
        vote.sync.ballot.b32 %r1, %p0, 0xffff; vote.sync.any.pred %p2, %p0, 0xffff; bra JOIN;
        HIGH: vote.sync.ballot.b32 %r1, !%p0, 0xffff0000; vote.sync.all.pred %p2, %p0, 0xffff0000;
        activemask.b32 %r2; xor.b32 %r1, %r1, %r2;
        JOIN: vote.sync.uni.pred %p3, %p1, -1; selp.u32 %d0, 1, 0, %p2; @%p3 mov.u32 %d0, 99; xor.b32 %d0, %d0, %r1;";
    let want = |i: u32| if i < 16 { 0x2222 ^ 1 } else { 0x2222_0000 };
    assert_eq!(results(32, body), (0..32).map(want).collect::<Vec<_>>());
}

/// Lanes of a warp that wait for one another: the one that spins must not keep the other from running.
#[test]
fn a_spinning_lane_lets_the_others_run() {
    let text = module(
        ".visible .entry k(.param .u64 out, .param .u64 in) {
         .reg .b32 %i, %r<4>; .reg .b64 %p; .reg .pred %q<3>;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; setp.eq.u32 %q0, %i, 0; @%q0 bra SET;
         SPIN: ld.volatile.global.u32 %r0, [%p]; setp.eq.u32 %q1, %r0, 0; @%q1 bra SPIN; exit;
         SET: st.volatile.global.u32 [%p], 5; exit; }",
    );
    assert_eq!(map(&text, 64, &[0], 1).unwrap(), [5]);
}

#[test]
fn endless_loops_and_deadlocks_are_told() {
    let memory = Memory::new();
    let shape = common::shape(1, 64);
    let forever = module(".visible .entry k() {\n LOOP:\n bra LOOP;\n }");
    let options = Options { steps: Some(100_000), ..Options::default() };
    match common::launch(&forever, &memory, &shape, &options) {
        Err(Error::StepLimit { at, limit: 100_000 }) => {
            assert_eq!((at.place.line, &*at.place.instruction), (6, "bra LOOP"))
        }
        other => panic!("{other:?}"),
    }
    let body = ".visible .entry k() {\n .reg .pred %p; .reg .b32 %r;\n mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;\n";
    // Two warps wait at barriers of different numbers, each for both.
    let crossed =
        module(&format!("{body} @%p bra A;\n bar.sync 1, 64;\n exit;\n A: bar.sync 2, 64;\n exit; }}"));
    match common::launch(&crossed, &memory, &shape, &Options::default()) {
        Err(Error::Deadlock { waiting, .. }) => {
            let at = |barrier| Awaited::Barrier { barrier, arrived: 32, expected: 64 };
            let seen: Vec<_> = waiting.iter().map(|w| (w.warp, w.line, w.awaited)).collect();
            assert_eq!(seen, [(0, 10, at(2)), (1, 8, at(1))]);
        }
        other => panic!("{other:?}"),
    }
    // Half of a warp goes to one barrier, half to another.
    let split = body.replace("32;\n", "16;\n");
    let split = module(&format!("{split} @%p bra A;\n bar.sync 0;\n exit;\n A: bar.sync 0;\n exit; }}"));
    match common::launch(&split, &memory, &common::shape(1, 32), &Options::default()) {
        Err(Error::Divergent { at, active: 0xffff_0000, expected: u32::MAX }) => assert_eq!(at.place.line, 8),
        other => panic!("{other:?}"),
    }
    let guarded = module(&format!("{body} @%p bar.sync 0;\n exit; }}"));
    assert!(common::launch(&guarded, &memory, &shape, &Options::default()).is_ok());
    let partial = module(&format!("{} @%p bar.sync 0;\n exit; }}", body.replace("32;\n", "16;\n")));
    let found = common::launch(&partial, &memory, &shape, &Options::default());
    assert!(matches!(found, Err(Error::Divergent { active: 0xffff, .. })), "{found:?}");
    for (operands, what) in [
        ("16", "barrier number"),
        ("0, 48", "thread count"),
        ("0, 0", "thread count"),
        ("0, 96", "thread count"),
    ] {
        let text = module(&format!(".visible .entry k() {{ bar.sync {operands}; }}"));
        match common::launch(&text, &memory, &shape, &Options::default()) {
            Err(Error::BadValue { what: told, .. }) => assert!(told.starts_with(what), "{told}"),
            other => panic!("{operands}: {other:?}"),
        }
    }
    let mixed = module(&format!("{body} @%p bra A;\n bar.sync 0, 64;\n exit;\n A: bar.sync 0;\n exit; }}"));
    assert!(matches!(
        common::launch(&mixed, &memory, &shape, &Options::default()),
        Err(Error::BadValue { .. })
    ));
    let varying =
        module(".visible .entry k() { .reg .b32 %r; mov.u32 %r, %laneid; and.b32 %r, %r, 1; bar.sync %r; }");
    assert!(matches!(
        common::launch(&varying, &memory, &shape, &Options::default()),
        Err(Error::BadValue { .. })
    ));
    let trap = module(".visible .entry k() { trap; }");
    assert!(matches!(common::launch(&trap, &memory, &shape, &Options::default()), Err(Error::Trap { .. })));
}

/// A switch: lanes branch to the places in a table, one of which is listed twice, and meet again.
#[test]
fn a_table_of_branches_sends_every_lane_to_its_place() {
    let body = "mov.u32 %d0, 0; rem.u32 %r0, %i, 5; setp.ne.u32 %p0, %r0, 4;
        TABLE: .branchtargets ONE, TWO, ONE, THREE;
        @%p0 brx.idx %r0, TABLE; mov.u32 %d0, 9; bra END;
        THREE: mov.u32 %d0, 3; bra.uni END;
        ONE: mov.u32 %d0, 1; bra.uni END;
        TWO: mov.u32 %d0, 2;
        END: activemask.b32 %r1; popc.b32 %r1, %r1; mad.lo.u32 %d0, %r1, 10, %d0;";
    let want = |i: u32| 320 + [1, 2, 1, 3, 9][(i % 5) as usize];
    assert_eq!(results(64, body), (0..64).map(want).collect::<Vec<_>>());
    let beyond = map(
        &per_thread(0, 1, &body.replace("setp.ne.u32 %p0, %r0, 4", "setp.ne.u32 %p0, %r0, 9")),
        8,
        &[0],
        8,
    );
    match beyond {
        Err(Error::BadValue { at, what: "index of the branch table", value: 4, .. }) => {
            assert_eq!(at.thread, [4, 0, 0]);
        }
        other => panic!("{other:?}"),
    }
    for bad in ["brx.idx %r0, END;", "brx.idx %r0, %r1;", "brx %r0, TABLE;"] {
        let found = common::load(&per_thread(
            0,
            1,
            &format!("TABLE: .branchtargets END; {bad} END: mov.u32 %d0, 0;"),
        ));
        assert!(matches!(found, Err(Error::Operand { .. } | Error::Unsupported { .. })), "{bad}: {found:?}");
    }
}

/// `barrier.cta.red` counts as `bar.red` does, over as many threads as it names.
#[test]
fn barriers_of_the_cta_tell_of_predicates() {
    let body = "setp.lt.u32 %p0, %i, 40; barrier.cta.red.popc.aligned.u32 %d0, 1, 96, %p0;
        barrier.cta.red.and.pred %p1, 2, %p0; bar.cta.red.or.pred %p2, 3, 96, !%p0;
        selp.u32 %r0, 100, 0, %p1; selp.u32 %r1, 1000, 0, %p2; add.u32 %d0, %d0, %r0; add.u32 %d0, %d0, %r1;";
    assert_eq!(results(96, body), [1040; 96]);
}

/// Special registers are read by conversions too, and by `mov.u16` as older compilers do.
#[test]
fn special_registers_are_converted() {
    let body = "cvt.u64.u32 %rd0, %tid.x; cvt.u32.u16 %r0, %ntid.x; mov.u16 %h0, %tid.x; mad.wide.u16 %r1, %h0, 256, %r0;
        cvt.u32.u64 %d0, %rd0; mad.lo.u32 %d0, %r1, 256, %d0; mov.u32 %r2, %aggr_smem_size;
        mov.u32 %r3, %total_smem_size; sub.u32 %r2, %r2, %r3; setp.ne.u32 %p0, %r2, (1<<10); @%p0 trap;
        mov.u64 %rd1, %clock64; mov.u32 %r4, %clock_hi; setp.ne.u32 %p0, %r4, 2-1*2; @%p0 trap;";
    assert_eq!(results(48, body), (0..48).map(|i| (i << 8 | 48) << 8 | i).collect::<Vec<_>>());
}
