//! The typed layer against the run-time layer: static operands.
//!
//! Written by `typed_generator.rs`.

#[macro_use]
#[path = "typed_support/fixed.rs"]
mod support;

use girih_typed::{__, Layout, int, int_tuple, layout};

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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
#[cfg(feature = "all")]
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
fn identity() {
    coordinates!(Layout::identity(int_tuple!((4,6))), "(4,6):(1@0,1@1)");
    nested!(Layout::identity(int_tuple!(((2),2,5))), "((2),2,5):((1@0@0),1@1,1@2)");
    coordinates!(Layout::identity(int_tuple!((1,6,2))), "(1,6,2):(1@0,1@1,1@2)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_identity() {
    coordinates!(Layout::identity(int_tuple!((8,3,6,5))), "(8,3,6,5):(1@0,1@1,1@2,1@3)");
    coordinates!(Layout::identity(int_tuple!((3,2,3))), "(3,2,3):(1@0,1@1,1@2)");
    coordinates!(Layout::identity(int_tuple!(8)), "8:1@0");
    coordinates!(Layout::identity(int_tuple!((12,2))), "(12,2):(1@0,1@1)");
    coordinates!(Layout::identity(int_tuple!((4,3,12,1))), "(4,3,12,1):(1@0,1@1,1@2,1@3)");
    coordinates!(Layout::identity(int_tuple!((2,3))), "(2,3):(1@0,1@1)");
    nested!(Layout::identity(int_tuple!((4,4,3,(4)))), "(4,4,3,(4)):(1@0,1@1,1@2,(1@0@3))");
    coordinates!(Layout::identity(int_tuple!(5)), "5:1@0");
    coordinates!(Layout::identity(int_tuple!(12)), "12:1@0");
    coordinates!(Layout::identity(int_tuple!(2)), "2:1@0");
    coordinates!(Layout::identity(int_tuple!((6,2))), "(6,2):(1@0,1@1)");
    nested!(Layout::identity(int_tuple!((1,(6,2),6))), "(1,(6,2),6):(1@0,(1@0@1,1@1@1),1@2)");
}

#[test]
#[rustfmt::skip]
fn identity_composed() {
    coordinates!(Layout::identity(int_tuple!((4,12,1))).composition((layout!((1,6) : (6,1)), )), "((1,6)):((0,1@0))");
    coordinates!(Layout::identity(int_tuple!(1)).composition(layout!(1 : 1)), "1:0");
    coordinates!(Layout::identity(int_tuple!((1,1,4,4))).composition((layout!(5 : 3), )), "(5):(3@0)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_identity_composed() {
    coordinates!(Layout::identity(int_tuple!(1)).composition(layout!(4 : 3)), "4:3@0");
    coordinates!(Layout::identity(int_tuple!((2,4))).composition(layout!(2 : 1)), "2:1@0");
    coordinates!(Layout::identity(int_tuple!((3,4))).composition((layout!(2 : 2), )), "(2):(2@0)");
    nested!(Layout::identity(int_tuple!(((4,4),1))).composition(int!(3)), "3:1@0@0");
    coordinates!(Layout::identity(int_tuple!((2,8))).composition(int!(2)), "2:1@0");
    coordinates!(Layout::identity(int_tuple!((5,3))).composition(int!(2)), "2:1@0");
    nested!(Layout::identity(int_tuple!(((2,6,2,2)))).composition(int!(4)), "(2,2):(1@0@0,1@1@0)");
    coordinates!(Layout::identity(int_tuple!(6)).composition(int!(4)), "4:1@0");
    coordinates!(Layout::identity(int_tuple!((2,2))).composition((layout!((12,5) : (1,12)), layout!(12 : 1), )), "((12,5),12):((1@0,12@0),1@1)");
    coordinates!(Layout::identity(int_tuple!((5,3))).composition(int!(4)), "4:1@0");
    coordinates!(Layout::identity(int_tuple!((1,1,6))).composition((layout!(4 : 1), )), "(4):(1@0)");
    coordinates!(Layout::identity(int_tuple!((6,5,4))).composition(int!(2)), "2:1@0");
}

#[test]
#[rustfmt::skip]
fn identity_divided() {
    coordinates!(Layout::identity(int_tuple!(5)).zipped_divide((int!(2), )), "((2),(3)):((1@0),(2@0))");
    coordinates!(Layout::identity(int_tuple!((1,5,5))).zipped_divide((__, int!(2), layout!(12 : 1), )), "((1,2,12),(1,3,1)):((1@0,1@1,1@2),(0,2@1,0))");
    coordinates!(Layout::identity(int_tuple!((2,8,4,2))).zipped_divide(layout!((1,12) : (24,1))), "((1,(2,6)),(2,4,2)):((0,(1@0,1@1)),(6@1,1@2,1@3))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_identity_divided() {
    coordinates!(Layout::identity(int_tuple!((6,1,1,8))).zipped_divide((int!(2), )), "((2),(3,1,1,8)):((1@0),(2@0,1@1,1@2,1@3))");
    nested!(Layout::identity(int_tuple!((6,2,(2)))).zipped_divide(int!(6)), "(6,(2,2)):(1@0,(1@1,1@0@2))");
    nested!(Layout::identity(int_tuple!((8,8,(2)))).zipped_divide(layout!(8 : 1)), "(8,(8,2)):(1@0,(1@1,1@0@2))");
    coordinates!(Layout::identity(int_tuple!((8,1,2))).zipped_divide((int!(3), layout!(2 : 1), int!(8), )), "((3,2,8),(3,1,1)):((1@0,1@1,1@2),(3@0,0,0))");
    nested!(Layout::identity(int_tuple!((1,6,12,(12)))).zipped_divide(int!(2)), "(2,(3,12,12)):(1@1,(2@1,1@2,1@0@3))");
    coordinates!(Layout::identity(int_tuple!((12,4,4,6))).zipped_divide(layout!((6,2,4) : (24,0,6))), "(((2,3),2,(2,2)),(6,(2,6))):(((2@1,1@2),0,(6@0,1@1)),(1@0,(3@2,1@3)))");
    coordinates!(Layout::identity(int_tuple!(2)).zipped_divide(layout!(3 : 3)), "(3,3):(3@0,1@0)");
    nested!(Layout::identity(int_tuple!(((8),1,3,3))).zipped_divide((layout!(1 : 1), int!(4), int!(4), )), "((1,4,4),(8,1,1,3)):((0,1@1,1@2),(1@0@0,0,0,1@3))");
    coordinates!(Layout::identity(int_tuple!(4)).zipped_divide(layout!(6 : 1)), "(6,1):(1@0,0)");
    nested!(Layout::identity(int_tuple!((12,12,(4)))).zipped_divide((int!(6), layout!((4,8) : (1,8)), int!(2), )), "((6,(4,8),2),(2,2,2)):((1@0,(1@1,8@1),1@0@2),(6@0,4@1,2@0@2))");
    nested!(Layout::identity(int_tuple!((4,5,(4)))).zipped_divide((__, layout!(8 : 2), __, )), "((4,8,(4)),(1,2,1)):((1@0,2@1,(1@0@2)),(0,1@1,0))");
    coordinates!(Layout::identity(int_tuple!(2)).zipped_divide(layout!((4,8) : (2,8))), "((4,8),2):((2@0,8@0),1@0)");
}

#[test]
#[rustfmt::skip]
fn left() {
    answer!(Layout::left(int_tuple!(3)), "3:1");
    answer!(Layout::left(int_tuple!((6,5))), "(6,5):(1,6)");
    answer!(Layout::left(int_tuple!((2,2))), "(2,2):(1,2)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_left() {
    answer!(Layout::left(int_tuple!((2,4))), "(2,4):(1,2)");
    answer!(Layout::left(int_tuple!(((12),2,4))), "((12),2,4):((1),12,24)");
    answer!(Layout::left(int_tuple!((12,8))), "(12,8):(1,12)");
    answer!(Layout::left(int_tuple!((12,1,5))), "(12,1,5):(1,0,12)");
    answer!(Layout::left(int_tuple!((2,4,1))), "(2,4,1):(1,2,0)");
    answer!(Layout::left(int_tuple!(2)), "2:1");
    answer!(Layout::left(int_tuple!((4,2))), "(4,2):(1,4)");
    answer!(Layout::left(int_tuple!((5,12,4,12))), "(5,12,4,12):(1,5,60,240)");
    answer!(Layout::left(int_tuple!((8,8))), "(8,8):(1,8)");
    answer!(Layout::left(int_tuple!((8,1))), "(8,1):(1,0)");
    answer!(Layout::left(int_tuple!((4,2))), "(4,2):(1,4)");
    answer!(Layout::left(int_tuple!((1,3))), "(1,3):(0,1)");
}

#[test]
#[rustfmt::skip]
fn right() {
    answer!(Layout::right(int_tuple!((4,4))), "(4,4):(4,1)");
    answer!(Layout::right(int_tuple!((6,8,6,4))), "(6,8,6,4):(192,24,4,1)");
    answer!(Layout::right(int_tuple!(2)), "2:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_right() {
    answer!(Layout::right(int_tuple!((4,8))), "(4,8):(8,1)");
    answer!(Layout::right(int_tuple!((3,2))), "(3,2):(2,1)");
    answer!(Layout::right(int_tuple!((2,4,2,2))), "(2,4,2,2):(16,4,2,1)");
    answer!(Layout::right(int_tuple!((3,2))), "(3,2):(2,1)");
    answer!(Layout::right(int_tuple!(((4),4,5,5))), "((4),4,5,5):((100),25,5,1)");
    answer!(Layout::right(int_tuple!(8)), "8:1");
    answer!(Layout::right(int_tuple!(((4,3,5)))), "((4,3,5)):((15,5,1))");
    answer!(Layout::right(int_tuple!((1,6))), "(1,6):(0,1)");
    answer!(Layout::right(int_tuple!((12,8))), "(12,8):(8,1)");
    answer!(Layout::right(int_tuple!((8,12))), "(8,12):(12,1)");
    answer!(Layout::right(int_tuple!((6,6,6))), "(6,6,6):(36,6,1)");
    answer!(Layout::right(int_tuple!(4)), "4:1");
}

#[test]
#[rustfmt::skip]
fn ordered() {
    answer!(Layout::ordered(int_tuple!((5,4,3,(1))), int_tuple!((1,3,0,(2)))), "(5,4,3,(1)):(3,15,1,(0))");
    answer!(Layout::ordered(int_tuple!((2,4,4,6)), int_tuple!((1,3,2,0))), "(2,4,4,6):(6,48,12,1)");
    answer!(Layout::ordered(int_tuple!((3,2)), int_tuple!((0,1))), "(3,2):(1,3)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_ordered() {
    answer!(Layout::ordered(int_tuple!((1,6)), int_tuple!((1,0))), "(1,6):(0,1)");
    answer!(Layout::ordered(int_tuple!((2,8)), int_tuple!((0,1))), "(2,8):(1,2)");
    answer!(Layout::ordered(int_tuple!((4,6,4,(2))), int_tuple!((1,3,2,(0)))), "(4,6,4,(2)):(2,32,8,(1))");
    answer!(Layout::ordered(int_tuple!((4,2)), int_tuple!((1,0))), "(4,2):(2,1)");
    answer!(Layout::ordered(int_tuple!((2,(8,2),4)), int_tuple!((1,(0,2),3))), "(2,(8,2),4):(8,(1,16),32)");
    answer!(Layout::ordered(int_tuple!((5,8,12,8)), int_tuple!((0,1,2,3))), "(5,8,12,8):(1,5,40,480)");
    answer!(Layout::ordered(int_tuple!((8,8,8)), int_tuple!((2,1,0))), "(8,8,8):(64,8,1)");
    answer!(Layout::ordered(int_tuple!((3,1)), int_tuple!((1,0))), "(3,1):(1,0)");
    answer!(Layout::ordered(int_tuple!(8), int_tuple!(0)), "8:1");
    answer!(Layout::ordered(int_tuple!(2), int_tuple!(0)), "2:1");
    answer!(Layout::ordered(int_tuple!((6,(5,2))), int_tuple!((0,(1,2)))), "(6,(5,2)):(1,(6,30))");
    answer!(Layout::ordered(int_tuple!((4,5)), int_tuple!((1,0))), "(4,5):(5,1)");
}

#[test]
#[rustfmt::skip]
fn compact_like() {
    answer!(layout!((2,4,2) : (4,1,16)).compact_like(), "(2,4,2):(4,1,8)");
    answer!(layout!((2,4) : (8,2)).compact_like(), "(2,4):(4,1)");
    answer!(layout!((4,6,2,1) : (0,4,1,96)).compact_like(), "(4,6,2,1):(0,2,1,0)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_compact_like() {
    answer!(layout!((12,4,2,(6)) : (2,48,1152,(192))).compact_like(), "(12,4,2,(6)):(1,12,288,(48))");
    answer!(layout!((1,6,8,4) : (768,32,2,192)).compact_like(), "(1,6,8,4):(0,8,1,48)");
    answer!(layout!(3 : 2).compact_like(), "3:1");
    answer!(layout!((6,4,2,1) : (3,36,18,144)).compact_like(), "(6,4,2,1):(1,12,6,0)");
    answer!(layout!(4 : 0).compact_like(), "4:0");
    answer!(layout!((1,1) : (3,3)).compact_like(), "(1,1):(0,0)");
    answer!(layout!(12 : 2).compact_like(), "12:1");
    answer!(layout!((6,(6),6) : (36,(1),0)).compact_like(), "(6,(6),6):(6,(1),0)");
    answer!(layout!((6,4,8,8) : (1,768,48,6)).compact_like(), "(6,4,8,8):(1,384,48,6)");
    answer!(layout!((6,4) : (0,12)).compact_like(), "(6,4):(0,1)");
    answer!(layout!((8,4) : (4,1)).compact_like(), "(8,4):(4,1)");
    answer!(layout!(((8,5),4) : ((1,64),16)).compact_like(), "((8,5),4):((1,32),8)");
}

#[test]
#[rustfmt::skip]
fn fragment_like() {
    answer!(layout!(4 : 1).fragment_like(), "4:1");
    answer!(layout!((1,3) : (6,1)).fragment_like(), "(1,3):(0,1)");
    answer!(layout!((2,12,4) : (96,4,1)).fragment_like(), "(2,12,4):(1,8,2)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_fragment_like() {
    answer!(layout!((12,4,3,(4)) : (12,3,1,(144))).fragment_like(), "(12,4,3,(4)):(1,36,12,(144))");
    answer!(layout!(4 : 1).fragment_like(), "4:1");
    answer!(layout!(5 : 1).fragment_like(), "5:1");
    answer!(layout!((2,1,1) : (1,1,1)).fragment_like(), "(2,1,1):(1,0,0)");
    answer!(layout!((3,5) : (5,1)).fragment_like(), "(3,5):(1,3)");
    answer!(layout!((1,1) : (1,1)).fragment_like(), "(1,1):(0,0)");
    answer!(layout!((3,(4,5),3) : (120,(10,2),40)).fragment_like(), "(3,(4,5),3):(1,(15,3),60)");
    answer!(layout!((3,2) : (1,3)).fragment_like(), "(3,2):(1,3)");
    answer!(layout!((6,8,6) : (18,108,0)).fragment_like(), "(6,8,6):(1,36,6)");
    answer!(layout!(12 : 1).fragment_like(), "12:1");
    answer!(layout!((5,4,8) : (8,80,1)).fragment_like(), "(5,4,8):(1,40,5)");
    answer!(layout!((2,4) : (4,1)).fragment_like(), "(2,4):(1,2)");
}

#[test]
#[rustfmt::skip]
fn with_shape() {
    answer!(layout!((5,5) : (2,10)).with_shape(int_tuple!((5,5))), "(5,5):(2,10)");
    answer!(layout!((1,4,(12,2)) : (24,24,(2,96))).with_shape(int_tuple!((24,2,2))), "((4,6),2,2):((24,2),12,96)");
    answer!(layout!(6 : 2).with_shape(int_tuple!(6)), "6:2");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_with_shape() {
    answer!(layout!(((2,8),1) : ((0,1),8)).with_shape(int_tuple!((2,2,2,2))), "(2,2,2,2):(0,1,2,4)");
    answer!(layout!((2,6) : (1,2)).with_shape(int_tuple!((3,4))), "(3,4):(1,3)");
    answer!(layout!(12 : 0).with_shape(int_tuple!(12)), "12:0");
    answer!(layout!((2,2) : (1,2)).with_shape(int_tuple!(4)), "4:1");
    answer!(layout!((4,3) : (1,4)).with_shape(int_tuple!((3,2,2))), "(3,2,2):(1,3,6)");
    answer!(layout!((4,1) : (2,2)).with_shape(int_tuple!(4)), "4:2");
    answer!(layout!(((12),2,1,5) : ((1),60,1,12)).with_shape(int_tuple!(120)), "(12,2,5):(1,60,12)");
    answer!(layout!(((2),1,6) : ((3),6,6)).with_shape(int_tuple!(12)), "12:3");
    answer!(layout!((8,(4,8),2) : (1,(8,32),512)).with_shape(int_tuple!((64,2,2,2))), "(64,2,2,2):(1,64,128,512)");
    answer!(layout!(((4,4,2)) : ((1,8,4))).with_shape(int_tuple!((4,8))), "(4,(4,2)):(1,(8,4))");
    answer!(layout!((5,12,3,(6)) : (1296,9,3,(216))).with_shape(int_tuple!((60,9,2))), "((5,12),(3,3),2):((1296,9),(3,216),648)");
    answer!(layout!((2,12,4,1) : (192,1,24,192)).with_shape(int_tuple!((6,2,8))), "((2,3),2,(2,4)):((192,1),3,(6,24))");
}

#[test]
#[rustfmt::skip]
fn filter() {
    answer!(layout!(((1),1,8,12) : ((1),1,12,1)).filter(), "(8,12):(12,1)");
    answer!(layout!(2 : 2).filter(), "2:2");
    answer!(layout!(5 : 3).filter(), "5:3");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_filter() {
    answer!(layout!((4,3,(12),6) : (1,576,(4),48)).filter(), "(4,3,72):(1,576,4)");
    answer!(layout!((8,6) : (24,2)).filter(), "(8,6):(24,2)");
    answer!(layout!((2,2,1,4) : (4,2,4,8)).filter(), "(2,2,4):(4,2,8)");
    answer!(layout!((2,5) : (5,1)).filter(), "(2,5):(5,1)");
    answer!(layout!(5 : 1).filter(), "5:1");
    answer!(layout!((2,3) : (3,1)).filter(), "(2,3):(3,1)");
    answer!(layout!((6,5) : (5,1)).filter(), "(6,5):(5,1)");
    answer!(layout!((2,6,8,6) : (72,12,144,2)).filter(), "(2,6,8,6):(72,12,144,2)");
    answer!(layout!(2 : 1).filter(), "2:1");
    answer!(layout!(2 : 1).filter(), "2:1");
    answer!(layout!((2,12) : (0,4)).filter(), "12:4");
    answer!(layout!((6,(8,12,2)) : (384,(1,16,192))).filter(), "(6,8,24):(384,1,16)");
}

#[test]
#[rustfmt::skip]
fn filter_zeros() {
    answer!(layout!(5 : 2).filter_zeros(), "5:2");
    answer!(layout!((5,(3),1,12) : (36,(12),0,1)).filter_zeros(), "(5,(3),1,12):(36,(12),0,1)");
    answer!(layout!((4,8) : (3,12)).filter_zeros(), "(4,8):(3,12)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_filter_zeros() {
    answer!(layout!(12 : 2).filter_zeros(), "12:2");
    answer!(layout!((5,(1,4)) : (3,(3,15))).filter_zeros(), "(5,(1,4)):(3,(3,15))");
    answer!(layout!(((4,4,1),2) : ((0,8,1),4)).filter_zeros(), "((1,4,1),2):((0,8,1),4)");
    answer!(layout!((5,2,1) : (4,0,0)).filter_zeros(), "(5,1,1):(4,0,0)");
    answer!(layout!((6,2) : (6,3)).filter_zeros(), "(6,2):(6,3)");
    answer!(layout!(4 : 1).filter_zeros(), "4:1");
    answer!(layout!(8 : 1).filter_zeros(), "8:1");
    answer!(layout!((6,12,4) : (12,1,144)).filter_zeros(), "(6,12,4):(12,1,144)");
    answer!(layout!((8,(12,2)) : (2,(32,1))).filter_zeros(), "(8,(12,2)):(2,(32,1))");
    answer!(layout!(4 : 3).filter_zeros(), "4:3");
    answer!(layout!((1,12,4) : (1,8,1)).filter_zeros(), "(1,12,4):(1,8,1)");
    answer!(layout!((12,5,(2)) : (30,6,(3))).filter_zeros(), "(12,5,(2)):(30,6,(3))");
}

#[test]
#[rustfmt::skip]
fn coalesce_by() {
    answer!(layout!((1,3,1) : (2,8,4)).coalesce_by(int_tuple!((1,1,1))), "(1,3,1):(0,8,0)");
    answer!(layout!((6,12) : (0,1)).coalesce_by(int_tuple!(1)), "(6,12):(0,1)");
    answer!(layout!((4,2,(4)) : (8,4,(1))).coalesce_by(int_tuple!((1,1))), "(4,2,(4)):(8,4,(1))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_coalesce_by() {
    answer!(layout!((3,8) : (24,3)).coalesce_by(int_tuple!((1,1))), "(3,8):(24,3)");
    answer!(layout!((5,3,6,(2)) : (6,30,1,(90))).coalesce_by(int_tuple!(1)), "(15,6,2):(6,1,90)");
    answer!(layout!(3 : 1).coalesce_by(int_tuple!(1)), "3:1");
    answer!(layout!((12,4,2) : (4,1,96)).coalesce_by(int_tuple!((1,1))), "(12,4,2):(4,1,96)");
    answer!(layout!(4 : 3).coalesce_by(int_tuple!(1)), "4:3");
    answer!(layout!((4,4) : (0,12)).coalesce_by(int_tuple!((1,1))), "(4,4):(0,12)");
    answer!(layout!(((5,12,2)) : ((12,1,60))).coalesce_by(int_tuple!(1)), "(5,12,2):(12,1,60)");
    answer!(layout!((5,2) : (2,20)).coalesce_by(int_tuple!(1)), "(5,2):(2,20)");
    answer!(layout!((12,2,(4)) : (8,4,(0))).coalesce_by(int_tuple!(1)), "(12,2,4):(8,4,0)");
    answer!(layout!(8 : 1).coalesce_by(int_tuple!(1)), "8:1");
    answer!(layout!(((5),2,4,6) : ((6),240,60,1)).coalesce_by(int_tuple!((1,1,1,1))), "(5,2,4,6):(6,240,60,1)");
    answer!(layout!(((1),2,5) : ((1),1,2)).coalesce_by(int_tuple!((1,1))), "(1,2,5):(0,1,2)");
}

#[test]
#[rustfmt::skip]
fn flatten() {
    answer!(layout!((2,1) : (2,1)).flatten(), "(2,1):(2,1)");
    answer!(layout!((2,(6,5,2)) : (36,(3,72,360))).flatten(), "(2,6,5,2):(36,3,72,360)");
    answer!(layout!((12,5) : (0,2)).flatten(), "(12,5):(0,2)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_flatten() {
    answer!(layout!(3 : 1).flatten(), "3:1");
    answer!(layout!((4,4) : (1,0)).flatten(), "(4,4):(1,0)");
    answer!(layout!(1 : 1).flatten(), "1:1");
    answer!(layout!((4,4,4) : (32,1,8)).flatten(), "(4,4,4):(32,1,8)");
    answer!(layout!((5,4,(3)) : (1,5,(20))).flatten(), "(5,4,3):(1,5,20)");
    answer!(layout!((4,6) : (6,1)).flatten(), "(4,6):(6,1)");
    answer!(layout!((12,(12,12),4) : (1,(0,1152),12)).flatten(), "(12,12,12,4):(1,0,1152,12)");
    answer!(layout!((12,3,3) : (36,12,2)).flatten(), "(12,3,3):(36,12,2)");
    answer!(layout!(3 : 1).flatten(), "3:1");
    answer!(layout!((5,4,4,2) : (1,20,5,160)).flatten(), "(5,4,4,2):(1,20,5,160)");
    answer!(layout!((5,2,2,3) : (2,30,60,10)).flatten(), "(5,2,2,3):(2,30,60,10)");
    answer!(layout!(2 : 2).flatten(), "2:2");
}

#[test]
#[rustfmt::skip]
fn unflatten() {
    answer!(layout!(1 : 1).unflatten(int_tuple!((0))), "(1):(1)");
    answer!(layout!((2,1,2,5) : (1,0,20,4)).unflatten(int_tuple!((0,(0),0,0))), "(2,(1),2,5):(1,(0),20,4)");
    answer!(layout!((1,(2),12) : (1,(1),2)).unflatten(int_tuple!((0,0,(0)))), "(1,2,(12)):(1,1,(2))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_unflatten() {
    answer!(layout!((3,3,8,2) : (96,16,2,48)).unflatten(int_tuple!(((0,0),0,0))), "((3,3),8,2):((96,16),2,48)");
    answer!(layout!((4,2,8) : (16,8,1)).unflatten(int_tuple!((0,(0,0)))), "(4,(2,8)):(16,(8,1))");
    answer!(layout!(2 : 2).unflatten(int_tuple!((0))), "(2):(2)");
    answer!(layout!(((2,5),3) : ((1,6),2)).unflatten(int_tuple!((0,(0),0))), "(2,(5),3):(1,(6),2)");
    answer!(layout!((3,2) : (2,1)).unflatten(int_tuple!((0,(0)))), "(3,(2)):(2,(1))");
    answer!(layout!((2,3,6) : (18,0,3)).unflatten(int_tuple!(((0,0,0)))), "((2,3,6)):((18,0,3))");
    answer!(layout!(((12,8,5),5) : ((1,0,96),480)).unflatten(int_tuple!(((0,0,0,0)))), "((12,8,5,5)):((1,0,96,480))");
    answer!(layout!((4,12) : (24,2)).unflatten(int_tuple!((0,(0)))), "(4,(12)):(24,(2))");
    answer!(layout!((4,4,3) : (1,0,16)).unflatten(int_tuple!((0,0,(0)))), "(4,4,(3)):(1,0,(16))");
    answer!(layout!((5,6,2) : (12,1,6)).unflatten(int_tuple!((0,0,(0)))), "(5,6,(2)):(12,1,(6))");
    answer!(layout!(12 : 1).unflatten(int_tuple!((0))), "(12):(1)");
    answer!(layout!((8,2,3,2) : (3,96,0,24)).unflatten(int_tuple!((0,0,0,(0)))), "(8,2,3,(2)):(3,96,0,(24))");
}

#[test]
#[rustfmt::skip]
fn mode() {
    answer!(layout!((4,8) : (1,4)).mode(int!(0)), "4:1");
    answer!(layout!((4,2) : (2,16)).mode(int!(1)), "2:16");
    answer!(layout!(3 : 2).mode(int!(0)), "3:2");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_mode() {
    answer!(layout!(((6),4,2) : ((1),6,24)).mode(int!(0)), "(6):(1)");
    answer!(layout!(4 : 1).mode(int!(0)), "4:1");
    answer!(layout!(4 : 3).mode(int!(0)), "4:3");
    answer!(layout!(1 : 3).mode(int!(0)), "1:3");
    answer!(layout!(3 : 1).mode(int!(0)), "3:1");
    answer!(layout!(3 : 1).mode(int!(0)), "3:1");
    answer!(layout!((12,6) : (12,2)).mode(int!(0)), "12:12");
    answer!(layout!((8,(6),12) : (1,(192),0)).mode(int!(1)), "(6):(192)");
    answer!(layout!((4,4,4) : (48,3,0)).mode(int!(0)), "4:48");
    answer!(layout!((6,4) : (1,6)).mode(int!(1)), "4:6");
    answer!(layout!(5 : 1).mode(int!(0)), "5:1");
    answer!(layout!(4 : 1).mode(int!(0)), "4:1");
}

#[test]
#[rustfmt::skip]
fn select() {
    answer!(layout!((5,6) : (1,10)).select((int!(1), int!(0), int!(1), )), "(6,5,6):(10,1,10)");
    answer!(layout!((4,2,3) : (3,36,12)).select((int!(0), )), "(4):(3)");
    answer!(layout!((1,4) : (2,2)).select((int!(0), int!(0), int!(1), )), "(1,1,4):(2,2,2)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_select() {
    answer!(layout!((6,(8,4),1) : (64,(2,16),2)).select((int!(1), )), "((8,4)):((2,16))");
    answer!(layout!((3,2,1) : (1,3,3)).select((int!(2), int!(1), )), "(1,2):(3,3)");
    answer!(layout!((2,12) : (12,1)).select((int!(1), int!(1), int!(1), )), "(12,12,12):(1,1,1)");
    answer!(layout!((5,1) : (0,1)).select((int!(0), int!(1), int!(0), )), "(5,1,5):(0,1,0)");
    answer!(layout!(5 : 1).select((int!(0), )), "(5):(1)");
    answer!(layout!((3,2,3,2) : (6,0,2,1)).select((int!(2), )), "(3):(2)");
    answer!(layout!((8,(4),3,2) : (16,(4),128,1)).select((int!(2), int!(1), )), "(3,(4)):(128,(4))");
    answer!(layout!((4,2,(2,4)) : (16,1,(8,2))).select((int!(1), int!(2), int!(0), )), "(2,(2,4),4):(1,(8,2),16)");
    answer!(layout!((12,2) : (6,3)).select((int!(1), )), "(2):(3)");
    answer!(layout!((8,2,5) : (5,40,1)).select((int!(1), )), "(2):(40)");
    answer!(layout!((2,12,6) : (1,24,0)).select((int!(0), int!(2), )), "(2,6):(1,0)");
    answer!(layout!(2 : 2).select((int!(0), int!(0), )), "(2,2):(2,2)");
}

#[test]
#[rustfmt::skip]
fn take() {
    answer!(layout!(6 : 1).take(int!(0), int!(1)), "(6):(1)");
    answer!(layout!((2,5,2,4) : (40,8,80,1)).take(int!(0), int!(4)), "(2,5,2,4):(40,8,80,1)");
    answer!(layout!((2,8,1,4) : (4,8,1,1)).take(int!(2), int!(4)), "(1,4):(1,1)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_take() {
    answer!(layout!((2,(8),4) : (12,(24),3)).take(int!(2), int!(3)), "(4):(3)");
    answer!(layout!((2,2,4,(2)) : (8,1,2,(32))).take(int!(1), int!(3)), "(2,4):(1,2)");
    answer!(layout!((3,4,5,8) : (8,120,24,1)).take(int!(3), int!(4)), "(8):(1)");
    answer!(layout!((1,8,1) : (3,6,48)).take(int!(1), int!(2)), "(8):(6)");
    answer!(layout!((8,4) : (0,2)).take(int!(0), int!(1)), "(8):(0)");
    answer!(layout!((2,5) : (0,1)).take(int!(1), int!(2)), "(5):(1)");
    answer!(layout!((5,4,12,1) : (8,1,40,4)).take(int!(1), int!(3)), "(4,12):(1,40)");
    answer!(layout!(12 : 3).take(int!(0), int!(1)), "(12):(3)");
    answer!(layout!(3 : 1).take(int!(0), int!(1)), "(3):(1)");
    answer!(layout!((3,1,6,3) : (36,3,3,1)).take(int!(0), int!(4)), "(3,1,6,3):(36,3,3,1)");
    answer!(layout!(2 : 1).take(int!(0), int!(1)), "(2):(1)");
    answer!(layout!(3 : 3).take(int!(0), int!(1)), "(3):(3)");
}

#[test]
#[rustfmt::skip]
fn group() {
    answer!(layout!((1,3) : (6,2)).group(int!(1), int!(2)), "(1,(3)):(6,(2))");
    answer!(layout!(12 : 1).group(int!(0), int!(1)), "((12)):((1))");
    answer!(layout!((4,5) : (2,8)).group(int!(1), int!(2)), "(4,(5)):(2,(8))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_group() {
    answer!(layout!((2,6,(6)) : (36,6,(1))).group(int!(0), int!(1)), "((2),6,(6)):((36),6,(1))");
    answer!(layout!((4,(2,1)) : (1,(8,0))).group(int!(1), int!(2)), "(4,((2,1))):(1,((8,0)))");
    answer!(layout!(2 : 3).group(int!(0), int!(1)), "((2)):((3))");
    answer!(layout!((3,3) : (3,1)).group(int!(1), int!(2)), "(3,(3)):(3,(1))");
    answer!(layout!(2 : 1).group(int!(0), int!(1)), "((2)):((1))");
    answer!(layout!((2,6) : (0,1)).group(int!(0), int!(1)), "((2),6):((0),1)");
    answer!(layout!((3,(12,8)) : (96,(8,1))).group(int!(0), int!(1)), "((3),(12,8)):((96),(8,1))");
    answer!(layout!((5,4,(2,1)) : (0,12,(3,12))).group(int!(0), int!(2)), "((5,4),(2,1)):((0,12),(3,12))");
    answer!(layout!(12 : 3).group(int!(0), int!(1)), "((12)):((3))");
    answer!(layout!((2,6,12) : (36,72,3)).group(int!(2), int!(3)), "(2,6,(12)):(36,72,(3))");
    answer!(layout!((4,2,5,8) : (3,12,24,120)).group(int!(0), int!(1)), "((4),2,5,8):((3),12,24,120)");
    answer!(layout!(((6,2),12) : ((6,3),36)).group(int!(1), int!(2)), "((6,2),(12)):((6,3),(36))");
}

#[test]
#[rustfmt::skip]
fn append() {
    answer!(layout!((8,2,12) : (24,12,1)).append(layout!((8,(2),6) : (6,(3),48))), "(8,2,12,(8,(2),6)):(24,12,1,(6,(3),48))");
    answer!(layout!((4,4) : (1,4)).append(layout!((2,8,(1)) : (32,1,(16)))), "(4,4,(2,8,(1))):(1,4,(32,1,(16)))");
    answer!(layout!((8,2) : (2,1)).append(layout!(5 : 1)), "(8,2,5):(2,1,1)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_append() {
    answer!(layout!((2,2) : (3,6)).append(layout!(6 : 1)), "(2,2,6):(3,6,1)");
    answer!(layout!((5,2,3,4) : (0,120,5,30)).append(layout!((12,6) : (1,12))), "(5,2,3,4,(12,6)):(0,120,5,30,(1,12))");
    answer!(layout!((2,(8),12,5) : (2,(40),320,8)).append(layout!(4 : 3)), "(2,(8),12,5,4):(2,(40),320,8,3)");
    answer!(layout!(((2),8,8,8) : ((0),256,0,16)).append(layout!((1,6) : (6,1))), "((2),8,8,8,(1,6)):((0),256,0,16,(6,1))");
    answer!(layout!(6 : 2).append(layout!((12,(5,12)) : (1,(144,12)))), "(6,(12,(5,12))):(2,(1,(144,12)))");
    answer!(layout!(5 : 1).append(layout!((8,4) : (4,1))), "(5,(8,4)):(1,(4,1))");
    answer!(layout!((1,4) : (4,1)).append(layout!((12,2) : (0,24))), "(1,4,(12,2)):(4,1,(0,24))");
    answer!(layout!((4,(6,6),1) : (24,(96,2),576)).append(layout!(2 : 1)), "(4,(6,6),1,2):(24,(96,2),576,1)");
    answer!(layout!(2 : 1).append(layout!(3 : 1)), "(2,3):(1,1)");
    answer!(layout!((1,5,5,(1)) : (3,3,30,(30))).append(layout!((2,8) : (2,8))), "(1,5,5,(1),(2,8)):(3,3,30,(30),(2,8))");
    answer!(layout!((8,(6,6)) : (72,(12,2))).append(layout!((3,4,2) : (8,2,1))), "(8,(6,6),(3,4,2)):(72,(12,2),(8,2,1))");
    answer!(layout!(6 : 1).append(layout!(8 : 2)), "(6,8):(1,2)");
}

#[test]
#[rustfmt::skip]
fn prepend() {
    answer!(layout!((2,3,6) : (54,18,3)).prepend(layout!((1,5) : (10,1))), "((1,5),2,3,6):((10,1),54,18,3)");
    answer!(layout!((12,4,3) : (12,1,4)).prepend(layout!((1,8,6) : (1,1,0))), "((1,8,6),12,4,3):((1,1,0),12,1,4)");
    answer!(layout!(((4),2,4) : ((1),8,0)).prepend(layout!(2 : 1)), "(2,(4),2,4):(1,(1),8,0)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_prepend() {
    answer!(layout!((4,12) : (12,1)).prepend(layout!(3 : 2)), "(3,4,12):(2,12,1)");
    answer!(layout!((1,4,(2),12) : (96,12,(0),1)).prepend(layout!(12 : 1)), "(12,1,4,(2),12):(1,96,12,(0),1)");
    answer!(layout!((4,2) : (2,8)).prepend(layout!((6,2) : (3,18))), "((6,2),4,2):((3,18),2,8)");
    answer!(layout!((2,4) : (4,0)).prepend(layout!(2 : 1)), "(2,2,4):(1,4,0)");
    answer!(layout!((1,(4),2) : (4,(1),4)).prepend(layout!((3,2) : (2,0))), "((3,2),1,(4),2):((2,0),4,(1),4)");
    answer!(layout!((2,4,4,8) : (32,0,64,2)).prepend(layout!((3,2,3) : (1,3,12))), "((3,2,3),2,4,4,8):((1,3,12),32,0,64,2)");
    answer!(layout!(1 : 1).prepend(layout!(((12),12,2) : ((0),1,288))), "(((12),12,2),1):(((0),1,288),1)");
    answer!(layout!(((2,6,4)) : ((4,16,1))).prepend(layout!((4,4) : (1,4))), "((4,4),(2,6,4)):((1,4),(4,16,1))");
    answer!(layout!(4 : 1).prepend(layout!(2 : 2)), "(2,4):(2,1)");
    answer!(layout!((2,5,4) : (20,1,5)).prepend(layout!(6 : 2)), "(6,2,5,4):(2,20,1,5)");
    answer!(layout!(4 : 1).prepend(layout!((4,4,5) : (20,1,0))), "((4,4,5),4):((20,1,0),1)");
    answer!(layout!((2,(5,5)) : (25,(5,1))).prepend(layout!(3 : 1)), "(3,2,(5,5)):(1,25,(5,1))");
}

#[test]
#[rustfmt::skip]
fn replace() {
    answer!(layout!((6,4,2) : (0,1,4)).replace(int!(0), layout!((5,2) : (1,5))), "((5,2),4,2):((1,5),1,4)");
    answer!(layout!((3,12) : (12,1)).replace(int!(1), layout!(12 : 2)), "(3,12):(12,2)");
    answer!(layout!(12 : 1).replace(int!(0), layout!(((4,6),6) : ((12,1),96))), "(((4,6),6)):(((12,1),96))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_replace() {
    answer!(layout!((8,8) : (8,1)).replace(int!(0), layout!((4,6) : (1,4))), "((4,6),8):((1,4),1)");
    answer!(layout!(((12,6,6,5)) : ((0,18,3,1296))).replace(int!(0), layout!((12,1) : (2,1))), "((12,1)):((2,1))");
    answer!(layout!(2 : 1).replace(int!(0), layout!((4,6) : (0,8))), "((4,6)):((0,8))");
    answer!(layout!((1,12,2,4) : (1,1,48,12)).replace(int!(2), layout!(8 : 1)), "(1,12,8,4):(1,1,1,12)");
    answer!(layout!((3,(12,1,5)) : (15,(45,3,3))).replace(int!(1), layout!((1,3) : (1,1))), "(3,(1,3)):(15,(1,1))");
    answer!(layout!((2,8,3,4) : (0,12,4,1)).replace(int!(0), layout!((12,2) : (3,72))), "((12,2),8,3,4):((3,72),12,4,1)");
    answer!(layout!(2 : 1).replace(int!(0), layout!((12,4,(4)) : (1,12,(48)))), "((12,4,(4))):((1,12,(48)))");
    answer!(layout!((8,1,4) : (3,24,48)).replace(int!(1), layout!(4 : 3)), "(8,4,4):(3,3,48)");
    answer!(layout!(((5,2),8) : ((2,10),20)).replace(int!(1), layout!((6,8,1) : (16,1,96))), "((5,2),(6,8,1)):((2,10),(16,1,96))");
    answer!(layout!((2,12,4,2) : (0,8,2,96)).replace(int!(2), layout!((1,4,12) : (4,0,4))), "(2,12,(1,4,12),2):(0,8,(4,0,4),96)");
    answer!(layout!(8 : 1).replace(int!(0), layout!((4,6) : (3,12))), "((4,6)):((3,12))");
    answer!(layout!((4,4,12,5) : (5,960,40,1)).replace(int!(3), layout!(12 : 1)), "(4,4,12,12):(5,960,40,1)");
}

#[test]
#[rustfmt::skip]
fn upcast() {
    answer!(layout!((12,4,2) : (4,96,1)).upcast(int!(4)), "(12,4,1):(1,24,1)");
    answer!(layout!(8 : 1).upcast(int!(8)), "1:1");
    answer!(layout!(5 : 1).upcast(int!(8)), "1:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_upcast() {
    answer!(layout!((4,8) : (1,4)).upcast(int!(2)), "(2,8):(1,2)");
    answer!(layout!((4,(12),5,5) : (15,(300),60,3)).upcast(int!(3)), "(4,(12),5,5):(5,(100),20,1)");
    answer!(layout!(((2),4,12,2) : ((1),24,2,0)).upcast(int!(1)), "((2),4,12,2):((1),24,2,0)");
    answer!(layout!(12 : 1).upcast(int!(3)), "4:1");
    answer!(layout!((6,5,6,4) : (3,216,18,2160)).upcast(int!(1)), "(6,5,6,4):(3,216,18,2160)");
    answer!(layout!(12 : 1).upcast(int!(4)), "3:1");
    answer!(layout!((2,12) : (12,1)).upcast(int!(1)), "(2,12):(12,1)");
    answer!(layout!((2,8,2) : (1,4,2)).upcast(int!(2)), "(1,8,2):(1,2,1)");
    answer!(layout!((2,2,4) : (4,8,1)).upcast(int!(4)), "(2,2,1):(1,2,1)");
    answer!(layout!((6,2,5) : (10,1,2)).upcast(int!(2)), "(6,1,5):(5,1,1)");
    answer!(layout!((4,2,5,2) : (12,6,48,3)).upcast(int!(1)), "(4,2,5,2):(12,6,48,3)");
    answer!(layout!((4,8,12,(1)) : (72,288,6,(3))).upcast(int!(2)), "(4,8,12,(1)):(36,144,3,(1))");
}

#[test]
#[rustfmt::skip]
fn downcast() {
    answer!(layout!((5,5,1,3) : (1,5,1,25)).downcast(int!(1)), "(5,5,1,3):(1,5,1,25)");
    answer!(layout!(4 : 1).downcast(int!(4)), "16:1");
    answer!(layout!((2,6) : (6,1)).downcast(int!(1)), "(2,6):(6,1)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_downcast() {
    answer!(layout!(8 : 1).downcast(int!(2)), "16:1");
    answer!(layout!((3,3,2,12) : (2,12,1,72)).downcast(int!(2)), "(3,3,4,12):(4,24,1,144)");
    answer!(layout!((3,12) : (1,3)).downcast(int!(4)), "(12,12):(1,12)");
    answer!(layout!(3 : 1).downcast(int!(4)), "12:1");
    answer!(layout!((2,5,1) : (10,1,10)).downcast(int!(8)), "(2,40,1):(80,1,80)");
    answer!(layout!(((4,1,6),12) : ((144,1152,12),1)).downcast(int!(8)), "((4,1,6),96):((1152,9216,96),1)");
    answer!(layout!(4 : 1).downcast(int!(1)), "4:1");
    answer!(layout!(12 : 1).downcast(int!(3)), "36:1");
    answer!(layout!((3,4) : (1,3)).downcast(int!(8)), "(24,4):(1,24)");
    answer!(layout!((2,2) : (1,2)).downcast(int!(8)), "(16,2):(1,16)");
    answer!(layout!((4,4,2,1) : (2,8,1,1)).downcast(int!(1)), "(4,4,2,1):(2,8,1,1)");
    answer!(layout!((8,8,4) : (32,0,0)).downcast(int!(1)), "(8,8,4):(32,0,0)");
}

#[test]
#[rustfmt::skip]
fn recast() {
    answer!(layout!((12,8,2) : (32,1,8)).recast(int!(16), int!(128)), "(12,1,2):(4,1,1)");
    answer!(layout!((1,8,2,4) : (8,8,4,1)).recast(int!(8), int!(32)), "(1,8,2,1):(2,2,1,1)");
    answer!(layout!(2 : 1).recast(int!(32), int!(32)), "2:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_recast() {
    answer!(layout!((8,(3),6) : (0,(96),1)).recast(int!(48), int!(4)), "(8,(3),72):(0,(1152),1)");
    answer!(layout!((8,12) : (2,16)).recast(int!(4), int!(128)), "(1,6):(1,1)");
    answer!(layout!((1,4) : (1,1)).recast(int!(4), int!(16)), "(1,1):(1,1)");
    answer!(layout!(6 : 2).recast(int!(32), int!(128)), "3:1");
    answer!(layout!((2,12) : (12,1)).recast(int!(48), int!(32)), "(2,18):(18,1)");
    answer!(layout!((1,1) : (1,1)).recast(int!(48), int!(48)), "(1,1):(1,1)");
    answer!(layout!((2,5) : (10,0)).recast(int!(32), int!(32)), "(2,5):(10,0)");
    answer!(layout!((4,3,2,6) : (3,1,0,48)).recast(int!(4), int!(48)), "(1,1,2,6):(1,1,0,4)");
    answer!(layout!((5,5,8,1) : (8,40,1,400)).recast(int!(16), int!(4)), "(5,5,32,1):(32,160,1,1600)");
    answer!(layout!((4,1,8,4) : (2,1,8,64)).recast(int!(48), int!(8)), "(4,6,8,4):(12,1,48,384)");
    answer!(layout!(12 : 3).recast(int!(16), int!(16)), "12:3");
    answer!(layout!((4,2) : (1,4)).recast(int!(48), int!(48)), "(4,2):(1,4)");
}

#[test]
#[rustfmt::skip]
fn quasi_inverse() {
    answer!(layout!(2 : 0).quasi_inverse(), "1:0");
    answer!(layout!((4,4) : (12,3)).quasi_inverse(), "(3,4,4):(0,4,1)");
    answer!(layout!(3 : 1).quasi_inverse(), "3:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_quasi_inverse() {
    answer!(layout!(5 : 1).quasi_inverse(), "5:1");
    answer!(layout!((4,1,4) : (8,8,2)).quasi_inverse(), "(2,4,4):(0,4,1)");
    answer!(layout!((5,5,4,5) : (75,15,750,3)).quasi_inverse(), "(3,5,5,10,4):(0,100,5,1,25)");
    answer!(layout!((3,2,5,4) : (10,5,1,60)).quasi_inverse(), "(5,2,6,4):(6,3,1,30)");
    answer!(layout!(3 : 1).quasi_inverse(), "3:1");
    answer!(layout!((1,5,8,6) : (6,96,12,1)).quasi_inverse(), "(12,8,5):(40,5,1)");
    answer!(layout!((4,1) : (2,2)).quasi_inverse(), "(2,4):(0,1)");
    answer!(layout!(6 : 3).quasi_inverse(), "(3,6):(0,1)");
    answer!(layout!((5,4,6,(2)) : (192,0,2,(1))).quasi_inverse(), "(2,96,5):(120,20,1)");
    answer!(layout!(8 : 2).quasi_inverse(), "(2,8):(0,1)");
    answer!(layout!((1,2,4,5) : (80,20,5,1)).quasi_inverse(), "(5,4,2):(8,2,1)");
    answer!(layout!((8,5,5,5) : (250,1,5,50)).quasi_inverse(), "(50,5,8):(8,200,1)");
}

#[test]
#[rustfmt::skip]
fn nullspace() {
    answer!(layout!((8,3,(1),2) : (18,3,(3),144)).nullspace(), "1:0");
    answer!(layout!((3,6) : (1,3)).nullspace(), "1:0");
    answer!(layout!((2,4) : (8,2)).nullspace(), "1:0");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_nullspace() {
    answer!(layout!((1,5) : (5,1)).nullspace(), "1:0");
    answer!(layout!((5,3) : (6,1)).nullspace(), "1:0");
    answer!(layout!((12,(4),5,3) : (1,(60),12,240)).nullspace(), "1:0");
    answer!(layout!((2,5,1) : (5,0,1)).nullspace(), "5:2");
    answer!(layout!(3 : 3).nullspace(), "1:0");
    answer!(layout!((3,1,2) : (1,6,3)).nullspace(), "1:0");
    answer!(layout!((4,2,1,(6)) : (4,2,2,(16))).nullspace(), "1:0");
    answer!(layout!((4,6) : (1,4)).nullspace(), "1:0");
    answer!(layout!((6,5) : (1,6)).nullspace(), "1:0");
    answer!(layout!(6 : 3).nullspace(), "1:0");
    answer!(layout!(12 : 1).nullspace(), "1:0");
    answer!(layout!(4 : 2).nullspace(), "1:0");
}

#[test]
#[rustfmt::skip]
fn max_common_layout() {
    answer!(layout!(6 : 1).max_common_layout(layout!(3 : 1)), "3:1");
    answer!(layout!(12 : 1).max_common_layout(layout!(3 : 1)), "3:1");
    answer!(layout!(8 : 1).max_common_layout(layout!(4 : 1)), "4:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_max_common_layout() {
    answer!(layout!(4 : 1).max_common_layout(layout!(4 : 1)), "4:1");
    answer!(layout!((8,12,(4)) : (1,32,(8))).max_common_layout(layout!(3 : 1)), "3:1");
    answer!(layout!((12,(12),6,12) : (1,(12),288,1728)).max_common_layout(layout!((1,12) : (1,1))), "12:1");
    answer!(layout!((1,4) : (1,1)).max_common_layout(layout!((2,5) : (1,4))), "2:1");
    answer!(layout!((8,3,1,8) : (1,16,16,48)).max_common_layout(layout!((6,4,12) : (1,72,6))), "6:1");
    answer!(layout!((2,8) : (16,2)).max_common_layout(layout!((4,3) : (6,1))), "1:0");
    answer!(layout!(2 : 1).max_common_layout(layout!(2 : 1)), "2:1");
    answer!(layout!(8 : 1).max_common_layout(layout!(6 : 1)), "6:1");
    answer!(layout!((6,2) : (4,1)).max_common_layout(layout!((4,2,(2)) : (4,2,(1)))), "1:0");
    answer!(layout!(4 : 0).max_common_layout(layout!((4,5) : (0,4))), "1:0");
    answer!(layout!((4,1,4,12) : (1,1,4,16)).max_common_layout(layout!((2,(6),12) : (1,(2),12))), "144:1");
    answer!(layout!(2 : 1).max_common_layout(layout!(2 : 1)), "2:1");
}

#[test]
#[rustfmt::skip]
fn max_common_vector() {
    number!(layout!((2,4) : (1,2)).max_common_vector(layout!((2,6,2) : (24,1,6))), "1:0");
    number!(layout!((6,(6,4)) : (1,(0,6))).max_common_vector(layout!((3,3) : (1,3))), "6:0");
    number!(layout!(2 : 1).max_common_vector(layout!(2 : 1)), "2:0");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_max_common_vector() {
    number!(layout!((2,1,8,4) : (1,1,16,4)).max_common_vector(layout!((8,8,1) : (1,8,8))), "2:0");
    number!(layout!((2,1) : (1,2)).max_common_vector(layout!((5,5) : (2,10))), "1:0");
    number!(layout!((6,8) : (1,6)).max_common_vector(layout!(6 : 1)), "6:0");
    number!(layout!((2,(2),2) : (1,(2),4)).max_common_vector(layout!((8,4) : (1,8))), "8:0");
    number!(layout!(4 : 1).max_common_vector(layout!((5,1) : (1,5))), "4:0");
    number!(layout!((12,8,3) : (8,1,96)).max_common_vector(layout!((5,5) : (3,15))), "1:0");
    number!(layout!(2 : 2).max_common_vector(layout!(1 : 1)), "1:0");
    number!(layout!((2,1) : (1,4)).max_common_vector(layout!(4 : 1)), "2:0");
    number!(layout!((6,8) : (1,6)).max_common_vector(layout!(3 : 3)), "1:0");
    number!(layout!((2,1,4) : (1,2,2)).max_common_vector(layout!(12 : 1)), "8:0");
    number!(layout!((2,1) : (1,4)).max_common_vector(layout!(4 : 1)), "2:0");
    number!(layout!(((2,4),5,1) : ((1,10),2,2)).max_common_vector(layout!((3,6) : (1,6))), "2:0");
}

#[test]
#[rustfmt::skip]
fn max_alignment() {
    number!(layout!(6 : 1).max_alignment(), "6:0");
    number!(layout!((12,2,5) : (10,5,1)).max_alignment(), "120:0");
    number!(layout!((2,4,4) : (2,16,4)).max_alignment(), "1:0");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_max_alignment() {
    number!(layout!((4,2) : (4,1)).max_alignment(), "2:0");
    number!(layout!(3 : 1).max_alignment(), "3:0");
    number!(layout!((4,6,(5)) : (2,0,(96))).max_alignment(), "1:0");
    number!(layout!((5,3,2,12) : (12,60,3,180)).max_alignment(), "1:0");
    number!(layout!((4,12) : (3,12)).max_alignment(), "1:0");
    number!(layout!(3 : 3).max_alignment(), "1:0");
    number!(layout!((4,2) : (12,0)).max_alignment(), "1:0");
    number!(layout!(3 : 0).max_alignment(), "1:0");
    number!(layout!((8,2,12) : (96,24,2)).max_alignment(), "1:0");
    number!(layout!((5,5) : (1,5)).max_alignment(), "25:0");
    number!(layout!((8,4,2) : (3,0,24)).max_alignment(), "1:0");
    number!(layout!(4 : 1).max_alignment(), "4:0");
}

#[test]
#[rustfmt::skip]
fn domain_distribute() {
    answer!(Layout::domain_distribute(int_tuple!((5,5,(2))), int!(4)), "2:25");
    answer!(Layout::domain_distribute(int_tuple!((12,1,2,12)), int!(2)), "2:1");
    answer!(Layout::domain_distribute(int_tuple!((2,4,1)), int!(2)), "2:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_domain_distribute() {
    answer!(Layout::domain_distribute(int_tuple!((5,1)), int!(4)), "1:0");
    answer!(Layout::domain_distribute(int_tuple!(5), int!(6)), "1:0");
    answer!(Layout::domain_distribute(int_tuple!((5,8)), int!(6)), "2:5");
    answer!(Layout::domain_distribute(int_tuple!((6,(8,4))), int!(12)), "12:1");
    answer!(Layout::domain_distribute(int_tuple!((2,5,(2,8))), int!(8)), "(2,4):(1,10)");
    answer!(Layout::domain_distribute(int_tuple!((4,4,2)), int!(4)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!((4,6,12)), int!(12)), "12:1");
    answer!(Layout::domain_distribute(int_tuple!((3,(6),12)), int!(12)), "(6,2):(1,18)");
    answer!(Layout::domain_distribute(int_tuple!(1), int!(6)), "1:0");
    answer!(Layout::domain_distribute(int_tuple!((12,3)), int!(12)), "12:1");
    answer!(Layout::domain_distribute(int_tuple!((8,8)), int!(12)), "4:1");
    answer!(Layout::domain_distribute(int_tuple!(1), int!(32)), "1:0");
}

#[test]
#[rustfmt::skip]
fn tile_to_shape() {
    answer!(layout!((2,(1,4),3) : (24,(24,1),4)).tile_to_shape(int_tuple!((8,12,6))), "((2,(2,2)),((1,4),3),(3,2)):((24,(12,48)),((24,1),96),(4,288))");
    answer!(layout!(4 : 2).tile_to_shape(int_tuple!(16)), "((4,(2,2))):((2,(1,8)))");
    answer!(layout!((8,(2,8)) : (16,(1,0))).tile_to_shape(int_tuple!((8,16,4))), "((8,1),((2,8),1),(1,4)):((16,0),((1,0),0),(0,2))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_tile_to_shape() {
    answer!(layout!((5,3,(6),6) : (12,1440,(120),1)).tile_to_shape(int_tuple!((10,12,6,24))), "((5,2),(3,(2,2)),((6),1),(6,4)):((12,6),(1440,(60,720)),((120),0),(1,4320))");
    answer!(layout!((4,(4),4,1) : (1,(0),4,0)).tile_to_shape(int_tuple!((8,16,8,3,3))), "((4,2),((4),4),(4,2),(1,3),(1,3)):((1,16),((0),32),(4,128),(0,256),(0,768))");
    answer!(layout!(2 : 2).tile_to_shape(int_tuple!((4,3))), "((2,2),(1,3)):((2,1),(0,4))");
    answer!(layout!(((2,1,12),4) : ((0,0,16),1)).tile_to_shape(int_tuple!((72,4))), "(((2,1,12),3),(4,1)):(((0,0,16),4),(1,0))");
    answer!(layout!((2,1,1) : (2,2,1)).tile_to_shape(int_tuple!((8,4,2))), "((2,(2,2)),(1,4),(1,2)):((2,(1,4)),(2,8),(1,32))");
    answer!(layout!((8,4,4,(5)) : (320,4,1,(32))).tile_to_shape(int_tuple!((16,4,16,5,2))), "((8,2),(4,1),(4,(2,2)),((5),1),(1,2)):((320,16),(4,0),(1,(160,2560)),((32),0),(0,5120))");
    answer!(layout!(4 : 3).tile_to_shape(int_tuple!(8)), "((4,2)):((3,1))");
    answer!(layout!((5,2,6) : (1,30,5)).tile_to_shape(int_tuple!((10,2,18,3))), "((5,2),(2,1),(6,3),(1,3)):((1,60),(30,0),(5,120),(0,360))");
    answer!(layout!((5,6) : (12,1)).tile_to_shape(int_tuple!((20,18,3))), "((5,(2,2)),(6,3),(1,3)):((12,(6,60)),(1,120),(0,360))");
    answer!(layout!(5 : 1).tile_to_shape(int_tuple!(10)), "((5,2)):((1,5))");
    answer!(layout!(5 : 2).tile_to_shape(int_tuple!((20,3))), "((5,(2,2)),(1,3)):((2,(1,10)),(0,20))");
    answer!(layout!((4,5,5) : (25,1,5)).tile_to_shape(int_tuple!((12,5,20))), "((4,3),(5,1),(5,4)):((25,100),(1,0),(5,300))");
}

#[test]
#[rustfmt::skip]
fn tile_to_shape_by() {
    answer!(layout!((8,6,(3)) : (18,1,(6))).tile_to_shape_by(int_tuple!((24,12,6)), int_tuple!((1,0,2))), "((8,3),(6,2),((3),2)):((18,288),(1,144),((6),864))");
    answer!(layout!(5 : 1).tile_to_shape_by(int_tuple!((15,3)), int_tuple!((0,1))), "((5,3),(1,3)):((1,5),(0,15))");
    answer!(layout!(1 : 1).tile_to_shape_by(int_tuple!(1), int_tuple!(0)), "((1,1)):((1,0))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_tile_to_shape_by() {
    answer!(layout!(((5,1),1) : ((3,15),15)).tile_to_shape_by(int_tuple!((15,2,4)), int_tuple!((0,1,2))), "(((5,1),3),(1,2),(1,4)):(((3,15),1),(15,15),(0,30))");
    answer!(layout!((2,4) : (4,1)).tile_to_shape_by(int_tuple!((2,16,1)), int_tuple!((2,1,0))), "((2,1),(4,4),(1,1)):((4,0),(1,8),(0,0))");
    answer!(layout!(4 : 1).tile_to_shape_by(int_tuple!(4), int_tuple!(0)), "((4,1)):((1,0))");
    answer!(layout!((2,8) : (0,1)).tile_to_shape_by(int_tuple!((8,32)), int_tuple!((1,0))), "((2,4),(8,4)):((0,32),(1,8))");
    answer!(layout!((4,4,2,3) : (24,6,0,1)).tile_to_shape_by(int_tuple!((8,8,4,9)), int_tuple!((1,2,0,3))), "((4,2),(4,2),(2,2),(3,3)):((24,96),(6,192),(0,3),(1,384))");
    answer!(layout!((12,6) : (6,1)).tile_to_shape_by(int_tuple!((12,12,4)), int_tuple!((1,0,2))), "((12,1),(6,2),(1,4)):((6,0),(1,72),(0,144))");
    answer!(layout!(4 : 0).tile_to_shape_by(int_tuple!(4), int_tuple!(0)), "((4,1)):((0,0))");
    answer!(layout!(1 : 0).tile_to_shape_by(int_tuple!((2,1)), int_tuple!((1,0))), "((1,2),(1,1)):((0,1),(0,0))");
    answer!(layout!((1,5) : (1,1)).tile_to_shape_by(int_tuple!((2,5,1)), int_tuple!((1,2,0))), "((1,2),(5,1),(1,1)):((1,5),(1,0),(0,0))");
    answer!(layout!(2 : 2).tile_to_shape_by(int_tuple!(8), int_tuple!(0)), "((2,(2,2))):((2,(1,4)))");
    answer!(layout!(4 : 0).tile_to_shape_by(int_tuple!((4,3)), int_tuple!((1,0))), "((4,1),(1,3)):((0,0),(0,1))");
    answer!(layout!((2,1) : (1,0)).tile_to_shape_by(int_tuple!((8,3,1)), int_tuple!((1,2,0))), "((2,4),(1,3),(1,1)):((1,2),(0,8),(0,0))");
}

#[test]
#[rustfmt::skip]
fn composition_past_the_end() {
    answer!(layout!((5,1,2,4) : (1,10,5,10)).composition(int!(80)), "80:1");
    answer!(layout!(((3),6,4) : ((1),3,18)).composition(int!(144)), "144:1");
    answer!(layout!((6,6,2) : (12,72,3)).composition(int!(144)), "(36,4):(12,3)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_composition_past_the_end() {
    answer!(layout!((8,6,1,1) : (1,32,32,16)).composition(int!(96)), "(8,6,2):(1,32,16)");
    answer!(layout!(4 : 1).composition(int!(8)), "8:1");
    answer!(layout!((1,5,5) : (0,5,1)).composition(int!(50)), "(5,10):(5,1)");
    answer!(layout!((2,2) : (2,1)).composition(int!(8)), "(2,4):(2,1)");
    answer!(layout!((1,1,2) : (12,3,6)).composition(int!(4)), "4:6");
    answer!(layout!(1 : 1).composition(int!(2)), "2:1");
    answer!(layout!((1,5) : (1,1)).composition(int!(10)), "10:1");
    answer!(layout!((8,2,6,(4)) : (48,1,2,(12))).composition(int!(768)), "(8,96):(48,1)");
    answer!(layout!((1,4) : (1,0)).composition(int!(8)), "8:0");
    answer!(layout!((6,(12,4,4)) : (48,(1,288,12))).composition(int!(2304)), "(6,12,4,8):(48,1,288,12)");
    answer!(layout!((4,2) : (4,2)).composition(int!(16)), "(4,4):(4,2)");
    answer!(layout!((4,1) : (2,1)).composition(int!(8)), "(4,2):(2,1)");
}

#[test]
#[rustfmt::skip]
fn reverse() {
    answer!(layout!((2,2,4) : (4,8,1)).reverse(), "(4,2,2):(1,8,4)");
    answer!(layout!(2 : 1).reverse(), "2:1");
    answer!(layout!(2 : 1).reverse(), "2:1");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_reverse() {
    answer!(layout!((6,1) : (2,2)).reverse(), "(1,6):(2,2)");
    answer!(layout!((6,2) : (12,3)).reverse(), "(2,6):(3,12)");
    answer!(layout!((2,2) : (1,4)).reverse(), "(2,2):(4,1)");
    answer!(layout!(((8,3,4,4)) : ((48,4,12,0))).reverse(), "((8,3,4,4)):((48,4,12,0))");
    answer!(layout!((2,2) : (6,3)).reverse(), "(2,2):(3,6)");
    answer!(layout!((5,5,3,2) : (60,1,10,0)).reverse(), "(2,3,5,5):(0,10,1,60)");
    answer!(layout!((6,5,(4,12)) : (96,576,(24,1))).reverse(), "((4,12),5,6):((24,1),576,96)");
    answer!(layout!((4,12) : (48,2)).reverse(), "(12,4):(2,48)");
    answer!(layout!((1,2) : (3,6)).reverse(), "(2,1):(6,3)");
    answer!(layout!((8,5,6) : (30,6,1)).reverse(), "(6,5,8):(1,6,30)");
    answer!(layout!((2,2,6,12) : (72,144,1,6)).reverse(), "(12,6,2,2):(6,1,144,72)");
    answer!(layout!((6,3,(12),12) : (72,2,(432),6)).reverse(), "(12,(12),3,6):(6,(432),2,72)");
}

#[test]
#[rustfmt::skip]
fn zip() {
    answer!(layout!(12 : 3).zip(layout!(2 : 1)), "((12,2)):((3,1))");
    answer!(layout!(((12,2),2) : ((3,0),72)).zip(layout!((5,1) : (1,1))), "(((12,2),5),(2,1)):(((3,0),1),(72,1))");
    answer!(layout!((1,12) : (24,2)).zip(layout!((2,4) : (1,2))), "((1,2),(12,4)):((24,1),(2,2))");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_zip() {
    answer!(layout!((8,6,5) : (60,1,6)).zip(layout!(((2),2,4) : ((16),8,1))), "((8,(2)),(6,2),(5,4)):((60,(16)),(1,8),(6,1))");
    answer!(layout!(1 : 2).zip(layout!(6 : 3)), "((1,6)):((2,3))");
    answer!(layout!((4,6) : (0,4)).zip(layout!((4,3) : (1,4))), "((4,4),(6,3)):((0,1),(4,4))");
    answer!(layout!((12,2) : (2,1)).zip(layout!((12,12) : (12,1))), "((12,12),(2,12)):((2,12),(1,1))");
    answer!(layout!((4,1) : (1,0)).zip(layout!((6,6) : (6,0))), "((4,6),(1,6)):((1,6),(0,0))");
    answer!(layout!((5,8,(1)) : (32,2,(160))).zip(layout!((4,12,(4)) : (3,96,(12)))), "((5,4),(8,12),((1),(4))):((32,3),(2,96),((160),(12)))");
    answer!(layout!(1 : 1).zip(layout!(6 : 2)), "((1,6)):((1,2))");
    answer!(layout!(((4,1,6)) : ((0,4,8))).zip(layout!(1 : 2)), "(((4,1,6),1)):(((0,4,8),2))");
    answer!(layout!(8 : 1).zip(layout!(6 : 1)), "((8,6)):((1,1))");
    answer!(layout!((4,3) : (2,16)).zip(layout!((4,2) : (1,4))), "((4,4),(3,2)):((2,1),(16,4))");
    answer!(layout!(4 : 3).zip(layout!(6 : 1)), "((4,6)):((3,1))");
    answer!(layout!((2,(4,4)) : (1,(2,8))).zip(layout!((4,5) : (1,4))), "((2,4),((4,4),5)):((1,1),((2,8),4))");
}

#[test]
#[rustfmt::skip]
fn dice() {
    answer!(layout!((4,2) : (1,4)).dice((0usize, __,)), "(4):(1)");
    answer!(layout!((2,6,(4,2)) : (0,0,(96,0))).dice((__, __, (__, 0usize,),)), "(2):(0)");
    answer!(layout!((4,3,1) : (1,4,12)).dice((0usize, 0usize, __,)), "(4,3):(1,4)");
}

#[test]
#[cfg(feature = "all")]
#[rustfmt::skip]
fn more_of_dice() {
    answer!(layout!((1,8,5,12) : (12,0,0,1)).dice((0usize, 0usize, 0usize, __,)), "(1,8,5):(12,0,0)");
    answer!(layout!((12,6,2) : (1,48,24)).dice((__, 0usize, 0usize,)), "(6,2):(48,24)");
    answer!(layout!((6,1,8) : (8,48,1)).dice((0usize, 0usize, 0usize,)), "(6,1,8):(8,48,1)");
    answer!(layout!((4,3,8) : (24,1,3)).dice((__, __, 0usize,)), "(8):(3)");
    answer!(layout!((5,4) : (1,0)).dice((__, 0usize,)), "(4):(0)");
    answer!(layout!(4 : 1).dice(0usize), "4:1");
    answer!(layout!((4,(8),5) : (80,(2),16)).dice((__, (0usize,), __,)), "(8):(2)");
    answer!(layout!((1,2,(2)) : (1,1,(2))).dice((0usize, 0usize, (0usize,),)), "(1,2,2):(1,1,2)");
    answer!(layout!((6,6,(2)) : (12,1,(6))).dice((__, __, (0usize,),)), "(2):(6)");
    answer!(layout!(((2,2,12,6)) : ((24,12,1,48))).dice(((0usize, __, __, 0usize,),)), "(2,6):(24,48)");
    answer!(layout!((3,4) : (3,9)).dice((0usize, 0usize,)), "(3,4):(3,9)");
    answer!(layout!((4,2) : (2,1)).dice((__, 0usize,)), "(2):(1)");
}
