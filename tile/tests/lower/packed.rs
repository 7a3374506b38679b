//! Arrays of elements smaller than a byte, and of e8m0: loads, stores, conversions and products, against the reference.

use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::dtype::Const;
use girih_tile::error::Fault;
use girih_tile::facts::Uses;
use girih_tile::ir::{Build, Dims, Func, Known, Padding, Rounding, Value, parse, verify};
use girih_tile::ops::indexed::Elements;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::table::Each;
use girih_tile::ops::{Arg, Mode};
use girih_tile::pass;
use girih_tile_reference::ArrayData;
use rand::RngExt;

use super::memory::param;
use crate::common::differ::{Tolerance, array, cases, differ, random, zeros};

const PACKED: [DType; 3] = [DType::S4, DType::U4, DType::E2m1];

/// A parameter of which nothing is known but its contiguous axis.
fn declare(b: &mut Build, name: &str, of: &ArrayData, mutable: bool) -> girih_tile::ir::ArrayId {
    let rank = of.extents.len();
    let mut strides = vec![Known::MultipleOf(1); rank];
    strides[rank - 1] = Known::Is(1);
    b.array(param(name, of.dtype, mutable, &vec![Known::MultipleOf(1); rank], &strides, 1))
}

fn at(indices: &[Value]) -> Vec<Arg> {
    indices.iter().map(|&index| index.into()).collect()
}

fn dims(extents: &[u32]) -> Dims {
    Dims::new(extents).unwrap()
}

/// A copy by tiles that converts on the way.
fn converted(x: &ArrayData, y: &ArrayData, tile: &[u32]) -> Func {
    let mut b = Build::new("convert");
    let (from, to) = (declare(&mut b, "x", x, false), declare(&mut b, "y", y, true));
    let index: Vec<Value> = (0..tile.len()).map(|axis| b.bid(axis as i64).unwrap()).collect();
    let tiles = Tiles { padding: Padding::Zero, ..Tiles::new(from, dims(tile)) };
    let value = b.load(&tiles, &at(&index)).unwrap();
    let value = b.cast(value, y.dtype, Rounding::Nearest).unwrap();
    b.store(&Tiles::new(to, dims(tile)), &at(&index), value.into()).unwrap();
    b.finish()
}

#[test]
fn tiles_are_loaded_converted_and_stored() {
    let mut rng = random(1);
    let others = [
        DType::F32,
        DType::F16,
        DType::Bf16,
        DType::S32,
        DType::S8,
        DType::U8,
        DType::Bool,
        DType::F64,
        DType::E4m3,
    ];
    for case in 0..cases(60) {
        let packed = PACKED[case % 3];
        let other = if rng.random_range(0..4) == 0 {
            PACKED[rng.random_range(0..3usize)]
        } else {
            others[case % others.len()]
        };
        let rank = rng.random_range(1..=3);
        let mut tile: Vec<u32> = (0..rank).map(|_| 1 << rng.random_range(0..5)).collect();
        tile[rank - 1] = 2 << rng.random_range(0..6);
        // Ragged: not whole tiles, but whole bytes.
        let mut extents: Vec<i64> = tile.iter().map(|&n| rng.random_range(1..=3 * i64::from(n))).collect();
        extents[rank - 1] = (extents[rank - 1] + 1) / 2 * 2;
        let grid: Vec<u32> =
            (0..3).map(|axis| tile.get(axis).map_or(1, |&n| (extents[axis] as u32).div_ceil(n))).collect();
        let grid = [grid[0], grid[1], grid[2]];
        for (from, to) in [(packed, other), (other, packed)] {
            let arrays = [array(&mut rng, from, &extents), zeros(to, &extents)];
            let func = converted(&arrays[0], &arrays[1], &tile);
            differ(&func, grid, &arrays, &[], |_| Tolerance::EXACT)
                .unwrap_or_else(|error| panic!("{from} to {to}, {extents:?} by {tile:?}: {error}"));
        }
    }
}

/// Every pattern of bits of the narrow dtypes, as every float, and back.
#[test]
fn all_numbers_survive() {
    for narrow in [DType::S4, DType::U4, DType::E2m1, DType::E8m0] {
        let count = 1i64 << narrow.bits();
        let bits: Vec<u64> = (0..count as u64).collect();
        for wide in [DType::F64, DType::F32, DType::Bf16, DType::F16] {
            if narrow == DType::E8m0 && wide == DType::F16 {
                continue;
            }
            let mut b = Build::new("there_and_back");
            let (x, y) = (ArrayData::dense(narrow, &[count], &bits), zeros(wide, &[count]));
            let back = zeros(narrow, &[count]);
            let ids = [
                declare(&mut b, "x", &x, false),
                declare(&mut b, "y", &y, true),
                declare(&mut b, "back", &back, true),
            ];
            let zero = [Arg::Loose(Const::Int(0))];
            let tile = dims(&[count as u32]);
            let value = b.load(&Tiles::new(ids[0], tile), &zero).unwrap();
            let value = b.cast(value, wide, Rounding::Nearest).unwrap();
            b.store(&Tiles::new(ids[1], tile), &zero, value.into()).unwrap();
            let value = b.cast(value, narrow, Rounding::Nearest).unwrap();
            b.store(&Tiles::new(ids[2], tile), &zero, value.into()).unwrap();
            let func = b.finish();
            let arrays = [x, y, back];
            differ(&func, [1; 3], &arrays, &[], |_| Tolerance::EXACT)
                .unwrap_or_else(|e| panic!("{narrow} {wide}: {e}"));
            let mut run = arrays.to_vec();
            girih_tile_reference::run(&func, [1; 3], &mut run, &[]).unwrap();
            assert_eq!(run[2].elements().unwrap(), bits, "{narrow} by {wide}");
            let numbers = run[1].elements().unwrap().into_iter().map(|bits| wide.decode(bits));
            for (number, bits) in numbers.zip(&bits) {
                let own = narrow.decode(*bits);
                assert!(number == own || number.is_nan() && own.is_nan(), "{narrow} {bits:#x}: {number}");
            }
        }
    }
}

/// `C = A (B s)`, B packed along K or along N, with extents that tiles do not divide.
#[test]
fn products_of_converted_elements() {
    let mut rng = random(3);
    for case in 0..cases(12) {
        let packed = PACKED[case % 3];
        let along_k = case / 3 % 2 == 0;
        let [m, n, k] =
            [rng.random_range(1..100i64), 2 * rng.random_range(1..60i64), 2 * rng.random_range(1..70i64)];
        let a: Vec<u64> = (0..m * k).map(|_| DType::Bf16.encode(rng.random_range(-2i32..3).into())).collect();
        let a = ArrayData::dense(DType::Bf16, &[m, k], &a);
        let w = array(&mut rng, packed, &if along_k { [n, k] } else { [k, n] });
        let arrays = [a, w, zeros(DType::F32, &[m, n])];
        let mut b = Build::new("product");
        let ids = [
            declare(&mut b, "a", &arrays[0], false),
            declare(&mut b, "w", &arrays[1], false),
            declare(&mut b, "c", &arrays[2], true),
        ];
        let (i, j) = (b.bid(0).unwrap(), b.bid(1).unwrap());
        let mut sums = b.full(DType::F32, dims(&[32, 64]), Const::Float(0.0));
        for step in 0..(k as u32).div_ceil(32) {
            let step = b.full(DType::S32, Dims::SCALAR, Const::Int(step.into()));
            let padded = |id, tile: &[u32]| Tiles { padding: Padding::Zero, ..Tiles::new(id, dims(tile)) };
            let x = b.load(&padded(ids[0], &[32, 32]), &at(&[i, step])).unwrap();
            let w = if along_k {
                let w = b.load(&padded(ids[1], &[64, 32]), &at(&[j, step])).unwrap();
                b.permute(w, &[1, 0]).unwrap()
            } else {
                b.load(&padded(ids[1], &[32, 64]), &at(&[step, j])).unwrap()
            };
            let w = b.cast(w, DType::Bf16, Rounding::Nearest).unwrap();
            sums = b.mma(x, w, sums).unwrap();
        }
        b.store(&Tiles::new(ids[2], dims(&[32, 64])), &at(&[i, j]), sums.into()).unwrap();
        let grid = [(m as u32).div_ceil(32), (n as u32).div_ceil(64), 1];
        differ(&b.finish(), grid, &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("{packed} {m}x{n}x{k}, along K {along_k}: {error}"));
    }
}

/// Through a loop, selections, and operations on shapes; parts along the first axis; the extent in elements.
#[test]
fn tiles_of_small_elements_are_values() {
    let mut rng = random(4);
    for packed in PACKED {
        let arrays = [array(&mut rng, packed, &[7, 10]), zeros(packed, &[16, 8]), zeros(DType::S32, &[2])];
        let mut b = Build::new("values");
        let ids = [
            declare(&mut b, "x", &arrays[0], false),
            declare(&mut b, "y", &arrays[1], true),
            declare(&mut b, "n", &arrays[2], true),
        ];
        let [one, five] = [1, 5].map(|n| Arg::Loose(Const::Int(n)));
        let part = b.array_slice(ids[0], 0, one, five).unwrap();
        let zero = [Arg::Loose(Const::Int(0)), Arg::Loose(Const::Int(0))];
        let padded = |id| Tiles { padding: Padding::Zero, ..Tiles::new(id, dims(&[8, 16])) };
        let whole = b.load(&padded(ids[0]), &zero).unwrap();
        let part = b.load(&padded(part), &zero).unwrap();
        let number = b.cast(whole, DType::F32, Rounding::Nearest).unwrap();
        let large = [number.into(), Arg::Loose(Const::Float(1.0))];
        let large = b.each(Each::Greater, &large, Mode::default()).unwrap();
        let chosen = [large, part, whole].map(Arg::from);
        let chosen = b.each(Each::Select, &chosen, Mode::default()).unwrap();
        let turned = b.permute(chosen, &[1, 0]).unwrap();
        b.store(&Tiles::new(ids[1], dims(&[16, 8])), &zero, turned.into()).unwrap();
        for axis in 0..2 {
            let n = b.dim(ids[0], axis).unwrap();
            let n = b.reshape(n, &[1]).unwrap();
            b.store(&Tiles::new(ids[2], dims(&[1])), &[Arg::Loose(Const::Int(axis.into()))], n.into())
                .unwrap();
        }
        let func = b.finish();
        verify(&func).unwrap();
        verify(&pass::packed(&func)).unwrap();
        differ(&func, [1; 3], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("{packed}: {error}"));
    }
}

/// What is refused while a program is built, or by the verifier.
#[test]
fn what_shares_a_byte_is_not_accessed_alone() {
    let x = zeros(DType::U4, &[8, 8]);
    let zero = || vec![Arg::Loose(Const::Int(0)); 2];
    let fault = |build: &dyn Fn(&mut Build, girih_tile::ir::ArrayId) -> Result<(), Fault>| {
        let mut b = Build::new("k");
        let id = declare(&mut b, "x", &x, true);
        build(&mut b, id).unwrap_err().to_string()
    };
    let view = |tile: &[u32], id| Tiles::new(id, dims(tile));
    let odd = fault(&|b, id| b.load(&view(&[2, 3], id), &zero()).map(drop));
    let steps =
        fault(&|b, id| b.load(&Tiles { steps: Some(dims(&[1, 1])), ..view(&[2, 4], id) }, &zero()).map(drop));
    for message in [odd, steps] {
        assert!(
            message.contains("an even extent at even steps along the array's last axis are accepted"),
            "{message}"
        );
    }
    let slice =
        fault(&|b, id| b.array_slice(id, 1, Arg::Loose(Const::Int(1)), Arg::Loose(Const::Int(3))).map(drop));
    assert!(slice.contains("axes but the last are accepted"), "{slice}");
    let padding =
        fault(&|b, id| b.load(&Tiles { padding: Padding::Nan, ..view(&[2, 4], id) }, &zero()).map(drop));
    assert!(padding.contains("zero is accepted"), "{padding}");

    let index =
        |b: &mut Build| vec![Arg::from(b.arange(DType::S32, 4, Const::Int(0), Const::Int(1)).unwrap()); 2];
    let gather = fault(&|b, id| {
        let index = index(b);
        b.gather(&Elements::new(id), &index, None, None).map(drop)
    });
    assert!(gather.contains("loads and stores of tiles are accepted"), "{gather}");
    let bytes = fault(&|b, id| {
        let value = b.load(&view(&[2, 4], id), &zero())?;
        b.pack_to_bytes(value).map(drop)
    });
    assert!(bytes.contains("are accepted, and elements of whole bytes"), "{bytes}");
    let sum = fault(&|b, id| {
        let value = b.load(&view(&[2, 4], id), &zero())?;
        b.each(Each::Add, &[value.into(), value.into()], Mode::default()).map(drop)
    });
    assert!(sum.contains("u4"), "{sum}");

    let text = |param: &str, body: &str| format!("kernel k({param}) {{\n{body}}}\n");
    let refused = |param: &str, body: &str| {
        let func = parse(&text(param, body)).unwrap_or_else(|error| panic!("{error}"));
        verify(&func).unwrap_err().to_string()
    };
    for param in [
        "x: u4[3] strides [1] align 1",
        "x: s4[?, 4] strides [3, 1] align 1",
        "x: e2m1[?, ?] strides [2, 2] align 1",
    ] {
        let message = refused(param, "");
        assert!(
            message.contains("two elements along the last axis share a byte; an even extent"),
            "{message}"
        );
    }
}

/// Weights of 4 bits, unpacked by hand and by the array's dtype.
mod by_hand {
    use girih_tile::prelude::*;

    #[kernel]
    pub(super) fn gemm(a: &Array<bf16, 2>, w: &Array<u8, 2>, c: &mut Array<bf16, 2>) {
        let (i, j) = (bid(0), bid(1));
        let mut acc = zeros::<f32>([128, 128]);
        for k in 0..cdiv(a.dim(1), 64) {
            let x = a.tiles([128, 64]).padding(Padding::Zero).load((i, k));
            let p = w.tiles([128, 32]).padding(Padding::Zero).load((j, k)).expand_dims(-1);
            let y = cat((p & 15, p >> 4), -1).reshape([128, 64]).to::<bf16>();
            acc = mma(x, y.t(), acc);
        }
        c.tiles_mut([128, 128]).store((i, j), acc.to::<bf16>());
    }
}

mod by_dtype {
    use girih_tile::prelude::*;

    #[kernel]
    pub(super) fn gemm(a: &Array<bf16, 2>, w: &Array<U4, 2>, c: &mut Array<bf16, 2>) {
        let (i, j) = (bid(0), bid(1));
        let mut acc = zeros::<f32>([128, 128]);
        for k in 0..cdiv(a.dim(1), 64) {
            let x = a.tiles([128, 64]).padding(Padding::Zero).load((i, k));
            let y = w.tiles([128, 64]).padding(Padding::Zero).load((j, k)).to::<bf16>();
            acc = mma(x, y.t(), acc);
        }
        c.tiles_mut([128, 128]).store((i, j), acc.to::<bf16>());
    }
}

#[test]
fn the_dtype_costs_nothing() {
    let kernel = |func: Func, columns: usize| {
        let extents = [vec![4096, 4096], vec![4096, columns], vec![4096, 4096]];
        let facts = Uses::of(&func).row_major(&extents, 0);
        compile(&func.with_facts(&facts), 90).unwrap().kernel.module().to_string()
    };
    let [by_hand, by_dtype] =
        [kernel(by_hand::gemm::ir().unwrap(), 2048), kernel(by_dtype::gemm::ir().unwrap(), 4096)];
    assert!(by_dtype.contains("wgmma"), "{by_dtype}");
    assert_eq!(by_dtype, by_hand);
}
