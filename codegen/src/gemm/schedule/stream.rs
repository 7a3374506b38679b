//! Stream-K: persistent blocks that compute work units, each a range of K of a tile.

use std::ops::Range;

use girih_ptx::{Opcode, Operand as Ptx, Special, Type};
use girih_tensor::{DType, Space};

use super::pieces::{BACKWARDS, FLAGS, HALF, LAST, LEFT, MOST, WORDS};
use super::sums::{Team, Vectors, Workspace};
use super::{Place, Share, Tile};
use crate::builder::{Builder, Cond, Reg, Width};
use crate::gemm::Arguments;
use crate::gemm::mainloop::Sums;
use crate::params::Params;
use crate::{Error, Expr, Scalar};

/// The bytes of a piece.
const PIECE: i64 = 4 * WORDS as i64;
/// The most pieces, and the most arrays of accumulators.
const MAX_PIECES: i64 = 1 << FLAGS;

/// The pieces of all blocks in memory ([`Pieces::table`](super::Pieces::table)).
pub(in crate::gemm) struct Stream {
    pieces: Expr,
}

/// A block's piece of a tile.
pub(super) struct Piece {
    /// The tiles along K.
    k: Range<Expr>,
    /// Whether the accumulators are left for another block.
    left: Cond,
    /// The number of the array in which they are left, or of the tile's first array.
    array: Expr,
    /// How many of the tile's arrays are before that one, or how many are to be added.
    others: Expr,
}

impl Stream {
    /// Declares the parameter.
    pub(in crate::gemm) fn new(params: &mut Params<Arguments>, b: &mut Builder) -> Stream {
        Stream { pieces: params.pointer(b, "pieces", PIECE) }
    }

    /// Runs `body` for each of the block's pieces.
    pub(super) fn for_each(
        &self,
        b: &mut Builder,
        extents: [i64; 2],
        body: impl FnOnce(&mut Builder, Tile) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let [block, blocks] = [Special::CtaidX, Special::NctaidX].map(|special| b.special(special));
        let number = b.reg(Type::U32);
        let first = b.operand(&block, Width::W32)?;
        b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(&number), first]);
        let fetch = |b: &mut Builder, to: &[Reg], cond: &Cond| -> Result<(), Error> {
            let at = &self.pieces + &(&b.var(&number, 0, MAX_PIECES, 1) * PIECE);
            b.load(Space::Gmem, to, &at, cond)
        };
        // The next work unit's entry is prefetched, so that nothing waits for it.
        let next = b.regs(Type::U32, WORDS);
        fetch(b, &next, &Cond::Always)?;
        let any = Cond::less(&Expr::from(0), &b.var(&next[1], 0, i64::from(i32::MAX), 1));
        b.if_(&any, |b| {
            b.repeat_until(|b| {
                let own = b.regs(Type::U32, WORDS);
                for (to, from) in own.iter().zip(&next) {
                    b.inst(Opcode::Mov, &[Type::U32.into()], vec![Ptx::from(to), Ptx::from(from)]);
                }
                let words: Vec<Expr> = own.iter().map(|own| b.var(own, 0, i64::from(i32::MAX), 1)).collect();
                let flags = words[2].div(MAX_PIECES)?;
                let last = flag(&flags, LAST)?;
                let by = b.operand(&blocks, Width::W32)?;
                b.inst(Opcode::Add, &[Type::U32.into()], vec![Ptx::from(&number), Ptx::from(&number), by]);
                fetch(b, &next, &Cond::less(&last, &Expr::from(1)))?;
                let tile = tile(b, &words, extents, &flags)?;
                body(b, tile)?;
                b.cond(&Cond::less(&Expr::from(0), &last))
            })
        })
    }
}

/// The tile of which these words are a piece.
fn tile(b: &mut Builder, words: &[Expr], extents: [i64; 2], flags: &Expr) -> Result<Tile, Error> {
    let halves = |word: &Expr| Ok::<_, Error>([word.rem(1 << HALF)?, word.div(1 << HALF)?]);
    let ([row, column], [first, count]) = (halves(&words[0])?, halves(&words[1])?);
    let [batch, others] = halves(&words[3])?;
    // A piece has a tile along K at least.
    let count = b.value(&count, Width::W32)?;
    let count = b.var(&count, 1, i64::from(MOST[1]), 1);
    let (array, left) = (words[2].rem(MAX_PIECES)?, Cond::less(&Expr::from(0), &flag(flags, LEFT)?));
    let piece = Piece { k: first.clone()..&first + &count, left, array, others };
    let place = Place { row, column, extents, batch, span: None };
    Ok(Tile { place, backwards: flag(flags, BACKWARDS)?, share: Share::Piece(piece) })
}

/// 1 if a flag is set, else 0.
fn flag(flags: &Expr, flag: u32) -> Result<Expr, Error> {
    flags.div(i64::from(flag))?.rem(2)
}

impl Piece {
    /// The tiles along K.
    pub(super) fn k_tiles(&self) -> Range<Expr> {
        self.k.clone()
    }

    /// Leaves the accumulators in the workspace, or adds those that others have left there, in one order, and runs `store`.
    pub(super) fn store_sums(
        &self,
        b: &mut Builder,
        workspace: &Workspace,
        team: &Team<'_>,
        sums: &Sums,
        store: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let vectors = Vectors::of(sums)?;
        b.if_else(
            &self.left,
            |b| {
                vectors.leave(b, sums, &workspace.array(&vectors, team, &self.array)?)?;
                workspace.counter(b, team, &(&self.array - &self.others))?.arrive(b)
            },
            |b| {
                b.if_(&Cond::less(&Expr::from(0), &self.others), |b| {
                    let counter = workspace.counter(b, team, &self.array)?;
                    counter.wait_at_least(b, &Scalar::index(&self.others, DType::U32))?;
                    // For the next launch.
                    counter.reset(b)?;
                    b.for_range(&self.others, |b, i| {
                        let array = b.bounded(&(&self.array + i), MAX_PIECES)?;
                        vectors.add_up(b, &[workspace.array(&vectors, team, &array)?], sums, true)
                    })
                })?;
                store(b)
            },
        )
    }
}
