//! What random programs compute of elements, one by one or moved.

use girih_tensor::DType;
use girih_tile::dtype::{Category, Const, category};
use girih_tile::ir::{ArrayId, Dims, Known, Padding, Rounding, Type};
use girih_tile::ops::Arg;
use girih_tile::ops::indexed::Elements;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile_reference::ArrayData;
use rand::RngExt;

use super::{DTYPES, Program, SIZE, int};
use crate::lower::memory::param;

impl Program {
    pub(super) fn input(&mut self) {
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
                let n = if dtype.is_integer() && !dtype.is_signed() { n.abs() } else { n };
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
    pub(super) fn access(&mut self) -> Option<()> {
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

    pub(super) fn function(&mut self) -> Option<()> {
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

    pub(super) fn conversion(&mut self) -> Option<()> {
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

    pub(super) fn shape(&mut self) -> Option<()> {
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
}
