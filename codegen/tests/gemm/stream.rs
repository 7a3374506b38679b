//! The pieces of tiles that blocks go through, where these share out tiles along K evenly.

use std::collections::{BTreeMap, BTreeSet};

use girih_codegen::gemm::{
    Epilogue, GemmConfig, GemmKernel, Handed, Piece, Pieces, Schedule, Store, generate,
};
use girih_layout::lay;
use girih_tensor::DType;

use crate::warp_specialized::config;

const TILE: [i64; 3] = [128, 64, 64];
/// As many tiles along K as it costs to hand over sums, which the choice of the cut counts.
const COST: u32 = 4;

pub(crate) fn kernel(alternate: bool) -> GemmKernel {
    let base = config("SM90_64x64x16_F32BF16BF16_SS", TILE, lay!("(2,1):(1,0)"), DType::Bf16);
    let store = Store::Tma { tile: [128, 64], stages: 1 };
    generate(&GemmConfig { store, schedule: Schedule::StreamK { alternate }, ..base }, &Epilogue::new())
        .unwrap()
}

/// The pieces of `l` products of so many tiles, on so many multiprocessors.
fn pieces(kernel: &GemmKernel, tiles: [i64; 3], l: i64, multiprocessors: u32) -> Pieces {
    let mnk = [0, 1, 2].map(|i| tiles[i] * TILE[i]);
    kernel.pieces(mnk, l, multiprocessors).unwrap().unwrap()
}

fn all_pieces(pieces: &Pieces) -> impl Iterator<Item = &Piece> {
    pieces.blocks().iter().flatten()
}

/// Every tile along K of every tile is multiplied once, the pieces of a tile are handed over in their order along K, and blocks that run one
/// after the other, in the order of their numbers, never wait.
fn check(pieces: &Pieces, tiles: [i64; 3], l: i64) {
    let mut parts = BTreeMap::<[u32; 3], Vec<&Piece>>::new();
    all_pieces(pieces).for_each(|piece| parts.entry(piece.tile).or_default().push(piece));
    assert_eq!(parts.len() as i64, tiles[0] * tiles[1] * l);
    let (mut arrays, mut counted) = (BTreeSet::new(), 0);
    for ([row, column, product], mut own) in parts {
        assert!(i64::from(row) < tiles[0] && i64::from(column) < tiles[1] && i64::from(product) < l);
        own.sort_by_key(|piece| piece.k.start);
        let others = own.len() as u32 - 1;
        let mut at = 0;
        for (piece, i) in own.iter().zip(0..) {
            assert!(piece.k.start == at && piece.k.end > at, "{own:?}");
            at = piece.k.end;
            let Handed::Stored { first, others: wanted } = own[0].sums else { panic!("{own:?}") };
            assert_eq!(wanted, others);
            if i > 0 {
                let array = first + i - 1;
                assert_eq!(piece.sums, Handed::Left { array, first });
                assert!(arrays.insert(array) && !piece.backwards);
            }
        }
        assert_eq!(i64::from(at), tiles[2]);
        counted += others;
    }
    let array = (TILE[0] * TILE[1] * 4) as u64;
    assert_eq!(pieces.workspace(), [u64::from(counted) * array, u64::from(counted) * 4]);
    assert!(arrays.into_iter().eq(0..counted));
    let mut left = BTreeSet::new();
    for piece in all_pieces(pieces) {
        match piece.sums {
            Handed::Left { array, .. } => assert!(left.insert(array)),
            Handed::Stored { first, others } => assert!((first..first + others).all(|i| left.contains(&i))),
        }
    }
}

#[test]
fn every_tile_is_multiplied_once_and_no_block_waits_for_a_later_one() {
    let kernel = kernel(true);
    let mut cut = 0;
    for tiles in [[1, 1], [3, 1], [5, 7], [12, 11], [11, 11], [40, 10], [32, 43], [33, 44]] {
        for along_k in [1, 2, 7, 8, 9, 16, 27, 128, 1024] {
            for (l, multiprocessors) in [(1, 1), (1, 2), (3, 7), (1, 132), (2, 78), (1, 144)] {
                let tiles = [tiles[0], tiles[1], along_k];
                let pieces = pieces(&kernel, tiles, l, multiprocessors);
                assert_eq!(pieces.blocks().len(), multiprocessors as usize);
                check(&pieces, tiles, l);
                cut += usize::from(pieces.workspace() != [0, 0]);
            }
        }
    }
    // Where nothing is left over nothing is cut, and elsewhere much is.
    assert!(cut > 100, "{cut}");
    assert_eq!(pieces(&kernel, [12, 11, 64], 1, 132).workspace(), [0, 0]);
}

#[test]
fn more_tiles_than_a_piece_counts_are_refused() {
    let kernel = kernel(true);
    for (tiles, l, told) in [
        ([65536, 1, 1], 1, "65536 rows of tiles with stream-K: at most 65535"),
        ([1, 32768, 1], 1, "32768 columns of tiles with stream-K: at most 32767"),
        ([1, 1, 32768], 1, "32768 tiles along K with stream-K: at most 32767"),
        ([1, 1, 1], 65536, "65536 problems with stream-K: at most 65535"),
    ] {
        let mnk = [0, 1, 2].map(|i| tiles[i] * TILE[i]);
        let error = kernel.pieces(mnk, l, 132).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// The most tiles along K of a block, with the cost of its pieces that are handed over.
fn longest(pieces: &Pieces) -> u32 {
    let cost = |piece: &Piece| match piece.sums {
        Handed::Left { .. } => COST,
        Handed::Stored { others, .. } => COST * others,
    };
    let own = |own: &Vec<Piece>| own.iter().map(|piece| piece.k.len() as u32 + cost(piece)).sum();
    pieces.blocks().iter().map(own).max().unwrap_or(0)
}

/// No block has more to do than if whole tiles were dealt out; and the products for which this schedule is made take little more than their
/// share of all blocks.
#[test]
fn blocks_have_as_much_to_do() {
    let kernel = kernel(false);
    for (rows, along_k, multiprocessors) in
        (1..300).flat_map(|rows| [16, 27, 64, 200].map(|k| [132, 78].map(|m| (rows, k, m)))).flatten()
    {
        let turns = (rows as u32).div_ceil(multiprocessors) * along_k as u32;
        let pieces = pieces(&kernel, [rows, 1, along_k], 1, multiprocessors);
        assert!(longest(&pieces) <= turns, "{rows} {along_k} {multiprocessors}");
    }
    for (tiles, along_k, most) in [(400, 27, 1.12), (1376, 128, 1.02), (144, 24, 1.35), (352, 224, 1.02)] {
        let pieces = pieces(&kernel, [tiles, 1, along_k], 1, 132);
        let even = (tiles * along_k) as f64 / 132.0;
        assert!(f64::from(longest(&pieces)) < most * even, "{tiles}: {} {even}", longest(&pieces));
    }
}

/// The kernel reads the same pieces.
#[test]
fn the_table_has_the_pieces() {
    for alternate in [false, true] {
        let kernel = kernel(alternate);
        for (tiles, multiprocessors) in [([3, 5, 20], 7), ([1, 1, 3], 2), ([40, 10, 27], 132)] {
            let pieces = pieces(&kernel, tiles, 2, multiprocessors);
            let table = pieces.table();
            let (entries, _) = table.as_chunks::<4>();
            let rounds = entries.len() / pieces.blocks().len();
            assert!(all_pieces(&pieces).any(|piece| piece.backwards) <= alternate);
            for (block, own) in pieces.blocks().iter().enumerate() {
                for round in 0..rounds {
                    let entry = entries[round * pieces.blocks().len() + block];
                    let Some(piece) = own.get(round) else {
                        assert_eq!(entry, [0; 4]);
                        continue;
                    };
                    let [row, start, at, product] = entry.map(|word| word & 0xffff);
                    let [column, count, flags, of] = entry.map(|word| word >> 16);
                    let (flags, at) = (flags >> 8, at + ((flags & 0xff) << 16));
                    let sums = match flags & 4 {
                        0 => Handed::Stored { first: at, others: of },
                        _ => Handed::Left { array: at, first: at - of },
                    };
                    let k = start..start + count;
                    let read = Piece { tile: [row, column, product], k, backwards: flags & 1 != 0, sums };
                    assert_eq!((&read, flags & 2 != 0), (piece, round + 1 == own.len()));
                }
            }
        }
    }
}
