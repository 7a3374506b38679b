//! Paths to the entries of nested coordinates.

use core::fmt;

/// The way to one entry of a nested coordinate, outermost mode first: the `Ns...` of CuTe's `E<Ns...>`. A path of one
/// mode leads to an entry of a flat coordinate. A path is printed innermost mode first, as in CuTe: the path of
/// `E<0,1>` is `1@0`.
///
/// A path has at most [`ModePath::MAX_DEPTH`] modes, each less than [`ModePath::MODES`].
///
/// ```
/// use girih_layout::{ModePath, Stride, Strides};
/// let path = ModePath::new(&[0, 1])?;
/// assert_eq!((path.to_string().as_str(), path.depth(), path.first()), ("1@0", 2, 0));
/// let Some(Stride::Basis { mode, .. }) = Strides::parse("(2@0,E<0,1>)")?.get(1) else { unreachable!() };
/// assert_eq!(mode, path);
/// # Ok::<(), girih_layout::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ModePath {
    /// A 1, then each mode in [`BITS`] bits, the outermost first.
    packed: u16,
}

const BITS: u32 = 5;

impl ModePath {
    /// The most modes of a path.
    pub const MAX_DEPTH: usize = 3;
    /// Every mode of a path is less than this number.
    pub const MODES: usize = 1 << BITS;

    /// The path of no modes, which is the beginning of all paths. No stride has this path.
    pub(crate) const ROOT: ModePath = ModePath { packed: 1 };

    /// This path and one mode more; `None` where no path has that.
    pub(crate) const fn longer(self, mode: usize) -> Option<ModePath> {
        if mode >= ModePath::MODES || self.depth() == ModePath::MAX_DEPTH {
            return None;
        }
        Some(ModePath { packed: self.packed << BITS | mode as u16 })
    }

    /// How many modes the path has.
    ///
    /// ```
    /// use girih_layout::ModePath;
    /// assert_eq!(ModePath::new(&[2, 0])?.depth(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn depth(self) -> usize {
        (self.packed.ilog2() / BITS) as usize
    }

    /// Mode number `level`, the outermost being number 0.
    pub(crate) const fn level(self, level: usize) -> usize {
        let below = (self.depth() - 1 - level) as u32;
        (self.packed >> (below * BITS)) as usize % ModePath::MODES
    }

    /// The outermost mode.
    ///
    /// ```
    /// use girih_layout::ModePath;
    /// assert_eq!(ModePath::new(&[2, 0])?.first(), 2);
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn first(self) -> usize {
        self.level(0)
    }

    /// The path's mode, if there is only one: then the path leads to an entry of a flat coordinate.
    ///
    /// ```
    /// use girih_layout::ModePath;
    /// assert_eq!((ModePath::new(&[2])?.only(), ModePath::new(&[2, 0])?.only()), (Some(2), None));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub const fn only(self) -> Option<usize> {
        if self.depth() == 1 { Some(self.first()) } else { None }
    }

    /// The modes, outermost first.
    ///
    /// ```
    /// use girih_layout::ModePath;
    /// assert!(ModePath::new(&[2, 0])?.modes().eq([2, 0]));
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn modes(self) -> impl Iterator<Item = usize> {
        (0..self.depth()).map(move |level| self.level(level))
    }

    /// The path with its modes from the last to the first.
    pub(crate) const fn reversed(self) -> ModePath {
        let (mut packed, mut rest) = (1, self.packed);
        while rest > 1 {
            packed = (packed << BITS) | (rest % ModePath::MODES as u16);
            rest >>= BITS;
        }
        ModePath { packed }
    }

    /// Whether both are the same path; `const` form of `==`.
    #[inline]
    pub(crate) const fn same(self, other: ModePath) -> bool {
        self.packed == other.packed
    }

    /// The mode after `start`, if the path begins with `start` and goes on.
    pub(crate) const fn after(self, start: ModePath) -> Option<usize> {
        let (depth, from) = (self.depth(), start.depth());
        if depth > from && self.packed >> ((depth - from) as u32 * BITS) == start.packed {
            Some(self.level(from))
        } else {
            None
        }
    }
}

impl fmt::Display for ModePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in (0..self.depth()).rev() {
            write!(f, "{}{}", self.level(level), if level > 0 { "@" } else { "" })?;
        }
        Ok(())
    }
}
