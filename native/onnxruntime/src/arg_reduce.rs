//! `ArgReduce`: the index of the extremum over any set of axes.

use crate::api::Result;
use crate::attributes::Attributes;
use crate::axes::Axes;
use crate::operator::{Input, Inputs, Operator, PerAxis, c_order};
use crate::order::largest;
use extremum_kernels::{ElementType, IndexType, argreduce};
use std::ffi::CStr;

/// The index, row-major within the reduced axes, of the largest or smallest.
pub struct ArgReduce {
    largest: bool,
    axes: Axes,
    keepdims: bool,
    last: bool,
}

impl Operator for ArgReduce {
    const NAME: &'static CStr = c"ArgReduce";
    const ATTRIBUTES: &'static [&'static CStr] =
        &[c"order", c"axes", c"axis", c"to_last", c"keepdims", c"select_last_index"];
    const INPUTS: Inputs = Inputs::One;
    // ONNX Runtime infers the type of an output from the types of the inputs alone: an attribute cannot choose it.
    const INDICES: bool = true;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        Ok(Self {
            largest: largest(attributes)?,
            axes: Axes::read(attributes, 0, 0)?,
            keepdims: attributes.flag(c"keepdims", true)?,
            last: attributes.flag(c"select_last_index", false)?,
        })
    }

    fn shape(&self, inputs: &[Input<'_>]) -> Result<PerAxis<i64>> {
        let shape = &inputs[0].shape;
        let reduced = self.axes.of(shape.len())?;
        reduced.refuse_empty(shape)?;
        Ok(reduced.reduced(shape, self.keepdims))
    }

    unsafe fn run(&self, element: ElementType, inputs: &[Input<'_>], _: &[i64], output: *mut u8) -> Result<()> {
        let Input { data, shape: whole, .. } = &inputs[0];
        let reduced = &self.axes.of(whole.len())?;
        let mut to = IndexType::Int64.size() as isize;
        let axes = (0..whole.len()).rev().zip(c_order(whole, element.size()));
        let walk = axes.map(move |(axis, (size, stride))| {
            let reduced = reduced.contains(axis);
            let out = to;
            if !reduced {
                to = to.wrapping_mul(size as isize);
            }
            (size, stride, out, reduced)
        });
        let input = extremum_kernels::Input {
            data: *data,
            element,
            swapped: false,
            largest: self.largest,
            last: self.last,
            numbers: false,
        };
        // SAFETY: the caller's promise; every index fits int64, and `shape` has refused empty reductions.
        unsafe { argreduce(input, walk, output, IndexType::Int64) };
        Ok(())
    }
}
