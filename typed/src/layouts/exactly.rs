//! A layout where a layout of a certain type is wanted.

use girih_layout::Error;

use super::check::check_exactly;
use super::layout::Layout;
use super::modes::Modes;
use super::tree::Tree;

impl<M: Modes> Layout<M> {
    /// This static layout as the type that an argument or a variable is to have. Where the two differ, the compile
    /// error shows both as layouts, `(4,8):(8,1) is given where (4,8):(1,4) is wanted`, and not as types of the same
    /// name that differ somewhere inside.
    ///
    /// ```
    /// use girih_typed::{Lt, S, layout};
    /// type Fragment = Lt<(S<4>, S<8>), (S<1>, S<4>)>;
    /// fn owner(fragment: Fragment) -> usize {
    ///     fragment.at((3usize, 1usize))
    /// }
    /// assert_eq!(owner(layout!((4, 8) : (1, 4)).exactly()), 7);
    /// ```
    ///
    /// ```compile_fail
    /// # use girih_typed::{Lt, S, layout};
    /// let wrong: Lt<(S<4>, S<8>), (S<1>, S<4>)> = layout!((4, 8) : (8, 1)).exactly();
    /// ```
    pub fn exactly<N: Modes>(self) -> Layout<N> {
        const { check_exactly(M::STATIC && N::STATIC, &M::SKELETON, &N::SKELETON) };
        // Static integers take no room, so a static type has a single value.
        Layout(N::default())
    }

    /// [`Layout::exactly`] with something dynamic on either side. Integers that are static on both sides are compared
    /// when the program is compiled.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where an integer that is wanted static or signed has another value, and those of [`Layout::erase`].
    ///
    /// ```
    /// use girih_typed::{Lt, S, layout};
    /// let ld: usize = 64;
    /// let rows = layout!((4, 8) : (ld, 1)).try_exactly()?;
    /// let made: Lt<(S<4>, S<8>), (S<64>, S<1>)> = rows;
    /// # Ok::<(), girih_layout::Error>(())
    /// ```
    pub fn try_exactly<N: Modes>(self) -> Result<Layout<N>, Error> {
        const { check_exactly(true, &M::SKELETON, &N::SKELETON) };
        let other = Error::Unsupported {
            op: "try_exactly",
            what: "a layout whose integers are not those that are wanted",
        };
        N::read(&Tree::of(&self.erase()?), &mut 0).map(Layout).ok_or(other)
    }
}
