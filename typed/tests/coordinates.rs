//! Coordinates of every form, inside and outside, and slices.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_layout::{Error, Lay};
use girih_typed::{__, Coord, Layout, Mode, Modes, S, Slice, Sw, Swizzled, int, int_tuple, layout};

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
