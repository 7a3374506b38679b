//! The examples of the tutorial on tensors, with the layouts that they print. CuTe writes `_4` for what is static; here
//! all numbers are known.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_layout::{Lay, lay, tiler};
use girih_tensor::host::View;
use girih_tensor::{Slice, Tensor};

fn at(i: i64) -> Slice<i64> {
    Slice::at(i)
}

const ALL: Slice<i64> = Slice::All;

fn tuple<const N: usize>(entries: [Slice<i64>; N]) -> Slice<i64> {
    Slice::tuple(entries)
}

fn data(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

/// Whether two tensors have the same values by their 1-D coordinates.
fn same(a: &Tensor<View<'_, f32>>, b: &Tensor<View<'_, f32>>) -> bool {
    a.to_vec().unwrap() == b.to_vec().unwrap()
}

#[test]
fn tensors_are_made_of_memory_and_layouts() {
    let a = data(8 * 16);
    let made = |layout: Lay| Tensor::host(&a, layout).unwrap();
    let printed = [
        (made(lay!("8:1")), "8:1"),
        (made(lay!("(8):(2)")), "(8):(2)"),
        (made(lay!("(8,16):(16,1)")), "(8,16):(16,1)"),
    ];
    for (tensor, text) in printed {
        assert_eq!(tensor.layout().to_string(), text);
    }
    // Shared memory of 4 x 8, as columns and as rows over the same memory.
    let smem = lay!("(4,8):(1,4)");
    let memory = data(smem.cosize().unwrap().get().unwrap() as usize);
    let rows = Tensor::host(&memory, Lay::right(smem.shape()).unwrap()).unwrap();
    assert_eq!(rows.layout().to_string(), "(4,8):(8,1)");
}

#[test]
fn slices_keep_the_modes_that_are_left_open() {
    let memory = data(300);
    let a = Tensor::host(&memory, lay!("((3,2),(2,5,2)):((4,1),(2,13,100))")).unwrap();
    let shown = |slice: Slice<i64>| {
        let layout = *a.slice(&slice).unwrap().layout();
        // `A(2,_)` of CuTe is the mode itself; a slice here is always the tuple of the modes that it keeps.
        if layout.rank() == 1 { layout.mode(0).unwrap().to_string() } else { layout.to_string() }
    };
    assert_eq!(shown(tuple([at(2), ALL])), "(2,5,2):(2,13,100)");
    assert_eq!(shown(tuple([ALL, at(5)])), "(3,2):(4,1)");
    assert_eq!(shown(tuple([tuple([ALL, ALL]), at(5)])), "(3,2):(4,1)");
    assert_eq!(shown(tuple([tuple([ALL, at(1)]), tuple([at(0), ALL, at(1)])])), "(3,5):(4,13)");
    assert_eq!(shown(tuple([tuple([at(2), ALL]), tuple([ALL, at(3), ALL])])), "(2,2,2):(1,2,100)");
}

#[test]
fn inner_and_outer_partitions() {
    let memory = data(8 * 24);
    let a = Tensor::host(&memory, lay!("(8,24):(1,8)")).unwrap();
    let tiler = tiler!("<4,8>");
    let tiled = a.zipped_divide(&tiler).unwrap(); // ((4,8),(2,3))
    assert_eq!(tiled.layout().shape().to_string(), "((4,8),(2,3))");
    // A block's tile: index the rest.
    let cta = tiled.slice(tuple([tuple([ALL, ALL]), tuple([at(1), at(2)])])).unwrap(); // (4,8)
    assert_eq!(cta.layout().to_string(), "(4,8):(1,8)");
    let inner = a.inner_partition(&tiler, tuple([at(1), at(2)])).unwrap(); // (4,8)
    let local = a.local_tile(&tiler, &[at(1), at(2)]).unwrap(); // (4,8)
    assert_eq!((same(&cta, &inner), same(&cta, &local)), (true, true));
    assert_eq!((inner.layout(), local.layout()), (cta.layout(), cta.layout()));
    // 32 threads, each with its place in every tile: index the tile.
    for thread in 0..32 {
        let mine = tiled.slice(tuple([at(thread), tuple([ALL, ALL])])).unwrap(); // (2,3)
        assert_eq!(mine.layout().to_string(), "(2,3):(4,64)");
        let outer = a.outer_partition(&tiler, at(thread)).unwrap(); // (2,3)
        assert_eq!(outer.layout(), mine.layout());
        let local = a.local_partition(&lay!("(4,8):(1,4)"), &thread).unwrap(); // (2,3)
        assert_eq!((same(&mine, &outer), same(&mine, &local)), (true, true));
        assert_eq!(mine.at(0), Ok((thread % 4 + 8 * (thread / 4)) as f32));
    }
}

/// Modes that a tuple of coordinates or the tiler lacks are kept, as in CuTe.
#[test]
fn partitions_keep_the_modes_that_nobody_names() {
    let memory = data(8 * 12 * 5 * 2);
    let a = Tensor::host(&memory, lay!("(8,12,5,2):(1,8,96,480)")).unwrap(); // (M,N,L,B)
    let tiler = tiler!("<4,3>");
    let tiled = a.zipped_divide(&tiler).unwrap(); // ((4,3),(2,4,5,2))
    let tuples: [&[i64]; 5] = [&[], &[1], &[1, 2], &[1, 2, 3], &[1, 2, 3, 1]];
    for (given, shape) in tuples.iter().zip(["(4,3,2,4,5,2)", "(4,3,4,5,2)", "(4,3,5,2)", "(4,3,2)", "(4,3)"])
    {
        let coord = Slice::tuple(given.iter().map(|i| at(*i)));
        let all = (0..4).map(|i| given.get(i).map_or(ALL, |x| at(*x)));
        let whole = tiled.slice(tuple([tuple([ALL, ALL]), Slice::tuple(all)])).unwrap();
        for tile in [a.inner_partition(&tiler, coord.clone()), a.local_tile(&tiler, coord)] {
            let tile = tile.unwrap();
            assert_eq!((tile.layout().shape().to_string().as_str(), same(&tile, &whole)), (shape, true));
            assert_eq!(tile.layout(), whole.layout());
        }
    }
    for (given, shape) in tuples[..3].iter().zip(["(4,3,2,4,5,2)", "(3,2,4,5,2)", "(2,4,5,2)"]) {
        let all = (0..2).map(|i| given.get(i).map_or(ALL, |x| at(*x)));
        let whole = tiled.slice(tuple([Slice::tuple(all), tuple([ALL, ALL, ALL, ALL])])).unwrap();
        let part = a.outer_partition(&tiler, Slice::tuple(given.iter().map(|i| at(*i)))).unwrap();
        assert_eq!((part.layout().shape().to_string().as_str(), same(&part, &whole)), (shape, true));
        assert_eq!(part.layout(), whole.layout());
    }
    // One number counts through all of the rest, or all of the tile.
    assert_eq!(a.inner_partition(&tiler, at(9)).unwrap().layout(), &lay!("(4,3):(1,8)"));
    assert_eq!(a.inner_partition(&tiler, at(9)).unwrap().at(0), a.at(4 + 96));
    assert_eq!(a.outer_partition(&tiler, at(5)).unwrap().layout(), &lay!("(2,4,5,2):(4,24,96,480)"));
    // `_` keeps the rest as one mode.
    assert_eq!(a.inner_partition(&tiler, ALL).unwrap().layout().shape().to_string(), "(4,3,(2,4,5,2))");
    // A tiler that is a layout of the whole tensor has one tile mode and one rest.
    let line = Tensor::host(&memory, lay!("96:2")).unwrap();
    assert_eq!(line.inner_partition(&tiler!("8:1"), at(3)).unwrap().layout(), &lay!("(8):(2)"));
    assert_eq!(line.outer_partition(&tiler!("8:1"), at(3)).unwrap().layout(), &lay!("(12):(16)"));
    // More positions than modes are refused, and so are those outside.
    let five = tuple([at(0), at(0), at(0), at(0), at(0)]);
    assert!(matches!(a.local_tile(&tiler, five), Err(girih_tensor::Error::SliceRank { .. })));
    assert!(matches!(a.local_tile(&tiler, (2, 0)), Err(girih_tensor::Error::OutOfRange { .. })));
    assert!(matches!(a.outer_partition(&tiler, (0, 3)), Err(girih_tensor::Error::OutOfRange { .. })));
}

#[test]
fn thread_value_partition() {
    // (T8,V4) -> (M4,N8)
    let tv = lay!("((2,4),(2,2)):((8,1),(4,16))");
    let memory = data(32);
    let a = Tensor::host(&memory, lay!("(4,8):(8,1)")).unwrap();
    let by_thread = a.composition(&tv).unwrap(); // (8,4)
    assert_eq!(by_thread.layout().shape().to_string(), "((2,4),(2,2))");
    let mut seen = Vec::new();
    for thread in 0..8 {
        let sliced = by_thread.slice(tuple([at(thread), ALL])).unwrap(); // (4)
        let mine = a.tv_partition(&tv, &thread).unwrap();
        assert!(same(&sliced, &mine));
        seen.extend(mine.to_vec().unwrap());
        // T04: the value of (thread, value) is the tensor's at tv(thread, value).
        for value in 0..4 {
            assert_eq!(mine.at(value), a.at(tv.at(thread + 8 * value).unwrap()));
        }
    }
    seen.sort_by(f32::total_cmp);
    assert_eq!(seen, memory);
}
