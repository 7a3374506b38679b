//! Which index tuples are proved to keep blocks apart, and what is said of others.

use expect_test::{Expect, expect};
use girih_tile::facts::{Concrete, Verdict, check};
use girih_tile::ops::table::Each::{self, Add, FloorDiv, Min, Mod, Mul, Sub};

use super::kernels::{E, Stores, World, of};

fn bid(axis: u8) -> E {
    E::Bid(axis)
}

fn blocks(axis: u8) -> E {
    E::Blocks(axis)
}

fn n(n: i32) -> E {
    E::Number(n)
}

fn each(each: Each, a: E, b: E) -> E {
    of(each, a, b)
}

fn stores(at: Vec<E>) -> Stores {
    Stores { tile: vec![16; at.len()], range: None, at: vec![at], besides: Vec::new() }
}

fn looped(range: [E; 3], at: Vec<E>) -> Stores {
    Stores { range: Some(range), ..stores(at) }
}

fn proved(stores: &Stores) {
    let report = check(&stores.func()).unwrap_or_else(|errors| panic!("{stores:?}: {errors:?}"));
    assert!(matches!(&report.arrays[..], [(_, Verdict::Proved(_)), (_, Verdict::NotStored)]), "{report:?}");
    let concrete = Concrete { grid: [3, 2, 1], extents: vec![vec![1000; 2]], scalars: vec![Some(6); 3] };
    // What is proved is of use: it holds for usual numbers.
    let mut concrete = concrete;
    let used = format!("{stores:?}");
    for axis in 0..2 {
        if !used.contains(&format!("Bid({axis})")) {
            concrete.grid[axis] = 1;
        }
    }
    assert_eq!(report.broken(&stores.func(), &concrete), None, "{stores:?}");
}

fn refused(stores: &Stores, text: Expect) {
    let errors = check(&stores.func()).unwrap_err();
    assert_eq!(errors.len(), 1);
    text.assert_eq(&format!("{}\n", errors[0].fault));
}

#[test]
fn direct_indices_are_proved() {
    proved(&stores(vec![bid(0), bid(1)]));
    proved(&stores(vec![bid(1), bid(0)]));
    proved(&stores(vec![bid(0), each(Add, bid(1), E::Size(0))]));
    proved(&stores(vec![each(Sub, each(Sub, blocks(0), n(1)), bid(0)), bid(1)]));
    proved(&looped([n(0), E::Size(0), n(1)], vec![bid(0), E::Loop]));
}

#[test]
fn linear_indices_are_proved() {
    proved(&stores(vec![each(Add, bid(0), each(Mul, bid(1), blocks(0)))]));
    proved(&stores(vec![each(Add, each(Mul, bid(0), blocks(1)), bid(1)), n(0)]));
    proved(&looped([n(0), n(2), n(1)], vec![each(Add, each(Mul, bid(0), n(2)), E::Loop)]));
}

#[test]
fn persistent_blocks_are_proved() {
    let range = || [bid(0), E::Size(2), blocks(0)];
    proved(&looped(range(), vec![E::Loop]));
    let split = |by: E, of: E| vec![each(FloorDiv, of.clone(), by.clone()), each(Mod, of, by)];
    proved(&looped(range(), split(E::Size(0), E::Loop)));
}

#[test]
fn triton_s_grouped_order_is_proved() {
    // Groups of 8 rows of tiles, as Triton's tutorial on matrix products has them.
    let width = each(Mul, E::Size(0), n(8));
    let first = each(Mul, each(FloorDiv, bid(0), width.clone()), n(8));
    let rows = each(Min, each(Sub, E::Size(1), first.clone()), n(8));
    let inside = each(Mod, bid(0), width);
    let row = each(Add, first, each(Mod, inside.clone(), rows.clone()));
    proved(&stores(vec![row, each(FloorDiv, inside, rows)]));
}

/// The same order in a loop, with more blocks than divide the tiles: what its loop counts stays before the end, so that a launch finds the last
/// group to have rows.
#[test]
fn a_persistent_grouped_order_is_proved_and_launched() {
    let tiles = each(Mul, E::Size(0), E::Size(1));
    let width = each(Mul, E::Size(1), n(4));
    let first = each(Mul, each(FloorDiv, E::Loop, width.clone()), n(4));
    let rows = each(Min, each(Sub, E::Size(0), first.clone()), n(4));
    let inside = each(Mod, E::Loop, width);
    let row = each(Add, first, each(Mod, inside.clone(), rows.clone()));
    let stores = looped([bid(0), tiles, blocks(0)], vec![row, each(FloorDiv, inside, rows)]);
    let report = check(&stores.func()).unwrap_or_else(|errors| panic!("{errors:?}"));
    for (rows, columns) in (1..12).flat_map(|rows| (1..5).map(move |columns| (rows, columns))) {
        for blocks in 1..9 {
            let world = World { grid: [blocks, 1, 1], sizes: vec![rows, columns, 1] };
            let scalars = world.sizes.iter().map(|&n| Some(n)).collect();
            let concrete = Concrete { grid: world.grid, extents: vec![vec![1000; 2]], scalars };
            assert_eq!(report.broken(&stores.func(), &concrete), None, "{world:?}");
            assert_eq!(stores.collision(&world), None);
        }
    }
}

#[test]
fn several_stores_are_compared() {
    let twice = |d: i32| each(Add, each(Mul, bid(0), n(2)), n(d));
    let both = |a: i32, b: i32| Stores { at: vec![vec![twice(a)], vec![twice(b)]], ..stores(vec![n(0)]) };
    proved(&both(0, 1));
    proved(&Stores { at: vec![vec![n(0), bid(0)], vec![n(1), bid(0)]], ..stores(vec![n(0), n(0)]) });
    refused(
        &both(0, 2),
        expect![[r#"
        blocks are not proved to keep to elements of their own in `c`: blocks [0, 0, 0] and [1, 0, 0] of a grid [2, 1, 1] both store the element at [32]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
}

#[test]
fn what_meets_is_refused_with_two_blocks() {
    refused(
        &stores(vec![each(Add, bid(0), bid(1))]),
        expect![[r#"
        blocks are not proved to keep to elements of their own in `c`: blocks [1, 0, 0] and [0, 1, 0] of a grid [2, 2, 1] both store the element at [16]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
    refused(
        &Stores { besides: vec![1], ..stores(vec![bid(0)]) },
        expect![[r#"
        blocks are not proved to keep to elements of their own in `c`: blocks [0, 0, 0] and [0, 1, 0] of a grid [2, 2, 1] both store the element at [0]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
    refused(
        &looped([n(0), n(3), n(1)], vec![each(Add, each(Mul, bid(0), n(2)), E::Loop)]),
        expect![[r#"
        blocks are not proved to keep to elements of their own in `c`: blocks [0, 0, 0] and [1, 0, 0] of a grid [2, 1, 1] both store the element at [32]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
    refused(
        &stores(vec![each(FloorDiv, bid(0), n(2)), n(0)]),
        expect![[r#"
        blocks are not proved to keep to elements of their own in `c`: blocks [0, 0, 0] and [1, 0, 0] of a grid [2, 1, 1] both store the element at [0, 0]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
    refused(
        &looped(
            [bid(0), E::Size(2), blocks(0)],
            vec![each(FloorDiv, E::Loop, E::Size(0)), each(Mod, E::Loop, E::Size(1))],
        ),
        expect![[r#"
            blocks are not proved to keep to elements of their own in `c`: the elements from (16*(bid(0) + num_blocks(0)*iteration(%7)) / (n), 16*(bid(0) + num_blocks(0)*iteration(%7)) % (m)) on do not determine bid(0); stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
        "#]],
    );
    refused(
        &stores(vec![each(Min, bid(0), n(3))]),
        expect![[r#"
        blocks are not proved to keep to elements of their own in `c`: blocks [3, 0, 0] and [4, 0, 0] of a grid [5, 1, 1] both store the element at [48]; stores whose index names the block along every axis of the grid are accepted, atomic operations, and `unsafe` with `assume_disjoint(reason)`
    "#]],
    );
}
