//! Sweeps as the records that girih comes with.

use girih_device::Record;
use girih_kernels::gemm::{Layout, Problem, record_key};
use girih_peers::rows::rows;
use girih_peers::tuned::tuned;
use girih_tensor::DType;
use serde_json::{Value, json};

const PERSISTENT: &str = "Persistent { alternate: true }";
const RASTER: &str = "Raster { group: 8 }";

/// A configuration of 128 x `columns` as its line says it.
fn said(columns: i64, stages: i64, schedule: &str) -> String {
    format!(
        "gemm_sm90_bf16 128x{columns}x64, 2 consumers, {stages} stages, multicast 1, {schedule}, \
         Tma {{ tile: [128, {columns}], stages: 1 }}"
    )
}

/// A sweep of 2048^3 by a GPU, with what ran in its last contest.
fn sweep(gpu: &str, contest: &[(&str, f64)]) -> Value {
    let finalists: Vec<Value> =
        contest.iter().map(|(config, us)| json!({"config": config, "us": us})).collect();
    json!({
        "sweep": "bf16 tn 2048x2048x2048", "gpu": gpu, "driver": "580.159.04", "date": "2026-11-24",
        "chosen": said(256, 3, PERSISTENT), "finalists": finalists,
    })
}

/// What is faster than girih's choice is recorded, if a plan has it.
#[test]
fn sweeps_become_records() {
    let [chosen, other, raster] = [said(256, 3, PERSISTENT), said(128, 6, PERSISTENT), said(128, 6, RASTER)];
    let [chosen, other, raster] = [&*chosen, &*other, &*raster];
    let rows = rows().unwrap();
    let of = |us: f64| sweep("NVIDIA H200", &[(raster, 20.0), (other, us), (chosen, 27.5)]);
    let found = |sweeps: &[Value]| tuned(&rows, sweeps).unwrap();
    let records = found(&[of(26.0), of(26.5), of(27.6), json!({"row": "bf16 tn 2048x2048x2048"})]);
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((&*record.config, record.micros, record.chosen_micros), (other, 26.5, 27.5));
    let problem = Problem::new(DType::Bf16, [2048; 3], Layout::Tn).unwrap();
    assert_eq!(record.problem, record_key(&problem));
    assert_eq!(record.machine, "NVIDIA H200, sm_90, 132 multiprocessors");
    assert_eq!(record.to_string().parse::<Record>().unwrap(), *record);
    // What was not beside girih's choice says nothing.
    assert_eq!(found(&[of(27.6), sweep("NVIDIA H200", &[(other, 26.5)])]), []);
    assert_eq!(found(&[sweep("NVIDIA H200", &[(raster, 20.0), (chosen, 27.5)])]), []);
    let foreign = tuned(&rows, &[sweep("NVIDIA H100", &[(other, 26.5), (chosen, 27.5)])]);
    assert!(foreign.unwrap_err().to_string().contains("NVIDIA H100"));
}
