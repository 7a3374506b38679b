//! Partial accumulators that blocks pass to one another through a workspace (split-K, stream-K).

use girih_layout::Lay;
use girih_tensor::{DType, Slice, Tensor};

use crate::algorithm::{Data, copy, transform};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::error::narrow;
use crate::gemm::Arguments;
use crate::gemm::mainloop::Sums;
use crate::params::Params;
use crate::sizes::static_size;
use crate::sync::Semaphore;
use crate::{Error, Expr, Gmem, Memory, Rmem};

/// The bytes of a counter.
pub(in crate::gemm) const SEMAPHORE: i64 = 4;
/// The bytes of which the workspace's address is a multiple.
pub(super) const LINE: i64 = 16;
/// The registers for a thread's accumulators and for what is read together to be added to them.
const REGISTERS: i64 = 160;

/// The threads that have the accumulator, and the workspace through which blocks pass partial accumulators, if there is one.
pub(in crate::gemm) struct Team<'a> {
    /// The thread's index in the team, and the number of its threads.
    pub(in crate::gemm) thread: Expr,
    pub(in crate::gemm) threads: i64,
    /// The named barrier of the team, if the team is not the whole block.
    pub(in crate::gemm) barrier: Option<i64>,
    pub(in crate::gemm) workspace: Option<&'a Workspace>,
}

/// The workspace in which accumulators wait for the block that adds them up: arrays of accumulators, and counters of those that have arrived.
pub(in crate::gemm) struct Workspace {
    sums: Expr,
    arrived: Expr,
}

impl Team<'_> {
    /// The semaphore at `place`, which the team uses together.
    pub(in crate::gemm) fn semaphore(&self, b: &Builder, place: &Gmem) -> Result<Semaphore, Error> {
        let semaphore = Semaphore::new(b, place)?;
        let first = Cond::less(&self.thread, &Expr::from(1));
        Ok(match self.barrier {
            Some(barrier) => semaphore.among(&first, &Expr::from(barrier), narrow("threads", self.threads)?),
            None => semaphore,
        })
    }

    /// Waits for all threads of the team.
    pub(in crate::gemm) fn meet(&self, b: &mut Builder) -> Result<(), Error> {
        match self.barrier {
            Some(barrier) => b.named_barrier_sync(&Expr::from(barrier), narrow("threads", self.threads)?),
            None => {
                b.barrier();
                Ok(())
            }
        }
    }
}

impl Workspace {
    /// Declares the parameters.
    pub(in crate::gemm) fn new(params: &mut Params<Arguments>, b: &mut Builder) -> Workspace {
        let sums = params.pointer(b, "workspace", LINE);
        Workspace { sums, arrived: params.pointer(b, "semaphores", SEMAPHORE) }
    }

    /// The thread's vectors in an array of accumulators, (Width,Columns,Rows): the threads' vectors are side by side.
    pub(super) fn array(
        &self,
        vectors: &Vectors,
        team: &Team<'_>,
        number: &Expr,
    ) -> Result<Tensor<Gmem>, Error> {
        let ([columns, rows], width) = (vectors.counts, vectors.width);
        let (side_by_side, of_array) = (width * team.threads, vectors.count() * width * team.threads);
        let lies = Lay::strided([width, columns, rows], [1, side_by_side, side_by_side * columns])?; // (Width,Columns,Rows)
        let place = &(number * of_array) + &(&team.thread * width);
        Ok(Tensor::new(Gmem::new(&self.sums + &(&place * vectors.bytes), vectors.dtype), lies))
    }

    /// A counter, which the team uses together.
    pub(super) fn counter(
        &self,
        b: &mut Builder,
        team: &Team<'_>,
        number: &Expr,
    ) -> Result<Semaphore, Error> {
        team.semaphore(b, &Gmem::new(&self.arrived + &(number * SEMAPHORE), DType::U32))
    }
}

/// A thread's accumulators as vectors of neighbours.
pub(super) struct Vectors {
    /// (Width,Columns,Rows)
    pub(super) layout: Lay,
    /// The values of a vector: four, where this many make up all values.
    pub(super) width: i64,
    /// The vectors along a row of atoms, and the rows of atoms.
    pub(super) counts: [i64; 2],
    /// The dtype of a sum, and its bytes.
    pub(super) dtype: DType,
    pub(super) bytes: i64,
}

impl Vectors {
    pub(super) fn of(sums: &Sums) -> Result<Vectors, Error> {
        let layout = sums.values.layout();
        let size = |mode: usize| static_size("sums", &layout.mode(mode)?);
        let [values, rows, columns] = [size(0)?, size(1)?, size(2)?];
        // With several atoms along N, the values of one row of atoms do not lie together.
        let [along, rows] = if columns == 1 { [values, rows] } else { [values * rows * columns, 1] };
        let width = if along % 4 == 0 { 4 } else { 1 };
        let (counts, dtype) = ([along / width, rows], sums.values.engine().dtype());
        let layout = Lay::strided([width, counts[0], rows], [1, width, along])?;
        Ok(Vectors { layout, width, counts, dtype, bytes: element_bytes("sums", dtype)? })
    }

    pub(super) fn count(&self) -> i64 {
        self.counts[0] * self.counts[1]
    }

    /// Copies the thread's accumulators to `array`, (Width,Columns,Rows).
    pub(super) fn leave<E: Memory + Data>(
        &self,
        b: &mut Builder,
        sums: &Sums,
        array: &Tensor<E>,
    ) -> Result<(), Error> {
        let own = Tensor::new(sums.values.engine().of_no_tile(), self.layout);
        copy(b, AUTO_VECTORIZING_COPY, &own, array)
    }

    /// `sums = parts[0] + parts[1] + ...`, where each part is a tensor in memory, (Width,Columns,Rows); with `onto`, the accumulators are added to
    /// what they were.
    pub(super) fn add_up<E: Memory + Data>(
        &self,
        b: &mut Builder,
        parts: &[Tensor<E>],
        sums: &Sums,
        onto: bool,
    ) -> Result<(), Error> {
        let own = Tensor::new(sums.values.engine().of_no_tile(), self.layout);
        // As many vectors are read together as registers are left.
        let registers = self.width * (self.bytes / 4).max(1);
        let together = ((REGISTERS - self.count() * registers) / registers).clamp(4, 32) as usize;
        let at_once = (together / parts.len().max(1)).max(1);
        for vector in 0..self.count() {
            let at = (Slice::All, Slice::at(vector % self.counts[0]), Slice::at(vector / self.counts[0]));
            let total = own.slice(at.clone())?; // Width
            for (i, some) in parts.chunks(together).enumerate() {
                let mut read = Vec::new();
                for part in some {
                    let part = part.slice(at.clone())?; // Width
                    let values = Rmem::like(b, &part)?;
                    copy(b, AUTO_VECTORIZING_COPY, &part, &values)?;
                    read.push(values);
                }
                let before = if onto || i > 0 { vec![&total] } else { Vec::new() };
                let all: Vec<&Tensor<Rmem>> = before.into_iter().chain(&read).collect();
                transform(b, &all, &total, |_, x| {
                    let (first, rest) = (x[0].clone(), &x[1..]);
                    Ok(rest.iter().fold(first, |sum, next| &sum + next))
                })?;
            }
            if vector as usize % at_once == at_once - 1 {
                // Without this ptxas moves later reads here, into more registers than there are.
                b.warp_sync();
            }
        }
        Ok(())
    }
}
