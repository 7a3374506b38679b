//! Options of copies: each is in the PTX, or refused.

use girih_codegen::algorithm::{CacheHint, CopyWith, Predicates, copy, copy_if};
use girih_codegen::atom::{
    AUTO_VECTORIZING_COPY, CopyAtom, CopyOp, Reduction, SM80_CP_ASYNC_CACHEALWAYS_4,
    SM80_CP_ASYNC_CACHEALWAYS_8, SM80_CP_ASYNC_CACHEGLOBAL_16, Transfer, UNIVERSAL_COPY_32,
    UNIVERSAL_COPY_128,
};
use girih_codegen::{Builder, Cond, Error, Expr, Gmem, Rmem, Smem, TmaCopy};
use girih_layout::{Lay, Swizzle, Tile, Tiler, Tiles, lay, tiler};
use girih_ptx::Special;
use girih_tensor::{DType, Slice, Tensor};

const OPTIONS: [&str; 5] = ["barrier", "blocks", "cache_hint", "zero_fill", "zero_fill_outside"];

/// Whether the atom has the option, written down by hand.
fn has(atom: &CopyAtom, option: &str) -> bool {
    let name = atom.name();
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    let is_prefetch = name.ends_with("PREFETCH");
    match option {
        "barrier" => begins(&["SM90_BULK_COPY_G2S", "SM90_TMA_LOAD"]) && !is_prefetch,
        "blocks" => begins(&["SM90_TMA_LOAD_MULTICAST"]),
        "cache_hint" => begins(&["SM90_BULK", "SM90_TMA"]),
        "zero_fill_outside" => begins(&["SM80_CP_ASYNC"]),
        _ => begins(&["UniversalCopy", "AutoVectorizingCopy", "SM80_CP_ASYNC"]),
    }
}

/// A kernel with one copy by `atom`, with the options that it needs and also `option`; without a copy if `copies` is false.
fn kernel(atom: &CopyAtom, option: Option<&str>, copies: bool) -> Result<String, Error> {
    let mut b = Builder::new("k", 90, 32);
    b.cluster([2, 1, 1]);
    let (pointer, map) = (b.pointer("x", 128), b.tensor_map("map"));
    let (base, barrier) = (b.alloc_shared(1024, 1024)?, b.alloc_shared(8, 8)?);
    let inside = Cond::less(&b.special(Special::TidX), &Expr::from(5));
    let (needs_barrier, needs_blocks) = (has(atom, "barrier"), has(atom, "blocks"));
    let (mut with, mut tma) = (CopyWith::from(atom), None);
    if let CopyOp::Tma { transfer, rank } = atom.op {
        let global: Lay = Lay::left(&girih_layout::Shape::flat(&vec![8.into(); rank as usize])?)?;
        let mut tile = vec![1.into(); rank as usize];
        tile[0] = 4.into();
        let tile = Lay::left(&girih_layout::Shape::flat(&tile)?)?;
        let made = TmaCopy::new(transfer, DType::U32, &global, &tile, Swizzle::NONE)?;
        (with, tma) = (made.with(&map), Some((made, tile)));
    }
    if needs_barrier || option == Some("barrier") {
        with = with.barrier(&barrier);
    }
    if needs_blocks || option == Some("blocks") {
        with = with.blocks(0b11);
    }
    if option == Some("cache_hint") {
        with = with.cache_hint(CacheHint::EvictFirst);
    }
    if option == Some("zero_fill") {
        with = with.zero_fill();
    }
    if option == Some("zero_fill_outside") {
        with =
            with.zero_fill_outside(Predicates::from(Cond::less(&b.special(Special::TidX), &Expr::from(3))));
    }
    let bits = i64::from(atom.bits());
    let values = |dtype: DType, bits: i64| Lay::strided([bits / i64::from(dtype.bits())], [1]);
    let gmem =
        |dtype, bits| Ok::<_, Error>(Tensor::new(Gmem::new(pointer.clone(), dtype), values(dtype, bits)?));
    let smem =
        |dtype, bits| Ok::<_, Error>(Tensor::new(Smem::new(base.clone(), dtype, None), values(dtype, bits)?));
    let rmem = |b: &mut Builder, dtype, bits| Rmem::tensor(b, dtype, values(dtype, bits)?);
    let fills = has(atom, "zero_fill");
    let predicates = Predicates::from(if fills { inside } else { Cond::Always });
    let thread = Expr::from(0);
    let (f16, u8) = (DType::F16, DType::U8);
    let dtype = match atom.op {
        CopyOp::BulkReduce { dtype, .. } => dtype,
        CopyOp::RedAdd { ty, .. } => match ty.text() {
            "f32" => DType::F32,
            "f16x2" => f16,
            _ => DType::Bf16,
        },
        CopyOp::Universal | CopyOp::AutoVectorizing | CopyOp::CpAsync { .. } | CopyOp::Bulk(_) => u8,
        _ => f16,
    };
    let fragment = rmem(&mut b, dtype, 128)?;
    let fragment = Tensor::new(fragment.engine().clone(), values(dtype, bits.min(128))?);
    if !copies {
        return Ok(b.finish()?.module().to_string());
    }
    match atom.op {
        CopyOp::Universal | CopyOp::AutoVectorizing | CopyOp::CpAsync { .. } => {
            copy_if(&mut b, with, &predicates, &gmem(u8, bits)?, &smem(u8, bits)?)
        }
        CopyOp::Ldmatrix { .. } => copy(&mut b, with, &smem(f16, 128)?, &fragment),
        CopyOp::Stmatrix { .. } => copy(&mut b, with, &fragment, &smem(f16, 128)?),
        CopyOp::Movmatrix | CopyOp::Shuffle { .. } => {
            let other = rmem(&mut b, f16, bits)?;
            copy(&mut b, with, &fragment, &other)
        }
        CopyOp::RedAdd { .. } => copy(&mut b, with, &fragment, &gmem(dtype, bits)?),
        CopyOp::BulkReduce { .. } => copy(&mut b, with, &smem(dtype, bits)?, &gmem(dtype, bits)?),
        CopyOp::Bulk(Transfer::Store) => copy(&mut b, with, &smem(u8, bits)?, &gmem(u8, bits)?),
        CopyOp::Bulk(Transfer::Prefetch) => copy(&mut b, with, &gmem(u8, bits)?, &gmem(u8, bits)?),
        CopyOp::Bulk(_) => copy(&mut b, with, &gmem(u8, bits)?, &smem(u8, bits)?),
        CopyOp::Tma { transfer, .. } => {
            let Some((made, tile)) = tma else { return Ok(String::new()) };
            let mine = made.copy().get_slice(&thread)?;
            let coordinates = Tensor::new(made.tma_tensor()?.engine().clone(), Lay::identity(tile.shape())?);
            let shared = Tensor::new(Smem::new(base.clone(), DType::U32, None), tile);
            let (from, to) = (mine.partition_s(&coordinates)?, mine.partition_d(&shared)?);
            match transfer {
                Transfer::Load | Transfer::Multicast => copy(&mut b, with, &from, &to),
                Transfer::Store | Transfer::Reduce(_) => {
                    copy(&mut b, with, &mine.partition_s(&shared)?, &mine.partition_d(&coordinates)?)
                }
                Transfer::Prefetch => copy(&mut b, with, &from, &from),
            }
        }
    }?;
    Ok(b.finish()?.module().to_string())
}

/// For every atom and every option: the option changes the instructions, or an error names the atom and the option.
#[test]
fn every_option_is_in_the_ptx_or_refused() {
    let (mut written, mut refused) = (0, 0);
    for atom in CopyAtom::all() {
        let plain = kernel(&atom, None, true).unwrap_or_else(|e| panic!("{atom}: {e}"));
        assert_ne!(plain, kernel(&atom, None, false).unwrap(), "{atom}");
        for option in OPTIONS {
            let with = kernel(&atom, Some(option), true);
            if !has(&atom, option) {
                let Err(error @ Error::Mismatch { .. }) = with else {
                    panic!("{option} of {atom}: {with:?}")
                };
                let text = error.to_string();
                assert!(text.contains(option) && text.contains(&atom.name()), "{option} of {atom}: {text}");
                refused += 1;
                continue;
            }
            let text = with.unwrap_or_else(|e| panic!("{option} of {atom}: {e}"));
            // What an atom needs or does by itself is there without the option.
            let zfill = option == "zero_fill" && atom.name().contains("ZFILL");
            let always = matches!(option, "barrier" | "blocks") || zfill;
            assert_eq!(text == plain, always, "{option} of {atom}: {text}");
            let shown = match option {
                "barrier" => text.contains(".mbarrier::complete_tx::bytes"),
                "blocks" => text.contains(".multicast::cluster") && text.contains("mov.u16"),
                "cache_hint" => {
                    text.contains("createpolicy.fractional.L2::evict_first")
                        && text.contains(".L2::cache_hint")
                }
                "zero_fill_outside" => {
                    text.lines().any(|line| line.starts_with("  @%p") && line.contains("cp.async"))
                }
                _ => {
                    text.contains("mov.b32")
                        || text.contains("mov.u16")
                        || text.contains("mov.b16")
                        || text.contains("cp.async")
                }
            };
            assert!(shown, "{option} of {atom}: {text}");
            written += 1;
        }
    }
    assert!(written > 100 && refused > 300, "{written} {refused}");
}

/// What an instruction needs is asked for before anything is emitted; what it does not have, too.
#[test]
fn missing_and_impossible_options_are_explained() {
    let mut b = Builder::new("k", 90, 32);
    b.cluster([2, 1, 1]);
    let (pointer, map, barrier) = (b.pointer("x", 128), b.tensor_map("map"), b.alloc_shared(8, 8).unwrap());
    let base = b.alloc_shared(1024, 1024).unwrap();
    let tile = lay!("(4,4):(1,4)");
    let shared = Tensor::new(Smem::new(base.clone(), DType::U32, None), tile);
    let mut refuse = |transfer, options: &dyn Fn(CopyWith) -> CopyWith| {
        let tma = TmaCopy::new(transfer, DType::U32, &lay!("(8,8):(1,8)"), &tile, Swizzle::NONE).unwrap();
        let mine = tma.copy().get_slice(&Expr::from(0)).unwrap();
        let coordinates =
            Tensor::new(tma.tma_tensor().unwrap().engine().clone(), Lay::identity(tile.shape()).unwrap());
        let (from, to) = (mine.partition_s(&coordinates).unwrap(), mine.partition_d(&shared).unwrap());
        copy(&mut b, options(tma.with(&map)), &from, &to).unwrap_err().to_string()
    };
    let mut texts = vec![
        refuse(Transfer::Load, &|with| with),
        refuse(Transfer::Load, &|with| with.barrier(&barrier).blocks(0b11)),
        refuse(Transfer::Multicast, &|with| with.barrier(&barrier)),
        refuse(Transfer::Multicast, &|with| with.barrier(&barrier).blocks(0)),
        refuse(Transfer::Multicast, &|with| with.barrier(&barrier).blocks(0b100)),
    ];
    let bytes = Tensor::new(Gmem::new(pointer.clone(), DType::U8), lay!("16:1"));
    let to = Tensor::new(Smem::new(base, DType::U8, None), lay!("16:1"));
    let by_hand =
        CopyAtom { op: CopyOp::Bulk(Transfer::Multicast), ..CopyAtom::bulk(Transfer::Load, 128).unwrap() };
    texts.push(copy(&mut b, CopyWith::from(by_hand).barrier(&barrier), &bytes, &to).unwrap_err().to_string());
    let fragment = Rmem::tensor(&mut b, DType::U8, lay!("16:1")).unwrap();
    let some = Predicates::from(Cond::less(&b.special(Special::TidX), &Expr::from(5)));
    let with = CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill();
    texts.push(copy_if(&mut b, with, &some, &fragment, &fragment).unwrap_err().to_string());
    let bounded = Gmem::bounded(pointer, DType::U8, &lay!("16:1")).unwrap();
    let wide = bounded.local_tile(&tiler!("<32>"), &[Slice::at(0)]).unwrap();
    let fragment = Rmem::tensor(&mut b, DType::U8, lay!("32:1")).unwrap();
    let with = CopyWith::from(AUTO_VECTORIZING_COPY).zero_fill();
    texts.push(copy(&mut b, with, &fragment, &wide).unwrap_err().to_string());
    expect_test::expect![[r#"
        copy: no barrier does not fit SM90_TMA_LOAD_2D: the mbarrier of the load: `CopyWith::barrier`
        copy: blocks 0b11 does not fit SM90_TMA_LOAD_2D: an atom of `Transfer::Multicast`: SM90_TMA_LOAD_MULTICAST; other loads write to their own block
        copy: no blocks does not fit SM90_TMA_LOAD_MULTICAST_2D: the blocks of the multicast: `CopyWith::blocks`
        copy: no blocks does not fit SM90_TMA_LOAD_MULTICAST_2D: the blocks of the multicast: `CopyWith::blocks`
        copy: blocks 0b100 does not fit SM90_TMA_LOAD_MULTICAST_2D: blocks of the kernel's cluster: `Builder::cluster`
        copy: Bulk(Multicast) does not fit SM90_BULK_COPY_S2G: `CopyAtom::bulk` of a load, a store or a prefetch; `CopyAtom::bulk_reduce`
        copy: Rmem u8 16:1 to Rmem u8 16:1 does not fit AutoVectorizingCopyWithAssumedAlignment<128>, from any to any: registers of its own for the target, which is filled with zeros first
        copy: Rmem u8 32:1 to Gmem u8 (32):(1@0) does not fit AutoVectorizingCopyWithAssumedAlignment<128>, from any to any: a target whose extents are not known, if it is to be filled with zeros: none are written outside
    "#]].assert_eq(&(texts.join("\n") + "\n"));
    let reduce =
        |op, dtype| TmaCopy::new(Transfer::Reduce(op), dtype, &lay!("(8,8):(1,8)"), &tile, Swizzle::NONE);
    for op in Reduction::ALL {
        for dtype in [DType::F32, DType::U32, DType::F64, DType::S64] {
            let made = CopyAtom::bulk_reduce(op, dtype, 128).is_ok();
            assert_eq!(reduce(op, dtype).is_ok(), made, "{op:?} of {dtype}");
        }
    }
}

/// Zeros are written for the values whose predicates fail: from memory and from registers, into registers, shared and global memory.
#[test]
fn zeros_are_written_for_what_is_left_out() {
    for dtype in [DType::U8, DType::F16, DType::F32, DType::F64] {
        let count = 64 / i64::from(dtype.bits()) * 4; // 32 bytes
        let layout = Lay::strided([count], [1]).unwrap();
        let bytes = dtype.bits() as usize / 8;
        for (atom, way) in [
            AUTO_VECTORIZING_COPY,
            UNIVERSAL_COPY_128,
            UNIVERSAL_COPY_32,
            SM80_CP_ASYNC_CACHEGLOBAL_16,
            SM80_CP_ASYNC_CACHEALWAYS_8,
            SM80_CP_ASYNC_CACHEALWAYS_4,
        ]
        .into_iter()
        .flat_map(|atom| (0..5).map(move |way| (atom, way)))
        {
            let cp_async = matches!(atom.op, CopyOp::CpAsync { .. });
            if cp_async && way != 1 || dtype.bits() > atom.bits() {
                continue;
            }
            for inside in [0, 1, count / 2, count - 1, count] {
                let mut b = Builder::new("k", 80, 1);
                let (dst, src) = (b.pointer("dst", 16), b.pointer("src", 16));
                let source = Gmem::bounded(src, dtype, &Lay::strided([inside.max(1)], [1]).unwrap()).unwrap();
                let tile = Tiler::Modes(Tiles::new(&[Tile::Lay(layout.mode(0).unwrap())]).unwrap());
                let source = source.local_tile(&tile, &[Slice::at(0)]).unwrap();
                let target = Tensor::new(Gmem::new(dst, dtype), layout);
                let shared = Smem::alloc(&mut b, dtype, None, &layout).unwrap();
                let [first, second] = [(); 2].map(|()| Rmem::tensor(&mut b, dtype, layout).unwrap());
                let plain = Tensor::new(Gmem::new(b.pointer("also", 16), dtype), layout);
                let each = Predicates::each(
                    (0..count).map(|i| if i < inside { Cond::Always } else { Cond::Never }).collect(),
                );
                // Values that are not zero are there before.
                for filled in [&first, &second] {
                    girih_codegen::algorithm::fill(&mut b, filled, 7.0).unwrap();
                }
                copy(&mut b, AUTO_VECTORIZING_COPY, &first, &shared).unwrap();
                let with = CopyWith::from(atom).zero_fill();
                let whole = matches!(atom.op, CopyOp::AutoVectorizing)
                    || inside * i64::from(dtype.bits()) % i64::from(atom.bits()) == 0;
                let done = match way {
                    0 => copy_if(&mut b, with, &each, &plain, &first),
                    1 => {
                        // By the extents of the source, which an instruction may cross.
                        let bounds = if inside == 0 {
                            Predicates::from(Cond::Never)
                        } else {
                            Predicates::from(Cond::Always)
                        };
                        copy_if(&mut b, with, &bounds, &source, &shared)
                    }
                    2 => copy_if(&mut b, with, &each, &plain, &target),
                    _ => {
                        copy(&mut b, AUTO_VECTORIZING_COPY, &plain, &second).unwrap();
                        if way == 3 {
                            copy_if(&mut b, with, &each, &second, &shared)
                        } else {
                            copy_if(&mut b, with, &each, &second, &target)
                        }
                    }
                };
                if let Err(error) = done {
                    assert!(!whole && way != 1, "{dtype} by {atom}, way {way}, {inside}: {error}");
                    continue;
                }
                girih_codegen::algorithm::cp_async_wait_all(&mut b);
                match way {
                    0 => copy(&mut b, AUTO_VECTORIZING_COPY, &first, &target).unwrap(),
                    1 | 3 => copy(&mut b, AUTO_VECTORIZING_COPY, &shared, &target).unwrap(),
                    _ => {}
                }
                let module = b.finish().unwrap().into_module();
                let out = run(&module);
                for (i, &byte) in out.iter().enumerate().take(32) {
                    let expected = if ((i / bytes) as i64) < inside { i as u8 } else { 0 };
                    assert_eq!(
                        byte, expected,
                        "{dtype} by {atom}, way {way}, {inside} of {count}: byte {i}\n{module}"
                    );
                }
            }
        }
    }
}

/// Runs a kernel whose second and third arguments are the bytes 0, 1, 2, ...
fn run(module: &girih_ptx::Module) -> Vec<u8> {
    use crate::simulator::{addresses, block, checked, download, ones, upload};
    let memory = girih_sim::Memory::new();
    let bytes: Vec<u8> = (0..=255).collect();
    let arrays = [ones(&memory, 256), upload(&memory, &bytes), upload(&memory, &bytes)];
    checked(module, &memory, &block(1, 256, addresses(&arrays))).unwrap();
    download(&memory, arrays[0], 256)
}
