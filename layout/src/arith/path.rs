//! Construction of mode paths.

use crate::{Error, ModePath};

impl ModePath {
    /// The path through these modes, outermost first.
    ///
    /// ```
    /// use girih_layout::ModePath;
    /// assert_eq!(ModePath::new(&[2])?.modes().collect::<Vec<_>>(), [2]);
    /// assert!(ModePath::new(&[]).is_err() && ModePath::new(&[0, 1, 2, 3]).is_err() && ModePath::new(&[32]).is_err());
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ModePath`] for no modes, too many modes or a mode that is too large.
    pub const fn new(modes: &[usize]) -> Result<ModePath, Error> {
        let (mut out, mut i) = (ModePath::ROOT, 0);
        if modes.is_empty() {
            return Err(Error::ModePath { depth: 0, mode: 0 });
        }
        while i < modes.len() {
            out = tri!(out.then(modes[i]));
            i += 1;
        }
        Ok(out)
    }

    /// This path and one mode more.
    pub(crate) const fn then(self, mode: usize) -> Result<ModePath, Error> {
        match self.longer(mode) {
            Some(path) => Ok(path),
            None => Err(Error::ModePath { depth: self.depth() + 1, mode }),
        }
    }
}
