//! What is not the kernel: random inputs, the launch and its time, and the comparison with f64.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E};
use std::hash::{BuildHasher as _, RandomState};

use girih::codegen::{Kernel, TmaCopy};
use girih::device::{Arg, Buffer, Device, Samples, TensorMap};
use girih::layout::Symbol;
use girih::tensor::DType;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The columns of Q, K, V and O, and the factor of scores whose exponentials are powers of 2: log2(e) / sqrt(HEAD_DIM).
pub(crate) const HEAD_DIM: usize = 128;
pub(crate) const SCALE: f64 = LOG2_E * FRAC_1_SQRT_2 / 8.0;
/// The most multiply-adds of the reference, which computes a sample of rows of a larger problem.
const MOST: usize = 1 << 30;

/// A kernel, and what its launch needs.
pub(crate) struct Rung {
    pub(crate) kernel: Kernel,
    /// The dtype of all tensors.
    pub(crate) dtype: DType,
    /// `m,n,k` of a GEMM; `queries,keys,heads` of attention.
    pub(crate) sizes: [Symbol; 3],
    /// The parameters that are tensor maps.
    pub(crate) maps: Vec<(&'static str, TmaCopy)>,
    /// The grid for the three sizes, and a number of SMs.
    pub(crate) grid: fn([u32; 3], u32) -> [u32; 3],
}

/// What a run found: its time, its floating-point operations, and the largest of `|found - exact| / (|exact| + 1/4)`.
pub(crate) struct Report {
    pub(crate) time: Samples,
    pub(crate) operations: f64,
    pub(crate) error: f64,
}

impl Rung {
    fn is_attention(&self) -> bool {
        self.kernel.name().starts_with("attention")
    }

    /// Runs the kernel on new random inputs, with an output that is NaN before.
    pub(crate) fn run(&self, device: &Device, sizes: [u32; 3]) -> Outcome<Report> {
        let [m, n, k] = sizes.map(|size| size as usize);
        let (names, tensors, [rows, columns, depth]) = if self.is_attention() {
            let [queries, keys] = [m, n].map(|rows| k * rows * HEAD_DIM); // (Head,rows,HeadDim)
            let tensors = vec![("q", queries), ("k", keys), ("v", keys), ("o", queries)];
            (["queries", "keys", "heads"], tensors, [k * m, HEAD_DIM, 2 * n])
        } else {
            (["m", "n", "k"], vec![("a", m * k), ("b", n * k), ("c", m * n)], [m, n, k])
        };
        let (inputs, mut random) = (tensors.len() - 1, StdRng::seed_from_u64(RandomState::new().hash_one(0)));
        // bf16 represents the multiples of 1/64 from -2 to 2.
        let mut numbers = |len| (0..len).map(|_| f64::from(random.random_range(-128..=128)) / 64.0).collect();
        let mut host: Vec<Vec<f64>> = tensors[..inputs].iter().map(|(_, len)| numbers(*len)).collect();
        host.push(vec![f64::NAN; rows * columns]);
        let buffers = host.iter().map(|values| Ok(device.upload(&self.encode(values))?));
        let buffers = buffers.collect::<Outcome<Vec<Buffer<u8>>>>()?;
        let mut maps = Vec::new();
        for (name, tma) in &self.maps {
            let mut symbols = self.sizes.iter().zip(sizes);
            let bound =
                symbols.try_fold(tma.clone(), |tma, (symbol, size)| tma.bind(*symbol, size.into()))?;
            let at = tensors.iter().position(|(tensor, _)| tensor == name).ok_or("no such tensor")?;
            maps.push((*name, TensorMap::new(&buffers[at], &bound.tiled()?)?));
        }
        let mut args: Vec<(&str, Arg<'_>)> = names.into_iter().zip(sizes.map(Arg::U32)).collect();
        for ((name, _), buffer) in tensors.iter().zip(&buffers) {
            let map = maps.iter().find(|(map, _)| map == name);
            args.push((*name, map.map_or(Arg::from(buffer), |(_, map)| Arg::from(map))));
        }
        let kernel = device.load(&self.kernel)?.kernel(self.kernel.name())?;
        let config = kernel.config((self.grid)(sizes, device.limits().multiprocessors))?;
        let args = kernel.arguments(&args)?;
        // SAFETY: the kernel accesses its tensors alone, and each buffer holds one.
        #[expect(unsafe_code, reason = "launching one's own PTX")]
        let time = device.measure(|| unsafe { kernel.launch(&config, &args) })?;

        let found = self.decode(&buffers[inputs].download()?);
        let (every, mut error) = ((rows * columns * depth).div_ceil(MOST), 0f64);
        for first in (0..rows).step_by(every) {
            let row = (first + random.random_range(0..every)).min(rows - 1);
            for (exact, found) in self.exact(&host, [m, n, k], row).iter().zip(&found[row * columns..]) {
                let own = (found - exact).abs() / (exact.abs() + 0.25);
                error = if own.is_nan() { f64::INFINITY } else { error.max(own) };
            }
        }
        Ok(Report { time, operations: 2.0 * (rows * columns * depth) as f64, error })
    }

    /// A row of `C = A B^T`, or of `O = softmax(Q K^T / sqrt(HeadDim)) V`.
    fn exact(&self, host: &[Vec<f64>], [m, n, k]: [usize; 3], row: usize) -> Vec<f64> {
        let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
        if !self.is_attention() {
            return host[1].chunks(k).map(|b| dot(&host[0][row * k..][..k], b)).collect();
        }
        let [query, head] = [row * HEAD_DIM, row / m * n * HEAD_DIM];
        let [keys, values] = [1, 2].map(|i: usize| host[i][head..].chunks(HEAD_DIM).take(n));
        let scores = keys.map(|key| dot(&host[0][query..][..HEAD_DIM], key) / (HEAD_DIM as f64).sqrt());
        let exponentials: Vec<f64> = scores.map(f64::exp).collect();
        let (mut o, sum) = (vec![0.0; HEAD_DIM], exponentials.iter().sum::<f64>());
        for (p, values) in exponentials.iter().zip(values) {
            o.iter_mut().zip(values).for_each(|(o, v)| *o += p / sum * v);
        }
        o
    }

    fn encode(&self, values: &[f64]) -> Vec<u8> {
        let bytes = self.dtype.bits() as usize / 8;
        values.iter().flat_map(|x| self.dtype.encode(*x).to_le_bytes().into_iter().take(bytes)).collect()
    }

    fn decode(&self, bytes: &[u8]) -> Vec<f64> {
        let bits = |x: &[u8]| x.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        bytes.chunks(self.dtype.bits() as usize / 8).map(|x| self.dtype.decode(bits(x))).collect()
    }
}
