//! Every MMA atom through a tiled MMA, on the simulator and on a GPU: exact on small whole numbers. Skips the GPU with
//! one line where there is none.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/mma_atom.rs"]
mod mma_atom;

use std::io::Write;

use girih_codegen::Operand;
use girih_codegen::atom::{MmaKind, Product};
use girih_device::{Arg, Device, Error, LaunchConfig, Select, SimOptions};
use girih_layout::Coord;
use girih_tensor::DType;
use mma_atom::{OneAtom, decode, encode, every_atom, merged, side_by_side};

/// Kernels of a module.
const BATCH: usize = 24;

fn random(state: &mut u64) -> i64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 20) as i64
}

/// A value of the dtype whose sums are exact: any integer that the dtype has, a whole number from -2 to 2 of a float.
fn value(dtype: DType, x: i64) -> i64 {
    match dtype {
        DType::S16 => x.rem_euclid(1 << 16) - (1 << 15),
        DType::S8 => x.rem_euclid(256) - 128,
        DType::U8 => x.rem_euclid(256),
        DType::S4 => x.rem_euclid(16) - 8,
        DType::U4 => x.rem_euclid(16),
        DType::B1 => x.rem_euclid(2),
        DType::S32 => x.rem_euclid(1 << 20) - (1 << 19),
        _ => x.rem_euclid(5) - 2,
    }
}

/// The elements of the matrices in the order of their memory, and those that C has afterwards.
struct Data {
    matrices: [Vec<i64>; 3],
    expected: Vec<i64>,
}

fn data(one: &OneAtom, seed: u64) -> Data {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let layouts = Operand::ALL.map(|operand| one.global(operand));
    let mut matrices = Operand::ALL.map(|operand| {
        let size = layouts[operand as usize].size().unwrap().get().unwrap();
        let dtype = one.atom().dtype(operand);
        (0..size).map(|_| value(dtype, random(&mut state))).collect::<Vec<_>>()
    });
    let integral = one.atom().c_type == DType::S32;
    // Some integer sums leave the range at either end, where they wrap or are clamped.
    let near = [0, i64::from(i32::MAX) - 40, i64::from(i32::MIN) + 40];
    for (i, c) in matrices[2].iter_mut().enumerate() {
        *c = if integral { near[i % 3] + c.rem_euclid(32) - 16 } else { *c };
    }
    let at = |operand: Operand, i: i64, j: i64| {
        layouts[operand as usize].crd2idx(&Coord::of(&[i, j]).unwrap()).unwrap() as usize
    };
    let [m, n, k] = one.extents();
    let step = k / one.steps;
    let mut expected = matrices[2].clone();
    // The rows of A and B as vectors, which makes the sums below quick.
    let rows = |operand: Operand, extent: i64| -> Vec<Vec<i64>> {
        let matrix = &matrices[operand as usize];
        (0..extent).map(|i| (0..k).map(|l| matrix[at(operand, i, l)]).collect()).collect()
    };
    let (a, b) = (rows(Operand::A, m), rows(Operand::B, n));
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let c = &mut expected[at(Operand::C, i, j)];
        *c = if one.accumulate { *c } else { 0 };
        let sign = if one.negate[0] == one.negate[1] { 1 } else { -1 };
        for first in (0..k as usize).step_by(step as usize) {
            let pairs = a[i as usize][first..][..step as usize].iter().zip(&b[j as usize][first..]);
            *c += sign
                * pairs
                    .map(|(x, y)| match one.atom().product {
                        Product::Multiply | Product::Saturate => x * y,
                        Product::Xor => x ^ y,
                        Product::And => x & y,
                    })
                    .sum::<i64>();
            if one.atom().product == Product::Saturate {
                *c = (*c).clamp(i32::MIN.into(), i32::MAX.into());
            }
        }
        if integral {
            *c = i64::from(*c as i32);
        }
    }
    Data { matrices, expected }
}

/// Runs a batch, and says what went wrong with which atom.
fn run(device: &Device, batch: &[(usize, OneAtom)]) -> Result<Vec<String>, Error> {
    let module = |(i, one): &(usize, OneAtom)| {
        one.module(&format!("atom{i}")).unwrap_or_else(|e| panic!("{}: {e}", one.atom()))
    };
    let loaded = device.load(&merged(batch.iter().map(module).collect()))?;
    let mut wrong = Vec::new();
    for (i, one) in batch {
        let data = data(one, *i as u64 + 1);
        let buffers: Vec<_> = Operand::ALL
            .into_iter()
            .map(|o| device.upload(&encode(one.atom().dtype(o), &data.matrices[o as usize])))
            .collect::<Result<_, _>>()?;
        let kernel = loaded.kernel(&format!("atom{i}"))?;
        let threads = one.mma.threads().unwrap() as u32;
        let config = LaunchConfig::new([1; 3], [threads, 1, 1]).with_dynamic_shared(one.shared_bytes());
        let args: Vec<Arg<'_>> = buffers.iter().map(Arg::from).collect();
        // SAFETY: the kernel reads A, B and C and writes C within the extents that the buffers have.
        #[expect(unsafe_code, reason = "launching a generated kernel")]
        let launched = unsafe { kernel.launch(&config, &args) };
        launched?;
        let found = decode(one.atom().c_type, &buffers[2].download()?);
        assert_eq!(found.len(), data.expected.len());
        let differs = found.iter().zip(&data.expected).filter(|(x, y)| **x != **y as f64).count();
        if differs > 0 {
            wrong.push(format!("{}: {differs} of {} differ", one.atom(), found.len()));
        }
    }
    Ok(wrong)
}

/// The atoms in batches of one target each. The atoms of a warpgroup have batches of their own, and of those atoms one in `every` is taken.
fn batches(every: usize) -> Vec<Vec<(usize, OneAtom)>> {
    let all: Vec<_> = every_atom().into_iter().chain(side_by_side()).enumerate().collect();
    let (warpgroups, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, one)| one.atom().kind.is_wgmma());
    let warpgroups: Vec<_> = warpgroups.into_iter().step_by(every).collect();
    others.chunks(BATCH).chain(warpgroups.chunks(BATCH)).map(<[_]>::to_vec).collect()
}

/// Runs batches one after the other, and says what went wrong.
fn run_all(device: &Device, batches: &[Vec<(usize, OneAtom)>]) -> Vec<String> {
    let (start, mut wrong) = (std::time::Instant::now(), Vec::new());
    for batch in batches {
        match run(device, batch) {
            Ok(found) => wrong.extend(found),
            // Where a whole batch fails, each of its kernels runs alone, to find which one it is.
            Err(_) => wrong.extend(batch.iter().filter_map(|one| match run(device, &[*one]) {
                Ok(found) => found.into_iter().next(),
                Err(error) => Some(format!("{}: {error}", one.1.atom())),
            })),
        }
    }
    let (count, seconds) = (batches.iter().map(Vec::len).sum::<usize>(), start.elapsed().as_secs_f64());
    eprintln!("{count} kernels on {} in {seconds:.1} s", device.name());
    wrong
}

/// All atoms of a warp, and a third of those of a warpgroup, whose products take long.
#[test]
fn atoms_multiply_in_the_simulator() {
    multiply_in_the_simulator(&batches(3));
}

#[test]
#[ignore = "the soak's: all atoms of a warpgroup"]
fn every_atom_multiplies_in_the_simulator() {
    multiply_in_the_simulator(&batches(1));
}

fn multiply_in_the_simulator(batches: &[Vec<(usize, OneAtom)>]) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let on_one_core = |core| {
        let part: Vec<_> = batches.iter().skip(core).step_by(cores).cloned().collect();
        run_all(&Device::open_sim(SimOptions::fast()).unwrap(), &part)
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|core| scope.spawn(move || on_one_core(core))).collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_atom_multiplies_on_a_gpu() {
    match Device::open(Select::Cuda(0)) {
        Ok(gpu) => {
            let wrong = run_all(&gpu, &batches(1));
            assert!(wrong.is_empty(), "on {}, {} wrong:\n{}", gpu.name(), wrong.len(), wrong.join("\n"));
        }
        // The harness swallows what eprintln! writes.
        Err(error) => writeln!(std::io::stderr(), "skipped on a GPU: {error}").unwrap(),
    }
}

/// The kernels above use all eight layouts of shared memory, for A and for B.
#[test]
fn every_layout_of_shared_memory_is_among_them() {
    let mut seen = std::collections::BTreeSet::new();
    for one in every_atom().iter().filter(|one| one.atom().kind == MmaKind::WgmmaSs) {
        seen.extend([0, 1].map(|i| (i, one.shared[i].name())));
    }
    assert_eq!(seen.len(), 16, "{seen:?}");
}
