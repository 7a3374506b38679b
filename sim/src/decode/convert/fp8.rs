//! `cvt` to and from pairs of 8-bit floats.

use girih_ptx::{Operand, Type};

use super::super::{Decoder, File};
use super::Style;
use crate::Error;
use crate::float::{E4m3, E5m2, Half, Narrow, Pair, Round, pack, unpack};
use crate::lanes::lanes;

/// The conversions; the flag is true for e5m2 and false for e4m3.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// From two f32.
    Singles(bool),
    /// From f16x2.
    Halves(bool),
    /// To f16x2.
    Widen(bool),
}

pub(super) fn of(to: Type, from: Type) -> Option<Kind> {
    Some(match (to, from) {
        (Type::E4m3x2 | Type::E5m2x2, Type::F32) => Kind::Singles(to == Type::E5m2x2),
        (Type::E4m3x2 | Type::E5m2x2, Type::F16x2) => Kind::Halves(to == Type::E5m2x2),
        (Type::F16x2, Type::E4m3x2 | Type::E5m2x2) => Kind::Widen(from == Type::E5m2x2),
        _ => return None,
    })
}

/// Negative numbers and -0 become 0; NaN stays NaN.
fn relu(x: f32) -> f32 {
    if x <= 0.0 { 0.0 } else { x }
}

impl Decoder<'_> {
    /// `cvt` of 8-bit floats. The first source, or the upper half of the source, becomes the upper byte.
    pub(super) fn cvt_fp8(&mut self, kind: Kind, style: Style, ops: &[Operand]) -> Result<(), Error> {
        let narrowing = !matches!(kind, Kind::Widen(_));
        if style.round != Some(Round::Nearest) || style.finite != narrowing || style.sat || style.ftz {
            let needed = if narrowing { "`.rn.satfinite`" } else { "`.rn` alone" };
            return Err(self.unsupported(&format!("a conversion of 8-bit floats without {needed}")));
        }
        match kind {
            Kind::Singles(e5m2) => {
                self.arity(ops, 3..=3)?;
                let mut sources = [self.source(ops, 1, Type::F32)?, self.source(ops, 2, Type::F32)?];
                if style.relu {
                    sources = sources.map(|a| self.through(File::W32, lanes!(f32: |a: f32| relu(a)), a));
                }
                let run = if e5m2 {
                    lanes!(u16: |a: f32, b: f32| pack::<E5m2>(a, b))
                } else {
                    lanes!(u16: |a: f32, b: f32| pack::<E4m3>(a, b))
                };
                let d = self.destination(ops, 0, Type::B16)?;
                self.lanes(run, d, &sources);
            }
            Kind::Halves(e5m2) => {
                let run = match (e5m2, style.relu) {
                    (false, false) => lanes!(u16: |a: Pair<Half>| pack::<E4m3>(a.1.value(), a.0.value())),
                    (true, false) => lanes!(u16: |a: Pair<Half>| pack::<E5m2>(a.1.value(), a.0.value())),
                    (false, true) => {
                        lanes!(u16: |a: Pair<Half>| pack::<E4m3>(relu(a.1.value()), relu(a.0.value())))
                    }
                    (true, true) => {
                        lanes!(u16: |a: Pair<Half>| pack::<E5m2>(relu(a.1.value()), relu(a.0.value())))
                    }
                };
                self.simple(run, ops, Type::B16, &[Type::B32])?;
            }
            Kind::Widen(e5m2) => {
                let run = match (e5m2, style.relu) {
                    (false, false) => lanes!(Pair<Half>: |a: u16| unpack::<E4m3>(a)),
                    (true, false) => lanes!(Pair<Half>: |a: u16| unpack::<E5m2>(a)),
                    (false, true) => lanes!(Pair<Half>: |a: u16| positive(unpack::<E4m3>(a))),
                    (true, true) => lanes!(Pair<Half>: |a: u16| positive(unpack::<E5m2>(a))),
                };
                self.simple(run, ops, Type::B32, &[Type::B16])?;
            }
        }
        Ok(())
    }
}

fn positive(Pair(low, high): Pair<Half>) -> Pair<Half> {
    let [low, high] = [low, high].map(|x| if x.value() <= 0.0 { Half(0) } else { x });
    Pair(low, high)
}
