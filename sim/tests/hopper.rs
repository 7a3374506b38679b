//! Kernels written by hand for Hopper hardware: the simulator runs them with every check on.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, u32_arg, u64_arg, upload};
use girih_ptx::{Module, TensorElement, TensorSwizzle, Tiled};
use girih_sim::{Launch, Memory, Options, Program, run};
use half::bf16;

const PROBE: &str = include_str!("ptx/hopper-probe.ptx");

fn program(text: &str) -> Program {
    Program::load(&Module::parse(text).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

fn launch(grid: u32, block: u32, shared: u32, args: Vec<Vec<u8>>) -> Launch {
    Launch { grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared: shared, args, ..Launch::default() }
}

/// Memory with the operands of a launch, and the contents that it must have afterwards.
type Prepared = (Memory, Launch, Box<dyn Fn(&Memory)>);

/// Runs a kernel with every check on, with several seeds.
fn check(text: &str, kernel: &str, mut prepare: impl FnMut() -> Prepared) {
    let program = program(text);
    for seed in 0..4 {
        let (memory, launch, verify) = prepare();
        let options = Options { seed, ..Options::checked() };
        run(program.kernel(kernel).unwrap(), &memory, &launch, &options)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        verify(&memory);
    }
}

/// A row-major matrix of small whole numbers.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<i32>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, seed: usize) -> Matrix {
        let value = |i: usize| (i.wrapping_mul(0x9e37_79b9).wrapping_add(seed * 77) >> 7) as i32 % 9 - 4;
        Matrix { rows, columns, values: (0..rows * columns).map(value).collect() }
    }

    fn at(&self, row: usize, column: usize) -> i32 {
        self.values[row * self.columns + column]
    }

    /// In memory as bf16.
    fn upload(&self, memory: &Memory) -> u64 {
        let bytes: Vec<u8> =
            self.values.iter().flat_map(|&x| bf16::from_f32(x as f32).to_bits().to_le_bytes()).collect();
        let address = memory.alloc(bytes.len()).unwrap();
        memory.write(address, &bytes).unwrap();
        address
    }

    /// A map of it in memory, with the 128-byte swizzle.
    fn map(&self, address: u64, box_columns: u32, box_rows: u32) -> Vec<u8> {
        let dims = [self.columns as u64, self.rows as u64];
        let tiled = Tiled::new(TensorElement::Bf16, &dims, &[box_columns, box_rows]);
        tiled.with_swizzle(TensorSwizzle::B128).at(address).unwrap().to_bytes().into()
    }

    /// This times the other's transpose.
    fn times(&self, other: &Matrix) -> Vec<f32> {
        let product =
            |i: usize, j: usize| (0..self.columns).map(|k| self.at(i, k) * other.at(j, k)).sum::<i32>();
        (0..self.rows).flat_map(|i| (0..other.rows).map(move |j| product(i, j) as f32)).collect()
    }
}

fn bf16s(memory: &Memory, address: u64, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; count * 2];
    memory.read(address, &mut bytes).unwrap();
    bytes.chunks_exact(2).map(|b| bf16::from_bits(u16::from_le_bytes([b[0], b[1]])).to_f32()).collect()
}

/// Memory of which nothing is a number.
fn poisoned(memory: &Memory, bytes: usize) -> u64 {
    let address = memory.alloc(bytes).unwrap();
    memory.fill(address, 0xff, bytes).unwrap();
    address
}

#[track_caller]
fn same(found: &[f32], wanted: &[f32], columns: usize) {
    assert_eq!(found.len(), wanted.len());
    if let Some(at) = (0..found.len()).find(|&i| found[i] != wanted[i]) {
        let wrong = (0..found.len()).filter(|&i| found[i] != wanted[i]).count();
        panic!(
            "row {}, column {}: {} instead of {}; {wrong} wrong",
            at / columns,
            at % columns,
            found[at],
            wanted[at]
        );
    }
}

#[test]
fn vectors_are_added() {
    for kernel in ["vadd", "vadd_pdl"] {
        check(PROBE, kernel, || {
            let memory = Memory::new();
            let [x, y]: [Vec<u32>; 2] =
                [1, 7].map(|step| (0..1000).map(|i| (i as f32 * step as f32).to_bits()).collect());
            let (x, y, out) =
                (upload(&memory, &x), upload(&memory, &y), upload(&memory, &vec![u32::MAX; 1000]));
            let args = vec![u64_arg(out), u64_arg(x), u64_arg(y), u32_arg(1000)];
            let verify = move |memory: &Memory| {
                for (i, bits) in download(memory, out, 1000).into_iter().enumerate() {
                    assert_eq!(f32::from_bits(bits), i as f32 * 8.0);
                }
            };
            (memory, launch(8, 128, 0, args), Box::new(verify))
        });
    }
}

#[test]
fn sixteen_bytes_are_copied() {
    check(PROBE, "copy16", || {
        let memory = Memory::new();
        let words: Vec<u32> = (0..3 * 4096).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
        let (from, to) = (upload(&memory, &words), upload(&memory, &vec![0; words.len()]));
        let verify = move |memory: &Memory| assert_eq!(download(memory, to, words.len()), words);
        (memory, launch(3, 256, 0, vec![u64_arg(to), u64_arg(from)]), Box::new(verify))
    });
}

#[test]
fn clusters_read_each_others_shared_memory() {
    for kernel in ["clus", "clus_req"] {
        check(PROBE, kernel, || {
            let memory = Memory::new();
            let out = upload(&memory, &[0; 8 * 128]);
            let config = launch(8, 128, 102_400 + 512, vec![u64_arg(out)]);
            let config = Launch { cluster: Some([2, 1, 1]), ..config };
            let verify = move |memory: &Memory| {
                for (i, found) in download(memory, out, 8 * 128).into_iter().enumerate() {
                    let (block, thread) = (i as u32 / 128, i as u32 % 128);
                    assert_eq!(found, 2_000_000 + (block ^ 1) * 1000 + thread);
                }
            };
            (memory, config, Box::new(verify))
        });
    }
}

/// Every swizzle, inside and on all sides of a ragged tensor: what the box of 8 KiB looks like in shared memory.
#[test]
fn boxes_arrive_swizzled_and_filled() {
    let swizzles = [
        (TensorSwizzle::None, 64),
        (TensorSwizzle::B32, 16),
        (TensorSwizzle::B64, 32),
        (TensorSwizzle::B128, 64),
    ];
    for (swizzle, columns) in swizzles {
        for start in [[0, 0], [8, 3], [-16, -5], [64, 100], [-128, -1], [1000, 0]] {
            check(PROBE, "tma_dump", || {
                let memory = Memory::new();
                let (width, height) = (88usize, 130usize);
                let words: Vec<u32> =
                    (0..(width * height / 2) as u32).map(|i| (2 * i) | ((2 * i + 1) << 16)).collect();
                let (tensor, out) = (upload(&memory, &words), upload(&memory, &[0; 2048]));
                let tiled = Tiled::new(
                    TensorElement::U16,
                    &[width as u64, height as u64],
                    &[columns, 4096 / columns],
                );
                let map = tiled.with_swizzle(swizzle).at(tensor).unwrap();
                let [x, y] = start;
                let args = vec![map.to_bytes().into(), u64_arg(out), u32_arg(x as u32), u32_arg(y as u32)];
                let verify = move |memory: &Memory| {
                    let found = download(memory, out, 2048);
                    for i in 0..4096usize {
                        let (column, row) = (i % columns as usize, i / columns as usize);
                        let (cx, cy) = (x as i64 + column as i64, y as i64 + row as i64);
                        let inside = (0..width as i64).contains(&cx) && (0..height as i64).contains(&cy);
                        let wanted = if inside { (cy * width as i64 + cx) as u16 } else { 0 };
                        // The shared address of the box is a multiple of 1024.
                        let byte = 2 * i;
                        let mask = match swizzle {
                            TensorSwizzle::None => 0,
                            _ => columns as usize / 8 - 1,
                        };
                        let at = byte ^ (byte >> 7 & mask) << 4;
                        assert_eq!(
                            (found[at / 4] >> (8 * (at % 4))) as u16,
                            wanted,
                            "{swizzle:?} {start:?} {i}"
                        );
                    }
                };
                (memory, launch(1, 128, 8192 + 8, args), Box::new(verify))
            });
        }
    }
}

/// 64 x 256 x 64 with B by rows of N (`wg_k`) and by rows of K (`wg_mn`).
#[test]
fn a_warpgroup_multiplies() {
    for kernel in ["wg_k", "wg_mn"] {
        check(PROBE, kernel, || {
            let memory = Memory::new();
            let (a, b) = (Matrix::new(64, 64, 1), Matrix::new(256, 64, 2));
            let wanted = a.times(&b);
            let b = match kernel {
                "wg_k" => b,
                _ => {
                    let values = (0..64 * 256).map(|i| b.at(i % 256, i / 256)).collect();
                    Matrix { rows: 64, columns: 256, values }
                }
            };
            let out = poisoned(&memory, 64 * 256 * 4);
            let (pa, pb) = (a.upload(&memory), b.upload(&memory));
            let box_rows = if kernel == "wg_k" { 256 } else { 64 };
            let args = vec![a.map(pa, 64, 64), b.map(pb, 64, box_rows), u64_arg(out)];
            let verify = move |memory: &Memory| {
                let found: Vec<f32> =
                    download(memory, out, 64 * 256).into_iter().map(f32::from_bits).collect();
                same(&found, &wanted, 256);
            };
            (memory, launch(1, 128, 40_960 + 8, args), Box::new(verify))
        });
    }
}

/// Arguments of `gemm` of the probe for 256 x 512 x 256: its blocks come in groups of 16 tiles along M.
fn probe_gemm() -> Prepared {
    let memory = Memory::new();
    let (a, b) = (Matrix::new(256, 256, 3), Matrix::new(512, 256, 4));
    let wanted: Vec<f32> = a.times(&b).into_iter().map(|x| bf16::from_f32(x).to_f32()).collect();
    let (pa, pb, pc) = (a.upload(&memory), b.upload(&memory), poisoned(&memory, 256 * 512 * 2));
    let c = Matrix { rows: 256, columns: 512, values: Vec::new() };
    let args = vec![a.map(pa, 64, 128), b.map(pb, 64, 256), c.map(pc, 64, 64), u32_arg(4), u32_arg(2)];
    let verify = move |memory: &Memory| same(&bf16s(memory, pc, 256 * 512), &wanted, 512);
    (memory, launch(18, 384, 196_608 + 64, args), Box::new(verify))
}

#[test]
fn the_specialised_gemm_is_right() {
    check(PROBE, "gemm", probe_gemm);
}

/// Without checks, with several threads, and with everything counted.
#[test]
fn the_specialised_gemm_is_right_whatever_is_looked_at() {
    let program = program(PROBE);
    let kernel = program.kernel("gemm").unwrap();
    let options = [
        Options::default(),
        Options { threads: Some(2), seed: 9, ..Options::default() },
        Options { counts: true, ..Options::default() },
        Options { uninitialised: true, ..Options::default() },
    ];
    for options in options {
        let (memory, launch, verify) = probe_gemm();
        let report = run(kernel, &memory, &launch, &options).unwrap();
        verify(&memory);
        // 18 blocks of 8 consumer warps, 4 steps of 4 products each.
        assert_eq!((report.blocks, report.wgmma), (18, 18 * 8 * 4 * 4));
    }
}

/// A persistent kernel with this tile: two blocks walk the tiles of a ragged problem.
fn persistent(text: &str, tile: [usize; 2], size: [usize; 3], grid: u32, shared: u32) {
    let [m, n, k] = size;
    check(text, "gemm", || {
        let memory = Memory::new();
        let (a, b) = (Matrix::new(m, k, 5), Matrix::new(n, k, 6));
        let wanted: Vec<f32> = a.times(&b).into_iter().map(|x| bf16::from_f32(x).to_f32()).collect();
        let (pa, pb, pc) = (a.upload(&memory), b.upload(&memory), poisoned(&memory, m * n * 2));
        let c = Matrix { rows: m, columns: n, values: Vec::new() };
        let (tiles_m, tiles_n) = (m.div_ceil(tile[0]), n.div_ceil(tile[1]));
        let order: Vec<u32> =
            (0..tiles_m * tiles_n).map(|i| (i % tiles_m) as u32 | ((i / tiles_m) as u32) << 16).collect();
        let args = vec![
            a.map(pa, 64, tile[0] as u32),
            b.map(pb, 64, tile[1] as u32),
            c.map(pc, 64, 64),
            u64_arg(upload(&memory, &order)),
            u32_arg(k.div_ceil(64) as u32),
            u32_arg(order.len() as u32),
        ];
        let verify = move |memory: &Memory| same(&bf16s(memory, pc, m * n), &wanted, n);
        (memory, launch(grid, 384, shared, args), Box::new(verify))
    });
}

#[test]
fn persistent_gemm_128x256() {
    persistent(include_str!("ptx/best-128x256.ptx"), [128, 256], [200, 328, 328], 2, 213_056);
}

#[test]
fn persistent_gemm_256x192() {
    persistent(include_str!("ptx/best-256x192.ptx"), [256, 192], [300, 200, 264], 2, 221_248);
}

#[test]
fn single_wave_gemm() {
    let text = include_str!("ptx/best-single-wave-128x256s4.ptx");
    persistent(text, [128, 256], [136, 264, 392], 4, 229_456);
}

/// `out[token][w] = X[token] . W[w]` with the weights as the rows of `wgmma`.
fn few_tokens(text: &str, rows: usize, blocks: usize, block: u32, shared: u32) {
    let (n, k, tokens) = (256, 1024, 11);
    check(text, "gemm", || {
        let memory = Memory::new();
        let (w, x) = (Matrix::new(n, k, 8), Matrix::new(tokens, k, 9));
        let wanted: Vec<f32> = x.times(&w).into_iter().map(|x| bf16::from_f32(x).to_f32()).collect();
        let (pw, px, out) = (w.upload(&memory), x.upload(&memory), poisoned(&memory, tokens * n * 2));
        let args = vec![
            w.map(pw, 64, rows as u32),
            x.map(px, 64, 16),
            u64_arg(out),
            u32_arg((k / 128 / blocks) as u32),
            u32_arg(n as u32),
            u32_arg(tokens as u32),
        ];
        let verify = move |memory: &Memory| same(&bf16s(memory, out, tokens * n), &wanted, n);
        (memory, launch((n / rows * blocks) as u32, block, shared, args), Box::new(verify))
    });
}

#[test]
fn few_tokens_gemm() {
    few_tokens(include_str!("ptx/best-small-m.ptx"), 128, 1, 288, 192_608);
}

/// Two blocks of a cluster share K and add through distributed shared memory.
#[test]
fn few_tokens_split_k() {
    few_tokens(include_str!("ptx/best-small-m-splitk.ptx"), 64, 2, 160, 209_072);
}
