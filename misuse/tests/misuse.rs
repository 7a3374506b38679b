//! What the compiler says to misuse of typed layouts, of tensors, of constant copies and MMAs, and of tile kernels.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::process::Command;
use std::{fs, path::Path};

use expect_test::expect_file;
use serde_json::Value;

/// The programs of `examples/` that must not compile.
const PROGRAMS: [&str; 9] = [
    "constants",
    "flat_divide",
    "layouts",
    "prepend",
    "tensors",
    "tile",
    "tile_attribute",
    "tile_borrow",
    "types",
];

/// The functions and constants of a program that are misuses, one each.
fn misuses(program: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{program}.rs"));
    let text = fs::read_to_string(path).unwrap();
    // In front of `main` stand the right constants that they use.
    let (_, after) = text.split_once("fn main()").unwrap();
    after.lines().filter(|line| line.starts_with("fn ") || line.starts_with("const ")).count()
}

/// What an error says: its first line, and, where that is the compiler's own, what girih adds to it.
fn said(message: &Value) -> String {
    let list = |of: &Value| of.as_array().unwrap().clone();
    let mut text = vec![message["message"].as_str().unwrap().replace("evaluation panicked: ", "")];
    if message["code"]["code"] != "E0080" {
        let labels = list(&message["spans"]).into_iter().filter(|span| span["is_primary"] == true);
        text.extend(labels.filter_map(|span| Some(span["label"].as_str()?.to_string())));
        let notes = list(&message["children"]).into_iter();
        let notes = notes.filter(|note| note["level"] == "note" && list(&note["spans"]).is_empty());
        text.extend(notes.filter_map(|note| Some(note["message"].as_str()?.to_string())));
    }
    // What depends on where it is built, or on how the compiler came there.
    let by_the_way = ["the full name", "consider using", "required for", "unsatisfied trait bound"];
    text.retain(|line| !by_the_way.iter().any(|start| line.starts_with(start)));
    text.join("; ") + "\n"
}

#[test]
fn misuse_does_not_compile_and_the_first_line_says_why() {
    // As the workspace's tests are built, so that what the programs use has been built.
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--workspace", "--keep-going", "--message-format=json"]);
    cargo.args(["--features", "girih-misuse/misuse"]);
    let output = cargo.args(PROGRAMS.iter().flat_map(|program| ["--example", program])).output().unwrap();
    let messages = output.stdout.split(|&byte| byte == b'\n');
    let messages: Vec<Value> = messages.filter_map(|message| serde_json::from_slice(message).ok()).collect();
    for program in PROGRAMS {
        let of_program = messages.iter().filter(|message| message["target"]["name"] == program);
        let errors = of_program.map(|message| &message["message"]).filter(|it| it["level"] == "error");
        let errors: BTreeSet<_> = errors.map(said).collect();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(errors.len() >= misuses(program), "{program}: {errors:?} {log}");
        let texts: String = errors.into_iter().collect();
        expect_file![format!("{}/expected/{program}.txt", env!("CARGO_MANIFEST_DIR"))].assert_eq(&texts);
    }
}

#[test]
fn the_tile_model_quotes_what_the_compiler_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let said =
        fs::read_to_string(folder.join("expected/tile.txt")).unwrap().replace("girih_tile::prelude::", "");
    let guide = fs::read_to_string(folder.join("../docs/tile-model.md")).unwrap();
    let blocks = guide.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let quoted: Vec<&str> = blocks.filter(|block| block.starts_with("error[")).collect();
    assert!(!quoted.is_empty());
    for block in quoted {
        // The code, then what the message, the label and the note say.
        let (_, text) = block.trim_end().split_once(": ").unwrap();
        let wanted = text.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        assert!(said.lines().any(|line| line == wanted), "{wanted}");
    }
}
