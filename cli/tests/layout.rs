//! The layout commands as a user types them.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn girih(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_girih"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("girih starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("girih reads");
    child.wait_with_output().expect("girih ends")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn expressions() {
    for (expression, result) in [
        ("(4,8):(8,1)", "(4,8):(8,1)"),
        ("composition((10,2):(16,4), (5,4):(1,5))", "(5,(2,2)):(16,(80,4))"),
        ("complement((2,2):(1,6), 24)", "(3,2):(2,12)"),
        ("complement((2,2):(1,6))", "3:2"),
        ("logical_divide((4,2,3):(2,1,8), 4:2)", "((2,2),(2,3)):((4,1),(2,8))"),
        ("size(logical_divide((4,2,3):(2,1,8), complement(4:1, 8)))", "24"),
        ("composition( (6,2):(8,2) , < 3:1 , _ > )", "(3,2):(8,2)"),
        ("crd2idx((4,8):(8,1), (3,5))", "29"),
        (
            "zipped_divide((s0,s1):(s2,1), <128,32>)",
            "((128,32),(ceil(s0/128),ceil(s1/32))):((s2,1),(128*s2,32))",
        ),
        ("ceil(s0/8):1", "ceil(s0/8):1"),
        ("4:-1", "4:-1"),
        ("Sw<2,0,3> o 0 o (4,8):(8,1)", "Sw<2,0,3> o 0 o (4,8):(8,1)"),
        ("f2(Sw<3,0,3> o 0 o (8,8):(1,8))", "(8,8):(^1,^9)"),
        ("decay(Sw<3,3,3> o 192 o (64):(1))", "((8,4,2)):((1,-8,32)) @ 216"),
        ("compose_general((4,6,8):(2,3,5), 2:5)", "2:5"),
        ("recognise((0,4,1,5,2,6))", "(2,3):(4,1)"),
        ("preimage((4,(2,3)):(2,(3,-1)), 7)", "(2,(1,0))"),
        ("outer_product(4:2, 3:1)", "(4,3):(2,8)"),
    ] {
        let output = girih(&["layout", "--plain", expression], "");
        assert!(output.status.success(), "{expression}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).trim_end(), result, "{expression}");
    }
    let table = girih(&["layout", "(2,3):(3,1)"], "");
    assert_eq!(text(&table.stdout).lines().nth(3), Some(" 0 | 0 | 1 | 2 |"));
}

#[test]
fn mistakes_are_one_message_with_a_caret() {
    for (expression, caret, words) in [
        ("(4,8:(1,4)", 4, "',' or ')'"),
        ("composition((10,2):(16,4), (5,4:(1,5))", 38, "')'"),
        ("composition((10,2):(16,4), (5,x):(1,5))", 30, "an integer"),
        ("coalesce(4:1) 5", 14, "the end"),
        ("compose(4:1, 2:1)", 0, "no operation \"compose\""),
        ("composition(4:1)", 0, "composition(a, b)"),
        ("size(composition((4,2):(1,10), (2,2):(2,3)))", 5, "coordinate 3 the index is 11"),
        ("complement(4:1, many)", 16, "an integer"),
        ("", 0, "an integer"),
    ] {
        let output = girih(&["layout", expression], "");
        assert_eq!(output.status.code(), Some(1), "{expression}");
        assert!(output.stdout.is_empty());
        let message = text(&output.stderr);
        assert!(message.contains(words), "{message}");
        assert_eq!(message.lines().last(), Some(&*format!("  {}^", " ".repeat(caret))), "{message}");
    }
}

#[test]
fn pictures_are_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let (svg, latex) = (folder.path().join("a.svg"), folder.path().join("a.tex"));
    let paths = [svg.to_str().expect("text"), latex.to_str().expect("text")];
    let tv = [
        "layout",
        "((4,8),(2,2)):((32,1),(16,8))",
        "--tile",
        "(16,8)",
        "--svg",
        paths[0],
        "--latex",
        paths[1],
    ];
    assert!(girih(&tv, "").status.success());
    let read = |path| std::fs::read_to_string(path).expect("a picture");
    // Lane 5 has the values 0 and 1 of row 1 and 2 and 3 of row 9.
    assert_eq!(read(&svg).matches(">T5<").count(), 4);
    assert!(read(&latex).contains("at (9,3) {T5\\\\V3};"), "{}", read(&latex));
    assert!(girih(&["layout", "Sw<1,0,1> o 0 o (2,2):(2,1)", "--svg", paths[0]], "").status.success());
    let cells = read(&svg)
        .split("fill=\"#")
        .skip(2)
        .filter_map(|cell| Some(cell.split('>').nth(2)?.to_owned()))
        .collect::<Vec<_>>();
    assert_eq!(cells, ["0</text", "1</text", "3</text", "2</text"]);
    let refused = girih(&["layout", "(2,2,2)", "--svg", paths[0]], "");
    assert!(!refused.status.success() && text(&refused.stderr).contains("rank 3"));
}

#[test]
fn eval_answers_line_by_line() {
    let input = "{\"id\":1,\"op\":\"right_inverse\",\"args\":{\"layout\":\"(2,4):(4,1)\"}}\nbroken\n";
    let output = girih(&["eval", "--jsonl"], input);
    assert!(output.status.success());
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(lines[0], r#"{"id":1,"result":"(4,2):(2,1)"}"#);
    assert!(lines[1].starts_with(r#"{"error":{"kind":"json""#) && lines.len() == 2);
}
