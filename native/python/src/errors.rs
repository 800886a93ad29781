//! Errors: raises the Python classes of `extremum.errors`, which own the layout of a message.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The classes that the native module raises.
#[derive(Clone, Copy)]
pub enum Kind {
    /// An argument has a value that cannot be meant.
    Argument,
    /// An axis is out of range or given twice.
    Axis,
    /// An element type is not accepted.
    ElementType,
    /// An argument is of a type that cannot be meant.
    ArgumentType,
}

/// Makes an error; where the class itself cannot be had, that failure is the error.
#[cold]
pub fn error(py: Python<'_>, kind: Kind, reason: String, given: Option<String>, remedy: Option<String>) -> PyErr {
    let class = match kind {
        Kind::Argument => "ArgumentError",
        Kind::Axis => "AxisError",
        Kind::ElementType => "ElementTypeError",
        Kind::ArgumentType => "ArgumentTypeError",
    };
    let instance = || {
        let keywords = PyDict::new(py);
        keywords.set_item("given", given)?;
        keywords.set_item("remedy", remedy)?;
        py.import("extremum.errors")?.getattr(class)?.call((PyString::new(py, &reason),), Some(&keywords))
    };
    instance().map_or_else(|failure| failure, PyErr::from_value)
}

/// Adds the function in which an error arose, where the error is one of this package's.
#[cold]
pub fn within(py: Python<'_>, error: PyErr, function: &str) -> PyErr {
    let keywords = PyDict::new(py);
    let named = keywords
        .set_item("where", function)
        .and_then(|()| error.value(py).call_method("with_context", (), Some(&keywords)));
    named.map_or(error, PyErr::from_value)
}
