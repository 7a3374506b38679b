//! The warp-specialised GEMM on the simulator with every check on, and the simulator's reports when one of its parts is missing.

#![expect(clippy::unwrap_used, reason = "tests")]

use expect_test::{ExpectFile, expect, expect_file};
use float8::{F8E4M3, F8E5M2};
use girih_codegen::atom::{Major, MmaAtom};
use girih_codegen::gemm::{
    Arguments, Batch, BlockScales, Epilogue, GemmConfig, GemmKernel, Input, Mainloop, MixedInput, Schedule,
    Store, WarpSpecialized, generate,
};
use girih_codegen::{Operand, Slot};
use girih_layout::{Lay, lay};
use girih_ptx::Module;
use girih_sim::{Deny, Memory, Options};
use girih_tensor::DType;
use half::{bf16, f16};

use crate::mutants::without;
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

fn rows(config: GemmConfig, rows: i64) -> GemmConfig {
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
    dtype: DType,
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

pub(crate) const TN_BF16: &str = "SM90_64x64x16_F32BF16BF16_SS";

/// The cases are every type, both majors, tiles of several warpgroups and of several rows for each, and problems that end anywhere.
#[test]
fn products_are_exact() {
    let (one, two, three) = (lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"), lay!("(3,1):(1,0)"));
    let base = config(TN_BF16, [128, 64, 64], two, DType::Bf16);
    let wide = with(base, |w| WarpSpecialized { atoms: three, registers: [32, 160], ..w });
    let wide = rows(GemmConfig { tile: [192, 64, 64], ..wide }, 192);
    let short = with(base, |w| WarpSpecialized { stages: 2, ..w });
    let single = with(base, |w| WarpSpecialized { atoms: one, ..w });
    let mut cases = vec![
        (base, vec![[200, 136, 150], [1, 8, 1], [128, 64, 64], [129, 72, 65], [64, 200, 1000]]),
        (GemmConfig { schedule: Schedule::Persistent { alternate: false }, ..short }, vec![[200, 136, 150]]),
        (GemmConfig { tile: [256, 64, 128], ..short }, vec![[300, 136, 200]]),
        (rows(GemmConfig { tile: [256, 64, 64], ..base }, 256), vec![[300, 136, 200]]),
        (GemmConfig { tile: [128, 192, 64], ..base }, vec![[130, 200, 70]]),
        (GemmConfig { c_type: DType::F32, ..base }, vec![[200, 132, 70]]),
        (GemmConfig { c_type: DType::F16, ..base }, vec![[200, 136, 70]]),
        (rows(GemmConfig { tile: [64, 64, 64], ..single }, 64), vec![[100, 80, 70]]),
        (wide, vec![[300, 80, 70]]),
        // Rows of C in shared memory as narrow as 32 bytes.
        (
            config("SM90_64x96x16_F32BF16BF16_SS<K,MN>", [128, 96, 64], two, DType::Bf16),
            vec![[200, 136, 150]],
        ),
        (config("SM90_64x144x16_F32BF16BF16_SS", [128, 144, 64], two, DType::Bf16), vec![[200, 168, 150]]),
        (GemmConfig { c_major: Major::Mn, ..base }, vec![[200, 136, 150], [8, 1, 70], [136, 3, 70]]),
        (GemmConfig { c_major: Major::Mn, c_type: DType::F32, ..base }, vec![[132, 70, 70]]),
        (GemmConfig { c_type: DType::E4m3, ..base }, vec![[200, 144, 70]]),
        (GemmConfig { c_type: DType::E5m2, tile: [128, 128, 64], ..base }, vec![[200, 144, 70]]),
        (GemmConfig { c_major: Major::Mn, c_type: DType::E4m3, ..base }, vec![[144, 70, 70]]),
        (
            GemmConfig { c_type: DType::E5m2, store: Store::Direct { vector: 16 }, ..base },
            vec![[200, 144, 70]],
        ),
        (
            GemmConfig { c_type: DType::E4m3, store: Store::Direct { vector: 1 }, ..base },
            vec![[201, 131, 70]],
        ),
        (rows(GemmConfig { c_major: Major::Mn, tile: [256, 64, 64], ..base }, 256), vec![[304, 130, 200]]),
        (GemmConfig { c_major: Major::Mn, store: Store::Direct { vector: 1 }, ..base }, vec![[201, 131, 70]]),
    ];
    // Turns along both modes, of fewer columns than an atom has, and of several atoms.
    let wide = config("SM90_64x128x16_F32BF16BF16_SS", [256, 128, 64], two, DType::F32);
    cases.extend([
        (turns(wide, [128, 32], 2), vec![[300, 196, 200]]),
        (turns(wide, [256, 64], 1), vec![[300, 196, 70]]),
        (turns(GemmConfig { c_type: DType::Bf16, ..wide }, [128, 32], 4), vec![[300, 200, 70]]),
        (turns(GemmConfig { c_major: Major::Mn, ..wide }, [128, 32], 2), vec![[300, 131, 70]]),
        (turns(GemmConfig { tile: [128, 256, 64], ..base }, [128, 128], 2), vec![[200, 264, 70]]),
    ]);
    // Sums that begin anew: in tiles of several atoms along M and N, and several times in a tile.
    let bytes = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], two, DType::F32);
    let promoted = |interval| with(bytes, |w| WarpSpecialized { mma_promotion_interval: interval, ..w });
    cases.extend([
        (promoted(4), vec![[200, 136, 300], [5, 4, 1], [128, 64, 128]]),
        (rows(GemmConfig { tile: [256, 128, 128], ..promoted(4) }, 128), vec![[300, 136, 300]]),
        (GemmConfig { tile: [128, 64, 256], ..promoted(4) }, vec![[130, 132, 600]]),
        (promoted(1), vec![[130, 72, 300]]),
    ]);
    for (name, k, c_type) in [
        ("SM90_64x64x16_F32F16F16_SS", 64, DType::F16),
        ("SM90_64x64x16_F32BF16BF16_SS<MN,K>", 64, DType::Bf16),
        ("SM90_64x64x16_F32BF16BF16_SS<K,MN>", 64, DType::Bf16),
        ("SM90_64x64x16_F32F16F16_SS<MN,MN>", 128, DType::F16),
        ("SM90_64x64x8_F32TF32TF32_SS_TN", 32, DType::F32),
        ("SM90_64x64x32_F32E4M3E4M3_SS_TN", 128, DType::Bf16),
        ("SM90_64x64x32_F32E5M2E4M3_SS_TN", 128, DType::F16),
        ("SM90_64x64x32_S32S8S8_SS_TN", 128, DType::S32),
        ("SM90_64x64x32_S32S8S8_SS_TN", 128, DType::F32),
    ] {
        cases.push((config(name, [128, 64, k], two, c_type), vec![[200, 136, 150], [70, 16, 3 * k]]));
    }
    for (config, problems) in &cases {
        let kernel = generate(config, &Epilogue::new()).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (seed, &mnk) in (0..).zip(problems) {
            let result = run(config, &kernel, kernel.kernel.module(), mnk, 3, seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// A of 8 bits is converted in registers and scaled: tiles of several atoms along M and N, several tiles to a group, every schedule and
/// store, clusters, and problems that end anywhere.
#[test]
fn mixed_inputs_are_exact() {
    let (one, two) = (lay!("(1,1):(0,0)"), lay!("(2,1):(1,0)"));
    let mixed = |config: GemmConfig, dtype, scale, group| {
        with(config, |w| WarpSpecialized { mixed_input: Some(MixedInput { dtype, scale, group }), ..w })
    };
    let base = config("SM90_64x32x16_F32BF16BF16_RS", [128, 32, 128], two, DType::Bf16);
    let base = GemmConfig { c_type: DType::F32, ..base };
    let s8 = mixed(base, DType::S8, DType::Bf16, 128);
    let single = with(s8, |w| WarpSpecialized { atoms: one, ..w });
    let columns = config("SM90_64x32x16_F32BF16BF16_RS<K,MN>", [128, 32, 128], two, DType::F32);
    for config in [
        s8,
        mixed(base, DType::E4m3, DType::F32, 128),
        mixed(base, DType::S8, DType::F32, 256),
        rows(GemmConfig { tile: [64, 32, 128], c_major: Major::Mn, ..single }, 64),
        rows(GemmConfig { tile: [128, 64, 128], ..single }, 64),
        GemmConfig { tile: [256, 64, 128], ..s8 },
        mixed(GemmConfig { tile: [128, 32, 256], ..base }, DType::S8, DType::Bf16, 256),
        mixed(columns, DType::S8, DType::Bf16, 128),
        with(s8, |w| WarpSpecialized { multicast: 2, ..w }),
        GemmConfig { schedule: Schedule::Raster { group: 2 }, store: Store::Direct { vector: 4 }, ..s8 },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..s8 },
        GemmConfig {
            schedule: Schedule::SplitK { parts: 2, cluster: 2 },
            store: Store::Direct { vector: 4 },
            ..s8
        },
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (seed, mnk) in (0..).zip([[200, 68, 400], [132, 4, 257], [1, 36, 130]]) {
            let mnk = if config.c_major == Major::Mn { [(mnk[0] + 3) / 4 * 4, mnk[1], mnk[2]] } else { mnk };
            let mnk =
                if config.mixed_input().unwrap().group == 256 { [mnk[0], mnk[1], 3 * mnk[2]] } else { mnk };
            let blocks = kernel.blocks([mnk[0], mnk[1], 1], 4).unwrap();
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// Sums of blocks are scaled where they are promoted: a scale for each row and for as many as a block has, of both operands, in tiles of
/// fewer rows than a block and of several blocks, several tiles to a group, every schedule and store, clusters, and problems that end anywhere.
#[test]
fn block_scales_are_exact() {
    let two = lay!("(2,1):(1,0)");
    let scaled = |config: GemmConfig, granularity| {
        let block_scales = Some(BlockScales { granularity });
        with(config, |w| WarpSpecialized { mma_promotion_interval: 4, block_scales, ..w })
    };
    let base = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], two, DType::F32);
    let rows_by_blocks = scaled(base, [1, 128, 128]);
    let wide = config("SM90_64x128x32_F32E5M2E5M2_SS_TN", [128, 256, 128], two, DType::F32);
    let wide = turns(wide, [128, 64], 2);
    let one = with(base, |w| WarpSpecialized { atoms: lay!("(1,1):(0,0)"), ..w });
    for config in [
        rows_by_blocks,
        scaled(base, [128, 1, 128]),
        scaled(base, [1, 1, 128]),
        scaled(base, [128, 128, 256]),
        scaled(wide, [1, 128, 128]),
        scaled(GemmConfig { tile: [256, 64, 128], ..base }, [128, 1, 128]),
        scaled(rows(GemmConfig { tile: [64, 64, 128], c_major: Major::Mn, ..one }, 64), [128, 1, 128]),
        scaled(
            GemmConfig { tile: [128, 64, 256], ..with(base, |w| WarpSpecialized { stages: 2, ..w }) },
            [1, 128, 256],
        ),
        with(rows_by_blocks, |w| WarpSpecialized { mma_promotion_interval: 2, ..w }),
        with(rows_by_blocks, |w| WarpSpecialized { multicast: 2, ..w }),
        GemmConfig {
            schedule: Schedule::Raster { group: 2 },
            store: Store::Direct { vector: 4 },
            ..rows_by_blocks
        },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..rows_by_blocks },
        GemmConfig {
            schedule: Schedule::SplitK { parts: 2, cluster: 2 },
            store: Store::Direct { vector: 4 },
            ..rows_by_blocks
        },
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (seed, mnk) in (0..).zip([[200, 136, 400], [260, 300, 257], [4, 36, 130]]) {
            let blocks = kernel.blocks([mnk[0], mnk[1], 1], 4).unwrap();
            let mnk = if config.tile[2] == 256 { [mnk[0], mnk[1], 3 * mnk[2]] } else { mnk };
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), seed);
            result.unwrap_or_else(|e| panic!("{mnk:?}, seed {seed}, {config:?}: {e}"));
        }
    }
}

/// Blocks of a cluster bring tiles of B together, also where some of the blocks have no rows of C.
#[test]
fn tiles_are_multicast() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let by = |config, multicast| with(config, |w| WarpSpecialized { multicast, ..w });
    let columns =
        config("SM90_64x128x16_F32BF16BF16_SS<K,MN>", [128, 128, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let deep = with(base, |w| WarpSpecialized { stages: 2, ..w });
    for config in [
        by(base, 2),
        by(GemmConfig { schedule: Schedule::Raster { group: 2 }, ..base }, 4),
        by(GemmConfig { c_major: Major::Mn, programmatic: true, ..base }, 8),
        by(columns, 2),
        by(GemmConfig { tile: [128, 64, 128], ..deep }, 2),
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap();
        let size = config.mainloop.warp_specialized().unwrap().multicast;
        for mnk in [[456, 136, 150], [72, 200, 450]] {
            // Clusters on six multiprocessors, or as many as there are tiles.
            let blocks = i64::from(kernel.blocks([mnk[0], mnk[1], 1], 6.max(size as u32)).unwrap());
            assert_eq!(blocks % size, 0);
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks, 1);
            result.unwrap_or_else(|e| panic!("{mnk:?}, {config:?}: {e}"));
        }
    }
}

/// With any number of blocks in the grid, every tile is computed once.
#[test]
fn any_number_of_blocks_covers_the_tiles() {
    let config = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let kernel = generate(&config, &Epilogue::new()).unwrap();
    for blocks in [1, 2, 5, 9, 10, 12] {
        run(&config, &kernel, kernel.kernel.module(), [300, 192, 64], blocks, 0).unwrap();
    }
}

/// Every schedule and every store goes with the mainloop.
#[test]
fn schedules_and_stores_combine() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let (raster, direct) = (Schedule::Raster { group: 2 }, Store::Direct { vector: 8 });
    let eight = Schedule::SplitK { parts: 8, cluster: 4 };
    let narrow = Store::Direct { vector: 4 };
    let unaligned = GemmConfig { store: Store::Direct { vector: 1 }, c_type: DType::F32, ..base };
    let tall = GemmConfig { tile: [256, 64, 64], ..base };
    let integers = config("SM90_64x64x32_S32S8S8_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::S32);
    for config in [
        GemmConfig { store: direct, ..base },
        GemmConfig { schedule: raster, ..base },
        GemmConfig { schedule: raster, store: direct, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 2 }, store: direct, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 2 }, store: direct, ..tall },
        GemmConfig { schedule: eight, store: direct, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 3, cluster: 1 }, store: direct, ..base },
        unaligned,
        GemmConfig { programmatic: true, ..base },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 2 }, store: narrow, ..integers },
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..integers },
    ] {
        let kernel = generate(&config, &Epilogue::new()).unwrap();
        for mnk in [[300, 136, 150], [70, 200, 450]] {
            // K has to have a tile for each part.
            let mnk = [mnk[0], mnk[1], if config.schedule == eight { 64 * 7 + mnk[2] } else { mnk[2] }];
            let blocks = kernel.blocks([mnk[0], mnk[1], 1], 3).unwrap();
            let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), 1);
            result.unwrap_or_else(|e| panic!("{mnk:?}, {config:?}: {e}"));
        }
    }
}

/// Blocks share out tiles along K, whole ones and parts, in windows and in a row.
#[test]
fn blocks_go_through_pieces_of_tiles() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let base = GemmConfig { schedule: Schedule::StreamK { alternate: true }, ..base };
    let single = with(base, |w| WarpSpecialized { atoms: lay!("(1,1):(0,0)"), stages: 2, ..w });
    let coalesced = Store::Coalesced { tile: [128, 64], vector: 2 };
    let integers = config("SM90_64x64x32_S32S8S8_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::S32);
    let plus = || Epilogue::new().plus(Input::matrix("x", DType::Bf16));
    for (config, epilogue) in [
        (base, Epilogue::new()),
        (rows(GemmConfig { tile: [256, 64, 64], ..base }, 128), plus()),
        (rows(GemmConfig { tile: [64, 64, 64], ..single }, 64), Epilogue::new()),
        (GemmConfig { store: coalesced, c_major: Major::Mn, programmatic: true, ..base }, plus()),
        (
            GemmConfig { schedule: base.schedule, store: Store::Direct { vector: 4 }, ..integers },
            Epilogue::new(),
        ),
    ] {
        let kernel = generate(&config, &epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        for (mnk, blocks) in
            [([200, 136, 500], 7), ([300, 136, 320], 4), ([64, 64, 700], 3), ([70, 64, 64], 2)]
        {
            for seed in 0..2 {
                let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks, seed);
                result.unwrap_or_else(|e| panic!("{mnk:?}, {blocks} blocks, seed {seed}, {config:?}: {e}"));
            }
        }
    }
}

/// A C that tensor maps do not describe goes through shared memory too.
#[test]
fn any_c_goes_through_shared_memory() {
    let base = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let single = with(base, |w| WarpSpecialized { atoms: lay!("(1,1):(0,0)"), ..w });
    let wide = config("SM90_64x192x16_F32BF16BF16_SS", [128, 192, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let coalesced = |config: GemmConfig, rows, vector| {
        let store = Store::Coalesced { tile: [rows, config.tile[1]], vector };
        GemmConfig { store, ..config }
    };
    let parts = |config, tile| GemmConfig { store: Store::Coalesced { tile, vector: 1 }, ..config };
    let transposed = |config| GemmConfig { c_major: Major::Mn, ..config };
    let split = |config| GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..config };
    let f32s = GemmConfig { c_type: DType::F32, ..base };
    let plus = || Epilogue::new().plus(Input::matrix("x", DType::Bf16));
    for (config, mnk, epilogue) in [
        (coalesced(base, 128, 1), [131, 129, 150], Epilogue::new()),
        (coalesced(base, 128, 1), [131, 129, 150], plus()),
        (coalesced(base, 128, 2), [131, 130, 150], plus()),
        (coalesced(GemmConfig { tile: [256, 64, 64], ..base }, 128, 1), [257, 65, 70], Epilogue::new()),
        (coalesced(GemmConfig { tile: [64, 64, 64], ..single }, 64, 4), [100, 68, 70], Epilogue::new()),
        (coalesced(wide, 128, 1), [200, 193, 70], Epilogue::new()),
        (coalesced(f32s, 128, 1), [131, 67, 70], plus()),
        (transposed(coalesced(base, 128, 1)), [131, 67, 70], Epilogue::new()),
        (transposed(coalesced(base, 128, 2)), [134, 67, 70], plus()),
        (transposed(coalesced(f32s, 128, 1)), [131, 67, 70], Epilogue::new()),
        (parts(wide, [128, 96]), [200, 193, 70], Epilogue::new()),
        (parts(wide, [128, 32]), [200, 193, 70], plus()),
        (split(coalesced(base, 128, 1)), [131, 129, 150], plus()),
    ] {
        let kernel = generate(&config, &epilogue).unwrap_or_else(|e| panic!("{e}: {config:?}"));
        let blocks = kernel.blocks([mnk[0], mnk[1], 1], 3).unwrap();
        let result = run(&config, &kernel, kernel.kernel.module(), mnk, blocks.into(), 1);
        result.unwrap_or_else(|e| panic!("{mnk:?}, {epilogue:?}, {config:?}: {e}"));
    }
}

/// Where an epilogue reads matrices, wide tiles are stored piece by piece, in the smaller pieces the more matrices it reads.
#[test]
fn pieces_of_epilogues_cover_the_tile() {
    let base = config("SM90_64x192x16_F32BF16BF16_SS", [128, 192, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    let tall = rows(
        GemmConfig { tile: [256, 64, 64], ..config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::F32) },
        128,
    );
    let parts = turns(GemmConfig { c_type: DType::F32, ..base }, [128, 48], 2);
    for (inputs, config) in [0, 1, 2, 3, 4, 5, 6, 2, 6].into_iter().zip([
        base,
        base,
        GemmConfig { c_type: DType::F32, ..base },
        tall,
        base,
        base,
        base,
        parts,
        parts,
    ]) {
        let input =
            |i: i32| Input::matrix(format!("x{i}"), if i % 2 == 0 { DType::Bf16 } else { DType::F32 });
        let epilogue = (0..inputs).fold(Epilogue::new(), |epilogue, i| epilogue.plus(input(i)));
        let kernel = generate(&config, &epilogue).unwrap();
        let result = run(&config, &kernel, kernel.kernel.module(), [200, 264, 20], 2, 0);
        result.unwrap_or_else(|e| panic!("{epilogue:?}, {config:?}: {e}"));
    }
}

/// The kernel is reported when any one of its waits, arrivals, barriers and fences is missing.
pub(crate) fn needs_every_part(config: &GemmConfig, mnk: [i64; 3], parts: usize) {
    needs_every_part_with(config, &Epilogue::new(), mnk, parts);
}

pub(crate) fn needs_every_part_with(config: &GemmConfig, epilogue: &Epilogue, mnk: [i64; 3], parts: usize) {
    let kernel = generate(config, epilogue).unwrap();
    let mut kept = Vec::new();
    let mut removed = 0;
    for index in 0.. {
        let Some((mutant, text)) = without(kernel.kernel.module(), index) else { break };
        removed += 1;
        let caught = (0..8).find_map(|seed| run(config, &kernel, &mutant, mnk, 2, seed).err());
        println!("{index} {text}: {caught:?}");
        if caught.is_none() {
            kept.push(text);
        }
    }
    assert_eq!((removed, kept), (parts, Vec::<String>::new()));
}

// Blocks have three tiles, and tiles take four stages' worth of K, so that all stages are used again.

#[test]
fn every_part_is_needed() {
    let config = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    needs_every_part(&config, [384, 128, 256], 21);
    needs_every_part(&turns(config, [128, 16], 2), [384, 128, 256], 33);
}

#[test]
fn every_part_of_mixed_inputs_is_needed() {
    let mixed_input = Some(MixedInput { dtype: DType::S8, scale: DType::Bf16, group: 128 });
    let config = config("SM90_64x64x16_F32BF16BF16_RS", [128, 64, 128], lay!("(2,1):(1,0)"), DType::Bf16);
    let config = with(config, |w| WarpSpecialized { mixed_input, ..w });
    needs_every_part(&config, [384, 128, 512], 27);
}

#[test]
fn every_part_of_block_scales_is_needed() {
    let block_scales = Some(BlockScales { granularity: [1, 128, 128] });
    let config = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::Bf16);
    let config = with(config, |w| WarpSpecialized { mma_promotion_interval: 4, block_scales, ..w });
    needs_every_part(&config, [384, 128, 512], 20);
}

/// The golden modules are as they are shipped; ptxas assembles them.
#[test]
fn modules_are_these() {
    let two = lay!("(2,1):(1,0)");
    let tn = config("SM90_64x256x16_F32BF16BF16_SS", [128, 256, 64], two, DType::Bf16);
    let nt = config("SM90_64x128x16_F32F16F16_SS<MN,MN>", [128, 128, 64], two, DType::F16);
    let high = config("SM90_64x192x16_F32BF16BF16_SS", [256, 192, 64], two, DType::Bf16);
    let check = |config: GemmConfig, golden: ExpectFile| {
        golden.assert_eq(&generate(&config, &Epilogue::new()).unwrap().kernel.module().to_string());
    };
    check(tn, expect_file!["../testdata/golden/gemm_sm90_bf16_tn.ptx"]);
    let nt = with(nt, |w| WarpSpecialized { stages: 5, ..w });
    check(nt, expect_file!["../testdata/golden/gemm_sm90_f16_nt.ptx"]);
    let high = with(high, |w| WarpSpecialized { registers: [24, 240], ..w });
    check(high, expect_file!["../testdata/golden/gemm_sm90_bf16_256x192.ptx"]);
    let integers = config("SM90_64x256x32_S32S8S8_SS_TN", [128, 256, 128], two, DType::S32);
    check(turns(integers, [128, 64], 2), expect_file!["../testdata/golden/gemm_sm90_s8_tn.ptx"]);
    let floats = config("SM90_64x128x32_F32E4M3E4M3_SS_TN", [128, 256, 128], two, DType::Bf16);
    let block_scales = Some(BlockScales { granularity: [1, 128, 128] });
    let floats = with(floats, |w| WarpSpecialized { mma_promotion_interval: 4, block_scales, ..w });
    check(turns(floats, [128, 64], 2), expect_file!["../testdata/golden/gemm_sm90_e4m3_scaled.ptx"]);
}

#[test]
fn misuse_is_told() {
    let good = config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16);
    fn atom(name: &str) -> MmaAtom {
        MmaAtom::find(name).unwrap()
    }
    let changed = |change: fn(&mut WarpSpecialized)| {
        with(good, |mut w| {
            change(&mut w);
            w
        })
    };
    let shared = Schedule::SplitK { parts: 8, cluster: 8 };
    let bytes = config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::F32);
    fn input(w: &mut WarpSpecialized) -> &mut MixedInput {
        w.mixed_input.get_or_insert(MixedInput { dtype: DType::S8, scale: DType::Bf16, group: 128 })
    }
    let mixed = |change: fn(&mut WarpSpecialized)| {
        with(GemmConfig { tile: [128, 64, 128], ..good }, |mut w| {
            w.atom = atom("SM90_64x64x16_F32BF16BF16_RS");
            input(&mut w);
            change(&mut w);
            w
        })
    };
    let blocks = |mma_promotion_interval, granularity, batch| {
        let block_scales = Some(BlockScales { granularity });
        let scaled = with(bytes, |w| WarpSpecialized { mma_promotion_interval, block_scales, ..w });
        GemmConfig { batch, ..scaled }
    };
    let mut texts = String::new();
    for bad in [
        changed(|w| w.atom = atom("SM80_16X8X16_F32BF16BF16F32_TN")),
        changed(|w| w.atom = atom("SM90_64x64x16_F32BF16BF16_RS")),
        changed(|w| w.atom = atom("SM90_64x64x32_F16E4M3E4M3_SS_TN")),
        changed(|w| w.atoms = lay!("(2,2):(1,2)")),
        GemmConfig { c_type: DType::S8, ..good },
        changed(|w| w.stages = 1),
        changed(|w| w.mma_promotion_interval = 4),
        with(bytes, |w| WarpSpecialized { mma_promotion_interval: 3, ..w }),
        GemmConfig {
            tile: [256, 256, 128],
            store: Store::Direct { vector: 1 },
            ..with(bytes, |w| WarpSpecialized { mma_promotion_interval: 4, stages: 2, ..w })
        },
        GemmConfig { tile: [192, 64, 64], ..good },
        GemmConfig { tile: [128, 96, 64], ..good },
        GemmConfig { tile: [128, 64, 32], ..good },
        rows(good, 64),
        turns(good, [128, 48], 1),
        turns(good, [128, 0], 1),
        turns(good, [128, 32], 3),
        turns(good, [128, 32], 0),
        changed(|w| w.registers = [40, 240]),
        GemmConfig {
            tile: [256, 64, 64],
            ..changed(|w| (w.atoms, w.registers) = (lay!("(4,1):(1,0)"), [24, 120]))
        },
        GemmConfig { tile: [512, 64, 64], ..changed(|w| w.registers = [24, 128]) },
        changed(|w| w.stages = 10),
        mixed(|w| w.mixed_input = None),
        mixed(|w| w.atom = atom(TN_BF16)),
        mixed(|w| w.atom = atom("SM90_64x64x16_F32F16F16_RS")),
        mixed(|w| input(w).dtype = DType::S4),
        mixed(|w| input(w).scale = DType::F16),
        mixed(|w| input(w).group = 192),
        GemmConfig { tile: [128, 64, 64], ..mixed(|w| input(w).group = 64) },
        mixed(|w| w.mma_promotion_interval = 4),
        GemmConfig { batch: Batch::Strided, ..mixed(|_| ()) },
        blocks(4, [1, 128, 128], Batch::Strided),
        blocks(0, [1, 128, 128], Batch::Single),
        blocks(4, [2, 128, 128], Batch::Single),
        blocks(4, [1, 128, 192], Batch::Single),
        GemmConfig { tile: [128, 192, 128], ..blocks(4, [1, 128, 128], Batch::Single) },
        changed(|w| w.multicast = 3),
        changed(|w| w.multicast = 16),
        GemmConfig { schedule: Schedule::SplitK { parts: 2, cluster: 1 }, ..changed(|w| w.multicast = 2) },
        GemmConfig { schedule: Schedule::StreamK { alternate: true }, ..changed(|w| w.multicast = 2) },
        GemmConfig { schedule: Schedule::SplitK { parts: 300, cluster: 1 }, ..good },
        GemmConfig { schedule: Schedule::SplitK { parts: 4, cluster: 3 }, ..good },
        GemmConfig { schedule: Schedule::SplitK { parts: 6, cluster: 4 }, ..good },
        GemmConfig { schedule: Schedule::SplitK { parts: 4, cluster: 4 }, ..good },
        GemmConfig { schedule: shared, store: Store::Direct { vector: 8 }, tile: [128, 128, 64], ..good },
        GemmConfig { schedule: shared, store: Store::Direct { vector: 8 }, ..changed(|w| w.stages = 9) },
    ] {
        texts += &format!("{}\n", generate(&bad, &Epilogue::new()).expect_err(&format!("{bad:?}")));
    }
    let kernel = generate(&good, &Epilogue::new()).unwrap();
    for (mnk, pitches) in [
        ([0, 64, 64], [64, 64, 64]),
        ([64, 60, 64], [64, 64, 64]),
        ([64, 64, 64], [63, 64, 64]),
        ([64, 64, 64], [64, 64, 1 << 40]),
    ] {
        let arguments = Arguments { mnk, pitches, ..Arguments::default() };
        texts += &format!("{}\n", kernel.params.values(&arguments).unwrap_err());
    }
    expect![[r#"
        atom = SM80_16x8x16_F32BF16BF16F32_TN with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::K> with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x32_F16E4M3E4M3_SS_TN with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atoms = (2,2):(1,2): (AtomM,1) of 1 to 4 warpgroups along M is accepted
        c_type = s8 with accumulators of f32: f32, f16, bf16, e4m3, e5m2 are accepted
        stages = 1: 2 to 16 are accepted
        mma_promotion_interval = 4: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the 4 MMAs along K of a tile
        mma_promotion_interval = 3: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the 4 MMAs along K of a tile
        a tile of 256 x 256, which takes 288 registers of a thread for accumulators and operands: at most 208 are accepted
        M = 192 of a tile: multiples of 128 from 128 to 1024 are accepted
        N = 96 of a tile: multiples of 64 from 64 to 1024 are accepted
        K = 32 of a tile: multiples of 64 from 64 to 1024 are accepted
        a store of 64 rows at once: multiples of 128 are accepted that divide 128
        a store of 48 columns at once: divisors of 64 are accepted that are the columns of a part of an atom, or of several atoms of 64
        a store of 0 columns at once: divisors of 64 are accepted that are the columns of a part of an atom, or of several atoms of 64
        a store in 3 stages: divisors of the 2 subtiles are accepted
        a store in 0 stages: divisors of the 2 subtiles are accepted
        registers = 40 for the producer and 240 for each of 2 consumers: at most 504 are accepted for a thread of each warpgroup together
        registers = 24 for the producer and 120 for each of 4 consumers: at most 480 are accepted for a thread of each warpgroup together
        a tile of 512 x 64, which takes 128 registers of a thread for accumulators and operands: at most 104 are accepted
        245920 bytes of shared memory for stages, barriers and C: at most 232448 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::K> with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K> with a warp-specialised mainloop: warpgroups' atoms with B in shared memory, A in registers for a mixed input and else in shared memory, and accumulators of f32, s32, or of f16 for f16 are accepted
        atom = SM90::GMMA::MMA_64x64x16_F32F16F16_RS<GMMA::Major::K, GMMA::Major::K> with a mixed input: atoms of bf16 are accepted
        a mixed input of s4: s8, e4m3 are accepted
        scales of f16 of a mixed input: f32, bf16 are accepted
        groups of 192 elements along K with a scale each: multiples of 128 are accepted, the K of a tile
        K = 64 of a tile: multiples of 128 from 128 to 1024 are accepted
        mma_promotion_interval = 4: 0 is accepted, and for 8-bit floats with f32 accumulators a divisor of the 8 MMAs along K of a tile
        batch = Strided with a mixed input: Single is accepted
        batch = Strided with block scales: Single is accepted
        block scales with SM90::GMMA::MMA_64x64x32_F32E4M3E4M3_SS_TN and mma_promotion_interval = 0: 8-bit floats with an interval are accepted
        granularity = [2, 128, 128] of a tile of [128, 64, 128]: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times as many or a divisor, and along K a multiple of the tile
        granularity = [1, 128, 192] of a tile of [128, 64, 128]: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times as many or a divisor, and along K a multiple of the tile
        granularity = [1, 128, 128] of a tile of [128, 192, 128]: 1 or 128 rows and columns are accepted, of which a tile has 1, 2 or 4 times as many or a divisor, and along K a multiple of the tile
        multicast = 3 of 64 columns: 1, 2, 4 or 8 blocks are accepted, each of whole swizzles
        multicast = 16 of 64 columns: 1, 2, 4 or 8 blocks are accepted, each of whole swizzles
        multicast = 2 with the schedule SplitK { parts: 2, cluster: 1 }: 1 is accepted if blocks split K
        multicast = 2 with the schedule StreamK { alternate: true }: 1 is accepted if blocks split K
        split-K with 300 splits: 2 to 256 are accepted
        split-K with 4 splits in clusters of 3 blocks: 1, 2, 4 or 8 blocks are accepted that divide the splits
        split-K with 6 splits in clusters of 4 blocks: 1, 2, 4 or 8 blocks are accepted that divide the splits
        store = Tma { tile: [128, 64], stages: 1 } with split-K in clusters: a direct store is accepted
        N = 128 of a tile that 8 blocks of a cluster combine: the columns of one atom are accepted, a multiple of 64 that the blocks share
        254096 bytes of shared memory for stages, barriers and C: at most 232448 are accepted
        m = 0 of a tensor map: multiples of 1 from 1 to 1073741824 elements are accepted
        n = 60 of a tensor map: multiples of 8 from 1 to 1073741824 elements are accepted
        lda = 63 of a tensor map: multiples of 8 from 1 to 1073741824 elements are accepted
        ldc = 1099511627776 of a tensor map: multiples of 8 from 1 to 1073741824 elements are accepted
    "#]].assert_eq(&texts);
}
