//! Shared memory has 32 banks of 4 bytes; what a phase of a warp's access asks of one bank it gets word by word.

use girih_layout::Lay;
use girih_tensor::{Slice, Tensor};
use std::collections::BTreeSet;

use super::configs::{LAYOUTS, simt, sm80};
use super::{for_thread, shared, thread, threads};
use crate::gemm::fragment::FragmentLoad;
use crate::gemm::load::tile_copy;
use crate::gemm::{GemmConfig, Major};
use crate::plan::{Pieces, WarpAccess};
use crate::tiled_mma::Operand;
use crate::{Expr, Memory, Smem, engine};
use girih_tensor::DType;

/// A warp's access as it is served, in phases that ask for 128 bytes, and as if words that several phases read were
/// served once.
fn wavefronts(addresses: Vec<i64>, bytes: i64) -> Pieces {
    let words: BTreeSet<i64> = addresses.iter().flat_map(|a| a / 4..(a + bytes + 3) / 4).collect();
    let busiest = (0..32).map(|bank| words.iter().filter(|w| *w % 32 == bank).count()).max();
    let mut sum = WarpAccess { warp: 0, value: 0, addresses, bytes }.wavefronts();
    sum += Pieces { taken: busiest.unwrap_or(0) as i64, least: words.len().div_ceil(32) as i64 };
    sum
}

/// The addresses of every warp's accesses: what `address` gives for a thread.
fn warps(config: &GemmConfig, address: &Expr) -> Vec<Vec<i64>> {
    let lanes = |warp: i64| (0..32).map(|lane| for_thread(address, 32 * warp + lane)).collect();
    (0..threads(config) / 32).map(lanes).collect()
}

fn size(layout: &Lay) -> i64 {
    layout.size().unwrap().get().unwrap()
}

/// Each of an operand's accesses to shared memory: the address for the thread, bytes a lane.
fn accesses(config: &GemmConfig, operand: Operand, shared: &Tensor<Smem>) -> Vec<(Expr, i64)> {
    let thread = thread(config);
    let element = i64::from(config.atom.a_type.bits() / 8);
    let vector = config.source(operand).vector;
    let stored = tile_copy(config, operand).unwrap().get_slice(&thread).unwrap().partition_d(shared).unwrap(); // (Val,RestX,RestK,Stage)
    let mut out: Vec<_> = (0..size(stored.layout()) / vector)
        .map(|i| (engine::at(&stored, i * vector).unwrap().address().unwrap(), vector * element))
        .collect();
    match FragmentLoad::new(config, operand, shared, &thread).unwrap() {
        FragmentLoad::Matrix { rows, .. } => {
            out.extend(
                (0..size(rows.layout())).map(|i| (engine::at(&rows, i).unwrap().address().unwrap(), 16)),
            );
        }
        FragmentLoad::Vector { vectors, values } => {
            let firsts = (1..4).fold(1, |n, mode| n * size(&values.layout().mode(mode).unwrap()));
            let at = |i| Slice::At(Expr::from(i));
            for i in 0..firsts {
                let (vector, rest) = (i % vectors.count().unwrap(), i / vectors.count().unwrap());
                let blocks = config.k_blocks();
                let first =
                    values.slice(&Slice::tuple([at(0), at(vector), at(rest % blocks), at(rest / blocks)]));
                out.push((first.unwrap().into_engine().address().unwrap(), vectors.width * element));
            }
        }
    }
    out
}

/// All accesses of an operand.
fn total(config: &GemmConfig, operand: Operand, shared: &Tensor<Smem>) -> Pieces {
    let of = |(address, bytes): (Expr, i64)| {
        warps(config, &address).into_iter().map(move |warp| wavefronts(warp, bytes)).sum::<Pieces>()
    };
    accesses(config, operand, shared).into_iter().map(of).sum()
}

#[test]
fn chosen_tiles_have_no_bank_conflicts() {
    for (name, a, b) in LAYOUTS {
        for config in [sm80(DType::Bf16, a, b), simt(a, b)] {
            for operand in [Operand::A, Operand::B] {
                let pieces = total(&config, operand, &shared(&config, operand));
                assert!(pieces.least > 0);
                assert!(pieces.is_least(), "{} {name}, {operand:?}: {pieces}", config.name);
            }
        }
    }
}

/// The model sees the conflicts that the swizzles are there for.
#[test]
fn without_a_swizzle_columns_collide() {
    for config in [sm80(DType::Bf16, Major::K, Major::K), simt(Major::K, Major::K)] {
        let tile = shared(&config, Operand::B);
        let plain = Tensor::new(Smem::new(Expr::from(0), config.atom.a_type, None), *tile.layout());
        let pieces = total(&config, Operand::B, &plain);
        assert!(!pieces.is_least(), "{}: {pieces}", config.name);
    }
}
