//! Semaphores, by which blocks wait for one another.

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Special, Type};
use girih_tensor::{DType, Space};

use super::{AtomicRef, MemoryOrder, Scope};
use crate::builder::{Builder, Cond};
use crate::error::SyncError;
use crate::{Error, Expr, Memory, Scalar};

/// A u32 in global memory by which the blocks of a kernel hand over to one another (CUTLASS's `Semaphore` and `GenericBarrier`).
///
/// All threads of a block call each method together. What a block wrote before [`Semaphore::release`] or [`Semaphore::arrive`]
/// is seen by a block that has waited for the value that this call leaves. A block may wait forever for a block that has not been
/// launched yet, unless the grid is so small that all its blocks are resident, or blocks wait only for blocks of lower numbers: GPUs start
/// blocks in the order of their numbers, which CUTLASS relies on too, although CUDA does not promise it.
///
/// # Examples
/// ```
/// use girih_codegen::sync::Semaphore;
/// use girih_codegen::{Builder, Expr, Gmem, Scalar};
/// use girih_ptx::{Opcode, Operand, Special, Type};
/// use girih_tensor::DType;
///
/// // The blocks take turns, in their order.
/// let mut b = Builder::new("in_turn", 80, 128);
/// let turn = Gmem::new(b.pointer("turn", 4), DType::U32);
/// let block = Scalar::index(&b.special(Special::CtaidX), DType::U32);
/// let turn = Semaphore::new(&b, &turn)?;
/// turn.wait_eq(&mut b, &block)?;
/// turn.release(&mut b, &(block + 1))?;
/// let text = b.finish()?.module().to_string();
/// assert!(text.contains("ld.acquire.gpu.global") && text.contains("st.release.gpu.global"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Semaphore {
    place: AtomicRef,
    team: Option<Team>,
}

/// The threads of a block that use a semaphore together: one of them, and their named barrier.
#[derive(Clone, Debug)]
struct Team {
    first: Cond,
    barrier: Expr,
    threads: u32,
}

impl Semaphore {
    /// The semaphore at the u32 that `engine` is at.
    ///
    /// # Errors
    /// [`SyncError::Semaphore`] for another dtype than u32 or another memory than global.
    pub fn new(b: &Builder, engine: &impl Memory) -> Result<Semaphore, Error> {
        if engine.dtype() != DType::U32 || engine.space() != Space::Gmem {
            return Err(SyncError::Semaphore { dtype: engine.dtype(), space: engine.space() }.into());
        }
        Ok(Semaphore { place: AtomicRef::new(b, engine, Scope::Gpu)?, team: None })
    }

    /// The same semaphore for some threads of a block, which call each method together: `threads` threads, in whole warps, that meet at
    /// the named barrier `barrier` ([`Builder::named_barrier_sync`]). `first` holds for one of these threads.
    #[must_use]
    pub fn among(self, first: &Cond, barrier: &Expr, threads: u32) -> Semaphore {
        let team = Team { first: first.clone(), barrier: barrier.clone(), threads };
        Semaphore { team: Some(team), ..self }
    }

    /// Waits until the semaphore is `value`.
    ///
    /// # Errors
    /// Those of [`AtomicRef::load`] and [`Builder::scalar`].
    #[track_caller]
    pub fn wait_eq(&self, b: &mut Builder, value: &Scalar) -> Result<(), Error> {
        self.wait(b, |now| now.equals(value))
    }

    /// Waits until the semaphore is `value` or more.
    ///
    /// # Errors
    /// As [`Semaphore::wait_eq`].
    #[track_caller]
    pub fn wait_at_least(&self, b: &mut Builder, value: &Scalar) -> Result<(), Error> {
        self.wait(b, |now| Cond::not(now.less(value)))
    }

    /// Sets the semaphore to `value`, after all that the block has done before.
    ///
    /// # Errors
    /// Those of [`AtomicRef::store`].
    #[track_caller]
    pub fn release(&self, b: &mut Builder, value: &Scalar) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            self.meet(b)?;
            let first = self.first(b);
            b.if_(&first, |b| self.place.store(b, value, MemoryOrder::Release))
        })
    }

    /// Makes the semaphore 0 again, for the next launch, where no block waits for it or adds to it any more in this one.
    ///
    /// # Errors
    /// Those of [`AtomicRef::store`].
    #[track_caller]
    pub fn reset(&self, b: &mut Builder) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            let first = self.first(b);
            b.if_(&first, |b| self.place.store(b, &Scalar::new(DType::U32, 0.0), MemoryOrder::Relaxed))
        })
    }

    /// Adds 1 to the semaphore, after all that the block has done before.
    ///
    /// # Errors
    /// Those of [`AtomicRef::fetch_add`].
    #[track_caller]
    pub fn arrive(&self, b: &mut Builder) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            self.meet(b)?;
            let (first, one) = (self.first(b), Scalar::new(DType::U32, 1.0));
            b.if_(&first, |b| self.place.fetch_add(b, &one, MemoryOrder::Release).map(drop))
        })
    }

    /// Counts the block, after all that the block has done before, and returns whether the block is the last one of `blocks` to be
    /// counted. The last block sees what the others did before they were counted. The semaphore, which was 0, is 0 again then, so that the
    /// next launch finds it as this one did. No block waits for another one.
    ///
    /// # Errors
    /// Those of [`AtomicRef::fetch_inc`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::sync::Semaphore;
    /// use girih_codegen::{Builder, Expr, Gmem};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("last", 80, 128);
    /// let counter = Gmem::new(b.pointer("counter", 4), DType::U32);
    /// let last = Semaphore::new(&b, &counter)?.arrive_last(&mut b, &Expr::from(16))?;
    /// b.if_(&last, |b| Ok(b.barrier()))?;
    /// assert!(b.finish()?.module().to_string().contains("atom.acq_rel.gpu.global.inc.u32"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn arrive_last(&self, b: &mut Builder, blocks: &Expr) -> Result<Cond, Error> {
        b.on_behalf(Location::caller(), |b| {
            self.meet(b)?;
            let first = self.first(b);
            // The first thread alone knows the count, and tells the others at the barrier.
            let before = b.reg(Type::U32);
            b.inst(
                Opcode::Mov,
                &[Type::U32.into()],
                vec![Operand::from(&before), Operand::Int(i64::from(u32::MAX))],
            );
            let most = blocks + -1;
            let limit = match most.as_constant() {
                Some(most) => Scalar::new(DType::U32, most as f64),
                None => Scalar::index(&most, DType::U32),
            };
            b.if_(&first, |b| {
                let count = self.place.fetch_inc(b, &limit, MemoryOrder::AcqRel)?;
                let count = b.scalar(&count)?;
                b.inst(Opcode::Mov, &[Type::U32.into()], vec![Operand::from(&before), Operand::from(&count)]);
                Ok(())
            })?;
            let last = b.scalar_in(&before, DType::U32)?.equals(&limit);
            match &self.team {
                Some(team) => b.named_barrier_or(&team.barrier, team.threads, &last),
                None => b.barrier_or(&last),
            }
        })
    }

    #[track_caller]
    fn wait(&self, b: &mut Builder, until: impl Fn(&Scalar) -> Cond) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            let first = self.first(b);
            b.if_(&first, |b| {
                b.repeat_until(|b| {
                    let now = self.place.load(b, MemoryOrder::Acquire)?;
                    b.cond(&until(&now))
                })
            })?;
            self.meet(b)
        })
    }

    fn meet(&self, b: &mut Builder) -> Result<(), Error> {
        match &self.team {
            Some(team) => b.named_barrier_sync(&team.barrier, team.threads),
            None => {
                b.barrier();
                Ok(())
            }
        }
    }

    /// Whether the thread is the one that accesses the semaphore: the first thread of a one-dimensional block, unless
    /// [`Semaphore::among`] has said which.
    fn first(&self, b: &mut Builder) -> Cond {
        match &self.team {
            Some(team) => team.first.clone(),
            None => Cond::less(&b.special(Special::TidX), &Expr::from(1)),
        }
    }
}
