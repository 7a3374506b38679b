//! Whole modules as text, for reading and for the gate, which assembles them and looks at the order of their instructions.

use expect_test::{ExpectFile, expect_file};
use girih_codegen::attention::{AttentionConfig, Features, Ring, generate};

use super::{SMALL, WINDOW, ring};

#[test]
fn modules_are_these() {
    let check = |head_dim, keys, features, of: Ring, golden: ExpectFile| {
        let config = ring(AttentionConfig { head_dim, tile: [0, keys], features, ..SMALL }, of);
        golden.assert_eq(&generate(&config).unwrap().kernel.module().to_string());
    };
    let three = Ring { warpgroups: 3, stages: 2, buffers: 2, registers: [32, 160] };
    let causal = Features { right: true, ..SMALL.features };
    check(128, 128, causal, three, expect_file!["../../testdata/golden/attention_sm90_128_causal.ptx"]);
    // This module takes all registers that its threads may have: one more would be spilled.
    let packed = Features { packed: true, lse: true, ..causal };
    check(
        128,
        128,
        packed,
        three,
        expect_file!["../../testdata/golden/attention_sm90_128_packed_causal.ptx"],
    );
    let four = Ring { warpgroups: 4, stages: 4, registers: [24, 112], ..three };
    check(64, 96, SMALL.features, four, expect_file!["../../testdata/golden/attention_sm90_64.ptx"]);
    let two = Ring { warpgroups: 2, registers: [24, 240], ..three };
    let packed = Features { packed: true, ..WINDOW };
    check(128, 128, packed, two, expect_file!["../../testdata/golden/attention_sm90_128_packed.ptx"]);
}
