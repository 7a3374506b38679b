//! Configurations, and a ragged problem of one that runs on the simulator and is compared byte by byte.

use float8::{F8E4M3, F8E5M2};
use girih_codegen::atom::{Major, MmaAtom};
use girih_codegen::gemm::{
    Arguments, Batch, BlockScales, GemmConfig, GemmKernel, Mainloop, Schedule, Store, WarpSpecialized,
};
use girih_codegen::{Operand, Slot};
use girih_layout::Lay;
use girih_ptx::Module;
use girih_sim::{Deny, Memory, Options};
use girih_tensor::DType;
use half::{bf16, f16};

use crate::simulator::{self, blocks, bytes, download, upload};

pub(crate) fn config(atom: &str, tile: [i64; 3], atoms: Lay, c_type: DType) -> GemmConfig {
    GemmConfig {
        name: "gemm",
        tile,
        mainloop: Mainloop::WarpSpecialized(WarpSpecialized {
            atom: MmaAtom::find(atom).unwrap_or_else(|| panic!("{atom}")),
            atoms,
            teams: 1,
            stages: 3,
            registers: [40, 232],
            multicast: 1,
            mma_promotion_interval: 0,
            mixed_input: None,
            block_scales: None,
        }),
        schedule: Schedule::Persistent { alternate: true },
        batch: Batch::Single,
        store: Store::Tma { tile: [128, tile[1]], stages: 1 },
        c_type,
        c_major: Major::K,
        programmatic: false,
    }
}

/// The configuration with another mainloop.
pub(crate) fn with(
    config: GemmConfig,
    change: impl FnOnce(WarpSpecialized) -> WarpSpecialized,
) -> GemmConfig {
    config.with_mainloop(Mainloop::WarpSpecialized(change(*config.mainloop.warp_specialized().unwrap())))
}

/// The configuration with a store of so many rows and columns at once, of which shared memory holds as many as there are stages.
pub(crate) fn turns(config: GemmConfig, tile: [i64; 2], stages: i64) -> GemmConfig {
    GemmConfig { store: Store::Tma { tile, stages }, ..config }
}

pub(super) fn rows(config: GemmConfig, rows: i64) -> GemmConfig {
    GemmConfig { store: Store::Tma { tile: [rows, config.tile[1]], stages: 1 }, ..config }
}

/// Small integers, exact in every order of sums.
fn number(operand: usize, x: i64, k: i64) -> i64 {
    (x * 7 + k * 3 + operand as i64 * 5) % 11 - 5
}

/// The rows and the elements along K that share a scale of an operand, and the scales' dtype.
fn scaled(config: &GemmConfig, operand: Operand) -> Option<([i64; 2], DType)> {
    match (config.mixed_input(), config.block_scales()) {
        (Some(mixed), _) => (operand == Operand::A).then_some(([1, mixed.group], mixed.scale)),
        (None, Some(BlockScales { granularity: [m, n, k] })) => {
            Some(([if operand == Operand::A { *m } else { *n }, *k], DType::F32))
        }
        (None, None) => None,
    }
}

/// The scale of element (x,k) of an operand, exact in bf16 and in every sum.
fn scale(config: &GemmConfig, operand: Operand, x: i64, k: i64) -> f64 {
    let Some(([rows, group], _)) = scaled(config, operand) else { return 1.0 };
    [1.0, 0.5, 2.0, -1.5][((x / rows + 3 * (k / group) + operand as i64) % 4) as usize]
}

/// The value outside of the matrices.
const POISON: f64 = 1.0e4;

fn encode(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(value).to_le_bytes().to_vec(),
        DType::E4m3 => vec![F8E4M3::from_f64(value).to_bits()],
        DType::E5m2 => vec![F8E5M2::from_f64(value).to_bits()],
        DType::S8 => (value as i8).to_le_bytes().to_vec(),
        DType::S32 => (value as i32).to_le_bytes().to_vec(),
        _ => (value as f32).to_le_bytes().to_vec(),
    }
}

/// A matrix in memory with padding behind its rows, or columns.
struct Stored {
    extents: [i64; 2],
    by_rows: bool,
    pub(super) dtype: DType,
    /// The number that the pitch is a multiple of.
    unit: i64,
}

impl Stored {
    fn pitch(&self) -> i64 {
        (self.extents[usize::from(self.by_rows)] + self.unit - 1) / self.unit * self.unit + self.unit
    }

    /// The elements of the matrix as they lie in memory.
    fn bytes(&self, value: impl Fn(i64, i64) -> f64) -> Vec<u8> {
        let lines = self.extents[usize::from(!self.by_rows)];
        let places = (0..lines).flat_map(|line| (0..self.pitch()).map(move |at| (line, at)));
        let at = |(line, at)| {
            let (x, y) = if self.by_rows { (line, at) } else { (at, line) };
            let inside = x < self.extents[0] && y < self.extents[1];
            encode(self.dtype, if inside { value(x, y) } else { POISON })
        };
        places.flat_map(at).collect()
    }
}

/// Runs a ragged problem on `grid` blocks: every byte of C is as expected, also in the padding.
pub(crate) fn run(
    config: &GemmConfig,
    kernel: &GemmKernel,
    module: &Module,
    mnk: [i64; 3],
    grid: i64,
    seed: u64,
) -> Result<(), String> {
    let [m, n, k] = mnk;
    let [a, b] = config.atom().majors.map(|major| major == Major::K);
    let unit = if let Store::Coalesced { vector, .. } = config.store { vector } else { 16 };
    let like_c = |dtype| Stored { extents: [m, n], by_rows: config.c_major == Major::K, dtype, unit };
    let matrices = [
        Stored { extents: [m, k], by_rows: a, dtype: config.dtype(Operand::A), unit: 16 },
        Stored { extents: [n, k], by_rows: b, dtype: config.dtype(Operand::B), unit: 16 },
        like_c(config.c_type),
    ];
    let memory = Memory::new();
    let mut places = Vec::new();
    for (i, matrix) in matrices.iter().enumerate() {
        let bytes = matrix.bytes(|x, y| if i < 2 { number(i, x, y) as f64 } else { f64::NAN });
        places.push(upload(&memory, &bytes));
    }
    // The inputs of the epilogue are matrices, whose sum is added.
    let inputs = || kernel.inputs.iter().zip(2..);
    for (input, i) in inputs() {
        places.push(upload(&memory, &like_c(input.dtype).bytes(|x, y| number(i, x, y) as f64)));
    }
    let scales = |operand: Operand| {
        let ([rows, group], dtype) = scaled(config, operand).unwrap();
        let [x, k] = operand.modes().map(|mode| mnk[mode]);
        let extents = [(x + rows - 1) / rows, (k + group - 1) / group];
        let stored = Stored { extents, by_rows: false, dtype, unit: 16 };
        (stored.bytes(|x, at| scale(config, operand, x * rows, at * group)), stored.pitch())
    };
    let place = |name: &str| places[3 + kernel.inputs.iter().position(|input| input.name == name).unwrap()];
    let order = kernel.order(m, n).unwrap();
    let table: Vec<u8> = order.concat().iter().flat_map(|x| x.to_le_bytes()).collect();
    let (table, mut workspace) = (upload(&memory, &table), kernel.workspace([m, n, 1]).unwrap());
    let pieces = kernel.pieces(mnk, 1, grid as u32).unwrap();
    workspace = pieces.as_ref().map_or(workspace, |pieces| pieces.workspace());
    let words = pieces.map_or(Vec::new(), |pieces| pieces.table());
    let pieces = upload(&memory, &words.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let pitches = [0, 1, 2].map(|i| matrices[i].pitch());
    let scales = [Operand::A, Operand::B].map(|operand| {
        scaled(config, operand).map(|_| {
            let (bytes, pitch) = scales(operand);
            (upload(&memory, &bytes), pitch)
        })
    });
    let [sums, semaphores] = [0, 1].map(|i| upload(&memory, &vec![[0xff, 0][i]; workspace[i] as usize]));
    let arguments = Arguments {
        mnk,
        pitches,
        products: 1,
        scales: scales.map(|scales| scales.map_or(0, |(_, pitch)| pitch)),
        ahead: pitches[2],
        ..Arguments::default()
    };
    let args = bytes(&kernel.params, &arguments, |slot| match slot {
        Slot::Memory("a") => places[0],
        Slot::Memory("b") => places[1],
        Slot::Memory("c") => places[2],
        Slot::Memory("order") => table,
        Slot::Memory("pieces") => pieces,
        Slot::Memory("workspace") => sums,
        Slot::Memory("semaphores") => semaphores,
        Slot::Memory("scales") => scales[0].unwrap().0,
        Slot::Memory("scales_b") => scales[1].unwrap().0,
        Slot::Memory(name) => place(name),
        Slot::Pitch(_) => pitches[2] as u64,
        Slot::Step(_) => panic!("{slot:?}"),
    });
    let launch = blocks(grid, kernel.kernel.threads(), kernel.kernel.shared_bytes(), args);
    let options = Options { seed, deny: Deny::Warnings, ..Options::checked() };
    simulator::run(module, &memory, &launch, &options).map_err(|e| e.to_string())?;
    let lines = |operand: Operand, extent: i64| -> Vec<Vec<f64>> {
        let element = |x, k| number(operand as usize, x, k) as f64 * scale(config, operand, x, k);
        (0..extent).map(|x| (0..k).map(|k| element(x, k)).collect()).collect()
    };
    let (rows, columns) = (lines(Operand::A, m), lines(Operand::B, n));
    let expected = matrices[2].bytes(|x, y| {
        let added: i64 = inputs().map(|(_, i)| number(i, x, y)).sum();
        let products = rows[x as usize].iter().zip(&columns[y as usize]).map(|(a, b)| a * b);
        products.sum::<f64>() + added as f64
    });
    let found = download(&memory, places[2], expected.len());
    match found.iter().zip(&expected).position(|(x, y)| x != y) {
        Some(byte) => Err(format!("byte {byte} of C, whose pitch is {} elements", matrices[2].pitch())),
        None => Ok(()),
    }
}
