//! Device functions and calls: what the tree holds, and what a call may say.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use girih_ptx::{Item, Linkage, Module};

const HEAD: &str = ".version 8.0 .target sm_80 .address_size 64
.shared .b32 counter; .shared .b8 other[96];
.func (.param .b32 r) f(.param .b32 x, .param .b64 y);
.func g() { .reg .b32 %r; ld.shared.b32 %r, [counter]; ret; }
.weak .func (.param .b32 r) f(.param .b32 x, .param .b64 y) { call g; ret; }
.extern .func stop() .noreturn;
";

fn kernel(body: &str) -> Module {
    let declarations =
        ".reg .b32 %a<4>; .reg .f32 %f; .param .b32 p; .param .b64 q; .param .b32 r; .local .b32 l;";
    Module::parse(&format!("{HEAD} .entry k() {{ {declarations} {body} }}")).unwrap()
}

#[test]
fn functions_are_read_as_they_are_written() {
    let module = kernel("call.uni (r), f, (p, q); @%f call stop, ();");
    let functions: Vec<_> = (module.items.iter())
        .filter_map(|item| if let Item::Function(function) = item { Some(function) } else { None })
        .collect();
    let seen: Vec<_> = (functions.iter())
        .map(|f| (&*f.name, f.linkage, f.results.len(), f.params.len(), f.body.is_some(), f.noreturn))
        .collect();
    let want = [
        ("f", Linkage::Internal, 1, 2, false, false),
        ("g", Linkage::Internal, 0, 0, true, false),
        ("f", Linkage::Weak, 1, 2, true, false),
        ("stop", Linkage::External, 0, 0, false, true),
    ];
    assert_eq!(seen, want);
    assert_eq!(Module::parse(&module.to_string()).unwrap(), module);
    assert!(module.to_string().contains("  call.uni (r), f, (p, q);\n"));
}

#[test]
fn calls_fit_their_functions() {
    for body in ["call.uni (r), f, (p, q);", "call (r), f, (7, q);", "call g;", "call g, ();", "call stop;"] {
        kernel(body).verify().unwrap_or_else(|error| panic!("{body}: {error}"));
    }
    for (body, says) in [
        ("call f, (p, q);", "1 results"),
        ("call (r), f, (p);", "2 arguments"),
        ("call (r, p), f, (p, q);", "1 results"),
        ("call (r), f, (p, l);", "registers and variables in .param, found `l`"),
        ("call (5), f, (p, q);", "found `5`"),
        ("call (r), k, (p, q);", "a function, found `k`"),
        ("call (r), f, p;", "arguments in parentheses"),
        ("call.wide g;", "no modifier but `.uni`"),
        ("call nobody;", "`nobody` is not declared"),
        ("call;", "a function's name, found nothing"),
    ] {
        let error = kernel(body).verify().unwrap_err().to_string();
        assert!(error.contains(says), "{body}: {error}");
    }
    let twice = Module::parse(&format!("{HEAD} .func (.param .b32 r) g() {{ ret; }}")).unwrap();
    assert!(twice.verify().is_err());
}

#[test]
fn branch_targets_are_labels_of_the_block() {
    let module = kernel("T: .branchtargets A, B, A; brx.idx.uni %a0, T; A: B: ret;");
    module.verify().unwrap();
    assert!(
        module.to_string().contains("T:\n  .branchtargets A, B, A;\n  brx.idx.uni %a0, T;\n"),
        "{module}"
    );
    assert_eq!(Module::parse(&module.to_string()).unwrap(), module);
    for (body, says) in [
        ("T: .branchtargets A, C; A: ret;", "`C` is not declared"),
        ("T: .branchtargets p; ret;", "`p` is not declared"),
        ("brx.idx %a0, p;", "the label of a `.branchtargets`"),
        ("T: brx.idx %f, T;", "operand 1"),
    ] {
        let error = kernel(body).verify().unwrap_err().to_string();
        assert!(error.contains(says), "{body}: {error}");
    }
}

#[test]
fn a_variable_with_an_offset_is_an_address() {
    let module = kernel("mov.u32 %a0, other+8; mov.u32 %a1, l+-4;");
    module.verify().unwrap();
    assert_eq!(Module::parse(&module.to_string()).unwrap(), module);
    for body in ["mov.u32 %a0, %a1+8;", "mov.u32 %a0, nothing+8;", "add.u32 %a0, other+8, 1;"] {
        assert!(kernel(body).verify().is_err(), "{body}");
    }
}

/// A kernel has the shared memory of what it calls, and of what that calls.
#[test]
fn shared_memory_of_functions_counts() {
    let bytes = |body: &str| kernel(body).kernels()[0].static_shared_bytes;
    assert_eq!((bytes("call (r), f, (p, q);"), bytes("call stop;")), (4, 0));
}
