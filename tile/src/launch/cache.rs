//! Kernels that have been built, in memory.

use std::any::TypeId;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use girih_device::{Device, Kernel, Kind as DeviceKind, Optimization};

use super::Launch;
use crate::compile::{Compiled, compile};
use crate::error::{Error, LaunchError, Result};
use crate::facts::{ArrayFacts, Facts, GridAxis, Report, Uses, check, infer};
use crate::hints::{HintSet, Hints};
use crate::ir::{Func, Known};
use crate::lower::Target;

/// The identity of a program: the type of the kernel's own struct, and the kernel's build-time values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramKey {
    pub(super) kernel: TypeId,
    pub(super) constants: Box<[u64]>,
}

/// The key of a kernel of a program: the facts that the program requests of its arguments, hints that replace its own, and the target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spec {
    pub(super) facts: Facts,
    pub(super) hints: HintSet,
    pub(super) target: Target,
}

/// A program of which nothing is known but what it says itself, and its kernels.
pub(super) struct Program {
    pub(super) func: Func,
    pub(super) uses: Uses,
    pub(super) grid: Result<[Option<GridAxis>; 3], String>,
    ready: RwLock<HashMap<Spec, Arc<Ready>>>,
}

/// A kernel that is ready to be launched.
pub(super) struct Ready {
    /// The program as it was written, with what is known of its arguments.
    pub(super) func: Func,
    pub(super) report: Report,
    pub(super) grid: Result<[Option<GridAxis>; 3], String>,
    pub(super) compiled: Compiled,
    /// The hints of the target.
    pub(super) hints: HintSet,
    /// On each GPU that it was launched on.
    loaded: Mutex<Vec<Kernel>>,
}

type Programs = RwLock<HashMap<ProgramKey, Arc<Program>>>;

fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(RwLock::default)
}

fn found<K: Hash + Eq, V>(map: &RwLock<HashMap<K, Arc<V>>>, key: &K) -> Option<Arc<V>> {
    map.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

fn kept<K: Hash + Eq, V>(map: &RwLock<HashMap<K, Arc<V>>>, key: K, made: V) -> Arc<V> {
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    map.entry(key).or_insert_with(|| Arc::new(made)).clone()
}

impl Launch<'_> {
    /// The launch's program. It is written, and compared with what was written before, so that a program that depends on what is no argument
    /// is found out.
    pub(super) fn program(&self) -> Result<Arc<Program>> {
        let key = ProgramKey { kernel: self.kernel, constants: self.constants.0.as_ref().into() };
        let known = found(programs(), &key);
        if let Some(program) = known.clone().filter(|program| self.check_arguments(&program.func).is_err()) {
            return Ok(program);
        }
        let arrays = self.arrays.iter().map(|of| ArrayFacts {
            extents: vec![Known::MultipleOf(1); of.array.extents().len()],
            strides: vec![Known::MultipleOf(1); of.array.strides().len()],
            align: of.array.dtype().bits().div_ceil(8),
        });
        let unknown =
            Facts { arrays: arrays.collect(), scalars: vec![Known::MultipleOf(1); self.scalars.len()] };
        let func = (self.source)(&unknown)?;
        let written = known.is_none().then(|| (self.source)(&unknown)).transpose()?;
        let before = known.as_ref().map(|program| &program.func).or(written.as_ref());
        if let Some(before) = before.filter(|before| **before != func) {
            let what = before.difference(&func).map(|what| what.told(before, &func));
            let what = what.unwrap_or_else(|| "other parameters or hints".into());
            return Err(LaunchError::HostState { kernel: self.name.into(), what }.into());
        }
        if let Some(program) = known {
            return Ok(program);
        }
        let (uses, grid) = (Uses::of(&func), infer(&func));
        Ok(kept(programs(), key, Program { func, uses, grid, ready: RwLock::default() }))
    }
}

impl Program {
    /// The program with facts and hints.
    fn specialised(&self, spec: &Spec) -> Func {
        let mut func = self.func.with_facts(&spec.facts);
        func.hints = Hints { all: spec.hints, ..Hints::default() }.over(&func.hints);
        func
    }

    /// The kernel of the program for these facts and hints, built if it is new.
    pub(super) fn ready(&self, spec: Spec) -> Result<Arc<Ready>> {
        if let Some(ready) = found(&self.ready, &spec) {
            return Ok(ready);
        }
        let func = self.specialised(&spec);
        let report = check(&func).map_err(Error::Build)?;
        let compiled = compile(&func, spec.target)?;
        let (grid, hints) = (self.grid.clone(), func.hints.resolve(spec.target.sm));
        let ready = Ready { func, report, grid, compiled, hints, loaded: Mutex::default() };
        Ok(kept(&self.ready, spec, ready))
    }
}

/// How many kernels have been built.
pub(super) fn built() -> usize {
    let programs = programs().read().unwrap_or_else(PoisonError::into_inner);
    let kernels = |program: &Arc<Program>| program.ready.read().unwrap_or_else(PoisonError::into_inner).len();
    programs.values().map(kernels).sum()
}

impl Ready {
    /// The kernel in a stream of a device. A GPU's module stays loaded; a simulator's is kept by its launches alone.
    pub(super) fn kernel(&self, device: &Device) -> Result<Kernel> {
        let module = &self.compiled.kernel;
        let optimization =
            if self.hints.opt_level == Some(0) { Optimization::None } else { Optimization::Full };
        let load = || Ok(device.load_with(module, optimization)?.kernel(module.name())?);
        if device.kind() == DeviceKind::Sim {
            return load();
        }
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = loaded.iter().find(|kernel| kernel.device().is_same(device)) {
            return Ok(kernel.on(device)?);
        }
        let kernel = load()?;
        loaded.push(kernel.clone());
        Ok(kernel)
    }
}
