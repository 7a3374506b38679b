//! Products of matrices of all dtypes and shapes, whose factors are small integers, so that any order of sums gives the same.

use girih_tensor::DType;
use girih_tile::compile;
use girih_tile::dtype::{Const, sums};
use girih_tile::explain::explain;
use girih_tile::hints::Hint;
use girih_tile::ir::{Build, Dims, End, Func, Kind, Known, Padding, Type, Value, parse};
use girih_tile::ops::Arg;
use girih_tile::ops::memory::Tiles;
use girih_tile::ops::number::encode;
use girih_tile_reference::ArrayData;
use rand::RngExt;
use rand::rngs::StdRng;

use super::memory::param;
use crate::common::assembler::complaints;
use crate::common::differ::{Tolerance, cases, differ, random, zeros};

/// Pairs of dtypes that are multiplied.
pub(super) const PAIRS: [(DType, DType); 12] = [
    (DType::F16, DType::F16),
    (DType::Bf16, DType::Bf16),
    (DType::F32, DType::F32),
    (DType::Tf32, DType::Tf32),
    (DType::F64, DType::F64),
    (DType::E4m3, DType::E4m3),
    (DType::E4m3, DType::E5m2),
    (DType::E5m2, DType::E4m3),
    (DType::S8, DType::S8),
    (DType::S8, DType::U8),
    (DType::U8, DType::S8),
    (DType::U8, DType::U8),
];

/// A product in a kernel.
#[derive(Clone, Debug)]
struct Case {
    dtypes: [DType; 3],
    batches: Option<[u32; 2]>,
    mnk: [u32; 3],
    /// Whether A and B lie in memory with their matrices transposed.
    turned: [bool; 2],
    /// The number of tiles along K, one an iteration of a loop.
    iterations: u32,
    /// Whether A is loaded before the loop.
    around: bool,
    hints: Vec<(Hint, i64)>,
    /// Whether extents, strides and addresses are known.
    known: bool,
    padding: Padding,
}

impl Case {
    fn random(rng: &mut StdRng, pair: (DType, DType)) -> Case {
        let sums = sums(pair.0, pair.1);
        let sum = sums[rng.random_range(0..sums.len())];
        let size = |rng: &mut StdRng| match rng.random_range(0..4) {
            0 => rng.random_range(1..20),
            1 => [8, 16, 32][rng.random_range(0..3)],
            2 => [16, 32, 64][rng.random_range(0..3)],
            _ => rng.random_range(1..6) * 8,
        };
        let mut mnk = [size(rng), size(rng), size(rng)];
        let batches = match rng.random_range(0..4) {
            0 => Some([[1, 3], [2, 1], [3, 3], [4, 4]][rng.random_range(0..4)]),
            _ => None,
        };
        if batches.is_some() {
            // Of larger ones the sums do not fit into the registers of any number of warps.
            mnk = mnk.map(|n| n.min(40));
        }
        let iterations = rng.random_range(1..4);
        let mut hints = Vec::new();
        if rng.random() {
            hints.push((Hint::NumWorkerWarps, [4, 8][rng.random_range(0..2)]));
        }
        if rng.random() {
            hints.push((Hint::NumStages, rng.random_range(1..5)));
        }
        let turned = [rng.random(), rng.random()];
        let (known, around) = (rng.random_range(0..3) > 0, rng.random());
        let signed = pair.0.is_float() && pair.1.is_float() && rng.random_range(0..4) == 0;
        let padding = if signed { Padding::NegZero } else { Padding::Zero };
        Case {
            dtypes: [pair.0, pair.1, sum],
            batches,
            mnk,
            turned,
            iterations,
            around,
            hints,
            known,
            padding,
        }
    }

    /// The kernel, with arrays of small integers.
    fn program(&self, rng: &mut StdRng) -> (Func, Vec<ArrayData>) {
        let [m, n, k] = self.mnk;
        let batch = self.batches.map(|[x, y]| x.max(y));
        let mut b = Build::new("product");
        for &(hint, value) in &self.hints {
            b.hints_mut().set(None, hint, value).unwrap();
        }
        let shape = |batch: Option<u32>, rows: u32, columns: u32| -> Vec<u32> {
            batch.into_iter().chain([rows, columns]).collect()
        };
        let iteration = |mut shape: Vec<u32>, turned: bool| {
            let at = shape.len() - 2;
            if turned {
                shape.swap(at, at + 1);
            }
            shape
        };
        let of = self.batches.map_or([None, None], |list| list.map(Some));
        let tiles = [
            iteration(shape(of[0], m, k), self.turned[0]),
            iteration(shape(of[1], k, n), self.turned[1]),
            shape(batch, m, n),
        ];
        // Of what there is along K, the last tile has a part.
        let all = k * self.iterations - if k > 2 && self.iterations > 1 { k / 3 } else { 0 };
        let along = |tile: &[u32], axis: usize| {
            let mut extents: Vec<i64> = tile.iter().map(|&n| n.into()).collect();
            extents[axis] = all.into();
            extents
        };
        let rank = tiles[0].len();
        let extents = [
            if self.around {
                tiles[0].iter().map(|&n| n.into()).collect()
            } else {
                along(&tiles[0], if self.turned[0] { rank - 2 } else { rank - 1 })
            },
            along(&tiles[1], if self.turned[1] { rank - 1 } else { rank - 2 }),
            tiles[2].iter().map(|&n| n.into()).collect(),
        ];
        let mut arrays = Vec::new();
        for (i, extents) in extents.iter().enumerate() {
            let least = if self.dtypes[i] == DType::U8 { 0 } else { -2 };
            let bits = (0..extents.iter().product::<i64>())
                .map(|_| encode(self.dtypes[i], Const::Int(rng.random_range(least..3))));
            arrays.push(ArrayData::dense(self.dtypes[i], extents, &bits.collect::<Vec<_>>()));
        }
        arrays.push(zeros(self.dtypes[2], &extents[2]));
        let ids: Vec<_> = arrays
            .iter()
            .enumerate()
            .map(|(i, array)| {
                let known = |n: i64| if self.known || n == 1 { Known::Is(n) } else { Known::MultipleOf(1) };
                let extents: Vec<Known> = array.extents.iter().map(|&n| known(n)).collect();
                let strides: Vec<Known> = array.strides.iter().map(|&n| known(n)).collect();
                let align = if self.known { 16 } else { array.dtype.bits() / 8 };
                b.array(param(&format!("x{i}"), array.dtype, i == 3, &extents, &strides, align))
            })
            .collect();
        let int = |n: i64| Arg::Loose(Const::Int(n.into()));
        let load = |b: &mut Build, i: usize, step: Option<Value>| {
            let tile = &tiles[i];
            let at = tile.len() - if i < 2 && self.turned[i] == (i == 0) { 2 } else { 1 };
            let mut index = vec![int(0); tile.len()];
            if let Some(step) = step {
                index[at] = step.into();
            }
            let view = Tiles { padding: self.padding, ..Tiles::new(ids[i], Dims::new(tile).unwrap()) };
            let value = b.load(&view, &index).unwrap();
            if i < 2 && self.turned[i] {
                let mut axes: Vec<i64> = (0..tile.len() as i64).collect();
                axes.swap(tile.len() - 2, tile.len() - 1);
                return b.permute(value, &axes).unwrap();
            }
            value
        };
        let start = load(&mut b, 2, None);
        let before = self.around.then(|| load(&mut b, 0, None));
        let ty = b.ty(start);
        let number = |b: &mut Build, n: u32| b.full(DType::S32, Dims::SCALAR, Const::Int(n.into()));
        let [zero, one, stop] = [0, 1, self.iterations].map(|n| number(&mut b, n));
        let (body, args) = b.open(&[Type::scalar(DType::S32), ty]);
        let left = before.unwrap_or_else(|| load(&mut b, 0, Some(args[0])));
        let right = load(&mut b, 1, Some(args[0]));
        let sums = b.mma(left, right, args[1]).unwrap();
        b.close(End::Continue(0, vec![sums]));
        let sums = b.push_regions(Kind::For, &[zero, stop, one, start], &[ty], vec![body])[0];
        let view = Tiles::new(ids[3], ty.dims);
        b.store(&view, &vec![int(0); ty.dims.rank()], sums.into()).unwrap();
        (b.finish(), arrays)
    }
}

#[test]
fn products_of_all_dtypes_and_shapes_agree_with_the_reference() {
    let mut rng = random(15);
    for case in 0..cases(72) {
        let case = Case::random(&mut rng, PAIRS[case % PAIRS.len()]);
        let (func, arrays) = case.program(&mut rng);
        differ(&func, [1; 3], &arrays, &[], |_| Tolerance::EXACT)
            .unwrap_or_else(|error| panic!("{case:?}: {error}"));
    }
}

/// A tile of a product a block, of row-major arrays whose extents the tiles divide.
fn gemm(dtypes: [&str; 3], [m, n, k]: [u32; 3], hint: &str) -> Func {
    let [a, b, c] = dtypes;
    let text = format!(
        "kernel gemm(a: {a}[?{m}, ?{k}] strides [?{k}, 1] align 16, b: {b}[?{k}, ?{n}] strides [?{n}, 1] align 16, mut c: {c}[?{m}, ?{n}] strides [?{n}, 1] align 16) {{
{hint}  %0 = bid 0 : s32
  %1 = bid 1 : s32
  %2 = full 0 : s32
  %3 = full 1 : s32
  %4 = dim a, 1 : s32
  %5 = full {k} : s32
  %6 = cdiv %4, %5 : s32
  %7 = full 0 : {c}[{m}, {n}]
  %8 = for %2 to %6 step %3 carry %7 : {c}[{m}, {n}] {{ (%9: s32, %10: {c}[{m}, {n}])
    %11 = load a[{m}, {k}] at (%0, %9) pad 0 : {a}[{m}, {k}]
    %12 = load b[{k}, {n}] at (%9, %1) pad 0 : {b}[{k}, {n}]
    %13 = mma %11, %12, %10 : {c}[{m}, {n}]
    continue %13
  }}
  store %8 to c[{m}, {n}] at (%0, %1)
}}
"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn kernel(func: &Func, sm: u32) -> String {
    compile(func, sm).unwrap_or_else(|error| panic!("{error}\n{func}")).kernel.module().to_string()
}

#[test]
fn tensor_cores_multiply_where_they_can() {
    for (a, b) in PAIRS {
        for (sm, c) in [80, 89, 90].into_iter().flat_map(|sm| sums(a, b).iter().map(move |&c| (sm, c))) {
            let dtypes = [a, b, c].map(|dtype| dtype.to_string());
            let text = kernel(&gemm(dtypes.each_ref().map(String::as_str), [32, 32, 64], ""), sm);
            let floats = matches!(a, DType::E4m3 | DType::E5m2);
            let tensor = a != DType::F32 && (!floats || sm >= 89);
            assert_eq!(text.contains("mma.sync"), tensor, "{a} {b} {c} sm_{sm}\n{text}");
            assert_eq!(text.contains("ldmatrix"), tensor && a != DType::F64, "{a} {b} {c} sm_{sm}");
            // Of kernels that differ in the architecture or the sums alone, one is assembled.
            if sm == 89 && c == sums(a, b)[0] {
                let bad = complaints(&text, "89").unwrap_or_default();
                assert!(bad.is_empty(), "{a} {b} {c}: {bad:?}");
            }
        }
    }
}

#[test]
fn kernels_of_products_fit_into_registers() {
    let tiles = [
        (["bf16", "bf16", "f32"], [128, 128, 32]),
        (["f16", "f16", "f16"], [128, 256, 32]),
        (["f32", "f32", "f32"], [128, 128, 16]),
        (["s8", "s8", "s32"], [128, 128, 64]),
        (["f64", "f64", "f64"], [64, 64, 16]),
    ];
    for (dtypes, mnk) in tiles {
        let func = gemm(dtypes, mnk, "");
        if std::env::var_os("GIRIH_SHOW").is_some() {
            println!("{}\n{}", explain(&func, 80).unwrap(), kernel(&func, 80));
        }
        let text = kernel(&func, 80);
        // Bytes that lie along N are stored in words along K.
        assert!(!text.contains("st.shared.u8"), "{text}");
        if let Some(bad) = complaints(&text, "80") {
            assert!(bad.is_empty(), "{dtypes:?} {mnk:?}: {bad:?}\n{}", explain(&func, 80).unwrap());
        }
    }
    // What cannot fit is refused, and says what there is.
    let error =
        compile(&gemm(["bf16", "bf16", "f32"], [256, 512, 32], "  hint all num_worker_warps 4\n"), 80);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("registers of a thread in a block of 128 threads, 232 are accepted"), "{error}");
    assert!(error.contains("f32[256, 512] (1024)"), "{error}");
}

/// `(a b) c`, where the first product is clamped to what f16 has.
const CHAIN: &str = "\
kernel chain(a: f16[64, 32] strides [32, 1] align 16, b: f16[32, 48] strides [48, 1] align 16, c: f16[48, 24] strides [24, 1] align 16, mut y: f32[64, 24] strides [24, 1] align 16) {
  %0 = full 0 : s32
  %1 = load a[64, 32] at (%0, %0) : f16[64, 32]
  %2 = load b[32, 48] at (%0, %0) : f16[32, 48]
  %3 = load c[48, 24] at (%0, %0) : f16[48, 24]
  %4 = full 0 : f32[64, 48]
  %5 = mma %1, %2, %4 : f32[64, 48]
  %6 = full 4 : f32[64, 48]
  %7 = minimum %5, %6 : f32[64, 48]
  %8 = cast %7 : f16[64, 48]
  %9 = full 0 : f32[64, 24]
  %10 = mma %8, %3, %9 : f32[64, 24]
  store %10 to y[64, 24] at (%0, %0)
}
";

#[test]
fn sums_are_factors_of_the_next_product_in_registers() {
    let func = parse(CHAIN).unwrap();
    let text = explain(&func, 80).unwrap().to_string();
    assert!(text.contains("A from registers; B from shared memory"), "{text}");
    let mut rng = random(3);
    let shapes: [&[i64]; 3] = [&[64, 32], &[32, 48], &[48, 24]];
    let mut arrays: Vec<ArrayData> = shapes
        .iter()
        .map(|shape| {
            let size = shape.iter().product::<i64>();
            let bits = (0..size).map(|_| encode(DType::F16, Const::Int(rng.random_range(-2..3))));
            ArrayData::dense(DType::F16, shape, &bits.collect::<Vec<_>>())
        })
        .collect();
    arrays.push(zeros(DType::F32, &[64, 24]));
    differ(&func, [1; 3], &arrays, &[], |_| Tolerance::EXACT).unwrap();
}
