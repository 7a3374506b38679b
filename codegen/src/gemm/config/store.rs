//! How a kernel stores C.

use super::GemmConfig;
use crate::Error;
use crate::engine::element_bytes;
use crate::error::GemmError;
use crate::gemm::{Mainloop, WarpSpecialized, epilogue};
use crate::tiled::mma::Operand;

/// How the results of a tile go to C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// From registers, in the widest vectors that the accumulators' layout allows.
    Direct {
        /// A number of elements that divides C's contiguous extent and its pitch, and whose bytes divide C's address: vectors can be as wide.
        vector: i64,
    },
    /// Through shared memory and by TMA. Only a warp-specialised mainloop leaves room for this.
    Tma {
        /// The rows and columns of C's tile that go through shared memory together (CUTLASS's `EpilogueTile`). If the tile of C is larger, each
        /// warpgroup stores it in several subtiles.
        tile: [i64; 2],
        /// The number of subtiles in shared memory, a divisor of all of them (CUTLASS's `StagesD`): with two, one subtile is written while the
        /// other one is read.
        stages: i64,
    },
    /// Through shared memory, and from there by the threads, so that a warp writes neighbouring vectors: for a C that tensor maps do not
    /// describe, or whose contiguous extent is no multiple of 16 bytes, since TMA copies store nothing less. Only a warp-specialised mainloop leaves room for this.
    Coalesced {
        /// As those of [`Store::Tma`], of which shared memory holds one subtile.
        tile: [i64; 2],
        /// As that of [`Store::Direct`].
        vector: i64,
    },
}

impl Store {
    /// The error for a store that does not fit.
    pub(in crate::gemm) fn refuse(&self, with: &'static str, accepted: &'static str) -> Result<(), Error> {
        Err(GemmError::Store { store: format!("{self:?}"), with, accepted }.into())
    }

    pub(super) fn check(&self, config: &GemmConfig) -> Result<(), Error> {
        let (widest, vector) = (16 / element_bytes("c_type", config.c_type)?, config.aligned(Operand::C)?);
        if !(1..=widest).contains(&vector) || vector.count_ones() != 1 {
            return Err(GemmError::StoreVector { vector, most: widest }.into());
        }
        match (*self, &config.mainloop) {
            (Store::Direct { .. }, _) => Ok(()),
            (Store::Tma { .. } | Store::Coalesced { .. }, Mainloop::Multistage(_)) => {
                self.refuse("a multistage mainloop", "a direct store")
            }
            (Store::Tma { tile, stages }, Mainloop::WarpSpecialized(parts)) => {
                check_staged(config, parts, tile, stages)
            }
            (Store::Coalesced { tile, vector }, Mainloop::WarpSpecialized(parts)) => {
                check_staged(config, parts, tile, 1)?;
                if epilogue::lanes(config.c_major, tile[1], vector).is_some() {
                    return Ok(());
                }
                Err(GemmError::StoreLanes { vector, columns: tile[1] }.into())
            }
        }
    }
}

/// Checks that the results of a tile go through shared memory in subtiles of this many rows and columns.
fn check_staged(
    config: &GemmConfig,
    parts: &WarpSpecialized,
    [rows, columns]: [i64; 2],
    stages: i64,
) -> Result<(), Error> {
    let (unit, [m, n, _], atom) = (parts.rows()?, config.tile, parts.atom.shape_mnk[1]);
    if rows < unit || rows % unit != 0 || m % rows != 0 {
        return Err(GemmError::StoreRows { rows, unit, m }.into());
    }
    let whole = columns > 0 && (atom % columns == 0 || columns % atom == 0);
    if !whole || n % columns != 0 || parts.with_columns(columns.min(atom)).is_err() {
        return Err(GemmError::StoreColumns { columns, n, atom }.into());
    }
    let subtiles = m / rows * (n / columns);
    if stages < 1 || subtiles % stages != 0 {
        return Err(GemmError::StoreStages { stages, subtiles }.into());
    }
    let bytes = parts.teams * stages * epilogue::shared_bytes(config.c_type, [rows, columns])?;
    parts.check_shared(config.tile, bytes + config.batch.shared_bytes())
}
