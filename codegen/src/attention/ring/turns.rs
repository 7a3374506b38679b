//! The turns of warpgroups on the tensor cores.

use super::WARPGROUP;
use crate::builder::Builder;
use crate::{Error, Expr};

/// A ring of warpgroups, of which one has its turn. A turn ends when its instructions have been issued, not when they have been executed, so that
/// those of the next warpgroup stand behind them: barriers between two neighbours each are all that is needed.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    warpgroups: i64,
}

/// The barriers of a warpgroup: that at which it waits for its turn, that of the next one, and one at which its own threads meet.
pub(super) struct Turn {
    own: Expr,
    next: Expr,
    meeting: Expr,
}

impl Turns {
    pub(super) fn new(warpgroups: i64) -> Turns {
        Turns { warpgroups }
    }

    /// The barriers of warpgroup `number`. Warpgroup 0 has the first turn, and each hands on to the one before it.
    pub(super) fn of(&self, b: &mut Builder, number: &Expr) -> Result<Turn, Error> {
        let before = (number + (self.warpgroups - 1)).rem(self.warpgroups)?;
        let before = b.bounded(&before, self.warpgroups - 1)?;
        Ok(Turn { own: number + 1, next: &before + 1, meeting: number + (self.warpgroups + 1) })
    }

    /// The number of the warpgroup that hands on to warpgroup 0, which does so once before all turns.
    pub(super) fn opener(&self) -> Expr {
        Expr::from(1)
    }
}

impl Turn {
    /// Waits for the turn.
    #[track_caller]
    pub(super) fn wait(&self, b: &mut Builder) -> Result<(), Error> {
        b.named_barrier_sync(&self.own, 2 * WARPGROUP as u32)
    }

    /// Ends the turn.
    #[track_caller]
    pub(super) fn hand_on(&self, b: &mut Builder) -> Result<(), Error> {
        b.named_barrier_arrive(&self.next, 2 * WARPGROUP as u32)
    }

    /// The barrier at which the warpgroup's own threads meet.
    pub(super) fn meeting(&self) -> &Expr {
        &self.meeting
    }

    /// The warpgroup's threads meet.
    #[track_caller]
    pub(super) fn meet(&self, b: &mut Builder) -> Result<(), Error> {
        b.named_barrier_sync(&self.meeting, WARPGROUP as u32)
    }
}
