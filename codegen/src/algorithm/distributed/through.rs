//! Exchange of tuples between warps through shared memory.

use girih_tensor::{DType, Space};

use super::combine::Tuple;
use super::{Group, LANE_BITS, weigh};
use crate::Expr;
use crate::algorithm::{load_elements, store_elements};
use crate::builder::Cond;
use crate::plan::{Dist, WIDEST};

/// The most bytes of shared memory that tuples go through at once, if one of each thread fits.
const BATCH: i64 = 64 << 10;

/// How many tuples of each thread go through shared memory at once.
pub(super) fn batch(dtypes: &[DType], dist: &Dist) -> usize {
    let width: i64 = dtypes.iter().map(|&dtype| dtype.bytes()).sum();
    (BATCH / (width * dist.threads())).max(1) as usize
}

/// Tuples of threads in shared memory.
pub(super) struct Through {
    dtypes: Vec<DType>,
    /// Where the elements of each operand begin.
    starts: Vec<i64>,
    base: Expr,
    /// The first slot of the thread's group of warps.
    first: Expr,
    slots: i64,
    /// Slots of all groups.
    size: i64,
}

impl Through {
    /// Puts a tuple of each warp of a group, whose threads' numbers differ in the bits `warps`, into shared memory. The threads that differ
    /// in the bits `same` hold the same.
    pub(super) fn of_warps<G: Group>(
        group: &mut G,
        dtypes: &[DType],
        dist: &Dist,
        [same, warps]: [&[usize]; 2],
        tuples: &[Tuple],
    ) -> Result<Through, G::Error> {
        let others: Vec<usize> = (0..dist.bits.len())
            .filter(|bit| dist.bits[*bit].is_some() && !same.contains(bit) && !warps.contains(bit))
            .collect();
        let (slots, groups) = (1i64 << warps.len(), 1i64 << others.len());
        // Lanes that read vectors of groups a power of two apart would meet in the same banks.
        let narrowest = dtypes.iter().map(|&dtype| dtype.bytes()).min().unwrap_or(WIDEST);
        let apart = others.iter().any(|&bit| bit < LANE_BITS) && slots * narrowest > WIDEST;
        let pitch = if apart { slots + WIDEST / narrowest } else { slots };
        let thread = group.thread();
        let (first, slot) = (weigh(&thread, &others, pitch)?, weigh(&thread, warps, 1)?);
        let copies = dist.copies() | same.iter().map(|bit| 1i64 << bit).sum::<i64>();
        let writes = Cond::less(&thread.and(copies)?, &Expr::from(1));
        Through::of_threads(group, dtypes, tuples, [first, slot], [slots, groups * pitch], &writes)
    }

    /// Puts a thread's tuples into shared memory, where `writes` holds: into a slot from `first` on, of which there are `slots` of `size` in all.
    pub(super) fn of_threads<G: Group>(
        group: &mut G,
        dtypes: &[DType],
        tuples: &[Tuple],
        [first, slot]: [Expr; 2],
        [slots, size]: [i64; 2],
        writes: &Cond,
    ) -> Result<Through, G::Error> {
        let mut starts = Vec::new();
        let mut end = 0;
        for &dtype in dtypes {
            end = (end + 15) / 16 * 16;
            starts.push(end);
            end += tuples.len() as i64 * size * dtype.bytes();
        }
        let base = group.scratch(end, 16)?;
        let through = Through { dtypes: dtypes.to_vec(), starts, base, first, slots, size };
        for (place, tuple) in tuples.iter().enumerate() {
            for (i, reg) in tuple.iter().enumerate() {
                let (at, reg) = (through.address(i, place, &slot), std::slice::from_ref(reg));
                store_elements(group.builder(), Space::Smem, dtypes[i], &at, writes, reg)?;
            }
        }
        group.sync();
        Ok(through)
    }

    fn address(&self, operand: usize, place: usize, slot: &Expr) -> Expr {
        let size = self.dtypes[operand].bytes();
        let first = self.starts[operand] + place as i64 * self.size * size;
        &(&self.base + first) + &(&(&self.first + slot) * size)
    }

    /// The tuple in a slot of the thread's group.
    pub(super) fn read<G: Group>(&self, group: &mut G, place: usize, slot: &Expr) -> Result<Tuple, G::Error> {
        let mut tuple = Vec::new();
        for (i, &dtype) in self.dtypes.iter().enumerate() {
            let at = self.address(i, place, slot);
            let b = group.builder();
            tuple.extend(load_elements(b, Space::Smem, dtype, 1, &at, &Cond::Always, Some(0))?);
        }
        Ok(tuple)
    }

    /// The tuples of all slots of the thread's group.
    pub(super) fn read_all<G: Group>(&self, group: &mut G, place: usize) -> Result<Vec<Tuple>, G::Error> {
        let mut tuples: Vec<Tuple> = vec![Vec::new(); self.slots as usize];
        for (i, &dtype) in self.dtypes.iter().enumerate() {
            let vector = self.slots.min(WIDEST / dtype.bytes()) as usize;
            for first in (0..self.slots as usize).step_by(vector) {
                let at = self.address(i, place, &Expr::from(first as i64));
                let b = group.builder();
                let regs = load_elements(b, Space::Smem, dtype, vector, &at, &Cond::Always, Some(0))?;
                regs.into_iter().enumerate().for_each(|(k, reg)| tuples[first + k].push(reg));
            }
        }
        Ok(tuples)
    }
}
