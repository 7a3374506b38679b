//! `#[kernel]` and `#[function]`: what a function becomes.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, GenericArgument, GenericParam, ItemFn, Pat, PatType, PathArguments, Result,
    ReturnType, Type, parse_quote,
};

use crate::early::early;
use crate::options::{Options, respan};
use crate::rewrite::Rewrite;
use crate::scope::{Bound, Names, bound};

/// The names that parameters bind.
fn parameters(item: &ItemFn) -> Names {
    let mut names = Names::new();
    for arg in &item.sig.inputs {
        match arg {
            FnArg::Typed(of) => names.extend(bound(&Pat::Type(of.clone()))),
            FnArg::Receiver(of) => {
                let how = match (&of.reference, of.mutability) {
                    (Some(_), Some(_)) => Bound::MutRef,
                    (None, Some(_)) => Bound::Mut,
                    _ => Bound::Fixed,
                };
                names.insert("self".into(), how);
            }
        }
    }
    names
}

fn allows() -> Attribute {
    parse_quote!(#[allow(
        unused_braces,
        unused_parens,
        unused_mut,
        unused_variables,
        unused_labels,
        unused_assignments,
        unused_imports,
        unreachable_code,
        clippy::all,
        reason = "control flow has frames around it"
    )])
}

/// A helper of kernels.
pub(crate) fn function(options: &Options, mut item: ItemFn) -> Result<TokenStream> {
    if let Some(token) = &item.sig.asyncness {
        return Err(Error::new(token.span(), "functions of kernels are not `async`"));
    }
    let path = &options.path;
    let names = parameters(&item);
    Rewrite::new(path, names).body(&mut item.block);
    let text = item.sig.ident.to_string();
    let body = &item.block;
    let output = match &item.sig.output {
        ReturnType::Type(arrow, ty) if !matches!(**ty, Type::ImplTrait(_)) => quote!(#arrow #ty),
        _ => TokenStream::new(),
    };
    // The closure is not what `track_caller` says of the function: places in it are its own.
    let wrapped = match output.is_empty() {
        true => quote!((move || #body)()),
        false => quote!((move || #output #body)()),
    };
    *item.block = parse_quote!({
        let __call = #path::stage::call(#text);
        #wrapped
    });
    item.attrs.push(allows());
    item.attrs.push(parse_quote!(#[track_caller]));
    Ok(quote!(#item))
}

/// What a parameter of a kernel is.
enum Kind {
    Array { mutable: bool, element: Box<Type>, args: TokenStream },
    Scalars,
    Constant,
}

fn last<'a>(ty: &'a Type, names: &[&str]) -> Option<&'a PathArguments> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    names.iter().any(|name| last.ident == name).then_some(&last.arguments)
}

/// Whether a type is made of scalars of the run time.
fn is_scalars(ty: &Type) -> bool {
    match ty {
        Type::Tuple(of) => !of.elems.is_empty() && of.elems.iter().all(is_scalars),
        Type::Paren(of) => is_scalars(&of.elem),
        ty => last(ty, &["Scalar", "Tile"]).is_some(),
    }
}

fn kind(arg: &mut PatType) -> Result<Kind> {
    let marked = arg.attrs.iter().position(|attr| attr.path().is_ident("tiles"));
    if let Some(at) = marked {
        arg.attrs.remove(at);
        return Ok(Kind::Scalars);
    }
    if let Type::Reference(to) = &*arg.ty {
        let Some(PathArguments::AngleBracketed(args)) = last(&to.elem, &["Array"]) else {
            let message =
                "a parameter of a kernel that is a reference is a `&Array<T, R>` or a `&mut Array<T, R>`";
            return Err(Error::new(arg.ty.span(), message));
        };
        let Some(GenericArgument::Type(element)) = args.args.first() else {
            return Err(Error::new(args.span(), "`Array<T, R>` has the type of its elements and its rank"));
        };
        let list = &args.args;
        return Ok(Kind::Array {
            mutable: to.mutability.is_some(),
            element: Box::new(element.clone()),
            args: quote!(#list),
        });
    }
    if last(&arg.ty, &["Array"]).is_some() {
        let message =
            "an array is a reference: `&Array` if the kernel reads it, `&mut Array` if it writes it";
        return Err(Error::new(arg.ty.span(), message));
    }
    Ok(if is_scalars(&arg.ty) { Kind::Scalars } else { Kind::Constant })
}

/// A kernel.
pub(crate) fn expand(options: &Options, mut item: ItemFn) -> Result<TokenStream> {
    let path = &options.path;
    if let ReturnType::Type(_, ty) = &item.sig.output {
        return Err(Error::new(ty.span(), "a kernel returns nothing: it stores into `&mut Array`s"));
    }
    if let Some(token) = &item.sig.asyncness {
        return Err(Error::new(token.span(), "kernels are not `async`"));
    }
    let names = parameters(&item);
    early(&mut item.block);
    Rewrite::new(path, names).body(&mut item.block);

    let (mut declared, mut passed) = (Vec::new(), Vec::new());
    let (mut constants, mut constant_types) = (Vec::new(), Vec::new());
    let (mut host_params, mut host_calls, mut host_bounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut stage_inputs = Vec::new();
    for arg in &mut item.sig.inputs {
        let FnArg::Typed(arg) = arg else {
            return Err(Error::new(arg.span(), "a kernel is a function, not a method"));
        };
        let kind = kind(arg)?;
        let Pat::Ident(pat) = &*arg.pat else {
            return Err(Error::new(arg.pat.span(), "a parameter of a kernel is a name"));
        };
        let (name, ty) = (&pat.ident, &arg.ty);
        let (text, span) = (name.to_string(), ty.span());
        let path = &respan(path, span);
        match kind {
            Kind::Array { mutable, element, args } => {
                let reference = if mutable { quote!(&mut) } else { quote!(&) };
                declared.push(quote_spanned!(span=> let mut #name = #path::stage::array::<#args>(#text, #mutable, __facts);));
                passed.push(quote!(#reference #name));
                let (lent, call) = match mutable {
                    true => (quote!(&'__launch mut), quote!(array_mut)),
                    false => (quote!(&'__launch), quote!(array)),
                };
                host_params.push(quote_spanned!(span=> #name: #lent #path::launch::DeviceArray<#args>));
                host_bounds.push(quote_spanned!(span=> #element: #path::launch::HostElement));
                host_calls.push(quote!(let __launch = __launch.#call(#name);));
            }
            Kind::Scalars => {
                declared.push(quote_spanned!(span=> let #name = <#ty as #path::stage::Parameter>::declare(#text, __facts);));
                passed.push(quote!(#name));
                host_params.push(quote_spanned!(span=> #name: <#ty as #path::stage::Parameter>::Host));
                host_bounds.push(quote_spanned!(span=> #ty: #path::stage::Argument));
                host_calls.push(quote_spanned!(span=> let __launch = <#ty as #path::stage::Argument>::pass(#name, __launch);));
            }
            Kind::Constant => {
                passed.push(quote!(::core::clone::Clone::clone(&#name)));
                host_params.push(quote!(#name: #ty));
                constants.push(name.clone());
                constant_types.push((**ty).clone());
            }
        }
        stage_inputs.push(arg.clone());
    }

    let mut hints = Vec::new();
    for hint in &options.hints {
        let (name, value) = (hint.name.to_string(), &hint.value);
        let arch = match &hint.arch {
            Some(arch) => {
                let arch = arch.to_string();
                quote!(::core::option::Option::Some(#arch))
            }
            None => quote!(::core::option::Option::None),
        };
        let path = respan(path, hint.name.span());
        let number = match value {
            syn::Expr::Lit(_) => quote!(#value),
            _ => quote!((#value) as i64),
        };
        hints.push(quote_spanned!(hint.name.span()=> #path::stage::hint(#arch, #name, #number);));
    }

    let (visibility, name, block) = (&item.vis, &item.sig.ident, &item.block);
    let text = name.to_string();
    let (generics_impl, generics_use, where_clause) = item.sig.generics.split_for_impl();
    let turbofish = generics_use.as_turbofish();
    let params = &item.sig.generics.params;
    let types: Vec<&Ident> = item.sig.generics.type_params().map(|param| &param.ident).collect();
    let docs: Vec<&Attribute> = item.attrs.iter().filter(|attr| attr.path().is_ident("doc")).collect();
    let others: Vec<&Attribute> = item.attrs.iter().filter(|attr| !attr.path().is_ident("doc")).collect();
    let dialect = format_ident!("{}", if options.cxx { "Cxx" } else { "Python" });
    let (pow2, deny) = (options.strict_pow2, options.deny_checks);
    let allows = allows();

    // The host's function has a lifetime of its own in front of the kernel's generics.
    let of_host = |param: &GenericParam| !matches!(param, GenericParam::Lifetime(_));
    let host_generics: Vec<&GenericParam> = params.iter().filter(|param| of_host(param)).collect();
    let host_where = where_clause.map(|clause| {
        let predicates = clause.predicates.iter();
        quote!(#(#predicates,)*)
    });
    let constant_names = &constants;

    Ok(quote! {
        #(#docs)*
        ///
        /// The type is for what is asked of the kernel without a launch.
        #[allow(non_camel_case_types, dead_code, reason = "the kernel's name is that of a function")]
        #visibility struct #name<#params> #where_clause {
            _types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        }

        #[allow(dead_code, reason = "a kernel may be launched only, or built only")]
        impl #generics_impl #name #generics_use #where_clause {
            #(#others)*
            #allows
            fn __stage(#(#stage_inputs),*) #block

            /// The kernel's program for arguments of which these facts hold.
            ///
            /// # Errors
            /// Everything that is wrong with the program.
            #[allow(unused_mut, unused_variables, reason = "kernels without arrays, or without writes")]
            #visibility fn ir_with(
                __facts: &#path::facts::Facts,
                #(#constant_names: #constant_types),*
            ) -> ::core::result::Result<#path::ir::Func, #path::error::Error> {
                let __header = #path::stage::Header {
                    name: #text,
                    dialect: #path::ir::Dialect::#dialect,
                    strict_pow2: #pow2,
                    deny_in_kernel_checks: #deny,
                };
                #path::stage::trace(__header, || {
                    #(#hints)*
                    #(#declared)*
                    Self::__stage(#(#passed),*)
                })
            }

            /// The kernel's program for row-major arrays of which nothing else is known.
            ///
            /// # Errors
            /// Everything that is wrong with the program.
            #visibility fn ir(
                #(#constant_names: #constant_types),*
            ) -> ::core::result::Result<#path::ir::Func, #path::error::Error> {
                Self::ir_with(&#path::facts::Facts::default(), #(#constant_names),*)
            }

            /// The kernel for an architecture, such as 90 for sm_90, and for arguments of which these facts hold.
            ///
            /// # Errors
            /// Everything that is wrong with the program; that no placement fits, and what code generation refuses.
            #visibility fn build(
                __sm: u32,
                __facts: &#path::facts::Facts,
                #(#constant_names: #constant_types),*
            ) -> ::core::result::Result<#path::Compiled, #path::error::Error> {
                #path::compile(&Self::ir_with(__facts, #(#constant_names),*)?, __sm)
            }

            /// Explains how the kernel is lowered for an architecture, such as 90 for sm_90, and for arguments of which these facts hold.
            ///
            /// # Errors
            /// As `build`.
            #visibility fn explain(
                __sm: u32,
                __facts: &#path::facts::Facts,
                #(#constant_names: #constant_types),*
            ) -> ::core::result::Result<#path::explain::Explanation, #path::error::Error> {
                #path::explain::explain(&Self::ir_with(__facts, #(#constant_names),*)?, __sm)
            }
        }

        #path::__launch! {
            #(#docs)*
            ///
            /// Returns the launch, which does nothing until it is run.
            #[allow(dead_code, clippy::too_many_arguments, clippy::multiple_bound_locations, reason = "each parameter has its bounds")]
            #visibility fn #name<'__launch, #(#host_generics),*>(
                #(#host_params),*
            ) -> #path::launch::Launch<'__launch>
            where
                #host_where
                #(#host_bounds,)*
                #(#constant_types: '__launch,)*
            {
                #[allow(unused_imports, unused_mut, reason = "kernels without constants, or of some kinds")]
                let __constants = {
                    use #path::launch::words::{ByBits as _, ByDebug as _, ByHash as _, Constant, Constants};
                    let mut __constants = Constants::default();
                    #((&&&Constant(&#constant_names)).add(&mut __constants);)*
                    __constants
                };
                let __launch = #path::launch::Launch::new::<#name #generics_use>(
                    #text,
                    __constants,
                    move |__facts| #name #turbofish::ir_with(
                        __facts,
                        #(::core::clone::Clone::clone(&#constant_names)),*
                    ),
                );
                #(#host_calls)*
                __launch
            }
        }
    })
}
