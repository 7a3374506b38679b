//! The typed layer's own promises: its arithmetic, coordinates, slices, storage, limits, and what it refuses when it runs.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_layout::{Composed, Error, Lay, Shape, Swizzle, lay, tiler};
use girih_typed::{
    __, All, ArrayOf, Check, Coalesced, Composition, Coord, Int, IntTuple, Layout, Left, Lt, Mode, Modes,
    ModesOf, Nat, Neg, RightInverse, S, Slice, Storage, Sw, SwizzleOf, Swizzled, Swizzling, Tiler,
    ZippedDivide, int, int_tuple, int_tuple_type, int_type, layout, layout_type,
};

/// Every pair of numbers, `check::<A, B>()`.
macro_rules! pairs {
    ($check:ident: $($n:literal)*) => { $(pairs!(@ $check $n: 0 1 2 3 4 5 6 7 9 12 16 100 1536);)* };
    (@ $check:ident $m:literal: $($n:literal)*) => { $($check::<int_type!($m), int_type!($n)>();)* };
}

fn known<N: Int>() -> i64 {
    N::KNOWN.unwrap()
}

fn arithmetic<A: Nat, B: Nat>() {
    let (a, b) = (A::N as i64, B::N as i64);
    assert_eq!(known::<A::Mul<B>>(), a * b);
    assert_eq!(known::<A::Add<B>>(), a + b);
    assert_eq!(known::<A::Min<B>>(), a.min(b), "{a} {b}");
    assert_eq!(known::<A::Pred>(), (a - 1).max(0));
    if b > 0 {
        assert_eq!(known::<A::CDiv<B>>(), (a + b - 1) / b, "{a} {b}");
        assert_eq!(known::<Neg<B>>(), -b);
        assert_eq!(known::<<Neg<B> as Int>::Mul<A>>(), -a * b);
        assert_eq!(known::<A::Mul<Neg<B>>>(), -a * b);
    }
    // The dynamic forms agree on what does not depend on the value.
    assert_eq!(<usize as Int>::Mul::<A>::KNOWN, (a == 0).then_some(0));
    assert_eq!(<A as Int>::Mul::<i64>::KNOWN, (a == 0).then_some(0));
}

#[test]
fn arithmetic_is_that_of_integers() {
    pairs!(arithmetic: 0 1 2 3 4 5 6 7 9 12 16 100 1536);
    assert_eq!(int!(0xffff_ffff).get(), 0xffff_ffff);
    assert_eq!(int!(1 << 20).get(), 1 << 20);
    assert_eq!(known::<S<1000>>(), 1000);
}

/// Every coordinate of a rank-2 layout whose second mode has two: as one position, two, and nested, dynamic against the run-time layer.
fn coordinates<A: Modes, B: Modes, C: Modes>(l: Layout<(A, (B, C))>, extents: (usize, usize, usize))
where
    usize: Coord<A> + Coord<B> + Coord<C> + Coord<(B, C)>,
{
    let lay = l.erase().unwrap();
    let (a, b, c) = extents;
    for k in 0..c {
        for j in 0..b {
            for i in 0..a {
                let flat = i + a * (j + b * k);
                let index = lay.at(flat as i64).unwrap();
                assert_eq!(l.at_signed(flat), index);
                assert_eq!(l.at_signed((i, j + b * k)), index);
                assert_eq!(l.at_signed((i, (j, k))), index);
                assert_eq!(l.try_at((i, (j, k))).unwrap(), index);
            }
        }
    }
    assert!(matches!(l.try_at(a * b * c), Err(Error::CoordOutOfRange { .. })));
    assert!(matches!(l.try_at((a, 0)), Err(Error::CoordOutOfRange { .. })));
    assert!(matches!(l.try_at((0, (0, c))), Err(Error::CoordOutOfRange { .. })));
}

#[test]
fn coordinates_of_an_element_agree() {
    let (n, ld): (usize, usize) = (6, 70);
    let back: i64 = -3;
    coordinates(layout!((5, (2, 3)) : (6, (1, 2))), (5, 2, 3));
    coordinates(layout!((8, (4, 2)) : (1, (16, 8))), (8, 4, 2));
    coordinates(layout!((n, (4, n)) : (ld, (1, 8))), (6, 4, 6));
    coordinates(layout!((4, (n, 2)) : (-1, (back, 100))), (4, 6, 2));
    coordinates(layout!((1, (n, 1)) : (0, (7, 0))), (1, 6, 1));
}

#[test]
fn slices_are_the_run_time_slices() {
    fn check<M: Modes, C: Slice<M>>(l: Layout<M>, coord: C, text: &str) {
        let (kept, offset) = l.slice(coord);
        let (expected, at) = l.erase().unwrap().slice(&girih_layout::Coord::parse(text).unwrap()).unwrap();
        assert_eq!((kept.erase().unwrap(), Some(offset)), (expected, at.get()), "{l} at {text}");
    }
    let ld: usize = 70;
    let l = layout!((8, (2, 3), 5) : (ld, (1, 2), 1000));
    check(l, __, "_");
    check(l, (__, __, __), "(_,_,_)");
    check(l, (3, __, int!(4)), "(3,_,4)");
    check(l, (__, (1, __), 2), "(_,(1,_),2)");
    check(l, (7, (int!(1), 2), __), "(7,(1,2),_)");
    check(l, (7, 5, __), "(7,5,_)");
    check(l, (1, 2, 3), "(1,2,3)");
    // What stays static stays static.
    let (row, offset) = layout!((8, (2, 3)) : (6, (1, 2))).slice((5, (__, 1)));
    assert_eq!((row, offset), (Layout((Mode(S::<2>::new(), S::<1>::new()),)), 32));
}

fn storage<N: Int>(n: usize) {
    type A<N> = <N as Int>::Array<u16>;
    let mut a = A::<N>::filled(7);
    assert_eq!((A::<N>::LEN, size_of::<A<N>>(), a.get(n)), (n, 2 * n, None));
    for i in 0..n {
        assert_eq!(a.get(i), Some(&7));
        *a.get_mut(i).unwrap() = i as u16;
    }
    // One after another in memory: addresses go up by one element.
    for i in 0..n {
        let (first, here) =
            (a.get(0).unwrap() as *const u16 as usize, a.get(i).unwrap() as *const u16 as usize);
        assert_eq!((*a.get(i).unwrap(), here - first), (i as u16, 2 * i));
    }
}

#[test]
fn storage_is_an_array() {
    macro_rules! lengths { ($($n:literal)*) => { $(storage::<S<$n>>($n);)* } }
    lengths!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 31 32 33 100);
    let padded = layout!((4, 3) : (1, 8)).array(0u64);
    assert_eq!(size_of_val(&padded), 20 * 8);
}

#[test]
fn long_flat_layouts_stay_below_the_recursion_limit() {
    let l = layout!((2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
        : (1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600));
    assert_eq!(l.coalesce().lay(), l.lay().coalesce());
    assert_eq!(l.right_inverse().lay(), l.lay().right_inverse().unwrap());
    assert_eq!(l.composition(layout!(720 : 7)).lay(), l.lay().composition(&lay!("720:7")).unwrap());
    // Nothing merges: strides from the right.
    let r = layout!((2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2)
        : (479001600, 159667200, 39916800, 7983360, 1330560, 190080, 23760, 2640, 264, 24, 2, 1));
    assert_eq!(r.coalesce().lay(), r.lay().coalesce());
    assert_eq!(r.right_inverse().lay(), r.lay().right_inverse().unwrap());
    assert_eq!(
        r.complement(int!(2_000_000_000)).lay(),
        r.lay().complement(girih_layout::Int::fixed(2_000_000_000)).unwrap()
    );
    assert_eq!(r.composition(int!(5040)).lay(), r.lay().composition(&lay!("5040:1")).unwrap());
}

#[test]
fn negative_strides_go_through() {
    let l = layout!((4, 3) : (-1, -4));
    assert_eq!(l.coalesce(), layout!(12 : -1));
    let r = l.composition(layout!((2, 2) : (3, 6)));
    assert_eq!(r.lay(), l.lay().composition(&lay!("(2,2):(3,6)")).unwrap());
    assert_eq!(layout!(8 : -2).composition(layout!(4 : -1)).lay(), lay!("4:2"));
    let back: i64 = -5;
    let r = layout!((4, 6) : (back, 1)).try_composition((int!(2), int!(3))).unwrap();
    assert_eq!(format!("{r:#}"), "(_2,_3):(-5,_1)");
}

#[test]
fn static_parts_stay_static() {
    let (m, n, ld): (usize, usize, usize) = (1000, 70, 4096);
    let a = layout!((m, n) : (ld, 1));
    let shown = |l: Result<String, Error>| l.unwrap();
    let tile = (int!(128), int!(32));
    assert_eq!(
        shown(a.try_zipped_divide(tile).map(|l| format!("{l:#}"))),
        "((_128,_32),(8,3)):((4096,_1),(524288,_32))"
    );
    assert_eq!(
        shown(a.try_tiled_divide((int!(128), __)).map(|l| format!("{l:#}"))),
        "((_128,70),8,_1):((4096,_1),524288,_0)"
    );
    assert_eq!(shown(layout!((4, 8, n) : (1, 4, 32)).try_coalesce().map(|l| format!("{l:#}"))), "2240:_1");
    assert_eq!(
        shown(layout!((4, 8, n) : (1, 4, ld)).try_coalesce().map(|l| format!("{l:#}"))),
        "(_32,70):(_1,4096)"
    );
    assert_eq!(
        shown(layout!((2, 2) : (1, 6)).try_complement(n).map(|l| format!("{l:#}"))),
        "(_3,6):(_2,_12)"
    );
    assert_eq!(
        shown(layout!((8, n) : (1, ld)).try_composition(layout!((4, 2) : (2, 1))).map(|l| format!("{l:#}"))),
        "(_4,_2):(_2,_1)"
    );
}

#[test]
fn what_has_no_answer_is_refused() {
    let n = |n: usize| std::hint::black_box(n);
    // Not a layout, whoever asks.
    let (l, r) = (layout!(({n(6)}, 2) : (8, 2)), layout!({n(6)} : {n(4)}));
    assert!(matches!(l.try_composition(r), Err(Error::NoLayout { .. })));
    assert!(matches!(
        layout!((2, 2) : (1, {n(3)})).try_complement(int!(12)),
        Err(Error::NotTractable { .. })
    ));
    // Empty.
    assert!(matches!(layout!({n(0)} : 1).erase(), Err(Error::NonPositiveShape { .. })));
    assert!(matches!(layout!((4, {n(0)}) : (1, 4)).try_coalesce(), Err(Error::NonPositiveShape { .. })));
    assert!(matches!(layout!(4 : 1).try_zipped_divide(n(0)), Err(Error::NonPositiveShape { .. })));
    // Too large for an index.
    let huge = layout!(({n(1 << 40)}, {n(1 << 40)}) : (1, {n(1 << 40)}));
    assert!(matches!(huge.try_size(), Err(Error::Overflow { .. })));
    assert!(huge.try_composition(layout!((2, 2) : (1, 2))).is_ok());
    // A layout, but of another structure: the dynamic stride belongs below the static one.
    assert!(matches!(
        layout!((2, 3) : (12, {n(4)})).try_complement(int!(48)),
        Err(Error::Unsupported { .. })
    ));
    assert!(layout!((2, 3) : (1, {n(4)})).try_complement(int!(48)).is_ok());
}

/// No where clauses.
fn accumulator<M: Modes, V: Modes>(
    tile: Layout<M>,
    values: Layout<V>,
) -> ArrayOf<f32, Coalesced<Composition<M, Layout<V>>>> {
    tile.composition(values).coalesce().array(0.0)
}

fn tiles<M: Modes, X: Tiler>(l: Layout<M>, tiler: X) -> Result<usize, Error> {
    l.try_zipped_divide(tiler)?.slice((0, __)).0.try_size()
}

#[test]
fn generic_code_needs_no_bounds() {
    let values = accumulator(layout!((16, 8) : (1, 16)), layout!((2, 2) : (1, 8)));
    assert_eq!(size_of_val(&values), 10 * 4);
    let n: usize = 100;
    assert_eq!(tiles(layout!((n, 64) : (64, 1)), (int!(32), All)).unwrap(), 4);
    assert_eq!(tiles(layout!((128, 64) : (64, 1)), (int!(32), int!(16))).unwrap(), 16);
    let typed: Lt<(S<128>, usize), (S<1>, S<128>)> = layout!((128, n) : (1, 128));
    assert_eq!((typed.try_size().unwrap(), size_of_val(&typed)), (12800, 8));
    assert_eq!((typed.shape(), typed.stride()), ((S::<128>::new(), 100), (S::<1>::new(), S::<128>::new())));
}

/// Every index of a swizzled layout is that of the run-time form, and that form is the expected one.
fn swizzled<W: Swizzling, L: Modes, O: Int>(l: Swizzled<W, L, O>, expected: Result<Composed, Error>) {
    let (composed, expected) = (l.erase().unwrap(), expected.unwrap());
    assert_eq!(l.to_string(), composed.to_string());
    assert_eq!((composed.swizzle(), composed.offset()), (expected.swizzle(), expected.offset()));
    // Static operands: leaf by leaf. Otherwise modes of dynamic extent 1 may stand in between.
    let same = if L::STATIC {
        composed.layout() == expected.layout()
    } else {
        composed.layout().equivalent(expected.layout())
    };
    assert!(same, "{composed} for {expected}");
    for c in 0..l.layout().try_size().unwrap() {
        assert_eq!(l.at(c) as i64, expected.at(c as i64).unwrap(), "{l} at {c}");
        assert_eq!(l.try_at(c).unwrap(), l.at(c) as i64);
    }
    assert!(l.try_at(l.layout().try_size().unwrap()).is_err());
}

#[test]
fn swizzled_layouts_are_the_run_time_ones() {
    let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    let run = tile.erase().unwrap();
    let coord = |text: &str| girih_layout::Coord::parse(text).unwrap();
    let shape = |text: &str| Shape::parse(text).unwrap();
    swizzled(tile, Ok(run));
    swizzled(tile.slice((3, __)), run.slice(&coord("(3,_)")));
    swizzled(tile.composition((int!(4), layout!(8 : 8))), run.compose(&tiler!("<4,8:8>")));
    swizzled(tile.with_shape((int!(4), int!(128))), run.with_shape(&shape("(4,128)")));
    swizzled(tile.coalesce_by((int!(1), int!(1))), run.coalesce_by(&shape("(1,1)")));
    let four = (int!(4), int!(16));
    let by = tiler!("<4,16>");
    swizzled(tile.zipped_divide(four), run.zipped_divide(&by));
    swizzled(tile.tiled_divide(four), run.tiled_divide(&by));
    swizzled(tile.flat_divide(four), run.flat_divide(&by));
    swizzled(
        tile.logical_divide(four).slice((__, (__, 2))),
        run.logical_divide(&by).and_then(|divided| divided.slice(&coord("(_,(_,2))"))),
    );
    let twice = layout!((2, 3) : (3, 1));
    swizzled(tile.logical_product(twice), run.logical_product(&tiler!("(2,3):(3,1)")));
    swizzled(tile.zipped_product((int!(2), __)), run.zipped_product(&tiler!("<2,_>")));
    swizzled(tile.tiled_product((int!(2), int!(1))), run.tiled_product(&tiler!("<2,1>")));
    swizzled(tile.flat_product((int!(2), int!(1))), run.flat_product(&tiler!("<2,1>")));
    swizzled(tile.blocked_product(twice), run.blocked_product(&lay!("(2,3):(3,1)")));
    swizzled(tile.raked_product(twice), run.raked_product(&lay!("(2,3):(3,1)")));
    let target = (int!(16), int!(128));
    swizzled(tile.tile_to_shape(target), run.tile_to_shape(&shape("(16,128)"), None));
    let keys = (int!(1), int!(0));
    swizzled(
        tile.tile_to_shape_by(target, keys),
        run.tile_to_shape(&shape("(16,128)"), Some(&shape("(1,0)"))),
    );
    swizzled(tile.mode(int!(1)), run.mode(1));
    swizzled(tile.select((int!(1), int!(0))), run.select(&[1, 0]));
    swizzled(tile.take(int!(0), int!(1)), run.take(0, 1));
    swizzled(tile.group(int!(0), int!(2)), run.group(0, 2));
    swizzled(tile.zipped_divide(four).flatten(), run.zipped_divide(&by).map(|divided| divided.flatten()));
    // A slice of the swizzled is the swizzled slice, offset and all.
    for (i, j) in (0..8).flat_map(|i| (0..64).map(move |j| (i, j))) {
        assert_eq!(tile.slice((i, __)).at(j), tile.at((i, j)));
    }
}

/// The questions whose answer is a plain layout: at compile time, at run time, and to the run-time form.
#[test]
fn swizzled_layouts_answer_like_the_run_time_ones() {
    macro_rules! answers {
        ($($swizzle:ty, $layout:expr;)*) => {$({
            let (l, run) = (Swizzled::<$swizzle, _>::new($layout), Composed::new(
                Swizzled::<$swizzle, _>::new($layout).swizzle(), 0, $layout.erase().unwrap()));
            assert_eq!(l.cosize() as i64, 1 + (0..512).map(|x| run.at(x).unwrap()).max().unwrap());
            assert_eq!((l.cosize(), l.right_inverse(), l.left_inverse()),
                (l.try_cosize().unwrap(), l.try_right_inverse().unwrap(), l.try_left_inverse().unwrap()));
            assert_eq!((Ok(l.right_inverse()), Ok(l.left_inverse())), (run.right_inverse(), run.left_inverse()));
            assert_eq!(l.try_decay(), run.decay());
            for x in 0..512usize {
                assert_eq!(l.left_inverse().at(l.at(x) as i64).unwrap(), x as i64, "{l}");
            }
            for i in 0..l.right_inverse().size().unwrap().get().unwrap() {
                assert_eq!(run.at(l.right_inverse().at(i).unwrap()).unwrap(), i, "{l}");
            }
            for (i, j) in [(0usize, 0usize), (3, 2), (7, 31)] {
                let moved = l.domain_offset((i, j));
                assert_eq!(moved.at(0usize), l.at((i, j)));
                let at = girih_layout::Coord::of(&[i as i64, j as i64]).unwrap();
                swizzled(moved, run.domain_offset(&at));
            }
        })*};
    }
    answers! {
        Sw<3, 3, 3>, layout!((8, 64) : (64, 1));
        Sw<2, 0, 2>, layout!((8, 64) : (1, 8));
        Sw<0, 4, 3>, layout!((8, 64) : (64, 1));
        Sw<1, 2, 4>, layout!((16, 32) : (64, 2));
    }
    // What does not move decays, at compile time too.
    let row = Swizzled::<Sw<3, 3, 3>, _>::new(layout!(64 : 1));
    assert_eq!(row.decay(), (lay!("64:1"), 0));
    let ld: usize = 64;
    let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (ld, 1)));
    assert_eq!(tile.try_cosize(), Ok(512));
    let row = tile.slice((3, __));
    let (plain, offset) = row.try_decay().unwrap();
    assert!((0..64).all(|j| plain.at(j).unwrap() + offset == row.at(j as usize) as i64));
    assert!(matches!(tile.try_decay(), Err(Error::NoLayout { .. })));
}

#[test]
fn checked_coordinates_are_the_unchecked_ones_inside() {
    let tiles = Layout::identity((int!(12), int!(8))).zipped_divide((int!(4), int!(2)));
    for (i, j, k, l) in (0..4)
        .flat_map(|i| (0..2).flat_map(move |j| (0..3).flat_map(move |k| (0..4).map(move |l| (i, j, k, l)))))
    {
        let at = ((i, j), (k, l));
        let expected: [usize; 2] = [i + 4 * k, j + 2 * l];
        assert_eq!((tiles.coord_at(at), tiles.try_coord_at(at)), (expected, Ok(expected)));
    }
    assert!(matches!(tiles.try_coord_at::<_, 2>(((4, 0), (0, 0))), Err(Error::CoordOutOfRange { .. })));
    assert!(matches!(
        tiles.try_coord_at::<_, 1>(((0, 1), (0, 0))),
        Err(Error::ModeOutOfRange { mode: 1, rank: 1 })
    ));
    assert!(matches!(layout!((4, 8) : (8, 1)).try_coord_at::<_, 2>((1, 1)), Err(Error::Unsupported { .. })));
}

#[test]
fn swizzled_layouts_with_something_dynamic_are_the_run_time_ones() {
    let ld: usize = 96;
    let tile = Swizzled::<Sw<2, 4, 3>, _>::new(layout!((16, 32) : (ld, 1)));
    let run = tile.erase().unwrap();
    swizzled(tile, Ok(run));
    swizzled(Swizzled::<SwizzleOf<S<2>, S<4>, Neg<S<3>>>, _>::new(layout!((16, 32) : (32, 1))), {
        Ok(Composed::new(Swizzle::new(2, 4, -3).unwrap(), 0, lay!("(16,32):(32,1)")))
    });
    let four = (int!(4), int!(8));
    swizzled(tile.try_composition(four).unwrap(), run.compose(&tiler!("<4,8>")));
    swizzled(tile.try_zipped_divide(four).unwrap(), run.zipped_divide(&tiler!("<4,8>")));
    swizzled(
        tile.try_blocked_product(layout!((1, 2) : (0, 1))).unwrap(),
        run.blocked_product(&lay!("(1,2):(0,1)")),
    );
    swizzled(
        tile.slice((3, __)).try_coalesce().unwrap(),
        Ok(run.slice(&girih_layout::Coord::parse("(3,_)").unwrap()).unwrap().coalesce()),
    );
    assert!(matches!(
        tile.try_composition(layout!(6 : 12)),
        Err(Error::NoLayout { .. } | Error::Carry { .. })
    ));
}

#[test]
fn recasts_of_swizzled_layouts_are_the_run_time_ones() {
    let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    let run = tile.erase().unwrap();
    macro_rules! recasts {
        ($($old:literal $new:literal),*) => {$(
            swizzled(tile.recast(int!($old), int!($new)), run.recast($old, $new));
            swizzled(tile.try_recast(int!($old), int!($new)).unwrap(), run.recast($old, $new));
        )*};
    }
    recasts!(16 16, 16 32, 16 64, 16 128, 16 8, 16 4, 16 1, 24 48);
    // An offset goes along where whole units are in it.
    let row = tile.slice((5, __));
    swizzled(row.try_recast(int!(16), int!(128)).unwrap(), row.erase().unwrap().recast(16, 128));
    swizzled(row.try_recast(int!(16), int!(8)).unwrap(), row.erase().unwrap().recast(16, 8));
    let inside = tile.logical_divide((int!(4), int!(16))).slice(((1, 1), (__, 0)));
    swizzled(inside.try_recast(int!(16), int!(64)).unwrap(), inside.erase().unwrap().recast(16, 64));
    let element = tile.slice((0, 1));
    assert!(matches!(element.try_recast(int!(16), int!(32)), Err(Error::Unsupported { .. })));
}

#[test]
fn typenums_signed_integers_are_strides() {
    use typenum::{N1, N64, P1, P64, Z0};
    type L<D> = Lt<(S<4>, S<8>), (S<1>, D)>;
    let same = |a: String, b: &str| assert_eq!(a, b);
    same(format!("{:#}", <L<N64>>::default()), "(_4,_8):(_1,_-64)");
    same(format!("{:#}", <L<P64>>::default()), "(_4,_8):(_1,_64)");
    same(format!("{:#}", <L<Z0>>::default()), "(_4,_8):(_1,_0)");
    // One type for one layout, however it was written.
    let (neg, one): (L<Neg<S<1>>>, L<S<1>>) = (<L<N1>>::default(), <L<P1>>::default());
    assert_eq!((neg, one), (layout!((4, 8) : (1, -1)), layout!((4, 8) : (1, 1))));
}

/// What `run` panics with, if it does.
fn panic_of<T>(run: impl FnOnce() -> T + std::panic::UnwindSafe) -> Option<String> {
    let payload = std::panic::catch_unwind(run).err()?;
    Some(payload.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn debug_assertions_meet_positions_outside() {
    let (l, n) = (layout!(((2, 2), 4) : ((1, 8), 2)), 6usize);
    let (dynamic, tile) =
        (layout!((4, n) : (n, 1)), Swizzled::<Sw<1, 0, 3>, _>::new(layout!((4, 4) : (4, 1))));
    let id = Layout::identity(int_tuple!((4, 8)));
    let inside = [
        panic_of(|| l.at((3, 3))),
        panic_of(|| l.at(15)),
        panic_of(|| dynamic.at((3, 5))),
        panic_of(|| tile.at((3, 3))),
    ];
    assert_eq!(inside, [const { None }; 4]);
    let outside = [
        (panic_of(|| l.at(((1, 2), 3))), 2, 2),
        (panic_of(|| l.at((4, 0))), 4, 4),
        (panic_of(|| l.at(16)), 16, 16),
        (panic_of(|| dynamic.at((0, 6))), 6, 6),
        (panic_of(|| dynamic.at(24)), 24, 24),
        (panic_of(|| layout!(4 : -1).at_signed(4)), 4, 4),
        (panic_of(|| l.slice((__, 4)).1 as usize), 4, 4),
        (panic_of(|| id.coord_at::<_, 2>((0, 8))[1]), 8, 8),
        (panic_of(|| id.slice_coord::<_, 2>((4, __)).1[0]), 4, 4),
        (panic_of(|| tile.at((4, 0))), 4, 4),
    ];
    for (k, (found, coord, extent)) in outside.into_iter().enumerate() {
        let wanted = format!("coordinate {coord} is outside the extent {extent}");
        assert_eq!(found, cfg!(debug_assertions).then_some(wanted), "{k}");
    }
}

#[test]
fn identity_layouts_go_along_with_the_data() {
    let (m, n): (usize, usize) = (100, 64);
    let id = Layout::try_identity((m, n)).unwrap();
    assert_eq!(format!("{id:#}"), "(100,64):(_1@0,_1@1)");
    let data = layout!((m, n) : (n, 1));
    // Whatever is done to the data is done to the coordinates: data(coordinate) is where the element lies.
    let (tiles, coordinates) = (
        data.try_zipped_divide((int!(32), int!(16))).unwrap(),
        id.try_zipped_divide((int!(32), int!(16))).unwrap(),
    );
    for t in 0..32 * 16 {
        for r in 0..12 {
            let [i, j] = coordinates.coord_at((t, r));
            // The last tiles of the rows are ragged: what a kernel guards.
            if i < m {
                assert_eq!(tiles.at((t, r)), data.at((i, j)));
            }
        }
    }
    // A slice of the coordinates begins at a coordinate.
    for r in 0..12 {
        let (tile, [i0, j0]) = coordinates.slice_coord((__, r));
        for t in 0..32 * 16 {
            let [i, j] = tile.coord_at(t);
            assert_eq!(coordinates.coord_at((t, r)), [i0 + i, j0 + j]);
        }
    }
    // Scaled: every other row, columns in blocks of 4.
    let part = Layout::identity((int!(8), int!(16))).composition((layout!(4 : 2), layout!((4, 2) : (1, 8))));
    assert_eq!(part, layout!((4, (4, 2)) : (2@0, (1@1, 8@1))));
    assert_eq!(part.coord_at((3, (2, 1))), [6, 10]);
    assert_eq!(part.coalesce().lay(), part.lay().coalesce());
    assert!(part.lay().crd2idx(&1.into()).is_err());
}

#[test]
fn nested_coordinates_are_as_at_run_time() {
    let (id, n) = (Layout::identity(int_tuple!((4, (2, 3)))), 5usize);
    assert_eq!(id, layout!((4, (2, 3)) : (1@0, (1@0@1, 1@1@1))));
    assert_eq!(id.lay(), Lay::identity(id.lay().shape()).unwrap());
    assert_eq!(format!("{:#}", layout!((2, 3) : (n@1@0, 2@0@1@2))), "(_2,_3):(5@1@0,_2@0@1@2)");
    for coalesced in [
        (layout!((2, 3) : (1@0@1, 2@0@1)).coalesce().lay(), "6:1@0@1"),
        (layout!((2, 3) : (1@0@1, 2@1@1)).coalesce().lay(), "(2,3):(1@0@1,2@1@1)"),
        (layout!((2, 3) : (1@1, 2@0@1)).coalesce().lay(), "(2,3):(1@1,2@0@1)"),
        (layout!((2, 3) : (1@0@0@1, 2@0@1)).coalesce().lay(), "(2,3):(1@0@0@1,2@0@1)"),
    ] {
        assert_eq!(coalesced.0, Lay::parse(coalesced.1).unwrap());
    }
    // An array holds flat coordinates.
    assert!(matches!(id.try_coord_at::<_, 2>((3, 1)), Err(Error::Unsupported { .. })));
    let tiles = id.zipped_divide((int!(2), layout!(3 : 2))).lay();
    assert_eq!(tiles, id.lay().zipped_divide(&girih_layout::tiler!("<2,3:2>")).unwrap());
}

#[test]
fn a_right_inverse_is_whole_or_refused() {
    let n = |n: usize| std::hint::black_box(n);
    // The types don't see that the second mode follows, but there is room for all of it.
    let whole = layout!(({n(4)}, {n(8)}) : (1, {n(4)})).try_right_inverse().unwrap();
    assert_eq!(whole.erase().unwrap(), lay!("32:1"));
    // Here there is not: 0..4 are in mode 0, and the rest in mode 2.
    let apart = layout!((4, {n(3)}, {n(8)}) : (1, {n(100)}, {n(4)})).try_right_inverse();
    assert!(matches!(apart, Err(Error::Unsupported { .. })));
}

#[test]
fn workers_keep_their_strides() {
    let n = |n: usize| std::hint::black_box(n);
    assert_eq!(
        Layout::domain_distribute(girih_typed::int_tuple!((15, 14)), int!(6)),
        layout!((3, 2) : (1, 15))
    );
    let open =
        Layout::try_domain_distribute(girih_typed::int_tuple!(({ n(15) }, { n(14) })), int!(6)).unwrap();
    assert_eq!(open.erase().unwrap().coalesce(), lay!("(3,2):(1,15)"));
}

#[test]
fn exactly_takes_what_fits_when_it_runs() {
    type Wanted = Lt<(S<4>, S<8>), (S<64>, usize)>;
    let (ld, one): (usize, usize) = (64, 1);
    let fits: Result<Wanted, _> = layout!((4, 8) : (ld, one)).try_exactly();
    assert_eq!(fits.map(|layout| layout.to_string()).as_deref(), Ok("(4,8):(64,1)"));
    let ld: usize = 65;
    let other: Result<Wanted, _> = layout!((4, 8) : (ld, one)).try_exactly();
    assert!(matches!(other, Err(Error::Unsupported { op: "try_exactly", .. })));
}

#[test]
fn orders_have_keys_of_whole_modes() {
    fn check<Sh: IntTuple, O: IntTuple>(shape: Sh, order: O, texts: [&str; 2]) {
        let [extents, keys] = texts.map(|text| Shape::parse(text).unwrap());
        let expected = Lay::ordered(&extents, &keys).unwrap();
        let made = Layout::try_ordered(shape, order).unwrap().erase().unwrap();
        // The typed layer has stride 0 at extents of 1.
        assert!((0..expected.size().unwrap().get().unwrap()).all(|i| made.at(i) == expected.at(i)), "{made}");
        assert_eq!(made.shape(), expected.shape());
    }
    let n: usize = 4;
    check(int_tuple!(((2, 4), 3)), int_tuple!((1, 0)), ["((2,4),3)", "(1,0)"]);
    check(((int!(2), n), int!(3)), int_tuple!((1, 0)), ["((2,4),3)", "(1,0)"]);
    check(int_tuple!((5, (2, (4, 3)), 7)), int_tuple!((2, (1, 0), 2)), ["(5,(2,(4,3)),7)", "(2,(1,0),2)"]);
    check(int_tuple!((5, (2, (4, 3)), 7)), int_tuple!((2, 1, 0)), ["(5,(2,(4,3)),7)", "(2,1,0)"]);
    check(int_tuple!(((2, 4), (3, 5))), int!(3), ["((2,4),(3,5))", "3"]);
    check(int_tuple!((1, (2, 1), 3)), int_tuple!((0, 2, 1)), ["(1,(2,1),3)", "(0,2,1)"]);
    assert_eq!(
        Layout::ordered(int_tuple!(((2, 4), 3)), int_tuple!((1, 0))),
        layout!(((2, 4), 3) : ((3, 6), 1))
    );
}

/// What a type says of its layout, and what the layout's value says when the program runs.
fn constants<M: Modes, const RANK: usize, const SIZE: usize, const COSIZE: usize>(l: Layout<M>) {
    let run = l.erase().unwrap();
    let cosize = run.max_index().unwrap() + 1;
    assert_eq!((Layout::<M>::RANK, run.rank()), (RANK, RANK), "{l}");
    assert_eq!((Layout::<M>::SIZE, l.size(), run.size().unwrap().get()), (SIZE, SIZE, Some(SIZE as i64)));
    assert_eq!((Layout::<M>::COSIZE, l.cosize(), cosize), (COSIZE, COSIZE, COSIZE as i64), "{l}");
    assert_eq!((Layout::<M>::LAY, Layout::<M>::LAY.is_static(), l.lay()), (run, true, run));
}

type Padded = layout_type!((128, (8, 4)) : (40, (1, 8)));
type Parts = Layout<ZippedDivide<ModesOf<Padded>, (S<32>, S<8>)>>;
type Inverse = Layout<RightInverse<ModesOf<layout_type!((4, 8) : (8, 1))>>>;
type Atom = Swizzled<Sw<3, 3, 3>, ModesOf<layout_type!((8, 64) : (64, 1))>>;

const _: () = Check::<Padded>::zipped_divide::<(S<32>, S<8>)>();
const PARTS: Lay = Parts::LAY;
static ROOM: [u16; Padded::COSIZE] = [1; Padded::COSIZE];

struct Shared {
    rows: [f32; Padded::COSIZE],
    ranks: [u8; Parts::RANK],
    swizzled: [u8; Atom::COSIZE],
}

#[test]
fn layouts_are_known_in_constants() {
    constants::<_, 2, 4096, 5112>(Padded::default());
    constants::<_, 2, 4096, 5112>(Parts::default());
    constants::<_, 2, 32, 32>(Inverse::default());
    constants::<_, 1, 12, 34>(<layout_type!(12 : 3)>::default());
    constants::<_, 1, 4, 1>(<layout_type!((4) : (0))>::default());
    constants::<_, 2, 1536, 1536>(Layout::<Left<int_tuple_type!((3, 512))>>::default());
    assert_eq!(PARTS, lay!("((32,8),(4,4)):((40,1),(1280,8))"));
    let shared = Shared { rows: [0.5; Padded::COSIZE], ranks: [0; Parts::RANK], swizzled: [0; Atom::COSIZE] };
    let last = Padded::default().at((127, (7, 3)));
    assert_eq!((shared.rows[last], ROOM[last], shared.rows.len()), (0.5, 1, last + 1));
    assert_eq!((shared.ranks.len(), shared.swizzled.len(), Atom::COSIZE), (2, 512, Atom::default().cosize()));
    // The run-time layout of a constant is computed with in constants.
    const DIVIDED: Result<Lay, Error> = Padded::LAY.zipped_divide(&tiler!("<32,8>"));
    assert_eq!(DIVIDED, Ok(PARTS));
}

/// The type of a literal is the type of the value, integer for integer.
#[test]
fn types_are_written_as_values_are() {
    let (n, back): (usize, i64) = (6, -3);
    let _: layout_type!((4, 8) : (1, 4)) = layout!((4, 8) : (1, 4));
    let _: layout_type!(1536 : -2) = layout!(1536 : -2);
    let _: layout_type!(((4, 2), (8, usize)) : ((-1, 64), (4, i64))) =
        layout!(((4, 2), (8, n)) : ((-1, 64), (4, back)));
    let _: layout_type!((4, 8, 2) : (2@1, 1@0, 3@1@0)) = layout!((4, 8, 2) : (2@1, 1@0, 3@1@0));
    let _: layout_type!((4, 2) : (1@2@1@0, 0)) = layout!((4, 2) : (1@2@1@0, 0));
    let _: int_tuple_type!((4, (usize, -2), 7)) = int_tuple!((4, (n, -2), 7));
    assert_eq!(<layout_type!((4, usize) : (1, i64))>::RANK, 2);
}
