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
    assert_eq!(girih(&["tile", "explain", file.to_str().unwrap()]).1, text);
    let (status, _, error) = girih(&["tile", "explain", "softmaks"]);
    assert_eq!(status, Some(2));
    assert!(error.contains("no program softmaks, and no such file; did you mean softmax_"), "{error}");
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
