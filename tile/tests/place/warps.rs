//! The number of warps: what some number of them builds is built without a hint, and what none does is refused in the user's words.

use girih_tile::error::Error;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::{Func, Known};
use girih_tile::pass::simplify;
use girih_tile::place::place;
use girih_tile::prelude::*;

/// Attention over all keys.
#[kernel]
fn attention<const BM: usize, const BN: usize, const D: usize>(
    q: &Array<bf16, 2>,
    k: &Array<bf16, 2>,
    v: &Array<bf16, 2>,
    o: &mut Array<bf16, 2>,
) {
    let i = bid(0);
    let x = q.tiles([BM, D]).padding(Padding::Zero).load((i, 0));
    let mut sum = zeros::<f32>([BM, D]);
    let mut most = full::<f32>([BM, 1], -1e30);
    for j in 0..cdiv(k.dim(0), BN) {
        let keys = k.tiles([BN, D]).padding(Padding::Zero).load((j, 0));
        let values = v.tiles([BN, D]).padding(Padding::Zero).load((j, 0));
        let s = mma(x, keys.t(), zeros::<f32>([BM, BN]));
        let next = maximum(most, s.max(keep(1)));
        sum = mma((s - next).exp().to::<bf16>(), values, sum * (most - next).exp());
        most = next;
    }
    o.tiles_mut([BM, D]).store((i, 0), sum.to::<bf16>());
}

fn facts(d: usize) -> Facts {
    let array = ArrayFacts {
        extents: vec![Known::MultipleOf(1), Known::MultipleOf(d as i64)],
        strides: vec![Known::MultipleOf(d as i64), Known::Is(1)],
        align: 16,
    };
    Facts { arrays: vec![array; 4], scalars: Vec::new() }
}

fn with_warps(func: &Func, warps: u32) -> Func {
    let mut func = func.clone();
    func.hints.all.num_worker_warps = Some(warps);
    func
}

#[test]
fn what_some_number_of_warps_builds_is_built() {
    let programs = [
        (attention::<128, 128, 96>::ir().unwrap(), 96),
        (attention::<64, 64, 96>::ir().unwrap(), 96),
        (attention::<128, 96, 64>::ir().unwrap(), 64),
    ];
    for (program, d) in programs {
        let func = simplify(&program.with_facts(&facts(d)));
        let by_hint = [8, 4, 16, 32].into_iter().find(|&warps| place(&with_warps(&func, warps), 80).is_ok());
        let warps = by_hint.expect("some number of warps");
        if let Err(error) = place(&func, 80) {
            panic!("{warps} warps build it: {error}");
        }
    }
}

#[test]
fn what_no_number_of_warps_builds_is_refused_in_the_users_words() {
    let func = simplify(&attention::<512, 512, 128>::ir().unwrap().with_facts(&facts(128)));
    let Err(Error::Place(fault)) = place(&func, 80) else { panic!("accepted") };
    let text = fault.to_string();
    assert!(text.contains("elements a thread in a block of") && text.contains("are accepted"), "{text}");
    assert!(text.contains("f32[512, 512] at tile/tests/place/warps.rs:") && !text.contains('%'), "{text}");
    let func = with_warps(&simplify(&attention::<128, 64, 256>::ir().unwrap().with_facts(&facts(256))), 4);
    let Err(Error::Place(fault)) = place(&func, 80) else { panic!("accepted") };
    let text = fault.to_string();
    assert!(text.contains("registers of a thread in a block of 128 threads, 232 are accepted"), "{text}");
    assert!(text.contains("f32[128, 256] at tile/tests/place/warps.rs:") && !text.contains('%'), "{text}");
}
