//! `girih emit`: prints the PTX of a kernel, without a device.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use girih_codegen::gemm::{Epilogue, generate};
use girih_kernels::gemm::KernelKind;
use girih_ptx::{Item, Module, Statement};

use crate::output::Output;
use crate::{CommandResult, copy, gemm};

/// The arguments of `girih emit`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kernel: Kernel,
}

#[derive(clap::Subcommand)]
enum Kernel {
    /// The kernel that `girih gemm` runs for the same arguments; without `--kernel` the kernel that every GPU can run
    #[command(after_help = gemm::LAYOUTS)]
    Gemm {
        #[command(flatten)]
        problem: gemm::ProblemArgs,
        /// Write a file instead of stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// The kernel that `girih copy` runs for the same arguments
    #[command(after_help = copy::EXAMPLES)]
    Copy {
        #[command(flatten)]
        problem: Box<copy::ProblemArgs>,
        /// Write a file instead of stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

pub(crate) fn run(args: Args) -> CommandResult {
    let (module, output) = match args.kernel {
        Kernel::Gemm { problem, output } => (gemm_module(&problem.without_files()?)?, output),
        Kernel::Copy { problem, output } => (copy_module(&problem.problem()?)?, output),
    };
    deliver(&module, output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// The multiprocessors of the GPU for which tiles are chosen.
const MULTIPROCESSORS: u32 = 132;

fn gemm_module(chosen: &gemm::Chosen) -> Result<Module, girih_kernels::Error> {
    let problem = &chosen.problem;
    let kind = chosen.kind.unwrap_or(KernelKind::for_dtype(problem.dtype()));
    let config = girih_kernels::gemm::choose(problem, kind, MULTIPROCESSORS)?;
    let kernel = generate(&config, &Epilogue::new())?;
    let [m, n, _] = config.tile;
    let fewest = if config.schedule.is_persistent() { "1 to " } else { "" };
    let products = if problem.batches() == 1 { "" } else { " * L" };
    let mut notes = vec![
        format!(
            "grid: {fewest}ceil(M/{m}) * ceil(N/{n}){products} blocks of {} threads",
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
    Ok(annotated(kernel.kernel.into_module(), notes, &kernel.partitions))
}

fn copy_module(problem: &girih_kernels::copy::Problem) -> Result<Module, girih_kernels::Error> {
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
    Ok(annotated(kernel.kernel.into_module(), notes, &kernel.partitions))
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

fn deliver(module: &Module, output: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    match output {
        Some(path) => Ok(Output::new(path)?.write(|to| write!(to, "{module}"))?),
        None => Ok(io::stdout().lock().write_all(module.to_string().as_bytes())?),
    }
}
