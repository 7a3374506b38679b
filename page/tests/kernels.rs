//! Runs of kernels, and their steps.

use girih_page::{Fault, call};
use serde_json::{Value, json};

pub(crate) fn ask(name: &str, body: &Value) -> Result<Value, Fault> {
    call("kernels", name, body.to_string().as_bytes()).map(|text| serde_json::from_str(&text).unwrap())
}

/// The run of an example.
pub(crate) fn example(name: &str, block: [u32; 3]) -> Value {
    let list = ask("list", &json!({})).unwrap();
    let example = list["examples"].as_array().unwrap().iter().find(|of| of["name"] == name).unwrap().clone();
    ask("run", &json!({ "ptx": example["ptx"], "launches": example["launches"], "block": block })).unwrap()
}

/// A step, with all registers in order.
pub(crate) fn step(run: &Value, warp: usize, step: usize) -> Value {
    plain(ask("step", &json!({ "run": run["run"], "warp": warp, "step": step })).unwrap())
}

fn plain(mut step: Value) -> Value {
    let values = step["values"].as_array().unwrap();
    assert!(values.iter().enumerate().all(|(at, of)| of[0] == at));
    step["values"] = values.iter().map(|of| of[1].clone()).collect();
    step
}

/// The bytes of a region of memory after a step, by its index in the block, and who has changed each.
pub(crate) fn memory(region: &Value, number: &Value) -> (Vec<u8>, Vec<u64>) {
    let unhex = |text: &Value| -> Vec<u8> {
        let text = text.as_str().unwrap();
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let size = region["bytes"].as_u64().unwrap() as usize;
    let (mut bytes, mut by) = (unhex(&region["begin"]), vec![0; size]);
    bytes.resize(size, 0);
    for change in region["changes"].as_array().unwrap() {
        if change[0].as_u64() > number.as_u64() {
            break;
        }
        let (at, new) = (change[1].as_u64().unwrap() as usize, unhex(&change[3]));
        bytes[at..at + new.len()].copy_from_slice(&new);
        by[at..at + new.len()].fill(change[2].as_u64().unwrap());
    }
    (bytes, by)
}

/// The texts of the lanes of a register.
pub(crate) fn lanes(value: &Value) -> Vec<String> {
    let text = value.as_str().unwrap();
    match text.split(' ').collect::<Vec<_>>()[..] {
        [only] => vec![only.into(); 32],
        ref all => all.iter().map(ToString::to_string).collect(),
    }
}

/// All steps of a warp.
pub(crate) fn steps(run: &Value, warp: usize) -> Vec<Value> {
    (0..run["warps"][warp].as_u64().unwrap() as usize).map(|nth| step(run, warp, nth)).collect()
}

pub(crate) fn register(run: &Value, name: &str) -> usize {
    run["registers"].as_array().unwrap().iter().position(|of| of[0] == name).unwrap()
}

pub(crate) fn numbers(value: &Value) -> Vec<u64> {
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
    let last = step(&run, 1, steps.len());
    let [to, from] = ["%to", "%from"].map(|name| lanes(&last["values"][register(&run, name)]));
    for own in [&to, &from] {
        assert!(own.iter().map(|lane| lane != "-").eq((0..32).map(|lane| lane < 4)), "{own:?}");
    }
    let value = |text: &str| -> f64 { text.parse().unwrap() };
    for (to, from) in to.iter().zip(&from).take(4) {
        // y was 1, and a is 2.
        assert!((value(to) - (2.0 * value(from) + 1.0)).abs() < 1e-6);
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
        .map(|of| [&of["address"], &of["completed"], &of["pending"]].map(|n| n.as_u64().unwrap()))
        .collect();
    // Shared memory begins at 1024, and the stages are before the mbarriers.
    assert_eq!(told, [[2048, 3, 1], [2056, 3, 1], [2064, 3, 1], [2072, 3, 1]]);
    let copy =
        steps.iter().find(|step| step["instruction"].as_str().unwrap().starts_with("cp.async.bulk")).unwrap();
    let flight = &copy["in_flight"][0];
    assert_eq!(
        (&flight["bytes"], &flight["writes"], &flight["warps"]),
        (&json!(512), &json!([[1024, 1536]]), &json!([0]))
    );
    // Who waits for the first stage says so.
    let waits = |step: &&Value| step["warp"] == 1 && step["awaited"].is_string();
    let awaited = steps.iter().find(waits).unwrap()["awaited"].as_str().unwrap().to_owned();
    assert!(awaited.contains("mbarrier"), "{awaited}");
    // What has come lies in shared memory by an asynchronous operation.
    let taken =
        steps.iter().find(|step| step["instruction"].as_str().unwrap().starts_with("ld.shared")).unwrap();
    assert!(memory(&run["memory"][0], &taken["number"]).1[..512].iter().all(|by| *by == 1));
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
    assert!(fault.field == Some("kernel") && fault.message.contains("did you mean gemm_"), "{fault:?}");
    for sizes in [json!([64, 64]), json!([64, 64, 0]), json!([4096, 4096, 4096])] {
        let fault = ask("run", &json!({ "kernel": "gemm_simt_f32", "sizes": sizes })).unwrap_err();
        assert!(fault.field == Some("kernel") && fault.message.contains("m x n x k"), "{fault:?}");
    }
    assert_eq!(ask("step", &json!({ "run": "none", "warp": 0, "step": 0 })).unwrap_err().kind, "no_run");
    let run = example("sum", [0; 3]);
    let fault = ask("step", &json!({ "run": run["run"], "warp": 4, "step": 0 })).unwrap_err();
    assert!(fault.message.contains("0 to 3"), "{fault:?}");
    let fault = ask("run", &json!({ "kernel": "sum_rac" })).unwrap_err();
    assert!(fault.message.contains("did you mean sum_race"), "{fault:?}");
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
