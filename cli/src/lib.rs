//! The `girih` command line.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use serde_json::json;

mod attention;
mod copy;
mod counts;
mod drawing;
mod elements;
mod emit;
mod error;
mod eval;
mod explain;
mod gemm;
mod layout;
mod list;
mod manual;
mod npy;
mod output;
mod plan;
mod programs;
mod progress;
mod records;
mod run;
mod show;
mod sim;
mod status;
mod tune;

use error::Error;
use output::{say, tell};
use status::{CommandResult, Status};

/// Layouts, kernels that are generated from layouts, and devices that run kernels.
#[derive(Parser)]
#[command(name = "girih", version = env!("GIRIH_VERSION"), about, propagate_version = true, after_help = status::HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Multiply two matrices by a generated kernel and verify the product
    Gemm(gemm::Args),
    /// Compute scaled dot-product attention by a generated kernel and verify the result: masks, windows, grouped-query heads (GQA), packed sequences
    Attention(Box<attention::Args>),
    /// Copy between two layouts by a generated kernel and verify the copy: transposes, permutations, pitches, padding, gathers
    Copy(Box<copy::Args>),
    /// Run a kernel of a PTX file in the simulator, with all its checks
    Sim(sim::Args),
    /// Print the PTX of a kernel, or write its machine code
    Emit(emit::Args),
    /// Say why a problem gets the kernel that it gets, and what limits it
    Explain(explain::Args),
    /// Measure configurations for a problem against each other, and record the fastest
    Tune(tune::Args),
    /// Evaluate a layout expression and print the layout
    Layout(layout::Args),
    /// Draw atoms, tiled copies and MMAs, and bank conflicts
    Show(show::Args),
    /// Prove partitions right, count bank conflicts and sectors, find copies, swizzles and conversions
    Plan(plan::Args),
    /// Explain programs over tiles
    Tile(programs::Args),
    /// Evaluate layout operations for other programs, one line of JSON for each
    Eval(eval::Args),
    /// List atoms, kernels, operations and types of elements, which other commands take by name
    List(list::Args),
    /// Print a script by which a shell completes girih's commands and options
    Completions(manual::CompletionsArgs),
    /// Write the manual, a page for each command
    Man(manual::ManArgs),
}

/// The command line, whose options take negative numbers as values too, so that messages say which numbers are accepted.
fn command() -> clap::Command {
    fn with_numbers(command: clap::Command) -> clap::Command {
        let numbers = |arg: clap::Arg| {
            let takes = arg.get_action().takes_values() && !arg.is_allow_hyphen_values_set();
            if takes { arg.allow_negative_numbers(true) } else { arg }
        };
        command.mut_args(numbers).mut_subcommands(with_numbers)
    }
    with_numbers(Cli::command())
}

/// Whether arguments, which need not be readable as such, ask for JSON.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let mut before = OsString::new();
    arguments.take_while(|argument| argument != "--").any(|argument| {
        let of_report = argument == "--report=json" || before == "--report" && argument == "json";
        let asks = of_report || argument == "--json" || argument == "--jsonl";
        before = argument;
        asks
    })
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let is_json = asks_for_json(std::env::args_os());
    let parsed = command().try_get_matches().and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && is_json => return usage_in_json(&error),
        Err(error) => {
            // Where nobody reads, nothing is said.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Status::Refused.code() } else { 0 });
        }
    };
    let result = match cli.command {
        Command::Gemm(args) => gemm::run(args),
        Command::Attention(args) => attention::run(*args),
        Command::Copy(args) => copy::run(*args),
        Command::Sim(args) => sim::run(args),
        Command::Emit(args) => emit::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Layout(args) => layout::run(args),
        Command::Show(args) => show::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Tile(args) => programs::run(args),
        Command::Eval(args) => eval::run(args),
        Command::List(args) => list::run(args),
        Command::Completions(args) => manual::completions(args, command()),
        Command::Man(args) => manual::man(args, command()),
    };
    result.unwrap_or_else(|error| {
        let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        // The reader of the output has closed the pipe and wants no more.
        if error.downcast_ref().is_some_and(broken) {
            return ExitCode::SUCCESS;
        }
        let status = Status::of(&*error);
        if is_json {
            let mut object =
                json!({ "kind": status.name(), "message": error.to_string(), "status": status.code() });
            if let Some(error) = error.downcast_ref::<girih_notation::expr::ExprError>() {
                object["at"] = error.at.into();
            }
            say(&json!({ "error": object }).to_string());
        } else {
            tell(&format!("error: {error}"));
        }
        ExitCode::from(status.code())
    })
}

/// Says in JSON what is wrong with the arguments.
fn usage_in_json(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let message = text.trim().trim_start_matches("error: ");
    let status = Status::Refused.code();
    say(&json!({ "error": { "kind": "usage", "message": message, "status": status } }).to_string());
    ExitCode::from(status)
}
