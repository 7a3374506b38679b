//! GEMM 3, vectorised: every copy moves 16 bytes, and a thread multiplies 8 x 8 elements of C, so that each value that it reads is used 8 times.

use girih::codegen::algorithm::{CopyWith, clear, copy, gemm};
use girih::codegen::atom::{AUTO_VECTORIZING_COPY, UNIVERSAL_COPY_128, UNIVERSAL_FMA_F32};
use girih::codegen::{Builder, Error, Expr, Gmem, Operand, Smem, TiledCopy, TiledMma};
use girih::layout::{Int, Swizzle, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

use crate::harness::Rung;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm3_vectorised", 80, 256);
    let [m, n] = b.symbols(["m", "n"], |s| s.at_least(1).at_most(1 << 20))?;
    let k = b.symbol("k", |s| s.at_least(1).at_most(1 << 20).divisible_by(4))?; // rows of whole 16 bytes
    let m_a = Gmem::matrix(&mut b, "a", DType::F32, [m, k], k)?; // (m,k)
    let m_b = Gmem::matrix(&mut b, "b", DType::F32, [n, k], k)?; // (n,k)
    let m_c = Gmem::matrix(&mut b, "c", DType::F32, [m, n], n)?; // (m,n)

    // The CTA's tile of C is 128 x 128, and goes along K in tiles of 16.
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let g_a = m_a.local_tile(&tiler!("<128,16>"), (&i, Slice::All))?; // (BlockM,BlockK,k)
    let g_b = m_b.local_tile(&tiler!("<128,16>"), (&j, Slice::All))?; // (BlockN,BlockK,k)
    let g_c = m_c.local_tile(&tiler!("<128,128>"), (&i, &j))?; // (BlockM,BlockN)
    let swizzle = Some(Swizzle::new(2, 2, 3)?); // no bank conflicts
    let s_a = Smem::alloc(&mut b, DType::F32, swizzle, &lay!("(128,16):(16,1)"))?; // (BlockM,BlockK)
    let s_b = Smem::alloc(&mut b, DType::F32, swizzle, &lay!("(128,16):(16,1)"))?; // (BlockN,BlockK)

    // Global to shared memory: 64 x 4 threads with 4 elements each, which are 16 bytes.
    let load = TiledCopy::new(UNIVERSAL_COPY_128, 32, &lay!("(64,4):(4,1)"), &lay!("(1,4):(4,1)"))?;
    let mine = load.get_slice(&thread)?;
    let (ta_g, ta_s) = (mine.partition_s(&g_a)?, mine.partition_d(&s_a)?); // (Val,2,1,k) and (Val,2,1)
    let (tb_g, tb_s) = (mine.partition_s(&g_b)?, mine.partition_d(&s_b)?); // (Val,2,1,k) and (Val,2,1)

    // 16 x 16 threads with a multiply-add each, 8 x 8 times. Fragments of 4 columns at a time fit the registers.
    let mma = TiledMma::new(UNIVERSAL_FMA_F32, lay!("(16,16,1):(16,1,0)"))?;
    let mine = mma.get_slice(&thread)?;
    let block = |s: &Tensor<Smem>, at: i64| s.local_tile(&tiler!("<128,4>"), (Slice::at(0), Slice::at(at))); // (BlockX,4)
    let tc_ra = mine.partition_fragment(&mut b, Operand::A, &block(&s_a, 0)?)?; // (1,8,4)
    let tc_rb = mine.partition_fragment(&mut b, Operand::B, &block(&s_b, 0)?)?; // (1,8,4)
    let tc_gc = mine.partition(Operand::C, &g_c)?; // (1,8,8)
    let tc_rc = mine.partition_fragment(&mut b, Operand::C, &g_c)?; // (1,8,8)

    // C_ij = sum_k A_ik B_jk, 16 k at a time
    clear(&mut b, &tc_rc)?;
    let k_tiles = Expr::from_int(&Int::symbol(k).ceil_div(Int::fixed(16))?);
    b.for_range(&k_tiles, |b, k_tile| {
        let at = (Slice::All, Slice::All, Slice::All, k_tile);
        b.barrier(); // all threads have read the tiles of the iteration before
        copy(b, CopyWith::from(&load).zero_fill(), &ta_g.slice(at.clone())?, &ta_s)?;
        copy(b, CopyWith::from(&load).zero_fill(), &tb_g.slice(at)?, &tb_s)?;
        b.barrier(); // the tiles are complete
        for k_block in 0..4 {
            copy(b, AUTO_VECTORIZING_COPY, &mine.partition(Operand::A, &block(&s_a, k_block)?)?, &tc_ra)?;
            copy(b, AUTO_VECTORIZING_COPY, &mine.partition(Operand::B, &block(&s_b, k_block)?)?, &tc_rb)?;
            gemm(b, &mma, &tc_ra, &tc_rb, &tc_rc)?;
        }
        Ok(())
    })?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &tc_rc, &tc_gc)?;

    let grid = |[m, n, _]: [u32; 3], _| [m.div_ceil(128), n.div_ceil(128), 1];
    Ok(Rung { kernel: b.finish()?, dtype: DType::F32, sizes: [m, n, k], maps: Vec::new(), grid })
}
