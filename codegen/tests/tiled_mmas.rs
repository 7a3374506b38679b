//! Tiled MMAs: partitions, their layouts by thread and value, and misuse.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_codegen::atom::{
    MmaAtom, SM61_DP4A, SM70_8X8X4_F32F16F16F32_TN, SM80_16X8X16_F32BF16BF16F32_TN,
    SM80_16X8X256_S32U1U1S32_TN_XORPOPC, SM90_16X8X16_F64F64F64F64_TN, UNIVERSAL_FMA_F32,
};
use girih_codegen::{Builder, Error, Expr, Gmem, Operand, TiledMma};
use girih_layout::{Lay, Tile, lay};
use girih_tensor::{DType, Tensor};

fn size(lay: &Lay) -> i64 {
    lay.size().unwrap().get().unwrap()
}

/// Atoms that differ in threads and operands, each with an arrangement and an order of the coordinates.
fn cases() -> Vec<TiledMma> {
    let wgmma = |name: &str| MmaAtom::find(name).unwrap();
    let mut out = Vec::new();
    for atom in [
        UNIVERSAL_FMA_F32,
        SM61_DP4A,
        SM80_16X8X16_F32BF16BF16F32_TN,
        SM80_16X8X256_S32U1U1S32_TN_XORPOPC,
        SM90_16X8X16_F64F64F64F64_TN,
        wgmma("SM90_64x24x16_F32F16F16_SS"),
        wgmma("SM90_64x16x32_S32S8S8_RS_TN"),
    ] {
        for atoms in
            ["(1,1):(0,0)", "(2,2):(1,2)", "(2,1,2):(2,0,1)", "((2,2),2,1):((1,4),2,0)", "(1,3,2):(0,2,1)"]
        {
            let mma = TiledMma::new(atom, Lay::parse(atoms).unwrap()).unwrap();
            out.push(mma);
            let [m, n, k] = mma.tile_size_mnk().unwrap();
            // The order goes over twice the atoms' tile along M, even places first.
            let order = Lay::strided([m, 2], [2, 1]).unwrap();
            out.push(mma.with_permutation([Tile::Lay(order), Tile::All, Tile::All]));
            let last = Lay::strided([k, 2], [2, 1]).unwrap();
            let other = Lay::leaf(n.into(), 1.into()).unwrap();
            out.push(mma.with_permutation([Tile::All, Tile::Lay(other), Tile::Lay(last)]));
        }
    }
    // Four quad pairs are a warp.
    for atoms in ["(2,2):(1,2)", "(4,1):(1,0)", "(2,2,2):(1,2,4)"] {
        out.push(TiledMma::new(SM70_8X8X4_F32F16F16F32_TN, Lay::parse(atoms).unwrap()).unwrap());
    }
    out
}

/// T07: each element of an operand belongs to as many threads as there are atoms along the third mode; an element of an operand in
/// shared memory belongs to every thread of such an atom.
#[test]
fn threads_and_values_cover_a_tile() {
    for mma in cases() {
        let tile = mma.tile_size_mnk().unwrap();
        for operand in Operand::ALL {
            let [x, y] = operand.modes();
            let other = 3 - x - y;
            let tv = mma.layout_tv(operand).unwrap();
            assert_eq!(size(&tv.mode(0).unwrap()), mma.threads().unwrap());
            let mut owners = vec![0; (tile[x] * tile[y]) as usize];
            for at in tv.indices().unwrap() {
                owners[at as usize] += 1;
            }
            let along = if other < mma.atoms.rank() { size(&mma.atoms.mode(other).unwrap()) } else { 1 };
            let held = size(&[mma.atom.a, mma.atom.b, mma.atom.c][operand as usize]);
            let copies = along * held / (mma.atom.shape_mnk[x] * mma.atom.shape_mnk[y]);
            assert!(owners.iter().all(|&n| n == copies), "{}: {operand:?} {tv}", mma.atom);
        }
    }
}

/// A thread's partition of two tiles by two is its row of the layout by thread and value, in the shape promised.
#[test]
fn partitions_are_rows_of_the_layout() {
    for mma in cases() {
        let tile = mma.tile_size_mnk().unwrap();
        for operand in Operand::ALL {
            let extents = operand.modes().map(|mode| tile[mode]);
            let twice = Lay::col_major([2 * extents[0], 2 * extents[1]]).unwrap();
            let data: Vec<i64> = (0..size(&twice)).collect();
            let tensor = Tensor::host(&data, twice).unwrap();
            let tv = mma.layout_tv(operand).unwrap();
            let threads = size(&tv.mode(0).unwrap());
            for thread in [0, 1, 5, threads / 2, threads - 1].into_iter().filter(|&t| t < threads) {
                let mine = mma.get_slice(&thread).unwrap().partition(operand, &tensor).unwrap();
                let doubled = extents.map(|n| 2 * n);
                assert_eq!(mine.layout().shape(), &mma.partition_shape(operand, doubled).unwrap());
                let mut found: Vec<i64> = (0..size(mine.layout())).map(|i| mine.at(i).unwrap()).collect();
                // Where a partition repeats within the permutation, its first tile is not contiguous, so both are compared as sets.
                let mut expected = Vec::new();
                for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    for v in 0..size(&tv.mode(1).unwrap()) {
                        let at = tv.crd2idx(&girih_layout::Coord::of(&[thread, v]).unwrap()).unwrap();
                        let (x, y) = (at % extents[0] + i * extents[0], at / extents[0] + j * extents[1]);
                        expected.push(x + y * 2 * extents[0]);
                    }
                }
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{} {}: {operand:?} of {thread}", mma.atom, mma.atoms);
            }
        }
    }
}

#[test]
fn misuse_is_explained() {
    let atom = SM80_16X8X16_F32BF16BF16F32_TN;
    let mma = TiledMma::new(atom, lay!("(2,2):(1,2)")).unwrap();
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(mma.thrfrg(Operand::A, &lay!("(48,16):(1,48)")).unwrap_err()),
        "thrfrg: (48,16):(1,48) does not fit SM80_16x8x16_F32BF16BF16F32_TN of 2 atoms of 16 in mode 0: \
         extents that the atoms divide"
    );
    assert_eq!(
        text(mma.thrfrg(Operand::B, &lay!("64:1")).unwrap_err()),
        "thrfrg: 64:1 does not fit B of SM80_16x8x16_F32BF16BF16F32_TN: a layout of two modes"
    );
    for atoms in ["4:1", "(2,2):(1,1)", "(2,2):(1,4)", "(2,2,1,1):(1,2,0,0)"] {
        let error = TiledMma::new(atom, Lay::parse(atoms).unwrap()).unwrap_err();
        assert_eq!(
            text(error),
            format!(
                "TiledMma: {atoms} does not fit SM80_16x8x16_F32BF16BF16F32_TN: \
                 a bijective arrangement (AtomM,AtomN) or (AtomM,AtomN,AtomK)"
            )
        );
    }
    assert_eq!(
        text(mma.get_slice(&128i64).unwrap_err()),
        "coordinate 128 is outside the mode 128:1: 0 <= coordinate < size is accepted"
    );
    let quad = TiledMma::new(SM70_8X8X4_F32F16F16F32_TN, lay!("(1,1):(0,0)")).unwrap();
    assert_eq!(
        text(quad.layout_tv(Operand::C).unwrap_err()),
        "layout_tv: ((4,2),1,1,1):((1,16),0,0,0) does not fit SM70_8x8x4_F32F16F16F32_TN: \
         atoms that fill whole warps"
    );
    // B of a warpgroup is not in registers.
    let wgmma =
        TiledMma::new(MmaAtom::find("SM90_64x16x16_F32F16F16_RS").unwrap(), lay!("(1,1):(0,0)")).unwrap();
    let mut b = Builder::new("k", 90, 128);
    let tensor = Tensor::new(Gmem::new(b.pointer("p", 16), DType::F16), lay!("(16,16):(16,1)"));
    let found = wgmma.get_slice(&Expr::from(0)).unwrap().partition_fragment(&mut b, Operand::B, &tensor);
    let message = text(found.unwrap_err());
    assert!(message.ends_with("this one it takes from shared memory, by descriptors"), "{message}");
}
