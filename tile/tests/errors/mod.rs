//! Every fault has a program or a call that provokes it, and its message has the operands and what would be accepted.

mod kernels;
mod operations;
mod places;

use std::collections::BTreeSet;

use girih_tile::error::Fault;

#[test]
fn every_fault_is_provoked() {
    let mut missing: BTreeSet<&str> = Fault::KINDS.iter().copied().collect();
    for fault in operations::faults().into_iter().chain(kernels::faults()).chain(places::faults()) {
        let (message, operands) = (fault.to_string(), format!("{fault:?}"));
        missing.remove(fault.kind());
        // The words of a static assertion are the user's.
        if matches!(fault, Fault::StaticAssertFalse { .. }) {
            continue;
        }
        assert!(message.contains("accepted"), "{operands}: {message}");
        let numbers = operands.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
        for number in numbers {
            assert!(message.contains(number), "{operands}: {number} is not in `{message}`");
        }
    }
    assert!(missing.is_empty(), "nothing provokes {missing:?}");
}
