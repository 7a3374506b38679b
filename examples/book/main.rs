//! A product ported from CuTe's C++, and a layer normalisation whose barriers can be left out. Both need nothing but what the book says.

#![allow(unsafe_code, reason = "launches of kernels")]

mod layernorm;
mod sgemm_sm80;

use crate::layernorm::Lacks;
use girih::device::{Device, Pod, SimOptions, args};
use girih::sim::Finding;
use half::f16;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn simulator() -> Result<Device, girih::device::Error> {
    Device::open_sim(SimOptions { seeds: 4, counts: true, ..SimOptions::checked() })
}

/// The simulator with all checks, or the device that the environment variable `GIRIH_DEVICE` names.
fn device() -> Result<Device, girih::device::Error> {
    std::env::var("GIRIH_DEVICE").map_or_else(|_| simulator(), |name| Device::open(name.parse()?))
}

/// Numbers from -2 to 2, of which all sums are exact in f16.
fn numbers<T>(len: usize, seed: u32, of: fn(f32) -> T) -> Vec<T> {
    let hash = |i: u32| (i.wrapping_add(seed << 20).wrapping_mul(2_654_435_761) >> 13) % 5;
    (0..len as u32).map(|i| of(hash(i) as f32 - 2.0)).collect()
}

/// Runs one of the two products on A of M x K, B of N x K and C of M x N, and compares each element of C, what lies between its columns
/// too. `ld` says how far the rows of A and B lie apart if they are contiguous along K, otherwise their columns; C has columns. Returns the
/// wavefronts of shared memory, and how many are needed, which the simulator counts.
fn product<T: Pod + Into<f64>>(
    kernel: &girih::codegen::Kernel,
    of: fn(f32) -> T,
    [m, n, k]: [usize; 3],
    ld: [usize; 3],
    along_k: bool,
) -> Result<(u64, u64), Box<dyn std::error::Error>> {
    let device = device()?;
    let kernel = device.load(kernel)?.kernel(kernel.name())?;
    let [a, b] = [(m, ld[0], 1), (n, ld[1], 2)]
        .map(|(rows, ld, seed)| numbers(ld * if along_k { rows } else { k }, seed, of));
    let c = numbers(ld[2] * n, 3, of);
    let (on_a, on_b, on_c) = (device.upload(&a)?, device.upload(&b)?, device.upload(&c)?);
    let [ld_a, ld_b, ld_c] = ld.map(|x| x as u32);
    let sizes = args![m = m as u32, n = n as u32, k = k as u32, ld_a, ld_b, ld_c];
    let rest = args![a = &on_a, b = &on_b, c = &on_c, alpha = 0.5f32, beta = -3.0f32];
    let args = kernel.arguments(&sizes.into_iter().chain(rest).collect::<Vec<_>>())?;
    // SAFETY: A and B have ld elements for each row or column, C has them for each column.
    unsafe { kernel.launch(&kernel.config([m.div_ceil(128) as u32, n.div_ceil(128) as u32, 1])?, &args) }?;
    let at = |matrix: &[T], ld: usize, row: usize, p: usize| -> f64 {
        matrix[if along_k { row * ld + p } else { p * ld + row }].into()
    };
    for (place, found) in on_c.download()?.into_iter().enumerate() {
        let (i, j, before) = (place % ld[2], place / ld[2], c[place].into());
        let sum = |i| (0..k).map(|p| at(&a, ld[0], i, p) * at(&b, ld[1], j, p)).sum::<f64>();
        assert_eq!(found.into(), if i < m { 0.5 * sum(i) - 3.0 * before } else { before }, "({i},{j})");
    }
    Ok(device.sim_report().map_or((0, 0), |report| (report.wavefronts, report.least_wavefronts)))
}

fn normalised(
    rows: usize,
    columns: usize,
    pitch: usize,
    lacks: Lacks,
) -> Result<Vec<Finding>, Box<dyn std::error::Error>> {
    let device = if lacks == Lacks::Nothing { device()? } else { simulator()? };
    let kernel = device.load(&layernorm::layernorm(lacks)?)?.kernel("layernorm")?;
    // Far from zero, so that the mean of squares less the square of the mean would be wrong.
    let x: Vec<f32> = (0..rows * pitch).map(|i| 100.0 + ((i * 7919) % 1000) as f32 / 500.0).collect();
    let weight: Vec<f32> = (0..columns).map(|i| 1.0 + i as f32 / 100.0).collect();
    let bias: Vec<f32> = (0..columns).map(|i| i as f32 / 50.0 - 1.0).collect();
    let (on_x, on_y) = (device.upload(&x)?, device.zeros::<f32>(x.len())?);
    let (on_weight, on_bias) = (device.upload(&weight)?, device.upload(&bias)?);
    let args = kernel.arguments(&args![
        rows = rows as u32,
        columns = columns as u32,
        pitch = pitch as u32,
        x = &on_x,
        y = &on_y,
        weight = &on_weight,
        bias = &on_bias,
        eps = 1e-5f32
    ])?;
    // SAFETY: x and y have rows x pitch elements, weight and bias one for each column.
    let outcome = unsafe { kernel.launch(&kernel.config([rows as u32, 1, 1])?, &args) };
    if let Err(error) = outcome {
        assert!(!device.sim_findings().is_empty(), "{error}");
        return Ok(device.sim_findings());
    }
    let y = on_y.download()?;
    for row in 0..rows {
        let values: Vec<f64> = x[row * pitch..][..columns].iter().map(|x| f64::from(*x)).collect();
        let mean = values.iter().sum::<f64>() / columns as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
        for (column, x) in values.iter().enumerate() {
            let expected =
                (x - mean) / (variance + 1e-5).sqrt() * f64::from(weight[column]) + f64::from(bias[column]);
            // The mean is near 100 and rounded to some 1e-5, the deviation is 0.6.
            let found = f64::from(y[row * pitch + column]);
            assert!(
                (found - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                "({row},{column}): {found}, {expected}"
            );
        }
        assert!(
            y[row * pitch..][columns..pitch].iter().all(|&y| y == 0.0),
            "row {row} is written past its end"
        );
    }
    Ok(device.sim_findings())
}

fn main() -> Outcome {
    product(&sgemm_sm80::gemm_nt()?, |x| x, [200, 130, 20], [200, 132, 200], false)?;
    product(&sgemm_sm80::gemm_tn()?, f16::from_f32, [130, 200, 200], [200, 200, 136], true)?;
    normalised(3, 700, 700, Lacks::Nothing)?;
    println!("the products of f32 and f16 and the normalised rows are right");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use girih::sim::Space;
    use std::collections::BTreeSet;

    #[test]
    fn products_of_f32_are_those_of_cute() -> Outcome {
        let kernel = sgemm_sm80::gemm_nt()?;
        product(&kernel, |x| x, [130, 67, 19], [132, 68, 136], false)?;
        product(&kernel, |x| x, [128, 128, 1], [128; 3], false)?;
        let refused = product(&kernel, |x| x, [130, 67, 19], [130, 68, 136], false)
            .expect_err("rows begin at no vector");
        assert!(refused.to_string().contains("multiples of 4"), "{refused}");
        Ok(())
    }

    #[test]
    fn products_of_f16_are_those_of_cute() -> Outcome {
        let kernel = sgemm_sm80::gemm_tn()?;
        let (wavefronts, least) = product(&kernel, f16::from_f32, [130, 67, 197], [200, 200, 136], true)?;
        assert_eq!(wavefronts, least, "the swizzle leaves bank conflicts");
        product(&kernel, f16::from_f32, [128, 128, 8], [8, 8, 128], true)?;
        Ok(())
    }

    #[test]
    fn rows_are_normalised() -> Outcome {
        for (rows, columns, pitch) in [(3, 700, 700), (2, 37, 40), (1, 1025, 1028)] {
            assert!(normalised(rows, columns, pitch, Lacks::Nothing)?.is_empty());
        }
        Ok(())
    }

    #[test]
    fn a_barrier_that_is_left_out_is_found() -> Outcome {
        let source = include_str!("layernorm.rs");
        let line = |what| source.lines().position(|line| line.ends_with(what)).map(|at| at as u32 + 1);
        let (write, read) = (line("// sums are written"), line("// sums are read"));
        assert!(write.is_some() && read.is_some());
        for (lacks, kinds, later, earlier) in [
            (Lacks::BeforeReads, &["race", "uninitialised-memory"][..], read, write),
            (Lacks::AfterReads, &["race"][..], write, read),
        ] {
            let findings = normalised(1, 100, 100, lacks)?;
            let found: BTreeSet<&str> = findings.iter().map(|finding| finding.error.kind()).collect();
            assert_eq!(found.into_iter().collect::<Vec<_>>(), kinds);
            for finding in findings.iter().filter(|finding| finding.error.kind() == "race") {
                let sites: Vec<_> = finding.error.sites().collect();
                let lines: Vec<_> =
                    sites.iter().map(|site| site.place.origin.as_ref().map(|origin| origin.line)).collect();
                assert_eq!(lines, [later, earlier], "{finding}");
                assert_eq!(finding.error.space(), Some(Space::Shared), "{finding}");
                assert_ne!(sites[0].thread, sites[1].thread, "{finding}");
            }
        }
        Ok(())
    }
}
