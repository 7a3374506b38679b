//! Products, reductions, scans and sorts of random programs.

use girih_tensor::DType;
use girih_tile::dtype;
use girih_tile::dtype::{Category, Const, category};
use girih_tile::ir::{Dims, Rounding, Type, Value};
use girih_tile::ops::reduce::{Axes, Reduce, Reduction};
use girih_tile::ops::scan::{Running, Scan};
use girih_tile::ops::table::Each;
use rand::RngExt;

use super::{Program, SIZE, int};
use crate::lower::products::PAIRS;

impl Program {
    /// A product of a value and another one that fits, of which all factors are small integers.
    pub(super) fn product(&mut self) -> Option<()> {
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

    pub(super) fn combination(&mut self) -> Option<()> {
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
        if self.b.ty(value).dtype.is_integer() && self.rng.random_range(0..3) == 0 {
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
}
