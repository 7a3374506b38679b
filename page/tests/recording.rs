//! Memory at every step, and recordings.

use girih_page::call;
use serde_json::{Value, json};

use crate::kernels::{ask, example, lanes, memory, numbers, register, step, steps};

/// What f32s are at addresses after a step, in whichever region.
fn f32s(run: &Value, number: &Value) -> impl Fn(u64) -> f32 {
    let region = |of: &Value| (of["base"].as_u64().unwrap(), memory(of, number).0);
    let regions: Vec<(u64, Vec<u8>)> = run["memory"].as_array().unwrap().iter().map(region).collect();
    move |address| {
        let inside = |(base, bytes): &&(u64, Vec<u8>)| (*base..*base + bytes.len() as u64).contains(&address);
        let (base, bytes) = regions.iter().find(inside).unwrap();
        let at = (address - base) as usize;
        f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }
}

#[test]
fn shared_memory_is_what_was_stored() {
    let run = example("sum", [0; 3]);
    let steps = steps(&run, 0);
    let store =
        steps.iter().position(|step| step["instruction"].as_str().unwrap().starts_with("st.shared")).unwrap();
    let shared = &run["memory"][0];
    let word = |bytes: &[u8], at: usize| f32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    let (before, _) = memory(shared, &steps[store - 1]["number"]);
    assert!(before.iter().all(|byte| *byte == 0));
    let (after, by) = memory(shared, &steps[store]["number"]);
    for (lane, text) in lanes(&steps[store]["values"][register(&run, "%mine")]).iter().enumerate() {
        assert_eq!(word(&after, lane), text.parse::<f32>().unwrap());
    }
    // Words that this step has changed are warp 0's; nobody has touched the others.
    assert_eq!(by.len(), 512);
    assert!(by[..128].iter().all(|by| *by == 2) && by[128..].iter().all(|by| *by == 0), "{by:?}");
    // At the end, the first word is the sum, which thread 0 stores.
    let last = &steps[steps.len() - 1];
    let sum = word(&memory(shared, &last["number"]).0, 0);
    assert_eq!(sum, lanes(&last["values"][register(&run, "%mine")])[0].parse::<f32>().unwrap());
    // It is the result too, in global memory.
    let total = &run["memory"][2];
    assert_eq!((&total["name"], &total["type"]), (&json!("argument 1 (total)"), &json!("f32")));
    assert_eq!(word(&memory(total, &last["number"]).0, 0), sum);
    assert_eq!(memory(total, &steps[store]["number"]).0, [0; 4]);
}

/// What a lane loads or stores is in memory at the address that it is said to access.
#[test]
fn lanes_access_the_addresses_that_are_told() {
    for (name, least) in [("sum", 60), ("saxpy", 100), ("turned", 4000)] {
        let run = example(name, [0; 3]);
        let mut seen = 0;
        for warp in 0..run["warps"].as_array().unwrap().len() {
            for step in steps(&run, warp) {
                let text = step["instruction"].as_str().unwrap();
                let accesses = step["accesses"].as_array().unwrap();
                let is = ["ld.shared", "st.shared", "ld.global", "st.global"]
                    .iter()
                    .any(|name| text.contains(name));
                assert_eq!(accesses.len(), usize::from(is && step["lanes"] != 0), "{step}");
                let Some(access) = accesses.first() else { continue };
                assert_eq!((&access["write"], &access["bytes"]), (&json!(text.contains("st.")), &json!(4)));
                assert!(text.contains(access["space"].as_str().unwrap()) && access["lanes"] == step["lanes"]);
                // The operand that is no address, and no guard.
                let operands = text.split_whitespace().skip_while(|word| !word.contains('.')).skip(1);
                let data = operands
                    .map(|word| word.trim_matches([',', ';']))
                    .find(|word| word.starts_with('%'))
                    .unwrap();
                let values = lanes(&step["values"][register(&run, data)]);
                let mask = step["lanes"].as_u64().unwrap();
                let value_at = f32s(&run, &step["number"]);
                for (lane, address) in
                    (0..32).filter(|lane| mask >> lane & 1 == 1).zip(numbers(&access["at"]))
                {
                    assert_eq!(value_at(address), values[lane].parse::<f32>().unwrap(), "{step}");
                    seen += 1;
                }
            }
        }
        assert!(seen > least, "{name}: {seen}");
    }
}

/// A recording has what the program answers, for every step. Of many warps that take the same steps, each tells some of them.
#[test]
fn a_recording_answers_as_the_program_does() {
    for (run, of_all) in [
        (example("sum_race", [0; 3]), 1),
        (example("ring", [0; 3]), 1),
        (ask("run", &json!({ "kernel": "gemm_simt_f32", "sizes": [32, 32, 8] })).unwrap(), 8),
    ] {
        let html = ask("recording", &json!({ "run": run["run"] })).unwrap();
        let html = html.as_str().unwrap();
        assert!(!html.contains("src=\"") && !html.contains("href=\"/"), "nothing is elsewhere");
        let packed = html.split_once("id=\"recording\">").unwrap().1.split('<').next().unwrap();
        let told: Value = serde_json::from_slice(&unpack(packed)).unwrap();
        let answers = &told["answers"];
        assert_eq!(answers["run"], run);
        let palettes = serde_json::from_str::<Value>(&call("colours", "palettes", b"{}").unwrap()).unwrap();
        assert_eq!(answers["palettes"], palettes);
        for (name, beside) in [("beside", true), ("order", false)] {
            let timeline = ask("timeline", &json!({ "run": run["run"], "beside": beside })).unwrap();
            assert_eq!(answers[name], timeline);
        }
        for (warp, told) in answers["warps"].as_array().unwrap().iter().enumerate() {
            let mut values = vec![json!(""); run["registers"].as_array().unwrap().len()];
            let mut state = json!({ "warp": warp });
            for (nth, told) in told.as_array().unwrap().iter().enumerate() {
                state["step"] = json!(nth);
                for (name, value) in told.as_object().unwrap() {
                    state[name] = value.clone();
                }
                for of in told["values"].as_array().unwrap() {
                    values[of[0].as_u64().unwrap() as usize] = of[1].clone();
                }
                if nth % of_all == warp % of_all {
                    state["values"] = values.clone().into();
                    assert_eq!(state, step(&run, warp, nth));
                }
            }
            assert_eq!(run["warps"][warp], told.as_array().unwrap().len());
        }
    }
}

fn unpack(base64: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> =
        base64.trim_end_matches('=').chars().map(|c| DIGITS.find(c).unwrap() as u32).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | group.get(at).copied().unwrap_or(0));
        [16, 8, 0].into_iter().take(group.len() - 1).map(move |shift| (bits >> shift) as u8)
    });
    miniz_oxide::inflate::decompress_to_vec(&bytes.collect::<Vec<_>>()).unwrap()
}
