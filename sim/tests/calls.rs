//! Device functions: arguments, results, nesting, divergence.

use crate::common::{load, map, module, per_thread};
use girih_sim::Error;

const FUNCTIONS: &str = "
.extern .func (.param .b32 status) printer(.param .b64 format, .param .b64 values);
.func (.param .b32 gcd) gcd(.param .b32 x, .param .b32 y);
.visible .func (.param .b32 sum) add(.param .b32 x, .param .b32 y) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [x]; ld.param.u32 %r2, [y+0]; add.u32 %r3, %r1, %r2; st.param.b32 [sum+0], %r3; ret;
}
.func (.param .b32 gcd) gcd(.param .b32 x, .param .b32 y) {
  .reg .b32 %a<4>; .reg .pred %p;
  ld.param.u32 %a1, [x]; ld.param.u32 %a2, [y];
LOOP:
  setp.eq.u32 %p, %a2, 0; @%p bra DONE;
  rem.u32 %a3, %a1, %a2; mov.u32 %a1, %a2; mov.u32 %a2, %a3; bra.uni LOOP;
DONE:
  st.param.b32 [gcd], %a1; ret;
}
.weak .func (.param .align 8 .b8 pair[8]) split(.param .b64 x) {
  .reg .b64 %x; .reg .b32 %lo, %hi;
  ld.param.b64 %x, [x]; mov.b64 {%lo, %hi}, %x; st.param.v2.b32 [pair], {%hi, %lo}; ret;
}
.func early(.param .b64 at, .param .b32 limit) {
  .reg .b64 %p; .reg .b32 %i, %n; .reg .pred %q;
  ld.param.b64 %p, [at]; ld.param.b32 %n, [limit]; mov.u32 %i, %tid.x;
  setp.lt.u32 %q, %i, %n; @%q ret;
  st.global.b32 [%p], 1;
}
.func (.param .b32 r) twice(.param .b32 x, .param .b32 y) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x]; ld.param.b32 %r2, [y];
  { .param .b32 p0; .param .b32 p1; .param .b32 q; st.param.b32 [p0], %r1; st.param.b32 [p1], %r2;
    call.uni (q), add, (p0, p1); ld.param.b32 %r3, [q]; }
  { .param .b32 p0; .param .b32 p1; .param .b32 q; st.param.b32 [p0], %r3; st.param.b32 [p1], %r3;
    call (q), add, (p0, p1); ld.param.b32 %r3, [q]; }
  st.param.b32 [r], %r3; ret;
}
.func loops(.param .b32 x) { { .param .b32 p; st.param.b32 [p], 1; call loops, (p); } ret; }
";

/// A kernel with the functions before it.
fn text(words: usize, results: usize, body: &str) -> String {
    per_thread(words, results, body).replacen(".visible .entry", &format!("{FUNCTIONS}.visible .entry"), 1)
}

fn call(name: &str, guard: &str) -> String {
    format!(
        "{{ .param .b32 p0; .param .b32 p1; .param .b32 q; st.param.b32 [p0], %a0; st.param.b32 [p1], %a1;
         st.param.b32 [q], 12345; {guard} call.uni (q), {name}, (p0, p1); ld.param.b32 %d0, [q]; }}"
    )
}

/// Pairs of numbers, one a thread.
fn pairs() -> Vec<[u32; 2]> {
    (1..=64u32).map(|i| [i * 12 % 97 * (i % 5 + 1), i * 7 % 31 * 6]).collect()
}

fn check(body: &str, want: impl Fn(usize, u32, u32) -> u32) {
    let got = map(&text(2, 1, body), 64, &pairs().concat(), 64).unwrap_or_else(|e| panic!("{body}: {e}"));
    for (i, (&[a, b], got)) in pairs().iter().zip(got).enumerate() {
        assert_eq!(got, want(i, a, b), "{body} of {a}, {b}");
    }
}

#[test]
fn functions_take_arguments_and_return_results() {
    let gcd = |a: u32, b: u32| {
        (1..=a.max(b)).rev().find(|&d| a.is_multiple_of(d) && b.is_multiple_of(d)).unwrap_or(0)
    };
    check(&call("add", ""), |_, a, b| a + b);
    check(&call("twice", ""), |_, a, b| 2 * (a + b));
    // Each lane goes round its own number of times.
    check(&call("gcd", ""), |_, a, b| gcd(a, b));
    check(
        "mov.b64 %rd0, {%a0, %a1}; { .param .b64 p; .param .align 8 .b8 q[8]; st.param.b64 [p], %rd0;
         call (q), split, (p); ld.param.b32 %d0, [q+4]; ld.param.b32 %r1, [q]; shl.b32 %r1, %r1, 16;
         xor.b32 %d0, %d0, %r1; }",
        |_, a, b| a ^ b << 16,
    );
}

#[test]
fn calls_are_guarded_repeated_and_returned_from_early() {
    let guarded = format!("setp.lt.u32 %p3, %i, 7; {}", call("add", "@%p3"));
    check(&guarded, |i, a, b| if i < 7 { a + b } else { 12345 });
    let negated = format!("setp.lt.u32 %p3, %i, 7; {}", call("gcd", "@!%p3"));
    check(&negated.replace("call.uni", "call"), |i, a, b| {
        let gcd = |mut a: u32, mut b: u32| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        if i < 7 { 12345 } else { gcd(a, b) }
    });
    // 1 + 2 + ... + 2^9 times the first word, in a loop.
    let repeated = format!(
        "mov.u32 %r7, 0; mov.u32 %a1, 0; AGAIN: mov.u32 %r8, %a0; {} mov.u32 %a1, %d0; add.u32 %r7, %r7, 1;
         setp.lt.u32 %p4, %r7, 10; @%p4 bra AGAIN;",
        call("add", "")
    );
    check(&repeated, |_, a, _| 10 * a);
    let body = "mov.u32 %d0, 0; mul.wide.u32 %rd1, %i, 4; ld.param.u64 %rd0, [out]; add.u64 %rd0, %rd0, %rd1;
        { .param .b64 p0; .param .b32 p1; st.param.b64 [p0], %rd0; st.param.b32 [p1], 40; call early, (p0, p1); }
        ld.global.b32 %d0, [%rd0];";
    check(body, |i, _, _| u32::from(i >= 40));
}

/// Shared memory of the module that only functions use is one variable, in however many places the functions are
/// called.
#[test]
fn functions_share_the_shared_memory_of_the_module() {
    let functions = ".shared .b32 total;
        .func count() { .reg .b32 %x; atom.shared.add.u32 %x, [total], 1; ret; }
        .func start() { .reg .b32 %x; .reg .pred %p; mov.u32 %x, %tid.x; setp.eq.u32 %p, %x, 0;
          @%p st.shared.b32 [total], 0; bar.sync 0; ret; }";
    let body = "call start; call count; call count; bar.sync 0; ld.shared.b32 %d0, [total];";
    // The kernel reads it too, or a function does.
    let reading = body
        .replace("ld.shared.b32 %d0, [total];", "{ .param .b32 q; call (q), read; ld.param.b32 %d0, [q]; }");
    let read = ".func (.param .b32 r) read() { .reg .b32 %x; ld.shared.b32 %x, [total]; st.param.b32 [r], %x; ret; }";
    for body in [body, &reading] {
        let text = per_thread(0, 1, body).replacen(
            ".visible .entry",
            &format!("{functions}{read}.visible .entry"),
            1,
        );
        assert_eq!(map(&text, 64, &[0], 64).unwrap(), [128; 64]);
    }
}

#[test]
fn calls_that_cannot_be_are_refused_and_named() {
    let refused = |body: &str, says: &str| {
        let found = load(&text(2, 1, body)).map(|_| ()).unwrap_err().to_string();
        assert!(found.contains(says), "{body}: {found}");
    };
    refused(
        "{ .param .b64 a; .param .b64 b; .param .b32 r; call (r), printer, (a, b); }",
        "`printer`, which the module does not define",
    );
    refused("{ .param .b32 p; call nobody, (p); }", "`nobody` is not declared");
    refused("{ .param .b32 p; .param .b32 q; call (q), add, (p); }", "1 arguments where the function has 2");
    refused("{ .param .b16 p; .param .b32 q; call (q), add, (p, q); }", "that fits `.param .b32 x`");
    refused("{ .param .b32 q; call (q), add, (%a0, q); }", "found `%a0`");
    refused("{ .param .b32 q; call (q), %rd0, (q); }", "the label of a `.callprototype`");
    // A result that a function has not written is reported where it is used; the padding of a structure never is used.
    let unwritten = "{ .param .b32 p; ld.param.b32 %d0, [p]; }";
    let found = map(&text(2, 1, unwritten), 1, &[0, 0], 1);
    assert!(
        matches!(&found, Err(Error::UninitialisedMemory { used: Some(used), .. }) if used.register == "%d0"),
        "{found:?}"
    );
}

/// Calls that double at every level end with an error, and not by using up the host's memory.
#[test]
fn calls_that_multiply_are_stopped() {
    let mut functions = String::from(".func f0() { ret; }\n");
    for i in 1..31 {
        functions += &format!(".func f{i}() {{ call f{0}; call f{0}; ret; }}\n", i - 1);
    }
    let found = load(&module(&format!("{functions}.visible .entry k() {{ call f30; ret; }}")));
    assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
}

/// Functions of CUDA's device runtime are refused by what they are.
#[test]
fn the_heap_of_the_device_and_launches_from_it_are_refused_by_name() {
    for (name, named) in [
        ("malloc", "the heap of the device"),
        ("free", "the heap of the device"),
        ("cudaLaunchDeviceV2", "a launch from the device"),
        ("other", "which the module does not define"),
    ] {
        let text = crate::common::module(&format!(
            ".extern .func (.param .b64 r) {name} (.param .b64 a);
             .visible .entry k() {{ .param .b64 x; .param .b64 y; st.param.b64 [x], 16; call (y), {name}, (x); ret; }}"
        ));
        let error =
            crate::common::load(&text).and_then(|program| program.kernel("k").map(|_| ())).unwrap_err();
        assert!(error.to_string().contains(named) && error.to_string().contains(name), "{error}");
    }
}
