//! The scales of A or B: one for a block of rows and elements along K. Those of one group of K follow each other.

use girih_layout::{Int, Lay, Symbol};

use super::kernel::Arguments;
use super::mainloop::Scaling;
use crate::engine::element_bytes;
use crate::params::{MAX_EXTENT, Params};
use crate::tiled::mma::Operand;
use crate::{Builder, Error, Expr};

/// The scales of an operand as parameters of the kernel that is being written.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    /// The address of their tensor map.
    pub(super) map: Expr,
    /// The scales of a group, the groups, and the pitch from one group to the next.
    symbols: [Symbol; 3],
}

/// The name of the scales of an operand.
pub(super) fn name(operand: Operand) -> &'static str {
    if operand == Operand::A { "scales" } else { "scales_b" }
}

impl Scales {
    /// Declares the tensor map.
    pub(super) fn new(
        params: &mut Params<Arguments>,
        b: &mut Builder,
        operand: Operand,
        Scaling { rows, group, dtype }: Scaling,
    ) -> Result<Scales, Error> {
        let line = 16 / element_bytes("scale", dtype)?;
        let ([x, k], name) = (operand.modes(), name(operand));
        let facts = |line: i64| move |s: Symbol| s.at_least(1).at_most(MAX_EXTENT).divisible_by(line);
        // Tensor maps have extents of 1 or more.
        let count = move |a: &Arguments, mode: usize, of: i64| (a.mnk[mode].max(1) + of - 1) / of;
        let symbols = [
            params.of_maps(b, "scales of a group", facts(1), move |a| count(a, x, rows))?,
            params.of_maps(b, "groups of scales", facts(1), move |a| count(a, k, group))?,
            params.of_maps(b, "pitch of the scales", facts(line), move |a| a.scales[operand as usize])?,
        ];
        Ok(Scales { map: params.tensor_map(b, &format!("map_{name}"), name), symbols })
    }

    /// The layout of all scales, (Scales,Group).
    pub(super) fn layout(&self) -> Result<Lay, Error> {
        let [scales, groups, pitch] = self.symbols.map(Int::symbol);
        Ok(Lay::strided([scales, groups], [Int::fixed(1), pitch])?)
    }
}
