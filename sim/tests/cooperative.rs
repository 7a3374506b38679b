//! Cooperative launches: the registers through which `grid.sync()` finds the memory by which blocks wait, and the
//! largest number of blocks.

use crate::common::{download, launch, module, shape, u64_arg, upload};
use girih_sim::{Error, Launch, Memory, Options};

const REGISTERS: &str = ".visible .entry k(.param .u64 out) {
    .reg .b64 %p; .reg .b32 %r<4>;
    ld.param.u64 %p, [out];
    mov.u32 %r0, %envreg0; mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.u32 %r3, %envreg3;
    st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3}; ret; }";

/// Each block adds to the workspace, waits for the others there, and adds up what they have written before.
const SUM: &str = ".visible .entry k(.param .u64 data, .param .u64 out) {
    .reg .b64 %p, %q, %w, %i, %n; .reg .b32 %r<9>, %s; .reg .pred %x;
    ld.param.u64 %p, [data]; ld.param.u64 %q, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %i, %r0, 4; add.s64 %i, %i, %p; st.global.u32 [%i], %r0;
    mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %w, {%r2, %r1};
    atom.add.release.gpu.u32 %r3, [%w+4], 1;
    WAIT: ld.acquire.gpu.u32 %r3, [%w+4]; setp.lt.u32 %x, %r3, %r4; @%x bra WAIT;
    mov.u32 %s, 0; mov.u32 %r5, 0;
    ADD: mul.wide.u32 %n, %r5, 4; add.s64 %n, %n, %p; ld.global.u32 %r6, [%n]; add.u32 %s, %s, %r6;
    add.u32 %r5, %r5, 1; setp.lt.u32 %x, %r5, %r4; @%x bra ADD;
    mul.wide.u32 %i, %r0, 4; add.s64 %i, %i, %q; st.global.u32 [%i], %s; ret; }";

#[test]
fn two_registers_have_the_address_of_the_workspace() {
    let memory = Memory::new();
    let out = upload(&memory, &[7; 4]);
    let plain = Launch { args: vec![u64_arg(out)], ..shape(1, 1) };
    launch(&module(REGISTERS), &memory, &plain, &Options::checked()).unwrap();
    assert_eq!(download(&memory, out, 4), [0; 4]);
    let cooperative = Launch { cooperative: true, ..plain };
    launch(&module(REGISTERS), &memory, &cooperative, &Options::checked()).unwrap();
    let [a, high, low, b] = download(&memory, out, 4)[..] else { panic!() };
    assert_eq!((a, b), (0, 0));
    let address = u64::from(high) << 32 | u64::from(low);
    assert!(address != 0 && address.is_multiple_of(16), "{address:#x}");
    // The workspace belongs to the launch, and the host can't access it.
    assert!(matches!(memory.read(address, &mut [0; 4]), Err(Error::HostAccess { .. })));
}

/// The workspace begins with zeros in every launch.
#[test]
fn blocks_wait_there_for_one_another() {
    let memory = Memory::new();
    let (data, out) = (upload(&memory, &[0; 40]), upload(&memory, &[0; 40]));
    for (seed, blocks) in [(0, 40), (1, 17), (2, 40), (3, 2)] {
        let args = vec![u64_arg(data), u64_arg(out)];
        let shape = Launch { cooperative: true, args, ..shape(blocks, 1) };
        launch(&module(SUM), &memory, &shape, &Options { seed, ..Options::checked() }).unwrap();
        let want: u32 = (0..blocks).sum();
        assert_eq!(download(&memory, out, blocks as usize), vec![want; blocks as usize]);
    }
}

#[test]
fn no_more_blocks_than_fit_the_device() {
    let memory = Memory::new();
    let (data, out) = (upload(&memory, &[0; 512]), upload(&memory, &[0; 512]));
    let options = Options { multiprocessors: Some(3), ..Options::checked() };
    let args = vec![u64_arg(data), u64_arg(out)];
    let fits = Launch { cooperative: true, args, ..shape(96, 1) };
    launch(&module(SUM), &memory, &fits, &options).unwrap();
    let error = launch(&module(SUM), &memory, &Launch { grid: [97, 1, 1], ..fits }, &options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("97") && error.contains("at most 96"), "{error}");
}
