//! Which names a piece of code binds, and which it may change of those bound outside of it.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprAssign, ExprBinary, ExprCall, ExprClosure, ExprForLoop, ExprIf,
    ExprMethodCall, ExprReference, ExprUnary, ExprWhile, Item, Local, Pat, PatIdent, PatType, Type, UnOp,
};

/// How a name is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// It does not change.
    Fixed,
    /// It is `mut`.
    Mut,
    /// It is a `&mut`.
    MutRef,
}

/// Names with how they are bound.
pub(crate) type Names = BTreeMap<String, Bound>;

/// The names that a pattern binds.
pub(crate) fn bound(pat: &Pat) -> Names {
    struct Find(Names);
    impl<'a> Visit<'a> for Find {
        fn visit_pat_ident(&mut self, pat: &'a PatIdent) {
            let how = if pat.mutability.is_some() { Bound::Mut } else { Bound::Fixed };
            self.0.insert(pat.ident.to_string(), how);
            visit::visit_pat_ident(self, pat);
        }
        fn visit_pat_type(&mut self, pat: &'a PatType) {
            match (&*pat.pat, &*pat.ty) {
                (Pat::Ident(name), Type::Reference(to)) if to.mutability.is_some() => {
                    self.0.insert(name.ident.to_string(), Bound::MutRef);
                }
                (inner, _) => self.visit_pat(inner),
            }
        }
    }
    let mut find = Find(Names::new());
    find.visit_pat(pat);
    find.0
}

/// The names that a `let` binds.
pub(crate) fn bound_by(local: &Local) -> Names {
    let mut names = bound(&local.pat);
    if let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init)
        && matches!(&*init.expr, Expr::Reference(ExprReference { mutability: Some(_), .. }))
    {
        names.insert(name.ident.to_string(), Bound::MutRef);
    }
    names
}

/// The names that the `let`s of a condition bind.
pub(crate) fn bound_in(condition: &Expr) -> Names {
    match condition {
        Expr::Let(of) => bound(&of.pat),
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => {
            let mut names = bound_in(left);
            names.extend(bound_in(right));
            names
        }
        _ => Names::new(),
    }
}

/// Whether a condition has a `let`.
pub(crate) fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(of) => has_let(&of.left) || has_let(&of.right),
        Expr::Paren(of) => has_let(&of.expr),
        _ => false,
    }
}

/// How a name is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// It is passed on as it is: perhaps, if it is a `&mut`.
    Passed,
    /// It is the receiver of a method: perhaps.
    Perhaps,
    /// It is assigned to, in parts or through a reference, or borrowed to be changed.
    Part,
    /// It is assigned to.
    Whole,
}

/// Methods that change nothing, or nothing that is carried: receivers of these alone are not borrowed, which their users might be doing.
const PURE: &[&str] = &[
    "len",
    "is_empty",
    "iter",
    "get",
    "first",
    "last",
    "clone",
    "contains",
    "as_slice",
    "as_ref",
    "to_vec",
    "is_some",
    "is_none",
    "to_string",
    "load",
    "load_masked",
    "tiles",
    "tiles_mut",
    "dim",
    "slice",
    "slice_mut",
    "to",
    "shape",
    "rank",
    "extent",
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sum",
    "max",
    "min",
    "prod",
    "abs",
    "reshape",
    "permute",
    "transpose",
    "t",
    "expand_dims",
    "broadcast_to",
    "padding",
    "latency",
    "steps",
    "num_tiles",
    "gather",
    "elements",
    "elements_mut",
    "maximum",
    "minimum",
];

/// The names that code changes of those bound outside of it.
#[derive(Default)]
pub(crate) struct Changes {
    scopes: Vec<Names>,
    /// In the order of their first change.
    pub(crate) found: Vec<(Ident, Change)>,
}

impl Changes {
    /// What pieces of code change, where `names` are bound by the code itself.
    pub(crate) fn of(names: Names, visit: impl FnOnce(&mut Changes)) -> Changes {
        let mut changes = Changes { scopes: vec![names], found: Vec::new() };
        visit(&mut changes);
        changes
    }

    fn within(&mut self, names: Names, visit: impl FnOnce(&mut Changes)) {
        self.scopes.push(names);
        visit(self);
        self.scopes.pop();
    }

    fn target(&mut self, expr: &Expr, change: Change) {
        match expr {
            Expr::Path(path) => {
                let Some(name) = path.path.get_ident() else { return };
                let text = name.to_string();
                if text == "_" || self.scopes.iter().any(|scope| scope.contains_key(&text)) {
                    return;
                }
                match self.found.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known = change.max(*known),
                    None => self.found.push((name.clone(), change)),
                }
            }
            Expr::Field(of) => self.target(&of.base, change.min(Change::Part)),
            Expr::Index(of) => self.target(&of.expr, change.min(Change::Part)),
            Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. }) => {
                self.target(expr, change.min(Change::Part))
            }
            Expr::Paren(of) => self.target(&of.expr, change),
            Expr::Tuple(of) => of.elems.iter().for_each(|part| self.target(part, change)),
            Expr::Array(of) => of.elems.iter().for_each(|part| self.target(part, change)),
            Expr::MethodCall(of) if change == Change::Perhaps => self.target(&of.receiver, change),
            _ => {}
        }
    }
}

/// Whether an operator assigns.
fn assigns(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

impl<'a> Visit<'a> for Changes {
    fn visit_block(&mut self, block: &'a Block) {
        self.within(Names::new(), |changes| visit::visit_block(changes, block));
    }

    fn visit_item(&mut self, _: &'a Item) {}

    fn visit_local(&mut self, local: &'a Local) {
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(bound_by(local));
        }
    }

    fn visit_expr_for_loop(&mut self, of: &'a ExprForLoop) {
        self.visit_expr(&of.expr);
        self.within(bound(&of.pat), |changes| changes.visit_block(&of.body));
    }

    fn visit_expr_while(&mut self, of: &'a ExprWhile) {
        self.visit_expr(&of.cond);
        self.within(bound_in(&of.cond), |changes| changes.visit_block(&of.body));
    }

    fn visit_expr_if(&mut self, of: &'a ExprIf) {
        self.visit_expr(&of.cond);
        self.within(bound_in(&of.cond), |changes| changes.visit_block(&of.then_branch));
        if let Some((_, other)) = &of.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_arm(&mut self, arm: &'a Arm) {
        self.within(bound(&arm.pat), |changes| {
            if let Some((_, guard)) = &arm.guard {
                changes.visit_expr(guard);
            }
            changes.visit_expr(&arm.body);
        });
    }

    fn visit_expr_closure(&mut self, of: &'a ExprClosure) {
        let names = of.inputs.iter().flat_map(bound).collect();
        self.within(names, |changes| changes.visit_expr(&of.body));
    }

    fn visit_expr_assign(&mut self, of: &'a ExprAssign) {
        self.target(&of.left, Change::Whole);
        visit::visit_expr_assign(self, of);
    }

    fn visit_expr_binary(&mut self, of: &'a ExprBinary) {
        if assigns(&of.op) {
            self.target(&of.left, Change::Whole);
        }
        visit::visit_expr_binary(self, of);
    }

    fn visit_expr_reference(&mut self, of: &'a ExprReference) {
        if of.mutability.is_some() {
            self.target(&of.expr, Change::Part);
        }
        visit::visit_expr_reference(self, of);
    }

    fn visit_expr_call(&mut self, of: &'a ExprCall) {
        // A `&mut` that is passed on is borrowed again.
        of.args
            .iter()
            .filter(|arg| matches!(arg, Expr::Path(_)))
            .for_each(|arg| self.target(arg, Change::Passed));
        visit::visit_expr_call(self, of);
    }

    fn visit_expr_method_call(&mut self, of: &'a ExprMethodCall) {
        let method = of.method.to_string();
        let moves = ["into", "unwrap", "expect"].iter().any(|start| method.starts_with(start));
        if !moves && !PURE.contains(&method.as_str()) {
            self.target(&of.receiver, Change::Perhaps);
        }
        of.args
            .iter()
            .filter(|arg| matches!(arg, Expr::Path(_)))
            .for_each(|arg| self.target(arg, Change::Passed));
        visit::visit_expr_method_call(self, of);
    }
}
