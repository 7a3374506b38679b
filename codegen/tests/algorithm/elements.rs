//! Elements in registers of their own, in vectors of every size: against the memory's bytes.

use girih_codegen::algorithm::{load_elements, pack, store_elements, unpack};
use girih_codegen::{Builder, Cond, Error, Expr, Rmem};
use girih_ptx::{Module, Special, Type};
use girih_tensor::{DType, Space};

use crate::simulator::{addresses, block, checked, download, ones, upload};

const THREADS: i64 = 4;
/// Threads whose condition holds.
const INSIDE: i64 = 3;

/// The dtypes whose elements are whole bytes, with how many of them a vector may have.
fn vectors() -> impl Iterator<Item = (DType, usize)> {
    let whole = DType::ALL.iter().filter(|dtype| dtype.bits() >= 8);
    whole.flat_map(|&dtype| {
        let counts = [1, 2, 4, 8, 16].into_iter().filter(move |count| count * dtype.bytes() <= 16);
        counts.map(move |count| (dtype, count as usize))
    })
}

/// Each thread stores its elements of `x` in reverse order to `y`: those below `INSIDE` what they loaded, the others `pad`.
fn reversed(dtype: DType, count: usize, pad: u64) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, THREADS as u32);
    let [x, y] = ["x", "y"].map(|name| b.pointer(name, 16));
    let thread = b.special(Special::TidX);
    let at = &thread * (count as i64 * dtype.bytes());
    let inside = Cond::less(&thread, &Expr::from(INSIDE));
    let mut elements = load_elements(&mut b, Space::Gmem, dtype, count, &(&x + &at), &inside, Some(pad))?;
    elements.reverse();
    store_elements(&mut b, Space::Gmem, dtype, &(&y + &at), &Cond::Always, &elements)?;
    Ok(b.finish()?.into_module())
}

#[test]
fn elements_are_loaded_and_stored_one_by_one() {
    for (dtype, count) in vectors() {
        let size = dtype.bytes() as usize;
        // Bools are 0 and 1; of other dtypes every bit counts.
        let byte = |i: usize| if dtype == DType::Bool { i as u8 / 3 % 2 } else { (i * 151 + 200) as u8 };
        let pad: u64 = if dtype == DType::Bool { 1 } else { 0xf1e2_d3c4_b5a6_9788 };
        let pad = if size == 8 { pad } else { pad & ((1 << (8 * size)) - 1) };
        let module = reversed(dtype, count, pad).unwrap();
        let memory = girih_sim::Memory::new();
        let bytes: Vec<u8> = (0..THREADS as usize * count * size).map(byte).collect();
        let (x, y) = (upload(&memory, &bytes), ones(&memory, bytes.len()));
        let launch = block(THREADS as u32, 0, addresses(&[x, y]));
        checked(&module, &memory, &launch).unwrap_or_else(|e| panic!("{count} of {dtype}: {e}\n{module}"));
        let mut expected = Vec::new();
        for (thread, elements) in bytes.chunks(count * size).enumerate() {
            let pad = &pad.to_le_bytes()[..size];
            let inside = (thread as i64) < INSIDE;
            let elements = elements.chunks(size).rev().map(|own| if inside { own } else { pad });
            expected.extend(elements.flatten().copied());
        }
        assert_eq!(download(&memory, y, bytes.len()), expected, "{count} of {dtype}\n{module}");
    }
}

#[test]
fn elements_are_packed_as_fragments_are() {
    for (dtype, _) in vectors().filter(|(dtype, count)| *count == 4 && *dtype != DType::Bool) {
        let mut b = Builder::new("k", 80, 1);
        let x = b.pointer("x", 16);
        let elements = load_elements(&mut b, Space::Gmem, dtype, 4, &x, &Cond::Always, None).unwrap();
        let packed = pack(&mut b, dtype, &elements);
        let fragment = Rmem::of(packed.clone(), dtype).unwrap();
        assert_eq!((fragment.values(), fragment.regs().len()), (4, packed.len()), "{dtype}");
        let types =
            |regs: &[girih_codegen::Reg]| regs.iter().map(girih_codegen::Reg::ty).collect::<Vec<Type>>();
        assert_eq!(types(&unpack(&mut b, dtype, 4, &packed)), types(&elements), "{dtype}");
    }
}

#[test]
fn what_no_vector_has_is_refused() {
    let mut b = Builder::new("k", 80, 1);
    let x = b.pointer("x", 16);
    let mut load = |space, count| load_elements(&mut b, space, DType::F32, count, &x, &Cond::Always, None);
    assert!(matches!(load(Space::Gmem, 3), Err(Error::Access { .. })));
    assert!(matches!(load(Space::Gmem, 8), Err(Error::Access { .. })));
    assert!(matches!(load(Space::Rmem, 1), Err(Error::Access { .. })));
    for (dtype, count) in [(DType::F16, 3), (DType::F64, 4), (DType::U8, 32), (DType::S4, 8)] {
        let found = load_elements(&mut b, Space::Gmem, dtype, count, &x, &Cond::Always, None);
        assert!(matches!(found, Err(Error::Access { .. })), "{count} of {dtype}");
    }
}

/// No store is written whose condition never holds.
#[test]
fn nothing_is_stored_for_no_thread() {
    let mut b = Builder::new("k", 80, 1);
    let x = b.pointer("x", 16);
    let element = b.regs(Type::F32, 1);
    store_elements(&mut b, Space::Gmem, DType::F32, &x, &Cond::Never, &element).unwrap();
    assert!(!b.finish().unwrap().module().to_string().contains("st."));
}
