//! The simulator: a program, a launch, and what was found.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use girih::ptx::{Module, ParamInfo, Type};
use girih::sim::{self, Deny, Launch, Memory, Options};
use half::f16;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyList, PyType};

use crate::buffer::{Given, Lending};
use crate::error::{Result, finding, wrong_type};
use crate::site::Site;
use crate::threads::simulate;
use crate::tuple::number;
use girih::device::sizes::{size, word};

/// PTX text, parsed and decoded. Variables in global memory keep what kernels write to them as long as the program exists. It is pickled as its
/// text.
#[pyclass(frozen, module = "girih.sim")]
pub(crate) struct Program {
    text: String,
    module: Module,
    program: sim::Program,
}

#[pymethods]
impl Program {
    #[new]
    fn new(ptx: &str) -> Result<Self> {
        let module = Module::parse(ptx)?;
        let program = sim::Program::load(&module)?;
        Ok(Program { text: ptx.into(), module, program })
    }

    /// The names of the kernels.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        self.program.names().map(Into::into).collect()
    }

    /// The parameters of a kernel: name, declaration, bytes.
    fn parameters(&self, kernel: &str) -> Result<Vec<(String, String, u64)>> {
        let params = self.program.kernel(kernel)?.params();
        Ok(params
            .iter()
            .map(|param| (param.name.to_string(), param.declaration.to_string(), param.bytes))
            .collect())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&str,)) {
        (py.get_type::<Program>(), (&self.text,))
    }

    fn __repr__(&self) -> String {
        format!("<girih.sim.Program with the kernels {}>", self.kernels().join(", "))
    }
}

/// What a launch executed, as ints by name. An instruction counts once for each warp in which at least one lane executes it.
#[pyclass(frozen, module = "girih.sim")]
pub(crate) struct Report(sim::Report);

/// `global` is a word of Python's own.
const GLOBAL: [&str; 2] = ["global", "global_"];

impl Report {
    /// The names of the counts in Python.
    fn names() -> impl Iterator<Item = &'static str> {
        sim::Report::NAMES.iter().map(|name| if *name == GLOBAL[0] { GLOBAL[1] } else { name })
    }
}

#[pymethods]
impl Report {
    fn __getattr__(&self, name: &str) -> PyResult<u64> {
        let counts = Report::names().zip(self.0.counts());
        let count = counts.filter(|(own, _)| *own == name).map(|(_, (_, count))| count).next();
        count.ok_or_else(|| {
            let names: Vec<_> = Report::names().collect();
            PyAttributeError::new_err(format!("no count {name}: the counts are {}", names.join(", ")))
        })
    }

    fn __dir__(&self) -> Vec<&'static str> {
        Report::names().collect()
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.0)
    }

    /// Of all counts in their order; for `pickle`.
    #[staticmethod]
    fn _of(counts: Vec<u64>) -> Self {
        Report(sim::Report::of_counts(counts))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Vec<u64>,))> {
        Ok((py.get_type::<Report>().getattr("_of")?, (self.0.counts().map(|(_, count)| count).collect(),)))
    }
}

/// The results of all executions of a launch.
#[pyclass(frozen, get_all, module = "girih.sim")]
pub(crate) struct Verdict {
    /// What the first execution did.
    report: Py<Report>,
    /// All findings, each a `Finding`. The list is one object, by which pickle knows that a finding and its verdict have each other.
    findings: Py<PyList>,
    /// How many findings are left out because there are more than the limit.
    untold: u64,
    /// The seeds of the executions.
    seeds: Vec<u64>,
    /// What threads have printed.
    printed: String,
    /// How many bytes of arguments were copied, because the simulator can't work in their memory.
    copied: usize,
    /// Whether no finding is an error.
    passed: bool,
}

#[pymethods]
impl Verdict {
    /// A finding that is raised has its verdict, which has the finding.
    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.findings)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let outcome = if self.passed { "passed" } else { "failed" };
        let told = self.findings.bind(py).len() as u64 + self.untold;
        let findings = if told == 1 { "finding" } else { "findings" };
        format!(
            "<girih.sim.Verdict: {outcome}, {told} {findings}, seeds {:?}, {}>",
            self.seeds,
            self.report.get().0
        )
    }

    /// Of its fields; for `pickle`.
    #[staticmethod]
    fn _of(fields: Fields) -> Self {
        let (report, findings, untold, seeds, printed, copied, passed) = fields;
        Verdict { report, findings, untold, seeds, printed, copied, passed }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Fields,))> {
        let Verdict { report, findings, untold, seeds, printed, copied, passed } = self;
        let (report, findings) = (report.clone_ref(py), findings.clone_ref(py));
        let fields = (report, findings, *untold, seeds.clone(), printed.clone(), *copied, *passed);
        Ok((py.get_type::<Verdict>().getattr("_of")?, (fields,)))
    }
}

/// The fields of a verdict.
type Fields = (Py<Report>, Py<PyList>, u64, Vec<u64>, String, usize, bool);

/// How a launch is executed and checked.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    races: bool,
    uninitialised: bool,
    counts: bool,
    seed: u64,
    seeds: u32,
    threads: Option<usize>,
    steps: Option<u64>,
    limit: Option<usize>,
    deny: Vec<String>,
    slow: Option<u32>,
    cluster: Option<[u32; 3]>,
    shared: u32,
    cooperative: bool,
}

/// An argument: the memory of a buffer by its number, or the bytes of a value.
enum Arg {
    Memory(usize),
    Bytes(Vec<u8>),
}

/// The word of girih.sim for all kinds of warnings.
const ALL: &str = "all";

/// Runs a kernel, with arguments that girih.sim has prepared, and judges it.
#[pyfunction]
#[pyo3(signature = (program, kernel, grid, block, args, settings))]
fn _judge(
    py: Python<'_>,
    program: &Program,
    kernel: &str,
    grid: [u32; 3],
    block: [u32; 3],
    args: Vec<Bound<'_, PyAny>>,
    settings: Settings,
) -> Result<Verdict> {
    let is_known = |kind: &String| kind == ALL || sim::Error::WARNINGS.contains(&kind.as_str());
    if let Some(other) = settings.deny.iter().find(|kind| !is_known(kind)) {
        let kinds = sim::Error::WARNINGS.join(", ");
        let refused = format!(
            "deny: there are no warnings of the kind {other:?}; the kinds are {kinds}, and True stands for all"
        );
        return Err(PyValueError::new_err(refused).into());
    }
    let loaded = program.program.kernel(kernel)?;
    let params = program.module.kernels().into_iter().find(|info| &*info.name == kernel);
    let params = params.map(|info| info.params).unwrap_or_default();
    let (mut buffers, mut values) = (Vec::new(), Vec::new());
    for (argument, arg) in args.iter().enumerate() {
        values.push(match arg.extract::<(Bound<'_, PyAny>, bool)>() {
            Ok((buffer, uninitialised)) => {
                buffers.push(Given { buffer: PyBuffer::get(&buffer)?, argument, uninitialised });
                Arg::Memory(buffers.len() - 1)
            }
            Err(_) => Arg::Bytes(value(arg, argument, params.get(argument))?),
        });
    }
    let memory = Memory::new();
    let lending = Lending::new(py, &memory, buffers)?;
    let args = values.into_iter().map(|value| match value {
        Arg::Memory(buffer) => lending.addresses[buffer].to_le_bytes().into(),
        Arg::Bytes(bytes) => bytes,
    });
    let launch = Launch {
        grid,
        block,
        cluster: settings.cluster,
        cooperative: settings.cooperative,
        dynamic_shared: settings.shared,
        args: args.collect(),
    };
    let printed = Arc::new(Mutex::new(String::new()));
    let to = printed.clone();
    let stop = Arc::new(AtomicBool::new(false));
    let options = Options {
        stop: Some(stop.clone()),
        races: settings.races,
        uninitialised: settings.uninitialised,
        counts: settings.counts,
        seed: settings.seed,
        seeds: settings.seeds,
        threads: settings.threads,
        steps: settings.steps,
        limit: settings.limit,
        slow: settings.slow,
        deny: if settings.deny.iter().any(|kind| kind == ALL) {
            Deny::Warnings
        } else {
            Deny::Kinds(settings.deny)
        },
        print: Some(Arc::new(move |text| to.lock().unwrap_or_else(PoisonError::into_inner).push_str(text))),
        ..Options::default()
    };
    let verdict = simulate(py, &stop, || Ok(sim::judge(loaded, &memory, &launch, &options)?));
    let copied = lending.copied;
    let written = lending.end(py, &memory)?;
    let verdict = verdict?;
    if let Some(argument) = written.filter(|_| verdict.passed()) {
        let name = params.get(argument).map_or("?", |param| &param.name);
        let refused = format!("argument {argument} ({name}) is read-only, and the kernel has written to it");
        return Err(PyValueError::new_err(refused).into());
    }
    let findings = verdict.findings.iter().map(|found| Ok(finding(py, found)?.into_value(py).into_any()));
    Ok(Verdict {
        report: Py::new(py, Report(verdict.report))?,
        findings: PyList::new(py, findings.collect::<PyResult<Vec<_>>>()?)?.unbind(),
        untold: verdict.untold,
        passed: verdict.passed(),
        seeds: verdict.seeds,
        printed: std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner)),
        copied,
    })
}

/// The bytes of a value for a parameter.
pub(crate) fn value(arg: &Bound<'_, PyAny>, index: usize, param: Option<&ParamInfo>) -> Result<Vec<u8>> {
    if let Ok(bytes) = arg.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().into());
    }
    // The simulator says how many arguments the kernel takes.
    let Some(param) = param else { return Ok(Vec::new()) };
    let refused = |what: &str| {
        let (name, ty, bytes) = (&param.name, param.ty, param.bytes);
        format!("argument {index} ({name}) is a parameter of {bytes} bytes, .{ty}: {what}")
    };
    if param.bytes > 8 || param.ty.bytes().map(u64::from) != Some(param.bytes) {
        return Err(PyValueError::new_err(refused("give its bytes")).into());
    }
    let whole = match arg.extract::<u64>() {
        Ok(unsigned) => Some(i128::from(unsigned)),
        Err(_) if arg.is_instance_of::<PyFloat>() => None,
        Err(_) => match number(arg) {
            Ok(number) => number.map(i128::from),
            Err(_) => return Err(PyOverflowError::new_err(refused("it has more than 64 bits")).into()),
        },
    };
    match (param.ty, arg.cast::<PyFloat>(), whole) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a float is rounded, as numpy.float32(x) rounds it"
        )]
        (Type::F32, Ok(float), _) => Ok((float.value() as f32).to_le_bytes().into()),
        (Type::F64, Ok(float), _) => Ok(float.value().to_le_bytes().into()),
        (Type::F16, Ok(float), _) => Ok(f16::from_f64(float.value()).to_le_bytes().into()),
        (Type::F32, _, Some(whole)) => Ok((whole as f32).to_le_bytes().into()),
        (Type::F64, _, Some(whole)) => Ok((whole as f64).to_le_bytes().into()),
        (Type::F16, _, Some(whole)) => Ok(f16::from_f64(whole as f64).to_le_bytes().into()),
        (ty, Ok(float), _) => Err(PyValueError::new_err(refused(&format!(
            ".{ty} takes ints, and {} is a float; numpy.float{}(x) stands for the bits of a float",
            float.value(),
            param.bytes * 8
        )))
        .into()),
        (ty, Err(_), Some(whole)) => {
            // Bits are those of either kind; what a compiler calls .u32 may be an `int` of its source.
            let bits = word(param.bytes) * 8;
            let (signed, unsigned) = (ty.is_signed(), ty.is_int() && !ty.is_signed());
            let least = if unsigned { 0 } else { -(1 << (bits - 1)) };
            let end = if signed { 1 << (bits - 1) } else { 1i128 << bits };
            if !(least..end).contains(&whole) {
                let kind = if unsigned { "int" } else { "uint" };
                return Err(PyOverflowError::new_err(refused(&format!(
                    "{whole} is not one of {least} to {}; numpy.{kind}{bits}(x) stands for the bits of a number of the other kind",
                    end - 1
                )))
                .into());
            }
            Ok(whole.to_le_bytes()[..size(param.bytes)].into())
        }
        (_, Err(_), None) => Err(wrong_type(
            &format!("argument {index} ({})", param.name),
            "an array, an int, a float, a numpy scalar or bytes",
            arg,
        )),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Program>()?;
    module.add_class::<Site>()?;
    module.add_class::<Report>()?;
    module.add_class::<Verdict>()?;
    module.add_function(wrap_pyfunction!(_judge, module)?)
}
