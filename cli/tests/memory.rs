//! What no memory has room for is refused before anything is allocated.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Runs girih on lines of standard input. The result is the exit status and the texts of both streams.
fn girih(line: &str, input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_girih"))
        .args(line.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Calls that need more memory than any machine has, one for each thing that grows.
const CALLS: &[&str] = &[
    "copy (2,8):(4294967296000,1) (2,8):(8,1)",
    "copy (2,8):(8,1) (2,8):(4294967296000,1) --dtype f64",
    "copy (1073741824,1048576):(1048576,1) --dtype u8 --no-check",
    "gemm --m 1000000000 --n 1000000000 --k 16",
    "gemm --m 16 --n 16 --k 1000000000 --batch 1000000 --dtype f32",
    "gemm --m 1000000000 --n 16 --k 1000000 --dtype f64 --layout nn",
    "gemm --m 16 --n 16 --k 16 --lda 1000000000000 --dtype f32",
    "attention --queries 1000000000 --keys 1000000000 --heads 64 --batch 64",
    "attention decode --keys 268435456 --batch 65535 --heads 64",
    "tune gemm --m 1000000000 --n 1000000000 --k 16",
    "tune tile saxpy_2048 n=4000000000000",
];

#[test]
fn every_command_refuses_what_no_memory_holds() {
    for line in CALLS {
        let begin = Instant::now();
        let (status, _, error) = girih(line, "");
        assert!(begin.elapsed() < Duration::from_secs(20), "girih {line}: {:?}", begin.elapsed());
        // A size that is beyond what a problem has at all is refused as an argument.
        let is_memory = status == Some(3) && error.contains("the arrays take ") && error.contains(" bytes, ");
        let is_size = status == Some(2) && error.contains("accepted");
        assert!(is_memory || is_size, "girih {line}: {status:?} {error}");
    }
}

/// A record of an operation on inputs of these shapes, without elements or with given ones.
fn record(group: &str, op: &str, attrs: Value, inputs: &[Value]) -> Value {
    json!({ "id": op, "group": group, "op": op, "dialect": "python", "attrs": attrs, "inputs": inputs })
}

fn input(dtype: &str, shape: &[i64]) -> Value {
    json!({ "dtype": dtype, "shape": shape })
}

#[test]
fn records_of_tiles_that_no_memory_holds_are_errors_of_their_own() {
    let huge = 1i64 << 44;
    let records = [
        ("memory", record("elementwise", "negative", json!({}), &[input("f32", &[huge])])),
        (
            "memory",
            record("elementwise", "add", json!({}), &[input("i8", &[1 << 30, 1 << 20]), input("i8", &[1])]),
        ),
        (
            "shape",
            record(
                "factory",
                "zeros",
                json!({ "dtype": "f32", "shape": [1i64 << 31, 1i64 << 31, 1i64 << 31] }),
                &[],
            ),
        ),
        (
            "memory",
            record(
                "load",
                "load",
                json!({ "tile_shape": [1 << 30], "index": [0] }),
                &[input("f64", &[huge])],
            ),
        ),
        (
            "memory",
            record(
                "load",
                "load",
                json!({ "tile_shape": [1i64 << 31, 1 << 20], "index": [0, 0], "padding_mode": "zero" }),
                &[json!({ "dtype": "i32", "shape": [1, 1], "data": [7] })],
            ),
        ),
        ("record", record("elementwise", "negative", json!({}), &[input("f32", &[1 << 40, 1 << 40])])),
        ("record", record("elementwise", "negative", json!({}), &[input("f32", &[0, 1 << 40, 1 << 40])])),
        ("record", record("elementwise", "negative", json!({}), &[input("f32", &[-4, -4])])),
        (
            "memory",
            record(
                "program",
                "tiled_copy_1d",
                json!({ "tile_shape": [4], "guard": huge }),
                &[json!({ "dtype": "i32", "shape": [4], "data": [1, 2, 3, 4] })],
            ),
        ),
    ];
    // The answers after an error are those of the lines.
    let right = record(
        "elementwise",
        "negative",
        json!({}),
        &[json!({ "dtype": "i32", "shape": [2], "data": [1, -2] })],
    );
    let mut text: String = records.iter().map(|(_, record)| format!("{record}\n")).collect();
    text += &format!("{right}\n");
    for on in ["reference", "sim"] {
        let begin = Instant::now();
        let (status, answers, error) = girih(&format!("eval --tile --jsonl --on {on}"), &text);
        assert!(begin.elapsed() < Duration::from_secs(20), "{on}: {:?}", begin.elapsed());
        assert_eq!((status, &*error), (Some(0), ""), "{on}");
        let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), records.len() + 1);
        for ((code, record), answer) in records.iter().zip(&answers) {
            assert_eq!(answer["error"]["code"], *code, "{on}: {record} {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("accepted"), "{message}");
            assert!(*code != "memory" || message.contains("bytes, this machine has "), "{message}");
        }
        assert_eq!(answers[records.len()]["result"]["data"], json!([-1, 2]));
    }
}
