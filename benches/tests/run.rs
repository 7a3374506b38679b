//! The runner on the simulator, where there is no peer.

use std::time::Duration;

use girih_device::{Device, Select};
use girih_peers::contest::{Clock, Rules};
use girih_peers::measure::{Bench, Effort};
use girih_peers::rows::parse;

const SHORT: Rules = Rules { rounds: 2, settle: Duration::ZERO, timed: Duration::ZERO, clock: Clock::Device };
const EFFORT: Effort = Effort {
    pool: Some(4099),
    cold: 1,
    graph: Duration::from_micros(1),
    ranking: SHORT,
    last: SHORT,
    sweep: SHORT,
};

fn bench(rows: &str) -> Bench {
    let rows = parse(&format!("frozen = [{rows}]\nmore = []")).expect("rows");
    Bench::new(Device::open(Select::Sim).expect("the simulator"), rows, EFFORT)
}

#[test]
fn a_row_is_measured_without_a_peer() {
    for row in [
        "{ mnk = [40, 24, 16], dtype = \"f32\", layout = \"nt\", bar = 1.0 }",
        "{ mnk = [17, 33, 9], dtype = \"bf16\", ld = [11, 13, 35], bar = 1.0 }",
        "{ mnk = [64, 64, 64], dtype = \"f16\", layout = \"tt\", bar = 1.0 }",
    ] {
        let bench = bench(row);
        let record = bench.row(&bench.rows[0]).unwrap();
        assert_eq!(record["row"], *bench.rows[0].name);
        for field in ["girih", "girih_us", "girih_spread", "girih_stream_us", "girih_run_us"] {
            assert!(record[field].as_f64().is_some(), "{field} of {record}");
        }
        assert!(record["config"].as_str().unwrap().starts_with("gemm_"), "{record}");
        assert!(record["peer_missing"].as_str().unwrap().starts_with("cuBLASLt runs on a GPU"), "{record}");
        assert!(record.get("girih_wrong").is_none() && record.get("ratio").is_none(), "{record}");
    }
}

#[test]
fn a_row_may_be_the_peer_of_another() {
    let bench = bench(
        "{ mnk = [64, 64, 64], bar = 1.0 }, { mnk = [64, 64, 64], kernel = \"sm80\", peer = \"bf16 tn 64x64x64\", bar = 0.5 }",
    );
    let record = bench.row(&bench.rows[1]).unwrap();
    assert_eq!(record["peer"], "girih: bf16 tn 64x64x64");
    assert!(record["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{record}");
    assert!(record["config"].as_str().unwrap().starts_with("gemm_sm80_bf16"), "{record}");
}

#[test]
fn what_girih_lacks_is_told() {
    let bench = bench("{ mnk = [64, 64, 64], op = \"grouped\", batch = 4, bar = 1.0 }");
    let record = bench.row(&bench.rows[0]).unwrap();
    assert_eq!(record["girih_missing"], "girih has no grouped products");
}

#[test]
fn configurations_are_measured_beside_each_other() {
    let bench = bench("{ mnk = [64, 48, 256], bar = 1.0 }");
    let record = bench.sweep(&bench.rows[0]).unwrap();
    let configs = record["configs"].as_array().unwrap();
    assert!(configs.len() > 10, "{record}");
    assert_eq!(record["failed"].as_array().unwrap().len(), 0, "{record}");
    assert!(!record["finalists"].as_array().unwrap().is_empty() && record["peer"].is_null(), "{record}");
}
