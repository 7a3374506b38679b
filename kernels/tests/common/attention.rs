//! Attention with random data, checked against f64.

use girih_device::{Device, Pod};
use girih_kernels::attention::{
    Array, Attention, Check, Diagonal, Host, Mask, Order, Problem, Tensor4, Verdict, check,
};
use girih_kernels::gemm::Given;
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::Failure;
use super::random::Unjudged;

/// Random elements for all that a problem reads. Where it reads nothing stands NaN or infinity: between rows, in rows that no packed sequence has, and in keys
/// that no query of the head sees.
pub(crate) struct Inputs<T> {
    pub(crate) q: Vec<T>,
    pub(crate) k: Vec<T>,
    pub(crate) v: Vec<T>,
    pub(crate) bias: Vec<f32>,
    pub(crate) sinks: Vec<f32>,
}

/// What the elements are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values {
    /// From -1 to 1, and in Q from -`stretch` to `stretch`.
    Uniform(f64),
    /// Q and K are small integers, in Q times this power of two, so that f32 has the scores exactly, however large they are. Where there is a bias, every other
    /// query is 0 (every one if all share the bias), and the bias is 0, infinitely negative or one of [`MASKS`].
    Exact(i32),
}

/// What masks hold.
pub(crate) const MASKS: [f32; 9] =
    [-1e4, -1e9, -1e10, -1e30, f32::MIN, 1e30, -65504.0, -3.389_531_4e38, f32::MAX];

impl<T: Element> Inputs<T> {
    pub(crate) fn new(problem: &Problem, seed: u64, values: Values) -> Inputs<T> {
        let mut rng = StdRng::seed_from_u64(seed);
        let unread = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][seed as usize % 3];
        let shared = problem.bias().is_some_and(|bias| bias.strides()[0] == 0);
        let mut of = |tensor: Tensor4| {
            let array = problem.array(tensor);
            let unread = if matches!(tensor, Tensor4::K | Tensor4::V) { unread } else { f64::NAN };
            let mut out = vec![T::from_f64(unread); array.span() as usize];
            let heads = array.extents()[2];
            for sequence in problem.sequences() {
                let (first, rows) = match tensor {
                    Tensor4::K | Tensor4::V => {
                        let seen = |query| problem.mask().keys(query, sequence.queries, sequence.keys);
                        let ends = [seen(0), seen((sequence.queries - 1).max(0))];
                        let rows = ends[0].start..ends[1].end.max(ends[0].start);
                        (sequence.first_key, if sequence.queries == 0 { 0..0 } else { rows })
                    }
                    _ => (sequence.first_query, 0..sequence.queries),
                };
                for (head, row) in (0..heads).flat_map(|head| rows.clone().map(move |row| (head, row))) {
                    let at = array.offset(first + row, 0, head, sequence.batch) as usize;
                    let zero = problem.bias().is_some() && (shared || row % 2 == 0);
                    let mut value = || match (values, tensor) {
                        (Values::Uniform(most), Tensor4::Q) => rng.random_range(-most..most),
                        (Values::Uniform(_), _) | (_, Tensor4::V) => rng.random_range(-1.0..1.0),
                        (_, Tensor4::Q) if zero => 0.0,
                        (Values::Exact(exponent), Tensor4::Q) => {
                            f64::from(rng.random_range(-3..4)) * 2f64.powi(exponent)
                        }
                        (Values::Exact(_), _) => f64::from(rng.random_range(-3..4)),
                    };
                    out[at..at + array.extents()[1] as usize].fill_with(|| T::from_f64(value()));
                }
            }
            out
        };
        let (q, k, v) = (of(Tensor4::Q), of(Tensor4::K), of(Tensor4::V));
        let rounded = |x: f64| match problem.bias().map(|bias| bias.dtype()) {
            Some(DType::F32) | None => x as f32,
            Some(_) => T::from_f64(x).to_f64() as f32,
        };
        let mask = MASKS[rng.random_range(0..MASKS.len())];
        let row = problem.keys().max(1);
        let mut bias = |at: i64| match values {
            Values::Uniform(_) => rng.random_range(-1.0..1.0),
            Values::Exact(_) if !shared && (at / row) % problem.queries().max(1) % 2 == 1 => 0.0,
            // Every third row has one value everywhere.
            Values::Exact(_) if (at / row) % 3 == 0 => f64::from(mask),
            Values::Exact(_) => [0.0, f64::from(mask), f64::NEG_INFINITY][rng.random_range(0..3)],
        };
        let bias = (0..problem.bias_len()).map(|at| rounded(bias(at))).collect();
        // Of some heads there is no sink, and one takes all.
        let sink = |head: i64| match head % 4 {
            1 => f32::NEG_INFINITY,
            2 => 60.0,
            _ => rng.random_range(-3.0..3.0),
        };
        let sinks = (0..problem.sinks_len()).map(sink).collect();
        Inputs { q, k, v, bias, sinks }
    }

    pub(crate) fn host(&self) -> Host<'_, T> {
        Host { q: &self.q, k: &self.k, v: &self.v, bias: &self.bias, sinks: &self.sinks }
    }
}

/// Runs attention on random data and poisoned outputs, and checks every row, or a sample of a large problem.
pub(crate) fn verify(
    attention: &Attention,
    device: &Device,
    seed: u64,
    stretch: f64,
) -> Result<Check, Failure> {
    verify_values(attention, device, seed, Values::Uniform(stretch))
}

/// As [`verify`], with elements of any kind.
pub(crate) fn verify_values(
    attention: &Attention,
    device: &Device,
    seed: u64,
    values: Values,
) -> Result<Check, Failure> {
    match attention.problem().dtype() {
        DType::F32 => verify_of::<f32>(attention, device, seed, values),
        DType::F16 => verify_of::<f16>(attention, device, seed, values),
        _ => verify_of::<bf16>(attention, device, seed, values),
    }
}

/// A problem whose scores are exact in f32 and large, and whose masks are finite, with its values: scores grow up to 1e30, by Q or, where its type has no such
/// numbers, by the scale.
pub(crate) fn exact(
    rng: &mut StdRng,
    dtype: DType,
    dim: i64,
    most: i64,
) -> Result<(Problem, Values), Failure> {
    let mut problem = random(rng, dtype, dim, most)?;
    if rng.random_range(0..3) == 0 && !problem.is_packed() {
        let extents = [problem.batches(), 1, [1, problem.queries()][rng.random_range(0..2)]];
        problem = problem.with_bias([DType::F32, dtype][rng.random_range(0..2)], extents)?;
    }
    let exponent = [0, rng.random_range(0..12), rng.random_range(0..97)][rng.random_range(0..3)];
    if dtype != DType::F16 {
        // A power of two, so that scores are exact with a bias of 0, too.
        let problem = if problem.bias().is_some() { problem.with_scale(0.125)? } else { problem };
        return Ok((problem, Values::Exact(exponent)));
    }
    let of_q = exponent.min(13);
    let scale = 2f32.powi((exponent - of_q).min(57)) * 0.125;
    Ok((problem.with_scale(scale)?, Values::Exact(of_q)))
}

fn verify_of<T: Element + Pod>(
    attention: &Attention,
    device: &Device,
    seed: u64,
    values: Values,
) -> Result<Check, Failure> {
    let inputs = Inputs::<T>::new(attention.problem(), seed, values);
    verify_inputs(attention, device, &inputs)
}

/// Runs attention on these inputs and poisoned outputs.
pub(crate) fn verify_inputs<T: Element + Pod>(
    attention: &Attention,
    device: &Device,
    inputs: &Inputs<T>,
) -> Result<Check, Failure> {
    let problem = attention.problem();
    // How many elements stand in front of a tensor, so that it begins at a multiple of no more bytes than it says.
    let before =
        |array: Array| if array.alignment() == 16 { 0 } else { array.alignment() as usize / size_of::<T>() };
    let placed = |tensor: Tensor4, values: &[T]| -> Result<_, Failure> {
        let first = before(problem.array(tensor));
        let whole = [&vec![T::from_f64(f64::NAN); first], values].concat();
        Ok(device.upload(&whole)?.slice(first..)?)
    };
    let (q, k, v) =
        (placed(Tensor4::Q, &inputs.q)?, placed(Tensor4::K, &inputs.k)?, placed(Tensor4::V, &inputs.v)?);
    let (of_o, first) = (problem.array(Tensor4::O), before(problem.array(Tensor4::O)));
    // The buffers end after the outputs, so that a write after them is found too.
    let whole = device.alloc::<T>(first + of_o.span() as usize + 64)?;
    whole.fill_bytes(0xff)?;
    let (o, lse) = (whole.slice(first..)?, device.alloc::<f32>(problem.lse_len() as usize + 3)?);
    lse.fill_bytes(0xff)?;
    let wide = device.upload(&inputs.bias)?;
    let narrow: Vec<T> = inputs.bias.iter().map(|&x| T::from_f64(x.into())).collect();
    let narrow = device.upload(&narrow)?;
    let sinks = device.upload(&inputs.sinks)?;
    let mut given = Vec::new();
    if problem.sinks() {
        given.push(("sinks", Given::from(&sinks)));
    }
    if let Some(bias) = problem.bias() {
        given.push((
            "bias",
            if bias.dtype() == DType::F32 { Given::from(&wide) } else { Given::from(&narrow) },
        ));
    }
    if problem.lse() {
        given.push(("lse", Given::from(&lse)));
    }
    attention.run_with([&q, &k, &v, &o], &given)?;
    let (whole, lse) = (whole.download()?, lse.download()?);
    let told = |what: &str| format!("{what}: {problem:?} by {:?} on {}", attention.config(), device.name());
    if whole[..first].iter().any(|x| !x.to_f64().is_nan()) {
        return Err(told("something in front of O was written").into());
    }
    let found = check(problem, &inputs.host(), &whole[first..], &lse, Some(T::from_f64(f64::NAN)))?;
    let text = || told(&format!("{}: {found:?}", found.verdict()));
    match found.verdict() {
        Verdict::Passed => Ok(found),
        Verdict::CannotJudge { .. } => Err(Unjudged(text()).into()),
        Verdict::Failed => Err(text().into()),
    }
}

/// Problems that want each feature, alone and with others, with heads of so many columns and up to about so many queries and keys.
pub(crate) fn features(dtype: DType, dim: i64, most: i64) -> Result<Vec<Problem>, Failure> {
    let new = |order, [batches, heads, queries, keys]: [i64; 4]| {
        Problem::new(dtype, order, [batches, heads, queries, keys, dim])
    };
    let (bshd, bhsd, long) = (Order::Bshd, Order::Bhsd, most);
    let (right, left) = (Diagonal::BottomRight, Diagonal::TopLeft);
    let begins = [0, long / 3, long / 3, long / 3 + 1, long];
    let [of_queries, of_keys] =
        [begins, [0, long / 2, long - 9, long - 9, long]].map(|b| b.map(|b| b as u32));
    let sinks = new(bhsd, [1, 4, long, long / 2])?.with_kv_heads(2)?.with_mask(Mask::causal(right))?;
    let packed = new(bshd, [1, 2, long + 3, long + 1])?.packed(&of_queries, &of_keys)?.with_lse(true);
    Ok(vec![
        new(bshd, [2, 2, long / 2, long])?,
        new(bhsd, [1, 4, long, long])?.with_kv_heads(2)?.with_mask(Mask::causal(right))?.with_lse(true),
        new(bshd, [1, 2, long, long / 2])?.with_mask(Mask::causal(right))?.with_lse(true),
        new(bhsd, [1, 2, long / 2, long])?.with_mask(Mask::causal(left))?,
        new(bshd, [1, 2, long, long])?
            .with_mask(Mask::window(Some(long / 4), Some(0), right))?
            .with_kv_heads(1)?,
        new(bhsd, [1, 2, long, long])?.with_mask(Mask::window(Some(3), Some(long / 5), left))?.with_lse(true),
        new(bshd, [1, 1, long, long])?.with_mask(Mask::window(Some(10), None, right))?,
        new(bshd, [1, 2, long / 3, long])?.with_softcap(5.0)?.with_scale(0.7)?.with_lse(true),
        new(bhsd, [2, 2, long / 3, long])?
            .with_bias(DType::F32, [1, 2, 1])?
            .with_mask(Mask::causal(right))?,
        new(bshd, [2, 2, long / 2, long])?
            .with_bias(dtype, [2, 1, long / 2])?
            .with_softcap(20.0)?
            .with_lse(true),
        packed.clone(),
        packed.with_mask(Mask::causal(right))?.with_kv_heads(1)?,
        new(bshd, [1, 2, long / 2, 0])?.with_lse(true),
        // Q, K and V as one projection leaves them, O with gaps.
        new(bshd, [2, 2, long / 2, long / 2])?
            .with_strides(Tensor4::Q, [6 * dim, dim, 6 * dim * (long / 2)])?
            .with_strides(Tensor4::K, [6 * dim, dim, 6 * dim * (long / 2)])?
            .with_strides(Tensor4::O, [2 * dim + 16, dim, (2 * dim + 16) * (long / 2 + 1)])?,
        sinks.with_lse(true).with_sinks(true),
    ])
}

/// A random problem of a dtype with heads of so many columns, and up to so many queries and keys.
pub(crate) fn random(rng: &mut StdRng, dtype: DType, dim: i64, most: i64) -> Result<Problem, Failure> {
    let mut below = |n: i64| rng.random_range(0..n);
    // Lengths around multiples of tiles come as often as others.
    let mut length = |most: i64| match below(4) {
        0 => (64 * below(most / 64 + 1) + below(5) - 2).clamp(1, most),
        _ => 1 + below(most),
    };
    let (queries, keys) = (length(most), length(most));
    let kv_heads = 1 + below(2);
    let (heads, order) =
        (kv_heads * [1, 1, 2, 4][below(4) as usize], [Order::Bshd, Order::Bhsd][below(2) as usize]);
    let is_packed = below(4) == 0;
    let batches = if is_packed { 1 } else { 1 + below((8000 / queries.max(keys)).clamp(1, 3)) };
    let mut problem =
        Problem::new(dtype, order, [batches, heads, queries, keys, dim])?.with_kv_heads(kv_heads)?;
    let diagonal = [Diagonal::TopLeft, Diagonal::BottomRight][below(2) as usize];
    let mut limit = |odds: i64| (below(odds) == 0).then(|| below(most / 2 + 1));
    problem = problem.with_mask(match limit(3) {
        Some(_) => Mask::causal(diagonal),
        None => Mask::window(limit(3), limit(3), diagonal),
    })?;
    if below(5) == 0 {
        problem = problem.with_softcap(1.0 + below(30) as f32)?;
    }
    if below(5) == 0 {
        problem = problem.with_scale(0.01 + 0.01 * below(50) as f32)?;
    }
    if is_packed {
        let sequences = 1 + below(8) as usize;
        let mut begins = |rows: i64| {
            let mut begins: Vec<u32> = (0..=sequences).map(|_| below(rows + 1) as u32).collect();
            begins.sort_unstable();
            begins
        };
        let (of_queries, of_keys) = (begins(queries), begins(keys));
        problem = problem.packed(&of_queries, &of_keys)?;
    } else if below(5) == 0 {
        let mut one_of = |all: i64| if below(2) == 0 { 1 } else { all };
        let extents = [one_of(batches), one_of(heads), one_of(queries)];
        problem = problem.with_bias([DType::F32, dtype][below(2) as usize], extents)?;
    }
    let widen = below(4);
    if widen == 0 {
        // Gaps after rows, of a multiple of 16 bytes or of one element.
        let gap = if below(2) == 0 { 16 } else { 1 };
        for tensor in Tensor4::ALL {
            let [rows, _, heads, _] = problem.array(tensor).extents();
            let row = heads * dim + gap;
            problem = problem.with_strides(tensor, [row, dim, row * rows.max(1)])?;
        }
    }
    if below(8) == 0 {
        let tensor = Tensor4::ALL[below(4) as usize];
        problem = problem.with_alignment(tensor, i64::from(dtype.bits() / 8))?;
    }
    Ok(problem.with_lse(below(2) == 0).with_sinks(below(4) == 0))
}

/// A random generator for a number.
pub(crate) fn generator(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}
