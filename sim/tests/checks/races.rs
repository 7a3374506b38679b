//! Races, and copies that are read or written before they are waited for.

use girih_sim::{Access, Error, Options, Space};

use super::{check, check_with};
use crate::common::{map, per_thread};

/// The lines and threads of both accesses of a race.
fn race(found: &Result<girih_sim::Report, Error>) -> (Access, u32, u32, Access, u32, u32) {
    match found {
        Err(Error::Race { at, access, other, .. }) => {
            (*access, at.place.line, at.thread[0], other.access, other.at.place.line, other.at.thread[0])
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn races_are_told_with_both_accesses() {
    use Access::{Read, Write};
    let neighbour = "xor.b32 %r1, %i, 1; mad.lo.u32 %r1, %r1, 4, %s;";
    let far = "xor.b32 %r1, %i, 32; mad.lo.u32 %r1, %r1, 4, %s;";
    let store = "st.shared.u32 [%m], %i;";
    let load = "ld.shared.u32 %r2, [%r1];";
    // Between warps a barrier is needed, within a warp one of either kind.
    let apart = [far, store, "bar.warp.sync 0xffffffff;", load];
    let races = Options { races: true, ..Options::default() };
    assert_eq!(race(&check_with(64, &apart, &races)), (Write, 11, 32, Read, 13, 0));
    // With that check too, the first warp's read finds nothing written yet, which does no harm by itself.
    assert_eq!(race(&check(64, &apart)), (Write, 11, 32, Read, 13, 0));
    assert!(check(64, &[far, store, "bar.sync 0;", load]).is_ok());
    assert_eq!(race(&check(32, &[neighbour, store, load])), (Read, 12, 0, Write, 11, 1));
    assert!(check(32, &[neighbour, store, "bar.warp.sync 0xffffffff;", load]).is_ok());
    assert!(check(32, &[neighbour, store, "bar.sync 0;", load]).is_ok());
    // A read before another thread's write, and two writes.
    let reread = [store, "bar.sync 0;", neighbour, load, "add.u32 %r2, %r2, 1;", "st.shared.u32 [%m], %r2;"];
    assert_eq!(race(&check(32, &reread)), (Write, 15, 0, Read, 13, 1));
    assert_eq!(race(&check(32, &["st.shared.u32 [%s], %i;"])), (Write, 10, 1, Write, 10, 0));
    // Bytes of one word by different threads do not meet; the same byte does.
    let byte = "add.u32 %r3, %s, %i;";
    assert!(check(64, &[byte, "st.shared.u8 [%r3], %i;"]).is_ok());
    let half = "shr.u32 %r3, %i, 1; add.u32 %r3, %r3, %s;";
    assert_eq!(race(&check(64, &[half, "st.shared.u8 [%r3], %i;"])), (Write, 11, 1, Write, 11, 0));
    // Partial warp barriers order the lanes of their mask, one after the other transitively.
    let quad = "shr.u32 %r4, %i, 2; shl.b32 %r4, %r4, 2; mov.u32 %r5, 15; shl.b32 %r5, %r5, %r4;";
    assert!(check(32, &[quad, neighbour, store, "bar.warp.sync %r5;", load]).is_ok());
    let other_quad = "xor.b32 %r1, %i, 4; mad.lo.u32 %r1, %r1, 4, %s;";
    assert_eq!(race(&check(32, &[quad, other_quad, store, "bar.warp.sync %r5;", load])).0, Read);
}

#[test]
fn asynchronous_copies_are_not_there_before_they_are_waited_for() {
    let address = "mad.lo.u32 %r0, %i, 16, %s; mul.wide.u32 %rd0, %i, 16; add.s64 %rd0, %rd0, %p;";
    let copy = "cp.async.ca.shared.global [%r0], [%rd0], 16;";
    let (commit, wait) = ("cp.async.commit_group;", "cp.async.wait_group 0;");
    let own = "ld.shared.u32 %r1, [%r0];";
    let other = "xor.b32 %r2, %i, 1; mad.lo.u32 %r2, %r2, 16, %s; ld.shared.u32 %r1, [%r2];";
    assert!(check(16, &[address, copy, commit, wait, own]).is_ok());
    assert!(check(16, &[address, copy, "cp.async.wait_all;", own]).is_ok());
    for early in [&[address, copy, own][..], &[address, copy, commit, own], &[address, copy, wait, own]] {
        match check(16, early) {
            Err(Error::InFlight { at, access: Access::Read, copy, .. }) => {
                assert_eq!((at.place.line, copy.at.place.line), (9 + early.len() as u32, 11));
                assert_eq!((at.thread, copy.at.thread), ([0, 0, 0], [0, 0, 0]));
            }
            other => panic!("{other:?}"),
        }
    }
    let overwrite = check(16, &[address, copy, commit, "st.shared.u32 [%r0], %i;"]);
    assert!(matches!(overwrite, Err(Error::InFlight { access: Access::Write, .. })), "{overwrite:?}");
    // Another thread sees the data after a barrier after the wait.
    assert!(check(16, &[address, copy, commit, wait, "bar.sync 0;", other]).is_ok());
    assert!(matches!(
        check(16, &[address, copy, commit, "bar.sync 0;", wait, other]),
        Err(Error::Race { .. })
    ));
    assert!(matches!(check(16, &[address, copy, commit, wait, other]), Err(Error::Race { .. })));
    // A copy may not land on what another thread reads in the same interval.
    let reused = [address, copy, commit, wait, "bar.sync 0;", other, copy];
    assert!(matches!(check(16, &reused), Err(Error::Race { access: Access::Write, .. })));
    let safe = [address, copy, commit, wait, "bar.sync 0;", other, "bar.sync 0;", copy];
    assert!(check(16, &safe).is_ok());
}

#[test]
fn copy_groups_arrive_in_order_and_fill_with_zeros() {
    // Four groups of 4 bytes; after `wait_group n` all but the last n are there. The rest of a short source is zero.
    let copies = "cp.async.ca.shared.global [%r1], [%q], 4; cp.async.commit_group;
        cp.async.ca.shared.global [%r1+4], [%q+4], 4, 2; cp.async.commit_group;
        cp.async.ca.shared.global [%r1+8], [%q+8], 4, 0; cp.async.commit_group;
        setp.eq.u32 %p0, %i, 0; cp.async.ca.shared.global [%r1+12], [%q+12], 4, %p0; cp.async.commit_group;";
    let run = |pending: u32, reads: usize| {
        let reads: String = (0..reads).map(|j| format!("ld.shared.u32 %d{j}, [%r1+{}];", 4 * j)).collect();
        let body = format!(
            ".shared .align 16 .b8 s[64]; mov.u32 %r0, s; mad.lo.u32 %r1, %i, 16, %r0;
             mov.u32 %d0, 0; mov.u32 %d1, 0; mov.u32 %d2, 0; mov.u32 %d3, 0;
             {copies} cp.async.wait_group {pending}; {reads}"
        );
        map(&per_thread(4, 4, &body), 2, &[0xa0b1_c2d3, 0x1234_5678, 3, 4, 5, 0x9abc_def0, 7, 8], 8)
    };
    assert_eq!(run(0, 4).unwrap(), [0xa0b1_c2d3, 0x5678, 0, 0, 5, 0xdef0, 0, 8]);
    for pending in 0..4 {
        let there = 4 - pending as usize;
        assert!(run(pending, there).is_ok());
        if there < 4 {
            assert!(matches!(run(pending, there + 1), Err(Error::InFlight { .. })));
        }
    }
    let too_long = check(1, &["mov.u32 %r0, 17;", "cp.async.cg.shared.global [%s], [%p], 16, %r0;"]);
    assert!(matches!(too_long, Err(Error::BadValue { value: 17, .. })), "{too_long:?}");
    // Nothing is read where the source size is zero, so its address may be anywhere.
    let nowhere =
        ["mov.u32 %r0, 0;", "mov.u64 %rd0, 64;", "cp.async.cg.shared.global [%s], [%rd0], 16, %r0;"];
    assert!(check(1, &nowhere).is_ok());
    let outside = check(1, &["cp.async.cg.shared.global [%s], [%p+256], 16;"]);
    assert!(matches!(outside, Err(Error::OutOfBounds { space: Space::Global, .. })), "{outside:?}");
}

/// Threads that hold the same element may all store it; other threads that access it race.
#[test]
fn the_same_bytes_may_be_written_twice() {
    let twice = |value: &str| {
        check(
            64,
            &[
                "and.b32 %r0, %i, 31;",
                "mul.lo.u32 %r1, %r0, 4;",
                "add.u32 %r1, %r1, %s;",
                value,
                "st.shared.u32 [%r1], %r2;",
            ],
        )
    };
    assert!(twice("mov.u32 %r2, 7;").is_ok());
    assert!(twice("mov.u32 %r2, %r0;").is_ok());
    assert!(matches!(twice("mov.u32 %r2, %i;"), Err(Error::Race { .. })));
    // A thread that reads must still come after the writes.
    let read = check(64, &["st.shared.u32 [%s], 7;", "ld.shared.u32 %r0, [%s];"]);
    assert!(matches!(read, Err(Error::Race { .. })), "{read:?}");
}
