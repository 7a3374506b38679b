//! `gemm` on fragments: every form of its ranks against sums, and the forms that are refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_codegen::algorithm::{MmaWith, copy, gemm};
use girih_codegen::atom::{
    AUTO_VECTORIZING_COPY, GmmaLayout, GmmaSwizzle, Major, MmaAtom, SM80_16X8X16_F32BF16BF16F32_TN,
    UNIVERSAL_FMA_F16, UNIVERSAL_FMA_F32, UNIVERSAL_FMA_S32,
};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Operand, Rmem, Smem, TiledMma};
use girih_layout::{Lay, lay};
use girih_ptx::{Module, Special};
use girih_sim::Memory;
use girih_tensor::{DType, Tensor};

use crate::simulator::{addresses, block, checked, download, upload};

/// A kernel of one thread that computes `c += gemm(a, b)` on arrays that lie as the layouts say.
fn kernel(atom: &MmaAtom, layouts: [Lay; 3]) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, 1);
    let mut fragments = Vec::new();
    let dtype = atom.c_type;
    for (name, layout) in ["a", "b", "c"].into_iter().zip(layouts) {
        let memory = Tensor::new(Gmem::new(b.pointer(name, 4), dtype), layout);
        let fragment = Rmem::like(&mut b, &memory)?;
        copy(&mut b, AUTO_VECTORIZING_COPY, &memory, &fragment)?;
        fragments.push((memory, fragment));
    }
    let [(_, x), (_, y), (memory, z)] = &fragments[..] else { unreachable!("three") };
    gemm(&mut b, atom, x, y, z)?;
    copy(&mut b, AUTO_VECTORIZING_COPY, z, memory)?;
    Ok(b.finish()?.into_module())
}

fn run(module: &Module, arrays: [Vec<u8>; 3]) -> Vec<u8> {
    let memory = Memory::new();
    let arrays = arrays.map(|bytes| (upload(&memory, &bytes), bytes.len()));
    checked(module, &memory, &block(1, 0, addresses(&arrays.map(|(address, _)| address)))).unwrap();
    let (c, length) = arrays[2];
    download(&memory, c, length)
}

fn encode(dtype: DType, values: impl Iterator<Item = i64>) -> Vec<u8> {
    values
        .flat_map(|v| match dtype {
            DType::F32 => (v as f32).to_le_bytes().to_vec(),
            DType::S32 => (v as i32).to_le_bytes().to_vec(),
            _ => half::f16::from_f32(v as f32).to_le_bytes().to_vec(),
        })
        .collect()
}

#[test]
fn every_form_of_ranks_multiplies() {
    // A, B, C; M, N, K.
    let forms = [
        ([lay!("1:0"), lay!("1:0"), lay!("1:0")], [1, 1, 1]),
        ([lay!("3:1"), lay!("4:1"), lay!("(3,4):(1,3)")], [3, 4, 1]),
        ([lay!("(3,2):(1,3)"), lay!("(4,2):(1,4)"), lay!("(3,4):(1,3)")], [3, 4, 2]),
        ([lay!("(1,3):(0,1)"), lay!("(1,4):(0,1)"), lay!("(1,3,4):(0,1,3)")], [3, 4, 1]),
        ([lay!("(1,3,2):(0,1,3)"), lay!("(1,4,2):(0,1,4)"), lay!("(1,3,4):(0,1,3)")], [3, 4, 2]),
        ([lay!("(1,3,5):(0,1,3)"), lay!("(1,1,5):(0,0,1)"), lay!("(1,3,1):(0,1,0)")], [3, 1, 5]),
    ];
    for (layouts, [m, n, k]) in forms {
        for atom in [UNIVERSAL_FMA_F32, UNIVERSAL_FMA_F16, UNIVERSAL_FMA_S32] {
            let dtype = atom.c_type;
            let (a, b, c) =
                (|i: i64, l: i64| i + 2 * l - 3, |j: i64, l: i64| 2 * j - l, |i: i64, j: i64| 5 * i - j);
            let columns = |rows: i64, columns: i64, f: &dyn Fn(i64, i64) -> i64| {
                encode(dtype, (0..rows * columns).map(|x| f(x % rows, x / rows)))
            };
            let arrays = [columns(m, k, &a), columns(n, k, &b), columns(m, n, &c)];
            let sum = |i: i64, j: i64| c(i, j) + (0..k).map(|l| a(i, l) * b(j, l)).sum::<i64>();
            let found = run(&kernel(&atom, layouts).unwrap(), arrays);
            assert_eq!(found, columns(m, n, &sum), "{atom} of {} by {}", layouts[0], layouts[1]);
        }
    }
}

#[test]
fn misuse_is_explained() {
    let text = |found: Result<Module, Error>| found.unwrap_err().to_string();
    let fma = UNIVERSAL_FMA_F32;
    let with = |a: &str, b: &str, c: &str| [a, b, c].map(|l| Lay::parse(l).unwrap());
    for (layouts, expected) in [
        (
            with("(1,3,2)", "(1,4,3)", "(1,3,4)"),
            "gemm: A (1,3,2):(0,1,3) does not fit B (1,4,3):(0,1,4) and C (1,3,4):(0,1,3): (V)x(V)->(V), \
             (V,M)x(V,N)->(V,M,N) or (V,M,K)x(V,N,K)->(V,M,N) with equal extents",
        ),
        (
            with("(2,3,2)", "(2,4,2)", "(2,3,4)"),
            "gemm: 2:1 does not fit A of UniversalFMA_F32: as many values as the atom has in a thread",
        ),
    ] {
        assert_eq!(text(kernel(&fma, layouts)), expected);
    }
    let bf16 = SM80_16X8X16_F32BF16BF16F32_TN;
    let mut b = Builder::new("k", 80, 1);
    let one = Rmem::tensor(&mut b, DType::F32, lay!("1:0")).unwrap();
    for (with, expected) in [
        (
            MmaWith::from(&fma).accumulate(Cond::Never),
            "gemm: accumulate Never does not fit UniversalFMA_F32: an atom of a warpgroup; for other atoms, clear C",
        ),
        (
            MmaWith::from(&fma).negate([true, false]),
            "gemm: negate [true, false] does not fit UniversalFMA_F32: a warpgroup's atom of floats",
        ),
    ] {
        assert_eq!(gemm(&mut b, with, &one, &one, &one).unwrap_err().to_string(), expected);
    }
    assert_eq!(
        text(kernel(&bf16, with("8:1", "4:1", "4:1"))),
        "gemm: registers of f32 does not fit A of SM80_16x8x16_F32BF16BF16F32_TN: registers of the atom's dtype, for an \
         operand that the atom takes from registers"
    );
}

/// A tensor in shared memory is refused if it is no canonical matrix, or no operand of the atom.
#[test]
fn descriptors_are_for_matrices_that_wgmma_reads() {
    let wgmma = |name: &str| TiledMma::new(MmaAtom::find(name).unwrap(), lay!("(1,1):(0,0)")).unwrap();
    let mut b = Builder::new("k", 90, 128);
    let base = b.alloc_shared(1 << 14, 1024).unwrap();
    let thread = b.special(Special::TidX);
    let swizzle = GmmaSwizzle::Sw128.swizzle(DType::Bf16).unwrap();
    let descriptor = |name: &str, operand: Operand, base: &Expr, layout: &Lay| {
        let tensor = Tensor::new(Smem::new(base.clone(), DType::Bf16, swizzle), *layout);
        let found = wgmma(name).get_slice(&thread).unwrap().partition_descriptor(operand, &tensor);
        found.map(|tensor| tensor.layout().to_string()).map_err(|e| e.to_string())
    };
    let tile = *GmmaLayout { major: Major::K, swizzle: GmmaSwizzle::Sw128 }
        .tile(DType::Bf16, [128, 128])
        .unwrap()
        .layout();
    // There are two descriptors along M and eight along K: 16 elements further in a row, then the next 128 rows.
    let good = descriptor("SM90_64x64x16_F32BF16BF16_SS", Operand::A, &base, &tile);
    assert_eq!(good.as_deref(), Ok("(1,2,(4,2)):(0,4096,(16,8192))"));
    let plain = descriptor("SM90_64x64x16_F32BF16BF16_SS", Operand::A, &base, &lay!("(64,16):(16,1)"));
    assert!(plain.unwrap_err().contains("make_gmma_desc"), "a row of 32 bytes");
    let registers = descriptor("SM90_64x64x16_F32BF16BF16_RS", Operand::A, &base, &tile);
    assert!(registers.unwrap_err().ends_with("this one it takes from registers"));
    let dtype = descriptor("SM90_64x64x16_F32F16F16_SS", Operand::A, &base, &tile);
    assert!(dtype.unwrap_err().ends_with("a tensor of bf16: the atom's dtype"));
    let unaligned = descriptor("SM90_64x64x16_F32BF16BF16_SS", Operand::A, &(&base + 128), &tile);
    assert!(unaligned.unwrap_err().ends_with("a tensor that begins at a multiple of the period"));
    // Registers are refused where the atom wants a descriptor.
    let atom = MmaAtom::find("SM90_64x8x16_F32BF16BF16_SS").unwrap();
    let fragment =
        |b: &mut Builder, dtype, n| Rmem::tensor(b, dtype, Lay::strided([n], [1]).unwrap()).unwrap();
    let (x, y, z) =
        (fragment(&mut b, DType::Bf16, 8), fragment(&mut b, DType::Bf16, 4), fragment(&mut b, DType::F32, 4));
    let found = gemm(&mut b, &atom, &x, &y, &z).unwrap_err().to_string();
    assert!(found.ends_with("for an operand that the atom takes from registers"), "{found}");
}
