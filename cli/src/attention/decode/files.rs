//! The files of Q, of a cache, and of its table of pages.

use std::path::Path;

use girih_device::Pod;
use girih_device::sizes::size;
use girih_kernels::attention::Order;
use girih_kernels::attention::decode::{CacheOrder, DecodeProblem};
use girih_notation::Array;
use girih_tensor::{DType, Element};

use super::data::Inputs;
use crate::Error;
use crate::attention::data::{self, elements, integers, open, refuse};

/// Q, K and V, and the pages of each sequence of a cache in pages.
pub(super) struct Files {
    tensors: [(String, Array); 3],
    table: Option<(String, Array)>,
}

/// Four extents of a file.
fn extents((name, array): &(String, Array), axes: &str) -> Result<[i64; 4], Error> {
    let shape: Vec<i64> = array.shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
    <[i64; 4]>::try_from(shape).or_else(|_| refuse(name, format!("{:?}", array.shape), axes))
}

impl Files {
    pub(super) fn open(tensors: [&Path; 3], table: Option<&Path>) -> Result<Files, Error> {
        let [q, k, v] = tensors.map(open);
        Ok(Files { tensors: [q?, k?, v?], table: table.map(open).transpose()? })
    }

    /// The files of Q, K and V, for the report.
    pub(super) fn origin(&self) -> String {
        self.tensors.each_ref().map(|(name, _)| name.as_str()).join(", ")
    }

    /// The decoding that the files describe, with a cache of this dtype whose axes have this order.
    pub(super) fn problem(
        &self,
        order: CacheOrder,
        cache: Option<DType>,
    ) -> Result<DecodeProblem, Box<dyn std::error::Error>> {
        let [q, k, v] = &self.tensors;
        let [batches, queries, heads, dim] = extents(q, "(sequence, query, head, dim)")?;
        let axes = match order {
            CacheOrder::KeysFirst => "(sequence or page, key, head, dim), as --order bshd says",
            CacheOrder::HeadsFirst => "(sequence or page, head, key, dim), as --order bhsd says",
        };
        let of_k = extents(k, axes)?;
        let [outer, keys, groups, k_dim] = match order {
            CacheOrder::KeysFirst => of_k,
            CacheOrder::HeadsFirst => [of_k[0], of_k[2], of_k[1], of_k[3]],
        };
        if extents(v, axes)? != of_k || k_dim != dim {
            let found = format!("{:?}, {}: {:?}", k.1.shape, v.0, v.1.shape);
            refuse(&k.0, found, &format!("equal extents, with the last axis of {}, {:?}", q.0, q.1.shape))?;
        }
        let dtype = data::dtype(&q.0, &q.1)?;
        let cache = cache.unwrap_or(dtype);
        for (name, array) in [k, v] {
            let is_cache = match cache {
                _ if cache.is_narrow_float() => &*array.element.to_string() == cache.format().npy,
                _ => data::dtype(name, array)? == cache,
            };
            if !is_cache {
                let accepted = format!("the type of Q, {}, or with --cache e4m3 or e5m2 '|u1'", q.1.element);
                refuse(name, array.element.to_string(), &accepted)?;
            }
        }
        let new = |capacity| {
            DecodeProblem::new(dtype, [batches, queries], [heads, groups], dim, capacity)?
                .with_cache(cache, None)
        };
        match &self.table {
            None if outer != batches => refuse(
                &k.0,
                format!("{outer} sequences"),
                &format!("{batches}, as {} has, or the file of the pages of each sequence, --table", q.0),
            )?,
            None => Ok(new(keys)?.contiguous(order)?),
            Some((name, table)) => match table.shape[..] {
                [of_batches, pages] if of_batches as i64 == batches => {
                    let capacity = i64::try_from(pages).unwrap_or(i64::MAX).saturating_mul(keys);
                    Ok(new(capacity)?.paged(keys, outer, order)?)
                }
                _ => refuse(
                    name,
                    format!("{:?}", table.shape),
                    &format!("the pages of {batches} sequences, (sequence, page)"),
                )?,
            },
        }
    }

    /// The elements. Pages of keys that a sequence has are pages of the cache.
    pub(super) fn inputs<T: Element + Pod, C: Element + Pod>(
        self,
        p: &DecodeProblem,
        lengths: &[u32],
    ) -> Result<Inputs<T, C>, Error> {
        let table = self.table.as_ref().map(integers).transpose()?.unwrap_or_default();
        if let (Some(pages), Some((name, _))) = (p.pages(), &self.table) {
            for (sequence, (&length, own)) in
                lengths.iter().zip(table.chunks(size(p.table_stride()))).enumerate()
            {
                let used = &own[..size(i64::from(length) + pages.size - 1) / size(pages.size)];
                if let Some(page) = used.iter().find(|&&page| i64::from(page) >= pages.count) {
                    let found = format!("page {page} of sequence {sequence}");
                    refuse(name, found, &format!("pages from 0 to {}", pages.count - 1))?;
                }
            }
        }
        let [q, k, v] = self.tensors.map(|(_, array)| array);
        let kv = [elements(&k), elements(&v)];
        Ok(Inputs::new(p, lengths, elements(&q), kv, table, [const { Vec::new() }; 2]))
    }
}

/// The order of a cache's axes.
pub(super) fn cache_order(order: Order) -> CacheOrder {
    match order {
        Order::Bshd => CacheOrder::KeysFirst,
        Order::Bhsd => CacheOrder::HeadsFirst,
    }
}
