//! Conditions and loops of random programs.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Dims, End, Kind, RegionId, Type, Value};
use girih_tile::ops::table::Each;
use rand::RngExt;

use super::{Program, int};

impl Program {
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

    pub(super) fn branch(&mut self, depth: u32) -> Option<()> {
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

    pub(super) fn repetition(&mut self, depth: u32) -> Option<()> {
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
    pub(super) fn endless(&mut self, depth: u32) -> Option<()> {
        let number = Type::scalar(DType::S32);
        let zero = self.b.full(DType::S32, Dims::SCALAR, Const::Int(0));
        let carried: Vec<Value> =
            [zero].into_iter().chain((0..self.rng.random_range(1..3)).map(|_| self.any())).collect();
        let types: Vec<Type> = carried.iter().map(|&value| self.b.ty(value)).collect();
        let iterations = match self.like(|ty| ty == number) {
            Some(value) if self.rng.random() => self.each(Each::And, &[value.into(), int(3)])?,
            _ => self.b.full(DType::S32, Dims::SCALAR, Const::Int(self.rng.random_range(0..4))),
        };
        let region = self.region(&types, depth, |p, values| {
            let over = p.each(Each::GreaterEqual, &[values[0].into(), iterations.into()]);
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
}
