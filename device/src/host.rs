//! The free memory of the host.

use std::fs;

/// The bytes of the host's memory that are free now, and that the process may take: `None` where the system does not say so. On Linux, this is
/// what the kernel counts as available, or what the control group of the process or its limit of addresses (`ulimit -v`) has left, if that
/// is less.
///
/// # Examples
/// ```
/// if let Some(bytes) = girih_device::free_host_memory() {
///     assert!(bytes > 0);
/// }
/// ```
pub fn free_host_memory() -> Option<u64> {
    let about = fs::read_to_string("/proc/meminfo").ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)?;
    Some([left_of_group(), left_of_addresses()].into_iter().flatten().fold(available, u64::min))
}

/// Arrays that a memory has no room for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arrays take {needed} bytes, {memory} has {available}: smaller extents or pitches are accepted")]
pub struct ShortMemory {
    /// Bytes of all that is in the memory at once.
    pub needed: u64,
    /// The device's name, or `this machine`.
    pub memory: String,
    /// The bytes of the device's memory, or those of this machine that may be taken.
    pub available: u64,
}

/// Refuses what three quarters of the host's free memory cannot hold: the rest is for others, and for what is not counted.
///
/// # Errors
/// [`ShortMemory`].
///
/// # Examples
/// ```
/// assert!(girih_device::host_fits(1 << 10).is_ok());
/// ```
pub fn host_fits(needed: u64) -> Result<(), ShortMemory> {
    let Some(free) = free_host_memory() else { return Ok(()) };
    let available = free - free / 4;
    if needed <= available {
        return Ok(());
    }
    Err(ShortMemory { needed, memory: "this machine".into(), available })
}

/// The addresses that the process has left, if it has a limit of them.
fn left_of_addresses() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit = limit.split_whitespace().next()?.parse::<u64>().ok()?;
    let about = fs::read_to_string("/proc/self/status").ok()?;
    let used = about.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used = used.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)?;
    Some(limit.saturating_sub(used))
}

/// The free memory of the control group, if it has a limit (`Documentation/admin-guide/cgroup-v2.rst` of Linux). Pages of unused files count as free.
fn left_of_group() -> Option<u64> {
    let read = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/memory.{name}")).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let (limit, used) = (number("max")?, number("current")?);
    let about = read("stat")?;
    let files =
        about.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse::<u64>().ok()?;
    Some(limit.saturating_sub(used.saturating_sub(files)))
}
