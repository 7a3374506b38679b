//! Attention 4, TMA and wgmma: one thread copies tiles of K and V by TMA, and the warpgroup multiplies them by `wgmma` out of shared memory.

use girih::codegen::{algorithm::*, atom::*, attention::Softmax, *};
use girih::layout::{Int, Lay, Swizzle, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

use crate::harness::{Rung, SCALE};

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("attention4_tma_wgmma", 90, 128);
    let sizes = b.symbols(["queries", "keys", "heads"], |s| s.at_least(1).at_most(1 << 15))?;
    let [queries, keys, heads] = sizes.map(Int::symbol);
    let [i, head, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let all = Lay::row_major([heads, queries, Int::fixed(128)])?; // (Head,queries,HeadDim)
    let m_q = Gmem::bounded(b.pointer("q", 16), DType::Bf16, &all)?.slice((&head, Slice::All, Slice::All))?; // (queries,HeadDim)
    let m_o = Gmem::bounded(b.pointer("o", 16), DType::Bf16, &all)?.slice((&head, Slice::All, Slice::All))?; // (queries,HeadDim)
    let g_q = m_q.local_tile(&tiler!("<64,128>"), (&i, Slice::at(0)))?; // (BlockQ,HeadDim)
    let g_o = m_o.local_tile(&tiler!("<64,128>"), (&i, Slice::at(0)))?; // (BlockQ,HeadDim)
    let (global, swizzle) = (Lay::row_major([heads, keys, Int::fixed(128)])?, Swizzle::new(3, 3, 3)?); // (Head,keys,HeadDim)
    let shared = lay!("(1,128,(64,2)):(0,64,(1,8192))"); // (1,BlockK,HeadDim)
    let tma = TmaCopy::new(Transfer::Load, DType::Bf16, &global, &shared, swizzle)?;
    let tiles = tma.tma_tensor()?.local_tile(&tiler!("<1,128,128>"), (&head, Slice::All, Slice::at(0)))?; // (1,BlockK,HeadDim,keys)
    let s_k = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &shared)?; // (1,BlockK,HeadDim)
    let s_v = Smem::alloc(&mut b, DType::Bf16, Some(swizzle), &shared)?; // (1,BlockK,HeadDim)
    let s_vt = Tensor::new(s_v.engine().clone(), lay!("((64,2),128):((1,8192),64)")); // (HeadDim,BlockK)

    // Global to shared memory: one thread asks for a whole tile. K and V have a stage each, which is filled while the other one is read.
    let first = Cond::less(&thread, &Expr::from(1));
    let [of_k, of_v] = [(); 2].map(|()| Pipeline::new(&mut b, 1, 128 * 128 * 2, 1));
    let (of_k, of_v) = (of_k?, of_v?);
    b.if_(&first, |b| of_k.init(b).and_then(|()| of_v.init(b)))?;
    fence_barrier_init(&mut b);
    b.barrier();
    let keys = Expr::from_int(&keys);
    let k_tiles = (&keys + 127).div(128)?;
    let (k, v) = ((&of_k, b.tensor_map("k"), &s_k), (&of_v, b.tensor_map("v"), &s_v));
    let stage =
        |tile: &Expr| -> Result<Stage, Error> { Ok(Stage { index: Expr::from(0), phase: tile.rem(2)? }) };
    let fetch = |b: &mut Builder, (pipeline, map, shared): &(&Pipeline, Expr, &Tensor<Smem>), tile: &Expr| {
        let (from, to) = tma.partition(&tiles, shared)?; // (Box,1,1,2,keys) and (Box,1,1,2)
        b.if_(&Cond::all([first.clone(), Cond::less(tile, &k_tiles)]), |b| {
            pipeline.producer_expect(b, &stage(tile)?)?;
            let with = tma.with(map).barrier(pipeline.full(&Expr::from(0))?.address());
            copy(b, with, &from.slice((Slice::All, Slice::All, Slice::All, Slice::All, tile))?, &to)
        })
    };
    fetch(&mut b, &k, &Expr::from(0))?;
    fetch(&mut b, &v, &Expr::from(0))?;

    // Four warps multiply 64 x 128 x 16 at a time: C of S = Q K^T is A of O = P V, and Q and P come from registers.
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = |majors| MmaAtom::wgmma(MmaKind::WgmmaRs, 128, types, majors, Product::Multiply);
    let qk = TiledMma::new(atom([Major::K, Major::K])?, lay!("(1,1,1):(0,0,0)"))?;
    let pv = TiledMma::new(atom([Major::K, Major::Mn])?, lay!("(1,1,1):(0,0,0)"))?;
    let k_matrix = s_k.slice((Slice::at(0), Slice::All, Slice::All))?; // (BlockK,HeadDim)
    let mine = qk.get_slice(&thread)?;
    let tc_dk = mine.partition_descriptor(Operand::B, &k_matrix)?; // (1,1,8)
    let tc_dv = pv.get_slice(&thread)?.partition_descriptor(Operand::B, &s_vt)?; // (1,1,8)
    let tc_rq = mine.partition_fragment(&mut b, Operand::A, &g_q)?; // (FrgV,1,8)
    let tc_rs = Rmem::tensor(&mut b, DType::F32, lay!("((2,2,16),1,1):((1,2,4),0,0)"))?; // (FrgV,1,1)
    let tc_rp = Rmem::tensor(&mut b, DType::Bf16, lay!("((2,2,2),1,8):((1,2,4),0,8)"))?; // (FrgV,1,8)
    let tc_go = mine.partition(Operand::C, &g_o)?; // (FrgV,1,1)
    let tc_ro = mine.partition_fragment(&mut b, Operand::C, &g_o)?; // (FrgV,1,1)
    let places = Tensor::new(Counting::new(2), Lay::identity(lay!("(64,128)").shape())?); // (BlockQ,BlockK)
    let tc_places = mine.partition(Operand::C, &places)?; // (FrgV,1,1) -> (query,key)
    copy(&mut b, CopyWith::from(UNIVERSAL_COPY_32).zero_fill(), &mine.partition(Operand::A, &g_q)?, &tc_rq)?;

    // From here on, the softmax of attention 2 is the library's `Softmax`.
    let softmax = Softmax::new(&mut b, &qk, [&tc_places, &tc_places], &Scalar::new(DType::F32, SCALE))?;
    softmax.clear(&mut b)?;
    clear(&mut b, &tc_ro)?;
    b.for_range(&k_tiles, |b, tile| {
        // S = Q K^T, and -inf for keys past the end
        of_k.consumer_wait(b, &stage(tile)?)?;
        warpgroup_arrive(b);
        gemm(b, MmaWith::from(&qk).accumulate(Cond::Never), &tc_rq, &tc_dk, &tc_rs)?;
        warpgroup_commit_batch(b);
        warpgroup_wait(b, 0); // `wgmma` is the four warps' together: where one has waited, all have read K
        fetch(b, &k, &(tile + 1))?;
        let left = &keys - &(tile * 128);
        b.if_(&Cond::less(&left, &Expr::from(128)), |b| {
            let inside = Predicates::inside(&tc_places, &[Expr::from(64), left.clone()])?;
            fill_outside(b, &tc_rs, &inside, f64::NEG_INFINITY)
        })?;
        softmax.weigh(b, &tc_rs, &tc_ro)?;
        convert(b, &Tensor::new(tc_rs.engine().clone(), *tc_rp.layout()), &tc_rp)?;
        // O = O + P V
        of_v.consumer_wait(b, &stage(tile)?)?;
        warpgroup_arrive(b);
        gemm(b, &pv, &tc_rp, &tc_dv, &tc_ro)?;
        warpgroup_commit_batch(b);
        warpgroup_wait(b, 0); // and V
        fetch(b, &v, &(tile + 1))
    })?;
    let result: Vec<Scalar> = softmax.quotients(&mut b, &tc_ro)?.iter().map(|o| o.to(DType::Bf16)).collect();
    write(&mut b, &tc_go, &result)?;

    let grid = |[queries, _, heads]: [u32; 3], _| [queries.div_ceil(64), heads, 1];
    let maps = vec![("k", tma.clone()), ("v", tma)];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes, maps, grid })
}
