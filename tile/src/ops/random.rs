//! Random numbers that are functions of a seed and a number: the same arguments give the same number, in any order and on any device.
//!
//! The generator is Philox 4x32 with 10 rounds (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011). Its key is the
//! seed, its counter the element of an `offset` tile, both as 64 bits, the lower word first; the counter's upper half is 0. Neighbouring
//! offsets give independent numbers, so that an offset is any numbering of the elements that want one.
//!
//! ```
//! use girih_tensor::DType;
//! use girih_tile::dtype::Const;
//! use girih_tile::ir::Build;
//! use girih_tile::ops::Arg;
//!
//! let mut b = Build::new("k");
//! let offset = b.arange(DType::U32, 256, Const::Int(0), Const::Int(1))?;
//! let dropped = b.rand(Arg::Loose(Const::Int(42)), Arg::Value(offset))?;
//! assert_eq!(b.ty(dropped).to_string(), "f32[256]");
//! # Ok::<(), girih_tile::error::Fault>(())
//! ```

use girih_tensor::DType;

use super::Arg;
use super::table::Each;
use crate::dtype::is_integer;
use crate::error::{Code, Fault, bail, ensure};
use crate::ir::{Build, Rounding, Value};
use crate::math::emit::{Emit, X};

/// Factors of the two products of a round, and what is added to the key after one: the golden ratio and the root of 3, less 1.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// A u64 tile's lower and upper words.
fn split<'e, 'b>(x: X<'e, 'b>) -> [X<'e, 'b>; 2] {
    let upper = x >> 32;
    [x, upper].map(|word| word.cast(DType::U32))
}

/// A number from 0 to 1, without 1, of the upper 24 bits of words; or without 0 and with 1.
fn unit<'e, 'b>(word: X<'e, 'b>, with_one: bool) -> X<'e, 'b> {
    let bits = word >> 8;
    let bits = if with_one { bits + 1 } else { bits };
    bits.cast(DType::F32) * 2f64.powi(-24)
}

impl Build {
    /// Philox 4x32-10 of a counter and a key, u32 tiles of one shape.
    ///
    /// # Errors
    /// [`Code::Shape`] for tiles of another dtype or of different shapes.
    pub fn philox(&mut self, counter: [Value; 4], key: [Value; 2]) -> Result<[Value; 4], Fault> {
        let ty = self.ty(counter[0]);
        if let Some(&other) =
            counter.iter().chain(&key).find(|&&value| self.ty(value) != ty || ty.dtype != DType::U32)
        {
            bail!(
                Code::Shape,
                "`philox` of {ty} and {}: u32 tiles of one shape are accepted",
                self.ty(other)
            );
        }
        let e = Emit::new(self, DType::U32, ty.dims);
        let ([mut a, mut b, mut c, mut d], [mut k0, mut k1]) =
            (counter.map(|value| e.x(value)), key.map(|value| e.x(value)));
        let [f0, f1] = FACTORS.map(|n| e.n(DType::U32, n));
        let [s0, s1] = STEPS.map(|n| e.n(DType::U32, n));
        for round in 0..10 {
            if round > 0 {
                (k0, k1) = (k0 + s0, k1 + s1);
            }
            let (high0, low0) = (a.op(Each::MulHi, f0), a * f0);
            let (high1, low1) = (c.op(Each::MulHi, f1), c * f1);
            a = high1 ^ b ^ k0;
            c = high0 ^ d ^ k1;
            (b, d) = (low1, low0);
        }
        Ok([a, b, c, d].map(|x| x.value))
    }

    /// Four tiles of random u32 for a seed, an integer scalar or tile, and a tile of integers that number the elements.
    ///
    /// # Errors
    /// [`Code::FloatInputUnsupported`] for a seed or offsets that are no integers, [`Code::Broadcast`].
    pub fn randint4(&mut self, seed: Arg, offset: Arg) -> Result<[Value; 4], Fault> {
        let mut values = [self.value(seed)?, self.value(offset)?];
        let types = values.map(|value| self.ty(value));
        ensure!(
            !types.iter().any(|ty| !is_integer(ty.dtype)),
            Code::FloatInputUnsupported,
            "random numbers of a seed {} and offsets {}: integers are accepted",
            types[0],
            types[1]
        );
        let dims = super::broadcast(types[0].dims, types[1].dims)?;
        for value in &mut values {
            *value = self.cast(*value, DType::U64, Rounding::Nearest)?;
            *value = self.broadcast_to(*value, dims)?;
        }
        let e = Emit::new(self, DType::U32, dims);
        let [key, [low, high]] = values.map(|value| split(e.x(value)).map(|word| word.value));
        let zero = e.n(DType::U32, 0).value;
        self.philox([low, high, zero, zero], key)
    }

    /// Random u32, equally likely.
    ///
    /// # Errors
    /// As [`Build::randint4`].
    pub fn randint(&mut self, seed: Arg, offset: Arg) -> Result<Value, Fault> {
        Ok(self.randint4(seed, offset)?[0])
    }

    /// Random f32 from 0 to 1, without 1, in steps of 2^-24.
    ///
    /// # Errors
    /// As [`Build::randint4`].
    pub fn rand(&mut self, seed: Arg, offset: Arg) -> Result<Value, Fault> {
        let word = self.randint4(seed, offset)?[0];
        let dims = self.ty(word).dims;
        Ok(unit(Emit::new(self, DType::F32, dims).x(word), false).value)
    }

    /// Random f32 of the normal distribution of mean 0 and variance 1, by Box and Muller's transform of the first two words: the root of
    /// `-2 ln(u)`, for u from 0 to 1 without 0, times the cosine of a turn. No number is beyond 5.8.
    ///
    /// # Errors
    /// As [`Build::randint4`].
    pub fn randn(&mut self, seed: Arg, offset: Arg) -> Result<Value, Fault> {
        let [first, second, ..] = self.randint4(seed, offset)?;
        let dims = self.ty(first).dims;
        let e = Emit::new(self, DType::F32, dims);
        let u = unit(e.x(first), true);
        let cosine = e.x(second).cosine_of_turn();
        let radius = (u.map(Each::Log) * -2.0).map(Each::Sqrt);
        Ok((radius * cosine).value)
    }
}
