//! Registers, loads, stores and atomics of 128 bits.

use crate::common::{download, launch, map, per_thread, shape, u64_arg, upload};
use girih_sim::{Memory, Options};

/// The body, with 128-bit registers, which need PTX 8.3.
fn wide(words: usize, results: usize, body: &str) -> String {
    per_thread(words, results, &format!(".reg .b128 %v<4>; .shared .align 16 .b8 s[1024];\n{body}"))
        .replace("8.0", "8.4")
}

#[test]
fn sixteen_bytes_go_through_registers_and_every_space() {
    let input: Vec<u32> = (0..4 * 32).map(|i| i * 0x0101_0307 + 5).collect();
    for body in [
        // Through a register, its halves, another register.
        "ld.global.b128 %v0, [%q]; mov.b128 %v1, %v0; mov.b128 {%rd0, %rd1}, %v1; mov.b128 %v2, {%rd1, %rd0};
         mov.b128 {%rd1, %rd0}, %v2; mov.b128 %v3, {%rd0, %rd1}; st.global.b128 [%p], %v3;",
        "ld.b128 %v0, [%q]; mul.lo.u32 %r0, %i, 16; mov.u32 %r1, s; add.u32 %r0, %r0, %r1; st.shared.b128 [%r0], %v0;
         ld.shared.b128 %v1, [%r0]; st.b128 [%p], %v1;",
        ".local .align 16 .b8 l[16]; ld.volatile.global.b128 %v0, [%q]; st.local.b128 [l], %v0; ld.local.b128 %v1, [l];
         st.relaxed.gpu.global.b128 [%p], %v1;",
        "ld.acquire.sys.b128 %v0, [%q]; st.release.cta.b128 [%p], %v0;",
        // With a cache policy, and other hints.
        "createpolicy.fractional.L2::evict_last.b64 %rd4, 1.0;
         ld.global.L1::no_allocate.L2::cache_hint.L2::128B.b128 %v0, [%q], %rd4; st.global.L1::evict_first.L2::cache_hint.b128 [%p], %v0, %rd4;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd4, 0.5;
         ld.global.L2::cache_hint.v4.b32 {%r0, %r1, %r2, %r3}, [%q], %rd4; st.global.cs.L2::cache_hint.v4.b32 [%p], {%r0, %r1, %r2, %r3}, %rd4;",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd4, [%q], 256, 512;
         ld.relaxed.gpu.global.L1::evict_last.L2::cache_hint.v2.b64 {%rd0, %rd1}, [%q], %rd4; st.global.L2::cache_hint.v2.b64 [%p], {%rd0, %rd1}, %rd4;",
    ] {
        let body = format!("{body} ld.global.b32 %d0, [%p]; ld.global.b32 %d1, [%p+4]; ld.global.b32 %d2, [%p+8]; ld.global.b32 %d3, [%p+12];");
        let text = wide(4, 4, &body);
        girih_ptx::Module::parse(&text).unwrap().verify().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(map(&text, 32, &input, 4 * 32).unwrap(), input, "{body}");
    }
    let error = map(&wide(4, 1, "ld.global.b128 %v0, [%q+8]; mov.u32 %d0, 0;"), 2, &input, 2).unwrap_err();
    assert!(error.to_string().contains("must be aligned to 16 bytes"), "{error}");
    let error =
        map(&wide(4, 1, "ld.global.b32 %d0, [%q]; st.global.b128 [%q], %v0;"), 1, &input, 1).unwrap_err();
    assert!(error.to_string().contains("`%v0.low` is read before it is written"), "{error}");
}

/// Each thread adds 1 to the low half and 2^32 to the high half of one value by compare-and-swap, blocks among themselves.
#[test]
fn sixteen_bytes_are_compared_and_swapped_at_once() {
    for (space, begin) in [("global", ""), ("shared", "@%p0 st.shared.b128 [s], %v0; bar.sync 0;")] {
        let at = if space == "global" { "%q" } else { "s" };
        let body = format!(
            "mov.u64 %rd0, 0; mov.b128 %v0, {{%rd0, %rd0}}; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; {begin}
             ld.param.u64 %q, [in];
             AGAIN: mov.b128 {{%rd0, %rd1}}, %v0; add.u64 %rd0, %rd0, 1; add.u64 %rd1, %rd1, 4294967296;
             mov.b128 %v1, {{%rd0, %rd1}}; atom.relaxed.gpu.{space}.cas.b128 %v2, [{at}], %v0, %v1;
             mov.b128 {{%rd2, %rd3}}, %v2; mov.b128 {{%rd0, %rd1}}, %v0; mov.b128 %v0, %v2;
             setp.ne.u64 %p1, %rd0, %rd2; @%p1 bra AGAIN; setp.ne.u64 %p1, %rd1, %rd3; @%p1 bra AGAIN;
             cvt.u32.u64 %d0, %rd2; shr.u64 %rd3, %rd3, 32; cvt.u32.u64 %d1, %rd3;"
        );
        let text = wide(0, 2, &body);
        let memory = Memory::new();
        let (out, counter) = (upload(&memory, &[0; 128]), upload(&memory, &[0; 4]));
        let mut shape = shape(1, 64);
        shape.args = vec![u64_arg(out), u64_arg(counter)];
        launch(&text, &memory, &shape, &Options::checked()).unwrap();
        // Every count was found once, in both halves.
        let mut found: Vec<_> =
            download(&memory, out, 128).chunks(2).map(|pair| (pair[0], pair[1])).collect();
        found.sort_unstable();
        assert_eq!(found, (0..64).map(|i| (i, i)).collect::<Vec<_>>(), "{space}");
        if space == "global" {
            assert_eq!(download(&memory, counter, 4), [64, 0, 0, 64]);
        }
    }
    let body = "mov.u64 %rd0, 7; mov.u64 %rd1, 9; mov.b128 %v0, {%rd0, %rd1}; ld.param.u64 %q, [in];
        atom.exch.b128 %v1, [%q], %v0; mov.b128 {%rd0, %rd1}, %v1; cvt.u32.u64 %d0, %rd0; cvt.u32.u64 %d1, %rd1;";
    assert_eq!(map(&wide(4, 2, body), 1, &[1, 2, 3, 4], 2).unwrap(), [1, 3]);
}
