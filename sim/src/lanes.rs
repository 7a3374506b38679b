//! A warp's registers, and instructions as functions over their 32 lanes.
//!
//! A register of up to 32 bits is one `[u32; 32]`, a wider one a `[u64; 32]`, a predicate a mask of 32 bits. An
//! instruction without side effects is one function pointer made by [`lanes!`] from the formula of a single lane;
//! its loop over the lanes is what the compiler vectorises. Constants and special registers are registers that
//! nothing writes.

/// Lanes of a warp.
pub(crate) const WARP: usize = 32;

/// Which register file a register lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum File {
    /// Predicates: one bit a lane.
    Pred,
    /// Up to 32 bits.
    W32,
    /// 64 bits.
    W64,
}

/// A register: its file and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reg {
    pub(crate) file: File,
    pub(crate) slot: u32,
}

/// The registers of a warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regs {
    pub(crate) w32: Vec<[u32; WARP]>,
    pub(crate) w64: Vec<[u64; WARP]>,
    pub(crate) pred: Vec<u32>,
}

impl Regs {
    /// The value of one lane, zero-extended.
    #[inline]
    pub(crate) fn get(&self, reg: Reg, lane: usize) -> u64 {
        match reg.file {
            File::Pred => u64::from(self.pred[reg.slot as usize] >> lane & 1),
            File::W32 => self.w32[reg.slot as usize][lane].into(),
            File::W64 => self.w64[reg.slot as usize][lane],
        }
    }

    /// Sets these lanes, truncating to the register, which is no predicate.
    #[inline(always)]
    pub(crate) fn assign(&mut self, reg: Reg, lanes: u32, value: impl Fn(usize) -> u64) {
        let lanes = crate::exec::lanes(lanes);
        match (reg.file, reg.slot as usize) {
            (File::W64, slot) => {
                let to = &mut self.w64[slot];
                lanes.for_each(|lane| to[lane] = value(lane));
            }
            (_, slot) => {
                let to = &mut self.w32[slot];
                lanes.for_each(|lane| to[lane] = value(lane) as u32);
            }
        }
    }

    /// Sets one lane, truncating to the register.
    #[inline]
    pub(crate) fn set(&mut self, reg: Reg, lane: usize, value: u64) {
        match reg.file {
            File::Pred => {
                let word = &mut self.pred[reg.slot as usize];
                *word = *word & !(1 << lane) | ((value & 1) as u32) << lane;
            }
            File::W32 => self.w32[reg.slot as usize][lane] = value as u32,
            File::W64 => self.w64[reg.slot as usize][lane] = value,
        }
    }
}

/// The operands of a lane function: slots of the destination and of up to four sources.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    pub(crate) d: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) e: u32,
}

/// An instruction on registers: reads its sources in all lanes, writes its destination in the lanes of the mask.
pub(crate) type LaneFn = fn(&mut Regs, &Args, u32);

/// What a register file stores for a lane.
pub(crate) trait Word: Copy + Default {
    /// All lanes of a register.
    type Lanes;
    fn lanes(regs: &Regs, slot: u32) -> &Self::Lanes;
    fn lane(lanes: &Self::Lanes, i: usize) -> Self;
    /// This, if it is wanted, or another.
    fn or(self, other: Self, wanted: bool) -> Self;
    fn write(regs: &mut Regs, slot: u32, mask: u32, values: [Self; WARP]);
}

macro_rules! word {
    ($t:ty, $file:ident) => {
        impl Word for $t {
            type Lanes = [$t; WARP];
            #[inline]
            fn lanes(regs: &Regs, slot: u32) -> &Self::Lanes {
                &regs.$file[slot as usize]
            }
            #[inline]
            fn lane(lanes: &Self::Lanes, i: usize) -> Self {
                lanes[i]
            }
            #[inline(always)]
            fn or(self, other: $t, wanted: bool) -> $t {
                // A branch or a choice of places to read from is what compilers make of `if`.
                let keep = (wanted as $t).wrapping_neg();
                self & keep | other & !keep
            }
            #[inline(always)]
            fn write(regs: &mut Regs, slot: u32, mask: u32, values: [Self; WARP]) {
                let to = &mut regs.$file[slot as usize];
                if mask == u32::MAX {
                    *to = values;
                } else {
                    for i in 0..WARP {
                        to[i] = values[i].or(to[i], mask & 1 << i != 0);
                    }
                }
            }
        }
    };
}
word!(u32, w32);
word!(u64, w64);

impl Word for bool {
    type Lanes = u32;
    #[inline]
    fn lanes(regs: &Regs, slot: u32) -> &u32 {
        &regs.pred[slot as usize]
    }
    #[inline]
    fn lane(lanes: &u32, i: usize) -> bool {
        lanes & 1 << i != 0
    }
    #[inline]
    fn or(self, other: bool, wanted: bool) -> bool {
        if wanted { self } else { other }
    }
    // Apart, as a loop that makes bytes of comparisons is one that compilers vectorise.
    #[inline(never)]
    fn write(regs: &mut Regs, slot: u32, mask: u32, values: [bool; WARP]) {
        // The product has the lowest bits of eight bytes in its highest byte.
        let byte = |eight: &[bool; 8]| {
            u64::from_le_bytes(eight.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080).to_le_bytes()[7]
        };
        let (eights, _) = values.as_chunks();
        let bits = eights.iter().rev().fold(0, |bits, eight| bits << 8 | u32::from(byte(eight)));
        let to = &mut regs.pred[slot as usize];
        *to = *to & !mask | bits & mask;
    }
}

/// A type that a lane function computes with, and how a register holds it. Narrow integers are extended by their
/// sign, as PTX does when a destination register is wider than its type.
pub(crate) trait Scalar: Copy {
    type Word: Word;
    fn load(word: Self::Word) -> Self;
    fn store(self) -> Self::Word;
}

macro_rules! scalar {
    ($($t:ty as $w:ty: |$x:ident| $load:expr, |$y:ident| $store:expr;)*) => { $(
        impl Scalar for $t {
            type Word = $w;
            #[inline(always)]
            fn load($x: $w) -> Self {
                $load
            }
            #[inline(always)]
            fn store(self) -> $w {
                let $y = self;
                $store
            }
        }
    )* };
}
scalar! {
    bool as bool: |x| x, |y| y;
    u8 as u32: |x| x as u8, |y| y.into();
    i8 as u32: |x| x as i8, |y| y as u32;
    u16 as u32: |x| x as u16, |y| y.into();
    i16 as u32: |x| x as i16, |y| y as u32;
    u32 as u32: |x| x, |y| y;
    i32 as u32: |x| x as i32, |y| y as u32;
    f32 as u32: |x| f32::from_bits(x), |y| y.to_bits();
    u64 as u64: |x| x, |y| y;
    i64 as u64: |x| x as i64, |y| y as u64;
    f64 as u64: |x| f64::from_bits(x), |y| y.to_bits();
}

/// Makes a [`LaneFn`] from the formula of one lane: `lanes!(u64: |a: u32, b: u32| a as u64 * b as u64)`.
macro_rules! lanes {
    ($d:ty: |$a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty $(, $e:ident: $te:ty)?)?)?| $value:expr) => {{
        fn run(regs: &mut $crate::lanes::Regs, args: &$crate::lanes::Args, mask: u32) {
            use $crate::lanes::{Scalar, WARP, Word};
            let mut out = [<<$d as Scalar>::Word>::default(); WARP];
            let $a = <<$ta as Scalar>::Word>::lanes(regs, args.a);
            $(let $b = <<$tb as Scalar>::Word>::lanes(regs, args.b);
            $(let $c = <<$tc as Scalar>::Word>::lanes(regs, args.c);
            $(let $e = <<$te as Scalar>::Word>::lanes(regs, args.e);)?)?)?
            for i in 0..WARP {
                let $a = <$ta as Scalar>::load(Word::lane($a, i));
                $(let $b = <$tb as Scalar>::load(Word::lane($b, i));
                $(let $c = <$tc as Scalar>::load(Word::lane($c, i));
                $(let $e = <$te as Scalar>::load(Word::lane($e, i));)?)?)?
                let value: $d = $value;
                out[i] = value.store();
            }
            Word::write(regs, args.d, mask, out);
        }
        run as $crate::lanes::LaneFn
    }};
}
pub(crate) use lanes;

/// Makes a [`LaneFn`] of predicates from a formula of all lanes: `predicates!(|a, b| a & b)`.
macro_rules! predicates {
    (|$a:ident $(, $b:ident)?| $value:expr) => {{
        fn run(regs: &mut $crate::lanes::Regs, args: &$crate::lanes::Args, mask: u32) {
            let $a = regs.pred[args.a as usize];
            $(let $b = regs.pred[args.b as usize];)?
            let value: u32 = $value;
            let to = &mut regs.pred[args.d as usize];
            *to = *to & !mask | value & mask;
        }
        run as $crate::lanes::LaneFn
    }};
}
pub(crate) use predicates;

/// Picks a [`LaneFn`] by type: `by_type!(ty, T in [U32: u32, S32: i32] lanes!(T: |a: T| a))`, `None` for the rest.
macro_rules! by_type {
    ($ty:expr, $t:ident in [$($variant:ident: $rust:ty),* $(,)?] $body:expr) => {
        match $ty {
            $(girih_ptx::Type::$variant => {
                type $t = $rust;
                Some($body)
            })*
            _ => None,
        }
    };
}
pub(crate) use by_type;
