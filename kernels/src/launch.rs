//! The one call that launches a module.

use girih_device::{Arg, Kernel, LaunchConfig};

/// Launches a kernel that girih generated, with arguments by name that its problem was checked against.
#[expect(unsafe_code, reason = "launching PTX is unsafe; the safe wrappers of this crate end here")]
pub(crate) fn launch(
    kernel: &Kernel,
    config: &LaunchConfig,
    args: &[(&str, Arg<'_>)],
) -> Result<(), girih_device::Error> {
    let args = kernel.arguments(args)?;
    // SAFETY: the kernels of this crate access global memory only through the pointers among their parameters, under
    // predicates from the extents among them, and through tensor maps, which know the tensor's extents; the callers have
    // checked that each buffer holds its extents and pitch.
    unsafe { kernel.launch(config, &args) }
}

/// The largest power of two among `candidates` that divides all of `values` (0 is divided by everything).
pub(crate) fn widest(candidates: &[i64], values: &[i64]) -> i64 {
    candidates.iter().copied().find(|v| values.iter().all(|x| x % v == 0)).unwrap_or(1)
}
