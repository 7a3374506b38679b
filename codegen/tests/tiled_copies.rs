//! Tiled copies by their laws: every instruction writes to its destination what it reads from its source, and retiled fragments
//! hold the same values in another order.

#![expect(clippy::unwrap_used, reason = "tests")]

use expect_test::expect;
use girih_codegen::atom::*;
use girih_codegen::{Builder, Error, Expr, Gmem, Operand, Rmem, TiledCopy, TiledMma};
use girih_layout::{Coord, Lay, Tile, Tiles, lay};
use girih_ptx::Special;
use girih_tensor::{DType, Tensor};

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

fn at(layout: &Lay, coordinate: &[i64]) -> i64 {
    layout.crd2idx(&Coord::of(coordinate).unwrap()).unwrap()
}

fn mode(layout: &Lay, path: &[usize]) -> Lay {
    path.iter().fold(*layout, |inner, &i| inner.mode(i).unwrap())
}

/// The atoms that move data between registers and memory or within one of them, each with the bits that a value may have.
fn atoms() -> Vec<(CopyAtom, Vec<u32>)> {
    let bits = |atom: &CopyAtom| match atom.op {
        CopyOp::Ldmatrix { transposed, .. } | CopyOp::Stmatrix { transposed, .. } => {
            if transposed {
                vec![16, 8]
            } else {
                vec![32, 16, 8]
            }
        }
        CopyOp::Movmatrix => vec![16, 8],
        CopyOp::Shuffle { .. } => vec![32, 16, 8],
        _ => vec![8, 16, 32, 64].into_iter().filter(|&bits| bits <= atom.bits()).collect(),
    };
    CopyAtom::all().into_iter().map(|atom| (atom, bits(&atom))).collect()
}

/// A copy of a tile by eight times the atom's threads, each with twice the atom's values.
fn copy_of(atom: CopyAtom, bits: u32) -> TiledCopy {
    let threads = 8 * size(&atom.threads);
    let own = if atom.op == CopyOp::AutoVectorizing { 4 } else { i64::from(atom.bits() / bits) };
    let tv = Lay::parse(&format!("({threads},({own},2)):({own},(1,{}))", threads * own)).unwrap();
    let tile = Tile::Lay(Lay::leaf((threads * own * 2).into(), 1.into()).unwrap());
    TiledCopy::from_tv(atom, bits, &tv, Tiles::new(&[tile]).unwrap()).unwrap()
}

/// T04: an instruction writes what it reads. Values of the source and the destination that meet in a bit of the atom are the same
/// element of the tile.
#[test]
fn source_and_destination_meet_in_the_bits_of_the_atom() {
    for (atom, all_bits) in atoms() {
        for bits in all_bits {
            let copy = copy_of(atom, bits);
            let tile = copy.extents().unwrap();
            let memory = Lay::col_major([tile[0]]).unwrap();
            let sides = [copy.tidfrg_s(&memory).unwrap(), copy.tidfrg_d(&memory).unwrap()];
            let each = if atom.op == CopyOp::AutoVectorizing { 1 } else { i64::from(atom.bits() / bits) };
            let element_of = |side: &Lay, layout: &Lay, instruction: i64, warp: i64| {
                // (bit of the atom, element of the tile) for each thread and value of one instruction
                let lanes = size(&atom.threads);
                let values = size(&mode(side, &[0, 1, 0]));
                let mut met = Vec::new();
                for (lane, v) in (0..lanes).flat_map(|lane| (0..values).map(move |v| (lane, v))) {
                    let thread = lane + lanes * warp;
                    let element = at(&mode(side, &[0]), &[thread, v + values * instruction]);
                    met.push((at(layout, &[lane, v * i64::from(bits)]), element));
                }
                met.sort_unstable();
                met.dedup();
                met
            };
            if each * i64::from(bits) == i64::from(atom.bits()) {
                for (instruction, warp) in [(0, 0), (1, 0), (0, 7), (1, 5)] {
                    let read = element_of(&sides[0], &atom.src, instruction, warp);
                    let written = element_of(&sides[1], &atom.dst, instruction, warp);
                    assert_eq!(read, written, "{atom} of {bits} bits");
                    let elements =
                        read.iter().map(|(_, element)| element).collect::<std::collections::BTreeSet<_>>();
                    assert_eq!(elements.len(), read.len(), "{atom} of {bits} bits");
                }
            }
            // The reference side is the layout that the copy was made of.
            let side = if atom.reference == atom.src { &sides[0] } else { &sides[1] };
            for (thread, v) in [(0, 0), (1, 1), (7, 1)] {
                assert_eq!(at(&mode(side, &[0]), &[thread, v]), at(&copy.tv, &[thread, v]), "{atom}");
            }
        }
    }
}

/// Each lane of `ldmatrix` gives the address of a row of an 8x8 matrix, 16 bytes that follow each other.
#[test]
fn ldmatrix_reads_rows() {
    // A warp's A fragments of m16n8k16 in a tile of 16 x 16 halves, rows of 64.
    let a = SM80_16X8X16_F32BF16BF16F32_TN.a;
    let tiler = Tiles::new(&[Tile::Lay(lay!("16:1")), Tile::Lay(lay!("16:1"))]).unwrap();
    let copy = TiledCopy::from_tv(SM75_U32X4_LDSM_N, 16, &a, tiler).unwrap();
    let rows = copy.tidfrg_s(&lay!("(16,16):(64,1)")).unwrap();
    for (lane, v) in (0..32).flat_map(|lane| (0..8).map(move |v| (lane, v))) {
        // Lane 8j + i: row i of matrix j, at (8(j % 2), 8(j / 2)).
        let (j, i) = (lane / 8, lane % 8);
        assert_eq!(
            at(&mode(&rows, &[0]), &[lane, v]),
            64 * (i + 8 * (j % 2)) + 8 * (j / 2) + v,
            "{lane}, {v}"
        );
    }
    // Memory is contiguous along m here, so that rows of the fragment are not contiguous, and the transposing form is needed.
    let transposing = TiledCopy::from_tv(SM75_U16X8_LDSM_T, 16, &a, tiler).unwrap();
    let rows = transposing.tidfrg_s(&lay!("(16,16):(1,64)")).unwrap();
    assert_eq!(mode(&rows, &[0, 1, 0]).to_string(), "8:1");
}

fn two_warps(atoms: Lay) -> TiledMma {
    TiledMma { atom: SM80_16X8X16_F32BF16BF16F32_TN, atoms, permutation: [Tile::All; 3] }
}

/// T05: the fragment that an MMA made, retiled, holds for each thread and value the element that the copy's partition
/// has there.
#[test]
fn retiled_fragments_hold_what_the_copy_moves() {
    let thread = 5;
    for (tile, atom) in [
        ("(16,16)", SM75_U32X4_LDSM_N),
        ("(16,16)", SM75_U32X2_LDSM_N),
        ("(16,16)", SM75_U32X1_LDSM_N),
        ("(16,16)", UNIVERSAL_COPY_32),
        ("(16,16)", UNIVERSAL_COPY_16),
        ("(32,16)", SM75_U32X4_LDSM_N),
        ("(32,32)", SM75_U32X4_LDSM_N),
        ("(32,32)", SM75_U16X8_LDSM_T),
    ] {
        // The fragments of a warp are (Thr,Val) of as many atoms as the tile has; the copy's tile is the same.
        let tile = Lay::parse(tile).unwrap();
        let frg = two_warps(lay!("(1,1):(1,1)")).thrfrg(Operand::A, &tile).unwrap();
        let tv = Lay::concat(&[mode(&frg, &[0]).coalesce(), mode(&frg, &[1])]).unwrap();
        let [m, k] = [0, 1].map(|i| size(&tile.mode(i).unwrap()));
        let tiles = [m, k].map(|n| Tile::Lay(Lay::leaf(n.into(), 1.into()).unwrap()));
        let copy = TiledCopy::from_tv(atom, 16, &tv, Tiles::new(&tiles).unwrap()).unwrap();
        for [more_m, more_k] in [[1, 1], [2, 1], [1, 3], [2, 2]] {
            let whole = Lay::col_major([m * more_m, k * more_k]).unwrap();
            let mma = two_warps(lay!("(1,1):(1,1)")).thrfrg(Operand::A, &whole).unwrap();
            // (Frg,RestM,RestK) -> element; in registers the same shape is compact.
            let values = [mode(&mma, &[1, 0]), mode(&mma, &[1, 1, 0]), mode(&mma, &[1, 1, 1])];
            let element = |v: i64, i: i64, j: i64| {
                at(&mode(&mma, &[0]), &[thread % 32, 0])
                    + values[0].at(v).unwrap()
                    + values[1].at(i).unwrap()
                    + values[2].at(j).unwrap()
            };
            let sizes = [0, 1, 2].map(|i| size(&values[i]));
            let fragment = Lay::col_major(sizes).unwrap();
            let mut b = Builder::new("k", 80, 32);
            let lane = b.special(Special::TidX);
            let registers = Rmem::tensor(&mut b, DType::F16, fragment).unwrap();
            let retiled = *copy.get_slice(&lane).unwrap().retile_d(&registers).unwrap().layout();
            let partition = copy.tidfrg_d(&whole).unwrap();
            let moved = Lay::concat(&[mode(&partition, &[0, 1]), mode(&partition, &[1])]).unwrap();
            assert_eq!(size(&retiled), size(&moved), "{atom}");
            for index in 0..size(&retiled) {
                let register = retiled.at(index).unwrap();
                let (v, rest) = (register % sizes[0], register / sizes[0]);
                let expected = element(v, rest % sizes[1], rest / sizes[1]);
                let moved = mode(&partition, &[0, 0]).at(thread).unwrap() + moved.at(index).unwrap();
                assert_eq!(moved, expected, "{atom} in {tile}: {retiled}, value {index}");
            }
        }
    }
}

/// The same holds for fragments of a tiled MMA: of every thread, with several warps and any order of the tile.
#[test]
fn copies_follow_the_fragments_of_an_mma() {
    let orders =
        [[Tile::All; 3], [Tile::Lay(lay!("32:1")), Tile::Lay(lay!("32:1")), Tile::Lay(lay!("16:1"))]];
    let mut compared = std::collections::BTreeSet::new();
    for (atoms, order) in
        ["(1,1,1):(1,1,1)", "(2,2,1):(1,2,4)", "(1,4,1):(0,1,0)"].iter().flat_map(|a| orders.map(|o| (a, o)))
    {
        let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, Lay::parse(atoms).unwrap()).unwrap();
        let mma = mma.with_permutation(order);
        let Ok(sizes) = mma.tile_size_mnk() else { continue };
        for (operand, modes) in [(Operand::A, [0, 2]), (Operand::B, [1, 2]), (Operand::C, [0, 1])] {
            for atom in [
                SM75_U32X4_LDSM_N,
                SM75_U32X2_LDSM_N,
                SM75_U32X1_LDSM_N,
                UNIVERSAL_COPY_32,
                SM90_U32X1_STSM_N,
            ] {
                let Ok(copy) = TiledCopy::of_mma(atom, 16, &mma, operand) else { continue };
                compared.insert((atom.name(), operand as usize));
                let extents = modes.map(|mode| 2 * sizes[mode]);
                let whole = Lay::col_major(extents).unwrap();
                let identity = Lay::left(whole.shape()).unwrap();
                for thread in 0..mma.threads().unwrap() {
                    let tensor = Tensor::host(&VALUES, identity).unwrap();
                    let fragment = mma.get_slice(&thread).unwrap().partition(operand, &tensor).unwrap();
                    let registers = Lay::left(fragment.layout().shape()).unwrap();
                    let numbers = Tensor::host(&VALUES, registers).unwrap();
                    let mine = copy.get_slice(&thread).unwrap();
                    let (retiled, moved) = if atom.reference == atom.src {
                        (mine.retile_s(&numbers).unwrap(), mine.partition_s(&tensor).unwrap())
                    } else {
                        (mine.retile_d(&numbers).unwrap(), mine.partition_d(&tensor).unwrap())
                    };
                    assert_eq!(size(retiled.layout()), size(fragment.layout()));
                    for i in 0..size(retiled.layout()) {
                        let register = i64::from(retiled.at(i).unwrap());
                        assert_eq!(
                            moved.at(i).unwrap(),
                            fragment.at(register).unwrap(),
                            "{atom}, {atoms}, {operand:?}: {i}"
                        );
                    }
                }
            }
        }
    }
    // Every atom was compared with every operand, in one order or another.
    assert_eq!(compared.len(), 15, "{compared:?}");
}

/// Each value is its own number.
static VALUES: [u16; 1 << 14] = {
    let mut values = [0; 1 << 14];
    let mut i = 0;
    while i < values.len() {
        values[i] = i as u16;
        i += 1;
    }
    values
};

#[test]
fn copies_like_another_have_its_fragments() {
    let a = SM80_16X8X16_F32BF16BF16F32_TN.a;
    let tiler = Tiles::new(&[Tile::Lay(lay!("16:1")), Tile::Lay(lay!("16:1"))]).unwrap();
    let ldmatrix = TiledCopy::from_tv(SM75_U32X4_LDSM_N, 16, &a, tiler).unwrap();
    let words = ldmatrix.like_d(UNIVERSAL_COPY_32).unwrap();
    let rows = ldmatrix.like_s(UNIVERSAL_COPY_128).unwrap();
    let tile = lay!("(16,16):(1,16)");
    for i in 0..256 {
        let value = |copy: &TiledCopy| copy.layout_d_tv(&[16, 16]).unwrap().at(i).unwrap();
        assert_eq!(value(&words), a.at(i).unwrap());
        assert_eq!(value(&rows), ldmatrix.layout_s_tv(&[16, 16]).unwrap().at(i).unwrap());
    }
    assert_eq!(mode(&words.tidfrg_s(&tile).unwrap(), &[0, 1]).rank(), 2);
}

/// A copy made from addresses moves the elements at those addresses.
#[test]
fn cotiled_copies_move_their_addresses() {
    for (tv, data, tile) in [
        (lay!("(32,8):(8,1)"), lay!("(8,64):(64,1)"), [4, 64]),
        (lay!("(32,8):(8,1)"), lay!("(64,8):(1,64)"), [64, 4]),
        (lay!("((8,4),8):((8,64),1)"), lay!("(16,64):(64,1)"), [4, 64]),
        (lay!("((8,4),(2,4)):((64,2),(1,8))"), lay!("(8,64):(64,1)"), [8, 32]),
    ] {
        let copy = TiledCopy::cotiled(UNIVERSAL_COPY_16, 16, &tv, &data).unwrap();
        assert_eq!(copy.extents().unwrap(), tile, "{tv} in {data}");
        let frg = copy.tidfrg_s(&data).unwrap(); // ((Thr,Val),Rest) -> address
        for index in 0..size(&tv) {
            assert_eq!(mode(&frg, &[0]).at(index).unwrap(), tv.at(index).unwrap(), "{tv} in {data}: {index}");
        }
    }
    let found = TiledCopy::cotiled(UNIVERSAL_COPY_16, 16, &lay!("(32,8):(64,1)"), &lay!("(8,64):(64,1)"));
    assert!(matches!(found, Err(Error::Mismatch { what: "cotiled copy", .. })), "{found:?}");
}

/// Vectors and tensors of three modes are tiled as matrices are.
#[test]
fn tiles_have_any_rank() {
    let line = TiledCopy::new(UNIVERSAL_COPY_32, 32, &lay!("32:1"), &lay!("4:1")).unwrap();
    assert_eq!(line.extents().unwrap(), [128]);
    assert_eq!(line.tidfrg_s(&lay!("512:1")).unwrap().to_string(), "((32,(1,4)),(4)):((4,(0,1)),(128))");
    let cube =
        TiledCopy::new(UNIVERSAL_COPY_32, 32, &lay!("(4,4,2):(1,4,16)"), &lay!("(1,2,2):(1,1,2)")).unwrap();
    assert_eq!(cube.extents().unwrap(), [4, 8, 4]);
    let mut owned: Vec<i64> = (0..128).map(|i| cube.tv.at(i).unwrap()).collect();
    owned.sort_unstable();
    assert!(owned.into_iter().eq(0..128));
}

#[test]
fn misuse_is_told() {
    let mut texts = Vec::new();
    let bad: [(CopyAtom, u32, Lay, Lay); 4] = [
        (UNIVERSAL_COPY_128, 32, lay!("(32,4):(4,1)"), lay!("(1,2):(2,1)")),
        (UNIVERSAL_COPY_16, 32, lay!("(32,4):(4,1)"), lay!("(1,2):(2,1)")),
        (SM75_U32X4_LDSM_N, 16, lay!("(4,4):(4,1)"), lay!("(1,8):(8,1)")),
        (SM75_U16X8_LDSM_T, 32, lay!("(8,4):(4,1)"), lay!("(1,4):(4,1)")),
    ];
    for (atom, bits, threads, values) in bad {
        texts.push(TiledCopy::new(atom, bits, &threads, &values).unwrap_err().to_string());
    }
    let copy = TiledCopy::new(UNIVERSAL_COPY_128, 32, &lay!("(32,4):(4,1)"), &lay!("(1,4):(4,1)")).unwrap();
    let mut b = Builder::new("k", 80, 128);
    let (pointer, thread) = (b.pointer("p", 16), b.special(Special::TidX));
    let tensor = |layout| Tensor::new(Gmem::new(pointer.clone(), DType::F32), layout);
    let mine = copy.get_slice(&thread).unwrap();
    for layout in [lay!("(48,16):(16,1)"), lay!("(16,8):(8,1)"), lay!("512:1")] {
        texts.push(mine.partition_s(&tensor(layout)).unwrap_err().to_string());
    }
    texts.push(copy.get_slice(&128).unwrap_err().to_string());
    let fragment = Rmem::tensor(&mut b, DType::F32, lay!("(3,2,2)")).unwrap();
    texts.push(mine.retile_d(&fragment).unwrap_err().to_string());
    // The registers of ldmatrix are its destination.
    let a = SM80_16X8X16_F32BF16BF16F32_TN.a;
    let tiler = Tiles::new(&[Tile::Lay(lay!("16:1")), Tile::Lay(lay!("16:1"))]).unwrap();
    let ldmatrix = TiledCopy::from_tv(SM75_U32X4_LDSM_N, 16, &a, tiler).unwrap();
    let fragment = Rmem::tensor(&mut b, DType::F16, lay!("(8,2,2)")).unwrap();
    texts.push(ldmatrix.get_slice(&Expr::from(3)).unwrap().retile_s(&fragment).unwrap_err().to_string());
    expect![[r#"
        TiledCopy: ((4,32),2):((64,1),32) does not fit UniversalCopy<uint128_t> of values of 32 bits: values that the atom's values divide
        TiledCopy: (1,16):(0,1) does not fit UniversalCopy<uint16_t>, values of 32 bits: values that the atom's pieces hold whole
        TiledCopy: ((4,4),8):((32,1),4) does not fit SM75_U32x4_LDSM_N of values of 16 bits: threads that the atom's threads divide
        TiledCopy: ((4,8),(16,2,4)):((256,16),(1,128,1024)) does not fit SM75_U16x8_LDSM_T, values of 32 bits: values that the atom's pieces hold whole
        partition: (48,16):(16,1) does not fit the copy's tile (32,16): extents that the tile divides
        partition: (16,8):(8,1) does not fit the copy's tile (32,16): extents that the tile divides
        partition: (512):(1) does not fit the copy's tile (32,16): extents that the tile divides
        coordinate 128 is outside the mode (4,32):(128,1): 0 <= coordinate < size is accepted
        retile: (3,2,2):(1,3,6) does not fit UniversalCopy<uint128_t> over ((4,32),4):((128,1),32): a fragment whose first values are the thread's first values in the tile
        retile: (8,2,2):(1,8,16) does not fit SM75_U32x4_LDSM_N over ((4,8),(2,2,2)):((32,1),(16,8,128)): the side that holds the atom's registers
    "#]].assert_eq(&(texts.join("\n") + "\n"));
}

/// A copy is refused if threads or values have no numbers of their own, or if it leaves its tile.
#[test]
fn copies_of_no_tile_are_refused() {
    let copy = |threads: &str, values: &str| {
        let (threads, values) = (Lay::parse(threads).unwrap(), Lay::parse(values).unwrap());
        TiledCopy::new(AUTO_VECTORIZING_COPY, 16, &threads, &values)
    };
    for bijective in ["(8,4):(4,1)", "(8,4):(1,8)", "((2,4),4):((4,8),1)", "(8,1,4):(4,0,1)"] {
        let values = if bijective.starts_with("(8,1") { "(2,1,4):(4,77,1)" } else { "(2,4):(4,1)" };
        let copy = copy(bijective, values).unwrap();
        assert_eq!(size(&copy.tv), copy.extents().unwrap().iter().product::<i64>(), "{bijective}");
    }
    let tile = |n: i64| Tiles::new(&[Tile::Lay(Lay::leaf(n.into(), 1.into()).unwrap())]).unwrap();
    let texts = [
        copy("(8,4):(0,1)", "(1,4):(4,1)"),
        copy("(8,4):(8,2)", "(1,4):(4,1)"),
        copy("(8,4):(4,1)", "(2,4):(1,1)"),
        TiledCopy::from_tv(AUTO_VECTORIZING_COPY, 16, &lay!("(32,4):(4,1)"), tile(127)),
        TiledCopy::from_tv(AUTO_VECTORIZING_COPY, 16, &lay!("(32,4):(4,-1)"), tile(128)),
    ];
    let texts: Vec<String> = texts.into_iter().map(|found| found.unwrap_err().to_string()).collect();
    expect![[r#"
        TiledCopy: (8,4):(0,1) does not fit the threads' numbers: a bijection onto the numbers from 0 to below its size
        TiledCopy: (8,4):(8,2) does not fit the threads' numbers: a bijection onto the numbers from 0 to below its size
        TiledCopy: (2,4):(1,1) does not fit the values' numbers: a bijection onto the numbers from 0 to below its size
        TiledCopy: (32,4):(4,1) does not fit a tile of 127 elements, <127:1>: (Thr,Val) with indices inside the tile
        TiledCopy: (32,4):(4,-1) does not fit a tile of 128 elements, <128:1>: (Thr,Val) with indices inside the tile
    "#]].assert_eq(&(texts.join("\n") + "\n"));
    TiledCopy::from_tv(AUTO_VECTORIZING_COPY, 16, &lay!("(32,4):(4,1)"), tile(128)).unwrap();
}

/// The tile of a cotiled copy has the data's own modes, also if these are nested; addresses between those of the data are not part of it.
#[test]
fn cotiled_copies_have_the_modes_of_their_data() {
    for (tv, data, extents) in [
        ("(8,4):(1,8)", "((2,4),4):((1,8),2)", vec![8, 4]),
        ("(8,4):(1,8)", "(4,(2,4)):(2,(1,8))", vec![4, 8]),
        ("(4,4):(4,1)", "((4,2),4):((4,16),1)", vec![4, 4]),
        ("(4,4):(8,2)", "(4,4):(8,2)", vec![4, 4]),
        ("32:1", "32:1", vec![]),
    ] {
        let (tv, data) = (Lay::parse(tv).unwrap(), Lay::parse(data).unwrap());
        let copy = TiledCopy::cotiled(AUTO_VECTORIZING_COPY, 16, &tv, &data);
        if extents.is_empty() {
            // A layout without threads and values is refused.
            assert!(matches!(copy, Err(Error::Mismatch { .. })), "{copy:?}");
            continue;
        }
        let copy = copy.unwrap();
        assert_eq!(copy.extents().unwrap(), extents, "{data}");
        let moved = mode(&copy.tidfrg_s(&data).unwrap(), &[0]);
        assert!((0..size(&tv)).all(|i| moved.at(i).unwrap() == tv.at(i).unwrap()), "{data}: {moved}");
    }
    for (tv, data) in
        [("(4,4):(4,1)", "(4,4):(8,2)"), ("(16,8):(8,1)", "(4,32):(40,1)"), ("(8,4):(16,1)", "(8,8):(8,1)")]
    {
        let copy = TiledCopy::cotiled(
            AUTO_VECTORIZING_COPY,
            16,
            &Lay::parse(tv).unwrap(),
            &Lay::parse(data).unwrap(),
        );
        let text = format!(
            "cotiled copy: {tv} does not fit {data}: threads and values whose addresses are the data's"
        );
        assert_eq!(copy.unwrap_err().to_string(), text);
    }
}
