//! Calls of one GEMM, one after the other, on the simulator.

use crate::checked;
use crate::common::{Failure, calls};

#[test]
fn buffers_may_change_from_call_to_call() -> Result<(), Failure> {
    calls::buffers_may_change(&checked())
}

#[test]
fn what_is_refused_leaves_nothing_behind() -> Result<(), Failure> {
    calls::refusals_leave_nothing(&checked())
}

#[test]
fn threads_share_a_gemm() -> Result<(), Failure> {
    calls::threads_share_a_gemm(&checked())
}

#[test]
fn inputs_may_change_from_call_to_call() -> Result<(), Failure> {
    calls::inputs_may_change(&checked())?;
    calls::inputs_that_are_read_ahead_may_change(&checked())
}

#[test]
fn graphs_keep_their_buffers() -> Result<(), Failure> {
    calls::graphs_keep_their_buffers(&checked())
}

#[test]
fn gemms_share_a_workspace() -> Result<(), Failure> {
    calls::gemms_share_a_workspace(&checked())
}
