//! The launches of a call: kernels with the arguments that all calls have in common, and the arguments of each call.

use std::sync::{Arc, Mutex, PoisonError};

use girih_codegen::{Slot, Value};
use girih_device::{Arg, Buffer, Kernel, Launch, LaunchConfig, Template, TensorMap};
use girih_ptx::Name;

use super::Need;
use crate::Error;
use crate::launch::run;

/// The arguments of a call.
pub(crate) type Given<'g, 'a> = &'g [(Slot<&'g str>, Arg<'a>)];

/// Memory, or a number, that a call gives by its name.
pub(crate) fn named<'g, 'a>(name: &'g str, value: impl Into<Arg<'a>>) -> (Slot<&'g str>, Arg<'a>) {
    (Slot::Memory(name), value.into())
}

/// A kernel with its arguments, but for those that each call gives.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    kernel: Kernel,
    config: LaunchConfig,
    values: Vec<Value>,
    /// The memory that is not what a call gives by its name, from the first byte on.
    places: Vec<Place>,
}

/// Where memory of a kernel is.
#[derive(Clone, Debug)]
struct Place {
    name: Name,
    /// The name by which a call gives it.
    given: Name,
    /// The memory, if no call gives it.
    own: Option<Arc<Buffer<u8>>>,
    /// Its first byte.
    first: usize,
}

impl Step {
    /// A launch of a kernel with `values` for its parameters.
    pub(crate) fn new(kernel: &Kernel, config: LaunchConfig, values: Vec<Value>) -> Step {
        Step { kernel: kernel.clone(), config, values, places: Vec::new() }
    }

    /// The same with memory that no call gives.
    pub(crate) fn with_own(mut self, name: &str, memory: Arc<Buffer<u8>>) -> Step {
        self.place(name).own = Some(memory);
        self
    }

    /// The same with memory that calls give by another name.
    pub(crate) fn renamed(mut self, name: &str, given: &str) -> Step {
        self.place(name).given = given.into();
        self
    }

    /// The same with memory from a byte on.
    pub(crate) fn behind(mut self, name: &str, first: usize) -> Step {
        self.place(name).first = first;
        self
    }

    fn place(&mut self, name: &str) -> &mut Place {
        let at = self.places.iter().position(|place| *place.name == *name).unwrap_or_else(|| {
            self.places.push(Place { name: name.into(), given: name.into(), own: None, first: 0 });
            self.places.len() - 1
        });
        &mut self.places[at]
    }

    /// The same, which may begin before the launch before it has ended.
    pub(crate) fn programmatic(self) -> Step {
        Step { config: self.config.programmatic(), ..self }
    }

    /// The launch's grid and block.
    pub(crate) fn config(&self) -> &LaunchConfig {
        &self.config
    }

    /// The place of memory, if it is not what a call gives by its name.
    fn placed(&self, slot: Slot<&str>) -> Option<&Place> {
        self.places.iter().find(|place| slot == Slot::Memory(&*place.name))
    }

    /// Memory that no call gives.
    fn own(&self, slot: Slot<&str>) -> Option<Arg<'_>> {
        let place = self.placed(slot)?;
        place.own.as_ref().map(|memory| behind(Arg::from(&**memory), place.first))
    }

    /// The parameters that each call gives, each with what is given and, of memory, the byte from which on.
    fn open(&self) -> impl Iterator<Item = (&Name, Slot<&str>, usize)> {
        let params = self.kernel.info().params.iter().zip(&self.values);
        params.filter_map(|(info, value)| match (value.slot()?, self.placed(value.slot()?)) {
            (_, Some(Place { own: Some(_), .. })) => None,
            (_, Some(place)) => Some((&info.name, Slot::Memory(&*place.given), place.first)),
            (slot, None) => Some((&info.name, slot, 0)),
        })
    }

    /// The arguments of a call for the open parameters, in order. Missing ones are skipped.
    fn given<'a>(&self, given: Given<'_, 'a>) -> impl Iterator<Item = (&Name, Arg<'a>)> {
        self.open().filter_map(move |(param, wanted, first)| {
            let (_, arg) = given.iter().find(|(slot, _)| *slot == wanted)?;
            Some((param, behind(*arg, first)))
        })
    }

    /// The launch, checked and encoded.
    fn launch(&self, given: Given<'_, '_>) -> Result<Launch, Error> {
        let given: Vec<_> = self.given(given).collect();
        let (mut args, mut maps) = (Vec::new(), Vec::new());
        for (info, value) in self.kernel.info().params.iter().zip(&self.values) {
            let memory = || {
                let given = given.iter().find(|(param, _)| **param == info.name).map(|(_, arg)| *arg);
                given.or_else(|| self.own(value.slot()?))
            };
            let arg = match value {
                Value::Map(_, tiled) => {
                    if let Some(Arg::Buffer(buffer)) = memory() {
                        maps.push((&*info.name, TensorMap::new(buffer, tiled)?));
                    }
                    None
                }
                Value::Slot(_) => memory(),
                Value::U32(number) => Some(Arg::U32(*number)),
                Value::U64(number) => Some(Arg::U64(*number)),
                Value::F32(number) => Some(Arg::F32(*number)),
            };
            args.extend(arg.map(|arg| (&*info.name, arg)));
        }
        args.extend(maps.iter().map(|(name, map)| (*name, Arg::from(map))));
        // A missing argument is an error.
        Ok(self.kernel.prepare(&self.config, &self.kernel.arguments(&args)?)?)
    }
}

/// The part of memory from a byte on.
fn behind(arg: Arg<'_>, first: usize) -> Arg<'_> {
    match arg {
        Arg::Buffer(buffer) => Arg::Buffer(buffer.from_byte(first)),
        number => number,
    }
}

/// The launches of a call, in their order.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    steps: Vec<Step>,
    /// Held over all launches of a call, which share memory that calls do not give.
    lock: Arc<Mutex<()>>,
    /// Counters, which each launch leaves as 0, unless it fails.
    counters: Vec<Arc<Buffer<u8>>>,
    /// The launches without what each call gives, once there has been a call.
    templates: Mutex<Vec<Template>>,
}

impl Launches {
    pub(crate) fn new(steps: Vec<Step>) -> Launches {
        Launches { steps, ..Launches::default() }
    }

    /// The same with a lock that other launches hold too, which share memory with these.
    pub(crate) fn with_lock(self, lock: Arc<Mutex<()>>) -> Launches {
        Launches { lock, ..self }
    }

    /// The same with counters that are to be 0 before each launch.
    pub(crate) fn with_counters(self, counters: Vec<Arc<Buffer<u8>>>) -> Launches {
        Launches { counters, ..self }
    }

    /// The same launches with memory that no call gives.
    pub(crate) fn with_own(&self, name: &str, memory: &Arc<Buffer<u8>>) -> Launches {
        let steps = self.steps.iter().map(|step| step.clone().with_own(name, memory.clone()));
        Launches::new(steps.collect()).with_lock(self.lock.clone()).with_counters(self.counters.clone())
    }

    /// The launches.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Launches with what a call gives, which has been checked.
    pub(crate) fn call(&self, given: Given<'_, '_>) -> Result<(), Error> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if templates.is_empty() {
            let open = |step: &Step| {
                let names: Vec<&str> = step.open().map(|(name, ..)| &**name).collect();
                Ok::<_, Error>(step.launch(given)?.open(&names)?)
            };
            *templates = self.steps.iter().map(open).collect::<Result<_, _>>()?;
        }
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut launched = Ok(());
        for (template, step) in templates.iter_mut().zip(&self.steps) {
            let args: Vec<Arg<'_>> = step.given(given).map(|(_, arg)| arg).collect();
            launched = run(template, &args);
            if launched.is_err() {
                break;
            }
        }
        drop(held);
        done(launched, &self.counters)
    }

    /// The launches as values, with what a call gives, and with what buffers need that take the places of those.
    pub(crate) fn prepare(&self, given: Given<'_, '_>, needs: Vec<Need>) -> Result<Prepared, Error> {
        let launch = |step: &Step| {
            let places = step.open().filter_map(|(param, slot, first)| match slot {
                Slot::Memory(name) => Some(Set { name: name.into(), param: param.clone(), first }),
                Slot::Pitch(_) | Slot::Step(_) => None,
            });
            Ok::<_, Error>((step.launch(given)?, places.collect()))
        };
        Ok(Prepared {
            launches: self.steps.iter().map(launch).collect::<Result<_, _>>()?,
            lock: self.lock.clone(),
            counters: self.counters.clone(),
            needs: needs.into(),
        })
    }
}

/// Sets counters back after a launch that has stopped halfway: those that it left would let a later block take itself for the last one.
fn done(launched: Result<(), girih_device::Error>, counters: &[Arc<Buffer<u8>>]) -> Result<(), Error> {
    if launched.is_err() {
        counters.iter().try_for_each(|counter| counter.fill_bytes(0))?;
    }
    Ok(launched?)
}

/// The launches of a problem on certain buffers, checked and encoded once ([`Gemm::prepare`](crate::gemm::Gemm::prepare),
/// [`Attention::prepare`](crate::attention::Attention::prepare)).
#[derive(Clone, Debug)]
pub struct Prepared {
    launches: Vec<(Launch, Vec<Set>)>,
    lock: Arc<Mutex<()>>,
    counters: Vec<Arc<Buffer<u8>>>,
    needs: Arc<[Need]>,
}

/// Where a launch takes what is given by a name.
#[derive(Clone, Debug)]
struct Set {
    name: Box<str>,
    param: Name,
    first: usize,
}

impl Prepared {
    /// Puts the launches into the stream of their kernels, as often as it is called.
    ///
    /// # Errors
    /// As [`Launch::run`].
    ///
    /// # Safety
    /// As for [`Launch::run`]: memory that girih has not allocated must still be allocated, and hold the problem's tensors. What
    /// [`set`](Prepared::set) has exchanged has the dtype that it had, and what is written shares no memory with anything else, except that an
    /// input of a GEMM that is a matrix may be C itself.
    #[expect(unsafe_code, reason = "launching PTX is unsafe: the contract is the caller's")]
    pub unsafe fn run(&self) -> Result<(), Error> {
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise is passed on.
        let launched = self.launches().try_for_each(|launch| unsafe { launch.run() });
        drop(held);
        done(launched, &self.counters)
    }

    /// The launches in order, for engines that call the driver themselves: the function, grid, block and shared memory, and the bytes of each
    /// argument. They keep the memory of the tensors and the kernels' other memory. All launches that are prepared of one problem share that memory,
    /// and the GEMMs of one set share the workspace: no other of these may run between these launches, or at the same time.
    pub fn launches(&self) -> impl ExactSizeIterator<Item = &Launch> {
        self.launches.iter().map(|(launch, _)| launch)
    }

    /// Gives a tensor of the problem, by its name, another buffer, or a scalar another number, for later runs. Sizes and strides stay. A buffer must
    /// hold as many elements as are accessed, may hold more, and must begin where the kernel can access it. Both are checked of a GEMM, as
    /// [`Gemm::run_with`](crate::gemm::Gemm::run_with) does, but not if its matrices are given by their addresses
    /// ([`Problem::by_pointers`](crate::gemm::Problem::by_pointers)). Whether its dtype is the same is not checked, nor whether it shares memory with
    /// another one: [`run`](Prepared::run) says so.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], [`Error::Address`], [`Error::Input`]; as [`Launch::set`]. Then the launches stay as they were.
    ///
    /// # Examples
    /// ```
    /// use girih_device::{Device, Select};
    /// use girih_kernels::gemm::{Gemms, KernelKind, Layout, Problem};
    /// use girih_tensor::DType;
    ///
    /// let device = Device::open(Select::Sim)?;
    /// let problem = Problem::new(DType::F32, [4, 4, 4], Layout::Tn)?;
    /// let (whole, c) = (device.zeros::<f32>(17)?, device.zeros::<f32>(16)?);
    /// let gemm = Gemms::new(&device).get(&problem, KernelKind::Simt)?;
    /// let mut launch = gemm.prepare(&whole, &whole, &c, &[])?.ok_or("C is not empty")?;
    /// let (odd, short) = (whole.slice(1..)?, whole.slice(..15)?);
    /// assert!(launch.set("a", &odd).is_err_and(|error| error.to_string().contains("multiples of 16 bytes")));
    /// assert!(launch.set("a", &short).is_err_and(|error| error.to_string() == "A needs 16 elements, its buffer has 15"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set<'a>(&mut self, name: &str, value: impl Into<Arg<'a>>) -> Result<(), Error> {
        let value = value.into();
        let need = self.needs.iter().find(|need| need.name == name);
        if let (Arg::Buffer(buffer), Some(need)) = (&value, need) {
            need.check(buffer)?;
        }
        let mut is_known = need.is_some();
        for (launch, places) in &mut self.launches {
            for place in places.iter().filter(|place| *place.name == *name) {
                launch.set(&place.param, behind(value, place.first))?;
                is_known = true;
            }
        }
        // A launch says which names there are.
        match self.launches.last_mut() {
            Some((launch, _)) if !is_known => Ok(launch.set(name, value)?),
            _ => Ok(()),
        }
    }
}
