//! Loops and conditions, each written with its frame.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{
    Expr, ExprForLoop, ExprIf, ExprLoop, ExprMethodCall, ExprParen, ExprRange, ExprWhile, RangeLimits,
    parse_quote_spanned,
};

use super::{Frame, Rewrite, Vars, if_diverges, label, name, value};
use crate::scope::{Names, bound, bound_in, has_let};

impl<'a> Rewrite<'a> {
    /// After a loop of the build: on to the code that is written next if a way out has been taken in it.
    fn gone(&self, f: &Ident) -> TokenStream {
        if self.frames.is_empty() {
            return TokenStream::new();
        }
        let up = self.diverge(self.frames.len());
        quote!(if #f.gone() { #up })
    }

    pub(super) fn if_(&mut self, of: &mut ExprIf) -> Expr {
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

    pub(super) fn for_(&mut self, of: &mut ExprForLoop) -> Expr {
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

    pub(super) fn while_(&mut self, of: &mut ExprWhile) -> Expr {
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

    pub(super) fn loop_(&mut self, of: &mut ExprLoop) -> Expr {
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
