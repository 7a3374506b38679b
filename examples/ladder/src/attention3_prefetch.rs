//! Attention 3, prefetch: `cp.async` copies the next tiles of K and V to a second stage while the warps multiply those of the first.

use girih::codegen::{algorithm::*, atom::*, *};
use girih::layout::{Int, Lay, Swizzle, Tile, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

use crate::harness::{Rung, SCALE};

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("attention3_prefetch", 80, 128);
    let sizes = b.symbols(["queries", "keys", "heads"], |s| s.at_least(1).at_most(1 << 15))?;
    let [queries, keys, heads] = sizes.map(Int::symbol);
    let [i, head, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let mut tiles = |name, rows, at: Slice<Expr>| -> Result<Tensor<Gmem>, Error> {
        let all = Lay::row_major([heads, rows, Int::fixed(128)])?;
        let all = Gmem::bounded(b.pointer(name, 16), DType::Bf16, &all)?; // (Head,rows,HeadDim)
        let own = all.slice((&head, Slice::All, Slice::All))?; // (rows,HeadDim)
        Ok(own.local_tile(&tiler!("<64,128>"), (at, Slice::at(0)))?)
    };
    let (g_q, g_k) = (tiles("q", queries, Slice::from(&i))?, tiles("k", keys, Slice::All)?); // (BlockQ,HeadDim) and (BlockK,HeadDim,keys)
    let (g_v, g_o) = (tiles("v", keys, Slice::All)?, tiles("o", queries, Slice::from(&i))?); // (BlockK,HeadDim,keys) and (BlockQ,HeadDim)
    let (ring, swizzle) = (lay!("(64,128,2):(128,1,8192)"), Some(Swizzle::new(3, 3, 4)?));
    let s_k = Smem::alloc(&mut b, DType::Bf16, swizzle, &ring)?; // (BlockK,HeadDim,Stage)
    let s_v = Smem::alloc(&mut b, DType::Bf16, swizzle, &ring)?; // (BlockK,HeadDim,Stage)
    let s_vt = Tensor::new(s_v.engine().clone(), lay!("(128,64,2):(1,128,8192)")); // (HeadDim,BlockK,Stage)

    // Global to shared memory: 8 x 16 threads with 8 elements each, which are 16 bytes.
    let load =
        TiledCopy::new(SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, 16, &lay!("(8,16):(16,1)"), &lay!("(1,8):(8,1)"))?;
    let mine = load.get_slice(&thread)?;
    let (tk_g, tk_s) = (mine.partition_s(&g_k)?, mine.partition_d(&s_k)?); // (Val,8,1,keys) and (Val,8,1,Stage)
    let (tv_g, tv_s) = (mine.partition_s(&g_v)?, mine.partition_d(&s_v)?); // (Val,8,1,keys) and (Val,8,1,Stage)
    let at = |x: &Expr| (Slice::All, Slice::All, Slice::All, x.clone());
    let fetch = |b: &mut Builder, tile: &Expr| -> Result<(), Error> {
        let stage = tile.rem(2)?;
        copy(b, &load, &tk_g.slice(at(tile))?, &tk_s.slice(at(&stage))?)?; // rows past the end are zeros
        copy(b, &load, &tv_g.slice(at(tile))?, &tv_s.slice(at(&stage))?)?;
        cp_async_fence(b);
        Ok(())
    };
    fetch(&mut b, &Expr::from(0))?;

    // Warps along the queries, for both products: C of S = Q K^T is A of O = P V.
    let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(4,1,1):(1,0,0)"))?;
    let mma = mma.with_permutation([Tile::All, Tile::Lay(lay!("16:1")), Tile::All]); // (64,16,16)
    let mine = mma.get_slice(&thread)?;
    let tc_rq = mine.partition_fragment(&mut b, Operand::A, &g_q)?; // (FrgV,1,8)
    let tc_rk = Rmem::tensor(&mut b, DType::Bf16, lay!("((2,2),8):((1,2),4)"))?; // (FrgV,8)
    let tc_rv = Rmem::tensor(&mut b, DType::Bf16, lay!("((2,2),16):((1,2),4)"))?; // (FrgV,16)
    let tc_rs = Rmem::tensor(&mut b, DType::F32, lay!("((2,2),1,8):((1,2),0,4)"))?; // (FrgV,1,8)
    let tc_rp = Rmem::tensor(&mut b, DType::Bf16, lay!("((2,2,2),1,4):((1,2,4),0,8)"))?; // (FrgV,1,4)
    let tc_go = mine.partition(Operand::C, &g_o)?; // (FrgV,1,16)
    let tc_ro = mine.partition_fragment(&mut b, Operand::C, &g_o)?; // (FrgV,1,16)
    let places = Tensor::new(Counting::new(2), Lay::identity(lay!("(64,64)").shape())?); // (BlockQ,BlockK)
    let tc_places = mine.partition(Operand::C, &places)?; // (FrgV,1,8) -> (query,key)

    // Shared memory to registers, 16 columns of K or 16 keys of V at a time. Q stays in registers.
    let read_k = TiledCopy::of_mma(SM75_U32X4_LDSM_N, 16, &mma, Operand::B)?;
    let read_v = TiledCopy::of_mma(SM75_U16X8_LDSM_T, 16, &mma, Operand::B)?;
    let ts_k = read_k.get_slice(&thread)?.partition_s(&s_k)?; // (Val,4,8,Stage)
    let ts_v = read_v.get_slice(&thread)?.partition_s(&s_vt)?; // (Val,8,4,Stage)
    copy(&mut b, CopyWith::from(UNIVERSAL_COPY_32).zero_fill(), &mine.partition(Operand::A, &g_q)?, &tc_rq)?;

    // For each of the thread's two rows the maximum of the scores, and the thread's part of the sum of exponentials.
    clear(&mut b, &tc_ro)?;
    let begin = [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0, 0.0].map(|x| Scalar::new(DType::F32, x));
    let row = |i: usize| ((Slice::All, Slice::<Expr>::at(i as i64)), Slice::All, Slice::All);
    let block = |at: i64| (Slice::All, Slice::All, Slice::<Expr>::at(at));
    let block_of = |at: i64, stage: &Expr| (Slice::All, Slice::All, Slice::at(at), stage.clone());
    let keys = Expr::from_int(&keys);
    let [.., l0, l1] = b.fold_range(&(&keys + 63).div(64)?, begin, |b, tile, before| {
        cp_async_wait(b, 0); // the thread's copies of this tile have arrived,
        b.barrier(); // and those of all threads, which have read the tile before
        fetch(b, &(tile + 1))?;
        let stage = tile.rem(2)?;

        // S = Q K^T, and -inf for keys past the end
        clear(b, &tc_rs)?;
        for at in 0..8 {
            copy(b, &read_k, &ts_k.slice(block_of(at, &stage))?, &tc_rk)?;
            gemm(b, &mma, &tc_rq.slice(block(at))?, &tc_rk, &tc_rs)?;
        }
        let left = &keys - &(tile * 64);
        b.if_(&Cond::less(&left, &Expr::from(64)), |b| {
            let inside = Predicates::inside(&tc_places, &[Expr::from(64), left.clone()])?;
            fill_outside(b, &tc_rs, &inside, f64::NEG_INFINITY)
        })?;
        // m' = max(m, max_j s_j), p_j = 2^(s_j - m'), f = 2^(m - m'), l' = f l + sum_j p_j, o' = f o
        let mut after = before.clone();
        for i in 0..2 {
            let (s, o) = (tc_rs.slice(row(i))?, tc_ro.slice(row(i))?); // (2,1,8) and (2,1,16)
            let m = reduce(b, &s, before[i].clone(), |_, m, s| Ok(m.max(s)))?;
            after[i] = lane_reduce(b, &m, &[1, 2], |x, y| x.max(y))?; // four lanes share a row
            let f = b.hold(&((&before[i] - &after[i]) * SCALE).exp2_ftz())?;
            let shift = b.hold(&(&after[i] * -SCALE))?;
            transform(b, &[&s], &s, |_, s| Ok(s[0].mul_add(SCALE, &shift).exp2_ftz()))?;
            transform(b, &[&o], &o, |_, o| Ok(&o[0] * &f))?;
            after[2 + i] = reduce(b, &s, &before[2 + i] * &f, |_, l, p| Ok(l + p))?;
        }
        convert(b, &Tensor::new(tc_rs.engine().clone(), *tc_rp.layout()), &tc_rp)?;
        // O = O + P V
        for at in 0..4 {
            copy(b, &read_v, &ts_v.slice(block_of(at, &stage))?, &tc_rv)?;
            gemm(b, &mma, &tc_rp.slice(block(at))?, &tc_rv, &tc_ro)?;
        }
        Ok(after)
    })?;
    for (i, l) in [l0, l1].iter().enumerate() {
        let l = lane_reduce(&mut b, l, &[1, 2], |x, y| x + y)?;
        let inverse = b.hold(&l.recip_approx())?;
        let scaled = |_: &mut Builder, o: &[Scalar]| Ok((&o[0] * &inverse).to(DType::Bf16));
        transform(&mut b, &[&tc_ro.slice(row(i))?], &tc_go.slice(row(i))?, scaled)?;
    }

    let grid = |[queries, _, heads]: [u32; 3], _| [queries.div_ceil(64), heads, 1];
    Ok(Rung { kernel: b.finish()?, dtype: DType::Bf16, sizes, maps: Vec::new(), grid })
}
