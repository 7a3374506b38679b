//! Prepared launches of attention.

use girih_device::{Arg, Launch};

use crate::Error;

/// The launches of attention on certain buffers, checked and encoded once ([`Attention::prepare`](super::Attention::prepare)).
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) launches: Vec<Launch>,
}

impl Prepared {
    /// Puts the launches into the stream of their kernels, as often as it is called.
    ///
    /// # Errors
    /// As [`Launch::run`].
    ///
    /// # Safety
    /// As for [`Launch::run`]: memory that girih has not allocated must still be allocated, and hold the problem's tensors.
    #[expect(unsafe_code, reason = "launching PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&self) -> Result<(), Error> {
        for launch in &self.launches {
            // SAFETY: the caller's promise is passed on.
            unsafe { launch.run() }?;
        }
        Ok(())
    }

    /// The launches in their order, one, or for few queries also that of a kernel that adds up parts, for engines that call the driver themselves: the function,
    /// grid, block and shared memory, and the bytes of each argument. They keep the memory of the tensors, and of what the kernels have besides.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// Gives `q`, `k`, `v`, `o`, `bias` or `lse` another buffer, which must be as large and as aligned.
    ///
    /// # Errors
    /// As [`Launch::set`].
    pub fn set<'a>(&mut self, name: &str, value: impl Into<Arg<'a>>) -> Result<(), Error> {
        let (map, value) = (format!("map_{name}"), value.into());
        let has = |launch: &Launch, name: &str| {
            launch.kernel().info().params.iter().any(|param| *param.name == *name)
        };
        // The second kernel of few queries does not have them all. A name that no kernel has is refused by the first one.
        let is_known = self.launches.iter().any(|launch| has(launch, name) || has(launch, &map));
        for launch in &mut self.launches {
            if has(launch, &map) {
                launch.set(&map, value)?;
            } else if has(launch, name) || !is_known {
                launch.set(name, value)?;
            }
        }
        Ok(())
    }
}
