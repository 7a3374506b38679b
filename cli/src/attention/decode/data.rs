//! The tensors on the host, and the attention of packed sequences that computes the same.

use girih_kernels::Error;
use girih_kernels::attention::decode::DecodeProblem;
use girih_kernels::attention::{Check, Diagonal, Host, Mask, Order, Problem, check};
use girih_tensor::Element;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::gemm::random;

/// What decoding reads. Keys and values that no sequence has are NaN.
pub(super) struct Inputs<T, C> {
    pub(super) q: Vec<T>,
    pub(super) kv: [Vec<C>; 2],
    /// The pages of each sequence; entries that are not read name no page.
    pub(super) table: Vec<u32>,
    pub(super) scales: [Vec<f32>; 2],
    /// K and V times their scales, the keys of one sequence behind those of the other.
    packed: [Vec<f32>; 2],
}

impl<T: Element, C: Element> Inputs<T, C> {
    /// Random tensors, in pages in a random order.
    pub(super) fn random(p: &DecodeProblem, lengths: &[u32], seed: u64) -> Inputs<T, C> {
        let mut rng = StdRng::seed_from_u64(seed);
        let q = random(&mut rng, p.row_spans()[0]);
        let table = table(p, lengths, &mut rng);
        // Quarters, of which no bit of a product with an 8-bit float is lost.
        let quarters = |rng: &mut StdRng| {
            (0..p.scales_len()).map(|_| f32::from(rng.random_range(2u8..8)) / 4.0).collect()
        };
        let scales: [Vec<f32>; 2] = [quarters(&mut rng), quarters(&mut rng)];
        let mut kv = p.key_spans().map(|len| vec![C::from_f64(f64::NAN); len as usize]);
        let mut packed = [const { Vec::new() }; 2];
        for (which, (all, packed)) in kv.iter_mut().zip(&mut packed).enumerate() {
            for (batch, &length) in lengths.iter().enumerate() {
                for (key, head) in
                    (0..i64::from(length)).flat_map(|key| (0..p.heads()[1]).map(move |h| (key, h)))
                {
                    let (key, outer) = match p.pages() {
                        None => (key, batch as i64),
                        Some(pages) => {
                            let entry = batch as i64 * p.table_stride() + key / pages.size;
                            (key % pages.size, table[entry as usize].into())
                        }
                    };
                    let of_head = scales[which].get(head as usize).or(scales[which].first());
                    let scale = of_head.copied().unwrap_or(1.0);
                    let at = p.key_at(which == 1, [key, head, outer]) as usize;
                    for value in &mut all[at..at + p.head_dim() as usize] {
                        *value = C::from_f64(rng.random_range(-1.0..1.0));
                        packed.push(value.to_f64() as f32 * scale);
                    }
                }
            }
        }
        Inputs { q, kv, table, scales, packed }
    }

    /// Compares O and the logarithms, (batch, head, query), with attention in f64.
    pub(super) fn check(
        &self,
        p: &DecodeProblem,
        same: &Problem,
        o: &[T],
        lse: &[f32],
    ) -> Result<Check, Error> {
        let floats = |all: &[T]| all.iter().map(|x| x.to_f64() as f32).collect::<Vec<_>>();
        let (q, o, [k, v]) = (floats(&self.q), floats(o), &self.packed);
        // Of packed sequences the head comes before the sequence.
        let ([batches, queries], [heads, _]) = (p.sequences(), p.heads());
        let place = |row: i64, head: i64| ((row / queries * heads + head) * queries + row % queries) as usize;
        let rows = |head| (0..batches * queries).map(move |row| place(row, head));
        let lse: Vec<f32> = (0..heads).flat_map(rows).map(|at| lse[at]).collect();
        check(same, &Host { q: &q, k, v, bias: &[] }, &o, &lse, None)
    }
}

/// Attention of packed sequences, whose keys follow each other without pages: what the decoding `p` of these lengths computes.
pub(super) fn same(
    p: &DecodeProblem,
    lengths: &[u32],
    left: Option<i64>,
    softcap: Option<f32>,
) -> Result<Problem, Error> {
    let ([batches, queries], [heads, kv_heads]) = (p.sequences(), p.heads());
    let keys = lengths.iter().copied().map(i64::from).sum();
    let problem = Problem::new(p.dtype(), Order::Bshd, [1, heads, batches * queries, keys, p.head_dim()])?
        .with_kv_heads(kv_heads)?
        .with_mask(Mask::window(left, Some(0), Diagonal::BottomRight))?
        .with_scale(p.scale())?
        .with_lse(p.has_lse());
    let problem = softcap.map_or(Ok(problem.clone()), |cap| problem.with_softcap(cap))?;
    let of_queries: Vec<u32> = (0..=batches).map(|batch| (batch * queries) as u32).collect();
    let ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    problem.packed(&of_queries, &[0].into_iter().chain(ends).collect::<Vec<u32>>())
}

/// Pages in a random order.
fn table(p: &DecodeProblem, lengths: &[u32], rng: &mut StdRng) -> Vec<u32> {
    let Some(pages) = p.pages() else { return Vec::new() };
    let mut free: Vec<u32> = (0..pages.count as u32).collect();
    let mut table = vec![u32::MAX; p.table_entries() as usize];
    for (entries, &length) in table.chunks_mut(p.table_stride() as usize).zip(lengths) {
        let own = (i64::from(length) + pages.size - 1) / pages.size;
        for entry in &mut entries[..own as usize] {
            *entry = free.swap_remove(rng.random_range(0..free.len()));
        }
    }
    table
}
