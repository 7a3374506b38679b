//! A whole build: parameters, and the run of the staging function.

use super::{STAGE, Stage, with};
use crate::elem::Elem;
use crate::error::{Error, Fault, Result, Site};
use crate::facts::{ArrayFacts, Facts};
use crate::handle::{Array, Tile};
use crate::hints::Hint;
use crate::ir::{Dialect, Func, Known, ScalarParam};
#[cfg(feature = "launch")]
use crate::launch::{Launch, ScalarArgument};

/// What `#[kernel]` says of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Its name.
    pub name: &'static str,
    /// The rules of typing.
    pub dialect: Dialect,
    /// Whether extents of tiles must be powers of two.
    pub strict_pow2: bool,
    /// Whether checks of bounds in the kernel are refused.
    pub deny_in_kernel_checks: bool,
}

/// Types of kernels' scalar parameters, and of structs of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of the run time",
    note = "`&Array`, `&mut Array`, `Scalar` and tuples of scalars are; `#[tiles]` before a parameter asks for this of a struct of scalars"
)]
pub trait Parameter {
    /// What the host passes.
    type Host: Copy;
    /// Declares the parameter of this name.
    fn declare(name: &str, facts: &Facts) -> Self;
}

impl<T: Elem> Parameter for Tile<T> {
    type Host = T;
    fn declare(name: &str, facts: &Facts) -> Tile<T> {
        Tile::of(with(|stage| {
            let known = facts
                .scalars
                .get(stage.build.func().scalars().len())
                .copied()
                .unwrap_or(Known::MultipleOf(1));
            let value = stage.build.scalar(ScalarParam { name: name.into(), dtype: T::DTYPE, known });
            stage.handle(value)
        }))
    }
}

/// Parameters that the host passes numbers for.
#[cfg(feature = "launch")]
pub trait Argument: Parameter {
    /// Adds the numbers to a launch.
    fn pass(host: Self::Host, launch: Launch<'_>) -> Launch<'_>;
}

#[cfg(feature = "launch")]
impl<T: Elem + ScalarArgument> Argument for Tile<T> {
    fn pass(host: T, launch: Launch<'_>) -> Launch<'_> {
        launch.scalar(host)
    }
}

macro_rules! tuples {
    ($($n:literal: $($name:ident $at:tt)*;)*) => { $(
        impl<$($name: Parameter),*> Parameter for ($($name,)*) {
            type Host = ($($name::Host,)*);
            fn declare(name: &str, facts: &Facts) -> Self {
                ($($name::declare(&format!("{name}_{}", $at), facts),)*)
            }
        }

        #[cfg(feature = "launch")]
        impl<$($name: Argument),*> Argument for ($($name,)*) {
            fn pass(host: Self::Host, launch: Launch<'_>) -> Launch<'_> {
                $(let launch = $name::pass(host.$at, launch);)*
                launch
            }
        }
    )* };
}
for_tuples!(tuples, 4);

/// Declares an array parameter.
pub fn array<T: Elem, const R: usize>(name: &str, mutable: bool, facts: &Facts) -> Array<T, R> {
    with(|stage| {
        let given = facts.arrays.get(stage.build.func().arrays().len()).cloned();
        let given = given.filter(|facts| [facts.extents.len(), facts.strides.len()] == [R; 2]);
        let facts = given.unwrap_or_else(|| ArrayFacts::row_major(R, T::DTYPE));
        let id = stage.build.array(facts.param(name, T::DTYPE, mutable));
        Array::of(id)
    })
}

/// Sets a hint of the kernel that is built.
#[track_caller]
pub fn hint(arch: Option<&str>, name: &str, value: i64) {
    let site = Site::caller();
    with(|stage| {
        let set = match Hint::named(name) {
            Some(hint) => stage.build.hints_mut().set(arch, hint, value),
            None => {
                let accepted = Hint::ALL.iter().map(|hint| hint.name()).collect();
                Err(Fault::HintName { name: name.into(), accepted })
            }
        };
        if let Err(fault) = set {
            stage.report(site, fault);
        }
    });
}

/// Puts back the build that another one has interrupted, also if that one panics.
struct Restore(Option<Box<Stage>>);

impl Drop for Restore {
    fn drop(&mut self) {
        STAGE.set(self.0.take());
    }
}

/// Runs a staging function and returns the program that it writes.
///
/// # Errors
/// [`Error::Build`] with everything that is wrong.
#[track_caller]
pub fn trace(header: Header, f: impl FnOnce()) -> Result<Func> {
    let outer = begin(&header);
    f();
    end(outer, Site::caller())
}

fn begin(header: &Header) -> Restore {
    let mut fresh = Box::new(Stage::new(header.name));
    fresh.build.dialect = header.dialect;
    fresh.build.strict_pow2 = header.strict_pow2;
    if header.deny_in_kernel_checks {
        fresh.build.deny_in_kernel_checks();
    }
    Restore(STAGE.replace(Some(fresh)))
}

fn end(outer: Restore, site: Site) -> Result<Func> {
    let done = STAGE.take();
    drop(outer);
    let Some(mut stage) = done else { return Err(Error::Build(Vec::new())) };
    if !stage.open.is_empty() {
        stage.report(site, Fault::Leave { what: "`?`, or a `break` out of a labelled block,".into() });
    }
    if stage.found.is_empty() { Ok(stage.build.finish()) } else { Err(Error::Build(stage.found)) }
}
