//! Gathers, scatters and atomic operations.

use girih_tensor::DType;
use girih_tile::dtype::Const;
use girih_tile::ir::{Build, Dims, Known, Order, Rmw, ScalarParam, Scope, Type, Value};
use girih_tile::ops::Arg;
use girih_tile::ops::indexed::{Along, Elements};
use girih_tile::ops::memory::Tiles;
use girih_tile_reference::{self as reference, ArrayData};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::memory::param;
use crate::common::differ::{Tolerance, array, cases, differ, on_gpu, random, simulate, zeros};

const ANY: Known = Known::MultipleOf(1);

fn input(b: &mut Build, name: &str, dtype: DType, rank: usize, mutable: bool) -> girih_tile::ir::ArrayId {
    let mut strides = vec![ANY; rank];
    strides[rank - 1] = Known::Is(1);
    b.array(param(name, dtype, mutable, &vec![ANY; rank], &strides, 16))
}

fn load(b: &mut Build, from: girih_tile::ir::ArrayId, tile: &[u32]) -> Value {
    let zero: Vec<Arg> = tile.iter().map(|_| Arg::Loose(Const::Int(0))).collect();
    b.load(&Tiles::new(from, Dims::new(tile).unwrap()), &zero).unwrap()
}

fn save(b: &mut Build, to: girih_tile::ir::ArrayId, value: Value) {
    let dims = b.ty(value).dims;
    let zero: Vec<Arg> = dims.iter().map(|_| Arg::Loose(Const::Int(0))).collect();
    b.store(&Tiles::new(to, dims), &zero, value.into()).unwrap();
}

fn integers(rng: &mut StdRng, dtype: DType, n: usize, from: i64, to: i64) -> ArrayData {
    let mask = reference::mask(dtype);
    let bits: Vec<u64> = (0..n).map(|_| rng.random_range(from..to) as u64 & mask).collect();
    ArrayData::dense(dtype, &[n as i64], &bits)
}

#[test]
fn gathers_take_what_is_inside_and_padding_elsewhere() {
    let mut rng = random(11);
    let dtypes = [DType::F32, DType::Bool, DType::S8, DType::F16, DType::U64, DType::E5m2, DType::F64];
    for case in 0..cases(24) {
        let dtype = dtypes[case % dtypes.len()];
        let index = [DType::S32, DType::S64, DType::S8, DType::U32][case % 4];
        let (rows, columns) = (rng.random_range(1..40u32), rng.random_range(1..20u32));
        let mut b = Build::new("gather");
        let x = input(&mut b, "x", dtype, 2, false);
        let at = input(&mut b, "at", index, 1, false);
        let mask = input(&mut b, "mask", DType::Bool, 1, false);
        let other = input(&mut b, "other", dtype, 1, false);
        let y = input(&mut b, "y", dtype, 2, true);
        let row = load(&mut b, at, &[rows]);
        let row = b.reshape(row, &[i64::from(rows), 1]).unwrap();
        let flags = load(&mut b, mask, &[rows]);
        let flags = b.reshape(flags, &[i64::from(rows), 1]).unwrap();
        let column = b.push1(
            girih_tile::ir::Kind::Iota,
            &[],
            Type { dtype: DType::S32, dims: Dims::new(&[columns]).unwrap() },
        );
        let others = load(&mut b, other, &[columns]);
        let padding = rng.random::<bool>().then_some(others.into());
        let flags = rng.random::<bool>().then_some(flags.into());
        let got = b.gather(&Elements::new(x), &[row.into(), column.into()], flags, padding).unwrap();
        save(&mut b, y, got);
        let unsigned = index == DType::U32;
        let arrays = [
            array(&mut rng, dtype, &[13, 11]),
            integers(&mut rng, index, rows as usize, if unsigned { 0 } else { -4 }, 20),
            array(&mut rng, DType::Bool, &[rows.into()]),
            array(&mut rng, dtype, &[columns.into()]),
            zeros(dtype, &[rows.into(), columns.into()]),
        ];
        differ(&b.finish(), [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {dtype} by {index}, {rows}x{columns}: {error}"));
    }
}

#[test]
fn scatters_write_what_is_inside_and_nothing_else() {
    let mut rng = random(12);
    let dtypes = [DType::S32, DType::Bool, DType::U8, DType::Bf16, DType::F64];
    for case in 0..cases(15) {
        let dtype = dtypes[case % dtypes.len()];
        let n = rng.random_range(1..300u32);
        let mut b = Build::new("scatter");
        let x = input(&mut b, "x", dtype, 1, false);
        let at = input(&mut b, "at", DType::S32, 1, false);
        let mask = input(&mut b, "mask", DType::Bool, 1, false);
        let y = input(&mut b, "y", dtype, 1, true);
        let (value, index) = (load(&mut b, x, &[n]), load(&mut b, at, &[n]));
        let flags = load(&mut b, mask, &[n]);
        let flags = rng.random::<bool>().then_some(flags.into());
        b.scatter(&Elements::new(y), &[index.into()], value.into(), flags).unwrap();
        // Each place once, some of them outside.
        let mut places: Vec<i64> = (-10..i64::from(n) - 10).collect();
        places.shuffle(&mut rng);
        let bits: Vec<u64> = places.iter().map(|&place| place as u64 & 0xffff_ffff).collect();
        let arrays = [
            array(&mut rng, dtype, &[n.into()]),
            ArrayData::dense(DType::S32, &[n.into()], &bits),
            array(&mut rng, DType::Bool, &[n.into()]),
            array(&mut rng, dtype, &[i64::from(n / 2 + 1)]),
        ];
        differ(&b.finish(), [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("case {case}: {dtype}, {n}: {error}"));
    }
}

/// Every operation on every dtype that it has: what memory holds in the end, and, where no element is met twice, what stood there.
#[test]
fn atomic_operations_are_those_of_the_reference() {
    let mut rng = random(13);
    let orders = [
        (Some(Order::Relaxed), Some(Scope::Block)),
        (None, None),
        (Some(Order::Release), Some(Scope::System)),
        (Some(Order::Acquire), Some(Scope::Device)),
    ];
    let all = [Rmw::Add, Rmw::Min, Rmw::Max, Rmw::And, Rmw::Or, Rmw::Xor, Rmw::Xchg, Rmw::Cas];
    let mut case = 0;
    for rmw in all {
        for &dtype in rmw.dtypes() {
            for unique in [false, true] {
                if !unique && matches!(rmw, Rmw::Xchg | Rmw::Cas) {
                    continue;
                }
                case += 1;
                let n = rng.random_range(2..150u32);
                let (order, scope) = orders[case % orders.len()];
                let mut b = Build::new("atomic");
                let y = input(&mut b, "y", dtype, 1, true);
                let x = input(&mut b, "x", dtype, 1, false);
                let at = input(&mut b, "at", DType::S32, 1, false);
                let old = input(&mut b, "old", dtype, 1, true);
                let expected = input(&mut b, "expected", dtype, 1, false);
                let (value, index) = (load(&mut b, x, &[n]), load(&mut b, at, &[n]));
                let expect = load(&mut b, expected, &[n]);
                let inside = b
                    .each(
                        girih_tile::ops::table::Each::GreaterEqual,
                        &[index.into(), Arg::Loose(Const::Int(0))],
                        Default::default(),
                    )
                    .unwrap();
                let at = Elements { order, scope, ..Elements::new(y) };
                let cas = (rmw == Rmw::Cas).then_some(expect.into());
                let got = b.atomic(rmw, &at, &[index.into()], cas, value.into(), None).unwrap();
                if unique {
                    // What stands outside is undetermined.
                    let zero = Arg::Loose(Const::Int(0));
                    let got = b
                        .each(
                            girih_tile::ops::table::Each::Select,
                            &[inside.into(), got.into(), zero],
                            Default::default(),
                        )
                        .unwrap();
                    save(&mut b, old, got);
                }
                let mut places: Vec<i64> = (-2..i64::from(n) - 2).collect();
                places.shuffle(&mut rng);
                if !unique {
                    places.iter_mut().for_each(|place| *place = rng.random_range(-3..20));
                }
                let bits: Vec<u64> = places.iter().map(|&place| place as u64 & 0xffff_ffff).collect();
                // Numbers whose sums are exact.
                let number = |rng: &mut StdRng| {
                    let n = rng.random_range(0..4i64);
                    girih_tile::ops::number::encode(dtype, Const::Int(n.into()))
                };
                let mut numbers = |count: u32| {
                    let bits: Vec<u64> = (0..count).map(|_| number(&mut rng)).collect();
                    ArrayData::dense(dtype, &[count.into()], &bits)
                };
                let arrays = [
                    numbers(n),
                    numbers(n),
                    ArrayData::dense(DType::S32, &[n.into()], &bits),
                    zeros(dtype, &[n.into()]),
                    numbers(n),
                ];
                let func = b.finish();
                let what = format!("{rmw:?} of {dtype}, unique {unique}, {order:?}");
                if dtype == DType::Bf16 {
                    // sm_90 introduced the instruction.
                    let mut wanted = arrays.to_vec();
                    reference::run(&func, [1, 1, 1], &mut wanted, &[]).unwrap();
                    let got = simulate(&func, 90, [1, 1, 1], &arrays, &[])
                        .unwrap_or_else(|e| panic!("{what}: {e}"));
                    assert_eq!(got[0].elements(), wanted[0].elements(), "{what}");
                    assert!(simulate(&func, 80, [1, 1, 1], &arrays, &[]).is_err());
                    continue;
                }
                differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
            }
        }
    }
}

/// A scalar is held by all threads: one of them does the operation, and all see what stood there.
#[test]
fn a_scalar_is_added_once_for_each_block() {
    let mut b = Build::new("count");
    let y = input(&mut b, "y", DType::S32, 1, true);
    let seen = input(&mut b, "seen", DType::S32, 1, true);
    let one = Arg::Loose(Const::Int(1));
    let zero = Arg::Loose(Const::Int(0));
    let old = b.atomic(Rmw::Add, &Elements::new(y), &[zero], None, one, None).unwrap();
    b.atomic(Rmw::Max, &Elements::new(seen), &[old.into()], None, one, None).unwrap();
    let got = simulate(&b.finish(), 90, [5, 1, 1], &[zeros(DType::S32, &[1]), zeros(DType::S32, &[8])], &[])
        .unwrap();
    assert_eq!(got[0].elements().unwrap(), [5]);
    assert_eq!(got[1].elements().unwrap(), [1, 1, 1, 1, 1, 0, 0, 0]);
}

#[test]
fn assertions_end_a_kernel_that_breaks_them() {
    if on_gpu() {
        return println!("left out: a process that has ended a kernel so can use its GPU no more");
    }
    let run = |bits: &[u64]| {
        let mut b = Build::new("check");
        let x = input(&mut b, "x", DType::Bool, 1, false);
        let value = load(&mut b, x, &[bits.len() as u32]);
        b.assert(value.into(), "100% true").unwrap();
        let arrays = [ArrayData::dense(DType::Bool, &[bits.len() as i64], bits)];
        simulate(&b.finish(), 90, [1, 1, 1], &arrays, &[])
    };
    assert!(run(&[1; 40]).is_ok());
    let mut bits = vec![1; 40];
    bits[37] = 0;
    let error = run(&bits).unwrap_err();
    assert!(error.contains("trap"), "{error}");
}

/// One thread prints, and what it prints is what the reference evaluator says.
#[test]
fn tiles_and_scalars_are_printed() {
    let mut b = Build::new("print");
    let x = input(&mut b, "x", DType::F16, 2, false);
    let value = load(&mut b, x, &[2, 3]);
    let block = b.bid(0).unwrap();
    b.print("block %d: %.2f, 100%%\n", &[block.into(), value.into()]).unwrap();
    let func = b.finish();
    let bits: Vec<u64> = (0..6).map(|n| girih_tile::ops::number::encode(DType::F16, Const::Int(n))).collect();
    let arrays = [ArrayData::dense(DType::F16, &[2, 3], &bits)];
    let mut after = arrays.to_vec();
    let printed = reference::run(&func, [2, 1, 1], &mut after, &[]).unwrap().printed;
    assert!(printed.starts_with("block 0: 0.00, 100%\nblock 0: 1.00, 100%\n"), "{printed}");
    assert_eq!(printed_on_simulator(&func, &arrays), printed);
}

fn printed_on_simulator(func: &girih_tile::ir::Func, arrays: &[ArrayData]) -> String {
    use std::sync::{Arc, Mutex};
    let text = Arc::new(Mutex::new(String::new()));
    let into = text.clone();
    let print: girih_sim::Print = Arc::new(move |part: &str| into.lock().unwrap().push_str(part));
    let options = girih_device::SimOptions { print: Some(print), ..girih_device::SimOptions::checked() };
    let device = girih_device::Device::open_sim(options).unwrap();
    let compiled = girih_tile::compile(func, 90).unwrap();
    let buffer = device.upload(&arrays[0].bytes).unwrap();
    let given = girih_tile::launch::run::Given {
        buffer: (&buffer).into(),
        extents: arrays[0].extents.clone(),
        strides: arrays[0].strides.clone(),
    };
    // SAFETY: on the simulator a wrong kernel is an error.
    #[allow(unsafe_code, reason = "on the simulator a wrong kernel is an error")]
    unsafe { girih_tile::launch::run::run(&device, &compiled, [2, 1, 1], &[given], &[]) }.unwrap();
    text.lock().unwrap().clone()
}

#[test]
fn rows_by_spans_are_loaded_in_vectors() {
    let mut rng = random(15);
    let mut vectors = 0;
    let dtypes = [DType::F32, DType::Bf16, DType::U8, DType::S64];
    for case in 0..cases(8) {
        let dtype = dtypes[case % dtypes.len()];
        let index = [DType::S32, DType::S64][case / 2 % 2];
        let known = [ANY, Known::MultipleOf(16)][case / 4 % 2];
        let (rows, count) = (rng.random_range(17..64u32), 64 * rng.random_range(1..3u32));
        let columns = 16 * rng.random_range(8..12i64);
        let mut b = Build::new("rows");
        let x = b.array(param("x", dtype, false, &[ANY, known], &[Known::MultipleOf(16), Known::Is(1)], 16));
        let at = input(&mut b, "at", index, 1, false);
        let other = input(&mut b, "other", dtype, 1, false);
        let wide = Known::MultipleOf(16);
        let y = b.array(param("y", dtype, true, &[ANY, wide], &[wide, Known::Is(1)], 16));
        let row = load(&mut b, at, &[rows]);
        let others = load(&mut b, other, &[count]);
        let start =
            b.scalar(ScalarParam { name: "start".into(), dtype: DType::S32, known: Known::MultipleOf(16) });
        let padding = rng.random::<bool>().then_some(others.into());
        let along = [Along::Rows(row.into()), Along::Span { start: start.into(), count }];
        let got = b.load_rows(&Elements::new(x), &along, padding).unwrap();
        save(&mut b, y, got);
        let func = b.finish();
        let text = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
        vectors += usize::from(text.contains("ld.global.nc.v"));
        for start in [-16, 0, columns - i64::from(count), columns - 16] {
            let arrays = [
                array(&mut rng, dtype, &[13, columns]),
                integers(&mut rng, index, rows as usize, -2, 15),
                array(&mut rng, dtype, &[count.into()]),
                zeros(dtype, &[rows.into(), count.into()]),
            ];
            let scalars = [start as u64 & 0xffff_ffff];
            differ(&func, [1, 1, 1], &arrays, &scalars, |_| Tolerance::EXACT)
                .unwrap_or_else(|error| panic!("case {case}: {dtype}, {rows}x{count} from {start}: {error}"));
        }
    }
    assert!(vectors > cases(8) / 2, "{vectors} of {} kernels have vectors", cases(8));
}

#[test]
fn indices_that_wrap_are_those_of_their_dtype() {
    // Sums of two numbers and 0, 1, 2, ... that leave the range of the dtype.
    let cases: [(&str, &[[u64; 2]]); 5] = [
        ("u8", &[[240, 0], [240, 240], [16, 16]]),
        ("s8", &[[112, 0], [112, 112]]),
        ("u32", &[[0xffff_fff0, 0], [0x8000_0000, 0x8000_0000], [16, 16]]),
        (
            "s32",
            &[[0x7fff_fff0, 0], [0x7fff_fff0, 0x7fff_fff0], [16, 0xffff_fff0], [0x8000_0000, 0x8000_0010]],
        ),
        ("s64", &[[1 << 40, (1u64 << 40).wrapping_neg()], [1 << 40, 0], [16, 16]]),
    ];
    for (dtype, starts) in cases {
        let (cast, index) = match dtype {
            "s32" | "s64" => ("", 8),
            _ => ("%12 = cast %8 : s64", 12),
        };
        let n = if dtype.ends_with("8") { 128 } else { 2048 };
        let shape = if cast.is_empty() { String::new() } else { format!("[{n}]") };
        let text = format!(
            "kernel wraps(x: f32[?16] strides [1] align 16, mut y: f32[{n}] strides [1] align 16, a: {dtype} = ?16, b: {dtype} = ?16) {{
  %0 = iota : {dtype}[{n}]
  %1 = param a : {dtype}
  %2 = reshape %1 : {dtype}[1]
  %3 = broadcast %2 : {dtype}[{n}]
  %4 = add %0, %3 : {dtype}[{n}]
  %5 = param b : {dtype}
  %6 = reshape %5 : {dtype}[1]
  %7 = broadcast %6 : {dtype}[{n}]
  %8 = add %4, %7 : {dtype}[{n}]
  %9 = full 0 : f32[{n}]
  {cast}{shape}
  %10 = gather x at (%{index}) else %9 : f32[{n}]
  %11 = full 0 : s32
  store %10 to y[{n}] at (%11)
}}
"
        );
        let func = girih_tile::ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let numbers: Vec<u64> = (1..4097).map(|n| u64::from((n as f32).to_bits())).collect();
        let arrays = [ArrayData::dense(DType::F32, &[4096], &numbers), zeros(DType::F32, &[n])];
        for scalars in starts {
            differ(&func, [1, 1, 1], &arrays, scalars, |_| Tolerance::EXACT)
                .unwrap_or_else(|error| panic!("{scalars:?}: {error}\n{text}"));
        }
    }
}
