//! Parses the clause of facts about symbols, which follows a layout.
//!
//! ```text
//! clause = "where" known {"," known}
//! known  = "s" id "=" fact {"," fact}
//! fact   = ("divisible_by" | "at_least" | "at_most") "(" number ")"
//! ```
//! Each symbol is in the clause once, and has each fact once. Some number must satisfy all facts of a symbol.

use crate::text::parse::Cursor;
use crate::{Error, Symbol};

const FACTS: [&[u8]; 3] = [b"divisible_by", b"at_least", b"at_most"];

/// The state of a clause that is being parsed.
pub(crate) struct Clause {
    /// The symbols that have been parsed, by id.
    seen: [bool; 256],
    /// The position in the text of the last symbol.
    pub(crate) at: usize,
    /// Whether a further symbol follows; `None` before the clause.
    more: Option<bool>,
}

impl Clause {
    pub(crate) const NEW: Clause = Clause { seen: [false; 256], at: 0, more: None };
}

impl Cursor<'_> {
    /// The next symbol of a clause with its facts; `None` after the last one.
    pub(crate) const fn known(&mut self, clause: &mut Clause) -> Result<Option<Symbol>, Error> {
        let more = match clause.more {
            Some(more) => more,
            None => self.eat_word(b"where"),
        };
        if !more {
            return Ok(None);
        }
        self.skip_blanks();
        clause.at = self.at;
        let id = tri!(self.symbol_id());
        if clause.seen[id as usize] {
            return Err(Error::Parse { at: clause.at, expected: "each symbol once" });
        }
        clause.seen[id as usize] = true;
        tri!(self.expect(b'=', "'=' and a fact such as at_least(1)"));
        let (mut symbol, mut stated) = (Symbol::new(id), [false; FACTS.len()]);
        loop {
            symbol = tri!(self.fact(symbol, &mut stated));
            let comma = self.eat(b',');
            self.skip_blanks();
            clause.more = Some(comma && self.peek() == b's');
            if !comma || self.peek() == b's' {
                break;
            }
        }
        if !symbol.is_possible() {
            return Err(Error::Parse { at: clause.at, expected: "facts that some number agrees with" });
        }
        Ok(Some(symbol))
    }

    /// The symbol with the fact at the cursor.
    const fn fact(&mut self, symbol: Symbol, stated: &mut [bool; FACTS.len()]) -> Result<Symbol, Error> {
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
        let begin = self.at;
        let symbol = match (kind, tri!(self.number())) {
            (0, ..1) => return Err(Error::Parse { at: begin, expected: "a divisor of at least 1" }),
            (_, ..0) => return Err(Error::Parse { at: begin, expected: "a number of at least 0" }),
            (0, n) => symbol.divisible_by(n),
            (1, n) => symbol.at_least(n),
            (_, n) => symbol.at_most(n),
        };
        tri!(self.expect(b')', "')'"));
        Ok(symbol)
    }
}
