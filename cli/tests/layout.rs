//! The commands for layouts, as a user types the commands.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn girih(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_girih"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("girih starts");
    child.stdin.take().expect("a pipe").write_all(input.as_ref()).expect("girih reads");
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
        ("preimage((4,(2,3)):(2,(3,-1)), 7)", "(3,(1,2))"),
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
        ("size(Sw<3,x,3> o 0 o (8,8))", 10, "a number"),
        ("coalesce(composition(8:1, (2,2):(1,z)))", 35, "an integer"),
    ] {
        let output = girih(&["layout", expression], "");
        assert_eq!(output.status.code(), Some(2), "{expression}");
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
    // Lane 5 has values 0 and 1 in row 1, and values 2 and 3 in row 9.
    assert_eq!(read(&svg).matches(">T5V").count(), 4);
    assert!(read(&latex).contains("at (12,4) {T5\\\\V3};"), "{}", read(&latex));
    assert!(girih(&["layout", "Sw<1,0,1> o 0 o (2,2):(2,1)", "--svg", paths[0]], "").status.success());
    let (_, cells) = read(&svg).rsplit_once("<g ").map(|(_, cells)| ((), cells.to_owned())).expect("cells");
    let cells: Vec<&str> = cells.split("</text>").filter_map(|cell| Some(cell.rsplit_once('>')?.1)).collect();
    assert_eq!(cells[..4], ["0", "1", "3", "2"]);
    // The same picture on standard output, and in one object of JSON.
    let printed = girih(&["layout", "Sw<1,0,1> o 0 o (2,2):(2,1)", "--format", "svg"], "");
    assert_eq!(text(&printed.stdout), read(&svg));
    let printed = girih(&["layout", "Sw<1,0,1> o 0 o (2,2):(2,1)", "--json"], "");
    let object: serde_json::Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    assert_eq!(object["picture"]["grids"][0]["cells"], serde_json::json!([["0", "1"], ["3", "2"]]));
    // Behind mode 0, all modes count columns.
    assert!(girih(&["layout", "(2,2,2):(4,2,1)", "--svg", paths[0]], "").status.success());
    assert!(read(&svg).contains(">7</text>"));
}

/// A layout of any rank has a table, or a reason why not.
#[test]
fn layouts_of_any_rank_have_tables() {
    let rows = |layout: &str| -> Vec<Vec<i64>> {
        let output = girih(&["layout", layout], "");
        let lines = text(&output.stdout).lines().filter(|line| line.contains('|'));
        let numbers = |line: &str| {
            line.split('|').filter_map(|cell| cell.trim().parse().ok()).skip(1).collect::<Vec<i64>>()
        };
        lines.map(numbers).collect()
    };
    assert_eq!(rows("4:-1"), [[0, -1, -2, -3]]);
    assert_eq!(rows("(2,3,2):(6,1,3)"), [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]);
    assert_eq!(rows("(2,2,2,2)").concat().len(), 16);
    for (layout, reason) in [
        ("(2,3):(1@0,1@1)", "(no table: "),
        ("(2,3,64):(3,1,6)", "(a table of 2 x 192 is too large to print)"),
    ] {
        let output = girih(&["layout", layout], "");
        assert!(text(&output.stdout).contains(reason), "{layout}: {}", text(&output.stdout));
    }
    let message = girih(&["layout", "(4,8):1"], "");
    assert!(text(&message.stderr).contains("not nested alike"), "{}", text(&message.stderr));
}

#[test]
fn facts_and_notes_of_expressions() {
    let composed = "composition((s0,8):(1,s1), 16:1)";
    let refused = girih(&["layout", composed], "");
    assert!(text(&refused.stderr).contains("at_least(16)"), "{}", text(&refused.stderr));
    let facts = ["--fact", "s0=at_least(16)", "--fact", "s1=at_most(9),divisible_by(3)"];
    let output = girih(&[&["layout", "--plain", composed][..], &facts].concat(), "");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("16:1\n", ""));
    let output = girih(&["layout", composed, "--fact", "s0=odd"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).ends_with("\n  s0=odd\n     ^\n"), "{}", text(&output.stderr));
    let output = girih(&["layout", "--plain", "size(logical_divide((16,16):(16,1), (4,8)))"], "");
    let note = "note: the tiler (4,8) is the layout (4,8):(1,4) of 1-D coordinates; <4,8> is a tiler for each mode\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("256\n", note));
}

/// However long a text is, a message shows what stands around the place of the error.
#[test]
fn texts_of_any_length_get_short_messages() {
    let deep = |calls: usize, end: &str| format!("{}4:1{}", "coalesce(".repeat(calls), end.repeat(calls));
    assert_eq!(text(&girih(&["layout", "--plain", &deep(60, ")")], "").stdout), "4:1\n");
    for (expression, words) in [
        (deep(65, ")"), "at most 64 calls within each other"),
        (deep(6000, ")"), "at most 64 calls within each other"),
        (deep(9000, ""), "expected ')'"),
        (format!("{}x", "(".repeat(90_000)), "more than 24 leaves"),
    ] {
        let output = girih(&["layout", &expression], "");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(words) && message.len() < 600, "{message}");
        assert!(message.ends_with("^\n"), "{message}");
    }
    // The caret stands below the place in what is shown.
    let long = format!("coalesce((1{}, x{}))", " ".repeat(300), " ".repeat(300));
    let message = String::from_utf8(girih(&["layout", &long], "").stderr).expect("text");
    let lines: Vec<&str> = message.lines().collect();
    let column = lines[2].find('^').expect("a caret");
    assert!(
        lines[1].starts_with("  ...") && lines[1].ends_with("...") && lines[1][column..].starts_with('x'),
        "{message}"
    );
}

/// An empty tuple fills nothing up.
#[test]
fn a_layout_is_not_filled_up_with_nothing() {
    for call in ["append_to(8:1, 5, ())", "prepend_to((8,2), 32, ())"] {
        let output = girih(&["layout", call], "");
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains("an empty tuple"), "{call}: {message}");
    }
    assert_eq!(text(&girih(&["layout", "--plain", "append_to(8:1, 1, ())"], "").stdout), "8:1\n");
}

#[test]
fn owners_of_a_tile_and_swizzled_layouts_have_tables() {
    let output = girih(&["layout", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "(16,8)"], "");
    let lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    // Lane 14 has values 0 and 1 in row 3, columns 4 and 5.
    assert_eq!(lines[0], "((4,8),(2,2)):((32,1),(16,8))");
    let row = lines.iter().find_map(|line| line.trim().strip_prefix("3 ")).expect("row 3");
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[4..6], ["T14V0", "T14V1"]);
    let plain = girih(&["layout", "--plain", "(4,2):(1,4)", "--tile", "(4,2)"], "");
    assert_eq!(text(&plain.stdout), "(4,2):(1,4)\n");
    let output = girih(&["layout", "Sw<1,0,1> o 0 o (2,2):(2,1)"], "");
    let rows: Vec<&str> = text(&output.stdout).lines().map(str::trim).collect();
    assert_eq!(
        rows[3..].iter().map(|row| row.split_whitespace().collect()).collect::<Vec<Vec<_>>>(),
        [["0", "0", "1"], ["1", "3", "2"]]
    );
    // What has no picture says why, in every form.
    for form in [&[][..], &["--json"], &["--format", "svg"], &["--format", "latex"]] {
        for (arguments, words) in [
            (
                ["(4,2):(1,4)", "--tile", "(2,2)"],
                "value 1 of thread 0 is element 4, outside of the tile of 2 x 2",
            ),
            (
                ["(4,1000000000):(0,0)", "--tile", "(2,2)"],
                "4 threads with 1000000000 values each are too many for a picture",
            ),
            (["4:1", "--tile", "(2,2)"], "4:1 has rank 1: the owners are drawn of (thread,value)"),
            (["(4,2):(1,4)", "--tile", "(2,2,2)"], "(2,2,2) has rank 3: tiles of rank 1 or 2 are drawn"),
            (["Sw<1,0,1> o 0 o (2,2):(2,1)", "--tile", "4"], "a layout without a swizzle"),
        ] {
            let output = girih(&[&["layout"], &arguments[..], form].concat(), "");
            let told = [text(&output.stdout), text(&output.stderr)].concat();
            assert_eq!(output.status.code(), Some(2), "{arguments:?} {form:?}: {told}");
            assert!(told.contains(words), "{arguments:?} {form:?}: {told}");
        }
    }
    let refused = girih(&["layout", "size(4:1)", "--format", "svg"], "");
    assert!(text(&refused.stderr).contains("numbers and coordinates have no picture"));
}

/// Arguments that are a layout, a shape or a tiler are refused with a caret under the place of the error.
#[test]
fn malformed_arguments_have_a_caret_in_every_command() {
    for (arguments, end) in [
        (&["plan", "check", "(4,2:(1,4)", "--tile", "8"][..], "\n  (4,2:(1,4)\n      ^"),
        (&["plan", "check", "(4,2):(1,4)", "--tile", "(8"], "\n  (8\n    ^"),
        (&["plan", "access", "Sw<3,3> o 0 o 8", "8:1", "--dtype", "f32"], "\n  Sw<3,3> o 0 o 8\n        ^"),
        (&["plan", "swizzle", "8:1", "--dtype", "f32", "--access", "(8,x):4"], "\n  (8,x)\n     ^"),
        (&["show", "smem", "(8,8", "--dtype", "f32"], "\n  (8,8\n      ^"),
        (&["layout", "8:1", "--tile", "(8,", "--svg", "/dev/null"], "\n  (8,\n     ^"),
    ] {
        let output = girih(arguments, "");
        let message = text(&output.stderr);
        assert!(!output.status.success() && message.contains("expected"), "{message}");
        assert!(message.contains(end), "{message}");
    }
}

#[test]
fn a_map_over_f2_is_found_where_no_swizzle_helps() {
    let command = "plan swizzle (32,32):(32,1) --dtype f32 --access ((8,32),4):((128,1),32):4 --access (32,32):(1,32):1";
    let arguments: Vec<_> = command.split(' ').collect();
    let output = girih(&arguments, "");
    let lines = text(&output.stdout);
    assert!(lines.contains("160 (64 at the least), which is proved to be the fewest of all maps"), "{lines}");
    assert!(lines.contains("Sw<5,0,5>: wavefronts 64 (64 at the least)"), "{lines}");
    let output = girih(&[&arguments[..], &["--json"]].concat(), "");
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(object["f2"]["wavefronts"]["taken"], 160);
    assert_eq!(object["f2_any_order"]["map"], "Sw<5,0,5>");
    assert_eq!(object["f2_any_order"]["wavefronts"], serde_json::json!({ "taken": 64, "least": 64 }));
}

#[test]
fn eval_answers_line_by_line() {
    let input = "{\"id\":1,\"op\":\"right_inverse\",\"args\":{\"layout\":\"(2,4):(4,1)\"}}\nbroken\n";
    let output = girih(&["eval", "--jsonl"], input);
    assert!(output.status.success());
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(lines[0], r#"{"id":1,"result":"(4,2):(2,1)"}"#);
    assert!(lines[1].starts_with(r#"{"error":{"kind":"json""#) && lines.len() == 2);

    let input = [
        r#"{"id":1,"op":"composition","args":{"a":"(s0,8):(1,s1)","b":"16:1"},"facts":"s0=at_least(16)"}"#,
        r#"{"id":2,"op":"composition","args":{"a":"(s0,8):(1,s1)","b":"16:1"},"facts":["s1=at_most(2)","s0=at_least(16)"]}"#,
        r#"{"id":3,"op":"size","args":{"layout":"8"},"facts":"s0=odd"}"#,
        r#"{"id":4,"op":"size","args":{"layout":"8"},"facts":7}"#,
        r#"{"id":5,"op":"complement","args":{"layout":"(2,2):(1,3)","cotarget":12}}"#,
    ];
    let output = girih(&["eval", "--jsonl"], &(input.join("\n") + "\n"));
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(lines[0], r#"{"id":1,"result":"16:1"}"#);
    assert_eq!(lines[1], r#"{"id":2,"result":"16:1"}"#);
    assert!(lines[2].contains(r#""kind":"facts""#) && lines[2].contains("s0=odd"), "{}", lines[2]);
    assert!(lines[3].contains("a list of texts"), "{}", lines[3]);
    assert!(lines[4].contains(r#""notes":["this is the rounded form"#), "{}", lines[4]);
}

/// A bad line has an answer too, in the order of the lines. The last line needs no line end.
#[test]
fn every_line_is_answered() {
    let input = b"{\"id\":\"a\",\"op\":\"coalesce\",\"args\":{\"layout\":\"(4,8):(1,4)\"}}\n\
        not json\n\n\xff\n[1]\n\
        {\"id\":2,\"op\":\"nonsense\",\"args\":{}}\n\
        {\"id\":3,\"op\":\"size\",\"args\":{}}\n\
        {\"id\":4,\"op\":\"size\",\"args\":{\"layout\":\"(4,8\"}}\n\
        {\"id\":5,\"op\":\"composition\",\"args\":{\"a\":\"(4,2):(1,10)\",\"b\":\"(2,2):(2,3)\"}}\n\
        {\"id\":6,\"op\":\"size\",\"args\":{\"layout\":\"(4,8)\"}}";
    let output = girih(&["eval", "--jsonl"], input);
    assert!(output.status.success());
    let answers: Vec<serde_json::Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an answer")).collect();
    let kinds: Vec<_> = answers.iter().map(|a| a["error"]["kind"].as_str().unwrap_or("")).collect();
    assert_eq!(kinds, ["", "json", "json", "json", "record", "", "args", "parse", "carry", ""]);
    assert_eq!(answers[0], serde_json::json!({ "id": "a", "result": "32:1" }));
    assert_eq!(answers[5], serde_json::json!({ "id": 2, "unsupported": true }));
    assert_eq!(answers[9], serde_json::json!({ "id": 6, "result": 32 }));
}
