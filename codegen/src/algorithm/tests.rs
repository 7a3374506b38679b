//! Copies between shared memory and registers on the simulator.

use girih_layout::lay;
use girih_ptx::{Module, Special};
use girih_sim::{Launch, Memory as Device, Options, Program};
use girih_tensor::DType;

use super::*;
use crate::atom::{
    SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, UNIVERSAL_COPY_16, UNIVERSAL_COPY_32, UNIVERSAL_COPY_64,
    UNIVERSAL_COPY_128,
};
use crate::{Expr, Gmem, Smem};

const ALL_UNIVERSAL: [&CopyAtom; 4] =
    [&UNIVERSAL_COPY_16, &UNIVERSAL_COPY_32, &UNIVERSAL_COPY_64, &UNIVERSAL_COPY_128];

/// A kernel of one thread that moves `source` into registers and from there to `target`, both over global arrays of
/// 256 bytes.
fn kernel(atoms: [&CopyAtom; 2], layouts: [&Lay; 2], dtype: DType) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, 1);
    let pointers = [b.pointer("dst", 16), b.pointer("src", 16)];
    let [target, source] = [0, 1].map(|i| Tensor::new(Gmem::new(pointers[i].clone(), dtype), *layouts[i]));
    let values = layouts[1].size()?.get().unwrap_or(0) as usize;
    let registers = Rmem::new(&mut b, dtype, values);
    load(&mut b, atoms[1], &Cond::Always, &source, &registers)?;
    store(&mut b, atoms[0], &Cond::Always, &registers, &target)?;
    b.finish()
}

fn execute(module: &Module) -> Vec<u8> {
    let memory = Device::new();
    let (dst, src) = (memory.alloc(256).unwrap(), memory.alloc(256).unwrap());
    memory.fill(dst, 0xff, 256).unwrap();
    memory.write(src, &(0..=255).collect::<Vec<u8>>()).unwrap();
    let args = [dst, src].map(|a| a.to_le_bytes().to_vec()).to_vec();
    let launch = Launch { grid: [1; 3], block: [1; 3], cluster: None, dynamic_shared: 0, args };
    let program = Program::load(module).unwrap();
    girih_sim::run(program.kernel("k").unwrap(), &memory, &launch, &Options::checked()).unwrap();
    let mut out = vec![0; 256];
    memory.read(dst, &mut out).unwrap();
    out
}

/// Whatever is accepted copies value `i` of the source to value `i` of the target and nothing else.
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
    let mut accepted = 0;
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        for (source, target) in layouts.iter().flat_map(|s| layouts.iter().map(move |t| (s, t))) {
            for atoms in ALL_UNIVERSAL.iter().flat_map(|a| ALL_UNIVERSAL.iter().map(move |b| [*a, *b])) {
                let module = match kernel(atoms, [target, source], dtype) {
                    Ok(module) => module,
                    Err(Error::Mismatch { .. }) => continue,
                    Err(other) => panic!("{source} to {target} of {dtype}: {other}"),
                };
                accepted += 1;
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
    assert!(accepted > 100, "{accepted} copies were accepted");
}

#[test]
fn what_does_not_fit_the_atom_is_refused() {
    let mut b = Builder::new("k", 80, 32);
    let (base, thread) = (b.shared(), b.special(Special::TidX, 32));
    let tensor = |base: &Expr, layout| Tensor::new(Smem::new(base.clone(), DType::F32, None), layout);
    let eight = Rmem::new(&mut b, DType::F32, 8);
    let half = Rmem::new(&mut b, DType::F16, 8);
    let refused = [
        ("no vector", tensor(&base, lay!("8:2")), &UNIVERSAL_COPY_128, &eight),
        ("another number of values", tensor(&base, lay!("4:1")), &UNIVERSAL_COPY_128, &eight),
        ("another dtype", tensor(&base, lay!("8:1")), &UNIVERSAL_COPY_128, &half),
        ("an element wider than the atom", tensor(&base, lay!("8:1")), &UNIVERSAL_COPY_16, &eight),
        ("an atom of another kind", tensor(&base, lay!("8:1")), &SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_16, &eight),
        ("unaligned addresses", tensor(&(&base + &(&thread * 4)), lay!("8:1")), &UNIVERSAL_COPY_128, &eight),
    ];
    for (what, memory, atom, registers) in refused {
        let found = load(&mut b, atom, &Cond::Always, &memory, registers);
        assert!(matches!(found, Err(Error::Mismatch { what: "copy", .. })), "{what}: {found:?}");
        let found = store(&mut b, atom, &Cond::Always, registers, &memory);
        assert!(matches!(found, Err(Error::Mismatch { what: "copy", .. })), "{what}: {found:?}");
    }
    load(
        &mut b,
        &UNIVERSAL_COPY_128,
        &Cond::Always,
        &tensor(&(&base + &(&thread * 32)), lay!("8:1")),
        &eight,
    )
    .unwrap();
}
