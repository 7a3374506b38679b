//! Structured control flow: loops and conditions.

use girih_ptx::{Guard, Name, Opcode, Operand, Statement, Type, Word};

use super::body::Body;
use super::{Builder, CLOSED, Cond, Reg, Scope, Width, instruction};
use crate::Error;
use crate::error::BuilderError;
use crate::expr::Expr;

/// A loop whose body is being written.
struct Steps {
    index: Expr,
    counter: Reg,
    test: Reg,
    end: Operand,
    step: Operand,
    head: Name,
    done: Name,
}

// Code that does not depend on the body's type is in functions of its own, since the others are compiled for each body.
impl Builder {
    pub(super) fn label(&mut self, what: &str) -> Name {
        self.labels += 1;
        Name::from(format!("${what}_{}", self.labels))
    }

    #[track_caller]
    fn branch(&mut self, guard: Option<Guard>, to: &Name) {
        let to = Operand::Name(to.clone());
        self.push(Statement::Inst(instruction(guard, Opcode::Bra, &[], vec![to])));
    }

    /// Opens a scope. The label and the branch of a loop or a condition belong to its scope, so that hoisted expressions are before
    /// both.
    pub(super) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Opens the scope of a loop.
    pub(super) fn open_loop(&mut self) {
        let repeats = Some(self.tick());
        self.scopes.push(Scope { repeats, ..Scope::default() });
    }

    /// Closes the innermost scope and appends its statements to the scope around it.
    pub(super) fn close(&mut self) {
        let body = self.take();
        self.append(body);
    }

    /// Closes the innermost scope and returns its statements.
    fn take(&mut self) -> Body {
        let closed = self.depth();
        let Some(scope) = self.scopes.pop() else { return Body::default() };
        self.depths.get_mut().clear();
        self.vars.iter_mut().filter(|var| var.depth == closed).for_each(|var| var.depth = CLOSED);
        scope.body
    }

    fn append(&mut self, body: Body) {
        let depth = self.depth();
        self.scopes[depth].body.extend(body);
    }

    /// Runs `body` for each value of `0..count`.
    ///
    /// # Errors
    /// Those of `body` and [`Builder::value`].
    #[track_caller]
    pub fn for_range(
        &mut self,
        count: &Expr,
        body: impl FnOnce(&mut Builder, &Expr) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.for_steps(&Expr::from(0), count, &Expr::from(1), body)
    }

    /// Runs `body` for `first`, `first + step`, ... below `end`, as a block of a persistent kernel iterates over its tiles.
    /// `first` may not be negative, `step` must be 1 or more, and `end + step` must stay below 2^31.
    ///
    /// # Errors
    /// [`BuilderError::LoopFirst`], [`BuilderError::LoopStep`] and [`BuilderError::LoopEnd`] if that is not known of `first`, `end` or `step`; those of `body` and [`Builder::value`].
    #[track_caller]
    pub fn for_steps(
        &mut self,
        first: &Expr,
        end: &Expr,
        step: &Expr,
        body: impl FnOnce(&mut Builder, &Expr) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let steps = self.open_steps(first, end, step)?;
        body(self, &steps.index)?;
        self.close_steps(steps);
        Ok(())
    }

    #[track_caller]
    fn open_steps(&mut self, first: &Expr, end: &Expr, step: &Expr) -> Result<Steps, Error> {
        self.check_steps(first, end, step)?;
        let (head, done) = (self.label("loop"), self.label("end"));
        let [start, end_at, by] = [
            self.operand(first, Width::W32)?,
            self.operand(end, Width::W32)?,
            self.operand(step, Width::W32)?,
        ];
        self.open_loop();
        let counter = self.reg(Type::S32);
        let test = self.reg(Type::Pred);
        self.inst(Opcode::Mov, &[Type::B32.into()], vec![Operand::from(&counter), start]);
        self.go_if(Word::Ge, [&test, &counter], &end_at, &done);
        self.push(Statement::Label(head.clone()));
        let depth = self.depth();
        let index = self.var_at(&counter, depth, first.range().0, (end.range().1 - 1).max(0), 1);
        Ok(Steps { index, counter, test, end: end_at, step: by, head, done })
    }

    #[track_caller]
    fn close_steps(&mut self, steps: Steps) {
        let Steps { counter, test, end, step, head, done, .. } = steps;
        let next = vec![Operand::from(&counter), Operand::from(&counter), step];
        self.inst(Opcode::Add, &[Type::S32.into()], next);
        self.go_if(Word::Lt, [&test, &counter], &end, &head);
        self.close();
        self.push(Statement::Label(done));
    }

    /// Branches to a label if the comparison of a loop's counter with its end holds.
    #[track_caller]
    fn go_if(&mut self, word: Word, [test, counter]: [&Reg; 2], end: &Operand, to: &Name) {
        let operands = vec![Operand::from(test), Operand::from(counter), end.clone()];
        self.inst(Opcode::Setp, &[word.into(), Type::S32.into()], operands);
        self.branch(Some(Guard { reg: test.name.clone(), negated: false }), to);
    }

    fn check_steps(&self, first: &Expr, end: &Expr, step: &Expr) -> Result<(), Error> {
        let ((lower, _), (least, greatest)) = (first.range(), step.range());
        if lower < 0 {
            return Err(BuilderError::LoopFirst { first: first.to_string(), least: lower }.into());
        }
        if least < 1 {
            return Err(BuilderError::LoopStep { step: step.to_string(), least }.into());
        }
        let most = [end.range().1, greatest];
        if most[0].saturating_add(most[1]) > i64::from(i32::MAX) + 1 {
            return Err(BuilderError::LoopEnd { end: end.to_string(), most }.into());
        }
        Ok(())
    }

    /// Runs `body` if `cond` holds.
    ///
    /// # Errors
    /// Those of `body` and [`Builder::value`].
    #[track_caller]
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
        let end = self.open_unless(cond, "endif")?;
        body(self)?;
        self.close();
        self.push(Statement::Label(end));
        Ok(())
    }

    /// Opens a scope that is skipped unless `cond` holds, by a branch to the label that is returned.
    #[track_caller]
    fn open_unless(&mut self, cond: &Cond, label: &str) -> Result<Name, Error> {
        let guard = Guard { reg: self.cond(cond)?.name, negated: true };
        let to = self.label(label);
        self.open();
        self.branch(Some(guard), &to);
        Ok(to)
    }

    /// Runs `then` if `cond` holds, else `otherwise`.
    ///
    /// # Errors
    /// Those of both closures and [`Builder::value`].
    #[track_caller]
    pub fn if_else(
        &mut self,
        cond: &Cond,
        then: impl FnOnce(&mut Builder) -> Result<(), Error>,
        otherwise: impl FnOnce(&mut Builder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match cond {
            Cond::Never => return otherwise(self),
            Cond::Always => return then(self),
            _ => {}
        }
        let other = self.open_unless(cond, "else")?;
        let end = self.label("endif");
        then(self)?;
        let first = self.open_else(other, &end);
        otherwise(self)?;
        self.close_else(first, end);
        Ok(())
    }

    /// Closes the scope that runs where the condition holds, and opens the one that runs where it does not.
    #[track_caller]
    fn open_else(&mut self, other: Name, end: &Name) -> Body {
        self.branch(None, end);
        // Expressions that are hoisted out of the second scope are before the branch too.
        let first = self.take();
        self.open();
        self.push(Statement::Label(other));
        first
    }

    #[track_caller]
    fn close_else(&mut self, first: Body, end: Name) {
        let second = self.take();
        self.append(first);
        self.append(second);
        self.push(Statement::Label(end));
    }

    /// Repeats `body` until the predicate that it returns holds.
    ///
    /// # Errors
    /// Those of `body`.
    #[track_caller]
    pub fn repeat_until(
        &mut self,
        body: impl FnOnce(&mut Builder) -> Result<Reg, Error>,
    ) -> Result<(), Error> {
        let head = self.label("again");
        self.open_loop();
        self.push(Statement::Label(head.clone()));
        let done = body(self)?;
        self.close_again(done, &head);
        Ok(())
    }

    #[track_caller]
    fn close_again(&mut self, done: Reg, head: &Name) {
        self.branch(Some(Guard { reg: done.name, negated: true }), head);
        self.close();
    }
}
