//! Instructions of a kernel, by what they do.

use std::collections::BTreeMap;
use std::fmt;

use girih_ptx::{Item, Module, Statement};

/// How many instructions of each kind a kernel's text has.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// By the opcode, with the space of accesses to memory.
    pub by_kind: BTreeMap<String, u64>,
}

impl Counts {
    /// Those of a module's kernels.
    pub fn of(module: &Module) -> Counts {
        let mut counts = Counts::default();
        for item in &module.items {
            if let Item::Kernel(kernel) = item {
                counts.add(&kernel.body);
            }
        }
        counts
    }

    fn add(&mut self, body: &[Statement]) {
        for statement in body {
            match statement {
                Statement::Block(body) => self.add(body),
                Statement::Inst(inst) => {
                    let mut kind = inst.opcode.text().to_string();
                    if matches!(kind.as_str(), "ld" | "st" | "red" | "atom")
                        && let Some(space) = inst.modifiers.first()
                    {
                        kind.push_str(&format!(".{space}"));
                    }
                    *self.by_kind.entry(kind).or_default() += 1;
                }
                _ => {}
            }
        }
    }

    /// All instructions.
    pub fn all(&self) -> u64 {
        self.by_kind.values().sum()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds: Vec<(&String, &u64)> = self.by_kind.iter().collect();
        kinds.sort_by_key(|&(kind, &n)| (std::cmp::Reverse(n), kind));
        write!(f, "{}", self.all())?;
        for (i, (kind, n)) in kinds.into_iter().enumerate() {
            write!(f, "{}{n} {kind}", if i == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}
