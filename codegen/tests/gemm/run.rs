//! Kernels of odd configurations on the simulator with every check on. Sums of small integers are exact in any order.

use girih_codegen::Error;
use girih_codegen::gemm::{
    Epilogue, GemmConfig, GemmKernel, Mainloop, Major, Multistage, Schedule, Source, Store, generate,
};
use girih_layout::{Tile, lay};
use girih_sim::{Memory, Options};
use girih_tensor::DType;
use half::{bf16, f16};

use super::configs::{chosen, multistage, odd, simt, sm80, unaligned, with};
use crate::simulator::{addresses, blocks, download, ones, run, sizes, upload};

fn encode(dtype: DType, values: &[f64]) -> Vec<u8> {
    let bytes = |v: &f64| match dtype {
        DType::F32 | DType::Tf32 => (*v as f32).to_le_bytes().to_vec(),
        DType::F64 => v.to_le_bytes().to_vec(),
        DType::S8 => (*v as i8).to_le_bytes().to_vec(),
        DType::F16 => f16::from_f64(*v).to_le_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(*v).to_le_bytes().to_vec(),
        other => panic!("{other}"),
    };
    values.iter().flat_map(bytes).collect()
}

fn decode(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let value = |b: &[u8]| match dtype {
        DType::F32 => f32::from_le_bytes(b.try_into().unwrap()).into(),
        DType::F64 => f64::from_le_bytes(b.try_into().unwrap()),
        DType::S32 => i32::from_le_bytes(b.try_into().unwrap()).into(),
        DType::F16 => f16::from_le_bytes(b.try_into().unwrap()).to_f64(),
        DType::Bf16 => bf16::from_le_bytes(b.try_into().unwrap()).to_f64(),
        other => panic!("{other}"),
    };
    bytes.chunks_exact(dtype.bits() as usize / 8).map(value).collect()
}

/// An operand of `x` times `k` elements from -2 to 2.
pub(super) struct Matrix {
    source: Source,
    pitch: i64,
    data: Vec<f64>,
}

impl Matrix {
    pub(super) fn new(source: Source, x: i64, k: i64, seed: i64) -> Matrix {
        let (row, rows) = if source.major == Major::K { (k, x) } else { (x, k) };
        // The pitch is longer than the row, and as aligned as the facts say; the last row ends with its last element.
        let pitch = (row / source.vector + 2) * source.vector;
        let len = if row == 0 || rows == 0 { 0 } else { (rows - 1) * pitch + row };
        let data = (0..len).map(|i| ((i * 7 + i / 3 * seed) % 5 - 2) as f64).collect();
        Matrix { source, pitch, data }
    }

    /// A matrix whose elements are given by their position, with zeros in the padding.
    fn of(source: Source, x: i64, k: i64, element: impl Fn(i64, i64) -> f64) -> Matrix {
        let mut matrix = Matrix::new(source, x, k, 0);
        matrix.data.fill(0.0);
        for (x, k) in (0..x).flat_map(|x| (0..k).map(move |k| (x, k))) {
            let index = matrix.index(x, k);
            matrix.data[index] = element(x, k);
        }
        matrix
    }

    fn index(&self, x: i64, k: i64) -> usize {
        (if self.source.major == Major::K { x * self.pitch + k } else { k * self.pitch + x }) as usize
    }

    fn at(&self, x: i64, k: i64) -> f64 {
        self.data[self.index(x, k)]
    }
}

/// C's pitch, and C's bytes as the kernel leaves them.
pub(super) fn multiply(
    config: &GemmConfig,
    kernel: &GemmKernel,
    [a, b]: [&Matrix; 2],
    [m, n, k]: [i64; 3],
    options: &Options,
) -> (i64, Vec<u8>) {
    let vector = vector_of_c(config);
    let pitch_c = (n / vector + 1) * vector;
    let memory = Memory::new();
    let c_bytes = (m * pitch_c) as usize * config.c_type.bits() as usize / 8;
    let [a_at, b_at] = [a, b].map(|x| upload(&memory, &encode(config.atom().a_type, &x.data)));
    let c_at = ones(&memory, c_bytes);
    let mut args = addresses(&[a_at, b_at, c_at]);
    let pieces = kernel.pieces([m, n, k], 1, 3).unwrap();
    let words = |words: &[u32]| words.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    if let Some(pieces) = &pieces {
        args.extend(addresses(&[upload(&memory, &words(&pieces.table()))]));
    } else if config.schedule.is_persistent() {
        let order = kernel.order(m, n).unwrap();
        args.extend(addresses(&[upload(&memory, &words(&order.concat()))]));
        args.extend(sizes(&[order.len() as i64]));
    }
    let workspace = kernel.workspace([m, n, 1]).unwrap();
    let workspace = pieces.as_ref().map_or(workspace, |pieces| pieces.workspace());
    if let Schedule::SplitK { .. } | Schedule::StreamK { .. } = config.schedule {
        let [sums, turns] = workspace.map(|bytes| bytes as usize);
        args.extend(addresses(&[ones(&memory, sums), upload(&memory, &vec![0; turns])]));
    }
    args.extend(sizes(&[m, n, k, a.pitch, b.pitch, pitch_c]));
    let launch = blocks(
        kernel.blocks([m, n, 1], 3).unwrap().into(),
        kernel.kernel.threads(),
        kernel.kernel.shared_bytes(),
        args,
    );
    let multiplied = || {
        memory.fill(c_at, 0xff, c_bytes).unwrap();
        let ran = run(kernel.kernel.module(), &memory, &launch, options);
        ran.unwrap_or_else(|e| panic!("{config:?} of {m} x {n} x {k}: {e}"));
        download(&memory, c_at, c_bytes)
    };
    let c = multiplied();
    // The kernel leaves the workspace so that the next launch can use it.
    assert!(workspace == [0, 0] || c == multiplied(), "{config:?} of {m} x {n} x {k}, again");
    (pitch_c, c)
}

/// The number of elements of C that divides N and C's pitch.
fn vector_of_c(config: &GemmConfig) -> i64 {
    let Store::Direct { vector } = config.store else { panic!("{:?}", config.store) };
    vector
}

fn verify(config: &GemmConfig, [m, n, k]: [i64; 3]) {
    let mainloop = multistage(config);
    let k = (k as u64).next_multiple_of(config.aligned_k().unwrap() as u64) as i64;
    let (a, b) = (Matrix::new(mainloop.a, m, k, 3), Matrix::new(mainloop.b, n, k, 4));
    verify_of(config, [m, n, k], [&a, &b]);
}

fn verify_of(config: &GemmConfig, [m, n, k]: [i64; 3], [a, b]: [&Matrix; 2]) {
    let kernel = generate(config, &Epilogue::new()).unwrap();
    let (pitch_c, bytes) = multiply(config, &kernel, [a, b], [m, n, k], &Options::checked());
    for (i, found) in (0..).zip(decode(config.c_type, &bytes)) {
        let (row, column) = (i / pitch_c, i % pitch_c);
        if column >= n {
            let untouched = if config.c_type == DType::S32 { found == -1.0 } else { found.is_nan() };
            assert!(untouched, "{config:?}: ({row},{column}) lies outside C");
            continue;
        }
        let sum: f64 = (0..k).map(|k| a.at(row, k) * b.at(column, k)).sum();
        assert_eq!(found, sum, "{config:?} of {m} x {n} x {k}: ({row},{column})");
    }
}

#[test]
fn odd_configurations_multiply() {
    for config in odd().into_iter().chain([unaligned(Major::Mn, Major::K)]) {
        let [m, n, k] = config.tile;
        verify(&config, [m, n, k]);
        verify(&config, [m + 3, 2 * n + vector_of_c(&config), k + 5]);
    }
    verify(&odd()[0], [5, 6, 0]);
    verify(&odd()[2], [1, 4, 1]);
}

/// Blocks share a tile, whether K has a multiple of as many tiles or not.
#[test]
fn blocks_share_tiles() {
    for (parts, config) in
        [(2, simt(Major::K, Major::Mn)), (3, odd()[0]), (5, sm80(DType::F16, Major::K, Major::K))]
    {
        let config = GemmConfig { schedule: Schedule::SplitK { parts, cluster: 1 }, ..config };
        let [m, n, k] = config.tile;
        for k in [(parts - 1) * k + 1, (parts + 1) * k + 3] {
            verify(&config, [m + 3, 2 * n + vector_of_c(&config), k]);
        }
    }
}

/// A thread's fragment of a k-block holds what its MMA multiplies: the elements of one operand are all different, and the
/// other operand has ones in its diagonal, so that each element comes to a place of its own in C.
#[test]
fn fragments_hold_what_the_mma_multiplies() {
    let interesting =
        |c: &GemmConfig| multistage(c).a.vector * i64::from(c.atom().a_type.bits() / 8) % 16 == 0;
    for config in chosen().into_iter().chain(odd()).filter(interesting) {
        let [m, n, k] = config.tile;
        let (m, n) = (m.max(k), n.max(k));
        let different = |i: i64| {
            assert!(i < 1 << 12 || config.atom().a_type == DType::S8);
            match config.atom().a_type {
                DType::Bf16 => bf16::from_bits(0x3f80 + i as u16).to_f64(),
                DType::F16 => f16::from_bits(0x3c00 + i as u16).to_f64(),
                // There are fewer of them than elements; neighbours are different.
                DType::S8 => i64::from((i % 251 + i / 251 * 97) as i8) as f64,
                _ => i as f64,
            }
        };
        let diagonal = |x: i64, k: i64| if x == k { 1.0 } else { 0.0 };
        let sources = [multistage(&config).a, multistage(&config).b];
        let a = Matrix::of(sources[0], m, k, |x, l| different(x * k + l));
        let b = Matrix::of(sources[1], n, k, |x, l| different(x * k + l));
        verify_of(&config, [m, n, k], [&a, &Matrix::of(sources[1], n, k, diagonal)]);
        verify_of(&config, [m, n, k], [&Matrix::of(sources[0], m, k, diagonal), &b]);
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    fn source(vector: i64) -> Source {
        Source { major: Major::K, vector }
    }
    let good = sm80(DType::Bf16, Major::K, Major::K);
    type Change = fn(&mut GemmConfig, &mut Multistage);
    let refused: [(&str, Change); _] = [
        ("Threads", |_, m| m.atoms = lay!("(8,8):(1,8)")),
        ("Threads", |_, m| (m.atoms, m.atom) = (lay!("(4,4):(1,4)"), *simt(Major::K, Major::K).atom())),
        ("Atom", |_, m| m.atom.c_type = DType::F16),
        ("Atom", |_, m| m.atom.a_type = DType::S4),
        ("CType", |c, _| c.c_type = DType::S8),
        ("CType", |c, _| c.c_type = DType::B1),
        ("Atoms", |_, m| m.atoms = lay!("(2,2):(0,3)")),
        ("Atoms", |_, m| m.atoms = lay!("(2,2):(2,2)")),
        ("Atoms", |_, m| m.atoms = lay!("4:1")),
        ("Tile", |c, _| c.tile = [100, 128, 32]),
        ("Tile", |c, _| c.tile = [128, 0, 32]),
        ("Tile", |c, _| c.tile = [128, 128, -32]),
        ("KBlocks", |c, _| c.tile = [128, 128, 16]),
        ("KBlocks", |c, _| c.tile = [128, 128, 48]),
        ("Tile", |_, m| m.k_atoms = 0),
        ("Tile", |_, m| m.k_atoms = -1),
        ("Tile", |_, m| m.k_atoms = i64::MAX),
        ("Tile", |c, _| c.tile = [1 << 40, 128, 32]),
        ("Tile", |c, _| c.tile = [128, 128, i64::MAX / 32 * 32]),
        ("Accumulators", |c, _| c.tile = [256, 256, 32]),
        ("SharedMemory", |c, _| c.tile = [128, 128, 256]),
        ("Stages", |_, m| m.stages = 1),
        ("Stages", |_, m| m.stages = 17),
        ("Fragments", |_, m| m.fragments = 0),
        ("Fragments", |_, m| m.fragments = 3),
        ("RasterGroup", |c, _| c.schedule = Schedule::Raster { group: 0 }),
        ("RasterGroup", |c, _| c.schedule = Schedule::Raster { group: 1 << 40 }),
        ("LoadVector", |_, m| m.a = source(1 << 31)),
        ("LoadVector", |_, m| m.a = source(3)),
        ("LoadVector", |_, m| m.a = source(0)),
        ("LoadVector", |_, m| m.b = source(-1)),
        ("LoadVector", |_, m| m.b = source(16)),
        ("StoreVector", |c, _| c.store = Store::Direct { vector: 0 }),
        ("StoreVector", |c, _| c.store = Store::Direct { vector: 3 }),
        ("StoreVector", |c, _| c.store = Store::Direct { vector: 16 }),
        ("thrfrg", |_, m| m.permutation = [Tile::Lay(lay!("(16,16):(16,1)")), Tile::All]),
        ("thrfrg", |_, m| m.permutation = [Tile::Lay(lay!("(8,2):(1,16)")), Tile::All]),
        ("Store", |c, _| c.store = Store::Tma { tile: [128, 128], stages: 1 }),
        ("Alternate", |c, _| c.schedule = Schedule::Persistent { alternate: true }),
        ("coalesced copy", |c, m| {
            (c.tile, m.a, m.b, m.atoms) = ([64, 32, 32], source(8), source(8), lay!("(4,2):(1,4)"));
        }),
    ];
    for (field, change) in refused {
        let (mut config, mut mainloop) = (good, *multistage(&good));
        change(&mut config, &mut mainloop);
        let config = config.with_mainloop(Mainloop::Multistage(mainloop));
        match generate(&config, &Epilogue::new()) {
            Err(Error::Gemm(error)) => assert_eq!(error.kind(), field, "{config:?}"),
            Err(Error::Mismatch { what, .. }) => assert_eq!(what, field, "{config:?}"),
            Err(other) => panic!("{config:?}: {other:?}"),
            Ok(_) => panic!("{field}: {config:?} was built"),
        }
    }
    let bad = with(good, |m| Multistage { stages: 1, ..m });
    let message = generate(&bad, &Epilogue::new()).unwrap_err().to_string();
    assert_eq!(message, "stages = 1: 2 to 16 are accepted");
}
