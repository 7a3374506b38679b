//! Bits of elements as other dtypes.

use girih_tensor::DType;

use crate::error::{Fault, ensure};
use crate::fit;
use crate::ir::{Build, Dims, Kind, Type, Value};

impl Build {
    /// The bits of each element as an element of a dtype that is as wide.
    ///
    /// # Errors
    /// [`Fault::BitcastWidth`], [`Fault::BitcastBool`].
    pub fn bitcast(&mut self, value: Value, dtype: DType) -> Result<Value, Fault> {
        let from = self.ty(value);
        if from.dtype == dtype {
            return Ok(value);
        }
        let bool = [from.dtype, dtype].contains(&DType::Bool);
        ensure!(!bool, Fault::BitcastBool { operation: "bitcast" });
        ensure!(from.dtype.bits() == dtype.bits(), Fault::BitcastWidth { from: from.dtype, to: dtype });
        Ok(self.push1(Kind::Bitcast, &[value], Type { dtype, ..from }))
    }

    /// The bytes of all elements, row-major and little-endian, as a u8 tile of rank 1.
    ///
    /// # Errors
    /// [`Fault::BitcastBool`]; [`Fault::PackedBytes`] for elements smaller than a byte.
    pub fn pack_to_bytes(&mut self, value: Value) -> Result<Value, Fault> {
        let from = self.ty(value);
        let (operation, dtype) = ("pack_to_bytes", from.dtype);
        ensure!(dtype != DType::Bool, Fault::BitcastBool { operation });
        ensure!(dtype.bits() >= 8, Fault::PackedBytes { operation, bytes: from, dtype });
        let bytes = from.dims.size() as i64 * from.dtype.bytes();
        let dims = self.tile_dims(&[bytes])?;
        Ok(self.push1(Kind::Pack, &[value], Type { dtype: DType::U8, dims }))
    }

    /// The elements, a tile of rank 1, whose bytes are in a u8 tile, row-major and little-endian.
    ///
    /// # Errors
    /// [`Fault::BitcastBool`]; [`Fault::PackedBytes`] for bytes that are no u8 or no whole number of elements.
    pub fn unpack_from_bytes(&mut self, value: Value, dtype: DType) -> Result<Value, Fault> {
        let from = self.ty(value);
        let operation = "unpack_from_bytes";
        ensure!(dtype != DType::Bool, Fault::BitcastBool { operation });
        let size = u64::from(dtype.bits() / 8);
        let whole = size > 0 && from.dtype == DType::U8 && from.dims.size().is_multiple_of(size);
        ensure!(whole, Fault::PackedBytes { operation, bytes: from, dtype });
        let dims = Dims::new(&[fit::low(from.dims.size() / size)]).unwrap_or_default();
        let line = Dims::new(&[fit::low(from.dims.size())]).unwrap_or_default();
        let bytes = self.reshaped(value, line);
        Ok(self.push1(Kind::Unpack, &[bytes], Type { dtype, dims }))
    }
}
