//! Random programs: functions, broadcasts, products of matrices, reductions, scans, sorts, permutations, reshapes, parts, gathers, loops and
//! conditions, whose results do not depend on the order of sums: integers, and floats that are small integers.

mod combined;
mod control;
mod elements;

use girih_tensor::DType;
use girih_tile::dtype::{Category, Const, category};
use girih_tile::hints::Hint;
use girih_tile::ir::{ArrayId, Build, Func, Known, ScalarParam, Type, Value};
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile_reference::ArrayData;
use rand::RngExt;
use rand::rngs::StdRng;

use super::memory::param;
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

const DTYPES: [DType; 8] =
    [DType::S32, DType::F32, DType::U8, DType::S16, DType::F16, DType::Bf16, DType::S64, DType::U32];
/// The most elements of a tile.
const SIZE: u64 = 1024;

struct Program {
    b: Build,
    rng: StdRng,
    /// Values in scope.
    pool: Vec<Value>,
    arrays: Vec<ArrayData>,
    scalars: Vec<u64>,
    /// Arrays that are read, with their ranks.
    inputs: Vec<(ArrayId, usize)>,
}

fn int(n: i128) -> Arg {
    Arg::Loose(Const::Int(n))
}

impl Program {
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.random_range(0..list.len())]
    }

    fn any(&mut self) -> Value {
        // Later values are chosen more often.
        let n = self.pool.len();
        let back = self.rng.random_range(0..n).min(self.rng.random_range(0..n));
        self.pool[n - 1 - back]
    }

    fn like(&mut self, keep: impl Fn(Type) -> bool) -> Option<Value> {
        let found: Vec<Value> = self.pool.iter().copied().filter(|&value| keep(self.b.ty(value))).collect();
        (!found.is_empty()).then(|| self.one_of(&found))
    }

    fn each(&mut self, op: Each, args: &[Arg]) -> Option<Value> {
        self.b.each(op, args, Mode::default()).ok()
    }

    /// Floats are kept small integers.
    fn keep(&mut self, value: Value) {
        let ty = self.b.ty(value);
        if ty.dims.size() > SIZE {
            return;
        }
        let value = match category(ty.dtype) {
            Category::Float => {
                let least = self.each(Each::Max, &[value.into(), int(-8)]);
                least.and_then(|value| self.each(Each::Min, &[value.into(), int(8)]))
            }
            _ => Some(value),
        };
        self.pool.extend(value);
    }

    /// A value of a type, as near as one gets to a random one.
    fn of_type(&mut self, ty: Type) -> Value {
        match self.like(|other| other == ty) {
            Some(value) if self.rng.random_range(0..4) > 0 => value,
            _ => {
                let seed = self.rng.random_range(0..3);
                self.b.full(ty.dtype, ty.dims, Const::Int(seed))
            }
        }
    }

    fn condition(&mut self) -> Option<Value> {
        let scalar = self.like(|ty| ty.dims.rank() == 0 && ty.dtype.is_integer())?;
        let low = self.each(Each::And, &[scalar.into(), int(3)])?;
        let op = self.one_of(&[Each::Less, Each::Equal, Each::NotEqual, Each::GreaterEqual]);
        let by = self.rng.random_range(0..4);
        self.each(op, &[low.into(), int(by)])
    }

    fn steps(&mut self, count: u32, depth: u32) {
        for _ in 0..count {
            let _ = match self.rng.random_range(0..27) {
                0..7 => self.function(),
                7..9 => self.conversion(),
                9..13 => self.shape(),
                13..17 => self.combination(),
                20..22 => self.access(),
                23..27 => self.product(),
                17..18 if depth < 3 => self.branch(depth),
                18..20 if depth < 3 => self.repetition(depth),
                22..23 if depth < 3 => self.endless(depth),
                _ => None,
            };
        }
    }

    /// The values that are stored: the last ones.
    fn last(&self) -> Vec<Value> {
        self.pool.iter().rev().take(4).copied().collect()
    }

    /// Declares arrays for tiles of these types.
    fn outputs(&mut self, types: &[Type]) {
        for ty in types {
            let extents: Vec<i64> = ty.dims.iter().map(|&n| n.into()).collect();
            let array = zeros(ty.dtype, if extents.is_empty() { &[1] } else { &extents });
            let known: Vec<Known> = array.extents.iter().map(|&n| Known::Is(n)).collect();
            let strides: Vec<Known> = array.strides.iter().map(|&n| Known::Is(n)).collect();
            self.b.array(param(&format!("y{}", self.arrays.len()), ty.dtype, true, &known, &strides, 16));
            self.arrays.push(array);
        }
    }

    /// Stores values to the arrays from `first` on.
    fn store(&mut self, first: usize, values: &[Value]) {
        for (i, &value) in values.iter().enumerate() {
            let value =
                if self.b.ty(value).dims.rank() == 0 { self.b.reshape(value, &[1]).unwrap() } else { value };
            let tiles = Tiles::new(ArrayId((first + i) as u32), self.b.ty(value).dims);
            self.b.store(&tiles, &vec![int(0); tiles.tile.rank()], value.into()).unwrap();
        }
    }
}

/// The program of a seed, with its arguments.
pub(crate) fn program(seed: u64) -> (Func, Vec<ArrayData>, Vec<u64>) {
    // Parameters come before parts of them: what is stored is known by a first go.
    let p = generate(seed, &[]);
    let types: Vec<Type> = p.last().into_iter().map(|value| p.b.ty(value)).collect();
    let p = generate(seed, &types);
    (p.b.finish(), p.arrays, p.scalars)
}

fn generate(seed: u64, outputs: &[Type]) -> Program {
    let mut p = Program {
        b: Build::new("random"),
        rng: random(seed),
        pool: Vec::new(),
        arrays: Vec::new(),
        scalars: Vec::new(),
        inputs: Vec::new(),
    };
    for i in 0..2 {
        let value =
            p.b.scalar(ScalarParam { name: format!("s{i}"), dtype: DType::S32, known: Known::MultipleOf(1) });
        p.pool.push(value);
        let bits = p.rng.random_range(0..10);
        p.scalars.push(bits);
    }
    // No hint changes a result.
    for (hint, values) in [(Hint::NumWorkerWarps, [4, 8, 16]), (Hint::Occupancy, [1, 2, 3])] {
        if p.rng.random_range(0..4) == 0 {
            let value = p.one_of(&values);
            p.b.hints_mut().set(None, hint, value).unwrap();
        }
    }
    let iota = p.b.iota(DType::S32, &[16]).unwrap();
    p.pool.push(iota);
    while p.arrays.len() < 3 {
        p.input();
    }
    p.outputs(outputs);
    let steps = p.rng.random_range(4..24);
    p.steps(steps, 0);
    if !outputs.is_empty() {
        let last = p.last();
        p.store(3, &last);
    }
    p
}

#[test]
fn random_programs_agree_with_the_reference() {
    let first: u64 = std::env::var("GIRIH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut failed = Vec::new();
    let mut run = 0;
    for seed in first..first + cases(60) as u64 {
        let (func, arrays, scalars) = program(seed);
        if std::env::var_os("GIRIH_SHOW").is_some() {
            println!("{func}");
            println!("{}", girih_tile::place::place(&func, 90).unwrap().func);
        }
        let compared =
            std::panic::catch_unwind(|| differ(&func, [1; 3], &arrays, &scalars, |_| Tolerance::EXACT));
        match compared.unwrap_or_else(|_| Err("panicked".into())) {
            Ok(()) => run += 1,
            Err(error) => failed.push(format!(
                "GIRIH_SEED={seed} GIRIH_CASES=1: {}",
                error.lines().next().unwrap_or_default()
            )),
        }
    }
    assert!(failed.is_empty(), "{run} agree, {} do not:\n{}", failed.len(), failed.join("\n"));
}
