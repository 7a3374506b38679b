//! Layouts whose numbers do not fit: what the compiler finds when it builds the program.
#![allow(unused, reason = "only what the compiler says to it counts")]

use girih_typed::{Layout, Lt, Mode, S, Sw, Swizzled, int, int_tuple, layout};

fn main() {
    stride();
    extent();
    carry();
    rank();
    holes();
    overlap();
    dynamic();
    coordinate();
    array();
    exactly();
    exactly_dynamic();
    try_exactly();
    mode();
    select();
    take();
    group();
    group_none();
    replace();
    unflatten();
    left();
    left_dynamic();
    ordered();
    compact_like();
    with_shape();
    coalesce_by();
    tile_to_shape();
    upcast();
    downcast();
    recast();
    quasi_inverse();
    nullspace();
    coordinates();
    no_coordinates();
    coordinate_rank();
    nested_coordinate();
    basis();
    swizzle();
    swizzle_recast();
    take_reversed();
    take_past();
    group_reversed();
    right_overflow();
    filter();
    append();
    zip();
    swizzle_decay();
    swizzle_dynamic();
    domain_distribute();
    left_inverse();
    right_inverse();
}

fn stride() {
    layout!((6, 2) : (8, 2)).composition(layout!(6 : 4));
}

fn extent() {
    layout!((4, 6) : (1, 8)).composition(layout!(6 : 1));
}

fn carry() {
    layout!((4, 2) : (1, 10)).composition(layout!((2, 2) : (2, 3)));
}

fn rank() {
    layout!((128, 64) : (64, 1)).zipped_divide((int!(32), int!(16), int!(4)));
}

fn holes() {
    layout!((2, 2) : (1, 3)).complement(int!(12));
}

fn overlap() {
    layout!((4, 4) : (1, 2)).complement(int!(32));
}

fn dynamic() {
    let n: usize = 8;
    layout!((4, n) : (1, 4)).composition(int!(4));
}

fn coordinate() {
    layout!((64, 2) : (1, 64)).at((int!(64), 0));
}

fn array() {
    let n: usize = 8;
    layout!((4, n) : (1, 4)).array(0u8);
}

fn exactly() {
    fn f(_: Lt<(S<4>, S<8>), (S<1>, S<4>)>) {}
    f(layout!((4, 8) : (8, 1)).exactly());
}

fn exactly_dynamic() {
    let n = 8usize;
    let l: Lt<(S<4>, S<8>), (S<1>, S<4>)> = layout!((4, n) : (1, 4)).exactly();
}

fn try_exactly() {
    let n = 8usize;
    let _ = layout!((4, n) : (1, 4)).try_exactly::<(Mode<S<4>, S<2>>, Mode<S<8>, S<4>>)>();
}

fn mode() {
    layout!((4, 8) : (1, 4)).mode(int!(2));
}

fn select() {
    layout!((2, 3, 5) : (1, 2, 6)).select((int!(0), int!(3)));
}

fn take() {
    let n: usize = 5;
    layout!((2, 3, n) : (1, 2, 6)).take(int!(1), int!(4));
}

fn group() {
    layout!((2, 3, 5) : (1, 2, 6)).group(int!(1), int!(4));
}

fn group_none() {
    layout!((2, 3, 5) : (1, 2, 6)).group(int!(1), int!(1));
}

fn replace() {
    layout!((2, 3) : (1, 2)).replace(int!(2), layout!(4 : 6));
}

fn unflatten() {
    layout!((8, 2, 3) : (6, 1, 2)).unflatten(int_tuple!((0, 0)));
}

fn left() {
    Layout::left(int_tuple!((4, 0)));
}

fn left_dynamic() {
    let n: usize = 8;
    Layout::left(int_tuple!((4, n)));
}

fn ordered() {
    Layout::ordered(int_tuple!((4, 2)), int_tuple!((0, 1, 2)));
}

fn compact_like() {
    layout!((4, 8) : (-8, 1)).compact_like();
}

fn with_shape() {
    layout!((4, 6) : (1, 8)).with_shape(int_tuple!((4, 3)));
}

fn coalesce_by() {
    layout!((2, 6) : (1, 2)).coalesce_by(int_tuple!((1, 1, 1)));
}

fn tile_to_shape() {
    layout!((2, 2) : (1, 2)).tile_to_shape(int_tuple!((8, 7)));
}

fn upcast() {
    layout!((6, 4) : (1, 6)).upcast(int!(4));
}

fn downcast() {
    layout!((8, 4) : (2, 16)).downcast(int!(4));
}

fn recast() {
    layout!((8, 6) : (6, 1)).recast(int!(16), int!(64));
}

fn quasi_inverse() {
    layout!((4, 4) : (1, 2)).quasi_inverse();
}

fn nullspace() {
    let n: usize = 8;
    layout!((4, n) : (0, 1)).nullspace();
}

fn coordinates() {
    layout!((4, 8) : (1@0, 1@1)).at((3, 5));
}

fn no_coordinates() {
    let [_i, _j] = layout!((4, 8) : (8, 1)).coord_at((3, 5));
}

fn coordinate_rank() {
    let [_i] = Layout::identity(int_tuple!((4, 8))).coord_at((3, 5));
}

fn nested_coordinate() {
    let [_i, _j] = Layout::identity(int_tuple!((4, (2, 3)))).coord_at((3, 5));
}

fn basis() {
    layout!((4, 8) : (1@0, 1@1)).complement(int!(64));
}

fn swizzle() {
    Swizzled::<Sw<3, 3, 2>, _>::new(layout!((8, 64) : (64, 1)));
}

fn swizzle_recast() {
    Swizzled::<Sw<3, 2, 3>, _>::new(layout!((8, 64) : (64, 1))).recast(int!(16), int!(128));
}

fn take_reversed() {
    layout!((2, 3, 5) : (1, 2, 6)).take(int!(2), int!(1));
}

fn take_past() {
    layout!((2, 3, 5) : (1, 2, 6)).take(int!(5), int!(5));
}

fn group_reversed() {
    layout!((2, 3, 5) : (1, 2, 6)).group(int!(2), int!(1));
}

fn right_overflow() {
    Layout::right(int_tuple!((4, 4294967295, 4294967295, 4294967295)));
}

fn filter() {
    let n: usize = 0;
    layout!((4, 8) : (1, n)).filter();
}

fn append() {
    layout!((2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2) : (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048))
        .append(layout!(2 : 4096));
}

fn zip() {
    layout!((2, 3) : (1, 2)).zip(layout!(4 : 6));
}

fn swizzle_decay() {
    Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1))).decay();
}

fn swizzle_dynamic() {
    let n: usize = 64;
    Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (n, 1))).cosize();
}

fn domain_distribute() {
    Layout::domain_distribute(int_tuple!((4, 6)), int!(0));
}

fn left_inverse() {
    layout!((4, 4) : (1, 2)).left_inverse();
}

fn right_inverse() {
    let n: usize = 8;
    layout!((4, n) : (1, 4)).right_inverse();
}
