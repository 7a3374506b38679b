//! What configurations and problems are refused, and what the errors say.

use expect_test::expect;
use girih_codegen::atom::MmaAtom;
use girih_codegen::gemm::{
    Arguments, Batch, BlockScales, Epilogue, GemmConfig, MixedInput, Schedule, Store, WarpSpecialized,
    generate,
};
use girih_layout::lay;
use girih_tensor::DType;

use super::TN_BF16;
use super::problem::{config, rows, turns, with};

#[test]
fn misuse_is_told() {
    let good = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    pub(super) fn atom(name: &str) -> MmaAtom {
        MmaAtom::find(name).unwrap()
    }
    let changed = |change: fn(&mut WarpSpecialized)| {
        with(good, |mut w| {
            change(&mut w);
            w
        })
    };
    let shared = Schedule::SplitK { parts: 8, cluster: 8 };
    let bytes = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::F32);
    fn input(w: &mut WarpSpecialized) -> &mut MixedInput {
        w.mixed_input.get_or_insert(MixedInput { dtype: DType::S8, scale: DType::Bf16, group: 128 })
    }
    let mixed = |change: fn(&mut WarpSpecialized)| {
        with(GemmConfig { tile: [128, 64, 128], ..good }, |mut w| {
            w.atom = atom("SM90_64x64x16_F32BF16BF16_RS");
            input(&mut w);
            change(&mut w);
            w
        })
    };
    let blocks = |mma_promotion_interval, granularity, batch| {
        let block_scales = Some(BlockScales { granularity });
        let scaled = with(bytes, |w| WarpSpecialized { mma_promotion_interval, block_scales, ..w });
        GemmConfig { batch, ..scaled }
    };
    let mut texts = String::new();
    for bad in [
        changed(|w| w.atom = atom("SM80_16X8X16_F32BF16BF16F32_TN")),
        changed(|w| w.atom = atom("SM90_64x64x16_F32BF16BF16_RS")),
        changed(|w| w.atom = atom("SM90_64x64x32_F16E4M3E4M3_SS_TN")),
        changed(|w| w.atoms = lay!("(2,2):(1,2)")),
        GemmConfig { c_type: DType::S8, ..good },
        changed(|w| w.stages = 1),
        changed(|w| w.mma_promotion_interval = 4),
        with(bytes, |w| WarpSpecialized { mma_promotion_interval: 3, ..w }),
        GemmConfig {
            tile: [256, 256, 128],
            store: Store::Direct { vector: 1 },
            ..with(bytes, |w| WarpSpecialized { mma_promotion_interval: 4, stages: 2, ..w })
        },
        GemmConfig { tile: [192, 64, 64], ..good },
        GemmConfig { tile: [128, 96, 64], ..good },
        GemmConfig { tile: [128, 64, 32], ..good },
        rows(good, 64),
        turns(good, [128, 48], 1),
        turns(good, [128, 0], 1),
        turns(good, [128, 32], 3),
        turns(good, [128, 32], 0),
        changed(|w| w.registers = [40, 240]),
        GemmConfig {
            tile: [256, 64, 64],
            ..changed(|w| (w.atoms, w.registers) = (lay!("(4,1):(1,0)"), [24, 120]))
        },
        GemmConfig { tile: [512, 64, 64], ..changed(|w| w.registers = [24, 128]) },
        changed(|w| w.stages = 10),
        mixed(|w| w.mixed_input = None),
        mixed(|w| w.atom = atom(TN_BF16)),
        mixed(|w| w.atom = atom("SM90_64x64x16_F32F16F16_RS")),
        mixed(|w| input(w).dtype = DType::S4),
        mixed(|w| input(w).scale = DType::F16),
        mixed(|w| input(w).group = 192),
        GemmConfig { tile: [128, 64, 64], ..mixed(|w| input(w).group = 64) },
        mixed(|w| w.mma_promotion_interval = 4),
        GemmConfig { batch: Batch::Strided, ..mixed(|_| ()) },
        blocks(4, [1, 128, 128], Batch::Strided),
        blocks(0, [1, 128, 128], Batch::Single),
        blocks(4, [2, 128, 128], Batch::Single),
        blocks(4, [1, 128, 192], Batch::Single),
        GemmConfig { tile: [128, 192, 128], ..blocks(4, [1, 128, 128], Batch::Single) },
        changed(|w| w.multicast = 3),
        changed(|w| w.multicast = 16),
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..changed(|w| w.multicast = 2) },
        GemmConfig { schedule: Schedule::StreamK { alternate: true }, ..changed(|w| w.multicast = 2) },
        GemmConfig { schedule: Schedule::SplitK { parts: 300, cluster: 1 }, ..good },
        GemmConfig { schedule: Schedule::SplitK { parts: 4, cluster: 3 }, ..good },
        GemmConfig { schedule: Schedule::SplitK { parts: 6, cluster: 4 }, ..good },
        GemmConfig { schedule: Schedule::SplitK { parts: 4, cluster: 4 }, ..good },
        GemmConfig { schedule: shared, store: Store::Direct { vector: 8 }, tile: [128, 128, 64], ..good },
        GemmConfig { schedule: shared, store: Store::Direct { vector: 8 }, ..changed(|w| w.stages = 9) },
    ] {
        texts += &format!("{}\n", generate(&bad, &Epilogue::new()).expect_err(&format!("{bad:?}")));
    }
    let kernel = generate(&good, &Epilogue::new()).unwrap();
    for (mnk, pitches) in [
        ([0, 64, 64], [64, 64, 64]),
        ([64, 60, 64], [64, 64, 64]),
        ([64, 64, 64], [63, 64, 64]),
        ([64, 64, 64], [64, 64, 1 << 40]),
    ] {
        let arguments = Arguments { mnk, pitches, ..Arguments::default() };
        texts += &format!("{}\n", kernel.params.values(&arguments).unwrap_err());
    }
    expect![[r#"
        atom = SM80_16x8x16_F32BF16BF16F32_TN with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::K> with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x32_F16E4M3E4M3_SS_TN with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atoms = (2,2):(1,2): (AtomM,1) of 1 to 4 warpgroups along M is accepted
        c_type = s8 with accumulators of f32: f32, f16, bf16, e4m3, e5m2 are accepted
        stages = 1: 2 to 16 are accepted
        mma_promotion_interval = 4: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the 4 MMAs along K of a tile
        mma_promotion_interval = 3: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the 4 MMAs along K of a tile
        a tile of 256 x 256, which takes 288 registers of a thread for accumulators and operands: at most 208 are accepted
        M = 192 of a tile: multiples of 128 from 128 to 1024 are accepted
        N = 96 of a tile: multiples of 64 from 64 to 1024 are accepted
        K = 32 of a tile: multiples of 64 from 64 to 1024 are accepted
        a store of 64 rows at once: multiples of 128 are accepted that divide 128
        a store of 48 columns at once: divisors of 64 are accepted that are the columns of a part of an atom, or of several atoms of 64
        a store of 0 columns at once: divisors of 64 are accepted that are the columns of a part of an atom, or of several atoms of 64
        a store in 3 stages: divisors of the 2 subtiles are accepted
        a store in 0 stages: divisors of the 2 subtiles are accepted
        registers = 40 for the producer and 240 for each of 2 consumers: at most 504 are accepted for a thread of each warpgroup together
        registers = 24 for the producer and 120 for each of 4 consumers: at most 480 are accepted for a thread of each warpgroup together
        a tile of 512 x 64, which takes 128 registers of a thread for accumulators and operands: at most 104 are accepted
        245920 bytes of shared memory for stages, barriers and C: at most 232448 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::K> with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K> with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32F16F16_RS<GMMA::Major::K, GMMA::Major::K> with a mixed input: atoms of bf16 are accepted
        a mixed input of s4: s8, e4m3 are accepted
        scales of f16 of a mixed input: f32, bf16 are accepted
        groups of 192 elements along K with a scale each: multiples of 128 are accepted, the K of a tile
        K = 64 of a tile: multiples of 128 from 128 to 1024 are accepted
        mma_promotion_interval = 4: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the 8 MMAs along K of a tile
        batch = Strided with a mixed input: Single is accepted
        batch = Strided with block scales: Single is accepted
        block scales with SM90::GMMA::MMA_64x64x32_F32E4M3E4M3_SS_TN and mma_promotion_interval = 0: 8-bit floats with an interval are accepted
        granularity = [2, 128, 128] of a tile of [128, 64, 128]: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times as many or a divisor, and along K a multiple of the tile
        granularity = [1, 128, 192] of a tile of [128, 64, 128]: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times as many or a divisor, and along K a multiple of the tile
        granularity = [1, 128, 128] of a tile of [128, 192, 128]: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times as many or a divisor, and along K a multiple of the tile
        multicast = 3 of 64 columns: 1, 2, 4 or 8 blocks are accepted, each of whole swizzles
        multicast = 16 of 64 columns: 1, 2, 4 or 8 blocks are accepted, each of whole swizzles
        multicast = 2 with the schedule SplitK { parts: 2, cluster: 1 }: 1 is accepted if blocks split K
        multicast = 2 with the schedule StreamK { alternate: true }: 1 is accepted if blocks split K
        split-K with 300 splits: 2 to 256 are accepted
        split-K with 4 splits in clusters of 3 blocks: 1, 2, 4 or 8 blocks are accepted that divide the splits
        split-K with 6 splits in clusters of 4 blocks: 1, 2, 4 or 8 blocks are accepted that divide the splits
        store = Tma { tile: [128, 64], stages: 1 } with split-K in clusters: a direct store is accepted
        N = 128 of a tile that 8 blocks of a cluster combine: the columns of one atom are accepted, a multiple of 64 that the blocks share
        254096 bytes of shared memory for stages, barriers and C: at most 232448 are accepted
        m = 0 of a tensor map: multiples of 1 from 1 to 1073741824 elements are accepted
        n = 60 of a tensor map: multiples of 8 from 1 to 1073741824 elements are accepted
        lda = 63 of a tensor map: multiples of 8 from 1 to 1073741824 elements are accepted
        ldc = 1099511627776 of a tensor map: multiples of 8 from 1 to 1073741824 elements are accepted
    "#]].assert_eq(&texts);
}
