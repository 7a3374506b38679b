//! TiledMma: an MMA atom spread over warps and values (CuTe's `make_tiled_mma`).

use girih_layout::{Lay, Stride, Tile, Tiler, Tiles};
use girih_tensor::{Engine, Slice, Tensor};

use crate::atom::MmaAtom;
use crate::expr::Expr;
use crate::tiled_copy::{is_bijective, shape_tiler, static_size};
use crate::{Error, engine};

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
    /// Which of M, N, K its two modes are.
    pub(crate) fn modes(self) -> [usize; 2] {
        match self {
            Operand::A => [0, 2],
            Operand::B => [1, 2],
            Operand::C => [0, 1],
        }
    }
}

/// An MMA by several atoms side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiledMma {
    /// The instruction.
    pub atom: MmaAtom,
    /// (AtomM,AtomN) -> the atom's number among the block's atoms: warps for a warp-wide atom, threads for one of a
    /// single thread.
    pub atoms: Lay,
    /// For M and N, the order in which the tile's coordinates are handed out (CuTe's permutation), or `_`.
    pub permutation: [Tile; 2],
}

impl TiledMma {
    /// Threads of the block.
    ///
    /// # Errors
    /// [`Error::NotStatic`].
    pub fn threads(&self) -> Result<i64, Error> {
        Ok(static_size("TiledMma", &self.atoms)? * static_size("TiledMma", &self.atom.threads)?)
    }

    /// (Thr,Val) -> index, of the atom for one operand.
    fn atom_tv(&self, operand: Operand) -> &Lay {
        match operand {
            Operand::A => &self.atom.a,
            Operand::B => &self.atom.b,
            Operand::C => &self.atom.c,
        }
    }

    /// How many atoms stand side by side in mode `mode` of M, N, K.
    fn atoms_in(&self, mode: usize) -> Result<i64, Error> {
        if mode == 2 { Ok(1) } else { static_size("TiledMma", &self.atoms.mode(mode)?) }
    }

    /// The operand's layout seen by thread and value: `((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY)))`, where X, Y are the
    /// operand's two modes (CuTe's `thrfrg_A`, `thrfrg_B`, `thrfrg_C`).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if atoms side by side or the permutation do not divide the layout's first two modes.
    pub fn thrfrg(&self, operand: Operand, layout: &Lay) -> Result<Lay, Error> {
        let modes = operand.modes();
        let mut atom = [0; 2];
        let mut atoms = [0; 2];
        for i in 0..2 {
            atom[i] = self.atom.shape_mnk[modes[i]];
            atoms[i] = self.atoms_in(modes[i])?;
            let extent = static_size("thrfrg", &layout.mode(i)?)?;
            if let Some(Tile::Lay(order)) = self.permutation.get(modes[i])
                && (extent % static_size("thrfrg", order)? != 0 || !is_bijective("thrfrg", order)?)
            {
                return Err(Error::Mismatch {
                    what: "thrfrg",
                    layout: layout.to_string(),
                    with: format!("the order {order} of mode {i}"),
                    accepted: "a bijective order whose size divides the extent",
                });
            }
            if extent % (atom[i] * atoms[i]) != 0 {
                return Err(Error::Mismatch {
                    what: "thrfrg",
                    layout: layout.to_string(),
                    with: format!("{} of {} atoms of {} in mode {i}", self.atom, atoms[i], atom[i]),
                    accepted: "extents that the atoms divide",
                });
            }
        }
        let permute = modes.map(|m| if m < 2 { self.permutation[m] } else { Tile::All });
        let permuted = layout.logical_divide(&Tiler::Modes(Tiles::new(&permute)?))?; // ((PermX,RestX),(PermY,RestY))
        let tiled = permuted.zipped_divide(&shape_tiler(&atom)?)?; // ((AtomX,AtomY),(RestX,RestY))
        let tv = tiled.composition_by(&[Tile::Lay(*self.atom_tv(operand)), Tile::All])?; // ((ThrV,FrgV),(RestX,RestY))
        let rest = tv.mode(1)?.zipped_divide(&shape_tiler(&atoms)?)?; // ((ThrX,ThrY),(RestX,RestY))
        let (thr_v, frg_v) = (tv.mode(0)?.mode(0)?, tv.mode(0)?.mode(1)?);
        let threads = Lay::concat(&[thr_v, rest.mode(0)?])?; // (ThrV,(ThrX,ThrY))
        let values = Lay::concat(&[frg_v, rest.mode(1)?])?; // (FrgV,(RestX,RestY))
        Ok(Lay::concat(&[threads, values])?)
    }

    /// The coordinates `(ThrV, AtomM, AtomN)` of `thread`.
    ///
    /// # Errors
    /// [`Error::Arithmetic`], [`Error::NotStatic`].
    pub fn thread_coordinates(&self, thread: &Expr) -> Result<[Expr; 3], Error> {
        let lanes = static_size("TiledMma", &self.atom.threads)?;
        let atom = thread.div(lanes)?;
        let mut coordinates = [thread.rem(lanes)?, Expr::from(0), Expr::from(0)];
        for (mode, coordinate) in coordinates.iter_mut().skip(1).enumerate() {
            // The arrangement is a bijection, so each leaf's digit is (atom / stride) % extent.
            let leaves = self.atoms.mode(mode)?;
            let mut weight = 1;
            for leaf in 0..leaves.leaf_count() {
                let (shape, stride) = leaves.flat_leaf(leaf);
                let (Some(shape), Stride::Int(stride)) = (shape.get(), stride) else {
                    return Err(Error::NotStatic { what: "TiledMma", layout: self.atoms.to_string() });
                };
                if let (true, Some(stride)) = (shape > 1, stride.get()) {
                    let digit = atom.div(stride)?.rem(shape)?;
                    *coordinate = &*coordinate + &(&digit * weight);
                    weight *= shape;
                }
            }
        }
        Ok(coordinates)
    }

    /// The thread's part of a coordinate for an operand's `(ThrV,(ThrX,ThrY))` mode.
    pub(crate) fn thread_slice(&self, operand: Operand, coordinates: &[Expr; 3]) -> Slice<Expr> {
        let along =
            |mode: usize| Slice::At(if mode == 2 { Expr::from(0) } else { coordinates[1 + mode].clone() });
        let [x, y] = operand.modes();
        Slice::tuple([Slice::At(coordinates[0].clone()), Slice::tuple([along(x), along(y)])])
    }

    /// What `thread` holds of an operand: `(FrgV,RestX,RestY,...)`; modes past the second are kept
    /// (CuTe's `partition_A`, `partition_B`, `partition_C`).
    ///
    /// # Errors
    /// Those of [`TiledMma::thrfrg`].
    pub fn partition<E: Engine<Index = Expr>>(
        &self,
        operand: Operand,
        tensor: &Tensor<E>,
        thread: &Expr,
    ) -> Result<Tensor<E>, Error> {
        let (matrix, rest) = split_matrix(tensor.layout())?;
        let thrfrg = self.thrfrg(operand, &matrix)?; // ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY)))
        let mine = Slice::tuple([self.thread_slice(operand, &self.thread_coordinates(thread)?), Slice::All]);
        let values = Tensor::new(tensor.engine().clone(), thrfrg).slice(&mine)?; // ((FrgV,(RestX,RestY)))
        let values = Tensor::new(values.engine().clone(), values.layout().mode(0)?); // (FrgV,(RestX,RestY))
        let values = engine::unpack_rest(&values)?; // (FrgV,RestX,RestY)
        append(&values, &rest)
    }
}

/// A layout's first two modes, and the others.
pub(crate) fn split_matrix(layout: &Lay) -> Result<(Lay, Vec<Lay>), Error> {
    let modes = (0..layout.rank()).map(|i| layout.mode(i)).collect::<Result<Vec<_>, _>>()?;
    let (matrix, rest) = modes.split_at(modes.len().min(2));
    Ok((Lay::concat(matrix)?, rest.to_vec()))
}

/// The tensor with more modes after its own.
pub(crate) fn append<E: Engine>(tensor: &Tensor<E>, rest: &[Lay]) -> Result<Tensor<E>, Error> {
    let layout = tensor.layout();
    let mut modes = (0..layout.rank()).map(|i| layout.mode(i)).collect::<Result<Vec<_>, _>>()?;
    modes.extend_from_slice(rest);
    Ok(Tensor::new(tensor.engine().clone(), Lay::concat(&modes)?))
}
