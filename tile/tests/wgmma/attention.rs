//! Attention with an online softmax: the weights stay in registers between the two products of an iteration.

use girih_codegen::plan::Exchange;
use girih_device::{Device, SimOptions};
use girih_tensor::DType;
use girih_tile::ir::{Kind, OpId};
use girih_tile::place::{Plan, place, wgmma::Source};
use girih_tile_reference::ArrayData;

use super::{assembled, assert_near, decoded, numbers, program, run_for};
use crate::common::assembler::complaints;
use crate::common::differ::{cases, random, simulate_on, zeros};

/// Lines of a program, whose values are numbered in their order.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) text: String,
    values: usize,
}

impl Lines {
    pub(super) fn value(&mut self) -> String {
        self.values += 1;
        format!("%{}", self.values - 1)
    }

    pub(super) fn make(&mut self, what: impl AsRef<str>, ty: impl AsRef<str>) -> String {
        let value = self.value();
        self.text += &format!("  {value} = {} : {}\n", what.as_ref(), ty.as_ref());
        value
    }
}

/// Attention of heads, (H,S,D) each: tiles of queries by tiles of keys.
#[derive(Clone, Copy)]
pub(crate) struct Attention {
    pub(crate) rows: u32,
    pub(crate) keys: u32,
    pub(crate) depth: u32,
    pub(crate) causal: bool,
    pub(crate) tma: bool,
    /// A hint.
    pub(crate) latency: Option<u32>,
}

impl Attention {
    /// A loop over tiles of keys; of the diagonal if masked.
    fn iterations(
        &self,
        l: &mut Lines,
        [start, stop, q]: [&str; 3],
        carried: [String; 3],
        masked: bool,
    ) -> [String; 3] {
        let Attention { rows, keys, depth, .. } = *self;
        let ([column, scores, sums], weights) = (
            [format!("f32[{rows}, 1]"), format!("f32[{rows}, {keys}]"), format!("f32[{rows}, {depth}]")],
            format!("bf16[{rows}, {keys}]"),
        );
        let options = format!(
            " pad 0{}{}",
            self.latency.map_or(String::new(), |n| format!(" latency {n}")),
            if self.tma { "" } else { " no_tma" }
        );
        let results = [(); 3].map(|()| l.value());
        let [iteration, m, d, acc] = [(); 4].map(|()| l.value());
        l.text += &format!(
            "  {} = for {start} to {stop} step %3 carry {} : {column}, {column}, {sums} {{ ({iteration}: s32, {m}: {column}, {d}: {column}, {acc}: {sums})\n",
            results.join(", "),
            carried.join(", ")
        );
        let tile = |l: &mut Lines, name: &str| {
            let ty = format!("bf16[1, {keys}, {depth}]");
            let tile =
                l.make(format!("load {name}[1, {keys}, {depth}] at (%1, {iteration}, %2){options}"), ty);
            l.make(format!("reshape {tile}"), format!("bf16[{keys}, {depth}]"))
        };
        let k = tile(l, "k");
        let v = tile(l, "v");
        let k = l.make(format!("permute {k} by [1, 0]"), format!("bf16[{depth}, {keys}]"));
        let zero = l.make("full 0", &scores);
        let mut s = l.make(format!("mma {q}, {k}, {zero}"), &scores);
        if masked {
            let along = |l: &mut Lines, n: u32, at: &str, rows_first: bool| {
                let iota = l.make("iota", format!("s32[{n}]"));
                let (one, all) = (
                    if rows_first { format!("{n}, 1") } else { format!("1, {n}") },
                    format!("{rows}, {keys}"),
                );
                let iota = l.make(format!("reshape {iota}"), format!("s32[{one}]"));
                let size = l.make(format!("full {n}"), "s32");
                let first = l.make(format!("mul {at}, {size}"), "s32");
                let first = l.make(format!("reshape {first}"), "s32[1, 1]");
                let first = l.make(format!("broadcast {first}"), format!("s32[{one}]"));
                let number = l.make(format!("add {iota}, {first}"), format!("s32[{one}]"));
                l.make(format!("broadcast {number}"), format!("s32[{all}]"))
            };
            let row = along(l, rows, "%0", true);
            let column = along(l, keys, &iteration, false);
            let seen = l.make(format!("less_equal {column}, {row}"), format!("bool[{rows}, {keys}]"));
            let none = l.make("full -inf", &scores);
            s = l.make(format!("where {seen}, {s}, {none}"), &scores);
        }
        let scale = l.make("param scale", "f32");
        let scale = l.make(format!("reshape {scale}"), "f32[1, 1]");
        let of_column = l.make(format!("broadcast {scale}"), &column);
        let of_scores = l.make(format!("broadcast {scale}"), &scores);
        let most = l.make(format!("reduce max {s} along 1"), &column);
        let most = l.make(format!("mul {most}, {of_column}"), &column);
        let most = l.make(format!("maximum {m}, {most}"), &column);
        let less = l.make(format!("negative {most}"), &column);
        let less = l.make(format!("broadcast {less}"), &scores);
        let p = l.make(format!("fma {s}, {of_scores}, {less}"), &scores);
        let p = l.make(format!("exp2.approx.ftz {p}"), &scores);
        let change = l.make(format!("sub {m}, {most}"), &column);
        let change = l.make(format!("exp2.approx.ftz {change}"), &column);
        let sum = l.make(format!("reduce sum {p} along 1"), &column);
        let d = l.make(format!("fma {d}, {change}, {sum}"), &column);
        let wide = l.make(format!("broadcast {change}"), &sums);
        let acc = l.make(format!("mul {acc}, {wide}"), &sums);
        let p = l.make(format!("cast {p}"), &weights);
        let acc = l.make(format!("mma {p}, {v}, {acc}"), &sums);
        l.text += &format!("  continue {most}, {d}, {acc}\n  }}\n");
        results
    }

    pub(crate) fn text(&self) -> String {
        let Attention { rows, keys, depth, .. } = *self;
        let mut l = Lines::default();
        let array = |name: &str, what: &str| {
            format!("{what}{name}: bf16[?, ?, {depth}] strides [?8, {depth}, 1] align 16")
        };
        for what in ["bid 0", "bid 1", "full 0", "full 1"] {
            l.make(what, "s32");
        }
        let q = l.make(
            format!("load q[1, {rows}, {depth}] at (%1, %0, %2) pad 0"),
            format!("bf16[1, {rows}, {depth}]"),
        );
        let q = l.make(format!("reshape {q}"), format!("bf16[{rows}, {depth}]"));
        let (column, sums) = (format!("f32[{rows}, 1]"), format!("f32[{rows}, {depth}]"));
        let initial = [l.make("full -inf", &column), l.make("full 0", &column), l.make("full 0", &sums)];
        let n = l.make("dim k, 1", "s32");
        let size = l.make(format!("full {keys}"), "s32");
        let all = l.make(format!("cdiv {n}, {size}"), "s32");
        let [_, d, acc] = if self.causal {
            let height = l.make(format!("full {rows}"), "s32");
            let first = l.make(format!("mul %0, {height}"), "s32");
            let whole = l.make(format!("floordiv {first}, {size}"), "s32");
            let end = l.make(format!("add {first}, {height}"), "s32");
            let end = l.make(format!("cdiv {end}, {size}"), "s32");
            let end = l.make(format!("minimum {end}, {all}"), "s32");
            let carried = self.iterations(&mut l, ["%2", &whole, &q], initial, false);
            self.iterations(&mut l, [&whole, &end, &q], carried, true)
        } else {
            self.iterations(&mut l, ["%2", &all, &q], initial, false)
        };
        let d = l.make(format!("broadcast {d}"), &sums);
        let o = l.make(format!("truediv.approx.ftz {acc}, {d}"), &sums);
        let o = l.make(format!("cast {o}"), format!("bf16[{rows}, {depth}]"));
        let o = l.make(format!("reshape {o}"), format!("bf16[1, {rows}, {depth}]"));
        l.text += &format!("  store {o} to o[1, {rows}, {depth}] at (%1, %0, %2)\n");
        format!(
            "kernel attention({}, {}, {}, {}, scale: f32) {{\n{}}}\n",
            array("q", ""),
            array("k", ""),
            array("v", ""),
            array("o", "mut "),
            l.text
        )
    }

    fn wanted(&self, [q, k, v]: [&ArrayData; 3], scale: f64) -> Vec<f64> {
        let [heads, queries, depth] = [0, 1, 2].map(|i| q.extents[i] as usize);
        let keys = k.extents[1] as usize;
        let [q, k, v] = [q, k, v].map(decoded);
        let mut out = Vec::new();
        for (head, row) in (0..heads).flat_map(|head| (0..queries).map(move |row| (head, row))) {
            let seen = if self.causal { row + 1 } else { keys };
            let of = |data: &[f64], n: usize, row: usize, i: usize| data[(head * n + row) * depth + i];
            let score = |key: usize| {
                (0..depth).map(|i| of(&q, queries, row, i) * of(&k, keys, key, i)).sum::<f64>() * scale
            };
            let scores: Vec<f64> = (0..seen).map(score).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp2()).collect();
            let sum: f64 = weights.iter().sum();
            out.extend((0..depth).map(|i| {
                weights.iter().enumerate().map(|(key, weight)| weight * of(&v, keys, key, i)).sum::<f64>()
                    / sum
            }));
        }
        out
    }

    fn check(&self, heads: i64, length: i64) {
        self.check_for(90, heads, length);
    }

    /// Compares what the kernel for sm_`sm` makes with sums in f64.
    pub(crate) fn check_for(&self, sm: u32, heads: i64, length: i64) {
        self.check_by(heads, length, |text, grid, arrays, scalars| run_for(sm, text, grid, arrays, scalars));
    }

    /// Compares what a run of the program, with a grid, arrays and scalars, makes with sums in f64.
    fn check_by(
        &self,
        heads: i64,
        length: i64,
        run: impl Fn(&str, [u32; 3], &[ArrayData], &[u64]) -> Vec<ArrayData>,
    ) {
        let mut rng = random(11);
        let extents = [heads, length, self.depth.into()];
        let [q, k, v] = [(); 3].map(|()| numbers(&mut rng, DType::Bf16, &extents));
        let scale = 0.7f32;
        let grid = [length as u32 / self.rows, heads as u32, 1];
        let arrays = [q.clone(), k.clone(), v.clone(), zeros(DType::Bf16, &extents)];
        let got = run(&self.text(), grid, &arrays, &[scale.to_bits().into()]);
        assert_near(&got[3], &self.wanted([&q, &k, &v], scale.into()), 8e-3);
    }
}

/// The operations of a plan, each with whether it stands in a loop.
fn operations(plan: &Plan) -> Vec<(OpId, bool)> {
    let (mut all, mut inside) = (Vec::new(), Vec::new());
    plan.func.walk(plan.func.body(), &mut |id, op| {
        all.push(id);
        if op.kind == Kind::For {
            op.regions.iter().for_each(|&region| plan.func.walk(region, &mut |id, _| inside.push(id)));
        }
    });
    all.into_iter().map(|id| (id, inside.contains(&id))).collect()
}

const USUAL: Attention =
    Attention { rows: 128, keys: 128, depth: 128, causal: false, tma: true, latency: None };

#[test]
fn weights_stay_in_registers() {
    for causal in [false, true] {
        let attention = Attention { causal, ..USUAL };
        let plan = place(&program(&attention.text()), 90).unwrap();
        plan.verify().unwrap();
        assert_eq!(plan.threads, 256);
        for (id, inside) in operations(&plan) {
            let op = plan.func.op(id);
            if op.kind == Kind::Convert {
                let by_names = matches!(plan.exchanges.get(&op.results[0]), Some(Exchange::Rename(_)));
                assert!(!inside || by_names, "a conversion in the loop\n{}", plan.func);
            }
        }
        let sources: Vec<[Source; 2]> = plan.products.wgmma.values().map(|product| product.sources).collect();
        // The first scores; of each iteration the next scores and the sums; the last sums.
        for of_loop in sources.chunks(4) {
            assert!(matches!(of_loop[0], [Source::Loaded(_), Source::Loaded(_)]));
            assert!(
                matches!(of_loop[1], [Source::Loaded(_), Source::Loaded(_)]),
                "{sources:?}\n{}",
                plan.func
            );
            assert!(matches!(of_loop[2], [Source::Registers, Source::Loaded(_)]));
            assert!(matches!(of_loop[3], [Source::Registers, Source::Loaded(_)]));
        }
        assembled(&attention.text());
    }
}

#[test]
fn the_loop_of_attention_has_its_products_and_waits() {
    let text = USUAL.text();
    let explained = girih_tile::explain::explain(&program(&text), 90).unwrap().to_string();
    for wanted in [
        "by wgmma m64n128k16, 8 in each of 2 warpgroups; A from shared memory, Layout_K_SW128_Atom; B from shared memory, Layout_K_SW128_Atom",
        "by wgmma m64n128k16, 8 in each of 2 warpgroups; A from registers; B from shared memory, Layout_MN_SW128_Atom",
        "to 32768 bytes of shared memory by TMA, in a ring of 4 slots",
        "to 32768 bytes of shared memory by TMA, in a ring of 1 slots",
    ] {
        assert!(explained.contains(wanted), "{wanted}\n{explained}");
    }
    let kernel = assembled(&text);
    let count = |what: &str| kernel.matches(what).count();
    // The first scores and the last sums stand outside of the loop.
    assert_eq!([count("wgmma.mma_async"), count("wgmma.fence"), count("wgmma.wait_group")], [32, 4, 4]);
    assert_eq!(count("setmaxnreg"), 2);
    // A warpgroup waits for its iteration and hands it on, and does not meet others; the store never happens.
    let body = kernel.split("wgmma.fence").skip(1).take(3).collect::<String>();
    assert_eq!([body.matches("bar.sync").count(), body.matches("bar.arrive").count()], [1, 1]);
    assert_eq!(
        body.lines().filter(|line| line.contains("st.shared") && !line.trim_start().starts_with('@')).count(),
        0
    );
}

#[test]
fn attention_is_right() {
    let small = Attention { rows: 64, keys: 64, depth: 64, ..USUAL };
    small.check(2, 192);
    Attention { causal: true, ..small }.check(1, 192);
    Attention { causal: true, tma: false, ..small }.check(1, 128);
    Attention { causal: true, keys: 128, ..USUAL }.check(1, 256);
}

/// Whichever warp is slow, and in whatever order warps and copies go on: warpgroups take turns in two loops one after the other, of which the first has no turn
/// in one block.
#[test]
fn warpgroups_take_turns_in_any_order() {
    let it = Attention { keys: 64, depth: 64, causal: true, ..USUAL };
    let few = (0..cases(4) as u64 / 2).map(|seed| (seed + 1, None));
    // The eight warps of the consumers, and the one that issues copies.
    let slow = [0u32, 3, 5, 8]
        .into_iter()
        .chain([1, 2, 4, 6, 7].into_iter().take(cases(0)))
        .map(|warp| (0, Some(warp)));
    for (seed, slow) in few.chain(slow) {
        let options =
            SimOptions { seed, slow, threads: Some(1), steps: Some(4_000_000), ..SimOptions::checked() };
        let device = Device::open_sim(options).unwrap();
        it.check_by(1, 256, |text, grid, arrays, scalars| {
            simulate_on(&device, &program(text), 90, grid, arrays, scalars)
                .unwrap_or_else(|error| panic!("seed {seed}, slow {slow:?}: {error}"))
        });
    }
}

/// Without `wgmma`, a warp has whole rows of both products, and what it has of the first is what it needs for the second.
#[test]
fn warps_keep_weights_in_registers() {
    let it = Attention { rows: 64, keys: 64, depth: 64, causal: true, tma: true, latency: None };
    let func = program(&it.text());
    let plan = place(&func, 80).unwrap();
    let mut products = Vec::new();
    plan.func.walk(plan.func.body(), &mut |id, op| {
        if op.kind == Kind::Mma {
            products.push(plan.in_registers(id));
        }
    });
    assert_eq!(products, [[true, false]; 4], "{}", girih_tile::explain::explain(&func, 80).unwrap());
    let moved = |exchange: &&Exchange| !matches!(exchange, Exchange::Rename(_));
    // The queries before the loops, and the result after them.
    assert!(plan.exchanges.values().filter(moved).count() <= 3, "{}", plan.func);
    let kernel = girih_tile::compile(&func, 80).unwrap().kernel.module().to_string();
    let bad = complaints(&kernel, "80").unwrap_or_default();
    assert!(bad.is_empty(), "{bad:?}");
}
