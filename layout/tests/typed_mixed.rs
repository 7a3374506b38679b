//! The typed layer against the run-time layer: static and dynamic operands.
//!
//! Written by `typed_generator.rs`.

#[macro_use]
#[path = "typed_support/mixed.rs"]
mod support;

use girih_layout::typed::{__, Layout};
use girih_layout::{int, int_tuple, layout};
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
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
    support::enough(&answered, 75);
}

#[test]
#[rustfmt::skip]
fn left() {
    let answered = [
        answer!(Layout::try_left(int_tuple!((6,{d(2)},5))), "(6,2,5):(1,6,12)"),
        answer!(Layout::try_left(int_tuple!((4,({d(1)},3),3))), "(4,(1,3),3):(1,(0,4),12)"),
        answer!(Layout::try_left(int_tuple!((6,8))), "(6,8):(1,6)"),
        answer!(Layout::try_left(int_tuple!({d(12)})), "12:1"),
        answer!(Layout::try_left(int_tuple!(({d(4)},{d(5)}))), "(4,5):(1,4)"),
        answer!(Layout::try_left(int_tuple!(({d(5)},12))), "(5,12):(1,5)"),
        answer!(Layout::try_left(int_tuple!({d(3)})), "3:1"),
        answer!(Layout::try_left(int_tuple!(({d(3)},2))), "(3,2):(1,3)"),
        answer!(Layout::try_left(int_tuple!((6,{d(12)}))), "(6,12):(1,6)"),
        answer!(Layout::try_left(int_tuple!(({d(12)},5,6,5))), "(12,5,6,5):(1,12,60,360)"),
        answer!(Layout::try_left(int_tuple!(((1,{d(5)},{d(4)},2)))), "((1,5,4,2)):((0,1,5,20))"),
        answer!(Layout::try_left(int_tuple!((2,{d(8)}))), "(2,8):(1,2)"),
        answer!(Layout::try_left(int_tuple!(({d(5)},6))), "(5,6):(1,5)"),
        answer!(Layout::try_left(int_tuple!({d(5)})), "5:1"),
        answer!(Layout::try_left(int_tuple!((3,6,({d(5)},8)))), "(3,6,(5,8)):(1,3,(18,90))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn right() {
    let answered = [
        answer!(Layout::try_right(int_tuple!(2)), "2:1"),
        answer!(Layout::try_right(int_tuple!((1,6))), "(1,6):(0,1)"),
        answer!(Layout::try_right(int_tuple!((8,4,{d(4)}))), "(8,4,4):(16,4,1)"),
        answer!(Layout::try_right(int_tuple!(((3),2,{d(4)}))), "((3),2,4):((8),4,1)"),
        answer!(Layout::try_right(int_tuple!((2,{d(4)},1,(3)))), "(2,4,1,(3)):(12,3,0,(1))"),
        answer!(Layout::try_right(int_tuple!(2)), "2:1"),
        answer!(Layout::try_right(int_tuple!((4,4,({d(1)})))), "(4,4,(1)):(4,1,(0))"),
        answer!(Layout::try_right(int_tuple!((8,(2,6)))), "(8,(2,6)):(12,(6,1))"),
        answer!(Layout::try_right(int_tuple!((6,6,(2)))), "(6,6,(2)):(12,2,(1))"),
        answer!(Layout::try_right(int_tuple!(4)), "4:1"),
        answer!(Layout::try_right(int_tuple!((5,{d(3)},4,3))), "(5,3,4,3):(36,12,3,1)"),
        answer!(Layout::try_right(int_tuple!((1,{d(6)},4))), "(1,6,4):(0,4,1)"),
        answer!(Layout::try_right(int_tuple!((2,(3,{d(2)},2)))), "(2,(3,2,2)):(12,(4,2,1))"),
        answer!(Layout::try_right(int_tuple!(5)), "5:1"),
        answer!(Layout::try_right(int_tuple!((8,2))), "(8,2):(2,1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn ordered() {
    let answered = [
        answer!(Layout::try_ordered(int_tuple!((3,2)), int_tuple!((1,0))), "(3,2):(2,1)"),
        answer!(Layout::try_ordered(int_tuple!({d(4)}), int_tuple!(0)), "4:1"),
        answer!(Layout::try_ordered(int_tuple!(({d(4)},3,2,2)), int_tuple!((2,0,1,3))), "(4,3,2,2):(6,1,3,24)"),
        answer!(Layout::try_ordered(int_tuple!(({d(2)},{d(12)},4)), int_tuple!((1,2,0))), "(2,12,4):(4,8,1)"),
        answer!(Layout::try_ordered(int_tuple!((6,2,2)), int_tuple!((2,0,1))), "(6,2,2):(4,1,2)"),
        answer!(Layout::try_ordered(int_tuple!(((4,8),2,{d(4)})), int_tuple!(((1,0),3,2))), "((4,8),2,4):((8,1),128,32)"),
        answer!(Layout::try_ordered(int_tuple!(({d(5)},{d(2)},{d(5)})), int_tuple!((1,2,0))), "(5,2,5):(5,25,1)"),
        answer!(Layout::try_ordered(int_tuple!(6), int_tuple!(0)), "6:1"),
        answer!(Layout::try_ordered(int_tuple!((2,{d(1)},5)), int_tuple!((1,0,2))), "(2,1,5):(1,0,2)"),
        answer!(Layout::try_ordered(int_tuple!(4), int_tuple!(0)), "4:1"),
        answer!(Layout::try_ordered(int_tuple!(({d(8)},{d(5)})), int_tuple!((1,0))), "(8,5):(5,1)"),
        answer!(Layout::try_ordered(int_tuple!((3,4)), int_tuple!((0,1))), "(3,4):(1,3)"),
        answer!(Layout::try_ordered(int_tuple!((2,5,{d(6)},1)), int_tuple!((3,0,1,2))), "(2,5,6,1):(30,1,5,0)"),
        answer!(Layout::try_ordered(int_tuple!({d(8)}), int_tuple!(0)), "8:1"),
        answer!(Layout::try_ordered(int_tuple!(2), int_tuple!(0)), "2:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn compact_like() {
    let answered = [
        answer!(layout!({d(3)} : 1).try_compact_like(), "3:1"),
        answer!(layout!((8,{d(12)}) : (72,3)).try_compact_like(), "(8,12):(12,1)"),
        answer!(layout!((1,{d(2)},8,2) : (2,1,4,32)).try_compact_like(), "(1,2,8,2):(0,1,2,16)"),
        answer!(layout!((2,{d(3)}) : (1,2)).try_compact_like(), "(2,3):(1,2)"),
        answer!(layout!((4,2,4) : ({d(4)},{d(2)},{d(16)})).try_compact_like(), "(4,2,4):(2,1,8)"),
        answer!(layout!(3 : {d(2)}).try_compact_like(), "3:1"),
        answer!(layout!(({d(2)},6) : (0,4)).try_compact_like(), "(2,6):(0,1)"),
        answer!(layout!((4,5,4) : (0,{d(3)},60)).try_compact_like(), "(4,5,4):(0,1,5)"),
        answer!(layout!((2,8) : (24,{d(3)})).try_compact_like(), "(2,8):(8,1)"),
        answer!(layout!(3 : 1).try_compact_like(), "3:1"),
        answer!(layout!((3,4,({d(5)}),6) : (0,180,(36),{d(1)})).try_compact_like(), "(3,4,(5),6):(0,30,(6),1)"),
        answer!(layout!({d(2)} : {d(1)}).try_compact_like(), "2:1"),
        answer!(layout!(8 : 2).try_compact_like(), "8:1"),
        answer!(layout!((3,4,({d(6)})) : (1,3,(12))).try_compact_like(), "(3,4,(6)):(1,3,(12))"),
        answer!(layout!((4,5,5,6) : (5,{d(20)},1,{d(100)})).try_compact_like(), "(4,5,5,6):(5,20,1,100)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn fragment_like() {
    let answered = [
        answer!(layout!({d(3)} : 3).try_fragment_like(), "3:1"),
        answer!(layout!({d(3)} : 1).try_fragment_like(), "3:1"),
        answer!(layout!((8,12,6,({d(3)})) : (1,8,96,(576))).try_fragment_like(), "(8,12,6,(3)):(1,8,96,(576))"),
        answer!(layout!({d(2)} : {d(1)}).try_fragment_like(), "2:1"),
        answer!(layout!({d(3)} : 1).try_fragment_like(), "3:1"),
        answer!(layout!(({d(2)},(12),3,12) : (2592,(216),36,3)).try_fragment_like(), "(2,(12),3,12):(1,(72),24,2)"),
        answer!(layout!((2,5,5) : (20,{d(40)},{d(2)})).try_fragment_like(), "(2,5,5):(1,10,2)"),
        answer!(layout!(2 : 1).try_fragment_like(), "2:1"),
        answer!(layout!((4,6,{d(2)}) : (6,{d(1)},0)).try_fragment_like(), "(4,6,2):(1,8,4)"),
        answer!(layout!((6,{d(2)},4) : ({d(1)},24,6)).try_fragment_like(), "(6,2,4):(1,24,6)"),
        answer!(layout!(({d(2)},3,1,2) : ({d(1)},{d(2)},24,6)).try_fragment_like(), "(2,3,1,2):(1,2,0,6)"),
        answer!(layout!(({d(6)},2,2,3) : (18,0,216,3)).try_fragment_like(), "(6,2,2,3):(1,6,36,12)"),
        answer!(layout!((3,6,({d(3)},4)) : ({d(144)},{d(2)},(12,36))).try_fragment_like(), "(3,6,(3,4)):(1,3,(18,54))"),
        answer!(layout!(1 : {d(1)}).try_fragment_like(), "1:0"),
        answer!(layout!(4 : 3).try_fragment_like(), "4:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn with_shape() {
    let answered = [
        answer!(layout!(4 : 1).try_with_shape(int_tuple!({d(4)})), "4:1"),
        answer!(layout!(({d(4)},12) : (1,4)).try_with_shape(int_tuple!((24,{d(2)}))), "(24,2):(1,24)"),
        answer!(layout!((1,{d(2)},5) : (0,1,2)).try_with_shape(int_tuple!((5,{d(2)}))), "(5,2):(1,5)"),
        answer!(layout!((8,12,3) : (1,24,{d(8)})).try_with_shape(int_tuple!(({d(96)},3))), "((8,12),3):((1,24),8)"),
        answer!(layout!((3,3,8,4) : (3,1,9,72)).try_with_shape(int_tuple!((36,{d(8)}))), "((3,3,4),8):((3,1,9),36)"),
        answer!(layout!(((2,3,2,2)) : ((4,8,24,0))).try_with_shape(int_tuple!((6,4))), "(6,(2,2)):(4,(24,0))"),
        answer!(layout!(4 : 1).try_with_shape(int_tuple!((2,{d(2)}))), "(2,2):(1,2)"),
        answer!(layout!(4 : {d(1)}).try_with_shape(int_tuple!((2,{d(2)}))), "(2,2):(1,2)"),
        answer!(layout!((2,4) : (12,0)).try_with_shape(int_tuple!((4,{d(2)}))), "((2,2),2):((12,0),0)"),
        answer!(layout!(({d(8)},(2,{d(5)})) : ({d(10)},({d(80)},0))).try_with_shape(int_tuple!(80)), "(16,5):(10,0)"),
        answer!(layout!((2,1) : (1,{d(1)})).try_with_shape(int_tuple!(2)), "2:1"),
        answer!(layout!((({d(8)},{d(8)},{d(5)},{d(8)})) : ((20,{d(160)},2,{d(1280)}))).try_with_shape(int_tuple!((64,{d(40)}))), "(64,(5,8)):(20,(2,1280))"),
        answer!(layout!((1,{d(8)}) : (8,1)).try_with_shape(int_tuple!((4,2))), "(4,2):(1,4)"),
        answer!(layout!({d(5)} : 0).try_with_shape(int_tuple!(5)), "5:0"),
        answer!(layout!((3,2,{d(4)}) : ({d(8)},{d(4)},{d(1)})).try_with_shape(int_tuple!((6,4))), "((3,2),4):((8,4),1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn filter() {
    let answered = [
        answer!(layout!(({d(4)},12,5,4) : (3,960,{d(96)},0)).try_filter(), "(4,12,5):(3,960,96)"),
        answer!(layout!(((8,6),2) : (({d(2)},16),1)).try_filter(), "(48,2):(2,1)"),
        answer!(layout!((({d(2)}),12,4,{d(3)}) : (({d(12)}),{d(1)},24,96)).try_filter(), "(2,12,12):(12,1,24)"),
        answer!(layout!(({d(6)},8,2) : ({d(48)},{d(6)},3)).try_filter(), "(6,8,2):(48,6,3)"),
        answer!(layout!((8,{d(1)}) : (1,{d(8)})).try_filter(), "8:1"),
        answer!(layout!(({d(2)},{d(3)}) : (2,{d(4)})).try_filter(), "6:2"),
        answer!(layout!(({d(3)},{d(2)},(2),{d(2)}) : (6,18,(36),{d(3)})).try_filter(), "(12,2):(6,3)"),
        answer!(layout!({d(3)} : 0).try_filter(), "1:0"),
        answer!(layout!(({d(2)},8) : (24,{d(3)})).try_filter(), "(2,8):(24,3)"),
        answer!(layout!(((6),3,12,{d(3)}) : ((36),216,1,0)).try_filter(), "(18,12):(36,1)"),
        answer!(layout!(4 : 1).try_filter(), "4:1"),
        answer!(layout!(5 : 1).try_filter(), "5:1"),
        answer!(layout!((5,12) : (2,10)).try_filter(), "60:2"),
        answer!(layout!(8 : 1).try_filter(), "8:1"),
        answer!(layout!((12,4,4) : ({d(64)},8,2)).try_filter(), "(12,4,4):(64,8,2)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn filter_zeros() {
    let answered = [
        answer!(layout!(({d(12)},{d(2)}) : (1,12)).try_filter_zeros(), "(12,2):(1,12)"),
        answer!(layout!((2,1,3,{d(2)}) : ({d(6)},6,2,1)).try_filter_zeros(), "(2,1,3,2):(6,6,2,1)"),
        answer!(layout!(({d(1)},{d(2)},{d(4)},(2)) : (1,0,4,(16))).try_filter_zeros(), "(1,1,4,(2)):(1,0,4,(16))"),
        answer!(layout!((6,2,8,({d(3)})) : ({d(96)},6,12,({d(1)}))).try_filter_zeros(), "(6,2,8,(3)):(96,6,12,(1))"),
        answer!(layout!((6,12,4) : (96,2,24)).try_filter_zeros(), "(6,12,4):(96,2,24)"),
        answer!(layout!(2 : 3).try_filter_zeros(), "2:3"),
        answer!(layout!((2,{d(8)},1,8) : (192,3,{d(384)},{d(24)})).try_filter_zeros(), "(2,8,1,8):(192,3,384,24)"),
        answer!(layout!((1,{d(4)},3,12) : (0,18,{d(3)},0)).try_filter_zeros(), "(1,4,3,1):(0,18,3,0)"),
        answer!(layout!(((8,4),4) : ((1,8),{d(32)})).try_filter_zeros(), "((8,4),4):((1,8),32)"),
        answer!(layout!((3,({d(5)},3)) : ({d(15)},({d(1)},5))).try_filter_zeros(), "(3,(5,3)):(15,(1,5))"),
        answer!(layout!(((6,3,2),{d(4)}) : (({d(6)},{d(2)},{d(1)}),36)).try_filter_zeros(), "((6,3,2),4):((6,2,1),36)"),
        answer!(layout!(4 : {d(2)}).try_filter_zeros(), "4:2"),
        answer!(layout!({d(3)} : 2).try_filter_zeros(), "3:2"),
        answer!(layout!((5,4,4) : (48,{d(3)},12)).try_filter_zeros(), "(5,4,4):(48,3,12)"),
        answer!(layout!((6,3,{d(5)},{d(2)}) : ({d(6)},{d(1)},72,360)).try_filter_zeros(), "(6,3,5,2):(6,1,72,360)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn coalesce_by() {
    let answered = [
        answer!(layout!((8,{d(2)},{d(8)},2) : (0,{d(3)},{d(48)},384)).try_coalesce_by(int_tuple!((1,1))), "(8,2,8,2):(0,3,48,384)"),
        answer!(layout!((2,(1),{d(2)},{d(1)}) : (2,({d(8)}),1,{d(4)})).try_coalesce_by(int_tuple!((1,1,1))), "(2,1,2,1):(2,0,1,4)"),
        answer!(layout!((4,5,{d(3)}) : (1,{d(12)},4)).try_coalesce_by(int_tuple!(1)), "(4,5,3):(1,12,4)"),
        answer!(layout!(({d(2)},{d(5)},{d(1)}) : (2,8,0)).try_coalesce_by(int_tuple!(1)), "(2,5):(2,8)"),
        answer!(layout!(((2,4),12,1) : (({d(96)},{d(12)}),{d(1)},{d(48)})).try_coalesce_by(int_tuple!((1,1,1))), "((2,4),12,1):((96,12),1,0)"),
        answer!(layout!((1,{d(2)}) : (4,{d(1)})).try_coalesce_by(int_tuple!(1)), "2:1"),
        answer!(layout!(2 : {d(1)}).try_coalesce_by(int_tuple!(1)), "2:1"),
        answer!(layout!(({d(4)},5) : ({d(1)},4)).try_coalesce_by(int_tuple!((1,1))), "(4,5):(1,4)"),
        answer!(layout!((8,1) : (2,{d(2)})).try_coalesce_by(int_tuple!((1,1))), "(8,1):(2,0)"),
        answer!(layout!((6,{d(12)},{d(1)}) : (24,1,1)).try_coalesce_by(int_tuple!((1,1,1))), "(6,12,1):(24,1,0)"),
        answer!(layout!(({d(4)},{d(4)}) : (4,1)).try_coalesce_by(int_tuple!(1)), "(4,4):(4,1)"),
        answer!(layout!(({d(4)},({d(4)},12),2) : (2,(192,16),{d(1)})).try_coalesce_by(int_tuple!(1)), "(4,4,12,2):(2,192,16,1)"),
        answer!(layout!(3 : 3).try_coalesce_by(int_tuple!(1)), "3:3"),
        answer!(layout!(((2),3,1,{d(5)}) : (({d(1)}),{d(40)},40,4)).try_coalesce_by(int_tuple!((1,1))), "(2,3,1,5):(1,40,40,4)"),
        answer!(layout!(({d(6)},(5,2)) : (0,({d(1)},{d(30)}))).try_coalesce_by(int_tuple!(1)), "(6,5,2):(0,1,30)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn flatten() {
    let answered = [
        answer!(Ok(layout!((3,2,(4,2)) : (1,6,({d(48)},24))).flatten()), "(3,2,4,2):(1,6,48,24)"),
        answer!(Ok(layout!({d(2)} : 0).flatten()), "2:0"),
        answer!(Ok(layout!(8 : 1).flatten()), "8:1"),
        answer!(Ok(layout!((5,{d(12)},4,8) : (48,4,1,240)).flatten()), "(5,12,4,8):(48,4,1,240)"),
        answer!(Ok(layout!(({d(8)},(2,{d(4)},3)) : (9,(288,72,3))).flatten()), "(8,2,4,3):(9,288,72,3)"),
        answer!(Ok(layout!(({d(5)},{d(4)},{d(4)},{d(5)}) : (10,{d(400)},50,2)).flatten()), "(5,4,4,5):(10,400,50,2)"),
        answer!(Ok(layout!((2,4,8) : (32,1,4)).flatten()), "(2,4,8):(32,1,4)"),
        answer!(Ok(layout!((4,2,2) : (2,8,0)).flatten()), "(4,2,2):(2,8,0)"),
        answer!(Ok(layout!({d(5)} : 1).flatten()), "5:1"),
        answer!(Ok(layout!(({d(2)},8) : (8,1)).flatten()), "(2,8):(8,1)"),
        answer!(Ok(layout!((3,{d(1)},({d(5)})) : (1,0,({d(3)}))).flatten()), "(3,1,5):(1,0,3)"),
        answer!(Ok(layout!(12 : 1).flatten()), "12:1"),
        answer!(Ok(layout!({d(5)} : {d(3)}).flatten()), "5:3"),
        answer!(Ok(layout!((2,(6),4) : (8,({d(16)}),{d(1)})).flatten()), "(2,6,4):(8,16,1)"),
        answer!(Ok(layout!({d(4)} : 1).flatten()), "4:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn unflatten() {
    let answered = [
        answer!(Ok(layout!((4,(8),{d(5)}) : ({d(5)},(20),1)).unflatten(int_tuple!(((0,0),0)))), "((4,8),5):((5,20),1)"),
        answer!(Ok(layout!((4,5,{d(4)},{d(4)}) : ({d(320)},16,{d(80)},{d(2)})).unflatten(int_tuple!(((0),0,0,0)))), "((4),5,4,4):((320),16,80,2)"),
        answer!(Ok(layout!((1,1,5,3) : ({d(45)},3,3,15)).unflatten(int_tuple!((0,0,0,(0))))), "(1,1,5,(3)):(45,3,3,(15))"),
        answer!(Ok(layout!(({d(2)},4,{d(3)},2) : ({d(12)},{d(1)},4,24)).unflatten(int_tuple!((0,0,(0,0))))), "(2,4,(3,2)):(12,1,(4,24))"),
        answer!(Ok(layout!((3,4) : (4,1)).unflatten(int_tuple!((0,(0))))), "(3,(4)):(4,(1))"),
        answer!(Ok(layout!((5,4) : (1,5)).unflatten(int_tuple!((0,(0))))), "(5,(4)):(1,(5))"),
        answer!(Ok(layout!((2,{d(4)},{d(1)},{d(4)}) : (1,16,2,4)).unflatten(int_tuple!((0,(0),0,0)))), "(2,(4),1,4):(1,(16),2,4)"),
        answer!(Ok(layout!((5,{d(4)}) : (4,1)).unflatten(int_tuple!((0,(0))))), "(5,(4)):(4,(1))"),
        answer!(Ok(layout!((2,(5,{d(6)},5)) : ({d(450)},({d(90)},{d(3)},18))).unflatten(int_tuple!((0,0,0,(0))))), "(2,5,6,(5)):(450,90,3,(18))"),
        answer!(Ok(layout!((4,8,(1)) : ({d(1)},{d(8)},(4))).unflatten(int_tuple!(((0),0,0)))), "((4),8,1):((1),8,4)"),
        answer!(Ok(layout!(3 : 1).unflatten(int_tuple!((0)))), "(3):(1)"),
        answer!(Ok(layout!((3,{d(4)},{d(8)}) : (1,{d(6)},24)).unflatten(int_tuple!(((0,0),0)))), "((3,4),8):((1,6),24)"),
        answer!(Ok(layout!((8,({d(2)}),8,{d(8)}) : ({d(64)},({d(512)}),{d(8)},0)).unflatten(int_tuple!((0,0,(0,0))))), "(8,2,(8,8)):(64,512,(8,0))"),
        answer!(Ok(layout!((6,4,2,{d(8)}) : ({d(256)},16,128,1)).unflatten(int_tuple!((0,0,(0,0))))), "(6,4,(2,8)):(256,16,(128,1))"),
        answer!(Ok(layout!(3 : 0).unflatten(int_tuple!((0)))), "(3):(0)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn mode() {
    let answered = [
        answer!(Ok(layout!((3,4,({d(4)})) : (0,12,(3))).mode(int!(2))), "(4):(3)"),
        answer!(Ok(layout!((2,{d(12)}) : (1,2)).mode(int!(1))), "12:2"),
        answer!(Ok(layout!(({d(6)},(1),8,4) : ({d(1)},({d(24)}),24,6)).mode(int!(2))), "8:24"),
        answer!(Ok(layout!((6,2,{d(2)},2) : (8,0,4,1)).mode(int!(1))), "2:0"),
        answer!(Ok(layout!(4 : {d(1)}).mode(int!(0))), "4:1"),
        answer!(Ok(layout!(((2,{d(4)},6,{d(8)})) : ((1,{d(16)},128,{d(2)}))).mode(int!(0))), "(2,4,6,8):(1,16,128,2)"),
        answer!(Ok(layout!((4,{d(3)}) : (9,3)).mode(int!(1))), "3:3"),
        answer!(Ok(layout!(5 : {d(1)}).mode(int!(0))), "5:1"),
        answer!(Ok(layout!(((8,2),{d(1)}) : (({d(2)},1),2)).mode(int!(1))), "1:2"),
        answer!(Ok(layout!((4,1,(2)) : (4,4,(1))).mode(int!(2))), "(2):(1)"),
        answer!(Ok(layout!((4,(12),8) : (12,(1),48)).mode(int!(2))), "8:48"),
        answer!(Ok(layout!({d(2)} : 3).mode(int!(0))), "2:3"),
        answer!(Ok(layout!((2,8) : ({d(1)},{d(2)})).mode(int!(0))), "2:1"),
        answer!(Ok(layout!(((1,3,4,{d(1)})) : ((1,1,3,12))).mode(int!(0))), "(1,3,4,1):(1,1,3,12)"),
        answer!(Ok(layout!((6,6,(5)) : (30,{d(5)},(1))).mode(int!(2))), "(5):(1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn select() {
    let answered = [
        answer!(Ok(layout!(({d(4)},({d(5)}),{d(8)},4) : (1,(32),160,{d(4)})).select((int!(2), int!(2), int!(0), ))), "(8,8,4):(160,160,1)"),
        answer!(Ok(layout!((3,4,{d(1)}) : (8,2,{d(1)})).select((int!(0), int!(0), ))), "(3,3):(8,8)"),
        answer!(Ok(layout!((({d(2)},6),{d(4)},3) : ((4,0),1,96)).select((int!(0), ))), "((2,6)):((4,0))"),
        answer!(Ok(layout!(({d(6)},2,{d(3)},4) : ({d(3)},18,1,72)).select((int!(2), int!(3), int!(3), ))), "(3,4,4):(1,72,72)"),
        answer!(Ok(layout!(2 : 0).select((int!(0), ))), "(2):(0)"),
        answer!(Ok(layout!((4,{d(4)}) : (8,1)).select((int!(1), int!(0), ))), "(4,4):(1,8)"),
        answer!(Ok(layout!((4,{d(4)},5,1) : (3,120,24,480)).select((int!(0), ))), "(4):(3)"),
        answer!(Ok(layout!({d(4)} : {d(3)}).select((int!(0), int!(0), ))), "(4,4):(3,3)"),
        answer!(Ok(layout!({d(6)} : 1).select((int!(0), ))), "(6):(1)"),
        answer!(Ok(layout!(((2,{d(8)}),3,5) : (({d(480)},60),10,1)).select((int!(0), int!(1), ))), "((2,8),3):((480,60),10)"),
        answer!(Ok(layout!(({d(4)},{d(6)},4,5) : (30,{d(5)},120,1)).select((int!(3), int!(2), ))), "(5,4):(1,120)"),
        answer!(Ok(layout!((5,12,(1)) : (48,2,(1))).select((int!(1), ))), "(12):(2)"),
        answer!(Ok(layout!(5 : 1).select((int!(0), int!(0), ))), "(5,5):(1,1)"),
        answer!(Ok(layout!(({d(8)},{d(4)},3,4) : (4,0,{d(128)},32)).select((int!(3), ))), "(4):(32)"),
        answer!(Ok(layout!((2,4) : ({d(1)},2)).select((int!(1), ))), "(4):(2)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn take() {
    let answered = [
        answer!(Ok(layout!((6,3,2) : (12,1,3)).take(int!(1), int!(2))), "(3):(1)"),
        answer!(Ok(layout!(({d(2)},{d(8)}) : (24,{d(3)})).take(int!(1), int!(2))), "(8):(3)"),
        answer!(Ok(layout!((12,4) : ({d(1)},12)).take(int!(0), int!(2))), "(12,4):(1,12)"),
        answer!(Ok(layout!((8,{d(2)},{d(2)},6) : ({d(24)},12,0,{d(1)})).take(int!(1), int!(4))), "(2,2,6):(12,0,1)"),
        answer!(Ok(layout!(((12,12,8),2) : (({d(16)},{d(768)},2),0)).take(int!(0), int!(2))), "((12,12,8),2):((16,768,2),0)"),
        answer!(Ok(layout!((4,6) : ({d(1)},8)).take(int!(0), int!(2))), "(4,6):(1,8)"),
        answer!(Ok(layout!(4 : 0).take(int!(0), int!(1))), "(4):(0)"),
        answer!(Ok(layout!((4,3,(4),8) : (192,2,({d(6)}),24)).take(int!(1), int!(2))), "(3):(2)"),
        answer!(Ok(layout!({d(2)} : 1).take(int!(0), int!(1))), "(2):(1)"),
        answer!(Ok(layout!(({d(6)},2) : (1,{d(6)})).take(int!(1), int!(2))), "(2):(6)"),
        answer!(Ok(layout!((12,2,2,2) : (2,96,{d(384)},{d(48)})).take(int!(0), int!(2))), "(12,2):(2,96)"),
        answer!(Ok(layout!(({d(4)},5,3,2) : ({d(1)},{d(4)},20,60)).take(int!(1), int!(3))), "(5,3):(4,20)"),
        answer!(Ok(layout!((5,1,{d(3)}) : (9,{d(45)},3)).take(int!(2), int!(3))), "(3):(3)"),
        answer!(Ok(layout!(({d(2)},2) : ({d(12)},{d(3)})).take(int!(1), int!(2))), "(2):(3)"),
        answer!(Ok(layout!((2,5,6,({d(12)})) : (10,2,240,({d(20)}))).take(int!(2), int!(3))), "(6):(240)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn group() {
    let answered = [
        answer!(Ok(layout!((12,{d(4)},{d(2)},4) : (64,16,0,{d(2)})).group(int!(2), int!(3))), "(12,4,(2),4):(64,16,(0),2)"),
        answer!(Ok(layout!((4,{d(1)},{d(4)},2) : (16,{d(1)},1,{d(8)})).group(int!(2), int!(4))), "(4,1,(4,2)):(16,1,(1,8))"),
        answer!(Ok(layout!({d(2)} : 1).group(int!(0), int!(1))), "((2)):((1))"),
        answer!(Ok(layout!({d(6)} : 3).group(int!(0), int!(1))), "((6)):((3))"),
        answer!(Ok(layout!({d(2)} : {d(2)}).group(int!(0), int!(1))), "((2)):((2))"),
        answer!(Ok(layout!(({d(4)},{d(5)},(4)) : (40,0,({d(10)}))).group(int!(0), int!(2))), "((4,5),(4)):((40,0),(10))"),
        answer!(Ok(layout!(1 : {d(1)}).group(int!(0), int!(1))), "((1)):((1))"),
        answer!(Ok(layout!((({d(1)},1),5) : ((1,1),{d(1)})).group(int!(1), int!(2))), "((1,1),(5)):((1,1),(1))"),
        answer!(Ok(layout!(8 : 1).group(int!(0), int!(1))), "((8)):((1))"),
        answer!(Ok(layout!((2,12) : (0,1)).group(int!(1), int!(2))), "(2,(12)):(0,(1))"),
        answer!(Ok(layout!((4,5) : (1,4)).group(int!(1), int!(2))), "(4,(5)):(1,(4))"),
        answer!(Ok(layout!((12,4) : (3,{d(72)})).group(int!(1), int!(2))), "(12,(4)):(3,(72))"),
        answer!(Ok(layout!((6,{d(5)},{d(3)},12) : (180,{d(3)},1,15)).group(int!(0), int!(3))), "((6,5,3),12):((180,3,1),15)"),
        answer!(Ok(layout!((6,12,8,4) : (288,{d(3)},3456,{d(36)})).group(int!(2), int!(3))), "(6,12,(8),4):(288,3,(3456),36)"),
        answer!(Ok(layout!((6,4,8,{d(3)}) : (1,6,72,{d(24)})).group(int!(2), int!(4))), "(6,4,(8,3)):(1,6,(72,24))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn append() {
    let answered = [
        answer!(Ok(layout!(({d(3)},3,12,2) : (1,72,{d(6)},3)).append(layout!({d(4)} : 0))), "(3,3,12,2,4):(1,72,6,3,0)"),
        answer!(Ok(layout!((5,8,{d(6)},{d(1)}) : (288,18,{d(3)},{d(3)})).append(layout!((6,8) : (0,1)))), "(5,8,6,1,(6,8)):(288,18,3,3,(0,1))"),
        answer!(Ok(layout!((2,{d(8)}) : (1,{d(2)})).append(layout!((8,1) : (0,8)))), "(2,8,(8,1)):(1,2,(0,8))"),
        answer!(Ok(layout!((3,(4,3),{d(8)}) : ({d(32)},(8,96),{d(1)})).append(layout!((4,1) : ({d(4)},{d(2)})))), "(3,(4,3),8,(4,1)):(32,(8,96),1,(4,2))"),
        answer!(Ok(layout!((12,(8),8) : ({d(1)},(192),12)).append(layout!({d(1)} : {d(2)}))), "(12,(8),8,1):(1,(192),12,2)"),
        answer!(Ok(layout!((8,4) : ({d(4)},1)).append(layout!({d(4)} : {d(1)}))), "(8,4,4):(4,1,1)"),
        answer!(Ok(layout!(((2,12,4),2) : ((24,0,48),0)).append(layout!(6 : 1))), "((2,12,4),2,6):((24,0,48),0,1)"),
        answer!(Ok(layout!(({d(2)},5) : (15,{d(3)})).append(layout!((12,{d(4)}) : (12,{d(3)})))), "(2,5,(12,4)):(15,3,(12,3))"),
        answer!(Ok(layout!((3,(4,2)) : (2,({d(6)},0))).append(layout!(5 : {d(2)}))), "(3,(4,2),5):(2,(6,0),2)"),
        answer!(Ok(layout!((2,{d(12)},{d(1)},(4)) : (0,{d(1)},1,({d(12)}))).append(layout!((6,{d(3)}) : (3,18)))), "(2,12,1,(4),(6,3)):(0,1,1,(12),(3,18))"),
        answer!(Ok(layout!(4 : 1).append(layout!(({d(5)},{d(2)},4) : ({d(2)},1,10)))), "(4,(5,2,4)):(1,(2,1,10))"),
        answer!(Ok(layout!(({d(8)},{d(4)},(1)) : (4,1,(0))).append(layout!(({d(5)},{d(3)}) : ({d(1)},5)))), "(8,4,(1),(5,3)):(4,1,(0),(1,5))"),
        answer!(Ok(layout!(4 : {d(1)}).append(layout!(5 : 2))), "(4,5):(1,2)"),
        answer!(Ok(layout!(2 : {d(3)}).append(layout!((1,4,12) : (48,12,1)))), "(2,(1,4,12)):(3,(48,12,1))"),
        answer!(Ok(layout!((({d(4)},3),{d(8)}) : (({d(24)},1),3)).append(layout!((({d(4)},8),5) : ((0,5),1)))), "((4,3),8,((4,8),5)):((24,1),3,((0,5),1))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn prepend() {
    let answered = [
        answer!(Ok(layout!((({d(6)},{d(5)},4,6)) : ((120,6,{d(30)},0))).prepend(layout!((4,3,2) : (6,1,3)))), "((4,3,2),(6,5,4,6)):((6,1,3),(120,6,30,0))"),
        answer!(Ok(layout!((1,5,{d(3)},12) : (2,2,{d(20)},60)).prepend(layout!({d(12)} : 1))), "(12,1,5,3,12):(1,2,2,20,60)"),
        answer!(Ok(layout!((2,{d(4)}) : ({d(24)},{d(3)})).prepend(layout!(({d(12)},5) : (0,0)))), "((12,5),2,4):((0,0),24,3)"),
        answer!(Ok(layout!((5,(3,2,1)) : ({d(9)},(3,0,45))).prepend(layout!((({d(12)}),2,2) : ((0),2,1)))), "(((12),2,2),5,(3,2,1)):(((0),2,1),9,(3,0,45))"),
        answer!(Ok(layout!((4,8) : (1,{d(4)})).prepend(layout!(({d(4)},3) : (3,1)))), "((4,3),4,8):((3,1),1,4)"),
        answer!(Ok(layout!((6,2,8,{d(8)}) : ({d(512)},{d(256)},16,2)).prepend(layout!((1,4) : (12,3)))), "((1,4),6,2,8,8):((12,3),512,256,16,2)"),
        answer!(Ok(layout!({d(5)} : 2).prepend(layout!(({d(4)},{d(8)}) : (1,4)))), "((4,8),5):((1,4),2)"),
        answer!(Ok(layout!({d(1)} : 1).prepend(layout!(({d(2)},5,(3)) : (0,{d(3)},({d(15)}))))), "((2,5,(3)),1):((0,3,(15)),1)"),
        answer!(Ok(layout!((2,{d(12)},{d(2)},({d(2)})) : ({d(48)},{d(4)},1,({d(2)}))).prepend(layout!(((3,2),8) : ((3,144),0)))), "(((3,2),8),2,12,2,(2)):(((3,144),0),48,4,1,(2))"),
        answer!(Ok(layout!({d(6)} : 1).prepend(layout!({d(5)} : {d(1)}))), "(5,6):(1,1)"),
        answer!(Ok(layout!((12,12,(6)) : ({d(18)},216,({d(3)}))).prepend(layout!((2,6) : ({d(6)},{d(1)})))), "((2,6),12,12,(6)):((6,1),18,216,(3))"),
        answer!(Ok(layout!(((2,2,{d(3)},2)) : ((0,3,0,0))).prepend(layout!((6,5) : (15,{d(3)})))), "((6,5),(2,2,3,2)):((15,3),(0,3,0,0))"),
        answer!(Ok(layout!(12 : 1).prepend(layout!({d(6)} : {d(1)}))), "(6,12):(1,1)"),
        answer!(Ok(layout!((12,{d(2)},(3)) : (2,1,({d(24)}))).prepend(layout!((12,{d(2)}) : (3,72)))), "((12,2),12,2,(3)):((3,72),2,1,(24))"),
        answer!(Ok(layout!(2 : 1).prepend(layout!((1,(4),{d(2)}) : (1,(1),{d(8)})))), "((1,(4),2),2):((1,(1),8),1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn replace() {
    let answered = [
        answer!(Ok(layout!(({d(2)},(4,{d(2)}),8) : ({d(32)},(1,128),{d(4)})).replace(int!(1), layout!({d(2)} : {d(3)}))), "(2,2,8):(32,3,4)"),
        answer!(Ok(layout!(((1),4,{d(8)}) : ((1),1,8)).replace(int!(1), layout!(((1,5,{d(12)})) : ((0,{d(1)},{d(10)}))))), "((1),((1,5,12)),8):((1),((0,1,10)),8)"),
        answer!(Ok(layout!((3,2,4,(2)) : ({d(4)},0,0,({d(2)}))).replace(int!(0), layout!((5,{d(1)},({d(4)})) : ({d(12)},60,({d(3)}))))), "((5,1,(4)),2,4,(2)):((12,60,(3)),0,0,(2))"),
        answer!(Ok(layout!((1,{d(4)},({d(8)}),6) : (1,{d(48)},(6),1)).replace(int!(0), layout!((4,4,(1)) : (1,8,({d(1)}))))), "((4,4,(1)),4,(8),6):((1,8,(1)),48,(6),1)"),
        answer!(Ok(layout!(({d(4)},{d(5)}) : (1,4)).replace(int!(0), layout!((1,{d(4)}) : (0,{d(1)})))), "((1,4),5):((0,1),4)"),
        answer!(Ok(layout!(({d(1)},2,(4,8)) : (1,8,(1,16))).replace(int!(0), layout!(2 : 1))), "(2,2,(4,8)):(1,8,(1,16))"),
        answer!(Ok(layout!((6,(5),2) : ({d(2)},(12),1)).replace(int!(2), layout!((1,{d(2)},2) : ({d(2)},2,1)))), "(6,(5),(1,2,2)):(2,(12),(2,2,1))"),
        answer!(Ok(layout!(({d(12)},12) : (12,0)).replace(int!(0), layout!(({d(4)},2) : (3,12)))), "((4,2),12):((3,12),0)"),
        answer!(Ok(layout!((1,({d(8)},{d(1)})) : (8,(1,1))).replace(int!(1), layout!((1,2) : (12,3)))), "(1,(1,2)):(8,(12,3))"),
        answer!(Ok(layout!((({d(2)}),2,{d(6)},{d(2)}) : ((24),{d(12)},{d(2)},{d(48)})).replace(int!(1), layout!(4 : 1))), "((2),4,6,2):((24),1,2,48)"),
        answer!(Ok(layout!(({d(4)},6,4,2) : (96,8,1,4)).replace(int!(3), layout!((2,{d(2)}) : (2,1)))), "(4,6,4,(2,2)):(96,8,1,(2,1))"),
        answer!(Ok(layout!((4,4) : ({d(4)},1)).replace(int!(0), layout!((12,{d(12)},({d(4)})) : (144,{d(3)},({d(36)}))))), "((12,12,(4)),4):((144,3,(36)),1)"),
        answer!(Ok(layout!(({d(4)},1,({d(12)},{d(4)})) : (1,192,({d(4)},48))).replace(int!(2), layout!(12 : 1))), "(4,1,12):(1,192,1)"),
        answer!(Ok(layout!(4 : 3).replace(int!(0), layout!(1 : {d(1)}))), "(1):(1)"),
        answer!(Ok(layout!(((4,{d(1)}),3,{d(4)}) : ((0,{d(96)}),4,1)).replace(int!(1), layout!((5,{d(2)}) : (2,{d(10)})))), "((4,1),(5,2),4):((0,96),(2,10),1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn upcast() {
    let answered = [
        answer!(layout!((({d(12)},3,3),2) : ((6,2,144),0)).try_upcast(int!(2)), "((12,3,3),2):((3,1,72),0)"),
        answer!(layout!({d(6)} : {d(2)}).try_upcast(int!(4)), "3:1"),
        answer!(layout!((2,12,({d(1)}),8) : ({d(96)},8,({d(96)}),1)).try_upcast(int!(1)), "(2,12,(1),8):(96,8,(96),1)"),
        answer!(layout!(({d(3)},6,(3),4) : ({d(1)},{d(6)},({d(36)}),{d(216)})).try_upcast(int!(3)), "(1,6,(3),4):(1,2,(12),72)"),
        answer!(layout!(3 : 1).try_upcast(int!(4)), "1:1"),
        answer!(layout!((5,4,2,4) : (64,16,4,{d(1)})).try_upcast(int!(4)), "(5,4,2,1):(16,4,1,1)"),
        answer!(layout!(((4,12,{d(5)},{d(2)})) : ((2,8,96,960))).try_upcast(int!(1)), "((4,12,5,2)):((2,8,96,960))"),
        answer!(layout!(4 : 0).try_upcast(int!(1)), "4:0"),
        answer!(layout!((1,{d(1)}) : ({d(1)},{d(1)})).try_upcast(int!(8)), "(1,1):(1,1)"),
        answer!(layout!(({d(1)},8,(2)) : ({d(32)},{d(4)},(1))).try_upcast(int!(8)), "(1,4,(1)):(4,1,(1))"),
        answer!(layout!(({d(12)},{d(4)}) : ({d(8)},1)).try_upcast(int!(8)), "(12,1):(1,1)"),
        answer!(layout!(({d(3)},(2,{d(5)})) : ({d(5)},(15,1))).try_upcast(int!(1)), "(3,(2,5)):(5,(15,1))"),
        answer!(layout!((4,2) : ({d(8)},2)).try_upcast(int!(1)), "(4,2):(8,2)"),
        answer!(layout!((6,4) : (12,3)).try_upcast(int!(1)), "(6,4):(12,3)"),
        answer!(layout!((12,{d(5)}) : (15,3)).try_upcast(int!(1)), "(12,5):(15,3)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn downcast() {
    let answered = [
        answer!(layout!((5,1,4) : (4,{d(20)},{d(1)})).try_downcast(int!(3)), "(5,1,12):(12,60,1)"),
        answer!(layout!((6,{d(3)}) : (3,{d(1)})).try_downcast(int!(4)), "(6,12):(12,1)"),
        answer!(layout!((1,{d(2)},(2),5) : ({d(40)},10,(5),1)).try_downcast(int!(3)), "(1,2,(2),15):(120,30,(15),1)"),
        answer!(layout!((1,2) : (2,1)).try_downcast(int!(8)), "(1,16):(16,1)"),
        answer!(layout!(({d(4)},{d(2)},{d(2)},{d(4)}) : (3,12,24,{d(48)})).try_downcast(int!(1)), "(4,2,2,4):(3,12,24,48)"),
        answer!(layout!((2,{d(2)},{d(2)},4) : (1,2,16,0)).try_downcast(int!(4)), "(8,2,2,4):(1,8,64,0)"),
        answer!(layout!((5,8) : (1,5)).try_downcast(int!(3)), "(15,8):(1,15)"),
        answer!(layout!((8,8,6,8) : (8,1,{d(128)},{d(768)})).try_downcast(int!(3)), "(8,24,6,8):(24,1,384,2304)"),
        answer!(layout!((6,4) : (1,12)).try_downcast(int!(1)), "(6,4):(1,12)"),
        answer!(layout!(({d(1)},{d(1)},(1,{d(3)})) : ({d(1)},3,(3,1))).try_downcast(int!(2)), "(1,1,(1,6)):(2,6,(6,1))"),
        answer!(layout!((2,4,3,{d(6)}) : ({d(288)},72,2,12)).try_downcast(int!(1)), "(2,4,3,6):(288,72,2,12)"),
        answer!(layout!((8,{d(4)},{d(12)},(1)) : ({d(24)},384,2,(1))).try_downcast(int!(2)), "(8,4,12,(2)):(48,768,4,(1))"),
        answer!(layout!(6 : 1).try_downcast(int!(1)), "6:1"),
        answer!(layout!(({d(2)},{d(2)},(5),2) : (40,20,({d(2)}),1)).try_downcast(int!(4)), "(2,2,(5),8):(160,80,(8),1)"),
        answer!(layout!(({d(1)},{d(4)}) : (4,{d(1)})).try_downcast(int!(4)), "(1,16):(16,1)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn recast() {
    let answered = [
        answer!(layout!(8 : {d(1)}).try_recast(int!(16), int!(16)), "8:1"),
        answer!(layout!(3 : {d(1)}).try_recast(int!(48), int!(48)), "3:1"),
        answer!(layout!((6,4,4) : ({d(1)},0,6)).try_recast(int!(16), int!(48)), "(2,4,4):(1,0,2)"),
        answer!(layout!((5,{d(6)}) : (6,1)).try_recast(int!(16), int!(4)), "(5,24):(24,1)"),
        answer!(layout!((6,1) : (1,{d(1)})).try_recast(int!(8), int!(128)), "(1,1):(1,1)"),
        answer!(layout!((({d(8)}),12,2) : ((24),0,384)).try_recast(int!(4), int!(16)), "((8),12,2):((6),0,96)"),
        answer!(layout!((6,12,1) : ({d(24)},2,24)).try_recast(int!(4), int!(16)), "(6,6,1):(6,1,6)"),
        answer!(layout!((1,8) : ({d(16)},2)).try_recast(int!(16), int!(128)), "(1,2):(2,1)"),
        answer!(layout!((12,4,({d(3)})) : (1,{d(36)},(12))).try_recast(int!(32), int!(48)), "(8,4,(3)):(1,24,(8))"),
        answer!(layout!(3 : 0).try_recast(int!(16), int!(128)), "3:0"),
        answer!(layout!(6 : 2).try_recast(int!(4), int!(4)), "6:2"),
        answer!(layout!(6 : 2).try_recast(int!(8), int!(128)), "1:1"),
        answer!(layout!(2 : {d(2)}).try_recast(int!(48), int!(48)), "2:2"),
        answer!(layout!((2,{d(1)}) : (1,1)).try_recast(int!(48), int!(4)), "(24,1):(1,12)"),
        answer!(layout!((6,{d(6)}) : (1,12)).try_recast(int!(48), int!(8)), "(36,6):(1,72)"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn quasi_inverse() {
    let answered = [
        unary!(quasi_inverse, layout!((5,5) : (2,{d(10)}))),
        unary!(quasi_inverse, layout!(({d(3)},12) : ({d(1)},3))),
        unary!(quasi_inverse, layout!((2,4,8,3) : (32,{d(8)},1,0))),
        unary!(quasi_inverse, layout!(({d(3)},3,5) : (1,3,{d(9)}))),
        unary!(quasi_inverse, layout!(4 : 1)),
        unary!(quasi_inverse, layout!(({d(12)},6,{d(6)}) : (1,0,72))),
        unary!(quasi_inverse, layout!((12,2) : ({d(1)},24))),
        unary!(quasi_inverse, layout!((12,{d(2)}) : (1,{d(12)}))),
        unary!(quasi_inverse, layout!(({d(4)},{d(6)}) : (1,0))),
        unary!(quasi_inverse, layout!((3,{d(6)},{d(4)}) : (12,36,3))),
        unary!(quasi_inverse, layout!(({d(5)},{d(4)}) : (1,5))),
        unary!(quasi_inverse, layout!((4,4) : (2,8))),
        unary!(quasi_inverse, layout!((4,(3),6) : ({d(2)},(8),24))),
        unary!(quasi_inverse, layout!({d(4)} : {d(2)})),
        unary!(quasi_inverse, layout!((4,{d(2)},1) : (2,{d(8)},16))),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn nullspace() {
    let answered = [
        answer!(layout!((3,3) : (0,3)).try_nullspace(), "3:1"),
        answer!(layout!(6 : 2).try_nullspace(), "1:0"),
        answer!(layout!({d(4)} : 1).try_nullspace(), "1:0"),
        answer!(layout!((({d(6)}),1,4) : (({d(32)}),16,0)).try_nullspace(), "4:6"),
        answer!(layout!(2 : 1).try_nullspace(), "1:0"),
        answer!(layout!(2 : 1).try_nullspace(), "1:0"),
        answer!(layout!(4 : 2).try_nullspace(), "1:0"),
        answer!(layout!({d(1)} : {d(1)}).try_nullspace(), "1:0"),
        answer!(layout!(({d(2)},6,({d(12)}),5) : ({d(1)},120,(10),{d(2)})).try_nullspace(), "1:0"),
        answer!(layout!(((2),{d(2)},{d(3)}) : (({d(12)}),1,2)).try_nullspace(), "1:0"),
        answer!(layout!(({d(3)},4) : (4,{d(1)})).try_nullspace(), "1:0"),
        answer!(layout!({d(1)} : 2).try_nullspace(), "1:0"),
        answer!(layout!((1,5,{d(1)},1) : (0,1,1,10)).try_nullspace(), "1:0"),
        answer!(layout!((6,5) : (5,{d(1)})).try_nullspace(), "1:0"),
        answer!(layout!({d(3)} : {d(1)}).try_nullspace(), "1:0"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn max_common_layout() {
    let answered = [
        common!(layout!(({d(4)},{d(2)},{d(4)},5) : (1,0,{d(20)},{d(4)})), layout!((2,1) : (1,2))),
        common!(layout!(({d(8)},6,{d(2)}) : (1,16,{d(96)})), layout!((1,3) : (3,1))),
        common!(layout!({d(6)} : 1), layout!(({d(4)},1,1) : (1,{d(1)},{d(1)}))),
        common!(layout!(2 : 1), layout!({d(2)} : {d(1)})),
        common!(layout!((2,{d(4)}) : (1,2)), layout!((1,6) : (0,{d(1)}))),
        common!(layout!(({d(5)},4) : (1,{d(5)})), layout!(6 : {d(1)})),
        common!(layout!((1,{d(8)}) : ({d(8)},{d(1)})), layout!(((4,2,1)) : (({d(1)},{d(4)},8)))),
        common!(layout!((2,12,(5),4) : ({d(1)},2,(96),{d(24)})), layout!(2 : 1)),
        common!(layout!(3 : 1), layout!(2 : 1)),
        common!(layout!({d(8)} : 1), layout!(2 : 1)),
        common!(layout!((4,6,{d(2)}) : (24,1,6)), layout!(2 : 2)),
        common!(layout!(5 : 1), layout!(4 : {d(1)})),
        common!(layout!((8,(6,12)) : ({d(1)},(0,{d(48)}))), layout!(6 : {d(1)})),
        common!(layout!(12 : 1), layout!((3,5) : (1,{d(6)}))),
        common!(layout!(({d(2)},(4,3),{d(5)}) : (1,({d(30)},10),{d(2)})), layout!(2 : {d(1)})),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn max_common_vector() {
    let answered = [
        number!(layout!(((6,1),{d(6)}) : (({d(1)},6),6)).try_max_common_vector(layout!((4,{d(12)}) : ({d(1)},8))), "4:0"),
        number!(layout!((4,{d(3)}) : (1,{d(4)})).try_max_common_vector(layout!(({d(3)},4,{d(12)}) : (1,3,24))), "12:0"),
        number!(layout!(({d(2)},8,1,8) : (1,{d(2)},16,16)).try_max_common_vector(layout!(({d(5)},6) : (1,{d(10)}))), "5:0"),
        number!(layout!(({d(4)},2) : (1,4)).try_max_common_vector(layout!((4,{d(3)},(2)) : (1,{d(8)},(0)))), "4:0"),
        number!(layout!(8 : 1).try_max_common_vector(layout!(5 : 1)), "5:0"),
        number!(layout!(3 : {d(1)}).try_max_common_vector(layout!(5 : {d(1)})), "3:0"),
        number!(layout!(({d(8)},12) : (1,8)).try_max_common_vector(layout!(8 : {d(1)})), "8:0"),
        number!(layout!(5 : 0).try_max_common_vector(layout!((1,1,({d(2)})) : ({d(2)},0,(1)))), "1:0"),
        number!(layout!((4,{d(12)},3,4) : (1,4,{d(48)},144)).try_max_common_vector(layout!((2,(5),12) : (1,(24),2))), "2:0"),
        number!(layout!((6,8) : (1,6)).try_max_common_vector(layout!(({d(4)},4) : (1,8))), "4:0"),
        number!(layout!((4,{d(5)},1) : ({d(1)},{d(8)},{d(40)})).try_max_common_vector(layout!({d(4)} : {d(1)})), "4:0"),
        number!(layout!((2,4,5,6) : ({d(1)},{d(60)},12,2)).try_max_common_vector(layout!(2 : 1)), "2:0"),
        number!(layout!((2,{d(8)}) : (1,4)).try_max_common_vector(layout!(3 : {d(1)})), "2:0"),
        number!(layout!(4 : 1).try_max_common_vector(layout!(({d(5)},{d(3)}) : (1,5))), "4:0"),
        number!(layout!(4 : {d(1)}).try_max_common_vector(layout!(({d(8)},6,1) : ({d(1)},8,{d(1)}))), "4:0"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn max_alignment() {
    let answered = [
        number!(layout!(2 : 3).try_max_alignment(), "1:0"),
        number!(layout!((1,4) : (4,{d(1)})).try_max_alignment(), "4:0"),
        number!(layout!((2,5,5,1) : (5,10,1,1)).try_max_alignment(), "50:0"),
        number!(layout!((6,{d(4)},{d(3)}) : (3,18,1)).try_max_alignment(), "72:0"),
        number!(layout!({d(6)} : 0).try_max_alignment(), "1:0"),
        number!(layout!(({d(5)},{d(2)}) : (2,1)).try_max_alignment(), "10:0"),
        number!(layout!((1,4,({d(2)}),2) : ({d(2)},2,({d(8)}),{d(1)})).try_max_alignment(), "16:0"),
        number!(layout!((12,4,(4)) : (32,{d(1)},(8))).try_max_alignment(), "4:0"),
        number!(layout!({d(2)} : 1).try_max_alignment(), "2:0"),
        number!(layout!((8,6,6,{d(3)}) : (648,108,{d(18)},3)).try_max_alignment(), "1:0"),
        number!(layout!((2,6,3,4) : (0,288,48,3)).try_max_alignment(), "1:0"),
        number!(layout!((4,5,1,5) : (3,120,60,{d(12)})).try_max_alignment(), "1:0"),
        number!(layout!(4 : 3).try_max_alignment(), "1:0"),
        number!(layout!(({d(12)},4,(12)) : (2,576,(24))).try_max_alignment(), "1:0"),
        number!(layout!(6 : 1).try_max_alignment(), "6:0"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn domain_distribute() {
    let answered = [
        answer!(Layout::try_domain_distribute(int_tuple!((4,{d(3)},{d(2)},3)), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(2)},5,({d(3)},{d(8)}))), int!(12)), "12:1"),
        answer!(Layout::try_domain_distribute(int_tuple!({d(5)}), int!(2)), "1:0"),
        answer!(Layout::try_domain_distribute(int_tuple!((({d(5)},{d(3)},{d(1)}),12)), int!(32)), "4:1"),
        answer!(Layout::try_domain_distribute(int_tuple!({d(4)}), int!(6)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(5)},(2),{d(4)})), int!(8)), "8:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(4)},2,3,12)), int!(32)), "32:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(5)},{d(2)})), int!(8)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(2)},{d(4)},{d(8)})), int!(12)), "4:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(6)},{d(1)})), int!(4)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((4,(6,4))), int!(4)), "4:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((3,3,({d(4)},{d(2)}))), int!(12)), "12:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((6,3,8)), int!(12)), "12:1"),
        answer!(Layout::try_domain_distribute(int_tuple!((({d(12)},6),{d(8)})), int!(2)), "2:1"),
        answer!(Layout::try_domain_distribute(int_tuple!(({d(2)},3)), int!(8)), "2:1"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn tile_to_shape() {
    let answered = [
        answer!(layout!((2,{d(4)},(5),4) : (5,10,(1),40)).try_tile_to_shape(int_tuple!((4,{d(8)},5,4))), "((2,2),(4,2),((5),1),(4,1)):((5,160),(10,320),((1),0),(40,0))"),
        answer!(layout!((8,{d(12)}) : ({d(12)},1)).try_tile_to_shape(int_tuple!(({d(32)},{d(48)},2))), "((8,4),(12,4),(1,2)):((12,96),(1,384),(0,1536))"),
        answer!(layout!((4,6,(8,4)) : ({d(192)},32,({d(4)},{d(1)}))).try_tile_to_shape(int_tuple!((8,{d(6)},32))), "((4,2),(6,1),((8,4),1)):((192,768),(32,0),((4,1),0))"),
        answer!(layout!(3 : {d(2)}).try_tile_to_shape(int_tuple!({d(3)})), "((3,1)):((2,0))"),
        answer!(layout!((8,{d(4)}) : (4,{d(1)})).try_tile_to_shape(int_tuple!((32,{d(8)}))), "((8,4),(4,2)):((4,32),(1,128))"),
        answer!(layout!(({d(5)},8) : ({d(1)},{d(10)})).try_tile_to_shape(int_tuple!((20,32,3))), "((5,(2,2)),(8,4),(1,3)):((1,(5,80)),(10,160),(0,640))"),
        answer!(layout!(({d(8)},4,1,4) : (1,8,256,{d(32)})).try_tile_to_shape(int_tuple!(({d(8)},{d(8)},3,12,{d(4)}))), "((8,1),(4,2),(1,3),(4,3),(1,4)):((1,0),(8,128),(256,256),(32,768),(0,2304))"),
        answer!(layout!((2,{d(4)}) : (2,{d(4)})).try_tile_to_shape(int_tuple!((4,12))), "((2,2),(4,3)):((2,1),(4,16))"),
        answer!(layout!(12 : 1).try_tile_to_shape(int_tuple!((12,4))), "((12,1),(1,4)):((1,0),(0,12))"),
        answer!(layout!((4,{d(2)}) : ({d(1)},4)).try_tile_to_shape(int_tuple!((16,2))), "((4,4),(2,1)):((1,8),(4,0))"),
        answer!(layout!(2 : 2).try_tile_to_shape(int_tuple!(2)), "((2,1)):((2,0))"),
        answer!(layout!(((5,{d(1)}),{d(2)}) : ((2,20),1)).try_tile_to_shape(int_tuple!((10,2))), "(((5,1),2),(2,1)):(((2,20),10),(1,0))"),
        answer!(layout!((({d(4)},{d(4)},12,{d(4)})) : ((1152,36,3,288))).try_tile_to_shape(int_tuple!(1536)), "(((4,4,12,4),2)):(((1152,36,3,288),1))"),
        answer!(layout!((2,(1,{d(6)},{d(2)})) : (0,(48,{d(4)},2))).try_tile_to_shape(int_tuple!((2,24))), "((2,1),((1,6,2),2)):((0,0),((48,4,2),1))"),
        answer!(layout!((({d(3)},{d(6)}),{d(2)}) : ((12,72),0)).try_tile_to_shape(int_tuple!(({d(54)},8,2))), "(((3,6),3),(2,4),(1,2)):(((12,72),1),(0,3),(0,36))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn tile_to_shape_by() {
    let answered = [
        answer!(layout!(((3),3,2,3) : ((1),{d(9)},27,{d(3)})).try_tile_to_shape_by(int_tuple!((9,3,2,6,{d(1)})), int_tuple!((2,3,4,1,0))), "(((3),3),(3,1),(2,1),(3,2),(1,1)):(((1),108),(9,0),(27,0),(3,54),(0,0))"),
        answer!(layout!((5,2) : (4,1)).try_tile_to_shape_by(int_tuple!((10,{d(6)},{d(4)})), int_tuple!((0,2,1))), "((5,2),(2,3),(1,4)):((4,2),(1,80),(0,20))"),
        answer!(layout!((({d(8)},{d(2)}),5) : ((2,{d(1)}),32)).try_tile_to_shape_by(int_tuple!((32,{d(20)})), int_tuple!((1,0))), "(((8,2),2),(5,(2,2))):(((2,1),320),(32,(16,160)))"),
        answer!(layout!(({d(2)},{d(4)},({d(8)}),4) : (96,192,({d(12)}),{d(3)})).try_tile_to_shape_by(int_tuple!((2,4,24,12)), int_tuple!((3,2,1,0))), "((2,1),(4,1),((8),3),(4,3)):((96,0),(192,0),((12),768),(3,1))"),
        answer!(layout!((4,5) : (10,{d(1)})).try_tile_to_shape_by(int_tuple!((4,10)), int_tuple!((1,0))), "((4,1),(5,2)):((10,0),(1,5))"),
        answer!(layout!(4 : 3).try_tile_to_shape_by(int_tuple!(({d(16)},{d(3)})), int_tuple!((1,0))), "((4,4),(1,3)):((3,12),(0,1))"),
        answer!(layout!((3,{d(12)}) : (12,{d(1)})).try_tile_to_shape_by(int_tuple!((3,12)), int_tuple!((0,1))), "((3,1),(12,1)):((12,0),(1,0))"),
        answer!(layout!(({d(5)},4) : ({d(4)},1)).try_tile_to_shape_by(int_tuple!((15,12,{d(3)})), int_tuple!((1,0,2))), "((5,3),(4,3),(1,3)):((4,60),(1,20),(0,180))"),
        answer!(layout!((2,1,2,2) : (8,1,{d(2)},{d(4)})).try_tile_to_shape_by(int_tuple!((2,{d(2)},2,{d(4)})), int_tuple!((1,2,0,3))), "((2,1),(1,2),(2,1),(2,2)):((8,0),(1,1),(2,0),(4,16))"),
        answer!(layout!((2,{d(2)},2) : (2,{d(1)},{d(4)})).try_tile_to_shape_by(int_tuple!((4,8,2,2)), int_tuple!((1,3,0,2))), "((2,2),(2,4),(2,1),(1,2)):((2,8),(1,32),(4,0),(0,16))"),
        answer!(layout!({d(4)} : 1).try_tile_to_shape_by(int_tuple!(({d(8)},{d(4)})), int_tuple!((1,0))), "((4,2),(1,4)):((1,16),(0,4))"),
        answer!(layout!(8 : {d(1)}).try_tile_to_shape_by(int_tuple!((32,3)), int_tuple!((1,0))), "((8,4),(1,3)):((1,24),(0,8))"),
        answer!(layout!(4 : {d(1)}).try_tile_to_shape_by(int_tuple!((12,1)), int_tuple!((1,0))), "((4,3),(1,1)):((1,4),(0,0))"),
        answer!(layout!(6 : 1).try_tile_to_shape_by(int_tuple!((12,3)), int_tuple!((1,0))), "((6,2),(1,3)):((1,18),(0,6))"),
        answer!(layout!(({d(3)},2) : ({d(1)},0)).try_tile_to_shape_by(int_tuple!((3,{d(6)})), int_tuple!((0,1))), "((3,1),(2,3)):((1,0),(0,3))"),
    ];
    support::enough(&answered, 60);
}

#[test]
#[rustfmt::skip]
fn composition_past_the_end() {
    let answered = [
        answer!(layout!((6,{d(1)},({d(8)})) : (16,1,({d(1)}))).try_composition(int!(96)), "(6,16):(16,1)"),
        answer!(layout!(4 : 1).try_composition(int!(8)), "8:1"),
        answer!(layout!((5,{d(8)}) : ({d(8)},{d(1)})).try_composition(int!(80)), "(5,16):(8,1)"),
        answer!(layout!((4,2,6) : (144,{d(36)},3)).try_composition(int!(96)), "(4,2,12):(144,36,3)"),
        answer!(layout!(((4,2,3),1) : ((6,0,1),6)).try_composition(int!(48)), "(4,2,3,2):(6,0,1,6)"),
        answer!(layout!(((4,{d(4)}),{d(1)},2) : (({d(4)},{d(16)}),{d(4)},1)).try_composition(int!(64)), "(16,4):(4,1)"),
        answer!(layout!((3,{d(4)},2,{d(5)}) : (1,3,12,24)).try_composition(int!(240)), "240:1"),
        answer!(layout!((2,({d(3)},4),5) : (15,(30,{d(90)}),{d(3)})).try_composition(int!(240)), "(24,10):(15,3)"),
        answer!(layout!((2,{d(5)}) : ({d(5)},{d(1)})).try_composition(int!(20)), "(2,10):(5,1)"),
        answer!(layout!(4 : 2).try_composition(int!(8)), "8:2"),
        answer!(layout!((8,4,5) : (1,{d(8)},0)).try_composition(int!(320)), "(32,10):(1,0)"),
        answer!(layout!(6 : {d(1)}).try_composition(int!(12)), "12:1"),
        answer!(layout!(1 : {d(2)}).try_composition(int!(2)), "2:2"),
        answer!(layout!(({d(6)},{d(5)},{d(4)},12) : (480,{d(1)},120,5)).try_composition(int!(2880)), "(6,5,4,24):(480,1,120,5)"),
        answer!(layout!((({d(4)}),8,{d(5)},{d(4)}) : ((0),1,{d(8)},{d(40)})).try_composition(int!(1280)), "(4,320):(0,1)"),
    ];
    support::enough(&answered, 60);
}
