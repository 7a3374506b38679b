//! `mma.sp`: A has half of its elements, and metadata tells where in its row each of them belongs (PTX ISA, "Sparse
//! matrix storage", "Matrix fragments for multiply-accumulate operation with sparse matrix A").
//!
//! The fragment of A is that of a matrix with half of the columns. A row is divided into chunks, each with four bits of
//! metadata and half of its elements: two of four elements, of 32 bits one of two, of 4 bits two of four pairs. The
//! four bits are two indices, the low one first. Of 32 bits an element counts as two halves, so that only 0100 and 1110
//! are valid. With `g = row % 8` and `h = row / 8`, the bits of chunk `c` of a row are in one of the four threads from
//! `4 g` on:
//!
//! | elements | chunks | thread, selector `s` | bits from |
//! |---|---|---|---|
//! | 16, 32 bits | 4 | `s` | `16 h + 4 c` |
//! | 16, 32 bits | 8 | `2 s + c / 4` | `16 h + 4 (c % 4)` |
//! | 4, 8 bits | 8 | `2 s + h` | `4 c` |
//! | 4, 8 bits | 16 | `h + 2 (c / 8)` | `4 (c % 8)` |
//!
//! Elements of A that are not stored are not multiplied: a NaN of B that would meet one has no effect.

use super::*;
use crate::lanes::{File, Reg};
use crate::op::Sparse;
use crate::shadow::Who;
use crate::{Error, exec::context::Context, exec::warp::Warp};

/// The largest number of stored elements of a row.
const MOST: usize = 64;

/// For each row of A that a warp has: the column of each stored element.
#[derive(Clone, Debug)]
pub(in super::super) struct Places([[u8; MOST]; 16]);

/// Invalid metadata: the lane that has it, and what would be accepted.
#[derive(Clone, Copy, Debug)]
struct Fault {
    lane: u32,
    accepted: &'static str,
}

/// The columns of the stored elements in rows of `k` elements.
fn places(words: &[u32; WARP], (ty, k): (MmaType, usize), sparse: &Sparse) -> (Places, Option<Fault>) {
    let wide = matches!(ty, MmaType::F16 | MmaType::Bf16 | MmaType::Tf32);
    let (chunk, pair) = match ty {
        MmaType::Tf32 => (2, 1),
        MmaType::U4 | MmaType::S4 => (8, 2),
        _ => (4, 1),
    };
    let (chunks, selector) = (k / chunk, usize::from(sparse.selector));
    let (mut places, mut fault) = (Places([[0; MOST]; 16]), None);
    for (row, of) in places.0.iter_mut().enumerate() {
        let (g, h) = (row % 8, row / 8);
        for c in 0..chunks {
            let (thread, from) = match (wide, chunks) {
                (true, 4) => (selector, 16 * h + 4 * c),
                (true, _) => (2 * selector + c / 4, 16 * h + 4 * (c % 4)),
                (false, 8) => (2 * selector + h, 4 * c),
                (false, _) => (h + 2 * (c / 8), 4 * (c % 8)),
            };
            let lane = 4 * g + thread;
            let bits = words[lane] >> from & 15;
            let (low, high) = (bits & 3, bits >> 2);
            let accepted = match ty {
                MmaType::Tf32 if !matches!(bits, 0b0100 | 0b1110) => {
                    Some("0100 or 1110 for each two elements")
                }
                _ if low == high => Some("two different indices for each chunk"),
                _ if sparse.ordered && low > high => {
                    Some("two ascending indices for each chunk, as .sp::ordered_metadata says")
                }
                _ => None,
            };
            if let Some(accepted) = accepted
                && fault.is_none()
            {
                fault = Some(Fault { lane: lane as u32, accepted });
            }
            let first = (c * chunk) as u8;
            match ty {
                MmaType::Tf32 => of[c] = first + (low / 2) as u8,
                _ => {
                    for i in 0..pair {
                        of[c * chunk / 2 + i] = first + (pair as u32 * low) as u8 + i as u8;
                        of[c * chunk / 2 + pair + i] = first + (pair as u32 * high) as u8 + i as u8;
                    }
                }
            }
        }
    }
    (places, fault)
}

impl Places {
    /// The columns of a row's stored elements.
    pub(in super::super) fn row(&self, row: usize) -> impl Iterator<Item = usize> {
        self.0[row].iter().map(|&place| place.into())
    }
}

impl Warp {
    /// The columns that the metadata in a warp's registers tells.
    pub(in super::super) fn sparse_places(
        &mut self,
        cx: &Context<'_>,
        (ty, k): (MmaType, usize),
        sparse: &Sparse,
        source: u32,
    ) -> Result<Places, Error> {
        let reg = Reg { file: File::W32, slot: sparse.metadata };
        let words = self.regs.w32[sparse.metadata as usize];
        let (places, fault) = places(&words, (ty, k), sparse);
        // The number of lanes of each four that have metadata.
        let count = match ty {
            MmaType::Tf32 => k / 8,
            MmaType::F16 | MmaType::Bf16 => k / 16,
            MmaType::U4 | MmaType::S4 => k / 32,
            _ => k / 16,
        };
        let four = ((1u32 << count) - 1) << (count * usize::from(sparse.selector));
        let missing = self.undefined_lanes(reg) & (four * 0x1111_1111);
        if missing != 0 {
            cx.note(self.undefined_register(cx, reg, missing, source))?;
        } else if let Some(Fault { lane, accepted }) = fault {
            let at = cx.at(Who { warp: self.index, lane, source });
            let value = words[lane as usize].into();
            cx.note(Error::BadValue { at, what: "sparse metadata", value, accepted: accepted.into() })?;
        }
        Ok(places)
    }

    /// `mma.sp`.
    pub(in super::super) fn sparse_mma(
        &mut self,
        cx: &Context<'_>,
        mma: &Mma,
        sparse: &Sparse,
        source: u32,
    ) -> Result<(), Error> {
        let per = match mma.b_ty {
            MmaType::Tf32 => 1,
            MmaType::F16 | MmaType::Bf16 => 2,
            MmaType::U4 | MmaType::S4 => 8,
            _ => 4,
        };
        let places = self.sparse_places(cx, (mma.a_ty, 4 * per * mma.b.len()), sparse, source)?;
        let regs = &mut self.regs;
        match mma.a_ty {
            MmaType::F16 => floats::<2, 16, 32>(regs, mma, &places, halves::<Half>, halves::<Half>),
            MmaType::Bf16 => floats::<2, 16, 32>(regs, mma, &places, halves::<Bfloat>, halves::<Bfloat>),
            MmaType::Tf32 => {
                let value = |word: u32| [f32::from_bits(word & 0xffff_e000)];
                floats::<1, 8, 16>(regs, mma, &places, value, value);
            }
            MmaType::E4m3 | MmaType::E5m2 => {
                floats::<4, 32, 64>(regs, mma, &places, bytes_of(mma.a_ty), bytes_of(mma.b_ty));
            }
            MmaType::U8 | MmaType::S8 => {
                let value = |ty| move |word: u32| word.to_le_bytes().map(|x| integer(ty, x.into(), 8));
                integers::<4, 32, 64>(regs, mma, &places, value(mma.a_ty), value(mma.b_ty));
            }
            _ => {
                let value = |ty| {
                    move |word: u32| {
                        std::array::from_fn::<i32, 8, _>(|h| integer(ty, word >> (4 * h) & 15, 4))
                    }
                };
                integers::<8, 64, 128>(regs, mma, &places, value(mma.a_ty), value(mma.b_ty));
            }
        }
        Ok(())
    }
}

/// D += A B over the stored elements of A; a row of the whole matrix has `k` elements.
fn multiply<T: Copy, D: Copy, const K: usize, const B: usize>(
    k: usize,
    places: &Places,
    a: &[[T; K]; 16],
    b: &[[T; 8]; B],
    d: &mut Sums<D>,
    add: impl Fn(D, T, T) -> D,
) {
    for (row, (d, a)) in d.iter_mut().zip(a).enumerate() {
        for (a, place) in a.iter().zip(places.row(row)).take(k) {
            for (d, b) in d.iter_mut().zip(&b[place % B]) {
                *d = add(*d, *a, *b);
            }
        }
    }
}

fn floats<const P: usize, const K: usize, const B: usize>(
    regs: &mut Regs,
    mma: &Mma,
    places: &Places,
    unpack_a: impl Fn(u32) -> [f32; P],
    unpack_b: impl Fn(u32) -> [f32; P],
) {
    let a = rows::<_, _, P, K>(&regs.w32, mma, unpack_a);
    let b = columns::<_, _, P, B>(&regs.w32, mma, unpack_b);
    let mut d = load_floats(regs, mma);
    multiply(2 * P * mma.b.len(), places, &a, &b, &mut d, |d, a, b| d + a * b);
    store_floats(regs, mma, &d);
}

fn integers<const P: usize, const K: usize, const B: usize>(
    regs: &mut Regs,
    mma: &Mma,
    places: &Places,
    unpack_a: impl Fn(u32) -> [i32; P],
    unpack_b: impl Fn(u32) -> [i32; P],
) {
    let a = rows::<_, _, P, K>(&regs.w32, mma, unpack_a);
    let b = columns::<_, _, P, B>(&regs.w32, mma, unpack_b);
    let mut d = [[0i64; 8]; 16];
    load(&regs.w32, &mma.c, &mut d, |word| i64::from(word as i32));
    multiply(2 * P * mma.b.len(), places, &a, &b, &mut d, |d, a, b| d + i64::from(a * b));
    store_integers(regs, mma, &d);
}
