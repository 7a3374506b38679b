//! The list itself.

use girih_tensor::DType;
use girih_tile::launch::Launch;
use girih_tile::launch::words::Constants;
use girih_tile::prelude::F8E4M3;
use half::bf16;

use super::sample::Fill::{Below, Ends, Negative, Offsets, Random};
use super::sample::{Role, Sample};
use super::{Entry, Size, Tile};
use crate::*;

/// A kernel with types and constants.
macro_rules! tile {
    ($kernel:ident ($($ty:ty),*) [$($constant:tt),*]) => {
        Tile {
            constants: &[$($constant as i64),*],
            build: <$kernel<$($ty,)* $($constant),*>>::ir_with,
            launch: || {
                let source = <$kernel<$($ty,)* $($constant),*>>::ir_with;
                Launch::new::<$kernel<$($ty,)* $($constant),*>>(stringify!($kernel), Constants::default(), source)
            },
        }
    };
}

/// Rows of the list:
///
/// ```text
/// "name": kernel(types) [constants] or [other constants], {size usual small, ..},
///     (inputs as what stands in them) => (outputs) scratch (..), scalars (..), on [grid];
/// ```
macro_rules! entries {
    ($($name:literal: $kernel:ident $types:tt [$($constant:ident $own:tt),*] $(or $other:tt)*, {$($size:ident $usual:literal $small:literal),*},
        ($($input:ident $extents:tt $(as $fill:expr)?),*) => ($($output:ident $written:tt $(as $before:expr)?),*)
        $(scratch ($($left:ident $room:tt),*))? $(, scalars ($($scalar:expr),*))? $(, on [$($blocks:expr),*])?;)*) => {
        /// A kernel of each kind.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            kernel: stringify!($kernel),
            constants: &[$(stringify!($constant)),*],
            tiles: &[tile!($kernel $types [$($own),*]) $(, tile!($kernel $types $other))*],
            sizes: &[$(Size { name: stringify!($size), usual: $usual, small: $small }),*],
            samples: {
                #[allow(unused_variables, reason = "not all sizes are extents")]
                fn samples(sizes: &[usize]) -> Vec<Sample> {
                    let &[$($size),*] = sizes else { return Vec::new() };
                    vec![
                        $(Sample::new(DType::$input, Role::Input, vec! $extents) $(.filled($fill))?,)*
                        $(Sample::new(DType::$output, Role::Output, vec! $written) $(.filled($before))?,)*
                        $($(Sample::new(DType::$left, Role::Scratch, vec! $room),)*)?
                    ]
                }
                samples
            },
            scalars: {
                #[allow(unused_variables, reason = "few scalars are made of sizes")]
                fn scalars<'a>(launch: Launch<'a>, sizes: &[usize]) -> Launch<'a> {
                    let &[$($size),*] = sizes else { return launch };
                    launch $($(.scalar($scalar))*)?
                }
                scalars
            },
            grid: {
                #[allow(unused_variables, unused_mut, unused_assignments, non_snake_case, reason = "most grids follow from stores")]
                fn grid(sizes: &[usize], constants: &[usize]) -> Option<Vec<usize>> {
                    let (&[$($size),*], &[$($constant),*]) = (sizes, constants) else { return None };
                    let mut grid = None;
                    $(grid = Some(vec![$($blocks),*]);)?
                    grid
                }
                grid
            },
        }),*];
    };
}

entries! {
    "add_f32_2048": add(f32) [N 2048] or [1024] or [4096], {n 16777216 5000},
        (F32 [n], F32 [n]) => (F32 [n]);
    "saxpy_2048": saxpy() [N 2048] or [1024] or [4096], {n 16777216 5000},
        (F32 [n]) => (F32 [n] as Random), scalars (2.0f32);
    "rotary_embedding_bf16_8x64": rotary_embedding(bf16) [G 8, H 64] or [4, 64] or [16, 64], {rows 4096 3, heads 32 5},
        (Bf16 [rows, heads, 128], F32 [rows, 64], F32 [rows, 64]) => (Bf16 [rows, heads, 128]), on [rows, heads.div_ceil(G)];
    "transpose_f32_64x64": transpose(f32) [R 64, N 64] or [32, 32] or [64, 32], {m 8192 100, n 8192 70},
        (F32 [m, n]) => (F32 [n, m]);
    "transpose_bf16_64x64": transpose(bf16) [R 64, N 64] or [128, 64] or [64, 128], {m 8192 100, n 8192 70},
        (Bf16 [m, n]) => (Bf16 [n, m]);
    "softmax_bf16_16x1024": softmax(bf16) [R 16, N 1024] or [4, 1024] or [2, 1024] or [1, 1024], {m 16384 20, n 1024 1000},
        (Bf16 [m, n]) => (Bf16 [m, n]);
    "softmax_bf16_1x4096": softmax(bf16) [R 1, N 4096] or [2, 4096], {m 4096 3, n 4096 1000},
        (Bf16 [m, n]) => (Bf16 [m, n]);
    "softmax_long_bf16_4096": softmax_long(bf16) [N 4096] or [2048] or [8192] or [16384], {m 1024 2, n 65536 5000},
        (Bf16 [m, n]) => (Bf16 [m, n]), on [m];
    "cross_entropy_bf16_4096": cross_entropy(bf16) [N 4096], {m 4096 3, n 4096 1000},
        (Bf16 [m, n], S32 [m] as Below(n)) => (F32 [m]);
    "layernorm_bf16_1x4096": layernorm(bf16) [R 1, N 4096] or [2, 4096], {m 4096 3, n 4096 1000},
        (Bf16 [m, n], Bf16 [n], Bf16 [n]) => (Bf16 [m, n]), scalars (1e-5f32);
    "layernorm_long_bf16_4096": layernorm_long(bf16) [N 4096] or [2048] or [8192], {m 1024 2, n 16384 5000},
        (Bf16 [m, n], Bf16 [n], Bf16 [n]) => (Bf16 [m, n]), scalars (1e-5f32), on [m];
    "rmsnorm_bf16_1x4096": rmsnorm(bf16) [R 1, N 4096] or [2, 4096], {m 4096 3, n 4096 1000},
        (Bf16 [m, n], Bf16 [n]) => (Bf16 [m, n]), scalars (1e-5f32);
    "rmsnorm_long_bf16_4096": rmsnorm_long(bf16) [N 4096] or [2048] or [8192], {m 1024 2, n 16384 5000},
        (Bf16 [m, n], Bf16 [n]) => (Bf16 [m, n]), scalars (1e-5f32), on [m];
    "row_sum_1x4096": row_sum() [R 1, N 4096] or [4, 1024] or [2, 4096], {m 8192 5, n 8192 5000},
        (F32 [m, n]) => (F32 [m]);
    "column_sum_128x32": column_sum() [R 128, N 32] or [32, 128] or [256, 32], {m 8192 300, n 8192 70},
        (F32 [m, n]) => (F32 [n]);
    "full_sum_4096": full_sum() [N 4096] or [2048] or [8192], {n 16777216 20000},
        (F32 [n]) => (F32 [1]), on [n.div_ceil(N).min(1056)];
    "sum_all_f32_4096": sum_all(f32, f32) [N 4096] or [2048] or [8192], {n 16777216 20000},
        (F32 [n]) => (F32 [1]) scratch (F32 [1056], U32 [1]), on [n.div_ceil(N).min(1056)];
    "argmax_all_f32_4096": argmax_all(f32) [N 4096] or [2048] or [8192], {n 16777216 20000},
        (F32 [n]) => (S32 [1]) scratch (F32 [1056], S32 [1056], U32 [1]), on [n.div_ceil(N).min(1056)];
    "argmax_rows_f32_4096": argmax_rows(f32) [N 4096], {m 8192 3, n 4096 1000},
        (F32 [m, n]) => (S32 [m]);
    "cumsum_f32_2048": cumsum(f32) [N 2048] or [4096] or [8192], {m 4096 2, n 4096 5000},
        (F32 [m, n]) => (F32 [m, n]), on [m];
    "cumsum_all_f32_4096": cumsum_all(f32, f32) [N 4096, W 128] or [4096, 32] or [8192, 128] or [2048, 128], {n 16777216 20000},
        (F32 [n]) => (F32 [n]) scratch (U64 [n.div_ceil(2048) + 16]), on [n.div_ceil(N)];
    "segment_sum_f32_2048": segment_sum(f32, f32) [N 2048, W 128] or [4096, 128] or [2048, 32], {n 16777216 10000, segments 131072 300},
        (F32 [n], S32 [segments + 1] as Offsets(n)) => (F32 [segments]) scratch (U64 [n.div_ceil(2048) + 16]), on [n.div_ceil(N)];
    "histogram_4096_256": histogram() [N 4096, BINS 256] or [8192, 256] or [16384, 256], {n 67108864 20000},
        (U8 [n]) => (S32 [256]), on [n.div_ceil(N).min(924)];
    "gather_rows_f32_64x32": gather_rows(f32) [R 64, N 32] or [16, 128] or [32, 64], {rows 65536 90, columns 256 70, taken 65536 100},
        (F32 [rows, columns], S32 [taken] as Below(rows)) => (F32 [taken, columns]);
    "dropout_bf16_2048": dropout(bf16) [N 2048] or [1024] or [4096], {n 16777216 5000},
        (Bf16 [n]) => (Bf16 [n]), scalars (0.25f32, 42u64);
    "gemm_bf16_128x256x64": gemm(bf16) [BM 128, BN 256, BK 64] or [256, 128, 64] or [128, 128, 64] or [64, 256, 64], {m 4096 200, n 4096 136, k 4096 104},
        (Bf16 [m, k], Bf16 [k, n]) => (Bf16 [m, n]);
    "gemm_f32_64x64x16": gemm(f32) [BM 64, BN 64, BK 16] or [128, 64, 16] or [128, 128, 16], {m 2048 100, n 2048 72, k 2048 40},
        (F32 [m, k], F32 [k, n]) => (F32 [m, n]);
    "gemm_persistent_bf16_128x256x64": gemm_persistent(bf16) [BM 128, BN 256, BK 64] or [256, 128, 64] or [128, 128, 64], {m 4096 200, n 4096 136, k 4096 104},
        (Bf16 [m, k], Bf16 [k, n]) => (Bf16 [m, n]), on [(m.div_ceil(BM) * n.div_ceil(BN)).min(132)];
    "gemm_batched_bf16_128x128x64": gemm_batched(bf16) [BM 128, BN 128, BK 64] or [128, 256, 64] or [64, 128, 64], {products 16 2, m 1024 136, n 1024 72, k 1024 104},
        (Bf16 [products, m, k], Bf16 [products, k, n]) => (Bf16 [products, m, n]);
    "gemm_gelu_bf16_128x256x64": gemm_gelu(bf16) [BM 128, BN 256, BK 64] or [256, 128, 64] or [128, 128, 64], {m 4096 200, n 4096 136, k 4096 104},
        (Bf16 [m, k], Bf16 [k, n], Bf16 [n], Bf16 [m, n]) => (Bf16 [m, n]);
    "gemm_grouped_bf16_128x128x64": gemm_grouped(bf16) [BM 128, BN 128, BK 64] or [128, 256, 64] or [256, 128, 64], {groups 8 3, m 8192 200, n 4096 72, k 4096 104},
        (Bf16 [m, k], Bf16 [groups, k, n], S32 [groups] as Ends(m)) => (Bf16 [m, n]), on [((m.div_ceil(BM) + groups) * n.div_ceil(BN)).min(132)];
    "gemm_fp8_128x128x128": gemm_fp8(F8E4M3) [BM 128, BN 128, BK 128] or [128, 256, 128] or [256, 128, 128], {m 4096 136, n 4096 72, k 4096 208},
        (E4m3 [m, k], E4m3 [n, k], F32 [m], F32 [n]) => (Bf16 [m, n]);
    "gemm_fp8_blocks_128x128x128": gemm_fp8_blocks(F8E4M3) [BM 128, BN 128, BK 128] or [64, 128, 128], {m 4096 136, n 4096 72, k 4096 208},
        (E4m3 [m, k], E4m3 [n, k], F32 [m, k.div_ceil(128)], F32 [n.div_ceil(128), k.div_ceil(128)]) => (Bf16 [m, n]);
    "gemm_int8_128x128x128": gemm_int8() [BM 128, BN 128, BK 128] or [128, 256, 128] or [256, 128, 128], {m 4096 136, n 4096 72, k 4096 208},
        (S8 [m, k], S8 [n, k], F32 [m], F32 [n]) => (Bf16 [m, n]);
    "gemm_weights_64x128x128": gemm_weights(i8, bf16) [BM 64, BN 128, BK 128] or [128, 128, 128] or [64, 256, 128], {m 256 136, n 4096 72, k 4096 208},
        (Bf16 [m, k], S8 [n, k], Bf16 [n, k.div_ceil(128)]) => (Bf16 [m, n]);
    "gemm_split_k_bf16_128x128x64": gemm_split_k(bf16) [BM 128, BN 128, BK 64] or [128, 256, 64] or [64, 128, 64], {parts 4 2, m 512 136, n 512 72, k 16384 200},
        (Bf16 [m, k], Bf16 [k, n]) => (F32 [parts, m, n]), on [m.div_ceil(BM), n.div_ceil(BN), parts];
    "sum_parts_bf16_32x128": sum_parts(bf16) [BM 32, BN 128] or [16, 256] or [64, 64], {parts 4 2, m 4096 100, n 4096 136},
        (F32 [parts, m, n]) => (Bf16 [m, n]);
    "gated_mlp_bf16_128x128x64": gated_mlp(bf16) [BM 128, BN 128, BK 64] or [128, 64, 64] or [64, 128, 64], {m 4096 136, n 8192 72, k 4096 104},
        (Bf16 [m, k], Bf16 [k, n], Bf16 [k, n]) => (Bf16 [m, n]);
    "attention_bf16_128x128x128": attention(bf16) [BM 128, BN 128, D 128, CAUSAL false] or [128, 64, 128, false] or [64, 128, 128, false], {batch 4 1, heads 16 2, length 4096 100},
        (Bf16 [batch, heads, length, 128], Bf16 [batch, heads, length, 128], Bf16 [batch, heads, length, 128]) => (Bf16 [batch, heads, length, 128]),
        scalars (0.088f32), on [length.div_ceil(BM), heads, batch];
    "attention_causal_bf16_128x128x128": attention(bf16) [BM 128, BN 128, D 128, CAUSAL true] or [128, 64, 128, true] or [64, 128, 128, true], {batch 4 1, heads 16 2, length 4096 100},
        (Bf16 [batch, heads, length, 128], Bf16 [batch, heads, length, 128], Bf16 [batch, heads, length, 128]) => (Bf16 [batch, heads, length, 128]),
        scalars (0.088f32), on [length.div_ceil(BM), heads, batch];
    "attention_varlen_bf16_128x128x128": attention_varlen(bf16) [BM 128, BN 128, D 128, CAUSAL true] or [128, 64, 128, true] or [64, 128, 128, true], {sequences 8 2, heads 16 2, tokens 16384 150},
        (Bf16 [tokens, heads, 128], Bf16 [tokens, heads, 128], Bf16 [tokens, heads, 128], S32 [sequences + 1] as Offsets(tokens)) => (Bf16 [tokens, heads, 128]),
        scalars (0.088f32), on [tokens.div_ceil(BM), heads, sequences];
    "chunk_scan_bf16_64x64x64": chunk_scan(bf16) [C 64, D 64, E 64] or [32, 64, 64] or [128, 64, 64], {heads 128 2, tokens 4096 100},
        (Bf16 [heads, tokens, 64], Bf16 [heads, tokens, 64], Bf16 [heads, tokens, 64], F32 [heads, tokens] as Negative) => (Bf16 [heads, tokens, 64]), on [heads];
    "conv2d_bf16_128x128x64": conv2d(bf16) [BQ 128, BO 128, BC 64] or [64, 128, 64] or [128, 64, 64], {images 8 1, height 64 3, width 128 70, channels 128 16, outputs 256 24},
        (Bf16 [images, height, width, channels], Bf16 [3, 3, channels, outputs]) => (Bf16 [images, height, width, outputs]),
        scalars (1i32), on [width.div_ceil(BQ), outputs.div_ceil(BO), images * height];
    "conv2d_gather_bf16_128x128x64": conv2d_gather(bf16) [BM 128, BO 128, BC 64, STRIDE 2] or [64, 128, 64, 2] or [128, 64, 64, 2], {images 16 1, height 56 9, width 56 11, channels 128 16, outputs 256 24},
        (Bf16 [images * height * width, channels], Bf16 [3, 3, channels, outputs]) => (Bf16 [images * height.div_ceil(2) * width.div_ceil(2), outputs]),
        scalars (height as i32, width as i32, height.div_ceil(2) as i32, width.div_ceil(2) as i32, 1i32);
    "sample_top_k_bf16_64x4096": sample_top_k(bf16) [K 64, N 4096] or [64, 2048] or [64, 1024], {rows 256 2, vocabulary 32768 5000},
        (Bf16 [rows, vocabulary]) => (S32 [rows]), scalars (1.0f32, 7u64);
}
