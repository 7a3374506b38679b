//! Decoding kernels as text: every configuration is generated, and assembles cleanly where the assembler is at hand.

use girih_codegen::attention::decode::{DecodeConfig, DecodeFeatures, generate, generate_sum};
use girih_tensor::DType;

pub(crate) const CONFIG: DecodeConfig = DecodeConfig {
    name: "decode",
    dtype: DType::Bf16,
    cache: DType::Bf16,
    head_dim: 128,
    rows: [8, 2],
    page: None,
    stages: 3,
    min_blocks: 2,
    features: DecodeFeatures {
        padded: false,
        left: false,
        softcap: false,
        scales: false,
        lse: true,
        parts: true,
        programmatic: false,
    },
};

#[test]
fn every_configuration_is_generated() {
    let out = std::env::var("DECODE_OUT").ok();
    for (dtype, cache) in [
        (DType::Bf16, DType::Bf16),
        (DType::F16, DType::F16),
        (DType::Bf16, DType::E4m3),
        (DType::F16, DType::E5m2),
    ] {
        for (head_dim, stages) in [(64, 4), (128, 3), (256, 2)] {
            for rows in [[8, 2], [4, 16]] {
                for page in [None, Some(16), Some(128)] {
                    let config = DecodeConfig { dtype, cache, head_dim, rows, page, stages, ..CONFIG };
                    let made = generate(&config).unwrap_or_else(|error| panic!("{config:?}: {error}"));
                    let sum = generate_sum(&config, "decode_sum").unwrap();
                    if let Some(out) = &out {
                        let name = format!("{out}/{dtype}_{cache}_{head_dim}_{}_{page:?}", rows[0] * rows[1]);
                        std::fs::write(format!("{name}.ptx"), made.kernel.module().to_string()).unwrap();
                        std::fs::write(format!("{name}_sum.ptx"), sum.kernel.module().to_string()).unwrap();
                    }
                }
            }
        }
    }
}
