//! Launches on arrays of elements smaller than a byte, and of e8m0.

use girih_tensor::{DType, Element};
use girih_tile::launch::{AnyArray, DeviceArray, HostElement};
use girih_tile::prelude::*;

use super::device;

#[kernel]
fn widened<T: Elem>(x: &Array<T, 2>, y: &mut Array<f32, 2>) {
    let at = (bid(0), bid(1));
    y.tiles_mut([4, 32]).store(at, x.tiles([4, 32]).padding(Padding::Zero).load(at).to::<f32>());
}

#[kernel]
fn narrowed<T: Elem + StoreTo<T>>(x: &Array<f32, 2>, y: &mut Array<T, 2>) {
    let at = (bid(0), bid(1));
    y.tiles_mut([4, 32]).store(at, x.tiles([4, 32]).padding(Padding::Zero).load(at).to::<T>());
}

/// `C = A (W s)^T`: W of 4 bits, with a scale for 32 elements of a row.
#[kernel]
fn gemm_mxfp4(a: &Array<bf16, 2>, w: &Array<F4E2M1, 2>, scale: &Array<F8E8M0, 2>, c: &mut Array<f32, 2>) {
    let (i, j) = (bid(0), bid(1));
    let mut acc = zeros::<f32>([64, 64]);
    for k in 0..cdiv(w.dim(1), 32) {
        let x = a.tiles([64, 32]).padding(Padding::Zero).load((i, k));
        let y = w.tiles([64, 32]).padding(Padding::Zero).load((j, k)).to::<bf16>();
        let s = scale.tiles([64, 1]).padding(Padding::Zero).load((j, k)).to::<bf16>();
        acc = mma(x, (y * s).t(), acc);
    }
    c.tiles_mut([64, 64]).store((i, j), acc);
}

fn numbers<T: Element>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7 + i / 3) % 23) as f64 / 2.0 - 4.0)).collect()
}

fn values<T: Element>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|x| x.to_f64()).collect()
}

fn there_and_back<T: HostElement + Elem + StoreTo<T>>() {
    let device = device();
    for extents in [[1usize, 2], [5, 30], [4, 32], [9, 66]] {
        let [rows, columns] = extents;
        let elements: Vec<T> = numbers(rows * columns);
        let x = DeviceArray::upload(&device, &elements, extents).unwrap();
        assert_eq!(values(&x.download().unwrap()), values(&elements), "{extents:?}");
        let mut y = DeviceArray::<f32, 2>::zeros(&device, extents).unwrap();
        widened::<T>(&x, &mut y).run().unwrap();
        assert_eq!(values(&y.download().unwrap()), values(&elements), "{} {extents:?}", T::DTYPE);
        let mut back = DeviceArray::<T, 2>::alloc(&device, extents).unwrap();
        narrowed::<T>(&y, &mut back).run().unwrap();
        assert_eq!(values(&back.download().unwrap()), values(&elements), "{} {extents:?}", T::DTYPE);
        assert_eq!(back.first_unwritten(), None);
        // Rows further apart than they are long.
        if rows > 1 {
            let part = x.slice(1, 0..2).unwrap();
            let mut y = DeviceArray::<f32, 2>::zeros(&device, [rows, 2]).unwrap();
            widened::<T>(&part, &mut y).run().unwrap();
            let wanted: Vec<f64> =
                (0..rows).flat_map(|row| values(&elements[row * columns..][..2])).collect();
            assert_eq!(values(&y.download().unwrap()), wanted, "{}", T::DTYPE);
            let lower = x.slice(0, 1..rows).unwrap();
            assert_eq!(values(&lower.download().unwrap()), values(&elements[columns..]));
        }
    }
}

#[test]
fn elements_are_uploaded_converted_and_downloaded() {
    there_and_back::<S4>();
    there_and_back::<U4>();
    there_and_back::<F4E2M1>();
    there_and_back::<F8E8M0>();
}

#[test]
fn two_elements_are_a_byte_the_first_in_the_lowest_bits() {
    let x = DeviceArray::upload(&device(), &[S4::from_f64(1.0), S4::from_f64(-2.0)], [2]).unwrap();
    assert_eq!(x.buffer().download().unwrap(), [0xe1]);
    assert_eq!((x.len(), x.bytes().end - x.bytes().start), (2, 1));
}

#[test]
fn products_with_scales_of_blocks() {
    let device = device();
    let [m, n, k] = [70usize, 50, 96];
    let a: Vec<bf16> = (0..m * k).map(|i| bf16::from_f32((i % 5) as f32 - 2.0)).collect();
    let w: Vec<F4E2M1> = (0..n * k).map(|i| F4E2M1::from_bits((i * 5 + i / 7) as u8)).collect();
    let s: Vec<F8E8M0> = (0..n * k / 32).map(|i| F8E8M0::from_bits(125 + (i % 5) as u8)).collect();
    let c = {
        let a = DeviceArray::upload(&device, &a, [m, k]).unwrap();
        let w = DeviceArray::upload(&device, &w, [n, k]).unwrap();
        let s = DeviceArray::upload(&device, &s, [n, k / 32]).unwrap();
        let mut c = DeviceArray::zeros(&device, [m, n]).unwrap();
        gemm_mxfp4(&a, &w, &s, &mut c).run().unwrap();
        c.download().unwrap()
    };
    for (at, &found) in c.iter().enumerate() {
        let (i, j) = (at / n, at % n);
        let term = |p: usize| a[i * k + p].to_f64() * w[j * k + p].to_f64() * s[(j * k + p) / 32].to_f64();
        assert_eq!(f64::from(found), (0..k).map(term).sum::<f64>(), "({i}, {j})");
    }
}

#[test]
fn arrays_of_any_dtype() {
    let device = device();
    for dtype in [DType::S4, DType::U4, DType::E2m1, DType::E8m0] {
        let x = AnyArray::filled(&device, dtype, &[3, 4], |i| i as f64 / 2.0).unwrap();
        let wanted: Vec<f64> = (0..12).map(|i| dtype.decode(dtype.encode(f64::from(i) / 2.0))).collect();
        assert_eq!(x.numbers().unwrap(), wanted, "{dtype}");
        assert_eq!((x.dtype(), x.extents()), (dtype, &[3usize, 4][..]));
    }
}

#[test]
fn halves_of_bytes_are_refused() {
    let device = device();
    let accepted = "the stride 1 and an even extent along the last axis, even strides along others and an even first element are accepted";
    let refused = |result: Result<DeviceArray<U4, 2>, girih_tile::error::Error>| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(accepted), "{message}");
    };
    refused(DeviceArray::zeros(&device, [4, 3]));
    let x = DeviceArray::<U4, 2>::zeros(&device, [4, 6]).unwrap();
    refused(x.permute([1, 0]));
    refused(x.slice(1, 1..3));
    refused(x.slice(1, 0..5));
    refused(DeviceArray::new(device.zeros::<u8>(100).unwrap(), 1, [2, 2], [2, 1]));
    refused(DeviceArray::new(device.zeros::<u8>(100).unwrap(), 0, [2, 2], [3, 1]));
    assert!(DeviceArray::<U4, 2>::new(device.zeros::<u8>(6).unwrap(), 0, [4, 3], [4, 1]).is_err());
    let outside = DeviceArray::<U4, 1>::new(device.zeros::<u8>(6).unwrap(), 0, [14], [1]);
    assert!(outside.unwrap_err().to_string().contains("12 elements"));
}
