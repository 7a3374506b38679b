//! Kernels without one of the instructions by which threads wait for one another.

use girih_codegen::attention::{AttentionConfig, Features, generate};

use super::problem::{Problem, run};
use super::{SMALL, TIGHT, WINDOW, ring};
use crate::mutants::without;

/// What the simulator does not report.
///
/// - The fence before the next scores stands after products whose own fence comes after the last use of the scores' registers. It is kept, as the rules
///   of `wgmma` ask for one without a look at what comes before.
/// - The wait for keys that a warpgroup passes after its last ones: values come after keys, and in the turn that follows others have waited for them.
///   It is kept, as passing is one function.
/// - Warpgroup 0 waits for its last turn, so that no barrier is left with half of its threads when the block ends.
const KEPT: [&str; 3] = ["wgmma.fence.sync.aligned", "mbarrier.try_wait.parity.shared::cta.b64", "bar.sync"];

/// The schedules that are tried: some at random, and those in which a warp falls behind that does not release what its warpgroup has passed, or that
/// clears values.
const SCHEDULES: [(u64, Option<u32>); 7] =
    [(0, None), (1, None), (0, Some(1)), (2, Some(5)), (3, Some(9)), (4, Some(5)), (5, Some(9))];

/// The kernel is reported when any one of its other waits, arrivals, barriers and fences is missing. Warpgroups pass tiles of keys at both ends, and
/// there is one stage, so that a release that comes too early frees what others read.
#[test]
fn every_part_of_a_ring_is_needed() {
    for packed in [false, true] {
        let features = Features { packed, ..WINDOW };
        let config = ring(AttentionConfig { features, ..SMALL }, TIGHT);
        let kernel = generate(&config).unwrap();
        let of = |sequences: &[[u32; 2]], window| {
            let sequences = sequences.to_vec();
            Problem { sequences, scale: 8.0, window, ..Problem::default() }
        };
        // Windows that are narrower than a warpgroup, and wider; one warpgroup passes one tile, the first; tiles without keys follow each other.
        let problems = [
            of(&[[192, 180], [40, 70]], [20, 20]),
            of(&[[130, 200]], [150, 150]),
            of(&[[192, 80]], [200, 0]),
            of(&[[5, 0], [5, 0], [5, 0], [5, 20], [5, 0]], [9, 9]),
        ];
        let runs = || SCHEDULES.into_iter().flat_map(|by| problems.iter().map(move |problem| (problem, by)));
        for (problem, by) in runs() {
            let result = run(&config, &kernel, kernel.kernel.module(), problem, by);
            result.unwrap_or_else(|e| panic!("{e}: {problem:?} {by:?}"));
        }
        let (mut kept, mut removed) = (Vec::new(), 0);
        for index in 0.. {
            let Some((mutant, text)) = without(kernel.kernel.module(), index) else { break };
            removed += 1;
            let caught = runs()
                .find_map(|(problem, by)| run(&config, &kernel, &mutant, problem, by).err().map(|e| (by, e)));
            println!("{index} {text}: {caught:?}");
            if caught.is_none() {
                kept.push(text);
            }
        }
        assert_eq!((removed, &kept[..]), (64, &KEPT.map(String::from)[..]));
    }
}
