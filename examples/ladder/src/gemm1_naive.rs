//! GEMM 1, naive: a thread for each element of C, which reads a row of A and a row of B from global memory.

use girih::codegen::algorithm::{CopyWith, clear, copy, gemm};
use girih::codegen::atom::{AUTO_VECTORIZING_COPY, UNIVERSAL_FMA_F32};
use girih::codegen::{Builder, Error, Expr, Gmem, Operand, TiledMma};
use girih::layout::{Int, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice};

use crate::harness::Rung;

pub(crate) fn rung() -> Result<Rung, Error> {
    let mut b = Builder::new("gemm1_naive", 80, 256);
    let sizes @ [m, n, k] = b.symbols(["m", "n", "k"], |s| s.at_least(1).at_most(1 << 20))?;
    let m_a = Gmem::matrix(&mut b, "a", DType::F32, [m, k], k)?; // (m,k)
    let m_b = Gmem::matrix(&mut b, "b", DType::F32, [n, k], k)?; // (n,k)
    let m_c = Gmem::matrix(&mut b, "c", DType::F32, [m, n], n)?; // (m,n)

    // The CTA's tile of C is 16 x 16.
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));
    let g_a = m_a.local_tile(&tiler!("<16,1>"), (&i, Slice::All))?; // (BlockM,1,k)
    let g_b = m_b.local_tile(&tiler!("<16,1>"), (&j, Slice::All))?; // (BlockN,1,k)
    let g_c = m_c.local_tile(&tiler!("<16,16>"), (&i, &j))?; // (BlockM,BlockN)

    // 16 x 16 threads with a multiply-add each.
    let mma = TiledMma::new(UNIVERSAL_FMA_F32, lay!("(16,16,1):(16,1,0)"))?;
    let mine = mma.get_slice(&thread)?;
    let (tc_ga, tc_gb) = (mine.partition(Operand::A, &g_a)?, mine.partition(Operand::B, &g_b)?); // (1,1,1,k)
    let tc_gc = mine.partition(Operand::C, &g_c)?; // (1,1,1)
    let column = |at: &Expr| (Slice::All, Slice::All, at.clone());
    let tc_ra = mine.partition_fragment(&mut b, Operand::A, &g_a.slice(column(&Expr::from(0)))?)?; // (1,1,1)
    let tc_rb = mine.partition_fragment(&mut b, Operand::B, &g_b.slice(column(&Expr::from(0)))?)?; // (1,1,1)
    let tc_rc = mine.partition_fragment(&mut b, Operand::C, &g_c)?; // (1,1,1)

    // C_ij = sum_k A_ik B_jk
    clear(&mut b, &tc_rc)?;
    b.for_range(&Expr::from_int(&Int::symbol(k)), |b, at| {
        let at = (Slice::All, Slice::All, Slice::All, at);
        let load = CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill(); // rows past the end are zeros
        copy(b, load.clone(), &tc_ga.slice(at.clone())?, &tc_ra)?;
        copy(b, load, &tc_gb.slice(at)?, &tc_rb)?;
        gemm(b, &mma, &tc_ra, &tc_rb, &tc_rc)
    })?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &tc_rc, &tc_gc)?;

    let grid = |[m, n, _]: [u32; 3], _| [m.div_ceil(16), n.div_ceil(16), 1];
    Ok(Rung { kernel: b.finish()?, dtype: DType::F32, sizes, maps: Vec::new(), grid })
}
