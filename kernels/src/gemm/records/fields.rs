//! Fields of a record's text.

use crate::Error;

/// The fields of a text, `name=value` each, with spaces between them.
pub(in crate::gemm) struct Fields<'a>(Vec<(&'a str, &'a str)>);

/// The refusal of a field that has `found` in its place.
fn refused(field: &str, found: String, accepted: &str) -> Error {
    Error::Field { field: field.into(), found, accepted: accepted.into() }
}

impl<'a> Fields<'a> {
    /// Those of a text.
    ///
    /// # Errors
    /// [`Error::Field`] for a word without a name, and for a name that is there twice.
    pub(in crate::gemm) fn read(text: &'a str) -> Result<Fields<'a>, Error> {
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for word in text.split(' ') {
            let Some((name, value)) = word.split_once('=') else {
                return Err(refused(word, String::from("no value"), "`name=value`"));
            };
            if fields.iter().any(|(other, _)| *other == name) {
                return Err(refused(name, String::from("there twice"), "one value"));
            }
            fields.push((name, value));
        }
        Ok(Fields(fields))
    }

    /// The value of a field, if it is there. What `read` makes nothing of is refused, with what would be accepted.
    pub(in crate::gemm) fn find<T>(
        &mut self,
        field: &str,
        accepted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(at) = self.0.iter().position(|(name, _)| *name == field) else { return Ok(None) };
        let (_, value) = self.0.remove(at);
        read(value).map(Some).ok_or_else(|| refused(field, format!("`{value}`"), accepted))
    }

    /// The value of a field that must be there.
    pub(in crate::gemm) fn take<T>(
        &mut self,
        field: &str,
        accepted: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Error> {
        self.find(field, accepted, read)?.ok_or_else(|| refused(field, String::from("missing"), accepted))
    }

    /// Refuses fields that nobody has taken.
    pub(in crate::gemm) fn end(self, accepted: &str) -> Result<(), Error> {
        match self.0.first() {
            Some((name, _)) => Err(refused(name, String::from("unknown"), accepted)),
            None => Ok(()),
        }
    }
}
