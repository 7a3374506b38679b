//! `mma.sync.m8n8k4` of f16 (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"): four products
//! at once. Each belongs to the eight lanes of a quad pair: lanes `4 q` to `4 q + 3` and `4 q + 16` to `4 q + 19`.
//!
//! With `l = t % 4`, and `h` 4 in the upper lanes of a pair and 0 in the lower, the place of element `i` of lane `t` is
//!
//! | fragment | place |
//! |---|---|
//! | A (row, k) by rows | `(l + h, i)` |
//! | A (row, k) by columns | `(i % 4 + h, l)` |
//! | B (k, column) by rows | `(l, i + h)` |
//! | B (k, column) by columns | `(i, l + h)` |
//! | C, D (row, column) of f16 | `(l + h, i)` |
//! | C, D (row, column) of f32 | `(l % 2 + i & 2 + h, i & 4 + l & 2 + i % 2)` |

use crate::float::{Half, Narrow, Pair, Round, canon};
use crate::lanes::{Regs, Scalar, WARP};
use crate::op::QuadMma;

/// The place of element `i` of C or D in a lane.
fn place(lane: usize, i: usize, half: bool) -> (usize, usize) {
    let (l, h) = (lane % 4, lane / 16 * 4);
    if half { (l + h, i) } else { (l % 2 + (i & 2) + h, (i & 4) + (l & 2) + i % 2) }
}

fn halves(regs: &Regs, slots: &[u32], lane: usize, i: usize) -> f32 {
    let Pair(low, high) = Pair::<Half>::load(regs.w32[slots[i / 2] as usize][lane]);
    if i.is_multiple_of(2) { low.value() } else { high.value() }
}

/// Exact products, summed in f32 from k = 0 up as for the other shapes; results in f16 are rounded once.
pub(super) fn multiply(regs: &mut Regs, mma: &QuadMma) {
    let (mut a, mut b) = ([[[0f32; 4]; 8]; 4], [[[0f32; 8]; 4]; 4]);
    let mut d = [[[0f32; 8]; 8]; 4];
    let half_c = mma.c.len() == 4;
    for lane in 0..WARP {
        let (q, l, h) = (lane % 16 / 4, lane % 4, lane / 16 * 4);
        for i in 0..4 {
            let (row, k) = if mma.a_by_rows { (l + h, i) } else { (i + h, l) };
            a[q][row][k] = halves(regs, &mma.a, lane, i);
            let (k, column) = if mma.b_by_rows { (l, i + h) } else { (i, l + h) };
            b[q][k][column] = halves(regs, &mma.b, lane, i);
        }
        for i in 0..8 {
            let (row, column) = place(lane, i, half_c);
            d[q][row][column] = match half_c {
                true => halves(regs, &mma.c, lane, i),
                false => f32::from_bits(regs.w32[mma.c[i] as usize][lane]),
            };
        }
    }
    for ((d, a), b) in d.iter_mut().zip(&a).zip(&b) {
        for (row, a) in d.iter_mut().zip(a) {
            for (a, b) in a.iter().zip(b) {
                row.iter_mut().zip(b).for_each(|(d, b)| *d += a * b);
            }
        }
    }
    for lane in 0..WARP {
        let value = |i: usize, half: bool| {
            let (row, column) = place(lane, i, half);
            d[lane % 16 / 4][row][column]
        };
        if mma.d.len() == 8 {
            for (i, &slot) in mma.d.iter().enumerate() {
                regs.w32[slot as usize][lane] = canon(value(i, false)).to_bits();
            }
            continue;
        }
        for (r, &slot) in mma.d.iter().enumerate() {
            let [low, high] = [0, 1].map(|i| Half::rounded(value(2 * r + i, true).into(), Round::Nearest));
            regs.w32[slot as usize][lane] = Pair(low, high).store();
        }
    }
}
