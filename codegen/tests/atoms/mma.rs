//! Every MMA atom against the formulas of the PTX ISA ("Matrix Fragments for mma.m8n8k4 with .f16" and its like,
//! "Register Fragments and Shared Memory Matrix Layouts").

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::atom::*;
use girih_codegen::constant;
use girih_layout::Lay;
use girih_ptx::{Inst, Operand, Span};
use girih_tensor::DType;

use super::{at, size};

/// (row, column) of a lane's element `i` of a fragment, as the ISA writes it: A by (m, k), B by (n, k), C by (m, n).
type Formula = fn(lane: i64, i: i64) -> (i64, i64);

/// `%laneid >> 2` and `%laneid % 4`.
fn group(lane: i64) -> i64 {
    lane >> 2
}
fn in_group(lane: i64) -> i64 {
    lane % 4
}
/// 8 if `below` is false: "groupID for ai where ..., groupID + 8 otherwise".
fn or8(below: bool) -> i64 {
    if below { 0 } else { 8 }
}

fn a_of_a_warp(m: i64, k: i64, bits: u32) -> Formula {
    match (m, k, bits) {
        (16, 8, 16) => |t, i| (group(t) + or8(i < 2), in_group(t) * 2 + (i & 1)),
        (16, 16, 16) => {
            |t, i| (group(t) + or8(i < 2 || (4..6).contains(&i)), in_group(t) * 2 + (i & 1) + or8(i < 4))
        }
        (16, 4, 32 | 64) => |t, i| (group(t) + or8(i == 0), in_group(t)),
        (16, 8, 32 | 64) => {
            |t, i| (group(t) + or8(i == 0 || i == 2), in_group(t) + if i < 2 { 0 } else { 4 })
        }
        (16, 16, 64) => |t, i| (group(t) + or8(i % 2 == 0), in_group(t) + 4 * (i / 2)),
        (8, 4, 64) => |t, _| (group(t), in_group(t)),
        (8, 16, 8) => |t, i| (group(t), in_group(t) * 4 + i),
        (16, 16, 8) => |t, i| (group(t) + or8(i < 4), in_group(t) * 4 + (i & 3)),
        (16, 32, 8) => |t, i| {
            let row = group(t) + or8(i < 4 || (8..12).contains(&i));
            (row, in_group(t) * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
        },
        (8, 32, 4) => |t, i| (group(t), in_group(t) * 8 + i),
        (16, 32, 4) => |t, i| (group(t) + or8(i < 8), in_group(t) * 8 + (i & 7)),
        (16, 64, 4) => |t, i| {
            let row = group(t) + or8(i < 8 || (16..24).contains(&i));
            (row, in_group(t) * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
        },
        (8, 128, 1) => |t, i| (group(t), in_group(t) * 32 + i),
        (16, 128, 1) => |t, i| (group(t) + or8(i < 32), in_group(t) * 32 + (i & 31)),
        (16, 256, 1) => |t, i| {
            let row = group(t) + or8(i < 32 || (64..96).contains(&i));
            (row, in_group(t) * 32 + (i & 31) + if i < 64 { 0 } else { 128 })
        },
        other => panic!("write the formula of A of {other:?} here"),
    }
}

fn b_of_a_warp(k: i64, bits: u32) -> Formula {
    match (k, bits) {
        (8, 16) => |t, i| (group(t), in_group(t) * 2 + i),
        (16, 16) => |t, i| (group(t), in_group(t) * 2 + (i & 1) + or8(i < 2)),
        (4, 32 | 64) => |t, _| (group(t), in_group(t)),
        (8, 32) => |t, i| (group(t), if i == 0 { in_group(t) } else { in_group(t) + 4 }),
        (8 | 16, 64) => |t, i| (group(t), in_group(t) + 4 * i),
        (16, 8) => |t, i| (group(t), in_group(t) * 4 + i),
        (32, 8) => |t, i| (group(t), in_group(t) * 4 + (i & 3) + if i < 4 { 0 } else { 16 }),
        (32, 4) => |t, i| (group(t), in_group(t) * 8 + i),
        (64, 4) => |t, i| (group(t), in_group(t) * 8 + (i & 7) + if i < 8 { 0 } else { 32 }),
        (128, 1) => |t, i| (group(t), in_group(t) * 32 + i),
        (256, 1) => |t, i| (group(t), in_group(t) * 32 + (i & 31) + if i < 32 { 0 } else { 128 }),
        other => panic!("write the formula of B of {other:?} here"),
    }
}

fn c_of_a_warp(m: i64) -> Formula {
    match m {
        8 => |t, i| (group(t), in_group(t) * 2 + i),
        16 => |t, i| (group(t) + or8(i < 2), in_group(t) * 2 + (i & 1)),
        other => panic!("write the formula of C of m{other} here"),
    }
}

/// 4 for the lanes of a quad pair's second half.
fn upper(lane: i64) -> i64 {
    if lane < 16 { 0 } else { 4 }
}

fn quad_pair(atom: &MmaAtom) -> [Formula; 3] {
    let along_k: Formula = |t, i| ((t % 4) + upper(t), i);
    let across: Formula = |t, i| (i + upper(t), t % 4);
    let operand = |major| if major == Major::K { along_k } else { across };
    let sum: Formula = if atom.c_type == DType::F16 {
        |t, i| ((t % 4) + upper(t), i)
    } else {
        |t, i| ((t & 1) + (i & 2) + upper(t), (i & 4) + (t & 2) + (i & 1))
    };
    [operand(atom.majors[0]), operand(atom.majors[1]), sum]
}

/// A of a warpgroup in registers, M = 64: each warp has 16 rows of A.
fn a_of_a_warpgroup(bits: u32) -> Formula {
    match bits {
        16 => |t, i| (t / 32 * 16 + group(t % 32) + 8 * (i / 2 % 2), in_group(t) * 2 + i % 2 + 8 * (i / 4)),
        32 => |t, i| (t / 32 * 16 + group(t % 32) + 8 * (i % 2), in_group(t) + 4 * (i / 2)),
        8 => |t, i| (t / 32 * 16 + group(t % 32) + 8 * (i / 4 % 2), in_group(t) * 4 + i % 4 + 16 * (i / 8)),
        1 => |t, i| {
            (t / 32 * 16 + group(t % 32) + 8 * (i / 32 % 2), in_group(t) * 32 + i % 32 + 128 * (i / 64))
        },
        other => panic!("write the formula of a warpgroup's A of {other} bits here"),
    }
}

/// An operand in shared memory, which belongs to every thread as a whole, by columns.
fn shared(rows: i64) -> Box<dyn Fn(i64, i64) -> (i64, i64)> {
    Box::new(move |_, i| (i % rows, i / rows))
}

/// The three fragments, and whether each element of A, B has one owner.
type Fragments = ([Box<dyn Fn(i64, i64) -> (i64, i64)>; 3], [bool; 2]);

fn formulas(atom: &MmaAtom) -> Fragments {
    let boxed = |[a, b, c]: [Formula; 3]| [Box::new(a) as _, Box::new(b) as _, Box::new(c) as _];
    let ([m, n, k], bits) = (atom.shape_mnk, atom.a_type.bits());
    match atom.kind {
        MmaKind::Fma => (boxed([|_, _| (0, 0); 3]), [true; 2]),
        MmaKind::Dot => (boxed([|_, i| (0, i), |_, i| (0, i), |_, _| (0, 0)]), [true; 2]),
        MmaKind::Mma if atom.a_type == DType::F16 && atom.shape_mnk == [8, 8, 4] => {
            (boxed(quad_pair(atom)), [true; 2])
        }
        MmaKind::Mma => (boxed([a_of_a_warp(m, k, bits), b_of_a_warp(k, bits), c_of_a_warp(m)]), [true; 2]),
        MmaKind::WgmmaSs | MmaKind::WgmmaRs => {
            let in_memory = atom.kind == MmaKind::WgmmaSs;
            let a = if in_memory { shared(m) } else { Box::new(a_of_a_warpgroup(bits)) };
            let c: Formula =
                |t, i| (t / 32 * 16 + group(t % 32) + 8 * (i / 2 % 2), 8 * (i / 4) + in_group(t) * 2 + i % 2);
            ([a, shared(n), Box::new(c)], [!in_memory, false])
        }
    }
}

/// The lanes that take part, in the atom's order.
fn lanes(atom: &MmaAtom) -> Vec<i64> {
    match (atom.kind, atom.shape_mnk, atom.a_type) {
        (MmaKind::Fma | MmaKind::Dot, ..) => vec![0],
        // The first quad pair: threads 0-3 and 16-19.
        (MmaKind::Mma, [8, 8, 4], DType::F16) => (0..4).chain(16..20).collect(),
        (MmaKind::Mma, ..) => (0..32).collect(),
        _ => (0..128).collect(),
    }
}

/// Compares all threads and values, and returns how often each element is held.
fn compare(
    layout: &Lay,
    lanes: &[i64],
    [rows, columns]: [i64; 2],
    formula: &dyn Fn(i64, i64) -> (i64, i64),
) -> Vec<usize> {
    let (threads, values) = (size(&layout.mode(0).unwrap()), size(&layout.mode(1).unwrap()));
    assert_eq!(threads, lanes.len() as i64, "{layout}");
    let mut owners = vec![0; (rows * columns) as usize];
    // Where every thread holds all elements, it is enough to check the first thread and the last one.
    let shared =
        layout.mode(0).unwrap().flat_leaf(0).1 == girih_layout::Stride::Int(girih_layout::Int::fixed(0));
    let compared: Vec<i64> =
        if shared && threads > 1 { vec![0, threads - 1] } else { (0..threads).collect() };
    for (t, i) in compared.into_iter().flat_map(|t| (0..values).map(move |i| (t, i))) {
        let (row, column) = formula(lanes[t as usize], i);
        assert!((0..rows).contains(&row) && (0..columns).contains(&column), "{layout}: {t}, {i}");
        let index = at(layout, t, i);
        assert_eq!(index, row + column * rows, "{layout} of thread {t}, value {i}");
        owners[index as usize] += 1;
    }
    owners
}

#[test]
fn fragments_are_those_of_the_isa() {
    // Many atoms share a layout and a formula.
    let mut seen = BTreeSet::new();
    for atom in MmaAtom::all() {
        let [m, n, k] = atom.shape_mnk;
        let (formulas, exclusive) = formulas(&atom);
        let lanes = lanes(&atom);
        let found: Vec<i64> = (0..lanes.len() as i64).map(|t| atom.threads.at(t).unwrap()).collect();
        assert_eq!(found, lanes, "{atom}");
        let tiles = [(&atom.a, [m, k]), (&atom.b, [n, k]), (&atom.c, [m, n])];
        for (which, ((layout, tile), formula)) in tiles.into_iter().zip(formulas).enumerate() {
            if !seen.insert((which, format!("{layout} {:?} {} {tile:?}", atom.kind, atom.a_type.bits()))) {
                continue;
            }
            let owners = compare(layout, &lanes, tile, &formula);
            let times = if which == 2 || exclusive[which] { 1 } else { 2 };
            assert!(owners.iter().all(|&count| count == times), "{atom}: {layout} covers {tile:?}");
        }
    }
    assert!(seen.len() > 80);
}

/// The table of forms has each atom's instruction, at the atom's architecture and no earlier one.
#[test]
fn modifiers_are_forms_of_ptx() {
    for atom in MmaAtom::all() {
        let inst = Inst {
            guard: None,
            opcode: atom.opcode(),
            modifiers: atom.modifiers(),
            operands: operands(&atom),
            span: Span::default(),
        };
        let form = girih_ptx::forms::check(&inst).unwrap_or_else(|e| panic!("{atom}: {e}"));
        // The table begins at sm_70.
        assert_eq!(form.needs().sm, atom.sm.max(70), "{atom}");
        assert_eq!(form.needs().specific, atom.kind.is_wgmma(), "{atom}");
    }
}

/// As many registers as the fragments have.
fn operands(atom: &MmaAtom) -> Vec<Operand> {
    let registers = |layout: &Lay, dtype: DType, prefix: &str| {
        let values = size(&layout.mode(1).unwrap());
        let count = (values * i64::from(dtype.bits().min(32)) + 31) / 32;
        let names: Vec<_> = (0..count).map(|i| Operand::Name(format!("{prefix}{i}").into())).collect();
        if matches!(atom.kind, MmaKind::Fma | MmaKind::Dot) {
            names[0].clone()
        } else {
            Operand::Vector(names)
        }
    };
    let c = registers(&atom.c, atom.c_type, "c");
    let b = registers(&atom.b, atom.b_type, "b");
    let a = registers(&atom.a, atom.a_type, "a");
    if !atom.kind.is_wgmma() {
        return vec![c.clone(), a, b, c];
    }
    let name = |name: &str| Operand::Name(name.into());
    let a = if atom.kind == MmaKind::WgmmaSs { name("descA") } else { a };
    let mut out = vec![c, a, name("descB"), name("p")];
    if atom.c_type != DType::S32 {
        out.extend([Operand::Int(1), Operand::Int(1)]);
    }
    if atom.a_type.bits() == 16 {
        out.extend(vec![Operand::Int(0); if atom.kind == MmaKind::WgmmaSs { 2 } else { 1 }]);
    }
    out
}

/// Checks how many atoms there are of each architecture and kind, and that no name occurs twice.
#[test]
fn names_are_unique_and_found() {
    let mut counts = BTreeMap::new();
    let mut names = BTreeSet::new();
    for (i, atom) in MmaAtom::all().enumerate() {
        *counts.entry((atom.arch, format!("{:?}", atom.kind))).or_insert(0) += 1;
        assert!(names.insert(atom.name()), "{atom} twice");
        // Every 37th atom and the named families are looked up, since finding an atom walks the list.
        if i % 37 == 0 {
            assert_eq!(MmaAtom::find(&atom.name()), Some(atom), "{atom}");
            assert_eq!(MmaAtom::find(&atom.name().to_uppercase()), Some(atom), "{atom}");
        }
    }
    let counts: Vec<String> = counts.iter().map(|((arch, kind), n)| format!("{kind} {arch}: {n}")).collect();
    // sm_80 has 8 atoms of floats and f64, 6 shapes of integers in 4 pairs of types by 2 products, and 3 shapes of bits by 2 products.
    // `wgmma` has 32 widths for f16 by 2 types of sums and for bf16, in 4 orders or 2, for tf32, and for 8-bit floats in 4 pairs by 2
    // types of sums; it has 18 widths for integers in 4 pairs by 2 products, and for bits.
    assert_eq!(
        counts,
        [
            "Fma 0: 5",
            "Dot 61: 2",
            "Mma 70: 8",
            "Mma 75: 3",
            "Mma 80: 63",
            "Mma 89: 8",
            "Mma 90: 3",
            &format!("WgmmaRs 90: {}", 32 * (3 * 2 + 1 + 8) + 18 * 9),
            &format!("WgmmaSs 90: {}", 32 * (3 * 4 + 1 + 8) + 18 * 9),
        ]
    );
}

/// Names that CuTe's headers have, each with its instruction.
#[test]
fn names_are_cutes() {
    let text = |name: &str| {
        let atom = MmaAtom::find(name).unwrap_or_else(|| panic!("{name}"));
        let modifiers: String = atom.modifiers().iter().map(|m| format!(".{m}")).collect();
        format!("{}{modifiers}", atom.opcode())
    };
    for (name, expected) in [
        ("SM61_DP4A", "dp4a.s32.s32"),
        ("SM61_DP2A", "dp2a.lo.s32.s32"),
        ("SM70_8x8x4_F16F16F16F16_TN", "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"),
        ("SM70_8x8x4_F32F16F16F32_NT", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"),
        ("SM70_8x8x4_F32F16F16F32_NN", "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32"),
        ("SM70_8x8x4_F32F16F16F32_TT", "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32"),
        ("SM75_8x8x16_S32S8S8S32_TN", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"),
        ("SM80_16x8x4_F32TF32TF32F32_TN", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"),
        ("SM80_8x8x4_F64F64F64F64_TN", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
        ("SM80_16x8x32_S32U8S8S32_TN_SATURATE", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32"),
        ("SM80_8x8x32_S32S4U4S32_TN", "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32"),
        ("SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc"),
        ("SM80_8x8x128_S32U1U1S32_TN_ANDPOPC", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc"),
        ("SM89_16x8x32_F16E4M3E5M2F16_TN", "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16"),
        ("SM90::MMA_16x8x4_F64F64F64F64_TN", "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64"),
        ("SM90_16x8x16_F64F64F64F64_TN", "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64"),
        ("SM90_64x64x16_F32F16F16_SS", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"),
        ("SM90::GMMA::MMA_64x8x8_F32TF32TF32_RS_TN", "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32"),
        (
            "SM90::GMMA::MMA_64x96x32_S32U8S8_SS_TN_SATURATE",
            "wgmma.mma_async.sync.aligned.m64n96k32.satfinite.s32.u8.s8",
        ),
        (
            "SM90::GMMA::MMA_64x256x32_F16E5M2E4M3_RS_TN",
            "wgmma.mma_async.sync.aligned.m64n256k32.f16.e5m2.e4m3",
        ),
    ] {
        assert_eq!(text(name), expected, "{name}");
    }
    for name in ["", "SM80", "SM80_16x8x8_F32F64F64F32_TN", "SM90_64x40x32_S32S8S8_SS_TN"] {
        assert_eq!(MmaAtom::find(name), None, "{name}");
    }
}

#[test]
fn wgmma_says_what_it_takes() {
    use DType::{B1, Bf16, F16, F32, S8, S32, Tf32};
    use MmaKind::{Mma, WgmmaRs, WgmmaSs};
    let (k, mn) = (Major::K, Major::Mn);
    for (kind, n, types, majors, product, accepted) in [
        (
            Mma,
            64,
            [F32, F16, F16],
            [k, k],
            Product::Multiply,
            "wgmma of kind Mma: WgmmaSs and WgmmaRs are accepted",
        ),
        (
            WgmmaSs,
            64,
            [F32, F16, Bf16],
            [k, k],
            Product::Multiply,
            "wgmma of C, A, B of [F32, F16, BF16]: f32 or f16 from f16",
        ),
        (
            WgmmaSs,
            12,
            [F32, F16, F16],
            [k, k],
            Product::Multiply,
            "wgmma with N = 12: multiples of 8 to 256 are accepted",
        ),
        (WgmmaSs, 264, [F32, F16, F16], [k, k], Product::Multiply, "multiples of 8 to 256"),
        (WgmmaSs, 40, [S32, S8, S8], [k, k], Product::Multiply, "8, 16, 24, 32, then multiples of 16 to 256"),
        (
            WgmmaRs,
            64,
            [F32, F16, F16],
            [mn, k],
            Product::Multiply,
            "wgmma with contiguous modes [MN, K] of A, B: K is accepted",
        ),
        (WgmmaSs, 64, [F32, Tf32, Tf32], [k, mn], Product::Multiply, "K is accepted"),
        (WgmmaSs, 64, [F32, F16, F16], [k, k], Product::Saturate, "wgmma by Saturate: Multiply is accepted"),
        (WgmmaSs, 64, [S32, B1, B1], [k, k], Product::Xor, "wgmma by Xor: And is accepted"),
    ] {
        let error = MmaAtom::wgmma(kind, n, types, majors, product).unwrap_err().to_string();
        assert!(error.contains(accepted), "{error}");
        assert_eq!(constant::wgmma(kind, n, types, majors, product).unwrap_err().to_string(), error);
    }
    for atom in MmaAtom::all().filter(|atom| atom.kind.is_wgmma()) {
        let types = [atom.c_type, atom.a_type, atom.b_type];
        let again = MmaAtom::wgmma(atom.kind, atom.shape_mnk[1], types, atom.majors, atom.product);
        assert_eq!(again, Ok(atom));
    }
}
