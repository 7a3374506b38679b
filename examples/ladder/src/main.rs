//! A ladder of kernels, from the naive to the fast, each the smallest change from the one before: eight of GEMM and five of attention.
//! `cargo run --release -p girih-example-ladder -- [RUNG...] [--size M N K] [--device sim|cuda]`

mod attention1_naive;
mod attention2_tiled;
mod attention3_prefetch;
mod attention4_tma_wgmma;
mod attention5_ping_pong;
mod gemm1_naive;
mod gemm2_tiled;
mod gemm3_vectorised;
mod gemm4_mma;
mod gemm5_tma_wgmma;
mod gemm6_warp_specialised;
mod gemm7_clustered;
mod gemm8_persistent;
mod harness;

use std::path::PathBuf;

use clap::Parser;
use girih::codegen::Error;
use girih::device::{Device, Kind, Select};
use harness::{Outcome, Rung};

type Write = fn() -> Result<Rung, Error>;

const RUNGS: [(&str, Write); 13] = [
    ("gemm1_naive", gemm1_naive::rung),
    ("gemm2_tiled", gemm2_tiled::rung),
    ("gemm3_vectorised", gemm3_vectorised::rung),
    ("gemm4_mma", gemm4_mma::rung),
    ("gemm5_tma_wgmma", gemm5_tma_wgmma::rung),
    ("gemm6_warp_specialised", gemm6_warp_specialised::rung),
    ("gemm7_clustered", gemm7_clustered::rung),
    ("gemm8_persistent", gemm8_persistent::rung),
    ("attention1_naive", attention1_naive::rung),
    ("attention2_tiled", attention2_tiled::rung),
    ("attention3_prefetch", attention3_prefetch::rung),
    ("attention4_tma_wgmma", attention4_tma_wgmma::rung),
    ("attention5_ping_pong", attention5_ping_pong::rung),
];

/// Runs the rungs, and compares what they compute with f64.
#[derive(Parser)]
struct Cli {
    /// Beginnings of names, as gemm, attention or gemm4 [default: all rungs]
    rungs: Vec<String>,
    /// M, N and K of a GEMM; queries, keys and heads of attention
    #[arg(long, num_args = 3, value_names = ["M", "N", "K"])]
    size: Option<Vec<u32>>,
    /// auto, sim, cuda or cuda:N
    #[arg(long, default_value_t = Select::Auto)]
    device: Select,
    /// Writes the PTX of the rungs to this folder, and runs nothing
    #[arg(long)]
    ptx: Option<PathBuf>,
}

fn main() -> Outcome {
    let cli = Cli::parse();
    let chosen = |name: &str| cli.rungs.is_empty() || cli.rungs.iter().any(|rung| name.starts_with(rung));
    let device = Device::open(cli.device)?;
    for (name, rung) in RUNGS.into_iter().filter(|(name, _)| chosen(name)) {
        let rung = rung()?;
        if let Some(folder) = &cli.ptx {
            std::fs::write(folder.join(name).with_extension("ptx"), rung.kernel.module().to_string())?;
            continue;
        }
        let sizes = match (cli.size.as_deref(), device.kind(), name.starts_with("gemm")) {
            (Some(&[m, n, k]), ..) => [m, n, k],
            (_, Kind::Cuda, true) => [4096, 4096, 4096],
            (_, Kind::Cuda, false) => [4096, 4096, 32],
            (.., true) => [300, 264, 136],
            (.., false) => [200, 150, 2],
        };
        let report = rung.run(&device, sizes)?;
        let rate = match device.kind() {
            Kind::Cuda => format!("{:.1} TFLOP/s", report.time.rate(report.operations) / 1e12),
            Kind::Sim => String::from("simulated"),
        };
        println!("{name:22} {sizes:?} {:>12.3?} {rate:>14} {:.1e}", report.time.median(), report.error);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use girih::device::SimOptions;
    use girih::tensor::DType;

    use super::*;

    /// Runs a rung with all checks of the simulator, on 4 SMs where their number decides the grid.
    fn check(name: &str, sizes: &[[u32; 3]]) -> Outcome {
        let device = Device::open_sim(SimOptions { multiprocessors: Some(4), ..SimOptions::checked() })?;
        let (_, rung) = RUNGS.into_iter().find(|(rung, _)| *rung == name).ok_or("no such rung")?;
        let rung = rung()?;
        // A result in bf16 is rounded by 2^-8 at most, and attention rounds probabilities too.
        let bound = match (rung.dtype, name.starts_with("attention")) {
            (DType::F32, _) => 3e-5,
            (_, false) => 2f64.powi(-8) + 1e-4,
            (_, true) => 2f64.powi(-7),
        };
        for &sizes in sizes {
            let error = rung.run(&device, sizes)?.error;
            assert!(error < bound, "{name} of {sizes:?}: {error:.1e}, not below {bound:.1e}");
        }
        Ok(())
    }

    macro_rules! rungs {
        ($($name:ident $sizes:expr;)*) => {
            #[test]
            fn every_rung_has_a_test() {
                assert_eq!(RUNGS.map(|(name, _)| name), [$(stringify!($name)),*]);
            }

            #[test]
            fn every_rung_is_short() {
                for text in [$(include_str!(concat!(stringify!($name), ".rs"))),*, include_str!("harness.rs")] {
                    assert!(text.lines().count() <= 120, "{} has more than 120 lines", text.lines().next().unwrap());
                }
            }

            $(#[test]
            fn $name() -> Outcome {
                check(stringify!($name), &$sizes)
            })*
        };
    }

    rungs! {
        gemm1_naive [[20, 35, 9], [1, 1, 1]];
        gemm2_tiled [[70, 67, 19], [1, 1, 1]];
        gemm3_vectorised [[130, 131, 20], [1, 1, 4]];
        gemm4_mma [[150, 136, 72], [1, 8, 8]];
        gemm5_tma_wgmma [[150, 136, 328], [1, 8, 8]];
        gemm6_warp_specialised [[150, 264, 328], [1, 8, 8]];
        gemm7_clustered [[300, 264, 328], [1, 8, 8]];
        gemm8_persistent [[300, 776, 200], [1, 8, 8]];
        attention1_naive [[9, 20, 2], [1, 1, 1]];
        attention2_tiled [[70, 150, 2], [1, 1, 1]];
        attention3_prefetch [[70, 150, 2], [1, 1, 1]];
        attention4_tma_wgmma [[70, 300, 2], [1, 1, 1]];
        attention5_ping_pong [[150, 300, 2], [1, 1, 1]];
    }
}
