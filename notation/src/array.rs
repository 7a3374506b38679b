//! Arrays of `.npy` files: any shape, any numeric type, the elements as bytes.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use npyz::{Endianness, NpyHeader, Order, TypeChar, TypeStr, WriterBuilder};

use crate::Error;

/// An array as the bytes of its elements, in storage order.
#[derive(Clone, Debug)]
pub struct Array {
    /// The element type, in NumPy's notation.
    pub element: TypeStr,
    /// The extents.
    pub shape: Vec<u64>,
    /// Whether the array is in Fortran order: the first index varies fastest.
    pub fortran: bool,
    /// The elements.
    pub bytes: Vec<u8>,
}

/// Element types: the name on the command line, NumPy's notation, and the size in bytes.
pub(crate) const ELEMENTS: [(&str, &str, usize); 12] = [
    ("u8", "|u1", 1),
    ("s8", "|i1", 1),
    ("u16", "<u2", 2),
    ("s16", "<i2", 2),
    ("u32", "<u4", 4),
    ("s32", "<i4", 4),
    ("u64", "<u8", 8),
    ("s64", "<i8", 8),
    ("f16", "<f2", 2),
    // numpy has no bf16: a file holds the bits of bf16 as integers.
    ("bf16", "<u2", 2),
    ("f32", "<f4", 4),
    ("f64", "<f8", 8),
];

impl Array {
    /// Reads a `.npy` file.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::NotNpy`], [`Error::BigEndian`], [`Error::ElementOfArray`], [`Error::Truncated`].
    pub fn read(path: &Path) -> Result<Array, Error> {
        let file = File::open(path).map_err(Error::read(path))?;
        let mut from = BufReader::new(file);
        let header = NpyHeader::from_reader(&mut from).map_err(Error::header(path))?;
        let (element, bytes) = element(path, &header.dtype())?;
        let shape = header.shape().to_vec();
        // A size that overflows 128 or 64 bits is larger than any file.
        let needed = shape.iter().fold(bytes as u128, |all, &extent| all.saturating_mul(extent.into()));
        let mut bytes = Vec::new();
        let most = u64::try_from(needed).unwrap_or(u64::MAX);
        let found = from.take(most).read_to_end(&mut bytes).map_err(Error::read(path))? as u64;
        if needed > found.into() {
            return Err(Error::Truncated { path: path.into(), shape, needed, found });
        }
        Ok(Array { element, shape, fortran: header.order() == Order::Fortran, bytes })
    }

    /// Writes the array as a `.npy` file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        npyz::WriteOptions::new_header_only()
            .order(if self.fortran { Order::Fortran } else { Order::C })
            .dtype(npyz::DType::new_scalar(self.element.clone()))
            .shape(&self.shape)
            .writer(&mut to)
            .write_header_only()?;
        to.write_all(&self.bytes)
    }
}

/// The element type and its size in bytes, if kernels support the type.
fn element(path: &Path, dtype: &npyz::DType) -> Result<(TypeStr, usize), Error> {
    let refused = || Error::ElementOfArray { path: path.into(), descr: dtype.descr() };
    let npyz::DType::Plain(plain) = dtype else { return Err(refused()) };
    if plain.endianness() == Endianness::Big {
        return Err(Error::BigEndian { path: path.into(), descr: dtype.descr() });
    }
    let bytes = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) => 1,
        (TypeChar::Int | TypeChar::Uint, bytes @ (1 | 2 | 4 | 8)) => bytes,
        (TypeChar::Float, bytes @ (2 | 4 | 8)) => bytes,
        // ml_dtypes saves bf16 and floats of 8 bits as these.
        (TypeChar::RawData, bytes @ (1 | 2)) => bytes,
        _ => return Err(refused()),
    };
    Ok((plain.clone(), usize::try_from(bytes).unwrap_or(usize::MAX)))
}
