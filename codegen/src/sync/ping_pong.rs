//! Ping-pong of warpgroups by named barriers.

use crate::builder::{BARRIERS, Builder, Cond, WARPGROUP};
use crate::error::SyncError;
use crate::{Error, Expr};

/// The ping-pong of a block's warpgroups on the tensor cores: one warpgroup issues its MMAs while the others compute, and then signals the next one
/// (FlashAttention-3's `warp_scheduler_barrier_sync` and `warp_scheduler_barrier_arrive`).
///
/// Warpgroup 0 is the first, and each signals the warpgroup before it: 0, n-1, ..., 1, 0, ... Each warpgroup has a named barrier, at which the
/// threads of two neighbours meet. As wgmma instructions are executed in the order in which they are issued, a warpgroup signals once it has issued
/// its own. Before the first iteration, one warpgroup signals warpgroup 0 ([`PingPong::opens`]); after the last one, warpgroup 0
/// waits for the signal that is left ([`PingPong::closes`]). In between, all warpgroups wait and signal equally often.
///
/// # Examples
/// ```
/// use girih_codegen::sync::PingPong;
/// use girih_codegen::{Builder, Expr};
/// use girih_ptx::Special;
///
/// let mut b = Builder::new("k", 90, 256);
/// let thread = b.special(Special::TidX);
/// let warpgroup = b.canonical_warp_group_idx(&thread)?;
/// let ping_pong = PingPong::new(&mut b, &warpgroup, 2, 1)?;
/// b.if_(&ping_pong.opens(), |b| ping_pong.signal(b))?;
/// b.for_range(&Expr::from(8), |b, _| {
///     ping_pong.wait(b)?;
///     // ... issue MMAs ...
///     ping_pong.signal(b)
///     // ... compute ...
/// })?;
/// b.if_(&ping_pong.closes(), |b| ping_pong.wait(b))?;
/// assert!(b.finish()?.module().to_string().contains("bar.arrive"));
/// # Ok::<(), girih_codegen::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PingPong {
    warpgroup: Expr,
    own: Expr,
    next: Expr,
}

impl PingPong {
    /// The ping-pong of `warpgroups` warpgroups as the warpgroup with the number `warpgroup` (0 to `warpgroups` - 1) sees it, by the named barriers
    /// from number `first` on.
    ///
    /// # Errors
    /// [`SyncError::PingPong`] for fewer than 2 warpgroups, and for barriers that are not in 1 to 15.
    #[track_caller]
    pub fn new(b: &mut Builder, warpgroup: &Expr, warpgroups: i64, first: i64) -> Result<PingPong, Error> {
        if warpgroups < 2 || first < 1 || first > BARRIERS + 1 - warpgroups {
            return Err(SyncError::PingPong { warpgroups, first }.into());
        }
        let before = (warpgroup + (warpgroups - 1)).rem(warpgroups)?;
        let before = b.bounded(&before, warpgroups - 1)?;
        Ok(PingPong { warpgroup: warpgroup.clone(), own: warpgroup + first, next: &before + first })
    }

    /// Whether this is the warpgroup that signals warpgroup 0 before the first iteration.
    pub fn opens(&self) -> Cond {
        Cond::equal(&self.warpgroup, &Expr::from(1))
    }

    /// Whether this is warpgroup 0, which waits for the last signal after the last iteration.
    pub fn closes(&self) -> Cond {
        Cond::less(&self.warpgroup, &Expr::from(1))
    }

    /// Waits for the signal of the warpgroup before.
    ///
    /// # Errors
    /// As [`Builder::named_barrier_sync`].
    #[track_caller]
    pub fn wait(&self, b: &mut Builder) -> Result<(), Error> {
        b.named_barrier_sync(&self.own, 2 * WARPGROUP)
    }

    /// Signals the next warpgroup.
    ///
    /// # Errors
    /// As [`Builder::named_barrier_arrive`].
    #[track_caller]
    pub fn signal(&self, b: &mut Builder) -> Result<(), Error> {
        b.named_barrier_arrive(&self.next, 2 * WARPGROUP)
    }
}
