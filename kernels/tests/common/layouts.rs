//! Random pairs of layouts for copies, and the copy of such a pair checked element by element.

use girih_device::{Device, Pod};
use girih_kernels::copy::{Caching, Copy, Problem, Tuning, tuned};
use girih_layout::{Coord, Int, Lay, Shape, Stride, Strides};
use girih_tensor::{DType, Element};
use rand::{RngExt, rngs::StdRng, seq::SliceRandom};

use super::Failure;

/// Two layouts of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) src: Lay,
    pub(crate) dst: Lay,
}

/// Extents of which small ones, powers of two and odd ones are as likely.
fn extent(rng: &mut StdRng, most: i64) -> i64 {
    let extent = match rng.random_range(0..3) {
        0 => rng.random_range(1..=9),
        1 => 1 << rng.random_range(0..=12),
        _ => rng.random_range(1..=300),
    };
    extent.min(most.max(1))
}

fn lay(extents: &[i64], strides: &[i64]) -> Result<Lay, Failure> {
    let extents: Vec<Int> = extents.iter().map(|&n| Int::fixed(n)).collect();
    let strides: Vec<Stride> = strides.iter().map(|&n| Stride::Int(Int::fixed(n))).collect();
    Ok(Lay::new(&Shape::flat(&extents)?, &Strides::flat(&strides)?)?)
}

/// Strides in a random order, with gaps now and then; multiples of `of` after the first.
fn strides(rng: &mut StdRng, extents: &[i64], of: i64) -> Vec<i64> {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    order.shuffle(rng);
    let (mut strides, mut step) = (vec![0; extents.len()], if rng.random_bool(0.1) { 2 } else { 1 });
    for mode in order {
        strides[mode] = step;
        step *= extents[mode];
        if rng.random_bool(0.3) {
            step += rng.random_range(1..9);
        }
        if rng.random_bool(0.7) && step > 1 {
            step = (step + of - 1) / of * of;
        }
    }
    strides
}

impl Pair {
    /// A pair of at most `most` elements.
    pub(crate) fn random(rng: &mut StdRng, most: i64) -> Result<Pair, Failure> {
        let (mut extents, mut left) = (Vec::new(), most);
        for _ in 0..rng.random_range(1..=5) {
            let extent = extent(rng, left);
            extents.push(extent);
            left /= extent;
        }
        let of = 1 << rng.random_range(0..=4);
        let dst = strides(rng, &extents, of);
        let mut src = strides(rng, &extents, of);
        if rng.random_bool(0.15) {
            let same = rng.random_range(0..src.len());
            src[same] = 0;
        }
        let mut dst = dst;
        for (extent, stride) in extents.iter().zip(&mut src).chain(extents.iter().zip(&mut dst)) {
            // Modes that are gone through backwards, and strides of modes of one element, which do not count.
            *stride = match rng.random_range(0..6) {
                0 => -*stride,
                1 if *extent == 1 => [-3, 1 << 41][rng.random_range(0..2)],
                _ => *stride,
            };
        }
        let (src, dst) = (lay(&extents, &src)?, lay(&extents, &dst)?);
        Ok(Pair { src, dst })
    }

    /// Now and then with modes of the source as one, so that the shapes differ.
    fn merged(self, rng: &mut StdRng) -> Pair {
        Pair { src: if rng.random_bool(0.2) { self.src.coalesce() } else { self.src }, dst: self.dst }
    }
}

/// A problem, and what it makes of the destination by the definition: for each element that is written its element of the source, or none
/// for the fill.
pub(crate) struct Case {
    pub(crate) what: String,
    pub(crate) problem: Problem,
    pub(crate) cosizes: [usize; 2],
    pub(crate) moves: Vec<(usize, Option<usize>)>,
    pub(crate) indices: Option<Vec<i64>>,
}

/// The coordinate of number `i` of a layout of flat modes.
fn digits(mut i: i64, layout: &Lay) -> Result<Vec<i64>, Failure> {
    let digit = |mode| {
        let extent = layout.mode(mode)?.size()?.get().ok_or("a symbolic size")?;
        let digit = i % extent;
        i /= extent;
        Ok(digit)
    };
    (0..layout.rank()).map(digit).collect()
}

fn cosize(layout: &Lay) -> Result<usize, Failure> {
    Ok(layout.span()?.get().ok_or("a symbolic span")? as usize)
}

/// The element of an index: the least index is that of element 0.
fn element(layout: &Lay, index: i64) -> Result<usize, Failure> {
    Ok(usize::try_from(index - layout.min_index()?)?)
}

impl Case {
    /// A copy between the layouts of a pair.
    pub(crate) fn plain(dtype: DType, pair: &Pair) -> Result<Case, Failure> {
        let Pair { src, dst } = pair;
        let size = dst.size()?.get().ok_or("a symbolic size")?;
        let moves = (0..size)
            .map(|i| Ok((element(dst, dst.at(i)?)?, Some(element(src, src.at(i)?)?))))
            .collect::<Result<_, Failure>>()?;
        let (what, cosizes) = (format!("{src} to {dst}"), [cosize(src)?, cosize(dst)?]);
        Ok(Case { what, problem: Problem::new(dtype, src, dst)?, cosizes, moves, indices: None })
    }

    /// A copy of a part of the source's coordinates to a random place in the destination, with 1 elsewhere.
    pub(crate) fn padded(rng: &mut StdRng, dtype: DType, pair: &Pair) -> Result<Case, Failure> {
        let Pair { src, dst } = pair;
        let (mut low, mut parts) = (Vec::new(), Vec::new());
        for mode in 0..dst.rank() {
            let extent = dst.mode(mode)?.size()?.get().ok_or("a symbolic size")?;
            let part = if rng.random_bool(0.5) { extent } else { rng.random_range(1..=extent) };
            let of = if rng.random_bool(0.5) { 1 } else { 8.min(part) };
            let part = part / of * of;
            low.push(rng.random_range(0..=extent - part) / of * of);
            parts.push(part);
        }
        let strides: Vec<i64> = (0..src.rank())
            .map(|mode| match src.flat_leaf(mode).1 {
                Stride::Int(stride) => stride.get().unwrap_or(0),
                _ => 0,
            })
            .collect();
        let src = lay(&parts, &strides)?;
        let mut moves = Vec::new();
        for i in 0..dst.size()?.get().ok_or("a symbolic size")? {
            let at: Vec<i64> = digits(i, dst)?.into_iter().zip(&low).map(|(c, low)| c - low).collect();
            let inside = at.iter().zip(&parts).all(|(c, n)| (0..*n).contains(c));
            let from = if inside { Some(element(&src, src.crd2idx(&Coord::of(&at)?)?)?) } else { None };
            moves.push((element(dst, dst.at(i)?)?, from));
        }
        let problem = Problem::pad(dtype, &src, dst, &low, 1.0)?;
        let (what, cosizes) = (format!("{src} to {dst} at {low:?}"), [cosize(&src)?, cosize(dst)?]);
        Ok(Case { what, problem, cosizes, moves, indices: None })
    }

    /// A copy of random positions along a random mode, of which some are none of the source's.
    pub(crate) fn gathered(
        rng: &mut StdRng,
        dtype: DType,
        pair: &Pair,
        index: DType,
    ) -> Result<Case, Failure> {
        let Pair { src, dst } = pair;
        let mode = rng.random_range(0..dst.rank());
        let (count, rows) = (dst.mode(mode)?.size()?, src.mode(mode)?.size()?);
        let (count, rows) = (count.get().ok_or("a symbolic size")?, rows.get().ok_or("a symbolic size")?);
        let least = if index == DType::U32 { 0 } else { -2 };
        let indices: Vec<i64> = (0..count).map(|_| rng.random_range(least..rows + 2)).collect();
        let mut moves = Vec::new();
        for i in 0..dst.size()?.get().ok_or("a symbolic size")? {
            let mut at = digits(i, dst)?;
            at[mode] = indices[at[mode] as usize];
            if (0..rows).contains(&at[mode]) {
                let from = element(src, src.crd2idx(&Coord::of(&at)?)?)?;
                moves.push((element(dst, dst.at(i)?)?, Some(from)));
            }
        }
        let problem = Problem::gather(dtype, src, dst, mode, index)?;
        let (what, cosizes) = (format!("{src} to {dst} along {mode}"), [cosize(src)?, cosize(dst)?]);
        Ok(Case { what, problem, cosizes, moves, indices: Some(indices) })
    }

    /// Copies by slices that begin at `skip` elements, `[source, destination]`, and checks every element of the destination.
    pub(crate) fn verify<T: Element + Pod>(
        &self,
        device: &Device,
        tuning: &Tuning,
        skip: [usize; 2],
        of: impl Fn(usize) -> T,
    ) -> Result<(), Failure> {
        let copy = Copy::configured(device, &self.problem, tuned(&self.problem, [16; 2], tuning)?)?;
        let at = |error: Failure| {
            format!("{}, {skip:?}, {}: {error}\n{tuning:?}\n{:?}", self.what, T::DTYPE, copy.config())
        };
        let [m, n] = self.cosizes;
        let data: Vec<T> = (0..skip[0] + m).map(of).collect();
        let (from, to) = (device.upload(&data)?, device.alloc::<T>(skip[1] + n)?);
        to.fill_bytes(0xa5)?;
        let mut expected = to.download()?;
        for &(to, from) in &self.moves {
            expected[skip[1] + to] = from.map_or(T::from_f64(1.0), |from| data[skip[0] + from]);
        }
        let (dst, src) = (to.slice(skip[1]..)?, from.slice(skip[0]..)?);
        let ran = match (&self.indices, self.problem.gathered().map(|gather| gather.index)) {
            (Some(indices), Some(DType::S64)) => copy.gather(&dst, &src, &device.upload(indices)?),
            (Some(indices), Some(DType::S32)) => copy.gather(
                &dst,
                &src,
                &device.upload(&indices.iter().map(|&i| i as i32).collect::<Vec<_>>())?,
            ),
            (Some(indices), _) => copy.gather(
                &dst,
                &src,
                &device.upload(&indices.iter().map(|&i| i as u32).collect::<Vec<_>>())?,
            ),
            (None, _) => copy.run(&dst, &src),
        };
        ran.map_err(|error| at(error.into()))?;
        let found = to.download()?;
        match (0..found.len()).find(|&i| found[i] != expected[i]) {
            None => Ok(()),
            Some(i) => {
                Err(at(format!("element {i} is {:?} instead of {:?}", found[i], expected[i]).into()).into())
            }
        }
    }
}

/// Numbers that the default tuning does not have.
fn tuning(rng: &mut StdRng) -> Tuning {
    let mut row = || 1 << rng.random_range(4..=9);
    let rows = [row(), row()];
    let mut bits = || rng.random_range(0..=1) == 1;
    Tuning {
        threads: if bits() { 64 } else { 128 },
        tile: if bits() { 1 << 12 } else { 1 << 15 },
        rows,
        band: if bits() { 1 } else { 4 },
        blocks: bits().then_some(1),
        caching: match (bits(), bits()) {
            (false, false) => Caching::Normal,
            (false, true) => Caching::Once,
            (true, false) => Caching::Streaming,
            (true, true) => Caching::EvictFirst,
        },
        bulk: bits().then_some(3),
    }
}

/// Checks `count` random copies, with padding, indices or neither, of elements of 1 to 8 bytes.
pub(crate) fn random_copies(
    device: &Device,
    rng: &mut StdRng,
    count: usize,
    most: i64,
) -> Result<(), Failure> {
    for _ in 0..count {
        let pair = Pair::random(rng, most)?;
        let dtype = [DType::U8, DType::U16, DType::F32, DType::U64][rng.random_range(0..4)];
        let case = match rng.random_range(0..4) {
            0 => Case::padded(rng, dtype, &pair)?,
            1 => {
                let index = [DType::U32, DType::S32, DType::S64][rng.random_range(0..3)];
                Case::gathered(rng, dtype, &pair, index)?
            }
            _ => Case::plain(dtype, &pair.merged(rng))?,
        };
        let skip =
            if rng.random_bool(0.3) { [rng.random_range(0..9), rng.random_range(0..9)] } else { [0, 0] };
        let tuning = if rng.random_bool(0.5) { tuning(rng) } else { Tuning::default() };
        match dtype {
            DType::U8 => case.verify::<u8>(device, &tuning, skip, |i| (i % 251) as u8),
            DType::U16 => case.verify::<u16>(device, &tuning, skip, |i| (i % 65_521) as u16),
            DType::F32 => case.verify::<f32>(device, &tuning, skip, |i| i as f32),
            _ => case.verify::<u64>(device, &tuning, skip, |i| (i as u64) << 20),
        }?;
    }
    Ok(())
}
