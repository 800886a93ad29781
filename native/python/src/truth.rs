//! Arguments that are flags.

use crate::call::Function;
use pyo3::prelude::*;
use pyo3::types::PyBool;

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
