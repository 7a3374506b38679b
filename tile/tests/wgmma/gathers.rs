//! Products of gathered rows, which the producer copies by `cp.async` to the slots that `wgmma` reads. All numbers are small integers, so that
//! any order of sums gives the same.

use std::collections::BTreeSet;

use girih_tensor::DType;
use girih_tile::explain::explain;
use girih_tile::ir::{Kind, OpId, Rounding};
use girih_tile::pass::simplify;
use girih_tile::place::{Plan, place};
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use super::attention::Lines;
use super::{assembled, program};
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

/// Where the numbers of rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rows {
    /// A list: rows twice, and rows outside.
    Listed { wide: bool },
    /// A list for each iteration of the outer loop.
    ListedByTurn,
    /// Counted with the outer loop, as those of a convolution, and left out where a condition says so.
    Counted,
    /// Carried by the outer loop, each one further.
    Carried,
    /// Of pages that a list names.
    Paged,
    /// Of accumulators: no producer knows these.
    Multiplied,
}

const ROWS: [Rows; 7] = [
    Rows::Listed { wide: false },
    Rows::Listed { wide: true },
    Rows::ListedByTurn,
    Rows::Counted,
    Rows::Carried,
    Rows::Paged,
    Rows::Multiplied,
];

/// How many rows the arrays have, and those of a page.
const COUNT: i64 = 48;
const PAGE: i64 = 8;

struct Random {
    rng: StdRng,
    l: Lines,
    dtype: DType,
    /// The extent along K.
    all: i64,
    params: Vec<String>,
    arrays: Vec<ArrayData>,
}

impl Random {
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.random_range(0..list.len())]
    }

    fn chance(&mut self, of: u32) -> bool {
        self.rng.random_range(0..of) == 0
    }

    /// An array of random numbers, of which the strides and the address are known to be multiples of as many elements.
    fn array(&mut self, dtype: DType, extents: &[i64], unit: i64, numbers: std::ops::Range<i64>) -> String {
        let n = self.arrays.len();
        let one = |_| {
            let number = self.rng.random_range(numbers.clone());
            match dtype {
                dtype if dtype.is_float() => float::encode(dtype, number as f64, Rounding::Nearest),
                _ => number.cast_unsigned() & (u64::MAX >> (64 - dtype.bits())),
            }
        };
        let bits: Vec<u64> = (0..extents.iter().product::<i64>()).map(one).collect();
        self.arrays.push(ArrayData::dense(dtype, extents, &bits));
        let any = "?, ".repeat(extents.len() - 1);
        let strides = format!("?{unit}, ").repeat(extents.len() - 1);
        let align = (unit * i64::from(dtype.bits()) / 8).min(16);
        self.params.push(format!("a{n}: {dtype}[{any}?] strides [{strides}1] align {align}"));
        format!("a{n}")
    }

    fn make(&mut self, what: impl AsRef<str>, ty: impl AsRef<str>) -> String {
        self.l.make(what, ty)
    }

    /// A scalar as a tile of one shape.
    fn spread(&mut self, scalar: &str, dims: &[u32]) -> String {
        let ones = vec![1; dims.len()];
        let one = self.make(format!("reshape {scalar}"), format!("s32{ones:?}"));
        self.make(format!("broadcast {one}"), format!("s32{dims:?}"))
    }

    /// The numbers of `count` rows; `outer` numbers the iterations of the outer loop, `carried` is what it carries.
    fn rows(&mut self, rows: Rows, count: u32, outer: &str, [carried, sums]: [&str; 2]) -> String {
        let ty = format!("s32[{count}]");
        let list = |this: &mut Random, dtype: DType, n: i64, least: i64, most: i64| {
            this.array(dtype, &[n], 1, least..most)
        };
        match rows {
            Rows::Listed { wide } => {
                let dtype = if wide { DType::S64 } else { DType::S32 };
                let list = list(self, dtype, count.into(), -3, COUNT + 3);
                self.make(format!("load {list}[{count}] at (%0) pad 0"), format!("{dtype}[{count}]"))
            }
            Rows::ListedByTurn => {
                // The last list ends before its tile does.
                let list = list(self, DType::S32, i64::from(count) * 2 - 5, -3, COUNT + 3);
                self.make(format!("load {list}[{count}] at ({outer}) pad 0"), ty)
            }
            Rows::Counted => {
                let each = self.make("iota", &ty);
                let iteration = self.spread(outer, &[count]);
                let sum = self.make(format!("add {each}, {iteration}"), &ty);
                let one = self.make("full 1", &ty);
                let row = self.make(format!("sub {sum}, {one}"), &ty);
                let three = self.make("full 3", &ty);
                let zero = self.make("full 0", &ty);
                let rest = self.make(format!("mod {each}, {three}"), &ty);
                let inside = self.make(format!("greater {rest}, {zero}"), format!("bool[{count}]"));
                let none = self.make("full -1", &ty);
                self.make(format!("where {inside}, {row}, {none}"), &ty)
            }
            Rows::Carried => String::from(carried),
            Rows::Paged => {
                let pages = list(self, DType::S32, i64::from(count) / PAGE, -1, COUNT / PAGE + 1);
                let each = self.make("iota", &ty);
                let page = self.make(format!("full {PAGE}"), &ty);
                let [number, within] =
                    ["floordiv", "mod"].map(|op| self.make(format!("{op} {each}, {page}"), &ty));
                let none = self.make("full 0", &ty);
                let at = self.make(format!("gather {pages} at ({number}) else {none}"), &ty);
                let first = self.make(format!("mul {at}, {page}"), &ty);
                self.make(format!("add {first}, {within}"), &ty)
            }
            Rows::Multiplied => {
                let most = self.make(format!("reduce max {sums} along 1"), format!("f32[{count}, 1]"));
                let most = self.make(format!("cast {most}"), format!("s32[{count}, 1]"));
                self.make(format!("reshape {most}"), &ty)
            }
        }
    }

    /// A gathered tile, rows by columns from a multiple of the columns on.
    fn gathered(
        &mut self,
        row: &str,
        wide: bool,
        [rows, columns]: [u32; 2],
        inner: &str,
        all: i64,
    ) -> String {
        let bytes = i64::from(self.dtype.bits()) / 8;
        let unit = self.one_of(&[16, 16, 16, 8, 4, 2]) / bytes;
        let unit = unit.max(1);
        let pitch = (all + unit - 1) / unit * unit;
        let x = self.array(self.dtype, &[COUNT, pitch], unit, -2..3);
        let tile = [rows, columns];
        let dtype = if wide { "s64" } else { "s32" };
        let row = self.make(format!("reshape {row}"), format!("{dtype}[{rows}, 1]"));
        let row = self.make(format!("broadcast {row}"), format!("{dtype}{tile:?}"));
        let step = self.make(format!("full {columns}"), "s32");
        let first = self.make(format!("mul {inner}, {step}"), "s32");
        let first = self.spread(&first, &[columns]);
        let each = self.make("iota", format!("s32[{columns}]"));
        let column = self.make(format!("add {each}, {first}"), format!("s32[{columns}]"));
        let column = self.make(format!("reshape {column}"), format!("s32[1, {columns}]"));
        let column = self.make(format!("broadcast {column}"), format!("s32{tile:?}"));
        let ty = format!("{}{tile:?}", self.dtype);
        let none = self.make("full 0", &ty);
        self.make(format!("gather {x} at ({row}, {column}) else {none}"), ty)
    }

    fn loaded(&mut self, [rows, columns]: [u32; 2], along: usize, inner: &str, all: i64) -> String {
        let mut extents = [i64::from(rows), i64::from(columns)];
        extents[along] = all;
        let unit = if self.chance(4) { 1 } else { 16 * 8 / i64::from(self.dtype.bits()) };
        extents[1] = (extents[1] + unit - 1) / unit * unit;
        let x = self.array(self.dtype, &extents, unit, -2..3);
        let mut at = ["%0"; 2];
        at[along] = inner;
        let option = self.one_of(&["", "", " no_tma", " latency 5"]);
        self.make(
            format!("load {x}[{rows}, {columns}] at ({}) pad 0{option}", at.join(", ")),
            format!("{}[{rows}, {columns}]", self.dtype),
        )
    }

    /// An operand [X,K] or [K,X]; a product takes the other order where it is `permuted`.
    fn operand(
        &mut self,
        operand: &Operand,
        [outer, inner]: [&str; 2],
        known: [&str; 2],
        all: i64,
    ) -> String {
        let Operand { form, tile, along_k, permuted } = *operand;
        let (at, all) = if along_k { (inner, all) } else { ("%0", tile[1].into()) };
        let value = match form {
            Some(rows) => {
                let row = self.rows(rows, tile[0], outer, known);
                self.gathered(&row, rows == Rows::Listed { wide: true }, tile, at, all)
            }
            None => self.loaded(tile, usize::from(along_k), inner, self.all),
        };
        let [rows, columns] = tile;
        match permuted {
            true => {
                self.make(format!("permute {value} by [1, 0]"), format!("{}[{columns}, {rows}]", self.dtype))
            }
            false => value,
        }
    }

    /// A program with its arrays, and how its operands are gathered.
    fn program(seed: u64) -> (String, Vec<ArrayData>, Vec<Rows>) {
        let l = Lines::default();
        let mut r = Random {
            rng: random(seed),
            l,
            dtype: DType::Bf16,
            all: 0,
            params: Vec::new(),
            arrays: Vec::new(),
        };
        r.dtype = r.one_of(&[DType::Bf16, DType::Bf16, DType::F16, DType::S8, DType::E4m3]);
        let (m, n, k) = (r.one_of(&[64, 128]), r.one_of(&[32, 64, 128]), r.one_of(&[32, 64, 128]));
        let gathered = r.one_of(&[[true, false], [true, false], [false, true], [true, true]]);
        let operands = [(0, m), (1, n)].map(|(at, x)| {
            // Bytes are multiplied along K.
            let along_k = r.dtype.bits() == 8 || !r.chance(4);
            let tile = if along_k { [x, k] } else { [k, x] };
            let rows = if along_k && at == 0 && r.dtype.is_float() { ROWS.len() } else { ROWS.len() - 1 };
            let form = gathered[at].then(|| r.one_of(&ROWS[..rows]));
            Operand { form, tile, along_k, permuted: along_k == (at == 1) }
        });
        let (iterations, inner_turns) = (r.rng.random_range(1..3u32), r.rng.random_range(1..5u32));
        r.all = i64::from(k * inner_turns) - r.one_of(&[0, 0, 8, 5, 1]);
        let of_sums = if r.dtype == DType::S8 { DType::S32 } else { DType::F32 };
        let sums = format!("{of_sums}[{m}, {n}]");
        for number in 0..2 {
            r.make(format!("full {number}"), "s32");
        }
        let zero = r.make("full 0", &sums);
        let tiles = operands.each_ref().map(|operand| format!("s32[{}]", operand.tile[0]));
        let begin = tiles.each_ref().map(|ty| r.make("iota", ty));
        let ends = [iterations, inner_turns].map(|n| r.make(format!("full {n}"), "s32"));
        let types = format!("{sums}, {}, {}", tiles[0], tiles[1]);
        let [result, moved, others, outer, before, first, second] = [(); 7].map(|()| r.l.value());
        r.l.text += &format!(
            "  {result}, {moved}, {others} = for %0 to {} step %1 carry {zero}, {}, {} : {types} {{ ({outer}: s32, {before}: {sums}, {first}: {}, {second}: {})\n",
            ends[0], begin[0], begin[1], tiles[0], tiles[1]
        );
        let [inside, inner, own] = [(); 3].map(|()| r.l.value());
        r.l.text += &format!(
            "  {inside} = for %0 to {} step %1 carry {before} : {sums} {{ ({inner}: s32, {own}: {sums})\n",
            ends[1]
        );
        let all = r.all;
        let [a, b] = [(&operands[0], &first), (&operands[1], &second)]
            .map(|(operand, carried)| r.operand(operand, [&outer, &inner], [carried, &before], all));
        let next = r.make(format!("mma {a}, {b}, {own}"), &sums);
        r.l.text += &format!("  continue {next}\n  }}\n");
        let further = [(&tiles[0], &first), (&tiles[1], &second)].map(|(ty, carried)| {
            let one = r.make("full 1", ty);
            r.make(format!("add {carried}, {one}"), ty)
        });
        r.l.text += &format!("  continue {inside}, {}, {}\n  }}\n", further[0], further[1]);
        r.arrays.push(zeros(of_sums, &[m.into(), n.into()]));
        r.params.push(format!("mut y: {sums} strides [{n}, 1] align 16"));
        r.l.text += &format!("  store {result} to y[{m}, {n}] at (%0, %0)\n");
        let hints = [
            "",
            "",
            "",
            "  hint all num_stages 2\n",
            "  hint 90 num_worker_warps 4\n",
            "  hint 90 num_worker_warps 8\n",
        ];
        let hints = r.one_of(&hints);
        let text = format!("kernel random({}) {{\n{hints}{}}}\n", r.params.join(", "), r.l.text);
        (text, r.arrays, operands.into_iter().filter_map(|operand| operand.form).collect())
    }
}

/// An operand of a product.
struct Operand {
    form: Option<Rows>,
    tile: [u32; 2],
    along_k: bool,
    permuted: bool,
}

/// How many arrays the producer gathers from.
fn produced(plan: &Plan) -> usize {
    let array = |id: &OpId| match &plan.func.op(*id).kind {
        Kind::Gather(at) => Some(at.array),
        _ => None,
    };
    plan.products.pipeline.loads.keys().filter_map(array).collect::<BTreeSet<_>>().len()
}

#[test]
fn products_of_gathered_rows_agree_with_the_reference() {
    let mut seen = BTreeSet::new();
    for seed in 0..cases(50) as u64 {
        let (text, arrays, rows) = Random::program(seed);
        let func = program(&text);
        let plan = place(&simplify(&func), 90).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let count = produced(&plan);
        if let ([rows], 1..) = (&rows[..], count) {
            seen.insert(*rows);
        }
        let unknown = rows.iter().filter(|rows| **rows == Rows::Multiplied).count();
        assert!(count <= rows.len() - unknown, "seed {seed}\n{text}");
        let same = differ(&func, [1, 1, 1], &arrays, &[], |_| Tolerance::EXACT);
        same.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    }
    let known: BTreeSet<Rows> = ROWS.into_iter().filter(|rows| *rows != Rows::Multiplied).collect();
    assert_eq!(seen, known);
}

/// Rows of `x`, by a list, times `w`.
fn by_list(x: &str, end: &str) -> String {
    format!(
        "kernel rows({x}: bf16[?, ?8] strides [?8, 1] align 16, list: s32[?] strides [1] align 4, w: bf16[?, ?64] strides [?64, 1] align 16, mut y: f32[128, 64] strides [64, 1] align 16) {{
  %0 = full 0 : s32
  %1 = full 1 : s32
  %2 = full 3 : s32
  %3 = full 64 : s32
  %4 = full 0 : f32[128, 64]
  %5 = full 0 : bf16[128, 64]
  %6 = iota : s32[64]
  %7 = load list[128] at (%0) pad 0 : s32[128]
  %8 = reshape %7 : s32[128, 1]
  %9 = broadcast %8 : s32[128, 64]
  %10 = for %0 to %2 step %1 carry %4 : f32[128, 64] {{ (%11: s32, %12: f32[128, 64])
    %13 = mul %11, %3 : s32
    %14 = reshape %13 : s32[1]
    %15 = broadcast %14 : s32[64]
    %16 = add %6, %15 : s32[64]
    %17 = reshape %16 : s32[1, 64]
    %18 = broadcast %17 : s32[128, 64]
    %19 = gather x at (%9, %18) else %5 : bf16[128, 64]
    %20 = load w[64, 64] at (%11, %0) pad 0 : bf16[64, 64]
    %21 = mma %19, %20, %12 : f32[128, 64]
    {end}continue %21
  }}
  store %10 to y[128, 64] at (%0, %0)
}}
"
    )
}

fn arrays_of_list() -> Vec<ArrayData> {
    let mut r = Random {
        rng: random(1),
        l: Lines::default(),
        dtype: DType::Bf16,
        all: 0,
        params: Vec::new(),
        arrays: Vec::new(),
    };
    r.array(DType::Bf16, &[COUNT, 3 * 64 - 8], 8, -2..3);
    r.array(DType::S32, &[128], 1, -3..COUNT + 3);
    r.array(DType::Bf16, &[3 * 64 - 8, 64], 8, -2..3);
    r.arrays.push(zeros(DType::F32, &[128, 64]));
    r.arrays
}

#[test]
fn the_producer_copies_rows_by_all_its_threads() {
    let text = by_list("x", "");
    let kernel = assembled(&text);
    // One arrival of each thread, and one of the thread that issues TMA copies.
    assert!(kernel.contains("cp.async.mbarrier.arrive.noinc") && kernel.contains("], 128;"), "{kernel}");
    assert!(kernel.contains("cp.async.bulk.tensor"), "{kernel}");
    // The generic proxy has written what `wgmma` reads.
    let order = ["mbarrier.try_wait", "fence.proxy.async.shared::cta", "wgmma.mma_async"]
        .map(|word| kernel.rfind(word));
    assert!(order.is_sorted() && order[0].is_some(), "{order:?}\n{kernel}");
    let told = explain(&program(&text), 90).unwrap().to_string();
    let wanted = "prefetched 5 iterations ahead by cp.async of 16 bytes from the producer's warpgroup";
    assert!(told.contains(wanted) && told.contains("prefetched 5 iterations ahead by TMA"), "{told}");
}

/// What the kernel writes is not gathered ahead.
#[test]
fn rows_that_are_written_are_not_prefetched() {
    let store = "store %19 to x[128, 64] at (%0, %11)
    ";
    let text = by_list("mut x", store);
    let func = program(&text);
    let plan = place(&simplify(&func), 90).unwrap();
    assert_eq!(produced(&plan), 0);
    differ(&func, [1, 1, 1], &arrays_of_list(), &[], |_| Tolerance::EXACT).unwrap();
    let text = by_list("x", "");
    assert_eq!(produced(&place(&simplify(&program(&text)), 90).unwrap()), 1);
    differ(&program(&text), [1, 1, 1], &arrays_of_list(), &[], |_| Tolerance::EXACT).unwrap();
}

/// Columns begin anywhere, where numbers of 32 bits end too: what is beyond the array is zero.
#[test]
fn columns_far_outside_of_an_array_are_zero() {
    let begin = ", n: s32) {\n  %30 = param n : s32\n  %31 = full 8 : s32\n  %32 = mul %30, %31 : s32\n  %0 = full 0 : s32\n";
    let text = by_list("x", "").replace(") {\n  %0 = full 0 : s32\n", begin);
    let text = text.replace("%13 = mul %11, %3 : s32", "%13 = add %32, %0 : s32");
    let func = program(&text);
    assert_eq!(produced(&place(&simplify(&func), 90).unwrap()), 1, "{text}");
    let last = 3 * 64 - 8;
    for n in [
        0,
        -8,
        24,
        last / 8 - 1,
        last / 8,
        -4,
        i32::MAX / 8,
        i32::MIN / 8,
        i32::MIN / 8 + 7,
        i32::MAX / 8 - 7,
    ] {
        let same = differ(&func, [1, 1, 1], &arrays_of_list(), &[u64::from(n.cast_unsigned())], |_| {
            Tolerance::EXACT
        });
        same.unwrap_or_else(|error| panic!("from {n}: {error}\n{text}"));
    }
}

/// A thread of the producer knows the rows that it copies, and no others.
#[test]
fn rows_of_two_shapes_are_copied_by_the_producer_once() {
    let text = by_list("x", "");
    let more = "%30 = iota : s32[32]
    %31 = reshape %30 : s32[1, 32]
    %32 = broadcast %31 : s32[128, 32]
    %33 = broadcast %8 : s32[128, 32]
    %34 = full 0 : bf16[128, 32]
    %35 = gather x at (%33, %32) else %34 : bf16[128, 32]
    %36 = load w[32, 64] at (%11, %0) pad 0 : bf16[32, 64]
    %37 = mma %35, %36, %21 : f32[128, 64]
    continue %37";
    let func = program(&text.replace("continue %21", more));
    let told = explain(&func, 90).unwrap().to_string();
    assert!(told.contains("from the producer's warpgroup"), "{told}");
    assert!(told.contains("not prefetched: the threads that copy would need other elements of"), "{told}");
    differ(&func, [1, 1, 1], &arrays_of_list(), &[], |_| Tolerance::EXACT).unwrap();
}
