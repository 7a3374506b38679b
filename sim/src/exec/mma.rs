//! `mma.sync`, with fragments by the formulas of the PTX ISA ("Warp Level Matrix Instructions", "Matrix Fragments for
//! mma.m16n8k16" and the sections on the other shapes).
//!
//! All shapes but `m8n8k4` of f16 follow one formula. With `p` elements in a register (1 of tf32 and f64, 2 of 16 bits,
//! 4 of 8 bits, 8 of 4 bits, 32 of 1 bit), `g = t / 4` and `q = t % 4`, the place of element `h` of register `r` of
//! lane `t` is
//!
//! | fragment | place |
//! |---|---|
//! | A (row, k), m16 | `(g + 8 (r % 2), p q + h + 4 p (r / 2))` |
//! | A (row, k), m8 | `(g, p q + h + 4 p r)` |
//! | B (k, column) | `(p q + h + 4 p r, g)` |
//! | C, D (row, column) of f32, s32, f64 | `(g + 8 (r / 2), 2 q + r % 2)` |
//! | C, D (row, column) of f16 | `(g + 8 r, 2 q + h)` |
//!
//! An element of D is `c + a0 b0 + a1 b1 + ...`. Of floats, the products are exact (of f64, fused with the addition)
//! and are added in f32 or f64 from k = 0 up, with rounding to nearest at each sum; results in f16 are rounded once
//! more at the end. Hardware adds in another order and truncates, so that the results agree bit for bit where every
//! partial sum is exact, as with small integers. Of integers, the sum is exact and is wrapped or clamped once.

mod sparse;

use crate::float::{Bfloat, Byte, E4m3, E5m2, Half, Narrow, Pair, Round, canon};
use crate::lanes::{Regs, Scalar, WARP};
use crate::op::{Mma, MmaSum, MmaType};

pub(super) use sparse::Places;

/// C and D, 16 x 8; shapes with m = 8 use the first eight rows.
type Sums<D> = [[D; 8]; 16];

/// `mma.sync.aligned.mMn8kK.row.col`.
pub(super) fn mma(regs: &mut Regs, mma: &Mma) {
    match (mma.a_ty, mma.b_ty) {
        (MmaType::F16, _) => floats::<2, 16>(regs, mma, halves::<Half>, halves::<Half>),
        (MmaType::Bf16, _) => floats::<2, 16>(regs, mma, halves::<Bfloat>, halves::<Bfloat>),
        // The 13 low bits of a tf32 are ignored.
        (MmaType::Tf32, _) => {
            let value = |word: u32| [f32::from_bits(word & 0xffff_e000)];
            floats::<1, 8>(regs, mma, value, value);
        }
        (MmaType::E4m3 | MmaType::E5m2, _) => {
            floats::<4, 32>(regs, mma, bytes_of(mma.a_ty), bytes_of(mma.b_ty));
        }
        (MmaType::F64, _) => doubles(regs, mma),
        (MmaType::U8 | MmaType::S8, _) => {
            let value = |ty| move |word: u32| word.to_le_bytes().map(|x| integer(ty, x.into(), 8));
            integers::<4, 32>(regs, mma, value(mma.a_ty), value(mma.b_ty), |a, b| i64::from(a * b));
        }
        (MmaType::U4 | MmaType::S4, _) => {
            let value = |ty| move |word: u32| std::array::from_fn(|h| integer(ty, word >> (4 * h) & 15, 4));
            integers::<8, 64>(regs, mma, value(mma.a_ty), value(mma.b_ty), |a, b| i64::from(a * b));
        }
        // One register holds 32 bits of k, which are multiplied and counted at once.
        (MmaType::B1 { and }, _) => {
            let value = |word: u32| [word as i32];
            let count = move |a: i32, b: i32| i64::from(if and { a & b } else { a ^ b }.count_ones());
            integers::<1, 8>(regs, mma, value, value, count);
        }
    }
}

fn halves<T: Narrow>(word: u32) -> [f32; 2] {
    let Pair(low, high) = Pair::<T>::load(word);
    [low.value(), high.value()]
}

fn bytes_of(ty: MmaType) -> fn(u32) -> [f32; 4] {
    if ty == MmaType::E4m3 {
        |word| word.to_le_bytes().map(|x| E4m3(x).value())
    } else {
        |word| word.to_le_bytes().map(|x| E5m2(x).value())
    }
}

/// The value of an integer of `bits` bits.
fn integer(ty: MmaType, x: u32, bits: u32) -> i32 {
    let unused = 32 - bits;
    match ty {
        MmaType::S8 | MmaType::S4 => ((x << unused) as i32) >> unused,
        _ => x as i32,
    }
}

/// A as rows of at most `K` elements, with `P` elements in a register.
fn rows<W: Copy, T: Copy + Default, const P: usize, const K: usize>(
    file: &[[W; WARP]],
    mma: &Mma,
    unpack: impl Fn(W) -> [T; P],
) -> [[T; K]; 16] {
    let blocks = mma.m / 8;
    let mut a = [[T::default(); K]; 16];
    for (r, &slot) in mma.a.iter().enumerate() {
        for (t, &word) in file[slot as usize].iter().enumerate() {
            let first = P * (t % 4) + 4 * P * (r / blocks);
            a[t / 4 + 8 * (r % blocks)][first..first + P].copy_from_slice(&unpack(word));
        }
    }
    a
}

/// B as `K` rows of eight columns.
fn columns<W: Copy, T: Copy + Default, const P: usize, const K: usize>(
    file: &[[W; WARP]],
    mma: &Mma,
    unpack: impl Fn(W) -> [T; P],
) -> [[T; 8]; K] {
    let mut b = [[T::default(); 8]; K];
    for (r, &slot) in mma.b.iter().enumerate() {
        for (t, &word) in file[slot as usize].iter().enumerate() {
            let first = P * (t % 4) + 4 * P * r;
            for (row, value) in b[first..].iter_mut().zip(unpack(word)) {
                row[t / 4] = value;
            }
        }
    }
    b
}

/// D += A B, from k = 0 up. Elements beyond the `k` of the shape are zeros, and are left out.
#[inline]
fn multiply<T: Copy, D: Copy, const K: usize>(
    k: usize,
    a: &[[T; K]; 16],
    b: &[[T; 8]; K],
    d: &mut Sums<D>,
    add: impl Fn(D, T, T) -> D,
) {
    for (d, a) in d.iter_mut().zip(a) {
        for (a, b) in a.iter().zip(b).take(k) {
            for (d, b) in d.iter_mut().zip(b) {
                *d = add(*d, *a, *b);
            }
        }
    }
}

fn floats<const P: usize, const K: usize>(
    regs: &mut Regs,
    mma: &Mma,
    unpack_a: impl Fn(u32) -> [f32; P],
    unpack_b: impl Fn(u32) -> [f32; P],
) {
    let a = rows::<_, _, P, K>(&regs.w32, mma, unpack_a);
    let b = columns::<_, _, P, K>(&regs.w32, mma, unpack_b);
    let mut d = load_floats(regs, mma);
    multiply(4 * P * mma.b.len(), &a, &b, &mut d, |d, a, b| d + a * b);
    store_floats(regs, mma, &d);
}

fn load_floats(regs: &Regs, mma: &Mma) -> Sums<f32> {
    let mut d = [[0.0; 8]; 16];
    if mma.sum == MmaSum::F16 {
        for (r, &slot) in mma.c.iter().enumerate() {
            for (t, &word) in regs.w32[slot as usize].iter().enumerate() {
                d[t / 4 + 8 * r][2 * (t % 4)..][..2].copy_from_slice(&halves::<Half>(word));
            }
        }
    } else {
        load(&regs.w32, &mma.c, &mut d, f32::from_bits);
    }
    d
}

fn store_floats(regs: &mut Regs, mma: &Mma, d: &Sums<f32>) {
    if mma.sum != MmaSum::F16 {
        store(&mut regs.w32, &mma.d, d, |x| canon(x).to_bits());
        return;
    }
    for (r, &slot) in mma.d.iter().enumerate() {
        for (t, to) in regs.w32[slot as usize].iter_mut().enumerate() {
            let [low, high] =
                [0, 1].map(|h| Half::rounded(f64::from(d[t / 4 + 8 * r][2 * (t % 4) + h]), Round::Nearest));
            *to = Pair(low, high).store();
        }
    }
}

fn doubles(regs: &mut Regs, mma: &Mma) {
    let a = rows::<_, _, 1, 16>(&regs.w64, mma, |word| [f64::from_bits(word)]);
    let b = columns::<_, _, 1, 16>(&regs.w64, mma, |word| [f64::from_bits(word)]);
    let mut d = [[0.0; 8]; 16];
    load(&regs.w64, &mma.c, &mut d, f64::from_bits);
    multiply(4 * mma.b.len(), &a, &b, &mut d, |d, a: f64, b| a.mul_add(b, d));
    store(&mut regs.w64, &mma.d, &d, f64::to_bits);
}

fn integers<const P: usize, const K: usize>(
    regs: &mut Regs,
    mma: &Mma,
    unpack_a: impl Fn(u32) -> [i32; P],
    unpack_b: impl Fn(u32) -> [i32; P],
    product: impl Fn(i32, i32) -> i64,
) {
    let a = rows::<_, _, P, K>(&regs.w32, mma, unpack_a);
    let b = columns::<_, _, P, K>(&regs.w32, mma, unpack_b);
    let mut d = [[0i64; 8]; 16];
    load(&regs.w32, &mma.c, &mut d, |word| i64::from(word as i32));
    multiply(4 * P * mma.b.len(), &a, &b, &mut d, |d, a, b| d + product(a, b));
    store_integers(regs, mma, &d);
}

fn store_integers(regs: &mut Regs, mma: &Mma, d: &Sums<i64>) {
    let saturate = mma.sum == MmaSum::S32 { saturate: true };
    store(&mut regs.w32, &mma.d, d, |x| {
        (if saturate { x.clamp(i32::MIN.into(), i32::MAX.into()) } else { x }) as u32
    });
}

/// Loads C, with one element in a register.
fn load<W: Copy, D>(file: &[[W; WARP]], slots: &[u32], d: &mut Sums<D>, value: impl Fn(W) -> D) {
    for (r, &slot) in slots.iter().enumerate() {
        for (t, &word) in file[slot as usize].iter().enumerate() {
            d[t / 4 + 8 * (r / 2)][2 * (t % 4) + r % 2] = value(word);
        }
    }
}

/// Stores D, with one element in a register.
fn store<W, D: Copy>(file: &mut [[W; WARP]], slots: &[u32], d: &Sums<D>, word: impl Fn(D) -> W) {
    for (r, &slot) in slots.iter().enumerate() {
        for (t, to) in file[slot as usize].iter_mut().enumerate() {
            *to = word(d[t / 4 + 8 * (r / 2)][2 * (t % 4) + r % 2]);
        }
    }
}
