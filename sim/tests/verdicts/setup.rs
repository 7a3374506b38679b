//! Buffers and launches, and the runs with several seeds that a verdict takes.

use girih_sim::{Error, Finding, Launch, Memory, Options, Print, Program, judge};

use super::manifest::Case;

/// Compares what a launch has left in memory with what the host computes.
pub(crate) type Check = Box<dyn Fn(&Setup) -> Result<(), String>>;

/// Memory and the launch of one run.
pub(crate) struct Setup {
    pub(crate) memory: Memory,
    pub(crate) launch: Launch,
    pub(crate) print: Option<Print>,
    /// The multiprocessors of the device; those of an H200 if none are given.
    pub(crate) multiprocessors: Option<u32>,
}

/// The results of the runs of an entry.
pub(crate) struct Verdict {
    pub(crate) findings: Vec<Finding>,
    pub(crate) numbers: Result<(), String>,
}

/// Numbers that lie in memory as they are.
pub(crate) trait Plain: Copy + Default + PartialEq + std::fmt::Debug + 'static {
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
plain!(u8 i32 u32 u64 i64 f32 half::f16);

/// A buffer: address and length.
#[derive(Clone, Copy)]
pub(crate) struct Buffer(pub(crate) u64, pub(crate) usize);

impl Setup {
    /// A row of blocks of a row of threads.
    pub(crate) fn shape(&mut self, blocks: u32, threads: u32) -> &mut Self {
        (self.launch.grid, self.launch.block) = ([blocks, 1, 1], [threads, 1, 1]);
        self
    }

    pub(crate) fn arg(&mut self, value: impl Plain) -> &mut Self {
        self.launch.args.push(value.bytes());
        self
    }

    /// Adds the address of a buffer that holds these numbers.
    pub(crate) fn buffer<T: Plain>(&mut self, values: &[T]) -> Buffer {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let address = self.memory.alloc(bytes.len()).unwrap();
        self.memory.write(address, &bytes).unwrap();
        self.arg(address);
        Buffer(address, values.len())
    }

    /// Adds the address of a buffer that has no values yet.
    pub(crate) fn output<T: Plain>(&mut self, count: usize) -> Buffer {
        let address = self.memory.alloc_uninitialised(count * T::default().bytes().len()).unwrap();
        self.arg(address);
        Buffer(address, count)
    }

    pub(crate) fn read<T: Plain>(&self, buffer: Buffer) -> Vec<T> {
        let size = T::default().bytes().len();
        let mut bytes = vec![0; buffer.1 * size];
        self.memory.read(buffer.0, &mut bytes).unwrap();
        bytes.chunks_exact(size).map(T::of).collect()
    }
}

/// Runs an entry at four seeds.
pub(crate) fn run(program: &Program, entry: &str, case: &Case) -> Result<Verdict, Error> {
    let kernel = program.kernel(entry)?;
    let mut setup =
        Setup { memory: Memory::new(), launch: Launch::default(), print: None, multiprocessors: None };
    let check = (case.prepare)(&mut setup);
    let (print, multiprocessors) = (setup.print.take(), setup.multiprocessors);
    let options = Options { seeds: 4, steps: Some(300_000), print, multiprocessors, ..Options::checked() };
    let verdict = judge(kernel, &setup.memory, &setup.launch, &options)?;
    let numbers = check(&setup);
    Ok(Verdict { findings: verdict.findings, numbers })
}

/// Asserts that a buffer holds these numbers.
pub(crate) fn same<T: Plain>(buffer: Buffer, want: Vec<T>) -> Check {
    Box::new(move |setup| equal(&setup.read::<T>(buffer), &want))
}

pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(got: &[T], want: &[T]) -> Result<(), String> {
    match (0..want.len()).find(|&i| got.get(i) != Some(&want[i])) {
        Some(i) => Err(format!("element {i} is {:?}, not {:?}", got.get(i), want[i])),
        None if got.len() > want.len() => Err(format!("{} elements more", got.len() - want.len())),
        None => Ok(()),
    }
}

/// Asserts that a buffer holds about these numbers: within this of the largest.
pub(crate) fn near<T: Plain + Into<f32>>(buffer: Buffer, want: Vec<f64>, error: f64) -> Check {
    Box::new(move |setup| {
        let got: Vec<f64> = setup.read::<T>(buffer).into_iter().map(|x| f64::from(x.into())).collect();
        let most = want.iter().fold(0f64, |most, x| most.max(x.abs()));
        match (0..want.len()).find(|&i| got[i].is_nan() || (got[i] - want[i]).abs() > error * most) {
            Some(i) => Err(format!("element {i} is {}, not {}", got[i], want[i])),
            None => Ok(()),
        }
    })
}

/// Whole numbers from 0 to `below - 1` in no apparent order.
pub(crate) fn whole(count: usize, below: u32, salt: u32) -> Vec<i32> {
    let mixed = |i: u32| {
        let x = (i + 1).wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
        ((x ^ x >> 15).wrapping_mul(2_246_822_519) >> 9) % below
    };
    (0..count as u32).map(|i| mixed(i) as i32).collect()
}

/// Numbers from -1 to 1 in no apparent order.
pub(crate) fn fractions(count: usize, salt: u32) -> Vec<f32> {
    whole(count, 1 << 16, salt).iter().map(|&x| x as f32 / 32768.0 - 1.0).collect()
}
