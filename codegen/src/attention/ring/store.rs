//! The end of a tile: division of the accumulator by the row sums, and the store of O and of the logsumexps.

use girih_layout::{Int, Lay, Shape};
use girih_tensor::{Slice, Space, Tensor};

use super::consumer::Consumer;
use super::{ROWS, Ring, SHARING, WARPGROUP};
use crate::algorithm::{
    CacheHint, Predicates, convert, copy, copy_if, fence_proxy_async, tma_store_arrive, tma_store_wait,
    transform,
};
use crate::atom::{AUTO_VECTORIZING_COPY, SM90_U32X4_STSM_N};
use crate::attention::interface::Tensor4;
use crate::attention::rows::{Sink, Total, over_lanes};
use crate::attention::tile::{Entry, MAX_LENGTH};
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::sizes::shape_tiler;
use crate::tiled::mma::Operand;
use crate::{Counting, Error, Expr, Gmem, Memory, Rmem, Smem, Stage, TiledCopy};

/// The lanes of a warp that store neighbouring vectors, at most.
const LANES: i64 = 8;

impl Consumer<'_> {
    /// Divides the accumulators by the row sums, and stores them as the tile of O, and the logsumexps. The tile of O is
    /// where the tile of Q was, which is released once it is stored.
    pub(super) fn store(&self, b: &mut Builder, entry: &Entry, buffer: &Stage) -> Result<(), Error> {
        let totals = self.totals(b)?;
        let sink = Sink::of_head(b, self.parts.interface.sinks.as_ref(), &entry.head)?;
        self.store_lse(b, entry, &totals, sink.as_ref())?;
        for (row, total) in (0..).zip(&totals) {
            let division = total.division_with(b, &self.parts.interface.scale, sink.as_ref())?;
            let row = Consumer::row(&self.sums, row)?; // (2,RestN)
            transform(b, &[&row], &row, |_, x| Ok(division.of(&x[0])))?;
        }
        let at = Slice::tuple([Slice::All, Slice::All, Slice::At(buffer.index.clone())]);
        let rows = self.tile_of_o(self.parts.rows_of(&self.number)?.slice(at)?)?; // (64,HeadDim)
        self.to_shared(b, &rows)?;
        if self.parts.copies[Tensor4::O as usize].is_none() {
            self.meet(b)?;
            self.store_by_threads(b, entry, &rows)?;
            // TMA loads the next tile of Q to the same place.
            fence_proxy_async(b);
            self.meet(b)?;
            return self.parts.of_q.consumer_release(b, buffer, &self.leader);
        }
        fence_proxy_async(b);
        self.meet(b)?;
        let first = &entry.row + &(&self.number * ROWS);
        let any = Cond::less(&first, &entry.queries);
        b.if_(&Cond::all([self.leader.clone(), any]), |b| self.store_boxes(b, entry, &first, &rows))?;
        if self.is_stored_late() {
            self.release_later(b);
            return Ok(());
        }
        b.if_(&self.leader, |b| {
            tma_store_wait(b, 0);
            self.parts.of_q.consumer_release(b, buffer, &Cond::Always)
        })
    }

    /// The tile of O where a tile of Q, (64,HeadDim), was.
    fn tile_of_o(&self, tile_of_q: Tensor<Smem>) -> Result<Tensor<Smem>, Error> {
        let config = self.parts.config();
        if config.value_dim.is_none() {
            return Ok(tile_of_q);
        }
        let (swizzle, rows) = Ring::rows(config, Tensor4::O, ROWS)?;
        Ok(Tensor::new(Smem::new(tile_of_q.engine().address()?, config.dtype, Some(swizzle)), rows))
    }

    /// Waits until everything is stored.
    pub(super) fn finish(&self, b: &mut Builder) -> Result<(), Error> {
        if !self.is_stored_late() {
            return Ok(());
        }
        b.if_(&self.leader, |b| {
            tma_store_wait(b, 0);
            Ok(())
        })
    }

    /// The thread's two rows, with the sums of exponentials over all lanes that share them.
    fn totals(&self, b: &mut Builder) -> Result<[Total; 2], Error> {
        let mut sums = self.of_rows(b, &self.total)?;
        for sum in &mut sums {
            *sum = over_lanes(b, &SHARING, sum.clone(), |x, y| x + y)?;
        }
        let [first, second] = self.references(b)?;
        let [of_first, of_second] = sums;
        Ok([Total { reference: first, sum: of_first }, Total { reference: second, sum: of_second }])
    }

    /// Stores the logsumexps to the base e.
    fn store_lse(
        &self,
        b: &mut Builder,
        entry: &Entry,
        totals: &[Total; 2],
        sink: Option<&Sink>,
    ) -> Result<(), Error> {
        let Some(lse) = &self.parts.interface.lse else { return Ok(()) };
        let (rows, columns) = self.coordinates(b)?;
        // One of the four lanes that share a row has its first column.
        let first = columns.first().map_or(Cond::Always, |column| Cond::less(column, &Expr::from(2)));
        let first = Cond::all([first, self.parts.interface.writes_lse()]);
        let of_tile = &entry.row + &(&self.number * ROWS);
        let [heads, batches] = &lse.strides;
        let line = &(&(&entry.head * heads) + &(&entry.batch * batches)) + &entry.first_query;
        for (row, total) in rows.iter().zip(totals) {
            let row = &of_tile + row;
            let value = Sink::join(sink, b, total.lse(&self.parts.interface.scale))?;
            let value = b.scalar(&value)?;
            let address = &lse.address + &(&(&line + &row) * 4);
            let inside = Cond::all([first.clone(), Cond::less(&row, &entry.queries)]);
            b.store(Space::Gmem, &address, &[value], &inside)?;
        }
        Ok(())
    }

    /// Copies the accumulators to shared memory in the dtype of O.
    fn to_shared(&self, b: &mut Builder, rows: &Tensor<Smem>) -> Result<(), Error> {
        let config = self.parts.config();
        let by = TiledCopy::of_mma(SM90_U32X4_STSM_N, config.dtype.bits(), &self.parts.pv, Operand::C)?;
        let thread = b.bounded(&self.thread, WARPGROUP - 1)?;
        let mine = by.get_slice(&thread)?;
        let place = mine.partition_d(rows)?; // (CpyV,1,1)
        let values = Rmem::tensor(b, config.dtype, *self.sums.layout())?; // (FrgV,1,1)
        let values = Rmem::holding(values, self.sums.part())?;
        convert(b, &self.sums, &values)?;
        copy(b, &by, &mine.retile_s(&values)?, &place)
    }

    /// Issues the TMA copies of the warpgroup's rows.
    fn store_boxes(
        &self,
        b: &mut Builder,
        entry: &Entry,
        first: &Expr,
        rows: &Tensor<Smem>,
    ) -> Result<(), Error> {
        let Some(boxes) = &self.parts.copies[Tensor4::O as usize] else { return Ok(()) };
        let column = self.parts.interface.first_column(Tensor4::O);
        let origin = [&entry.first_query + first, column, entry.head.clone(), entry.batch.clone()];
        let whole = boxes.tma_tensor()?.domain_offset(Slice::tuple(origin.map(Slice::At)))?; // (Row,HeadDim,Head,Batch)
        let tiler = shape_tiler(&[ROWS, self.parts.config().columns(Tensor4::O), 1, 1])?;
        let tile = whole.local_tile(&tiler, &[0; 4].map(Slice::at))?; // (64,HeadDim,1,1)
        let rows = Tensor::new(rows.engine().clone(), rows.layout().append_to(4, &Lay::UNIT)?); // (64,HeadDim,1,1)
        let one = boxes.copy().get_slice(&Expr::from(0))?;
        // The cache is kept for K and V.
        let with =
            boxes.with(&self.parts.interface.places[Tensor4::O as usize]).cache_hint(CacheHint::EvictFirst);
        copy(b, with, &one.partition_s(&rows)?, &one.partition_d(&tile)?)?;
        tma_store_arrive(b);
        Ok(())
    }

    /// Copies the warpgroup's rows from shared memory to those rows of O that are the sequence's.
    fn store_by_threads(&self, b: &mut Builder, entry: &Entry, rows: &Tensor<Smem>) -> Result<(), Error> {
        let interface = self.parts.interface;
        let config = interface.config;
        let (Some(strides), Some(columns)) =
            (&interface.strides[Tensor4::O as usize], interface.columns(Tensor4::O))
        else {
            return Ok(());
        };
        // As variables of this scope, so that values derived from them are not live along with the accumulators.
        let thread = b.bounded(&self.thread, WARPGROUP - 1)?;
        let number = b.bounded(&self.number, self.parts.ring.warpgroups - 1)?;
        let first = &entry.row + &(&number * ROWS);
        let line = &(&entry.head * &strides.heads) + &(&entry.batch * &strides.batches);
        let line = &line + &(&(&entry.first_query + &first) * &Expr::from_int(&Int::symbol(strides.rows)));
        let column = interface.first_column(Tensor4::O);
        let line = &line + &column;
        let base = &interface.places[Tensor4::O as usize] + &(&line * element_bytes("dtype", config.dtype)?);
        let extents = [ROWS, config.columns(Tensor4::O)];
        let whole = Lay::strided(extents.map(Int::fixed), [Int::symbol(strides.rows), Int::fixed(1)])?;
        let whole = Tensor::new(Gmem::new(base, config.dtype), whole); // (64,HeadDim)
        let identity = Tensor::new(Counting::new(2), Lay::identity(&Shape::flat(&extents.map(Int::fixed))?)?);
        let vector = config.vector();
        let lanes = num_integer::gcd(extents[1] / vector, LANES);
        let threads = Lay::strided([WARPGROUP / lanes, lanes], [lanes, 1])?; // (ThrM,ThrN) -> thread
        let values = Lay::strided([1, vector], [vector, 1])?; // (ValM,ValN) -> value
        let by = TiledCopy::new(AUTO_VECTORIZING_COPY, config.dtype.bits(), &threads, &values)?;
        let mine = by.get_slice(&thread)?;
        let left = b.bounded(&(&entry.queries.maximum(&first) - &first), MAX_LENGTH)?;
        let limits = [left, &Expr::from_int(&Int::symbol(columns)) - &column];
        // As many rows at a time as the threads have a vector of each, so that what is in flight fits the registers.
        let at_once = WARPGROUP / lanes;
        let tiler = shape_tiler(&[at_once, extents[1]])?;
        b.for_range(&Expr::from(ROWS / at_once), |b, i| {
            let at = [Slice::At(i.clone()), Slice::at(0)];
            let (from, to) = (rows.local_tile(&tiler, &at)?, whole.local_tile(&tiler, &at)?); // (Rows,HeadDim)
            let inside = Predicates::inside(&mine.partition_d(&identity.local_tile(&tiler, &at)?)?, &limits)?;
            copy_if(b, &by, &inside, &mine.partition_s(&from)?, &mine.partition_d(&to)?) // (CpyV,1,RestN)
        })
    }
}
