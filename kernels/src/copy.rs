//! `dst = src`: a vectorised copy of matrices with contiguous rows.

use girih_codegen::copy::{CopyConfig, CopyKernel, generate};
use girih_codegen::gemm::MAX_EXTENT;
use girih_device::{Arg, Buffer, Device, Kernel, Pod};
use girih_tensor::{DType, Element};

use crate::Error;
use crate::error::accept;
use crate::launch::{apart, launch, widest};

/// A copy of `rows` x `columns` elements between two pitches, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    dtype: DType,
    rows: i64,
    /// Elements of a row.
    columns: i64,
    /// Elements from row to row.
    ld_dst: i64,
    ld_src: i64,
}

/// Bytes of an element of a dtype that [`Problem::new`] accepts.
fn element(dtype: DType) -> i64 {
    i64::from(dtype.bits() / 8)
}

impl Problem {
    /// A copy with pitches. Where both pitches are `columns`, all rows are copied as one long row.
    ///
    /// # Errors
    /// [`Error::Kernel`] for another dtype than [`DTYPES`](crate::DTYPES); [`Error::Extent`], [`Error::LeadingStride`].
    pub fn new(dtype: DType, rows: i64, columns: i64, ld_dst: i64, ld_src: i64) -> Result<Problem, Error> {
        accept("copy", dtype)?;
        let limits =
            [("rows", rows, 0), ("columns", columns, 0), ("ld_dst", ld_dst, 1), ("ld_src", ld_src, 1)];
        for (what, value, least) in limits {
            if !(least..=MAX_EXTENT).contains(&value) {
                return Err(Error::Extent { what, value, least, most: MAX_EXTENT });
            }
        }
        for (what, value, matrix) in [("ld_dst", ld_dst, "dst"), ("ld_src", ld_src, "src")] {
            if value < columns {
                return Err(Error::LeadingStride { what, value, matrix, row: columns });
            }
        }
        let tight = ld_dst == columns && ld_src == columns && rows * columns <= MAX_EXTENT;
        if tight && rows > 1 {
            let columns = rows * columns;
            return Ok(Problem { dtype, rows: 1, columns, ld_dst: columns.max(1), ld_src: columns.max(1) });
        }
        Ok(Problem { dtype, rows, columns, ld_dst, ld_src })
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many bytes are read and written together.
    pub fn bytes(&self) -> i64 {
        2 * self.rows * self.columns * element(self.dtype)
    }

    fn span(&self, ld: i64) -> i64 {
        if self.rows == 0 || self.columns == 0 { 0 } else { (self.rows - 1) * ld + self.columns }
    }
}

/// Chooses the configuration: the widest vectors that both pitches allow, tiles as wide as the rows.
pub fn choose(problem: &Problem) -> CopyConfig {
    let element = element(problem.dtype);
    let widths: Vec<i64> = [16, 8, 4, 2].iter().filter(|b| *b % element == 0).map(|b| b / element).collect();
    // The pitch of a single row is never used.
    let pitches = if problem.rows == 1 { [0, 0] } else { [problem.ld_dst, problem.ld_src] };
    let vector = widest(&widths, &pitches);
    let threads = 256;
    // Each thread has four vectors in flight. Where a row needs fewer than all threads, the others copy further rows.
    let along =
        (threads * vector).min((problem.columns.max(1) as u64).next_power_of_two().max(vector as u64) as i64);
    let across = threads * vector / along;
    let deep = 4;
    let tile = if across == 1 { [1, along * deep] } else { [across * deep, along] };
    CopyConfig {
        name: "copy",
        dtype: problem.dtype,
        vector,
        whole: problem.columns % vector == 0,
        threads,
        tile,
    }
}

/// A copy problem with the kernel that solves it, loaded on a device.
#[derive(Debug)]
pub struct Copy {
    problem: Problem,
    config: CopyConfig,
    kernel: Kernel,
    generated: CopyKernel,
}

impl Copy {
    /// Generates and loads the kernel for `problem`.
    ///
    /// # Errors
    /// [`Error::Codegen`], [`Error::Device`].
    pub fn new(device: &Device, problem: &Problem) -> Result<Copy, Error> {
        let config = choose(problem);
        let generated = generate(&config)?;
        let kernel = device.load(&generated.kernel)?.kernel(config.name)?;
        Ok(Copy { problem: *problem, config, kernel, generated })
    }

    /// The configuration.
    pub fn config(&self) -> &CopyConfig {
        &self.config
    }

    /// The loaded kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        &self.generated.partitions
    }

    /// `dst = src`.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Overlap`], [`Error::Grid`] before anything is written; [`Error::Device`].
    pub fn run<T: Element + Pod>(&self, dst: &Buffer<T>, src: &Buffer<T>) -> Result<(), Error> {
        let p = &self.problem;
        if T::DTYPE != p.dtype {
            return Err(Error::DType { problem: p.dtype.name(), buffer: T::DTYPE.name() });
        }
        for (matrix, ld, len) in [("dst", p.ld_dst, dst.len()), ("src", p.ld_src, src.len())] {
            if p.span(ld) as u64 > len as u64 {
                return Err(Error::BufferTooSmall { matrix, needed: p.span(ld), len });
            }
        }
        apart("dst", dst, "src", src)?;
        if p.rows == 0 || p.columns == 0 {
            return Ok(());
        }
        let [tile_m, tile_n] = self.config.tile.map(|t| t as u64);
        let tiles = (p.rows as u64).div_ceil(tile_m) * (p.columns as u64).div_ceil(tile_n);
        if tiles > i32::MAX as u64 {
            let tile = format!("({tile_m},{tile_n})");
            return Err(Error::Grid { tiles: tiles as i64, tile, most: i64::from(i32::MAX) });
        }
        let config = self.kernel.config([tiles as u32, 1, 1])?;
        // The pitch of a single row is never used, but the module states that it is a multiple of its vectors.
        let whole = |ld: i64| {
            if p.rows == 1 { (ld as u64).next_multiple_of(self.config.vector as u64) as i64 } else { ld }
        };
        let number = |value: i64| Arg::U32(value as u32);
        let args = [
            ("dst", dst.into()),
            ("src", src.into()),
            ("rows", number(p.rows)),
            ("columns", number(p.columns)),
            ("ld_dst", number(whole(p.ld_dst))),
            ("ld_src", number(whole(p.ld_src))),
        ];
        Ok(launch(&self.kernel, &config, &args)?)
    }
}
