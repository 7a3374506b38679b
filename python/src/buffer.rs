//! Memory of Python's objects, which the simulator's kernels read and write in place.

use std::fmt;
use std::sync::atomic::AtomicU32;

use girih::sim::{Lent, Memory};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::error::{Error, Result};

/// Bytes from one address up to another.
type Range = (usize, usize);

/// Memory that one or several buffers of Python have in common.
struct Borrowed {
    /// What keeps the memory where it is.
    _buffers: Vec<PyBuffer<u8>>,
    /// The address of the first word.
    address: usize,
    words: usize,
}

impl fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Borrowed({} bytes)", self.words * 4)
    }
}

impl Lent for Borrowed {
    #[allow(unsafe_code, reason = "the memory is Python's")]
    fn words(&self) -> &[AtomicU32] {
        let start = std::ptr::with_exposed_provenance::<AtomicU32>(self.address);
        // SAFETY: the words lie in memory that the buffers, which are not read-only, export. An exporter keeps exported memory allocated and
        // where it is until the buffer is released, which is when `self` is dropped. `Borrowed` is made for addresses that are multiples of 4
        // alone. Whoever else writes the memory meanwhile is another thread of Python's, and docs/python.md says that none may.
        unsafe { std::slice::from_raw_parts(start, self.words) }
    }
}

/// A buffer as the argument of a launch.
pub(crate) struct Given {
    pub(crate) buffer: PyBuffer<u8>,
    /// Which argument it is.
    pub(crate) argument: usize,
    /// Whether its bytes count as bytes that nobody has written.
    pub(crate) uninitialised: bool,
}

/// The memory of a launch's arguments.
#[derive(Default)]
pub(crate) struct Lending {
    /// Where each argument is in the simulator's memory.
    pub(crate) addresses: Vec<u64>,
    /// Allocations that stand for memory of Python's, to be freed.
    allocations: Vec<u64>,
    /// Buffers whose memory the simulator can't use: they are copied there, and those that can be written are copied back.
    copies: Vec<Copied>,
    /// How many bytes of buffers were copied.
    pub(crate) copied: usize,
}

/// A buffer that was copied to the simulator.
struct Copied {
    buffer: PyBuffer<u8>,
    address: u64,
    /// The argument that must stay as it was, since nobody may write its memory.
    constant: Option<usize>,
}

impl Given {
    fn range(&self) -> Range {
        let start = self.buffer.buf_ptr() as usize;
        (start, start + self.buffer.len_bytes())
    }

    /// Whether the simulator can work in the buffer's memory: in whole words, and only where Python may write.
    fn fits(&self) -> bool {
        let (start, end) = self.range();
        start == end || !self.buffer.readonly() && start.is_multiple_of(4) && end.is_multiple_of(4)
    }
}

impl Lending {
    /// Lends the buffers to a memory. Buffers that overlap become one allocation, so that accesses through either meet.
    pub(crate) fn new(py: Python<'_>, memory: &Memory, given: Vec<Given>) -> Result<Lending> {
        let mut lending = Lending { addresses: vec![0; given.len()], ..Lending::default() };
        let mut order: Vec<usize> = (0..given.len()).collect();
        order.sort_by_key(|&i| given[i].range());
        let ranges: Vec<Range> = given.iter().map(Given::range).collect();
        let mut given: Vec<Option<Given>> = given.into_iter().map(Some).collect();
        let mut at = 0;
        while at < order.len() {
            // The buffers whose memory hangs together.
            let (start, mut end) = ranges[order[at]];
            let mut after = at + 1;
            while after < order.len() && ranges[order[after]].0 < end {
                end = end.max(ranges[order[after]].1);
                after += 1;
            }
            let group = &order[at..after];
            let members: Vec<Given> = group.iter().filter_map(|&i| given[i].take()).collect();
            let base = lending.group(py, memory, (start, end), members)?;
            for &i in group {
                lending.addresses[i] = base + (ranges[i].0 - start) as u64;
            }
            at = after;
        }
        Ok(lending)
    }

    fn group(
        &mut self,
        py: Python<'_>,
        memory: &Memory,
        (start, end): Range,
        members: Vec<Given>,
    ) -> Result<u64> {
        let uninitialised = members.iter().all(|given| given.uninitialised);
        if start < end && members.iter().all(Given::fits) {
            let buffers = members.into_iter().map(|given| given.buffer).collect();
            let lent = Box::new(Borrowed { _buffers: buffers, address: start, words: (end - start) / 4 });
            let base = if uninitialised { memory.lend_uninitialised(lent) } else { memory.lend(lent) }?;
            self.allocations.push(base);
            return Ok(base);
        }
        let bytes = end - start;
        let base = if uninitialised { memory.alloc_uninitialised(bytes) } else { memory.alloc(bytes) }?;
        self.copied += bytes;
        let constant = !uninitialised && members.iter().all(|given| given.buffer.readonly());
        for given in members {
            let address = base + (given.range().0 - start) as u64;
            if !uninitialised {
                memory.write(address, &given.buffer.to_vec(py)?)?;
            }
            let constant = constant.then_some(given.argument);
            self.copies.push(Copied { buffer: given.buffer, address, constant });
        }
        Ok(base)
    }

    /// Gives the memory back. Returns the argument that was written although it can't be, if there is one.
    pub(crate) fn end(self, py: Python<'_>, memory: &Memory) -> Result<Option<usize>> {
        for base in self.allocations {
            memory.free(base)?;
        }
        let mut written = None;
        for Copied { buffer, address, constant } in self.copies {
            let mut bytes = vec![0; buffer.len_bytes()];
            memory.read(address, &mut bytes)?;
            if !buffer.readonly() {
                buffer.copy_from_slice(py, &bytes).map_err(Error::from)?;
            } else if constant.is_some() && bytes != buffer.to_vec(py)? {
                written = written.or(constant);
            }
        }
        Ok(written)
    }
}
