//! The tile kernels on a GPU. Skips with one line where there is none.

use girih_device::{Device, Select};
use girih_tile::error::Error;
use half::{bf16, f16};

use on::On;

#[path = "common/launches.rs"]
mod launches;
#[path = "common/on.rs"]
mod on;
#[path = "common/products.rs"]
mod products;
#[path = "common/sequences.rs"]
mod sequences;
#[path = "common/kernels.rs"]
mod tile;

/// Kernels by the name of their family.
type Family<'a> = (&'a str, &'a dyn Fn(&Device) -> Result<(), Error>);

/// Runs families of kernels, unless there is no GPU.
fn each(families: &[Family<'_>]) {
    let device = match Device::open(Select::Cuda(0)) {
        Ok(device) => device,
        Err(error) => return println!("skipped: {error}"),
    };
    for (name, family) in families {
        println!("{name}");
        family(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn tile_kernels() {
    each(&[
        ("elementwise", &tile::elementwise),
        ("rows", &tile::rows),
        ("norms", &tile::norms),
        ("sums", &tile::sums),
        ("moves", &tile::moves),
        ("scans of everything", &tile::wide::scans),
        ("reductions of everything", &tile::wide::reductions),
        ("sums of segments", &tile::wide::segments),
    ]);
}

#[test]
fn launches_with_one_another() {
    each(&[
        ("kernels that begin early", &launches::early),
        ("graphs", &launches::graphs),
        ("hints", &launches::hints),
        ("bundles", &launches::bundles),
        ("tuning", &launches::tuning),
    ]);
}

/// Tiles as products of some size have them, on sizes that they divide and on others.
#[test]
fn products_of_matrices() {
    let on = |device: &Device| On::Device(device.clone());
    each(&[
        ("products of bf16", &|device| {
            products::plain::<bf16, 128, 256, 64>(&on(device), [512, 768, 640])?;
            products::plain::<bf16, 128, 256, 64>(&on(device), [1000, 520, 200])?;
            products::plain::<bf16, 128, 128, 64>(&on(device), [129, 127, 1])
        }),
        ("products of f16", &|device| products::plain::<f16, 64, 128, 32>(&on(device), [300, 300, 300])),
        ("products of f32", &|device| products::plain::<f32, 64, 64, 16>(&on(device), [200, 300, 100])),
        ("several", &|device| products::several::<128, 128, 64>(&on(device), [1000, 384, 320])),
        ("8 bits", &|device| products::quantized::<128, 128, 128>(&on(device), [300, 400, 1000])),
        ("gated", &|device| products::gated::<128, 128, 64>(&on(device), [300, 400, 500])),
    ]);
}

#[test]
fn sequences() {
    let on = |device: &Device| On::Device(device.clone());
    let sizes = [[512, 512], [300, 1000], [1, 777]];
    each(&[
        ("attention, 128", &|device| {
            sequences::attention::<bf16, 128, 128, 128, false>(&on(device), &sizes, 1e-2)?;
            sequences::attention::<bf16, 128, 128, 128, true>(&on(device), &sizes, 1e-2)?;
            sequences::equal_scores::<bf16, 128, 128, 128>(&on(device), 1e-2)
        }),
        ("attention, 64", &|device| {
            sequences::attention::<f16, 128, 64, 64, false>(&on(device), &sizes, 1e-2)?;
            sequences::attention::<f16, 64, 64, 64, true>(&on(device), &sizes, 1e-2)
        }),
        ("recurrences", &|device| sequences::recurrences::<bf16, 64, 64, 64>(&on(device), 1000, 1e-2)),
        ("convolutions", &|device| {
            sequences::convolutions::<64, 64, 64>(&on(device), [2, 28, 28, 64, 128])?;
            sequences::convolutions::<128, 128, 32>(&on(device), [3, 15, 17, 48, 80])
        }),
        ("samples", &|device| sequences::samples::<16, 1024>(&on(device), [2000, 5000])),
    ]);
}
