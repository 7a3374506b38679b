//! `triton_kernels.py`. Each file's first line says what a launch needs; each kernel's last two arguments are addresses
//! of scratch memory that it does not use.

use std::sync::{Arc, Mutex};

use girih_sim::Program;
use half::{bf16, f16};

use super::basics::{layernorm, product, softmax};
use super::{Buffer, Call, Plain, assert_near, doubled, fractions, texts, whole};

/// Calls `test` with the program of each architecture, the bytes of shared memory that it needs, and its text.
fn each(stem: &str, test: &dyn Fn(&Program, u32, &str)) {
    for text in texts(stem) {
        let first = text.lines().next().unwrap();
        let (threads, shared) = first.split_once(", dynamic shared memory ").unwrap();
        assert_eq!(threads, "// threads 128", "{stem}");
        let module = girih_ptx::Module::parse(&text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        let program = Program::load(&module).unwrap_or_else(|error| panic!("{stem}: {error}"));
        test(&program, shared.parse().unwrap(), &text);
    }
}

fn call(program: &Program, grid: [u32; 3], shared: u32) -> Call<'_> {
    let mut call = Call::new(program, grid, [128, 1, 1]);
    call.launch.dynamic_shared = shared;
    call
}

/// Runs with the arguments for scratch memory.
fn run(call: &mut Call<'_>, kernel: &str) {
    call.arg(0u64).arg(0u64).run(kernel);
}

#[test]
fn vectors_are_added() {
    each("triton_vadd", &|program, shared, _| {
        let (a, b) = (fractions(1300, 1), fractions(1300, 2));
        let mut call = call(program, [3, 1, 1], shared);
        call.buffer(&a);
        call.buffer(&b);
        let c = call.zeros::<f32>(1300);
        run(call.arg(1300i32), "vadd");
        let want: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(call.read::<f32>(c), want);
    });
}

#[test]
fn rows_are_normalised() {
    each("triton_softmax", &|program, shared, _| {
        let columns = 700;
        let x: Vec<f32> = fractions(2 * columns, 3).iter().map(|x| 9.0 * x).collect();
        let mut call = call(program, [2, 1, 1], shared);
        let out = call.zeros::<f32>(x.len());
        call.buffer(&x);
        run(call.arg(columns as i32).arg(columns as i32), "softmax");
        assert_near(&doubled(&call.read::<f32>(out)), &softmax(&x, columns), 2e-6, 1e-12, "softmax");
    });
    each("triton_layernorm", &|program, shared, _| {
        let columns = 400;
        let x: Vec<bf16> = fractions(2 * columns, 4).iter().map(|x| bf16::from_f32(3.0 * x + 1.0)).collect();
        let (gain, bias) = (fractions(columns, 5), fractions(columns, 6));
        let mut call = call(program, [2, 1, 1], shared);
        call.buffer(&x);
        let out = call.zeros::<bf16>(x.len());
        call.buffer(&gain);
        call.buffer(&bias);
        run(call.arg(columns as i32).arg(columns as i32).arg(1e-5f32), "layernorm");
        let want = layernorm(&doubled(&x), &gain, &bias, 1e-5);
        // Half a bf16's last bit, and a little of the sums' in f32.
        assert_near(&doubled(&call.read::<bf16>(out)), &want, 4.1e-3, 1e-5, "layernorm");
    });
}

/// Runs a product. Triton lets `wgmma` read what `cp.async` has written without a `fence.proxy.async` between them, which
/// the PTX ISA asks for ("Async Proxy"): a warning.
fn multiply(call: &mut Call<'_>, kernel: &str, text: &str) {
    call.arg(0u64).arg(0u64);
    if text.contains("wgmma") && !text.contains("fence.proxy.async") {
        assert!(call.run(kernel).warnings > 0);
    } else {
        call.run(kernel);
    }
}

/// A product of small whole numbers, whose sums are exact in f32, with edges that fill no tile.
fn matmul<T: Plain + Into<f64>, S: Plain + Into<f64>>(
    stem: &str,
    (tile_m, tile_n): (usize, usize),
    number: impl Fn(f32) -> T,
) {
    let (m, n, k) = (tile_m + 16, 2 * tile_n - 8, 80);
    let values =
        |count, salt| -> Vec<T> { whole(count, 5, salt).iter().map(|&x| number(x as f32 - 2.0)).collect() };
    let (a, b) = (values(m * k, 7), values(k * n, 8));
    let want = product(&doubled(&a), &doubled(&b), (m, n, k));
    each(stem, &|program, shared, text| {
        let mut call = call(program, [m.div_ceil(tile_m) as u32, n.div_ceil(tile_n) as u32, 1], shared);
        call.buffer(&a);
        call.buffer(&b);
        let c: Buffer = call.zeros::<S>(m * n);
        for size in [m, n, k, k, n, n] {
            call.arg(size as i32);
        }
        multiply(&mut call, "matmul", text);
        assert_eq!(doubled(&call.read::<S>(c)), want, "{stem}");
    });
}

#[test]
fn matrices_are_multiplied() {
    matmul::<f16, f16>("triton_matmul_f16", (64, 64), f16::from_f32);
    matmul::<bf16, f32>("triton_matmul_bf16", (64, 64), bf16::from_f32);
    matmul::<f32, f32>("triton_matmul_tf32", (64, 32), |x| x);
}

#[test]
fn bytes_are_multiplied() {
    let k = 128;
    let number = |x: &u32| (*x as i32 - 128) as i8;
    let a: Vec<i8> = whole(64 * k, 256, 9).iter().map(number).collect();
    let b: Vec<i8> = whole(64 * k, 256, 10).iter().map(number).collect();
    // B by columns.
    let sum = |e: usize| -> i32 {
        (0..k).map(|i| i32::from(a[e / 64 * k + i]) * i32::from(b[e % 64 * k + i])).sum()
    };
    let want: Vec<i32> = (0..64 * 64).map(sum).collect();
    each("triton_matmul_int8", &|program, shared, text| {
        let mut call = call(program, [1, 1, 1], shared);
        call.buffer(&a);
        call.buffer(&b);
        let c = call.zeros::<i32>(64 * 64);
        multiply(call.arg(k as i32), "matmul_int8", text);
        assert_eq!(call.read::<i32>(c), want);
    });
}

#[test]
fn bins_are_counted() {
    each("triton_histogram", &|program, shared, _| {
        let x = whole(900, 64, 11);
        let mut call = call(program, [2, 1, 1], shared);
        call.buffer(&x);
        let bins = call.zeros::<u32>(64);
        run(call.arg(900i32), "histogram");
        let want: Vec<u32> = (0..64).map(|bin| x.iter().filter(|&&x| x == bin).count() as u32).collect();
        assert_eq!(call.read::<u32>(bins), want);
    });
}

#[test]
fn sums_maxima_and_scans_agree() {
    each("triton_reduce", &|program, shared, _| {
        let x: Vec<f32> = whole(512, 1000, 12).iter().map(|&x| x as f32).collect();
        let mut call = call(program, [1, 1, 1], shared);
        call.buffer(&x);
        let (sum, most, at) = (call.zeros::<f32>(1), call.zeros::<i32>(1), call.zeros::<i32>(1));
        let scan = call.zeros::<f32>(512);
        run(&mut call, "reduce");
        let total: f32 = x.iter().sum();
        let largest = x.iter().copied().fold(0.0, f32::max);
        assert_eq!(call.read::<f32>(sum), [total]);
        assert_eq!(call.read::<i32>(most), [largest as i32]);
        assert_eq!(call.read::<i32>(at), [x.iter().position(|&x| x == largest).unwrap() as i32]);
        let mut running = 0.0;
        let want: Vec<f32> = x
            .iter()
            .map(|x| {
                running += x;
                running
            })
            .collect();
        assert_eq!(call.read::<f32>(scan), want);
    });
}

/// A function, and its largest error in absolute terms beside a few units in the last place.
type Function = (fn(f64, f64) -> f64, f64);

#[test]
fn functions_are_near_and_values_printed() {
    each("triton_functions", &|program, shared, _| {
        let n = 256;
        let x: Vec<f32> = fractions(n, 13).iter().map(|x| 2.0 * x).collect();
        let y: Vec<f32> = fractions(n, 14).iter().map(|y| 1.0 + 0.9 * y).collect();
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = printed.clone();
        let mut call = call(program, [1, 1, 1], shared);
        call.options.print = Some(Arc::new(move |text: &str| sink.lock().unwrap().push_str(text)));
        call.buffer(&x);
        call.buffer(&y);
        let out = call.zeros::<f32>(8 * n);
        run(call.arg(n as i32), "functions");
        let got = doubled(&call.read::<f32>(out));
        let functions: [Function; 8] = [
            (|a, _| a.sin(), 1e-6),
            (|_, b| b.ln(), 1e-6),
            (|a, _| a.exp2(), 0.0),
            (|_, b| 1.0 / b.sqrt(), 0.0),
            (|a, _| super::numbers::erf(a), 0.0),
            (|a, b| a / b, 0.0),
            (|a, b| a.floor() + b.ceil(), 0.0),
            (|a, b| 1.0 / (1.0 + (-a).exp()) + b.clamp(1.0, 2.0), 0.0),
        ];
        for (i, (function, absolute)) in functions.into_iter().enumerate() {
            let want: Vec<f64> = x.iter().zip(&y).map(|(&a, &b)| function(a.into(), b.into())).collect();
            assert_near(&got[i * n..][..n], &want, 5e-7, absolute, &format!("function {i}"));
        }
        // One line an element: the position of the program and the element, the prefix and the value.
        let printed = printed.lock().unwrap();
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        let line = |(i, x): (usize, &f32)| format!("pid (0, 0, 0) idx ({i:3}) value: {x:.6}");
        let mut want: Vec<String> = x.iter().enumerate().map(line).collect();
        want.sort_unstable();
        assert_eq!(lines, want);
    });
}
