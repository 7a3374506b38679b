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

use girih_codegen::algorithm::math;
use girih_tensor::DType;

use super::Arg;
use crate::error::Fault;
use crate::ir::{Build, Rounding, Type, Value};
use crate::math::Writer;

impl Build {
    /// Philox 4x32-10 of a counter and a key, u32 tiles of one shape.
    ///
    /// # Errors
    /// [`Fault::Philox`] for tiles of another dtype or of different shapes.
    pub fn philox(&mut self, counter: [Value; 4], key: [Value; 2]) -> Result<[Value; 4], Fault> {
        let ty = self.ty(counter[0]);
        let mut words = counter.iter().chain(&key).map(|&value| self.ty(value));
        if let Some(other) = words.find(|&other| other != ty || ty.dtype != DType::U32) {
            return Err(Fault::Philox { words: [ty, other] });
        }
        let e = Writer::new(self, DType::U32, ty.dims);
        let (counter, key) = (counter.map(|value| e.x(value)), key.map(|value| e.x(value)));
        Ok(math::philox(counter, key).map(|x| x.value))
    }

    /// Four tiles of random u32 for a seed, an integer scalar or tile, and a tile of integers that number the elements.
    ///
    /// # Errors
    /// [`Fault::FloatInputUnsupported`] for a seed or offsets that are no integers, [`Fault::Broadcast`].
    pub fn randint4(&mut self, seed: Arg, offset: Arg) -> Result<[Value; 4], Fault> {
        let mut values = [self.value(seed)?, self.value(offset)?];
        let types = values.map(|value| self.ty(value));
        if let Some(&Type { dtype, .. }) = types.iter().find(|ty| !ty.dtype.is_integer()) {
            return Err(Fault::FloatInputUnsupported { operation: "rand", dtype });
        }
        let dims = super::broadcast(types[0].dims, types[1].dims)?;
        for value in &mut values {
            *value = self.cast(*value, DType::U64, Rounding::Nearest)?;
            *value = self.broadcast_to(*value, dims)?;
        }
        let e = Writer::new(self, DType::U32, dims);
        let [key, [low, high]] = values.map(|value| {
            // The lower and the upper word.
            let (x, upper) = (e.x(value), e.x(value) >> 32);
            [x, upper].map(|word| word.cast(DType::U32).value)
        });
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
        Ok(math::unit(Writer::new(self, DType::F32, dims).x(word), false).value)
    }

    /// Random f32 of the normal distribution of mean 0 and variance 1, by Box and Muller's transform of the first two words: the root of
    /// `-2 ln(u)`, for u from 0 to 1 without 0, times the cosine of a turn. No number is beyond 5.8.
    ///
    /// # Errors
    /// As [`Build::randint4`].
    pub fn randn(&mut self, seed: Arg, offset: Arg) -> Result<Value, Fault> {
        let [first, second, ..] = self.randint4(seed, offset)?;
        let dims = self.ty(first).dims;
        let e = Writer::new(self, DType::F32, dims);
        Ok(math::normal(e.x(first), e.x(second)).value)
    }
}
