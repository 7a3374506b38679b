//! Matrices of small integers, their `.npy` files, and the naive product, without the code under test.

use std::fs;
use std::path::Path;

use float8::F8E4M3;
use half::{bf16, f16};

/// A matrix of small integers, which every dtype holds exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) shape: [usize; 2],
    /// The elements, row by row.
    pub(crate) values: Vec<f32>,
}

impl Matrix {
    /// A matrix of integers from -2 to 2, by a linear congruence.
    pub(crate) fn new(shape: [usize; 2], seed: u64) -> Matrix {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 5) as f32 - 2.0
        };
        Matrix { shape, values: (0..shape[0] * shape[1]).map(|_| next()).collect() }
    }

    pub(crate) fn filled(shape: [usize; 2], value: f32) -> Matrix {
        Matrix { shape, values: vec![value; shape[0] * shape[1]] }
    }

    pub(crate) fn transposed(&self) -> Matrix {
        let [rows, columns] = self.shape;
        let at = |i: usize| self.values[i % rows * columns + i / rows];
        Matrix { shape: [columns, rows], values: (0..rows * columns).map(at).collect() }
    }

    /// The product `self @ other`.
    pub(crate) fn times(&self, other: &Matrix) -> Matrix {
        let ([m, k], [k2, n]) = (self.shape, other.shape);
        assert_eq!(k, k2);
        let dot = |i: usize| (0..k).map(|l| self.values[i / n * k + l] * other.values[l * n + i % n]).sum();
        Matrix { shape: [m, n], values: (0..m * n).map(dot).collect() }
    }

    /// Saves the matrix as numpy does. `descr` is `<f4`, `<f8`, `<f2`, `|i1`, `|u1`, `<u2` or `|V2`.
    pub(crate) fn save(&self, path: &Path, descr: &str, fortran: bool) {
        let stored = if fortran { self.transposed() } else { self.clone() };
        let bytes = stored.values.iter().flat_map(|&x| match descr {
            "<f4" => x.to_le_bytes().to_vec(),
            "<f8" => f64::from(x).to_le_bytes().to_vec(),
            "|i1" => (x as i8).to_le_bytes().to_vec(),
            "|u1" => vec![F8E4M3::from_f32(x).to_bits()],
            "<f2" => f16::from_f32(x).to_le_bytes().to_vec(),
            _ => bf16::from_f32(x).to_le_bytes().to_vec(),
        });
        fs::write(path, npy(descr, fortran, &format!("{:?}", self.shape.to_vec()), bytes)).expect("a file");
    }

    /// Loads a file that [`save`](Self::save) has written, with the dtype and whether the file is in Fortran order.
    pub(crate) fn load(path: &Path) -> (Matrix, String, bool) {
        let bytes = fs::read(path).expect("a file");
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..end]).expect("text");
        let after = |key: &str| header.split(key).nth(1).unwrap_or_else(|| panic!("{key} in {header}"));
        let descr = after("'descr': '").split('\'').next().expect("a dtype").to_string();
        let fortran = after("'fortran_order': ").starts_with("True");
        let extents = after("'shape': (").split(')').next().expect("a shape").split(',');
        let shape: Vec<usize> = extents.filter_map(|e| e.trim().parse().ok()).collect();
        let data = &bytes[end..];
        let values: Vec<f32> = match &*descr {
            "<f4" => data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect(),
            "<f8" => data
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().expect("eight")) as f32)
                .collect(),
            "<i4" => {
                data.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().expect("four")) as f32).collect()
            }
            "|u1" => data.iter().map(|&b| F8E4M3::from_bits(b).to_f32()).collect(),
            "<f2" => data.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect(),
            "<u2" => data.chunks_exact(2).map(|b| bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect(),
            _ => panic!("{descr}"),
        };
        let [rows, columns] = shape[..] else { panic!("{header}") };
        assert_eq!(values.len(), rows * columns, "{header}");
        let stored = Matrix { shape: if fortran { [columns, rows] } else { [rows, columns] }, values };
        (if fortran { stored.transposed() } else { stored }, descr, fortran)
    }
}

/// The bytes of an `.npy` file of version 1.0.
pub(crate) fn npy(
    descr: &str,
    fortran: bool,
    shape: &str,
    elements: impl IntoIterator<Item = u8>,
) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let shape = shape.replace('[', "(").replace(']', ",)").replace(",,", ",").replace("(,", "(");
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(elements);
    out
}
