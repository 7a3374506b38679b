//! Random operands with symbols, and the numbers that their facts admit.

use girih_layout::{Composed, Error, Int, IntTuple, Lay, Symbol, Tile, Tiler};
use girih_notation::ops::Op;
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value;

use super::make::Make;
use super::{Case, SYMBOLS};

/// A value for each symbol.
pub type Bindings = [i64; SYMBOLS];

/// An operand.
#[derive(Clone)]
pub enum Operand {
    /// A layout.
    Lay(Lay),
    /// A shape, an order or a number that may be a symbol.
    Tuple(IntTuple),
    /// A tiler.
    Tiler(Tiler),
    /// A swizzled layout.
    Composed(Composed),
    /// What has no symbols: a number, a coordinate, a list.
    Text(String),
}

impl Operand {
    /// As the operation reads it.
    pub fn text(&self) -> String {
        match self {
            Operand::Lay(lay) => lay.to_string(),
            Operand::Tuple(tuple) => tuple.to_string(),
            Operand::Tiler(tiler) => tiler.to_string(),
            Operand::Composed(composed) => composed.to_string(),
            Operand::Text(text) => text.clone(),
        }
    }

    pub(super) fn value(&self) -> Value {
        Value::String(self.text())
    }

    fn lays(&self) -> Vec<Lay> {
        match self {
            Operand::Lay(lay) => vec![*lay],
            Operand::Tuple(shape) => Lay::left(shape).into_iter().collect(),
            Operand::Tiler(Tiler::Lay(lay)) => vec![*lay],
            Operand::Tiler(Tiler::Modes(tiles)) => (0..tiles.len())
                .filter_map(|i| match tiles.tile(i) {
                    Ok(Tile::Lay(lay)) => Some(lay),
                    _ => None,
                })
                .collect(),
            Operand::Composed(composed) => vec![*composed.layout()],
            Operand::Text(_) => vec![],
        }
    }

    /// Whether a symbolic extent becomes 1, or a symbolic stride 0: then a mode does not lead anywhere.
    pub fn degenerates(&self, facts: &[Symbol; SYMBOLS], values: Bindings) -> bool {
        let Ok(bound) = self.bound(facts, values) else { return false };
        self.lays().iter().zip(bound.lays()).any(|(open, known)| {
            (0..open.leaf_count()).any(|i| {
                let ((s, d), (known_s, known_d)) = (open.flat_leaf(i), known.flat_leaf(i));
                s.is_symbolic() && known_s.is(1) || d.int().is_some_and(Int::is_symbolic) && known_d.is_zero()
            })
        })
    }

    /// The operand at launch.
    ///
    /// # Errors
    /// Where an extent becomes 0.
    pub fn bound(&self, facts: &[Symbol; SYMBOLS], values: Bindings) -> Result<Operand, Error> {
        facts.iter().zip(values).try_fold(self.clone(), |operand, (symbol, value)| {
            Ok(match operand {
                Operand::Lay(lay) => Operand::Lay(lay.bind(*symbol, value)?),
                Operand::Tuple(tuple) => Operand::Tuple(tuple.bind(*symbol, value)?),
                Operand::Tiler(tiler) => Operand::Tiler(tiler.bind(*symbol, value)?),
                Operand::Composed(composed) => Operand::Composed(composed.bind(*symbol, value)?),
                text => text,
            })
        })
    }
}

/// The first values that a symbol may have.
pub fn admissible(symbol: Symbol, count: usize) -> Vec<i64> {
    (0..count as i64)
        .filter_map(|k| symbol.divisor().checked_mul(k)?.checked_add(symbol.lower()))
        .filter(|value| symbol.admits(*value))
        .collect()
}

/// The least values, then all 1 or their divisors, then whatever is admitted.
pub fn bindings(facts: &[Symbol; SYMBOLS], turn: usize, rng: &mut StdRng) -> Bindings {
    facts.map(|symbol| {
        let mut values = admissible(symbol, 7);
        values.extend(symbol.upper().filter(|upper| *upper < 64 && symbol.admits(*upper)));
        match turn {
            0 => values[0],
            1 => *values.iter().find(|value| **value > 0).unwrap_or(&values[0]),
            _ => *pick(rng, &values),
        }
    })
}

pub(super) fn pick<'a, T>(rng: &mut StdRng, from: &'a [T]) -> &'a T {
    &from[rng.random_range(0..from.len())]
}

/// A random case of an operation.
///
/// # Panics
/// For a parameter that is not known here.
pub fn case(op: &'static Op, rng: &mut StdRng) -> Case {
    let mut make =
        Make { facts: [0, 1, 2].map(|id| symbol(id, rng)), symbols: rng.random_range(0..4) < 3, rng };
    let mut operands: Vec<(&'static str, Operand)> = Vec::new();
    for param in op.params {
        let name = param.trim_start_matches('?');
        if name.len() < param.len() && make.once_in(2) {
            continue;
        }
        let operand = make.operand(op.name, name, &operands);
        let Some(operand) = operand else {
            panic!("no generator makes the operand {name:?} of {}: add one to binding/operands.rs", op.name)
        };
        operands.push((name, operand));
    }
    let facts = make.facts;
    Case { op, operands, facts }
}

/// A symbol with facts that some number satisfies.
fn symbol(id: u8, rng: &mut StdRng) -> Symbol {
    let mut out = Symbol::new(id);
    if rng.random_bool(0.4) {
        out = out.divisible_by(*pick(rng, &[2, 3, 4, 4, 6, 8]));
    }
    out = match rng.random_range(0..8) {
        0 => out,
        1..5 => out.at_least(1),
        5 => out.at_least(2),
        6 => out.at_least(4),
        _ => out.at_least(8),
    };
    if rng.random_bool(0.2) {
        out = out.at_most(*pick(rng, &[8, 15, 16, 31, 32]));
    }
    if admissible(out, 1).is_empty() { Symbol::new(id) } else { out }
}
