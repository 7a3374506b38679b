//! A case of attention: its tensors in the simulator's memory, and what should become of them.

use girih_codegen::attention::{Arguments, AttentionConfig, AttentionKernel, QueryTile, Scores, Tensor4};
use girih_ptx::Module;
use girih_sim::{Memory, Options, Report};
use girih_tensor::DType;
use half::{bf16, f16};

use crate::simulator::{blocks, by_name, bytes, download, ones, run, upload};

/// The queries and keys of a sequence, and the key on the diagonal of its first query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) diagonal: i64,
}

/// Sequences that follow each other in the rows of each batch.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) config: AttentionConfig,
    pub(super) sequences: Vec<Sequence>,
    pub(super) batches: usize,
    pub(super) heads: usize,
    /// The heads of K and V.
    pub(super) groups: usize,
    /// The columns of the tensors.
    pub(super) columns: usize,
    /// What the strides of rows are more than the columns, in vectors.
    pub(super) padding: usize,
    /// Whether the rows of a head follow each other; otherwise the heads of a row do.
    pub(super) by_heads: bool,
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) cap: f64,
    /// The factor of Q, which makes rows peaked.
    pub(super) peak: f64,
    /// The blocks that share the table.
    pub(super) blocks: usize,
}

/// A tensor (Row,Column,Head,Batch) with room that no one may touch between its rows and after its end.
struct Array {
    dtype: DType,
    extents: [usize; 4],
    strides: [usize; 4],
    data: Vec<f64>,
}

const SCALE: f64 = 0.21;

impl Array {
    fn new(dtype: DType, extents: [usize; 4], strides: [usize; 4], seed: u64, factor: f64) -> Array {
        let last: usize =
            extents.iter().zip(strides).map(|(&extent, stride)| extent.saturating_sub(1) * stride).sum();
        let mut array = Array { dtype, extents, strides, data: vec![f64::NAN; last + 1] };
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for at in array.places().collect::<Vec<_>>() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = ((state >> 40) as f64 / f64::from(1 << 23) - 1.0) * factor;
            let place = array.place(at);
            array.data[place] = rounded(dtype, value);
        }
        array
    }

    fn places(&self) -> impl Iterator<Item = [usize; 4]> + use<> {
        let [rows, columns, heads, batches] = self.extents;
        let all = (0..batches).flat_map(move |b| (0..heads).map(move |h| (h, b)));
        all.flat_map(move |(h, b)| (0..rows).flat_map(move |r| (0..columns).map(move |c| [r, c, h, b])))
    }

    fn place(&self, at: [usize; 4]) -> usize {
        at.iter().zip(self.strides).map(|(at, stride)| at * stride).sum()
    }

    fn at(&self, row: usize, column: usize, head: usize, batch: usize) -> f64 {
        self.data[self.place([row, column, head, batch])]
    }

    /// The columns of a row, which follow each other.
    fn row(&self, row: usize, head: usize, batch: usize) -> &[f64] {
        &self.data[self.place([row, 0, head, batch])..][..self.extents[1]]
    }

    fn bytes(&self) -> Vec<u8> {
        self.data.iter().flat_map(|&value| encode(self.dtype, value)).collect()
    }
}

fn encode(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F32 => (value as f32).to_le_bytes().to_vec(),
        DType::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
        other => panic!("{other}"),
    }
}

fn decode(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let value = |b: &[u8]| match dtype {
        DType::F32 => f32::from_le_bytes(b.try_into().unwrap()).into(),
        DType::F16 => f16::from_le_bytes(b.try_into().unwrap()).to_f64(),
        DType::Bf16 => bf16::from_le_bytes(b.try_into().unwrap()).to_f64(),
        other => panic!("{other}"),
    };
    bytes.chunks_exact(dtype.bits() as usize / 8).map(value).collect()
}

fn rounded(dtype: DType, value: f64) -> f64 {
    decode(dtype, &encode(dtype, value))[0]
}

/// The results of a run, as arrays of the case's shapes.
pub(super) struct Found {
    result: Array,
    lse: Option<Array>,
    pub(super) report: Report,
}

impl Case {
    pub(super) fn new(config: AttentionConfig, sequences: &[Sequence]) -> Case {
        Case {
            config,
            sequences: sequences.to_vec(),
            batches: 1,
            heads: 1,
            groups: 1,
            columns: config.head_dim as usize,
            padding: 0,
            by_heads: true,
            left: 0,
            right: 0,
            cap: 1.5,
            peak: 3.0,
            blocks: 2,
        }
    }

    fn rows(&self, of: Tensor4) -> usize {
        let rows = |s: &Sequence| if matches!(of, Tensor4::Q | Tensor4::O) { s.queries } else { s.keys };
        self.sequences.iter().map(rows).sum()
    }

    fn array(&self, of: Tensor4) -> Array {
        let heads = if matches!(of, Tensor4::Q | Tensor4::O) { self.heads } else { self.groups };
        let vector = self.config.vector() as usize;
        let row = self.columns.next_multiple_of(vector) + self.padding * vector;
        let rows = self.rows(of);
        // Behind the rows of a head are a few rows of nobody.
        let strides = match self.by_heads {
            true => [row, 1, (rows + 3) * row, heads * (rows + 3) * row],
            false => [heads * row, 1, row, (rows + 3) * heads * row],
        };
        let factor = if of == Tensor4::Q { self.peak } else { 1.0 };
        let mut array = Array::new(
            self.config.dtype,
            [rows, self.columns, heads, self.batches],
            strides,
            of as u64 + 1,
            factor,
        );
        // What a kernel may not read after the end.
        let reach = array.place([rows + 3, 0, heads - 1, self.batches - 1]) + row;
        array.data.resize(reach, f64::NAN);
        array
    }

    fn bias(&self) -> Option<Array> {
        let dtype = self.config.features.bias?;
        let [queries, keys] = [0, 1].map(|side| {
            let length = |s: &Sequence| if side == 0 { s.queries } else { s.keys };
            self.sequences.iter().map(length).max().unwrap_or(0)
        });
        let extents = [queries, keys, self.heads, self.batches];
        // Batches share it.
        Some(Array::new(dtype, extents, [keys + 1, 1, queries * (keys + 1), 0], 9, 1.0))
    }

    fn lse(&self) -> Array {
        let rows = self.rows(Tensor4::Q);
        Array::new(
            DType::F32,
            [rows, 1, self.heads, self.batches],
            [1, 1, rows + 1, (rows + 1) * self.heads],
            1,
            0.0,
        )
    }

    /// The table of tiles for all blocks.
    fn table(&self) -> Vec<u32> {
        let mut tiles = Vec::new();
        for batch in 0..self.batches as u32 {
            let (mut first_query, mut first_key) = (0, 0);
            for sequence in &self.sequences {
                for head in 0..self.heads {
                    for row in (0..sequence.queries).step_by(self.config.tile[0] as usize) {
                        tiles.push(QueryTile {
                            row: row as u32,
                            queries: sequence.queries as u32,
                            keys: sequence.keys as u32,
                            diagonal: sequence.diagonal as i32,
                            first_query,
                            first_key,
                            head: head as u16,
                            group: (head * self.groups / self.heads) as u16,
                            batch,
                        });
                    }
                }
                first_query += sequence.queries as u32;
                first_key += sequence.keys as u32;
            }
        }
        tiles.resize(tiles.len().next_multiple_of(self.blocks), QueryTile::END);
        tiles.iter().flat_map(QueryTile::words).collect()
    }

    /// Runs a module of the kernel.
    pub(super) fn run(
        &self,
        kernel: &AttentionKernel,
        module: &Module,
        options: &Options,
    ) -> Result<Found, girih_sim::Error> {
        let memory = Memory::new();
        let inputs = [Tensor4::Q, Tensor4::K, Tensor4::V].map(|of| self.array(of));
        let (mut result, bias) = (self.array(Tensor4::O), self.bias());
        let mut lse = self.config.features.lse.then(|| self.lse());
        let mut places = inputs.each_ref().map(|array| upload(&memory, &array.bytes())).to_vec();
        places.push(ones(&memory, result.bytes().len()));
        let of_bias = bias.as_ref().map_or(0, |bias| upload(&memory, &bias.bytes()));
        let of_lse = lse.as_ref().map_or(0, |lse| ones(&memory, lse.bytes().len()));
        let table = self.table();
        let entries = table.len() / QueryTile::WORDS;
        let table = upload(&memory, &table.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        let [q, k, v] = &inputs;
        let arrays = [q, k, v, &result];
        let [.., heads, batches] = self.lse().strides.map(|stride| stride as i64);
        let rows = |array: &Array| [0, 2, 3].map(|mode: usize| array.strides[mode] as i64);
        let softcap = self.config.features.softcap.then_some(self.cap as f32);
        let arguments = Arguments {
            extents: arrays.map(|array| array.extents.map(|extent| extent as i64)),
            strides: arrays.map(rows),
            entries: entries as i64,
            scores: Scores { scale: SCALE as f32, softcap },
            window: [self.left, self.right].map(i64::from),
            lse: [heads, batches],
            bias: bias.as_ref().map_or([0; 3], rows),
        };
        let names = ["q", "k", "v", "o", "bias", "lse", "table"];
        let places: Vec<_> =
            names.into_iter().zip([&places[..], &[of_bias, of_lse, table]].concat()).collect();
        let args = bytes(&kernel.params, &arguments, |slot| by_name(slot, &places));
        let launch = blocks(self.blocks as i64, kernel.kernel.threads(), kernel.kernel.shared_bytes(), args);
        let report = run(module, &memory, &launch, options)?;
        result.data = decode(result.dtype, &download(&memory, places[3].1, result.bytes().len()));
        if let Some(lse) = &mut lse {
            lse.data = decode(DType::F32, &download(&memory, of_lse, lse.bytes().len()));
        }
        Ok(Found { result, lse, report })
    }

    /// Compares results with those in f64.
    pub(super) fn judge(&self, found: &Found) -> Result<(), String> {
        let tolerance = match self.config.dtype {
            DType::Bf16 => 2e-2,
            DType::F16 => 3e-3,
            // Scores are rounded too, which matters where they are large.
            _ => 1e-5 * self.peak.max(1.0),
        };
        let [q, k, v] = [Tensor4::Q, Tensor4::K, Tensor4::V].map(|of| self.array(of));
        let bias = self.bias();
        let mut written = vec![false; found.result.data.len()];
        for batch in 0..self.batches {
            for head in 0..self.heads {
                let group = head * self.groups / self.heads;
                let (mut first_query, mut first_key) = (0, 0);
                for sequence in &self.sequences {
                    for query in 0..sequence.queries {
                        let row = first_query + query;
                        let mut scores = Vec::new();
                        for key in (0..sequence.keys).filter(|&key| self.sees(sequence, query, key)) {
                            let (q, k) = (q.row(row, head, batch), k.row(first_key + key, group, batch));
                            let mut score = q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * SCALE;
                            if self.config.features.softcap {
                                score = self.cap * (score / self.cap).tanh();
                            }
                            score += bias.as_ref().map_or(0.0, |bias| bias.at(query, key, head, batch));
                            scores.push((key, score));
                        }
                        let most = scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
                        let total: f64 = scores.iter().map(|(_, score)| (score - most).exp()).sum();
                        let mut sums = vec![0.0; self.columns];
                        for (key, score) in &scores {
                            let weight = (score - most).exp() / total;
                            let values = v.row(first_key + key, group, batch);
                            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
                        }
                        for (column, expected) in sums.into_iter().enumerate() {
                            let at = found.result.place([row, column, head, batch]);
                            written[at] = true;
                            let got = found.result.data[at];
                            if (got - expected).abs() <= tolerance {
                                continue;
                            }
                            return Err(format!(
                                "batch {batch}, head {head}, query {query} of {sequence:?}, column {column}: {got} instead of {expected}"
                            ));
                        }
                        let expected = if scores.is_empty() { f64::NEG_INFINITY } else { most + total.ln() };
                        let got = found.lse.as_ref().map_or(expected, |lse| lse.at(row, 0, head, batch));
                        if got != expected && (got - expected).abs() > tolerance * (1.0 + expected.abs()) {
                            return Err(format!(
                                "query {query} of {sequence:?}: lse {got} instead of {expected}"
                            ));
                        }
                    }
                    first_query += sequence.queries;
                    first_key += sequence.keys;
                }
            }
        }
        let outside =
            found.result.data.iter().zip(&written).position(|(value, written)| !written && !value.is_nan());
        outside.map_or(Ok(()), |at| Err(format!("element {at} lies outside of the result")))
    }

    fn sees(&self, sequence: &Sequence, query: usize, key: usize) -> bool {
        let (features, diagonal, key) = (self.config.features, query as i64 + sequence.diagonal, key as i64);
        (!features.left || key >= diagonal - i64::from(self.left))
            && (!features.right || key <= diagonal + i64::from(self.right))
    }
}
