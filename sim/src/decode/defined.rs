//! Finds the instructions that may read an undefined register, and how undefined bits pass through each
//! instruction.

use girih_ptx::{Inst as Tree, Modifier, Opcode, Operand, Type, Word};

use crate::lanes::{File, Reg};
use crate::op::{Flow, Guard, Inst, Op, Source};
use crate::program::Code;

/// How undefined bits pass through an instruction that computes registers from registers.
pub(super) fn flow(inst: &Tree) -> Flow {
    let float = |ty: &Type| {
        matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64 | Type::Tf32)
    };
    let floats = inst.modifiers.iter().any(|m| matches!(m, Modifier::Type(ty) if float(ty)));
    let saturates = inst.modifiers.contains(&Modifier::Word(Word::Sat));
    let has = |ty: Type| inst.modifiers.contains(&Modifier::Type(ty));
    if let Some(flow) = pairs(inst) {
        return flow;
    }
    match inst.opcode {
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::Fma
        | Opcode::Min
        | Opcode::Max
        | Opcode::Neg
        | Opcode::Abs
            if has(Type::F16x2) || has(Type::Bf16x2) =>
        {
            Flow::Halves { joined: false, from: 16, to: 16 }
        }
        Opcode::Mov | Opcode::Or => Flow::Bits,
        Opcode::And | Opcode::Not => Flow::Masked,
        Opcode::Cvt if !floats && !saturates => Flow::Bits,
        Opcode::Xor => Flow::Either,
        Opcode::Selp => Flow::Chosen([None, Some(File::Pred)]),
        Opcode::Shl | Opcode::Shr => Flow::Chosen([Some(File::W32), None]),
        Opcode::Prmt => Flow::Chosen([None, Some(File::W32)]),
        // Only the inserted bits are computed, the others are copied. With a position or a length in a register this is not known.
        Opcode::Bfi if inst.operands.iter().rev().take(2).all(|at| matches!(at, Operand::Int(_))) => {
            Flow::Bits
        }
        Opcode::Bfe => Flow::Chosen([Some(File::W32), Some(File::W32)]),
        Opcode::Mul if !floats => Flow::Whole,
        _ => Flow::Any,
    }
}

/// How undefined bits pass through a conversion to a pair: from two sources, or from a pair.
fn pairs(inst: &Tree) -> Option<Flow> {
    if inst.opcode != Opcode::Cvt {
        return None;
    }
    let bits = |ty: Type| match ty {
        Type::F16x2 | Type::Bf16x2 => Some(16),
        Type::E4m3x2 | Type::E5m2x2 => Some(8),
        _ => None,
    };
    let types =
        inst.modifiers.iter().filter_map(|m| if let Modifier::Type(ty) = m { Some(*ty) } else { None });
    match types.collect::<Vec<_>>()[..] {
        [to, Type::F32] => Some(Flow::Halves { joined: true, from: 32, to: bits(to)? }),
        [to, from] => Some(Flow::Halves { joined: false, from: bits(from)?, to: bits(to)? }),
        _ => None,
    }
}

/// Marks the instructions whose registers need to be checked at run time, and stretches of instructions that need not
/// and that only compute.
pub(super) fn mark(code: &mut Code) {
    mark_careful(code);
    let mut stretch = 0;
    // For the instruction whose first operation has not been reached yet: the number of its operations so far, and
    // whether all of them compute.
    let (mut operations, mut computes) = (0, true);
    for inst in code.insts.iter_mut().rev() {
        operations += 1;
        computes &= matches!(inst.op, Op::Lanes(..));
        if inst.guard != Guard::Same {
            stretch = if computes && !inst.careful { stretch + operations } else { 0 };
            inst.stretch = stretch;
            (operations, computes) = (0, true);
        }
    }
}

/// Marks the instructions with a register that some path reads before it writes it. All other instructions need no
/// check as long as no undefined value comes from memory or another lane.
fn mark_careful(code: &mut Code) {
    if !code.functions.is_empty() {
        // Paths go through functions, which are not followed here: every instruction is checked.
        code.insts.iter_mut().for_each(|inst| inst.careful = true);
        let files = [(File::Pred, code.pred), (File::W32, code.w32), (File::W64, code.w64)];
        let all = |(file, len): (File, u32)| (0..len).map(move |slot| Reg { file, slot });
        code.open = files.into_iter().flat_map(all).collect();
        return;
    }
    let numbers = Numbers { pred: code.pred as usize, w32: code.w32 as usize };
    let count = numbers.pred + numbers.w32 + code.w64 as usize;
    let blocks = blocks(&code.insts);
    let mut graph = Graph { code, numbers, count, blocks };
    let entries = graph.entries();
    let open = graph.open(&entries);
    let touches = |inst: &Inst, source: &Source| {
        let guard = guard(inst.guard);
        let named = source.reads.iter().chain(&source.writes).chain(&guard);
        named.chain(&accumulated(&inst.op)).any(|reg| open.has(numbers.of(*reg)))
    };
    let sources = &graph.code.sources;
    let careful: Vec<bool> =
        graph.code.insts.iter().map(|inst| touches(inst, &sources[inst.source as usize])).collect();
    // The check of an instruction takes place at its first operation.
    let mut first = 0;
    for (i, careful) in careful.into_iter().enumerate() {
        if graph.code.insts[i].guard != Guard::Same {
            first = i;
        }
        graph.code.insts[first].careful |= careful;
    }
    let open = |file: File, len: u32| {
        (0..len).map(|slot| Reg { file, slot }).filter(|reg| open.has(numbers.of(*reg))).collect::<Vec<_>>()
    };
    let files = [(File::Pred, code.pred), (File::W32, code.w32), (File::W64, code.w64)];
    code.open = files.into_iter().flat_map(|(file, len)| open(file, len)).collect();
}

fn guard(guard: Guard) -> Option<Reg> {
    match guard {
        Guard::If(slot) | Guard::Unless(slot) => Some(Reg { file: File::Pred, slot }),
        Guard::Always | Guard::Same => None,
    }
}

/// The registers that a `wgmma` may read, and those that it writes.
fn accumulated(op: &Op) -> Vec<Reg> {
    let Op::Wgmma(wgmma) = op else { return Vec::new() };
    let (a, d) = wgmma.registers();
    let metadata = wgmma.sparse.iter().map(|sparse| &sparse.metadata);
    a.iter().chain(d).chain(metadata).map(|&slot| Reg { file: File::W32, slot }).collect()
}

/// Numbers the registers of all files in one sequence.
#[derive(Clone, Copy)]
struct Numbers {
    pred: usize,
    w32: usize,
}

impl Numbers {
    fn of(self, reg: Reg) -> usize {
        reg.slot as usize
            + match reg.file {
                File::Pred => 0,
                File::W32 => self.pred,
                File::W64 => self.pred + self.w32,
            }
    }
}

/// A set of registers.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn new(count: usize, full: bool) -> Set {
        Set(vec![if full { u64::MAX } else { 0 }; count.div_ceil(64)])
    }

    fn add(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Keeps only what another set has too; returns whether the set has become smaller.
    fn meet(&mut self, other: &Set) -> bool {
        let mut less = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            less |= *word & !other != 0;
            *word &= other;
        }
        less
    }
}

/// A basic block: its operations, and the blocks that may follow.
struct Block {
    begin: usize,
    end: usize,
    next: Vec<usize>,
}

/// The basic blocks of a kernel.
fn blocks(insts: &[Inst]) -> Vec<Block> {
    let mut heads = vec![false; insts.len() + 1];
    heads[0] = true;
    let mut conditional = vec![false; insts.len()];
    let mut guarded = false;
    for (i, inst) in insts.iter().enumerate() {
        if inst.guard != Guard::Same {
            guarded = inst.guard != Guard::Always;
        }
        conditional[i] = guarded;
        let targets = targets(&inst.op);
        targets.iter().for_each(|&target| heads[target as usize] = true);
        heads[i + 1] |= !targets.is_empty() || matches!(inst.op, Op::Exit);
    }
    let begins: Vec<usize> = (0..insts.len()).filter(|&i| heads[i]).collect();
    let block_of = |at: usize| begins.partition_point(|&begin| begin <= at) - 1;
    let block = |(i, &begin): (usize, &usize)| {
        let end = begins.get(i + 1).copied().unwrap_or(insts.len());
        let last = &insts[end - 1].op;
        let mut next: Vec<usize> = targets(last).iter().map(|&target| block_of(target as usize)).collect();
        let ends = matches!(last, Op::Exit | Op::Branch(_) | Op::BranchTable(..)) && !conditional[end - 1];
        if !ends && end < insts.len() {
            next.push(block_of(end));
        }
        Block { begin, end, next }
    };
    begins.iter().enumerate().map(block).collect()
}

fn targets(op: &Op) -> &[u32] {
    match op {
        Op::Branch(target) => std::slice::from_ref(target),
        Op::BranchTable(_, targets) => targets,
        _ => &[],
    }
}

struct Graph<'a> {
    code: &'a mut Code,
    numbers: Numbers,
    count: usize,
    blocks: Vec<Block>,
}

impl Graph<'_> {
    /// Walks through a basic block. `written` has the registers written before it on every path, to which its own
    /// writes are added; `reads` is called for each register that is read.
    fn walk(&self, block: &Block, written: &mut Set, mut reads: impl FnMut(Reg, &Set)) {
        let mut guarded = false;
        for (i, inst) in self.code.insts[block.begin..block.end].iter().enumerate() {
            if inst.guard != Guard::Same {
                guarded = inst.guard != Guard::Always;
            }
            let source = &self.code.sources[inst.source as usize];
            let accumulated = accumulated(&inst.op);
            let first = inst.guard != Guard::Same;
            let guard = guard(inst.guard);
            let own = source.reads.iter().chain(&guard).filter(|_| first);
            own.chain(&accumulated).for_each(|&reg| reads(reg, written));
            let rest = &self.code.insts[block.begin + i + 1..];
            let last = rest.first().is_none_or(|next| next.guard != Guard::Same);
            if last && !guarded {
                let writes = source.writes.iter().chain(&accumulated);
                writes.for_each(|&reg| written.add(self.numbers.of(reg)));
            }
        }
    }

    /// For each basic block, the registers that every path to its begin has written.
    fn entries(&mut self) -> Vec<Set> {
        let mut entries = vec![Set::new(self.count, true); self.blocks.len()];
        let Some(first) = entries.first_mut() else { return entries };
        *first = Set::new(self.count, false);
        let mut rest = vec![0];
        let mut seen = vec![false; self.blocks.len()];
        while let Some(at) = rest.pop() {
            seen[at] = true;
            let block = &self.blocks[at];
            let mut written = entries[at].clone();
            self.walk(block, &mut written, |_, _| {});
            for &next in &block.next {
                if entries[next].meet(&written) || !seen[next] {
                    rest.push(next);
                }
            }
        }
        entries
    }

    /// The registers that are read at a place to which some path has not written them.
    fn open(&self, entries: &[Set]) -> Set {
        let mut open = Set::new(self.count, false);
        for (block, entry) in self.blocks.iter().zip(entries) {
            let mut written = entry.clone();
            self.walk(block, &mut written, |reg, written| {
                if !written.has(self.numbers.of(reg)) {
                    open.add(self.numbers.of(reg));
                }
            });
        }
        open
    }
}
