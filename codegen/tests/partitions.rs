//! The public pieces: engines, tiled copies and MMAs.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::atom::{SM80_16X8X16_F32BF16BF16F32_TN, UNIVERSAL_COPY_8, UNIVERSAL_COPY_128};
use girih_codegen::{Builder, Counting, Error, Expr, Gmem, Memory, Operand, Smem, TiledCopy, TiledMma};
use girih_layout::{Coord, Lay, Symbol, Tile, lay};
use girih_ptx::Special;
use girih_tensor::{DType, Index, Slice, Tensor};

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

fn at(layout: &Lay, coordinate: &[i64]) -> i64 {
    layout.crd2idx(&Coord::of(coordinate).unwrap()).unwrap()
}

/// Whether `tv` has every index below the tile's size once.
fn covers(tv: &Lay, tile: i64) -> bool {
    let mut owned: Vec<i64> = (0..size(tv)).map(|i| tv.crd2idx(&Coord::at(i)).unwrap()).collect();
    owned.sort_unstable();
    owned.into_iter().eq(0..tile)
}

/// T03: threads raked over values own each element of the tile once, each thread's values side by side.
#[test]
fn tiled_copies_own_their_tile_once() {
    let threads = ["(32,4):(1,32)", "(32,4):(4,1)", "(8,16):(16,1)", "(1,32):(0,1)", "((2,4),8):((1,16),2)"];
    let values = ["(1,8):(8,1)", "(4,1):(1,4)", "(2,2):(1,2)", "(2,4):(4,1)", "(1,1):(0,0)"];
    for (thr, val) in threads.iter().flat_map(|t| values.iter().map(move |v| (t, v))) {
        let (thr, val) = (Lay::parse(thr).unwrap(), Lay::parse(val).unwrap());
        let copy = TiledCopy::new(UNIVERSAL_COPY_8, 8, &thr, &val).unwrap();
        let extent = |i: usize| size(&thr.mode(i).unwrap()) * size(&val.mode(i).unwrap());
        assert_eq!(copy.extents().unwrap(), [extent(0), extent(1)], "{thr} and {val}");
        assert!(covers(&copy.tv, extent(0) * extent(1)), "{thr} and {val}: {}", copy.tv);
        assert_eq!(copy.threads().unwrap(), size(&thr));
        // Thread t at (ti,tj), value v at (vi,vj): the element (ti * VM + vi, tj * VN + vj).
        let [vm, vn] = [0, 1].map(|i| size(&val.mode(i).unwrap()));
        let [rows, columns] = [extent(0), extent(1)];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let thread = at(&thr, &[i / vm, j / vn]);
            let value = at(&val, &[i % vm, j % vn]);
            assert_eq!(at(&copy.tv, &[thread, value]), i + rows * j, "{thr} and {val}: ({i},{j})");
        }
    }
}

#[test]
fn partitions_need_whole_tiles() {
    let copy = TiledCopy::new(UNIVERSAL_COPY_128, 32, &lay!("(32,4):(4,1)"), &lay!("(1,8):(8,1)")).unwrap();
    let mut b = Builder::new("k", 80, 128);
    let (pointer, thread) = (b.pointer("p", 16), b.special(Special::TidX));
    let tensor = |layout| Tensor::new(Gmem::new(pointer.clone(), DType::F32), layout);
    let mine = copy.get_slice(&thread).unwrap();
    let whole = mine.partition_s(&tensor(lay!("(64,96,5):(96,1,6144)"))).unwrap();
    // Two instructions of four values each.
    assert_eq!(whole.layout().to_string(), "((4,2),2,3,5):((1,4),3072,32,6144)");
    for layout in [lay!("(48,96):(96,1)"), lay!("(64,40):(40,1)")] {
        let found = mine.partition_s(&tensor(layout));
        assert!(matches!(found, Err(Error::Mismatch { what: "partition", .. })), "{found:?}");
    }
    let found = TiledCopy::new(UNIVERSAL_COPY_128, 32, &lay!("32:1"), &lay!("(1,8):(8,1)"));
    assert!(matches!(found, Err(Error::Mismatch { what: "TiledCopy", .. })), "{found:?}");

    let mma = |permutation| TiledMma {
        atom: SM80_16X8X16_F32BF16BF16F32_TN,
        atoms: lay!("(2,2):(1,2)"),
        permutation,
    };
    let plain = mma([Tile::All; 3]);
    for (operand, layout) in [(Operand::A, "(48,16)"), (Operand::B, "(16,8)"), (Operand::C, "(32,24)")] {
        let found = plain.thrfrg(operand, &Lay::parse(layout).unwrap());
        assert!(matches!(found, Err(Error::Mismatch { what: "thrfrg", .. })), "{operand:?}: {found:?}");
    }
    let ordered = mma([Tile::Lay(lay!("(8,2,3):(1,24,8)")), Tile::All, Tile::All]);
    let found = ordered.thrfrg(Operand::A, &lay!("(64,16):(1,64)"));
    assert!(matches!(found, Err(Error::Mismatch { what: "thrfrg", .. })), "{found:?}");
    assert!(ordered.thrfrg(Operand::A, &lay!("(96,16):(1,96)")).is_ok());
}

/// T07: C's threads and values cover any whole number of tiles once, in any order of rows and columns.
#[test]
fn tiled_mmas_own_c_once() {
    for atoms in ["(2,2):(1,2)", "(1,4):(0,1)", "(4,1):(1,0)", "(2,4):(4,1)"] {
        for order in [Tile::All, Tile::Lay(lay!("(8,2,2):(1,16,8)"))] {
            let atoms = Lay::parse(atoms).unwrap();
            let mma = TiledMma {
                atom: SM80_16X8X16_F32BF16BF16F32_TN,
                atoms,
                permutation: [order, order, Tile::All],
            };
            let c = mma.thrfrg(Operand::C, &lay!("(64,64):(1,64)")).unwrap();
            assert!(covers(&c, 64 * 64), "{atoms}: {c}");
            assert_eq!(size(&c.mode(0).unwrap()), mma.threads().unwrap());
        }
    }
}

#[test]
fn engines_follow_the_strides_they_can() {
    let mut b = Builder::new("k", 80, 32);
    let (pointer, shared, thread) =
        (b.pointer("p", 4), b.alloc_shared(1 << 14, 1024).unwrap(), b.special(Special::TidX));
    let slice = Slice::tuple([Slice::At(thread.clone()), Slice::at(3)]);
    let identity = Lay::identity(lay!("(32,8):(1,32)").shape()).unwrap();
    let integers = lay!("(32,8):(1,40)");

    let gmem = Tensor::new(Gmem::new(pointer.clone(), DType::Bf16), integers).slice(&slice).unwrap();
    assert_eq!(gmem.into_engine().address().unwrap(), &(&pointer + &(&thread * 2)) + 240);
    let smem = Tensor::new(Smem::new(shared.clone(), DType::F32, None), integers).slice(&slice).unwrap();
    assert_eq!(smem.into_engine().address().unwrap(), &(&shared + &(&thread * 4)) + 480);
    let counting = Tensor::new(Counting::new(2), identity).slice(&slice).unwrap();
    assert_eq!(counting.engine().coordinate(), [thread.clone(), Expr::from(3)]);

    let stride = |found: Result<(), girih_tensor::Error>| {
        assert!(matches!(found, Err(girih_tensor::Error::Stride { .. })), "{found:?}");
    };
    stride(Tensor::new(Gmem::new(pointer, DType::F32), identity).slice(&slice).map(drop));
    stride(Tensor::new(Smem::new(shared, DType::F32, None), identity).slice(&slice).map(drop));
    stride(Tensor::new(Counting::new(2), integers).slice(&slice).map(drop));
    stride(Tensor::new(Counting::new(1), identity).slice(&slice).map(drop));
}

#[test]
fn indices_divide_by_constants() {
    let x = Builder::new("k", 80, 32).special(Special::TidX);
    let constant = |n| girih_layout::Int::fixed(n);
    assert_eq!(x.div_rem(&constant(32)).unwrap(), (Expr::from(0), x.clone()));
    let symbol = girih_layout::Int::symbol(Symbol::new(0));
    for by in [symbol, constant(0), constant(-2)] {
        assert!(matches!(x.div_rem(&by), Err(girih_tensor::Error::Index(_))), "{by}");
    }
    let mode = lay!("8:1");
    assert!(x.check(&mode).is_ok()); // not known
    assert!(Expr::from(7).check(&mode).is_ok());
    for outside in [8, -1] {
        let found = Expr::from(outside).check(&mode);
        assert!(matches!(found, Err(girih_tensor::Error::OutOfRange { .. })), "{outside}: {found:?}");
    }
}

/// Strides that are longer than any memory are refused, not wrapped.
#[test]
fn steps_beyond_any_memory_are_refused() {
    let mut b = Builder::new("k", 80, 32);
    let (pointer, thread) = (b.pointer("p", 16), b.special(girih_ptx::Special::TidX));
    let far = Tensor::new(Gmem::new(pointer, DType::F32), lay!("(32,2):(4611686018427387904,1)"));
    let found = far.slice(Slice::tuple([Slice::At(thread), Slice::All])).unwrap_err();
    assert!(found.to_string().ends_with("is beyond any memory: up to 2^48 elements are accepted"), "{found}");
}

/// A thread index that may be beyond the threads of a copy or an MMA is refused, and one that is known to be inside is not.
#[test]
fn threads_beyond_the_partition_are_refused() {
    let copies = [(32, lay!("(32,1):(1,0)")), (64, lay!("(32,2):(1,32)")), (128, lay!("(16,8):(8,1)"))];
    let copies = copies.map(|(threads, thr)| {
        (threads, TiledCopy::new(UNIVERSAL_COPY_128, 32, &thr, &lay!("(1,4):(4,1)")).unwrap())
    });
    let mmas = [(32, lay!("(1,1):(0,0)")), (64, lay!("(2,1):(1,0)")), (128, lay!("(2,2):(1,2)"))];
    let mmas =
        mmas.map(|(threads, atoms)| (threads, TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, atoms).unwrap()));
    for block in [32u32, 64, 96, 128, 256] {
        let mut b = Builder::new("k", 80, block);
        let thread = b.special(Special::TidX);
        let below = |b: &mut Builder, threads: i64| b.bounded(&thread, threads - 1).unwrap();
        for threads in [32, 64, 128] {
            let part = |index: &Expr| {
                let copy = copies.iter().find(|(of, _)| *of == threads).unwrap().1.get_slice(index).map(drop);
                let mma = mmas.iter().find(|(of, _)| *of == threads).unwrap().1.get_slice(index).map(drop);
                [copy, mma]
            };
            let indices = [
                (thread.clone(), i64::from(block) <= threads),
                (&thread + 1, i64::from(block) < threads),
                (&thread - &Expr::from(1), false),
                (thread.rem(threads).unwrap(), true),
                (thread.minimum(&Expr::from(threads - 1)), true),
                (below(&mut b, threads), true),
                (Expr::from(threads - 1), true),
            ];
            for (index, accepted) in indices {
                for found in part(&index) {
                    match found {
                        Ok(()) => assert!(accepted, "{index} in {:?} of {threads}", index.range()),
                        Err(Error::Threads { threads: of, range, .. }) => {
                            assert_eq!((of, range, accepted), (threads, index.range(), false));
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
    }
    let mut b = Builder::new("k", 80, 64);
    let error = copies[0].1.get_slice(&b.special(Special::TidX)).map(drop).unwrap_err().to_string();
    assert_eq!(
        error,
        "TiledCopy of 32 threads: the thread index v0 is in 0..=63: accepted are indices that are known to be in 0..=31 (inside of a \
         condition by `Builder::bounded`)"
    );
}
