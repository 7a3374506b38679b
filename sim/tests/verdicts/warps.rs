//! Warps: shuffles, votes, and barriers of a part of a block.

use std::sync::{Arc, Mutex};

use super::manifest::{Case, UNORDERED};
use super::setup::{Check, Setup, equal, same, whole};

/// A mask that does not have the lanes that it should.
const MASK: &[&str] = &["divergent", "bad-value", "deadlock"];
/// What nothing has written is stored.
const UNDEFINED: &[&str] = &["uninitialised-register", "absent-lane"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("warp_exchange", warp_exchange)
            .broken("no_syncwarp", UNORDERED)
            .broken("half_mask", UNORDERED)
            .broken("no_second", &["race"]),
        Case::new("warp_volatile", warp_volatile).broken("no_syncwarp", &["race", "lockstep"]),
        Case::new("ballot_compact", ballot_compact)
            .broken("wrong_mask", MASK)
            .broken("other_lane", UNDEFINED),
        Case::new("divergent_shuffle", divergent_shuffle)
            .broken("full_mask", MASK)
            .broken("outside", UNDEFINED),
        Case::new("match_add", match_add)
            .broken("any_leader", UNDEFINED)
            .broken("masks_differ", MASK)
            .broken("own_read", &["race"]),
        Case::new("tiles", tiles).broken("no_tile_sync", UNORDERED).broken("smaller_tile", UNORDERED),
        Case::new("sub_barrier", sub_barrier)
            .broken("aligned_places", &["divergent"])
            .broken("too_many", &["bad-value", "deadlock"]),
        Case::new("speaking", speaking).broken("wrong_assertion", &["trap", "assertion"]),
    ]
}

fn warp_exchange(s: &mut Setup) -> Check {
    let x = whole(128, 1000, 1);
    s.shape(1, 128).buffer(&x);
    same(s.output::<i32>(128), (0..128).map(|t| x[t ^ 31] + x[t ^ 1 ^ 31] * 2 + 1).collect())
}

fn warp_volatile(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 2);
    s.shape(1, 32).buffer(&x);
    same(s.output::<i32>(1), vec![x.iter().sum::<i32>()])
}

fn ballot_compact(s: &mut Setup) -> Check {
    let mut x = whole(64, 1000, 3);
    // The last lane takes no part, and lanes name it that use nothing.
    (x[31], x[63]) = (3, 6);
    s.shape(1, 64).buffer(&x);
    let (out, counts) = (s.output::<i32>(64), s.output::<i32>(2));
    let kept: Vec<Vec<i32>> =
        x.chunks(32).map(|warp| warp.iter().copied().filter(|x| x % 3 != 0).collect()).collect();
    Box::new(move |setup| {
        let (out, counts) = (setup.read::<i32>(out), setup.read::<i32>(counts));
        for (warp, kept) in kept.iter().enumerate() {
            equal(&[counts[warp]], &[kept.len() as i32])?;
            equal(&out[32 * warp..32 * warp + kept.len()], kept)?;
        }
        Ok(())
    })
}

fn divergent_shuffle(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 4);
    s.shape(1, 64).buffer(&x);
    let one = |t: usize| match t % 32 {
        0..16 => x[t / 32 * 32..][..16].iter().sum(),
        _ => x[t] * 2,
    };
    same(s.output::<i32>(64), (0..64).map(one).collect())
}

fn match_add(s: &mut Setup) -> Check {
    let x = whole(64, 5, 5);
    s.shape(1, 64).buffer(&x);
    let (counts, ranks) = (s.buffer(&[0; 5]), s.output::<i32>(64));
    let want: Vec<i32> = (0..5).map(|v| x.iter().filter(|&&x| x == v).count() as i32).collect();
    Box::new(move |setup| {
        equal(&setup.read::<i32>(counts), &want)?;
        let ranks = setup.read::<i32>(ranks);
        for value in 0..5 {
            let mut own: Vec<i32> = (0..64).filter(|&i| x[i] == value).map(|i| ranks[i]).collect();
            own.sort();
            equal(&own, &(0..own.len() as i32).collect::<Vec<_>>())?;
        }
        Ok(())
    })
}

fn tiles(s: &mut Setup) -> Check {
    let x = whole(64, 100, 6);
    s.shape(1, 64).buffer(&x);
    let turned: Vec<i32> = (0..64).map(|t| x[t ^ 7]).collect();
    let one = |t: usize| {
        let sum: i32 = turned[t / 8 * 8..][..8].iter().sum();
        let active: Vec<i32> = turned[t / 32 * 32..][..32].iter().copied().filter(|&x| x > 50).collect();
        sum + if turned[t] > 50 { active[0] * active.len() as i32 } else { 0 } + t as i32 / 8
    };
    let want = (0..64).map(one).collect();
    same(s.output::<i32>(64), want)
}

fn sub_barrier(s: &mut Setup) -> Check {
    let x = whole(64, 1000, 7);
    s.shape(1, 64).buffer(&x);
    let one = |t: usize| x[t ^ 63] + if (t ^ 63) % 32 < 16 { 1 } else { 2 };
    same(s.output::<i32>(64), (0..64).map(one).collect())
}

fn speaking(s: &mut Setup) -> Check {
    let x = whole(32, 1000, 8);
    s.shape(1, 32).buffer(&x);
    let out = s.output::<i32>(32);
    let said = Arc::new(Mutex::new(String::new()));
    let told = said.clone();
    s.print = Some(Arc::new(move |text: &str| told.lock().unwrap().push_str(text)));
    Box::new(move |setup| {
        equal(
            &[said.lock().unwrap().as_str()],
            &[format!("thread 0 has {}\nthread 1 has {}\n", x[0], x[1]).as_str()],
        )?;
        equal(&setup.read::<i32>(out), &x.iter().map(|x| x + 1).collect::<Vec<_>>())
    })
}
