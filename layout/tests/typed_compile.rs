//! What the compiler says to misuse, and what it makes of static indices: a crate of its own, built by cargo.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A crate that depends on girih-layout, in the folder of this test.
fn package(name: &str, files: &[(String, String)]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let layout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let _old = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("src/bin")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\ngirih-layout = {{ path = {layout:?} }}\n\n[workspace]\n[profile.dev]\ndebug = false\n\n# A program has what is inline optimised with itself.\n[profile.release.package.girih-layout]\nopt-level = 0\n"
    );
    std::fs::write(root.join("Cargo.toml"), manifest).unwrap();
    let lock = layout.parent().map(|workspace| workspace.join("Cargo.lock"));
    if let Some(lock) = lock.filter(|lock| lock.exists()) {
        std::fs::copy(lock, root.join("Cargo.lock")).unwrap();
    }
    for (file, text) in files {
        std::fs::write(root.join(file), text).unwrap();
    }
    root
}

/// Cargo in a package, with a folder for what it builds that the packages share.
fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["--offline"].iter().chain(arguments)).current_dir(root);
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("target"));
    command.env_remove("RUSTFLAGS");
    command
}

/// Runs cargo; says whether it was content, and what it printed.
fn cargo(root: &Path, arguments: &[&str]) -> (bool, String) {
    let output = command(root, arguments).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What the compiler says against each program of a package, by name.
fn errors_of_programs(root: &Path) -> BTreeMap<String, String> {
    let output =
        command(root, &["build", "--bins", "--keep-going", "--message-format=json"]).output().unwrap();
    let mut errors = BTreeMap::<String, String>::new();
    for message in output.stdout.split(|&byte| byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Value>(message) else { continue };
        if message["message"]["level"] == "error" {
            let text = message["message"]["rendered"].as_str().unwrap();
            *errors.entry(message["target"]["name"].as_str().unwrap().to_owned()).or_default() += text;
        }
    }
    errors
}

/// A program, and the first line of its compile error.
const MISUSES: [(&str, &str, &str); 57] = [
    (
        "stride",
        "layout!((6, 2) : (8, 2)).composition(layout!(6 : 4));",
        "error[E0080]: evaluation panicked: composition((6,2):(8,2), 6:4): no layout has these values: at coordinate 3 \
         the index is 4, a layout that agrees so far has 50",
    ),
    (
        "extent",
        "layout!((4, 6) : (1, 8)).composition(layout!(6 : 1));",
        "error[E0080]: evaluation panicked: composition((4,6):(1,8), 6:1): no layout has these values: at coordinate 4 \
         the index is 8, a layout that agrees so far has 4",
    ),
    (
        "carry",
        "layout!((4, 2) : (1, 10)).composition(layout!((2, 2) : (2, 3)));",
        "error[E0080]: evaluation panicked: composition((4,2):(1,10), (2,2):(2,3)): the right-hand modes carry into one another: \
         coordinate 3 has index 11, mode by mode it would be 5",
    ),
    (
        "rank",
        "layout!((128, 64) : (64, 1)).zipped_divide((int!(32), int!(16), int!(4)));",
        "error[E0080]: evaluation panicked: zipped_divide((128,64):(64,1), <32:1,16:1,4:1>): rank mismatch: the layout has rank 2, \
         the other operand rank 3",
    ),
    (
        "holes",
        "layout!((2, 2) : (1, 3)).complement(int!(12));",
        "error[E0080]: evaluation panicked: complement((2,2):(1,3), 12): 2 does not divide stride 3",
    ),
    (
        "overlap",
        "layout!((4, 4) : (1, 2)).complement(int!(32));",
        "error[E0080]: evaluation panicked: complement((4,4):(1,2), 32): mode 4:2 meets an index twice",
    ),
    (
        "dynamic",
        "let n: usize = 8; layout!((4, n) : (1, 4)).composition(int!(4));",
        "error[E0080]: evaluation panicked: composition((4,?):(1,4), 4:1): an operand is dynamic, which is judged when the program \
         runs: call try_composition",
    ),
    (
        "coordinate",
        "layout!((64, 2) : (1, 64)).at((int!(64), 0));",
        "error[E0080]: evaluation panicked: coordinate 64 is outside 64:1, whose size is 64",
    ),
    (
        "array",
        "let n: usize = 8; layout!((4, n) : (1, 4)).array(0u8);",
        "error[E0080]: evaluation panicked: an owning array needs a static layout, this one is (4,?):(1,4)",
    ),
    (
        "congruent",
        "layout!((4, 8) : (1, 4, 32));",
        "expected a tuple with 2 elements, found one with 3 elements",
    ),
    (
        "congruent_types",
        "type L = girih_layout::typed::Lt<(girih_layout::typed::S<4>, usize), (usize, usize, usize)>; fn f(_: L) {}",
        "error[E0277]: shape `(UInt<UInt<UInt<UTerm, B1>, B0>, B0>, usize)` and stride `(usize, usize, usize)` are not congruent",
    ),
    (
        "modes",
        "layout!((4, 8) : (1, 4)).at((1, 2, 3));",
        "error[E0277]: coordinate `({integer}, {integer}, {integer})` does not fit the layout's modes",
    ),
    (
        "wide",
        "layout!((2,2,2,2,2,2,2) : (1,2,4,8,16,32,64)).flat_divide((layout!(1 : 0), layout!(1 : 0), layout!(1 : 0), layout!(1 : 0), \
         layout!(1 : 0), layout!(1 : 0)));",
        "error[E0080]: evaluation panicked: a typed tuple of rank above 12; use the run-time layout, `Lay`",
    ),
    (
        "exactly",
        "fn f(_: girih_layout::typed::Lt<(S<4>, S<8>), (S<1>, S<4>)>) {} f(layout!((4, 8) : (8, 1)).exactly());",
        "error[E0080]: evaluation panicked: (4,8):(8,1) is given where (4,8):(1,4) is wanted",
    ),
    (
        "exactly_dynamic",
        "let n = 8usize; let l: girih_layout::typed::Lt<(S<4>, S<8>), (S<1>, S<4>)> = layout!((4, n) : (1, 4)).exactly();",
        "error[E0080]: evaluation panicked: (4,?):(1,4) is given where (4,8):(1,4) is wanted: with something dynamic, that is judged \
         when the program runs: call try_exactly",
    ),
    (
        "try_exactly",
        "let n = 8usize; let _ = layout!((4, n) : (1, 4)).try_exactly::<(Mode<S<4>, S<2>>, Mode<S<8>, S<4>>)>();",
        "error[E0080]: evaluation panicked: (4,?):(1,4) is given where (4,8):(2,4) is wanted",
    ),
    (
        "positions",
        "layout!((4, 8) : (1, 4)).at((1i32, 2i32));",
        "positions are `usize`, or static: `int!(3)`",
    ),
    (
        "rank_limit",
        "layout!((4, 8) : (1, 4)).at((1usize, 2usize, 3usize));",
        "a tuple needs one coordinate for each mode, up to 12",
    ),
    (
        "mode",
        "layout!((4, 8) : (1, 4)).mode(int!(2));",
        "error[E0080]: evaluation panicked: mode((4,8):(1,4)): there is no mode 2 in rank 2",
    ),
    (
        "select",
        "layout!((2, 3, 5) : (1, 2, 6)).select((int!(0), int!(3)));",
        "error[E0080]: evaluation panicked: select((2,3,5):(1,2,6)): there is no mode 3 in rank 3",
    ),
    (
        "take",
        "let n: usize = 5; layout!((2, 3, n) : (1, 2, 6)).take(int!(1), int!(4));",
        "error[E0080]: evaluation panicked: take((2,3,?):(1,2,6)): there are no modes 1 up to 4 in rank 3",
    ),
    (
        "group",
        "layout!((2, 3, 5) : (1, 2, 6)).group(int!(1), int!(4));",
        "error[E0080]: evaluation panicked: group((2,3,5):(1,2,6)): there are no modes 1 up to 4 in rank 3",
    ),
    (
        "group_none",
        "layout!((2, 3, 5) : (1, 2, 6)).group(int!(1), int!(1));",
        "error[E0080]: evaluation panicked: group((2,3,5):(1,2,6)): not supported: a group of no modes",
    ),
    (
        "replace",
        "layout!((2, 3) : (1, 2)).replace(int!(2), layout!(4 : 6));",
        "error[E0080]: evaluation panicked: replace((2,3):(1,2)): there is no mode 2 in rank 2",
    ),
    (
        "unflatten",
        "layout!((8, 2, 3) : (6, 1, 2)).unflatten(int_tuple!((0, 0)));",
        "error[E0080]: evaluation panicked: unflatten((8,2,3):(6,1,2)): the trees differ at leaf 2",
    ),
    (
        "left",
        "Layout::left(int_tuple!((4, 0)));",
        "error[E0080]: evaluation panicked: left((4,0)): leaf 1 of a shape is 0, which is below 1",
    ),
    (
        "left_dynamic",
        "let n: usize = 8; Layout::left(int_tuple!((4, n)));",
        "error[E0080]: evaluation panicked: left((4,?)): an operand is dynamic, which is judged when the program runs: call try_left",
    ),
    (
        "ordered",
        "Layout::ordered(int_tuple!((4, 2)), int_tuple!((0, 1, 2)));",
        "error[E0080]: evaluation panicked: ordered((4,2), (0,1,2)): the trees differ at leaf 1",
    ),
    (
        "compact_like",
        "layout!((4, 8) : (-8, 1)).compact_like();",
        "error[E0080]: evaluation panicked: compact_like((4,8):(-8,1)): stride -8 is below 0",
    ),
    (
        "with_shape",
        "layout!((4, 6) : (1, 8)).with_shape(int_tuple!((4, 3)));",
        "error[E0080]: evaluation panicked: with_shape((4,6):(1,8), (4,3)): not supported: a shape of another size",
    ),
    (
        "coalesce_by",
        "layout!((2, 6) : (1, 2)).coalesce_by(int_tuple!((1, 1, 1)));",
        "error[E0080]: evaluation panicked: coalesce_by((2,6):(1,2), (1,1,1)): rank mismatch: the layout has rank 2, the other operand rank 3",
    ),
    (
        "tile_to_shape",
        "layout!((2, 2) : (1, 2)).tile_to_shape(int_tuple!((8, 7)));",
        "error[E0080]: evaluation panicked: tile_to_shape((2,2):(1,2), <(8,7)>): 2 does not divide extent 7",
    ),
    (
        "upcast",
        "layout!((6, 4) : (1, 6)).upcast(int!(4));",
        "error[E0080]: evaluation panicked: upcast((6,4):(1,6), 4): 4 does not divide extent 6",
    ),
    (
        "downcast",
        "layout!((8, 4) : (2, 16)).downcast(int!(4));",
        "error[E0080]: evaluation panicked: downcast((8,4):(2,16), 4): not supported: a layout without a mode of stride 1",
    ),
    (
        "recast",
        "layout!((8, 6) : (6, 1)).recast(int!(16), int!(64));",
        "error[E0080]: evaluation panicked: recast((8,6):(6,1), (16,64)): stride 6 and extent 4 do not divide one another",
    ),
    (
        "quasi_inverse",
        "layout!((4, 4) : (1, 2)).quasi_inverse();",
        "error[E0080]: evaluation panicked: quasi_inverse((4,4):(1,2)): mode 4:2 meets an index twice",
    ),
    (
        "nullspace",
        "let n: usize = 8; layout!((4, n) : (0, 1)).nullspace();",
        "error[E0080]: evaluation panicked: nullspace((4,?):(0,1)): an operand is dynamic, which is judged when the program runs: call try_nullspace",
    ),
    (
        "coordinates",
        "layout!((4, 8) : (1@0, 1@1)).at((3, 5));",
        "error[E0080]: evaluation panicked: at: the indices of (4,8):(1@0,1@1) are coordinates: call coord_at or slice_coord",
    ),
    (
        "no_coordinates",
        "let [_i, _j] = layout!((4, 8) : (8, 1)).coord_at((3, 5));",
        "error[E0080]: evaluation panicked: coord_at: the indices of (4,8):(8,1) are no coordinates: call at",
    ),
    (
        "coordinate_rank",
        "let [_i] = Layout::identity(int_tuple!((4, 8))).coord_at((3, 5));",
        "error[E0080]: evaluation panicked: coord_at: the coordinates of (4,8):(1@0,1@1) have rank 2, not 1",
    ),
    (
        "nested_coordinate",
        "let [_i, _j] = Layout::identity(int_tuple!((4, (2, 3)))).coord_at((3, 5));",
        "error[E0080]: evaluation panicked: coord_at: the coordinates of (4,(2,3)):(1@0,(1@0@1,1@1@1)) are nested: erase it and call \
         coord_at of the run-time layout",
    ),
    (
        "basis",
        "layout!((4, 8) : (1@0, 1@1)).complement(int!(64));",
        "error[E0080]: evaluation panicked: complement((4,8):(1@0,1@1), 64): not supported: basis strides",
    ),
    (
        "swizzle",
        "girih_layout::typed::Swizzled::<girih_layout::typed::Sw<3, 3, 2>, _>::new(layout!((8, 64) : (64, 1)));",
        "error[E0080]: evaluation panicked: no swizzle: |shift| must be at least bits, and bits + base + |shift| at most 62",
    ),
    (
        "swizzle_recast",
        "girih_layout::typed::Swizzled::<girih_layout::typed::Sw<3, 2, 3>, _>::new(layout!((8, 64) : (64, 1))).recast(int!(16), int!(128));",
        "error[E0080]: evaluation panicked: recast of a swizzle: not supported: units above the bits that it keeps",
    ),
    (
        "take_reversed",
        "layout!((2, 3, 5) : (1, 2, 6)).take(int!(2), int!(1));",
        "error[E0080]: evaluation panicked: take((2,3,5):(1,2,6)): there are no modes 2 up to 1 in rank 3",
    ),
    (
        "take_past",
        "layout!((2, 3, 5) : (1, 2, 6)).take(int!(5), int!(5));",
        "error[E0080]: evaluation panicked: take((2,3,5):(1,2,6)): there are no modes 5 up to 5 in rank 3",
    ),
    (
        "group_reversed",
        "layout!((2, 3, 5) : (1, 2, 6)).group(int!(2), int!(1));",
        "error[E0080]: evaluation panicked: group((2,3,5):(1,2,6)): there are no modes 2 up to 1 in rank 3",
    ),
    (
        "right_overflow",
        "Layout::right(int_tuple!((4, 4294967295, 4294967295, 4294967295)));",
        "error[E0080]: evaluation panicked: a static integer does not fit in 64 bits",
    ),
    (
        "filter",
        "let n: usize = 0; layout!((4, 8) : (1, n)).filter();",
        "error[E0080]: evaluation panicked: filter((4,8):(1,?)): an operand is dynamic, which is judged when the program runs: call try_filter",
    ),
    (
        "append",
        "layout!((2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2) : (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)).append(layout!(2 : 4096));",
        "error[E0080]: evaluation panicked: a typed tuple of rank above 12; use the run-time layout, `Lay`",
    ),
    (
        "prepend",
        "layout!((2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2) : (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)).prepend(layout!(2 : 4096));",
        "error[E0080]: evaluation panicked: a typed tuple of rank above 12; use the run-time layout, `Lay`",
    ),
    (
        "zip",
        "layout!((2, 3) : (1, 2)).zip(layout!(4 : 6));",
        "error[E0080]: evaluation panicked: zip((2,3):(1,2)): rank mismatch: the layout has rank 2, the other operand rank 1",
    ),
    (
        "swizzle_decay",
        "girih_layout::typed::Swizzled::<girih_layout::typed::Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1))).decay();",
        "error[E0080]: evaluation panicked: decay of Sw<3,3,3> o 0 o (8,64):(64,1): no layout has these values: at coordinate 65 the index \
         is 64, a layout that agrees so far has 80",
    ),
    (
        "swizzle_dynamic",
        "let n: usize = 64; girih_layout::typed::Swizzled::<girih_layout::typed::Sw<3, 3, 3>, _>::new(layout!((8, 64) : (n, 1))).cosize();",
        "error[E0080]: evaluation panicked: cosize of Sw<3,3,3> o 0 o (8,64):(?,1): the layout or its offset is dynamic, which is judged \
         when the program runs: call try_cosize",
    ),
    (
        "domain_distribute",
        "Layout::domain_distribute(int_tuple!((4, 6)), int!(0));",
        "error[E0080]: evaluation panicked: domain_distribute((4,6), 0): not supported: fewer than one worker",
    ),
    (
        "left_inverse",
        "layout!((4, 4) : (1, 2)).left_inverse();",
        "error[E0080]: evaluation panicked: left_inverse((4,4):(1,2)): mode 4:2 meets an index twice",
    ),
    (
        "right_inverse",
        "let n: usize = 8; layout!((4, n) : (1, 4)).right_inverse();",
        "error[E0080]: evaluation panicked: right_inverse((4,?):(1,4)): an operand is dynamic, which is judged when the program runs: call try_right_inverse",
    ),
];

#[test]
fn misuse_does_not_compile_and_the_first_line_says_why() {
    let program = |body: &str| {
        format!(
            "#![allow(unused)]\nuse girih_layout::typed::{{Layout, Mode, S}};\nuse girih_layout::{{int, int_tuple, layout}};\nfn main() {{ {body} }}\n"
        )
    };
    let mut files: Vec<_> =
        MISUSES.iter().map(|(name, body, _)| (format!("src/bin/{name}.rs"), program(body))).collect();
    // The same crate without misuse does build.
    files.push(("src/lib.rs".into(), program("layout!((6, 2) : (8, 2)).composition(layout!(6 : 2));")));
    let root = package("misuse", &files);
    let (fine, text) = cargo(&root, &["build", "--lib"]);
    assert!(fine, "{text}");
    let errors = errors_of_programs(&root);
    for (name, _, line) in MISUSES {
        let text = errors.get(name).cloned().unwrap_or_default();
        let first = text.lines().find(|line| line.starts_with("error")).unwrap_or_default();
        // What is wrong with numbers is said in the first line, what is wrong with the structure where rustc says it.
        let said = if line.starts_with("error") { first == line } else { text.contains(line) };
        assert!(said, "{name}: {text}");
    }
}

#[test]
fn a_constant_shows_misuse_to_cargo_check() {
    let program = |item: &str| {
        format!(
            "use girih_layout::typed::{{Check, Lt, S}};\ntype A = Lt<(S<6>, S<2>), (S<8>, S<2>)>;\n{item}\npub fn f(a: A) -> usize {{ a.size() }}\n"
        )
    };
    let item = |stride: usize| format!("const _: () = Check::<A>::composition::<Lt<S<6>, S<{stride}>>>();");
    let files = [
        ("src/lib.rs".into(), program(&item(2))),
        ("src/bin/wrong.rs".into(), program(&item(4)) + "fn main() {}\n"),
    ];
    let root = package("asked", &files);
    let (fine, text) = cargo(&root, &["check", "--lib"]);
    assert!(fine, "{text}");
    let (fine, text) = cargo(&root, &["check", "--bin", "wrong"]);
    assert!(!fine && text.contains(MISUSES[0].2), "{text}");
}

/// Functions whose bodies are looked at, and the instructions that they may have.
const INDICES: &str = r#"
use girih_layout::layout;
use girih_layout::typed::__;
#[unsafe(no_mangle)]
pub fn constant() -> usize { layout!(((2, 4), 8) : ((8, 1), 64)).at(((1, 2), 3)) }
#[unsafe(no_mangle)]
pub fn row_major(i: usize, j: usize) -> usize { layout!((128, 64) : (64, 1)).at((i, j)) }
#[unsafe(no_mangle)]
pub fn thread_value(t: usize, v: usize) -> usize {
    let c = layout!((16, 16) : (16, 1)).composition(layout!(((4, 8), (2, 2)) : ((32, 1), (16, 8))));
    c.at((t, v))
}
#[unsafe(no_mangle)]
pub fn leading_dimension(i: usize, j: usize, ld: usize) -> usize { layout!((128, 64) : (ld, 1)).at((i, j)) }
#[unsafe(no_mangle)]
pub fn sliced(i: usize, j: usize) -> usize {
    let (row, offset) = layout!((128, (8, 8)) : (64, (1, 8))).slice((i, __));
    row.at(j) + offset as usize
}
"#;

#[cfg(target_arch = "x86_64")]
#[test]
fn static_indices_are_constants_shifts_and_adds() {
    let root = package("indices", &[("src/lib.rs".into(), INDICES.into())]);
    let (fine, text) = cargo(
        &root,
        &[
            "rustc",
            "--release",
            "--lib",
            "--",
            "--emit",
            "asm=indices.s",
            "-C",
            "debuginfo=0",
            "-C",
            "codegen-units=1",
        ],
    );
    assert!(fine, "{text}");
    let assembly = std::fs::read_to_string(root.join("indices.s")).unwrap();
    let body = |name: &str| -> Vec<String> {
        let lines = assembly.lines().skip_while(|line| *line != format!("{name}:"));
        let lines = lines.map(str::trim).skip(1).take_while(|line| !line.starts_with(".Lfunc_end"));
        lines.filter(|line| !line.starts_with('.') && !line.starts_with('#')).map(String::from).collect()
    };
    let opcodes = |name| -> Vec<String> {
        body(name).iter().map(|line| line.split_whitespace().next().unwrap().to_string()).collect()
    };
    assert_eq!(body("constant"), ["movl\t$202, %eax", "retq"]);
    for name in ["row_major", "thread_value", "sliced"] {
        let found = opcodes(name);
        let plain = [
            "mov", "movq", "movl", "shlq", "shll", "shrq", "shrl", "leaq", "leal", "addq", "addl", "orq",
            "orl", "andl", "andq", "retq",
        ];
        assert!(found.iter().all(|code| plain.contains(&code.as_str())), "{name}: {:?}", body(name));
        assert!((3..=20).contains(&found.len()), "{name}: {:?}", body(name));
    }
    let found = opcodes("leading_dimension");
    assert!(found.iter().filter(|code| *code == "imulq").count() == 1, "{found:?}");
    assert!(
        !found.iter().any(|code| code.contains("div") || code.contains("call") || code.starts_with('j')),
        "{found:?}"
    );
}
