//! Proofs about partitions: that every element is held once, that no two threads hold the same element, that none is outside.

use girih_layout::{Coord, Lay, Shape, Stride, idx2crd};

use super::meet::{Leaf, Undecided, meet};
use crate::error::{Error, Fault, Place};

/// One dimension of the coordinates that a layout maps to, and the leaves that move in this dimension. A layout with integer
/// strides has one dimension; a layout with basis strides has one for every mode of the coordinates. What is proved holds
/// for a layout if it holds in each dimension.
struct Dimension {
    /// All leaves of the layout, where the leaves of other dimensions have extent 1.
    leaves: Vec<Leaf>,
    /// The number of indices that are inside, from 0 on.
    extent: i64,
}

/// A layout taken apart.
struct Parts {
    what: &'static str,
    text: String,
    extents: Vec<i64>,
    /// How many leaves make up mode 0.
    threads: usize,
    dimensions: Vec<Dimension>,
    basis: bool,
}

/// A position for each leaf.
type Positions = Vec<i64>;

impl Parts {
    /// Takes a layout apart. `extents` are the extents of the dimensions, if these are known.
    fn of(what: &'static str, lay: &Lay, extents: Option<&[i64]>) -> Result<Parts, Error> {
        let text = lay.to_string();
        let not_static = || Error::NotStatic { what, layout: text.clone() };
        let mismatch =
            |with: String, accepted| Error::Mismatch { what, layout: text.clone(), with, accepted };
        let mut leaves = Vec::new();
        let mut basis = false;
        for (extent, stride) in (0..lay.leaf_count()).map(|i| lay.flat_leaf(i)) {
            let (dimension, by) = match stride {
                Stride::Int(d) => (0, d.get()),
                Stride::Basis { scale, mode } => {
                    basis = true;
                    let flat = || mismatch(stride.to_string(), "basis strides of flat coordinates");
                    (mode.only().ok_or_else(flat)?, scale.get())
                }
                Stride::F2(_) => return Err(mismatch(stride.to_string(), "integer and basis strides")),
            };
            let extent = extent.get().ok_or_else(not_static)?;
            leaves.push((dimension, Leaf { extent, stride: by.ok_or_else(not_static)?, counts: true }));
        }
        let rank = leaves.iter().map(|(dimension, _)| dimension + 1).max().unwrap_or(1);
        let rank = extents.map_or(rank, <[i64]>::len).max(rank);
        if let Some(extents) = extents
            && extents.len() < rank
        {
            let with = format!("a tile of {} modes", extents.len());
            return Err(mismatch(with, "a tile with every mode that a stride names"));
        }
        let alone = |(mine, leaf): &(usize, Leaf), dimension| Leaf {
            extent: if *mine == dimension { leaf.extent } else { 1 },
            ..*leaf
        };
        let dimension = |d| Dimension {
            leaves: leaves.iter().map(|leaf| alone(leaf, d)).collect(),
            extent: extents.map_or(i64::MAX, |extents| extents[d]),
        };
        Ok(Parts {
            what,
            extents: leaves.iter().map(|(_, leaf)| leaf.extent).collect(),
            threads: lay.mode(0)?.leaf_count(),
            dimensions: (0..rank).map(dimension).collect(),
            basis,
            text,
        })
    }

    fn place(&self, positions: &[i64]) -> Place {
        let number = |leaves: std::ops::Range<usize>| {
            leaves.rev().fold(0, |number, i| number * self.extents[i] + positions[i])
        };
        Place { thread: number(0..self.threads), value: number(self.threads..self.extents.len()) }
    }

    /// The element at `positions`; for a tile of integers, its coordinate.
    fn element(&self, positions: &[i64], tile: Option<&Shape>) -> Result<Coord, Error> {
        let index = |dimension: &Dimension| -> i64 {
            dimension
                .leaves
                .iter()
                .zip(positions)
                .filter(|(l, _)| l.extent > 1)
                .map(|(l, x)| l.stride * x)
                .sum()
        };
        let indices: Vec<i64> = self.dimensions.iter().map(index).collect();
        self.coordinate(&indices, tile)
    }

    fn coordinate(&self, indices: &[i64], tile: Option<&Shape>) -> Result<Coord, Error> {
        match (self.basis, tile) {
            (true, _) => Ok(Coord::of(indices)?),
            (false, Some(tile)) => Ok(idx2crd(tile, indices[0])?),
            (false, None) => Ok(Coord::at(indices[0])),
        }
    }

    /// Two coordinates with the same index; if `threads` is set, two of different threads.
    fn twice(&self, threads: bool) -> Result<Option<[Positions; 2]>, Error> {
        // Leaves of other dimensions have extent 1, so that nothing moves in them.
        for dimension in &self.dimensions {
            let counts = |(i, leaf): (usize, &Leaf)| Leaf { counts: !threads || i < self.threads, ..*leaf };
            let leaves: Vec<Leaf> = dimension.leaves.iter().enumerate().map(counts).collect();
            let difference = meet(&leaves).map_err(|Undecided| Error::Mismatch {
                what: self.what,
                layout: self.text.clone(),
                with: String::from("the limit of the search"),
                accepted: "strides whose multiples meet in fewer ways",
            })?;
            if let Some(difference) = difference {
                let side = |sign: i64| difference.iter().map(|x| (x * sign).max(0)).collect();
                return Ok(Some([side(1), side(-1)]));
            }
        }
        Ok(None)
    }

    fn refute_twice(&self, threads: bool, tile: Option<&Shape>) -> Result<(), Error> {
        let Some([first, second]) = self.twice(threads)? else { return Ok(()) };
        let element = self.element(&first, tile)?;
        let (first, second) = (self.place(&first), self.place(&second));
        Err(Error::Refuted(Box::new(Fault::Twice { first, second, element })))
    }

    fn refute_outside(&self) -> Result<(), Error> {
        for Dimension { leaves, extent } in &self.dimensions {
            for lowest in [true, false] {
                let end = |leaf: &Leaf| if (leaf.stride < 0) == lowest { leaf.extent - 1 } else { 0 };
                let positions: Vec<i64> = leaves.iter().map(end).collect();
                let index = leaves.iter().map(|l| i128::from(l.stride) * i128::from(end(l))).sum::<i128>();
                if !(0..i128::from(*extent)).contains(&index) {
                    let place = self.place(&positions);
                    return Err(Error::Refuted(Box::new(Fault::Outside { place, index, size: *extent })));
                }
            }
        }
        Ok(())
    }

    /// Refutes by the least index of a dimension that no coordinate has, if no stride is negative: sums of the smaller strides
    /// reach every index below this one, and the next stride is beyond it.
    fn refute_never(&self, tile: &Shape) -> Result<(), Error> {
        for (d, Dimension { leaves, extent }) in self.dimensions.iter().enumerate() {
            let mut moving: Vec<&Leaf> = leaves.iter().filter(|l| l.extent > 1 && l.stride != 0).collect();
            moving.sort_by_key(|leaf| leaf.stride);
            let reached = moving.iter().try_fold(1i128, |reached, leaf| {
                if i128::from(leaf.stride) > reached {
                    return Err(reached);
                }
                Ok(reached + i128::from(leaf.extent - 1) * i128::from(leaf.stride))
            });
            let (Ok(missed) | Err(missed)) = reached;
            if missed < i128::from(*extent) {
                let mut indices = vec![0; self.dimensions.len()];
                indices[d] = missed as i64;
                return Err(Error::Refuted(Box::new(Fault::Never {
                    element: self.coordinate(&indices, Some(tile))?,
                })));
            }
        }
        Ok(())
    }
}

/// The extents of the dimensions that `lay` maps to, if it is to fill `tile`.
fn dimensions(lay: &Lay, tile: &Shape) -> Result<Vec<i64>, Error> {
    let basis = (0..lay.leaf_count()).any(|i| matches!(lay.flat_leaf(i).1, Stride::Basis { .. }));
    let sizes = if basis {
        (0..tile.rank()).map(|mode| tile.mode(mode)?.size()).collect::<Result<Vec<_>, _>>()?
    } else {
        vec![tile.size()?]
    };
    let known = |size: &girih_layout::Int| {
        size.get().ok_or_else(|| Error::NotStatic { what: "a proof", layout: tile.to_string() })
    };
    sizes.iter().map(known).collect()
}

/// Proves that no two coordinates of `lay` have one index.
///
/// # Errors
/// [`Error::Refuted`] with [`Fault::Twice`]; [`Error::NotStatic`]; [`Error::Mismatch`] for F2 strides, or where strides
/// meet in too many ways to decide.
///
/// # Examples
/// ```
/// use girih_codegen::plan::injective;
/// use girih_layout::lay;
///
/// injective(&lay!("((2,3),4):((3,2),100)"))?; // 0 3 2 5 4 7, 100 ...: interleaved, and yet apart
/// let overlap = injective(&lay!("(4,2):(1,3)")).unwrap_err();
/// assert_eq!(overlap.to_string(), "thread 3 value 0 and thread 0 value 1 both hold element 3");
/// # Ok::<(), girih_codegen::Error>(())
/// ```
pub fn injective(lay: &Lay) -> Result<(), Error> {
    Parts::of("injective", lay, None)?.refute_twice(false, None)
}

/// Proves that no two threads of `tv`, `(Thr,Val) -> index`, hold the same element, so that their writes do not race. A thread
/// may hold an element twice.
///
/// # Errors
/// As [`injective`].
pub fn race_free(tv: &Lay) -> Result<(), Error> {
    Parts::of("race_free", tv, None)?.refute_twice(true, None)
}

/// Proves that every index of `lay` is inside `tile`: from 0 to below the tile's size, or for basis strides, that every mode of
/// the coordinate is inside the same mode of the tile.
///
/// # Errors
/// [`Error::Refuted`] with [`Fault::Outside`]; [`Error::NotStatic`]; [`Error::Mismatch`] for F2 strides, or strides of
/// modes that the tile does not have.
pub fn in_bounds(lay: &Lay, tile: &Shape) -> Result<(), Error> {
    Parts::of("in_bounds", lay, Some(&dimensions(lay, tile)?))?.refute_outside()
}

/// Proves that `tv`, `(Thr,Val) -> index in the tile` (colexicographic, or with basis strides the coordinate), holds
/// every element of `tile` exactly once. For a partition that broadcasts, pass its [`Lay::filter`].
///
/// # Errors
/// [`Error::Refuted`] with the counter-example; else as [`injective`] and [`in_bounds`].
///
/// # Examples
/// ```
/// use girih_codegen::plan::exactly_once;
/// use girih_layout::{Shape, lay};
///
/// let tile = Shape::parse("(4,8)")?;
/// exactly_once(&lay!("((2,4),(2,2)):((8,1),(4,16))"), &tile)?;
/// let holes = exactly_once(&lay!("((2,4),(2,2)):((8,1),(4,0))"), &tile).unwrap_err();
/// assert_eq!(holes.to_string(), "thread 0 value 2 and thread 0 value 0 both hold element (0,0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exactly_once(tv: &Lay, tile: &Shape) -> Result<(), Error> {
    let parts = Parts::of("exactly_once", tv, Some(&dimensions(tv, tile)?))?;
    parts.refute_outside()?;
    parts.refute_twice(false, Some(tile))?;
    parts.refute_never(tile)
}
