//! GEMM 4, tensor cores: warps multiply bf16 by `mma.sync` from fragments that `ldmatrix` reads, while `cp.async` fills a ring of stages ahead.

use girih::codegen::algorithm::{
    clear, copy, cp_async_fence, cp_async_wait, cp_async_wait_all, gemm, transform,
};
use girih::codegen::atom::{
    SM75_U32X4_LDSM_N, SM80_16X8X16_F32BF16BF16F32_TN, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16,
};
use girih::codegen::{Builder, Error, Expr, Gmem, Operand, Smem, TiledCopy, TiledMma};
use girih::layout::{Int, Swizzle, Tile, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice};

use crate::harness::Rung;

const STAGES: i64 = 4;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm4_mma", 80, 128);
    let m = b.symbol("m", |s| s.at_least(1).at_most(1 << 20))?;
    let [n, k] = b.symbols(["n", "k"], |s| s.at_least(1).at_most(1 << 20).divisible_by(8))?; // rows of whole 16 bytes
    let m_a = Gmem::matrix(&mut b, "a", DType::Bf16, [m, k], k)?; // (m,k)
    let m_b = Gmem::matrix(&mut b, "b", DType::Bf16, [n, k], k)?; // (n,k)
    let m_c = Gmem::matrix(&mut b, "c", DType::Bf16, [m, n], n)?; // (m,n)

    // The CTA's tile of C is 128 x 128, and goes along K in tiles of 32.
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let g_a = m_a.local_tile(&tiler!("<128,32>"), (&i, Slice::All))?; // (BlockM,BlockK,k)
    let g_b = m_b.local_tile(&tiler!("<128,32>"), (&j, Slice::All))?; // (BlockN,BlockK,k)
    let g_c = m_c.local_tile(&tiler!("<128,128>"), (&i, &j))?; // (BlockM,BlockN)
    let (ring, swizzle) = (lay!("(128,32,4):(32,1,4096)"), Some(Swizzle::new(2, 3, 3)?));
    let s_a = Smem::alloc(&mut b, DType::Bf16, swizzle, &ring)?; // (BlockM,BlockK,Stage)
    let s_b = Smem::alloc(&mut b, DType::Bf16, swizzle, &ring)?; // (BlockN,BlockK,Stage)

    // Global to shared memory: 32 x 4 threads with 8 elements each, which are 16 bytes.
    let load =
        TiledCopy::new(SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, 16, &lay!("(32,4):(4,1)"), &lay!("(1,8):(8,1)"))?;
    let mine = load.get_slice(&thread)?;
    let (ta_g, ta_s) = (mine.partition_s(&g_a)?, mine.partition_d(&s_a)?); // (Val,4,1,k) and (Val,4,1,Stage)
    let (tb_g, tb_s) = (mine.partition_s(&g_b)?, mine.partition_d(&s_b)?); // (Val,4,1,k) and (Val,4,1,Stage)

    // 2 x 2 warps with an MMA of 16 x 8 x 16 each; two along N at a time are what one `ldmatrix` reads.
    let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1):(1,2,0)"))?.with_permutation([
        Tile::All,
        Tile::Lay(lay!("32:1")),
        Tile::All,
    ]); // (32,32,16)
    let mine = mma.get_slice(&thread)?;
    let one = (Slice::All, Slice::All, Slice::<Expr>::at(0));
    let tc_ra = mine.partition_fragment(&mut b, Operand::A, &s_a.slice(one.clone())?)?; // (FrgV,4,2)
    let tc_rb = mine.partition_fragment(&mut b, Operand::B, &s_b.slice(one)?)?; // (FrgV,8,2)
    let tc_gc = mine.partition(Operand::C, &g_c)?; // (FrgV,4,8)
    let tc_rc = mine.partition_fragment(&mut b, Operand::C, &g_c)?; // (FrgV,4,8)

    // Shared memory to registers, in the order in which the MMA takes its fragments.
    let read_a = TiledCopy::of_mma(SM75_U32X4_LDSM_N, 16, &mma, Operand::A)?;
    let read_b = TiledCopy::of_mma(SM75_U32X4_LDSM_N, 16, &mma, Operand::B)?;
    let (mine_a, mine_b) = (read_a.get_slice(&thread)?, read_b.get_slice(&thread)?);
    let (ts_a, ts_b) = (mine_a.partition_s(&s_a)?, mine_b.partition_s(&s_b)?); // (Val,4,2,Stage) and (Val,4,2,Stage)
    let (tr_a, tr_b) = (mine_a.retile_d(&tc_ra)?, mine_b.retile_d(&tc_rb)?); // (Val,4,2) and (Val,4,2)

    let at = |x: &Expr| (Slice::All, Slice::All, Slice::All, x.clone());
    let fetch = |b: &mut Builder, k_tile: &Expr| -> Result<(), Error> {
        let stage = k_tile.rem(STAGES)?;
        copy(b, &load, &ta_g.slice(at(k_tile))?, &ta_s.slice(at(&stage))?)?; // tiles past the end are zeros
        copy(b, &load, &tb_g.slice(at(k_tile))?, &tb_s.slice(at(&stage))?)?;
        cp_async_fence(b);
        Ok(())
    };
    for k_tile in 0..STAGES - 1 {
        fetch(&mut b, &Expr::from(k_tile))?;
    }
    // C_ij = sum_k A_ik B_jk, 32 k at a time
    clear(&mut b, &tc_rc)?;
    let k_tiles = Expr::from_int(&Int::symbol(k).ceil_div(Int::fixed(32))?);
    b.for_range(&k_tiles, |b, k_tile| {
        cp_async_wait(b, STAGES as u32 - 2); // the thread's copies of this tile have arrived,
        b.barrier(); // and those of all threads, which have read the stage that is filled next
        fetch(b, &(k_tile + (STAGES - 1)))?;
        let stage = k_tile.rem(STAGES)?;
        copy(b, &read_a, &ts_a.slice(at(&stage))?, &tr_a)?;
        copy(b, &read_b, &ts_b.slice(at(&stage))?, &tr_b)?;
        gemm(b, &mma, &tc_ra, &tc_rb, &tc_rc)
    })?;
    cp_async_wait_all(&mut b);

    transform(&mut b, &[&tc_rc], &tc_gc, |_, c| Ok(c[0].to(DType::Bf16)))?;

    let grid = |[m, n, _]: [u32; 3], _| [m.div_ceil(128), n.div_ceil(128), 1];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes: [m, n, k], maps: Vec::new(), grid })
}
