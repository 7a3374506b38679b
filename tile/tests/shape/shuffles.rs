//! Exchanges between the lanes of warps.

use std::collections::BTreeMap;

use girih_codegen::plan::Exchange;
use girih_codegen::plan::shuffle::{Shuffles, Warp};
use girih_codegen::plan::{Conversion, Dist, Leaf};
use girih_tensor::DType;
use girih_tile::ir::{Kind, Op};
use girih_tile::place::Plan;
use rand::RngExt;

use super::programs::shape;
use super::run::{Operand, check, dims, program};
use crate::common::differ::{cases, element, random};
use crate::common::dists::{random_dist, regrouped};

/// The lanes of a warp, with what each has: its place in the tile.
struct Places<'d> {
    shuffles: &'d Shuffles,
    from: &'d Dist,
    rank: usize,
    warp: i64,
    kept: BTreeMap<usize, Vec<Vec<i64>>>,
    count: [usize; 2],
}

fn place(dist: &Dist, thread: i64, value: usize, rank: usize) -> Vec<i64> {
    dist.origin(thread, rank).iter().zip(dist.offset(value, rank)).map(|(a, b)| a + b).collect()
}

impl Warp for Places<'_> {
    /// For each lane the elements that are together.
    type Word = Vec<Vec<Vec<i64>>>;

    fn give(&mut self, values: &[usize]) -> Vec<Self::Word> {
        let lane = |lane: i64| {
            values.iter().map(|&value| place(self.from, 32 * self.warp + lane, value, self.rank)).collect()
        };
        vec![(0..32).map(lane).collect(); self.shuffles.words]
    }

    fn choose(&mut self, bit: usize, yes: &Self::Word, no: &Self::Word) -> Self::Word {
        self.count[1] += 1;
        (0..32).map(|lane| if lane >> bit & 1 == 1 { yes[lane].clone() } else { no[lane].clone() }).collect()
    }

    fn shuffle(&mut self, turned: usize, word: &Self::Word) -> Self::Word {
        self.count[0] += 1;
        let of = |lane: usize| {
            let bit = |(i, from): (usize, &Option<usize>)| from.map_or(0, |from| (lane >> from & 1) << i);
            self.shuffles.from.iter().enumerate().map(bit).sum::<usize>() ^ turned
        };
        (0..32).map(|lane| word[of(lane)].clone()).collect()
    }

    fn keep(&mut self, words: Vec<Self::Word>, values: &[usize]) {
        assert_eq!(words.len(), self.shuffles.words);
        for (i, &value) in values.iter().enumerate() {
            let kept: Vec<_> = words[0].iter().map(|lane| lane[i].clone()).collect();
            assert!(self.kept.insert(value, kept).is_none(), "value {value} twice");
        }
    }
}

/// Every thread gets its elements of the result, by enumeration.
fn carried(extents: &[i64], dtype: DType, from: &Dist, to: &Dist) -> Option<Shuffles> {
    let shuffles = Shuffles::new(&dims(extents), dtype, from, to)?;
    let rank = extents.len();
    for warp in 0..from.threads() / 32 {
        let mut places =
            Places { shuffles: &shuffles, from, rank, warp, kept: BTreeMap::new(), count: [0; 2] };
        shuffles.run(&mut places);
        assert_eq!(places.count, shuffles.count());
        let values = shuffles.values();
        assert_eq!(values.len(), to.size());
        for (value, kept) in values.into_iter().enumerate() {
            for lane in 0..32 {
                let at = place(to, 32 * warp + lane, value, rank);
                if at.iter().zip(extents).all(|(x, n)| x < n) {
                    let got = &places.kept[&kept][lane as usize];
                    assert_eq!(
                        *got, at,
                        "warp {warp} lane {lane} value {value}: {from} to {to}: {shuffles:?}"
                    );
                }
            }
        }
    }
    Some(shuffles)
}

#[test]
fn elements_arrive_in_their_lanes() {
    let mut rng = random(71);
    for case in 0..cases(600) {
        let extents = shape(&mut rng, 400);
        let threads = 32 << rng.random_range(0..3);
        let from = random_dist(&mut rng, &extents, threads);
        let to = regrouped(&mut rng, &from, &extents);
        let dtype = [DType::F32, DType::Bf16, DType::S64, DType::Bool][case % 4];
        let what = |shuffles: Option<Shuffles>| shuffles.map(|shuffles| shuffles.count()[0]);
        let there = what(carried(&extents, dtype, &from, &to));
        // Threads that have padding alone are given copies only inside of a warp.
        assert!(there.is_some(), "{extents:?}: {from} to {to}");
        carried(&extents, dtype, &to, &from);
        let other = random_dist(&mut rng, &extents, threads);
        carried(&extents, dtype, &from, &other);
    }
}

#[test]
fn as_few_shuffles_as_conversions_of_fragments_take() {
    let mut rng = random(72);
    let mut compared = 0;
    for _ in 0..cases(200).max(200) {
        let extents = [1 << rng.random_range(2..6), 1 << rng.random_range(3..6)];
        let from = random_dist(&mut rng, &extents, 32);
        let to = regrouped(&mut rng, &from, &extents);
        if [&from, &to].iter().any(|dist| dist.is_replicated() || dist.padded(2) != extents) {
            continue;
        }
        let shuffles = carried(&extents, DType::F32, &from, &to).unwrap();
        let lay = |dist: &Dist| dist.lay(&extents).unwrap();
        let fragments = Conversion::new(&lay(&from), &lay(&to), 32).unwrap();
        assert!(shuffles.count()[0] <= from.size());
        if shuffles.is_butterfly() {
            assert_eq!(shuffles.count()[0], fragments.shuffles(), "{from} to {to}");
            compared += 1;
        }
    }
    assert!(compared > 3, "{compared} of them");
}

fn leaf(mode: usize, scale: i64) -> Leaf {
    Leaf { extent: 2, mode, scale }
}

#[test]
fn what_leaves_its_warp_is_not_shuffled() {
    let none = |extents: &[i64], from: &Dist, to: &Dist| {
        assert_eq!(Shuffles::new(&dims(extents), DType::F32, from, to), None, "{from} to {to}");
    };
    let rows = Dist::blocked(&[64, 64], &[1, 0], 4, 128);
    none(&[64, 64], &rows, &Dist::blocked(&[64, 64], &[0, 1], 4, 128));
    // Copies for another warp, and a digit of 3 across one of 2.
    let spread = Dist::blocked(&[32], &[0], 1, 64);
    none(&[32], &spread.distinct(0), &spread);
    let lanes = vec![Some((0, 3)), None, None, None, None];
    let threes = |scale| Leaf { extent: 3, mode: 0, scale };
    let inner = Dist { bits: lanes, vals: vec![threes(1)] };
    let outer = Dist { bits: vec![Some((0, 1)), None, None, None, None], vals: vec![threes(2)] };
    none(&[6], &inner, &outer);
}

#[test]
fn shuffles_are_counted_and_compared_with_shared_memory() {
    let bits: Vec<_> = (0..5).map(|bit| Some((0, 1i64 << bit))).collect();
    let lanes = Dist { bits: bits.clone(), vals: vec![leaf(1, 1)] };
    // A lane and a value change places: of two values one stays.
    let mut turned = lanes.clone();
    turned.bits[2] = Some((1, 1));
    turned.vals = vec![leaf(0, 4)];
    let count =
        |extents: &[i64], dtype, from: &Dist, to: &Dist| carried(extents, dtype, from, to).unwrap().count();
    assert_eq!(count(&[32, 2], DType::F32, &lanes, &turned), [1, 4]);
    assert_eq!(count(&[32, 2], DType::F64, &lanes, &turned), [2, 8]);
    // What a lane has of everything it takes by itself.
    let all = Dist { bits: vec![None; 5], vals: (0..5).map(|bit| leaf(0, 1 << bit)).collect() };
    let one = Dist { bits, vals: Vec::new() };
    assert_eq!(count(&[32], DType::F32, &all, &one), [0, 31]);
    // Four halves of 16 bits go as two words.
    let four = |dist: &Dist| Dist {
        vals: [dist.vals.clone(), vec![leaf(2, 1), leaf(2, 2)]].concat(),
        ..dist.clone()
    };
    assert_eq!(count(&[32, 2, 4], DType::Bf16, &four(&lanes), &four(&turned)), [2, 8]);
    assert_eq!(count(&[32, 2, 4], DType::F32, &four(&lanes), &four(&turned)), [4, 16]);

    let means = |from: &Dist, to: &Dist, extents: &[i64]| Exchange::new(&dims(extents), DType::F32, from, to);
    let few = means(&lanes, &turned, &[32, 2]);
    assert!(matches!(few, Exchange::Shuffles(_)), "{few:?}");
    assert_eq!(few.cost(), 9.0);
    // All of 32 x 32 across a warp: shared memory with whole vectors takes less.
    let square = |lanes: usize| Dist {
        bits: (0..5).map(|bit| Some((lanes, 1 << bit))).collect(),
        vals: (0..5).map(|bit| leaf(1 - lanes, 1 << bit)).collect(),
    };
    let many = means(&square(0), &square(1), &[32, 32]);
    assert!(matches!(many, Exchange::Shared(_)), "{many:?}");
}

#[test]
fn shuffled_tiles_are_what_they_were() {
    let mut rng = random(73);
    let dtypes = [
        DType::Bool,
        DType::S8,
        DType::U8,
        DType::S16,
        DType::U16,
        DType::S32,
        DType::U32,
        DType::S64,
        DType::U64,
        DType::F16,
        DType::Bf16,
        DType::F32,
        DType::Tf32,
        DType::F64,
        DType::E4m3,
        DType::E5m2,
    ];
    for case in 0..cases(96) {
        let dtype = dtypes[case % dtypes.len()];
        let extents = shape(&mut rng, 300);
        let threads = 32 << rng.random_range(0..3);
        let from = random_dist(&mut rng, &extents, threads);
        let to = regrouped(&mut rng, &from, &extents);
        let bits = (0..extents.iter().product()).map(|_| element(&mut rng, dtype)).collect();
        let operand = Operand { dtype, extents: extents.clone(), bits };
        let results = [(dtype, extents.clone())];
        let func = program(&Kind::Convert, std::slice::from_ref(&operand), &results, |_, _| None);
        let mut dists: Vec<Dist> = (0..func.value_count()).map(|_| Dist::scalar(threads)).collect();
        let mut exchanges = BTreeMap::new();
        func.walk(func.body(), &mut |_, op: &Op| {
            if op.kind == Kind::Convert {
                dists[op.operands[0].index()] = from.clone();
                dists[op.results[0].index()] = to.clone();
                let shuffles = Shuffles::new(&dims(&extents), dtype, &from, &to).unwrap();
                exchanges.insert(op.results[0], Exchange::Shuffles(shuffles));
            }
        });
        assert_eq!(exchanges.len(), 1);
        let plan = Plan { func, dists, threads: threads as u32, exchanges, products: Default::default() };
        let what = format!("case {case}: {dtype} {extents:?}: {from} to {to}");
        check(&plan, std::slice::from_ref(&operand), &results, &what);
        let lowered = girih_tile::lower::lower(&plan, 90).unwrap();
        let text = lowered.kernel.module().to_string();
        assert!(!text.contains("bar.sync") && !text.contains(".shared"), "{what}: {text}");
    }
}
