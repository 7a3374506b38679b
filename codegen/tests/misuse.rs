//! What the compiler says to misuse of typed tensors and of constant copies and MMAs: programs of a package of its own, built by cargo.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use serde_json::Value;

const PRELUDE: &str = "#![allow(unused)]
use girih_codegen::atom::*;
use girih_codegen::constant::Place;
use girih_codegen::{Operand, TiledCopy, TiledMma, constant};
use girih_layout::typed::__;
use girih_layout::{Lay, int, lay, layout};
use girih_tensor::{Tensor, host::Array};
const MMA: TiledMma = constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!(\"(2,2,1):(1,2,0)\")));
const THREADS: Lay = lay!(\"(32,4):(4,1)\");
const VALUES: Lay = lay!(\"(1,8):(8,1)\");
const COPY: TiledCopy = constant!(constant::tiled_copy(UNIVERSAL_COPY_128, 16, &THREADS, &VALUES));
const ASYNC: TiledCopy = constant!(constant::tiled_copy(SM80_CP_ASYNC_CACHEGLOBAL_16, 16, &THREADS, &VALUES));
const TILE: Lay = lay!(\"(32,32):(64,1)\");
type Result = std::result::Result<(), girih_tensor::Error>;
";

/// What compiles: each form of the misuses, rightly used.
const RIGHT: &str = r#"
const A: Lay = constant!(constant::thrfrg(&MMA, Operand::A, &lay!("(64,32):(32,1)")));
const S: Lay = constant!(constant::tidfrg_s(&COPY, &TILE));
const _: () = constant!(constant::copy(&COPY, Place::gmem(TILE, 16), Place::REGISTERS));
const _: () = constant!(constant::copy(&ASYNC, Place::gmem(TILE, 16), Place::smem(lay!("(32,32):(40,1)"), 16)));
fn main() -> Result {
    let mut a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);
    a.put((7, 23), 1.0)?;
    let t = a.view();
    let found = t.local_tile((int!(4), int!(8)), (1, 2))?.local_partition(layout!((2, 4) : (4, 1)), 7)?;
    assert_eq!((found.get((1, 1))?, t.tv_partition(layout!((8, 24) : (1, 8)), 7)?.get(23)?), (1.0, 1.0));
    Ok(())
}
"#;

/// A name, whether it is an item or a function's body over the tensor `t`, and the program.
const MISUSES: &[(&str, bool, &str)] = &[
    // A tile that does not divide.
    (
        "atom",
        true,
        r#"const A: Lay = constant!(constant::thrfrg(&MMA, Operand::A, &lay!("(24,32):(32,1)")));"#,
    ),
    (
        "permutation",
        true,
        r#"const P: TiledMma = MMA.with_permutation([girih_layout::Tile::Lay(lay!("48:1")), girih_layout::Tile::All, girih_layout::Tile::All]);
const A: Lay = constant!(constant::thrfrg(&P, Operand::A, &lay!("(64,32):(32,1)")));"#,
    ),
    (
        "values",
        true,
        r#"const C: TiledCopy = constant!(constant::tiled_copy(UNIVERSAL_COPY_128, 16, &THREADS, &lay!("(1,6):(6,1)")));"#,
    ),
    ("copy_tile", true, r#"const S: Lay = constant!(constant::tidfrg_s(&COPY, &lay!("(48,32):(32,1)")));"#),
    ("tile", false, "t.local_tile((int!(4), int!(7)), (0, 0))?;"),
    ("partition", false, "t.local_partition(layout!((3, 4) : (4, 1)), 0)?;"),
    // Wrong rank.
    (
        "arrangement",
        true,
        r#"const M: TiledMma = constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1,1):(1,2,0,0)")));"#,
    ),
    (
        "operand",
        true,
        r#"const A: Lay = constant!(constant::thrfrg(&MMA, Operand::B, &lay!("(64,32,2):(32,1,2048)")));"#,
    ),
    (
        "threads",
        true,
        r#"const C: TiledCopy = constant!(constant::tiled_copy(UNIVERSAL_COPY_128, 16, &THREADS, &lay!("8:1")));"#,
    ),
    ("copy_rank", true, r#"const S: Lay = constant!(constant::tidfrg_s(&COPY, &lay!("1024:1")));"#),
    ("coordinate", false, "t.get((1, 2, 3))?;"),
    ("slice", false, "t.slice((__, 2, 3))?;"),
    ("tiler", false, "t.local_tile((int!(4), int!(8), int!(2)), (0, 0))?;"),
    ("tile_coordinate", false, "t.local_tile((int!(4), int!(8)), (0, 0, 0))?;"),
    // A vector that is not aligned.
    (
        "pitch",
        true,
        r#"const _: () = constant!(constant::copy(&COPY, Place::gmem(lay!("(32,32):(33,1)"), 16), Place::REGISTERS));"#,
    ),
    (
        "columns",
        true,
        r#"const _: () = constant!(constant::copy(&COPY, Place::gmem(lay!("(32,32):(1,32)"), 16), Place::REGISTERS));"#,
    ),
    (
        "address",
        true,
        r#"const _: () = constant!(constant::copy(&ASYNC, Place::gmem(TILE, 16), Place::smem(TILE, 8)));"#,
    ),
    // A tile larger than the tensor.
    ("larger_copy", true, r#"const S: Lay = constant!(constant::tidfrg_d(&COPY, &lay!("(16,32):(32,1)")));"#),
    (
        "larger_mma",
        true,
        r#"const C: Lay = constant!(constant::thrfrg(&MMA, Operand::C, &lay!("(16,16):(16,1)")));"#,
    ),
    ("larger_tile", false, "t.local_tile((int!(16), int!(8)), (0, 0))?;"),
    ("larger_tv", false, "t.tv_partition(layout!((8, 25) : (1, 8)), 0)?;"),
    ("outside", false, "t.get((int!(8), 0))?;"),
    // The wrong memory.
    (
        "registers",
        true,
        r#"const _: () = constant!(constant::copy(&ASYNC, Place::gmem(TILE, 16), Place::REGISTERS));"#,
    ),
    (
        "backwards",
        true,
        r#"const _: () = constant!(constant::copy(&ASYNC, Place::smem(TILE, 16), Place::gmem(TILE, 16)));"#,
    ),
    // And else.
    ("numbers", false, "t.local_partition(layout!((2, 2) : (1, 1)), 0)?;"),
    (
        "bijection",
        true,
        r#"const M: TiledMma = constant!(constant::tiled_mma(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2):(1,1)")));"#,
    ),
    ("length", false, "let n: usize = 8; Array::filled(layout!((4, n) : (1, 4)), 0f32);"),
    ("negative", false, "Array::filled(layout!(8 : -1), 0f32);"),
];

/// The package, in the folder of this test.
fn package() -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let _old = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("src/bin")).unwrap();
    let mut manifest = String::from(
        "[package]\nname = \"misuse\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.dev]\ndebug = false\n\n[dependencies]\n",
    );
    for name in ["layout", "tensor", "codegen"] {
        writeln!(manifest, "girih-{name} = {{ path = {:?} }}", workspace.join(name)).unwrap();
    }
    std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
    let lock = workspace.join("Cargo.lock");
    if lock.exists() {
        std::fs::copy(lock, root.join("Cargo.lock")).unwrap();
    }
    root
}

#[test]
fn misuse_does_not_compile() {
    let root = package();
    let write = |name: &str, program: &str| {
        std::fs::write(root.join(format!("src/bin/{name}.rs")), format!("{PRELUDE}{program}")).unwrap();
    };
    write("right", RIGHT);
    for (name, item, program) in MISUSES {
        let body = format!(
            "fn main() -> Result {{\n    let a = Array::filled(layout!((8, 24) : (1, 8)), 0f32);\n    let t = a.view();\n    {program}\n    Ok(())\n}}\n"
        );
        write(name, &if *item { format!("{program}\nfn main() {{}}\n") } else { body });
    }
    let output = Command::new(env!("CARGO"))
        .args(["--offline", "build", "--bins", "--keep-going", "--message-format=json"])
        .current_dir(&root)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("target"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    // The first line of each program's first error.
    let mut first = BTreeMap::new();
    for message in output.stdout.split(|&byte| byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(message) else { continue };
        if message["message"]["level"] == "error" {
            let text = message["message"]["rendered"].as_str().unwrap().lines().next().unwrap();
            first.entry(message["target"]["name"].as_str().unwrap().to_owned()).or_insert(text.to_owned());
        }
    }
    let found: String = first
        .iter()
        .filter(|(name, _)| *name != "right")
        .map(|(name, text)| format!("{name}: {text}\n"))
        .collect();
    assert_eq!(
        (first.get("right"), first.len()),
        (None, MISUSES.len()),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    expect![[r#"
        address: error[E0080]: evaluation panicked: copy: Gmem (32,32):(64,1) to Smem (32,32):(64,1) does not fit SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, from Gmem to Smem: values that lie together on both sides, aligned to their size
        arrangement: error[E0080]: evaluation panicked: TiledMma: (2,2,1,1):(1,2,0,0) does not fit SM80_16x8x16_F32BF16BF16F32_TN: a bijective arrangement (AtomM,AtomN) or (AtomM,AtomN,AtomK)
        atom: error[E0080]: evaluation panicked: thrfrg: (24,32):(32,1) does not fit SM80_16x8x16_F32BF16BF16F32_TN of 2 atoms of 16 in mode 0: extents that the atoms divide
        backwards: error[E0080]: evaluation panicked: copy: Smem (32,32):(64,1) to Gmem (32,32):(64,1) does not fit SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, from Gmem to Smem: the spaces that the atom copies between; of a tensor copy, its coordinates
        bijection: error[E0080]: evaluation panicked: TiledMma: (2,2):(1,1) does not fit SM80_16x8x16_F32BF16BF16F32_TN: a bijective arrangement (AtomM,AtomN) or (AtomM,AtomN,AtomK)
        columns: error[E0080]: evaluation panicked: copy: Gmem (32,32):(1,32) to Rmem does not fit UniversalCopy<uint128_t>, from any to any: vectors that lie together in memory, aligned to their size, and in whole registers
        coordinate: error[E0277]: coordinate `({integer}, {integer}, {integer})` does not fit the layout's modes
        copy_rank: error[E0080]: evaluation panicked: partition: (1024):(1) does not fit the copy's tile (32,32): extents that the tile divides
        copy_tile: error[E0080]: evaluation panicked: partition: (48,32):(32,1) does not fit the copy's tile (32,32): extents that the tile divides
        larger_copy: error[E0080]: evaluation panicked: partition: (16,32):(32,1) does not fit the copy's tile (32,32): extents that the tile divides
        larger_mma: error[E0080]: evaluation panicked: thrfrg: (16,16):(16,1) does not fit SM80_16x8x16_F32BF16BF16F32_TN of 2 atoms of 16 in mode 0: extents that the atoms divide
        larger_tile: error[E0080]: evaluation panicked: whole_divide((8,24):(1,8), <16:1,8:1>): the tile of 16 is larger than the extent 8
        larger_tv: error[E0080]: evaluation panicked: compose_in_bounds((8,24):(1,8), (8,25):(1,8)): coordinate 199 is outside the extent 192
        length: error[E0277]: the length of an owning array must be static, that of this layout is a `usize`
        negative: error[E0080]: evaluation panicked: a buffer: a stride of 8:-1 is or may be negative: call at_signed
        numbers: error[E0080]: evaluation panicked: (2,2):(1,1) is no bijection onto the numbers below its size
        operand: error[E0080]: evaluation panicked: thrfrg: (64,32,2):(32,1,2048) does not fit B of SM80_16x8x16_F32BF16BF16F32_TN: a layout of two modes
        outside: error[E0080]: evaluation panicked: coordinate 8 is outside 8:1, whose size is 8
        partition: error[E0080]: evaluation panicked: whole_divide((8,24):(1,8), <3:1,4:1>): 3 does not divide extent 8
        permutation: error[E0080]: evaluation panicked: thrfrg: (64,32):(32,1) does not fit the order 48:1 of mode 0: a bijective order whose size divides the extent
        pitch: error[E0080]: evaluation panicked: copy: Gmem (32,32):(33,1) to Rmem does not fit UniversalCopy<uint128_t>, from any to any: vectors that lie together in memory, aligned to their size, and in whole registers
        registers: error[E0080]: evaluation panicked: copy: Gmem (32,32):(64,1) to Rmem does not fit SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, from Gmem to Smem: the spaces that the atom copies between; of a tensor copy, its coordinates
        slice: error[E0277]: slice `(girih_layout::typed::All, {integer}, {integer})` does not fit the layout's modes
        threads: error[E0080]: evaluation panicked: TiledCopy: (32,4):(4,1) does not fit 8:1: a thread layout and a value layout of the same rank
        tile: error[E0080]: evaluation panicked: whole_divide((8,24):(1,8), <4:1,7:1>): 7 does not divide extent 24
        tile_coordinate: error[E0277]: slice `({integer}, {integer}, {integer})` does not fit the layout's modes
        tiler: error[E0080]: evaluation panicked: whole_divide((8,24):(1,8), <4:1,8:1,2:1>): rank mismatch: the layout has rank 2, the other operand rank 3
        values: error[E0080]: evaluation panicked: TiledCopy: ((4,32),6):((192,1),32) does not fit UniversalCopy<uint128_t> of values of 16 bits: values that the atom's values divide
    "#]].assert_eq(&found);
}
