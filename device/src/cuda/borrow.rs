//! Checks of memory that another library has allocated.

use cudarc::driver::{DriverError, sys};
use sys::{CUpointer_attribute as Attribute, CUresult};

use super::{context::Context, failed};
use crate::Error;

impl Context {
    /// Checks that `bytes` bytes from an address on are in one allocation that this context can use.
    pub(super) fn check_range(&self, address: u64, bytes: usize) -> Result<(), Error> {
        let _current = self.enter()?;
        let name = || format!("cuda:{}", self.device());
        let get = |attribute| match attribute_of(address, attribute) {
            Ok(value) => Ok(value),
            Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)) => {
                Err(Error::NoMemory { address, device: name() })
            }
            Err(error) => Err(failed("cuPointerGetAttribute")(error)),
        };
        if address == 0 {
            return Err(Error::NoMemory { address, device: name() });
        }
        // The driver writes this attribute as a C int, into the first half of 64 bits.
        let [a, b, c, d, ..] = get(Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)?.to_ne_bytes();
        let ordinal = i32::from_ne_bytes([a, b, c, d]);
        if ordinal != self.device() {
            return Err(Error::WrongMemory { address, owner: format!("cuda:{ordinal}"), device: name() });
        }
        // Memory of a pool belongs to no context. Other memory belongs to one context, and other contexts can't use it.
        let pool = attribute_of(address, Attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE).unwrap_or(0);
        let context = attribute_of(address, Attribute::CU_POINTER_ATTRIBUTE_CONTEXT).unwrap_or(0);
        if pool == 0 && context != 0 && context != self.raw().addr() as u64 {
            let owner = format!("the context {context:#x} of {}", name());
            let device = format!("the context {:#x} of it", self.raw().addr());
            return Err(Error::WrongMemory { address, owner, device });
        }
        // For memory that was mapped into a reserved range in pieces, `cuMemGetAddressRange` returns one piece, and the attributes
        // return the whole range, all of which a kernel can use. For memory of a pool the attributes return all that the pool has
        // reserved, and `cuMemGetAddressRange` returns the allocation.
        let (start, size) = if pool == 0 {
            let start = get(Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)?;
            (start, get(Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE)?)
        } else {
            allocation_of(address).map_err(failed("cuMemGetAddressRange"))?
        };
        let available = start.saturating_add(size).saturating_sub(address);
        if bytes as u64 > available {
            return Err(Error::BeyondAllocation { address, bytes: bytes as u64, available });
        }
        Ok(())
    }
}

/// The start and the number of bytes of the allocation that an address is in.
fn allocation_of(address: u64) -> Result<(u64, u64), DriverError> {
    let (mut start, mut size) = (0, 0usize);
    // SAFETY: both results outlive the call; the function accepts any address.
    unsafe { sys::cuMemGetAddressRange_v2(&mut start, &mut size, address) }.result()?;
    Ok((start, size as u64))
}

/// An attribute of an address: a number or a handle of at most 8 bytes.
fn attribute_of(address: u64, attribute: Attribute) -> Result<u64, DriverError> {
    let mut value = 0u64;
    // SAFETY: for the attributes that the caller above asks for, the driver writes 4 or 8 bytes, the lowest first; the function
    // accepts any address.
    unsafe { sys::cuPointerGetAttribute((&raw mut value).cast(), attribute, address) }.result()?;
    Ok(value)
}
