//! Every copy atom against the formulas of the PTX ISA.

use girih_codegen::atom::*;
use girih_codegen::{CopyError, Error};
use girih_ptx::Word;
use girih_tensor::Space;

use super::{at, size};

/// Bit `bit` of a 16-bit element of an 8x8 matrix; matrices and their rows follow each other.
fn matrix_bit(matrix: i64, row: i64, column: i64, bit: i64) -> i64 {
    (8 * matrix + row) * 128 + column * 16 + bit
}

/// Bit `v` of a lane's registers that hold matrices as `ldmatrix` delivers them: register `r` holds elements
/// `2(lane % 4)` and the next of row `lane / 4` of matrix `r`; with `.trans` of column `lane / 4`.
fn fragment_bit(lane: i64, v: i64, transposed: bool) -> i64 {
    let (register, half, bit) = (v / 32, v / 16 % 2, v % 16);
    let (outer, inner) = (lane / 4, 2 * (lane % 4) + half);
    let (row, column) = if transposed { (inner, outer) } else { (outer, inner) };
    matrix_bit(register, row, column, bit)
}

/// The bit that a lane's bit `v` is, of source and destination.
fn formulas(atom: &CopyAtom, lane: i64, v: i64) -> [i64; 2] {
    let row = |matrices: u32| lane % (8 * i64::from(matrices)) * 128 + v;
    match atom.op {
        CopyOp::Ldmatrix { matrices, transposed } => [row(matrices), fragment_bit(lane, v, transposed)],
        CopyOp::Stmatrix { matrices, transposed } => [fragment_bit(lane, v, transposed), row(matrices)],
        CopyOp::Movmatrix => [fragment_bit(lane, v, false), fragment_bit(lane, v, true)],
        CopyOp::Shuffle { xor } => {
            // In each pair of lanes, the lane without the bit gets both first registers, and the other lane both second ones.
            let (xor, register, bit) = (i64::from(xor), v / 32, v % 32);
            let own = i64::from(lane & xor != 0);
            let giver = if register == own { lane } else { lane ^ xor };
            [64 * lane + v, 64 * giver + 32 * own + bit]
        }
        CopyOp::Universal
        | CopyOp::AutoVectorizing
        | CopyOp::CpAsync { .. }
        | CopyOp::RedAdd { .. }
        | CopyOp::Bulk(_)
        | CopyOp::BulkReduce { .. }
        | CopyOp::Tma { .. } => [v, v],
    }
}

#[test]
fn copies_move_the_bits_that_the_isa_says() {
    for atom in CopyAtom::all() {
        let threads = size(&atom.threads);
        let mut images = Vec::new();
        for (side, layout) in [&atom.src, &atom.dst].into_iter().enumerate() {
            let values = size(&layout.mode(1).unwrap());
            assert_eq!(size(&layout.mode(0).unwrap()), threads, "{atom}");
            let mut image = Vec::new();
            for (lane, v) in (0..threads).flat_map(|t| (0..values).map(move |v| (t, v))) {
                let bit = at(layout, lane, v);
                assert_eq!(bit, formulas(&atom, lane, v)[side], "{atom}: {layout} of {lane}, {v}");
                image.push(bit);
            }
            image.sort_unstable();
            images.push(image);
        }
        // Registers and the memory of one thread hold each bit once; in a warp, some lanes give a row's address that is not used.
        let (reference, other) = if atom.reference == atom.src { (0, 1) } else { (1, 0) };
        assert_eq!(atom.reference, [atom.src, atom.dst][reference], "{atom}");
        assert!(images[reference].iter().copied().eq(0..threads * i64::from(atom.bits())), "{atom}");
        images[other].dedup();
        assert_eq!(images[0], images[1], "{atom}");
    }
}

/// Registers are the reference, so that a tiled copy follows the fragments of an MMA.
#[test]
fn registers_are_the_reference() {
    for atom in CopyAtom::all() {
        let [from, to] = atom.spaces();
        if from == Some(Space::Rmem) {
            assert_eq!(atom.reference, atom.src, "{atom}");
        } else if to == Some(Space::Rmem) {
            assert_eq!(atom.reference, atom.dst, "{atom}");
        }
    }
}

#[test]
fn names_are_of_one_atom_each() {
    let all = CopyAtom::all();
    let mut names: Vec<String> = all.iter().map(CopyAtom::name).collect();
    for (atom, name) in all.iter().zip(&names) {
        assert_eq!(CopyAtom::find(name).as_ref(), Some(atom));
    }
    assert_eq!(CopyAtom::find("SM75_U32x3_LDSM_N"), None);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    for name in [
        "UniversalCopy<uint128_t>",
        "AutoVectorizingCopyWithAssumedAlignment<128>",
        "SM50_Shuffle_U32_2x2Trans_XOR4",
        "SM75_U32x2_LDSM_N",
        "SM75_U16x4_LDSM_T",
        "SM75_U32x1_MOVM_T",
        "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>",
        "SM80_CP_ASYNC_CACHEALWAYS_ZFILL<uint32_t>",
        "SM90_U32x4_STSM_N",
        "SM90_U16x2_STSM_T",
        "SM90_BULK_COPY_G2S",
        "SM90_BULK_COPY_S2G",
        "SM90_BULK_REDUCE_ADD_F16",
        "SM90_BULK_REDUCE_XOR_S64",
        "SM90_TMA_LOAD_5D",
        "SM90_TMA_LOAD_MULTICAST_2D",
        "SM90_TMA_STORE_3D",
        "SM90_TMA_REDUCE_ADD_1D",
        "SM90_TMA_LOAD_4D::PREFETCH",
    ] {
        assert!(CopyAtom::find(name).is_some(), "{name}");
    }
}

/// The table of instruction forms has the modifiers of every atom, no later than the atom's architecture.
#[test]
fn modifiers_are_those_of_a_form() {
    for atom in CopyAtom::all() {
        let Some(opcode) = atom.opcode() else {
            assert!(atom.modifiers().is_empty(), "{atom}");
            continue;
        };
        let modifiers = atom.modifiers();
        let form = girih_ptx::forms::forms(opcode).find(|form| {
            let mut rest = modifiers.iter().peekable();
            let fits = form.slots.iter().all(|slot| {
                let taken = rest.next_if(|&&modifier| slot.choices.accept(modifier)).is_some();
                taken || slot.optional
            });
            fits && rest.next().is_none()
        });
        let text: Vec<String> = modifiers.iter().map(ToString::to_string).collect();
        let form = form.unwrap_or_else(|| panic!("{atom}: {opcode}.{}", text.join(".")));
        // The table gives 70 for forms that are older than sm_70.
        assert!(form.sm <= atom.sm.max(70), "{atom}: {form}");
    }
}

/// Four matrices at (row 8(j%2), k 8(j/2)) of a 16 x 16 tile are the A fragment of m16n8k16.
#[test]
fn ldmatrix_delivers_the_fragment_of_a() {
    let dst = SM75_U32X4_LDSM_N.dst.upcast(16).unwrap();
    for (lane, value) in (0..32).flat_map(|t| (0..8).map(move |v| (t, v))) {
        let element = at(&dst, lane, value);
        let (matrix, row, column) = (element / 64, element / 8 % 8, element % 8);
        let (row, k) = (row + 8 * (matrix % 2), column + 8 * (matrix / 2));
        assert_eq!(at(&SM80_16X8X16_F32BF16BF16F32_TN.a, lane, value), row + 16 * k, "{lane}, {value}");
    }
}

#[test]
fn copies_are_found_by_their_bytes() {
    for bytes in 0..=32 {
        for (found, accepted) in
            [(universal_copy(bytes), &[1, 2, 4, 8, 16][..]), (cp_async(bytes), &[4, 8, 16])]
        {
            assert_eq!(found.is_some(), accepted.contains(&bytes), "{bytes}");
            assert!(found.is_none_or(|atom| atom.bits() == 8 * bytes), "{found:?}");
        }
    }
    // Only 16 bytes can bypass the L1 cache.
    for (bytes, word) in [(16, Word::Cg), (8, Word::Ca), (4, Word::Ca)] {
        assert!(cp_async(bytes).unwrap().modifiers().contains(&word.into()));
    }
}

#[test]
fn bulk_copies_are_of_whole_lines() {
    for bits in [-128, 0, 8, 64, 130] {
        for found in [CopyAtom::bulk(Transfer::Load, bits), CopyAtom::tma(Transfer::Store, 2, bits)] {
            assert!(matches!(found, Err(Error::Copy(CopyError::Bits { .. }))), "{bits}: {found:?}");
        }
    }
    for rank in [0, 6] {
        let found = CopyAtom::tma(Transfer::Load, rank, 128);
        assert!(matches!(found, Err(Error::Copy(CopyError::Rank { .. }))), "{rank}: {found:?}");
    }
    for transfer in [Transfer::Multicast, Transfer::Reduce(Reduction::Add)] {
        let found = CopyAtom::bulk(transfer, 128);
        assert!(matches!(found, Err(Error::Copy(CopyError::Transfer { .. }))), "{found:?}");
    }
    assert_eq!(CopyAtom::bulk(Transfer::Store, 4096).unwrap().bits(), 4096);
}
