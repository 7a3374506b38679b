//! The allocator of a kernel's shared memory.

use girih_ptx::{Name, Opcode, Operand, Type};

use super::Builder;
use crate::Error;
use crate::error::BuilderError;
use crate::expr::Expr;

/// The largest alignment in bytes of an allocation, and the alignment of the beginning of shared memory: the period of the widest
/// swizzle.
pub const SHARED_ALIGN: i64 = 1024;
pub(super) const SHARED_NAME: &str = "smem";
/// The most bytes that a block can have on any GPU (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": 227 KiB of sm_90). A device checks at the launch its own limit, which may be lower.
pub const MAX_SHARED: i64 = 227 << 10;

/// The bytes that addresses in the shared memory of one block reach, and the bit at which the rank of a block may be in them.
const WINDOW: i64 = 1 << 18;
const RANK_SHIFT: u32 = 24;

/// Where a scope of shared memory began, from [`Builder::open_shared`].
#[derive(Debug)]
pub struct SharedScope(i64);

/// The bytes of shared memory that are allocated.
#[derive(Default)]
pub(super) struct Shared {
    base: Option<Expr>,
    /// The high bits of shared-memory addresses in a block of a cluster.
    window: Option<Expr>,
    end: i64,
    /// The largest end so far.
    most: i64,
}

impl Shared {
    pub(super) fn is_used(&self) -> bool {
        self.base.is_some()
    }

    pub(super) fn bytes(&self) -> i64 {
        self.most
    }
}

impl Builder {
    /// Allocates `bytes` bytes of shared memory at a multiple of `align`, which is a power of two up to [`SHARED_ALIGN`], and returns
    /// their address in bytes.
    ///
    /// # Errors
    /// [`Error::Builder`] for another alignment, a negative size, or more than the 227 KiB that a block can have.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// b.alloc_shared(100, 4)?;
    /// let next = b.alloc_shared(16, 128)?;
    /// assert_eq!(next.multiple(), 128);
    /// assert_eq!(b.finish()?.shared_bytes(), 128 + 16);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn alloc_shared(&mut self, bytes: i64, align: i64) -> Result<Expr, Error> {
        self.alloc_bytes(bytes.into(), align)
    }

    /// As [`Builder::alloc_shared`], for the bytes that a layout asks for, which may be more than any memory has.
    #[track_caller]
    pub(crate) fn alloc_bytes(&mut self, bytes: i128, align: i64) -> Result<Expr, Error> {
        if align < 1 || align.count_ones() != 1 || align > SHARED_ALIGN {
            return Err(BuilderError::SharedAlignment { align, most: SHARED_ALIGN }.into());
        }
        let start = (self.shared.end + align - 1) / align * align;
        let left = (MAX_SHARED - start).max(0);
        let Some(bytes) = i64::try_from(bytes).ok().filter(|bytes| (0..=left).contains(bytes)) else {
            return Err(BuilderError::SharedMemory { bytes: bytes.to_string(), used: start, left }.into());
        };
        self.shared.end = start + bytes;
        self.shared.most = self.shared.most.max(self.shared.end);
        Ok(&self.shared_base() + start)
    }

    /// Runs `body`, and frees the shared memory that `body` allocates. A barrier has to be between the threads that have used this
    /// memory and the threads that use it next; the simulator finds where a barrier is missing.
    ///
    /// # Errors
    /// Those of `body`.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// b.shared_scope(|b| b.alloc_shared(4096, 16).map(|_| ()))?;
    /// b.barrier();
    /// b.shared_scope(|b| b.alloc_shared(1024, 16).map(|_| ()))?;
    /// assert_eq!(b.finish()?.shared_bytes(), 4096);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn shared_scope<R>(
        &mut self,
        body: impl FnOnce(&mut Builder) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let scope = self.open_shared();
        let result = body(self);
        self.close_shared(scope);
        result
    }

    /// Begins what [`Builder::shared_scope`] does where it cannot be a closure.
    pub fn open_shared(&self) -> SharedScope {
        SharedScope(self.shared.end)
    }

    /// Frees the shared memory that has been allocated since the scope began.
    pub fn close_shared(&mut self, scope: SharedScope) {
        self.shared.end = scope.0;
    }

    /// The address in bytes of the kernel's dynamic shared memory, aligned to [`SHARED_ALIGN`].
    #[track_caller]
    fn shared_base(&mut self) -> Expr {
        if let Some(base) = &self.shared.base {
            return base.clone();
        }
        let reg = self.reg(Type::U32);
        let operands = vec![Operand::from(&reg), Operand::Name(Name::from(SHARED_NAME))];
        self.inst_at(0, Opcode::Mov, &[Type::U32.into()], operands);
        let blocks = self.cluster_shape().map_or(1, |shape| shape.iter().map(|&n| i64::from(n)).product());
        let base = self.var_at(&reg, 0, 0, ((blocks - 1) << RANK_SHIFT) + WINDOW, SHARED_ALIGN);
        if blocks > 1 {
            let window = self.reg(Type::B32);
            let operands = vec![Operand::from(&window), Operand::from(&reg), Operand::Int(-WINDOW)];
            self.inst_at(0, Opcode::And, &[Type::B32.into()], operands);
            self.shared.window = Some(self.var_at(&window, 0, 0, (blocks - 1) << RANK_SHIFT, WINDOW));
        }
        self.shared.base = Some(base.clone());
        base
    }

    /// The number that is subtracted from an address in the block's shared memory to make it fit 18 bits: in a cluster the high bits of an address
    /// are the block's rank.
    pub(crate) fn shared_window(&self) -> Expr {
        self.shared.window.clone().unwrap_or_else(|| Expr::from(0))
    }
}
