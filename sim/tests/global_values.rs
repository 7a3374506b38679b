//! Global memory without a value: bytes that are read before they are written are reported.

use crate::common::{launch, module, shape, u64_arg};
use girih_sim::{Error, Launch, Memory, Options, Space};

fn run(memory: &Memory, address: u64, options: &Options, body: &str) -> Result<(), Error> {
    let text = module(&format!(
        ".visible .entry k(.param .u64 p) {{ .reg .b64 %p, %q; .reg .b32 %r<4>; .reg .b16 %h; .shared .align 16 .b8 s[64];
         ld.param.u64 %p, [p]; {body} ret; }}"
    ));
    launch(&text, memory, &Launch { args: vec![u64_arg(address)], ..shape(1, 1) }, options).map(|_| ())
}

#[test]
fn reads_before_writes_are_told() {
    let reads = [
        "ld.global.u32 %r0, [%p+60]; st.global.u32 [%p+128], %r0;",
        "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%p+16]; st.global.u32 [%p+128], %r3;",
        "ld.u8 %r0, [%p+33]; st.global.u32 [%p+128], %r0;",
        "atom.global.add.u32 %r0, [%p+32], 1;",
        "red.global.add.u32 [%p+64], 1;",
        "cp.async.ca.shared.global [s], [%p+32], 16; cp.async.wait_all; ld.shared.u32 %r0, [s]; st.global.u32 [%p+128], %r0;",
        // One byte of four has been written, three, and the last one not.
        "st.global.u8 [%p+32], 1; ld.global.u32 %r0, [%p+32]; add.u32 %r0, %r0, 1; st.global.u32 [%p+128], %r0;",
        "st.global.u16 [%p+28], 1; st.global.u8 [%p+30], 1; ld.global.u32 %r0, [%p+28]; shr.u32 %r1, %r0, 24; and.b32 %r1, %r1, 1; st.global.u32 [%p+128], %r1;",
        "mov.u32 %r0, 0; st.global.v4.b32 [%p+16], {%r0, %r0, %r0, %r0}; ld.global.u64 %q, [%p+32]; st.global.u64 [%p+128], %q;",
    ];
    for body in reads {
        let memory = Memory::new();
        let address = memory.alloc_uninitialised(256).unwrap();
        let error = run(&memory, address, &Options::checked(), body).unwrap_err();
        assert!(matches!(error, Error::UninitialisedMemory { space: Space::Global, .. }), "{body}: {error}");
        // Nothing is reported if the check is off.
        run(&memory, address, &Options { races: true, ..Options::default() }, body).unwrap();
        // Nothing is reported of memory that the host has written, or that begins as zeros.
        memory.fill(address, 7, 256).unwrap();
        run(&memory, address, &Options::checked(), body).unwrap();
        let zeros = memory.alloc(256).unwrap();
        run(&memory, zeros, &Options::checked(), body).unwrap();
    }
}

#[test]
fn what_was_written_may_be_read() {
    let memory = Memory::new();
    let address = memory.alloc_uninitialised(256).unwrap();
    let body = "st.global.u8 [%p+31], 1; st.global.u16 [%p+32], 2; st.global.u8 [%p+34], 3; ld.global.u8 %r0, [%p+31];
        ld.global.u16 %h, [%p+32]; ld.global.u8 %r0, [%p+34]; mov.u64 %q, 5; st.global.u64 [%p+56], %q;
        atom.global.add.u64 %q, [%p+56], %q; red.global.add.u32 [%p+60], 1; ld.global.v2.u32 {%r0, %r1}, [%p+56];";
    run(&memory, address, &Options::checked(), body).unwrap();
    // Bytes that one launch has written may be read by the next; the host may read all bytes.
    run(&memory, address, &Options::checked(), "ld.global.v2.u32 {%r0, %r1}, [%p+56];").unwrap();
    let mut all = [9; 256];
    memory.read(address, &mut all).unwrap();
    assert_eq!((all[31], all[32], all[34], all[56], all[60], all[100]), (1, 2, 3, 10, 1, 0));
}
