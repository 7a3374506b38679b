//! The tile kernels on the simulator with every check, and what each becomes.

use girih_device::{Device, SimOptions};
use girih_programs::ENTRIES;
use girih_tile::tune::Budget;

use super::common::{elementwise, moves, norms, rows, sums, wide};
use super::{checked, launches};

#[test]
fn elementwise_kernels() {
    elementwise(&checked()).unwrap();
}

#[test]
fn row_kernels() {
    rows(&checked()).unwrap();
}

#[test]
fn norm_kernels() {
    norms(&checked()).unwrap();
}

#[test]
fn sum_kernels() {
    sums(&checked()).unwrap();
}

#[test]
fn moving_kernels() {
    moves(&checked()).unwrap();
}

#[test]
fn launches_with_one_another() {
    for family in [launches::early, launches::graphs, launches::hints, launches::bundles, launches::tuning] {
        family(&checked()).unwrap();
    }
}

/// Blocks that begin in order and one after the other, and in other orders and in between one another.
fn in_any_order(family: fn(&Device) -> Result<(), girih_tile::error::Error>) {
    for seed in 0..4 {
        let options = SimOptions { seed, ..SimOptions::checked() };
        family(&Device::open_sim(options).unwrap()).unwrap();
    }
}

#[test]
fn scans_of_everything() {
    in_any_order(wide::scans);
}

#[test]
fn reductions_of_everything() {
    in_any_order(wide::reductions);
}

#[test]
fn sums_of_segments() {
    in_any_order(wide::segments);
}

/// A kernel's program becomes PTX by itself, and the same PTX each time.
#[test]
fn listed_kernels_are_compiled() {
    for entry in ENTRIES {
        let text = || girih_tile::compile(&entry.build().unwrap(), 90).unwrap().kernel.module().to_string();
        assert_eq!(text(), text(), "{}", entry.name);
    }
}

/// Every kernel has arguments that it can be launched with, and other tiles of it give what its own gives.
#[test]
fn listed_kernels_are_launched_and_tuned() {
    let budget = Budget { points: 2, ..Budget::default() };
    for entry in ENTRIES {
        let device = checked();
        let mut arguments = entry.arguments(&device, &entry.small()).unwrap();
        let tuned = entry.tune(&mut arguments, &entry.space(), &budget);
        let tuned = tuned.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let bad: Vec<_> = tuned.measured.iter().filter(|of| of.share.is_err()).collect();
        assert!(bad.is_empty() && device.sim_findings().is_empty(), "{}: {bad:?}", entry.name);
    }
}
