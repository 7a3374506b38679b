//! `girih completions` and `girih man`: what shells and `man` know of the command line, made of the command line itself.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{Cli, CommandResult, Error};

/// The arguments of `girih completions`.
#[derive(clap::Args)]
#[command(after_help = "\
  girih completions bash > ~/.local/share/bash-completion/completions/girih
  girih completions zsh > \"${fpath[1]}/_girih\"
  girih completions fish > ~/.config/fish/completions/girih.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// The arguments of `girih man`.
#[derive(clap::Args)]
#[command(after_help = "  girih man ~/.local/share/man/man1 && man girih-gemm")]
pub(crate) struct ManArgs {
    /// The folder for the pages, one for each command; it must be there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn completions(args: CompletionsArgs) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "girih", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: ManArgs) -> CommandResult {
    // Without the command `help`, which repeats all others.
    let command = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &args.folder).map_err(Error::write(&args.folder))?;
    Ok(ExitCode::SUCCESS)
}
