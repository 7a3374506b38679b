//! Reduces a failing launch to the smallest grid in which it still fails.
#![deny(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::mem::discriminant;

use crate::snapshot::Snapshot;
use crate::{Error, Kernel, Launch, Memory, Options, run};

/// A small launch that fails in the same way as a large one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// The small launch, which differs from the large one only in its grid.
    pub launch: Launch,
    /// The error of the small launch.
    pub error: Error,
    /// How many launches were tried.
    pub runs: u32,
}

/// Runs a launch and, if it fails, smaller ones with the same arguments and the same memory. Each mode of the grid is
/// reduced to the smallest size with which the kernel fails with the same kind of error. `None` if the launch does not
/// fail.
///
/// The size of a mode is searched for by doubling and halving, as if a kernel that fails in one grid failed in all
/// larger ones. Where that is not so, the result may not be the smallest grid. Afterwards the memory and the module's
/// variables are as they were before.
///
/// ```
/// use girih_sim::{Launch, Memory, Options, Program, reduce};
///
/// // Block 5 and those after it write beyond an array of 20 words.
/// let module = girih_ptx::Module::parse(
///     ".version 8.0 .target sm_80 .address_size 64
///      .visible .entry fill(.param .u64 out) {
///        .reg .b32 %i, %n, %t; .reg .b64 %p, %at;
///        ld.param.u64 %p, [out]; mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x;
///        mad.lo.u32 %i, %i, 4, %t; mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %p;
///        st.global.u32 [%at], %i; ret;
///      }",
/// )?;
/// let program = Program::load(&module)?;
/// let memory = Memory::new();
/// let args = vec![memory.alloc(20 * 4)?.to_le_bytes().into()];
/// let launch = Launch { grid: [1000, 3, 1], block: [4, 1, 1], args, ..Launch::default() };
/// let small = reduce(program.kernel("fill")?, &memory, &launch, &Options::default())?.expect("it fails");
/// assert_eq!(small.launch.grid, [6, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A launch that does not fit the kernel, as for [`run`].
pub fn reduce(
    kernel: &Kernel,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Option<Reduced>, Error> {
    let before = Snapshot::new(kernel, memory);
    let mut runs = 0;
    let mut fails = |launch: &Launch| {
        runs += 1;
        let found = run(kernel, memory, launch, options).err();
        before.restore();
        found
    };
    let cluster = crate::launch::cluster(kernel, launch)?;
    let mut error = match fails(launch) {
        None => return Ok(None),
        Some(error) if error.is_refusal() => return Err(error),
        Some(error) => error,
    };
    let mut small = launch.clone();
    for mode in [2, 1, 0] {
        let (mut good, mut bad) = (0, small.grid[mode] / cluster[mode]);
        let mut next = 1;
        while bad - good > 1 {
            let mut tried = small.clone();
            tried.grid[mode] = next.min(bad - 1) * cluster[mode];
            match fails(&tried) {
                Some(found) if discriminant(&found) == discriminant(&error) => {
                    (bad, error) = (tried.grid[mode] / cluster[mode], found);
                    next = good + (bad - good) / 2;
                }
                _ => {
                    good = tried.grid[mode] / cluster[mode];
                    // The size is doubled as long as only the whole launch has failed.
                    next = if bad == small.grid[mode] / cluster[mode] {
                        2 * good
                    } else {
                        good + (bad - good) / 2
                    };
                }
            }
        }
        small.grid[mode] = bad * cluster[mode];
    }
    Ok(Some(Reduced { launch: small, error, runs }))
}
