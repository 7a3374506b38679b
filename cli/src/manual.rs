//! `girih completions` and `girih man`: shell completions and the manual, generated from the definition of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::{CommandResult, Error};

/// The arguments of `girih completions`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  girih completions bash > ~/.local/share/bash-completion/completions/girih
  girih completions zsh > \"${fpath[1]}/_girih\"
  girih completions fish > ~/.config/fish/completions/girih.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// The arguments of `girih man`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  girih man ~/.local/share/man/man1 && man girih-gemm")]
pub(crate) struct ManArgs {
    /// The folder for the pages, one for each command; it is made where it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the script for a command line.
pub(crate) fn completions(args: CompletionsArgs, mut command: Command) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "girih", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command line.
pub(crate) fn man(args: ManArgs, command: Command) -> CommandResult {
    // Without the command `help`, which repeats all others.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let written = fs::create_dir_all(&args.folder).and_then(|()| pages(&command, &args.folder));
    written.map_err(Error::write(&args.folder))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its subcommands.
fn pages(command: &Command, folder: &Path) -> io::Result<()> {
    command.get_subcommands().try_for_each(|command| pages(command, folder))?;
    let source = concat!("girih ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).manual("girih").generate_to(folder).map(drop)
}
