//! Random numbers.

use super::operand::IntoItem;
use super::{Fill, Tile};
use crate::elem::Integer;
use crate::stage::apply;

macro_rules! random {
    ($($name:ident $out:ty, $doc:literal;)*) => { $(
        #[doc = $doc]
        #[track_caller]
        #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
        pub fn $name<T: Integer>(seed: impl Fill, offset: Tile<T>) -> Tile<$out> {
            let operands = [seed.fill(), offset.item()];
            Tile::of(apply(stringify!($name), &operands, |build, args| build.$name(args[0], args[1])))
        }
    )* };
}
random! {
    rand f32, "Random f32 from 0 to 1, without 1. The number is a function of the seed and the offset, an integer that numbers the element ([`ops::random`](crate::ops::random)).";
    randn f32, "Random f32 of the normal distribution of mean 0 and variance 1, as [`rand()`].";
    randint u32, "Random u32, equally likely, as [`rand()`].";
}
