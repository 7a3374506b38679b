//! The scales of A or B: one for a block of rows and elements along K. Those of one group of K follow each other.

use girih_layout::{Int, Lay, Symbol};
use girih_ptx::Tiled;

use super::MAX_EXTENT;
use super::mainloop::Scaling;
use crate::engine::element_bytes;
use crate::tiled::mma::Operand;
use crate::{Builder, Error, Expr, TmaCopy};

/// The scales of an operand as parameters of the kernel that is being written.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    /// The address of their tensor map.
    pub(super) map: Expr,
    shape: Scaled,
}

/// What the host has to know to make the tensor map.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    scaling: Scaling,
    /// The scales of a group, the groups, and the pitch from one group to the next.
    symbols: [Symbol; 3],
    copy: Option<TmaCopy>,
}

impl Scales {
    /// Declares the tensor map.
    pub(super) fn new(b: &mut Builder, operand: Operand, scaling: Scaling) -> Result<Scales, Error> {
        let line = 16 / element_bytes("scale", scaling.dtype)?;
        let mut extent =
            |line: i64| b.unbound_symbol(|s| s.at_least(1).at_most(MAX_EXTENT).divisible_by(line));
        let symbols = [extent(1)?, extent(1)?, extent(line)?];
        let name = if operand == Operand::A { "map_scales" } else { "map_scales_b" };
        Ok(Scales { map: b.tensor_map(name), shape: Scaled { scaling, symbols, copy: None } })
    }

    /// The layout of all scales, (Scales,Group).
    pub(super) fn layout(&self) -> Result<Lay, Error> {
        let [scales, groups, pitch] = self.shape.symbols.map(Int::symbol);
        Ok(Lay::strided([scales, groups], [Int::fixed(1), pitch])?)
    }

    /// Keeps the TMA copy, from which the host makes a tensor map.
    pub(super) fn keep(&mut self, copy: &TmaCopy) {
        self.shape.copy = Some(copy.clone());
    }

    pub(super) fn into_scaled(self) -> Scaled {
        self.shape
    }
}

impl Scaled {
    /// The tensor map without its address, for an operand of X x K and a pitch of the scales in elements.
    pub(super) fn map(&self, [x, k]: [i64; 2], pitch: i64) -> Result<Option<Tiled>, Error> {
        let Some(copy) = &self.copy else { return Ok(None) };
        let ([scales, groups, step], Scaling { rows, group, .. }) = (self.symbols, self.scaling);
        let line = step.divisor();
        let wanted = [("rows", x, 1), ("k", k, 1), ("pitch of the scales", pitch, line)];
        for (what, value, line) in wanted {
            if !(1..=MAX_EXTENT).contains(&value) || value % line != 0 {
                let accepted = format!("multiples of {line} from 1 to {MAX_EXTENT} elements");
                return Err(Error::Config { what, value: value.to_string(), accepted });
            }
        }
        let bound = copy.bind(scales, (x + rows - 1) / rows)?.bind(groups, (k + group - 1) / group)?;
        bound.bind(step, pitch)?.tiled().map(Some)
    }
}
