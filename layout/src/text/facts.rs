//! Reading what is known of symbols, behind the text that they are in.
//!
//! ```text
//! clause = "where" known {"and" known}
//! known  = "s" id fact {fact}
//! fact   = "." ("divisible_by" | "at_least" | "at_most") "(" number ")"
//! ```
//! A symbol stands in the clause once, has each fact once, and some number agrees with its facts: what two texts say of a
//! symbol is not reconciled here.

use crate::text::parse::Cursor;
use crate::{Error, Symbol};

const FACTS: [&[u8]; 3] = [b"divisible_by", b"at_least", b"at_most"];

/// A clause as far as it is read.
pub(crate) struct Clause {
    /// The symbols that the clause has.
    seen: [bool; 256],
    /// Where the last of them begins.
    pub(crate) at: usize,
    word: &'static [u8],
}

impl Clause {
    pub(crate) const NEW: Clause = Clause { seen: [false; 256], at: 0, word: b"where" };
}

impl Cursor<'_> {
    /// The next symbol of a clause with its facts, `None` behind the last one.
    pub(crate) const fn known(&mut self, clause: &mut Clause) -> Result<Option<Symbol>, Error> {
        if !self.eat_word(clause.word) {
            return Ok(None);
        }
        self.skip_blanks();
        (clause.word, clause.at) = (b"and", self.at);
        let id = tri!(self.symbol_id());
        if clause.seen[id as usize] {
            return Err(Error::Parse { at: clause.at, expected: "each symbol once" });
        }
        clause.seen[id as usize] = true;
        let (mut symbol, mut stated) = (Symbol::new(id), [false; FACTS.len()]);
        tri!(self.expect(b'.', "'.' and a fact such as at_least(1)"));
        loop {
            self.skip_blanks();
            let (begin, mut kind) = (self.at, 0);
            while kind < FACTS.len() && !self.eat_word(FACTS[kind]) {
                kind += 1;
            }
            if kind == FACTS.len() {
                return self.fail("divisible_by, at_least or at_most");
            }
            if stated[kind] {
                return Err(Error::Parse { at: begin, expected: "each fact once" });
            }
            stated[kind] = true;
            tri!(self.expect(b'(', "'('"));
            self.skip_blanks();
            let number_at = self.at;
            symbol = match (kind, tri!(self.number())) {
                (0, ..1) => return Err(Error::Parse { at: number_at, expected: "a divisor of at least 1" }),
                (_, ..0) => return Err(Error::Parse { at: number_at, expected: "a number of at least 0" }),
                (0, n) => symbol.divisible_by(n),
                (1, n) => symbol.at_least(n),
                (_, n) => symbol.at_most(n),
            };
            tri!(self.expect(b')', "')'"));
            if !self.eat(b'.') {
                break;
            }
        }
        if !symbol.is_possible() {
            return Err(Error::Parse { at: clause.at, expected: "facts that some number agrees with" });
        }
        Ok(Some(symbol))
    }
}
