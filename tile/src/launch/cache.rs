//! Kernels that have been built, in memory.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use girih_device::{Device, Kernel, Kind as DeviceKind};

use crate::compile::{Compiled, compile};
use crate::error::Error;
use crate::facts::{Facts, GridAxis, Report, check, infer};
use crate::ir::{Func, Kind};

/// What tells kernels apart: the type of the kernel's own struct, its build-time values, what is known of its arguments, and the target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) kernel: TypeId,
    pub(super) constants: String,
    pub(super) facts: Facts,
    pub(super) sm: u32,
}

/// A kernel that is ready to be launched.
#[derive(Debug)]
pub(super) struct Ready {
    /// The program as it was written.
    pub(super) func: Func,
    pub(super) report: Report,
    pub(super) grid: Result<[Option<GridAxis>; 3], String>,
    pub(super) compiled: Compiled,
    /// On each GPU that it was launched on.
    loaded: Mutex<Vec<Kernel>>,
}

/// A key of [`Ready`] without the facts: a kernel, and its build-time values.
type Plain = (TypeId, String);

#[derive(Default)]
struct Cache {
    ready: HashMap<Key, Arc<Ready>>,
    tiles: HashMap<Plain, Arc<Vec<Vec<Vec<u32>>>>>,
}

fn cache() -> &'static RwLock<Cache> {
    static CACHE: OnceLock<RwLock<Cache>> = OnceLock::new();
    CACHE.get_or_init(RwLock::default)
}

/// The extents and steps of tiles by which a kernel accesses each array parameter, by axis.
pub(super) fn tiles(
    kernel: TypeId,
    constants: &str,
    build: &dyn Fn() -> Result<Func, Error>,
) -> Result<Arc<Vec<Vec<Vec<u32>>>>, Error> {
    let key = (kernel, constants.to_string());
    if let Some(found) = cache().read().unwrap_or_else(PoisonError::into_inner).tiles.get(&key) {
        return Ok(found.clone());
    }
    let func = build()?;
    let mut found: Vec<Vec<Vec<u32>>> = Vec::new();
    for array in func.arrays() {
        if let crate::ir::Array::Param(param) = array {
            found.push(vec![Vec::new(); param.extents.len()]);
        }
    }
    func.walk(func.body(), &mut |_, op| {
        let (Kind::Load(view) | Kind::Store(view)) = &op.kind else { return };
        let (array, _) = func.param_of(view.array);
        for (axis, list) in found[array.index()].iter_mut().enumerate() {
            for n in [view.tile[axis], view.steps[axis]] {
                if n > 1 && !list.contains(&n) {
                    list.push(n);
                }
            }
        }
    });
    let found = Arc::new(found);
    cache().write().unwrap_or_else(PoisonError::into_inner).tiles.insert(key, found.clone());
    Ok(found)
}

/// The kernel for a key, built if it is new.
pub(super) fn ready(key: &Key, build: &dyn Fn(&Facts) -> Result<Func, Error>) -> Result<Arc<Ready>, Error> {
    if let Some(found) = cache().read().unwrap_or_else(PoisonError::into_inner).ready.get(key) {
        return Ok(found.clone());
    }
    let func = build(&key.facts)?;
    let report = check(&func).map_err(Error::Build)?;
    let grid = infer(&func);
    let compiled = compile(&func, key.sm)?;
    let made = Arc::new(Ready { func, report, grid, compiled, loaded: Mutex::default() });
    let mut cache = cache().write().unwrap_or_else(PoisonError::into_inner);
    Ok(cache.ready.entry(key.clone()).or_insert(made).clone())
}

/// How many kernels have been built.
pub(super) fn built() -> usize {
    cache().read().unwrap_or_else(PoisonError::into_inner).ready.len()
}

impl Ready {
    /// The kernel in a stream of a device. A GPU's module stays loaded; a simulator's lives no longer than the simulator.
    pub(super) fn kernel(&self, device: &Device) -> Result<Kernel, Error> {
        let module = &self.compiled.kernel;
        if device.kind() == DeviceKind::Sim {
            return Ok(device.load(module)?.kernel(module.name())?);
        }
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = loaded.iter().find(|kernel| kernel.device().is_same(device)) {
            return Ok(kernel.on(device)?);
        }
        let kernel = device.load(module)?.kernel(module.name())?;
        loaded.push(kernel.clone());
        Ok(kernel)
    }
}
