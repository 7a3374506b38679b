//! Sweeps as the records that girih comes with.

use girih_device::Record;
use girih_kernels::gemm::{Layout, Problem, record_key};
use girih_peers::rows::rows;
use girih_peers::tuned::tuned;
use girih_tensor::DType;
use serde_json::{Value, json};

/// A plan of 128 x `columns`.
fn plan(columns: i64, schedule: &str) -> String {
    format!(
        "tile=128x{columns} depth=128 warpgroups=2 teams=1 multicast=1 schedule={schedule} order=rows early=no stages=3"
    )
}

/// A sweep of 2048^3 by a GPU, with what ran in its last contest; by girih's choice in 27.5 us.
fn sweep(gpu: &str, contest: &[(Option<&str>, f64)]) -> Value {
    let finalists: Vec<Value> = contest
        .iter()
        .map(|(plan, us)| json!({"config": if *us == 27.5 { "chosen" } else { "other" }, "plan": plan, "us": us}))
        .collect();
    json!({
        "sweep": "bf16 tn 2048x2048x2048", "gpu": gpu, "driver": "580.159.04", "date": "2026-11-24",
        "chosen": "chosen", "finalists": finalists,
    })
}

/// What is faster than girih's choice is recorded, if it has a plan.
#[test]
fn sweeps_become_records() {
    let [chosen, other] = [plan(256, "persistent"), plan(128, "raster")];
    let [chosen, other] = [&*chosen, &*other].map(Some);
    let rows = rows().unwrap();
    let of = |us: f64| sweep("NVIDIA H200", &[(None, 20.0), (other, us), (chosen, 27.5)]);
    let found = |sweeps: &[Value]| tuned(&rows, sweeps).unwrap();
    let records = found(&[of(26.0), of(26.5), of(27.6), json!({"row": "bf16 tn 2048x2048x2048"})]);
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((Some(&*record.config), record.micros, record.chosen_micros), (other, 26.5, 27.5));
    let problem = Problem::new(DType::Bf16, [2048; 3], Layout::Tn).unwrap();
    assert_eq!(record.problem, record_key(&problem));
    assert_eq!(record.machine, "NVIDIA H200, sm_90, 132 multiprocessors");
    assert_eq!(record.to_string().parse::<Record>().unwrap(), *record);
    // What was not beside girih's choice says nothing, and neither does a plan that is none.
    assert_eq!(found(&[of(27.6), sweep("NVIDIA H200", &[(other, 26.5)])]), []);
    assert_eq!(found(&[sweep("NVIDIA H200", &[(Some("tile=128x128"), 20.0), (chosen, 27.5)])]), []);
    let foreign = tuned(&rows, &[sweep("NVIDIA H100", &[(other, 26.5), (chosen, 27.5)])]);
    assert!(foreign.unwrap_err().to_string().contains("NVIDIA H100"));
}
