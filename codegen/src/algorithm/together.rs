//! Reductions over the scalars of several threads.

use std::panic::Location;

use girih_ptx::Special;
use girih_tensor::{DType, Space};

use crate::builder::{Builder, Cond};
use crate::expr::Expr;
use crate::{Error, Scalar};

const LANES: i64 = 32;

/// What `op` makes of the scalars of a warp's 32 lanes, which all have it then: of pairs, then pairs of pairs, so that all lanes
/// compute the same if `op` is commutative. All lanes of the warp take part.
///
/// # Errors
/// Those of `op` and [`Builder::scalar`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::warp_reduce;
/// use girih_codegen::{Builder, Scalar};
/// use girih_ptx::Special;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 32);
/// let lane = b.special(Special::Laneid);
/// let sum = warp_reduce(&mut b, &Scalar::index(&lane, DType::S32), |x, y| x + y)?;
/// b.scalar(&sum)?;
/// assert_eq!(b.finish()?.module().to_string().matches("shfl.sync.bfly").count(), 5);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn warp_reduce(
    b: &mut Builder,
    scalar: &Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    let site = Location::caller();
    b.on_behalf(site, |b| {
        let mut result = b.hold(scalar)?;
        for distance in [16, 8, 4, 2, 1] {
            let other = b.shfl_xor(&result, distance)?;
            result = b.hold(&op(&result, &other))?;
        }
        Ok(result)
    })
}

/// What `op` makes of the scalars of all threads of a block, which all have it then; the warps' results are combined in their order.
/// All threads of the block take part.
///
/// # Errors
/// [`Error::Config`] for a block that is not of whole warps; those of `op` and [`Builder::scalar`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::block_reduce;
/// use girih_codegen::{Builder, Scalar};
/// use girih_ptx::Special;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 128);
/// let thread = b.special(Special::TidX);
/// let largest = block_reduce(&mut b, &Scalar::index(&thread, DType::S32), |x, y| x.max(y))?;
/// b.scalar(&largest)?;
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn block_reduce(
    b: &mut Builder,
    scalar: &Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    let (site, threads) = (Location::caller(), i64::from(b.threads()));
    if threads % LANES != 0 {
        return Err(Error::Config {
            what: "threads of a block",
            value: threads.to_string(),
            accepted: String::from("whole warps, multiples of 32, for a reduction of the block"),
        });
    }
    b.on_behalf(site, |b| {
        let mine = warp_reduce(b, scalar, &op)?;
        let warps = threads / LANES;
        if warps == 1 {
            return Ok(mine);
        }
        let bytes = i64::from(mine.dtype().bits()) / 8;
        let thread = b.special(Special::TidX);
        let result = b.shared_scope(|b| {
            let base = b.alloc_shared(warps * bytes, bytes)?;
            let reg = b.scalar(&mine)?;
            let first = Cond::less(&thread.rem(LANES)?, &Expr::from(1));
            b.store(Space::Smem, &(&base + &(&thread.div(LANES)? * bytes)), &[reg], &first)?;
            b.barrier();
            let mut all: Option<Scalar> = None;
            for warp in 0..warps {
                let next = loaded(b, mine.dtype(), &(&base + warp * bytes))?;
                all = Some(match all {
                    Some(so_far) => b.hold(&op(&so_far, &next))?,
                    None => next,
                });
            }
            // Another reduction may write where this one is still read.
            b.barrier();
            Ok(all)
        })?;
        Ok(result.unwrap_or(mine))
    })
}

/// A scalar from shared memory.
fn loaded(b: &mut Builder, dtype: DType, address: &Expr) -> Result<Scalar, Error> {
    let reg = b.reg(crate::scalar::lower::register(dtype));
    b.load(Space::Smem, std::slice::from_ref(&reg), address, &Cond::Always)?;
    b.scalar_in(&reg, dtype)
}
