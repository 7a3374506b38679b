//! The tile kernels on the simulator with every check, and what each becomes.

use girih_programs::ENTRIES;

use super::checked;
use super::common::{elementwise, moves, norms, rows, sums, wide};

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
fn scans_of_everything() {
    wide::scans(&checked()).unwrap();
}

#[test]
fn reductions_of_everything() {
    wide::reductions(&checked()).unwrap();
}

#[test]
fn sums_of_segments() {
    wide::segments(&checked()).unwrap();
}

/// A kernel's program becomes PTX by itself, and the same PTX each time.
#[test]
fn listed_kernels_are_compiled() {
    for entry in ENTRIES {
        let text = || girih_tile::compile(&entry.build().unwrap(), 90).unwrap().kernel.module().to_string();
        assert_eq!(text(), text(), "{}", entry.name);
    }
}
