//! What is measured on: power, and with it speed, depends on the data.

use girih_tensor::Element;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Values close to N(0, 1): sums of twelve uniform ones, less their mean.
pub fn normal<T: Element>(len: usize, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..len).map(|_| T::from_f64((0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0)).collect()
}
