//! The second kernel: the split-KV combine of a row.

use girih_layout::Lay;
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

use super::THREADS;
use super::interface::{Interface, MAX_HEADS};
use super::result::{lse_of, put};
use super::share::Share;
use super::weights::weights;
use crate::algorithm::{CopyWith, clear, copy, read, transform, write};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::attention::rows::Sink;
use crate::builder::{Builder, Cond};
use crate::sizes::{ONE, extent, shape_tiler};
use crate::{Error, Expr, Rmem, Scalar, Smem};

const WARPS: i64 = THREADS as i64 / 32;
/// The splits whose loads are in flight together.
const TOGETHER: i64 = 4;

/// Writes the kernel. Each warp adds up every fourth split of the row.
pub(super) fn emit(b: &mut Builder, interface: &mut Interface<'_>) -> Result<(), Error> {
    let config = interface.config;
    let Some(parts) = &interface.parts else { return Ok(()) };
    let [query, head, batch] = [Special::CtaidX, Special::CtaidY, Special::CtaidZ].map(|s| b.special(s));
    let (heads, thread) = (b.special(Special::NctaidY), b.special(Special::TidX));
    let (warp, lane) = (thread.div(32)?, thread.rem(32)?);
    if config.features.programmatic {
        b.wait_on_dependent_grids();
    }
    // The window of the first query of the row's tile decides, as in the first kernel.
    let of_queries = config.rows[1];
    let first_query = &query.div(of_queries)? * of_queries;
    let share = Share::new(b, interface, &batch, &first_query)?;
    let several = Cond::less(&Expr::from(1), &share.parts);
    let first = &interface.part_row(parts, &Expr::from(0), [&batch, &head, &heads]) + &query;
    let of_row = interface.parts_of_row(parts, &first)?; // (HeadDim,Part), (2,Part)
    let [rows, totals] = of_row.map(|tensor| {
        let own = tensor.engine().part_of(1, [&Expr::from(0), &Expr::from(0), &share.parts]);
        Tensor::new(own, *tensor.layout())
    });
    let group = match &interface.scales[0] {
        Some(_) => b.divide(&head, &interface.group(), MAX_HEADS)?,
        None => Expr::from(0),
    };
    let columns = Lay::strided([32, config.head_dim / 32], [config.head_dim / 32, 1])?; // (Lane,Val)
    b.if_(&several, |b| {
        let sums = Rmem::tensor(b, DType::F32, extent(config.head_dim / 32)?)?;
        clear(b, &sums)?;
        let (scale, _) = interface.scales(b, &group)?;
        let total = Rmem::tensor(b, DType::F32, extent(2)?)?;
        write(b, &total, &[f64::NEG_INFINITY, 0.0].map(|number| Scalar::new(DType::F32, number)))?;
        let rounds = (&share.parts + (WARPS * TOGETHER - 1)).div(WARPS * TOGETHER)?;
        b.for_range(&rounds, |b, round| {
            let (mut values, mut all) =
                (vec![Tensor::new(sums.engine().clone(), *sums.layout())], Vec::new());
            all.push(pair(b, &total)?);
            for next in 0..TOGETHER {
                let part = &(&(round * (WARPS * TOGETHER)) + next * WARPS) + &warp;
                let row = rows.slice((Slice::All, Slice::At(part.clone())))?; // HeadDim
                let row = row.tv_partition(&columns, &lane)?; // Val
                let loaded = Rmem::tensor(b, DType::F32, extent(config.head_dim / 32)?)?;
                copy(b, CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(), &row, &loaded)?;
                let own = totals.slice((Slice::All, Slice::At(part.clone())))?; // (2)
                let number = Rmem::tensor(b, DType::F32, extent(2)?)?;
                copy(b, CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(), &own, &number)?;
                let [maximum, sum] = pair(b, &number)?;
                let maximum = maximum.select(&Cond::less(&part, &share.parts), f64::NEG_INFINITY);
                all.push([b.hold(&maximum)?, sum]);
                values.push(loaded);
            }
            add_up(b, &scale, (&values, &all), &sums, &total)
        })?;
        let lies = Lay::strided([config.head_dim, WARPS], [1, config.head_dim])?; // (HeadDim,Warp)
        let shared = Smem::alloc(b, DType::F32, None, &lies)?;
        let numbers = Smem::alloc(b, DType::F32, None, &Lay::strided([2, WARPS], [1, 2])?)?; // (2,Warp)
        let of_warp =
            |tensor: &Tensor<Smem>, warp: &Expr| tensor.slice((Slice::All, Slice::At(warp.clone())));
        copy(b, AUTO_VECTORIZING_COPY, &sums, &of_warp(&shared, &warp)?.tv_partition(&columns, &lane)?)?;
        let own = read(b, &total)?;
        b.if_(&Cond::less(&lane, &Expr::from(1)), |b| write(b, &of_warp(&numbers, &warp)?, &own))?;
        b.barrier();
        b.if_(&Cond::less(&thread, &Expr::from(32)), |b| {
            let (mut values, mut all) = (Vec::new(), Vec::new());
            for other in (0..WARPS).map(Expr::from) {
                let part = of_warp(&shared, &other)?.tv_partition(&columns, &lane)?; // Val
                let loaded = Rmem::tensor(b, DType::F32, *sums.layout())?;
                copy(b, AUTO_VECTORIZING_COPY, &part, &loaded)?;
                values.push(loaded);
                let own = read(b, &of_warp(&numbers, &other)?)?;
                all.push([own[0].clone(), own[1].clone()]);
            }
            add_up(b, &scale, (&values, &all), &sums, &total)?;
            let sink = Sink::of_head(b, interface.sinks.as_ref(), &head)?;
            if let Some(sink) = &sink {
                let own = pair(b, &total)?;
                let share = sink.share(b, &lse_of(&own, &scale))?;
                transform(b, &[&sums], &sums, |_, x| Ok(&x[0] * &share))?;
            }
            let row = interface.row_of_output([&batch, &head, &query])?; // HeadDim
            let row = row.local_tile(&shape_tiler(&[config.head_dim])?, Slice::at(0))?; // HeadDim
            put(b, &sums, &row.tv_partition(&columns, &lane)?)?;
            let Some(lse) = interface.lse([&batch, &head])? else { return Ok(()) };
            let own = lse.slice((Slice::at(0), Slice::At(query.clone())))?;
            let own_total = pair(b, &total)?;
            let natural = Sink::join(sink.as_ref(), b, lse_of(&own_total, &scale))?;
            b.if_(&Cond::less(&lane, &Expr::from(1)), |b| {
                write(b, &Tensor::new(own.engine().clone(), ONE), std::slice::from_ref(&natural))
            })
        })
    })
}

/// The two numbers of a total.
fn pair(b: &mut Builder, total: &Tensor<Rmem>) -> Result<[Scalar; 2], Error> {
    let numbers = read(b, total)?;
    Ok([0, 1].map(|which: usize| numbers[which].clone()))
}

/// Adds up normalised rows of splits. `parts` are their maxima and their sums of exponentials, as [`weights`] expects them.
fn add_up(
    b: &mut Builder,
    scale: &Scalar,
    (rows, parts): (&[Tensor<Rmem>], &[[Scalar; 2]]),
    sums: &Tensor<Rmem>,
    total: &Tensor<Rmem>,
) -> Result<(), Error> {
    let (factors, whole) = weights(b, scale, parts)?;
    let mut held = Vec::new();
    for (factor, [_, sum]) in factors.iter().zip(parts) {
        held.push(b.hold(&(factor * sum))?);
    }
    transform(b, &rows.iter().collect::<Vec<_>>(), sums, |_, x| {
        let first = &x[0] * &held[0];
        Ok(x[1..].iter().zip(&held[1..]).fold(first, |sum, (x, factor)| x.mul_add(factor, &sum)))
    })?;
    write(b, total, &whole)
}
