//! Decoding on a real GPU: random problems. Skips with one line where there is none. `GIRIH_CASES` says how many, `GIRIH_SEEDS=12..13` which
//! ones, and `GIRIH_DEVICE=sim` takes the simulator.

mod common {
    pub(crate) mod decode;
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
    let (cases, most) = if simulated { (10, 700) } else { (1000, 5000) };
    let cases = std::env::var("GIRIH_CASES").ok().map_or(Ok(cases), |count| count.parse())?;
    let mut seeds = 0..cases;
    if let Some((first, end)) =
        std::env::var("GIRIH_SEEDS").ok().as_deref().and_then(|seeds| seeds.split_once(".."))
    {
        seeds = first.parse()?..end.parse()?;
    }
    for seed in seeds {
        let told = |error| format!("GIRIH_SEEDS={seed}..{}: {error}", seed + 1);
        Case::random(&mut StdRng::seed_from_u64(seed), most)?.verify(&device, seed).map_err(told)?;
        // Scores of up to 1e30.
        Case::large(&mut StdRng::seed_from_u64(seed), most.min(1500))?.verify(&device, seed).map_err(told)?;
    }
    Ok(())
}
