//! 60 different static operations, from the layout tests' static cases: every operation that makes a layout of indices at least once.

use girih_typed::{__, Layout, Modes, int, int_tuple, layout};

fn keep<M: Modes>(l: Layout<M>, out: &mut [i64; 60], k: usize) {
    out[k] = l.size() as i64 + l.at_signed(k);
}

/// Something of each result, so that none goes unused.
#[rustfmt::skip]
pub fn operations() -> [i64; 60] {
    let mut out = [0; 60];
    keep(layout!(((3,5),1) : ((10,1),30)).coalesce(), &mut out, 0);
    keep(layout!((3,6,5,3) : (5,45,1,15)).zipped_product(layout!(3 : 1)), &mut out, 1);
    keep(layout!((3,1,3) : (6,18,1)).complement(int!(45)), &mut out, 2);
    keep(layout!(12 : 1).flat_divide((layout!(8 : 0),)), &mut out, 3);
    keep(layout!((4,12) : (12,1)).left_inverse(), &mut out, 4);
    keep(layout!((12,2) : (3,36)).zipped_divide(layout!((2,(3),5) : (1,(20),4))), &mut out, 5);
    keep(layout!((12,6,4,1) : (48,1,6,6)).flat_product(int!(8)), &mut out, 6);
    keep(layout!((1,4) : (2,2)).logical_divide((__,)), &mut out, 7);
    keep(layout!((8,2,6) : (1,48,8)).tiled_product((int!(6),)), &mut out, 8);
    keep(layout!((5,1,5) : (5,5,1)).tiled_divide((layout!((4,5) : (3,12)),)), &mut out, 9);
    keep(layout!((3,2,1,(4)) : (1,3,6,(6))).blocked_product(layout!((3,4) : (1,0))), &mut out, 10);
    keep(layout!(5 : 0).zipped_divide(int!(16)), &mut out, 11);
    keep(layout!((8,4,3,2) : (16,1,0,4)).flat_product(layout!(1 : 1)), &mut out, 12);
    keep(layout!((2,8,4) : (32,1,8)).composition(layout!(2 : 0)), &mut out, 13);
    keep(layout!((1,4) : (1,1)).zipped_product(int!(3)), &mut out, 14);
    keep(layout!((5,(5,3,5)) : (3,(45,15,225))).complement(int!(4492)), &mut out, 15);
    keep(layout!((4,2) : (2,1)).flat_divide((int!(4),)), &mut out, 16);
    keep(layout!((6,(1,6),1) : (18,(3,3),3)).logical_divide((int!(6), int!(2), int!(4),)), &mut out, 17);
    keep(layout!((4,6,(3,6)) : (1,24,(8,144))).tiled_product(layout!((3,4) : (12,0))), &mut out, 18);
    keep(layout!((12,2,8) : (16,192,1)).composition(int!(2)), &mut out, 19);
    keep(layout!(2 : 3).logical_product(int!(2)), &mut out, 20);
    keep(layout!((12,4) : (1,12)).composition((__, int!(4),)), &mut out, 21);
    keep(layout!(2 : 1).zipped_product(layout!((12,1,1) : (0,24,1))), &mut out, 22);
    keep(layout!(5 : 2).complement(int!(27)), &mut out, 23);
    keep(layout!((2,4) : (1,2)).flat_divide((int!(3), layout!(8 : 1),)), &mut out, 24);
    keep(layout!((2,2) : (1,2)).composition(int!(8)), &mut out, 25);
    keep(layout!((12,6) : (6,1)).zipped_product(int!(3)), &mut out, 26);
    keep(layout!((2,1,2) : (2,1,1)).complement(int!(16)), &mut out, 27);
    keep(layout!(3 : 1).flat_divide((int!(2),)), &mut out, 28);
    keep(layout!((2,1) : (1,4)).right_inverse(), &mut out, 29);
    keep(layout!((4,8,4,2) : (8,64,2,32)).tiled_divide((int!(6), layout!((2,6) : (18,3)),)), &mut out, 30);
    keep(layout!((2,4,2) : (8,1,4)).raked_product(layout!(8 : 2)), &mut out, 31);
    keep(Layout::left(int_tuple!((2,4))), &mut out, 32);
    keep(Layout::right(int_tuple!((4,8))), &mut out, 33);
    keep(Layout::ordered(int_tuple!((1,6)), int_tuple!((1,0))), &mut out, 34);
    keep(layout!((12,4,2,(6)) : (2,48,1152,(192))).compact_like(), &mut out, 35);
    keep(layout!((12,4,3,(4)) : (12,3,1,(144))).fragment_like(), &mut out, 36);
    keep(layout!(((2,8),1) : ((0,1),8)).with_shape(int_tuple!((2,2,2,2))), &mut out, 37);
    keep(layout!((4,3,(12),6) : (1,576,(4),48)).filter(), &mut out, 38);
    keep(layout!(12 : 2).filter_zeros(), &mut out, 39);
    keep(layout!((3,8) : (24,3)).coalesce_by(int_tuple!((1,1))), &mut out, 40);
    keep(layout!(3 : 1).flatten(), &mut out, 41);
    keep(layout!((3,3,8,2) : (96,16,2,48)).unflatten(int_tuple!(((0,0),0,0))), &mut out, 42);
    keep(layout!(((6),4,2) : ((1),6,24)).mode(int!(0)), &mut out, 43);
    keep(layout!((6,(8,4),1) : (64,(2,16),2)).select((int!(1), )), &mut out, 44);
    keep(layout!((2,(8),4) : (12,(24),3)).take(int!(2), int!(3)), &mut out, 45);
    keep(layout!((2,6,(6)) : (36,6,(1))).group(int!(0), int!(1)), &mut out, 46);
    keep(layout!((2,2) : (3,6)).append(layout!(6 : 1)), &mut out, 47);
    keep(layout!((4,12) : (12,1)).prepend(layout!(3 : 2)), &mut out, 48);
    keep(layout!((8,8) : (8,1)).replace(int!(0), layout!((4,6) : (1,4))), &mut out, 49);
    keep(layout!((4,8) : (1,4)).upcast(int!(2)), &mut out, 50);
    keep(layout!(8 : 1).downcast(int!(2)), &mut out, 51);
    keep(layout!((8,(3),6) : (0,(96),1)).recast(int!(48), int!(4)), &mut out, 52);
    keep(layout!(5 : 1).quasi_inverse(), &mut out, 53);
    keep(layout!((1,5) : (5,1)).nullspace(), &mut out, 54);
    keep(layout!(4 : 1).max_common_layout(layout!(4 : 1)), &mut out, 55);
    keep(Layout::domain_distribute(int_tuple!((5,1)), int!(4)), &mut out, 56);
    keep(layout!((5,3,(6),6) : (12,1440,(120),1)).tile_to_shape(int_tuple!((10,12,6,24))), &mut out, 57);
    keep(layout!((2,4) : (4,1)).tile_to_shape_by(int_tuple!((2,16,1)), int_tuple!((2,1,0))), &mut out, 58);
    keep(layout!((2,2) : (2,1)).composition(int!(8)), &mut out, 59);
    out
}
