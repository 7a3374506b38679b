//! `triton_kernels.py`. A file's first line says what shared memory a launch needs; the last two arguments of each kernel
//! are addresses of scratch memory.

use girih_ptx::{TensorElement, TensorSwizzle, Tiled};
use half::f16;

use super::blocks::sums;
use super::manifest::{Case, STUCK, UNORDERED};
use super::setup::{Buffer, Check, Plain, Setup, equal, fractions, near, same, whole};

const RACE: &[&str] = &["race"];
/// The copy of a finished map, and the same without a release.
const MAP_COPY: &str = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
                        [ %rd4 + 0 ], [ %rd1 + 0 ], 0x80;";
const PLAIN_COPY: &str = "bar.warp.sync -1; @%p1 ld.shared.b32 %r41, [%r1]; @%p1 cvt.u64.u32 %rd10, %r25; @%p1 add.s64 %rd10, %rd10, %rd4; \
                          @%p1 st.global.b32 [%rd10], %r41; @%p1 bar.warp.sync -1;";
const OTHER_MAP: &str = "fence.proxy.tensormap::generic.acquire.gpu [ %rd8 + 128 ]";
const OVERRUN: &[&str] = &["out-of-bounds"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("triton_attention", |s| attention(s, false)).broken("unmasked", OVERRUN).patched(
            "no_wait",
            ("cp.async.wait_group", 0, "//"),
            UNORDERED,
        ),
        Case::new("triton_attention_causal", |s| attention(s, true)).but("copy-unfenced"),
        Case::new("triton_tma_matmul", tma_matmul)
            .but("mbarrier-unfenced")
            .patched("no_wait", ("@!complete bra.uni waitLoop;", 0, ""), UNORDERED)
            .patched(
                "no_wgmma_wait",
                ("wgmma.wait_group.sync.aligned", 0, "//"),
                &["wgmma-in-flight", "race", "in-flight"],
            )
            .patched("no_store_fence", ("fence.proxy.async", 0, "//"), &["unfenced", "race"]),
        Case::new("triton_tma_copy", tma_copy)
            .but("mbarrier-unfenced")
            .patched("no_wait", ("@!complete bra.uni waitLoop;", 0, ""), UNORDERED)
            .patched("more_bytes", ("[%r1], 4096;", 0, "[%r1], 4112;"), STUCK)
            .patched("no_fence", ("fence.proxy.async", 0, "//"), &["unfenced"])
            .patched("no_store_wait", ("cp.async.bulk.wait_group", 0, "//"), &["unfinished"])
            .patched("no_barrier", ("bar.sync \t0;", 5, ""), &["race", "unfenced"]),
        Case::new("triton_made_descriptor", made_descriptor)
            .patched("no_acquire", ("@%p1 fence.proxy.tensormap", 0, "//"), &["tensor-map-unfenced"])
            .patched(
                "other_map",
                ("fence.proxy.tensormap::generic.acquire.gpu [ %rd4 + 0 ]", 0, OTHER_MAP),
                &["tensor-map-unfenced"],
            )
            .patched("no_release", (MAP_COPY, 0, PLAIN_COPY), &["tensor-map-unfenced"])
            .patched("narrow_box", ("0x1, %r3;", 0, "0x1, 300;"), &["tensor-map"])
            .patched("odd_stride", ("mul.wide.s32 \t%rd3, %r4, 4;", 0, "mov.b64 %rd3, 40;"), &["tensor-map"])
            .patched("no_rank", ("@%p2 tensormap.replace.tile.rank", 0, "//"), &["bad-value", "tensor-map"])
            .patched("no_box", ("mbarrier.arrive.expect_tx.shared.b64 _, [%r7], 2048", 0, "//"), STUCK),
        Case::new("triton_lookback", lookback)
            .broken("relaxed", RACE)
            .broken("block_scope", RACE)
            .broken("flag_first", RACE),
        Case::new("triton_split_k", split_k).broken("unlocked", RACE),
        Case::new("triton_softmax", softmax).broken("unmasked", OVERRUN).patched(
            "no_barrier",
            ("bar.sync", 0, "//"),
            UNORDERED,
        ),
        Case::new("triton_transposed", transposed).patched("no_barrier", ("bar.sync", 0, "//"), UNORDERED),
        Case::new("triton_sorted", sorted),
        Case::new("triton_counted", counted).broken("plain", RACE),
        Case::new("triton_updated", |s| updated(s, 1)).but("discarded-race").patched(
            "all_store",
            ("@%p1 st.global", 0, "st.global"),
            RACE,
        ),
        Case::misused("triton_updated", "two programs", RACE, |s| updated(s, 2)),
        Case::new("triton_dropped", dropped).broken("unguarded", OVERRUN),
        Case::new("triton_gathered", |s| gathered(s, 0)),
        Case::misused("triton_gathered", "index_too_large", OVERRUN, |s| gathered(s, 1)),
        Case::new("triton_matmul", |s| matmul(s, 32))
            .patched("no_wait", ("cp.async.wait_group", 0, "//"), UNORDERED)
            .patched("no_barrier", ("bar.sync", 1, "//"), UNORDERED),
        Case::new("triton_wgmma", |s| matmul(s, 64)).but("copy-unfenced").patched(
            "no_wgmma_wait",
            ("wgmma.wait_group.sync.aligned", 0, "//"),
            &["wgmma-in-flight", "race", "in-flight"],
        ),
    ]
}

/// 128 threads a block, and the shared memory that the file asks for.
fn shape(s: &mut Setup, file: &str, grid: [u32; 2]) {
    (s.launch.grid, s.launch.block) = ([grid[0], grid[1], 1], [128, 1, 1]);
    let text = super::text(file);
    let first = text.lines().next().and_then(|line| line.strip_prefix("// dynamic shared memory "));
    s.launch.dynamic_shared = first.unwrap().parse().unwrap();
}

fn scratch(s: &mut Setup) {
    s.arg(0u64).arg(0u64);
}

fn halves(count: usize, salt: u32) -> Vec<f16> {
    fractions(count, salt).into_iter().map(f16::from_f32).collect()
}

/// Small whole numbers, whose products and sums are exact.
fn small(count: usize, salt: u32) -> Vec<f16> {
    whole(count, 9, salt).into_iter().map(|x| f16::from_f32(x as f32 - 4.0)).collect()
}

fn doubled<T: Copy + Into<f32>>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x.into())).collect()
}

fn attention(s: &mut Setup, causal: bool) -> Check {
    let (length, d, heads) = (100, 64, 2);
    let [q, k, v] = [1, 2, 3].map(|salt| halves(heads * length * d, salt));
    shape(s, if causal { "triton_attention_causal" } else { "triton_attention" }, [2, 2]);
    s.buffer(&q);
    s.buffer(&k);
    s.buffer(&v);
    let out = s.output::<f16>(q.len());
    let scale = 0.4f32;
    s.arg(scale).arg(length as i32);
    scratch(s);
    let [q, k, v] = [q, k, v].map(|x| doubled(&x));
    let mut want = Vec::new();
    for row in 0..heads * length {
        let (head, i) = (row / length * length, row % length);
        let dot = |j: usize| (0..d).map(|x| q[row * d + x] * k[(head + j) * d + x]).sum::<f64>();
        let end = if causal { i + 1 } else { length };
        let weights: Vec<f64> = (0..end).map(|j| (dot(j) * f64::from(scale)).exp2()).collect();
        let total: f64 = weights.iter().sum();
        want.extend((0..d).map(|x| {
            weights.iter().enumerate().map(|(j, w)| w * v[(head + j) * d + x]).sum::<f64>() / total
        }));
    }
    near::<f16>(out, want, 3e-3)
}

/// A map of rows x columns with boxes of such a size, and the rest of a descriptor as Triton passes it.
fn descriptor(s: &mut Setup, data: u64, element: TensorElement, size: [usize; 2], tile: [u32; 2]) {
    let [rows, columns] = size;
    let tiled = Tiled::new(element, &[columns as u64, rows as u64], &[tile[1], tile[0]]);
    let map = tiled.with_swizzle(TensorSwizzle::B128).at(data).unwrap();
    s.launch.args.push(map.to_bytes().to_vec());
    s.arg(rows as i32).arg(columns as i32).arg(columns as i64).arg(1i64);
}

/// A buffer that is no argument.
fn hidden<T: Plain>(s: &mut Setup, values: &[T]) -> Buffer {
    let buffer = s.buffer(values);
    s.launch.args.pop();
    buffer
}

fn product(a: &[f16], b: &[f16], [m, n, k]: [usize; 3]) -> Vec<f16> {
    let (a, b) = (doubled(a), doubled(b));
    let one = |i: usize, j: usize| (0..k).map(|x| a[i * k + x] * b[j * k + x]).sum::<f64>();
    (0..m * n).map(|at| f16::from_f64(one(at / n, at % n))).collect()
}

fn tma_matmul(s: &mut Setup) -> Check {
    let [m, n, k] = [128, 64, 320];
    let (a, b) = (small(m * k, 4), small(n * k, 5));
    shape(s, "triton_tma_matmul", [2, 1]);
    let (pa, pb, pc) = (hidden(s, &a), hidden(s, &b), hidden(s, &vec![f16::NAN; m * n]));
    for (data, size) in [(pa, [m, k]), (pb, [n, k]), (pc, [m, n])] {
        descriptor(s, data.0, TensorElement::F16, size, [64, 64]);
    }
    s.arg(k as i32);
    scratch(s);
    same(pc, product(&a, &b, [m, n, k]))
}

fn tma_copy(s: &mut Setup) -> Check {
    let (rows, columns) = (50, 64);
    let x = fractions(rows * columns, 6);
    shape(s, "triton_tma_copy", [2, 2]);
    let (from, to) = (hidden(s, &x), hidden(s, &vec![f32::NAN; x.len()]));
    descriptor(s, from.0, TensorElement::F32, [rows, columns], [32, 32]);
    descriptor(s, to.0, TensorElement::F32, [rows, columns], [32, 32]);
    scratch(s);
    same(to, x.iter().map(|x| x + 1.0).collect())
}

fn made_descriptor(s: &mut Setup) -> Check {
    let x = fractions(32 * 32, 7);
    shape(s, "triton_made_descriptor", [2, 1]);
    s.buffer(&x);
    let out = s.output::<f32>(x.len());
    s.arg(32).arg(32);
    // 128 bytes a block.
    s.output::<u8>(256);
    s.arg(0u64);
    same(out, x.iter().map(|x| 2.0 * x).collect())
}

fn lookback(s: &mut Setup) -> Check {
    let blocks = 5;
    let x = whole(blocks * 256, 100, 8);
    shape(s, "triton_lookback", [blocks as u32, 1]);
    s.buffer(&x);
    let out = s.output::<i32>(x.len());
    s.output::<i32>(blocks);
    s.buffer(&vec![0; blocks]);
    scratch(s);
    same(out, sums(&x))
}

fn split_k(s: &mut Setup) -> Check {
    let k = 128;
    let (a, b) = (small(32 * k, 9), small(32 * k, 10));
    shape(s, "triton_split_k", [4, 1]);
    s.buffer(&a);
    s.buffer(&b);
    let out = s.buffer(&vec![0f32; 32 * 32]);
    s.buffer(&[0]);
    s.arg(k as i32);
    scratch(s);
    same(out, product(&a, &b, [32, 32, k]).into_iter().map(f32::from).collect())
}

fn softmax(s: &mut Setup) -> Check {
    let columns = 300;
    let x = fractions(2 * columns, 11);
    shape(s, "triton_softmax", [2, 1]);
    let out = s.output::<f32>(x.len());
    s.buffer(&x);
    s.arg(columns as i32).arg(columns as i32);
    scratch(s);
    let rows = x.chunks(columns).flat_map(|row| {
        let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
        row.iter().map(move |&x| f64::from(x).exp() / sum)
    });
    near::<f32>(out, rows.collect(), 1e-5)
}

fn transposed(s: &mut Setup) -> Check {
    let (m, n) = (64, 32);
    let x = whole(m * n, 1000, 12);
    shape(s, "triton_transposed", [2, 1]);
    s.buffer(&x);
    let out = s.output::<i32>(x.len());
    s.arg(m as i32).arg(n as i32);
    scratch(s);
    same(out, (0..m * n).map(|i| x[i % m * n + i / m]).collect())
}

fn sorted(s: &mut Setup) -> Check {
    let mut x = whole(256, 1000, 13);
    shape(s, "triton_sorted", [2, 1]);
    s.buffer(&x);
    let out = s.output::<i32>(256);
    scratch(s);
    x.chunks_mut(128).for_each(<[i32]>::sort);
    same(out, x)
}

fn counted(s: &mut Setup) -> Check {
    let x = whole(1000, 64, 14);
    shape(s, "triton_counted", [4, 1]);
    s.buffer(&x);
    let bins = s.buffer(&[0; 64]);
    s.arg(1000);
    scratch(s);
    same(bins, (0..64).map(|bin| x.iter().filter(|&&x| x == bin).count() as i32).collect())
}

fn updated(s: &mut Setup, programs: u32) -> Check {
    let x = whole(64, 1000, 15);
    shape(s, "triton_updated", [programs, 1]);
    let buffer = s.buffer(&x);
    scratch(s);
    same(buffer, x.iter().map(|x| 2 * x + 1).collect())
}

/// Each element is doubled or nothing, about half of each.
fn dropped(s: &mut Setup) -> Check {
    let x: Vec<f32> = (1..=700).map(|x| x as f32).collect();
    shape(s, "triton_dropped", [3, 1]);
    s.buffer(&x);
    let out = s.output::<f32>(x.len());
    s.arg(700).arg(17);
    scratch(s);
    Box::new(move |setup| {
        let out = setup.read::<f32>(out);
        let kept = out.iter().filter(|&&y| y != 0.0).count();
        let allowed = |(x, y): (&f32, &f32)| *y == 0.0 || *y == 2.0 * x;
        equal(&[x.iter().zip(&out).all(allowed), (250..450).contains(&kept)], &[true, true])
    })
}

fn gathered(s: &mut Setup, beyond: i32) -> Check {
    let x = whole(300, 1000, 15);
    let mut index = whole(500, 300, 16);
    index[250] = 299 + beyond;
    shape(s, "triton_gathered", [2, 1]);
    s.buffer(&x);
    s.buffer(&index);
    let out = s.output::<i32>(500);
    s.arg(500);
    scratch(s);
    same(out, index.iter().map(|&i| x.get(i as usize).copied().unwrap_or(0)).collect())
}

fn matmul(s: &mut Setup, tile: usize) -> Check {
    let [m, n, k] = [tile * 2, tile, 128];
    let numbers = |count, salt| -> Vec<f32> { small(count, salt).into_iter().map(f32::from).collect() };
    let (a, b) = (numbers(m * k, 17), numbers(k * n, 18));
    let bits =
        |x: &[f32]| -> Vec<u8> { x.iter().flat_map(|x| half::bf16::from_f32(*x).to_le_bytes()).collect() };
    shape(s, if tile == 32 { "triton_matmul" } else { "triton_wgmma" }, [2, 1]);
    s.buffer(&bits(&a));
    s.buffer(&bits(&b));
    let out = s.output::<f32>(m * n);
    s.arg(m as i32).arg(n as i32).arg(k as i32);
    scratch(s);
    let one = |i: usize, j: usize| (0..k).map(|x| a[i * k + x] * b[x * n + j]).sum::<f32>();
    same(out, (0..m * n).map(|at| one(at / n, at % n)).collect())
}
