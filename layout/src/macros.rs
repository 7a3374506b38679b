/// `?` for constant functions.
macro_rules! tri {
    ($e:expr) => {
        match $e {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}

/// The layout that `$write` writes to `$out`, built where the caller wants it: layouts are large, and returning one by value copies it.
macro_rules! written {
    (|$out:ident| $write:expr) => {{
        let mut result = Ok(crate::Lay::EMPTY);
        if let Ok($out) = &mut result
            && let Err(error) = $write
        {
            result = Err(error);
        }
        result
    }};
}

/// A layout from its text, checked when the program is compiled.
///
/// ```
/// use girih_layout::{Lay, lay};
/// // The accumulator of mma.m16n8k16: thread and value to the place in the 16 by 8 tile.
/// const C: Lay = lay!("((4,8),(2,2)):((32,1),(16,8))");
/// assert_eq!(C.size()?.get(), Some(128));
/// # Ok::<(), girih_layout::Error>(())
/// ```
///
/// Malformed text does not compile; here the message is `(4,8):(1: at byte 8: expected ',' or ')'`:
/// ```compile_fail
/// const BAD: girih_layout::Lay = girih_layout::lay!("(4,8):(1");
/// ```
#[macro_export]
macro_rules! lay {
    ($text:expr) => {
        const {
            match $crate::Lay::parse($text) {
                Ok(layout) => layout,
                Err(error) => $crate::refuse($text, &error),
            }
        }
    };
}

/// A tiler from its text, checked when the program is compiled: `tiler!("<128,32>")`.
///
/// ```
/// use girih_layout::{lay, tiler};
/// let tiles = lay!("(256,64):(64,1)").zipped_divide(&tiler!("<128,32>"))?;
/// assert_eq!(tiles, lay!("((128,32),(2,2)):((64,1),(8192,32))"));
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[macro_export]
macro_rules! tiler {
    ($text:expr) => {
        const {
            match $crate::Tiler::parse($text) {
                Ok(tiler) => tiler,
                Err(error) => $crate::refuse($text, &error),
            }
        }
    };
}

/// The result of a part of an operation, with errors that name the operation that was called.
macro_rules! called {
    ($name:expr, $result:expr) => {{
        // The error is changed in place, because copies of layouts are large.
        let mut result = $result;
        if let Err(error) = &mut result {
            *error = error.of($name);
        }
        result
    }};
}
