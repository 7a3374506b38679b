//! `girih tune gemm`: measures configurations for a product beside each other, and records the fastest.

use std::path::PathBuf;
use std::process::ExitCode;

use float8::{F8E4M3, F8E5M2};
use girih_device::{Pod, Samples};
use girih_kernels::gemm::{
    Epilogue, GemmConfig, Gemms, KernelKind, Problem, Record, Records, candidates, check, choose, described,
};
use girih_tensor::{DType, Element};
use half::{bf16, f16};
use rand::{SeedableRng, rngs::StdRng};

use super::contest::{Entrant, Tuned, rounds};
use super::{TODAY, read};
use crate::output::Output;
use crate::run::{RunArgs, Session};
use crate::{CommandResult, gemm};

/// The arguments of `girih tune gemm`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    problem: gemm::ProblemArgs,
    /// Add the record to this file, in the place of one of the same problem; `girih gemm --records` reads it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most configurations that are measured
    #[arg(long, value_name = "COUNT", default_value_t = 40)]
    most: usize,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run(args: Args) -> CommandResult {
    let Args { problem, output, most, run } = args;
    let chosen = problem.without_files()?;
    let session = Session::open(&run)?;
    let limits = session.device.limits();
    // What the file holds is judged before anything is measured.
    let mut records = match output.as_deref().filter(|path| path.exists()) {
        Some(path) => read(path, &session.device)?,
        None => Records::new(limits),
    };
    let output = output.as_deref().map(Output::new).transpose()?;
    let tuned = match chosen.problem.input() {
        DType::F32 => of::<f32>(&session, &chosen.problem, most)?,
        DType::F16 => of::<f16>(&session, &chosen.problem, most)?,
        DType::Bf16 => of::<bf16>(&session, &chosen.problem, most)?,
        DType::E4m3 => of::<F8E4M3>(&session, &chosen.problem, most)?,
        DType::E5m2 => of::<F8E5M2>(&session, &chosen.problem, most)?,
        DType::S8 => of::<i8>(&session, &chosen.problem, most)?,
        other => return Err(untunable(other).into()),
    };
    let [best, usual] = tuned.print(&described(&tuned.fastest.0));
    if let Some(output) = output {
        let today = jiff::Timestamp::now().strftime(TODAY).to_string();
        records.insert(Record::new(&chosen.problem, &tuned.fastest.0, limits, &today, [best, usual]));
        output.write(|to| std::io::Write::write_all(to, records.to_string().as_bytes()))?;
        println!("recorded in {}", output.path().display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Tunes a product of elements of `T`.
fn of<T: Element + Pod>(
    session: &Session,
    problem: &Problem,
    most: usize,
) -> Result<Tuned<GemmConfig>, Box<dyn std::error::Error>> {
    match problem.output() {
        DType::F32 => tune::<T, f32>(session, problem, most),
        DType::F16 => tune::<T, f16>(session, problem, most),
        DType::Bf16 => tune::<T, bf16>(session, problem, most),
        DType::E4m3 => tune::<T, F8E4M3>(session, problem, most),
        DType::E5m2 => tune::<T, F8E5M2>(session, problem, most),
        DType::S32 => tune::<T, i32>(session, problem, most),
        other => Err(untunable(other).into()),
    }
}

fn untunable(dtype: DType) -> girih_kernels::Error {
    let accepted = "what wgmma multiplies is accepted: tf32, f16, bf16, e4m3, e5m2 and s8";
    girih_kernels::Error::Kernel { kernel: "tune", dtype: dtype.name(), accepted }
}

fn tune<T: Element + Pod, C: Element + Pod>(
    session: &Session,
    problem: &Problem,
    most: usize,
) -> Result<Tuned<GemmConfig>, Box<dyn std::error::Error>> {
    let device = &session.device;
    session.fits(gemm::bytes(problem))?;
    let multiprocessors = device.limits().multiprocessors;
    let chosen = choose(problem, KernelKind::Sm90, multiprocessors)?;
    let mut configs = vec![chosen];
    let others = candidates(problem, multiprocessors, most).into_iter().filter(|config| *config != chosen);
    configs.extend(others.take(most.saturating_sub(1)));
    let mut rng = StdRng::seed_from_u64(0);
    let host = [problem.a(), problem.b()].map(|matrix| gemm::random::<T>(&mut rng, matrix.span()));
    let (a, b) = (device.upload(&host[0])?, device.upload(&host[1])?);
    let c = device.alloc::<C>(problem.c().span() as usize)?;
    let gemms = Gemms::new(device);
    let mut field = Vec::new();
    for config in configs {
        let gemm = gemms.configured(problem, config, &Epilogue::new())?;
        gemm.run(&a, &b, &c)?;
        field.push(Entrant { config, kernel: gemm, times: Vec::new() });
    }
    let time = rounds(device, &mut field, described, |gemm| gemm.run(&a, &b, &c))?;
    // What is recorded must be right, here and with these numbers too.
    field.sort_by_key(Entrant::time);
    for Entrant { config, kernel: gemm, times } in field {
        c.fill_bytes(0xff)?;
        gemm.run(&a, &b, &c)?;
        if check(problem, &host[0], &host[1], &c.download()?, None)?.passed() {
            let fastest = times.into_iter().collect::<Samples>().median();
            return Ok(Tuned { fastest: (config, fastest), chosen: time });
        }
        println!("wrong, and left out: {}", described(&config));
    }
    Err("no configuration computes the product".into())
}
