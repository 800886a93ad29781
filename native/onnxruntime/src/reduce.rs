//! `Reduce`: the extremum itself over any set of axes.

use crate::api::{Refusal, Result};
use crate::attributes::Attributes;
use crate::axes::Chosen;
use crate::operator::{Input, Inputs, Operator, PerAxis, UNKNOWN, c_order};
use crate::order::largest;
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};
use std::ffi::CStr;
use std::ptr;

/// The largest or smallest element, with the bits of the first of equals.
pub struct Reduce {
    largest: bool,
    /// Those of the attribute; the input of a call may list others.
    axes: Option<Vec<i64>>,
    keepdims: bool,
    /// Whether no axes mean none, rather than all.
    noop: bool,
    /// Whether no element gives the one that all others beat, rather than an error.
    identity: bool,
}

impl Reduce {
    /// The axes of a call; None where they are not known yet.
    fn chosen(&self, inputs: &[Input<'_>]) -> Result<Option<Chosen>> {
        let rank = inputs[0].shape.len();
        let listed = match (&self.axes, inputs.get(1)) {
            (None, None) => &[],
            (Some(axes), None) => &axes[..],
            (None, Some(Input { axes: Some(axes), .. })) => axes,
            (None, Some(_)) => return Ok(None),
            (Some(_), Some(_)) => {
                let reason = "attribute 'axes' cannot stand beside an input of axes";
                return Err(Refusal::new(reason, "give one of them").into());
            }
        };
        match listed.is_empty() && !self.noop {
            true => Ok(Some(Chosen::Run(0..rank))),
            false => Chosen::listed(listed, rank).map(Some),
        }
    }
}

impl Operator for Reduce {
    const NAME: &'static CStr = c"Reduce";
    const ATTRIBUTES: &'static [&'static CStr] =
        &[c"order", c"axes", c"keepdims", c"noop_with_empty_axes", c"identity"];
    const INPUTS: Inputs = Inputs::OneAndAxes;
    const INDICES: bool = false;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        Ok(Self {
            largest: largest(attributes)?,
            axes: attributes.ints(c"axes")?,
            keepdims: attributes.flag(c"keepdims", true)?,
            noop: attributes.flag(c"noop_with_empty_axes", false)?,
            identity: attributes.flag(c"identity", true)?,
        })
    }

    fn shape(&self, inputs: &[Input<'_>]) -> Result<PerAxis<i64>> {
        let shape = &inputs[0].shape;
        let Some(reduced) = self.chosen(inputs)? else {
            return Ok([UNKNOWN][..].into());
        };
        if !self.identity {
            reduced.refuse_empty(shape)?;
        }
        Ok(reduced.reduced(shape, self.keepdims))
    }

    unsafe fn run(&self, element: ElementType, inputs: &[Input<'_>], _: &[i64], output: *mut u8) -> Result<()> {
        let Input { data, shape, .. } = &inputs[0];
        let reduced = self.chosen(inputs)?.expect("the inputs of a call are known");
        if shape.iter().enumerate().all(|(axis, &size)| size == 1 || !reduced.contains(axis)) {
            // Every element is the only one of its slice. An array without elements may have no memory.
            let bytes = shape.iter().fold(element.size(), |bytes, &size| bytes.wrapping_mul(size as usize));
            if bytes > 0 {
                // SAFETY: the caller's promise; the output is of as many elements.
                unsafe { ptr::copy_nonoverlapping(*data, output, bytes) };
            }
            return Ok(());
        }
        let axes = (0..shape.len()).rev().zip(c_order(shape, element.size()));
        let walk =
            axes.map(|(axis, (len, stride))| Dimension { len, stride, mask: 0, reduced: reduced.contains(axis) });
        let selection =
            Selection { data: *data, element, swapped: false, last: false, mask: ptr::null(), omit: Omit::Nothing };
        let target =
            Target { largest: self.largest, values: output, indices: ptr::null_mut(), index: IndexType::Int64 };
        // SAFETY: the caller's promise; no index is written.
        unsafe { select(selection, walk, &[target]) };
        Ok(())
    }
}
