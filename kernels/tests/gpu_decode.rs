//! Decoding on a real GPU: random problems. Skips with one line where there is none. `GIRIH_CASES` says how
//! many, `GIRIH_SEEDS=12..13` which ones, `GIRIH_SECONDS=200` for how long, and `GIRIH_DEVICE=sim` takes the simulator.

mod common {
    pub(crate) mod decode;
    pub(crate) mod random;
    pub(crate) type Failure = Box<dyn std::error::Error>;
}

use common::Failure;
use common::decode::Case;
use girih_device::{Device, Select, SimOptions};
use rand::{SeedableRng, rngs::StdRng};

#[test]
fn random_problems() -> Result<(), Failure> {
    let simulated = std::env::var("GIRIH_DEVICE").is_ok_and(|device| device == "sim");
    let device = if simulated {
        Device::open_sim(SimOptions::checked())?
    } else {
        match Device::open(Select::Cuda(0)) {
            Ok(device) => device,
            Err(error) => {
                println!("skipped: {error}");
                return Ok(());
            }
        }
    };
    let (cases, most) = if simulated { (20, 700) } else { (2000, 5000) };
    // Decoding compiles a kernel for nearly every problem.
    common::random::run(
        cases,
        1,
        |_| (),
        |(), seed| {
            let mut rng = StdRng::seed_from_u64(seed / 2);
            // Every other problem has scores of up to 1e30.
            let case = if seed % 2 == 0 {
                Case::random(&mut rng, most)?
            } else {
                Case::large(&mut rng, most.min(1500))?
            };
            case.verify(&device, seed)
        },
        |()| 0,
    )
}
