//! GEMM 6, warp-specialised: one warpgroup only copies, and two only multiply, 64 rows of a tile of 128 x 256 each.

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
const STAGE_BYTES: i64 = (128 + 256) * 64 * 2;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm6_warp_specialised", 90, 384);
    b.min_blocks(1);
    let m = b.symbol("m", |s| s.at_least(1).at_most(1 << 20))?;
    let [n, k] = b.symbols(["n", "k"], |s| s.at_least(8).at_most(1 << 20).divisible_by(8))?; // rows of whole 16 bytes
    let swizzle = Swizzle::new(3, 3, 3)?;
    let tma = |x, tile| TmaCopy::new(Transfer::Load, DType::Bf16, &Lay::row_major([x, k])?, &tile, swizzle);
    let (tma_a, tma_b) = (tma(m, lay!("(128,64):(64,1)"))?, tma(n, lay!("(256,64):(64,1)"))?);
    let (map_a, map_b) = (b.tensor_map("a"), b.tensor_map("b"));
    let m_c = Gmem::matrix(&mut b, "c", DType::Bf16, [m, n], n)?; // (m,n)

    // The CTA's tile of C is 128 x 256, and goes along K in tiles of 64.
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let g_a = tma_a.tma_tensor()?.local_tile(&tiler!("<128,64>"), (&i, Slice::All))?; // (BlockM,BlockK,k)
    let g_b = tma_b.tma_tensor()?.local_tile(&tiler!("<256,64>"), (&j, Slice::All))?; // (BlockN,BlockK,k)
    let g_c = m_c.local_tile(&tiler!("<128,256>"), (&i, &j))?; // (BlockM,BlockN)
    let s_a = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &lay!("(128,64,3):(64,1,8192)"))?; // (BlockM,BlockK,Stage)
    let s_b = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &lay!("(256,64,3):(64,1,16384)"))?; // (BlockN,BlockK,Stage)
    let (ta_g, ta_s) = tma_a.partition(&g_a, &s_a)?; // (Box,1,1,k) and (Box,1,1,Stage)
    let (tb_g, tb_s) = tma_b.partition(&g_b, &s_b)?; // (Box,1,1,k) and (Box,1,1,Stage)

    // The producer waits for the `empty` mbarrier of a stage, at which a thread of each consumer arrives.
    let pipeline = Pipeline::new(&mut b, STAGES, STAGE_BYTES, 2)?;
    let first = Cond::less(&thread, &Expr::from(1));
    b.if_(&first, |b| pipeline.init(b))?;
    fence_barrier_init(&mut b);
    b.barrier();
    let k_tiles = Expr::from_int(&Int::symbol(k).ceil_div(Int::fixed(64))?);
    let at = |x: &Expr| (Slice::All, Slice::All, Slice::All, x.clone());
    let produce = |b: &mut Builder| {
        b.warpgroup_reg_dealloc(40)?; // the consumers get the registers
        let state = PipelineState::new(b, STAGES);
        let load = |b: &mut Builder, k_tile: &Expr| {
            let stage = state.stage(b);
            pipeline.producer_acquire(b, &stage)?;
            let full = pipeline.full(&stage.index)?.address().clone();
            let (load_a, load_b) = (tma_a.with(&map_a), tma_b.with(&map_b));
            copy(b, load_a.barrier(&full), &ta_g.slice(at(k_tile))?, &ta_s.slice(at(&stage.index))?)?;
            copy(b, load_b.barrier(&full), &tb_g.slice(at(k_tile))?, &tb_s.slice(at(&stage.index))?)?;
            state.advance(b);
            Ok(())
        };
        b.if_(&first, |b| b.for_range(&k_tiles, load))
    };

    // The product: two warpgroups along M multiply 64 x 256 x 16 each at a time.
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 256, types, [Major::K; 2], Product::Multiply)?;
    let mma = TiledMma::new(atom, lay!("(2,1,1):(1,0,0)"))?;
    let warpgroup = b.canonical_warp_group_idx(&thread)?; // 0 is the producer's
    let consume = |b: &mut Builder| {
        b.warpgroup_reg_alloc(232)?;
        let number = b.bounded(&(&warpgroup + -1), 1)?;
        let thread = thread.rem(128)?;
        let all = mma.get_slice(&(&number * 128))?; // descriptors are the same for all threads of a warpgroup
        let tc_da = all.partition_descriptor(Operand::A, &s_a)?; // (1,1,4,Stage)
        let tc_db = all.partition_descriptor(Operand::B, &s_b)?; // (1,1,4,Stage)
        let mine = mma.get_slice(&(&(&number * 128) + &thread))?;
        let tc_rc = mine.partition_fragment(b, Operand::C, &g_c)?; // (FrgV,1,1)
        let (state, before) = (PipelineState::new(b, STAGES), PipelineState::behind(b, STAGES));

        // C_ij = sum_k A_ik B_jk, 64 k at a time
        clear(b, &tc_rc)?;
        b.for_range(&k_tiles, |b, k_tile| {
            let stage = state.stage(b);
            pipeline.consumer_wait(b, &stage)?;
            warpgroup_arrive(b); // the registers of the accumulators are ready
            gemm(b, &mma, &tc_da.slice(at(&stage.index))?, &tc_db.slice(at(&stage.index))?, &tc_rc)?;
            warpgroup_commit_batch(b);
            warpgroup_wait(b, 1); // the MMAs of the tile before have read their stage
            let releases = [Cond::less(&thread, &Expr::from(1)), Cond::less(&Expr::from(0), k_tile)];
            let read = before.stage(b);
            pipeline.consumer_release(b, &read, &Cond::all(releases))?;
            state.advance(b);
            before.advance(b);
            Ok(())
        })?;
        warpgroup_wait(b, 0);
        transform(b, &[&tc_rc], &mine.partition(Operand::C, &g_c)?, |_, c| Ok(c[0].to(DType::Bf16)))
    };
    b.if_else(&Cond::less(&warpgroup, &Expr::from(1)), produce, consume)?;

    let grid = |[m, n, _]: [u32; 3], _| [m.div_ceil(128), n.div_ceil(256), 1];
    let maps = vec![("a", tma_a), ("b", tma_b)];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes: [m, n, k], maps, grid })
}
