//! Every configuration that can be chosen, on small problems on the simulator with every check enabled.

use girih_kernels::gemm::choose;

use crate::checked;
use crate::common::{Failure, configs};

/// One of so many configurations is run wherever tests run.
const STEP: usize = 997;

fn verify(step: usize) -> Result<(), Failure> {
    let device = checked();
    for config in choose::all().step_by(step) {
        configs::verify(&device, &config).map_err(|error| format!("{config:?}: {error}"))?;
    }
    Ok(())
}

#[test]
fn some_choices_multiply() -> Result<(), Failure> {
    verify(STEP)
}

#[test]
#[ignore = "takes long; `cargo xtask soak` runs it"]
fn every_choice_multiplies() -> Result<(), Failure> {
    verify(1)
}
