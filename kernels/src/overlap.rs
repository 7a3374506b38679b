//! Whether tensors in one memory have an element in common, decided by their layouts.

use girih_layout::Lay;

use crate::Error;
use crate::launch::overlap;
use girih_device::sizes::wide;

/// The part of a memory that a launch accesses: elements of this many bytes with these extents and non-negative strides, from an address on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) address: u64,
    /// Bytes of an element.
    pub(crate) element: i64,
    pub(crate) extents: &'a [i64],
    pub(crate) strides: &'a [i64],
}

/// The overlap of two views.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// The bytes from the first to the last that both reach.
    bytes: u64,
    /// A byte of both, and the coordinates of its element.
    witness: String,
}

impl Common {
    /// Of two ranges of bytes.
    pub(crate) fn of_bytes(bytes: u64) -> Option<Common> {
        (bytes > 0).then(|| Common { bytes, witness: String::new() })
    }

    pub(crate) fn error(self, written: &'static str, read: &'static str) -> Error {
        Error::Overlap { written, read, bytes: self.bytes, witness: self.witness }
    }
}

impl View<'_> {
    /// The addresses from the first byte to the one after the last.
    pub(crate) fn range(&self) -> [u64; 2] {
        let reach = |(extent, stride): (&i64, &i64)| (extent - 1).saturating_mul(*stride);
        let span = self.extents.iter().zip(self.strides).map(reach).fold(1, i64::saturating_add);
        let bytes = if self.extents.contains(&0) { 0 } else { wide(span.saturating_mul(self.element)) };
        [self.address, self.address.saturating_add(bytes)]
    }

    /// The layout of the bytes: those of an element, then its modes.
    fn bytes(&self) -> Result<Lay, Error> {
        Ok(Lay::strided(self.extents.iter().copied(), self.strides.iter().copied())?.units(self.element)?)
    }

    /// The overlap of two views, or of their address ranges if the search for a common byte takes too long.
    pub(crate) fn common(&self, other: &View<'_>) -> Result<Option<Common>, Error> {
        let bytes = overlap(self.range(), other.range());
        if bytes == 0 {
            return Ok(None);
        }
        let (Ok(own), Ok(others)) = (self.bytes(), other.bytes()) else { return Ok(Common::of_bytes(bytes)) };
        let base = self.address.min(other.address);
        let [from, to] = [self, other].map(|view| i64::try_from(view.address - base).unwrap_or(i64::MAX));
        match own.overlap(from, &others, to) {
            Ok(None) => Ok(None),
            Ok(Some((a, b))) => {
                let at = base.saturating_add(wide(from.saturating_add(own.crd2idx(&a)?)));
                // The first mode of each coordinate is that of an element's bytes.
                let witness = format!(
                    ", such as the byte at {at:#x}, (byte,coordinate) {a} of the one and {b} of the other"
                );
                Ok(Some(Common { bytes, witness }))
            }
            Err(_) => Ok(Common::of_bytes(bytes)),
        }
    }
}
