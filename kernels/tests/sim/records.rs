//! Records of what was measured: what is read is what was written, and what is stale or foreign is refused.

use girih_device::{Device, Limits, Select};
use girih_kernels::Error;
use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem, Record, Records, candidates, choose};
use girih_tensor::DType;

use crate::common::{Failure, padded};

const DAY: &str = "2026-11-23";

fn problems() -> Result<Vec<Problem>, Error> {
    let of = |dtype, mnk, layout| Problem::new(dtype, mnk, layout);
    let square = of(DType::Bf16, [512; 3], Layout::Tn)?;
    Ok(vec![
        square,
        of(DType::Bf16, [512; 3], Layout::Tt)?,
        of(DType::F16, [512; 3], Layout::Tn)?,
        square.with_output(DType::F32)?,
        padded(square, 8),
        of(DType::Bf16, [16, 4096, 4096], Layout::Tn)?,
        of(DType::E4m3, [512; 3], Layout::Tn)?,
        of(DType::E4m3, [512; 3], Layout::Tn)?.with_fast_accumulation(true),
    ])
}

fn limits() -> Result<Limits, Error> {
    Ok(Device::open(Select::Sim)?.limits().clone())
}

/// Each problem gets the candidate that its own record names, whatever the other records say, after the way through text.
#[test]
fn what_is_read_is_what_was_written() -> Result<(), Failure> {
    let (limits, problems) = (limits()?, problems()?);
    let mut records = Records::new(&limits);
    let mut wanted = Vec::new();
    for (i, problem) in problems.iter().enumerate() {
        let all = candidates(problem, limits.multiprocessors, 24);
        let config = all[(5 * i + 1) % all.len()];
        records.insert(Record::new(problem, &config, &limits, DAY, [1.5 + i as f64, 9.0]));
        wanted.push(config);
    }
    let text = records.to_string();
    assert_eq!(text.lines().count(), 1 + problems.len(), "each problem has a record of its own");
    let read = Records::read(&text, &limits)?;
    assert_eq!(read.to_string(), text);
    for (problem, wanted) in problems.iter().zip(wanted) {
        assert_eq!(read.config(problem)?, Some(wanted), "{problem:?}");
    }
    assert_eq!(read.config(&Problem::new(DType::Bf16, [512, 512, 576], Layout::Tn)?)?, None);
    Ok(())
}

/// A GEMM has the recorded configuration by `wgmma`, and the chosen one where there is no record and by other kernels.
#[test]
fn kernels_follow_the_records() -> Result<(), Failure> {
    let device = Device::open(Select::Sim)?;
    let limits = device.limits();
    let [problem, other] = [256, 320].map(|k| Problem::new(DType::Bf16, [64, 64, k], Layout::Tn));
    let (problem, other) = (problem?, other?);
    let fastest = candidates(&problem, limits.multiprocessors, 24)[5];
    let mut records = Records::new(limits);
    records.insert(Record::new(&problem, &fastest, limits, DAY, [1.0, 2.0]));
    let gemms = Gemms::new(&device).with_records(records);
    assert_eq!(gemms.get(&problem, KernelKind::Sm90)?.config(), &fastest);
    for (problem, kind) in [(&problem, KernelKind::Sm80), (&other, KernelKind::Sm90)] {
        let chosen = choose(problem, kind, limits.multiprocessors)?;
        assert_eq!(gemms.get(problem, kind)?.config(), &chosen);
    }
    Ok(())
}

#[test]
fn stale_and_foreign_records_are_refused() -> Result<(), Failure> {
    let limits = limits()?;
    let problem = problems()?[0];
    let config = candidates(&problem, limits.multiprocessors, 24)[0];
    let mut records = Records::new(&limits);
    records.insert(Record::new(&problem, &config, &limits, DAY, [1.0, 2.0]));
    let text = records.to_string();
    let refused = |text: &str, limits: &Limits| match Records::read(text, limits) {
        Err(error @ Error::Record { .. }) => error.to_string(),
        other => format!("not refused: {other:?}"),
    };
    let foreign = [
        Limits { name: "NVIDIA H100".into(), ..limits.clone() },
        Limits { multiprocessors: 114, ..limits.clone() },
        Limits { sm: 100, ..limits.clone() },
    ];
    for other in foreign {
        let why = refused(&text, &other);
        assert!(why.contains(&limits.name) && why.contains("those of") && why.contains(&other.name), "{why}");
    }
    let other_version = text.replace("version 1", "version 0");
    assert!(refused(&other_version, &limits).contains("version 0"), "{other_version}");
    assert!(refused("", &limits).contains("girih gemm records"));
    for (from, to) in [("1.000", "fast"), ("1.000", "-1"), ("\t2.000", ""), ("\t2.000", "\t2.000\tmore")] {
        let damaged = text.replacen(from, to, 1);
        assert!(damaged != text && refused(&damaged, &limits).contains("seven fields"), "{damaged}");
    }
    // A configuration that is listed no longer is told when its problem comes.
    let stale = Records::read(&text.replace(" stages", " steps"), &limits)?;
    let error = stale.config(&problem).err().ok_or("a stale record is followed")?;
    assert!(error.to_string().contains("measure again"), "{error}");
    Ok(())
}
