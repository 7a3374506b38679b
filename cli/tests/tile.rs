//! `girih tile` as a user types it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

/// Runs girih. The result is the exit status and the texts of both streams.
fn girih(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_girih")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn kernels_are_explained_by_name() {
    let (status, text, error) = girih(&["tile", "explain", "softmax_bf16_16x1024"]);
    assert_eq!((status, &*error), (Some(0), ""));
    assert!(text.contains("kernel softmax("), "{text}");
    // An explanation begins with a program, whose notes are comments.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("softmax.tile");
    std::fs::write(&file, text.split("\nblock: ").next().unwrap()).unwrap();
    // The text of a program has no lines of Rust.
    let without_lines = |text: &str| {
        let plain = |line: &str| line.split(", most at ").next().unwrap_or(line).to_string() + "\n";
        text.lines().map(plain).collect::<String>()
    };
    assert_eq!(girih(&["tile", "explain", file.to_str().unwrap()]).1, without_lines(&text));
    let (status, _, error) = girih(&["tile", "explain", "softmaks"]);
    assert_eq!(status, Some(2));
    assert!(error.contains("no program softmaks, and no such file; did you mean softmax_"), "{error}");
}

/// With extents, loops say how often they run, and a product is bound by the tensor cores.
#[test]
fn an_explanation_of_a_launch_has_its_sizes() {
    let explain = |extents: &[&str]| girih(&[&["tile", "explain", "gemm_bf16_128x256x64"], extents].concat());
    let (status, text, error) = explain(&["4096x4096", "4096x4096", "4096x4096"]);
    assert_eq!((status, &*error), (Some(0), ""), "{text}");
    assert!(text.contains("// 64 iterations"), "{text}");
    assert!(text.trim_end().ends_with("bound by tensor cores"), "{text}");
    assert!(explain(&[]).1.trim_end().ends_with("bound by tensor cores"));
    let (status, _, error) = explain(&["4096"]);
    assert!(status != Some(0) && error.contains("have the extents nxn nxn"), "{error}");
}

/// Who checks the bounds of an access is who brings the tile.
#[test]
fn bounds_are_checked_by_what_brings_a_tile() {
    for (program, copied) in [("attention_bf16_128x128x128", true), ("softmax_bf16_16x1024", false)] {
        let (_, text, error) = girih(&["tile", "explain", program]);
        let lines: Vec<&str> = text.lines().collect();
        let mut found = 0;
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("// bounds: ")) {
            let by_tensor = lines[at - 1].contains("by TMA");
            found += usize::from(by_tensor);
            let wrong = if by_tensor { "checked in the kernel" } else { "checked by TMA" };
            assert!(!line.contains(wrong), "{line}{error}");
            assert!(!by_tensor || line.contains("checked by TMA"), "{line}");
        }
        assert_eq!(found > 0, copied, "{text}");
    }
}

/// The tile of a line is drawn with the options of `girih show`.
#[test]
fn tiles_of_an_explanation_are_drawn() {
    let explain = |more: &[&str]| girih(&[&["tile", "explain", "transpose_f32_64x64"], more].concat());
    let text = explain(&[]).1;
    let at = text.lines().position(|line| line.contains(" = load ")).unwrap() + 1;
    let line = at.to_string();
    let (status, table, error) = explain(&["--draw", &line]);
    assert_eq!((status, &*error), (Some(0), ""));
    assert!(table.contains("T0V0") && table.lines().count() > 64, "{table}");
    let svg = explain(&["--draw", &line, "--format", "svg"]).1;
    let of_thread = table.split_whitespace().filter(|cell| cell.starts_with("T0V")).count();
    let drawn = svg.matches(">T0V").count() + svg.matches(">T0<").count();
    assert!(svg.starts_with("<svg ") && drawn == of_thread && drawn > 0, "{drawn} {of_thread}");
    let object: serde_json::Value = serde_json::from_str(&explain(&["--draw", &line, "--json"]).1).unwrap();
    assert_eq!(object["grids"][0]["shape"], serde_json::json!([64, 64]));
    for (arguments, words) in [
        (&["--draw", "1"][..], "line 1 defines no tile of rank 1 or 2"),
        (&["--format", "svg"], "a picture`: expected --draw LINE beside it"),
    ] {
        let (status, _, error) = explain(arguments);
        assert!(status == Some(2) && error.contains(words), "{error}");
    }
}

#[test]
fn kernels_are_emitted_by_name_and_extents() {
    let emit = |extents: &[&str]| {
        let all = [&["emit", "tile", "softmax_bf16_16x1024"], extents].concat();
        let (status, text, error) = girih(&all);
        assert_eq!((status, &*error), (Some(0), ""));
        girih_ptx::Module::parse(&text).unwrap().verify().unwrap();
        text
    };
    // Sizes alone make no other kernel; what they are multiples of does.
    let whole = emit(&["4096x1024", "4096x1024"]);
    assert!(whole.contains("v4.b32"), "{whole}");
    assert_eq!(emit(&["32x1024", "32x1024"]), whole);
    assert_ne!(emit(&["4096x1001", "4096x1001"]), whole);
    assert!(emit(&[]).contains(".entry softmax("));
    let (status, _, error) = girih(&["emit", "tile", "softmax_bf16_16x1024", "4096"]);
    assert!(status != Some(0) && error.contains("have the extents nxn nxn"), "{error}");
}

#[test]
fn programs_are_tuned_by_name_and_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records");
    let path = file.to_str().unwrap();
    let tune =
        |more: &[&str]| girih(&[&["tune", "tile", "row_sum_1x4096", "--device", "sim"], more].concat());
    let (status, text, error) = tune(&["m=8", "n=3000", "--hint", "num_worker_warps=4", "-o", path]);
    assert_eq!((status, &*error), (Some(0), ""), "{text}");
    assert!(text.starts_with("6 points") && text.contains("R=4, N=1024, num_worker_warps=auto"), "{text}");
    assert!(
        text.contains("   1.000  R=1, N=4096, num_worker_warps=auto\n") && text.contains("recorded in"),
        "{text}"
    );
    let records = std::fs::read_to_string(&file).unwrap();
    let limits = girih_device::Device::open(girih_device::Select::Sim).unwrap().limits().clone();
    let read = girih_tile::tune::Records::read(&records, &limits).unwrap();
    let [record] = &read.iter().collect::<Vec<_>>()[..] else { panic!("{records}") };
    assert_eq!(record.problem, "row_sum(f32 [8, 3000]:[3000, 1], mut f32 [8]:[1])");
    assert!(
        record.micros <= record.chosen_micros && text.contains(record.config.split("; ").next().unwrap()),
        "{text}"
    );
    // Of other sizes a second record joins the first.
    let (status, text, _) = tune(&["m=5", "--most", "1", "-o", path]);
    assert!(status == Some(0) && text.contains("1.000 of the usual one's"), "{text}");
    let both = std::fs::read_to_string(&file).unwrap();
    assert!(both.lines().count() == 3 && both.starts_with(&*records), "{both}");
    for (more, wanted) in [
        (&["rows=8"][..], "row_sum_1x4096 has no size rows=8: such as m=5 n=5000 are accepted"),
        (&["m=0"], "no size m=0"),
        (&["--hint", "warps=4"], "no hint warps=4: one of "),
        (&["--hint", "num_worker_warps=5"], "num_worker_warps=5: "),
    ] {
        let (status, _, error) = tune(more);
        assert!(status != Some(0) && error.contains(wanted), "{error}");
    }
    std::fs::write(&file, "girih tile records, version 0\n").unwrap();
    let (status, _, error) = tune(&["-o", path]);
    assert!(status != Some(0) && error.contains("records: ") && error.contains("measure again"), "{error}");
    let (status, _, error) = girih(&["tune", "tile", "row_sum"]);
    assert!(status != Some(0) && error.contains("no program row_sum; did you mean row_sum_"), "{error}");
}
