//! Bad input gets one clear message and the exit status of an error, and no file is left behind.

use std::fs;
use std::path::Path;

use super::matrix::{Matrix, npy};
use super::{folder, girih_in, text};

/// Runs girih, which must print nothing on stdout and leave the folder as it was. The result is the exit status and the message.
fn fails(folder: &Path, line: &str) -> (Option<i32>, String) {
    let listing = || {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| {
            let path = entry.expect("an entry").path();
            (path.clone(), fs::read(&path).ok())
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort();
        entries
    };
    let before = listing();
    let output = girih_in(folder, line);
    assert!(output.stdout.is_empty(), "girih {line}: {}", text(&output.stdout));
    assert!(before == listing(), "girih {line} left something behind");
    (output.status.code(), text(&output.stderr))
}

/// The one line that girih must print for a call that can't be carried out as it is.
#[track_caller]
fn refused(folder: &Path, line: &str, message: &str) {
    assert_eq!(fails(folder, line), (Some(2), format!("error: {message}\n")), "girih {line}");
}

#[test]
fn sizes_and_pitches() {
    let folder = folder();
    for (line, message) in [
        ("gemm --m 1073741825 -o c.npy", "M = 1073741825: 0 to 1073741824 elements are accepted"),
        ("gemm --k -1 -o c.npy", "K = -1: 0 to 1073741824 elements are accepted"),
        (
            "gemm --m 64 --k 32 --lda 31 -o c.npy",
            "lda = 31 is too small: rows of A hold 32 elements, at least 32 are accepted",
        ),
        (
            "gemm --m 64 --k 32 --layout nt --lda 63 -o c.npy",
            "lda = 63 is too small: rows of A hold 64 elements, at least 64 are accepted",
        ),
        (
            "gemm --n 64 --k 32 --layout tt --ldb 63 -o c.npy",
            "ldb = 63 is too small: rows of B hold 64 elements, at least 64 are accepted",
        ),
        (
            "gemm --m 64 --n 16 --order column --ldc 63 -o c.npy",
            "ldc = 63 is too small: rows of C hold 64 elements, at least 64 are accepted",
        ),
        (
            "copy (4,2):(1,4) (4,2):(1,3)",
            "dst (4,2):(1,3) has one element, 3, at (3,0) and at (0,1): layouts without such coordinates are accepted",
        ),
        (
            "copy (4,6):(1,4) (6,4):(1,6)",
            "src (4,6) and dst (6,4): shapes of one size are accepted whose extents divide one another, as (4,6) and (2,2,6)",
        ),
        ("copy (4,s0):(1,4)", "src (4,s0):(1,4): layouts of known extents and of known strides are accepted"),
        ("copy 8:1 --dtype s4", "kernel copy does not take s4: dtypes of whole bytes are accepted"),
        ("gemm --batch -1", "batches = -1: 0 to 1048576 elements are accepted"),
        ("gemm --groups 1025", "groups = 1025: 0 to 1024 elements are accepted"),
        (
            "gemm --m 4 --n 6 --batch 2 --stride-c 23",
            "C is (4,6,2):(6,1,23), whose products have elements in common, at (3,5,0) and (0,0,1): strides with which they have none are accepted",
        ),
        ("emit gemm --n 1073741825 -o c.ptx", "N = 1073741825: 0 to 1073741824 elements are accepted"),
    ] {
        refused(folder.path(), line, message);
    }
}

/// The simulator has as much memory as the host can spare, at most 64 GiB.
#[test]
fn more_than_the_memory() {
    let folder = folder();
    for (line, bytes) in [
        ("gemm --m 1000000 --n 1000000 --k 1 -o c.npy", 2_000_259_999_748u64),
        ("copy (1073741824,1048576):(1048576,1) --dtype f32", 1 << 53),
    ] {
        let (status, output) = fails(folder.path(), line);
        assert_eq!(status, Some(3), "girih {line}");
        let (needs, rest) = output.split_once(", girih simulator has ").expect("the message");
        assert_eq!(needs, format!("error: the arrays take {bytes} bytes"));
        let (has, accepted) = rest.split_once(": ").expect("the message");
        assert!(has.parse::<u64>().is_ok_and(|has| has <= 64 << 30), "{output}");
        assert_eq!(accepted, "smaller extents or pitches are accepted\n");
    }
}

#[test]
fn names() {
    let folder = folder();
    for (line, message) in [
        (
            "gemm --dtype fp4",
            "'--dtype <DTYPE>': no kernel multiplies `fp4`: f32, tf32, f64, f16, bf16, e4m3 or fp8, e5m2, and s8 or \
             int8 are accepted",
        ),
        ("emit gemm --dtype s32", "'--dtype <DTYPE>': no kernel multiplies `s32`: f32, "),
        (
            "gemm --out s8",
            "'--out <DTYPE>': no kernel stores `s8`: f32, f64, f16, bf16, e4m3 or fp8, e5m2, and s32 or int32 are \
             accepted",
        ),
        ("gemm --out tf32", "'--out <DTYPE>': no kernel stores `tf32`: f32, "),
        ("gemm --layout tm", "'--layout <LAYOUT>': unknown layout `tm`: tn, tt, nn and nt are accepted"),
        (
            "gemm --kernel sm70",
            "'--kernel <KERNEL>': unknown kernel `sm70`: simt, sm80 and sm90 are accepted",
        ),
        ("gemm --order diagonal", "'--order <ORDER>': unknown order `diagonal`: row and column are accepted"),
        (
            "gemm --device tpu",
            "'--device <DEVICE>': `tpu` names no device: expected auto, cuda, cuda:N (N = 0, 1, ...) or sim",
        ),
        ("copy (4,4):(1", "expected ',' or ')'"),
        ("gemm --m many", "invalid value 'many' for '--m <M>'"),
        ("gemm --a a.npy -o c.npy", "not provided:\n  --b <B.npy>"),
        ("gemm --b b.npy -o c.npy", "not provided:\n  --a <A.npy>"),
        ("gemm --stride-a 64", "not provided:\n  --batch <L>"),
        ("gemm --stride-b 64", "not provided:\n  <--batch <L>|--groups <G>>"),
        ("gemm --pointers", "not provided:\n  --batch <L>"),
        (
            "gemm --batch 2 --pointers --stride-b 0",
            "'--pointers' cannot be used with '--stride-b <STRIDE_B>'",
        ),
        ("gemm --batch 2 --groups 2", "'--batch <L>' cannot be used with '--groups <G>'"),
        ("gemm --batch 2 -o c.npy", "'--batch <L>' cannot be used with '--output <C.npy>'"),
        ("gemm --batch 2 --a a.npy --b b.npy", "'--batch <L>' cannot be used with '--a <A.npy>'"),
        ("gemm --a a.npy --b b.npy --seed 1", "'--a <A.npy>' cannot be used with '--seed <SEED>'"),
    ] {
        let (status, output) = fails(folder.path(), line);
        assert_eq!(status, Some(2), "girih {line}");
        assert!(output.starts_with("error: ") && output.contains(message), "girih {line}: {output}");
    }
    refused(
        folder.path(),
        "gemm --out s32 -o c.npy",
        "kernel gemm does not take s32: a C of f32, f16, bf16, e4m3 or e5m2 is accepted",
    );
    for line in ["gemm --kernel simt --dtype bf16 -o c.npy", "emit gemm --kernel simt --dtype bf16 -o c.ptx"]
    {
        refused(
            folder.path(),
            line,
            "kernel simt does not take bf16: f32 is accepted; sm80 and sm90 take the other dtypes",
        );
    }
    refused(
        folder.path(),
        "gemm --kernel sm90 --dtype f32 --layout nt -o c.npy",
        "kernel sm90 does not take f32: f64, tf32, f16, bf16, e4m3, e5m2 and s8 are accepted; simt takes f32",
    );
}

/// No machine has ten thousand GPUs, and most machines that run tests have none.
#[test]
fn a_missing_gpu_is_one_line() {
    let (status, message) = fails(folder().path(), "gemm --m 8 --n 8 --k 8 --device cuda:9999 -o c.npy");
    // Without a driver something is missing; with one, the index is wrong.
    assert!(matches!(status, Some(2 | 3)) && message.lines().count() == 1, "{message}");
    assert!(message.starts_with("error: ") && (message.contains("sim") || message.contains("cuda:9999")));
}

/// Saves a matrix of ones.
fn ones(folder: &Path, name: &str, shape: [usize; 2], descr: &str) {
    Matrix::filled(shape, 1.0).save(&folder.join(name), descr, false);
}

#[test]
fn files_that_do_not_fit_each_other_or_the_arguments() {
    let folder = folder();
    let at = folder.path();
    ones(at, "a.npy", [3, 5], "<f4");
    ones(at, "b.npy", [5, 4], "<f4");
    ones(at, "other.npy", [7, 4], "<f4");
    ones(at, "half.npy", [5, 4], "<f2");
    for (line, message) in [
        (
            "--a a.npy --b other.npy",
            "K differs: a.npy read as (M,K) has K = 5, other.npy read as (K,N) has K = 7; --layout says how the \
             files are read",
        ),
        (
            "--a a.npy --b b.npy --layout nn",
            "K differs: a.npy read as (K,M) has K = 3, b.npy read as (N,K) has K = 4; --layout says how the files \
             are read",
        ),
        ("--a a.npy --b half.npy", "a.npy holds f32, half.npy holds f16: both must hold the same dtype"),
        (
            "--a a.npy --b b.npy --dtype bf16",
            "--dtype is bf16, but a.npy holds f32 ('<f4'): leave --dtype out, or convert the file",
        ),
        ("--a a.npy --b b.npy --m 4", "--m is 4, but a.npy has M = 3: leave --m out, or give another file"),
        ("--a a.npy --b b.npy --n 3", "--n is 3, but b.npy has N = 4: leave --n out, or give another file"),
        ("--a a.npy --b b.npy --k 4", "--k is 4, but a.npy has K = 5: leave --k out, or give another file"),
        (
            "--a a.npy --b b.npy --ldc 3",
            "ldc = 3 is too small: rows of C hold 4 elements, at least 4 are accepted",
        ),
        (
            "--a a.npy --b b.npy --kernel sm80",
            "kernel sm80 does not take f32: f64, tf32, f16, bf16, e4m3, e5m2 and s8 are accepted; simt takes f32",
        ),
    ] {
        refused(at, &format!("gemm {line} -o c.npy"), message);
    }
}

#[test]
fn files_that_hold_no_matrix_of_floats() {
    let folder = folder();
    let at = folder.path();
    ones(at, "b.npy", [2, 2], "<f4");
    let zeros = |n: usize| std::iter::repeat_n(0, n);
    let accepted = "'<f4', '<f8', '<f2', '|i1', '<u2' or '|V2' (the bits of bf16) and '|u1' or '|V1' (the bits of 8-bit \
                    floats) are accepted";
    for (content, message) in [
        (npy("<c8", false, "(2, 2)", zeros(32)), format!("a.npy holds '<c8': {accepted}")),
        (npy("<i4", false, "(2, 2)", zeros(16)), format!("a.npy holds '<i4': {accepted}")),
        (npy("|V4", false, "(2, 2)", zeros(16)), format!("a.npy holds '|V4': {accepted}")),
        (
            npy(">f4", false, "(2, 2)", zeros(16)),
            "a.npy is big-endian ('>f4'): little-endian files are accepted (numpy: \
             a.astype(a.dtype.newbyteorder('<')))"
                .into(),
        ),
        (
            npy("<f4", false, "(4,)", zeros(16)),
            "a.npy has the shape (4,): a matrix has two dimensions".into(),
        ),
        (
            npy("<f4", false, "(1, 2, 2)", zeros(16)),
            "a.npy has the shape (1, 2, 2): a matrix has two dimensions".into(),
        ),
        (npy("<f4", false, "()", zeros(4)), "a.npy has the shape (): a matrix has two dimensions".into()),
        (
            npy("<f4", false, "(2, 2)", zeros(15)),
            "a.npy is cut short: its shape (2, 2) needs 16 bytes of elements, 15 are there".into(),
        ),
        (
            npy("<f4", false, "(4294967295, 4294967295)", zeros(16)),
            "a.npy is cut short: its shape (4294967295, 4294967295) needs 73786976260478468100 bytes of elements, \
             16 are there"
                .into(),
        ),
        (
            npy("<f4", false, "(18446744073709551615, 18446744073709551615)", zeros(16)),
            "a.npy is cut short: its shape (18446744073709551615, 18446744073709551615) needs \
             340282366920938463463374607431768211455 bytes of elements, 16 are there"
                .into(),
        ),
        (
            npy("<f4", false, "(0, 9223372036854775807)", []),
            "K differs: a.npy read as (M,K) has K = 9223372036854775807, b.npy read as (K,N) has K = 2; --layout \
             says how the files are read"
                .into(),
        ),
    ] {
        fs::write(at.join("a.npy"), content).expect("a file");
        // The last but one is a matrix, though not one for this B.
        let status = if message.starts_with("K differs") { 2 } else { 3 };
        let failed = fails(at, "gemm --a a.npy --b b.npy -o c.npy");
        assert_eq!(failed, (Some(status), format!("error: {message}\n")));
    }
}

#[test]
fn files_that_are_not_there_or_not_npy() {
    let folder = folder();
    let at = folder.path();
    ones(at, "b.npy", [2, 2], "<f4");
    for content in ["", "hello, I am a text", "\u{93}NUMPY"] {
        fs::write(at.join("a.npy"), content).expect("a file");
        let (status, message) = fails(at, "gemm --a a.npy --b b.npy -o c.npy");
        assert_eq!((status, message.lines().count()), (Some(3), 1), "{message}");
        assert!(message.starts_with("error: a.npy is not an .npy file: "), "{message}");
    }
    // Of a header however long, the beginning is quoted.
    fs::write(at.join("a.npy"), npy("<f4", false, &"(".repeat(20_000), [])).expect("a file");
    let (status, message) = fails(at, "gemm --a a.npy --b b.npy -o c.npy");
    assert!(status == Some(3) && message.len() < 300 && message.ends_with("...\n"), "{message}");
    fs::create_dir(at.join("folder.npy")).expect("a folder");
    let (status, message) = fails(at, "gemm --a folder.npy --b b.npy -o c.npy");
    assert!(status == Some(3) && message.starts_with("error: cannot read folder.npy: "), "{message}");
    let (status, message) = fails(at, "gemm --a none.npy --b b.npy -o c.npy");
    assert_eq!((status, message.lines().count()), (Some(3), 1), "{message}");
    assert!(message.starts_with("error: cannot read none.npy: "), "{message}");
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = folder();
    fs::create_dir(folder.path().join("inside")).expect("a folder");
    for line in ["gemm --m 8 --n 8 --k 8", "emit gemm", "emit copy"] {
        for (to, words) in [("none/c", "cannot write none/c: "), ("inside", "it is not a regular file")] {
            let (status, message) = fails(folder.path(), &format!("{line} -o {to}"));
            assert_eq!((status, message.lines().count()), (Some(3), 1), "{message}");
            assert!(message.starts_with("error: cannot write") && message.contains(words), "{message}");
        }
    }
}

/// A product that is refused leaves the file of an earlier product as it was.
#[test]
fn an_earlier_file_stays() {
    let folder = folder();
    fs::write(folder.path().join("c.npy"), "earlier").expect("a file");
    refused(
        folder.path(),
        "gemm --m 1073741825 -o c.npy",
        "M = 1073741825: 0 to 1073741824 elements are accepted",
    );
    assert_eq!(fs::read(folder.path().join("c.npy")).expect("a file"), b"earlier");
}
