//! Errors of the libraries as exceptions with fields.

use girih::layout;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::{create_exception, types::PyType};

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

/// What a function of the module fails with.
pub(crate) enum Error {
    Layout(layout::Error),
    Python(PyErr),
}

impl From<layout::Error> for Error {
    fn from(error: layout::Error) -> Self {
        Error::Layout(error)
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

/// The exception with fields; where a field can't be set, the reason for that is the exception.
pub(crate) fn with_fields(exception: PyErr, set: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) -> PyErr {
    Python::attach(|py| match set(exception.value(py).as_any()) {
        Ok(()) => exception.clone_ref(py),
        Err(other) => other,
    })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let types: [(&str, Bound<'_, PyType>); 2] = [
        ("GirihError", module.py().get_type::<GirihError>()),
        ("LayoutError", module.py().get_type::<LayoutError>()),
    ];
    types.into_iter().try_for_each(|(name, exception)| module.add(name, exception))
}
