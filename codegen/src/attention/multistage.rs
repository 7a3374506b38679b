//! Multistage attention: all warps copy and compute, with KV tiles in flight (FlashAttention-2).

mod config;
mod product;
mod slots;

use girih_layout::{Lay, Shape};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::Tensor4;
use super::interface::{Interface, Lse};
use super::mask::{Sight, place};
use super::rows::{Sink, Total};
use super::scores::{Addend, Tanh, adjust};
use super::softmax::Softmax;
use super::tile::{Entry, for_each_tile};
use crate::algorithm::{clear, write};
use crate::builder::{Builder, Cond, Width};
use crate::engine::{self, element_bytes};
use crate::sync::CpAsyncRing;
use crate::tiled::mma::{Operand, ThrMma};
use crate::{Counting, Error, Expr, Gmem};

pub use config::Multistage;
use product::Products;
use slots::{Slot, Slots, Way};

impl Multistage {
    /// Writes the kernel.
    #[track_caller]
    pub(super) fn emit(&self, b: &mut Builder, interface: &mut Interface<'_>) -> Result<(), Error> {
        if self.min_blocks > 0 {
            b.min_blocks(self.min_blocks);
        }
        let config = interface.config;
        let [queries, keys] = config.tile;
        let [scores, sums] = self.products(config)?;
        let of_o = config.columns(Tensor4::O);
        let memory = Memory {
            queries: Slot::alloc(b, config.dtype, [queries, config.head_dim], 1)?,
            slots: Slot::alloc(b, config.dtype, [keys, config.head_dim], self.stages)?,
            weights: match Products::shares_weights(&scores) {
                true => Some(Slot::alloc(b, config.dtype, [queries, keys], 1)?),
                false => None,
            },
        };
        let of_c = |tile| Ok::<_, Error>(Lay::col_major(tile)?);
        interface.partitions.extend([
            ("tile (Q,K)", format!("({queries},{keys})")),
            ("TV of scores", scores.thrfrg(Operand::C, &of_c([queries, keys])?)?.to_string()),
            ("TV of sums", sums.thrfrg(Operand::C, &of_c([queries, of_o])?)?.to_string()),
            ("Q in shared memory", memory.queries.tensor()?.layout().to_string()),
            ("K and V in shared memory", memory.slots.tensor()?.layout().to_string()),
        ]);
        let interface = &*interface;
        for_each_tile(b, interface, |b, entry| self.tile(b, interface, &memory, entry))
    }

    /// Writes the attention of a tile of queries.
    fn tile(
        &self,
        b: &mut Builder,
        interface: &Interface<'_>,
        memory: &Memory,
        entry: &Entry,
    ) -> Result<(), Error> {
        let config = interface.config;
        // As a variable of this scope, so that what follows from the thread takes no registers outside of it.
        let thread = b.special(Special::TidX);
        let thread = b.bounded(&thread, i64::from(self.threads()?) - 1)?;
        let products = Products::new(b, self, config, memory.weights.as_ref(), &thread)?;
        let scores = coordinates(&products.scores.thread, config.tile)?; // (FrgV,RestQ,RestK) -> (query,key)
        let sums = coordinates(&products.sums.thread, [config.tile[0], config.columns(Tensor4::O)])?; // (FrgV,RestQ,RestD) -> (query,column)
        let softmax = Softmax::new(b, &products.mma[0], [&scores, &sums], &interface.scale)?;
        softmax.clear(b)?;
        clear(b, &products.sums.values)?;
        let way = Way::new(self, config, Tensor4::Q, &thread)?;
        let parts = Parts { form: self, interface, memory, entry, thread, products, scores, softmax, way };
        self.multiply(b, &parts)?;
        parts.store(b)
    }

    /// Goes through the keys that the queries see.
    fn multiply(&self, b: &mut Builder, parts: &Parts<'_>) -> Result<(), Error> {
        let Parts { interface, memory, entry, thread, products, softmax, .. } = parts;
        let config = interface.config;
        let sight = Sight::new(b, interface, entry)?;
        let [q, k, v] = inputs(b, interface, entry, &sight)?;
        let addend = interface.bias.as_ref();
        let addend = addend.map(|bias| Addend::new(b, bias, entry, [&entry.row, &sight.base])).transpose()?;
        let ways = [Way::new(self, config, Tensor4::K, thread)?, Way::new(self, config, Tensor4::V, thread)?];
        let ring = CpAsyncRing::new(self.stages, self.is_asynchronous(config)?)?;
        let slots = Slots::new(b, (&memory.slots, ring), &ways, [&k, &v], &sight.tiles)?;
        // Other threads may still read what the tile of queries before has left in shared memory.
        b.barrier();
        b.if_(&Cond::less(&Expr::from(0), &sight.tiles), |b| {
            parts.way.load(b, &q, &Expr::from(0), &memory.queries)?;
            slots.begin(b)?;
            b.for_range(&sight.tiles, |b, turn| {
                // Addresses in shared memory are computed again in each turn, and take no registers while powers are computed.
                let thread = b.bounded(thread, thread.range().1)?;
                b.comment("scores");
                slots.wait(b, turn, 0)?;
                let keys = slots.slot(b, 0);
                products.score(b, [&memory.queries, &keys], &thread)?;
                slots.advance(b);
                let tile = slots.tile(b, turn)?;
                let of_scores = &products.scores.thread;
                let added = addend.as_ref().map(|addend| addend.of_tile(b, config.tile, of_scores, &tile));
                let (inner, added) = (interface.inner_scale.as_ref(), added.transpose()?);
                adjust(b, inner.map(Tanh::OfPowers), added.as_ref(), &products.scores.values)?;
                let key = b.hold_index(&(&sight.base + &(&tile * config.tile[1])), Width::W32)?;
                b.if_(&sight.cuts(&key), |b| sight.hide(b, &products.scores.values, &parts.scores, &key))?;
                softmax.weigh(b, &products.scores.values, &products.sums.values)?;
                products.take_weights(b)?;
                b.comment("sums of values");
                slots.wait(b, turn, 1)?;
                let values = slots.slot(b, 1);
                products.sum(b, &values, &thread)?;
                slots.advance(b);
                Ok(())
            })
        })
    }
}

/// A thread's part in a tile of queries.
struct Parts<'a> {
    form: &'a Multistage,
    interface: &'a Interface<'a>,
    memory: &'a Memory,
    entry: &'a Entry,
    thread: Expr,
    products: Products,
    /// The coordinates of scores, (FrgV,RestQ,RestK) -> (query,key).
    scores: Tensor<Counting>,
    softmax: Softmax,
    /// The way of Q.
    way: Way,
}

impl Parts<'_> {
    /// Stores the tile of O by way of where the tile of Q was, and the logsumexps.
    fn store(&self, b: &mut Builder) -> Result<(), Error> {
        b.comment("epilogue");
        let Parts { interface, memory, entry, products, softmax, .. } = self;
        let rows = softmax.totals(b)?;
        let (sink, scale) = (Sink::of_head(b, interface.sinks.as_ref(), &entry.head)?, &interface.scale);
        let divided = |row: &Total| row.division_with(b, scale, sink.as_ref());
        let divisions = rows.iter().map(divided).collect::<Result<Vec<_>, _>>()?;
        let result = softmax.divided(b, &products.sums.values, &divisions)?;
        // A warp writes where it alone has read queries.
        let tile = memory.queries.of_columns(interface.config.columns(Tensor4::O));
        let staged = products.sums.thread.partition(Operand::C, &tile.tensor()?)?; // (FrgV,RestQ,RestD)
        let result: Vec<_> = result.iter().map(|value| value.to(interface.config.dtype)).collect();
        write(b, &staged, &result)?;
        if let Some(lse) = &interface.lse {
            let lse = logarithms(b, lse, entry)?;
            let places = engine::Values::of(self.scores.engine(), *self.scores.layout());
            for (first, row) in softmax.first_of_rows().into_iter().zip(&rows) {
                let [query, key] = place(&places, first as i64)?;
                // One of the threads that share the row.
                b.if_(&Cond::all([Cond::equal(&key, &Expr::from(0)), interface.writes_lse()]), |b| {
                    let joined = Sink::join(sink.as_ref(), b, row.lse(scale))?;
                    write(b, &lse.slice(Slice::At(query.clone()))?, &[joined])
                })?;
            }
        }
        b.barrier();
        let of_rows = [&entry.first_query + &entry.row, &entry.queries - &entry.row];
        let o = matrix(b, interface, entry, Tensor4::O, &of_rows)?;
        let way = Way::new(self.form, interface.config, Tensor4::O, &self.thread)?;
        way.store(b, &tile, &o)
    }
}

/// The shared memory of a block.
struct Memory {
    queries: Slot,
    slots: Slot,
    weights: Option<Slot>,
}

/// The inputs of the sequence and head of a tile, (Row,HeadDim) each: Q from the tile's first row on, K and V those rows that some query of the tile
/// sees. Others are loaded as zeros: a weight of 0 times a value that is not a number would be none either.
fn inputs(
    b: &mut Builder,
    interface: &Interface<'_>,
    entry: &Entry,
    sight: &Sight<'_>,
) -> Result<[Tensor<Gmem>; 3], Error> {
    let of_queries = [&entry.first_query + &entry.row, &entry.queries - &entry.row];
    let of_keys = [&entry.first_key + &sight.base, sight.keys.clone()];
    let queries = matrix(b, interface, entry, Tensor4::Q, &of_queries)?;
    let keys = matrix(b, interface, entry, Tensor4::K, &of_keys)?;
    Ok([queries, keys, matrix(b, interface, entry, Tensor4::V, &of_keys)?])
}

/// The logarithms of the rows of a tile from its first row on.
fn logarithms(b: &mut Builder, lse: &Lse, entry: &Entry) -> Result<Tensor<Gmem>, Error> {
    let [heads, batches] = &lse.strides;
    let row = &entry.first_query + &entry.row;
    let origin = &(&(&entry.head * heads) + &(&entry.batch * batches)) + &row;
    let pointer = b.hold_index(&(&lse.address + &(&origin * 4)), Width::W64)?;
    Gmem::computed(pointer, DType::F32, vec![&entry.queries - &entry.row], vec![Expr::from(1)])
}

/// The matrix (Row,HeadDim) of the head of a tile: this many rows of the tensor from a row on.
fn matrix(
    b: &mut Builder,
    interface: &Interface<'_>,
    entry: &Entry,
    tensor: Tensor4,
    [row, extent]: &[Expr; 2],
) -> Result<Tensor<Gmem>, Error> {
    let head = match tensor {
        Tensor4::Q | Tensor4::O => &entry.head,
        Tensor4::K | Tensor4::V => &entry.group,
    };
    let dtype = interface.config.dtype;
    let (Some(pitches), Some(columns)) = (&interface.strides[tensor as usize], interface.columns(tensor))
    else {
        return Err(Error::Generator("the address of a tensor that has a tensor map"));
    };
    let rows = Expr::from_int(&pitches.rows.into());
    let column = interface.first_column(tensor);
    let origin = &(&(row * &rows) + &(head * &pitches.heads)) + &(&entry.batch * &pitches.batches);
    let origin = &origin + &column;
    let pointer = &interface.places[tensor as usize] + &(&origin * element_bytes("tensor", dtype)?);
    let pointer = b.hold_index(&pointer, Width::W64)?;
    let extents = vec![extent.clone(), &Expr::from_int(&columns.into()) - &column];
    Gmem::computed(pointer, dtype, extents, vec![rows, Expr::from(1)])
}

/// The coordinates of a thread's values of C in a tile, (FrgV,RestM,RestN) -> (m,n).
fn coordinates(thread: &ThrMma<Expr>, tile: [i64; 2]) -> Result<Tensor<Counting>, Error> {
    let identity = Lay::identity(&Shape::flat(&tile.map(girih_layout::Int::fixed))?)?;
    thread.partition(Operand::C, &Tensor::new(Counting::new(2), identity))
}
