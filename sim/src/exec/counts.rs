//! Counts the wavefronts of shared memory and the sectors of global memory of an access.
//!
//! Shared memory has 32 banks of 4 bytes, and a wavefront serves one word of each bank. An access of up to 4 bytes a
//! lane is served for the whole warp at once, an access of 8 bytes by half warps, one of 16 bytes by quarter warps, and
//! `ldmatrix` by matrices. A word that several lanes access counts once. Global memory moves in sectors of 32 bytes.

use crate::lanes::lanes_of;
use crate::op::Address;
use crate::space::{SHARED_BASE, resolve};
use crate::{Report, Space};

use super::warp::Warp;

const BANKS: usize = 32;
const SECTOR: u64 = 32;

/// A set of at most 32 numbers: words or sectors of one access.
#[derive(Default)]
struct Set {
    members: [u64; 32],
    len: usize,
}

impl Set {
    fn insert(&mut self, member: u64) {
        if !self.members[..self.len].contains(&member) && self.len < self.members.len() {
            self.members[self.len] = member;
            self.len += 1;
        }
    }

    /// The largest number of words that are in one bank, at least one: as many wavefronts serve the set.
    fn wavefronts(&self) -> u64 {
        let mut banks = [0u64; BANKS];
        for word in &self.members[..self.len] {
            banks[(word % BANKS as u64) as usize] += 1;
        }
        banks.into_iter().fold(1, u64::max)
    }

    /// Adds what a part of an access to shared memory takes. The least is one wavefront, as a part has at most 32
    /// words.
    fn count_words(self, report: &mut Report) {
        if self.len > 0 {
            report.wavefronts += self.wavefronts();
            report.least_wavefronts += 1;
        }
    }
}

impl Warp {
    /// Counts an access of `bytes` bytes at an address of each lane. To be called before a load, which may overwrite
    /// the register of its own address.
    pub(super) fn count(&self, report: &mut Report, space: Space, address: &Address, bytes: u32, mask: u32) {
        let (mut sectors, mut starts) = (Set::default(), Set::default());
        let served_together = (128 / bytes.max(4)) as usize;
        let mut words = Set::default();
        let mut part = 0;
        for lane in lanes_of(mask) {
            let (space, at) = resolve(space, self.address(address, lane));
            match space {
                Space::Global => {
                    report.global_bytes += u64::from(bytes);
                    sectors.insert(at / SECTOR);
                    starts.insert(at);
                }
                Space::Shared | Space::Cluster => {
                    report.shared_bytes += u64::from(bytes);
                    if lane / served_together != part {
                        std::mem::take(&mut words).count_words(report);
                        part = lane / served_together;
                    }
                    let first = at.wrapping_sub(SHARED_BASE) / 4;
                    (0..u64::from(bytes.div_ceil(4))).for_each(|i| words.insert(first.wrapping_add(i)));
                }
                _ => {}
            }
        }
        words.count_words(report);
        report.sectors += sectors.len as u64;
        report.least_sectors += (starts.len as u64 * u64::from(bytes)).div_ceil(SECTOR);
    }

    /// Counts an `ldmatrix` or `stmatrix`, one part for each matrix: eight rows of four words.
    pub(super) fn count_matrices(&self, report: &mut Report, address: &Address, matrices: usize) {
        for matrix in 0..matrices {
            report.shared_bytes += 128;
            let mut words = Set::default();
            for supplier in 8 * matrix..8 * matrix + 8 {
                let first = self.address(address, supplier).wrapping_sub(SHARED_BASE) / 4;
                (0..4).for_each(|i| words.insert(first.wrapping_add(i)));
            }
            words.count_words(report);
        }
    }
}
