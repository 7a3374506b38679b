//! Decodes an instruction: sends it to the family of its opcode, and stores what messages and checks need to know of it.

use std::sync::Arc;

use girih_ptx::{self as ptx, Inst as Tree, Modifier, Opcode, Operand, Type, Word};

use super::words::Words;
use super::{Decoder, defined, provenance};
use crate::lanes::{File, Reg};
use crate::op::{Flow, Guard, Inst, Op, Source};
use crate::{Error, Origin};

impl<'a> Decoder<'a> {
    pub(super) fn inst(&mut self, inst: &'a Tree) -> Result<(), Error> {
        self.place.line = inst.span.line;
        if let Some(ptx::Site { file, line, column }) = self.notes.site(inst.span.line) {
            let origin = Origin { file: file.clone(), line: *line, column: *column, inlined: None };
            self.place.origin = Some(Arc::new(origin));
        }
        self.place.instruction = brief(&inst.to_string()).into();
        self.guard = match &inst.guard {
            None => Guard::Always,
            Some(guard) => {
                let reg = self.register(&guard.reg, File::Pred)?;
                if guard.negated { Guard::Unless(reg.slot) } else { Guard::If(reg.slot) }
            }
        };
        self.flow = defined::flow(inst);
        self.step = provenance::step(inst.opcode, &inst.modifiers);
        self.takes_special = matches!(inst.opcode, Opcode::Mov | Opcode::Cvt);
        let located = self.space_of_variable(inst).map(|space| {
            let mut located = inst.clone();
            located.modifiers.push(space.into());
            located
        });
        let modifiers = ptx::forms::ordered(located.as_ref().unwrap_or(inst));
        let mut words = Words::new(&modifiers);
        self.dispatch(inst, &mut words)?;
        if let Some(rest) = words.rest() {
            return Err(self.unsupported(&format!("modifier `.{rest}`")));
        }
        self.flush();
        Ok(())
    }

    /// The state space of the variable that an address without a state space names: it is what is meant.
    fn space_of_variable(&self, inst: &Tree) -> Option<Word> {
        const SPACES: [Word; 8] = [
            Word::Global,
            Word::Shared,
            Word::SharedCta,
            Word::SharedCluster,
            Word::Const,
            Word::Local,
            Word::Param,
            Word::ParamEntry,
        ];
        let is_space = |modifier: &Modifier| SPACES.iter().any(|&space| *modifier == space.into());
        if inst.modifiers.iter().any(is_space) {
            return None;
        }
        inst.operands.iter().find_map(|operand| match operand {
            Operand::Address(ptx::Address { base: Some(base), .. }) => self.space_of(base),
            _ => None,
        })
    }

    fn dispatch(&mut self, inst: &'a Tree, words: &mut Words<'_>) -> Result<(), Error> {
        use Opcode as O;
        let ops = &inst.operands[..];
        match inst.opcode {
            O::Mbarrier => self.mbarrier(words, ops),
            O::Mapa | O::Getctarank => self.cluster(inst.opcode, words, ops),
            O::Ld
            | O::St
            | O::Cp
            | O::Cvta
            | O::Createpolicy
            | O::Prefetch
            | O::Prefetchu
            | O::Discard
            | O::Applypriority => self.memory(inst.opcode, words, ops),
            O::Tensormap => self.tensormap(words, ops),
            O::Ldmatrix | O::Stmatrix => self.matrices(inst.opcode == O::Ldmatrix, words, ops),
            O::Movmatrix => self.movmatrix(words, ops),
            O::Atom | O::Red => self.atomic(inst.opcode == O::Atom, words, ops),
            O::Call => self.call(words, ops),
            O::Mma => self.mma(words, ops),
            O::Wgmma => self.wgmma(words, ops),
            O::Wmma => self.wmma(words, ops),
            O::Shfl | O::Vote | O::Activemask | O::Redux | O::Match | O::Elect => {
                self.shuffle(inst.opcode, words, ops)
            }
            O::Bra
            | O::Brx
            | O::Exit
            | O::Ret
            | O::Bar
            | O::Barrier
            | O::Membar
            | O::Fence
            | O::Trap
            | O::Brkpt
            | O::Alloca
            | O::Stacksave
            | O::Stackrestore
            | O::Pmevent
            | O::Nanosleep
            | O::Setmaxnreg
            | O::Griddepcontrol => self.control(inst.opcode, words, ops),
            O::Cvt => self.cvt(words, ops),
            O::Set | O::Slct | O::Testp | O::Copysign | O::Isspacep => self.compare(inst.opcode, words, ops),
            O::Addc | O::Subc => self.carry(inst.opcode, false, words, ops),
            O::Madc => self.carry_product(true, words, ops),
            O::Mov | O::Selp | O::Setp => self.select(inst.opcode, words, ops),
            O::And | O::Or | O::Xor | O::Not | O::Cnot | O::Shl | O::Shr => {
                self.logic(inst.opcode, words, ops)
            }
            O::Add
            | O::Sub
            | O::Mul
            | O::Mad
            | O::Fma
            | O::Div
            | O::Rem
            | O::Min
            | O::Max
            | O::Abs
            | O::Neg
            | O::Rcp
            | O::Sqrt
            | O::Rsqrt
            | O::Ex2
            | O::Lg2
            | O::Sin
            | O::Cos
            | O::Tanh => self.arithmetic(inst.opcode, words, ops),
            O::Vadd2
            | O::Vadd4
            | O::Vsub2
            | O::Vsub4
            | O::Vavrg2
            | O::Vavrg4
            | O::Vabsdiff2
            | O::Vabsdiff4
            | O::Vmin2
            | O::Vmin4
            | O::Vmax2
            | O::Vmax4
            | O::Vset2
            | O::Vset4 => self.video(inst.opcode, words, ops),
            O::Vadd | O::Vsub | O::Vabsdiff | O::Vmin | O::Vmax | O::Vshl | O::Vshr | O::Vset => {
                self.whole_video(inst.opcode, words, ops)
            }
            other => self.bits(other, words, ops),
        }
    }

    fn arithmetic(&mut self, opcode: Opcode, words: &mut Words<'_>, ops: &[Operand]) -> Result<(), Error> {
        match words.last_type() {
            Some(Type::F32 | Type::F64 | Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => {
                self.float(opcode, words, ops)
            }
            Some(_) => self.integer(opcode, words, ops),
            None => Err(self.unsupported("an instruction without a type")),
        }
    }

    /// Appends an operation of the instruction that is being decoded.
    pub(super) fn emit(&mut self, op: Op) {
        let source = self.code.sources.len() as u32;
        let guard = std::mem::replace(&mut self.guard, Guard::Same);
        self.code.insts.push(Inst { op, source, guard, careful: false, stretch: 0 });
    }

    /// Ends the instruction that is being decoded: stores what messages and checks need to know of it.
    pub(super) fn flush(&mut self) {
        let number = self.code.sources.len() as u32;
        let mut ops = self.code.insts.iter().rev().take_while(|inst| inst.source == number);
        let all = self.reads.len();
        let exchanged = |a: Reg| usize::from(self.reads.first() == Some(&a));
        let but = |base: Option<Reg>| all - usize::from(base.is_some() && self.reads.last().copied() == base);
        let passes = match self.code.insts.last().map(|inst| &inst.op) {
            // The value that is exchanged may be undefined; the operands that select the lanes to read from may not.
            Some(Op::Shuffle(shuffle)) => exchanged(shuffle.a),
            Some(&(Op::Vote { a, .. } | Op::Redux { a, .. } | Op::Match { a, .. })) => exchanged(a),
            Some(Op::Mma(_) | Op::QuadMma(_) | Op::WmmaMma(_) | Op::Movmatrix(..)) => all,
            Some(Op::Store(store)) if store.strong.is_none() => but(store.address.base),
            Some(Op::Stmatrix(store)) => but(store.address.base),
            _ if ops.all(|inst| matches!(inst.op, Op::Lanes(..))) => all,
            _ => 0,
        };
        self.steps.push((std::mem::take(&mut self.step), std::mem::take(&mut self.mentioned)));
        self.code.sources.push(Source {
            line: self.place.line,
            text: self.place.instruction.clone(),
            origin: self.place.origin.clone(),
            reads: std::mem::take(&mut self.reads),
            writes: std::mem::take(&mut self.writes),
            passes,
            flow: std::mem::replace(&mut self.flow, Flow::Any),
            guards: false,
            updated: false,
            updates: Vec::new(),
        });
        self.guard = Guard::Always;
    }
}

/// The text of an instruction for messages. Of a list of a hundred registers only both ends are shown.
fn brief(text: &str) -> String {
    const ENDS: (usize, usize) = (90, 40);
    let count = text.chars().count();
    if count <= ENDS.0 + ENDS.1 + 20 {
        return text.into();
    }
    let (head, tail) = (text.chars().take(ENDS.0), text.chars().skip(count - ENDS.1));
    head.chain(" ... ".chars()).chain(tail).collect()
}
