//! GEMMs that cannot be built or computed.

use girih_codegen::atom::{Major, MmaAtom, UNIVERSAL_FMA_F32};
use girih_codegen::gemm::{
    Activation, Batch, BlockScales, Epilogue, GemmConfig, Input, Mainloop, MixedInput, Multistage, Output,
    Reduction, RepitchConfig, Rows, Schedule, Source, Store, WarpSpecialized, generate, repitch,
};
use girih_codegen::{Builder, Error, GemmError, Operand};
use girih_layout::{Tile, lay};
use girih_tensor::DType;

use super::complete;
use crate::gemm::configs::{simt, sm80};
use crate::gemm::stream;
use crate::warp_specialized::{TN_BF16, config, with};

fn refused<R>(result: Result<R, Error>) -> Error {
    result.err().unwrap_or_else(|| panic!("not refused"))
}

fn atom(name: &str) -> MmaAtom {
    MmaAtom::find(name).unwrap_or_else(|| panic!("{name}"))
}

/// A warp-specialised GEMM.
fn hopper() -> GemmConfig {
    config(TN_BF16, [128, 64, 64], lay!("(2,1):(1,0)"), DType::Bf16)
}

/// The same of 8-bit floats.
fn bytes() -> GemmConfig {
    config("SM90_64x64x32_F32E4M3E4M3_SS_TN", [128, 64, 128], lay!("(2,1):(1,0)"), DType::F32)
}

fn warps() -> GemmConfig {
    sm80(DType::Bf16, Major::K, Major::K)
}

fn multistage(change: impl FnOnce(Multistage) -> Multistage) -> GemmConfig {
    let Some(before) = warps().mainloop.multistage().copied() else { panic!("no multistage mainloop") };
    warps().with_mainloop(Mainloop::Multistage(change(before)))
}

fn specialised(change: impl FnOnce(WarpSpecialized) -> WarpSpecialized) -> GemmConfig {
    with(hopper(), change)
}

fn mixed(dtype: DType, scale: DType, group: i64) -> GemmConfig {
    let mixed_input = Some(MixedInput { dtype, scale, group });
    let atom = atom("SM90_64x64x16_F32BF16BF16_RS");
    with(GemmConfig { tile: [128, 64, 128], ..hopper() }, |w| WarpSpecialized { atom, mixed_input, ..w })
}

fn scaled(mma_promotion_interval: i64, granularity: [i64; 3]) -> GemmConfig {
    let block_scales = Some(BlockScales { granularity });
    with(bytes(), |w| WarpSpecialized { mma_promotion_interval, block_scales, ..w })
}

fn mainloops() -> Vec<GemmConfig> {
    let tile = |tile| GemmConfig { tile, ..warps() };
    vec![
        GemmConfig { programmatic: true, ..warps() },
        multistage(|mut m| {
            m.atom.c_type = DType::F16;
            m
        }),
        multistage(|m| Multistage { atoms: lay!("(2,2):(0,3)"), ..m }),
        multistage(|m| Multistage { atoms: lay!("(8,8):(1,8)"), ..m }),
        multistage(|m| Multistage { stages: 17, ..m }),
        multistage(|m| Multistage { fragments: 3, ..m }),
        multistage(|m| Multistage { a: Source { vector: 3, ..m.a }, ..m }),
        tile([100, 128, 32]),
        tile([128, 128, 48]),
        tile([256, 256, 32]),
        tile([128, 128, 256]),
        specialised(|w| WarpSpecialized { atom: atom("SM80_16X8X16_F32BF16BF16F32_TN"), ..w }),
        specialised(|w| WarpSpecialized { atoms: lay!("(2,2):(1,2)"), ..w }),
        specialised(|w| WarpSpecialized { teams: 3, ..w }),
        specialised(|w| WarpSpecialized { stages: 1, ..w }),
        specialised(|w| WarpSpecialized { stages: 10, ..w }),
        specialised(|w| WarpSpecialized { multicast: 3, ..w }),
        specialised(|w| WarpSpecialized { registers: [40, 240], ..w }),
        specialised(|w| WarpSpecialized { mma_promotion_interval: 4, ..w }),
        GemmConfig { tile: [192, 64, 64], ..hopper() },
        GemmConfig { tile: [512, 64, 64], ..specialised(|w| WarpSpecialized { registers: [24, 128], ..w }) },
        with(
            config("SM90_64x256x16_F32BF16BF16_SS", [256, 256, 64], lay!("(4,1):(1,0)"), DType::Bf16),
            |w| WarpSpecialized { registers: [24, 112], ..w },
        ),
        mixed(DType::S4, DType::Bf16, 128),
        mixed(DType::S8, DType::F16, 128),
        mixed(DType::S8, DType::Bf16, 192),
        scaled(0, [1, 128, 128]),
        scaled(4, [2, 128, 128]),
    ]
}

fn schedules_and_stores() -> Vec<GemmConfig> {
    let alternate = Schedule::Persistent { alternate: true };
    let forwards = Schedule::Persistent { alternate: false };
    let split = |parts, cluster| Schedule::SplitK { parts, cluster };
    let direct = Store::Direct { vector: 8 };
    let grouped = |mode| GemmConfig { batch: Batch::Grouped { mode }, store: direct, ..hopper() };
    let tma = |tile, stages| GemmConfig { store: Store::Tma { tile, stages }, ..hopper() };
    vec![
        GemmConfig { batch: Batch::Pointers, ..hopper() },
        GemmConfig { batch: Batch::Strided, ..mixed(DType::S8, DType::Bf16, 128) },
        grouped(2),
        grouped(0),
        GemmConfig { schedule: forwards, ..grouped(1) },
        GemmConfig { c_type: DType::S8, ..hopper() },
        GemmConfig { schedule: Schedule::Raster { group: 0 }, ..warps() },
        GemmConfig { schedule: alternate, ..warps() },
        GemmConfig { schedule: split(300, 1), ..hopper() },
        GemmConfig { schedule: split(4, 3), ..hopper() },
        GemmConfig { schedule: split(2, 2), ..warps() },
        GemmConfig { schedule: split(2, 1), ..specialised(|w| WarpSpecialized { multicast: 2, ..w }) },
        GemmConfig { schedule: split(8, 8), store: direct, tile: [128, 128, 64], ..hopper() },
        GemmConfig { schedule: split(4, 4), ..hopper() },
        GemmConfig { schedule: split(2, 1), ..specialised(|w| WarpSpecialized { teams: 2, ..w }) },
        GemmConfig { store: Store::Tma { tile: [128, 128], stages: 1 }, ..warps() },
        GemmConfig { store: Store::Direct { vector: 3 }, ..warps() },
        GemmConfig { store: Store::Coalesced { tile: [128, 8], vector: 8 }, ..hopper() },
        tma([64, 64], 1),
        tma([128, 48], 1),
        tma([128, 32], 3),
    ]
}

/// FMAs of which two threads have the same accumulators.
fn duplicates() -> GemmConfig {
    let twice = lay!("(2,1):(0,0)");
    let atom = MmaAtom { threads: lay!("2:1"), a: twice, b: twice, c: twice, ..UNIVERSAL_FMA_F32 };
    let simt = simt(Major::K, Major::K);
    let Some(before) = simt.mainloop.multistage() else { panic!("no multistage mainloop") };
    let (atoms, permutation) = (lay!("(16,8):(8,1)"), [Tile::All, Tile::All]);
    let mainloop = Mainloop::Multistage(Multistage { atom, atoms, permutation, ..*before });
    let schedule = Schedule::SplitK { parts: 2, cluster: 1 };
    GemmConfig { tile: [64, 64, 16], schedule, ..simt.with_mainloop(mainloop) }
}

fn epilogues() -> Vec<Error> {
    let new = Epilogue::new;
    let wrong = |epilogue: Epilogue| refused(generate(&warps(), &epilogue));
    let gated = new().gated(Activation::Silu);
    let columns = GemmConfig { c_major: Major::Mn, ..warps() };
    let [sum, row] = ["sum", "x"].map(|name| Output::row(name, Reduction::Sum));
    vec![
        refused(generate(&columns, &gated)),
        wrong(gated.gated(Activation::Silu)),
        refused(Input { vector: Some(3), ..Input::matrix("x", DType::F32) }.aligned(&warps())),
        wrong(new().plus(Input::row("x", DType::F32)).plus(Input::column("x", DType::F32))),
        wrong(new().plus(Input::row("x", DType::F32)).reduce(row)),
        wrong(new().reduce(Output { dtype: DType::F16, ..sum })),
    ]
}

fn problems() -> Vec<Error> {
    let kernel = generate(&warps(), &Epilogue::new()).unwrap_or_else(|error| panic!("{error}"));
    let [rows, tiles] = [[1 << 20, 16, 1 << 20], [1 << 30, 1 << 32, 1]]
        .map(|[rows, bytes, batches]| refused(Rows { rows, bytes, batches, ..Rows::default() }.blocks()));
    let none = RepitchConfig { name: "copy", copied: [false; 2], batch: Batch::Single, programmatic: false };
    vec![
        refused(kernel.tiles(1 << 30, 1 << 30)),
        refused(stream::kernel(true).pieces([128, 128, i64::from(u32::MAX)], 1, 132)),
        rows,
        tiles,
        refused(repitch(&none)),
    ]
}

/// Parts of a mainloop that a kernel asks for.
fn parts() -> [Error; 2] {
    let config = hopper();
    let Some(parts) = config.mainloop.warp_specialized() else { panic!("no warp-specialised mainloop") };
    let mainloop = parts.mainloop(config.tile).unwrap_or_else(|error| panic!("{error}"));
    let mut b = Builder::new("k", 90, 384);
    let stages = mainloop.stages(&mut b).unwrap_or_else(|error| panic!("{error}"));
    [
        refused(mainloop.tma_copy_of_scales(Operand::B, &lay!("(64,64):(1,64)"))),
        refused(mainloop.emit(&mut b, stages, [], |_, _| Ok(()), |_, _| Ok(()))),
    ]
}

#[test]
fn every_error_of_gemms_is_provoked() {
    let configs = mainloops().into_iter().chain(schedules_and_stores()).chain([duplicates()]);
    let built = configs.map(|config| match generate(&config, &Epilogue::new()) {
        Err(error) => error,
        Ok(_) => panic!("{config:?} was built"),
    });
    complete("gemm", GemmError::KINDS, built.chain(epilogues()).chain(problems()).chain(parts()));
}
