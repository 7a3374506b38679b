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
use crate::dtype::{Const, is_integer};
use crate::error::{Code, Fault};
use crate::ir::{Build, Dims, Kind, Nan, Overflow, Rounding, Type, Value};
use crate::math;

/// Factors of the two products of a round, and what is added to the key after one: the golden ratio and the root of 3, less 1.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Operations on u32 tiles of one shape.
struct Words<'a> {
    b: &'a mut Build,
    dims: Dims,
}

impl Words<'_> {
    fn op(&mut self, op: Each, dtype: DType, args: &[Value]) -> Value {
        let kind = Kind::Each {
            op,
            rounding: Rounding::Nearest,
            ftz: false,
            nan: Nan::Ignored,
            overflow: Overflow::Wraps,
        };
        self.b.push1(kind, args, Type { dtype, dims: self.dims })
    }

    fn c(&mut self, n: u32) -> Value {
        self.b.full(DType::U32, self.dims, Const::Int(n.into()))
    }

    /// A u64 tile's lower and upper words.
    fn split(&mut self, x: Value) -> [Value; 2] {
        let shift = self.b.full(DType::U64, self.dims, Const::Int(32));
        let upper = self.op(Each::Shr, DType::U64, &[x, shift]);
        [x, upper].map(|word| {
            self.b.push1(Kind::Cast(Rounding::Nearest), &[word], Type { dtype: DType::U32, dims: self.dims })
        })
    }

    /// A number from 0 to 1, without 1, of the upper 24 bits of words; or without 0 and with 1.
    fn unit(&mut self, word: Value, with_one: bool) -> Value {
        let eight = self.c(8);
        let mut bits = self.op(Each::Shr, DType::U32, &[word, eight]);
        if with_one {
            let one = self.c(1);
            bits = self.op(Each::Add, DType::U32, &[bits, one]);
        }
        let ty = Type { dtype: DType::F32, dims: self.dims };
        let x = self.b.push1(Kind::Cast(Rounding::Nearest), &[bits], ty);
        let scale = self.b.full(DType::F32, self.dims, Const::Float(2f64.powi(-24)));
        self.op(Each::Mul, DType::F32, &[x, scale])
    }
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
            return Err(Fault::new(
                Code::Shape,
                format!("`philox` of {ty} and {}: u32 tiles of one shape are accepted", self.ty(other)),
            ));
        }
        let mut w = Words { b: self, dims: ty.dims };
        let ([mut a, mut b, mut c, mut d], [mut k0, mut k1]) = (counter, key);
        let [f0, f1] = FACTORS.map(|n| w.c(n));
        let [s0, s1] = STEPS.map(|n| w.c(n));
        let u32s = DType::U32;
        for round in 0..10 {
            if round > 0 {
                k0 = w.op(Each::Add, u32s, &[k0, s0]);
                k1 = w.op(Each::Add, u32s, &[k1, s1]);
            }
            let (high0, low0) = (w.op(Each::MulHi, u32s, &[a, f0]), w.op(Each::Mul, u32s, &[a, f0]));
            let (high1, low1) = (w.op(Each::MulHi, u32s, &[c, f1]), w.op(Each::Mul, u32s, &[c, f1]));
            let mixed = w.op(Each::Xor, u32s, &[high1, b]);
            a = w.op(Each::Xor, u32s, &[mixed, k0]);
            let mixed = w.op(Each::Xor, u32s, &[high0, d]);
            c = w.op(Each::Xor, u32s, &[mixed, k1]);
            (b, d) = (low1, low0);
        }
        Ok([a, b, c, d])
    }

    /// Four tiles of random u32 for a seed, an integer scalar or tile, and a tile of integers that number the elements.
    ///
    /// # Errors
    /// [`Code::FloatInputUnsupported`] for a seed or offsets that are no integers, [`Code::Broadcast`].
    pub fn randint4(&mut self, seed: Arg, offset: Arg) -> Result<[Value; 4], Fault> {
        let mut values = [self.value(seed)?, self.value(offset)?];
        let types = values.map(|value| self.ty(value));
        if types.iter().any(|ty| !is_integer(ty.dtype)) {
            return Err(Fault::new(
                Code::FloatInputUnsupported,
                format!(
                    "random numbers of a seed {} and offsets {}: integers are accepted",
                    types[0], types[1]
                ),
            ));
        }
        let dims = super::broadcast(types[0].dims, types[1].dims)?;
        for value in &mut values {
            *value = self.cast(*value, DType::U64, Rounding::Nearest)?;
            *value = self.broadcast_to(*value, dims)?;
        }
        let mut words = Words { b: self, dims };
        let key = words.split(values[0]);
        let [low, high] = words.split(values[1]);
        let zero = words.c(0);
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
        Ok(Words { b: self, dims }.unit(word, false))
    }

    /// Random f32 of the normal distribution of mean 0 and variance 1, by Box and Muller's transform of the first two words: the root of
    /// `-2 ln(u)`, for u from 0 to 1 without 0, times the cosine of a turn. No number is beyond 5.8.
    ///
    /// # Errors
    /// As [`Build::randint4`].
    pub fn randn(&mut self, seed: Arg, offset: Arg) -> Result<Value, Fault> {
        let [first, second, ..] = self.randint4(seed, offset)?;
        let dims = self.ty(first).dims;
        let u = Words { b: self, dims }.unit(first, true);
        let cosine = math::cosine_of_turn(self, second);
        let mut words = Words { b: self, dims };
        let log = words.op(Each::Log, DType::F32, &[u]);
        let factor = words.b.full(DType::F32, dims, Const::Float(-2.0));
        let square = words.op(Each::Mul, DType::F32, &[log, factor]);
        let radius = words.op(Each::Sqrt, DType::F32, &[square]);
        Ok(words.op(Each::Mul, DType::F32, &[radius, cosine]))
    }
}
