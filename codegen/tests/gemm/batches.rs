//! Products of a batch by every mainloop and schedule, on the simulator with every check on.

use girih_codegen::Slot;
use girih_codegen::gemm::{
    Arguments, Batch, Epilogue, GemmConfig, GemmKernel, Input, Major, Schedule, Store, generate,
};
use girih_layout::lay;
use girih_sim::{Memory, Options};
use girih_tensor::DType;
use half::bf16;

use super::configs::{simt, sm80};
use crate::simulator::{blocks, bytes, download, run, upload};
use crate::teams::two_teams;
use crate::warp_specialized::config as wgmma;

/// The matrices of an operand: extents, contiguous mode, pitch, and the elements from one to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrices {
    pub(super) extents: [i64; 2],
    pub(super) contiguous: usize,
    pub(super) pitch: i64,
    pub(super) stride: i64,
}

impl Matrices {
    pub(super) fn at(&self, x: i64, y: i64, l: i64) -> i64 {
        let (along, across) = if self.contiguous == 1 { (y, x) } else { (x, y) };
        across * self.pitch + along + l * self.stride
    }

    /// The elements up to the last one of the last matrix.
    pub(super) fn len(&self, l: i64) -> i64 {
        self.at(self.extents[0] - 1, self.extents[1] - 1, l - 1) + 1
    }
}

/// Small integers, exact in every order of sums.
pub(super) fn number(operand: usize, at: i64) -> f64 {
    ((at * 7 + at / 13 + operand as i64 * 5) % 11 - 5) as f64
}

/// The rows of an operand along K.
pub(super) fn rows([rows, k]: [i64; 2], of: impl Fn(i64, i64) -> f64) -> Vec<Vec<f64>> {
    (0..rows).map(|row| (0..k).map(|k| of(row, k)).collect()).collect()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn encode(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
        _ => (value as f32).to_le_bytes().to_vec(),
    }
}

/// Runs a batch of products, with `x`, a matrix that each epilogue adds, if the epilogue has that input. Every byte of C's array is as
/// expected, also between the matrices.
fn verify(config: &GemmConfig, epilogue: &Epilogue, [m, n, k]: [i64; 3], l: i64, all: [Matrices; 4]) {
    let kernel = &generate(config, epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let memory = Memory::new();
    let types = [config.atom().a_type, config.atom().b_type, config.c_type, DType::Bf16];
    let mut places = Vec::new();
    for (i, matrices) in all.iter().enumerate() {
        let value = |at| if i == 2 { f64::NAN } else { number(i, at) };
        let bytes: Vec<u8> = (0..matrices.len(l)).flat_map(|at| encode(types[i], value(at))).collect();
        places.push(upload(&memory, &bytes));
    }
    let blocks = launch(kernel, &memory, &places, [m, n, k], l, &all);
    let options = Options { seed: 3, ..Options::checked() };
    run(kernel.kernel.module(), &memory, &blocks, &options).unwrap_or_else(|e| panic!("{e}: {config:?}"));
    let mut expected = vec![f64::NAN; all[2].len(l) as usize];
    for l in 0..l {
        let a = rows([m, k], |i, k| number(0, all[0].at(i, k, l)));
        let b = rows([n, k], |j, k| number(1, all[1].at(j, k, l)));
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let added = if kernel.inputs.is_empty() { 0.0 } else { number(3, all[3].at(i, j, l)) };
            expected[all[2].at(i, j, l) as usize] = dot(&a[i as usize], &b[j as usize]) + added;
        }
    }
    let expected: Vec<u8> = expected.into_iter().flat_map(|value| encode(config.c_type, value)).collect();
    let found = download(&memory, places[2], expected.len());
    let wrong = found.iter().zip(&expected).position(|(x, y)| x != y);
    assert_eq!(wrong, None, "a byte of C: {all:?}, {config:?}");
}

fn launch(
    kernel: &GemmKernel,
    memory: &Memory,
    places: &[u64],
    mnk: [i64; 3],
    l: i64,
    all: &[Matrices; 4],
) -> girih_sim::Launch {
    let [m, n, _] = mnk;
    let pitches = [0, 1, 2].map(|i| all[i].pitch);
    let table: Vec<u8> = kernel.order(m, n).unwrap().concat().iter().flat_map(|x| x.to_le_bytes()).collect();
    let (table, mut workspace) = (upload(memory, &table), kernel.workspace([m, n, l]).unwrap());
    let grid = kernel.blocks([m, n, l], 3).unwrap();
    let pieces = kernel.pieces(mnk, l, 3).unwrap();
    workspace = pieces.as_ref().map_or(workspace, |pieces| pieces.workspace());
    let words = pieces.map_or(Vec::new(), |pieces| pieces.table());
    let pieces = upload(memory, &words.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    // A mode of extent 1 stands for matrices that are the same.
    let batch = [0, 1, 2].map(|i| if all[i].stride == 0 { [1, 0] } else { [l, all[i].stride] });
    let arguments = Arguments { mnk, pitches, products: l, batch, ..Arguments::default() };
    let [sums, semaphores] = [0, 1].map(|i| upload(memory, &vec![[0xff, 0][i]; workspace[i] as usize]));
    let args = bytes(&kernel.params, &arguments, |slot| match slot {
        Slot::Memory("a") => places[0],
        Slot::Memory("b") => places[1],
        Slot::Memory("c") => places[2],
        Slot::Memory("order") => table,
        Slot::Memory("pieces") => pieces,
        Slot::Memory("workspace") => sums,
        Slot::Memory("semaphores") => semaphores,
        Slot::Memory(_) => places[3],
        Slot::Pitch(_) => all[3].pitch as u64,
        Slot::Step(_) => all[3].stride as u64,
    });
    blocks(grid.into(), kernel.kernel.threads(), kernel.kernel.shared_bytes(), args)
}

/// The matrices of the operands of a problem whose pitches are multiples of `unit`. `apart` says how the products of the batch lie: one
/// after the other with a gap, or, for those that the flags name, one and the same.
fn packed(config: &GemmConfig, [m, n, k]: [i64; 3], unit: i64, same: [bool; 4]) -> [Matrices; 4] {
    let [a, b] = config.majors().map(|major| usize::from(major == Major::K));
    let c = usize::from(config.c_major == Major::K);
    let extents = [([m, k], a), ([n, k], b), ([m, n], c), ([m, n], c)];
    let mut i = 0;
    extents.map(|(extents, contiguous)| {
        let pitch = (extents[contiguous] + unit - 1) / unit * unit + unit;
        let stride = if same[i] { 0 } else { pitch * extents[1 - contiguous] + unit };
        i += 1;
        Matrices { extents, contiguous, pitch, stride }
    })
}

fn batched(config: GemmConfig) -> GemmConfig {
    GemmConfig { batch: Batch::Strided, ..config }
}

#[test]
fn every_mainloop_and_schedule_computes_batches() {
    let two = lay!("(2,1):(1,0)");
    let hopper = batched(wgmma("SM90_64x64x16_F32BF16BF16_SS", [128, 64, 64], two, DType::Bf16));
    let transposed = batched(wgmma("SM90_64x64x16_F32BF16BF16_SS<MN,K>", [128, 64, 64], two, DType::Bf16));
    let warps = batched(sm80(DType::Bf16, Major::K, Major::Mn));
    let split = |cluster| Schedule::SplitK { parts: 2, cluster };
    let (direct, coalesced) = (Store::Direct { vector: 1 }, Store::Coalesced { tile: [128, 64], vector: 1 });
    let one_by_one = |config: GemmConfig| GemmConfig { store: Store::Direct { vector: 1 }, ..config };
    let configs = [
        hopper,
        transposed,
        GemmConfig { c_major: Major::Mn, ..hopper },
        GemmConfig { schedule: Schedule::Raster { group: 2 }, ..hopper },
        GemmConfig { schedule: split(1), ..hopper },
        GemmConfig { schedule: split(2), store: direct, ..hopper },
        GemmConfig { schedule: Schedule::StreamK { alternate: true }, ..hopper },
        GemmConfig { store: coalesced, ..hopper },
        batched(two_teams("SM90_64x64x16_F32BF16BF16_SS", [64, 64, 64], DType::Bf16)),
        one_by_one(warps),
        GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..one_by_one(warps) },
        GemmConfig { schedule: split(1), ..one_by_one(warps) },
        GemmConfig { schedule: Schedule::StreamK { alternate: false }, ..one_by_one(warps) },
        GemmConfig { c_type: DType::F32, ..one_by_one(batched(simt(Major::Mn, Major::K))) },
    ];
    for config in configs {
        // 2 more where K is a multiple of 4.
        let mnk = [136, 72, 130 + 130 % config.aligned_k().unwrap()];
        let plus = || Epilogue::new().plus(Input::matrix("x", DType::Bf16).unaligned());
        for (epilogue, same) in [
            (Epilogue::new(), [false; 4]),
            (plus(), [false, true, false, false]),
            (plus(), [true, false, false, true]),
        ] {
            verify(&config, &epilogue, mnk, 3, packed(&config, mnk, 8, same));
        }
        verify(&config, &Epilogue::new(), mnk, 1, packed(&config, mnk, 8, [false; 4]));
    }
}

/// Heads of attention: the products' columns lie beside each other in rows of all products.
#[test]
fn products_may_lie_between_one_another() {
    let hopper = wgmma("SM90_64x64x16_F32BF16BF16_SS", [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let warps = GemmConfig { store: Store::Direct { vector: 1 }, ..sm80(DType::Bf16, Major::K, Major::K) };
    for config in [batched(hopper), batched(warps)] {
        let [m, n, k, l] = [70, 40, 64, 3];
        let beside = |extents: [i64; 2]| Matrices {
            extents,
            contiguous: 1,
            pitch: l * extents[1],
            stride: extents[1],
        };
        let all = [beside([m, k]), beside([n, k]), beside([m, n]), beside([m, n])];
        verify(&config, &Epilogue::new(), [m, n, k], l, all);
    }
}
