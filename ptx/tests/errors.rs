//! The text of every kind of error: what is wrong, where, and what would be accepted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use girih_ptx::Module;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn parse(text: &str, expected: Expect) {
    expected.assert_eq(&Module::parse(text).unwrap_err().to_string());
}

/// The error of parsing `body` as a kernel's, from its line 1.
fn parse_body(body: &str, expected: Expect) {
    let text = format!(".version 8.0 .target sm_80 .address_size 64 .entry k(.param .u64 a) {{ {body} }}");
    expected.assert_eq(&Module::parse(&text).unwrap_err().to_string());
}

/// The error of verifying `body` as a kernel's, from line 7.
fn verify(body: &str, expected: Expect) {
    let text = format!(
        "{HEADER}.entry k(.param .u64 a) {{\n\
         .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>; .reg .b16 %h<9>;\n\
         .shared .b8 tile[64];\n{body}\n}}"
    );
    expected.assert_eq(&Module::parse(&text).unwrap().verify().unwrap_err().to_string());
}

#[test]
fn header() {
    parse("", expect!["line 1, column 1: expected `.version`, found the end of the text"]);
    parse(".version 8", expect!["line 1, column 10: expected a version such as `8.0`, found `8`"]);
    parse(
        ".version 8.0 .target gfx90",
        expect!["line 1, column 22: expected a target such as `sm_80` or `sm_90a`, found `gfx90`"],
    );
    parse(
        ".version 8.0 .target sm_80 .entry k() {}",
        expect!["line 1, column 28: expected `.address_size 64`, found `.entry`"],
    );
    parse(
        ".version 8.0 .target sm_80 .address_size 32",
        expect!["line 1, column 42: addresses of 32 bits are not supported; use `.address_size 64`"],
    );
    parse(
        &format!("{HEADER}.func f(.reg .b32 x) {{}}"),
        expect!["line 4, column 9: expected `.param`, found `.reg`"],
    );
    parse(
        &format!("{HEADER}.visible"),
        expect![
            "line 4, column 1: expected `.entry`, `.func`, or a variable's `.global`, `.const` or `.shared`, found `.visible`"
        ],
    );
    parse(
        &format!("{HEADER}.entry k(.reg .b32 x) {{}}"),
        expect!["line 4, column 10: expected `.param`, found `.reg`"],
    );
    parse(
        &format!("{HEADER}.entry k() .maxthreads 4 {{}}"),
        expect![
            "line 4, column 12: expected a performance directive such as `.maxntid`, or the kernel's `{`, found `.maxthreads`"
        ],
    );
    parse(
        &format!("{HEADER}.entry k() .maxntid 4294967296 {{}}"),
        expect!["line 4, column 21: `4294967296` is not an extent in x, y or z"],
    );
    parse(
        &format!("{HEADER}.shared .align 16 .b9 x[4];"),
        expect!["line 4, column 19: expected a type such as `.b32`, found `.b9`"],
    );
    parse(
        &format!("{HEADER}.global .b8 x[2][2] = {{{{1, 2}}, {{3, 4, 5}}}};"),
        expect!["line 4, column 32: expected at most 2 values in these braces, found 3"],
    );
}

#[test]
fn tokens() {
    parse(
        &format!("{HEADER}/* no end"),
        expect!["line 4, column 1: expected `*/` at the end of this comment, found the end of the text"],
    );
    parse(&format!("{HEADER}#"), expect!["line 4, column 1: expected a token of PTX, found `#`"]);
    parse_body(
        ".pragma \"no end;\n",
        expect![[r#"line 1, column 79: expected `"` at the end of this string, found the end of the line"#]],
    );
    parse_body("add. u32", expect!["line 1, column 74: expected a word after `.`, found none"]);
    parse_body("mov.u32 a, 08;", expect!["line 1, column 82: `08` is not a number of at most 64 bits"]);
    parse_body(
        "mov.u32 a, 18446744073709551616;",
        expect!["line 1, column 82: `18446744073709551616` is not a number of at most 64 bits"],
    );
    parse_body("mov.f32 a, 0f3F8;", expect!["line 1, column 82: `0f3F8` is not a number of at most 64 bits"]);
}

#[test]
fn statements() {
    parse_body(
        ".shared .v4 .f32 x;",
        expect![
            "line 1, column 79: variables and registers that are vectors are not supported; declare an array, or a register for each element"
        ],
    );
    parse_body("frob.u32 a, b;", expect!["line 1, column 71: unknown opcode `frob`"]);
    parse_body("add.u31 a, b, c;", expect!["line 1, column 74: unknown modifier `.u31` of `add`"]);
    parse_body("add.u32 a, b c;", expect!["line 1, column 84: expected `;`, found `c`"]);
    parse_body("add.u32 a, ;", expect!["line 1, column 82: expected an operand, found `;`"]);
    parse_body("@5 bra L;", expect!["line 1, column 72: expected a predicate register, found `5`"]);
    parse_body("ret", expect!["line 1, column 75: expected an operand or `;`, found `}`"]);
    parse_body(".reg b32 x;", expect!["line 1, column 76: expected a type such as `.b32`, found `b32`"]);
    parse_body(".reg .b32 x<4;", expect!["line 1, column 84: expected `>`, found `;`"]);
    parse_body("ld.global.u32 x, [y-4];", expect!["line 1, column 90: expected `+`, `,` or `]`, found `-`"]);
    parse_body("ld.global.u32 x, [y+1.5];", expect!["line 1, column 91: `1.5` is not an integer"]);
    parse_body(
        "mov.u32 x, %tid.w;",
        expect!["line 1, column 82: expected a special register such as `%tid.x`, found `%tid.w`"],
    );
    parse_body(
        "mov.b64 x, {a, {b, c}};",
        expect!["line 1, column 86: expected a register or a number, found `{`"],
    );
    parse_body("call (x), f, (y;", expect!["line 1, column 86: expected `,` or `)`, found `;`"]);
    parse_body(
        &"{".repeat(100),
        expect!["line 1, column 135: blocks nested deeper than 64 are not supported; use labels instead"],
    );
    parse(
        &format!("{HEADER}.entry k() {{ ret;"),
        expect![
            "line 4, column 18: expected an instruction, a label, a declaration or `}`, found the end of the text"
        ],
    );
}

#[test]
fn modifiers() {
    verify(
        "prefetchu.L2 [%rd1];",
        expect!["line 7, column 1: `prefetchu.L2 [%rd1]`: expected `.L1`, found `.L2`"],
    );
    verify(
        "add.rn.s32 %r1, %r2, %r3;",
        expect![
            "line 7, column 1: `add.rn.s32 %r1, %r2, %r3`: expected `.ftz`, `.sat`, `.f32`, `.f64`, `.f16`, `.f16x2`, `.bf16` or `.bf16x2`, found `.s32`"
        ],
    );
    verify(
        "add %r1, %r2, %r3;",
        expect![
            "line 7, column 1: `add %r1, %r2, %r3`: expected `.u16`, `.u32`, `.u64`, `.s16`, `.s32`, `.s64`, `.sat`, `.u16x2`, `.s16x2`, `.cc`, `.rn`, `.rz`, `.rm`, `.rp`, `.ftz`, `.f32`, `.f64`, `.f16`, `.f16x2`, `.bf16` or `.bf16x2`, found nothing more"
        ],
    );
    verify(
        "mul.s32 %r1, %r2, %r3;",
        expect![
            "line 7, column 1: `mul.s32 %r1, %r2, %r3`: expected `.lo`, `.hi`, `.wide`, `.rn`, `.rz`, `.rm`, `.rp`, `.ftz`, `.sat`, `.f32`, `.f64`, `.f16`, `.f16x2`, `.bf16` or `.bf16x2`, found `.s32`"
        ],
    );
    verify(
        "bra.uni.uni L;\nL:",
        expect!["line 7, column 1: `bra.uni.uni L`: expected nothing more, found `.uni`"],
    );
    verify(
        "cp.async.cg.global.shared [%rd1], [%r1], 16;",
        expect![
            "line 7, column 1: `cp.async.cg.global.shared [%rd1], [%r1], 16`: expected `.shared` or `.shared::cta`, found `.global`"
        ],
    );
    verify(
        "mma.sync.aligned.m16n8k16.row.row.f32.bf16.bf16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
        expect![
            "line 7, column 1: `mma.sync.aligned.m16n8k16.row.row.f32.bf16.bf16.f32 {%f1}, {%r1}, {%r1}, {%f1}`: expected `.col`, found `.row`"
        ],
    );
    verify(
        "ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];",
        expect![
            "line 7, column 1: `ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1]` needs `.version 8.8`, the module has 8.0"
        ],
    );
}

#[test]
fn operands() {
    verify(
        "add.u32 %r1, %r2;",
        expect![
            "line 7, column 1: `add.u32 %r1, %r2`: 2 operands don't fit the form `add(.u16|.u32|.u64|.s16|.s32|.s64) .type, .type, .type`"
        ],
    );
    verify(
        "cp.async.cg.shared.global [%r1], [%rd1];",
        expect![
            "line 7, column 1: `cp.async.cg.shared.global [%r1], [%rd1]`: 2 operands don't fit the form `cp.async.cg(.shared|.shared::cta).global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B} [a], [a], 16{, .u32}{, .b64}`"
        ],
    );
    verify(
        "add.u32 %r1, %f2, %r3;",
        expect![
            "line 7, column 1: `add.u32 %r1, %f2, %r3`: operand 2 must be a register or an integer constant of type .u32, found `%f2`, a register of type .f32"
        ],
    );
    verify(
        "add.u32 %r1, %r2, %tid.x;",
        expect![
            "line 7, column 1: `add.u32 %r1, %r2, %tid.x`: operand 3 must be a register or an integer constant of type .u32, found `%tid.x`"
        ],
    );
    verify(
        "add.f32 %f1, %f2, 1;",
        expect![
            "line 7, column 1: `add.f32 %f1, %f2, 1`: operand 3 must be a register or a floating-point constant of type .f32, found `1`"
        ],
    );
    verify(
        "mul.wide.u32 %r1, %r2, %r3;",
        expect![
            "line 7, column 1: `mul.wide.u32 %r1, %r2, %r3`: operand 1 must be a register of type .u64, found `%r1`, a register of type .b32"
        ],
    );
    verify(
        "mov.u32 tile, 5;",
        expect![
            "line 7, column 1: `mov.u32 tile, 5`: operand 1 must be a register of type .u32, found `tile`, a variable in .shared"
        ],
    );
    verify(
        "ld.global.u32 %r1, [%r2];",
        expect![
            "line 7, column 1: `ld.global.u32 %r1, [%r2]`: operand 2 must be an address in .global, in a register of 64 bits or a variable, found `[%r2]`, a register of type .b32"
        ],
    );
    verify(
        "ld.global.u32 %r1, [tile];",
        expect![
            "line 7, column 1: `ld.global.u32 %r1, [tile]`: operand 2 must be an address in .global, in a register of 64 bits or a variable, found `[tile]`, a variable in .shared"
        ],
    );
    verify(
        "ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1];",
        expect![
            "line 7, column 1: `ld.global.v2.f32 {%f1, %f2, %f3}, [%rd1]`: operand 1 must be 2 registers of type .f32 or wider in braces, found `{%f1, %f2, %f3}`"
        ],
    );
    verify(
        "setp.eq.s32 %r1, %r2, %r3;",
        expect![
            "line 7, column 1: `setp.eq.s32 %r1, %r2, %r3`: operand 1 must be a predicate register, or two as in `p|q`, found `%r1`, a register of type .b32"
        ],
    );
    verify(
        "selp.b32 %r1, %r2, %r3, %r4;",
        expect![
            "line 7, column 1: `selp.b32 %r1, %r2, %r3, %r4`: operand 4 must be a predicate register, its negation as in `!p`, 0 or 1, found `%r4`, a register of type .b32"
        ],
    );
    verify(
        "bra tile;",
        expect![
            "line 7, column 1: `bra tile`: operand 1 must be a label, found `tile`, a variable in .shared"
        ],
    );
    verify(
        "bar.sync 16;",
        expect![
            "line 7, column 1: `bar.sync 16`: operand 1 must be a barrier: a register of type .u32, or 0 to 15, found `16`"
        ],
    );
    verify(
        "mov.b64 %rd1, {%r1, %h1};",
        expect![
            "line 7, column 1: `mov.b64 %rd1, {%r1, %h1}`: operand 2 must be 2 or 4 registers in braces that have the type's width together, found `{%r1, %h1}`"
        ],
    );
    verify(
        "cp.async.cg.shared.global [%r1], [%rd1], 8;",
        expect![
            "line 7, column 1: `cp.async.cg.shared.global [%r1], [%rd1], 8`: operand 3 must be 16, found `8`"
        ],
    );
}

#[test]
fn names() {
    verify(
        "mov.u32 %r1, %r9;",
        expect![
            "line 7, column 1: `mov.u32 %r1, %r9`: `%r9` is not declared; declare it before, in this block or one around it"
        ],
    );
    verify(
        "bra NOWHERE;",
        expect![
            "line 7, column 1: `bra NOWHERE`: `NOWHERE` is not declared; declare it before, in this block or one around it"
        ],
    );
    verify(
        "{ L: }\nbra L;",
        expect![
            "line 8, column 1: `bra L`: `L` is not declared; declare it before, in this block or one around it"
        ],
    );
    verify(
        "@%r1 ret;",
        expect!["line 7, column 6: `@%r1 ret`: the guard `%r1` must be a register of type .pred"],
    );
    verify("L:\nL:", expect!["line 4, column 8: `L` is declared already in this block; use another name"]);
    verify(
        ".reg .f32 %r3;",
        expect!["line 7, column 1: `%r3` is declared already in this block; use another name"],
    );
    verify(
        ".reg .b32 a1<4>;\n.reg .b32 a<12>;",
        expect!["line 8, column 1: `a1<...>` is declared already in this block; use another name"],
    );
    verify(
        ".reg .bf16 x;",
        expect![
            "line 7, column 1: `.reg .bf16 x`: expected a fundamental type: bf16, tf32 and the 8-bit floats are held in .b16 and .b32"
        ],
    );
    verify(
        ".shared .align 3 .b8 x[4];",
        expect![
            "line 7, column 22: `.shared .align 3 .b8 x[4]`: expected an alignment that is a power of two"
        ],
    );
    verify(
        ".shared .b8 x[];",
        expect![
            "line 7, column 13: `.shared .b8 x[]`: expected a number of elements: only a variable with initial values or an `.extern` one goes without"
        ],
    );
    verify(
        ".shared .b8 x[1] = {5};",
        expect![
            "line 7, column 13: `.shared .b8 x[1] = {5}`: expected no initial values: only variables in .global and .const have some"
        ],
    );
}

#[test]
fn versions_and_targets() {
    verify(
        "griddepcontrol.wait;",
        expect!["line 7, column 1: `griddepcontrol.wait` needs `.target sm_90`, the module has sm_80"],
    );
    verify(
        "mov.u32 %r1, %cluster_ctarank;",
        expect![
            "line 7, column 1: `mov.u32 %r1, %cluster_ctarank` needs `.target sm_90`, the module has sm_80"
        ],
    );
    verify(
        "red.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
        expect![
            "line 7, column 1: `red.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}` needs `.version 8.1`, the module has 8.0"
        ],
    );
    let hopper = ".version 8.0 .target sm_90 .address_size 64 .entry k() { wgmma.fence.sync.aligned; }";
    expect!["line 1, column 58: `wgmma.fence.sync.aligned` needs `.target sm_90a`, the module has sm_90"]
        .assert_eq(&Module::parse(hopper).unwrap().verify().unwrap_err().to_string());
    let early = ".version 7.0 .target sm_90 .address_size 64 .entry k() { ret; }";
    expect!["the module: `sm_90` needs `.version 7.8`, the module has 7.0"]
        .assert_eq(&Module::parse(early).unwrap().verify().unwrap_err().to_string());
}

/// What the assembler has and girih does not is refused by its name, with what can be written instead.
#[test]
fn what_is_not_supported_is_named() {
    for (text, named) in [
        ("multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1];", "`multimem`"),
        ("multimem.red.relaxed.sys.global.add.f32 [%rd1], %f1;", "`multimem`"),
        ("multimem.st.relaxed.sys.global.f32 [%rd1], %f1;", "`multimem`"),
        ("@%p1 tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];", "`tex`"),
        ("txq.width.b32 %r1, [%rd1];", "`txq`"),
        ("suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];", "`suld`"),
        ("sust.b.1d.b32.trap [%rd1, {%r2}], {%r1};", "`sust`"),
        ("vmad.s32.s32.s32 %r1, %r2, %r3, %r4;", "`vmad`"),
        ("vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;", "`.b0`"),
    ] {
        let error = girih_ptx::Statement::parse_all(text).expect_err(text);
        assert!(matches!(error, girih_ptx::Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(named), "{error}");
    }
}
