//! Variables of a module: initial values, addresses, and values that are kept from launch to launch.
#![expect(clippy::unwrap_used, reason = "tests")]

use crate::common::{download, load, module, shape, u64_arg, upload};
use girih_sim::{Error, Launch, Memory, Options, Space, run};

const TABLE: &str = ".global .align 4 .u32 counter = 5;
.const .align 8 .f32 weights[4] = {0f3F800000, 2.5, 3};
.visible .global .b8 bytes[6] = {1, 2, 255, 4};
.global .u64 pointer = bytes;
.global .u64 inside = bytes+2;
.global .align 1024 .f64 wide = 0d3FF8000000000000;
.global .s16 small[2] = {-1, 300};
.global .b32 zeros[3];
.global .u32 open[] = {9, 8, 7};
.global .s16 grid[2][3] = {{1}, {-2, (1<<4)|3, 5}};
.extern .global .u32 elsewhere;
";

fn kernel(body: &str) -> String {
    module(&format!(
        "{TABLE}.visible .entry k(.param .u64 out) {{
         .reg .b64 %p, %q<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .f64 %d; .reg .b16 %h;
         ld.param.u64 %p, [out]; {body} ret; }}"
    ))
}

fn words(body: &str, count: usize) -> Vec<u32> {
    let memory = Memory::new();
    let out = upload(&memory, &[0; 8]);
    let mut shape = shape(1, 1);
    shape.args = vec![u64_arg(out)];
    let program = load(&kernel(body)).unwrap();
    run(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
    download(&memory, out, count)
}

#[test]
fn variables_have_their_first_values() {
    let float = |x: f32| x.to_bits();
    let vector =
        "ld.const.v4.f32 {%f0, %f1, %f2, %f3}, [weights]; st.global.v4.f32 [%p], {%f0, %f1, %f2, %f3};";
    assert_eq!(words(vector, 4), [float(1.0), float(2.5), float(3.0), 0]);
    // By a register that holds the address, generic or not.
    let generic =
        "mov.u64 %q0, weights; cvta.const.u64 %q0, %q0; ld.b32 %r0, [%q0+4]; st.global.b32 [%p], %r0;";
    assert_eq!(words(generic, 1), [float(2.5)]);
    // What is not given of an inner array is zero; an open extent is that of the values.
    let arrays = "ld.global.b32 %r0, [open+8]; ld.global.b32 %r1, [grid]; ld.global.b32 %r2, [grid+8]; ld.global.s16 %r3, [grid+6];
                  st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3};";
    assert_eq!(words(arrays, 4), [7, 1, 5 << 16 | 19, -2i32 as u32]);
    let bytes =
        "ld.global.b32 %r0, [bytes]; ld.global.u16 %r1, [bytes+4]; st.global.v2.b32 [%p], {%r0, %r1};";
    assert_eq!(words(bytes, 2), [0x04ff_0201, 0]);
    let pointer = "ld.global.u64 %q0, [pointer]; ld.global.u8 %r0, [%q0+2]; st.global.b32 [%p], %r0;";
    assert_eq!(words(pointer, 1), [255]);
    // An address and bytes, as a first value and as an operand.
    let inside = "ld.global.u64 %q0, [inside]; ld.global.u8 %r0, [%q0]; mov.u64 %q1, weights+4; ld.const.b32 %r1, [%q1];
        st.global.v2.b32 [%p], {%r0, %r1};";
    assert_eq!(words(inside, 2), [255, float(2.5)]);
    let wide = "ld.global.f64 %d, [wide]; st.global.f64 [%p], %d;";
    assert_eq!(words(wide, 2), [0, 0x3ff8_0000]);
    let small =
        "ld.global.s16 %r0, [small]; ld.global.s16 %r1, [small+2]; st.global.v2.b32 [%p], {%r0, %r1};";
    assert_eq!(words(small, 2), [u32::MAX, 300]);
    let aligned = "mov.u64 %q0, wide; cvt.u32.u64 %r0, %q0; and.b32 %r0, %r0, 1023; st.global.b32 [%p], %r0;";
    assert_eq!(words(aligned, 1), [0]);
    assert_eq!(words("ld.global.b32 %r0, [zeros+8]; st.global.b32 [%p], %r0;", 1), [0]);
}

/// A program is loaded once, as a module is on a GPU, and its variables live as long as it does.
#[test]
fn variables_stay_from_launch_to_launch() {
    let text = kernel("atom.global.add.u32 %r0, [counter], 1; st.global.b32 [%p], %r0;");
    let (memory, program) = (Memory::new(), load(&text).unwrap());
    let out = upload(&memory, &[0; 8]);
    let mut shape = shape(1, 1);
    shape.args = vec![u64_arg(out)];
    for launch in 0..3 {
        run(program.kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
        assert_eq!(download(&memory, out, 1), [5 + launch]);
    }
    // Another program has its own.
    run(load(&text).unwrap().kernel("k").unwrap(), &memory, &shape, &Options::checked()).unwrap();
    assert_eq!(download(&memory, out, 1), [5]);
}

#[test]
fn accesses_beyond_a_variable_are_found() {
    let memory = Memory::new();
    let mut shape = shape(1, 1);
    shape.args = vec![u64_arg(upload(&memory, &[0; 8]))];
    for access in
        ["ld.global.b32 %r0, [zeros+12];", "st.global.b32 [zeros+-4], 0;", "ld.const.b32 %r0, [weights+16];"]
    {
        let program = load(&kernel(access)).unwrap();
        let found = run(program.kernel("k").unwrap(), &memory, &shape, &Options::default());
        assert!(matches!(found, Err(Error::OutOfBounds { .. })), "{access}: {found:?}");
    }
}

/// Constant memory can be read through global and generic addresses, and not written through any.
#[test]
fn constant_variables_are_not_written() {
    let memory = Memory::new();
    let input = u64_arg(upload(&memory, &[0; 8]));
    for write in [
        "st.global.b32 [weights+4], 7;",
        "st.b32 [%q0+4], 7;",
        "st.global.v4.b32 [%q1], {%r1, %r1, %r1, %r1};",
        "st.volatile.global.b32 [%q1], 7;",
        "st.release.gpu.b32 [%q0], 7;",
        "red.global.add.u32 [%q1], 0;",
        "atom.add.u32 %r2, [%q0], 1;",
        "atom.global.cas.b64 %q2, [%q1], 1, 2;",
        "cp.async.bulk.global.shared::cta.bulk_group [%q1], [s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q1], [s], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
    ] {
        let text = kernel(&format!(
            ".shared .align 16 .b8 s[16]; mov.u32 %r1, 9; mov.u64 %q1, weights; cvta.const.u64 %q0, %q1; \
             st.shared.v4.u32 [s], {{%r1, %r1, %r1, %r1}}; fence.proxy.async; ld.global.b32 %r0, [%q1]; {write}"
        ));
        let program = load(&text).unwrap();
        for (threads, options) in [(1, Options::default()), (1, Options::checked()), (32, Options::default())]
        {
            let shape = Launch { args: vec![input.clone()], ..shape(1, threads) };
            let found = run(program.kernel("k").unwrap(), &memory, &shape, &options).unwrap_err();
            assert_eq!(
                (found.kind(), found.space()),
                ("constant-write", Some(Space::Global)),
                "{write}: {found}"
            );
        }
    }
}

#[test]
fn what_cannot_be_placed_is_refused_with_its_line() {
    let entry = ".visible .entry k() { ret; }";
    for variable in [
        ".global .u32 x = y;",
        ".global .u32 x[2] = {1, 2, 3};",
        ".global .u32 x = 1.5;",
        ".global .u32 x[];",
        ".const .b8 x[70000];",
        ".global .b8 x[9223372036854775807];",
        ".global .align 3 .b8 x[4];",
    ] {
        match load(&module(&format!("{variable}\n{entry}"))) {
            Err(Error::Unsupported { place, .. }) => assert_eq!(place.line, 4, "{variable}"),
            other => panic!("{variable}: {other:?}"),
        }
    }
    for body in ["ld.global.u32 %r0, [elsewhere];", "st.const.b32 [weights], %r0;"] {
        let found = load(&kernel(body));
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{body}: {found:?}");
    }
}
