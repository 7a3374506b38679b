//! Parts that the tests share: running PTX text, and buffers of plain numbers.
#![expect(clippy::unwrap_used, reason = "tests")]

pub(crate) mod asynchronous;
pub(crate) mod kernels;

use girih_sim::{Error, Launch, Memory, Options, Program, Report, run};

/// A module header in front of `body`.
pub(crate) fn module(body: &str) -> String {
    format!(".version 8.0\n.target sm_90\n.address_size 64\n{body}")
}

/// Loads the module's kernel `k`, the error of loading included.
pub(crate) fn load(text: &str) -> Result<Program, Error> {
    Program::load(&girih_ptx::Module::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}")))
}

/// An argument.
pub(crate) fn u64_arg(value: u64) -> Vec<u8> {
    value.to_le_bytes().into()
}

/// An argument.
pub(crate) fn u32_arg(value: u32) -> Vec<u8> {
    value.to_le_bytes().into()
}

/// Runs kernel `k` of the module.
pub(crate) fn launch(
    text: &str,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Report, Error> {
    run(load(text)?.kernel("k")?, memory, launch, options)
}

/// A shape without arguments.
pub(crate) fn shape(blocks: u32, threads: u32) -> Launch {
    Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], ..Launch::default() }
}

/// A buffer holding these words.
pub(crate) fn upload(memory: &Memory, words: &[u32]) -> u64 {
    let address = memory.alloc(words.len() * 4).unwrap();
    memory.write(address, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    address
}

/// `count` words of a buffer.
pub(crate) fn download(memory: &Memory, address: u64, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    memory.read(address, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// Runs kernel `k` with one block on arguments `(output, input)`, both of `words` words, with every check on.
pub(crate) fn map(text: &str, threads: u32, input: &[u32], outputs: usize) -> Result<Vec<u32>, Error> {
    let memory = Memory::new();
    let (out, source) = (upload(&memory, &vec![0; outputs]), upload(&memory, input));
    let mut shape = shape(1, threads);
    shape.args = vec![u64_arg(out), u64_arg(source)];
    launch(text, &memory, &shape, &Options::checked())?;
    Ok(download(&memory, out, outputs))
}

/// A kernel `k(out, in)`: each thread loads `words` consecutive words into `%a0..`, runs `body`, and stores
/// `results` words from `%d0..`. 64-bit, 16-bit and float registers are there too.
pub(crate) fn per_thread(words: usize, results: usize, body: &str) -> String {
    let mut text = String::from(
        ".visible .entry k(.param .u64 out, .param .u64 in) {
         .reg .b32 %a<40>, %d<40>, %r<20>, %i; .reg .b64 %rd<20>, %p, %q, %o; .reg .b16 %h<20>;
         .reg .f32 %f<20>; .reg .f64 %fd<10>; .reg .pred %p<20>;
         ld.param.u64 %q, [in]; ld.param.u64 %p, [out]; mov.u32 %i, %tid.x;\n",
    );
    text += &format!("mul.wide.u32 %o, %i, {}; add.s64 %q, %q, %o;\n", 4 * words);
    text += &format!("mul.wide.u32 %o, %i, {}; add.s64 %p, %p, %o;\n", 4 * results);
    for i in 0..words {
        text += &format!("ld.global.b32 %a{i}, [%q+{}];\n", 4 * i);
    }
    text += body;
    for i in 0..results {
        text += &format!("\nst.global.b32 [%p+{}], %d{i};", 4 * i);
    }
    module(&(text + "\nret; }"))
}

/// Runs `body` once for every word of the input: `%a0` is the word, `%d0` the result. Blocks of 1024 threads.
pub(crate) fn sweep(body: &str, input: &[u32]) -> Vec<u32> {
    assert!(input.len().is_multiple_of(1024));
    let text = per_thread(1, 1, body).replace(
        "mov.u32 %i, %tid.x;",
        "mov.u32 %i, %ctaid.x; mov.u32 %r0, %tid.x; mad.lo.u32 %i, %i, 1024, %r0;",
    );
    let memory = Memory::new();
    let (out, source) = (upload(&memory, &vec![0; input.len()]), upload(&memory, input));
    let mut shape = shape((input.len() / 1024) as u32, 1024);
    shape.args = vec![u64_arg(out), u64_arg(source)];
    launch(&text, &memory, &shape, &Options::checked()).unwrap();
    download(&memory, out, input.len())
}
