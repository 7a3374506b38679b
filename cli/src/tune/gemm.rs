//! `girih tune gemm`: measures configurations for a product beside each other, and records the fastest.

use std::path::PathBuf;

use girih_device::Kind;
use girih_kernels::gemm::{
    Epilogue, GemmConfig, Gemms, KernelKind, Problem, Records, candidates, choose, described, record,
};
use girih_tensor::DType;

use super::contest::{Entrant, Tuned, rounds};
use super::said::Said;
use super::{at_least_one, today};
use crate::elements::{Elements, bytes_of, untyped};
use crate::output::Output;
use crate::progress::Busy;
use crate::run::{RunArgs, Session};
use crate::{CommandResult, Error, gemm, records};

/// The arguments of `girih tune gemm`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    problem: gemm::ProblemArgs,
    /// Add the record of a GPU to this file, in the place of one of the same problem; `girih gemm --records` reads it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most configurations that are measured
    #[arg(long, value_name = "COUNT", default_value_t = 40, value_parser = at_least_one())]
    most: usize,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn run(args: Args) -> CommandResult {
    let Args { problem, output, most, run } = args;
    let chosen = problem.without_files()?;
    let session = Session::open(&run)?;
    let limits = session.device.limits();
    if let Some(path) = output.as_deref().filter(|_| session.device.kind() == Kind::Sim) {
        return Err(Error::NoTimes(path.into()).into());
    }
    // What the file holds is judged before anything is measured.
    let mut records = match output.as_deref().filter(|path| path.exists()) {
        Some(path) => records::products(path, &session.device)?,
        None => Records::new(limits),
    };
    let output = output.as_deref().map(Output::new).transpose()?;
    let problem = &chosen.problem;
    if [problem.input(), problem.output()].contains(&DType::F64) {
        let accepted = "what wgmma multiplies is accepted: tf32, f16, bf16, e4m3, e5m2 and s8";
        return Err(girih_kernels::Error::Kernel { kernel: "tune", dtype: "f64", accepted }.into());
    }
    let mut said = Said::new(run.json);
    let tuned = tune(&session, problem, most, &mut said)?;
    let config = tuned.fastest.0;
    let times = tuned.print(&session.device, &described(&config), &mut said);
    if let Some(output) = output {
        records.insert(record(problem, &config, limits, &today(), times)?)?;
        output.write(|to| std::io::Write::write_all(to, records.to_string().as_bytes()))?;
        said.recorded(output.path());
    }
    said.finish(&session)
}

fn tune(
    session: &Session,
    problem: &Problem,
    most: usize,
    said: &mut Said,
) -> Result<Tuned<GemmConfig>, Box<dyn std::error::Error>> {
    let device = &session.device;
    session.fits(gemm::peak(problem, KernelKind::Sm90, device)?)?;
    let multiprocessors = device.limits().multiprocessors;
    let chosen = choose(problem, KernelKind::Sm90, multiprocessors)?;
    let mut configs = vec![chosen];
    let others = candidates(problem, multiprocessors, most).into_iter().filter(|config| *config != chosen);
    configs.extend(others.take(most.saturating_sub(1)));
    let host = gemm::random_operands(problem, 0)?;
    let (a, b) = (host[0].upload(device)?, host[1].upload(device)?);
    let c = device.alloc::<u8>(bytes_of(problem.output(), problem.c().span()))?;
    let matrices = [untyped(&a, host[0].dtype), untyped(&b, host[1].dtype), untyped(&c, problem.output())];
    let gemms = Gemms::new(device);
    let mut field = Vec::new();
    let busy = Busy::begin(format!("compiling {} kernels", configs.len()));
    for config in configs {
        let gemm = gemms.configured(problem, config, &Epilogue::new())?;
        // A GPU's driver has work to do at the first launch; on the simulator a launch takes as long as the measurement.
        if device.kind() == Kind::Cuda {
            gemm.run_untyped(matrices, &[])?;
        }
        field.push(Entrant::new(config, gemm));
    }
    drop(busy);
    let chosen = rounds(device, &mut field, described, &|gemm| gemm.run_untyped(matrices, &[]), said)?;
    // What is recorded must be right, here and with these numbers too.
    let _busy = Busy::begin("comparing with the f64 reference");
    for entrant in field {
        let (config, gemm, cost) = entrant.into_parts();
        c.fill_bytes(0xff)?;
        gemm.run_untyped(matrices, &[])?;
        let found = Elements::download(problem.output(), &c)?;
        if gemm::checked(problem, None, host.each_ref(), &found)?.passed() {
            return Ok(Tuned { fastest: (config, cost), chosen });
        }
        said.left_out(&described(&config), "wrong");
    }
    Err(Error::Wrong("no configuration computes the product".into()).into())
}
