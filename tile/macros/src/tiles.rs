//! `#[derive(Tiles)]`: structs and enums whose tiles control flow carries.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Member, Path, Result, Token, Type};

use crate::options::{base, respan};

fn members(fields: &Fields) -> Vec<(Member, &Type)> {
    fields.members().zip(fields.iter().map(|field| &field.ty)).collect()
}

pub(crate) fn expand(default: &str, item: DeriveInput) -> Result<TokenStream> {
    let mut path = base(default)?;
    let mut parameter = false;
    for attr in item.attrs.iter().filter(|attr| attr.path().is_ident("tiles")) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                let given =
                    meta.input.parse::<Token![=]>().and_then(|_| meta.input.call(Path::parse_mod_style))?;
                path = quote!(#given);
                Ok(())
            } else if meta.path.is_ident("parameter") {
                parameter = true;
                Ok(())
            } else {
                Err(meta.error("`crate = path` and `parameter` are accepted"))
            }
        })?;
    }
    let name = &item.ident;
    let (generics, types, where_clause) = item.generics.split_for_impl();
    let visit = |at: TokenStream, ty: &Type| {
        let path = respan(&path, ty.span());
        quote_spanned!(ty.span()=> #path::stage::Carry::slots(#at, __f);)
    };
    let body = match &item.data {
        Data::Struct(of) => {
            let fields = members(&of.fields).into_iter();
            let fields = fields.map(|(member, ty)| visit(quote!(&mut self.#member), ty));
            quote!(#(#fields)*)
        }
        Data::Enum(of) => {
            let arms = of.variants.iter().enumerate().map(|(at, variant)| {
                let (variant_name, at) = (&variant.ident, at as u64);
                let fields = members(&variant.fields);
                let names: Vec<_> = (0..fields.len()).map(|i| format_ident!("__part{}", i)).collect();
                let bind = fields.iter().zip(&names).map(|((member, _), part)| quote!(#member: #part));
                let visits = fields.iter().zip(&names).map(|((_, ty), part)| visit(quote!(#part), ty));
                quote!(#name::#variant_name { #(#bind),* } => {
                    __f(#path::stage::Slot::Host(#at));
                    #(#visits)*
                })
            });
            quote!(match self { #(#arms)* })
        }
        Data::Union(of) => return Err(Error::new(of.union_token.span(), "a union cannot be carried")),
    };
    let carry = quote! {
        impl #generics #path::stage::Carry for #name #types #where_clause {
            fn slots(&mut self, __f: &mut dyn FnMut(#path::stage::Slot<'_>)) { #body }
        }
    };
    if !parameter {
        return Ok(carry);
    }
    let Data::Struct(of) = &item.data else {
        return Err(Error::new(item.span(), "a parameter of a kernel is a struct of scalars"));
    };
    let fields = members(&of.fields);
    let tys: Vec<&Type> = fields.iter().map(|(_, ty)| *ty).collect();
    let declares = fields.iter().map(|(member, ty)| {
        let text = match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(at) => at.index.to_string(),
        };
        quote_spanned!(ty.span()=> #member: <#ty as #path::stage::Parameter>::declare(&::std::format!("{__name}_{}", #text), __facts))
    });
    let passes = fields.iter().enumerate().map(|(at, (_, ty))| {
        let at = syn::Index::from(at);
        quote_spanned!(ty.span()=> let __launch = <#ty as #path::stage::Argument>::pass(__host.#at, __launch);)
    });
    Ok(quote! {
        #carry

        impl #generics #path::stage::Parameter for #name #types #where_clause {
            type Host = (#(<#tys as #path::stage::Parameter>::Host,)*);
            fn declare(__name: &str, __facts: &#path::facts::Facts) -> Self {
                #name { #(#declares),* }
            }
        }

        #path::__launch! {
            impl #generics #path::stage::Argument for #name #types #where_clause {
                fn pass(__host: Self::Host, __launch: #path::launch::Launch<'_>) -> #path::launch::Launch<'_> {
                    #(#passes)*
                    __launch
                }
            }
        }
    })
}
