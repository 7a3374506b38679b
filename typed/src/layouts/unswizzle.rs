//! Cosize, inverses and decay of a swizzled layout, whose results are numbers or plain layouts. The run-time layer
//! computes these results, for static layouts when the program is compiled; the results are run-time layouts because
//! their strides may be F2 columns, which a type does not have.

use girih_layout::{Composed, Error, Lay, Message, Swizzle};

use super::int::Int;
use super::layout::unsigned;
use super::modes::Modes;
use super::say::layout;
use super::swizzled::{Swizzled, Swizzling};
use super::tree::Tree;

/// The start of a message: `name of Sw<3,3,3> o 0 o (8,64):(64,1): `.
const fn question(name: &str, swizzle: Swizzle, offset: i64, of: &Tree) -> Message {
    let mut line = Message::EMPTY;
    line.text(name);
    line.text(" of Sw<");
    line.number(swizzle.bits() as usize);
    line.text(",");
    line.number(swizzle.base() as usize);
    line.text(if swizzle.shift() < 0 { ",-" } else { "," });
    line.number(swizzle.shift().unsigned_abs() as usize);
    line.text("> o ");
    line.text(if offset < 0 { "-" } else { "" });
    line.number(offset.unsigned_abs() as usize);
    line.text(" o ");
    layout(&mut line, of);
    line.text(": ");
    line
}

const fn answered<T: Copy>(name: &str, a: &Composed, answer: &Result<T, Error>) -> T {
    match answer {
        Ok(answer) => *answer,
        Err(error) => {
            let mut line = question(name, a.swizzle(), a.offset(), &Tree::of(a.layout()));
            error.explain(&mut line);
            line.stop()
        }
    }
}

impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {
    /// The run-time form of a static swizzled layout.
    const fn composed(name: &str) -> Composed {
        match (M::STATIC, O::KNOWN, M::SKELETON.lay()) {
            (true, Some(offset), Ok(layout)) => Composed::new(W::SWIZZLE, offset, layout),
            (true, Some(offset), Err(error)) => {
                let mut line = question(name, W::SWIZZLE, offset, &M::SKELETON);
                error.explain(&mut line);
                line.stop()
            }
            _ => {
                let mut line = question(name, W::SWIZZLE, 0, &M::SKELETON);
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

fn size(n: girih_layout::Int) -> Result<usize, Error> {
    unsigned(n.get())
}

const fn count(n: girih_layout::Int) -> usize {
    n.coefficient() as usize
}

impl<W: Swizzling, M: Modes, O: Int> Swizzled<W, M, O> {
    /// [`Swizzled::cosize`] by the type alone, for constants and the lengths of arrays.
    ///
    /// ```
    /// use girih_typed::{ModesOf, Sw, Swizzled, layout_type};
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
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let line = Swizzled::<Sw<1, 0, 1>, _>::new(layout!(3 : 1)); // 0 1 3
    /// assert_eq!(line.cosize(), 4);
    /// ```
    cosize try_cosize -> usize, count, size;

    /// A layout `R` with `self(R(i)) = i`, see [`Composed::right_inverse`].
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<1, 0, 1>, _>::new(layout!((2, 2) : (2, 1)));
    /// assert_eq!(tile.right_inverse().to_string(), "(2,2):(^2,^3)");
    /// ```
    right_inverse try_right_inverse -> Lay, same;

    /// A layout `L` with `L(self(x)) = x`, see [`Composed::left_inverse`].
    ///
    /// ```
    /// use girih_typed::{Sw, Swizzled, layout};
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
    /// use girih_typed::{__, Sw, Swizzled, layout};
    /// let tile = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1)));
    /// assert_eq!(tile.slice((3, __)).try_decay()?, (lay!("((8,4,2)):((1,-8,32))"), 192 + 24));
    /// let low = Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 4) : (1, 8)));
    /// assert_eq!(low.decay(), (lay!("(8,4):(1,8)"), 0)); // within a row of 64 nothing moves
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// A whole tile has no such layout, and does not compile:
    /// ```compile_fail
    /// # use girih_typed::{Sw, Swizzled, layout};
    /// Swizzled::<Sw<3, 3, 3>, _>::new(layout!((8, 64) : (64, 1))).decay();
    /// ```
    decay try_decay -> (Lay, i64), same;
}
