//! The `axis` argument: None, an integer, or several.

use crate::array::Array;
use crate::call::{Function, repr, text};
use crate::errors::{Kind, error};
use crate::operand::Ndarray;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyTuple};

/// The axes that count where none is named.
#[derive(Clone, Copy)]
pub enum Default {
    /// All of them.
    All,
    /// The last.
    Last,
}

/// The axes that an argument names, before it is known which array they are of.
pub struct Named<'a, 'py> {
    given: Option<&'a Bound<'py, PyAny>>,
    /// The same as integers, or a tuple of them, where `given` is something else: reading it again may run Python code.
    integers: Option<Bound<'py, PyAny>>,
    default: Default,
}

impl<'a, 'py> Named<'a, 'py> {
    /// Reads an axis argument; `array` is only named in messages. May run Python code.
    // A result that is returned goes through memory in pieces, and is waited for: a tenth of the time of a small call.
    #[inline(always)]
    pub fn new(
        given: Option<&'a Bound<'py, PyAny>>,
        default: Default,
        array: &Ndarray<'py>,
        function: &str,
    ) -> PyResult<Self> {
        let integers = match given {
            Some(axis) if !is_settled(axis) => Some(settle(axis, array, function)?),
            _ => None,
        };
        Ok(Self { given, integers, default })
    }

    /// The axes of an array. Runs no Python code, save to word an error.
    #[inline(always)]
    pub fn of(&self, array: &Array<'py>, function: &str) -> PyResult<Axes> {
        let mut axes = Axes(0);
        match (self.integers.as_ref().or(self.given), self.default) {
            (None, Default::All) => {
                axes = Axes::all(array.shape().len());
            }
            (None, Default::Last) => self.add(&mut axes, -1, None, array, function)?,
            (Some(axis), _) if axis.is_instance_of::<PyInt>() => {
                self.add(&mut axes, number(axis)?, Some(axis), array, function)?;
            }
            (Some(several), _) => {
                for axis in several.cast::<PyTuple>()?.iter_borrowed() {
                    self.add(&mut axes, number(&axis)?, Some(&axis), array, function)?;
                }
            }
        }
        Ok(axes)
    }

    #[inline]
    fn add(
        &self,
        axes: &mut Axes,
        number: i64,
        axis: Option<&Bound<'py, PyAny>>,
        array: &Array<'py>,
        function: &str,
    ) -> PyResult<()> {
        let rank = array.shape().len() as i64;
        let from_front = if number < 0 { number + rank } else { number };
        if !(0..rank).contains(&from_front) || axes.contains(from_front as usize) {
            let axis = axis.map_or_else(|| number.to_string(), text);
            return Err(self.refuse(&axis, from_front, array, function));
        }
        axes.0 |= 1 << from_front;
        Ok(())
    }

    #[cold]
    fn refuse(&self, axis: &str, from_front: i64, array: &Array<'py>, function: &str) -> PyErr {
        let rank = array.shape().len();
        let (reason, remedy) = if (0..rank as i64).contains(&from_front) {
            (format!("axis {from_front} is given more than once"), "list each axis once".into())
        } else {
            let plural = if rank == 1 { "" } else { "s" };
            let remedy = match rank {
                0 => "pass an array with at least one dimension".into(),
                _ => format!("use an axis in [-{rank}, {}]", rank - 1),
            };
            (format!("axis {axis} is out of range for an array with {rank} dimension{plural}"), remedy)
        };
        let given = self.given.map_or_else(|| axis.into(), text);
        let given = format!("{}, axis={given}", array.summary());
        error(array.object().py(), Kind::Axis, format!("{function}: {reason}"), Some(given), Some(remedy))
    }
}

/// Whether reading an argument again runs no Python code and gives the same: an integer, or a tuple of integers.
#[inline]
fn is_settled(axis: &Bound<'_, PyAny>) -> bool {
    is_number(axis) || axis.cast::<PyTuple>().is_ok_and(|axes| axes.iter_borrowed().all(|axis| is_number(&axis)))
}

/// Whether an axis is an integer and no truth value, which Python counts among them.
#[inline]
fn is_number(axis: &Bound<'_, PyAny>) -> bool {
    axis.is_instance_of::<PyInt>() && !axis.is_instance_of::<PyBool>()
}

/// Reads an argument once and for all.
#[cold]
fn settle<'py>(given: &Bound<'py, PyAny>, array: &Ndarray<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    let integer = |axis: Bound<'py, PyAny>| {
        static INDEX: Function = Function::new("index");
        let number = match axis.is_instance_of::<PyBool>() {
            true => Err(PyTypeError::new_err("a truth value")),
            false => INDEX.call(py, (&axis,)),
        };
        number.or_else(|failure| {
            // Not what else went wrong in an `__index__`.
            if !failure.is_instance_of::<PyTypeError>(py) {
                return Err(failure);
            }
            let summary = Array::new(array.clone(), function)?.summary();
            let reason = format!("{function}: axis {} is not an integer", repr(&axis));
            let remedy = Some("pass an int or a tuple of ints".into());
            Err(error(py, Kind::ArgumentType, reason, Some(format!("{summary}, axis={}", text(given))), remedy))
        })
    };
    if !(given.is_instance_of::<PyTuple>() || given.is_instance_of::<PyList>()) {
        return integer(given.clone());
    }
    // The items of a list may change while they are read, and a subclass may have a way of its own to give them.
    static TUPLE: Function = Function::new("tuple");
    let several = TUPLE.call(py, (given,))?;
    let axes = several.cast::<PyTuple>()?.iter().map(integer).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, axes)?.into_any())
}

/// The number of an integer; one of more than 64 bits is outside every array, as the largest number is.
#[inline]
fn number(axis: &Bound<'_, PyAny>) -> PyResult<i64> {
    axis.extract().or_else(|failure: PyErr| match failure.is_instance_of::<PyOverflowError>(axis.py()) {
        true => Ok(i64::MAX),
        false => Err(failure),
    })
}

/// A set of axes of one array; more than 64 dimensions NumPy does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Axes(u64);

impl Axes {
    /// All axes of an array.
    #[inline]
    fn all(rank: usize) -> Self {
        Self(if rank == 64 { u64::MAX } else { (1 << rank) - 1 })
    }

    /// Whether the set holds all axes of an array.
    #[inline]
    pub fn are_all(self, rank: usize) -> bool {
        self == Self::all(rank)
    }

    /// Whether the set holds an axis.
    #[inline]
    pub fn contains(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
}
