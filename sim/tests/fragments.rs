//! `ldmatrix` and `mma.sync`, exhaustively: every element of every fragment, from the ISA's formulas.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{self, map, module, per_thread};

/// ldmatrix: register j of lane t holds elements (row, column), (row, column) of matrix j. A shared tile holds at
/// 16-bit place p the value p, rows of 8 supplied by lanes in a scrambled order. The first register may hold the address.
#[test]
fn ldmatrix_gives_every_lane_its_elements() {
    for (count, name) in [(1, "x1"), (2, "x2"), (4, "x4")] {
        for (trans, address) in [(false, "%r2"), (false, "%d0"), (true, "%r2"), (true, "%d0")] {
            let regs = (0..count).map(|j| format!("%d{j}")).collect::<Vec<_>>().join(", ");
            let suffix = if trans { ".trans" } else { "" };
            // Row r of the tile is 16 r bytes in; lane l supplies row (5 l + 3) mod 32.
            let body = format!(
                ".shared .align 16 .b8 tile[512];
                 mov.u32 %r0, tile; mad.lo.u32 %r1, %i, 16, %r0;
                 st.shared.v4.b32 [%r1], {{%a0, %a1, %a2, %a3}};
                 bar.sync 0;
                 mad.lo.u32 %r2, %i, 5, 3; and.b32 %r2, %r2, 31; mad.lo.u32 %r2, %r2, 16, %r0;
                 mov.u32 {address}, %r2;
                 ldmatrix.sync.aligned.m8n8.{name}{suffix}.shared.b16 {{{regs}}}, [{address}];"
            );
            let input: Vec<u32> = (0..128).map(|w| (2 * w) | ((2 * w + 1) << 16)).collect();
            let got = map(&per_thread(4, count, &body), 32, &input, 32 * count).unwrap();
            for t in 0..32 {
                for j in 0..count {
                    for h in 0..2 {
                        let (row, column) =
                            if trans { (2 * (t % 4) + h, t / 4) } else { (t / 4, 2 * (t % 4) + h) };
                        let supplier = 8 * j + row;
                        let want = ((5 * supplier + 3) % 32 * 8 + column) as u32;
                        assert_eq!(
                            got[t * count + j] >> (16 * h) & 0xffff,
                            want,
                            "{name}{suffix} [{address}] {t} {j} {h}"
                        );
                    }
                }
            }
        }
    }
}

/// Element types of the test: bits of small integers.
fn encode(ty: &str, value: i32) -> u32 {
    match ty {
        "f16" => half::f16::from_f32(value as f32).to_bits().into(),
        "bf16" => half::bf16::from_f32(value as f32).to_bits().into(),
        _ => (value as f32).to_bits(),
    }
}

/// (row, k) of element `e` of A in lane `t`, and (k, column) of B: PTX ISA, "Matrix Fragments for mma.m16n8k...".
fn a_place(ty: &str, k: usize, t: usize, e: usize) -> (usize, usize) {
    let (group, thread) = (t >> 2, t & 3);
    if ty == "tf32" {
        return match k {
            4 => (if e == 0 { group } else { group + 8 }, thread),
            _ => (if e == 0 || e == 2 { group } else { group + 8 }, if e < 2 { thread } else { thread + 4 }),
        };
    }
    let row = if k == 8 {
        if e < 2 { group } else { group + 8 }
    } else if e < 2 || (4..6).contains(&e) {
        group
    } else {
        group + 8
    };
    (row, thread * 2 + (e & 1) + if e >= 4 { 8 } else { 0 })
}

fn b_place(ty: &str, t: usize, e: usize) -> (usize, usize) {
    let (group, thread) = (t >> 2, t & 3);
    if ty == "tf32" {
        return (if e == 0 { thread } else { thread + 4 }, group);
    }
    (thread * 2 + (e & 1) + if e >= 2 { 8 } else { 0 }, group)
}

fn c_place(t: usize, e: usize) -> (usize, usize) {
    (if e < 2 { t >> 2 } else { (t >> 2) + 8 }, (t & 3) * 2 + (e & 1))
}

/// Words of all lanes from `(lane, element) -> bits`, elements of `per` to a word.
fn fragment(words: usize, per: usize, bits: impl Fn(usize, usize) -> u32) -> Vec<Vec<u32>> {
    let word = |t, w| (0..per).fold(0, |word, h| word | bits(t, w * per + h) << (16 * h));
    (0..32).map(|t| (0..words).map(|w| word(t, w)).collect()).collect()
}

fn check_mma(
    k: usize,
    ty: &str,
    c_ty: &str,
    a: &dyn Fn(usize, usize) -> i32,
    b: &dyn Fn(usize, usize) -> i32,
) {
    let per = if ty == "tf32" { 1 } else { 2 };
    let (a_words, b_words) = (16 * k / 32 / per, 8 * k / 32 / per);
    let half = |ty: &str| if ty == "f16" { 2 } else { 1 };
    let c_words = 4 / half(c_ty);
    let c = |row: usize, column: usize| (row * 8 + column) as i32 % 13 - 6;
    let af = fragment(a_words, per, |t, e| {
        let (row, k_) = a_place(ty, k, t, e);
        encode(ty, a(row, k_))
    });
    let bf = fragment(b_words, per, |t, e| {
        let (k_, column) = b_place(ty, t, e);
        encode(ty, b(k_, column))
    });
    let cf = fragment(c_words, half(c_ty), |t, e| {
        let (row, column) = c_place(t, e);
        encode(c_ty, c(row, column))
    });
    let input: Vec<u32> = (0..32).flat_map(|t| [&af[t][..], &bf[t], &cf[t]].concat()).collect();
    let regs = |name: &str, from: usize, count: usize| {
        format!("{{{}}}", (from..from + count).map(|i| format!("%{name}{i}")).collect::<Vec<_>>().join(", "))
    };
    let body = format!(
        "mma.sync.aligned.m16n8k{k}.row.col.{c_ty}.{ty}.{ty}.{c_ty} {}, {}, {}, {};",
        regs("d", 0, c_words),
        regs("a", 0, a_words),
        regs("a", a_words, b_words),
        regs("a", a_words + b_words, c_words)
    );
    let text = per_thread(a_words + b_words + c_words, c_words, &body);
    let got = map(&text, 32, &input, 32 * c_words).unwrap();
    for t in 0..32 {
        for e in 0..4 {
            let (row, column) = c_place(t, e);
            let want = c(row, column) + (0..k).map(|l| a(row, l) * b(l, column)).sum::<i32>();
            let word = got[t * c_words + e / half(c_ty)];
            let bits = if c_ty == "f16" { word >> (16 * (e & 1)) & 0xffff } else { word };
            assert_eq!(bits, encode(c_ty, want), "m16n8k{k} {ty} {c_ty} lane {t} element {e}");
        }
    }
}

/// A one in a single place of A picks out a row of B, which has different values everywhere; each place in turn, so
/// no two elements can be exchanged unseen. Then small integers everywhere.
#[test]
fn mma_multiplies_matrices_in_every_shape_and_type() {
    let shapes = [("f16", 8), ("f16", 16), ("bf16", 8), ("bf16", 16), ("tf32", 4), ("tf32", 8)];
    for (ty, k) in shapes {
        let b = |l: usize, column: usize| (l * 8 + column) as i32;
        for place in 0..16 * k {
            check_mma(k, ty, "f32", &|row, l| i32::from(row * k + l == place), &b);
        }
        check_mma(k, ty, "f32", &|row, l| (row * 5 + l * 3) as i32 % 11 - 5, &|l, j| {
            (l * 7 + j) as i32 % 9 - 4
        });
    }
    for k in [8, 16] {
        let (a, b) = (|row, l| (row + 2 * l) as i32 % 5 - 2, |l, j| (3 * l + j) as i32 % 5 - 2);
        check_mma(k, "f16", "f16", &a, &b);
    }
}

#[test]
fn mma_carries_nan_and_infinity_to_their_elements_alone() {
    // A is zero but for an infinity at (0, 0) and a NaN at (1, 0); B is one everywhere.
    let body = "mov.u32 %r0, 0; setp.eq.u32 %p0, %i, 0; setp.eq.u32 %p1, %i, 4;
        selp.b32 %r1, 0x7f80, 0, %p0; @%p1 mov.u32 %r1, 0x7fc0; mov.u32 %r2, 0x3f803f80; mov.f32 %f0, 0f00000000;
        mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r0, %r0, %r0}, {%r2, %r2},
            {%f0, %f0, %f0, %f0};
        mov.b32 %d0, %f1; mov.b32 %d1, %f2; mov.b32 %d2, %f3; mov.b32 %d3, %f4;";
    let got = map(&per_thread(0, 4, body), 32, &[0], 128).unwrap();
    for t in 0..32 {
        let want = match t / 4 {
            0 => 0x7f80_0000,
            1 => 0x7fff_ffff,
            _ => 0,
        };
        assert_eq!(got[4 * t..4 * t + 4], [want, want, 0, 0], "lane {t}");
    }
}

/// What the instructions need of a warp and of an address.
#[test]
fn matrix_instructions_refuse_part_of_a_warp_and_bad_rows() {
    use girih_sim::Error;
    let load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%r0];";
    let tile = ".shared .align 16 .b8 tile[128]; mov.u32 %r0, tile;";
    let fill = "mad.lo.u32 %r1, %i, 4, %r0; st.shared.b32 [%r1], %i; bar.sync 0;";
    let run = |body: String| map(&per_thread(0, 1, &body), 32, &[0], 32);
    // Lanes 8 to 31 supply no row of an x1, whatever their address; the row of lane 0 serves all.
    assert!(run(format!("{tile}{fill} setp.lt.u32 %p0, %i, 8; @!%p0 mov.u32 %r0, 3; {load}")).is_ok());
    let guarded = run(format!("{tile}{fill} mov.u32 %d0, 0; setp.lt.u32 %p0, %i, 8; @%p0 {load}"));
    assert!(matches!(guarded, Err(Error::Divergent { active: 0xff, expected: u32::MAX, .. })), "{guarded:?}");
    let odd = run(format!("{tile}{fill} add.u32 %r0, %r0, 8; {load}"));
    assert!(matches!(odd, Err(Error::Misaligned { alignment: 16, .. })), "{odd:?}");
    let outside = run(format!("{tile}{fill} mad.lo.u32 %r0, %i, 32, %r0; {load}"));
    match outside {
        Err(Error::OutOfBounds { at, bytes: 16, .. }) => assert_eq!(at.thread, [4, 0, 0]),
        other => panic!("{other:?}"),
    }
    let uninitialised = run(format!("{tile} {load}"));
    assert!(matches!(uninitialised, Err(Error::UninitialisedMemory { .. })), "{uninitialised:?}");
}

#[test]
fn unknown_shapes_are_refused_at_load() {
    let text = module(
        ".visible .entry k() {\n .reg .b32 %r<8>;\n mma.sync.aligned.m16n8k32.row.col.s32.s4.s8.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r0, %r1, %r2, %r3};\n }",
    );
    match common::load(&text) {
        Err(girih_sim::Error::Unsupported { place, .. }) => {
            assert_eq!(place.line, 6);
            assert!(place.instruction.starts_with("mma.sync.aligned.m16n8k32"));
        }
        other => panic!("{other:?}"),
    }
}

/// stmatrix puts register j of lane t where ldmatrix would take it from; rows in a scrambled order.
#[test]
fn stmatrix_puts_every_element_in_its_place() {
    for (count, name) in [(1usize, "x1"), (2, "x2"), (4, "x4")] {
        for (trans, space) in [(false, ".shared"), (true, ".shared"), (false, "")] {
            let regs = (0..count).map(|j| format!("%a{j}")).collect::<Vec<_>>().join(", ");
            let suffix = if trans { ".trans" } else { "" };
            let generic = space.is_empty();
            let address = if generic { "cvt.u64.u32 %rd0, %r2; cvta.shared.u64 %rd0, %rd0;" } else { "" };
            let place = if generic { "%rd0" } else { "%r2" };
            let body = format!(
                ".shared .align 16 .b8 tile[512];
                 mov.u32 %r0, tile; mad.lo.u32 %r1, %i, 16, %r0; mov.u32 %r3, 0xffffffff;
                 st.shared.v4.b32 [%r1], {{%r3, %r3, %r3, %r3}}; bar.sync 0;
                 mad.lo.u32 %r2, %i, 5, 3; and.b32 %r2, %r2, 31; mad.lo.u32 %r2, %r2, 16, %r0; {address}
                 stmatrix.sync.aligned.m8n8.{name}{suffix}{space}.b16 [{place}], {{{regs}}};
                 bar.sync 0; ld.shared.v4.b32 {{%d0, %d1, %d2, %d3}}, [%r1];"
            );
            let element = |t: usize, j: usize, h: usize| (t * 8 + j * 2 + h) as u32;
            let input: Vec<u32> = (0..32)
                .flat_map(|t| (0..4).map(move |j| element(t, j, 0) | element(t, j, 1) << 16))
                .collect();
            let got = map(&per_thread(4, 4, &body), 32, &input, 128).unwrap();
            let mut want = vec![0xffffu32; 256];
            for (t, j, h) in (0..32).flat_map(|t| (0..count).flat_map(move |j| [(t, j, 0), (t, j, 1)])) {
                let (row, column) = if trans { (2 * (t % 4) + h, t / 4) } else { (t / 4, 2 * (t % 4) + h) };
                want[(5 * (8 * j + row) + 3) % 32 * 8 + column] = element(t, j, h);
            }
            let words: Vec<u32> = want.chunks(2).map(|pair| pair[0] | pair[1] << 16).collect();
            assert_eq!(got, words, "{name}{suffix}{space}");
        }
    }
}

#[test]
fn movmatrix_transposes() {
    let input: Vec<u32> = (0..32).map(|t| (2 * t) | ((2 * t + 1) << 16)).collect();
    let body = "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;";
    let got = map(&per_thread(1, 1, body), 32, &input, 32).unwrap();
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let at = |row: usize, column: usize| (4 * row + column / 2, 16 * (column % 2));
        let (lane, shift) = at(row, column);
        assert_eq!(got[lane] >> shift & 0xffff, (8 * column + row) as u32);
    }
}
