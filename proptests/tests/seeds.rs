//! The fuzz targets' seeds, replayed: inputs that reach different parts of the algebra, and those that once failed.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::fs;
use std::path::Path;

#[path = "../../fuzz/src/algebra.rs"]
mod algebra;
#[path = "../../fuzz/src/parse.rs"]
mod parse;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let entries = fs::read_dir(folder).expect("the seeds");
    entries.map(|entry| fs::read(entry.expect("an entry").path()).expect("a seed")).collect()
}

#[test]
fn answers_agree_with_the_definition() {
    let seeds = seeds("algebra");
    assert!(seeds.len() > 20, "{}", seeds.len());
    seeds.iter().for_each(|seed| algebra::run(seed));
}

#[test]
fn any_text_is_read_or_refused() {
    let seeds = seeds("parse");
    assert!(seeds.len() > 20, "{}", seeds.len());
    seeds.iter().for_each(|seed| parse::run(&String::from_utf8_lossy(seed)));
}
