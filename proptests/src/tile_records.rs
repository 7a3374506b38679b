//! Answers to records of the tile language, judged as `testdata/tile-SCHEMA.md` says.

use serde_json::Value;

/// A number as records write it.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::String(text) => match text.as_str() {
            "nan" => Some(f64::NAN),
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "-0.0" => Some(-0.0),
            _ => None,
        },
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// Whether an element is what is wanted, within tolerances; exactly if both are 0.
fn element(got: &Value, want: &Value, rtol: f64, atol: f64) -> bool {
    if let (Some(got), Some(want)) = (whole(got), whole(want)) {
        return got == want;
    }
    let (Some(x), Some(y)) = (number(got), number(want)) else { return false };
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    if rtol == 0.0 && atol == 0.0 {
        return x.to_bits() == y.to_bits();
    }
    x == y || (x - y).abs() <= atol + rtol * y.abs()
}

fn value(got: &Value, want: &Value) -> Result<(), String> {
    for key in ["dtype", "shape"] {
        if got[key] != want[key] {
            return Err(format!("{key} {} where {} is expected", got[key], want[key]));
        }
    }
    let (Some(x), Some(y)) = (got["data"].as_array(), want["data"].as_array()) else {
        return Err(format!("no data: {got}"));
    };
    let tolerance = |key: &str| want[key].as_f64().unwrap_or(0.0);
    let (rtol, atol) = (tolerance("rtol"), tolerance("atol"));
    if x.len() != y.len() {
        return Err(format!("{} elements where {} are expected", x.len(), y.len()));
    }
    match x.iter().zip(y).position(|(got, want)| !element(got, want, rtol, atol)) {
        None => Ok(()),
        Some(i) => Err(format!("element {i} is {} where {} is expected", x[i], y[i])),
    }
}

/// Whether the line that answers a record is what the record expects.
///
/// # Errors
/// What is wrong.
pub fn judge(record: &Value, line: &Value, returned: Option<&[Value]>) -> Result<(), String> {
    let want = &record["expect"];
    let got = &line["result"];
    if want["kind"] == "error" {
        return match &line["error"]["code"] {
            code if *code == want["code"] => Ok(()),
            _ => Err(format!("{line} where the error {} is expected", want["code"])),
        };
    }
    if got.is_null() || got["kind"] != want["kind"] {
        return Err(format!("{line} where {} is expected", want["kind"]));
    }
    if let (Some(want), Some(got)) = (record["attrs"]["returned"].as_array(), returned) {
        let same = |(got, want): (&Value, &Value)| want.is_null() || element(got, want, 0.0, 0.0);
        if want.len() != got.len() || !got.iter().zip(want).all(same) {
            return Err(format!("{got:?} returned where {want:?} is expected"));
        }
    }
    match want["kind"].as_str() {
        Some("ok") => Ok(()),
        Some("value") => value(got, want),
        Some("type") if got["dtype"] == want["dtype"] && got["shape"] == want["shape"] => Ok(()),
        Some("values") => {
            let (Some(got), Some(want)) = (got["items"].as_array(), want["items"].as_array()) else {
                return Err("no items".into());
            };
            if got.len() != want.len() {
                return Err(format!("{} items where {} are expected", got.len(), want.len()));
            }
            got.iter().zip(want).try_for_each(|(got, want)| value(got, want))
        }
        Some("ints" | "multiset") if got["data"] == want["data"] => Ok(()),
        _ => Err(format!("{got} where {want} is expected")),
    }
}
