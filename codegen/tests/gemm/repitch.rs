//! The pass that copies A and B to other pitches, on the simulator with every check on.

use expect_test::expect_file;
use girih_codegen::Error;
use girih_codegen::gemm::{Batch, Repitch, RepitchConfig, RepitchParam, repitch};
use girih_sim::Memory;

use crate::simulator::{addresses, blocks, checked, download, ones, sizes, upload};

/// Matrices that are copied: rows and columns, their pitch, the first element's place in its array, and the new pitch; how many there are,
/// and the elements from one to the next.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    extents: [i64; 2],
    pitch: i64,
    first: i64,
    new_pitch: i64,
    batches: i64,
    stride: i64,
}

/// The byte that stands `at` bytes behind the first element of matrix `operand`.
fn byte(operand: usize, at: i64) -> u8 {
    ((at * 31 + at / 256 * 7 + operand as i64 * 101) % 251) as u8
}

/// Runs the pass. Every byte of the copies is an element's byte, or 0 behind a row.
fn verify(config: &RepitchConfig, matrices: [Matrix; 2]) {
    let (pass, element) = (repitch(config).unwrap(), i64::from(config.bits / 8));
    let memory = Memory::new();
    let mut places = Vec::new();
    for (operand, matrix) in matrices.iter().enumerate() {
        let Matrix { extents: [rows, columns], pitch, first, new_pitch, batches, stride } = *matrix;
        // The array ends with the last element, so that the simulator reports a read beyond it.
        let mut bytes = vec![0xee; (first * element) as usize];
        let len = (batches - 1) * stride + (rows - 1) * pitch + columns;
        bytes.extend((0..len * element).map(|at| byte(operand, at)));
        let from = upload(&memory, &bytes) + (first * element) as u64;
        places.push([from, ones(&memory, (batches * rows * new_pitch * element) as usize)]);
    }
    let blocks_of = |i: usize| {
        let copied = config.vectors[i].is_some();
        if copied {
            let Matrix { extents: [rows, _], new_pitch, batches, .. } = matrices[i];
            i64::from(pass.blocks(i, [rows, new_pitch, batches]).unwrap())
        } else {
            0
        }
    };
    let args = |param: &RepitchParam| match *param {
        RepitchParam::From(i) => addresses(&[places[i][0]]),
        RepitchParam::To(i) => addresses(&[places[i][1]]),
        RepitchParam::Rows(i) => sizes(&[matrices[i].extents[0]]),
        RepitchParam::Columns(i) => sizes(&[matrices[i].extents[1]]),
        RepitchParam::Pitch(i) => sizes(&[matrices[i].pitch]),
        RepitchParam::NewPitch(i) => sizes(&[matrices[i].new_pitch]),
        RepitchParam::Stride(i) => vec![matrices[i].stride.to_le_bytes().to_vec()],
        RepitchParam::Blocks => sizes(&[blocks_of(0)]),
    };
    let args = pass.params.iter().flat_map(args).collect();
    let launch = blocks(blocks_of(0) + blocks_of(1), pass.kernel.threads(), pass.kernel.shared_bytes(), args);
    checked(pass.kernel.module(), &memory, &launch)
        .unwrap_or_else(|e| panic!("{config:?} {matrices:?}: {e}"));
    for (operand, matrix) in matrices.iter().enumerate() {
        let Matrix { extents: [rows, columns], pitch, new_pitch, batches, stride, .. } = *matrix;
        let copied = config.vectors[operand].is_some();
        let found = download(&memory, places[operand][1], (batches * rows * new_pitch * element) as usize);
        for (i, found) in (0..).zip(found) {
            let (row, column, part) = (i / element / new_pitch, i / element % new_pitch, i % element);
            let (l, row) = (row / rows, row % rows);
            let expected = match (copied, column < columns) {
                (false, _) => 0xff,
                (true, true) => byte(operand, (l * stride + row * pitch + column) * element + part),
                (true, false) => 0,
            };
            assert_eq!(
                found, expected,
                "{config:?} {matrices:?}: ({row},{column}) of {operand}, byte {part}"
            );
        }
    }
}

fn config(bits: u32, vectors: [Option<i64>; 2]) -> RepitchConfig {
    RepitchConfig { name: "repitch", bits, vectors, batch: Batch::Single, programmatic: false }
}

/// Every element size, any place of the first element, and pitches and extents that end anywhere in a tile.
#[test]
fn copies_are_exact_and_filled_with_zeros() {
    for bits in [8, 16, 32, 64] {
        let (element, line) = (i64::from(bits / 8), 128 / i64::from(bits));
        for vector in [1, 2, 4, 8].into_iter().filter(|vector| vector * element <= 8) {
            let matrix = |rows: i64, columns: i64, pad: i64| {
                let columns = columns * vector;
                let new_pitch = (columns + line - 1) / line * line + if pad > 1 { line } else { 0 };
                Matrix {
                    extents: [rows, columns],
                    pitch: columns + pad * vector,
                    first: pad * vector,
                    new_pitch,
                    batches: 1,
                    stride: 0,
                }
            };
            for (a, b) in [
                (matrix(1, 1, 0), matrix(17, 5, 1)),
                (matrix(33, 67, 1), matrix(16, 1500, 0)),
                (matrix(40, 2049, 3), matrix(1, 1, 2)),
            ] {
                verify(&config(bits, [Some(vector), Some(vector)]), [a, b]);
                verify(&config(bits, [Some(vector), None]), [a, b]);
                verify(&config(bits, [None, Some(vector)]), [a, b]);
            }
        }
    }
}

/// The two matrices may be read in vectors of different lengths.
#[test]
fn each_matrix_has_its_own_vectors() {
    let odd = Matrix { extents: [35, 127], pitch: 127, first: 3, new_pitch: 128, batches: 1, stride: 0 };
    let even = Matrix { extents: [19, 700], pitch: 1044, first: 4, new_pitch: 704, batches: 1, stride: 0 };
    verify(&config(16, [Some(1), Some(4)]), [odd, even]);
    verify(&config(16, [Some(4), Some(1)]), [even, odd]);
}

/// Matrices of a batch, which are apart, or of which each has its rows between those of the others.
#[test]
fn matrices_of_a_batch_are_copied() {
    let apart =
        Matrix { extents: [35, 127], pitch: 129, first: 3, new_pitch: 128, batches: 3, stride: 35 * 129 + 5 };
    let between =
        Matrix { extents: [17, 600], pitch: 2401, first: 0, new_pitch: 600, batches: 4, stride: 600 };
    for (a, b) in [(apart, between), (between, apart)] {
        let strided = |vectors| RepitchConfig { batch: Batch::Strided, ..config(16, vectors) };
        verify(&strided([Some(1), Some(1)]), [a, b]);
        verify(&strided([None, Some(1)]), [a, b]);
    }
}

#[test]
fn golden() {
    let pass = repitch(&RepitchConfig {
        name: "gemm_repitch",
        bits: 16,
        vectors: [Some(1), Some(1)],
        batch: Batch::Single,
        programmatic: true,
    })
    .unwrap();
    expect_file!["../../testdata/golden/gemm_repitch.ptx"].assert_eq(&pass.kernel.module().to_string());
}

#[test]
fn what_cannot_be_built_is_refused() {
    let error = |config| repitch(&config).expect_err("refused").to_string();
    assert!(error(config(16, [None; 2])).contains("A or B or both"));
    assert!(error(config(4, [Some(1), None])).contains("8, 16, 32 or 64"));
    for vector in [0, 3, 8, i64::MAX] {
        let told = error(config(16, [None, Some(vector)]));
        assert!(told.contains("powers of two up to 4"), "{told}");
    }
}

#[test]
fn blocks_are_counted_without_overflow() {
    let pass: Repitch = repitch(&config(8, [Some(1), None])).unwrap();
    assert_eq!(pass.blocks(0, [33, 1040, 1]).unwrap(), 10);
    assert!(matches!(pass.blocks(0, [1 << 30, 1 << 30, 1]), Err(Error::Config { .. })));
}
