//! Tensors that are combined value by value must have the same elements of a tile.

#![expect(clippy::unwrap_used, reason = "tests")]

use expect_test::expect;
use girih_codegen::algorithm::{axpby, clear, copy, gemm, transform};
use girih_codegen::atom::*;
use girih_codegen::{Builder, Error, Gmem, Operand, Rmem, Smem, TiledCopy, TiledMma};
use girih_layout::{Tile, lay};
use girih_ptx::{Module, Special};
use girih_sim::Memory;
use girih_tensor::{DType, Tensor};

use crate::simulator::{addresses, block, checked, download, upload};

mod products;
mod random;

/// Four warps, whose B and C are two atoms wide.
fn mma() -> TiledMma {
    let plain = TiledMma::new(SM80_16X8X8_F32TF32TF32F32_TN, lay!("(2,2,1):(1,2,4)")).unwrap();
    plain.with_permutation([Tile::All, Tile::Lay(lay!("32:1")), Tile::All])
}

/// The choice of the program where a fragment has to be retiled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Retile {
    Yes,
    Forgotten,
    /// The program takes the registers in the order of the fragment, on purpose.
    Meant,
}

/// `c = a * b^T` of 64 x 32 x 16, stored by a copy that follows the fragments of C.
fn product(retile: Retile) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, 128);
    let pointers = ["a", "b", "c"].map(|name| b.pointer(name, 16));
    let dtypes = [DType::Tf32, DType::Tf32, DType::F32];
    let layouts = [lay!("(64,16):(16,1)"), lay!("(32,16):(16,1)"), lay!("(64,32):(32,1)")];
    let matrix = |i: usize| Tensor::new(Gmem::new(pointers[i].clone(), dtypes[i]), layouts[i]);
    let thread = b.special(Special::TidX);
    let thr_mma = mma().get_slice(&thread)?;
    let mut fragments = Vec::new();
    for operand in Operand::ALL {
        let fragment = thr_mma.partition_fragment(&mut b, operand, &matrix(operand as usize))?;
        match operand {
            Operand::C => clear(&mut b, &fragment)?,
            _ => copy(
                &mut b,
                AUTO_VECTORIZING_COPY,
                &thr_mma.partition(operand, &matrix(operand as usize))?,
                &fragment,
            )?,
        }
        fragments.push(fragment);
    }
    gemm(&mut b, &mma(), &fragments[0], &fragments[1], &fragments[2])?;
    let store = TiledCopy::of_mma(UNIVERSAL_COPY_64, 32, &mma(), Operand::C)?;
    let (mine, sums) = (store.get_slice(&thread)?, &fragments[2]);
    let values = match retile {
        Retile::Yes => mine.retile_s(sums)?,
        Retile::Forgotten => sums.clone(),
        Retile::Meant => Tensor::new(sums.engine().of_no_tile(), *sums.layout()),
    };
    copy(&mut b, &store, &values, &mine.partition_d(&matrix(2))?)?;
    Ok(b.finish()?.into_module())
}

/// How many elements of C are right.
fn right(module: &Module) -> usize {
    let number = |x: i64, k: i64| ((x * 7 + k * 3) % 11 - 5) as f32;
    let memory = Memory::new();
    let places: Vec<u64> = [64, 32]
        .map(|extent| {
            let values = (0..extent * 16).flat_map(|i| number(i / 16, i % 16).to_le_bytes());
            upload(&memory, &values.collect::<Vec<u8>>())
        })
        .into();
    let c = memory.alloc(64 * 32 * 4).unwrap();
    let launch = block(128, 0, addresses(&[places[0], places[1], c]));
    checked(module, &memory, &launch).unwrap();
    let found = download(&memory, c, 64 * 32 * 4);
    let is_right = |(i, word): &(usize, &[u8])| {
        let (m, n) = (*i as i64 / 32, *i as i64 % 32);
        let expected: f32 = (0..16).map(|k| number(m, k) * number(n, k)).sum();
        word == &expected.to_le_bytes()
    };
    found.chunks(4).enumerate().filter(is_right).count()
}

/// Without a retile, a copy with as many values as the sums but another order would give wrong results.
#[test]
fn a_forgotten_retile_is_refused() {
    assert_eq!(right(&product(Retile::Yes).unwrap()), 64 * 32);
    assert!(right(&product(Retile::Meant).unwrap()) < 64 * 32);
    let refused = product(Retile::Forgotten).unwrap_err();
    assert!(matches!(refused, Error::Incongruent(_)));
    expect!["copy: value 4 of thread 0 is element (32,0) of the tile in a fragment by ((4,8,2,2):(2@1,1@0,16@0,8@1),((2,2),2,2):((1@1,8@0),32@0,16@1)), but element (0,16) in memory by ((4,8,2,2):(2@1,1@0,16@0,8@1),((2,(2,2)),2,1):((1@1,(8@0,16@1)),32@0,0)) (counted from value 0 of thread 0): accepted are the thread's values in the memory's order: `retile_s` of the tiled copy that partitioned it"].assert_eq(&refused.to_string());
}

/// Fragments of different partitions are refused by every algorithm that combines them.
#[test]
fn what_does_not_belong_together_is_refused() {
    let mut b = Builder::new("k", 80, 128);
    let thread = b.special(Special::TidX);
    let tile = Smem::alloc(&mut b, DType::F32, None, &lay!("(32,32):(32,1)")).unwrap();
    let rows = TiledCopy::new(UNIVERSAL_COPY_128, 32, &lay!("(16,8):(8,1)"), &lay!("(1,4)")).unwrap();
    let columns = TiledCopy::new(UNIVERSAL_COPY_128, 32, &lay!("(8,16):(1,8)"), &lay!("(4,1)")).unwrap();
    let [by_rows, by_columns] = [rows, columns]
        .map(|copy| copy.get_slice(&thread).unwrap().partition_fragment_s(&mut b, &tile).unwrap());
    let mut texts = Vec::new();
    let op = |_: &mut Builder, x: &[girih_codegen::Scalar]| Ok(&x[0] + &x[1]);
    let unknown = Rmem::tensor(&mut b, DType::F32, *by_rows.layout()).unwrap();
    transform(&mut b, &[&by_rows, &by_rows], &unknown, op).unwrap();
    texts.push(transform(&mut b, &[&by_rows, &by_columns], &unknown, op).unwrap_err());
    texts.push(transform(&mut b, &[&unknown, &by_rows], &by_columns, op).unwrap_err());
    texts.push(axpby(&mut b, 1.0, &by_rows, 1.0, &by_columns).unwrap_err());

    // B of two atoms along N and two along K: a copy has the values of its tile together, the MMA all atoms along N.
    let mma = mma().with_permutation([Tile::All, Tile::Lay(lay!("32:1")), Tile::Lay(lay!("16:1"))]);
    let thr_mma = mma.get_slice(&thread).unwrap();
    let [tile, whole] = [lay!("(64,32):(32,1)"), lay!("(64,64):(64,1)")]
        .map(|layout| Smem::alloc(&mut b, DType::Tf32, None, &layout).unwrap());
    let [a, right] = [Operand::A, Operand::B].map(|x| thr_mma.partition_fragment(&mut b, x, &tile).unwrap());
    let sums = thr_mma.partition_fragment(&mut b, Operand::C, &whole).unwrap();
    let read = TiledCopy::of_mma(SM75_U32X4_LDSM_N, 32, &mma, Operand::B).unwrap();
    let mine = read.get_slice(&thread).unwrap();
    let source = mine.partition_s(&tile).unwrap();
    copy(&mut b, &read, &source, &mine.retile_d(&right).unwrap()).unwrap();
    gemm(&mut b, &mma, &a, &right, &sums).unwrap();
    texts.push(copy(&mut b, &read, &source, &right).unwrap_err());
    let wrong = mine.partition_fragment_d(&mut b, &tile).unwrap();
    copy(&mut b, &read, &source, &wrong).unwrap();
    let wrong = Tensor::new(wrong.engine().clone(), *right.layout());
    texts.push(gemm(&mut b, &mma, &a, &wrong, &sums).unwrap_err());

    // The MMA hands out columns in another order, and the copy of its fragments has that order too.
    let order = Tile::Lay(lay!("(8,2,2):(1,16,8)"));
    let results = Smem::alloc(&mut b, DType::F32, None, &lay!("(64,32):(32,1)")).unwrap();
    let mma = TiledMma::new(SM80_16X8X8_F32TF32TF32F32_TN, lay!("(4,1,1)")).unwrap();
    let mma = mma.with_permutation([Tile::All, order, Tile::All]);
    let sums = mma.get_slice(&thread).unwrap().partition_fragment(&mut b, Operand::C, &results).unwrap();
    let store = TiledCopy::of_mma(UNIVERSAL_COPY_64, 32, &mma, Operand::C).unwrap();
    let mine = store.get_slice(&thread).unwrap();
    let target = mine.partition_d(&results).unwrap();
    copy(&mut b, &store, &sums, &target).unwrap();
    texts.push(copy(&mut b, &store, &mine.retile_s(&sums).unwrap(), &target).unwrap_err());

    let texts: Vec<String> = texts.iter().map(|error| error.to_string()).collect();
    expect![[r#"
        transform: value 1 of thread 0 is element (1,0) of the tile in a fragment by ((8,16):(4@0,1@1),((4,1),1,2):((1@0,0),0,16@1)), but element (0,1) in a fragment by ((8,16):(4@1,1@0),((4,1),2,1):((1@1,0),16@0,0)) (counted from value 0 of thread 0): accepted are parts of one partition, as `TiledCopy::of_mma` gives them for the fragments of an MMA; `Rmem::of_no_tile` if the combination is meant
        transform: value 1 of thread 0 is element (0,1) of the tile in a fragment by ((8,16):(4@1,1@0),((4,1),2,1):((1@1,0),16@0,0)), but element (1,0) in a fragment by ((8,16):(4@0,1@1),((4,1),1,2):((1@0,0),0,16@1)) (counted from value 0 of thread 0): accepted are parts of one partition, as `TiledCopy::of_mma` gives them for the fragments of an MMA; `Rmem::of_no_tile` if the combination is meant
        axpby: value 1 of thread 0 is element (0,1) of the tile in a fragment by ((8,16):(4@1,1@0),((4,1),2,1):((1@1,0),16@0,0)), but element (1,0) in a fragment by ((8,16):(4@0,1@1),((4,1),1,2):((1@0,0),0,16@1)) (counted from value 0 of thread 0): accepted are parts of one partition, as `TiledCopy::of_mma` gives them for the fragments of an MMA; `Rmem::of_no_tile` if the combination is meant
        copy: value 4 of thread 0 is element (0,8) of the tile in memory by ((8,2,2,2,2):(1@0,4@1,16@0,0,8@0),((4,2),2,2):((1@1,8@1),32@0,16@1)), but element (32,0) in a fragment by ((4,8,2,2):(1@1,1@0,0,8@0),(2,4,4):(4@1,16@0,8@1)) (counted from value 0 of thread 0): accepted are the thread's values in the memory's order: `retile_d` of the tiled copy that partitioned it
        gemm: value 8 of thread 0 is element n = 32 of the tile in B, a fragment by ((4,8,2,2):(1@1,1@0,0,8@0),(((2,2),2),2,2):(((4@1,16@0),8@1),32@0,16@1)), but element n = 0 in B of SM80_16x8x8_F32TF32TF32F32_TN, ((4,8),2):((8,1),32) (counted from value 0 of thread 0): accepted are fragments of one tiled MMA (`ThrMma::partition_fragment`), which tiled copies fill by `retile_d`
        copy: value 4 of thread 0 is element (0,8) of the tile in a fragment by ((4,8,4):(2@1,1@0,16@0),((2,2),1,(2,2)):((1@1,8@0),0,(16@1,8@1))), but element (0,16) in memory by ((4,8,4):(2@1,1@0,16@0),((2,(2,2,2)),1,1):((1@1,(8@0,16@1,8@1)),0,0)) (counted from value 0 of thread 0): accepted are the fragment in the order in which it was made, which is the order of the other tensor"#]].assert_eq(&texts.join("\n"));
}
