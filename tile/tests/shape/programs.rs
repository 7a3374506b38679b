//! One operation at a time, over random shapes, dtypes, axes and distributions.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Combine, Kind, Nan, RegionId, Value};
use girih_tile::ops::number::encode;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::data::{Data, elements};
use super::run::{Operand, Shape, check, dims, placed, program};

/// How many programs of each kind are tried.
pub(super) fn cases() -> u64 {
    std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(25)
}

/// A shape of one to three axes of at most `most` elements.
pub(crate) fn shape(rng: &mut StdRng, most: i64) -> Vec<i64> {
    let rank = rng.random_range(1..=3);
    let mut extents = Vec::new();
    let mut left = most;
    for _ in 0..rank {
        let one: bool = rng.random_bool(0.15);
        let extent = if one { 1 } else { rng.random_range(1..=left.min(70)) };
        extents.push(extent);
        left /= extent;
    }
    for i in (1..extents.len()).rev() {
        let j = rng.random_range(0..=i);
        extents.swap(i, j);
    }
    extents
}

fn size(extents: &[i64]) -> i64 {
    extents.iter().product()
}

fn operand(rng: &mut StdRng, dtype: DType, extents: &[i64], data: Data) -> Operand {
    let bits = elements(rng, dtype, size(extents), data);
    Operand { dtype, extents: extents.to_vec(), bits }
}

const NUMBERS: &[DType] = &[
    DType::S8,
    DType::S16,
    DType::S32,
    DType::S64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::Bf16,
    DType::F32,
    DType::F64,
];

/// A combination, the dtype of what it combines, and elements for it.
fn combination(rng: &mut StdRng, index: bool) -> (Combine, DType, Data) {
    let nan = if rng.random() { Nan::Ignored } else { Nan::Propagated };
    let integers: Vec<DType> = NUMBERS.iter().copied().filter(|&dtype| dtype.is_integer()).collect();
    let combine = match rng.random_range(0..if index { 11 } else { 9 }) {
        0 | 1 => Combine::Sum,
        2 => Combine::Prod,
        3 => Combine::Max(nan),
        4 => Combine::Min(nan),
        5 | 6 => {
            let all = [Combine::And, Combine::Or, Combine::Xor];
            let dtype = if rng.random() { DType::Bool } else { *integers.choose(rng).unwrap() };
            return (*all.choose(rng).unwrap(), dtype, Data::Bits);
        }
        7 | 8 => Combine::Max(nan),
        9 => Combine::ArgMax(nan),
        _ => Combine::ArgMin(nan),
    };
    let data = match combine {
        Combine::Sum => Data::Sums,
        Combine::Prod => Data::Products,
        _ => Data::Ordered,
    };
    (combine, *NUMBERS.choose(rng).unwrap(), data)
}

pub(super) fn threads(rng: &mut StdRng) -> i64 {
    *[32, 64, 128, 256].choose(rng).unwrap()
}

/// Runs an operation in random distributions.
fn run(
    seed: u64,
    rng: &mut StdRng,
    kind: &Kind,
    operands: &[Operand],
    results: &[Shape],
    region: impl FnOnce(&mut Build, &[Value]) -> Option<RegionId>,
) {
    let func = program(kind, operands, results, region);
    let plan = placed(func, kind, threads(rng), rng);
    let dists: Vec<String> = plan.dists.iter().map(ToString::to_string).collect();
    let types: Vec<String> = operands.iter().map(|of| format!("{}{:?}", of.dtype, of.extents)).collect();
    let what =
        format!("seed {seed}: {kind:?} of {types:?} to {results:?} by {} threads: {dists:#?}", plan.threads);
    check(&plan, operands, results, &what);
}

/// Scalars combined element by element.
pub(super) fn each(b: &mut Build, op: Each, x: Value, y: Value) -> Value {
    b.each(op, &[Arg::Value(x), Arg::Value(y)], Mode::default()).unwrap()
}

#[test]
fn reductions() {
    for seed in 0..4 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 1500);
        let axis = rng.random_range(0..extents.len());
        let (combine, dtype, data) = combination(&mut rng, true);
        let operands = [operand(&mut rng, dtype, &extents, data)];
        let mut reduced = extents.clone();
        reduced[axis] = 1;
        let index = matches!(combine, Combine::ArgMax(_) | Combine::ArgMin(_));
        let results = [(if index { DType::S32 } else { dtype }, reduced)];
        let kind = Kind::Reduce { axis: axis as u8, combine, identity: [].into() };
        run(seed, &mut rng, &kind, &operands, &results, |_, _| None);
    }
}

#[test]
fn reductions_by_regions() {
    for seed in 0..cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 800);
        let axis = rng.random_range(0..extents.len());
        let dtypes = [DType::S32, *NUMBERS.choose(&mut rng).unwrap(), DType::Bool];
        let all: Vec<Operand> =
            dtypes.iter().map(|&dtype| operand(&mut rng, dtype, &extents, Data::Sums)).collect();
        let mut reduced = extents.clone();
        reduced[axis] = 1;
        let results: Vec<Shape> = dtypes.iter().map(|&dtype| (dtype, reduced.clone())).collect();
        let least = if dtypes[1].is_float() {
            encode(dtypes[1], Const::Float(f64::NEG_INFINITY))
        } else if dtypes[1].is_signed() {
            1 << (dtypes[1].bits() - 1)
        } else {
            0
        };
        let kind =
            Kind::Reduce { axis: axis as u8, combine: Combine::By(()), identity: [0, least, 1].into() };
        run(seed, &mut rng, &kind, &all, &results, |b, values| {
            let (left, right) = b.open_combine(values);
            let sum = each(b, Each::Add, left[0], right[0]);
            let most = each(b, Each::Max, left[1], right[1]);
            let both = each(b, Each::And, left[2], right[2]);
            Some(b.close_combine(values, &[sum, most, both]).unwrap())
        });
    }
}

#[test]
fn scans() {
    for seed in 0..4 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 1500);
        let axis = rng.random_range(0..extents.len());
        let (combine, dtype, data) = combination(&mut rng, false);
        let operands = [operand(&mut rng, dtype, &extents, data)];
        let results = [(dtype, extents.clone())];
        let kind = Kind::Scan {
            axis: axis as u8,
            combine,
            identity: [].into(),
            reverse: rng.random(),
            exclusive: rng.random(),
        };
        run(seed, &mut rng, &kind, &operands, &results, |_, _| None);
    }
}

#[test]
fn scans_by_regions_keep_the_order() {
    for seed in 0..cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 800);
        let axis = rng.random_range(0..extents.len());
        // x -> a x + b, one after the other, modulo 2^n.
        let dtype = *[DType::U32, DType::U64, DType::U16].choose(&mut rng).unwrap();
        let all: Vec<Operand> = (0..2).map(|_| operand(&mut rng, dtype, &extents, Data::Bits)).collect();
        let results = vec![(dtype, extents.clone()); 2];
        let kind = Kind::Scan {
            axis: axis as u8,
            combine: Combine::By(()),
            identity: [1, 0].into(),
            reverse: rng.random(),
            exclusive: rng.random(),
        };
        run(seed, &mut rng, &kind, &all, &results, |b, values| {
            let (left, right) = b.open_combine(values);
            let a = each(b, Each::Mul, left[0], right[0]);
            let moved = each(b, Each::Mul, right[0], left[1]);
            let c = each(b, Each::Add, moved, right[1]);
            Some(b.close_combine(values, &[a, c]).unwrap())
        });
    }
}

#[test]
fn reductions_by_regions_keep_the_order() {
    let mut accepted = 0;
    for seed in 0..4 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 800);
        let axis = rng.random_range(0..extents.len());
        let dtype = *[DType::U32, DType::U64, DType::U16].choose(&mut rng).unwrap();
        let all: Vec<Operand> = (0..2).map(|_| operand(&mut rng, dtype, &extents, Data::Bits)).collect();
        let mut reduced = extents.clone();
        reduced[axis] = 1;
        let results = vec![(dtype, reduced); 2];
        let kind = Kind::Reduce { axis: axis as u8, combine: Combine::By(()), identity: [1, 0].into() };
        let func = program(&kind, &all, &results, |b, values| {
            let (left, right) = b.open_combine(values);
            let a = each(b, Each::Mul, left[0], right[0]);
            let moved = each(b, Each::Mul, right[0], left[1]);
            let c = each(b, Each::Add, moved, right[1]);
            Some(b.close_combine(values, &[a, c]).unwrap())
        });
        // Distributions in another order are refused.
        let plan = (0..40)
            .map(|_| placed(func.clone(), &kind, threads(&mut rng), &mut rng))
            .find(|plan| plan.verify().is_ok());
        let Some(plan) = plan else { continue };
        accepted += 1;
        check(&plan, &all, &results, &format!("seed {seed}: {extents:?} along {axis}: {:#?}", plan.dists));
    }
    assert!(accepted >= cases(), "{accepted} programs");
}

#[test]
fn sorts() {
    for seed in 0..2 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 600);
        let axis = rng.random_range(0..extents.len());
        let dtype = if rng.random_bool(0.1) { DType::Bool } else { *NUMBERS.choose(&mut rng).unwrap() };
        let mut all = vec![operand(&mut rng, dtype, &extents, Data::Ordered)];
        for _ in 0..rng.random_range(0..3) {
            let dtype = *[DType::S32, DType::F16, DType::S64, DType::Bool].choose(&mut rng).unwrap();
            all.push(operand(&mut rng, dtype, &extents, Data::Bits));
        }
        let results: Vec<Shape> = all.iter().map(|of| (of.dtype, extents.clone())).collect();
        let kind = Kind::Sort { axis: axis as u8, descending: rng.random() };
        run(seed, &mut rng, &kind, &all, &results, |_, _| None);
    }
}

#[test]
fn what_shared_memory_does_not_hold_goes_part_by_part() {
    let mut rng = StdRng::seed_from_u64(7);
    let operands = [operand(&mut rng, DType::U64, &[170, 200], Data::Bits)];
    let go = |kind: Kind, to: Vec<i64>, rng: &mut StdRng| {
        let func = program(&kind, &operands, &[(DType::U64, to.clone())], |_, _| None);
        let plan = placed(func, &kind, 512, rng);
        check(&plan, &operands, &[(DType::U64, to)], &format!("{kind:?}"));
    };
    go(Kind::Flip(0), vec![170, 200], &mut rng);
    let sums = Kind::Reduce { axis: 0, combine: Combine::Sum, identity: [].into() };
    go(sums, vec![1, 200], &mut rng);
    let running =
        Kind::Scan { axis: 1, combine: Combine::Sum, identity: [].into(), reverse: true, exclusive: false };
    go(running, vec![170, 200], &mut rng);
    // Pairs in order, picked by their positions.
    let pairs = [operand(&mut rng, DType::F64, &[17000, 2], Data::Ordered)];
    let (kind, results) = (Kind::Sort { axis: 1, descending: true }, [(DType::F64, vec![17000, 2])]);
    let plan = placed(program(&kind, &pairs, &results, |_, _| None), &kind, 512, &mut rng);
    check(&plan, &pairs, &results, "pairs");
}

#[test]
fn histograms() {
    for seed in 0..cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 1000);
        let integers: Vec<DType> = NUMBERS.iter().copied().filter(|&dtype| dtype.is_integer()).collect();
        let dtype = *integers.choose(&mut rng).unwrap();
        let all = [operand(&mut rng, dtype, &extents, Data::Ordered)];
        let bins = rng.random_range(1..300);
        run(seed, &mut rng, &Kind::Histogram, &all, &[(DType::S32, vec![bins])], |_, _| None);
    }
}

#[test]
fn elements_change_places() {
    for seed in 0..4 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut dtype = *NUMBERS.choose(&mut rng).unwrap();
        if rng.random_bool(0.15) {
            dtype = *[DType::Bool, DType::Tf32, DType::E4m3, DType::E5m2].choose(&mut rng).unwrap();
        }
        let extents = shape(&mut rng, 1500);
        let axis = rng.random_range(0..extents.len());
        let mut all = vec![operand(&mut rng, dtype, &extents, Data::Bits)];
        let mut to = (dtype, extents.clone());
        let kind = match rng.random_range(0..7) {
            0 => {
                // Factors of the size in another order.
                let mut factors = girih_codegen::plan::primes(size(&extents));
                let mut shape = vec![1; rng.random_range(1..=4)];
                while let Some(factor) = factors.pop() {
                    let at = rng.random_range(0..shape.len());
                    shape[at] *= factor;
                }
                to.1 = shape;
                Kind::Reshape
            }
            1 | 2 => {
                let part: Vec<i64> = extents
                    .iter()
                    .map(|&n| {
                        let divisors: Vec<i64> = (1..=n).filter(|d| n % d == 0).collect();
                        *divisors.choose(&mut rng).unwrap()
                    })
                    .collect();
                let start: Vec<i64> =
                    extents.iter().zip(&part).map(|(n, p)| rng.random_range(0..n / p) * p).collect();
                if rng.random() {
                    to.1 = part;
                    Kind::Extract(dims(&start))
                } else {
                    all.push(operand(&mut rng, dtype, &part, Data::Bits));
                    Kind::Insert(dims(&start))
                }
            }
            3 => {
                let mut other = extents.clone();
                other[axis] = rng.random_range(1..=40);
                to.1[axis] += other[axis];
                all.push(operand(&mut rng, dtype, &other, Data::Bits));
                Kind::Cat(axis as u8)
            }
            4 => Kind::Flip(axis as u8),
            _ if dtype == DType::Bool => Kind::Flip(axis as u8),
            5 => {
                to = (DType::U8, vec![size(&extents) * i64::from(dtype.bits()) / 8]);
                Kind::Pack
            }
            _ => {
                let count = size(&extents);
                let bytes = count * i64::from(dtype.bits()) / 8;
                all = vec![operand(&mut rng, DType::U8, &[bytes], Data::Bits)];
                to.1 = vec![count];
                Kind::Unpack
            }
        };
        run(seed, &mut rng, &kind, &all, &[to], |_, _| None);
    }
}
