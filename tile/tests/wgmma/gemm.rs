//! Plain products of all dtypes and orders.

use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::place::{place, wgmma::Source};
use girih_tile_reference::ArrayData;

use super::{assembled, assert_near, bound_of_bytes, decoded, numbers, program, run};
use crate::common::differ::{random, zeros};
use crate::lower::ahead::iteration;

/// A product of arrays, of which each is transposed in memory or not.
struct Gemm {
    types: [DType; 3],
    tile: [u32; 3],
    transposed: [bool; 2],
    warps: u32,
    tma: bool,
}

fn elements(dtype: DType) -> u32 {
    128 / dtype.bits()
}

impl Gemm {
    fn text(&self) -> String {
        let ([c, a, b], [m, n, k]) = (self.types, self.tile);
        let array = |name: &str, dtype: DType| {
            let unit = elements(dtype);
            format!("{name}: {dtype}[?, ?{unit}] strides [?{unit}, 1] align 16")
        };
        let tma = if self.tma { " pad 0" } else { " pad 0 no_tma" };
        let load = |name: &str,
                    dtype: DType,
                    rows: u32,
                    columns: u32,
                    at: [&str; 2],
                    turned: bool,
                    first: u32| {
            let (value, last) = (first, first + 1);
            if turned {
                format!(
                    "    %{value} = load {name}[{columns}, {rows}] at ({}, {}){tma} : {dtype}[{columns}, {rows}]\n    %{last} = permute %{value} by [1, 0] : {dtype}[{rows}, {columns}]\n",
                    at[1], at[0]
                )
            } else {
                format!(
                    "    %{last} = load {name}[{rows}, {columns}] at ({}, {}){tma} : {dtype}[{rows}, {columns}]\n",
                    at[0], at[1]
                )
            }
        };
        format!(
            "kernel gemm({}, {}, mut {}) {{
  hint all num_worker_warps {}
  %0 = bid 0 : s32
  %1 = bid 1 : s32
  %2 = full 0 : s32
  %3 = full 1 : s32
  %4 = dim a, {} : s32
  %5 = full {k} : s32
  %6 = cdiv %4, %5 : s32
  %7 = full 0 : {c}[{m}, {n}]
  %8 = for %2 to %6 step %3 carry %7 : {c}[{m}, {n}] {{ (%9: s32, %10: {c}[{m}, {n}])
{}{}    %15 = mma %12, %14, %10 : {c}[{m}, {n}]
    continue %15
  }}
  store %8 to c[{m}, {n}] at (%0, %1)
}}
",
            array("a", a),
            array("b", b),
            array("c", c),
            self.warps,
            u32::from(!self.transposed[0]),
            load("a", a, m, k, ["%0", "%9"], self.transposed[0], 11),
            load("b", b, k, n, ["%9", "%1"], self.transposed[1], 13),
        )
    }

    /// Compares the product of ragged extents with sums in f64.
    fn check(&self, bound: f64) {
        self.check_text(&self.text(), bound);
    }

    fn check_text(&self, text: &str, bound: f64) {
        let unit = i64::from(self.types.map(elements).into_iter().max().unwrap());
        let [m, n, k] = self.tile.map(i64::from);
        let (rows, columns, depth) = (m + unit, n + unit, 2 * k + unit);
        let mut rng = random(7);
        let [c, a, b] = self.types;
        let pair = |x: i64, y: i64, turned: bool| if turned { [y, x] } else { [x, y] };
        let a = numbers(&mut rng, a, &pair(rows, depth, self.transposed[0]));
        let b = numbers(&mut rng, b, &pair(depth, columns, self.transposed[1]));
        let grid = [(rows + m - 1) / m, (columns + n - 1) / n, 1].map(|n| n as u32);
        let got = run(text, grid, &[a.clone(), b.clone(), zeros(c, &[rows, columns])], &[]);
        assert_near(&got[2], &product(&a, &b, self.transposed, [rows, columns, depth]), bound);
        assembled(text);
    }
}

fn product(a: &ArrayData, b: &ArrayData, transposed: [bool; 2], [m, n, k]: [i64; 3]) -> Vec<f64> {
    let (a, b) = (decoded(a), decoded(b));
    let at = |x: i64, y: i64, [rows, columns]: [i64; 2], turned: bool| {
        (if turned { y * rows + x } else { x * columns + y }) as usize
    };
    let one = |i: i64, j: i64| {
        (0..k).map(|s| a[at(i, s, [m, k], transposed[0])] * b[at(s, j, [k, n], transposed[1])]).sum()
    };
    (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| one(i, j)).collect()
}

#[test]
fn elements_of_16_bits_lie_in_any_order() {
    for transposed in [[false, false], [false, true], [true, false], [true, true]] {
        for tma in [false, true] {
            let types = [DType::F32, DType::Bf16, DType::Bf16];
            Gemm { types, tile: [128, 96, 64], transposed, warps: 8, tma }.check(1e-4);
        }
    }
}

#[test]
fn sums_are_of_all_dtypes() {
    let (f32, f16) = (DType::F32, DType::F16);
    for (types, bound) in [
        ([f32, f16, f16], 1e-4),
        ([f16, f16, f16], 2e-2),
        ([f32, DType::Tf32, DType::Tf32], 1e-4),
        ([f32, DType::E4m3, DType::E5m2], bound_of_bytes(5)),
        ([DType::S32, DType::S8, DType::U8], 0.0),
    ] {
        for transposed in [[false, true], [false, false]] {
            Gemm { types, tile: [64, 32, 64], transposed, warps: 4, tma: true }.check(bound);
        }
    }
}

#[test]
fn a_warpgroup_has_several_instructions_along_m_and_n() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let gemm = Gemm { types, tile: [128, 320, 32], transposed: [false, true], warps: 8, tma: true };
    gemm.check(1e-4);
    let gemm = Gemm { types, tile: [128, 64, 32], transposed: [false, true], warps: 4, tma: true };
    gemm.check(1e-4);
}

#[test]
fn hints_leave_results_as_they_are() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let tile = |m: u32| Gemm { types, tile: [m, 64, 64], transposed: [false, true], warps: 8, tma: true };
    for (hints, m) in [
        ("num_worker_warps 4 num_stages 1", 64),
        ("num_worker_warps 8 occupancy 2", 128),
        ("num_worker_warps 8 num_ctas 2", 128),
        ("num_worker_warps 16 num_stages 3", 256),
        ("num_worker_warps 32", 512),
    ] {
        let gemm = tile(m);
        let text = gemm.text().replace("num_worker_warps 8", hints);
        gemm.check_text(&text, 1e-4);
    }
}

/// All rows of an operand are one row in memory: the stride is 0, in tensor maps too.
#[test]
fn rows_may_be_one_row() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let (rows, columns, depth) = (136, 72, 136);
    for tma in [true, false] {
        let gemm = Gemm { types, tile: [128, 64, 64], transposed: [false, true], warps: 8, tma };
        for known in ["0", "?8"] {
            let text = gemm.text().replacen("strides [?8, 1]", &format!("strides [{known}, 1]"), 1);
            let mut rng = random(11);
            let one = numbers(&mut rng, DType::Bf16, &[1, depth]);
            let a = ArrayData { extents: vec![rows, depth], strides: vec![0, 1], ..one };
            let b = numbers(&mut rng, DType::Bf16, &[columns, depth]);
            let got =
                run(&text, [2, 2, 1], &[a.clone(), b.clone(), zeros(DType::F32, &[rows, columns])], &[]);
            assert_near(&got[2], &product(&a, &b, [false, true], [rows, columns, depth]), 1e-4);
        }
    }
}

#[test]
fn loads_go_to_shared_memory_at_once() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let gemm = Gemm { types, tile: [128, 128, 64], transposed: [false, true], warps: 8, tma: true };
    let plan = place(&program(&gemm.text()), 90).unwrap();
    let [product] = &plan.products.wgmma.values().collect::<Vec<_>>()[..] else { panic!("one product") };
    assert_eq!(
        product.atom.name(),
        "SM90::GMMA::MMA_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>"
    );
    assert!(product.sources.iter().all(|source| matches!(source, Source::Loaded(_))), "{product:?}");
    assert!(plan.products.loads.values().all(|tile| tile.produced.is_ok()), "{:?}", plan.products.loads);
    // Sums are stored in vectors after the loop, which needs one.
    assert!(plan.exchanges.len() <= 1);
}

#[test]
fn threads_load_turns_ahead_where_tensor_copies_do_not() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    let gemm = |tile| Gemm { types, tile, transposed: [false, false], warps: 8, tma: false };
    let facts = |text: &str, narrow: bool| {
        if narrow { text.replace("strides [?8, 1] align 16", "strides [?4, 1] align 8") } else { text.into() }
    };
    for (narrow, copies) in [(false, 8), (true, 16)] {
        let kernel = assembled(&facts(&gemm([128, 128, 64]).text(), narrow));
        let body = iteration(&kernel);
        let count = |what: &str| body.matches(what).count();
        assert_eq!(
            [count("cp.async.c"), count("cp.async.wait_group 1;"), count("bar.sync")],
            [copies + 1, 1, 1]
        );
        assert_eq!([count("fence.proxy.async"), count("st.shared"), count("wgmma.mma_async")], [1, 0, 4]);
        gemm([128, 64, 64]).check_text(&facts(&gemm([128, 64, 64]).text(), narrow), 1e-4);
    }
    for stages in ["num_stages 1", "num_stages 2", "num_stages 6"] {
        let gemm = gemm([128, 64, 32]);
        gemm.check_text(
            &gemm.text().replace("num_worker_warps 8", &format!("num_worker_warps 8 {stages}")),
            1e-4,
        );
    }
    // Elements of two bytes that lie anywhere wait in registers.
    let gemm = Gemm { transposed: [false, true], ..gemm([128, 64, 32]) };
    let text = gemm.text().replace("strides [?8, 1] align 16", "strides [?, 1] align 2");
    let text = text.replace("[?, ?8]", "[?, ?]");
    gemm.check_text(&text, 1e-4);
    let kernel = assembled(&text);
    assert!(iteration(&kernel).rfind("st.shared") > iteration(&kernel).rfind("wgmma.mma_async"), "{kernel}");
}

#[test]
fn tiles_without_room_beside_an_exchange_are_multiplied_in_another_way() {
    let types = [DType::F32, DType::Bf16, DType::Bf16];
    // 108 KiB of tiles and 128 KiB of sums, which are exchanged where slots were that threads have filled.
    let gemm = Gemm { types, tile: [128, 256, 144], transposed: [false, false], warps: 8, tma: true };
    let explained = girih_tile::explain::explain(&program(&gemm.text()), 90).unwrap().to_string();
    for wanted in [
        "by the threads, since the tiles take 110592 bytes of shared memory, and operations 131072 besides: 231424 are accepted",
        "prefetched 1 iteration ahead by cp.async of 16 bytes",
        "by wgmma m64n",
    ] {
        assert!(explained.contains(wanted), "{wanted}\n{explained}");
    }
    gemm.check(1e-4);
    // Two iterations of these have no room, and other ways keep what is loaded in registers.
    let error =
        compile(&program(&Gemm { tile: [128, 256, 256], ..gemm }.text()), 90).unwrap_err().to_string();
    assert!(error.contains("registers of a thread in a block of 256 threads, 232 are accepted"), "{error}");
}
