//! Host tensors at their edges: all or nothing is written, sums of any kind, positions outside, tensors side by side.

use girih_layout::{Coord, Crd, Lay, Shape, idx2crd, lay, tiler};
use girih_tensor::algorithm::*;
use girih_tensor::host::{Array, PackedMut, PackedView, S4, U4, ViewMut, Zipped};
use girih_tensor::{Counting, Error, Slice, Slice::All, Tensor};
use proptest::prelude::*;

/// Every algorithm on a tile that reaches past the end: the values that are there stay as they were.
#[test]
fn nothing_is_written_to_a_tile_that_is_not_all_there() {
    type Run = fn(&mut ViewMut<'_, i32>) -> Result<(), Error>;
    let runs: [Run; 8] = [
        |t| fill(t, 9),
        |t| clear(t),
        |t| copy(&Tensor::host(&[9; 4], lay!("4:1"))?, t),
        |t| {
            let always = Tensor::identity(&Shape::parse("(4)")?)?.map(|_| true);
            copy_if(&always, &Tensor::host(&[9; 4], lay!("4:1"))?, t)
        },
        |t| transform(&Tensor::host(&[9; 4], lay!("4:1"))?, t, |x| x + 1),
        |t| axpby(1.0, &Tensor::host(&[9; 4], lay!("4:1"))?, 0.0, t),
        |t| {
            let nines = [9; 4];
            let nines = Tensor::host(&nines, lay!("4:1"))?;
            gemm_by(&nines, &nines, t, |c| c, |c, a, b| c + a * b, |c| c)
        },
        |t| logical_reduce(&Tensor::host(&[9; 4], lay!("4:1"))?, t, |to, x| to + x),
    ];
    for (number, run) in runs.into_iter().enumerate() {
        let mut data = [7; 10];
        let whole = ViewMut::new(&mut data, lay!("(10):(1)")).unwrap();
        let mut last = whole.local_tile(&tiler!("<4>"), &[Slice::at(2)]).unwrap(); // 8, 9 and two beyond
        assert_eq!(run(&mut last), Err(Error::Beyond { index: 10, len: 10 }), "{number}");
        assert_eq!(data, [7; 10], "{number}");
        // A tile that is there is written.
        let whole = ViewMut::new(&mut data, lay!("(10):(1)")).unwrap();
        run(&mut whole.local_tile(&tiler!("<4>"), &[Slice::at(1)]).unwrap()).unwrap();
        assert_ne!(data, [7; 10], "{number}");
    }
}

#[test]
fn nothing_is_written_if_one_value_is_not_of_the_type() {
    let mut bytes = [0x11u8; 2];
    let mut t = PackedMut::<'_, U4>::packed(&mut bytes, lay!("4:1")).unwrap();
    let found = copy(&Tensor::host(&[2u8, 3, 16, 4], lay!("4:1")).unwrap(), &mut t);
    assert_eq!(found.unwrap_err().to_string(), "16 is no u4: 0 to 15 are accepted");
    assert_eq!(bytes, [0x11; 2]);
    let mut t = PackedMut::<'_, S4>::packed(&mut bytes, lay!("4:1")).unwrap();
    assert_eq!(t.set(0, -9).unwrap_err().to_string(), "-9 is no s4: -8 to 7 are accepted");
    assert_eq!(
        t.set(4, 0).unwrap_err().to_string(),
        "coordinate 4 is outside the mode 4:1: 0 <= coordinate < size is accepted"
    );
}

/// What f64 cannot hold: the difference of products next to 2^80, and sums that wrap.
#[test]
fn sums_are_of_the_kind_that_is_asked_for() {
    let (a, b) = ([(1i64 << 40) + 1, -(1 << 40)], [(1i64 << 40) - 1, 1 << 40]);
    let (a, b) = (Tensor::host(&a, lay!("2:1")).unwrap(), Tensor::host(&b, lay!("2:1")).unwrap());
    let mut exact = [5i64];
    let mut c = ViewMut::new(&mut exact, lay!("1:0")).unwrap();
    let wide = |sum: i128, x: i64, y: i64| sum + i128::from(x) * i128::from(y);
    gemm_by(&a, &b, &mut c, i128::from, wide, |sum| sum as i64).unwrap();
    assert_eq!(exact, [4]);
    let most = [i32::MAX, 1];
    let most = Tensor::host(&most, lay!("2:1")).unwrap();
    let ones = Tensor::host(&[1, 1], lay!("2:1")).unwrap();
    let (mut wrapped, mut saturated) = ([0], [0]);
    let mut c = ViewMut::new(&mut wrapped, lay!("1:0")).unwrap();
    gemm_by(&most, &ones, &mut c, |c| c, |c: i32, x: i32, y| c.wrapping_add(x.wrapping_mul(y)), |c| c)
        .unwrap();
    gemm(&most, &ones, &mut ViewMut::new(&mut saturated, lay!("1:0")).unwrap()).unwrap();
    assert_eq!((wrapped, saturated), ([i32::MIN], [i32::MAX]));
    // Packed operands: all pairs of s4, in s32.
    let bytes: Vec<u8> = (0..8).map(|i| (2 * i) | (2 * i + 1) << 4).collect();
    let all = Tensor::<PackedView<'_, S4>>::packed(&bytes, lay!("16:1")).unwrap();
    let mut c = Array::<i32>::new(lay!("(16,16):(1,16)")).unwrap();
    gemm(&all, &all, &mut c.view_mut().unwrap()).unwrap();
    let value = |bits: i64| (if bits < 8 { bits } else { bits - 16 }) as i32;
    for (i, j) in (0..16).flat_map(|i| (0..16).map(move |j| (i, j))) {
        assert_eq!(c.get((i, j)), Ok(value(i) * value(j)));
    }
}

#[test]
fn coordinates_are_tuples_of_any_depth() {
    let data: Vec<i64> = (0..300).collect();
    let t = Tensor::host(&data, lay!("((3,2),(2,5,2)):((4,1),(2,13,100))")).unwrap();
    let text = |text: &str| t.get(&Coord::parse(text).unwrap());
    assert_eq!(t.get(((2, 1), (0, 3, 1))), text("((2,1),(0,3,1))"));
    assert_eq!((t.get((5, (0, 3, 1))), t.get((5, 16))), (text("((2,1),(0,3,1))"), text("((2,1),(0,3,1))")));
    assert_eq!((t.get(7), t.get((1, 1))), (t.at(7), t.at(7)));
    assert_eq!(t.slice(((2, All), (All, 3, All))).unwrap().layout(), &lay!("(2,2,2):(1,2,100)"));
    // However a slice is written, it is the same.
    let third = Slice::at(3);
    let entries = vec![third.clone(), All];
    let row = t.slice((3, All)).unwrap().to_vec();
    assert_eq!(
        (t.slice((&3, All)).unwrap().to_vec(), t.slice((&third, All)).unwrap().to_vec()),
        (row.clone(), row.clone())
    );
    assert_eq!(
        (t.slice(&entries).unwrap().to_vec(), t.slice(&entries[..]).unwrap().to_vec()),
        (row.clone(), row.clone())
    );
    assert_eq!(
        (t.slice(&[third, All]).unwrap().to_vec(), row.as_ref().unwrap()[1]),
        (row.clone(), t.get((3, 1)).unwrap())
    );
    assert_eq!(
        t.get((1, All)).unwrap_err().to_string(),
        "(1,_) keeps modes whole: a value has a position in every mode; `slice` takes `_`"
    );
    assert!(matches!(t.get((6, 0)), Err(Error::OutOfRange { coordinate: 6, .. })));
    assert!(matches!(t.get((0, 0, 0)), Err(Error::SliceRank { found: 3, rank: 2, .. })));
    assert!(matches!(t.domain_offset((0, All)), Err(Error::NoCoordinate { .. })));
}

/// The tensor of coordinates holds, leaf by leaf, where each element is, however nested the shape.
#[test]
fn coordinates_are_as_nested_as_the_shape() {
    for text in ["(6)", "(3,4)", "(4,(2,3))", "((2,(3,2)),5)", "(((2,3)),(4))"] {
        let shape = Shape::parse(text).unwrap();
        let all = Tensor::identity(&shape).unwrap();
        for i in 0..shape.size().unwrap().get().unwrap() {
            let place: Vec<_> = idx2crd(&shape, i).unwrap().leaves().collect();
            let found: Vec<_> = all.at(i).unwrap().into_iter().map(Crd::At).collect();
            assert_eq!(found, place, "{text} at {i}");
        }
    }
    // A flat tensor of coordinates has no entry within a mode, and a nested one none for the whole of it.
    let at = |shape: &str, layout: &str| {
        let all = Tensor::<Counting<i64>>::identity(&Shape::parse(shape).unwrap()).unwrap();
        Tensor::new(all.engine().clone(), Lay::parse(layout).unwrap()).at(1)
    };
    assert_eq!(at("(4,(2,3))", "2:2@1@1"), Ok(vec![0, 0, 2]));
    assert!(matches!(at("(4,(2,3))", "2:1@1"), Err(Error::Stride { .. })));
    assert!(matches!(at("(4,6)", "2:1@0@1"), Err(Error::Stride { .. })));
    assert!(matches!(at("(4,6)", "2:1@2"), Err(Error::Stride { .. })));
}

/// The coordinates of a tile whose place is known at launch.
#[test]
fn coordinates_may_be_sums() {
    use girih_layout::{Int, Sum, Symbol};

    let shape = Shape::parse("(s0,s1)").unwrap();
    let block = |id: u8| Slice::At(Sum::from(Int::symbol(Symbol::new(id))));
    let all = Tensor::<Counting<Sum>>::identity(&shape).unwrap();
    let tile = all.local_tile(&girih_layout::tiler!("<128,32>"), &[block(2), block(3)]).unwrap();
    let place = tile.slice(Slice::tuple([Slice::at(3), Slice::at(5)])).unwrap().into_engine();
    let texts: Vec<_> = place.coordinate().iter().map(Sum::to_string).collect();
    assert_eq!(texts, ["128*s2 + 3", "32*s3 + 5"]);
    // A position in two leaves: an exact quotient has no remainder, any other is refused.
    let lines = tile.slice(Slice::tuple([Slice::All, Slice::at(0)])).unwrap();
    let lines = Tensor::new(lines.engine().clone(), girih_layout::lay!("(4,32):(1@0,4@0)"));
    let at = |text: &str| lines.slice(Slice::At(Sum::parse(text).unwrap()));
    assert_eq!(at("8*s4 + 4").unwrap().engine().coordinate()[0].to_string(), "128*s2 + 8*s4 + 4");
    assert!(matches!(at("s4"), Err(Error::Index(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The rest of an uneven division in front: tiles of the moved tensor under the moved predicate are the whole, once.
    #[test]
    fn a_tensor_moved_by_its_residue_has_the_rest_in_front(m in 1..6i64, k in 1..40i64, tile in 1..9i64, rows in any::<bool>()) {
        let shape = Shape::of([m, k]).unwrap();
        let layout = if rows { Lay::right(&shape) } else { Lay::left(&shape) }.unwrap();
        let data: Vec<i64> = (0..m * k).collect();
        let tiles = (k + tile - 1) / tile;
        let residue = k - tile * tiles; // <= 0
        let origin = (0, residue);
        let tiler = girih_layout::Tiler::sizes(&[m, tile]).unwrap();
        let a = Tensor::host(&data, layout).unwrap().domain_offset(origin).unwrap();
        let at = Tensor::identity(&shape).unwrap().domain_offset(origin).unwrap();
        let mut seen = Vec::new();
        for t in 0..tiles {
            let cut = [Slice::at(0), Slice::at(t)];
            let (a, at) = (a.local_tile(&tiler, &cut).unwrap(), at.local_tile(&tiler, &cut).unwrap());
            for i in 0..m * tile {
                let coordinate = at.at(i).unwrap();
                if coordinate[1] < 0 {
                    prop_assert_eq!(t, 0);
                } else {
                    prop_assert_eq!(a.at(i), layout.crd2idx(&Coord::of(&coordinate).unwrap()).map_err(Error::from));
                    seen.push(a.at(i).unwrap());
                }
            }
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, data);
    }

    /// Values and scales cut by one tiler stay together, though their layouts coalesce differently.
    #[test]
    fn zipped_tensors_are_cut_together(m in 1..5i64, groups in 1..5i64, width in 1..5i64, tile in (1..4i64, 1..4i64)) {
        let k = groups * width;
        let values: Vec<i64> = (0..m * k).collect();
        let scales: Vec<i64> = (0..m * groups).map(|i| 1000 + i).collect();
        let of_scales = Lay::parse(&format!("({m},({width},{groups})):({groups},(0,1))")).unwrap();
        let both = || Zipped::new(
            Tensor::host(&values, Lay::strided([m, k], [k, 1]).unwrap()).unwrap(),
            Tensor::host(&scales, of_scales).unwrap(),
        ).unwrap();
        // Divisors, so that every tile is whole.
        let (tm, tk) = (if m % tile.0 == 0 { tile.0 } else { 1 }, width * if groups % tile.1 == 0 { tile.1 } else { 1 });
        let tiler = girih_layout::Tiler::sizes(&[tm, tk]).unwrap();
        for (p, q) in (0..m / tm).flat_map(|p| (0..k / tk).map(move |q| (p, q))) {
            let part = both().local_tile(&tiler, &[Slice::at(p), Slice::at(q)]).unwrap();
            for (i, j) in (0..tm).flat_map(|i| (0..tk).map(move |j| (i, j))) {
                let (row, column) = (p * tm + i, q * tk + j);
                prop_assert_eq!(part.at(i + tm * j), Ok((row * k + column, 1000 + row * groups + column / width)));
            }
        }
        let (values, scales) = both().unzip();
        let refused = Zipped::new(values, scales.flatten());
        prop_assert!(matches!(refused, Err(Error::Shape { what: "Zipped", .. })), "another rank");
    }
}
