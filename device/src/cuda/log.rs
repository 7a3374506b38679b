//! Parses the log of a PTX compiler.

/// The bytes of spill stores and spill loads together that the log reports for a kernel.
pub(super) fn spill_bytes(log: &str, kernel: &str) -> Option<u32> {
    let of_kernel = |line: &&str| {
        let name = line.split_once("Function properties for ").map(|(_, name)| name);
        name.is_some_and(|name| name.trim().trim_matches('\'') == kernel)
    };
    let mut lines = log.lines();
    lines.find(of_kernel)?;
    let properties = lines.next()?;
    Some(number_before(properties, "bytes spill stores")? + number_before(properties, "bytes spill loads")?)
}

fn number_before(line: &str, words: &str) -> Option<u32> {
    line.split_once(words)?.0.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
info    : 0 bytes gmem
info    : Compiling entry function 'a' for 'sm_90'
info    : Function properties for 'a'
info    :     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
info    : Used 10 registers, used 0 barriers
info    : Compiling entry function 'ab' for 'sm_90'
info    : Function properties for ab
    96 bytes stack frame, 40 bytes spill stores, 52 bytes spill loads
";

    #[test]
    fn spills_are_those_of_the_kernel_named() {
        assert_eq!(spill_bytes(LOG, "a"), Some(0));
        assert_eq!(spill_bytes(LOG, "ab"), Some(92));
        assert_eq!(spill_bytes(LOG, "b"), None);
        assert_eq!(spill_bytes("", "a"), None);
    }
}
