//! The verdict of `girih sim` on a launch.

use girih_sim::{Deny, Error as Found, Options};

/// The arguments that say how often a launch is executed and what counts as an error.
#[derive(clap::Args)]
pub(crate) struct VerdictArgs {
    /// The first seed. A seed decides in which order warps run and when asynchronous operations take effect; with seed 0
    /// warps run in turn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds the launch is executed with, from --seed on, each time on the same initial memory
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// The most warp instructions that a block, or a cluster of blocks, may execute: a guard against endless loops
    #[arg(long, default_value_t = Options::STEPS)]
    steps: u64,
    /// The kinds of warnings that count as errors; `formal` for those that are wrong by the ISA and do no harm on any
    /// GPU, `warnings` for all
    #[arg(long, value_delimiter = ',', value_parser = denied)]
    deny: Vec<String>,
    /// How many errors, and how many warnings, are reported at most
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// SMs of the GPU, which decide how many blocks run at a time and so can wait for one another
    #[arg(long, default_value_t = 132, value_parser = clap::value_parser!(u32).range(1..))]
    multiprocessors: u32,
}

/// The names by which `--deny` selects all warnings, and the formal ones.
const WARNINGS: &str = "warnings";
const FORMAL: &str = "formal";

fn denied(text: &str) -> Result<String, String> {
    if text == WARNINGS || text == FORMAL || Found::WARNINGS.contains(&text) {
        return Ok(text.into());
    }
    Err(format!("expected {WARNINGS}, {FORMAL}, or one of {}", Found::WARNINGS.join(", ")))
}

impl VerdictArgs {
    /// The `options`, with those that the arguments decide.
    pub(crate) fn options(&self, options: Options) -> Options {
        let &VerdictArgs { seed, seeds, steps, limit, multiprocessors, .. } = self;
        let deny = match &self.deny[..] {
            [] => Deny::Nothing,
            all if all.iter().any(|kind| kind == WARNINGS) => Deny::Warnings,
            kinds => {
                let formal = Found::FORMAL.iter().filter(|_| kinds.iter().any(|kind| kind == FORMAL));
                let kinds = kinds.iter().cloned().chain(formal.map(ToString::to_string));
                Deny::Kinds(kinds.collect())
            }
        };
        let (steps, limit, multiprocessors) = (Some(steps), Some(limit), Some(multiprocessors));
        Options { seed, seeds, steps, limit, multiprocessors, deny, ..options }
    }
}

impl VerdictArgs {
    /// The notice for a launch that takes long.
    pub(crate) fn notice(&self) -> String {
        format!(
            "still simulating; a block, or a cluster of blocks, ends with an error after {} warp instructions (--steps)",
            self.steps
        )
    }
}
