//! `setmaxnreg`: warps of a block hand registers to one another; some wait for ever.

use crate::common::{launch, load, module, shape};
use girih_sim::{Awaited, Error, Memory, Options};

/// A producer warpgroup and two of consumers, as Hopper's kernels have them; `producer` and `consumer` come first in each.
fn text(directives: &str, producer: &str, consumer: &str) -> String {
    module(&format!(
        ".visible .entry k() {directives} {{
         .reg .b32 %i; .reg .pred %p;
         mov.u32 %i, %tid.x; setp.ge.u32 %p, %i, 128; @%p bra CONSUMER;
         {producer}
         bra END;
         CONSUMER:
         {consumer}
         END: bar.sync 0; ret; }}"
    ))
}

fn outcome(directives: &str, producer: &str, consumer: &str) -> Result<(), Error> {
    let text = text(directives, producer, consumer);
    for seed in 0..4 {
        launch(&text, &Memory::new(), &shape(2, 384), &Options { seed, ..Options::checked() })?;
    }
    Ok(())
}

fn dec(n: u32) -> String {
    format!("setmaxnreg.dec.sync.aligned.u32 {n};")
}

fn inc(n: u32) -> String {
    format!("setmaxnreg.inc.sync.aligned.u32 {n};")
}

const BOUNDS: &str = ".maxntid 384, 1, 1 .minnctapersm 1";

/// 384 threads are launched with 168 registers each: what is asked for is there if the sum stays at 3 * 168.
#[test]
fn registers_come_from_those_that_give_them() {
    for (low, high) in [(40, 232), (24, 240), (168, 168), (24, 232), (32, 232)] {
        outcome(BOUNDS, &dec(low), &inc(high)).unwrap_or_else(|e| panic!("{low}, {high}: {e}"));
    }
    // The same pool, told in other ways.
    for bounds in [".maxnreg 168", ".maxntid 384, 1, 1 .maxnreg 168", ".reqntid 384, 1, 1 .minnctapersm 1"] {
        outcome(bounds, &dec(40), &inc(232)).unwrap_or_else(|e| panic!("{bounds}: {e}"));
        assert!(outcome(bounds, &dec(48), &inc(232)).is_err(), "{bounds}");
    }
    // What two warpgroups give one may take, and give back.
    let give = format!("{} bar.sync 1, 384; bar.sync 1, 384; {}", dec(104), inc(168));
    let take = format!("{} bar.sync 1, 384; {} bar.sync 1, 384;", inc(200), dec(168));
    outcome(BOUNDS, &give, &take).unwrap();
}

#[test]
fn a_warp_waits_for_ever_for_registers_that_no_one_gives() {
    let cases = [("", inc(232)), (&*dec(48), inc(232)), (&*dec(40), inc(240)), (&*dec(80), inc(224))];
    for (producer, consumer) in cases {
        match outcome(BOUNDS, producer, &consumer) {
            Err(error @ Error::Deadlock { .. }) => {
                let told = error.to_string();
                assert!(told.contains("setmaxnreg") && told.contains("register pool"), "{told}");
                let Error::Deadlock { waiting, .. } = error else { unreachable!() };
                let wants = |awaited: &Awaited| matches!(awaited, Awaited::Registers { needed, free, .. } if needed > free);
                assert!(waiting.iter().any(|w| wants(&w.awaited)), "{waiting:?}");
            }
            other => panic!("{producer} {consumer}: {other:?}"),
        }
    }
    // Blocks of two to a multiprocessor have half as many: 80.
    let two = ".maxntid 384, 1, 1 .minnctapersm 2";
    outcome(two, &dec(24), &inc(104)).unwrap();
    assert!(matches!(outcome(two, &dec(24), &inc(112)), Err(Error::Deadlock { .. })));
}

#[test]
fn counts_go_the_way_they_say() {
    let more = outcome(BOUNDS, &dec(176), "");
    assert!(
        matches!(&more, Err(Error::BadValue { value: 176, accepted, .. }) if accepted.contains("168")),
        "{more:?}"
    );
    let fewer = outcome(BOUNDS, &dec(40), &inc(160));
    assert!(matches!(fewer, Err(Error::BadValue { value: 160, .. })), "{fewer:?}");
}

/// The four warps of a warpgroup execute the same, whole warps each, and synchronise before the next.
#[test]
fn warpgroups_set_their_registers_together() {
    let some = format!("setp.ge.u32 %p, %i, 32; @%p bra END; {}", dec(40));
    assert!(matches!(outcome(BOUNDS, &some, ""), Err(Error::WarpgroupIncomplete { .. })));
    let differ = format!("setp.ge.u32 %p, %i, 32; @%p bra OTHER; {} bra END; OTHER: {}", dec(40), dec(48));
    assert!(matches!(outcome(BOUNDS, &differ, ""), Err(Error::Warpgroup { .. })));
    let half = format!("and.b32 %i, %i, 16; setp.eq.u32 %p, %i, 0; @%p {}", dec(40));
    assert!(matches!(outcome(BOUNDS, &half, ""), Err(Error::Divergent { .. })));
    let twice = |between: &str| outcome(BOUNDS, &format!("{} {between} {}", dec(80), dec(40)), "");
    assert!(twice("").is_err());
    twice("bar.sync 1, 128;").unwrap();
}

/// Where ptxas does not know the registers at launch it ignores the instruction, with a warning.
#[test]
fn without_bounds_it_has_no_effect() {
    for bounds in ["", ".maxntid 384, 1, 1", ".reqntid 384, 1, 1"] {
        outcome(bounds, "", &inc(232)).unwrap_or_else(|e| panic!("{bounds}: {e}"));
    }
    assert!(load(&text(BOUNDS, "setmaxnreg.dec.sync.aligned.u32 20;", "")).is_err());
}
