//! Errors: raises the Python classes of `extremum.errors`, which own the layout of a message.

use crate::call::Function;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

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
    static ARGUMENT: Function = Function::new("ArgumentError");
    static AXIS: Function = Function::new("AxisError");
    static ELEMENT_TYPE: Function = Function::new("ElementTypeError");
    static ARGUMENT_TYPE: Function = Function::new("ArgumentTypeError");
    let class = match kind {
        Kind::Argument => &ARGUMENT,
        Kind::Axis => &AXIS,
        Kind::ElementType => &ELEMENT_TYPE,
        Kind::ArgumentType => &ARGUMENT_TYPE,
    };
    let instance = || {
        let keywords = PyDict::new(py);
        keywords.set_item("given", given)?;
        keywords.set_item("remedy", remedy)?;
        class.call_with(py, PyTuple::new(py, [&reason])?, Some(&keywords))
    };
    instance().map_or_else(|failure| failure, PyErr::from_value)
}

/// The error about a keyword that a function has not, worded on the Python side; nothing where there is none.
#[inline]
pub fn refuse_unknown(function: &str, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    unknown.map_or(Ok(()), |unknown| Err(unknown_keyword(function, unknown)))
}

#[cold]
fn unknown_keyword(function: &str, unknown: &Bound<'_, PyDict>) -> PyErr {
    static UNKNOWN: Function = Function::new("unknown_keyword");
    let error = || UNKNOWN.call(unknown.py(), (function, unknown.keys().get_item(0)?));
    error().map_or_else(|failure| failure, PyErr::from_value)
}
