//! Instructions for debugging on a GPU: traps where claims are false, and the lines of the program.

#![expect(clippy::unwrap_used, reason = "tests")]

use girih_codegen::{Builder, Cond, Expr};
use girih_ptx::{Fact, Module, Site, Type};
use girih_sim::{Error, Memory};
use girih_tensor::Space;
use proptest::prelude::*;

use crate::simulator::{addresses, block, checked, upload};

/// Runs `k(x)` by one thread, with the number `x` in memory.
fn run(module: &Module, x: u64) -> Result<(), Error> {
    let memory = Memory::new();
    let at = upload(&memory, &x.to_le_bytes());
    checked(module, &memory, &block(1, 0, addresses(&[at]))).map(drop)
}

/// A kernel that claims a range of the number at `x`.
fn claiming(ty: Type, (lower, upper, multiple): (i64, i64, i64), traps: bool) -> Module {
    let mut b = Builder::new("k", 80, 1);
    let pointer = b.pointer("x", 8);
    if traps {
        b.trap_false_claims();
    }
    let reg = b.reg(ty);
    b.load(Space::Gmem, std::slice::from_ref(&reg), &pointer, &Cond::Always).unwrap();
    b.var(&reg, lower, upper, multiple);
    b.finish().unwrap().into_module()
}

fn numbers() -> impl Strategy<Value = i64> {
    let edges =
        [i64::MIN, i64::MIN + 1, i64::MAX, i32::MIN.into(), i32::MAX.into(), u32::MAX.into(), 1 << 32, 0, -1];
    prop_oneof![
        -20..20i64,
        any::<i64>(),
        any::<i32>().prop_map(i64::from),
        proptest::sample::select(edges.to_vec())
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// A module that is parsed from its text traps exactly where the claim is false; with its notes, the simulator reports the claim first.
    #[test]
    fn false_claims_trap((a, b) in (numbers(), numbers()), multiple in 1..9i64, x in numbers(), wide: bool) {
        let (lower, upper) = (a.min(b), a.max(b));
        let (ty, bits) = if wide { (Type::S64, 64) } else { (Type::U32, 32) };
        let site = Site { file: "".into(), line: 1, column: 1 };
        let holds = Fact { lower, upper, multiple, site }.holds(bits, x as u64);
        let module = claiming(ty, (lower, upper, multiple), true);
        let text = Module::parse(&module.to_string()).unwrap();
        let found = run(&text, x as u64);
        prop_assert_eq!(holds, found.is_ok(), "{:?} of {}..={} by {}\n{}", found, lower, upper, multiple, text);
        prop_assert!(holds || matches!(found, Err(Error::Trap { .. })), "{found:?}");
        let noted = run(&module, x as u64);
        prop_assert!(holds || matches!(noted, Err(Error::FalseClaim { .. })), "{noted:?}");
        prop_assert!(!claiming(ty, (lower, upper, multiple), false).to_string().contains("trap"));
    }
}

/// In a module that is parsed from its text, without notes, a finding still has the line of this file.
#[test]
fn lines_are_those_of_the_program() {
    let kernel = |lines: bool| {
        let mut b = Builder::new("k", 80, 1);
        if lines {
            b.write_lines();
        }
        let pointer = b.pointer("x", 8);
        let line = line!() + 3;
        b.for_range(&Expr::from(3), |b, i| {
            let reg = b.reg(Type::B64);
            b.load(Space::Gmem, &[reg], &(&pointer + &(i * 8)), &Cond::Always)
        })
        .unwrap();
        (Module::parse(&b.finish().unwrap().module().to_string()).unwrap(), line)
    };
    let (module, line) = kernel(true);
    let error = run(&module, 0).unwrap_err().to_string();
    assert!(error.contains(&format!("debugging.rs:{line} ")), "{error}");
    let found = run(&kernel(false).0, 0).unwrap_err().to_string();
    assert!(!found.contains("debugging.rs"), "{found}");
    // Without the added directives the text is the same.
    let plain = |module: &Module| {
        let text = module.to_string();
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with(".loc") && !line.starts_with(".file"));
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(plain(&module), plain(&kernel(false).0));
}
