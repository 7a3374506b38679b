//! Loading and launching of copies.

use std::sync::{Arc, Mutex, PoisonError};

use girih_codegen::copy::{CopyConfig, CopyKernel, Param, generate};
use girih_codegen::gemm::MAX_EXTENT;
use girih_device::{Arg, Buffer, BufferArg, Device, Kernel, Launch, LaunchConfig, Pod};
use girih_tensor::{DType, Element};

use super::choose::{Chosen, choose};
use super::modes::Pad;
use super::pieces::Piece;
use super::problem::{Problem, origins};
use crate::Error;
use crate::launch::{apart, launch};
use crate::overlap::View;
use girih_device::sizes::{size, wide, word};

/// The alignment of buffers that a device allocates, as far as accesses can use it.
const ALIGNED: i64 = 16;

/// The name of the parameter that is the source's address.
pub(crate) const SOURCE: &str = "src";

/// A kernel for one alignment of the buffers.
#[derive(Debug)]
struct Loaded {
    aligned: [i64; 2],
    chosen: Chosen,
    kernel: Kernel,
    generated: CopyKernel,
}

/// A copy problem with the kernels that solve it, loaded on a device.
#[derive(Debug)]
pub struct Copy {
    device: Device,
    problem: Problem,
    whole: Arc<Loaded>,
    /// Kernels for buffers that begin at smaller multiples, loaded when they are needed.
    others: Mutex<Vec<Arc<Loaded>>>,
}

impl Copy {
    /// Generates and loads the kernel for `problem`, for buffers that begin at multiples of 16 bytes. A kernel for other buffers, which may be slices,
    /// is loaded when it is needed first.
    ///
    /// # Errors
    /// [`Error::Codegen`], [`Error::Device`].
    pub fn new(device: &Device, problem: &Problem) -> Result<Copy, Error> {
        Copy::configured(device, problem, choose(problem, [ALIGNED; 2])?)
    }

    /// The same by a configuration of the caller's choice ([`tuned`](super::tuned)) for buffers that begin at multiples of 16 bytes.
    ///
    /// # Errors
    /// As [`Copy::new`].
    pub fn configured(device: &Device, problem: &Problem, chosen: Chosen) -> Result<Copy, Error> {
        let whole = Arc::new(load(device, [ALIGNED; 2], chosen)?);
        Ok(Copy { device: device.clone(), problem: problem.clone(), whole, others: Mutex::default() })
    }

    /// The configuration.
    pub fn config(&self) -> &CopyConfig {
        &self.whole.chosen.config
    }

    /// The loaded kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.whole.kernel
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.whole.generated.kernel.shared_bytes()
    }

    /// What the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        &self.whole.generated.partitions
    }

    /// `dst = src`.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Overlap`], and [`Error::Input`] for a problem with indices, before anything
    /// is written; [`Error::Codegen`], [`Error::Device`].
    pub fn run<T: Element + Pod>(&self, dst: &Buffer<T>, src: &Buffer<T>) -> Result<(), Error> {
        self.run_with(dst, src, None::<&Buffer<u32>>)
    }

    /// As [`Copy::run`], where `index` says which positions of the source are copied ([`Problem::gather`]).
    ///
    /// # Errors
    /// As [`Copy::run`]; [`Error::Input`] for a problem without indices, or for indices of another type.
    pub fn gather<T: Element + Pod, I: Element + Pod>(
        &self,
        dst: &Buffer<T>,
        src: &Buffer<T>,
        index: &Buffer<I>,
    ) -> Result<(), Error> {
        self.run_with(dst, src, Some(index))
    }

    fn run_with<T: Element + Pod, I: Element + Pod>(
        &self,
        dst: &Buffer<T>,
        src: &Buffer<T>,
        index: Option<&Buffer<I>>,
    ) -> Result<(), Error> {
        let p = &self.problem;
        if T::DTYPE != p.dtype() {
            return Err(Error::DType { problem: p.dtype().name(), buffer: T::DTYPE.name() });
        }
        self.check_indices(dst, index)?;
        let [read, written] = p.spans();
        for (matrix, needed, len) in [("dst", written, dst.len()), ("src", read, src.len())] {
            if wide(needed) > len as u64 {
                return Err(Error::BufferTooSmall { matrix, needed, len });
            }
        }
        if src.overlap(dst) > 0 {
            let [of_src, of_dst] = p.views();
            let element = p.element();
            let [to, from] = [(dst, &of_dst), (src, &of_src)].map(|(buffer, [extents, strides])| View {
                address: buffer.address(),
                element,
                extents,
                strides,
            });
            if let Some(common) = to.common(&from)? {
                return Err(common.error("dst", "src"));
            }
        }
        if p.elements() == 0 {
            return Ok(());
        }
        let loaded = self
            .loaded([src, dst].map(|buffer| 1 << buffer.address().trailing_zeros().min(ALIGNED.ilog2())))?;
        let scale = (loaded.chosen.config.dtype.bits() / T::DTYPE.bits()) as usize;
        let [of_src, of_dst] = origins(&loaded.chosen.modes, p.gathered());
        for piece in loaded.chosen.pieces() {
            let [to, from] = [of_dst + piece.dst, of_src + piece.src].map(|first| size(first) * scale);
            let (to, from) = (behind(dst, to)?, behind(src, from)?);
            let list = index.map(|index| behind(index, size(piece.index))).transpose()?.flatten();
            let ends = [to.as_ref().unwrap_or(dst), from.as_ref().unwrap_or(src)].map(Arg::from);
            let index = list.as_ref().or(index).map_or(Arg::U64(0), Arg::from);
            let config = loaded.grid(&self.device, &piece)?;
            launch(&loaded.kernel, &config, &loaded.args(p, &piece, ends, index)?)?;
        }
        Ok(())
    }

    /// The launches of the copy between buffers of bytes, whose addresses are multiples of what the configuration says: one for each
    /// piece of [`Copy::sources`].
    pub(crate) fn prepare(&self, dst: BufferArg<'_>, src: BufferArg<'_>) -> Result<Vec<Launch>, Error> {
        let loaded = &*self.whole;
        let prepared = loaded.chosen.pieces().into_iter().map(|piece| {
            let [dst, src] = [(dst, piece.dst), (src, piece.src)]
                .map(|(buffer, first)| Arg::Buffer(buffer.from_byte(loaded.bytes(first))));
            let args = loaded.args(&self.problem, &piece, [dst, src], Arg::U64(0))?;
            let config = loaded.grid(&self.device, &piece)?;
            Ok(loaded.kernel.prepare(&config, &loaded.kernel.arguments(&args)?)?)
        });
        prepared.collect()
    }

    /// For each launch the byte of the source at which its own source begins, which is the argument of its parameter [`SOURCE`].
    pub(crate) fn sources(&self) -> impl Iterator<Item = usize> {
        let pieces = self.whole.chosen.pieces().into_iter();
        pieces.map(|piece| self.whole.bytes(piece.src))
    }

    fn check_indices<T: Pod, I: Element + Pod>(
        &self,
        dst: &Buffer<T>,
        index: Option<&Buffer<I>>,
    ) -> Result<(), Error> {
        let found = index.map(|index| (I::DTYPE, index.len()));
        let wanted =
            self.problem.gathered().map(|gather| (gather.index, self.problem.modes()[gather.mode].extent));
        let text = |what: Option<(DType, String)>| {
            what.map_or_else(
                || String::from("no indices"),
                |(dtype, count)| format!("{count} indices of {dtype}"),
            )
        };
        match (found, wanted) {
            (None, None) => {}
            (Some((own, len)), Some((dtype, count))) if own == dtype && len as u64 >= wide(count) => {}
            _ => {
                return Err(Error::Input {
                    name: String::from("index"),
                    found: text(found.map(|(dtype, len)| (dtype, len.to_string()))),
                    accepted: text(wanted.map(|(dtype, count)| (dtype, format!("at least {count}")))),
                });
            }
        }
        index.map_or(Ok(()), |index| apart("dst", dst, "index", index))
    }

    /// The kernel for buffers that begin at multiples of these bytes.
    fn loaded(&self, aligned: [i64; 2]) -> Result<Arc<Loaded>, Error> {
        if aligned == self.whole.aligned {
            return Ok(self.whole.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = others.iter().find(|other| other.aligned == aligned) {
            return Ok(known.clone());
        }
        let loaded = Arc::new(load(&self.device, aligned, choose(&self.problem, aligned)?)?);
        others.push(loaded.clone());
        Ok(loaded)
    }
}

/// The lower half of bits.
#[expect(clippy::cast_possible_truncation, reason = "cannot lose: the bits of a fill are repeated")]
fn lower(bits: u64) -> u32 {
    bits as u32
}

/// The buffer from an element on, unless that is the first one.
fn behind<T: Pod>(buffer: &Buffer<T>, offset: usize) -> Result<Option<Buffer<T>>, Error> {
    if offset == 0 { Ok(None) } else { Ok(Some(buffer.slice(offset..)?)) }
}

fn load(device: &Device, aligned: [i64; 2], chosen: Chosen) -> Result<Loaded, Error> {
    let generated = generate(&chosen.config)?;
    let kernel = device.load(&generated.kernel)?.kernel(chosen.config.name)?;
    Ok(Loaded { aligned, chosen, kernel, generated })
}

impl Loaded {
    /// Bytes of this many elements of the configuration's dtype.
    fn bytes(&self, elements: i64) -> usize {
        size(elements) * (self.chosen.config.dtype.bits() / 8) as usize
    }

    /// The arguments of the launch of a piece, with their names.
    fn args<'a>(
        &'a self,
        problem: &Problem,
        piece: &Piece,
        [dst, src]: [Arg<'a>; 2],
        index: Arg<'a>,
    ) -> Result<Vec<(&'a str, Arg<'a>)>, Error> {
        let Chosen { config, modes, .. } = &self.chosen;
        let tiles = config.tiles(&piece.extents)?;
        // Along a single position no stride is used, but the module states what the stride is a multiple of.
        let stride = |mode: usize, stride: i64| if piece.extents[mode] == 1 { 0 } else { word(stride) };
        // A source that has nothing of a piece begins behind it.
        let nothing = Pad { low: MAX_EXTENT, extent: MAX_EXTENT };
        let pad = |mode: usize| piece.pads[mode].filter(|pad| pad.extent > 0).unwrap_or(nothing);
        let value = |param: &Param| match *param {
            Param::Dst => dst,
            Param::Src => src,
            Param::Extent(mode) => Arg::U32(word(piece.extents[mode])),
            Param::DstStride(mode) => Arg::U32(stride(mode, modes[mode].dst.abs())),
            Param::SrcStride(mode) if problem.gathered().is_some() => Arg::U32(word(modes[mode].src.abs())),
            Param::SrcStride(mode) => Arg::U32(stride(mode, modes[mode].src.abs())),
            Param::Inner(mode) => Arg::U32(word(pad(mode).extent)),
            Param::Low(mode) => Arg::U32(word(pad(mode).low)),
            Param::Fill if config.dtype.bits() == 64 => Arg::U64(problem.fill()),
            Param::Fill => Arg::U32(lower(problem.fill())),
            Param::Index => index,
            Param::Rows => Arg::U32(word(problem.gathered().map_or(1, |gather| gather.rows))),
            Param::Tiles => Arg::U32(word(tiles)),
        };
        let names = self.generated.kernel.params().iter().map(|param| &*param.name);
        Ok(names.zip(self.generated.params.iter().map(value)).collect())
    }

    /// The grid and the block of the launch of a piece.
    fn grid(&self, device: &Device, piece: &Piece) -> Result<LaunchConfig, Error> {
        let tiles = self.chosen.config.tiles(&piece.extents)?;
        let most =
            self.chosen.blocks.map_or(tiles, |blocks| blocks * i64::from(device.limits().multiprocessors));
        let blocks = tiles.min(most.max(1));
        let config = self
            .kernel
            .config([word(blocks), 1, 1])?
            .with_dynamic_shared(self.generated.kernel.shared_bytes());
        Ok(if self.chosen.config.programmatic { config.programmatic() } else { config })
    }
}
