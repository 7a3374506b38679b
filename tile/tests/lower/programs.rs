//! Random programs: functions, broadcasts, reductions, scans, permutations, reshapes, parts, gathers, loops and conditions, whose results
//! do not depend on the order of sums: integers, and floats that are small integers.

use girih_tensor::DType;
use girih_tile::dtype::{Category, Const, category, is_integer};
use girih_tile::ir::{Build, Dims, End, Func, Kind, Known, RegionId, Rounding, ScalarParam, Type, Value};
use girih_tile::ops::indexed::Elements;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::reduce::{Axes, Reduce, Reduction};
use girih_tile::ops::scan::{Running, Scan};
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile::reference::ArrayData;
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
        let scalar = self.like(|ty| ty.dims.rank() == 0 && is_integer(ty.dtype))?;
        let low = self.each(Each::And, &[scalar.into(), int(3)])?;
        let op = self.one_of(&[Each::Less, Each::Equal, Each::NotEqual, Each::GreaterEqual]);
        let by = self.rng.random_range(0..4);
        self.each(op, &[low.into(), int(by)])
    }

    fn input(&mut self) {
        let dtype = self.one_of(&DTYPES);
        let rank = self.rng.random_range(1..=3);
        let extents: Vec<i64> = (0..rank).map(|_| self.one_of(&[1i64, 2, 3, 4, 5, 8, 16, 24, 32])).collect();
        if extents.iter().product::<i64>() > SIZE as i64 {
            return;
        }
        // Parts of the array are outside of the tile, or the other way round.
        let shape: Vec<i64> =
            extents.iter().map(|&n| (n + self.one_of(&[0i64, 0, 0, -1, 3])).max(1)).collect();
        let bits: Vec<u64> = (0..shape.iter().product::<i64>())
            .map(|_| {
                let n = self.rng.random_range(-8i128..9);
                let n = if is_integer(dtype) && !girih_tile::dtype::is_signed(dtype) { n.abs() } else { n };
                girih_tile::ops::number::encode(dtype, Const::Int(n))
            })
            .collect();
        let name = format!("x{}", self.arrays.len());
        let known: Vec<Known> =
            shape.iter().map(|&n| self.one_of(&[Known::Is(n), Known::MultipleOf(1)])).collect();
        let array = ArrayData::dense(dtype, &shape, &bits);
        let mut strides: Vec<Known> =
            array.strides.iter().map(|&n| self.one_of(&[Known::Is(n), Known::MultipleOf(1)])).collect();
        strides[shape.len() - 1] = Known::Is(1);
        let id = self.b.array(param(&name, dtype, false, &known, &strides, 16));
        self.arrays.push(array);
        let Ok(dims) = self.b.tile_dims(&extents) else { return };
        let tiles = Tiles { padding: girih_tile::ir::Padding::Zero, ..Tiles::new(id, dims) };
        if let Ok(value) = self.b.load(&tiles, &vec![int(0); shape.len()]) {
            self.pool.push(value);
        }
        if self.rng.random_range(0..3) == 0 && is_integer(dtype) {
            self.gather(id, shape.len());
        }
    }

    fn gather(&mut self, array: girih_tile::ir::ArrayId, rank: usize) {
        let indices: Vec<Arg> = (0..rank)
            .map(|_| match self.like(|ty| ty.dtype == DType::S32 && ty.dims.size() <= 64) {
                Some(value) => value.into(),
                None => int(1),
            })
            .collect();
        let total: u64 = indices
            .iter()
            .map(|&arg| if let Arg::Value(v) = arg { self.b.ty(v).dims.size() } else { 1 })
            .product();
        if total > SIZE {
            return;
        }
        if let Ok(value) = self.b.gather(&Elements::new(array), &indices, None, Some(int(2))) {
            self.keep(value);
        }
    }

    fn function(&mut self) -> Option<()> {
        let a = self.any();
        let ty = self.b.ty(a);
        let same = self.like(|other| {
            other.dtype == ty.dtype && girih_tile::ops::broadcast(other.dims, ty.dims).is_ok()
        })?;
        let constant = int(self.rng.random_range(1..5));
        let b: Arg = if self.rng.random_range(0..3) == 0 { constant } else { same.into() };
        let value = match category(ty.dtype) {
            Category::Bool => {
                let op = self.one_of(&[Each::And, Each::Or, Each::Xor, Each::Equal, Each::Less]);
                self.each(op, &[a.into(), same.into()])?
            }
            Category::Integer => match self.rng.random_range(0..16) {
                0 => self.each(Each::Shl, &[a.into(), constant])?,
                1 => self.each(Each::Shr, &[a.into(), constant])?,
                2 => self.each(Each::FloorDiv, &[a.into(), constant])?,
                3 => self.each(Each::Mod, &[a.into(), constant])?,
                4 => self.each(Each::CeilDiv, &[a.into(), constant])?,
                5 => self.each(Each::Not, &[a.into()])?,
                6 => self.each(Each::Abs, &[a.into()])?,
                7 => self.each(Each::MulHi, &[a.into(), same.into()])?,
                _ => {
                    let op = self.one_of(&[
                        Each::Add,
                        Each::Sub,
                        Each::Mul,
                        Each::Min,
                        Each::Max,
                        Each::And,
                        Each::Xor,
                        Each::Less,
                        Each::NotEqual,
                    ]);
                    self.each(op, &[a.into(), b])?
                }
            },
            Category::Float => {
                let op = self.one_of(&[
                    Each::Add,
                    Each::Sub,
                    Each::Mul,
                    Each::Min,
                    Each::Max,
                    Each::Greater,
                    Each::Equal,
                ]);
                self.each(op, &[a.into(), b])?
            }
        };
        self.keep(value);
        Some(())
    }

    fn conversion(&mut self) -> Option<()> {
        let value = self.any();
        let to = self.one_of(&DTYPES);
        // Small numbers alone, which every dtype has.
        let small = match category(self.b.ty(value).dtype) {
            Category::Integer => self.each(Each::And, &[value.into(), int(7)])?,
            Category::Float => self.each(Each::Max, &[value.into(), int(0)])?,
            Category::Bool => value,
        };
        let value = self.b.cast(small, to, Rounding::Nearest).ok()?;
        self.keep(value);
        Some(())
    }

    fn shape(&mut self) -> Option<()> {
        let value = self.any();
        let dims = self.b.ty(value).dims;
        let rank = dims.rank();
        let axis = self.rng.random_range(0..rank.max(1)) as i64;
        let made = match self.rng.random_range(0..8) {
            0 => {
                let mut axes: Vec<i64> = (0..rank as i64).collect();
                axes.rotate_left(self.rng.random_range(0..rank.max(1)));
                if self.rng.random() {
                    axes.reverse();
                }
                self.b.permute(value, &axes)
            }
            1 => self.b.reshape(value, &[-1]),
            2 => {
                let size = dims.size() as i64;
                let by = self.one_of(&[1i64, 2, 3, 4, 8]);
                if size % by != 0 {
                    return None;
                }
                let shape = if self.rng.random() { [by, size / by] } else { [size / by, by] };
                self.b.reshape(value, &shape)
            }
            3 => self.b.expand_dims(value, axis),
            4 => {
                let to: Vec<u32> =
                    dims.iter().map(|&n| if n == 1 { self.one_of(&[1u32, 2, 3, 8]) } else { n }).collect();
                let to = Dims::new(&to).filter(|dims| dims.size() <= SIZE)?;
                self.b.broadcast_to(value, to)
            }
            5 => self.b.flip(value, axis),
            6 => {
                let ty = self.b.ty(value);
                let other = self.like(|other| other == ty)?;
                self.b.cat(value, other, axis)
            }
            _ => {
                let part: Vec<u32> =
                    dims.iter().map(|&n| if n % 2 == 0 && self.rng.random() { n / 2 } else { n }).collect();
                let index: Vec<i64> = dims
                    .iter()
                    .zip(&part)
                    .map(|(&n, &p)| self.rng.random_range(0..i64::from(n / p)))
                    .collect();
                self.b.extract(value, &index, Dims::new(&part)?)
            }
        };
        self.keep(made.ok()?);
        Some(())
    }

    fn combination(&mut self) -> Option<()> {
        let value = self.any();
        let dims = self.b.ty(value).dims;
        if dims.rank() == 0 {
            return None;
        }
        let axis = self.rng.random_range(0..dims.rank());
        let float = self.b.ty(value).dtype.is_float();
        let made = if self.rng.random() {
            let mut list = vec![
                Reduction::Sum,
                Reduction::Max,
                Reduction::Min,
                Reduction::ArgMax,
                Reduction::Any,
                Reduction::All,
            ];
            if !float {
                list.push(Reduction::Prod);
            }
            let op = self.one_of(&list);
            let keepdims = self.rng.random();
            self.b.reduce(op, value, &Axes::One(axis as i64), Reduce { keepdims, ..Reduce::default() })
        } else {
            let mut list = vec![Running::Sum, Running::Max, Running::Min];
            if !float {
                list.push(Running::Prod);
            }
            let op = self.one_of(&list);
            // bf16 has integers up to 256.
            if op == Running::Sum && self.b.ty(value).dtype == DType::Bf16 && dims[axis] > 32 {
                return None;
            }
            let how = Scan { reverse: self.rng.random(), exclusive: self.rng.random(), ..Scan::default() };
            self.b.scan(op, value, axis as i64, how)
        };
        self.keep(made.ok()?);
        Some(())
    }

    /// A region in whose scope the pool grows and shrinks again.
    fn region(
        &mut self,
        args: &[Type],
        depth: u32,
        end: impl FnOnce(&mut Program, &[Value]) -> End,
    ) -> RegionId {
        let kept = self.pool.len();
        let (_, values) = self.b.open(args);
        self.pool.extend(&values);
        let steps = self.rng.random_range(1..5);
        self.steps(steps, depth + 1);
        let end = end(self, &values);
        let region = self.b.close(end);
        self.pool.truncate(kept);
        region
    }

    fn branch(&mut self, depth: u32) -> Option<()> {
        let cond = self.condition()?;
        let a = self.any();
        let other = self.any();
        let types = [self.b.ty(a), self.b.ty(other)];
        let sides = [(); 2].map(|()| {
            self.region(&[], depth, |p, _| End::Yield(types.iter().map(|&ty| p.of_type(ty)).collect()))
        });
        let made = self.b.push_regions(Kind::If, &[cond], &types, sides.to_vec());
        made.into_iter().for_each(|value| self.keep(value));
        Some(())
    }

    fn repetition(&mut self, depth: u32) -> Option<()> {
        let carried: Vec<Value> = (0..self.rng.random_range(1..4)).map(|_| self.any()).collect();
        let types: Vec<Type> = carried.iter().map(|&value| self.b.ty(value)).collect();
        let number = Type::scalar(DType::S32);
        let bounds = [self.rng.random_range(-1..2), self.rng.random_range(0..5), self.rng.random_range(1..3)]
            .map(|n: i128| self.b.full(DType::S32, Dims::SCALAR, Const::Int(n)));
        // The end may be a number that is not known before.
        let stop = match self.like(|ty| ty == number) {
            Some(value) if self.rng.random() => self.each(Each::And, &[value.into(), int(3)])?,
            _ => bounds[1],
        };
        let args: Vec<Type> = [number].into_iter().chain(types.iter().copied()).collect();
        let region = self.region(&args, depth, |p, values| {
            if p.rng.random()
                && let Some(cond) = p.condition()
            {
                let leaves = p.rng.random();
                let left: Vec<Value> = types.iter().map(|&ty| p.of_type(ty)).collect();
                let end = |values| if leaves { End::Break(0, values) } else { End::Continue(0, values) };
                let sides = [
                    p.region(&[], depth, |_, _| end(left)),
                    p.region(&[], depth, |_, _| End::Yield(Vec::new())),
                ];
                p.b.push_regions(Kind::If, &[cond], &[], sides.to_vec());
                p.steps(1, depth + 1);
            }
            let _ = values;
            End::Continue(0, types.iter().map(|&ty| p.of_type(ty)).collect())
        });
        let operands: Vec<Value> = [bounds[0], stop, bounds[2]].into_iter().chain(carried).collect();
        let made = self.b.push_regions(Kind::For, &operands, &types, vec![region]);
        made.into_iter().for_each(|value| self.keep(value));
        Some(())
    }

    fn steps(&mut self, count: u32, depth: u32) {
        for _ in 0..count {
            let _ = match self.rng.random_range(0..20) {
                0..7 => self.function(),
                7..9 => self.conversion(),
                9..13 => self.shape(),
                13..17 => self.combination(),
                17..18 if depth < 3 => self.branch(depth),
                18..20 if depth < 3 => self.repetition(depth),
                _ => None,
            };
        }
    }

    /// Stores the last values.
    fn outputs(&mut self) {
        let last: Vec<Value> = self.pool.iter().rev().take(4).copied().collect();
        for value in last {
            let ty = self.b.ty(value);
            let value = if ty.dims.rank() == 0 { self.b.reshape(value, &[1]).unwrap() } else { value };
            let dims = self.b.ty(value).dims;
            let extents: Vec<i64> = dims.iter().map(|&n| n.into()).collect();
            let array = zeros(ty.dtype, &extents);
            let known: Vec<Known> = extents.iter().map(|&n| Known::Is(n)).collect();
            let strides: Vec<Known> = array.strides.iter().map(|&n| Known::Is(n)).collect();
            let id =
                self.b.array(param(&format!("y{}", self.arrays.len()), ty.dtype, true, &known, &strides, 16));
            self.arrays.push(array);
            self.b.store(&Tiles::new(id, dims), &vec![int(0); dims.rank()], value.into()).unwrap();
        }
    }
}

/// The program of a seed, with its arguments.
pub(crate) fn program(seed: u64) -> (Func, Vec<ArrayData>, Vec<u64>) {
    let mut p = Program {
        b: Build::new("random"),
        rng: random(seed),
        pool: Vec::new(),
        arrays: Vec::new(),
        scalars: Vec::new(),
    };
    for i in 0..2 {
        let value =
            p.b.scalar(ScalarParam { name: format!("s{i}"), dtype: DType::S32, known: Known::MultipleOf(1) });
        p.pool.push(value);
        let bits = p.rng.random_range(0..10);
        p.scalars.push(bits);
    }
    let iota = p.b.iota(DType::S32, &[16]).unwrap();
    p.pool.push(iota);
    while p.arrays.len() < 3 {
        p.input();
    }
    let steps = p.rng.random_range(4..24);
    p.steps(steps, 0);
    p.outputs();
    (p.b.finish(), p.arrays, p.scalars)
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
