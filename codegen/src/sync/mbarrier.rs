//! An mbarrier in shared memory (PTX ISA, "mbarrier"; CUTLASS's `ClusterTransactionBarrier`).

use std::panic::Location;

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};

use crate::builder::{Builder, Cond, Width};
use crate::error::SyncError;
use crate::{Error, Expr};

/// The size of an mbarrier in bytes, of which its address must be a multiple.
pub const MBARRIER_BYTES: i64 = 8;
/// The most arrivals that a phase can wait for.
const COUNT: i64 = (1 << 20) - 1;

/// An mbarrier in shared memory. A phase of it ends when all arrivals and all bytes of the phase have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    address: Expr,
}

impl Mbarrier {
    /// The mbarrier at `address`, in bytes of shared memory.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the address is not known to be a multiple of 8.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Mbarrier};
    ///
    /// let mut b = Builder::new("k", 90, 32);
    /// let barrier = Mbarrier::new(&b.alloc_shared(8, 8)?)?;
    /// barrier.init(&mut b, 32)?;
    /// b.barrier();
    /// barrier.arrive(&mut b, &girih_codegen::Cond::Always)?;
    /// barrier.wait(&mut b, &0.into())?;
    /// assert!(Mbarrier::new(&(&b.alloc_shared(16, 8)? + 4)).is_err());
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn new(address: &Expr) -> Result<Mbarrier, Error> {
        if address.multiple() % MBARRIER_BYTES != 0 {
            return Err(Error::Mismatch {
                what: "mbarrier",
                layout: address.to_string(),
                with: String::from("an mbarrier"),
                accepted: "addresses that are known to be multiples of 8 bytes",
            });
        }
        Ok(Mbarrier { address: address.clone() })
    }

    /// The address of the mbarrier in bytes of shared memory, which [`CopyWith::barrier`](crate::algorithm::CopyWith::barrier) takes.
    pub fn address(&self) -> &Expr {
        &self.address
    }

    #[track_caller]
    fn inst(
        &self,
        b: &mut Builder,
        cond: &Cond,
        words: &[Word],
        mut before: Vec<Operand>,
        after: Vec<Operand>,
    ) -> Result<(), Error> {
        let words = words.iter().chain([&Word::SharedCta]).map(|&word| word.into());
        let modifiers: Vec<Modifier> = words.chain([Type::B64.into()]).collect();
        before.push(b.address(&self.address, Width::W32)?);
        before.extend(after);
        b.inst_if(cond, Opcode::Mbarrier, &modifiers, before)
    }

    /// Initialises the mbarrier, each phase of which waits for `count` arrivals. One thread does this;
    /// [`fence_barrier_init`](crate::algorithm::fence_barrier_init) and a barrier follow before others use the mbarrier.
    ///
    /// # Errors
    /// [`SyncError::Arrivals`] unless `count` is in 1 to 2^20 - 1.
    #[track_caller]
    pub fn init(&self, b: &mut Builder, count: i64) -> Result<(), Error> {
        if !(1..=COUNT).contains(&count) {
            return Err(SyncError::Arrivals { arrivals: count, most: COUNT }.into());
        }
        self.inst(b, &Cond::Always, &[Word::Init], Vec::new(), vec![Operand::Int(count)])
    }

    /// The threads where `cond` holds arrive. What these threads did before is seen by the threads that wait for the phase.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn arrive(&self, b: &mut Builder, cond: &Cond) -> Result<(), Error> {
        self.inst(b, cond, &[Word::Arrive], vec![Operand::Sink], Vec::new())
    }

    /// The threads where `cond` holds arrive at the mbarrier that is at the same address in the block `rank` of the cluster.
    /// What these threads wrote before is not handed over by the arrival.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn arrive_remote(&self, b: &mut Builder, rank: &Expr, cond: &Cond) -> Result<(), Error> {
        let own = b.value(&self.address, Width::W32)?;
        let rank = b.operand(rank, Width::W32)?;
        let there = b.reg(Type::U32);
        let modifiers = [Word::SharedCluster.into(), Type::U32.into()];
        // The rank may be no block's where the condition does not hold.
        b.inst_if(cond, Opcode::Mapa, &modifiers, vec![Operand::from(&there), Operand::from(&own), rank])?;
        let modifiers = [Word::Arrive.into(), Word::SharedCluster.into(), Type::B64.into()];
        let operands = vec![Operand::Sink, crate::builder::address(&there, 0)];
        b.inst_if(cond, Opcode::Mbarrier, &modifiers, operands)
    }

    /// The threads where `cond` holds arrive, and each of them makes the phase wait for `bytes` bytes of asynchronous copies. All bytes
    /// of a TMA copy's box count, also the bytes outside of the tensor.
    ///
    /// # Errors
    /// [`SyncError::Bytes`] unless `bytes` is in 0 to 2^20 - 1; as [`Builder::value`].
    #[track_caller]
    pub fn arrive_and_expect_tx(&self, b: &mut Builder, bytes: i64, cond: &Cond) -> Result<(), Error> {
        if !(0..=COUNT).contains(&bytes) {
            return Err(SyncError::Bytes { bytes, most: COUNT }.into());
        }
        self.inst(b, cond, &[Word::Arrive, Word::ExpectTx], vec![Operand::Sink], vec![Operand::Int(bytes)])
    }

    /// The thread arrives once the copies by `cp.async` that it has issued so far are complete, as one of the arrivals that a phase waits for
    /// (CUTLASS's `cpasync_barrier_arrive_noinc`). The threads that wait for the phase see what was copied.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn cp_async_arrive_noinc(&self, b: &mut Builder) -> Result<(), Error> {
        let words = [Word::Async, Word::Mbarrier, Word::Arrive, Word::Noinc, Word::SharedCta];
        let modifiers: Vec<Modifier> = words.map(Into::into).into_iter().chain([Type::B64.into()]).collect();
        let address = b.address(&self.address, Width::W32)?;
        b.inst(Opcode::Cp, &modifiers, vec![address]);
        Ok(())
    }

    /// Waits until the phase of this parity has ended. The first phase and every second one after it have parity 0, the other phases
    /// parity 1. In a new mbarrier the phase of parity 1 counts as ended.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub fn wait(&self, b: &mut Builder, parity: &Expr) -> Result<(), Error> {
        let parity = b.operand(parity, Width::W32)?;
        b.on_behalf(Location::caller(), |b| {
            b.repeat_until(|b| {
                let ended = b.reg(Type::Pred);
                let words = [Word::TryWait, Word::Parity];
                self.inst(b, &Cond::Always, &words, vec![Operand::from(&ended)], vec![parity])?;
                Ok(ended)
            })
        })
    }
}
