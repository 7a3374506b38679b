//! `ldmatrix`, `mma.sync`: fragments by the formulas of the PTX ISA ("Warp Level Matrix Instructions").
//!
//! In a fragment's register `r` of lane `t`, with `g = t / 4` and `q = t % 4`:
//!
//! | fragment | 16-bit elements, two (`h`) a register | tf32, one a register |
//! |---|---|---|
//! | A (row, k) | `(g + 8 (r % 2), 2 q + h + 8 (r / 2))` | `(g + 8 (r % 2), q + 4 (r / 2))` |
//! | B (k, column) | `(2 q + h + 8 r, g)` | `(q + 4 r, g)` |
//! | C, D (row, column) | `(g + 8 r, 2 q + h)` | |
//!
//! C and D of f32 are at `(g + 8 (r / 2), 2 q + r % 2)`.
//!
//! An element of D is `c + a0 b0 + a1 b1 + ...`: exact products, added in f32 from k = 0 up, rounding to nearest
//! each time; f16 results are rounded once more at the end. Hardware adds in another order and truncates, so results
//! agree bit for bit where every partial sum is exact, such as small integers.

use crate::float::{Bfloat, Half, Narrow, Pair, Round, canon};
use crate::lanes::{Regs, Scalar, WARP};
use crate::op::{Ldmatrix, Mma, MmaType};
use crate::shadow::Who;
use crate::{Access, Error, Space};

use super::access::misaligned;
use super::block::Context;
use super::warp::Warp;

impl Warp {
    /// `ldmatrix`: lane `8 j + i` gives the address of row `i` of matrix `j`. Register `j` of lane `t` gets elements
    /// `2 (t % 4)` and the next of row `t / 4`; with `.trans` those of column `t / 4`.
    pub(super) fn ldmatrix(
        &mut self,
        cx: &mut Context<'_>,
        load: &Ldmatrix,
        source: u32,
    ) -> Result<(), Error> {
        cx.report.shared += 1;
        if cx.machine.options.counts {
            self.count_matrices(&mut cx.report, &load.address, load.regs.len());
        }
        for (j, &reg) in load.regs.iter().enumerate() {
            let mut rows = [[0u16; 8]; 8];
            for (i, row) in rows.iter_mut().enumerate() {
                let supplier = 8 * j + i;
                let address = self.address(&load.address, supplier);
                let who = Who { warp: self.index, lane: supplier as u32, source };
                if !address.is_multiple_of(16) {
                    return Err(misaligned(cx, who, Access::Read, Space::Shared, address, 16));
                }
                let at = cx.shared_at(who, Access::Read, address, 16)?;
                if let Some(shadow) = &mut cx.shadow {
                    for pair in 0..4 {
                        // A lane that receives the pair, or with `.trans` its first element.
                        let lane = if load.transposed { 4 * (2 * pair) + i / 2 } else { 4 * i + pair };
                        let who = Who { lane: lane as u32, ..who };
                        if let Err(finding) = shadow.read(who, at + 4 * pair, 4) {
                            return Err(cx.found(who, Access::Read, at + 4 * pair, 4, finding));
                        }
                    }
                }
                for (element, bytes) in row.iter_mut().zip(cx.shared[at..at + 16].chunks_exact(2)) {
                    *element = u16::from_le_bytes([bytes[0], bytes[1]]);
                }
            }
            let to = &mut self.regs.w32[reg as usize];
            for (t, to) in to.iter_mut().enumerate() {
                let (line, first) = (t / 4, 2 * (t % 4));
                let (low, high) = if load.transposed {
                    (rows[first][line], rows[first + 1][line])
                } else {
                    (rows[line][first], rows[line][first + 1])
                };
                *to = u32::from(low) | u32::from(high) << 16;
            }
        }
        Ok(())
    }
}

/// A 16 x K, row-major; B K x 8, row-major. Both are K = 16 wide at most.
type A = [[f32; 16]; 16];
type B = [[f32; 8]; 16];

/// `mma.sync.aligned.m16n8kK.row.col`.
pub(super) fn mma(regs: &mut Regs, mma: &Mma) {
    let (a, b) = match mma.ty {
        MmaType::F16 => pairs::<Half>(regs, mma),
        MmaType::Bf16 => pairs::<Bfloat>(regs, mma),
        MmaType::Tf32 => singles(regs, mma),
    };
    let mut d = accumulators(regs, mma);
    for (d, a) in d.iter_mut().zip(&a) {
        for (a, b) in a.iter().zip(&b).take(mma.k) {
            for (d, b) in d.iter_mut().zip(b) {
                *d += a * b;
            }
        }
    }
    for (r, &slot) in mma.d.iter().enumerate() {
        let to = &mut regs.w32[slot as usize];
        for (t, to) in to.iter_mut().enumerate() {
            let (g, q) = (t / 4, t % 4);
            *to = if mma.half {
                let [low, high] =
                    [0, 1].map(|h| Half::rounded(d[g + 8 * r][2 * q + h].into(), Round::Nearest));
                Pair(low, high).store()
            } else {
                canon(d[g + 8 * (r / 2)][2 * q + r % 2]).to_bits()
            };
        }
    }
}

/// A and B of 16-bit elements.
fn pairs<T: Narrow>(regs: &Regs, mma: &Mma) -> (A, B) {
    let (mut a, mut b) = ([[0.0; 16]; 16], [[0.0; 8]; 16]);
    for (r, &slot) in mma.a.iter().enumerate() {
        for (t, &word) in regs.w32[slot as usize].iter().enumerate() {
            let Pair(low, high) = Pair::<T>::load(word);
            let (row, k) = (t / 4 + 8 * (r % 2), 2 * (t % 4) + 8 * (r / 2));
            a[row][k] = low.value();
            a[row][k + 1] = high.value();
        }
    }
    for (r, &slot) in mma.b.iter().enumerate() {
        for (t, &word) in regs.w32[slot as usize].iter().enumerate() {
            let Pair(low, high) = Pair::<T>::load(word);
            let k = 2 * (t % 4) + 8 * r;
            b[k][t / 4] = low.value();
            b[k + 1][t / 4] = high.value();
        }
    }
    (a, b)
}

/// A and B of tf32: the 13 low bits are not read.
fn singles(regs: &Regs, mma: &Mma) -> (A, B) {
    let (mut a, mut b) = ([[0.0; 16]; 16], [[0.0; 8]; 16]);
    let value = |word: u32| f32::from_bits(word & 0xffff_e000);
    for (r, &slot) in mma.a.iter().enumerate() {
        for (t, &word) in regs.w32[slot as usize].iter().enumerate() {
            a[t / 4 + 8 * (r % 2)][t % 4 + 4 * (r / 2)] = value(word);
        }
    }
    for (r, &slot) in mma.b.iter().enumerate() {
        for (t, &word) in regs.w32[slot as usize].iter().enumerate() {
            b[t % 4 + 4 * r][t / 4] = value(word);
        }
    }
    (a, b)
}

fn accumulators(regs: &Regs, mma: &Mma) -> [[f32; 8]; 16] {
    let mut c = [[0.0; 8]; 16];
    for (r, &slot) in mma.c.iter().enumerate() {
        for t in 0..WARP {
            let (g, q, word) = (t / 4, t % 4, regs.w32[slot as usize][t]);
            if mma.half {
                let Pair(low, high) = Pair::<Half>::load(word);
                c[g + 8 * r][2 * q] = low.value();
                c[g + 8 * r][2 * q + 1] = high.value();
            } else {
                c[g + 8 * (r / 2)][2 * q + r % 2] = f32::from_bits(word);
            }
        }
    }
    c
}
