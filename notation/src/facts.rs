//! Facts about symbols as text: `s0=at_least(1),divisible_by(8)`.

use girih_layout::Symbol;

use crate::marked::Marked;

/// Facts about symbols. Each symbol is there once, with all its facts.
#[derive(Clone, Debug, Default)]
pub struct Facts(Vec<Symbol>);

impl Facts {
    /// The symbols, each with the facts about it.
    pub fn symbols(&self) -> &[Symbol] {
        &self.0
    }

    /// Adds facts from a text: a symbol, `=`, and `at_least(n)`, `at_most(n)` or `divisible_by(n)`, separated by commas. Facts about further
    /// symbols may follow.
    ///
    /// ```
    /// use girih_notation::facts::Facts;
    /// let mut facts = Facts::default();
    /// facts.add("s0=at_least(1),divisible_by(8), s1=at_most(64)")?;
    /// assert_eq!((facts.symbols()[0].divisor(), facts.symbols()[1].upper()), (8, Some(64)));
    /// # Ok::<(), girih_notation::marked::Marked>(())
    /// ```
    ///
    /// # Errors
    /// [`Marked`], which points at what cannot be read as a fact or contradicts another fact.
    pub fn add(&mut self, text: &str) -> Result<(), Marked> {
        let (mut at, mut symbol) = (0, None);
        for piece in text.split(',') {
            let start = at + piece.len() - piece.trim_start().len();
            let (fact, place) = match piece.split_once('=') {
                Some((name, fact)) => {
                    symbol = Some(
                        number_of(name.trim())
                            .ok_or_else(|| Marked::new("expected a symbol such as s0", text, start))?,
                    );
                    let blanks = fact.len() - fact.trim_start().len();
                    (fact.trim(), at + name.len() + 1 + blanks)
                }
                None => (piece.trim(), start),
            };
            let Some(id) = symbol else {
                return Err(Marked::new("expected a symbol and '=', as in s0=at_least(1)", text, start));
            };
            let with = self.known(id, fact).ok_or_else(|| {
                let accepted = "expected at_least(n), at_most(n) or divisible_by(n), with n of at least 1";
                Marked::new(accepted, text, place)
            })?;
            if with.upper().is_some_and(|upper| with.lower() > upper - upper % with.divisor()) {
                let message = format!("no value of s{id} has this fact and those before");
                return Err(Marked::new(message, text, place));
            }
            match self.0.iter_mut().find(|known| known.id() == id) {
                Some(known) => *known = with,
                None => self.0.push(with),
            }
            at += piece.len() + 1;
        }
        Ok(())
    }

    /// The symbol with one more fact.
    fn known(&self, id: u8, fact: &str) -> Option<Symbol> {
        let (name, rest) = fact.split_once('(')?;
        let n: i64 = rest.strip_suffix(')')?.trim().parse().ok().filter(|n| *n >= 1)?;
        let symbol = self.0.iter().find(|known| known.id() == id).copied().unwrap_or(Symbol::new(id));
        match name.trim() {
            "at_least" => Some(symbol.at_least(n)),
            "at_most" => Some(symbol.at_most(n)),
            "divisible_by" => Some(symbol.divisible_by(n)),
            _ => None,
        }
    }
}

/// The number of a symbol: 3 for `s3`.
fn number_of(name: &str) -> Option<u8> {
    name.strip_prefix('s').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}
