//! GEMM 8, persistent: one CTA for each SM iterates over tiles of C, and TMA stores a tile while the next one is copied and multiplied.
//! The producer and the consumers are those of GEMM 7, which the library has as `WarpSpecialized`.

use girih::codegen::algorithm::{convert, copy, fence_proxy_async, tma_store_arrive, tma_store_wait};
use girih::codegen::atom::{Major, MmaAtom, MmaKind, Product, SM90_U32X4_STSM_N, Transfer};
use girih::codegen::gemm::{Consumer, Feed, Producer, WarpSpecialized, k_tiles};
use girih::codegen::{Builder, Error, Expr, Operand, Rmem, Smem, TiledCopy, TiledMma, TmaCopy};
use girih::layout::{Int, Lay, Swizzle, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice};

use crate::harness::Rung;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm8_persistent", 90, 384);
    b.min_blocks(1);
    b.cluster([2, 1, 1]);
    let m = b.symbol("m", |s| s.at_least(1).at_most(1 << 20))?;
    let [n, k] = b.symbols(["n", "k"], |s| s.at_least(8).at_most(1 << 20).divisible_by(8))?; // rows of whole 16 bytes

    // Tiles of C are 128 x 256, and go along K in tiles of 64. Two warpgroups along M multiply 64 x 256 x 16 each at a time.
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 256, types, [Major::K; 2], Product::Multiply)?;
    let mainloop = WarpSpecialized {
        atom,
        atoms: lay!("(2,1):(1,0)"),
        teams: 1,
        stages: 3,
        registers: [40, 232],
        multicast: 2,
        mma_promotion_interval: 0,
        mixed_input: None,
        block_scales: None,
    };
    let mainloop = mainloop.mainloop([128, 256, 64])?;
    let stages = mainloop.stages(&mut b)?;
    let tma_a = mainloop.tma_copy(Operand::A, &Lay::row_major([m, k])?)?;
    let tma_b = mainloop.tma_copy(Operand::B, &Lay::row_major([n, k])?)?;
    let feeds =
        [("a", &tma_a), ("b", &tma_b)].map(|(name, tma)| Feed { copy: tma.clone(), map: b.tensor_map(name) });

    // C goes through shared memory, where the rows of a warpgroup are together.
    let swizzle = Swizzle::new(3, 3, 3)?;
    let s_c = lay!("((64,2),(64,4)):((64,16384),(1,4096))");
    let s_c = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &s_c)?; // (BlockM,BlockN)
    let (rows, map_c) = (lay!("(64,(64,4)):(64,(1,4096))"), b.tensor_map("c"));
    let tma_c = TmaCopy::new(Transfer::Store, DType::Bf16, &Lay::row_major([m, n])?, &rows, swizzle)?;
    let mma = TiledMma::new(atom, lay!("(2,1,1):(1,0,0)"))?;
    let store = TiledCopy::of_mma(SM90_U32X4_STSM_N, 16, &mma, Operand::C)?;

    // The CTAs of a cluster have neighbouring numbers. In the order of tiles, those of a pair along M are neighbours too.
    let [cta, ctas] =
        [Special::CtaidX, Special::NctaidX].map(|at| b.special(at).minimum(&Expr::from(1 << 20)));
    let [pairs_m, tiles_n] = [(m, 256), (n, 256)].map(|(x, tile)| Int::symbol(x).ceil_div(Int::fixed(tile)));
    let (pairs_m, tiles_n) = (Expr::from_int(&pairs_m?), Expr::from_int(&tiles_n?));
    let tiles = b.bounded(&(&(&pairs_m * &tiles_n) * 2), 1 << 25)?;
    let place = |b: &mut Builder, tile: &Expr| -> Result<(Expr, Expr), Error> {
        let (pair, j) = b.div_rem(&tile.div(2)?, &tiles_n)?;
        Ok((&(&pair * 2) + &tile.rem(2)?, j))
    };
    let k_tiles = k_tiles(&Expr::from_int(&Int::symbol(k)), 64)?;

    let produce = |b: &mut Builder, producer: &Producer<'_>| {
        b.for_steps(&cta, &tiles, &ctas, |b, tile| {
            let (i, j) = place(b, tile)?;
            producer.load(b, [&[i], &[j]], k_tiles.clone(), &Expr::from(0))
        })
    };
    let consume = |b: &mut Builder, consumer: &Consumer<'_>| {
        let (number, leader) = (consumer.group(), consumer.leader());
        let mine = store.get_slice(&(&(number * 128) + consumer.thread()))?;
        let ts_c = mine.partition_d(&s_c)?; // ((Val,RestVal),1,1)
        b.for_steps(&cta, &tiles, &ctas, |b, tile| {
            // C_ij = sum_k A_ik B_jk, 64 k at a time
            let (i, j) = place(b, tile)?;
            let tc_rc = &consumer.multiply(b, [&i, &j], &k_tiles.end)?.values; // (FrgV,1,1)

            // Once the store of the tile before has read shared memory, the accumulators go there, and from there to C.
            b.if_(leader, |b| {
                tma_store_wait(b, 0);
                Ok(())
            })?;
            b.named_barrier_sync(&(number + 1), 128)?;
            let rounded = Rmem::tensor(b, DType::Bf16, *tc_rc.layout())?; // (FrgV,1,1)
            convert(b, tc_rc, &rounded)?;
            copy(b, &store, &mine.retile_s(&rounded)?, &ts_c)?;
            fence_proxy_async(b);
            b.named_barrier_sync(&(number + 1), 128)?;
            b.if_(leader, |b| {
                let g_c = tma_c.tma_tensor()?.local_tile(&tiler!("<64,256>"), (&(&i * 2) + number, &j))?; // (64,BlockN)
                let (tc_g, tc_s) = tma_c.partition(&g_c, &s_c.slice(((Slice::All, number), Slice::All))?)?; // (Box,1,4)
                copy(b, tma_c.with(&map_c), &tc_s, &tc_g)?;
                tma_store_arrive(b);
                Ok(())
            })
        })?;
        b.if_(leader, |b| {
            tma_store_wait(b, 0);
            Ok(())
        })
    };
    mainloop.emit(&mut b, stages, feeds, produce, consume)?;

    let grid = |[m, n, _]: [u32; 3], sms: u32| [(sms & !1).min(2 * m.div_ceil(256) * n.div_ceil(256)), 1, 1];
    let maps = vec![("a", tma_a), ("b", tma_b), ("c", tma_c)];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes: [m, n, k], maps, grid })
}
