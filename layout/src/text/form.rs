//! The text form: how trees and layouts are read and printed. The grammar stands in `parse.rs`.

use core::fmt;
use core::str::FromStr;

use crate::text::parse::{Kind, cursor};
use crate::{Composed, Coord, Crd, Error, Int, Lay, Shape, Strides, Sum, Swizzle, Tiler};

impl Int {
    /// Reads `8`, `_8`, `s0`, `2*ceil(s0/8)`.
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
        let int = tri!(cursor.integer());
        tri!(cursor.end("the end of the text"));
        Ok(int)
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
                tri!(cursor.end("'+', '-' or the end of the text"));
                return Ok(out);
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
        let shape = tri!(cursor.integers());
        tri!(cursor.end("the end of the text"));
        Ok(shape)
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
        let strides = tri!(cursor.strides());
        tri!(cursor.end("the end of the text"));
        Ok(strides)
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
    /// `(128,32):(1@0,1@1)`.
    ///
    /// ```
    /// use girih_layout::Lay;
    /// assert_eq!(Lay::parse("(4,(2,3)):(6,(3,1))")?.rank(), 2);
    /// assert_eq!(Lay::parse("(4,2:1").unwrap_err().to_string(), "at byte 4: expected ',' or ')'");
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parse`] with the byte where the text stops making sense, [`Error::NotCongruent`], [`Error::NonPositiveShape`],
    /// [`Error::Capacity`].
    pub const fn parse(text: &str) -> Result<Lay, Error> {
        let mut cursor = cursor(text);
        let layout = tri!(cursor.layout());
        tri!(cursor.end("':' and strides, or the end of the text"));
        Ok(layout)
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
        let composed = tri!(cursor.composed());
        tri!(cursor.end("':' and strides, or the end of the text"));
        Ok(composed)
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
        let tiles = tri!(cursor.tiles(1));
        tri!(cursor.end("the end of the text"));
        Ok(Tiler::Modes(tiles))
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
