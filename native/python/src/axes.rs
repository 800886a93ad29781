//! The `axis` argument: None, an integer, or several.

use crate::array::Array;
use crate::errors::{Kind, error};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A set of axes of one array; more than 64 dimensions NumPy does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Axes(u64);

impl Axes {
    /// Reads an axis argument; None means all axes.
    #[inline]
    pub fn new(axis: Option<&Bound<'_, PyAny>>, array: &Array<'_>, function: &str) -> PyResult<Self> {
        let rank = array.shape().len();
        let mut axes = Self(0);
        match axis {
            None => axes.0 = if rank == 64 { u64::MAX } else { (1 << rank) - 1 },
            Some(several) if several.is_instance_of::<PyTuple>() || several.is_instance_of::<PyList>() => {
                for axis in several.try_iter()? {
                    axes.add(&axis?, several, array, function)?;
                }
            }
            Some(one) => axes.add(one, one, array, function)?,
        }
        Ok(axes)
    }

    /// Whether the set holds an axis.
    #[inline]
    pub fn contains(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }

    fn add(
        &mut self,
        axis: &Bound<'_, PyAny>,
        given: &Bound<'_, PyAny>,
        array: &Array<'_>,
        function: &str,
    ) -> PyResult<()> {
        let py = axis.py();
        let rank = array.shape().len();
        let given = || Some(format!("{}, axis={given}", array.summary()));
        let number = match axis.extract::<i64>() {
            Ok(number) => number,
            // An integer, only too large for 64 bits.
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => i64::MAX,
            Err(_) => {
                let reason = format!("{function}: axis {} is not an integer", axis.repr()?);
                let remedy = "pass an int or a tuple of ints";
                return Err(error(py, Kind::ArgumentType, reason, given(), Some(remedy.into())));
            }
        };
        let from_front = if number < 0 { number + rank as i64 } else { number };
        if !(0..rank as i64).contains(&from_front) {
            let plural = if rank == 1 { "" } else { "s" };
            let reason = format!("{function}: axis {axis} is out of range for an array with {rank} dimension{plural}");
            let remedy = match rank {
                0 => "pass an array with at least one dimension".into(),
                _ => format!("use an axis in [-{rank}, {}]", rank - 1),
            };
            return Err(error(py, Kind::Axis, reason, given(), Some(remedy)));
        }
        if self.contains(from_front as usize) {
            let reason = format!("{function}: axis {from_front} is given more than once");
            return Err(error(py, Kind::Axis, reason, given(), Some("list each axis once".into())));
        }
        self.0 |= 1 << from_front;
        Ok(())
    }
}
