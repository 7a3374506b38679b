//! Names of functions as their source has them.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// The deepest nesting of names that is looked at; deeper ones stay as they are.
const DEPTH: u32 = 64;

fn demangled(symbol: &str, options: DemangleOptions) -> Option<String> {
    let mangled = symbol.starts_with("_Z").then_some(symbol)?;
    let parsed = Symbol::new_with_options(mangled, &ParseOptions::default().recursion_limit(DEPTH)).ok()?;
    parsed.demangle_with_options(&options.recursion_limit(DEPTH)).ok()
}

/// The name of a function or a variable without C++'s mangling, without parameters and result. What is not mangled stays as it is.
///
/// ```
/// assert_eq!(girih_sim::plain_name("_Z5saxpyifPf"), "saxpy");
/// assert_eq!(girih_sim::plain_name("_Z6reduceILi4EEvPf"), "reduce<4>");
/// assert_eq!(girih_sim::plain_name("_ZZ6reduceE1s"), "reduce::s");
/// assert_eq!(girih_sim::plain_name("gemm"), "gemm");
/// ```
pub fn plain_name(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_params().no_return_type()).unwrap_or_else(|| symbol.into())
}

/// Whether a function has this name: as it is in the module, or without C++'s mangling, with template arguments and
/// parameters or without.
///
/// ```
/// for name in ["_Z6reduceILi4EEvPf", "reduce<4>", "reduce", "void reduce<4>(float*)"] {
///     assert!(girih_sim::is_named("_Z6reduceILi4EEvPf", name));
/// }
/// assert!(!girih_sim::is_named("_Z6reduceILi4EEvPf", "reduce<5>"));
/// ```
pub fn is_named(symbol: &str, name: &str) -> bool {
    let plain = plain_name(symbol);
    let without_template = plain.split_once('<').map_or(&*plain, |(before, _)| before);
    symbol == name
        || plain == name
        || without_template == name
        || demangled(symbol, DemangleOptions::new()).is_some_and(|whole| whole == name)
}
