//! Exchanges between lanes on the simulator: each element comes to the thread that is to have it.

use girih_codegen::algorithm::{load_elements, store_elements};
use girih_codegen::plan::Dist;
use girih_codegen::plan::shuffle::Shuffles;
use girih_codegen::{Builder, Cond, Error, Expr, Reg};
use girih_ptx::{Module, Special, Type};
use girih_sim::Memory;
use girih_tensor::{DType, Space};

use crate::simulator::{addresses, block, checked, download, ones, upload};

/// The address of a thread's value in a row-major array.
fn address(base: &Expr, at: &[Expr], dist: &Dist, value: usize, extents: &[u32], dtype: DType) -> Expr {
    let at = at.iter().zip(dist.offset(value, extents.len())).zip(extents);
    let index = at.fold(Expr::from(0), |index, ((at, by), &n)| &(&index * i64::from(n)) + &(at + by));
    base + &(&index * dtype.bytes())
}

/// `y = x`, loaded as `from` says and stored as `to` says.
fn kernel(dtype: DType, extents: &[u32], from: &Dist, to: &Dist) -> Result<Module, Error> {
    let shuffles = Shuffles::new(extents, dtype, from, to).expect("inside of warps");
    let mut b = Builder::new("k", 80, from.threads() as u32);
    let [x, y] = ["x", "y"].map(|name| b.pointer(name, 16));
    let thread = b.special(Special::TidX);
    let [source, target] = [from, to].map(|dist| dist.coordinate(&thread, extents.len()));
    let (source, target) = (source?, target?);
    let mut regs: Vec<Reg> = Vec::new();
    for value in 0..from.size() {
        let address = address(&x, &source, from, value, extents, dtype);
        regs.extend(load_elements(&mut b, Space::Gmem, dtype, 1, &address, &Cond::Always, None)?);
    }
    let regs = shuffles.emit(&mut b, &thread, dtype, &regs)?;
    let own = to.owner(&thread)?;
    for (value, reg) in regs.iter().enumerate() {
        let address = address(&y, &target, to, value, extents, dtype);
        store_elements(&mut b, Space::Gmem, dtype, &address, &own, std::slice::from_ref(reg))?;
    }
    Ok(b.finish()?.into_module())
}

#[test]
fn elements_come_to_their_threads() {
    let cases = [
        ([1, 128], [1, 0], [4, 1]),
        ([4, 64], [1, 0], [4, 2]),
        ([8, 32], [0, 1], [4, 1]),
        // Lanes with copies.
        ([1, 16], [1, 0], [2, 1]),
    ];
    let mut found = 0;
    for (extents, order, vectors) in cases {
        let [from, to] = vectors.map(|vector| Dist::blocked(&extents.map(i64::from), &order, vector, 32));
        for dtype in [DType::F32, DType::Bf16, DType::S64, DType::U8, DType::Bool] {
            if Shuffles::new(&extents, dtype, &from, &to).is_none() {
                continue;
            }
            found += 1;
            let module = kernel(dtype, &extents, &from, &to).unwrap();
            let length = extents.iter().product::<u32>() as usize * dtype.bytes() as usize;
            let byte = |i: usize| if dtype == DType::Bool { i as u8 / 3 % 2 } else { (i * 151 + 200) as u8 };
            let bytes: Vec<u8> = (0..length).map(byte).collect();
            let memory = Memory::new();
            let (x, y) = (upload(&memory, &bytes), ones(&memory, length));
            let launch = block(from.threads() as u32, 0, addresses(&[x, y]));
            let what = format!("{dtype} {extents:?}: {from} to {to}");
            checked(&module, &memory, &launch).unwrap_or_else(|e| panic!("{what}: {e}\n{module}"));
            assert_eq!(download(&memory, y, length), bytes, "{what}\n{module}");
        }
    }
    assert!(found >= 10, "{found} exchanges inside of warps");
}

#[test]
fn registers_of_other_values_are_refused() {
    let [blocked, striped] = [4, 1].map(|vector| Dist::blocked(&[128], &[0], vector, 32));
    let shuffles = Shuffles::new(&[128], DType::F32, &blocked, &striped).unwrap();
    let mut b = Builder::new("k", 80, 32);
    let thread = b.special(Special::TidX);
    for count in [0, 3, 5] {
        let regs = b.regs(Type::F32, count);
        let found = shuffles.emit(&mut b, &thread, DType::F32, &regs);
        assert!(matches!(found, Err(Error::Mismatch { .. })), "{count}: {found:?}");
    }
}
