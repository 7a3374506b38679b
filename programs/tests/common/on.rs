//! One call for a kernel on the reference evaluator and on a device.
#![allow(dead_code, reason = "each test target uses its part")]

use girih_device::Device;
use girih_tensor::Element;
use girih_tile::dtype::Const;
use girih_tile::dtype::number::encode;
use girih_tile::error::Error;
use girih_tile::ir::Func;
use girih_tile::launch::{DeviceArray, HostElement, ScalarArgument};
use girih_tile_reference::{self as reference, ArrayData};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What runs kernels.
pub(crate) enum On {
    /// The reference evaluator, which says what a kernel means.
    Reference,
    /// What a kernel becomes, on the simulator or a GPU.
    Device(Device),
}

/// An array on the host, row-major.
#[derive(Clone)]
pub(crate) struct Host<T, const R: usize> {
    pub(crate) extents: [usize; R],
    pub(crate) elements: Vec<T>,
}

impl<T: HostElement + Element, const R: usize> Host<T, R> {
    /// Random numbers from `-most` to `most`; rounded, of integers.
    pub(crate) fn random(seed: u64, extents: [usize; R], most: f64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut next = || T::from_f64(rng.random_range(-most..most));
        Host { extents, elements: (0..extents.iter().product()).map(|_| next()).collect() }
    }

    /// Elements none of which a kernel gives.
    pub(crate) fn poisoned(extents: [usize; R]) -> Self {
        Host { extents, elements: vec![T::from_f64(-77.0); extents.iter().product()] }
    }

    pub(crate) fn of(extents: [usize; R], elements: Vec<T>) -> Self {
        assert_eq!(elements.len(), extents.iter().product::<usize>());
        Host { extents, elements }
    }

    /// The elements in f64.
    pub(crate) fn wide(&self) -> Vec<f64> {
        self.elements.iter().map(|x| x.to_f64()).collect()
    }

    pub(crate) fn upload(&self, device: &Device) -> Result<DeviceArray<T, R>, Error> {
        DeviceArray::upload(device, &self.elements, self.extents)
    }

    pub(crate) fn data(&self) -> ArrayData {
        let constant = |x: f64| if T::DTYPE.is_integer() { Const::Int(x as i128) } else { Const::Float(x) };
        let bits: Vec<u64> = self.wide().into_iter().map(|x| encode(T::DTYPE, constant(x))).collect();
        ArrayData::dense(T::DTYPE, &self.extents.map(|n| n as i64), &bits)
    }

    pub(crate) fn take(&mut self, data: &ArrayData) {
        let bits = data.elements().expect("dense arrays are in their memory");
        self.elements = bits.into_iter().map(|bits| T::from_f64(reference::number(T::DTYPE, bits))).collect();
    }
}

/// A parameter of numbers.
pub(crate) trait Numbers {
    fn bits(self) -> Vec<u64>;
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(impl Numbers for $ty {
        fn bits(self) -> Vec<u64> {
            vec![ScalarArgument::bits(self)]
        }
    })* };
}
numbers!(f32, i32, u64);

impl Numbers for (i32, i32) {
    fn bits(self) -> Vec<u64> {
        [self.0, self.1].map(ScalarArgument::bits).to_vec()
    }
}

/// Runs a program on the reference evaluator; the last array is what it writes.
pub(crate) fn evaluate(
    func: &Func,
    grid: &[u32],
    mut arrays: Vec<ArrayData>,
    scalars: Vec<Vec<u64>>,
) -> Result<ArrayData, Error> {
    let mut all = [1; 3];
    all[..grid.len()].copy_from_slice(grid);
    reference::run(func, all, &mut arrays, &scalars.concat()).expect("the program has a meaning");
    Ok(arrays.pop().expect("a kernel has arrays"))
}

/// `run!(on, kernel[types](inputs => output; numbers), grid)`: all names are those of [`Host`]s, the kernel's parameters are arrays, the one
/// that it writes, and numbers.
macro_rules! run {
    ($on:expr, $kernel:ident[$($of:tt)*]($($input:ident),* => $output:ident $(; $($number:expr),*)?), $grid:expr) => {
        match $on {
            On::Reference => {
                let func = girih_programs::$kernel::<$($of)*>::ir()?;
                let arrays = vec![$($input.data(),)* $output.data()];
                let numbers: Vec<Vec<u64>> = vec![$($($crate::on::Numbers::bits($number)),*)?];
                $output.take(&$crate::on::evaluate(&func, &$grid, arrays, numbers)?);
            }
            On::Device(device) => {
                $(let $input = $input.upload(device)?;)*
                let mut output = $output.upload(device)?;
                girih_programs::$kernel::<$($of)*>($(&$input,)* &mut output $($(, $number)*)?).grid($grid).run()?;
                $output.elements = output.download()?;
            }
        }
    };
}
pub(crate) use run;

/// Panics unless all elements are as near as `bound` times their magnitude and that of the others, on average.
#[track_caller]
pub(crate) fn near<T: Element>(what: &str, found: &[T], wanted: &[f64], bound: f64) {
    assert_eq!(found.len(), wanted.len());
    let mean = wanted.iter().map(|x| x * x).sum::<f64>() / wanted.len().max(1) as f64;
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let error = (found.to_f64() - wanted).abs();
        assert!(
            error <= bound * (wanted.abs() + mean.sqrt()) + T::DTYPE.epsilon() * wanted.abs(),
            "{what}: element {i} is {found:?}, not {wanted}"
        );
    }
}

/// The product of matrices by rows, M x K and K x N.
pub(crate) fn matmul(a: &[f64], b: &[f64], k: usize, n: usize) -> Vec<f64> {
    let mut c = vec![0.0; a.len() / k.max(1) * n];
    for (row, c) in a.chunks(k).zip(c.chunks_mut(n)) {
        for (x, b) in row.iter().zip(b.chunks(n)) {
            c.iter_mut().zip(b).for_each(|(c, y)| *c += x * y);
        }
    }
    c
}

/// The transpose of a matrix with rows of `n`.
pub(crate) fn transposed(x: &[f64], n: usize) -> Vec<f64> {
    let m = x.len() / n;
    (0..x.len()).map(|i| x[i % m * n + i / m]).collect()
}
