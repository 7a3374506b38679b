//! Random index expressions: what is proved holds for every block of many small grids, and a witness is one.

use girih_tile::facts::{Concrete, check};
use girih_tile::ops::table::Each;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::kernels::{E, SIZES, Stores, World, of};

fn expression(rng: &mut StdRng, depth: u32, in_loop: bool) -> E {
    if depth == 0 || rng.random_bool(0.2) {
        return match rng.random_range(0..10) {
            0..4 => E::Bid(rng.random_range(0..2)),
            4 => E::Blocks(rng.random_range(0..2)),
            5 => E::Size(rng.random_range(0..SIZES)),
            6..8 if in_loop => E::Loop,
            _ => E::Number([0, 1, 2, 3, 8, -1, 70_000][rng.random_range(0..7)]),
        };
    }
    let each = [
        Each::Add,
        Each::Add,
        Each::Mul,
        Each::Mul,
        Each::Sub,
        Each::FloorDiv,
        Each::Mod,
        Each::Min,
        Each::Max,
    ][rng.random_range(0..9)];
    of(each, expression(rng, depth - 1, in_loop), expression(rng, depth - 1, in_loop))
}

/// Forms that are often proved: mixed radix with random digits and factors, split again by quotient and remainder.
fn structured(rng: &mut StdRng, in_loop: bool) -> Vec<E> {
    let digit = |rng: &mut StdRng| match rng.random_range(0..4) {
        0 => E::Bid(0),
        1 => E::Bid(1),
        2 if in_loop => E::Loop,
        _ => of(Each::Mod, expression(rng, 1, in_loop), factor(rng)),
    };
    fn factor(rng: &mut StdRng) -> E {
        match rng.random_range(0..6) {
            0 => E::Blocks(0),
            1 => E::Blocks(1),
            2 => E::Size(rng.random_range(0..SIZES)),
            3 => of(Each::Mul, E::Size(0), E::Blocks(rng.random_range(0..2))),
            _ => E::Number(rng.random_range(1..5)),
        }
    }
    let mut linear = digit(rng);
    for _ in 0..rng.random_range(0..3) {
        linear = of(Each::Add, linear, of(Each::Mul, digit(rng), factor(rng)));
    }
    if rng.random_bool(0.5) {
        let by = factor(rng);
        let other = if rng.random_bool(0.8) { by.clone() } else { factor(rng) };
        vec![of(Each::FloorDiv, linear.clone(), by), of(Each::Mod, linear, other)]
    } else {
        vec![linear, digit(rng)]
    }
}

fn kernel(rng: &mut StdRng) -> Stores {
    let in_loop = rng.random_bool(0.5);
    let range = in_loop.then(|| match rng.random_range(0..4) {
        0 => [E::Number(0), E::Number(rng.random_range(1..4)), E::Number(1)],
        1 => [E::Bid(0), E::Size(0), E::Blocks(0)],
        2 => [E::Number(0), E::Size(1), E::Number(rng.random_range(1..3))],
        _ => [expression(rng, 1, false), expression(rng, 1, false), E::Number(rng.random_range(1..3))],
    });
    let stores = if rng.random_bool(0.2) { 2 } else { 1 };
    let mut at = Vec::new();
    for _ in 0..stores {
        at.push(if rng.random_bool(0.6) {
            structured(rng, in_loop)
        } else {
            vec![expression(rng, 2, in_loop), expression(rng, 2, in_loop)]
        });
    }
    if stores == 2 && rng.random_bool(0.7) {
        // The same but for a constant.
        let mut second = at[0].clone();
        second[1] = of(Each::Add, second[1].clone(), E::Number(rng.random_range(1..4)));
        at[1] = second;
    }
    let tile = vec![[1, 1, 2][rng.random_range(0..3)], [1, 4][rng.random_range(0..2)]];
    Stores { tile, range, at, besides: Vec::new() }
}

fn worlds(rng: &mut StdRng) -> Vec<World> {
    let mut found = Vec::new();
    for grid in [
        [1, 1, 1],
        [2, 1, 1],
        [3, 2, 1],
        [2, 3, 1],
        [4, 4, 1],
        [5, 1, 1],
        [1, 6, 1],
        [7, 1, 1],
        [70_000, 1, 1],
    ] {
        for _ in 0..3 {
            let sizes = (0..SIZES)
                .map(|_| match rng.random_range(0..8) {
                    0 => 0,
                    1 => -2,
                    2 => 100_000,
                    _ => rng.random_range(1..9),
                })
                .collect();
            found.push(World { grid, sizes });
        }
    }
    found
}

#[test]
fn what_is_proved_holds_for_every_block() {
    let cases: u64 = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(800);
    let (mut proved, mut worlds_met) = (0, 0);
    for seed in 0..cases {
        let mut rng = StdRng::seed_from_u64(seed);
        let stores = kernel(&mut rng);
        let func = stores.func();
        let Ok(report) = check(&func) else { continue };
        proved += 1;
        for world in worlds(&mut rng) {
            let concrete = Concrete {
                grid: world.grid,
                extents: vec![vec![1 << 20; 2]],
                scalars: world.sizes.iter().map(|&n| Some(n)).collect(),
            };
            // The largest grids are for what wraps, and are looked through for a few kernels.
            if world.grid[0] > 10 && (proved % 32 != 0 || stores.range.is_some())
                || report.broken(&func, &concrete).is_some()
            {
                continue;
            }
            worlds_met += 1;
            if let Some(found) = stores.collision(&world) {
                panic!("seed {seed}: {stores:?} is said to be disjoint, but blocks {found}");
            }
        }
    }
    assert!(proved * 8 > cases && worlds_met > proved * 3, "{proved} of {cases} proved, {worlds_met} worlds");
}
