//! What is measured on: power, and with it speed, depends on the data.

use girih_device::{Buffer, Device, Error, Pod};
use girih_tensor::{DType, Element, Tf32};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Values close to N(0, 1): sums of twelve uniform ones, less their mean. Integers are as close to N(0, 32).
pub fn normal<T: Element>(len: usize, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    let deviation = if T::DTYPE.is_float() { 1.0 } else { 32.0 };
    let mut one = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    (0..len).map(|_| T::from_f64(deviation * one())).collect()
}

/// Random values on the host and on the device, which large buffers are filled from: element `i` of a buffer is element
/// `(shift + i) % len`. The length is a prime (of a full effort 4194301), so that no two rows of a matrix are alike.
pub(crate) struct Pool<T: Pod> {
    host: Vec<T>,
    device: Buffer<T>,
}

impl<T: Element + Pod> Pool<T> {
    /// Draws `len` values. Those that are multiplied as tf32 are tf32 numbers, so that it is all one who rounds them, and how.
    pub(crate) fn new(device: &Device, dtype: DType, len: usize) -> Result<Pool<T>, Error> {
        let mut host = normal::<T>(len, 1);
        if dtype == DType::Tf32 {
            host.iter_mut().for_each(|x| *x = T::from_f64(Tf32::from_f64(x.to_f64()).to_f64()));
        }
        let device = device.upload(&host)?;
        Ok(Pool { host, device })
    }

    /// What `fill` puts at place `i` of a buffer.
    pub(crate) fn at(&self, shift: usize, i: usize) -> T {
        self.host[(shift + i) % self.host.len()]
    }

    /// Fills a buffer.
    pub(crate) fn fill(&self, to: &Buffer<T>, shift: usize) -> Result<(), Error> {
        let mut done = 0;
        while done < to.len() {
            let from = (shift + done) % self.host.len();
            let some = (self.host.len() - from).min(to.len() - done);
            to.slice(done..done + some)?.copy_from(&self.device.slice(from..from + some)?)?;
            done += some;
        }
        Ok(())
    }
}

/// Whether an element has the value of bytes 0xff: NaN, or -1.
pub(crate) fn is_poison<T: Element>(element: T) -> bool {
    let value = element.to_f64();
    value.is_nan() || !T::DTYPE.is_float() && value == -1.0
}

/// Bytes of this many elements.
pub(crate) fn bytes(dtype: DType, elements: i64) -> i64 {
    elements * i64::from(dtype.bits()) / 8
}
