//! Small launches of the kernels of `tests/ptx`, in which rings and buffers are used more than once.

use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
use girih_sim::{Launch, Memory};
use half::bf16;

/// A kernel and how it is launched.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    shape: Shape,
}

impl File {
    /// Whether there is a long launch.
    pub(crate) fn has_long(&self) -> bool {
        matches!(self.shape, Shape::Attention { .. })
    }
}

#[derive(Clone, Copy)]
enum Shape {
    /// A tile of M x N, steps of K, dynamic shared memory: two tiles for a block.
    Persistent([usize; 2], usize, u32),
    /// Rows of weights, blocks of a cluster, threads, dynamic shared memory.
    FewTokens(usize, usize, u32, u32),
    /// Three heads for a block.
    Attention { causal: bool, d: usize, q: usize, kv: usize, threads: u32, shared: u32 },
}

macro_rules! file {
    ($name:literal, $shape:expr) => {
        File { name: $name, text: include_str!(concat!("../ptx/best-", $name, ".ptx")), shape: $shape }
    };
}

const fn attention(causal: bool, d: usize, [q, kv]: [usize; 2], threads: u32, shared: u32) -> Shape {
    Shape::Attention { causal, d, q, kv, threads, shared }
}

pub(crate) const FILES: &[File] = &[
    file!("128x256", Shape::Persistent([128, 256], 7, 213_056)),
    file!("256x192", Shape::Persistent([256, 192], 7, 221_248)),
    file!("single-wave-128x256s4", Shape::Persistent([128, 256], 9, 229_456)),
    file!("small-m", Shape::FewTokens(128, 1, 288, 192_608)),
    file!("small-m-splitk", Shape::FewTokens(64, 2, 160, 209_072)),
    file!("attn-d64", attention(false, 64, [192, 192], 512, 196_768)),
    file!("attn-d64-x4", attention(false, 64, [256, 96], 640, 164_032)),
    file!("attn-d64-x4-causal", attention(true, 64, [256, 96], 640, 164_032)),
    file!("attn-d128", attention(false, 128, [192, 128], 512, 229_504)),
    file!("attn-d128-causal", attention(true, 128, [192, 128], 512, 229_504)),
    file!("attn-d128-short", attention(false, 128, [128, 128], 384, 196_736)),
    file!("attn-d128-short-causal", attention(true, 128, [128, 128], 384, 196_736)),
];

/// A launch, and the results that it must leave.
pub(crate) struct Prepared {
    pub(crate) memory: Memory,
    pub(crate) launch: Launch,
    /// Address and bytes.
    pub(crate) output: (u64, usize),
    want: Vec<f32>,
    error: f32,
}

fn close(got: f32, want: f32, error: f32) -> bool {
    (got - want).abs() <= error || got.is_nan() && want.is_nan()
}

impl Prepared {
    pub(crate) fn verify(&self, left: &[u8]) -> Result<(), String> {
        let got = left.chunks_exact(2).map(|b| bf16::from_bits(u16::from_le_bytes([b[0], b[1]])).to_f32());
        let wrong = got.zip(&self.want).enumerate().find(|(_, (got, want))| !close(*got, **want, self.error));
        wrong.map_or(Ok(()), |(i, (got, want))| Err(format!("element {i} is {got}, not {want}")))
    }
}

fn whole(count: usize, salt: usize) -> Vec<f32> {
    (0..count)
        .map(|i| ((i.wrapping_mul(0x9e37_79b9).wrapping_add(salt * 77) >> 7) % 9) as f32 - 4.0)
        .collect()
}

fn upload(memory: &Memory, values: &[f32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|&x| bf16::from_f32(x).to_le_bytes()).collect();
    let address = memory.alloc(bytes.len()).unwrap();
    memory.write(address, &bytes).unwrap();
    address
}

fn map(at: u64, sizes: &[u64], tile: &[u32]) -> Vec<u8> {
    Tiled::new(TensorElement::Bf16, sizes, tile)
        .with_swizzle(TensorSwizzle::B128)
        .at(at)
        .unwrap()
        .to_bytes()
        .into()
}

fn words(memory: &Memory, values: &[u32]) -> u64 {
    let address = memory.alloc(4 * values.len()).unwrap();
    memory.write(address, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    address
}

/// `a` times `b` transposed, K in common.
fn product(a: &[f32], b: &[f32], k: usize) -> Vec<f32> {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum();
    a.chunks(k)
        .flat_map(|row| b.chunks(k).map(move |column| bf16::from_f32(dot(row, column)).to_f32()))
        .collect()
}

/// A launch with which most mutants fail; or a longer one, which goes through every loop, for the other mutants.
pub(crate) fn prepare(file: &File, long: bool) -> Prepared {
    match file.shape {
        Shape::Persistent(tile, steps, shared) => persistent(tile, steps, shared),
        Shape::FewTokens(rows, blocks, threads, shared) => few_tokens(rows, blocks, threads, shared),
        Shape::Attention { causal, d, q, kv, threads, shared } => {
            heads(causal, d, [q, kv], threads, shared, long)
        }
    }
}

/// The results of a launch of the same shape, with which those of every mutant are compared.
fn once(
    cell: &'static std::sync::Mutex<Vec<(Vec<usize>, Vec<f32>)>>,
    key: &[usize],
    compute: impl FnOnce() -> Vec<f32>,
) -> Vec<f32> {
    let mut known = cell.lock().unwrap();
    if let Some((_, want)) = known.iter().find(|(other, _)| other == key) {
        return want.clone();
    }
    let want = compute();
    known.push((key.into(), want.clone()));
    want
}

static KNOWN: std::sync::Mutex<Vec<(Vec<usize>, Vec<f32>)>> = std::sync::Mutex::new(Vec::new());

/// A block walks two tiles.
fn persistent(tile: [usize; 2], steps: usize, dynamic_shared: u32) -> Prepared {
    let memory = Memory::new();
    let (m, n, k) = (tile[0], 2 * tile[1], 64 * steps);
    let (a, b) = (whole(m * k, 1), whole(n * k, 2));
    let (pa, pb, pc) = (upload(&memory, &a), upload(&memory, &b), upload(&memory, &vec![f32::NAN; m * n]));
    let args = vec![
        map(pa, &[k as u64, m as u64], &[64, tile[0] as u32]),
        map(pb, &[k as u64, n as u64], &[64, tile[1] as u32]),
        map(pc, &[n as u64, m as u64], &[64, 64]),
        words(&memory, &[0, 1 << 16]).to_le_bytes().into(),
        (steps as u32).to_le_bytes().into(),
        2u32.to_le_bytes().into(),
    ];
    let launch = Launch { grid: [1; 3], block: [384, 1, 1], dynamic_shared, args, ..Launch::default() };
    let want = once(&KNOWN, &[m, n, k], || product(&a, &b, k));
    Prepared { memory, launch, output: (pc, 2 * m * n), want, error: 0.0 }
}

fn few_tokens(rows: usize, blocks: usize, threads: u32, dynamic_shared: u32) -> Prepared {
    let memory = Memory::new();
    let (n, tokens, k) = (rows, 11, 128 * 21 * blocks);
    let (w, x) = (whole(n * k, 3), whole(tokens * k, 4));
    let (pw, px, out) =
        (upload(&memory, &w), upload(&memory, &x), upload(&memory, &vec![f32::NAN; n * tokens]));
    let args = vec![
        map(pw, &[k as u64, n as u64], &[64, rows as u32]),
        map(px, &[k as u64, tokens as u64], &[64, 16]),
        out.to_le_bytes().into(),
        21u32.to_le_bytes().into(),
        (n as u32).to_le_bytes().into(),
        (tokens as u32).to_le_bytes().into(),
    ];
    let launch = Launch {
        grid: [blocks as u32, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared,
        args,
        ..Launch::default()
    };
    let want = once(&KNOWN, &[tokens, n, k], || product(&x, &w, k));
    Prepared { memory, launch, output: (out, 2 * n * tokens), want, error: 0.0 }
}

/// One block has a tile of queries of each of three heads: the first with as many keys, or different ones with several
/// blocks of keys, one of them at a ragged end: a warpgroup has no rows there. One key is much like one of the ragged end's queries, and
/// so long that the largest score is that of neither the first nor the last block of keys.
fn heads(
    causal: bool,
    d: usize,
    [q, kv]: [usize; 2],
    threads: u32,
    dynamic_shared: u32,
    long: bool,
) -> Prepared {
    let memory = Memory::new();
    // Head and tile.
    let work = if long { &[(0, 1), (1, 2), (2, 0), (0, 0)][..] } else { &[(0, 0), (1, 0), (2, 0)] };
    let (tile, heads, length) = (q, 3, if long { 2 * q + 40 } else { q });
    let count = heads * length * d;
    let numbers = || {
        let [q, mut k, v] =
            [5, 6, 7].map(|salt| whole(count, salt).into_iter().map(|x| x / 8.0).collect::<Vec<f32>>());
        if long {
            let (query, key) = ((length + 2 * tile + 20) * d, (length + 200) * d);
            let factor = 4096.0 / d as f32;
            k[key..][..d].iter_mut().zip(&q[query..][..d]).for_each(|(k, q)| *k = factor * q);
        }
        [q, k, v]
    };
    let [pq, pk, pv] = numbers().map(|values| upload(&memory, &values));
    let po = upload(&memory, &vec![f32::NAN; count]);
    let sizes = [d as u64, length as u64, heads as u64];
    let table: Vec<u32> =
        work.iter().map(|(head, tile)| (head << 12 | tile) as u32).chain([u32::MAX]).collect();
    let scale = 0.25f32;
    let args = vec![
        map(pq, &sizes, &[64, q as u32, 1]),
        map(pk, &sizes, &[64, kv as u32, 1]),
        map(pv, &sizes, &[64, kv as u32, 1]),
        map(po, &sizes, &[64, 64, 1]),
        words(&memory, &table).to_le_bytes().into(),
        words(&memory, &vec![0; heads * length]).to_le_bytes().into(),
        (length as u32).to_le_bytes().into(),
        (table.len() as u32).to_le_bytes().into(),
        scale.to_le_bytes().into(),
        1u32.to_le_bytes().into(),
    ];
    let launch = Launch { grid: [1; 3], block: [threads, 1, 1], dynamic_shared, args, ..Launch::default() };
    let want = once(&KNOWN, &[usize::from(causal), d, length], || {
        let [q, k, v] = numbers();
        let mut out = Vec::with_capacity(count);
        for (row, query) in q.chunks(d).enumerate() {
            let (head, i) = (row / length * length, row % length);
            if !work.contains(&(row / length, i / tile)) {
                out.extend(vec![f32::NAN; d]);
                continue;
            }
            let keys = &k[head * d..][..if causal { i + 1 } else { length } * d];
            let score = |key: &[f32]| query.iter().zip(key).map(|(x, y)| x * y).sum::<f32>() * scale;
            let scores: Vec<f32> = keys.chunks(d).map(score).collect();
            let most = scores.iter().copied().fold(f32::MIN, f32::max);
            let weights: Vec<f32> = scores.iter().map(|score| (score - most).exp2()).collect();
            let total: f32 = weights.iter().sum();
            out.extend((0..d).map(|x| {
                weights.iter().enumerate().map(|(j, w)| w * v[(head + j) * d + x]).sum::<f32>() / total
            }));
        }
        out
    });
    Prepared { memory, launch, output: (po, 2 * count), want, error: 0.01 }
}
