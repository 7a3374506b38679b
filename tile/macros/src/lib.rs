//! The attributes of girih's tile language: a Rust function becomes one that stages its tile program.
//!
//! Rust's control flow stays; calls of `girih_tile::stage` are put around it. There is no syntax tree at run time. What is made has
//! the user's spans, so that the compiler's errors and the places in a program are the user's.

mod early;
mod kernel;
mod options;
mod rewrite;
mod scope;
mod tiles;

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemFn, parse_macro_input};

use options::Options;

fn kernel_of(base: &str, options: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    let made = Options::parse(base, options.into()).and_then(|options| kernel::expand(&options, item));
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

fn function_of(base: &str, options: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    let made = Options::parse(base, options.into()).and_then(|options| kernel::function(&options, item));
    made.unwrap_or_else(syn::Error::into_compile_error).into()
}

fn tiles_of(base: &str, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    tiles::expand(base, item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a kernel of a function over tiles.
///
/// The function becomes two things of its name: a function of the host, which takes `DeviceArray`s and numbers and returns a `Launch`,
/// and a type with the associated functions `ir` and `ir_with`, which build the kernel's program.
///
/// Parameters are `&Array<T, R>`, `&mut Array<T, R>` and `Scalar<T>`, tuples of scalars, structs of scalars under `#[tiles]`, and values
/// of any other type, which are constants of the build.
///
/// Arguments: hints (`occupancy = 2`), hints of an architecture (`sm_90(num_ctas = 2)`), `dialect = "cxx"`, `strict_pow2`,
/// `deny_in_kernel_checks`, and `crate = path` where the tile language is called something else.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    kernel_of("girih_tile", options, item)
}

/// [`macro@kernel`] for users of the crate `girih`.
#[proc_macro_attribute]
pub fn girih_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    kernel_of("girih::tile", options, item)
}

/// Lets a helper function, or a method, of kernels compare tiles and have control flow of the run time, and names it in errors.
#[proc_macro_attribute]
pub fn function(options: TokenStream, item: TokenStream) -> TokenStream {
    function_of("girih_tile", options, item)
}

/// [`macro@function`] for users of the crate `girih`.
#[proc_macro_attribute]
pub fn girih_function(options: TokenStream, item: TokenStream) -> TokenStream {
    function_of("girih::tile", options, item)
}

/// Lets control flow carry the tiles in a struct or an enum. With `#[tiles(parameter)]` a struct of scalars is a kernel's parameter;
/// `#[tiles(crate = path)]` says what the tile language is called.
#[proc_macro_derive(Tiles, attributes(tiles))]
pub fn derive_tiles(item: TokenStream) -> TokenStream {
    tiles_of("girih_tile", item)
}

/// [`derive@Tiles`] for users of the crate `girih`.
#[proc_macro_derive(GirihTiles, attributes(tiles))]
pub fn derive_girih_tiles(item: TokenStream) -> TokenStream {
    tiles_of("girih::tile", item)
}
