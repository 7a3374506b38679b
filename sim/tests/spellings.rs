//! Instructions and spellings that compilers seldom write, against numbers from the ISA's text.

use crate::common::{load, map, module, per_thread};

/// Values at the ends of every type, and between.
const VALUES: [i32; 24] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    i32::MAX,
    -1,
    -2,
    -3,
    -9,
    -32769,
    i32::MIN,
];

/// PTX ISA, "cvt.pack": saturated a above saturated b, above both the low bits of c.
#[test]
fn integers_are_packed() {
    for (ty, bits, low) in [
        ("u16", 16, 0),
        ("s16", 16, -32768),
        ("u8", 8, 0),
        ("s8", 8, -128),
        ("u4", 4, 0),
        ("s4", 4, -8),
        ("u2", 2, 0),
        ("s2", 2, -2),
    ] {
        let (tail, c) = if bits == 16 { ("s32", "") } else { ("s32.b32", ", %a2") };
        let body = format!("cvt.pack.sat.{ty}.{tail} %d0, %a0, %a1{c};");
        let mut input = Vec::new();
        for a in VALUES {
            for b in VALUES {
                input.extend([a as u32, b as u32, 0x89ab_cdef_u32.rotate_left(input.len() as u32)]);
            }
        }
        let threads = input.len() as u32 / 3;
        let found = map(&per_thread(3, 1, &body), threads, &input, threads as usize).unwrap();
        let high = low + (1i64 << bits) - 1;
        for (words, found) in input.chunks(3).zip(found) {
            let field = |word: u32| i64::from(word as i32).max(low).min(high).rem_euclid(1 << bits) as u64;
            let below = field(words[1]) + (field(words[0]) << bits);
            let want = (below + (u64::from(words[2]) << (2 * bits))) as u32;
            let want = if bits == 16 { below as u32 } else { want };
            assert_eq!(found, want, "{ty} {words:x?}");
        }
    }
}

#[test]
fn the_order_of_words_that_the_assembler_leaves_open() {
    for fence in [
        "fence.cta.sc;",
        "fence.gpu.acq_rel;",
        "fence.sys.acquire;",
        "fence.cluster.release;",
        "fence.cta;",
        "fence.mbarrier_init.cluster.release;",
        "fence.proxy.tensormap::generic.gpu.release;",
        "fence.proxy.tensormap::generic.sys.acquire [%rd0], 128;",
    ] {
        let text =
            per_thread(0, 1, &format!("mov.u64 %rd0, 0; {fence} mov.u32 %d0, 5;")).replace("8.0", "8.3");
        let parsed = girih_ptx::Module::parse(&text).unwrap();
        parsed.verify().unwrap_or_else(|error| panic!("{fence}: {error}"));
        load(&text).unwrap_or_else(|error| panic!("{fence}: {error}"));
    }
    // What the assembler refuses.
    for fence in ["fence.sc;", "fence.sc.sc.cta;", "fence.shared::cta.proxy.async;"] {
        let text = module(&format!(".entry k() {{ {fence} ret; }}"));
        assert!(girih_ptx::Module::parse(&text).unwrap().verify().is_err(), "{fence}");
    }
    let input: Vec<u32> =
        VALUES.iter().flat_map(|&a| VALUES.map(|b| [a as u32, b as u32])).flatten().collect();
    let threads = input.len() as u32 / 2;
    let body = "max.s32.relu %d0, %a0, %a1; min.s16x2.relu %d1, %a0, %a1;";
    let found = map(&per_thread(2, 2, body), threads, &input, 2 * threads as usize).unwrap();
    for (words, found) in input.chunks(2).zip(found.chunks(2)) {
        assert_eq!(found[0] as i32, (words[0] as i32).max(words[1] as i32).max(0));
        let half = |shift: u32| {
            let [a, b] = [words[0], words[1]].map(|word| (word >> shift) as i16);
            (a.min(b).max(0) as u32) << shift
        };
        assert_eq!(found[1], half(0) | half(16), "{words:x?}");
    }
}

#[test]
fn what_a_driver_sets_is_zero() {
    let body: String = (0..32).map(|i| format!("mov.u32 %d{i}, %envreg{i};")).collect();
    assert_eq!(map(&per_thread(0, 32, &body), 1, &[0], 32).unwrap(), [0; 32]);
    assert!(
        girih_ptx::Module::parse(&per_thread(0, 1, "mov.u32 %d0, %envreg32;")).unwrap().verify().is_err()
    );
}

/// Forms that public code has: each is verified, and computes what the usual spelling of it computes.
#[test]
fn forms_of_public_code_run() {
    const INT: &str = "mov.u32 %r1, 0xfffffff9; mov.u32 %r2, 3;";
    for (body, expected) in [
        // Vectors, some of them special registers.
        ("mov.v4.u32 {%d0, _, %r1, %r2}, %tid; add.u32 %d1, %r1, %r2;", [5, 0]),
        ("mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid; mov.u32 %d0, %r1; add.u32 %d1, %r2, %r3;", [32, 2]),
        (
            "mov.u32 %r1, 7; mov.u32 %r2, 9; mov.v2.u32 {%r1, %r2}, {%r2, %r1}; mov.u32 %d0, %r1; mov.u32 %d1, %r2;",
            [9, 7],
        ),
        (".reg .v2 .b32 %w; mov.v2.b32 %w, {1, 2}; mov.b32 %d0, %w.y; mov.b32 %d1, %w.x;", [2, 1]),
        (
            ".reg .v4 .b32 %w<2>; ld.global.v4.b32 %w1, [%q]; mov.b32 %d0, %w1.x; mov.b32 %d1, %w1.a;",
            [105, 108],
        ),
        // A variable says in which state space it is.
        (
            ".shared .align 8 .b8 s[8]; .local .align 4 .b8 l[4]; setp.eq.u32 %p1, %i, 5; mov.u32 %d0, 0;
          @%p1 st.u32 [s], 11; @%p1 ld.u32 %d0, [s]; st.u32 [l], %d0; ld.local.u32 %d1, [l];",
            [11, 11],
        ),
        // 16 bytes.
        (
            "ld.global.nc.L1::no_allocate.b128 %v0, [%q]; mov.b128 {%rd0, %rd1}, %v0; cvt.u32.u64 %d0, %rd0; cvt.u32.u64 %d1, %rd1;",
            [105, 107],
        ),
        (
            "ld.mmio.relaxed.sys.global.b128 %v0, [%q]; mov.b128 {%rd0, %rd1}, %v0; cvt.u32.u64 %d0, %rd0; mov.u32 %d1, 0;",
            [105, 0],
        ),
        // A fraction in a register.
        (
            "mov.f32 %f1, 0f3F000000; createpolicy.fractional.L2::evict_last.b64 %rd0, %f1;
          ld.global.L2::cache_hint.b32 %d0, [%q], %rd0; mov.u32 %d1, 0;",
            [105, 0],
        ),
        // Conversions between bf16 and integers of 8 bits: -7 and 250.
        (
            ".reg .b8 %b<2>; mov.b16 %h1, 0xC0E0; cvt.rzi.s8.bf16 %b0, %h1; cvt.s32.s8 %d0, %b0;
          cvt.rn.bf16.s8 %h2, %b0; cvt.u32.u16 %d1, %h2;",
            [0xffff_fff9, 0xC0E0],
        ),
        (
            ".reg .b8 %b<2>; mov.b16 %h1, 0x437A; cvt.rni.u8.bf16 %b0, %h1; cvt.u32.u8 %d0, %b0;
          cvt.rn.bf16.u8 %h2, %b0; cvt.u32.u16 %d1, %h2;",
            [250, 0x437A],
        ),
        // Scalar video instructions: -7 and 3.
        (
            &format!("{INT} vadd.s32.s32.s32 %d0, %r1, %r2; vsub.s32.s32.s32.max %d1, %r1, %r2, %r2;"),
            [0xffff_fffc, 3],
        ),
        (
            &format!("{INT} vadd.u32.s32.s32.sat %d0, %r1, %r2; vadd.s32.u32.u32.sat %d1, %r1, %r2;"),
            [0, 0x7fff_ffff],
        ),
        (
            &format!("{INT} vshr.s32.s32.u32.clamp %d0, %r1, 40; vshr.s32.s32.u32.wrap %d1, %r1, 33;"),
            [0xffff_ffff, 0xffff_fffc],
        ),
        (
            &format!(
                "{INT} vshr.u32.u32.u32.clamp.add %d0, %r1, 40, %r2; vshl.u32.u32.u32.wrap %d1, %r2, 33;"
            ),
            [3, 6],
        ),
        (
            &format!("{INT} vabsdiff.u32.s32.s32.add %d0, %r1, %r2, %r2; vmin.s32.s32.u32 %d1, %r1, %r2;"),
            [13, 0xffff_fff9],
        ),
        (&format!("{INT} vset.s32.s32.lt %d0, %r1, %r2; vset.u32.u32.lt.add %d1, %r1, %r2, %r2;"), [1, 3]),
        // Orders of modifiers.
        (
            "setp.ne.s32 %p1, 1, 0; vote.ballot.sync.b32 %d0, %p1, -1; vote.any.pred.sync %p2, %p1, -1; selp.u32 %d1, 1, 0, %p2;",
            [0xffff_ffff, 1],
        ),
        ("ld.v2.nc.b32.global {%d0, %d1}, [%q];", [105, 106]),
    ] {
        let text = per_thread(4, 2, &format!(".reg .b128 %v<4>;\n{body}")).replace("8.0", "8.4");
        girih_ptx::Module::parse(&text).unwrap().verify().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let input: Vec<u32> = (0..32 * 4).map(|i| 100 + i / 4 + i % 4).collect();
        let results = map(&text, 32, &input, 64).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(results[10..12], expected, "{body}");
    }
}

/// `mma` of f64 with its rounding, and results that nobody needs.
#[test]
fn products_may_name_their_rounding_and_drop_results() {
    let body = "mov.f64 %fd0, 0d3FF8000000000000; mov.f64 %fd1, 0d4000000000000000; mov.f64 %fd2, 0d0000000000000000;
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn {%fd3, _}, {%fd0}, {%fd1}, {%fd2, %fd2};
        cvt.rzi.u32.f64 %d0, %fd3; mov.u32 %d1, 0;";
    let results = map(&per_thread(1, 2, body), 32, &[0; 32], 64).unwrap();
    assert_eq!(results, [12, 0].repeat(32));
}

/// Without a state space, an address of 32 bits is in shared memory where the instruction knows no other.
#[test]
fn mbarriers_are_found_without_their_state_space() {
    let body = ".shared .align 8 .b8 bar[8]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, bar;
        @%p0 mbarrier.init.b64 [bar], 32; bar.sync 0;
        cp.async.mbarrier.arrive.noinc.b64 [%r1];
        WAIT: mbarrier.try_wait.parity.b64 %p1, [bar], 0; @!%p1 bra WAIT; mov.u32 %d0, 1;";
    assert_eq!(map(&per_thread(1, 1, body), 32, &[0; 32], 32).unwrap(), [1; 32]);
}
