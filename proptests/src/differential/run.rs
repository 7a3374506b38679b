//! Running a program on a device, and comparing two runs.

use std::fmt;

use girih_device::{Arg, Device, Error, LaunchConfig, Optimization};

use super::memory::ROW;
use super::module::{KERNEL, PARAMETER, SLOT};
use super::value::Class;
use super::{BLOCK, BLOCKS, LANES, Program};

/// The results of a run: of every value that a step writes, in order, its bits in each lane.
pub type Columns = Vec<Vec<u64>>;

/// Runs a program as it is compiled by default.
///
/// # Errors
/// As [`run_with`].
pub fn run(device: &Device, program: &Program) -> Result<Columns, Error> {
    run_with(device, program, Optimization::Full)
}

/// Runs a program.
///
/// # Errors
/// The device's: the simulator does not know an instruction, or objects to what it does; a driver refuses the module.
#[allow(unsafe_code, reason = "a launch of generated PTX, which stays within the buffers made here")]
pub fn run_with(device: &Device, program: &Program, optimization: Optimization) -> Result<Columns, Error> {
    let kernel = device.load_with(&program.module(), optimization)?.kernel(KERNEL)?;
    let inputs: Vec<u64> = program.inputs.iter().flat_map(|input| &input.lanes).copied().collect();
    // Loads that name no register of the step read the inputs, so there is always one.
    let inputs = device.upload(&if inputs.is_empty() { vec![0; LANES] } else { inputs })?;
    let count = program.results().count();
    let results = device.zeros::<u8>(count.max(1) * LANES * SLOT)?;
    let rows = device.zeros::<u8>(LANES * ROW)?;
    let parameter: [u8; PARAMETER] = std::array::from_fn(|i| (i * 101 + 128) as u8);
    let launch = LaunchConfig::new([BLOCKS as u32, 1, 1], [BLOCK as u32, 1, 1]);
    let args = [Arg::from(&inputs), Arg::from(&results), Arg::from(&rows), Arg::Bytes(&parameter)];
    // SAFETY: each thread reads its own slot of every input, writes its own slot of every result, and uses the rows of
    // its block between barriers.
    unsafe { kernel.launch(&launch, &args)? };
    let bytes = results.download()?;
    let words = bytes
        .chunks_exact(SLOT)
        .map(|bytes| bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)));
    let words: Vec<u64> = words.collect();
    Ok(words.chunks_exact(LANES).take(count).map(<[u64]>::to_vec).collect())
}

/// A step whose operands are the same in two runs and whose results are not, in one lane.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The program.
    pub program: u64,
    /// The step's index.
    pub step: usize,
    /// Opcode and modifiers.
    pub instruction: String,
    /// The step's statements, as text.
    pub text: String,
    /// The first lane that differs.
    pub lane: usize,
    /// Lanes that differ.
    pub lanes: usize,
    /// The values read, in that lane.
    pub reads: Vec<(String, Class, u64)>,
    /// The values written, in that lane, by the one and the other.
    pub writes: Vec<(String, Class, u64, u64)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, step, instruction, lane, lanes, .. } = self;
        writeln!(
            f,
            "program {program}, step {step}: {instruction}: {lanes} lanes differ, lane {lane} first"
        )?;
        for line in self.text.lines() {
            writeln!(f, "    {line}")?;
        }
        for (name, class, bits) in &self.reads {
            writeln!(f, "    {name} = {}", Bits(*class, *bits))?;
        }
        for (name, class, one, other) in &self.writes {
            writeln!(f, "    {name}: {} against {}", Bits(*class, *one), Bits(*class, *other))?;
        }
        Ok(())
    }
}

/// Bits, and what they are as a number.
struct Bits(Class, u64);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.1 & self.0.mask();
        match self.0 {
            Class::Pred => write!(f, "{bits}"),
            Class::B16 => write!(f, "{bits:#06x}"),
            Class::B32 => write!(f, "{bits:#010x} ({:e})", f32::from_bits(bits as u32)),
            Class::B64 => write!(f, "{bits:#018x} ({:e})", f64::from_bits(bits)),
        }
    }
}

/// The steps whose operands agree in both runs and whose results don't, each with its first such lane.
pub fn differences(program: &Program, one: &Columns, other: &Columns) -> Vec<Difference> {
    let mut first = 0;
    let mut found = Vec::new();
    for (i, step) in program.steps.iter().enumerate() {
        let written = first..first + step.writes.len();
        first = written.end;
        let reads: Vec<_> = step
            .reads
            .iter()
            .filter_map(|value| Some((value, program.column(one, value)?, program.column(other, value)?)))
            .collect();
        let same = |lane: &usize| {
            reads.iter().all(|(_, one, other)| step.reach.lanes(*lane).all(|lane| one[lane] == other[lane]))
        };
        let differs = |lane: &usize| {
            let mut results = step.writes.iter().zip(written.clone());
            results.any(|((value, agree), at)| !agree.holds(value.class, one[at][*lane], other[at][*lane]))
        };
        let lanes: Vec<usize> = (0..LANES).filter(differs).filter(same).collect();
        let Some(&lane) = lanes.first() else { continue };
        let results = step.writes.iter().zip(written.clone());
        found.push(Difference {
            program: program.number,
            step: i,
            instruction: step.instruction.clone(),
            text: step.text(),
            lane,
            lanes: lanes.len(),
            reads: reads
                .iter()
                .map(|(value, one, _)| (value.name.to_string(), value.class, one[lane]))
                .collect(),
            writes: results
                .map(|((value, _), at)| (value.name.to_string(), value.class, one[at][lane], other[at][lane]))
                .collect(),
        });
    }
    found
}
