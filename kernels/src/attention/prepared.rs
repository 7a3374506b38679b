//! What attention launches, as a value.

use girih_device::{Arg, Launch};

use crate::Error;

/// The launch of attention on certain buffers, checked and encoded once ([`Attention::prepare`](super::Attention::prepare)).
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) launch: Launch,
}

impl Prepared {
    /// Puts the launch into the stream of its kernel, as often as it is called.
    ///
    /// # Errors
    /// As [`Launch::run`].
    ///
    /// # Safety
    /// As for [`Launch::run`]: memory that girih has not allocated must still be allocated, and hold the problem's tensors.
    #[expect(unsafe_code, reason = "launching PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&self) -> Result<(), Error> {
        // SAFETY: the caller's promise is passed on.
        Ok(unsafe { self.launch.run() }?)
    }

    /// The launch, for engines that call the driver themselves: the function, grid, block and shared memory, and the bytes of each argument. It keeps the
    /// memory of the tensors and of the table of tiles.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Gives `q`, `k`, `v`, `o`, `bias` or `lse` another buffer, which must be as large and as aligned.
    ///
    /// # Errors
    /// As [`Launch::set`].
    pub fn set<'a>(&mut self, name: &str, value: impl Into<Arg<'a>>) -> Result<(), Error> {
        let map = format!("map_{name}");
        let has_map = self.launch.kernel().info().params.iter().any(|param| *param.name == *map);
        Ok(self.launch.set(if has_map { &map } else { name }, value)?)
    }
}
