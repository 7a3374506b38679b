//! Addresses in findings, described by the names of the program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{load, module, shape};
use girih_sim::{Error, Launch, Memory, Options, Space, judge};

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
        // As C++ compilers call the array `s` of the function `reduce`.
        (".shared .b32 _ZZ6reduceE1s[4];", "st.shared.u32 [_ZZ6reduceE1s+4], %r", "reduce::s[1]"),
    ] {
        let kernel =
            format!(".visible .entry k() {{ .reg .b32 %r; {declared} mov.u32 %r, %tid.x; {access}; ret; }}");
        assert_eq!(names(&kernel, &shape(1, 2), &Memory::new()), [name], "{access}");
    }
    // The module's, those whose size the launch gives, and what lies after the end.
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

/// Findings of every kind that occurs in several spaces, in each space, and of kinds that are of global memory alone:
/// the error tells the space that its address is in, and what it names is there. The addresses in global memory are
/// such that shared memory of the same offset would be that of `s`.
#[test]
fn an_error_tells_the_space_of_its_address() {
    use Space::{Global, Local, Shared};
    const LOOP: &str = "setp.eq.u32 %p2, %r1, 0; @%p2 bra AGAIN;";
    const USE: &str = "setp.eq.u32 %p2, %r1, 0; @%p2 st.local.u32 [%l], 1;";
    const STORE: &str = "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%g], [%s], 16; cp.async.bulk.commit_group; \
                         cp.async.bulk.wait_group 0;";
    const FILL: &str = "@%p0 st.shared.v4.u32 [%s], {%z, %z, %z, %z};";
    let mut wrong = Vec::new();
    for (kind, space, lines, name) in [
        ("out-of-bounds", Shared, ["st.shared.u32 [%s+8192], %z;", "", ""], "t"),
        ("out-of-bounds", Global, ["st.global.u32 [%g+8192], %z;", "", ""], "argument 0 (out)"),
        ("out-of-bounds", Local, ["st.local.u32 [%l+8192], %z;", "", ""], "k["),
        ("overrun", Shared, ["st.shared.u32 [%s+2048], %z;", "", ""], "t"),
        ("overrun", Local, ["st.local.u32 [%l+128], %z;", "", ""], "k["),
        ("misaligned", Shared, ["st.shared.u32 [%s+2], %z;", "", ""], "s["),
        ("misaligned", Global, ["st.global.u32 [%g+2], %z;", "", ""], "argument 0 (out)"),
        ("misaligned", Local, ["st.local.u32 [%l+2], %z;", "", ""], "l["),
        ("uninitialised-memory", Shared, ["ld.shared.u32 %r1, [%s];", USE, ""], "s["),
        ("uninitialised-memory", Global, ["ld.global.u32 %r1, [%raw];", USE, ""], "argument 1 (raw)"),
        ("uninitialised-memory", Local, ["ld.local.u32 %r1, [%l];", USE, ""], "l["),
        ("race", Shared, ["st.shared.u32 [%s], %i;", "", ""], "s["),
        ("race", Global, ["st.global.u32 [%g], %i;", "", ""], "argument 0 (out)"),
        (
            "lockstep",
            Shared,
            ["@%p0 st.volatile.shared.u32 [%s], 1;", "@%p1 ld.volatile.shared.u32 %r1, [%s];", ""],
            "s[",
        ),
        (
            "lockstep",
            Global,
            ["@%p0 st.volatile.global.u32 [%g], 1;", "@%p1 ld.volatile.global.u32 %r1, [%g];", ""],
            "argument 0 (out)",
        ),
        ("unfenced", Shared, [FILL, STORE, ""], "s["),
        (
            "unfenced",
            Global,
            [FILL, "fence.proxy.async.shared::cta; @%p0 st.global.u32 [%g], 1;", STORE],
            "argument 0 (out)",
        ),
        (
            "livelock",
            Shared,
            ["@%p0 st.shared.u32 [%s], 0; bar.sync 0;", "AGAIN: ld.volatile.shared.u32 %r1, [%s];", LOOP],
            "s[",
        ),
        ("livelock", Global, ["AGAIN: ld.volatile.global.u32 %r1, [%g];", LOOP, ""], "argument 0 (out)"),
        (
            "read-only",
            Global,
            ["@%p0 st.global.u32 [%g], 1; bar.sync 0;", "ld.global.nc.u32 %r1, [%g];", ""],
            "argument 0 (out)",
        ),
        (
            "padding",
            Global,
            ["@%p0 st.local.u32 [%l], 1;", "@%p0 ld.local.u64 %w, [%l];", "@%p0 st.global.u64 [%g], %w;"],
            "argument 0 (out)",
        ),
    ] {
        let lines = lines.join("\n");
        let text = module(&format!(
            ".visible .entry k(.param .u64 out, .param .u64 raw) {{
               .shared .align 16 .b32 s[512]; .shared .align 16 .b8 t[64]; .local .align 16 .b32 l[32];
               .local .align 16 .b32 k[4]; .reg .b32 %i, %s, %z, %r<4>; .reg .b64 %g, %raw, %l, %w; .reg .pred %p<4>;
               ld.param.u64 %g, [out]; add.u64 %g, %g, 2048; ld.param.u64 %raw, [raw]; add.u64 %raw, %raw, 2048;
               mov.u32 %i, %tid.x; mov.u32 %s, s; mov.u64 %l, l; mov.u32 %z, 0;
               setp.eq.u32 %p0, %i, 0; setp.eq.u32 %p1, %i, 1;
               {lines}
               ret; }}"
        ));
        let memory = Memory::new();
        let (out, raw) = (memory.alloc(4096).unwrap(), memory.alloc_uninitialised(4096).unwrap());
        let launch = Launch {
            grid: [1; 3],
            block: [32, 1, 1],
            args: vec![out.to_le_bytes().into(), raw.to_le_bytes().into()],
            ..Launch::default()
        };
        let options = Options { steps: Some(100_000), ..Options::checked() };
        let verdict = judge(load(&text).unwrap().kernel("k").unwrap(), &memory, &launch, &options).unwrap();
        let found = verdict.findings.iter().find(|finding| finding.error.kind() == kind);
        let right = found.is_some_and(|found| {
            let named = found.name.as_ref().is_some_and(|found| found.starts_with(name));
            found.error.space() == Some(space) && named
        });
        if !right {
            wrong.push(format!("{kind} in {space} memory: {:?}", verdict.findings));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An error has a space if and only if it has an address.
#[test]
fn a_space_is_told_with_every_address() {
    let error = Memory::new().free(4).unwrap_err();
    assert_eq!((error.space(), error.address()), (Some(Space::Global), Some(4)));
    let none = Error::OutOfMemory { bytes: 1, used: 0, capacity: 0 };
    assert_eq!((none.space(), none.address()), (None, None));
}
