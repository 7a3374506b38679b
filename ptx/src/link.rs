//! Links several modules to one.

use std::collections::HashMap;

use crate::ast::{Item, Module, Name};
use crate::notes::{Claim, Notes, Site};
use crate::{Error, Target};

impl Module {
    /// The module with all kernels, functions and variables of these modules, in order. A declaration that several modules share, such as the dynamic
    /// shared memory, is kept once. The kernels keep their notes. The target is the newest one.
    ///
    /// # Errors
    /// [`Error::Link`] for two different items of one name, modules that name source files (`.file`), no module at all, and a target
    /// with a suffix, such as sm_90a, linked with a newer one.
    ///
    /// # Examples
    /// ```
    /// use girih_ptx::Module;
    ///
    /// let kernel = |name: &str| {
    ///     Module::parse(&format!(
    ///         ".version 8.0 .target sm_80 .address_size 64
    ///          .extern .shared .align 16 .b8 smem[];
    ///          .visible .entry {name}() {{ .reg .b32 %r; mov.u32 %r, smem; ret; }}"
    ///     ))
    /// };
    /// let both = Module::link(&[kernel("first")?, kernel("second")?])?;
    /// both.verify()?;
    /// assert_eq!(both.kernels().len(), 2);
    /// assert_eq!(both.to_string().matches(".extern").count(), 1);
    /// assert!(Module::link(&[kernel("first")?, kernel("first")?]).is_err());
    /// # Ok::<(), girih_ptx::Error>(())
    /// ```
    pub fn link(modules: &[Module]) -> Result<Module, Error> {
        let Some(first) = modules.first() else {
            return Err(refused("no modules", "at least one module"));
        };
        let version = modules.iter().map(|module| module.version).max().unwrap_or(first.version);
        let mut linked =
            Module { version, target: target(modules)?, items: Vec::new(), notes: Notes::default() };
        let mut known: HashMap<Name, Item> = HashMap::new();
        for item in modules.iter().flat_map(|module| &module.items) {
            let Some(name) = name(item) else {
                return Err(refused("a module with source files", "modules without `.file`"));
            };
            match known.get(name) {
                None => {
                    known.insert(name.clone(), item.clone());
                    linked.items.push(item.clone());
                }
                // A kernel or a function with a body would be defined twice, even if both definitions are equal.
                Some(other) if is_declaration(item) && alone(item) == alone(other) => {}
                Some(_) => {
                    return Err(refused(
                        format!("`{name}` twice"),
                        "a name for each item, but for equal variables",
                    ));
                }
            }
        }
        linked.notes = notes(modules, &linked);
        Ok(linked)
    }
}

fn refused(what: impl Into<String>, accepted: &'static str) -> Error {
    Error::Link { what: what.into(), accepted }
}

fn name(item: &Item) -> Option<&Name> {
    match item {
        Item::Kernel(kernel) => Some(&kernel.name),
        Item::Function(function) => Some(&function.name),
        Item::Variable(variable) => Some(&variable.name),
        Item::File(_) => None,
    }
}

fn is_declaration(item: &Item) -> bool {
    match item {
        Item::Variable(_) => true,
        Item::Function(function) => function.body.is_none(),
        Item::Kernel(_) | Item::File(_) => false,
    }
}

/// The text of a module with this item alone, independent of its original position.
fn alone(item: &Item) -> String {
    let target = Target { sm: 80, suffix: None };
    Module { version: (8, 0), target, items: vec![item.clone()], notes: Notes::default() }.to_string()
}

fn target(modules: &[Module]) -> Result<Target, Error> {
    let newest =
        modules.iter().map(|module| module.target).max_by_key(|target| (target.sm, target.suffix.is_some()));
    let newest = newest.ok_or_else(|| refused("no modules", "at least one module"))?;
    match modules
        .iter()
        .map(|module| module.target)
        .find(|target| target.suffix.is_some() && *target != newest)
    {
        Some(own) => {
            Err(refused(format!("{own} beside {newest}"), "one architecture, where a target has a suffix"))
        }
        None => Ok(newest),
    }
}

/// The notes of the modules' kernels, about the lines that the kernels have in the linked module.
fn notes(modules: &[Module], linked: &Module) -> Notes {
    let text = linked.to_string();
    let (mut claims, mut sites, mut launches, mut undefined) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for module in modules {
        let own = module.to_string();
        if !module.notes.are_of(&own) {
            continue;
        }
        for kernel in module
            .items
            .iter()
            .filter_map(|item| if let Item::Kernel(kernel) = item { Some(kernel) } else { None })
        {
            let lines = lines_of(&own, &kernel.name);
            let to = lines_of(&text, &kernel.name).start;
            let moved = |line: u32| lines.contains(&line).then(|| line - lines.start + to);
            let claim = |claim: &Claim| Some(Claim { line: moved(claim.line)?, ..claim.clone() });
            claims.extend(module.notes.claims().iter().filter_map(claim));
            let site = |(line, site): &(u32, Site)| Some((moved(*line)?, site.clone()));
            sites.extend(module.notes.sites().iter().filter_map(site));
            undefined.extend(module.notes.undefined().iter().filter_map(|&line| moved(line)));
            launches.extend(module.notes.launch(&kernel.name).cloned());
        }
    }
    Notes::new(&text, claims, sites).with_launches(launches).with_undefined(undefined)
}

/// The lines of a printed kernel, counted from 1: from the one that names it to the brace that ends it.
fn lines_of(text: &str, kernel: &Name) -> std::ops::Range<u32> {
    let head = format!(".entry {kernel}(");
    let start = text.lines().position(|line| line.contains(&head)).unwrap_or(0);
    let length = text.lines().skip(start).position(|line| line == "}").unwrap_or(0);
    start as u32 + 1..(start + length) as u32 + 2
}
