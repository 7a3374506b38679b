//! The configuration of a GEMM kernel.

mod store;

use girih_layout::Lay;
use girih_tensor::DType;

use super::{Batch, BlockScales, Epilogue, Mainloop, MixedInput, Schedule, epilogue};
use crate::atom::{Major, MmaAtom, MmaKind};
use crate::engine::element_bytes;
use crate::error::GemmError;
use crate::tiled::mma::{Operand, TiledMma};
use crate::{Error, Pipeline};
pub use store::Store;

/// A GEMM kernel's configuration and facts. A kernel serves every size and every pitch that its facts allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmConfig {
    /// The kernel's name in the module.
    pub name: &'static str,
    /// BlockM, BlockN, BlockK in elements.
    pub tile: [i64; 3],
    /// How the accumulators of a tile are computed.
    pub mainloop: Mainloop,
    /// The schedule, which says which block computes which tiles.
    pub schedule: Schedule,
    /// Which products a launch computes.
    pub batch: Batch,
    /// How the results go to C.
    pub store: Store,
    /// C's element type, one of the [`outputs`] of the accumulators.
    pub c_type: DType,
    /// Which of C's modes is contiguous: [`Major::K`] where its rows are, [`Major::Mn`] where its columns are.
    pub c_major: Major,
    /// Whether the kernel is one of many short ones: it is launched so that it begins before the kernel before it in its stream has ended, and
    /// lets the kernel after it begin as early (programmatic dependent launch). Only a warp-specialised mainloop has something to prepare.
    /// Such a mainloop waits before it accesses global memory in any case, so that any of its launches may be a programmatic one.
    pub programmatic: bool,
}

impl GemmConfig {
    /// The atom.
    pub fn atom(&self) -> &MmaAtom {
        match &self.mainloop {
            Mainloop::Multistage(multistage) => &multistage.atom,
            Mainloop::WarpSpecialized(warp_specialized) => &warp_specialized.atom,
        }
    }

    /// (AtomM,AtomN) -> the atom's number among the threads that multiply.
    pub fn atoms(&self) -> &Lay {
        match &self.mainloop {
            Mainloop::Multistage(multistage) => &multistage.atoms,
            Mainloop::WarpSpecialized(warp_specialized) => &warp_specialized.atoms,
        }
    }

    /// The tiled MMA of the threads that multiply.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for an arrangement of atoms that is no bijection.
    pub fn mma(&self) -> Result<TiledMma, Error> {
        match &self.mainloop {
            Mainloop::Multistage(multistage) => multistage.mma(),
            Mainloop::WarpSpecialized(warp_specialized) => warp_specialized.mma(),
        }
    }

    /// Threads of a block.
    ///
    /// # Errors
    /// [`Error::NotStatic`], [`Error::Wide`] for more than 32 bits hold.
    pub fn threads(&self) -> Result<u32, Error> {
        match &self.mainloop {
            Mainloop::Multistage(multistage) => multistage.threads(),
            Mainloop::WarpSpecialized(warp_specialized) => warp_specialized.threads(),
        }
    }

    /// The contiguous modes of A and B.
    pub fn majors(&self) -> [Major; 2] {
        match &self.mainloop {
            Mainloop::Multistage(multistage) => [multistage.a.major, multistage.b.major],
            Mainloop::WarpSpecialized(warp_specialized) => warp_specialized.atom.majors,
        }
    }

    /// The blocks of a cluster among which tiles of B are multicast, 1 without a multicast.
    pub(super) fn multicast(&self) -> i64 {
        self.mainloop.warp_specialized().map_or(1, |parts| parts.multicast)
    }

    /// The teams that ping-pong: they take a block's tiles in alternation.
    pub(super) fn teams(&self) -> i64 {
        self.mainloop.warp_specialized().map_or(1, |parts| parts.teams)
    }

    /// The rows and columns of C that a cluster with a multicast computes together.
    pub(super) fn cluster_tile(&self) -> [i64; 2] {
        let [m, n, _] = self.tile;
        [m * self.multicast(), n]
    }

    /// Whether the rows of C are contiguous, and not its columns: 1 or 0, the number of C's contiguous mode.
    pub(super) fn c_contiguous(&self) -> usize {
        usize::from(self.c_major == Major::K)
    }

    /// The configuration with another mainloop.
    pub fn with_mainloop(self, mainloop: Mainloop) -> GemmConfig {
        GemmConfig { mainloop, ..self }
    }

    /// The architecture that the kernel is for. Floats of 8 bits come with sm_89.
    pub(super) fn sm(&self) -> u32 {
        let store = if self.c_type.is_narrow_float() { 89 } else { 80 };
        self.atom().sm.max(store)
    }

    /// Whether A and B are described by tensor maps.
    pub fn loads_by_maps(&self) -> bool {
        matches!(self.mainloop, Mainloop::WarpSpecialized(_))
    }

    /// The operand's tile: its extents in its own two modes.
    pub fn extents(&self, operand: Operand) -> [i64; 2] {
        operand.modes().map(|mode| self.tile[mode])
    }

    /// The dtype of A, B, or C in memory.
    pub fn dtype(&self, operand: Operand) -> DType {
        match (operand, &self.mainloop) {
            (Operand::C, _) => self.c_type,
            (_, Mainloop::Multistage(multistage)) => multistage.atom.dtype(operand),
            (_, Mainloop::WarpSpecialized(warp_specialized)) => warp_specialized.dtype(operand),
        }
    }

    /// How A is laid out in memory, if it has scales and is narrower there than it is multiplied.
    pub fn mixed_input(&self) -> Option<&MixedInput> {
        self.mainloop.warp_specialized()?.mixed_input.as_ref()
    }

    /// The scales of A and B, if blocks of them have scales.
    pub fn block_scales(&self) -> Option<&BlockScales> {
        self.mainloop.warp_specialized()?.block_scales.as_ref()
    }

    /// The number of elements of which the pitch of A, B or C is a multiple, and the contiguous extent of C; the address is a multiple of
    /// their bytes.
    ///
    /// # Errors
    /// [`Error::PartOfByte`].
    pub fn aligned(&self, operand: Operand) -> Result<i64, Error> {
        let line = || Ok(16 / element_bytes("element", self.dtype(operand))?);
        match (operand, &self.mainloop, self.store) {
            (Operand::C, _, Store::Direct { vector } | Store::Coalesced { vector, .. }) => Ok(vector),
            (Operand::A, Mainloop::Multistage(multistage), _) => Ok(multistage.a.vector),
            (Operand::B, Mainloop::Multistage(multistage), _) => Ok(multistage.b.vector),
            _ => line(),
        }
    }

    /// The number of bytes of which the address of a matrix A, B or C is a multiple.
    pub(super) fn aligned_bytes(&self, operand: Operand) -> Result<i64, Error> {
        Ok(self.aligned(operand)? * element_bytes("element", self.dtype(operand))?)
    }

    /// The number of elements of which K is a multiple: that of the vectors which a multistage mainloop transposes, so that K ends with one.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for an arrangement of atoms that is no bijection.
    pub fn aligned_k(&self) -> Result<i64, Error> {
        let Some(multistage) = self.mainloop.multistage() else { return Ok(1) };
        let mut vector = 1;
        for operand in [Operand::A, Operand::B] {
            if multistage.transposes(operand, operand.modes().map(|mode| self.tile[mode]))? {
                vector = multistage.source(operand).vector.max(vector);
            }
        }
        Ok(vector)
    }

    /// Checks the conditions that the generator relies on.
    ///
    /// # Errors
    /// [`Error::Gemm`], which names the field and what would be accepted.
    pub fn check(&self) -> Result<(), Error> {
        match &self.mainloop {
            Mainloop::Multistage(multistage) => multistage.check(self.tile)?,
            Mainloop::WarpSpecialized(warp_specialized) => warp_specialized.check(self.tile)?,
        }
        if self.programmatic && self.mainloop.multistage().is_some() {
            return Err(GemmError::Programmatic {}.into());
        }
        if self.batch != Batch::Single && self.mixed_input().is_some() {
            return self.refuse_batch("a mixed input", "Single");
        }
        if self.batch != Batch::Single && self.block_scales().is_some() {
            return self.refuse_batch("block scales", "Single");
        }
        if self.batch == Batch::Pointers && self.mainloop.warp_specialized().is_some() {
            return self.refuse_batch("tensor maps, which have one address", "Single, Strided or Grouped");
        }
        if let Batch::Grouped { mode } = self.batch {
            self.check_groups(mode)?;
        }
        let outputs = outputs(self.atom().c_type);
        if !outputs.contains(&self.c_type) {
            let (c_type, accumulator) = (self.c_type, self.atom().c_type);
            return Err(GemmError::CType { c_type, accumulator, accepted: outputs }.into());
        }
        self.schedule.check(self)?;
        self.store.check(self)
    }

    fn refuse_batch(&self, with: &'static str, accepted: &'static str) -> Result<(), Error> {
        Err(GemmError::Batch { batch: format!("{:?}", self.batch), with, accepted }.into())
    }

    /// Checks that pairs of columns can become one of C: each thread has both, and stores what it makes of them.
    fn takes_gate(&self) -> Result<(), Error> {
        if self.c_major != Major::K {
            return Err(GemmError::GatedMajor { major: format!("{:?}", self.c_major) }.into());
        }
        let [m, n, _] = self.tile;
        let staged = |[rows, columns]: [i64; 2], stages: i64| {
            n % (2 * columns) == 0 && m / rows * (n / (2 * columns)) % stages == 0
        };
        match self.store {
            Store::Direct { vector: 1 } => {}
            Store::Tma { tile, stages } if staged(tile, stages) => {}
            store => {
                let accepted = "a direct store of single elements, or a TMA store of columns that divide half of those of the tile,";
                return store.refuse("a gated epilogue", accepted);
            }
        }
        if self.atom().kind == MmaKind::Fma {
            let (atom, with) = (self.atom().name(), "a gated epilogue");
            return Err(GemmError::Atom { atom, with, accepted: "atoms of tensor cores" }.into());
        }
        Ok(())
    }

    /// Checks that the configuration can be built with `epilogue`: it does what [`GemmConfig::check`] does, and checks that the stages of a
    /// warp-specialised mainloop leave shared memory for what the epilogue reduces, which a single team of warpgroups does, and for the
    /// barriers of what it reads ahead.
    ///
    /// # Errors
    /// Those of [`GemmConfig::check`].
    pub fn takes(&self, epilogue: &Epilogue) -> Result<(), Error> {
        self.check()?;
        if self.batch.grouped().is_some() && (epilogue.is_gated() || !epilogue.outputs().is_empty()) {
            let with = "an epilogue that is gated or has outputs besides C";
            return self.refuse_batch(with, "Single, Strided or Pointers");
        }
        epilogue.check_gate()?;
        if epilogue.is_gated() {
            self.takes_gate()?;
        }
        let Mainloop::WarpSpecialized(parts) = &self.mainloop else { return Ok(()) };
        if parts.teams > 1 && !epilogue.outputs().is_empty() {
            // They would meet at one barrier and have one place in shared memory.
            let with = format!("{epilogue:?}, which has outputs besides C");
            return Err(GemmError::Teams { teams: parts.teams, with, most: 1 }.into());
        }
        let [m, n, _] = self.tile;
        let [_, cluster] = self.schedule.parts();
        let stored = match self.store {
            Store::Direct { .. } if cluster > 1 => m * n * element_bytes("atom", self.atom().c_type)?,
            Store::Direct { .. } => 0,
            Store::Tma { tile, stages } => parts.teams * stages * epilogue::shared_bytes(self.c_type, tile)?,
            Store::Coalesced { tile, .. } => parts.teams * epilogue::shared_bytes(self.c_type, tile)?,
        };
        // All warps have values of the same columns, and each has its own rows.
        let warps = 4 * parts.consumers()?;
        let reduced = epilogue.outputs().iter().try_fold(0, |most: i64, output| {
            let values = match epilogue.kept(output) {
                Some(0) => m,
                Some(_) => warps * n / cluster,
                None => warps,
            };
            Ok::<_, Error>(most.max(values * element_bytes("output of an epilogue", output.dtype)?))
        })?;
        let barriers = match (self.store, epilogue.ahead(self)?) {
            (Store::Tma { stages, .. }, Some(_)) => {
                Pipeline::barrier_bytes(stages * parts.consumers_of_all()?)
            }
            _ => 0,
        };
        parts.check_shared(self.tile, stored + reduced + barriers + self.batch.shared_bytes())
    }

    /// A number of elements that divides where tiles of groups along a mode of C begin: TMA copies begin at multiples of 16 bytes along the
    /// contiguous mode.
    pub(super) fn unit_of_groups(&self, mode: usize) -> Result<i64, Error> {
        let operand = [Operand::A, Operand::B][mode.min(1)];
        let is_along = self.majors()[operand as usize] == Major::Mn;
        if is_along && self.loads_by_maps() { self.aligned(operand) } else { Ok(1) }
    }

    /// Checks that groups along a mode of C can begin anywhere.
    fn check_groups(&self, mode: usize) -> Result<(), Error> {
        if mode > 1 {
            return Err(GemmError::GroupMode { mode }.into());
        }
        if !matches!(self.schedule, Schedule::Persistent { alternate: false }) || self.multicast() > 1 {
            let (schedule, multicast) = (format!("{:?}", self.schedule), self.multicast());
            return Err(GemmError::GroupSchedule { schedule, multicast }.into());
        }
        if matches!(self.store, Store::Tma { .. }) {
            return self
                .store
                .refuse("groups, with which a TMA copy does not end", "a direct or a coalesced store");
        }
        let mut vectors = vec![(Operand::C, self.c_contiguous() == mode)];
        if let Mainloop::Multistage(multistage) = &self.mainloop {
            let operand = [Operand::A, Operand::B][mode];
            vectors.push((operand, multistage.source(operand).major == Major::Mn));
        }
        for (operand, along) in vectors {
            let vector = self.aligned(operand)?;
            if along && vector > 1 {
                return Err(GemmError::GroupVector { operand: format!("{operand:?}"), vector }.into());
            }
        }
        let Mainloop::WarpSpecialized(parts) = &self.mainloop else { return Ok(()) };
        parts.check_shared(self.tile, self.batch.shared_bytes())
    }
}

/// The element types that C may have where accumulators are of a dtype.
pub const fn outputs(sums: DType) -> &'static [DType] {
    match sums {
        DType::F32 | DType::F16 => &[DType::F32, DType::F16, DType::Bf16, DType::E4m3, DType::E5m2],
        DType::S32 => &[DType::S32, DType::F32, DType::F16, DType::Bf16, DType::E4m3, DType::E5m2],
        DType::F64 => &[DType::F64, DType::F32],
        _ => &[],
    }
}
