//! Every kernel on a real GPU. Skips with one line where there is none.

mod common;

use std::{collections::BTreeMap, sync::Mutex, thread};

use common::{Data, Failure, batch, calls, outputs, padded, ragged, variants, verify_dtype};
use girih_codegen::gemm::Schedule;
use girih_device::{Device, Select};
use girih_kernels::gemm::{GemmConfig, Gemms, KernelKind, Layout, Order, Problem, choose};
use girih_tensor::DType;
use half::bf16;
use rand::{SeedableRng, rngs::StdRng};

fn gpu() -> Option<Device> {
    match Device::open(Select::Cuda(0)) {
        Ok(device) => Some(device),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// Threads that the driver compiles in, which takes most of the time.
const WORKERS: usize = 16;

/// Runs all problems and reports every failure, not the first. Problems of one kernel are those of one thread.
fn all(device: &Device, problems: impl IntoIterator<Item = Problem>) -> Result<usize, Failure> {
    let limits = device.limits();
    let (mut kernels, mut shares, mut count) = (BTreeMap::new(), vec![Vec::new(); WORKERS], 0);
    for problem in problems {
        let kind = KernelKind::for_problem(&problem, limits.sm);
        let config = format!("{:?}", choose(&problem, kind, limits.multiprocessors)?);
        let known = kernels.len();
        shares[*kernels.entry(config).or_insert(known) % WORKERS].push((count, problem));
        count += 1;
    }
    let run = |share: Vec<(u64, Problem)>| {
        let (gemms, mut failures) = (Gemms::new(device), Vec::new());
        for (seed, problem) in share {
            if let Err(error) = verify_dtype(&gemms, device, &problem, Data::random(&problem), seed) {
                failures.push(error.to_string());
            }
        }
        failures
    };
    let failures: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = shares.into_iter().map(|share| scope.spawn(|| run(share))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread that does not panic")).collect()
    });
    println!("{count} problems, {} kernels", kernels.len());
    if failures.is_empty() {
        Ok(count as usize)
    } else {
        Err(format!("{} failures: {failures:#?}", failures.len()).into())
    }
}

/// Runs each item in one of some threads, and reports every failure.
fn each<T: Send>(
    items: impl IntoIterator<Item = T>,
    run: impl Fn(T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let items = Mutex::new(items.into_iter().collect::<Vec<_>>().into_iter());
    let next = || items.lock().expect("a thread that does not panic").next();
    let work =
        || std::iter::from_fn(next).filter_map(|item| Some(run(item).err()?.to_string())).collect::<Vec<_>>();
    let failures: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread that does not panic")).collect()
    });
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("{} failures: {failures:#?}", failures.len()).into())
    }
}

const SMALL: [[i64; 3]; 10] = [
    [1, 1, 1],
    [17, 33, 65],
    [0, 5, 7],
    [5, 7, 0],
    [5, 0, 7],
    [128, 128, 32],
    [129, 127, 33],
    [64, 256, 96],
    [300, 200, 100],
    [2, 515, 40],
];

#[test]
fn small_and_ragged() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    all(&device, SMALL.into_iter().flat_map(variants))?;
    Ok(())
}

#[test]
fn calls_of_one_gemm() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    calls::buffers_may_change(&device)?;
    calls::refusals_leave_nothing(&device)?;
    calls::threads_share_a_gemm(&device)?;
    calls::inputs_may_change(&device)?;
    calls::inputs_that_are_read_ahead_may_change(&device)?;
    calls::gemms_share_a_workspace(&device)?;
    calls::graphs_keep_their_buffers(&device)
}

#[test]
fn outputs_of_every_dtype() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    all(&device, [[136, 208, 160], [33, 47, 40], [1000, 2064, 512]].into_iter().flat_map(outputs))?;
    Ok(())
}

#[test]
fn padded_pitches() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let problems = [[17, 33, 65], [130, 260, 72]].into_iter().flat_map(variants);
    all(&device, problems.flat_map(|p| [1, 2, 4, 8].map(|pad| padded(p, pad))))?;
    Ok(())
}

#[test]
fn large() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    for mnk in [[512, 512, 512], [1000, 1000, 1000], [4095, 4097, 127], [4096, 4096, 4096]] {
        all(&device, variants(mnk))?;
    }
    Ok(())
}

#[test]
fn any_shape_any_pitch_any_address() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let mut rng = StdRng::seed_from_u64(13);
    all(&device, (0..600).map(|i| ragged(&mut rng, if i % 10 == 0 { 2000 } else { 300 })))?;
    let large = [[4095, 4097, 4099], [4096, 4096, 127], [16, 4097, 4099]];
    let problems = large.into_iter().flat_map(|mnk| {
        let problem = Problem::new(DType::Bf16, mnk, Layout::Tn).expect("within the limits");
        let odd = problem.with_alignments(Some(2), Some(4), Some(2)).expect("powers of two");
        [problem, padded(problem, 5), odd]
    });
    all(&device, problems)?;
    Ok(())
}

#[test]
fn rows_are_the_same_wherever_they_stand() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    common::invariant::rows_are_the_same(&device, [136, 200], &[5, 130, 300])?;
    common::invariant::rows_are_the_same(&device, [4096, 1000], &[16, 257, 8192])?;
    common::invariant::other_orders_are_refused(&device)
}

#[test]
fn mixed_inputs() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let shapes =
        [[1, 1, 1], [17, 33, 130], [5, 140, 300], [100, 136, 1200], [16, 4096, 4096], [64, 28672, 4096]];
    let problems = shapes.into_iter().map(common::mixed::variants).collect::<Result<Vec<_>, _>>()?.concat();
    each(problems, |problem| {
        Ok(common::mixed::verify(&device, &problem, None).map_err(|error| format!("{problem:?}: {error}"))?)
    })
}

#[test]
fn blocks_with_scales() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let shapes =
        [[1, 1, 1], [17, 33, 130], [300, 140, 300], [16, 4096, 4096], [1000, 1000, 1000], [2048, 2048, 2048]];
    let problems = shapes.into_iter().map(common::blocks::variants).collect::<Result<Vec<_>, _>>()?.concat();
    each(problems, |problem| {
        Ok(common::blocks::verify(&device, &problem, None)
            .map_err(|error| format!("{problem:?}: {error}"))?)
    })
}

#[test]
fn batches() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let small = [[40, 24, 48], [264, 136, 96]].into_iter().flat_map(variants).enumerate();
    all(&device, small.map(|(i, problem)| batch(problem, 5, [i, i / 3, i / 2].map(|i| i as i64 % 3))))?;
    let large = Problem::new(DType::Bf16, [512, 512, 72], Layout::Tn)?;
    let odd = Problem::new(DType::Bf16, [511, 513, 75], Layout::Tt)?;
    all(&device, [batch(large, 64, [0, 0, 0]), batch(large, 64, [0, 2, 2]), batch(odd, 64, [1, 0, 1])])?;
    Ok(())
}

#[test]
fn groups() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let small = [[40, 24, 48], [264, 136, 96]].into_iter().flat_map(variants).enumerate();
    let stride = |i: usize| [None, Some(0)][i % 2];
    all(&device, small.map(|(i, problem)| problem.grouped(6, stride(i)).expect("few")))?;
    let [large, odd] = [[8192, 1024, 512], [4099, 515, 517]]
        .map(|mnk| Layout::ALL.map(|layout| Problem::new(DType::Bf16, mnk, layout)));
    let problems = large.into_iter().chain(odd).collect::<Result<Vec<_>, _>>()?;
    let grouped = |count| problems.iter().map(move |problem| problem.grouped(count, None).expect("few"));
    all(&device, [8, 64, 500].into_iter().flat_map(grouped))?;
    Ok(())
}

#[test]
fn epilogues() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let orders = [Order::Row, Order::Column];
    let kinds = [KernelKind::Sm80, KernelKind::Sm90];
    let kinds = if device.limits().sm == 90 { &kinds[..] } else { &kinds[..1] };
    let layouts = || orders.into_iter().flat_map(|order| Layout::ALL.map(|layout| (order, layout)));
    let halves = layouts()
        .flat_map(|at| kinds.iter().flat_map(move |&kind| [(at, Some(kind), false), (at, Some(kind), true)]));
    let all = layouts().map(|at| (at, None, false)).chain(halves);
    each(all, |((order, layout), kind, is_split)| {
        let gemms = Gemms::new(&device);
        let Some(kind) = kind else {
            let f32s = Problem::new(DType::F32, [257, 132, 64], layout)?.with_order(order);
            return common::fused::verify_all::<f32>(&gemms, &device, &f32s, &[KernelKind::Simt], None);
        };
        let (mnk, split) = match is_split {
            false => ([520, 264, 96], None),
            true if layout == Layout::Tn => {
                ([264, 136, 1000], Some(Schedule::SplitK { parts: 3, cluster: 1 }))
            }
            true => return Ok(()),
        };
        let problem = Problem::new(DType::Bf16, mnk, layout)?.with_order(order);
        common::fused::verify_all::<bf16>(&gemms, &device, &problem, &[kind], split)
    })
}

/// Outputs besides C, on as many tiles as fill the device.
#[test]
fn reductions() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let kinds = [KernelKind::Sm80, KernelKind::Sm90];
    let kinds = if device.limits().sm == 90 { &kinds[..] } else { &kinds[..1] };
    for order in [Order::Row, Order::Column] {
        let f32s = Problem::new(DType::F32, [1030, 1300, 64], Layout::Tn)?.with_order(order);
        common::reductions::verify_all::<f32>(&device, &f32s, &[KernelKind::Simt], None)?;
        for mnk in [[2056, 2120, 32], [16, 2056, 600], [133, 71, 49]] {
            let halves = Problem::new(DType::Bf16, mnk, Layout::Tn)?.with_order(order);
            common::reductions::verify_all::<bf16>(&device, &halves, kinds, None)?;
            common::reductions::verify_all::<bf16>(&device, &batch(halves, 3, [0, 0, 0]), kinds, None)?;
        }
        let long = Problem::new(DType::Bf16, [264, 136, 1000], Layout::Tn)?.with_order(order);
        let split = Some(Schedule::SplitK { parts: 3, cluster: 1 });
        common::reductions::verify_all::<bf16>(&device, &long, kinds, split)?;
    }
    Ok(())
}

/// Gated pairs of columns, on as many tiles as fill the device, and on ragged ones.
#[test]
fn gated() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let kinds = [KernelKind::Sm80, KernelKind::Sm90];
    let kinds = if device.limits().sm == 90 { &kinds[..] } else { &kinds[..1] };
    let sizes = [[2056, 4224, 32], [264, 330, 48], [135, 70, 49], [20, 272, 72], [16, 4112, 600], [3, 2, 8]];
    each(kinds, |&kind| common::gated::verify_all(&device, kind, &sizes))
}

/// One of so many configurations of warpgroups is run.
const STEP: usize = 29;

#[test]
fn choices_multiply() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let by_warpgroups = |config: &GemmConfig| config.mainloop.warp_specialized().is_some();
    each(choose::all().filter(by_warpgroups).step_by(STEP), |config| {
        Ok(common::configs::verify(&device, &config).map_err(|error| format!("{config:?}: {error}"))?)
    })
}

#[test]
fn teams_take_turns() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    if device.limits().sm != 90 {
        return Ok(());
    }
    let [square, odd] = [[2100, 1504, 104], [1999, 2008, 72]];
    let all = [DType::Bf16, DType::F16, DType::Tf32, DType::E4m3, DType::S8].map(|dtype| (dtype, square));
    let mut problems = Vec::new();
    for (dtype, mnk) in all.into_iter().chain([(DType::Bf16, odd)]) {
        problems.push(Problem::new(dtype, mnk, Layout::Tn)?);
    }
    problems.push(batch(Problem::new(DType::Bf16, [512, 512, 40], Layout::Tn)?, 64, [0, 0, 0]));
    each(problems, |problem| {
        assert!(common::teams::verify(&device, &problem, 256, 97)? > 0, "{problem:?}");
        Ok(())
    })?;
    // Small tiles, since the host takes long for the distribution of so many elements by which GELU multiplies.
    let problem = Problem::new(DType::Bf16, [1100, 520, 72], Layout::Tn)?;
    each(0..common::fused::epilogues().len(), |number| {
        common::teams::verify_epilogue(&device, &problem, 64, number)
    })
}

#[test]
fn blocks_share_tiles() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let all =
        girih_kernels::gemm::INPUTS.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout)));
    each(all, |(dtype, layout)| {
        for (mnk, parts) in [([256, 384, 8192], 16), ([136, 264, 5000], 7), ([520, 72, 1000], 2)] {
            let problem = Problem::new(dtype, mnk, layout)?;
            common::split_k::verify(&device, &problem, parts)?;
            common::split_k::verify(&device, &padded(problem.with_order(Order::Column), 8), parts)?;
        }
        Ok(())
    })
}

#[test]
fn simulator_and_gpu_agree_bit_for_bit() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let sim = Device::open(Select::Sim)?;
    let (on_gpu, on_sim) = (Gemms::new(&device), Gemms::new(&sim));
    let small = [[17, 33, 65], [129, 130, 70], [256, 256, 256]].into_iter().flat_map(variants);
    let large = girih_kernels::gemm::INPUTS
        .map(|dtype| Problem::new(dtype, [512, 512, 512], Layout::Tn).expect("within the limits"));
    for problem in small.chain(large) {
        let gpu = verify_dtype(&on_gpu, &device, &problem, Data::SmallIntegers, 7)?;
        let sim = verify_dtype(&on_sim, &sim, &problem, Data::SmallIntegers, 7)?;
        let differing = gpu.iter().zip(&sim).filter(|(x, y)| x.to_bits() != y.to_bits()).count();
        assert_eq!(differing, 0, "{problem:?}: {differing} of {} elements differ", gpu.len());
    }
    Ok(())
}

#[test]
fn copies() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    common::copies(&device, &[[1, 1 << 24], [4096, 4096], [1000, 1001]])?;
    Ok(())
}
