//! Random loops over products of gathered rows.

use girih_tensor::DType;
use girih_tile::ir::Rounding;
use girih_tile_reference::{ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::common::differ::{random, zeros};
use crate::wgmma::attention::Lines;

/// Where the numbers of rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rows {
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

pub(super) const ROWS: [Rows; 7] = [
    Rows::Listed { wide: false },
    Rows::Listed { wide: true },
    Rows::ListedByTurn,
    Rows::Counted,
    Rows::Carried,
    Rows::Paged,
    Rows::Multiplied,
];

/// How many rows the arrays have, and those of a page.
pub(super) const COUNT: i64 = 48;

const PAGE: i64 = 8;

pub(super) struct Random {
    pub(super) rng: StdRng,
    pub(super) l: Lines,
    pub(super) dtype: DType,
    /// The extent along K.
    pub(super) all: i64,
    pub(super) params: Vec<String>,
    pub(super) arrays: Vec<ArrayData>,
}

/// An operand of a product.
struct Operand {
    form: Option<Rows>,
    tile: [u32; 2],
    along_k: bool,
    permuted: bool,
}

impl Random {
    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.random_range(0..list.len())]
    }

    fn chance(&mut self, of: u32) -> bool {
        self.rng.random_range(0..of) == 0
    }

    /// An array of random numbers, of which the strides and the address are known to be multiples of as many elements.
    pub(super) fn array(
        &mut self,
        dtype: DType,
        extents: &[i64],
        unit: i64,
        numbers: std::ops::Range<i64>,
    ) -> String {
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
    pub(super) fn program(seed: u64) -> (String, Vec<ArrayData>, Vec<Rows>) {
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
