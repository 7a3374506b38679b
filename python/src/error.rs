//! Errors of the libraries as exceptions with fields.

use girih::{device, kernels, layout, picture, ptx, sim, tile};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::site::Site;

create_exception!(
    girih,
    GirihError,
    PyException,
    "What girih refuses or finds; the base of all its exceptions."
);
create_exception!(
    girih,
    LayoutError,
    GirihError,
    "An operation on layouts that has no answer. Fields: `kind`, a word that stays the same from version to version; `op`, the operation that \
     refused, or None; `witness`, None or (coord, expected, obtained): at that coordinate a wrong answer would have shown."
);

create_exception!(
    girih,
    PtxError,
    GirihError,
    "PTX text that can't be read. Fields: `line` and `column`, from 1; 0 where there is none."
);
create_exception!(
    girih,
    LaunchError,
    GirihError,
    "A launch that was refused before anything ran, or a kernel that the simulator does not know. Field: `kind`, a word that stays the same \
     from version to version."
);
create_exception!(
    girih,
    Finding,
    GirihError,
    "What the simulator has found in a kernel. Fields: `kind`, a word that stays the same from version to version, such as 'race'; `severity`, \
     'error' or 'warning'; `at`, the instruction and the thread where it was found, a `Site` or None; `line`, `block` and `thread`, those of \
     `at`; `others`, the sites that take part besides, such as the other access of a race, and `other`, the first of them or None; `space` \
     and `address` of the memory, or None; `name`, the address as the program would name it, such as 'argument 0 (x) + 12'; `seed`, with \
     which it was found."
);

create_exception!(
    girih,
    KernelError,
    GirihError,
    "A product, attention or a program that was refused: the message says what would be accepted."
);
create_exception!(
    girih,
    DeviceError,
    GirihError,
    "What a device refused, or failed at. Field: `fault`, who must act: 'caller', 'target' (the machine), 'program' (the kernel) or 'driver'."
);

create_exception!(girih, PictureError, GirihError, "What can't be drawn, and what could.");

/// What a function of the module fails with.
pub(crate) enum Error {
    Layout(layout::Error),
    Ptx(ptx::Error),
    Sim(sim::Error),
    Device(device::Error),
    Notation(girih_notation::Error),
    Picture(picture::Error),
    Kernels(kernels::Error),
    Tile(tile::error::Error),
    Python(PyErr),
}

impl From<layout::Error> for Error {
    fn from(error: layout::Error) -> Self {
        Error::Layout(error)
    }
}

impl From<device::Error> for Error {
    fn from(error: device::Error) -> Self {
        Error::Device(error)
    }
}

impl From<girih_notation::Error> for Error {
    fn from(error: girih_notation::Error) -> Self {
        Error::Notation(error)
    }
}

impl From<picture::Error> for Error {
    fn from(error: picture::Error) -> Self {
        match error {
            picture::Error::Layout(error) => Error::Layout(*error),
            other => Error::Picture(other),
        }
    }
}

impl From<kernels::Error> for Error {
    fn from(error: kernels::Error) -> Self {
        match error {
            kernels::Error::Device(error) => Error::Device(error),
            other => Error::Kernels(other),
        }
    }
}

impl From<tile::error::Error> for Error {
    fn from(error: tile::error::Error) -> Self {
        Error::Tile(error)
    }
}

impl From<ptx::Error> for Error {
    fn from(error: ptx::Error) -> Self {
        Error::Ptx(error)
    }
}

impl From<sim::Error> for Error {
    fn from(error: sim::Error) -> Self {
        Error::Sim(error)
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Error::Python(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        match error {
            Error::Python(error) => error,
            Error::Layout(error) => of_layout(&error),
            Error::Notation(error) => PictureError::new_err(error.to_string()),
            Error::Picture(error) => PictureError::new_err(error.to_string()),
            Error::Kernels(error) => KernelError::new_err(error.to_string()),
            Error::Tile(error) => KernelError::new_err(error.to_string()),
            Error::Device(error) => with_fields(DeviceError::new_err(error.to_string()), |value| {
                let fault = match error.fault() {
                    device::Fault::Caller => "caller",
                    device::Fault::Target => "target",
                    device::Fault::Program => "program",
                    device::Fault::Driver => "driver",
                };
                value.setattr("fault", fault)
            }),
            Error::Ptx(error) => with_fields(PtxError::new_err(error.to_string()), |value| {
                value.setattr("line", error.span().line)?;
                value.setattr("column", error.span().column)
            }),
            Error::Sim(error) => with_fields(LaunchError::new_err(error.to_string()), |value| {
                value.setattr("kind", error.kind())
            }),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A value of a type that is not accepted.
pub(crate) fn wrong_type(what: &str, accepted: &str, given: &Bound<'_, PyAny>) -> Error {
    let given = given.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{what} must be {accepted}, not {given}")).into()
}

fn of_layout(error: &layout::Error) -> PyErr {
    let exception = LayoutError::new_err(error.to_string());
    let witness = match error {
        layout::Error::Carry { witness, .. } | layout::Error::NoLayout { witness, .. } => *witness,
        _ => None,
    };
    let witness = witness.map(|at| (at.coord, at.expected, at.obtained));
    with_fields(exception, |value| {
        value.setattr("kind", error.kind())?;
        value.setattr("op", error.op())?;
        value.setattr("witness", witness)
    })
}

/// A finding as an exception, which is not raised here.
pub(crate) fn finding(py: Python<'_>, found: &sim::Finding) -> PyResult<PyErr> {
    let exception = Finding::new_err(found.to_string());
    let value = exception.value(py);
    let error = &found.error;
    let sites = error.sites().map(|site| Py::new(py, Site::new(site))).collect::<PyResult<Vec<_>>>()?;
    let mut others = sites.iter();
    let at = others.next();
    value.setattr("kind", error.kind())?;
    value.setattr("severity", found.severity.to_string())?;
    for field in ["line", "block", "thread"] {
        let of_site = at.map(|at| at.getattr(py, field)).transpose()?;
        value.setattr(field, of_site)?;
    }
    value.setattr("at", at)?;
    value.setattr("other", others.as_slice().first())?;
    value.setattr("others", PyTuple::new(py, others)?)?;
    value.setattr("space", error.space().map(|space| space.to_string()))?;
    value.setattr("address", error.address())?;
    value.setattr("name", found.name.as_deref())?;
    value.setattr("seed", found.seed)?;
    Ok(exception)
}

/// The exception with fields; where a field can't be set, the reason for that is the exception.
pub(crate) fn with_fields(exception: PyErr, set: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| match set(exception.value(py).as_any()) {
        Ok(()) => exception.clone_ref(py),
        Err(other) => other,
    })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let types: [(&str, Bound<'_, PyType>); 8] = [
        ("DeviceError", module.py().get_type::<DeviceError>()),
        ("Finding", module.py().get_type::<Finding>()),
        ("GirihError", module.py().get_type::<GirihError>()),
        ("KernelError", module.py().get_type::<KernelError>()),
        ("LaunchError", module.py().get_type::<LaunchError>()),
        ("LayoutError", module.py().get_type::<LayoutError>()),
        ("PictureError", module.py().get_type::<PictureError>()),
        ("PtxError", module.py().get_type::<PtxError>()),
    ];
    types.into_iter().try_for_each(|(name, exception)| module.add(name, exception))
}
