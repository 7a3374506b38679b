//! Slices, tiles and partitions of host tensors: the examples of CuTe's guide, and the laws behind them.

#![allow(clippy::unwrap_used, reason = "tests")]

use girih_layout::{Coord, Lay, lay, tiler};
use girih_tensor::host::{View, values};
use girih_tensor::{DType, Element, Engine, Error, Slice, Space, Tensor};

const NUMBERS: usize = 4096;

/// A tensor whose values are their own indices.
fn numbered(data: &[i64], layout: Lay) -> Tensor<View<'_, i64>> {
    Tensor::host(data, layout).unwrap()
}

fn data() -> Vec<i64> {
    (0..NUMBERS as i64).collect()
}

fn at(i: i64) -> Slice<i64> {
    Slice::at(i)
}

fn tuple<const N: usize>(entries: [Slice<i64>; N]) -> Slice<i64> {
    Slice::tuple(entries)
}

fn size<E: Engine>(tensor: &Tensor<E>) -> i64 {
    tensor.layout().size().unwrap().get().unwrap()
}

/// The values in colexicographic order.
fn elements(tensor: &Tensor<View<'_, i64>>) -> Vec<i64> {
    (0..size(tensor)).map(|i| tensor.at(i).unwrap()).collect()
}

fn sorted(mut values: Vec<i64>) -> Vec<i64> {
    values.sort_unstable();
    values
}

#[test]
fn slicing_keeps_the_modes_of_the_guide() {
    use Slice::All;
    let data = data();
    let a = numbered(&data, lay!("((3,2),(2,5,2)):((4,1),(2,13,100))"));
    let examples = [
        (tuple([at(2), All]), "((2,5,2)):((2,13,100))", 8),
        (tuple([All, at(5)]), "((3,2)):((4,1))", 2 + 2 * 13),
        (tuple([tuple([All, All]), at(5)]), "(3,2):(4,1)", 2 + 2 * 13),
        (tuple([tuple([All, at(1)]), tuple([at(0), All, at(1)])]), "(3,5):(4,13)", 1 + 100),
        (tuple([tuple([at(2), All]), tuple([All, at(3), All])]), "(2,2,2):(1,2,100)", 8 + 3 * 13),
        (All, "((3,2),(2,5,2)):((4,1),(2,13,100))", 0),
        (at(7), "1:0", 4 + 2),
        (tuple([at(4), at(11)]), "1:0", 4 + 1 + 2 + 100),
    ];
    for (slice, layout, first) in examples {
        let part = a.slice(&slice).unwrap();
        assert_eq!((part.layout().to_string().as_str(), part.at(0).unwrap()), (layout, first), "{slice}");
    }
}

/// `t(c, _)(x)` is `t(c, x)`, for every coordinate and every way to name it.
#[test]
fn a_slice_is_the_tensor_with_coordinates_fixed() {
    let data = data();
    for layout in layouts() {
        let t = numbered(&data, layout);
        let [m, n] = [0, 1].map(|i| layout.mode(i).unwrap().size().unwrap().get().unwrap());
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let expected = layout.crd2idx(&Coord::of(&[i, j]).unwrap()).unwrap();
            let row = t.slice(tuple([at(i), Slice::All])).unwrap();
            let column = t.slice(tuple([Slice::All, at(j)])).unwrap();
            let one = t.slice(tuple([at(i), at(j)])).unwrap();
            let found =
                [row.at(j), column.at(i), one.at(0), t.at(i + m * j), t.get(&Coord::of(&[i, j]).unwrap())];
            for found in found {
                assert_eq!(found, Ok(expected), "{layout} at ({i},{j})");
            }
        }
    }
}

fn layouts() -> Vec<Lay> {
    let texts = [
        "(8,24):(1,8)",
        "(8,24):(24,1)",
        "(8,24):(40,1)",
        "((2,4),24):((4,8),32)",
        "((4,2),(3,8)):((1,96),(4,12))",
        "(8,(4,6)):((30),(5,120))",
    ];
    texts.iter().filter_map(|text| Lay::parse(text).ok()).collect()
}

#[test]
fn tiles_of_the_guide() {
    let data = data();
    let a = numbered(&data, lay!("(8,24):(1,8)"));
    let tiled = a.zipped_divide(&tiler!("<4,8>")).unwrap();
    assert_eq!(tiled.layout().to_string(), "((4,8),(2,3)):((1,8),(4,64))");
    // The inner partition gives a block its tile, the outer one a thread an element of each tile.
    let block = a.local_tile(&tiler!("<4,8>"), &[at(1), at(2)]).unwrap();
    assert_eq!((block.layout().to_string().as_str(), block.at(0).unwrap()), ("(4,8):(1,8)", 4 + 128));
    let thread = tiled.slice(tuple([at(9), tuple([Slice::All, Slice::All])])).unwrap();
    assert_eq!((thread.layout().to_string().as_str(), thread.at(0).unwrap()), ("(2,3):(4,64)", 1 + 16));
    // A row of tiles, as a mainloop walks them.
    let row = a.local_tile(&tiler!("<4,8>"), &[at(1), Slice::All]).unwrap();
    assert_eq!((row.layout().to_string().as_str(), row.at(0).unwrap()), ("(4,8,3):(1,8,64)", 4));
    // Columns of 8 of a 24 x 16 matrix in tiles of 8 x 4.
    let gmem = numbered(&data, lay!("(24,16):(1,24)")).zipped_divide(&tiler!("<8,4>")).unwrap();
    let tile = gmem.slice(tuple([Slice::All, at(0)])).unwrap();
    assert_eq!(tile.layout().to_string(), "((8,4)):((1,24))");
}

#[test]
fn thread_value_partition_of_the_guide() {
    let tv = lay!("((2,4),(2,2)):((8,1),(4,16))"); // (Thr,Val) -> index in (4,8)
    let data = data();
    let a = numbered(&data, lay!("(4,8):(8,1)"));
    assert_eq!(a.composition(&tv).unwrap().layout().size().unwrap().get(), Some(32));
    let mine = a.tv_partition(&tv, &3).unwrap();
    // Thread 3 is at (1,1): index 9, row 1 of column 2; its values are one row apart and four columns.
    assert_eq!(elements(&mine), [8 + 2, 8 + 3, 8 + 6, 8 + 7]);
}

/// D08: `zipped((i,j),(p,q)) = A(i + p*T0, j + q*T1)`.
#[test]
fn zipped_divide_names_the_same_elements() {
    let data = data();
    for layout in layouts() {
        let t = numbered(&data, layout);
        for (t0, t1, tiler) in [(4, 8, tiler!("<4,8>")), (2, 3, tiler!("<2,3>")), (8, 1, tiler!("<8,1>"))] {
            let Ok(tiled) = t.zipped_divide(&tiler) else { continue };
            for index in 0..size(&tiled) {
                let (i, j, rest) = (index % t0, index / t0 % t1, index / t0 / t1);
                let (p, q) = (rest % (8 / t0), rest / (8 / t0));
                assert_eq!(tiled.at(index), t.at(i + p * t0 + 8 * (j + q * t1)), "{layout} by <{t0},{t1}>");
            }
        }
    }
}

/// D09: the tiles of all blocks, and the parts of all threads, are the tensor.
#[test]
fn tiles_and_parts_cover_the_tensor_once() {
    let data = data();
    for layout in layouts() {
        let t = numbered(&data, layout);
        let whole = sorted(elements(&t));
        let blocks = (0..2).flat_map(|p| (0..3).map(move |q| [at(p), at(q)]));
        let tiles: Vec<i64> =
            blocks.flat_map(|block| elements(&t.local_tile(&tiler!("<4,8>"), &block).unwrap())).collect();
        assert_eq!(sorted(tiles), whole, "{layout}: tiles");
        for threads in
            ["(4,8):(1,4)", "(4,8):(8,1)", "((2,2),(2,4)):((1,4),(2,8))", "(1,8):(0,1)", "(8,1):(1,7)"]
        {
            let threads = Lay::parse(threads).unwrap();
            let count = threads.size().unwrap().get().unwrap();
            let parts: Vec<i64> = (0..count)
                .flat_map(|thread| elements(&t.local_partition(&threads, &thread).unwrap()))
                .collect();
            assert_eq!(sorted(parts), whole, "{layout}: parts of {threads}");
        }
    }
}

/// The thread at (i,j) of its layout has the elements at (i + p*M, j + q*N).
#[test]
fn local_partition_gives_a_thread_its_place_in_each_tile() {
    let data = data();
    let t = numbered(&data, lay!("(8,24):(1,8)"));
    for threads in ["(4,8):(8,1)", "((2,2),(2,4)):((1,4),(2,8))", "((2,2),8):((16,8),1)"] {
        let threads = Lay::parse(threads).unwrap();
        for (i, j) in (0..4).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let thread = threads.crd2idx(&Coord::of(&[i, j]).unwrap()).unwrap();
            let part = t.local_partition(&threads, &thread).unwrap();
            let expected: Vec<i64> = (0..6).map(|rest| i + rest % 2 * 4 + 8 * (j + rest / 2 * 8)).collect();
            assert_eq!(elements(&part), expected, "thread {thread} of {threads}");
        }
    }
}

/// T04: `partition(A, tv)(t, v) = A(tv(t, v))`.
#[test]
fn thread_value_partitions_are_compositions() {
    let data = data();
    let tvs =
        ["((2,4),(2,2)):((8,1),(4,16))", "(32,6):(1,32)", "(8,4):(4,1)", "((4,8),(2,3)):((2,8),(1,64))"];
    for layout in layouts() {
        let t = numbered(&data, layout);
        for tv in tvs.map(|tv| Lay::parse(tv).unwrap()) {
            let [threads, values] = [0, 1].map(|i| tv.mode(i).unwrap().size().unwrap().get().unwrap());
            // A composition that no layout expresses is refused, never another one.
            for thread in 0..threads {
                let Ok(mine) = t.tv_partition(&tv, &thread) else { continue };
                for value in 0..values {
                    let index = tv.crd2idx(&Coord::of(&[thread, value]).unwrap()).unwrap();
                    assert_eq!(mine.at(value), t.at(index), "{layout} by {tv}: ({thread},{value})");
                }
            }
        }
    }
    let plain = numbered(&data, lay!("(8,24):(1,8)"));
    assert!(tvs.iter().all(|tv| plain.tv_partition(&Lay::parse(tv).unwrap(), &0).is_ok()));
}

/// Coordinates of any profile: the guide's transposition.
#[test]
fn natural_and_flat_coordinates_agree() {
    let data = data();
    let a = numbered(&data, lay!("((4,5),13):((12,1),64)"));
    for (m0, m1, n) in (0..4).flat_map(|i| (0..5).flat_map(move |j| (0..13).map(move |n| (i, j, n)))) {
        let natural = a.get(&Coord::parse(&format!("(({m0},{m1}),{n})")).unwrap());
        assert_eq!(natural, a.get(&Coord::of(&[m0 + 4 * m1, n]).unwrap()));
        assert_eq!(natural, Ok(12 * m0 + m1 + 64 * n));
    }
}

#[test]
fn what_lies_outside_is_refused() {
    let data = &data()[..192];
    let t = numbered(data, lay!("(8,24):(1,8)"));
    let range = |slice: Slice<i64>| match t.slice(&slice) {
        Err(Error::OutOfRange { coordinate, mode }) => (coordinate, mode),
        other => panic!("{slice}: {other:?}"),
    };
    assert_eq!(range(tuple([at(8), Slice::All])), (8, "8:1".into()));
    assert_eq!(range(tuple([at(0), at(-1)])), (-1, "24:8".into()));
    assert_eq!(range(at(192)), (192, "(8,24):(1,8)".into()));
    assert!(matches!(t.at(192), Err(Error::OutOfRange { .. })));
    assert!(matches!(t.at(-1), Err(Error::OutOfRange { .. })));
    assert!(matches!(t.get(&Coord::of(&[8, 0]).unwrap()), Err(Error::OutOfRange { .. })));
    assert!(matches!(t.local_tile(&tiler!("<4,8>"), &[at(2), at(0)]), Err(Error::OutOfRange { .. })));
    for index in [32, -1] {
        let found = t.local_partition(&lay!("(4,8):(1,4)"), &index);
        assert!(matches!(found, Err(Error::OutOfRange { .. })), "{index}: {found:?}");
    }
    for threads in ["(2,2):(0,3)", "(4,8):(1,8)", "(4,8):(1,2)"] {
        let found = t.local_partition(&Lay::parse(threads).unwrap(), &0);
        assert!(matches!(found, Err(Error::Shape { what: "local_partition", .. })), "{threads}: {found:?}");
    }
    assert!(matches!(t.tv_partition(&lay!("(32,6):(1,32)"), &32), Err(Error::OutOfRange { .. })));
    let message = t.slice(tuple([at(8), Slice::All])).unwrap_err().to_string();
    assert_eq!(message, "coordinate 8 is outside the mode 8:1: 0 <= coordinate < size is accepted");
}

#[test]
fn slices_of_another_rank_are_refused() {
    let data = data();
    let t = numbered(&data, lay!("((3,2),(2,5,2)):((4,1),(2,13,100))"));
    for (slice, found, rank) in [
        (tuple([at(0)]), 1, 2),
        (tuple([at(0), at(0), Slice::All]), 3, 2),
        (tuple([at(0), tuple([at(0), Slice::All])]), 2, 3),
        (tuple([tuple([at(0), at(0), at(0)]), Slice::All]), 3, 2),
    ] {
        match t.slice(&slice) {
            Err(Error::SliceRank { found: f, rank: r, .. }) => assert_eq!((f, r), (found, rank), "{slice}"),
            other => panic!("{slice}: {other:?}"),
        }
    }
    // A leaf has no modes to give entries for.
    let leaf = t.slice(tuple([tuple([at(0), tuple([at(0)])]), Slice::All]));
    assert!(matches!(leaf, Err(Error::SliceRank { .. })), "{leaf:?}");
    assert!(matches!(t.local_tile(&tiler!("<3,4>"), &[at(0), at(0), at(0)]), Err(Error::SliceRank { .. })));
}

#[test]
fn layouts_beyond_the_data_are_refused() {
    let data = data();
    let bounds = |len: usize, text: &str| match Tensor::host(&data[..len], Lay::parse(text).unwrap()) {
        Err(Error::OutOfBounds { min, max, len, .. }) => Err((min, max, len)),
        Ok(_) => Ok(()),
        Err(other) => panic!("{text}: {other}"),
    };
    assert_eq!(bounds(192, "(8,24):(1,8)"), Ok(()));
    assert_eq!(bounds(191, "(8,24):(1,8)"), Err((0, 191, 191)));
    assert_eq!(bounds(0, "1:0"), Err((0, 0, 0)));
    assert_eq!(bounds(9, "(2,3):(-4,1)"), Err((-4, 2, 9)));
    assert!(Tensor::host(&data, Lay::parse("(s0,4):(4,1)").unwrap()).is_err());
    // An identity layout gives coordinates, no index.
    assert!(Tensor::host(&data, Lay::identity(lay!("(4,4):(1,4)").shape()).unwrap()).is_err());
    // The last tile of an uneven division reaches past the end: only its values that are there can be read.
    let t = numbered(&data[..10], lay!("10:1"));
    let last = t.local_tile(&tiler!("<4>"), &[at(2)]).unwrap();
    assert_eq!((last.at(0), last.at(1)), (Ok(8), Ok(9)));
    assert!(matches!(last.at(2), Err(Error::Beyond { .. })));
}

#[test]
fn values_are_colexicographic() {
    let data: Vec<f32> = (0..6).map(|i| i as f32 / 2.0).collect();
    let t = Tensor::host(&data, lay!("(2,3):(3,1)")).unwrap();
    assert_eq!(values(&t).unwrap(), [0.0, 1.5, 0.5, 2.0, 1.0, 2.5]);
    assert_eq!((t.engine().space(), f32::DTYPE), (Space::Host, DType::F32));
}

/// One tiler and one thread layout of (M, N[, K]) serve A, B and C: a projection takes the modes that a tensor has.
#[test]
fn projections_take_the_modes_that_a_tensor_has() {
    let data = data();
    let (c, a) = (numbered(&data, lay!("(8,24):(1,8)")), numbered(&data, lay!("(8,6):(6,1)")));
    let tiler = tiler!("<4,8,3>");
    for (m, n, k) in (0..2).flat_map(|m| (0..3).flat_map(move |n| (0..2).map(move |k| (m, n, k)))) {
        let block = [at(m), at(n), at(k)];
        let of_a = a.local_tile_projected(&tiler, &block, &[true, false, true]).unwrap(); // (BLK_M,BLK_K)
        let of_c = c.local_tile_projected(&tiler, &block, &[true, true, false]).unwrap(); // (BLK_M,BLK_N)
        for i in 0..4 {
            (0..3).for_each(|j| {
                assert_eq!(of_a.get((i, j)), a.get((4 * m + i, 3 * k + j)), "A at {m},{n},{k}")
            });
            (0..8).for_each(|j| {
                assert_eq!(of_c.get((i, j)), c.get((4 * m + i, 8 * n + j)), "C at {m},{n},{k}")
            });
        }
    }
    // Of a tensor whose mode 0 is cut by `tile` threads, the one at `place` has every `tile`-th row.
    let rows = |t: &Tensor<View<'_, i64>>, tile: i64, place: i64| -> Vec<i64> {
        let [m, n] = [0, 1].map(|mode| t.layout().mode(mode).unwrap().size().unwrap().get().unwrap());
        let rests = (0..n).flat_map(|column| (0..m / tile).map(move |rest| (rest * tile + place, column)));
        rests.map(|coordinate| t.get(coordinate).unwrap()).collect()
    };
    for threads in ["(4,2):(1,4)", "(4,2):(2,1)", "((2,2),2):((1,4),2)"].map(|text| Lay::parse(text).unwrap())
    {
        for (i, j) in (0..4).flat_map(|i| (0..2).map(move |j| (i, j))) {
            let thread = threads.crd2idx(&Coord::of(&[i, j]).unwrap()).unwrap();
            let of_a = a.local_partition_projected(&threads, &thread, &[true, false]).unwrap(); // (RestM,K)
            let of_c = c.local_partition_projected(&threads, &thread, &[false, true]).unwrap(); // (RestM,N)
            assert_eq!(elements(&of_a), rows(&a, 4, i), "thread {thread} of {threads}");
            assert_eq!(elements(&of_c), rows(&c, 2, j), "thread {thread} of {threads}");
        }
    }
    let refused = a.local_partition_projected(&lay!("(4,3):(1,4)"), &0, &[true]);
    assert!(matches!(refused, Err(Error::Projection { modes: 1, .. })), "{refused:?}");
}

/// Threads and values are two modes, and their indices the tensor's: what is not is refused, whatever the memory holds.
#[test]
fn thread_value_partitions_stay_inside() {
    let data = data();
    let t = numbered(&data, lay!("(4,8):(1,4)"));
    for tv in ["32:1", "(2,4,4):(1,2,8)", "(8,8):(1,8)", "(8,4):(5,40)", "(8,4):(1,9)"] {
        let found = t.tv_partition(&Lay::parse(tv).unwrap(), &0);
        assert!(matches!(found, Err(Error::Shape { what: "tv_partition", .. })), "{tv}: {found:?}");
    }
    assert_eq!(
        t.tv_partition(&lay!("(8,8):(1,8)"), &0).unwrap_err().to_string(),
        "tv_partition: (4,8):(1,4) and (8,8):(1,8) do not match: indices below the tensor's size"
    );
    assert!(t.tv_partition(&lay!("(8,4):(4,1)"), &7).is_ok());
}
