//! The tile of a configuration: its path, and its extent along each mode.

use girih_codegen::copy::{CopyConfig, Extent, Gather as Gathered, Mode as Config, Side, Through, Walk};
use girih_tensor::DType;

use super::choose::Tuning;
use super::modes::{Mode, Pad};
use super::problem::{Gather, Problem};
use super::sides::{EXACT, OneSide, WIDEST, is_far, widened};
use crate::Error;
use girih_device::sizes::wide;

/// Bytes below which an access costs as much as one of this many bytes.
const WORD: i64 = 4;
/// Threads below which a block leaves lanes of its warp without work.
const FEW: i64 = 32;
/// Bytes of a tile that a thread may have in registers.
const MOST_BYTES: i64 = 256;
/// Accesses of one side of a tile that a thread may make; each has an address and a predicate.
const MOST_ACCESSES: i64 = 32;
/// The largest extent that a module knows.
const KNOWN: i64 = 64;

/// How the modes of a problem are laid out in memory.
pub(super) struct Lying {
    /// Bytes of an element.
    element: i64,
    modes: Vec<Mode>,
    dst: Side,
    src: Side,
    through: Through,
    gather: Option<Gather>,
    /// Whether tiles may have extents that are no powers of two.
    exact: bool,
}

impl Lying {
    /// With runs of up to `longest` modes.
    fn of(problem: &Problem, aligned: [i64; 2], longest: usize) -> Lying {
        let longest = if problem.gathered().is_some() { 1 } else { longest };
        let (element, mut modes, gather) = widened(problem, aligned);
        if modes.is_empty() {
            modes.push(Mode { extent: 1, src: 1, dst: 1, pad: None });
        }
        let [dst, src] = [(aligned[1], false), (aligned[0], true)].map(|(aligned, of_src)| {
            let strides = modes.iter().map(|mode| if of_src { mode.src } else { mode.dst }).collect();
            let alone = gather.map(|gather| gather.mode);
            OneSide { modes: &modes, element, aligned, strides, source: of_src, alone }
        });
        let (alone, order) = ([dst.side(longest), src.side(longest)], dst.order());
        // Both sides in one order and in accesses of one width, if they begin with the same mode.
        let runs = alone.each_ref().map(|side| &side.order[..side.run]);
        let run = runs[0].iter().zip(runs[1]).take_while(|(a, b)| a == b).count();
        let vector = dst.vector(&order, run).min(src.vector(&order, run));
        let widest = alone[0].vector.max(alone[1].vector);
        // Narrower accesses cost less than shared memory, but accesses of less than a word cost more.
        let alike = order[0] == alone[1].order[0] && (vector == widest || vector * element >= WORD);
        let together = alike || gather.is_some();
        let [dst, src] = match together {
            true => alone.map(|side| Side { order: order.clone(), run, vector, ..side }),
            false => alone,
        };
        let through = if together { Through::Registers } else { Through::Shared };
        Lying { element, modes, dst, src, through, gather, exact: longest > 1 }
    }

    /// The way of a tile, the bytes of an element as the configuration counts them, and those of the narrower side's accesses.
    pub(super) fn way(problem: &Problem, aligned: [i64; 2]) -> (Through, i64, i64) {
        let lying = Lying::of(problem, aligned, usize::MAX);
        (lying.through, lying.element, lying.element * lying.dst.vector.min(lying.src.vector))
    }

    /// The configuration for the largest tile up to that of the tuning for which there are threads and registers.
    pub(super) fn configured(
        problem: &Problem,
        aligned: [i64; 2],
        tuning: Tuning,
    ) -> Result<(CopyConfig, Vec<Mode>), Error> {
        let mut longest = usize::MAX;
        let mut smaller = tuning;
        loop {
            let lying = Lying::of(problem, aligned, longest);
            let config = lying.config(&smaller)?;
            let bytes = config.modes.iter().map(|mode| mode.tile).product::<i64>() * lying.element;
            let accesses = bytes / lying.element / config.dst.vector.min(config.src.vector);
            let few = bytes <= MOST_BYTES * config.threads && accesses <= MOST_ACCESSES * config.threads;
            let fits = few || matches!(config.through, Through::Bulk { .. });
            if fits && config.threads >= FEW || longest == 1 && (fits || smaller.tile <= 1) {
                return Ok((config, lying.modes));
            }
            smaller = Tuning { tile: smaller.tile / 2, rows: smaller.rows.map(|row| row / 2), ..smaller };
            if smaller.tile == 0 {
                (longest, smaller) = (1, tuning);
            }
        }
    }

    fn config(&self, tuning: &Tuning) -> Result<CopyConfig, Error> {
        let tile = self.tile(tuning);
        let mode = |(i, mode): (usize, &Mode)| {
            let known = mode.extent <= tile[i] && mode.extent <= KNOWN && !is_far(mode) && mode.pad.is_none();
            let vector =
                [&self.dst, &self.src].map(|side| if self.leads(side) == i { side.vector } else { 1 });
            let facts = [tile[i], vector[0].max(vector[1])];
            let multiple = facts.into_iter().find(|of| mode.extent % of == 0).unwrap_or(1);
            let whole = |pad: Pad| {
                facts.into_iter().find(|of| pad.low % of == 0 && pad.extent % of == 0).unwrap_or(1)
            };
            let extent = if known { Extent::Known(mode.extent) } else { Extent::Multiple(multiple) };
            Config { tile: tile[i], extent, pad: mode.pad.map(whole) }
        };
        let dtype = match self.element {
            1 => DType::U8,
            2 => DType::U16,
            4 => DType::U32,
            _ => DType::U64,
        };
        let modes: Vec<Config> = self.modes.iter().enumerate().map(mode).collect();
        let walk = Walk { band: self.band(&tile, tuning.band), persistent: tuning.blocks.is_some() };
        // A mode that the tile has exactly may not be whole vectors.
        let [dst, src] = [&self.dst, &self.src].map(|side| {
            let run = side.order[..side.run].iter().map(|&mode| tile[mode]).product::<i64>();
            Side { vector: side.vector.min(run & run.wrapping_neg()), ..side.clone() }
        });
        let whole = |mode: &Config| {
            mode.pad.is_none() && matches!(mode.extent, Extent::Multiple(of) if of % dst.vector == 0)
        };
        let lines = self.through == Through::Registers && dst.run == 1 && dst.vector * self.element == WIDEST;
        let alone = tile.iter().filter(|&&of| of > 1).count() == 1 && whole(&modes[dst.order[0]]);
        let through = match tuning.bulk {
            Some(stages) if lines && alone && tuning.blocks.is_some() && self.gather.is_none() => {
                Through::Bulk { stages }
            }
            _ => self.through,
        };
        let caching = tuning.caching;
        let gather = self.gather.map(|Gather { mode, index, .. }| Gathered { mode, index });
        let (name, programmatic) = ("copy", false);
        let config = CopyConfig {
            name,
            dtype,
            modes,
            gather,
            dst,
            src,
            threads: 1,
            through,
            walk,
            caching,
            programmatic,
        };
        Ok(CopyConfig { threads: tuning.threads.min(config.most_threads()?), ..config })
    }

    /// The largest band up to `most` whose last repetition adds at most an eighth to the tiles along the destination's first mode.
    fn band(&self, tile: &[i64], most: i64) -> i64 {
        let first = self.dst.order.iter().find(|&&mode| self.modes[mode].extent > tile[mode]);
        let tiles = first.map_or(1, |&mode| wide(self.modes[mode].extent).div_ceil(wide(tile[mode])));
        let fits = |band: i64| tiles.next_multiple_of(wide(band)) <= tiles + tiles / 8;
        std::iter::successors(Some(most), |band| Some(band / 2))
            .find(|&band| band <= 1 || fits(band))
            .unwrap_or(1)
            .max(1)
    }

    /// The last mode of a side's run, along which the side goes on from tile to tile.
    fn leads(&self, side: &Side) -> usize {
        side.order[side.run.saturating_sub(1)]
    }

    /// The extent of the tile along each mode.
    fn tile(&self, tuning: &Tuning) -> Vec<i64> {
        let elements = |bytes: i64| (bytes / self.element).max(1);
        let mut tile = vec![1; self.modes.len()];
        let (whole, rows) = (elements(tuning.tile), tuning.rows.map(elements));
        let leads = [self.leads(&self.dst), self.leads(&self.src)];
        if self.through == Through::Shared && leads[0] != leads[1] {
            self.fill(&mut tile, &self.dst, rows[0]);
            self.fill(&mut tile, &self.src, rows[1]);
        } else {
            self.fill(&mut tile, &self.dst, whole);
            self.fill(&mut tile, &self.src, 1);
        }
        // The rest of the tile is filled up with other modes.
        for mode in leads.into_iter().chain(self.dst.order.iter().copied()) {
            let missing = whole / tile.iter().product::<i64>();
            if missing > 1 && !self.is_within(mode) && !is_far(&self.modes[mode]) {
                tile[mode] = tile[mode].max(beside(self.modes[mode].extent, tile[mode] * missing));
            }
        }
        for side in [&self.dst, &self.src] {
            let lead = self.leads(side);
            while !self.is_within(lead)
                && side.order[..side.run].iter().map(|&mode| tile[mode]).product::<i64>() % side.vector != 0
            {
                tile[lead] = (wide(tile[lead]) + 1).next_power_of_two() as i64;
            }
        }
        tile
    }

    /// Whether a mode is in a run, and not the last there, so that the tile has it exactly.
    fn is_within(&self, mode: usize) -> bool {
        [&self.dst, &self.src]
            .into_iter()
            .any(|side| side.order[..side.run.saturating_sub(1)].contains(&mode))
    }

    /// Lets the tile have `elements` elements that follow each other on a side, as far as the run goes.
    fn fill(&self, tile: &mut [i64], side: &Side, elements: i64) {
        let mut missing = elements;
        for (i, &mode) in side.order[..side.run.max(1)].iter().enumerate() {
            let extent = self.modes[mode].extent;
            let own = match () {
                () if i + 1 < side.run || self.is_within(mode) => extent,
                () if is_far(&self.modes[mode]) => 1,
                () => part(extent, missing, if self.exact { EXACT } else { 0 }),
            };
            tile[mode] = tile[mode].max(own);
            missing = (missing / own).max(1);
        }
    }
}

/// The extent of a tile along a mode, of at most `most`: a power of two, or the whole extent if it is at most `exact`. More than the extent leaves
/// threads without work: of several powers of two the largest is chosen that leaves at most an eighth.
fn part(extent: i64, most: i64, exact: i64) -> i64 {
    if extent <= exact && extent <= most {
        return extent;
    }
    let mut part =
        wide(extent).next_power_of_two().min((wide(most.max(1)) + 1).next_power_of_two() / 2) as i64;
    let covered = |part: i64| wide(extent).next_multiple_of(wide(part)) as i64;
    while part > 16 && covered(part) > extent + extent / 8 {
        part /= 2;
    }
    part
}

/// The extent of a tile along a mode in addition to what it needs: the largest power of two up to `most` that leaves at most a fifth without work.
fn beside(extent: i64, most: i64) -> i64 {
    let least = |part: &i64| wide(extent).next_multiple_of(wide(*part)) as i64 <= extent + extent / 4;
    let most = most.min(wide(extent).next_power_of_two() as i64).max(1);
    std::iter::successors(Some(1i64 << most.ilog2()), |part| Some(part / 2)).find(least).unwrap_or(1)
}
