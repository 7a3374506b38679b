//! Writes the cases of `typed_static.rs` and `typed_mixed.rs`: random operands, chosen by asking the run-time layer what has a result.
//!
//! The cases are in the repository, since a static layout is a type and has to be compiled. `UPDATE_EXPECT=1` writes them anew.
#![allow(clippy::unwrap_used, reason = "a generator that fails is a failing test")]

#[path = "typed_support/more.rs"]
mod more;

use std::fmt::Write;

use girih_layout::{Int, Lay, Tiler};
use more::more_cases;

const STATIC: usize = 450;
const MIXED: usize = 450;
/// Cases a test function.
const PER_TEST: usize = 50;
/// Test functions of random cases without the feature `all`: each operation comes six times.
const SAMPLE: usize = 1;

/// Numbers below a bound, the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn one_of(&mut self, from: &[i64]) -> i64 {
        from[self.below(from.len())]
    }
}

/// A layout as text, its leaves under a random tree. Marked leaves are dynamic.
struct Case {
    shape: Vec<i64>,
    stride: Vec<i64>,
    dynamic: Vec<(bool, bool)>,
    /// After how many leaves a nested tuple ends, where there is one.
    nested: Option<(usize, usize)>,
}

impl Case {
    fn random(random: &mut Random, leaves: usize, mixed: bool) -> Case {
        let n = 1 + random.below(leaves);
        let shape: Vec<i64> = (0..n).map(|_| random.one_of(&[1, 2, 2, 3, 4, 4, 5, 6, 8, 12])).collect();
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).for_each(|i| order.swap(i, random.below(i + 1)));
        let mut stride = vec![0; n];
        let mut step = random.one_of(&[1, 1, 1, 1, 2, 3]);
        for i in order {
            stride[i] = if random.below(12) == 0 { 0 } else { step };
            step *= shape[i] * random.one_of(&[1, 1, 1, 1, 2]);
        }
        let dynamic = stride
            .iter()
            .map(|stride| (mixed && random.below(3) == 0, mixed && *stride != 0 && random.below(3) == 0))
            .collect();
        let begin = random.below(n);
        let nested = (n > 2 && random.below(2) == 0).then(|| (begin, begin + 1 + random.below(n - begin)));
        Case { shape, stride, dynamic, nested }
    }

    fn tree(&self, leaves: &[i64], marked: impl Fn(usize) -> bool, source: bool) -> String {
        let mut text = String::new();
        for (i, leaf) in leaves.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let open = if self.nested.is_some_and(|(begin, _)| begin == i) { "(" } else { "" };
            let close = if self.nested.is_some_and(|(_, end)| end == i + 1) { ")" } else { "" };
            let leaf = match (source, marked(i)) {
                (true, true) => format!("{{d({leaf})}}"),
                (true, false) => leaf.to_string(),
                (false, _) => format!("_{leaf}"),
            };
            write!(text, "{comma}{open}{leaf}{close}").unwrap();
        }
        if leaves.len() == 1 { text } else { format!("({text})") }
    }

    fn text(&self, source: bool) -> String {
        let shape = self.tree(&self.shape, |i| self.dynamic[i].0, source);
        let stride = self.tree(&self.stride, |i| self.dynamic[i].1, source);
        format!("{shape}{}{stride}", if source { " : " } else { ":" })
    }

    fn lay(&self) -> Lay {
        Lay::parse(&self.text(false)).unwrap()
    }

    fn source(&self) -> String {
        format!("layout!({})", self.text(true))
    }
}

const OPERATIONS: [&str; 15] = [
    "coalesce",
    "right_inverse",
    "left_inverse",
    "complement",
    "composition",
    "composition",
    "logical_divide",
    "zipped_divide",
    "tiled_divide",
    "flat_divide",
    "logical_product",
    "zipped_product",
    "tiled_product",
    "flat_product",
    "pairs",
];

fn tiler(random: &mut Random, rank: usize, mixed: bool) -> (Tiler, String) {
    match random.below(3) {
        0 => {
            let case = Case::random(random, 3, mixed);
            (Tiler::Lay(case.lay()), case.source())
        }
        1 => {
            let n = random.one_of(&[2, 3, 4, 6, 8, 16]);
            (Tiler::parse(&format!("_{n}:_1")).unwrap(), format!("int!({n})"))
        }
        _ => {
            let (mut text, mut source) = (String::new(), String::new());
            for k in 0..1 + random.below(rank) {
                let comma = if k > 0 { "," } else { "" };
                if random.below(6) == 0 {
                    write!(text, "{comma}_").unwrap();
                    write!(source, "__, ").unwrap();
                } else if random.below(2) == 0 {
                    let case = Case::random(random, 2, mixed);
                    write!(text, "{comma}{}", case.text(false)).unwrap();
                    write!(source, "{}, ", case.source()).unwrap();
                } else {
                    let n = random.one_of(&[2, 3, 4, 6, 8]);
                    write!(text, "{comma}_{n}:_1").unwrap();
                    write!(source, "int!({n}), ").unwrap();
                }
            }
            (Tiler::parse(&format!("<{text}>")).unwrap(), format!("({source})"))
        }
    }
}

/// The name of the operation for operands with something dynamic, beside its own.
fn attempt(mixed: bool, op: &str) -> String {
    if mixed { format!(" try_{op}") } else { String::new() }
}

/// The source of a case that has a result by the symbolic rules (which keep the static source), unless it was not lucky.
fn case(random: &mut Random, mixed: bool, op: &str) -> Option<String> {
    let left = Case::random(random, 4, mixed);
    let (a, source) = (left.lay(), left.source());
    let (result, call) = match op {
        "coalesce" => (Ok(a.coalesce()), format!("unary!(coalesce, {source})")),
        "right_inverse" => (a.right_inverse(), format!("unary!(right_inverse, {source})")),
        "left_inverse" => (a.left_inverse(), format!("unary!(left_inverse, {source})")),
        "complement" => {
            let n = random.one_of(&[1, 2, 3, 4, 6]) * a.cosize().unwrap().get().unwrap();
            (a.complement(Int::fixed(n)), format!("complement!({source}, {n})"))
        }
        "pairs" => {
            let tile = Case::random(random, 3, mixed);
            let name = if random.below(2) == 0 { "blocked_product" } else { "raked_product" };
            let result = if name == "blocked_product" {
                a.blocked_product(&tile.lay())
            } else {
                a.raked_product(&tile.lay())
            };
            (result, format!("pairs!({name}{}, {source}, {})", attempt(mixed, name), tile.source()))
        }
        _ => {
            let (t, tiler) = tiler(random, a.rank(), mixed);
            let result = match op {
                "composition" => a.compose(&t),
                "logical_divide" => a.logical_divide(&t),
                "zipped_divide" => a.zipped_divide(&t),
                "tiled_divide" => a.tiled_divide(&t),
                "flat_divide" => a.flat_divide(&t),
                "logical_product" => a.logical_product(&t),
                "zipped_product" => a.zipped_product(&t),
                "tiled_product" => a.tiled_product(&t),
                _ => a.flat_product(&t),
            };
            (result, format!("binary!({op}{}, {source}, {tiler})", attempt(mixed, op)))
        }
    };
    let result = result.ok()?;
    let small = result.rank() <= 12 && result.size().ok()?.get()? <= 20_000;
    (result.is_static() && small).then_some(call)
}

fn file(doc: &str, mixed: bool, count: usize) -> String {
    let mut random = Random(if mixed { 2 } else { 1 });
    let mut text = format!("//! {doc}\n//!\n//! Written by `typed_generator.rs`.\n");
    text += "\n#[macro_use]\n#[path = \"typed_support/";
    text += if mixed { "mixed" } else { "fixed" };
    text += ".rs\"]\nmod support;\n\n";
    text += "use girih_typed::{__, Layout, int, int_tuple, layout};\n";
    if mixed {
        text += "use support::d;\n";
    }
    for test in 0..count.div_ceil(PER_TEST) {
        let open = if mixed { "    let answered = [\n" } else { "" };
        let sample = if test < SAMPLE { "" } else { "#[cfg(feature = \"all\")]\n" };
        write!(text, "\n#[test]\n{sample}#[rustfmt::skip]\nfn cases_{test}() {{\n{open}").unwrap();
        for k in 0..PER_TEST.min(count - test * PER_TEST) {
            let op = OPERATIONS[(test * PER_TEST + k) % OPERATIONS.len()];
            let call = (0..10_000).find_map(|_| case(&mut random, mixed, op)).unwrap();
            if mixed {
                writeln!(text, "        {call},").unwrap();
            } else {
                writeln!(text, "    {call};").unwrap();
            }
        }
        if mixed {
            text += "    ];\n    support::enough(&answered, 80);\n";
        }
        text += "}\n";
    }
    more_cases(&mut random, mixed, &mut text);
    text
}

fn check(name: &str, text: &str) {
    let path = format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let stands = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stands == text, "{name} is not what the generator gives; UPDATE_EXPECT=1 writes it anew");
}

#[test]
fn static_cases_are_as_generated() {
    check(
        "typed_static.rs",
        &file("The typed layer against the run-time layer: static operands.", false, STATIC),
    );
}

#[test]
fn mixed_cases_are_as_generated() {
    check(
        "typed_mixed.rs",
        &file("The typed layer against the run-time layer: static and dynamic operands.", true, MIXED),
    );
}
