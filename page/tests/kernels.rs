//! Runs of kernels, and their steps.

use girih_page::{Fault, call};
use serde_json::{Value, json};

fn ask(name: &str, body: &Value) -> Result<Value, Fault> {
    call("kernels", name, body.to_string().as_bytes()).map(|text| serde_json::from_str(&text).unwrap())
}

/// The run of an example.
fn example(name: &str, block: [u32; 3]) -> Value {
    let list = ask("list", &json!({})).unwrap();
    let example = list["examples"].as_array().unwrap().iter().find(|of| of["name"] == name).unwrap().clone();
    ask("run", &json!({ "ptx": example["ptx"], "launches": example["launches"], "block": block })).unwrap()
}

/// A step, with all registers in order, and the memory cell by cell.
fn step(run: &Value, warp: usize, step: usize) -> Value {
    plain(ask("step", &json!({ "run": run["run"], "warp": warp, "step": step })).unwrap())
}

fn plain(mut step: Value) -> Value {
    let values = step["values"].as_array().unwrap();
    assert!(values.iter().enumerate().all(|(at, of)| of[0] == at));
    step["values"] = values.iter().map(|of| of[1].clone()).collect();
    let runs: Vec<Vec<u64>> = step["memory"]["runs"].as_array().unwrap().iter().map(numbers).collect();
    for (name, at) in [("by", 1), ("age", 2), ("flight", 3)] {
        step["memory"][name] = runs.iter().flat_map(|run| vec![run[at]; run[0] as usize]).collect();
    }
    step
}

/// All steps of a warp.
fn steps(run: &Value, warp: usize) -> Vec<Value> {
    (0..run["warps"][warp].as_u64().unwrap() as usize).map(|nth| step(run, warp, nth)).collect()
}

fn register(run: &Value, name: &str) -> usize {
    run["registers"].as_array().unwrap().iter().position(|of| of[0] == name).unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

#[test]
fn registers_are_what_the_instructions_compute() {
    let run = example("saxpy", [1, 0, 0]);
    let last = step(&run, 0, usize::MAX >> 1);
    // Block 1 of 64 threads, warp 0.
    assert_eq!(last["values"][register(&run, "%i")], "64, 65, ..., 95");
    assert_eq!(last["values"][register(&run, "%n")], "100");
    // Of warp 1, the elements from 96 to 99 are there alone, and no value for the others is loaded.
    let steps = steps(&run, 1);
    let body = json!({ "run": run["run"], "warp": 1, "step": steps.len(), "open": ["%to", "%from"] });
    let opened = ask("step", &body).unwrap();
    for lanes in opened["open"].as_array().unwrap() {
        let written = lanes["lanes"].as_array().unwrap().iter().map(|lane| lane != "-");
        assert!(written.eq((0..32).map(|lane| lane < 4)), "{lanes}");
    }
    let value = |of: usize, lane: usize| -> f64 {
        opened["open"][of]["lanes"][lane].as_str().unwrap().parse().unwrap()
    };
    for lane in 0..4 {
        // y was 1, and a is 2.
        assert!((value(0, lane) - (2.0 * value(1, lane) + 1.0)).abs() < 1e-6);
    }
}

#[test]
fn a_step_changes_what_it_writes_and_nothing_else() {
    for (name, warp) in [("sum", 0), ("sum", 3), ("ring", 1), ("turned", 0)] {
        let run = example(name, [0; 3]);
        let steps = steps(&run, warp);
        assert_eq!(steps[0]["line"], run["lines"][0]["line"], "the first instruction");
        for (before, after) in steps.iter().zip(&steps[1..]) {
            let changed = numbers(&after["changed"]);
            let values = before["values"].as_array().unwrap().iter().zip(after["values"].as_array().unwrap());
            for (at, (old, new)) in values.enumerate() {
                assert!(old == new || changed.contains(&(at as u64)), "{name}: {after}");
            }
            assert!(before["number"].as_u64() < after["number"].as_u64());
            // The neighbours in the order of all warps lead back.
            let [other, nth] = [0, 1].map(|i| after["before"][i].as_u64().unwrap() as usize);
            assert_eq!(step(&run, other, nth)["after"], json!([warp, after["step"]]));
        }
    }
}

/// Who says which step was shown before gets what is different, forwards and backwards, near and far.
#[test]
fn what_is_different_is_enough() {
    let run = example("ring", [0; 3]);
    let mut known: Vec<Value> = step(&run, 1, 0)["values"].as_array().unwrap().clone();
    let mut last = 0;
    for next in [1, 2, 40, 39, 80, 3, 0, 79] {
        let body = json!({ "run": run["run"], "warp": 1, "step": next, "from": last });
        let answer = ask("step", &body).unwrap();
        for of in answer["values"].as_array().unwrap() {
            known[of[0].as_u64().unwrap() as usize] = of[1].clone();
        }
        assert_eq!(Value::from(known.clone()), step(&run, 1, next)["values"], "{last} to {next}");
        last = next;
    }
    let far = json!({ "run": run["run"], "warp": 1, "step": 5, "from": 99999 });
    assert_eq!(plain(ask("step", &far).unwrap())["values"], step(&run, 1, 5)["values"]);
}

#[test]
fn counts_are_those_of_the_steps() {
    let run = example("turned", [0; 3]);
    let (lines, steps) = (run["lines"].as_array().unwrap(), steps(&run, 0));
    for line in lines {
        let is = |step: &&Value| step["instruction"] == line["instruction"] && step["line"] == line["line"];
        let executed = steps.iter().filter(is).filter(|step| step["lanes"] != 0).count();
        assert_eq!(line["executed"], executed, "{line}");
    }
    // A column of 32 words is in one bank.
    let load =
        lines.iter().find(|line| line["instruction"].as_str().unwrap().starts_with("ld.shared")).unwrap();
    assert_eq!((&load["wavefronts"], &load["least_wavefronts"]), (&json!(32 * 32), &json!(32)));
    let store =
        lines.iter().find(|line| line["instruction"].as_str().unwrap().starts_with("st.shared")).unwrap();
    assert_eq!((&store["wavefronts"], &store["least_wavefronts"]), (&json!(32), &json!(32)));
}

#[test]
fn shared_memory_is_what_was_stored() {
    let run = example("sum", [0; 3]);
    let steps = steps(&run, 0);
    let store =
        steps.iter().position(|step| step["instruction"].as_str().unwrap().starts_with("st.shared")).unwrap();
    let tile = |step: usize| {
        let body =
            json!({ "run": run["run"], "warp": 0, "step": step, "open": ["%mine"], "tile": "0:1x128:f32" });
        plain(ask("step", &body).unwrap())
    };
    assert!(tile(store - 1)["tile"][0].as_array().unwrap().iter().all(|word| word == "0"));
    let after = tile(store);
    for lane in 0..32 {
        assert_eq!(after["tile"][0][lane], after["open"][0]["lanes"][lane]);
    }
    // Words that this step has changed are warp 0's, and as young as can be; nobody has touched the others.
    let memory = &after["memory"];
    assert_eq!(memory["unit"], 4);
    let (by, age) = (numbers(&memory["by"]), numbers(&memory["age"]));
    assert_eq!(by.len(), 128);
    assert!(by[..32].iter().all(|by| *by == 2) && by[32..].iter().all(|by| *by == 0), "{by:?}");
    assert!(age[..32].iter().all(|age| *age == 0));
    // At the end, the first word is the sum, which thread 0 stores.
    let last = tile(steps.len());
    assert_eq!(last["tile"][0][0], last["open"][0]["lanes"][0]);
}

#[test]
fn a_race_leads_to_both_of_its_places() {
    for (name, races) in
        [("sum_race", true), ("sum", false), ("saxpy", false), ("turned", false), ("ring", false)]
    {
        let run = example(name, [0; 3]);
        let findings = run["findings"].as_array().unwrap();
        assert_eq!(!findings.is_empty(), races, "{name}: {findings:?}");
        for finding in findings {
            assert_eq!((&finding["kind"], &finding["severity"]), (&json!("race"), &json!("error")));
            let [places, links] = ["places", "links"].map(|name| finding[name].as_array().unwrap());
            assert_eq!((places.len(), links.len()), (2, 2));
            let at: Vec<Value> = links
                .iter()
                .zip(places)
                .map(|(link, place)| {
                    let [warp, nth] = ["warp", "step"].map(|name| link[name].as_u64().unwrap() as usize);
                    let step = step(&run, warp, nth);
                    assert_eq!(step["line"], place["line"]);
                    assert_eq!(warp as u64, place["thread"][0].as_u64().unwrap() / 32);
                    assert!(step["lanes"].as_u64().unwrap() >> link["lane"].as_u64().unwrap() & 1 == 1);
                    step
                })
                .collect();
            assert_eq!(at[0]["failed"], true);
            assert!(at[1]["number"].as_u64() < at[0]["number"].as_u64(), "the other access came before");
        }
    }
}

#[test]
fn mbarriers_and_copies_go_round_in_the_ring() {
    let run = example("ring", [0; 3]);
    let steps: Vec<Value> = (0..2).flat_map(|warp| steps(&run, warp)).collect();
    let last = steps.iter().max_by_key(|step| step["number"].as_u64()).unwrap();
    // Six turns through two stages: each is three times full and three times empty.
    let mbarriers = last["mbarriers"].as_array().unwrap();
    let told: Vec<_> = mbarriers
        .iter()
        .map(|of| [&of["offset"], &of["completed"], &of["pending"]].map(|n| n.as_u64().unwrap()))
        .collect();
    assert_eq!(told, [[1024, 3, 1], [1032, 3, 1], [1040, 3, 1], [1048, 3, 1]]);
    let copy =
        steps.iter().find(|step| step["instruction"].as_str().unwrap().starts_with("cp.async.bulk")).unwrap();
    let flight = &copy["in_flight"][0];
    assert_eq!(
        (&flight["bytes"], &flight["writes"], &flight["warps"]),
        (&json!(512), &json!([[0, 512]]), &json!([0]))
    );
    assert!(numbers(&copy["memory"]["flight"])[..128].iter().all(|bits| *bits == 1));
    // Who waits for the first stage says so.
    let waits = |step: &&Value| step["warp"] == 1 && step["awaited"].is_string();
    let awaited = steps.iter().find(waits).unwrap()["awaited"].as_str().unwrap().to_owned();
    assert!(awaited.contains("mbarrier"), "{awaited}");
    // What has come lies in shared memory by an asynchronous operation.
    let taken =
        steps.iter().find(|step| step["instruction"].as_str().unwrap().starts_with("ld.shared")).unwrap();
    assert!(numbers(&taken["memory"]["by"])[..128].iter().all(|by| *by == 1));
}

#[test]
fn a_timeline_has_every_step_once_and_no_effect_before_its_cause() {
    for name in ["ring", "sum"] {
        let run = example(name, [0; 3]);
        let timeline =
            |beside: bool| ask("timeline", &json!({ "run": run["run"], "beside": beside })).unwrap();
        let [beside, serial] = [true, false].map(timeline);
        let stretches = |all: &Value, warp: usize| -> Vec<Vec<u64>> {
            all[warp].as_array().unwrap().iter().map(numbers).collect()
        };
        let mut taken = Vec::new();
        for (warp, steps) in run["warps"].as_array().unwrap().iter().enumerate() {
            for all in [&beside, &serial] {
                let own = stretches(all, warp);
                assert!(own.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{own:?}");
                let busy: u64 = own.iter().filter(|of| of[2] != 0).map(|of| of[1] - of[0]).sum();
                assert_eq!(busy, steps.as_u64().unwrap(), "{name}, warp {warp}");
            }
            taken.extend(
                stretches(&serial, warp).into_iter().filter(|of| of[2] != 0).map(|of| [of[0], of[1]]),
            );
        }
        // One instruction after another.
        taken.sort_unstable();
        assert!(taken.windows(2).all(|pair| pair[0][1] <= pair[1][0]));
        if name == "ring" {
            // Beside each other: a stage is taken after it was loaded, and loaded again after it was taken.
            let at = |warp: usize, class: u64| -> Vec<[u64; 2]> {
                let own = stretches(&beside, warp).into_iter().filter(|of| of[2] == class);
                own.map(|of| [of[0], of[1]]).collect()
            };
            let (copies, loads) = (at(0, 1), at(1, 4));
            assert_eq!(copies.len(), 6);
            for turn in 0..6 {
                assert!(copies[turn][1] <= loads[turn][0], "{turn}: {copies:?} {loads:?}");
                if turn >= 2 {
                    assert!(loads[turn - 2][1] <= copies[turn][0], "{turn}: {copies:?} {loads:?}");
                }
            }
            // The copies of both stages are issued before the first one is taken.
            assert!(copies[1][1] < loads[1][0]);
        }
    }
}

#[test]
fn requests_that_cannot_be_run_say_what_would() {
    let good = "k --grid 1 --block 32 --arg zeros:u32:32";
    let kernel = |body: &str| {
        format!(".version 8.0 .target sm_80 .address_size 64 .visible .entry k(.param .u64 p) {{ {body} }}")
    };
    let refused = |ptx: &str, launches: &str, block: [u32; 3]| {
        let fault = ask("run", &json!({ "ptx": ptx, "launches": launches, "block": block })).unwrap_err();
        (fault.field, fault.message)
    };
    for (ptx, launches, block, field, said) in [
        (kernel("ret"), good, [0; 3], "ptx", "expected"),
        (kernel("frob.u32 %r; ret;"), good, [0; 3], "ptx", "unknown opcode `frob`"),
        (kernel("ret;"), "", [0; 3], "launches", "no launch"),
        (kernel("ret;"), "k --grid 1", [0; 3], "launches", "--block"),
        (
            kernel("ret;"),
            "k --grid 1 --block 32 --arg in:x.npy",
            [0; 3],
            "launches",
            "no files such as x.npy",
        ),
        (kernel("ret;"), "k --grid 1 --block 32 --arg out:u32:3:/etc/x", [0; 3], "launches", "no files"),
        (kernel("ret;"), "j --grid 1 --block 32", [0; 3], "launches", "no kernel `j`"),
        (kernel("ret;"), "k --grid 1 --block 32", [0; 3], "launches", "takes 1 arguments"),
        (kernel("ret;"), "k --grid 99999 --block 32 --arg zeros:u32:32", [0; 3], "launches", "up to 512"),
        (
            kernel("ret;"),
            "k --grid 4194304,2097152,2097152 --block 32 --arg zeros:u32:32",
            [0; 3],
            "launches",
            "up to 512",
        ),
        (
            kernel("ret;"),
            &"k --grid 300 --block 32 --arg zeros:u32:32\n".repeat(2),
            [0; 3],
            "launches",
            "up to 512",
        ),
        (kernel("ret;"), "k --grid 1 --block 32 --arg zeros:u32:9999999999", [0; 3], "launches", "memory"),
        (kernel("ret;"), good, [1, 0, 0], "block", "no block 1,0,0"),
    ] {
        let (found, message) = refused(&ptx, launches, block);
        assert_eq!(found, Some(field), "{message}");
        assert!(message.contains(said), "{message}");
    }
    let fault = ask("run", &json!({ "kernel": "gemm" })).unwrap_err();
    assert!(fault.field == Some("kernel") && fault.message.contains("gemm_sm90_bf16"), "{fault:?}");
    for sizes in [json!([64, 64]), json!([64, 64, 0]), json!([4096, 4096, 4096])] {
        let fault = ask("run", &json!({ "kernel": "gemm_simt_f32", "sizes": sizes })).unwrap_err();
        assert!(fault.field == Some("kernel") && fault.message.contains("m x n x k"), "{fault:?}");
    }
    assert_eq!(ask("step", &json!({ "run": "none", "warp": 0, "step": 0 })).unwrap_err().kind, "no_run");
    let run = example("sum", [0; 3]);
    let fault = ask("step", &json!({ "run": run["run"], "warp": 4, "step": 0 })).unwrap_err();
    assert!(fault.message.contains("0 to 3"), "{fault:?}");
    for (tile, said) in [("0:8x8", "OFFSET:ROWSxCOLUMNS:TYPE"), ("0:8x32:f32", "512 bytes")] {
        let body = json!({ "run": run["run"], "warp": 0, "step": 0, "tile": tile });
        let fault = ask("step", &body).unwrap_err();
        assert!(fault.field == Some("tile") && fault.message.contains(said), "{fault:?}");
    }
}

/// Each of 4000 copies that nobody waits for is in flight at all later steps: their lists would take a gigabyte.
#[test]
fn what_is_in_flight_counts_in_the_record() {
    let ptx = ".version 8.0 .target sm_80 .address_size 64 .visible .entry k(.param .u64 p) {
      .reg .pred %p; .reg .u32 %i; .reg .u64 %from; .shared .align 16 .b8 to[16];
      ld.param.u64 %from, [p];
      mov.u32 %i, 0;
      TURN: cp.async.ca.shared.global [to], [%from], 16;
      cp.async.commit_group;
      add.u32 %i, %i, 1;
      setp.lt.u32 %p, %i, 4000;
      @%p bra TURN;
      cp.async.wait_all;
      ret; }";
    let run =
        ask("run", &json!({ "ptx": ptx, "launches": "k --grid 1 --block 1 --arg zeros:u32:4" })).unwrap();
    assert!(
        run["notice"].as_str().is_some_and(|notice| notice.contains("the record ends")),
        "{}",
        run["notice"]
    );
    let steps = run["warps"][0].as_u64().unwrap() as usize;
    assert!(step(&run, 0, steps - 1)["in_flight"].as_array().unwrap().len() > 500);
}

#[test]
fn a_warp_that_never_goes_on_ends_where_it_waits() {
    let ptx = ".version 8.0 .target sm_90 .address_size 64 .visible .entry k() {
      .reg .pred %p; .shared .align 8 .b64 bar;
      mbarrier.init.shared.b64 [bar], 1;
      mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
      WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
      @!%p bra WAIT;
      ret; }";
    let run = ask("run", &json!({ "ptx": ptx, "launches": "k --grid 1 --block 1" })).unwrap();
    assert_eq!(run["findings"][0]["kind"], "deadlock");
    let last = step(&run, 0, usize::MAX >> 1);
    assert!(last["instruction"].as_str().unwrap().contains("try_wait"), "{last}");
}

/// The kernel for Hopper has a warp that copies, two warpgroups that multiply, and waits of one for another.
#[test]
fn the_gemm_for_hopper_has_warps_with_roles() {
    let run = ask("run", &json!({ "kernel": "gemm_sm90_bf16" })).unwrap();
    assert_eq!(run["findings"], json!([]));
    assert!(run["notice"].is_null(), "{}", run["notice"]);
    let timeline = ask("timeline", &json!({ "run": run["run"], "beside": true })).unwrap();
    let classes = |warp: usize| -> Vec<u64> {
        timeline[warp].as_array().unwrap().iter().map(|of| of[2].as_u64().unwrap()).collect()
    };
    let warps = run["warps"].as_array().unwrap().len();
    let [copies, products] =
        [1, 2].map(|class| (0..warps).filter(|&warp| classes(warp).contains(&class)).collect::<Vec<_>>());
    assert!(products.len() >= 4 && products.len() % 4 == 0, "{products:?}");
    assert!(copies.iter().any(|warp| !products.contains(warp)), "{copies:?} {products:?}");
    // In the middle of a consumer, products are in flight; its sums change where it has waited for them.
    let middle = run["warps"][products[0]].as_u64().unwrap() as usize;
    let flies = |nth: &usize| {
        let step = step(&run, products[0], *nth);
        step["in_flight"]
            .as_array()
            .unwrap()
            .iter()
            .any(|of| of["instruction"].as_str().unwrap().starts_with("wgmma"))
    };
    assert!((0..middle).step_by(4).any(|nth| flies(&nth)));
}

#[test]
fn sizes_of_kernels_are_asked_for() {
    for (kernel, sizes, grid) in [
        ("add_f32_2048", json!([5000]), json!([3, 1, 1])),
        ("add_f32_2048", json!([2048]), json!([1, 1, 1])),
        ("transpose_f32", json!([8, 8]), json!([1, 1, 1])),
    ] {
        let run = ask("run", &json!({ "kernel": kernel, "sizes": sizes })).unwrap();
        assert_eq!((&run["grid"], &run["findings"]), (&grid, &json!([])), "{kernel} {sizes}");
    }
}
