//! The tensors of `girih attention decode` on the host, and an equal problem of packed sequences for the check.

use girih_device::sizes::{rounded, size, word};
use girih_kernels::Error;
use girih_kernels::attention::decode::DecodeProblem;
use girih_kernels::attention::{Check, Problem, check};
use girih_tensor::Element;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::attention::options::Extras;
use crate::gemm::random;

/// The inputs of decoding. Keys and values beyond a sequence are NaN.
pub(crate) struct Inputs<T, C> {
    pub(crate) q: Vec<T>,
    pub(crate) kv: [Vec<C>; 2],
    /// The pages of each sequence; entries that are not read name no page.
    pub(crate) table: Vec<u32>,
    pub(crate) scales: [Vec<f32>; 2],
    pub(crate) extras: Extras,
    /// K and V times their scales, the keys of one sequence after those of the other.
    packed: [Vec<f32>; 2],
}

impl<T: Element, C: Element> Inputs<T, C> {
    /// Random tensors, in pages in a random order.
    pub(crate) fn random(p: &DecodeProblem, lengths: &[u32], seed: u64) -> Inputs<T, C> {
        let mut rng = StdRng::seed_from_u64(seed);
        let q = random(&mut rng, p.row_spans()[0]);
        let table = table(p, lengths, &mut rng);
        // Quarters, of which no bit of a product with an 8-bit float is lost.
        let quarters = |rng: &mut StdRng| {
            (0..p.scales_len()).map(|_| f32::from(rng.random_range(2u8..8)) / 4.0).collect()
        };
        let scales: [Vec<f32>; 2] = [quarters(&mut rng), quarters(&mut rng)];
        let mut kv = p.key_spans().map(|len| vec![C::from_f64(f64::NAN); size(len)]);
        for (which, all) in kv.iter_mut().enumerate() {
            for (at, _) in rows(p, lengths, &table, which == 1) {
                for value in &mut all[at..at + size(p.head_dim())] {
                    *value = C::from_f64(rng.random_range(-1.0..1.0));
                }
            }
        }
        let extras = Extras::random::<T>(p.attention(), &mut rng);
        Inputs { extras, ..Inputs::new(p, lengths, q, kv, table, scales) }
    }

    /// These tensors.
    pub(crate) fn new(
        p: &DecodeProblem,
        lengths: &[u32],
        q: Vec<T>,
        kv: [Vec<C>; 2],
        table: Vec<u32>,
        scales: [Vec<f32>; 2],
    ) -> Inputs<T, C> {
        let packed = [0, 1].map(|which| {
            let (all, scales): (&[C], &[f32]) = (&kv[which], &scales[which]);
            let row = |(at, head): (usize, usize)| {
                let scale = scales.get(head).or(scales.first()).copied().unwrap_or(1.0);
                all[at..at + size(p.head_dim())].iter().map(move |value| rounded(value.to_f64()) * scale)
            };
            rows(p, lengths, &table, which == 1).flat_map(row).collect()
        });
        Inputs { q, kv, table, scales, extras: Extras::default(), packed }
    }

    /// Compares O and the logarithms, (batch, head, query), with attention in f64.
    pub(crate) fn check(
        &self,
        p: &DecodeProblem,
        same: &Problem,
        o: &[T],
        lse: &[f32],
    ) -> Result<Check, Error> {
        let floats = |all: &[T]| all.iter().map(|x| rounded(x.to_f64())).collect::<Vec<_>>();
        let (q, o, [k, v]) = (floats(&self.q), floats(o), &self.packed);
        // Of packed sequences the head comes before the sequence.
        let ([batches, queries], [heads, _]) = (p.sequences(), p.heads());
        let place = |row: i64, head: i64| size((row / queries * heads + head) * queries + row % queries);
        let rows = |head| (0..batches * queries).map(move |row| place(row, head));
        let lse: Vec<f32> = match p.attention().lse() {
            true => (0..heads).flat_map(rows).map(|at| lse[at]).collect(),
            false => Vec::new(),
        };
        check(same, &self.extras.host([&q, k, v]), &o, &lse, None)
    }
}

/// Where the rows of K or of V begin, and their heads: the keys of one sequence after those of the other.
fn rows(
    p: &DecodeProblem,
    lengths: &[u32],
    table: &[u32],
    of_values: bool,
) -> impl Iterator<Item = (usize, usize)> {
    let heads = p.heads()[1];
    let keys =
        (0..).zip(lengths).flat_map(|(batch, &length)| (0..i64::from(length)).map(move |key| (batch, key)));
    keys.flat_map(move |(batch, key)| {
        let (key, outer) = match p.pages() {
            None => (key, batch),
            Some(pages) => {
                let entry = batch * p.table_stride() + key / pages.size;
                (key % pages.size, table[size(entry)].into())
            }
        };
        (0..heads).map(move |head| (size(p.key_at(of_values, [key, head, outer])), size(head)))
    })
}

/// Pages in a random order.
fn table(p: &DecodeProblem, lengths: &[u32], rng: &mut StdRng) -> Vec<u32> {
    let Some(pages) = p.pages() else { return Vec::new() };
    let mut free: Vec<u32> = (0..word(pages.count)).collect();
    let mut table = vec![u32::MAX; size(p.table_entries())];
    for (entries, &length) in table.chunks_mut(size(p.table_stride())).zip(lengths) {
        let own = (i64::from(length) + pages.size - 1) / pages.size;
        for entry in &mut entries[..size(own)] {
            *entry = free.swap_remove(rng.random_range(0..free.len()));
        }
    }
    table
}
