//! Blocks that wait for one another through global memory.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{download, launch, module, shape, u64_arg, upload};
use girih_sim::{Error, Memory, Options};

/// Runs lines on blocks of one warp with a zeroed buffer of 64 words at %p; the first line is line 8.
fn run(blocks: u32, options: &Options, lines: &[&str]) -> Result<Vec<u32>, Error> {
    let head = ".visible .entry k(.param .u64 out) {
         .reg .b32 %i, %me, %n, %r<9>; .reg .b64 %p, %q; .reg .pred %p<9>;
         ld.param.u64 %p, [out]; mov.u32 %me, %ctaid.x; mov.u32 %n, %nctaid.x;
         mul.wide.u32 %q, %me, 4; add.s64 %q, %q, %p;\n";
    let memory = Memory::new();
    let out = upload(&memory, &[0; 64]);
    let mut shape = shape(blocks, 32);
    shape.args = vec![u64_arg(out)];
    launch(&module(&format!("{head}{}\nret; }}", lines.join("\n"))), &memory, &shape, options)?;
    Ok(download(&memory, out, 64))
}

fn all() -> impl Iterator<Item = Options> {
    [None, Some(1), Some(2), Some(3)]
        .into_iter()
        .flat_map(|threads| (0..3).map(move |seed| Options { threads, seed, ..Options::checked() }))
}

#[test]
fn blocks_wait_for_blocks_that_begin_after_them() {
    // Each waits for the next one's flag; the last one needs nobody.
    let lines = [
        "add.u32 %r0, %me, 1; setp.eq.u32 %p0, %r0, %n; @%p0 bra MINE;",
        "WAIT: ld.acquire.gpu.global.u32 %r1, [%q+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;",
        "MINE: add.u32 %r2, %r1, 1; @%p0 mov.u32 %r2, 7; setp.eq.u32 %p2, %r3, 0;",
        "st.release.gpu.global.u32 [%q], %r2;",
    ];
    let lines = lines.map(|l| {
        l.replace("setp.eq.u32 %p2, %r3, 0;", "").replace(
            "MINE: add.u32 %r2, %r1, 1; @%p0 mov.u32 %r2, 7;",
            "add.u32 %r2, %r1, 1; bra PUT; MINE: mov.u32 %r2, 7; PUT:",
        )
    });
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for options in all() {
        let got = run(20, &options, &lines).unwrap();
        assert_eq!(got[..20], (0..20).map(|i| 7 + 19 - i).collect::<Vec<_>>(), "{options:?}");
    }
}

#[test]
fn a_lock_by_compare_and_swap() {
    let lines = [
        "mov.u32 %i, %tid.x; setp.ne.u32 %p0, %i, 0; @%p0 exit;",
        "LOCK: atom.acquire.gpu.global.cas.b32 %r0, [%p], 0, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra LOCK;",
        "ld.global.u32 %r1, [%p+4]; add.u32 %r1, %r1, %me; st.global.u32 [%p+4], %r1;",
        "atom.release.gpu.global.exch.b32 %r0, [%p], 0;",
    ];
    for options in all() {
        assert_eq!(run(40, &options, &lines).unwrap()[1], 780);
    }
}

#[test]
fn waiting_for_what_no_block_does_is_told() {
    let lines = [
        "setp.ne.u32 %p0, %me, 1; @%p0 exit;",
        "WAIT: ld.volatile.global.u32 %r0, [%p];",
        "setp.eq.u32 %p1, %r0, 0;",
        "@%p1 bra WAIT;",
    ];
    for threads in [Some(1), Some(2)] {
        match run(3, &Options { threads, ..Options::default() }, &lines) {
            Err(Error::Spinning { at }) => {
                assert!((9..=11).contains(&at.place.line) && at.block == [1, 0, 0], "{at}");
            }
            other => panic!("{other:?}"),
        }
    }
    // A finding is told and not that others wait for the block that it is in.
    let bad = [
        "setp.ne.u32 %p0, %me, 2; @%p0 bra WAIT;",
        "trap;",
        "WAIT: ld.volatile.global.u32 %r0, [%p];",
        "setp.eq.u32 %p1, %r0, 0; @%p1 bra WAIT;",
    ];
    for options in all() {
        let found = run(3, &options, &bad);
        assert!(matches!(found, Err(Error::Trap { .. })), "{found:?}");
    }
}
