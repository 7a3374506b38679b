//! Random programs over the instruction families: each is PTX, assembles, and runs in the simulator without complaint.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use girih_device::{Device, SimOptions};
use girih_proptests::differential::{Agree, Input, LANES, Program, Programs, differences, run};
use girih_ptx::{Inst, Item, Module, Opcode, Operand, Statement, Type};

const SEED: u64 = 1;
/// Enough for every instruction to come once.
const PROGRAMS: usize = 600;

fn simulator(seed: u64) -> Device {
    Device::open_sim(SimOptions { seed, ..SimOptions::checked() }).unwrap()
}

/// All of them, dealt once.
fn programs() -> &'static [Program] {
    static DEALT: OnceLock<Vec<Program>> = OnceLock::new();
    DEALT.get_or_init(|| Programs::of(&simulator(0), SEED).take(PROGRAMS).collect())
}

#[test]
fn programs_are_ptx_and_run_in_any_order_of_warps() {
    let (one, other) = (simulator(0), simulator(5));
    for program in programs() {
        let number = program.number;
        program.module().verify().unwrap_or_else(|error| panic!("program {number}: {error}"));
        // Dealing ran each of them once; every third runs in another order too.
        if number % 3 != 0 {
            continue;
        }
        let first = run(&one, program).unwrap_or_else(|error| panic!("program {number}: {error}"));
        assert!(first == run(&other, program).unwrap(), "program {number}");
        assert!(differences(program, &first, &first).is_empty(), "program {number}");
    }
}

#[test]
fn every_family_is_dealt_and_nothing_is_refused() {
    let programs = Programs::of(&simulator(0), SEED);
    assert!(programs.round() <= PROGRAMS, "{}", programs.round());
    let covered = programs.covered();
    for opcode in ["add", "cvt", "setp", "set", "shfl", "vote", "mma", "ldmatrix", "ld", "st", "atom", "red"]
    {
        assert!(covered.contains_key(opcode), "{opcode}");
    }
    // What a cluster's other blocks have is not there yet.
    let refused: Vec<_> =
        programs.refused().iter().filter(|line| !line.contains("shared::cluster")).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_wrong_result_is_found_and_shrinks_to_its_instruction() {
    let device = simulator(0);
    let mut tampered = 0;
    for program in programs().iter().take(20) {
        let right = run(&device, program).unwrap();
        let places: Vec<(usize, Agree)> = (program.steps.iter().enumerate())
            .flat_map(|(i, step)| step.writes.iter().map(move |(_, agree)| (i, *agree)))
            .collect();
        for (at, &(step, agree)) in places.iter().enumerate() {
            let mut wrong = right.clone();
            let lane = (at * 37) % LANES;
            wrong[at][lane] ^= 1;
            let found = differences(program, &wrong, &right);
            // Later steps that read the wrong value have other operands: they are not to blame.
            let steps: Vec<_> = found.iter().map(|difference| (difference.step, difference.lane)).collect();
            if agree == Agree::Bits {
                assert_eq!(steps, [(step, lane)], "program {}: {found:?}", program.number);
                tampered += 1;
            }
            let alone = program.alone(step, &right);
            let first = places.iter().position(|place| place.0 == step).unwrap();
            let results = run(&device, &alone).unwrap();
            if alone.steps[0].reads.len() == alone.inputs.len()
                && !program.steps[step].instruction.contains(".nc")
            {
                assert_eq!(results[..], right[first..first + results.len()], "{:?}", program.steps[step]);
            }
        }
    }
    assert!(tampered > 200, "{tampered}");
}

/// The bits of the whole numbers that elements of the small formats are, as the formats say.
fn whole_numbers(ty: Type) -> BTreeSet<u64> {
    let (sign, positive): (u64, Vec<u64>) = match ty {
        Type::F16 => (1 << 15, vec![0x3c00, 0x4000, 0x4200, 0x4400]),
        Type::Bf16 => (1 << 15, (1u16..=16).map(|x| u64::from(f32::from(x).to_bits() >> 16)).collect()),
        // 1 is 0 0111 000, 6 is 0 1001 100.
        Type::E4m3 => (1 << 7, vec![0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e, 0x50]),
        // 3 is 0 10000 10.
        _ => (1 << 7, vec![0x3c, 0x40, 0x42, 0x44]),
    };
    positive.into_iter().flat_map(|bits| [bits, sign | bits]).chain([0]).collect()
}

/// Else the order of a product's sums would show, which the ISA leaves open.
#[test]
fn elements_of_matrices_are_small_whole_numbers() {
    let mut drawn: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for program in programs() {
        for statement in program.steps.iter().flat_map(|step| &step.statements) {
            let Statement::Inst(inst @ Inst { opcode: Opcode::Mma, .. }) = statement else { continue };
            let types = inst.modifiers.iter().filter_map(|modifier| Type::parse(modifier.text()));
            // The first of them is the product, which is no input.
            for (ty, operand) in types.zip(&inst.operands).skip(1) {
                let Operand::Vector(registers) = operand else { panic!("{inst}") };
                let Some(bits) = ty.bits().filter(|&bits| bits <= 16) else { continue };
                for register in registers {
                    let Operand::Name(name) = register else { panic!("{inst}") };
                    let is_read = |input: &&Input| input.value.name == *name;
                    let words = &program.inputs.iter().find(is_read).unwrap().lanes;
                    let elements = |word: &u64| {
                        let word = *word;
                        (0..32 / bits).map(move |i| word >> (i * bits) & ((1 << bits) - 1))
                    };
                    drawn.entry(ty.text()).or_default().extend(words.iter().flat_map(elements));
                }
            }
        }
    }
    for ty in [Type::F16, Type::Bf16, Type::E4m3, Type::E5m2] {
        assert_eq!(drawn.get(ty.text()), Some(&whole_numbers(ty)), "{ty}");
    }
}

#[test]
fn fewer_steps_give_the_results_that_they_gave() {
    let device = simulator(0);
    let mut compared = 0;
    for program in programs().iter().take(60) {
        let all = run(&device, program).unwrap();
        let some = |i: usize| (program.number >> (i % 6)) & 1 == 0;
        let less = program.of_steps(some, &all);
        let kept = program.results().zip(&all).filter(|((step, _), _)| some(*step));
        let kept: Vec<_> = kept.map(|((_, value), lanes)| (value.clone(), lanes.clone())).collect();
        let results = run(&device, &less).unwrap();
        let names: Vec<_> = less.results().map(|(_, value)| value.clone()).collect();
        // What such a load reads, is the place of an input, which is another one in the lesser program.
        if !program.steps.iter().any(|step| step.instruction.contains(".nc")) {
            assert!(names.into_iter().zip(results).collect::<Vec<_>>() == kept, "program {}", program.number);
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn every_program_assembles() {
    let fetched = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ptx-tools").join("ptxas");
    let ptxas = std::env::var_os("GIRIH_PTXAS").map_or_else(fetched, Into::into);
    if !ptxas.is_file() {
        eprintln!("SKIPPED: no ptxas at {} (GIRIH_PTXAS names another)", ptxas.display());
        return;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs.ptx");
    // Without optimisation: what counts is that they are accepted.
    let assemble = |module: &Module| {
        std::fs::write(&path, module.to_string()).unwrap();
        let arguments = ["-O0", "-arch", "sm_90", "-o", "/dev/null"];
        let output = Command::new(&ptxas).args(arguments).arg(&path).output().unwrap();
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    // A process of the assembler takes longer to start than a program to assemble.
    for programs in programs().chunks(50) {
        if let Err(log) = assemble(&of_all(programs)) {
            for program in programs {
                let number = program.number;
                assemble(&program.module())
                    .unwrap_or_else(|log| panic!("program {number}: {log}\n{}", program.module()));
            }
            panic!("each program assembles, but not all in one module: {log}");
        }
    }
}

/// The kernels of some programs in one module, and their functions, each under names of its own.
fn of_all(programs: &[Program]) -> Module {
    let named = |program: &Program| {
        let own = program.number;
        let text = program.module().to_string().replace("_function", &format!("_function_of_{own}"));
        let mut module = Module::parse(&text).unwrap();
        for item in &mut module.items {
            if let Item::Kernel(kernel) = item {
                kernel.name = format!("program{own}").into();
            }
        }
        module
    };
    Module::link(&programs.iter().map(named).collect::<Vec<_>>()).unwrap()
}
