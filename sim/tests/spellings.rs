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
