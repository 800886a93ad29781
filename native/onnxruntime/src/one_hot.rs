//! `OneHot`: 1 at the first largest element over any set of axes, 0 elsewhere.

use crate::api::Result;
use crate::attributes::Attributes;
use crate::axes::Axes;
use crate::operator::{Input, Inputs, Operator, PerAxis, c_order};
use extremum_kernels::{ElementType, onehot};
use std::ffi::CStr;

/// The one-hot array of the largest.
pub struct OneHot {
    axes: Axes,
}

impl Operator for OneHot {
    const NAME: &'static CStr = c"OneHot";
    const ATTRIBUTES: &'static [&'static CStr] = &[c"axes", c"axis", c"to_last"];
    const INPUTS: Inputs = Inputs::One;
    const INDICES: bool = false;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        // The defaults of Hardmax: the last axis since version 13, axis 1 and all after it before.
        Ok(Self { axes: Axes::read(attributes, -1, 1)? })
    }

    fn shape(&self, inputs: &[Input<'_>]) -> Result<PerAxis<i64>> {
        self.axes.of(inputs[0].shape.len())?;
        Ok(inputs[0].shape[..].into())
    }

    unsafe fn run(&self, element: ElementType, inputs: &[Input<'_>], shape: &[i64], output: *mut u8) -> Result<()> {
        let chosen = self.axes.of(shape.len())?;
        let axes = (0..shape.len()).rev().zip(c_order(shape, element.size()));
        let walk = axes.map(|(axis, (size, stride))| (size, stride, stride, chosen.contains(axis)));
        // SAFETY: the caller's promise; input and output have one shape.
        unsafe { onehot(inputs[0].data, element, false, walk, output) };
        Ok(())
    }
}
