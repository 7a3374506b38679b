//! `atom`, `red`: the laws of atomic updates, and the order that atomics establish.

use crate::common::{self, download, launch, map, module, per_thread, shape, u64_arg, upload};
use girih_sim::{Error, Memory, Options};

const THREADS: usize = 96;

/// Operands that wrap, saturate, and differ in sign.
fn operand(i: usize) -> u64 {
    let x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match i % 4 {
        0 => x,
        1 => i as u64,
        2 => x >> 40,
        _ => !0 - i as u64,
    }
}

/// Runs `opcode` of `THREADS` threads on one place that holds `start`; the values they found, and the last one.
fn updates(opcode: &str, space: &str, bits: u32, start: u64) -> (Vec<u64>, u64) {
    let reg = if bits == 64 { "%rd" } else { "%r" };
    // The place in global memory is the first input, read before it is written.
    let place = if space == "shared" { "mov.u64 %rd9, place;" } else { "ld.param.u64 %rd9, [in];" };
    let widen = if bits == 64 { "" } else { "cvt.u64.u32 %rd2, %r2;" };
    let body = format!(
        ".shared .align 8 .b64 place;
         {place} mov.b64 %rd1, {{%a0, %a1}}; mov.b32 %r1, %a0; bar.sync 0;
         setp.eq.u32 %p0, %i, 0; @%p0 st.{space}.b64 [%rd9], {start}; bar.sync 0;
         {opcode} {reg}2, [%rd9], {reg}1; bar.sync 0;
         {widen} mov.b64 {{%d0, %d1}}, %rd2; ld.{space}.b64 %rd3, [%rd9]; mov.b64 {{%d2, %d3}}, %rd3;"
    );
    let input: Vec<u32> = (0..THREADS).flat_map(|i| [operand(i) as u32, (operand(i) >> 32) as u32]).collect();
    let got = map(&per_thread(2, 4, &body), THREADS as u32, &input, 4 * THREADS);
    let got = got.unwrap_or_else(|e| panic!("{opcode}: {e}"));
    let wide = |w: &[u32]| u64::from(w[0]) | u64::from(w[1]) << 32;
    let mask = u64::MAX >> (64 - bits);
    (got.chunks(4).map(wide).collect(), wide(&got[2..4]) & mask)
}

/// Hardware leaves shared memory unchanged, without an error.
#[test]
fn vectors_are_not_reduced_in_shared_memory() {
    let run = |space: &str| {
        let body = format!(
            ".shared .align 16 .b8 place[16]; {space}
             mov.b32 %r1, %a0; mov.b32 %r2, %a1; red.add.v2.f32 [%rd9], {{%r1, %r2}}; mov.b32 %d0, 0;"
        );
        map(&per_thread(2, 1, &body), 1, &[0, 0], 1)
    };
    let shared = "mov.u64 %rd9, place; cvta.shared.u64 %rd9, %rd9; st.b64 [%rd9], 0;";
    let error = run(shared).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::VectorInShared { address: 0x400, .. }), "{message}");
    assert!(
        message.ends_with(
            "the generic address is shared address 0x400: vectors are updated in global memory alone; a GPU leaves \
             shared memory as it is, without an error"
        ),
        "{message}"
    );
    assert_eq!(run("ld.param.u64 %rd9, [in];"), Ok(vec![0]));
}

/// In whatever order the threads update: the value that a thread leaves is the value that the next thread finds. So the
/// values found, with the last value, are a permutation of the start value with the values left.
#[test]
fn each_update_finds_what_another_left() {
    type Step = fn(u64, u64) -> u64;
    let ops: &[(&str, u32, Step)] = &[
        ("add.u32", 32, |a, b| (a as u32).wrapping_add(b as u32).into()),
        ("add.s32", 32, |a, b| (a as u32).wrapping_add(b as u32).into()),
        ("add.u64", 64, u64::wrapping_add),
        ("min.u32", 32, |a, b| (a as u32).min(b as u32).into()),
        ("max.u32", 32, |a, b| (a as u32).max(b as u32).into()),
        ("min.s32", 32, |a, b| u64::from((a as i32).min(b as i32) as u32)),
        ("max.s32", 32, |a, b| u64::from((a as i32).max(b as i32) as u32)),
        ("min.u64", 64, u64::min),
        ("max.u64", 64, u64::max),
        ("min.s64", 64, |a, b| (a as i64).min(b as i64) as u64),
        ("max.s64", 64, |a, b| (a as i64).max(b as i64) as u64),
        ("and.b32", 32, |a, b| a & b & 0xffff_ffff),
        ("or.b32", 32, |a, b| (a | b) & 0xffff_ffff),
        ("xor.b32", 32, |a, b| (a ^ b) & 0xffff_ffff),
        ("and.b64", 64, |a, b| a & b),
        ("or.b64", 64, |a, b| a | b),
        ("xor.b64", 64, |a, b| a ^ b),
        ("exch.b32", 32, |_, b| b & 0xffff_ffff),
        ("exch.b64", 64, |_, b| b),
        ("inc.u32", 32, |a, b| if a >= b & 0xffff_ffff { 0 } else { a + 1 }),
        ("dec.u32", 32, |a, b| {
            let b = b & 0xffff_ffff;
            if a == 0 || a > b { b } else { a - 1 }
        }),
    ];
    let orders = ["", ".relaxed.cta", ".acquire.gpu", ".release.sys", ".acq_rel.cta"];
    for (n, (op, bits, step)) in ops.iter().enumerate() {
        for space in ["shared", "global"] {
            let start = 0x0123_4567_89ab_cdef >> (64 - bits);
            let opcode = format!("atom{}.{space}.{op}", orders[n % orders.len()]);
            let (found, last) = updates(&opcode, space, *bits, start);
            let mut left: Vec<u64> =
                found.iter().enumerate().map(|(i, &old)| step(old, operand(i))).collect();
            left.push(start);
            let mut seen = found.clone();
            seen.push(last);
            left.sort_unstable();
            seen.sort_unstable();
            assert_eq!(left, seen, "{opcode}");
        }
    }
}

/// Small integers, whose sums are exact in every type.
#[test]
fn floats_are_added_and_vectors_element_by_element() {
    let half = |x: f32| u32::from(half::f16::from_f32(x).to_bits());
    let brain = |x: f32| u32::from(half::bf16::from_f32(x).to_bits());
    let sum = |n: u32| (0..n).map(|i| i as f32 - 8.0).sum::<f32>();
    let cases: &[(&str, &str, Vec<u32>)] = &[
        ("red.GLOBAL.add.f32 [%q], %f0;", "", vec![sum(32).to_bits()]),
        (
            "red.GLOBAL.add.f64 [%q], %fd0;",
            "cvt.f64.f32 %fd0, %f0;",
            vec![f64::from(sum(32)).to_bits() as u32, (f64::from(sum(32)).to_bits() >> 32) as u32],
        ),
        (
            "red.GLOBAL.add.noftz.f16x2 [%q], %r1;",
            "cvt.rn.f16x2.f32 %r1, %f1, %f0;",
            vec![half(sum(32)) | half(32.0) << 16],
        ),
        (
            "red.GLOBAL.add.noftz.bf16x2 [%q], %r1;",
            "cvt.rn.bf16x2.f32 %r1, %f1, %f0;",
            vec![brain(sum(32)) | brain(32.0) << 16],
        ),
        ("red.GLOBAL.add.noftz.f16 [%q+2], %h0;", "cvt.rn.f16.f32 %h0, %f0;", vec![half(sum(32)) << 16]),
        ("red.GLOBAL.add.noftz.bf16 [%q], %h0;", "cvt.rn.bf16.f32 %h0, %f0;", vec![brain(sum(32))]),
    ];
    let start = "cvt.rn.f32.u32 %f0, %i; add.f32 %f0, %f0, 0fC1000000; mov.f32 %f1, 0f3F800000;";
    for (op, prepare, want) in cases {
        for space in ["global", "shared"] {
            let op = op.replace("GLOBAL", space);
            let into = if space == "shared" { "mov.u64 %q, place;" } else { "ld.param.u64 %q, [in];" };
            let body = format!(
                ".shared .align 8 .b64 place; {into} mov.u64 %rd0, 0; setp.eq.u32 %p0, %i, 0;
                 @%p0 st.{space}.b64 [%q], %rd0; bar.sync 0; {start} {prepare} {op} bar.sync 0;
                 ld.{space}.b64 %rd1, [%q]; mov.b64 {{%d0, %d1}}, %rd1;"
            );
            let got = map(&per_thread(0, 2, &body), 32, &[0, 0], 64).unwrap_or_else(|e| panic!("{op}: {e}"));
            assert_eq!(got[..want.len()], want[..], "{op}");
        }
    }
    let body = format!(
        "{start} ld.param.u64 %q, [in]; red.relaxed.gpu.global.add.v4.f32 [%q], {{%f0, %f1, %f0, %f1}}; bar.sync 0;
         ld.global.v4.b32 {{%d0, %d1, %d2, %d3}}, [%q];"
    );
    let got = map(&per_thread(0, 4, &body), 32, &[0; 4], 128).unwrap();
    assert_eq!(got[..4], [sum(32), 32.0, sum(32), 32.0].map(f32::to_bits));
}

/// Vectors of 16-bit floats: the values found are those before some update, the last ones the sum or the extremes.
#[test]
fn vectors_of_halves_are_updated_element_by_element() {
    let (half, brain) =
        (|x: f32| half::f16::from_f32(x).to_bits(), |x: f32| half::bf16::from_f32(x).to_bits());
    // Thread i gives i - 8, 8 - i, 1, -1.
    let number = |i: u32, element: usize| [i as f32 - 8.0, 8.0 - i as f32, 1.0, -1.0][element];
    let fold = |action: &str, element: usize| {
        (0..32).map(|i| number(i, element)).fold(0f32, |a, b| match action {
            "add" => a + b,
            "min" => a.min(b),
            _ => a.max(b),
        })
    };
    let numbers =
        "cvt.rn.f32.u32 %f0, %i; add.f32 %f0, %f0, 0fC1000000; neg.f32 %f1, %f0; mov.f32 %f2, 0f3F800000;
                   mov.f32 %f3, 0fBF800000; ld.param.u64 %q, [in];";
    for action in ["add", "min", "max"] {
        for (ty, bits) in [("f16", &half as &dyn Fn(f32) -> u16), ("bf16", &brain)] {
            let singly = (0..4).map(|k| format!("cvt.rn.{ty}.f32 %h{k}, %f{k};")).collect::<String>();
            let forms = [
                format!("{singly} red.global.{action}.noftz.v4.{ty} [%q], {{%h0, %h1, %h2, %h3}};"),
                format!(
                    "{singly} atom.global.gpu.relaxed.{action}.noftz.v4.{ty} {{%h4, %h5, %h6, _}}, [%q], {{%h0, %h1, %h2, %h3}};
                     setp.eq.{ty} %p0, %h4, %h4; @!%p0 trap;"
                ),
                format!(
                    "cvt.rn.{ty}x2.f32 %r0, %f1, %f0; cvt.rn.{ty}x2.f32 %r1, %f3, %f2;
                     atom.{action}.noftz.v2.{ty}x2 {{%r2, %r3}}, [%q], {{%r0, %r1}};"
                ),
            ];
            for form in forms {
                let body = format!("{numbers} {form} bar.sync 0; ld.global.v2.b32 {{%d0, %d1}}, [%q];");
                let got =
                    map(&per_thread(0, 2, &body), 32, &[0, 0], 64).unwrap_or_else(|e| panic!("{form}: {e}"));
                let want: Vec<u16> = (0..4).map(|element| bits(fold(action, element))).collect();
                let pair = |a: u16, b: u16| u32::from(a) | u32::from(b) << 16;
                assert_eq!(got[..2], [pair(want[0], want[1]), pair(want[2], want[3])], "{form}");
            }
        }
    }
    let body = "ld.param.u64 %q, [in]; mov.f32 %f0, 0f3F800000;
                atom.global.add.v2.f32 {%f1, _}, [%q], {%f0, %f0}; mov.b32 %d0, %f1;";
    let mut found: Vec<f32> =
        map(&per_thread(0, 1, body), 32, &[0; 2], 32).unwrap().into_iter().map(f32::from_bits).collect();
    found.sort_by(f32::total_cmp);
    assert_eq!(found, (0..32).map(|i| i as f32).collect::<Vec<_>>());
}

/// "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero" and keeps them on
/// shared memory.
#[test]
fn subnormal_sums_are_flushed_in_global_memory_alone() {
    let tiny = f32::from_bits(0x0040_0000);
    for (space, want) in [("global", 0.0), ("shared", tiny + tiny)] {
        let into = if space == "shared" { "mov.u64 %q, place;" } else { "ld.param.u64 %q, [in];" };
        let body = format!(
            ".shared .b32 place; {into} st.{space}.b32 [%q], 0x400000;
             red.{space}.add.f32 [%q], 0f00400000; ld.{space}.b32 %d0, [%q];"
        );
        assert_eq!(map(&per_thread(0, 1, &body), 1, &[0], 1).unwrap(), [f32::to_bits(want)], "{space}");
    }
}

#[test]
fn compare_and_swap_exchanges_what_it_expects() {
    for (ty, reg, mask) in [("b32", "%r", u32::MAX), ("b16", "%h", 0xffff)] {
        let prepare = if ty == "b16" {
            "cvt.u16.u32 %h1, %a0; cvt.u16.u32 %h2, %a1;"
        } else {
            "mov.b32 %r1, %a0; mov.b32 %r2, %a1;"
        };
        let finish = if ty == "b16" { "cvt.u32.u16 %d0, %h3;" } else { "mov.b32 %d0, %r3;" };
        let body = format!(
            "st.global.b32 [%p+4], 0x12345678; {prepare} atom.global.cas.{ty} {reg}3, [%p+4], {reg}1, {reg}2;
             {finish} ld.global.b32 %d1, [%p+4];"
        );
        for (expected, hit) in [(0x1234_5678, true), (0x1234_5679, false)] {
            let got = map(&per_thread(2, 2, &body), 1, &[expected, 0xaaaa_bbbb], 2).unwrap();
            let new = if hit { 0x1234_5678 & !mask | 0xaaaa_bbbb & mask } else { 0x1234_5678 };
            assert_eq!(got, [0x1234_5678 & mask, new], "{ty}");
        }
    }
}

/// Many blocks update one place in parallel: no update is lost.
#[test]
fn blocks_lose_no_update() {
    let text = module(
        ".visible .entry k(.param .u64 out) { .reg .b64 %p, %x; .reg .b32 %y; ld.param.u64 %p, [out];
         mov.u64 %x, 0x100000001; red.global.add.u64 [%p], %x; atom.global.inc.u32 %y, [%p+8], 99;
         atom.add.u32 _, [%p+12], 3; ret; }",
    );
    let memory = Memory::new();
    let out = upload(&memory, &[0; 4]);
    let mut shape = shape(200, 64);
    shape.args = vec![u64_arg(out)];
    let options = Options { threads: Some(4), ..Options::checked() };
    launch(&text, &memory, &shape, &options).unwrap();
    assert_eq!(download(&memory, out, 4), [12800, 12800, 0, 38400]);
}

fn ordered(warps: u32, body: &str) -> Result<Vec<u32>, Error> {
    let text = per_thread(0, 1, &format!(".shared .align 8 .b32 s[8]; mov.u32 %d0, 0; {body}"));
    map(&text, 32 * warps, &[0], 32 * warps as usize)
}

/// Thread 0 writes data and raises a flag; thread 32 waits for the flag and reads the data.
#[test]
fn a_flag_orders_what_it_releases() {
    let message = |fence: &str, raise: &str, look: &str, learn: &str| {
        let body = format!(
            "setp.eq.u32 %p0, %i, 0; setp.eq.u32 %p1, %i, 32;
             @%p0 st.shared.u32 [s+4], 0; bar.sync 0;
             @%p0 st.shared.u32 [s], 77; @%p0 {fence} @%p0 {raise}
             @!%p1 bra END; SPIN: {look} setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN; {learn} ld.shared.u32 %d0, [s]; END:"
        );
        ordered(2, &body).map(|got| got[32])
    };
    let (none, fence) = ("bar.warp.sync 0xffffffff;", "fence.acq_rel.cta;");
    let none = none.replace("bar.warp.sync 0xffffffff;", "mov.u32 %r5, 0;");
    let (raise, released) = ("st.relaxed.cta.shared.u32 [s+4], 1;", "st.release.cta.shared.u32 [s+4], 1;");
    let (look, acquired) = ("ld.relaxed.cta.shared.u32 %r1, [s+4];", "ld.acquire.cta.shared.u32 %r1, [s+4];");
    let good = [
        (&*none, released, acquired, &*none),
        (fence, raise, look, fence),
        (&none, "red.release.cta.shared.add.u32 [s+4], 1;", look, fence),
        (
            "membar.cta;",
            "st.volatile.shared.u32 [s+4], 1;",
            "ld.volatile.shared.u32 %r1, [s+4];",
            "membar.gl;",
        ),
        (&none, released, "atom.acquire.cta.shared.or.b32 %r1, [s+4], 0;", &none),
    ];
    for (a, b, c, d) in good {
        assert_eq!(message(a, b, c, d).unwrap(), 77, "{a} {b} {c} {d}");
    }
    let bad = [
        (&*none, raise, acquired, &*none),
        (&none, released, look, &none),
        (&none, raise, look, &none),
        (fence, raise, look, &none),
        // Weak accesses to the flag race themselves.
        (fence, "st.shared.u32 [s+4], 1;", look, fence),
        (fence, raise, "ld.shared.u32 %r1, [s+4];", fence),
    ];
    for (a, b, c, d) in bad {
        let found = message(a, b, c, d);
        assert!(matches!(found, Err(Error::Race { .. })), "{a} {b} {c} {d}: {found:?}");
    }
}

#[test]
fn atomics_race_with_weak_accesses_alone() {
    let count = |between: &str, after: &str| {
        let body = format!(
            "setp.eq.u32 %p0, %i, 0; @%p0 st.shared.u32 [s], 0; {between} red.shared.add.u32 [s], 1; {after}
             ld.shared.u32 %d0, [s];"
        );
        ordered(3, &body).map(|got| got[95])
    };
    assert_eq!(count("bar.sync 0;", "bar.sync 0;").unwrap(), 96);
    for (between, after) in
        [("", "bar.sync 0;"), ("bar.sync 0;", ""), ("bar.warp.sync 0xffffffff;", "bar.sync 0;")]
    {
        let found = count(between, after);
        assert!(matches!(found, Err(Error::Race { .. })), "{between} {after}: {found:?}");
    }
    let found = ordered(1, "red.shared.add.u32 [s], 1;");
    assert!(matches!(found, Err(Error::UninitialisedMemory { .. })), "{found:?}");
}

/// A lock that one lane of each warp takes with compare-and-swap: accesses that the lock guards do not race. Without
/// acquire and release they do.
#[test]
fn a_lock_orders_its_critical_sections() {
    let guarded = |take: &str, give: &str| {
        let body = format!(
            "and.b32 %r0, %i, 31; setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %i, 0;
             @%p1 st.shared.v2.u32 [s], {{0, 0}}; bar.sync 0; @!%p0 bra END;
             TAKE: {take} setp.ne.u32 %p2, %r1, 0; @%p2 bra TAKE;
             ld.shared.u32 %r2, [s+4]; add.u32 %r2, %r2, 1; st.shared.u32 [s+4], %r2; {give}
             END: bar.sync 0; ld.shared.u32 %d0, [s+4];"
        );
        ordered(8, &body).map(|got| got[0])
    };
    let take = "atom.acquire.cta.shared.cas.b32 %r1, [s], 0, 1;";
    let give = "atom.release.cta.shared.exch.b32 %r3, [s], 0;";
    assert_eq!(guarded(take, give).unwrap(), 8);
    let fenced = guarded(
        "atom.shared.cas.b32 %r1, [s], 0, 1; membar.cta;",
        "membar.cta; atom.shared.exch.b32 %r3, [s], 0;",
    );
    assert_eq!(fenced.unwrap(), 8);
    for (take, give) in [
        (take.replace(".acquire", ".relaxed"), give.into()),
        (take.into(), give.replace(".release", ".relaxed")),
    ] {
        let found = guarded(&take, &give);
        assert!(matches!(found, Err(Error::Race { .. })), "{take} {give}: {found:?}");
    }
}

#[test]
fn atomics_are_refused_where_they_do_not_exist() {
    for op in [
        "red.global.exch.b32 [%p], %r0;",
        "atom.global.add.b32 %r0, [%p], %r1;",
        "atom.global.add.s64 %rd0, [%p], %rd1;",
        "atom.global.inc.s32 %r0, [%p], %r1;",
        "atom.global.add.f16x2 %r0, [%p], %r1;",
        "atom.global.add.noftz.f32 %f0, [%p], %f1;",
        "atom.global.cas.f32 %f0, [%p], %f1, %f2;",
        "atom.local.add.u32 %r0, [%p], %r1;",
        "red.global.add.v8.f32 [%p], {%f0, %f0, %f0, %f0, %f0, %f0, %f0, %f0};",
    ] {
        let found = common::load(&per_thread(0, 0, op));
        assert!(matches!(found, Err(Error::Unsupported { .. } | Error::Operand { .. })), "{op}: {found:?}");
    }
    let odd = map(&per_thread(0, 1, "red.global.add.u32 [%p+2], 1;"), 1, &[0], 1);
    assert!(matches!(odd, Err(Error::Misaligned { alignment: 4, .. })), "{odd:?}");
}
