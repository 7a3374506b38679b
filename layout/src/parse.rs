//! Reading layouts, shapes, coordinates and tilers from text.
//!
//! ```text
//! layout = tree [":" tree]            without strides: compact, leftmost fastest
//! tree   = leaf | "(" tree {"," tree} ")"
//! leaf   = integer ["@" mode] | "E" mode | "^" column | "_"
//! integer = ["_"] ["-"] digits | factor {"*" factor}
//! factor = ["-"] digits | "s" id | "ceil(s" id "/" digits ")"
//! tiler  = "<" ("_" | layout) {"," ("_" | layout)} ">" | layout
//! ```
//! `_8` is a static 8, as CuTe prints it; blanks may stand between the parts.

use crate::{
    Coord, Crd, Error, Int, IntTuple, Lay, Shape, Stride, Strides, Symbol, Tile, Tiler, Tiles, Tuple,
};

/// What a leaf may be.
#[derive(Clone, Copy)]
enum Kind {
    Integer,
    Stride,
    Coord,
}

#[derive(Clone, Copy)]
enum Raw {
    Stride(Stride),
    Any,
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    const fn peek(&self) -> u8 {
        if self.at < self.text.len() { self.text[self.at] } else { 0 }
    }

    const fn peek_second(&self) -> u8 {
        if self.at + 1 < self.text.len() { self.text[self.at + 1] } else { 0 }
    }

    const fn skip_blanks(&mut self) {
        while self.peek() == b' ' || self.peek() == b'\t' || self.peek() == b'\n' || self.peek() == b'\r' {
            self.at += 1;
        }
    }

    const fn eat(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.peek() == byte;
        if found {
            self.at += 1;
        }
        found
    }

    const fn fail<T: Copy>(&self, expected: &'static str) -> Result<T, Error> {
        Err(Error::Parse { at: self.at, expected })
    }

    const fn end(&mut self, expected: &'static str) -> Result<(), Error> {
        self.skip_blanks();
        if self.at == self.text.len() { Ok(()) } else { self.fail(expected) }
    }

    const fn number(&mut self) -> Result<i64, Error> {
        let begin = self.at;
        let negative = self.peek() == b'-';
        if negative {
            self.at += 1;
        }
        if !self.peek().is_ascii_digit() {
            return self.fail("a number");
        }
        let mut value = 0i64;
        while self.peek().is_ascii_digit() {
            let digit = (self.peek() - b'0') as i64;
            let next = match value.checked_mul(10) {
                Some(tens) if negative => tens.checked_sub(digit),
                Some(tens) => tens.checked_add(digit),
                None => None,
            };
            value = match next {
                Some(value) => value,
                None => return Err(Error::Parse { at: begin, expected: "a number that fits in 64 bits" }),
            };
            self.at += 1;
        }
        Ok(value)
    }

    const fn small(&mut self) -> Result<u8, Error> {
        let begin = self.at;
        match tri!(self.number()) {
            n @ 0..=255 => Ok(n as u8),
            _ => Err(Error::Parse { at: begin, expected: "a number from 0 to 255" }),
        }
    }

    /// `s3`, with the cursor at the `s`.
    const fn symbol(&mut self) -> Result<Int, Error> {
        if self.peek() != b's' {
            return self.fail("a symbol such as s0");
        }
        self.at += 1;
        Ok(Int::symbol(Symbol::new(tri!(self.small()))))
    }

    const fn factor(&mut self) -> Result<Int, Error> {
        match self.peek() {
            b'_' => {
                self.at += 1;
                Ok(Int::fixed(tri!(self.number())))
            }
            b's' => self.symbol(),
            b'c' => {
                let word = b"ceil(";
                let mut i = 0;
                while i < word.len() {
                    if self.peek() != word[i] {
                        return self.fail("ceil(s0/8)");
                    }
                    self.at += 1;
                    i += 1;
                }
                let symbol = tri!(self.symbol());
                if !self.eat(b'/') {
                    return self.fail("'/'");
                }
                let den = Int::fixed(tri!(self.number()));
                if !self.eat(b')') {
                    return self.fail("')'");
                }
                symbol.ceil_div(den)
            }
            b'-' | b'0'..=b'9' => Ok(Int::value(tri!(self.number()))),
            _ => self.fail("an integer, a symbol or '('"),
        }
    }

    const fn integer(&mut self) -> Result<Int, Error> {
        let mut product = tri!(self.factor());
        while self.eat(b'*') {
            self.skip_blanks();
            product = tri!(product.mul(tri!(self.factor())));
        }
        Ok(product)
    }

    const fn leaf(&mut self, kind: Kind) -> Result<Raw, Error> {
        let begin = self.at;
        if self.peek() == b'_' && !self.peek_second().is_ascii_digit() && self.peek_second() != b'-' {
            self.at += 1;
            return match kind {
                Kind::Coord => Ok(Raw::Any),
                _ => {
                    Err(Error::Parse { at: begin, expected: "an integer; '_' is for coordinates and tilers" })
                }
            };
        }
        let stride = match self.peek() {
            b'^' => {
                self.at += 1;
                match tri!(self.number()) {
                    column @ 0.. => Stride::F2(column as u64),
                    _ => return Err(Error::Parse { at: begin, expected: "a column of at least 0" }),
                }
            }
            b'E' => {
                self.at += 1;
                Stride::Basis { scale: Int::ONE, mode: tri!(self.small()) }
            }
            _ => {
                let scale = tri!(self.integer());
                if self.eat(b'@') {
                    Stride::Basis { scale, mode: tri!(self.small()) }
                } else {
                    Stride::Int(scale)
                }
            }
        };
        match (kind, stride) {
            (Kind::Stride, _) | (_, Stride::Int(_)) => Ok(Raw::Stride(stride)),
            _ => Err(Error::Parse { at: begin, expected: "an integer" }),
        }
    }

    const fn tree(&mut self, kind: Kind) -> Result<Tuple<Raw>, Error> {
        let mut out = Tuple::filled(Raw::Any);
        let mut depth = 0;
        loop {
            while self.eat(b'(') {
                tri!(out.profile.open());
                depth += 1;
            }
            let leaf = tri!(self.leaf(kind));
            tri!(out.push(leaf));
            while depth > 0 && self.eat(b')') {
                out.profile.close();
                depth -= 1;
            }
            if depth == 0 {
                return Ok(out);
            }
            if !self.eat(b',') {
                return self.fail("',' or ')'");
            }
        }
    }

    const fn integers(&mut self) -> Result<IntTuple, Error> {
        let raw = tri!(self.tree(Kind::Integer));
        let mut out = Tuple { profile: raw.profile, leaves: [Int::ONE; crate::MAX_LEAVES] };
        let mut i = 0;
        while i < raw.leaf_count() {
            if let Raw::Stride(Stride::Int(int)) = raw.leaves[i] {
                out.leaves[i] = int;
            }
            i += 1;
        }
        Ok(out)
    }

    const fn strides(&mut self) -> Result<Strides, Error> {
        let raw = tri!(self.tree(Kind::Stride));
        let mut out = Tuple { profile: raw.profile, leaves: [Stride::ZERO; crate::MAX_LEAVES] };
        let mut i = 0;
        while i < raw.leaf_count() {
            if let Raw::Stride(stride) = raw.leaves[i] {
                out.leaves[i] = stride;
            }
            i += 1;
        }
        Ok(out)
    }

    const fn layout(&mut self) -> Result<Lay, Error> {
        let shape = tri!(self.integers());
        if !self.eat(b':') {
            return Lay::left(&shape);
        }
        let stride = tri!(self.strides());
        Lay::new(&shape, &stride)
    }
}

const fn cursor(text: &str) -> Cursor<'_> {
    Cursor { text: text.as_bytes(), at: 0 }
}

impl Int {
    /// Reads `8`, `_8`, `s0`, `2*ceil(s0/8)`.
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

impl Shape {
    /// Reads `(4,(2,3))`.
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
    /// # Errors
    /// [`Error::Parse`], [`Error::Capacity`].
    pub const fn parse(text: &str) -> Result<Coord, Error> {
        let mut cursor = cursor(text);
        let raw = tri!(cursor.tree(Kind::Coord));
        tri!(cursor.end("the end of the text"));
        let mut out = Tuple { profile: raw.profile, leaves: [Crd::All; crate::MAX_LEAVES] };
        let mut i = 0;
        while i < raw.leaf_count() {
            if let Raw::Stride(stride) = raw.leaves[i] {
                out.leaves[i] = Crd::At(tri!(stride.require_known("a coordinate")));
            }
            i += 1;
        }
        Ok(out)
    }
}

impl Lay {
    /// Reads `((2,2),4):((1,8),2)`; a shape alone, `(4,8)`, is compact with the leftmost mode fastest. Strides may be scaled basis vectors:
    /// `(128,32):(1@0,1@1)`.
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

impl Tiler {
    /// Reads `<3:3,(2,4):(1,8)>`, `<128,32>` (a shape tile `n` is `n:1`), `<_,8>` (`_` leaves the mode alone), or a layout, `4:2`.
    ///
    /// # Errors
    /// As [`Lay::parse`].
    pub const fn parse(text: &str) -> Result<Tiler, Error> {
        let mut cursor = cursor(text);
        if !cursor.eat(b'<') {
            return Ok(Tiler::Lay(tri!(Lay::parse(text))));
        }
        let mut tiles = Tiles::EMPTY;
        loop {
            cursor.skip_blanks();
            let second = cursor.peek_second();
            if cursor.peek() == b'_' && !second.is_ascii_digit() {
                cursor.at += 1;
                tri!(tiles.push(&Tile::All));
            } else {
                tri!(tiles.push(&Tile::Lay(tri!(cursor.layout()))));
            }
            if cursor.eat(b'>') {
                tri!(cursor.end("the end of the text"));
                return Ok(Tiler::Modes(tiles));
            }
            if !cursor.eat(b',') {
                return cursor.fail("',' or '>'");
            }
        }
    }
}

impl core::str::FromStr for Lay {
    type Err = Error;
    fn from_str(text: &str) -> Result<Lay, Error> {
        Lay::parse(text)
    }
}

impl core::str::FromStr for Tiler {
    type Err = Error;
    fn from_str(text: &str) -> Result<Tiler, Error> {
        Tiler::parse(text)
    }
}
