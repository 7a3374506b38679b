//! Random loops over products whose operands threads compute: converted, scaled, unpacked, gathered, transposed, batched. All numbers are small
//! integers, so that any order of sums gives the same.

use girih_codegen::plan::Exchange;
use girih_tensor::DType;
use girih_tile::ir::{Kind, Rounding};
use girih_tile::pass::simplify;
use girih_tile::place::place;
use girih_tile::place::wgmma::Source;
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use super::attention::Lines;
use super::{assembled, program};
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

/// How an operand comes from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Loaded,
    /// Loaded with the other order of axes.
    Turned,
    /// Of another dtype.
    Cast(DType),
    /// Multiplied by a number for each row or column that is no part of K, or for each of K.
    Scaled {
        along_k: bool,
    },
    /// Numbers of 4 bits, two in a byte: neighbours along the last axis, or halves of it.
    Unpacked {
        halves: bool,
        scaled: bool,
    },
    /// Rows by numbers from memory.
    Gathered,
    /// What is less than 0 is 0.
    Rectified,
}

impl Form {
    fn random(rng: &mut StdRng) -> Form {
        match rng.random_range(0..12) {
            0..2 => Form::Loaded,
            2 => Form::Turned,
            3..5 => Form::Cast(
                [DType::U8, DType::S8, DType::F32, DType::E4m3, DType::S32][rng.random_range(0..5usize)],
            ),
            5..7 => Form::Scaled { along_k: rng.random() },
            7..10 => Form::Unpacked { halves: rng.random_range(0..3) == 0, scaled: rng.random() },
            10 => Form::Gathered,
            _ => Form::Rectified,
        }
    }
}

struct Random {
    rng: StdRng,
    l: Lines,
    dtype: DType,
    /// Extents along K of a tile, and of all.
    k: [u32; 2],
    batches: Option<u32>,
    params: Vec<String>,
    arrays: Vec<ArrayData>,
}

impl Random {
    fn array(&mut self, dtype: DType, extents: &[i64], numbers: std::ops::Range<i64>) -> usize {
        let n = self.arrays.len();
        let one = |_| {
            let number = self.rng.random_range(numbers.clone());
            if dtype.is_float() {
                float::encode(dtype, number as f64, Rounding::Nearest)
            } else {
                number.cast_unsigned() & (u64::MAX >> (64 - dtype.bits()))
            }
        };
        let bits: Vec<u64> = (0..extents.iter().product::<i64>()).map(one).collect();
        self.arrays.push(ArrayData::dense(dtype, extents, &bits));
        // Known as girih allocates, or nothing.
        let last = extents[extents.len() - 1];
        let unit =
            (1..=128 / i64::from(dtype.bits().max(8))).rev().find(|unit| last % unit == 0).unwrap_or(1);
        let known = self.rng.random_range(0..5) > 0;
        let unit = if known { unit } else { 1 };
        let any = "?, ".repeat(extents.len() - 1);
        let strides = format!("?{unit}, ").repeat(extents.len() - 1);
        let align = if known { 16 } else { i64::from(dtype.bits().max(8)) / 8 };
        self.params.push(format!("a{n}: {dtype}[{any}?{unit}] strides [{strides}1] align {align}"));
        n
    }

    /// A tile of the operand, with K along axis `k` of its matrix; `iteration` numbers the tiles along K.
    fn operand(&mut self, form: Form, [rows, columns]: [u32; 2], k: usize, iteration: &str) -> String {
        let dtype = self.dtype;
        let shape = |this: &Random, extents: &[u32]| -> Vec<u32> {
            this.batches.into_iter().chain(extents.iter().copied()).collect()
        };
        let text = |dtype: DType, extents: &[u32]| format!("{dtype}{extents:?}");
        let tile = shape(self, &[rows, columns]);
        let rank = tile.len();
        match form {
            Form::Loaded => self.load(dtype, &tile, rank - 2 + k, iteration, -2..3),
            Form::Turned => {
                let turned = shape(self, &[columns, rows]);
                let value = self.load(dtype, &turned, rank - 1 - k, iteration, -2..3);
                let axes: Vec<usize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
                self.l.make(format!("permute {value} by {axes:?}"), text(dtype, &tile))
            }
            Form::Cast(from) => {
                let least = if from == DType::U8 { 0 } else { -2 };
                let value = self.load(from, &tile, rank - 2 + k, iteration, least..3);
                self.l.make(format!("cast {value}"), text(dtype, &tile))
            }
            Form::Rectified => {
                let value = self.load(dtype, &tile, rank - 2 + k, iteration, -2..3);
                let zero = self.l.make("full 0", text(dtype, &tile));
                self.l.make(format!("maximum {value}, {zero}"), text(dtype, &tile))
            }
            Form::Scaled { along_k } => {
                let value = self.load(dtype, &tile, rank - 2 + k, iteration, -2..3);
                let wide = self.l.make(format!("cast {value}"), text(DType::F32, &tile));
                let scaled = self.scaled(&wide, &tile, k, along_k, iteration);
                self.l.make(format!("cast {scaled}"), text(dtype, &tile))
            }
            Form::Unpacked { halves, scaled } => {
                let half = shape(self, &[rows, columns / 2]);
                let bytes = self.load(DType::U8, &half, rank - 2 + k, iteration, 0..256);
                let (parts, axis) = if halves {
                    (half, rank - 1)
                } else {
                    (half.iter().copied().chain([1]).collect::<Vec<u32>>(), rank)
                };
                let ty = text(DType::U8, &parts);
                let bytes = if halves { bytes } else { self.l.make(format!("reshape {bytes}"), &ty) };
                let [mask, by] = ["full 15", "full 4"].map(|what| self.l.make(what, &ty));
                let low = self.l.make(format!("bitwise_and {bytes}, {mask}"), &ty);
                let high = self.l.make(format!("bitwise_rshift {bytes}, {by}"), &ty);
                let mut both = parts.clone();
                both[axis] *= 2;
                let value = self.l.make(format!("cat {low}, {high} along {axis}"), text(DType::U8, &both));
                let value = self.l.make(format!("reshape {value}"), text(DType::U8, &tile));
                let wide = self.l.make(format!("cast {value}"), text(DType::F32, &tile));
                let middle = self.l.make("full 8.0", text(DType::F32, &tile));
                let mut value = self.l.make(format!("sub {wide}, {middle}"), text(DType::F32, &tile));
                if scaled {
                    value = self.scaled(&value, &tile, k, false, iteration);
                }
                self.l.make(format!("cast {value}"), text(dtype, &tile))
            }
            Form::Gathered => self.gathered(&tile, k, iteration),
        }
    }

    /// A load of a tile, whose number along an axis is the iteration's.
    fn load(
        &mut self,
        dtype: DType,
        tile: &[u32],
        axis: usize,
        iteration: &str,
        numbers: std::ops::Range<i64>,
    ) -> String {
        let mut extents: Vec<i64> = tile.iter().map(|&n| n.into()).collect();
        // Of two numbers in a byte there are half as many bytes.
        extents[axis] = extents[axis] * i64::from(self.k[1]) / i64::from(self.k[0]);
        let n = self.array(dtype, &extents, numbers);
        let mut at = vec!["%0"; tile.len()];
        at[axis] = iteration;
        let options = ["", "", " no_tma", " latency 5"][self.rng.random_range(0..4usize)];
        let what = format!("load a{n}{tile:?} at ({}) pad 0{options}", at.join(", "));
        self.l.make(what, format!("{dtype}{tile:?}"))
    }

    /// An f32 tile times a vector.
    fn scaled(&mut self, value: &str, tile: &[u32], k: usize, along_k: bool, iteration: &str) -> String {
        let rank = tile.len();
        let axis = rank - 2 + if along_k { k } else { 1 - k };
        let mut vector = vec![1; rank];
        vector[axis] = tile[axis];
        let mut extents: Vec<i64> = vector.iter().map(|&n| n.into()).collect();
        let mut at = vec!["%0"; rank];
        if along_k {
            extents[axis] = self.k[1].into();
            at[axis] = iteration;
        }
        let n = self.array(DType::F32, &extents, -1..3);
        let what = format!("load a{n}{vector:?} at ({}) pad 0", at.join(", "));
        let scale = self.l.make(what, format!("f32{vector:?}"));
        let scale = self.l.make(format!("broadcast {scale}"), format!("f32{tile:?}"));
        self.l.make(format!("mul {value}, {scale}"), format!("f32{tile:?}"))
    }

    /// Rows of an array by numbers that are loaded, of which some are outside of the array; columns in order.
    fn gathered(&mut self, tile: &[u32], k: usize, iteration: &str) -> String {
        let rank = tile.len();
        let [rows, columns] = [tile[rank - 2], tile[rank - 1]];
        let count = 40i64;
        let all = |this: &Random, along: bool, n: u32| if along { this.k[1].into() } else { i64::from(n) };
        let x = {
            let columns = all(self, k == 1, columns);
            self.array(self.dtype, &[count, columns], -2..3)
        };
        let list = {
            let rows = all(self, k == 0, rows);
            self.array(DType::S32, &[rows], 0..count + 3)
        };
        let at = if k == 0 { iteration } else { "%0" };
        let row = self.l.make(format!("load a{list}[{rows}] at ({at}) pad 0"), format!("s32[{rows}]"));
        let mut column = self.l.make("iota", format!("s32[{columns}]"));
        if k == 1 {
            let step = self.l.make(format!("full {columns}"), "s32");
            let first = self.l.make(format!("mul {iteration}, {step}"), "s32");
            let first = self.l.make(format!("reshape {first}"), "s32[1]");
            let first = self.l.make(format!("broadcast {first}"), format!("s32[{columns}]"));
            column = self.l.make(format!("add {column}, {first}"), format!("s32[{columns}]"));
        }
        let mut spread = |value: String, axis: usize| {
            let mut one = vec![1; rank];
            one[axis] = tile[axis];
            let value = self.l.make(format!("reshape {value}"), format!("s32{one:?}"));
            self.l.make(format!("broadcast {value}"), format!("s32{tile:?}"))
        };
        let (row, column) = (spread(row, rank - 2), spread(column, rank - 1));
        let dtype = self.dtype;
        let none = self.l.make("full 0", format!("{dtype}{tile:?}"));
        self.l.make(format!("gather a{x} at ({row}, {column}) else {none}"), format!("{dtype}{tile:?}"))
    }

    /// A program with its arrays.
    fn program(seed: u64) -> (String, Vec<ArrayData>) {
        let mut rng = random(seed);
        let dtype = if rng.random_range(0..3) > 0 { DType::Bf16 } else { DType::F16 };
        let batches = (rng.random_range(0..6) == 0).then(|| rng.random_range(1..4));
        let mut size = |sizes: &[u32]| sizes[rng.random_range(0..sizes.len())];
        let (m, n, k) = match batches {
            Some(_) => (size(&[8, 16, 32]), size(&[8, 16, 32]), size(&[16, 32])),
            None => {
                (size(&[16, 16, 32, 64, 64, 128]), size(&[8, 32, 64, 64, 128]), size(&[16, 32, 64, 64, 128]))
            }
        };
        let iterations = rng.random_range(1..5u32);
        // What there is along K ends within the last tile.
        let less = [0, 0, 8, k / 2][rng.random_range(0..4usize)];
        let all = k * iterations - if iterations > 1 { less / 2 * 2 } else { 0 };
        let forms = [Form::random(&mut rng), Form::random(&mut rng)];
        let l = Lines::default();
        let mut r = Random { rng, l, dtype, k: [k, all], batches, params: Vec::new(), arrays: Vec::new() };
        for number in 0..2 {
            r.l.make(format!("full {number}"), "s32");
        }
        let sums: Vec<u32> = batches.into_iter().chain([m, n]).collect();
        let ty = format!("f32{sums:?}");
        let zero = r.l.make("full 0", &ty);
        let end = r.l.make(format!("full {iterations}"), "s32");
        let [result, iteration, carried] = [(); 3].map(|()| r.l.value());
        r.l.text += &format!(
            "  {result} = for %0 to {end} step %1 carry {zero} : {ty} {{ ({iteration}: s32, {carried}: {ty})\n"
        );
        let a = r.operand(forms[0], [m, k], 1, &iteration);
        let b = r.operand(forms[1], [k, n], 0, &iteration);
        let mut next = r.l.make(format!("mma {a}, {b}, {carried}"), &ty);
        if r.rng.random_range(0..5) == 0 {
            next = r.l.make(format!("negative {next}"), &ty);
        }
        r.l.text += &format!("  continue {next}\n  }}\n");
        // Rounded, for every other one, of which the array may have a part.
        let narrow = r.rng.random::<bool>();
        let (of_y, stored) = if narrow {
            let dtype = r.dtype;
            (dtype, r.l.make(format!("cast {result}"), format!("{dtype}{sums:?}")))
        } else {
            (DType::F32, result)
        };
        let mut extents: Vec<i64> = sums.iter().map(|&n| n.into()).collect();
        let rank = extents.len();
        if narrow {
            extents[rank - 2] -= r.rng.random_range(0..extents[rank - 2] / 2);
            extents[rank - 1] -= r.rng.random_range(0..(extents[rank - 1] + 15) / 16) * 8;
        }
        r.arrays.push(zeros(of_y, &extents));
        let strides: Vec<i64> = (0..rank).map(|axis| extents[axis + 1..].iter().product()).collect();
        r.params.push(format!("mut y: {of_y}{extents:?} strides {strides:?} align 16"));
        let at = vec!["%0"; rank].join(", ");
        r.l.text += &format!("  store {stored} to y{sums:?} at ({at})\n");
        (format!("kernel random({}) {{\n{}}}\n", r.params.join(", "), r.l.text), r.arrays)
    }
}

#[test]
fn products_of_what_is_computed_agree_with_the_reference() {
    // How many products have an operand in registers, and how many are computed transposed.
    let (mut held, mut turned) = (0, 0);
    for seed in 0..cases(60) as u64 {
        let (text, arrays) = Random::program(seed);
        let func = program(&text);
        match place(&simplify(&func), 90) {
            Ok(plan) => {
                let products = plan.products.wgmma.values();
                held += products.clone().filter(|product| product.sources[0] == Source::Registers).count();
                turned += products.filter(|product| product.operands == [1, 0]).count();
            }
            // Tiles that no block has room for.
            Err(error) if error.to_string().contains("accepted") => continue,
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        }
        let same = differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT);
        same.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    }
    assert!(held > 0 && turned > 0, "{held} in registers, {turned} transposed");
}

/// C = A W^T of weights of 4 bits, two in a byte, with a scale for each column.
const WEIGHTS: &str = "kernel weights(a: bf16[?, ?64] strides [?64, 1] align 16, w: u8[?, ?32] strides [?32, 1] align 16, s: f32[128, 1] strides [1, 1] align 16, mut y: f32[128, 128] strides [128, 1] align 16, n: s32) {
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = param n : s32
  %3 = full 0 : f32[128, 128]
  %4 = full 15 : u8[128, 32, 1]
  %5 = full 4 : u8[128, 32, 1]
  %6 = load s[128, 1] at (%0, %0) : f32[128, 1]
  %7 = broadcast %6 : f32[128, 64]
  %8 = for %0 to %2 step %1 carry %3 : f32[128, 128] { (%9: s32, %10: f32[128, 128])
    %11 = load a[128, 64] at (%0, %9) pad 0 : bf16[128, 64]
    %12 = load w[128, 32] at (%0, %9) pad 0 : u8[128, 32]
    %13 = reshape %12 : u8[128, 32, 1]
    %14 = bitwise_and %13, %4 : u8[128, 32, 1]
    %15 = bitwise_rshift %13, %5 : u8[128, 32, 1]
    %16 = cat %14, %15 along 2 : u8[128, 32, 2]
    %17 = reshape %16 : u8[128, 64]
    %18 = cast %17 : f32[128, 64]
    %19 = mul %18, %7 : f32[128, 64]
    %20 = cast %19 : bf16[128, 64]
    %21 = permute %20 by [1, 0] : bf16[64, 128]
    %22 = mma %11, %21, %10 : f32[128, 128]
    continue %22
  }
  store %8 to y[128, 128] at (%0, %0)
}
";

/// Each thread unpacks what it multiplies: nothing moves between threads in the loop, and the next operand is computed beside a product.
#[test]
fn unpacked_weights_are_multiplied_where_they_are_computed() {
    let plan = place(&simplify(&program(WEIGHTS)), 90).unwrap();
    let products = || plan.products.wgmma.values();
    assert!(products().all(|product| product.operands == [1, 0] && product.sources[0] == Source::Registers));
    assert_eq!(products().count(), 2, "one in the loop and one behind it\n{}", plan.func);
    let mut loops = 0;
    plan.func.walk(plan.func.body(), &mut |_, op| {
        let bodies = op.regions.iter().filter(|_| op.kind == Kind::For);
        bodies.for_each(|&body| {
            loops += 1;
            plan.func.walk(body, &mut |_, op| {
                let moved = op.results.first().and_then(|result| plan.exchanges.get(result));
                assert!(!matches!(moved, Some(Exchange::Shared(_))), "{op:?}\n{}", plan.func);
            });
        });
    });
    assert_eq!(loops, 1);
    assembled(WEIGHTS);
}

/// A product of weights of 8 bits with a scale for each column. The arrays of both have these strides and alignments.
fn scaled(q: &str, scale: &str) -> String {
    let [n, k] = [128, 64];
    format!(
        "kernel product(a: bf16[?, ?64] strides [?8, 1] align 16, q: u8[?, ?] strides {q}, s: f32[?, ?] strides {scale}, mut c: bf16[?, ?8] strides [?8, 1] align 16, count: s32) {{
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 0 : f32[128, {n}]
  %3 = param count : s32
  %4 = for %0 to %3 step %1 carry %2 : f32[128, {n}] {{ (%5: s32, %6: f32[128, {n}])
    %7 = load a[128, {k}] at (%0, %5) pad 0 : bf16[128, {k}]
    %8 = load q[{n}, {k}] at (%0, %5) pad 0 : u8[{n}, {k}]
    %9 = cast %8 : f32[{n}, {k}]
    %10 = load s[1, {n}] at (%5, %0) pad 0 : f32[1, {n}]
    %11 = reshape %10 : f32[{n}, 1]
    %12 = broadcast %11 : f32[{n}, {k}]
    %13 = mul %9, %12 : f32[{n}, {k}]
    %14 = cast %13 : bf16[{n}, {k}]
    %15 = permute %14 by [1, 0] : bf16[{k}, {n}]
    %16 = mma %7, %15, %6 : f32[128, {n}]
    continue %16
  }}
  %17 = cast %4 : bf16[128, {n}]
  store %17 to c[128, {n}] at (%0, %0)
}}
"
    )
}

/// The tiles of a loop from which operands are computed come to one slot of a ring, if tensor copies can bring them.
#[test]
fn what_operands_are_computed_from_comes_by_tensor_copies() {
    let (wide, row) = ("[?16, 1] align 16", "[?4, 1] align 16");
    let plan = |text: &str| place(&simplify(&program(text)), 90).unwrap().products;
    let all = plan(&scaled(wide, row));
    let rings = &all.pipeline.rings;
    let read: Vec<_> = rings.iter().filter(|ring| ring.read).collect();
    assert_eq!((all.read.len(), read.len()), (2, 1), "{rings:?}");
    // What comes are both tiles; one begins behind the other.
    assert_eq!(read[0].bytes, 128 * 64 + 128 * 4);
    let mut parts: Vec<i64> = all.pipeline.parts.values().map(|part| part.at).collect();
    parts.sort_unstable();
    assert_eq!(parts, [0, 128 * 64]);
    assert!(read[0].step >= read[0].bytes && read[0].step % 128 == 0 && read[0].slots > 2);
    // Rows that begin anywhere, of the one and of the other.
    for (text, count) in [(scaled("[?, 1] align 1", row), 1), (scaled(wide, "[?, 1] align 4"), 1)] {
        let some = plan(&text);
        assert_eq!(some.read.len(), count, "{text}");
        assert_eq!(some.ahead.loads.values().filter(|early| early.computed).count(), 2 - count, "{text}");
    }
}
