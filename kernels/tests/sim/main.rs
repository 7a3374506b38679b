//! Every kernel on the simulator, which checks for races, uninitialised reads and accesses out of bounds; the choice of configurations;
//! the reference check.

mod attention;
mod attention_reference;
mod attention_tables;
mod batches;
mod blocks;
mod calls;
mod choice;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod decode;
mod fused;
mod gated;
mod groups;
mod invariant;
mod judge;
mod mixed;
mod plans;
mod pointers;
mod ragged;
mod records;
mod reductions;
mod schedules;
mod sums;
mod teams;
mod threads;
mod transposed;

use common::{Data, Failure, outputs, padded, variants, verify_dtype};
use girih_codegen::Builder;
use girih_codegen::gemm::{Epilogue, GemmKernel, generate};
use girih_device::{Arg, Device, SimOptions};
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem, choose};
use girih_ptx::{Item, Modifier, Module, Opcode, Statement, Word};
use girih_tensor::DType;

fn checked() -> Device {
    Device::open_sim(SimOptions::checked()).expect("the simulator opens anywhere")
}

fn all(problems: impl IntoIterator<Item = Problem>) -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    for (seed, problem) in problems.into_iter().enumerate() {
        verify_dtype(&gemms, &device, &problem, Data::random(&problem), seed as u64)?;
    }
    Ok(())
}

#[test]
fn ragged_sizes_in_every_layout_order_and_dtype() -> Result<(), Failure> {
    all([[1, 1, 1], [17, 33, 65], [5, 7, 0], [0, 5, 7], [5, 0, 7]].into_iter().flat_map(variants))
}

#[test]
fn several_tiles_with_padded_pitches() -> Result<(), Failure> {
    let problems = variants([130, 131, 40]);
    all(problems.into_iter().zip([1, 2, 4, 8].into_iter().cycle()).map(|(p, pad)| padded(p, pad)))
}

#[test]
fn whole_tiles() -> Result<(), Failure> {
    let problem = |dtype, layout| Problem::new(dtype, [256, 128, 128], layout).expect("within the limits");
    all(girih_kernels::gemm::INPUTS
        .into_iter()
        .flat_map(|dtype| Layout::ALL.map(|layout| problem(dtype, layout))))
}

/// C has other elements than A and B, of the widest vectors and one by one.
#[test]
fn outputs_of_every_dtype() -> Result<(), Failure> {
    all(outputs([136, 144, 72]).into_iter().chain(outputs([33, 47, 40])))
}

#[test]
fn copies() -> Result<(), Failure> {
    common::copies(&checked(), &[[1, 10_000], [64, 300]])
}

/// A slice is used as any other buffer. Slices on which a kernel would race are refused.
#[test]
fn slices_are_refused_where_a_kernel_cannot_use_them() -> Result<(), Failure> {
    let device = checked();
    let problem = girih_kernels::copy::Problem::strided(DType::F32, &[64, 8], &[1, 64], &[1, 64])?;
    let copy = girih_kernels::copy::Copy::new(&device, &problem)?;
    let values: Vec<f32> = (0..1024).map(|i| i as f32).collect();
    let x = device.upload(&values)?;
    let y = device.zeros::<f32>(512)?;
    for begin in [4, 1, 2] {
        copy.run(&y, &x.slice(begin..begin + 512)?)?;
        assert_eq!(y.download()?, values[begin..begin + 512]);
    }
    let refused =
        |error: girih_kernels::Error, text: &str| assert!(error.to_string().contains(text), "{error}");
    let error = copy.run(&x.slice(..512)?, &x.slice(500..)?).expect_err("overlap");
    refused(error, "dst and src have 48 bytes in common");
    copy.run(&x.slice(..512)?, &x.slice(512..)?)?;
    assert_eq!(x.download()?[..512], values[512..]);
    let gemm =
        Gemms::new(&device).get(&Problem::new(DType::F32, [8, 8, 8], Layout::Tn)?, KernelKind::Simt)?;
    let (a, b, c) = (x.slice(..64)?, x.slice(64..128)?, x.slice(100..164)?);
    refused(gemm.run(&a, &b, &c).expect_err("overlap"), "C and B have 112 bytes in common");
    Ok(())
}

/// A module is specialised by configuration and facts, never by M, N, K or a pitch.
#[test]
fn sizes_with_the_same_facts_share_one_module() -> Result<(), Failure> {
    let device = checked();
    let gemms = Gemms::new(&device);
    // With few rows, few columns or a short K tiles are smaller, which is another configuration.
    let small = [[128, 128, 128], [128, 256, 512], [1000, 72, 88]];
    // Tiles enough for all SMs are larger.
    let large = [[4096, 4096, 4096], [8192, 2048, 88]];
    for (sizes, modules) in [(&small[..], 1), (&large[..], 2)] {
        for &mnk in sizes {
            for pad in [0, 8, 64] {
                let problem = padded(Problem::new(DType::Bf16, mnk, Layout::Tn)?, pad);
                gemms.get(&problem, KernelKind::Sm80)?;
            }
        }
        assert_eq!(gemms.modules(), modules, "{sizes:?}");
    }
    // An odd pitch is another fact, and needs another module.
    gemms.get(&Problem::new(DType::Bf16, [128, 128, 127], Layout::Tn)?, KernelKind::Sm80)?;
    assert_eq!(gemms.modules(), 3);
    Ok(())
}

#[test]
fn bad_problems_are_refused_with_what_would_be_accepted() -> Result<(), Failure> {
    let message = |result: Result<Problem, girih_kernels::Error>| result.expect_err("bad input").to_string();
    let limit = 1 << 30;
    assert_eq!(
        message(Problem::new(DType::F32, [limit + 1, 1, 1], Layout::Tn)),
        "M = 1073741825: 0 to 1073741824 elements are accepted"
    );
    for &dtype in DType::ALL {
        let multiplied = girih_kernels::gemm::INPUTS.contains(&dtype);
        assert_eq!(Problem::new(dtype, [8, 8, 8], Layout::Tn).is_ok(), multiplied, "{dtype}");
        let copied = girih_kernels::copy::Problem::strided(dtype, &[8], &[1], &[1]).is_ok();
        assert_eq!(copied, dtype.bits() >= 8, "{dtype}");
    }
    assert_eq!(
        message(Problem::new(DType::S4, [8, 8, 8], Layout::Tn)),
        "kernel gemm does not take s4: f32, tf32, f64, f16, bf16, e4m3, e5m2 and s8 are accepted"
    );
    let problem = Problem::new(DType::Bf16, [64, 32, 16], Layout::Nt)?;
    assert_eq!(
        message(problem.with_pitches(Some(63), None, None)),
        "lda = 63 is too small: rows of A hold 64 elements, at least 64 are accepted"
    );
    let error = choose(&problem, KernelKind::Simt, 132).expect_err("simt is f32").to_string();
    assert_eq!(error, "kernel simt does not take bf16: f32 is accepted; sm80 and sm90 take the other dtypes");
    let floats = Problem::new(DType::F32, [64, 64, 64], Layout::Tt)?;
    assert_eq!(
        choose(&floats, KernelKind::Sm90, 132).expect_err("f32 is not rounded").to_string(),
        "kernel sm90 does not take f32: f64, tf32, f16, bf16, e4m3, e5m2 and s8 are accepted; simt takes f32"
    );
    let device = checked();
    let gemm =
        Gemms::new(&device).get(&Problem::new(DType::F32, [4, 4, 4], Layout::Tn)?, KernelKind::Simt)?;
    let (small, full) = (device.zeros::<f32>(15)?, device.zeros::<f32>(16)?);
    let c = device.zeros::<f32>(16)?;
    let error = gemm.run(&full, &small, &c).expect_err("B is too small").to_string();
    assert_eq!(error, "B needs 16 elements, its buffer has 15");
    Ok(())
}

/// The simulator reports the kernel if any one of its barriers and waits is removed.
#[test]
fn every_barrier_and_wait_is_needed() -> Result<(), Failure> {
    for layout in [Layout::Tn, Layout::Nt] {
        for dtype in [DType::F32, DType::Bf16] {
            let problem = Problem::new(dtype, [128, 128, 320], layout)?;
            let config = choose(&problem, KernelKind::for_dtype(dtype), 132)?;
            let generated = generate(&config, &Epilogue::new())?;
            assert!(simulate(generated.kernel.module(), &generated, &problem).is_ok());
            let (mut removed, mut caught) = (0, 0);
            for index in 0.. {
                let Some(mutant) = without_synchronisation(generated.kernel.module(), index) else { break };
                removed += 1;
                match simulate(&mutant, &generated, &problem) {
                    Err(error) => {
                        println!("{dtype} {layout}, without synchronisation {index}: {error}");
                        caught += 1;
                    }
                    Ok(_) => println!("{dtype} {layout}, without synchronisation {index}: not caught"),
                }
            }
            // What goes through registers on its way to shared memory is waited for by barriers alone.
            let needed = if dtype == DType::F32 && layout == Layout::Tn { 2 } else { 4 };
            assert_eq!((removed, caught), (needed, needed), "{dtype} {layout}");
        }
    }
    Ok(())
}

/// The module without its `index`th `bar.sync` or `cp.async.wait_group`.
fn without_synchronisation(module: &Module, index: usize) -> Option<Module> {
    let mut module = module.clone();
    let mut seen = 0;
    for item in &mut module.items {
        let Item::Kernel(kernel) = item else { continue };
        let synchronises = |statement: &Statement| match statement {
            Statement::Inst(inst) => {
                inst.opcode == Opcode::Bar || inst.modifiers.contains(&Modifier::Word(Word::WaitGroup))
            }
            _ => false,
        };
        let found = kernel.body.iter().position(|statement| {
            seen += usize::from(synchronises(statement));
            seen == index + 1
        });
        if let Some(at) = found {
            kernel.body.remove(at);
            return Some(module);
        }
    }
    None
}

fn simulate(
    module: &Module,
    generated: &GemmKernel,
    problem: &Problem,
) -> Result<girih_sim::Report, girih_sim::Error> {
    let memory = girih_sim::Memory::new();
    let program = girih_sim::Program::load(&Module::parse(&module.to_string()).expect("printed PTX parses"))?;
    let kernel = &program.kernels()[0];
    let bytes = i64::from(problem.dtype().bits() / 8);
    let mut args = Vec::new();
    for matrix in [&problem.a(), &problem.b(), &problem.c()] {
        let bytes = (matrix.span() * bytes) as usize;
        let address = memory.alloc(bytes)?;
        memory.fill(address, 0, bytes)?;
        args.push(address.to_le_bytes().to_vec());
    }
    let [m, n, k] = problem.mnk();
    let sizes = [m, n, k, problem.a().ld(), problem.b().ld(), problem.c().ld()];
    args.extend(sizes.map(|size| (size as u32).to_le_bytes().to_vec()));
    let launch = girih_sim::Launch {
        grid: [1, 1, 1],
        block: [generated.kernel.threads(), 1, 1],
        cluster: None,
        cooperative: false,
        dynamic_shared: generated.kernel.shared_bytes(),
        args,
    };
    girih_sim::run(kernel, &memory, &launch, &SimOptions::checked())
}

/// The arguments of a launch are checked against the facts that were stated when the kernel was written, and the error names the line
/// that states them.
#[test]
fn launches_keep_to_what_the_kernel_relies_on() -> Result<(), Failure> {
    let mut b = Builder::new("k", 80, 64);
    b.pointer("x", 16);
    let line = line!() + 1;
    b.symbol("n", |n| n.at_least(1).at_most(100).divisible_by(4))?;
    b.alloc_shared(96, 16)?;
    let device = checked();
    let kernel = device.load(&b.finish()?)?.kernel("k")?;
    let config = kernel.config([2, 1, 1])?;
    assert_eq!((config.block, config.dynamic_shared), ([64, 1, 1], 96));
    let x = device.zeros::<u32>(8)?;
    for n in 0..300 {
        let args = kernel.arguments(&[("n", Arg::U32(n)), ("x", Arg::from(&x))])?;
        #[expect(unsafe_code, reason = "launching a kernel that does nothing")]
        // SAFETY: the kernel touches no memory.
        let launched = unsafe { kernel.launch(&config, &args) };
        assert_eq!(launched.is_ok(), (1..=100).contains(&n) && n % 4 == 0, "{n}: {launched:?}");
        if let Err(error) = launched {
            let place = format!("{}:{line}:", file!());
            assert!(
                error.to_string().contains(&place) && error.to_string().contains("multiples of 4"),
                "{error}"
            );
        }
    }
    Ok(())
}
