//! Products of matrices against products in f64.
#![allow(dead_code, reason = "each test target uses its part")]

use float8::{F8E4M3, F8E5M2};
use girih_tensor::Element;
use girih_tile::elem::{Mma, StoreTo};
use girih_tile::error::Error;
use girih_tile::launch::HostElement;
use half::{bf16, f16};

use crate::on::{Host, On, matmul, near, run, transposed};

fn tiles(n: usize, tile: usize) -> u32 {
    n.div_ceil(tile) as u32
}

fn gelu(x: f64) -> f64 {
    let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
    x / 2.0 * (1.0 + u.tanh())
}

/// A product of each kind, of operands of a type.
pub(crate) fn plain<
    T: HostElement + Element + Mma<f32> + StoreTo<T>,
    const BM: usize,
    const BN: usize,
    const BK: usize,
>(
    on: &On,
    [m, n, k]: [usize; 3],
) -> Result<(), Error> {
    let what = format!("{} {m} x {n} x {k}", T::DTYPE);
    let (a, b) = (Host::<T, 2>::random(1, [m, k], 2.0), Host::<T, 2>::random(2, [k, n], 2.0));
    let wanted = matmul(&a.wide(), &b.wide(), k, n);
    let grid = [tiles(m, BM), tiles(n, BN)];

    let mut c = Host::<T, 2>::poisoned([m, n]);
    run!(on, gemm[T, BM, BN, BK](a, b => c), grid);
    near(&what, &c.elements, &wanted, 1e-5);

    let mut c = Host::<T, 2>::poisoned([m, n]);
    run!(on, gemm_persistent[T, BM, BN, BK](a, b => c), [3]);
    near(&format!("{what}, persistent"), &c.elements, &wanted, 1e-5);

    let (bias, residual) = (Host::<T, 1>::random(3, [n], 2.0), Host::<T, 2>::random(4, [m, n], 2.0));
    let mut c = Host::<T, 2>::poisoned([m, n]);
    run!(on, gemm_gelu[T, BM, BN, BK](a, b, bias, residual => c), grid);
    let (x, y) = (bias.wide(), residual.wide());
    let fused: Vec<f64> = wanted.iter().enumerate().map(|(i, c)| gelu(c + x[i % n] + y[i])).collect();
    near(&format!("{what}, with bias, residual and GELU"), &c.elements, &fused, 1e-5);

    let mut parts = Host::<f32, 3>::poisoned([3, m, n]);
    run!(on, gemm_split_k[T, BM, BN, BK](a, b => parts), [grid[0], grid[1], 3]);
    let mut c = Host::<T, 2>::poisoned([m, n]);
    run!(on, sum_parts[T, BM, BN](parts => c), grid);
    near(&format!("{what}, by parts"), &c.elements, &wanted, 1e-5);
    Ok(())
}

/// Products of matrices of all sizes, among them sizes that no tile divides.
pub(crate) fn products<const BM: usize, const BN: usize, const BK: usize>(
    on: &On,
    sizes: &[[usize; 3]],
) -> Result<(), Error> {
    for &size in sizes {
        plain::<bf16, BM, BN, BK>(on, size)?;
        plain::<f32, BM, BN, BK>(on, size)?;
        plain::<f16, BM, BN, BK>(on, size)?;
    }
    Ok(())
}

/// Batches, and groups of rows, some of which are empty.
pub(crate) fn several<const BM: usize, const BN: usize, const BK: usize>(
    on: &On,
    [m, n, k]: [usize; 3],
) -> Result<(), Error> {
    let l = 3;
    let (a, b) = (Host::<bf16, 3>::random(1, [l, m, k], 2.0), Host::<bf16, 3>::random(2, [l, k, n], 2.0));
    let mut c = Host::<bf16, 3>::poisoned([l, m, n]);
    run!(on, gemm_batched[bf16, BM, BN, BK](a, b => c), [tiles(m, BM), tiles(n, BN), l as u32]);
    let (x, y) = (a.wide(), b.wide());
    let wanted: Vec<f64> =
        x.chunks(m * k).zip(y.chunks(k * n)).flat_map(|(x, y)| matmul(x, y, k, n)).collect();
    near("batches", &c.elements, &wanted, 1e-5);

    let ends = [m / 7, m / 7, m / 2 + 1, m];
    let a = Host::<bf16, 2>::random(3, [m, k], 2.0);
    let b = Host::<bf16, 3>::random(4, [ends.len(), k, n], 2.0);
    let mut c = Host::<bf16, 2>::poisoned([m, n]);
    let (x, y) = (a.wide(), b.wide());
    let mut wanted = Vec::new();
    for (group, &end) in ends.iter().enumerate() {
        let rows = &x[wanted.len() / n * k..end * k];
        wanted.extend(matmul(rows, &y[group * k * n..(group + 1) * k * n], k, n));
    }
    let ends = Host::of([ends.len()], ends.map(|end| end as i32).to_vec());
    for blocks in [1, 4, 64] {
        run!(on, gemm_grouped[bf16, BM, BN, BK](a, b, ends => c), [blocks]);
        near(&format!("groups by {blocks} blocks"), &c.elements, &wanted, 1e-5);
    }
    Ok(())
}

/// Operands of 8 bits, with scales of rows, columns and blocks.
pub(crate) fn quantized<const BM: usize, const BN: usize, const BK: usize>(
    on: &On,
    [m, n, k]: [usize; 3],
) -> Result<(), Error> {
    floats::<F8E4M3, BM, BN, BK>(on, [m, n, k])?;
    floats::<F8E5M2, BM, BN, BK>(on, [m, n, k])?;
    let grid = [tiles(m, BM), tiles(n, BN)];
    let (a, b) = (Host::<i8, 2>::random(1, [m, k], 127.0), Host::<i8, 2>::random(2, [n, k], 127.0));
    let (rows, columns) = (Host::<f32, 1>::random(3, [m], 2.0), Host::<f32, 1>::random(4, [n], 2.0));
    let mut c = Host::<bf16, 2>::poisoned([m, n]);
    run!(on, gemm_int8[BM, BN, BK](a, b, rows, columns => c), grid);
    let product = matmul(&a.wide(), &transposed(&b.wide(), k), k, n);
    near("integers", &c.elements, &scaled(&product, &rows.wide(), &columns.wide()), 1e-5);

    let (x, steps) = (Host::<bf16, 2>::random(5, [m, k], 2.0), k.div_ceil(BK));
    let scales = Host::<f32, 2>::random(6, [n, steps], 2.0);
    let mut c = Host::<bf16, 2>::poisoned([m, n]);
    run!(on, gemm_weights[i8, f32, BM, BN, BK](x, b, scales => c), grid);
    let wide = scales.wide();
    let y = transposed(&b.wide(), k);
    let y: Vec<f64> = y.iter().enumerate().map(|(i, y)| y * wide[i % n * steps + i / n / BK]).collect();
    near("weights", &c.elements, &matmul(&x.wide(), &y, k, n), 1e-5);
    Ok(())
}

fn scaled(product: &[f64], rows: &[f64], columns: &[f64]) -> Vec<f64> {
    let n = columns.len();
    product.iter().enumerate().map(|(i, c)| c * rows[i / n] * columns[i % n]).collect()
}

fn floats<T: HostElement + Element + Mma<f32>, const BM: usize, const BN: usize, const BK: usize>(
    on: &On,
    [m, n, k]: [usize; 3],
) -> Result<(), Error> {
    let grid = [tiles(m, BM), tiles(n, BN)];
    let (a, b) = (Host::<T, 2>::random(1, [m, k], 2.0), Host::<T, 2>::random(2, [n, k], 2.0));
    let (x, y) = (a.wide(), transposed(&b.wide(), k));
    let (rows, columns) = (Host::<f32, 1>::random(3, [m], 2.0), Host::<f32, 1>::random(4, [n], 2.0));
    let mut c = Host::<bf16, 2>::poisoned([m, n]);
    run!(on, gemm_fp8[T, BM, BN, BK](a, b, rows, columns => c), grid);
    let wanted = scaled(&matmul(&x, &y, k, n), &rows.wide(), &columns.wide());
    // At every 32 products along K, tensor cores of Hopper truncate the sums to 14 bits.
    let truncated = k.div_ceil(32) as f64 * 2f64.powi(-13);
    near(&format!("{} with scales", T::DTYPE), &c.elements, &wanted, truncated);

    let steps = k.div_ceil(BK);
    let of_a = Host::<f32, 2>::random(5, [m, steps], 2.0);
    let of_b = Host::<f32, 2>::random(6, [n.div_ceil(BN), steps], 2.0);
    let mut c = Host::<bf16, 2>::poisoned([m, n]);
    run!(on, gemm_fp8_blocks[T, BM, BN, BK](a, b, of_a, of_b => c), grid);
    let (p, q) = (of_a.wide(), of_b.wide());
    let x: Vec<f64> = x.iter().enumerate().map(|(i, x)| x * p[i / k * steps + i % k / BK]).collect();
    let y: Vec<f64> = y.iter().enumerate().map(|(i, y)| y * q[i % n / BN * steps + i / n / BK]).collect();
    near(&format!("{} with scales of blocks", T::DTYPE), &c.elements, &matmul(&x, &y, k, n), 1e-3);
    Ok(())
}

/// Two products in one kernel.
pub(crate) fn gated<const BM: usize, const BN: usize, const BK: usize>(
    on: &On,
    [m, n, k]: [usize; 3],
) -> Result<(), Error> {
    let x = Host::<bf16, 2>::random(1, [m, k], 1.0);
    let (gate, up) = (Host::<bf16, 2>::random(2, [k, n], 1.0), Host::<bf16, 2>::random(3, [k, n], 1.0));
    let mut y = Host::<bf16, 2>::poisoned([m, n]);
    run!(on, gated_mlp[bf16, BM, BN, BK](x, gate, up => y), [tiles(m, BM), tiles(n, BN)]);
    let g = matmul(&x.wide(), &gate.wide(), k, n);
    let u = matmul(&x.wide(), &up.wide(), k, n);
    let wanted: Vec<f64> = g.iter().zip(&u).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
    near("gated", &y.elements, &wanted, 1e-5);
    Ok(())
}
