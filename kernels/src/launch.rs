//! Launches of modules.

use girih_device::{Arg, Template};

/// Launches a template of a kernel that girih generated, with arguments that its problem was checked against.
#[expect(unsafe_code, reason = "launching PTX is unsafe; the safe wrappers of this crate end here")]
pub(crate) fn run(template: &mut Template, args: &[Arg<'_>]) -> Result<(), girih_device::Error> {
    // SAFETY: the kernels of this crate access global memory only through the pointers among their parameters, and those in arrays of
    // addresses among them, which hold those of buffers and do not change, under predicates from the extents among them, and through tensor maps, which know the tensor's extents. Nodes of epilogues that are
    // not girih's access none: the generator refuses that. The callers have
    // checked that each buffer holds its extents and pitch, and shares nothing with one that is written, or is that one
    // as a whole and read element by element before it is written. The parameters that are not open have memory that the template keeps.
    unsafe { template.run(args) }
}

/// Bytes that two ranges of addresses have in common.
pub(crate) fn overlap(a: [u64; 2], b: [u64; 2]) -> u64 {
    a[1].min(b[1]).saturating_sub(a[0].max(b[0]))
}

/// The largest power of two among `candidates` that divides all of `values` (0 is divided by everything).
pub(crate) fn widest(candidates: &[i64], values: &[i64]) -> i64 {
    candidates.iter().copied().find(|v| values.iter().all(|x| x % v == 0)).unwrap_or(1)
}
