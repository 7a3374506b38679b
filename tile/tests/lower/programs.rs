//! Random programs: functions, broadcasts, products of matrices, reductions, scans, sorts, permutations, reshapes, parts, gathers, loops and
//! conditions, whose results do not depend on the order of sums: integers, and floats that are small integers.

use girih_tensor::DType;
use girih_tile::dtype::{self, Category, Const, category, is_integer};
use girih_tile::hints::Hint;
use girih_tile::ir::{
    ArrayId, Build, Dims, End, Func, Kind, Known, Padding, RegionId, Rounding, ScalarParam, Type, Value,
};
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
use super::products::PAIRS;
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
        let tiles = Tiles { padding: Padding::Zero, ..Tiles::new(id, dims) };
        if let Ok(value) = self.b.load(&tiles, &vec![int(0); shape.len()]) {
            self.pool.push(value);
        }
        self.inputs.push((id, shape.len()));
    }

    /// Elements, or a tile of a part, of an array that is read.
    fn access(&mut self) -> Option<()> {
        let inputs = self.inputs.clone();
        let (array, rank) = self.one_of(&inputs);
        if self.rng.random_range(0..3) > 0 {
            return self.gather(array, rank);
        }
        let scalar = |p: &mut Program| match p.like(|ty| ty.dims.rank() == 0 && ty.dtype == DType::S32) {
            Some(value) if p.rng.random() => p.each(Each::Mod, &[value.into(), int(9)]).map(Arg::Value),
            _ => Some(int(p.rng.random_range(-2..9))),
        };
        let (start, stop) = (scalar(self)?, scalar(self)?);
        let axis = self.rng.random_range(0..rank) as i64;
        let part = self.b.array_slice(array, axis, start, stop).ok()?;
        let tile: Vec<u32> = (0..rank).map(|_| self.one_of(&[1u32, 2, 3, 4, 8])).collect();
        let index: Vec<Arg> = (0..rank).map(|_| scalar(self)).collect::<Option<_>>()?;
        let tiles = Tiles { padding: Padding::Zero, ..Tiles::new(part, Dims::new(&tile)?) };
        let value = self.b.load(&tiles, &index).ok()?;
        self.keep(value);
        Some(())
    }

    fn gather(&mut self, array: ArrayId, rank: usize) -> Option<()> {
        let index = |ty: Type| matches!(ty.dtype, DType::S32 | DType::S64 | DType::S16);
        let indices: Vec<Arg> = (0..rank)
            .map(|_| match self.like(|ty| index(ty) && ty.dims.size() <= 64) {
                Some(value) => value.into(),
                None => int(1),
            })
            .collect();
        let mut dims = Dims::SCALAR;
        for &arg in &indices {
            if let Arg::Value(value) = arg {
                dims = girih_tile::ops::broadcast(dims, self.b.ty(value).dims).ok()?;
            }
        }
        let mask = self.like(|ty| {
            ty.dtype == DType::Bool && girih_tile::ops::broadcast(dims, ty.dims).is_ok_and(|all| all == dims)
        });
        let mask = mask.filter(|_| self.rng.random()).map(Arg::Value);
        if dims.size() > SIZE {
            return None;
        }
        let value = self.b.gather(&Elements::new(array), &indices, mask, Some(int(2))).ok()?;
        self.keep(value);
        Some(())
    }

    fn function(&mut self) -> Option<()> {
        let a = self.any();
        let ty = self.b.ty(a);
        let same = self.like(|other| {
            other.dtype == ty.dtype && girih_tile::ops::broadcast(other.dims, ty.dims).is_ok()
        })?;
        if self.rng.random_range(0..8) == 0
            && let Some(cond) = self.like(|other| {
                other.dtype == DType::Bool && girih_tile::ops::broadcast(other.dims, ty.dims).is_ok()
            })
        {
            let value = self.each(Each::Select, &[cond.into(), a.into(), same.into()])?;
            self.keep(value);
            return Some(());
        }
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
        let made = match self.rng.random_range(0..10) {
            8 => {
                let ty = self.b.ty(value);
                let part = self.like(|other| {
                    other.dtype == ty.dtype
                        && other.dims.rank() == rank
                        && other.dims.iter().zip(dims.iter()).all(|(p, n)| n % p == 0)
                })?;
                let parts = self.b.ty(part).dims;
                let index: Vec<i64> = dims
                    .iter()
                    .zip(parts.iter())
                    .map(|(n, p)| self.rng.random_range(0..i64::from(n / p)))
                    .collect();
                self.b.insert(value, &index, part)
            }
            9 => {
                let values: Vec<Const> = (0..self.one_of(&[1, 2, 3, 8, 12]))
                    .map(|_| Const::Int(self.rng.random_range(0..9)))
                    .collect();
                let dtype = self.one_of(&DTYPES);
                self.b.dense(dtype, &[values.len() as i64], &values)
            }
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

    /// A product of a value and another one that fits, of which all factors are small integers.
    fn product(&mut self) -> Option<()> {
        let (left, right) = self.one_of(&PAIRS);
        let sum = self.one_of(dtype::sums(left, right));
        let matrix = |ty: Type| (2..=3).contains(&ty.dims.rank());
        let a = match self.like(matrix) {
            Some(value) => value,
            None => {
                let value = self.any();
                let size = self.b.ty(value).dims.size() as i64;
                self.b.reshape(value, &[1, size]).ok()?
            }
        };
        let dims = self.b.ty(a).dims;
        let k = dims[dims.rank() - 1];
        // f16 has integers up to 2048.
        if k > 64 || sum == DType::F16 && k > 16 {
            return None;
        }
        let fits = |ty: Type| {
            let (x, y) = (dims.rank(), ty.dims.rank());
            matrix(ty)
                && ty.dims[y - 2] == k
                && (x == 2 || y == 2 || x == y && ty.dims[0].min(dims[0]) == 1 || ty.dims[0] == dims[0])
        };
        let b = match self.like(fits) {
            Some(value) if self.rng.random_range(0..3) > 0 => value,
            _ => {
                let rank = dims.rank() as i64;
                self.b.transpose(a, Some((rank - 2, rank - 1))).ok()?
            }
        };
        let [a, b] = [self.small(a, left)?, self.small(b, right)?];
        if self.rng.random_range(0..3) == 0 {
            let value = self.b.matmul(a, b).ok()?;
            self.keep(value);
            return Some(());
        }
        let (x, y) = (self.b.ty(a).dims, self.b.ty(b).dims);
        let [m, n] = [x[x.rank() - 2], y[y.rank() - 1]];
        let batch = [x, y].iter().filter(|dims| dims.rank() == 3).map(|dims| dims[0]).max();
        let dims: Vec<u32> = batch.into_iter().chain([m, n]).collect();
        let dims = Dims::new(&dims).filter(|dims| dims.size() <= SIZE)?;
        let acc = self.of_type(Type { dtype: sum, dims });
        let value = self.b.mma(a, b, acc).ok()?;
        self.keep(value);
        Some(())
    }

    /// A value as small integers of a dtype.
    fn small(&mut self, value: Value, to: DType) -> Option<Value> {
        let small = match category(self.b.ty(value).dtype) {
            Category::Integer => self.each(Each::And, &[value.into(), int(7)])?,
            Category::Float if to == DType::U8 => self.each(Each::Max, &[value.into(), int(0)])?,
            _ => value,
        };
        self.b.cast(small, to, Rounding::Nearest).ok()
    }

    fn combination(&mut self) -> Option<()> {
        let value = self.any();
        let dims = self.b.ty(value).dims;
        if dims.rank() == 0 {
            return None;
        }
        let axis = self.rng.random_range(0..dims.rank());
        let float = self.b.ty(value).dtype.is_float();
        match self.rng.random_range(0..8) {
            0 => return self.sorted(value, axis as i64),
            1 => return self.region_of_pairs(value, axis as i64),
            _ => {}
        }
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

    fn sorted(&mut self, value: Value, axis: i64) -> Option<()> {
        let descending = self.rng.random();
        if is_integer(self.b.ty(value).dtype) && self.rng.random_range(0..3) == 0 {
            let counts = self.b.histogram(value, self.rng.random_range(1..20)).ok()?;
            self.keep(counts);
            return Some(());
        }
        let made = if self.rng.random() {
            self.b.sort(&[value], axis, descending).ok()?.swap_remove(0)
        } else {
            self.b.argsort(value, axis, descending).ok()?
        };
        self.keep(made);
        Some(())
    }

    /// A combination of one's own of two tiles: the least, and with it the last of what stands beside the equal ones.
    fn region_of_pairs(&mut self, value: Value, axis: i64) -> Option<()> {
        let ty = self.b.ty(value);
        if ty.dtype == DType::Bool {
            return None;
        }
        let beside = self.like(|other| other.dims == ty.dims && other.dtype != DType::Bool)?;
        // What changes nothing is beyond all elements.
        let most = 127;
        let near = self.each(Each::Min, &[value.into(), int(most - 1)])?;
        let both = [near, beside];
        let (l, r) = self.b.open_combine(&both);
        let made = (|| {
            let less = self.each(Each::Less, &[l[0].into(), r[0].into()])?;
            let least = self.each(Each::Select, &[less.into(), l[0].into(), r[0].into()])?;
            let with = self.each(Each::Select, &[less.into(), l[1].into(), r[1].into()])?;
            Some([least, with])
        })();
        let made = made.unwrap_or([l[0], l[1]]);
        let region = self.b.close_combine(&both, &made).ok()?;
        let identity = [Const::Int(most), Const::Int(0)];
        let made = if self.rng.random() {
            self.b.reduce_by(&both, axis, &identity, region, Reduce::default())
        } else {
            let how = Scan { reverse: self.rng.random(), exclusive: self.rng.random(), ..Scan::default() };
            self.b.scan_by(&both, axis, &identity, region, how)
        };
        made.ok()?.into_iter().for_each(|value| self.keep(value));
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

    /// A loop that ends by a count of its own.
    fn endless(&mut self, depth: u32) -> Option<()> {
        let number = Type::scalar(DType::S32);
        let zero = self.b.full(DType::S32, Dims::SCALAR, Const::Int(0));
        let carried: Vec<Value> =
            [zero].into_iter().chain((0..self.rng.random_range(1..3)).map(|_| self.any())).collect();
        let types: Vec<Type> = carried.iter().map(|&value| self.b.ty(value)).collect();
        let turns = match self.like(|ty| ty == number) {
            Some(value) if self.rng.random() => self.each(Each::And, &[value.into(), int(3)])?,
            _ => self.b.full(DType::S32, Dims::SCALAR, Const::Int(self.rng.random_range(0..4))),
        };
        let region = self.region(&types, depth, |p, values| {
            let over = p.each(Each::GreaterEqual, &[values[0].into(), turns.into()]);
            let next = p.each(Each::Add, &[values[0].into(), int(1)]);
            let (Some(over), Some(next)) = (over, next) else {
                return End::Break(0, values.to_vec());
            };
            let end = |p: &mut Program, first: Value| -> Vec<Value> {
                [first].into_iter().chain(types[1..].iter().map(|&ty| p.of_type(ty))).collect()
            };
            let left = end(p, values[0]);
            let sides = [
                p.region(&[], depth, |_, _| End::Break(0, left)),
                p.region(&[], depth, |_, _| End::Yield(Vec::new())),
            ];
            p.b.push_regions(Kind::If, &[over], &[], sides.to_vec());
            p.steps(2, depth + 1);
            End::Continue(0, end(p, next))
        });
        let made = self.b.push_regions(Kind::Loop, &carried, &types, vec![region]);
        made.into_iter().for_each(|value| self.keep(value));
        Some(())
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
