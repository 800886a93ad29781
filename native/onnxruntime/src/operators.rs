//! The operators: what each gives and what it needs, and the walk over elements in C order that they share.
//!
//! `ArgReduce` is the index of the extremum over any set of axes, `OneHot` 1 at the first largest element and 0 elsewhere,
//! `Reduce` the extremum itself, `Extremum` the elementwise largest or smallest of any number of operands.

use crate::api::{Failure, Refusal, Result, refuse};
use crate::attributes::{Attributes, Axes, Chosen};
use extremum_kernels::{
    Dimension, ElementType, Extreme, IndexType, Omit, Operand, Selection, Target, argreduce, extremum, onehot, select,
};
use ort_sys::ONNXTensorElementDataType as Number;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ffi::CStr;
use std::ptr;

pub use extremum_kernels::layout::PerAxis;

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
pub struct Inputs {
    /// The most that a node may have.
    pub most: usize,
    /// What an operator takes, as a message says it.
    pub said: &'static str,
}

impl Inputs {
    const ONE: Self = Self { most: 1, said: "takes one input" };
    const ONE_AND_AXES: Self = Self { most: 2, said: "takes one input and a list of axes" };
    const ANY: Self = Self { most: usize::MAX, said: "takes inputs" };

    /// Whether there is any number of one element type.
    pub fn are_any(&self) -> bool {
        self.most == usize::MAX
    }

    /// Whether the input at an index is the list of axes, which is of int64 and may be left out.
    pub fn is_axes(&self, index: usize) -> bool {
        self.most == 2 && index == 1
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
    const INPUTS: Inputs = Inputs::ONE;
    // ONNX Runtime infers the type of an output from the types of the inputs alone: an attribute cannot choose it.
    const INDICES: bool = true;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        Ok(Self {
            largest: attributes.largest()?,
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
            let reduced = reduced.0[axis];
            let out = to;
            if !reduced {
                to = to.wrapping_mul(size as isize);
            }
            (size, stride, out, reduced)
        });
        let Self { largest, last, .. } = *self;
        let input = extremum_kernels::Input { data: *data, element, swapped: false, largest, last, numbers: false };
        // SAFETY: the caller's promise; every index fits int64, and `shape` has refused empty reductions.
        unsafe { argreduce(input, walk, output, IndexType::Int64) };
        Ok(())
    }
}

/// The one-hot array of the largest.
pub struct OneHot {
    axes: Axes,
}

impl Operator for OneHot {
    const NAME: &'static CStr = c"OneHot";
    const ATTRIBUTES: &'static [&'static CStr] = &[c"axes", c"axis", c"to_last"];
    const INPUTS: Inputs = Inputs::ONE;
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
        let walk = axes.map(|(axis, (size, stride))| (size, stride, stride, chosen.0[axis]));
        // SAFETY: the caller's promise; input and output have one shape.
        unsafe { onehot(inputs[0].data, element, false, walk, output) };
        Ok(())
    }
}

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
                return refuse("attribute 'axes' cannot stand beside an input of axes", "give one of them");
            }
        };
        match listed.is_empty() && !self.noop {
            true => Ok(Some(Chosen(PerAxis::from_elem(true, rank)))),
            false => Chosen::listed(listed, rank).map(Some),
        }
    }
}

impl Operator for Reduce {
    const NAME: &'static CStr = c"Reduce";
    const ATTRIBUTES: &'static [&'static CStr] =
        &[c"order", c"axes", c"keepdims", c"noop_with_empty_axes", c"identity"];
    const INPUTS: Inputs = Inputs::ONE_AND_AXES;
    const INDICES: bool = false;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        Ok(Self {
            largest: attributes.largest()?,
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
        if shape.iter().enumerate().all(|(axis, &size)| size == 1 || !reduced.0[axis]) {
            // Every element is the only one of its slice. An array without elements may have no memory.
            let bytes = shape.iter().fold(element.size(), |bytes, &size| bytes.wrapping_mul(size as usize));
            if bytes > 0 {
                // SAFETY: the caller's promise; the output is of as many elements.
                unsafe { ptr::copy_nonoverlapping(*data, output, bytes) };
            }
            return Ok(());
        }
        let axes = (0..shape.len()).rev().zip(c_order(shape, element.size()));
        let walk = axes.map(|(axis, (len, stride))| Dimension { len, stride, mask: 0, reduced: reduced.0[axis] });
        let selection =
            Selection { data: *data, element, swapped: false, last: false, mask: ptr::null(), omit: Omit::Nothing };
        let target =
            Target { largest: self.largest, values: output, indices: ptr::null_mut(), index: IndexType::Int64 };
        // SAFETY: the caller's promise; no index is written.
        unsafe { select(selection, walk, &[target]) };
        Ok(())
    }
}

/// The largest or smallest of operands that are broadcast against each other, or have to have one shape.
pub struct Extremum {
    largest: bool,
    broadcast: bool,
}

impl Operator for Extremum {
    const NAME: &'static CStr = c"Extremum";
    const ATTRIBUTES: &'static [&'static CStr] = &[c"order", c"broadcast"];
    const INPUTS: Inputs = Inputs::ANY;
    const INDICES: bool = false;

    fn new(attributes: &impl Attributes) -> Result<Self> {
        Ok(Self { largest: attributes.largest()?, broadcast: attributes.flag(c"broadcast", true)? })
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
        unsafe { extremum(&operands, element, Extreme { largest: self.largest, omit: false }, axes, output) };
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
    Refusal::new(reason, help).given(shapes.join(", "))
}
