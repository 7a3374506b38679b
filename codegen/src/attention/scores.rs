//! Score modifiers applied before softmax: soft cap and additive bias.

use std::f64::consts::LN_2;

use girih_layout::Lay;
use girih_tensor::{DType, Slice, Tensor};

use super::interface::{Bias, Pitches};
use super::tile::Entry;
use crate::algorithm::{read, write};
use crate::builder::{Builder, Width};
use crate::engine::element_bytes;
use crate::sizes::{shape_tiler, static_size};
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Error, Expr, Gmem, Rmem, Scalar};

/// The addend of the scores of a tile of queries.
#[derive(Clone, Debug)]
pub(super) struct Addend {
    matrix: Tensor<Gmem>, // (Query,Key)
    scale: Scalar,
}

/// The addend of a thread's scores in a tile.
#[derive(Clone, Debug)]
pub(super) struct Added {
    values: Tensor<Gmem>, // (FrgV,RestQ,RestK)
    scale: Scalar,
}

impl Addend {
    /// The part of the bias for the queries of `entry` from row `first` of the sequence on, and the keys from `base` on.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(super) fn new(
        b: &mut Builder,
        bias: &Bias,
        entry: &Entry,
        [first, base]: [&Expr; 2],
    ) -> Result<Addend, Error> {
        let Pitches { rows, heads, batches } = &bias.strides;
        let rows = Expr::from_int(&(*rows).into());
        let origin = &(&(&(&entry.head * heads) + &(&entry.batch * batches)) + &(first * &rows)) + base;
        let pointer = &bias.address + &(&origin * element_bytes("bias", bias.dtype)?);
        let pointer = b.hold_index(&pointer, Width::W64)?;
        let extents = vec![&entry.queries - first, &entry.keys - base];
        let matrix = Gmem::computed(pointer, bias.dtype, extents, vec![rows, Expr::from(1)])?;
        Ok(Addend { matrix, scale: bias.scale.clone() })
    }

    /// The addend of a thread's scores in a tile of this many rows and columns. `number` is the index of the tile along the keys.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(super) fn of_tile(
        &self,
        b: &mut Builder,
        tile: [i64; 2],
        thread: &ThrMma<Expr>,
        number: &Expr,
    ) -> Result<Added, Error> {
        let at = [Slice::At(Expr::from(0)), Slice::At(number.clone())];
        let tile = self.matrix.local_tile(&shape_tiler(&tile)?, &at)?; // (BlockQ,BlockK)
        let mine = thread.partition(Operand::C, &tile)?; // (FrgV,RestQ,RestK)
        let values = Tensor::new(mine.engine().anchored(b)?, *mine.layout());
        Ok(Added { values, scale: self.scale.clone() })
    }
}

/// How the tanh of a cap is computed. Each has what scores are multiplied by to become twice the tanh's argument, in units of log2(e).
#[derive(Clone, Copy, Debug)]
pub(super) enum Tanh<'a> {
    /// From a power and a reciprocal, to an error of about 2^-22.
    OfPowers(&'a Scalar),
    /// By the instruction, to 2^-11 of the result: as exact as operands of 16 bits, for two thirds of the special function unit's time.
    Approximate(&'a Scalar),
}

/// Puts a thread's scores, (FrgV,RestQ,RestK), through the cap and adds to them what is to be added, where the kernel has these.
///
/// # Errors
/// As [`write()`].
#[track_caller]
pub(super) fn adjust(
    b: &mut Builder,
    tanh: Option<Tanh<'_>>,
    added: Option<&Added>,
    scores: &Tensor<Rmem>,
) -> Result<(), Error> {
    if tanh.is_none() && added.is_none() {
        return Ok(());
    }
    // Few values are in registers at a time.
    for of_atom in atoms(scores.layout())? {
        let scores = scores.slice(of_atom.clone())?; // (FrgV,RestQ)
        let mut values = read(b, &scores)?;
        if let Some(tanh) = tanh {
            values.iter_mut().for_each(|value| *value = tanh.of(value));
        }
        if let Some(Added { values: added, scale }) = added {
            let added = read(b, &added.slice(of_atom)?)?;
            for (value, added) in values.iter_mut().zip(&added) {
                // Rounded towards zero, so that the sum of finite numbers is finite: a mask of the least number hides no key of a row that has no other.
                *value = value.mul_add_to_zero(scale, added.to(DType::F32));
            }
        }
        write(b, &scores, &values)?;
    }
    Ok(())
}

/// The slices of scores, (FrgV,RestQ,RestK), that are atoms along the keys. The values of an instruction of a warpgroup, whose FrgV is (2,2,RestN), are atoms of
/// eight keys.
fn atoms(scores: &Lay) -> Result<Vec<Slice<Expr>>, Error> {
    let last = |at: i64| Slice::tuple([Slice::All, Slice::All, Slice::at(at)]);
    let values = scores.mode(0)?;
    Ok(match values.rank() {
        3 => {
            let atoms = 0..static_size("scores", &values.mode(2)?)?;
            atoms.map(|at| Slice::tuple([last(at), Slice::All, Slice::All])).collect()
        }
        _ => (0..static_size("scores", &scores.mode(2)?)?).map(last).collect(),
    })
}

impl Tanh<'_> {
    fn of(self, score: &Scalar) -> Scalar {
        match self {
            Tanh::OfPowers(inner) => ((score * inner).exp2_ftz() + 1.0).recip_ftz().mul_add(-2.0, 1.0),
            Tanh::Approximate(inner) => (score * (inner * (LN_2 / 2.0))).tanh(),
        }
    }
}
