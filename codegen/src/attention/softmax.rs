//! Online softmax over tiles of scores, in the registers of the threads that hold the scores.
//!
//! Exponentials subtract a reference: the row's maximum, or a stale one. The reference is raised only if an exponential would be
//! greater than 2^8, since any reference gives the same quotients as long as nothing overflows. So most tiles do not rescale the row sums and the
//! accumulator.

use girih_tensor::{DType, Tensor};

use super::mask::place;
use super::rows::{Division, Reference, Total, is_near, over_lanes};
use crate::algorithm::{fill, read, write};
use crate::builder::{Builder, Cond};
use crate::sizes::{extent, static_size};
use crate::tiled::mma::{Operand, TiledMma};
use crate::{Counting, Error, Expr, Rmem, Scalar, engine};

/// How far the maximum may be above the reference, as an exponent of 2.
const SLACK: f64 = 8.0;
const LANES: i64 = 32;

/// An online softmax: for the rows of scores of which a thread has a part, the maximum to which the exponentials relate and the sum of the
/// exponentials, in registers. The scores come a tile of keys at a time, as accumulators of an MMA.
///
/// # Examples
/// A warp has 16 queries and iterates over 4 tiles of 16 keys. The MMAs Q K^T and P V are left out.
/// ```
/// use girih_codegen::algorithm::clear;
/// use girih_codegen::atom::SM80_16X8X16_F32BF16BF16F32_TN;
/// use girih_codegen::attention::Softmax;
/// use girih_codegen::{Builder, Counting, Expr, Operand, Rmem, Scalar, TiledMma};
/// use girih_layout::{Lay, lay};
/// use girih_ptx::Special;
/// use girih_tensor::{DType, Tensor};
///
/// let mut b = Builder::new("k", 80, 32);
/// let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(1,1):(0,0)"))?;
/// let mine = mma.get_slice(&b.special(Special::TidX))?;
/// let places = |extents: Lay| Ok::<_, girih_codegen::Error>(Tensor::new(Counting::new(2), Lay::identity(extents.shape())?));
/// let scores = mine.partition(Operand::C, &places(lay!("(16,16)"))?)?; // (FrgV,1,2) -> (query,key)
/// let outputs = mine.partition(Operand::C, &places(lay!("(16,64)"))?)?; // (FrgV,1,8) -> (query,column)
/// let softmax = Softmax::new(&mut b, &mma, [&scores, &outputs], &Scalar::new(DType::F32, 0.18))?;
/// let s = Rmem::tensor(&mut b, DType::F32, lay!("((2,2),1,2):((1,2),0,4)"))?;
/// let o = Rmem::tensor(&mut b, DType::F32, lay!("((2,2),1,8):((1,2),0,4)"))?;
/// softmax.clear(&mut b)?;
/// clear(&mut b, &o)?;
/// b.for_range(&Expr::from(4), |b, _| {
///     clear(b, &s)?; // s = q k^T
///     softmax.weigh(b, &s, &o) // o += s v
/// })?;
/// assert_eq!(softmax.quotients(&mut b, &o)?.len(), 32);
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Softmax {
    /// For each score, the number of its row.
    of_scores: Vec<usize>,
    /// For each weighted sum, the number of its row.
    of_sums: Vec<usize>,
    /// The bits of a lane's index by which lanes that share rows differ.
    lanes: Vec<u32>,
    /// The maxima to which exponentials relate, in units of scores; what they are to be compared with is a [`Reference`].
    references: Tensor<Rmem>,
    /// The thread's shares of the sums of exponentials.
    powers: Tensor<Rmem>,
    /// The factor that makes exponents of 2 of scores.
    scale: Scalar,
}

impl Softmax {
    /// The rows of an MMA's C by their coordinates, (FrgV,RestM,RestN) -> (row,column): of the scores of `mma`, and of the accumulators. An
    /// exponential is 2 to the power of `scale` times a score, an f32.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for sums of other rows than those of the scores, and for rows that several warps share.
    pub fn new(
        b: &mut Builder,
        mma: &TiledMma,
        [scores, sums]: [&Tensor<Counting>; 2],
        scale: &Scalar,
    ) -> Result<Softmax, Error> {
        if sharing(mma)?.iter().any(|bit| *bit >= LANES) {
            return Err(Error::Mismatch {
                what: "softmax",
                layout: mma.layout_tv(Operand::C)?.mode(0)?.to_string(),
                with: format!("rows of {}", mma.tile_size_mnk()?[0]),
                accepted: "rows that the lanes of one warp share",
            });
        }
        Softmax::of_warp(b, mma, [scores, sums], scale)
    }

    /// As [`Softmax::new`], for rows whose scores several warps may have: what each warp has of them [`Softmax::parts`] returns.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for sums of other rows than those of the scores.
    pub(super) fn of_warp(
        b: &mut Builder,
        mma: &TiledMma,
        [scores, sums]: [&Tensor<Counting>; 2],
        scale: &Scalar,
    ) -> Result<Softmax, Error> {
        let mut rows = Vec::new();
        let of_scores = numbers(scores, &mut rows)?;
        let count = rows.len();
        let of_sums = numbers(sums, &mut rows)?;
        if rows.len() != count {
            return Err(Error::Mismatch {
                what: "softmax",
                layout: sums.layout().to_string(),
                with: scores.layout().to_string(),
                accepted: "weighted sums in the rows of the thread's scores",
            });
        }
        let rows = extent(count as i64)?;
        let references = Rmem::tensor(b, DType::F32, rows)?;
        let powers = Rmem::tensor(b, DType::F32, rows)?;
        let lanes = sharing(mma)?.into_iter().filter(|bit| *bit < LANES).map(|bit| bit as u32).collect();
        Ok(Softmax { of_scores, of_sums, lanes, references, powers, scale: scale.clone() })
    }

    /// Begins with no scores.
    ///
    /// # Errors
    /// As [`fill`].
    #[track_caller]
    pub fn clear(&self, b: &mut Builder) -> Result<(), Error> {
        fill(b, &self.references, f64::NEG_INFINITY)?;
        fill(b, &self.powers, 0.0)
    }

    /// Puts the exponentials in the place of `scores`, adds them to the sums of exponentials, and scales the weighted `sums` where a reference has moved.
    /// All threads of a warp take part.
    ///
    /// # Errors
    /// As [`write()`].
    #[track_caller]
    pub fn weigh(&self, b: &mut Builder, scores: &Tensor<Rmem>, sums: &Tensor<Rmem>) -> Result<(), Error> {
        let values = read(b, scores)?;
        let highest = self.over_row(b, &values, |x, y| x.max(y))?;
        let mut rising = Vec::new();
        for (highest, reference) in highest.iter().zip(&read(b, &self.references)?) {
            // Of two negative infinities the difference is no number, and is not greater.
            rising.push(((highest - reference) * &self.scale).greater(SLACK));
        }
        let rises = b.vote_any(&Cond::any(rising))?;
        b.if_(&rises, |b| self.rise(b, &highest, sums))?;
        let (mut shifts, mut far) = (Vec::new(), Vec::new());
        for maximum in &read(b, &self.references)? {
            let shift = b.hold(&(maximum * &self.scale))?;
            let near = is_near(&shift);
            shifts.push(b.hold(&-shift.select(&near, 0.0))?);
            // So is a row that sees no key yet, whose origin is 0.
            far.push(Cond::not(near));
        }
        b.if_(&Cond::any(far), |b| self.subtract_origins(b, scores))?;
        let values = read(b, scores)?;
        let power = |(value, &row): (&Scalar, &usize)| value.mul_add(&self.scale, &shifts[row]).exp2_ftz();
        let powers: Vec<Scalar> = values.iter().zip(&self.of_scores).map(power).collect();
        let mut totals = read(b, &self.powers)?;
        for (power, &row) in powers.iter().zip(&self.of_scores) {
            totals[row] = b.hold(&(&totals[row] + power))?;
        }
        write(b, &self.powers, &totals)?;
        write(b, scores, &powers)
    }

    /// Subtracts the origins of far rows from their scores.
    fn subtract_origins(&self, b: &mut Builder, scores: &Tensor<Rmem>) -> Result<(), Error> {
        let mut origins = Vec::new();
        for maximum in &read(b, &self.references)? {
            origins.push(b.hold(&Reference::of(maximum, &self.scale).origin())?);
        }
        let values = read(b, scores)?;
        let moved: Vec<Scalar> =
            values.iter().zip(&self.of_scores).map(|(x, &row)| x - &origins[row]).collect();
        write(b, scores, &moved)
    }

    /// Moves the references to the maxima, and scales what is relative to them.
    fn rise(&self, b: &mut Builder, highest: &[Scalar], sums: &Tensor<Rmem>) -> Result<(), Error> {
        let (mut moved, mut factors) = (Vec::new(), Vec::new());
        for (highest, reference) in highest.iter().zip(&read(b, &self.references)?) {
            let next = b.hold(&reference.max(highest))?;
            let [old, new] = [reference, &next].map(|maximum| Reference::of(maximum, &self.scale));
            factors.push(b.hold(&new.factor(&old, &self.scale))?);
            moved.push(next);
        }
        write(b, &self.references, &moved)?;
        let powers: Vec<Scalar> = read(b, &self.powers)?.iter().zip(&factors).map(|(x, by)| x * by).collect();
        write(b, &self.powers, &powers)?;
        let scaled: Vec<Scalar> =
            read(b, sums)?.iter().zip(&self.of_sums).map(|(x, &row)| x * &factors[row]).collect();
        write(b, sums, &scaled)
    }

    /// Combines each row's values by `op`, those of all lanes that share the row.
    fn over_row(
        &self,
        b: &mut Builder,
        values: &[Scalar],
        op: impl Fn(&Scalar, &Scalar) -> Scalar,
    ) -> Result<Vec<Scalar>, Error> {
        let mut rows: Vec<Option<Scalar>> =
            vec![None; static_size("softmax", self.references.layout())? as usize];
        for (value, &row) in values.iter().zip(&self.of_scores) {
            let next = rows[row].as_ref().map_or(value.clone(), |row| op(row, value));
            rows[row] = Some(b.hold(&next)?);
        }
        rows.into_iter().flatten().map(|row| over_lanes(b, &self.lanes, row, &op)).collect()
    }

    /// The maxima to which exponentials relate, and the sums of exponentials over all lanes, row by row. All threads of a warp take part.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn parts(&self, b: &mut Builder) -> Result<Vec<[Scalar; 2]>, Error> {
        let (powers, maxima) = (read(b, &self.powers)?, read(b, &self.references)?);
        let part = |(power, maximum)| Ok([maximum, over_lanes(b, &self.lanes, power, |x, y| x + y)?]);
        powers.into_iter().zip(maxima).map(part).collect()
    }

    /// The softmax statistics of the rows, row by row. All threads of a warp take part.
    ///
    /// # Errors
    /// As [`Builder::scalar`].
    #[track_caller]
    pub(super) fn totals(&self, b: &mut Builder) -> Result<Vec<Total>, Error> {
        let total =
            |[maximum, sum]: [Scalar; 2]| Total { reference: Reference::of(&maximum, &self.scale), sum };
        Ok(self.parts(b)?.into_iter().map(total).collect())
    }

    /// The accumulators, divided row by row.
    ///
    /// # Errors
    /// As [`read`].
    #[track_caller]
    pub(super) fn divided(
        &self,
        b: &mut Builder,
        sums: &Tensor<Rmem>,
        divisions: &[Division],
    ) -> Result<Vec<Scalar>, Error> {
        let quotient = |(x, &row): (&Scalar, &usize)| divisions[row].of(x);
        Ok(read(b, sums)?.iter().zip(&self.of_sums).map(quotient).collect())
    }

    /// The accumulators divided by the sums of exponentials, in the order of the accumulators `sums`. A row that sees no key is 0. All threads of a
    /// warp take part.
    ///
    /// # Errors
    /// As [`read`].
    #[track_caller]
    pub fn quotients(&self, b: &mut Builder, sums: &Tensor<Rmem>) -> Result<Vec<Scalar>, Error> {
        let rows = self.totals(b)?;
        let divisions = rows.iter().map(|row| row.division(b)).collect::<Result<Vec<_>, _>>()?;
        self.divided(b, sums, &divisions)
    }

    /// The first score of each row.
    pub(super) fn first_of_rows(&self) -> Vec<usize> {
        let rows = self.of_scores.iter().max().map_or(0, |last| last + 1);
        (0..rows).filter_map(|row| self.of_scores.iter().position(|&of| of == row)).collect()
    }
}

/// For each value, the number of its row among `rows`, to which rows that are new are added.
fn numbers(coordinate: &Tensor<Counting>, rows: &mut Vec<Expr>) -> Result<Vec<usize>, Error> {
    let places = engine::Values::of(coordinate.engine(), *coordinate.layout());
    let mut numbers = Vec::new();
    for i in 0..static_size("softmax", coordinate.layout())? {
        let [row, _] = place(&places, i)?;
        let known = rows.iter().position(|known| *known == row);
        numbers.push(known.unwrap_or(rows.len()));
        if known.is_none() {
            rows.push(row);
        }
    }
    Ok(numbers)
}

/// The bits of a thread's index that do not change the rows of C that the thread has.
fn sharing(mma: &TiledMma) -> Result<Vec<i64>, Error> {
    let [rows, ..] = mma.tile_size_mnk()?;
    let threads = mma.layout_tv(Operand::C)?.mode(0)?; // Thr -> index in C's tile
    let count = static_size("softmax", &threads)?;
    let bits = (0..count.ilog2()).map(|bit| 1i64 << bit);
    let shared = bits.map(|bit| Ok((bit, threads.at(bit)? % rows == threads.at(0)? % rows)));
    let shared: Vec<(i64, bool)> = shared.collect::<Result<_, Error>>()?;
    Ok(shared.into_iter().filter(|(_, shared)| *shared).map(|(bit, _)| bit).collect())
}
