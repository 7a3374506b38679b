//! Every mainloop in a kernel that is no GEMM of girih's: each computes products over parts of K.

use std::slice;

use girih_codegen::algorithm::copy;
use girih_codegen::atom::{
    AUTO_VECTORIZING_COPY, Major, MmaAtom, MmaKind, Product, SM80_16X8X16_F32BF16BF16F32_TN,
    UNIVERSAL_FMA_F32,
};
use girih_codegen::gemm::{Feed, Mainloop, Multistage, Source, Sums, WarpSpecialized, k_tiles};
use girih_codegen::{Builder, Error, Expr, Gmem, Kernel, Operand, TmaCopy};
use girih_layout::{Int, Lay, Symbol, Tile, lay, tiler};
use girih_ptx::Special;
use girih_sim::{Launch, Memory};
use girih_tensor::{DType, Slice, Tensor};

use crate::simulator::{addresses, checked, download, sizes, upload};

const TILE: [i64; 3] = [64, 64, 64];

/// A kernel in which `c(split)(i,j)` are the sums over `per` tiles along K, from tile `split * per` on. The block's index is row,
/// column and split. The tensor copies from which maps are made are returned too, and the symbols m, n, k and pitch in them.
fn kernel(by: &Mainloop, dtype: DType) -> Result<(Kernel, Vec<TmaCopy>, [Symbol; 4]), Error> {
    let threads = match by {
        Mainloop::Multistage(multistage) => multistage.threads()?,
        Mainloop::WarpSpecialized(parts) => parts.threads()?,
    };
    let mut b = Builder::new("k", if matches!(by, Mainloop::WarpSpecialized(_)) { 90 } else { 80 }, threads);
    let [m, n, k] = b.symbols(["m", "n", "k"], |extent| extent.at_least(1).at_most(1 << 16))?;
    let pitch = b.symbol("pitch", |pitch| pitch.at_least(1).at_most(1 << 16).divisible_by(8))?;
    let per = b.number("per", 1 << 16);
    let pointer = b.pointer("c", 4);
    let [row, column, split] =
        [Special::CtaidX, Special::CtaidY, Special::CtaidZ].map(|special| b.special(special));
    let symbols = [m, n, k, pitch];
    let [m, n, k, pitch] = symbols.map(Int::symbol);
    let all = k_tiles(&Expr::from_int(&k), TILE[2])?;
    let start = b.bounded(&(&split * &per), (1 << 16) / TILE[2])?;
    let own = start.minimum(&all.end)..(&start + &per).minimum(&all.end);
    let c = &pointer + &(&(&split * &(&Expr::from_int(&m) * &Expr::from_int(&n))) * 4);
    let c = Gmem::bounded(c, DType::F32, &Lay::strided([m, n], [n, Int::fixed(1)])?)?;
    let c = c.local_tile(&tiler!("<64,64>"), &[Slice::At(row.clone()), Slice::At(column.clone())])?; // (64,64)
    let store = |b: &mut Builder, sums: &Sums| {
        copy(b, AUTO_VECTORIZING_COPY, &sums.values, &sums.thread.partition(Operand::C, &c)?)
    };
    let mut copies = Vec::new();
    match by {
        Mainloop::Multistage(multistage) => {
            let mainloop = multistage.mainloop(TILE)?;
            let x: Tensor<Gmem> = Gmem::matrix(&mut b, "a", dtype, [m, k], pitch)?;
            let y = Gmem::matrix(&mut b, "b", dtype, [n, k], pitch)?;
            let sums = mainloop.multiply(&mut b, [&x, &y], [&row, &column], own)?;
            store(&mut b, &sums)?;
        }
        Mainloop::WarpSpecialized(parts) => {
            let mainloop = parts.mainloop(TILE)?;
            for (operand, extent) in [(Operand::A, m), (Operand::B, n)] {
                copies.push(mainloop.tma_copy(operand, &Lay::strided([extent, k], [pitch, Int::fixed(1)])?)?);
            }
            let maps = [b.tensor_map("a"), b.tensor_map("b")];
            let feed = |i: usize| Feed { copy: copies[i].clone(), map: maps[i].clone() };
            let count = &own.end - &own.start;
            let stages = mainloop.stages(&mut b)?;
            mainloop.emit(
                &mut b,
                stages,
                [feed(0), feed(1)],
                |b, producer| producer.load(b, [&row, &column].map(slice::from_ref), own, &Expr::from(0)),
                |b, consumer| {
                    let sums = consumer.multiply(b, [&row, &column], &count)?;
                    store(b, sums)
                },
            )?;
        }
    }
    Ok((b.finish()?, copies, symbols))
}

fn bytes(dtype: DType, value: i64) -> Vec<u8> {
    match dtype {
        DType::F32 => (value as f32).to_le_bytes().to_vec(),
        _ => half::bf16::from_f32(value as f32).to_le_bytes().to_vec(),
    }
}

fn verify(by: &Mainloop, dtype: DType, [m, n, k]: [i64; 3], per: i64) {
    let (kernel, copies, symbols) = kernel(by, dtype).unwrap();
    let pitch = (k + 7) / 8 * 8 + 8;
    let number = |operand: i64, x: i64, k: i64| (x * 7 + k * 3 + operand * 5) % 11 - 5;
    let memory = Memory::new();
    let matrix = |operand: i64, rows: i64| {
        let value = |at: i64| if at % pitch < k { number(operand, at / pitch, at % pitch) } else { 1000 };
        upload(&memory, &(0..rows * pitch).flat_map(|at| bytes(dtype, value(at))).collect::<Vec<u8>>())
    };
    let operands = [matrix(0, m), matrix(1, n)];
    // The last part has no tiles.
    let splits = (k + TILE[2] * per - 1) / (TILE[2] * per) + 1;
    let c = upload(&memory, &vec![0xff; (splits * m * n * 4) as usize]);
    let mut args = sizes(&[m, n, k, pitch, per]);
    args.extend(addresses(&[c]));
    args.extend(match copies.is_empty() {
        true => addresses(&operands),
        false => {
            let bind = |(copy, place): (&TmaCopy, &u64)| {
                let mut bound = copy.clone();
                for (symbol, value) in symbols.into_iter().zip([m, n, k, pitch]) {
                    bound = bound.bind(symbol, value).unwrap();
                }
                bound.tiled().unwrap().at(*place).unwrap().to_bytes().to_vec()
            };
            copies.iter().zip(&operands).map(bind).collect()
        }
    });
    let tiles = |extent: i64, tile: i64| ((extent + tile - 1) / tile) as u32;
    let launch = Launch {
        grid: [tiles(m, TILE[0]), tiles(n, TILE[1]), splits as u32],
        block: [kernel.threads(), 1, 1],
        dynamic_shared: kernel.shared_bytes(),
        args,
        ..Launch::default()
    };
    checked(kernel.module(), &memory, &launch).unwrap_or_else(|e| panic!("{by:?} {m}x{n}x{k}/{per}: {e}"));
    let found = download(&memory, c, (splits * m * n * 4) as usize);
    let mut found = found.chunks(4).map(|x| f32::from_le_bytes(x.try_into().unwrap()));
    for split in 0..splits {
        let range = (split * per * TILE[2]).min(k)..((split + 1) * per * TILE[2]).min(k);
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let sum: i64 = range.clone().map(|k| number(0, row, k) * number(1, column, k)).sum();
            assert_eq!(found.next(), Some(sum as f32), "{by:?} {m}x{n}x{k}, {split}: ({row},{column})");
        }
    }
}

/// f32 on the CUDA cores, both operands contiguous along K.
fn simt() -> Multistage {
    let source = Source { major: Major::K, vector: 4 };
    Multistage {
        atom: UNIVERSAL_FMA_F32,
        atoms: lay!("(16,16):(16,1)"),
        permutation: [Tile::All, Tile::All],
        k_atoms: 4,
        fragments: 1,
        stages: 2,
        min_blocks: 1,
        a: source,
        b: source,
    }
}

#[test]
fn mainloops_run_in_kernels_of_users() {
    let simt = simt();
    let sm80 = Multistage {
        atom: SM80_16X8X16_F32BF16BF16F32_TN,
        atoms: lay!("(2,2):(1,2)"),
        k_atoms: 1,
        fragments: 2,
        stages: 3,
        a: Source { vector: 8, ..simt.a },
        b: Source { vector: 8, ..simt.b },
        ..simt
    };
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 64, types, [Major::K; 2], Product::Multiply).unwrap();
    let sm90 = WarpSpecialized {
        atom,
        atoms: lay!("(1,1):(0,0)"),
        teams: 1,
        stages: 3,
        registers: [40, 232],
        multicast: 1,
        mma_promotion_interval: 0,
        mixed_input: None,
        block_scales: None,
    };
    let loops = [
        (Mainloop::Multistage(simt), DType::F32),
        (Mainloop::Multistage(sm80), DType::Bf16),
        (Mainloop::WarpSpecialized(sm90), DType::Bf16),
    ];
    for (by, dtype) in loops {
        for (mnk, per) in [([70, 65, 200], 2), ([64, 64, 64], 1), ([3, 100, 330], 5), ([1, 1, 129], 1)] {
            verify(&by, dtype, mnk, per);
        }
    }
}

/// A copy that was made for another mainloop does not bring this mainloop's tiles.
#[test]
fn feeds_of_another_mainloop_are_refused() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let atom = MmaAtom::wgmma(MmaKind::WgmmaSs, 64, types, [Major::K; 2], Product::Multiply).unwrap();
    let parts = WarpSpecialized {
        atom,
        atoms: lay!("(1,1):(0,0)"),
        teams: 1,
        stages: 3,
        registers: [40, 232],
        multicast: 1,
        mma_promotion_interval: 0,
        mixed_input: None,
        block_scales: None,
    };
    let matrix = lay!("(1024,1024):(1024,1)");
    for (tile, fits) in [([64, 64, 64], true), ([128, 64, 64], false), ([64, 64, 128], false)] {
        let other = parts.mainloop(tile).unwrap();
        let mut b = Builder::new("k", 90, parts.threads().unwrap());
        let mut feed = |name: &str, operand| Feed {
            copy: other.tma_copy(operand, &matrix).unwrap(),
            map: b.tensor_map(name),
        };
        let feeds = [feed("a", Operand::A), feed("b", Operand::B)];
        let zero = Expr::from(0);
        let mainloop = parts.mainloop(TILE).unwrap();
        let stages = mainloop.stages(&mut b).unwrap();
        let emitted = mainloop.emit(
            &mut b,
            stages,
            feeds,
            |b, producer| {
                producer.load(b, [slice::from_ref(&zero); 2], k_tiles(&Expr::from(1024), 64)?, &zero)
            },
            |b, consumer| consumer.multiply(b, [&zero; 2], &Expr::from(16)).map(drop),
        );
        assert_eq!(emitted.is_ok(), fits, "{tile:?}: {emitted:?}");
        assert!(fits || matches!(emitted, Err(Error::Mismatch { .. })), "{emitted:?}");
    }
}

/// A mainloop reads ahead of its last tile, which only a tensor that knows its extents allows.
#[test]
fn tensors_without_extents_are_refused() {
    let simt = simt();
    let mut b = Builder::new("k", 80, simt.threads().unwrap());
    let pointer = b.pointer("x", 16);
    let unbounded = Tensor::new(Gmem::new(pointer.clone(), DType::F32), lay!("(64,1024):(1024,1)"));
    let bounded = Gmem::bounded(pointer, DType::F32, &lay!("(64,1024):(1024,1)")).unwrap();
    let (zero, mainloop) = (Expr::from(0), simt.mainloop(TILE).unwrap());
    for (operands, fits) in
        [([&unbounded, &bounded], false), ([&bounded, &unbounded], false), ([&bounded, &bounded], true)]
    {
        let sums = mainloop.multiply(&mut b, operands, [&zero, &zero], zero.clone()..Expr::from(1));
        assert!(sums.is_ok() == fits && (fits || matches!(sums, Err(Error::Mismatch { .. }))), "{sums:?}");
    }
}
