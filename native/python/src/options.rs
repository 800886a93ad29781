//! Arguments that are flags or words.

use crate::call::Function;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

/// A flag: whatever Python takes for true or false.
#[derive(Clone, Copy)]
pub struct Truth(pub bool);

impl FromPyObject<'_, '_> for Truth {
    type Error = PyErr;
    #[inline]
    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        object.cast::<PyBool>().map_or_else(|_| truth(object), |flag| Ok(flag.is_true())).map(Self)
    }
}

#[cold]
fn truth(object: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
    static TRUTH: Function = Function::new("operator", "truth");
    TRUTH.call(object.py(), (object,))?.extract()
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
