//! Detection of endless loops: the state of a cluster recurs, and memory that others see does not change. Such a cluster waits for another one, even
//! if its loop has other effects, such as barriers by which its warps share a value that one of them has read.

use std::hash::{Hash, Hasher};

use super::cluster::Cluster;
use super::warp::State;

/// At least this many turns of all warps are between two looks at the state.
const TURNS: u32 = 32;
/// For this many bytes of the state there is one more turn.
const BYTES: usize = 4096;

/// The states of a cluster at some of its turns (Brent's algorithm): a state is compared with an earlier one, and that
/// with a later one after twice as many looks as before.
#[derive(Debug, Default)]
pub(super) struct Circles {
    state: u64,
    looks: u32,
    most: u32,
    /// The writes to global memory when the cluster was last found in a cycle.
    pub(super) shown: u64,
    /// Steps at the last look but one, and at the last.
    steps: [u64; 2],
}

impl Circles {
    /// The step from which on events belong to the cycle.
    pub(super) fn since(&self) -> u64 {
        self.steps[0]
    }
}

/// A hash that is quick to compute.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        rest.iter().for_each(|&byte| self.word(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.word(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }
}

/// How a value at an address counts in the hash of all global memory that atomics and strong stores have changed.
pub(super) fn mixed(address: u64, value: u64) -> u64 {
    let mut mix = Mix(address);
    mix.word(value);
    mix.word(address);
    mix.0
}

impl Cluster<'_> {
    /// After a turn of all warps: whether the cluster has been in this state before.
    pub(super) fn is_in_circles(&mut self) -> bool {
        let size = self
            .warps
            .iter()
            .map(|warp| 128 * warp.regs.w32.len() + 256 * warp.regs.w64.len() + warp.local.len());
        let every = TURNS + ((size.sum::<usize>() + self.cx.shared.len()) / BYTES) as u32;
        if !self.turns.is_multiple_of(every) {
            return false;
        }
        let Some(state) = self.state() else { return false };
        let circles = &mut self.circles;
        circles.steps = [circles.steps[1], self.cx.steps];
        if state == circles.state {
            return true;
        }
        circles.looks += 1;
        if circles.looks >= circles.most {
            (circles.state, circles.looks, circles.most) = (state, 0, circles.most.max(1) * 2);
        }
        false
    }

    /// A hash of all that decides how the cluster goes on, apart from what others write; none while operations are on
    /// their way, or functions have been called.
    fn state(&self) -> Option<u64> {
        let calls = self.warps.iter().any(|warp| warp.calls.iter().any(|calls| !calls.is_empty()));
        if calls || self.cx.agents.are_moving() {
            return None;
        }
        let mut mix = Mix(self.cx.written);
        for warp in &self.warps {
            if matches!(warp.state, State::Done) {
                mix.word(0);
                continue;
            }
            for group in &warp.groups {
                mix.word(u64::from(group.pc) << 32 | u64::from(group.mask));
                mix.word(group.can_run().into());
            }
            mix.word(u64::from(matches!(warp.state, State::Ready)));
            warp.regs.pred.iter().for_each(|&lanes| mix.word(lanes.into()));
            for lanes in &warp.regs.w32 {
                lanes
                    .as_chunks::<2>()
                    .0
                    .iter()
                    .for_each(|&[low, high]| mix.word(u64::from(high) << 32 | u64::from(low)));
            }
            warp.regs.w64.iter().flatten().for_each(|&value| mix.word(value));
            mix.write(&warp.local);
        }
        mix.write(&self.cx.shared);
        self.cx.blocks.hash(&mut mix);
        mix.word(self.cx.mbarriers.state());
        Some(mix.0)
    }
}
