//! GEMM 2, tiled: the CTA's threads copy tiles of A and B to shared memory, and each multiplies 4 x 4 elements of C from there.

use girih::codegen::algorithm::{CopyWith, clear, copy, gemm};
use girih::codegen::atom::{AUTO_VECTORIZING_COPY, UNIVERSAL_COPY_32, UNIVERSAL_FMA_F32};
use girih::codegen::{Builder, Error, Expr, Gmem, Operand, Smem, TiledCopy, TiledMma};
use girih::layout::{Int, Swizzle, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice};

use crate::harness::Rung;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm2_tiled", 80, 256);
    let sizes @ [m, n, k] = b.symbols(["m", "n", "k"], |s| s.at_least(1).at_most(1 << 20))?;
    let m_a = Gmem::matrix(&mut b, "a", DType::F32, [m, k], k)?; // (m,k)
    let m_b = Gmem::matrix(&mut b, "b", DType::F32, [n, k], k)?; // (n,k)
    let m_c = Gmem::matrix(&mut b, "c", DType::F32, [m, n], n)?; // (m,n)

    // The CTA's tile of C is 64 x 64, and goes along K in tiles of 16.
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let g_a = m_a.local_tile(&tiler!("<64,16>"), (&i, Slice::All))?; // (BlockM,BlockK,k)
    let g_b = m_b.local_tile(&tiler!("<64,16>"), (&j, Slice::All))?; // (BlockN,BlockK,k)
    let g_c = m_c.local_tile(&tiler!("<64,64>"), (&i, &j))?; // (BlockM,BlockN)
    let swizzle = Some(Swizzle::new(2, 2, 3)?); // no bank conflicts
    let s_a = Smem::alloc(&mut b, DType::F32, swizzle, &lay!("(64,16):(16,1)"))?; // (BlockM,BlockK)
    let s_b = Smem::alloc(&mut b, DType::F32, swizzle, &lay!("(64,16):(16,1)"))?; // (BlockN,BlockK)

    // Global to shared memory: 16 x 16 threads with an element each.
    let load = TiledCopy::new(UNIVERSAL_COPY_32, 32, &lay!("(16,16):(16,1)"), &lay!("(1,1):(1,1)"))?;
    let mine = load.get_slice(&thread)?;
    let (ta_g, ta_s) = (mine.partition_s(&g_a)?, mine.partition_d(&s_a)?); // (Val,4,1,k) and (Val,4,1)
    let (tb_g, tb_s) = (mine.partition_s(&g_b)?, mine.partition_d(&s_b)?); // (Val,4,1,k) and (Val,4,1)

    // 16 x 16 threads with a multiply-add each, 4 x 4 times.
    let mma = TiledMma::new(UNIVERSAL_FMA_F32, lay!("(16,16,1):(16,1,0)"))?;
    let mine = mma.get_slice(&thread)?;
    let (tc_sa, tc_sb) = (mine.partition(Operand::A, &s_a)?, mine.partition(Operand::B, &s_b)?); // (1,4,16)
    let tc_gc = mine.partition(Operand::C, &g_c)?; // (1,4,4)
    let tc_ra = mine.partition_fragment(&mut b, Operand::A, &s_a)?; // (1,4,16)
    let tc_rb = mine.partition_fragment(&mut b, Operand::B, &s_b)?; // (1,4,16)
    let tc_rc = mine.partition_fragment(&mut b, Operand::C, &g_c)?; // (1,4,4)

    // C_ij = sum_k A_ik B_jk, 16 k at a time
    clear(&mut b, &tc_rc)?;
    let k_tiles = Expr::from_int(&Int::symbol(k).ceil_div(Int::fixed(16))?);
    b.for_range(&k_tiles, |b, k_tile| {
        let at = (Slice::All, Slice::All, Slice::All, k_tile);
        b.barrier(); // all threads have read the tiles of the iteration before
        copy(b, CopyWith::from(&load).zero_fill(), &ta_g.slice(at.clone())?, &ta_s)?;
        copy(b, CopyWith::from(&load).zero_fill(), &tb_g.slice(at)?, &tb_s)?;
        b.barrier(); // the tiles are complete
        copy(b, AUTO_VECTORIZING_COPY, &tc_sa, &tc_ra)?;
        copy(b, AUTO_VECTORIZING_COPY, &tc_sb, &tc_rb)?;
        gemm(b, &mma, &tc_ra, &tc_rb, &tc_rc)
    })?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &tc_rc, &tc_gc)?;

    let grid = |[m, n, _]: [u32; 3], _| [m.div_ceil(64), n.div_ceil(64), 1];
    Ok(Rung { kernel: b.finish()?, dtype: DType::F32, sizes, maps: Vec::new(), grid })
}
