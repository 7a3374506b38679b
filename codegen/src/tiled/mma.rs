//! TiledMma: an MMA atom spread over threads and values (CuTe's `make_tiled_mma`; CuTe guide, "TiledMMA").
#![expect(
    clippy::result_large_err,
    reason = "an error in a constant holds the layout that does not fit; the results are as large"
)]

mod slice;

use girih_layout::{Int, Lay, Shape, Stride, Tile, Tiler, Tiles};
use girih_tensor::{DType, Engine, Index, Slice, Tensor};

use crate::Error;
use crate::atom::{MmaAtom, MmaKind};
use crate::error::check_thread;
use crate::misfit::{self, Fit, Misfit, Subject, Word, known, tri, words};
use crate::sizes::static_size;

pub use slice::ThrMma;

/// Which matrix of `C = A * B^T` a tensor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// M x K.
    A,
    /// N x K.
    B,
    /// M x N.
    C,
}

impl Operand {
    /// All three operands.
    pub const ALL: [Operand; 3] = [Operand::A, Operand::B, Operand::C];

    /// The operand's letter.
    const fn name(self) -> &'static str {
        match self {
            Operand::A => "A",
            Operand::B => "B",
            Operand::C => "C",
        }
    }

    /// Which of M, N, K the operand's two modes are.
    pub const fn modes(self) -> [usize; 2] {
        match self {
            Operand::A => [0, 2],
            Operand::B => [1, 2],
            Operand::C => [0, 1],
        }
    }
}

/// An MMA by several atoms side by side.
///
/// # Examples
/// ```
/// use girih_codegen::{Operand, TiledMma, atom::SM80_16X8X16_F32BF16BF16F32_TN};
/// use girih_layout::lay;
///
/// // Four warps, two along M and two along N: 32 x 16 x 16.
/// let mma = TiledMma::new(SM80_16X8X16_F32BF16BF16F32_TN, lay!("(2,2,1):(1,2,0)"))?;
/// assert_eq!((mma.threads()?, mma.tile_size_mnk()?), (128, [32, 16, 16]));
/// assert_eq!(mma.thr_layout_vmnk()?.to_string(), "(32,2,2,1):(1,32,64,0)");
/// // A warp's fragment of a 64 x 32 tile of A: 8 values, two blocks of rows, two along K.
/// assert_eq!(mma.partition_shape(Operand::A, [64, 32])?.to_string(), "((2,2,2),2,2)");
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiledMma {
    /// The instruction.
    pub atom: MmaAtom,
    /// (AtomM,AtomN,AtomK) -> the atom's index among the block's atoms: warps for a warp-wide atom, threads for one of
    /// a single thread. A layout without AtomK has one atom along K.
    pub atoms: Lay,
    /// For M, N and K, the order in which the tile's coordinates are handed out (CuTe's `PermutationMNK`), or `_`.
    pub permutation: [Tile; 3],
}

impl MmaAtom {
    /// Type of an operand's elements.
    pub const fn dtype(&self, operand: Operand) -> DType {
        match operand {
            Operand::A => self.a_type,
            Operand::B => self.b_type,
            Operand::C => self.c_type,
        }
    }

    /// Whether the instruction takes an operand from shared memory.
    pub const fn from_shared(&self, operand: Operand) -> bool {
        match operand {
            Operand::A => matches!(self.kind, MmaKind::WgmmaSs),
            Operand::B => self.kind.is_wgmma(),
            Operand::C => false,
        }
    }
}

impl TiledMma {
    /// Atoms arranged as `atoms`, `(AtomM,AtomN)` or `(AtomM,AtomN,AtomK)` -> the atom's index.
    ///
    /// # Errors
    /// [`Error::Mismatch`] unless `atoms` has two or three modes and is a bijection, [`Error::NotStatic`].
    pub fn new(atom: MmaAtom, atoms: Lay) -> Result<TiledMma, Error> {
        Ok(TiledMma::judged(atom, atoms)?)
    }

    pub(crate) const fn judged(atom: MmaAtom, atoms: Lay) -> Fit<TiledMma> {
        if !(atoms.rank() == 2 || atoms.rank() == 3) || !tri!(misfit::is_bijective("TiledMma", &atoms)) {
            return Err(Misfit::Mismatch {
                what: "TiledMma",
                operand: Subject::Lay(atoms),
                with: words(&[Word::Mma(&atom)]),
                accepted: "a bijective arrangement (AtomM,AtomN) or (AtomM,AtomN,AtomK)",
            });
        }
        Ok(TiledMma { atom, atoms, permutation: [Tile::All; 3] })
    }

    /// The same MMA with the coordinates of M, N and K handed out in another order.
    pub const fn with_permutation(self, permutation: [Tile; 3]) -> TiledMma {
        TiledMma { permutation, ..self }
    }

    /// Threads of the block (CuTe's `size`).
    ///
    /// # Errors
    /// [`Error::NotStatic`].
    pub fn threads(&self) -> Result<i64, Error> {
        Ok(static_size("TiledMma", &self.atoms)? * static_size("TiledMma", &self.atom.threads)?)
    }

    /// (Thr,Val) -> index of the atom for one operand, where the threads have the profile of their layout.
    const fn atom_tv(&self, operand: Operand) -> Fit<Lay> {
        let tv = match operand {
            Operand::A => self.atom.a,
            Operand::B => self.atom.b,
            Operand::C => self.atom.c,
        };
        if self.atom.threads.is_leaf() {
            return Ok(tv);
        }
        let profile = known!(Lay::left(self.atom.threads.shape()));
        Ok(known!(tv.composition_by(&[Tile::Lay(profile), Tile::All])))
    }

    /// The atoms along mode `mode` of M, N, K -> the atom's index.
    const fn atoms_along(&self, mode: usize) -> Fit<Lay> {
        if mode < self.atoms.rank() {
            return Ok(known!(self.atoms.mode(mode)));
        }
        Ok(known!(Lay::leaf(Int::fixed(1), Stride::Int(Int::fixed(0)))))
    }

    /// How many atoms are side by side in mode `mode` of M, N, K.
    const fn atoms_in(&self, mode: usize) -> Fit<i64> {
        misfit::size("TiledMma", &tri!(self.atoms_along(mode)))
    }

    /// M, N, K of the tile that the block computes at once: in each mode the size of the atoms' tile or of the permutation, whichever is
    /// larger (CuTe's `tile_size_mnk`).
    ///
    /// # Errors
    /// [`Error::NotStatic`].
    pub fn tile_size_mnk(&self) -> Result<[i64; 3], Error> {
        let mut tile = [0; 3];
        for (mode, size) in tile.iter_mut().enumerate() {
            *size = self.atom.shape_mnk[mode] * self.atoms_in(mode)?;
            if let Tile::Lay(order) = &self.permutation[mode] {
                *size = (*size).max(static_size("TiledMma", order)?);
            }
        }
        Ok(tile)
    }

    /// `(ThrV,ThrM,ThrN,ThrK)` -> the thread's index (CuTe's `get_thr_layout_vmnk`).
    ///
    /// # Errors
    /// [`Error::Layout`] if the atom's threads cannot be repeated.
    pub fn thr_layout_vmnk(&self) -> Result<Lay, Error> {
        let along = [self.atoms_along(0)?, self.atoms_along(1)?, self.atoms_along(2)?];
        let product = self.atom.threads.logical_product(&Tiler::Lay(Lay::concat(&along)?))?; // (ThrV,(ThrM,ThrN,ThrK))
        let atoms = product.mode(1)?;
        Ok(Lay::concat(&[product.mode(0)?, atoms.mode(0)?, atoms.mode(1)?, atoms.mode(2)?])?)
    }

    /// The operand's layout by thread and value: `((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY)))`, where X, Y are the
    /// operand's two modes (CuTe's `thrfrg_A`, `thrfrg_B`, `thrfrg_C`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if atoms side by side or the permutation do not divide the layout's first two modes.
    pub fn thrfrg(&self, operand: Operand, layout: &Lay) -> Result<Lay, Error> {
        Ok(self.judged_thrfrg(operand, layout)?)
    }

    pub(crate) const fn judged_thrfrg(&self, operand: Operand, layout: &Lay) -> Fit<Lay> {
        let [x, y] = operand.modes();
        if layout.rank() != 2 || layout.is_leaf() {
            return Err(Misfit::Mismatch {
                what: "thrfrg",
                operand: Subject::Lay(*layout),
                with: words(&[Word::Text(operand.name()), Word::Text(" of "), Word::Mma(&self.atom)]),
                accepted: "a layout of two modes",
            });
        }
        tri!(self.check_extent(layout, 0, x));
        tri!(self.check_extent(layout, 1, y));
        // The tiles have the profile of the arrangement, which a thread's coordinate has too.
        let atoms = [
            Tile::Lay(known!(Lay::left(tri!(self.atoms_along(x)).shape()))),
            Tile::Lay(known!(Lay::left(tri!(self.atoms_along(y)).shape()))),
        ];
        let permute = Tiler::Modes(known!(Tiles::new(&[self.permutation[x], self.permutation[y]])));
        let atom = tri!(misfit::shape_tiler([self.atom.shape_mnk[x], self.atom.shape_mnk[y]]));
        let permuted = known!(layout.logical_divide(&permute)); // ((PermX,RestX),(PermY,RestY))
        let tiled = known!(permuted.zipped_divide(&atom)); // ((AtomX,AtomY),(RestX,RestY))
        let tv = known!(tiled.composition_by(&[Tile::Lay(tri!(self.atom_tv(operand))), Tile::All])); // ((ThrV,FrgV),(RestX,RestY))
        let rest = known!(known!(tv.mode(1)).zipped_divide(&Tiler::Modes(known!(Tiles::new(&atoms))))); // ((ThrX,ThrY),(RestX,RestY))
        let own = known!(tv.mode(0));
        let threads = known!(Lay::concat(&[known!(own.mode(0)), known!(rest.mode(0))])); // (ThrV,(ThrX,ThrY))
        let values = known!(Lay::concat(&[known!(own.mode(1)), known!(rest.mode(1))])); // (FrgV,(RestX,RestY))
        Ok(known!(Lay::concat(&[threads, values])))
    }

    /// Whether the atoms side by side and the permutation divide mode `i` of the operand's layout.
    const fn check_extent(&self, layout: &Lay, i: usize, mode: usize) -> Fit<()> {
        let extent = known!(known!(layout.mode(i)).size());
        let (atom, count) = (self.atom.shape_mnk[mode], tri!(self.atoms_in(mode)));
        let (with, accepted) = match self.permutation[mode] {
            Tile::Lay(order)
                if !matches!(extent.is_divisible_by(tri!(misfit::size("thrfrg", &order))), Some(true))
                    || !tri!(misfit::is_bijective("thrfrg", &order)) =>
            {
                let with = words(&[
                    Word::Text("the order "),
                    Word::Lay(&order),
                    Word::Text(" of mode "),
                    Word::Number(i as i64),
                ]);
                (with, "a bijective order whose size divides the extent")
            }
            Tile::Modes(_) => {
                let with = words(&[Word::Text("tiles in the tile of mode "), Word::Number(i as i64)]);
                (with, "a layout or '_' for a permutation")
            }
            _ if !matches!(extent.is_divisible_by(atom * count), Some(true)) => {
                let with = words(&[
                    Word::Mma(&self.atom),
                    Word::Text(" of "),
                    Word::Number(count),
                    Word::Text(" atoms of "),
                    Word::Number(atom),
                    Word::Text(" in mode "),
                    Word::Number(i as i64),
                ]);
                (with, "extents that the atoms divide")
            }
            _ => return Ok(()),
        };
        Err(Misfit::Mismatch { what: "thrfrg", operand: Subject::Lay(*layout), with, accepted })
    }

    /// The shape `(FrgV,RestX,RestY)` of the values that a thread holds of an operand's tile of these extents (CuTe's
    /// `partition_shape_A`, `_B`, `_C`).
    ///
    /// # Errors
    /// Those of [`TiledMma::thrfrg`].
    pub fn partition_shape(&self, operand: Operand, extents: [i64; 2]) -> Result<Shape, Error> {
        let tile = Lay::left(&Shape::flat(&extents.map(Int::fixed))?)?;
        let values = self.thrfrg(operand, &tile)?.mode(1)?; // (FrgV,(RestX,RestY))
        let rest = values.mode(1)?;
        Ok(*Lay::concat(&[values.mode(0)?, rest.mode(0)?, rest.mode(1)?])?.shape())
    }

    /// `(Thr,Val) -> index` in the block's tile of an operand, where threads are numbered; threads that share a part of the operand
    /// have the same values (CuTe's `get_layoutA_TV`, `get_layoutB_TV`, `get_layoutC_TV`).
    ///
    /// # Errors
    /// Those of [`TiledMma::thrfrg`]; [`Error::Mismatch`] if the threads are not numbered without holes.
    pub fn layout_tv(&self, operand: Operand) -> Result<Lay, Error> {
        let (modes, tile) = (operand.modes(), self.tile_size_mnk()?);
        let reference = Lay::left(&Shape::flat(&modes.map(|m| Int::fixed(tile[m])))?)?;
        let frg = self.thrfrg(operand, &reference)?; // ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY)))
        let threads = self.by_number(operand, &self.thr_layout_vmnk()?, &frg.mode(0)?)?;
        Ok(Lay::concat(&[threads, frg.mode(1)?])?)
    }

    /// The layout `threads`, `(ThrV,(ThrX,ThrY))` of an operand, by the thread's index; `vmnk` is the layout of all threads.
    fn by_number(&self, operand: Operand, vmnk: &Lay, threads: &Lay) -> Result<Lay, Error> {
        let modes = operand.modes();
        let mut places = vec![threads.mode(0)?];
        for mode in 0..3 {
            let own = modes.iter().position(|&m| m == mode);
            places.push(match own {
                Some(i) => threads.mode(1)?.mode(i)?,
                None => Lay::leaf(Int::fixed(self.atoms_in(mode)?), Stride::Int(Int::fixed(0)))?,
            });
        }
        let number = vmnk.right_inverse()?; // thread's number -> (ThrV,ThrM,ThrN,ThrK)
        if static_size("layout_tv", &number)? != static_size("layout_tv", vmnk)? {
            return Err(Error::Mismatch {
                what: "layout_tv",
                layout: vmnk.to_string(),
                with: self.atom.name(),
                accepted: "atoms that fill whole warps",
            });
        }
        Ok(Lay::concat(&places)?.composition(&number)?)
    }

    /// The part of the MMA that `thread` does (CuTe's `get_slice`).
    ///
    /// # Errors
    /// [`Error::Tensor`] for a thread that is known not to belong to the block, [`Error::Threads`] for an index whose range is not inside of
    /// `0..threads`, as with [`TiledCopy::get_slice`](crate::TiledCopy::get_slice).
    pub fn get_slice<I: Index>(&self, thread: &I) -> Result<ThrMma<I>, Error> {
        let vmnk = self.thr_layout_vmnk()?;
        let threads = Int::try_from(vmnk.cosize()?)?;
        thread.check(&Lay::leaf(threads, Stride::Int(Int::fixed(1)))?)?;
        if let Some(threads) = threads.get() {
            check_thread("TiledMma", thread, threads)?;
        }
        Ok(ThrMma::new(*self, thread.clone(), vmnk))
    }
}

/// A layout's first two modes, and the others.
pub(crate) fn split_matrix(layout: &Lay) -> Result<(Lay, Vec<Lay>), Error> {
    let modes = (0..layout.rank()).map(|i| layout.mode(i)).collect::<Result<Vec<_>, _>>()?;
    let (matrix, rest) = modes.split_at(modes.len().min(2));
    Ok((Lay::concat(matrix)?, rest.to_vec()))
}

/// The tensor with the modes `rest` after its own.
pub(crate) fn append<E: Engine>(tensor: &Tensor<E>, rest: &[Lay]) -> Result<Tensor<E>, Error> {
    let layout = tensor.layout();
    let mut modes = (0..layout.rank()).map(|i| layout.mode(i)).collect::<Result<Vec<_>, _>>()?;
    modes.extend_from_slice(rest);
    Ok(Tensor::new(tensor.engine().clone(), Lay::concat(&modes)?))
}

/// The coordinate in `mode` of a bijective layout at which it contributes to `index`: for each leaf the digit
/// `index / stride % extent`.
pub(crate) fn digits<I: Index>(mode: &Lay, index: &I) -> Result<Slice<I>, Error> {
    if !mode.is_leaf() {
        let inner = (0..mode.rank()).map(|i| digits(&mode.mode(i)?, index));
        return Ok(Slice::Tuple(inner.collect::<Result<_, Error>>()?));
    }
    let (extent, stride) = mode.flat_leaf(0);
    let Stride::Int(stride) = stride else {
        return Err(Error::NotStatic { what: "TiledMma", layout: mode.to_string() });
    };
    // A single position is position 0, whatever its stride.
    let quotient = if extent.is(1) { index.clone() } else { index.div_rem(&stride)?.0 };
    Ok(Slice::At(quotient.div_rem(&extent)?.1))
}
