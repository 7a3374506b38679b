//! Where the matrices lie that a launch is given.

use girih_device::{Buffer, BufferArg, Device, Pod, Pointers};
use girih_tensor::{DType, Element};

use super::Matrix;
use crate::Error;
use crate::launch::overlap;
use crate::sizes::{size, wide};

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
        Memory { arg, device, dtype, address, len, pointers: None, starts: Starts::One([address]), used: len }
    }
}

/// A buffer, or those of all products whose addresses stand in memory.
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
    /// The elements of each buffer that a launch may use.
    used: usize,
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
            used: buffer.len(),
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
            used: all.shortest(),
        }
    }
}

impl Memory<'_> {
    /// The same, of which a launch uses no more than the first `elements` of each buffer that is given by its address.
    pub(super) fn up_to(self, elements: i64) -> Self {
        let used = if self.pointers.is_some() { size(elements.max(0)) } else { self.used };
        Memory { used, ..self }
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
    pub(super) fn starts(&self) -> &[u64] {
        match &self.starts {
            Starts::One(start) => start,
            Starts::Each(starts) => starts,
        }
    }

    /// How many bytes a buffer of one and a buffer of the other have in common; 0 if none of them have any.
    pub(crate) fn overlap(&self, other: &Memory<'_>) -> u64 {
        if !self.device.is_same(other.device) {
            return 0;
        }
        let [own, others] =
            [self, other].map(|memory| memory.used as u64 * u64::from(memory.dtype.bits()) / 8);
        let (mut left, mut right) = (self.starts(), other.starts());
        while let ([a, next_left @ ..], [b, next_right @ ..]) = (left, right) {
            let [end, other_end] = [a + own, b + others];
            let common = overlap([*a, end], [*b, other_end]);
            if common > 0 {
                return common;
            }
            // What ends first has nothing in common with what begins later.
            if end <= other_end { left = next_left } else { right = next_right }
        }
        0
    }

    /// How many bytes two matrices that lie as `matrix` does, at different ones of these addresses, have in common; 0 if all are apart.
    pub(super) fn overlap_as(&self, matrix: &Matrix) -> u64 {
        let element = u64::from(self.dtype.bits()) / 8;
        let own = wide(Matrix { batches: 1, ..*matrix }.span()) * element;
        for (i, start) in self.starts().iter().enumerate() {
            for other in self.starts()[i + 1..].iter().take_while(|other| **other < start + own) {
                let common = matrix.common((other - start) / element.max(1));
                if common > 0 {
                    return wide(common) * element;
                }
            }
        }
        0
    }
}
