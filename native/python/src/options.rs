//! Arguments that are flags or words.

use crate::call::Function;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// A flag, or what was given in its place.
pub struct Flag<'py>(Result<bool, Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Flag<'py> {
    type Error = PyErr;
    #[inline]
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(object.cast::<PyBool>().map_or_else(|_| Err(object.to_owned()), |flag| Ok(flag.is_true()))))
    }
}

impl Flag<'_> {
    /// What a flag is that is not given.
    pub const UNSET: Self = Self(Ok(false));

    /// Reads the argument; what is no flag is refused.
    #[inline]
    pub fn read(self, name: &str, function: &str) -> PyResult<bool> {
        self.0.or_else(|given| other(&given, name, function))
    }
}

#[cold]
fn other(given: &Bound<'_, PyAny>, name: &str, function: &str) -> PyResult<bool> {
    static FLAG: Function = Function::new("flag");
    FLAG.call(given.py(), (function, name, given))?.extract()
}

/// Whether the word for what is done about NaN leaves it out; None where it says something else, which the Python side knows.
#[inline]
pub fn omits(nan_policy: Option<&Bound<'_, PyAny>>) -> Option<bool> {
    nan_policy.map_or(Some(false), word)
}

fn word(nan_policy: &Bound<'_, PyAny>) -> Option<bool> {
    match nan_policy.cast_exact::<PyString>().ok()?.to_str().ok()? {
        "propagate" => Some(false),
        "omit" => Some(true),
        _ => None,
    }
}
