//! Checks and line numbers for debugging on a GPU. The simulator has both without them.

use std::collections::HashMap;

use girih_ptx::{Item, Loc, Opcode, Operand, SourceFile, SourcePlace, Statement, Type, Word};

use super::body::{Body, Line};
use super::{Builder, Reg, instruction};

impl Builder {
    /// From here on, the kernel executes `trap` where a claim about a register ([`Builder::var`], [`Builder::bounded`],
    /// [`Builder::divide`], [`Builder::index_of`], facts of parameters) does not hold. The simulator checks claims without these
    /// instructions; they are for debugging on a GPU.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// b.trap_false_claims();
    /// b.symbol("n", |n| n.at_least(1).divisible_by(8))?;
    /// assert_eq!(b.finish()?.module().to_string().matches("trap").count(), 2);
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn trap_false_claims(&mut self) {
        self.traps = true;
    }

    /// Makes the kernel say by `.file` and `.loc` which line of Rust wrote each instruction, as profilers read it (PTX ISA,
    /// "Debugging Directives"). The simulator knows the lines without these directives.
    ///
    /// # Examples
    /// ```
    /// use girih_codegen::Builder;
    ///
    /// let mut b = Builder::new("k", 80, 32);
    /// b.write_lines();
    /// b.barrier();
    /// assert!(b.finish()?.module().to_string().contains(".loc 1 "));
    /// # Ok::<(), girih_codegen::Error>(())
    /// ```
    pub fn write_lines(&mut self) {
        self.lines = true;
    }

    /// Writes the instructions that check a claim.
    #[track_caller]
    pub(super) fn trap_unless(&mut self, depth: usize, reg: &Reg, (lower, upper, multiple): (i64, i64, i64)) {
        let wide = reg.ty.bytes() == Some(8);
        // The register is read as the simulator reads it: as a signed number where the claim allows negative ones.
        let (signed, least, most) = match (wide, lower < 0) {
            (true, _) => (true, i64::MIN, i64::MAX),
            (false, true) => (true, i32::MIN.into(), i32::MAX.into()),
            (false, false) => (false, 0, u32::MAX.into()),
        };
        let (unsigned_ty, ty) = match (wide, signed) {
            (true, _) => (Type::U64, Type::S64),
            (false, true) => (Type::U32, Type::S32),
            (false, false) => (Type::U32, Type::U32),
        };
        let (lower, upper) = (lower.max(least), upper.min(most));
        if lower > upper {
            return self.push_at(depth, Statement::Inst(instruction(None, Opcode::Trap, &[], Vec::new())));
        }
        let immediate =
            |value: i64| Operand::Int(if wide || !signed { value } else { i64::from(value as i32) });
        if (lower, upper) != (least, most) {
            // A value outside of the range is further from the least value, as an unsigned difference, than the greatest value is.
            let inputs = vec![Operand::from(reg), immediate(lower)];
            let distance = self.emit(depth, Opcode::Sub, &[ty.into()], ty, inputs);
            let most = Operand::Int(upper.wrapping_sub(lower));
            self.trap_if(depth, Word::Gt, unsigned_ty, &distance, most);
        }
        if multiple > 1 {
            let inputs = vec![Operand::from(reg), immediate(multiple)];
            let rest = self.emit(depth, Opcode::Rem, &[ty.into()], ty, inputs);
            self.trap_if(depth, Word::Ne, ty, &rest, Operand::Int(0));
        }
    }

    #[track_caller]
    fn trap_if(&mut self, depth: usize, compare: Word, ty: Type, left: &Reg, right: Operand) {
        let inputs = vec![Operand::from(left), right];
        let wrong = self.emit(depth, Opcode::Setp, &[compare.into(), ty.into()], Type::Pred, inputs);
        let guard = girih_ptx::Guard { reg: wrong.name, negated: false };
        self.push_at(depth, Statement::Inst(instruction(Some(guard), Opcode::Trap, &[], Vec::new())));
    }
}

/// The body with a `.loc` wherever the line changes, and the `.file` items that the `.loc`s name.
pub(super) fn with_lines(body: Body) -> (Body, Vec<Item>) {
    let (mut numbers, mut files) = (HashMap::new(), Vec::new());
    let mut last = None;
    let located = body.with_each(|site: Line| {
        let index = *numbers.entry(site.file).or_insert_with(|| {
            let index = files.len() as u32 + 1;
            files.push(Item::File(SourceFile { index, name: site.file.into() }));
            index
        });
        let at = SourcePlace { file: index, line: site.line, column: site.column };
        (last.replace(at) != Some(at)).then_some(Statement::Loc(Loc { at, inlined: None }))
    });
    (located, files)
}
