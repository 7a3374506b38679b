//! Swizzled layouts are those of the run-time layer.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_layout::{Composed, Error, Shape, Swizzle, lay, tiler};
use girih_typed::{__, Int, Modes, Neg, S, Sw, SwizzleOf, Swizzled, Swizzling, int, layout};

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
