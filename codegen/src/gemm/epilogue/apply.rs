//! Applies an epilogue to a thread's accumulators of a tile.

use std::cell::RefCell;
use std::rc::Rc;

use girih_layout::{Lay, Tiler};
use girih_tensor::{DType, Engine, Slice, Tensor};

use super::ahead::InPlace;
use super::gate::once_for_pairs;
use super::reduce::{Partial, Reducing, Tiles};
use super::{Element, Epilogue, Part, Step};
use crate::algorithm::{one, read_once, write};
use crate::builder::Builder;
use crate::gemm::mainloop::Sums;
use crate::gemm::schedule::{Place, Team};
use crate::scalar::Rounding;
use crate::sizes::{extent, static_size};
use crate::{Counting, Error, Expr, Rmem, Scalar, engine};

/// The most values of C that are computed together, and the most values that are read for them: all have to fit the registers along with
/// the accumulators.
const TOGETHER: i64 = 32;
const READ_TOGETHER: i64 = 64;
/// The values that the widest store to shared memory takes of a thread.
const STORED_TOGETHER: i64 = 8;

/// An epilogue at a tile, with a thread's part of its inputs.
pub(in crate::gemm) struct AtTile<'a> {
    pub(in crate::gemm) epilogue: &'a Epilogue,
    /// C's dtype.
    pub(in crate::gemm) dtype: DType,
    pub(in crate::gemm) coordinate: Tensor<Counting>, // (FrgV,RestM,RestN) -> (m,n)
    pub(in crate::gemm) inputs: Vec<Part>,            // (FrgV,RestM,RestN)
    /// The extents of C, and its outputs other than C with what the thread has of them.
    pub(in crate::gemm) extents: [Expr; 2],
    pub(in crate::gemm) reducing: &'a [Reducing],
    pub(in crate::gemm) partials: Rc<RefCell<Vec<Partial>>>,
}

impl AtTile<'_> {
    /// Computes the values of C for `sums`, (FrgV,RestM,RestN), piece by piece: `each` gets the registers of a piece, and the piece, which
    /// cuts any tensor that is partitioned like the accumulators.
    pub(in crate::gemm) fn for_each_piece(
        &self,
        b: &mut Builder,
        sums: &Tensor<Rmem>,
        mut each: impl FnMut(&mut Builder, &Tensor<Rmem>, &Piece) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for piece in Piece::all(sums.layout(), TOGETHER, self.together())? {
            self.results(b, sums, &piece, |b, values| each(b, values, &piece))?;
        }
        Ok(())
    }

    /// The epilogue at a piece of the tile, with the place of what has been read ahead for the piece.
    pub(in crate::gemm) fn at_piece(
        &self,
        piece: &Piece,
        ahead: Option<&InPlace>,
    ) -> Result<AtTile<'_>, Error> {
        let inputs = self.inputs.iter().map(|given| {
            Ok(match given {
                Part::Tensor(tensor) => Part::Tensor(piece.of(tensor)?.into()),
                Part::Scalar(value) => Part::Scalar(value.clone()),
                Part::Ahead(_) => Part::Ahead(ahead.cloned().map(Box::new)),
            })
        });
        let (inputs, coordinate) = (inputs.collect::<Result<_, Error>>()?, piece.of(&self.coordinate)?);
        let (extents, partials) = (self.extents.clone(), self.partials.clone());
        Ok(AtTile { coordinate, inputs, extents, partials, ..*self })
    }

    /// Writes the outputs other than C, once all values of the tile have been computed. All threads of the team take part.
    pub(in crate::gemm) fn finish(
        &self,
        b: &mut Builder,
        team: &Team<'_>,
        sums: &Sums,
        place: &Place,
        counts: [Expr; 2],
    ) -> Result<(), Error> {
        let tiles = Tiles { place, counts, extents: self.extents.clone() };
        let partials = self.partials.borrow();
        self.reducing.iter().zip(&*partials).try_for_each(|(reducing, partial)| {
            b.shared_scope(|b| reducing.finish(b, partial, team, sums, &tiles))
        })
    }

    /// The same for the accumulators of a row of atoms, (FrgV,1,RestN), in pieces no smaller than they have to be.
    pub(in crate::gemm) fn for_each_piece_of_row(
        &self,
        b: &mut Builder,
        sums: &Tensor<Rmem>,
        mut each: impl FnMut(&mut Builder, &Tensor<Rmem>, &Piece) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let pieces = if self.epilogue.reads_tiles() {
            Piece::all(sums.layout(), 1, self.together())?
        } else {
            // Nothing else has to fit the registers.
            vec![Piece::of_row(sums.layout(), 0, [0, 1])?]
        };
        for (i, piece) in pieces.iter().enumerate() {
            if i > 0 {
                // Without this ptxas moves the reads of later pieces here, into more registers than there are.
                b.warp_sync();
            }
            self.results(b, sums, piece, |b, values| each(b, values, piece))?;
        }
        Ok(())
    }

    /// How many values of C are computed together.
    fn together(&self) -> i64 {
        let tensors = self.inputs.iter().filter(|given| !matches!(given, Part::Scalar(_))).count() as i64;
        // Reduced values take as many registers as inputs.
        let reduced = if self.reducing.is_empty() { 1 } else { 2 };
        let most = READ_TOGETHER / (tensors.max(1) * reduced);
        (1 << most.max(1).ilog2()).clamp(STORED_TOGETHER, TOGETHER)
    }

    /// Calls `then` with the values of C for a piece of the accumulators, which are the accumulators themselves if the epilogue is the identity.
    fn results(
        &self,
        b: &mut Builder,
        sums: &Tensor<Rmem>,
        piece: &Piece,
        then: impl FnOnce(&mut Builder, &Tensor<Rmem>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let own = piece.of(sums)?;
        if self.epilogue.is_identity() && self.dtype == own.engine().dtype() {
            return then(b, &own);
        }
        // Of the coordinates each mode is a leaf, and the first one is that of the pairs.
        let layout = match self.epilogue.is_gated() {
            true => *once_for_pairs(&piece.of(&self.coordinate)?)?.layout(),
            false => *own.layout(),
        };
        let out = Rmem::tensor(b, self.dtype, Lay::left(layout.shape())?)?;
        self.apply(b, &own, piece, &out)?;
        then(b, &out)
    }

    /// The values of C for the accumulators of a piece.
    fn apply(
        &self,
        b: &mut Builder,
        sums: &Tensor<Rmem>,
        piece: &Piece,
        out: &Tensor<Rmem>,
    ) -> Result<(), Error> {
        let (inputs, mut columns) = (self.epilogue.inputs(), Vec::new());
        for given in &self.inputs {
            columns.push(match given {
                Part::Tensor(tensor) => read_once(b, &piece.of(tensor)?)?,
                Part::Scalar(value) => vec![value.clone()],
                Part::Ahead(Some(place)) => place.read(b, piece)?,
                Part::Ahead(None) => {
                    return Err(Error::Generator("a prefetched input without its place in shared memory"));
                }
            });
        }
        let coordinate = piece.of(&self.coordinate)?;
        let computed = if sums.engine().dtype() == DType::F64 { DType::F64 } else { DType::F32 };
        let (mut results, mut gate) = (Vec::new(), None);
        'sums: for i in 0..static_size("epilogue", sums.layout())? as usize {
            let at = engine::at(&coordinate, i as i64)?;
            let own = [0, 1].map(|mode| at.coordinate()[mode].clone());
            let [x, y] = own.clone();
            let coordinate = if self.epilogue.transposed { [y, x] } else { [x, y] };
            let names = inputs.iter().map(|input| &*input.name);
            let given: Vec<(&str, Scalar)> =
                names.zip(columns.iter().map(|values| values[i % values.len()].clone())).collect();
            let sum = sum(b, sums, i)?;
            let mut element = Element { value: sum.to(computed), sum, coordinate, inputs: &given };
            let mut partials = self.partials.borrow_mut();
            let mut reducing = self.reducing.iter().zip(&mut *partials);
            for node in &self.epilogue.nodes {
                match &node.step {
                    Step::Map(function) => {
                        element.value = b.computing("a node of an epilogue", |b| function(b, &element))?;
                    }
                    Step::Reduce(_) => {
                        if let Some((reducing, partial)) = reducing.next() {
                            // The value is used twice.
                            element.value = b.hold(&element.value)?;
                            reducing.take(b, partial, &own, &self.extents, &element.value)?;
                        }
                    }
                    Step::Gate(activation) => {
                        let Some((before, value)) = gate.take() else {
                            gate = Some((own, b.hold(&activation.of(&element.value))?));
                            continue 'sums;
                        };
                        let neighbours: [Expr; 2] = [0, 1].map(|mode| &own[mode] - &before[mode]);
                        if neighbours != [0, 1].map(Expr::from) {
                            return Err(Error::Mismatch {
                                what: "gated epilogue",
                                layout: sums.layout().to_string(),
                                with: String::from("pairs of neighbouring columns"),
                                accepted: "an atom that leaves neighbouring columns to a thread one after the other",
                            });
                        }
                        element.value = value * &element.value;
                        element.coordinate[1] = own[1].div(2)?;
                    }
                }
            }
            // Floats of 8 bits are rounded where they are packed.
            results.push(match self.dtype {
                dtype if dtype.is_narrow_float() => element.value,
                dtype => element.value.rounded_to(dtype, Rounding::NearestEven),
            });
        }
        write(b, out, &results)
    }
}

/// A sum in the register in which the mainloop left it, which nothing writes before it is stored.
fn sum(b: &mut Builder, sums: &Tensor<Rmem>, i: usize) -> Result<Scalar, Error> {
    let at = engine::at(sums, i as i64)?;
    at.check()?;
    if at.dtype().bits() < 32 {
        // Two of them fill a register.
        return one(b, &at);
    }
    let reg = at.regs()[at.offset() as usize].clone();
    b.scalar_in(&reg, at.dtype())
}

/// A part of a thread's values of a tile, (FrgV,RestM,RestN).
pub(in crate::gemm) struct Piece {
    /// The number of values that the piece has of each mode, and which of the pieces along each mode it is.
    sizes: [i64; 3],
    at: [i64; 3],
}

impl Piece {
    /// The pieces of a fragment, each of at most `rows` rows of atoms and at most `together` values.
    fn all(fragment: &Lay, rows: i64, together: i64) -> Result<Vec<Piece>, Error> {
        let extents = extents(fragment)?;
        let widest = |extent: i64, most: i64| 1 << (extent.trailing_zeros().min(most.max(1).ilog2()));
        let values = widest(extents[0], together);
        // Four neighbours along N may make a vector.
        let columns = widest(extents[2], (together / values).min(4));
        let sizes = [values, widest(extents[1], rows.min(together / (values * columns))), columns];
        let counts = [0, 1, 2].map(|mode| extents[mode] / sizes[mode]);
        let mut all = Vec::new();
        for n in 0..counts[2] {
            for m in 0..counts[1] {
                all.extend((0..counts[0]).map(|v| Piece { sizes, at: [v, m, n] }));
            }
        }
        Ok(all)
    }

    /// Of row `row` of a fragment's atoms, share `share` of `shares` equal ones along N.
    pub(in crate::gemm) fn of_row(
        fragment: &Lay,
        row: i64,
        [share, shares]: [i64; 2],
    ) -> Result<Piece, Error> {
        let [values, _, columns] = extents(fragment)?;
        // Shares of the atoms, and of an atom's columns where a share is less than an atom.
        let of_an_atom = (shares / columns).max(1);
        let atoms = (columns / shares).max(1);
        let at = [share % of_an_atom, row, share / of_an_atom];
        Ok(Piece { sizes: [values / of_an_atom, 1, atoms], at })
    }

    /// The piece of a tensor that is partitioned like the fragment.
    pub(in crate::gemm) fn of<E: Engine<Index = Expr>>(
        &self,
        tensor: &Tensor<E>,
    ) -> Result<Tensor<E>, Error> {
        let (mut own, mut rest) = (Vec::new(), Vec::new());
        for (mode, &size) in self.sizes.iter().enumerate() {
            let divided = tensor.layout().mode(mode)?.logical_divide(&Tiler::Lay(extent(size)?))?;
            own.push(divided.mode(0)?);
            rest.push(divided.mode(1)?);
        }
        let modes = [own, rest].concat(); // FrgV,RestM,RestN of a piece, and which piece
        let at = self.at.map(|i| Slice::At(Expr::from(i)));
        let whole = Tensor::new(tensor.engine().clone(), Lay::concat(&modes)?);
        Ok(whole.slice(Slice::tuple([Slice::All, Slice::All, Slice::All].into_iter().chain(at)))?)
    }
}

/// How many values a fragment has of each of its modes.
fn extents(fragment: &Lay) -> Result<[i64; 3], Error> {
    let mut extents = [0; 3];
    for (mode, extent) in extents.iter_mut().enumerate() {
        *extent = static_size("epilogue", &fragment.mode(mode)?)?;
    }
    Ok(extents)
}
