//! Division of a tile's elements among threads and values, factor by factor of the extents of the tile's leaves.

use girih_layout::{Int, Lay};

use crate::Error;
use crate::sizes::ONE;

/// The elements of a tile that are not yet dealt out.
pub(super) struct Deal {
    extents: Vec<i64>,
    /// For each leaf, the factor of its extent that has been dealt out.
    dealt: Vec<i64>,
}

/// A factor of the extent of a leaf, and the distance of its positions in the leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) leaf: usize,
    pub(super) extent: i64,
    pub(super) step: i64,
}

/// The pieces that threads or values own, as the leaves of one mode.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl Pieces {
    pub(super) fn size(&self) -> i64 {
        self.0.iter().map(|piece| piece.extent).product()
    }

    fn push(&mut self, piece: Piece) {
        if piece.extent > 1 {
            self.0.push(piece);
        }
    }

    /// The pieces of the first `most` of them, if all pieces are powers of two.
    pub(super) fn first(&self, most: i64) -> Pieces {
        let mut first = Pieces::default();
        for piece in &self.0 {
            first.push(Piece { extent: piece.extent.min(most / first.size()), ..*piece });
        }
        first
    }

    /// The mode, where `strides` are those of the tile's leaves.
    pub(super) fn mode(&self, strides: &[i64]) -> Result<Lay, Error> {
        let leaf = |piece: &Piece| -> Result<Lay, Error> {
            let stride = Int::fixed(strides[piece.leaf] * piece.step);
            Ok(Lay::leaf(Int::fixed(piece.extent), stride.into())?)
        };
        match &self.0[..] {
            [] => Ok(ONE),
            [one] => leaf(one),
            many => Ok(Lay::concat(&many.iter().map(leaf).collect::<Result<Vec<_>, _>>()?)?),
        }
    }
}

impl Deal {
    pub(super) fn new(extents: &[i64]) -> Deal {
        Deal { extents: extents.to_vec(), dealt: vec![1; extents.len()] }
    }

    /// The rest of a leaf.
    pub(super) fn left(&self, leaf: usize) -> i64 {
        self.extents[leaf] / self.dealt[leaf]
    }

    /// The first leaf of which something is left.
    pub(super) fn first_left(&self) -> Option<usize> {
        (0..self.extents.len()).find(|&leaf| self.left(leaf) > 1)
    }

    /// The largest power of two up to `most` that divides what is left of a leaf.
    pub(super) fn power(&self, leaf: usize, most: i64) -> i64 {
        let left = self.left(leaf);
        let mut power = left & left.wrapping_neg();
        while power > most.max(1) {
            power /= 2;
        }
        power
    }

    /// Deals out a factor of what is left of a leaf.
    pub(super) fn take(&mut self, to: &mut Pieces, leaf: usize, extent: i64) {
        to.push(Piece { leaf, extent, step: self.dealt[leaf] });
        self.dealt[leaf] *= extent;
    }

    /// Deals out the first leaves until there are whole vectors of `vector` elements, if the tile has any. A leaf whose extent has too
    /// few factors of two comes whole, so that vectors may reach beyond this leaf.
    pub(super) fn vectors(&mut self, vector: i64) -> Option<Pieces> {
        let mut pieces = Pieces::default();
        for leaf in 0..self.extents.len() {
            let missing = vector / num_integer::gcd(vector, pieces.size());
            let power = self.power(leaf, missing);
            let extent = if power == missing { power } else { self.left(leaf) };
            self.take(&mut pieces, leaf, extent);
        }
        (pieces.size() % vector == 0).then_some(pieces)
    }

    /// Deals a power of two of a leaf out to threads, of which there may be up to `most`.
    pub(super) fn spread(&mut self, threads: &mut Pieces, leaf: usize, most: i64) {
        let power = self.power(leaf, most / threads.size());
        self.take(threads, leaf, power);
    }

    /// Deals the leaves in order out to threads, until there are `most`.
    pub(super) fn spread_all(&mut self, threads: &mut Pieces, most: i64) {
        (0..self.extents.len()).for_each(|leaf| self.spread(threads, leaf, most));
    }

    /// Deals out all that is left.
    pub(super) fn rest(&mut self, values: &mut Pieces) {
        for leaf in 0..self.extents.len() {
            let left = self.left(leaf);
            self.take(values, leaf, left);
        }
    }
}
