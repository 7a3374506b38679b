//! What a GEMM launches, as a value.

use std::sync::{Arc, Mutex, PoisonError};

use girih_device::{Arg, Launch};

use super::passes::Opened;
use super::workspace::Workspace;
use crate::Error;

/// The launches of a GEMM on certain buffers, checked and encoded once ([`Gemm::prepare`](super::Gemm::prepare)).
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The launches of the passes before the product, each with its parameters that are A or B.
    pub(super) copies: Vec<Opened>,
    pub(super) product: Launch,
    /// Whether the kernel's A is the caller's B.
    pub(super) transposed: bool,
    /// Whether zeros stand for the kernel's A or B, whatever buffer is given.
    pub(super) fixed: [bool; 2],
    /// Held over both launches: all that are prepared of one GEMM copy A and B to the same memory.
    pub(super) turn: Option<Arc<Mutex<()>>>,
    pub(super) workspace: Option<Arc<Workspace>>,
}

impl Prepared {
    /// Puts the launches into the stream of their kernels, as often as it is called.
    ///
    /// # Errors
    /// As [`Launch::run`].
    ///
    /// # Safety
    /// As for [`Launch::run`]: memory that girih has not allocated must still be allocated, and hold the problem's matrices.
    #[expect(unsafe_code, reason = "launching PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&self) -> Result<(), Error> {
        let turn = self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: the caller's promise is passed on.
        let launched = self.launches().try_for_each(|launch| unsafe { launch.run() });
        drop(turn);
        if let (Err(_), Some(workspace)) = (&launched, &self.workspace) {
            workspace.reset()?;
        }
        Ok(launched?)
    }

    /// The launches in their order, for engines that call the driver themselves: the copies of A and B, if the kernel does not take these as
    /// they lie, and the product. All that are prepared of one GEMM share the memory of the copies, and the GEMMs of one set the workspace: nothing else of that
    /// GEMM may run between these launches, or at the same time.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.copies.iter().map(|(launch, _)| launch).chain([&self.product])
    }

    /// Gives `a`, `b` or `c` another buffer, which must be as large and as aligned, or an input of the epilogue, by its name, another
    /// value.
    ///
    /// # Errors
    /// As [`Launch::set`].
    pub fn set<'a>(&mut self, name: &str, value: impl Into<Arg<'a>>) -> Result<(), Error> {
        let name = match name {
            "a" if self.transposed => "b",
            "b" if self.transposed => "a",
            same => same,
        };
        if name == "a" && self.fixed[0] || name == "b" && self.fixed[1] {
            return Ok(());
        }
        let value = value.into();
        let mut is_copied = false;
        for (launch, open) in &mut self.copies {
            for open in open.iter().filter(|open| ["a", "b"][open.operand] == name) {
                launch.set(&open.name, open.arg(value))?;
                is_copied = true;
            }
        }
        if is_copied {
            return Ok(());
        }
        let has =
            |launch: &Launch, name: &str| launch.kernel().info().params.iter().any(|p| &*p.name == name);
        let map = format!("map_{name}");
        let name = if has(&self.product, &map) { &map } else { name };
        Ok(self.product.set(name, value)?)
    }
}
