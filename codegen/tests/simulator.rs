//! Kernels on the simulator.
#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::{Params, Slot, Value};
use girih_ptx::Module;
use girih_sim::{Error, Launch, Memory, Options, Program, Report};

/// The little-endian bytes of addresses, as arguments.
pub(crate) fn addresses(addresses: &[u64]) -> Vec<Vec<u8>> {
    addresses.iter().map(|address| address.to_le_bytes().to_vec()).collect()
}

/// The little-endian bytes of sizes and pitches, as arguments.
pub(crate) fn sizes(sizes: &[i64]) -> Vec<Vec<u8>> {
    sizes.iter().map(|&size| u32::try_from(size).unwrap().to_le_bytes().to_vec()).collect()
}

/// The arguments of a launch as bytes, where `given` is what the caller gives: addresses, and the numbers of pitches and steps.
pub(crate) fn bytes<A: 'static>(
    params: &Params<A>,
    arguments: &A,
    given: impl Fn(Slot<&str>) -> u64,
) -> Vec<Vec<u8>> {
    let values = params.values(arguments).unwrap();
    let bytes = |value: Value| match value {
        Value::Slot(slot @ Slot::Pitch(_)) => {
            u32::try_from(given(slot.as_deref())).unwrap().to_le_bytes().to_vec()
        }
        Value::Slot(slot) => given(slot.as_deref()).to_le_bytes().to_vec(),
        Value::Map(name, map) => map.at(given(Slot::Memory(&name))).unwrap().to_bytes().to_vec(),
        Value::U32(number) => number.to_le_bytes().to_vec(),
        Value::U64(number) => number.to_le_bytes().to_vec(),
        Value::F32(number) => number.to_le_bytes().to_vec(),
    };
    values.into_iter().map(bytes).collect()
}

/// The address of memory by its name.
pub(crate) fn by_name(slot: Slot<&str>, places: &[(&str, u64)]) -> u64 {
    let Slot::Memory(wanted) = slot else { panic!("{slot:?}") };
    places.iter().find(|(name, _)| *name == wanted).unwrap_or_else(|| panic!("{wanted}")).1
}

/// A launch of one block of `threads` threads.
pub(crate) fn block(threads: u32, dynamic_shared: u32, args: Vec<Vec<u8>>) -> Launch {
    Launch { grid: [1; 3], block: [threads, 1, 1], dynamic_shared, args, ..Launch::default() }
}

/// A launch of `blocks` blocks of `threads` threads.
pub(crate) fn blocks(blocks: i64, threads: u32, dynamic_shared: u32, args: Vec<Vec<u8>>) -> Launch {
    Launch { grid: [u32::try_from(blocks).unwrap(), 1, 1], ..block(threads, dynamic_shared, args) }
}

/// Runs the module's kernel, every check on.
pub(crate) fn checked(module: &Module, memory: &Memory, launch: &Launch) -> Result<Report, Error> {
    run(module, memory, launch, &Options::checked())
}

/// Runs the module's kernel.
pub(crate) fn run(
    module: &Module,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Report, Error> {
    let program = Program::load(module)?;
    girih_sim::run(&program.kernels()[0], memory, launch, options)
}

/// New memory that holds `bytes`.
pub(crate) fn upload(memory: &Memory, bytes: &[u8]) -> u64 {
    let address = memory.alloc(bytes.len().max(1)).unwrap();
    memory.write(address, bytes).unwrap();
    address
}

/// New memory of `length` bytes that are 0xff each.
pub(crate) fn ones(memory: &Memory, length: usize) -> u64 {
    let address = memory.alloc(length).unwrap();
    memory.fill(address, 0xff, length).unwrap();
    address
}

pub(crate) fn download(memory: &Memory, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    memory.read(address, &mut bytes).unwrap();
    bytes
}
