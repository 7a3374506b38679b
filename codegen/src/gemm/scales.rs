//! The scales of a mixed input, M x groups of K: those of one group follow each other.

use girih_layout::{Int, Lay, Symbol};
use girih_ptx::Tiled;

use super::{MAX_EXTENT, MixedInput};
use crate::engine::element_bytes;
use crate::{Builder, Error, Expr, TmaCopy};

/// The scales as parameters of the kernel that is being written.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    /// The address of their tensor map.
    pub(super) map: Expr,
    shape: Scaled,
}

/// What the host has to know to make the tensor map.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    group: i64,
    /// M, the groups, and the pitch from one group to the next.
    symbols: [Symbol; 3],
    copy: Option<TmaCopy>,
}

impl Scales {
    /// Declares the tensor map. `rows` is M.
    pub(super) fn new(b: &mut Builder, mixed: &MixedInput, rows: Symbol) -> Result<Scales, Error> {
        let line = 16 / element_bytes("scale", mixed.scale)?;
        let groups = b.unbound_symbol(|s| s.at_least(1).at_most(MAX_EXTENT))?;
        let pitch = b.unbound_symbol(|s| s.at_least(1).at_most(MAX_EXTENT).divisible_by(line))?;
        let shape = Scaled { group: mixed.group, symbols: [rows, groups, pitch], copy: None };
        Ok(Scales { map: b.tensor_map("map_scales"), shape })
    }

    /// The layout of all scales, (M,Group).
    pub(super) fn layout(&self) -> Result<Lay, Error> {
        let [rows, groups, pitch] = self.shape.symbols.map(Int::symbol);
        Ok(Lay::strided([rows, groups], [Int::fixed(1), pitch])?)
    }

    /// Keeps the tensor copy, from which the host makes a tensor map.
    pub(super) fn keep(&mut self, copy: &TmaCopy) {
        self.shape.copy = Some(copy.clone());
    }

    pub(super) fn into_scaled(self) -> Scaled {
        self.shape
    }
}

impl Scaled {
    /// The tensor map without its address, for an A of M x K and a pitch of the scales in elements.
    pub(super) fn map(&self, [m, k]: [i64; 2], pitch: i64) -> Result<Option<Tiled>, Error> {
        let Some(copy) = &self.copy else { return Ok(None) };
        let [rows, groups, step] = self.symbols;
        let line = step.divisor();
        let wanted = [("m", m, 1), ("k", k, 1), ("pitch of the scales", pitch, line)];
        for (what, value, line) in wanted {
            if !(1..=MAX_EXTENT).contains(&value) || value % line != 0 {
                let accepted = format!("multiples of {line} from 1 to {MAX_EXTENT} elements");
                return Err(Error::Config { what, value: value.to_string(), accepted });
            }
        }
        let bound = copy.bind(rows, m)?.bind(groups, (k + self.group - 1) / self.group)?;
        bound.bind(step, pitch)?.tiled().map(Some)
    }
}
