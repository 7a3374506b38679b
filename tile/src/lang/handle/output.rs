//! Diagnostics of kernels: printing and assertions.

use crate::stage::{Item, apply_all};

/// The function that [`printf!`](crate::printf) calls.
#[doc(hidden)]
#[track_caller]
pub fn print(format: &str, items: &[Item]) {
    apply_all("printf", items, 0, |build, args| build.print(format, args).map(|()| Vec::new()));
}

/// Ends the kernel with an error, at run time, unless all elements are true.
#[track_caller]
pub fn assert_(condition: super::Tile<bool>, message: &str) {
    apply_all("assert", &[Item::Tile(condition.raw())], 0, |build, args| {
        build.assert(args[0], message).map(|()| Vec::new())
    });
}

/// Prints at run time, by a format as C's `printf` has it: `printf!("%d: %f\n", i, x)`. Of tiles each element is printed.
#[macro_export]
macro_rules! printf {
    ($format:literal $(, $value:expr)* $(,)?) => {
        $crate::handle::print($format, &[$($crate::handle::IntoItem::item($value)),*])
    };
}

/// Refuses to build a kernel unless a condition holds that is known while building.
#[macro_export]
macro_rules! static_assert {
    ($condition:expr $(,)?) => {
        $crate::stage::static_assert($condition, || concat!("static assertion failed: ", stringify!($condition)).into())
    };
    ($condition:expr, $($message:tt)+) => {
        $crate::stage::static_assert($condition, || format!($($message)+))
    };
}
