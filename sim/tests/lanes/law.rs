//! The simulator finds a race in a program if and only if the program's graph has one, and the race found is one of
//! those.

use girih_sim::{Error, Site};

use super::graph::{Access, judge};
use super::program::{LANES, Program, Random, SHAPES, Shape, What};
use super::text::FIRST;

fn access(shape: Shape, at: &Site) -> Access {
    let warp = at.block[0] as usize * shape.warps + at.thread[0] as usize / 32;
    let lane = LANES.iter().position(|&lane| lane == at.thread[0] % 32);
    ((at.place.line - FIRST) as usize, (warp, lane.unwrap_or(LANES.len() - 1)))
}

/// Removes events from a program until it has no race or only a few, so that each that is left counts.
fn thinned(mut program: Program, random: &mut Random) -> Program {
    let keep = random.below(3);
    loop {
        let wrong = judge(&program);
        let pairs = [wrong.races, wrong.unfenced].concat();
        if pairs.len() <= keep {
            return program;
        }
        let (event, _) = pairs[random.below(pairs.len())][random.below(2)];
        if let What::Set { flag: set, .. } = program.events.remove(event).what {
            program.events.retain(|event| !matches!(event.what, What::Await { flag, .. } if flag == set));
        }
    }
}

#[test]
fn races_are_those_of_the_graph() {
    judged(2000);
}

/// The same law for many times as many programs.
#[test]
#[ignore = "takes minutes"]
fn races_are_those_of_the_graph_in_many_programs() {
    judged(100_000);
}

fn judged(programs: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut racy, mut unfenced, mut clean, mut reduced) = (0, 0, 0, 0);
    for nth in 0..programs {
        let program = Program::random(&mut random, SHAPES[nth % SHAPES.len()]);
        let program = thinned(program, &mut random);
        let (text, wrong) = (program.text(), judge(&program));
        let known = |of: &[[Access; 2]], at: &Site, other: &Site| {
            let [a, b] = [at, other].map(|at| access(program.shape, at));
            of.contains(&[a, b]) || of.contains(&[b, a])
        };
        for seed in 0..2 {
            let found = program.run(&text, seed);
            let agrees = match &found {
                Ok(()) => wrong.races.is_empty() && wrong.unfenced.is_empty(),
                Err(Error::Race { at, other, .. }) => known(&wrong.races, at, &other.at),
                Err(Error::InFlight { at, copy, .. }) => known(&wrong.races, at, &copy.at),
                Err(Error::Unfenced { at, other, .. }) => known(&wrong.unfenced, at, &other.at),
                Err(_) => false,
            };
            assert!(agrees, "{nth}, seed {seed}: {found:?}\n{wrong:?}\n{text}");
        }
        racy += usize::from(!wrong.races.is_empty());
        unfenced += usize::from(wrong.races.is_empty() && !wrong.unfenced.is_empty());
        clean += usize::from(wrong.races.is_empty() && wrong.unfenced.is_empty());
        let reduces = |&(event, _): &Access| matches!(program.events[event].what, What::Reduce { .. });
        reduced += usize::from(wrong.races.iter().flatten().any(reduces));
    }
    assert!(
        racy > programs / 4 && clean > programs / 4 && unfenced > programs / 200 && reduced > programs / 50,
        "{racy} {unfenced} {clean} {reduced}"
    );
}
