//! The configuration of a copy kernel.

use girih_layout::{Int, Lay};
use girih_tensor::DType;

use crate::Error;
use crate::builder::Caching;
use crate::error::CopyError;
use crate::params::MAX_EXTENT;
use crate::plan::{most_threads, most_threads_staged, vectors_in_order};
use crate::sizes::ONE;

/// The most tiles of a copy whose blocks have a tile each.
pub(super) const MAX_TILES: i64 = (1 << 31) - 1;
/// The most tiles of a copy whose blocks go on with other tiles.
pub(super) const MAX_WALKED: i64 = 1 << 30;

/// The most registers that a thread's part of a tile may take, since all of the part is in flight together.
const MAX_WORDS: i64 = 128;

/// The numbers and facts by which a copy module is specialised. A module serves every size and every stride that its facts allow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CopyConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// The type of the elements; their bits are what counts.
    pub dtype: DType,
    /// The modes, in any order.
    pub modes: Vec<Mode>,
    /// The mode along which the source is read at indices, if there is one.
    pub gather: Option<Gather>,
    /// How the destination is laid out.
    pub dst: Side,
    /// How the source is laid out.
    pub src: Side,
    /// Threads of a block.
    pub threads: i64,
    /// The way of a tile.
    pub through: Through,
    /// The order in which blocks copy the tiles.
    pub walk: Walk,
    /// The cache hints.
    pub caching: Caching,
    /// Whether the kernel waits before it accesses memory, so that its launch may be a programmatic one, and lets the kernel after it prepare
    /// itself meanwhile (programmatic dependent launch, sm_90).
    pub programmatic: bool,
}

/// A mode of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The extent of the tile along the mode, in elements.
    pub tile: i64,
    /// The facts about the mode's extent in the destination.
    pub extent: Extent,
    /// Whether the source has only a part of the mode, and what the part's begin and extent, which are parameters, are multiples of.
    pub pad: Option<i64>,
}

/// A mode along which the source is read at the positions that a list of indices says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    /// The mode.
    pub mode: usize,
    /// The type of the indices: s32, u32 or s64.
    pub index: DType,
}

/// The facts about the extent of a mode that a module is specialised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The extent, which the tile covers.
    Known(i64),
    /// The extent is a parameter, a multiple of this number.
    Multiple(i64),
}

/// How one side of a copy is laid out in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    /// The numbers of the modes, of the smallest stride first.
    pub order: Vec<usize>,
    /// How many of the first modes of the order follow each other in memory without gaps, the first of them with stride 1. All but the
    /// last of them are in the tile as a whole.
    pub run: usize,
    /// The elements that are accessed at once. The address and all strides but those of the run must be multiples of this many
    /// elements. It is 1 if there is no run.
    pub vector: i64,
    /// The modes after the run whose strides are below 0: their parameters are the sizes of the strides, and the address is that of coordinate 0.
    pub backwards: Vec<usize>,
}

/// The way of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Through {
    /// From global memory to registers and back, which needs the same order, run and vectors on both sides.
    Registers,
    /// Through shared memory.
    Shared,
    /// Through shared memory by bulk copies (`cp.async.bulk`) of one thread. A tile is a piece of the first mode, which is contiguous on both
    /// sides, and blocks go on with other tiles.
    Bulk {
        /// Tiles of a block in shared memory at a time.
        stages: i64,
    },
}

/// The order in which blocks copy the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Walk {
    /// Blocks first copy this many tiles along the destination's first mode of several tiles, then along the source's, and then come the
    /// next tiles of the destination's. With 1 they go along the whole of the destination's first.
    pub band: i64,
    /// Whether there are only as many blocks as the launch says, each of which goes on with another tile.
    pub persistent: bool,
}

impl Mode {
    /// Whether a tile may reach beyond the mode.
    pub(super) fn is_ragged(self) -> bool {
        match self.extent {
            Extent::Known(extent) => extent != self.tile,
            Extent::Multiple(of) => of % self.tile != 0,
        }
    }

    /// Whether the tile has the whole mode and no more.
    pub(super) fn is_whole(self) -> bool {
        self.extent == Extent::Known(self.tile)
    }
}

impl Side {
    /// The modes as they are laid out in memory: those of the run as one, if there is a run, then each of the others.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[usize]> {
        let (run, others) = self.order.split_at(self.run.min(self.order.len()));
        std::iter::once(run).filter(|run| !run.is_empty()).chain(others.chunks(1))
    }
}

impl CopyConfig {
    /// The most threads, a power of two, that divide the tile's vectors on both sides.
    ///
    /// # Errors
    /// [`Error::Copy`] for a configuration that cannot be built.
    pub fn most_threads(&self) -> Result<i64, Error> {
        self.check()?;
        match self.through {
            Through::Bulk { .. } => Ok(32),
            Through::Registers => Ok(most_threads(&self.tile(&self.dst), self.dst.vector)),
            Through::Shared => {
                let vectors = [self.src.vector, self.dst.vector];
                most_threads_staged(&self.groups(&self.src)?, self.dtype.bits().into(), vectors)
            }
        }
    }

    /// The groups of a side in the tile that have more than one element or are padded, as `(the groups' leaves) -> index in the order of
    /// the destination`.
    pub(super) fn groups(&self, side: &Side) -> Result<Lay, Error> {
        let mut strides = vec![0; self.modes.len()];
        self.dst.order.iter().fold(1, |step, &mode| {
            strides[mode] = step;
            step * self.modes[mode].tile
        });
        let leaf =
            |&mode: &usize| Lay::leaf(Int::fixed(self.modes[mode].tile), Int::fixed(strides[mode]).into());
        let mut modes = Vec::new();
        for own in side.groups() {
            let leaves: Vec<Lay> = own.iter().map(leaf).collect::<Result<_, _>>()?;
            let group = if let [one] = leaves[..] { one } else { Lay::concat(&leaves)? };
            let padded = own.iter().any(|&mode| self.modes[mode].pad.is_some());
            if !group.size()?.is(1) || padded {
                modes.push(group);
            }
        }
        Ok(Lay::concat(if modes.is_empty() { &[ONE] } else { &modes })?)
    }

    /// The number of tiles of a copy with these extents, one for each mode: the blocks of the grid, unless blocks go on with other tiles.
    ///
    /// # Errors
    /// [`CopyError::Tiles`] for more tiles than a kernel copies.
    pub fn tiles(&self, extents: &[i64]) -> Result<i64, Error> {
        super::walk::tiles(self, extents)
    }

    /// Whether a tile may reach beyond an extent.
    pub(super) fn is_ragged(&self) -> bool {
        self.modes.iter().any(|mode| mode.is_ragged())
    }

    /// The extents of the tile's modes in the order of a side.
    pub(super) fn tile(&self, side: &Side) -> Vec<i64> {
        side.order.iter().map(|&mode| self.modes[mode].tile).collect()
    }

    /// Whether the source has only a part of what is written.
    pub(super) fn is_padded(&self) -> bool {
        self.modes.iter().any(|mode| mode.pad.is_some())
    }

    /// Elements of a tile.
    pub(super) fn elements(&self) -> i64 {
        self.modes.iter().fold(1, |all, mode| all.saturating_mul(mode.tile))
    }

    pub(super) fn tile_text(&self) -> String {
        let tile: Vec<String> = self.tile(&self.dst).iter().map(i64::to_string).collect();
        format!("({})", tile.join(","))
    }

    /// (Thr,Val) -> index of the tile in the order of the destination, of a copy through registers.
    pub(super) fn partition(&self) -> Result<Lay, Error> {
        vectors_in_order(&self.tile(&self.dst), self.dst.vector, self.threads)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let bits = i64::from(self.dtype.bits());
        if !matches!(bits, 8 | 16 | 32 | 64) {
            return Err(CopyError::DType { dtype: self.dtype }.into());
        }
        for (number, mode) in self.modes.iter().enumerate() {
            let known = match mode.extent {
                Extent::Known(extent) => (1..=mode.tile).contains(&extent) && mode.pad.is_none(),
                Extent::Multiple(of) => {
                    [of, mode.pad.unwrap_or(1)].iter().all(|of| (1..=MAX_EXTENT).contains(of))
                }
            };
            if !(1..=MAX_EXTENT).contains(&mode.tile) || !known {
                return Err(CopyError::Mode { number, mode: format!("{mode:?}") }.into());
            }
        }
        [("dst", &self.dst), ("src", &self.src)]
            .into_iter()
            .try_for_each(|(what, side)| self.check_side(what, side))?;
        let alike = (&self.dst.order, self.dst.run, self.dst.vector)
            == (&self.src.order, self.src.run, self.src.vector);
        if let Some(gather) = self.gather
            && !(matches!(gather.index, DType::S32 | DType::U32 | DType::S64)
                && self.through == Through::Registers
                && !self.is_padded()
                && self.dst.order.iter().position(|&mode| mode == gather.mode) >= Some(self.dst.run)
                && self.dst.run <= 1)
        {
            return Err(CopyError::Gather { gather: format!("{gather:?}") }.into());
        }
        if let Through::Bulk { stages } = self.through {
            let tile =
                self.modes.iter().enumerate().all(|(i, mode)| mode.tile == 1 || i == self.dst.order[0]);
            let whole = matches!(self.modes[self.dst.order[0]].extent, Extent::Multiple(of) if of % self.dst.vector == 0);
            if !(alike
                && tile
                && whole
                && !self.is_padded()
                && self.dst.run == 1
                && self.dst.vector * bits == 128
                && self.walk.persistent)
                || !(2..=64).contains(&stages)
            {
                return Err(CopyError::Bulk { stages, tile: self.tile_text() }.into());
            }
        }
        if self.through == Through::Registers && !alike {
            let [dst, src] = [&self.dst, &self.src].map(|side| format!("{side:?}"));
            return Err(CopyError::Sides { dst, src }.into());
        }
        if self.walk.band < 1 || self.walk.band & (self.walk.band - 1) != 0 || self.walk.band > 1 << 10 {
            return Err(CopyError::Band { band: self.walk.band, most: 1 << 10 }.into());
        }
        Ok(())
    }

    /// Refuses more than the threads' registers hold.
    pub(super) fn check_threads(&self) -> Result<(), Error> {
        let bits = i64::from(self.dtype.bits());
        let bulk = matches!(self.through, Through::Bulk { .. });
        let words = if bulk { 0 } else { self.elements().saturating_mul(bits) / 32 / self.threads.max(1) };
        if !(1..=1024).contains(&self.threads) || words > MAX_WORDS {
            let (tile, threads) = (self.tile_text(), self.threads);
            return Err(CopyError::Threads { tile, threads, most: MAX_WORDS }.into());
        }
        Ok(())
    }

    fn check_side(&self, which: &'static str, side: &Side) -> Result<(), Error> {
        let mut modes = side.order.clone();
        modes.sort_unstable();
        let every = modes.iter().copied().eq(0..self.modes.len());
        let within = &side.order[..side.run.min(side.order.len()).saturating_sub(1)];
        let vector = i64::from(self.dtype.bits()).saturating_mul(side.vector);
        let access = matches!(vector, 8 | 16 | 32 | 64 | 128) && (side.run > 0 || side.vector == 1);
        let behind =
            side.backwards.iter().all(|mode| side.order[side.run.min(side.order.len())..].contains(mode));
        let whole = behind
            && every
            && side.run <= side.order.len()
            && within.iter().all(|&mode| self.modes[mode].is_whole());
        if whole && access && !self.modes.is_empty() {
            return Ok(());
        }
        Err(CopyError::Side { which, side: format!("{side:?}") }.into())
    }
}
