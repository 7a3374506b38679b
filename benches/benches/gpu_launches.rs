//! What a launch costs the host: microseconds of one call, beside cudarc's and the driver's own launch of the same kernel, and of
//! one tiny product beside cuBLASLt's, measured in turns; prints a table and, with `GIRIH_RECORD=FILE`, appends JSON lines.
#![allow(missing_docs, reason = "a binary")]
#![allow(unsafe_code, reason = "launches; each block says why it holds")]

use std::{ffi::c_void, ptr, sync::Arc, time::Duration};

use cudarc::driver::{CudaContext, CudaStream, PushKernelArg as _, result, sys};
use girih_codegen::{Builder, Error, Gmem, Kernel, Scalar, algorithm::write};
use girih_device::{Device, args};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem, check};
use girih_layout::tiler;
use girih_peers::{
    contest::{Clock, Contestant, Failure, Rules, Times, contest},
    cublas::{self, CublasLt, Plan},
    gpu, normal,
    record::{record, save},
};
use girih_ptx::Special;
use girih_tensor::DType;
use half::bf16;
use serde_json::{Value, json};

const RULES: Rules = Rules {
    rounds: 15,
    settle: Duration::from_millis(40),
    timed: Duration::from_millis(60),
    clock: Clock::Host,
};

/// Threads of the kernel's one block, and elements of its vector.
const THREADS: u32 = 32;

fn main() -> Result<(), Failure> {
    if gpu().is_none() {
        return Ok(());
    }
    let context = CudaContext::new(0)?;
    // SAFETY: all that is made here stays in one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let device = Device::from_cudarc(&stream)?;
    println!("{}", device.name());
    let mut records = launches(&stream, &device)?;
    records.extend(products(&device)?);
    save(&device, records)
}

/// `x[i] = i + by` for i below `n`.
fn tiny() -> Result<Kernel, Error> {
    let mut b = Builder::new("tiny", 80, THREADS);
    let n = b.symbol("n", |n| n.at_least(1))?;
    let by = b.symbol("by", |by| by)?;
    let x = Gmem::vector(&mut b, "x", DType::U32, n)?; // n
    let thread = b.special(Special::TidX);
    let value = Scalar::index(&(&thread + &girih_codegen::Expr::from_int(&by.into())), DType::U32);
    write(&mut b, &x.local_tile(&tiler!("<1>"), thread)?, &[value])?;
    b.finish()
}

fn launches(stream: &Arc<CudaStream>, device: &Device) -> Result<Vec<Value>, Failure> {
    let generated = tiny()?;
    let kernel = device.load(&generated)?.kernel("tiny")?;
    let x = device.zeros::<u32>(THREADS as usize)?;
    let (n, by, config) = (THREADS, 5u32, kernel.config([1, 1, 1])?);
    let prepared = kernel.prepare(&config, &kernel.arguments(&args![n, by, x])?)?;

    let module = stream.context().load_module(generated.module().to_string().into())?;
    let function = module.load_function("tiny")?;
    let same = cudarc::driver::LaunchConfig::for_num_elems(THREADS);
    let same = cudarc::driver::LaunchConfig { block_dim: (THREADS, 1, 1), ..same };
    let address = x.address();
    let cudarc = || {
        let mut launch = stream.launch_builder(&function);
        launch.arg(&n).arg(&by).arg(&address);
        // SAFETY: as many elements as `x` has are written, and the address is that of `x`.
        unsafe { launch.launch(same) }.map(drop)
    };
    let raw: sys::CUfunction = ptr::with_exposed_provenance_mut(prepared.function().unwrap_or(0) as usize);
    let mut values: Vec<Box<[u8]>> = prepared.arguments().map(Box::from).collect();
    let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    let mut driver = || {
        let (one, block) = ((1, 1, 1), (THREADS, 1, 1));
        // SAFETY: the function and the bytes of its arguments are those of the prepared launch, which is kept.
        unsafe { result::launch_kernel(raw, one, block, 0, stream.cu_stream(), &mut pointers) }
    };

    let wanted: Vec<u32> = (0..n).map(|i| i + by).collect();
    let right = |who: &str| -> Result<(), Failure> {
        let found = x.download()?;
        x.fill_bytes(0)?;
        if found == wanted { Ok(()) } else { Err(format!("{who} wrote {found:?}").into()) }
    };
    // SAFETY: x has n elements, here and below.
    unsafe { prepared.run() }?;
    right("girih")?;
    cudarc()?;
    right("cudarc")?;
    driver()?;
    right("the driver")?;
    let mut by_name = || -> Result<(), Failure> {
        // SAFETY: as above.
        Ok(unsafe { kernel.launch(&config, &kernel.arguments(&args![n, by, x])?) }?)
    };
    let mut contestants = [
        // SAFETY: as above.
        contestant("Launch::run", || Ok(unsafe { prepared.run() }?)),
        contestant("Kernel::launch", &mut by_name),
        contestant("cudarc", || Ok(cudarc()?)),
        contestant("cuLaunchKernel", || Ok(driver()?)),
    ];
    let times = contest(device, RULES, &mut contestants)?;
    let what = json!({"op": "launch", "blocks": 1, "threads": THREADS, "parameters": 3});
    let beside = |ours, peer| compared(&what, &times[ours], &times[peer]);
    Ok(vec![beside(0, 2), beside(0, 3), beside(1, 2)])
}

fn products(device: &Device) -> Result<Vec<Value>, Failure> {
    let mnk = [128; 3];
    let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
    let host = [1, 2].map(|seed| normal::<bf16>(128 * 128, seed));
    let [a, b] = [device.upload(&host[0])?, device.upload(&host[1])?];
    let c = device.alloc::<bf16>(128 * 128)?;
    let gemm = Gemms::new(device).get(&problem, KernelKind::for_problem(&problem, device.limits().sm))?;
    let prepared = gemm.prepare(&a, &b, &c, &[])?.ok_or("C is not empty")?;
    // SAFETY: the buffers hold the problem's matrices, here and below.
    unsafe { prepared.run() }?;
    let found = check(&problem, &host[0], &host[1], &c.download()?, None)?;
    if !found.passed() {
        return Err(format!("{problem:?}: {found:?}").into());
    }
    let other = device.alloc::<bf16>(c.len())?;
    let plan =
        CublasLt::open(device).and_then(|library| Plan::new(&library, cublas::Problem::of(&problem), None));
    let peer = match plan {
        Ok(peer) => peer,
        Err(error) => {
            println!("cublaslt left out: {error}");
            return Ok(Vec::new());
        }
    };
    let mut contestants = [
        // SAFETY: as above.
        contestant("Launch::run", || Ok(unsafe { prepared.run() }?)),
        contestant("Gemm::run", || Ok(gemm.run(&a, &b, &c)?)),
        // C' = B' A'
        contestant("cublaslt", || Ok(peer.run(0, [&b, &a], &other)?)),
    ];
    let times = contest(device, RULES, &mut contestants)?;
    let what = json!({"op": "gemm", "dtype": "bf16", "layout": "tn", "m": mnk[0], "n": mnk[1], "k": mnk[2]});
    Ok([0, 1].map(|ours| compared(&what, &times[ours], &times[2])).into())
}

fn contestant<'a>(name: &str, run: impl FnMut() -> Result<(), Failure> + 'a) -> Contestant<'a> {
    Contestant::new(name, 1, run)
}

/// A record of calls of the host: what girih was called by stands beside what was called.
fn compared(what: &Value, ours: &Times, peer: &Times) -> Value {
    let mut what = what.clone();
    what["host_call"] = ours.name.as_str().into();
    record(what, "calls/ms", 1.0, 1e3, ours, peer)
}
