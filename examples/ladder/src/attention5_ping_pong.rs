//! Attention 5, ping-pong: one warpgroup copies, and two with 64 queries each multiply in turn. While one has the tensor cores, the other computes exponentials.

use girih::codegen::{algorithm::*, atom::*, attention::Softmax, sync::PingPong, *};
use girih::layout::{Int, Lay, Swizzle, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

use crate::harness::{Rung, SCALE};

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("attention5_ping_pong", 90, 384);
    b.min_blocks(1);
    let sizes = b.symbols(["queries", "keys", "heads"], |s| s.at_least(1).at_most(1 << 15))?;
    let [queries, keys, heads] = sizes.map(Int::symbol);
    let [i, head, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let all = Lay::row_major([heads, queries, Int::fixed(128)])?; // (Head,queries,HeadDim)
    let m_q = Gmem::bounded(b.pointer("q", 16), DType::Bf16, &all)?.slice((&head, Slice::All, Slice::All))?; // (queries,HeadDim)
    let m_o = Gmem::bounded(b.pointer("o", 16), DType::Bf16, &all)?.slice((&head, Slice::All, Slice::All))?; // (queries,HeadDim)
    let g_q = m_q.local_tile(&tiler!("<128,128>"), (&i, Slice::at(0)))?; // (BlockQ,HeadDim)
    let g_o = m_o.local_tile(&tiler!("<128,128>"), (&i, Slice::at(0)))?; // (BlockQ,HeadDim)
    let (global, swizzle) = (Lay::row_major([heads, keys, Int::fixed(128)])?, Swizzle::new(3, 3, 3)?); // (Head,keys,HeadDim)
    let tile = lay!("(1,128,(64,2)):(0,64,(1,8192))"); // (1,BlockK,HeadDim)
    let tma = TmaCopy::new(Transfer::Load, DType::Bf16, &global, &tile, swizzle)?;
    let tiles = tma.tma_tensor()?.local_tile(&tiler!("<1,128,128>"), (&head, Slice::All, Slice::at(0)))?; // (1,BlockK,HeadDim,keys)
    let ring = lay!("(1,128,(64,2),2):(0,64,(1,8192),16384)");
    let s_k = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &ring)?; // (1,BlockK,HeadDim,Stage)
    let s_v = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &ring)?; // (1,BlockK,HeadDim,Stage)
    let s_vt = Tensor::new(s_v.engine().clone(), lay!("((64,2),128,2):((1,8192),64,16384)")); // (HeadDim,BlockK,Stage)

    // A stage has a tile of K and one of V. The producer waits until a thread of each consumer has released it.
    let pipeline = Pipeline::new(&mut b, 2, 2 * 128 * 128 * 2, 2)?;
    let first = Cond::less(&thread, &Expr::from(1));
    b.if_(&first, |b| pipeline.init(b))?;
    fence_barrier_init(&mut b);
    b.barrier();
    let keys = Expr::from_int(&keys);
    let k_tiles = (&keys + 127).div(128)?;
    let (k, v) = ((b.tensor_map("k"), &s_k), (b.tensor_map("v"), &s_v));
    let produce = |b: &mut Builder| {
        b.warpgroup_reg_dealloc(24)?; // the consumers get the registers
        let state = PipelineState::new(b, 2);
        let at = |x: &Expr| (Slice::All, Slice::All, Slice::All, Slice::All, x.clone());
        let load = |b: &mut Builder, tile: &Expr| {
            let stage = state.stage(b);
            pipeline.producer_acquire(b, &stage)?;
            for (map, shared) in [&k, &v] {
                let (from, to) = tma.partition(&tiles, shared)?; // (Box,1,1,2,keys) and (Box,1,1,2,Stage)
                let with = tma.with(map).barrier(pipeline.full(&stage.index)?.address());
                copy(b, with, &from.slice(at(tile))?, &to.slice(at(&stage.index))?)?;
            }
            state.advance(b);
            Ok(())
        };
        b.if_(&first, |b| b.for_range(&k_tiles, load))
    };

    // Two warpgroups multiply 64 x 128 x 16 each at a time: C of S = Q K^T is A of O = P V, and Q and P come from registers.
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = |majors| MmaAtom::wgmma(MmaKind::WgmmaRs, 128, types, majors, Product::Multiply);
    let qk = TiledMma::new(atom([Major::K, Major::K])?, lay!("(2,1,1):(1,0,0)"))?;
    let pv = TiledMma::new(atom([Major::K, Major::Mn])?, lay!("(2,1,1):(1,0,0)"))?;
    let warpgroup = b.canonical_warp_group_idx(&thread)?; // 0 is the producer's
    let consume = |b: &mut Builder| {
        b.warpgroup_reg_alloc(240)?;
        let (number, thread) = (b.bounded(&(&warpgroup + -1), 1)?, thread.rem(128)?);
        let leader = Cond::less(&thread, &Expr::from(1));
        let thread = &(&number * 128) + &thread;
        let mine = qk.get_slice(&thread)?;
        let k_matrix = s_k.slice((Slice::at(0), Slice::All, Slice::All, Slice::All))?; // (BlockK,HeadDim,Stage)
        let tc_dk = mine.partition_descriptor(Operand::B, &k_matrix)?; // (1,1,8,Stage)
        let tc_dv = pv.get_slice(&thread)?.partition_descriptor(Operand::B, &s_vt)?; // (1,1,8,Stage)
        let tc_rq = mine.partition_fragment(b, Operand::A, &g_q)?; // (FrgV,1,8)
        let tc_rs = Rmem::tensor(b, DType::F32, lay!("((2,2,16),1,1):((1,2,4),0,0)"))?; // (FrgV,1,1)
        let tc_rp = Rmem::tensor(b, DType::Bf16, lay!("((2,2,2),1,8):((1,2,4),0,8)"))?; // (FrgV,1,8)
        let tc_ro = mine.partition_fragment(b, Operand::C, &g_o)?; // (FrgV,1,1)
        let places = Tensor::new(Counting::new(2), Lay::identity(lay!("(128,128)").shape())?); // (BlockQ,BlockK)
        let tc_places = mine.partition(Operand::C, &places)?; // (FrgV,1,1) -> (query,key)
        copy(b, CopyWith::from(UNIVERSAL_COPY_32).zero_fill(), &mine.partition(Operand::A, &g_q)?, &tc_rq)?;
        let softmax = Softmax::new(b, &qk, [&tc_places, &tc_places], &Scalar::new(DType::F32, SCALE))?;
        softmax.clear(b).and_then(|()| clear(b, &tc_ro))?;
        let (ping_pong, state) = (PingPong::new(b, &number, 2, 1)?, PipelineState::new(b, 2));
        b.if_(&ping_pong.opens(), |b| ping_pong.signal(b))?;
        b.for_range(&k_tiles, |b, tile| {
            // S = Q K^T, and -inf for keys past the end
            let stage = state.stage(b);
            let at = (Slice::All, Slice::All, Slice::All, &stage.index);
            pipeline.consumer_wait(b, &stage)?;
            ping_pong.wait(b)?;
            warpgroup_arrive(b);
            gemm(b, MmaWith::from(&qk).accumulate(Cond::Never), &tc_rq, &tc_dk.slice(at.clone())?, &tc_rs)?;
            warpgroup_commit_batch(b);
            ping_pong.signal(b)?; // the other warpgroup's MMAs come after these
            warpgroup_wait(b, 0);
            let left = &keys - &(tile * 128);
            b.if_(&Cond::less(&left, &Expr::from(128)), |b| {
                let inside = Predicates::inside(&tc_places, &[Expr::from(128), left.clone()])?;
                fill_outside(b, &tc_rs, &inside, f64::NEG_INFINITY)
            })?;
            softmax.weigh(b, &tc_rs, &tc_ro)?;
            convert(b, &Tensor::new(tc_rs.engine().clone(), *tc_rp.layout()), &tc_rp)?;
            // O = O + P V
            ping_pong.wait(b)?;
            warpgroup_arrive(b);
            gemm(b, &pv, &tc_rp, &tc_dv.slice(at)?, &tc_ro)?;
            warpgroup_commit_batch(b);
            ping_pong.signal(b)?;
            warpgroup_wait(b, 0);
            pipeline.consumer_release(b, &stage, &leader)?;
            state.advance(b);
            Ok(())
        })?;
        b.if_(&ping_pong.closes(), |b| ping_pong.wait(b))?;
        let result: Vec<Scalar> = softmax.quotients(b, &tc_ro)?.iter().map(|o| o.to(DType::Bf16)).collect();
        write(b, &mine.partition(Operand::C, &g_o)?, &result) // (FrgV,1,1)
    };
    b.if_else(&Cond::less(&warpgroup, &Expr::from(1)), produce, consume)?;
    let grid = |[queries, _, heads]: [u32; 3], _| [queries.div_ceil(128), heads, 1];
    let maps = vec![("k", tma.clone()), ("v", tma)];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes, maps, grid })
}
