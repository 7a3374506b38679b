//! Records of what was measured: what is read is what was written, and what is stale or foreign is refused.

use std::collections::BTreeSet;

use girih_device::{Device, Limits, Record, Select};
use girih_kernels::Error;
use girih_kernels::gemm::choose::{Plan, all, reasons};
use girih_kernels::gemm::{
    Gemms, INPUTS, KernelKind, Layout, Order, Problem, Records, candidates, choose, record, record_key,
    record_mnk,
};
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
        records.insert(record(problem, &config, &limits, DAY, [1.5 + i as f64, 9.0])?)?;
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
    records.insert(record(&problem, &fastest, limits, DAY, [1.0, 2.0])?)?;
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
    records.insert(record(&problem, &config, &limits, DAY, [1.0, 2.0])?)?;
    let text = records.to_string();
    let refused = |text: &str, limits: &Limits| match Records::read(text, limits) {
        Err(error @ (Error::Record { .. } | Error::Field { .. })) => error.to_string(),
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
    let other_version = text.replace("version 3", "version 2");
    assert!(refused(&other_version, &limits).contains("version 2"), "{other_version}");
    assert!(refused("", &limits).contains("girih gemm records"));
    for (from, to) in [("1.000", "fast"), ("1.000", "-1"), ("\t2.000", ""), ("\t2.000", "\t2.000\tmore")] {
        let damaged = text.replacen(from, to, 1);
        assert!(damaged != text && refused(&damaged, &limits).contains("seven fields"), "{damaged}");
    }
    // A field that is not what it may be is named, with what would be accepted.
    for (from, to, why) in [
        (" teams=1", "", "`teams` of a record is missing; accepted: 1 to 3"),
        ("teams=1", "teams=1 teams=1", "`teams` of a record is there twice"),
        ("teams=1", "teams=many", "`teams` of a record is `many`; accepted: 1 to 3"),
        ("teams=1", "gangs=1 teams=1", "`gangs` of a record is unknown; accepted: tile, depth"),
        ("depth=", "depth=1", "`depth` of a record is `1"),
        ("schedule=persistent", "schedule=split", "`parts` of a record is missing"),
        ("tile=", "tile", "of a record is no value; accepted: `name=value`"),
        ("mnk=512x", "mnk=", "`mnk` of a record is `512x512`; accepted: M x N x K"),
        ("input=bf16", "input=bf17", "`input` of a record is `bf17`"),
    ] {
        let damaged = text.replacen(from, to, 1);
        let refused = refused(&damaged, &limits);
        assert!(damaged != text && refused.contains(why), "{refused}");
    }
    // A plan that does not solve its problem is told when that comes.
    let large = "tile=256x256 depth=256 warpgroups=2 teams=1 multicast=1 schedule=persistent order=rows early=no stages=12";
    records
        .insert(Record { config: large.into(), ..record(&problem, &config, &limits, DAY, [1.0, 2.0])? })?;
    let error = records.config(&problem).err().ok_or("a stale record is followed")?;
    assert!(error.to_string().contains("measure again"), "{error}");
    Ok(())
}

/// The problem of a record: of those with tight matrices, the one of which the record tells.
fn recorded(record: &Record) -> Result<Problem, Failure> {
    let mnk = record_mnk(record).ok_or("a record of one product")?;
    for (dtype, layout) in INPUTS.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout))) {
        let row_major = Problem::new(dtype, mnk, layout)?;
        let [m, n, k] = mnk;
        let by_column = Problem::new(dtype, [n, m, k], layout)?.with_order(Order::Column);
        for problem in [row_major, by_column].iter().flat_map(|p| [*p, p.with_fast_accumulation(true)]) {
            for output in problem.outputs() {
                let problem = problem.with_output(*output)?;
                if record_key(&problem) == record.problem {
                    return Ok(problem);
                }
            }
        }
    }
    Err(format!("no problem of {}", record.problem).into())
}

/// Why a problem has its tile.
fn tile(problem: &Problem, multiprocessors: u32) -> Result<String, Failure> {
    let reasons = reasons(problem, KernelKind::Sm90, multiprocessors)?;
    assert!(reasons.iter().all(|(what, _)| *what != "record"), "{reasons:?}");
    Ok(reasons.into_iter().find(|(what, _)| *what == "tile").ok_or("a tile")?.1)
}

/// Each shipped record names what is chosen for its problem, word for word, and nothing on other devices; what it names is in the list that
/// `cargo xtask ratchet` and the tests of every choice go through.
#[test]
fn shipped_records_are_followed() -> Result<(), Failure> {
    let records = Records::shipped()?;
    assert!(records.iter().count() >= 8);
    let listed: Vec<_> = all().collect();
    for record in records.iter() {
        let problem = recorded(record)?;
        let config = choose(&problem, KernelKind::Sm90, records.multiprocessors())?;
        assert_eq!(Plan::of(&config).map(|plan| plan.to_string()).as_ref(), Some(&record.config));
        assert!(listed.contains(&config), "{}", record.config);
        let Record { date, driver, machine, .. } = record;
        let whence = format!("on {machine}, driver {driver}, {date}");
        assert!(tile(&problem, 132)?.ends_with(&whence) && !tile(&problem, 114)?.ends_with(&whence));
        assert!(!date.is_empty() && record.micros <= record.chosen_micros, "{record}");
    }
    Ok(())
}

/// What is measured counts for the same product of elements of the same widths, whatever their dtypes and layouts are, where the plan fits:
/// not for other widths and extents, batches, an unaligned C, and sums that do not leave registers.
#[test]
fn records_count_for_products_alike() -> Result<(), Failure> {
    let problem = Problem::new(DType::Bf16, [512, 384, 640], Layout::Tn)?;
    let limits = limits()?;
    let plain = "tile=64x128 depth=128 warpgroups=1 teams=1 multicast=2 schedule=persistent order=rows early=yes \
                 stages=8 staged=64x128x1";
    let config = choose(&problem, KernelKind::Sm90, 1)?;
    let mut records = Records::new(&limits);
    records
        .insert(Record { config: plain.into(), ..record(&problem, &config, &limits, DAY, [1.0, 2.0])? })?;
    let found = |problem: Problem| -> Result<Option<[i64; 2]>, Failure> {
        Ok(records.config(&problem)?.map(|config| [config.tile[0], config.tile[1]]))
    };
    let own = records.config(&problem)?.and_then(|config| Plan::of(&config)).ok_or("its own")?;
    assert_eq!(own.to_string(), plain);
    let of = |dtype, mnk, layout| Problem::new(dtype, mnk, layout);
    let wanted = Some([64, 128]);
    for layout in Layout::ALL {
        for dtype in [DType::Bf16, DType::F16] {
            assert_eq!(found(of(dtype, [512, 384, 640], layout)?)?, wanted, "{dtype} {layout}");
        }
        let transposed = of(DType::F16, [384, 512, 640], layout)?;
        assert_eq!(found(transposed.with_order(Order::Column))?, wanted, "{layout}");
        assert_eq!(found(transposed)?, None, "{layout}");
    }
    assert_eq!(found(padded(problem, 8))?, wanted);
    for other in [
        of(DType::Bf16, [512, 384, 576], Layout::Tn)?,
        of(DType::E4m3, [512, 384, 640], Layout::Tn)?,
        problem.with_output(DType::F32)?,
        problem.batched(2, [None; 3])?,
        padded(problem, 1),
    ] {
        assert_eq!(found(other)?, None, "{other:?}");
    }
    // Tiles that no plan has count for their own problem.
    let raster = candidates(&problem, limits.multiprocessors, 200);
    let raster = raster.into_iter().find(|config| !config.schedule.is_persistent()).ok_or("a raster")?;
    records.insert(record(&problem, &raster, &limits, DAY, [1.0, 2.0])?)?;
    assert_eq!(records.config(&problem)?, Some(raster));
    Ok(())
}

/// What a tuner measures has a plan, whose text says all of it.
#[test]
fn plans_are_read_from_their_texts() -> Result<(), Failure> {
    let few = [[16, 4096, 4096], [16, 14336, 4096], [128, 28672, 4096], [100, 2048, 640], [512, 512, 512]];
    let many = [[4096, 4096, 4096], [8448, 8448, 1024], [8192, 8192, 512], [1536, 1536, 1536], [1, 1, 1]];
    let short = [[3008, 58624, 192], [15_360, 64, 64], [4096, 4096, 128], [768, 105_280, 64]];
    let mut texts = BTreeSet::new();
    for (dtype, layout) in INPUTS.into_iter().flat_map(|dtype| Layout::ALL.map(|layout| (dtype, layout))) {
        for mnk in few.into_iter().chain(many).chain(short) {
            let problem = Problem::new(dtype, mnk, layout)?;
            let padded = padded(problem, 1);
            for problem in [problem, padded, problem.with_order(Order::Column)] {
                let Ok(config) = choose(&problem, KernelKind::Sm90, 132) else { continue };
                // A tuner's are many, and take long to list.
                let lists = [few[0], few[3]].contains(&mnk) && (problem == padded) == (mnk == few[0]);
                let lists = lists || mnk == short[1] && dtype == DType::Bf16;
                let tuned = if lists { candidates(&problem, 132, 40) } else { Vec::new() };
                for config in [config].into_iter().chain(tuned) {
                    let Some(plan) = Plan::of(&config) else { continue };
                    let text = plan.to_string();
                    assert_eq!(text.parse::<Plan>()?, plan);
                    assert_eq!(plan.config(&problem)?, config, "{problem:?}: {text}");
                    texts.insert(text);
                }
            }
        }
    }
    let all = |part: &str| texts.iter().filter(|text| text.contains(part)).count();
    let counts = ["teams=2", "split", "raster"].map(all);
    assert!(texts.len() > 300 && counts.iter().all(|count| *count > 10), "{} {counts:?}", texts.len());
    Ok(())
}

/// Whatever numbers stand in a plan, its text says it, and it is a configuration that can be built, or none.
#[test]
fn damaged_plans_are_none() -> Result<(), Failure> {
    let (mut said, mut none) = (0, 0);
    for record in Records::shipped()?.iter() {
        let (problem, text) = (recorded(record)?, &record.config);
        text.parse::<Plan>()?.config(&problem)?;
        for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
            for other in ["", "0", "2", "3", "4", "64", "-8", "9223372036854775807", "99999999999999999999"] {
                let damaged = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                let config = damaged.parse::<Plan>().and_then(|plan| plan.config(&problem));
                match config {
                    Ok(found) => {
                        assert_eq!(Plan::of(&found).map(|plan| plan.to_string()), Some(damaged));
                        found.check()?;
                        said += 1;
                    }
                    Err(_) => none += 1,
                }
            }
        }
    }
    assert!(said > 50 && none > 500, "{said} {none}");
    Ok(())
}
