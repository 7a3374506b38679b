//! Bits of elements as other dtypes.

use girih_tensor::DType;

use crate::error::{Code, Fault, bail, ensure};
use crate::fit;
use crate::ir::{Build, Dims, Kind, Type, Value};

/// Refuses elements that are smaller than a byte.
fn whole_bytes(name: &str, dtype: DType) -> Result<(), Fault> {
    if dtype.bits() >= 8 {
        return Ok(());
    }
    let why = format!("`{name}` of {dtype}: elements of whole bytes are accepted; cast them");
    Err(Fault::new(Code::BitcastWidth, why))
}

impl Build {
    /// The bits of each element as an element of a dtype that is as wide.
    ///
    /// # Errors
    /// [`Code::BitcastWidth`], [`Code::BitcastBool`].
    pub fn bitcast(&mut self, value: Value, dtype: DType) -> Result<Value, Fault> {
        let from = self.ty(value);
        if from.dtype == dtype {
            return Ok(value);
        }
        if from.dtype == DType::Bool || dtype == DType::Bool {
            bail!(
                Code::BitcastBool,
                "`bitcast` of {} to {dtype}: a truth value has no bits of its own; cast it",
                from.dtype
            );
        }
        ensure!(
            from.dtype.bits() == dtype.bits(),
            Code::BitcastWidth,
            "`bitcast` of {} to {dtype}: {} and {} bits; equal widths are accepted",
            from.dtype,
            from.dtype.bits(),
            dtype.bits()
        );
        Ok(self.push1(Kind::Bitcast, &[value], Type { dtype, ..from }))
    }

    /// The bytes of all elements, row-major and little-endian, as a u8 tile of rank 1.
    ///
    /// # Errors
    /// [`Code::BitcastBool`].
    pub fn pack_to_bytes(&mut self, value: Value) -> Result<Value, Fault> {
        let from = self.ty(value);
        ensure!(
            from.dtype != DType::Bool,
            Code::BitcastBool,
            "`pack_to_bytes` takes numbers, not bool; cast them"
        );
        whole_bytes("pack_to_bytes", from.dtype)?;
        let bytes = from.dims.size() as i64 * from.dtype.bytes();
        let dims = self.tile_dims(&[bytes])?;
        Ok(self.push1(Kind::Pack, &[value], Type { dtype: DType::U8, dims }))
    }

    /// The elements, a tile of rank 1, whose bytes are in a u8 tile, row-major and little-endian.
    ///
    /// # Errors
    /// [`Code::BitcastBool`]; [`Code::BitcastWidth`] for bytes that are no u8 or no whole number of elements.
    pub fn unpack_from_bytes(&mut self, value: Value, dtype: DType) -> Result<Value, Fault> {
        let from = self.ty(value);
        ensure!(
            dtype != DType::Bool,
            Code::BitcastBool,
            "`unpack_from_bytes` gives numbers, not bool; cast them"
        );
        whole_bytes("unpack_from_bytes", dtype)?;
        let size = u64::from(dtype.bits() / 8);
        if from.dtype != DType::U8 || !from.dims.size().is_multiple_of(size) {
            bail!(
                Code::BitcastWidth,
                "`unpack_from_bytes` of {from} to {dtype}: a whole number of {size} u8 is accepted"
            );
        }
        let dims = Dims::new(&[fit::low(from.dims.size() / size)]).unwrap_or_default();
        let line = Dims::new(&[fit::low(from.dims.size())]).unwrap_or_default();
        let bytes = self.reshaped(value, line);
        Ok(self.push1(Kind::Unpack, &[bytes], Type { dtype, dims }))
    }
}
