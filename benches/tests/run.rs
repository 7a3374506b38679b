//! The runner on the simulator, where there is no peer.

use std::time::Duration;

use girih_device::{Device, Select};
use girih_peers::contest::{Clock, Rules};
use girih_peers::measure::{Bench, Effort};
use girih_peers::operands::{Bounds, Operands};
use girih_peers::rows::{Work, parse};
use half::bf16;
use serde_json::Value;

const SHORT: Rules = Rules { rounds: 2, settle: Duration::ZERO, timed: Duration::ZERO, clock: Clock::Device };
const EFFORT: Effort = Effort {
    pool: 4099,
    cold: 1,
    graph: Duration::from_micros(1),
    ranking: SHORT,
    last: SHORT,
    sweep: SHORT,
    check: 1 << 26,
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
        "{ mnk = [64, 64, 128], dtype = \"e4m3\", fast = true, bar = 1.0 }",
        "{ mnk = [64, 64, 256], dtype = \"e4m3\", bar = 1.0 }",
        "{ mnk = [64, 64, 32], dtype = \"tf32\", bar = 1.0 }",
        "{ mnk = [64, 64, 128], dtype = \"s8\", bar = 1.0 }",
        "{ mnk = [40, 24, 16], dtype = \"f64\", bar = 1.0 }",
        "{ mnk = [72, 40, 64], epilogue = \"gelu bias residual\", bar = 1.0 }",
    ] {
        let bench = bench(row);
        let record = bench.row(&bench.rows[0]).unwrap();
        assert_eq!(record["row"], *bench.rows[0].name);
        for field in ["girih", "girih_us", "girih_spread", "girih_stream_us", "girih_run_us"] {
            assert!(record[field].as_f64().is_some(), "{field} of {record}");
        }
        assert!(record["config"].as_str().unwrap().starts_with("gemm_"), "{record}");
        assert!(record["fields"]["tile"].is_array() && record["product"]["mnk"].is_array(), "{record}");
        assert!(record["peer_missing"].as_str().unwrap().starts_with("cuBLASLt runs on a GPU"), "{record}");
        assert!(record.get("girih_wrong").is_none() && record.get("ratio").is_none(), "{record}");
    }
}

/// Kernels of the tile language are checked and measured as others are.
#[test]
fn kernels_over_tiles_are_measured() {
    for row in [
        "mnk = [72, 136, 128]",
        "mnk = [72, 136, 128], layout = \"tt\"",
        "mnk = [72, 136, 128], epilogue = \"gelu bias residual\"",
        "op = \"grouped\", batch = 3, mnk = [150, 136, 64]",
    ] {
        let bench = bench(&format!("{{ tile = [64, 64, 64], bar = 1.0, {row} }}"));
        let record = bench.row(&bench.rows[0]).unwrap();
        assert!(record["row"].as_str().unwrap().ends_with("by tiles of 64x64x64"), "{record}");
        assert_eq!(record["config"], "tile [64, 64, 64]");
        for field in ["girih", "girih_us", "girih_stream_us", "girih_run_us"] {
            assert!(record[field].as_f64().is_some(), "{field} of {record}");
        }
        assert!(record.get("girih_wrong").is_none(), "{record}");
    }
    let wrong = bench("{ tile = [64, 63, 64], bar = 1.0, mnk = [64, 64, 64] }");
    let missing = wrong.row(&wrong.rows[0]).unwrap()["girih_missing"].to_string();
    assert!(missing.contains("128x256x64"), "{missing}");
}

/// Weights of 8 bits are measured beside weights of bf16, and what their kernel computes is checked.
#[test]
fn weights_are_measured_beside_another_row() {
    let bench = bench(
        "{ mnk = [16, 72, 300], ld = [304, 304, 72], bar = 1.0 },
         { weights = \"s8\", mnk = [16, 72, 300], ld = [304, 304, 72], peer = \"bf16 tn 16x72x300 ld 304,304,72\", bar = 1.5 }",
    );
    let record = bench.row(&bench.rows[1]).unwrap();
    assert!(record["ratio"].as_f64().is_some() && record.get("girih_wrong").is_none(), "{record}");
    assert!(record["config"].as_str().unwrap().starts_with("gemm_sm90_s8_bf16"), "{record}");
    let Work::Product(product) = &bench.rows[1].work else { panic!("a product") };
    let operands = Operands::<bf16, bf16>::new(&bench, product).unwrap();
    operands.outputs.iter().for_each(|c| c.fill_bytes(0).unwrap());
    assert!(operands.check(0, Bounds::Exact).is_err());
}

#[test]
fn movements_are_measured_beside_the_devices_own_copy() {
    for row in [
        "op = \"copy\", dtype = \"bf16\", shape = [5000]",
        "op = \"permute\", dtype = \"bf16\", shape = [3, 20, 5, 16], order = [0, 2, 3, 1]",
        "op = \"gather\", dtype = \"f32\", shape = [160, 32]",
    ] {
        let bench = bench(&format!("{{ {row}, peer = \"device-to-device\", bar = 1.0 }}"));
        let record = bench.row(&bench.rows[0]).unwrap();
        assert!(record["ratio"].as_f64().is_some() && record["unit"] == "GB/s", "{record}");
        assert!(record["peer"] == "device-to-device" && record.get("girih_wrong").is_none(), "{record}");
    }
}

#[test]
fn what_is_not_the_product_is_told() {
    let bench = bench("{ mnk = [40, 24, 16], dtype = \"f32\", ld = [20, 16, 30], batch = 2, bar = 1.0 }");
    let Work::Product(product) = &bench.rows[0].work else { panic!("a product") };
    let operands = Operands::<f32, f32>::new(&bench, product).unwrap();
    let told = |why: &str| {
        let wrong = operands.check(1, Bounds::Exact).unwrap_err().to_string();
        assert!(wrong.starts_with(why), "{wrong}");
    };
    assert_eq!((operands.sets(), operands.outputs[1].len()), (2, 40 * 30 + 39 * 30 + 24));
    told("element (0,0) of C has not been written");
    operands.outputs[1].fill_bytes(0).unwrap();
    told("something was written behind row 0 of C");
    let c: Vec<f32> = right(&operands, 1);
    operands.outputs[1].write(&c).unwrap();
    assert!(operands.check(1, Bounds::Exact).is_ok());
    let with = |at: usize, value: f32| {
        let mut c = c.clone();
        c[at] = value;
        operands.outputs[1].write(&c).unwrap();
    };
    with(1200 + 39 * 30 + 23, 1e3);
    told("element (39, 23) of C is 1000.0");
    assert!(operands.check(1, Bounds::Rough).is_err());
    with(30 * 13 + 5, f32::NAN);
    told("element (13,5) of C has not been written");
    with(29, 0.0);
    told("something was written behind row 0");
    with(0, c[0] * 1.001);
    told("element (0, 0)");
    assert!(operands.check(1, Bounds::Rough).is_ok());
}

/// Both products of a batch of 40x24x16 of these pitches, from the operands' own memory.
fn right(operands: &Operands<'_, f32, f32>, set: usize) -> Vec<f32> {
    let [a, b] = [0, 1].map(|i| operands.inputs[set][i].download().expect("an operand"));
    let mut c = vec![f32::NAN; 40 * 30 + 39 * 30 + 24];
    for (of, m, n) in (0..2 * 40 * 24).map(|i| (i / 960, i / 24 % 40, i % 24)) {
        let products = (0..16).map(|k| a[of * 800 + m * 20 + k] * b[of * 384 + n * 16 + k]);
        c[of * 1200 + m * 30 + n] = products.sum();
    }
    c
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
    let bench = bench("{ mnk = [64, 64, 64], layout = \"nn\", op = \"grouped\", batch = 4, bar = 1.0 }");
    let record = bench.row(&bench.rows[0]).unwrap();
    let lacks = "girih has no grouped products beside which others have a batch in the same memory";
    assert_eq!(record["girih_missing"], lacks);
}

#[test]
fn groups_have_uneven_sizes() {
    let bench = bench("{ mnk = [128, 64, 64], op = \"grouped\", batch = 4, bar = 1.0 }");
    let record = bench.row(&bench.rows[0]).unwrap();
    assert!(record["girih_missing"].is_null() && record["config"].is_string(), "{record}");
}

#[test]
fn configurations_are_measured_beside_each_other() {
    let mut bench = bench("{ mnk = [64, 48, 128], bar = 1.0 }");
    let record = bench.sweep(&bench.rows[0]).unwrap();
    let configs = record["configs"].as_array().unwrap();
    assert!(configs.len() > 10, "{record}");
    // As data, too.
    assert_eq!(record["product"]["mnk"], serde_json::json!([64, 48, 128]));
    for config in configs {
        let [m, n, k] = [0, 1, 2].map(|i| config["fields"]["tile"][i].as_i64().unwrap());
        assert!(config["config"].as_str().unwrap().contains(&format!(" {m}x{n}x{k}, ")), "{config}");
    }
    assert_eq!(record["failed"].as_array().unwrap().len(), 0, "{record}");
    assert!(bench.trial().under_way().is_none());
    let finalists = record["finalists"].as_array().unwrap();
    assert!(finalists.iter().any(|entry| entry["config"] == record["chosen"]), "{record}");
    assert!(finalists.len() > 1 && record["peer"].is_null(), "{record}");
    // A configuration that has stopped the device is not tried again, unless girih chooses it.
    let of =
        |record: &Value, i: usize| record["configs"][i]["config"].as_str().unwrap_or_default().to_string();
    let first = (0..2).map(|i| of(&record, i)).find(|config| record["chosen"] != **config).unwrap();
    bench.blamed.push(first.clone());
    let record = bench.sweep(&bench.rows[0]).unwrap();
    assert!((0..configs.len()).all(|i| of(&record, i) != first), "{record}");
}
