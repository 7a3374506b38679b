//! The tensors that the parameters describe.

use girih_layout::{Int, Lay};
use girih_ptx::Type;
use girih_tensor::{DType, Slice, Space, Tensor};

use super::interface::{Interface, Parts, Rows};
use super::share::MAX_PARTS;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::sizes::shape_tiler;
use crate::{Error, Expr, Gmem, Scalar};

impl Interface<'_> {
    /// The first of the query heads that share head `head` of K and V.
    pub(super) fn first_head(&self, head: &Expr) -> Expr {
        head * &self.group()
    }

    /// The rows of Q or O of a batch from head `head` on, ((Heads,Queries),HeadDim): the tile at `tile`, in tiles of heads and of queries.
    pub(super) fn rows(
        &self,
        rows: &Rows,
        [batch, head]: [&Expr; 2],
        tile: &[Expr; 2],
    ) -> Result<Tensor<Gmem>, Error> {
        let [query, heads] = rows.strides;
        let bytes = element_bytes("dtype", rows.dtype)?;
        let first = &(batch * &rows.batch) + &(head * &Expr::from_int(&heads));
        let whole = Lay::strided([self.group, self.queries, self.columns], [heads, query, Int::ONE])?;
        let whole = Gmem::bounded(&rows.pointer + &(&first * bytes), rows.dtype, &whole)?;
        self.tile(&whole, tile)
    }

    /// The rows that a split leaves of a batch from head `head` on, as [`Interface::rows`].
    pub(super) fn partial_rows(
        &self,
        parts: &Parts,
        first: &Expr,
        tile: &[Expr; 2],
    ) -> Result<Tensor<Gmem>, Error> {
        let columns = Int::fixed(self.config.head_dim);
        let heads = self.queries.mul(columns)?;
        let whole = Lay::strided([self.group, self.queries, columns], [heads, columns, Int::ONE])?;
        let pointer = &parts.partials + &(first * (4 * self.config.head_dim));
        self.tile(&Gmem::bounded(pointer, DType::F32, &whole)?, tile)
    }

    /// The first row of a split from head `head` of a batch on, `heads` heads to a batch.
    pub(super) fn part_row(&self, parts: &Parts, part: &Expr, [batch, head, heads]: [&Expr; 3]) -> Expr {
        let head = &(batch * heads) + head;
        &(part * &Expr::from_int(&parts.rows)) + &(&head * &self.queries())
    }

    /// The maxima and the sums of exponentials that a split leaves from its row `first` on, (Head,Query) each.
    pub(super) fn partial_totals(&self, parts: &Parts, first: &Expr) -> Result<[Tensor<Gmem>; 2], Error> {
        let (two, heads) = (Int::fixed(2), self.queries.mul(Int::fixed(2))?);
        let whole = Lay::strided([self.group, self.queries], [heads, two])?;
        let of = |which: i64| Gmem::bounded(&parts.totals + &(&(first * 8) + 4 * which), DType::F32, &whole);
        Ok([of(0)?, of(1)?])
    }

    /// The logarithms of a batch from head `head` on, (Head,Query), if they are written.
    pub(super) fn lse(&self, [batch, head]: [&Expr; 2]) -> Result<Option<Tensor<Gmem>>, Error> {
        let Some((pointer, heads, batches)) = &self.lse else { return Ok(None) };
        let first = &(batch * batches) + &(head * &Expr::from_int(heads));
        let whole = Lay::strided([self.group, self.queries], [*heads, Int::ONE])?;
        Gmem::bounded(pointer + &(&first * 4), DType::F32, &whole).map(Some)
    }

    /// The results of all splits for a row, (HeadDim,Part) and (2,Part). `first` is the index of the row in the first split.
    pub(super) fn parts_of_row(&self, parts: &Parts, first: &Expr) -> Result<[Tensor<Gmem>; 2], Error> {
        let columns = Int::fixed(self.config.head_dim);
        let most = Int::fixed(MAX_PARTS);
        let rows = Lay::strided([columns, most], [Int::ONE, parts.rows.mul(columns)?])?;
        let pointer = &parts.partials + &(first * (4 * self.config.head_dim));
        let rows = Gmem::bounded(pointer, DType::F32, &rows)?;
        let (two, one) = (Int::fixed(2), Int::ONE);
        let totals = Lay::strided([two, most], [one, parts.rows.mul(two)?])?;
        Ok([rows, Gmem::bounded(&parts.totals + &(first * 8), DType::F32, &totals)?])
    }

    /// A row of O, (HeadDim).
    pub(super) fn row_of_output(&self, [batch, head, query]: [&Expr; 3]) -> Result<Tensor<Gmem>, Error> {
        let [queries, heads] = self.o.strides.map(|stride| Expr::from_int(&stride));
        let first = &(&(batch * &self.o.batch) + &(head * &heads)) + &(query * &queries);
        let bytes = element_bytes("dtype", self.o.dtype)?;
        let row = Lay::strided([self.columns], [Int::ONE])?;
        Gmem::bounded(&self.o.pointer + &(&first * bytes), self.o.dtype, &row)
    }

    /// The factor that makes exponents of 2 of scores. With a cap it is for the cap's tanh, and a second factor is for the exponentials.
    pub(super) fn scales(&self, b: &mut Builder, head: &Expr) -> Result<(Scalar, Option<Scalar>), Error> {
        let (scale, inner) = (self.scale.clone(), self.inner_scale.clone());
        let Some(of_k) = self.scale_of(b, 0, head)? else { return Ok((scale, inner)) };
        Ok(match inner {
            Some(inner) => (scale, Some(b.hold(&(inner * of_k))?)),
            None => (b.hold(&(scale * of_k))?, None),
        })
    }

    /// Reads the scale of a head of K, which is tensor 0, or of V.
    pub(super) fn scale_of(
        &self,
        b: &mut Builder,
        tensor: usize,
        head: &Expr,
    ) -> Result<Option<Scalar>, Error> {
        let Some(scales) = &self.scales[tensor] else { return Ok(None) };
        let place = scales + &(&(head * &self.scale_stride) * 4);
        let scale = b.reg(Type::F32);
        b.load(Space::Gmem, std::slice::from_ref(&scale), &place, &Cond::Always)?;
        b.scalar_in(&scale, DType::F32).map(Some)
    }

    /// The tile of (Head,Query,HeadDim) at `at`, ((Heads,Queries),HeadDim).
    fn tile(&self, whole: &Tensor<Gmem>, [heads, queries]: &[Expr; 2]) -> Result<Tensor<Gmem>, Error> {
        let [of_heads, of_queries] = self.config.rows;
        let tiler = shape_tiler(&[of_heads, of_queries, self.config.head_dim])?;
        let at = [Slice::At(heads.clone()), Slice::At(queries.clone()), Slice::at(0)];
        Ok(whole.local_tile(&tiler, Slice::tuple(at))?.group_modes(0, 2)?)
    }
}
