//! A cursor over an instruction's modifiers, by which a modifier that no part of the decoder has taken is found at the
//! end.

use girih_ptx::{Modifier, Type, Word};

/// The modifiers of an instruction that have not been read yet, in order.
pub(super) struct Words<'a> {
    rest: Vec<&'a Modifier>,
}

impl<'a> Words<'a> {
    pub(super) fn new(modifiers: &'a [Modifier]) -> Self {
        Words { rest: modifiers.iter().collect() }
    }

    /// Takes the next modifier if it is this word.
    pub(super) fn take(&mut self, word: Word) -> bool {
        let found = self.rest.first().is_some_and(|m| **m == Modifier::Word(word));
        if found {
            self.rest.remove(0);
        }
        found
    }

    /// Takes the next modifiers as long as they are among these words.
    pub(super) fn skip(&mut self, words: &[Word]) {
        while words.iter().any(|&word| self.take(word)) {}
    }

    /// Takes the next modifier if the table has its word.
    pub(super) fn pick<T: Copy>(&mut self, table: &[(Word, T)]) -> Option<T> {
        table.iter().find(|(word, _)| self.take(*word)).map(|&(_, value)| value)
    }

    /// Takes the next modifier if it is a word.
    pub(super) fn word(&mut self) -> Option<Word> {
        let Some(&&Modifier::Word(word)) = self.rest.first() else { return None };
        self.rest.remove(0);
        Some(word)
    }

    /// Whether the word is among those left.
    pub(super) fn has(&self, word: Word) -> bool {
        self.rest.contains(&&Modifier::Word(word))
    }

    /// Takes the next modifier if it is a type.
    pub(super) fn ty(&mut self) -> Option<Type> {
        let Some(&&Modifier::Type(ty)) = self.rest.first() else { return None };
        self.rest.remove(0);
        Some(ty)
    }

    /// The last type among those left; it is not taken.
    pub(super) fn last_type(&self) -> Option<Type> {
        self.rest.iter().rev().find_map(|m| if let Modifier::Type(ty) = m { Some(*ty) } else { None })
    }

    /// The first modifier that nothing has taken.
    pub(super) fn rest(&self) -> Option<&'a Modifier> {
        self.rest.first().copied()
    }
}
