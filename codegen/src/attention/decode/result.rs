//! Combines the accumulators of warps, and stores rows of O or the partial result of a split.

use girih_layout::Lay;
use girih_tensor::{DType, Slice, Tensor};

use super::THREADS;
use super::block::Place;
use super::interface::{Interface, Parts};
use super::rows::{self, ROWS};
use super::share::Share;
use super::weights::{scale_rows, weights};
use crate::algorithm::{convert, copy, read, transform, write};
use crate::atom::{AUTO_VECTORIZING_COPY, UNIVERSAL_COPY_128};
use crate::attention::rows::{Reference, Sink, Total};
use crate::builder::{Builder, Cond};
use crate::sizes::ONE;
use crate::tiled::copy::coalesced;
use crate::{Error, Expr, Gmem, Memory, Operand, Rmem, Scalar, Smem, ThrCopy, ThrMma, engine};

/// The warps of a block.
const WARPS: i64 = THREADS as i64 / 32;
/// Floats between rows in shared memory, so that the vectors of neighbouring rows are in different banks: four threads write a row's neighbours,
/// in vectors of two, or of four where K and V are converted.
const fn apart(converts: bool) -> i64 {
    if converts { 16 } else { 8 }
}

/// A warp's result after its last key: accumulators and softmax statistics.
pub(super) struct Sums {
    pub output: Tensor<Rmem>, // (FrgV,RestM,(N,Tiles))
    /// Of each row the maximum, in units of scores, and the sum of the exponentials relative to it.
    pub rows: Vec<[Scalar; 2]>,
    /// The factor that makes exponents of 2 of scores.
    pub scale: Scalar,
}

/// How a thread's values are in a tile of rows, (Rows,HeadDim).
enum Own {
    Fragment(Box<ThrMma<Expr>>),
    Vectors(Box<ThrCopy<Expr>>),
}

impl Own {
    fn of(&self, tile: &Tensor<Gmem>) -> Result<Tensor<Gmem>, Error> {
        match self {
            Own::Fragment(thread) => thread.partition(Operand::C, tile),
            Own::Vectors(thread) => thread.partition_s(tile),
        }
    }
}

/// Rows that are divided by their sums of exponentials.
struct Rows {
    values: Tensor<Rmem>,
    own: Own,
    /// Of each of the thread's rows the maximum and the sum of exponentials, and whether the thread writes what follows from them.
    totals: [[Scalar; 2]; ROWS],
    sinks: [Option<Sink>; ROWS],
    scale: Scalar,
    writes: Cond,
}

/// Puts together what the warps have, and stores it.
pub(super) fn finish(
    b: &mut Builder,
    interface: &Interface<'_>,
    place: &Place,
    share: &Share,
    result: &Sums,
) -> Result<(), Error> {
    let config = interface.config;
    let single = match interface.parts {
        Some(_) => Cond::less(&share.parts, &Expr::from(2)),
        None => Cond::Always,
    };
    let rows = if config.shares_rows() {
        together(b, interface, place, result, &single)?
    } else {
        alone(b, interface, place, result, &single)?
    };
    match &interface.parts {
        None => store(b, interface, place, &rows),
        Some(parts) => b.if_else(
            &single,
            |b| store(b, interface, place, &rows),
            |b| leave(b, interface, parts, place, &rows),
        ),
    }
}

/// The places of a thread's two rows among the rows and columns of its fragment.
fn own_rows(interface: &Interface<'_>, thread: &Expr) -> Result<[rows::Place; ROWS], Error> {
    let config = interface.config;
    let places = rows::places(config, &config.output_mma()?, config.head_dim, thread)?;
    Ok([places[0].clone(), places[2].clone()])
}

/// The sinks of a thread's two rows. Rows that are no head's read the last head's.
fn own_sinks(
    b: &mut Builder,
    interface: &Interface<'_>,
    place: &Place,
) -> Result<[Option<Sink>; ROWS], Error> {
    let mut sinks = [const { None }; ROWS];
    if interface.sinks.is_none() {
        return Ok(sinks);
    }
    let last = &(&place.head + &interface.group()) + -1;
    for (sink, row) in sinks.iter_mut().zip(own_rows(interface, &place.thread)?) {
        let head = &(&place.head + &(&place.tile[0] * interface.config.rows[0])) + &row.head;
        *sink = Sink::of_head(b, interface.sinks.as_ref(), &head.minimum(&last))?;
    }
    Ok(sinks)
}

/// The factor of a row that a sink joins, if the row has a single split.
fn joined(
    b: &mut Builder,
    factor: Scalar,
    sink: Option<&Sink>,
    lse: &Scalar,
    single: &Cond,
) -> Result<Scalar, Error> {
    let Some(sink) = sink else { return Ok(factor) };
    let share = sink.share(b, lse)?.select(single, 1.0);
    b.hold(&(factor * share))
}

/// The rows of a warp that has processed all keys of the split.
fn alone(
    b: &mut Builder,
    interface: &Interface<'_>,
    place: &Place,
    result: &Sums,
    single: &Cond,
) -> Result<Rows, Error> {
    let mut totals = Vec::new();
    let mut factors = Vec::new();
    let sinks = own_sinks(b, interface, place)?;
    for (row, sink) in result.rows.iter().zip(&sinks) {
        let (factor, total) = weights(b, &result.scale, std::slice::from_ref(row))?;
        let lse = lse_of(&total, &result.scale);
        for factor in factor {
            factors.push(joined(b, factor, sink.as_ref(), &lse, single)?);
        }
        totals.push(total);
    }
    scale_rows(b, &result.output, &pair(&factors))?;
    let first = own_rows(interface, &place.thread)?;
    let own = Own::Fragment(Box::new(interface.config.output_mma()?.get_slice(&place.thread)?));
    let writes = Cond::less(&first[0].column, &Expr::from(1));
    let (values, scale) = (result.output.clone(), result.scale.clone());
    Ok(Rows { values, own, totals: pair(&totals), sinks, scale, writes })
}

/// Adds up the rows of the warps, which have processed different keys.
fn together(
    b: &mut Builder,
    interface: &Interface<'_>,
    place: &Place,
    result: &Sums,
    single: &Cond,
) -> Result<Rows, Error> {
    let (config, thread) = (interface.config, &place.thread);
    let (count, columns) = (config.tile_rows(), config.head_dim);
    let warp = thread.div(32)?;
    let first = own_rows(interface, thread)?;
    let writes = Cond::less(&first[0].column, &Expr::from(1));
    let mine = config.output_mma()?.get_slice(thread)?;
    // Maxima and sums of exponentials, the same in all columns.
    let lies = Lay::strided([count, columns, WARPS, 2], [1, 0, count, count * WARPS])?; // (Rows,HeadDim,Warp,2)
    let numbers = Smem::alloc(b, DType::F32, None, &lies)?;
    let numbers = mine.partition(Operand::C, &numbers)?; // (FrgV,RestM,RestN,Warp,2)
    let number = |row: usize, warp: &Expr, which: i64| -> Result<Tensor<Smem>, Error> {
        let at = [Slice::All, Slice::at(0), Slice::at(0), Slice::At(warp.clone()), Slice::at(which)];
        let values = numbers.slice(Slice::tuple(at))?; // (FrgV)
        Ok(Tensor::new(engine::at(&values, 2 * row as i64)?, ONE))
    };
    b.if_(&writes, |b| {
        for row in 0..ROWS {
            for (which, number_of_row) in (0..).zip(&result.rows[row]) {
                write(b, &number(row, &warp, which)?, std::slice::from_ref(number_of_row))?;
            }
        }
        Ok(())
    })?;
    b.barrier();
    let (mut own, mut totals) = (Vec::new(), Vec::new());
    let sinks = own_sinks(b, interface, place)?;
    for (row, sink) in sinks.iter().enumerate().take(ROWS) {
        let mut parts = Vec::new();
        for other in 0..WARPS {
            let other = Expr::from(other);
            let [greatest, sum] = [number(row, &other, 0)?, number(row, &other, 1)?];
            parts.push([read(b, &greatest)?.remove(0), read(b, &sum)?.remove(0)]);
        }
        let (factors, total) = weights(b, &result.scale, &parts)?;
        let mut factor = factors[0].clone();
        for (other, next) in factors.iter().enumerate().skip(1) {
            factor = next.select(&Cond::equal(&warp, &Expr::from(other as i64)), factor);
        }
        let factor = b.hold(&factor)?;
        own.push(joined(b, factor, sink.as_ref(), &lse_of(&total, &result.scale), single)?);
        totals.push(total);
    }
    scale_rows(b, &result.output, &pair(&own))?;
    let pitch = columns + apart(config.converts());
    let lies = Lay::strided([count, columns, WARPS], [pitch, 1, count * pitch])?; // (Rows,HeadDim,Warp)
    let shared = Smem::alloc(b, DType::F32, None, &lies)?;
    let of_warp = shared.slice((Slice::All, Slice::All, Slice::At(warp.clone())))?;
    let values = Tensor::new(result.output.engine().of_no_tile(), *result.output.layout());
    copy(b, AUTO_VECTORIZING_COPY, &values, &mine.partition(Operand::C, &of_warp)?)?;
    b.barrier();
    let vectors = coalesced(UNIVERSAL_COPY_128, THREADS.into(), [count, columns], 1, 4)?;
    let vectors = vectors.get_slice(thread)?;
    let mut all = Vec::new();
    for other in 0..WARPS {
        let of_warp = shared.slice((Slice::All, Slice::All, Slice::at(other)))?;
        let part = vectors.partition_s(&of_warp)?; // (Val,RestX,RestY)
        let values = Rmem::tensor(b, DType::F32, Lay::left(part.layout().shape())?)?;
        copy(b, AUTO_VECTORIZING_COPY, &part, &values)?;
        all.push(values);
    }
    let total = Rmem::tensor(b, DType::F32, *all[0].layout())?;
    transform(b, &all.iter().collect::<Vec<_>>(), &total, |_, x| {
        Ok(x[1..].iter().fold(x[0].clone(), |sum, next| &sum + next))
    })?;
    let writes = Cond::all([writes, Cond::less(thread, &Expr::from(32))]);
    let own = Own::Vectors(Box::new(vectors));
    Ok(Rows { values: total, own, totals: pair(&totals), sinks, scale: result.scale.clone(), writes })
}

/// The logsumexp of a row to the base e, from its maximum and the sum relative to it.
pub(super) fn lse_of([maximum, sum]: &[Scalar; 2], scale: &Scalar) -> Scalar {
    Total { reference: Reference::of(maximum, scale), sum: sum.clone() }.lse(scale)
}

/// The values of the two rows.
fn pair<T: Clone>(of_rows: &[T]) -> [T; ROWS] {
    [of_rows[0].clone(), of_rows[1].clone()]
}

/// Stores the rows of O and their logarithms.
fn store(b: &mut Builder, interface: &Interface<'_>, place: &Place, rows: &Rows) -> Result<(), Error> {
    if let Some(scale) = interface.scale_of(b, 1, &place.group)? {
        transform(b, &[&rows.values], &rows.values, |_, x| Ok(&x[0] * &scale))?;
    }
    let tile = interface.rows(&interface.o, [&place.batch, &place.head], &place.tile)?;
    put(b, &rows.values, &rows.own.of(&tile)?)?;
    match interface.lse([&place.batch, &place.head])? {
        Some(lse) => {
            let natural = rows.totals.each_ref().map(|total| lse_of(total, &rows.scale));
            let [first, second] = natural;
            let [of_first, of_second] = rows.sinks.each_ref().map(Option::as_ref);
            let natural = [Sink::join(of_first, b, first)?, Sink::join(of_second, b, second)?];
            numbers(b, interface, place, &[(lse, natural)], &rows.writes)
        }
        None => Ok(()),
    }
}

/// Leaves the rows of a split and their logarithms.
fn leave(
    b: &mut Builder,
    interface: &Interface<'_>,
    parts: &Parts,
    place: &Place,
    rows: &Rows,
) -> Result<(), Error> {
    if let Some(scale) = interface.scale_of(b, 1, &place.group)? {
        transform(b, &[&rows.values], &rows.values, |_, x| Ok(&x[0] * &scale))?;
    }
    let groups = b.special(girih_ptx::Special::NctaidY);
    let heads = interface.first_head(&groups);
    let first = interface.part_row(parts, &place.part, [&place.batch, &place.head, &heads]);
    let tile = interface.partial_rows(parts, &first, &place.tile)?;
    put(b, &rows.values, &rows.own.of(&tile)?)?;
    let [maxima, sums] = interface.partial_totals(parts, &first)?;
    let [of_maxima, of_sums] =
        [0, 1].map(|which: usize| rows.totals.each_ref().map(|total| total[which].clone()));
    numbers(b, interface, place, &[(maxima, of_maxima), (sums, of_sums)], &rows.writes)
}

/// Stores floats as the tensor's dtype.
pub(super) fn put(b: &mut Builder, values: &Tensor<Rmem>, target: &Tensor<Gmem>) -> Result<(), Error> {
    let values = Tensor::new(values.engine().of_no_tile(), *values.layout());
    let dtype = Memory::dtype(target.engine());
    if dtype == DType::F32 {
        return copy(b, AUTO_VECTORIZING_COPY, &values, target);
    }
    let rounded = Rmem::tensor(b, dtype, Lay::left(values.layout().shape())?)?;
    convert(b, &values, &rounded)?;
    copy(b, AUTO_VECTORIZING_COPY, &rounded, target)
}

/// Stores numbers of the thread's two rows to tensors, (Head,Query).
fn numbers(
    b: &mut Builder,
    interface: &Interface<'_>,
    place: &Place,
    all: &[(Tensor<Gmem>, [Scalar; ROWS])],
    writes: &Cond,
) -> Result<(), Error> {
    let [heads, queries] = interface.config.rows;
    let [tile_h, tile_q] = &place.tile;
    let own = own_rows(interface, &place.thread)?;
    b.if_(writes, |b| {
        for (row, place) in own.iter().enumerate() {
            let at = [&place.head + &(tile_h * heads), &place.query + &(tile_q * queries)];
            for (target, values) in all {
                let one = target.slice(Slice::tuple(at.clone().map(Slice::At)))?;
                write(b, &Tensor::new(one.engine().clone(), ONE), std::slice::from_ref(&values[row]))?;
            }
        }
        Ok(())
    })
}
