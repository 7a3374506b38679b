//! The arrays in global memory of a launch, and what the steps of a block write to them.

use std::ops::Range;

use girih_sim::{Error, Memory, Moment, Nearest};

use super::access::Access;
use super::image::Image;
use super::record::Record;

/// The most bytes of an array in global memory that is recorded.
pub(super) const MOST_ARRAY: u64 = 1 << 20;

impl Record {
    /// The arrays to which the arguments of the launch point.
    pub(super) fn arrays(&mut self, moment: &Moment<'_>, memory: &Memory) {
        let mut known = Vec::new();
        for (index, (bytes, param)) in moment.launch().args.iter().zip(moment.kernel().params()).enumerate() {
            let words =
                bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
            for (base, bytes) in words.filter_map(|word| allocation(memory, word)) {
                if known.contains(&base) {
                    continue;
                }
                known.push(base);
                let name = format!("argument {index} ({})", param.name);
                if bytes > MOST_ARRAY {
                    self.left_out.push(name);
                    continue;
                }
                let mut begin = vec![0; bytes as usize];
                if memory.read(base, &mut begin).is_ok() {
                    self.memory.push(Image::new(name, base, begin));
                }
            }
        }
    }

    /// The region of memory and the part of it that a lane accesses.
    fn touched(&mut self, access: &Access, address: u64) -> Option<(&mut Image, Range<usize>)> {
        self.memory.iter_mut().find_map(|image| image.part(address, access.bytes).map(|part| (image, part)))
    }

    /// Notes the types of first accesses.
    pub(super) fn typed(&mut self, words: &str, accesses: &[Access]) {
        for access in accesses {
            let first = access.lanes.first().and_then(|(_, address)| self.touched(access, *address));
            if let Some((image, _)) = first {
                image.ty.get_or_insert_with(|| words.rsplit('.').next().unwrap_or_default().into());
            }
        }
    }

    /// Notes what a step has written to arrays in global memory.
    pub(super) fn global(
        &mut self,
        (moment, memory): (&Moment<'_>, &Memory),
        words: &str,
        step: u32,
        accesses: &[Access],
    ) {
        for access in accesses.iter().filter(|access| access.write && access.space != "shared") {
            let mut bytes = vec![0; access.bytes as usize];
            for (_, address) in &access.lanes {
                let Some((image, part)) = self.touched(access, *address) else { continue };
                if memory.read(*address, &mut bytes).is_ok() {
                    image.put(step, Some(moment.warp()), part.start, &bytes);
                }
            }
        }
        // Bulk stores have written when they are waited for, or at last when the kernel ends.
        if ["cp.async.bulk.wait", "ret", "exit"].iter().any(|begin| words.starts_with(begin)) {
            for image in self.memory.iter_mut().skip(1) {
                let mut bytes = vec![0; image.size()];
                if memory.read(image.base, &mut bytes).is_ok() {
                    image.put(step, None, 0, &bytes);
                }
            }
        }
    }
}

/// The allocation that begins at an address: its address and its bytes. The memory says which one is next to the byte before.
fn allocation(memory: &Memory, address: u64) -> Option<(u64, u64)> {
    match memory.read(address.checked_sub(1)?, &mut [0]) {
        Err(Error::HostAccess { nearest: Nearest::Region { base, bytes, .. }, .. }) if base == address => {
            Some((base, bytes))
        }
        _ => None,
    }
}
