//! Random numbers.

use super::operand::IntoItem;
use super::{Fill, Tile};
use crate::elem::Integer;
use crate::error::Fault;
use crate::ir::{Build, Value};
use crate::ops::Arg;
use crate::stage::apply;

#[track_caller]
fn random<T: Integer, R>(
    name: &str,
    seed: impl Fill,
    offset: Tile<T>,
    f: impl FnOnce(&mut Build, Arg, Arg) -> Result<Value, Fault>,
) -> Tile<R> {
    Tile::of(apply(name, &[seed.fill(), offset.item()], |build, args| f(build, args[0], args[1])))
}

/// Random f32 from 0 to 1, without 1. The number is a function of the seed and the offset, an integer that numbers the element
/// ([`ops::random`](crate::ops::random)).
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn rand<T: Integer>(seed: impl Fill, offset: Tile<T>) -> Tile<f32> {
    random("rand", seed, offset, Build::rand)
}

/// Random f32 of the normal distribution of mean 0 and variance 1, as [`rand()`].
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn randn<T: Integer>(seed: impl Fill, offset: Tile<T>) -> Tile<f32> {
    random("randn", seed, offset, Build::randn)
}

/// Random u32, equally likely, as [`rand()`].
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn randint<T: Integer>(seed: impl Fill, offset: Tile<T>) -> Tile<u32> {
    random("randint", seed, offset, Build::randint)
}
