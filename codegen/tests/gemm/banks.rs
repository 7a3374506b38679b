//! Bank conflicts of the GEMM kernels: shared memory has 32 banks of 4 bytes, and a bank gives the words of a phase one by one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use girih_codegen::Operand;
use girih_codegen::gemm::{Epilogue, GemmConfig, Major, generate};
use girih_codegen::plan::{Pieces, WarpAccess};
use girih_sim::{Moment, Observer, Options};
use girih_tensor::DType;

use super::configs::{chosen, multistage, simt, sm80};
use super::run::{Matrix, multiply};

/// The wavefronts of a warp's access, in phases that ask for 128 bytes, if words that several phases read were
/// served once.
fn wavefronts(addresses: Vec<i64>, bytes: i64) -> Pieces {
    let words: BTreeSet<i64> = addresses.iter().flat_map(|a| a / 4..(a + bytes + 3) / 4).collect();
    let busiest = (0..32).map(|bank| words.iter().filter(|w| *w % 32 == bank).count()).max();
    let mut sum = WarpAccess { warp: 0, value: 0, addresses, bytes }.wavefronts();
    sum += Pieces { taken: busiest.unwrap_or(0) as i64, least: words.len().div_ceil(32) as i64 };
    sum
}

/// An address for each lane, and the number of bytes that are moved there.
type Accesses = Vec<(Vec<i64>, i64)>;

/// Every access to shared memory of every warp.
#[derive(Default)]
struct Shared(Mutex<Accesses>);

impl Observer for Shared {
    fn chooses(&self, _: [u32; 3], _: u32) -> bool {
        true
    }

    fn before(&self, moment: &Moment<'_>) {
        let text = moment.instruction();
        let Some((name, operands)) = text.split_once(' ') else { return };
        let bytes = match name {
            "cp.async.cg.shared.global" | "cp.async.ca.shared.global" => {
                operands.split(", ").nth(2).unwrap().parse().unwrap()
            }
            _ if name.starts_with("ldmatrix.sync.aligned.m8n8.x4") => 16,
            "ld.shared.v4.f32" | "ld.shared.v4.b32" => 16,
            "ld.shared.b32" | "st.shared.f32" => 4,
            "ld.shared.f64" => 8,
            _ if name.contains("shared") || name.contains("ldmatrix") => panic!("{text}: how many bytes?"),
            _ => return,
        };
        // The address in shared memory is the first of the copy's two, `[%r+offset]`.
        let (_, address) = operands.split_once('[').unwrap();
        let (address, _) = address.split_once(']').unwrap();
        let (base, offset) = address.split_once('+').unwrap_or((address, "0"));
        let offset: i64 = offset.parse().unwrap();
        let base = moment.registers().find(|register| register.name == base).unwrap();
        assert_eq!(moment.active(), u32::MAX, "{text}");
        let lanes = base.lanes.map(|lane| lane as u32 as i64 + offset).to_vec();
        self.0.lock().unwrap().push((lanes, bytes));
    }
}

/// The accesses to the operands' tiles by a block that multiplies a tile with all stages in use; addresses begin with the tiles.
fn accesses(config: &GemmConfig) -> [Accesses; 2] {
    let [m, n, k] = config.tile;
    let mainloop = multistage(config);
    let k = k * (mainloop.stages + 1);
    let operands = [&Matrix::new(mainloop.a, m, k, 3), &Matrix::new(mainloop.b, n, k, 4)];
    let shared = Arc::new(Shared::default());
    let options = Options { observer: Some(shared.clone()), threads: Some(1), ..Options::fast() };
    multiply(config, &generate(config, &Epilogue::new()).unwrap(), operands, [m, n, k], &options);
    let all = std::mem::take(&mut *shared.0.lock().unwrap());
    let base = all.iter().flat_map(|(lanes, _)| lanes).min().copied().unwrap();
    let bytes =
        config.tile[0] * config.tile[2] * mainloop.stages * i64::from(config.atom().a_type.bits() / 8);
    // A's tiles come first.
    let is_of_a = |(lanes, _): &(Vec<i64>, i64)| lanes[0] - base < bytes;
    let (a, b): (Accesses, Accesses) = all.into_iter().partition(is_of_a);
    let from = |first: i64, all: Accesses| {
        all.into_iter()
            .map(|(lanes, bytes)| (lanes.into_iter().map(|at| at - first).collect(), bytes))
            .collect()
    };
    [from(base, a), from(base + bytes, b)]
}

fn total(accesses: Accesses) -> Pieces {
    accesses.into_iter().map(|(lanes, bytes)| wavefronts(lanes, bytes)).sum()
}

#[test]
fn chosen_tiles_have_no_bank_conflicts() {
    // Where every element passes through a register, shared memory is written element by element.
    for config in chosen().into_iter().filter(|config| config.tile[0] == 128) {
        for (operand, accesses) in [Operand::A, Operand::B].into_iter().zip(accesses(&config)) {
            let pieces = total(accesses);
            assert!(pieces.least > 0);
            assert!(pieces.is_least(), "{config:?}, {operand:?}: {pieces}");
        }
    }
}

/// The model sees the conflicts that the swizzles are there for.
#[test]
fn without_a_swizzle_columns_collide() {
    for config in [sm80(DType::Bf16, Major::K, Major::K), simt(Major::K, Major::K)] {
        let element = i64::from(config.atom().b_type.bits() / 8);
        let swizzle = super::shared_tile(&config, Operand::B).swizzle.unwrap();
        let [_, mut accesses] = accesses(&config);
        for at in accesses.iter_mut().flat_map(|(lanes, _)| lanes) {
            // A swizzle is its own inverse.
            *at = swizzle.apply(*at / element) * element + *at % element;
        }
        let pieces = total(accesses);
        assert!(!pieces.is_least(), "{}: {pieces}", config.name);
    }
}
