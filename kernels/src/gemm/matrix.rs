//! The matrices of problems.

use girih_codegen::gemm::Major;
use girih_layout::Lay;

use super::problem::check_extent;
use crate::Error;
use girih_device::sizes::wide;

/// One matrix of a problem: its extents, as in CuTe (A is M x K, B is N x K, C is M x N), and its strides. Of a batch, these are the
/// matrices of all GEMMs, (M,K,L), (N,K,L) and (M,N,L).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    pub(super) extents: [i64; 2],
    /// 0 or 1.
    pub(super) contiguous: usize,
    pub(super) ld: i64,
    pub(super) alignment: i64,
    /// How many matrices there are, and the elements from one to the next; without a number they follow each other without a gap.
    pub(super) batches: i64,
    pub(super) stride: Option<i64>,
    /// Whether each matrix is at an address of its own.
    pub(super) by_pointers: bool,
}

/// The bytes of which addresses are multiples unless a problem says otherwise: those of the widest load.
pub(super) const ALIGNMENT: i64 = 16;

impl Matrix {
    pub(super) fn tight(extents: [i64; 2], contiguous: usize) -> Matrix {
        let ld = extents[contiguous].max(1);
        Matrix { extents, contiguous, ld, alignment: ALIGNMENT, batches: 1, stride: None, by_pointers: false }
    }

    /// Whether the pitch counts: a mode of one element has no stride, and a matrix without elements has none.
    fn has_pitch(&self) -> bool {
        self.extents[1 - self.contiguous] > 1 && self.extents[self.contiguous] > 0
    }

    /// The pitch that a kernel is given: that of a single row, or column, does not count, and is a multiple of what any kernel loads at once.
    pub(super) fn bound_pitch(&self) -> i64 {
        if self.has_pitch() { self.ld } else { (self.ld + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT }
    }

    /// The same with rows, or columns, that begin every `ld` elements. Where no pitch counts, any is accepted, and the matrix keeps that of a
    /// matrix without gaps: what is derived from it does not depend on what was given.
    pub(super) fn pitched(
        self,
        ld: Option<i64>,
        what: &'static str,
        name: &'static str,
    ) -> Result<Matrix, Error> {
        let Some(ld) = ld.filter(|_| self.has_pitch()) else { return Ok(self) };
        let row = self.extents[self.contiguous];
        if ld < row {
            return Err(Error::LeadingStride { what, value: ld, matrix: name, row });
        }
        check_extent(what, ld, 1)?;
        Ok(Matrix { ld, ..self })
    }

    /// As many such matrices, `stride` elements apart. Of one matrix, or of empty ones, any stride is accepted, and none is kept.
    pub(super) fn repeated(self, batches: i64, stride: Option<i64>) -> Matrix {
        let stride = stride.filter(|_| batches > 1 && !self.extents.contains(&0));
        Matrix { batches, stride, by_pointers: false, ..self }
    }

    /// The matrices in memory of their own, where a row, or column, begins every `ld` elements. Matrices that all are the same stay so.
    pub(super) fn elsewhere(self, extents: [i64; 2], contiguous: usize, ld: i64) -> Matrix {
        Matrix {
            extents,
            contiguous,
            ld,
            alignment: ALIGNMENT,
            stride: self.stride.filter(|stride| *stride == 0),
            ..self
        }
    }

    /// Elements in its two modes.
    pub fn extents(&self) -> [i64; 2] {
        self.extents
    }

    /// Which mode has stride 1: 0 or 1.
    pub fn contiguous(&self) -> usize {
        self.contiguous
    }

    /// Which mode that is, as kernels name it: [`Major::K`] for mode 1, also of C, and [`Major::Mn`] for mode 0.
    pub fn major(&self) -> Major {
        if self.contiguous == 1 { Major::K } else { Major::Mn }
    }

    /// The stride of the other mode in elements.
    pub fn ld(&self) -> i64 {
        self.ld
    }

    /// The bytes of which the address of its first element is a multiple: a power of two, at most 16.
    pub fn alignment(&self) -> i64 {
        self.alignment
    }

    /// How many matrices there are: one for each GEMM of a batch.
    pub fn batches(&self) -> i64 {
        self.batches
    }

    /// The elements from the first element of a matrix to that of the next GEMM's, 0 if all GEMMs have the same matrix, or if each
    /// is at an address of its own.
    pub fn batch_stride(&self) -> i64 {
        let tight = if self.by_pointers { 0 } else { self.ld * self.extents[1 - self.contiguous] };
        self.stride.unwrap_or(tight)
    }

    /// How many matrices there are that differ: one if all GEMMs have the same.
    pub fn different(&self) -> i64 {
        if self.batch_stride() == 0 && !self.by_pointers { self.batches.min(1) } else { self.batches }
    }

    /// How many elements are between the first and the last element, both counted; of a batch, of all matrices together, but of each alone
    /// that is at an address of its own. It is 0 if there are no elements.
    pub fn span(&self) -> i64 {
        let [x, y] = self.extents;
        if x == 0 || y == 0 || self.batches == 0 {
            0
        } else {
            (self.batches - 1) * self.batch_stride()
                + (self.extents[1 - self.contiguous] - 1) * self.ld
                + self.extents[self.contiguous]
        }
    }

    /// Its extents and strides as those of a tensor, with the batch as the third mode, unless each matrix has an address of its own.
    pub(super) fn modes(&self) -> [[i64; 4]; 2] {
        let ([x, y], [dx, dy]) = (self.extents, self.strides());
        if self.by_pointers {
            return [[x, y, 1, 1], [dx, dy, 0, 0]];
        }
        [[x, y, self.batches, 1], [dx, dy, self.batch_stride(), 0]]
    }

    /// Two coordinates that have one element in common, if there are any; of matrices at addresses of their own that is known when these are. Where
    /// the strides are so unrelated that a search would be too long, there may be.
    pub(super) fn twice(&self) -> Result<Option<String>, Error> {
        if self.batches <= 1 || self.by_pointers || self.extents.contains(&0) {
            return Ok(None);
        }
        if self.batch_stride() >= (Matrix { batches: 1, ..*self }).span() {
            return Ok(None);
        }
        let [[x, y, l, _], [dx, dy, dl, _]] = self.modes();
        match Lay::strided([x, y, l], [dx, dy, dl])?.self_overlap() {
            Ok(None) => Ok(None),
            Ok(Some((a, b))) => Ok(Some(format!("{a} and {b}"))),
            Err(_) => Ok(Some(String::from("perhaps some"))),
        }
    }

    /// Checks that `len` elements hold the matrix.
    pub(crate) fn fits(&self, name: &'static str, len: usize) -> Result<(), Error> {
        if wide(self.span()) > len as u64 {
            return Err(Error::BufferTooSmall { matrix: name, needed: self.span(), len });
        }
        Ok(())
    }

    /// The strides of its two modes in elements.
    pub fn strides(&self) -> [i64; 2] {
        if self.contiguous == 1 { [self.ld, 1] } else { [1, self.ld] }
    }

    /// The offset in elements of `(x, y)`.
    pub fn offset(&self, x: i64, y: i64) -> i64 {
        let [dx, dy] = self.strides();
        x * dx + y * dy
    }

    /// The offset in elements of `(x, y, l)`, an element of the matrix of GEMM `l`; in that matrix, if it is at an address of its own.
    pub fn offset_in(&self, x: i64, y: i64, l: i64) -> i64 {
        self.offset(x, y) + l * self.batch_stride()
    }
}

impl std::fmt::Display for Matrix {
    /// The matrix's layout as CuTe prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([x, y], [dx, dy]) = (self.extents, self.strides());
        match self.batches {
            l if self.by_pointers => write!(f, "({x},{y}):({dx},{dy}) at {l} addresses"),
            1 => write!(f, "({x},{y}):({dx},{dy})"),
            l => write!(f, "({x},{y},{l}):({dx},{dy},{})", self.batch_stride()),
        }
    }
}
