//! The device interface on the simulator.
#![allow(unsafe_code, reason = "kernels are launched within the bounds of their buffers, or to be caught")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod programs;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use girih_device::{Arg, Buffer, Device, Error, Fault, Kind, LaunchConfig, Select, SimOptions};

fn checked() -> Device {
    Device::open_sim(SimOptions::checked()).unwrap()
}

#[test]
fn programs_agree_with_the_host() {
    for device in [Device::open(Select::Sim).unwrap(), checked()] {
        programs::saxpy_agrees(&device);
        programs::reverse_agrees(&device);
        programs::scalars_arrive(&device);
        programs::buffers_hold(&device);
    }
}

#[test]
fn clusters_agree_with_the_host() {
    programs::cluster::neighbours_agree(&checked());
    programs::cluster::clusters_are_refused(&checked());
    programs::cluster::programmatic_launches_wait(&checked());
}

#[test]
fn a_kernel_for_hopper_agrees_with_the_host() {
    programs::gemm::gemm_agrees(&checked());
}

/// The simulator finds no error in random copies of boxes.
#[test]
fn tensors_are_copied() {
    let device = checked();
    let module = device.load(&girih_ptx::Module::parse(&programs::tensor::module()).unwrap()).unwrap();
    let mut random = programs::Random::new(3);
    for seed in 1..=100 {
        programs::tensor::Copy::random(&mut random).run(&device, &module, seed);
    }
}

/// The simulator finds no error in random copies of columns of pixels.
#[test]
fn columns_are_copied() {
    let device = checked();
    let module = device.load(&girih_ptx::Module::parse(&programs::tensor::module()).unwrap()).unwrap();
    let mut random = programs::Random::new(4);
    for seed in 1..=100 {
        programs::tensor::Copy::columns(&mut random).run(&device, &module, seed);
    }
}

#[test]
fn maps_that_kernels_make_copy_as_the_hosts() {
    programs::tensor::made_maps_agree(&checked(), 60);
}

#[test]
fn grids_agree_with_the_host() {
    programs::grid::grids_agree(&checked(), 20);
    programs::grid::grids_are_refused(&checked());
}

#[test]
fn barriers_and_fences_keep_their_promises() {
    programs::order::meetings_agree(&checked(), 20);
    programs::order::fences_agree(&checked());
    programs::order::restricted_fences_agree(&checked());
}

/// The simulator finds no error in products with random descriptors and metadata, and repeats their results.
#[test]
fn sparse_warpgroups_multiply() {
    let device = checked();
    let mut random = programs::Random::new(5);
    for product in programs::wgmma::sparse_products().step_by(5) {
        let module = device.load(&girih_ptx::Module::parse(&product.module()).unwrap()).unwrap();
        let input = product.input(&mut random);
        let name = programs::wgmma::Product::kernel_name(&input);
        let first = product.run(&device, &module.kernel(&name).unwrap(), &input, 1);
        assert_eq!(product.run(&device, &module.kernel(&name).unwrap(), &input, 1), first, "{product:?}");
    }
}

#[test]
fn slices_and_borrowed_memory_agree_with_the_host() {
    programs::memory::slices_agree(&checked());
    programs::memory::borrowed_memory_agrees(&checked());
    programs::memory::memory_is_refused(&checked());
}

#[test]
fn graphs_agree_with_the_host() {
    programs::graphs::borrowed_memory_agrees(&checked());
    programs::graphs::graphs_keep_what_they_use(&checked(), 20);
    programs::graphs::drops_in_a_capture_wait(&checked(), 20);
    programs::graphs::captures_are_refused(&checked());
}

#[test]
fn transfers_agree_with_the_host() {
    programs::transfers::transfers_agree(&checked(), 20);
}

#[test]
fn prepared_launches_agree_with_the_host() {
    programs::prepared::changed_arguments_agree(&checked());
    programs::prepared::every_argument_is_in_its_place(&checked());
    programs::prepared::shared_memory_stays_allowed(&checked());
    programs::prepared::runs_are_ordered(&checked(), 20);
    programs::prepared::captures_agree(&checked(), 20);
}

#[test]
fn moved_maps_copy_as_new_ones() {
    programs::tensor::moved_maps_agree(&checked(), 60);
}

#[test]
fn streams_agree_with_the_host() {
    programs::streams::two_at_once_agree(&checked());
    programs::streams::events_order(&checked(), 20);
    programs::streams::shared_buffers_are_ordered(&checked(), 20);
    programs::streams::threads_do_not_wait_in_a_circle(&checked());
}

#[test]
fn the_simulator_looks_like_a_hopper() {
    let device = checked();
    assert_eq!((device.kind(), device.kind().to_string().as_str()), (Kind::Sim, "sim"));
    assert_eq!(device.name(), "girih simulator");
    let limits = device.limits();
    assert_eq!((limits.sm, limits.shared_per_block_optin, limits.driver_version), (90, 232_448, None));
    assert!(device.fallback().is_none());
}

#[test]
fn auto_is_the_gpu_or_says_why_not() {
    if std::env::var_os("GIRIH_DEVICE").is_some() {
        return; // the variable names the device, which a test in select.rs checks
    }
    let auto = Device::open(Select::Auto).unwrap();
    match Device::open(Select::Cuda(0)) {
        Ok(_) => assert!(auto.kind() == Kind::Cuda && auto.fallback().is_none()),
        Err(error) => {
            assert_eq!(auto.kind(), Kind::Sim);
            assert_eq!(auto.fallback().unwrap().to_string(), error.to_string());
        }
    }
}

#[test]
fn resources_come_from_the_text() {
    let device = checked();
    let saxpy = programs::kernel(&device, programs::SAXPY, "saxpy");
    let resources = saxpy.resources();
    assert_eq!((resources.instructions, resources.max_threads, resources.static_shared), (23, 256, 0));
    assert_eq!((resources.registers, resources.local_bytes, resources.spill_bytes), (None, None, None));
    let fixed = programs::kernel(&device, programs::REVERSE, "fixed").resources();
    assert_eq!((fixed.instructions, fixed.max_threads, fixed.static_shared), (9, 128, 4096));
    assert_eq!(saxpy.info().params.len(), 5);
}

#[test]
fn an_access_out_of_bounds_is_the_programs_fault() {
    let device = checked();
    let saxpy = programs::kernel(&device, programs::SAXPY, "saxpy");
    let (x, y, z) = (
        device.zeros::<f32>(64).unwrap(),
        device.zeros::<f32>(64).unwrap(),
        device.zeros::<f32>(63).unwrap(),
    );
    let args = [Arg::from(&x), Arg::from(&y), Arg::from(&z), Arg::from(1.0f32), Arg::from(64u32)];
    // SAFETY: not kept on purpose; the simulator reports it.
    let error = unsafe { saxpy.launch(&LaunchConfig::linear(64, 64), &args) }.unwrap_err();
    assert_eq!(error.fault(), Fault::Program);
    let text = error.to_string();
    assert!(matches!(error, Error::Sim(girih_sim::Error::OutOfBounds { .. })), "{text}");
    assert!(text.contains("saxpy"), "{text}");
    // The device can still be used.
    assert_eq!(x.download().unwrap(), vec![0.0; 64]);
}

#[test]
fn a_freed_buffer_is_out_of_bounds() {
    let device = checked();
    let saxpy = programs::kernel(&device, programs::SAXPY, "saxpy");
    let x = device.zeros::<f32>(8).unwrap();
    let stale = device.zeros::<f32>(8).unwrap().address();
    let args = [Arg::from(&x), Arg::U64(stale), Arg::from(&x), Arg::from(1.0f32), Arg::from(8u32)];
    // SAFETY: not kept on purpose; the simulator reports it.
    let outcome = unsafe { saxpy.launch(&LaunchConfig::linear(8, 8), &args) };
    assert!(matches!(outcome, Err(Error::Sim(girih_sim::Error::OutOfBounds { .. }))), "{outcome:?}");
}

#[test]
fn options_reach_the_simulator_and_its_report_comes_back() {
    let told = Arc::new(AtomicU64::new(0));
    let blocks = told.clone();
    let progress: girih_sim::Progress = Arc::new(move |_, total| {
        blocks.fetch_add(1, Relaxed);
        assert_eq!(total, 10);
    });
    let options = SimOptions { progress: Some(progress), threads: Some(1), ..SimOptions::checked() };
    let device = Device::open_sim(options).unwrap();
    let reverse = programs::kernel(&device, programs::REVERSE, "reverse");
    assert!(device.sim_report().is_none());
    let x = device.zeros::<u32>(640).unwrap();
    let config = LaunchConfig::new([10, 1, 1], [64, 1, 1]).with_dynamic_shared(256);
    // SAFETY: x has 640 words, the pool 64.
    unsafe { reverse.launch(&config, &[Arg::from(&x), Arg::from(0u32)]) }.unwrap();
    let report = device.sim_report().unwrap();
    // Each block has two warps, and each warp executes 23 instructions.
    assert_eq!((report.blocks, report.instructions, told.load(Relaxed)), (10, 10 * 2 * 23, 10));
}

#[test]
fn memory_runs_out_with_one_clear_line() {
    let device = checked();
    let kept = device.alloc::<u8>(1 << 20).unwrap();
    let total = device.limits().memory_bytes;
    let error = device.alloc::<u64>(total as usize / 8).unwrap_err();
    let wanted =
        format!("out of device memory: {total} bytes wanted, {} of {total} bytes free", total - (1 << 20));
    assert_eq!((error.to_string(), error.fault()), (wanted, Fault::Target));
    drop(kept);
}

#[test]
fn handles_are_one_device_and_work_from_any_thread() {
    let device = checked();
    let clone = device.clone();
    let x = std::thread::spawn(move || clone.upload(&[1u32, 2, 3]).unwrap()).join().unwrap();
    let y = device.alloc::<u32>(3).unwrap();
    y.copy_from(&x).unwrap();
    assert_eq!(y.download().unwrap(), [1, 2, 3]);
    assert!(x.device().is_same(&device) && !device.is_same(&checked()));
}

/// A kernel in which all threads write their numbers to one word.
const RACY: &str = ".version 8.0 .target sm_80 .address_size 64
    .visible .entry racy(.param .u64 out) { .reg .b32 %i; .reg .b64 %p;
      ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; st.global.u32 [%p], %i; ret; }";
/// A kernel in which the two halves of a block write the same number to one word.
const ALIKE: &str = ".version 8.0 .target sm_80 .address_size 64
    .visible .entry alike(.param .u64 out) { .reg .b32 %i; .reg .b64 %p; .reg .pred %h;
      ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; setp.lt.u32 %h, %i, 32;
      @%h st.global.u32 [%p], 1; @!%h st.global.u32 [%p], 1; ret; }";

#[test]
fn the_simulator_looks_for_races_unless_told_not_to() {
    let launch = |device: &Device, text: &str, name: &str| {
        let kernel = programs::kernel(device, text, name);
        let out = device.zeros::<u32>(1).unwrap();
        // SAFETY: the kernel writes the word.
        let outcome = unsafe { kernel.launch(&LaunchConfig::linear(64, 64), &[Arg::from(&out)]) };
        (outcome, device.sim_findings())
    };
    let default = Device::open(Select::Sim).unwrap();
    let (outcome, findings) = launch(&default, RACY, "racy");
    assert!(matches!(outcome, Err(Error::Sim(girih_sim::Error::Race { .. }))), "{outcome:?}");
    assert_eq!(findings[0].error.kind(), "race");
    let (outcome, findings) = launch(&default, ALIKE, "alike");
    assert!(outcome.is_ok() && findings[0].error.kind() == "same-value-race", "{outcome:?}");
    assert_eq!(default.sim_report().unwrap().warnings, 1);
    let fast = Device::open_sim(SimOptions::fast()).unwrap();
    let (outcome, findings) = launch(&fast, RACY, "racy");
    assert!(outcome.is_ok() && findings.is_empty(), "{outcome:?}");
    let denied = SimOptions { deny: girih_sim::Deny::Warnings, seeds: 3, ..SimOptions::checked() };
    assert!(launch(&Device::open_sim(denied).unwrap(), ALIKE, "alike").0.is_err());
}

const MOVED: &str = ".version 8.0 .target sm_80 .address_size 64
    .visible .entry moved(.param .u64 to, .param .u64 from) { .reg .b32 %x; .reg .b64 %p<2>;
      ld.param.u64 %p0, [to]; ld.param.u64 %p1, [from]; ld.global.u32 %x, [%p1]; st.global.u32 [%p0], %x; ret; }";

/// Memory that nobody has written has no values; what the host or a kernel has written, set or copied has.
#[test]
fn allocated_memory_has_no_values_until_it_is_written() {
    let run = |device: &Device, to: &Buffer<u32>, from: &Buffer<u32>| {
        let kernel = programs::kernel(device, MOVED, "moved");
        // SAFETY: the kernel copies a word.
        unsafe { kernel.launch(&LaunchConfig::linear(1, 1), &[Arg::from(to), Arg::from(from)]) }
    };
    let device = checked();
    let (out, raw) = (device.alloc::<u32>(2).unwrap(), device.alloc::<u32>(2).unwrap());
    let refused = run(&device, &out, &raw).unwrap_err();
    let Error::Sim(error) = &refused else { panic!("{refused}") };
    assert_eq!(error.kind(), "uninitialised-memory");
    run(&device, &out, &device.zeros::<u32>(2).unwrap()).unwrap();
    run(&device, &out, &device.upload(&[3u32, 4]).unwrap()).unwrap();
    // A kernel has written the first word, and not the second.
    run(&device, &raw, &out).unwrap();
    assert_eq!(raw.download().unwrap()[0], 3);
    // Where values are not checked, memory is zero.
    let fast = Device::open_sim(SimOptions::fast()).unwrap();
    let (out, raw) = (fast.alloc::<u32>(1).unwrap(), fast.alloc::<u32>(1).unwrap());
    run(&fast, &out, &raw).unwrap();
    assert_eq!(out.download().unwrap(), [0]);
}
