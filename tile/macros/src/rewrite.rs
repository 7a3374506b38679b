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

mod construct;

use std::cell::Cell;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, BinOp, Block, Expr, ExprBlock, ExprBreak, ExprClosure, ExprIf, Item, Lifetime, Local, Macro, Stmt,
    Token, parse_quote_spanned,
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
