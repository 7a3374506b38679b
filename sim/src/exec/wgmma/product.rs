//! The arithmetic of `wgmma`: A and B come from shared memory or registers, and each warp has 16 rows of D in its
//! registers (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts").
//!
//! With `p` elements in a register, `g = t / 4` and `q = t % 4`, the place of element `h` of register `r` of lane `t`
//! of warp `w` is
//!
//! | fragment | place |
//! |---|---|
//! | A (row, k) | `(16 w + g + 8 (r % 2), p q + h + 4 p (r / 2))` |
//! | D (row, column) of f32, s32 | `(16 w + g + 8 (r / 2 % 2), 8 (r / 4) + 2 q + r % 2)` |
//! | D (row, column) of f16 | `(16 w + g + 8 (r % 2), 8 (r / 2) + 2 q + h)` |
//!
//! An element of D is `d + a0 b0 + a1 b1 + ...` in f32, from k = 0 up. Each product is exact and each sum is rounded to
//! nearest; results in f16 are rounded once more at the end. Of integers, the sum is exact and is wrapped or clamped
//! once.

use crate::float::{Bfloat, Byte, E4m3, E5m2, Half, Narrow, Pair, Round, canon};
use crate::lanes::{Regs, Scalar, WARP};
use crate::op::{Major, MmaSum, MmaType, Wgmma};

use super::super::mma::Places;

/// The number of rows of D that a warp has.
pub(super) const ROWS: usize = 16;

/// Elements of A and B in the order in which they are multiplied: A by rows, B by rows of K.
#[derive(Clone, Debug)]
pub(super) enum Elements {
    Floats(Vec<f32>),
    /// Elements of one bit are in words of 32.
    Integers(Vec<i32>),
}

/// A 16-byte chunk of a matrix with its position `(i, j)`, as for
/// [`Descriptor::chunk`](super::descriptor::Descriptor::chunk).
pub(super) type Chunk = (usize, usize, [u8; 16]);

/// The shape of a matrix: A is `rows` x K and stored by rows; B is `rows` x K too, but stored by columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) by_columns: bool,
    /// Whether the matrix has twice as many elements along K as usual, as the B of a sparse operation.
    pub(super) wide: bool,
    pub(super) negate: bool,
}

/// The elements of a matrix that is in shared memory.
pub(super) fn gather(ty: MmaType, major: Major, shape: Shape, chunks: &[Chunk]) -> Elements {
    let sign = if shape.negate { -1.0 } else { 1.0 };
    match ty {
        MmaType::Bf16 => {
            Elements::Floats(spread(major, shape, chunks, |w| halves::<Bfloat>(w).map(|x| x * sign)))
        }
        MmaType::Tf32 => Elements::Floats(spread(major, shape, chunks, |w| [tf32(w) * sign])),
        MmaType::E4m3 => Elements::Floats(spread(major, shape, chunks, |w| e4m3(w).map(|x| x * sign))),
        MmaType::E5m2 => Elements::Floats(spread(major, shape, chunks, |w| e5m2(w).map(|x| x * sign))),
        MmaType::S8 => Elements::Integers(spread(major, shape, chunks, s8)),
        MmaType::U8 => Elements::Integers(spread(major, shape, chunks, u8)),
        MmaType::B1 { .. } => Elements::Integers(spread(major, shape, chunks, |w| [w as i32])),
        _ => Elements::Floats(spread(major, shape, chunks, |w| halves::<Half>(w).map(|x| x * sign))),
    }
}

/// The rows of A that a warp has in its registers.
pub(super) fn fragment(ty: MmaType, regs: &Regs, slots: &[u32; 4], negate: bool) -> Elements {
    let mut chunks = Vec::with_capacity(2 * ROWS);
    for row in 0..ROWS {
        for j in 0..2 {
            // A chunk of a row is one register of four neighbouring lanes.
            let register = &regs.w32[slots[2 * j + row / 8] as usize][4 * (row % 8)..];
            let mut bytes = [0; 16];
            for (to, word) in bytes.chunks_exact_mut(4).zip(register) {
                to.copy_from_slice(&word.to_le_bytes());
            }
            chunks.push((row, j, bytes));
        }
    }
    gather(ty, Major::K, Shape { rows: ROWS, by_columns: false, wide: false, negate }, &chunks)
}

fn spread<T: Copy + Default, const P: usize>(
    major: Major,
    shape: Shape,
    chunks: &[Chunk],
    unpack: impl Fn(u32) -> [T; P],
) -> Vec<T> {
    let k = if shape.wide { 16 * P } else { 8 * P };
    let mut out = vec![T::default(); shape.rows * k];
    for &(i, j, bytes) in chunks {
        for (word, bytes) in bytes.chunks_exact(4).enumerate() {
            let values = unpack(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            for (h, value) in values.into_iter().enumerate() {
                let element = word * P + h;
                let (row, at) = match major {
                    Major::K => (i, 4 * P * j + element),
                    Major::Mn => (4 * P * i + element, j),
                };
                out[if shape.by_columns { at * shape.rows + row } else { row * k + at }] = value;
            }
        }
    }
    out
}

fn halves<T: Narrow>(word: u32) -> [f32; 2] {
    let Pair(low, high) = Pair::<T>::load(word);
    [low.value(), high.value()]
}

/// The 13 low bits of a tf32 are ignored.
fn tf32(word: u32) -> f32 {
    f32::from_bits(word & 0xffff_e000)
}

fn e4m3(word: u32) -> [f32; 4] {
    word.to_le_bytes().map(|x| E4m3(x).value())
}

fn e5m2(word: u32) -> [f32; 4] {
    word.to_le_bytes().map(|x| E5m2(x).value())
}

fn s8(word: u32) -> [i32; 4] {
    word.to_le_bytes().map(|x| i32::from(x as i8))
}

fn u8(word: u32) -> [i32; 4] {
    word.to_le_bytes().map(i32::from)
}

/// The number of elements in a row of A of 32 bytes, where 32 elements of one bit count as one.
pub(super) fn elements(ty: MmaType) -> usize {
    match ty {
        MmaType::Tf32 | MmaType::B1 { .. } => 8,
        MmaType::F16 | MmaType::Bf16 => 16,
        _ => 32,
    }
}

/// Adds to each row of D the product of its row of A with B. Of a sparse operation, `places` are the rows of B that A's
/// stored elements meet.
fn sum<T: Copy, D>(
    d: &mut [D],
    (a, b): (&[T], &[T]),
    (k, n): (usize, usize),
    places: Option<&Places>,
    add: impl Fn(&mut D, T, T),
) {
    for (row, (d, a)) in d.chunks_exact_mut(n).zip(a.chunks_exact(k)).enumerate() {
        let mut product = |a: T, b: &[T]| d.iter_mut().zip(b).for_each(|(d, &b)| add(d, a, b));
        match places {
            None => a.iter().zip(b.chunks_exact(n)).for_each(|(&a, b)| product(a, b)),
            Some(places) => a.iter().zip(places.row(row)).for_each(|(&a, place)| {
                if let Some(b) = b.get(place * n..(place + 1) * n) {
                    product(a, b);
                }
            }),
        }
    }
}

/// D += A B in a warp's registers, for floats; `a` are the warp's rows.
pub(super) fn multiply(
    regs: &mut Regs,
    op: &Wgmma,
    operands: (&[f32], &[f32]),
    places: Option<&Places>,
    accumulate: bool,
) {
    let n = op.n;
    let mut d = vec![0.0; ROWS * n];
    let half = op.sum == MmaSum::F16;
    if accumulate && half {
        load(regs, op, &mut d, 2, |word, h| halves::<Half>(word)[h]);
    } else if accumulate {
        load(regs, op, &mut d, 1, |word, _| f32::from_bits(word));
    }
    sum(&mut d, operands, (elements(op.a_ty), n), places, |d, a, b| *d += a * b);
    if half {
        let round = |x: f32| Half::rounded(f64::from(x), Round::Nearest);
        store(regs, op, &d, 2, |d| Pair(round(d[0]), round(d[1])).store());
    } else {
        store(regs, op, &d, 1, |d| canon(d[0]).to_bits());
    }
}

/// As [`multiply`], for integers.
pub(super) fn multiply_integers(
    regs: &mut Regs,
    op: &Wgmma,
    operands: (&[i32], &[i32]),
    places: Option<&Places>,
    accumulate: bool,
) {
    let n = op.n;
    // The sum of at most 32 products of 8 bits, or of 256 products of one bit, does not overflow: checks would take most of the time.
    let mut products = vec![0i32; ROWS * n];
    let shape = (elements(op.a_ty), n);
    match op.a_ty {
        MmaType::B1 { .. } => {
            let ones = |a: i32, b: i32| (a & b).count_ones() as i32;
            sum(&mut products, operands, shape, places, |d, a, b| *d = d.wrapping_add(ones(a, b)))
        }
        _ => sum(&mut products, operands, shape, places, |d, a, b| *d = d.wrapping_add(a.wrapping_mul(b))),
    }
    if accumulate {
        let mut d = vec![0; ROWS * n];
        load(regs, op, &mut d, 1, |word, _| word as i32);
        let saturate = op.sum == MmaSum::S32 { saturate: true };
        for (to, d) in products.iter_mut().zip(d) {
            *to = if saturate { to.saturating_add(d) } else { to.wrapping_add(d) };
        }
    }
    store(regs, op, &products, 1, |d| d[0] as u32);
}

/// Row and first column of a register of D in lane `t`, with `per` columns in a register.
pub(super) fn place(per: usize, r: usize, t: usize) -> (usize, usize) {
    let (pair, odd) = (r * per / 2, r * per % 2);
    (t / 4 + 8 * (pair % 2), 8 * (pair / 2) + 2 * (t % 4) + odd)
}

fn load<T>(regs: &Regs, op: &Wgmma, d: &mut [T], per: usize, value: impl Fn(u32, usize) -> T) {
    for (r, &slot) in op.d.iter().enumerate() {
        for t in 0..WARP {
            let (row, column) = place(per, r, t);
            for h in 0..per {
                d[row * op.n + column + h] = value(regs.w32[slot as usize][t], h);
            }
        }
    }
}

fn store<T>(regs: &mut Regs, op: &Wgmma, d: &[T], per: usize, word: impl Fn(&[T]) -> u32) {
    for (r, &slot) in op.d.iter().enumerate() {
        for (t, to) in regs.w32[slot as usize].iter_mut().enumerate() {
            let (row, column) = place(per, r, t);
            *to = word(&d[row * op.n + column..][..per]);
        }
    }
}
