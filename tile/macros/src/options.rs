//! The arguments of the attributes.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, LitStr, Path, Result, Token, parenthesized};

/// A hint: for an architecture or for all, its name, its value.
pub(crate) struct Hint {
    pub(crate) arch: Option<Ident>,
    pub(crate) name: Ident,
    pub(crate) value: Expr,
}

/// What an attribute says.
pub(crate) struct Options {
    /// The crate of the tile language.
    pub(crate) path: TokenStream,
    pub(crate) hints: Vec<Hint>,
    pub(crate) cxx: bool,
    pub(crate) strict_pow2: bool,
    pub(crate) deny_checks: bool,
}

impl Parse for Hint {
    fn parse(input: ParseStream<'_>) -> Result<Hint> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Hint { arch: None, name, value: input.parse()? })
    }
}

enum Argument {
    Crate(Path),
    Dialect(LitStr),
    Flag(Ident),
    Hints(Vec<Hint>),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Argument> {
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            return Ok(Argument::Crate(input.call(Path::parse_mod_style)?));
        }
        let name: Ident = input.parse()?;
        if input.peek(syn::token::Paren) {
            let inner;
            parenthesized!(inner in input);
            let hints = Punctuated::<Hint, Token![,]>::parse_terminated(&inner)?.into_iter();
            return Ok(Argument::Hints(
                hints.map(|hint| Hint { arch: Some(name.clone()), ..hint }).collect(),
            ));
        }
        if !input.peek(Token![=]) {
            return Ok(Argument::Flag(name));
        }
        input.parse::<Token![=]>()?;
        if name == "dialect" {
            return Ok(Argument::Dialect(input.parse()?));
        }
        Ok(Argument::Hints(vec![Hint { arch: None, name, value: input.parse()? }]))
    }
}

/// A path to the crate, from everywhere.
pub(crate) fn base(base: &str) -> Result<TokenStream> {
    let path: Path = syn::parse_str(base)?;
    Ok(quote_spanned!(path.span()=> ::#path))
}

/// The tokens at another place in the source. What is called by them is then called from there.
pub(crate) fn respan(tokens: &TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens.clone().into_iter().map(at).collect()
}

impl Options {
    pub(crate) fn parse(default: &str, tokens: TokenStream) -> Result<Options> {
        let mut options = Options {
            path: base(default)?,
            hints: Vec::new(),
            cxx: false,
            strict_pow2: false,
            deny_checks: false,
        };
        for argument in Punctuated::<Argument, Token![,]>::parse_terminated.parse2(tokens)? {
            match argument {
                Argument::Crate(path) => options.path = quote_spanned!(path.span()=> #path),
                Argument::Dialect(text) => match text.value().as_str() {
                    "cxx" => options.cxx = true,
                    "python" => options.cxx = false,
                    _ => return Err(Error::new(text.span(), "the dialects are \"python\" and \"cxx\"")),
                },
                Argument::Hints(hints) => options.hints.extend(hints),
                Argument::Flag(flag) if flag == "strict_pow2" => options.strict_pow2 = true,
                Argument::Flag(flag) if flag == "deny_in_kernel_checks" => options.deny_checks = true,
                Argument::Flag(flag) => {
                    let message = "`strict_pow2`, `deny_in_kernel_checks`, `dialect = \"cxx\"`, `crate = path`, hints such as \
                                   `occupancy = 2` and `sm_90(num_ctas = 2)` are accepted";
                    return Err(Error::new(flag.span(), message));
                }
            }
        }
        Ok(options)
    }
}
