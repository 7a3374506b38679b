//! The `girih` command line, as a library so that other packages' tests can call its parts.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod eval;
pub mod expr;
mod layout;
pub mod ops;

/// What a subcommand answers: the exit status, or an error that is printed as one message.
pub type CommandResult = Result<ExitCode, Box<dyn std::error::Error>>;

/// Layouts, kernels generated from them, and a device to run them on.
#[derive(Parser)]
#[command(name = "girih", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Evaluate a layout expression and print the layout
    Layout(layout::Args),
    /// Answer layout operations line by line, for other programs
    Eval(eval::Args),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Layout(args) => layout::run(args),
        Command::Eval(args) => eval::run(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
