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
