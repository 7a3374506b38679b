//! A warp's registers, and instructions as functions over their 32 lanes.
//!
//! A register of up to 32 bits is a `[u32; 32]`, a wider register a `[u64; 32]`, and a predicate a mask of 32 bits. An
//! instruction without side effects is a function pointer, made by [`lanes!`] from the formula for one lane, whose loop
//! over the lanes the compiler vectorises. Constants and special registers are registers that no instruction writes.

/// Lanes of a warp.
pub(crate) const WARP: usize = 32;

/// The register file of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum File {
    /// Predicates, one bit for each lane.
    Pred,
    /// Up to 32 bits.
    W32,
    /// 64 bits.
    W64,
}

/// A register: the file, and the place in the file.
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
    /// The value of a register in one lane, zero-extended.
    #[inline]
    pub(crate) fn get(&self, reg: Reg, lane: usize) -> u64 {
        match reg.file {
            File::Pred => u64::from(self.pred[reg.slot as usize] >> lane & 1),
            File::W32 => self.w32[reg.slot as usize][lane].into(),
            File::W64 => self.w64[reg.slot as usize][lane],
        }
    }

    /// Sets a register that is not a predicate in these lanes; values are truncated to the register's width.
    #[inline(always)]
    pub(crate) fn assign(&mut self, reg: Reg, lanes: u32, value: impl Fn(usize) -> u64) {
        let lanes = lanes_of(lanes);
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

    /// Sets a register in one lane; the value is truncated to the register's width.
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

/// The lanes of a mask, in order.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The operands of a lane function: the slots of the destination and of up to four sources.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    pub(crate) d: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) e: u32,
}

/// An instruction on registers: reads its sources in all lanes, and writes its destination in the lanes of the mask.
pub(crate) type LaneFn = fn(&mut Regs, &Args, u32);

/// The type in which a register file stores the value of a lane.
pub(crate) trait Word: Copy + Default {
    /// `N` lanes of a register.
    type Part<'a, const N: usize>: Copy;
    /// The `N` lanes from lane `first` on, which is a multiple of `N`.
    fn part<const N: usize>(regs: &Regs, slot: u32, first: usize) -> Self::Part<'_, N>;
    fn lane<const N: usize>(part: Self::Part<'_, N>, i: usize) -> Self;
    /// This value if `wanted`, else `other`.
    fn or(self, other: Self, wanted: bool) -> Self;
    /// Writes those of the `N` lanes from lane `first` on that are in the mask.
    fn write<const N: usize>(regs: &mut Regs, slot: u32, first: usize, mask: u32, values: [Self; N]);
}

macro_rules! word {
    ($t:ty, $file:ident) => {
        impl Word for $t {
            type Part<'a, const N: usize> = &'a [$t; N];
            #[inline(always)]
            fn part<const N: usize>(regs: &Regs, slot: u32, first: usize) -> &[$t; N] {
                &regs.$file[slot as usize].as_chunks().0[first / N]
            }
            #[inline(always)]
            fn lane<const N: usize>(part: &[$t; N], i: usize) -> Self {
                part[i]
            }
            #[inline(always)]
            fn or(self, other: $t, wanted: bool) -> $t {
                // Arithmetic, since compilers turn `if` into a branch, or into a choice between two addresses.
                let keep = (wanted as $t).wrapping_neg();
                self & keep | other & !keep
            }
            #[inline(always)]
            fn write<const N: usize>(regs: &mut Regs, slot: u32, first: usize, mask: u32, values: [$t; N]) {
                let to: &mut [$t; N] = &mut regs.$file[slot as usize].as_chunks_mut().0[first / N];
                if mask == u32::MAX {
                    *to = values;
                } else {
                    for i in 0..N {
                        to[i] = values[i].or(to[i], mask & 1 << (first + i) != 0);
                    }
                }
            }
        }
    };
}
word!(u32, w32);
word!(u64, w64);

impl Word for bool {
    type Part<'a, const N: usize> = u32;
    #[inline(always)]
    fn part<const N: usize>(regs: &Regs, slot: u32, first: usize) -> u32 {
        regs.pred[slot as usize] >> first
    }
    #[inline(always)]
    fn lane<const N: usize>(part: u32, i: usize) -> bool {
        part & 1 << i != 0
    }
    #[inline]
    fn or(self, other: bool, wanted: bool) -> bool {
        if wanted { self } else { other }
    }
    // A function of its own, so that compilers vectorise the loop that makes bytes of comparisons.
    #[inline(never)]
    fn write<const N: usize>(regs: &mut Regs, slot: u32, first: usize, mask: u32, values: [bool; N]) {
        // The multiplication gathers the lowest bits of eight bytes in the highest byte of the product.
        let byte = |eight: &[bool; 8]| {
            u64::from_le_bytes(eight.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080).to_le_bytes()[7]
        };
        let (eights, _) = values.as_chunks();
        let bits = eights.iter().rev().fold(0, |bits, eight| bits << 8 | u32::from(byte(eight))) << first;
        let mask = mask & u32::MAX >> (WARP - N) << first;
        let to = &mut regs.pred[slot as usize];
        *to = *to & !mask | bits & mask;
    }
}

/// A type with which a lane function computes, and its representation in a register. Narrow integers are sign-extended,
/// as PTX does where a destination register is wider than its type.
pub(crate) trait Scalar: Copy {
    type Word: Word;
    /// The number of lanes that a function computes before it writes them: those that fit the CPU's vector registers, for types whose short loops
    /// compilers vectorise.
    const PART: usize = WARP;
    fn load(word: Self::Word) -> Self;
    fn store(self) -> Self::Word;
}

macro_rules! scalar {
    ($($t:ty as $w:ty, $part:expr; |$x:ident| $load:expr, |$y:ident| $store:expr;)*) => { $(
        impl Scalar for $t {
            type Word = $w;
            const PART: usize = $part;
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
    bool as bool, WARP; |x| x, |y| y;
    u8 as u32, 8; |x| x as u8, |y| y.into();
    i8 as u32, 8; |x| x as i8, |y| y as u32;
    u16 as u32, 8; |x| x as u16, |y| y.into();
    i16 as u32, 8; |x| x as i16, |y| y as u32;
    u32 as u32, 8; |x| x, |y| y;
    i32 as u32, 8; |x| x as i32, |y| y as u32;
    f32 as u32, WARP; |x| f32::from_bits(x), |y| y.to_bits();
    u64 as u64, 8; |x| x, |y| y;
    i64 as u64, 8; |x| x as i64, |y| y as u64;
    f64 as u64, WARP; |x| f64::from_bits(x), |y| y.to_bits();
}

/// `N` lanes of a register, from lane `first` on.
#[inline(always)]
pub(crate) fn part<T: Scalar, const N: usize>(
    regs: &Regs,
    slot: u32,
    first: usize,
) -> <T::Word as Word>::Part<'_, N> {
    T::Word::part(regs, slot, first)
}

/// The value in lane `i` of a part.
#[inline(always)]
pub(crate) fn load<T: Scalar, const N: usize>(part: <T::Word as Word>::Part<'_, N>, i: usize) -> T {
    T::load(T::Word::lane(part, i))
}

/// The largest of these numbers.
pub(crate) const fn largest(of: &[usize]) -> usize {
    match of {
        [first, rest @ ..] if *first > largest(rest) => *first,
        [_, rest @ ..] => largest(rest),
        [] => 0,
    }
}

/// Makes a [`LaneFn`] from the formula of one lane: `lanes!(u64: |a: u32, b: u32| a as u64 * b as u64)`.
macro_rules! lanes {
    ($d:ty: |$a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty $(, $e:ident: $te:ty)?)?)?| $value:expr) => {{
        fn run(regs: &mut $crate::lanes::Regs, args: &$crate::lanes::Args, mask: u32) {
            use $crate::lanes::{Args, Regs, Scalar, WARP, Word, largest, load, part};
            const PART: usize = largest(&[<$d as Scalar>::PART, <$ta as Scalar>::PART $(, <$tb as Scalar>::PART
                $(, <$tc as Scalar>::PART $(, <$te as Scalar>::PART)?)?)?]);
            #[inline(always)]
            fn parts<const N: usize>(regs: &mut Regs, args: &Args, mask: u32) {
                for first in (0..WARP).step_by(N) {
                    let mut out = [<<$d as Scalar>::Word>::default(); N];
                    let $a = part::<$ta, N>(regs, args.a, first);
                    $(let $b = part::<$tb, N>(regs, args.b, first);
                    $(let $c = part::<$tc, N>(regs, args.c, first);
                    $(let $e = part::<$te, N>(regs, args.e, first);)?)?)?
                    for i in 0..N {
                        let $a = load::<$ta, N>($a, i);
                        $(let $b = load::<$tb, N>($b, i);
                        $(let $c = load::<$tc, N>($c, i);
                        $(let $e = load::<$te, N>($e, i);)?)?)?
                        let value: $d = $value;
                        out[i] = value.store();
                    }
                    Word::write(regs, args.d, first, mask, out);
                }
            }
            if PART < WARP && mask == u32::MAX {
                parts::<PART>(regs, args, u32::MAX);
            } else {
                parts::<WARP>(regs, args, mask);
            }
        }
        run as $crate::lanes::LaneFn
    }};
}
pub(crate) use lanes;

/// Makes a [`LaneFn`] for predicates from a formula for the masks of all lanes: `predicates!(|a, b| a & b)`.
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

/// Chooses a [`LaneFn`] by type: `by_type!(ty, T in [U32: u32, S32: i32] lanes!(T: |a: T| a))`; `None` for other types.
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
