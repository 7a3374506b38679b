//! Random programs of products, whose numbers are small integers: chains, accumulators of loops, several readers of one tile, conditions,
//! parts of arrays, loops within and after one another.

use girih_tensor::DType;
use girih_tile::ir::Rounding;
use girih_tile::pass::simplify;
use girih_tile::place::place;
use girih_tile_reference::{self as reference, ArrayData, float};
use rand::RngExt;
use rand::rngs::StdRng;

use super::attention::Lines;
use super::{decoded, program, run};
use crate::common::assembler::complaints;
use crate::common::differ::{cases, random, zeros};

#[derive(Clone, PartialEq)]
struct Tile {
    value: String,
    rows: u32,
    columns: u32,
}

pub(crate) struct Random {
    rng: StdRng,
    l: Lines,
    dtype: DType,
    iterations: u32,
    rows: u32,
    /// Numbers of iterations, and numbers that loops carry.
    iteration: Vec<String>,
    params: Vec<String>,
    arrays: Vec<ArrayData>,
    /// Tiles of 16 bits, and sums.
    halves: Vec<Tile>,
    sums: Vec<Tile>,
}

impl Random {
    fn one_of<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        // Later ones are chosen more often.
        let at = self.rng.random_range(0..list.len().max(1)).max(self.rng.random_range(0..list.len().max(1)));
        list.get(at).cloned()
    }

    fn load(&mut self, rows: u32, columns: u32) {
        let axis = self.rng.random_range(0..2usize);
        let iterations = self.iteration.clone();
        let iteration = self.one_of(&iterations).filter(|_| self.rng.random_range(0..4) > 0);
        let mut extents = [i64::from(rows), i64::from(columns)];
        if iteration.is_some() {
            extents[axis] *= i64::from(self.iterations);
            // The last tile reaches beyond the array.
            extents[axis] -= 8 * self.rng.random_range(0..2);
        }
        extents[axis] = extents[axis].max(8);
        let (dtype, n) = (self.dtype, self.arrays.len());
        let one = |_| float::encode(dtype, self.rng.random_range(-2i32..3).into(), Rounding::Nearest);
        let bits: Vec<u64> = (0..extents[0] * extents[1]).map(one).collect();
        self.arrays.push(ArrayData::dense(dtype, &extents, &bits));
        let facts = if self.rng.random_range(0..5) > 0 { "[?8, 1] align 16" } else { "[?, 1] align 2" };
        self.params.push(format!("a{n}: {dtype}[?, ?8] strides {facts}"));
        let mut part = String::new();
        if self.rng.random_range(0..4) == 0 {
            let axis = self.rng.random_range(0..2usize);
            let start = self.rng.random_range(-8..extents[axis]);
            let stop = start + self.rng.random_range(-4..extents[axis] + 8);
            let [start, stop] = [start, stop].map(|n| self.l.make(format!("full {n}"), "s32"));
            part = format!("<{axis}: {start}..{stop}>");
        }
        let mut at = ["%0", "%0"];
        if let Some(iteration) = &iteration {
            at[axis] = iteration;
        }
        let options = ["", " latency 5", " no_tma", ""][self.rng.random_range(0..4usize)];
        let what = format!("load a{n}{part}[{rows}, {columns}] at ({}, {}) pad 0{options}", at[0], at[1]);
        let value = self.l.make(what, format!("{dtype}[{rows}, {columns}]"));
        self.halves.push(Tile { value, rows, columns });
    }

    fn sum(&mut self, what: String, rows: u32, columns: u32) {
        let value = self.l.make(what, format!("f32[{rows}, {columns}]"));
        self.sums.push(Tile { value, rows, columns });
    }

    fn product(&mut self) {
        let halves = self.halves.clone();
        let Some(a) = self.one_of(&halves) else { return };
        let fits: Vec<Tile> = halves.into_iter().filter(|b| b.rows == a.columns).collect();
        let Some(b) = self.one_of(&fits) else { return };
        let (rows, columns) = (a.rows, b.columns);
        let same = |tile: &&Tile| (tile.rows, tile.columns) == (rows, columns);
        let sums: Vec<Tile> = self.sums.iter().filter(same).cloned().collect();
        let onto = match self.one_of(&sums).filter(|_| self.rng.random_range(0..3) > 0) {
            Some(sum) => sum.value,
            None => self.l.make("full 0", format!("f32[{rows}, {columns}]")),
        };
        self.sum(format!("mma {}, {}, {onto}", a.value, b.value), rows, columns);
    }

    /// A sum as a tile of 16 bits, with numbers that stay small.
    fn cast(&mut self) {
        let sums = self.sums.clone();
        let Some(Tile { value, rows, columns }) = self.one_of(&sums) else { return };
        let ty = format!("f32[{rows}, {columns}]");
        let [low, high] = ["full -2", "full 2"].map(|what| self.l.make(what, &ty));
        let value = self.l.make(format!("maximum {value}, {low}"), &ty);
        let value = self.l.make(format!("minimum {value}, {high}"), &ty);
        let value = self.l.make(format!("cast {value}"), format!("{}[{rows}, {columns}]", self.dtype));
        self.halves.push(Tile { value, rows, columns });
    }

    fn step(&mut self) {
        let sizes = match self.rng.random_range(0..4) {
            0 => [8u32, 24, 40, 48, 96],
            _ => [16, 32, 64, 64, 128],
        };
        match self.rng.random_range(0..15) {
            0..3 => {
                let [rows, columns] = [(); 2].map(|()| sizes[self.rng.random_range(0..5)]);
                self.load(rows, columns);
            }
            3 => {
                let halves = self.halves.clone();
                if let Some(Tile { value, rows, columns }) = self.one_of(&halves) {
                    let ty = format!("{}[{columns}, {rows}]", self.dtype);
                    let value = self.l.make(format!("permute {value} by [1, 0]"), ty);
                    self.halves.push(Tile { value, rows: columns, columns: rows });
                }
            }
            4..8 => self.product(),
            8..10 => self.cast(),
            10 => {
                let sums = self.sums.clone();
                let Some(Tile { value, rows, columns }) = self.one_of(&sums) else { return };
                let most = self.l.make(format!("reduce max {value} along 1"), format!("f32[{rows}, 1]"));
                let most = self.l.make(format!("broadcast {most}"), format!("f32[{rows}, {columns}]"));
                self.sum(format!("sub {value}, {most}"), rows, columns);
            }
            11 => {
                let (sums, iterations) = (self.sums.clone(), self.iteration.clone());
                let (Some(Tile { value, rows, columns }), Some(iteration)) =
                    (self.one_of(&sums), self.one_of(&iterations))
                else {
                    return;
                };
                let ty = format!("f32[{rows}, {columns}]");
                let first = self.l.make(format!("less {iteration}, %1"), "bool");
                let result = self.l.value();
                self.l.text += &format!("  {result} = if {first} : {ty} {{\n");
                let twice = self.l.make(format!("add {value}, {value}"), &ty);
                self.l.text += &format!("  yield {twice}\n  }} else {{\n  yield {value}\n  }}\n");
                self.sums.push(Tile { value: result, rows, columns });
            }
            12 => self.branch(),
            13 => self.exchange(),
            _ if self.iteration.len() == 2 => self.repeat(),
            _ => self.product(),
        }
    }

    /// A sum by way of an array, as it is or turned, in this iteration or in the next one.
    fn exchange(&mut self) {
        let sums = self.sums.clone();
        let Some(Tile { value, rows, columns }) = self.one_of(&sums) else { return };
        let (n, ty) = (self.arrays.len(), format!("f32[{rows}, {columns}]"));
        self.params.push(format!("mut a{n}: {ty} strides [{columns}, 1] align 16"));
        self.arrays.push(zeros(DType::F32, &[rows.into(), columns.into()]));
        let [low, high] = ["full -512", "full 512"].map(|what| self.l.make(what, &ty));
        let value = self.l.make(format!("maximum {value}, {low}"), &ty);
        let value = self.l.make(format!("minimum {value}, {high}"), &ty);
        let store = format!("  store {value} to a{n}[{rows}, {columns}] at (%0, %0)\n");
        let before = self.rng.random_range(0..2) == 0;
        if before {
            self.l.text += &store;
        }
        let mut got = self.l.make(format!("load a{n}[{rows}, {columns}] at (%0, %0)"), &ty);
        if rows == columns && self.rng.random_range(0..2) == 0 {
            got = self.l.make(format!("permute {got} by [1, 0]"), &ty);
        }
        if !before {
            self.l.text += &store;
        }
        self.sums.push(Tile { value: got, rows, columns });
    }

    /// A product on one side of a condition, of tiles that are loaded there.
    fn branch(&mut self) {
        let (sums, iterations) = (self.sums.clone(), self.iteration.clone());
        let (Some(sum), Some(iteration)) = (self.one_of(&sums), self.one_of(&iterations)) else { return };
        let Tile { value, rows, columns } = sum;
        let ty = format!("f32[{rows}, {columns}]");
        let some = self.l.make(format!("less {iteration}, %2"), "bool");
        let result = self.l.value();
        self.l.text += &format!("  {result} = if {some} : {ty} {{\n");
        let other = self.rng.random_range(0..2) == 0;
        if other {
            self.l.text += &format!("  yield {value}\n  }} else {{\n");
        }
        let halves = self.halves.clone();
        self.load(rows, 32);
        self.load(32, columns);
        let [a, b] = [2, 1].map(|back| self.halves[self.halves.len() - back].value.clone());
        let more = self.l.make(format!("mma {a}, {b}, {value}"), &ty);
        self.halves = halves;
        self.l.text += &format!("  yield {more}\n");
        if !other {
            self.l.text += &format!("  }} else {{\n  yield {value}\n");
        }
        self.l.text += "  }\n";
        self.sums.push(Tile { value: result, rows, columns });
    }

    /// A loop that carries sums, which may change places, and a number by which it loads.
    fn repeat(&mut self) {
        let rows = self.rows;
        let columns = [64, [64, 32][self.rng.random_range(0..2usize)]];
        let mut types: Vec<String> = columns.iter().map(|n| format!("f32[{rows}, {n}]")).collect();
        let sums = self.sums.clone();
        let mut initial = Vec::new();
        for (&n, ty) in columns.iter().zip(&types) {
            let same = |tile: &&Tile| (tile.rows, tile.columns) == (rows, n);
            let found: Vec<Tile> = sums.iter().filter(same).cloned().collect();
            let found = self.one_of(&found).filter(|_| self.rng.random_range(0..2) == 0);
            initial.push(found.map_or_else(|| self.l.make("full 0", ty), |tile| tile.value));
        }
        types.push(String::from("s32"));
        initial.push(String::from("%0"));
        let iterations = self.rng.random_range(0..=self.iterations);
        let end = self.l.make(format!("full {iterations}"), "s32");
        let results: Vec<String> = types.iter().map(|_| self.l.value()).collect();
        let iteration = self.l.value();
        let args: Vec<String> = types.iter().map(|_| self.l.value()).collect();
        let declared: Vec<String> = args.iter().zip(&types).map(|(arg, ty)| format!("{arg}: {ty}")).collect();
        self.l.text += &format!(
            "  {} = for %0 to {end} step %1 carry {} : {} {{ ({iteration}: s32, {})\n",
            results.join(", "),
            initial.join(", "),
            types.join(", "),
            declared.join(", ")
        );
        let (halves, before) = (self.halves.clone(), self.iteration.clone());
        self.iteration.extend([iteration, args[2].clone()]);
        for (&columns, arg) in columns.iter().zip(&args) {
            self.sums.push(Tile { value: arg.clone(), rows, columns });
        }
        self.load(rows, 32);
        self.load(32, 64);
        self.load(64, 32);
        for _ in 0..self.rng.random_range(2..8) {
            self.step();
        }
        if self.rng.random_range(0..6) == 0 {
            let passed = self.passed(&columns, &args[2]);
            let last = self.l.make(format!("less %1, {}", args[2]), "bool");
            let end = ["break", "continue"][self.rng.random_range(0..2usize)];
            self.l.text += &format!("  if {last} {{\n  {end} {}\n  }} else {{\n  }}\n", passed.join(", "));
        }
        self.product();
        let passed = self.passed(&columns, &args[2]);
        self.l.text += &format!("  continue {}\n  }}\n", passed.join(", "));
        (self.halves, self.sums, self.iteration) = (halves, sums, before);
        for (&columns, result) in columns.iter().zip(&results) {
            self.sums.push(Tile { value: result.clone(), rows, columns });
        }
    }

    /// What an iteration passes on: sums of so many columns, and the next number.
    fn passed(&mut self, columns: &[u32], number: &str) -> Vec<String> {
        let mut passed = Vec::new();
        for &n in columns {
            let same = |sum: &&Tile| (sum.rows, sum.columns) == (self.rows, n);
            let found: Vec<Tile> = self.sums.iter().filter(same).cloned().collect();
            passed.extend(self.one_of(&found).map(|tile| tile.value));
        }
        passed.push(self.l.make(format!("add {number}, %1"), "s32"));
        passed
    }

    pub(crate) fn program(seed: u64) -> (String, Vec<ArrayData>) {
        let mut rng = random(seed);
        let dtype = if rng.random_range(0..2) == 0 { DType::Bf16 } else { DType::F16 };
        let iterations = rng.random_range(1..5);
        let rows = [64u32, 64, 128][rng.random_range(0..3usize)];
        let (params, arrays, iteration) = (Vec::new(), Vec::new(), Vec::new());
        let (halves, sums) = (Vec::new(), Vec::new());
        let l = Lines::default();
        let mut r = Random { rng, l, dtype, iterations, rows, iteration, params, arrays, halves, sums };
        for n in 0..3 {
            r.l.make(format!("full {n}"), "s32");
        }
        r.load(rows, 64);
        r.load(64, 64);
        for _ in 0..r.rng.random_range(0..3) {
            r.step();
        }
        for _ in 0..r.rng.random_range(1..3) {
            r.repeat();
            for _ in 0..r.rng.random_range(0..3) {
                r.step();
            }
        }
        let stored: Vec<Tile> = r.sums.iter().rev().take(4).cloned().collect();
        for (i, Tile { value, rows, columns }) in stored.into_iter().enumerate() {
            r.params.push(format!("mut y{i}: f32[{rows}, {columns}] strides [{columns}, 1] align 16"));
            r.arrays.push(zeros(DType::F32, &[rows.into(), columns.into()]));
            r.l.text += &format!("  store {value} to y{i}[{rows}, {columns}] at (%0, %0)\n");
        }
        (format!("kernel random({}) {{\n{}}}\n", r.params.join(", "), r.l.text), r.arrays)
    }
}

#[test]
fn random_programs_agree_with_the_reference() {
    let mut products = 0;
    for seed in 0..cases(12) as u64 {
        let (text, arrays) = Random::program(seed);
        let func = program(&text);
        let mut wanted = arrays.clone();
        reference::run(&func, [1, 1, 1], &mut wanted, &[]).unwrap();
        let plan = match place(&simplify(&func), 90) {
            Ok(plan) => plan,
            // Tiles that no block has room for.
            Err(error) if error.to_string().contains("accepted") => continue,
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        };
        products += plan.products.wgmma.len();
        let got = run(&text, [1, 1, 1], &arrays, &[]);
        for (i, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let wrong = decoded(got).iter().zip(decoded(wanted)).position(|(a, b)| *a != b);
            assert!(wrong.is_none(), "seed {seed}: array {i} differs at {wrong:?}\n{text}");
        }
        let kernel = girih_tile::compile(&func, 90).unwrap().kernel.module().to_string();
        let complaints = complaints(&kernel, "90a").unwrap_or_default();
        // Spills and waits that the assembler adds are slow, not wrong.
        let wrong: Vec<&String> = complaints.iter().filter(|line| line.contains("error")).collect();
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?}\n{text}");
        if let (Ok(_), Some(line)) = (std::env::var("GIRIH_PTXAS"), complaints.first()) {
            println!("seed {seed}: {line}\n{kernel}");
        }
    }
    assert!(products > 0);
}
