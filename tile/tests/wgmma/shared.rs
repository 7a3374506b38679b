//! Shared memory of products by `wgmma`: what is planned is what is taken, whatever the number and the size of tiles.

use girih_tile::compile;
use girih_tile::place::place;
use rand::RngExt;

use super::program;
use crate::common::differ::{cases, random};

/// Loops over products: one in another one and one after it, or several one after the other, with tiles of `m` by `k` and `k` by `n`.
fn loops([m, n, k]: [i64; 3], nested: bool, count: usize, hints: &str) -> String {
    let of = |number: &str, sums: &str, around: &str| {
        format!(
            "  %l{number} = load a[{m}, {k}] at (%i, %{around}{number}) pad 0 : bf16[{m}, {k}]
  %r{number} = load b[{k}, {n}] at (%{around}{number}, %j) pad 0 : bf16[{k}, {n}]
  %m{number} = mma %l{number}, %r{number}, %{sums} : f32[{m}, {n}]
"
        )
    };
    let mut text = format!(
        "kernel loops(a: bf16[?, ?8] strides [?8, 1] align 16, b: bf16[?, ?8] strides [?8, 1] align 16, mut c: f32[?, ?4] strides [?4, 1] align 16, n: s32) {{
{hints}  %i = bid 0 : s32
  %j = bid 1 : s32
  %zero = full 0 : s32
  %one = full 1 : s32
  %n = param n : s32
  %s0 = full 0 : f32[{m}, {n}]
"
    );
    let mut sums = String::from("s0");
    if nested {
        text += &format!(
            "  %outer = for %zero to %n step %one carry %s0 : f32[{m}, {n}] {{ (%k: s32, %so: f32[{m}, {n}])
  %inner = for %zero to %k step %one carry %so : f32[{m}, {n}] {{ (%q9: s32, %si: f32[{m}, {n}])
{}  continue %m9
  }}
  continue %inner
  }}
",
            of("9", "si", "q")
        );
        sums = "outer".into();
    }
    for at in 1..=count {
        let number = at.to_string();
        text += &format!(
            "  %e{at} = for %zero to %n step %one carry %{sums} : f32[{m}, {n}] {{ (%q{at}: s32, %t{at}: f32[{m}, {n}])
{}  continue %m{at}
  }}
",
            of(&number, &format!("t{at}"), "q")
        );
        sums = format!("e{at}");
    }
    text + &format!("  store %{sums} to c[{m}, {n}] at (%i, %j)\n}}\n")
}

/// Names of values as numbers, as the text has them.
fn numbered(text: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out += &rest[..=at];
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let name = rest[..end].to_string();
        let number = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        out += &number.to_string();
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn tiles_of_any_number_and_size_have_room() {
    let mut rng = random(71);
    let sizes = [[128, 64], [64, 64], [128, 128], [64, 256], [128, 192], [256, 64], [64, 8], [128, 24]];
    // The first ones were refused, since each ring begins at a multiple of 1024.
    let mut tried =
        vec![([128, 64, 64], true, 1, None), ([128, 128, 64], true, 1, None), ([128, 64, 32], true, 2, None)];
    for _ in 0..cases(8) {
        let [m, n] = sizes[rng.random_range(0..sizes.len())];
        let k = [16, 32, 64][rng.random_range(0..3)];
        let stages = [None, Some(2), Some(8)][rng.random_range(0..3)];
        tried.push(([m, n, k], rng.random(), rng.random_range(1..=3), stages));
    }
    for (mnk, nested, count, stages) in tried {
        let hints = stages.map_or(String::new(), |n: u32| format!("  hint all num_stages {n}\n"));
        let text = numbered(&loops(mnk, nested, count, &hints));
        let func = program(&text);
        let compiled =
            compile(&func, 90).unwrap_or_else(|error| panic!("{mnk:?} {nested} {count} {stages:?}: {error}"));
        let taken = i64::from(compiled.kernel.shared_bytes());
        let products = &compiled.plan.products;
        assert!(!products.pipeline.rings.is_empty(), "{mnk:?}: {:?}", products.refused);
        // A block of an sm_90 has 227 KiB; slots as they are planned are among them.
        let slots: i64 = products.pipeline.rings.iter().map(|ring| ring.bytes * ring.slots).sum();
        assert!((slots..=227 << 10).contains(&taken), "{mnk:?}: {slots} and {taken}");
        assert!(place(&func, 90).is_ok());
    }
}
