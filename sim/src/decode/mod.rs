//! Decoding: translates a kernel's statements to flat code, with numbered registers and resolved labels.

mod atomic;
mod bits;
mod bulk;
mod call;
mod carry;
mod claims;
mod cluster;
mod compare;
mod control;
mod convert;
mod defined;
mod float;
mod function;
mod idioms;
mod inst;
mod integer;
mod kernel;
mod map;
mod matrix;
mod mbarrier;
mod memory;
mod module;
mod operands;
mod origin;
mod polls;
mod provenance;
mod scope;
mod select;
mod shuffle;
mod tensor;
mod variable;
mod video;
mod wgmma;
mod wmma;
mod words;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use girih_ptx::{self as ptx, Extent, Special, Statement};

use crate::lanes::{File, Reg};
use crate::op::{Flow, Guard};
use crate::program::Code;
use crate::{Error, Place};
use call::Call;
use function::Outlined;
use origin::{Files, Lines};
use provenance::Step;
use scope::{Named, Scope, Scopes, SharedLayout, file};
use variable::Globals;

/// The deepest nesting of `{ }`.
const DEPTH: usize = 256;

/// The state of decoding one kernel.
struct Decoder<'a> {
    kernel: &'a ptx::Kernel,
    /// The variables of the module. Those in shared memory get an address only if the kernel uses them.
    variables: &'a [&'a ptx::Variable],
    functions: &'a [&'a ptx::Function],
    /// The names of all functions and kernels, whose addresses follow from their place in this list.
    code_names: &'a [&'a ptx::Name],
    /// The functions that are decoded once, with stack frames, and not in the place of each call.
    outlined: Vec<Outlined<'a>>,
    /// Bytes of the frame of the function that is being decoded, if it has one.
    frame: Option<u64>,
    /// The calls around the statement being decoded, the innermost last.
    calls: Vec<Call>,
    /// The module's shared variables that the kernel uses.
    module_shared: Vec<(Arc<str>, Named)>,
    /// The module's variables in global and constant memory.
    globals: &'a Globals,
    files: &'a Files,
    notes: &'a ptx::Notes,
    /// The claims of registers whose lines have not been decoded yet.
    claims: &'a [ptx::Claim],
    /// The source lines of the body being decoded.
    lines: Lines,
    scopes: Scopes,
    /// The variables, as messages name them.
    named: Vec<crate::program::Variable>,
    code: Code,
    shared: SharedLayout,
    local: u64,
    /// The addresses of the body's static shared variables whose declarations have not been decoded yet, in order.
    static_addresses: VecDeque<u64>,
    constants: HashMap<(File, u64), Reg>,
    specials: HashMap<(File, Special), Reg>,
    shared_addresses: HashMap<(File, u64), Reg>,
    /// The register of the carry flag, if an instruction uses the flag.
    carry: Option<Reg>,
    /// Where each label is in the code, by the number of the label.
    labels: Vec<Option<u32>>,
    /// The names that a `.branchtargets` or `.calltargets` lists, by the number of the label before it.
    tables: HashMap<u32, &'a [ptx::Name]>,
    /// The place, guard and registers of the instruction that is being decoded.
    place: Place,
    guard: Guard,
    takes_special: bool,
    flow: Flow,
    /// The address arithmetic of the instruction.
    step: Step,
    /// The numbers of the variables that the instruction mentions.
    mentioned: Vec<u32>,
    /// The step and the mentioned variables of all instructions decoded before.
    steps: Vec<(Step, Vec<u32>)>,
    reads: Vec<Reg>,
    writes: Vec<Reg>,
}

impl<'a> Decoder<'a> {
    /// Decodes the statements of a scope that has been entered.
    fn block(&mut self, body: &'a [Statement], depth: usize) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(self.unsupported("blocks nested more than 256 deep"));
        }
        for (i, statement) in body.iter().enumerate() {
            if let Statement::Label(name) = statement {
                if let Some(Statement::BranchTargets(names) | Statement::CallTargets(names)) = body.get(i + 1)
                {
                    self.tables.insert(self.labels.len() as u32, names);
                }
                self.scopes.declare(name.clone(), Named::Label(self.labels.len() as u32));
                self.labels.push(None);
            }
        }
        for statement in body {
            match statement {
                Statement::Reg(decl) => {
                    for (name, count) in &decl.names {
                        self.scopes.declare_registers(name.clone(), *count, decl.ty);
                    }
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Label(name) => {
                    if let Some(Named::Label(label)) = self.scopes.find(name) {
                        self.labels[label as usize] = Some(self.code.insts.len() as u32);
                    }
                }
                Statement::Inst(inst) => {
                    // Claims about the lines before the instruction, such as the line of a label, come before the
                    // instruction.
                    self.claimed(inst.span.line.saturating_sub(1))?;
                    self.inst(inst)?;
                    self.left_undefined(inst.span.line);
                    self.claimed(inst.span.line)?;
                }
                Statement::Block(body) => {
                    self.scopes.enter(Scope::default());
                    self.block(body, depth + 1)?;
                    self.scopes.leave();
                }
                // A call looks these statements up by the label before them.
                Statement::CallTargets(_) | Statement::CallPrototype(_) => {}
                Statement::Loc(loc) => self.place.origin = self.lines.origin(self.files, loc),
                Statement::BranchTargets(_) | Statement::Pragma(_) | Statement::Comment(_) => {}
            }
        }
        Ok(())
    }

    fn too_large(&self) -> Error {
        self.unsupported("variables of this size")
    }
}

fn align_up(value: u64, align: u64) -> Option<u64> {
    value.checked_next_multiple_of(align)
}

/// Bytes and alignment of a variable.
fn size(variable: &ptx::Variable) -> Option<(u64, u64)> {
    let element = u64::from(variable.ty.bytes()?);
    let count = match variable.extent {
        Extent::Scalar => 1,
        Extent::Array(n) => n,
        // An array without a size has as many elements as initial values.
        Extent::Unsized => variable.init.len() as u64,
    };
    let align = variable.align.map_or(element, u64::from);
    align.is_power_of_two().then_some((element.checked_mul(count)?, align))
}
