//! Every law of `testdata/layout-properties.csv` has a test that is named after it, here or where the atoms are.

use std::collections::BTreeSet;

const LAWS: &str = include_str!("../../testdata/layout-properties.csv");

const COVERAGE: &str = include_str!("../../docs/cute-coverage.md");

macro_rules! sources {
    ($($file:literal),*) => { &[$(($file, include_str!(concat!($file, ".rs")))),*] };
}

/// The files with tests of the layout algebra, by name.
const TESTS: &[(&str, &str)] = sources![
    "along",
    "binding",
    "columns",
    "complements",
    "composition",
    "coordinates",
    "divides",
    "general",
    "inverses",
    "numeric",
    "overlap",
    "partitions",
    "products",
    "recasts",
    "sums",
    "swizzles",
    "symbols",
    "tuples",
    "vectors"
];

macro_rules! codegen {
    ($(($law:literal, $file:literal, $test:literal)),* $(,)?) => {
        &[$(($law, include_str!(concat!("../../codegen/", $file)), $test)),*]
    };
}

/// Laws about atoms, whose domain is finite: the code generator's tests go through all of it, and know its registers.
const ELSEWHERE: &[(&str, &str, &str)] = codegen![
    ("T06", "tests/atoms/mma.rs", "fragments_are_those_of_the_isa"),
    ("T08", "tests/atoms/copy.rs", "copies_move_the_bits_that_the_isa_says"),
    ("T09", "tests/atoms/copy.rs", "ldmatrix_delivers_the_fragment_of_a"),
    ("T10", "tests/plan/convert.rs", "every_value_arrives_with_the_fewest_shuffles"),
];

/// `m15` of `fn m15_m16_v05_general_is_exact`, if a test of that name follows `#[test]`.
fn laws_of(source: &str) -> BTreeSet<String> {
    let after_test = source.split("#[test]").skip(1);
    let names = after_test.filter_map(|text| text.split("fn ").nth(1)?.split('(').next());
    let is_law = |word: &&str| word.len() == 3 && word[1..].bytes().all(|b| b.is_ascii_digit());
    names.flat_map(|name| name.split('_').take_while(is_law)).map(str::to_uppercase).collect()
}

#[test]
fn every_law_has_a_test() {
    let tested: BTreeSet<String> = TESTS.iter().flat_map(|(_, source)| laws_of(source)).collect();
    let laws: Vec<&str> = LAWS.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(laws.len(), 114);
    let untested: Vec<_> = laws
        .iter()
        .filter(|law| !tested.contains(**law) && !ELSEWHERE.iter().any(|(id, ..)| id == *law))
        .collect();
    assert!(untested.is_empty(), "no test: {untested:?}");
    let unknown: Vec<_> = tested.iter().filter(|law| !laws.contains(&law.as_str())).collect();
    assert!(unknown.is_empty(), "tests named after no law: {unknown:?}");
    let stale: Vec<_> = ELSEWHERE.iter().filter(|(id, ..)| tested.contains(*id)).map(|(id, ..)| id).collect();
    assert!(stale.is_empty(), "laws that have a test here too: {stale:?}");
    for (id, source, test) in ELSEWHERE {
        assert!(source.contains(&format!("#[test]\nfn {test}(")), "{id}: there is no test {test}");
    }
}

#[test]
fn every_row_of_the_coverage_has_a_test_or_a_reason() {
    let rows: Vec<Vec<&str>> = COVERAGE
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| capability"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() > 80, "{}", rows.len());
    for row in rows {
        let [_, _, has, what, tests] = row[..] else { panic!("five columns: {row:?}") };
        assert!(
            !what.is_empty() && (has == "yes" && !tests.is_empty() || has == "no" && tests.is_empty()),
            "{row:?}"
        );
        // Tests of other packages, by their paths.
        for (file, test) in tests.split('`').skip(1).step_by(2).filter_map(|name| name.split_once(": ")) {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(file);
            let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(source.contains(&format!("fn {test}(")), "there is no test {test} in {file}");
        }
        for name in tests.split('`').skip(1).step_by(2).filter(|name| name.contains("::")) {
            let (file, test) = name.split_once("::").expect("file::test");
            let (_, source) = TESTS.iter().find(|(known, _)| *known == file).expect(name);
            assert!(source.contains(&format!("fn {test}(")), "there is no test {name}");
        }
    }
}

#[test]
fn names_are_read() {
    let source =
        "#[test]\n    fn m15_m16_v05_general(a in x) {}\n#[test]\nfn other_m01() {}\nfn m02_helper() {}";
    assert_eq!(laws_of(source).into_iter().collect::<Vec<_>>(), ["M15", "M16", "V05"]);
}
