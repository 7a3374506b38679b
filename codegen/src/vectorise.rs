//! Auto-vectorisation: the widest accesses that a partition's layout allows.

use girih_layout::{Lay, Stride};

use crate::Error;
use crate::tiled_copy::{ONE, extent};

/// Two congruent layouts reordered as `(vector, rest)`: in the first the vector's values are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// The memory side: `(vector, rest)`, the vector with stride 1.
    pub memory: Lay,
    /// The register side, its values in the same order.
    pub registers: Lay,
    /// Elements in a vector.
    pub width: i64,
}

impl Vectors {
    /// How many vectors there are.
    ///
    /// # Errors
    /// An overflowing size.
    pub fn count(&self) -> Result<i64, Error> {
        Ok(self.registers.mode(1)?.size()?.get().unwrap_or(0))
    }
}

/// Finds the mode of `memory` that is contiguous and splits vectors of at most `limit` elements off it.
///
/// `registers` holds the same values: its shape is congruent to that of `memory`, its strides are free. The caller
/// answers for the alignment of the addresses: `limit` is what they allow.
///
/// # Errors
/// [`Error::Mismatch`] if the two are not congruent.
///
/// # Examples
/// ```
/// use girih_codegen::vectorise;
/// use girih_layout::Lay;
///
/// // Two rows of four contiguous values, held row after row.
/// let v = vectorise(&Lay::parse("(2,4):(64,1)")?, &Lay::parse("(2,4):(4,1)")?, 4)?;
/// assert_eq!((v.width, v.memory.to_string().as_str()), (4, "((4),(2,1)):((1),(64,0))"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn vectorise(memory: &Lay, registers: &Lay, limit: i64) -> Result<Vectors, Error> {
    let leaves = memory.leaf_count();
    if registers.leaf_count() != leaves {
        return Err(Error::Mismatch {
            what: "vectorise",
            layout: registers.to_string(),
            with: memory.to_string(),
            accepted: "layouts of one shape",
        });
    }
    let unit = |i: usize| {
        let (shape, stride) = memory.flat_leaf(i);
        matches!(stride, Stride::Int(d) if d.get() == Some(1)) && shape.get().is_some_and(|s| s > 1)
    };
    let contiguous = (0..leaves).find(|&i| unit(i));
    let width = match contiguous.and_then(|i| memory.flat_leaf(i).0.get()) {
        Some(extent) => num_integer::gcd(extent, limit),
        None => 1,
    };
    let split = |lay: &Lay| -> Result<Lay, Error> {
        let mut vector = ONE;
        let mut rest = Vec::new();
        for i in 0..leaves {
            let (shape, stride) = lay.flat_leaf(i);
            let leaf = Lay::leaf(shape, stride)?;
            if Some(i) == contiguous {
                let parts = leaf.logical_divide(&girih_layout::Tiler::Lay(extent(width)?))?; // (width,rest)
                vector = parts.mode(0)?;
                rest.push(parts.mode(1)?);
            } else {
                rest.push(leaf);
            }
        }
        Ok(Lay::concat(&[Lay::concat(&[vector])?, Lay::concat(&rest)?])?)
    };
    Ok(Vectors { memory: split(memory)?, registers: split(registers)?, width })
}
