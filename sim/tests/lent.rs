//! Memory of someone else: kernels compute in it as in memory of the simulator, and it is given back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use girih_sim::{Lent, Memory, Options, judge};

use crate::common::{load, module, shape, u64_arg};

#[derive(Debug)]
struct Shared(Arc<[AtomicU32]>);

impl Lent for Shared {
    fn words(&self) -> &[AtomicU32] {
        &self.0
    }
}

/// Each thread adds its number to its word, its byte and a 64-bit counter in front.
const KERNEL: &str = ".visible .entry k(.param .u64 io) {
    .reg .b32 %i, %r; .reg .b64 %p, %w, %n;
    ld.param.u64 %p, [io]; mov.u32 %i, %tid.x; mul.wide.u32 %n, %i, 4; add.s64 %w, %p, %n;
    ld.global.u32 %r, [%w+8]; add.u32 %r, %r, %i; st.global.u32 [%w+8], %r; st.global.u8 [%w+11], %i;
    cvt.u64.u32 %n, %i; red.global.add.u64 [%p], %n; ret; }";

#[test]
fn kernels_work_in_place_and_memory_is_given_back() {
    let words: Arc<[AtomicU32]> = (0..66).map(|i| AtomicU32::new(i * 100)).collect();
    words[0].store(u32::MAX, Relaxed);
    words[1].store(0, Relaxed);
    let program = load(&module(KERNEL)).unwrap();
    let memory = Memory::new();
    let address = memory.lend(Box::new(Shared(words.clone()))).unwrap();
    let launch = girih_sim::Launch { args: vec![u64_arg(address)], ..shape(1, 64) };
    // Executions by several seeds begin with the same contents.
    let options = Options { seeds: 4, ..Options::checked() };
    let verdict = judge(program.kernel("k").unwrap(), &memory, &launch, &options).unwrap();
    assert!(verdict.passed() && verdict.seeds.len() == 4, "{verdict:?}");
    let sum = u64::from(u32::MAX) + (0..64).sum::<u64>();
    assert_eq!((words[0].load(Relaxed), words[1].load(Relaxed)), (sum as u32, (sum >> 32) as u32));
    for i in 0..64 {
        assert_eq!(words[i as usize + 2].load(Relaxed), ((i + 2) * 100 + i) & 0xff_ffff | i << 24);
    }
    memory.free(address).unwrap();
    assert_eq!(Arc::strong_count(&words), 1);
}

#[test]
fn lent_memory_ends_and_may_count_as_unwritten() {
    let words: Arc<[AtomicU32]> = (0..65).map(AtomicU32::new).collect();
    let program = load(&module(KERNEL)).unwrap();
    let memory = Memory::new();
    let kinds = |address, threads| {
        let launch = girih_sim::Launch { args: vec![u64_arg(address)], ..shape(1, threads) };
        let verdict = judge(program.kernel("k").unwrap(), &memory, &launch, &Options::checked()).unwrap();
        verdict.findings.iter().map(|finding| finding.error.kind()).collect::<Vec<_>>()
    };
    let address = memory.lend(Box::new(Shared(words.clone()))).unwrap();
    assert_eq!(kinds(address, 63), [""; 0]);
    assert_eq!(kinds(address, 64), ["out-of-bounds"]);
    let fresh = memory.lend_uninitialised(Box::new(Shared(words.clone()))).unwrap();
    assert!(kinds(fresh, 63).contains(&"uninitialised-memory"));
}
