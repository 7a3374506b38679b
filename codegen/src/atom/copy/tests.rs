//! Every copy atom against the formulas of the PTX ISA ("ldmatrix").

use super::super::{SM80_16X8X16_F32BF16BF16F32_TN, at, size};
use super::*;

const COPY_ATOMS: [&CopyAtom; 10] = [
    &UNIVERSAL_COPY_128,
    &UNIVERSAL_COPY_64,
    &UNIVERSAL_COPY_32,
    &UNIVERSAL_COPY_16,
    &UNIVERSAL_COPY_8,
    &SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16,
    &SM80_CP_ASYNC_CACHEALWAYS_ZFILL_8,
    &SM80_CP_ASYNC_CACHEALWAYS_ZFILL_4,
    &SM75_U32X4_LDSM_N,
    &SM75_U16X8_LDSM_T,
];

/// Row `i` of matrix `j` is the 128 bits at the address that lane `8j + i` gives; here they follow each other.
fn ldmatrix_bit(matrix: i64, row: i64, column: i64, bit: i64) -> i64 {
    (8 * matrix + row) * 128 + column * 16 + bit
}

#[test]
fn copies_move_the_bits_that_the_isa_says() {
    for atom in COPY_ATOMS {
        let threads = size(&atom.threads);
        for layout in [&atom.src, &atom.dst] {
            assert_eq!(size(&layout.mode(0).unwrap()), threads, "{}", atom.name);
            assert_eq!(size(&layout.mode(1).unwrap()), i64::from(atom.bits()), "{}", atom.name);
        }
        let transposed = atom.modifiers.contains(&Modifier::Word(Word::Trans));
        let mut read = Vec::new();
        for (lane, v) in (0..threads).flat_map(|t| (0..i64::from(atom.bits())).map(move |v| (t, v))) {
            let (register, half, bit) = (v / 32, v / 16 % 2, v % 16);
            let received = match (atom.kind, transposed) {
                (CopyKind::Ldmatrix, false) => ldmatrix_bit(register, lane / 4, 2 * (lane % 4) + half, bit),
                (CopyKind::Ldmatrix, true) => ldmatrix_bit(register, 2 * (lane % 4) + half, lane / 4, bit),
                _ => v,
            };
            assert_eq!(at(&atom.src, lane, v), 128 * lane + v, "{}: source of {lane}, {v}", atom.name);
            assert_eq!(at(&atom.dst, lane, v), received, "{}: {lane} receives {v}", atom.name);
            read.push(received);
        }
        read.sort_unstable();
        assert!(read.into_iter().eq(0..threads * i64::from(atom.bits())), "{}: every bit once", atom.name);
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
        assert!(cp_async(bytes).unwrap().modifiers.contains(&word.into()));
    }
}
