//! Tensors handed out to threads: the laws T01 to T05 and T07.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use girih_codegen::atom::{CopyAtom, CopyOp, MmaAtom, UNIVERSAL_COPY_32};
use girih_codegen::{Operand, TiledCopy, TiledMma, plan};
use girih_layout::{Coord, Int, Lay, Shape, Stride, Tile, Tiler, Tiles};
use girih_proptests::{oracle, strategies};
use girih_tensor::{Slice, Space, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

/// `(Thr,Val) -> index`, each a compact pair of modes, together a permutation; some modes then lead nowhere.
#[derive(Clone, Debug)]
struct Dealt {
    tv: Lay,
    /// The elements of the tile that are left.
    tile: i64,
    /// How many threads and values have the same element.
    replicas: i64,
}

fn dealt() -> impl Strategy<Value = Dealt> {
    let extents = prop::collection::vec(select(vec![1i64, 2, 3, 4]), 4);
    let order = Just(vec![0usize, 1, 2, 3]).prop_shuffle();
    (extents, order, prop::collection::vec(prop::bool::weighted(0.25), 4)).prop_map(
        |(extents, order, repeated)| {
            let (mut strides, mut tile, mut replicas) = ([0; 4], 1, 1);
            for i in order {
                if repeated[i] {
                    replicas *= extents[i];
                } else {
                    strides[i] = tile;
                    tile *= extents[i];
                }
            }
            let leaf = |i: usize| strategies::line(extents[i], strides[i]);
            let pair = |i: usize| Lay::concat(&[leaf(i), leaf(i + 1)]).unwrap();
            Dealt { tv: Lay::concat(&[pair(0), pair(2)]).unwrap(), tile, replicas }
        },
    )
}

/// Two modes, each of one leaf, as a permutation of their size: how threads, values or atoms stand in a tile.
fn arrangement(extents: &'static [i64]) -> impl Strategy<Value = Lay> {
    (select(extents), select(extents), any::<bool>()).prop_map(|(m, n, row_major)| {
        let (first, second) = if row_major { (n, 1) } else { (1, m) };
        Lay::concat(&[strategies::line(m, first), strategies::line(n, second)]).unwrap()
    })
}

fn modes(layout: &Lay) -> [i64; 2] {
    [0, 1].map(|mode| oracle::size(&layout.mode(mode).unwrap()))
}

fn at(layout: &Lay, coordinate: &[i64]) -> i64 {
    layout.crd2idx(&Coord::of(coordinate).unwrap()).unwrap()
}

fn tiles(extents: [i64; 2]) -> Tiles {
    Tiles::new(&extents.map(|n| Tile::Lay(strategies::line(n, 1)))).unwrap()
}

fn left(extents: [i64; 2]) -> Lay {
    Lay::left(&Shape::flat(&extents.map(Int::value)).unwrap()).unwrap()
}

/// Atoms between registers and memory or among registers, with the bits that a value may have.
fn atoms() -> impl Strategy<Value = (CopyAtom, u32)> {
    let all: Vec<(CopyAtom, u32)> = CopyAtom::all()
        .into_iter()
        .filter(|atom| atom.spaces().contains(&Some(Space::Rmem)) || atom.op == CopyOp::Universal)
        .flat_map(|atom| {
            let transposes = matches!(
                atom.op,
                CopyOp::Ldmatrix { transposed: true, .. }
                    | CopyOp::Stmatrix { transposed: true, .. }
                    | CopyOp::Movmatrix
            );
            let most = if transposes { 16 } else { 32 };
            [8, 16, 32]
                .into_iter()
                .filter(move |bits| *bits <= most.min(atom.bits()))
                .map(move |bits| (atom, bits))
        })
        .collect();
    select(all)
}

/// One warp's atoms and smaller ones: what a block of threads is made of.
fn mma_atoms() -> impl Strategy<Value = MmaAtom> {
    let small =
        |atom: &MmaAtom| oracle::size(&atom.threads) <= 32 && atom.shape_mnk.iter().product::<i64>() <= 4096;
    select(MmaAtom::all().filter(small).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A layout covers its tile once if and only if no coordinate leads nowhere; what the proof says of it is true.
    #[test]
    fn t01_a_tile_is_covered_once(dealt in dealt(), wrong in strategies::arbitrary(2), other in strategies::arbitrary(2)) {
        let any = Lay::concat(&[wrong, other]).unwrap();
        for (tv, tile) in [(dealt.tv, dealt.tile), (any, oracle::size(&any))] {
            let once = oracle::sorted(oracle::table(&tv)) == (0..tile).collect::<Vec<_>>();
            prop_assert!(tv == any || once == (dealt.replicas == 1), "{}", tv);
            let shape = Shape::flat(&[Int::value(tile)]).unwrap();
            prop_assert_eq!(plan::exactly_once(&tv, &shape).is_ok(), once, "{} of {}", tv, tile);
        }
    }

    /// The filter of a layout that broadcasts covers the tile once; its nullspace is who has the first element, and every
    /// element has as many owners.
    #[test]
    fn t02_what_is_broadcast(Dealt { tv, tile, replicas } in dealt()) {
        prop_assert_eq!(oracle::sorted(oracle::table(&tv.filter())), (0..tile).collect::<Vec<_>>());
        let table = oracle::table(&tv);
        let group: Vec<i64> = (0..oracle::size(&tv)).filter(|&c| table[c as usize] == 0).collect();
        prop_assert_eq!(oracle::sorted(oracle::table(&tv.nullspace().unwrap())), group);
        for element in 0..tile {
            prop_assert_eq!(table.iter().filter(|&&e| e == element).count() as i64, replicas);
        }
    }

    /// Thread `threads(i,j)` has as its value `values(k,l)` the element `(k + K*i, l + L*j)` of the tile.
    #[test]
    fn t03_tiled_copies_deal_out_blocks(threads in arrangement(&[1, 2, 3, 4, 8]), values in arrangement(&[1, 2, 4])) {
        let copy = TiledCopy::new(UNIVERSAL_COPY_32, 32, &threads, &values).unwrap();
        let ([t_m, t_n], [v_m, v_n]) = (modes(&threads), modes(&values));
        prop_assert_eq!(copy.extents().unwrap(), vec![t_m * v_m, t_n * v_n]);
        prop_assert_eq!(oracle::sorted(oracle::table(&copy.tv)), (0..t_m * t_n * v_m * v_n).collect::<Vec<_>>());
        for (i, j, k, l) in itertools(t_m, t_n, v_m, v_n) {
            let owner = [at(&threads, &[i, j]), at(&values, &[k, l])];
            prop_assert_eq!(at(&copy.tv, &owner), k + v_m * i + t_m * v_m * (l + v_n * j), "{} of {}", threads, values);
        }
    }

    /// A partition is the tensor at the thread's and the value's place: of any layout, by any permutation.
    #[test]
    fn t04_partitions_are_compositions(dealt in dealt(), data in strategies::arbitrary(3)) {
        let threads = oracle::size(&dealt.tv.mode(0).unwrap());
        // What the tile does not cover of the data goes on after it: a last mode that is long enough.
        let memory = Lay::concat(&[data, strategies::line(dealt.tile, 100)]).unwrap();
        let values: Vec<i64> = (0..=oracle::table(&memory).into_iter().max().unwrap()).map(|i| 7 * i + 3).collect();
        let tensor = Tensor::host(&values, memory).unwrap();
        let truth: Vec<i64> = oracle::table(&dealt.tv).iter().map(|&place| oracle::at(&memory, place)).collect();
        let found: Result<Vec<_>, _> = (0..threads).map(|t| tensor.tv_partition(&dealt.tv, &t)).collect();
        let Ok(found) = found else {
            // Refused only where no layout of that shape has these values.
            prop_assert!(!oracle::has_layout(&dealt.tv, &truth), "{} of {}", dealt.tv, memory);
            return Ok(());
        };
        for (t, mine) in found.iter().enumerate() {
            let count = oracle::size(&dealt.tv.mode(1).unwrap());
            prop_assert_eq!(oracle::size(mine.layout()), count);
            for v in 0..count {
                prop_assert_eq!(mine.at(v).unwrap(), values[truth[t + (threads * v) as usize] as usize]);
            }
        }
    }

    /// What the threads of an instruction read is what they write, whatever happens in between.
    #[test]
    fn t05_source_and_destination_are_the_same_elements((atom, bits) in atoms(), groups in 1i64..4, more in 1i64..4) {
        let lanes = oracle::size(&atom.threads);
        let own = i64::from(atom.bits() / bits).max(1);
        let leaf = |s: i64, d: i64| strategies::line(s, d);
        let values = Lay::concat(&[leaf(own, 1), leaf(more, own * lanes * groups)]).unwrap();
        let tv = Lay::concat(&[leaf(lanes * groups, own), values]).unwrap();
        let tile = oracle::size(&tv);
        let copy = TiledCopy::from_tv(atom, bits, &tv, Tiles::new(&[Tile::Lay(leaf(tile, 1))]).unwrap()).unwrap();
        let data: Vec<i64> = (0..2 * tile).collect();
        let tensor = Tensor::host(&data, Lay::concat(&[leaf(2 * tile, 1)]).unwrap()).unwrap();
        for group in 0..groups {
            let [mut read, mut written] = [Vec::new(), Vec::new()];
            for thread in group * lanes..(group + 1) * lanes {
                let thread = copy.get_slice(&thread).unwrap();
                read.extend(thread.partition_s(&tensor).unwrap().to_vec().unwrap());
                written.extend(thread.partition_d(&tensor).unwrap().to_vec().unwrap());
            }
            for side in [&mut read, &mut written] {
                side.sort_unstable();
                side.dedup(); // the addresses of rows are given by the lanes that there are
            }
            prop_assert_eq!(&read, &written, "{} of {} bits", atom, bits);
            prop_assert_eq!(read.len() as i64, 2 * tile / groups, "{} of {} bits", atom, bits);
        }
    }

    /// All blocks, threads and values together have every element of C once for each atom along K.
    #[test]
    fn t07_c_is_covered(atom in mma_atoms(), atoms in arrangement(&[1, 2, 3]), k in 1i64..3, grid in (1i64..3, 1i64..3), rest in (1i64..3, 1i64..3)) {
        let [m, n] = modes(&atoms);
        let depth = strategies::line(k, if k == 1 { 0 } else { m * n });
        let all = Lay::concat(&[atoms.mode(0).unwrap(), atoms.mode(1).unwrap(), depth]).unwrap();
        let mma = TiledMma::new(atom, all).unwrap();
        let [tile_m, tile_n, _] = mma.tile_size_mnk().unwrap();
        let block = [tile_m * rest.0, tile_n * rest.1];
        let whole = [block[0] * grid.0, block[1] * grid.1];
        let data: Vec<i64> = (0..whole[0] * whole[1]).collect();
        let c = Tensor::host(&data, left(whole)).unwrap();
        let mut owners = vec![0; data.len()];
        // Quad pairs fill whole warps, four each, and their first threads are to be a layout of the arrangement.
        let Ok(tv) = mma.layout_tv(Operand::C) else {
            let first: Vec<i64> = oracle::table(&all).iter().map(|i| i % 4 * 4 + i / 4 * 32).collect();
            let fills = m * n * k % 4 == 0 && oracle::has_layout(&all, &first);
            prop_assert!(oracle::size(&atom.threads) == 8 && !fills, "{}, atoms {}", atom, all);
            return Ok(());
        };
        let threads = oracle::size(&tv.mode(0).unwrap());
        for (x, y) in (0..grid.0).flat_map(|x| (0..grid.1).map(move |y| (x, y))) {
            let tile = c.local_tile(&Tiler::Modes(tiles(block)), &[Slice::At(x), Slice::At(y)]).unwrap();
            for thread in 0..threads {
                let mine = mma.get_slice(&thread).unwrap().partition(Operand::C, &tile).unwrap();
                mine.to_vec().unwrap().into_iter().for_each(|element| owners[element as usize] += 1);
            }
        }
        prop_assert!(owners.iter().all(|&n| n == k), "{}, atoms {}", atom, all);
    }
}

/// All quadruples below the numbers.
fn itertools(a: i64, b: i64, c: i64, d: i64) -> impl Iterator<Item = (i64, i64, i64, i64)> {
    (0..a * b * c * d).map(move |i| (i % a, i / a % b, i / a / b % c, i / a / b / c))
}

#[test]
fn what_does_not_divide_is_refused() {
    let copy = TiledCopy::new(UNIVERSAL_COPY_32, 32, &left([4, 8]), &left([2, 1])).unwrap();
    let data = vec![0i64; 24 * 24];
    for (m, n) in (1..=24).flat_map(|m| (1..=24).map(move |n| (m, n))) {
        let tensor = Tensor::host(&data, left([m, n])).unwrap();
        let taken = copy.get_slice(&0).unwrap().partition_s(&tensor);
        assert_eq!(taken.is_ok(), m % 8 == 0 && n % 8 == 0, "{m} x {n}");
    }
    let stride = Stride::from(2);
    let holes = Lay::leaf(Int::value(2), stride).unwrap();
    assert!(TiledMma::new(MmaAtom::all().next().unwrap(), Lay::concat(&[holes, holes]).unwrap()).is_err());
}
