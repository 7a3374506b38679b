//! Tile kernels as text, for reading and for ptxas: the gate assembles every file of `testdata/golden`.

use expect_test::{ExpectFile, expect_file};
use girih_programs::{ENTRIES, Entry};
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::Known;

/// Row-major arrays whose addresses, extents and pitches are multiples of 16: tiles reach beyond them, by whole vectors.
fn facts(entry: &Entry) -> Facts {
    let array = |sample: girih_programs::Sample| {
        let mut facts = ArrayFacts::row_major(sample.extents.len(), sample.dtype);
        facts.extents.iter_mut().for_each(|extent| *extent = Known::MultipleOf(16));
        facts.strides.iter_mut().rev().skip(1).for_each(|stride| *stride = Known::MultipleOf(16));
        facts.align = 16;
        facts
    };
    Facts { arrays: entry.samples(&entry.usual()).into_iter().map(array).collect(), ..Facts::default() }
}

fn check(name: &str, sm: u32, golden: ExpectFile) {
    let entry = ENTRIES.iter().find(|entry| entry.name == name).unwrap();
    let compiled = girih_tile::compile(&entry.build_with(&facts(entry)).unwrap(), sm).unwrap();
    golden.assert_eq(&compiled.kernel.module().to_string());
}

#[test]
fn elements_and_rows() {
    check("add_f32_2048", 90, expect_file!["../../testdata/golden/add.ptx"]);
    check("transpose_bf16_64x64", 90, expect_file!["../../testdata/golden/transpose.ptx"]);
    check("softmax_bf16_16x1024", 90, expect_file!["../../testdata/golden/softmax.ptx"]);
    check("layernorm_long_bf16_4096", 90, expect_file!["../../testdata/golden/layernorm_long.ptx"]);
}

#[test]
fn along_rows_and_by_index() {
    check("cumsum_f32_2048", 90, expect_file!["../../testdata/golden/cumsum.ptx"]);
    check("histogram_4096_256", 90, expect_file!["../../testdata/golden/histogram.ptx"]);
    check("argmax_rows_f32_4096", 80, expect_file!["../../testdata/golden/argmax_sm80.ptx"]);
    check("rotary_embedding_bf16_8x64", 80, expect_file!["../../testdata/golden/rotary_sm80.ptx"]);
}

#[test]
fn over_everything() {
    check("cumsum_all_f32_4096", 90, expect_file!["../../testdata/golden/cumsum_all.ptx"]);
    check("sum_all_f32_4096", 90, expect_file!["../../testdata/golden/sum_all.ptx"]);
    check("argmax_all_f32_4096", 90, expect_file!["../../testdata/golden/argmax_all.ptx"]);
    check("segment_sum_f32_2048", 90, expect_file!["../../testdata/golden/segment_sum.ptx"]);
}

#[test]
fn products() {
    check("gemm_f32_64x64x16", 90, expect_file!["../../testdata/golden/gemm_f32.ptx"]);
    check("gemm_grouped_bf16_128x128x64", 90, expect_file!["../../testdata/golden/gemm_grouped.ptx"]);
    check("attention_bf16_128x128x128", 90, expect_file!["../../testdata/golden/attention.ptx"]);
    check("chunk_scan_bf16_64x64x64", 80, expect_file!["../../testdata/golden/chunk_scan_sm80.ptx"]);
}
