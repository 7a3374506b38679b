//! Every copy atom in a kernel of its own, on the simulator and on a GPU: what the source's partition reads is what the
//! destination's writes, so a tile comes out as it went in. Skips the GPU with one line where there is none.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;

use girih_codegen::algorithm::{Predicates, copy, copy_if, prefetch};
use girih_codegen::atom::{AUTO_VECTORIZING_COPY, CopyAtom, CopyOp, Reduction, Transfer};
use girih_codegen::{Builder, Cond, Counting, Error, Expr, Gmem, Smem, TiledCopy, TmaCopy, Width};
use girih_device::{Arg, Device, LaunchConfig, Select, TensorMap};
use girih_layout::{Int, Lay, Shape, Stride, Swizzle, Tile, Tiles, lay};
use girih_ptx::{Module, Special, Tiled, Type};
use girih_tensor::{DType, Slice, Tensor};

const THREADS: i64 = 32;
/// Threads whose predicates hold where a copy has some.
const WANTED: i64 = 20;

/// A kernel, what it gets and what it must leave in `to`.
struct Case {
    name: String,
    module: Module,
    from: Vec<u8>,
    to: Vec<u8>,
    expected: Vec<u8>,
    /// The tensor map, of `to` instead of `from` where something is stored.
    map: Option<(Tiled, bool)>,
    blocks: u32,
}

/// What all kernels have.
struct Ends {
    to: Expr,
    from: Expr,
    shared: Expr,
    thread: Expr,
}

fn begin(sm: u32) -> (Builder, Ends) {
    let mut b = Builder::new("k", sm.max(80), THREADS as u32);
    let (to, from) = (b.pointer("to", 16), b.pointer("from", 16));
    let (shared, thread) = (b.shared(), b.special(Special::TidX, THREADS));
    (b, Ends { to, from, shared, thread })
}

fn leaf(extent: i64, stride: i64) -> Lay {
    Lay::leaf(Int::fixed(extent), Stride::Int(Int::fixed(stride))).unwrap()
}

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

fn dtype(bits: u32) -> DType {
    match bits {
        8 => DType::U8,
        16 => DType::U16,
        32 => DType::U32,
        _ => DType::U64,
    }
}

/// Values of a tensor that lies as `layout` says, all of them in vectors by the threads.
macro_rules! linear {
    ($ends:expr, $tensor:expr) => {{
        let count = size($tensor.layout()) / THREADS;
        let tv = Lay::concat(&[leaf(THREADS, count), leaf(count, 1)])?;
        $tensor.tv_partition(&tv, &$ends.thread)?
    }};
}

/// Two instructions of each warp or thread over a line.
fn tiled(atom: CopyAtom, bits: u32) -> Result<TiledCopy, Error> {
    let own =
        if atom.op == CopyOp::AutoVectorizing { leaf(8, 1) } else { leaf(i64::from(atom.bits() / bits), 1) };
    let tv = if size(&atom.threads) == THREADS {
        let reference = atom.reference.upcast(i64::from(bits))?;
        let values = Lay::concat(&[reference.mode(1)?, leaf(2, size(&reference))])?;
        Lay::concat(&[reference.mode(0)?, values])?
    } else {
        let count = size(&own);
        Lay::concat(&[leaf(THREADS, count), Lay::concat(&[own, leaf(2, THREADS * count)])?])?
    };
    TiledCopy::from_tv(atom, bits, &tv, Tiles::new(&[Tile::Lay(leaf(size(&tv), 1))])?)
}

/// An atom whose tile is a line of global memory.
fn line(atom: CopyAtom, bits: u32) -> Result<Case, Error> {
    let copy_tile = tiled(atom, bits)?;
    let count = copy_tile.extents()?[0];
    let element = match atom.op {
        CopyOp::RedAdd { ty: Type::F32, .. } => DType::F32,
        CopyOp::RedAdd { ty: Type::F16x2, .. } => DType::F16,
        CopyOp::RedAdd { .. } => DType::Bf16,
        _ => dtype(bits),
    };
    let (mut b, ends) = begin(atom.sm);
    let array = |pointer: &Expr| Tensor::new(Gmem::new(pointer.clone(), element), leaf(count, 1));
    let (from, to) = (array(&ends.from), array(&ends.to));
    let shared = Tensor::new(Smem::new(ends.shared.clone(), element, None), leaf(count, 1));
    let mine = copy_tile.get_slice(&ends.thread)?;
    let (source, target) = (mine.partition_s(&from)?, mine.partition_d(&to)?);
    let b = &mut b;
    let auto = AUTO_VECTORIZING_COPY;
    match atom.op {
        CopyOp::Universal | CopyOp::AutoVectorizing => {
            let registers = mine.partition_fragment_s(b, &from)?;
            copy(b, &copy_tile, &source, &registers)?;
            copy(b, &copy_tile, &registers, &target)?;
        }
        CopyOp::CpAsync { zfill, .. } => {
            let wanted = if zfill { Cond::less(&ends.thread, &Expr::from(WANTED)) } else { Cond::Always };
            copy_if(b, &copy_tile, &Predicates::from(wanted), &source, &mine.partition_d(&shared)?)?;
            b.ptx("cp.async.wait_all;", &[])?;
            b.barrier();
            copy(b, auto, &linear!(ends, shared), &linear!(ends, to))?;
        }
        CopyOp::Ldmatrix { .. } => {
            copy(b, auto, &linear!(ends, from), &linear!(ends, shared))?;
            b.barrier();
            let registers = mine.partition_fragment_d(b, &to)?;
            copy(b, &copy_tile, &mine.partition_s(&shared)?, &registers)?;
            copy(b, auto, &registers, &target)?;
        }
        CopyOp::Stmatrix { .. } => {
            let registers = mine.partition_fragment_s(b, &from)?;
            copy(b, auto, &source, &registers)?;
            copy(b, &copy_tile, &registers, &mine.partition_d(&shared)?)?;
            b.barrier();
            copy(b, auto, &linear!(ends, shared), &linear!(ends, to))?;
        }
        CopyOp::Movmatrix | CopyOp::Shuffle { .. } => {
            let before = mine.partition_fragment_s(b, &from)?;
            let after = mine.partition_fragment_d(b, &to)?;
            copy(b, auto, &source, &before)?;
            copy(b, &copy_tile, &before, &after)?;
            copy(b, auto, &after, &target)?;
        }
        _ => {
            let registers = mine.partition_fragment_s(b, &from)?;
            copy(b, auto, &source, &registers)?;
            copy(b, &copy_tile, &registers, &target)?;
        }
    }
    let numbers = |step: usize| (0..count as usize).map(|i| i * step % 13).collect::<Vec<usize>>();
    let encode = |numbers: &[usize]| -> Vec<u8> {
        let bytes = |&n: &usize| match element {
            DType::F32 => (n as f32).to_le_bytes().to_vec(),
            DType::F16 => half::f16::from_f64(n as f64).to_le_bytes().to_vec(),
            _ => half::bf16::from_f64(n as f64).to_le_bytes().to_vec(),
        };
        numbers.iter().flat_map(bytes).collect()
    };
    let length = (count * i64::from(bits) / 8) as usize;
    let (from, to, expected) = if let CopyOp::RedAdd { .. } = atom.op {
        let sums: Vec<usize> = numbers(5).iter().zip(numbers(3)).map(|(a, b)| a + b).collect();
        (encode(&numbers(5)), encode(&numbers(3)), encode(&sums))
    } else {
        let from: Vec<u8> = (0..length).map(|i| (i * 37 + i / 256) as u8).collect();
        let mut expected = from.clone();
        if let CopyOp::CpAsync { zfill: true, .. } = atom.op {
            let each = atom.bits() as usize / 8;
            let excluded = |i: usize| (i / each) as i64 % THREADS >= WANTED;
            (0..length).filter(|&i| excluded(i)).for_each(|i| expected[i] = 0);
        }
        (from, vec![0xff; length], expected)
    };
    let module = std::mem::replace(b, Builder::new("k", 80, 1)).finish()?;
    Ok(Case { name: format!("{atom} of {element}"), module, from, to, expected, map: None, blocks: 1 })
}

/// Waits for the first phase of the mbarrier.
const WAIT: &str =
    "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0; @!done bra WAIT; }";

/// The first thread's mbarrier behind `bytes` of shared memory, ready for that many to come.
fn expect(b: &mut Builder, ends: &Ends, bytes: i64, blocks: u32) -> Result<Expr, Error> {
    let address = &ends.shared + bytes;
    let (barrier, bytes) = (b.value(&address, Width::W32)?, b.value(&Expr::from(bytes), Width::W32)?);
    let first = Cond::less(&ends.thread, &Expr::from(1));
    b.if_(&first, |b| {
        b.ptx("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;", &[&barrier])?;
        b.ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", &[&barrier, &bytes])
    })?;
    b.barrier();
    if blocks > 1 {
        b.ptx("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", &[])?;
    }
    Ok(address)
}

fn bulk(transfer: Transfer) -> Result<Case, Error> {
    const COUNT: i64 = 512;
    let atom = CopyAtom::bulk(transfer, 16 * COUNT / 2)?;
    let tv = Lay::concat(&[lay!("1:0"), leaf(COUNT, 1)])?;
    let copy_tile = TiledCopy::from_tv(atom, 16, &tv, Tiles::new(&[Tile::Lay(leaf(COUNT, 1))])?)?;
    let mine = copy_tile.get_slice(&Expr::from(0))?;
    let (mut b, ends) = begin(90);
    let array = |pointer: &Expr| Tensor::new(Gmem::new(pointer.clone(), DType::U16), leaf(COUNT, 1));
    let (from, to) = (array(&ends.from), array(&ends.to));
    let shared = Tensor::new(Smem::new(ends.shared.clone(), DType::U16, None), leaf(COUNT, 1));
    let first = Cond::less(&ends.thread, &Expr::from(1));
    let auto = AUTO_VECTORIZING_COPY;
    match transfer {
        Transfer::Load => {
            let barrier = expect(&mut b, &ends, 2 * COUNT, 1)?;
            b.if_(&first, |b| {
                let with = girih_codegen::algorithm::CopyWith::from(&copy_tile).barrier(&barrier);
                copy(b, with, &mine.partition_s(&from)?, &mine.partition_d(&shared)?)
            })?;
            let address = b.value(&barrier, Width::W32)?;
            b.ptx(WAIT, &[&address])?;
            copy(&mut b, auto, &linear!(ends, shared), &linear!(ends, to))?;
        }
        Transfer::Store => {
            copy(&mut b, auto, &linear!(ends, from), &linear!(ends, shared))?;
            b.ptx("fence.proxy.async.shared::cta;", &[])?;
            b.barrier();
            b.if_(&first, |b| {
                copy(b, &copy_tile, &mine.partition_s(&shared)?, &mine.partition_d(&to)?)?;
                b.ptx("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", &[])
            })?;
        }
        _ => {
            b.if_(&first, |b| prefetch(b, &copy_tile, &mine.partition_s(&from)?))?;
            copy(&mut b, auto, &linear!(ends, from), &linear!(ends, to))?;
        }
    }
    let from: Vec<u8> = (0..2 * COUNT).map(|i| (i * 37 + i / 256) as u8).collect();
    let (to, expected) = (vec![0xff; from.len()], from.clone());
    Ok(Case { name: atom.name(), module: b.finish()?, from, to, expected, map: None, blocks: 1 })
}

/// What a reduction makes of old and new.
fn reduced(op: Reduction, old: u32, new: u32) -> u32 {
    match op {
        Reduction::Add => old.wrapping_add(new),
        Reduction::Min => old.min(new),
        Reduction::Max => old.max(new),
        Reduction::Inc => {
            if old >= new {
                0
            } else {
                old + 1
            }
        }
        Reduction::Dec => {
            if old == 0 || old > new {
                new
            } else {
                old - 1
            }
        }
        Reduction::And => old & new,
        Reduction::Or => old | new,
        Reduction::Xor => old ^ new,
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A tile of u32 of a tensor whose end cuts it along the outer modes.
fn tensor(transfer: Transfer, rank: usize, swizzle: Swizzle) -> Result<Case, Error> {
    // As long as the swizzle.
    let row = if swizzle.bits() == 0 { 16 } else { 4 << swizzle.bits() };
    let tile: Vec<i64> = if rank == 1 { vec![64] } else { [row, 8, 2, 2, 2][..rank].to_vec() };
    // The tile is the second along each mode; the last modes end one before it does.
    let extents: Vec<i64> = tile.iter().enumerate().map(|(i, n)| 2 * n - i64::from(i > 0)).collect();
    let shape = |extents: &[i64]| Shape::flat(&extents.iter().map(|&n| Int::fixed(n)).collect::<Vec<_>>());
    let (whole, part) = (Lay::left(&shape(&extents)?)?, Lay::left(&shape(&tile)?)?);
    let tma = TmaCopy::new(transfer, DType::U32, &whole, &part, swizzle)?;
    let mine = tma.copy().get_slice(&Expr::from(0))?;
    let count = size(&part);
    let blocks = if transfer == Transfer::Multicast { 2 } else { 1 };
    let (mut b, ends) = begin(90);
    let map = b.tensor_map("map");
    let rank_in_cluster = b.special(Special::ClusterCtarank, 2);
    let tiles = tile.iter().map(|&n| Tile::Lay(leaf(n, 1))).collect::<Vec<_>>();
    let at = vec![Slice::At(Expr::from(1)); rank];
    let coordinates = Tensor::new(Counting::new(rank), Lay::identity(&shape(&extents)?)?)
        .local_tile(&girih_layout::Tiler::Modes(Tiles::new(&tiles)?), &at)?;
    let swizzle = Some(swizzle).filter(|s| s.bits() > 0);
    let shared = Tensor::new(Smem::new(ends.shared.clone(), DType::U32, swizzle), part);
    let line = |pointer: Expr| Tensor::new(Gmem::new(pointer, DType::U32), part);
    let first = Cond::less(&ends.thread, &Expr::from(1));
    let auto = AUTO_VECTORIZING_COPY;
    let with = tma.with(&map);
    match transfer {
        Transfer::Load | Transfer::Multicast => {
            let barrier = expect(&mut b, &ends, 4 * count, blocks)?;
            let with = if blocks > 1 { with.blocks(0b11) } else { with };
            let leader = Cond::all([first, Cond::less(&rank_in_cluster, &Expr::from(1))]);
            b.if_(&leader, |b| {
                copy(b, with.barrier(&barrier), &mine.partition_s(&coordinates)?, &mine.partition_d(&shared)?)
            })?;
            let address = b.value(&barrier, Width::W32)?;
            b.ptx(WAIT, &[&address])?;
            let to = line(&ends.to + &(&rank_in_cluster * (4 * count)));
            copy(&mut b, auto, &linear!(ends, shared), &linear!(ends, to))?;
        }
        Transfer::Store | Transfer::Reduce(_) => {
            let from = line(ends.from.clone());
            copy(&mut b, auto, &linear!(ends, from), &linear!(ends, shared))?;
            b.ptx("fence.proxy.async.shared::cta;", &[])?;
            b.barrier();
            b.if_(&first, |b| {
                copy(b, with, &mine.partition_s(&shared)?, &mine.partition_d(&coordinates)?)?;
                b.ptx("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", &[])
            })?;
        }
        Transfer::Prefetch => {
            b.if_(&first, |b| prefetch(b, with, &mine.partition_s(&coordinates)?))?;
            let (from, to) = (line(ends.from.clone()), line(ends.to.clone()));
            copy(&mut b, auto, &linear!(ends, from), &linear!(ends, to))?;
        }
    }
    // Where each element of the tile lies in the tensor, if it does.
    let place = |i: i64| {
        let (mut rest, mut index, mut pitch) = (i, 0, 1);
        for (n, extent) in tile.iter().zip(&extents) {
            let at = n + rest % n;
            rest /= n;
            if at >= *extent {
                return None;
            }
            index += at * pitch;
            pitch *= extent;
        }
        Some(index as usize)
    };
    let all: Vec<u32> = (0..size(&whole) as u32).map(|i| i.wrapping_mul(2_654_435) ^ i).collect();
    let some: Vec<u32> = (0..count as u32).map(|i| (i.wrapping_mul(40_503) ^ i >> 2) & 0xff_ffff).collect();
    let loaded: Vec<u32> = (0..count).map(|i| place(i).map_or(0, |at| all[at])).collect();
    let mut stored = all.clone();
    for (i, &new) in (0..).zip(&some) {
        if let Some(at) = place(i) {
            let op = if let Transfer::Reduce(op) = transfer { Some(op) } else { None };
            stored[at] = op.map_or(new, |op| reduced(op, stored[at], new));
        }
    }
    let (from, to, expected) = match transfer {
        Transfer::Load | Transfer::Multicast => {
            (all, vec![!0; loaded.len() * blocks as usize], loaded.repeat(blocks as usize))
        }
        Transfer::Prefetch => (all.clone(), vec![!0; count as usize], all[..count as usize].to_vec()),
        _ => (some, all, stored),
    };
    let stores = matches!(transfer, Transfer::Store | Transfer::Reduce(_));
    let name = format!("{} {:?}", tma.copy().atom, tma.tiled()?.swizzle);
    let [from, to, expected] = [from, to, expected].map(|words| bytes(&words));
    Ok(Case { name, module: b.finish()?, from, to, expected, map: Some((tma.tiled()?, stores)), blocks })
}

/// The kernels of every atom.
fn cases() -> Result<Vec<Case>, Error> {
    let mut out = Vec::new();
    for atom in CopyAtom::all() {
        match atom.op {
            CopyOp::Bulk(transfer) => out.push(bulk(transfer)?),
            CopyOp::Tma { transfer, rank } => {
                out.push(tensor(transfer, rank as usize, Swizzle::NONE)?);
                // A swizzle exchanges pieces of rows.
                for bits in (1..=3).filter(|_| rank > 1) {
                    out.push(tensor(transfer, rank as usize, Swizzle::new(bits, 2, 3)?)?);
                }
            }
            CopyOp::Ldmatrix { transposed: true, .. } | CopyOp::Stmatrix { transposed: true, .. } => {
                out.push(line(atom, 16)?);
            }
            CopyOp::Movmatrix => out.push(line(atom, 16)?),
            CopyOp::RedAdd { ty, .. } => out.push(line(atom, if ty == Type::F32 { 32 } else { 16 })?),
            _ => {
                for bits in [8, 16, 32, 64] {
                    let matrices = matches!(
                        atom.op,
                        CopyOp::Ldmatrix { .. } | CopyOp::Stmatrix { .. } | CopyOp::Shuffle { .. }
                    );
                    if bits <= atom.bits() && !(matrices && bits == 64) {
                        out.push(line(atom, bits)?);
                    }
                }
            }
        }
    }
    Ok(out)
}

fn run(case: &Case, device: &Device) -> Result<Vec<u8>, girih_device::Error> {
    let kernel = device.load(&case.module)?.kernel("k")?;
    let (from, to) = (device.upload(&case.from)?, device.upload(&case.to)?);
    let map = match &case.map {
        Some((tiled, true)) => Some(TensorMap::new(&to, tiled)?),
        Some((tiled, false)) => Some(TensorMap::new(&from, tiled)?),
        None => None,
    };
    let mut args = vec![Arg::from(&to), Arg::from(&from)];
    args.extend(map.as_ref().map(Arg::from));
    let config = LaunchConfig::new([case.blocks, 1, 1], [THREADS as u32, 1, 1]).with_dynamic_shared(16 << 10);
    let config = if case.blocks > 1 { config.with_cluster([case.blocks, 1, 1]) } else { config };
    // SAFETY: the kernel reads and writes the elements of a tile, which the buffers hold.
    #[expect(unsafe_code, reason = "launching a generated kernel")]
    unsafe {
        kernel.launch(&config, &args)?;
    }
    to.download()
}

#[test]
fn every_copy_atom_copies() {
    let cases = cases().unwrap();
    let mut devices = vec![Device::open(Select::Sim).unwrap()];
    match Device::open(Select::Cuda(0)) {
        Ok(gpu) => devices.push(gpu),
        // The harness swallows what eprintln! writes.
        Err(error) => writeln!(std::io::stderr(), "skipped on a GPU: {error}").unwrap(),
    }
    for device in &devices {
        for case in &cases {
            let found = run(case, device);
            let found =
                found.unwrap_or_else(|e| panic!("{} on {}: {e}\n{}", case.name, device.name(), case.module));
            assert_eq!(found, case.expected, "{} on {}\n{}", case.name, device.name(), case.module);
        }
        println!("{} copies on {}", cases.len(), device.name());
    }
}
