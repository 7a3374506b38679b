//! `girih`: see `girih --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    girih_cli::main()
}
