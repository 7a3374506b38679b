//! Shared memory has 32 banks of 4 bytes; what a phase of a warp's access asks of one bank it gets word by word.

use girih_layout::Lay;
use girih_tensor::{Slice, Tensor};
use std::collections::BTreeSet;

use super::configs::{LAYOUTS, simt, sm80};
use super::{for_thread, shared, thread, threads};
use crate::gemm::fragment::FragmentLoad;
use crate::gemm::load::tile_copy;
use crate::gemm::{GemmConfig, Major};
use crate::tiled_mma::Operand;
use crate::{Expr, Memory, Smem, engine};
use girih_tensor::DType;

/// Wavefronts of one warp's access of `bytes` bytes a lane in phases of `lanes` lanes, and the least that the words
/// it touches could need.
fn wavefronts(addresses: &[i64], bytes: i64, lanes: usize) -> (usize, usize) {
    let (mut needed, mut least) = (0, 0);
    for phase in addresses.chunks(lanes) {
        let words: BTreeSet<i64> = phase.iter().flat_map(|a| a / 4..(a + bytes + 3) / 4).collect();
        let busiest = (0..32).map(|bank| words.iter().filter(|w| *w % 32 == bank).count()).max();
        needed += busiest.unwrap_or(0);
        least += words.len().div_ceil(32);
    }
    (needed, least)
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
    let element = i64::from(config.atom.ab_type.bytes());
    let vector = config.source(operand).vector;
    let stored = tile_copy(config, operand).unwrap().partition(shared, &thread).unwrap(); // (Val,RestX,RestK,Stage)
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

/// (wavefronts, least) of all accesses of an operand: in phases that ask for 128 bytes, and all lanes together, as
/// if words that several phases read were served once.
fn total(config: &GemmConfig, operand: Operand, shared: &Tensor<Smem>) -> (usize, usize) {
    let mut sum = (0, 0);
    for (address, bytes) in accesses(config, operand, shared) {
        for warp in warps(config, &address) {
            for lanes in [(128 / bytes).min(32) as usize, 32] {
                let (needed, least) = wavefronts(&warp, bytes, lanes);
                sum = (sum.0 + needed, sum.1 + least);
            }
        }
    }
    sum
}

#[test]
fn chosen_tiles_have_no_bank_conflicts() {
    for (name, a, b) in LAYOUTS {
        for config in [sm80(DType::Bf16, a, b), simt(a, b)] {
            for operand in [Operand::A, Operand::B] {
                let (needed, least) = total(&config, operand, &shared(&config, operand));
                assert!(least > 0);
                assert_eq!(needed, least, "{} {name}, {operand:?}", config.name);
            }
        }
    }
}

/// The model sees the conflicts that the swizzles are there for.
#[test]
fn without_a_swizzle_columns_collide() {
    for config in [sm80(DType::Bf16, Major::K, Major::K), simt(Major::K, Major::K)] {
        let tile = shared(&config, Operand::B);
        let plain = Tensor::new(Smem::new(Expr::from(0), config.atom.ab_type, None), *tile.layout());
        let (needed, least) = total(&config, Operand::B, &plain);
        assert!(needed > least, "{}: {needed} wavefronts, {least} would do", config.name);
    }
    // Eight rows of 128 bytes at one column: eight times the one wavefront.
    let column: Vec<i64> = (0..8).map(|row| 128 * row).collect();
    assert_eq!(wavefronts(&column, 16, 8), (8, 1));
    // All lanes read one word.
    assert_eq!(wavefronts(&[64; 32], 4, 32), (1, 1));
}
