//! The typed layer against the run-time layer: static and dynamic operands.
//!
//! Written by `typed_generator.rs`.

#[macro_use]
#[path = "typed_support/mixed.rs"]
mod support;

use girih_typed::{__, Layout, int, int_tuple, layout};
use support::d;

#[test]
#[rustfmt::skip]
fn cases_0() {
    let answered = [
        unary!(coalesce, layout!(2 : {d(1)})),
        unary!(right_inverse, layout!((2,3) : (6,2))),
        unary!(left_inverse, layout!({d(4)} : 1)),
        complement!(layout!((2,3,5) : (3,30,6)), 88),
        binary!(composition try_composition, layout!((1,1,({d(6)})) : (6,6,({d(1)}))), layout!(({d(5)},{d(4)}) : ({d(1)},5))),
        binary!(composition try_composition, layout!((2,(3),{d(12)}) : (72,({d(24)}),{d(1)})), (layout!(({d(5)},6) : (12,1)), int!(6), int!(2), )),
        binary!(logical_divide try_logical_divide, layout!({d(3)} : 1), (layout!(4 : 1), )),
        binary!(zipped_divide try_zipped_divide, layout!((4,4,({d(2)})) : (1,32,(8))), layout!(4 : 1)),
        binary!(tiled_divide try_tiled_divide, layout!(3 : {d(2)}), int!(16)),
        binary!(flat_divide try_flat_divide, layout!(({d(8)},1,{d(4)}) : (12,3,3)), layout!((2,{d(2)}) : (2,4))),
        binary!(logical_product try_logical_product, layout!(({d(12)},2,(5)) : (5,120,({d(1)}))), (__, __, int!(8), )),
        binary!(zipped_product try_zipped_product, layout!(3 : 1), layout!(((1),2,{d(3)}) : ((3),3,{d(1)}))),
        binary!(tiled_product try_tiled_product, layout!((4,{d(12)}) : (0,{d(2)})), (int!(6), int!(6), )),
        binary!(flat_product try_flat_product, layout!(5 : 1), layout!({d(2)} : {d(2)})),
        pairs!(blocked_product try_blocked_product, layout!(2 : {d(2)}), layout!((4,{d(1)},4) : ({d(1)},16,4))),
        unary!(coalesce, layout!((4,{d(2)},{d(1)}) : (4,2,1))),
        unary!(right_inverse, layout!({d(6)} : 2)),
        unary!(left_inverse, layout!((2,{d(2)}) : ({d(1)},2))),
        complement!(layout!((8,5) : (1,8)), 240),
        binary!(composition try_composition, layout!((6,4,({d(2)})) : (24,0,(144))), (layout!(12 : 1), )),
        binary!(composition try_composition, layout!(2 : 3), layout!(8 : 3)),
        binary!(logical_divide try_logical_divide, layout!(8 : 1), int!(16)),
        binary!(zipped_divide try_zipped_divide, layout!(4 : 1), (int!(3), )),
        binary!(tiled_divide try_tiled_divide, layout!((6,(3,8,12)) : (8,({d(48)},0,144))), (__, )),
        binary!(flat_divide try_flat_divide, layout!(({d(3)},8) : (0,1)), int!(3)),
        binary!(logical_product try_logical_product, layout!((6,8) : (3,18)), int!(3)),
        binary!(zipped_product try_zipped_product, layout!(6 : {d(1)}), layout!({d(6)} : 1)),
        binary!(tiled_product try_tiled_product, layout!((4,2,4) : (12,96,3)), (int!(6), )),
        binary!(flat_product try_flat_product, layout!(({d(2)},2,(8)) : ({d(2)},1,({d(4)}))), int!(2)),
        pairs!(blocked_product try_blocked_product, layout!(3 : {d(2)}), layout!(2 : {d(1)})),
        unary!(coalesce, layout!(({d(5)},{d(3)},2) : (2,{d(40)},20))),
        unary!(right_inverse, layout!(((2,2),{d(12)}) : ((1,{d(2)}),0))),
        unary!(left_inverse, layout!(({d(6)},1) : ({d(2)},2))),
        complement!(layout!(({d(2)},6) : (1,{d(2)})), 72),
        binary!(composition try_composition, layout!(({d(8)},2) : (2,1)), (layout!(({d(12)},12) : (3,{d(36)})), )),
        binary!(composition try_composition, layout!((2,6,3) : (1,2,12)), layout!(12 : 0)),
        binary!(logical_divide try_logical_divide, layout!(8 : {d(2)}), int!(2)),
        binary!(zipped_divide try_zipped_divide, layout!((6,({d(12)},{d(1)})) : (12,(1,{d(72)}))), (layout!(({d(12)},{d(1)}) : (1,1)), )),
        binary!(tiled_divide try_tiled_divide, layout!(3 : 1), (__, )),
        binary!(flat_divide try_flat_divide, layout!((12,2) : (2,24)), (__, layout!((3,2) : (2,{d(1)})), )),
        binary!(logical_product try_logical_product, layout!(4 : 1), (layout!(({d(6)},{d(3)}) : (1,6)), )),
        binary!(zipped_product try_zipped_product, layout!(((2,12,3)) : ((2,{d(12)},{d(4)}))), layout!(({d(4)},4) : (1,4))),
        binary!(tiled_product try_tiled_product, layout!((2,{d(1)}) : ({d(1)},1)), layout!({d(8)} : 1)),
        binary!(flat_product try_flat_product, layout!(({d(8)},4) : (4,1)), (int!(2), layout!((2,4) : ({d(1)},4)), )),
        pairs!(blocked_product try_blocked_product, layout!(5 : {d(2)}), layout!((5,6,12) : ({d(6)},{d(1)},30))),
        unary!(coalesce, layout!(({d(8)},4) : ({d(8)},2))),
        unary!(right_inverse, layout!((1,{d(3)}) : (1,{d(1)}))),
        unary!(left_inverse, layout!(({d(2)},({d(2)},{d(4)}),{d(5)}) : (20,(10,40),1))),
        complement!(layout!((2,{d(4)},(8),8) : (256,{d(64)},(8),{d(1)})), 3072),
        binary!(composition try_composition, layout!({d(4)} : 1), int!(6)),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_1() {
    let answered = [
        binary!(composition try_composition, layout!((3,(4),4) : (16,(1),{d(4)})), (layout!((6,{d(12)}) : (3,0)), )),
        binary!(logical_divide try_logical_divide, layout!(({d(8)},{d(6)},(8)) : (24,192,(0))), int!(4)),
        binary!(zipped_divide try_zipped_divide, layout!({d(12)} : 0), layout!((2,(12),{d(6)}) : ({d(144)},({d(6)}),1))),
        binary!(tiled_divide try_tiled_divide, layout!(({d(1)},3) : (9,3)), (int!(6), layout!((4,{d(4)}) : (4,1)), )),
        binary!(flat_divide try_flat_divide, layout!({d(4)} : 2), int!(8)),
        binary!(logical_product try_logical_product, layout!((4,{d(12)},4,4) : ({d(12)},1,192,48)), layout!((1,(3),{d(3)}) : (9,(1),{d(3)}))),
        binary!(zipped_product try_zipped_product, layout!((2,{d(2)}) : ({d(1)},2)), int!(4)),
        binary!(tiled_product try_tiled_product, layout!((4,2,4) : (4,16,1)), int!(4)),
        binary!(flat_product try_flat_product, layout!(((4,2),5) : ((5,{d(20)}),1)), layout!({d(2)} : {d(1)})),
        pairs!(blocked_product try_blocked_product, layout!(((3,{d(2)},{d(1)},{d(2)})) : (({d(1)},6,{d(3)},3))), layout!(5 : 1)),
        unary!(coalesce, layout!((8,8) : ({d(1)},16))),
        unary!(right_inverse, layout!(({d(5)},12,1,(4)) : ({d(192)},2,{d(96)},({d(24)})))),
        unary!(left_inverse, layout!((5,4,(3)) : (12,3,(1)))),
        complement!(layout!((({d(2)},2,1),{d(12)}) : ((0,{d(1)},{d(2)}),4)), 276),
        binary!(composition try_composition, layout!(({d(6)},{d(3)}) : ({d(3)},{d(18)})), layout!(({d(3)},4) : (1,{d(3)}))),
        binary!(composition try_composition, layout!(5 : 1), layout!({d(6)} : 1)),
        binary!(logical_divide try_logical_divide, layout!((8,1,(1)) : ({d(2)},{d(1)},(16))), layout!((5,2) : (1,5))),
        binary!(zipped_divide try_zipped_divide, layout!(3 : 0), (int!(6), )),
        binary!(tiled_divide try_tiled_divide, layout!((6,5) : ({d(1)},6)), layout!((5,8,4) : (8,80,{d(2)}))),
        binary!(flat_divide try_flat_divide, layout!(4 : 1), (int!(3), )),
        binary!(logical_product try_logical_product, layout!((5,6) : (18,3)), layout!((2,2) : (1,0))),
        binary!(zipped_product try_zipped_product, layout!(2 : {d(1)}), (int!(4), )),
        binary!(tiled_product try_tiled_product, layout!(({d(2)},5,{d(2)},5) : (100,{d(20)},1,{d(2)})), layout!((3,12) : (0,0))),
        binary!(flat_product try_flat_product, layout!(({d(5)},4,{d(5)},{d(2)}) : (8,2,40,1)), layout!((8,(1,3)) : (3,({d(1)},1)))),
        pairs!(blocked_product try_blocked_product, layout!({d(1)} : 2), layout!(({d(4)},{d(8)}) : ({d(8)},1))),
        unary!(coalesce, layout!((2,4,({d(2)})) : ({d(96)},{d(3)},({d(24)})))),
        unary!(right_inverse, layout!(({d(2)},{d(1)}) : (2,0))),
        unary!(left_inverse, layout!(((2),4,8) : ((16),32,1))),
        complement!(layout!((6,2) : (2,1)), 72),
        binary!(composition try_composition, layout!(5 : {d(1)}), (int!(8), )),
        binary!(composition try_composition, layout!(({d(2)},2) : (2,1)), int!(8)),
        binary!(logical_divide try_logical_divide, layout!((3,4,3) : (3,0,{d(9)})), (int!(6), )),
        binary!(zipped_divide try_zipped_divide, layout!((2,{d(1)},1) : (1,0,0)), layout!((12,3) : (2,24))),
        binary!(tiled_divide try_tiled_divide, layout!(({d(5)},6) : (3,15)), int!(3)),
        binary!(flat_divide try_flat_divide, layout!({d(8)} : {d(1)}), int!(16)),
        binary!(logical_product try_logical_product, layout!((({d(2)},{d(6)},6)) : (({d(1)},{d(2)},12))), (layout!((4,{d(6)}) : (2,8)), )),
        binary!(zipped_product try_zipped_product, layout!(({d(6)},{d(1)}) : ({d(1)},{d(6)})), int!(16)),
        binary!(tiled_product try_tiled_product, layout!(4 : 1), int!(2)),
        binary!(flat_product try_flat_product, layout!((5,{d(4)}) : ({d(4)},1)), (int!(3), )),
        pairs!(raked_product try_raked_product, layout!({d(1)} : 1), layout!((2,{d(1)},1) : (1,2,{d(2)}))),
        unary!(coalesce, layout!((3,{d(1)}) : (3,18))),
        unary!(right_inverse, layout!(((12,2,{d(2)})) : (({d(2)},0,{d(24)})))),
        unary!(left_inverse, layout!(({d(4)},4,({d(2)})) : (2,{d(16)},(8)))),
        complement!(layout!(4 : {d(2)}), 14),
        binary!(composition try_composition, layout!(12 : 0), layout!(6 : 1)),
        binary!(composition try_composition, layout!((5,{d(3)}) : (2,10)), (__, layout!(6 : 1), )),
        binary!(logical_divide try_logical_divide, layout!((2,1) : ({d(1)},1)), int!(8)),
        binary!(zipped_divide try_zipped_divide, layout!(6 : 2), layout!(({d(12)},3) : (6,2))),
        binary!(tiled_divide try_tiled_divide, layout!(2 : 2), (__, )),
        binary!(flat_divide try_flat_divide, layout!(5 : 2), int!(2)),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_2() {
    let answered = [
        binary!(logical_product try_logical_product, layout!(5 : {d(1)}), int!(6)),
        binary!(zipped_product try_zipped_product, layout!((12,4) : (0,{d(1)})), layout!((12,12) : ({d(1)},24))),
        binary!(tiled_product try_tiled_product, layout!((3,({d(1)},{d(4)})) : ({d(8)},({d(8)},1))), layout!((8,4,{d(3)}) : (48,6,0))),
        binary!(flat_product try_flat_product, layout!((1,4) : (8,{d(2)})), layout!(({d(12)},4) : (0,24))),
        pairs!(blocked_product try_blocked_product, layout!(4 : 2), layout!(({d(2)},12) : (1,2))),
        unary!(coalesce, layout!((12,8) : (1,{d(12)}))),
        unary!(right_inverse, layout!(5 : {d(1)})),
        unary!(left_inverse, layout!({d(1)} : 2)),
        complement!(layout!((3,6,4) : (4,12,1)), 288),
        binary!(composition try_composition, layout!((12,2) : ({d(4)},2)), int!(2)),
        binary!(composition try_composition, layout!({d(8)} : 2), (int!(2), )),
        binary!(logical_divide try_logical_divide, layout!(3 : 2), layout!(4 : 1)),
        binary!(zipped_divide try_zipped_divide, layout!(((4,2,4)) : ((8,{d(1)},2))), layout!((4,2) : ({d(2)},{d(1)}))),
        binary!(tiled_divide try_tiled_divide, layout!((8,4) : (1,{d(16)})), layout!((6,2) : (0,{d(1)}))),
        binary!(flat_divide try_flat_divide, layout!((3,{d(3)}) : (0,{d(1)})), int!(3)),
        binary!(logical_product try_logical_product, layout!({d(4)} : 3), (__, )),
        binary!(zipped_product try_zipped_product, layout!(({d(12)},3) : ({d(3)},1)), layout!(({d(5)},6) : (12,{d(1)}))),
        binary!(tiled_product try_tiled_product, layout!((5,4,2) : (4,0,{d(40)})), (int!(3), int!(2), layout!(({d(1)},5) : ({d(5)},{d(1)})), )),
        binary!(flat_product try_flat_product, layout!((6,6,{d(2)},(2)) : (48,4,24,(0))), int!(16)),
        pairs!(blocked_product try_blocked_product, layout!((4,8) : ({d(8)},{d(1)})), layout!((4,({d(4)},{d(12)})) : (48,(12,1)))),
        unary!(coalesce, layout!((2,{d(6)},12,{d(8)}) : (24,{d(96)},0,3))),
        unary!(right_inverse, layout!((6,4,({d(3)},{d(12)})) : (1,{d(432)},(6,18)))),
        unary!(left_inverse, layout!(({d(6)},3) : (3,1))),
        complement!(layout!(12 : {d(2)}), 46),
        binary!(composition try_composition, layout!((1,4,{d(3)}) : ({d(12)},1,4)), (int!(6), __, layout!(8 : 1), )),
        binary!(composition try_composition, layout!((4,2,2) : ({d(3)},12,24)), int!(16)),
        binary!(logical_divide try_logical_divide, layout!((1,4,3) : (1,0,1)), int!(3)),
        binary!(zipped_divide try_zipped_divide, layout!((6,8,4,1) : ({d(32)},4,1,1)), int!(6)),
        binary!(tiled_divide try_tiled_divide, layout!(({d(2)},(6),12,4) : (36,({d(288)}),3,72)), layout!((6,12) : ({d(12)},1))),
        binary!(flat_divide try_flat_divide, layout!(((12,{d(2)}),2) : (({d(2)},{d(1)}),{d(24)})), (layout!(8 : 1), )),
        binary!(logical_product try_logical_product, layout!(4 : 2), (layout!(({d(8)},6) : ({d(1)},0)), )),
        binary!(zipped_product try_zipped_product, layout!(1 : 1), int!(16)),
        binary!(tiled_product try_tiled_product, layout!(({d(5)},(2),2,6) : (1,(240),60,5)), (int!(2), __, layout!({d(2)} : 2), )),
        binary!(flat_product try_flat_product, layout!(({d(6)},{d(8)}) : (1,6)), int!(2)),
        pairs!(raked_product try_raked_product, layout!(6 : 0), layout!(6 : 3)),
        unary!(coalesce, layout!((6,6) : (1,12))),
        unary!(right_inverse, layout!(({d(6)},{d(2)}) : (2,1))),
        unary!(left_inverse, layout!((1,2) : ({d(12)},3))),
        complement!(layout!((12,1) : ({d(1)},12)), 48),
        binary!(composition try_composition, layout!({d(8)} : {d(3)}), layout!(({d(4)},{d(8)}) : (8,{d(1)}))),
        binary!(composition try_composition, layout!((5,1) : ({d(1)},{d(5)})), int!(3)),
        binary!(logical_divide try_logical_divide, layout!((8,6) : ({d(3)},24)), layout!({d(6)} : 1)),
        binary!(zipped_divide try_zipped_divide, layout!(2 : {d(1)}), int!(3)),
        binary!(tiled_divide try_tiled_divide, layout!(3 : 3), (__, )),
        binary!(flat_divide try_flat_divide, layout!((({d(4)},{d(3)}),{d(4)}) : (({d(9)},3),36)), layout!((6,{d(2)}) : (2,1))),
        binary!(logical_product try_logical_product, layout!(1 : 1), (int!(6), )),
        binary!(zipped_product try_zipped_product, layout!(((3),{d(4)},4) : ((0),{d(24)},2)), layout!({d(4)} : 1)),
        binary!(tiled_product try_tiled_product, layout!((6,1) : (1,12)), layout!(({d(4)},3) : ({d(9)},3))),
        binary!(flat_product try_flat_product, layout!(4 : {d(1)}), layout!((2,({d(3)}),12) : ({d(1)},(2),0))),
        pairs!(blocked_product try_blocked_product, layout!({d(2)} : 1), layout!(12 : {d(1)})),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_3() {
    let answered = [
        unary!(coalesce, layout!(4 : {d(1)})),
        unary!(right_inverse, layout!((2,({d(4)}),2) : (6,(0),{d(3)}))),
        unary!(left_inverse, layout!(((3,1,{d(2)})) : ((2,{d(6)},{d(1)})))),
        complement!(layout!((2,4,3,{d(1)}) : (1,{d(2)},16,48)), 160),
        binary!(composition try_composition, layout!({d(2)} : 1), int!(2)),
        binary!(composition try_composition, layout!((2,12) : (0,2)), int!(4)),
        binary!(logical_divide try_logical_divide, layout!((2,({d(2)},1),{d(8)}) : (48,(0,{d(6)}),6)), int!(2)),
        binary!(zipped_divide try_zipped_divide, layout!((2,6) : (1,2)), layout!((4,2) : ({d(2)},8))),
        binary!(tiled_divide try_tiled_divide, layout!(({d(4)},{d(2)},4) : (0,4,1)), (layout!(12 : 1), )),
        binary!(flat_divide try_flat_divide, layout!((5,3,8,2) : (96,0,{d(12)},3)), int!(4)),
        binary!(logical_product try_logical_product, layout!(({d(4)},6) : (12,1)), layout!((2,(2),{d(2)}) : (1,({d(2)}),{d(4)}))),
        binary!(zipped_product try_zipped_product, layout!(({d(5)},2,1,2) : (1,20,20,5)), (int!(4), layout!((4,5) : (1,4)), )),
        binary!(tiled_product try_tiled_product, layout!(8 : {d(1)}), int!(4)),
        binary!(flat_product try_flat_product, layout!(4 : 1), layout!(2 : 0)),
        pairs!(raked_product try_raked_product, layout!({d(6)} : 1), layout!((1,8) : ({d(1)},1))),
        unary!(coalesce, layout!((6,{d(4)},{d(2)},{d(2)}) : ({d(2)},{d(12)},48,1))),
        unary!(right_inverse, layout!({d(6)} : 1)),
        unary!(left_inverse, layout!((2,{d(6)},1,(3)) : ({d(18)},3,3,(36)))),
        complement!(layout!(({d(6)},8) : (24,3)), 852),
        binary!(composition try_composition, layout!((3,5) : (1,{d(3)})), layout!({d(12)} : 3)),
        binary!(composition try_composition, layout!((2,{d(8)},{d(4)},4) : ({d(2)},{d(16)},256,4)), (int!(2), __, )),
        binary!(logical_divide try_logical_divide, layout!((2,12) : (3,{d(12)})), layout!({d(1)} : 1)),
        binary!(zipped_divide try_zipped_divide, layout!((2,8,1,(4)) : (32,1,1,(8))), layout!((8,12) : (0,1))),
        binary!(tiled_divide try_tiled_divide, layout!({d(2)} : 1), layout!(({d(1)},2,{d(3)}) : (1,{d(6)},2))),
        binary!(flat_divide try_flat_divide, layout!(2 : 2), layout!((2,{d(2)},1) : ({d(4)},0,0))),
        binary!(logical_product try_logical_product, layout!((3,3) : (0,3)), (int!(4), )),
        binary!(zipped_product try_zipped_product, layout!({d(2)} : 1), (layout!((2,{d(3)}) : (2,8)), )),
        binary!(tiled_product try_tiled_product, layout!(8 : {d(1)}), (int!(2), )),
        binary!(flat_product try_flat_product, layout!((({d(4)}),1,6) : ((1),24,{d(4)})), (layout!({d(2)} : 1), )),
        pairs!(blocked_product try_blocked_product, layout!((12,4,4,1) : (8,96,1,384)), layout!((12,2) : (1,{d(24)}))),
        unary!(coalesce, layout!(4 : 0)),
        unary!(right_inverse, layout!(({d(1)},({d(12)},6)) : (24,({d(2)},24)))),
        unary!(left_inverse, layout!({d(4)} : 2)),
        complement!(layout!((5,{d(2)}) : ({d(3)},15)), 56),
        binary!(composition try_composition, layout!(({d(4)},12,4,4) : (1,0,4,{d(192)})), layout!(4 : 1)),
        binary!(composition try_composition, layout!((4,{d(4)}) : (0,1)), layout!(4 : 1)),
        binary!(logical_divide try_logical_divide, layout!(({d(4)},12,{d(3)}) : ({d(1)},12,0)), layout!((2,2) : (2,4))),
        binary!(zipped_divide try_zipped_divide, layout!((12,(6),3,{d(6)}) : (1,(12),{d(432)},72)), layout!((2,{d(2)}) : (1,{d(2)}))),
        binary!(tiled_divide try_tiled_divide, layout!((6,12,6,1) : (18,108,3,{d(18)})), layout!(12 : {d(1)})),
        binary!(flat_divide try_flat_divide, layout!(({d(5)},2,(4)) : ({d(8)},1,(2))), (__, )),
        binary!(logical_product try_logical_product, layout!(4 : 3), (__, )),
        binary!(zipped_product try_zipped_product, layout!((3,5,{d(1)}) : ({d(1)},3,30)), int!(3)),
        binary!(tiled_product try_tiled_product, layout!((({d(4)},12,2)) : ((1,8,4))), (layout!({d(12)} : 1), )),
        binary!(flat_product try_flat_product, layout!(({d(4)},2,{d(5)}) : (2,{d(1)},8)), (layout!({d(4)} : {d(2)}), int!(8), int!(6), )),
        pairs!(blocked_product try_blocked_product, layout!((5,3) : ({d(1)},0)), layout!((5,1) : (3,3))),
        unary!(coalesce, layout!((2,6) : (12,0))),
        unary!(right_inverse, layout!((8,(6),12) : (2,(384),{d(16)}))),
        unary!(left_inverse, layout!({d(5)} : {d(1)})),
        complement!(layout!((({d(4)},{d(5)},{d(12)},{d(2)})) : (({d(10)},{d(1)},{d(80)},40))), 5730),
        binary!(composition try_composition, layout!((6,({d(12)}),2) : (1,(12),6)), int!(4)),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_4() {
    let answered = [
        binary!(composition try_composition, layout!({d(2)} : 0), int!(2)),
        binary!(logical_divide try_logical_divide, layout!((6,6) : (12,{d(1)})), int!(6)),
        binary!(zipped_divide try_zipped_divide, layout!(({d(8)},1,({d(2)})) : (1,16,(8))), int!(6)),
        binary!(tiled_divide try_tiled_divide, layout!(1 : {d(1)}), int!(2)),
        binary!(flat_divide try_flat_divide, layout!((1,{d(12)},4,(3)) : (24,24,{d(6)},({d(2)}))), int!(6)),
        binary!(logical_product try_logical_product, layout!((4,12) : ({d(1)},4)), int!(6)),
        binary!(zipped_product try_zipped_product, layout!((4,{d(5)}) : (10,{d(1)})), (layout!((4,1) : (2,8)), int!(2), )),
        binary!(tiled_product try_tiled_product, layout!(4 : 2), int!(16)),
        binary!(flat_product try_flat_product, layout!((3,5,{d(3)},(2)) : ({d(2)},{d(18)},6,(1))), layout!(12 : 1)),
        pairs!(raked_product try_raked_product, layout!((2,{d(2)},(4),1) : ({d(8)},1,(2),0)), layout!((4,{d(4)}) : (3,{d(12)}))),
        unary!(coalesce, layout!((12,2,4) : (0,12,0))),
        unary!(right_inverse, layout!((5,{d(6)},{d(12)},(5)) : (0,25,150,(0)))),
        unary!(left_inverse, layout!(6 : {d(3)})),
        complement!(layout!(4 : 2), 28),
        binary!(composition try_composition, layout!(({d(3)},1) : (2,2)), (__, layout!((2,4) : (3,6)), )),
        binary!(composition try_composition, layout!(({d(3)},3,(8)) : (3,1,(9))), (int!(6), )),
        binary!(logical_divide try_logical_divide, layout!(((8,{d(12)},3),2) : ((72,3,1),36)), int!(16)),
        binary!(zipped_divide try_zipped_divide, layout!((5,2) : (6,{d(3)})), (layout!(12 : {d(1)}), __, )),
        binary!(tiled_divide try_tiled_divide, layout!((4,{d(1)},12,{d(1)}) : (1,4,{d(4)},4)), int!(3)),
        binary!(flat_divide try_flat_divide, layout!(({d(8)},{d(2)},2,{d(6)}) : ({d(12)},192,1,2)), (__, int!(4), __, __, )),
        binary!(logical_product try_logical_product, layout!((8,{d(12)}) : ({d(1)},16)), int!(4)),
        binary!(zipped_product try_zipped_product, layout!((4,2) : ({d(1)},{d(4)})), layout!((8,2) : (0,{d(16)}))),
        binary!(tiled_product try_tiled_product, layout!((5,6) : (6,0)), (__, layout!({d(8)} : {d(1)}), )),
        binary!(flat_product try_flat_product, layout!(({d(1)},4) : (1,{d(1)})), (int!(4), )),
        pairs!(blocked_product try_blocked_product, layout!(((4,2),8,6) : ((96,8),1,16)), layout!({d(4)} : 3)),
        unary!(coalesce, layout!(4 : 3)),
        unary!(right_inverse, layout!({d(3)} : 1)),
        unary!(left_inverse, layout!((3,{d(6)},({d(4)})) : (6,{d(1)},(18)))),
        complement!(layout!(1 : {d(1)}), 1),
        binary!(composition try_composition, layout!({d(2)} : {d(1)}), int!(16)),
        binary!(composition try_composition, layout!(({d(2)},{d(3)},2) : (4,8,2)), layout!({d(6)} : 1)),
        binary!(logical_divide try_logical_divide, layout!(12 : 1), (int!(2), )),
        binary!(zipped_divide try_zipped_divide, layout!(({d(5)},2) : (3,15)), layout!(4 : 1)),
        binary!(tiled_divide try_tiled_divide, layout!(({d(5)},({d(3)},5)) : ({d(15)},(5,1))), layout!((2,2,2) : (1,0,{d(2)}))),
        binary!(flat_divide try_flat_divide, layout!(({d(2)},({d(8)}),2) : ({d(1)},({d(8)}),{d(2)})), int!(8)),
        binary!(logical_product try_logical_product, layout!((12,2) : ({d(4)},{d(1)})), (layout!((3,2) : (12,0)), )),
        binary!(zipped_product try_zipped_product, layout!((({d(6)},5),4) : (({d(3)},0),{d(18)})), int!(2)),
        binary!(tiled_product try_tiled_product, layout!((1,({d(4)},4)) : (4,(4,1))), int!(2)),
        binary!(flat_product try_flat_product, layout!({d(3)} : 2), layout!((2,12,{d(2)}) : (2,{d(8)},4))),
        pairs!(blocked_product try_blocked_product, layout!(4 : 1), layout!((4,{d(4)},{d(8)}) : ({d(32)},8,1))),
        unary!(coalesce, layout!(({d(12)},3) : (2,24))),
        unary!(right_inverse, layout!((2,({d(2)},5),12) : ({d(48)},(1,192),{d(2)}))),
        unary!(left_inverse, layout!(({d(2)},{d(3)},1,8) : (16,{d(32)},2,{d(2)}))),
        complement!(layout!((6,(4),8,12) : (192,({d(48)}),3,1152)), 13798),
        binary!(composition try_composition, layout!((2,3,8,{d(8)}) : (8,{d(16)},1,96)), (layout!((2,6) : (6,{d(1)})), int!(2), int!(3), )),
        binary!(composition try_composition, layout!((4,2,4,({d(4)})) : (32,16,4,(1))), (__, layout!((2,12) : ({d(3)},{d(6)})), )),
        binary!(logical_divide try_logical_divide, layout!(({d(4)},{d(4)},{d(3)},{d(6)}) : (9,{d(216)},{d(3)},0)), int!(3)),
        binary!(zipped_divide try_zipped_divide, layout!(({d(4)},(2,12),{d(3)}) : (3,(1728,72),{d(12)})), int!(8)),
        binary!(tiled_divide try_tiled_divide, layout!(12 : 1), (int!(3), )),
        binary!(flat_divide try_flat_divide, layout!((6,{d(6)},8) : (16,{d(96)},{d(2)})), layout!(12 : 1)),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_5() {
    let answered = [
        binary!(logical_product try_logical_product, layout!((2,5,12) : (60,12,{d(1)})), layout!((({d(1)},{d(6)},{d(6)})) : (({d(1)},0,2)))),
        binary!(zipped_product try_zipped_product, layout!((12,12) : (12,{d(1)})), layout!((2,{d(1)}) : (3,6))),
        binary!(tiled_product try_tiled_product, layout!((5,2,(1),4) : (1,0,(1),10)), int!(2)),
        binary!(flat_product try_flat_product, layout!((3,3,8) : ({d(8)},24,0)), layout!({d(5)} : 1)),
        pairs!(raked_product try_raked_product, layout!(((6,4,3)) : ((0,1,4))), layout!(({d(4)},2) : ({d(4)},{d(2)}))),
        unary!(coalesce, layout!((5,3,4,{d(2)}) : (16,80,1,4))),
        unary!(right_inverse, layout!(({d(4)},6) : (6,1))),
        unary!(left_inverse, layout!((5,4,{d(1)},2) : (16,{d(2)},{d(2)},80))),
        complement!(layout!((4,(2,8,2)) : (32,(2,128,8))), 2006),
        binary!(composition try_composition, layout!({d(5)} : {d(1)}), (int!(3), )),
        binary!(composition try_composition, layout!(({d(4)},{d(5)}) : (5,{d(1)})), int!(3)),
        binary!(logical_divide try_logical_divide, layout!((12,6,{d(2)}) : (2,{d(24)},1)), (layout!(5 : {d(3)}), )),
        binary!(zipped_divide try_zipped_divide, layout!((8,2,(6),4) : (12,6,({d(1)}),{d(96)})), layout!((4,8) : (2,8))),
        binary!(tiled_divide try_tiled_divide, layout!((4,(8),3) : (0,(36),{d(12)})), int!(4)),
        binary!(flat_divide try_flat_divide, layout!(12 : 1), layout!((8,({d(4)},3)) : ({d(1)},(8,{d(32)})))),
        binary!(logical_product try_logical_product, layout!(({d(8)},2) : (2,16)), (__, )),
        binary!(zipped_product try_zipped_product, layout!((1,{d(3)}) : ({d(3)},1)), int!(8)),
        binary!(tiled_product try_tiled_product, layout!(4 : 1), (int!(2), )),
        binary!(flat_product try_flat_product, layout!((6,8,1,4) : ({d(12)},72,{d(72)},3)), layout!((3,3) : (3,{d(1)}))),
        pairs!(blocked_product try_blocked_product, layout!((2,6) : (6,{d(1)})), layout!((1,{d(4)}) : (4,1))),
        unary!(coalesce, layout!((8,1) : (1,16))),
        unary!(right_inverse, layout!((({d(12)},8,6,2)) : (({d(1)},576,0,12)))),
        unary!(left_inverse, layout!((4,2) : (2,{d(1)}))),
        complement!(layout!(2 : 3), 12),
        binary!(composition try_composition, layout!(({d(8)},2) : ({d(2)},1)), (int!(3), int!(2), )),
        binary!(composition try_composition, layout!(({d(4)},4) : (3,12)), int!(3)),
        binary!(logical_divide try_logical_divide, layout!(3 : 2), (int!(4), )),
        binary!(zipped_divide try_zipped_divide, layout!(({d(5)},{d(4)}) : (8,2)), (__, int!(8), )),
        binary!(tiled_divide try_tiled_divide, layout!(({d(2)},2) : (1,2)), int!(4)),
        binary!(flat_divide try_flat_divide, layout!(({d(2)},5) : (0,1)), (__, layout!((2,{d(3)}) : (3,1)), )),
        binary!(logical_product try_logical_product, layout!((6,12,4) : (1,6,72)), (int!(4), int!(6), )),
        binary!(zipped_product try_zipped_product, layout!(({d(6)},2,5) : (2,{d(1)},12)), int!(6)),
        binary!(tiled_product try_tiled_product, layout!((6,12,5) : (3,{d(180)},36)), (int!(3), )),
        binary!(flat_product try_flat_product, layout!((3,8,{d(2)},4) : ({d(128)},1,384,16)), int!(8)),
        pairs!(blocked_product try_blocked_product, layout!(5 : 2), layout!((({d(2)}),{d(8)},6) : ((16),2,32))),
        unary!(coalesce, layout!((6,{d(4)}) : (3,18))),
        unary!(right_inverse, layout!((12,{d(12)}) : (24,1))),
        unary!(left_inverse, layout!((8,2,{d(2)}) : ({d(4)},2,1))),
        complement!(layout!(({d(1)},8,12,{d(4)}) : (12,96,1,24)), 2268),
        binary!(composition try_composition, layout!((12,6) : ({d(6)},1)), layout!(({d(12)},({d(5)}),2) : ({d(3)},({d(72)}),36))),
        binary!(composition try_composition, layout!((12,1,{d(1)},2) : (0,{d(48)},96,48)), (__, __, int!(4), )),
        binary!(logical_divide try_logical_divide, layout!((8,(8,2)) : ({d(2)},(16,1))), int!(16)),
        binary!(zipped_divide try_zipped_divide, layout!(8 : 3), layout!((2,{d(8)}) : (1,2))),
        binary!(tiled_divide try_tiled_divide, layout!({d(2)} : 3), int!(3)),
        binary!(flat_divide try_flat_divide, layout!(({d(6)},5) : (2,12)), int!(2)),
        binary!(logical_product try_logical_product, layout!(4 : {d(1)}), (int!(4), )),
        binary!(zipped_product try_zipped_product, layout!({d(4)} : 1), (layout!((4,{d(2)}) : ({d(2)},8)), )),
        binary!(tiled_product try_tiled_product, layout!((2,3,{d(4)}) : (36,12,3)), (__, int!(6), )),
        binary!(flat_product try_flat_product, layout!((5,5) : (5,{d(1)})), int!(2)),
        pairs!(blocked_product try_blocked_product, layout!(((12,{d(4)},2),4) : ((4,0,{d(48)}),96)), layout!(({d(2)},1,1) : (1,{d(2)},2))),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_6() {
    let answered = [
        unary!(coalesce, layout!(((2,12),4,1) : ((0,{d(1)}),0,{d(96)}))),
        unary!(right_inverse, layout!((4,2) : (0,1))),
        unary!(left_inverse, layout!((5,{d(5)},{d(4)}) : (12,60,{d(3)}))),
        complement!(layout!(({d(8)},4,{d(4)},{d(6)}) : (12,{d(384)},{d(96)},{d(2)})), 6140),
        binary!(composition try_composition, layout!((4,8) : (16,2)), layout!((2,12) : ({d(1)},2))),
        binary!(composition try_composition, layout!((4,{d(3)}) : (0,{d(12)})), layout!((2,6) : (1,2))),
        binary!(logical_divide try_logical_divide, layout!((8,2,{d(2)}) : ({d(2)},32,1)), int!(2)),
        binary!(zipped_divide try_zipped_divide, layout!((4,4,(3,6)) : (3,24,({d(576)},96))), layout!((4,1,2) : ({d(2)},{d(1)},1))),
        binary!(tiled_divide try_tiled_divide, layout!((4,3) : ({d(3)},1)), layout!((({d(5)}),4,{d(12)}) : (({d(96)}),1,4))),
        binary!(flat_divide try_flat_divide, layout!(({d(2)},{d(3)}) : (3,1)), layout!((2,{d(2)}) : (2,1))),
        binary!(logical_product try_logical_product, layout!(((2),8,2) : ((3),6,{d(48)})), int!(6)),
        binary!(zipped_product try_zipped_product, layout!((12,{d(2)},{d(1)},2) : ({d(8)},{d(2)},0,4)), (layout!((4,2) : (2,{d(1)})), int!(6), __, )),
        binary!(tiled_product try_tiled_product, layout!({d(5)} : 1), layout!((4,8) : (16,0))),
        binary!(flat_product try_flat_product, layout!({d(2)} : {d(1)}), layout!(({d(6)},3,{d(4)}) : ({d(36)},0,{d(9)}))),
        pairs!(raked_product try_raked_product, layout!((3,8,1) : ({d(2)},6,48)), layout!((({d(5)},{d(4)},12)) : ((0,{d(60)},1)))),
        unary!(coalesce, layout!(({d(2)},{d(6)},{d(4)}) : (48,{d(8)},0))),
        unary!(right_inverse, layout!(({d(2)},8) : (8,1))),
        unary!(left_inverse, layout!(({d(4)},{d(1)},8,8) : ({d(1)},1024,64,4))),
        complement!(layout!(({d(2)},{d(4)},{d(12)},3) : (1728,216,{d(18)},{d(3)})), 10324),
        binary!(composition try_composition, layout!((1,3) : ({d(9)},{d(3)})), layout!(6 : {d(1)})),
        binary!(composition try_composition, layout!((6,3,{d(1)}) : ({d(1)},12,36)), layout!(1 : 3)),
        binary!(logical_divide try_logical_divide, layout!((2,{d(12)}) : (1,{d(2)})), int!(4)),
        binary!(zipped_divide try_zipped_divide, layout!(({d(2)},{d(3)},4) : (4,8,{d(1)})), (int!(2), )),
        binary!(tiled_divide try_tiled_divide, layout!((5,4,{d(8)},8) : (3,15,{d(960)},60)), int!(6)),
        binary!(flat_divide try_flat_divide, layout!((12,8,2) : (32,{d(1)},8)), layout!({d(2)} : 2)),
        binary!(logical_product try_logical_product, layout!({d(4)} : 1), (__, )),
        binary!(zipped_product try_zipped_product, layout!(((2),2,{d(2)}) : ((1),{d(2)},4)), (int!(2), )),
        binary!(tiled_product try_tiled_product, layout!(({d(1)},1,4) : ({d(4)},4,1)), int!(16)),
        binary!(flat_product try_flat_product, layout!({d(8)} : {d(1)}), int!(3)),
        pairs!(raked_product try_raked_product, layout!({d(8)} : 2), layout!(6 : 1)),
        unary!(coalesce, layout!(((12,{d(1)}),8) : ((24,{d(3)}),3))),
        unary!(right_inverse, layout!((3,(12,{d(6)},{d(5)})) : ({d(360)},(30,1,6)))),
        unary!(left_inverse, layout!(((2,2),12) : ((24,1),{d(2)}))),
        complement!(layout!(({d(1)},{d(3)}) : (1,{d(2)})), 5),
        binary!(composition try_composition, layout!(((2,3,1),{d(12)}) : ((36,{d(1)},0),0)), layout!((12,{d(1)}) : (1,12))),
        binary!(composition try_composition, layout!(({d(3)},{d(8)}) : (16,{d(1)})), (layout!(2 : 1), )),
        binary!(logical_divide try_logical_divide, layout!((2,5) : (30,0)), layout!((2,{d(4)},8) : ({d(32)},8,1))),
        binary!(zipped_divide try_zipped_divide, layout!((1,3) : (0,1)), int!(4)),
        binary!(tiled_divide try_tiled_divide, layout!((2,4) : (1,{d(2)})), (int!(8), )),
        binary!(flat_divide try_flat_divide, layout!(((4),{d(4)},{d(4)}) : ((4),0,0)), (int!(2), layout!(12 : {d(1)}), )),
        binary!(logical_product try_logical_product, layout!(5 : 2), layout!(({d(12)},1) : (1,0))),
        binary!(zipped_product try_zipped_product, layout!(({d(2)},2) : ({d(2)},0)), int!(6)),
        binary!(tiled_product try_tiled_product, layout!((4,3,12) : ({d(36)},12,1)), int!(8)),
        binary!(flat_product try_flat_product, layout!(12 : 3), (int!(3), )),
        pairs!(blocked_product try_blocked_product, layout!(4 : 1), layout!({d(2)} : {d(3)})),
        unary!(coalesce, layout!(5 : 0)),
        unary!(right_inverse, layout!(({d(3)},3) : (6,1))),
        unary!(left_inverse, layout!((8,2) : (4,2))),
        complement!(layout!({d(3)} : {d(1)}), 9),
        binary!(composition try_composition, layout!(({d(2)},{d(4)},12) : (1,24,{d(2)})), int!(4)),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_7() {
    let answered = [
        binary!(composition try_composition, layout!(({d(12)},(4,2)) : ({d(16)},({d(2)},{d(1)}))), int!(6)),
        binary!(logical_divide try_logical_divide, layout!({d(8)} : 1), (__, )),
        binary!(zipped_divide try_zipped_divide, layout!(4 : 1), layout!((2,5) : (5,1))),
        binary!(tiled_divide try_tiled_divide, layout!((6,5) : (20,0)), layout!((1,(5,{d(12)})) : (12,(24,1)))),
        binary!(flat_divide try_flat_divide, layout!((2,6,4) : (4,8,1)), (__, layout!(12 : {d(1)}), int!(6), )),
        binary!(logical_product try_logical_product, layout!(({d(4)},{d(2)},{d(12)}) : ({d(1)},{d(48)},4)), (__, )),
        binary!(zipped_product try_zipped_product, layout!(({d(2)},{d(3)}) : ({d(2)},4)), (layout!({d(1)} : 1), )),
        binary!(tiled_product try_tiled_product, layout!((12,(12),5,4) : (480,({d(5)}),1,120)), int!(6)),
        binary!(flat_product try_flat_product, layout!(({d(1)},{d(3)},(5)) : ({d(2)},2,(6))), layout!((4,3) : (1,{d(8)}))),
        pairs!(blocked_product try_blocked_product, layout!(2 : 1), layout!((12,2) : ({d(2)},{d(24)}))),
        unary!(coalesce, layout!((1,{d(3)}) : (6,1))),
        unary!(right_inverse, layout!(({d(6)},6) : ({d(1)},6))),
        unary!(left_inverse, layout!({d(2)} : 1)),
        complement!(layout!((4,4) : (4,1)), 48),
        binary!(composition try_composition, layout!(({d(2)},3,{d(6)},2) : (1,0,6,36)), (layout!((8,{d(8)}) : (8,1)), int!(2), )),
        binary!(composition try_composition, layout!(({d(4)},{d(8)},6) : (0,6,1)), (layout!(({d(4)},2) : ({d(1)},4)), )),
        binary!(logical_divide try_logical_divide, layout!({d(4)} : 1), int!(16)),
        binary!(zipped_divide try_zipped_divide, layout!(6 : 1), layout!((4,{d(2)}) : ({d(8)},2))),
        binary!(tiled_divide try_tiled_divide, layout!(((2,4),2,1) : (({d(24)},6),3,48)), int!(16)),
        binary!(flat_divide try_flat_divide, layout!(({d(6)},{d(6)},(12)) : (6,1,({d(36)}))), (int!(8), )),
        binary!(logical_product try_logical_product, layout!((2,2,{d(1)},{d(2)}) : ({d(8)},{d(4)},8,{d(1)})), layout!(4 : 1)),
        binary!(zipped_product try_zipped_product, layout!((({d(5)},2,12)) : (({d(1)},0,5))), layout!((4,6) : (6,1))),
        binary!(tiled_product try_tiled_product, layout!(({d(2)},(6),12) : (6,(1),12)), (int!(3), layout!((3,2) : (2,{d(6)})), )),
        binary!(flat_product try_flat_product, layout!((12,2) : ({d(1)},{d(12)})), layout!((6,{d(4)}) : (8,{d(1)}))),
        pairs!(raked_product try_raked_product, layout!((4,2) : (2,16)), layout!({d(2)} : 1)),
        unary!(coalesce, layout!((2,({d(4)},2)) : (1,({d(2)},8)))),
        unary!(right_inverse, layout!((3,(2,5),4) : (4,(1,0),0))),
        unary!(left_inverse, layout!(((2),6,{d(3)}) : ((12),2,24))),
        complement!(layout!(6 : {d(2)}), 44),
        binary!(composition try_composition, layout!((3,4,({d(4)}),6) : ({d(48)},1,({d(144)}),8)), (__, )),
        binary!(composition try_composition, layout!((1,4) : (1,2)), int!(2)),
        binary!(logical_divide try_logical_divide, layout!((3,6,6) : ({d(1)},18,{d(3)})), (layout!((4,{d(8)}) : (1,{d(8)})), __, __, )),
        binary!(zipped_divide try_zipped_divide, layout!((2,1,({d(4)})) : (8,{d(1)},({d(2)}))), (int!(3), layout!(({d(2)},2) : ({d(2)},{d(1)})), layout!(({d(2)},4) : (1,2)), )),
        binary!(tiled_divide try_tiled_divide, layout!(({d(12)},12,{d(8)},{d(4)}) : (64,{d(768)},0,16)), int!(8)),
        binary!(flat_divide try_flat_divide, layout!(({d(4)},(6,4)) : ({d(2)},({d(64)},8))), int!(3)),
        binary!(logical_product try_logical_product, layout!((4,{d(5)}) : ({d(15)},3)), (__, int!(3), )),
        binary!(zipped_product try_zipped_product, layout!(((5,{d(4)},8)) : ((1,10,{d(40)}))), int!(8)),
        binary!(tiled_product try_tiled_product, layout!({d(3)} : {d(1)}), (int!(2), )),
        binary!(flat_product try_flat_product, layout!((12,{d(1)}) : ({d(1)},{d(12)})), (int!(2), )),
        pairs!(blocked_product try_blocked_product, layout!(({d(2)},({d(4)}),12) : (1,(4),32)), layout!((3,8,3) : (24,1,8))),
        unary!(coalesce, layout!(5 : 3)),
        unary!(right_inverse, layout!((5,1) : (1,1))),
        unary!(left_inverse, layout!(8 : 1)),
        complement!(layout!((2,{d(3)}) : (3,{d(1)})), 12),
        binary!(composition try_composition, layout!((({d(4)},{d(6)}),12) : ((0,24),{d(1)})), (layout!(({d(3)},4) : (0,2)), __, )),
        binary!(composition try_composition, layout!((4,3,{d(6)},{d(8)}) : (1,384,4,48)), (layout!((5,5) : (1,5)), int!(8), int!(4), )),
        binary!(logical_divide try_logical_divide, layout!(({d(8)},5,{d(12)},8) : (1,8,{d(40)},480)), int!(2)),
        binary!(zipped_divide try_zipped_divide, layout!((2,{d(4)},(2)) : (16,2,(8))), (layout!({d(12)} : {d(2)}), int!(8), __, )),
        binary!(tiled_divide try_tiled_divide, layout!((3,3) : (3,0)), (layout!((5,12) : (1,5)), layout!({d(6)} : 3), )),
        binary!(flat_divide try_flat_divide, layout!((4,{d(6)},{d(12)}) : (0,48,1)), (layout!(1 : 1), )),
    ];
    support::enough(&answered, 80);
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn cases_8() {
    let answered = [
        binary!(logical_product try_logical_product, layout!(({d(8)},{d(8)}) : ({d(8)},1)), (layout!(({d(2)},{d(2)}) : ({d(2)},4)), __, )),
        binary!(zipped_product try_zipped_product, layout!(1 : 1), layout!(2 : 1)),
        binary!(tiled_product try_tiled_product, layout!(({d(4)},3) : ({d(3)},{d(1)})), (int!(2), layout!(3 : 1), )),
        binary!(flat_product try_flat_product, layout!((8,(4,2)) : ({d(4)},(32,1))), int!(8)),
        pairs!(blocked_product try_blocked_product, layout!((3,12,1,6) : ({d(288)},12,12,2)), layout!(8 : 1)),
        unary!(coalesce, layout!(({d(4)},{d(8)},({d(4)})) : (32,{d(2)},({d(128)})))),
        unary!(right_inverse, layout!((5,{d(2)}) : (2,1))),
        unary!(left_inverse, layout!({d(4)} : 1)),
        complement!(layout!(({d(4)},12) : (36,3)), 852),
        binary!(composition try_composition, layout!(({d(2)},12) : ({d(3)},{d(12)})), int!(6)),
        binary!(composition try_composition, layout!(2 : 1), layout!((2,8,{d(4)}) : (1,4,32))),
        binary!(logical_divide try_logical_divide, layout!((3,{d(2)},{d(8)}) : (16,1,{d(2)})), (__, )),
        binary!(zipped_divide try_zipped_divide, layout!(6 : {d(1)}), layout!(({d(4)},4,{d(3)}) : (12,3,{d(1)}))),
        binary!(tiled_divide try_tiled_divide, layout!(6 : {d(1)}), layout!(({d(6)},(6,6)) : ({d(144)},(12,1)))),
        binary!(flat_divide try_flat_divide, layout!(8 : 1), (int!(3), )),
        binary!(logical_product try_logical_product, layout!(({d(2)},6) : (1,2)), (int!(4), )),
        binary!(zipped_product try_zipped_product, layout!(3 : 1), layout!(({d(3)},{d(6)},(3)) : (3,0,(1)))),
        binary!(tiled_product try_tiled_product, layout!((4,6,{d(2)},{d(2)}) : (0,0,{d(2)},{d(1)})), (layout!(8 : 0), int!(2), int!(2), )),
        binary!(flat_product try_flat_product, layout!(({d(2)},4,{d(5)}) : (2,20,4)), layout!((2,8) : (16,{d(1)}))),
        pairs!(blocked_product try_blocked_product, layout!((8,4) : (4,1)), layout!((6,{d(1)},(3)) : (1,{d(12)},(12)))),
        unary!(coalesce, layout!(({d(1)},3) : (2,{d(4)}))),
        unary!(right_inverse, layout!((3,6,2,3) : ({d(36)},3,324,108))),
        unary!(left_inverse, layout!((12,{d(5)},5,{d(5)}) : ({d(25)},{d(5)},1,{d(300)}))),
        complement!(layout!(8 : 2), 30),
        binary!(composition try_composition, layout!({d(4)} : {d(2)}), (int!(3), )),
        binary!(composition try_composition, layout!({d(1)} : 3), layout!((2,1,{d(6)}) : ({d(6)},{d(12)},{d(1)}))),
        binary!(logical_divide try_logical_divide, layout!(((8),{d(2)},8) : ((2),1,{d(16)})), int!(16)),
        binary!(zipped_divide try_zipped_divide, layout!((2,8,2) : ({d(8)},1,16)), (int!(6), )),
        binary!(tiled_divide try_tiled_divide, layout!((12,1) : (0,48)), int!(2)),
        binary!(flat_divide try_flat_divide, layout!(2 : 1), int!(16)),
        binary!(logical_product try_logical_product, layout!(({d(2)},2,({d(5)},4)) : (4,2,(8,{d(40)}))), layout!((6,4,2) : (0,2,{d(8)}))),
        binary!(zipped_product try_zipped_product, layout!((3,4) : (8,0)), (__, )),
        binary!(tiled_product try_tiled_product, layout!((5,2) : ({d(3)},15)), layout!((2,{d(12)}) : ({d(12)},0))),
        binary!(flat_product try_flat_product, layout!((({d(5)},4),2) : (({d(1)},0),20)), int!(8)),
        pairs!(raked_product try_raked_product, layout!(({d(5)},4,8) : (8,2,{d(40)})), layout!((2,2) : ({d(2)},1))),
        unary!(coalesce, layout!((8,{d(12)}) : (12,1))),
        unary!(right_inverse, layout!((3,4) : ({d(12)},3))),
        unary!(left_inverse, layout!((8,1) : ({d(3)},3))),
        complement!(layout!(4 : 1), 16),
        binary!(composition try_composition, layout!(1 : 0), layout!((4,4) : (4,1))),
        binary!(composition try_composition, layout!({d(6)} : {d(1)}), (int!(2), )),
        binary!(logical_divide try_logical_divide, layout!(12 : 1), (layout!((5,5) : ({d(10)},1)), )),
        binary!(zipped_divide try_zipped_divide, layout!(2 : 1), (layout!(({d(5)},{d(3)}) : (3,15)), )),
        binary!(tiled_divide try_tiled_divide, layout!(({d(8)},(5,3),4) : (24,(192,4),0)), int!(8)),
        binary!(flat_divide try_flat_divide, layout!((6,4) : (1,6)), layout!(({d(2)},8) : ({d(1)},0))),
        binary!(logical_product try_logical_product, layout!((3,2) : (12,3)), (layout!(({d(1)},{d(5)}) : (0,0)), )),
        binary!(zipped_product try_zipped_product, layout!((5,2) : (2,1)), layout!((5,({d(8)},4)) : ({d(64)},(8,1)))),
        binary!(tiled_product try_tiled_product, layout!(({d(4)},1) : (0,{d(8)})), int!(3)),
        binary!(flat_product try_flat_product, layout!((12,{d(12)},4) : ({d(1)},12,{d(288)})), (layout!(({d(2)},2) : ({d(4)},1)), int!(8), )),
        pairs!(blocked_product try_blocked_product, layout!((6,4,{d(3)}) : (36,3,12)), layout!(({d(1)},2) : ({d(6)},0))),
    ];
    support::enough(&answered, 80);
}

#[test]
#[rustfmt::skip]
fn identity() {
    let answered = [
        coordinates!(Ok(Layout::try_identity(int_tuple!((6,{d(2)},5))).unwrap()), "(6,2,5):(1@0,1@1,1@2)"),
        nested!(Ok(Layout::try_identity(int_tuple!((4,({d(1)},3),3))).unwrap()), "(4,(1,3),3):(1@0,(1@0@1,1@1@1),1@2)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!((6,8))).unwrap()), "(6,8):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!({d(12)})).unwrap()), "12:1@0"),
        coordinates!(Ok(Layout::try_identity(int_tuple!(({d(4)},{d(5)}))).unwrap()), "(4,5):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!(({d(5)},12))).unwrap()), "(5,12):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!({d(3)})).unwrap()), "3:1@0"),
        coordinates!(Ok(Layout::try_identity(int_tuple!(({d(3)},2))).unwrap()), "(3,2):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!((6,{d(12)}))).unwrap()), "(6,12):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!(({d(12)},5,6,5))).unwrap()), "(12,5,6,5):(1@0,1@1,1@2,1@3)"),
        nested!(Ok(Layout::try_identity(int_tuple!(((1,{d(5)},{d(4)},2)))).unwrap()), "((1,5,4,2)):((1@0@0,1@1@0,1@2@0,1@3@0))"),
        coordinates!(Ok(Layout::try_identity(int_tuple!((2,{d(8)}))).unwrap()), "(2,8):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!(({d(5)},6))).unwrap()), "(5,6):(1@0,1@1)"),
        coordinates!(Ok(Layout::try_identity(int_tuple!({d(5)})).unwrap()), "5:1@0"),
        nested!(Ok(Layout::try_identity(int_tuple!((3,6,({d(5)},8)))).unwrap()), "(3,6,(5,8)):(1@0,1@1,(1@0@2,1@1@2))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn identity_composed() {
    let answered = [
        coordinates!(Layout::try_identity(int_tuple!(2)).unwrap().try_composition((layout!(({d(8)},1) : (2,2)), )), "((8,1)):((2@0,0))"),
        coordinates!(Layout::try_identity(int_tuple!(5)).unwrap().try_composition((int!(6), )), "(6):(1@0)"),
        nested!(Layout::try_identity(int_tuple!(((2),6,1))).unwrap().try_composition(int!(8)), "(2,4):(1@0@0,1@1)"),
        coordinates!(Layout::try_identity(int_tuple!((5,5,5,2))).unwrap().try_composition(int!(2)), "2:1@0"),
        coordinates!(Layout::try_identity(int_tuple!(12)).unwrap().try_composition(layout!(12 : 1)), "12:1@0"),
        coordinates!(Layout::try_identity(int_tuple!({d(2)})).unwrap().try_composition(layout!({d(1)} : {d(2)})), "1:0"),
        coordinates!(Layout::try_identity(int_tuple!((12,2))).unwrap().try_composition(int!(6)), "6:1@0"),
        coordinates!(Layout::try_identity(int_tuple!(6)).unwrap().try_composition(layout!({d(1)} : 2)), "1:0"),
        coordinates!(Layout::try_identity(int_tuple!(12)).unwrap().try_composition(layout!((12,{d(8)}) : ({d(1)},12))), "(12,8):(1@0,12@0)"),
        coordinates!(Layout::try_identity(int_tuple!(({d(12)},6,8))).unwrap().try_composition(int!(2)), "2:1@0"),
        coordinates!(Layout::try_identity(int_tuple!(({d(2)},{d(2)},{d(5)}))).unwrap().try_composition(layout!((6,12,({d(2)})) : (12,1,({d(72)})))), "(6,(2,2,3),(2)):(3@2,(1@0,1@1,1@2),(18@2))"),
        coordinates!(Layout::try_identity(int_tuple!(1)).unwrap().try_composition(layout!((2,4,1) : ({d(3)},6,{d(3)}))), "(2,4,1):(3@0,6@0,0)"),
        coordinates!(Layout::try_identity(int_tuple!((5,1))).unwrap().try_composition((layout!(4 : 3), )), "(4):(3@0)"),
        coordinates!(Layout::try_identity(int_tuple!((2,8))).unwrap().try_composition(layout!(({d(5)},{d(12)}) : (12,1))), "(5,(2,6)):(6@1,(1@0,1@1))"),
        coordinates!(Layout::try_identity(int_tuple!((4,{d(5)}))).unwrap().try_composition((layout!({d(3)} : 1), layout!(({d(12)},4) : (4,1)), )), "(3,(12,4)):(1@0,(4@1,1@1))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn identity_divided() {
    let answered = [
        coordinates!(Layout::try_identity(int_tuple!(({d(12)},{d(3)}))).unwrap().try_zipped_divide(int!(8)), "(8,(2,3)):(1@0,(8@0,1@1))"),
        coordinates!(Layout::try_identity(int_tuple!(4)).unwrap().try_zipped_divide(layout!((8,3,6) : (3,24,0))), "((8,3,6),3):((3@0,24@0,0),1@0)"),
        coordinates!(Layout::try_identity(int_tuple!(({d(4)},1))).unwrap().try_zipped_divide((int!(8), int!(2), )), "((8,2),(1,1)):((1@0,1@1),(0,0))"),
        coordinates!(Layout::try_identity(int_tuple!((4,2,6,{d(6)}))).unwrap().try_zipped_divide((__, int!(3), int!(3), int!(6), )), "((4,3,3,6),(1,1,2,1)):((1@0,1@1,1@2,1@3),(0,0,3@2,0))"),
        coordinates!(Layout::try_identity(int_tuple!(3)).unwrap().try_zipped_divide(int!(3)), "(3,1):(1@0,0)"),
        coordinates!(Layout::try_identity(int_tuple!({d(2)})).unwrap().try_zipped_divide((layout!((2,4) : ({d(1)},{d(2)})), )), "(((2,4)),(1)):(((1@0,2@0)),(0))"),
        coordinates!(Layout::try_identity(int_tuple!(({d(3)},4))).unwrap().try_zipped_divide(layout!((({d(2)},5,4)) : ((60,3,15)))), "(((2,5,4)),3):(((20@1,1@1,5@1)),1@0)"),
        coordinates!(Layout::try_identity(int_tuple!(2)).unwrap().try_zipped_divide((int!(3), )), "((3),(1)):((1@0),(0))"),
        coordinates!(Layout::try_identity(int_tuple!(2)).unwrap().try_zipped_divide((int!(4), )), "((4),(1)):((1@0),(0))"),
        coordinates!(Layout::try_identity(int_tuple!((5,4,{d(2)}))).unwrap().try_zipped_divide(int!(4)), "(4,(2,4,2)):(1@0,(4@0,1@1,1@2))"),
        coordinates!(Layout::try_identity(int_tuple!(4)).unwrap().try_zipped_divide((layout!({d(3)} : 1), )), "((3),(2)):((1@0),(3@0))"),
        coordinates!(Layout::try_identity(int_tuple!(3)).unwrap().try_zipped_divide(int!(6)), "(6,1):(1@0,0)"),
        coordinates!(Layout::try_identity(int_tuple!((2,8,{d(4)},{d(6)}))).unwrap().try_zipped_divide(layout!((4,4,1) : ({d(1)},4,1))), "(((2,2),4,1),(4,6)):(((1@0,1@1),2@1,0),(1@2,1@3))"),
        coordinates!(Layout::try_identity(int_tuple!((2,5,5))).unwrap().try_zipped_divide((int!(8), __, int!(8), )), "((8,5,8),(1,1,1)):((1@0,1@1,1@2),(0,0,0))"),
        coordinates!(Layout::try_identity(int_tuple!((6,3))).unwrap().try_zipped_divide((int!(4), )), "((4),(2,3)):((1@0),(4@0,1@1))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn left() {
    let answered = [
        answer!(Layout::try_left(int_tuple!(({d(4)},(4),2,{d(2)}))), "(4,(4),2,2):(1,(4),16,32)"),
        answer!(Layout::try_left(int_tuple!(({d(4)},6))), "(4,6):(1,4)"),
        answer!(Layout::try_left(int_tuple!((2,4,8,5))), "(2,4,8,5):(1,2,8,64)"),
        answer!(Layout::try_left(int_tuple!(6)), "6:1"),
        answer!(Layout::try_left(int_tuple!((5,{d(4)},{d(2)},5))), "(5,4,2,5):(1,5,20,40)"),
        answer!(Layout::try_left(int_tuple!(({d(5)},12))), "(5,12):(1,5)"),
        answer!(Layout::try_left(int_tuple!((1,6,8))), "(1,6,8):(0,1,6)"),
        answer!(Layout::try_left(int_tuple!(4)), "4:1"),
        answer!(Layout::try_left(int_tuple!((12,4,12))), "(12,4,12):(1,12,48)"),
        answer!(Layout::try_left(int_tuple!({d(4)})), "4:1"),
        answer!(Layout::try_left(int_tuple!((1,2,5))), "(1,2,5):(0,1,2)"),
        answer!(Layout::try_left(int_tuple!((5,8,12))), "(5,8,12):(1,5,40)"),
        answer!(Layout::try_left(int_tuple!((4,3))), "(4,3):(1,4)"),
        answer!(Layout::try_left(int_tuple!((12,1,3,4))), "(12,1,3,4):(1,0,12,36)"),
        answer!(Layout::try_left(int_tuple!((12,4))), "(12,4):(1,12)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn right() {
    let answered = [
        answer!(Layout::try_right(int_tuple!(5)), "5:1"),
        answer!(Layout::try_right(int_tuple!({d(8)})), "8:1"),
        answer!(Layout::try_right(int_tuple!((4,{d(12)}))), "(4,12):(12,1)"),
        answer!(Layout::try_right(int_tuple!({d(6)})), "6:1"),
        answer!(Layout::try_right(int_tuple!(8)), "8:1"),
        answer!(Layout::try_right(int_tuple!(({d(8)},2,{d(4)},{d(6)}))), "(8,2,4,6):(48,24,6,1)"),
        answer!(Layout::try_right(int_tuple!(6)), "6:1"),
        answer!(Layout::try_right(int_tuple!(3)), "3:1"),
        answer!(Layout::try_right(int_tuple!(({d(2)},4,(12),4))), "(2,4,(12),4):(192,48,(4),1)"),
        answer!(Layout::try_right(int_tuple!((8,(4,3),6))), "(8,(4,3),6):(72,(18,6),1)"),
        answer!(Layout::try_right(int_tuple!((12,{d(1)},({d(1)})))), "(12,1,(1)):(1,0,(0))"),
        answer!(Layout::try_right(int_tuple!({d(2)})), "2:1"),
        answer!(Layout::try_right(int_tuple!({d(8)})), "8:1"),
        answer!(Layout::try_right(int_tuple!(({d(2)},12,2,8))), "(2,12,2,8):(192,16,8,1)"),
        answer!(Layout::try_right(int_tuple!(((6,1,2)))), "((6,1,2)):((2,0,1))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn ordered() {
    let answered = [
        answer!(Layout::try_ordered(int_tuple!((12,{d(12)})), int_tuple!((1,0))), "(12,12):(12,1)"),
        answer!(Layout::try_ordered(int_tuple!((2,12,3)), int_tuple!((2,0,1))), "(2,12,3):(36,1,12)"),
        answer!(Layout::try_ordered(int_tuple!(({d(2)},{d(4)},3,2)), int_tuple!((1,3,0,2))), "(2,4,3,2):(3,12,1,6)"),
        answer!(Layout::try_ordered(int_tuple!(({d(12)},4,4,(12))), int_tuple!((0,2,1,(3)))), "(12,4,4,(12)):(1,48,12,(192))"),
        answer!(Layout::try_ordered(int_tuple!({d(2)}), int_tuple!(0)), "2:1"),
        answer!(Layout::try_ordered(int_tuple!(4), int_tuple!(0)), "4:1"),
        answer!(Layout::try_ordered(int_tuple!((6,{d(6)},8,12)), int_tuple!((0,3,1,2))), "(6,6,8,12):(1,576,6,48)"),
        answer!(Layout::try_ordered(int_tuple!((12,4)), int_tuple!((0,1))), "(12,4):(1,12)"),
        answer!(Layout::try_ordered(int_tuple!((2,2,({d(2)}),{d(1)})), int_tuple!((2,3,(0),1))), "(2,2,(2),1):(2,4,(1),0)"),
        answer!(Layout::try_ordered(int_tuple!((1,5,(2))), int_tuple!((0,2,(1)))), "(1,5,(2)):(0,2,(1))"),
        answer!(Layout::try_ordered(int_tuple!(12), int_tuple!(0)), "12:1"),
        answer!(Layout::try_ordered(int_tuple!(({d(5)},{d(4)})), int_tuple!((0,1))), "(5,4):(1,5)"),
        answer!(Layout::try_ordered(int_tuple!((5,4)), int_tuple!((0,1))), "(5,4):(1,5)"),
        answer!(Layout::try_ordered(int_tuple!(5), int_tuple!(0)), "5:1"),
        answer!(Layout::try_ordered(int_tuple!((2,1,3,4)), int_tuple!((2,3,0,1))), "(2,1,3,4):(12,0,1,3)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn compact_like() {
    let answered = [
        answer!(layout!((3,{d(4)},{d(4)},(2)) : (3,144,{d(18)},(72))).try_compact_like(), "(3,4,4,(2)):(1,24,3,(12))"),
        answer!(layout!(({d(2)},5,({d(8)})) : (1,2,(20))).try_compact_like(), "(2,5,(8)):(1,2,(10))"),
        answer!(layout!((4,{d(2)},({d(12)},1)) : (1,{d(4)},(16,192))).try_compact_like(), "(4,2,(12,1)):(1,4,(8,0))"),
        answer!(layout!(2 : {d(1)}).try_compact_like(), "2:1"),
        answer!(layout!(1 : 1).try_compact_like(), "1:0"),
        answer!(layout!(((5,2),{d(3)}) : (({d(1)},{d(15)}),5)).try_compact_like(), "((5,2),3):((1,15),5)"),
        answer!(layout!((8,1,(6)) : ({d(2)},{d(16)},({d(16)}))).try_compact_like(), "(8,1,(6)):(1,0,(8))"),
        answer!(layout!({d(5)} : 1).try_compact_like(), "5:1"),
        answer!(layout!((8,12,(6,{d(6)})) : (432,6,({d(72)},1))).try_compact_like(), "(8,12,(6,6)):(432,6,(72,1))"),
        answer!(layout!((3,{d(8)}) : ({d(8)},1)).try_compact_like(), "(3,8):(8,1)"),
        answer!(layout!(5 : {d(1)}).try_compact_like(), "5:1"),
        answer!(layout!((5,4,6,3) : (12,{d(1)},{d(60)},{d(4)})).try_compact_like(), "(5,4,6,3):(12,1,60,4)"),
        answer!(layout!(({d(2)},{d(8)},4,6) : (768,8,2,{d(128)})).try_compact_like(), "(2,8,4,6):(192,4,1,32)"),
        answer!(layout!((1,4,{d(6)},(4)) : (4,4,32,(1))).try_compact_like(), "(1,4,6,(4)):(0,4,16,(1))"),
        answer!(layout!(({d(8)},4,{d(12)},{d(4)}) : (384,{d(4)},0,1)).try_compact_like(), "(8,4,12,4):(16,4,0,1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn fragment_like() {
    let answered = [
        answer!(layout!((8,{d(2)},{d(8)},2) : (0,{d(3)},{d(48)},384)).try_fragment_like(), "(8,2,8,2):(0,1,2,16)"),
        answer!(layout!(({d(6)},2) : (0,{d(1)})).try_fragment_like(), "(6,2):(0,1)"),
        answer!(layout!(2 : 1).try_fragment_like(), "2:1"),
        answer!(layout!((6,{d(12)}) : ({d(1)},6)).try_fragment_like(), "(6,12):(1,6)"),
        answer!(layout!((4,4) : (1,{d(4)})).try_fragment_like(), "(4,4):(1,4)"),
        answer!(layout!((8,{d(1)},2,2) : ({d(12)},12,{d(3)},{d(6)})).try_fragment_like(), "(8,1,2,2):(1,0,8,16)"),
        answer!(layout!(({d(12)},8) : (1,0)).try_fragment_like(), "(12,8):(1,12)"),
        answer!(layout!(4 : {d(1)}).try_fragment_like(), "4:1"),
        answer!(layout!((({d(1)},{d(3)}),3,5) : (({d(3)},3),1,9)).try_fragment_like(), "((1,3),3,5):((0,1),3,9)"),
        answer!(layout!((8,{d(2)},{d(4)},{d(3)}) : (48,{d(1)},{d(6)},{d(2)})).try_fragment_like(), "(8,2,4,3):(1,8,48,16)"),
        answer!(layout!(({d(3)},8) : ({d(1)},{d(3)})).try_fragment_like(), "(3,8):(1,3)"),
        answer!(layout!((8,{d(5)}) : (1,8)).try_fragment_like(), "(8,5):(1,8)"),
        answer!(layout!(((5,{d(4)},6)) : (({d(1)},30,5))).try_fragment_like(), "((5,4,6)):((1,30,5))"),
        answer!(layout!(({d(6)},{d(12)},4) : (1,6,72)).try_fragment_like(), "(6,12,4):(1,6,72)"),
        answer!(layout!((6,12,(4)) : ({d(1)},{d(24)},({d(6)}))).try_fragment_like(), "(6,12,(4)):(1,24,(6))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn with_shape() {
    let answered = [
        answer!(layout!({d(1)} : 0).try_with_shape(int_tuple!(1)), "1:0"),
        answer!(layout!(({d(1)},{d(1)}) : ({d(1)},{d(2)})).try_with_shape(int_tuple!({d(1)})), "1:0"),
        answer!(layout!(({d(8)},6,{d(6)},{d(3)}) : (1,{d(144)},{d(24)},{d(8)})).try_with_shape(int_tuple!((96,{d(3)},3))), "((8,6,2),3,3):((1,144,24),48,8)"),
        answer!(layout!((3,{d(3)},{d(2)},{d(2)}) : (6,1,18,{d(36)})).try_with_shape(int_tuple!((9,4))), "((3,3),4):((6,1),18)"),
        answer!(layout!((2,1,1,{d(2)}) : (0,2,1,{d(1)})).try_with_shape(int_tuple!(4)), "(2,2):(0,1)"),
        answer!(layout!((2,{d(6)},5) : ({d(1)},10,0)).try_with_shape(int_tuple!(({d(2)},{d(30)}))), "(2,(6,5)):(1,(10,0))"),
        answer!(layout!((1,3) : (3,{d(3)})).try_with_shape(int_tuple!(3)), "3:3"),
        answer!(layout!(2 : 1).try_with_shape(int_tuple!(2)), "2:1"),
        answer!(layout!({d(2)} : 1).try_with_shape(int_tuple!({d(2)})), "2:1"),
        answer!(layout!(({d(3)},12) : ({d(1)},6)).try_with_shape(int_tuple!((18,2))), "((3,6),2):((1,6),36)"),
        answer!(layout!((8,2,12,(2)) : ({d(48)},1,4,({d(2)}))).try_with_shape(int_tuple!(({d(16)},12,2))), "((8,2),12,2):((48,1),4,2)"),
        answer!(layout!(({d(5)},{d(2)}) : (1,{d(5)})).try_with_shape(int_tuple!((5,{d(2)}))), "(5,2):(1,5)"),
        answer!(layout!((2,{d(6)}) : (1,2)).try_with_shape(int_tuple!(({d(6)},2))), "(6,2):(1,6)"),
        answer!(layout!((4,5,{d(4)},{d(4)}) : ({d(320)},16,{d(80)},{d(2)})).try_with_shape(int_tuple!((160,2))), "((4,20,2),2):((320,16,2),4)"),
        answer!(layout!({d(5)} : 1).try_with_shape(int_tuple!({d(5)})), "5:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn filter() {
    let answered = [
        answer!(layout!((3,12,(4)) : (144,12,(3))).try_filter(), "(3,12,4):(144,12,3)"),
        answer!(layout!((2,{d(1)}) : ({d(1)},0)).try_filter(), "2:1"),
        answer!(layout!((12,{d(1)},{d(2)}) : (6,{d(6)},3)).try_filter(), "(12,2):(6,3)"),
        answer!(layout!((6,1,{d(1)}) : (1,1,1)).try_filter(), "6:1"),
        answer!(layout!((4,6,{d(1)}) : (12,1,1)).try_filter(), "(4,6):(12,1)"),
        answer!(layout!(({d(8)},2,3,4) : (3,{d(96)},1,24)).try_filter(), "(8,2,3,4):(3,96,1,24)"),
        answer!(layout!((4,4) : ({d(8)},{d(2)})).try_filter(), "(4,4):(8,2)"),
        answer!(layout!((4,3,6,({d(4)})) : (0,{d(4)},12,({d(144)}))).try_filter(), "(18,4):(4,144)"),
        answer!(layout!(({d(8)},{d(4)},{d(2)},4) : (0,16,8,64)).try_filter(), "(4,2,4):(16,8,64)"),
        answer!(layout!(3 : 1).try_filter(), "3:1"),
        answer!(layout!((5,6,({d(3)},4)) : ({d(6)},240,(0,{d(30)}))).try_filter(), "(5,6,4):(6,240,30)"),
        answer!(layout!((4,{d(2)},8,12) : (4,{d(1)},0,16)).try_filter(), "(4,2,12):(4,1,16)"),
        answer!(layout!(2 : {d(3)}).try_filter(), "2:3"),
        answer!(layout!((5,{d(1)}) : ({d(2)},0)).try_filter(), "5:2"),
        answer!(layout!(((12,{d(8)},{d(6)})) : (({d(1)},0,{d(192)}))).try_filter(), "(12,6):(1,192)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn filter_zeros() {
    let answered = [
        answer!(layout!((3,4,(4)) : (4,0,({d(12)}))).try_filter_zeros(), "(3,1,(4)):(4,0,(12))"),
        answer!(layout!((6,{d(3)},{d(12)},({d(6)})) : (36,{d(216)},648,(3))).try_filter_zeros(), "(6,3,12,(6)):(36,216,648,(3))"),
        answer!(layout!((12,8) : (1,12)).try_filter_zeros(), "(12,8):(1,12)"),
        answer!(layout!(({d(1)},(12,2),4) : ({d(16)},(16,0),2)).try_filter_zeros(), "(1,(12,1),4):(16,(16,0),2)"),
        answer!(layout!(({d(3)},{d(1)},(1,2)) : (0,{d(18)},({d(9)},9))).try_filter_zeros(), "(1,1,(1,2)):(0,18,(9,9))"),
        answer!(layout!(({d(1)},3) : (1,{d(1)})).try_filter_zeros(), "(1,3):(1,1)"),
        answer!(layout!((1,5,({d(2)},4)) : (80,16,(1,2))).try_filter_zeros(), "(1,5,(2,4)):(80,16,(1,2))"),
        answer!(layout!((6,2,{d(4)}) : (16,2,4)).try_filter_zeros(), "(6,2,4):(16,2,4)"),
        answer!(layout!(({d(5)},4,12) : (1,{d(60)},{d(5)})).try_filter_zeros(), "(5,4,12):(1,60,5)"),
        answer!(layout!((2,6,{d(8)},2) : (1,32,2,{d(16)})).try_filter_zeros(), "(2,6,8,2):(1,32,2,16)"),
        answer!(layout!(({d(2)},{d(1)},6,1) : (12,12,0,{d(24)})).try_filter_zeros(), "(2,1,1,1):(12,12,0,24)"),
        answer!(layout!(2 : 1).try_filter_zeros(), "2:1"),
        answer!(layout!((3,4,1) : (1,3,12)).try_filter_zeros(), "(3,4,1):(1,3,12)"),
        answer!(layout!((4,{d(4)}) : (3,12)).try_filter_zeros(), "(4,4):(3,12)"),
        answer!(layout!(({d(6)},{d(3)}) : (1,6)).try_filter_zeros(), "(6,3):(1,6)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn coalesce_by() {
    let answered = [
        answer!(layout!(({d(2)},2) : ({d(1)},{d(2)})).try_coalesce_by(int_tuple!((1,1))), "(2,2):(1,2)"),
        answer!(layout!(3 : {d(1)}).try_coalesce_by(int_tuple!(1)), "3:1"),
        answer!(layout!({d(4)} : {d(1)}).try_coalesce_by(int_tuple!(1)), "4:1"),
        answer!(layout!(1 : 2).try_coalesce_by(int_tuple!(1)), "1:0"),
        answer!(layout!((1,{d(4)},{d(4)},{d(8)}) : (8,0,{d(16)},128)).try_coalesce_by(int_tuple!(1)), "(4,4,8):(0,16,128)"),
        answer!(layout!((3,{d(12)}) : (1,3)).try_coalesce_by(int_tuple!(1)), "36:1"),
        answer!(layout!({d(5)} : {d(1)}).try_coalesce_by(int_tuple!(1)), "5:1"),
        answer!(layout!(((5),{d(8)},6,{d(3)}) : ((18),180,3,1)).try_coalesce_by(int_tuple!((1,1,1))), "(5,8,6,3):(18,180,3,1)"),
        answer!(layout!(((2),4,4) : ((16),1,4)).try_coalesce_by(int_tuple!(1)), "(2,16):(16,1)"),
        answer!(layout!((6,6,2,{d(2)}) : (1,{d(6)},72,36)).try_coalesce_by(int_tuple!((1,1,1,1))), "(6,6,2,2):(1,6,72,36)"),
        answer!(layout!((6,{d(1)},5,({d(12)})) : (120,720,0,({d(1)}))).try_coalesce_by(int_tuple!(1)), "(6,5,12):(120,0,1)"),
        answer!(layout!((2,1) : (3,{d(6)})).try_coalesce_by(int_tuple!(1)), "2:3"),
        answer!(layout!(((2),{d(4)},4) : ((12),3,48)).try_coalesce_by(int_tuple!((1,1,1))), "(2,4,4):(12,3,48)"),
        answer!(layout!({d(6)} : 2).try_coalesce_by(int_tuple!(1)), "6:2"),
        answer!(layout!((4,(3,4)) : (6,({d(1)},{d(24)}))).try_coalesce_by(int_tuple!((1,1))), "(4,(3,4)):(6,(1,24))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn flatten() {
    let answered = [
        answer!(Ok(layout!((8,2,2,({d(2)})) : (12,{d(192)},6,({d(3)}))).flatten()), "(8,2,2,2):(12,192,6,3)"),
        answer!(Ok(layout!((1,12,1,(2)) : ({d(288)},12,0,({d(3)}))).flatten()), "(1,12,1,2):(288,12,0,3)"),
        answer!(Ok(layout!({d(2)} : 3).flatten()), "2:3"),
        answer!(Ok(layout!(((3,6),12,3) : ((6,1),18,216)).flatten()), "(3,6,12,3):(6,1,18,216)"),
        answer!(Ok(layout!((4,4,4,(6)) : (1,24,192,(4))).flatten()), "(4,4,4,6):(1,24,192,4)"),
        answer!(Ok(layout!(({d(12)},2) : (1,12)).flatten()), "(12,2):(1,12)"),
        answer!(Ok(layout!(5 : 0).flatten()), "5:0"),
        answer!(Ok(layout!(({d(4)},{d(4)}) : (3,24)).flatten()), "(4,4):(3,24)"),
        answer!(Ok(layout!(6 : {d(1)}).flatten()), "6:1"),
        answer!(Ok(layout!(({d(3)},{d(4)},8) : ({d(32)},1,4)).flatten()), "(3,4,8):(32,1,4)"),
        answer!(Ok(layout!({d(5)} : {d(1)}).flatten()), "5:1"),
        answer!(Ok(layout!({d(12)} : 1).flatten()), "12:1"),
        answer!(Ok(layout!((12,12,(2)) : (24,2,(288))).flatten()), "(12,12,2):(24,2,288)"),
        answer!(Ok(layout!((2,2,{d(8)},2) : (48,96,3,0)).flatten()), "(2,2,8,2):(48,96,3,0)"),
        answer!(Ok(layout!(((3,{d(8)},5,1)) : ((1,3,{d(96)},48))).flatten()), "(3,8,5,1):(1,3,96,48)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn unflatten() {
    let answered = [
        answer!(Ok(layout!(((8,5,4)) : ((10,1,{d(80)}))).unflatten(int_tuple!((0,0,(0))))), "(8,5,(4)):(10,1,(80))"),
        answer!(Ok(layout!((12,(2,{d(6)},8)) : (6,({d(3)},{d(576)},{d(72)}))).unflatten(int_tuple!((0,(0),0,0)))), "(12,(2),6,8):(6,(3),576,72)"),
        answer!(Ok(layout!((4,(12,{d(6)}),{d(1)}) : ({d(1)},({d(24)},4),1)).unflatten(int_tuple!((0,0,0,(0))))), "(4,12,6,(1)):(1,24,4,(1))"),
        answer!(Ok(layout!({d(12)} : 1).unflatten(int_tuple!((0)))), "(12):(1)"),
        answer!(Ok(layout!(({d(4)},2,2,(2)) : (1,16,8,({d(4)}))).unflatten(int_tuple!((0,(0,0,0))))), "(4,(2,2,2)):(1,(16,8,4))"),
        answer!(Ok(layout!((12,8,6,4) : (0,4,1536,1)).unflatten(int_tuple!((0,(0,0,0))))), "(12,(8,6,4)):(0,(4,1536,1))"),
        answer!(Ok(layout!(12 : {d(3)}).unflatten(int_tuple!((0)))), "(12):(3)"),
        answer!(Ok(layout!(({d(2)},4,(1),{d(8)}) : ({d(32)},{d(8)},(64),1)).unflatten(int_tuple!((0,0,0,(0))))), "(2,4,1,(8)):(32,8,64,(1))"),
        answer!(Ok(layout!(2 : 1).unflatten(int_tuple!((0)))), "(2):(1)"),
        answer!(Ok(layout!(({d(2)},{d(2)},4) : (2,1,{d(4)})).unflatten(int_tuple!((0,0,(0))))), "(2,2,(4)):(2,1,(4))"),
        answer!(Ok(layout!((2,(12,1),2) : ({d(2)},(16,1),{d(4)})).unflatten(int_tuple!(((0,0,0,0))))), "((2,12,1,2)):((2,16,1,4))"),
        answer!(Ok(layout!((3,8,(5)) : ({d(1)},0,({d(48)}))).unflatten(int_tuple!((0,(0,0))))), "(3,(8,5)):(1,(0,48))"),
        answer!(Ok(layout!(({d(4)},6) : (1,4)).unflatten(int_tuple!(((0),0)))), "((4),6):((1),4)"),
        answer!(Ok(layout!(({d(6)},6) : (1,12)).unflatten(int_tuple!(((0),0)))), "((6),6):((1),12)"),
        answer!(Ok(layout!((3,12) : (0,{d(1)})).unflatten(int_tuple!((0,(0))))), "(3,(12)):(0,(1))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn mode() {
    let answered = [
        answer!(Ok(layout!(({d(1)},(8,3)) : (2,(6,2))).mode(int!(0))), "1:2"),
        answer!(Ok(layout!((3,2,2,5) : (1,6,3,12)).mode(int!(1))), "2:6"),
        answer!(Ok(layout!(((2,2,6)) : (({d(1)},12,{d(2)}))).mode(int!(0))), "(2,2,6):(1,12,2)"),
        answer!(Ok(layout!(({d(2)},{d(2)},({d(4)},2)) : (0,{d(96)},(24,6))).mode(int!(1))), "2:96"),
        answer!(Ok(layout!(1 : 1).mode(int!(0))), "1:1"),
        answer!(Ok(layout!((2,({d(4)},8,{d(3)})) : (128,(2,8,256))).mode(int!(0))), "2:128"),
        answer!(Ok(layout!({d(6)} : 1).mode(int!(0))), "6:1"),
        answer!(Ok(layout!((12,(8),8) : ({d(1)},(192),12)).mode(int!(1))), "(8):(192)"),
        answer!(Ok(layout!(4 : 0).mode(int!(0))), "4:0"),
        answer!(Ok(layout!(({d(8)},{d(6)},1) : ({d(1)},{d(8)},48)).mode(int!(2))), "1:48"),
        answer!(Ok(layout!((4,(6,2)) : (24,(2,{d(12)}))).mode(int!(1))), "(6,2):(2,12)"),
        answer!(Ok(layout!(2 : {d(1)}).mode(int!(0))), "2:1"),
        answer!(Ok(layout!(6 : 1).mode(int!(0))), "6:1"),
        answer!(Ok(layout!((8,1,(3)) : (3,{d(24)},(1))).mode(int!(2))), "(3):(1)"),
        answer!(Ok(layout!(({d(5)},12,{d(3)}) : (6,30,{d(1)})).mode(int!(0))), "5:6"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn select() {
    let answered = [
        answer!(Ok(layout!(6 : 2).select((int!(0), ))), "(6):(2)"),
        answer!(Ok(layout!(({d(12)},{d(3)},6,2) : ({d(1)},144,24,12)).select((int!(1), int!(0), int!(2), ))), "(3,12,6):(144,1,24)"),
        answer!(Ok(layout!((({d(4)},8),5) : ((0,5),1)).select((int!(0), int!(0), ))), "((4,8),(4,8)):((0,5),(0,5))"),
        answer!(Ok(layout!((5,1,2,(1)) : (2,10,10,({d(20)}))).select((int!(1), int!(3), ))), "(1,(1)):(10,(20))"),
        answer!(Ok(layout!((({d(2)}),{d(1)},4,{d(1)}) : (({d(8)}),{d(8)},1,8)).select((int!(2), ))), "(4):(1)"),
        answer!(Ok(layout!(2 : {d(1)}).select((int!(0), int!(0), int!(0), ))), "(2,2,2):(1,1,1)"),
        answer!(Ok(layout!((8,12,{d(5)},{d(8)}) : (24,192,2304,0)).select((int!(1), int!(0), int!(0), ))), "(12,8,8):(192,24,24)"),
        answer!(Ok(layout!((2,1) : (0,1)).select((int!(0), int!(0), int!(0), ))), "(2,2,2):(0,0,0)"),
        answer!(Ok(layout!((3,(3,{d(2)})) : (3,(0,9))).select((int!(1), int!(0), int!(1), ))), "((3,2),3,(3,2)):((0,9),3,(0,9))"),
        answer!(Ok(layout!(5 : 3).select((int!(0), int!(0), int!(0), ))), "(5,5,5):(3,3,3)"),
        answer!(Ok(layout!(8 : 1).select((int!(0), int!(0), int!(0), ))), "(8,8,8):(1,1,1)"),
        answer!(Ok(layout!(((4,6),2) : (({d(24)},2),12)).select((int!(1), ))), "(2):(12)"),
        answer!(Ok(layout!({d(4)} : 1).select((int!(0), ))), "(4):(1)"),
        answer!(Ok(layout!(({d(12)},5) : (10,1)).select((int!(1), int!(1), int!(0), ))), "(5,5,12):(1,1,10)"),
        answer!(Ok(layout!(4 : 3).select((int!(0), int!(0), int!(0), ))), "(4,4,4):(3,3,3)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn take() {
    let answered = [
        answer!(Ok(layout!(({d(4)},12,2,3) : ({d(1)},8,4,{d(192)})).take(int!(1), int!(4))), "(12,2,3):(8,4,192)"),
        answer!(Ok(layout!(({d(5)},2,3) : (6,{d(3)},30)).take(int!(0), int!(1))), "(5):(6)"),
        answer!(Ok(layout!((4,1,4) : (12,48,{d(3)})).take(int!(1), int!(2))), "(1):(48)"),
        answer!(Ok(layout!(2 : {d(1)}).take(int!(0), int!(1))), "(2):(1)"),
        answer!(Ok(layout!(({d(2)},4,{d(4)},{d(5)}) : ({d(4)},{d(1)},80,16)).take(int!(2), int!(4))), "(4,5):(80,16)"),
        answer!(Ok(layout!(6 : 1).take(int!(0), int!(1))), "(6):(1)"),
        answer!(Ok(layout!(6 : 1).take(int!(0), int!(1))), "(6):(1)"),
        answer!(Ok(layout!(({d(4)},2,12) : (0,0,8)).take(int!(1), int!(3))), "(2,12):(0,8)"),
        answer!(Ok(layout!(({d(5)},{d(3)},1) : ({d(1)},{d(5)},1)).take(int!(0), int!(2))), "(5,3):(1,5)"),
        answer!(Ok(layout!((3,4,{d(4)},1) : (8,{d(2)},24,24)).take(int!(1), int!(2))), "(4):(2)"),
        answer!(Ok(layout!(({d(8)},4,({d(2)})) : ({d(32)},2,(0))).take(int!(0), int!(3))), "(8,4,(2)):(32,2,(0))"),
        answer!(Ok(layout!((6,{d(2)},({d(12)})) : (4,{d(2)},({d(24)}))).take(int!(2), int!(3))), "((12)):((24))"),
        answer!(Ok(layout!(({d(12)},2,{d(4)},6) : ({d(12)},864,3,144)).take(int!(3), int!(4))), "(6):(144)"),
        answer!(Ok(layout!(({d(8)},2,5,1) : ({d(16)},4,256,2)).take(int!(2), int!(4))), "(5,1):(256,2)"),
        answer!(Ok(layout!((4,12) : (12,{d(1)})).take(int!(1), int!(2))), "(12):(1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn group() {
    let answered = [
        answer!(Ok(layout!(({d(2)},({d(2)},{d(5)})) : ({d(10)},(1,2))).group(int!(0), int!(1))), "((2),(2,5)):((10),(1,2))"),
        answer!(Ok(layout!(8 : 3).group(int!(0), int!(1))), "((8)):((3))"),
        answer!(Ok(layout!((6,4) : ({d(1)},6)).group(int!(0), int!(1))), "((6),4):((1),6)"),
        answer!(Ok(layout!(({d(1)},(3,{d(8)})) : ({d(144)},(3,18))).group(int!(1), int!(2))), "(1,((3,8))):(144,((3,18)))"),
        answer!(Ok(layout!(4 : 1).group(int!(0), int!(1))), "((4)):((1))"),
        answer!(Ok(layout!(6 : 1).group(int!(0), int!(1))), "((6)):((1))"),
        answer!(Ok(layout!(4 : 2).group(int!(0), int!(1))), "((4)):((2))"),
        answer!(Ok(layout!((12,{d(5)}) : (2,24)).group(int!(0), int!(2))), "((12,5)):((2,24))"),
        answer!(Ok(layout!((6,4,{d(3)},1) : (24,{d(6)},2,0)).group(int!(2), int!(4))), "(6,4,(3,1)):(24,6,(2,0))"),
        answer!(Ok(layout!((({d(6)}),6,12) : ((12),{d(144)},1)).group(int!(0), int!(2))), "(((6),6),12):(((12),144),1)"),
        answer!(Ok(layout!(({d(5)},5,8) : (1,5,50)).group(int!(2), int!(3))), "(5,5,(8)):(1,5,(50))"),
        answer!(Ok(layout!((8,{d(3)}) : (9,{d(3)})).group(int!(1), int!(2))), "(8,(3)):(9,(3))"),
        answer!(Ok(layout!((4,8,2) : (2,8,128)).group(int!(2), int!(3))), "(4,8,(2)):(2,8,(128))"),
        answer!(Ok(layout!(2 : 1).group(int!(0), int!(1))), "((2)):((1))"),
        answer!(Ok(layout!((12,{d(8)},4,5) : (1,960,240,0)).group(int!(0), int!(2))), "((12,8),4,5):((1,960),240,0)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn append() {
    let answered = [
        answer!(Ok(layout!(({d(6)},{d(6)},(2)) : (6,{d(36)},(3))).append(layout!((3,({d(4)},8)) : (2,(6,24))))), "(6,6,(2),(3,(4,8))):(6,36,(3),(2,(6,24)))"),
        answer!(Ok(layout!(2 : 1).append(layout!(({d(2)},(2),2) : (12,(0),6)))), "(2,(2,(2),2)):(1,(12,(0),6))"),
        answer!(Ok(layout!((3,(12,{d(1)}),5) : (120,({d(10)},{d(10)}),0)).append(layout!((4,6,3) : ({d(18)},1,{d(6)})))), "(3,(12,1),5,(4,6,3)):(120,(10,10),0,(18,1,6))"),
        answer!(Ok(layout!(({d(3)},12,{d(2)},5) : ({d(120)},0,{d(60)},{d(12)})).append(layout!(({d(2)},2) : ({d(2)},4)))), "(3,12,2,5,(2,2)):(120,0,60,12,(2,4))"),
        answer!(Ok(layout!({d(4)} : 2).append(layout!(2 : 1))), "(4,2):(2,1)"),
        answer!(Ok(layout!(3 : 3).append(layout!(({d(2)},6) : (1,{d(2)})))), "(3,(2,6)):(3,(1,2))"),
        answer!(Ok(layout!((1,4,(2)) : (2,{d(2)},(0))).append(layout!(({d(2)},2,(2)) : (2,1,(4))))), "(1,4,(2),(2,2,(2))):(2,2,(0),(2,1,(4)))"),
        answer!(Ok(layout!(6 : 0).append(layout!((6,{d(3)}) : (3,{d(1)})))), "(6,(6,3)):(0,(3,1))"),
        answer!(Ok(layout!(8 : 2).append(layout!(12 : 3))), "(8,12):(2,3)"),
        answer!(Ok(layout!(({d(2)},2,{d(5)}) : (1,20,{d(4)})).append(layout!((5,4,{d(5)}) : ({d(60)},3,{d(12)})))), "(2,2,5,(5,4,5)):(1,20,4,(60,3,12))"),
        answer!(Ok(layout!(1 : {d(1)}).append(layout!((2,8) : (8,1)))), "(1,(2,8)):(1,(8,1))"),
        answer!(Ok(layout!({d(1)} : 1).append(layout!((2,(4,4)) : (4,({d(1)},0))))), "(1,(2,(4,4))):(1,(4,(1,0)))"),
        answer!(Ok(layout!((2,{d(6)},4,2) : (0,{d(32)},1,8)).append(layout!(({d(6)},1) : (1,6)))), "(2,6,4,2,(6,1)):(0,32,1,8,(1,6))"),
        answer!(Ok(layout!((2,2,{d(2)},2) : (16,2,0,0)).append(layout!(({d(2)},2) : (3,{d(12)})))), "(2,2,2,2,(2,2)):(16,2,0,0,(3,12))"),
        answer!(Ok(layout!(3 : 1).append(layout!(5 : 1))), "(3,5):(1,1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn prepend() {
    let answered = [
        answer!(Ok(layout!((12,3) : (3,1)).prepend(layout!(1 : {d(1)}))), "(1,12,3):(1,3,1)"),
        answer!(Ok(layout!((4,2) : (1,4)).prepend(layout!((({d(2)},6),{d(4)}) : ((2,{d(4)}),24)))), "(((2,6),4),4,2):(((2,4),24),1,4)"),
        answer!(Ok(layout!((6,4) : (1,12)).prepend(layout!((2,{d(8)},{d(1)}) : (8,1,1)))), "((2,8,1),6,4):((8,1,1),1,12)"),
        answer!(Ok(layout!((2,{d(12)},({d(4)})) : ({d(4)},{d(8)},({d(1)}))).prepend(layout!((8,1) : (1,1)))), "((8,1),2,12,(4)):((1,1),4,8,(1))"),
        answer!(Ok(layout!({d(6)} : 3).prepend(layout!(({d(6)},2) : (2,1)))), "((6,2),6):((2,1),3)"),
        answer!(Ok(layout!(({d(3)},(2,6),4) : (6,({d(72)},1),18)).prepend(layout!((6,{d(8)}) : (3,18)))), "((6,8),3,(2,6),4):((3,18),6,(72,1),18)"),
        answer!(Ok(layout!(12 : 1).prepend(layout!(8 : 1))), "(8,12):(1,1)"),
        answer!(Ok(layout!((12,3) : ({d(6)},{d(1)})).prepend(layout!((5,2) : (2,1)))), "((5,2),12,3):((2,1),6,1)"),
        answer!(Ok(layout!(8 : 1).prepend(layout!(({d(12)},(2),2) : ({d(6)},(3),{d(72)})))), "((12,(2),2),8):((6,(3),72),1)"),
        answer!(Ok(layout!(3 : 3).prepend(layout!((2,{d(3)}) : (12,2)))), "((2,3),3):((12,2),3)"),
        answer!(Ok(layout!(({d(1)},{d(4)}) : (4,{d(1)})).prepend(layout!((8,8) : (1,{d(8)})))), "((8,8),1,4):((1,8),4,1)"),
        answer!(Ok(layout!((5,8) : ({d(3)},{d(30)})).prepend(layout!(1 : 2))), "(1,5,8):(2,3,30)"),
        answer!(Ok(layout!((2,4) : (4,1)).prepend(layout!((4,8) : ({d(8)},{d(1)})))), "((4,8),2,4):((8,1),4,1)"),
        answer!(Ok(layout!((4,6) : ({d(6)},0)).prepend(layout!(({d(12)},4) : (8,{d(1)})))), "((12,4),4,6):((8,1),6,0)"),
        answer!(Ok(layout!(({d(4)},8,4,6) : (48,192,2,8)).prepend(layout!(4 : 1))), "(4,4,8,4,6):(1,48,192,2,8)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn replace() {
    let answered = [
        answer!(Ok(layout!((1,{d(4)}) : (0,1)).replace(int!(0), layout!((4,2) : (1,4)))), "((4,2),4):((1,4),1)"),
        answer!(Ok(layout!((2,12,{d(2)}) : (72,{d(3)},36)).replace(int!(1), layout!((1,{d(2)}) : (1,{d(1)})))), "(2,(1,2),2):(72,(1,1),36)"),
        answer!(Ok(layout!((4,{d(4)},{d(2)}) : ({d(1)},8,4)).replace(int!(2), layout!(({d(1)},2,{d(1)}) : (1,2,{d(1)})))), "(4,4,(1,2,1)):(1,8,(1,2,1))"),
        answer!(Ok(layout!({d(3)} : {d(1)}).replace(int!(0), layout!(({d(12)},2) : ({d(2)},{d(1)})))), "((12,2)):((2,1))"),
        answer!(Ok(layout!(12 : 1).replace(int!(0), layout!((3,5) : (15,3)))), "((3,5)):((15,3))"),
        answer!(Ok(layout!(((2,4),2,{d(6)}) : ((0,{d(2)}),8,16)).replace(int!(2), layout!(5 : {d(3)}))), "((2,4),2,5):((0,2),8,3)"),
        answer!(Ok(layout!(({d(2)},{d(4)}) : (1,0)).replace(int!(0), layout!(({d(2)},4,6) : (2,{d(8)},32)))), "((2,4,6),4):((2,8,32),0)"),
        answer!(Ok(layout!(({d(4)},3,(5),6) : (5,240,(1),40)).replace(int!(1), layout!((5,8,2) : ({d(2)},20,10)))), "(4,(5,8,2),(5),6):(5,(2,20,10),(1),40)"),
        answer!(Ok(layout!((3,{d(4)},({d(4)}),{d(4)}) : (4,96,(1),{d(12)})).replace(int!(1), layout!(({d(1)},4) : (1,1)))), "(3,(1,4),(4),4):(4,(1,1),(1),12)"),
        answer!(Ok(layout!((3,8,(8,3)) : (24,{d(72)},(3,1))).replace(int!(1), layout!((4,12,({d(4)})) : (1,4,({d(48)}))))), "(3,(4,12,(4)),(8,3)):(24,(1,4,(48)),(3,1))"),
        answer!(Ok(layout!(12 : 1).replace(int!(0), layout!(6 : 1))), "(6):(1)"),
        answer!(Ok(layout!((5,{d(4)},(4)) : (1,20,(0))).replace(int!(1), layout!({d(1)} : 1))), "(5,1,(4)):(1,1,(0))"),
        answer!(Ok(layout!((8,3,2) : ({d(6)},{d(2)},1)).replace(int!(0), layout!(4 : 1))), "(4,3,2):(1,2,1)"),
        answer!(Ok(layout!((2,3,{d(4)},{d(8)}) : (1,128,2,8)).replace(int!(1), layout!((2,{d(3)}) : (6,{d(1)})))), "(2,(2,3),4,8):(1,(6,1),2,8)"),
        answer!(Ok(layout!((1,2,6) : ({d(6)},{d(12)},1)).replace(int!(2), layout!((2,{d(4)}) : ({d(2)},8)))), "(1,2,(2,4)):(6,12,(2,8))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn upcast() {
    let answered = [
        answer!(layout!((8,{d(2)}) : (1,8)).try_upcast(int!(1)), "(8,2):(1,8)"),
        answer!(layout!((4,4) : ({d(1)},0)).try_upcast(int!(1)), "(4,4):(1,0)"),
        answer!(layout!(({d(5)},6) : (6,0)).try_upcast(int!(2)), "(5,6):(3,0)"),
        answer!(layout!((({d(6)},{d(6)}),{d(12)},12) : ((1728,12),144,{d(1)})).try_upcast(int!(2)), "((6,6),12,6):((864,6),72,1)"),
        answer!(layout!(5 : {d(1)}).try_upcast(int!(1)), "5:1"),
        answer!(layout!(({d(2)},12,2,4) : (2,0,1,48)).try_upcast(int!(8)), "(1,12,1,4):(1,0,1,6)"),
        answer!(layout!((3,({d(3)},{d(12)}),{d(12)}) : ({d(72)},(12,432),1)).try_upcast(int!(1)), "(3,(3,12),12):(72,(12,432),1)"),
        answer!(layout!(({d(4)},1,({d(4)})) : (0,{d(1)},(1))).try_upcast(int!(8)), "(4,1,(1)):(0,1,(1))"),
        answer!(layout!((12,4) : ({d(2)},24)).try_upcast(int!(2)), "(12,4):(1,12)"),
        answer!(layout!((4,{d(2)}) : (4,1)).try_upcast(int!(4)), "(4,1):(1,1)"),
        answer!(layout!((2,5,{d(4)}) : ({d(20)},4,1)).try_upcast(int!(2)), "(2,5,2):(10,2,1)"),
        answer!(layout!({d(4)} : 1).try_upcast(int!(4)), "1:1"),
        answer!(layout!((5,{d(12)}) : (3,30)).try_upcast(int!(3)), "(5,12):(1,10)"),
        answer!(layout!({d(2)} : 1).try_upcast(int!(2)), "1:1"),
        answer!(layout!(2 : 1).try_upcast(int!(1)), "2:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn downcast() {
    let answered = [
        answer!(layout!(({d(2)},(5,5)) : ({d(5)},(1,10))).try_downcast(int!(4)), "(2,(20,5)):(20,(1,40))"),
        answer!(layout!({d(8)} : 1).try_downcast(int!(3)), "24:1"),
        answer!(layout!((4,4,2) : (1,16,8)).try_downcast(int!(3)), "(12,4,2):(1,48,24)"),
        answer!(layout!((6,3,({d(12)})) : (3,{d(18)},(54))).try_downcast(int!(1)), "(6,3,(12)):(3,18,(54))"),
        answer!(layout!({d(2)} : 1).try_downcast(int!(4)), "8:1"),
        answer!(layout!((4,(2),2) : (4,(1),{d(2)})).try_downcast(int!(2)), "(4,(4),2):(8,(1),4)"),
        answer!(layout!((1,2,{d(4)}) : (3,12,3)).try_downcast(int!(1)), "(1,2,4):(3,12,3)"),
        answer!(layout!((3,{d(1)}) : (1,3)).try_downcast(int!(4)), "(12,1):(1,12)"),
        answer!(layout!((({d(4)}),6,2) : ((12),{d(2)},{d(48)})).try_downcast(int!(1)), "((4),6,2):((12),2,48)"),
        answer!(layout!(12 : {d(3)}).try_downcast(int!(1)), "12:3"),
        answer!(layout!(4 : 1).try_downcast(int!(4)), "16:1"),
        answer!(layout!(({d(2)},{d(8)}) : (8,{d(1)})).try_downcast(int!(3)), "(2,24):(24,1)"),
        answer!(layout!(({d(5)},2,{d(2)},6) : ({d(8)},{d(2)},1,40)).try_downcast(int!(4)), "(5,2,8,6):(32,8,1,160)"),
        answer!(layout!(({d(5)},4,(1)) : (2,20,({d(1)}))).try_downcast(int!(1)), "(5,4,(1)):(2,20,(1))"),
        answer!(layout!((12,{d(8)},{d(4)}) : (8,0,1)).try_downcast(int!(8)), "(12,8,32):(64,0,1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn recast() {
    let answered = [
        answer!(layout!({d(6)} : 1).try_recast(int!(48), int!(8)), "36:1"),
        answer!(layout!((12,12,12,4) : (0,1,{d(2304)},12)).try_recast(int!(16), int!(16)), "(12,12,12,4):(0,1,2304,12)"),
        answer!(layout!((2,4,5) : (1,2,16)).try_recast(int!(16), int!(4)), "(8,4,5):(1,8,64)"),
        answer!(layout!((2,{d(4)}) : (0,2)).try_recast(int!(4), int!(48)), "(2,1):(0,1)"),
        answer!(layout!((4,5,{d(2)},3) : (6,144,{d(3)},{d(24)})).try_recast(int!(4), int!(48)), "(2,5,1,3):(1,12,1,2)"),
        answer!(layout!(12 : {d(1)}).try_recast(int!(4), int!(4)), "12:1"),
        answer!(layout!((8,12,1,6) : (2,96,16,16)).try_recast(int!(16), int!(16)), "(8,12,1,6):(2,96,16,16)"),
        answer!(layout!(({d(3)},{d(2)}) : ({d(1)},{d(3)})).try_recast(int!(48), int!(16)), "(9,2):(1,9)"),
        answer!(layout!({d(5)} : {d(1)}).try_recast(int!(48), int!(4)), "60:1"),
        answer!(layout!(6 : {d(1)}).try_recast(int!(48), int!(8)), "36:1"),
        answer!(layout!((3,{d(2)},2,8) : (8,192,48,1)).try_recast(int!(4), int!(16)), "(3,2,2,2):(2,48,12,1)"),
        answer!(layout!({d(8)} : 1).try_recast(int!(4), int!(16)), "2:1"),
        answer!(layout!((5,{d(12)},{d(6)},6) : (0,{d(6)},{d(72)},1)).try_recast(int!(32), int!(16)), "(5,12,6,12):(0,12,144,1)"),
        answer!(layout!(4 : 1).try_recast(int!(16), int!(32)), "2:1"),
        answer!(layout!(4 : 1).try_recast(int!(16), int!(32)), "2:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn quasi_inverse() {
    let answered = [
        unary!(quasi_inverse, layout!((2,{d(5)}) : ({d(15)},3))),
        unary!(quasi_inverse, layout!(3 : 3)),
        unary!(quasi_inverse, layout!(({d(2)},{d(4)},5) : (1,10,{d(2)}))),
        unary!(quasi_inverse, layout!(((2),3,2) : ((1),4,2))),
        unary!(quasi_inverse, layout!((2,(8),6) : (288,(0),24))),
        unary!(quasi_inverse, layout!((4,{d(1)},(1,2)) : ({d(4)},2,({d(4)},{d(2)})))),
        unary!(quasi_inverse, layout!(3 : 0)),
        unary!(quasi_inverse, layout!(({d(8)},2) : (0,1))),
        unary!(quasi_inverse, layout!((6,3) : (6,0))),
        unary!(quasi_inverse, layout!(3 : 1)),
        unary!(quasi_inverse, layout!((5,12) : (12,1))),
        unary!(quasi_inverse, layout!((2,2,2,8) : (64,32,2,{d(4)}))),
        unary!(quasi_inverse, layout!(({d(1)},{d(12)}) : ({d(1)},{d(1)}))),
        unary!(quasi_inverse, layout!((4,{d(6)}) : (12,1))),
        unary!(quasi_inverse, layout!((4,{d(4)}) : ({d(2)},8))),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn nullspace() {
    let answered = [
        answer!(layout!({d(5)} : 1).try_nullspace(), "1:0"),
        answer!(layout!((12,{d(8)},1) : (8,1,96)).try_nullspace(), "1:0"),
        answer!(layout!((({d(6)},{d(12)},6)) : (({d(12)},1,72))).try_nullspace(), "1:0"),
        answer!(layout!(8 : 1).try_nullspace(), "1:0"),
        answer!(layout!((2,{d(5)}) : (1,0)).try_nullspace(), "5:2"),
        answer!(layout!((4,8,8,1) : ({d(64)},1,8,64)).try_nullspace(), "1:0"),
        answer!(layout!(({d(4)},(12),5) : (0,({d(24)}),{d(288)})).try_nullspace(), "4:1"),
        answer!(layout!(({d(6)},{d(3)},{d(2)},2) : (0,3,108,{d(216)})).try_nullspace(), "6:1"),
        answer!(layout!((2,({d(1)},{d(4)}),1) : ({d(1)},(2,4),2)).try_nullspace(), "1:0"),
        answer!(layout!(((4,2),{d(12)}) : (({d(4)},1),16)).try_nullspace(), "1:0"),
        answer!(layout!(5 : {d(1)}).try_nullspace(), "1:0"),
        answer!(layout!(({d(5)},12,{d(1)},4) : ({d(1)},{d(5)},1,{d(60)})).try_nullspace(), "1:0"),
        answer!(layout!(({d(4)},{d(6)}) : ({d(1)},{d(4)})).try_nullspace(), "1:0"),
        answer!(layout!(({d(4)},2) : ({d(1)},4)).try_nullspace(), "1:0"),
        answer!(layout!((6,{d(3)},4,{d(2)}) : ({d(3)},{d(1)},18,0)).try_nullspace(), "2:72"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn max_common_layout() {
    let answered = [
        common!(layout!((8,2) : (1,{d(8)})), layout!(4 : 1)),
        common!(layout!({d(12)} : 0), layout!((1,(4,1)) : ({d(12)},({d(3)},0)))),
        common!(layout!({d(8)} : 1), layout!(2 : 1)),
        common!(layout!((4,6,{d(2)}) : (24,1,6)), layout!(2 : 2)),
        common!(layout!(5 : 1), layout!(4 : {d(1)})),
        common!(layout!((8,(6,12)) : ({d(1)},(0,{d(48)}))), layout!(6 : {d(1)})),
        common!(layout!(12 : 1), layout!((3,5) : (1,{d(6)}))),
        common!(layout!(({d(2)},(4,3),{d(5)}) : (1,({d(30)},10),{d(2)})), layout!(2 : {d(1)})),
        common!(layout!(((6,1),{d(6)}) : (({d(1)},6),6)), layout!((4,{d(12)}) : ({d(1)},8))),
        common!(layout!((4,{d(3)}) : (1,{d(4)})), layout!(({d(3)},4,{d(12)}) : (1,3,24))),
        common!(layout!(({d(2)},8,1,8) : (1,{d(2)},16,16)), layout!(({d(5)},6) : (1,{d(10)}))),
        common!(layout!(({d(4)},2) : (1,4)), layout!((4,{d(3)},(2)) : (1,{d(8)},(0)))),
        common!(layout!(8 : 1), layout!(5 : 1)),
        common!(layout!(({d(8)},12) : (1,8)), layout!(8 : {d(1)})),
        common!(layout!(5 : 0), layout!((1,1,({d(2)})) : ({d(2)},0,(1)))),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn max_common_vector() {
    let answered = [
        number!(layout!((4,{d(12)},3,4) : (1,4,{d(48)},144)).try_max_common_vector(layout!((2,(5),12) : (1,(24),2))), "2:0"),
        number!(layout!((6,8) : (1,6)).try_max_common_vector(layout!(({d(4)},4) : (1,8))), "4:0"),
        number!(layout!((4,{d(5)},1) : ({d(1)},{d(8)},{d(40)})).try_max_common_vector(layout!({d(4)} : {d(1)})), "4:0"),
        number!(layout!((2,4,5,6) : ({d(1)},{d(60)},12,2)).try_max_common_vector(layout!(2 : 1)), "2:0"),
        number!(layout!((2,{d(8)}) : (1,4)).try_max_common_vector(layout!(3 : {d(1)})), "2:0"),
        number!(layout!(4 : 1).try_max_common_vector(layout!(({d(5)},{d(3)}) : (1,5))), "4:0"),
        number!(layout!(4 : {d(1)}).try_max_common_vector(layout!(({d(8)},6,1) : ({d(1)},8,{d(1)}))), "4:0"),
        number!(layout!(({d(2)},2,{d(3)},{d(2)}) : (1,12,{d(4)},2)).try_max_common_vector(layout!((2,{d(6)}) : ({d(1)},0))), "2:0"),
        number!(layout!({d(2)} : {d(1)}).try_max_common_vector(layout!((1,(12,1)) : (12,(1,1)))), "2:0"),
        number!(layout!(((12,{d(6)}),8) : ((1,12),{d(72)})).try_max_common_vector(layout!((2,{d(3)}) : (1,{d(2)}))), "6:0"),
        number!(layout!({d(4)} : 1).try_max_common_vector(layout!(({d(1)},3) : (3,{d(1)}))), "3:0"),
        number!(layout!((1,{d(12)},{d(2)}) : (1,{d(1)},{d(12)})).try_max_common_vector(layout!(({d(2)},(2),{d(4)}) : (1,(2),{d(8)}))), "4:0"),
        number!(layout!(2 : {d(1)}).try_max_common_vector(layout!({d(12)} : {d(1)})), "2:0"),
        number!(layout!(({d(6)},4,5) : (1,30,6)).try_max_common_vector(layout!(({d(2)},8) : ({d(32)},2))), "1:0"),
        number!(layout!((6,4,(4),4) : (1,48,({d(6)}),{d(384)})).try_max_common_vector(layout!((8,3,2) : (3,1,48))), "1:0"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn max_alignment() {
    let answered = [
        number!(layout!(({d(1)},{d(12)},2) : ({d(96)},1,24)).try_max_alignment(), "12:0"),
        number!(layout!((4,{d(8)}) : ({d(1)},{d(4)})).try_max_alignment(), "32:0"),
        number!(layout!(({d(3)},2,5) : ({d(2)},30,6)).try_max_alignment(), "1:0"),
        number!(layout!((4,{d(12)}) : (12,0)).try_max_alignment(), "1:0"),
        number!(layout!(8 : 2).try_max_alignment(), "1:0"),
        number!(layout!(({d(4)},({d(4)},4)) : ({d(4)},(16,1))).try_max_alignment(), "64:0"),
        number!(layout!(8 : 0).try_max_alignment(), "1:0"),
        number!(layout!(12 : {d(2)}).try_max_alignment(), "1:0"),
        number!(layout!((12,3,3) : (1,{d(36)},{d(12)})).try_max_alignment(), "108:0"),
        number!(layout!(({d(5)},{d(2)}) : ({d(4)},{d(2)})).try_max_alignment(), "1:0"),
        number!(layout!(({d(8)},3,{d(12)},12) : (24,{d(4608)},384,{d(2)})).try_max_alignment(), "1:0"),
        number!(layout!((3,2,3) : ({d(9)},27,3)).try_max_alignment(), "1:0"),
        number!(layout!(({d(5)},2) : ({d(2)},{d(1)})).try_max_alignment(), "10:0"),
        number!(layout!(({d(1)},{d(4)},(12)) : ({d(12)},12,(1))).try_max_alignment(), "48:0"),
        number!(layout!({d(3)} : 1).try_max_alignment(), "3:0"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn domain_distribute() {
    let answered = [
        answer!(Layout::try_domain_distribute(int_tuple!(2), int!(32)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(2), int!(12)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(8)},{d(8)})), int!(12)), "4:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((12,(4,2))), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((({d(5)}),4,{d(1)})), int!(12)), "4:5"),
        answer!(Layout::try_domain_distribute(int_tuple!((4,{d(4)})), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(1)},6)), int!(12)), "6:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(8)},{d(4)},{d(4)},4)), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(3), int!(2)), "1:0"),
        answer!(Layout::try_domain_distribute(int_tuple!({d(4)}), int!(4)), "4:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((2,1,5,2)), int!(6)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(8)},{d(12)},(2))), int!(32)), "32:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(2)},4,({d(2)}),4)), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(4), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(2)},8)), int!(8)), "8:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn tile_to_shape() {
    let answered = [
        answer!(layout!(2 : {d(1)}).try_tile_to_shape(int_tuple!((2,{d(4)}))), "((2,1),(1,4)):((1,0),(0,2))"),
        answer!(layout!((2,2) : (1,2)).try_tile_to_shape(int_tuple!((4,6))), "((2,2),(2,3)):((1,4),(2,8))"),
        answer!(layout!(12 : {d(1)}).try_tile_to_shape(int_tuple!((36,3))), "((12,3),(1,3)):((1,12),(0,36))"),
        answer!(layout!(4 : 1).try_tile_to_shape(int_tuple!(16)), "((4,4)):((1,4))"),
        answer!(layout!({d(2)} : {d(1)}).try_tile_to_shape(int_tuple!((4,1))), "((2,2),(1,1)):((1,2),(0,0))"),
        answer!(layout!((4,{d(4)},2) : (2,0,1)).try_tile_to_shape(int_tuple!((4,{d(8)},8,3))), "((4,1),(4,2),(2,4),(1,3)):((2,0),(0,8),(1,16),(0,64))"),
        answer!(layout!((6,4,(3)) : (6,36,({d(2)}))).try_tile_to_shape(int_tuple!(({d(24)},{d(12)},9,3))), "((6,(2,2)),(4,3),((3),3),(1,3)):((6,(1,144)),(36,288),((2),864),(0,2592))"),
        answer!(layout!(({d(2)},{d(2)}) : (1,2)).try_tile_to_shape(int_tuple!(({d(6)},4,{d(3)}))), "((2,3),(2,2),(1,3)):((1,4),(2,12),(0,24))"),
        answer!(layout!(6 : 1).try_tile_to_shape(int_tuple!((12,4))), "((6,2),(1,4)):((1,6),(0,12))"),
        answer!(layout!(({d(3)},6) : (6,1)).try_tile_to_shape(int_tuple!((6,6,{d(1)}))), "((3,2),(6,1),(1,1)):((6,18),(1,0),(0,0))"),
        answer!(layout!(5 : 1).try_tile_to_shape(int_tuple!(({d(20)},1))), "((5,4),(1,1)):((1,5),(0,0))"),
        answer!(layout!((8,{d(5)}) : (0,2)).try_tile_to_shape(int_tuple!(({d(16)},5,{d(3)}))), "((8,2),(5,1),(1,3)):((0,1),(2,0),(0,10))"),
        answer!(layout!((1,5) : ({d(1)},1)).try_tile_to_shape(int_tuple!((2,15))), "((1,2),(5,3)):((1,5),(1,10))"),
        answer!(layout!(2 : 1).try_tile_to_shape(int_tuple!((6,{d(2)}))), "((2,3),(1,2)):((1,2),(0,6))"),
        answer!(layout!((12,4,2) : (1,12,48)).try_tile_to_shape(int_tuple!((36,{d(12)},4,2))), "((12,3),(4,3),(2,2),(1,2)):((1,96),(12,288),(48,864),(0,1728))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn tile_to_shape_by() {
    let answered = [
        answer!(layout!(({d(2)},4,{d(5)}) : (20,1,{d(4)})).try_tile_to_shape_by(int_tuple!(({d(2)},{d(16)},15)), int_tuple!((2,1,0))), "((2,1),(4,4),(5,3)):((20,0),(1,120),(4,40))"),
        answer!(layout!((3,{d(4)},2) : (0,0,3)).try_tile_to_shape_by(int_tuple!((6,4,2,1)), int_tuple!((3,1,0,2))), "((3,2),(4,1),(2,1),(1,1)):((0,1),(0,0),(3,0),(0,0))"),
        answer!(layout!((1,6,8) : (48,1,6)).try_tile_to_shape_by(int_tuple!(({d(1)},{d(6)},16,{d(1)})), int_tuple!((2,1,3,0))), "((1,1),(6,1),(8,2),(1,1)):((48,0),(1,0),(6,48),(0,0))"),
        answer!(layout!(({d(12)},1) : (1,12)).try_tile_to_shape_by(int_tuple!((12,{d(3)},4)), int_tuple!((0,2,1))), "((12,1),(1,3),(1,4)):((1,0),(12,48),(0,12))"),
        answer!(layout!((1,5) : ({d(1)},2)).try_tile_to_shape_by(int_tuple!(({d(1)},20)), int_tuple!((0,1))), "((1,1),(5,(2,2))):((1,0),(2,(1,10)))"),
        answer!(layout!(({d(1)},5) : ({d(10)},{d(2)})).try_tile_to_shape_by(int_tuple!(({d(2)},20,1)), int_tuple!((2,0,1))), "((1,2),(5,(2,2)),(1,1)):((10,20),(2,(1,10)),(0,0))"),
        answer!(layout!(6 : 1).try_tile_to_shape_by(int_tuple!((6,4)), int_tuple!((0,1))), "((6,1),(1,4)):((1,0),(0,6))"),
        answer!(layout!((3,4) : (1,0)).try_tile_to_shape_by(int_tuple!((9,{d(8)})), int_tuple!((0,1))), "((3,3),(4,2)):((1,3),(0,9))"),
        answer!(layout!((1,{d(1)}) : ({d(1)},1)).try_tile_to_shape_by(int_tuple!((4,2)), int_tuple!((0,1))), "((1,4),(1,2)):((1,1),(1,4))"),
        answer!(layout!((4,2) : ({d(2)},1)).try_tile_to_shape_by(int_tuple!((12,{d(8)},3)), int_tuple!((2,1,0))), "((4,3),(2,4),(1,3)):((2,96),(1,24),(0,8))"),
        answer!(layout!((4,{d(6)},3,1) : (18,1,{d(6)},72)).try_tile_to_shape_by(int_tuple!((16,6,{d(6)},4)), int_tuple!((2,0,1,3))), "((4,4),(6,1),(3,2),(1,4)):((18,144),(1,0),(6,72),(72,576))"),
        answer!(layout!((1,3,({d(1)})) : (0,{d(1)},(3))).try_tile_to_shape_by(int_tuple!((1,9,1,3)), int_tuple!((1,0,2,3))), "((1,1),(3,3),((1),1),(1,3)):((0,0),(1,3),((3),0),(0,9))"),
        answer!(layout!(((2,2,6)) : ((6,{d(12)},0))).try_tile_to_shape_by(int_tuple!((72,2)), int_tuple!((1,0))), "(((2,2,6),3),(1,2)):(((6,12,0),2),(0,1))"),
        answer!(layout!(({d(8)},{d(4)}) : (8,{d(1)})).try_tile_to_shape_by(int_tuple!(({d(16)},4)), int_tuple!((0,1))), "((8,2),(4,1)):((8,4),(1,0))"),
        answer!(layout!(({d(2)},({d(8)},1)) : (8,(1,{d(1)}))).try_tile_to_shape_by(int_tuple!((6,8)), int_tuple!((0,1))), "((2,3),((8,1),1)):((8,16),((1,1),0))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn composition_past_the_end() {
    let answered = [
        answer!(layout!(((8,8),{d(4)}) : (({d(1)},32),8)).try_composition(int!(512)), "(8,8,8):(1,32,8)"),
        answer!(layout!(8 : {d(1)}).try_composition(int!(16)), "16:1"),
        answer!(layout!(({d(6)},{d(8)},{d(12)},1) : ({d(288)},0,24,288)).try_composition(int!(1152)), "(6,8,24):(288,0,24)"),
        answer!(layout!((({d(12)},3),{d(6)}) : ((3,1),36)).try_composition(int!(432)), "(12,3,12):(3,1,36)"),
        answer!(layout!((6,12) : (12,0)).try_composition(int!(144)), "(6,24):(12,0)"),
        answer!(layout!(5 : 1).try_composition(int!(10)), "10:1"),
        answer!(layout!(2 : 1).try_composition(int!(4)), "4:1"),
        answer!(layout!((4,1,({d(2)},8)) : (1,{d(4)},(4,16))).try_composition(int!(128)), "(8,16):(1,16)"),
        answer!(layout!((3,{d(4)}) : (0,{d(3)})).try_composition(int!(24)), "(3,8):(0,3)"),
        answer!(layout!({d(1)} : 1).try_composition(int!(2)), "2:1"),
        answer!(layout!(({d(3)},3) : (3,9)).try_composition(int!(18)), "18:3"),
        answer!(layout!(({d(8)},12) : (36,3)).try_composition(int!(192)), "(8,24):(36,3)"),
        answer!(layout!((3,4) : (4,1)).try_composition(int!(24)), "(3,8):(4,1)"),
        answer!(layout!({d(5)} : 1).try_composition(int!(10)), "10:1"),
        answer!(layout!({d(5)} : {d(1)}).try_composition(int!(10)), "10:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn reverse() {
    let answered = [
        answer!(Ok(layout!(({d(4)},(2,{d(8)}),2) : ({d(1)},(32,{d(4)}),64)).reverse()), "(2,(2,8),4):(64,(32,4),1)"),
        answer!(Ok(layout!(4 : 2).reverse()), "4:2"),
        answer!(Ok(layout!((2,6,6,{d(2)}) : (72,{d(1)},6,{d(36)})).reverse()), "(2,6,6,2):(36,6,1,72)"),
        answer!(Ok(layout!(({d(4)},({d(2)},2)) : ({d(2)},(8,1))).reverse()), "((2,2),4):((8,1),2)"),
        answer!(Ok(layout!((2,6,{d(1)},2) : (3,6,0,36)).reverse()), "(2,1,6,2):(36,0,6,3)"),
        answer!(Ok(layout!((3,(6,2)) : (12,(1,36))).reverse()), "((6,2),3):((1,36),12)"),
        answer!(Ok(layout!((4,(12,{d(2)}),{d(6)}) : (24,(96,2304),2)).reverse()), "(6,(12,2),4):(2,(96,2304),24)"),
        answer!(Ok(layout!((8,6,2,1) : (4,32,{d(2)},2)).reverse()), "(1,2,6,8):(2,2,32,4)"),
        answer!(Ok(layout!((4,({d(1)}),{d(1)},2) : ({d(8)},(2),1,4)).reverse()), "(2,1,(1),4):(4,1,(2),8)"),
        answer!(Ok(layout!(4 : 1).reverse()), "4:1"),
        answer!(Ok(layout!(({d(2)},(5),{d(1)}) : (2,(8),{d(8)})).reverse()), "(1,(5),2):(8,(8),2)"),
        answer!(Ok(layout!((12,4) : (1,12)).reverse()), "(4,12):(12,1)"),
        answer!(Ok(layout!((2,2,({d(1)})) : (2,{d(1)},({d(2)}))).reverse()), "((1),2,2):((2),1,2)"),
        answer!(Ok(layout!(8 : 2).reverse()), "8:2"),
        answer!(Ok(layout!((4,6,1) : ({d(1)},8,{d(8)})).reverse()), "(1,6,4):(8,8,1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn zip() {
    let answered = [
        answer!(Ok(layout!(3 : 1).zip(layout!(1 : {d(1)}))), "((3,1)):((1,1))"),
        answer!(Ok(layout!(5 : 1).zip(layout!(12 : 1))), "((5,12)):((1,1))"),
        answer!(Ok(layout!((4,4,{d(3)}) : (6,0,0)).zip(layout!((4,8,4) : ({d(1)},{d(8)},64)))), "((4,4),(4,8),(3,4)):((6,1),(0,8),(0,64))"),
        answer!(Ok(layout!(6 : 3).zip(layout!({d(2)} : 1))), "((6,2)):((3,1))"),
        answer!(Ok(layout!({d(1)} : 1).zip(layout!(4 : 1))), "((1,4)):((1,1))"),
        answer!(Ok(layout!({d(6)} : 1).zip(layout!(6 : 0))), "((6,6)):((1,0))"),
        answer!(Ok(layout!((3,({d(8)},{d(2)}),4) : ({d(6)},(72,3),18)).zip(layout!((2,4,5) : ({d(20)},1,4)))), "((3,2),((8,2),4),(4,5)):((6,20),((72,3),1),(18,4))"),
        answer!(Ok(layout!((2,{d(4)},(8)) : ({d(8)},{d(1)},(16))).zip(layout!((3,4,({d(1)})) : (1,3,({d(1)}))))), "((2,3),(4,4),((8),(1))):((8,1),(1,3),((16),(1)))"),
        answer!(Ok(layout!(4 : {d(3)}).zip(layout!(4 : 0))), "((4,4)):((3,0))"),
        answer!(Ok(layout!(((6,3),4,2) : ((0,{d(192)}),{d(2)},1)).zip(layout!(({d(2)},{d(4)},12) : (1,{d(2)},{d(8)})))), "(((6,3),2),(4,4),(2,12)):(((0,192),1),(2,2),(1,8))"),
        answer!(Ok(layout!(({d(2)},{d(4)}) : (1,2)).zip(layout!(({d(4)},4) : ({d(16)},2)))), "((2,4),(4,4)):((1,16),(2,2))"),
        answer!(Ok(layout!((2,(5),8) : (16,(64),0)).zip(layout!(((4),2,4) : ((2),0,16)))), "((2,(4)),((5),2),(8,4)):((16,(2)),((64),0),(0,16))"),
        answer!(Ok(layout!({d(1)} : 1).zip(layout!(2 : 1))), "((1,2)):((1,1))"),
        answer!(Ok(layout!(12 : 1).zip(layout!(12 : {d(1)}))), "((12,12)):((1,1))"),
        answer!(Ok(layout!(({d(6)},{d(4)}) : (8,{d(1)})).zip(layout!(({d(1)},{d(5)}) : (20,0)))), "((6,1),(4,5)):((8,20),(1,0))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn dice() {
    let answered = [
        answer!(Ok(layout!(({d(4)},{d(2)},(1)) : (2,8,({d(2)}))).dice((0usize, 0usize, (__,),))), "(4,2):(2,8)"),
        answer!(Ok(layout!((6,1,{d(12)}) : (0,18,18)).dice((0usize, 0usize, 0usize,))), "(6,1,12):(0,18,18)"),
        answer!(Ok(layout!(((8),6,4,1) : ((6),{d(1)},48,48)).dice(((0usize,), 0usize, 0usize, 0usize,))), "(8,6,4,1):(6,1,48,48)"),
        answer!(Ok(layout!((6,{d(2)},{d(4)}) : (4,{d(24)},1)).dice((0usize, 0usize, __,))), "(6,2):(4,24)"),
        answer!(Ok(layout!((2,{d(5)}) : ({d(1)},{d(2)})).dice((__, 0usize,))), "(5):(2)"),
        answer!(Ok(layout!((2,3,(5)) : (3,0,(6))).dice((__, 0usize, (0usize,),))), "(3,5):(0,6)"),
        answer!(Ok(layout!((({d(2)},12,1)) : ((1,4,4))).dice(((0usize, 0usize, 0usize,),))), "(2,12,1):(1,4,4)"),
        answer!(Ok(layout!({d(4)} : 1).dice(0usize)), "4:1"),
        answer!(Ok(layout!(({d(4)},8,(2)) : (2,8,({d(1)}))).dice((0usize, __, (0usize,),))), "(4,2):(2,1)"),
        answer!(Ok(layout!(2 : 2).dice(0usize)), "2:2"),
        answer!(Ok(layout!((4,2,{d(4)}) : (4,16,{d(1)})).dice((0usize, __, __,))), "(4):(4)"),
        answer!(Ok(layout!(({d(2)},(2,6,2)) : (72,(0,{d(3)},{d(18)}))).dice((0usize, (0usize, 0usize, __,),))), "(2,2,6):(72,0,3)"),
        answer!(Ok(layout!(({d(4)},{d(2)},1,6) : ({d(12)},48,12,2)).dice((0usize, __, __, 0usize,))), "(4,6):(12,2)"),
        answer!(Ok(layout!(({d(5)},2) : ({d(2)},1)).dice((0usize, __,))), "(5):(2)"),
        answer!(Ok(layout!(({d(3)},6) : ({d(6)},{d(1)})).dice((0usize, 0usize,))), "(3,6):(6,1)"),
    ];
    support::enough(&answered, 60);
}
