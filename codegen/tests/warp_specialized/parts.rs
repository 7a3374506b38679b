//! Each part of the synchronisation is needed: without it the simulator finds something.

use girih_codegen::gemm::{BlockScales, Epilogue, GemmConfig, MixedInput, WarpSpecialized, generate};
use girih_layout::lay;
use girih_tensor::DType;

use super::TN_BF16;
use super::problem::{config, run, turns, with};
use crate::mutants::without;

/// The kernel is reported when any one of its waits, arrivals, barriers and fences is missing.
pub(crate) fn needs_every_part(config: &GemmConfig, mnk: [i64; 3], parts: usize) {
    needs_every_part_with(config, &Epilogue::new(), mnk, parts);
}

pub(crate) fn needs_every_part_with(config: &GemmConfig, epilogue: &Epilogue, mnk: [i64; 3], parts: usize) {
    let kernel = generate(config, epilogue).unwrap();
    let mut kept = Vec::new();
    let mut removed = 0;
    for index in 0.. {
        let Some((mutant, text)) = without(kernel.kernel.module(), index) else { break };
        removed += 1;
        let caught = (0..8).find_map(|seed| run(config, &kernel, &mutant, mnk, 2, seed).err());
        println!("{index} {text}: {caught:?}");
        if caught.is_none() {
            kept.push(text);
        }
    }
    assert_eq!((removed, kept), (parts, Vec::<String>::new()));
}

#[test]
fn every_part_is_needed() {
    let config = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    needs_every_part(&config, [384, 128, 256], 21);
    needs_every_part(&turns(config, [128, 16], 2), [384, 128, 256], 33);
}

#[test]
fn every_part_of_mixed_inputs_is_needed() {
    let mixed_input = Some(MixedInput { dtype: DType::S8, scale: DType::Bf16, group: 128 });
    let config = config("SM90_64x64x16_F32BF16BF16_RS", [128, 64, 128], lay!("(2,1):(1,0)"), DType::Bf16);
    let config = with(config, |w| WarpSpecialized { mixed_input, ..w });
    needs_every_part(&config, [384, 128, 512], 27);
}

#[test]
fn every_part_of_block_scales_is_needed() {
    let block_scales = Some(BlockScales { granularity: [1, 128, 128] });
    let config = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::Bf16);
    let config = with(config, |w| WarpSpecialized { mma_promotion_interval: 4, block_scales, ..w });
    needs_every_part(&config, [384, 128, 512], 20);
}
