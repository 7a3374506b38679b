//! What the tests on the simulator and those on a GPU share: problems, data and checks.
#![allow(dead_code, reason = "each test target uses its part")]

use float8::{F8E4M3, F8E5M2};
use girih_device::{Buffer, Device, Kind, Pod};
use girih_kernels::copy;
use girih_kernels::gemm::{
    Check, Gemm, Gemms, Given, INPUTS, KernelKind, Layout, Matrix, Order, Problem, check, check_groups,
    choose,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use rand::{RngExt, SeedableRng, rngs::StdRng};

pub(crate) mod assembler;
pub(crate) mod attention;
pub(crate) mod blocks;
pub(crate) mod calls;
pub(crate) mod configs;
pub(crate) mod decode;
pub(crate) mod fused;
pub(crate) mod gated;
pub(crate) mod invariant;
pub(crate) mod layouts;
pub(crate) mod mixed;
pub(crate) mod random;
pub(crate) mod reductions;
pub(crate) mod split_k;
pub(crate) mod teams;

pub(crate) type Failure = Box<dyn std::error::Error>;

/// What operands are filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Data {
    /// Uniform random numbers from -1 to 1; integers from -127 to 127.
    Random,
    /// Integers from -2 to 2, whose sums are exact in any order.
    SmallIntegers,
}

impl Data {
    /// Random numbers, whose sums C can hold.
    pub(crate) fn random(problem: &Problem) -> Data {
        let overflows = (problem.dtype(), problem.output()) == (DType::S8, DType::F16);
        if overflows { Data::SmallIntegers } else { Data::Random }
    }
}

pub(crate) fn filled<T: Element>(len: usize, data: Data, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    let widest = if T::DTYPE.is_float() { 1.0 } else { 127.0 };
    let mut next = || match data {
        Data::Random => rng.random_range(-widest..widest),
        Data::SmallIntegers => f64::from(rng.random_range(-2..=2)),
    };
    (0..len).map(|_| T::from_f64(next())).collect()
}

/// The rows of a matrix of a product as f64.
pub(crate) fn rows<T: Element>(matrix: &Matrix, product: i64, data: &[T]) -> Vec<Vec<f64>> {
    let [rows, columns] = matrix.extents();
    let at = |row, column| data[matrix.offset_in(row, column, product) as usize].to_f64();
    (0..rows).map(|row| (0..columns).map(|column| at(row, column)).collect()).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// How many elements stand in front of a matrix in its buffer, so that the matrix begins at a multiple of no more bytes than it says.
fn first<T: Element>(matrix: &Matrix) -> usize {
    if matrix.alignment() == 16 {
        0
    } else {
        (matrix.alignment() as usize * 8).div_ceil(T::DTYPE.bits() as usize)
    }
}

/// The matrix in a buffer of its device, which ends with the matrix's last element.
fn placed<T: Element + Pod>(device: &Device, matrix: &Matrix, values: &[T]) -> Result<Buffer<T>, Failure> {
    let first = first::<T>(matrix);
    let mut whole = vec![T::from_f64(f64::NAN); first];
    whole.extend_from_slice(values);
    Ok(device.upload(&whole)?.slice(first..)?)
}

/// The operands of a product, on the host and on the device.
struct Operands<T: Pod> {
    host: [Vec<T>; 2],
    device: [Buffer<T>; 2],
}

impl<T: Element + Pod> Operands<T> {
    fn new(device: &Device, problem: &Problem, data: Data, seed: u64) -> Result<Operands<T>, Failure> {
        let host = [(problem.a(), seed), (problem.b(), seed + 1)]
            .map(|(matrix, seed)| filled::<T>(matrix.span() as usize, data, seed));
        let [a, b] = &host;
        let device = [placed(device, &problem.a(), a)?, placed(device, &problem.b(), b)?];
        Ok(Operands { host, device })
    }
}

/// A poisoned buffer that has one row more than C, so that a write behind the end of C is found too, and C in it.
struct Poisoned<C: Pod> {
    whole: Buffer<C>,
    c: Buffer<C>,
    first: usize,
}

impl<C: Element + Pod> Poisoned<C> {
    fn new(device: &Device, problem: &Problem) -> Result<Poisoned<C>, Failure> {
        let first = first::<C>(&problem.c());
        let whole: Buffer<C> = device.alloc(first + (problem.c().span() + problem.c().ld()) as usize)?;
        Ok(Poisoned { c: whole.slice(first..)?, whole, first })
    }

    /// What was written, if nothing is in front of C.
    fn written(&self) -> Result<Vec<C>, Failure> {
        let mut c = self.whole.download()?;
        let written = |x: C| x != poison() && !x.to_f64().is_nan();
        if c.drain(..self.first).any(written) {
            return Err("something in front of C was written".into());
        }
        Ok(c)
    }
}

/// Runs `problem` on poisoned output and checks every element, or a sample of a large problem. Returns C. This is compiled for every pair of
/// types, so that it has little beside what needs both.
fn verify<T: Element + Pod, C: Element + Pod>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    operands: &Operands<T>,
    seed: u64,
) -> Result<Vec<f64>, Failure> {
    let out = Poisoned::<C>::new(device, problem)?;
    let ([a, b], [on_a, on_b]) = (&operands.host, &operands.device);
    let mut last = Vec::new();
    by_every_kernel(gemms, device, problem, &mut |gemm| {
        out.whole.fill_bytes(0xff)?;
        let offsets = multiply(gemm, problem, device, [on_a, on_b], &out.c, seed)?;
        last = out.written()?;
        compared(problem, offsets.as_deref(), [a, b], &last)
    })?;
    Ok(wide(&last))
}

fn wide<C: Element>(c: &[C]) -> Vec<f64> {
    c.iter().map(|x| x.to_f64()).collect()
}

/// Runs `run` with every kernel of the problem, and of the same products by pointers, and judges what it finds.
fn by_every_kernel(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    run: &mut dyn FnMut(&Gemm) -> Result<Check, Failure>,
) -> Result<(), Failure> {
    // Products of a batch are multiplied at strides and by pointers.
    let other = (problem.batches() != 1).then(|| by_pointers(problem));
    let asked = [Some(*problem), other].into_iter().flatten();
    let asked =
        asked.flat_map(|asked| kinds(&asked, device.limits().sm).into_iter().map(move |kind| (asked, kind)));
    for (asked, kind) in asked {
        let found = run(&gemms.get(&asked, kind)?)
            .map_err(|error| format!("{problem:?} by {}: {error}", kind.name()))?;
        if !found.passed() {
            return Err(format!("{problem:?} by {} on {}: {found:?}", kind.name(), device.name()).into());
        }
    }
    Ok(())
}

/// Runs a GEMM of matrices that lie as `problem` says. Returns where the groups begin, if the problem has groups: at rows that follow from
/// the seed.
pub(crate) fn multiply<T: Element + Pod, C: Element + Pod>(
    gemm: &Gemm,
    problem: &Problem,
    device: &Device,
    [a, b]: [&Buffer<T>; 2],
    c: &Buffer<C>,
    seed: u64,
) -> Result<Option<Vec<u32>>, Failure> {
    if gemm.problem().pointers().is_some() {
        let (a, b, c) = (each(&problem.a(), a)?, each(&problem.b(), b)?, each(&problem.c(), c)?);
        gemm.run_pointers(&device.pointers(&a)?, &device.pointers(&b)?, &device.pointers(&c)?, &[])?;
        return Ok(None);
    }
    let Some(groups) = gemm.problem().groups() else {
        gemm.run(a, b, c)?;
        return Ok(None);
    };
    let offsets = offsets(gemm.problem().mnk()[0], groups, seed);
    gemm.run_with(a, b, c, &[("offsets", Given::from(&device.upload(&offsets)?))])?;
    Ok(Some(offsets))
}

/// The products of a batch at strides, by the addresses of their matrices.
pub(crate) fn by_pointers(problem: &Problem) -> Problem {
    let aligned = |matrix: Matrix, dtype: DType| {
        let apart = if matrix.different() > 1 { matrix.batch_stride() } else { 0 };
        let bytes = apart * i64::from(dtype.bits() / 8);
        Some(1 << (matrix.alignment() | bytes).trailing_zeros())
    };
    let (input, output) = (problem.input(), problem.output());
    let [a, b, c] = [(problem.a(), input), (problem.b(), input), (problem.c(), output)]
        .map(|(matrix, dtype)| aligned(matrix, dtype));
    let aligned = problem.with_alignments(a, b, c).expect("powers of two");
    aligned.by_pointers(problem.batches()).expect("within the limits")
}

/// The matrices of a batch, which lie in one buffer.
fn each<T: Pod>(matrix: &Matrix, buffer: &Buffer<T>) -> Result<Vec<Buffer<T>>, Failure> {
    let [line, lines] = [matrix.contiguous(), 1 - matrix.contiguous()].map(|mode| matrix.extents()[mode]);
    let one = if line * lines > 0 { (lines - 1) * matrix.ld() + line } else { 0 };
    let begin = |l: i64| if one > 0 { l * matrix.batch_stride() } else { 0 };
    let slice = |l: i64| buffer.slice(begin(l) as usize..(begin(l) + one) as usize);
    Ok((0..matrix.batches()).map(slice).collect::<Result<_, _>>()?)
}

/// Compares C with the products, of groups that begin at `offsets`.
pub(crate) fn compared<T: Element, C: Element>(
    problem: &Problem,
    offsets: Option<&[u32]>,
    [a, b]: [&[T]; 2],
    c: &[C],
) -> Result<Check, Failure> {
    Ok(match offsets {
        Some(offsets) => check_groups(problem, offsets, [a, b], c, Some(poison()))?,
        None => check(problem, a, b, c, Some(poison()))?,
    })
}

/// Where `groups` groups of `rows` rows begin, at random, and the last one ends. Every third one has no row, and some rows are in no group.
pub(crate) fn offsets(rows: i64, groups: i64, seed: u64) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut offsets: Vec<u32> = (0..=groups).map(|_| rng.random_range(0..=rows as u32)).collect();
    offsets.sort_unstable();
    (1..offsets.len()).step_by(3).for_each(|i| offsets[i] = offsets[i - 1]);
    offsets
}

/// The element whose bits are all set: a float is no number, an integer is -1.
pub(crate) fn poison<T: Element>() -> T {
    T::from_f64(if T::DTYPE.is_float() { f64::NAN } else { -1.0 })
}

/// How often a GEMM is run: twice if it has a workspace, since a launch must leave that as the next one needs it. Of one that has none, the
/// simulator does the same again.
pub(crate) fn runs(device: &Device, gemm: &Gemm) -> Result<usize, Failure> {
    Ok(if device.kind() == Kind::Sim && gemm.workspace_bytes()? == 0 { 1 } else { 2 })
}

/// The bits of numbers, by which a second run is compared with the first.
pub(crate) fn bits<C: Element>(c: &[C]) -> Vec<u64> {
    c.iter().map(|x| x.to_f64().to_bits()).collect()
}

/// Every kernel that takes the problem on a device of architecture `sm`.
fn kinds(problem: &Problem, sm: u32) -> Vec<KernelKind> {
    let mut kinds = vec![KernelKind::for_dtype(problem.dtype()), KernelKind::for_problem(problem, sm)];
    if sm == 90 && choose(problem, KernelKind::Sm90, 132).is_ok() {
        kinds.push(KernelKind::Sm90);
    }
    kinds.dedup();
    kinds
}

pub(crate) fn verify_dtype(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    data: Data,
    seed: u64,
) -> Result<Vec<f64>, Failure> {
    match problem.input() {
        DType::F32 => of::<f32>(gemms, device, problem, data, seed),
        DType::F64 => of::<f64>(gemms, device, problem, data, seed),
        DType::F16 => of::<f16>(gemms, device, problem, data, seed),
        DType::Bf16 => of::<bf16>(gemms, device, problem, data, seed),
        DType::S8 => of::<i8>(gemms, device, problem, data, seed),
        DType::E4m3 => of::<F8E4M3>(gemms, device, problem, data, seed),
        DType::E5m2 => of::<F8E5M2>(gemms, device, problem, data, seed),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

/// [`verify`] with a C of the problem's dtype.
fn of<T: Element + Pod>(
    gemms: &Gemms,
    device: &Device,
    problem: &Problem,
    data: Data,
    seed: u64,
) -> Result<Vec<f64>, Failure> {
    let operands = &Operands::<T>::new(device, problem, data, seed)?;
    match problem.output() {
        DType::F32 => verify::<T, f32>(gemms, device, problem, operands, seed),
        DType::F64 => verify::<T, f64>(gemms, device, problem, operands, seed),
        DType::F16 => verify::<T, f16>(gemms, device, problem, operands, seed),
        DType::Bf16 => verify::<T, bf16>(gemms, device, problem, operands, seed),
        DType::S32 => verify::<T, i32>(gemms, device, problem, operands, seed),
        DType::E4m3 => verify::<T, F8E4M3>(gemms, device, problem, operands, seed),
        DType::E5m2 => verify::<T, F8E5M2>(gemms, device, problem, operands, seed),
        other => Err(girih_kernels::Error::unsupported("gemm", other).into()),
    }
}

/// The problem with combinations of layouts, C's orders and dtypes.
pub(crate) fn variants(mnk: [i64; 3]) -> Vec<Problem> {
    let mut out = Vec::new();
    for dtype in INPUTS {
        // Kernels for the two 8-bit floats differ in a word of their instruction.
        let layouts = if dtype == DType::E5m2 { &[Layout::Tn][..] } else { &Layout::ALL };
        for &layout in layouts {
            for order in [Order::Row, Order::Column] {
                let problem = Problem::new(dtype, mnk, layout).expect("within the limits").with_order(order);
                out.push(problem);
                if dtype == DType::F16 {
                    out.push(problem.with_sums(DType::F16).expect("sums of f16"));
                }
                if problem.promotes() && layout == Layout::Tn {
                    out.push(problem.with_fast_accumulation(true));
                }
            }
        }
    }
    out
}

/// A problem of any dtype, layout and order, of up to `most` rows, columns and terms, with any pitches and addresses.
pub(crate) fn ragged(rng: &mut StdRng, most: i64) -> Problem {
    let mut below = |n: i64| rng.random_range(0..n);
    let dtype = INPUTS[below(INPUTS.len() as i64) as usize];
    let layout = Layout::ALL[below(4) as usize];
    let order = if below(2) == 0 { Order::Row } else { Order::Column };
    // Extents around a multiple of a tile come as often as others.
    let mut extent = || match below(3) {
        0 => (64 * below(most / 64 + 1) + below(5) - 2).max(0),
        _ => 1 + below(most),
    };
    let problem = Problem::new(dtype, [extent(), extent(), extent()], layout).expect("within the limits");
    let problem = problem.with_order(order);
    let narrow = dtype == DType::F16 && below(2) == 0;
    let problem = if narrow { problem.with_sums(DType::F16).expect("sums of f16") } else { problem };
    let mut pitch = |matrix: Matrix| {
        Some(match below(4) {
            0 => matrix.ld(),
            1 => (matrix.ld() + 15) / 16 * 16,
            _ => matrix.ld() + below(20),
        })
    };
    let pitches = [problem.a(), problem.b(), problem.c()].map(&mut pitch);
    let problem = problem.with_pitches(pitches[0], pitches[1], pitches[2]).expect("longer than rows");
    let mut alignment = |dtype: DType| {
        let element = i64::from(dtype.bits() / 8);
        Some([16, 16, element, 2 * element][below(4) as usize].min(16))
    };
    let (inputs, output) = (problem.dtype(), problem.output());
    let alignments = [alignment(inputs), alignment(inputs), alignment(output)];
    let problem =
        problem.with_alignments(alignments[0], alignments[1], alignments[2]).expect("powers of two");
    match below(4) {
        0 => batch(problem, 1 + below(4), [0; 3].map(|_| below(3))),
        1 => problem.grouped(1 + below(9), [None, Some(0)][below(2) as usize]).expect("within the limits"),
        _ => problem,
    }
}

/// As many such products. Each operand says how its matrices lie: 0 for one after the other, 1 with a gap, 2 for one that all have,
/// or, of C, whose rows are between those of the others.
pub(crate) fn batch(problem: Problem, count: i64, how: [i64; 3]) -> Problem {
    let one = [problem.a(), problem.b(), problem.c()];
    let apart = |matrix: Matrix| matrix.ld() * matrix.extents()[1 - matrix.contiguous()] + 3;
    let c = problem.c();
    let row = c.extents()[c.contiguous()].max(1);
    let (problem, between) = match how[2] {
        2 => (problem.with_pitches(None, None, Some(count.max(1) * row)).expect("longer"), Some(row)),
        1 => (problem, Some(apart(c))),
        _ => (problem, None),
    };
    let stride = |i: usize| [None, Some(apart(one[i])), Some(0)][how[i] as usize];
    problem.batched(count, [stride(0), stride(1), between]).expect("apart")
}

/// Problems with every dtype that C may have, in the orders of C and with vectors of C as wide as `n` and the pitch allow.
pub(crate) fn outputs(mnk: [i64; 3]) -> Vec<Problem> {
    let mut out = Vec::new();
    for dtype in INPUTS {
        let problem = Problem::new(dtype, mnk, Layout::Tn).expect("within the limits");
        for (i, &output) in problem.outputs().iter().enumerate() {
            let order = if i % 2 == 0 { Order::Row } else { Order::Column };
            out.push(problem.with_output(output).expect("one of the outputs").with_order(order));
        }
    }
    out
}

/// The same problem with pitches that are `pad` elements longer than before.
pub(crate) fn padded(problem: Problem, pad: i64) -> Problem {
    let (a, b, c) = (problem.a().ld() + pad, problem.b().ld() + pad, problem.c().ld() + pad);
    problem.with_pitches(Some(a), Some(b), Some(c)).expect("within the limits")
}

/// Runs copies of `extents` rows and columns and of ragged sizes, with and without padding, in all dtypes. The padding must not change.
pub(crate) fn copies(device: &Device, extents: &[[i64; 2]]) -> Result<(), Failure> {
    let ragged = [[1, 1], [1, 7], [3, 5], [17, 33], [5, 4099], [257, 65], [0, 4], [4, 0]];
    for &[rows, columns] in ragged.iter().chain(extents) {
        for pad in [[0, 0], [1, 3], [8, 16]] {
            copy_once::<f32>(device, rows, columns, pad)?;
            copy_once::<f16>(device, rows, columns, pad)?;
            copy_once::<bf16>(device, rows, columns, pad)?;
        }
    }
    Ok(())
}

fn copy_once<T: Element + Pod>(
    device: &Device,
    rows: i64,
    columns: i64,
    pad: [i64; 2],
) -> Result<(), Failure> {
    let (ld_dst, ld_src) = ((columns + pad[0]).max(1), (columns + pad[1]).max(1));
    let problem = copy::Problem::strided(T::DTYPE, &[columns, rows], &[1, ld_src], &[1, ld_dst])?;
    let host = filled::<T>((rows * ld_src) as usize, Data::Random, 3);
    let source = device.upload(&host)?;
    let target: Buffer<T> = device.alloc((rows * ld_dst) as usize)?;
    target.fill_bytes(0xff)?;
    copy::Copy::new(device, &problem)?.run(&target, &source)?;
    let out = target.download()?;
    for (i, value) in out.iter().enumerate() {
        let (row, column) = (i as i64 / ld_dst, i as i64 % ld_dst);
        let good = if column < columns {
            *value == host[(row * ld_src + column) as usize]
        } else {
            value.to_f64().is_nan()
        };
        if !good {
            return Err(
                format!("{problem:?} of {rows} x {columns}: element ({row},{column}) is {value:?}").into()
            );
        }
    }
    Ok(())
}
