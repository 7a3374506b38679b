//! The text form of trees and layouts: parsing and printing. The grammar is in `parse.rs`.

use core::fmt;
use core::str::FromStr;

use crate::leaf::symbol::write_with_facts;
use crate::text::facts::Clause;
use crate::text::parse::{Kind, cursor};
use crate::{Composed, Coord, Crd, Error, Int, Lay, Shape, Strides, Sum, Swizzle, Tiler};

/// The value with the facts of the clause at the cursor, up to the end of the text.
macro_rules! with_facts {
    ($cursor:ident, $value:expr, $end:literal) => {{
        let (mut value, mut clause) = ($value, Clause::NEW);
        while let Some(symbol) = tri!($cursor.known(&mut clause)) {
            if !value.learn(symbol) {
                return Err(Error::Parse {
                    at: clause.at,
                    expected: "a symbol of the text before the facts",
                });
            }
        }
        tri!($cursor.end($end));
        Ok(value)
    }};
}

impl Int {
    /// Reads `8`, `_8`, `s0`, `2*ceil(s0/8)`, `s0 where s0=divisible_by(8)`.
    ///
    /// ```
    /// use girih_layout::Int;
    /// assert_eq!(Int::parse("_8")?, Int::fixed(8));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`], and those of [`Int::mul`].
    pub const fn parse(text: &str) -> Result<Int, Error> {
        let mut cursor = cursor(text);
        cursor.skip_blanks();
        with_facts!(cursor, tri!(cursor.integer()), "the end of the text")
    }
}

impl Sum {
    /// Reads `3*s0 + 2`: integers as [`Int::parse`] reads them, with `+` and `-` between them.
    ///
    /// ```
    /// use girih_layout::Sum;
    /// assert_eq!(Sum::parse("2 - s1 + 3*s0")?.to_string(), "3*s0 - s1 + 2");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`], and those of [`Sum::add`] and [`Int::mul`].
    pub const fn parse(text: &str) -> Result<Sum, Error> {
        let (mut cursor, mut out, mut negative) = (cursor(text), Sum::ZERO, false);
        loop {
            cursor.skip_blanks();
            let int = tri!(cursor.integer());
            tri!(out.push(if negative { tri!(int.neg()) } else { int }));
            negative = cursor.eat(b'-');
            if !negative && !cursor.eat(b'+') {
                return with_facts!(cursor, out, "'+', '-' or the end of the text");
            }
        }
    }
}

impl Shape {
    /// Reads `(4,(2,3))`.
    ///
    /// ```
    /// use girih_layout::Shape;
    /// assert_eq!(Shape::parse("(4, (2, 3))")?.to_string(), "(4,(2,3))");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`], [`Error::Capacity`].
    pub const fn parse(text: &str) -> Result<Shape, Error> {
        let mut cursor = cursor(text);
        with_facts!(cursor, tri!(cursor.integers()), "the end of the text")
    }
}

impl Strides {
    /// Reads `(1,(4,2@1))`.
    ///
    /// ```
    /// use girih_layout::{Stride, Strides};
    /// assert_eq!(Strides::parse("(1,(4,2@1))")?.get(0), Some(Stride::from(1)));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`], [`Error::Capacity`].
    pub const fn parse(text: &str) -> Result<Strides, Error> {
        let mut cursor = cursor(text);
        with_facts!(cursor, tri!(cursor.strides()), "the end of the text")
    }
}

impl Coord {
    /// Reads `5`, `(1,(0,_))`.
    ///
    /// ```
    /// use girih_layout::Coord;
    /// assert_eq!(Coord::parse("(1,(_,2))")?.leaf_count(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`], [`Error::Capacity`].
    pub const fn parse(text: &str) -> Result<Coord, Error> {
        let mut cursor = cursor(text);
        let raw = tri!(cursor.tree(Kind::Coord));
        tri!(cursor.end("the end of the text"));
        let mut out = Coord::zeros(raw.profile);
        let mut i = 0;
        while i < raw.leaf_count() {
            let leaf = raw.leaves.get(i).crd();
            if let Crd::At(_) = leaf {
                tri!(raw.at_leaf(i).require_known("a coordinate"));
            }
            tri!(out.set(i, leaf));
            i += 1;
        }
        Ok(out)
    }
}

impl Lay {
    /// Reads `((2,2),4):((1,8),2)`; a shape alone, `(4,8)`, is compact with the leftmost mode fastest. Strides may be scaled basis vectors:
    /// `(128,32):(1@0,1@1)`. What is known of symbols may follow, `where s0=divisible_by(8),at_least(8), s1=at_most(64)`; a
    /// symbol is there once, and some number agrees with its facts.
    ///
    /// ```
    /// use girih_layout::Lay;
    /// assert_eq!(Lay::parse("(4,(2,3)):(6,(3,1))")?.rank(), 2);
    /// assert_eq!(Lay::parse("(4,2:1").unwrap_err().to_string(), "at byte 4: expected ',' or ')'");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`] with the byte of the error, [`Error::NotCongruent`], [`Error::NonPositiveShape`], [`Error::Capacity`].
    pub const fn parse(text: &str) -> Result<Lay, Error> {
        let mut cursor = cursor(text);
        with_facts!(cursor, tri!(cursor.layout()), "':' and strides, or the end of the text")
    }
}

impl Composed {
    /// Reads `Sw<3,4,3> o 0 o (8,64):(64,1)`.
    ///
    /// ```
    /// use girih_layout::Composed;
    /// assert_eq!(Composed::parse("Sw<3,4,3> o 0 o (8,64):(64,1)")?.swizzle().bits(), 3);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::parse`], and [`Error::Swizzle`].
    pub const fn parse(text: &str) -> Result<Composed, Error> {
        let mut cursor = cursor(text);
        with_facts!(cursor, tri!(cursor.composed()), "':' and strides, or the end of the text")
    }
}

impl Swizzle {
    /// Reads `Sw<3,4,3>`, as CuTe prints it.
    ///
    /// ```
    /// use girih_layout::Swizzle;
    /// assert_eq!(Swizzle::parse("Sw<3,4,3>")?, Swizzle::new(3, 4, 3)?);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`], and [`Error::Swizzle`].
    pub const fn parse(text: &str) -> Result<Swizzle, Error> {
        let mut cursor = cursor(text);
        let swizzle = tri!(cursor.swizzle());
        tri!(cursor.end("the end of the text"));
        Ok(swizzle)
    }
}

impl Tiler {
    /// Reads `<3:3,(2,4):(1,8)>`, `<128,32>` (a shape tile `n` is `n:1`), `<_,8>` (`_` leaves the mode alone), `<<2,2>,4>` (tiles of the modes of
    /// mode 0), or a layout, `4:2`.
    ///
    /// ```
    /// use girih_layout::Tiler;
    /// assert_eq!(Tiler::parse("<128,_,(2,4):(1,8)>")?.to_string(), "<128:1,_,(2,4):(1,8)>");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Lay::parse`].
    pub const fn parse(text: &str) -> Result<Tiler, Error> {
        let mut cursor = cursor(text);
        if !cursor.eat(b'<') {
            return Ok(Tiler::Lay(tri!(Lay::parse(text))));
        }
        with_facts!(cursor, Tiler::Modes(tri!(cursor.tiles(1))), "the end of the text")
    }
}

impl FromStr for Lay {
    type Err = Error;
    fn from_str(text: &str) -> Result<Lay, Error> {
        Lay::parse(text)
    }
}

impl FromStr for Composed {
    type Err = Error;
    fn from_str(text: &str) -> Result<Composed, Error> {
        Composed::parse(text)
    }
}

impl FromStr for Swizzle {
    type Err = Error;
    fn from_str(text: &str) -> Result<Swizzle, Error> {
        Swizzle::parse(text)
    }
}

impl FromStr for Tiler {
    type Err = Error;
    fn from_str(text: &str) -> Result<Tiler, Error> {
        Tiler::parse(text)
    }
}

impl fmt::Display for Lay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.sign_plus() {
            return write_with_facts(f, self, self.factors());
        }
        self.shape.fmt(f)?;
        f.write_str(":")?;
        self.stride().fmt(f)
    }
}

impl fmt::Debug for Lay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
