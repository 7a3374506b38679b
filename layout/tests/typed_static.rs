//! The typed layer against the run-time layer: static operands.
//!
//! Written by `typed_generator.rs`.

#[macro_use]
#[path = "typed_support/fixed.rs"]
mod support;

use girih_layout::typed::__;
use girih_layout::{int, layout};

#[test]
#[rustfmt::skip]
fn cases_0() {
    unary!(coalesce, layout!(((3,5),1) : ((10,1),30)));
    unary!(right_inverse, layout!((4,2,4) : (1,64,8)));
    complement!(layout!(((8),4,4) : ((16),128,2)), 1006);
    binary!(composition, layout!((8,12,4,4) : (1,32,8,384)), (int!(8), layout!((4,1) : (1,1)), ));
    binary!(composition, layout!((12,3,12) : (36,1,3)), (layout!((4,12) : (12,1)), layout!((3,6) : (18,3)), int!(6), ));
    binary!(logical_divide, layout!((2,12) : (2,4)), (layout!(2 : 1), layout!(8 : 1), ));
    binary!(zipped_divide, layout!(4 : 1), (layout!((12,2) : (1,12)), ));
    binary!(tiled_divide, layout!((4,2) : (1,4)), (layout!((4,12) : (1,4)), ));
    binary!(flat_divide, layout!((3,3,(6),4) : (36,12,(216),3)), (int!(6), int!(6), int!(4), ));
    binary!(logical_product, layout!(8 : 1), layout!(((5,3,12)) : ((1,60,5))));
    binary!(zipped_product, layout!((3,6,5,3) : (5,45,1,15)), layout!(3 : 1));
    binary!(tiled_product, layout!(8 : 3), int!(3));
    binary!(flat_product, layout!(8 : 0), layout!((5,5) : (10,2)));
    pairs!(raked_product, layout!((2,8) : (1,2)), layout!(((8,6),8) : ((3,384),0)));
    unary!(coalesce, layout!(6 : 2));
    unary!(right_inverse, layout!((3,4,8,(4)) : (4,1,48,(12))));
    complement!(layout!((5,1) : (1,1)), 10);
    binary!(composition, layout!((8,(2),3) : (4,(0),64)), (layout!(2 : 1), layout!((4,4) : (1,8)), layout!((3,4) : (4,1)), ));
    binary!(composition, layout!(2 : 2), (int!(2), ));
    binary!(logical_divide, layout!((6,4) : (3,36)), layout!(((2),5,2) : ((0),6,60)));
    binary!(zipped_divide, layout!((12,6) : (6,1)), (int!(3), ));
    binary!(tiled_divide, layout!(4 : 1), layout!((5,8,12) : (96,12,1)));
    binary!(flat_divide, layout!(2 : 1), (int!(4), ));
    binary!(logical_product, layout!(((2),6,2,4) : ((1),16,2,4)), (int!(3), int!(3), int!(4), ));
    binary!(zipped_product, layout!((8,12,4) : (1,8,96)), int!(4));
    binary!(tiled_product, layout!((1,8) : (3,0)), int!(4));
    binary!(flat_product, layout!((1,2) : (1,1)), (int!(8), int!(8), ));
    pairs!(raked_product, layout!((5,(2),5,4) : (1,(25),5,50)), layout!((1,6) : (2,2)));
    unary!(coalesce, layout!(3 : 1));
    unary!(right_inverse, layout!((8,5) : (5,1)));
    complement!(layout!((3,1,3) : (6,18,1)), 45);
    binary!(composition, layout!((12,4) : (1,12)), (int!(8), layout!(2 : 0), ));
    binary!(composition, layout!(4 : 1), (int!(8), ));
    binary!(logical_divide, layout!(((2),6,4) : ((24),1,6)), (layout!(8 : 1), int!(8), ));
    binary!(zipped_divide, layout!((4,6) : (3,12)), (layout!(1 : 1), int!(2), ));
    binary!(tiled_divide, layout!(2 : 1), layout!((4,12) : (12,1)));
    binary!(flat_divide, layout!((1,8,(6)) : (16,2,(16))), (int!(8), __, __, ));
    binary!(logical_product, layout!((4,4,(2),2) : (48,12,(0),6)), layout!((2,2) : (6,3)));
    binary!(zipped_product, layout!((5,3) : (0,5)), (layout!(4 : 1), ));
    binary!(tiled_product, layout!(2 : 3), int!(6));
    binary!(flat_product, layout!(6 : 1), layout!(6 : 1));
    pairs!(blocked_product, layout!((4,8) : (8,1)), layout!((6,2) : (3,18)));
    unary!(coalesce, layout!((2,4) : (3,6)));
    unary!(right_inverse, layout!((6,1) : (1,1)));
    complement!(layout!(8 : 1), 16);
    binary!(composition, layout!(5 : 1), int!(8));
    binary!(composition, layout!((2,2,1,3) : (3,0,3,0)), (layout!((3,5) : (1,3)), int!(3), int!(4), layout!((2,2) : (1,2)), ));
    binary!(logical_divide, layout!(((5),4,2,4) : ((12),240,60,3)), (layout!(1 : 1), int!(6), layout!(12 : 2), layout!((5,4) : (1,5)), ));
    binary!(zipped_divide, layout!((12,2,12) : (12,144,1)), int!(6));
    binary!(tiled_divide, layout!((6,5,2,12) : (0,1152,2,48)), (__, int!(3), layout!(2 : 1), ));
}

#[test]
#[rustfmt::skip]
fn cases_1() {
    binary!(flat_divide, layout!(12 : 1), (layout!(8 : 0), ));
    binary!(logical_product, layout!(3 : 1), int!(6));
    binary!(zipped_product, layout!(12 : 1), (int!(2), ));
    binary!(tiled_product, layout!((1,1,4) : (1,2,2)), int!(2));
    binary!(flat_product, layout!(2 : 1), layout!(2 : 2));
    pairs!(raked_product, layout!(2 : 1), layout!(((3,4,8)) : ((1,24,3))));
    unary!(coalesce, layout!((2,8,12,(8)) : (24,768,1,(0))));
    unary!(right_inverse, layout!((4,(5),12,6) : (10,(1),240,40)));
    complement!(layout!(4 : 1), 12);
    binary!(composition, layout!((3,2) : (3,9)), layout!(4 : 1));
    binary!(composition, layout!((2,12,12) : (24,96,2)), (layout!((1,2) : (2,2)), layout!((3,3) : (3,1)), __, ));
    binary!(logical_divide, layout!(2 : 1), (layout!(12 : 1), ));
    binary!(zipped_divide, layout!((4,12) : (0,4)), int!(4));
    binary!(tiled_divide, layout!((2,5) : (3,12)), layout!(((8,4,8)) : ((1,0,32))));
    binary!(flat_divide, layout!((8,2,1) : (12,3,3)), layout!(1 : 3));
    binary!(logical_product, layout!(((5),2,4) : ((4),1,20)), int!(6));
    binary!(zipped_product, layout!((2,8) : (1,2)), int!(2));
    binary!(tiled_product, layout!((3,(12),1,4) : (96,(8),8,2)), int!(4));
    binary!(flat_product, layout!(12 : 1), layout!((4,4,2) : (0,2,1)));
    pairs!(blocked_product, layout!((4,3) : (3,12)), layout!(((3,2,6)) : ((3,54,9))));
    unary!(coalesce, layout!(5 : 3));
    unary!(right_inverse, layout!((1,4) : (4,1)));
    complement!(layout!((4,6,2,5) : (1,4,24,48)), 960);
    binary!(composition, layout!((3,1) : (2,2)), layout!((6,5,(1)) : (0,6,(1))));
    binary!(composition, layout!(5 : 1), layout!((2,8) : (8,1)));
    binary!(logical_divide, layout!(12 : 2), layout!((4,3,(4)) : (1,8,(24))));
    binary!(zipped_divide, layout!((4,3) : (1,4)), int!(2));
    binary!(tiled_divide, layout!((4,4) : (4,1)), layout!((8,12,2) : (0,16,1)));
    binary!(flat_divide, layout!(1 : 2), layout!((6,3,(2)) : (2,0,(0))));
    binary!(logical_product, layout!((4,4) : (1,0)), int!(16));
    binary!(zipped_product, layout!((1,3,(2),6) : (3,36,(3),6)), int!(6));
    binary!(tiled_product, layout!(4 : 2), layout!(1 : 0));
    binary!(flat_product, layout!(((1,6),1) : ((0,1),1)), (int!(6), int!(4), ));
    pairs!(blocked_product, layout!((4,8) : (24,3)), layout!((2,8) : (3,6)));
    unary!(coalesce, layout!(2 : 1));
    unary!(right_inverse, layout!(4 : 1));
    complement!(layout!(((2,4,5)) : ((1,10,2))), 120);
    binary!(composition, layout!((4,4) : (12,3)), layout!((3,12) : (12,1)));
    binary!(composition, layout!((2,6) : (1,0)), (int!(6), ));
    binary!(logical_divide, layout!((4,3,(2)) : (24,0,(12))), int!(2));
    binary!(zipped_divide, layout!((12,2) : (3,36)), layout!((2,(3),5) : (1,(20),4)));
    binary!(tiled_divide, layout!(8 : 3), (int!(2), ));
    binary!(flat_divide, layout!(((6,4,5),5) : ((4,1,24),120)), int!(2));
    binary!(logical_product, layout!((5,3) : (1,5)), (int!(2), __, ));
    binary!(zipped_product, layout!(2 : 1), layout!((3,1) : (1,1)));
    binary!(tiled_product, layout!((5,4,4,2) : (32,8,1,4)), (__, int!(2), int!(2), layout!(3 : 0), ));
    binary!(flat_product, layout!(1 : 0), layout!((6,4) : (16,2)));
    pairs!(blocked_product, layout!(4 : 3), layout!((5,5,3) : (9,90,3)));
    unary!(coalesce, layout!((2,3,2) : (2,0,1)));
    unary!(right_inverse, layout!((3,12,8,4) : (48,1,144,12)));
}

#[test]
#[rustfmt::skip]
fn cases_2() {
    complement!(layout!((4,8) : (0,12)), 170);
    binary!(composition, layout!(3 : 2), int!(4));
    binary!(composition, layout!((1,12) : (12,1)), (layout!((12,6) : (12,1)), ));
    binary!(logical_divide, layout!((4,5,(3,4)) : (0,0,(5,120))), int!(6));
    binary!(zipped_divide, layout!((2,4,5,2) : (1,2,16,8)), (__, layout!((4,4) : (1,4)), layout!(8 : 0), layout!(5 : 1), ));
    binary!(tiled_divide, layout!((12,3,4,2) : (1,192,48,24)), (layout!(5 : 1), ));
    binary!(flat_divide, layout!(3 : 1), int!(2));
    binary!(logical_product, layout!((8,4,(4)) : (16,1,(4))), int!(3));
    binary!(zipped_product, layout!(((6),2,1) : ((2),1,1)), int!(6));
    binary!(tiled_product, layout!((8,4) : (8,1)), int!(4));
    binary!(flat_product, layout!((12,6,4,1) : (48,1,6,6)), int!(8));
    pairs!(blocked_product, layout!((4,1) : (3,24)), layout!((4,6,(6)) : (0,24,(1))));
    unary!(coalesce, layout!((6,4) : (8,1)));
    unary!(right_inverse, layout!((2,6,(1),8) : (1,16,(2),2)));
    complement!(layout!(4 : 1), 4);
    binary!(composition, layout!((4,4,2) : (4,1,16)), (__, int!(3), ));
    binary!(composition, layout!((3,2) : (2,1)), (layout!(2 : 2), int!(8), ));
    binary!(logical_divide, layout!(4 : 2), (layout!((4,2) : (2,1)), ));
    binary!(zipped_divide, layout!(3 : 1), (int!(4), ));
    binary!(tiled_divide, layout!((12,2) : (4,1)), int!(2));
    binary!(flat_divide, layout!((4,(3),1,5) : (30,(0),1,6)), int!(3));
    binary!(logical_product, layout!(6 : 1), int!(2));
    binary!(zipped_product, layout!((8,3) : (3,1)), int!(3));
    binary!(tiled_product, layout!(2 : 1), layout!((8,2) : (3,24)));
    binary!(flat_product, layout!((4,1) : (1,4)), int!(2));
    pairs!(blocked_product, layout!((4,2,6) : (1,24,4)), layout!(4 : 2));
    unary!(coalesce, layout!(3 : 1));
    unary!(right_inverse, layout!((4,3) : (3,1)));
    complement!(layout!(3 : 1), 9);
    binary!(composition, layout!((8,2) : (1,8)), int!(6));
    binary!(composition, layout!((4,6) : (6,1)), (layout!((6,6) : (6,1)), ));
    binary!(logical_divide, layout!((1,4) : (2,2)), (__, ));
    binary!(zipped_divide, layout!((2,2,5) : (0,3,24)), (int!(6), layout!(2 : 2), ));
    binary!(tiled_divide, layout!((8,12,4) : (144,3,36)), int!(2));
    binary!(flat_divide, layout!(2 : 3), layout!(4 : 1));
    binary!(logical_product, layout!((6,8,(8)) : (1,6,(0))), (__, layout!((1,3) : (1,2)), ));
    binary!(zipped_product, layout!((2,4) : (3,6)), (layout!((6,3) : (0,6)), ));
    binary!(tiled_product, layout!((2,2,6) : (1,12,2)), int!(8));
    binary!(flat_product, layout!((8,3) : (1,8)), layout!(2 : 1));
    pairs!(raked_product, layout!(12 : 3), layout!(2 : 1));
    unary!(coalesce, layout!(6 : 1));
    unary!(right_inverse, layout!((5,(2,4)) : (8,(40,1))));
    complement!(layout!((12,5) : (10,0)), 111);
    binary!(composition, layout!(2 : 0), (int!(8), ));
    binary!(composition, layout!(2 : 2), (__, ));
    binary!(logical_divide, layout!(5 : 1), (layout!((3,4) : (0,6)), ));
    binary!(zipped_divide, layout!((3,6) : (6,0)), int!(3));
    binary!(tiled_divide, layout!((4,8,5,12) : (12,240,48,1)), int!(8));
    binary!(flat_divide, layout!((4,4,5,8) : (16,64,256,2)), int!(6));
    binary!(logical_product, layout!(4 : 3), layout!((5,2) : (3,15)));
}

#[test]
#[rustfmt::skip]
fn cases_3() {
    binary!(zipped_product, layout!(6 : 2), (__, ));
    binary!(tiled_product, layout!((8,2,6) : (1,48,8)), (int!(6), ));
    binary!(flat_product, layout!((2,2) : (1,2)), (int!(6), layout!((4,2) : (8,2)), ));
    pairs!(raked_product, layout!(2 : 2), layout!((2,3) : (1,2)));
    unary!(coalesce, layout!((5,5,2,12) : (3,360,180,15)));
    unary!(right_inverse, layout!((4,4,4,2) : (8,32,2,256)));
    complement!(layout!((4,(5),4) : (5,(1),20)), 480);
    binary!(composition, layout!(6 : 2), (__, ));
    binary!(composition, layout!(6 : 1), (layout!(3 : 1), ));
    binary!(logical_divide, layout!((1,1,8) : (8,16,1)), layout!(4 : 1));
    binary!(zipped_divide, layout!(6 : 3), (int!(3), ));
    binary!(tiled_divide, layout!((5,1,5) : (5,5,1)), (layout!((4,5) : (3,12)), ));
    binary!(flat_divide, layout!((2,8,6,4) : (192,6,1,48)), (int!(6), __, layout!((6,1) : (1,12)), __, ));
    binary!(logical_product, layout!(4 : 1), layout!((2,(1),3) : (2,(1),4)));
    binary!(zipped_product, layout!((2,(8),1,2) : (32,(1),1,8)), int!(8));
    binary!(tiled_product, layout!((12,6,3) : (0,3,1)), layout!((4,2) : (2,1)));
    binary!(flat_product, layout!((8,8,1,6) : (1,96,1,0)), (int!(4), ));
    pairs!(raked_product, layout!((1,6) : (6,1)), layout!((6,2) : (2,1)));
    unary!(coalesce, layout!(((6,6),4) : ((2,12),72)));
    unary!(right_inverse, layout!((12,(12,8,6)) : (0,(384,2,4608))));
    complement!(layout!((8,8) : (8,0)), 114);
    binary!(composition, layout!(2 : 1), (layout!(5 : 3), ));
    binary!(composition, layout!((4,2,2,4) : (0,16,2,0)), int!(16));
    binary!(logical_divide, layout!(4 : 2), layout!((4,6,5) : (18,3,144)));
    binary!(zipped_divide, layout!(((4,12,6,3)) : ((432,0,2,0))), layout!((4,8) : (1,4)));
    binary!(tiled_divide, layout!((1,4,(3)) : (1,6,(2))), int!(16));
    binary!(flat_divide, layout!((1,(5),5) : (30,(3),30)), int!(2));
    binary!(logical_product, layout!((2,1,8,(12)) : (16,1,2,(32))), int!(2));
    binary!(zipped_product, layout!((4,4) : (4,1)), layout!((2,5,4) : (40,1,5)));
    binary!(tiled_product, layout!((5,6) : (0,5)), (__, ));
    binary!(flat_product, layout!((4,12) : (24,1)), int!(2));
    pairs!(blocked_product, layout!((3,2,1,(4)) : (1,3,6,(6))), layout!((3,4) : (1,0)));
    unary!(coalesce, layout!(((1,6),2) : ((4,8),1)));
    unary!(right_inverse, layout!((12,8) : (32,2)));
    complement!(layout!((8,4) : (12,3)), 188);
    binary!(composition, layout!((12,6,8,5) : (960,1,12,192)), (int!(6), ));
    binary!(composition, layout!((1,(2,12,2)) : (4,(1,8,4))), layout!(2 : 0));
    binary!(logical_divide, layout!((5,2) : (1,5)), layout!((2,5,(6)) : (60,12,(2))));
    binary!(zipped_divide, layout!((1,4,6,8) : (1,1,32,4)), layout!(1 : 2));
    binary!(tiled_divide, layout!((2,1) : (1,1)), layout!((4,12) : (12,0)));
    binary!(flat_divide, layout!((1,6,3,2) : (12,36,12,3)), int!(6));
    binary!(logical_product, layout!(6 : 1), layout!((8,4) : (2,0)));
    binary!(zipped_product, layout!((4,1) : (1,4)), layout!((6,(12),2) : (4,(48),2)));
    binary!(tiled_product, layout!((4,(2,12),4) : (24,(12,1),96)), int!(8));
    binary!(flat_product, layout!(5 : 2), layout!((6,8) : (1,6)));
    pairs!(raked_product, layout!((12,1,3) : (1,1,12)), layout!(5 : 3));
    unary!(coalesce, layout!(2 : 1));
    unary!(right_inverse, layout!(2 : 1));
    complement!(layout!(8 : 1), 24);
    binary!(composition, layout!((3,8,5,8) : (1,3,24,120)), (layout!((5,5) : (1,5)), ));
}

#[test]
#[rustfmt::skip]
fn cases_4() {
    binary!(composition, layout!(3 : 1), layout!((4,4) : (1,8)));
    binary!(logical_divide, layout!((1,6,2) : (3,3,18)), layout!(12 : 1));
    binary!(zipped_divide, layout!(5 : 0), int!(16));
    binary!(tiled_divide, layout!(12 : 1), int!(6));
    binary!(flat_divide, layout!(5 : 1), int!(2));
    binary!(logical_product, layout!((2,2,4,(4)) : (1,2,32,(8))), layout!((8,12) : (2,16)));
    binary!(zipped_product, layout!((12,8,(4)) : (128,8,(1))), (layout!((2,4) : (1,2)), ));
    binary!(tiled_product, layout!((5,2) : (2,1)), layout!((6,12) : (1,6)));
    binary!(flat_product, layout!(4 : 1), layout!(6 : 1));
    pairs!(blocked_product, layout!((5,8,5,4) : (8,1,0,40)), layout!((3,2,1) : (3,9,18)));
    unary!(coalesce, layout!(((4,4,6),4) : ((192,1,32),8)));
    unary!(right_inverse, layout!(2 : 3));
    complement!(layout!((1,(3,3),12) : (2,(24,72),2)), 1290);
    binary!(composition, layout!(((2,1,6)) : ((1,1,2))), int!(16));
    binary!(composition, layout!((4,6,(2)) : (0,4,(24))), int!(16));
    binary!(logical_divide, layout!(((3,5),2) : ((2,24),6)), int!(6));
    binary!(zipped_divide, layout!((8,2) : (3,48)), (int!(6), int!(6), ));
    binary!(tiled_divide, layout!((4,5) : (5,0)), int!(4));
    binary!(flat_divide, layout!((12,2) : (1,12)), (__, ));
    binary!(logical_product, layout!((12,5,4,1) : (40,4,1,480)), int!(4));
    binary!(zipped_product, layout!(4 : 2), (layout!((4,2) : (1,4)), ));
    binary!(tiled_product, layout!((1,2) : (2,1)), (int!(6), ));
    binary!(flat_product, layout!((8,4,3,2) : (16,1,0,4)), layout!(1 : 1));
    pairs!(raked_product, layout!((4,3) : (2,8)), layout!((1,2,1) : (2,1,2)));
    unary!(coalesce, layout!((12,6) : (1,12)));
    unary!(right_inverse, layout!((4,2,12,5) : (10,80,160,1)));
    complement!(layout!(6 : 3), 48);
    binary!(composition, layout!((3,6,(4)) : (48,4,(1))), int!(6));
    binary!(composition, layout!((1,6,12,5) : (90,3,0,18)), layout!(2 : 1));
    binary!(logical_divide, layout!((3,5,4) : (1,3,15)), int!(4));
    binary!(zipped_divide, layout!((1,6,(5,3)) : (2,6,(0,2))), int!(6));
    binary!(tiled_divide, layout!((4,3,6,4) : (0,1,3,36)), layout!(((3),4,6) : ((8),2,24)));
    binary!(flat_divide, layout!(8 : 1), (int!(3), ));
    binary!(logical_product, layout!((3,1,1,12) : (1,1,1,3)), (int!(8), ));
    binary!(zipped_product, layout!((3,(3),4) : (72,(3),18)), (layout!((3,3) : (1,3)), __, ));
    binary!(tiled_product, layout!((2,2,2,1) : (32,8,2,8)), layout!((3,4) : (8,2)));
    binary!(flat_product, layout!((2,1) : (1,1)), (int!(8), layout!(6 : 1), ));
    pairs!(raked_product, layout!(((2,6,5)) : ((5,10,1))), layout!((3,8,(3)) : (1,9,(3))));
    unary!(coalesce, layout!((2,1,4) : (8,0,2)));
    unary!(right_inverse, layout!((12,2,4,4) : (4,48,1,96)));
    complement!(layout!((2,12,(2)) : (2,8,(4))), 380);
    binary!(composition, layout!(((8,4),2,6) : ((1,192),8,16)), int!(8));
    binary!(composition, layout!((2,8,4) : (32,1,8)), layout!(2 : 0));
    binary!(logical_divide, layout!((5,2,2) : (4,0,2)), (__, int!(3), ));
    binary!(zipped_divide, layout!(2 : 1), int!(4));
    binary!(tiled_divide, layout!((8,4) : (0,1)), layout!(1 : 1));
    binary!(flat_divide, layout!((3,12,3) : (72,6,2)), (__, ));
    binary!(logical_product, layout!((8,5) : (2,16)), (__, ));
    binary!(zipped_product, layout!(((12,12,2),1) : ((24,1,12),1)), int!(8));
    binary!(tiled_product, layout!((4,(8),2) : (1,(8),128)), layout!(8 : 1));
}

#[test]
#[rustfmt::skip]
fn cases_5() {
    binary!(flat_product, layout!(12 : 1), int!(6));
    pairs!(blocked_product, layout!(((12,6),1) : ((6,0),72)), layout!((3,3,(4)) : (24,1,(3))));
    unary!(coalesce, layout!((8,4) : (4,1)));
    unary!(right_inverse, layout!((3,4,(12)) : (48,12,(1))));
    complement!(layout!(2 : 1), 12);
    binary!(composition, layout!(2 : 3), layout!((1,6,8) : (1,16,2)));
    binary!(composition, layout!((8,12) : (1,8)), layout!(2 : 2));
    binary!(logical_divide, layout!((8,3,4,4) : (16,256,4,1)), (layout!(12 : 3), int!(4), layout!(6 : 1), int!(8), ));
    binary!(zipped_divide, layout!(5 : 3), int!(2));
    binary!(tiled_divide, layout!((8,12,(4,12)) : (4,64,(1,768))), int!(6));
    binary!(flat_divide, layout!((4,3,3,5) : (1,120,20,4)), int!(3));
    binary!(logical_product, layout!(4 : 1), (int!(4), ));
    binary!(zipped_product, layout!((1,4) : (1,1)), int!(3));
    binary!(tiled_product, layout!(12 : 3), layout!(2 : 1));
    binary!(flat_product, layout!(((2,8),8,3) : ((8,1),96,0)), layout!((8,(1),2) : (3,(3),24)));
    pairs!(raked_product, layout!((1,3) : (6,1)), layout!((4,4,12) : (3,288,24)));
    unary!(coalesce, layout!(((4,4,4,1)) : ((48,3,12,3))));
    unary!(right_inverse, layout!((1,3) : (3,3)));
    complement!(layout!((2,2) : (1,2)), 4);
    binary!(composition, layout!((3,(2),2,2) : (16,(4),48,0)), (layout!((4,8) : (0,0)), int!(6), ));
    binary!(composition, layout!((3,2) : (2,6)), layout!(4 : 2));
    binary!(logical_divide, layout!((4,3) : (0,24)), (int!(6), layout!(6 : 1), ));
    binary!(zipped_divide, layout!(1 : 1), layout!((1,2) : (2,1)));
    binary!(tiled_divide, layout!(6 : 1), layout!((3,4) : (8,2)));
    binary!(flat_divide, layout!((6,1,6,4) : (0,3,12,3)), (int!(4), __, int!(6), int!(6), ));
    binary!(logical_product, layout!(1 : 1), int!(2));
    binary!(zipped_product, layout!((2,6,4,6) : (6,96,24,1)), (layout!(1 : 2), int!(8), __, int!(8), ));
    binary!(tiled_product, layout!((4,6,1,6) : (36,288,18,3)), (int!(6), ));
    binary!(flat_product, layout!((12,5,12,2) : (10,2,120,1)), (layout!(1 : 1), int!(8), ));
    pairs!(raked_product, layout!((1,12,(1)) : (3,0,(3))), layout!((3,1,(5)) : (1,6,(0))));
    unary!(coalesce, layout!(((2,4,4),12) : ((192,4,1),16)));
    unary!(right_inverse, layout!(5 : 2));
    complement!(layout!((5,(5,3,5)) : (3,(45,15,225))), 4492);
    binary!(composition, layout!(1 : 1), (int!(8), ));
    binary!(composition, layout!(12 : 1), layout!((4,6,4) : (0,16,4)));
    binary!(logical_divide, layout!((2,1) : (2,0)), layout!((3,12,(2)) : (12,1,(72))));
    binary!(zipped_divide, layout!(8 : 3), layout!((4,2) : (2,1)));
    binary!(tiled_divide, layout!((6,(5),6,6) : (6,(36),360,1)), (layout!((1,8) : (1,1)), int!(6), ));
    binary!(flat_divide, layout!(2 : 1), (layout!((8,8) : (0,8)), ));
    binary!(logical_product, layout!((6,4) : (0,1)), layout!(8 : 1));
    binary!(zipped_product, layout!((4,4,4) : (4,16,1)), layout!(8 : 1));
    binary!(tiled_product, layout!((1,4,5) : (5,5,1)), layout!((6,2) : (1,12)));
    binary!(flat_product, layout!((4,4,12,5) : (5,480,20,1)), int!(6));
    pairs!(blocked_product, layout!(1 : 3), layout!(((2,8),1) : ((8,1),16)));
    unary!(coalesce, layout!((6,8,(6)) : (96,12,(2))));
    unary!(right_inverse, layout!((3,8,12) : (24,72,1)));
    complement!(layout!((2,3) : (1,2)), 12);
    binary!(composition, layout!((2,4,2,(2)) : (4,8,1,(0))), (int!(3), layout!(1 : 1), layout!((8,12) : (12,1)), int!(6), ));
    binary!(composition, layout!(6 : 1), int!(4));
    binary!(logical_divide, layout!((12,6,4,2) : (4,96,1,48)), (int!(3), ));
}

#[test]
#[rustfmt::skip]
fn cases_6() {
    binary!(zipped_divide, layout!((4,2,8) : (2,1,8)), (int!(3), ));
    binary!(tiled_divide, layout!((4,1) : (1,1)), layout!((2,8,4) : (64,8,2)));
    binary!(flat_divide, layout!((4,2) : (2,1)), (int!(4), ));
    binary!(logical_product, layout!(12 : 3), (__, ));
    binary!(zipped_product, layout!((5,3,(5)) : (1,25,(0))), (int!(2), __, ));
    binary!(tiled_product, layout!((6,2) : (2,1)), layout!((12,4,(4)) : (0,96,(2))));
    binary!(flat_product, layout!((8,6) : (1,8)), int!(2));
    pairs!(blocked_product, layout!((12,2,5) : (1,12,24)), layout!((4,4) : (2,8)));
    unary!(coalesce, layout!((1,(5),3) : (30,(3),0)));
    unary!(right_inverse, layout!(4 : 1));
    complement!(layout!((12,1) : (1,1)), 24);
    binary!(composition, layout!((6,12,5) : (12,1,72)), (layout!(6 : 1), ));
    binary!(composition, layout!((3,2,4) : (8,1,2)), (int!(6), __, ));
    binary!(logical_divide, layout!((6,(1,6),1) : (18,(3,3),3)), (int!(6), int!(2), int!(4), ));
    binary!(zipped_divide, layout!((6,(2,3)) : (8,(2,48))), (layout!(5 : 1), ));
    binary!(tiled_divide, layout!((8,12) : (2,16)), layout!((2,6) : (12,1)));
    binary!(flat_divide, layout!((2,12) : (12,1)), int!(8));
    binary!(logical_product, layout!((4,8) : (16,1)), (int!(3), ));
    binary!(zipped_product, layout!(2 : 1), (__, ));
    binary!(tiled_product, layout!((2,(4),6,2) : (6,(12),1,48)), layout!((4,5) : (0,8)));
    binary!(flat_product, layout!(2 : 1), int!(4));
    pairs!(raked_product, layout!((3,8,2) : (2,6,1)), layout!((8,5,5) : (10,0,80)));
    unary!(coalesce, layout!((4,4) : (2,0)));
    unary!(right_inverse, layout!((12,5,5) : (2,240,48)));
    complement!(layout!((12,(1,2),1) : (2,(2,1),1)), 24);
    binary!(composition, layout!((3,4) : (1,3)), layout!(8 : 2));
    binary!(composition, layout!((12,2,1) : (3,72,72)), (layout!((6,6) : (0,0)), __, ));
    binary!(logical_divide, layout!((4,2,2,1) : (2,8,1,8)), int!(16));
    binary!(zipped_divide, layout!((4,3) : (3,1)), layout!((5,4,3) : (8,1,0)));
    binary!(tiled_divide, layout!((1,8) : (16,2)), (int!(8), int!(4), ));
    binary!(flat_divide, layout!((3,4,6) : (4,1,12)), (__, __, int!(6), ));
    binary!(logical_product, layout!(4 : 1), int!(8));
    binary!(zipped_product, layout!((4,5,(5)) : (15,120,(3))), (layout!(5 : 3), ));
    binary!(tiled_product, layout!((4,6,(3,6)) : (1,24,(8,144))), layout!((3,4) : (12,0)));
    binary!(flat_product, layout!(12 : 1), layout!((2,2) : (8,2)));
    pairs!(blocked_product, layout!((2,8,8) : (64,1,8)), layout!(2 : 1));
    unary!(coalesce, layout!((4,2,8,3) : (4,2,48,16)));
    unary!(right_inverse, layout!(5 : 3));
    complement!(layout!((4,12,(2)) : (72,3,(36))), 858);
    binary!(composition, layout!(3 : 0), (int!(8), ));
    binary!(composition, layout!(4 : 1), int!(2));
    binary!(logical_divide, layout!((6,12) : (36,3)), (__, ));
    binary!(zipped_divide, layout!(1 : 1), (int!(4), ));
    binary!(tiled_divide, layout!((4,8,(4)) : (12,48,(3))), int!(3));
    binary!(flat_divide, layout!((2,2,1,5) : (4,1,4,8)), layout!((4,1) : (1,1)));
    binary!(logical_product, layout!((12,8) : (1,12)), layout!(((8,2),12) : ((12,96),1)));
    binary!(zipped_product, layout!((2,(1),4) : (4,(0),1)), (__, ));
    binary!(tiled_product, layout!((12,(2,2),6) : (4,(1,96),384)), (__, ));
    binary!(flat_product, layout!((4,(8),8,6) : (8,(1),192,32)), (layout!(6 : 0), int!(2), ));
    pairs!(raked_product, layout!((3,2,1,(4)) : (2,6,48,(0))), layout!((4,1) : (1,4)));
}

#[test]
#[rustfmt::skip]
fn cases_7() {
    unary!(coalesce, layout!((8,2,(6)) : (0,96,(2))));
    unary!(right_inverse, layout!((3,12,(12)) : (24,72,(0))));
    complement!(layout!((6,(12,6)) : (144,(12,2))), 863);
    binary!(composition, layout!((12,2,8) : (16,192,1)), int!(2));
    binary!(composition, layout!((8,3,4) : (3,1,24)), (__, layout!(5 : 1), ));
    binary!(logical_divide, layout!(8 : 1), layout!((5,(1,2)) : (1,(10,10))));
    binary!(zipped_divide, layout!((4,5) : (3,12)), (int!(4), ));
    binary!(tiled_divide, layout!(((8,3,6)) : ((6,1,96))), int!(4));
    binary!(flat_divide, layout!((12,6,4,8) : (24,4,1,288)), int!(2));
    binary!(logical_product, layout!((8,8,4) : (24,3,192)), layout!(2 : 2));
    binary!(zipped_product, layout!((2,2,8) : (32,16,2)), (int!(2), int!(6), ));
    binary!(tiled_product, layout!((1,4) : (8,1)), int!(8));
    binary!(flat_product, layout!(4 : 2), (__, ));
    pairs!(blocked_product, layout!((12,2) : (0,1)), layout!((5,4) : (3,15)));
    unary!(coalesce, layout!((2,(12,4),5) : (5,(40,10),1)));
    unary!(right_inverse, layout!((4,(5),1) : (1,(4),4)));
    complement!(layout!((12,3,6) : (1,24,144)), 1560);
    binary!(composition, layout!((4,6) : (18,3)), int!(8));
    binary!(composition, layout!((1,2,3) : (9,9,3)), (layout!((4,2) : (2,1)), layout!((4,5) : (1,4)), layout!((5,4) : (2,0)), ));
    binary!(logical_divide, layout!(4 : 1), layout!(((4),8,4) : ((96),12,3)));
    binary!(zipped_divide, layout!(4 : 1), (layout!((4,12) : (12,0)), ));
    binary!(tiled_divide, layout!(4 : 2), layout!(1 : 1));
    binary!(flat_divide, layout!((4,6) : (1,4)), (int!(4), __, ));
    binary!(logical_product, layout!(2 : 3), int!(2));
    binary!(zipped_product, layout!((12,8) : (1,12)), int!(4));
    binary!(tiled_product, layout!((12,4,4) : (2,24,96)), int!(16));
    binary!(flat_product, layout!(4 : 3), (int!(6), ));
    pairs!(raked_product, layout!((5,5,(4)) : (80,1,(10))), layout!((4,8) : (1,8)));
    unary!(coalesce, layout!(2 : 1));
    unary!(right_inverse, layout!(4 : 1));
    complement!(layout!((12,4,3,6) : (3,1296,216,36)), 9068);
    binary!(composition, layout!((2,4,2) : (24,6,3)), (int!(8), ));
    binary!(composition, layout!((4,(4,2),6) : (3,(576,144),12)), (layout!(1 : 1), int!(8), int!(8), ));
    binary!(logical_divide, layout!((6,12) : (36,3)), layout!(4 : 1));
    binary!(zipped_divide, layout!((6,6,(2)) : (1,12,(72))), (__, layout!((4,5) : (2,8)), layout!((1,3) : (3,0)), ));
    binary!(tiled_divide, layout!(6 : 1), layout!((5,4) : (16,2)));
    binary!(flat_divide, layout!(12 : 1), layout!(4 : 1));
    binary!(logical_product, layout!(1 : 1), (int!(6), ));
    binary!(zipped_product, layout!(((4,4,4)) : ((1,8,32))), layout!((5,4) : (4,0)));
    binary!(tiled_product, layout!((2,2) : (1,2)), (layout!(4 : 1), int!(6), ));
    binary!(flat_product, layout!((4,8) : (1,4)), (__, layout!((4,4) : (2,8)), ));
    pairs!(raked_product, layout!((12,8,3,5) : (0,24,0,1152)), layout!(6 : 1));
    unary!(coalesce, layout!((3,4) : (1,6)));
    unary!(right_inverse, layout!((2,1,(2),6) : (2,8,(1),16)));
    complement!(layout!((2,2,(6,3)) : (0,72,(2,12))), 107);
    binary!(composition, layout!((12,4) : (1,12)), (__, int!(4), ));
    binary!(composition, layout!(((12,4),6,2) : ((144,18),3,72)), int!(4));
    binary!(logical_divide, layout!(((2,2,2,12)) : ((12,96,24,1))), layout!((2,4) : (8,1)));
    binary!(zipped_divide, layout!((3,2,5,8) : (40,120,1,5)), (int!(2), int!(3), layout!(1 : 2), int!(4), ));
    binary!(tiled_divide, layout!((5,2,(2,5)) : (2,100,(10,20))), (__, int!(3), ));
}

#[test]
#[rustfmt::skip]
fn cases_8() {
    binary!(flat_divide, layout!(3 : 0), int!(16));
    binary!(logical_product, layout!((5,4) : (1,5)), layout!(3 : 1));
    binary!(zipped_product, layout!((2,4,12) : (24,48,1)), (int!(4), ));
    binary!(tiled_product, layout!((12,2,1) : (3,72,72)), (__, ));
    binary!(flat_product, layout!(12 : 1), (int!(3), ));
    pairs!(raked_product, layout!(5 : 1), layout!((3,8,4) : (4,12,0)));
    unary!(coalesce, layout!(2 : 1));
    unary!(right_inverse, layout!((2,5) : (3,6)));
    complement!(layout!((3,8) : (24,3)), 280);
    binary!(composition, layout!(12 : 1), (int!(8), ));
    binary!(composition, layout!((12,2,2) : (8,1,2)), (layout!(3 : 3), layout!((12,8) : (3,72)), int!(2), ));
    binary!(logical_divide, layout!(((3,4),12) : ((48,1),4)), int!(3));
    binary!(zipped_divide, layout!(2 : 1), int!(16));
    binary!(tiled_divide, layout!((12,1) : (1,1)), layout!(4 : 1));
    binary!(flat_divide, layout!(1 : 2), layout!((5,2,1) : (2,40,20)));
    binary!(logical_product, layout!((2,(12),4) : (0,(1),12)), int!(3));
    binary!(zipped_product, layout!(2 : 1), layout!((12,1,1) : (0,24,1)));
    binary!(tiled_product, layout!((12,3) : (6,1)), (layout!(2 : 1), ));
    binary!(flat_product, layout!((2,6,(5)) : (90,3,(18))), (int!(3), int!(6), ));
    pairs!(raked_product, layout!(((5),4,1) : ((8),1,40)), layout!((4,12,4) : (48,1,12)));
    unary!(coalesce, layout!((2,5) : (5,1)));
    unary!(right_inverse, layout!((4,2,2,2) : (24,12,0,3)));
    complement!(layout!((3,12,12,8) : (864,72,3,2592)), 20698);
    binary!(composition, layout!((2,1) : (1,0)), layout!((8,2) : (1,8)));
    binary!(composition, layout!((5,4,4,4) : (3,15,480,120)), layout!((2,3) : (0,1)));
    binary!(logical_divide, layout!(6 : 1), int!(4));
    binary!(zipped_divide, layout!(8 : 1), int!(8));
    binary!(tiled_divide, layout!((6,1,12) : (2,144,12)), layout!((1,1) : (1,1)));
    binary!(flat_divide, layout!(8 : 2), int!(3));
    binary!(logical_product, layout!((1,8,8,2) : (256,1,0,8)), layout!((4,6) : (0,1)));
    binary!(zipped_product, layout!(5 : 1), int!(4));
    binary!(tiled_product, layout!(4 : 0), int!(6));
    binary!(flat_product, layout!((2,3) : (1,2)), (layout!(2 : 0), int!(4), ));
    pairs!(blocked_product, layout!((2,4,4) : (1,8,2)), layout!((2,3) : (3,0)));
    unary!(coalesce, layout!(4 : 1));
    unary!(right_inverse, layout!((6,2) : (1,6)));
    complement!(layout!(5 : 2), 27);
    binary!(composition, layout!(4 : 1), int!(4));
    binary!(composition, layout!((8,2) : (2,1)), int!(4));
    binary!(logical_divide, layout!(8 : 2), (int!(8), ));
    binary!(zipped_divide, layout!(8 : 1), int!(2));
    binary!(tiled_divide, layout!(((12,3,4)) : ((1,12,36))), int!(4));
    binary!(flat_divide, layout!(5 : 1), int!(6));
    binary!(logical_product, layout!((5,2,(4),6) : (48,0,(12),2)), layout!((2,3,4) : (1,4,12)));
    binary!(zipped_product, layout!((1,4) : (0,0)), (layout!(3 : 3), layout!(1 : 1), ));
    binary!(tiled_product, layout!(2 : 1), (int!(8), ));
    binary!(flat_product, layout!(2 : 0), layout!((2,5,1) : (1,2,10)));
    pairs!(blocked_product, layout!(1 : 3), layout!((2,4) : (1,2)));
    unary!(coalesce, layout!((4,2,(3,8)) : (6,1,(2,24))));
    unary!(right_inverse, layout!((4,6,(2)) : (2,16,(1))));
}

#[test]
#[rustfmt::skip]
fn cases_9() {
    complement!(layout!((2,3) : (3,12)), 84);
    binary!(composition, layout!((5,(4),4) : (4,(0),1)), (int!(6), int!(2), layout!(2 : 1), ));
    binary!(composition, layout!(6 : 1), layout!((6,5,4) : (15,3,90)));
    binary!(logical_divide, layout!((2,5,(1)) : (1,2,(2))), (layout!((4,2) : (2,1)), layout!((3,5) : (5,1)), ));
    binary!(zipped_divide, layout!((5,12) : (1,5)), layout!((3,6) : (6,1)));
    binary!(tiled_divide, layout!(1 : 1), (int!(3), ));
    binary!(flat_divide, layout!((2,4) : (1,2)), (int!(3), layout!(8 : 1), ));
    binary!(logical_product, layout!(1 : 1), (layout!((6,2) : (2,0)), ));
    binary!(zipped_product, layout!((5,(3,4)) : (24,(4,1))), (layout!(6 : 1), ));
    binary!(tiled_product, layout!(1 : 3), (int!(3), ));
    binary!(flat_product, layout!((3,4,3) : (12,3,1)), layout!((2,2,2) : (2,0,0)));
    pairs!(raked_product, layout!((1,1,6) : (6,1,1)), layout!((5,5) : (5,1)));
    unary!(coalesce, layout!((12,(4,4),4) : (16,(192,1),4)));
    unary!(right_inverse, layout!((1,4,(6)) : (0,2,(8))));
    complement!(layout!((4,4,4,3) : (0,288,72,0)), 3243);
    binary!(composition, layout!(2 : 3), int!(2));
    binary!(composition, layout!((2,2) : (1,2)), int!(8));
    binary!(logical_divide, layout!((6,2,4) : (4,24,1)), int!(8));
    binary!(zipped_divide, layout!((2,8,4,2) : (16,2,32,1)), int!(4));
    binary!(tiled_divide, layout!(1 : 1), layout!((2,4,(1)) : (8,2,(1))));
    binary!(flat_divide, layout!((3,(3,5,2)) : (5,(60,0,0))), int!(6));
    binary!(logical_product, layout!(((6),1,1) : ((4),24,2)), (__, layout!((4,1) : (3,0)), int!(6), ));
    binary!(zipped_product, layout!((4,2) : (2,1)), (layout!(5 : 2), int!(3), ));
    binary!(tiled_product, layout!(1 : 1), int!(16));
    binary!(flat_product, layout!((8,1,2) : (1,0,8)), int!(4));
    pairs!(raked_product, layout!(4 : 1), layout!((2,2) : (2,4)));
    unary!(coalesce, layout!((8,3,2,8) : (1,16,48,96)));
    unary!(right_inverse, layout!((5,3,3,(5)) : (1,15,5,(0))));
    complement!(layout!((5,12) : (0,5)), 168);
    binary!(composition, layout!(5 : 1), (__, ));
    binary!(composition, layout!(1 : 3), int!(8));
    binary!(logical_divide, layout!(1 : 0), layout!((4,4) : (1,4)));
    binary!(zipped_divide, layout!((4,1) : (1,1)), layout!((2,(4),6) : (4,(1),8)));
    binary!(tiled_divide, layout!((4,2,2) : (1,4,8)), (layout!((2,3) : (1,2)), ));
    binary!(flat_divide, layout!((3,5) : (1,3)), layout!((8,4) : (8,1)));
    binary!(logical_product, layout!((12,4) : (8,1)), (int!(4), ));
    binary!(zipped_product, layout!((12,6) : (6,1)), int!(3));
    binary!(tiled_product, layout!(6 : 1), (int!(8), ));
    binary!(flat_product, layout!(5 : 1), int!(8));
    pairs!(blocked_product, layout!(8 : 1), layout!(12 : 3));
    unary!(coalesce, layout!((4,4,2,3) : (1,12,48,4)));
    unary!(right_inverse, layout!(1 : 0));
    complement!(layout!((3,4,2,1) : (6,18,3,3)), 140);
    binary!(composition, layout!(2 : 1), int!(6));
    binary!(composition, layout!(4 : 3), int!(8));
    binary!(logical_divide, layout!((6,12,1,2) : (2,24,2,12)), (layout!(4 : 1), layout!(4 : 3), __, int!(8), ));
    binary!(zipped_divide, layout!((12,12,4) : (384,2,48)), int!(2));
    binary!(tiled_divide, layout!((4,(5),8) : (160,(16),2)), layout!(1 : 1));
    binary!(flat_divide, layout!((2,4) : (0,3)), (layout!((3,6) : (0,6)), layout!((2,2) : (1,2)), ));
    binary!(logical_product, layout!(2 : 1), layout!(3 : 3));
}

#[test]
#[rustfmt::skip]
fn cases_10() {
    binary!(zipped_product, layout!((2,(8),2,12) : (16,(1),0,64)), layout!((2,1) : (1,2)));
    binary!(tiled_product, layout!((2,3,5,(1)) : (2,20,4,(4))), layout!(4 : 1));
    binary!(flat_product, layout!(6 : 1), int!(3));
    pairs!(blocked_product, layout!(((4),2,5) : ((10),5,1)), layout!((1,5,1) : (30,3,30)));
    unary!(coalesce, layout!((2,2,1) : (4,1,2)));
    unary!(right_inverse, layout!((12,1,2) : (2,48,1)));
    complement!(layout!((2,1,2) : (2,1,1)), 16);
    binary!(composition, layout!((4,2) : (2,1)), (layout!((8,8) : (1,8)), layout!((5,12) : (1,0)), ));
    binary!(composition, layout!((3,1,(12)) : (1,1,(3))), (int!(3), ));
    binary!(logical_divide, layout!((12,8,(1)) : (8,1,(1))), (__, layout!(1 : 1), ));
    binary!(zipped_divide, layout!((4,3) : (1,8)), layout!((4,4) : (8,2)));
    binary!(tiled_divide, layout!((1,3,8) : (1,0,1)), (layout!((2,1) : (1,2)), int!(2), layout!((5,8) : (8,1)), ));
    binary!(flat_divide, layout!((6,6) : (3,18)), (int!(6), __, ));
    binary!(logical_product, layout!(2 : 2), (int!(6), ));
    binary!(zipped_product, layout!((12,6,1) : (1,12,72)), int!(4));
    binary!(tiled_product, layout!(((4),1,3,4) : ((6),6,0,24)), int!(2));
    binary!(flat_product, layout!((1,5) : (1,1)), layout!(4 : 2));
    pairs!(raked_product, layout!(5 : 2), layout!(12 : 0));
    unary!(coalesce, layout!(1 : 1));
    unary!(right_inverse, layout!((1,2) : (1,1)));
    complement!(layout!((5,4,5) : (4,1,20)), 400);
    binary!(composition, layout!(3 : 2), (int!(8), ));
    binary!(composition, layout!((5,8,3) : (6,30,1)), int!(2));
    binary!(logical_divide, layout!((4,4) : (4,1)), (int!(4), int!(4), ));
    binary!(zipped_divide, layout!(((12),1,2) : ((2),48,48)), (layout!((4,4) : (4,1)), layout!(5 : 1), ));
    binary!(tiled_divide, layout!((12,1,4) : (4,0,1)), (layout!(2 : 0), __, ));
    binary!(flat_divide, layout!(3 : 1), (int!(2), ));
    binary!(logical_product, layout!((4,4,(12)) : (192,24,(2))), (int!(4), ));
    binary!(zipped_product, layout!((2,3) : (1,2)), (int!(6), ));
    binary!(tiled_product, layout!((2,4,3) : (36,9,3)), (int!(4), __, ));
    binary!(flat_product, layout!((1,3,12) : (1,24,2)), (layout!((5,8) : (2,10)), __, int!(4), ));
    pairs!(blocked_product, layout!(2 : 1), layout!(4 : 1));
    unary!(coalesce, layout!(((8,4,1,4)) : ((16,1,4,4))));
    unary!(right_inverse, layout!((6,4,4) : (16,1,4)));
    complement!(layout!((4,2) : (2,1)), 24);
    binary!(composition, layout!((1,(2),6) : (0,(1),2)), int!(6));
    binary!(composition, layout!((6,2,3,12) : (6,432,1,36)), (int!(4), int!(2), ));
    binary!(logical_divide, layout!(12 : 1), (layout!((3,1) : (1,1)), ));
    binary!(zipped_divide, layout!(((2,8),4) : ((2,16),4)), int!(6));
    binary!(tiled_divide, layout!(1 : 1), int!(2));
    binary!(flat_divide, layout!(2 : 1), layout!((2,2) : (2,0)));
    binary!(logical_product, layout!((2,5,(2)) : (20,4,(2))), layout!((4,12) : (1,4)));
    binary!(zipped_product, layout!((4,2,1) : (2,1,1)), layout!(2 : 1));
    binary!(tiled_product, layout!((3,2) : (6,0)), layout!((12,8) : (3,36)));
    binary!(flat_product, layout!((3,(3,4),3) : (2,(24,6),72)), int!(16));
    pairs!(raked_product, layout!((2,2,5,2) : (0,5,1,10)), layout!((5,5,2) : (2,10,1)));
    unary!(coalesce, layout!(3 : 1));
    unary!(right_inverse, layout!((2,1) : (1,4)));
    complement!(layout!((3,5,(4)) : (1,12,(3))), 180);
    binary!(composition, layout!(4 : 2), layout!(2 : 0));
}

#[test]
#[rustfmt::skip]
fn cases_11() {
    binary!(composition, layout!((5,2) : (2,1)), (int!(4), ));
    binary!(logical_divide, layout!((4,5) : (5,1)), (layout!((8,12) : (12,1)), int!(3), ));
    binary!(zipped_divide, layout!(((8,2),1,4) : ((1,8),128,16)), (__, ));
    binary!(tiled_divide, layout!(((4,2),3) : ((3,12),24)), layout!((1,2,2) : (1,1,2)));
    binary!(flat_divide, layout!((12,6) : (6,1)), (int!(3), ));
    binary!(logical_product, layout!((4,8) : (8,1)), int!(2));
    binary!(zipped_product, layout!((1,4) : (4,1)), layout!((1,(1),1) : (1,(1),1)));
    binary!(tiled_product, layout!((3,5) : (5,1)), layout!(4 : 1));
    binary!(flat_product, layout!(1 : 1), layout!(5 : 2));
    pairs!(blocked_product, layout!((3,8,8,4) : (96,3,288,24)), layout!((4,2) : (0,3)));
    unary!(coalesce, layout!((12,(2),3) : (1,(12),24)));
    unary!(right_inverse, layout!(((1),4,1) : ((8),2,8)));
    complement!(layout!((12,6,4,6) : (144,1,6,24)), 5184);
    binary!(composition, layout!(2 : 1), layout!(((6,4),1) : ((1,6),6)));
    binary!(composition, layout!((5,4,8) : (8,80,1)), (__, int!(6), int!(6), ));
    binary!(logical_divide, layout!(2 : 1), int!(8));
    binary!(zipped_divide, layout!((2,4) : (3,12)), layout!(2 : 1));
    binary!(tiled_divide, layout!((4,8,4,2) : (8,64,2,32)), (int!(6), layout!((2,6) : (18,3)), ));
    binary!(flat_divide, layout!((6,2,(3)) : (1,18,(6))), int!(6));
    binary!(logical_product, layout!((2,2) : (0,2)), layout!((2,4) : (1,2)));
    binary!(zipped_product, layout!(4 : 2), (layout!(4 : 1), ));
    binary!(tiled_product, layout!((1,1) : (3,3)), (int!(8), layout!((5,12) : (12,1)), ));
    binary!(flat_product, layout!(2 : 1), layout!((6,8) : (16,1)));
    pairs!(blocked_product, layout!(2 : 1), layout!((4,1,12) : (24,96,0)));
    unary!(coalesce, layout!(5 : 1));
    unary!(right_inverse, layout!((12,12) : (24,2)));
    complement!(layout!((6,4,1,5) : (3,180,3,18)), 3768);
    binary!(composition, layout!((2,3,4,(12)) : (12,2,48,(192))), (int!(2), ));
    binary!(composition, layout!((6,4) : (12,3)), int!(6));
    binary!(logical_divide, layout!((6,8,2) : (16,2,0)), int!(4));
    binary!(zipped_divide, layout!(6 : 1), (int!(4), ));
    binary!(tiled_divide, layout!((12,2,2) : (12,6,3)), layout!((12,4) : (1,12)));
    binary!(flat_divide, layout!(((8,6,1),2) : ((12,2,96),1)), int!(3));
    binary!(logical_product, layout!((8,3,(1),5) : (2,16,(1),48)), layout!((3,4,4) : (4,1,24)));
    binary!(zipped_product, layout!(6 : 1), (int!(6), ));
    binary!(tiled_product, layout!((8,4,(8)) : (1,128,(8))), int!(8));
    binary!(flat_product, layout!((2,5) : (10,1)), (layout!(4 : 1), layout!((8,4) : (8,1)), ));
    pairs!(raked_product, layout!((2,4,2) : (8,1,4)), layout!(8 : 2));
    unary!(coalesce, layout!((8,2,2,6) : (1,16,32,64)));
    unary!(right_inverse, layout!((4,1) : (1,1)));
    complement!(layout!(((4,5),1) : ((3,12),3)), 174);
    binary!(composition, layout!(2 : 1), layout!((3,12) : (24,1)));
    binary!(composition, layout!((4,8,4) : (32,1,8)), layout!((3,4) : (4,1)));
    binary!(logical_divide, layout!((6,(5,2)) : (2,(24,1))), int!(3));
    binary!(zipped_divide, layout!(5 : 3), (int!(3), ));
    binary!(tiled_divide, layout!((2,6) : (1,4)), int!(16));
    binary!(flat_divide, layout!((12,6,4,2) : (96,1,6,48)), layout!((2,5) : (5,0)));
    binary!(logical_product, layout!(5 : 1), layout!((6,12,(1)) : (24,0,(1))));
    binary!(zipped_product, layout!(3 : 1), (layout!(8 : 1), ));
    binary!(tiled_product, layout!((1,4,3) : (0,2,8)), int!(8));
}
