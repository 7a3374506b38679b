//! The program `girih`; `girih --help` tells what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    girih_cli::main()
}
