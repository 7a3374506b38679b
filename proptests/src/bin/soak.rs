//! `soak [COUNT [SEED]]`: random compositions of the four families, each judged by enumeration; a million by default.

use std::process::ExitCode;
use std::time::Instant;

use girih_proptests::soak;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let (Ok(count), Ok(seed)) = (numbers.next().unwrap_or(Ok(1_000_000)), numbers.next().unwrap_or(Ok(1)))
    else {
        eprintln!("error: soak [COUNT [SEED]] takes numbers");
        return ExitCode::FAILURE;
    };
    let begin = Instant::now();
    let report = soak::compositions(count, seed);
    println!("{count} compositions, seed {seed}, {:.0?}:\n\n{report}", begin.elapsed());
    if report.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
