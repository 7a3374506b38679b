//! What a kernel computes, and what memory and the copies of operands take for it.

use girih_codegen::gemm::Major;

use super::MEMORY;
use crate::gemm::Problem;
use crate::gemm::repitch::between;

/// Bytes of a sector, the least that memory writes. Where rows of C begin within one, the L2 cache reads what is written in part: this share of C, and this many
/// sectors for each row of a tile.
pub(super) const SECTOR: f64 = 32.0;
const FILLED: f64 = 0.64;
const FILLED_SECTORS: f64 = 4.3;
/// Bytes of which the pitch and the address of what a tensor map describes are multiples.
const MAP: i64 = 16;
/// Cycles of a pass that copies A or B before the kernel, for each of its rows, and the bytes that are read and written in a cycle.
const PASS: f64 = 590.0;
const PASS_ROW: f64 = 0.46;
const PASS_BYTES: f64 = 2570.0;

/// What a kernel computes, as the kernel lays it out.
#[derive(Clone, Copy, Debug)]
pub(in crate::gemm) struct Work {
    pub(super) mnk: [f64; 3],
    pub(super) batches: f64,
    /// Bytes of an element of A and B, and of one of C.
    pub(super) bytes: [f64; 2],
    /// Whether A and B are contiguous along K.
    pub(super) along_k: [bool; 2],
    /// Elements of C from row to row, if rows begin within sectors of memory.
    straddles: Option<f64>,
    /// Cycles of the copies of an A and B that tensor maps do not take as they are.
    pub(super) passes: f64,
}

impl Work {
    /// The work of a problem in the orientation in which a kernel computes it.
    pub(in crate::gemm) fn of(oriented: &Problem) -> Work {
        let bytes = [oriented.dtype(), oriented.output()].map(|dtype| f64::from(dtype.bits()) / 8.0);
        let [a, b, c] = [oriented.a(), oriented.b(), oriented.c()];
        let pitch = c.ld() as f64;
        let passes = [&a, &b].map(|matrix| {
            let begin_at =
                |multiple: i64| matrix.bound_pitch() % multiple == 0 && between(matrix) % multiple == 0;
            let unit = MAP * 8 / i64::from(oriented.dtype().bits());
            if begin_at(unit) && matrix.alignment() % MAP == 0 {
                return 0.0;
            }
            let along = matrix.contiguous();
            let extents = matrix.extents().map(|extent| extent as f64);
            let rows = extents[1 - along] * matrix.different() as f64;
            PASS + (rows * PASS_ROW).hypot(2.0 * rows * extents[along] * bytes[0] / PASS_BYTES)
        });
        Work {
            mnk: oriented.mnk().map(|extent| extent as f64),
            batches: oriented.batches() as f64,
            bytes,
            along_k: [a.major(), b.major()].map(|major| major == Major::K),
            straddles: (pitch * bytes[1] % SECTOR != 0.0).then_some(pitch),
            passes: passes.iter().sum(),
        }
    }

    /// Whether tensor maps take A and B as they are.
    pub(in crate::gemm::choose) fn is_taken(&self) -> bool {
        self.passes == 0.0
    }

    /// Cycles of memory for what is read and written once, by tiles with rows of `width` elements of C.
    pub(super) fn traffic(&self, width: f64) -> f64 {
        let ([m, n, k], [element, output]) = (self.mnk, self.bytes);
        let filled = match self.straddles {
            // Whole rows follow one another.
            Some(pitch) if width < pitch => FILLED + FILLED_SECTORS * SECTOR / (width * output),
            _ => 0.0,
        };
        self.batches * ((m * k + n * k) * element + m * n * output * (1.0 + filled)) / MEMORY
    }
}
