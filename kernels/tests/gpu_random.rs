//! Thousands of random products on a GPU, and products whose offsets do not fit 32 bits. Skips with one line where there is no GPU.
//!
//! A number says everything about a product, so that one that has failed can be run again: `GIRIH_SEEDS=1308..1309` runs number 1308.
//! `GIRIH_SECONDS=200` begins nothing after so many seconds, and says which numbers are left.

mod common;

use common::{Data, Failure, filled, fused, poison, verify_dtype};
use girih_device::{Buffer, Device, Select};
use girih_kernels::gemm::{Gemms, INPUTS, KernelKind, Layout, Matrix, Order, Problem};
use girih_tensor::DType;
use half::{bf16, f16};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Neighbouring numbers whose products have the same facts: compiling a kernel takes longer than many products by it.
const FAMILY: u64 = 12;
const CASES: u64 = 2400;

fn gpu() -> Option<Device> {
    match Device::open(Select::Cuda(0)) {
        Ok(device) => Some(device),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// What products of a family have in common: everything on which the kernel depends but its tile.
struct Family {
    dtype: DType,
    output: Option<DType>,
    layout: Layout,
    order: Order,
    fast: bool,
    /// The elements that pitches are multiples of, and the bytes that addresses of A, B and C are multiples of, at least an element.
    pitches: [i64; 3],
    addresses: [i64; 3],
    batched: bool,
    /// The number of the epilogue among those that are tested, if there is one.
    epilogue: Option<usize>,
    /// The greatest M, N and K.
    most: [i64; 3],
}

impl Family {
    fn new(number: u64) -> Family {
        let mut rng = StdRng::seed_from_u64(number);
        let mut below = |n: usize| rng.random_range(0..n);
        // An epilogue of a type in four of eight.
        let fused = [DType::Bf16, DType::F32, DType::F16, DType::Bf16];
        let epilogue = (below(3) == 0).then(|| below(fused::epilogues().len()));
        let dtype = epilogue.map_or(INPUTS[number as usize % INPUTS.len()], |_| fused[below(4)]);
        let layout = Layout::ALL[below(4)];
        let base = Problem::new(dtype, [1, 1, 1], layout).expect("within the limits");
        let outputs = base.outputs();
        let output = (epilogue.is_none() && below(3) == 0).then(|| outputs[below(outputs.len())]);
        let mut ragged = |choices: [i64; 4]| [0; 3].map(|_| choices[below(4)]);
        let (pitches, addresses) = (ragged([16, 8, 1, 1]), ragged([16, 16, 16, 1]));
        let most = [[300, 300, 300], [300, 300, 300], [24, 900, 600], [150, 150, 4000]][below(4)];
        Family {
            dtype,
            output,
            layout,
            order: if below(2) == 0 { Order::Row } else { Order::Column },
            fast: below(2) == 0,
            pitches,
            // What an epilogue reads is aligned as C is.
            addresses: if epilogue.is_some() { [16; 3] } else { addresses },
            batched: epilogue.is_none() && below(4) == 0,
            epilogue,
            most,
        }
    }

    /// One of its problems.
    fn problem(&self, seed: u64) -> Result<Problem, Failure> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut below = |n: i64| rng.random_range(0..n);
        let least = i64::from(self.epilogue.is_some());
        // Extents around a multiple of a tile come as often as others; there are empty ones.
        let mut extent = |most: i64| match below(8) {
            0 if least == 0 => below(2),
            0..=3 => (64 * below(most / 64 + 1) + below(5) - 2).max(least),
            _ => 1 + below(most),
        };
        let mnk = self.most.map(&mut extent);
        let mut problem = Problem::new(self.dtype, mnk, self.layout)?.with_order(self.order);
        if let Some(output) = self.output {
            problem = problem.with_output(output)?;
        }
        if self.fast && problem.promotes() {
            problem = problem.with_fast_accumulation(true);
        }
        let matrices = [problem.a(), problem.b(), problem.c()];
        let mut pitch = |i: usize| {
            let (matrix, unit): (Matrix, i64) = (matrices[i], self.pitches[i]);
            Some((matrix.ld() + unit - 1) / unit * unit + unit * below(3))
        };
        problem = problem.with_pitches(pitch(0), pitch(1), pitch(2))?;
        let bytes = |i: usize, dtype: DType| Some(self.addresses[i].max(i64::from(dtype.bits() / 8)));
        let (input, output) = (problem.input(), problem.output());
        problem = problem.with_alignments(bytes(0, input), bytes(1, input), bytes(2, output))?;
        if self.batched {
            problem = common::batch(problem, 1 + below(4), [0; 3].map(|_| below(3)));
        }
        Ok(problem)
    }

    fn verify(&self, gemms: &Gemms, device: &Device, seed: u64) -> Result<(), Failure> {
        let problem = self.problem(seed)?;
        let Some(epilogue) = self.epilogue else {
            return verify_dtype(gemms, device, &problem, Data::random(&problem), seed).map(drop);
        };
        let kind = KernelKind::for_problem(&problem, device.limits().sm);
        match self.dtype {
            DType::F32 => fused::verify_one::<f32>(gemms, device, &problem, kind, epilogue),
            DType::F16 => fused::verify_one::<f16>(gemms, device, &problem, kind, epilogue),
            _ => fused::verify_one::<bf16>(gemms, device, &problem, kind, epilogue),
        }
    }
}

#[test]
fn random_problems() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let shared = |number| (Family::new(number), Gemms::new(&device));
    let verify = |(family, gemms): &(Family, Gemms), seed| family.verify(gemms, &device, seed);
    common::random::run(CASES, FAMILY, shared, verify, |(_, gemms)| gemms.modules())
}

/// Random elements that are repeated, so that the host need not hold them all. Their number divides no power of 2: what lies 2^32
/// elements away is another.
const REPEATED: usize = (1 << 22) - 3;

/// A buffer of so many elements, and those that are repeated in it.
fn repeated(device: &Device, len: usize, seed: u64) -> Result<(Buffer<bf16>, Vec<bf16>), Failure> {
    let block = filled::<bf16>(REPEATED, Data::SmallIntegers, seed);
    let (source, whole) = (device.upload(&block)?, device.alloc::<bf16>(len)?);
    for from in (0..len).step_by(REPEATED) {
        let count = REPEATED.min(len - from);
        whole.slice(from..from + count)?.copy_from(&source.slice(..count)?)?;
    }
    Ok((whole, block))
}

/// Runs a problem of small integers, whose sums are exact, and checks elements in all corners and some between, and the gaps after them.
fn far(device: &Device, problem: Problem) -> Result<(), Failure> {
    let [a, b, c] = [problem.a(), problem.b(), problem.c()];
    let (on_a, of_a) = repeated(device, a.span() as usize, 1)?;
    let (on_b, of_b) = repeated(device, b.span() as usize, 2)?;
    let on_c = device.alloc::<f32>((c.span() + c.ld()) as usize)?;
    let [m, n, k] = problem.mnk();
    let mut rng = StdRng::seed_from_u64(3);
    let mut some = |count: i64| -> Vec<i64> {
        let edges = [0, 1, count / 2, count - 2, count - 1].into_iter();
        let mut all: Vec<i64> = edges.chain((0..40).map(|_| rng.random_range(0..count))).collect();
        all.retain(|&at| (0..count).contains(&at));
        all
    };
    let (rows, columns) = (some(m), some(n));
    for kind in
        [KernelKind::for_dtype(problem.dtype()), KernelKind::for_problem(&problem, device.limits().sm)]
    {
        on_c.fill_bytes(0xff)?;
        Gemms::new(device).get(&problem, kind)?.run(&on_a, &on_b, &on_c)?;
        for &i in &rows {
            for &j in &columns {
                let product = |x: i64| {
                    let [of_a, of_b] = [(&of_a, a.offset(i, x)), (&of_b, b.offset(j, x))]
                        .map(|(block, at)| block[at as usize % REPEATED].to_f32());
                    of_a * of_b
                };
                let (wanted, at) = ((0..k).map(product).sum::<f32>(), c.offset(i, j) as usize);
                let found = on_c.slice(at..at + 1)?.download()?[0];
                if found != wanted {
                    return Err(format!("{problem:?} by {kind:?}: ({i},{j}) is {found}, not {wanted}").into());
                }
            }
            let end = (c.offset(i, n - 1) + 1) as usize;
            let gap = on_c.slice(end..end + (c.ld() - n) as usize)?.download()?;
            if gap.iter().any(|&x| x != poison::<f32>() && !x.is_nan()) {
                return Err(format!("{problem:?} by {kind:?}: something behind row {i} was written").into());
            }
        }
    }
    Ok(())
}

#[test]
fn offsets_beyond_32_bits() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let of = |mnk, layout| -> Result<Problem, Failure> {
        Ok(Problem::new(DType::Bf16, mnk, layout)?.with_output(DType::F32)?)
    };
    // C of 66000 x 66013 elements; A of 1100003 x 4096 and of 4096 x 1100003; rows that are 2^20 elements apart.
    for problem in [
        of([66000, 66000, 64], Layout::Tn)?.with_pitches(None, None, Some(66016))?,
        of([66000, 66000, 40], Layout::Tt)?.with_pitches(None, None, Some(66013))?,
        of([1_100_003, 40, 4096], Layout::Tn)?.with_pitches(None, None, Some(44))?,
        of([1_100_003, 40, 4096], Layout::Nt)?.with_pitches(None, None, Some(44))?,
        of([4200, 48, 100], Layout::Tn)?.with_pitches(Some(1 << 20), None, Some(1 << 20))?,
        of([4200, 48, 100], Layout::Tn)?.with_pitches(Some((1 << 20) + 1), None, Some((1 << 20) + 3))?,
    ] {
        far(&device, problem)?;
    }
    Ok(())
}
