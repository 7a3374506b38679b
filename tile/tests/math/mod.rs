//! Functions written out as arithmetic, against values of more digits.

mod run;
mod simulated;

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::expect_file;
use girih_tensor::DType;
use girih_tile::ir::table::How;
use girih_tile::ir::{Rounding, verify};
use girih_tile::math;
use girih_tile::ops::table::{Each, TABLE};
use girih_tile_reference as reference;
use run::{bits, program, run, unit};

/// f32 arguments: all exponents, dense in the middle, the ends and what is special. `GIRIH_CASES` multiplies their number.
fn arguments(dense: (f64, f64)) -> Vec<u64> {
    let more: u32 = std::env::var("GIRIH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1).max(1);
    let mut list: Vec<u64> = Vec::new();
    let step = (0x1_0000_0000u64 / (6000 * u64::from(more))) | 1;
    list.extend((0..0x1_0000_0000u64 / step).map(|i| i * step));
    let count = 4000 * more;
    let at = |i: u32| dense.0 + (dense.1 - dense.0) * f64::from(i) / f64::from(count);
    list.extend((0..=count).map(|i| bits(DType::F32, at(i))));
    list.extend(special(DType::F32));
    list
}

fn special(dtype: DType) -> Vec<u64> {
    let numbers = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        1.5,
        f64::INFINITY,
        f64::NAN,
        1e-300,
        1e-45,
        1e30,
        1e300,
        2f64.powi(60),
        5.0,
    ];
    numbers.iter().flat_map(|&x| [bits(dtype, x), bits(dtype, -x)]).collect()
}

struct Worst {
    ulp: f64,
    at: String,
}

/// How far a result is from a value, in units of the value's last place. What is special must be met.
fn distance(dtype: DType, got: u64, want: f64, rest: f64) -> f64 {
    let got = reference::number(dtype, got);
    let unit = unit(dtype, want);
    let rounded = reference::number(dtype, bits(dtype, want));
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if rounded.is_infinite() || got.is_infinite() {
        let top = unit_top(dtype);
        return if rounded == got || want.abs() > top && got.abs() > top { 0.0 } else { f64::INFINITY };
    }
    ((got - want) / unit - rest).abs()
}

/// From here on a function may overflow.
fn unit_top(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::MAX * (1.0 - 1e-15) } else { f64::from(f32::MAX) * (1.0 - 1e-6) }
}

fn unary32(op: Each) -> (f64, f64) {
    match op {
        Each::Exp => (-104.0, 89.0),
        Each::Exp2 => (-150.0, 128.0),
        Each::Log | Each::Log2 | Each::Rsqrt => (0.5, 2.0),
        Each::Sin | Each::Cos | Each::Tan => (-20.0, 20.0),
        Each::Sinh | Each::Cosh => (-90.0, 90.0),
        Each::Tanh | Each::Erf => (-6.0, 6.0),
        _ => (-30.0, 30.0),
    }
}

fn pairs32(op: Each) -> [Vec<u64>; 2] {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for x in special(DType::F32) {
        for y in special(DType::F32) {
            a.push(x);
            b.push(y);
        }
    }
    let mut state = 12345u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / 2f64.powi(31)
    };
    for _ in 0..10000 {
        let (x, y) = match op {
            Each::Pow => {
                let x = 2f64.powf(next() * 12.0 - 6.0);
                (x, (next() * 2.0 - 1.0) * 86.0 / x.ln().abs().max(0.01))
            }
            _ => (2f64.powf(next() * 80.0 - 40.0), 2f64.powf(next() * 80.0 - 40.0)),
        };
        let x = if op != Each::Pow && next() < 0.5 { -x } else { x };
        let y = if op != Each::Pow && next() < 0.5 { -y } else { y };
        a.push(bits(DType::F32, x));
        b.push(bits(DType::F32, y));
    }
    [a, b]
}

#[test]
fn errors_of_f32_are_those_of_the_table() {
    let mut table = String::new();
    for row in TABLE {
        for rounding in [Rounding::Nearest, Rounding::Approx] {
            let measured = matches!(row.op, Each::Exp2 | Each::Rsqrt) && rounding == Rounding::Nearest;
            // Remainders have a loop; they are exact, and compared on the simulator.
            if row.op == Each::Mod {
                continue;
            }
            if !math::expands(row.op, DType::F32, rounding) && !measured
                || rounding == Rounding::Approx && !matches!(row.op, Each::Exp | Each::Log)
            {
                continue;
            }
            let func = program(row.op, DType::F32, rounding, false);
            verify(&func).unwrap();
            let args: Vec<Vec<u64>> =
                if row.arity == 2 { pairs32(row.op).to_vec() } else { vec![arguments(unary32(row.op))] };
            let got = run(&func, &args);
            let mut worst = Worst { ulp: 0.0, at: String::new() };
            for (i, &got) in got.iter().enumerate() {
                let at: Vec<f64> = args.iter().map(|list| reference::number(DType::F32, list[i])).collect();
                let at64 = |j: usize| args.get(j).map_or(0, |_| at[j].to_bits());
                let want = if matches!(row.op, Each::FloorDiv) {
                    reference::apply(row.op, How::default(), DType::F32, [args[0][i], args[1][i], 0])
                        .map(|bits| reference::number(DType::F32, bits))
                } else {
                    reference::apply(row.op, How::default(), DType::F64, [at64(0), at64(1), 0])
                        .map(f64::from_bits)
                };
                let want = want.unwrap();
                // The approximate instructions are for normal numbers of a middling size.
                if rounding == Rounding::Approx && row.op == Each::Log && (at[0] - 1.0).abs() < 0.5 {
                    continue;
                }
                let ulp = distance(DType::F32, got, want, 0.0);
                if want == 0.0 && got != bits(DType::F32, want) {
                    worst = Worst { ulp: f64::INFINITY, at: format!("{at:?}: the sign of zero") };
                }
                if ulp > worst.ulp {
                    worst = Worst {
                        ulp,
                        at: format!("{at:?}: {} for {want}", reference::number(DType::F32, got)),
                    };
                }
            }
            let mode = if rounding == Rounding::Nearest { "" } else { ", approximate" };
            writeln!(table, "{}{mode}: {:.2}", row.name, worst.ulp).unwrap();
            println!(
                "{}{mode}: {} operations, {:.2} at {}",
                row.name,
                func.region(func.body()).ops.len(),
                worst.ulp,
                worst.at
            );
        }
    }
    if std::env::var("GIRIH_CASES").is_err() {
        expect_file!["f32.txt"].assert_eq(&table);
    }
}

#[test]
fn errors_of_f64_are_those_of_the_table() {
    let text = include_str!("../vectors/math-f64.txt");
    /// Operands, the value, and what is left of it.
    type Case = (Vec<u64>, f64, f64);
    let mut cases: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let hex = |word: &str| u64::from_str_radix(word, 16).unwrap();
        let n = words.len();
        let args = words[1..n - 2].iter().map(|word| hex(word)).collect();
        cases.entry(words[0]).or_default().push((
            args,
            f64::from_bits(hex(words[n - 2])),
            words[n - 1].parse().unwrap(),
        ));
    }
    let mut table = String::new();
    for (name, cases) in cases {
        let row = TABLE.iter().find(|row| row.name == name).unwrap();
        let func = program(row.op, DType::F64, Rounding::Nearest, false);
        verify(&func).unwrap();
        let args: Vec<Vec<u64>> =
            (0..row.arity).map(|j| cases.iter().map(|(args, ..)| args[j]).collect()).collect();
        let got = run(&func, &args);
        let mut worst = Worst { ulp: 0.0, at: String::new() };
        for (got, (args, want, rest)) in got.into_iter().zip(&cases) {
            let ulp = distance(DType::F64, got, *want, *rest);
            if ulp > worst.ulp {
                let at: Vec<f64> = args.iter().map(|&bits| f64::from_bits(bits)).collect();
                worst = Worst { ulp, at: format!("{at:?}: {} for {want}", f64::from_bits(got)) };
            }
        }
        writeln!(table, "{name}: {:.2}", worst.ulp).unwrap();
        println!(
            "{name}: {} operations, {:.2} at {}",
            func.region(func.body()).ops.len(),
            worst.ulp,
            worst.at
        );
    }
    expect_file!["f64.txt"].assert_eq(&table);
}

#[test]
fn special_values_of_f64_are_those_of_the_reference() {
    let measured = |op| op != Each::Mod && math::expands(op, DType::F64, Rounding::Nearest);
    for row in TABLE.iter().filter(|row| measured(row.op)) {
        let func = program(row.op, DType::F64, Rounding::Nearest, false);
        let list = special(DType::F64);
        let pairs: Vec<(u64, u64)> = list.iter().flat_map(|&a| list.iter().map(move |&b| (a, b))).collect();
        let args = [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()];
        for (got, &(a, b)) in run(&func, &args[..row.arity]).into_iter().zip(&pairs) {
            let want = reference::apply(row.op, How::default(), DType::F64, [a, b, 0]).unwrap();
            let (x, y, want) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(want));
            let place = format!("{}({x}, {y}) = {}, not {want}", row.name, f64::from_bits(got));
            assert!(distance(DType::F64, got, want, 0.0) < 4.0, "{place}");
            assert!(want != 0.0 || got == want.to_bits(), "{place}: the sign of zero");
        }
    }
}
