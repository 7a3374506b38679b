//! Operands of MMAs in shared memory.

use girih_codegen::algorithm::distributed::{Group, put, take};
use girih_codegen::plan::{Dist, WIDEST, run};
use girih_codegen::{Cond, Expr, Reg};
use girih_tensor::DType;

use crate::error::Result;
use crate::fit;
use crate::ir::{Dims, Value};
use crate::lower::Lowering;
use crate::lower::shape::piece_at;
use crate::place;
use crate::place::Plan;

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

/// An operand that is to be in shared memory.
#[derive(Clone, Debug)]
pub(super) struct Staging {
    pub(super) value: Value,
    /// The extents that are read: beyond the tile's there are zeros.
    pub(super) covered: Vec<i64>,
    /// The axes along which elements may be in a row, the better one first.
    pub(super) rows: Vec<usize>,
}

impl Staging {
    /// An operand of which no more is read than there is, in whichever order.
    pub(super) fn plain(plan: &Plan, value: Value) -> Staging {
        let dims = plan.func.ty(value).dims;
        let rank = dims.rank();
        Staging { value, covered: dims.iter().map(|&n| n.into()).collect(), rows: vec![rank - 1, rank - 2] }
    }

    /// The strides under which threads that hold what a distribution says store in the widest vectors, and the size in bytes.
    fn arranged(&self, dtype: DType, dist: &Dist) -> (Vec<i64>, i64) {
        let size = dtype.bytes();
        let vector = |mode: usize| run(dist, mode).min(WIDEST / size);
        let fast = self.rows.iter().copied().reduce(|x, y| if vector(y) > vector(x) { y } else { x });
        let fast = fast.unwrap_or(self.covered.len() - 1);
        place::product::rows(&self.covered, fast, size)
    }
}

impl Lowering<'_> {
    /// Operands in shared memory: where earlier iterations have loaded them, or one after the other.
    pub(super) fn stage(&mut self, operands: &[Staging]) -> Result<Vec<Staged>> {
        let mut all = Vec::new();
        for operand in operands {
            all.push(self.early(operand.value)?);
        }
        let missing = operands.iter().zip(&all).filter(|(_, early)| early.is_none());
        let missing: Vec<Staging> = missing.map(|(operand, _)| operand.clone()).collect();
        let mut stored = self.store_staged(&missing)?.into_iter();
        Ok(all.into_iter().filter_map(|early| early.or_else(|| stored.next())).collect())
    }

    /// Puts operands into shared memory, one after the other, and adds a barrier.
    fn store_staged(&mut self, operands: &[Staging]) -> Result<Vec<Staged>> {
        let plan = self.plan;
        let mut all: Vec<Staged> = Vec::new();
        let mut places = Vec::new();
        let mut end = 0;
        for staging in operands {
            let ty = plan.func.ty(staging.value);
            let (strides, size) = staging.arranged(ty.dtype, plan.dist(staging.value));
            all.push(Staged { dtype: ty.dtype, dims: ty.dims, base: Expr::from(0), strides });
            places.push((end, size));
            end += size;
        }
        if all.is_empty() {
            return Ok(all);
        }
        let base = self.scratch(end, WIDEST)?;
        let mut clear = false;
        for ((one, staging), &(start, size)) in all.iter_mut().zip(operands).zip(&places) {
            one.base = &base + start;
            if staging.covered.iter().zip(one.dims.iter()).any(|(covered, &n)| *covered > i64::from(n)) {
                self.zeros(&one.base, size)?;
                clear = true;
            }
        }
        if clear {
            self.meet();
        }
        for (one, staging) in all.iter().zip(operands) {
            let regs = self.regs(staging.value)?;
            let dist = plan.dist(staging.value);
            put(self, &piece_at(one.dtype, dist, &one.dims, &one.strides), &regs, &one.base, None)?;
        }
        self.meet();
        Ok(all)
    }

    /// Fills shared memory with zeros, all threads together; `size` is a number of whole vectors.
    pub(super) fn zeros(&mut self, base: &Expr, size: i64) -> Result {
        let zero = vec![self.bits(DType::F32, 0)?; fit::size(WIDEST / 4)];
        let threads = i64::from(self.plan.threads);
        let vectors = size / WIDEST;
        for first in (0..vectors).step_by(fit::size(threads)) {
            let address = base + &(&(&self.thread + first) * WIDEST);
            let inside = Cond::less(&self.thread, &Expr::from(vectors - first));
            self.put(DType::F32, &address, &zero, &inside)?;
        }
        Ok(())
    }

    /// Reads the elements of a distribution of a part of an operand that begins at `offset` elements from its first one. Padding is anything.
    pub(super) fn staged_part(
        &mut self,
        staged: &Staged,
        offset: &Expr,
        dims: Dims,
        dist: &Dist,
    ) -> Result<Vec<Reg>> {
        let base = &staged.base + &(offset * staged.dtype.bytes());
        take(self, &piece_at(staged.dtype, dist, &dims, &staged.strides), &base, None, &[])
    }
}
