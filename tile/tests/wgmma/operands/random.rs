//! Random loops over products of operands that threads compute.

use girih_tensor::DType;
use girih_tile::ir::Rounding;
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::differ::{random, zeros};
use crate::wgmma::attention::Lines;

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

pub(super) struct Random {
    rng: StdRng,
    l: Lines,
    dtype: DType,
    /// Extents along K of a tile, and of all.
    pub(super) k: [u32; 2],
    batches: Option<u32>,
    params: Vec<String>,
    pub(super) arrays: Vec<ArrayData>,
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
    pub(super) fn program(seed: u64) -> (String, Vec<ArrayData>) {
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
