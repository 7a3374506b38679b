//! Random distributions.

use girih_codegen::plan::{Dist, Leaf, primes};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};

/// A distribution of a tile over a power of two of threads, in which every element has a place: bits of lanes and warps in any order along
/// any mode, or along none, and values in any order. Extents are padded.
pub(crate) fn random_dist(rng: &mut StdRng, extents: &[i64], threads: i64) -> Dist {
    if extents.is_empty() {
        return Dist::scalar(threads);
    }
    let mut left = extents.to_vec();
    let copies = *[0.0, 0.2, 0.5].choose(rng).unwrap_or(&0.0);
    let mut bits: Vec<Option<(usize, i64)>> = Vec::new();
    for _ in 0..threads.ilog2() {
        let open: Vec<usize> = (0..left.len()).filter(|&mode| left[mode] > 1).collect();
        let mode = open.choose(rng).filter(|_| !rng.random_bool(copies));
        bits.push(mode.map(|&mode| {
            left[mode] = (left[mode] + 1) / 2;
            (mode, 0)
        }));
    }
    bits.shuffle(rng);
    let mut vals = Vec::new();
    for (mode, &left) in left.iter().enumerate() {
        // Sometimes more padding than there must be.
        let more = if left > 2 && rng.random_bool(0.2) { rng.random_range(0..3) } else { 0 };
        vals.extend(primes(left + more).into_iter().map(|extent| Leaf { extent, mode, scale: 0 }));
    }
    vals.shuffle(rng);
    for mode in 0..extents.len() {
        enum Digit {
            Bit(usize),
            Val(usize),
        }
        let mut digits: Vec<Digit> =
            (0..bits.len()).filter(|&i| bits[i].is_some_and(|bit| bit.0 == mode)).map(Digit::Bit).collect();
        digits.extend((0..vals.len()).filter(|&i| vals[i].mode == mode).map(Digit::Val));
        match rng.random_range(0..3) {
            0 => digits.shuffle(rng),
            1 => digits.reverse(),
            _ => {}
        }
        let mut scale = 1;
        for digit in digits {
            match digit {
                Digit::Bit(i) => {
                    bits[i] = Some((mode, scale));
                    scale *= 2;
                }
                Digit::Val(i) => {
                    vals[i].scale = scale;
                    scale *= vals[i].extent;
                }
            }
        }
    }
    Dist { bits, vals }
}

/// A distribution with the same bits of warps, in which lanes and values say what lanes and values of `dist` say in another way: digits of 2
/// change places, and lanes without one have copies or padding.
pub(crate) fn regrouped(rng: &mut StdRng, dist: &Dist, extents: &[i64]) -> Dist {
    loop {
        let (lanes, warps) = dist.bits.split_at(5);
        let bits = lanes.iter().flatten().map(|&(mode, scale)| Leaf { extent: 2, mode, scale });
        let mut leaves: Vec<Leaf> = bits.chain(dist.vals.iter().copied()).collect();
        leaves.retain(|leaf| leaf.scale < extents[leaf.mode]);
        leaves.shuffle(rng);
        let mut reach = dist.padded(extents.len());
        let most = rng.random_range(0..=5);
        let (mut bits, mut vals) = (Vec::new(), Vec::new());
        for leaf in leaves {
            if leaf.extent == 2 && bits.len() < most {
                bits.push(Some((leaf.mode, leaf.scale)));
            } else {
                vals.push(leaf);
            }
        }
        while bits.len() < 5 {
            let padding = rng.random_bool(0.3) && !extents.is_empty();
            bits.push(padding.then(|| {
                let mode = rng.random_range(0..extents.len());
                reach[mode] *= 2;
                (mode, reach[mode] / 2)
            }));
        }
        // Often most lanes keep what they say.
        if rng.random() {
            for (at, bit) in lanes.iter().enumerate() {
                if let Some(other) = bits.iter().position(|other| other == bit) {
                    bits.swap(at, other);
                }
            }
        } else {
            bits.shuffle(rng);
        }
        bits.extend(warps);
        let to = Dist { bits, vals };
        if to.covers(extents) {
            return to;
        }
    }
}
