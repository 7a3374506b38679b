//! `girih tune`: measures configurations of the same problem against each other, and records the fastest.

mod attention;
mod contest;
mod decode;
mod gemm;
mod said;
mod tile;

use std::time::SystemTime;

use crate::CommandResult;

/// The arguments of `girih tune`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kernel: Kernel,
}

#[derive(clap::Subcommand)]
enum Kernel {
    /// Kernels by warpgroups for attention of random tensors; the fastest is printed
    #[command(after_help = crate::attention::ORDERS)]
    Attention(Box<attention::Args>),
    /// Kernels by wgmma for one product of random matrices
    #[command(after_help = crate::gemm::LAYOUTS)]
    Gemm(Box<gemm::Args>),
    /// Tiles and hints of a program over tiles, for random arrays
    #[command(after_help = tile::AFTER)]
    Tile(Box<tile::Args>),
}

/// Parses how many of something are measured at the most.
fn at_least_one() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(1..)
}

/// The day in UTC as records have it, such as 2026-11-28.
fn today() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string().chars().take(10).collect()
}

pub(crate) fn run(args: Args) -> CommandResult {
    match args.kernel {
        Kernel::Attention(args) => attention::run(*args),
        Kernel::Gemm(args) => gemm::run(*args),
        Kernel::Tile(args) => tile::run(*args),
    }
}
