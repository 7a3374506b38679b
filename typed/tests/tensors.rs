//! Tensors under typed layouts hold the values that the same tensors under run-time layouts do.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_layout::{Lay, tiler};
use girih_tensor::host::View;
use girih_tensor::{Error, Slice};
use girih_typed::host::{Array, Length};
use girih_typed::tensor::Tensor;
use girih_typed::{
    __, All, Coord, Cosize, Layout, Modes, Slice as TypedSlice, Tiler, ZippedDivide, algorithm, int, layout,
};

/// Values that are their own places.
fn places() -> Vec<usize> {
    (0..4096).collect()
}

fn values<M: Modes>(tensor: &Tensor<View<'_, usize>, Layout<M>>) -> Vec<usize> {
    tensor.erase().unwrap().to_vec().unwrap()
}

fn run_time(layout: &Layout<impl Modes>) -> Lay {
    layout.erase().unwrap()
}

fn extents(layout: &Lay) -> Vec<i64> {
    (0..layout.rank()).map(|i| layout.mode(i).unwrap().size().unwrap().get().unwrap()).collect()
}

/// Every value by every kind of coordinate, and none outside.
fn slices<M: Modes>(layout: Layout<M>)
where
    (usize, usize): Coord<M>,
    (All, usize): TypedSlice<M>,
    (usize, All): TypedSlice<M>,
{
    let places = places();
    let typed = Tensor::host(&places, layout).unwrap();
    let erased = typed.erase().unwrap();
    let [m, n] = extents(erased.layout())[..] else { unreachable!() };
    for (i, j) in (0..m + 2).flat_map(|i| (0..n + 2).map(move |j| (i, j))) {
        let (x, y) = (i as usize, j as usize);
        let inside = i < m && j < n;
        assert_eq!(typed.get((x, y)).ok(), erased.get((i, j)).ok());
        assert_eq!(typed.get((x, y)).is_ok(), inside);
        if inside {
            assert_eq!(typed.get(x + y * m as usize), erased.at(i + j * m));
        }
        let column = typed.slice((__, y)).map(|column| values(&column));
        let row = typed.slice((x, __)).map(|row| values(&row));
        let found = |slice: Slice<i64>| erased.slice(&slice).and_then(|part| part.to_vec()).ok();
        assert_eq!(column.ok(), found((Slice::All, j).into()));
        assert_eq!(row.ok(), found((i, Slice::All).into()));
    }
    assert!(typed.get((m * n) as usize).is_err());
    assert_eq!(values(&typed.flatten()), values(&typed));
    assert_eq!(values(&typed.try_coalesce().unwrap()), values(&typed));
}

#[test]
fn slices_are_those_of_run_time_layouts() {
    slices(layout!((4, 8) : (1, 4)));
    slices(layout!((4, 8) : (16, 1)));
    slices(layout!(((3, 2), (2, 5, 2)) : ((4, 1), (2, 13, 100))));
    slices(layout!((4, (2, 2)) : (0, (3, 1))));
    let (m, ld) = (5usize, 70usize);
    slices(layout!((m, (2, 4)) : (ld, (8, 1))));
}

/// Every tile, and one place in every tile.
fn tiles<M: Modes, X: Tiler>(layout: Layout<M>, tiler: X)
where
    (All, (usize, usize)): TypedSlice<ZippedDivide<M, X>>,
    (All, (usize, All)): TypedSlice<ZippedDivide<M, X>>,
    ((usize, usize), All): TypedSlice<ZippedDivide<M, X>>,
{
    let places = places();
    let typed = Tensor::host(&places, layout).unwrap();
    let (erased, by) = (typed.erase().unwrap(), tiler.erase().unwrap());
    let zipped = erased.layout().zipped_divide(&by).unwrap();
    let (tile, rest) = (extents(&zipped.mode(0).unwrap()), extents(&zipped.mode(1).unwrap()));
    let same = |found: Result<Vec<usize>, Error>,
                expected: Result<girih_tensor::Tensor<View<'_, usize>>, Error>| {
        assert_eq!(found.ok(), expected.ok().map(|tensor| tensor.to_vec().unwrap()));
    };
    for (i, j) in (0..rest[0] + 1).flat_map(|i| (0..rest[1] + 1).map(move |j| (i, j))) {
        let (at, x, y) = ([Slice::At(i), Slice::At(j)], i as usize, j as usize);
        let found = typed.try_local_tile(tiler, (x, y));
        if let Ok(tile) = &found {
            let expected = erased.local_tile(&by, &at).unwrap();
            assert_eq!(run_time(tile.layout()).to_string(), expected.layout().to_string());
        }
        same(found.map(|t| values(&t)), erased.local_tile(&by, &at));
        let inner = typed.try_inner_partition(tiler, (x, y)).map(|t| values(&t));
        same(inner, erased.inner_partition(&by, Slice::tuple(at)));
        let kept = typed.try_local_tile(tiler, (x, __)).map(|t| values(&t));
        same(kept, erased.local_tile(&by, &[Slice::At(i), Slice::All]));
    }
    for (i, j) in (0..tile[0] + 1).flat_map(|i| (0..tile[1] + 1).map(move |j| (i, j))) {
        let outer = typed.try_outer_partition(tiler, (i as usize, j as usize)).map(|t| values(&t));
        same(outer, erased.outer_partition(&by, Slice::tuple([Slice::At(i), Slice::At(j)])));
    }
}

#[test]
fn tiles_are_those_of_run_time_layouts() {
    tiles(layout!((8, 24) : (1, 8)), (int!(4), int!(8)));
    tiles(layout!((12, 20) : (20, 1)), (int!(3), int!(5)));
    tiles(layout!(((2, 4), 6) : ((1, 16), 2)), (int!(4), int!(2)));
    tiles(layout!((8, 8) : (1, 8)), (layout!(2 : 4), int!(4)));
    tiles(layout!((8, 8) : (1, 8)), (layout!((2, 2) : (1, 4)), layout!(4 : 2)));
    let (m, ld) = (24usize, 40usize);
    tiles(layout!((m, 32) : (ld, 1)), (int!(8), int!(16)));
}

/// The same layout, the same values.
fn agree<M: Modes>(
    found: Result<Tensor<View<'_, usize>, Layout<M>>, Error>,
    expected: Result<Tensor<View<'_, usize>, Layout<M>>, Error>,
) -> bool {
    assert_eq!(found.as_ref().ok().map(values), expected.as_ref().ok().map(values));
    assert_eq!(found.as_ref().err(), expected.as_ref().err());
    found.is_ok()
}

#[test]
fn static_forms_have_the_values_of_the_checked_ones() {
    let places = places();
    let t = Tensor::host(&places, layout!((12, 20) : (20, 1))).unwrap();
    let tiler = (int!(3), int!(5));
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        assert_eq!(agree(t.local_tile(tiler, (i, j)), t.try_local_tile(tiler, (i, j))), i < 4 && j < 4);
        assert_eq!(agree(t.inner_partition(tiler, (i, __)), t.try_inner_partition(tiler, (i, __))), i < 4);
        assert_eq!(agree(t.outer_partition(tiler, (__, j)), t.try_outer_partition(tiler, (__, j))), j < 5);
    }
    let (threads, tv) = (layout!((3, 4) : (4, 1)), layout!(((4, 3), 20) : ((1, 4), 12)));
    for thread in 0..14 {
        let parts = agree(t.local_partition(threads, thread), t.try_local_partition(threads, thread));
        assert_eq!(parts, thread < 12);
        assert_eq!(agree(t.tv_partition(tv, thread), t.try_tv_partition(tv, thread)), thread < 12);
    }
    assert!(agree(Ok(t.zipped_divide(tiler)), t.try_zipped_divide(tiler)));
    assert!(agree(Ok(t.whole_divide(tiler)), Ok(t.zipped_divide(tiler))));
}

/// The threads' parts are those of the run-time tensor, and every value has one owner.
fn partitions<M: Modes, T: Modes<Shape: Tiler>>(layout: Layout<M>, threads: Layout<T>, count: i64) {
    let places = places();
    let typed = Tensor::host(&places, layout).unwrap();
    let (erased, numbers) = (typed.erase().unwrap(), run_time(&threads));
    let mut owned = Vec::new();
    for thread in 0..count {
        let mine = values(&typed.try_local_partition(threads, thread as usize).unwrap());
        assert_eq!(Ok(&mine), erased.local_partition(&numbers, &thread).and_then(|t| t.to_vec()).as_ref());
        owned.extend(mine);
    }
    let mut all = values(&typed);
    owned.sort_unstable();
    all.sort_unstable();
    assert_eq!(owned, all);
    assert!(typed.try_local_partition(threads, count as usize).is_err());
}

#[test]
fn partitions_are_those_of_run_time_layouts() {
    partitions(layout!((8, 24) : (1, 8)), layout!((4, 8) : (1, 4)), 32);
    partitions(layout!((8, 24) : (24, 1)), layout!((2, 3) : (3, 1)), 6);
    partitions(layout!((8, 24) : (24, 1)), layout!((1, 12) : (0, 1)), 12);
    partitions(layout!(64 : 3), layout!(16 : 1), 16);
    let ld = 100usize;
    partitions(layout!((16, 16) : (ld, 1)), layout!((8, 4) : (4, 1)), 32);
}

/// The guide's thread-value layout of the m8n8k4 accumulator: 32 values, 2 for each of 32 threads.
#[test]
fn threads_have_the_values_of_their_layout() {
    let places = places();
    let typed = Tensor::host(&places, layout!((8, 8) : (8, 1))).unwrap();
    let tv = layout!(((4, 8), 2) : ((16, 1), 8));
    let (erased, numbers) = (typed.erase().unwrap(), run_time(&tv));
    for thread in 0..32 {
        let mine = typed.tv_partition(tv, thread as usize).unwrap();
        let expected = erased.tv_partition(&numbers, &thread).unwrap();
        assert_eq!(values(&mine), expected.to_vec().unwrap());
        assert_eq!(mine.get(1), Ok((thread as usize / 4) * 8 + thread as usize % 4 * 2 + 1));
    }
}

#[test]
fn arrays_are_as_long_as_their_layouts_say() {
    fn holds<T: Copy + Default + PartialEq + std::fmt::Debug, M: Modes>(layout: Layout<M>, one: T, len: usize)
    where
        Cosize<M>: Length,
    {
        let lay = run_time(&layout);
        let array = Array::filled(layout, T::default());
        assert_eq!((array.data().len(), size_of_val(&array)), (len, len * size_of::<T>()));
        let size = lay.size().unwrap().get().unwrap() as usize;
        for i in 0..size {
            let mut copy = array.clone();
            copy.put(i, one).unwrap();
            let place = lay.at(i as i64).unwrap() as usize;
            let expected: Vec<T> = (0..len).map(|k| if k == place { one } else { T::default() }).collect();
            assert_eq!((copy.data(), copy.get(i)), (&expected[..], Ok(one)));
            assert!(array.data().iter().all(|value| *value == T::default()));
        }
        let mut copy = array.clone();
        assert!(copy.put(size, one).is_err() && copy.get(size).is_err());
        assert_eq!(copy.data(), array.data());
    }
    holds(layout!((4, 8) : (1, 4)), 1.0f32, 32);
    holds(layout!((4, 3) : (1, 8)), 7u8, 20);
    holds(layout!(((2, 2), 3) : ((1, 12), 3)), 7i64, 20);
    holds(layout!((3, 5) : (0, 0)), 1u16, 1);
    holds(layout!(1 : 0), 1u16, 1);
}

#[test]
fn arrays_of_constant_length_take_part_in_algorithms() {
    let mut a = Array::filled(layout!((4, 8) : (8, 1)), 0i32);
    let numbers: Vec<i32> = (0..32).collect();
    let columns = Tensor::host(&numbers, layout!((4, 8) : (1, 4))).unwrap();
    algorithm::copy(&columns.erase().unwrap(), &mut a.view_mut().unwrap()).unwrap();
    assert_eq!(a.data()[..9], [0, 4, 8, 12, 16, 20, 24, 28, 1]);
    // Two owners, each with its half of the rows.
    let halves = a.view_mut().unwrap().tiles(&tiler!("<2,8>")).unwrap();
    for (number, mut half) in halves.into_iter().enumerate() {
        half.put((1, 7), -(number as i32)).unwrap();
    }
    assert_eq!((a.get((1, 7)), a.get((3, 7))), (Ok(0), Ok(-1)));
    assert_eq!(a.size(), Ok(32));
}

/// What does not compile where everything is static is a typed error where something is not.
#[test]
fn misuse_is_told_when_the_program_runs() {
    let (places, m) = (places(), 8usize);
    let t = Tensor::host(&places, layout!((m, 24) : (1, 8))).unwrap();
    let erased = t.erase().unwrap();
    let said = |error: Option<Error>| error.unwrap().to_string();
    let text = [
        said(t.try_local_tile((int!(16), int!(8)), (0, 0)).err()),
        said(t.try_local_tile((int!(4), int!(7)), (0, 0)).err()),
        said(erased.local_tile(&tiler!("<4,8,2>"), &[Slice::At(0), Slice::At(0)]).err()),
        said(erased.get((1, 2, 3)).err()),
        said(t.try_local_tile((int!(4), int!(8)), (2, 0)).err()),
        said(t.try_tv_partition(layout!((8, 25) : (1, 8)), 0).err()),
        said(t.try_local_partition(layout!((3, 4) : (4, 1)), 0).err()),
        said(t.try_local_partition(layout!((4, 4) : (4, 1)), 16).err()),
        said(t.slice((__, 24)).err()),
        said(t.get((8, 0)).err()),
        said(Tensor::host(&[0; 100], layout!((8, 24) : (1, 8))).err()),
    ];
    let expected = [
        "whole_divide: extent 8 must be a multiple of 16",
        "whole_divide: extent 24 must be a multiple of 7",
        "zipped_divide: the layout has rank 2, the other operand rank 3",
        "slice (1,2,3) has rank 3, the layout (8,24):(1,8) has rank 2: give one entry for each mode",
        "coordinate 2 is outside the extent 2",
        "coordinate 199 is outside the extent 192",
        "whole_divide: extent 8 must be a multiple of 3",
        "coordinate 16 is outside the extent 16",
        "coordinate 24 is outside the extent 24",
        "coordinate 8 is outside the extent 8",
        "the layout (8,24):(1,8) reaches elements 0 to 191, the data has 100",
    ];
    assert_eq!(text, expected);
}
