//! Control flow without closures: blocks with forward exits and loops with back edges, from any nesting depth.
//!
//! A block is a scope. A branch out of it goes to what is written after its end, where only values of scopes around it exist; those were
//! computed before the block, since expressions are hoisted in front of it. A branch back goes to the beginning of a loop's scope, whose
//! values are all computed anew. So every value that the builder remembers is computed on every way to where it is used.

use girih_ptx::{Guard, Modifier, Name, Opcode, Operand, Statement, Type, Word};

use super::{Builder, Cond, Reg, vector};
use crate::Error;
use crate::error::BuilderError;
use crate::scalar::moved;

/// A block or a loop that is open; made by [`Builder::open_block`] and [`Builder::open_repeat`].
#[derive(Debug)]
pub struct Block {
    head: Option<Name>,
    end: Name,
    /// The depth of its scope.
    depth: usize,
}

impl Builder {
    /// Opens a block. What is written until [`Builder::close_block`] may be left at any depth by [`Builder::leave`].
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::{Builder, Cond, Expr};
    /// use girih_ptx::Special;
    ///
    /// let mut b = Builder::new("k", 80, 64);
    /// let thread = b.special(Special::TidX);
    /// let block = b.open_block();
    /// b.leave(&block, &Cond::less(&thread, &Expr::from(32)), false)?;
    /// b.comment("the second warp alone");
    /// b.close_block(block)?;
    /// assert!(b.finish()?.module().to_string().contains("bra"));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn open_block(&mut self) -> Block {
        let end = self.label("after");
        self.open();
        Block { head: None, end, depth: self.depth() }
    }

    /// Opens a loop without an end of its own: [`Builder::again`] goes to its beginning, [`Builder::leave`] after its end. Whatever falls
    /// through to [`Builder::close_block`] leaves it.
    #[track_caller]
    pub fn open_repeat(&mut self) -> Block {
        let (head, end) = (self.label("repeat"), self.label("after"));
        self.open_loop();
        self.push(Statement::Label(head.clone()));
        Block { head: Some(head), end, depth: self.depth() }
    }

    /// Goes after the end of an open block where `cond` holds. `together` says that all threads of a warp agree on `cond`.
    ///
    /// # Errors
    /// [`BuilderError::EndedBlock`] for a block that is not open; as [`Builder::cond`].
    #[track_caller]
    pub fn leave(&mut self, block: &Block, cond: &Cond, together: bool) -> Result<(), Error> {
        self.check_block(block)?;
        self.jump(&block.end.clone(), cond, together)
    }

    /// Goes to the beginning of an open loop where `cond` holds.
    ///
    /// # Errors
    /// As [`Builder::leave`], and for a block that is no loop.
    #[track_caller]
    pub fn again(&mut self, block: &Block, cond: &Cond, together: bool) -> Result<(), Error> {
        self.check_block(block)?;
        match block.head.clone() {
            Some(head) => self.jump(&head, cond, together),
            None => Err(BuilderError::NoLoop { label: block.end.to_string() }.into()),
        }
    }

    /// Ends the innermost block or loop.
    ///
    /// # Errors
    /// [`BuilderError::OpenBlocks`] if a block inside of it is open.
    #[track_caller]
    pub fn close_block(&mut self, block: Block) -> Result<(), Error> {
        if self.depth() != block.depth {
            return Err(BuilderError::OpenBlocks { depth: block.depth, open: self.depth() }.into());
        }
        self.close();
        self.push(Statement::Label(block.end));
        Ok(())
    }

    fn check_block(&self, block: &Block) -> Result<(), Error> {
        if self.depth() < block.depth {
            return Err(BuilderError::EndedBlock { label: block.end.to_string() }.into());
        }
        Ok(())
    }

    #[track_caller]
    fn jump(&mut self, to: &Name, cond: &Cond, together: bool) -> Result<(), Error> {
        let guard = match cond {
            Cond::Never => return Ok(()),
            Cond::Always => None,
            Cond::Not(inner) => Some(Guard { reg: self.cond(inner)?.name, negated: true }),
            cond => Some(Guard { reg: self.cond(cond)?.name, negated: false }),
        };
        let words: &[Modifier] = if together { &[Modifier::Word(Word::Uni)] } else { &[] };
        let inst = super::instruction(guard, Opcode::Bra, words, vec![Operand::Name(to.clone())]);
        self.push(Statement::Inst(inst));
        Ok(())
    }

    /// Appends an instruction with one result, and returns the new register of type `ty` that gets it.
    #[track_caller]
    pub fn inst_to(&mut self, ty: Type, opcode: Opcode, modifiers: &[Modifier], inputs: Vec<Operand>) -> Reg {
        let depth = self.depth();
        self.emit(depth, opcode, modifiers, ty, inputs)
    }

    /// A register of type `ty` that two registers fill, the first one its lower half.
    #[track_caller]
    pub fn join(&mut self, ty: Type, halves: [&Reg; 2]) -> Reg {
        self.inst_to(ty, Opcode::Mov, &[bits(ty).into()], vec![vector(halves)])
    }

    /// The lower and the upper half of a register, in registers of type `ty`.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_ptx::Type;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let long = b.reg(Type::S64);
    /// let [low, high] = b.split(Type::B32, &long);
    /// assert_eq!(b.join(Type::S64, [&high, &low]).ty(), Type::S64);
    /// assert_eq!(b.finish()?.module().to_string().matches("mov.b64").count(), 2);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn split(&mut self, ty: Type, reg: &Reg) -> [Reg; 2] {
        let halves = [self.reg(ty), self.reg(ty)];
        self.inst(Opcode::Mov, &[bits(reg.ty).into()], vec![vector(&halves), Operand::from(reg)]);
        halves
    }

    /// Copies registers to registers of the same types, all at once: a target may be among the sources.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for lists of different lengths or types.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    /// use girih_ptx::Type;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// let (x, y) = (b.reg(Type::F32), b.reg(Type::F32));
    /// b.ptx("mov.f32 %0, 0f3F800000; mov.f32 %1, 0f00000000;", &[&x, &y])?;
    /// b.move_all(&[x.clone(), y.clone()], &[y, x])?;
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    #[track_caller]
    pub fn move_all(&mut self, targets: &[Reg], sources: &[Reg]) -> Result<(), Error> {
        let types = |regs: &[Reg]| regs.iter().map(|reg| reg.ty.to_string()).collect::<Vec<_>>().join(", ");
        let fits = |(a, b): (&Reg, &Reg)| moved(a.ty) == moved(b.ty);
        if targets.len() != sources.len() || !targets.iter().zip(sources).all(fits) {
            return Err(Error::Mismatch {
                what: "move_all",
                layout: types(sources),
                with: types(targets),
                accepted: "as many registers of the same types",
            });
        }
        let mut moves = Vec::new();
        for (i, (target, source)) in targets.iter().zip(sources).enumerate() {
            if target.name == source.name {
                continue;
            }
            // An earlier move of this list overwrites the source, so a copy is made first.
            let overwritten = targets[..i].iter().any(|earlier| earlier.name == source.name);
            let source = if overwritten {
                self.inst_to(source.ty, Opcode::Mov, &[moved(source.ty).into()], vec![Operand::from(source)])
            } else {
                source.clone()
            };
            moves.push((target, source));
        }
        for (target, source) in moves {
            let operands = vec![Operand::from(target), Operand::from(&source)];
            self.inst(Opcode::Mov, &[moved(target.ty).into()], operands);
        }
        Ok(())
    }
}

/// The type as which a register is moved that other registers fill.
fn bits(ty: Type) -> Type {
    if ty.bytes() == Some(8) { Type::B64 } else { Type::B32 }
}
