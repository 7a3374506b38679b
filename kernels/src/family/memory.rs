//! The buffers of a call, and the checks of their memory.

use girih_codegen::Slot;
use girih_device::sizes::wide;
use girih_device::{Arg, Buffer, BufferArg, Device, Pod, Pointers};
use girih_tensor::{DType, Element};

use crate::Error;
use crate::launch::overlap;
use crate::overlap::{Common, View};

/// A buffer whose elements have a dtype that is known at run time.
#[derive(Clone, Copy, Debug)]
pub struct Untyped<'a> {
    /// The buffer, from the first element on.
    pub arg: BufferArg<'a>,
    /// Its device.
    pub device: &'a Device,
    /// The dtype of its elements; f32 of tf32.
    pub dtype: DType,
    /// The address of the first element.
    pub address: u64,
    /// How many elements there are.
    pub len: usize,
}

impl<'a> From<Untyped<'a>> for Memory<'a> {
    fn from(buffer: Untyped<'a>) -> Memory<'a> {
        let Untyped { arg, device, dtype, address, len } = buffer;
        Memory {
            arg,
            device,
            dtype,
            address,
            len,
            pointers: None,
            starts: Starts::One([address]),
            used: all(len),
        }
    }
}

/// A buffer, or those of all GEMMs whose addresses are in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) arg: BufferArg<'a>,
    device: &'a Device,
    pub(crate) dtype: DType,
    /// The address of the buffer, or of the array of addresses.
    pub(crate) address: u64,
    /// The elements of the buffer, or of the one that has the fewest.
    pub(crate) len: usize,
    /// How many buffers there are, if these are given by their addresses.
    pub(crate) pointers: Option<i64>,
    starts: Starts<'a>,
    /// The extents and strides of the elements of each buffer that a launch may use.
    used: [[i64; 4]; 2],
}

/// All elements of a buffer.
fn all(len: usize) -> [[i64; 4]; 2] {
    [[i64::try_from(len).unwrap_or(i64::MAX), 1, 1, 1], [1, 0, 0, 0]]
}

/// The addresses of first elements, in ascending order.
#[derive(Clone, Copy, Debug)]
enum Starts<'a> {
    One([u64; 1]),
    Each(&'a [u64]),
}

impl<'a, T: Element + Pod> From<&'a Buffer<T>> for Memory<'a> {
    fn from(buffer: &'a Buffer<T>) -> Memory<'a> {
        Memory {
            arg: buffer.into(),
            device: buffer.device(),
            dtype: T::DTYPE,
            address: buffer.address(),
            len: buffer.len(),
            pointers: None,
            starts: Starts::One([buffer.address()]),
            used: all(buffer.len()),
        }
    }
}

impl<'a, T: Element + Pod> From<&'a Pointers<'_, T>> for Memory<'a> {
    fn from(all: &'a Pointers<'_, T>) -> Memory<'a> {
        Memory {
            arg: all.into(),
            device: all.device(),
            dtype: T::DTYPE,
            address: all.address(),
            len: all.shortest(),
            pointers: Some(all.len() as i64),
            starts: Starts::Each(all.addresses()),
            used: self::all(all.shortest()),
        }
    }
}

impl Memory<'_> {
    /// The same, of which a launch uses the elements with these extents and strides.
    pub(crate) fn used(self, extents: [i64; 4], strides: [i64; 4]) -> Self {
        Memory { used: [extents, strides], ..self }
    }

    /// Bytes that two buffers have in common.
    pub(crate) fn overlap(&self, other: &Memory<'_>) -> u64 {
        let range = |of: &Memory<'_>| [of.address, of.address + of.arg.bytes() as u64];
        if self.device.is_same(other.device) { overlap(range(self), range(other)) } else { 0 }
    }

    /// The part of a buffer that a launch accesses, where the buffer begins at an address.
    fn view(&self, address: u64) -> View<'_> {
        let [extents, strides] = &self.used;
        View { address, element: i64::from(self.dtype.bits()) / 8, extents, strides }
    }

    /// Checks that this is a buffer, or that there are as many buffers by their addresses.
    pub(crate) fn is_as_many(&self, name: &str, wanted: Option<i64>) -> Result<(), Error> {
        if self.pointers == wanted {
            return Ok(());
        }
        let found =
            self.pointers.map_or("a buffer".into(), |count| format!("the addresses of {count} buffers"));
        let each = |count| format!("the addresses of {count}, by `Gemm::run_pointers`");
        let accepted = wanted.map_or("a buffer, by `Gemm::run`".into(), each);
        Err(Error::Input { name: name.into(), found, accepted })
    }

    /// The addresses of the first elements, in ascending order.
    pub(crate) fn starts(&self) -> &[u64] {
        match &self.starts {
            Starts::One(start) => start,
            Starts::Each(starts) => starts,
        }
    }

    /// The overlap of two buffers.
    pub(crate) fn common(&self, other: &Memory<'_>) -> Result<Option<Common>, Error> {
        if !self.device.is_same(other.device) {
            return Ok(None);
        }
        let (mut left, mut right) = (self.starts(), other.starts());
        while let ([a, next_left @ ..], [b, next_right @ ..]) = (left, right) {
            let (own, others) = (self.view(*a), other.view(*b));
            if let Some(common) = own.common(&others)? {
                return Ok(Some(common));
            }
            let (own, others) = (own.range(), others.range());
            if overlap(own, others) > 0 {
                return self.any_common(other);
            }
            // The one that ends first does not overlap the later ones.
            if own[1] <= others[1] { left = next_left } else { right = next_right }
        }
        Ok(None)
    }

    /// The same of buffers that are woven into each other, each with all that reach it.
    fn any_common(&self, other: &Memory<'_>) -> Result<Option<Common>, Error> {
        for a in self.starts() {
            let own = self.view(*a);
            let [start, end] = own.range();
            let first = other.starts().partition_point(|b| other.view(*b).range()[1] <= start);
            for b in other.starts()[first..].iter().take_while(|b| **b < end) {
                if let Some(common) = own.common(&other.view(*b))? {
                    return Ok(Some(common));
                }
            }
        }
        Ok(None)
    }

    /// An overlap between two of these buffers.
    pub(crate) fn common_among(&self) -> Result<Option<Common>, Error> {
        for (i, start) in self.starts().iter().enumerate() {
            let own = self.view(*start);
            let end = own.range()[1];
            for other in self.starts()[i + 1..].iter().take_while(|other| **other < end) {
                if let Some(common) = own.common(&self.view(*other))? {
                    return Ok(Some(common));
                }
            }
        }
        Ok(None)
    }
}

/// A tensor that a call gives, and what it must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    /// The name by which kernels take it, and that in messages.
    pub(crate) slot: &'static str,
    pub(crate) name: &'static str,
    /// The part that a launch accesses.
    pub(crate) memory: Memory<'a>,
    pub(crate) dtype: DType,
    /// The elements from the first one to the last one.
    pub(crate) elements: i64,
    /// Bytes that divide its address.
    pub(crate) aligned: i64,
    pub(crate) written: bool,
}

/// Checks dtypes, lengths and addresses, and that nothing is written that is also read or written by another name. Returns what launches are given.
pub(crate) fn check<'a>(tensors: &[Given<'a>]) -> Result<Vec<(Slot<&'static str>, Arg<'a>)>, Error> {
    for Given { name, memory, dtype, .. } in tensors {
        memory.is_as_many(name, None)?;
        if memory.dtype != *dtype {
            return Err(Error::DType { problem: dtype.name(), buffer: memory.dtype.name() });
        }
    }
    for Given { name: matrix, memory, elements: needed, aligned, .. } in tensors.iter().copied() {
        if wide(needed) > memory.len as u64 {
            return Err(Error::BufferTooSmall { matrix, needed, len: memory.len });
        }
        if !memory.address.is_multiple_of(wide(aligned.max(1))) {
            return Err(Error::Address { matrix, address: memory.address, needed: aligned });
        }
    }
    for (at, written) in tensors.iter().enumerate().filter(|(_, tensor)| tensor.written) {
        for (_, read) in
            tensors.iter().enumerate().filter(|(other, read)| *other != at && !(read.written && *other < at))
        {
            if let Some(common) = written.memory.common(&read.memory)? {
                return Err(common.error(written.name, read.name));
            }
        }
    }
    Ok(tensors.iter().map(|tensor| (Slot::Memory(tensor.slot), Arg::Buffer(tensor.memory.arg))).collect())
}
