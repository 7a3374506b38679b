//! Copies on a real GPU. Skips with one line where there is none.

mod common;

use common::{Failure, layouts::random_copies};
use girih_device::{Buffer, Device, Select};
use girih_kernels::copy::{Copy, Problem};
use girih_tensor::DType;
use rand::{RngExt, SeedableRng, rngs::StdRng};

fn gpu() -> Option<Device> {
    Device::open(Select::Cuda(0)).inspect_err(|error| println!("skipped: {error}")).ok()
}

#[test]
fn random_layouts_with_padding_or_indices() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    random_copies(&device, &mut StdRng::seed_from_u64(7), 300, 300_000)
}

/// Values that repeat after a prime number of bytes, so that no two rows of a matrix are alike.
struct Repeated {
    values: Vec<u8>,
    buffer: Buffer<u8>,
}

impl Repeated {
    fn new(device: &Device, len: usize) -> Result<Repeated, Failure> {
        let mut rng = StdRng::seed_from_u64(0);
        let values: Vec<u8> = (0..16_777_213).map(|_| rng.random()).collect();
        let (own, buffer) = (device.upload(&values)?, device.alloc(len)?);
        for begin in (0..len).step_by(values.len()) {
            let some = values.len().min(len - begin);
            buffer.slice(begin..begin + some)?.copy_from(&own.slice(..some)?)?;
        }
        Ok(Repeated { values, buffer })
    }
}

/// Compares samples of a destination, those at its ends and around 2^32 among them.
fn check(dst: &Buffer<u8>, source: &Repeated, source_of: impl Fn(usize) -> usize) -> Result<(), Failure> {
    const SAMPLE: usize = 4096;
    let len = dst.len() - SAMPLE;
    for begin in (0..64).map(|i| len / 63 * i).chain([len, ((1 << 32) - SAMPLE / 2).min(len)]) {
        for (at, found) in (begin..).zip(dst.slice(begin..begin + SAMPLE)?.download()?) {
            let wanted = source.values[source_of(at) % source.values.len()];
            if found != wanted {
                return Err(format!("element {at} is {found}, not {wanted}").into());
            }
        }
    }
    Ok(())
}

#[test]
fn more_than_2_to_the_32_elements() -> Result<(), Failure> {
    let Some(device) = gpu() else { return Ok(()) };
    let many = (1usize << 32) + 600_007;
    let source = Repeated::new(&device, many + 3)?;
    let dst = device.alloc::<u8>(many)?;
    let line = Copy::new(&device, &Problem::strided(DType::U8, &[many as i64], &[1], &[1])?)?;
    for skip in [0, 3] {
        dst.fill_bytes(0xa5)?;
        line.run(&dst, &source.buffer.slice(skip..)?)?;
        check(&dst, &source, |at| at + skip)?;
    }
    let (rows, columns) = (65_537, 65_543);
    let problem = Problem::strided(DType::U8, &[rows, columns], &[columns, 1], &[1, rows])?;
    let dst = dst.slice(..(rows * columns) as usize)?;
    dst.fill_bytes(0xa5)?;
    Copy::new(&device, &problem)?.run(&dst, &source.buffer)?;
    let (rows, columns) = (rows as usize, columns as usize);
    check(&dst, &source, |at| at % rows * columns + at / rows)
}
