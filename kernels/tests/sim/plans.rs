//! Every configuration that can be chosen, on small problems on the simulator with every check enabled.

use girih_kernels::gemm::choose;

use crate::checked;
use crate::common::{Failure, configs};

/// One of so many configurations is run wherever tests run, on one of its problems: a kernel computes C and its transpose in one way.
const STEP: usize = 997;

#[test]
fn some_choices_multiply() -> Result<(), Failure> {
    let device = checked();
    for (number, config) in choose::all().step_by(STEP).enumerate() {
        configs::verify_one(&device, &config, number).map_err(|error| format!("{config:?}: {error}"))?;
    }
    Ok(())
}

#[test]
#[ignore = "takes long; `cargo xtask soak` runs it"]
fn every_choice_multiplies() -> Result<(), Failure> {
    let device = checked();
    for config in choose::all() {
        configs::verify(&device, &config).map_err(|error| format!("{config:?}: {error}"))?;
    }
    Ok(())
}
