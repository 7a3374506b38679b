//! Products of matrices from files, with and without a layout, compared with the naive product.

use std::path::Path;

use super::matrix::Matrix;
use super::{folder, girih_in, json, succeeds, text};

/// The dtypes of files of A and B, and of C.
const DESCRS: [[&str; 2]; 7] = [
    ["<f4", "<f4"],
    ["<f8", "<f8"],
    ["<f2", "<f2"],
    ["<u2", "<u2"],
    ["|V2", "<u2"],
    ["|i1", "<i4"],
    ["|u1", "<u2"],
];

/// A sum has 24 products of small integers, so that it is at most 96 and exact in every dtype.
const MNK: [usize; 3] = [13, 10, 24];

fn operands(seed: u64) -> [Matrix; 2] {
    let [m, n, k] = MNK;
    [Matrix::new([m, k], seed), Matrix::new([k, n], seed + 1)]
}

fn product(folder: &Path, arguments: &str) -> (Matrix, String, bool) {
    succeeds(folder, &format!("gemm --a a.npy --b b.npy -o c.npy {arguments}"));
    Matrix::load(&folder.join("c.npy"))
}

#[test]
fn without_a_layout_it_is_numpys_product() {
    for (i, (fortran_a, fortran_b)) in
        [(false, false), (false, true), (true, false), (true, true)].into_iter().enumerate()
    {
        for (j, [descr, written]) in DESCRS.into_iter().enumerate() {
            let folder = folder();
            let [a, b] = operands((8 * i + j) as u64);
            a.save(&folder.path().join("a.npy"), descr, fortran_a);
            b.save(&folder.path().join("b.npy"), descr, fortran_b);
            let (c, descr_c, fortran_c) = product(folder.path(), "");
            assert_eq!((&c, &*descr_c, fortran_c), (&a.times(&b), written, false), "{descr}");
            let (c, descr_c, fortran_c) =
                product(folder.path(), "--order column --lda 40 --ldb 33 --ldc 17 --m 13 --n 10 --k 24");
            assert_eq!((&c, &*descr_c, fortran_c), (&a.times(&b), written, true), "{descr}");
        }
    }
}

/// `--dtype` says how numbers are multiplied, and what the bits of an 8-bit float mean; `--out` what the product is written as.
#[test]
fn dtypes_of_files_and_of_products() {
    let folder = folder();
    let [a, b] = operands(11);
    for (descr, arguments, written) in [
        ("<f4", "--dtype tf32", "<f4"),
        ("<f4", "--dtype tf32 --out bf16", "<u2"),
        ("|i1", "--dtype int8", "<i4"),
        ("|i1", "--out f32", "<f4"),
        ("|u1", "--dtype fp8 --out f32", "<f4"),
        ("|u1", "--fast-accumulation --out f16", "<f2"),
        ("<u2", "--out f32", "<f4"),
    ] {
        a.save(&folder.path().join("a.npy"), descr, false);
        b.save(&folder.path().join("b.npy"), descr, false);
        let (c, descr_c, _) = product(folder.path(), arguments);
        assert_eq!((c, &*descr_c), (a.times(&b), written), "{descr} {arguments}");
    }
    // The bits of 1 in e4m3, 0x38, are 0.5 in e5m2: the exponent is 14, less a bias of 15.
    let ones = [Matrix::filled([13, 24], 1.0), Matrix::filled([24, 10], 1.0)];
    ones[0].save(&folder.path().join("a.npy"), "|u1", false);
    ones[1].save(&folder.path().join("b.npy"), "|u1", false);
    assert_eq!(
        product(folder.path(), "--dtype e5m2 --out f32").0,
        Matrix::filled([13, 10], 24.0 * 0.5 * 0.5)
    );
    assert_eq!(product(folder.path(), "--out fp8").0, Matrix::filled([13, 10], 24.0));
}

#[test]
fn a_layout_says_how_the_bytes_are_read() {
    for layout in ["tn", "tt", "nn", "nt"] {
        for fortran in [false, true] {
            let folder = folder();
            let [a, b] = operands(7);
            // With `n` the file of A is a C-order file of (K,M), and the file of B is a C-order file of (N,K).
            let first = if layout.starts_with('n') { a.transposed() } else { a.clone() };
            let second = if layout.ends_with('n') { b.transposed() } else { b.clone() };
            // The same bytes are a Fortran-order file of the reversed shape.
            let (first, second) =
                if fortran { (first.transposed(), second.transposed()) } else { (first, second) };
            first.save(&folder.path().join("a.npy"), "<f4", fortran);
            second.save(&folder.path().join("b.npy"), "<f4", fortran);
            let (c, ..) = product(folder.path(), &format!("--layout {layout}"));
            assert_eq!(c, a.times(&b), "{layout}, fortran {fortran}");
        }
    }
}

#[test]
fn the_report_names_the_files_and_the_layout_they_have() {
    let folder = folder();
    let [a, b] = operands(3);
    a.save(&folder.path().join("a.npy"), "<f2", false);
    b.save(&folder.path().join("b.npy"), "<f2", true);
    let report = json(folder.path(), "gemm --a a.npy --b b.npy --dtype f16 -o c.npy --json");
    let problem = &report["problem"];
    assert_eq!((&problem["layout"], &problem["dtype"]), (&"tn".into(), &"f16".into()));
    assert_eq!(problem["a"]["layout"], "(13,24):(24,1)");
    assert_eq!(problem["b"]["layout"], "(10,24):(24,1)");
    assert_eq!((&problem["a"]["origin"], &problem["b"]["origin"]), (&"a.npy".into(), &"b.npy".into()));
    let written = report["written"][0].as_str().expect("a path");
    assert!(written.ends_with("c.npy"), "{written}");
}

#[test]
fn empty_files_give_empty_products_and_zeros() {
    for mnk in [[3, 4, 0], [0, 4, 3], [3, 0, 4]] {
        let folder = folder();
        let [m, n, k] = mnk;
        Matrix::new([m, k], 1).save(&folder.path().join("a.npy"), "<f4", false);
        Matrix::new([k, n], 1).save(&folder.path().join("b.npy"), "<f4", false);
        let (c, ..) = product(folder.path(), "");
        assert_eq!(c, Matrix::filled([m, n], 0.0));
    }
}

#[test]
fn the_product_may_replace_an_operand() {
    let folder = folder();
    let [a, b] = operands(5);
    a.save(&folder.path().join("a.npy"), "<f4", false);
    b.save(&folder.path().join("b.npy"), "<f4", false);
    succeeds(folder.path(), "gemm --a a.npy --b b.npy -o a.npy");
    assert_eq!(Matrix::load(&folder.path().join("a.npy")).0, a.times(&b));
}

/// The sum is infinite by definition, but an accumulator of f32 is infinite in the other direction before the last product comes, so that C is NaN.
#[test]
fn a_product_that_fails_its_check_is_reported_and_not_written() {
    let folder = folder();
    let values = vec![-1e38, f32::INFINITY];
    Matrix { shape: [1, 2], values }.save(&folder.path().join("a.npy"), "<f4", false);
    Matrix { shape: [2, 1], values: vec![1e38, 1.0] }.save(&folder.path().join("b.npy"), "<f4", false);
    let before = std::fs::read_dir(folder.path()).expect("a folder").count();
    let output = girih_in(folder.path(), "gemm --a a.npy --b b.npy -o c.npy");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().last(), Some("FAILED"));
    let output = girih_in(folder.path(), "gemm --a a.npy --b b.npy -o c.npy --json");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["passed"], &report["written"]), (&false.into(), &serde_json::json!([])));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), before);
}

/// What a product rounds to infinity, and NaN and infinity of the files, are right where they belong, and are written.
#[test]
fn numbers_that_are_none_are_right_where_they_belong() {
    let folder = folder();
    let save = |name: &str, shape: [usize; 2], values: Vec<f32>, descr: &str| {
        Matrix { shape, values }.save(&folder.path().join(name), descr, false);
    };
    let infinity = f32::INFINITY;
    for (descr, x, arguments) in [
        ("<f2", 64.0, ""),
        ("<f2", 64.0, "--sums f16"),
        ("<f4", 1e20, ""),
        ("<f4", 1e20, "--dtype tf32"),
        ("<u2", 1e20, ""),
    ] {
        save("a.npy", [16, 16], vec![x; 256], descr);
        save("b.npy", [16, 16], vec![x; 256], descr);
        let found = product(folder.path(), arguments).0;
        assert_eq!(found, Matrix::filled([16, 16], infinity), "{descr} {arguments}");
    }
    for descr in ["<f4", "<f2", "<f8", "<u2"] {
        save("a.npy", [3, 2], vec![f32::NAN, 1.0, infinity, 1.0, 1.0, 1.0], descr);
        save("b.npy", [2, 2], vec![1.0, 2.0, 3.0, 4.0], descr);
        let found = product(folder.path(), "").0.values;
        assert!(found[0].is_nan() && found[1].is_nan(), "{found:?}");
        assert_eq!(found[2..], [infinity, infinity, 4.0, 6.0], "{descr}");
    }
}
