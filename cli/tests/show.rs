//! `girih show` and `girih plan` as a user types them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

/// Runs girih. The result is the exit status and the texts of both streams.
fn girih(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_girih")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The cells of a line of a grid.
fn row<'a>(text: &'a str, grid: &str, number: usize) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| !line.starts_with(grid)).skip(2);
    lines
        .filter_map(|line| line.trim().split_once(' '))
        .find(|(row, _)| *row == number.to_string())
        .unwrap()
        .1
        .split_whitespace()
        .collect()
}

#[test]
fn an_mma_atom_is_drawn_with_the_owners_of_its_fragments() {
    let (status, text, error) = girih(&["show", "mma", "SM80_16x8x16_F32BF16BF16F32_TN"]);
    assert_eq!((status, &*error), (Some(0), ""));
    // PTX ISA, mma.m16n8k16: a lane has row lane / 4, columns 2 * (lane % 4) and the next; values from 2 on are eight rows further down.
    let lane = |row: usize, column: usize| row % 8 * 4 + column % 8 / 2;
    for m in 0..16 {
        let a: Vec<String> =
            (0..16).map(|k| format!("T{}V{}", lane(m, k), k % 2 + m / 8 * 2 + k / 8 * 4)).collect();
        let c: Vec<String> = (0..8).map(|n| format!("T{}V{}", lane(m, n), n % 2 + m / 8 * 2)).collect();
        assert_eq!(
            (row(&text, "A (M,K)", m), row(&text, "C (M,N)", m)),
            (a.iter().map(|s| &**s).collect(), c.iter().map(|s| &**s).collect())
        );
    }
    assert_eq!(row(&text, "B (K,N)", 9)[..3], ["T0V3", "T4V3", "T8V3"]);
}

/// The name of a file says what is written into it, unless `--format` does.
#[test]
fn a_file_is_what_its_name_says() {
    let folder = tempfile::tempdir().unwrap();
    let atom = ["show", "mma", "SM80_16x8x16_F32BF16BF16F32_TN"];
    let printed = |format: &str| girih(&[&atom[..], &["--format", format]].concat()).1;
    for (name, format) in [("a.svg", "svg"), ("a.tex", "latex"), ("a.txt", "text"), ("a", "text")] {
        let path = folder.path().join(name);
        let written = girih(&[&atom[..], &["-o", path.to_str().unwrap()]].concat());
        assert_eq!(written, (Some(0), String::new(), String::new()), "{name}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), printed(format), "{name}");
    }
    let path = folder.path().join("b.svg");
    girih(&[&atom[..], &["-o", path.to_str().unwrap(), "--format", "text"]].concat());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed("text"));
    let path = folder.path().join("a.png");
    let (status, out, error) = girih(&[&atom[..], &["-o", path.to_str().unwrap()]].concat());
    assert!(
        status == Some(2) && out.is_empty() && error.contains(".svg or .tex") && !path.exists(),
        "{error}"
    );
}

#[test]
fn tiles_copies_and_banks_are_drawn() {
    let shown = |arguments: &[&str]| {
        let (status, text, error) = girih(arguments);
        assert_eq!((status, &*error), (Some(0), ""), "{arguments:?}");
        text
    };
    let text = shown(&["show", "copy", "SM75_U32x4_LDSM_N"]);
    assert_eq!(row(&text, "source", 9), ["T9V0", "T9V1", "T9V2", "T9V3", "T9V4", "T9V5", "T9V6", "T9V7"]);
    assert_eq!(
        row(&text, "destination", 9),
        ["T4V2", "T4V3", "T5V2", "T5V3", "T6V2", "T6V3", "T7V2", "T7V3"]
    );
    // There are two warps along M and two along N, so that each value of A has two owners.
    let text = shown(&["show", "tiled-mma", "SM80_16x8x16_F32F16F16F32_TN", "--atoms", "(2,2,1)"]);
    assert_eq!((row(&text, "A (M,K)", 17)[0], row(&text, "C (M,N)", 17)[8]), ("T36+1V0", "T100V0"));
    let copy = [
        "show",
        "tiled-copy",
        "UniversalCopy<uint128_t>",
        "--threads",
        "(32,8):(8,1)",
        "--values",
        "(1,8):(8,1)",
        "--dtype",
        "bf16",
    ];
    assert_eq!(row(&shown(&copy), "source", 3)[9], "T25V1");
    // 16 bytes of each of eight rows of 128 bytes take eight words of one bank; with the swizzle no bank gives more than one word.
    let access = ["--dtype", "bf16", "--access", "(32,8):(1,64)", "--vector", "8"];
    let smem = |layout| shown(&[&["show", "smem", layout][..], &access].concat());
    let plain = smem("(64,64):(64,1)");
    assert!(
        plain.starts_with(
            "banks of (64,64):(64,1), bf16 under (32,8):(1,64) by 8: wavefronts 32 (4 at the least)\n"
        ),
        "{plain}"
    );
    assert_eq!(
        row(&plain, "bank", 5)[..9],
        ["b0x8", "b0x8", "b1x8", "b1x8", "b2x8", "b2x8", "b3x8", "b3x8", "b4"]
    );
    let swizzled = smem("Sw<3,3,3> o 0 o (64,64):(64,1)");
    assert_eq!(row(&swizzled, "bank", 5)[..2], ["b20x1", "b20x1"]);
}

#[test]
fn pictures_are_files_of_svg_and_latex() {
    let folder = tempfile::tempdir().unwrap();
    for (format, first, last) in
        [("svg", "<svg ", "</svg>\n"), ("latex", "\\documentclass[tikz]{standalone}\n", "\\end{document}\n")]
    {
        let path = folder.path().join(format);
        let (status, out, error) = girih(&[
            "show",
            "mma",
            "SM90_64x16x16_F32BF16BF16_RS",
            "--format",
            format,
            "-o",
            path.to_str().unwrap(),
        ]);
        assert_eq!((status, &*out, &*error), (Some(0), "", ""));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with(first) && text.ends_with(last), "{text}");
        // A has 64 x 16 elements, B 16 x 16, C 64 x 16.
        let cells =
            if format == "svg" { text.matches(">T").count() } else { text.matches("\\node[cell").count() };
        assert_eq!(cells, 64 * 16 + 16 * 16 + 64 * 16);
    }
}

/// Thick lines stand where the warp changes, in LaTeX as in SVG.
#[test]
fn latex_has_the_lines_of_svg() {
    // Two warps, one beside the other: between the rows of 2 x 32 columns there is no line, and between the warps there are two.
    let (_, latex, error) = girih(&["layout", "(64,2):(2,1)", "--tile", "(2,64)", "--format", "latex"]);
    assert_eq!(latex.matches("line width=2.0pt").count(), 2, "{latex}{error}");
    for row in 0..2 {
        // Cells stand around whole numbers, the first of them around (3,1).
        let [top, left] = [f64::from(3 + row) - 0.5, 32.0 + 1.0 - 0.5];
        let line = format!("({top:.1},{left:.1}) -- ({:.1},{left:.1});", top + 1.0);
        assert!(latex.contains(&line), "{line} {latex}");
    }
    assert!(latex.contains("\\draw[line width=2pt] (2.5,0.5) rectangle (4.5,64.5);"), "{latex}");
    let access = ["--dtype", "f32", "--access", "(32,1):(1,0)", "--format", "latex"];
    let (_, latex, _) = girih(&[&["show", "smem", "(32,32):(32,1)"], &access[..]].concat());
    assert_eq!(latex.matches("draw=girihmark").count(), 2, "{latex}");
}

#[test]
fn partitions_are_proved_or_refuted_with_witnesses() {
    let (status, out, _) = girih(&["plan", "check", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "(16,8)"]);
    assert_eq!((status, out.lines().next()), (Some(0), Some("every element once        yes")));
    let (status, out, _) = girih(&["plan", "check", "(4,2):(1,2)", "--tile", "(4,2)"]);
    let first = "every element once        no: thread 2 value 0 and thread 0 value 1 both hold element (2,0)";
    assert_eq!((status, out.lines().next()), (Some(1), Some(first)));
    let (status, out, _) = girih(&["plan", "check", "(4,2):(1,4)", "--tile", "(4,2)", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &object["race_free"]["proved"]), (Some(0), &true.into()));
}

#[test]
fn copies_swizzles_and_conversions_are_found() {
    let object = |arguments: &[&str]| -> serde_json::Value {
        let (status, out, error) = girih(&[arguments, &["--json"]].concat());
        assert_eq!((status, &*error), (Some(0), ""), "{arguments:?}");
        serde_json::from_str(&out).unwrap()
    };
    let copy = object(&["plan", "copy", "(128,64):(4096,1)", "--threads", "256", "--dtype", "bf16"]);
    assert_eq!(
        (&copy["atom"], &copy["tv"]),
        (&"UniversalCopy<uint128_t>".into(), &"((8,32),8):((256,1),32)".into())
    );
    let staged = object(&["plan", "staged", "(64,64):(64,1)", "--threads", "128", "--dtype", "bf16"]);
    assert_eq!(staged["load"], "((8,4,4),(8,2,2)):((8,128,512),(1,64,2048))");
    assert_eq!(staged["wavefronts"]["taken"], staged["wavefronts"]["least"]);
    let swizzle = object(&[
        "plan",
        "swizzle",
        "(64,64):(64,1)",
        "--dtype",
        "bf16",
        "--access",
        "((8,16),(8,4)):((512,1),(64,16)):8",
        "--access",
        "((16,2),(8,4,4)):((1,512),(64,16,1024)):8",
    ]);
    assert_eq!(
        (&swizzle["swizzle"], &swizzle["wavefronts"]["taken"]),
        (&"Sw<3,3,3>".into(), &swizzle["wavefronts"]["least"])
    );
    let convert = object(&[
        "plan",
        "convert",
        "((4,8),(2,2)):((32,1),(16,8))",
        "((4,8),(2,2)):((16,1),(8,64))",
        "--dtype",
        "f32",
    ]);
    assert_eq!(convert["means"], "shuffle");
    let access = object(&["plan", "access", "(64,64):(64,1)", "(32,8):(1,64)", "--dtype", "bf16"]);
    assert_eq!((&access["vector"], &access["wavefronts"]["taken"]), (&8.into(), &32.into()));
}

#[test]
fn what_can_not_be_drawn_or_planned_is_refused_with_what_would_be() {
    for (arguments, status, message) in [
        (
            &["show", "mma", "SM80_16x8x16_BF16"][..],
            2,
            "error: there is no atom `SM80_16x8x16_BF16`; did you mean SM80_16x8x",
        ),
        (
            &["show", "tiled-mma", "SM80_16x8x16_F32F16F16F32_TN", "--atoms", "(2"],
            2,
            "error: invalid value '(2' for '--atoms <ATOMS>'",
        ),
        (
            &["show", "smem", "(s0,8):(1,s0)", "--dtype", "f32"],
            2,
            "error: the size of s0:1 is not known: layouts without symbols are drawn",
        ),
        (
            &["show", "smem", "(4096,4096):(1,4096)", "--dtype", "f32"],
            2,
            "error: 4096 x 4096 cells are too many for a picture: up to 65536 are drawn",
        ),
        (&["plan", "copy", "(8,8):(16,2)", "--threads", "8", "--dtype", "f32"], 2, "error: coalesced_copy: "),
        (&["plan", "staged", "(8,8):(16,2)", "--threads", "8", "--dtype", "f32"], 2, "error: staged_copy: "),
        (
            &["plan", "swizzle", "(8,8):(8,1)", "--dtype", "f32", "--access", "(8,8):(1,8):x"],
            2,
            "error: invalid value '(8,8):(1,8):x' for '--access <TV:VECTOR>': `(8,8):(1,8):x`: expected a number of elements after the last colon",
        ),
        (&["plan", "check", "(4,2):(1,4)"], 2, "error: the following required arguments were not provided:"),
    ] {
        let (found, out, error) = girih(arguments);
        assert_eq!((found, &*out), (Some(status), ""), "{arguments:?}: {error}");
        assert!(error.starts_with(message), "{arguments:?}: {error}");
    }
}

/// `girih show ... | head`: a reader that closes the pipe has read enough, and that is no error.
#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in [
        &["show", "tiled-mma", "SM80_16x8x16_F32F16F16F32_TN", "--atoms", "(8,4,1)"][..],
        &["plan", "check", "(4,2):(1,4)", "--tile", "(4,2)"],
        &["layout", "(64,64)"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output =
            Command::new(env!("CARGO_BIN_EXE_girih")).args(arguments).stdout(writer).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*error), (Some(0), ""), "{arguments:?}");
    }
}

/// A picture that would differ from what the arguments ask for is refused.
#[test]
fn permutations_and_cells_that_are_none_are_refused() {
    let mma = ["show", "tiled-mma", "SM80_16x8x16_F32F16F16F32_TN", "--atoms", "(2,2,1)", "--permutation"];
    for permutation in ["(32,16)", "<32,32,16,2>"] {
        let (status, out, error) = girih(&[&mma[..], &[permutation]].concat());
        assert_eq!((status, &*out), (Some(2), ""));
        assert!(error.contains("up to three orders, of M, N and K, in angle brackets"), "{error}");
    }
    let (status, out, _) = girih(&[&mma[..], &["<_,(8,2,2):(1,16,8)>"]].concat());
    assert!(
        status == Some(0) && out.lines().next().unwrap().ends_with(" permuted by <_,(8,2,2):(1,16,8)>"),
        "{out}"
    );
    // Each of the two warps along N has 16 consecutive columns.
    let columns = row(&out, "C (M,N)", 0);
    assert_eq!([columns[0], columns[8], columns[16], columns[24]], ["T0V0", "T0V4", "T64V0", "T64V4"]);
    for (unit, accepted) in [("256", false), ("3", false), ("0", false), ("32", true), ("1", true)] {
        let (status, _, error) = girih(&["show", "copy", "SM75_U32x1_LDSM_N", "--unit", unit]);
        assert_eq!(status, Some(if accepted { 0 } else { 2 }), "{unit}: {error}");
        assert_eq!(
            error.contains("bits of a cell that divide the 32 of a thread's row"),
            !accepted,
            "{error}"
        );
    }
}

/// The README's picture is what its command draws.
#[test]
fn the_picture_of_the_readme_is_drawn_by_its_command() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mma-m16n8-c.svg");
    let kept = std::fs::read_to_string(path).expect("the picture");
    let drawn = girih(&["layout", "((4,8),(2,2)):((32,1),(16,8))", "--tile", "(16,8)", "--format", "svg"]).1;
    assert_eq!(kept, drawn);
    // PTX ISA, mma.m16n8k16: a lane has row lane / 4, columns 2 * (lane % 4) and the next; values from 2 on are eight rows further down.
    for (row, column) in (0..16).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let owner = format!(">T{}V{}</text>", row % 8 * 4 + column / 2, column % 2 + row / 8 * 2);
        assert_eq!(kept.matches(&owner).count(), 1, "{owner}");
    }
}
