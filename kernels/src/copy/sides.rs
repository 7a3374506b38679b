//! The modes of a copy at its source and at its destination: their order, the contiguous run, the vector width.

use girih_codegen::copy::Side;

use super::modes::{Mode, Pad};
use super::problem::{Gather, Problem};

/// Bytes of the widest access of a thread.
pub(super) const WIDEST: i64 = 16;
/// The largest extent that a tile covers exactly although it is no power of two.
pub(super) const EXACT: i64 = 16;

/// Whether a mode's stride exceeds the parameters of a kernel, which are u32. Each position of such a mode is a launch of its own.
pub(super) fn is_far(mode: &Mode) -> bool {
    mode.extent > 1 && mode.src.abs().max(mode.dst.abs()) > u32::MAX.into()
}

/// The modes and the gather, recast to the largest element of at most 8 bytes that divides the strides and the alignments of both sides, with that
/// element's bytes.
pub(super) fn widened(problem: &Problem, aligned: [i64; 2]) -> (i64, Vec<Mode>, Option<Gather>) {
    let (mut element, mut modes, mut gather) =
        (problem.element(), problem.modes().to_vec(), problem.gathered());
    let alone = gather.map(|gather| gather.mode);
    let first =
        modes.iter().enumerate().position(|(i, mode)| (mode.src, mode.dst) == (1, 1) && Some(i) != alone);
    let Some(first) = first else { return (element, modes, gather) };
    let even = |i: usize, mode: &Mode| match (i == first, mode.pad) {
        (true, Some(Pad { low, extent })) => [mode.extent, low, extent].iter().all(|n| n % 2 == 0),
        (true, None) => mode.extent % 2 == 0,
        (false, _) => mode.src % 2 == 0 && mode.dst % 2 == 0,
    };
    while element < 8
        && aligned.iter().all(|bytes| bytes % (2 * element) == 0)
        && modes.iter().enumerate().all(|(i, mode)| even(i, mode))
    {
        for (i, mode) in modes.iter_mut().enumerate() {
            if i == first {
                mode.extent /= 2;
                mode.pad = mode.pad.map(|Pad { low, extent }| Pad { low: low / 2, extent: extent / 2 });
            } else {
                (mode.src, mode.dst) = (mode.src / 2, mode.dst / 2);
            }
        }
        element *= 2;
    }
    if modes[first].extent == 1 && modes.len() > 1 {
        modes.remove(first);
        if let Some(gather) = gather.as_mut().filter(|gather| gather.mode > first) {
            gather.mode -= 1;
        }
    }
    (element, modes, gather)
}

/// The modes at the source or at the destination.
pub(super) struct OneSide<'a> {
    pub(super) modes: &'a [Mode],
    pub(super) element: i64,
    pub(super) aligned: i64,
    pub(super) strides: Vec<i64>,
    /// Whether this is the source. Its vectors are shifted by the padding before them.
    pub(super) source: bool,
    /// A mode that is excluded from runs: the gathered one.
    pub(super) alone: Option<usize>,
}

impl OneSide<'_> {
    /// The modes by increasing absolute stride. A mode of stride 0 comes last.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.modes.len()).collect();
        order.sort_by_key(|&i| if self.strides[i] == 0 { i64::MAX } else { self.strides[i].abs() });
        order
    }

    pub(super) fn side(&self, longest: usize) -> Side {
        let order = self.order();
        let (mut run, mut next) = (0, 1);
        let follows = |mode: usize, next: i64| {
            self.strides[mode] == next && Some(mode) != self.alone && !is_far(&self.modes[mode])
        };
        while run < order.len().min(longest) && next <= EXACT && follows(order[run], next) {
            next = self.modes[order[run]].extent.saturating_mul(next);
            run += 1;
            if self.modes[order[run - 1]].pad.is_some() {
                break;
            }
        }
        let mut vector = self.vector(&order, run);
        if let Some(Pad { low, extent }) = self.modes[order[0]].pad.filter(|_| self.source) {
            // Vectors across the end of a pad would be read element by element.
            while low % vector != 0 || extent % vector != 0 {
                vector /= 2;
            }
        }
        let backwards = (0..self.modes.len()).filter(|&i| self.strides[i] < 0).collect();
        Side { vector, order, run, backwards }
    }

    /// The elements of the widest vector along the first `run` modes of an order.
    pub(super) fn vector(&self, order: &[usize], run: usize) -> i64 {
        let mut vector = if run == 0 { 1 } else { WIDEST / self.element };
        let length =
            order[..run].iter().fold(1, |length: i64, &i| length.saturating_mul(self.modes[i].extent));
        let fits = |vector: i64| {
            let strides = order[run..].iter().map(|&i| self.strides[i]);
            self.aligned % (vector * self.element) == 0
                && strides.into_iter().all(|stride| stride % vector == 0)
        };
        while vector > 1 && (!fits(vector) || vector / 2 >= length) {
            vector /= 2;
        }
        vector
    }
}
