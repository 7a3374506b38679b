//! Any text: the simulator loads a module or says what it can't, whether the module verifies or not, and a kernel that
//! it loads runs or says what is wrong with it.

use girih_ptx::Module;
use girih_sim::{Launch, Memory, Options, Program};

/// Panics where the text shows a defect.
pub(crate) fn run(text: &str) {
    let Ok(module) = Module::parse(text) else { return };
    let Ok(program) = Program::load(&module) else { return };
    let options = Options { steps: Some(2000), threads: Some(1), seed: 3, ..Options::checked() };
    for kernel in program.kernels().iter().take(2) {
        let memory = Memory::new();
        let Ok(buffer) = memory.alloc(4096) else { return };
        // Every argument that has room for it is the buffer's address.
        let argument = |bytes: u64| {
            let address = buffer.to_le_bytes();
            (0..bytes as usize).map(|i| address.get(i).copied().unwrap_or_default()).collect()
        };
        let args = kernel.params().iter().map(|param| argument(param.bytes)).collect();
        let launch = Launch { grid: [1; 3], block: [40, 1, 1], args, ..Launch::default() };
        let _ = girih_sim::run(kernel, &memory, &launch, &options);
    }
}
