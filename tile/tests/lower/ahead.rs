//! Loads of products that loops issue iterations ahead.

mod quantised;

use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::explain::explain;
use girih_tile::ir::{Func, parse};
use girih_tile::place::ahead::Ahead;
use girih_tile::place::place;
use girih_tile_reference::{self as reference, ArrayData, float};
use rand::RngExt;

use crate::common::assembler::complaints;
use crate::common::differ::{Tolerance, cases, differ, random, simulate, zeros};
use crate::wgmma::attention::Attention;
use crate::wgmma::random::Random;

/// A loop over tiles along K, whose number of iterations is a parameter.
struct Product<'a> {
    dtypes: [&'a str; 2],
    mnk: [u32; 3],
    /// What is known of the operands' strides and addresses.
    facts: &'a str,
    hints: &'a str,
    /// Options of the loads.
    options: &'a str,
}

const PLAIN: Product<'_> = Product {
    dtypes: ["bf16", "f32"],
    mnk: [32, 32, 16],
    facts: "[?8, 1] align 16",
    hints: "",
    options: " pad 0",
};

impl Product<'_> {
    fn text(&self) -> String {
        let ([a, c], [m, n, k]) = (self.dtypes, self.mnk);
        let Product { facts, hints, options, .. } = self;
        format!(
            "kernel product(a: {a}[?, ?] strides {facts}, b: {a}[?, ?] strides {facts}, mut c: {c}[?, ?] strides [?, 1] align 4, iterations: s32) {{
{hints}  %0 = bid 0 : s32
  %1 = bid 1 : s32
  %2 = full 0 : s32
  %3 = full 1 : s32
  %4 = param iterations : s32
  %5 = full 0 : {c}[{m}, {n}]
  %6 = for %2 to %4 step %3 carry %5 : {c}[{m}, {n}] {{ (%7: s32, %8: {c}[{m}, {n}])
    %9 = load a[{m}, {k}] at (%0, %7){options} : {a}[{m}, {k}]
    %10 = load b[{k}, {n}] at (%7, %1){options} : {a}[{k}, {n}]
    %11 = mma %9, %10, %8 : {c}[{m}, {n}]
    continue %11
  }}
  store %6 to c[{m}, {n}] at (%0, %1)
}}
"
        )
    }

    fn func(&self) -> Func {
        let text = self.text();
        parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

fn kernel(func: &Func, sm: u32) -> String {
    compile(func, sm).unwrap_or_else(|error| panic!("{error}\n{func}")).kernel.module().to_string()
}

fn ahead(func: &Func, sm: u32) -> Ahead {
    place(func, sm).unwrap().products.ahead
}

/// What stands between the beginning of the first loop and the branch back to it.
pub(crate) fn iteration(kernel: &str) -> &str {
    let at = kernel.find("\n$repeat").unwrap();
    let label = kernel[at + 1..].split(':').next().unwrap();
    let end = kernel.find(&format!("bra.uni {label}")).unwrap();
    &kernel[at..end]
}

#[test]
fn a_turn_has_its_copies_one_barrier_and_one_wait() {
    for (stages, hints) in [(3, ""), (2, "  hint all num_stages 2\n"), (5, "  hint all num_stages 5\n")] {
        let product = Product { mnk: [64, 64, 32], hints, ..PLAIN };
        for sm in [80, 89] {
            let text = kernel(&product.func(), sm);
            let count = |part: &str, what: &str| part.matches(what).count();
            // 64 rows of 64 bytes, and 32 of 128, by 128 threads.
            let body = iteration(&text);
            assert_eq!(count(body, "cp.async.cg.shared.global"), 4, "{text}");
            assert_eq!(count(&text, "cp.async.cg.shared.global"), 4 * stages, "{text}");
            assert_eq!([count(body, "bar.sync"), count(body, "cp.async.commit_group")], [1, 1], "{text}");
            assert_eq!(count(body, &format!("cp.async.wait_group {};", stages - 2)), 1, "{text}");
            assert_eq!([count(body, "st.shared"), count(body, "ld.global")], [0, 0], "{text}");
            let bad = complaints(&text, &sm.to_string()).unwrap_or_default();
            assert!(bad.is_empty(), "{bad:?}");
        }
    }
}

#[test]
fn copies_are_as_wide_as_addresses_allow() {
    for (facts, bytes, copies) in
        [("[?4, 1] align 8", 8, "ca"), ("[?2, 1] align 16", 4, "ca"), ("[?8, 1] align 16", 16, "cg")]
    {
        let text = kernel(&Product { facts, ..PLAIN }.func(), 80);
        let lines = text.lines().filter(|line| line.contains(&format!("cp.async.{copies}.shared.global")));
        let mut lines = lines.peekable();
        assert!(
            lines.peek().is_some() && lines.all(|line| line.contains(&format!("], {bytes}, "))),
            "{text}"
        );
    }
    // What cp.async cannot copy waits in registers for the end of the iteration.
    let text = kernel(&Product { facts: "[?, 1] align 2", ..PLAIN }.func(), 80);
    let body = iteration(&text);
    assert!(!text.contains("cp.async"), "{text}");
    assert_eq!(body.matches("bar.sync").count(), 1, "{text}");
    assert!(body.find("ld.global").unwrap() < body.find("mma.sync").unwrap(), "{text}");
    assert!(body.rfind("st.shared").unwrap() > body.rfind("mma.sync").unwrap(), "{text}");
}

#[test]
fn stages_alignment_and_turns_leave_results_as_they_are() {
    let mut rng = random(5);
    let hints = [
        "",
        "  hint all num_stages 1\n",
        "  hint all num_stages 2\n",
        "  hint all num_stages 4\n",
        "  hint all num_stages 8\n",
    ];
    let facts = ["[?8, 1] align 16", "[?2, 1] align 4", "[?, 1] align 2", "[?, ?] align 2"];
    let paddings = [" pad 0", " pad 0 latency 10", " pad -0 latency 4"];
    for case in 0..cases(24) {
        let one_of = |list: &[&'static str], at: usize| list[at % list.len()];
        let product = Product {
            dtypes: [["bf16", "f32"], ["f16", "f16"], ["f32", "f32"], ["tf32", "f32"]]
                [rng.random_range(0..4)],
            mnk: [[32, 32, 16], [20, 24, 12], [64, 16, 32], [16, 40, 8]][rng.random_range(0..4)],
            facts: one_of(&facts, case),
            hints: one_of(&hints, rng.random_range(0..5)),
            options: one_of(&paddings, rng.random_range(0..3)),
        };
        let wide = product.dtypes[0].ends_with("f32");
        let product = Product {
            facts: if wide { product.facts.replace("align 2", "align 4").leak() } else { product.facts },
            ..product
        };
        let dtype = match product.dtypes[0] {
            "bf16" => DType::Bf16,
            "f16" => DType::F16,
            "tf32" => DType::Tf32,
            _ => DType::F32,
        };
        let sums = if product.dtypes[1] == "f16" { DType::F16 } else { DType::F32 };
        // Iterations from none to more than there are tiles; edges that no tile and no vector divides, where strides allow that.
        let iterations: u32 = rng.random_range(0..7);
        let [rows, depth, columns] = [(); 3].map(|()| 8 * rng.random_range(1i64..12));
        let one =
            |_| float::encode(dtype, rng.random_range(-2i32..3).into(), girih_tile::ir::Rounding::Nearest);
        let bits: Vec<u64> = (0..(rows * depth).max(depth * columns)).map(one).collect();
        let array = |rows: i64, columns: i64| {
            let mut array = ArrayData::dense(dtype, &[rows, columns], &bits[..(rows * columns) as usize]);
            // The last elements of each row are beyond the array.
            array.extents[1] -= (rows % 7).min(columns - 1);
            array
        };
        let arrays = [array(rows, depth), array(depth, columns), zeros(sums, &[rows, columns])];
        // Numbers of any dtype, from any number on, in steps.
        let [start, step] = [rng.random_range(-2..3), rng.random_range(1..3)];
        let number = ["s32", "s64", "u32"][rng.random_range(0..3)];
        let start = if number == "u32" { i32::abs(start) } else { start };
        let text = product.text().replace("iterations: s32", &format!("iterations: {number}"));
        let text = text.replace("%4 = param iterations : s32", &format!("%4 = param iterations : {number}"));
        let text = text.replace(
            "%5 = full",
            &format!("%30 = full {start} : {number}\n  %31 = full {step} : {number}\n  %5 = full"),
        );
        let text = text
            .replace("for %2 to %4 step %3", "for %30 to %4 step %31")
            .replace("(%7: s32,", &format!("(%7: {number},"));
        let func = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let [m, n, _] = product.mnk.map(i64::from);
        let grid = [((rows + m - 1) / m) as u32, ((columns + n - 1) / n) as u32, 1];
        differ(&func, grid, &arrays, &[iterations.into()], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("{iterations} iterations of\n{text}{error}"));
    }
}

#[test]
fn random_programs_agree_with_the_reference() {
    let mut loops = 0;
    for seed in 0..cases(8) as u64 {
        let (text, arrays) = Random::program(1000 + seed);
        let func = parse(&text).unwrap();
        let plan = match place(&girih_tile::pass::simplify(&func), 80) {
            Ok(plan) => plan,
            // Tiles that no block has room for.
            Err(error) if error.to_string().contains("accepted") => continue,
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        };
        loops += plan.products.ahead.loops.len();
        let mut wanted = arrays.clone();
        reference::run(&func, [1, 1, 1], &mut wanted, &[]).unwrap();
        let got = simulate(&func, 80, [1, 1, 1], &arrays, &[]);
        let got = got.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        for (i, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let wrong = got
                .elements()
                .unwrap()
                .iter()
                .zip(wanted.elements().unwrap())
                .position(|(&a, b)| !Tolerance::EXACT.accepts(got.dtype, a, b));
            assert!(wrong.is_none(), "seed {seed}: array {i} differs at {wrong:?}\n{text}");
        }
    }
    assert!(loops > 0);
}

#[test]
fn loads_that_are_not_ahead_say_why() {
    let text = Product { mnk: [64, 64, 32], ..PLAIN }.text();
    let two =
        "  %12 = reduce max %9 along 1 : bf16[64, 1]\n    store %12 to c2[64, 1] at (%7, %0)\n    continue";
    for (from, to, why) in [
        ("", "", "prefetched 2 iterations ahead by cp.async of 16 bytes"),
        (" pad 0 :", " pad -inf :", "through registers, since outside of the array is NegInf"),
        (
            "{\n  %0",
            "{\n  hint all num_stages 1\n  %0",
            "not prefetched: the loop has 1 stage: two or more prefetch",
        ),
        ("(a: bf16", "(mut a: bf16", "by mma.sync"),
        ("continue", two, "not prefetched: something else than a product reads it"),
        (
            "continue %11",
            "%12 = less %7, %3 : bool\n    if %12 {\n      break %11\n    } else {\n    }\n    continue %11",
            "not prefetched: the loop can be left early",
        ),
    ] {
        let changed = if from.is_empty() { text.clone() } else { text.replace(from, to) };
        let changed = if to == two {
            changed.replace("iterations: s32", "mut c2: bf16[?, ?] strides [?, 1] align 2, iterations: s32")
        } else {
            changed
        };
        let func = parse(&changed).unwrap_or_else(|error| panic!("{error}\n{changed}"));
        let explained = explain(&func, 80).unwrap().to_string();
        assert!(explained.contains(why), "{why}\n{explained}");
    }
    // Where a tile begins is known of the next iteration alone.
    let carried = text
        .replace(
            "carry %5 : f32[64, 64] { (%7: s32, %8: f32[64, 64])",
            "carry %5, %2 : f32[64, 64], s32 { (%7: s32, %8: f32[64, 64], %20: s32)",
        )
        .replace("%6 = for", "%6, %21 = for")
        .replace("(%0, %7)", "(%0, %20)")
        .replace("continue %11", "%22 = add %20, %7 : s32\n    continue %11, %22");
    let func = parse(&carried).unwrap_or_else(|error| panic!("{error}\n{carried}"));
    let explained = explain(&func, 80).unwrap().to_string();
    assert!(explained.contains("s32[], which the loop carries"), "{explained}");
    assert_eq!(ahead(&func, 80).loads.len(), 1, "{explained}");
}

#[test]
fn slots_fit_into_the_memory_of_each_architecture() {
    for (sm, room) in [(80, 163 << 10), (86, 99 << 10), (89, 99 << 10)] {
        for mnk in [[64, 64, 32], [128, 128, 64], [128, 256, 64], [256, 128, 64]] {
            for hints in ["", "  hint all num_stages 8\n", "  hint all occupancy 2\n"] {
                let func = Product { mnk, hints, ..PLAIN }.func();
                let Ok(compiled) = compile(&func, sm) else { continue };
                let blocks = if hints.contains("occupancy") { 2 } else { 1 };
                let slots: i64 =
                    ahead(&func, sm).loops.values().map(|rounds| rounds.stages * rounds.bytes).sum();
                assert!(slots <= room / blocks, "sm_{sm} {mnk:?} {hints}");
                assert!(
                    slots == 0 || compiled.kernel.shared_bytes() <= room as u32,
                    "sm_{sm} {mnk:?} {hints}"
                );
            }
        }
    }
    // Behind the slots is room for what the loop does besides.
    for (what, ty) in [("flip %11 along 0", "f32[128, 128]"), ("cat %13, %14 along 0", "f32[128, 128]")] {
        let text = Product { mnk: [128, 128, 64], hints: "  hint all num_stages 8\n", ..PLAIN }.text();
        let halves = "%13 = extract %11 at [64, 0] : f32[64, 128]
    %14 = extract %11 at [0, 0] : f32[64, 128]\n";
        let halves = if what.starts_with("cat") { halves } else { "" };
        let text =
            text.replace("continue %11", &format!("{halves}    %12 = {what} : {ty}\n    continue %12"));
        let func = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let shared = compile(&func, 80).unwrap().kernel.shared_bytes();
        assert!(!ahead(&func, 80).loops.is_empty() && shared <= 163 << 10, "{what}: {shared} bytes");
    }
    // Counters stand there as long as the loop runs.
    let text = Product { mnk: [128, 128, 64], ..PLAIN }.text();
    let text = text
        .replace("iterations: s32", "mut h: s32[?] strides [1] align 4, iterations: s32")
        .replace("carry %5 : f32[128, 128] {", "carry %5, %20 : f32[128, 128], s32[1024] {")
        .replace("%8: f32[128, 128])", "%8: f32[128, 128], %22: s32[1024])")
        .replace("%6 = for", "%20 = full 0 : s32[1024]\n  %21 = iota : s32[4096]\n  %6, %23 = for")
        .replace(
            "continue %11",
            "%12 = flip %11 along 0 : f32[128, 128]
    %26 = reshape %7 : s32[1]
    %27 = broadcast %26 : s32[4096]
    %28 = add %21, %27 : s32[4096]
    %24 = histogram %28 : s32[1024]
    %25 = add %22, %24 : s32[1024]
    continue %12, %25",
        )
        .replace("  store %6", "  store %23 to h[1024] at (%2)\n  store %6");
    let func = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let shared = compile(&func, 80).unwrap().kernel.shared_bytes();
    assert!((96 << 10..=163 << 10).contains(&shared), "{shared} bytes");
    // Of eight stages as many as there is room for.
    let func = Product { mnk: [128, 128, 64], hints: "  hint all num_stages 8\n", ..PLAIN }.func();
    let stages = |sm| ahead(&func, sm).loops.values().map(|rounds| rounds.stages).collect::<Vec<_>>();
    assert_eq!([stages(80), stages(86)], [[4], [2]]);
}

#[test]
fn attention_loads_keys_and_values_turns_ahead() {
    let attention = Attention { rows: 64, keys: 32, depth: 64, causal: true, tma: true, latency: None };
    let func = parse(&attention.text()).unwrap();
    let found = ahead(&girih_tile::pass::simplify(&func), 80);
    assert_eq!((found.loops.len(), found.loads.len()), (2, 4), "{found:?}");
    let text = kernel(&func, 80);
    let body = iteration(&text);
    // Keys and values come in one group, and the threads meet once.
    assert_eq!(body.matches("bar.sync").count(), 1, "{text}");
    assert_eq!(body.matches("cp.async.wait_group 1;").count(), 1, "{text}");
    let bad = complaints(&text, "80").unwrap_or_default();
    assert!(bad.is_empty(), "{bad:?}");
    attention.check_for(80, 2, 192);
}
