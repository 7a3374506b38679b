//! The canonical layouts of matrices in shared memory.

use super::values::Random;

/// How a matrix lies in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The mode that is contiguous is not K.
    pub(crate) mn: bool,
    /// 0, 32, 64, 128.
    pub(crate) width: usize,
    /// Offset of the first element, without the swizzle; and leading and stride byte offsets.
    pub(crate) start: usize,
    pub(crate) leading: usize,
    pub(crate) stride: usize,
}

/// The first byte of shared memory that kernels see.
pub(crate) const BASE: usize = 1024;

impl Place {
    /// The canonical layouts: the offset of row `i` (of M or N) and column `k` of K, in bytes; T elements are 16 bytes.
    /// Of bits, the byte.
    pub(crate) fn offset(&self, i: usize, k: usize, bits: usize) -> usize {
        let t = 128 / bits;
        let size = |elements: usize| elements * bits / 8;
        let (l, s) = (self.leading, self.stride);
        let w = self.width;
        let linear = match (self.mn, w) {
            // ((8,m),(T,2)):((T,SBO),(1,LBO))
            (false, 0) => i % 8 * 16 + i / 8 * s + size(k % t) + k / t * l,
            // ((8,m),(T,2)):((8T,SBO),(1,T)) and so on
            (false, _) => i % 8 * w + i / 8 * s + size(k % t) + k / t * 16,
            // ((T,1,m),(8,k)):((1,T,SBO),(T,LBO))
            (true, 0) => size(i % t) + i / t * s + k % 8 * 16 + k / 8 * l,
            // ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)) and so on
            (true, _) => {
                let c = w / 16;
                size(i % t) + i / t % c * 16 + i / (t * c) * l + k % 8 * w + k / 8 * s
            }
        };
        // Swizzle<B,4,3>
        let address = BASE + self.start + linear;
        let swizzled = match w {
            0 => address,
            _ => {
                let mask = w / 16 - 1;
                (address & !0x70) | ((address >> 4 & 7) ^ (address >> 7 & mask)) << 4
            }
        };
        swizzled - BASE
    }

    pub(crate) fn descriptor(&self) -> u64 {
        let field = |bytes: usize| (bytes >> 4 & 0x3fff) as u64;
        let swizzle = match self.width {
            0 => 0u64,
            w => (256 / w).ilog2().into(),
        };
        field(BASE + self.start) | field(self.leading) << 16 | field(self.stride) << 32 | swizzle << 62
    }

    /// A random place for `rows` x 32 bytes in `space` bytes from `from` on, with no two elements in one byte.
    pub(crate) fn random(
        random: &mut Random,
        rows: usize,
        bits: usize,
        mn: bool,
        width: usize,
        from: usize,
        space: usize,
    ) -> Place {
        let k = 256 / bits;
        for _ in 0..10_000 {
            let unit = if width == 0 { 16 } else { 8 * width };
            let mut bytes = || unit * random.below((space / unit) as u64 / 2) as usize;
            let (leading, stride) = (bytes(), bytes());
            let mut start = from.next_multiple_of(unit) + bytes() / 2 / unit * unit;
            // Further along K in a row that holds more of it.
            if width > 32 && !mn {
                start += 32 * random.below(width as u64 / 32) as usize;
            }
            let place = Place { mn, width, start, leading, stride };
            let chunks = (0..rows).flat_map(|i| (0..k).map(move |k| (i, k)));
            let mut used: Vec<usize> = chunks.map(|(i, k)| place.offset(i, k, bits)).collect();
            used.sort_unstable();
            used.dedup();
            let fits = used.last().is_some_and(|&last| last + 4 <= from + space);
            if fits && used.len() == rows * 32 / (bits / 8).max(1) {
                return place;
            }
        }
        // Dense: rows of 32 bytes, or 8 rows of K.
        let (leading, stride) = match (mn, width) {
            (false, 0) => (rows * 16, 128),
            (false, w) => (16, 8 * w),
            (true, 0) => (rows * 16, 128),
            (true, w) => (16 * w, 8 * w),
        };
        Place { mn, width, start: from.next_multiple_of(1024), leading, stride }
    }
}
