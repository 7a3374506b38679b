//! The tiles that a block copies.

use girih_ptx::Special;

use super::At;
use super::config::{CopyConfig, Extent, MAX_TILES, MAX_WALKED};
use super::interface::Interface;
use crate::builder::{Builder, Cond};
use crate::error::CopyError;
use crate::{Error, Expr};

/// The blocks of a grid whose blocks go on with other tiles.
const MOST_BLOCKS: i64 = 1 << 20;

/// A part of the number of a tile: a factor of the tiles along a mode, and how many tiles apart its positions are.
struct Digit {
    mode: usize,
    count: Expr,
    step: i64,
}

/// The tiles of a copy in the order in which blocks copy them.
pub(super) struct Walked<'a> {
    config: &'a CopyConfig,
    interface: &'a Interface,
    /// The digits of a tile's index, the fastest first.
    digits: Vec<Digit>,
    /// The first tile of the block, and how many tiles further its next one is, if the block has several.
    several: Option<[Expr; 2]>,
}

fn digits(config: &CopyConfig, interface: &Interface) -> Result<Vec<Digit>, Error> {
    let several = |order: &[usize]| -> Vec<usize> {
        order
            .iter()
            .copied()
            .filter(|&mode| matches!(config.modes[mode].extent, Extent::Multiple(_)))
            .collect()
    };
    let (along, across) = (several(&config.dst.order), several(&config.src.order));
    let whole = |mode: usize| Ok(Digit { mode, count: interface.count(config, mode)?, step: 1 });
    let Some((&first, others)) = along.split_first() else { return Ok(Vec::new()) };
    let band = config.walk.band;
    let beside = across[0];
    if beside == first || band == 1 {
        return along.into_iter().map(whole).collect();
    }
    let bands = (&interface.count(config, first)? + (band - 1)).div(band)?;
    let mut digits = vec![
        Digit { mode: first, count: Expr::from(band), step: 1 },
        whole(beside)?,
        Digit { mode: first, count: bands, step: band },
    ];
    for &mode in others.iter().filter(|&&mode| mode != beside) {
        digits.push(whole(mode)?);
    }
    Ok(digits)
}

impl<'a> Walked<'a> {
    pub(super) fn new(
        b: &mut Builder,
        config: &'a CopyConfig,
        interface: &'a Interface,
    ) -> Result<Walked<'a>, Error> {
        let mut several = None;
        if interface.tiles.is_some() {
            let [block, blocks] = [Special::CtaidX, Special::NctaidX].map(|at| b.special(at));
            let (first, step) = (b.bounded(&block, MOST_BLOCKS - 1)?, b.bounded(&blocks, MOST_BLOCKS)?);
            several = Some([first, step.maximum(&Expr::from(1))]);
        }
        Ok(Walked { config, interface, digits: digits(config, interface)?, several })
    }

    /// The first tile of a block that has several, the step to its next one, and the number of all tiles.
    pub(super) fn loops(&self) -> Option<(&Expr, &Expr, &Expr)> {
        let [first, step] = self.several.as_ref()?;
        Some((first, step, self.interface.tiles.as_ref()?))
    }

    /// The coordinate of the tile of number `number`.
    pub(super) fn coordinate(&self, b: &mut Builder, number: &Expr) -> Result<At, Error> {
        let mut at = vec![Expr::from(0); self.config.modes.len()];
        let mut rest = number.clone();
        for (i, Digit { mode, count, step }) in self.digits.iter().enumerate() {
            let digit = if i + 1 == self.digits.len() {
                // The rest is below the last count. The range of the tile's index does not show this.
                b.bounded(&rest, count.range().1 - 1)?
            } else {
                let (quotient, digit) = b.div_rem(&rest, count)?;
                rest = quotient;
                digit
            };
            at[*mode] = &at[*mode] + &(&digit * *step);
        }
        Ok(at)
    }

    /// Runs `body` with the coordinate of each tile that the block copies.
    pub(super) fn each(
        &self,
        b: &mut Builder,
        body: impl FnOnce(&mut Builder, &At) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let one = |b: &mut Builder, number: &Expr| {
            let at = self.coordinate(b, number)?;
            // The last band may be wider than the tiles that are left.
            let inside = match &self.digits[..] {
                [Digit { mode, .. }, others @ ..] if others.iter().any(|digit| digit.mode == *mode) => {
                    Cond::less(&at[*mode], &self.interface.count(self.config, *mode)?)
                }
                _ => Cond::Always,
            };
            b.if_(&inside, |b| body(b, &at))
        };
        match self.loops() {
            None => {
                let block = b.special(Special::CtaidX);
                one(b, &block)
            }
            Some((first, step, tiles)) => b.for_steps(first, tiles, step, one),
        }
    }
}

/// The number of tiles of a copy with these extents, one for each mode.
///
/// # Errors
/// [`CopyError::Tiles`] for more tiles than a grid has blocks.
pub(super) fn tiles(config: &CopyConfig, extents: &[i64]) -> Result<i64, Error> {
    let several = |&&mode: &&usize| matches!(config.modes[mode].extent, Extent::Multiple(_));
    let [first, beside] = [&config.dst, &config.src].map(|side| side.order.iter().find(several));
    let count = |(number, extent): (usize, &i64)| {
        let tiles = (*extent).max(0) as u64;
        let tiles = tiles.div_ceil(config.modes[number].tile as u64);
        let banded = first == Some(&number) && beside != first && config.walk.band > 1;
        if banded { tiles.next_multiple_of(config.walk.band as u64) } else { tiles }
    };
    let all = extents.iter().enumerate().map(count).fold(1u64, u64::saturating_mul);
    let most = if config.walk.persistent { MAX_WALKED } else { MAX_TILES };
    if all > most as u64 {
        return Err(CopyError::Tiles { tiles: all, tile: config.tile_text(), most }.into());
    }
    Ok(all as i64)
}
