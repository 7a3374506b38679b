//! The repository's tasks: the book, the one gate, what its builds cost, the assembler's judgement, the ratchet, the order of imports, the words of texts, a release, the folder for a GPU machine.

mod book;
mod builds;
mod changed;
mod ci;
mod examples;
mod fuzz;
mod gpu;
mod imports;
#[cfg(test)]
mod measured;
mod people;
mod ptxas;
mod ratchet;
mod readme;
mod release;
mod sass;
mod shell;
mod words;

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
    Ci {
        /// Runs the tests that are downstream of what has changed since this commit, instead of all
        #[arg(long, value_name = "COMMIT", num_args = 0..=1, default_missing_value = "main")]
        changed: Option<String>,
    },
    /// Builds the book of docs/ into target/book; needs `cargo install mdbook --locked`.
    Book,
    /// What mdBook calls: links that leave docs/ lead to the repository.
    #[command(hide = true)]
    BookLinks {
        /// `supports` and the name of a renderer, or nothing
        words: Vec<String>,
    },
    /// What `ci` checks beside its tests.
    #[command(hide = true)]
    BesideTests,
    /// Compares the sizes of what the tests' build makes with xtask/builds.txt, which may grow by a twentieth.
    Builds {
        /// Writes the file instead
        #[arg(long)]
        update: bool,
    },
    /// Assembles every golden PTX module with ptxas and refuses warnings, spills and stack frames.
    Ptxas,
    /// Assembles kernels of configurations that can be chosen, and compares what they need with kernels/testdata/ratchet.txt.
    Ratchet {
        /// Writes the file instead
        #[arg(long)]
        update: bool,
    },
    /// Refuses phrases of `xtask/words.txt` in documentation and in the messages of errors.
    Words,
    /// Prints what the families of each library import, and refuses circles.
    Imports,
    /// The example with candle, and the full counts of what the gate samples: ten million random compositions, each judged by enumeration, all cases of
    /// the typed layer, every mutant of the hand-written Hopper kernels, a hundred thousand random programs of the law of
    /// races, every MMA atom of a warpgroup and every GEMM that can be chosen in the simulator, the Python package, the ratchet, and ten minutes of fuzzing for each target.
    Soak,
    /// Fuzzes with the address sanitizer; needs `cargo install cargo-fuzz`.
    Fuzz {
        /// The target [default: all of them]
        target: Option<String>,
        /// Seconds for each
        #[arg(long, default_value_t = 600)]
        seconds: u32,
    },
    /// Builds the book; tests the page in Chromium, with pictures in target/people; builds the Python package's wheel, installs it in a virtual environment below target/people and runs its tests there. Needs Chromium, Python and pip.
    People {
        /// One of the three [default: all of them]
        part: Option<people::Part>,
    },
    /// Checks what is published: packs the packages and builds them from their archives, documentation, an example in every public
    /// module, the promise of the version, and the licences of others in target/dist/THIRD-PARTY.txt. Nothing is published.
    Release,
    /// Writes the licences of what the distributed binary is built from to target/dist/THIRD-PARTY.txt, as `release` does.
    Licences,
    /// Packs release binaries and a script that checks and measures on a GPU into target/gpu.
    Gpu,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Book => book::build(),
        Task::BookLinks { words } => book::links(&words),
        Task::Ci { changed } => ci::run(changed.as_deref()),
        Task::BesideTests => ci::beside_tests(),
        Task::Builds { update } => builds::run(update),
        Task::Ptxas => ptxas::run(),
        Task::Ratchet { update } => ratchet::run(update),
        Task::Imports => imports::run(),
        Task::Words => words::run(),
        Task::Soak => sh("cargo run --profile bench --package girih-proptests --bin soak 10000000")
            .and_then(|()| {
                sh("env GIRIH_CASES=120000 cargo test --profile bench --package girih-proptests --test all -- overlap::")
            })
            .and_then(|()| sh("cargo test --package girih-typed-cases --all-features"))
            .and_then(|()| sh("cargo test --profile bench --package girih-sim --test all -- --ignored"))
            .and_then(|()| {
                sh("cargo test --profile bench --package girih-kernels --test gpu_mma_atoms --test sim -- --ignored")
            })
            .and_then(|()| sh("cargo test --locked --manifest-path examples/candle/Cargo.toml"))
            .and_then(|()| people::run(None))
            .and_then(|()| ratchet::run(false))
            .and_then(|()| fuzz::run(None, 600)),
        Task::Fuzz { target, seconds } => fuzz::run(target.as_deref(), seconds),
        Task::Release => release::run(),
        Task::Licences => release::licences(),
        Task::Gpu => gpu::run(),
        Task::People { part } => people::run(part),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
