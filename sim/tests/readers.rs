//! A word of global memory that many threads have read: whoever writes it races with one of them, however many are
//! remembered.

use crate::common::{load, module, shape, u32_arg, u64_arg, upload};
use girih_sim::{Error, Launch, Memory, Options, Site, run};

/// Warps, four a block, and how often each may read.
const WARPS: usize = 12;
const TIMES: usize = 12;

/// Lanes of each warp read a word, as a table of masks says, and then one thread of the grid writes the word; with a
/// delay, if that is asked for.
fn text(speaks: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 word, .param .align 16 .b8 table[{}], .param .u32 writer, .param .u32 times,
           .param .u32 later) {{
         .reg .b32 %i, %l, %w, %k, %m, %r, %n, %d; .reg .b64 %p, %t, %o; .reg .pred %on, %more;
         ld.param.u64 %p, [word]; ld.param.u32 %r, [writer]; ld.param.u32 %n, [times]; ld.param.u32 %d, [later]; mov.b64 %t, table;
         mov.u32 %w, %ctaid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %w, 128, %i; and.b32 %l, %i, 31; shr.u32 %w, %i, 5;
         mul.wide.u32 %o, %w, {}; add.s64 %t, %t, %o; mov.u32 %k, 0; setp.eq.u32 %on, %i, %r;
         {speaks}
         NEXT: ld.param.u32 %m, [%t]; add.s64 %t, %t, 4; shr.u32 %m, %m, %l; and.b32 %m, %m, 1; setp.ne.u32 %on, %m, 0;
         @%on ld.global.u32 %m, [%p];
         add.u32 %k, %k, 1; setp.lt.u32 %more, %k, %n; @%more bra NEXT;
         setp.eq.u32 %on, %i, %r; shr.u32 %r, %r, 5; setp.ne.u32 %more, %w, %r; @%more exit;
         LATER: setp.eq.u32 %more, %d, 0; @%more bra WRITE; sub.u32 %d, %d, 1; bra LATER;
         WRITE: @%on st.global.u32 [%p], 7; ret; }}",
        4 * WARPS * TIMES,
        4 * TIMES
    ))
}

/// A write races exactly if another thread has read, whichever of several blocks that can or cannot communicate.
#[test]
fn a_write_races_with_any_reader() {
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let memory = Memory::new();
    let word = upload(&memory, &[0; 4]);
    let speaks = "@%on atom.relaxed.gpu.global.add.u32 %m, [%p+8], 1;";
    let programs = ["", speaks].map(|speaks| load(&text(speaks)).unwrap());
    let (mut raced, mut clean, mut late) = (0, 0, 0);
    for round in 0..3000 {
        let (mut table, mut counts) = ([0u32; WARPS * TIMES], [0; WARPS]);
        let mut readers = Vec::new();
        // On several threads of the host the others mostly read between the writer's reads and its write.
        let parallel = round % 8 == 1;
        // The last warp of all to run, or any.
        let last = !parallel && below(3) > 0;
        let writing = if last { WARPS as u64 - 1 } else { below(WARPS as u64) };
        let writer = 32 * writing as u32 + below(3) as u32;
        for nth in 0..=below(12) {
            // The writer's warp alone in some cases, where there may be no other reader.
            let own = round % 4 == 0 || parallel && nth == 0;
            let warp = if own { writing } else { below(WARPS as u64) } as usize;
            let alone = round % 8 == 0 || parallel && nth == 0;
            let mask = if alone { 1 << (writer % 32) } else { [1 << below(3), 7, 5][below(3) as usize] };
            table[warp * TIMES + counts[warp]] = mask;
            counts[warp] += 1;
            readers.extend((0..3).filter(|lane| mask >> lane & 1 == 1).map(|lane| 32 * warp as u32 + lane));
        }
        let (threads, later) = if parallel { (3, 2000) } else { (1, 0) };
        let seed = if last { 0 } else { round as u64 };
        let options = Options { races: true, threads: Some(threads), seed, ..Options::default() };
        let times = counts.iter().max().map_or(0, |&most| most as u32);
        let table = table.iter().flat_map(|mask| mask.to_le_bytes()).collect();
        let shape = Launch {
            args: vec![u64_arg(word), table, u32_arg(writer), u32_arg(times), u32_arg(later)],
            ..shape(3, 128)
        };
        let found = run(
            programs[if parallel { 0 } else { below(2) as usize }].kernel("k").unwrap(),
            &memory,
            &shape,
            &options,
        );
        let thread = |at: &Site| 128 * at.block[0] + at.thread[0];
        match &found {
            Ok(_) => assert!(readers.iter().all(|&reader| reader == writer), "{writer}: {readers:?}"),
            Err(Error::Race { at, other, .. }) => {
                let [at, other] = [thread(at), thread(&other.at)];
                let reader = if at == writer { other } else { at };
                assert!([at, other].contains(&writer) && reader != writer, "{found:?}");
                assert!(readers.contains(&reader), "{found:?}: {readers:?}");
                late += u32::from(at == writer);
            }
            Err(other) => panic!("{other}"),
        }
        raced += u32::from(found.is_err());
        clean += u32::from(found.is_ok());
    }
    assert!(raced > 2000 && clean > 300 && late > 1500, "{raced} {clean} {late}");
}
