//! What a launch costs the host, measured in turns: microseconds of one call, beside cudarc's and the driver's own launch of the same
//! kernel; of one product, with the buffers of the call before and with others, beside the driver's launch of the same arguments and
//! beside cuBLASLt. And what the first use of a problem costs: the choice, the text, the compilation, a second process that finds the code
//! on disk, and the next look at the same problem. Prints a table and, with `GIRIH_RECORD=FILE`, appends JSON lines as soon as they are
//! measured. Attention is measured as products are, beside the driver's launch. The words `launches`, `calls`, `attention` and `first` behind the program's name
//! leave the other parts out.
//!
//! With `GIRIH_PTXAS` the second process is also measured with the code that girih keeps on disk, and not only the driver.
#![allow(missing_docs, reason = "a binary")]
#![allow(unsafe_code, reason = "launches; each block says why it holds")]

mod first;

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;
use std::{env, ptr};

use cudarc::driver::{CudaContext, CudaStream, PushKernelArg as _, result, sys};
use first::{WORKER, first_uses, second_uses};
use girih_codegen::algorithm::write;
use girih_codegen::{Builder, Error, Gmem, Kernel, Scalar};
use girih_device::{Buffer, Device, Launch, args};
use girih_kernels::attention::{self, Attentions, Tensor4};
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

/// The products whose calls are measured: one whose kernel does next to nothing, and those of the rows whose kernels take microseconds.
const CALLED: [[i64; 3]; 4] = [[128; 3], [512; 3], [1000; 3], [128, 128, 65536]];

/// The attention whose calls are measured, and that whose first uses are: batches, heads, queries, keys and columns.
const ATTENDED: [i64; 5] = [1, 2, 128, 128, 128];

fn main() -> Result<(), Failure> {
    if env::var_os(WORKER).is_some() {
        return first_uses();
    }
    if gpu().is_none() {
        return Ok(());
    }
    let context = CudaContext::new(0)?;
    // SAFETY: all that is made here stays in one stream.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let device = Device::from_cudarc(&stream)?;
    println!("{}", device.name());
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wants = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    if wants("launches") {
        save(&device, launches(&stream, &device)?)?;
    }
    for mnk in CALLED.into_iter().filter(|_| wants("calls")) {
        save(&device, products(&stream, &device, mnk)?)?;
    }
    if wants("attention") {
        save(&device, attentions(&stream, &device)?)?;
    }
    if wants("first") {
        save(&device, second_uses()?)?;
    }
    Ok(())
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

fn products(stream: &Arc<CudaStream>, device: &Device, mnk: [i64; 3]) -> Result<Vec<Value>, Failure> {
    let problem = Problem::new(DType::Bf16, mnk, Layout::Tn)?;
    let spans = [problem.a(), problem.b(), problem.c()].map(|matrix| matrix.span() as usize);
    let host = [0, 1].map(|i| normal::<bf16>(spans[i], i as u64 + 1));
    let set = || -> Result<[Buffer<bf16>; 3], Failure> {
        Ok([device.upload(&host[0])?, device.upload(&host[1])?, device.alloc(spans[2])?])
    };
    let (same, other) = (set()?, set()?);
    let gemm = Gemms::new(device).get(&problem, KernelKind::for_problem(&problem, device.limits().sm))?;
    let prepared = gemm.prepare(&same[0], &same[1], &same[2], &[])?.ok_or("C is not empty")?;
    let call = |[a, b, c]: &[Buffer<bf16>; 3]| -> Result<(), Failure> { Ok(gemm.run(a, b, c)?) };
    let mut launches = prepared.launches();
    let (Some(launch), None) = (launches.next(), launches.next()) else {
        return Err(format!("{problem:?} takes several launches").into());
    };
    let mut driver = raw(stream, launch);
    let right = |who: &str, c: &Buffer<bf16>| -> Result<(), Failure> {
        let found = check(&problem, &host[0], &host[1], &c.download()?, None)?;
        c.fill_bytes(0xff)?;
        if found.passed() { Ok(()) } else { Err(format!("{problem:?} by {who}: {found:?}").into()) }
    };
    // SAFETY: the buffers hold the problem's matrices, here and below.
    unsafe { prepared.run() }?;
    right("Launch::run", &same[2])?;
    driver()?;
    right("the driver", &same[2])?;
    for set in [&same, &other, &same] {
        call(set)?;
        right("Gemm::run", &set[2])?;
    }
    let plan =
        CublasLt::open(device).and_then(|library| Plan::new(&library, cublas::Problem::of(&problem), None));
    let mut turn = false;
    let mut contestants = vec![
        // SAFETY: as above.
        contestant("Launch::run", || Ok(unsafe { prepared.run() }?)),
        contestant("Gemm::run", || call(&same)),
        contestant("Gemm::run, other buffers", || {
            turn = !turn;
            call(if turn { &other } else { &same })
        }),
        contestant("cuLaunchKernelEx", &mut driver),
    ];
    match &plan {
        // C' = B' A'
        Ok(peer) => {
            contestants.push(contestant("cublaslt", || Ok(peer.run(0, [&same[1], &same[0]], &other[2])?)))
        }
        Err(error) => println!("cublaslt left out: {error}"),
    }
    let times = contest(device, RULES, &mut contestants)?;
    let [m, n, k] = mnk;
    let what = json!({"op": "gemm", "dtype": "bf16", "layout": "tn", "m": m, "n": n, "k": k});
    let pairs = (0..3).flat_map(|ours| (3..times.len()).map(move |peer| (ours, peer)));
    Ok(pairs.map(|(ours, peer)| compared(&what, &times[ours], &times[peer])).collect())
}

/// Buffers of random Q, K and V, and of O.
fn attended(device: &Device, problem: &attention::Problem) -> Result<[Buffer<bf16>; 4], Failure> {
    let random = |tensor: Tensor4| {
        device.upload(&normal::<bf16>(problem.array(tensor).span() as usize, tensor as u64))
    };
    let [q, k, v, o] = Tensor4::ALL.map(random);
    Ok([q?, k?, v?, o?])
}

fn attentions(stream: &Arc<CudaStream>, device: &Device) -> Result<Vec<Value>, Failure> {
    let problem = attention::Problem::new(DType::Bf16, attention::Order::Bhsd, ATTENDED)?;
    let (same, other) = (attended(device, &problem)?, attended(device, &problem)?);
    let kernel = Attentions::new(device).get(&problem)?;
    let prepared = kernel.prepare(same.each_ref(), &[])?.ok_or("there are queries")?;
    let call = |set: &[Buffer<bf16>; 4]| -> Result<(), Failure> { Ok(kernel.run_with(set.each_ref(), &[])?) };
    let launch = prepared.launches().next().ok_or("no launch")?;
    let mut driver = raw(stream, launch);
    let host = same[..3].iter().map(|buffer| buffer.download()).collect::<Result<Vec<_>, _>>()?;
    let host = attention::Host { q: &host[0], k: &host[1], v: &host[2], bias: &[], sinks: &[] };
    let right = |who: &str, o: &Buffer<bf16>| -> Result<(), Failure> {
        let found = attention::check(&problem, &host, &o.download()?, &[], None)?;
        o.fill_bytes(0xff)?;
        if found.passed() { Ok(()) } else { Err(format!("{problem:?} by {who}: {found:?}").into()) }
    };
    // SAFETY: the buffers hold the problem's tensors, here and below.
    unsafe { prepared.run() }?;
    right("Launch::run", &same[3])?;
    driver()?;
    right("the driver", &same[3])?;
    for set in [&same, &other, &same] {
        call(set)?;
        right("Attention::run", &set[3])?;
    }
    let mut turn = false;
    let mut contestants = [
        // SAFETY: as above.
        contestant("Launch::run", || Ok(unsafe { prepared.run() }?)),
        contestant("Attention::run", || call(&same)),
        contestant("Attention::run, other buffers", || {
            turn = !turn;
            call(if turn { &other } else { &same })
        }),
        contestant("cuLaunchKernelEx", &mut driver),
    ];
    let times = contest(device, RULES, &mut contestants)?;
    let what = json!({"op": "attention", "dtype": "bf16", "sizes": ATTENDED});
    Ok((0..3).map(|ours| compared(&what, &times[ours], &times[3])).collect())
}

/// The driver's own launch of what a prepared launch holds, with all that does not change made beforehand.
fn raw<'a>(stream: &'a Arc<CudaStream>, launch: &'a Launch) -> impl FnMut() -> Result<(), Failure> + 'a {
    let function: sys::CUfunction = ptr::with_exposed_provenance_mut(launch.function().unwrap_or(0) as usize);
    let mut values: Vec<Box<[u8]>> = launch.arguments().map(Box::from).collect();
    let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
    let config = *launch.config();
    let cluster = config.cluster.map(|[x, y, z]| sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue {
            clusterDim: sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z },
        },
    });
    let programmatic = config.programmatic.then_some(sys::CUlaunchAttribute {
        id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
    });
    let mut attributes: Vec<_> = cluster.into_iter().chain(programmatic).collect();
    move || {
        let _kept = &values;
        let raw = sys::CUlaunchConfig {
            gridDimX: config.grid[0],
            gridDimY: config.grid[1],
            gridDimZ: config.grid[2],
            blockDimX: config.block[0],
            blockDimY: config.block[1],
            blockDimZ: config.block[2],
            sharedMemBytes: config.dynamic_shared,
            hStream: stream.cu_stream(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: the function, its configuration and the bytes of its arguments are those of the launch, which is borrowed.
        Ok(unsafe { sys::cuLaunchKernelEx(&raw, function, pointers.as_mut_ptr(), ptr::null_mut()) }
            .result()?)
    }
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
