//! Decoding problems with ragged lengths, pages in any order and poisoned caches, compared with attention in f64.

use girih_device::{Buffer, Device, Pod};
use girih_kernels::attention::decode::{CacheOrder, Decode, DecodeArgs, DecodeProblem, ScalesOf, choose};
use girih_kernels::attention::{Diagonal, Host, Mask, Order, Problem, row};
use girih_kernels::gemm::Given;
use girih_tensor::{DType, Element};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::Failure;
use super::random::Unjudged;

/// The dtypes of Q and of K and V that are decoded.
pub(crate) const DTYPES: [[DType; 2]; 6] = [
    [DType::Bf16, DType::Bf16],
    [DType::F16, DType::F16],
    [DType::Bf16, DType::E4m3],
    [DType::F16, DType::E4m3],
    [DType::Bf16, DType::E5m2],
    [DType::F16, DType::E5m2],
];

/// A problem, the keys of each sequence, and the parts into which they are cut, if that is not to follow from the problem.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) problem: DecodeProblem,
    pub(crate) lengths: Vec<u32>,
    pub(crate) parts: Option<i64>,
    /// What Q is multiplied by.
    pub(crate) loud: f64,
    /// Q, K and the scales are such that f32 has the scores exactly: small integers, in Q times this power of two, and powers of two.
    pub(crate) exact: Option<i32>,
}

impl Case {
    /// A random case of up to `most` keys.
    pub(crate) fn random(rng: &mut StdRng, most: i64) -> Result<Case, Failure> {
        let [dtype, cache] = DTYPES[rng.random_range(0..DTYPES.len())];
        let group = [1, 2, 3, 4, 5, 6, 8, 8, 12, 16, 17, 40][rng.random_range(0..12)];
        let groups = rng.random_range(1..=if group > 8 { 2 } else { 4 });
        let queries = if rng.random_bool(0.5) { 1 } else { rng.random_range(1..=16) };
        let batches = rng.random_range(1..=4);
        let head_dim = [64, 80, 96, 112, 128, 128, 192, 256, 16, 240][rng.random_range(0..10)];
        let capacity = rng.random_range(1..=most);
        let problem =
            DecodeProblem::new(dtype, [batches, queries], [group * groups, groups], head_dim, capacity)?;
        let scales = [None, Some(ScalesOf::Tensor), Some(ScalesOf::Head)][rng.random_range(0..3)];
        let mut problem = problem.with_cache(cache, scales)?;
        let order = [CacheOrder::KeysFirst, CacheOrder::HeadsFirst][rng.random_range(0..2)];
        problem = if rng.random_bool(0.5) {
            let size = 16 << rng.random_range(0..5);
            let needed = batches * ((capacity + size - 1) / size);
            problem.paged(size, needed + rng.random_range(0..5), order)?
        } else {
            problem.contiguous(order)?
        };
        if rng.random_bool(0.25) {
            let cap = rng.random_range(0.5..30.0);
            problem = problem.map(|attention| attention.with_softcap(cap))?;
        }
        if rng.random_bool(0.25) {
            let left = rng.random_range(0..most);
            problem = problem.map(|attention| attention.with_mask(window(left)))?;
        }
        if rng.random_bool(0.5) {
            problem = problem.map(|attention| Ok(attention.with_lse(true)))?;
        }
        if rng.random_bool(0.3) {
            problem = problem.map(|attention| Ok(attention.with_sinks(true)))?;
        }
        let length = |rng: &mut StdRng| match rng.random_range(0..6) {
            0 => 0,
            1 => 1,
            2 => capacity as u32,
            _ => rng.random_range(0..=capacity as u32),
        };
        let lengths = (0..batches).map(|_| length(rng)).collect();
        let parts = [None, Some(1), Some(rng.random_range(2..9))][rng.random_range(0..3)];
        let loud = [1.0, 1.0, 10.0, 100.0][rng.random_range(0..4)];
        Ok(Case { problem, lengths, parts, loud, exact: None })
    }

    /// A random case whose scores are exact and may be as large as 1e30.
    pub(crate) fn large(rng: &mut StdRng, most: i64) -> Result<Case, Failure> {
        let mut case = Case::random(rng, most)?;
        let exponent = [0, rng.random_range(0..12), rng.random_range(0..97)][rng.random_range(0..3)];
        if case.problem.dtype() != DType::F16 {
            return Ok(Case { exact: Some(exponent), ..case });
        }
        let of_q = exponent.min(13);
        let scale = 2f32.powi((exponent - of_q).min(57)) * 0.125;
        case.problem = case.problem.map(|attention| attention.with_scale(scale))?;
        Ok(Case { exact: Some(of_q), ..case })
    }

    /// Runs the case on poisoned memory, and compares all rows.
    pub(crate) fn verify(&self, device: &Device, seed: u64) -> Result<(), Failure> {
        use DType as D;
        use float8::{F8E4M3 as E4m3, F8E5M2 as E5m2};
        use half::{bf16, f16};
        match (self.problem.dtype(), self.problem.cache()) {
            (D::Bf16, D::E4m3) => self.verify_as::<bf16, E4m3>(device, seed),
            (D::Bf16, D::E5m2) => self.verify_as::<bf16, E5m2>(device, seed),
            (D::Bf16, _) => self.verify_as::<bf16, bf16>(device, seed),
            (_, D::E4m3) => self.verify_as::<f16, E4m3>(device, seed),
            (_, D::E5m2) => self.verify_as::<f16, E5m2>(device, seed),
            _ => self.verify_as::<f16, f16>(device, seed),
        }
    }

    fn verify_as<T: Element + Pod, C: Element + Pod>(
        &self,
        device: &Device,
        seed: u64,
    ) -> Result<(), Failure> {
        let tensors = Tensors::<T, C>::new(device, self, seed)?;
        let mut plan = choose(&self.problem, device.limits(), self.parts)?;
        if self.parts.is_some() {
            // Short sequences have several parts too.
            plan.least_tiles = 1 + (seed % 2) as i64;
        }
        let decode = Decode::planned(device, &self.problem, plan)?;
        // The second run finds what the first one has left in the workspace.
        for _ in 0..2 {
            tensors.o.fill_bytes(0xff)?;
            tensors.lse.fill_bytes(0xff)?;
            decode.run(&tensors.args(&tensors.given()))?;
            tensors.compare(self).map_err(|error| -> Failure {
                let text = format!("{self:?} by {:?}: {error}", decode.plan());
                if error.is::<Unjudged>() { Unjudged(text).into() } else { text.into() }
            })?;
        }
        Ok(())
    }
}

/// The tensors of a case on a device, and the host's copy of what is read.
pub(crate) struct Tensors<T: Pod, C: Pod> {
    problem: DecodeProblem,
    q: Buffer<T>,
    kv: [Buffer<C>; 2],
    pub(crate) lengths: Buffer<u32>,
    table: Buffer<u32>,
    scales: [Buffer<f32>; 2],
    o: Buffer<T>,
    lse: Buffer<f32>,
    sinks: Buffer<f32>,
    host_q: Vec<T>,
    host_kv: [Vec<C>; 2],
    host_table: Vec<u32>,
    host_scales: [Vec<f32>; 2],
    host_sinks: Vec<f32>,
}

impl<T: Element + Pod, C: Element + Pod> Tensors<T, C> {
    pub(crate) fn new(device: &Device, case: &Case, seed: u64) -> Result<Tensors<T, C>, Failure> {
        let (p, mut rng) = (case.problem.clone(), StdRng::seed_from_u64(seed));
        let ([batches, _], [_, groups]) = (p.sequences(), p.heads());
        let host_table = table(&p, &case.lengths, &mut rng);
        let uniform = |rng: &mut StdRng, scale: f64| rng.random_range(-1.0..1.0) * scale;
        let ([q_len, o_len], kv_len) = (p.row_spans(), p.key_spans());
        let integer = |rng: &mut StdRng, exponent| f64::from(rng.random_range(-3..4)) * 2f64.powi(exponent);
        let of_q = |rng: &mut StdRng| match case.exact {
            Some(exponent) => integer(rng, exponent),
            None => uniform(rng, case.loud),
        };
        let host_q: Vec<T> = (0..q_len).map(|_| T::from_f64(of_q(&mut rng))).collect();
        // All that no query sees is NaN: what no sequence has, and what lies before its window.
        let left = p.attention().mask().left();
        let first = |keys: i64| left.map_or(0, |left| (keys - p.sequences()[1] - left).max(0));
        let mut host_kv = kv_len.map(|len| vec![C::from_f64(f64::NAN); len as usize]);
        for (which, host) in host_kv.iter_mut().enumerate() {
            for batch in 0..batches {
                let keys = i64::from(case.lengths[batch as usize]);
                for key in first(keys)..keys {
                    for head in 0..groups {
                        let at = key_at(&p, &host_table, which == 1, [key, head, batch]);
                        for value in &mut host[at..at + p.head_dim() as usize] {
                            *value = C::from_f64(match case.exact {
                                Some(_) if which == 0 => integer(&mut rng, 0),
                                _ => uniform(&mut rng, 1.0),
                            });
                        }
                    }
                }
            }
        }
        let scale = |rng: &mut StdRng| match case.exact {
            Some(_) => 2f32.powi(rng.random_range(-2..2)),
            None => rng.random_range(0.25..2.0),
        };
        let scales_of = |rng: &mut StdRng| (0..p.scales_len()).map(|_| scale(rng)).collect();
        let host_scales: [Vec<f32>; 2] = [scales_of(&mut rng), scales_of(&mut rng)];
        // Of some heads there is no sink, and one takes all.
        let sink = |head: i64| match head % 4 {
            1 => f32::NEG_INFINITY,
            2 => 60.0,
            _ => rng.random_range(-3.0..3.0),
        };
        let host_sinks: Vec<f32> = (0..p.attention().sinks_len()).map(sink).collect();
        let at_least_one = |values: &[f32]| if values.is_empty() { vec![0.0] } else { values.to_vec() };
        let entries = if host_table.is_empty() { vec![0] } else { host_table.clone() };
        Ok(Tensors {
            q: device.upload(&host_q)?,
            kv: [device.upload(&host_kv[0])?, device.upload(&host_kv[1])?],
            lengths: device.upload(&case.lengths)?,
            table: device.upload(&entries)?,
            scales: [
                device.upload(&at_least_one(&host_scales[0]))?,
                device.upload(&at_least_one(&host_scales[1]))?,
            ],
            o: device.alloc(o_len as usize)?,
            lse: device.alloc(p.attention().lse_len() as usize)?,
            sinks: device.upload(&host_sinks)?,
            host_sinks,
            problem: p,
            host_q,
            host_kv,
            host_table,
            host_scales,
        })
    }

    /// What the problem has besides Q, K, V and O.
    pub(crate) fn given(&self) -> Vec<(&'static str, Given<'_>)> {
        let lse = self.problem.attention().lse().then(|| ("lse", Given::from(&self.lse)));
        let sinks = self.problem.attention().sinks().then(|| ("sinks", Given::from(&self.sinks)));
        lse.into_iter().chain(sinks).collect()
    }

    pub(crate) fn args<'a>(&'a self, given: &'a [(&str, Given<'a>)]) -> DecodeArgs<'a, T, C> {
        let is_paged = self.problem.pages().is_some();
        DecodeArgs {
            q: &self.q,
            kv: [&self.kv[0], &self.kv[1]],
            lengths: &self.lengths,
            table: is_paged.then_some(&self.table),
            scales: (self.problem.scales_len() > 0).then_some([&self.scales[0], &self.scales[1]]),
            o: &self.o,
            given,
        }
    }

    /// Compares O and the logarithms with attention in f64.
    pub(crate) fn compare(&self, case: &Case) -> Result<(), Failure> {
        let (p, o, lse) = (&self.problem, self.o.download()?, self.lse.download()?);
        let ([batches, queries], [heads, groups], dim) = (p.sequences(), p.heads(), p.head_dim());
        let scale = |which: usize, group: i64| {
            let scales = &self.host_scales[which];
            scales.get(group as usize).or(scales.first()).copied().unwrap_or(1.0)
        };
        let (mut norm, mut bounds) = (0.0, 0.0);
        for batch in 0..batches {
            let keys = i64::from(case.lengths[batch as usize]);
            let mut problem = Problem::new(p.dtype(), Order::Bshd, [1, heads, queries, keys, dim])?
                .with_kv_heads(groups)?
                .with_mask(Mask::window(p.attention().mask().left(), Some(0), Diagonal::BottomRight))?
                .with_scale(p.attention().scale())?
                .with_sinks(p.attention().sinks());
            if let Some(cap) = p.attention().softcap() {
                problem = problem.with_softcap(cap)?;
            }
            let mut q = Vec::new();
            for (query, head) in (0..queries).flat_map(|query| (0..heads).map(move |head| (query, head))) {
                let at = p.row_at(false, [query, head, batch]) as usize;
                q.extend(self.host_q[at..at + dim as usize].iter().map(|x| x.to_f64() as f32));
            }
            let dense = |which: usize| -> Vec<f32> {
                let mut all = Vec::new();
                for (key, group) in (0..keys).flat_map(|key| (0..groups).map(move |group| (key, group))) {
                    let at = key_at(p, &self.host_table, which == 1, [key, group, batch]);
                    let row = &self.host_kv[which][at..at + dim as usize];
                    all.extend(row.iter().map(|x| x.to_f64() as f32 * scale(which, group)));
                }
                all
            };
            let (k, v) = (dense(0), dense(1));
            let host = Host { q: &q, k: &k, v: &v, bias: &[], sinks: &self.host_sinks };
            let sequence = problem.sequences().next().ok_or("no sequence")?;
            for (head, query) in (0..heads).flat_map(|head| (0..queries).map(move |query| (head, query))) {
                let wanted = row(&problem, &host, &sequence, head, query)?;
                let at = p.row_at(true, [query, head, batch]) as usize;
                let place = format!("batch {batch}, head {head}, query {query}");
                for (column, found) in o[at..at + dim as usize].iter().enumerate() {
                    let (found, value, bound) =
                        (found.to_f64(), wanted.output[column], wanted.bounds[column]);
                    (norm, bounds) = (norm + value * value, bounds + bound * bound);
                    // Powers below the least f32 are 0.
                    let near = (found - value).abs() <= bound + f64::from(f32::MIN_POSITIVE);
                    if !near {
                        return Err(
                            format!("{place}, column {column}: {found}, not {value} within {bound}").into()
                        );
                    }
                }
                if p.attention().lse() {
                    let found = f64::from(lse[((batch * heads + head) * queries + query) as usize]);
                    let near = found == wanted.lse || (found - wanted.lse).abs() <= wanted.lse_bound;
                    if !near {
                        return Err(format!("{place}: logarithm {found}, not {}", wanted.lse).into());
                    }
                }
            }
        }
        // Of f16 bounds are not less than half the least number.
        if bounds.sqrt() > 0.1 * norm.sqrt() + 1e-4 {
            let [bounds, norm] = [bounds.sqrt(), norm.sqrt()];
            return Err(Unjudged(format!("bounds of norm {bounds} judge nothing of norm {norm}")).into());
        }
        Ok(())
    }
}

/// A query sees its own key and `left` keys before it.
pub(crate) fn window(left: i64) -> Mask {
    Mask::window(Some(left), Some(0), Diagonal::BottomRight)
}

/// Pages in a random order; entries that are not read name no page.
fn table(p: &DecodeProblem, lengths: &[u32], rng: &mut StdRng) -> Vec<u32> {
    let Some(pages) = p.pages() else { return Vec::new() };
    let mut free: Vec<u32> = (0..pages.count as u32).collect();
    let mut table = vec![u32::MAX; p.table_entries() as usize];
    for (entries, length) in table.chunks_mut(p.table_stride() as usize).zip(lengths) {
        let own = (i64::from(*length) + pages.size - 1) / pages.size;
        for entry in &mut entries[..own as usize] {
            *entry = free.swap_remove(rng.random_range(0..free.len()));
        }
    }
    table
}

/// Where a key of a head of a batch begins in K or V.
fn key_at(p: &DecodeProblem, table: &[u32], of_values: bool, [key, head, batch]: [i64; 3]) -> usize {
    let at = match p.pages() {
        None => [key, head, batch],
        Some(pages) => {
            let entry = batch * p.table_stride() + key / pages.size;
            [key % pages.size, head, i64::from(table[entry as usize])]
        }
    };
    p.key_at(of_values, at) as usize
}
