//! Kernels that end early: what follows an `if` with `return;` in a side becomes a part of its other side.

use syn::{Block, Expr, ExprBlock, ExprIf, Stmt};

use crate::scope::has_let;

/// Whether a block ends in `return;`.
fn returns(block: &Block) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Expr(Expr::Return(of), _)) if of.expr.is_none())
}

/// How many sides of an `if` end in `return;`, and how many do not.
fn sides(of: &ExprIf) -> [usize; 2] {
    let side = |block: &Block| if returns(block) { [1, 0] } else { [0, 1] };
    let [a, b] = side(&of.then_branch);
    let [c, d] = match of.else_branch.as_ref().map(|(_, other)| &**other) {
        Some(Expr::If(of)) => sides(of),
        Some(Expr::Block(of)) => side(&of.block),
        _ => [0, 1],
    };
    [a + c, b + d]
}

/// Puts what follows an `if`, of which one side at most goes on, into that side, where sides end in `return;`: the statements of a kernel
/// need no way out then.
pub(crate) fn early(block: &mut Block) {
    let ends = |stmt: &Stmt| match stmt {
        Stmt::Expr(Expr::If(of), _) if !has_let(&of.cond) => {
            let [return_, go_on] = sides(of);
            return_ > 0 && go_on < 2
        }
        _ => false,
    };
    let Some(at) = block.stmts.iter().position(ends) else {
        // What comes last in a side comes last in the kernel, if nothing follows the `if`.
        if let Some(Stmt::Expr(Expr::If(of), _)) = block.stmts.last_mut() {
            go_on(of, &mut Vec::new());
        }
        return;
    };
    let mut rest = block.stmts.split_off(at + 1);
    if let Some(Stmt::Expr(Expr::If(of), semi)) = block.stmts.last_mut() {
        *semi = None;
        go_on(of, &mut rest);
    }
}

/// Statements as a block.
fn of_statements(stmts: Vec<Stmt>) -> Expr {
    Expr::Block(ExprBlock {
        attrs: Vec::new(),
        label: None,
        block: Block { brace_token: Default::default(), stmts },
    })
}

/// Gives `rest` to the side of an `if` that goes on.
fn go_on(of: &mut ExprIf, rest: &mut Vec<Stmt>) {
    let settle = |block: &mut Block, rest: &mut Vec<Stmt>| {
        if returns(block) {
            block.stmts.pop();
        } else if !rest.is_empty() {
            let inner = std::mem::take(&mut block.stmts);
            block.stmts.push(Stmt::Expr(of_statements(inner), None));
            block.stmts.append(rest);
        }
        early(block);
    };
    settle(&mut of.then_branch, rest);
    match of.else_branch.as_mut().map(|(_, other)| &mut **other) {
        Some(Expr::If(of)) => go_on(of, rest),
        Some(Expr::Block(of)) => settle(&mut of.block, rest),
        _ if rest.is_empty() => {}
        _ => {
            let mut other = of_statements(std::mem::take(rest));
            if let Expr::Block(of) = &mut other {
                early(&mut of.block);
            }
            of.else_branch = Some((Default::default(), Box::new(other)));
        }
    }
}
