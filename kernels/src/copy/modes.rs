//! The modes of two layouts whose coordinates correspond.

use girih_codegen::plan::{self, Fault, Place};
use girih_layout::{Coord, Int, Lay, Stride, idx2crd};

use crate::Error;

/// A mode of a copy: an extent, and the distance of neighbours on both sides in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// The extent of the destination.
    pub extent: i64,
    /// The stride in the source; 0 where the source is the same along the mode, below 0 where it is read backwards.
    pub src: i64,
    /// The stride in the destination; below 0 along indices alone, since other modes are counted from their last position then.
    pub dst: i64,
    /// Which part of the mode the source has, if it does not have the whole.
    pub pad: Option<Pad>,
}

/// The part of a mode that the source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pad {
    /// Where in the destination the part begins.
    pub low: i64,
    /// The extent of the part.
    pub extent: i64,
}

impl Mode {
    /// How many positions of the mode are copied.
    pub(super) fn copied(&self) -> i64 {
        self.pad.map_or(self.extent, |pad| pad.extent)
    }

    /// The same mode, counted from its last position.
    pub(super) fn reversed(self) -> Mode {
        let Mode { extent, src, dst, pad } = self;
        let pad = pad.map(|pad| Pad { low: extent - pad.low - pad.extent, ..pad });
        Mode { extent, src: -src, dst: -dst, pad }
    }
}

/// The extent and the stride of each leaf of a layout. A leaf of one element has no stride: its own is 0, whatever the layout says.
pub(super) fn leaves(which: &'static str, layout: &Lay) -> Result<Vec<[i64; 2]>, Error> {
    let leaf = |leaf: usize| match layout.flat_leaf(leaf) {
        (extent, _) if extent.is(1) => Some([1, 0]),
        (extent, Stride::Int(stride)) => Some([extent.get()?, stride.get()?]),
        _ => None,
    };
    let all = (0..layout.leaf_count()).map(leaf).collect::<Option<_>>();
    all.ok_or_else(|| Error::CopyLayout { which, layout: layout.to_string() })
}

/// The modes of two layouts of as many modes, of which those that differ in size are padded, from `low` of the destination on.
pub(super) fn padded(src: &Lay, dst: &Lay, low: &[i64]) -> Result<Vec<Mode>, Error> {
    let refused = || Error::CopyPad {
        src: src.shape().to_string(),
        dst: dst.shape().to_string(),
        low: format!("{low:?}"),
    };
    if src.rank() != low.len() || dst.rank() != low.len() {
        return Err(refused());
    }
    let mut modes = Vec::new();
    for (i, &low) in low.iter().enumerate() {
        let (src, dst) = (src.mode(i)?, dst.mode(i)?);
        if low == 0 && src.size()?.same(dst.size()?) {
            modes.extend(common(&src, &dst)?);
            continue;
        }
        let ([[part, src]], [[extent, dst]]) = (&leaves("src", &src)?[..], &leaves("dst", &dst)?[..]) else {
            return Err(refused());
        };
        if low < 0 || part.checked_add(low).is_none_or(|end| end > *extent) {
            return Err(refused());
        }
        modes.push(Mode { extent: *extent, src: *src, dst: *dst, pad: Some(Pad { low, extent: *part }) });
    }
    Ok(modes)
}

/// The modes of two layouts of one size. Extents are divided until both have the same.
pub(super) fn common(src: &Lay, dst: &Lay) -> Result<Vec<Mode>, Error> {
    let refused = || Error::CopyShapes { src: src.shape().to_string(), dst: dst.shape().to_string() };
    // The remaining modes, the next leaf last.
    let several = |which, layout| -> Result<Vec<[i64; 2]>, Error> {
        Ok(leaves(which, layout)?.into_iter().filter(|[extent, _]| *extent != 1).rev().collect())
    };
    let (mut sources, mut targets) = (several("src", src)?, several("dst", dst)?);
    let mut modes = Vec::new();
    while let ([.., [m, s]], [.., [n, d]]) = (&mut sources[..], &mut targets[..]) {
        let extent = (*m).min(*n);
        if *m % extent != 0 || *n % extent != 0 {
            return Err(refused());
        }
        modes.push(Mode { extent, src: *s, dst: *d, pad: None });
        (*m, *n) = (*m / extent, *n / extent);
        // After the last piece of a leaf the stride is of no use.
        (*s, *d) = (s.wrapping_mul(extent), d.wrapping_mul(extent));
        sources.pop_if(|[extent, _]| *extent == 1);
        targets.pop_if(|[extent, _]| *extent == 1);
    }
    if sources.is_empty() && targets.is_empty() { Ok(modes) } else { Err(refused()) }
}

/// The modes of extents above 1 by growing strides of the destination, where modes that follow each other on both sides are one. The
/// mode `alone` stays as it is; its place is the other result.
pub(super) fn coalesced(modes: Vec<Mode>, alone: Option<usize>) -> (Vec<Mode>, Option<usize>) {
    let mut modes: Vec<(Mode, bool)> =
        modes.into_iter().enumerate().map(|(i, mode)| (mode, Some(i) == alone)).collect();
    modes.retain(|(mode, alone)| mode.extent != 1 || *alone);
    modes.sort_by_key(|(mode, _)| (mode.dst, mode.src));
    let follows = |(a, own): &(Mode, bool), (b, other): &(Mode, bool)| {
        let next = |stride: i64| a.extent.checked_mul(stride);
        let next = (next(a.src), next(a.dst)) == (Some(b.src), Some(b.dst));
        next && a.pad.is_none() && !own && !other
    };
    let mut inner = 0;
    while inner < modes.len() {
        match (0..modes.len()).find(|&outer| outer != inner && follows(&modes[inner], &modes[outer])) {
            Some(outer) => {
                let by = modes[inner].0.extent;
                modes[inner].0.extent *= modes[outer].0.extent;
                modes[inner].0.pad =
                    modes[outer].0.pad.map(|pad| Pad { low: pad.low * by, extent: pad.extent * by });
                modes.remove(outer);
                inner = 0;
            }
            None => inner += 1,
        }
    }
    let alone = modes.iter().position(|(_, alone)| *alone);
    (modes.into_iter().map(|(mode, _)| mode).collect(), alone)
}

/// Refuses a destination that has one element at two coordinates, and names the two. Elements are counted from the least one on.
pub(super) fn injective(dst: &Lay) -> Result<(), Error> {
    // Counted from its last position, a mode has the opposite stride and the same elements.
    let numbers = leaves("dst", dst)?;
    let leaf = |[extent, stride]: &[i64; 2]| Lay::leaf(Int::value(*extent), Stride::from(stride.abs()));
    let leaves = numbers.iter().map(leaf).collect::<Result<Vec<_>, _>>()?;
    let others =
        if leaves.len() > 1 { Lay::concat(&leaves[1..])? } else { Lay::leaf(Int::ONE, Stride::ZERO)? };
    let fault = match plan::injective(&Lay::concat(&[leaves[0], others])?) {
        Ok(()) => return Ok(()),
        Err(girih_codegen::Error::Refuted(fault)) => fault,
        Err(error) => return Err(error.into()),
    };
    let first = dst.flat_leaf(0).0.get().unwrap_or(1);
    let coordinate = |place: Place| -> Result<Coord, Error> {
        let (mut rest, mut step, mut number) = (place.thread + first * place.value, 1, 0);
        for [extent, stride] in &numbers {
            let position = rest % extent;
            number += step * if *stride < 0 { extent - 1 - position } else { position };
            (rest, step) = (rest / extent, step * extent);
        }
        Ok(idx2crd(dst.shape(), number)?)
    };
    let (coordinates, element) = match *fault {
        Fault::Twice { first, second, element } => {
            ([coordinate(first)?, coordinate(second)?], element.to_string())
        }
        ref other => return Err(girih_codegen::Error::Refuted(Box::new(other.clone())).into()),
    };
    let [first, second] = coordinates.map(|at| at.to_string());
    Err(Error::Alias { dst: dst.to_string(), first, second, element })
}
