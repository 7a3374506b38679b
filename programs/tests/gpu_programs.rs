//! The tile kernels on a GPU. Skips with one line where there is none.

use girih_device::{Device, Select};

#[path = "common/kernels.rs"]
mod tile;

/// A kernel family on a device.
type Family = fn(&Device) -> Result<(), girih_tile::error::Error>;

#[test]
fn tile_kernels() {
    let device = match Device::open(Select::Cuda(0)) {
        Ok(device) => device,
        Err(error) => return println!("skipped: {error}"),
    };
    let families: [(&str, Family); 8] = [
        ("elementwise", tile::elementwise),
        ("rows", tile::rows),
        ("norms", tile::norms),
        ("sums", tile::sums),
        ("moves", tile::moves),
        ("scans of everything", tile::wide::scans),
        ("reductions of everything", tile::wide::reductions),
        ("sums of segments", tile::wide::segments),
    ];
    for (name, family) in families {
        println!("{name}");
        family(&device).unwrap();
    }
}
