//! Decoding on a real GPU: random problems. Skips with one line where there is none. `GIRIH_CASES` says how many, `GIRIH_SEEDS=12..13` which
//! ones, and `GIRIH_DEVICE=sim` takes the simulator.

mod common {
    pub(crate) mod decode;
    pub(crate) mod unjudged;
    pub(crate) type Failure = Box<dyn std::error::Error>;
}

use common::Failure;
use common::decode::Case;
use common::unjudged::Unjudged;
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
    let (mut run, mut unjudged) = (0, 0);
    for seed in seeds {
        let random = Case::random(&mut StdRng::seed_from_u64(seed), most)?;
        // Scores of up to 1e30.
        let large = Case::large(&mut StdRng::seed_from_u64(seed), most.min(1500))?;
        for case in [random, large] {
            run += 1;
            match case.verify(&device, seed) {
                Err(error) if error.is::<Unjudged>() => unjudged += 1,
                other => other.map_err(|error| format!("GIRIH_SEEDS={seed}..{}: {error}", seed + 1))?,
            }
        }
    }
    println!("{run} problems, {unjudged} of them not judged");
    // Few problems have scores whose rounding alone may change a result by a tenth.
    if 20 * unjudged > run.max(40) {
        Err(format!("{unjudged} of {run} problems were not judged").into())
    } else {
        Ok(())
    }
}
