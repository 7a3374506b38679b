//! Algorithms on tiles that the threads of a group hold together: a [`Dist`], the normal form of a TV layout, says which thread has which
//! elements, and a thread has a register for each of its own ([`register`](crate::scalar::register)).
//!
//! | algorithm | what it does |
//! |---|---|
//! | [`reduce()`], [`scan()`] | combines elements along a mode by a [`Combine`] |
//! | [`sort()`] | orders elements along a mode, and what follows them |
//! | [`histogram()`], [`Counters`] | counts numbers in shared memory |
//! | [`redistribute()`] | brings a tile into another distribution, by renaming, shuffles or shared memory |
//! | [`rearrange()`] | the same of parts of tiles that are laid out in [lines](crate::plan::Line) |
//! | [`access()`] | loads and stores in vectors, at addresses that a function gives |
//!
//! All threads of the group take part in each of them. Padding, which a distribution may have beyond the tile, counts nowhere.
//!
//! # Examples
//! ```
//! use girih_codegen::algorithm::distributed::{Combine, ThreadBlock, Tile, reduce};
//! use girih_codegen::algorithm::{load_elements, store_elements};
//! use girih_codegen::plan::Dist;
//! use girih_codegen::{Builder, Cond};
//! use girih_tensor::{DType, Space};
//!
//! // 128 threads have the sums of the rows of a 32 x 64 tile, 16 neighbours in each thread.
//! let dist = Dist::blocked(&[32, 64], &[1, 0], 16, 128);
//! let mut b = Builder::new("sums", 90, 128);
//! let [x, y] = ["x", "y"].map(|name| b.pointer(name, 16));
//! let mut block = ThreadBlock::new(&mut b);
//! let at = dist.coordinate(&block.thread(), 2)?;
//! let first = &x + &(&(&(&at[0] * 64) + &at[1]) * 4);
//! let mut values = Vec::new();
//! for vector in 0..4 {
//!     let address = &first + 16 * vector;
//!     values.extend(load_elements(block.builder(), Space::Gmem, DType::F32, 4, &address, &Cond::Always, None)?);
//! }
//! let tile = Tile::new(&dist, &[32, 64], vec![(DType::F32, values)])?;
//! let sums = reduce(&mut block, &tile, 1, &Combine::Sum)?;
//! let owner = dist.slice(1).owner(&block.thread())?; // of the four threads of a row the first
//! store_elements(block.builder(), Space::Gmem, DType::F32, &(&y + &(&at[0] * 4)), &owner, &sums[0])?;
//! # use girih_codegen::algorithm::distributed::Group;
//! assert_eq!(b.finish()?.module().to_string().matches("shfl.sync.bfly").count(), 2);
//! # Ok::<(), girih_codegen::Error>(())
//! ```

mod access;
mod combine;
mod counters;
mod exchange;
mod key;
mod order;
mod rearrange;
mod reduce;
mod scan;
mod sort;
mod through;

use girih_ptx::Special;
use girih_tensor::DType;

pub use access::{Move, access, runs, singles, widest};
pub use combine::{By, Combine, Function};
pub use counters::{Counters, histogram};
pub use exchange::{redistribute, redistribute_by};
pub use key::NanAt;
pub use order::{Key, Order};
pub use rearrange::{Part, Piece, address_in, put, rearrange, take, through};
pub use reduce::reduce;
pub use scan::{Scan, scan};
pub use sort::sort;

use crate::builder::{Builder, Cond, Reg};
use crate::plan::{Dist, LANE_BITS};
use crate::{Error, Expr};

/// Threads that hold tiles together: they have numbers from 0 on, meet, and share memory. [`ThreadBlock`] is all threads of a block.
pub trait Group {
    /// Errors of what is written for the group.
    type Error: From<Error>;

    /// The builder of the kernel.
    fn builder(&mut self) -> &mut Builder;

    /// The number of the thread in the group.
    fn thread(&self) -> Expr;

    /// The number of threads, a power of two.
    fn threads(&self) -> i64;

    /// `bytes` bytes of shared memory at a multiple of `align`, which no thread accesses any more. They are another one's from the next
    /// call on.
    ///
    /// # Errors
    /// As [`Builder::alloc_shared`].
    fn scratch(&mut self, bytes: i64, align: i64) -> Result<Expr, Self::Error>;

    /// All threads of the group meet, and see what the others have written to shared memory.
    fn sync(&mut self);

    /// The thread's own coordinate by mode, of a tile of this rank ([`Dist::coordinate`]).
    ///
    /// # Errors
    /// As [`Dist::coordinate`].
    fn origin(&mut self, dist: &Dist, rank: usize) -> Result<Vec<Expr>, Self::Error> {
        Ok(dist.coordinate(&self.thread(), rank)?)
    }
}

/// All threads of a block as a [`Group`].
pub struct ThreadBlock<'b> {
    b: &'b mut Builder,
    thread: Expr,
    /// Whether shared memory may be in use.
    used: bool,
}

impl<'b> ThreadBlock<'b> {
    /// The threads of a builder's kernel, numbered along x.
    pub fn new(b: &'b mut Builder) -> ThreadBlock<'b> {
        let thread = b.special(Special::TidX);
        ThreadBlock { b, thread, used: false }
    }
}

impl Group for ThreadBlock<'_> {
    type Error = Error;

    fn builder(&mut self) -> &mut Builder {
        self.b
    }

    fn thread(&self) -> Expr {
        self.thread.clone()
    }

    fn threads(&self) -> i64 {
        self.b.threads().into()
    }

    fn scratch(&mut self, bytes: i64, align: i64) -> Result<Expr, Error> {
        if self.used {
            self.sync();
        }
        self.used = true;
        self.b.shared_scope(|b| b.alloc_shared(bytes, align))
    }

    fn sync(&mut self) {
        self.b.barrier();
    }
}

/// A tile that the threads of a group hold: one element of each operand at each coordinate.
#[derive(Clone, Debug)]
pub struct Tile<'t> {
    dist: &'t Dist,
    extents: Vec<i64>,
    operands: Vec<(DType, Vec<Reg>)>,
}

impl<'t> Tile<'t> {
    /// A tile of these extents, with the dtype and a thread's registers of each operand, in the order of the distribution's values.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the distribution does not cover the tile, or an operand has another number of registers than a thread has
    /// values.
    pub fn new(dist: &'t Dist, extents: &[i64], operands: Vec<(DType, Vec<Reg>)>) -> Result<Tile<'t>, Error> {
        let refused = |with: String, accepted| {
            Err(Error::Mismatch { what: "a tile of a group", layout: dist.to_string(), with, accepted })
        };
        if !dist.covers(extents) {
            return refused(format!("a tile of {extents:?}"), "a distribution that covers the tile");
        }
        if let Some((dtype, regs)) = operands.iter().find(|(_, regs)| regs.len() != dist.size()) {
            let with = format!("{} registers of {dtype}", regs.len());
            return refused(with, "a register for each value of a thread");
        }
        Ok(Tile { dist, extents: extents.to_vec(), operands })
    }

    /// The tile's dtypes, by operand.
    fn dtypes(&self) -> Vec<DType> {
        self.operands.iter().map(|(dtype, _)| *dtype).collect()
    }

    /// Checks that a group's threads can hold the tile, and that it has the mode that an algorithm goes along.
    fn check<G: Group>(&self, group: &G, what: &'static str, mode: Option<usize>) -> Result<(), Error> {
        let refused = |with: String, accepted| {
            Err(Error::Mismatch { what, layout: self.dist.to_string(), with, accepted })
        };
        if let Some(mode) = mode.filter(|&mode| mode >= self.extents.len()) {
            return refused(format!("mode {mode} of a tile of {:?}", self.extents), "a mode of the tile");
        }
        if self.operands.is_empty() {
            return refused(String::from("a tile without operands"), "at least one operand");
        }
        if self.dist.threads() != group.threads() {
            return refused(
                format!("{} threads", group.threads()),
                "a distribution over all threads of the group",
            );
        }
        Ok(())
    }
}

/// The condition that a thread's value is an element of a tile of these extents, and no padding; `origin` is the thread's own coordinate
/// ([`Group::origin`]).
pub fn inside(dist: &Dist, origin: &[Expr], value: usize, extents: &[i64]) -> Cond {
    let offset = dist.offset(value, extents.len());
    let below = |((at, n), by): ((&Expr, &i64), i64)| Cond::less(at, &Expr::from(n - by));
    Cond::all(origin.iter().zip(extents).zip(offset).map(below))
}

/// Where a value is the tile's along a mode: its coordinate is `origin + offset`, and `origin` is at most `reach`.
fn inside_along(origin: &Expr, reach: i64, offset: i64, extent: i64) -> Cond {
    match extent - offset {
        left if left > reach => Cond::Always,
        left if left <= 0 => Cond::Never,
        left => Cond::less(origin, &Expr::from(left)),
    }
}

/// Whether a bit of a thread's number is set.
fn bit_is_set(thread: &Expr, bit: usize) -> Result<Cond, Error> {
    Ok(Cond::less(&Expr::from(0), &thread.div(1 << bit)?.rem(2)?))
}

/// The number that bits of a thread's number make, from the least significant one, times a weight.
fn weigh(thread: &Expr, digits: &[usize], weight: i64) -> Result<Expr, Error> {
    // Above the last bit is one that does not move.
    let mut bits = vec![None; digits.iter().map(|bit| bit + 2).max().unwrap_or(0)];
    digits.iter().enumerate().for_each(|(i, &bit)| bits[bit] = Some((0, weight << i)));
    Ok(Dist { bits, vals: Vec::new() }.coordinate(thread, 1)?.swap_remove(0))
}
