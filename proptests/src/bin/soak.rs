//! `soak [COUNT [SEED]]`: random cases, each judged by enumeration, a million by default. Compositions of the four families, then a hundredth
//! as many of the other operations on numbers, and 100 000 of every operation on symbols that are bound to numbers afterwards.

use std::process::ExitCode;
use std::time::Instant;

use girih_proptests::binding::{self, Report};
use girih_proptests::{numeric, soak};

/// Cases of the law of symbols.
const BINDINGS: u64 = 100_000;

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
    let begin = Instant::now();
    let each = count / 100;
    let numeric =
        Report(numeric::FAMILIES.iter().map(|name| (*name, numeric::run(name, each, seed))).collect());
    println!("{each} cases each on numbers, {:.0?}:\n\n{numeric}", begin.elapsed());
    let begin = Instant::now();
    let symbolic = binding::run_all(BINDINGS, seed);
    println!("{BINDINGS} cases on symbols, {:.0?}:\n\n{symbolic}", begin.elapsed());
    if report.wrong() + numeric.wrong() + symbolic.wrong() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
