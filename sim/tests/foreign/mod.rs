//! PTX that other compilers made: it parses, verifies, prints, and runs with every check on to the numbers that the
//! host computes. The sources, the compilers and their options stand in this folder's README.
#![expect(clippy::unwrap_used, reason = "tests")]

mod basics;
mod control;
mod corpus;
mod numbers;
mod threads;
mod triton;
mod wmma;

use girih_sim::{Launch, Memory, Options, Program, Report};

/// The text of a file for both architectures: one file that differs only in its target, or two files.
fn texts(stem: &str) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign");
    if let Ok(text) = std::fs::read_to_string(format!("{folder}/{stem}.ptx")) {
        let newer = text.replace(".target sm_80", ".target sm_90");
        assert_ne!(newer, text, "{stem}");
        return vec![text, newer];
    }
    let read = |sm| std::fs::read_to_string(format!("{folder}/{stem}_sm{sm}.ptx")).unwrap();
    vec![read(80), read(90)]
}

/// Calls `test` with the program of each architecture.
fn each(stem: &str, test: &dyn Fn(&Program)) {
    for text in texts(stem) {
        let module = girih_ptx::Module::parse(&text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        test(&Program::load(&module).unwrap_or_else(|error| panic!("{stem}: {error}")));
    }
}

/// Numbers that are stored in memory with their own bytes.
trait Plain: Copy + Default {
    fn bytes(self) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Self;
}
macro_rules! plain {
    ($($t:ty)*) => { $(impl Plain for $t {
        fn bytes(self) -> Vec<u8> {
            self.to_le_bytes().into()
        }
        fn of(bytes: &[u8]) -> Self {
            Self::from_le_bytes(bytes.try_into().unwrap())
        }
    })* };
}
plain!(u8 i8 u16 u32 i32 u64 i64 f32 f64 half::f16 half::bf16);

/// Memory and the arguments of one launch.
struct Call<'p> {
    program: &'p Program,
    memory: Memory,
    launch: Launch,
    options: Options,
}

/// A buffer in a call's memory: address and length.
#[derive(Clone, Copy)]
struct Buffer(u64, usize);

impl<'p> Call<'p> {
    fn new(program: &'p Program, grid: [u32; 3], block: [u32; 3]) -> Self {
        let launch = Launch { grid, block, ..Launch::default() };
        Call { program, memory: Memory::new(), launch, options: Options { seed: 7, ..Options::checked() } }
    }

    /// A row of blocks of a row of threads.
    fn row(program: &'p Program, blocks: u32, threads: u32) -> Self {
        Self::new(program, [blocks, 1, 1], [threads, 1, 1])
    }

    /// Adds an argument.
    fn arg(&mut self, value: impl Plain) -> &mut Self {
        self.launch.args.push(value.bytes());
        self
    }

    /// Adds the address of a buffer that holds these numbers.
    fn buffer<T: Plain>(&mut self, values: &[T]) -> Buffer {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let address = self.memory.alloc(bytes.len()).unwrap();
        self.memory.write(address, &bytes).unwrap();
        self.arg(address);
        Buffer(address, values.len())
    }

    /// Adds the address of a buffer of zeros.
    fn zeros<T: Plain>(&mut self, count: usize) -> Buffer {
        self.buffer(&vec![T::default(); count])
    }

    /// Writes these numbers to a buffer.
    fn write<T: Plain>(&self, buffer: Buffer, values: &[T]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        self.memory.write(buffer.0, &bytes).unwrap();
    }

    fn run(&mut self, kernel: &str) -> Report {
        self.try_run(kernel).unwrap_or_else(|error| panic!("{kernel}: {error}"))
    }

    fn try_run(&mut self, kernel: &str) -> Result<Report, girih_sim::Error> {
        girih_sim::run(self.program.kernel(kernel)?, &self.memory, &self.launch, &self.options)
    }

    fn read<T: Plain>(&self, buffer: Buffer) -> Vec<T> {
        let size = T::default().bytes().len();
        let mut bytes = vec![0; buffer.1 * size];
        self.memory.read(buffer.0, &mut bytes).unwrap();
        bytes.chunks_exact(size).map(T::of).collect()
    }
}

/// Whole numbers from 0 to `below - 1` in no apparent order.
fn whole(count: usize, below: u32, salt: u32) -> Vec<u32> {
    (0..count as u32)
        .map(|i| {
            let x = (i + 1).wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
            (x ^ x >> 15).wrapping_mul(2_246_822_519) >> 9
        })
        .map(|x| x % below)
        .collect()
}

/// Numbers from -1 to 1 in no apparent order.
fn fractions(count: usize, salt: u32) -> Vec<f32> {
    whole(count, 1 << 16, salt).iter().map(|&x| x as f32 / 32768.0 - 1.0).collect()
}

/// Asserts that numbers are within `relative` of the wanted ones, or within `absolute`.
#[track_caller]
fn assert_near(got: &[f64], want: &[f64], relative: f64, absolute: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
        let near = (got - want).abs() <= relative * want.abs() + absolute;
        let same = got == want || got.is_nan() && want.is_nan();
        assert!(near || same, "{what}, element {i}: {got:e}, not {want:e}");
    }
}

fn doubled<T: Into<f64> + Copy>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}
