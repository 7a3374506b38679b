//! Every record of testdata/layout.jsonl, judged by function as testdata/layout-SCHEMA.md says.

use std::collections::BTreeMap;

use girih_layout::{Composed, Lay, Swizzle};
use girih_notation::ops::{self, OpError, evaluate};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

const VECTORS: &str = include_str!("../../testdata/layout.jsonl");
const RECORDS: usize = 2453;

#[derive(Default)]
struct Tally {
    exact: usize,
    by_function: usize,
    refused: usize,
    not_judged: usize,
    unsupported: usize,
}

/// A layout, swizzled or not, as a list of values.
fn table(text: &str, most: usize) -> Option<Vec<i64>> {
    let composed = match text.split(" o ").collect::<Vec<_>>()[..] {
        [swizzle, offset, layout] => {
            let numbers = swizzle.strip_prefix("Sw<")?.strip_suffix('>')?.split(',').collect::<Vec<_>>();
            let [bits, base, shift] = numbers[..] else { return None };
            let swizzle = Swizzle::new(bits.parse().ok()?, base.parse().ok()?, shift.parse().ok()?).ok()?;
            Composed::new(swizzle, offset.parse().ok()?, Lay::parse(layout).ok()?)
        }
        _ => Composed::new(Swizzle::NONE, 0, Lay::parse(text.split(" @ ").next()?).ok()?),
    };
    let size = composed.layout().size().ok()?.get()?;
    (0..size).take(most).map(|i| composed.at(i).ok()).collect()
}

fn size(text: &str) -> Option<i64> {
    Lay::parse(text.rsplit(" o ").next()?).ok()?.size().ok()?.get()
}

/// `L(inv(L(i))) == L(i)`, all that a left inverse has to give.
fn inverts(layout: &Value, inverse: &str) -> bool {
    let (layout, inverse) = (layout.as_str().map(Lay::parse), Lay::parse(inverse));
    let (Some(Ok(layout)), Ok(inverse)) = (layout, inverse) else { return false };
    let Some(size) = layout.size().ok().and_then(|size| size.get()) else { return false };
    (0..size).all(|i| {
        let there = layout.at(i).ok();
        let back = there.and_then(|x| inverse.at_extended(x).ok()).and_then(|c| layout.at_extended(c).ok());
        there.is_some() && back == there
    })
}

fn judge(record: &Value, result: Result<Value, OpError>, tally: &mut Tally) -> Result<(), String> {
    let expect = &record["expect"];
    let fails = expect == "error";
    if let Err(OpError::Unsupported) = result {
        tally.unsupported += 1;
        return Ok(());
    }
    if record["error_kind"] == "api_limit" {
        tally.not_judged += 1;
        return Ok(());
    }
    let value = match result {
        Ok(value) => value,
        Err(_) if fails || record["sound"] == false => {
            tally.refused += 1;
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    if value == *expect {
        tally.exact += 1;
        return Ok(());
    }
    let text = value.as_str().unwrap_or_default();
    let same = if record["compare"] == "image" || record["op"] == "left_inverse" {
        inverts(&record["args"]["layout"], text)
    } else if let Some(list) = record["fn"].as_array() {
        let list: Option<Vec<i64>> = list.iter().map(Value::as_i64).collect();
        let most = list.as_ref().map_or(0, Vec::len);
        let sizes = fails || record["sound"] == false || size(text) == expect.as_str().and_then(size);
        sizes && list.is_some() && table(text, most.max(1)) == list
    } else {
        false
    };
    if same {
        tally.by_function += 1;
        return Ok(());
    }
    Err(format!("got {value}"))
}

#[test]
fn every_record_passes_by_function() {
    let (mut tallies, mut failures, mut records) = (BTreeMap::<String, Tally>::new(), Vec::new(), 0);
    for line in VECTORS.lines() {
        let record: Value = serde_json::from_str(line).expect("a record");
        let (op, args) = (record["op"].as_str().expect("op"), record["args"].as_object().expect("args"));
        records += 1;
        let tally = tallies.entry(op.to_owned()).or_default();
        if let Err(what) = judge(&record, evaluate(op, args), tally) {
            failures.push(format!(
                "{} {op} {}: expected {}, {what}",
                record["id"], record["args"], record["expect"]
            ));
        }
    }
    println!(
        "{:24} {:>6} {:>12} {:>8} {:>11} {:>12}",
        "op", "exact", "by function", "refused", "not judged", "unsupported"
    );
    for (op, t) in &tallies {
        println!(
            "{op:24} {:>6} {:>12} {:>8} {:>11} {:>12}",
            t.exact, t.by_function, t.refused, t.not_judged, t.unsupported
        );
    }
    let sum = |f: fn(&Tally) -> usize| tallies.values().map(f).sum::<usize>();
    println!(
        "{records} records: {} exact, {} by function, {} refused, {} not judged, {} unsupported, {} wrong",
        sum(|t| t.exact),
        sum(|t| t.by_function),
        sum(|t| t.refused),
        sum(|t| t.not_judged),
        sum(|t| t.unsupported),
        failures.len()
    );
    assert_eq!(records, RECORDS);
    assert!(failures.is_empty(), "{} records fail:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(sum(|t| t.unsupported), 0);
}

/// Leaves that break careless arithmetic.
const LEAVES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "8",
    "-1",
    "-2",
    "7",
    "12",
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "4294967296",
    "3037000500",
    "s0",
    "s1",
    "ceil(s0/8)",
    "2*s0*s1",
    "_4",
    "_",
    "1@0",
    "^5",
];

fn tree() -> impl Strategy<Value = String> {
    let leaf = select(LEAVES).prop_map(str::to_owned);
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop::collection::vec(inner, 0..4).prop_map(|modes| format!("({})", modes.join(",")))
    })
}

fn argument() -> impl Strategy<Value = String> {
    let layout = (tree(), tree()).prop_map(|(shape, stride)| format!("{shape}:{stride}"));
    let congruent = prop::collection::vec((select(LEAVES), select(LEAVES)), 1..4).prop_map(|leaves| {
        let (shape, stride): (Vec<_>, Vec<_>) = leaves.into_iter().unzip();
        format!("({}):({})", shape.join(","), stride.join(","))
    });
    let tiler = prop::collection::vec(tree(), 1..3).prop_map(|tiles| format!("<{}>", tiles.join(",")));
    prop_oneof![tree(), layout, congruent.clone(), congruent, tiler]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_operation_panics(which in 0usize..1000, args in prop::collection::vec(argument(), 6)) {
        let all: Vec<_> = ops::all().collect();
        let op = all[which % all.len()];
        let params = op.params.iter().map(|param| param.trim_start_matches('?').to_owned());
        let args = params.zip(args.into_iter().map(Value::String)).collect();
        let _ = evaluate(op.name, &args);
    }
}
