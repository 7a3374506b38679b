//! Constants are refused in the same words as programs when they run.
#![expect(clippy::unwrap_used, reason = "tests")]

use expect_test::expect;
use girih_codegen::atom::*;
use girih_codegen::constant::{self, Place, Refusal};
use girih_codegen::{Builder, Error, Expr, Gmem, Operand, Rmem, Smem, TiledCopy, TiledMma, algorithm};
use girih_layout::{Int, Lay, Shape, Stride, Strides, Tile, lay};
use girih_ptx::Special;
use girih_tensor::{DType, Space, Tensor};

fn matrix(extents: [i64; 2], strides: [i64; 2]) -> Lay {
    let strides = Strides::flat(&strides.map(|d| Stride::Int(Int::fixed(d)))).unwrap();
    Lay::new(&Shape::flat(&extents.map(Int::fixed)).unwrap(), &strides).unwrap()
}

/// The verdict of the algorithm on one thread's part of `layout`, copied between memory and registers, or asynchronously into shared
/// memory.
fn emitted(copy: &TiledCopy, layout: Lay, align: i64) -> Result<(), Error> {
    let mut b = Builder::new("k", 80, 128);
    let (pointer, shared) = (b.pointer("x", align), b.alloc_shared(1 << 16, 1024)?);
    let thread = b.special(Special::TidX);
    let mine = copy.get_slice(&thread)?;
    let global = Tensor::new(Gmem::new(pointer, DType::F16), layout);
    let source = mine.partition_s(&global)?;
    if copy.atom.spaces()[1] == Some(Space::Smem) {
        let smem = Tensor::new(Smem::new(shared, DType::F16, None), Lay::right(layout.shape())?);
        return algorithm::copy(&mut b, copy, &source, &mine.partition_d(&smem)?);
    }
    let registers = Rmem::like(&mut b, &source)?;
    algorithm::copy(&mut b, copy, &source, &registers)
}

/// For many pitches, alignments, vectors and both majors, the constant's verdict is the algorithm's.
#[test]
fn constants_are_judged_as_at_run_time() {
    let atoms = [
        (UNIVERSAL_COPY_128, 8),
        (UNIVERSAL_COPY_64, 4),
        (UNIVERSAL_COPY_32, 2),
        (UNIVERSAL_COPY_16, 1),
        (SM80_CP_ASYNC_CACHEGLOBAL_16, 8),
        (SM80_CP_ASYNC_CACHEALWAYS_8, 4),
    ];
    let (mut good, mut bad) = (0, 0);
    for (atom, vector) in atoms {
        let copy =
            constant::tiled_copy(atom, 16, &lay!("(32,4):(4,1)"), &matrix([1, vector], [vector, 1])).unwrap();
        let target = |extents| match atom.spaces()[1] {
            Some(Space::Smem) => Place::smem(matrix(extents, [extents[1], 1]), 16),
            _ => Place::REGISTERS,
        };
        for pitch in (30..50).chain([64, 96, 100]) {
            for align in [2, 4, 8, 16, 32] {
                for (m, n) in [(32, 4 * vector), (64, 8 * vector), (48, 32), (32, 2 * vector), (16, 64)] {
                    for layout in [matrix([m, n], [pitch, 1]), matrix([m, n], [1, pitch])] {
                        let judged = constant::copy(&copy, Place::gmem(layout, align), target([m, n]));
                        let found = emitted(&copy, layout, align);
                        assert_eq!(
                            judged.is_ok(),
                            found.is_ok(),
                            "{atom} {layout} {align}: {judged:?} {found:?}"
                        );
                        *(if judged.is_ok() { &mut good } else { &mut bad }) += 1;
                    }
                }
            }
        }
    }
    assert!(good > 500 && bad > 500, "{good} {bad}");
}

/// Checks that both are the same value, or errors in the same words.
fn same<T: PartialEq + std::fmt::Debug>(judged: Result<T, Refusal>, found: Result<T, Error>) {
    match (judged, found) {
        (Ok(judged), Ok(found)) => assert_eq!(judged, found),
        (Err(refusal), Err(error)) => assert_eq!(refusal.to_string(), error.to_string()),
        (judged, found) => panic!("{judged:?} and {found:?}"),
    }
}

#[test]
fn constants_are_what_programs_compute() {
    let arrangements =
        [lay!("(1,1):(0,0)"), lay!("(2,2,1):(1,2,0)"), lay!("(2,3):(3,1)"), lay!("(2,2):(1,1)"), lay!("4:1")];
    let tiles = (1..9).flat_map(|m| (1..5).map(move |n| [8 * m, 8 * n]));
    for atom in [SM80_16X8X16_F32BF16BF16F32_TN, SM80_8X8X4_F64F64F64F64_TN, UNIVERSAL_FMA_F32] {
        for atoms in arrangements {
            same(constant::tiled_mma(atom, atoms), TiledMma::new(atom, atoms));
            let Ok(mma) = TiledMma::new(atom, atoms) else { continue };
            for (operand, tile) in Operand::ALL.into_iter().flat_map(|o| tiles.clone().map(move |t| (o, t))) {
                let layout = matrix(tile, [tile[1], 1]);
                same(constant::thrfrg(&mma, operand, &layout), mma.thrfrg(operand, &layout));
            }
        }
    }
}

/// The texts of errors that stop the compiler in constants, from the functions for run time.
#[test]
fn misuse_is_told_when_the_program_runs() {
    let atom = SM80_16X8X16_F32BF16BF16F32_TN;
    let mma = TiledMma::new(atom, lay!("(2,2,1):(1,2,0)")).unwrap();
    let (threads, values, tile) = (lay!("(32,4):(4,1)"), lay!("(1,8):(8,1)"), lay!("(32,32):(64,1)"));
    let copy = TiledCopy::new(UNIVERSAL_COPY_128, 16, &threads, &values).unwrap();
    let asynchronous = TiledCopy::new(SM80_CP_ASYNC_CACHEGLOBAL_16, 16, &threads, &values).unwrap();
    let order = mma.with_permutation([Tile::Lay(lay!("48:1")), Tile::All, Tile::All]);
    let wrong_memory = {
        let mut b = Builder::new("k", 80, 128);
        let (pointer, mine) = (b.pointer("x", 16), asynchronous.get_slice(&Expr::from(0)).unwrap());
        let source = mine.partition_s(&Tensor::new(Gmem::new(pointer, DType::F16), tile)).unwrap();
        let registers = Rmem::like(&mut b, &source).unwrap();
        algorithm::copy(&mut b, &asynchronous, &source, &registers).unwrap_err()
    };
    let texts = [
        // A tile that the atom does not divide.
        mma.thrfrg(Operand::A, &lay!("(24,32):(32,1)")).unwrap_err(),
        order.thrfrg(Operand::A, &lay!("(64,32):(32,1)")).unwrap_err(),
        TiledCopy::new(UNIVERSAL_COPY_128, 16, &threads, &lay!("(1,6):(6,1)")).unwrap_err(),
        copy.tidfrg_s(&lay!("(48,32):(32,1)")).unwrap_err(),
        // The rank is wrong.
        TiledMma::new(atom, lay!("(2,2,1,1):(1,2,0,0)")).unwrap_err(),
        mma.thrfrg(Operand::B, &lay!("(64,32,2):(32,1,2048)")).unwrap_err(),
        TiledCopy::new(UNIVERSAL_COPY_128, 16, &threads, &lay!("8:1")).unwrap_err(),
        copy.tidfrg_s(&lay!("1024:1")).unwrap_err(),
        // A vector is not aligned.
        emitted(&copy, lay!("(32,32):(33,1)"), 16).unwrap_err(),
        emitted(&asynchronous, tile, 8).unwrap_err(),
        // The tile is larger than the tensor.
        copy.tidfrg_d(&lay!("(16,32):(32,1)")).unwrap_err(),
        // The atom copies between other memories.
        wrong_memory,
    ];
    expect![[r#"
        thrfrg: (24,32):(32,1) does not fit SM80_16x8x16_F32BF16BF16F32_TN of 2 atoms of 16 in mode 0: extents that the atoms divide
        thrfrg: (64,32):(32,1) does not fit the order 48:1 of mode 0: a bijective order whose size divides the extent
        TiledCopy: ((4,32),6):((192,1),32) does not fit UniversalCopy<uint128_t> of values of 16 bits: values that the atom's values divide
        partition: (48,32):(32,1) does not fit the copy's tile (32,32): extents that the tile divides
        TiledMma: (2,2,1,1):(1,2,0,0) does not fit SM80_16x8x16_F32BF16BF16F32_TN: a bijective arrangement (AtomM,AtomN) or (AtomM,AtomN,AtomK)
        thrfrg: (64,32,2):(32,1,2048) does not fit B of SM80_16x8x16_F32BF16BF16F32_TN: a layout of two modes
        TiledCopy: (32,4):(4,1) does not fit 8:1: a thread layout and a value layout of the same rank
        partition: (1024):(1) does not fit the copy's tile (32,32): extents that the tile divides
        copy: Gmem f16 ((8,1),1,1):((1,0),0,0) to Rmem f16 ((8,1),1,1):((1,0),0,0) does not fit UniversalCopy<uint128_t>, from any to any: vectors that lie together in memory, aligned to their size, and in whole registers
        copy: Gmem f16 ((8,1),1,1):((1,0),0,0) to Smem f16 ((8,1),1,1):((1,0),0,0) does not fit SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, from Gmem to Smem: values that lie together on both sides, aligned to their size
        partition: (16,32):(32,1) does not fit the copy's tile (32,32): extents that the tile divides
        copy: Gmem f16 ((8,1),1,1):((1,0),0,0) to Rmem f16 ((8,1),1,1):((1,0),0,0) does not fit SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, from Gmem to Smem: the spaces that the atom copies between; of a tensor copy, its coordinates
    "#]].assert_eq(&texts.map(|error| format!("{error}\n")).concat());
}
