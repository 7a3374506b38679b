//! Reordering of instructions to the order of their uses, so that fewer registers are live at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::forms::accessed;
use crate::notes::{Claim, Notes};
use crate::pressure::computes;
use crate::{Item, Module, Name, Statement};

/// A run of instructions that only compute, of which each register is written once.
#[derive(Default)]
struct Run<'k> {
    /// The instruction that writes a register.
    writers: HashMap<&'k Name, usize>,
    read: BTreeSet<&'k Name>,
    /// The statement of each instruction, and the instructions that come before it in any order.
    statements: Vec<usize>,
    needs: Vec<Vec<usize>>,
    needed: BTreeSet<usize>,
}

impl<'k> Run<'k> {
    fn has(&self, register: &Name) -> bool {
        self.writers.contains_key(register) || self.read.contains(register)
    }

    fn add(&mut self, statement: usize, written: Vec<&'k Name>, read: Vec<&'k Name>) {
        let mut needs: Vec<usize> = read.iter().filter_map(|name| self.writers.get(name).copied()).collect();
        // The value that has been computed last is at the end of the longest chain, and comes first.
        needs.sort_unstable_by(|a, b| b.cmp(a));
        self.needed.extend(&needs);
        self.read.extend(read);
        self.writers.extend(written.into_iter().map(|name| (name, self.statements.len())));
        self.statements.push(statement);
        self.needs.push(needs);
    }

    /// The statements, each right before the first one that needs it.
    fn on_demand(self, order: &mut Vec<usize>) {
        let mut done = vec![false; self.statements.len()];
        for last in (0..self.statements.len()).filter(|at| !self.needed.contains(at)) {
            let mut open = vec![(last, 0)];
            while let Some((at, next)) = open.last_mut() {
                match self.needs[*at].get(*next) {
                    Some(&need) => {
                        *next += 1;
                        if !std::mem::replace(&mut done[need], true) {
                            open.push((need, 0));
                        }
                    }
                    None => {
                        order.push(self.statements[*at]);
                        open.pop();
                    }
                }
            }
        }
    }
}

/// The order of a kernel's statements, of which some lines have claims about registers.
fn on_demand(body: &[Statement], claims: &BTreeMap<usize, Vec<&Name>>) -> Vec<usize> {
    let (mut order, mut run) = (Vec::new(), Run::default());
    for (at, statement) in body.iter().enumerate() {
        let Statement::Inst(inst) = statement else {
            std::mem::take(&mut run).on_demand(&mut order);
            order.push(at);
            continue;
        };
        if !computes(inst) {
            std::mem::take(&mut run).on_demand(&mut order);
            order.push(at);
            continue;
        }
        let (written, mut read) = accessed(inst);
        let claimed = claims.get(&at).into_iter().flatten();
        read.extend(claimed.filter(|name| !written.contains(name)));
        if written.iter().any(|name| run.has(name) || read.contains(name)) {
            std::mem::take(&mut run).on_demand(&mut order);
        }
        run.add(at, written, read);
    }
    run.on_demand(&mut order);
    order
}

impl Module {
    /// The module in which those instructions of a kernel that only compute come right before what needs them, as far as they are not between
    /// others: fewer registers are live at once than where functions are computed of many elements one after the other.
    ///
    /// # Examples
    /// ```
    /// let text = ".version 8.0 .target sm_80 .address_size 64
    ///     .visible .entry k() {
    ///       .reg .b32 %r<9>;
    ///       mov.u32 %r0, %tid.x;
    ///       add.s32 %r1, %r0, 1; add.s32 %r2, %r0, 2; add.s32 %r3, %r0, 3; add.s32 %r4, %r0, 4;
    ///       mul.lo.s32 %r5, %r1, %r2; mul.lo.s32 %r6, %r3, %r4;
    ///       add.s32 %r7, %r5, %r6;
    ///       st.shared.u32 [%r0], %r7;
    ///       ret;
    ///     }";
    /// let module = girih_ptx::Module::parse(text)?;
    /// let other = module.clone().on_demand("k");
    /// let written = |module: &girih_ptx::Module| module.pressure("k").map(|pressure| pressure.written);
    /// assert_eq!((written(&module), written(&other)), (Some(5), Some(4)));
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn on_demand(mut self, kernel: &str) -> Module {
        let (text, lines) = self.text_with_lines(kernel);
        let notes = std::mem::take(&mut self.notes);
        let is_it = |item: &&mut Item| matches!(item, Item::Kernel(found) if *found.name == *kernel);
        let Some(Item::Kernel(found)) = self.items.iter_mut().find(is_it) else {
            return Module { notes, ..self };
        };
        let statement = |line: u32| lines.binary_search(&line).ok().and_then(|at| at.checked_sub(1));
        let mut claims: BTreeMap<usize, Vec<&Name>> = BTreeMap::new();
        for claim in notes.claims() {
            if let Some(at) = statement(claim.line) {
                claims.entry(at).or_default().push(&claim.register);
            }
        }
        let order = on_demand(&found.body, &claims);
        let mut from: Vec<Option<Statement>> =
            std::mem::take(&mut found.body).into_iter().map(Some).collect();
        found.body = order.iter().filter_map(|&at| from[at].take()).collect();
        if !notes.are_of(&text) {
            return self;
        }
        let (text, new_lines) = self.text_with_lines(kernel);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &at)| places[at] = to);
        let moved = |line: u32| statement(line).map_or(line, |at| new_lines[places[at] + 1]);
        let claim = |claim: &Claim| Claim { line: moved(claim.line), ..claim.clone() };
        let (sites, launches) = (notes.sites(), notes.launches());
        let sites = sites.iter().map(|(line, site)| (moved(*line), site.clone())).collect();
        self.notes = Notes::new(&text, notes.claims().iter().map(claim).collect(), sites)
            .with_launches(launches.to_vec())
            .with_undefined(notes.undefined().iter().map(|&line| moved(line)).collect());
        self
    }
}
