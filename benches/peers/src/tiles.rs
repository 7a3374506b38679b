//! girih's side of a product in the tile language: the kernels of `girih::programs`, launched as users launch them.

use std::cell::RefCell;

use girih_codegen::gemm::Major;
use girih_device::Buffer;
use girih_programs as programs;
use girih_tile::launch::{DeviceArray, Launch, Prepared};
use half::bf16;
use serde_json::Value;

use crate::contest::Failure;
use crate::measure::{Bench, Run, Side};
use crate::operands::Operands;
use crate::ours::{Ours, Wrong};
use crate::rows::Product;

/// A launch of a kernel by the tile of a row.
macro_rules! by_tile {
    ($tile:expr, $kernel:ident $args:tt) => {
        by_tile!($tile, $kernel $args, [128 256 64] [256 128 64] [128 128 64] [64 256 64] [64 128 64] [64 64 64])
    };
    ($tile:expr, $kernel:ident $args:tt, $([$m:literal $n:literal $k:literal])*) => {
        match $tile {
            $([$m, $n, $k] => programs::$kernel::<bf16, $m, $n, $k> $args,)*
            other => {
                let all = [$(concat!($m, "x", $n, "x", $k)),*].join(", ");
                return Err(format!("no bench has a tile {other:?}: {all} are accepted").into());
            }
        }
    };
}

/// The arrays of a set.
struct Arrays {
    a: DeviceArray<bf16, 2>,
    b: Factor,
    fused: Option<[DeviceArray<bf16, 2>; 1]>,
    bias: Option<DeviceArray<bf16, 1>>,
    c: DeviceArray<bf16, 2>,
}

/// B, or the B of each group with the numbers of the rows at which the groups end.
enum Factor {
    One(DeviceArray<bf16, 2>),
    Groups(DeviceArray<bf16, 3>, DeviceArray<i32, 1>),
}

/// A matrix on a buffer: its extents, which mode is contiguous, and the pitch of the other.
fn matrix(
    buffer: &Buffer<bf16>,
    extents: [i64; 2],
    last: bool,
    pitch: i64,
) -> Result<DeviceArray<bf16, 2>, Failure> {
    let strides = if last { [pitch, 1] } else { [1, pitch] };
    Ok(DeviceArray::new(buffer.slice(..)?, 0, extents.map(|n| n as usize), strides.map(|n| n as usize))?)
}

impl Arrays {
    fn new(product: &Product, operands: &Operands<'_, bf16, bf16>, set: usize) -> Result<Arrays, Failure> {
        let ([m, n, k], [lda, ldb, ldc]) = (product.mnk, product.pitches());
        let [a_rows, b_rows] = product.layout.majors().map(|major| major == Major::K);
        let ([a, b], c) = (&operands.inputs[set], &operands.outputs[set]);
        let b = match &operands.offsets {
            None => Factor::One(matrix(b, [k, n], !b_rows, ldb)?),
            Some((offsets, _)) => {
                let (wide, strides) = if b_rows { (n, [1, ldb]) } else { (k, [ldb, 1]) };
                let strides = [wide * ldb, strides[0], strides[1]].map(|n| n as usize);
                let extents = [product.batch, k, n].map(|n| n as usize);
                let ends: Vec<i32> = offsets[1..].iter().map(|&end| end as i32).collect();
                let ends = DeviceArray::upload(c.device(), &ends, [ends.len()])?;
                Factor::Groups(DeviceArray::new(b.slice(..)?, 0, extents, strides)?, ends)
            }
        };
        let (fused, bias) = match &operands.fused {
            None => (None, None),
            Some(fused) => {
                let bias = DeviceArray::new(fused.bias.slice(..)?, 0, [n as usize], [1])?;
                (Some([matrix(&fused.residuals[set], [m, n], true, ldc)?]), Some(bias))
            }
        };
        let a = matrix(a, [m, k], a_rows, lda)?;
        Ok(Arrays { a, b, fused, bias, c: matrix(c, [m, n], true, ldc)? })
    }

    fn launch(&mut self, tile: [i64; 3], blocks: u32) -> Result<Launch<'_>, Failure> {
        let Arrays { a, b, fused, bias, c } = self;
        Ok(match (b, fused, bias) {
            (Factor::One(b), Some([residual]), Some(bias)) => {
                by_tile!(tile, gemm_gelu(a, b, bias, residual, c))
            }
            (Factor::One(b), ..) => by_tile!(tile, gemm(a, b, c)),
            (Factor::Groups(b, ends), ..) => by_tile!(tile, gemm_grouped(a, b, ends, c)).grid([blocks]),
        })
    }
}

/// Checks the result of the kernel of a row's tile, and captures a graph of launches of it.
pub(crate) fn ours<'a>(
    bench: &Bench,
    product: &Product,
    operands: &'a Operands<'_, bf16, bf16>,
) -> Result<Ours<'a>, Failure> {
    let Some(tile) = product.tile else { return Err("the row has no tile".into()) };
    let config = format!("tile {tile:?}");
    // Blocks that go through all groups: as many as fit the SMs.
    let blocks = bench.device.limits().multiprocessors;
    let sets = 0..operands.sets();
    let mut arrays =
        sets.map(|set| Arrays::new(product, operands, set)).collect::<Result<Vec<_>, Failure>>()?;
    operands.outputs[0].fill_bytes(0xff)?;
    bench.trial().set(Some(config.clone()));
    arrays[0].launch(tile, blocks)?.run()?;
    let checked = operands.check_own(0);
    if bench.device.synchronize().is_ok() {
        bench.trial().set(None);
    }
    checked.map_err(|wrong| Wrong(format!("{config}: {wrong}")))?;
    let launches = arrays.iter_mut().map(|arrays| Ok(arrays.launch(tile, blocks)?.prepare()?));
    let launches = launches.collect::<Result<Vec<Prepared>, Failure>>()?;
    let launched: Run<'a> = Box::new(move |set| Ok(launches[set].run()?));
    let arrays = RefCell::new(arrays);
    let by_call: Run<'a> = Box::new(move |set| Ok(arrays.borrow_mut()[set].launch(tile, blocks)?.run()?));
    let name = String::from("girih, tile language");
    let side = Side::new(&bench.device, name, launched, operands.sets(), bench.effort.graph)?;
    Ok(Ours { side, by_call, config, fields: Value::Null })
}
