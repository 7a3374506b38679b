//! Calls that need a stack: functions that call themselves, functions in registers, `alloca`; and assertions.

use crate::common::{download, launch, load, module, shape, u64_arg, upload};
use girih_sim::{Error, Memory, Options};

/// Runs kernel `k(out)` with 64 threads, each of which stores a word, with every check on.
fn words(body: &str) -> Result<Vec<u32>, Error> {
    let memory = Memory::new();
    let out = upload(&memory, &[0; 64]);
    let mut shape = shape(1, 64);
    shape.args = vec![u64_arg(out)];
    launch(&module(body), &memory, &shape, &Options::checked())?;
    Ok(download(&memory, out, 64))
}

/// A kernel that stores `%r` of each thread `%t`, after `body`.
fn kernel(functions: &str, body: &str) -> String {
    format!(
        "{functions}
         .visible .entry k(.param .u64 out) {{
           .reg .b32 %t, %r, %s; .reg .b64 %o, %f<4>; .reg .pred %p;
           ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;
           {body}
           st.global.u32 [%o], %r; ret;
         }}"
    )
}

/// fib(n) = fib(n - 1) + fib(n - 2), with registers that must survive the first call.
const FIB: &str = ".func (.param .b32 r) fib(.param .b32 n) {
    .reg .b32 %n, %a, %b; .reg .pred %p;
    ld.param.u32 %n, [n];
    setp.lt.u32 %p, %n, 2;
    mov.u32 %a, %n;
    @%p bra DONE;
    { .param .b32 x; .param .b32 y; sub.u32 %b, %n, 1; st.param.b32 [x], %b;
      call.uni (y), fib, (x); ld.param.b32 %a, [y]; }
    { .param .b32 x; .param .b32 y; sub.u32 %b, %n, 2; st.param.b32 [x], %b;
      call.uni (y), fib, (x); ld.param.b32 %b, [y]; }
    add.u32 %a, %a, %b;
    DONE: st.param.b32 [r], %a; ret;
}";

const CALL_FIB: &str = "rem.u32 %s, %t, 11;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %s; call (y), fib, (x); ld.param.b32 %r, [y]; }";

fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

#[test]
fn functions_call_themselves_each_lane_as_deep_as_it_needs() {
    let found = words(&kernel(FIB, CALL_FIB)).unwrap();
    assert_eq!(found, (0..64).map(|t| fib(t % 11)).collect::<Vec<_>>());
    // Only some lanes call; the others keep their values.
    let some = "mov.u32 %r, 7; setp.lt.u32 %p, %t, 5; mov.u32 %s, 9;
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %s; st.param.b32 [y], 7;
          @%p call (y), fib, (x); ld.param.b32 %r, [y]; } bar.sync 0;";
    let found = words(&kernel(FIB, some)).unwrap();
    assert_eq!(found, (0..64).map(|t| if t < 5 { 34 } else { 7 }).collect::<Vec<_>>());
}

#[test]
fn functions_call_one_another() {
    // even(n) = n == 0 || odd(n - 1), odd(n) = n != 0 && even(n - 1)
    let half = |name: &str, other: &str, at_zero: u32| {
        format!(
            ".func (.param .b32 r) {name}(.param .b32 n) {{
               .reg .b32 %n; .reg .pred %p;
               ld.param.u32 %n, [n]; setp.eq.u32 %p, %n, 0;
               @%p st.param.b32 [r], {at_zero}; @%p ret;
               sub.u32 %n, %n, 1;
               {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %n; call (y), {other}, (x); ld.param.b32 %n, [y]; }}
               st.param.b32 [r], %n; ret;
             }}"
        )
    };
    let functions = format!(
        ".func (.param .b32 r) odd(.param .b32 n);\n{}\n{}",
        half("even", "odd", 1),
        half("odd", "even", 0)
    );
    let body =
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t; call (y), even, (x); ld.param.b32 %r, [y]; }";
    let found = words(&kernel(&functions, body)).unwrap();
    assert_eq!(found, (0..64).map(|t| u32::from(t % 2 == 0)).collect::<Vec<_>>());
}

/// Each call has variables of its own, and passes their address to the next call: a list on the stack, which is walked
/// at its end.
#[test]
fn each_call_has_variables_of_its_own() {
    let function = ".func (.param .b32 r) down(.param .b32 n, .param .b64 list) {
        .local .align 8 .b8 node[16]; .reg .b32 %n, %v, %sum; .reg .b64 %a, %l; .reg .pred %p;
        ld.param.u32 %n, [n]; ld.param.u64 %l, [list];
        mov.u64 %a, node; cvta.local.u64 %a, %a;
        st.u64 [%a], %l; mul.lo.u32 %v, %n, %n; st.u32 [%a+8], %v;
        setp.eq.u32 %p, %n, 0;
        @%p bra SUM;
        sub.u32 %n, %n, 1;
        { .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], %n; st.param.b64 [y], %a;
          call (z), down, (x, y); ld.param.b32 %sum, [z]; }
        // It has not been overwritten by the calls below.
        ld.u32 %n, [%a+8]; sub.u32 %n, %n, %v; add.u32 %sum, %sum, %n;
        st.param.b32 [r], %sum; ret;
        SUM: mov.u32 %sum, 0;
        NEXT: ld.u32 %v, [%a+8]; add.u32 %sum, %sum, %v; ld.u64 %a, [%a];
        setp.ne.u64 %p, %a, 0; @%p bra NEXT;
        st.param.b32 [r], %sum; ret;
    }";
    let body = "and.b32 %s, %t, 15; { .param .b32 x; .param .b64 y; .param .b32 z;
        st.param.b32 [x], %s; st.param.b64 [y], 0; call (z), down, (x, y); ld.param.b32 %r, [z]; }";
    let found = words(&kernel(function, body)).unwrap();
    assert_eq!(found, (0..64u32).map(|t| (0..=t % 16).map(|i| i * i).sum()).collect::<Vec<_>>());
}

const TWO: &str = ".func (.param .b32 r) twice(.param .b32 n) {
        .reg .b32 %n; ld.param.u32 %n, [n]; add.u32 %n, %n, %n; st.param.b32 [r], %n; ret; }
    .func (.param .b32 r) square(.param .b32 n) {
        .reg .b32 %n; ld.param.u32 %n, [n]; mul.lo.u32 %n, %n, %n; st.param.b32 [r], %n; ret; }";

#[test]
fn functions_are_called_through_registers() {
    for (after, label) in [
        ("proto: .callprototype (.param .b32 _) _ (.param .b32 _);", "proto"),
        ("both: .calltargets twice, square;", "both"),
    ] {
        // Lanes of one warp call different functions.
        let body = format!(
            "mov.u64 %f0, twice; mov.u64 %f1, square; and.b32 %s, %t, 1; setp.eq.u32 %p, %s, 0;
             selp.b64 %f2, %f0, %f1, %p;
             {{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t; {after}
                call (y), %f2, (x), {label}; ld.param.b32 %r, [y]; }}"
        );
        let found = words(&kernel(TWO, &body)).unwrap();
        assert_eq!(found, (0..64).map(|t| if t % 2 == 0 { 2 * t } else { t * t }).collect::<Vec<_>>());
    }
    // A table of functions, as virtual functions have it.
    let table = format!("{TWO}\n.global .align 8 .u64 table[2] = {{twice, square}};");
    let body =
        "mov.u64 %f0, table; and.b32 %s, %t, 1; mad.wide.u32 %f0, %s, 8, %f0; ld.global.u64 %f1, [%f0];
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %t;
          proto: .callprototype (.param .b32 _) _ (.param .b32 _);
          call (y), %f1, (x), proto; ld.param.b32 %r, [y]; }";
    let found = words(&kernel(&table, body)).unwrap();
    assert_eq!(found, (0..64).map(|t| if t % 2 == 0 { 2 * t } else { t * t }).collect::<Vec<_>>());
}

#[test]
fn a_call_of_what_is_no_function_is_found() {
    let call = |function: &str, after: &str, label: &str, argument: &str| {
        let body = format!(
            "mov.u64 %f1, twice; mov.u64 %f0, {function};
             {{ .param {argument} x; .param .b32 y; st.param.b32 [x], %t; {after}
                call (y), %f0, (x), {label}; ld.param.b32 %r, [y]; }}"
        );
        words(&kernel(TWO, &body)).unwrap_err().to_string()
    };
    let proto = "proto: .callprototype (.param .b32 _) _ (.param .b32 _);";
    let error = call("77", proto, "proto", ".b32");
    assert!(error.contains("the function's address is 77, must be that of one of: twice"), "{error}");
    let error = call("square", "t: .calltargets twice;", "t", ".b32");
    assert!(error.contains("must be that of one of: twice"), "{error}");
    let none = ".func none() { ret; }";
    let error = words(&kernel(
        none,
        "mov.u64 %f0, none; mov.u32 %r, 1;
        { .param .b32 x; st.param.b32 [x], 1; p: .callprototype () _ (.param .b32 _); call %f0, (x), p; }",
    ));
    assert!(error.unwrap_err().to_string().contains("which `none` has not"));
}

#[test]
fn a_stack_has_an_end() {
    let endless = ".func f(.param .b32 n) { .reg .b32 %n; .local .b8 a[100]; ld.param.u32 %n, [n];
        { .param .b32 x; st.param.b32 [x], %n; call f, (x); } ret; }";
    let body = "mov.u32 %r, 0; { .param .b32 x; st.param.b32 [x], %t; call f, (x); }";
    let error = words(&kernel(endless, body)).unwrap_err();
    assert!(matches!(&error, Error::StackOverflow { depth, .. } if *depth > 50), "{error}");
    let error = words(&kernel("", "mov.u32 %r, 0; alloca.u64 %f0, 1000000;")).unwrap_err();
    assert!(matches!(error, Error::StackOverflow { bytes: 1000000, depth: 0, .. }), "{error}");
}

/// PTX ISA, "Stack Manipulation Instructions".
#[test]
fn memory_is_taken_from_the_stack_and_given_back() {
    let body = "stacksave.u64 %f2;
        add.u32 %s, %t, 1; mul.lo.u32 %s, %s, 4; cvt.u64.u32 %f0, %s; alloca.u64 %f1, %f0, 16;
        // As many words as the lane's index and one, of which the last is read.
        mov.u32 %r, 0;
        FILL: cvt.u64.u32 %f0, %r; shl.b64 %f0, %f0, 2; add.u64 %f0, %f0, %f1; mul.lo.u32 %s, %r, 3;
        st.local.u32 [%f0], %s; add.u32 %r, %r, 1; setp.le.u32 %p, %r, %t; @%p bra FILL;
        ld.local.u32 %r, [%f0];
        and.b64 %f0, %f1, 15; cvt.u32.u64 %s, %f0; add.u32 %r, %r, %s;
        // What is given back is taken again.
        stackrestore.u64 %f2; alloca.u64 %f3, 64, 16; sub.u64 %f3, %f3, %f1; cvt.u32.u64 %s, %f3; add.u32 %r, %r, %s;";
    let found = words(&kernel("", body)).unwrap();
    assert_eq!(found, (0..64).map(|t| 3 * t).collect::<Vec<_>>());
    // A function gives back what it has taken, whether it is inlined or not: 1000 calls of 64 bytes.
    let function = ".func f() { .reg .b64 %a; alloca.u64 %a, 64; st.local.u32 [%a], 1; ret; }";
    let body = "mov.u32 %r, 0; LOOP: call f; add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 1000; @%p bra LOOP;";
    assert_eq!(words(&kernel(function, body)).unwrap(), [1000; 64]);
    let body = body.replace("call f;", "{ p: .callprototype () _ (); mov.u64 %f0, f; call %f0, p; }");
    assert_eq!(words(&kernel(function, &body)).unwrap(), [1000; 64]);
    // Memory from `alloca` has no value at first.
    let error = words(&kernel("", "alloca.u64 %f1, 64; ld.local.u32 %r, [%f1];")).unwrap_err();
    assert!(
        matches!(error, Error::UninitialisedMemory { .. } | Error::UninitialisedRegister { .. }),
        "{error}"
    );
}

/// As nvcc compiles `assert(t < 40)`.
#[test]
fn an_assertion_is_a_finding_with_its_text() {
    let strings = ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;
        .global .align 1 .b8 message[7] = {116, 32, 60, 32, 52, 48};
        .global .align 1 .b8 file[5] = {97, 46, 99, 117};
        .global .align 1 .b8 function[9] = {118, 111, 105, 100, 32, 107, 40, 41};";
    let body = |bound: u32| {
        format!(
            "mov.u32 %r, %t; setp.lt.u32 %p, %t, {bound}; @%p bra GOOD;
        {{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
          mov.u64 %f0, message; cvta.global.u64 %f0, %f0; st.param.b64 [a], %f0;
          mov.u64 %f0, file; cvta.global.u64 %f0, %f0; st.param.b64 [b], %f0; st.param.b32 [c], 17;
          mov.u64 %f0, function; cvta.global.u64 %f0, %f0; st.param.b64 [d], %f0; st.param.b64 [e], 1;
          call.uni __assertfail, (a, b, c, d, e); }} GOOD:"
        )
    };
    assert_eq!(words(&kernel(strings, &body(64))).unwrap(), (0..64).collect::<Vec<_>>());
    let error = words(&kernel(strings, &body(40))).unwrap_err();
    let Error::Assertion { at, message, file, line, function } = &error else { panic!("{error}") };
    assert_eq!((&**message, &**file, *line, &**function), ("t < 40", "a.cu", 17, "void k()"));
    assert_eq!(at.thread, [40, 0, 0]);
    assert!(error.to_string().ends_with("assertion `t < 40` failed at a.cu:17 in void k()"), "{error}");
}

#[test]
fn kernels_and_functions_have_addresses_that_differ() {
    let body = "mov.u64 %f0, k; mov.u64 %f1, twice; mov.u64 %f2, square;
        setp.ne.u64 %p, %f0, %f1; selp.u32 %r, 1, 0, %p; setp.ne.u64 %p, %f1, %f2; selp.u32 %s, 2, 0, %p;
        or.b32 %r, %r, %s; setp.eq.u64 %p, %f0, 0; selp.u32 %s, 4, 0, %p; or.b32 %r, %r, %s;";
    assert_eq!(words(&kernel(TWO, body)).unwrap(), [3; 64]);
    assert!(load(&module(&kernel(TWO, "mov.u64 %f0, nothing; mov.u32 %r, 0;"))).is_err());
}
