//! `gemm` with operands in shared memory, as CuTe's `sgemm_1` and `sgemm_2` call it.

use girih_codegen::algorithm::{MmaWith, clear, copy, gemm, pattern, warpgroup_arrive};
use girih_codegen::atom::{
    AUTO_VECTORIZING_COPY, MmaAtom, SM61_DP4A, SM80_16X8X8_F32TF32TF32F32_TN, SM80_16X8X16_F32F16F16F32_TN,
    SM80_16X8X32_S32S8S8S32_TN, UNIVERSAL_FMA_F16, UNIVERSAL_FMA_F32, UNIVERSAL_FMA_F64,
};
use girih_codegen::{Builder, Error, Gmem, Kernel, Operand, Rmem, Smem, TiledMma};
use girih_layout::{Lay, lay};
use girih_ptx::Special;
use girih_sim::Memory;
use girih_tensor::{DType, Slice, Tensor};

use super::values::decode;
use crate::simulator::{addresses, block, checked, download, ones, upload};

/// CuTe's `sgemm_1`: a tile of 32 x 32 by 8 x 8 threads, four steps of 8 along K, all operands contiguous along M or N (NT).
fn sgemm_1(atom: &MmaAtom, dtype: DType) -> Result<Kernel, Error> {
    let mut b = Builder::new("sgemm_1", 80, 64);
    let [a, bb, c] = ["a", "b", "c"].map(|name| b.pointer(name, 16));
    let thread = b.special(Special::TidX);
    let g_a = Tensor::new(Gmem::new(a, dtype), lay!("(32,8,4):(1,32,256)")); // (BlockM,BlockK,k)
    let g_b = Tensor::new(Gmem::new(bb, dtype), lay!("(32,8,4):(1,32,256)")); // (BlockN,BlockK,k)
    let g_c = Tensor::new(Gmem::new(c, dtype), lay!("(32,32):(1,32)")); // (BlockM,BlockN)
    let s_a = Smem::alloc(&mut b, dtype, None, &lay!("(32,8):(1,32)"))?;
    let s_b = Smem::alloc(&mut b, dtype, None, &lay!("(32,8):(1,32)"))?;
    let (t_a, t_c) = (lay!("(32,2):(1,32)"), lay!("(8,8):(1,8)"));
    let ta_sa = s_a.local_partition(&t_a, &thread)?; // (ThrM,ThrK)
    let tb_sb = s_b.local_partition(&t_a, &thread)?; // (ThrN,ThrK)
    let tc_sa = s_a.local_partition_projected(&t_c, &thread, &[true, false])?; // (ThrM,BlockK)
    let tc_sb = s_b.local_partition_projected(&t_c, &thread, &[false, true])?; // (ThrN,BlockK)
    let tc_gc = g_c.local_partition(&t_c, &thread)?; // (ThrM,ThrN)
    let tc_rc = Rmem::like(&mut b, &tc_gc)?;
    clear(&mut b, &tc_rc)?;
    b.for_range(&4.into(), |b, k| {
        let tile = (Slice::All, Slice::All, k);
        b.barrier();
        copy(b, AUTO_VECTORIZING_COPY, &g_a.slice(tile.clone())?.local_partition(&t_a, &thread)?, &ta_sa)?;
        copy(b, AUTO_VECTORIZING_COPY, &g_b.slice(tile)?.local_partition(&t_a, &thread)?, &tb_sb)?;
        b.barrier();
        gemm(b, atom, &tc_sa, &tc_sb, &tc_rc)
    })?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &tc_rc, &tc_gc)?;
    b.finish()
}

/// Runs a kernel on an A of `m` and a B of `n` rows, whose element (row, k) is at `at(row, k, rows)`, and compares C, contiguous along M.
fn execute(
    [of_a, of_c]: [DType; 2],
    kernel: &Kernel,
    [m, n, k]: [usize; 3],
    at: impl Fn(usize, usize, usize) -> usize,
) {
    let numbers = |rows: usize, step: usize| -> Vec<f64> {
        (0..rows * k).map(|i| ((i * step + i / 7) % 7) as f64 - 3.0).collect()
    };
    let (a, b) = (numbers(m, 5), numbers(n, 3));
    let bytes = |values: &[f64]| -> Vec<u8> {
        let size = of_a.bits() as usize / 8;
        values.iter().flat_map(|&x| pattern(of_a, x).to_le_bytes()[..size].to_vec()).collect()
    };
    let memory = Memory::new();
    let size = of_c.bits() as usize / 8;
    let arrays = [upload(&memory, &bytes(&a)), upload(&memory, &bytes(&b)), ones(&memory, m * n * size)];
    let launch = block(kernel.threads(), kernel.shared_bytes(), addresses(&arrays));
    checked(kernel.module(), &memory, &launch).unwrap();
    let found = download(&memory, arrays[2], m * n * size);
    for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let sum: f64 = (0..k).map(|i| a[at(row, i, m)] * b[at(column, i, n)]).sum();
        let place = (row + column * m) * size;
        assert_eq!(decode(of_c, &found[place..place + size]), sum, "({row},{column})\n{}", kernel.module());
    }
}

#[test]
fn sgemm_1_multiplies_from_shared_memory() {
    let column_major = |row: usize, k: usize, rows: usize| row + k * rows;
    for (atom, dtype) in [(UNIVERSAL_FMA_F64, DType::F64), (UNIVERSAL_FMA_F16, DType::F16)] {
        execute([dtype; 2], &sgemm_1(&atom, dtype).unwrap(), [32; 3], column_major);
    }
    let kernel = sgemm_1(&UNIVERSAL_FMA_F32, DType::F32).unwrap();
    execute([DType::F32; 2], &kernel, [32; 3], column_major);
    // Four rows of each step are read as they are spread over the threads, and multiplied 4 x 4 times.
    let text = kernel.module().to_string();
    assert_eq!(text.matches("fma.rn.f32").count(), 4 * 4 * 8, "{text}");
    assert_eq!(text.matches("ld.shared").count(), 8 * 8, "{text}");
}

/// A warp's atom reads A or B or both from shared memory as it reads them from registers.
fn of_a_warp(atom: &MmaAtom, [in_a, in_b]: [bool; 2], atoms: &Lay, threads: u32) -> Result<Kernel, Error> {
    let mut b = Builder::new("k", 80, threads);
    let mma = TiledMma::new(*atom, *atoms)?;
    let mine = mma.get_slice(&b.special(Special::TidX))?;
    let [m, n, k] = mma.tile_size_mnk()?;
    let [m, n, k] = [2 * m, 2 * n, 2 * k];
    let pointers = ["a", "b", "c"].map(|name| b.pointer(name, 16));
    let [a, bb] = [(0, m, Operand::A), (1, n, Operand::B)].map(|(i, rows, operand)| {
        Tensor::new(
            Gmem::new(pointers[i].clone(), atom.dtype(operand)),
            Lay::strided([rows, k], [k, 1]).unwrap(),
        )
    });
    let c = Tensor::new(Gmem::new(pointers[2].clone(), atom.c_type), Lay::strided([m, n], [1, m])?);
    let mut shared = Vec::new();
    for global in [&a, &bb] {
        let array =
            Smem::alloc(&mut b, girih_codegen::Memory::dtype(global.engine()), None, global.layout())?;
        let tv = Lay::concat(&[Lay::strided([1], [0])?.mode(0)?, Lay::left(global.layout().shape())?])?;
        let all = global.tv_partition(&tv, &0.into())?;
        let to = array.tv_partition(&tv, &0.into())?;
        let first = girih_codegen::Cond::less(&b.special(Special::TidX), &1.into());
        b.if_(&first, |b| copy(b, AUTO_VECTORIZING_COPY, &all, &to))?;
        shared.push(array);
    }
    b.barrier();
    let (s_a, s_b) = (mine.partition(Operand::A, &shared[0])?, mine.partition(Operand::B, &shared[1])?);
    let r_a = mine.partition_fragment(&mut b, Operand::A, &shared[0])?;
    let r_b = mine.partition_fragment(&mut b, Operand::B, &shared[1])?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &s_a, &r_a)?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &s_b, &r_b)?;
    let r_c = mine.partition_fragment(&mut b, Operand::C, &c)?;
    clear(&mut b, &r_c)?;
    match (in_a, in_b) {
        (true, true) => gemm(&mut b, &mma, &s_a, &s_b, &r_c)?,
        (true, false) => gemm(&mut b, &mma, &s_a, &r_b, &r_c)?,
        (false, true) => gemm(&mut b, &mma, &r_a, &s_b, &r_c)?,
        (false, false) => gemm(&mut b, &mma, &r_a, &r_b, &r_c)?,
    }
    copy(&mut b, AUTO_VECTORIZING_COPY, &r_c, &mine.partition(Operand::C, &c)?)?;
    b.finish()
}

#[test]
fn operands_in_shared_memory_are_those_in_registers() {
    let row_major = |k: usize| move |row: usize, i: usize, _: usize| row * k + i;
    let (warp, threads) = (lay!("(1,1):(0,0)"), lay!("(4,8):(1,4)"));
    let cases = [
        (SM80_16X8X16_F32F16F16F32_TN, warp, [32, 16, 32]),
        (SM80_16X8X8_F32TF32TF32F32_TN, warp, [32, 16, 16]),
        (SM80_16X8X32_S32S8S8S32_TN, warp, [32, 16, 64]),
        (UNIVERSAL_FMA_F32, threads, [8, 16, 2]),
        (SM61_DP4A, threads, [8, 16, 8]),
    ];
    for (atom, atoms, mnk) in cases {
        for both in [[true, true], [true, false], [false, true], [false, false]] {
            let kernel =
                of_a_warp(&atom, both, &atoms, 32).unwrap_or_else(|e| panic!("{atom}, {both:?}: {e}"));
            execute([atom.a_type, atom.c_type], &kernel, mnk, row_major(mnk[2]));
        }
    }
}

/// What cannot be loaded for an atom is refused with the operand that would be accepted.
#[test]
fn shared_memory_that_an_atom_does_not_take_is_refused() {
    let mut texts = Vec::new();
    for (name, dtype) in [
        ("SM90_64x16x16_F32F16F16_SS", DType::F16),
        ("SM90_64x16x16_F32F16F16_RS", DType::F16),
        ("SM80_16x8x16_F32F16F16F32_TN", DType::Bf16),
    ] {
        let atom = MmaAtom::find(name).unwrap();
        let mma = TiledMma::new(atom, lay!("(1,1):(0,0)")).unwrap();
        let mut b = Builder::new("k", 90, 128);
        let thread = b.special(Special::TidX);
        let thread = b.bounded(&thread, if name.starts_with("SM80") { 31 } else { 127 }).unwrap();
        let mine = mma.get_slice(&thread).unwrap();
        let [m, n, k] = mma.tile_size_mnk().unwrap();
        let a = Smem::alloc(&mut b, dtype, None, &Lay::strided([m, k], [k, 1]).unwrap()).unwrap();
        let bb = Smem::alloc(&mut b, dtype, None, &Lay::strided([n, k], [k, 1]).unwrap()).unwrap();
        let c = Tensor::new(Gmem::new(b.pointer("c", 16), DType::F32), Lay::strided([m, n], [n, 1]).unwrap());
        let (a, bb) = (mine.partition(Operand::A, &a).unwrap(), mine.partition(Operand::B, &bb).unwrap());
        let r_c = mine.partition_fragment(&mut b, Operand::C, &c).unwrap();
        warpgroup_arrive(&mut b);
        let with = MmaWith::from(&mma);
        texts.push(gemm(&mut b, with, &a, &bb, &r_c).unwrap_err().to_string());
    }
    expect_test::expect![[r#"
        gemm: shared memory of f16 does not fit A of SM90::GMMA::MMA_64x16x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>: descriptors of shared memory: `ThrMma::partition_descriptor`
        gemm: shared memory of f16 does not fit A of SM90::GMMA::MMA_64x16x16_F32F16F16_RS<GMMA::Major::K, GMMA::Major::K>: registers that are loaded before `warpgroup_arrive`
        gemm: shared memory of bf16 does not fit A of SM80_16x8x16_F32F16F16F32_TN: shared memory of the atom's dtype
    "#]].assert_eq(&(texts.join("\n") + "\n"));
}
