//! Shared memory under maps over F2: the results of kernels on the simulator, and the simulator's counters.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::algorithm::copy;
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, CopyAtom, UNIVERSAL_COPY_32, UNIVERSAL_COPY_128};
use girih_codegen::plan::{Access, BestMap, Order, best_map, best_swizzle};
use girih_codegen::{Builder, Error, Expr, Gmem, Rmem, Smem};
use girih_layout::{F2Matrix, Lay, lay};
use girih_ptx::{Module, Special};
use girih_sim::{Memory, Options};
use girih_tensor::{DType, Tensor};
use proptest::prelude::*;

use crate::simulator::{addresses, block, download, run, upload};

const SIDE: i64 = 32;
const THREADS: i64 = 256;

/// How the threads write and read a 32 x 32 tile of words in shared memory.
struct Way {
    write: (Access, CopyAtom),
    read: (Access, CopyAtom),
}

/// Each thread takes 16 bytes of a row, and 8 threads a row.
fn rows() -> (Access, CopyAtom) {
    (Access { tv: lay!("((8,32),4):((128,1),32)"), vector: 4 }, UNIVERSAL_COPY_128)
}

/// Each thread takes a word of each of four columns, and a warp a column.
fn columns() -> (Access, CopyAtom) {
    (Access { tv: lay!("((32,8),4):((1,32),256)"), vector: 1 }, UNIVERSAL_COPY_32)
}

/// Copies a matrix through shared memory, and writes the values that each thread has read, in the order of its registers.
fn kernel(way: &Way, shared: &dyn Fn(Expr) -> Result<Tensor<Smem>, Error>) -> Result<Module, Error> {
    let mut b = Builder::new("k", 80, THREADS as u32);
    let (from, to) = (b.pointer("from", 16), b.pointer("to", 16));
    let (base, thread) = (b.alloc_shared(SIDE * SIDE * 4, 1024)?, b.special(Special::TidX));
    let tile = shared(base)?;
    let global = |pointer| Tensor::new(Gmem::new(pointer, DType::F32), lay!("(32,32):(32,1)"));
    let ((write, store), (read, load)) = (&way.write, &way.read);
    let source = global(from).tv_partition(&write.tv, &thread)?; // (Val)
    let values = Rmem::like(&mut b, &source)?;
    copy(&mut b, AUTO_VECTORIZING_COPY, &source, &values)?;
    copy(&mut b, *store, &values, &tile.tv_partition(&write.tv, &thread)?)?;
    b.barrier();
    let source = tile.tv_partition(&read.tv, &thread)?; // (Val)
    let values = Rmem::like(&mut b, &source)?;
    copy(&mut b, *load, &source, &values)?;
    let target = global(to).tv_partition(&read.tv, &thread)?; // (Val)
    copy(&mut b, AUTO_VECTORIZING_COPY, &values, &target)?;
    Ok(b.finish()?.into_module())
}

/// The wavefronts that the simulator counts, once the matrix has come through unchanged.
fn wavefronts(module: &Module) -> (u64, u64) {
    let bytes = (SIDE * SIDE * 4) as usize;
    let data: Vec<u8> = (0..bytes).map(|i| (i * 7 % 253) as u8).collect();
    let memory = Memory::new();
    let (to, from) = (memory.alloc(bytes).unwrap(), upload(&memory, &data));
    let launch = block(THREADS as u32, bytes as u32, addresses(&[from, to]));
    let options = Options { threads: Some(1), counts: true, ..Options::checked() };
    let report = run(module, &memory, &launch, &options).unwrap();
    let out = download(&memory, to, bytes);
    assert!(out == data, "{module}");
    (report.wavefronts, report.least_wavefronts)
}

/// The tile is stored by 16-byte rows and read by 4-byte columns, and the other way round: every swizzle of whole vectors has
/// conflicts, and the map has none.
#[test]
fn a_tile_of_rows_and_columns_is_met_without_conflicts() {
    let tile = lay!("(32,32):(32,1)");
    for way in [Way { write: rows(), read: columns() }, Way { write: columns(), read: rows() }] {
        let accesses = [way.write.0, way.read.0];
        let (swizzle, taken) = best_swizzle(&tile, 32, &accesses).unwrap();
        let swizzled = |base| Ok(Tensor::new(Smem::new(base, DType::F32, Some(swizzle)), tile));
        let expected = (taken.taken as u64, taken.least as u64);
        assert_eq!(wavefronts(&kernel(&way, &swizzled).unwrap()), expected);
        assert_eq!(expected, (160, 64));

        let BestMap { map, wavefronts: found, is_optimal } =
            best_map(&tile, 32, &accesses, Order::Free).unwrap();
        assert!(is_optimal && found.is_least());
        let mapped = |base| Ok(Tensor::new(Smem::mapped(base, DType::F32, &map)?, tile));
        let module = kernel(&way, &mapped).unwrap();
        assert_eq!(wavefronts(&module), (64, 64), "{module}");
        // The vectors are still 16 bytes.
        assert!(module.to_string().contains(".shared.v4"), "{module}");
    }
}

/// No swizzle serves these accesses, but a map that keeps vectors does: the map and the layout that it makes work as engines.
#[test]
fn a_map_that_is_no_swizzle_is_carried_like_one() {
    let tile = lay!("(32,32):(32,1)");
    // The accesses are words of a column, of a row, and of every second place of sixteen columns of two rows.
    let columns = (Access { tv: lay!("((32,8),4):((1,32),256)"), vector: 1 }, UNIVERSAL_COPY_32);
    let blocks = (Access { tv: lay!("((4,8,8),4):((1,32,4),256)"), vector: 1 }, UNIVERSAL_COPY_32);
    let rows = Access { tv: lay!("((32,8),4):((32,1),8)"), vector: 1 };
    let way = Way { write: columns, read: blocks };
    let accesses = [way.write.0, way.read.0, rows];
    let BestMap { map, wavefronts: found, .. } = best_map(&tile, 32, &accesses, Order::Kept).unwrap();
    assert!(found.is_least());
    let layout = map.after(&F2Matrix::of_layout(&tile).unwrap()).unwrap().layout(tile.shape()).unwrap();
    let mapped = |base| Ok(Tensor::new(Smem::mapped(base, DType::F32, &map)?, tile));
    let as_layout = |base| Smem::tensor(base, DType::F32, &layout);
    for shared in [&mapped as &dyn Fn(_) -> _, &as_layout] {
        let (taken, least) = wavefronts(&kernel(&way, shared).unwrap());
        assert_eq!(taken, least, "{map:?}");
    }
}

/// Instructions that swizzle addresses themselves take no maps.
#[test]
fn maps_are_refused_by_what_swizzles_by_itself() {
    let mut b = Builder::new("k", 90, 128);
    let map = F2Matrix::of_columns(&[1, 2, 4, 8, 24, 32 + 8 + 16]).unwrap();
    let engine = Smem::mapped(b.alloc_shared(1024, 1024).unwrap(), DType::F16, &map).unwrap();
    assert!(engine.swizzle().is_none() && engine.map() == Some(&map));
    let lost = F2Matrix::of_columns(&[1, 1]).unwrap();
    assert!(
        Smem::mapped(b.alloc_shared(1024, 1024).unwrap(), DType::F16, &lost)
            .unwrap_err()
            .to_string()
            .contains("onto")
    );
    let gaps = Lay::parse("(2,2):(^1,^4)").unwrap();
    assert!(Smem::tensor(b.alloc_shared(1024, 1024).unwrap(), DType::F16, &gaps).is_err());
}

/// A bijection of `n` bits as the product of elementary ones.
fn bijections(n: usize) -> impl Strategy<Value = F2Matrix> {
    prop::collection::vec((0..n, 0..n), 0..12).prop_map(move |steps| {
        let mut columns: Vec<u64> = (0..n).map(|bit| 1 << bit).collect();
        for (a, b) in steps {
            if a == b { columns.rotate_left(1) } else { columns[a] ^= columns[b] }
        }
        F2Matrix::of_columns(&columns).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any bijection, also one that scatters vectors, a copy that the atom cannot do is refused, and any other copy is right and takes
    /// as many wavefronts as the map's layout says.
    #[test]
    fn tiles_come_through_any_map(map in bijections(10), swap in any::<bool>(), wide in any::<bool>()) {
        let mut way = Way { write: rows(), read: columns() };
        if !wide {
            way.write.1 = AUTO_VECTORIZING_COPY;
        }
        if swap {
            way = Way { write: way.read, read: way.write };
        }
        let tile = lay!("(32,32):(32,1)");
        let shared = |base| Ok(Tensor::new(Smem::mapped(base, DType::F32, &map)?, tile));
        match kernel(&way, &shared) {
            Ok(module) => {
                wavefronts(&module);
            }
            Err(error) => {
                prop_assert!(matches!(error, Error::Mismatch { what: "copy", .. }), "{}", error);
                prop_assert!(wide && map.columns()[..2] != [1, 2], "{}", error);
            }
        }
    }
}
