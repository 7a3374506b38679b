//! Addresses in findings, described by the names of the program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{load, module, shape};
use girih_sim::{Launch, Memory, Options, judge};

/// The names that the findings of a launch give to their addresses.
fn names(kernel: &str, launch: &Launch, memory: &Memory) -> Vec<String> {
    let program = load(&module(kernel)).unwrap();
    let verdict = judge(program.kernel("k").unwrap(), memory, launch, &Options::checked()).unwrap();
    verdict
        .findings
        .iter()
        .map(|finding| {
            let name = finding.name.clone().unwrap();
            assert!(finding.to_string().ends_with(&format!(" is {name}")), "{finding}");
            name
        })
        .collect()
}

#[test]
fn shared_variables_are_named_with_the_index() {
    for (declared, access, name) in [
        (".shared .b32 s[4];", "st.shared.u32 [s+4], %r", "s[1]"),
        (".shared .b32 a[4]; .shared .b64 s[4];", "st.shared.u32 [s+28], %r", "s[3] + 4"),
        (".shared .b32 s;", "st.shared.u32 [s], %r", "s"),
        (".shared .align 4 .b8 s[64];", "st.shared.u32 [s+12], %r", "s + 12"),
        (".shared .align 4 .b8 s[64];", "st.shared.u32 [s], %r", "s"),
    ] {
        let kernel =
            format!(".visible .entry k() {{ .reg .b32 %r; {declared} mov.u32 %r, %tid.x; {access}; ret; }}");
        assert_eq!(names(&kernel, &shape(1, 2), &Memory::new()), [name], "{access}");
    }
    // The module's, those whose size the launch gives, and what lies behind the end.
    let kernel = ".extern .shared .align 4 .b32 d[]; .shared .b32 m[2];
        .visible .entry k() { .reg .b32 %r; mov.u32 %r, %tid.x; st.shared.u32 [m+4], %r; st.shared.u32 [d+8], %r; ret; }";
    let launch = Launch { dynamic_shared: 16, ..shape(1, 2) };
    assert_eq!(names(kernel, &launch, &Memory::new()), ["m[1]", "d[2]"]);
    let kernel = ".visible .entry k() { .shared .b32 s[4]; st.shared.u32 [s+4096], 1; ret; }";
    assert_eq!(names(kernel, &shape(1, 1), &Memory::new()), ["s[1024], behind its 4 elements"]);
}

#[test]
fn global_memory_is_named_by_argument_or_variable() {
    let memory = Memory::new();
    let (a, b) = (memory.alloc(400).unwrap(), memory.alloc(8).unwrap());
    let launch = |second: u64| {
        let args = vec![7u32.to_le_bytes().into(), a.to_le_bytes().into(), second.to_le_bytes().into()];
        Launch { args, ..shape(1, 2) }
    };
    let kernel = |access: &str| {
        format!(
            ".global .align 4 .u32 g[8];
             .visible .entry k(.param .u32 n, .param .u64 x, .param .u64 y) {{
               .reg .b32 %r; .reg .b64 %x, %y, %g; ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u64 %g, g;
               mov.u32 %r, %tid.x; {access}; ret; }}"
        )
    };
    for (access, second, name) in [
        ("st.global.u32 [%x+12], %r", b, "argument 1 (x) + 12"),
        ("st.global.u32 [%y], %r", b, "argument 2 (y)"),
        // Into the middle of the other's array: the nearer one.
        ("st.global.u32 [%y+4], %r", a + 100, "argument 2 (y) + 4"),
        ("st.global.u32 [%x+400], %r", b, "argument 1 (x) + 400, behind its 400 bytes"),
        ("st.global.u32 [%x+-4], %r", b, "argument 1 (x) - 4"),
        ("st.global.u32 [%g+12], %r", b, "g[3]"),
        ("st.global.u32 [%g+32], %r", b, "g[8], behind its 8 elements"),
    ] {
        assert_eq!(names(&kernel(access), &launch(second), &memory), [name], "{access}");
    }
    // An address that is near no variable or argument has no name.
    let program = load(&module(&kernel("st.global.u32 [8], %r"))).unwrap();
    let verdict = judge(program.kernel("k").unwrap(), &memory, &launch(b), &Options::checked()).unwrap();
    assert_eq!(verdict.findings[0].name, None);
    assert_eq!(verdict.findings[0].to_string(), verdict.findings[0].error.to_string());
}

#[test]
fn a_wrong_number_of_arguments_lists_the_parameters() {
    let text =
        module(".visible .entry k(.param .u32 n, .param .align 64 .b8 map[128], .param .u64 x) { ret; }");
    let program = load(&text).unwrap();
    let error =
        judge(program.kernel("k").unwrap(), &Memory::new(), &shape(1, 1), &Options::default()).unwrap_err();
    let says =
        "kernel `k` takes 3 arguments, 0 given; its parameters: .u32 n, .align 64 .b8 map[128], .u64 x";
    assert_eq!(error.to_string(), says);
}

#[test]
fn local_variables_are_named() {
    let kernel = ".visible .entry k() { .reg .b32 %r; .reg .pred %p; .local .b32 l[4];
        ld.local.u32 %r, [l+8]; setp.eq.u32 %p, %r, 0; @%p st.local.u32 [l], 1; ret; }";
    assert_eq!(names(kernel, &shape(1, 1), &Memory::new())[0], "l[2]");
}
