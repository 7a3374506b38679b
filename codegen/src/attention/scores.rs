//! What becomes of scores before they are weighed: the cap, and what is added.

use girih_tensor::{DType, Slice, Tensor};

use super::interface::{Bias, Interface, Pitches};
use super::tile::Entry;
use crate::algorithm::{read, write};
use crate::builder::{Builder, Width};
use crate::engine::element_bytes;
use crate::sizes::{shape_tiler, static_size};
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Error, Expr, Gmem, Rmem, Scalar};

/// What is added to the scores of a tile of queries, from the tile's first row on.
#[derive(Clone, Debug)]
pub(super) struct Addend {
    matrix: Tensor<Gmem>, // (Query,Key)
    scale: Scalar,
}

impl Addend {
    /// The part of the bias for the queries of `entry`.
    ///
    /// # Errors
    /// As [`Builder::value`].
    #[track_caller]
    pub(super) fn new(b: &mut Builder, bias: &Bias, entry: &Entry) -> Result<Addend, Error> {
        let Pitches { rows, heads, batches } = &bias.strides;
        let rows = Expr::from_int(&(*rows).into());
        let origin = &(&(&entry.head * heads) + &(&entry.batch * batches)) + &(&entry.row * &rows);
        let pointer = &bias.address + &(&origin * element_bytes("bias", bias.dtype)?);
        let pointer = b.hold_index(&pointer, Width::W64)?;
        let extents = vec![&entry.queries - &entry.row, entry.keys.clone()];
        let matrix = Gmem::computed(pointer, bias.dtype, extents, vec![rows, Expr::from(1)])?;
        Ok(Addend { matrix, scale: bias.scale.clone() })
    }

    /// What is added to the scores of a thread in tile `number` along the keys, (FrgV,RestQ,RestK).
    fn of_tile(
        &self,
        b: &mut Builder,
        tile: [i64; 2],
        thread: &ThrMma<Expr>,
        number: &Expr,
    ) -> Result<Tensor<Gmem>, Error> {
        let at = [Slice::At(Expr::from(0)), Slice::At(number.clone())];
        let tile = self.matrix.local_tile(&shape_tiler(&tile)?, &at)?; // (BlockQ,BlockK)
        let mine = thread.partition(Operand::C, &tile)?; // (FrgV,RestQ,RestK)
        Ok(Tensor::new(mine.engine().anchored(b)?, *mine.layout()))
    }
}

/// Puts scores through the cap and adds to them what is to be added, where the kernel has these. The scores are those of `tile` rows and
/// columns, which `thread` holds as the sums of its product; `number` is the number of the tile along the keys.
///
/// # Errors
/// As [`write()`].
#[track_caller]
pub(super) fn adjust(
    b: &mut Builder,
    interface: &Interface<'_>,
    addend: Option<&Addend>,
    (scores, thread): (&Tensor<Rmem>, &ThrMma<Expr>),
    number: &Expr,
) -> Result<(), Error> {
    let cap = interface
        .inner_scale
        .as_ref()
        .map(|scale| b.hold(&(scale * (2.0 * std::f64::consts::LOG2_E))))
        .transpose()?;
    if cap.is_none() && addend.is_none() {
        return Ok(());
    }
    let added = addend.map(|addend| addend.of_tile(b, interface.config.tile, thread, number)).transpose()?;
    // Atom by atom along the keys, so that few values are in registers at a time.
    for atom in 0..static_size("scores", &scores.layout().mode(2)?)? {
        let of_atom = || Slice::tuple([Slice::All, Slice::All, Slice::At(Expr::from(atom))]);
        let scores = scores.slice(of_atom())?; // (FrgV,RestQ)
        let mut values = read(b, &scores)?;
        if let Some(cap) = &cap {
            values.iter_mut().for_each(|value| *value = tanh_of_half(&(&*value * cap)));
        }
        if let (Some(added), Some(addend)) = (&added, addend) {
            let added = read(b, &added.slice(of_atom())?)?;
            for (value, added) in values.iter_mut().zip(&added) {
                *value = added.to(DType::F32).mul_add(&addend.scale, &*value);
            }
        }
        write(b, &scores, &values)?;
    }
    Ok(())
}

/// `tanh(x / 2 * ln 2)`, to an error of about 2^-22: the instruction of the function has 2^-11, which a cap multiplies.
fn tanh_of_half(x: &Scalar) -> Scalar {
    (x.exp2_ftz() + 1.0).recip_approx().mul_add(-2.0, 1.0)
}
