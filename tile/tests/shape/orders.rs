//! Combinations that choose one of two elements by an order of keys, in any distribution.

use girih_codegen::plan::{Dist, Leaf};
use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayParam, Build, Combine, Func, Kind, Known, Nan, RegionId, ScalarParam, Value};
use girih_tile::lower::lower;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::number::encode;
use girih_tile::ops::reduce::Reduce;
use girih_tile::ops::scan::{Running, Scan};
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile::place::{Plan, place};
use girih_tile_reference::{ArrayData, row_major};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::programs::{cases, each, shape, threads};
use super::run::{Operand, Shape, check, dims, placed, program};
use crate::common::differ::{Tolerance, differ, zeros};

/// How one of two elements is chosen: the comparisons in which a pair of a value and a place is before another, which of the sides is asked,
/// and which value and place are behind all others.
#[derive(Clone, Copy, Debug)]
struct Form {
    value: Each,
    /// Of equal values. Without it the first comparison decides alone.
    place: Option<Each>,
    /// The comparisons ask whether the right one is before.
    turned: bool,
    /// Operands of comparisons, and of conditions, the other way round.
    swapped: bool,
}

impl Form {
    fn random(rng: &mut StdRng, keyed: bool) -> Form {
        let strict = [Each::Less, Each::Greater];
        let all = [Each::Less, Each::Greater, Each::LessEqual, Each::GreaterEqual];
        Form {
            value: *if keyed { &strict[..] } else { &all[..] }.choose(rng).unwrap(),
            place: keyed.then(|| *all.choose(rng).unwrap()),
            turned: rng.random(),
            swapped: rng.random(),
        }
    }

    fn region(self, b: &mut Build, values: &[Value]) -> RegionId {
        let (left, right) = b.open_combine(values);
        let (asked, other) = if self.turned { (&right, &left) } else { (&left, &right) };
        let swap = |op| match op {
            Each::Less => Each::Greater,
            Each::Greater => Each::Less,
            Each::LessEqual => Each::GreaterEqual,
            Each::GreaterEqual => Each::LessEqual,
            same => same,
        };
        let ask = |b: &mut Build, op, at: usize| {
            if self.swapped {
                each(b, swap(op), other[at], asked[at])
            } else {
                each(b, op, asked[at], other[at])
            }
        };
        let mut cond = ask(b, self.value, 0);
        if let Some(place) = self.place {
            let mut both = [ask(b, Each::Equal, 0), ask(b, place, 1)];
            both.rotate_left(self.swapped.into());
            let mut sides = [cond, each(b, Each::And, both[0], both[1])];
            sides.rotate_left(self.swapped.into());
            cond = each(b, Each::Or, sides[0], sides[1]);
        }
        let chosen: Vec<Value> = asked
            .iter()
            .zip(other)
            .map(|(&a, &b_)| {
                let args = [cond, a, b_].map(Arg::Value);
                b.each(Each::Select, &args, Mode::default()).unwrap()
            })
            .collect();
        b.close_combine(values, &chosen).unwrap()
    }

    /// Bits of what is behind all elements.
    fn identity(self, dtype: DType) -> [Const; 2] {
        let end = |greatest: bool, dtype: DType| match dtype {
            _ if dtype.is_float() && greatest => Const::Float(f64::NEG_INFINITY),
            _ if dtype.is_float() => Const::Float(f64::INFINITY),
            DType::U8 if greatest => Const::Int(0),
            DType::U8 => Const::Int(255),
            _ if greatest => Const::Int(i32::MIN.into()),
            _ => Const::Int(i32::MAX.into()),
        };
        let greatest = |op| matches!(op, Each::Greater | Each::GreaterEqual);
        [end(greatest(self.value), dtype), end(self.place.is_some_and(greatest), DType::S32)]
    }
}

/// Few different numbers, with zeros of both signs among those of floats if they are asked for.
fn elements(rng: &mut StdRng, dtype: DType, extents: &[i64], zeros: bool) -> Vec<u64> {
    let mut one = || match rng.random_range(1..6) {
        1 if zeros && dtype.is_float() => *[0.0, -0.0].choose(rng).unwrap(),
        n => f64::from(n),
    };
    let count = extents.iter().product::<i64>();
    (0..count)
        .map(|_| {
            encode(dtype, if dtype.is_float() { Const::Float(one()) } else { Const::Int(one() as i128) })
        })
        .collect()
}

const DTYPES: &[DType] = &[DType::S32, DType::F32, DType::F16, DType::F64, DType::U8, DType::S64];

/// Pairs from memory in random distributions: values and places that are equal too.
#[test]
fn pairs_are_chosen_in_any_distribution() {
    let mut accepted = 0;
    for seed in 0..8 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let extents = shape(&mut rng, 800);
        let axis = rng.random_range(0..extents.len());
        let keyed = rng.random_bool(0.7);
        let form = Form::random(&mut rng, keyed);
        let dtypes = [*DTYPES.choose(&mut rng).unwrap(), DType::S32];
        let all = dtypes.map(|dtype| {
            let bits = elements(&mut rng, dtype, &extents, false);
            Operand { dtype, extents: extents.clone(), bits }
        });
        let identity = form.identity(dtypes[0]);
        let identity = [0, 1].map(|at| encode(dtypes[at], identity[at])).into();
        let mut reduced = extents.clone();
        let axis8 = axis as u8;
        let kind = if rng.random() {
            reduced[axis] = 1;
            Kind::Reduce { axis: axis8, combine: Combine::By(()), identity }
        } else {
            let (reverse, exclusive) = (rng.random(), rng.random());
            Kind::Scan { axis: axis8, combine: Combine::By(()), identity, reverse, exclusive }
        };
        let results: Vec<Shape> = dtypes.iter().map(|&dtype| (dtype, reduced.clone())).collect();
        let func = program(&kind, &all, &results, |b, values| Some(form.region(b, values)));
        let plan = (0..40)
            .map(|_| placed(func.clone(), &kind, threads(&mut rng), &mut rng))
            .find(|plan| plan.verify().is_ok());
        let Some(plan) = plan else { continue };
        accepted += 1;
        check(
            &plan,
            &all,
            &results,
            &format!("seed {seed}: {form:?} {kind:?} {extents:?}: {:#?}", plan.dists),
        );
    }
    assert!(accepted >= 2 * cases(), "{accepted} programs");
}

/// What stands beside the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// Positions along the axis.
    Positions,
    /// The same from where the block begins, which has a bound.
    OfBlock,
    /// The same from a number that nothing is known of, so that they may wrap.
    From(i32),
    /// Positions along another axis, where there is one.
    Across,
}

/// A program that chooses along an axis of a tile: values of an array, and numbers that stand beside them.
fn chosen(
    form: Form,
    dtype: DType,
    extents: &[i64],
    axis: usize,
    beside: Beside,
    scan: Option<Scan>,
) -> Func {
    let mut b = Build::new("chosen");
    let array = |b: &mut Build, name: &str, dtype: DType, extents: &[i64], mutable: bool| {
        b.array(ArrayParam {
            name: name.to_string(),
            dtype,
            mutable,
            extents: extents.iter().map(|&n| Known::Is(n)).collect(),
            strides: row_major(extents).into_iter().map(Known::Is).collect(),
            align: 16,
            assume_disjoint: None,
        })
    };
    let mut to = extents.to_vec();
    if scan.is_none() {
        to[axis] = 1;
    }
    let x = array(&mut b, "x", dtype, extents, false);
    let outputs =
        [("y", dtype), ("z", DType::S32)].map(|(name, dtype)| array(&mut b, name, dtype, &to, true));
    let start = ScalarParam { name: "start".to_string(), dtype: DType::S32, known: Known::MultipleOf(1) };
    let start = b.scalar(start);
    let zero = vec![Arg::Loose(Const::Int(0)); extents.len()];
    let value = b.load(&Tiles::new(x, dims(extents)), &zero).unwrap();
    let along = if beside == Beside::Across { (axis + 1) % extents.len() } else { axis };
    let mut count = b.arange(DType::S32, extents[along], Const::Int(0), Const::Int(1)).unwrap();
    let from = match beside {
        Beside::Positions | Beside::Across => None,
        Beside::OfBlock => {
            let block = b.bid(0).unwrap();
            let most = Arg::Loose(Const::Int(1000));
            let block = b.each(Each::Mod, &[block.into(), most], Mode::default()).unwrap();
            Some(b.each(Each::Mul, &[block.into(), Arg::Loose(Const::Int(128))], Mode::default()).unwrap())
        }
        Beside::From(_) => Some(start),
    };
    if let Some(from) = from {
        count = each(&mut b, Each::Add, count, from);
    }
    let mut line = vec![1; extents.len()];
    line[along] = extents[along];
    let count = b.reshape(count, &line).unwrap();
    let count = b.broadcast_to(count, dims(extents)).unwrap();
    let both = [value, count];
    let region = form.region(&mut b, &both);
    let identity = form.identity(dtype);
    let axis = axis as i64;
    let made = match scan {
        Some(how) => b.scan_by(&both, axis, &identity, region, how),
        None => b.reduce_by(&both, axis, &identity, region, Reduce { keepdims: true, ..Reduce::default() }),
    };
    for (value, array) in made.unwrap().into_iter().zip(outputs) {
        b.store(&Tiles::new(array, dims(&to)), &zero, value.into()).unwrap();
    }
    b.finish()
}

/// Ragged tiles with positions beside them, as they are placed. Of equal values the first or the last is chosen, though nothing asks for
/// the position, and where positions wrap.
#[test]
fn positions_tell_elements_apart() {
    for seed in 0..12 * cases() {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut extents = shape(&mut rng, 1500);
        if rng.random() {
            // Without padding, positions may become keys.
            extents.iter_mut().for_each(|n| *n = 1 << n.ilog2());
        }
        let axis = rng.random_range(0..extents.len());
        let keyed = rng.random();
        let form = Form::random(&mut rng, keyed);
        let dtype = *DTYPES.choose(&mut rng).unwrap();
        let beside = match rng.random_range(0..6) {
            0 | 1 => Beside::Positions,
            2 => Beside::OfBlock,
            3 => Beside::From(rng.random_range(-9..9)),
            4 => Beside::From(i32::MAX - rng.random_range(0..extents[axis] as i32)),
            _ => Beside::Across,
        };
        let how = Scan { reverse: rng.random(), exclusive: rng.random(), ..Scan::default() };
        let scan = Some(how).filter(|_| rng.random_bool(0.4));
        let func = chosen(form, dtype, &extents, axis, beside, scan);
        let bits = elements(&mut rng, dtype, &extents, true);
        let mut to = extents.clone();
        if scan.is_none() {
            to[axis] = 1;
        }
        let start = if let Beside::From(start) = beside { start } else { 0 };
        let arrays = [ArrayData::dense(dtype, &extents, &bits), zeros(dtype, &to), zeros(DType::S32, &to)];
        let scalars = [u64::from(start.cast_unsigned())];
        let result = differ(&func, [1; 3], &arrays, &scalars, |_| Tolerance::EXACT);
        result.unwrap_or_else(|error| {
            panic!("seed {seed}: {form:?} {dtype} {extents:?} {axis} {beside:?} {scan:?}: {error}")
        });
    }
}

/// The text of a program of rows of 64 columns of which a thread has pairs, as of a product by `wgmma`.
fn text(func: Func) -> String {
    let bit = |mode, scale| Some((mode, scale));
    let bits = vec![bit(1, 2), bit(1, 4), bit(0, 1), bit(0, 2), bit(0, 4), bit(0, 16), bit(0, 32)];
    let leaf = |mode, scale| Leaf { extent: 2, mode, scale };
    let vals = vec![leaf(1, 1), leaf(0, 8), leaf(1, 8), leaf(1, 16), leaf(1, 32)];
    let tile = Dist { bits, vals };
    let dist = |value: Value| {
        let dims = func.ty(value).dims;
        match dims.rank() {
            _ if dims.size() == 1 => Dist::scalar(128),
            1 => tile.slice(0).reshape(&[1, 64], &[64]).unwrap(),
            _ => (0..2).filter(|&mode| dims[mode] == 1).fold(tile.clone(), |dist, mode| dist.slice(mode)),
        }
    };
    let dists = (0..func.value_count()).map(|at| dist(Value(at as u32))).collect();
    let plan =
        Plan { func, dists, threads: 128, exchanges: Default::default(), products: Default::default() };
    plan.verify().unwrap();
    lower(&plan, 90).unwrap().kernel.module().to_string()
}

fn count(text: &str, words: &[&str]) -> usize {
    text.lines().filter(|line| words.iter().all(|word| line.contains(word))).count()
}

/// Comparisons of values, and shuffles.
fn counts(form: Form, beside: Beside) -> [usize; 2] {
    let text = text(chosen(form, DType::F32, &[64, 64], 1, beside, None));
    [count(&text, &["setp.", ".f32"]), count(&text, &["shfl."])]
}

#[test]
fn a_thread_chooses_of_its_own_elements_first() {
    let keyed = Form { value: Each::Less, place: Some(Each::Less), turned: false, swapped: false };
    let first = Form { value: Each::LessEqual, place: None, ..keyed };
    // In each of two rows a thread has 16 elements, and pairs of two operands go through two butterflies.
    let (own, lanes, shuffles) = (2 * 15, 2 * 2, 2 * 2 * 2);
    for beside in [Beside::Positions, Beside::OfBlock] {
        for form in [keyed, first, Form { turned: true, ..keyed }, Form { swapped: true, ..keyed }] {
            assert_eq!(counts(form, beside), [own + 2 * lanes, shuffles], "{form:?} {beside:?}");
        }
    }
    // Positions that may be equal, or wrap, are compared.
    for beside in [Beside::From(0), Beside::Across] {
        assert_eq!(counts(keyed, beside), [2 * (own + lanes), shuffles], "{beside:?}");
    }
    // Where nothing tells elements apart, pairs of neighbours go through butterflies before what stands further apart is combined.
    let runs = 2 * 8;
    for beside in [Beside::From(0), Beside::Across] {
        let compared = runs + runs * 2 + 2 * 7;
        assert_eq!(counts(first, beside), [compared, runs * 2 * 2], "{beside:?}");
    }
}

#[test]
fn a_thread_has_one_key_of_each_row() {
    for nan in [Nan::Ignored, Nan::Propagated] {
        for (combine, before) in
            [(Combine::ArgMin(nan), "setp.ltu.f32"), (Combine::ArgMax(nan), "setp.gtu.f32")]
        {
            let kind = Kind::Reduce { axis: 1, combine, identity: [].into() };
            let x = Operand { dtype: DType::F32, extents: vec![64, 64], bits: vec![0; 64 * 64] };
            let text = text(program(&kind, &[x], &[(DType::S32, vec![64, 1])], |_, _| None));
            // In each of two rows a thread has 16 elements, whose indices go with them.
            let found = [count(&text, &[before]), count(&text, &["selp.f32"]), count(&text, &["min.s64"])];
            assert_eq!(found, [2 * 15, 2 * 15, 2 * 2], "{combine:?}");
        }
    }
}

/// A running sum along columns of a tile, and what a thread has of it.
#[test]
fn columns_are_scanned_by_threads_of_their_own() {
    for (extents, values) in [([128, 256], 32), ([64, 128], 64), ([96, 512], 48)] {
        let mut b = Build::new("columns");
        let row = b.arange(DType::S32, extents[1], Const::Int(0), Const::Int(1)).unwrap();
        let row = b.reshape(row, &[1, extents[1]]).unwrap();
        let row = b.broadcast_to(row, dims(&extents)).unwrap();
        let sums = b.scan(Running::Sum, row, 0, Scan { exclusive: true, ..Scan::default() }).unwrap();
        let y = ArrayParam {
            name: "y".to_string(),
            dtype: DType::S32,
            mutable: true,
            extents: extents.map(Known::Is).to_vec(),
            strides: row_major(&extents).into_iter().map(Known::Is).collect(),
            align: 16,
            assume_disjoint: None,
        };
        let y = b.array(y);
        let zero = [(); 2].map(|()| Arg::Loose(Const::Int(0)));
        b.store(&Tiles::new(y, dims(&extents)), &zero, sums.into()).unwrap();
        let func = b.finish();
        let plan = place(&func, 90).unwrap();
        let dist = plan.dist(sums);
        let together = dist.along(0).into_iter().take_while(|(_, bit)| bit.is_none());
        let together: i64 = together.map(|(leaf, _)| leaf.extent).product();
        assert!(together >= values, "{extents:?}: {together} in {dist}");
        assert!(dist.bits[..5].iter().all(|bit| bit.is_some_and(|(mode, _)| mode == 1)), "{dist}");
        let result = differ(&func, [1; 3], &[zeros(DType::S32, &extents)], &[], |_| Tolerance::EXACT);
        result.unwrap_or_else(|error| panic!("{extents:?}: {error}"));
    }
}
