//! Tells an observer what a warp executes.

use crate::Moment;
use crate::lanes::Reg;

use super::context::Context;
use super::warp::Warp;

/// The state of an observed warp.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The instruction that is being executed and the lanes that execute it, until the observer is told that they have.
    now: Option<(u32, u32)>,
    /// Lanes that wait at an instruction whose begin the observer has been told.
    waiting: u32,
}

impl Warp {
    /// Begins a block: asks the observer whether to watch the warp.
    pub(super) fn start_watch(&mut self, cx: &Context<'_>) {
        let (block, warp) = (cx.block, self.place);
        let observer = cx.machine.options.observer.as_ref();
        self.watch = observer.filter(|observer| observer.chooses(block, warp)).map(|_| Watch::default());
    }

    /// Tells the observer that lanes begin an instruction, unless they begin it again after a wait.
    #[cold]
    pub(super) fn look_on(&mut self, cx: &Context<'_>, source: u32, active: u32) {
        self.looked_on(cx, false);
        let Some(watch) = &mut self.watch else { return };
        let again = active != 0 && watch.waiting & active == active;
        watch.waiting &= !active;
        watch.now = Some((source, active));
        if let (Some(observer), false) = (&cx.machine.options.observer, again) {
            self.moment(cx, (source, active), false, |moment| observer.before(moment));
        }
    }

    /// Tells the observer that the instruction has been executed, or has `failed`.
    pub(super) fn looked_on(&mut self, cx: &Context<'_>, failed: bool) {
        let failed = cx.noted.take() || failed;
        let Some(now) = self.watch.as_mut().and_then(|watch| watch.now.take()) else { return };
        if let Some(observer) = &cx.machine.options.observer {
            self.moment(cx, now, failed, |moment| observer.after(moment));
        }
    }

    /// These lanes have to wait, and will begin the same instruction again.
    pub(super) fn put_off(&mut self, lanes: u32) {
        if let Some(watch) = &mut self.watch {
            watch.waiting |= lanes;
            watch.now = None;
        }
    }

    fn moment(
        &self,
        cx: &Context<'_>,
        (source, active): (u32, u32),
        failed: bool,
        tell: impl FnOnce(&Moment<'_>),
    ) {
        let written = |reg: Reg| self.undefined.as_ref().map(|undefined| !undefined.lanes(reg));
        tell(&Moment {
            block: cx.block,
            warp: self.place,
            code: &cx.machine.kernel.code,
            source,
            active,
            failed,
            regs: &self.regs,
            written: &written,
            shared: cx.block_shared(),
        });
    }
}
