//! The typed layer against the run-time layer: static operands.
//!
//! Written by `typed_generator.rs`.

#[macro_use]
#[path = "typed_support/fixed.rs"]
mod support;

use girih_layout::typed::{__, Layout};
use girih_layout::{int, int_tuple, layout};

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
fn left() {
    answer!(Layout::left(int_tuple!((4,6))), "(4,6):(1,4)");
    answer!(Layout::left(int_tuple!(((2),2,5))), "((2),2,5):((1),2,4)");
    answer!(Layout::left(int_tuple!((1,6,2))), "(1,6,2):(0,1,6)");
    answer!(Layout::left(int_tuple!((8,3,6,5))), "(8,3,6,5):(1,8,24,144)");
    answer!(Layout::left(int_tuple!((3,2,3))), "(3,2,3):(1,3,6)");
    answer!(Layout::left(int_tuple!(8)), "8:1");
    answer!(Layout::left(int_tuple!((12,2))), "(12,2):(1,12)");
    answer!(Layout::left(int_tuple!((4,3,12,1))), "(4,3,12,1):(1,4,12,0)");
    answer!(Layout::left(int_tuple!((2,3))), "(2,3):(1,2)");
    answer!(Layout::left(int_tuple!((4,4,3,(4)))), "(4,4,3,(4)):(1,4,16,(48))");
    answer!(Layout::left(int_tuple!(5)), "5:1");
    answer!(Layout::left(int_tuple!(12)), "12:1");
    answer!(Layout::left(int_tuple!(2)), "2:1");
    answer!(Layout::left(int_tuple!((6,2))), "(6,2):(1,6)");
    answer!(Layout::left(int_tuple!((1,(6,2),6))), "(1,(6,2),6):(0,(1,6),12)");
}

#[test]
#[rustfmt::skip]
fn right() {
    answer!(Layout::right(int_tuple!((2,4))), "(2,4):(4,1)");
    answer!(Layout::right(int_tuple!((2,5))), "(2,5):(5,1)");
    answer!(Layout::right(int_tuple!((1,8))), "(1,8):(0,1)");
    answer!(Layout::right(int_tuple!((6,1,(6)))), "(6,1,(6)):(6,0,(1))");
    answer!(Layout::right(int_tuple!((3,4,3,4))), "(3,4,3,4):(48,12,4,1)");
    answer!(Layout::right(int_tuple!((4,2))), "(4,2):(2,1)");
    answer!(Layout::right(int_tuple!((6,4))), "(6,4):(4,1)");
    answer!(Layout::right(int_tuple!((2,4))), "(2,4):(4,1)");
    answer!(Layout::right(int_tuple!(((3,2),2,8))), "((3,2),2,8):((32,16),8,1)");
    answer!(Layout::right(int_tuple!((2,5,4))), "(2,5,4):(20,4,1)");
    answer!(Layout::right(int_tuple!((2,3))), "(2,3):(3,1)");
    answer!(Layout::right(int_tuple!(12)), "12:1");
    answer!(Layout::right(int_tuple!((4,3,(6)))), "(4,3,(6)):(18,6,(1))");
    answer!(Layout::right(int_tuple!((1,4,6,1))), "(1,4,6,1):(0,6,1,0)");
    answer!(Layout::right(int_tuple!((6,5,5,(8)))), "(6,5,5,(8)):(200,40,8,(1))");
}

#[test]
#[rustfmt::skip]
fn ordered() {
    answer!(Layout::ordered(int_tuple!((3,8)), int_tuple!((0,1))), "(3,8):(1,3)");
    answer!(Layout::ordered(int_tuple!((6,3,4)), int_tuple!((1,2,0))), "(6,3,4):(4,24,1)");
    answer!(Layout::ordered(int_tuple!((4,4)), int_tuple!((0,1))), "(4,4):(1,4)");
    answer!(Layout::ordered(int_tuple!(6), int_tuple!(0)), "6:1");
    answer!(Layout::ordered(int_tuple!((3,2)), int_tuple!((1,0))), "(3,2):(2,1)");
    answer!(Layout::ordered(int_tuple!((6,2)), int_tuple!((1,0))), "(6,2):(2,1)");
    answer!(Layout::ordered(int_tuple!(2), int_tuple!(0)), "2:1");
    answer!(Layout::ordered(int_tuple!((2,4,(4))), int_tuple!((2,1,(0)))), "(2,4,(4)):(16,4,(1))");
    answer!(Layout::ordered(int_tuple!(12), int_tuple!(0)), "12:1");
    answer!(Layout::ordered(int_tuple!(6), int_tuple!(0)), "6:1");
    answer!(Layout::ordered(int_tuple!(((1),12,3)), int_tuple!(((0),1,2))), "((1),12,3):((0),1,12)");
    answer!(Layout::ordered(int_tuple!((2,3)), int_tuple!((1,0))), "(2,3):(3,1)");
    answer!(Layout::ordered(int_tuple!((6,1)), int_tuple!((0,1))), "(6,1):(1,0)");
    answer!(Layout::ordered(int_tuple!(4), int_tuple!(0)), "4:1");
    answer!(Layout::ordered(int_tuple!((5,5,5,3)), int_tuple!((0,3,2,1))), "(5,5,5,3):(1,75,15,5)");
}

#[test]
#[rustfmt::skip]
fn compact_like() {
    answer!(layout!(((2,5,1)) : ((0,3,3))).compact_like(), "((2,5,1)):((0,1,0))");
    answer!(layout!(((6),12,3,2) : ((432),9,3,108)).compact_like(), "((6),12,3,2):((72),3,1,36)");
    answer!(layout!((2,8,4,2) : (16,2,32,1)).compact_like(), "(2,8,4,2):(16,2,32,1)");
    answer!(layout!((4,1) : (1,4)).compact_like(), "(4,1):(1,0)");
    answer!(layout!((12,4,2) : (6,72,3)).compact_like(), "(12,4,2):(2,24,1)");
    answer!(layout!(5 : 1).compact_like(), "5:1");
    answer!(layout!(((6),1,1) : ((4),24,2)).compact_like(), "((6),1,1):((1),0,0)");
    answer!(layout!((3,6,(4,2)) : (8,24,(0,2))).compact_like(), "(3,6,(4,2)):(2,6,(0,1))");
    answer!(layout!((4,3,(2),4) : (24,1,(12),3)).compact_like(), "(4,3,(2),4):(24,1,(12),3)");
    answer!(layout!(((1,2,12)) : ((2,2,4))).compact_like(), "((1,2,12)):((0,1,2))");
    answer!(layout!(2 : 1).compact_like(), "2:1");
    answer!(layout!((8,1) : (1,1)).compact_like(), "(8,1):(1,0)");
    answer!(layout!(12 : 1).compact_like(), "12:1");
    answer!(layout!((2,2) : (2,1)).compact_like(), "(2,2):(2,1)");
    answer!(layout!(3 : 1).compact_like(), "3:1");
}

#[test]
#[rustfmt::skip]
fn fragment_like() {
    answer!(layout!((4,3,8,6) : (48,192,1,8)).fragment_like(), "(4,3,8,6):(1,192,4,32)");
    answer!(layout!((2,2) : (1,2)).fragment_like(), "(2,2):(1,2)");
    answer!(layout!(4 : 2).fragment_like(), "4:1");
    answer!(layout!(4 : 3).fragment_like(), "4:1");
    answer!(layout!((12,4) : (8,1)).fragment_like(), "(12,4):(1,12)");
    answer!(layout!(4 : 1).fragment_like(), "4:1");
    answer!(layout!((5,5,(4)) : (20,1,(5))).fragment_like(), "(5,5,(4)):(1,5,(25))");
    answer!(layout!((4,4,2,3) : (1,12,48,4)).fragment_like(), "(4,4,2,3):(1,12,48,4)");
    answer!(layout!((2,3,3) : (2,12,4)).fragment_like(), "(2,3,3):(1,6,2)");
    answer!(layout!(2 : 0).fragment_like(), "2:0");
    answer!(layout!((2,3) : (0,4)).fragment_like(), "(2,3):(0,1)");
    answer!(layout!((4,5,(4)) : (1,4,(20))).fragment_like(), "(4,5,(4)):(1,4,(20))");
    answer!(layout!((5,(1),12,2) : (4,(480),20,1)).fragment_like(), "(5,(1),12,2):(1,(0),10,5)");
    answer!(layout!((8,4,2,4) : (12,192,96,0)).fragment_like(), "(8,4,2,4):(1,64,32,8)");
    answer!(layout!((6,5) : (1,6)).fragment_like(), "(6,5):(1,6)");
}

#[test]
#[rustfmt::skip]
fn with_shape() {
    answer!(layout!((2,2) : (12,3)).with_shape(int_tuple!(4)), "(2,2):(12,3)");
    answer!(layout!((4,2,(1)) : (0,4,(4))).with_shape(int_tuple!((4,2))), "(4,2):(0,4)");
    answer!(layout!((1,(1),8,6) : (16,(16),2,32)).with_shape(int_tuple!((8,2,3))), "(8,2,3):(2,32,64)");
    answer!(layout!((6,1,(5),1) : (2,1,(12),120)).with_shape(int_tuple!((2,5,3))), "(2,5,3):(2,4,20)");
    answer!(layout!((4,4) : (4,0)).with_shape(int_tuple!((8,2))), "((4,2),2):((4,0),0)");
    answer!(layout!(2 : 1).with_shape(int_tuple!(2)), "2:1");
    answer!(layout!((2,8,(8)) : (2,64,(8))).with_shape(int_tuple!((64,2))), "((2,8,4),2):((2,64,8),32)");
    answer!(layout!(12 : 1).with_shape(int_tuple!((6,2))), "(6,2):(1,6)");
    answer!(layout!((8,4) : (1,0)).with_shape(int_tuple!((8,2,2))), "(8,2,2):(1,0,0)");
    answer!(layout!((8,1,2,4) : (1,256,16,64)).with_shape(int_tuple!((2,4,4,2))), "(2,4,(2,2),2):(1,2,(16,64),128)");
    answer!(layout!((8,(1,4)) : (1,(8,8))).with_shape(int_tuple!((2,2,8))), "(2,2,8):(1,2,4)");
    answer!(layout!((1,12,2,(1)) : (1,1,24,(48))).with_shape(int_tuple!(24)), "(12,2):(1,24)");
    answer!(layout!((6,6) : (3,18)).with_shape(int_tuple!((9,4))), "(9,4):(3,27)");
    answer!(layout!((2,12) : (1,2)).with_shape(int_tuple!((8,3))), "(8,3):(1,8)");
    answer!(layout!(4 : 0).with_shape(int_tuple!((2,2))), "(2,2):(0,0)");
}

#[test]
#[rustfmt::skip]
fn filter() {
    answer!(layout!((2,2) : (3,6)).filter(), "4:3");
    answer!(layout!((12,3) : (3,1)).filter(), "(12,3):(3,1)");
    answer!(layout!((4,2) : (4,2)).filter(), "(4,2):(4,2)");
    answer!(layout!((8,3,(4)) : (2,32,(96))).filter(), "(8,12):(2,32)");
    answer!(layout!((2,4,(8),1) : (8,1,(16),1)).filter(), "(2,4,8):(8,1,16)");
    answer!(layout!((8,4,3,5) : (120,30,1,3)).filter(), "(8,4,15):(120,30,1)");
    answer!(layout!(3 : 3).filter(), "3:3");
    answer!(layout!((3,2) : (1,3)).filter(), "6:1");
    answer!(layout!(8 : 2).filter(), "8:2");
    answer!(layout!((8,12) : (12,1)).filter(), "(8,12):(12,1)");
    answer!(layout!((6,6,6) : (6,1,36)).filter(), "(6,6,6):(6,1,36)");
    answer!(layout!(4 : 0).filter(), "1:0");
    answer!(layout!((5,4,3,(1)) : (1,5,40,(1))).filter(), "(20,3):(1,40)");
    answer!(layout!((1,4,(4)) : (1,4,(1))).filter(), "(4,4):(4,1)");
    answer!(layout!((5,2,4,(3)) : (12,60,1,(4))).filter(), "(10,12):(12,1)");
}

#[test]
#[rustfmt::skip]
fn filter_zeros() {
    answer!(layout!((1,6) : (3,3)).filter_zeros(), "(1,6):(3,3)");
    answer!(layout!(2 : 1).filter_zeros(), "2:1");
    answer!(layout!((2,4,5) : (40,1,0)).filter_zeros(), "(2,4,1):(40,1,0)");
    answer!(layout!(4 : 1).filter_zeros(), "4:1");
    answer!(layout!((6,4,4) : (16,1,4)).filter_zeros(), "(6,4,4):(16,1,4)");
    answer!(layout!(5 : 3).filter_zeros(), "5:3");
    answer!(layout!(5 : 1).filter_zeros(), "5:1");
    answer!(layout!((8,(4),2) : (8,(1),4)).filter_zeros(), "(8,(4),2):(8,(1),4)");
    answer!(layout!((6,2,3,12) : (6,432,1,36)).filter_zeros(), "(6,2,3,12):(6,432,1,36)");
    answer!(layout!((2,4) : (1,4)).filter_zeros(), "(2,4):(1,4)");
    answer!(layout!(1 : 1).filter_zeros(), "1:1");
    answer!(layout!((5,1,6,5) : (60,6,0,0)).filter_zeros(), "(5,1,1,1):(60,6,0,0)");
    answer!(layout!((2,4,1,3) : (1,6,24,2)).filter_zeros(), "(2,4,1,3):(1,6,24,2)");
    answer!(layout!(2 : 2).filter_zeros(), "2:2");
    answer!(layout!(5 : 2).filter_zeros(), "5:2");
}

#[test]
#[rustfmt::skip]
fn coalesce_by() {
    answer!(layout!((6,3) : (2,24)).coalesce_by(int_tuple!((1,1))), "(6,3):(2,24)");
    answer!(layout!((4,1) : (1,4)).coalesce_by(int_tuple!((1,1))), "(4,1):(1,0)");
    answer!(layout!((2,3,3,4) : (18,6,1,36)).coalesce_by(int_tuple!((1,1,1,1))), "(2,3,3,4):(18,6,1,36)");
    answer!(layout!((12,3,6) : (54,3,9)).coalesce_by(int_tuple!((1,1,1))), "(12,3,6):(54,3,9)");
    answer!(layout!((4,5,8,5) : (40,0,5,1)).coalesce_by(int_tuple!((1,1))), "(4,5,8,5):(40,0,5,1)");
    answer!(layout!((3,5,4,2) : (5,1,15,60)).coalesce_by(int_tuple!((1,1))), "(3,5,4,2):(5,1,15,60)");
    answer!(layout!((1,(4,6,8)) : (1,(48,1,6))).coalesce_by(int_tuple!((1,1))), "(1,(4,48)):(0,(48,1))");
    answer!(layout!((8,(4),12) : (48,(0),4)).coalesce_by(int_tuple!((1,1))), "(8,4,12):(48,0,4)");
    answer!(layout!((4,5) : (2,8)).coalesce_by(int_tuple!((1,1))), "(4,5):(2,8)");
    answer!(layout!((8,8) : (3,24)).coalesce_by(int_tuple!((1,1))), "(8,8):(3,24)");
    answer!(layout!((2,4,2) : (4,0,1)).coalesce_by(int_tuple!((1,1))), "(2,4,2):(4,0,1)");
    answer!(layout!(3 : 1).coalesce_by(int_tuple!(1)), "3:1");
    answer!(layout!((4,8,(2)) : (8,1,(32))).coalesce_by(int_tuple!(1)), "(4,8,2):(8,1,32)");
    answer!(layout!((6,2,4) : (8,0,2)).coalesce_by(int_tuple!((1,1))), "(6,2,4):(8,0,2)");
    answer!(layout!((5,1,3) : (6,6,2)).coalesce_by(int_tuple!(1)), "(5,3):(6,2)");
}

#[test]
#[rustfmt::skip]
fn flatten() {
    answer!(layout!((6,8,8,4) : (1024,2,128,16)).flatten(), "(6,8,8,4):(1024,2,128,16)");
    answer!(layout!(((6,3,3)) : ((6,1,36))).flatten(), "(6,3,3):(6,1,36)");
    answer!(layout!(2 : 0).flatten(), "2:0");
    answer!(layout!(((12),1,3) : ((2),72,24)).flatten(), "(12,1,3):(2,72,24)");
    answer!(layout!((1,1) : (1,1)).flatten(), "(1,1):(1,1)");
    answer!(layout!((12,(2),3) : (0,(108),36)).flatten(), "(12,2,3):(0,108,36)");
    answer!(layout!(((3,3),8) : ((8,24),1)).flatten(), "(3,3,8):(8,24,1)");
    answer!(layout!((2,3,(2),4) : (0,8,(24),2)).flatten(), "(2,3,2,4):(0,8,24,2)");
    answer!(layout!((6,12,6,4) : (1152,8,0,0)).flatten(), "(6,12,6,4):(1152,8,0,0)");
    answer!(layout!((4,4,(2)) : (16,4,(2))).flatten(), "(4,4,2):(16,4,2)");
    answer!(layout!((1,2,(4)) : (4,4,(0))).flatten(), "(1,2,4):(4,4,0)");
    answer!(layout!((3,5,6,1) : (6,18,0,6)).flatten(), "(3,5,6,1):(6,18,0,6)");
    answer!(layout!(2 : 1).flatten(), "2:1");
    answer!(layout!((1,2) : (3,3)).flatten(), "(1,2):(3,3)");
    answer!(layout!((5,2,3,4) : (12,3,1,60)).flatten(), "(5,2,3,4):(12,3,1,60)");
}

#[test]
#[rustfmt::skip]
fn unflatten() {
    answer!(layout!(12 : 1).unflatten(int_tuple!((0))), "(12):(1)");
    answer!(layout!((2,8,6,(1)) : (192,2,32,(384))).unflatten(int_tuple!((0,(0,0),0))), "(2,(8,6),1):(192,(2,32),384)");
    answer!(layout!((8,8) : (1,0)).unflatten(int_tuple!((0,(0)))), "(8,(8)):(1,(0))");
    answer!(layout!(4 : 0).unflatten(int_tuple!((0))), "(4):(0)");
    answer!(layout!(1 : 1).unflatten(int_tuple!((0))), "(1):(1)");
    answer!(layout!(((4,5,12),4) : ((240,48,4),1)).unflatten(int_tuple!(((0,0,0,0)))), "((4,5,12,4)):((240,48,4,1))");
    answer!(layout!((4,4) : (4,1)).unflatten(int_tuple!(((0),0))), "((4),4):((4),1)");
    answer!(layout!(2 : 1).unflatten(int_tuple!((0))), "(2):(1)");
    answer!(layout!((5,12,2,2) : (4,20,1,2)).unflatten(int_tuple!((0,(0,0),0))), "(5,(12,2),2):(4,(20,1),2)");
    answer!(layout!(((8,6,1),2) : ((12,2,96),1)).unflatten(int_tuple!((0,0,0,(0)))), "(8,6,1,(2)):(12,2,96,(1))");
    answer!(layout!(12 : 1).unflatten(int_tuple!((0))), "(12):(1)");
    answer!(layout!((2,4,4,2) : (12,48,3,192)).unflatten(int_tuple!(((0),0,0,0))), "((2),4,4,2):((12),48,3,192)");
    answer!(layout!((4,5,12,12) : (1,576,0,48)).unflatten(int_tuple!((0,(0),0,0))), "(4,(5),12,12):(1,(576),0,48)");
    answer!(layout!(5 : 3).unflatten(int_tuple!((0))), "(5):(3)");
    answer!(layout!((12,(4,4)) : (16,(2,192))).unflatten(int_tuple!(((0,0),0))), "((12,4),4):((16,2),192)");
}

#[test]
#[rustfmt::skip]
fn mode() {
    answer!(layout!(((4,8),4) : ((32,4),1)).mode(int!(1)), "4:1");
    answer!(layout!((2,(2),6) : (0,(6),0)).mode(int!(2)), "6:0");
    answer!(layout!(((2,2),8) : ((2,4),8)).mode(int!(0)), "(2,2):(2,4)");
    answer!(layout!((1,8) : (1,1)).mode(int!(1)), "8:1");
    answer!(layout!((1,3) : (3,1)).mode(int!(0)), "1:3");
    answer!(layout!(8 : 3).mode(int!(0)), "8:3");
    answer!(layout!((2,3) : (3,12)).mode(int!(1)), "3:12");
    answer!(layout!((2,2) : (1,4)).mode(int!(0)), "2:1");
    answer!(layout!((8,6) : (24,2)).mode(int!(1)), "6:2");
    answer!(layout!(2 : 1).mode(int!(0)), "2:1");
    answer!(layout!((4,12) : (12,1)).mode(int!(1)), "12:1");
    answer!(layout!(5 : 1).mode(int!(0)), "5:1");
    answer!(layout!((3,8) : (8,1)).mode(int!(0)), "3:8");
    answer!(layout!(4 : 1).mode(int!(0)), "4:1");
    answer!(layout!((4,5) : (5,0)).mode(int!(0)), "4:5");
}

#[test]
#[rustfmt::skip]
fn select() {
    answer!(layout!((1,2) : (1,1)).select((int!(0), int!(1), )), "(1,2):(1,1)");
    answer!(layout!((6,12,12,(2)) : (0,0,1,(72))).select((int!(1), int!(2), )), "(12,12):(0,1)");
    answer!(layout!((12,2) : (6,3)).select((int!(1), int!(0), int!(0), )), "(2,12,12):(3,6,6)");
    answer!(layout!(8 : 1).select((int!(0), )), "(8):(1)");
    answer!(layout!(1 : 3).select((int!(0), )), "(1):(3)");
    answer!(layout!((5,8) : (1,5)).select((int!(0), int!(0), int!(0), )), "(5,5,5):(1,1,1)");
    answer!(layout!(3 : 0).select((int!(0), int!(0), )), "(3,3):(0,0)");
    answer!(layout!((8,6) : (6,1)).select((int!(1), )), "(6):(1)");
    answer!(layout!((4,(5),1) : (5,(1),20)).select((int!(2), int!(0), int!(2), )), "(1,4,1):(20,5,20)");
    answer!(layout!(4 : 3).select((int!(0), int!(0), int!(0), )), "(4,4,4):(3,3,3)");
    answer!(layout!((12,4) : (1,12)).select((int!(0), int!(0), )), "(12,12):(1,1)");
    answer!(layout!((3,(2,5),4) : (10,(120,1),30)).select((int!(0), )), "(3):(10)");
    answer!(layout!((4,2,6,4) : (1,48,8,96)).select((int!(0), )), "(4):(1)");
    answer!(layout!(4 : 2).select((int!(0), int!(0), int!(0), )), "(4,4,4):(2,2,2)");
    answer!(layout!((2,5,2,1) : (20,1,5,1)).select((int!(2), int!(3), )), "(2,1):(5,1)");
}

#[test]
#[rustfmt::skip]
fn take() {
    answer!(layout!(((4),8,3,12) : ((0),288,1,0)).take(int!(1), int!(2)), "(8):(288)");
    answer!(layout!((2,4) : (1,2)).take(int!(0), int!(2)), "(2,4):(1,2)");
    answer!(layout!((5,6,2,6) : (18,3,90,360)).take(int!(1), int!(2)), "(6):(3)");
    answer!(layout!(8 : 0).take(int!(0), int!(1)), "(8):(0)");
    answer!(layout!(((3,2),4,3) : ((0,0),1,16)).take(int!(2), int!(3)), "(3):(16)");
    answer!(layout!((4,1) : (1,1)).take(int!(0), int!(2)), "(4,1):(1,1)");
    answer!(layout!((2,2,4) : (2,16,4)).take(int!(0), int!(2)), "(2,2):(2,16)");
    answer!(layout!((2,4,2) : (24,3,12)).take(int!(0), int!(2)), "(2,4):(24,3)");
    answer!(layout!(4 : 1).take(int!(0), int!(1)), "(4):(1)");
    answer!(layout!((2,2,8,4) : (64,8,1,16)).take(int!(1), int!(4)), "(2,8,4):(8,1,16)");
    answer!(layout!((12,1,5,4) : (4,240,48,1)).take(int!(2), int!(4)), "(5,4):(48,1)");
    answer!(layout!(((3),4,2) : ((1),3,24)).take(int!(1), int!(2)), "(4):(3)");
    answer!(layout!((12,2) : (4,1)).take(int!(1), int!(2)), "(2):(1)");
    answer!(layout!((1,(5),1,8) : (0,(8),1,1)).take(int!(0), int!(4)), "(1,(5),1,8):(0,(8),1,1)");
    answer!(layout!(((12,5,2),4) : ((0,96,48),0)).take(int!(0), int!(1)), "((12,5,2)):((0,96,48))");
}

#[test]
#[rustfmt::skip]
fn group() {
    answer!(layout!((8,2,1,(3)) : (1,48,16,(16))).group(int!(2), int!(3)), "(8,2,(1),(3)):(1,48,(16),(16))");
    answer!(layout!((6,2) : (1,6)).group(int!(1), int!(2)), "(6,(2)):(1,(6))");
    answer!(layout!((5,2) : (2,1)).group(int!(0), int!(1)), "((5),2):((2),1)");
    answer!(layout!((6,12) : (12,1)).group(int!(1), int!(2)), "(6,(12)):(12,(1))");
    answer!(layout!((12,8,2) : (8,1,96)).group(int!(0), int!(1)), "((12),8,2):((8),1,96)");
    answer!(layout!(2 : 1).group(int!(0), int!(1)), "((2)):((1))");
    answer!(layout!(1 : 1).group(int!(0), int!(1)), "((1)):((1))");
    answer!(layout!((4,5,(8,2)) : (160,1,(0,40))).group(int!(2), int!(3)), "(4,5,((8,2))):(160,1,((0,40)))");
    answer!(layout!(2 : 3).group(int!(0), int!(1)), "((2)):((3))");
    answer!(layout!((12,1,(8,12)) : (1,24,(576,48))).group(int!(0), int!(2)), "((12,1),(8,12)):((1,24),(576,48))");
    answer!(layout!((3,8) : (2,12)).group(int!(0), int!(2)), "((3,8)):((2,12))");
    answer!(layout!((3,6,(2,2)) : (0,6,(36,1))).group(int!(2), int!(3)), "(3,6,((2,2))):(0,6,((36,1)))");
    answer!(layout!(4 : 3).group(int!(0), int!(1)), "((4)):((3))");
    answer!(layout!((6,12,4,(4)) : (1,96,0,(24))).group(int!(0), int!(1)), "((6),12,4,(4)):((1),96,0,(24))");
    answer!(layout!(5 : 1).group(int!(0), int!(1)), "((5)):((1))");
}

#[test]
#[rustfmt::skip]
fn append() {
    answer!(layout!(2 : 1).append(layout!((4,2) : (0,4))), "(2,(4,2)):(1,(0,4))");
    answer!(layout!(4 : 1).append(layout!((3,8) : (16,1))), "(4,(3,8)):(1,(16,1))");
    answer!(layout!((3,2,1,2) : (3,9,0,18)).append(layout!((2,4,8) : (32,1,4))), "(3,2,1,2,(2,4,8)):(3,9,0,18,(32,1,4))");
    answer!(layout!(6 : 1).append(layout!(5 : 1)), "(6,5):(1,1)");
    answer!(layout!(5 : 3).append(layout!((3,3,(8)) : (8,24,(1)))), "(5,(3,3,(8))):(3,(8,24,(1)))");
    answer!(layout!((6,4) : (12,3)).append(layout!(3 : 1)), "(6,4,3):(12,3,1)");
    answer!(layout!((1,6,5) : (1,1,6)).append(layout!(6 : 1)), "(1,6,5,6):(1,1,6,1)");
    answer!(layout!((4,4) : (3,12)).append(layout!((8,1) : (0,8))), "(4,4,(8,1)):(3,12,(0,8))");
    answer!(layout!((1,4) : (0,1)).append(layout!(((2,5),3) : ((1,6),2))), "(1,4,((2,5),3)):(0,1,((1,6),2))");
    answer!(layout!(2 : 0).append(layout!((12,2) : (4,2))), "(2,(12,2)):(0,(4,2))");
    answer!(layout!((2,(8,1),2) : (32,(4,2),2)).append(layout!(5 : 1)), "(2,(8,1),2,5):(32,(4,2),2,1)");
    answer!(layout!((4,4) : (8,2)).append(layout!((6,(12,8)) : (8,(48,1)))), "(4,4,(6,(12,8))):(8,2,(8,(48,1)))");
    answer!(layout!((6,4,1,5) : (1,6,1,24)).append(layout!((4,(5,8)) : (0,(1,5)))), "(6,4,1,5,(4,(5,8))):(1,6,1,24,(0,(1,5)))");
    answer!(layout!(((2,8,8)) : ((0,16,1))).append(layout!((4,4) : (3,12))), "((2,8,8),(4,4)):((0,16,1),(3,12))");
    answer!(layout!(4 : 1).append(layout!(2 : 1)), "(4,2):(1,1)");
}

#[test]
#[rustfmt::skip]
fn prepend() {
    answer!(layout!(6 : 1).prepend(layout!((2,5) : (1,2))), "((2,5),6):((1,2),1)");
    answer!(layout!((12,12) : (12,0)).prepend(layout!((12,3) : (1,12))), "((12,3),12,12):((1,12),12,0)");
    answer!(layout!(12 : 1).prepend(layout!(8 : 2)), "(8,12):(2,1)");
    answer!(layout!((1,12,(8)) : (288,3,(36))).prepend(layout!(8 : 2)), "(8,1,12,(8)):(2,288,3,(36))");
    answer!(layout!(((4,2,4)) : ((16,2,4))).prepend(layout!(4 : 1)), "(4,(4,2,4)):(1,(16,2,4))");
    answer!(layout!(4 : 1).prepend(layout!((4,4) : (0,3))), "((4,4),4):((0,3),1)");
    answer!(layout!((2,4,6) : (6,0,1)).prepend(layout!((6,4) : (1,6))), "((6,4),2,4,6):((1,6),6,0,1)");
    answer!(layout!((3,4) : (2,6)).prepend(layout!((4,2) : (2,1))), "((4,2),3,4):((2,1),2,6)");
    answer!(layout!((2,4) : (1,0)).prepend(layout!(12 : 1)), "(12,2,4):(1,1,0)");
    answer!(layout!((2,8) : (16,1)).prepend(layout!(4 : 1)), "(4,2,8):(1,16,1)");
    answer!(layout!(3 : 1).prepend(layout!((3,2) : (3,0))), "((3,2),3):((3,0),1)");
    answer!(layout!(2 : 2).prepend(layout!((8,4,5) : (40,10,2))), "((8,4,5),2):((40,10,2),2)");
    answer!(layout!((2,4,8) : (1,16,2)).prepend(layout!((1,3,1) : (3,1,3))), "((1,3,1),2,4,8):((3,1,3),1,16,2)");
    answer!(layout!((6,4,2) : (16,2,8)).prepend(layout!((2,4,(4)) : (32,2,(8)))), "((2,4,(4)),6,4,2):((32,2,(8)),16,2,8)");
    answer!(layout!((4,6) : (6,1)).prepend(layout!(6 : 1)), "(6,4,6):(1,6,1)");
}

#[test]
#[rustfmt::skip]
fn replace() {
    answer!(layout!((2,2) : (2,1)).replace(int!(1), layout!((2,2) : (1,0))), "(2,(2,2)):(2,(1,0))");
    answer!(layout!((4,1,3) : (6,6,2)).replace(int!(0), layout!(((4,3),4) : ((3,1),12))), "(((4,3),4),1,3):(((3,1),12),6,2)");
    answer!(layout!((1,3) : (1,1)).replace(int!(0), layout!((2,12) : (1,2))), "((2,12),3):((1,2),1)");
    answer!(layout!(((12),1,4,4) : ((32),1,8,1)).replace(int!(1), layout!((6,2,(4)) : (8,1,(2)))), "((12),(6,2,(4)),4,4):((32),(8,1,(2)),8,1)");
    answer!(layout!((12,4,2,5) : (2,24,1,0)).replace(int!(1), layout!(8 : 1)), "(12,8,2,5):(2,1,1,0)");
    answer!(layout!(2 : 1).replace(int!(0), layout!((4,5,(4)) : (2,32,(8)))), "((4,5,(4))):((2,32,(8)))");
    answer!(layout!((4,3,3) : (9,1,0)).replace(int!(0), layout!((5,5) : (1,5))), "((5,5),3,3):((1,5),1,0)");
    answer!(layout!((6,8) : (1,6)).replace(int!(1), layout!(2 : 1)), "(6,2):(1,1)");
    answer!(layout!((4,2,12,(8)) : (768,1,32,(2))).replace(int!(0), layout!(6 : 1)), "(6,2,12,(8)):(1,1,32,(2))");
    answer!(layout!(((4),8,1) : ((1),4,32)).replace(int!(1), layout!((12,8) : (8,0))), "((4),(12,8),1):((1),(8,0),32)");
    answer!(layout!((2,4,8) : (192,3,0)).replace(int!(0), layout!(4 : 2)), "(4,4,8):(2,3,0)");
    answer!(layout!(4 : 2).replace(int!(0), layout!(5 : 1)), "(5):(1)");
    answer!(layout!((4,(3,4),8) : (16,(64,192),1)).replace(int!(1), layout!((2,1) : (1,2))), "(4,(2,1),8):(16,(1,2),1)");
    answer!(layout!(5 : 2).replace(int!(0), layout!(1 : 1)), "(1):(1)");
    answer!(layout!((6,8) : (8,1)).replace(int!(1), layout!(((4,1,12)) : ((24,96,2)))), "(6,((4,1,12))):(8,((24,96,2)))");
}

#[test]
#[rustfmt::skip]
fn upcast() {
    answer!(layout!((3,8) : (8,1)).upcast(int!(8)), "(3,1):(1,1)");
    answer!(layout!((1,8) : (1,1)).upcast(int!(1)), "(1,8):(1,1)");
    answer!(layout!((5,8,(4),2) : (16,2,(80),1)).upcast(int!(2)), "(5,8,(4),1):(8,1,(40),1)");
    answer!(layout!((4,3,2,2) : (2,32,8,16)).upcast(int!(4)), "(2,3,2,2):(1,8,2,4)");
    answer!(layout!(4 : 1).upcast(int!(1)), "4:1");
    answer!(layout!((2,12,(2)) : (12,1,(24))).upcast(int!(2)), "(2,6,(2)):(6,1,(12))");
    answer!(layout!((1,5) : (1,1)).upcast(int!(8)), "(1,1):(1,1)");
    answer!(layout!((1,6,8,(3)) : (24,48,1,(8))).upcast(int!(1)), "(1,6,8,(3)):(24,48,1,(8))");
    answer!(layout!((12,2,1,8) : (1,12,24,48)).upcast(int!(3)), "(4,2,1,8):(1,4,8,16)");
    answer!(layout!(12 : 2).upcast(int!(4)), "6:1");
    answer!(layout!(((4,12),6) : ((216,18),3)).upcast(int!(3)), "((4,12),6):((72,6),1)");
    answer!(layout!((3,4,2,(1)) : (0,1,12,(12))).upcast(int!(2)), "(3,2,2,(1)):(0,1,6,(6))");
    answer!(layout!(12 : 0).upcast(int!(3)), "12:0");
    answer!(layout!(3 : 1).upcast(int!(8)), "1:1");
    answer!(layout!((6,2) : (2,1)).upcast(int!(4)), "(3,1):(1,1)");
}

#[test]
#[rustfmt::skip]
fn downcast() {
    answer!(layout!((8,2,12) : (24,12,1)).downcast(int!(8)), "(8,2,96):(192,96,1)");
    answer!(layout!((4,4,6) : (24,6,1)).downcast(int!(4)), "(4,4,24):(96,24,1)");
    answer!(layout!(5 : 3).downcast(int!(1)), "5:3");
    answer!(layout!(6 : 1).downcast(int!(8)), "48:1");
    answer!(layout!((4,8) : (8,1)).downcast(int!(3)), "(4,24):(24,1)");
    answer!(layout!((12,(5,2)) : (0,(1,5))).downcast(int!(4)), "(12,(20,2)):(0,(1,20))");
    answer!(layout!(((2),12,8) : ((96),1,12)).downcast(int!(2)), "((2),24,8):((192),1,24)");
    answer!(layout!((4,3,(4)) : (1,4,(24))).downcast(int!(8)), "(32,3,(4)):(1,32,(192))");
    answer!(layout!(2 : 1).downcast(int!(1)), "2:1");
    answer!(layout!((6,5) : (1,6)).downcast(int!(3)), "(18,5):(1,18)");
    answer!(layout!(((5,4),4) : ((1,5),20)).downcast(int!(8)), "((40,4),4):((1,40),160)");
    answer!(layout!((1,3) : (3,1)).downcast(int!(2)), "(1,6):(6,1)");
    answer!(layout!((4,12) : (1,4)).downcast(int!(3)), "(12,12):(1,12)");
    answer!(layout!(12 : 1).downcast(int!(2)), "24:1");
    answer!(layout!(4 : 1).downcast(int!(2)), "8:1");
}

#[test]
#[rustfmt::skip]
fn recast() {
    answer!(layout!((2,12,2,4) : (1,32,4,8)).recast(int!(4), int!(8)), "(1,12,2,4):(1,16,2,4)");
    answer!(layout!((12,4,(5)) : (40,0,(2))).recast(int!(8), int!(8)), "(12,4,(5)):(40,0,(2))");
    answer!(layout!((12,2) : (4,1)).recast(int!(48), int!(48)), "(12,2):(4,1)");
    answer!(layout!(((3),5,6,12) : ((60),1,360,5)).recast(int!(32), int!(16)), "((3),10,6,12):((120),1,720,10)");
    answer!(layout!((4,1,8) : (24,96,3)).recast(int!(32), int!(32)), "(4,1,8):(24,96,3)");
    answer!(layout!((1,12) : (12,1)).recast(int!(8), int!(4)), "(1,24):(24,1)");
    answer!(layout!((2,2) : (3,12)).recast(int!(16), int!(16)), "(2,2):(3,12)");
    answer!(layout!(((6,1,2)) : ((1,12,6))).recast(int!(48), int!(16)), "((18,1,2)):((1,36,18))");
    answer!(layout!((5,2,2,1) : (4,1,2,4)).recast(int!(32), int!(128)), "(5,1,1,1):(1,1,1,1)");
    answer!(layout!((2,6,(4,2)) : (8,16,(1,4))).recast(int!(48), int!(48)), "(2,6,(4,2)):(8,16,(1,4))");
    answer!(layout!(((2,4),5,4) : ((32,4),64,1)).recast(int!(4), int!(128)), "((2,1),5,1):((1,1),2,1)");
    answer!(layout!((1,2,2) : (8,1,4)).recast(int!(48), int!(16)), "(1,6,2):(24,1,12)");
    answer!(layout!(2 : 2).recast(int!(4), int!(4)), "2:2");
    answer!(layout!((2,12,12) : (12,48,1)).recast(int!(16), int!(8)), "(2,12,24):(24,96,1)");
    answer!(layout!(12 : 1).recast(int!(32), int!(48)), "8:1");
}

#[test]
#[rustfmt::skip]
fn quasi_inverse() {
    answer!(layout!(1 : 1).quasi_inverse(), "1:0");
    answer!(layout!(4 : 3).quasi_inverse(), "(3,4):(0,1)");
    answer!(layout!((12,3,4) : (6,2,72)).quasi_inverse(), "(2,3,12,4):(0,12,1,36)");
    answer!(layout!(2 : 2).quasi_inverse(), "(2,2):(0,1)");
    answer!(layout!((4,1) : (1,4)).quasi_inverse(), "4:1");
    answer!(layout!((4,(3,4,5)) : (20,(80,0,4))).quasi_inverse(), "(4,5,12):(0,48,1)");
    answer!(layout!((8,5) : (1,0)).quasi_inverse(), "8:1");
    answer!(layout!(5 : 1).quasi_inverse(), "5:1");
    answer!(layout!((6,5,6,4) : (3,216,18,2160)).quasi_inverse(), "(3,6,12,10,4):(0,1,30,6,180)");
    answer!(layout!((2,12,2,4) : (48,4,0,1)).quasi_inverse(), "(4,12,2):(48,2,1)");
    answer!(layout!((4,(4),1) : (8,(2),1)).quasi_inverse(), "(2,4,4):(0,4,1)");
    answer!(layout!(8 : 1).quasi_inverse(), "8:1");
    answer!(layout!((12,6) : (3,72)).quasi_inverse(), "(3,24,6):(0,1,12)");
    answer!(layout!((4,4,5,5) : (1,8,32,160)).quasi_inverse(), "(8,100):(1,4)");
    answer!(layout!((5,6,2,5) : (60,1,6,12)).quasi_inverse(), "(60,5):(5,1)");
}

#[test]
#[rustfmt::skip]
fn nullspace() {
    answer!(layout!((5,2,2,4) : (4,40,20,1)).nullspace(), "1:0");
    answer!(layout!((4,12,1) : (0,2,2)).nullspace(), "4:1");
    answer!(layout!(((12,4,8,6)) : ((6,144,576,0))).nullspace(), "6:384");
    answer!(layout!((2,4,5) : (1,0,8)).nullspace(), "4:2");
    answer!(layout!((4,4,1,(2)) : (32,4,16,(1))).nullspace(), "1:0");
    answer!(layout!(6 : 0).nullspace(), "6:1");
    answer!(layout!((12,5,(1),3) : (36,432,(18),3)).nullspace(), "1:0");
    answer!(layout!((3,2) : (2,6)).nullspace(), "1:0");
    answer!(layout!(3 : 3).nullspace(), "1:0");
    answer!(layout!((6,4,3,4) : (4,1,24,72)).nullspace(), "1:0");
    answer!(layout!(((1,4,4)) : ((3,3,12))).nullspace(), "1:0");
    answer!(layout!((2,5,1) : (10,1,10)).nullspace(), "1:0");
    answer!(layout!((3,4) : (12,3)).nullspace(), "1:0");
    answer!(layout!((5,4) : (4,1)).nullspace(), "1:0");
    answer!(layout!(4 : 0).nullspace(), "4:1");
}

#[test]
#[rustfmt::skip]
fn max_common_layout() {
    answer!(layout!((1,12,5) : (1,5,1)).max_common_layout(layout!((1,12,(2)) : (4,8,(1)))), "2:12");
    answer!(layout!(4 : 1).max_common_layout(layout!((4,1) : (1,0))), "4:1");
    answer!(layout!(4 : 1).max_common_layout(layout!(2 : 1)), "2:1");
    answer!(layout!((5,(1),4) : (1,(5),5)).max_common_layout(layout!(5 : 1)), "5:1");
    answer!(layout!((2,4,3,6) : (1,36,2,6)).max_common_layout(layout!((2,(6),8) : (1,(4),24))), "2:1");
    answer!(layout!((2,5,1) : (5,0,1)).max_common_layout(layout!(3 : 3)), "1:0");
    answer!(layout!((4,4) : (1,4)).max_common_layout(layout!(5 : 1)), "5:1");
    answer!(layout!(4 : 1).max_common_layout(layout!(4 : 1)), "4:1");
    answer!(layout!((8,12,(4)) : (1,32,(8))).max_common_layout(layout!(3 : 1)), "3:1");
    answer!(layout!((12,(12),6,12) : (1,(12),288,1728)).max_common_layout(layout!((1,12) : (1,1))), "12:1");
    answer!(layout!((1,4) : (1,1)).max_common_layout(layout!((2,5) : (1,4))), "2:1");
    answer!(layout!((8,3,1,8) : (1,16,16,48)).max_common_layout(layout!((6,4,12) : (1,72,6))), "6:1");
    answer!(layout!((2,8) : (16,2)).max_common_layout(layout!((4,3) : (6,1))), "1:0");
    answer!(layout!(2 : 1).max_common_layout(layout!(2 : 1)), "2:1");
    answer!(layout!(8 : 1).max_common_layout(layout!(6 : 1)), "6:1");
}

#[test]
#[rustfmt::skip]
fn max_common_vector() {
    number!(layout!((6,2) : (4,1)).max_common_vector(layout!((4,2,(2)) : (4,2,(1)))), "1:0");
    number!(layout!((4,4,3) : (1,12,4)).max_common_vector(layout!((4,4) : (1,4))), "4:0");
    number!(layout!(2 : 1).max_common_vector(layout!((5,4) : (1,5))), "2:0");
    number!(layout!(4 : 0).max_common_vector(layout!((4,5) : (0,4))), "1:0");
    number!(layout!(3 : 1).max_common_vector(layout!((3,5) : (1,3))), "3:0");
    number!(layout!(8 : 0).max_common_vector(layout!((3,12) : (2,12))), "1:0");
    number!(layout!((12,4,8,3) : (1,576,72,12)).max_common_vector(layout!(3 : 1)), "3:0");
    number!(layout!((8,4) : (1,8)).max_common_vector(layout!(8 : 1)), "8:0");
    number!(layout!((6,12) : (1,6)).max_common_vector(layout!(((4),4,4) : ((1),4,16))), "64:0");
    number!(layout!((2,5,4,2) : (1,2,10,40)).max_common_vector(layout!((2,12,4) : (1,16,2))), "2:0");
    number!(layout!(2 : 1).max_common_vector(layout!(2 : 1)), "2:0");
    number!(layout!((2,1,8,4) : (1,1,16,4)).max_common_vector(layout!((8,8,1) : (1,8,8))), "2:0");
    number!(layout!((2,1) : (1,2)).max_common_vector(layout!((5,5) : (2,10))), "1:0");
    number!(layout!((6,8) : (1,6)).max_common_vector(layout!(6 : 1)), "6:0");
    number!(layout!((2,(2),2) : (1,(2),4)).max_common_vector(layout!((8,4) : (1,8))), "8:0");
}

#[test]
#[rustfmt::skip]
fn max_alignment() {
    number!(layout!((4,1,4,12) : (0,1,96,2)).max_alignment(), "1:0");
    number!(layout!((4,2,5) : (10,5,1)).max_alignment(), "40:0");
    number!(layout!((3,4) : (4,1)).max_alignment(), "12:0");
    number!(layout!((5,12,(3),4) : (1,20,(240),5)).max_alignment(), "720:0");
    number!(layout!((1,5) : (5,1)).max_alignment(), "5:0");
    number!(layout!(3 : 2).max_alignment(), "1:0");
    number!(layout!((2,5,2) : (2,4,1)).max_alignment(), "20:0");
    number!(layout!(8 : 1).max_alignment(), "8:0");
    number!(layout!(12 : 2).max_alignment(), "1:0");
    number!(layout!((8,2) : (0,1)).max_alignment(), "2:0");
    number!(layout!((1,12) : (1,1)).max_alignment(), "12:0");
    number!(layout!((4,(3,2)) : (12,(1,3))).max_alignment(), "6:0");
    number!(layout!((6,12) : (0,2)).max_alignment(), "1:0");
    number!(layout!(8 : 1).max_alignment(), "8:0");
    number!(layout!((12,(4,4),4) : (64,(1,8),0)).max_alignment(), "4:0");
}

#[test]
#[rustfmt::skip]
fn domain_distribute() {
    answer!(Layout::domain_distribute(int_tuple!(3), int!(2)), "1:0");
    answer!(Layout::domain_distribute(int_tuple!((2,4)), int!(4)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!((2,6)), int!(32)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!((6,8)), int!(12)), "12:1");
    answer!(Layout::domain_distribute(int_tuple!((2,1,4)), int!(12)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!((12,2,(4))), int!(6)), "6:1");
    answer!(Layout::domain_distribute(int_tuple!((12,5)), int!(32)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!((2,2,4,(5))), int!(8)), "8:1");
    answer!(Layout::domain_distribute(int_tuple!((3,4)), int!(4)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!((12,2,5)), int!(6)), "6:1");
    answer!(Layout::domain_distribute(int_tuple!((4,(4,6))), int!(12)), "12:1");
    answer!(Layout::domain_distribute(int_tuple!(2), int!(12)), "2:1");
    answer!(Layout::domain_distribute(int_tuple!((4,5,3,1)), int!(2)), "2:1");
    answer!(Layout::domain_distribute(int_tuple!((4,12)), int!(8)), "8:1");
    answer!(Layout::domain_distribute(int_tuple!(3), int!(2)), "1:0");
}

#[test]
#[rustfmt::skip]
fn tile_to_shape() {
    answer!(layout!((5,8,12) : (1,60,5)).tile_to_shape(int_tuple!((10,32,12,1))), "((5,2),(8,4),(12,1),(1,1)):((1,480),(60,960),(5,0),(0,0))");
    answer!(layout!((2,1) : (2,1)).tile_to_shape(int_tuple!((4,3,3))), "((2,2),(1,3),(1,3)):((2,1),(1,4),(0,12))");
    answer!(layout!((2,6,(5)) : (1,0,(24))).tile_to_shape(int_tuple!((4,6,5,1))), "((2,2),(6,1),((5),1),(1,1)):((1,2),(0,0),((24),0),(0,0))");
    answer!(layout!((1,4,1,6) : (24,6,24,1)).tile_to_shape(int_tuple!((1,12,4,24))), "((1,1),(4,3),(1,4),(6,4)):((24,0),(6,24),(24,72),(1,288))");
    answer!(layout!(3 : 1).tile_to_shape(int_tuple!((12,1))), "((3,4),(1,1)):((1,3),(0,0))");
    answer!(layout!((12,(3,12)) : (6,(1,144))).tile_to_shape(int_tuple!((48,36,1))), "((12,(2,2)),((3,12),1),(1,1)):((6,(3,72)),((1,144),0),(0,0))");
    answer!(layout!(4 : 1).tile_to_shape(int_tuple!((8,4))), "((4,2),(1,4)):((1,4),(0,8))");
    answer!(layout!(2 : 1).tile_to_shape(int_tuple!(4)), "((2,2)):((1,2))");
    answer!(layout!(4 : 1).tile_to_shape(int_tuple!(4)), "((4,1)):((1,0))");
    answer!(layout!(12 : 1).tile_to_shape(int_tuple!((12,2))), "((12,1),(1,2)):((1,0),(0,12))");
    answer!(layout!(((2,4,4)) : ((16,0,4))).tile_to_shape(int_tuple!((128,4))), "(((2,4,4),4),(1,4)):(((16,0,4),1),(0,32))");
    answer!(layout!(12 : 1).tile_to_shape(int_tuple!((12,3))), "((12,1),(1,3)):((1,0),(0,12))");
    answer!(layout!((8,6,12,4) : (288,48,1,12)).tile_to_shape(int_tuple!((8,6,12,4))), "((8,1),(6,1),(12,1),(4,1)):((288,0),(48,0),(1,0),(12,0))");
    answer!(layout!((2,2) : (2,1)).tile_to_shape(int_tuple!((4,6,1))), "((2,2),(2,3),(1,1)):((2,4),(1,8),(0,0))");
    answer!(layout!(1 : 2).tile_to_shape(int_tuple!((4,4))), "((1,4),(1,4)):((2,1),(0,4))");
}

#[test]
#[rustfmt::skip]
fn tile_to_shape_by() {
    answer!(layout!((6,4) : (1,6)).tile_to_shape_by(int_tuple!((12,16)), int_tuple!((0,1))), "((6,2),(4,4)):((1,24),(6,48))");
    answer!(layout!((6,2,1) : (2,1,0)).tile_to_shape_by(int_tuple!((24,8,3,2)), int_tuple!((2,1,0,3))), "((6,4),(2,4),(1,3),(1,2)):((2,144),(1,36),(0,12),(0,576))");
    answer!(layout!((1,12,(2)) : (48,2,(1))).tile_to_shape_by(int_tuple!((4,12,8,2)), int_tuple!((2,1,3,0))), "((1,4),(12,1),((2),4),(1,2)):((48,48),(2,0),((1),192),(0,24))");
    answer!(layout!((2,5,8) : (1,2,10)).tile_to_shape_by(int_tuple!((2,15,24,1)), int_tuple!((1,0,3,2))), "((2,1),(5,3),(8,3),(1,1)):((1,0),(2,80),(10,240),(0,0))");
    answer!(layout!((3,12) : (24,2)).tile_to_shape_by(int_tuple!((6,24,3)), int_tuple!((1,0,2))), "((3,2),(12,2),(1,3)):((24,72),(2,1),(0,144))");
    answer!(layout!(((12,2),8) : ((1,384),24)).tile_to_shape_by(int_tuple!((48,8,4)), int_tuple!((2,0,1))), "(((12,2),2),(8,1),(1,(2,2))):(((1,384),768),(24,0),(0,(12,192)))");
    answer!(layout!((5,2,6) : (1,30,5)).tile_to_shape_by(int_tuple!((10,2,18,3)), int_tuple!((2,1,0,3))), "((5,2),(2,1),(6,3),(1,3)):((1,180),(30,0),(5,60),(0,360))");
    answer!(layout!(((3),2,2,8) : ((1),6,96,12)).tile_to_shape_by(int_tuple!((6,4,4,8,1)), int_tuple!((3,2,4,0,1))), "(((3),2),(2,2),(2,2),(8,1),(1,1)):(((1),192),(6,3),(96,384),(12,0),(0,0))");
    answer!(layout!((2,2,2) : (4,2,8)).tile_to_shape_by(int_tuple!((6,8,8)), int_tuple!((1,0,2))), "((2,3),(2,(2,2)),(2,4)):((4,32),(2,(1,16)),(8,96))");
    answer!(layout!((3,2,1,8) : (1,48,1,6)).tile_to_shape_by(int_tuple!((3,6,4,32)), int_tuple!((0,2,3,1))), "((3,1),(2,3),(1,4),(8,(2,2))):((1,0),(48,192),(1,576),(6,(3,96)))");
    answer!(layout!(8 : 0).tile_to_shape_by(int_tuple!((8,1)), int_tuple!((0,1))), "((8,1),(1,1)):((0,0),(0,0))");
    answer!(layout!((6,1) : (0,3)).tile_to_shape_by(int_tuple!((6,3,2)), int_tuple!((1,2,0))), "((6,1),(1,3),(1,2)):((0,0),(3,2),(0,1))");
    answer!(layout!(8 : 1).tile_to_shape_by(int_tuple!((24,1)), int_tuple!((0,1))), "((8,3),(1,1)):((1,8),(0,0))");
    answer!(layout!((6,12) : (12,1)).tile_to_shape_by(int_tuple!((24,48,2)), int_tuple!((2,1,0))), "((6,4),(12,4),(1,2)):((12,576),(1,144),(0,72))");
    answer!(layout!((4,4,8) : (8,32,1)).tile_to_shape_by(int_tuple!((16,4,24,3)), int_tuple!((1,2,0,3))), "((4,4),(4,1),(8,3),(1,3)):((8,384),(32,0),(1,128),(0,1536))");
}

#[test]
#[rustfmt::skip]
fn composition_past_the_end() {
    answer!(layout!((8,3) : (1,16)).composition(int!(48)), "(8,6):(1,16)");
    answer!(layout!((4,12,12,4) : (1,96,8,1152)).composition(int!(4608)), "(4,12,12,8):(1,96,8,1152)");
    answer!(layout!(1 : 3).composition(int!(2)), "2:3");
    answer!(layout!(4 : 1).composition(int!(8)), "8:1");
    answer!(layout!((6,2,(5,12)) : (1,12,(24,120))).composition(int!(1440)), "(6,240):(1,12)");
    answer!(layout!((12,2) : (4,2)).composition(int!(48)), "(12,4):(4,2)");
    answer!(layout!((12,1) : (3,3)).composition(int!(24)), "(12,2):(3,3)");
    answer!(layout!(3 : 1).composition(int!(6)), "6:1");
    answer!(layout!(6 : 1).composition(int!(12)), "12:1");
    answer!(layout!(2 : 1).composition(int!(4)), "4:1");
    answer!(layout!((8,1,8) : (16,1,2)).composition(int!(128)), "(8,16):(16,2)");
    answer!(layout!(1 : 3).composition(int!(2)), "2:3");
    answer!(layout!((4,(1,4)) : (4,(16,1))).composition(int!(32)), "(4,8):(4,1)");
    answer!(layout!(2 : 3).composition(int!(4)), "4:3");
    answer!(layout!((2,(8,6),4) : (384,(48,1),6)).composition(int!(768)), "(2,8,48):(384,48,1)");
}
