//! Random loops with a product and functions of it.

use girih_tensor::DType;
use girih_tile::ir::Rounding;
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::differ::zeros;
use crate::wgmma::attention::Lines;

/// A loop with `keys`-wide products of rows by keys, functions of them, and their products by `columns` columns.
pub(super) struct Loop {
    pub(super) rows: u32,
    pub(super) keys: u32,
    pub(super) columns: u32,
    pub(super) start: i64,
    pub(super) step: i64,
    /// Whether the number of iterations is a parameter.
    pub(super) parameter: bool,
    pub(super) masked: bool,
    /// Whether a second sum is carried.
    pub(super) two: bool,
    /// Multiplies the sums where a row's greatest product is above this.
    pub(super) above: i64,
    /// Whether the sums are multiplied at all.
    pub(super) scaled: bool,
}

const DEPTH: u32 = 64;

impl Loop {
    pub(super) fn random(rng: &mut StdRng) -> Loop {
        let step = [1, 1, 1, 2, 3][rng.random_range(0..5usize)];
        Loop {
            rows: [64, 128, 128, 256][rng.random_range(0..4usize)],
            keys: [16, 32, 64][rng.random_range(0..3usize)],
            columns: [32, 64][rng.random_range(0..2usize)],
            start: rng.random_range(0..3),
            step,
            parameter: rng.random_range(0..3) > 0,
            masked: rng.random_range(0..2) == 0,
            two: rng.random_range(0..3) == 0,
            above: rng.random_range(-2..40),
            scaled: rng.random_range(0..2) == 0,
        }
    }

    pub(super) fn text(&self, stop: i64) -> String {
        let Loop { rows, keys, columns, .. } = *self;
        let mut l = Lines::default();
        let zero = l.make("full 0", "s32");
        let [start, step] = [self.start, self.step].map(|n| l.make(format!("full {n}"), "s32"));
        let stop =
            l.make(if self.parameter { String::from("param n") } else { format!("full {stop}") }, "s32");
        let limit = l.make("param limit", "s32");
        let q =
            l.make(format!("load q[{rows}, {DEPTH}] at ({zero}, {zero})"), format!("bf16[{rows}, {DEPTH}]"));
        let (column, products, sums) =
            (format!("f32[{rows}, 1]"), format!("f32[{rows}, {keys}]"), format!("f32[{rows}, {columns}]"));
        let ([of_column, of_products], none) =
            ([&column, &products].map(|ty| l.make("full 0", ty)), l.make("full 0", &sums));
        let n = if self.two { 3 } else { 2 };
        let types = [&column, &sums, &sums].map(String::as_str)[..n].join(", ");
        let results: Vec<String> = (0..n).map(|_| l.value()).collect();
        let iteration = l.value();
        let args: Vec<String> = (0..n).map(|_| l.value()).collect();
        let initial = [&of_column, &none, &none].map(String::as_str)[..n].join(", ");
        let declared: Vec<String> = args
            .iter()
            .zip(types.split(", f32"))
            .map(|(arg, ty)| {
                format!("{arg}: {}", if ty.starts_with("f32") { ty.into() } else { format!("f32{ty}") })
            })
            .collect();
        l.text += &format!(
            "  {} = for {start} to {stop} step {step} carry {initial} : {types} {{ ({iteration}: s32, {})\n",
            results.join(", "),
            declared.join(", ")
        );
        let k = l.make(
            format!("load k[{keys}, {DEPTH}] at ({iteration}, {zero}) pad 0"),
            format!("bf16[{keys}, {DEPTH}]"),
        );
        let k = l.make(format!("permute {k} by [1, 0]"), format!("bf16[{DEPTH}, {keys}]"));
        let mut s = l.make(format!("mma {q}, {k}, {of_products}"), &products);
        if self.masked {
            let key = l.make("iota", format!("s32[{keys}]"));
            let size = l.make(format!("full {keys}"), "s32");
            let first = l.make(format!("mul {iteration}, {size}"), "s32");
            let first = l.make(format!("reshape {first}"), "s32[1]");
            let first = l.make(format!("broadcast {first}"), format!("s32[{keys}]"));
            let key = l.make(format!("add {key}, {first}"), format!("s32[{keys}]"));
            let limit = l.make(format!("reshape {limit}"), "s32[1]");
            let limit = l.make(format!("broadcast {limit}"), format!("s32[{keys}]"));
            let seen = l.make(format!("less {key}, {limit}"), format!("bool[{keys}]"));
            let seen = l.make(format!("reshape {seen}"), format!("bool[1, {keys}]"));
            let seen = l.make(format!("broadcast {seen}"), format!("bool[{rows}, {keys}]"));
            s = l.make(format!("where {seen}, {s}, {of_products}"), &products);
        }
        let most = l.make(format!("reduce max {s} along 1"), &column);
        let [low, high] = ["full -2", "full 2"].map(|what| l.make(what, &products));
        let p = l.make(format!("maximum {s}, {low}"), &products);
        let p = l.make(format!("minimum {p}, {high}"), &products);
        let above = l.make(format!("full {}", self.above), &column);
        let grows = l.make(format!("greater {most}, {above}"), format!("bool[{rows}, 1]"));
        let [one, two] = ["full 1", "full 2"].map(|what| l.make(what, &column));
        let factor = l.make(format!("where {grows}, {two}, {one}"), &column);
        let of_turn = l.make(format!("reduce sum {p} along 1"), &column);
        let d = l.make(format!("fma {}, {factor}, {of_turn}", args[0]), &column);
        let mut passed = vec![d];
        let p = l.make(format!("cast {p}"), format!("bf16[{rows}, {keys}]"));
        for (at, name) in ["v", "w"].into_iter().enumerate().take(n - 1) {
            let v = l.make(
                format!("load {name}[{keys}, {columns}] at ({iteration}, {zero}) pad 0"),
                format!("bf16[{keys}, {columns}]"),
            );
            let wide = l.make(format!("broadcast {factor}"), &sums);
            let scaled = l.make(format!("mul {}, {wide}", args[1 + at]), &sums);
            let sum = if self.scaled { &scaled } else { &args[1 + at] };
            passed.push(l.make(format!("mma {p}, {v}, {sum}"), &sums));
        }
        l.text += &format!("  continue {}\n  }}\n", passed.join(", "));
        l.text += &format!("  store {} to y0[{rows}, 1] at ({zero}, {zero})\n", results[0]);
        for (at, result) in results.iter().enumerate().skip(1) {
            l.text += &format!("  store {result} to y{at}[{rows}, {columns}] at ({zero}, {zero})\n");
        }
        let array =
            |name: &str, columns: u32| format!("{name}: bf16[?, {columns}] strides [{columns}, 1] align 16");
        let mut params = vec![array("q", DEPTH), array("k", DEPTH), array("v", columns), array("w", columns)];
        params.push(format!("mut y0: f32[{rows}, 1] strides [1, 1] align 16"));
        params.extend(
            (1..3).map(|at| format!("mut y{at}: f32[{rows}, {columns}] strides [{columns}, 1] align 16")),
        );
        format!("kernel iterations({}, n: s32, limit: s32) {{\n{}}}\n", params.join(", "), l.text)
    }

    pub(super) fn arrays(&self, rng: &mut StdRng, iterations: i64) -> Vec<ArrayData> {
        let all = i64::from(self.keys) * iterations - rng.random_range(0..9);
        let mut integers = |rows: i64, columns: u32| {
            let extents = [rows.max(8), columns.into()];
            let one = |_| float::encode(DType::Bf16, rng.random_range(-1i32..2).into(), Rounding::Nearest);
            ArrayData::dense(
                DType::Bf16,
                &extents,
                &(0..extents[0] * extents[1]).map(one).collect::<Vec<_>>(),
            )
        };
        let mut arrays = vec![integers(self.rows.into(), DEPTH), integers(all, DEPTH)];
        arrays.extend([(); 2].map(|()| integers(all, self.columns)));
        arrays.push(zeros(DType::F32, &[self.rows.into(), 1]));
        arrays.extend([(); 2].map(|()| zeros(DType::F32, &[self.rows.into(), self.columns.into()])));
        arrays
    }
}
