//! The orders of modifiers that the assembler accepts.

use girih_ptx::forms::{self, Filled, Form, ordered};
use girih_ptx::{Inst, Modifier, Statement};

use crate::instances::{fillings, instance};

/// Instances of `form` whose modifiers are in other orders: each two neighbours exchanged, all reversed, all rotated.
pub(crate) fn disordered(form: &'static Form, filled: &Filled) -> Vec<Inst> {
    let inst = instance(form, filled, false, 0);
    let count = inst.modifiers.len();
    let with = |change: &dyn Fn(&mut Vec<Modifier>)| {
        let mut inst = inst.clone();
        change(&mut inst.modifiers);
        inst
    };
    let mut all: Vec<Inst> = (1..count).map(|at| with(&|words| words.swap(at - 1, at))).collect();
    all.extend((1..count).map(|by| with(&|words| words.rotate_left(by))));
    all.push(with(&|words| words.reverse()));
    // Other types are another instruction.
    let types = |inst: &Inst| {
        inst.modifiers.iter().filter(|m| matches!(m, Modifier::Type(_))).copied().collect::<Vec<_>>()
    };
    all.retain(|other| other.modifiers != inst.modifiers && types(other) == types(&inst));
    all
}

fn parsed(text: &str) -> Inst {
    match Statement::parse_all(text).expect("it parses").remove(0) {
        Statement::Inst(inst) => inst,
        other => panic!("{other:?}"),
    }
}

/// Whatever order is accepted, it means what the table's order means.
#[test]
fn accepted_orders_come_back_to_that_of_the_table() {
    let mut count = 0;
    for form in forms::all() {
        for filled in fillings(form, 2) {
            let inst = instance(form, &filled, false, 0);
            assert_eq!(*ordered(&inst), *inst.modifiers, "{inst}");
            let accepted = disordered(form, &filled).into_iter().filter(|other| forms::check(other).is_ok());
            for other in accepted {
                assert_eq!(*ordered(&other), *inst.modifiers, "{other} for {inst}");
                count += 1;
            }
        }
    }
    assert!(count > 2000, "{count}");
}

/// As CuTe, DeepGEMM and CUB write them, and what the assembler refuses too.
#[test]
fn orders_of_public_code_are_accepted() {
    for (text, first) in [
        (
            "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        ),
        (
            "stmatrix.sync.aligned.trans.x2.m8n8.shared.b16 [%r5], {%r1, %r2};",
            "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
        ),
        ("vote.ballot.sync.b32 %r1, %p1, -1;", "vote.sync.ballot.b32"),
        ("fma.f16x2.relu.rn %r1, %r2, %r3, %r4;", "fma.rn.relu.f16x2"),
    ] {
        let inst = parsed(text);
        forms::check(&inst).unwrap_or_else(|error| panic!("{error}"));
        let name: String = ordered(&inst).iter().map(|modifier| format!(".{modifier}")).collect();
        assert_eq!(format!("{}{name}", inst.opcode), first);
    }
    for text in [
        "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};",
        "cp.cg.async.shared.global [%r1], [%rd1], 16;",
        "cp.async.cg.global.shared [%r1], [%rd1], 16;",
        "mul.u32.lo %r1, %r2, %r3;",
    ] {
        assert!(forms::check(&parsed(text)).is_err(), "{text}");
    }
}
