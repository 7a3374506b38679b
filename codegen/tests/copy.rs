//! The copy kernels as golden modules, one of them on the simulator, and what cannot be built. `kernels/tests/sim/copies.rs` runs what can be
//! chosen.

use expect_test::{ExpectFile, expect_file};
use girih_codegen::Error;
use girih_codegen::copy::{
    Arguments, Caching, CopyConfig, Extent, Gather, Mode, Side, Through, Walk, generate,
};
use girih_ptx::Module;
use girih_sim::Memory;
use girih_tensor::DType;

use crate::simulator::{blocks, by_name, bytes, checked, download, ones, upload};

pub(crate) fn side(order: &[usize], run: usize, vector: i64) -> Side {
    Side { order: order.to_vec(), run, vector, backwards: Vec::new() }
}

pub(crate) fn mode(tile: i64, extent: Extent) -> Mode {
    Mode { tile, extent, pad: None }
}

/// Rows of two pitches, through registers.
pub(crate) fn rows(dtype: DType, vector: i64, multiple: i64) -> CopyConfig {
    let side = side(&[0, 1], 1, vector);
    CopyConfig {
        name: "copy",
        dtype,
        modes: vec![mode(64 * vector, Extent::Multiple(multiple)), mode(4, Extent::Multiple(1))],
        gather: None,
        dst: side.clone(),
        src: side,
        threads: 64,
        through: Through::Registers,
        walk: Walk { band: 1, persistent: false },
        caching: Caching::Normal,
        programmatic: false,
    }
}

/// One row.
pub(crate) fn line() -> CopyConfig {
    let side = side(&[0], 1, 4);
    CopyConfig {
        modes: vec![mode(1024, Extent::Multiple(1024))],
        dst: side.clone(),
        src: side,
        ..rows(DType::U32, 4, 4)
    }
}

/// A transpose of any number of matrices of whole tiles.
pub(crate) fn transpose() -> CopyConfig {
    let whole = mode(64, Extent::Multiple(64));
    CopyConfig {
        modes: vec![whole, whole, mode(1, Extent::Multiple(1))],
        dst: side(&[0, 1, 2], 1, 8),
        src: side(&[1, 0, 2], 1, 8),
        threads: 128,
        through: Through::Shared,
        walk: Walk { band: 4, persistent: false },
        ..rows(DType::U16, 8, 8)
    }
}

/// Channels first to channels last, where a pixel has three.
fn channels() -> CopyConfig {
    CopyConfig {
        modes: vec![mode(3, Extent::Known(3)), mode(512, Extent::Multiple(8)), mode(1, Extent::Multiple(1))],
        dst: side(&[0, 1, 2], 2, 8),
        src: side(&[1, 0, 2], 1, 8),
        threads: 64,
        ..transpose()
    }
}

fn padded() -> CopyConfig {
    let mut config = rows(DType::U32, 4, 4);
    config.modes.iter_mut().zip([4, 1]).for_each(|(mode, of)| mode.pad = Some(of));
    config
}

fn gather() -> CopyConfig {
    let mut config = rows(DType::U32, 4, 32);
    config.modes[0] = mode(32, Extent::Known(32));
    config.modes[1].tile = 32;
    CopyConfig { gather: Some(Gather { mode: 1, index: DType::S64 }), ..config }
}

pub(crate) fn bulk() -> CopyConfig {
    let walk = Walk { band: 1, persistent: true };
    CopyConfig { through: Through::Bulk { stages: 4 }, threads: 32, walk, ..line() }
}

#[test]
fn golden() {
    let check = |config: CopyConfig, golden: ExpectFile| {
        let [module, again] = [(); 2].map(|()| generate(&config).unwrap().kernel.into_module());
        let text = module.to_string();
        golden.assert_eq(&text);
        assert_eq!(text, again.to_string());
        let parsed = Module::parse(&text).unwrap();
        assert!(parsed == module);
        assert_eq!(parsed.verify(), Ok(()));
    };
    check(line(), expect_file!["../testdata/golden/copy_line.ptx"]);
    check(rows(DType::U16, 8, 1), expect_file!["../testdata/golden/copy_ragged_rows.ptx"]);
    check(transpose(), expect_file!["../testdata/golden/copy_transpose.ptx"]);
    check(channels(), expect_file!["../testdata/golden/copy_channels.ptx"]);
    check(padded(), expect_file!["../testdata/golden/copy_padded.ptx"]);
    check(gather(), expect_file!["../testdata/golden/copy_gather.ptx"]);
    check(bulk(), expect_file!["../testdata/golden/copy_bulk.ptx"]);
}

/// A kernel of a programmatic launch waits before its first access, and lets the next kernel begin before that.
#[test]
fn programmatic_copies_wait_before_they_read() {
    for config in [line(), transpose(), channels(), gather(), bulk()] {
        let early = CopyConfig { programmatic: true, ..config.clone() };
        let [text, other] =
            [early, config].map(|config| generate(&config).unwrap().kernel.into_module().to_string());
        let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word} in {text}"));
        let first = [at("griddepcontrol.launch_dependents"), at("griddepcontrol.wait")];
        let accesses = ["ld.global", "st.global", "cp.async"].map(|word| text[..first[1]].contains(word));
        assert!(first[0] < first[1] && accesses == [false; 3], "{text}");
        assert!(!other.contains("griddepcontrol"), "{other}");
    }
}

#[test]
fn a_transpose_on_the_simulator() {
    for config in [transpose(), CopyConfig { programmatic: true, ..transpose() }] {
        let kernel = generate(&config).unwrap();
        let [m, n, matrices] = [192i64, 128, 2];
        let memory = Memory::new();
        let source: Vec<u8> = (0..2 * m * n * matrices).map(|i| ((i * 31 + i / 256) % 251) as u8).collect();
        let (src, dst) = (upload(&memory, &source), ones(&memory, source.len()));
        let strides = [vec![1, m, m * n], vec![n, 1, m * n]];
        let arguments = Arguments { extents: vec![m, n, matrices], strides, ..Arguments::default() };
        let places = [("dst", dst), ("src", src)];
        let args = bytes(&kernel.params, &arguments, |slot| by_name(slot, &places));
        let tiles = config.tiles(&[m, n, matrices]).unwrap();
        // Bands of 4 tiles: of 3 tiles along m there is one band.
        assert_eq!(tiles, 4 * 2 * 2);
        let launch = blocks(tiles, 128, kernel.kernel.shared_bytes(), args);
        checked(kernel.kernel.module(), &memory, &launch).unwrap();
        let found = download(&memory, dst, source.len());
        for i in 0..m * n * matrices {
            let (row, column, matrix) = (i % m, i / m % n, i / (m * n));
            let from = (column + row * n + matrix * m * n) as usize;
            assert_eq!(found[2 * i as usize..][..2], source[2 * from..][..2], "({row},{column},{matrix})");
        }
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    let refused = |config: CopyConfig, kind: &str| match generate(&config) {
        Err(Error::Copy(error)) => assert_eq!(error.kind(), kind, "{config:?}"),
        other => panic!("{config:?}: {other:?}"),
    };
    let mismatched = |config: CopyConfig| {
        let found = generate(&config);
        assert!(matches!(found, Err(Error::Mismatch { .. })), "{config:?}: {found:?}");
    };
    for dtype in [DType::S4, DType::B1] {
        refused(CopyConfig { dtype, ..line() }, "DType");
    }
    for vector in [-4, 0, 3, 8, 1 << 31, i64::MAX] {
        refused(CopyConfig { dst: side(&[0], 1, vector), ..line() }, "Side");
    }
    // A mode that is missing, one that is there twice, a run that is too long, vectors without a run, a run over a part of a mode.
    for (dst, modes) in [
        (side(&[0], 1, 4), rows(DType::U32, 4, 4).modes),
        (side(&[0, 0], 1, 4), rows(DType::U32, 4, 4).modes),
        (side(&[0, 1], 3, 4), rows(DType::U32, 4, 4).modes),
        (side(&[0, 1], 0, 4), rows(DType::U32, 4, 4).modes),
        (side(&[0, 1], 2, 4), rows(DType::U32, 4, 4).modes),
    ] {
        refused(CopyConfig { dst, modes, ..rows(DType::U32, 4, 4) }, "Side");
    }
    for wrong in [
        mode(0, Extent::Multiple(1)),
        mode(4, Extent::Known(5)),
        mode(4, Extent::Known(0)),
        mode(4, Extent::Multiple(0)),
    ] {
        let modes = vec![mode(256, Extent::Multiple(4)), wrong];
        refused(CopyConfig { modes, ..rows(DType::U32, 4, 4) }, "Mode");
    }
    refused(CopyConfig { src: side(&[1, 0], 1, 4), ..rows(DType::U32, 4, 4) }, "Sides");
    refused(CopyConfig { walk: Walk { band: 3, persistent: false }, ..transpose() }, "Band");
    refused(
        CopyConfig { gather: Some(Gather { mode: 0, index: DType::U32 }), ..rows(DType::U32, 4, 4) },
        "Gather",
    );
    refused(
        CopyConfig { gather: Some(Gather { mode: 1, index: DType::F32 }), ..rows(DType::U32, 4, 4) },
        "Gather",
    );
    refused(CopyConfig { gather: Some(Gather { mode: 2, index: DType::U32 }), ..transpose() }, "Gather");
    refused(CopyConfig { walk: line().walk, ..bulk() }, "Bulk");
    refused(CopyConfig { through: Through::Bulk { stages: 1 }, ..bulk() }, "Bulk");
    for threads in [0, -32, 2048] {
        refused(CopyConfig { threads, ..line() }, "Threads");
    }
    refused(CopyConfig { modes: vec![mode(1 << 20, Extent::Multiple(4))], ..line() }, "Threads");
    // Threads that do not divide the tile's vectors.
    mismatched(CopyConfig { threads: 96, ..line() });
    mismatched(CopyConfig { threads: 512, ..line() });
    mismatched(CopyConfig { threads: 1024, ..transpose() });
}
