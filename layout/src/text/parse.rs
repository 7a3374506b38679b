//! Reading layouts, shapes, coordinates and tilers from text.
//!
//! ```text
//! layout = tree [":" tree]            without strides: compact, leftmost fastest
//! tree   = leaf | "(" tree {"," tree} ")"     and "()" alone, the tuple of nothing
//! leaf   = integer ["@" mode] | "E" mode | "^" column | "_"
//! integer = ["_"] ["-"] digits | factor {"*" factor}
//! factor = ["-"] digits | "s" id | "ceil(s" id "/" digits ")"
//! swizzled = "Sw<" bits "," base "," shift "> o " offset " o " layout
//! tiler  = tiles | layout
//! tiles  = "<" tile {"," tile} ">"
//! tile   = "_" | layout | tiles
//! ```
//! Facts of its symbols may follow a text (`facts.rs`).
//!
//! `_8` is a static 8, as CuTe prints it; blanks may be between the parts.

use crate::tuple::store::Small;
use crate::{
    Composed, Crd, Error, Int, IntTuple, Lay, MAX_DEPTH, ModePath, Stride, Strides, Swizzle, Symbol, Tile,
    Tiles,
};

/// The kind of leaves that a tree may have.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Integer,
    Stride,
    Coord,
}

#[derive(Clone, Copy)]
enum Raw {
    Stride(Stride),
    Any,
}

pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    pub(crate) at: usize,
}

impl Cursor<'_> {
    pub(crate) const fn peek(&self) -> u8 {
        if self.at < self.text.len() { self.text[self.at] } else { 0 }
    }

    pub(crate) const fn peek_second(&self) -> u8 {
        if self.at + 1 < self.text.len() { self.text[self.at + 1] } else { 0 }
    }

    pub(crate) const fn skip_blanks(&mut self) {
        while self.peek() == b' ' || self.peek() == b'\t' || self.peek() == b'\n' || self.peek() == b'\r' {
            self.at += 1;
        }
    }

    pub(crate) const fn eat(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.peek() == byte;
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) const fn fail<T: Copy>(&self, expected: &'static str) -> Result<T, Error> {
        Err(Error::Parse { at: self.at, expected })
    }

    pub(crate) const fn end(&mut self, expected: &'static str) -> Result<(), Error> {
        self.skip_blanks();
        if self.at == self.text.len() { Ok(()) } else { self.fail(expected) }
    }

    pub(crate) const fn eat_word(&mut self, word: &[u8]) -> bool {
        self.skip_blanks();
        let mut i = 0;
        while i < word.len() {
            if self.at + i >= self.text.len() || self.text[self.at + i] != word[i] {
                return false;
            }
            i += 1;
        }
        self.at += i;
        true
    }

    pub(crate) const fn number(&mut self) -> Result<i64, Error> {
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

    /// `path`, followed by the mode at the cursor.
    const fn then(&mut self, path: ModePath) -> Result<ModePath, Error> {
        let begin = self.at;
        let mode = tri!(self.number());
        if mode < 0 || mode >= ModePath::MODES as i64 {
            return Err(Error::Parse { at: begin, expected: "a mode from 0 to 31" });
        }
        match path.then(mode as usize) {
            Ok(path) => Ok(path),
            Err(_) => Err(Error::Parse { at: begin, expected: "no more than 3 modes" }),
        }
    }

    /// The path of `E1` or, outermost mode first, `E<0,1>`, with the cursor after the `E`.
    const fn basis(&mut self) -> Result<ModePath, Error> {
        if self.peek() != b'<' {
            return self.then(ModePath::ROOT);
        }
        self.at += 1;
        let mut path = ModePath::ROOT;
        loop {
            self.skip_blanks();
            path = tri!(self.then(path));
            if self.eat(b'>') {
                return Ok(path);
            }
            if !self.eat(b',') {
                return self.fail("',' or '>'");
            }
        }
    }

    /// The path of `2@1@0`, innermost mode first, with the cursor after the first `@`.
    const fn path(&mut self) -> Result<ModePath, Error> {
        let mut inward = tri!(self.then(ModePath::ROOT));
        while self.peek() == b'@' {
            self.at += 1;
            inward = tri!(self.then(inward));
        }
        Ok(inward.reversed())
    }

    /// The 3 of `s3`, with the cursor at the `s`.
    pub(crate) const fn symbol_id(&mut self) -> Result<u8, Error> {
        if self.peek() != b's' {
            return self.fail("a symbol such as s0");
        }
        self.at += 1;
        self.small()
    }

    const fn symbol(&mut self) -> Result<Int, Error> {
        Ok(Int::symbol(Symbol::new(tri!(self.symbol_id()))))
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

    pub(crate) const fn integer(&mut self) -> Result<Int, Error> {
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
                Stride::Basis { scale: Int::ONE, mode: tri!(self.basis()) }
            }
            _ => {
                let scale = tri!(self.integer());
                if self.eat(b'@') {
                    Stride::Basis { scale, mode: tri!(self.path()) }
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

    /// A tree of leaves of the kind `kind`; `_` is stored as in a coordinate.
    pub(crate) const fn tree(&mut self, kind: Kind) -> Result<Strides, Error> {
        let mut out = Strides::EMPTY;
        let mut depth = 0;
        loop {
            while self.eat(b'(') {
                tri!(out.profile.open());
                depth += 1;
            }
            if depth == 1 && out.leaf_count() == 0 && self.eat(b')') {
                out.profile.close();
                return Ok(out);
            }
            match tri!(self.leaf(kind)) {
                Raw::Stride(stride) => tri!(out.push(stride)),
                Raw::Any => tri!(out.push_small(Small::of_crd(Crd::All))),
            }
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

    pub(crate) const fn integers(&mut self) -> Result<IntTuple, Error> {
        Ok(tri!(self.tree(Kind::Integer)).retyped())
    }

    pub(crate) const fn strides(&mut self) -> Result<Strides, Error> {
        self.tree(Kind::Stride)
    }

    pub(crate) const fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.eat(byte) { Ok(()) } else { self.fail(expected) }
    }

    /// A number from `least` to 64, with blanks before the number.
    const fn count(&mut self, least: i64) -> Result<i64, Error> {
        self.skip_blanks();
        let begin = self.at;
        match tri!(self.number()) {
            n if n >= least && n <= 64 => Ok(n),
            _ => Err(Error::Parse { at: begin, expected: "a number of bits" }),
        }
    }

    pub(crate) const fn swizzle(&mut self) -> Result<Swizzle, Error> {
        tri!(self.expect(b'S', "'Sw<'"));
        tri!(self.expect(b'w', "'Sw<'"));
        tri!(self.expect(b'<', "'Sw<'"));
        let bits = tri!(self.count(0)) as u32;
        tri!(self.expect(b',', "','"));
        let base = tri!(self.count(0)) as u32;
        tri!(self.expect(b',', "','"));
        let shift = tri!(self.count(-64)) as i32;
        tri!(self.expect(b'>', "'>'"));
        Swizzle::new(bits, base, shift)
    }

    pub(crate) const fn composed(&mut self) -> Result<Composed, Error> {
        let swizzle = tri!(self.swizzle());
        tri!(self.expect(b'o', "'o' and an offset"));
        self.skip_blanks();
        let offset = tri!(self.number());
        tri!(self.expect(b'o', "'o' and a layout"));
        self.skip_blanks();
        Ok(Composed::new(swizzle, offset, tri!(self.layout())))
    }

    /// The tiles after a '<', of which `depth` are open.
    pub(crate) const fn tiles(&mut self, depth: usize) -> Result<Tiles, Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Capacity { op: "a tiler" });
        }
        let mut tiles = Tiles::EMPTY;
        loop {
            self.skip_blanks();
            let second = self.peek_second();
            if self.eat(b'<') {
                tri!(tiles.push(&Tile::Modes(tri!(self.tiles(depth + 1)))));
            } else if self.peek() == b'_' && !second.is_ascii_digit() {
                self.at += 1;
                tri!(tiles.push(&Tile::All));
            } else {
                tri!(tiles.push(&Tile::Lay(tri!(self.layout()))));
            }
            if self.eat(b'>') {
                return Ok(tiles);
            }
            if !self.eat(b',') {
                return self.fail("',' or '>'");
            }
        }
    }

    pub(crate) const fn layout(&mut self) -> Result<Lay, Error> {
        let shape = tri!(self.integers());
        if !self.eat(b':') {
            return Lay::left(&shape);
        }
        let stride = tri!(self.strides());
        Lay::new(&shape, &stride)
    }
}

pub(crate) const fn cursor(text: &str) -> Cursor<'_> {
    Cursor { text: text.as_bytes(), at: 0 }
}
