//! The pass that copies A and B to other pitches, on the simulator with every check on.

use expect_test::expect_file;
use girih_codegen::Error;
use girih_codegen::gemm::{Batch, RepitchConfig, Rows, repitch};
use girih_sim::Memory;

use crate::simulator::{blocks, by_name, bytes, checked, download, ones, upload};

/// Matrices that are copied, in bytes: rows and their bytes, the pitch, the first byte's place in its array, and the new pitch; how many
/// matrices there are, and the bytes from one to the next.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    extents: [i64; 2],
    pitch: i64,
    first: i64,
    new_pitch: i64,
    batches: i64,
    stride: i64,
}

/// The byte that stands `at` bytes after the first one of matrix `operand`.
fn byte(operand: usize, at: i64) -> u8 {
    ((at * 31 + at / 256 * 7 + operand as i64 * 101) % 251) as u8
}

/// Runs the pass. Every byte of a row of the copies is the matrix's, and nothing before or after the matrix is read.
fn verify(config: &RepitchConfig, matrices: [Matrix; 2]) {
    let (pass, memory) = (repitch(config).unwrap(), Memory::new());
    let mut places = Vec::new();
    for (operand, matrix) in matrices.iter().enumerate() {
        let Matrix { extents: [rows, bytes], pitch, first, new_pitch, batches, stride } = *matrix;
        // The array ends with the last byte, so that the simulator reports a read beyond it.
        let len = (batches - 1) * stride + (rows - 1) * pitch + bytes;
        let mut array = vec![0xee; first as usize];
        array.extend((0..len).map(|at| byte(operand, at)));
        let from = upload(&memory, &array) + first as u64;
        places.push([from, ones(&memory, (batches * rows * new_pitch) as usize)]);
    }
    let rows =
        matrices.map(|Matrix { extents: [rows, bytes], pitch, new_pitch, batches, stride, .. }| Rows {
            rows,
            bytes,
            pitch,
            new_pitch,
            batches,
            stride,
        });
    let copied = rows.iter().zip(config.copied).filter(|(_, is_copied)| *is_copied);
    let all: i64 = copied.map(|(rows, _)| i64::from(rows.blocks().unwrap())).sum();
    let [[a, a_to], [b, b_to]] = [places[0], places[1]];
    let named = [("a", a), ("b", b), ("a_to", a_to), ("b_to", b_to)];
    let args = bytes(&pass.params, &rows, |slot| by_name(slot, &named));
    let launch = blocks(all, pass.kernel.threads(), pass.kernel.shared_bytes(), args);
    checked(pass.kernel.module(), &memory, &launch)
        .unwrap_or_else(|e| panic!("{config:?} {matrices:?}: {e}"));
    for (operand, matrix) in matrices.iter().enumerate() {
        let Matrix { extents: [rows, bytes], pitch, new_pitch, batches, stride, .. } = *matrix;
        let found = download(&memory, places[operand][1], (batches * rows * new_pitch) as usize);
        for (i, found) in (0..).zip(found) {
            let (row, at) = (i / new_pitch, i % new_pitch);
            let (l, row) = (row / rows, row % rows);
            let expected = match config.copied[operand] {
                false => 0xff,
                true if at < bytes => byte(operand, l * stride + row * pitch + at),
                // What lies after a row is not said, up to the next vector.
                true if at / 16 * 16 < bytes => found,
                true => 0xff,
            };
            assert_eq!(found, expected, "{config:?} {matrices:?}: byte {at} of row {row} of {operand}");
        }
    }
}

fn config(copied: [bool; 2]) -> RepitchConfig {
    RepitchConfig { name: "repitch", copied, batch: Batch::Single, programmatic: false }
}

/// Any place of the first byte among 16, and pitches and rows that end anywhere among 16.
#[test]
fn copies_are_exact() {
    for first in 0..16 {
        let matrix = |rows: i64, bytes: i64, pad: i64| Matrix {
            extents: [rows, bytes],
            pitch: bytes + pad,
            first,
            new_pitch: (bytes + 15) / 16 * 16 + pad % 3 * 16,
            batches: 1,
            stride: 0,
        };
        for (a, b) in [
            (matrix(1, 1, 0), matrix(17, 5, 1)),
            (matrix(33, 67 + first, 1), matrix(16, 1500, first)),
            (matrix(20, 2049, 3), matrix(1, 33, 0)),
            (matrix(9, 254, 0), matrix(3, 16, 16)),
        ] {
            for copied in [[true, true], [true, false], [false, true]] {
                verify(&config(copied), [a, b]);
            }
        }
    }
}

/// Matrices of a batch, which are apart, or of which each has its rows between those of the others.
#[test]
fn matrices_of_a_batch_are_copied() {
    let apart =
        Matrix { extents: [35, 254], pitch: 258, first: 6, new_pitch: 256, batches: 3, stride: 35 * 258 + 5 };
    let between =
        Matrix { extents: [17, 1200], pitch: 4803, first: 0, new_pitch: 1200, batches: 4, stride: 1201 };
    for (a, b) in [(apart, between), (between, apart)] {
        let strided = |copied| RepitchConfig { batch: Batch::Strided, ..config(copied) };
        verify(&strided([true, true]), [a, b]);
        verify(&strided([false, true]), [a, b]);
    }
}

#[test]
fn golden() {
    let (name, copied) = ("gemm_repitch", [true, true]);
    let config = RepitchConfig { name, copied, batch: Batch::Single, programmatic: true };
    let pass = repitch(&config).unwrap();
    expect_file!["../../testdata/golden/gemm_repitch.ptx"].assert_eq(&pass.kernel.module().to_string());
}

#[test]
fn what_cannot_be_built_is_refused() {
    let error = repitch(&config([false, false])).expect_err("refused").to_string();
    assert!(error.contains("A, B or both are accepted"), "{error}");
}

#[test]
fn blocks_are_counted_without_overflow() {
    let blocks = |[rows, bytes, batches]: [i64; 3]| Rows { rows, bytes, batches, ..Rows::default() }.blocks();
    assert_eq!(blocks([33, 2080, 1]).unwrap(), 10);
    for extents in [[1 << 30, 1 << 32, 1], [1 << 20, 16, 1 << 20], [i64::MAX; 3]] {
        assert!(matches!(blocks(extents), Err(Error::Gemm(_))), "{extents:?}");
    }
}
