//! Begins and ends the decoding of a kernel.

use std::collections::{HashMap, VecDeque};

use girih_ptx::{self as ptx, Directive};

use super::module::Surroundings;
use super::origin::Lines;
use super::provenance::Step;
use super::scope::{Named, Scope, Scopes, SharedLayout};
use super::{Decoder, align_up, defined, idioms, polls, provenance};
use crate::op::{Flow, Guard, Op};
use crate::program::{Code, Kernel, Param};
use crate::{Error, Place};

/// Bytes of static shared memory that a kernel can have.
const STATIC_LIMIT: u32 = 48 << 10;

impl<'a> Decoder<'a> {
    pub(super) fn kernel(kernel: &'a ptx::Kernel, module: Surroundings<'a>) -> Result<Kernel, Error> {
        let Surroundings { variables, functions, code_names, globals, files, notes } = module;
        let claims = notes.claims();
        let mut decoder = Decoder {
            kernel,
            variables,
            functions,
            code_names,
            outlined: Vec::new(),
            frame: None,
            calls: Vec::new(),
            module_shared: Vec::new(),
            globals,
            files,
            notes,
            claims: &claims[claims.partition_point(|claim| claim.line < kernel.span.line)..],
            lines: Lines::default(),
            scopes: Scopes::default(),
            named: globals.named(variables),
            code: Code { granule: 4, ..Code::default() },
            shared: SharedLayout::default(),
            local: 0,
            static_addresses: VecDeque::new(),
            constants: HashMap::new(),
            specials: HashMap::new(),
            shared_addresses: HashMap::new(),
            carry: None,
            labels: Vec::new(),
            tables: HashMap::new(),
            place: Place {
                kernel: kernel.name.clone(),
                line: kernel.span.line,
                instruction: kernel.name.clone(),
                origin: None,
            },
            guard: Guard::Always,
            takes_special: false,
            flow: Flow::Any,
            step: Step::Numbers,
            mentioned: Vec::new(),
            steps: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        decoder.scopes.enter(Scope::default());
        let params = decoder.params()?;
        // The static part must have its size before the dynamic part, which follows it, can have an address.
        decoder.place_static(&kernel.body, 0)?;
        if decoder.shared.static_bytes() > STATIC_LIMIT {
            return Err(decoder.unsupported("over 48 KiB of static shared memory; dynamic may be 227 KiB"));
        }
        decoder.shared.start_dynamic(&kernel.body, variables);
        decoder.name_dynamic();
        decoder.enlist();
        decoder.outline()?;
        decoder.code.entry = decoder.code.insts.len() as u32;
        decoder.block(&kernel.body, 0)?;
        decoder.finish(params)
    }

    fn params(&mut self) -> Result<Vec<Param>, Error> {
        let mut params: Vec<Param> = Vec::new();
        let mut offset = 0;
        for variable in &self.kernel.params {
            self.at_variable(variable);
            let (bytes, align) = self.extent(variable)?;
            offset = align_up(offset, align).ok_or_else(|| self.too_large())?;
            let at = offset;
            offset = offset.checked_add(bytes).filter(|&end| end <= 32764).ok_or_else(|| self.too_large())?;
            self.scopes.declare(variable.name.clone(), Named::Param(at));
            let declaration = variable.to_string().trim_start_matches(".param ").into();
            params.push(Param { name: variable.name.clone(), bytes, offset: at, declaration });
        }
        Ok(params)
    }

    fn finish(mut self, params: Vec<Param>) -> Result<Kernel, Error> {
        // Falling off the end of the body ends the thread.
        self.place.instruction = "}".into();
        self.emit(Op::Exit);
        self.flush();
        for inst in &mut self.code.insts {
            let branches = match &mut inst.op {
                Op::Branch(label) => std::slice::from_mut(label),
                Op::BranchTable(_, labels) => &mut labels[..],
                _ => &mut [],
            };
            for label in branches {
                let target = self.labels.get(*label as usize).copied().flatten();
                *label = target.ok_or_else(|| Error::Undeclared {
                    place: Box::new(self.place.clone()),
                    name: format!("label {label}"),
                    expected: "label",
                })?;
            }
        }
        for function in &mut self.code.functions {
            function.entry = self.labels.get(function.entry as usize).copied().flatten().unwrap_or_default();
        }
        let local = self.with_stack().and_then(|bytes| u32::try_from(bytes).ok());
        let local = local.ok_or_else(|| self.too_large())?;
        defined::mark(&mut self.code);
        provenance::mark(&mut self.code, &self.steps);
        polls::mark(&mut self.code);
        idioms::mark(&mut self.code);
        let dim = |wanted: fn(&Directive) -> Option<[u32; 3]>| self.kernel.directives.iter().find_map(wanted);
        let max_threads = dim(|d| if let Directive::MaxNtid(n) = d { Some(*n) } else { None });
        let required_threads = dim(|d| if let Directive::ReqNtid(n) = d { Some(*n) } else { None });
        let required_cluster = dim(|d| if let Directive::ReqNctaPerCluster(n) = d { Some(*n) } else { None });
        let max_cluster = (self.kernel.directives.iter())
            .find_map(|d| if let Directive::MaxClusterRank(n) = d { Some(*n) } else { None });
        let explicit_cluster =
            required_cluster.is_some() || self.kernel.directives.contains(&Directive::ExplicitCluster);
        Ok(Kernel {
            name: self.kernel.name.clone(),
            params,
            static_shared: self.shared.static_bytes(),
            dynamic_offset: self.shared.dynamic_offset(),
            local,
            max_threads,
            required_threads,
            required_cluster,
            max_cluster,
            explicit_cluster,
            registers: registers(&self.kernel.directives),
            code: self.code,
            named: self.named,
            variables: self.globals.allocations().to_vec(),
        })
    }
}

/// The registers of each thread at the launch, for `setmaxnreg`. The instruction has an effect only where directives
/// determine their number: `.maxnreg`, or `.minnctapersm` with a block size. For the latter, ptxas 13.0 gives a thread
/// as many registers as fit, rounded down to a multiple of 8: the register file has 65536, and its four parts hold the
/// same number of warps each.
fn registers(directives: &[Directive]) -> Option<u32> {
    let find = |wanted: fn(&Directive) -> Option<u32>| directives.iter().find_map(wanted);
    if let Some(most) = find(|d| if let Directive::MaxNreg(n) = d { Some(*n) } else { None }) {
        return Some(most.next_multiple_of(8).min(256));
    }
    let blocks = find(|d| if let Directive::MinNctaPerSm(n) = d { Some(*n) } else { None })?.max(1);
    let threads = find(|d| match d {
        Directive::MaxNtid([x, y, z]) | Directive::ReqNtid([x, y, z]) => {
            Some(x.saturating_mul(*y).saturating_mul(*z))
        }
        _ => None,
    })?;
    let warps = u64::from(threads.div_ceil(32)) * u64::from(blocks);
    let each = 65536 / (32 * warps.next_multiple_of(4).max(4));
    Some((each as u32 / 8 * 8).min(256))
}
