//! MMAs by `mma.sync`: a warp computes blocks of the result, and reads the fragments of staged operands by `ldmatrix` where that fits.

use std::collections::HashMap;

use girih_codegen::algorithm::distributed::Group;
use girih_codegen::algorithm::{copy, gemm, pack};
use girih_codegen::atom::{
    CopyAtom, MmaAtom, SM75_U16X2_LDSM_T, SM75_U16X4_LDSM_T, SM75_U16X8_LDSM_T, SM75_U32X1_LDSM_N,
    SM75_U32X2_LDSM_N, SM75_U32X4_LDSM_N,
};
use girih_codegen::plan::{Dist, Leaf};
use girih_codegen::{Builder, Cond, Expr, Reg, Rmem, Smem};
use girih_layout::Lay;
use girih_ptx::{Opcode, Type};
use girih_tensor::{DType, Tensor};

use super::stage::{Staged, Staging};
use crate::error::Result;
use crate::fit;
use crate::ir::{OpId, Value};
use crate::lower::Lowering;
use crate::lower::words::{m, of};
use crate::place::product::{factor_of, fragments, row_modes, sums_of};

/// Lanes of a warp, as bits of their number.
const LANES: usize = 5;

/// A warp's share of an operand.
struct Factor {
    dtype: DType,
    /// All of it, as a distribution.
    whole: Dist,
    /// Elements that a register has.
    packed: i64,
    /// The values of an atom's operand in units of registers.
    words: Vec<Leaf>,
    /// The mode of K, and that of rows or columns.
    modes: [usize; 2],
    from: From,
}

enum From {
    /// The thread's registers, by coordinate relative to the thread's own.
    Registers(Vec<Reg>, HashMap<Vec<i64>, usize>),
    Memory(Staged),
}

/// Blocks of an operand, each of as many registers, as (V,X) of their values.
fn fragment(b: &mut Builder, blocks: Vec<Vec<Reg>>, dtype: DType) -> Result<Tensor<Rmem>> {
    let count = blocks.len();
    // Instructions take tf32 from untyped registers.
    let untyped = |reg: Reg| match reg.ty() {
        Type::F32 => b.inst_to(Type::B32, Opcode::Mov, m![Type::B32], of([&reg])),
        _ => reg,
    };
    let regs = Rmem::of(blocks.concat().into_iter().map(untyped).collect(), dtype)?;
    let lay = Lay::col_major([regs.values() / count, count])?;
    Ok(Tensor::new(regs, lay))
}

/// The coordinates along a mode of the first elements of blocks that a thread has values of.
fn steps(dist: &Dist, block: &Dist, mode: usize) -> Vec<i64> {
    let mut found = vec![0];
    for leaf in dist.vals.iter().filter(|leaf| leaf.mode == mode && !block.vals.contains(leaf)) {
        found = (0..leaf.extent).flat_map(|i| found.iter().map(move |at| at + i * leaf.scale)).collect();
    }
    found.sort_unstable();
    found
}

/// Numbers of values by their coordinates relative to the thread's own.
fn numbers(dist: &Dist, rank: usize) -> HashMap<Vec<i64>, usize> {
    (0..dist.size()).map(|value| (dist.offset(value, rank), value)).collect()
}

/// The coordinates that leaves add to one, in the order of registers.
fn spread(leaves: &[Leaf], at: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![at.to_vec()];
    for leaf in leaves {
        let moved = |i: i64, at: &Vec<i64>| {
            let mut at = at.clone();
            at[leaf.mode] += i * leaf.scale;
            at
        };
        all = (0..leaf.extent)
            .flat_map(|i| all.iter().map(move |at| moved(i, at)).collect::<Vec<_>>())
            .collect();
    }
    all
}

impl Lowering<'_> {
    /// An MMA by `mma.sync`.
    pub(super) fn multiply_warps(&mut self, id: OpId, atom: &MmaAtom) -> Result {
        let plan = self.plan;
        let op = plan.func.op(id);
        let (result, k) = (plan.func.ty(op.results[0]), plan.func.ty(op.operands[0]).dims);
        let rank = result.dims.rank();
        let (row, column) = (rank - 2, rank - 1);
        let sums = plan.dist(op.results[0]);
        let block = sums_of(atom, rank).ok_or_else(|| self.misplaced(id))?;
        let [of_a, of_b] = self.factors(id, atom)?;

        let initial = self.regs(op.operands[2])?;
        let at = numbers(sums, rank);
        let halves = result.dtype == DType::F16;
        let batches: Vec<i64> = if rank == 3 { steps(sums, &block, 0) } else { vec![0] };
        let (rows, columns) = (steps(sums, &block, row), steps(sums, &block, column));
        // The places of the values of all blocks, block by block along the columns, and the registers of each batch.
        let mut places = Vec::new();
        let mut totals = Vec::new();
        for &batch in &batches {
            let mut total = Vec::new();
            for (&i, &j) in rows.iter().flat_map(|i| columns.iter().map(move |j| (i, j))) {
                let corner = if rank == 3 { vec![batch, i, j] } else { vec![i, j] };
                let of_block = spread(&block.vals, &corner);
                let regs: Option<Vec<Reg>> =
                    of_block.iter().map(|place| Some(initial[*at.get(place)?].clone())).collect();
                let mut regs = regs.ok_or_else(|| self.misplaced(id))?;
                if halves {
                    regs = pack(&mut self.b, result.dtype, &regs);
                }
                let own = self.b.regs(regs[0].ty(), regs.len());
                self.b.move_all(&own, &regs)?;
                total.extend(own);
                places.extend(of_block);
            }
            totals.push(total);
        }

        let deep = atom.shape_mnk[2];
        let per_block = block.size();
        let shape = [per_block, rows.len(), columns.len()];
        let lay = Lay::strided(shape, [1, per_block * columns.len(), per_block])?;
        for (&batch, total) in batches.iter().zip(&totals) {
            let c = Tensor::new(Rmem::of(total.clone(), atom.c_type)?, lay);
            for start in (0..i64::from(k[column])).step_by(fit::size(deep)) {
                let a = self.blocks(&of_a, batch, &rows, start)?;
                let a = fragment(&mut self.b, a, atom.a_type)?;
                let b = self.blocks(&of_b, batch, &columns, start)?;
                let b = fragment(&mut self.b, b, atom.b_type)?;
                gemm(&mut self.b, atom, &a, &b, &c)?;
            }
        }

        let mut regs = vec![None; sums.size()];
        let totals = totals.concat();
        let totals = if halves { self.halves(&totals) } else { totals };
        for (place, reg) in places.iter().zip(totals) {
            if let Some(&value) = at.get(place) {
                regs[value] = Some(reg);
            }
        }
        let regs: Option<Vec<Reg>> = regs.into_iter().collect();
        let regs = regs.ok_or_else(|| self.misplaced(id))?;
        self.hold_regs(op.results[0], regs)
    }

    /// The operands of an MMA, each in registers or in shared memory.
    fn factors(&mut self, id: OpId, atom: &MmaAtom) -> Result<[Factor; 2]> {
        let plan = self.plan;
        let op = plan.func.op(id);
        let rank = plan.func.ty(op.results[0]).dims.rank();
        let needed = fragments(&plan.func, op, plan.dist(op.results[0]), plan.products.sm);
        let held = plan.in_registers(id);
        let mut staging = Vec::new();
        for i in (0..2).filter(|&i| !held[i]) {
            let value = op.operands[i];
            let rows = row_modes(plan.func.ty(value).dtype, i, rank);
            staging.push(Staging { value, covered: needed[i].padded(rank), rows });
        }
        let mut staged = self.stage(&staging)?.into_iter();
        let mut made = Vec::new();
        for (i, whole) in needed.into_iter().enumerate() {
            let value = op.operands[i];
            let own = factor_of(atom, i, rank).ok_or_else(|| self.misplaced(id))?;
            let packed = (32 / i64::from(plan.func.ty(value).dtype.bits())).max(1);
            // The leaves of a register's elements come first.
            let mut within = 1;
            let words = own.vals.iter().copied().skip_while(|leaf| {
                within *= leaf.extent;
                within <= packed
            });
            let words = words.collect();
            let modes = if i == 0 { [rank - 1, rank - 2] } else { [rank - 2, rank - 1] };
            let one = if held[i] { None } else { staged.next() };
            let from = match one {
                Some(staged) => From::Memory(staged),
                None => {
                    let regs = self.regs(value)?;
                    let regs = self.without_padding(value, modes[0], &regs)?;
                    From::Registers(regs, numbers(&whole, rank))
                }
            };
            made.push(Factor { dtype: plan.func.ty(value).dtype, whole, packed, words, modes, from });
        }
        <[Factor; 2]>::try_from(made).map_err(|_| self.misplaced(id))
    }

    /// The registers of an operand with zeros beyond its extent along K.
    fn without_padding(&mut self, value: Value, along: usize, regs: &[Reg]) -> Result<Vec<Reg>> {
        let (ty, dist) = (self.plan.func.ty(value), self.plan.dist(value));
        let extent = i64::from(ty.dims[along]);
        let rank = ty.dims.rank();
        if dist.padded(rank)[along] <= extent {
            return Ok(regs.to_vec());
        }
        let zero = self.bits(ty.dtype, 0)?;
        let origin = self.origin(dist, rank)?[along].clone();
        let mut out = Vec::new();
        for (i, reg) in regs.iter().enumerate() {
            let inside = Cond::less(&origin, &Expr::from(extent - dist.offset(i, rank)[along]));
            out.push(self.select(ty.dtype, &inside, reg, &zero)?);
        }
        Ok(out)
    }

    /// The registers of an operand of blocks whose rows or columns begin at `firsts`, at `start` along K.
    fn blocks(&mut self, of: &Factor, batch: i64, firsts: &[i64], start: i64) -> Result<Vec<Vec<Reg>>> {
        let rank = of.modes[0].max(of.modes[1]) + 1;
        let corner = |first: i64| {
            let mut at = vec![0; rank];
            if rank == 3 {
                at[0] = batch;
            }
            at[of.modes[0]] = start;
            at[of.modes[1]] = first;
            at
        };
        match &of.from {
            From::Registers(regs, at) => {
                let mut all = Vec::new();
                for &first in firsts {
                    let mut elements = Vec::new();
                    for mut place in spread(&of.words, &corner(first)) {
                        for _ in 0..of.packed {
                            elements.extend(at.get(&place).map(|&value| regs[value].clone()));
                            place[of.modes[0]] += 1;
                        }
                    }
                    all.push(pack(&mut self.b, of.dtype, &elements));
                }
                Ok(all)
            }
            // `ldmatrix` exchanges rows and columns of elements of 16 bits alone.
            From::Memory(staged)
                if staged.dtype.bytes() == 8
                    || staged.dtype.bytes() == 4 && staged.strides[of.modes[0]] != 1 =>
            {
                let mut all = Vec::new();
                for &first in firsts {
                    let mut words = Vec::new();
                    for at in spread(&of.words, &corner(first)) {
                        let address =
                            self.staged_at(staged, &Dist { vals: Vec::new(), ..of.whole.clone() }, &at)?;
                        words.extend(self.take(staged.dtype, &address, 1, &Cond::Always)?);
                    }
                    all.push(words);
                }
                Ok(all)
            }
            From::Memory(staged) => self.matrices(of, staged, &corner, firsts),
        }
    }

    /// Blocks of an operand by `ldmatrix`, four matrices at a time where there are as many.
    fn matrices(
        &mut self,
        of: &Factor,
        staged: &Staged,
        corner: &impl Fn(i64) -> Vec<i64>,
        firsts: &[i64],
    ) -> Result<Vec<Vec<Reg>>> {
        let [along, other] = of.modes;
        // Rows of matrices are rows of memory.
        let turned = staged.strides[along] != 1;
        let rows = if turned { along } else { other };
        let own: usize = of.words.iter().map(|leaf| fit::size(leaf.extent)).product();
        let mut all = Vec::new();
        let mut at = 0;
        while at < firsts.len() {
            // Two blocks that lie side by side in the thread's values at once, where one has two matrices or fewer.
            let pair = own <= 2 && at + 1 < firsts.len();
            let mut leaves = of.words.clone();
            if pair {
                leaves.push(Leaf { extent: 2, mode: other, scale: firsts[at + 1] - firsts[at] });
            }
            let mut bits: Vec<Option<(usize, i64)>> = [1, 2, 4].map(|scale| Some((rows, scale))).to_vec();
            bits.extend(leaves.iter().map(|leaf| Some((leaf.mode, leaf.scale))));
            bits.resize(LANES, None);
            bits.extend_from_slice(&of.whole.bits[LANES..]);
            let lanes = Dist { bits, vals: Vec::new() };
            let address = self.staged_at(staged, &lanes, &corner(firsts[at]))?;
            let count = if pair { 2 * own } else { own };
            let regs = self.b.regs(Type::B32, count);
            let source = Smem::new(address, staged.dtype, None);
            // A row of a matrix.
            let source = Tensor::new(source, Lay::col_major([16 / staged.dtype.bytes()])?);
            let target = Rmem::of(regs.clone(), staged.dtype)?;
            let values = Lay::col_major([target.values()])?;
            let target = Tensor::new(target, values);
            copy(&mut self.b, ldmatrix(count, turned), &source, &target)?;
            all.extend(regs.chunks(own).map(<[Reg]>::to_vec));
            at += count / own;
        }
        Ok(all)
    }

    /// The address of an element in shared memory: of the thread's own coordinate in a distribution and an offset.
    fn staged_at(&mut self, staged: &Staged, dist: &Dist, offset: &[i64]) -> Result<Expr> {
        let origin = self.origin(dist, offset.len())?;
        let mut at = Expr::from(0);
        for ((origin, &by), &stride) in origin.iter().zip(offset).zip(&staged.strides) {
            at = &at + &(&(origin + by) * stride);
        }
        Ok(&staged.base + &(&at * staged.dtype.bytes()))
    }
}

/// The copy of this many matrices.
fn ldmatrix(count: usize, turned: bool) -> CopyAtom {
    match (count, turned) {
        (1, false) => SM75_U32X1_LDSM_N,
        (2, false) => SM75_U32X2_LDSM_N,
        (_, false) => SM75_U32X4_LDSM_N,
        (1, true) => SM75_U16X2_LDSM_T,
        (2, true) => SM75_U16X4_LDSM_T,
        (_, true) => SM75_U16X8_LDSM_T,
    }
}
