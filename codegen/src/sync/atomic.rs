//! Atomic operations on elements of tensors.

use std::panic::Location;

use girih_ptx::{Modifier, Opcode, Operand, Type, Word};
use girih_tensor::{DType, Space};

use super::{MemoryOrder, Scope, atomic_thread_fence};
use crate::builder::{Builder, Reg, Width};
use crate::error::SyncError;
use crate::scalar::lower;
use crate::{Error, Expr, Memory, Scalar};

/// An element of a tensor in global or shared memory that threads access atomically (C++'s `cuda::atomic_ref`; PTX ISA, "atom").
///
/// Other threads that access the element meanwhile must do so atomically too, in a scope that has both threads; any other access
/// is a race, which the simulator reports.
///
/// # Examples
/// ```
/// use girih_codegen::sync::{AtomicRef, MemoryOrder, Scope};
/// use girih_codegen::{Builder, Gmem, Scalar};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("count", 80, 32);
/// let counter = Gmem::new(b.pointer("counter", 4), DType::U32);
/// let counter = AtomicRef::new(&b, &counter, Scope::Gpu)?;
/// let before = counter.fetch_add(&mut b, &Scalar::new(DType::U32, 1.0), MemoryOrder::Relaxed)?;
/// b.scalar(&(before + 1))?;
/// assert!(b.finish()?.module().to_string().contains("atom.relaxed.gpu.global.add.u32"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AtomicRef {
    space: Space,
    address: Expr,
    dtype: DType,
    scope: Scope,
}

const NUMBERS: &[DType] =
    &[DType::F64, DType::F32, DType::F16, DType::Bf16, DType::S64, DType::U64, DType::S32, DType::U32];
const INTEGERS: &[DType] = &[DType::S64, DType::U64, DType::S32, DType::U32];
/// The dtypes of 32 and 64 bits.
const WORDS: &[DType] = &[DType::F64, DType::F32, DType::S64, DType::U64, DType::S32, DType::U32];

impl AtomicRef {
    /// The element that `engine` is at ([`Tensor::engine`](girih_tensor::Tensor::engine) of a slice that is one element).
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another dtype than f64, f32, f16, bf16, s64, u64, s32 or u32; [`SyncError::Scope`] for [`Scope::Cluster`]
    /// below sm_90; those of [`Memory::address`].
    pub fn new(b: &Builder, engine: &impl Memory, scope: Scope) -> Result<AtomicRef, Error> {
        scope.check(b)?;
        let at =
            AtomicRef { space: engine.space(), address: engine.address()?, dtype: engine.dtype(), scope };
        at.check("an atomic operation", NUMBERS)?;
        Ok(at)
    }

    /// Reads the element (`ld`).
    ///
    /// # Errors
    /// [`SyncError::LoadOrder`] for [`MemoryOrder::Release`] and [`MemoryOrder::AcqRel`], which loads do not have.
    #[track_caller]
    pub fn load(&self, b: &mut Builder, order: MemoryOrder) -> Result<Scalar, Error> {
        let word = match order {
            MemoryOrder::Relaxed => Word::Relaxed,
            MemoryOrder::Acquire | MemoryOrder::SeqCst => Word::Acquire,
            order => return Err(SyncError::LoadOrder { order: format!("{order:?}") }.into()),
        };
        b.on_behalf(Location::caller(), |b| {
            self.fence_before(b, order)?;
            let out = b.reg(lower::register(self.dtype));
            let modifiers = [word.into(), self.scope.word(), self.memory()?, lower::bits(self.dtype).into()];
            let address = b.address(&self.address, self.width())?;
            b.inst(Opcode::Ld, &modifiers, vec![Operand::from(&out), address]);
            b.scalar_in(&out, self.dtype)
        })
    }

    /// Writes the element (`st`).
    ///
    /// # Errors
    /// [`SyncError::StoreOrder`] for [`MemoryOrder::Acquire`] and [`MemoryOrder::AcqRel`], which stores do not have; [`Error::Mismatch`] for
    /// a scalar of another dtype than the element's; those of [`Builder::scalar`].
    #[track_caller]
    pub fn store(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<(), Error> {
        let word = match order {
            MemoryOrder::Relaxed => Word::Relaxed,
            MemoryOrder::Release | MemoryOrder::SeqCst => Word::Release,
            order => return Err(SyncError::StoreOrder { order: format!("{order:?}") }.into()),
        };
        b.on_behalf(Location::caller(), |b| {
            let value = self.register(b, value)?;
            self.fence_before(b, order)?;
            let modifiers = [word.into(), self.scope.word(), self.memory()?, lower::bits(self.dtype).into()];
            let address = b.address(&self.address, self.width())?;
            b.inst(Opcode::St, &modifiers, vec![address, Operand::from(&value)]);
            Ok(())
        })
    }

    /// Adds `value` to the element, and returns what the element held before. Integers wrap around; floats are rounded to nearest even,
    /// and an f32 in global memory that is subnormal counts as zero.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a scalar of another dtype than the element's; those of [`Builder::scalar`].
    #[track_caller]
    pub fn fetch_add(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_add", NUMBERS, Word::Add, &[value], order)
    }

    /// Adds 1 to the element, or makes it 0 if it is `limit` or more, and returns what the element held before (CUDA's `atomicInc`).
    ///
    /// # Errors
    /// [`SyncError::AtomicDType`] for another dtype than u32, and [`Error::Mismatch`] for a scalar of another dtype than the element's; those of [`Builder::scalar`].
    #[track_caller]
    pub fn fetch_inc(&self, b: &mut Builder, limit: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_inc", &[DType::U32], Word::Inc, &[limit], order)
    }

    /// Replaces the element by the smaller one of itself and `value`, and returns what the element held before.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for floats, and a scalar of another dtype than the element's; those of [`Builder::scalar`].
    #[track_caller]
    pub fn fetch_min(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_min", INTEGERS, Word::Min, &[value], order)
    }

    /// Replaces the element by the larger one of itself and `value`, and returns what the element held before.
    ///
    /// # Errors
    /// As [`AtomicRef::fetch_min`].
    #[track_caller]
    pub fn fetch_max(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_max", INTEGERS, Word::Max, &[value], order)
    }

    /// Clears the bits of the element that `value` does not have, and returns what the element held before.
    ///
    /// # Errors
    /// As [`AtomicRef::fetch_min`].
    #[track_caller]
    pub fn fetch_and(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_and", INTEGERS, Word::And, &[value], order)
    }

    /// Sets the bits of `value` in the element, and returns what the element held before.
    ///
    /// # Errors
    /// As [`AtomicRef::fetch_min`].
    #[track_caller]
    pub fn fetch_or(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_or", INTEGERS, Word::Or, &[value], order)
    }

    /// Flips the bits of `value` in the element, and returns what the element held before.
    ///
    /// # Errors
    /// As [`AtomicRef::fetch_min`].
    #[track_caller]
    pub fn fetch_xor(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "fetch_xor", INTEGERS, Word::Xor, &[value], order)
    }

    /// Replaces the element by `value`, and returns what the element held before.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for elements of 16 bits, and a scalar of another dtype than the element's; those of [`Builder::scalar`].
    #[track_caller]
    pub fn exchange(&self, b: &mut Builder, value: &Scalar, order: MemoryOrder) -> Result<Scalar, Error> {
        self.update(b, "exchange", WORDS, Word::Exch, &[value], order)
    }

    /// Replaces the element by `new` if its bits are those of `expected`, and returns what the element held before.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for scalars of another dtype than the element's; those of [`Builder::scalar`].
    #[track_caller]
    pub fn compare_exchange(
        &self,
        b: &mut Builder,
        expected: &Scalar,
        new: &Scalar,
        order: MemoryOrder,
    ) -> Result<Scalar, Error> {
        self.update(b, "compare_exchange", NUMBERS, Word::Cas, &[expected, new], order)
    }

    #[track_caller]
    fn update(
        &self,
        b: &mut Builder,
        what: &'static str,
        dtypes: &'static [DType],
        operation: Word,
        values: &[&Scalar],
        order: MemoryOrder,
    ) -> Result<Scalar, Error> {
        self.check(what, dtypes)?;
        b.on_behalf(Location::caller(), |b| {
            let mut regs = Vec::new();
            for value in values {
                regs.push(self.register(b, value)?);
            }
            self.fence_before(b, order)?;
            let word = match order {
                MemoryOrder::Relaxed => Word::Relaxed,
                MemoryOrder::Acquire => Word::Acquire,
                MemoryOrder::Release => Word::Release,
                MemoryOrder::AcqRel | MemoryOrder::SeqCst => Word::AcqRel,
            };
            let mut modifiers = vec![word.into(), self.scope.word(), self.memory()?];
            modifiers.extend(atomic_words(operation, self.dtype));
            let out = b.reg(lower::register(self.dtype));
            let mut operands = vec![Operand::from(&out), b.address(&self.address, self.width())?];
            operands.extend(regs.iter().map(Operand::from));
            b.inst(Opcode::Atom, &modifiers, operands);
            b.scalar_in(&out, self.dtype)
        })
    }

    fn fence_before(&self, b: &mut Builder, order: MemoryOrder) -> Result<(), Error> {
        match order {
            MemoryOrder::SeqCst => atomic_thread_fence(b, order, self.scope),
            _ => Ok(()),
        }
    }

    fn register(&self, b: &mut Builder, value: &Scalar) -> Result<Reg, Error> {
        let reg = b.scalar(value)?;
        if value.dtype() == self.dtype {
            return Ok(reg);
        }
        Err(Error::Mismatch {
            what: "an atomic operation",
            layout: format!("a scalar of {}", value.dtype()),
            with: format!("an element of {}", self.dtype),
            accepted: "a scalar of the element's dtype; `to` converts",
        })
    }

    fn check(&self, what: &'static str, dtypes: &'static [DType]) -> Result<(), Error> {
        if dtypes.contains(&self.dtype) {
            return Ok(());
        }
        Err(SyncError::AtomicDType { what, dtype: self.dtype, accepted: dtypes }.into())
    }

    fn memory(&self) -> Result<Modifier, Error> {
        match self.space {
            Space::Gmem => Ok(Word::Global.into()),
            Space::Smem => Ok(Word::Shared.into()),
            Space::Dsmem => Ok(Word::SharedCluster.into()),
            space => Err(Error::Access { space, registers: Vec::new() }),
        }
    }

    fn width(&self) -> Width {
        if matches!(self.space, Space::Smem | Space::Dsmem) { Width::W32 } else { Width::W64 }
    }
}

/// The last words of `atom` and `red`: an operation, such as `Word::Add` or `Word::Cas`, and the type in which it takes elements of a
/// dtype.
///
/// # Examples
/// ```
/// use girih_codegen::sync::atomic_words;
/// use girih_ptx::{Type, Word};
/// use girih_tensor::DType;
///
/// assert!(atomic_words(Word::Add, DType::F16).eq([Word::Add.into(), Word::Noftz.into(), Type::F16.into()]));
/// assert!(atomic_words(Word::Exch, DType::F32).eq([Word::Exch.into(), Type::B32.into()]));
/// ```
pub fn atomic_words(operation: Word, dtype: DType) -> impl Iterator<Item = Modifier> {
    let ty = match operation {
        Word::And | Word::Or | Word::Xor | Word::Exch | Word::Cas => lower::bits(dtype),
        // In two's complement signed and unsigned sums are the same, and PTX has the unsigned addition alone.
        Word::Add if dtype == DType::S64 => Type::U64,
        _ => lower::ty(dtype),
    };
    let noftz = matches!(ty, Type::F16 | Type::Bf16).then(|| Word::Noftz.into());
    [operation.into()].into_iter().chain(noftz).chain([ty.into()])
}
