//! Syntax that compilers and people write and the printer does not: it is parsed to what it means.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_ptx::{Extent, Item, Module, Operand, Variable};

const HEADER: &str = ".version 8.3\n.target sm_90, debug\n.address_size 64\n";

/// The module, which is PTX and the same after printing.
fn module(body: &str) -> Module {
    let module = Module::parse(&format!("{HEADER}{body}")).unwrap_or_else(|error| panic!("{error}\n{body}"));
    module.verify().unwrap_or_else(|error| panic!("{error}\n{body}"));
    assert_eq!(Module::parse(&module.to_string()).unwrap(), module, "{body}");
    module
}

fn variable(text: &str) -> Variable {
    match module(text).items.remove(0) {
        Item::Variable(variable) => variable,
        item => panic!("{item:?}"),
    }
}

fn ints(values: &[i64]) -> Vec<Operand> {
    values.iter().copied().map(Operand::Int).collect()
}

#[test]
fn arrays_of_arrays_are_one_array() {
    let flat = variable(".global .u32 m[2][3];");
    assert_eq!((flat.extent, flat.init), (Extent::Array(6), Vec::new()));
    for (text, extent, values) in [
        (".global .u32 m[2][3] = {{1, 2, 3}, {4, 5, 6}};", 6, &[1, 2, 3, 4, 5, 6][..]),
        // What is not given is zero.
        (".global .u32 m[2][3] = {{1}, {4, 5}};", 6, &[1, 0, 0, 4, 5, 0]),
        (".global .s16 m[][2] = {{-1, (1<<4)|3}, {3}};", 4, &[-1, 19, 3, 0]),
        (".global .b8 m[2][2][2] = {{{1}, {2, 3}}, {{4}}};", 8, &[1, 0, 2, 3, 4, 0, 0, 0]),
    ] {
        let variable = variable(text);
        assert_eq!((variable.extent, variable.init), (Extent::Array(extent), ints(values)), "{text}");
    }
    let floats = variable(".global .f32 m[2][2] = {{1.5}, {0f40000000, 2.0}};");
    let zero = Operand::F64(0);
    assert_eq!(floats.init[1], zero);
    assert_eq!(floats.init.len(), 4);
}

#[test]
fn expressions_stand_for_their_values() {
    let plain = module(
        ".shared .align 16 .b8 s[1040];
         .entry k() { .reg .b32 %r<4>; .reg .pred %p; setp.eq.u32 %p, %r0, 1; mov.u32 %r1, s+16; ld.shared.u32 %r2, [s+24];
         add.u32 %r3, %r2, -4; shl.b32 %r3, %r3, 5; mov.u32 %r1, 31; }",
    );
    let written = module(
        ".shared .align 16 .b8 s[4*256 + (1<<4)];
         .entry k() { .reg .b32 %r<4>; .reg .pred %p; setp.eq.u32 %p, %r0, !0; mov.u32 %r1, s+(8+8); ld.shared.u32 %r2, [s+3*8];
         add.u32 %r3, %r2, -(2+2); shl.b32 %r3, %r3, 1 ? 10/2 : 7; mov.u32 %r1, WARP_SZ-1; }",
    );
    // Columns differ.
    assert_eq!(written.to_string(), plain.to_string());
}

#[test]
fn hints_are_dropped_wherever_they_stand() {
    let plain = ".file 1 \"a.cu\"\n.global .u32 g;\n.entry k() .maxntid 32 { .loc 1 2 3 ret; }\n";
    let decorated = "\t.file\t1 \"a.cu\", 123, 456\r\n.pragma \"nounroll\";\r\n.global .attribute(.managed) .u32 g;\r\n\
        .entry k() .pragma \"a\", \"b\"; .maxntid 32\r\n{\r\n.loc 1 2 3\r\nret; // é\r\n}\r\n\
        .section .debug_str { $L: .b8 1,2\n .b64 x }\n";
    assert_eq!(module(decorated).to_string(), module(plain).to_string());
}
