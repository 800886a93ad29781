//! `Extremum`: the elementwise largest or smallest of any number of operands.

use crate::api::{Failure, Refusal, Result};
use crate::attributes::Attributes;
use crate::operator::{Input, Inputs, Operator, PerAxis, UNKNOWN, c_order};
use crate::order::largest;
use extremum_kernels::{ElementType, Extreme, Operand, extremum};
use smallvec::SmallVec;
use std::ffi::CStr;

/// The largest or smallest of operands that are broadcast against each other, or have to have one shape.
pub struct Extremum {
    largest: bool,
    broadcast: bool,
}

impl Operator for Extremum {
    const NAME: &'static CStr = c"Extremum";
    const ATTRIBUTES: &'static [&'static CStr] = &[c"order", c"broadcast"];
    const INPUTS: Inputs = Inputs::Any;
    const INDICES: bool = false;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        Ok(Self { largest: largest(attributes)?, broadcast: attributes.flag(c"broadcast", true)? })
    }

    fn shape(&self, inputs: &[Input<'_>]) -> Result<PerAxis<i64>> {
        if !self.broadcast && inputs.iter().any(|input| differ(&input.shape, &inputs[0].shape)) {
            return Err(refusal(
                "the operands differ in shape",
                inputs,
                "give operands of one shape, or set broadcast=1",
            ));
        }
        let longest = inputs.iter().map(|input| &input.shape[..]).max_by_key(|shape| shape.len());
        let mut joint: PerAxis<i64> = longest.unwrap_or(&[]).into();
        for input in inputs {
            for (size, &own) in joint.iter_mut().rev().zip(input.shape.iter().rev()) {
                *size = join(*size, own).ok_or_else(|| {
                    let help = "dimensions, aligned at the last one, must be equal or 1";
                    refusal("the operands cannot be broadcast against each other", inputs, help)
                })?;
            }
        }
        Ok(joint)
    }

    unsafe fn run(&self, element: ElementType, inputs: &[Input<'_>], shape: &[i64], output: *mut u8) -> Result<()> {
        let mut operands: SmallVec<[Operand; 2]> = SmallVec::new();
        for (at, input) in inputs.iter().enumerate() {
            operands.push(Operand { data: input.data, strides: PerAxis::new(), swapped: false });
            let own = c_order(&input.shape, element.size());
            own.for_each(|(size, stride)| operands[at].strides.push(if size == 1 { 0 } else { stride }));
        }
        let axes = c_order(shape, element.size());
        // SAFETY: the caller's promise; `shape` is what the operands broadcast to.
        unsafe { extremum(&operands, element, Extreme::new(self.largest, false), axes, output) };
        Ok(())
    }
}

/// Whether two shapes differ, as far as their sizes are known.
fn differ(one: &[i64], two: &[i64]) -> bool {
    one.len() != two.len() || one.iter().zip(two).any(|(&a, &b)| a >= 0 && b >= 0 && a != b)
}

/// The size that two of one dimension broadcast to, if they do.
fn join(one: i64, two: i64) -> Option<i64> {
    match (one, two) {
        (1, other) | (other, 1) => Some(other),
        (a, b) if a == b => Some(a),
        (a, b) if a >= 0 && b >= 0 => None,
        // A size that is not known yet turns out to be 1 or the other one, which is not 1.
        (known, _) | (_, known) if known >= 0 => Some(known),
        _ => Some(UNKNOWN),
    }
}

fn refusal(reason: &str, inputs: &[Input<'_>], help: &str) -> Failure {
    let shapes: Vec<String> = inputs.iter().map(|input| format!("{:?}", input.shape)).collect();
    Refusal { given: Some(shapes.join(", ")), ..Refusal::new(reason, help) }.into()
}

#[cfg(test)]
mod tests {
    use super::{UNKNOWN, join};

    #[test]
    fn sizes_are_joined_as_far_as_they_are_known() {
        assert_eq!(
            [join(1, 5), join(5, 1), join(5, 5), join(0, 1), join(2, 3)],
            [Some(5), Some(5), Some(5), Some(0), None]
        );
        assert_eq!([join(-7, 1), join(-7, 4), join(4, -7), join(-7, -7)], [Some(-7), Some(4), Some(4), Some(-7)]);
        assert_eq!([join(-7, -8), join(UNKNOWN, -8), join(UNKNOWN, 1)], [Some(UNKNOWN); 3]);
    }
}
