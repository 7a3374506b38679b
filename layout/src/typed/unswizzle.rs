//! Cosize, inverses and decay of a swizzled layout, whose results are numbers or plain layouts. The run-time layer
//! computes these results, for static layouts when the program is compiled; the results are run-time layouts because
//! their strides may be F2 columns, which a type does not have.

use super::int::Int;
use super::layout::unsigned;
use super::modes::Modes;
use super::swizzled::{Swizzled, Swizzling};
use crate::text::explain::{explain, layout};
use crate::text::message::Message;
use crate::{Composed, Error, Lay};

/// The start of a message: `name of Sw<3,3,3> o 0 o (8,64):(64,1): `.
const fn question(name: &str, a: &Composed) -> Message {
    let mut line = Message::EMPTY;
    line.text(name);
    line.text(" of Sw<");
    line.number(a.swizzle.bits() as usize);
    line.text(",");
    line.number(a.swizzle.base() as usize);
    line.text(if a.swizzle.shift() < 0 { ",-" } else { "," });
    line.number(a.swizzle.shift().unsigned_abs() as usize);
    line.text("> o ");
    line.text(if a.offset < 0 { "-" } else { "" });
    line.number(a.offset.unsigned_abs() as usize);
    line.text(" o ");
    layout(&mut line, &a.layout);
    line.text(": ");
    line
}

const fn answered<T: Copy>(name: &str, a: &Composed, answer: &Result<T, Error>) -> T {
    match answer {
        Ok(answer) => *answer,
        Err(error) => {
            let mut line = question(name, a);
            explain(&mut line, error);
            line.stop()
        }
    }
}

impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {
    /// The run-time form of a static swizzled layout.
    const fn composed(name: &str) -> Composed {
        match (M::STATIC, O::KNOWN) {
            (true, Some(offset)) => Composed::new(W::SWIZZLE, offset, M::SKELETON),
            _ => {
                let mut line = question(name, &Composed::new(W::SWIZZLE, 0, M::SKELETON));
                line.text(
                    "the layout or its offset is dynamic, which is judged when the program runs: call try_",
                );
                line.text(name);
                line.stop()
            }
        }
    }
}

/// Operations that the run-time form computes, at compile time and at run time.
macro_rules! asked {
    ($($(#[$doc:meta])* $name:ident $try:ident -> $t:ty, $take:ident $(, $then:ident)?;)*) => {
        impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {$(
            $(#[$doc])*
            pub const fn $name(&self) -> $t {
                const {
                    let composed = Self::composed(stringify!($name));
                    $take(answered(stringify!($name), &composed, &composed.$name()))
                }
            }

            #[doc = concat!("[`Swizzled::", stringify!($name), "`], judged when the program runs: for a layout or an offset that is dynamic.")]
            ///
            /// # Errors
            #[doc = concat!("Those of [`Layout::erase`](super::Layout::erase) and [`Composed::", stringify!($name), "`].")]
            pub fn $try(&self) -> Result<$t, Error> {
                self.erase()?.$name()$(.and_then($then))?
            }
        )*}
    };
}

const fn same<T: Copy>(answer: T) -> T {
    answer
}

const fn count(n: crate::Int) -> usize {
    n.coefficient() as usize
}

impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {
    /// [`Swizzled::cosize`] by the type alone, for constants and the lengths of arrays.
    ///
    /// ```
    /// use girih_layout::typed::{ModesOf, Sw, Swizzled};
    /// use girih_layout::layout_type;
    /// type Line = Swizzled<Sw<1, 0, 1>, ModesOf<layout_type!(3 : 1)>>; // 0 1 3
    /// assert_eq!([0u8; Line::COSIZE].len(), 4);
    /// ```
    pub const COSIZE: usize = {
        let composed = Self::composed("cosize");
        count(answered("cosize", &composed, &composed.cosize()))
    };
}

asked! {
    /// The number of elements that a buffer under a static swizzled layout needs, see [`Composed::cosize`].
    ///
    /// ```
    /// use girih_layout::typed::{Sw, Swizzled};
    /// use girih_layout::layout;
    /// let line = Swizzled::<Sw<1, 0, 1>, _>::new(layout!(3 : 1)); // 0 1 3
    /// assert_eq!(line.cosize(), 4);
    /// ```
    cosize try_cosize -> usize, count, unsigned;

    /// A layout `R` with `self(R(i)) = i`, see [`Composed::right_inverse`].
    ///
    /// ```
    /// use girih_layout::typed::{Sw, Swizzled};
    /// use girih_layout::layout;
    /// let tile = Swizzled::<Sw<1, 0, 1>, _>::new(layout!((2, 2) : (2, 1)));
    /// assert_eq!(tile.right_inverse().to_string(), "(2,2):(^2,^3)");
    /// ```
    right_inverse try_right_inverse -> Lay, same;

    /// A layout `L` with `L(self(x)) = x`, see [`Composed::left_inverse`].
    ///
    /// ```
    /// use girih_layout::typed::{Sw, Swizzled};
    /// use girih_layout::layout;
    /// let tile = Swizzled::<Sw<1, 0, 1>, _>::new(layout!((2, 2) : (2, 1)));
    /// let inverse = tile.left_inverse();
    /// for x in 0..4usize {
    ///     assert_eq!(inverse.at(tile.try_at(x)?)?, x as i64);
    /// }
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    left_inverse try_left_inverse -> Lay, same;

    /// The plain layout and offset with the same indices, see [`Composed::decay`].
    ///
    /// ```
    /// use girih_layout::lay;
    /// use girih_layout::layout;
    /// use girih_layout::typed::{__, Sw, Swizzled};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.slice((3, __)).try_decay()?, (lay!("((8,4,2)):((1,-8,32))"), 192 + 24));
    /// let low = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 4) : (1, 8)));
    /// assert_eq!(low.decay(), (lay!("(8,4):(1,8)"), 0)); // within a row of 64 nothing moves
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// A whole tile has no such layout, and does not compile:
    /// ```compile_fail
    /// # use girih_layout::{layout, typed::{Sw, Swizzled}};
    /// Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1))).decay();
    /// ```
    decay try_decay -> (Lay, i64), same;
}
