//! Structured control flow.

use girih_ptx::{Guard, Name, Opcode, Operand, Statement, Type, Word};

use super::{Builder, CLOSED, Cond, Scope, Width, instruction};
use crate::Error;
use crate::expr::Expr;

impl Builder {
    fn label(&mut self, what: &str) -> Name {
        self.labels += 1;
        Name::from(format!("${what}_{}", self.labels))
    }

    fn branch(&mut self, guard: Option<Guard>, to: &Name) {
        let to = Operand::Name(to.clone());
        self.push(Statement::Inst(instruction(guard, Opcode::Bra, &[], vec![to])));
    }

    /// Opens a scope. Its label and branch belong to it, so that what is hoisted out stands before them.
    fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the innermost scope and appends what it holds to the one around it.
    fn close(&mut self) {
        let closed = self.depth();
        if let Some(scope) = self.scopes.pop() {
            self.vars.iter_mut().filter(|var| var.depth == closed).for_each(|var| var.depth = CLOSED);
            let depth = self.depth();
            self.scopes[depth].body.extend(scope.body);
        }
    }

    /// Runs `body` for each value of `0..count`.
    ///
    /// # Errors
    /// Those of `body` and [`Builder::value`].
    pub fn for_range(
        &mut self,
        count: &Expr,
        body: impl FnOnce(&mut Builder, &Expr) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let limit = count.range().1;
        let (head, end) = (self.label("loop"), self.label("end"));
        let count = self.operand(count, Width::W32)?;
        self.open();
        let counter = self.reg(Type::S32);
        let test = self.reg(Type::Pred);
        self.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&counter), Operand::Int(0)]);
        let compare = |b: &mut Builder, word: Word| {
            let operands = vec![Operand::from(&test), Operand::from(&counter), count.clone()];
            b.inst(Opcode::Setp, &[word.into(), Type::S32.into()], operands);
        };
        compare(self, Word::Ge);
        self.branch(Some(Guard { reg: test.name.clone(), negated: false }), &end);
        self.push(Statement::Label(head.clone()));
        let depth = self.depth();
        let index = self.var_at(&counter, depth, 0, (limit - 1).max(0), 1);
        body(self, &index)?;
        self.inst(
            Opcode::Add,
            &[Type::S32.into()],
            vec![Operand::from(&counter), Operand::from(&counter), Operand::Int(1)],
        );
        compare(self, Word::Lt);
        self.branch(Some(Guard { reg: test.name.clone(), negated: false }), &head);
        self.close();
        self.push(Statement::Label(end));
        Ok(())
    }

    /// Runs `body` where `cond` holds.
    ///
    /// # Errors
    /// Those of `body` and [`Builder::value`].
    pub fn if_(
        &mut self,
        cond: &Cond,
        body: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match cond {
            Cond::Never => return Ok(()),
            Cond::Always => return body(self),
            _ => {}
        }
        let guard = Guard { reg: self.cond(cond)?.name, negated: true };
        let end = self.label("endif");
        self.open();
        self.branch(Some(guard), &end);
        body(self)?;
        self.close();
        self.push(Statement::Label(end));
        Ok(())
    }
}
