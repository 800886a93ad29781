//! Threads and instruction sets.

use crate::interpreter::{error, python, text};
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::threads;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Set how many threads one call may use.
///
/// Parameters
/// ----------
/// n : int
///     At least 1. Small calls use one thread whatever the setting.
///
/// Raises
/// ------
/// ArgumentError
///     `n` is below 1.
///
/// Notes
/// -----
/// The default is the environment variable `EXTREMUM_NUM_THREADS`, or else the number of processors.
///
/// Examples
/// --------
/// >>> import extremum as ex
/// >>> before = ex.get_num_threads()
/// >>> ex.set_num_threads(2)
/// >>> ex.get_num_threads()
/// 2
/// >>> ex.set_num_threads(before)
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_num_threads(py: Python<'_>, n: i64) -> PyResult<()> {
    if n < 1 {
        let reason = format!("set_num_threads: {n} is not a number of threads");
        return Err(error(py, python!("ArgumentError"), reason, "pass an integer of at least 1"));
    }
    threads::set_limit(n as usize);
    Ok(())
}

/// How many threads one call may use.
///
/// Returns
/// -------
/// int
///     At least 1.
///
/// Examples
/// --------
/// >>> import extremum as ex
/// >>> ex.get_num_threads() >= 1
/// True
#[pyfunction]
pub fn get_num_threads() -> usize {
    threads::limit()
}

/// Set how many bytes each thread must have for its start to pay, for tests and measurements; return the previous value.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_bytes_per_thread(n: usize) -> usize {
    threads::set_grain_size(n)
}

/// Set up to how many elements an array is small and computed element by element, for tests; return the previous value.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_small_limit(n: usize) -> usize {
    extremum_kernels::set_small_limit(n)
}

/// The instruction sets that this processor has, simplest first.
#[pyfunction]
pub fn instruction_sets(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    let available = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
    PyTuple::new(py, available.map(InstructionSet::name).collect::<Vec<_>>())
}

/// The instruction set in force.
#[pyfunction]
pub fn get_instruction_set() -> &'static str {
    InstructionSet::current().name()
}

/// Force an instruction set, for tests and measurements.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub fn set_instruction_set(py: Python<'_>, name: &str) -> PyResult<()> {
    let set = InstructionSet::ALL.into_iter().find(|set| set.name() == name);
    if set.is_some_and(InstructionSet::force) {
        return Ok(());
    }
    let reason = format!("set_instruction_set: this processor has no instruction set named {name}");
    let remedy = format!("use one of {}", text(instruction_sets(py)?.as_any()));
    Err(error(py, python!("ArgumentError"), reason, &remedy))
}
