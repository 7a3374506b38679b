//! Attention by a ring of warpgroups, on the simulator with every check on.

use girih_codegen::attention::{
    AttentionConfig, AttentionKernel, AttentionParam, Features, Form, QueryTile, Ring, Tensor4, generate,
};
use girih_ptx::Module;
use girih_sim::Memory;
use girih_tensor::DType;

use crate::mutants::without;
use crate::simulator::{addresses, blocks, checked, download, ones, sizes, upload};

/// Two warpgroups, small tiles of keys.
const SMALL: AttentionConfig = AttentionConfig {
    name: "attention",
    form: Form::Ring(Ring { warpgroups: 2, stages: 2, buffers: 2, registers: [24, 240] }),
    dtype: DType::Bf16,
    head_dim: 64,
    tile: [128, 32],
    features: Features { left: false, right: false, packed: false, softcap: false, bias: None, lse: true },
};

fn ring(config: AttentionConfig, change: impl FnOnce(Ring) -> Ring) -> AttentionConfig {
    let Form::Ring(ring) = config.form;
    let ring = change(ring);
    AttentionConfig { form: Form::Ring(ring), tile: [64 * ring.warpgroups, config.tile[1]], ..config }
}

/// What is computed: sequences of so many queries and keys, which follow each other in rows if the kernel takes packed ones.
#[derive(Clone, Debug)]
struct Problem {
    sequences: Vec<[u32; 2]>,
    /// Heads of queries, and of keys.
    heads: [u32; 2],
    columns: usize,
    /// The last query and the last key lie on the diagonal.
    to_the_end: bool,
    window: [u32; 2],
    scale: f32,
    cap: f32,
    /// A sequence whose keys and values are not numbers.
    poisoned: Option<usize>,
}

impl Default for Problem {
    fn default() -> Problem {
        Problem {
            sequences: vec![[200, 150]],
            heads: [2, 1],
            columns: 64,
            to_the_end: false,
            window: [0; 2],
            scale: 0.125,
            cap: 2.0,
            poisoned: None,
        }
    }
}

/// The columns of a row of V that the reference computes.
const CHECKED: [usize; 3] = [0, 13, 31];

/// A number with few digits, which bf16 represents.
fn number(seed: u64, at: [usize; 5]) -> f64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for i in at {
        x = (x ^ i as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 29;
    }
    (x % 33) as f64 / 8.0 - 2.0
}

fn to_bytes(dtype: DType, value: f64) -> [u8; 2] {
    let bits = (value as f32).to_bits();
    match dtype {
        DType::Bf16 => ((bits >> 16) as u16).to_le_bytes(),
        // The numbers of the tests are normal in f16, or 0.
        _ if value == 0.0 => [0; 2],
        _ => {
            let exponent = ((bits >> 23 & 0xff) as i32 - 127 + 15) as u32;
            ((bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff) as u16).to_le_bytes()
        }
    }
}

fn from_bytes(dtype: DType, bytes: &[u8]) -> f64 {
    let bits = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    if dtype == DType::Bf16 {
        return f64::from(f32::from_bits(bits << 16));
    }
    let (sign, exponent, digits) = (bits >> 15, bits >> 10 & 31, bits & 0x3ff);
    let size = match exponent {
        0 => f64::from(digits) * 2f64.powi(-24),
        31 => f64::NAN,
        _ => f64::from(digits | 0x400) * 2f64.powi(exponent as i32 - 25),
    };
    if sign == 1 { -size } else { size }
}

impl Problem {
    fn packed(&self, config: &AttentionConfig) -> bool {
        config.features.packed
    }

    /// The rows of Q and of K in memory, and where the sequences begin.
    fn rows(&self, config: &AttentionConfig, which: usize) -> (usize, Vec<usize>) {
        let lengths = self.sequences.iter().map(|sequence| sequence[which] as usize);
        if !self.packed(config) {
            return (lengths.clone().max().unwrap(), vec![0; self.sequences.len()]);
        }
        let mut begins = vec![0];
        lengths.for_each(|length| begins.push(begins.last().unwrap() + length));
        (begins.pop().unwrap(), begins)
    }

    fn batches(&self, config: &AttentionConfig) -> usize {
        if self.packed(config) { 1 } else { self.sequences.len() }
    }

    /// The tiles of all sequences and heads, dealt to blocks.
    fn table(&self, config: &AttentionConfig, grid: usize) -> Vec<QueryTile> {
        let ((_, queries), (_, keys)) = (self.rows(config, 0), self.rows(config, 1));
        let mut tiles = Vec::new();
        for (s, &[q, k]) in self.sequences.iter().enumerate() {
            for head in 0..self.heads[0] {
                for row in (0..q).step_by(config.tile[0] as usize) {
                    tiles.push(QueryTile {
                        row,
                        queries: q,
                        keys: k,
                        diagonal: if self.to_the_end { k as i32 - q as i32 } else { 0 },
                        first_query: queries[s] as u32,
                        first_key: keys[s] as u32,
                        head: head as u16,
                        group: (head / (self.heads[0] / self.heads[1])) as u16,
                        batch: if self.packed(config) { 0 } else { s as u32 },
                    });
                }
            }
        }
        while tiles.len() % grid != 0 {
            tiles.push(QueryTile::END);
        }
        tiles
    }

    fn sees(&self, config: &AttentionConfig, [q, k]: [u32; 2], query: usize, key: usize) -> bool {
        let diagonal = if self.to_the_end { i64::from(k) - i64::from(q) } else { 0 };
        let (at, key) = (query as i64 + diagonal, key as i64);
        let [left, right] = self.window.map(i64::from);
        !(config.features.left && key < at - left || config.features.right && key > at + right)
    }
}

/// Runs the module on a problem with random numbers, and compares with f64.
fn run(
    config: &AttentionConfig,
    kernel: &AttentionKernel,
    module: &Module,
    problem: &Problem,
    grid: usize,
    seed: u64,
) -> Result<(), String> {
    let (memory, d, dtype) = (Memory::new(), problem.columns, config.dtype);
    let batches = problem.batches(config);
    let ((of_q, first_q), (of_k, first_k)) = (problem.rows(config, 0), problem.rows(config, 1));
    let heads = problem.heads.map(|heads| heads as usize);
    // Q and O are [batch, head, row, column], K and V [batch, row, head, column].
    let poison = |s: usize| problem.poisoned == Some(s);
    let sequence_of = |batch: usize, row: usize, begins: &[usize]| {
        if problem.packed(config) { begins.iter().rposition(|&begin| begin <= row).unwrap() } else { batch }
    };
    let mut bytes = [const { Vec::new() }; 3];
    for batch in 0..batches {
        for head in 0..heads[0] {
            for row in 0..of_q {
                (0..d).for_each(|c| bytes[0].extend(to_bytes(dtype, number(seed, [0, batch, head, row, c]))));
            }
        }
        for row in 0..of_k {
            let poisoned = poison(sequence_of(batch, row, &first_k));
            for head in 0..heads[1] {
                for (which, bytes) in bytes.iter_mut().enumerate().skip(1) {
                    for c in 0..d {
                        let value = number(seed, [which, batch, head, row, c]);
                        bytes.extend(if poisoned { [0xff; 2] } else { to_bytes(dtype, value) });
                    }
                }
            }
        }
    }
    // Tensor maps have a row where there is none.
    bytes.iter_mut().for_each(|bytes| bytes.extend(vec![0; 2 * d]));
    let places = [0, 1, 2].map(|i: usize| upload(&memory, &bytes[i]));
    let out = batches * heads[0] * of_q;
    let (o, lse) = (ones(&memory, 2 * out * d), ones(&memory, 4 * out));
    let biased: Vec<u8> = (0..of_q * of_k)
        .flat_map(|at| to_bytes(dtype, number(seed, [9, 0, 0, at / of_k, at % of_k])))
        .collect();
    let bias = upload(&memory, &biased);
    let words: Vec<u8> =
        problem.table(config, grid).iter().flat_map(QueryTile::words).flat_map(u32::to_le_bytes).collect();
    let table = upload(&memory, &words);
    let strides = |tensor: Tensor4| match tensor {
        Tensor4::Q | Tensor4::O => [d, of_q * d, heads[0] * of_q * d],
        Tensor4::K | Tensor4::V => [heads[1] * d, d, heads[1] * of_k * d],
    };
    let place = |tensor: Tensor4| if tensor == Tensor4::O { o } else { places[tensor as usize] };
    let float = |value: f32| vec![value.to_le_bytes().to_vec()];
    let log2e = std::f32::consts::LOG2_E;
    let mut args = Vec::new();
    for param in &kernel.params {
        args.extend(match *param {
            AttentionParam::Map(tensor) => {
                let of_keys = matches!(tensor, Tensor4::K | Tensor4::V);
                let (rows, heads) = if of_keys { (of_k, heads[1]) } else { (of_q, heads[0]) };
                // Tensor maps have extents of 1 or more.
                let extents = [rows.max(1), d, heads, batches].map(|extent| extent as i64);
                let strides = strides(tensor).map(|stride| stride.max(d) as i64);
                let map = kernel.map(tensor, extents, strides).unwrap().unwrap();
                vec![map.at(place(tensor)).unwrap().to_bytes().to_vec()]
            }
            AttentionParam::Pointer(tensor) => addresses(&[place(tensor)]),
            AttentionParam::Stride(tensor, 0) => sizes(&[strides(tensor)[0] as i64]),
            AttentionParam::Stride(tensor, mode) => addresses(&[strides(tensor)[mode - 1] as u64]),
            AttentionParam::HeadDim => sizes(&[d as i64]),
            AttentionParam::Table => addresses(&[table]),
            AttentionParam::Entries => sizes(&[(words.len() / 32) as i64]),
            AttentionParam::Lse => addresses(&[lse]),
            AttentionParam::LseStride(2) => addresses(&[of_q as u64]),
            AttentionParam::LseStride(_) => addresses(&[(heads[0] * of_q) as u64]),
            AttentionParam::Bias => addresses(&[bias]),
            AttentionParam::BiasStride(0) => sizes(&[of_k as i64]),
            AttentionParam::BiasStride(_) => addresses(&[0]),
            AttentionParam::Scale if config.features.softcap => float(problem.cap * log2e),
            AttentionParam::Scale => float(problem.scale * log2e),
            AttentionParam::InnerScale => float(problem.scale / problem.cap),
            AttentionParam::BiasScale if config.features.softcap => float(1.0 / problem.cap),
            AttentionParam::BiasScale => float(1.0 / problem.scale),
            AttentionParam::Left => sizes(&[problem.window[0].into()]),
            AttentionParam::Right => sizes(&[problem.window[1].into()]),
        });
    }
    let launch = blocks(grid as i64, config.form.threads().unwrap(), kernel.kernel.shared_bytes(), args);
    checked(module, &memory, &launch).map_err(|e| e.to_string())?;
    let (results, logarithms) = (download(&memory, o, 2 * out * d), download(&memory, lse, 4 * out));
    for (s, &[q, k]) in problem.sequences.iter().enumerate().filter(|&(s, _)| !poison(s)) {
        let batch = if problem.packed(config) { 0 } else { s };
        for head in 0..heads[0] {
            let group = head / (heads[0] / heads[1]);
            for query in 0..q as usize {
                let row = first_q[s] + query;
                let seen: Vec<usize> =
                    (0..k as usize).filter(|&key| problem.sees(config, [q, k], query, key)).collect();
                let score = |&key: &usize| {
                    let at = first_k[s] + key;
                    let dot: f64 = (0..d)
                        .map(|c| {
                            number(seed, [0, batch, head, row, c]) * number(seed, [1, batch, group, at, c])
                        })
                        .sum();
                    let (mut score, cap) = (dot * f64::from(problem.scale), f64::from(problem.cap));
                    if config.features.softcap {
                        score = cap * (score / cap).tanh();
                    }
                    let added = config.features.bias.map_or(0.0, |_| number(seed, [9, 0, 0, row, at]));
                    score + added
                };
                let scores: Vec<f64> = seen.iter().map(score).collect();
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
                let line = (batch * heads[0] + head) * of_q + row;
                let found = f64::from(f32::from_le_bytes(logarithms[4 * line..][..4].try_into().unwrap()));
                let wanted = if seen.is_empty() { f64::NEG_INFINITY } else { most + total.ln() };
                // The approximation of tanh has 11 bits.
                let slack = if config.features.softcap { 5e-3 } else { 1e-3 };
                let close = found == wanted || (found - wanted).abs() < slack;
                if !close {
                    return Err(format!(
                        "sequence {s}, head {head}, query {query}: logarithm {found}, not {wanted}"
                    ));
                }
                for c in CHECKED.into_iter().filter(|&c| c < d) {
                    let value = |(&key, score): (&usize, &f64)| {
                        (score - most).exp() * number(seed, [2, batch, group, first_k[s] + key, c])
                    };
                    let wanted = if seen.is_empty() {
                        0.0
                    } else {
                        seen.iter().zip(&scores).map(value).sum::<f64>() / total
                    };
                    let found = from_bytes(dtype, &results[2 * (line * d + c)..]);
                    let close = (found - wanted).abs() < 0.02;
                    if !close || seen.is_empty() && found != 0.0 {
                        return Err(format!(
                            "sequence {s}, head {head}, query {query}, column {c}: {found}, not {wanted}"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

fn verify(config: &AttentionConfig, problem: &Problem, grid: usize) {
    let kernel = generate(config).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let result = run(config, &kernel, kernel.kernel.module(), problem, grid, 1);
    result.unwrap_or_else(|e| panic!("{e}: {problem:?}, {config:?}"));
}

/// Tiles have no tile of keys before them, one, or more than there are stages; the last tiles of queries and of keys are ragged.
#[test]
fn any_lengths_are_right() {
    for (lengths, grid) in
        [([1, 1], 1), ([64, 32], 1), ([65, 33], 1), ([300, 200], 2), ([129, 0], 1), ([128, 310], 2)]
    {
        verify(&SMALL, &Problem { sequences: vec![lengths; 2], ..Problem::default() }, grid);
    }
}

#[test]
fn all_shapes_of_tiles_are_right() {
    let problem = Problem { sequences: vec![[330, 140]], heads: [1, 1], ..Problem::default() };
    let with = |warpgroups, registers, buffers, head_dim, keys| {
        let config = AttentionConfig { head_dim, tile: [0, keys], ..SMALL };
        ring(config, |ring| Ring { warpgroups, registers, buffers, ..ring })
    };
    for config in [
        with(3, [32, 160], 2, 64, 48),
        with(4, [24, 112], 2, 64, 32),
        with(3, [32, 160], 1, 32, 64),
        with(2, [24, 240], 1, 128, 80),
        AttentionConfig { dtype: DType::F16, ..with(2, [24, 240], 2, 96, 32) },
    ] {
        let columns = config.head_dim as usize;
        verify(&config, &Problem { columns, scale: 1.0 / columns as f32, ..problem.clone() }, 1);
    }
    // Fewer columns than the tile has.
    verify(&SMALL, &Problem { columns: 40, ..problem }, 1);
}

/// The windows lie before, across and behind the tiles; rows see no key at either end.
#[test]
fn masks_are_exact() {
    let features = |left, right| Features { left, right, ..SMALL.features };
    for (left, right, window, lengths, to_the_end) in [
        (false, true, [0, 0], [200, 200], false),
        (false, true, [0, 0], [200, 90], true),
        (false, true, [0, 7], [90, 260], true),
        (true, false, [3, 0], [260, 130], false),
        (true, true, [40, 0], [300, 300], true),
        (true, true, [0, 0], [200, 100], false),
        (true, true, [33, 70], [270, 210], false),
    ] {
        let config = AttentionConfig { features: features(left, right), ..SMALL };
        let problem =
            Problem { sequences: vec![lengths], heads: [1, 1], window, to_the_end, ..Problem::default() };
        verify(&config, &problem, 1);
    }
}

/// What stands behind a sequence is another's, and not a number; lengths are 0 among others.
#[test]
fn packed_sequences_do_not_leak() {
    for right in [false, true] {
        let config =
            AttentionConfig { features: Features { packed: true, right, ..SMALL.features }, ..SMALL };
        let sequences = vec![[100, 70], [3, 40], [1, 1], [0, 30], [140, 5], [64, 64], [7, 0]];
        for poisoned in [1, 3, 5] {
            let problem = Problem {
                sequences: sequences.clone(),
                to_the_end: right,
                poisoned: Some(poisoned),
                ..Problem::default()
            };
            verify(&config, &problem, 2);
        }
    }
}

#[test]
fn scores_are_changed() {
    for (softcap, bias) in [(true, None), (false, Some(DType::Bf16)), (true, Some(DType::Bf16))] {
        let config =
            AttentionConfig { features: Features { softcap, bias, right: true, ..SMALL.features }, ..SMALL };
        verify(&config, &Problem { sequences: vec![[150, 150]], ..Problem::default() }, 1);
    }
}

/// Scores that are far apart: later powers exceed what relates to the first maximum.
#[test]
fn maxima_that_rise_are_found_again() {
    for dtype in [DType::Bf16, DType::F16] {
        let config = AttentionConfig { dtype, ..SMALL };
        verify(&config, &Problem { sequences: vec![[130, 300]], scale: 3.0, ..Problem::default() }, 1);
    }
}

/// Waits that keep order alone, without which these problems are right all the same: warpgroups that have nothing to multiply go past tiles that
/// others may still read, and the next scores follow products whose fence stands before them.
const ORDER: [&str; 4] = [
    "bar.sync",
    "fence.mbarrier_init.release.cluster",
    "mbarrier.try_wait.parity.shared::cta.b64",
    "wgmma.fence.sync.aligned",
];

/// The kernel is reported when any one of its waits, arrivals, barriers and fences is missing that does more than keep order.
#[test]
fn every_part_of_a_ring_is_needed() {
    let windows = Features { left: true, right: true, ..SMALL.features };
    let packed = Features { packed: true, ..windows };
    for (features, parts, in_order) in [(windows, 65, 9), (packed, 70, 9)] {
        let config = AttentionConfig { features, head_dim: 32, tile: [128, 16], ..SMALL };
        let kernel = generate(&config).unwrap();
        let sequences = vec![[260, 250], [40, 70]];
        let window = [60, 70];
        let problem =
            Problem { sequences, heads: [1, 1], columns: 32, scale: 8.0, window, ..Problem::default() };
        let (mut kept, mut removed) = (Vec::new(), 0);
        for index in 0.. {
            let Some((mutant, text)) = without(kernel.kernel.module(), index) else { break };
            removed += 1;
            let caught = (0..2).find_map(|seed| run(&config, &kernel, &mutant, &problem, 1, seed).err());
            println!("{index} {text}: {caught:?}");
            if caught.is_none() {
                kept.push(text);
            }
        }
        assert!(kept.iter().all(|text| ORDER.contains(&text.as_str())), "{kept:?}");
        assert_eq!((removed, kept.len()), (parts, in_order), "{kept:?}");
    }
}
