//! Products: the laws X.

use girih_layout::{Int, Lay, Tiler, lay};
use girih_proptests::{oracle, strategies};
use proptest::prelude::*;

proptest! {
    #[test]
    fn x01_x02_x03_products(a in strategies::tractable(3), b in strategies::tractable(2)) {
        if oracle::size(&a) * oracle::size(&b) > 4096 {
            return Ok(()); // not what the law is about
        }
        if let Ok(product) = a.logical_product(&Tiler::Lay(b)) {
            prop_assert_eq!(product.mode(0).unwrap(), a);
            prop_assert!(b.shape().compatible(product.mode(1).unwrap().shape()).unwrap());
            prop_assert!(!(oracle::injective(&a) && oracle::injective(&b)) || oracle::injective(&product));
        }
    }

    #[test]
    fn x04_x05_compact_blocks(a in strategies::compact(3), b in strategies::arbitrary(2), n in 1i64..9) {
        let copies = a.logical_product(&Tiler::Lay(b)).unwrap().mode(1).unwrap();
        let size = oracle::size(&a);
        let expected: Vec<i64> = oracle::table(&b).into_iter().map(|i| i * size).collect();
        prop_assert_eq!(oracle::table(&copies), expected);
        let product = a.logical_product(&Tiler::Lay(strategies::line(n, 1))).unwrap();
        let divided = product.logical_divide(&Tiler::Lay(strategies::line(size, 1))).unwrap();
        prop_assert!(divided.mode(0).unwrap().equivalent(&a));
        prop_assert!(divided.mode(1).unwrap().equivalent(&product.mode(1).unwrap()));
    }

    #[test]
    fn x06_associative(a in strategies::compact(2), b in strategies::compact(2), c in strategies::compact(2)) {
        let times = |a: &Lay, b: &Lay| a.logical_product(&Tiler::Lay(*b)).unwrap();
        prop_assert!(times(&times(&a, &b), &c).equivalent(&times(&a, &times(&b, &c))));
    }

    #[test]
    fn x07_x08_blocked_and_raked(a in strategies::compact(2), b in strategies::compact(2)) {
        let (blocked, raked) = (a.blocked_product(&b).unwrap(), a.raked_product(&b).unwrap());
        prop_assert_eq!(oracle::sorted(oracle::table(&blocked)), oracle::sorted(oracle::table(&raked)));
        for k in 0..blocked.rank() {
            let (block, rake) = (blocked.mode(k).unwrap(), raked.mode(k).unwrap());
            prop_assert_eq!(block.select(&[1, 0]).unwrap(), rake);
        }
    }

    #[test]
    fn x09_tile_to_shape(a in strategies::compact(2), counts in prop::collection::vec(1i64..4, 2)) {
        let target: Vec<Int> = (0..2)
            .map(|k| Int::value(counts[k] * if k < a.rank() { oracle::size(&a.mode(k).unwrap()) } else { 1 }))
            .collect();
        let target = girih_layout::Shape::flat(&target).unwrap();
        let tiled = a.tile_to_shape(&target, None).unwrap();
        prop_assert!(target.compatible(tiled.shape()).unwrap());
        prop_assert_eq!(oracle::sorted(oracle::table(&tiled)), (0..oracle::size(&tiled)).collect::<Vec<_>>());
    }
}

#[test]
fn fragments_cover_their_tiles() {
    // Thread and value to the place in the tile, column-major: C, A and B of m16n8k16, C of wgmma m64n32, and an operand in shared memory that
    // every thread of a warpgroup has.
    for (text, tile, replicas) in [
        ("((4,8),(2,2)):((32,1),(16,8))", 16 * 8, 1),
        ("((4,8),(2,2,2)):((32,1),(16,8,128))", 16 * 16, 1),
        ("((4,8),(2,2)):((16,1),(8,64))", 8 * 16, 1),
        ("((4,8,4),(2,2,4)):((128,1,16),(64,8,512))", 64 * 32, 1),
        ("(128,(64,16)):(0,(1,64))", 64 * 16, 128),
    ] {
        let tv = Lay::parse(text).unwrap();
        assert_eq!(oracle::sorted(oracle::table(&tv.filter())), (0..tile).collect::<Vec<_>>(), "{text}");
        assert_eq!(oracle::size(&tv.nullspace().unwrap()), replicas, "{text}");
    }
}

#[test]
fn x10_a_number_is_a_compact_tile() {
    let a = lay!("(4,2):(1,8)");
    let (number, layout) = (Tiler::parse("2").unwrap(), Tiler::parse("2:1").unwrap());
    assert_eq!(a.logical_product(&number), a.logical_product(&layout));
    assert_eq!(a.logical_product(&number).unwrap(), lay!("((4,2),2):((1,8),4)"));
    assert_eq!(a.logical_divide(&number), a.logical_divide(&layout));
}

#[test]
fn seeds_worked_examples() {
    let a = lay!("(9,(4,8)):(59,(13,1))");
    let tiler = Tiler::parse("<3:3,(2,4):(1,8)>").unwrap();
    let logical = "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))";
    assert_eq!(a.logical_divide(&tiler).unwrap().to_string(), logical);
    assert_eq!(
        a.zipped_divide(&tiler).unwrap().to_string(),
        "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
    );
    let (block, tiler) = (lay!("(2,5):(5,1)"), Tiler::parse("<3:5,4:6>").unwrap());
    assert_eq!(block.logical_product(&tiler).unwrap(), block.blocked_product(&lay!("(3,4):(1,3)")).unwrap());
    assert_eq!(block.zipped_product(&tiler).unwrap(), lay!("((2,5),(3,4)):((5,1),(10,30))"));
    assert_eq!(block.tiled_product(&tiler).unwrap(), lay!("((2,5),3,4):((5,1),10,30)"));
    assert_eq!(lay!("20:2").composition(&lay!("(5,4):(4,1)")).unwrap(), lay!("(5,4):(8,2)"));
}
