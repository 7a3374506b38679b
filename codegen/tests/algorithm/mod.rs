//! Copies on the simulator.
#![expect(clippy::unwrap_used, reason = "tests")]

mod convert;
mod elements;
mod options;
mod partial;
mod products;
mod ragged;
mod values;

use girih_codegen::algorithm::{Predicates, clear, copy, copy_if, prefetch};
use girih_codegen::atom::{
    AUTO_VECTORIZING_COPY, CopyAtom, SM75_U32X4_LDSM_N, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, UNIVERSAL_COPY_8,
    UNIVERSAL_COPY_16, UNIVERSAL_COPY_32, UNIVERSAL_COPY_64, UNIVERSAL_COPY_128,
};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Rmem, Smem};
use girih_layout::{Lay, lay};
use girih_ptx::{Module, Special};
use girih_sim::Memory;
use girih_tensor::{DType, Tensor};

use crate::simulator::{addresses, block, checked, download, ones, upload};

const ATOMS: [&CopyAtom; 6] = [
    &UNIVERSAL_COPY_8,
    &UNIVERSAL_COPY_16,
    &UNIVERSAL_COPY_32,
    &UNIVERSAL_COPY_64,
    &UNIVERSAL_COPY_128,
    &AUTO_VECTORIZING_COPY,
];

/// A kernel of one thread that moves `source` into registers and from there to `target`, both over global arrays of
/// 256 bytes.
fn kernel(atoms: [&CopyAtom; 2], layouts: [&Lay; 2], dtype: DType) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, 1);
    let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
    let [target, source] = [0, 1].map(|i| Tensor::new(Gmem::new(pointers[i].clone(), dtype), *layouts[i]));
    let registers = Rmem::like(&mut b, &source)?;
    copy(&mut b, atoms[1], &source, &registers)?;
    copy(&mut b, atoms[0], &registers, &target)?;
    Ok(b.finish()?.into_module())
}

fn execute(module: &Module) -> Vec<u8> {
    execute_with(module, 0)
}

/// Runs the kernel with `dynamic_shared` bytes of shared memory.
fn execute_with(module: &Module, dynamic_shared: u32) -> Vec<u8> {
    let memory = Memory::new();
    let arrays = [ones(&memory, 256), upload(&memory, &(0..=255).collect::<Vec<u8>>())];
    checked(module, &memory, &block(1, dynamic_shared, addresses(&arrays))).unwrap();
    download(&memory, arrays[0], 256)
}

/// A copy that is accepted copies value `i` of the source to value `i` of the target and nothing else.
#[test]
fn accepted_copies_are_copies() {
    let layouts = [
        lay!("8:1"),
        lay!("(2,4):(4,1)"),
        lay!("(4,2):(1,16)"),
        lay!("(2,4):(16,1)"),
        lay!("(4,2):(2,1)"),
        lay!("8:2"),
        lay!("(2,2,2):(1,8,4)"),
    ];
    let (mut accepted, mut automatic) = (0, 0);
    for dtype in [DType::F64, DType::F32, DType::F16, DType::U8] {
        for (source, target) in layouts.iter().flat_map(|s| layouts.iter().map(move |t| (s, t))) {
            for atoms in ATOMS.iter().flat_map(|a| ATOMS.iter().map(move |b| [*a, *b])) {
                let module = match kernel(atoms, [target, source], dtype) {
                    Ok(module) => module,
                    Err(Error::Mismatch { .. }) => continue,
                    Err(other) => panic!("{source} to {target} of {dtype}: {other}"),
                };
                accepted += 1;
                automatic += usize::from(atoms == [&AUTO_VECTORIZING_COPY; 2]);
                let bytes = dtype.bits() as usize / 8;
                let mut expected = vec![0xff; 256];
                for i in 0..8 {
                    let at = |lay: &Lay| lay.crd2idx(&girih_layout::Coord::at(i)).unwrap() as usize * bytes;
                    let (from, to) = (at(source), at(target));
                    (0..bytes).for_each(|byte| expected[to + byte] = (from + byte) as u8);
                }
                let names = atoms.map(|a| a.name());
                assert_eq!(
                    execute(&module),
                    expected,
                    "{source} to {target} of {dtype} by {names:?}\n{module}"
                );
            }
        }
    }
    assert!(accepted > 500, "{accepted} copies were accepted");
    assert_eq!(automatic, 4 * 49, "a copy that finds its width copies everything");
}

/// Values are copied from memory to memory, from registers to registers, and between parts of registers.
#[test]
fn copies_without_memory_or_without_registers() {
    let mut b = Builder::new("k", 80, 1);
    let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
    let [target, source] =
        [0, 1].map(|i| Tensor::new(Gmem::new(pointers[i].clone(), DType::U8), lay!("64:1")));
    let shared = Tensor::new(Smem::new(b.alloc_shared(64, 16).unwrap(), DType::U8, None), lay!("64:1"));
    let [first, second, third] = [(); 3].map(|()| Rmem::like(&mut b, &source).unwrap());
    copy(&mut b, AUTO_VECTORIZING_COPY, &source, &shared).unwrap();
    copy(&mut b, UNIVERSAL_COPY_32, &shared, &first).unwrap();
    copy(&mut b, UNIVERSAL_COPY_128, &first, &second).unwrap();
    copy(&mut b, UNIVERSAL_COPY_8, &second, &third).unwrap();
    // The bytes of each register are reversed.
    let reversed = Tensor::new(third.engine().clone(), lay!("(4,16):(1,4)"));
    let columns = Tensor::new(target.engine().clone(), lay!("(4,16):(16,1)"));
    copy(&mut b, AUTO_VECTORIZING_COPY, &reversed, &columns).unwrap();
    let out = execute_with(&b.finish().unwrap().into_module(), 64);
    for i in 0..64 {
        assert_eq!(usize::from(out[i % 4 * 16 + i / 4]), i);
    }
}

/// Elements smaller than a byte are copied in whole bytes, through registers and parts of registers.
#[test]
fn elements_smaller_than_a_byte_are_copied() {
    for (dtype, per_byte) in [(DType::U4, 2), (DType::S4, 2), (DType::B1, 8)] {
        // Rows have 8 bytes; the rows of the source are 16 bytes apart.
        let rows = |pitch: i64| Lay::strided([8 * per_byte, 4], [1, pitch * per_byte]).unwrap();
        for atom in
            [UNIVERSAL_COPY_8, UNIVERSAL_COPY_16, UNIVERSAL_COPY_32, UNIVERSAL_COPY_64, AUTO_VECTORIZING_COPY]
        {
            let module = kernel([&atom, &atom], [&rows(8), &rows(16)], dtype).unwrap();
            let out = execute(&module);
            for (i, &found) in out.iter().enumerate() {
                let expected = if i < 32 { i / 8 * 16 + i % 8 } else { 0xff };
                assert_eq!(usize::from(found), expected, "{dtype} by {atom}: byte {i}");
            }
        }
        // Every second element begins inside a byte, and has no address.
        let apart = Lay::leaf((4 * per_byte).into(), 2.into()).unwrap();
        let found = kernel([&UNIVERSAL_COPY_8; 2], [&apart, &apart], dtype);
        assert!(matches!(found, Err(Error::Mismatch { what: "copy", .. })), "{found:?}");
    }
}

/// Where each value has its own predicate, a vector is made of values with the same predicate.
#[test]
fn values_with_predicates_of_their_own() {
    for dtype in [DType::U8, DType::F16, DType::F32] {
        let bytes = dtype.bits() as usize / 8;
        let mut b = Builder::new("k", 80, 1);
        let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
        let [target, source] =
            [0, 1].map(|i| Tensor::new(Gmem::new(pointers[i].clone(), dtype), lay!("8:1")));
        let wanted = |i: usize| i % 3 != 1;
        let each = (0..8).map(|i| if wanted(i) { Cond::Always } else { Cond::Never }).collect();
        let each = Predicates::each(each);
        let registers = Rmem::like(&mut b, &source).unwrap();
        clear(&mut b, &registers).unwrap();
        copy_if(&mut b, AUTO_VECTORIZING_COPY, &each, &source, &registers).unwrap();
        copy_if(&mut b, AUTO_VECTORIZING_COPY, &each, &registers, &target).unwrap();
        for (i, &found) in execute(&b.finish().unwrap().into_module()).iter().enumerate() {
            let expected = if i < 8 * bytes && wanted(i / bytes) { i } else { 0xff };
            assert_eq!(usize::from(found), expected, "{dtype}: byte {i}");
        }
    }
}

#[test]
fn what_does_not_fit_the_atom_is_refused() {
    let mut b = Builder::new("k", 80, 32);
    let (base, thread) = (b.alloc_shared(4096, 1024).unwrap(), b.special(Special::TidX));
    let tensor = |base: &Expr, layout| Tensor::new(Smem::new(base.clone(), DType::F32, None), layout);
    let eight = Rmem::tensor(&mut b, DType::F32, lay!("8")).unwrap();
    let half = Rmem::tensor(&mut b, DType::F16, lay!("8")).unwrap();
    let unaligned = tensor(&(&base + &(&thread * 4)), lay!("8:1"));
    let refused = [
        (tensor(&base, lay!("8:2")), &UNIVERSAL_COPY_128, &eight),
        (tensor(&base, lay!("4:1")), &UNIVERSAL_COPY_128, &eight),
        (tensor(&base, lay!("8:1")), &UNIVERSAL_COPY_128, &half),
        (tensor(&base, lay!("8:1")), &UNIVERSAL_COPY_16, &eight),
        (tensor(&base, lay!("8:1")), &SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, &eight),
        (unaligned, &UNIVERSAL_COPY_128, &eight),
    ];
    let mut texts = Vec::new();
    for (memory, atom, registers) in refused {
        let found = copy(&mut b, atom, registers, &memory).unwrap_err();
        assert!(matches!(found, Error::Mismatch { what: "copy", .. }), "{found:?}");
        texts.push(copy(&mut b, atom, &memory, registers).unwrap_err().to_string());
    }
    // Lanes that execute together have no predicates.
    let rows = Tensor::new(Smem::new(base.clone(), DType::F16, None), lay!("8:1"));
    let inside = Predicates::from(Cond::less(&thread, &Expr::from(7)));
    texts.push(copy_if(&mut b, SM75_U32X4_LDSM_N, &inside, &rows, &half).unwrap_err().to_string());
    let each = Predicates::each(vec![Cond::Always; 3]);
    texts.push(copy_if(&mut b, UNIVERSAL_COPY_16, &each, &rows, &half).unwrap_err().to_string());
    texts.push(prefetch(&mut b, UNIVERSAL_COPY_16, &rows).unwrap_err().to_string());
    expect_test::expect![[r#"
        copy: Smem f32 8:2 to Rmem f32 8:1 does not fit UniversalCopy<uint128_t>, from any to any: vectors that lie together in memory, aligned to their size, and in whole registers
        copy: Smem f32 4:1 to Rmem f32 8:1 does not fit UniversalCopy<uint128_t>, from any to any: as many values on both sides
        copy: Smem f32 8:1 to Rmem f16 8:1 does not fit UniversalCopy<uint128_t>, from any to any: one dtype on both sides
        copy: Smem f32 8:1 to Rmem f32 8:1 does not fit UniversalCopy<uint16_t>, from any to any: an atom that holds whole values
        copy: Smem f32 8:1 to Rmem f32 8:1 does not fit SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>, from Gmem to Smem: the spaces that the atom copies between; of a tensor copy, its coordinates
        copy: Smem f32 8:1 to Rmem f32 8:1 does not fit UniversalCopy<uint128_t>, from any to any: vectors that lie together in memory, aligned to their size, and in whole registers
        copy: Smem f16 8:1 to Rmem f16 8:1 does not fit SM75_U32x4_LDSM_N, from Smem to Rmem: no predicates, since all lanes execute the instruction together
        copy: Smem f16 8:1 to Rmem f16 8:1 does not fit UniversalCopy<uint16_t>, from any to any: a predicate for each value of the source
        prefetch: 8:1 does not fit UniversalCopy<uint16_t>: an atom that prefetches
    "#]].assert_eq(&(texts.join("\n") + "\n"));
    let aligned = tensor(&(&base + &(&thread * 32)), lay!("8:1"));
    copy(&mut b, UNIVERSAL_COPY_128, &aligned, &eight).unwrap();
}
