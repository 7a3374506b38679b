//! The virtual registers of a kernel, by name and by number.

use std::collections::HashMap;

use crate::{Name, Statement, Type};

/// The virtual registers of a kernel by name.
#[derive(Default)]
pub(super) struct Registers<'k> {
    types: HashMap<&'k str, Type>,
    ranges: Vec<(&'k str, Type)>,
    numbers: HashMap<&'k Name, usize>,
    pub(super) halves: Vec<u32>,
}

impl<'k> Registers<'k> {
    pub(super) fn declare(&mut self, body: &'k [Statement]) {
        for statement in body {
            match statement {
                Statement::Reg(declared) => {
                    for (name, count) in &declared.names {
                        match count {
                            Some(_) => self.ranges.push((name, declared.ty)),
                            None => _ = self.types.insert(name, declared.ty),
                        }
                    }
                }
                Statement::Block(body) => self.declare(body),
                _ => {}
            }
        }
    }

    /// The number of a register; none for another name.
    pub(super) fn number(&mut self, name: &'k Name) -> Option<usize> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let range = || self.ranges.iter().find(|(range, _)| *range == prefix).map(|(_, ty)| *ty);
        let ty = self.types.get(&**name).copied().or_else(range)?;
        self.halves.push(ty.bits().map_or(0, |bits| bits.div_ceil(16)));
        self.numbers.insert(name, self.halves.len() - 1);
        Some(self.halves.len() - 1)
    }
}
