//! Frames around control flow, and comparisons as calls.
//!
//! ```text
//! for p in e { BODY }                          if c { A } else { B }
//!
//! let (mut f, items) = stage::for_(e);         let mut f = stage::if_(c);
//! f.begin(vars);                               f.begin(vars);
//! 'g: for p in items {                         'i: loop {
//!     'c: { BODY }                                 let v = if f.take() { A } else { B };
//!     if f.end(vars) { break 'g; }                 if let Some(v) = f.join(v, .., vars) { break 'i v; }
//! }                                            }
//! f.finish(vars);
//! ```

use std::cell::Cell;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, BinOp, Block, Expr, ExprBlock, ExprBreak, ExprClosure, ExprForLoop, ExprIf, ExprLoop,
    ExprMethodCall, ExprParen, ExprRange, ExprWhile, Item, Lifetime, Local, Macro, RangeLimits, Stmt, Token,
    parse_quote_spanned,
};

use crate::options::respan;
use crate::scope::{Bound, Change, Changes, Names, bound, bound_by, bound_in, has_let};

/// A construct around the code that is rewritten.
enum Frame {
    Loop { number: usize, label: Option<Lifetime>, vars: Vars },
    If { number: usize, vars: Vars },
    Block { number: usize, label: Lifetime },
}

/// The variables around a construct that it changes, as `stage` takes them.
///
/// Within the construct one of their names may be bound again. There they are written by a macro that is defined before it, since what a macro
/// names is what had the name at its definition.
#[derive(Clone)]
struct Vars {
    list: TokenStream,
    names: Vec<String>,
    /// How many scopes are around the construct.
    scopes: usize,
    by: Ident,
    /// Whether the macro is called.
    called: Rc<Cell<bool>>,
}

impl Vars {
    fn none() -> Vars {
        let by = Ident::new("__none", Span::mixed_site());
        Vars { list: quote!(&mut []), names: Vec::new(), scopes: 0, by, called: Rc::default() }
    }

    /// The definition of the macro, if it is called.
    fn definition(&self) -> TokenStream {
        let (by, list) = (&self.by, &self.list);
        if self.called.get() { quote!(macro_rules! #by { () => { #list } }) } else { TokenStream::new() }
    }
}

impl ToTokens for Vars {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.list.to_tokens(tokens);
    }
}

pub(crate) struct Rewrite<'a> {
    /// The crate of the tile language.
    path: &'a TokenStream,
    scopes: Vec<Names>,
    frames: Vec<Frame>,
    count: usize,
}

fn name(kind: &str, number: usize) -> Ident {
    format_ident!("__{}{}", kind, number, span = Span::mixed_site())
}

/// The value of an `if` on its way.
fn value() -> Ident {
    Ident::new("__value", Span::mixed_site())
}

fn label(kind: &str, number: usize) -> Lifetime {
    Lifetime::new(&format!("'{kind}{number}"), Span::mixed_site())
}

/// Whether code surely goes elsewhere at its end.
fn diverges(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(Expr::Break(_) | Expr::Continue(_) | Expr::Return(_), _)) => true,
        Some(Stmt::Expr(Expr::Block(of), None)) => diverges(&of.block),
        Some(Stmt::Expr(Expr::If(of), _)) => if_diverges(of),
        _ => false,
    }
}

fn if_diverges(of: &ExprIf) -> bool {
    diverges(&of.then_branch)
        && of.else_branch.as_ref().is_some_and(|(_, other)| match &**other {
            Expr::Block(of) => diverges(&of.block),
            Expr::If(of) => if_diverges(of),
            _ => false,
        })
}

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

impl<'a> Rewrite<'a> {
    pub(crate) fn new(path: &'a TokenStream, names: Names) -> Rewrite<'a> {
        Rewrite { path, scopes: vec![names], frames: Vec::new(), count: 0 }
    }

    /// Rewrites a function's body.
    pub(crate) fn body(&mut self, block: &mut Block) {
        self.visit_block_mut(block);
        let path = self.path(block.span());
        let depth = quote_spanned!(Span::mixed_site()=> __depth);
        let inner = &*block;
        *block = parse_quote_spanned!(block.span()=> {
            let #depth = #path::stage::depth();
            let _ = #depth;
            #inner
        });
    }

    /// The crate of the tile language, named at a place.
    fn path(&self, span: Span) -> TokenStream {
        respan(self.path, span)
    }

    fn fresh(&mut self) -> (usize, Ident) {
        self.count += 1;
        (self.count, name("frame", self.count))
    }

    fn bound(&self, of: &Ident) -> Option<Bound> {
        let text = of.to_string();
        self.scopes.iter().rev().find_map(|scope| scope.get(&text)).copied()
    }

    /// The variables around a construct that it changes.
    fn vars(&mut self, names: Names, visit: impl FnOnce(&mut Changes)) -> Vars {
        self.count += 1;
        let mut texts = Vec::new();
        let vars = Changes::of(names, visit).found.into_iter().filter_map(|(name, change)| {
            let how = self.bound(&name)?;
            let text = name.to_string();
            let span = name.span();
            let path = self.path(span);
            let place = match (how, change) {
                (Bound::MutRef, Change::Whole) | (Bound::Mut | Bound::Fixed, Change::Whole) => quote_spanned!(span=> &mut #name),
                (Bound::MutRef, _) => quote_spanned!(span=> &mut *#name),
                (Bound::Mut, Change::Part | Change::Perhaps) => quote_spanned!(span=> &mut #name),
                _ => return None,
            };
            let carried = match change {
                Change::Whole | Change::Part if how != Bound::Fixed || change == Change::Whole => {
                    quote_spanned!(span=> ::core::option::Option::Some(#place as &mut dyn #path::stage::Carry))
                }
                _ => quote_spanned!(span=> {
                    use #path::stage::NotCarried as _;
                    #path::stage::Probe(#place).carried()
                }),
            };
            let var = quote_spanned!(span=> (#text, #carried));
            texts.push(text);
            Some(var)
        });
        let list = quote!(&mut [#(#vars),*]);
        let (scopes, by) = (self.scopes.len(), name("vars", self.count));
        Vars { list, names: texts, scopes, by, called: Rc::default() }
    }

    /// The variables of a construct from within it.
    fn taken_from_within(&self, vars: &Vars) -> TokenStream {
        let within = self.scopes.get(vars.scopes..).unwrap_or_default();
        if !within.iter().any(|scope| vars.names.iter().any(|name| scope.contains_key(name))) {
            return vars.list.clone();
        }
        vars.called.set(true);
        let by = &vars.by;
        quote!(#by!())
    }

    fn within(&mut self, names: Names, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(names);
        visit(self);
        self.scopes.pop();
    }

    /// What follows a way out that Rust does not take: on to the code that is written next. `frames` is the number of frames around.
    fn diverge(&self, frames: usize) -> TokenStream {
        let Some(frame) = frames.checked_sub(1).and_then(|at| self.frames.get(at)) else {
            return quote!(::core::unreachable!());
        };
        match frame {
            Frame::If { number, vars } => {
                let (f, i, up) = (name("frame", *number), label("i", *number), self.diverge(frames - 1));
                let (v, vars) = (value(), self.taken_from_within(vars));
                quote!(if #f.diverge(#vars) { #up } else if let ::core::option::Option::Some(#v) = #f.over() {
                    break #i #v
                } else {
                    continue #i
                })
            }
            Frame::Loop { number, .. } => {
                let c = label("c", *number);
                quote!(break #c)
            }
            Frame::Block { .. } => self.diverge(frames - 1),
        }
    }

    /// `break` and `continue`; none where it belongs to something that has no frame.
    fn leave(&self, what: &str, user: Option<&Lifetime>, value: Option<&Expr>, span: Span) -> Option<Expr> {
        let at = self.frames.iter().rposition(|frame| match frame {
            Frame::Loop { label, .. } => user.is_none() || label.as_ref() == user,
            Frame::Block { label, .. } => Some(label) == user,
            Frame::If { .. } => false,
        })?;
        match &self.frames[at] {
            Frame::Block { number, label } => {
                let (path, depth) = (self.path(span), name("depth", *number));
                Some(
                    parse_quote_spanned!(span=> { #path::stage::no_leave("break", #depth); break #label #value }),
                )
            }
            Frame::Loop { number, vars, .. } => {
                if value.is_some() {
                    let message = "a `loop` of a kernel runs at run time and has no value: assign to a variable, then `break`";
                    return Some(parse_quote_spanned!(span=> ::core::compile_error!(#message)));
                }
                let (f, g, on) =
                    (name("frame", *number), label("g", *number), self.diverge(self.frames.len()));
                let host = if what == "break" { quote!(break #g) } else { quote!(continue #g) };
                let vars = self.taken_from_within(vars);
                Some(parse_quote_spanned!(span=> { if #f.leave(#what, #vars) { #host } else { #on } }))
            }
            Frame::If { .. } => None,
        }
    }

    /// After a loop of the build: on to the code that is written next if a way out has been taken in it.
    fn gone(&self, f: &Ident) -> TokenStream {
        if self.frames.is_empty() {
            return TokenStream::new();
        }
        let up = self.diverge(self.frames.len());
        quote!(if #f.gone() { #up })
    }

    fn if_(&mut self, of: &mut ExprIf) -> Expr {
        let span = of.if_token.span;
        let path = self.path(span);
        let vars = self.vars(Names::new(), |changes| {
            changes.visit_block(&of.then_branch);
            if let Some((_, other)) = &of.else_branch {
                changes.visit_expr(other);
            }
        });
        let unit = of.else_branch.is_none() || if_diverges(of);
        self.visit_expr_mut(&mut of.cond);
        let (number, f) = self.fresh();
        let i = label("i", number);
        self.frames.push(Frame::If { number, vars: vars.clone() });
        self.visit_block_mut(&mut of.then_branch);
        if let Some((_, other)) = &mut of.else_branch {
            self.visit_expr_mut(other);
        }
        self.frames.pop();
        let (cond, then) = (&of.cond, &of.then_branch);
        let other = match &of.else_branch {
            Some((_, other)) => quote!({ #other }),
            None => quote!({}),
        };
        let at = self.path(cond.span());
        let open = quote_spanned!(cond.span()=> #at::stage::if_(#cond));
        let v = value();
        let (ty, define) = (unit.then(|| quote!(: ())), vars.definition());
        parse_quote_spanned! {span=> {
            #define
            let mut #f = #open;
            #f.begin(#vars);
            #i: loop {
                let #v #ty = if #f.take() #then else #other;
                if let ::core::option::Option::Some(#v) = #f.join(
                    #v,
                    |#v| {
                        use #path::stage::NotCarried as _;
                        #path::stage::Probe(#v).carried()
                    },
                    #vars,
                ) {
                    break #i #v;
                }
            }
        }}
    }

    fn for_(&mut self, of: &mut ExprForLoop) -> Expr {
        let span = of.for_token.span;
        let names = bound(&of.pat);
        let vars = self.vars(names.clone(), |changes| changes.visit_block(&of.body));
        self.visit_expr_mut(&mut of.expr);
        let (number, f) = self.fresh();
        let (g, c, items) = (label("g", number), label("c", number), name("items", number));
        let user = of.label.as_ref().map(|label| label.name.clone());
        self.frames.push(Frame::Loop { number, label: user, vars: vars.clone() });
        self.within(names, |rewrite| rewrite.visit_block_mut(&mut of.body));
        self.frames.pop();
        let (range, pat, body) = (self.range(&of.expr), &of.pat, &of.body);
        let at = self.path(of.expr.span());
        let open = quote_spanned!(of.expr.span()=> #at::stage::for_(#range));
        let (gone, define) = (self.gone(&f), vars.definition());
        parse_quote_spanned! {span=> {
            #define
            let (mut #f, #items) = #open;
            #f.begin(#vars);
            #g: for #pat in #items {
                #c: { #body }
                if #f.end(#vars) { break #g; }
            }
            #f.finish(#vars);
            #gone
        }}
    }

    /// `a..b`, also under `step_by` and `rev`, with an end that is no number, as a range of whatever the ends are.
    fn range(&self, of: &Expr) -> TokenStream {
        let path = self.path(of.span());
        let number = |expr: &Expr| matches!(expr, Expr::Lit(_));
        match of {
            Expr::Range(ExprRange {
                start: Some(a), end: Some(b), limits: RangeLimits::HalfOpen(_), ..
            }) if !(number(a) && number(b)) => {
                quote_spanned!(of.span()=> #path::stage::range(#a, #b))
            }
            Expr::Paren(ExprParen { expr, .. }) if matches!(**expr, Expr::Range(_)) => {
                let inner = self.range(expr);
                quote!((#inner))
            }
            Expr::MethodCall(ExprMethodCall { receiver, method, args, .. })
                if matches!(**receiver, Expr::Paren(_) | Expr::MethodCall(_))
                    && (method == "step_by" || method == "rev") =>
            {
                let inner = self.range(receiver);
                quote_spanned!(method.span()=> #inner.#method(#args))
            }
            _ => quote!(#of),
        }
    }

    fn while_(&mut self, of: &mut ExprWhile) -> Expr {
        let span = of.while_token.span;
        let path = self.path(span);
        let names = bound_in(&of.cond);
        let host = has_let(&of.cond);
        let vars = self.vars(Names::new(), |changes| {
            changes.visit_expr(&of.cond);
            changes.visit_expr_while(&ExprWhile { attrs: Vec::new(), label: None, ..of.clone() });
        });
        let vars = if host { Vars::none() } else { vars };
        self.visit_expr_mut(&mut of.cond);
        let (number, f) = self.fresh();
        let (g, c) = (label("g", number), label("c", number));
        let user = of.label.as_ref().map(|label| label.name.clone());
        self.frames.push(Frame::Loop { number, label: user, vars: vars.clone() });
        self.within(names, |rewrite| rewrite.visit_block_mut(&mut of.body));
        self.frames.pop();
        let (cond, body) = (&of.cond, &of.body);
        let gone = self.gone(&f);
        if host {
            return parse_quote_spanned! {span=> {
                let mut #f = #path::stage::host_loop();
                #g: while #cond { #c: { #body } if #f.end(#vars) { break #g; } }
                #gone
            }};
        }
        let at = self.path(cond.span());
        let open = quote_spanned!(cond.span()=> #at::stage::while_(|| #cond));
        let (leaves, define) = (quote_spanned!(cond.span()=> #f.leaves(#cond, #vars)), vars.definition());
        parse_quote_spanned! {span=> {
            #define
            let mut #f = #open;
            #f.begin(#vars);
            #g: while #f.again() {
                #c: { if #leaves { break #g; } #body }
                if #f.end(#vars) { break #g; }
            }
            #f.finish(#vars);
            #gone
        }}
    }

    fn loop_(&mut self, of: &mut ExprLoop) -> Expr {
        let span = of.loop_token.span;
        let path = self.path(span);
        let vars = self.vars(Names::new(), |changes| changes.visit_block(&of.body));
        let (number, f) = self.fresh();
        let (g, c) = (label("g", number), label("c", number));
        let user = of.label.as_ref().map(|label| label.name.clone());
        self.frames.push(Frame::Loop { number, label: user, vars: vars.clone() });
        self.visit_block_mut(&mut of.body);
        self.frames.pop();
        let (body, define) = (&of.body, vars.definition());
        parse_quote_spanned! {span=> {
            #define
            let mut #f = #path::stage::loop_();
            #f.begin(#vars);
            #g: while #f.again() {
                #c: { #body }
                if #f.end(#vars) { break #g; }
            }
            #f.finish(#vars);
        }}
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.within(Names::new(), |rewrite| visit_mut::visit_block_mut(rewrite, block));
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}

    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        let names = bound_by(local);
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names);
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        let names = bound(&arm.pat);
        self.within(names, |rewrite| {
            if let Some((_, guard)) = &mut arm.guard {
                rewrite.visit_expr_mut(guard);
            }
            rewrite.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, of: &mut ExprClosure) {
        // A closure runs where it is called: ways out of the loops around it are none of its own.
        let frames = std::mem::take(&mut self.frames);
        let names = of.inputs.iter().flat_map(bound).collect();
        self.within(names, |rewrite| rewrite.visit_expr_mut(&mut of.body));
        self.frames = frames;
        let (path, body) = (self.path(of.body.span()), &of.body);
        let depth = quote_spanned!(Span::mixed_site()=> __depth);
        *of.body = parse_quote_spanned!(of.body.span()=> {
            let #depth = #path::stage::depth();
            let _ = #depth;
            #body
        });
    }

    fn visit_macro_mut(&mut self, of: &mut Macro) {
        // Macros that take expressions, such as `vec!`: what does not parse as these stays as it is.
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(mut args) = parser.parse2(of.tokens.clone()) {
            args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            of.tokens = quote!(#args);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let path = self.path(span);
        match expr {
            Expr::Binary(of) => {
                visit_mut::visit_expr_binary_mut(self, of);
                let (l, r) = (&of.left, &of.right);
                let compare = match of.op {
                    BinOp::Lt(_) => "lt",
                    BinOp::Le(_) => "le",
                    BinOp::Gt(_) => "gt",
                    BinOp::Ge(_) => "ge",
                    BinOp::Eq(_) => "eq",
                    BinOp::Ne(_) => "ne",
                    BinOp::And(_) | BinOp::Or(_) if !has_let(l) && !has_let(r) => {
                        let f = Ident::new(
                            if matches!(of.op, BinOp::And(_)) { "and" } else { "or" },
                            of.op.span(),
                        );
                        *expr = parse_quote_spanned!(span=> #path::stage::#f(#l, || #r));
                        return;
                    }
                    _ => return,
                };
                let f = Ident::new(compare, of.op.span());
                *expr = parse_quote_spanned!(span=> #path::stage::#f(&(#l), &(#r)));
            }
            Expr::If(of) if has_let(&of.cond) => {
                self.visit_expr_mut(&mut of.cond);
                let names = bound_in(&of.cond);
                self.within(names, |rewrite| rewrite.visit_block_mut(&mut of.then_branch));
                if let Some((_, other)) = &mut of.else_branch {
                    self.visit_expr_mut(other);
                }
            }
            Expr::If(of) => *expr = self.if_(of),
            Expr::ForLoop(of) => *expr = self.for_(of),
            Expr::While(of) => *expr = self.while_(of),
            Expr::Loop(of) => *expr = self.loop_(of),
            Expr::Block(ExprBlock { label: Some(user), block, .. }) => {
                self.count += 1;
                let (number, user) = (self.count, user.name.clone());
                self.frames.push(Frame::Block { number, label: user });
                self.visit_block_mut(block);
                self.frames.pop();
                let depth = name("depth", number);
                let inner = &*expr;
                *expr = parse_quote_spanned!(span=> { let #depth = #path::stage::depth(); #inner });
            }
            Expr::Break(ExprBreak { label, expr: value, .. }) => {
                if let Some(value) = value {
                    self.visit_expr_mut(value);
                }
                if let Some(new) = self.leave("break", label.as_ref(), value.as_deref(), span) {
                    *expr = new;
                }
            }
            Expr::Continue(of) => {
                if let Some(new) = self.leave("continue", of.label.as_ref(), None, span) {
                    *expr = new;
                }
            }
            Expr::Return(of) => {
                visit_mut::visit_expr_return_mut(self, of);
                let of = &*of;
                let depth = quote_spanned!(Span::mixed_site()=> __depth);
                *expr = parse_quote_spanned!(span=> { #path::stage::no_leave("return", #depth); #of });
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
}
