//! Matrices in `.npy` files (numpy's `numpy.lib.format`).

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use girih_device::Pod;
use girih_device::sizes::{size, wide};
use girih_kernels::gemm::Order;
use girih_tensor::{DType, Element};
use npyz::{Endianness, NpyHeader, TypeChar, TypeStr, WriterBuilder};

use crate::Error;

/// A matrix file whose header has been read and judged. The elements of the file have not been read yet.
pub(crate) struct Npy {
    pub(crate) path: PathBuf,
    pub(crate) dtype: DType,
    /// The dtype as numpy writes it, in quotes.
    pub(crate) descr: String,
    /// Whether the first index varies fastest.
    pub(crate) fortran: bool,
    shape: [u64; 2],
    elements: BufReader<File>,
}

impl Npy {
    /// Reads the header.
    pub(crate) fn open(path: &Path) -> Result<Npy, Error> {
        let file = File::open(path).map_err(Error::read(path))?;
        let length = file.metadata().map_err(Error::read(path))?;
        let mut elements = BufReader::new(file);
        let header = NpyHeader::from_reader(&mut elements).map_err(girih_notation::Error::header(path))?;
        let descr = header.dtype().descr();
        let dtype = element_type(path, &header.dtype(), &descr)?;
        let &[rows, columns] = header.shape() else {
            return Err(Error::Rank { path: path.into(), shape: header.shape().into() });
        };
        let count = u128::from(rows) * u128::from(columns);
        let needed = count.saturating_mul(u128::from(dtype.bits() / 8));
        if length.is_file() {
            let found = length.len() - elements.stream_position().map_err(Error::read(path))?;
            if needed > u128::from(found) {
                let shape = vec![rows, columns];
                return Err(
                    girih_notation::Error::Truncated { path: path.into(), shape, needed, found }.into()
                );
            }
        }
        let fortran = header.order() == npyz::Order::Fortran;
        Ok(Npy { path: path.into(), dtype, descr, fortran, shape: [rows, columns], elements })
    }

    /// The extents in elements, with the contiguous one last: the shape of a C-order file, the reversed shape of a
    /// Fortran-order file. An extent that is too large for an `i64` becomes the largest `i64`.
    pub(crate) fn stored(&self) -> [i64; 2] {
        let [first, last] = self.shape.map(|extent| i64::try_from(extent).unwrap_or(i64::MAX));
        if self.fortran { [last, first] } else { [first, last] }
    }

    /// Reads the elements in the order in which the file stores them; `T` has as many bits as the file's dtype.
    pub(crate) fn read<T: Element + Pod>(mut self) -> Result<Vec<T>, Error> {
        let [outer, inner] = self.stored();
        let mut elements = vec![T::from_f64(0.0); size(outer * inner)];
        self.elements.read_exact(bytemuck::cast_slice_mut(&mut elements)).map_err(Error::read(&self.path))?;
        Ok(elements)
    }
}

fn element_type(path: &Path, dtype: &npyz::DType, descr: &str) -> Result<DType, Error> {
    let (path, descr) = (path.into(), descr.into());
    let npyz::DType::Plain(plain) = dtype else { return Err(Error::ElementType { path, descr }) };
    if plain.endianness() == Endianness::Big {
        return Err(girih_notation::Error::BigEndian { path, descr }.into());
    }
    match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 8) => Ok(DType::F64),
        (TypeChar::Float, 4) => Ok(DType::F32),
        (TypeChar::Float, 2) => Ok(DType::F16),
        (TypeChar::Int, 1) => Ok(DType::S8),
        // numpy has no bf16: a file holds the bits of bf16 as integers, or as the two opaque bytes that ml_dtypes saves.
        (TypeChar::Uint | TypeChar::RawData, 2) => Ok(DType::Bf16),
        // It has no floats of 8 bits either, and does not tell one kind from the other.
        (TypeChar::Uint | TypeChar::RawData, 1) => Ok(DType::E4m3),
        _ => Err(Error::ElementType { path, descr }),
    }
}

/// Writes a matrix whose `elements` are stored in `order`. Floats that numpy does not have are written as their bits.
pub(crate) fn write<T: Element + Pod>(
    mut to: impl Write,
    shape: [i64; 2],
    order: Order,
    elements: &[T],
) -> io::Result<()> {
    let descr = T::DTYPE.format().npy;
    let plain: TypeStr = descr.parse().map_err(|e| io::Error::other(format!("{descr}: {e}")))?;
    npyz::WriteOptions::new_header_only()
        .order(if order == Order::Row { npyz::Order::C } else { npyz::Order::Fortran })
        .dtype(npyz::DType::new_scalar(plain))
        .shape(&shape.map(wide))
        .writer(&mut to)
        .write_header_only()?;
    to.write_all(bytemuck::cast_slice(elements))
}
