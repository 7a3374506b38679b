//! GEMM 5, TMA and wgmma: one thread copies whole tiles by TMA, and the warpgroup multiplies them by `wgmma` out of shared memory.

use girih::codegen::algorithm::{
    clear, copy, fence_barrier_init, gemm, transform, warpgroup_arrive, warpgroup_commit_batch,
    warpgroup_wait,
};
use girih::codegen::atom::{Major, MmaAtom, MmaKind, Product, Transfer};
use girih::codegen::{
    Builder, Cond, Error, Expr, Gmem, Operand, Pipeline, PipelineState, Smem, TiledMma, TmaCopy,
};
use girih::layout::{Int, Lay, Swizzle, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice};

use crate::harness::Rung;

const STAGES: i64 = 3;
const STAGE_BYTES: i64 = (128 + 128) * 64 * 2;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm5_tma_wgmma", 90, 128);
    let m = b.symbol("m", |s| s.at_least(1).at_most(1 << 20))?;
    let [n, k] = b.symbols(["n", "k"], |s| s.at_least(8).at_most(1 << 20).divisible_by(8))?; // rows of whole 16 bytes
    let swizzle = Swizzle::new(3, 3, 3)?;
    let tma = |x| {
        TmaCopy::new(Transfer::Load, DType::Bf16, &Lay::row_major([x, k])?, &lay!("(128,64):(64,1)"), swizzle)
    };
    let (tma_a, tma_b) = (tma(m)?, tma(n)?);
    let (map_a, map_b) = (b.tensor_map("a"), b.tensor_map("b"));
    let m_c = Gmem::matrix(&mut b, "c", DType::Bf16, [m, n], n)?; // (m,n)

    // The CTA's tile of C is 128 x 128, and goes along K in tiles of 64.
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let g_a = tma_a.tma_tensor()?.local_tile(&tiler!("<128,64>"), (&i, Slice::All))?; // (BlockM,BlockK,k)
    let g_b = tma_b.tma_tensor()?.local_tile(&tiler!("<128,64>"), (&j, Slice::All))?; // (BlockN,BlockK,k)
    let g_c = m_c.local_tile(&tiler!("<128,128>"), (&i, &j))?; // (BlockM,BlockN)
    let ring = lay!("(128,64,3):(64,1,8192)");
    let s_a = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &ring)?; // (BlockM,BlockK,Stage)
    let s_b = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &ring)?; // (BlockN,BlockK,Stage)

    // Global to shared memory: one thread asks for a whole tile, whose bytes complete the `full` mbarrier of the stage.
    let pipeline = Pipeline::new(&mut b, STAGES, STAGE_BYTES, 1)?;
    let first = Cond::less(&thread, &Expr::from(1));
    b.if_(&first, |b| pipeline.init(b))?;
    fence_barrier_init(&mut b);
    b.barrier();
    let (ta_g, ta_s) = tma_a.partition(&g_a, &s_a)?; // (Box,1,1,k) and (Box,1,1,Stage)
    let (tb_g, tb_s) = tma_b.partition(&g_b, &s_b)?; // (Box,1,1,k) and (Box,1,1,Stage)

    // The product: four warps multiply 64 x 128 x 16 at a time, and read A and B by descriptors.
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 128, types, [Major::K; 2], Product::Multiply)?;
    let mma = TiledMma::new(atom, lay!("(1,1,1):(0,0,0)"))?;
    let warpgroup = mma.get_slice(&Expr::from(0))?; // descriptors are the same for all threads
    let tc_da = warpgroup.partition_descriptor(Operand::A, &s_a)?; // (1,2,4,Stage)
    let tc_db = warpgroup.partition_descriptor(Operand::B, &s_b)?; // (1,1,4,Stage)
    let mine = mma.get_slice(&thread)?;
    let tc_gc = mine.partition(Operand::C, &g_c)?; // (FrgV,2,1)
    let tc_rc = mine.partition_fragment(&mut b, Operand::C, &g_c)?; // (FrgV,2,1)

    let k_tiles = Expr::from_int(&Int::symbol(k).ceil_div(Int::fixed(64))?);
    let at = |x: &Expr| (Slice::All, Slice::All, Slice::All, x.clone());
    let (write, read) = (PipelineState::new(&mut b, STAGES), PipelineState::new(&mut b, STAGES));
    let fetch = |b: &mut Builder, k_tile: &Expr| -> Result<(), Error> {
        b.if_(&Cond::all([first.clone(), Cond::less(k_tile, &k_tiles)]), |b| {
            let stage = write.stage(b);
            pipeline.producer_expect(b, &stage)?;
            let full = pipeline.full(&stage.index)?.address().clone();
            let (load_a, load_b) = (tma_a.with(&map_a), tma_b.with(&map_b));
            copy(b, load_a.barrier(&full), &ta_g.slice(at(k_tile))?, &ta_s.slice(at(&stage.index))?)?;
            copy(b, load_b.barrier(&full), &tb_g.slice(at(k_tile))?, &tb_s.slice(at(&stage.index))?)
        })?;
        write.advance(b);
        Ok(())
    };
    for k_tile in 0..STAGES - 1 {
        fetch(&mut b, &Expr::from(k_tile))?;
    }
    // C_ij = sum_k A_ik B_jk, 64 k at a time
    clear(&mut b, &tc_rc)?;
    b.for_range(&k_tiles, |b, k_tile| {
        let stage = read.stage(b);
        pipeline.consumer_wait(b, &stage)?;
        warpgroup_arrive(b); // the registers of the accumulators are ready
        gemm(b, &mma, &tc_da.slice(at(&stage.index))?, &tc_db.slice(at(&stage.index))?, &tc_rc)?;
        warpgroup_commit_batch(b);
        warpgroup_wait(b, 1); // the MMAs of the tile before, the four warps' together, have read their stage: it can be filled
        fetch(b, &(k_tile + (STAGES - 1)))?;
        read.advance(b);
        Ok(())
    })?;
    warpgroup_wait(&mut b, 0);

    transform(&mut b, &[&tc_rc], &tc_gc, |_, c| Ok(c[0].to(DType::Bf16)))?;

    let grid = |[m, n, _]: [u32; 3], _| [m.div_ceil(128), n.div_ceil(128), 1];
    let maps = vec![("a", tma_a), ("b", tma_b)];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes: [m, n, k], maps, grid })
}
