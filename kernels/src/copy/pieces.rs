//! Copies that are too large for one launch.

use girih_codegen::copy::CopyConfig;
use girih_codegen::gemm::MAX_EXTENT;

use super::choose::Chosen;
use super::modes::{Mode, Pad};

/// A part of a problem for one launch. Offsets are in elements of the configuration's dtype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the piece begins in the destination, counted from coordinate 0.
    pub dst: i64,
    /// Where the piece begins in the source, counted from coordinate 0.
    pub src: i64,
    /// Where the piece begins in the list of indices.
    pub index: i64,
    /// The extents of the modes.
    pub extents: Vec<i64>,
    /// The part of each mode that the source has; it may be empty.
    pub pads: Vec<Option<Pad>>,
}

impl Chosen {
    /// The problem in pieces whose extents and strides fit a kernel's parameters, and whose tiles fit a grid. Mostly it is one.
    ///
    /// # Examples
    /// ```
    /// use girih_kernels::copy::{Problem, choose};
    /// use girih_tensor::DType;
    ///
    /// // 5 * 2^30 bytes are so many elements of 8 bytes.
    /// let problem = Problem::strided(DType::U8, &[5 << 30], &[1], &[1])?;
    /// assert_eq!(choose(&problem, [16, 16])?.pieces()[0].extents, [5 << 27]);
    /// // From odd addresses on they are elements of a byte, of which a launch takes 2^30.
    /// let pieces = choose(&problem, [1, 1])?.pieces();
    /// assert!(pieces.len() > 4 && pieces.iter().map(|piece| piece.extents[0]).sum::<i64>() == 5 << 30);
    /// # Ok::<(), girih_kernels::Error>(())
    /// ```
    pub fn pieces(&self) -> Vec<Piece> {
        let Chosen { config, modes, .. } = self;
        let (extents, pads) =
            (modes.iter().map(|mode| mode.extent).collect(), modes.iter().map(|mode| mode.pad).collect());
        let mut pieces = Vec::new();
        let mut waiting = vec![Piece { dst: 0, src: 0, index: 0, extents, pads }];
        while let Some(piece) = waiting.pop() {
            match piece.too_large(config, modes) {
                Some(mode) => waiting.extend(piece.halves(config, modes, mode)),
                None => pieces.push(piece),
            }
        }
        pieces
    }
}

impl Piece {
    /// A mode along which the piece has to be divided.
    fn too_large(&self, config: &CopyConfig, modes: &[Mode]) -> Option<usize> {
        let gathered = config.gather.map(|gather| gather.mode);
        let long = |&i: &usize| {
            let src = if gathered == Some(i) { 0 } else { modes[i].src };
            let stride = modes[i].dst.abs().max(src.abs());
            self.extents[i] > MAX_EXTENT || self.extents[i] > 1 && stride > u32::MAX.into()
        };
        (0..modes.len()).find(long).or_else(|| {
            config
                .tiles(&self.extents)
                .is_err()
                .then(|| (0..modes.len()).rev().find(|&i| self.extents[i] > config.modes[i].tile))?
        })
    }

    /// The piece in two along a mode, of which the first has whole tiles.
    fn halves(self, config: &CopyConfig, modes: &[Mode], mode: usize) -> [Piece; 2] {
        let half = self.extents[mode] / 2;
        let first = (half / config.modes[mode].tile * config.modes[mode].tile).max(1);
        let mut second = self.clone();
        let mut own = self;
        second.extents[mode] -= first;
        own.extents[mode] = first;
        second.dst += first * modes[mode].dst;
        if config.gather.is_some_and(|gather| gather.mode == mode) {
            second.index += first;
            return [own, second];
        }
        let Some(Pad { low, extent }) = second.pads[mode] else {
            second.src += first * modes[mode].src;
            return [own, second];
        };
        let before = extent.min((first - low).max(0));
        own.pads[mode] = Some(Pad { low, extent: before });
        second.pads[mode] = Some(Pad { low: (low - first).max(0), extent: extent - before });
        // A source that has nothing of the second half keeps its beginning.
        second.src += if before < extent { before * modes[mode].src } else { 0 };
        [own, second]
    }
}
