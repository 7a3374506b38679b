//! The table of forms against the assembler: every form assembles with what it says it needs, and not with less.
//!
//! Runs where `GIRIH_PTXAS` names a `ptxas`; says SKIPPED elsewhere.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod instances;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use girih_ptx::Target;
use girih_ptx::forms::{self, Needs};
use instances::{DECLARATIONS, fillings, instance, needs};

fn ptxas() -> Option<PathBuf> {
    let path = std::env::var_os("GIRIH_PTXAS").map(PathBuf::from);
    if path.is_none() {
        eprintln!("SKIPPED: GIRIH_PTXAS doesn't name a ptxas");
    }
    path
}

/// Assembles one instruction a line; the errors by line of `lines`.
fn assemble(ptxas: &PathBuf, needs: (u8, u8), target: Target, lines: &[String]) -> BTreeMap<usize, String> {
    let header = format!(
        ".version {}.{}\n.target {target}\n.address_size 64\n.entry k(.param .b64 parameter[8])\n{{\n{}\n",
        needs.0,
        needs.1,
        if needs < (8, 3) { DECLARATIONS.replace(".reg .b128 %q<64>;", "") } else { DECLARATIONS.into() }
    );
    let text = format!("{header}{}\nEND:\nret;\n}}\n", lines.join("\n"));
    let folder = std::env::temp_dir().join(format!("girih-ptx-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{target}-{}{}-{:p}.ptx", needs.0, needs.1, lines));
    std::fs::write(&path, &text).unwrap();
    let output = Command::new(ptxas)
        .args(["-O0", "--compile-only", "-arch", &target.to_string(), "-o", "/dev/null"])
        .arg(&path)
        .output()
        .unwrap();
    let first = header.lines().count();
    let mut errors = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|line| line.contains("error") || line.contains("fatal"))
    {
        let number =
            line.split("line ").nth(1).and_then(|rest| rest.split(';').next()?.parse::<usize>().ok());
        let number = number.map_or(usize::MAX, |number| number.wrapping_sub(first + 1));
        errors.entry(number).or_insert_with(|| line.to_string());
    }
    errors
}

#[test]
fn every_form_assembles_with_what_it_needs() {
    let Some(ptxas) = ptxas() else { return };
    let mut batches: BTreeMap<(u32, bool, (u8, u8)), Vec<String>> = BTreeMap::new();
    for form in forms::all() {
        for (i, filled) in fillings(form, 200).into_iter().enumerate() {
            let Needs { version, sm, specific } = needs(form, &filled);
            // The oldest that this ptxas assembles for.
            let (sm, version) = (sm.max(75), version.max((6, 3)));
            for optional in [false, true] {
                let line = format!("{};", instance(form, &filled, optional, i));
                let batch = batches.entry((sm, specific, version)).or_default();
                if batch.last() != Some(&line) {
                    batch.push(line);
                }
            }
        }
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for ((sm, specific, version), lines) in batches {
        let target = Target { sm, suffix: specific.then_some('a') };
        count += lines.len();
        for (line, error) in assemble(&ptxas, version, target, &lines) {
            wrong.push(format!("{target} {version:?} {}: {error}", lines.get(line).map_or("", |line| line)));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
