//! The repository's tasks: the one gate, the assembler's judgement, the folder for a GPU machine.

mod ci;
mod gpu;
mod ptxas;
mod readme;
mod shell;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use shell::sh;

/// Tasks of the girih repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold before a change goes in: format, lints, tests, docs, licences, assembled goldens.
    Ci,
    /// Assembles every golden PTX module with ptxas and refuses warnings, spills and stack frames.
    Ptxas,
    /// The full counts of what the gate samples: a million random compositions, each judged by enumeration.
    Soak,
    /// Packs release binaries and a script that checks and measures on a GPU into target/gpu.
    Gpu,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Ci => ci::run(),
        Task::Ptxas => ptxas::run(),
        Task::Soak => sh("cargo run --release --package girih-proptests --bin soak"),
        Task::Gpu => gpu::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
