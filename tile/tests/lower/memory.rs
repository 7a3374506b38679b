//! Loads and stores of tiles: extents, strides, alignments, paddings, orders, parts of arrays, and tiles that are written out.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{ArrayParam, Build, Dims, Known, Order, Padding, ScalarParam, Scope};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use rand::RngExt;

use crate::common::differ::{Tolerance, array, cases, differ, random, zeros};

pub(crate) fn param(
    name: &str,
    dtype: DType,
    mutable: bool,
    extents: &[Known],
    strides: &[Known],
    align: u32,
) -> ArrayParam {
    ArrayParam {
        name: name.into(),
        dtype,
        mutable,
        extents: extents.to_vec(),
        strides: strides.to_vec(),
        align,
        assume_disjoint: None,
    }
}

/// What is known of a number: itself, one of its powers of two, or nothing.
fn known(rng: &mut rand::rngs::StdRng, value: i64) -> Known {
    match rng.random_range(0..3) {
        0 => Known::Is(value),
        1 if value > 0 => Known::MultipleOf(1 << value.trailing_zeros().min(4)),
        _ => Known::MultipleOf(1),
    }
}

#[test]
fn copies_of_tiles_are_copies() {
    let mut rng = random(1);
    let dtypes =
        [DType::Bool, DType::S8, DType::U16, DType::F16, DType::F32, DType::S32, DType::F64, DType::E4m3];
    for case in 0..cases(60) {
        let rank = rng.random_range(1..=3);
        let dtype = dtypes[case % dtypes.len()];
        let tile: Vec<u32> = (0..rank).map(|_| 1 << rng.random_range(0..5)).collect();
        let extents: Vec<i64> = tile
            .iter()
            .map(|&n| {
                i64::from(n) * rng.random_range(1..4)
                    - if rng.random() { 0 } else { rng.random_range(0..i64::from(n)) }
            })
            .collect();
        let dims = Dims::new(&tile).unwrap();
        let x = array(&mut rng, dtype, &extents);
        let y = zeros(dtype, &extents);
        let facts = |rng: &mut rand::rngs::StdRng| -> (Vec<Known>, Vec<Known>) {
            let mut strides: Vec<Known> = x.strides.iter().map(|&n| known(rng, n)).collect();
            if rng.random_range(0..4) > 0 {
                strides[rank - 1] = Known::Is(1);
            }
            (extents.iter().map(|&n| known(rng, n)).collect(), strides)
        };
        let mut b = Build::new("copy");
        let (e, s) = facts(&mut rng);
        let from = b.array(param(
            "x",
            dtype,
            false,
            &e,
            &s,
            if rng.random() { 16 } else { 4.max(dtype.bits() / 8) },
        ));
        let (e, s) = facts(&mut rng);
        let to = b.array(param("y", dtype, true, &e, &s, 16));
        let index: Vec<_> = (0..rank).map(|axis| b.bid(axis as i64).unwrap().into()).collect();
        let padding =
            if dtype.is_float() && dtype.bits() > 8 { Padding::NegInf } else { Padding::Undetermined };
        let tiles = Tiles { padding, ..Tiles::new(from, dims) };
        let value = b.load(&tiles, &index).unwrap();
        b.store(&Tiles::new(to, dims), &index, value.into()).unwrap();
        let mut grid = [1; 3];
        for axis in 0..rank {
            grid[axis] = (extents[axis] as u32).div_ceil(tile[axis]);
        }
        differ(&b.finish(), grid, &[x.clone(), y], &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {dtype} {extents:?} in tiles {tile:?}: {error}"));
    }
}

#[test]
fn ordered_accesses_move_what_weak_ones_move() {
    let mut rng = random(2);
    let dtypes = [DType::S8, DType::F16, DType::F32, DType::U64, DType::Bool];
    for case in 0..cases(30) {
        let dtype = dtypes[case % dtypes.len()];
        let scope = [Scope::Block, Scope::Device, Scope::System][rng.random_range(0..3)];
        let load = [Order::Weak, Order::Relaxed, Order::Acquire][rng.random_range(0..3)];
        let store = [Order::Weak, Order::Relaxed, Order::Release][rng.random_range(0..3)];
        let scope_of = |order: Order| (order != Order::Weak).then_some(scope);
        let extents = [rng.random_range(1..20), rng.random_range(1..40)];
        let dims = Dims::new(&[8, 16]).unwrap();
        let x = array(&mut rng, dtype, &extents);
        let mut b = Build::new("ordered");
        let any = [Known::MultipleOf(1); 2];
        let from = b.array(param("x", dtype, rng.random(), &any, &[any[0], Known::Is(1)], 16));
        let to = b.array(param("y", dtype, true, &any, &[any[0], Known::Is(1)], 16));
        let index: Vec<Arg> = (0..2).map(|axis| b.bid(axis).unwrap().into()).collect();
        let tiles =
            Tiles { padding: Padding::Zero, order: load, scope: scope_of(load), ..Tiles::new(from, dims) };
        let value = b.load(&tiles, &index).unwrap();
        let tiles = Tiles { order: store, scope: scope_of(store), ..Tiles::new(to, dims) };
        b.store(&tiles, &index, value.into()).unwrap();
        let grid = [extents[0] as u32, extents[1] as u32];
        let grid = [grid[0].div_ceil(8), grid[1].div_ceil(16), 1];
        differ(&b.finish(), grid, &[x, zeros(dtype, &extents)], &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {dtype} {extents:?} {load:?} {store:?}: {error}"));
    }
}

#[test]
fn parts_of_arrays_end_where_they_and_their_arrays_end() {
    let mut rng = random(3);
    for case in 0..cases(60) {
        let dtype = [DType::F32, DType::U8, DType::Bf16][case % 3];
        let rank = rng.random_range(1..=2usize);
        let extents: Vec<i64> = (0..rank).map(|_| rng.random_range(1..40)).collect();
        let tile: Vec<u32> = (0..rank).map(|_| 1 << rng.random_range(0..5)).collect();
        let dims = Dims::new(&tile).unwrap();
        let mut b = Build::new("part");
        let strides = |rng: &mut rand::rngs::StdRng, array: &girih_tile_reference::ArrayData| -> Vec<Known> {
            let mut all: Vec<Known> = array.strides.iter().map(|&n| known(rng, n)).collect();
            all[rank - 1] = Known::Is(1);
            all
        };
        let x = array(&mut rng, dtype, &extents);
        let whole: Vec<i64> = tile.iter().map(|&n| 3 * i64::from(n)).collect();
        let y = zeros(dtype, &whole);
        let of = |rng: &mut rand::rngs::StdRng, list: &[i64]| {
            list.iter().map(|&n| known(rng, n)).collect::<Vec<_>>()
        };
        let (facts, steps) = (of(&mut rng, &extents), strides(&mut rng, &x));
        let mut from = b.array(param("x", dtype, false, &facts, &steps, 16));
        let (facts, steps) = (of(&mut rng, &whole), strides(&mut rng, &y));
        let to = b.array(param("y", dtype, true, &facts, &steps, 16));
        let mut scalars = Vec::new();
        for depth in 0..rng.random_range(1..=3) {
            let axis = rng.random_range(0..rank);
            let start = rng.random_range(-6..extents[axis] + 2);
            let stop = start + rng.random_range(-2..extents[axis] + 4);
            let mut bound = |rng: &mut rand::rngs::StdRng, name: &str, n: i64| -> Arg {
                if rng.random() {
                    return Arg::Loose(Const::Int(n.into()));
                }
                let known = if n % 4 == 0 { Known::MultipleOf(4) } else { Known::MultipleOf(1) };
                scalars.push(n as u64 & 0xffff_ffff);
                b.scalar(ScalarParam { name: format!("{name}{depth}"), dtype: DType::S32, known }).into()
            };
            let (start, stop) = (bound(&mut rng, "start", start), bound(&mut rng, "stop", stop));
            from = b.array_slice(from, axis as i64, start, stop).unwrap();
        }
        let index: Vec<Arg> = (0..rank).map(|axis| b.bid(axis as i64).unwrap().into()).collect();
        let value = b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(from, dims) }, &index).unwrap();
        b.store(&Tiles::new(to, dims), &index, value.into()).unwrap();
        let mut grid = [1; 3];
        grid[..rank].fill(3);
        let func = b.finish();
        differ(&func, grid, &[x, y], &scalars, |_| Tolerance::EXACT).unwrap_or_else(|error| {
            panic!("case {case}: {extents:?} in {tile:?} {scalars:?}: {error}\n{func}")
        });
    }
}

#[test]
fn tiles_begin_anywhere() {
    let mut rng = random(5);
    for case in 0..cases(60) {
        let dtype = [DType::F32, DType::U8, DType::F16][case % 3];
        let rank = rng.random_range(1..=2usize);
        let extents: Vec<i64> = (0..rank).map(|_| rng.random_range(1..40)).collect();
        let tile: Vec<u32> = (0..rank).map(|_| 1 << rng.random_range(0..5)).collect();
        let steps: Vec<u32> =
            tile.iter().map(|&n| if rng.random() { n } else { rng.random_range(1..20) }).collect();
        let (x, y) = (
            array(&mut rng, dtype, &extents),
            zeros(dtype, &tile.iter().map(|&n| n.into()).collect::<Vec<_>>()),
        );
        let mut b = Build::new("anywhere");
        let mut arrays = [(&x, "x", false), (&y, "y", true)].map(|(array, name, mutable)| {
            let facts: Vec<Known> = array.extents.iter().map(|&n| known(&mut rng, n)).collect();
            let mut strides: Vec<Known> = array.strides.iter().map(|&n| known(&mut rng, n)).collect();
            strides[rank - 1] = Known::Is(1);
            b.array(param(name, dtype, mutable, &facts, &strides, 16))
        });
        arrays.reverse();
        let [to, from] = arrays;
        let mut scalars = Vec::new();
        let index: Vec<Arg> = (0..rank)
            .map(|axis| {
                let dtype =
                    [DType::S32, DType::S64, DType::U32, DType::U64, DType::S8][rng.random_range(0..5)];
                let mask = girih_tile_reference::mask(dtype);
                let n = match rng.random_range(0..8) {
                    0 => rng.random::<u64>(),
                    1 => 1 << (dtype.bits() - 1),
                    2 => (1 << (dtype.bits() - 1)) - 1,
                    _ => rng.random_range(-5i64..30) as u64,
                };
                scalars.push(n & mask);
                b.scalar(ScalarParam { name: format!("i{axis}"), dtype, known: Known::MultipleOf(1) }).into()
            })
            .collect();
        let dims = Dims::new(&tile).unwrap();
        let tiles = Tiles { padding: Padding::Zero, steps: Dims::new(&steps), ..Tiles::new(from, dims) };
        let value = b.load(&tiles, &index).unwrap();
        b.store(&Tiles::new(to, dims), &vec![Arg::Loose(Const::Int(0)); rank], value.into()).unwrap();
        let func = b.finish();
        differ(&func, [1; 3], &[x, y], &scalars, |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {extents:?} {scalars:?}: {error}\n{func}"));
    }
}

#[test]
fn tiles_that_are_written_out_are_what_is_written() {
    let mut rng = random(4);
    let dtypes = [DType::Bool, DType::S8, DType::U32, DType::S64, DType::F16, DType::F32, DType::F64];
    for case in 0..cases(40) {
        let dtype = dtypes[case % dtypes.len()];
        let extents: Vec<i64> = (0..rng.random_range(1..=3)).map(|_| rng.random_range(1..8)).collect();
        let size: i64 = extents.iter().product();
        let values: Vec<Const> = (0..size)
            .map(|_| match dtype {
                DType::Bool => Const::Bool(rng.random()),
                _ if dtype.is_float() => Const::Float(f64::from(rng.random_range(-50..50)) / 4.0),
                _ => Const::Int(rng.random_range(0..100)),
            })
            .collect();
        let mut b = Build::new("dense");
        let facts: Vec<Known> = extents.iter().map(|&n| Known::Is(n)).collect();
        let y = zeros(dtype, &extents);
        let strides: Vec<Known> = y.strides.iter().map(|&n| Known::Is(n)).collect();
        let to = b.array(param("y", dtype, true, &facts, &strides, 16));
        let value = b.dense(dtype, &extents, &values).unwrap();
        let dims = b.ty(value).dims;
        b.store(&Tiles::new(to, dims), &vec![Arg::Loose(Const::Int(0)); dims.rank()], value.into()).unwrap();
        differ(&b.finish(), [1; 3], &[y], &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {dtype} {extents:?}: {error}"));
    }
}

#[test]
fn offsets_beyond_32_bits_are_kept() {
    // Rows that are 2^33 bytes apart are more than a test has memory for: the text shows how the row goes into the address.
    let mut b = Build::new("far");
    let row = b.bid(0).unwrap();
    let (wide, any) = (Known::Is(1 << 31), Known::MultipleOf(1));
    let x = b.array(param("x", DType::F32, false, &[any, any], &[wide, Known::Is(1)], 16));
    let z = b.array(param("z", DType::F32, false, &[any; 3], &[any, any, Known::Is(1)], 16));
    let y = b.array(param("y", DType::F32, true, &[any, any], &[any, Known::Is(1)], 16));
    let zero = Arg::Loose(Const::Int(0));
    let dims = Dims::new(&[1, 128]).unwrap();
    let value =
        b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(x, dims) }, &[row.into(), zero]).unwrap();
    let solid = Tiles { padding: Padding::Zero, ..Tiles::new(z, Dims::new(&[1, 1, 128]).unwrap()) };
    let other = b.load(&solid, &[row.into(), row.into(), zero]).unwrap();
    let other = b.reshape(other, &[1, 128]).unwrap();
    let sum = b
        .each(
            girih_tile::ops::table::Each::Add,
            &[value.into(), other.into()],
            girih_tile::ops::Mode::default(),
        )
        .unwrap();
    b.store(&Tiles::new(y, dims), &[row.into(), zero], sum.into()).unwrap();
    let text = girih_tile::compile(&b.finish(), 90).unwrap().kernel.module().to_string();
    let times = |what: &str| text.lines().filter(|line| line.trim().starts_with(what)).count();
    assert!(text.contains(", 33;"), "{text}");
    // Both strides of the solid, and that of the result.
    assert_eq!((times("mul.lo.s64"), times("mul.wide.s32")), (2, 1), "{text}");

    let mut b = Build::new("far_elements");
    let x = b.array(param("x", DType::F32, false, &[any, any], &[wide, Known::Is(1)], 16));
    let at = b.array(param("at", DType::S32, false, &[any], &[Known::Is(1)], 16));
    let y = b.array(param("y", DType::F32, true, &[any], &[Known::Is(1)], 16));
    let line = Dims::new(&[128]).unwrap();
    let rows = b.load(&Tiles { padding: Padding::Zero, ..Tiles::new(at, line) }, &[zero]).unwrap();
    let far = b.cast(rows, DType::S64, girih_tile::ir::Rounding::Nearest).unwrap();
    for index in [rows, far] {
        let x = girih_tile::ops::indexed::Elements::new(x);
        let value = b.gather(&x, &[index.into(), zero], None, None).unwrap();
        b.store(&Tiles::new(y, line), &[zero], value.into()).unwrap();
    }
    let text = girih_tile::compile(&b.finish(), 90).unwrap().kernel.module().to_string();
    let far = text.lines().filter(|line| line.contains(".b64") && line.ends_with(", 33;")).count();
    assert_eq!(far, 2, "{text}");
}

/// Of an array of which nothing is known but its alignment, whole tiles are accessed in vectors, and the last one element by element.
#[test]
fn whole_tiles_of_arrays_of_any_length_are_vectors() {
    let mut rng = random(9);
    for (dtype, word) in [(DType::F32, "v4.f32"), (DType::U8, "v4.b32"), (DType::F64, "v2.f64")] {
        let mut b = Build::new("copy");
        let any = [Known::MultipleOf(1)];
        let x = b.array(param("x", dtype, false, &any, &[Known::Is(1)], 16));
        let y = b.array(param("y", dtype, true, &any, &[Known::Is(1)], 16));
        let dims = Dims::new(&[2048]).unwrap();
        let block = b.bid(0).unwrap();
        let value = b.load(&Tiles::new(x, dims), &[block.into()]).unwrap();
        b.store(&Tiles::new(y, dims), &[block.into()], value.into()).unwrap();
        let func = b.finish();
        let text = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
        for access in ["ld.global.nc", "st.global"] {
            assert!(text.contains(&format!("{access}.{word}")), "{dtype}: {access}\n{text}");
        }
        for n in [1, 2047, 2048, 2049, 5000] {
            let arrays = [array(&mut rng, dtype, &[n]), zeros(dtype, &[n])];
            let grid = [(n as u32).div_ceil(2048), 1, 1];
            differ(&func, grid, &arrays, &[], |_| Tolerance::EXACT).unwrap();
        }
    }
}
