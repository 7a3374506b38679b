//! Products of matrices.

use super::Tile;
use super::operand::IntoItem;
use crate::elem::{Elem, Mma, Product, Promote};
use crate::stage::apply;

/// `a * b + acc`: tiles `[M, K]`, `[K, N]` and `[M, N]`, or batches of them, `[B, M, K]`, `[B, K, N]` and `[B, M, N]`. A batch of 1, and a matrix where
/// the other has a batch, are taken for all. `acc` says what is summed in; nothing is promoted.
///
/// ```
/// use girih_tile::prelude::*;
///
/// /// `c = a * b`, a tile a block.
/// #[kernel]
/// fn gemm<T: Float + Mma<f32>, const BM: usize, const BN: usize, const BK: usize>(
///     a: &Array<T, 2>,
///     b: &Array<T, 2>,
///     c: &mut Array<f32, 2>,
/// ) {
///     let (i, j) = (bid(0), bid(1));
///     let mut acc = zeros::<f32>([BM, BN]);
///     for k in 0..cdiv(a.dim(1), BK) {
///         let a = a.tiles([BM, BK]).padding(Padding::Zero).load((i, k));
///         acc = mma(a, b.tiles([BK, BN]).padding(Padding::Zero).load((k, j)), acc);
///     }
///     c.tiles_mut([BM, BN]).store((i, j), acc);
/// }
/// assert!(gemm::<bf16, 64, 64, 32>::ir()?.to_string().contains("mma"));
/// # Ok::<(), girih_tile::error::Error>(())
/// ```
///
/// The accumulator stays as it is, so that the compiler warns of a result that is not used:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// use girih_tile::prelude::*;
///
/// #[kernel]
/// fn forgotten(c: &mut Array<f32, 2>) {
///     let (a, acc) = (ones::<f16>([16, 16]), zeros::<f32>([16, 16]));
///     mma(a, a, acc);
///     c.tiles_mut([16, 16]).store((0, 0), acc);
/// }
/// ```
#[track_caller]
#[must_use = "`mma` leaves the accumulator as it is, and returns the new one: `acc = mma(a, b, acc)`"]
pub fn mma<A: Mma<C, B>, B: Elem, C: Elem>(a: Tile<A>, b: Tile<B>, acc: Tile<C>) -> Tile<C> {
    Tile::of(apply("mma", &[a.item(), b.item(), acc.item()], |build, args| {
        let [a, b, acc] = [build.value(args[0])?, build.value(args[1])?, build.value(args[2])?];
        build.mma(a, b, acc)
    }))
}

/// The product of two tiles as NumPy's `matmul`, in their common type: matrices, batches of them, and tiles of rank 1, which are a row before a matrix
/// and a column after it. Sums are computed in f32, of f64 in f64 and of integers in i32, and cast to the common type at the end.
#[track_caller]
#[must_use = "an operation leaves its operands as they are, and returns what it computes"]
pub fn matmul<A: Promote<B>, B: Elem>(a: Tile<A>, b: Tile<B>) -> Tile<A::Out>
where
    A::Out: Product,
{
    Tile::of(apply("matmul", &[a.item(), b.item()], |build, args| {
        let [a, b] = [build.value(args[0])?, build.value(args[1])?];
        build.matmul(a, b)
    }))
}

impl<A: Elem> Tile<A> {
    /// [`matmul`] with the tile on the left.
    #[track_caller]
    #[must_use = "an operation leaves its operands as they are, and returns what it computes"]
    pub fn matmul<B: Elem>(self, b: Tile<B>) -> Tile<A::Out>
    where
        A: Promote<B>,
        A::Out: Product,
    {
        matmul(self, b)
    }

    /// [`mma`] with the tile on the left: `self * b + acc`.
    #[track_caller]
    #[must_use = "`mma` leaves the accumulator as it is, and returns the new one: `acc = mma(a, b, acc)`"]
    pub fn mma<B: Elem, C: Elem>(self, b: Tile<B>, acc: Tile<C>) -> Tile<C>
    where
        A: Mma<C, B>,
    {
        mma(self, b, acc)
    }
}
