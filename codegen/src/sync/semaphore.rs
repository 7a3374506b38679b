//! Blocks that wait for one another.

use std::panic::Location;

use girih_ptx::Special;
use girih_tensor::{DType, Space};

use super::{AtomicRef, MemoryOrder, Scope};
use crate::builder::{Builder, Cond};
use crate::{Error, Expr, Memory, Scalar};

/// A u32 in global memory by which the blocks of a kernel hand over to one another (CUTLASS's `Semaphore` and `GenericBarrier`).
///
/// All threads of a block call each method together. What a block wrote before [`Semaphore::release`] or [`Semaphore::arrive`]
/// is seen by a block behind a wait for the value that these leave. A block that waits for one that has not been launched yet
/// waits forever, unless the grid is small enough for all its blocks to be resident or blocks wait only for lower ones.
///
/// # Examples
/// ```
/// use girih_codegen::sync::Semaphore;
/// use girih_codegen::{Builder, Expr, Gmem, Scalar};
/// use girih_ptx::Special;
/// use girih_tensor::DType;
///
/// // The blocks one after another, in their order.
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
pub struct Semaphore(AtomicRef);

impl Semaphore {
    /// The semaphore at the u32 that `engine` stands at.
    ///
    /// # Errors
    /// [`Error::Config`] for another dtype than u32 or another memory than global.
    pub fn new(b: &Builder, engine: &impl Memory) -> Result<Semaphore, Error> {
        if engine.dtype() != DType::U32 || engine.space() != Space::Gmem {
            return Err(Error::Config {
                what: "semaphore",
                value: format!("{} in {:?}", engine.dtype(), engine.space()),
                accepted: String::from("a u32 in global memory"),
            });
        }
        AtomicRef::new(b, engine, Scope::Gpu).map(Semaphore)
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

    /// Sets the semaphore to `value`, behind all that the block has done.
    ///
    /// # Errors
    /// Those of [`AtomicRef::store`].
    #[track_caller]
    pub fn release(&self, b: &mut Builder, value: &Scalar) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            b.barrier();
            let first = first_thread(b);
            b.if_(&first, |b| self.0.store(b, value, MemoryOrder::Release))
        })
    }

    /// Adds 1 to the semaphore, behind all that the block has done.
    ///
    /// # Errors
    /// Those of [`AtomicRef::fetch_add`].
    #[track_caller]
    pub fn arrive(&self, b: &mut Builder) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            b.barrier();
            let (first, one) = (first_thread(b), Scalar::new(DType::U32, 1.0));
            b.if_(&first, |b| self.0.fetch_add(b, &one, MemoryOrder::Release).map(drop))
        })
    }

    #[track_caller]
    fn wait(&self, b: &mut Builder, until: impl Fn(&Scalar) -> Cond) -> Result<(), Error> {
        b.on_behalf(Location::caller(), |b| {
            let first = first_thread(b);
            b.if_(&first, |b| {
                b.repeat_until(|b| {
                    let now = self.0.load(b, MemoryOrder::Acquire)?;
                    b.cond(&until(&now))
                })
            })?;
            b.barrier();
            Ok(())
        })
    }
}

/// Whether the thread is the first one of a one-dimensional block.
fn first_thread(b: &mut Builder) -> Cond {
    Cond::less(&b.special(Special::TidX), &Expr::from(1))
}
