//! Gathered tiles: the source is read at indices along one mode.

use std::collections::HashMap;

use girih_layout::{Int, Lay};
use girih_tensor::{DType, Engine as _, Slice, Tensor};

use super::At;
use super::config::CopyConfig;
use super::interface::{Array, Indices, Interface};
use crate::algorithm::{self, CopyWith, Predicates, read};
use crate::atom::AUTO_VECTORIZING_COPY;
use crate::builder::{Builder, Cond};
use crate::engine::element_bytes;
use crate::sizes::{ONE, static_size};
use crate::{Error, Expr, Gmem, Rmem, Scalar};

/// A position along the gathered mode of the source.
#[derive(Clone)]
struct Row {
    /// The position, clamped to the source.
    at: Expr,
    /// Whether the index is inside the source.
    is_inside: Cond,
}

/// Copies the thread's vectors of a tile. All indices are read before the first element is, and all elements before the first is written.
pub(super) fn copy(
    b: &mut Builder,
    config: &CopyConfig,
    interface: &Interface,
    at: &At,
    (tv, thread): (&Lay, &Expr),
) -> Result<(), Error> {
    let (Some(gather), Some(indices)) = (&config.gather, &interface.indices) else { return Ok(()) };
    let element = element_bytes("dtype", config.dtype)?;
    let targets = vectors(config, &interface.target(config, at)?.tv_partition(tv, thread)?)?;
    // The position of the gathered mode among the target's modes.
    let mut tiled = config.dst.order.iter().filter(|&&mode| config.modes[mode].tile > 1);
    let place = tiled.position(|&mode| mode == gather.mode);
    let (mut known, mut rows) = (HashMap::new(), Vec::new());
    for target in &targets {
        let own = place.and_then(|place| Some(target.engine().coordinate()?.0[place].clone()));
        let own = own.unwrap_or_else(|| at[gather.mode].clone());
        if !known.contains_key(&own) {
            known.insert(own.clone(), row(b, indices, &own)?);
        }
        rows.push(known[&own].clone());
    }
    let mut loaded = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let mut strides = interface.src.strides.clone();
        let along = std::mem::replace(&mut strides[gather.mode], Int::ZERO);
        let pointer = &interface.src.pointer + &(&(&row.at * &Expr::from_int(&along)) * element);
        let array = Array { pointer, strides, ..interface.src.clone() };
        let source = interface.tile(config, &config.src, &array, at)?.tv_partition(tv, thread)?; // (Val)
        let source = vectors(config, &source)?.swap_remove(i); // (Vec)
        let values = Rmem::tensor(b, config.dtype, Lay::left(source.layout().shape())?)?;
        let with = CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill();
        algorithm::copy_if(b, with, &Predicates::from(row.is_inside.clone()), &source, &values)?;
        loaded.push(values);
    }
    for ((target, row), values) in targets.iter().zip(&rows).zip(&loaded) {
        let inside = Predicates::from(row.is_inside.clone());
        algorithm::copy_if(b, AUTO_VECTORIZING_COPY, &inside, values, target)?;
    }
    Ok(())
}

/// The vectors of a thread's part.
fn vectors(config: &CopyConfig, part: &Tensor<Gmem>) -> Result<Vec<Tensor<Gmem>>, Error> {
    let vector = config.dst.vector;
    let count = static_size("gather", part.layout())? / vector;
    let split = part.composition(&Lay::strided([vector, count], [1, vector])?)?; // (Vec,Count)
    (0..count).map(|i| Ok(split.slice((Slice::All, Expr::from(i)))?)).collect()
}

fn row(b: &mut Builder, indices: &Indices, place: &Expr) -> Result<Row, Error> {
    // The place may be after the last one, as other places of a tile may be.
    let list = indices.list.engine().advance(&[(place.clone(), indices.list.layout().flat_leaf(0).1)])?;
    let index = read(b, &Tensor::new(list, ONE))?;
    let index = b.hold(&index[0])?;
    let rows = Scalar::index(&indices.rows, index.dtype());
    let is_inside = index.less(&rows);
    let at = b.index_of(&index.min(rows - 1).to(DType::U32))?;
    Ok(Row { at, is_inside })
}
