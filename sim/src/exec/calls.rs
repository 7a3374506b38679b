//! Calls of functions that have stack frames, and `alloca`: each lane has a stack in its local memory.

use crate::lanes::{Reg, lanes_of};
use crate::op::{Invoke, Target};
use crate::program::FRAME_ALIGN;
use crate::{Access, Error};

use super::context::Context;
use super::groups::Group;
use super::warp::Warp;

/// A call from which a lane has not returned.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The operation that the lane executes after it has returned.
    next: u32,
    /// The index of the function that was called.
    function: usize,
    /// The values of the function's registers before the call, in the order of [`Function::registers`](crate::program::Function), and whether each
    /// value was defined.
    registers: Vec<(u64, bool)>,
    /// The values of the two stack registers before the call.
    stack: [u64; 2],
    /// The local addresses to which the results are copied.
    results: Vec<u64>,
}

impl Warp {
    /// Some lanes of a group call a function. The others continue at `next`.
    pub(super) fn invoke(
        &mut self,
        cx: &mut Context<'_>,
        (at, next): (usize, u32),
        invoke: &Invoke,
        (active, source): (u32, u32),
    ) -> Result<(), Error> {
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group::ready(next, rest);
        for lane in lanes_of(active) {
            let entry = self.enter(cx, (lane, next), invoke, source)?;
            self.groups.push(Group::ready(entry, 1 << lane));
        }
        if rest == 0 {
            self.groups.remove(at);
        }
        self.regroup();
        Ok(())
    }

    /// A lane calls a function. Returns the operation at which the lane continues.
    fn enter(
        &mut self,
        cx: &mut Context<'_>,
        (lane, next): (usize, u32),
        invoke: &Invoke,
        source: u32,
    ) -> Result<u32, Error> {
        let code = &cx.machine.kernel.code;
        let Some(stack) = code.stack else { return Ok(next) };
        let who = self.who(1 << lane, source);
        let number = self.callee(cx, lane, invoke, source)?;
        let function = &code.functions[number];
        let fits = |formal: &[(u64, u64)], given: &[(_, u64)]| {
            formal.len() == given.len() && formal.iter().zip(given).all(|(formal, given)| formal.1 <= given.1)
        };
        if !fits(&function.params, &invoke.arguments) || !fits(&function.results, &invoke.results) {
            let accepted = format!(
                "that of a function with these arguments and results, which `{}` has not",
                function.name
            );
            return Err(Error::BadValue {
                at: cx.at(who),
                what: "the function's address",
                value: function.address,
                accepted,
            });
        }
        let before = stack.map(|reg| self.regs.get(reg, lane));
        let base = self.grow(cx, stack[1], lane, (function.bytes, FRAME_ALIGN), source)?;
        for (&(to, bytes), (from, _)) in function.params.iter().zip(&invoke.arguments) {
            let from = self.address(from, lane);
            self.copy_local(cx, (lane, source), from, base + to, bytes)?;
        }
        let results = invoke.results.iter().map(|(place, _)| self.address(place, lane)).collect();
        let registers = function.registers.iter().map(|&reg| self.forget(reg, lane)).collect();
        self.regs.set(stack[0], lane, base);
        self.calls.resize_with(32, Vec::new);
        self.calls[lane].push(Frame { next, function: number, registers, stack: before, results });
        Ok(function.entry)
    }

    /// The index of the function that a lane calls.
    fn callee(&self, cx: &Context<'_>, lane: usize, invoke: &Invoke, source: u32) -> Result<usize, Error> {
        let functions = &cx.machine.kernel.code.functions;
        let (reg, among) = match &invoke.target {
            Target::Function(number) => return Ok(*number as usize),
            Target::Register(reg, among) => (*reg, among),
        };
        let value = self.regs.get(reg, lane);
        let found = functions.iter().position(|function| function.address == value);
        let found =
            found.filter(|number| among.as_ref().is_none_or(|among| among.contains(&(*number as u32))));
        found.ok_or_else(|| {
            let listed = functions
                .iter()
                .enumerate()
                .filter(|(number, _)| among.as_ref().is_none_or(|among| among.contains(&(*number as u32))));
            let names: Vec<&str> = listed.map(|(_, function)| &*function.name).collect();
            let accepted = format!("that of one of: {}", names.join(", "));
            let at = cx.at(self.who(1 << lane, source));
            Error::BadValue { at, what: "the function's address", value, accepted }
        })
    }

    /// Some lanes of a group return from their calls. The others continue at `next`.
    pub(super) fn give_back(
        &mut self,
        cx: &mut Context<'_>,
        at: usize,
        next: u32,
        (active, source): (u32, u32),
    ) -> Result<(), Error> {
        let code = &cx.machine.kernel.code;
        let rest = self.groups[at].mask & !active;
        self.groups[at] = Group::ready(next, rest);
        for lane in lanes_of(active) {
            let frame = self.calls.get_mut(lane).and_then(Vec::pop);
            let (Some(frame), Some(stack)) = (frame, code.stack) else { continue };
            let function = &code.functions[frame.function];
            let base = self.regs.get(stack[0], lane);
            for (&(from, bytes), &to) in function.results.iter().zip(&frame.results) {
                self.copy_local(cx, (lane, source), base + from, to, bytes)?;
            }
            for (&reg, &(value, written)) in function.registers.iter().zip(&frame.registers) {
                self.regs.set(reg, lane, value);
                self.set_written(reg, lane, written);
            }
            for (reg, value) in stack.into_iter().zip(frame.stack) {
                self.regs.set(reg, lane, value);
            }
            self.groups.push(Group::ready(frame.next, 1 << lane));
        }
        if rest == 0 {
            self.groups.remove(at);
        }
        self.regroup();
        Ok(())
    }

    /// Allocates uninitialised bytes on a lane's stack. Returns their local address.
    fn grow(
        &mut self,
        cx: &Context<'_>,
        top: Reg,
        lane: usize,
        (bytes, align): (u64, u64),
        source: u32,
    ) -> Result<u64, Error> {
        let limit = u64::from(cx.machine.kernel.local);
        let base = self.regs.get(top, lane).checked_next_multiple_of(align);
        let end = base.and_then(|base| base.checked_add(bytes)).filter(|&end| end <= limit);
        let (Some(base), Some(end)) = (base, end) else {
            let depth = self.calls.get(lane).map_or(0, Vec::len);
            return Err(Error::StackOverflow { at: cx.at(self.who(1 << lane, source)), bytes, depth });
        };
        self.regs.set(top, lane, end);
        if !self.local_written.is_empty() {
            let first = lane * limit as usize;
            self.local_written[first + base as usize..first + end as usize].fill(false);
        }
        Ok(base)
    }

    /// `alloca`.
    pub(super) fn alloca(
        &mut self,
        cx: &Context<'_>,
        (d, bytes, align): (Reg, Reg, u64),
        active: u32,
        source: u32,
    ) -> Result<(), Error> {
        let Some([_, top]) = cx.machine.kernel.code.stack else { return Ok(()) };
        for lane in lanes_of(active) {
            let bytes = self.regs.get(bytes, lane);
            let base = self.grow(cx, top, lane, (bytes, align), source)?;
            self.regs.set(d, lane, base);
        }
        Ok(())
    }

    /// Copies bytes within a lane's local memory, along with whether they have been written.
    fn copy_local(
        &mut self,
        cx: &Context<'_>,
        (lane, source): (usize, u32),
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), Error> {
        let who = self.who(1 << lane, source);
        let from = self.local_at(cx, who, Access::Read, from, bytes as u32)?;
        let to = self.local_at(cx, who, Access::Write, to, bytes as u32)?;
        if !self.local_written.is_empty() {
            self.local_written.copy_within(from.clone(), to.start);
        }
        self.local.copy_within(from, to.start);
        Ok(())
    }

    /// Makes a register undefined in a lane. Returns its value and whether it was defined.
    fn forget(&mut self, reg: Reg, lane: usize) -> (u64, bool) {
        let written = self.undefined_lanes(reg) >> lane & 1 == 0;
        self.set_written(reg, lane, false);
        (self.regs.get(reg, lane), written)
    }

    fn set_written(&mut self, reg: Reg, lane: usize, is: bool) {
        match &mut self.undefined {
            Some(undefined) if is => undefined.define(reg, 1 << lane),
            Some(undefined) => undefined.lose(reg, lane),
            None => {}
        }
    }
}
