//! A problem of attention: its tensors in the simulator's memory, and what should become of them.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::attention::{Arguments, AttentionConfig, AttentionKernel, QueryTile, Scores};
use girih_ptx::Module;
use girih_sim::{Deny, Memory, Options};
use girih_tensor::DType;
use half::{bf16, f16};

use crate::simulator::{self, blocks, by_name, bytes, download, ones, upload};

/// Sequences of so many queries and keys, which follow each other in rows if the kernel takes packed ones.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) sequences: Vec<[u32; 2]>,
    /// Heads of queries, and of keys.
    pub(super) heads: [u32; 2],
    /// The columns of the tensors, where they are fewer than those of the tiles.
    pub(super) columns: Option<usize>,
    /// The last query and the last key lie on the diagonal.
    pub(super) to_the_end: bool,
    pub(super) window: [u32; 2],
    pub(super) scale: f32,
    pub(super) cap: f32,
    /// A sequence whose queries, keys and values are not numbers.
    pub(super) poisoned: Option<usize>,
    /// Values that are not random: of Q, K, V and the bias, which is 3, each with its batch, head, row and column. All sequences share the bias.
    pub(super) special: fn(usize, [usize; 4]) -> Option<f64>,
    pub(super) blocks: usize,
}

impl Default for Problem {
    fn default() -> Problem {
        Problem {
            sequences: vec![[200, 150]],
            heads: [1; 2],
            columns: None,
            to_the_end: false,
            window: [0; 2],
            scale: 0.125,
            cap: 2.0,
            poisoned: None,
            special: |_, _| None,
            blocks: 1,
        }
    }
}

/// The columns of a row of V that the reference computes.
const CHECKED: [usize; 3] = [0, 13, 31];

/// A number with few digits, which f16 and bf16 represent.
fn number(which: usize, at: [usize; 4]) -> f64 {
    let mut x = 0x9e37_79b9_7f4a_7c15 ^ which as u64;
    for i in at {
        x = (x ^ i as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 29;
    }
    (x % 33) as f64 / 8.0 - 2.0
}

fn encode(dtype: DType, value: f64) -> [u8; 2] {
    if dtype == DType::Bf16 {
        bf16::from_f64(value).to_le_bytes()
    } else {
        f16::from_f64(value).to_le_bytes()
    }
}

fn decode(dtype: DType, bytes: &[u8]) -> f64 {
    let bytes = [bytes[0], bytes[1]];
    if dtype == DType::Bf16 {
        bf16::from_le_bytes(bytes).to_f64()
    } else {
        f16::from_le_bytes(bytes).to_f64()
    }
}

/// A tensor (Batch,Head,Row,Column), of which any two modes may change places in memory.
struct Array {
    extents: [usize; 4],
    /// The elements from one place to the next.
    strides: [usize; 4],
    values: Vec<f64>,
}

impl Array {
    /// `by_rows`: the heads of a row follow each other, and not the rows of a head.
    fn new(extents: [usize; 4], by_rows: bool, value: impl Fn([usize; 4]) -> f64) -> Array {
        let [batches, heads, rows, columns] = extents;
        let strides = if by_rows {
            [heads * rows * columns, columns, heads * columns, 1]
        } else {
            [heads * rows * columns, rows * columns, columns, 1]
        };
        let mut array = Array { extents, strides, values: vec![0.0; batches * heads * rows * columns] };
        for batch in 0..batches {
            for head in 0..heads {
                for row in 0..rows {
                    let line = array.place([batch, head, row, 0]);
                    (0..columns)
                        .for_each(|column| array.values[line + column] = value([batch, head, row, column]));
                }
            }
        }
        array
    }

    fn place(&self, at: [usize; 4]) -> usize {
        at.iter().zip(self.strides).map(|(at, stride)| at * stride).sum()
    }

    fn line(&self, [batch, head, row]: [usize; 3]) -> &[f64] {
        &self.values[self.place([batch, head, row, 0])..][..self.extents[3]]
    }

    fn upload(&self, memory: &Memory, dtype: DType) -> u64 {
        let mut bytes: Vec<u8> = self.values.iter().flat_map(|&value| encode(dtype, value)).collect();
        // Tensor maps have a row where there is none, and the strides of rows of one element.
        let [batches, heads, _, columns] = self.extents;
        bytes.resize(bytes.len().max(2 * batches * heads * columns), 0);
        upload(memory, &bytes)
    }
}

/// A configuration and a problem.
struct Case<'a> {
    config: &'a AttentionConfig,
    problem: &'a Problem,
    /// The rows of Q and of K in memory, and where the sequences begin.
    rows: [(usize, Vec<usize>); 2],
    batches: usize,
    columns: usize,
}

impl<'a> Case<'a> {
    fn new(config: &'a AttentionConfig, problem: &'a Problem) -> Case<'a> {
        let packed = config.features.packed;
        let rows = [0, 1].map(|which: usize| {
            let lengths = problem.sequences.iter().map(|sequence| sequence[which] as usize);
            if !packed {
                return (lengths.max().unwrap(), vec![0; problem.sequences.len()]);
            }
            let mut begins = vec![0];
            lengths.for_each(|length| begins.push(begins.last().unwrap() + length));
            (begins.pop().unwrap(), begins)
        });
        let batches = if packed { 1 } else { problem.sequences.len() };
        let columns = problem.columns.unwrap_or(config.head_dim as usize);
        Case { config, problem, rows, batches, columns }
    }

    fn heads(&self) -> [usize; 2] {
        self.problem.heads.map(|heads| heads as usize)
    }

    fn batch(&self, sequence: usize) -> usize {
        if self.config.features.packed { 0 } else { sequence }
    }

    fn group(&self, head: usize) -> usize {
        let [queries, keys] = self.heads();
        head / (queries / keys)
    }

    /// Q, K, V and the bias. Rows of Q follow each other, and heads of K and V.
    fn arrays(&self) -> [Array; 4] {
        let [queries, keys] = self.heads();
        [0, 1, 2, 3].map(|which| {
            let of_keys = usize::from(which == 1 || which == 2);
            let (rows, begins) = &self.rows[of_keys];
            let extents = match which {
                3 => [1, 1, *rows, self.rows[1].0],
                _ => [self.batches, [queries, keys][of_keys], *rows, self.columns],
            };
            Array::new(extents, of_keys == 1, |at| {
                let sequence = match self.config.features.packed {
                    true => begins.iter().rposition(|&begin| begin <= at[2]),
                    false => Some(at[0]),
                };
                let poisoned =
                    which < 3 && self.problem.poisoned.is_some() && self.problem.poisoned == sequence;
                let random = if poisoned { f64::NAN } else { number(which, at) };
                (self.problem.special)(which, at).unwrap_or(random)
            })
        })
    }

    fn diagonal(&self, [queries, keys]: [u32; 2]) -> i32 {
        if self.problem.to_the_end { keys as i32 - queries as i32 } else { 0 }
    }

    /// The tiles of all sequences and heads, dealt to blocks. Some of these find the end of their list at the end of the table.
    fn table(&self) -> Vec<QueryTile> {
        let mut tiles = Vec::new();
        for (s, &[q, k]) in self.problem.sequences.iter().enumerate() {
            for head in 0..self.problem.heads[0] {
                for row in (0..q).step_by(self.config.tile[0] as usize) {
                    tiles.push(QueryTile {
                        row,
                        queries: q,
                        keys: k,
                        diagonal: self.diagonal([q, k]),
                        first_query: self.rows[0].1[s] as u32,
                        first_key: self.rows[1].1[s] as u32,
                        head: head as u16,
                        group: self.group(head as usize) as u16,
                        batch: self.batch(s) as u32,
                    });
                }
            }
        }
        while tiles.len() % self.problem.blocks > 1 {
            tiles.push(QueryTile::END);
        }
        tiles
    }

    fn sees(&self, lengths: [u32; 2], query: usize, key: usize) -> bool {
        let features = &self.config.features;
        let (at, key) = (query as i64 + i64::from(self.diagonal(lengths)), key as i64);
        let [left, right] = self.problem.window.map(i64::from);
        !(features.left && key < at - left || features.right && key > at + right)
    }

    /// What a launch computes.
    fn arguments(&self, arrays: &[Array; 4], entries: usize) -> Arguments {
        let Case { config, problem, rows: [(of_q, _), (of_k, _)], .. } = self;
        // O is like Q.
        let arrays = [0, 1, 2, 0].map(|which: usize| &arrays[which]);
        let of = |array: &Array, modes: [usize; 4]| modes.map(|mode| array.extents[mode] as i64);
        let softcap = config.features.softcap.then_some(problem.cap);
        Arguments {
            extents: arrays.map(|array| of(array, [2, 3, 1, 0])),
            strides: arrays.map(|array| [2, 1, 0].map(|mode: usize| array.strides[mode] as i64)),
            entries: entries as i64,
            scores: Scores { scale: problem.scale, softcap },
            window: problem.window.map(i64::from),
            lse: [*of_q as i64, (self.heads()[0] * of_q) as i64],
            bias: [*of_k as i64, 0, 0],
        }
    }

    /// What a query of a sequence gets: the logarithm of its sum, and the checked columns.
    fn expected(&self, arrays: &[Array; 4], s: usize, head: usize, query: usize) -> (f64, Vec<f64>) {
        let lengths = self.problem.sequences[s];
        let [(_, first_q), (_, first_k)] = &self.rows;
        let (batch, group, row) = (self.batch(s), self.group(head), first_q[s] + query);
        let [q, k, v, bias] = arrays;
        let q = q.line([batch, head, row]);
        let seen: Vec<usize> = (0..lengths[1] as usize)
            .filter(|&key| self.sees(lengths, query, key))
            .map(|key| first_k[s] + key)
            .collect();
        let (scale, cap) = (f64::from(self.problem.scale), f64::from(self.problem.cap));
        let score = |&at: &usize| {
            let dot: f64 = q.iter().zip(k.line([batch, group, at])).map(|(q, k)| q * k).sum();
            let mut score = dot * scale;
            if self.config.features.softcap {
                score = cap * (score / cap).tanh();
            }
            score + self.config.features.bias.map_or(0.0, |_| bias.line([0, 0, query])[at - first_k[s]])
        };
        let scores: Vec<f64> = seen.iter().map(score).collect();
        if scores.iter().all(|&score| score == f64::NEG_INFINITY) {
            return (f64::NEG_INFINITY, vec![0.0; self.checked().count()]);
        }
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f64 = powers.iter().sum();
        let column = |c: usize| {
            seen.iter().zip(&powers).map(|(&at, power)| power * v.line([batch, group, at])[c]).sum::<f64>()
                / total
        };
        (most + total.ln(), self.checked().map(column).collect())
    }

    fn checked(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns;
        CHECKED.into_iter().filter(move |&column| column < columns)
    }
}

/// Runs the module on a problem, and compares with f64, by the simulator's schedule of a seed and a slow warp.
pub(super) fn run(
    config: &AttentionConfig,
    kernel: &AttentionKernel,
    module: &Module,
    problem: &Problem,
    (seed, slow): (u64, Option<u32>),
) -> Result<(), String> {
    let (memory, case) = (Memory::new(), Case::new(config, problem));
    let arrays = case.arrays();
    let [of_q, heads] = [case.rows[0].0, case.heads()[0]];
    let lines = case.batches * heads * of_q;
    let (o, lse) = (ones(&memory, 2 * lines * case.columns), ones(&memory, 4 * lines));
    let entries = case.table();
    let words: Vec<u8> = entries.iter().flat_map(QueryTile::words).flat_map(u32::to_le_bytes).collect();
    let [q, k, v] = [0, 1, 2].map(|which: usize| arrays[which].upload(&memory, config.dtype));
    let bias = config.features.bias.map_or(0, |dtype| arrays[3].upload(&memory, dtype));
    let table = upload(&memory, &words);
    let places = [("q", q), ("k", k), ("v", v), ("o", o), ("bias", bias), ("lse", lse), ("table", table)];
    let arguments = case.arguments(&arrays, entries.len());
    let args = bytes(&kernel.params, &arguments, |slot| by_name(slot, &places));
    let threads = config.form.threads().unwrap();
    let launch = blocks(problem.blocks as i64, threads, kernel.kernel.shared_bytes(), args);
    let options = Options { seed, slow, deny: Deny::Warnings, ..Options::checked() };
    simulator::run(module, &memory, &launch, &options).map_err(|e| e.to_string())?;
    let results = download(&memory, o, 2 * lines * case.columns);
    let logarithms = download(&memory, lse, 4 * lines);
    // The approximation of tanh has 11 bits.
    let slack = 1e-3;
    let close = |found: f64, wanted: f64, slack: f64| {
        found == wanted || (found - wanted).abs() < slack || found.is_nan() && wanted.is_nan()
    };
    for (s, &[q, _]) in problem.sequences.iter().enumerate().filter(|&(s, _)| problem.poisoned != Some(s)) {
        for (head, query) in (0..heads).flat_map(|head| (0..q as usize).map(move |query| (head, query))) {
            let (logarithm, columns) = case.expected(&arrays, s, head, query);
            let line = (case.batch(s) * heads + head) * of_q + case.rows[0].1[s] + query;
            let at = || format!("sequence {s}, head {head}, query {query}");
            let found = f64::from(f32::from_le_bytes(logarithms[4 * line..][..4].try_into().unwrap()));
            if !close(found, logarithm, slack) {
                return Err(format!("{}: logarithm {found}, not {logarithm}", at()));
            }
            for (column, wanted) in case.checked().zip(columns) {
                let found = decode(config.dtype, &results[2 * (line * case.columns + column)..]);
                if !close(found, wanted, 0.02) || logarithm == f64::NEG_INFINITY && found != 0.0 {
                    return Err(format!("{}, column {column}: {found}, not {wanted}", at()));
                }
            }
        }
    }
    Ok(())
}
