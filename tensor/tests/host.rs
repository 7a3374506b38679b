//! Coordinates of tensors: nested, along basis vectors, sums of symbols, moved by a residue.

use girih_layout::{Coord, Crd, Lay, Shape, idx2crd, lay};
use girih_tensor::{Counting, Error, Slice, Slice::All, Tensor};
use proptest::prelude::*;

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
}
