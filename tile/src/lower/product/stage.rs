//! Operands of products in shared memory.

use girih_codegen::Expr;
use girih_codegen::plan::Dist;
use girih_tensor::DType;

use crate::error::Error;
use crate::ir::{Dims, Value};
use crate::lower::exchange::Spread;
use crate::lower::{Lowering, bytes};
use crate::place::access::{fastest, run};

/// Bytes of the widest access.
const WIDEST: i64 = 16;

/// An operand in shared memory.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    pub(super) dtype: DType,
    pub(super) dims: Dims,
    /// The address of its first element.
    pub(super) base: Expr,
    /// By axis, in elements. One axis has stride 1, and rows along it begin at multiples of 16 bytes that differ in the banks they begin in.
    pub(super) strides: Vec<i64>,
}

impl Lowering<'_> {
    /// Puts operands into shared memory, one behind the other, and lets the threads meet.
    pub(super) fn stage(&mut self, operands: &[Value]) -> Result<Vec<Staged>, Error> {
        let plan = self.plan;
        let mut all: Vec<(Staged, i64)> = Vec::new();
        let mut end = 0;
        for &value in operands {
            let ty = plan.func.ty(value);
            let (strides, size) = arranged(&ty.dims, ty.dtype, plan.dist(value));
            let staged = Staged { dtype: ty.dtype, dims: ty.dims, base: Expr::from(0), strides };
            all.push((staged, end));
            end += size;
        }
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let base = self.scratch(end, WIDEST)?;
        let mut staged = Vec::new();
        for ((mut one, start), &value) in all.into_iter().zip(operands) {
            one.base = &base + start;
            let regs = self.regs(value)?;
            let (dims, strides) = (one.dims, one.strides.clone());
            let spread = Spread { dist: plan.dist(value), dims, start: 0, strides };
            self.write_shared(&one.base, one.dtype, &spread, &regs)?;
            staged.push(one);
        }
        self.meet();
        Ok(staged)
    }

    /// Reads the elements of a distribution of a part of an operand that begins at `offset` elements from its first one. Padding is anything.
    pub(super) fn staged_part(
        &mut self,
        staged: &Staged,
        offset: &Expr,
        dims: Dims,
        dist: &Dist,
    ) -> Result<Vec<girih_codegen::Reg>, Error> {
        let base = &staged.base + &(offset * bytes(staged.dtype));
        let spread = Spread { dist, dims, start: 0, strides: staged.strides.clone() };
        self.read_shared(&base, staged.dtype, &spread)
    }
}

/// The strides of a tile of which threads hold what a distribution says, so that they store it in the widest vectors, and its size in bytes.
fn arranged(dims: &Dims, dtype: DType, dist: &Dist) -> (Vec<i64>, i64) {
    let (rank, size) = (dims.rank(), bytes(dtype));
    let widest = WIDEST / size;
    // K is the last axis of A and the last but one of B: either is as good where threads hold no vectors.
    let modes = (rank - 2..rank).rev();
    let fast = modes.max_by_key(|&mode| (run(dist, mode).min(widest), mode == rank - 1)).unwrap_or(rank - 1);
    let mut strides = vec![1; rank];
    let mut end = 1;
    for (i, &mode) in fastest(fast, rank).iter().enumerate() {
        strides[mode] = end;
        let extent = i64::from(dims[mode]);
        end *= match i {
            // An odd number of vectors.
            0 => ((extent + widest - 1) / widest | 1) * widest,
            _ => extent,
        };
    }
    (strides, (end * size + WIDEST - 1) / WIDEST * WIDEST)
}
