//! Exchanges of a tile from one distribution to another.

use girih_tensor::DType;

use super::Group;
use super::rearrange::{Piece, through};
use crate::builder::Reg;
use crate::plan::{Dist, Exchange, Line};

/// A tile in another distribution, by the cheapest way ([`Exchange::new`]).
///
/// # Errors
/// Those of the group and of [`access()`](super::access()).
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::distributed::{ThreadBlock, redistribute};
/// use girih_codegen::plan::Dist;
/// use girih_tensor::DType;
///
/// // From four neighbours of a row in each thread to four of a column.
/// let [rows, columns] = [[1, 0], [0, 1]].map(|order| Dist::blocked(&[32, 32], &order, 4, 256));
/// let mut b = Builder::new("transpose", 90, 256);
/// let regs = b.regs(girih_ptx::Type::F32, 4);
/// let mut block = ThreadBlock::new(&mut b);
/// assert_eq!(redistribute(&mut block, DType::F32, &[32, 32], [&rows, &columns], &regs)?.len(), 4);
/// assert_eq!(b.finish()?.shared_bytes(), 4096);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn redistribute<G: Group>(
    group: &mut G,
    dtype: DType,
    extents: &[u32],
    sides: [&Dist; 2],
    regs: &[Reg],
) -> Result<Vec<Reg>, G::Error> {
    redistribute_by(group, &Exchange::new(extents, dtype, sides[0], sides[1]), dtype, sides, regs)
}

/// A tile in another distribution, by a way from the first one to the second.
///
/// # Errors
/// As [`redistribute`].
pub fn redistribute_by<G: Group>(
    group: &mut G,
    exchange: &Exchange,
    dtype: DType,
    [from, to]: [&Dist; 2],
    regs: &[Reg],
) -> Result<Vec<Reg>, G::Error> {
    match exchange {
        Exchange::Rename(values) => Ok(values.iter().map(|&value| regs[value].clone()).collect()),
        Exchange::Shuffles(shuffles) => {
            let thread = group.thread();
            Ok(shuffles.emit(group.builder(), &thread, dtype, regs)?)
        }
        Exchange::Shared(shared) => {
            let line = || Line { extents: shared.extents.clone(), base: 0, strides: shared.strides.clone() };
            let piece = |dist, vectors| Piece {
                swizzle: shared.swizzle,
                vectors: Some(vectors),
                ..Piece::new(dtype, dist, line())
            };
            let (from, to) = (piece(from, &shared.store), piece(to, &shared.load));
            through(group, &[(from, regs.to_vec())], &to, [shared.bytes(), shared.alignment], None, &[])
        }
    }
}
