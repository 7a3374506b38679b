//! The copy kernel on the simulator, and as golden modules.

#![expect(clippy::unwrap_used, reason = "tests")]

use expect_test::{ExpectFile, expect_file};
use girih_codegen::Error;
use girih_codegen::copy::{CopyConfig, generate};
use girih_ptx::Module;
use girih_sim::Memory;
use girih_tensor::DType;

use crate::simulator::{addresses, blocks, checked, download, ones, sizes, upload};

fn config(dtype: DType, vector: i64, whole: bool, tile: [i64; 2]) -> CopyConfig {
    CopyConfig { name: "copy", dtype, vector, whole, threads: 64, tile }
}

fn f32_whole() -> CopyConfig {
    config(DType::F32, 4, true, [1, 1024])
}

fn bf16_ragged() -> CopyConfig {
    config(DType::Bf16, 8, false, [8, 256])
}

#[test]
fn golden() {
    let check = |config: CopyConfig, golden: ExpectFile| {
        let (module, again) = (
            generate(&config).unwrap().kernel.into_module(),
            generate(&config).unwrap().kernel.into_module(),
        );
        let text = module.to_string();
        golden.assert_eq(&text);
        assert_eq!(text, again.to_string());
        let parsed = Module::parse(&text).unwrap();
        assert!(parsed == module);
        assert_eq!(parsed.verify(), Ok(()));
    };
    check(f32_whole(), expect_file!["../testdata/golden/copy_f32_whole.ptx"]);
    check(bf16_ragged(), expect_file!["../testdata/golden/copy_bf16_ragged.ptx"]);
}

/// Copies `rows` x `columns` numbered elements between two pitches and checks every byte of the destination.
fn verify(config: &CopyConfig, [rows, columns]: [i64; 2]) {
    let element = i64::from(config.dtype.bits() / 8);
    let round = |n: i64| (n + config.vector - 1) / config.vector * config.vector;
    let (ld_dst, ld_src) = (round(columns) + config.vector, round(columns) + 2 * config.vector);
    let memory = Memory::new();
    // The array of the source ends with its last element, so that the simulator reports a read beyond it.
    let source: Vec<u8> =
        (0..((rows - 1) * ld_src + columns) * element).map(|i| ((i * 31 + i / 256) % 251) as u8).collect();
    let src = upload(&memory, &source);
    let length = (((rows - 1) * ld_dst + columns) * element) as usize;
    let dst = ones(&memory, length);
    let args = [addresses(&[dst, src]), sizes(&[rows, columns, ld_dst, ld_src])].concat();
    let tiles = |n: i64, tile: i64| (n + tile - 1) / tile;
    let grid = tiles(rows, config.tile[0]) * tiles(columns, config.tile[1]);
    let launch = blocks(grid, config.threads as u32, 0, args);
    let ran = checked(generate(config).unwrap().kernel.module(), &memory, &launch);
    ran.unwrap_or_else(|e| panic!("{config:?} of {rows} x {columns}: {e}"));
    let found = download(&memory, dst, length);
    for (i, found) in (0..).zip(found) {
        let (row, column, byte) = (i / element / ld_dst, i / element % ld_dst, i % element);
        let copied = source.get(((row * ld_src + column) * element + byte) as usize);
        let expected = if column < columns { copied.copied() } else { Some(0xff) };
        assert_eq!(Some(found), expected, "{config:?} of {rows} x {columns}: ({row},{column}), byte {byte}");
    }
}

#[test]
fn copies_exactly_the_matrix() {
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        let element = i64::from(dtype.bits() / 8);
        for vector in [16, 8, 4, 2].iter().filter(|b| **b >= element).map(|b| b / element) {
            for tile in [[1, 64 * vector], [4, 16 * vector], [64, 2 * vector]] {
                for extents in [[1, 1], [2, 3 * vector], [67, 5 * vector], [5, 200]] {
                    verify(&config(dtype, vector, extents[1] % vector == 0, tile), extents);
                    verify(&config(dtype, vector, false, tile), [extents[0], extents[1] + 1]);
                }
            }
        }
    }
    verify(&f32_whole(), [3, 1500]);
    verify(&bf16_ragged(), [11, 517]);
}

#[test]
fn what_cannot_be_built_is_refused() {
    for vector in [-4, 0, 1, 3, 8, 1 << 31, 1 << 40] {
        let found = generate(&config(DType::F32, vector, false, [1, 256]));
        // One element of 4 bytes is a vector too.
        assert_eq!(found.is_ok(), vector == 1, "{vector}: {found:?}");
        assert!(matches!(found, Ok(_) | Err(Error::Config { what: "vector", .. })), "{vector}: {found:?}");
    }
    for tile in [[1, 100], [3, 64], [0, 0], [1, 0], [-1, 256], [1, 3 << 40]] {
        let found = generate(&config(DType::F32, 4, false, tile));
        assert!(matches!(found, Err(Error::Mismatch { .. } | Error::Config { .. })), "{tile:?}: {found:?}");
    }
    for threads in [0, -32, 48, 2048] {
        let found = generate(&CopyConfig { threads, ..f32_whole() });
        assert!(matches!(found, Err(Error::Mismatch { .. } | Error::Config { .. })), "{threads}: {found:?}");
    }
}
