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
    assert!(status != Some(0) && error.contains("no program softmaks: add_f32_2048, "), "{error}");
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
