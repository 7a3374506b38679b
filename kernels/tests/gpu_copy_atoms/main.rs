//! Every copy atom in a kernel of its own, on the simulator and on a GPU. The partitions of source and destination agree if a tile comes
//! out as it went in. Skips the GPU with one line where there is none.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bulk;
mod line;
mod tensor;

use std::io::Write;

use girih_codegen::atom::{CopyAtom, CopyOp};
use girih_codegen::{Builder, Cond, Error, Expr, Width};
use girih_device::{Arg, Device, LaunchConfig, Select, SimOptions, TensorMap};
use girih_layout::{Int, Lay, Stride, Swizzle};
use girih_ptx::{Module, Special, Tiled, Type};
use girih_tensor::{Engine, Tensor};

pub(crate) const THREADS: i64 = 32;
/// Bytes of shared memory, which are enough for every atom and an mbarrier.
const SHARED_BYTES: i64 = 20 << 10;

/// A kernel, the bytes that it gets, and those that it must leave in `to`.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) module: Module,
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
    pub(crate) expected: Vec<u8>,
    /// The tensor map of `from`, or of `to` where the atom stores.
    pub(crate) map: Option<(Tiled, bool)>,
    pub(crate) blocks: u32,
}

/// What the kernels of all atoms have.
pub(crate) struct Ends {
    pub(crate) to: Expr,
    pub(crate) from: Expr,
    pub(crate) shared: Expr,
    pub(crate) thread: Expr,
}

pub(crate) fn begin(sm: u32) -> (Builder, Ends) {
    let mut b = Builder::new("k", sm.max(80), THREADS as u32);
    let (to, from) = (b.pointer("to", 16), b.pointer("from", 16));
    let (shared, thread) = (b.alloc_shared(SHARED_BYTES, 1024).unwrap(), b.special(Special::TidX));
    (b, Ends { to, from, shared, thread })
}

pub(crate) fn leaf(extent: i64, stride: i64) -> Lay {
    Lay::leaf(Int::fixed(extent), Stride::Int(Int::fixed(stride))).unwrap()
}

pub(crate) fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

/// What a thread has of a tensor whose values all threads share, in vectors.
pub(crate) fn linear<E: Engine<Index = Expr>>(ends: &Ends, tensor: &Tensor<E>) -> Result<Tensor<E>, Error> {
    let count = size(tensor.layout()) / THREADS;
    let tv = Lay::concat(&[leaf(THREADS, count), leaf(count, 1)])?;
    Ok(tensor.tv_partition(&tv, &ends.thread)?)
}

/// Waits until the first phase of the mbarrier is complete.
pub(crate) const WAIT: &str =
    "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0; @!done bra WAIT; }";

/// An mbarrier after `bytes` bytes of shared memory. The first thread initialises it to wait for as many bytes.
pub(crate) fn expect(b: &mut Builder, ends: &Ends, bytes: i64, blocks: u32) -> Result<Expr, Error> {
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

/// The kernels of every atom.
fn cases() -> Result<Vec<Case>, Error> {
    let mut out = Vec::new();
    for atom in CopyAtom::all() {
        match atom.op {
            CopyOp::Bulk(transfer) => out.push(bulk::case(transfer)?),
            CopyOp::BulkReduce { op, dtype } => out.push(bulk::reduction(op, dtype)?),
            CopyOp::Tma { transfer, rank } => {
                out.push(tensor::case(transfer, rank as usize, Swizzle::NONE, 1)?);
                // A swizzle exchanges the pieces of rows.
                for bits in (1..=3).filter(|_| rank > 1) {
                    out.push(tensor::case(transfer, rank as usize, Swizzle::new(bits, 2, 3)?, 1)?);
                }
                // The rows are as long as two swizzles, and each of the two is a box.
                if rank > 1 {
                    out.push(tensor::case(transfer, rank as usize, Swizzle::new(3, 2, 3)?, 2)?);
                }
            }
            CopyOp::Ldmatrix { transposed: true, .. } | CopyOp::Stmatrix { transposed: true, .. } => {
                out.push(line::case(atom, 16)?);
            }
            CopyOp::Movmatrix => out.push(line::case(atom, 16)?),
            CopyOp::RedAdd { ty, .. } => out.push(line::case(atom, if ty == Type::F32 { 32 } else { 16 })?),
            _ => {
                for bits in [8, 16, 32, 64] {
                    let matrices = matches!(
                        atom.op,
                        CopyOp::Ldmatrix { .. } | CopyOp::Stmatrix { .. } | CopyOp::Shuffle { .. }
                    );
                    if bits <= atom.bits() && !(matrices && bits == 64) {
                        out.push(line::case(atom, bits)?);
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
    let config = LaunchConfig::new([case.blocks, 1, 1], [THREADS as u32, 1, 1])
        .with_dynamic_shared(SHARED_BYTES as u32);
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
    let mut devices = vec![Device::open_sim(SimOptions::fast()).unwrap()];
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
