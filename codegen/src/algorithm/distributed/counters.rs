//! Counters of a histogram in shared memory, several for each bin. Lanes that count the same bin, or bins whose counters are in one bank, use
//! different counters.

use girih_ptx::{Address, Opcode, Operand, Type, Word};
use girih_tensor::{DType, Space};

use super::{Group, Tile, inside};
use crate::Expr;
use crate::algorithm::element::{constant, integer, of, setp};
use crate::algorithm::{load_elements, store_elements};
use crate::builder::{Cond, Reg, Width};
use crate::plan::Dist;
use crate::scalar::immediate;

/// Bytes of counters up to which there are several for a number.
const MOST: i64 = 32 << 10;
/// Banks of shared memory, and lanes of a warp.
const BANKS: i64 = 32;

/// Counters of 32 bits in shared memory, for the numbers from 0 on.
#[derive(Clone, Debug)]
pub struct Counters {
    base: Expr,
    bins: i64,
    /// Neighbouring counters of one number: a lane counts in that of its number modulo this, a power of two.
    copies: i64,
}

/// For each number from 0 to `bins`, how many elements of a tile it is, an s32. The tile has one operand of an integer dtype; elements of
/// other numbers count nowhere. Threads have the counts that `to` says, of a tile `(bins)`.
///
/// # Errors
/// [`Error::Mismatch`](crate::Error::Mismatch) for a group of other threads; [`BuilderError`](crate::BuilderError) for more counters than shared memory holds.
///
/// # Examples
/// ```
/// use girih_codegen::Builder;
/// use girih_codegen::algorithm::distributed::{ThreadBlock, Tile, histogram};
/// use girih_codegen::plan::Dist;
/// use girih_tensor::DType;
///
/// // How often each byte comes in 4096 bytes.
/// let [bytes, counts] = [(4096, 16), (256, 1)].map(|(extent, vector)| Dist::blocked(&[extent], &[0], vector, 256));
/// let mut b = Builder::new("bytes", 90, 256);
/// let regs = b.regs(girih_ptx::Type::U32, 16);
/// let tile = Tile::new(&bytes, &[4096], vec![(DType::U8, regs)])?;
/// assert_eq!(histogram(&mut ThreadBlock::new(&mut b), &tile, 256, &counts)?.len(), 1);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn histogram<G: Group>(
    group: &mut G,
    tile: &Tile<'_>,
    bins: i64,
    to: &Dist,
) -> Result<Vec<Reg>, G::Error> {
    let elements: i64 = tile.extents.iter().product();
    let copies = Counters::copies(bins, elements / 4);
    let base = group.scratch(Counters::bytes(bins, copies), 16)?;
    let counters = Counters { base, bins, copies };
    counters.clear(group)?;
    group.sync();
    counters.count(group, tile)?;
    group.sync();
    counters.totals(group, to)
}

impl Counters {
    /// Allocates counters for the numbers from 0 to `bins`, in which about `elements` elements are counted. They are not cleared.
    ///
    /// # Errors
    /// As [`Builder::alloc_shared`](crate::Builder::alloc_shared).
    pub fn new<G: Group>(group: &mut G, bins: i64, elements: i64) -> Result<Counters, G::Error> {
        let copies = Counters::copies(bins, elements);
        let base = group.builder().alloc_shared(Counters::bytes(bins, copies), 16)?;
        Ok(Counters { base, bins, copies })
    }

    fn bytes(bins: i64, copies: i64) -> i64 {
        bins * copies * DType::S32.bytes()
    }

    /// The greatest power of two of counters for each of `bins` numbers, `words` of them in all, or one: it takes as long to add counters up
    /// as to count in them.
    fn copies(bins: i64, words: i64) -> i64 {
        let most = (words.min(MOST / DType::S32.bytes()) / bins.max(1)).clamp(1, BANKS);
        1 << most.ilog2()
    }

    /// Sets counters to 0. A barrier comes afterwards.
    ///
    /// # Errors
    /// As [`store_elements`].
    pub fn clear<G: Group>(&self, group: &mut G) -> Result<(), G::Error> {
        let words = self.bins * self.copies;
        let vector = [4, 2, 1].into_iter().find(|n| words % n == 0).unwrap_or(1);
        let (thread, threads) = (group.thread(), group.threads());
        let b = group.builder();
        let zeros = vec![constant(b, DType::S32, 0)?; vector as usize];
        for first in (0..words).step_by((threads * vector) as usize) {
            let at = &(&thread * vector) + first;
            let cond = Cond::less(&at, &Expr::from(words));
            let address = &self.base + &(&at * DType::S32.bytes());
            store_elements(b, Space::Smem, DType::S32, &address, &cond, &zeros)?;
        }
        Ok(())
    }

    /// Counts the numbers of a tile of one operand.
    ///
    /// # Errors
    /// As [`histogram`].
    pub fn count<G: Group>(&self, group: &mut G, tile: &Tile<'_>) -> Result<(), G::Error> {
        tile.check(group, "histogram", None)?;
        let Tile { dist, extents, operands } = tile;
        let (dtype, regs) = &operands[0];
        let origin = group.origin(dist, extents.len())?;
        let alone = dist.owner(&group.thread())?;
        let wide = matches!(integer(*dtype), Type::S64 | Type::U64);
        let all = !dtype.is_signed() && !wide && (1i64 << dtype.bits()) <= self.bins;
        for (value, reg) in regs.iter().enumerate() {
            let inside = inside(dist, &origin, value, extents);
            let counted = Cond::all([alone.clone(), inside]);
            if counted == Cond::Never {
                continue;
            }
            let b = group.builder();
            let cond = if all {
                counted
            } else {
                // As an unsigned number, a negative one is beyond all bins.
                let unsigned = if wide { Type::U64 } else { Type::U32 };
                let bins = immediate(DType::S64, self.bins.cast_unsigned());
                let known = setp(b, Word::Lt, unsigned, reg, bins);
                Cond::all([counted, b.cond_in(&known)?])
            };
            let bin = match wide {
                true => b.inst_to(Type::U32, Opcode::Cvt, &[Type::U32.into(), Type::U64.into()], of([reg])),
                false => reg.clone(),
            };
            self.add(group, &bin, Operand::Int(1), &cond)?;
        }
        Ok(())
    }

    /// Adds to the counter of a number in a register, which is one of the counters' where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::cond`](crate::Builder::cond).
    pub fn add<G: Group>(
        &self,
        group: &mut G,
        bin: &Reg,
        more: Operand,
        cond: &Cond,
    ) -> Result<(), G::Error> {
        let own = &group.thread().rem(self.copies)? * DType::S32.bytes();
        let b = group.builder();
        let start = b.value(&(&self.base + &own), Width::W32)?;
        let stride = Operand::Int(self.copies * DType::S32.bytes());
        let scaled = vec![Operand::from(bin), stride, Operand::from(&start)];
        let address = b.inst_to(Type::U32, Opcode::Mad, &[Word::Lo.into(), Type::U32.into()], scaled);
        let base = Some(address.to_string().into());
        let to = Operand::Address(Address { base, offset: 0, coordinates: Vec::new() });
        let words = [Word::Shared.into(), Word::Add.into(), Type::U32.into()];
        Ok(b.inst_if(cond, Opcode::Red, &words, vec![to, more])?)
    }

    /// The sums of the counters of each number, in a distribution of a tile `(bins)`. A barrier comes before.
    ///
    /// # Errors
    /// As [`load_elements`].
    pub fn totals<G: Group>(&self, group: &mut G, to: &Dist) -> Result<Vec<Reg>, G::Error> {
        let origin = group.origin(to, 1)?;
        let mut regs = Vec::new();
        for value in 0..to.size() {
            let bin = &origin[0] + to.offset(value, 1)[0];
            let cond = Cond::less(&bin, &Expr::from(self.bins));
            regs.push(self.total(group, &bin, &cond)?);
        }
        Ok(regs)
    }

    /// The sum of the counters of a number, where `cond` holds. Lanes begin with different ones, which are in different banks.
    ///
    /// # Errors
    /// As [`load_elements`].
    pub fn total<G: Group>(&self, group: &mut G, bin: &Expr, cond: &Cond) -> Result<Reg, G::Error> {
        let size = DType::S32.bytes();
        let first = &self.base + &(bin * (self.copies * size));
        let thread = group.thread();
        let b = group.builder();
        let mut sum: Option<Reg> = None;
        for copy in 0..self.copies {
            let at = &first + &(&(&thread + copy).rem(self.copies)? * size);
            let count = load_elements(b, Space::Smem, DType::S32, 1, &at, cond, Some(0))?.swap_remove(0);
            sum = Some(match sum {
                None => count,
                Some(sum) => b.inst_to(Type::S32, Opcode::Add, &[Type::S32.into()], of([&sum, &count])),
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => Ok(constant(b, DType::S32, 0)?),
        }
    }
}
