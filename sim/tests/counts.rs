//! Wavefronts and sectors of accesses with a stride, against closed forms.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{launch, module, shape, u64_arg};
use girih_sim::{Memory, Options, Report};

/// One warp; `%s` is a shared address and `%p` a global one, `stride` bytes apart from lane to lane.
fn count(stride: u32, body: &str) -> Report {
    let text = module(&format!(
        ".visible .entry k(.param .u64 out) {{
         .shared .align 16 .b8 s[16384]; .reg .b32 %i, %s, %r<8>; .reg .b64 %p, %o;
         ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, {stride}; add.s64 %p, %p, %o;
         mov.u32 %s, s; mad.lo.u32 %s, %i, {stride}, %s; {body} }}"
    ));
    let memory = Memory::new();
    let mut shape = shape(1, 32);
    shape.args = vec![u64_arg(memory.alloc(65536).unwrap())];
    launch(&text, &memory, &shape, &Options { counts: true, ..Options::default() }).unwrap()
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn word_accesses_conflict_by_the_common_factor_of_stride_and_banks() {
    for words in 0..=64 {
        let report = count(4 * words, "ld.shared.u32 %r0, [%s];");
        let conflicts = if words == 0 { 1 } else { gcd(words, 32) };
        assert_eq!((report.wavefronts, report.least_wavefronts), (conflicts.into(), 1), "{words}");
        let report = count(4 * words, "st.global.u32 [%p], %i;");
        let sectors = if words == 0 { 1 } else { 32.min(4 * words) };
        assert_eq!(report.sectors, sectors.into(), "{words}");
        assert_eq!(report.least_sectors, if words == 0 { 1 } else { 4 });
    }
}

#[test]
fn wide_accesses_are_served_in_parts() {
    let vector = |stride| count(stride, "st.shared.v4.u32 [%s], {%i, %i, %i, %i};");
    assert_eq!((vector(16).wavefronts, vector(16).least_wavefronts), (4, 4));
    assert_eq!(vector(32).wavefronts, 8);
    assert_eq!(vector(128).wavefronts, 32);
    // 80 bytes spread eight rows over all banks.
    assert_eq!(vector(80).wavefronts, 4);
    let pair = |stride| count(stride, "ld.shared.v2.u32 {%r0, %r1}, [%s];");
    assert_eq!((pair(8).wavefronts, pair(16).wavefronts, pair(8).least_wavefronts), (2, 4, 2));
    // Bytes of a word are one word.
    assert_eq!(count(1, "ld.shared.u8 %r0, [%s];").wavefronts, 1);
}

#[test]
fn ldmatrix_rows_and_copies_conflict_too() {
    let matrices =
        |stride| count(stride, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];");
    assert_eq!((matrices(16).wavefronts, matrices(16).least_wavefronts), (4, 4));
    assert_eq!((matrices(64).wavefronts, matrices(128).wavefronts, matrices(144).wavefronts), (16, 32, 4));
    let copy = count(64, "cp.async.cg.shared.global [%s], [%p], 16; cp.async.wait_all;");
    assert_eq!((copy.wavefronts, copy.sectors, copy.least_sectors), (16, 32, 16));
    assert_eq!(count(0, "mov.u32 %r0, 1;").wavefronts, 0);
}
