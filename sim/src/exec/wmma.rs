//! `wmma.load`, `wmma.store`, `wmma.mma` (PTX ISA, "Warp Level Matrix Instructions using wmma").
//!
//! The ISA leaves open which lane holds which element. Here element `e` of a fragment, counted line by line (A by rows,
//! B by columns, C and D by rows), is at place `e % n` of lane `e / n`, where `n` is the number of elements that a lane
//! holds. Where the lanes hold more than the fragment has, the elements are repeated. This does not depend on the
//! layout in memory, so that a fragment loaded as `.row` and multiplied as `.col`, which is undefined, goes unnoticed.
//!
//! Sums are as those of `mma.sync`: exact products are added to C in f32 or f64 from k = 0 up, and sums of integers are
//! exact.

use girih_ptx::Type;

use crate::Nearest;
use crate::float::{Bfloat, Half, Narrow, Round, canon, exact};
use crate::lanes::{File, Regs, WARP};
use crate::op::{Fragment, Tile, WmmaMma};
use crate::shadow::{Touch, Who};
use crate::space::resolve;
use crate::{Access, Error, Space};

use super::access::{count_touched, touch};
use super::bounds::misaligned;
use super::context::Context;
use super::warp::Warp;

impl Fragment {
    fn bits(&self) -> usize {
        self.ty.bits().unwrap_or(32) as usize
    }

    /// The number of elements in a register.
    fn per(&self) -> usize {
        let register = if self.regs.first().is_some_and(|reg| reg.file == File::W64) { 64 } else { 32 };
        register / self.bits()
    }

    /// The number of elements that a lane holds.
    fn held(&self) -> usize {
        self.per() * self.regs.len()
    }

    fn elements(&self) -> usize {
        self.lines * self.width
    }

    /// The bits of element `e`.
    fn get(&self, regs: &Regs, e: usize) -> u64 {
        let (lane, place) = (e / self.held(), e % self.held());
        let word = regs.get(self.regs[place / self.per()], lane);
        word >> (place % self.per() * self.bits()) & u64::MAX >> (64 - self.bits())
    }

    /// Sets the element at a place of a lane.
    fn set(&self, regs: &mut Regs, lane: usize, place: usize, value: u64) {
        let (reg, shift) = (self.regs[place / self.per()], place % self.per() * self.bits());
        let mask = u64::MAX >> (64 - self.bits()) << shift;
        let word = regs.get(reg, lane) & !mask | value << shift & mask;
        regs.set(reg, lane, word);
    }

    fn load<T>(&self, regs: &Regs, value: impl Fn(u64) -> T) -> Vec<T> {
        (0..self.elements()).map(|e| value(self.get(regs, e))).collect()
    }

    fn float(&self, bits: u64) -> f32 {
        match self.ty {
            Type::F16 => Half(bits as u16).value(),
            Type::Bf16 => Bfloat(bits as u16).value(),
            Type::Tf32 => f32::from_bits(bits as u32 & 0xffff_e000),
            _ => f32::from_bits(bits as u32),
        }
    }

    fn integer(&self, bits: u64) -> i64 {
        match self.ty {
            Type::S8 => (bits as i8).into(),
            Type::S4 => (bits << 60) as i64 >> 60,
            Type::S32 => (bits as i32).into(),
            _ => bits as i64,
        }
    }
}

/// Stores the sums of C and the products of A's rows and B's columns in D.
fn products<T: Copy, S: Copy>(
    regs: &mut Regs,
    mma: &WmmaMma,
    value: impl Fn(&Fragment, u64) -> T,
    start: impl Fn(&Fragment, u64) -> S,
    add: impl Fn(S, T, T) -> S,
    bits: impl Fn(S) -> u64,
) {
    let (a, b) = (mma.a.load(regs, |x| value(&mma.a, x)), mma.b.load(regs, |x| value(&mma.b, x)));
    let mut sums = mma.c.load(regs, |x| start(&mma.c, x));
    let k = mma.a.width;
    for (e, sum) in sums.iter_mut().enumerate() {
        let (row, column) = (e / mma.c.width, e % mma.c.width);
        let pairs = a[row * k..][..k].iter().zip(&b[column * k..][..k]);
        *sum = pairs.fold(*sum, |sum, (&a, &b)| add(sum, a, b));
    }
    for lane in 0..WARP {
        for place in 0..mma.d.held() {
            let sum = sums[(lane * mma.d.held() + place) % mma.d.elements()];
            mma.d.set(regs, lane, place, bits(sum));
        }
    }
}

/// `wmma.mma`.
pub(super) fn multiply(regs: &mut Regs, mma: &WmmaMma) {
    match mma.d.ty {
        Type::F64 => products(
            regs,
            mma,
            |_, bits| f64::from_bits(bits),
            |_, bits| f64::from_bits(bits),
            |sum, a, b| match mma.round {
                Round::Nearest => a.mul_add(b, sum),
                round => exact::fma(a, b, sum, exact::F64, round),
            },
            f64::to_bits,
        ),
        Type::S32 => products(
            regs,
            mma,
            Fragment::integer,
            Fragment::integer,
            |sum, a, b| match (mma.a.ty, mma.and) {
                (Type::B1, true) => sum + (a & b),
                (Type::B1, false) => sum + (a ^ b),
                _ => sum + a * b,
            },
            |sum| {
                (if mma.saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }) as u32 as u64
            },
        ),
        ty => products(
            regs,
            mma,
            Fragment::float,
            Fragment::float,
            |sum, a, b| sum + a * b,
            |sum| match ty {
                Type::F16 => Half::rounded(sum.into(), Round::Nearest).bits().into(),
                _ => canon(sum).to_bits().into(),
            },
        ),
    }
}

impl Warp {
    /// `wmma.load`, `wmma.store`: all lanes together load or store a fragment.
    pub(super) fn wmma(&mut self, cx: &mut Context<'_>, tile: &Tile, source: u32) -> Result<(), Error> {
        let (base, stride) = self.place_of(cx, tile, source)?;
        let fragment = &tile.fragment;
        let (bits, held) = (fragment.bits() as u64, fragment.held());
        let mut touched = 0;
        // A store writes each element once, though lanes may hold copies; a load sets all copies.
        let places = if tile.load { WARP * held } else { fragment.elements() };
        for place in 0..places {
            let e = place % fragment.elements();
            let (line, at) = ((e / fragment.width) as u64, (e % fragment.width) as u64);
            let offset = if tile.along { line * stride + at } else { at * stride + line } * bits;
            let who = Who { warp: self.index, lane: (place / held) as u32, source };
            let (space, address) = resolve(tile.space, base.wrapping_add(offset / 8));
            touched |= touch(space);
            let bytes = bits.div_ceil(8) as u32;
            let access = if tile.load { Access::Read } else { Access::Write };
            self.check_within(cx, &tile.address, (who, access, space, address), bytes)?;
            if tile.load {
                let value = self.read(cx, who, (space, address), bytes, Touch::Read)? as u64 >> (offset % 8);
                fragment.set(&mut self.regs, place / held, place % held, value);
            } else {
                let value = fragment.get(&self.regs, e).to_le_bytes();
                self.write(cx, who, (space, address), &value[..bytes as usize], None)?;
            }
        }
        count_touched(cx, touched);
        Ok(())
    }

    /// The address and the stride (in elements) of a fragment in memory; all lanes must have the same, and both must be
    /// aligned.
    fn place_of(&self, cx: &Context<'_>, tile: &Tile, source: u32) -> Result<(u64, u64), Error> {
        let fragment = &tile.fragment;
        let bits = fragment.bits() as u64;
        let packed = if tile.along { fragment.width } else { fragment.lines };
        let stride = |lane| tile.stride.map_or(packed as u64, |reg| self.regs.get(reg, lane));
        let first = (self.address(&tile.address, 0), stride(0));
        for lane in 1..WARP {
            let who = Who { warp: self.index, lane: lane as u32, source };
            let found = (self.address(&tile.address, lane), stride(lane));
            if found != first {
                let (what, value, same) = match found.0 == first.0 {
                    true => ("stride of the matrix", found.1, first.1),
                    false => ("address of the matrix", found.0, first.0),
                };
                let accepted = format!("{same}, as in the other lanes");
                return Err(Error::BadValue { at: cx.at(who), what, value, accepted });
            }
        }
        // Each line must be aligned as the part of a fragment that a lane holds, but to no more than 16 bytes.
        let alignment = (fragment.held() as u64 * bits / 8).min(16);
        let who = Who { warp: self.index, lane: 0, source };
        let access = if tile.load { Access::Read } else { Access::Write };
        let (space, address) = resolve(tile.space, first.0);
        if !address.is_multiple_of(alignment) {
            return Err(misaligned(cx, who, access, space, address, alignment as u32));
        }
        let step = alignment * 8 / bits;
        if !first.1.is_multiple_of(step) {
            let accepted = format!("a multiple of {step} elements, {alignment} bytes");
            return Err(Error::BadValue {
                at: cx.at(who),
                what: "stride of the matrix",
                value: first.1,
                accepted,
            });
        }
        if matches!(space, Space::Param | Space::Local) {
            let (at, nearest) = (cx.at(who), Nearest::None);
            return Err(Error::OutOfBounds { at, access, space, address, bytes: 16, nearest });
        }
        Ok(first)
    }
}
