//! A kernel's shared memory: what asks for some gets some of its own.

use girih_layout::{Lay, Stride, Swizzle};
use girih_ptx::{Name, Opcode, Operand, Type};
use girih_tensor::{DType, Tensor};

use super::Builder;
use crate::expr::Expr;
use crate::{Error, Smem};

/// The largest alignment in bytes of shared memory, and that of its beginning: the period of the widest swizzle.
pub const SHARED_ALIGN: i64 = 1024;
pub(super) const SHARED_NAME: &str = "smem";
/// Where tensor copies put a tile, in bytes.
const TENSOR_ALIGN: i64 = 128;
/// The most bytes that a block can have on any GPU (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability": 227 KiB of sm_90); its own limit, which may be lower, a device checks at the launch.
pub const MAX_SHARED: i64 = 227 << 10;

/// What of shared memory is given out, in bytes.
#[derive(Default)]
pub(super) struct Shared {
    base: Option<Expr>,
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
    /// The address in bytes of `bytes` bytes of shared memory that nothing else has, at a multiple of `align`, which is a power
    /// of two up to [`SHARED_ALIGN`].
    ///
    /// # Errors
    /// [`Error::Config`] for another alignment, a negative size, or more than the 227 KiB that a block can have.
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
        let refused = |what, value: String, accepted| Err(Error::Config { what, value, accepted });
        if align < 1 || align.count_ones() != 1 || align > SHARED_ALIGN {
            let accepted = format!("powers of two up to {SHARED_ALIGN} bytes");
            return refused("alignment in shared memory", align.to_string(), accepted);
        }
        let start = (self.shared.end + align - 1) / align * align;
        if !(0..=MAX_SHARED - start).contains(&bytes) {
            let accepted = format!("0 to {} bytes behind the {start} in use", (MAX_SHARED - start).max(0));
            return refused("shared memory", bytes.to_string(), accepted);
        }
        self.shared.end = start + bytes;
        self.shared.most = self.shared.most.max(self.shared.end);
        Ok(&self.shared_base() + start)
    }

    /// A tensor in shared memory that nothing else has. `swizzle` moves its elements' offsets; a layout whose strides are F2
    /// columns has a map of its own ([`Smem::tensor`]) and no swizzle beside it.
    ///
    /// # Errors
    /// [`Error::Config`] for a layout whose size is not known when the kernel is built, or that is too large, [`Error::Layout`] for
    /// one whose offsets are not 0 or more.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_layout::{Swizzle, lay};
    /// use girih_tensor::DType;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let tile = b.shared_tensor(DType::F16, Some(Swizzle::new(3, 3, 3)?), &lay!("(64,64):(64,1)"))?;
    /// assert_eq!(tile.layout(), &lay!("(64,64):(64,1)"));
    /// assert_eq!(b.finish()?.shared_bytes(), 8192);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn shared_tensor(
        &mut self,
        dtype: DType,
        swizzle: Option<Swizzle>,
        layout: &Lay,
    ) -> Result<Tensor<Smem>, Error> {
        let elements = layout.cosize()?.get().ok_or_else(|| Error::Config {
            what: "layout of a tensor in shared memory",
            value: layout.to_string(),
            accepted: String::from("layouts without symbols"),
        })?;
        // What the offsets are moved in, in elements.
        let period = match swizzle {
            Some(swizzle) => swizzle.period(),
            None if has_columns(layout) => elements,
            None => 1,
        };
        let bits = i64::from(dtype.bits());
        let bytes = (elements + period - 1) / period * period * bits / 8;
        let align = (period * bits / 8).clamp(TENSOR_ALIGN, SHARED_ALIGN) as u64;
        let base = self.alloc_shared(bytes, align.next_power_of_two() as i64)?;
        match swizzle {
            Some(_) => Ok(Tensor::new(Smem::new(base, dtype, swizzle), *layout)),
            None => Smem::tensor(base, dtype, layout),
        }
    }

    /// Runs `body`; the shared memory that it allocates is free again behind it. The threads that have used it and those that will
    /// use it have to be synchronised by a barrier between them; the simulator finds where one is missing.
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
        let end = self.shared.end;
        let result = body(self);
        self.shared.end = end;
        result
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
        let base = self.var_at(&reg, 0, 0, 1 << 18, SHARED_ALIGN);
        self.shared.base = Some(base.clone());
        base
    }
}

fn has_columns(layout: &Lay) -> bool {
    (0..layout.leaf_count()).any(|leaf| matches!(layout.flat_leaf(leaf).1, Stride::F2(_)))
}
