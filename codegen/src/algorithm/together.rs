//! Reductions and scans of scalars across threads.

use std::panic::Location;

use girih_ptx::{Opcode, Operand, Special, Type, Word};
use girih_tensor::{DType, Space};

use crate::builder::{Builder, Cond, Width, address as address_of};
use crate::error::BuilderError;
use crate::expr::Expr;
use crate::scalar::lower;
use crate::{Error, Scalar};

const LANES: i64 = 32;

/// Combines the scalars of a warp's 32 lanes by `op`, and gives all lanes the result. Pairs are combined first, then pairs of pairs, so
/// that all lanes compute the same if `op` is commutative. All lanes of the warp take part.
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
    lane_reduce(b, scalar, &[16, 8, 4, 2, 1], op)
}

/// Combines the scalars of those lanes of a warp whose numbers differ in the bits `lanes` alone, by `op`, and gives these lanes the result:
/// with `[1, 2]`, those of the four lanes that share a row of the accumulators of an MMA. All lanes of the warp take part.
///
/// # Errors
/// Those of `op` and [`Builder::scalar`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::lane_reduce;
/// use girih_codegen::{Builder, Scalar};
/// use girih_ptx::Special;
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 32);
/// let lane = b.special(Special::Laneid);
/// let largest = lane_reduce(&mut b, &Scalar::index(&lane, DType::S32), &[1, 2], |x, y| x.max(y))?; // 3 in lanes 0 to 3
/// b.scalar(&largest)?;
/// assert_eq!(b.finish()?.module().to_string().matches("shfl.sync.bfly").count(), 2);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn lane_reduce(
    b: &mut Builder,
    scalar: &Scalar,
    lanes: &[u32],
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    b.on_behalf(Location::caller(), |b| {
        let mut result = b.hold(scalar)?;
        for &distance in lanes {
            let other = b.shfl_xor(&result, distance)?;
            result = b.hold(&op(&result, &other))?;
        }
        Ok(result)
    })
}

/// Combines the scalars of all threads of a block by `op`, and gives all threads the result. The warps' results are combined in the
/// order of the warps. All threads of the block take part.
///
/// # Errors
/// [`BuilderError::WholeWarps`]; those of `op` and [`Builder::scalar`].
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
    let warps = whole_warps(b)?;
    b.on_behalf(Location::caller(), |b| {
        let mine = warp_reduce(b, scalar, &op)?;
        if warps == 1 {
            return Ok(mine);
        }
        let all = warp_scalars(b, &mine, warps, 0, warps)?;
        combined(b, mine, all, op)
    })
}

/// Combines for each lane the scalars of the lanes up to and including itself by `op` (an inclusive scan; `op(earlier, later)`). All
/// lanes of the warp take part.
///
/// # Errors
/// Those of `op` and [`Builder::scalar`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::warp_scan;
/// use girih_codegen::{Builder, Scalar};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 32);
/// let ones = Scalar::new(DType::S32, 1.0);
/// let number = warp_scan(&mut b, &ones, |x, y| x + y)?; // 1, 2, 3, ...
/// b.scalar(&number)?;
/// assert_eq!(b.finish()?.module().to_string().matches("shfl.sync.up").count(), 5);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn warp_scan(
    b: &mut Builder,
    scalar: &Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    b.on_behalf(Location::caller(), |b| {
        let lane = b.special(Special::Laneid);
        let mut result = b.hold(scalar)?;
        for distance in [1, 2, 4, 8, 16] {
            let earlier = b.shfl_up(&result, distance)?;
            let first = Cond::less(&lane, &Expr::from(i64::from(distance)));
            result = b.hold(&result.select(&first, op(&earlier, &result)))?;
        }
        Ok(result)
    })
}

/// Combines for each thread of a block the scalars of the threads up to and including itself by `op` (an inclusive scan; `op(earlier,
/// later)`). All threads of the block take part.
///
/// # Errors
/// As [`block_reduce`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::block_scan;
/// use girih_codegen::{Builder, Scalar};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 80, 256);
/// let ones = Scalar::new(DType::U32, 1.0);
/// let number = block_scan(&mut b, &ones, |x, y| x + y)?; // 1 to 256
/// b.scalar(&number)?;
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn block_scan(
    b: &mut Builder,
    scalar: &Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    let warps = whole_warps(b)?;
    b.on_behalf(Location::caller(), |b| {
        let mine = warp_scan(b, scalar, &op)?;
        let warp = b.special(Special::TidX).div(LANES)?;
        let totals = warp_scalars(b, &mine, warps, LANES - 1, warps - 1)?;
        let Some((first, others)) = totals.split_first() else { return Ok(mine) };
        // `before` is the total of all warps before the thread's own warp.
        let (mut so_far, mut before) = (first.clone(), first.clone());
        for (total, number) in others.iter().zip(2..) {
            so_far = b.hold(&op(&so_far, total))?;
            before = b.hold(&so_far.select(&Cond::equal(&warp, &Expr::from(number)), &before))?;
        }
        b.hold(&mine.select(&Cond::less(&warp, &Expr::from(1)), op(&before, &mine)))
    })
}

/// Combines the scalars of all threads of a cluster by `op`, and gives all threads the result. The blocks' results are combined in the
/// order of their ranks. All threads of the cluster take part, and the kernel must have the cluster's shape ([`Builder::cluster`]).
///
/// # Errors
/// [`BuilderError::NoCluster`]; as [`block_reduce`].
///
/// # Examples
/// ```
/// use girih_codegen::algorithm::cluster_reduce;
/// use girih_codegen::{Builder, Scalar};
/// use girih_tensor::DType;
///
/// let mut b = Builder::new("k", 90, 128);
/// b.cluster([4, 1, 1]);
/// let ones = Scalar::new(DType::U32, 1.0);
/// let threads = cluster_reduce(&mut b, &ones, |x, y| x + y)?; // 512
/// b.scalar(&threads)?;
/// assert!(b.finish()?.module().to_string().contains("mapa.shared::cluster"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[track_caller]
pub fn cluster_reduce(
    b: &mut Builder,
    scalar: &Scalar,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    let Some(shape) = b.cluster_shape() else {
        return Err(BuilderError::NoCluster {}.into());
    };
    b.on_behalf(Location::caller(), |b| {
        let mine = block_reduce(b, scalar, &op)?;
        let dtype = mine.dtype();
        let bytes = dtype.bytes();
        let thread = b.special(Special::TidX);
        b.shared_scope(|b| {
            let slot = b.alloc_shared(bytes, bytes)?;
            let reg = b.scalar(&mine)?;
            b.store(Space::Smem, &slot, &[reg], &Cond::less(&thread, &Expr::from(1)))?;
            b.cluster_sync();
            let blocks = shape.iter().map(|&extent| i64::from(extent)).product();
            let all = (0..blocks).map(|rank| remote(b, dtype, &slot, rank)).collect::<Result<_, _>>()?;
            let all = combined(b, mine, all, op)?;
            // No block may leave, or write here again, while another one still reads.
            b.cluster_sync();
            Ok(all)
        })
    })
}

/// Combines the scalars `all` in their order; `alone` if there are none.
fn combined(
    b: &mut Builder,
    alone: Scalar,
    all: Vec<Scalar>,
    op: impl Fn(&Scalar, &Scalar) -> Scalar,
) -> Result<Scalar, Error> {
    let mut all = all.into_iter();
    let first = all.next().unwrap_or(alone);
    all.try_fold(first, |so_far, next| b.hold(&op(&so_far, &next)))
}

/// The number of warps of a block, which must be whole.
fn whole_warps(b: &Builder) -> Result<i64, Error> {
    let threads = i64::from(b.threads());
    if threads % LANES == 0 {
        return Ok(threads / LANES);
    }
    Err(BuilderError::WholeWarps { threads }.into())
}

/// Gives all threads the scalars of lane `lane` of each of the first `wanted` warps, through shared memory.
fn warp_scalars(
    b: &mut Builder,
    scalar: &Scalar,
    warps: i64,
    lane: i64,
    wanted: i64,
) -> Result<Vec<Scalar>, Error> {
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let bytes = scalar.dtype().bytes();
    let thread = b.special(Special::TidX);
    b.shared_scope(|b| {
        let base = b.alloc_shared(warps * bytes, bytes)?;
        let reg = b.scalar(scalar)?;
        let chosen = Cond::equal(&thread.rem(LANES)?, &Expr::from(lane));
        b.store(Space::Smem, &(&base + &(&thread.div(LANES)? * bytes)), &[reg], &chosen)?;
        b.barrier();
        let mut all = Vec::new();
        for warp in 0..wanted {
            let reg = b.reg(lower::register(scalar.dtype()));
            b.load(Space::Smem, std::slice::from_ref(&reg), &(&base + warp * bytes), &Cond::Always)?;
            all.push(b.scalar_in(&reg, scalar.dtype())?);
        }
        // After the barrier, later code may write the shared memory that the threads have read here.
        b.barrier();
        Ok(all)
    })
}

/// Reads an address of shared memory of the block `rank` of the cluster.
fn remote(b: &mut Builder, dtype: DType, address: &Expr, rank: i64) -> Result<Scalar, Error> {
    let own = b.value(address, Width::W32)?;
    let (there, value) = (b.reg(Type::B32), b.reg(lower::register(dtype)));
    let operands = vec![Operand::from(&there), Operand::from(&own), Operand::Int(rank)];
    b.inst(Opcode::Mapa, &[Word::SharedCluster.into(), Type::U32.into()], operands);
    let words = [Word::SharedCluster.into(), lower::bits(dtype).into()];
    let operands = vec![Operand::from(&value), address_of(&there, 0)];
    b.inst(Opcode::Ld, &words, operands);
    b.scalar_in(&value, dtype)
}
