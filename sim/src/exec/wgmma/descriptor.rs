//! Where the elements that a matrix descriptor describes are in shared memory (PTX ISA, "Asynchronous Warpgroup Level
//! Matrix Shared Memory Layout", "Matrix Descriptor Format").
//!
//! A matrix consists of 16-byte chunks. K-major, chunk `(i, j)` is the `j`th of two in row `i`. MN-major, chunk `(i,
//! j)` has the elements `8 i` to `8 i + 7` of column `j` along K. With the leading and stride byte offsets L and S and
//! a swizzle of `w` bytes, chunk `(i, j)` begins at
//!
//! | | no swizzle | swizzle |
//! |---|---|---|
//! | K-major | `16 (i % 8) + S (i / 8) + L j` | `w (i % 8) + S (i / 8) + 16 j` |
//! | MN-major | `S i + 16 (j % 8) + L (j / 8)` | `16 (i % c) + L (i / c) + w (j % 8) + S (j / 8)`, `c = w / 16` |
//!
//! bytes after the start address. The swizzle then exclusive-ors bits 4 and up of the address with bits 7 and up, from
//! which the base offset is subtracted first.

use crate::op::Major;

/// A matrix descriptor, its fields in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    base: u64,
    /// Bytes of a row of the swizzle; 0 without a swizzle.
    width: u64,
}

/// Bits of an address in a descriptor.
const ADDRESS: u64 = (1 << 18) - 1;

impl Descriptor {
    pub(super) fn decode(bits: u64) -> Self {
        let field = |from: u32| (bits >> from & 0x3fff) << 4;
        let width = match bits >> 62 {
            0 => 0,
            swizzle => 256 >> swizzle,
        };
        Descriptor { start: field(0), leading: field(16), stride: field(32), base: bits >> 49 & 7, width }
    }

    /// Whether rows of 64 bytes along K, which are twice as long as usual, fit the swizzle.
    pub(super) fn holds_wide(&self, major: Major) -> bool {
        major == Major::Mn || self.width != 32
    }

    /// The shared address of chunk `(i, j)`.
    pub(super) fn chunk(&self, major: Major, i: u64, j: u64) -> u64 {
        let Descriptor { start, leading, stride, base, width } = *self;
        let offset = match (major, width) {
            (Major::K, 0) => 16 * (i % 8) + stride * (i / 8) + leading * j,
            (Major::K, _) => width * (i % 8) + stride * (i / 8) + 16 * j,
            (Major::Mn, 0) => stride * i + 16 * (j % 8) + leading * (j / 8),
            (Major::Mn, _) => {
                let chunks = width / 16;
                16 * (i % chunks) + leading * (i / chunks) + width * (j % 8) + stride * (j / 8)
            }
        };
        let address = (start + offset) & ADDRESS;
        let row = (address >> 7).wrapping_sub(base);
        address ^ (row & (width / 16).saturating_sub(1)) << 4
    }
}
