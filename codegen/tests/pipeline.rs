//! A product from its parts on the simulator: `cp.async` into swizzled shared memory, `ldmatrix` in the order of the MMA's fragments,
//! the MMA, and the accumulators' copy.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::algorithm::{clear, copy, gemm};
use girih_codegen::atom::*;
use girih_codegen::plan::coalesced_copy;
use girih_codegen::{Builder, Error, Gmem, Operand, Smem, TiledCopy, TiledMma};
use girih_layout::{Lay, Swizzle, Tile, lay};
use girih_ptx::{Module, Special};
use girih_sim::Memory;
use girih_tensor::{DType, Tensor};
use half::f16;

use crate::simulator::{addresses, block, checked, download, upload};

const M: i64 = 64;
const N: i64 = 32;
const K: i64 = 32;
const THREADS: i64 = 128;

/// The contiguous mode of a matrix, and the atom that reads its fragments.
#[derive(Clone, Copy, Debug)]
struct Source {
    k_major: bool,
    atom: &'static CopyAtom,
}

impl Source {
    fn layout(&self, extent: i64) -> Lay {
        let strides = if self.k_major { [K, 1] } else { [1, extent] };
        Lay::strided([extent, K], strides).unwrap()
    }
}

/// `C = A * B^T`, where every matrix is stored without padding along its contiguous mode.
fn kernel(mma: &TiledMma, sources: [Source; 2]) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, THREADS as u32);
    let pointers = ["c", "a", "b"].map(|name| b.pointer(name, 16));
    let thread = b.special(Special::TidX);
    let mut operands = Vec::new();
    for (i, (operand, extent)) in [(Operand::A, M), (Operand::B, N)].into_iter().enumerate() {
        let layout = sources[i].layout(extent);
        let global = Tensor::new(Gmem::new(pointers[1 + i].clone(), DType::F16), layout);
        // Rows of 64 bytes, or of more.
        let swizzle =
            if sources[i].k_major || extent == 32 { Swizzle::new(2, 3, 3)? } else { Swizzle::new(3, 3, 3)? };
        let tile = Smem::alloc(&mut b, DType::F16, Some(swizzle), &layout)?;
        let vectors = coalesced_copy(&layout, THREADS, 16)?;
        let load = vectors.like_d(SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16)?;
        let mine = load.get_slice(&thread)?;
        copy(&mut b, &load, &mine.partition_s(&global)?, &mine.partition_d(&tile)?)?;
        operands.push((operand, tile, sources[i].atom));
    }
    b.ptx("cp.async.wait_all;", &[])?;
    b.barrier();

    let thr_mma = mma.get_slice(&thread)?;
    let mut fragments = Vec::new();
    for (operand, tile, atom) in &operands {
        let fragment = thr_mma.partition_fragment(&mut b, *operand, tile)?; // (FrgV,RestX,RestK)
        let read = TiledCopy::of_mma(**atom, 16, mma, *operand)?;
        let mine = read.get_slice(&thread)?;
        copy(&mut b, &read, &mine.partition_s(tile)?, &mine.retile_d(&fragment)?)?;
        fragments.push(fragment);
    }
    let c = Tensor::new(Gmem::new(pointers[0].clone(), DType::F32), lay!("(64,32):(32,1)"));
    let sums = thr_mma.partition_fragment(&mut b, Operand::C, &c)?;
    clear(&mut b, &sums)?;
    gemm(&mut b, mma, &fragments[0], &fragments[1], &sums)?;
    let write = TiledCopy::of_mma(UNIVERSAL_COPY_64, 32, mma, Operand::C)?;
    let mine = write.get_slice(&thread)?;
    copy(&mut b, &write, &mine.retile_s(&sums)?, &mine.partition_d(&c)?)?;
    Ok(b.finish()?.into_module())
}

/// Small integers, exact in every order of sums.
fn number(operand: usize, x: i64, k: i64) -> i64 {
    (x * 7 + k * 3 + operand as i64 * 5) % 11 - 5
}

fn run(module: &Module, sources: [Source; 2]) -> Vec<f32> {
    let memory = Memory::new();
    let length = (M * N * 4) as usize;
    let c = memory.alloc(length).unwrap();
    let mut places = vec![c];
    for (i, (source, extent)) in sources.iter().zip([M, N]).enumerate() {
        let mut bytes = vec![0; (extent * K * 2) as usize];
        for index in 0..extent * K {
            let (x, k) = (index % extent, index / extent);
            let at = source.layout(extent).at(index).unwrap() as usize * 2;
            bytes[at..at + 2].copy_from_slice(&f16::from_f64(number(i, x, k) as f64).to_le_bytes());
        }
        places.push(upload(&memory, &bytes));
    }
    let launch = block(THREADS as u32, (2 * (M + N) * K) as u32, addresses(&places));
    checked(module, &memory, &launch).unwrap();
    let out = download(&memory, c, length);
    out.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Every form of `ldmatrix` feeds the MMA from either order of the matrices, with one atom and with several along N.
#[test]
fn products_of_parts_are_products() {
    let straight: [&CopyAtom; 3] = [&SM75_U32X1_LDSM_N, &SM75_U32X2_LDSM_N, &SM75_U32X4_LDSM_N];
    let turned: [&CopyAtom; 3] = [&SM75_U16X2_LDSM_T, &SM75_U16X4_LDSM_T, &SM75_U16X8_LDSM_T];
    let sources: Vec<Source> = [(true, straight), (false, turned)]
        .into_iter()
        .flat_map(|(k_major, atoms)| atoms.map(|atom| Source { k_major, atom }))
        .collect();
    let plain = TiledMma::new(SM80_16X8X16_F32F16F16F32_TN, lay!("(2,2,1):(1,2,4)")).unwrap();
    // Two atoms of each warp along N make the 16 x 16 that four matrices are.
    let wide = plain.with_permutation([Tile::All, Tile::Lay(lay!("32:1")), Tile::All]);
    let mut count = 0;
    for (mma, a, b) in [&plain, &wide].iter().flat_map(|mma| {
        let sources = &sources;
        sources.iter().flat_map(move |a| sources.iter().map(move |b| (*mma, *a, *b)))
    }) {
        // Four matrices are more than the fragments of one atom's B.
        let four = matches!(b.atom.op, CopyOp::Ldmatrix { matrices: 4, .. });
        let module = match kernel(mma, [a, b]) {
            Ok(module) => module,
            Err(error) => {
                assert!(four && mma == &plain, "{a:?}, {b:?}: {error}");
                continue;
            }
        };
        count += 1;
        for (i, found) in (0..).zip(run(&module, [a, b])) {
            let (m, n) = (i / N, i % N);
            let expected: i64 = (0..K).map(|k| number(0, m, k) * number(1, n, k)).sum();
            assert_eq!(found, expected as f32, "{} and {}: ({m},{n})", a.atom, b.atom);
        }
    }
    assert_eq!(count, 36 + 24);
}
