//! The kernels by name, each for some dtype and tile.

use girih_tensor::DType;
use girih_tile::error::Error;
use girih_tile::facts::{ArrayFacts, Facts};
use girih_tile::ir::{Func, Known};
use girih_tile::prelude::F8E4M3;
use half::bf16;

use super::*;

/// A kernel for a dtype and a tile.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, dtype and tile.
    pub name: &'static str,
    /// Ranks and dtypes of its arrays.
    arrays: &'static [(usize, DType)],
    scalars: usize,
    build: fn(&Facts) -> Result<Func, Error>,
}

impl Entry {
    /// The kernel's program for row-major arrays whose addresses, extents and pitches are multiples of 16.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn build(&self) -> Result<Func, Error> {
        self.build_with(&self.facts())
    }

    /// The kernel's program for arrays of which these facts hold.
    ///
    /// # Errors
    /// What is wrong with the program.
    pub fn build_with(&self, facts: &Facts) -> Result<Func, Error> {
        (self.build)(facts)
    }

    /// What [`Entry::build`] takes for known.
    pub fn facts(&self) -> Facts {
        let array = |&(rank, dtype): &(usize, DType)| {
            let mut facts = ArrayFacts::row_major(rank, dtype);
            facts.extents.iter_mut().for_each(|extent| *extent = Known::MultipleOf(16));
            facts.strides.iter_mut().rev().skip(1).for_each(|stride| *stride = Known::MultipleOf(16));
            facts.align = 16;
            facts
        };
        Facts {
            arrays: self.arrays.iter().map(array).collect(),
            scalars: vec![Known::MultipleOf(1); self.scalars],
        }
    }
}

macro_rules! entries {
    ($($name:literal: $kernel:ty, ($($dtype:ident $rank:literal),*), $scalars:literal;)*) => {
        /// A kernel of each kind.
        pub const ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            arrays: &[$(($rank, DType::$dtype)),*],
            scalars: $scalars,
            build: <$kernel>::ir_with,
        }),*];
    };
}

entries! {
    "add_f32_2048": add::<f32, 2048>, (F32 1, F32 1, F32 1), 0;
    "saxpy_2048": saxpy::<2048>, (F32 1, F32 1), 1;
    "rotary_embedding_bf16_8x64": rotary_embedding::<bf16, 8, 64>, (Bf16 3, F32 2, F32 2, Bf16 3), 0;
    "transpose_f32_64x64": transpose::<f32, 64, 64>, (F32 2, F32 2), 0;
    "transpose_bf16_64x64": transpose::<bf16, 64, 64>, (Bf16 2, Bf16 2), 0;
    "softmax_bf16_16x1024": softmax::<bf16, 16, 1024>, (Bf16 2, Bf16 2), 0;
    "softmax_bf16_1x4096": softmax::<bf16, 1, 4096>, (Bf16 2, Bf16 2), 0;
    "softmax_long_bf16_4096": softmax_long::<bf16, 4096>, (Bf16 2, Bf16 2), 0;
    "cross_entropy_bf16_4096": cross_entropy::<bf16, 4096>, (Bf16 2, S32 1, F32 1), 0;
    "layernorm_bf16_1x4096": layernorm::<bf16, 1, 4096>, (Bf16 2, Bf16 1, Bf16 1, Bf16 2), 1;
    "layernorm_long_bf16_4096": layernorm_long::<bf16, 4096>, (Bf16 2, Bf16 1, Bf16 1, Bf16 2), 1;
    "rmsnorm_bf16_1x4096": rmsnorm::<bf16, 1, 4096>, (Bf16 2, Bf16 1, Bf16 2), 1;
    "rmsnorm_long_bf16_4096": rmsnorm_long::<bf16, 4096>, (Bf16 2, Bf16 1, Bf16 2), 1;
    "row_sum_1x4096": row_sum::<1, 4096>, (F32 2, F32 1), 0;
    "column_sum_128x32": column_sum::<128, 32>, (F32 2, F32 1), 0;
    "full_sum_4096": full_sum::<4096>, (F32 1, F32 1), 0;
    "sum_all_f32_4096": sum_all::<f32, f32, 4096>, (F32 1, F32 1, F32 1, U32 1), 0;
    "argmax_all_f32_4096": argmax_all::<f32, 4096>, (F32 1, S32 1, F32 1, S32 1, U32 1), 0;
    "argmax_rows_f32_4096": argmax_rows::<f32, 4096>, (F32 2, S32 1), 0;
    "cumsum_f32_2048": cumsum::<f32, 2048>, (F32 2, F32 2), 0;
    "cumsum_all_f32_4096": cumsum_all::<f32, f32, 4096, 128>, (F32 1, F32 1, U64 1), 0;
    "segment_sum_f32_2048": segment_sum::<f32, f32, 2048, 128>, (F32 1, S32 1, F32 1, U64 1), 0;
    "histogram_4096_256": histogram::<4096, 256>, (U8 1, S32 1), 0;
    "gather_rows_f32_64x32": gather_rows::<f32, 64, 32>, (F32 2, S32 1, F32 2), 0;
    "dropout_bf16_2048": dropout::<bf16, 2048>, (Bf16 1, Bf16 1), 2;
    "gemm_bf16_128x256x64": gemm::<bf16, 128, 256, 64>, (Bf16 2, Bf16 2, Bf16 2), 0;
    "gemm_f32_64x64x16": gemm::<f32, 64, 64, 16>, (F32 2, F32 2, F32 2), 0;
    "gemm_persistent_bf16_128x256x64": gemm_persistent::<bf16, 128, 256, 64>, (Bf16 2, Bf16 2, Bf16 2), 0;
    "gemm_batched_bf16_128x128x64": gemm_batched::<bf16, 128, 128, 64>, (Bf16 3, Bf16 3, Bf16 3), 0;
    "gemm_gelu_bf16_128x256x64": gemm_gelu::<bf16, 128, 256, 64>, (Bf16 2, Bf16 2, Bf16 1, Bf16 2, Bf16 2), 0;
    "gemm_grouped_bf16_128x128x64": gemm_grouped::<bf16, 128, 128, 64>, (Bf16 2, Bf16 3, S32 1, Bf16 2), 0;
    "gemm_fp8_128x128x128": gemm_fp8::<F8E4M3, 128, 128, 128>, (E4m3 2, E4m3 2, F32 1, F32 1, Bf16 2), 0;
    "gemm_fp8_blocks_128x128x128": gemm_fp8_blocks::<F8E4M3, 128, 128, 128>, (E4m3 2, E4m3 2, F32 2, F32 2, Bf16 2), 0;
    "gemm_int8_128x128x128": gemm_int8::<128, 128, 128>, (S8 2, S8 2, F32 1, F32 1, Bf16 2), 0;
    "gemm_weights_64x128x128": gemm_weights::<i8, bf16, 64, 128, 128>, (Bf16 2, S8 2, Bf16 2, Bf16 2), 0;
    "gemm_split_k_bf16_128x128x64": gemm_split_k::<bf16, 128, 128, 64>, (Bf16 2, Bf16 2, F32 3), 0;
    "sum_parts_bf16_32x128": sum_parts::<bf16, 32, 128>, (F32 3, Bf16 2), 0;
    "gated_mlp_bf16_128x128x64": gated_mlp::<bf16, 128, 128, 64>, (Bf16 2, Bf16 2, Bf16 2, Bf16 2), 0;
    "attention_bf16_128x128x128": attention::<bf16, 128, 128, 128, false>, (Bf16 4, Bf16 4, Bf16 4, Bf16 4), 1;
    "attention_causal_bf16_128x128x128": attention::<bf16, 128, 128, 128, true>, (Bf16 4, Bf16 4, Bf16 4, Bf16 4), 1;
    "attention_varlen_bf16_128x128x128": attention_varlen::<bf16, 128, 128, 128, true>, (Bf16 3, Bf16 3, Bf16 3, S32 1, Bf16 3), 1;
    "chunk_scan_bf16_64x64x64": chunk_scan::<bf16, 64, 64, 64>, (Bf16 3, Bf16 3, Bf16 3, F32 2, Bf16 3), 0;
    "conv2d_bf16_128x128x64": conv2d::<bf16, 128, 128, 64>, (Bf16 4, Bf16 4, Bf16 4), 1;
    "conv2d_gather_bf16_128x128x64": conv2d_gather::<bf16, 128, 128, 64, 2>, (Bf16 2, Bf16 4, Bf16 2), 5;
    "sample_top_k_bf16_64x4096": sample_top_k::<bf16, 64, 4096>, (Bf16 2, S32 1), 2;
}
