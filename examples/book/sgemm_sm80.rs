//! CuTe's `examples/cute/tutorial/sgemm_sm80.cu`: one kernel for all types and layouts, `gemm_device`, and two ways to fill in its tiles,
//! copies and MMA. `gemm_nt` multiplies f32 on the CUDA cores, `gemm_tn` multiplies f16 on the tensor cores.

use girih::codegen::algorithm::{axpby, clear, copy, cp_async_fence, cp_async_wait, gemm};
use girih::codegen::atom::{
    AUTO_VECTORIZING_COPY, CopyAtom, SM75_U32X4_LDSM_N, SM80_16X8X16_F16F16F16F16_TN,
    SM80_CP_ASYNC_CACHEALWAYS_ZFILL_16, UNIVERSAL_FMA_F32,
};
use girih::codegen::{Builder, Error, Expr, Gmem, Kernel, Operand, Smem, TiledCopy, TiledMma};
use girih::layout::{Composed, Int, Lay, Shape, Swizzle, Symbol, Tile, Tiler, lay, tiler};
use girih::ptx::Special;
use girih::tensor::{DType, Slice, Tensor};

/// How an operand of the product gets from global memory to the MMA.
struct Side {
    /// The tile in global memory, (BLK_M,BLK_K) or (BLK_N,BLK_K).
    tile: Tiler,
    swizzle: Option<Swizzle>,
    /// The tiles in shared memory, (BLK_M,BLK_K,PIPE) or (BLK_N,BLK_K,PIPE).
    shared: Lay,
    /// From global to shared memory.
    load: TiledCopy,
    /// From shared memory to registers.
    read: CopyAtom,
}

/// What `gemm_device` has for template arguments in C++.
struct Plan {
    dtype: DType,
    a: Side,
    b: Side,
    /// The tile of C, (BLK_M,BLK_N).
    tile_c: Tiler,
    block_k: i64,
    mma: TiledMma,
}

/// `C = alpha * A * B^T + beta * C` of A (M,K), B (N,K) and C (M,N).
fn gemm_device(
    mut b: Builder,
    [m_a, m_b, m_c]: [Tensor<Gmem>; 3],
    k: Symbol,
    plan: &Plan,
) -> Result<Kernel, Error> {
    let [alpha, beta] = [b.scalar_parameter("alpha", DType::F32)?, b.scalar_parameter("beta", DType::F32)?];
    let [i, j, thread] = [Special::CtaidX, Special::CtaidY, Special::TidX].map(|at| b.special(at));

    // The block's tiles.
    let g_a = m_a.local_tile(&plan.a.tile, (&i, Slice::All))?; // (BLK_M,BLK_K,k)
    let g_b = m_b.local_tile(&plan.b.tile, (&j, Slice::All))?; // (BLK_N,BLK_K,k)
    let g_c = m_c.local_tile(&plan.tile_c, (&i, &j))?; // (BLK_M,BLK_N)
    let s_a = Smem::alloc(&mut b, plan.dtype, plan.a.swizzle, &plan.a.shared)?; // (BLK_M,BLK_K,PIPE)
    let s_b = Smem::alloc(&mut b, plan.dtype, plan.b.swizzle, &plan.b.shared)?; // (BLK_N,BLK_K,PIPE)

    // Global to shared memory.
    let thr_a = plan.a.load.get_slice(&thread)?;
    let (ta_ga, ta_sa) = (thr_a.partition_s(&g_a)?, thr_a.partition_d(&s_a)?); // (CPY,CPY_M,CPY_K,k) and (CPY,CPY_M,CPY_K,PIPE)
    let thr_b = plan.b.load.get_slice(&thread)?;
    let (tb_gb, tb_sb) = (thr_b.partition_s(&g_b)?, thr_b.partition_d(&s_b)?); // (CPY,CPY_N,CPY_K,k) and (CPY,CPY_N,CPY_K,PIPE)
    let pipes = extent(&ta_sa, 3)?;
    let tile = |number: &Expr| (Slice::All, Slice::All, Slice::All, number.clone());
    let fetch = |b: &mut Builder, number: &Expr| -> Result<(), Error> {
        let pipe = number.rem(pipes)?;
        copy(b, &plan.a.load, &ta_ga.slice(tile(number))?, &ta_sa.slice(tile(&pipe))?)?;
        copy(b, &plan.b.load, &tb_gb.slice(tile(number))?, &tb_sb.slice(tile(&pipe))?)?;
        cp_async_fence(b);
        Ok(())
    };
    // Tiles past the end of K are outside of A and B, so that zeros are copied.
    for number in 0..pipes - 1 {
        fetch(&mut b, &Expr::from(number))?;
    }

    // Registers for the MMA.
    let thr_mma = plan.mma.get_slice(&thread)?;
    let one = (Slice::All, Slice::All, Slice::<Expr>::at(0));
    let tc_gc = thr_mma.partition(Operand::C, &g_c)?; // (MMA,MMA_M,MMA_N)
    let tc_ra = thr_mma.partition_fragment(&mut b, Operand::A, &s_a.slice(one.clone())?)?; // (MMA,MMA_M,MMA_K)
    let tc_rb = thr_mma.partition_fragment(&mut b, Operand::B, &s_b.slice(one)?)?; // (MMA,MMA_N,MMA_K)
    let tc_rc = thr_mma.partition_fragment(&mut b, Operand::C, &g_c)?; // (MMA,MMA_M,MMA_N)
    clear(&mut b, &tc_rc)?;

    // Shared memory to registers, a block along K at a time.
    let bits = plan.dtype.bits();
    let read_a = TiledCopy::of_mma(plan.a.read, bits, &plan.mma, Operand::A)?;
    let read_b = TiledCopy::of_mma(plan.b.read, bits, &plan.mma, Operand::B)?;
    let (thr_a, thr_b) = (read_a.get_slice(&thread)?, read_b.get_slice(&thread)?);
    let (tx_sa, tx_ra) = (thr_a.partition_s(&s_a)?, thr_a.retile_d(&tc_ra)?); // (CPY,MMA_M,MMA_K,PIPE) and (CPY,MMA_M,MMA_K)
    let (tx_sb, tx_rb) = (thr_b.partition_s(&s_b)?, thr_b.retile_d(&tc_rb)?); // (CPY,MMA_N,MMA_K,PIPE) and (CPY,MMA_N,MMA_K)
    let block = |number: i64| (Slice::All, Slice::All, Slice::<Expr>::at(number));
    let block_of = |number: i64, pipe: &Expr| (Slice::All, Slice::All, Slice::at(number), pipe.clone());
    let read = |b: &mut Builder, number: i64, pipe: &Expr| -> Result<(), Error> {
        copy(b, &read_a, &tx_sa.slice(block_of(number, pipe))?, &tx_ra.slice(block(number))?)?;
        copy(b, &read_b, &tx_sb.slice(block_of(number, pipe))?, &tx_rb.slice(block(number))?)
    };
    let blocks = extent(&tc_ra, 2)?;

    // The first block of the first tile; then, in each block, the next one is read while this one is multiplied.
    cp_async_wait(&mut b, pipes as u32 - 2);
    b.barrier();
    read(&mut b, 0, &Expr::from(0))?;
    let tiles = Expr::from_int(&Int::symbol(k).ceil_div(Int::fixed(plan.block_k))?);
    b.for_range(&tiles, |b, number| {
        let [here, next] = [number.rem(pipes)?, (number + 1).rem(pipes)?];
        for at in 0..blocks {
            if at == blocks - 1 {
                cp_async_wait(b, pipes as u32 - 2);
                b.barrier(); // the next tile is there, and nobody reads this one any more
                read(b, 0, &next)?;
            } else {
                read(b, at + 1, &here)?;
            }
            if at == 0 {
                fetch(b, &(number + (pipes - 1)))?;
            }
            gemm(b, &plan.mma, &tc_ra.slice(block(at))?, &tc_rb.slice(block(at))?, &tc_rc)?;
        }
        Ok(())
    })?;

    axpby(&mut b, &alpha, &tc_rc, &beta, &tc_gc)?;
    b.finish()
}

/// The extent of a mode that is known.
fn extent<E>(tensor: &Tensor<E>, mode: usize) -> Result<i64, Error> {
    Ok(tensor.layout().mode(mode)?.size()?.get().unwrap_or_default())
}

/// A (M,K) and B (N,K) of f32, both contiguous along M and N.
pub(crate) fn gemm_nt() -> Result<Kernel, Error> {
    let mut b = Builder::new("gemm_nt", 80, 256);
    let [m, n, k] = b.symbols(["m", "n", "k"], |s| s.at_least(1).at_most(1 << 20))?;
    let [ld_a, ld_b, ld_c] =
        b.symbols(["ld_a", "ld_b", "ld_c"], |s| s.divisible_by(4).at_least(4).at_most(1 << 20))?;
    let mut matrix = |name, shape: [Symbol; 2], ld| {
        let layout = Lay::strided(shape.map(Int::symbol), [Int::fixed(1), Int::symbol(ld)])?;
        Gmem::bounded(b.pointer(name, 16), DType::F32, &layout)
    };
    let matrices = [matrix("a", [m, k], ld_a)?, matrix("b", [n, k], ld_b)?, matrix("c", [m, n], ld_c)?];

    let side = || -> Result<Side, Error> {
        Ok(Side {
            tile: tiler!("<128,8>"),
            swizzle: None,
            shared: lay!("(128,8,3)"),
            load: TiledCopy::new(SM80_CP_ASYNC_CACHEALWAYS_ZFILL_16, 32, &lay!("(32,8)"), &lay!("(4,1)"))?,
            read: AUTO_VECTORIZING_COPY,
        })
    };
    let mma = TiledMma::new(UNIVERSAL_FMA_F32, lay!("(16,16,1)"))?;
    let plan =
        Plan { dtype: DType::F32, a: side()?, b: side()?, tile_c: tiler!("<128,128>"), block_k: 8, mma };
    gemm_device(b, matrices, k, &plan)
}

/// A (M,K) and B (N,K) of f16, both contiguous along K.
pub(crate) fn gemm_tn() -> Result<Kernel, Error> {
    let mut b = Builder::new("gemm_tn", 80, 128);
    let [m, n, k] = b.symbols(["m", "n", "k"], |s| s.at_least(1).at_most(1 << 20))?;
    let [ld_a, ld_b, ld_c] =
        b.symbols(["ld_a", "ld_b", "ld_c"], |s| s.divisible_by(8).at_least(8).at_most(1 << 20))?;
    let m_a = Gmem::matrix(&mut b, "a", DType::F16, [m, k], ld_a)?; // (M,K)
    let m_b = Gmem::matrix(&mut b, "b", DType::F16, [n, k], ld_b)?; // (N,K)
    let layout = Lay::strided([m, n].map(Int::symbol), [Int::fixed(1), Int::symbol(ld_c)])?;
    let m_c = Gmem::bounded(b.pointer("c", 16), DType::F16, &layout)?; // (M,N)

    let swizzle = Swizzle::new(3, 3, 3)?;
    let atom = Composed::new(swizzle, 0, lay!("(8,(8,8)):(8,(1,64))"));
    let shared = *atom.tile_to_shape(&Shape::parse("(128,64,3)")?, None)?.layout();
    let side = || -> Result<Side, Error> {
        Ok(Side {
            tile: tiler!("<128,64>"),
            swizzle: Some(swizzle),
            shared,
            load: TiledCopy::new(
                SM80_CP_ASYNC_CACHEALWAYS_ZFILL_16,
                16,
                &lay!("(16,8):(8,1)"),
                &lay!("(1,8)"),
            )?,
            read: SM75_U32X4_LDSM_N,
        })
    };
    let mma = TiledMma::new(SM80_16X8X16_F16F16F16F16_TN, lay!("(2,2)"))?.with_permutation([
        Tile::Lay(lay!("32:1")),
        Tile::Lay(lay!("32:1")),
        Tile::Lay(lay!("16:1")),
    ]);
    let plan =
        Plan { dtype: DType::F16, a: side()?, b: side()?, tile_c: tiler!("<128,128>"), block_k: 64, mma };
    gemm_device(b, [m_a, m_b, m_c], k, &plan)
}
