//! `girih emit`: prints the PTX of a kernel, or writes the machine code of NVIDIA's assembler, without a device.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use girih_codegen::attention::decode::{generate as generate_decode, generate_sum};
use girih_codegen::gemm::{Epilogue, generate};
use girih_device::{Assembler, Bundle, Device, Optimization, Select};
use girih_kernels::attention::decode::choose;
use girih_kernels::gemm::KernelKind;
use girih_ptx::{Item, Module, Statement};
use serde_json::{Value, json};

use crate::output::{Output, say, tell};
use crate::progress::Busy;
use crate::{CommandResult, Error, attention, copy, gemm, programs};

/// The arguments of `girih emit`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kernel: Kernel,
}

#[derive(clap::Subcommand)]
enum Kernel {
    /// The kernel that `girih gemm` runs for the same arguments on an H200; `--kernel sm80` is one for all GPUs
    #[command(after_help = gemm::LAYOUTS)]
    Gemm {
        #[command(flatten)]
        problem: gemm::ProblemArgs,
        #[command(flatten)]
        to: To,
    },
    /// The kernel that `girih attention` runs for the same arguments on an H200
    #[command(after_help = attention::ORDERS, args_conflicts_with_subcommands = true)]
    Attention {
        #[command(subcommand)]
        other: Option<Other>,
        #[command(flatten)]
        problem: Box<attention::ProblemArgs>,
        #[command(flatten)]
        to: To,
    },
    /// The kernel that `girih copy` runs for the same arguments
    #[command(after_help = copy::EXAMPLES)]
    Copy {
        #[command(flatten)]
        problem: Box<copy::ProblemArgs>,
        #[command(flatten)]
        to: To,
    },
    /// The kernel of a program over tiles
    #[command(after_help = programs::AFTER)]
    Tile {
        /// The program's name, or a file with its text
        program: String,
        /// The extents of each array, as 4096x1000, row-major and at addresses as girih allocates: the kernel is that of a launch with such
        /// arrays, of any sizes that tiles and vectors divide alike [default: what the program's text says]
        extents: Vec<String>,
        #[command(flatten)]
        to: To,
    },
}

/// Attention of another kind than of all queries to all keys.
#[derive(clap::Subcommand)]
enum Other {
    /// The kernel that `girih attention decode` runs for the same arguments on an H200; with --bundle also the one that adds up parts
    #[command(after_help = attention::decode::EXAMPLES)]
    Decode {
        #[command(flatten)]
        problem: Box<attention::decode::ProblemArgs>,
        /// Print the kernel that adds up parts instead
        #[arg(long)]
        sum: bool,
        #[command(flatten)]
        to: To,
    },
}

/// Where the kernel goes, and as what.
#[derive(clap::Args)]
struct To {
    /// Write a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write machine code instead of PTX: a cubin, which cuModuleLoadData loads without compiling. It is made by the `ptxas` that
    /// GIRIH_PTXAS names, or else by the one in PATH
    #[arg(long, group = "code", requires = "output")]
    cubin: bool,
    /// Write a bundle instead of PTX: the PTX and the machine code of every kernel that the arguments need, those that copy operands too, for
    /// `include_kernel!`. It is made as by --cubin
    #[arg(long, group = "code", requires = "output")]
    bundle: bool,
    /// Architecture of the machine code, 90 for sm_90 [default: the oldest that runs the PTX, or the only one]; for a program over tiles the one that
    /// its kernel is written for [default: 90]
    #[arg(long)]
    sm: Option<u32>,
    /// Print one JSON object: what the kernels are, with the PTX, or with the file that was written
    #[arg(long)]
    json: bool,
}

/// The emitted module.
struct Emitted {
    /// The kernel, with comments.
    module: Module,
    /// All kernels that the arguments need.
    kernels: Vec<girih_codegen::Kernel>,
}

pub(crate) fn run(args: Args) -> CommandResult {
    let is_program = matches!(args.kernel, Kernel::Tile { .. });
    let (emitted, to) = match args.kernel {
        Kernel::Gemm { problem, to } => (of_gemm(&problem.without_files()?)?, to),
        Kernel::Attention { other: Some(Other::Decode { problem, sum, to }), .. } => {
            (of_decode(&problem, sum)?, to)
        }
        Kernel::Attention { problem, to, .. } => (of_attention(&problem.without_files(0, false)?)?, to),
        Kernel::Copy { problem, to } => (of_copy(&problem.problem()?)?, to),
        Kernel::Tile { program, extents, to } => (of_program(&program, &extents, to.sm.unwrap_or(SM))?, to),
    };
    if let Some(sm) = to.sm.filter(|_| !is_program && !to.cubin && !to.bundle) {
        let expected = String::from(
            "--cubin or --bundle beside it: the PTX of this kernel is that of all architectures",
        );
        return Err(Error::Argument { text: format!("--sm {sm}"), expected }.into());
    }
    deliver(&emitted, &to)?;
    Ok(ExitCode::SUCCESS)
}

/// The SMs of the GPU for which tiles are chosen.
const MULTIPROCESSORS: u32 = 132;

fn of_gemm(chosen: &gemm::Chosen) -> Result<Emitted, girih_kernels::Error> {
    let problem = &chosen.problem;
    let kind = chosen.kind.unwrap_or_else(|| KernelKind::for_problem(problem, SM));
    let config = girih_kernels::gemm::choose(problem, kind, MULTIPROCESSORS)?;
    let kernel = generate(&config, &Epilogue::new())?;
    let [m, n, _] = config.tile;
    let fewest = if config.schedule.is_persistent() { "1 to " } else { "" };
    let products = if problem.batches() == 1 { "" } else { " * L" };
    let tiles = match problem.groups() {
        Some(_) => String::from("the tiles of all groups together,"),
        None => format!("{fewest}ceil(M/{m}) * ceil(N/{n}){products} blocks"),
    };
    let mut notes = vec![
        format!(
            "grid: {}{tiles} of {} threads",
            if problem.groups().is_some() { "at most as many blocks as " } else { "" },
            kernel.kernel.threads()
        ),
        format!(
            "dynamic shared memory: {} bytes; sizes and pitches in elements",
            kernel.kernel.shared_bytes()
        ),
    ];
    if problem.c().contiguous() == 0 {
        notes.push(
            "a column-major C is computed as C^T = B^T * A^T: pass B and ldb as a and lda, A and lda as b and ldb, N as m and M as n".into(),
        );
    }
    let kernels = girih_kernels::gemm::kernels(problem, &config, &Epilogue::new())?;
    Ok(Emitted { module: annotated(kernel.kernel.into_module(), notes, &kernel.partitions), kernels })
}

fn of_attention(chosen: &attention::Chosen) -> Result<Emitted, girih_kernels::Error> {
    let hardware = girih_kernels::attention::Hardware { sm: SM, multiprocessors: MULTIPROCESSORS };
    let config = girih_kernels::attention::choose(&chosen.problem, chosen.kind, hardware)?;
    let kernel = girih_codegen::attention::generate(&config)?;
    let notes = vec![
        format!("grid: as many blocks as the table of tiles is for, of {} threads", kernel.kernel.threads()),
        format!(
            "table: 32 bytes for each tile of {} queries of a head; block i of n takes the entries i, i + n, ...",
            config.tile[0]
        ),
        format!("dynamic shared memory: {} bytes; strides in elements", kernel.kernel.shared_bytes()),
    ];
    let module = annotated(kernel.kernel.module().clone(), notes, &kernel.partitions);
    Ok(Emitted { module, kernels: vec![kernel.kernel] })
}

fn of_decode(
    args: &attention::decode::ProblemArgs,
    sum: bool,
) -> Result<Emitted, Box<dyn std::error::Error>> {
    let (problem, _) = args.without_files()?;
    // The simulator has the limits of an H200.
    let plan = choose(&problem, Device::open(Select::Sim)?.limits(), args.parts)?;
    let mut all = vec![(generate_decode(&plan.config)?, format!("{:?}", plan.grid))];
    if plan.config.features.parts {
        let ([batches, queries], [heads, _]) = (problem.sequences(), problem.heads());
        let grid = format!("[{queries}, {heads}, {batches}], behind the kernel that attends to the keys");
        all.push((generate_sum(&plan.config, "attention_decode_sum")?, grid));
    }
    let Some((kernel, grid)) = all.get(usize::from(sum)) else {
        let text = String::from("--sum");
        let expected = String::from("several parts: one part of each sequence is not added up");
        return Err(Error::Argument { text, expected }.into());
    };
    let notes = vec![
        format!("grid: {grid}, of {} threads", kernel.kernel.threads()),
        format!("up to {} parts of a sequence, of {} or more tiles of 64 keys", plan.parts, plan.least_tiles),
        format!("dynamic shared memory: {} bytes; strides in elements", kernel.kernel.shared_bytes()),
    ];
    let module = annotated(kernel.kernel.module().clone(), notes, &kernel.partitions);
    Ok(Emitted { module, kernels: all.into_iter().map(|(kernel, _)| kernel.kernel).collect() })
}

fn of_copy(problem: &girih_kernels::copy::Problem) -> Result<Emitted, girih_kernels::Error> {
    let chosen = girih_kernels::copy::choose(problem, [16, 16])?;
    let kernel = girih_codegen::copy::generate(&chosen.config)?;
    let counts = chosen.config.modes.iter().enumerate().map(|(i, mode)| format!("ceil(n{i}/{})", mode.tile));
    let counts: Vec<String> = counts.collect();
    let notes = vec![
        format!("grid: {} blocks of {} threads", counts.join(" * "), chosen.config.threads),
        format!(
            "dynamic shared memory: {} bytes; extents n and strides in elements of {}",
            kernel.kernel.shared_bytes(),
            chosen.config.dtype
        ),
    ];
    let module = annotated(kernel.kernel.module().clone(), notes, &kernel.partitions);
    Ok(Emitted { module, kernels: vec![kernel.kernel] })
}

/// The architecture that programs are compiled for without another word.
const SM: u32 = 90;

fn of_program(program: &str, extents: &[String], sm: u32) -> Result<Emitted, Box<dyn std::error::Error>> {
    programs::supported(sm)?;
    let (func, _) = programs::with_extents(program, extents)?;
    let kernel = girih_tile::compile(&func, sm)?.kernel;
    let notes = vec![
        format!("blocks of {} threads", kernel.threads()),
        format!("dynamic shared memory: {} bytes; extents and strides in elements", kernel.shared_bytes()),
    ];
    Ok(Emitted { module: annotated(kernel.module().clone(), notes, &[]), kernels: vec![kernel] })
}

/// The module with comments at the head of its kernel, which say how to launch the kernel and what the kernel was derived from.
fn annotated(mut module: Module, notes: Vec<String>, partitions: &[(&str, String)]) -> Module {
    let lines = notes.into_iter().chain(partitions.iter().map(|(name, text)| format!("{name}: {text}")));
    let comments: Vec<_> = lines.map(|line| Statement::Comment(line.into())).collect();
    for item in &mut module.items {
        if let Item::Kernel(kernel) = item {
            kernel.body.splice(0..0, comments.iter().cloned());
        }
    }
    module
}

/// The emitted module, for other programs.
fn object(Emitted { module, kernels }: &Emitted, to: &To) -> Value {
    let kernel = |kernel: &girih_codegen::Kernel| {
        let names: Vec<String> =
            kernel.module().kernels().iter().map(|kernel| kernel.name.to_string()).collect();
        json!({ "names": names, "threads": kernel.threads(), "dynamic_shared_bytes": kernel.shared_bytes() })
    };
    json!({
        "kernels": kernels.iter().map(kernel).collect::<Vec<_>>(),
        "sm": module.target.sm,
        "ptx": to.output.is_none().then(|| module.to_string()),
        "output": to.output.as_ref().map(|path| path.display().to_string()),
    })
}

fn deliver(emitted: &Emitted, to: &To) -> Result<(), Box<dyn std::error::Error>> {
    match &to.output {
        Some(path) => write_file(emitted, to, path)?,
        None if to.json => {}
        None => io::stdout().lock().write_all(emitted.module.to_string().as_bytes())?,
    }
    if to.json {
        say(&object(emitted, to).to_string());
    }
    Ok(())
}

fn write_file(
    Emitted { module, kernels }: &Emitted,
    to: &To,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let output = Output::new(path)?;
    if !to.cubin && !to.bundle {
        return Ok(output.write(|to| write!(to, "{module}"))?);
    }
    let assembler = match Assembler::from_env()? {
        Some(assembler) => assembler,
        None => Assembler::find("ptxas").ok_or(Error::NoAssembler)?,
    };
    let sm = to.sm.unwrap_or(module.target.sm);
    let busy = Busy::begin("assembling");
    let (bytes, log) = if to.bundle {
        let bundle = Bundle::assemble(&assembler, sm, kernels)?;
        (bundle.to_bytes(), bundle.logs().collect::<Vec<_>>().join("\n"))
    } else {
        let built = assembler.assemble(module, sm, Optimization::Full)?;
        (built.code, built.log)
    };
    drop(busy);
    // Of what the assembler says, this is what makes code slow or wrong.
    let warned = log.lines().filter(|line| line.contains("warning") || line.contains("(C75"));
    warned.for_each(tell);
    Ok(output.write(|to| to.write_all(&bytes))?)
}
