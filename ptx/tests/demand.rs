//! Instructions in the order in which they are needed: they compute the same, and their notes go with them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use girih_ptx::{Claim, Fact, Module, Notes, Site};
use proptest::prelude::*;

fn kernel(body: &str) -> Module {
    let text = format!(
        ".version 8.0 .target sm_90a .address_size 64 .visible .entry k(.param .u32 n) {{
           .reg .b32 %r<8>; .reg .pred %p<1>; mov.u32 %r0, %tid.x; {body} ret; }}"
    );
    Module::parse(&text).unwrap()
}

/// What a kernel of additions, exclusive ors and copies stores, in its order.
fn stored(module: &Module) -> Vec<u32> {
    let (mut registers, mut stored) = (HashMap::<String, u32>::new(), Vec::new());
    for line in module.to_string().lines() {
        let line = line.trim().trim_end_matches(';');
        let line = line.strip_prefix("@%p0 ").unwrap_or(line);
        let Some((opcode, operands)) = line.split_once(' ') else { continue };
        let operands: Vec<&str> = operands.split(", ").collect();
        let value = |at: usize| match operands[at].parse::<i64>() {
            Ok(number) => number as u32,
            _ => registers.get(operands[at]).copied().unwrap_or(0),
        };
        let result = match opcode {
            "add.s32" => value(1).wrapping_add(value(2)),
            "xor.b32" => value(1) ^ value(2),
            "mov.b32" => value(1),
            "st.shared.u32" => {
                stored.push(value(1));
                continue;
            }
            _ => continue,
        };
        registers.insert(operands[0].into(), result);
    }
    stored
}

/// Instructions that write registers anew, with stores and instructions under a guard among them.
fn body() -> impl Strategy<Value = String> {
    let register = || (0..8).prop_map(|number| format!("%r{number}"));
    let inst = prop_oneof![
        4 => (register(), register(), register()).prop_map(|(d, a, b)| format!("add.s32 {d}, {a}, {b};")),
        4 => (register(), register(), 1..99).prop_map(|(d, a, b)| format!("xor.b32 {d}, {a}, {b};")),
        2 => (register(), register()).prop_map(|(d, a)| format!("mov.b32 {d}, {a};")),
        1 => (register(), register(), 1..99).prop_map(|(d, a, b)| format!("@%p0 add.s32 {d}, {a}, {b};")),
        1 => register().prop_map(|a| format!("st.shared.u32 [%r0], {a};")),
    ];
    prop::collection::vec(inst, 1..60).prop_map(|list| list.join(" "))
}

proptest! {
    #[test]
    fn kernels_store_the_same(body in body()) {
        let all: String = (0..8).map(|at| format!("st.shared.u32 [%r0], %r{at};")).collect();
        let module = kernel(&(body + &all));
        let other = module.clone().on_demand("k");
        prop_assert_eq!(stored(&module), stored(&other), "{}", other);
        let sorted = |module: &Module| {
            let mut lines: Vec<String> = module.to_string().lines().map(str::to_string).collect();
            lines.sort();
            lines
        };
        prop_assert_eq!(sorted(&module), sorted(&other));
    }
}

/// Three functions of four elements, one after the other.
fn functions() -> Module {
    let function = |(step, name): (usize, &str)| -> String {
        (4 * step..4 * step + 4).map(|at| format!("{name} %f{}, %f{at}, 3; ", at + 4)).collect()
    };
    let functions: String = ["add.s32", "xor.b32", "add.s32"].into_iter().enumerate().map(function).collect();
    let stores: String = (12..16).map(|at| format!("st.shared.u32 [%r0], %f{at}; ")).collect();
    Module::parse(&format!(
        ".version 8.0 .target sm_80 .address_size 64 .visible .entry k() {{
           .reg .b32 %r<1>, %f<16>; mov.u32 %r0, %tid.x;
           ld.shared.v4.u32 {{%f0, %f1, %f2, %f3}}, [%r0]; {functions} {stores} ret; }}"
    ))
    .unwrap()
}

#[test]
fn functions_of_elements_are_computed_element_by_element() {
    let text = functions().on_demand("k").to_string();
    let written: Vec<&str> = text.lines().filter(|line| line.contains(", 3;")).collect();
    let first = ["add.s32 %f4, %f0, 3;", "xor.b32 %f8, %f4, 3;", "add.s32 %f12, %f8, 3;"];
    assert_eq!(written[..3].iter().map(|line| line.trim()).collect::<Vec<_>>(), first, "{text}");
}

/// The line of a site is that of an instruction; a claim holds of a register that has been written by then.
#[test]
fn notes_stay_with_their_lines() {
    let mut module = functions();
    let text = module.to_string();
    let place = |line: u32| Site { file: "kernel.rs".into(), line, column: 1 };
    let lines = || text.lines().zip(1u32..);
    let sites = lines().map(|(_, line)| (line, place(line))).collect();
    // Where `%f5` is written, of `%f4`, which was written before.
    let at = lines().find(|(line, _)| line.contains("%f5,")).unwrap().1;
    let fact = Fact { lower: 0, upper: 9, multiple: 1, site: place(at) };
    let claims = [("%f4", at), ("%f5", at)].map(|(register, line)| Claim {
        line,
        register: register.into(),
        fact: fact.clone(),
    });
    let undefined = |line: &u32| line.is_multiple_of(3);
    module.notes = Notes::new(&text, claims.to_vec(), sites)
        .with_undefined(lines().map(|(_, line)| line).filter(undefined).collect());
    let other = module.clone().on_demand("k");
    let moved = other.to_string();
    assert!(moved != text && other.notes.are_of(&moved), "{moved}");
    for (line, number) in moved.lines().zip(1u32..) {
        let from = other.notes.site(number).unwrap().line;
        assert_eq!(text.lines().nth(from as usize - 1), Some(line));
        assert_eq!(other.notes.leaves_undefined(number), undefined(&from), "{line}");
    }
    assert_eq!(other.notes.claims().len(), 2);
    for claim in other.notes.claims() {
        let before: Vec<&str> = moved.lines().take(claim.line as usize).collect();
        assert!(before.last().unwrap().contains("%f5,"), "{moved}");
        assert!(before.iter().any(|line| line.contains(" %f4, %f0")), "{moved}");
    }
}
