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
    unary!(left_inverse, layout!(((8),4,4) : ((16),128,2)));
    complement!(layout!((3,4) : (16,2)), 39);
    binary!(composition, layout!((6,1,2) : (4,1,1)), layout!(4 : 1));
    binary!(composition, layout!(12 : 1), layout!((4,(12),4) : (24,(1),96)));
    binary!(logical_divide, layout!(8 : 1), (int!(8), ));
    binary!(zipped_divide, layout!(((6,1,3)) : ((1,18,6))), int!(6));
    binary!(tiled_divide, layout!((4,4,1) : (12,3,96)), (layout!((1,4) : (1,1)), int!(2), ));
    binary!(flat_divide, layout!(12 : 1), layout!(3 : 1));
    binary!(logical_product, layout!(8 : 1), layout!(((5,3,12)) : ((1,60,5))));
    binary!(zipped_product, layout!((3,6,5,3) : (5,45,1,15)), layout!(3 : 1));
    binary!(tiled_product, layout!(8 : 3), int!(3));
    binary!(flat_product, layout!(8 : 0), layout!((5,5) : (10,2)));
    pairs!(raked_product, layout!((2,8) : (1,2)), layout!(((8,6),8) : ((3,384),0)));
    unary!(coalesce, layout!(6 : 2));
    unary!(right_inverse, layout!((3,4,8,(4)) : (4,1,48,(12))));
    unary!(left_inverse, layout!((5,1) : (1,1)));
    complement!(layout!((5,8,2) : (3,30,15)), 952);
    binary!(composition, layout!(12 : 3), (int!(2), ));
    binary!(composition, layout!((4,3,6,12) : (1,24,4,72)), (int!(8), int!(2), ));
    binary!(logical_divide, layout!((6,2,12,6) : (18,108,216,3)), (layout!(12 : 3), int!(4), int!(4), ));
    binary!(zipped_divide, layout!((2,1) : (2,4)), int!(16));
    binary!(tiled_divide, layout!((8,3) : (3,0)), int!(8));
    binary!(flat_divide, layout!((12,(12),8,4) : (1,(24),288,2304)), layout!((8,1) : (1,0)));
    binary!(logical_product, layout!((2,4,6,1) : (12,3,24,24)), (int!(2), layout!((6,6) : (12,1)), ));
    binary!(zipped_product, layout!((4,1) : (1,4)), (__, ));
    binary!(tiled_product, layout!(4 : 0), (layout!((2,1) : (1,2)), ));
    binary!(flat_product, layout!((5,(6),4) : (4,(20),1)), layout!((2,3,4) : (3,12,36)));
    pairs!(blocked_product, layout!((6,5,6) : (30,1,5)), layout!((6,3,(4)) : (4,24,(1))));
    unary!(coalesce, layout!(12 : 1));
    unary!(right_inverse, layout!(8 : 1));
    unary!(left_inverse, layout!((4,12) : (12,1)));
    complement!(layout!((1,8,(6)) : (16,2,(16))), 95);
    binary!(composition, layout!((8,6,4) : (8,64,1)), (int!(8), int!(4), ));
    binary!(composition, layout!(3 : 3), (__, ));
    binary!(logical_divide, layout!((1,(3),2,8) : (96,(16),1,2)), layout!((5,4) : (3,15)));
    binary!(zipped_divide, layout!(4 : 1), int!(2));
    binary!(tiled_divide, layout!((4,3) : (6,2)), layout!(2 : 1));
    binary!(flat_divide, layout!((4,3) : (1,4)), int!(2));
    binary!(logical_product, layout!(12 : 1), layout!(((6),2,6) : ((1),6,24)));
    binary!(zipped_product, layout!((12,8) : (16,1)), int!(8));
    binary!(tiled_product, layout!((4,2,4,6) : (0,0,48,2)), int!(6));
    binary!(flat_product, layout!(1 : 1), int!(6));
    pairs!(blocked_product, layout!(5 : 2), layout!((12,12,6) : (12,144,1)));
    unary!(coalesce, layout!((1,3) : (3,1)));
    unary!(right_inverse, layout!((1,2) : (2,0)));
    unary!(left_inverse, layout!((2,(3,5)) : (15,(5,1))));
    complement!(layout!((1,1,2,(2)) : (2,4,4,(0))), 5);
    binary!(composition, layout!((1,2,8) : (1,8,1)), layout!((6,4) : (1,6)));
}

#[test]
#[rustfmt::skip]
fn cases_1() {
    binary!(composition, layout!((2,(8,1),12) : (0,(36,3),0)), int!(4));
    binary!(logical_divide, layout!((8,3,(8,8)) : (144,3,(9,1152))), int!(4));
    binary!(zipped_divide, layout!((3,(12),12,1) : (1,(6),72,0)), (layout!((4,4) : (4,1)), __, layout!((4,12) : (12,1)), ));
    binary!(tiled_divide, layout!(8 : 1), (layout!(2 : 2), ));
    binary!(flat_divide, layout!((2,2,(2)) : (6,3,(12))), layout!((4,6) : (1,4)));
    binary!(logical_product, layout!((3,4,5) : (20,5,1)), (int!(3), ));
    binary!(zipped_product, layout!(((4,4,4)) : ((64,1,8))), int!(8));
    binary!(tiled_product, layout!(4 : 1), (__, ));
    binary!(flat_product, layout!((1,2) : (2,2)), int!(8));
    pairs!(blocked_product, layout!((3,3) : (3,1)), layout!(8 : 2));
    unary!(coalesce, layout!((8,2,(2,5)) : (0,10,(40,1))));
    unary!(right_inverse, layout!((2,2,(12,3)) : (144,1,(6,2))));
    unary!(left_inverse, layout!((1,3) : (2,2)));
    complement!(layout!(((3,2,4)) : ((24,12,3))), 280);
    binary!(composition, layout!((5,5,1) : (2,10,2)), layout!((2,4) : (4,1)));
    binary!(composition, layout!((2,4,2) : (8,2,1)), int!(6));
    binary!(logical_divide, layout!((2,8) : (1,2)), int!(2));
    binary!(zipped_divide, layout!((8,6,8,(4)) : (3072,0,16,(2))), layout!((1,(4,4)) : (8,(8,1))));
    binary!(tiled_divide, layout!((12,2) : (4,2)), int!(3));
    binary!(flat_divide, layout!(12 : 1), layout!((4,4,2) : (0,2,1)));
    binary!(logical_product, layout!((4,3) : (3,12)), (int!(6), int!(2), ));
    binary!(zipped_product, layout!((8,1,3) : (3,24,1)), layout!(4 : 1));
    binary!(tiled_product, layout!((6,2) : (1,6)), layout!(1 : 3));
    binary!(flat_product, layout!((2,1) : (1,2)), int!(3));
    pairs!(raked_product, layout!((4,5) : (5,1)), layout!(5 : 1));
    unary!(coalesce, layout!((2,4) : (3,12)));
    unary!(right_inverse, layout!((2,(2,4)) : (0,(4,8))));
    unary!(left_inverse, layout!((4,4,(8)) : (16,64,(1))));
    complement!(layout!((4,1,2) : (2,16,1)), 8);
    binary!(composition, layout!((2,3,3,4) : (36,12,1,0)), (__, layout!(1 : 1), layout!(5 : 1), ));
    binary!(composition, layout!((2,8) : (3,6)), int!(6));
    binary!(logical_divide, layout!((5,2,8,6) : (1,480,5,40)), int!(2));
    binary!(zipped_divide, layout!((4,5) : (0,4)), int!(4));
    binary!(tiled_divide, layout!((3,(4),4) : (1,(3),12)), layout!(5 : 1));
    binary!(flat_divide, layout!((5,8) : (16,1)), int!(2));
    binary!(logical_product, layout!(6 : 2), (layout!((1,6) : (6,1)), ));
    binary!(zipped_product, layout!((12,3) : (0,0)), layout!(((4),2,1) : ((4),2,1)));
    binary!(tiled_product, layout!(3 : 2), layout!((2,4) : (16,2)));
    binary!(flat_product, layout!((6,5,4) : (0,12,60)), layout!((12,1) : (3,3)));
    pairs!(raked_product, layout!((8,5) : (15,0)), layout!((2,5) : (5,1)));
    unary!(coalesce, layout!(8 : 3));
    unary!(right_inverse, layout!(5 : 1));
    unary!(left_inverse, layout!((8,5) : (5,1)));
    complement!(layout!(8 : 1), 24);
    binary!(composition, layout!((6,4) : (8,1)), (int!(6), int!(4), ));
    binary!(composition, layout!((12,4,4,4) : (0,3,1152,12)), (layout!(1 : 1), ));
    binary!(logical_divide, layout!((4,12,2) : (3,12,144)), int!(6));
    binary!(zipped_divide, layout!((12,5,(12),2) : (24,288,(1),1440)), layout!((5,5,4) : (0,12,3)));
    binary!(tiled_divide, layout!((3,12,(4)) : (48,1,(12))), (int!(3), int!(3), ));
    binary!(flat_divide, layout!((2,3,4,2) : (72,24,6,3)), (layout!(2 : 2), int!(4), int!(2), ));
}

#[test]
#[rustfmt::skip]
fn cases_2() {
    binary!(logical_product, layout!(((6,4,5),5) : ((4,1,24),120)), int!(2));
    binary!(zipped_product, layout!((5,3) : (1,5)), (int!(2), __, ));
    binary!(tiled_product, layout!(2 : 1), layout!((3,1) : (1,1)));
    binary!(flat_product, layout!((5,4,4,2) : (32,8,1,4)), (__, int!(2), int!(2), layout!(3 : 0), ));
    pairs!(raked_product, layout!((3,4,2) : (3,18,9)), layout!((1,5) : (5,0)));
    unary!(coalesce, layout!((2,2) : (3,12)));
    unary!(right_inverse, layout!((6,2) : (1,6)));
    unary!(left_inverse, layout!((5,1) : (1,1)));
    complement!(layout!((2,3,2) : (2,0,1)), 4);
    binary!(composition, layout!((12,8) : (2,0)), (int!(8), ));
    binary!(composition, layout!(3 : 1), layout!((4,(3,4)) : (2,(8,24))));
    binary!(logical_divide, layout!(12 : 1), layout!((1,5) : (10,1)));
    binary!(zipped_divide, layout!(8 : 3), int!(2));
    binary!(tiled_divide, layout!((3,4,(8)) : (0,8,(0))), (int!(6), ));
    binary!(flat_divide, layout!((4,5,2) : (1,4,20)), (layout!((5,8) : (16,1)), ));
    binary!(logical_product, layout!((12,2) : (4,2)), (layout!((8,8) : (8,1)), layout!(1 : 0), ));
    binary!(zipped_product, layout!(4 : 1), (int!(2), ));
    binary!(tiled_product, layout!((4,8) : (1,4)), (int!(8), ));
    binary!(flat_product, layout!(1 : 1), (__, ));
    pairs!(blocked_product, layout!((3,1) : (1,3)), layout!((3,5) : (1,3)));
    unary!(coalesce, layout!((2,12,5) : (12,1,48)));
    unary!(right_inverse, layout!(5 : 1));
    unary!(left_inverse, layout!((5,8) : (8,1)));
    complement!(layout!((12,8,5) : (1,12,96)), 480);
    binary!(composition, layout!(((6),12,8,4) : ((8),768,48,1)), (int!(4), layout!((12,8) : (8,1)), ));
    binary!(composition, layout!((2,12,5) : (2,4,48)), (__, int!(2), layout!(5 : 1), ));
    binary!(logical_divide, layout!(4 : 1), (layout!(2 : 1), ));
    binary!(zipped_divide, layout!((8,8,(4,6)) : (1,8,(384,64))), layout!((4,12) : (1,4)));
    binary!(tiled_divide, layout!(6 : 1), int!(8));
    binary!(flat_divide, layout!(2 : 3), int!(16));
    binary!(logical_product, layout!((2,8) : (1,2)), layout!(((4,2),4) : ((8,1),2)));
    binary!(zipped_product, layout!((2,6) : (6,1)), layout!((2,3) : (1,2)));
    binary!(tiled_product, layout!((2,8) : (8,1)), int!(3));
    binary!(flat_product, layout!((4,2,2,(8)) : (4,1,2,(16))), layout!((4,3) : (3,1)));
    pairs!(raked_product, layout!(3 : 1), layout!(2 : 2));
    unary!(coalesce, layout!(2 : 1));
    unary!(right_inverse, layout!((12,8,2) : (2,24,192)));
    unary!(left_inverse, layout!(5 : 2));
    complement!(layout!((1,2,4) : (8,1,2)), 24);
    binary!(composition, layout!((12,4) : (0,3)), int!(4));
    binary!(composition, layout!(2 : 1), layout!(3 : 1));
    binary!(logical_divide, layout!((1,12) : (1,1)), int!(8));
    binary!(zipped_divide, layout!((2,4) : (2,4)), layout!((6,(2,6)) : (2,(12,24))));
    binary!(tiled_divide, layout!((2,8) : (2,4)), (int!(8), __, ));
    binary!(flat_divide, layout!((2,2,5) : (0,3,24)), (int!(6), layout!(2 : 2), ));
    binary!(logical_product, layout!((8,12,4) : (144,3,36)), int!(2));
    binary!(zipped_product, layout!((6,8,(8)) : (1,6,(0))), (__, layout!((1,3) : (1,2)), ));
    binary!(tiled_product, layout!((2,4) : (3,6)), (layout!((6,3) : (0,6)), ));
    binary!(flat_product, layout!((2,2,6) : (1,12,2)), int!(8));
    pairs!(blocked_product, layout!((8,3) : (1,8)), layout!(1 : 2));
}

#[test]
#[rustfmt::skip]
fn cases_3() {
    unary!(coalesce, layout!(12 : 3));
    unary!(right_inverse, layout!(2 : 1));
    unary!(left_inverse, layout!(4 : 2));
    complement!(layout!(2 : 2), 9);
    binary!(composition, layout!((8,1,5) : (10,1,1)), int!(8));
    binary!(composition, layout!(8 : 2), layout!((4,5) : (0,1)));
    binary!(logical_divide, layout!((4,8,5,12) : (12,240,48,1)), int!(8));
    binary!(zipped_divide, layout!((4,4,5,8) : (16,64,256,2)), int!(6));
    binary!(tiled_divide, layout!(4 : 3), layout!((5,2) : (3,15)));
    binary!(flat_divide, layout!(6 : 2), (__, ));
    binary!(logical_product, layout!((8,2,6) : (1,48,8)), (int!(6), ));
    binary!(zipped_product, layout!((2,2) : (1,2)), (int!(6), layout!((4,2) : (8,2)), ));
    binary!(tiled_product, layout!((12,1,5,3) : (0,0,24,240)), int!(8));
    binary!(flat_product, layout!((3,2) : (1,3)), (layout!((5,4) : (2,10)), ));
    pairs!(raked_product, layout!((2,2) : (2,1)), layout!((3,6) : (3,9)));
    unary!(coalesce, layout!(6 : 3));
    unary!(right_inverse, layout!((4,6,5,4) : (720,15,3,90)));
    unary!(left_inverse, layout!((4,2,(3,4)) : (24,4,(8,1))));
    complement!(layout!((2,8,6,4) : (192,6,1,48)), 1152);
    binary!(composition, layout!(12 : 1), int!(2));
    binary!(composition, layout!(12 : 1), (layout!(4 : 1), ));
    binary!(logical_divide, layout!(((1),1,5,8) : ((40),40,1,5)), layout!((6,1) : (2,2)));
    binary!(zipped_divide, layout!((12,3,4,12) : (1,48,12,144)), int!(6));
    binary!(tiled_divide, layout!((5,(12),3) : (0,(90),3)), (int!(8), __, ));
    binary!(flat_divide, layout!((4,5,2,3) : (0,48,12,1)), layout!((6,2) : (2,1)));
    binary!(logical_product, layout!((4,6,6,4) : (2,8,384,96)), layout!(6 : 2));
    binary!(zipped_product, layout!((2,1) : (3,3)), (__, layout!((1,3) : (3,1)), ));
    binary!(tiled_product, layout!(3 : 3), layout!((5,6,(6)) : (72,1,(6))));
    binary!(flat_product, layout!((1,4,(3)) : (1,6,(2))), int!(16));
    pairs!(blocked_product, layout!((12,4) : (0,3)), layout!(2 : 1));
    unary!(coalesce, layout!(3 : 1));
    unary!(right_inverse, layout!((2,(2,5)) : (5,(10,1))));
    unary!(left_inverse, layout!(2 : 1));
    complement!(layout!(12 : 0), 2);
    binary!(composition, layout!((12,5,4) : (40,0,10)), int!(6));
    binary!(composition, layout!((5,2,(2,12)) : (3,15,(30,60))), (layout!((2,2) : (1,4)), int!(8), ));
    binary!(logical_divide, layout!((2,12) : (24,2)), int!(6));
    binary!(zipped_divide, layout!(4 : 1), (__, ));
    binary!(tiled_divide, layout!((12,12,(6,8)) : (16,2304,(192,1))), (int!(6), ));
    binary!(flat_divide, layout!((1,(2,12,2)) : (4,(1,8,4))), layout!(2 : 0));
    binary!(logical_product, layout!((5,2) : (1,5)), layout!((2,5,(6)) : (60,12,(2))));
    binary!(zipped_product, layout!((1,4,6,8) : (1,1,32,4)), layout!(1 : 2));
    binary!(tiled_product, layout!((5,(12,12)) : (24,(1,120))), int!(16));
    binary!(flat_product, layout!((2,1) : (1,1)), layout!((4,12) : (12,0)));
    pairs!(raked_product, layout!((12,(2),4,2) : (8,(1),2,192)), layout!(12 : 1));
    unary!(coalesce, layout!((4,4,(5)) : (0,1,(16))));
    unary!(right_inverse, layout!(6 : 0));
    unary!(left_inverse, layout!((12,4) : (1,12)));
    complement!(layout!((5,5,1,2) : (2,40,400,10)), 716);
    binary!(composition, layout!((2,8,1,6) : (48,1,0,8)), layout!(6 : 2));
}

#[test]
#[rustfmt::skip]
fn cases_4() {
    binary!(composition, layout!((5,3) : (0,10)), (layout!((6,6) : (2,24)), ));
    binary!(logical_divide, layout!(((5,1),2,2) : ((1,1),5,0)), (int!(4), layout!(8 : 3), int!(3), ));
    binary!(zipped_divide, layout!((1,4) : (0,3)), (layout!((1,5) : (1,2)), int!(3), ));
    binary!(tiled_divide, layout!((2,4,4,(2)) : (16,32,4,(1))), layout!(((12),2,4) : ((16),8,1)));
    binary!(flat_divide, layout!(2 : 1), int!(4));
    binary!(logical_product, layout!(3 : 1), int!(4));
    binary!(zipped_product, layout!((1,4,4) : (8,16,2)), layout!((4,6) : (2,8)));
    binary!(tiled_product, layout!(5 : 1), int!(2));
    binary!(flat_product, layout!((2,2,4,(4)) : (1,2,32,(8))), layout!((8,12) : (2,16)));
    pairs!(blocked_product, layout!((12,8,(4)) : (128,8,(1))), layout!((2,3,8) : (48,16,1)));
    unary!(coalesce, layout!((2,(12),5) : (1,(2),24)));
    unary!(right_inverse, layout!((4,(4),1) : (16,(2),2)));
    unary!(left_inverse, layout!((3,2) : (12,3)));
    complement!(layout!((12,4) : (1,12)), 288);
    binary!(composition, layout!(3 : 1), layout!((3,2) : (1,3)));
    binary!(composition, layout!((4,8,1,6) : (8,1,8,32)), int!(2));
    binary!(logical_divide, layout!((1,4) : (4,1)), (int!(6), ));
    binary!(zipped_divide, layout!(2 : 1), (int!(3), ));
    binary!(tiled_divide, layout!((5,6,(3),4) : (1,5,(0),90)), layout!((2,6) : (0,2)));
    binary!(flat_divide, layout!((8,2,5) : (2,16,32)), (int!(2), ));
    binary!(logical_product, layout!((2,5,(6)) : (120,12,(1))), int!(16));
    binary!(zipped_product, layout!((4,12,3) : (1,0,48)), (int!(2), layout!(6 : 1), ));
    binary!(tiled_product, layout!(2 : 1), (int!(6), ));
    binary!(flat_product, layout!(4 : 2), (layout!((4,2) : (1,4)), ));
    pairs!(raked_product, layout!((1,2) : (2,1)), layout!((2,4,12) : (48,12,1)));
    unary!(coalesce, layout!((4,12) : (12,1)));
    unary!(right_inverse, layout!(((4,4,4)) : ((16,64,2))));
    unary!(left_inverse, layout!((2,1,1) : (3,3,3)));
    complement!(layout!((12,6) : (1,12)), 216);
    binary!(composition, layout!((4,2) : (1,8)), (layout!(5 : 3), int!(8), ));
    binary!(composition, layout!((12,1,(6)) : (6,72,(1))), layout!(5 : 1));
    binary!(logical_divide, layout!((4,3,6,4) : (0,1,3,36)), layout!(((3),4,6) : ((8),2,24)));
    binary!(zipped_divide, layout!(8 : 1), (int!(3), ));
    binary!(tiled_divide, layout!((3,1,1,12) : (1,1,1,3)), (int!(8), ));
    binary!(flat_divide, layout!((3,(3),4) : (72,(3),18)), (layout!((3,3) : (1,3)), __, ));
    binary!(logical_product, layout!((2,2,2,1) : (32,8,2,8)), layout!((3,4) : (8,2)));
    binary!(zipped_product, layout!((2,1) : (1,1)), (int!(8), layout!(6 : 1), ));
    binary!(tiled_product, layout!(((2,6,5)) : ((5,10,1))), (__, ));
    binary!(flat_product, layout!((3,8) : (16,1)), (int!(8), ));
    pairs!(raked_product, layout!((1,4) : (8,2)), layout!(((8,4,4)) : ((2,32,128))));
    unary!(coalesce, layout!((6,2) : (2,1)));
    unary!(right_inverse, layout!((6,4) : (1,6)));
    unary!(left_inverse, layout!(12 : 1));
    complement!(layout!((3,8) : (0,1)), 24);
    binary!(composition, layout!((2,(2,2),8) : (16,(0,32),1)), layout!(1 : 1));
    binary!(composition, layout!(4 : 3), (int!(4), ));
    binary!(logical_divide, layout!((1,12,2,2) : (96,8,96,2)), layout!(2 : 2));
    binary!(zipped_divide, layout!(12 : 3), (int!(4), ));
    binary!(tiled_divide, layout!((4,2) : (2,1)), layout!(12 : 1));
    binary!(flat_divide, layout!(((4,5),2) : ((2,8),1)), (layout!(6 : 2), ));
}

#[test]
#[rustfmt::skip]
fn cases_5() {
    binary!(logical_product, layout!((4,8,4) : (4,16,1)), layout!(12 : 1));
    binary!(zipped_product, layout!(12 : 1), (int!(2), ));
    binary!(tiled_product, layout!((2,2) : (1,2)), (int!(4), ));
    binary!(flat_product, layout!((4,8,(2,4)) : (1,8,(64,128))), int!(8));
    pairs!(blocked_product, layout!((8,6) : (6,1)), layout!(2 : 1));
    unary!(coalesce, layout!((3,5) : (10,2)));
    unary!(right_inverse, layout!((2,2) : (1,2)));
    unary!(left_inverse, layout!((2,6) : (12,2)));
    complement!(layout!(3 : 1), 3);
    binary!(composition, layout!((4,1,(4)) : (1,1,(4))), (int!(2), __, layout!((3,4) : (16,2)), ));
    binary!(composition, layout!((4,8,6,3) : (8,1,96,32)), (layout!(8 : 0), layout!(3 : 0), layout!(6 : 1), layout!(12 : 2), ));
    binary!(logical_divide, layout!(2 : 0), (layout!(4 : 1), ));
    binary!(zipped_divide, layout!((4,12,12,2) : (1,8,96,0)), int!(16));
    binary!(tiled_divide, layout!((4,12) : (1,4)), (int!(8), ));
    binary!(flat_divide, layout!(((5,4),6) : ((1,30),5)), (int!(2), layout!(12 : 1), ));
    binary!(logical_product, layout!((1,8,4,(5)) : (2,80,4,(16))), layout!(4 : 1));
    binary!(zipped_product, layout!((8,5,2) : (2,32,16)), (int!(8), ));
    binary!(tiled_product, layout!((4,2,1) : (1,4,0)), (layout!((2,3) : (3,1)), int!(4), ));
    binary!(flat_product, layout!((2,3,3,4) : (72,24,4,1)), (int!(6), int!(8), ));
    pairs!(raked_product, layout!(1 : 2), layout!((4,5,1) : (10,2,10)));
    unary!(coalesce, layout!((2,4,6) : (12,0,2)));
    unary!(right_inverse, layout!(((3,3,4),2) : ((3,18,54),216)));
    unary!(left_inverse, layout!((8,6,(12)) : (72,1,(6))));
    complement!(layout!(((2,8),5) : ((1,20),4)), 948);
    binary!(composition, layout!(12 : 1), (__, ));
    binary!(composition, layout!((8,4) : (2,0)), (int!(4), ));
    binary!(logical_divide, layout!((4,12,6) : (12,1,48)), layout!((1,8) : (16,2)));
    binary!(zipped_divide, layout!(3 : 1), (layout!((2,8) : (1,2)), ));
    binary!(tiled_divide, layout!((2,4,3) : (1,2,8)), (int!(4), ));
    binary!(flat_divide, layout!(4 : 0), int!(6));
    binary!(logical_product, layout!((6,2) : (1,6)), (int!(2), ));
    binary!(zipped_product, layout!((2,5) : (2,4)), int!(16));
    binary!(tiled_product, layout!(2 : 1), int!(16));
    binary!(flat_product, layout!(6 : 0), int!(8));
    pairs!(raked_product, layout!(8 : 3), layout!(3 : 1));
    unary!(coalesce, layout!((1,3) : (3,3)));
    unary!(right_inverse, layout!((2,12,4,1) : (96,4,1,1)));
    unary!(left_inverse, layout!(8 : 1));
    complement!(layout!((3,6) : (1,3)), 72);
    binary!(composition, layout!(2 : 1), int!(8));
    binary!(composition, layout!((4,2) : (1,4)), layout!((8,1) : (0,1)));
    binary!(logical_divide, layout!((4,12) : (12,1)), int!(3));
    binary!(zipped_divide, layout!((1,6,12) : (12,24,1)), layout!(2 : 0));
    binary!(tiled_divide, layout!((5,4,(5,2)) : (80,10,(2,400))), int!(3));
    binary!(flat_divide, layout!((4,(2,8)) : (2,(1,8))), layout!((2,2) : (1,2)));
    binary!(logical_product, layout!(((2,4,3),8) : ((24,48,8),1)), layout!((2,6) : (12,1)));
    binary!(zipped_product, layout!((4,4,4) : (4,16,1)), layout!(8 : 1));
    binary!(tiled_product, layout!((1,4,5) : (5,5,1)), layout!((6,2) : (1,12)));
    binary!(flat_product, layout!((4,4,12,5) : (5,480,20,1)), int!(6));
    pairs!(blocked_product, layout!(1 : 3), layout!(((2,8),1) : ((8,1),16)));
}

#[test]
#[rustfmt::skip]
fn cases_6() {
    unary!(coalesce, layout!((6,8,(6)) : (96,12,(2))));
    unary!(right_inverse, layout!((3,8,12) : (24,72,1)));
    unary!(left_inverse, layout!((2,3) : (1,2)));
    complement!(layout!((12,2,(2,2)) : (4,48,(1,2))), 384);
    binary!(composition, layout!((1,6,12,2) : (12,2,96,24)), (__, ));
    binary!(composition, layout!((2,(6,1)) : (24,(2,24))), (int!(2), int!(4), ));
    binary!(logical_divide, layout!((3,8) : (0,9)), (layout!(4 : 1), layout!(2 : 2), ));
    binary!(zipped_divide, layout!(12 : 2), (layout!(5 : 1), ));
    binary!(tiled_divide, layout!((12,4,(3)) : (1,12,(48))), int!(8));
    binary!(flat_divide, layout!(2 : 1), int!(4));
    binary!(logical_product, layout!((2,2,3) : (12,3,1)), int!(6));
    binary!(zipped_product, layout!(1 : 1), int!(2));
    binary!(tiled_product, layout!((4,12,2) : (24,1,12)), int!(16));
    binary!(flat_product, layout!((4,2) : (2,1)), (int!(4), ));
    pairs!(raked_product, layout!(3 : 3), layout!((4,12) : (12,1)));
    unary!(coalesce, layout!((12,4) : (16,2)));
    unary!(right_inverse, layout!((8,2,2,(6)) : (1,96,8,(16))));
    unary!(left_inverse, layout!((2,8,1) : (1,2,1)));
    complement!(layout!((6,12,2,3) : (216,6,3,72)), 1294);
    binary!(composition, layout!(4 : 1), int!(3));
    binary!(composition, layout!((5,2) : (1,5)), (layout!(8 : 0), __, ));
    binary!(logical_divide, layout!(4 : 1), layout!((1,4) : (12,3)));
    binary!(zipped_divide, layout!((6,12,5) : (12,1,72)), (layout!(6 : 1), ));
    binary!(tiled_divide, layout!((3,2,4) : (8,1,2)), (int!(6), __, ));
    binary!(flat_divide, layout!((6,(1,6),1) : (18,(3,3),3)), (int!(6), int!(2), int!(4), ));
    binary!(logical_product, layout!((6,(2,3)) : (8,(2,48))), (layout!(5 : 1), ));
    binary!(zipped_product, layout!((8,12) : (2,16)), layout!((2,6) : (12,1)));
    binary!(tiled_product, layout!((2,12) : (12,1)), int!(8));
    binary!(flat_product, layout!((4,8) : (16,1)), (int!(3), ));
    pairs!(raked_product, layout!(2 : 1), layout!((3,1,3) : (0,1,3)));
    unary!(coalesce, layout!(((5,1,4,4)) : ((8,320,2,0))));
    unary!(right_inverse, layout!((2,3,6,2) : (6,12,0,36)));
    unary!(left_inverse, layout!((4,8) : (8,1)));
    complement!(layout!((8,(3),12,5) : (0,(60),1,12)), 360);
    binary!(composition, layout!(((6),6,1) : ((1),6,6)), int!(3));
    binary!(composition, layout!((1,12) : (1,1)), int!(3));
    binary!(logical_divide, layout!((2,4,2) : (16,2,1)), (int!(2), int!(4), ));
    binary!(zipped_divide, layout!(2 : 1), (layout!((6,1) : (0,6)), ));
    binary!(tiled_divide, layout!(2 : 0), layout!((4,2,2) : (4,1,2)));
    binary!(flat_divide, layout!(8 : 1), layout!((3,(2,2)) : (3,(18,9))));
    binary!(logical_product, layout!((6,(4),2) : (0,(2),1)), (__, int!(6), int!(6), ));
    binary!(zipped_product, layout!((2,4) : (1,2)), (layout!((4,2) : (6,3)), ));
    binary!(tiled_product, layout!(4 : 1), int!(8));
    binary!(flat_product, layout!((4,5,(5)) : (15,120,(3))), (layout!(5 : 3), ));
    pairs!(blocked_product, layout!((1,1) : (1,1)), layout!(2 : 1));
    unary!(coalesce, layout!(((1),2,12) : ((2),0,2)));
    unary!(right_inverse, layout!((4,4) : (12,3)));
    unary!(left_inverse, layout!((4,2,8,3) : (4,2,48,16)));
    complement!(layout!(5 : 3), 78);
    binary!(composition, layout!(((12,2),2) : ((2,1),48)), layout!(((2),4,1) : ((4),1,8)));
}

#[test]
#[rustfmt::skip]
fn cases_7() {
    binary!(composition, layout!(2 : 1), (layout!(4 : 3), ));
    binary!(logical_divide, layout!(2 : 3), int!(16));
    binary!(zipped_divide, layout!((2,2,1,5) : (4,1,4,8)), layout!((4,1) : (1,1)));
    binary!(tiled_divide, layout!((12,8) : (1,12)), layout!(((8,2),12) : ((12,96),1)));
    binary!(flat_divide, layout!((2,(1),4) : (4,(0),1)), (__, ));
    binary!(logical_product, layout!((12,(2,2),6) : (4,(1,96),384)), (__, ));
    binary!(zipped_product, layout!((4,(8),8,6) : (8,(1),192,32)), (layout!(6 : 0), int!(2), ));
    binary!(tiled_product, layout!((3,2,1,(4)) : (2,6,48,(0))), int!(16));
    binary!(flat_product, layout!(2 : 1), int!(16));
    pairs!(raked_product, layout!((1,8) : (24,0)), layout!(4 : 1));
    unary!(coalesce, layout!((3,12,(12)) : (24,72,(0))));
    unary!(right_inverse, layout!((6,(12,6)) : (144,(12,2))));
    unary!(left_inverse, layout!((8,12,(2),8) : (384,32,(1),2)));
    complement!(layout!(((4),2,4,8) : ((32),0,8,1)), 768);
    binary!(composition, layout!((2,1) : (1,1)), (int!(3), ));
    binary!(composition, layout!(1 : 1), int!(2));
    binary!(logical_divide, layout!(12 : 1), int!(2));
    binary!(zipped_divide, layout!(2 : 1), int!(3));
    binary!(tiled_divide, layout!((2,4,4,5) : (1,10,40,2)), layout!(4 : 1));
    binary!(flat_divide, layout!((8,8,4) : (24,3,192)), layout!(2 : 2));
    binary!(logical_product, layout!((2,2,8) : (32,16,2)), (int!(2), int!(6), ));
    binary!(zipped_product, layout!((1,4) : (8,1)), int!(8));
    binary!(tiled_product, layout!(4 : 2), (__, ));
    binary!(flat_product, layout!(12 : 0), int!(8));
    pairs!(raked_product, layout!(((5,8),4) : ((8,1),40)), layout!(4 : 2));
    unary!(coalesce, layout!((4,2,4,4) : (2,1,64,16)));
    unary!(right_inverse, layout!((2,12) : (24,2)));
    unary!(left_inverse, layout!((8,2) : (1,8)));
    complement!(layout!((12,(5,2)) : (1,(12,120))), 1080);
    binary!(composition, layout!((1,2,1) : (2,0,2)), int!(6));
    binary!(composition, layout!((8,(6,8)) : (8,(64,1))), (__, layout!(12 : 1), ));
    binary!(logical_divide, layout!((2,6,6) : (6,12,1)), layout!(2 : 1));
    binary!(zipped_divide, layout!((2,4,12,5) : (1,120,10,2)), layout!((2,2) : (4,2)));
    binary!(tiled_divide, layout!((1,2,5,5) : (100,100,10,2)), (layout!((2,4) : (8,1)), ));
    binary!(flat_divide, layout!((4,3) : (3,12)), int!(16));
    binary!(logical_product, layout!(4 : 3), (int!(6), ));
    binary!(zipped_product, layout!((5,5,(4)) : (80,1,(10))), int!(2));
    binary!(tiled_product, layout!(4 : 1), int!(6));
    binary!(flat_product, layout!((4,2) : (3,12)), int!(6));
    pairs!(blocked_product, layout!(2 : 1), layout!((2,8) : (8,1)));
    unary!(coalesce, layout!((12,3,6,2) : (6,2,0,1)));
    unary!(right_inverse, layout!((4,2,4,2) : (16,4,1,64)));
    unary!(left_inverse, layout!((2,12) : (1,2)));
    complement!(layout!(12 : 3), 204);
    binary!(composition, layout!((12,3,6,3) : (162,3,9,0)), int!(8));
    binary!(composition, layout!((12,6) : (1,12)), (int!(8), int!(8), ));
    binary!(logical_divide, layout!(2 : 3), (int!(2), ));
    binary!(zipped_divide, layout!(2 : 1), (__, ));
    binary!(tiled_divide, layout!((2,8,2,4) : (1,16,2,4)), int!(4));
    binary!(flat_divide, layout!(8 : 1), layout!(1 : 2));
}

#[test]
#[rustfmt::skip]
fn cases_8() {
    binary!(logical_product, layout!(12 : 0), int!(6));
    binary!(zipped_product, layout!((4,2,4) : (8,4,1)), int!(8));
    binary!(tiled_product, layout!((8,8,2,(6)) : (144,3,1152,(24))), int!(2));
    binary!(flat_product, layout!(4 : 1), layout!((3,2) : (1,3)));
    pairs!(raked_product, layout!((3,4,2,2) : (1,24,12,6)), layout!((3,(5),12) : (0,(6),0)));
    unary!(coalesce, layout!(6 : 1));
    unary!(right_inverse, layout!((3,3) : (3,1)));
    unary!(left_inverse, layout!((4,2) : (2,1)));
    complement!(layout!(1 : 1), 3);
    binary!(composition, layout!((5,4) : (4,1)), int!(4));
    binary!(composition, layout!((4,5) : (10,1)), layout!(1 : 1));
    binary!(logical_divide, layout!((1,5,4) : (2,4,20)), (int!(3), layout!(5 : 1), __, ));
    binary!(zipped_divide, layout!(4 : 3), (__, ));
    binary!(tiled_divide, layout!((4,6,2,12) : (24,192,12,1)), layout!(4 : 1));
    binary!(flat_divide, layout!(1 : 1), int!(3));
    binary!(logical_product, layout!((6,(2),3) : (1,(0),6)), (int!(2), layout!(1 : 0), int!(2), ));
    binary!(zipped_product, layout!((3,2) : (1,3)), int!(4));
    binary!(tiled_product, layout!((2,2,2,(2)) : (16,8,2,(1))), int!(2));
    binary!(flat_product, layout!(5 : 1), (int!(3), ));
    pairs!(raked_product, layout!((5,12) : (1,5)), layout!((4,12) : (3,0)));
    unary!(coalesce, layout!((4,(2,6)) : (4,(1,16))));
    unary!(right_inverse, layout!(1 : 1));
    unary!(left_inverse, layout!((5,2,(2,5)) : (2,100,(10,20))));
    complement!(layout!((4,8) : (3,12)), 94);
    binary!(composition, layout!((2,12,1,4) : (1,8,2,2)), int!(16));
    binary!(composition, layout!((5,12,12) : (1,60,5)), layout!((4,5,2) : (5,1,20)));
    binary!(logical_divide, layout!((5,2) : (2,10)), layout!((5,8) : (2,10)));
    binary!(zipped_divide, layout!(12 : 1), layout!((12,2) : (4,1)));
    binary!(tiled_divide, layout!((12,8) : (1,12)), layout!(6 : 1));
    binary!(flat_divide, layout!((12,8) : (1,24)), layout!((2,3,6) : (2,48,0)));
    binary!(logical_product, layout!((1,(8,8)) : (64,(8,1))), layout!((3,1) : (0,1)));
    binary!(zipped_product, layout!((2,8) : (8,1)), int!(16));
    binary!(tiled_product, layout!(12 : 0), (__, ));
    binary!(flat_product, layout!(2 : 1), int!(2));
    pairs!(blocked_product, layout!((6,4) : (1,6)), layout!((3,4) : (0,6)));
    unary!(coalesce, layout!((5,(2,8)) : (1,(10,40))));
    unary!(right_inverse, layout!((3,6) : (18,3)));
    unary!(left_inverse, layout!((4,1,(2)) : (4,4,(1))));
    complement!(layout!((1,1) : (0,1)), 6);
    binary!(composition, layout!((4,6,6,4) : (36,1,6,288)), layout!(3 : 1));
    binary!(composition, layout!(3 : 1), int!(3));
    binary!(logical_divide, layout!((8,1,3) : (3,3,1)), layout!(12 : 0));
    binary!(zipped_divide, layout!(8 : 1), int!(2));
    binary!(tiled_divide, layout!((5,3) : (1,5)), layout!((6,2,2) : (8,2,1)));
    binary!(flat_divide, layout!((12,5) : (1,12)), int!(2));
    binary!(logical_product, layout!((2,6) : (2,4)), int!(8));
    binary!(zipped_product, layout!((12,3) : (6,1)), (layout!(2 : 1), ));
    binary!(tiled_product, layout!((2,6,(5)) : (90,3,(18))), (int!(3), int!(6), ));
    binary!(flat_product, layout!(((5),4,1) : ((8),1,40)), (layout!(6 : 1), layout!(3 : 3), __, ));
    pairs!(blocked_product, layout!(1 : 1), layout!((2,4,2) : (1,2,8)));
}

#[test]
#[rustfmt::skip]
fn cases_9() {
    unary!(coalesce, layout!((4,6) : (3,24)));
    unary!(right_inverse, layout!(12 : 3));
    unary!(left_inverse, layout!(((2),2,5) : ((20),1,4)));
    complement!(layout!((4,2,4,8) : (32,1,128,4)), 1530);
    binary!(composition, layout!((4,4,4) : (3,48,12)), int!(4));
    binary!(composition, layout!((6,5) : (10,1)), layout!((2,2) : (2,1)));
    binary!(logical_divide, layout!(4 : 3), int!(8));
    binary!(zipped_divide, layout!(4 : 3), layout!(((3,2,1)) : ((2,1,2))));
    binary!(tiled_divide, layout!((3,8,(3)) : (2,18,(6))), (layout!(3 : 0), ));
    binary!(flat_divide, layout!(((2,4,6),2) : ((6,12,0),96)), int!(8));
    binary!(logical_product, layout!((3,(2),8,6) : (288,(0),3,24)), layout!(2 : 1));
    binary!(zipped_product, layout!((8,4) : (4,1)), (__, ));
    binary!(tiled_product, layout!((5,6,3,(6)) : (216,6,1,(36))), layout!(((4),2,3) : ((6),1,2)));
    binary!(flat_product, layout!((2,(4,5)) : (5,(0,1))), layout!((2,8,12) : (8,1,16)));
    pairs!(blocked_product, layout!(8 : 1), layout!((6,12,6) : (12,72,2)));
    unary!(coalesce, layout!((5,6,12) : (288,48,2)));
    unary!(right_inverse, layout!((8,4,2) : (2,16,64)));
    unary!(left_inverse, layout!(2 : 1));
    complement!(layout!(4 : 2), 21);
    binary!(composition, layout!((1,8) : (8,1)), layout!((2,4) : (1,4)));
    binary!(composition, layout!((2,1,12) : (2,1,4)), (layout!((1,6) : (6,1)), ));
    binary!(logical_divide, layout!(1 : 0), (layout!(3 : 3), ));
    binary!(zipped_divide, layout!((8,3,4,2) : (1,8,48,24)), (layout!(6 : 0), layout!(12 : 1), int!(3), ));
    binary!(tiled_divide, layout!((4,8,4) : (1,16,4)), (layout!(6 : 1), int!(4), int!(4), ));
    binary!(flat_divide, layout!(6 : 2), (layout!(6 : 1), ));
    binary!(logical_product, layout!((4,2,(3)) : (3,36,(0))), int!(3));
    binary!(zipped_product, layout!((5,12) : (1,5)), layout!((3,6) : (6,1)));
    binary!(tiled_product, layout!((2,6) : (1,0)), layout!((3,6,1) : (1,3,3)));
    binary!(flat_product, layout!(1 : 1), (int!(3), ));
    pairs!(raked_product, layout!((4,3,8) : (8,32,1)), layout!(5 : 1));
    unary!(coalesce, layout!(6 : 1));
    unary!(right_inverse, layout!((12,(2),2) : (8,(0),4)));
    unary!(left_inverse, layout!((3,5,(4)) : (40,4,(1))));
    complement!(layout!((2,2,(2,1)) : (8,1,(2,16))), 72);
    binary!(composition, layout!(1 : 1), layout!((4,6) : (1,4)));
    binary!(composition, layout!((2,4,(4)) : (1,2,(16))), (__, ));
    binary!(logical_divide, layout!((1,4,5,(2)) : (1,2,8,(1))), layout!(1 : 3));
    binary!(zipped_divide, layout!((5,2,1,4) : (24,240,3,0)), layout!(4 : 1));
    binary!(tiled_divide, layout!((4,1) : (1,1)), (int!(4), int!(3), ));
    binary!(flat_divide, layout!(8 : 1), int!(16));
    binary!(logical_product, layout!(((4,2),5) : ((10,5),1)), int!(2));
    binary!(zipped_product, layout!((3,5) : (10,1)), int!(16));
    binary!(tiled_product, layout!(((5),5,3) : ((3),15,1)), int!(16));
    binary!(flat_product, layout!((2,12) : (12,1)), layout!((4,5,2) : (10,1,5)));
    pairs!(raked_product, layout!((1,5,5) : (1,1,5)), layout!(8 : 3));
    unary!(coalesce, layout!(((4,1),4) : ((2,1),8)));
    unary!(right_inverse, layout!(((2,2,2)) : ((12,3,6))));
    unary!(left_inverse, layout!((8,5) : (5,1)));
    complement!(layout!((4,1) : (1,4)), 12);
    binary!(composition, layout!((1,4) : (1,2)), layout!((1,1,(5)) : (1,10,(2))));
}

#[test]
#[rustfmt::skip]
fn cases_10() {
    binary!(composition, layout!(1 : 1), layout!(2 : 1));
    binary!(logical_divide, layout!((5,5) : (5,1)), (layout!(2 : 2), ));
    binary!(zipped_divide, layout!((2,2) : (2,1)), int!(4));
    binary!(tiled_divide, layout!(5 : 1), int!(8));
    binary!(flat_divide, layout!((5,1) : (1,1)), (__, ));
    binary!(logical_product, layout!((12,6,(2)) : (12,2,(144))), layout!(8 : 1));
    binary!(zipped_product, layout!((8,1,2) : (1,0,8)), int!(4));
    binary!(tiled_product, layout!(4 : 1), int!(3));
    binary!(flat_product, layout!(4 : 2), (int!(6), ));
    pairs!(raked_product, layout!((3,(2),2) : (1,(0),3)), layout!((5,12) : (0,5)));
    unary!(coalesce, layout!(5 : 1));
    unary!(right_inverse, layout!((2,2) : (2,1)));
    unary!(left_inverse, layout!(5 : 1));
    complement!(layout!((2,4,4,4) : (16,4,32,1)), 512);
    binary!(composition, layout!((4,2,(4),2) : (4,32,(1),16)), int!(16));
    binary!(composition, layout!((3,4,(8)) : (12,3,(36))), (layout!(8 : 1), ));
    binary!(logical_divide, layout!((6,2) : (1,6)), int!(16));
    binary!(zipped_divide, layout!(4 : 1), layout!((2,(12),5) : (240,(20),2)));
    binary!(tiled_divide, layout!((6,8) : (8,1)), int!(6));
    binary!(flat_divide, layout!(((4),2,3) : ((1),12,4)), layout!(1 : 1));
    binary!(logical_product, layout!(3 : 3), (__, ));
    binary!(zipped_product, layout!((3,3,12,1) : (36,1,0,216)), int!(8));
    binary!(tiled_product, layout!((12,12,(1)) : (12,1,(288))), (layout!((3,3) : (1,3)), ));
    binary!(flat_product, layout!(1 : 1), int!(2));
    pairs!(blocked_product, layout!((4,(5),8) : (160,(16),2)), layout!(1 : 1));
    unary!(coalesce, layout!((2,4) : (0,3)));
    unary!(right_inverse, layout!((4,5) : (5,1)));
    unary!(left_inverse, layout!(4 : 1));
    complement!(layout!((2,2,3,6) : (108,9,3,18)), 642);
    binary!(composition, layout!((12,12,2,2) : (0,1,144,288)), int!(6));
    binary!(composition, layout!(3 : 1), int!(3));
    binary!(logical_divide, layout!((2,2) : (2,1)), int!(16));
    binary!(zipped_divide, layout!((4,4) : (1,4)), (int!(2), ));
    binary!(tiled_divide, layout!((6,(6),1) : (24,(2),12)), layout!((1,2) : (2,1)));
    binary!(flat_divide, layout!((4,4) : (3,12)), (int!(3), layout!((3,8) : (1,3)), ));
    binary!(logical_product, layout!((4,2) : (1,8)), (layout!(3 : 1), ));
    binary!(zipped_product, layout!((2,12) : (36,3)), layout!(2 : 1));
    binary!(tiled_product, layout!(12 : 1), layout!((3,1) : (1,3)));
    binary!(flat_product, layout!((4,(5,2,2)) : (120,(6,3,30))), (layout!((8,1) : (2,2)), __, ));
    pairs!(blocked_product, layout!(12 : 1), layout!((3,3) : (6,1)));
    unary!(coalesce, layout!((4,8,1,4) : (3,12,96,96)));
    unary!(right_inverse, layout!((4,1,2) : (3,12,12)));
    unary!(left_inverse, layout!((5,4,(2)) : (8,1,(40))));
    complement!(layout!((2,4) : (2,4)), 30);
    binary!(composition, layout!(6 : 3), (__, ));
    binary!(composition, layout!((3,8) : (8,1)), layout!((1,8,1) : (0,0,1)));
    binary!(logical_divide, layout!((2,4,1) : (4,1,8)), (int!(4), __, int!(3), ));
    binary!(zipped_divide, layout!((5,(6),12) : (12,(60),1)), int!(16));
    binary!(tiled_divide, layout!((12,3,12) : (0,576,2)), int!(8));
    binary!(flat_divide, layout!((12,5,(2)) : (10,1,(5))), int!(2));
}

#[test]
#[rustfmt::skip]
fn cases_11() {
    binary!(logical_product, layout!((5,4,(8),6) : (768,2,(96),8)), (int!(6), ));
    binary!(zipped_product, layout!((3,5,1) : (10,2,1)), int!(2));
    binary!(tiled_product, layout!((8,4,12) : (0,1,4)), (layout!(2 : 1), __, layout!(2 : 1), ));
    binary!(flat_product, layout!((12,2,(12)) : (2,24,(48))), (int!(4), __, int!(4), ));
    pairs!(blocked_product, layout!((3,4,(4)) : (4,1,(12))), layout!((2,3,4) : (12,4,1)));
    unary!(coalesce, layout!((6,4) : (3,0)));
    unary!(right_inverse, layout!((4,5,4,3) : (0,1,120,5)));
    unary!(left_inverse, layout!(1 : 1));
    complement!(layout!(8 : 1), 16);
    binary!(composition, layout!(4 : 3), int!(3));
    binary!(composition, layout!((2,8) : (2,4)), int!(16));
    binary!(logical_divide, layout!((3,(4,1),6) : (2,(144,72),0)), (int!(2), ));
    binary!(zipped_divide, layout!((4,5,5,(4)) : (100,4,20,(1))), (layout!((1,4) : (4,1)), layout!(3 : 1), int!(8), ));
    binary!(tiled_divide, layout!((1,4,4,(1)) : (8,0,1,(1))), (layout!(2 : 1), __, ));
    binary!(flat_divide, layout!((12,(8,1)) : (8,(1,96))), (layout!((4,6) : (3,12)), ));
    binary!(logical_product, layout!((4,4) : (0,3)), (int!(4), int!(2), ));
    binary!(zipped_product, layout!(12 : 1), (layout!((3,1) : (1,1)), ));
    binary!(tiled_product, layout!(((2,8),4) : ((2,16),4)), int!(6));
    binary!(flat_product, layout!(1 : 1), int!(2));
    pairs!(blocked_product, layout!(2 : 1), layout!(5 : 1));
    unary!(coalesce, layout!((3,(3),1,4) : (9,(3),3,27)));
    unary!(right_inverse, layout!((1,4,12,2) : (2,96,2,24)));
    unary!(left_inverse, layout!((3,1) : (1,3)));
    complement!(layout!(4 : 2), 14);
    binary!(composition, layout!(12 : 1), (int!(2), ));
    binary!(composition, layout!((3,3) : (3,1)), (layout!(6 : 1), ));
    binary!(logical_divide, layout!((8,6) : (1,8)), int!(16));
    binary!(zipped_divide, layout!((3,4) : (12,3)), layout!((4,2) : (0,0)));
    binary!(tiled_divide, layout!((4,2) : (3,12)), int!(4));
    binary!(flat_divide, layout!((3,(1,4)) : (8,(24,1))), layout!((8,3) : (6,1)));
    binary!(logical_product, layout!((8,2) : (2,16)), (layout!(12 : 1), int!(8), ));
    binary!(zipped_product, layout!((4,5,8,5) : (40,0,5,1)), int!(6));
    binary!(tiled_product, layout!(8 : 1), int!(6));
    binary!(flat_product, layout!((6,1) : (1,0)), int!(2));
    pairs!(blocked_product, layout!((8,(12,8)) : (1,(8,0))), layout!(2 : 2));
    unary!(coalesce, layout!((4,8,12,4) : (0,16,128,4)));
    unary!(right_inverse, layout!((12,6,6,(2)) : (1,72,12,(432))));
    unary!(left_inverse, layout!(2 : 3));
    complement!(layout!((4,(12,6)) : (1,(48,4))), 2208);
    binary!(composition, layout!((4,2,4) : (32,8,2)), (layout!((5,1) : (1,5)), ));
    binary!(composition, layout!((6,2,4) : (8,0,2)), (layout!((2,2) : (3,6)), ));
    binary!(logical_divide, layout!((4,2,5,1) : (2,8,16,8)), (int!(8), int!(6), int!(4), ));
    binary!(zipped_divide, layout!((2,4,4) : (16,4,1)), (int!(2), layout!((5,2) : (8,2)), layout!(1 : 3), ));
    binary!(tiled_divide, layout!((2,(4),4) : (4,(1),8)), (__, ));
    binary!(flat_divide, layout!(((2,5,2)) : ((2,4,1))), layout!(4 : 2));
    binary!(logical_product, layout!((5,4) : (4,1)), int!(6));
    binary!(zipped_product, layout!((8,8) : (8,1)), int!(16));
    binary!(tiled_product, layout!(3 : 1), layout!((2,2) : (3,6)));
    binary!(flat_product, layout!((3,4) : (4,1)), (int!(4), ));
    pairs!(blocked_product, layout!((8,2) : (4,2)), layout!((8,4) : (4,1)));
}
