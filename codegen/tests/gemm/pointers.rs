//! Products whose matrices lie at addresses that stand in memory, by every schedule, on the simulator with every check on.

use girih_codegen::Slot;
use girih_codegen::gemm::{
    Arguments, Batch, Epilogue, GemmConfig, GemmKernel, Input, Major, Output, Reduction, Schedule, Store,
    generate,
};
use girih_layout::lay;
use girih_sim::{Memory, Options};
use girih_tensor::DType;

use super::batches::{Matrices, dot, encode, number, rows};
use super::configs::{simt, sm80};
use crate::simulator::{blocks, bytes, download, run, upload};
use crate::warp_specialized::config as wgmma;

/// The elements before each C, which must stay as they are.
const GUARD: i64 = 16;
/// The elements between the vectors of products.
const APART: i64 = 160;

/// How a matrix of A, of B, of C, or one that lies like C, lies, with pitches that are multiples of `unit`.
fn lying(config: &GemmConfig, [m, n, k]: [i64; 3], unit: i64) -> [Matrices; 4] {
    let [a, b] = config.majors().map(|major| usize::from(major == Major::K));
    let c = usize::from(config.c_major == Major::K);
    [([m, k], a), ([n, k], b), ([m, n], c), ([m, n], c)].map(|(extents, contiguous)| {
        let pitch = (extents[contiguous] + unit - 1) / unit * unit + unit;
        Matrices { extents, contiguous, pitch, stride: 0 }
    })
}

/// The number at a place of an operand's matrix of product `l`.
fn element(operand: usize, at: i64, l: i64) -> f64 {
    number(operand, at + 3 * l)
}

/// Matrices in memory, each in an allocation of its own, so that nothing beyond any of them is read or written.
struct Placed {
    memory: Memory,
    /// The addresses of A, B, C and x of each product.
    all: [Vec<u64>; 4],
    /// The elements before a matrix in its allocation.
    before: [i64; 4],
    /// What the epilogue sums up of each product, in f32.
    sums: u64,
}

impl Placed {
    /// `count` products' matrices, each `before` elements after the begin of an allocation. The first two products have one B.
    fn new(config: &GemmConfig, all: &[Matrices; 4], count: i64, before: [i64; 4]) -> Placed {
        let (memory, types) = (Memory::new(), types(config));
        let place = |i: usize, l: i64| {
            let of = |at: i64| if i == 2 { f64::NAN } else { element(i, at - before[i], l) };
            let bytes: Vec<u8> =
                (0..before[i] + all[i].len(1)).flat_map(|at| encode(types[i], of(at))).collect();
            upload(&memory, &bytes) + before[i] as u64 * u64::from(types[i].bits() / 8)
        };
        let mut all = [0, 1, 2, 3].map(|i| (0..count).map(|l| place(i, l)).collect::<Vec<_>>());
        if let [first, second, ..] = &mut all[1][..] {
            *second = *first;
        }
        let sums = upload(&memory, &vec![0xff; (count * APART * 4) as usize]);
        Placed { memory, all, before, sums }
    }

    /// Where an array of the addresses of an operand's matrices stands.
    fn array(&self, operand: usize) -> u64 {
        let bytes: Vec<u8> = self.all[operand].iter().flat_map(|address| address.to_le_bytes()).collect();
        upload(&self.memory, &bytes)
    }
}

fn types(config: &GemmConfig) -> [DType; 4] {
    [config.atom().a_type, config.atom().b_type, config.c_type, DType::Bf16]
}

fn launch(kernel: &GemmKernel, placed: &Placed, mnk: [i64; 3], all: &[Matrices; 4]) -> girih_sim::Launch {
    let ([m, n, _], l, memory) = (mnk, placed.all[0].len() as i64, &placed.memory);
    let order: Vec<u8> = kernel.order(m, n).unwrap().concat().iter().flat_map(|x| x.to_le_bytes()).collect();
    let pieces = kernel.pieces(mnk, l, 3).unwrap();
    let left = kernel.workspace([m, n, l]).unwrap();
    let left = pieces.as_ref().map_or(left, |pieces| pieces.workspace());
    let pieces: Vec<u8> =
        pieces.iter().flat_map(|pieces| pieces.table()).flat_map(u32::to_le_bytes).collect();
    let reductions = kernel.reductions([m, n, l]).unwrap();
    let filled = |byte: u8, count: u64| upload(memory, &vec![byte; count as usize]);
    let row = |l: i64| move |at: i64| encode(DType::Bf16, element(4, at, l));
    let rows: Vec<u8> = (0..l).flat_map(|l| (0..APART).flat_map(row(l))).collect();
    let pitches = [0, 1, 2].map(|i| all[i].pitch);
    let arguments = Arguments { mnk, pitches, products: l, ..Arguments::default() };
    let args = bytes(&kernel.params, &arguments, |slot| match slot {
        Slot::Memory("a") => placed.array(0),
        Slot::Memory("b") => placed.array(1),
        Slot::Memory("c") => placed.array(2),
        Slot::Memory("x") => placed.array(3),
        Slot::Memory("order") => upload(memory, &order),
        Slot::Memory("pieces") => upload(memory, &pieces),
        Slot::Memory("workspace") => filled(0xff, left[0]),
        Slot::Memory("semaphores") => filled(0, left[1]),
        Slot::Memory(name) if name.starts_with("partials_") => filled(0xff, reductions[0][0]),
        Slot::Memory(name) if name.starts_with("arrivals_") => filled(0, reductions[0][1]),
        Slot::Memory(name) if kernel.inputs.iter().any(|input| input.name == name) => upload(memory, &rows),
        Slot::Memory(_) => placed.sums,
        Slot::Pitch(_) => all[3].pitch as u64,
        Slot::Step(_) => APART as u64,
    });
    let grid = kernel.blocks([m, n, l], 3).unwrap();
    blocks(grid.into(), kernel.kernel.threads(), kernel.kernel.shared_bytes(), args)
}

/// Runs a batch of products, and compares every byte of each C, those before it, and what the epilogue sums up of its columns.
fn verify(config: &GemmConfig, epilogue: &Epilogue, mnk: [i64; 3], count: i64, unit: i64) {
    let kernel = &generate(config, epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let ([m, n, k], all) = (mnk, lying(config, mnk, unit));
    let placed = Placed::new(config, &all, count, [unit, 0, GUARD, unit]);
    let options = Options { seed: 3, ..Options::checked() };
    let launch = launch(kernel, &placed, mnk, &all);
    run(kernel.kernel.module(), &placed.memory, &launch, &options)
        .unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let added = |x, y, l| {
        let value = |input: &Input| match input.name.as_str() {
            "x" => element(3, all[3].at(x, y, 0), l),
            _ => element(4, y, l),
        };
        kernel.inputs.iter().map(value).sum::<f64>()
    };
    for l in 0..count {
        let (mut expected, mut sums) =
            (vec![f64::NAN; (GUARD + all[2].len(1)) as usize], vec![0.0; n as usize]);
        let of_b = if l == 1 { 0 } else { l };
        let a = rows([m, k], |x, k| element(0, all[0].at(x, k, 0), l));
        let b = rows([n, k], |y, k| element(1, all[1].at(y, k, 0), of_b));
        for (x, y) in (0..m).flat_map(|x| (0..n).map(move |y| (x, y))) {
            let value = dot(&a[x as usize], &b[y as usize]) + added(x, y, l);
            expected[(GUARD + all[2].at(x, y, 0)) as usize] = value;
            sums[y as usize] += value;
        }
        let expected: Vec<u8> = expected.into_iter().flat_map(|x| encode(config.c_type, x)).collect();
        let begin = placed.all[2][l as usize] - placed.before[2] as u64 * u64::from(config.c_type.bits() / 8);
        let found = download(&placed.memory, begin, expected.len());
        let wrong = found.iter().zip(&expected).position(|(x, y)| x != y);
        assert_eq!(wrong, None, "a byte of C {l}: {config:?}");
        if !kernel.outputs.is_empty() {
            let expected: Vec<u8> = sums.into_iter().flat_map(|x| encode(DType::F32, x)).collect();
            let found = download(&placed.memory, placed.sums + (l * APART * 4) as u64, expected.len());
            assert_eq!(found, expected, "sums of product {l}: {config:?}");
        }
    }
}

fn pointers(config: GemmConfig) -> GemmConfig {
    GemmConfig { batch: Batch::Pointers, ..config }
}

fn configs() -> [GemmConfig; 7] {
    let warps = pointers(sm80(DType::Bf16, Major::K, Major::Mn));
    let warps = GemmConfig { store: Store::Direct { vector: 2 }, ..warps };
    [
        warps,
        GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..warps },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..warps },
        GemmConfig { schedule: Schedule::StreamK { alternate: false }, ..warps },
        GemmConfig { store: Store::Direct { vector: 1 }, c_type: DType::F32, ..warps },
        pointers(simt(Major::Mn, Major::K)),
        pointers(simt(Major::Mn, Major::Mn)),
    ]
}

/// Ragged sizes, with a matrix that each epilogue adds by its address, and a row that follows that of the product before.
#[test]
fn every_schedule_computes_products_at_any_addresses() {
    for config in configs() {
        // 2 more where K is a multiple of 4.
        let mnk = [136, 72, 130 + 130 % config.aligned_k().unwrap()];
        let plus = Epilogue::new()
            .plus(Input::matrix("x", DType::Bf16).unaligned())
            .plus(Input::row("row", DType::Bf16).unaligned());
        verify(&config, &Epilogue::new(), mnk, 3, 8);
        verify(&config, &plus, mnk, 3, 8);
        verify(&config, &plus, [7, 2, 36], 1, 8);
    }
}

/// Outputs besides C follow each other, and what they reduce is that of each product.
#[test]
fn outputs_of_products_follow_each_other() {
    for config in [configs()[1], configs()[5]] {
        let sums = Epilogue::new().reduce(Output::row("sums", Reduction::Sum));
        verify(&config, &sums, [136, 72, 132], 3, 8);
    }
}

/// The kernel relies on what an address is a multiple of, which the simulator checks, and reads no more addresses than there are products.
#[test]
fn addresses_that_are_not_aligned_are_found() {
    let config = configs()[0];
    let kernel = generate(&config, &Epilogue::new()).unwrap();
    let (mnk, checked) = ([40, 24, 64], Options::checked());
    let all = lying(&config, mnk, 8);
    for (before, message) in
        [([8, 0, 2, 0], None), ([4, 0, 2, 0], Some("multiple of 16")), ([8, 0, 1, 0], Some("multiple of 4"))]
    {
        let placed = Placed::new(&config, &all, 2, before);
        let ran = run(kernel.kernel.module(), &placed.memory, &launch(&kernel, &placed, mnk, &all), &checked);
        match (ran, message) {
            (Ok(_), None) => {}
            (Err(error), Some(message)) => assert!(error.to_string().contains(message), "{error}"),
            (ran, _) => panic!("{before:?}: {:?}", ran.map(drop)),
        }
    }
}

#[test]
fn tensor_maps_have_one_address() {
    let hopper = wgmma("SM90_64x64x16_F32BF16BF16_SS", [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let told = generate(&pointers(hopper), &Epilogue::new()).expect_err("refused").to_string();
    assert!(
        told.contains("Pointers")
            && told.contains("tensor maps, which have one address: Single, Strided or Grouped"),
        "{told}"
    );
    let kernel = generate(&configs()[0], &Epilogue::new()).unwrap();
    assert!(["a", "b", "c"].into_iter().all(|matrix| kernel.params.alignment(&kernel.kernel, matrix) == 8));
}
