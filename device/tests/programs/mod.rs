//! Programs whose results are known, for the GPU and for the simulator.
#![allow(dead_code, unreachable_pub, reason = "each test target uses its part")]
#![allow(unsafe_code, reason = "the programs below are launched within the bounds of their buffers")]
#![expect(clippy::unwrap_used, reason = "tests")]

pub mod cluster;
pub mod gemm;
pub mod graphs;
pub mod grid;
pub mod memory;
pub mod order;
pub mod prepared;
pub mod streams;
pub mod tensor;
pub mod transfers;
pub mod wgmma;

use girih_device::{Arg, Device, Kernel, LaunchConfig, Pod};
use girih_ptx::Module;

/// `z[i] = alpha x[i] + y[i]` for `i < n`.
pub const SAXPY: &str = include_str!("../../testdata/golden/saxpy.ptx");

/// The kernel `reverse` reverses the 32-bit words of `x` that belong to a block, one word for each thread, through the words of
/// dynamic shared memory from byte `base` on. The kernel `fixed` has static shared memory and a required block.
pub const REVERSE: &str = include_str!("../../testdata/golden/reverse.ptx");

/// Copies a parameter of 12 bytes to `out`, and the other parameters after it.
pub const SCALARS: &str = include_str!("../../testdata/golden/scalars.ptx");

pub fn kernel(device: &Device, text: &str, name: &str) -> Kernel {
    device.load(&Module::parse(text).unwrap()).unwrap().kernel(name).unwrap()
}

/// Values whose products and sums are exact in f32.
pub fn small(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7 + seed * 13) % 31) as f32 - 15.0).collect()
}

/// For every length `n`, saxpy agrees with the host bit for bit, and does not write after the first `n` elements.
pub fn saxpy_agrees(device: &Device) {
    let saxpy = kernel(device, SAXPY, "saxpy");
    for n in [1usize, 31, 32, 33, 255, 256, 257, 5000] {
        let (x, y) = (small(n, 1), small(n, 2));
        let (dx, dy) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
        let dz = device.alloc::<f32>(n + 3).unwrap();
        dz.fill_bytes(0xFF).unwrap();
        let config = LaunchConfig::linear(n as u32, 256);
        let args = [Arg::from(&dx), Arg::from(&dy), Arg::from(&dz), Arg::from(3.0f32), Arg::from(n as u32)];
        // SAFETY: x, y and z have at least n elements.
        unsafe { saxpy.launch(&config, &args) }.unwrap();
        drop((dx, dy)); // the memory is freed behind the launch
        let z = dz.download().unwrap();
        let wanted: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
        assert_eq!(z[..n], wanted, "n = {n}");
        assert!(z[n..].iter().all(|z| z.to_bits() == u32::MAX), "n = {n}: written past the end");
    }
}

/// Kernels with dynamic shared memory up to the device's limit agree with the host.
pub fn reverse_agrees(device: &Device) {
    let reverse = kernel(device, REVERSE, "reverse");
    let limit = device.limits().shared_per_block_optin;
    for (threads, blocks, shared) in
        [(1u32, 3u32, 4u32), (32, 1, 128), (96, 7, 4096), (1024, 5, 50_000), (256, 4, limit)]
    {
        let x: Vec<u32> = (0..threads * blocks).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let dx = device.upload(&x).unwrap();
        let config = LaunchConfig::new([blocks, 1, 1], [threads, 1, 1]).with_dynamic_shared(shared);
        // SAFETY: x has a word for every thread, the pool holds a word for every thread from the base on.
        unsafe { reverse.launch(&config, &[Arg::from(&dx), Arg::from(shared / 4 * 4 - 4 * threads)]) }
            .unwrap();
        let wanted: Vec<u32> =
            x.chunks(threads as usize).flat_map(|block| block.iter().rev().copied()).collect();
        assert_eq!(dx.download().unwrap(), wanted, "{config:?}");
    }
    let fixed = kernel(device, REVERSE, "fixed");
    // SAFETY: the kernel touches only its own shared memory.
    unsafe { fixed.launch(&LaunchConfig::new([2, 2, 2], [64, 2, 1]), &[]) }.unwrap();
    device.synchronize().unwrap();
}

/// Every kind of scalar argument arrives unchanged.
pub fn scalars_arrive(device: &Device) {
    let scalars = kernel(device, SCALARS, "scalars");
    let out = device.zeros::<u8>(40).unwrap();
    let shape: Vec<u8> = (1..=12).collect();
    for (i, l, d, u) in
        [(-1i32, i64::MIN, -0.0f64, u64::MAX), (i32::MAX, -2, f64::MIN_POSITIVE, 0x0123_4567_89AB_CDEF)]
    {
        let args =
            [Arg::from(&out), Arg::Bytes(&shape), Arg::from(i), Arg::from(l), Arg::from(d), Arg::from(u)];
        // SAFETY: out has the 40 bytes that the kernel writes.
        unsafe { scalars.launch(&LaunchConfig::new([1; 3], [1; 3]), &args) }.unwrap();
        let wanted =
            [&shape[..], &i.to_le_bytes(), &l.to_le_bytes(), &d.to_le_bytes(), &u.to_le_bytes()].concat();
        assert_eq!(out.download().unwrap(), wanted);
    }
}

fn round_trip<T: Pod + Bytes + PartialEq + std::fmt::Debug>(device: &Device, values: &[T]) {
    let a = device.upload(values).unwrap();
    assert_eq!((a.len(), a.bytes(), a.is_empty()), (values.len(), size_of_val(values), values.is_empty()));
    assert_eq!(a.address() % 256, 0);
    assert_eq!(a.download().unwrap(), values);
    let b = device.zeros::<T>(values.len()).unwrap();
    assert_eq!(b.download().unwrap(), vec![T::zeroed(); values.len()]);
    b.copy_from(&a).unwrap();
    a.write(&vec![T::zeroed(); values.len()]).unwrap();
    assert_eq!(b.download().unwrap(), values);
    a.copy_from(&b).unwrap();
    b.fill_bytes(0x5A).unwrap();
    assert_eq!(a.download().unwrap(), values);
    let bytes = vec![0x5A; size_of_val(values)];
    let filled: Vec<u8> = b.download().unwrap().iter().flat_map(|value| value.to_ne_bytes_vec()).collect();
    assert_eq!(filled, bytes);
}

/// The bytes of a value, from the standard library and not from the code under test.
trait Bytes {
    fn to_ne_bytes_vec(&self) -> Vec<u8>;
}
macro_rules! bytes {
    ($($ty:ty),*) => {$(impl Bytes for $ty { fn to_ne_bytes_vec(&self) -> Vec<u8> { self.to_ne_bytes().to_vec() } })*};
}
bytes!(f32, f64, half::f16, half::bf16, u8, i8, u16, i16, u32, i32, u64, i64);

/// Elements of every type are the same after upload, copies and download, at lengths that are no multiple of a word too.
pub fn buffers_hold(device: &Device) {
    for len in [0, 1, 3, 257, 1 << 19] {
        round_trip(device, &(0..len).map(|i| i as f32 - 7.5).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| i as u8 ^ 0x55).collect::<Vec<_>>());
    }
    for len in [0, 1, 5, 1001] {
        round_trip(device, &(0..len).map(|i| f64::from(i) / 3.0).collect::<Vec<f64>>());
        round_trip(device, &(0..len).map(|i| half::f16::from_bits(i as u16)).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| half::bf16::from_bits(i as u16)).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| (i as i8).wrapping_neg()).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| i as u16).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| (i as i16).wrapping_neg()).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| i as u32 * 77).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| -i).collect::<Vec<i32>>());
        round_trip(device, &(0..len).map(|i| u64::MAX - i as u64).collect::<Vec<_>>());
        round_trip(device, &(0..len).map(|i| i64::MIN + i as i64).collect::<Vec<_>>());
    }
}

/// A generator of random numbers, which are the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
