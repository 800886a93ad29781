//! What an operator decides: its name, its attributes, the shape of its output, and the kernel it calls.

use crate::api::Result;
use crate::attributes::Attributes;
use extremum_kernels::ElementType;
pub use extremum_kernels::layout::PerAxis;
use ort_sys::ONNXTensorElementDataType as Number;
use std::borrow::Cow;
use std::ffi::CStr;

/// A core operation as an operator of ONNX Runtime.
pub trait Operator: Sized + Send + Sync {
    /// Its name in the domain.
    const NAME: &'static CStr;
    /// The names of its attributes.
    const ATTRIBUTES: &'static [&'static CStr];
    /// Which inputs it takes.
    const INPUTS: Inputs;
    /// Whether the output holds indices, as int64; otherwise it has the element type of the inputs.
    const INDICES: bool;

    /// The element type of the output for inputs of an element type.
    fn output(input: Number) -> Number {
        if Self::INDICES { Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 } else { input }
    }

    /// Reads the attributes of a node.
    fn new(attributes: &impl Attributes) -> Result<Self>;

    /// The shape of the output.
    ///
    /// A negative size stands for one that is not known yet, the same number always for the same size; what cannot
    /// be known of the output is [`UNKNOWN`].
    fn shape(&self, inputs: &[Input<'_>]) -> Result<PerAxis<i64>>;

    /// Computes the output.
    ///
    /// # Safety
    /// The inputs, as many as the operator takes, hold elements of the type and are readable; the output, of the shape
    /// that [`Operator::shape`] gave, is writable; all are in C order and none overlaps the output.
    unsafe fn run(&self, element: ElementType, inputs: &[Input<'_>], shape: &[i64], output: *mut u8) -> Result<()>;
}

/// Which inputs an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// One.
    One,
    /// One, and a list of axes as int64 that may be left out.
    OneAndAxes,
    /// Any number of one element type, at least one.
    Any,
}

impl Inputs {
    /// The most that a node may have.
    pub const fn most(self) -> usize {
        match self {
            Self::One => 1,
            Self::OneAndAxes => 2,
            Self::Any => usize::MAX,
        }
    }

    /// Whether the input at an index is the list of axes.
    pub const fn is_axes(self, index: usize) -> bool {
        matches!(self, Self::OneAndAxes) && index == 1
    }

    /// What an operator takes, as a message says it.
    pub const fn said(self) -> &'static str {
        match self {
            Self::One => "takes one input",
            Self::OneAndAxes => "takes one input and a list of axes",
            Self::Any => "takes inputs",
        }
    }
}

/// A size of which nothing is known.
pub const UNKNOWN: i64 = i64::MIN;

/// An input in C order.
pub struct Input<'a> {
    /// The first element; null where only the shape is known.
    pub data: *const u8,
    /// The sizes.
    pub shape: Cow<'a, [i64]>,
    /// The elements of a list of axes, where they are known.
    pub axes: Option<&'a [i64]>,
}

/// The length and the stride of each axis of an array in C order, the last axis first.
pub fn c_order(shape: &[i64], itemsize: usize) -> impl Iterator<Item = (usize, isize)> {
    let mut step = itemsize as isize;
    shape.iter().rev().map(move |&size| {
        let stride = step;
        // An empty array may have sizes whose product has no end; then nobody looks at its strides.
        step = step.wrapping_mul(size as isize);
        (size as usize, stride)
    })
}

#[cfg(test)]
mod tests {
    use super::c_order;

    #[test]
    fn strides_are_those_of_c_order() {
        assert!(c_order(&[2, 3, 4], 2).eq([(4, 2), (3, 8), (2, 24)]));
        assert!(c_order(&[2, 0, 4], 2).eq([(4, 2), (0, 8), (2, 0)]));
        assert!(c_order(&[], 4).next().is_none());
    }
}
