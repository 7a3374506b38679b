//! How much memory the simulator takes to remember accesses, and that it does remember them.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::common::{launch, module, shape, u32_arg, u64_arg};
use girih_sim::{Access, Error, Launch, Memory, Options};

thread_local! {
    /// The bytes that the thread has allocated and not freed, and the largest number of such bytes so far.
    static BYTES: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

struct Counting;

fn count(bytes: isize) {
    BYTES.with(|all| {
        let (now, most) = all.get();
        all.set((now + bytes, most.max(now + bytes)));
    });
}

#[expect(unsafe_code, reason = "an allocator is the only way to see allocations")]
// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // Both allocations exist while one is copied to the other.
        count(bytes as isize);
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a launch finds, and how many more bytes than before it takes at most.
fn run(text: &str, threads: u32, bytes: usize, numbers: &[u32]) -> (Option<Error>, usize) {
    let memory = Memory::new();
    let mut args = vec![u64_arg(memory.alloc(bytes).unwrap())];
    args.extend(numbers.iter().map(|&n| u32_arg(n)));
    let shape = Launch { args, ..shape(1, threads) };
    let options = Options { races: true, threads: Some(1), ..Options::default() };
    let before = BYTES.with(|all| {
        all.set((all.get().0, all.get().0));
        all.get().0
    });
    let found = launch(text, &memory, &shape, &options).err();
    (found, (BYTES.with(Cell::get).1 - before) as usize)
}

/// A thread: its warp, and its lane.
type Thread = (u32, u32);

fn raced(found: Option<Error>, marked: &str) -> (Thread, Access, Thread) {
    let Some(Error::Race { at, other, .. }) = found else { panic!("{found:?}") };
    assert!(other.at.place.instruction.contains(marked), "{marked}: {other:?}");
    let thread = |at: u32| (at / 32, at % 32);
    (thread(at.thread[0]), other.access, thread(other.at.thread[0]))
}

/// 16 warps write and read words in four rounds, in which each warp takes another row of 32 words each time. Then a
/// last warp, which no barrier orders, accesses one word.
fn rows(last: &str, upto: &str) -> String {
    let mut text = String::from(
        ".visible .entry k(.param .u64 data, .param .u32 rows, .param .u32 word) {
         .reg .b32 %i, %l, %w, %n, %r, %row, %x, %word; .reg .b64 %p, %q, %o; .reg .pred %q<3>;
         ld.param.u64 %p, [data]; ld.param.u32 %n, [rows]; ld.param.u32 %word, [word]; mov.u32 %i, %tid.x;
         and.b32 %l, %i, 31; shr.u32 %w, %i, 5; setp.eq.u32 %q1, %w, 16; mov.u32 %x, 0;\n",
    );
    let rounds = [
        "st.global.u32 [%o], %i",
        "ld.global.u32 %x, [%o]",
        "st.global.u32 [%o], %l",
        "ld.global.u32 %r, [%o]",
    ];
    for (nth, access) in rounds.iter().enumerate() {
        // The warp that comes to row r is r + nth, round 16.
        text += &format!(
            "@%q1 bra NEXT{nth}; sub.u32 %row, %w, {nth}; and.b32 %row, %row, 15;
             AGAIN{nth}: mad.lo.u32 %r, %row, 32, %l; mul.wide.u32 %o, %r, 4; add.s64 %o, %o, %p; {access};
             add.u32 %row, %row, 16; setp.lt.u32 %q2, %row, %n; @%q2 bra AGAIN{nth};
             NEXT{nth}: {}\n",
            if rounds[nth] == upto { "bra LAST;" } else { "bar.sync 0;" }
        );
    }
    text += &format!(
        "LAST: mul.wide.u32 %o, %word, 4; add.s64 %o, %o, %p; setp.eq.u32 %q1, %i, 517; @%q1 {last}; ret; }}"
    );
    module(&text)
}

/// Memory that warps write and read word by word, as they do with data, takes at most 6 bytes for each byte; and the
/// accesses remembered are the same.
#[test]
fn plain_data_needs_few_bytes() {
    let bytes = 1 << 20;
    let text = rows("mov.u32 %x, 0", "");
    let (found, taken) = run(&text, 17 * 32, bytes, &[bytes as u32 / 128, 0]);
    assert_eq!(found, None);
    assert!(taken >= bytes && taken <= 6 * bytes, "{taken} for {bytes}");
    for word in (0..1024).step_by(37) {
        let row = |shift: u32| ((word / 32 + shift) % 16, word % 32);
        let (reads, writes) = ("ld.global.u32 %r, [%o]", "st.global.u32 [%o], %l");
        let (found, _) = run(&rows("st.global.u32 [%o], 9999", reads), 17 * 32, 4096, &[32, word]);
        assert_eq!(raced(found, reads), ((16, 5), Access::Read, row(3)), "{word}");
        let (found, _) = run(&rows("ld.global.u32 %x, [%o]", writes), 17 * 32, 4096, &[32, word]);
        assert_eq!(raced(found, writes), ((16, 5), Access::Write, row(2)), "{word}");
    }
}

/// Accesses that later ones have replaced take no memory, and those of other threads are kept, however many accesses
/// there are. Of five warps one writes, with another lane each time, and four read.
#[test]
fn accesses_that_are_over_are_dropped() {
    let text = |last: &str| {
        module(&format!(
            ".visible .entry k(.param .u64 data, .param .u32 rounds) {{
             .reg .b32 %i, %l, %w, %n, %k, %x, %c; .reg .b64 %p, %o; .reg .pred %q, %writes, %reads, %more;
             ld.param.u64 %p, [data]; ld.param.u32 %n, [rounds]; mov.u32 %i, %tid.x; and.b32 %l, %i, 31; shr.u32 %w, %i, 5;
             mov.u32 %k, 0;
             NEXT: mul.lo.u32 %c, %k, 7; and.b32 %c, %c, 255; mul.wide.u32 %o, %c, 16; add.s64 %o, %o, %p;
             add.u32 %x, %k, %w; and.b32 %x, %x, 31; setp.eq.u32 %q, %l, %x;
             setp.eq.and.u32 %writes, %w, 4, %q; setp.lt.and.u32 %reads, %w, 4, %q;
             add.u32 %k, %k, 1; setp.lt.u32 %more, %k, %n;
             @%writes st.global.u32 [%o], %k;
             {last}
             bar.sync 0;
             @%reads ld.global.u32 %x, [%o];
             bar.warp.sync -1;
             @%more bra NEXT;
             setp.eq.u32 %q, %i, 163; @%q st.global.u32 [%o], 77; ret; }}"
        ))
    };
    let [few, many] = [500, 4000].map(|rounds: u32| {
        let (found, taken) = run(&text(""), 6 * 32, 4096, &[rounds]);
        let (at, access, (warp, lane)) = raced(found, "ld.global");
        assert_eq!((at, access), ((5, 3), Access::Read));
        assert!(warp < 4 && lane == (rounds - 1 + warp) % 32, "{warp} {lane}");
        // The last write is remembered, too: it races with a read of a thread that is not ordered after it.
        let early = "setp.eq.u32 %q, %i, 163; setp.eq.and.u32 %q, %k, %n, %q; @%q ld.global.u32 %x, [%o];";
        let (found, _) = run(&text(early), 6 * 32, 4096, &[rounds]);
        assert_eq!(raced(found, "st.global"), ((5, 3), Access::Write, (4, (rounds + 3) % 32)));
        taken
    });
    // Twice the memory of 256 words with a write and four reads each, and not that of 20000 accesses.
    assert!(many <= few + 64 * 2 * 5 * 256 / 2, "{few} {many}");
}
