//! Loading and launching of copies.

use std::sync::Arc;

use girih_codegen::copy::{Arguments, CopyConfig, CopyKernel, generate};
use girih_device::{Arg, Buffer, Device, Kernel, Pod};
use girih_tensor::{DType, Element};

use super::choose::{Chosen, choose};
use super::pieces::Piece;
use super::problem::{Problem, origins};
use crate::Error;
use crate::family::{Cache, Launches, Loaded, Memory, Step, Untyped, named};
use crate::overlap::View;
use girih_device::sizes::{size, wide, word};

/// The alignment of buffers that a device allocates, as far as accesses can use it.
const ALIGNED: i64 = 16;

/// The launches for one alignment of the buffers.
#[derive(Debug)]
struct Way {
    chosen: Chosen,
    loaded: Loaded<CopyKernel>,
    launches: Launches,
}

/// A copy problem with the kernels that solve it, loaded on a device.
#[derive(Debug)]
pub struct Copy {
    device: Device,
    problem: Problem,
    whole: Arc<Way>,
    /// Those for buffers that begin at smaller multiples, loaded when they are needed.
    others: Cache<[i64; 2], Arc<Way>>,
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
        let whole = Arc::new(Way::new(device, problem, chosen)?);
        Ok(Copy { device: device.clone(), problem: problem.clone(), whole, others: Cache::default() })
    }

    /// The configuration.
    pub fn config(&self) -> &CopyConfig {
        &self.whole.chosen.config
    }

    /// The loaded kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.whole.loaded.kernel
    }

    /// Bytes of dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.whole.loaded.generated.kernel.shared_bytes()
    }

    /// The layouts that the kernel was derived from: names with their layouts as text.
    pub fn partitions(&self) -> &[(&'static str, String)] {
        &self.whole.loaded.generated.partitions
    }

    /// `dst = src`.
    ///
    /// # Errors
    /// [`Error::DType`], [`Error::BufferTooSmall`], [`Error::Overlap`], and [`Error::Input`] for a problem with indices, before anything
    /// is written; [`Error::Codegen`], [`Error::Device`].
    pub fn run<T: Element + Pod>(&self, dst: &Buffer<T>, src: &Buffer<T>) -> Result<(), Error> {
        self.call(dst.into(), src.into(), None)
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
        self.call(dst.into(), src.into(), Some(index.into()))
    }

    /// As [`Copy::run`] and [`Copy::gather`], of buffers whose elements have dtypes that are known at run time.
    ///
    /// # Errors
    /// As [`Copy::run`] and [`Copy::gather`].
    pub fn run_untyped(
        &self,
        dst: Untyped<'_>,
        src: Untyped<'_>,
        index: Option<Untyped<'_>>,
    ) -> Result<(), Error> {
        self.call(dst.into(), src.into(), index.map(Memory::from))
    }

    fn call(&self, dst: Memory<'_>, src: Memory<'_>, index: Option<Memory<'_>>) -> Result<(), Error> {
        let p = &self.problem;
        if let Some(other) = [dst, src].into_iter().find(|memory| memory.dtype != p.dtype()) {
            return Err(Error::DType { problem: p.dtype().name(), buffer: other.dtype.name() });
        }
        self.check_indices(&dst, index.as_ref())?;
        let [read, written] = p.spans();
        for (matrix, needed, len) in [("dst", written, dst.len), ("src", read, src.len)] {
            if wide(needed) > len as u64 {
                return Err(Error::BufferTooSmall { matrix, needed, len });
            }
        }
        if src.overlap(&dst) > 0 {
            let [of_src, of_dst] = p.views();
            let element = p.element();
            let [to, from] = [(dst, &of_dst), (src, &of_src)].map(|(memory, [extents, strides])| View {
                address: memory.address,
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
        let aligned = [src, dst].map(|memory| 1 << memory.address.trailing_zeros().min(ALIGNED.ilog2()));
        let way = match aligned == [ALIGNED; 2] {
            true => self.whole.clone(),
            false => {
                self.others.get(&aligned, || Way::new(&self.device, p, choose(p, aligned)?).map(Arc::new))?
            }
        };
        let mut given = vec![named("dst", Arg::Buffer(dst.arg)), named("src", Arg::Buffer(src.arg))];
        given.extend(index.map(|index| named("index", Arg::Buffer(index.arg))));
        way.launches.call(&given)
    }

    /// The launches, one for each piece of the problem, for buffers whose addresses are multiples of what the configuration says.
    pub(crate) fn steps(&self) -> &[Step] {
        self.whole.launches.steps()
    }

    fn check_indices(&self, dst: &Memory<'_>, index: Option<&Memory<'_>>) -> Result<(), Error> {
        let found = index.map(|index| (index.dtype, index.len));
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
        // Blocks would race on memory that is written and read in one launch.
        match index.map_or(0, |index| dst.overlap(index)) {
            0 => Ok(()),
            bytes => Err(Error::Overlap { written: "dst", read: "index", bytes, witness: String::new() }),
        }
    }
}

impl Way {
    fn new(device: &Device, problem: &Problem, chosen: Chosen) -> Result<Way, Error> {
        let loaded = Loaded::new(device, generate(&chosen.config)?)?;
        let Chosen { config, modes, blocks } = &chosen;
        let most = blocks.map(|blocks| (blocks * i64::from(device.limits().multiprocessors)).max(1));
        let bytes = |elements: i64| size(elements) * (config.dtype.bits() / 8) as usize;
        let index = problem.gathered().map_or(0, |gather| (gather.index.bits() / 8) as usize);
        let [of_src, of_dst] = origins(modes, problem.gathered());
        let step = |piece: Piece| {
            let tiles = config.tiles(&piece.extents)?;
            let launch = loaded.kernel.config([word(tiles.min(most.unwrap_or(tiles))), 1, 1])?;
            let pads = piece.pads.iter().map(|pad| pad.map(|pad| [pad.low, pad.extent])).collect();
            let arguments = Arguments {
                extents: piece.extents,
                strides: [
                    modes.iter().map(|mode| mode.dst).collect(),
                    modes.iter().map(|mode| mode.src).collect(),
                ],
                pads,
                fill: problem.fill(),
                rows: problem.gathered().map_or(1, |gather| gather.rows),
            };
            let step = Step::new(&loaded.kernel, launch, loaded.generated.params.values(&arguments)?)
                .behind("dst", bytes(of_dst + piece.dst))
                .behind("src", bytes(of_src + piece.src))
                .behind("index", size(piece.index) * index);
            Ok::<_, Error>(if config.programmatic { step.programmatic() } else { step })
        };
        let launches = Launches::new(match problem.elements() {
            0 => Vec::new(),
            _ => chosen.pieces().into_iter().map(step).collect::<Result<_, _>>()?,
        });
        Ok(Way { chosen, loaded, launches })
    }
}
