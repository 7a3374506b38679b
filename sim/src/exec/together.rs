//! Instructions that need several lanes together: barriers, exchanges, and other instructions of the whole warp.

use crate::Error;
use crate::lanes::{File, Reg, WARP, lanes_of};
use crate::op::{Count, Inst, Op};

use super::context::Context;
use super::groups::{Group, Meeting, Point, Standing};
use super::warp::{State, Stop, Warp};

impl Warp {
    /// Whether all lanes that an instruction needs have come to it.
    pub(super) fn together(
        &self,
        cx: &Context<'_>,
        inst: &Inst,
        active: u32,
        mask: u32,
    ) -> Result<bool, Error> {
        let members = match &inst.op {
            Op::WarpSync(members)
            | Op::Vote { members, .. }
            | Op::Redux { members, .. }
            | Op::Match { members, .. }
            | Op::Elect { members, .. } => Some(*members),
            Op::Shuffle(shuffle) => Some(shuffle.members),
            _ => None,
        };
        let mut needed = match (&inst.op, members) {
            (_, Some(_)) => 0,
            // A barrier waits for the lanes that have not exited, whether it is `.aligned` or not.
            (Op::Barrier { .. } | Op::Gate(_), _) => self.live,
            // Another instruction of the whole warp needs all its lanes, so that it is an error if some have exited.
            _ => self.whole,
        };
        if needed & !self.live != 0 {
            let at = cx.at(self.who(active, inst.source));
            return Err(Error::Divergent { at, active, expected: needed });
        }
        // The usual case, in which all lanes name the whole warp, is quick to decide.
        let all = |reg: Reg| reg.file == File::W32 && self.regs.w32[reg.slot as usize] == [u32::MAX; WARP];
        if active == u32::MAX && members.is_some_and(all) {
            return Ok(true);
        }
        for lane in lanes_of(if members.is_some() { active } else { 0 }) {
            let members = members.map_or(0, |reg| self.regs.get(reg, lane) as u32);
            if members >> lane & 1 == 0 {
                let at = cx.at(self.who(1 << lane, inst.source));
                let accepted = "a mask with the executing lane in it".into();
                return Err(Error::BadValue { at, what: "member mask", value: members.into(), accepted });
            }
            needed |= members & self.live;
        }
        if needed & !active == 0 {
            if let Some(members) = members {
                self.same_members(cx, members, active, inst.source)?;
            }
            return Ok(true);
        }
        if matches!(inst.op, Op::Barrier { aligned: false, .. }) {
            return Ok(false);
        }
        // Lanes of this group for which the guard is false do not come to the instruction any more.
        if needed & mask & !active != 0 {
            let at = cx.at(self.who(active, inst.source));
            return Err(Error::Divergent { at, active, expected: needed });
        }
        Ok(false)
    }

    /// Checks that the lanes that a lane names have the same member mask.
    fn same_members(&self, cx: &Context<'_>, members: Reg, active: u32, source: u32) -> Result<(), Error> {
        let mask = |lane: usize| self.regs.get(members, lane) as u32;
        let first = mask(active.trailing_zeros().min(31) as usize);
        if lanes_of(active).all(|lane| mask(lane) == first) {
            return Ok(());
        }
        for lane in lanes_of(active) {
            let named = mask(lane);
            let Some(other) = lanes_of(named & active).find(|&other| mask(other) != named) else { continue };
            let (at, value) = (cx.at(self.who(1 << other, source)), mask(other).into());
            let accepted = format!("{named} ({named:#x}), as in lane {lane}, which names this one");
            return Err(Error::BadValue { at, what: "member mask", value, accepted });
        }
        Ok(())
    }

    /// The point where lanes at different instructions may converge: a barrier without `.aligned`, or `bar.warp.sync`.
    pub(super) fn point(&self, op: &Op, active: u32) -> Option<Point> {
        let first = active.trailing_zeros().min(31) as usize;
        let same = |reg: Reg| {
            let value = self.regs.get(reg, first);
            lanes_of(active).all(|lane| self.regs.get(reg, lane) == value).then_some(value)
        };
        match *op {
            Op::Barrier { id, threads, arrive, aligned: false, .. } => {
                let threads = match threads {
                    Some(reg) => Some(same(reg)?),
                    None => None,
                };
                Some(Point::Barrier(same(id)?, threads, arrive))
            }
            Op::WarpSync(members) => Some(Point::Lanes(same(members)? as u32)),
            _ => None,
        }
    }

    /// A group comes to a point where its lanes converge with others. If all lanes are there, they continue.
    pub(super) fn meet(
        &mut self,
        cx: &mut Context<'_>,
        point: Point,
        (at, start, pc): (usize, u32, u32),
        (active, mask): (u32, u32),
    ) -> Result<Stop, Error> {
        let needed = match point {
            Point::Barrier(..) => self.live,
            Point::Lanes(members) => members & self.live,
        };
        self.groups[at] =
            Group { pc: start, mask: active, standing: Standing::Meeting(Meeting { point, pc }) };
        if mask != active {
            self.groups.push(Group::ready(pc + 1, mask & !active));
        }
        let here = |group: &Group| matches!(group.standing, Standing::Meeting(met) if met.point == point);
        let come = self.groups.iter().filter(|group| here(group)).fold(0, |come, group| come | group.mask);
        if needed & !come != 0 {
            self.put_off(cx, active, None);
            self.regroup();
            return Ok(Stop::Regroup);
        }
        let insts = &cx.machine.kernel.code.insts;
        let mut all = (0, 0);
        for group in self.groups.iter_mut() {
            let Standing::Meeting(met) = group.standing else { continue };
            if met.point != point {
                continue;
            }
            if let Op::Barrier { vote: Some((count, d, p)), .. } = insts[met.pc as usize].op {
                let set = group.mask & self.regs.pred[p.slot as usize];
                all = (all.0 + set.count_ones(), all.1 + group.mask.count_ones());
                self.votes.push((count, d, group.mask));
            }
            *group = Group::ready(met.pc + 1, group.mask);
        }
        self.regroup();
        let inst = &insts[pc as usize];
        match inst.op {
            Op::Barrier { id, threads, arrive, .. } => {
                let waits = self.barrier(cx, (id, threads), arrive, all, active, inst.source)?;
                Ok(if waits { Stop::Pause } else { Stop::Regroup })
            }
            _ => {
                if let (Some(shadow), Point::Lanes(members)) = (&mut cx.shadow, point) {
                    shadow.sync_lanes(self.index as usize, needed, members & self.whole & !self.live);
                }
                Ok(Stop::Regroup)
            }
        }
    }

    /// Executes an instruction of the warp with all its lanes; returns whether the warp waits now.
    pub(super) fn collective(
        &mut self,
        cx: &mut Context<'_>,
        inst: &Inst,
        active: u32,
    ) -> Result<bool, Error> {
        let source = inst.source;
        if inst.op.spreads() && self.undefined.is_some() {
            self.spread(&inst.op, &cx.machine.kernel.code.sources[source as usize], active);
        }
        match &inst.op {
            Op::Ldmatrix(ldmatrix) => self.ldmatrix(cx, ldmatrix, source)?,
            Op::Stmatrix(stmatrix) => self.stmatrix(cx, stmatrix, source)?,
            Op::Movmatrix(d, a) => self.movmatrix(*d, *a),
            Op::MapCopy(copy) => self.copy_map(cx, copy, active, source)?,
            Op::Mma(mma) => {
                cx.report.mma += 1;
                match &mma.sparse {
                    Some(sparse) => self.sparse_mma(cx, mma, sparse, source)?,
                    None => super::mma::mma(&mut self.regs, mma),
                }
            }
            Op::Wgmma(wgmma) => self.wgmma(cx, wgmma, active, source)?,
            Op::WgmmaFence => self.wgmma.fence(),
            Op::WgmmaCommit => self.wgmma.commit(),
            Op::Shuffle(shuffle) => self.shuffle(shuffle, active, source),
            Op::Vote { vote, d, a, members } => self.vote(*vote, *d, *a, *members, active),
            Op::Redux { combine, d, a, members } => self.redux(*combine, *d, *a, *members, active),
            Op::Match { all, d, p, a, members } => self.matching(*all, (*d, *p), *a, *members, active),
            Op::Elect { d, p, members } => self.elect(*d, *p, *members, active),
            Op::WarpSync(members) => {
                // Lanes may have different member masks: disjoint sets of lanes, each of which synchronises by itself.
                let mut rest = active;
                while let (Some(shadow), Some(lane)) = (&mut cx.shadow, lanes_of(rest).next()) {
                    let members = self.regs.get(*members, lane) as u32;
                    let gone = members & self.whole & !self.live;
                    shadow.sync_lanes(self.index as usize, members & self.live, gone);
                    rest &= !members;
                }
            }
            Op::Barrier { id, threads, arrive, vote, .. } => {
                let set = vote.map(|(_, _, p)| active & self.regs.pred[p.slot as usize]);
                let votes = set.map_or((0, 0), |set| (set.count_ones(), active.count_ones()));
                self.votes.extend(vote.map(|(count, d, _)| (count, d, active)));
                return self.barrier(cx, (*id, *threads), *arrive, votes, active, source);
            }
            Op::QuadMma(mma) => {
                cx.report.mma += 1;
                super::quad::multiply(&mut self.regs, mma);
            }
            Op::Wmma(tile) => self.wmma(cx, tile, source)?,
            Op::WmmaMma(mma) => {
                cx.report.mma += 1;
                super::wmma::multiply(&mut self.regs, mma);
            }
            _ => {}
        }
        Ok(false)
    }

    /// The result of a `bar.red` that has let this warp go: of `votes.1` threads, `votes.0` have the predicate set.
    pub(super) fn settle_vote(&mut self, votes: (u32, u32)) {
        for (count, d, active) in std::mem::take(&mut self.votes) {
            let value = match count {
                Count::Number => votes.0.into(),
                Count::All => u64::from(votes.0 == votes.1),
                Count::Any => u64::from(votes.0 > 0),
            };
            lanes_of(active).for_each(|lane| self.regs.set(d, lane, value));
        }
    }

    fn barrier(
        &mut self,
        cx: &mut Context<'_>,
        (id, threads): (Reg, Option<Reg>),
        arrive: bool,
        votes: (u32, u32),
        active: u32,
        source: u32,
    ) -> Result<bool, Error> {
        let who = self.who(active, source);
        let bad = |cx: &Context<'_>, what, value: u64, accepted: String| {
            Err(Error::BadValue { at: cx.at(who), what, value, accepted })
        };
        for reg in [Some(id), threads].into_iter().flatten() {
            let first = self.regs.get(reg, who.lane as usize);
            if let Some(other) =
                lanes_of(active).map(|lane| self.regs.get(reg, lane)).find(|&value| value != first)
            {
                return bad(
                    cx,
                    "an operand of the barrier",
                    other,
                    format!("{first}, as in the other lanes"),
                );
            }
        }
        let id = self.regs.get(id, who.lane as usize);
        if id > 15 {
            return bad(cx, "barrier number", id, "0 to 15".into());
        }
        let expected = threads.map_or(0, |reg| self.regs.get(reg, who.lane as usize));
        let most = u64::from(cx.machine.threads.next_multiple_of(WARP as u32));
        if threads.is_some() && (expected == 0 || !expected.is_multiple_of(WARP as u64) || expected > most) {
            let accepted = format!("a multiple of 32, at most the block's {most} threads");
            return bad(cx, "thread count of the barrier", expected, accepted);
        }
        cx.report.barriers += 1;
        self.state = if arrive { State::Ready } else { State::Waiting { barrier: id as u32, source } };
        if let Err(before) = cx.arrive(self.place, id as usize, (expected as u32, votes), !arrive) {
            let accepted = match before {
                0 => "absent, as for the warps that arrived before".into(),
                n => format!("{n}, as for the warps that arrived before"),
            };
            return bad(cx, "thread count of the barrier", expected, accepted);
        }
        if !arrive && cx.blocks[cx.rank].released >> self.place & 1 == 0 {
            cx.report.waits += 1;
        }
        Ok(!arrive)
    }
}
