//! The operators: what each gives and what it needs, and the walk over elements in C order that they share.
//!
//! `ArgReduce` gives the index of the extremum over any set of axes, row-major within them. `OneHot` gives 1 at the first
//! largest element and 0 elsewhere. `Reduce` gives the extremum itself, with the bits of the first of equal elements.
//! `Extremum` gives the elementwise largest or smallest of any number of operands, which are broadcast against each other or
//! must have the same shape. `TopK` gives the k largest or smallest elements along one axis and their indices.

use crate::api::{Result, refuse};
use crate::attributes::{Attributes, Value};
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{
    ElementType, Extreme, IndexType, Omit, Operand, Target, TopK, argreduce, extremum, in_c_order, onehot, select,
    top_k,
};
use ort_sys::ONNXTensorElementDataType as Number;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ffi::CStr;
use std::{mem, ptr};

/// A core operation as an operator of ONNX Runtime.
pub struct Operator {
    operation: Operation,
    pub name: &'static CStr,
    pub attributes: &'static [&'static CStr],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    ArgReduce,
    OneHot,
    Reduce,
    Extremum,
    TopK,
}

const fn operator(operation: Operation, name: &'static CStr, attributes: &'static [&'static CStr]) -> Operator {
    Operator { operation, name, attributes }
}

pub static OPERATORS: [Operator; 5] = [
    operator(
        Operation::ArgReduce,
        c"ArgReduce",
        &[c"order", c"axes", c"axis", c"to_last", c"keepdims", c"select_last_index"],
    ),
    operator(Operation::OneHot, c"OneHot", &[c"axes", c"axis", c"to_last"]),
    operator(Operation::Reduce, c"Reduce", &[c"order", c"axes", c"keepdims", c"noop_with_empty_axes", c"identity"]),
    operator(Operation::Extremum, c"Extremum", &[c"order", c"broadcast"]),
    operator(Operation::TopK, c"TopK", &[c"axis", c"k", c"largest", c"sorted"]),
];

impl Operator {
    /// The most inputs that a node may have, and what the node takes, as text for a message.
    pub fn inputs(&self) -> (usize, &'static str) {
        match self.operation {
            Operation::ArgReduce | Operation::OneHot => (1, "takes one input"),
            Operation::Reduce => (2, "takes one input and a list of axes"),
            Operation::Extremum => (usize::MAX, "takes inputs"),
            Operation::TopK => (2, "takes one input and k"),
        }
    }

    /// The number of outputs; the second holds indices.
    pub fn outputs(&self) -> usize {
        if self.operation == Operation::TopK { 2 } else { 1 }
    }

    /// The element type of an output, given that of the inputs. ONNX Runtime infers it from nothing else, so an attribute
    /// cannot choose the type of indices.
    pub fn output(&self, index: usize, input: Number) -> Number {
        let indices = self.operation == Operation::ArgReduce || index == 1;
        if indices { Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 } else { input }
    }

    /// Whether the operator takes any number of inputs of one element type.
    pub fn takes_any(&self) -> bool {
        self.operation == Operation::Extremum
    }

    /// Whether the input at an index is a list of int64 that replaces an attribute, and may be left out.
    pub fn is_list(&self, index: usize) -> bool {
        !self.takes_any() && index == 1
    }

    /// The element type of an input, given that of the first.
    pub fn input(&self, index: usize, first: Number) -> Number {
        if self.is_list(index) { Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 } else { first }
    }

    /// The attribute that the list replaces, for messages.
    pub fn list(&self) -> &'static str {
        if self.operation == Operation::TopK { "k" } else { "axes" }
    }
}

/// Every element type that has an order, and its number.
pub const ELEMENT_TYPES: [(Number, ElementType); 13] = [
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, ElementType::Bool),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, ElementType::Int8),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, ElementType::Int16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, ElementType::Int32),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, ElementType::Int64),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, ElementType::UInt8),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, ElementType::UInt16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, ElementType::UInt32),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, ElementType::UInt64),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, ElementType::Float16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, ElementType::BFloat16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, ElementType::Float32),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, ElementType::Float64),
];

/// A size about which nothing is known.
pub const UNKNOWN: i64 = i64::MIN;

/// An input in C order.
pub struct NodeInput<'a> {
    /// The first element; null if only the shape is known.
    pub data: *const u8,
    pub shape: Cow<'a, [i64]>,
    /// The elements of a list, if they are known.
    pub list: Option<&'a [i64]>,
}

/// The length and the stride of each axis of an array in C order, the last axis first.
fn c_order(shape: &[i64], itemsize: usize) -> impl Iterator<Item = (usize, isize)> {
    let mut step = itemsize as isize;
    shape.iter().rev().map(move |&size| {
        let stride = step;
        // The sizes of an empty array may have a product that overflows; then its strides are not used.
        step = step.wrapping_mul(size as isize);
        (size as usize, stride)
    })
}

/// An operator with the attributes of a node.
pub struct Node {
    operator: &'static Operator,
    largest: bool,
    /// None in a `Reduce` that has no such attribute, and in an `Extremum`.
    axes: Option<Vec<i64>>,
    /// Whether the node covers all axes after the one in `axes` too.
    to_last: bool,
    keepdims: bool,
    last: bool,
    /// Whether an empty list of axes means no axis, rather than all axes. Only a `Reduce` has one.
    noop: bool,
    /// Whether a slice without elements gives the identity, rather than an error.
    identity: bool,
    broadcast: bool,
    k: Option<i64>,
    sorted: bool,
}

impl Node {
    /// Reads every attribute of the domain, so that one of another operator is refused.
    pub fn new(operator: &'static Operator, value: &dyn Fn(&CStr) -> Option<Value>) -> Result<Self> {
        let attributes = Attributes { own: operator.attributes, value };
        let axes = attributes.ints(c"axes")?;
        let axis = attributes.int(c"axis")?;
        let to_last = attributes.flag(c"to_last", false)?;
        if axes.is_some() && (axis.is_some() || to_last) {
            let reason = "attribute 'axes' excludes 'axis' and 'to_last'";
            return refuse(reason, "list all axes, or give one axis");
        }
        // Hardmax has the last axis as its default since version 13; before that, axis 1 and all axes after it.
        let default = match operator.operation {
            Operation::OneHot if to_last => Some(1),
            Operation::OneHot | Operation::TopK => Some(-1),
            Operation::ArgReduce => Some(0),
            Operation::Reduce | Operation::Extremum => None,
        };
        Ok(Self {
            operator,
            largest: attributes.largest()? & attributes.flag(c"largest", true)?,
            axes: axes.or(axis.or(default).map(|axis| vec![axis])),
            to_last,
            keepdims: attributes.flag(c"keepdims", true)?,
            last: attributes.flag(c"select_last_index", false)?,
            noop: attributes.flag(c"noop_with_empty_axes", false)?,
            identity: attributes.flag(c"identity", true)?,
            broadcast: attributes.flag(c"broadcast", true)?,
            k: attributes.int(c"k")?,
            sorted: attributes.flag(c"sorted", true)?,
        })
    }

    /// For each axis of the input, whether the node works along it; None if that is not known yet.
    fn along(&self, inputs: &[NodeInput<'_>]) -> Result<Option<PerAxis<bool>>> {
        let rank = inputs[0].shape.len();
        let axes = match (&self.axes, inputs.get(1)) {
            (Some(_), Some(_)) if self.operator.operation == Operation::Reduce => {
                return refuse("attribute 'axes' excludes an input of axes", "give one of them");
            }
            (Some(axes), _) => &axes[..],
            (None, Some(NodeInput { list: Some(axes), .. })) => axes,
            (None, Some(_)) => return Ok(None),
            (None, None) => &[],
        };
        if axes.is_empty() && !self.noop {
            return Ok(Some(PerAxis::from_elem(true, rank)));
        }
        let mut along = PerAxis::from_elem(false, rank);
        for &axis in axes {
            let from_front = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
            if !(0..rank as i64).contains(&from_front) {
                let help = match rank {
                    0 => "give it at least one axis".into(),
                    _ => format!("use an axis in [-{rank}, {}]", rank - 1),
                };
                return refuse(format!("axis {axis} is out of range for an input of rank {rank}"), help);
            }
            if mem::replace(&mut along[from_front as usize], true) {
                return refuse(format!("axis {axis} is listed twice"), "list each axis once");
            }
        }
        for axis in 1..if self.to_last { rank } else { 0 } {
            along[axis] |= along[axis - 1];
        }
        Ok(Some(along))
    }

    /// How many elements are wanted; [`UNKNOWN`] if that is not known yet.
    fn count(&self, inputs: &[NodeInput<'_>]) -> Result<i64> {
        match (self.k, inputs.get(1)) {
            (Some(k), None) | (None, Some(&NodeInput { list: Some(&[k]), .. })) if k >= 0 => Ok(k),
            (None, Some(NodeInput { list: None, .. })) => Ok(UNKNOWN),
            (Some(_), Some(_)) => refuse("attribute 'k' excludes an input of k", "give one of them"),
            (None, None) => refuse("there is no k", "give it as an attribute or as an input"),
            _ => refuse("k is not one number from 0 on", "give one number"),
        }
    }

    /// The shape of the outputs.
    ///
    /// A negative size stands for a size that is not known yet, and equal numbers for equal sizes. What cannot be known
    /// about the output is [`UNKNOWN`].
    pub fn shape(&self, inputs: &[NodeInput<'_>]) -> Result<PerAxis<i64>> {
        let operation = self.operator.operation;
        if operation == Operation::Extremum {
            return self.joint(inputs);
        }
        let Some(along) = self.along(inputs)? else { return Ok([UNKNOWN][..].into()) };
        let shape = &inputs[0].shape;
        let k = if operation == Operation::TopK { self.count(inputs)? } else { 1 };
        for axis in (0..shape.len()).filter(|&axis| along[axis]) {
            let size = shape[axis];
            if operation == Operation::TopK && (0..k).contains(&size) {
                let reason = format!("k is {k}, but axis {axis} of the input has {size} elements");
                return refuse(reason, format!("use a k in [0, {size}]"));
            }
            if size == 0 && (operation == Operation::ArgReduce || !self.identity) {
                let reason = format!("there is nothing to choose from: axis {axis} of the input has no element");
                return refuse(reason, "reduce axes that are not empty");
            }
        }
        let kept = (0..shape.len()).filter(|&axis| self.keepdims || !along[axis]);
        let is_whole = |axis: usize| !along[axis] || operation == Operation::OneHot;
        Ok(kept.map(|axis| if is_whole(axis) { shape[axis] } else { k }).collect())
    }

    /// The shape that all inputs are broadcast to.
    fn joint(&self, inputs: &[NodeInput<'_>]) -> Result<PerAxis<i64>> {
        // Compares only sizes that are known.
        let differ = |one: &[i64], two: &[i64]| {
            one.len() != two.len() || one.iter().zip(two).any(|(&a, &b)| a >= 0 && b >= 0 && a != b)
        };
        if !self.broadcast && inputs.iter().any(|input| differ(&input.shape, &inputs[0].shape)) {
            return refuse("the operands differ in shape", "give operands of one shape, or set broadcast=1");
        }
        let longest = inputs.iter().map(|input| &input.shape[..]).max_by_key(|shape| shape.len());
        let mut joint: PerAxis<i64> = longest.unwrap_or(&[]).into();
        for input in inputs {
            for (size, &own) in joint.iter_mut().rev().zip(input.shape.iter().rev()) {
                *size = match (*size, own) {
                    (1, other) | (other, 1) => other,
                    (a, b) if a == b => a,
                    (a, b) if a >= 0 && b >= 0 => {
                        let help = "dimensions, aligned at the last one, must be equal or 1";
                        return refuse("the operands cannot be broadcast against each other", help);
                    }
                    // A size that is not known yet will be 1 or the known size, which is not 1.
                    (size, _) | (_, size) if size >= 0 => size,
                    _ => UNKNOWN,
                };
            }
        }
        Ok(joint)
    }

    /// Computes the outputs.
    ///
    /// # Safety
    /// The inputs, as many as the operator takes, hold elements of the type and are readable; the outputs, of the shape
    /// that [`shape`](Self::shape) gave, are writable; all are in C order and none overlaps an output.
    pub unsafe fn run(
        &self,
        element: ElementType,
        inputs: &[NodeInput<'_>],
        shape: &[i64],
        outputs: &[*mut u8],
    ) -> Result<()> {
        let size = element.size();
        let output = outputs[0];
        let Self { largest, last, sorted, .. } = *self;
        if self.operator.operation == Operation::Extremum {
            let mut operands: SmallVec<[Operand; 2]> = SmallVec::new();
            for (at, input) in inputs.iter().enumerate() {
                operands.push(Operand { data: input.data, strides: PerAxis::new(), swapped: false });
                let own = c_order(&input.shape, size);
                own.for_each(|(len, stride)| operands[at].strides.push(if len == 1 { 0 } else { stride }));
            }
            // SAFETY: the caller's promise; `shape` is what the operands broadcast to.
            unsafe { extremum(&operands, element, Extreme { largest, omit: false }, c_order(shape, size), output) };
            return Ok(());
        }
        let data = inputs[0].data;
        let whole = &inputs[0].shape;
        let swapped = false;
        let along = &self.along(inputs)?.expect("the inputs of a call are known");
        let axes = (0..whole.len()).rev().zip(c_order(whole, size));
        let axes = axes.map(|(axis, (len, stride))| (len, stride, along[axis]));
        let omit = Omit::Nothing;
        let mask = ptr::null();
        let array = extremum_kernels::Input { data, element, swapped, largest, last, omit, mask };
        match self.operator.operation {
            Operation::ArgReduce => {
                let mut to = IndexType::Int64.size() as isize;
                let walk = axes.map(move |(len, stride, reduced)| {
                    let out = to;
                    to = if reduced { to } else { to.wrapping_mul(len as isize) };
                    (len, stride, out, reduced)
                });
                // SAFETY: the caller's promise; every index fits int64, and `shape` has refused empty reductions.
                unsafe { argreduce(array, walk, output, IndexType::Int64) };
            }
            Operation::OneHot => {
                let walk = axes.map(|(len, stride, reduced)| (len, stride, stride, reduced));
                // SAFETY: the caller's promise; input and output have one shape.
                unsafe { onehot(data, element, swapped, walk, output) };
            }
            Operation::TopK => {
                let k = self.count(inputs)? as usize;
                let input = TopK { data, element, swapped, largest, nan_first: largest, times: false, k, sorted, mask };
                let walk = axes.map(|(len, stride, reduced)| (len, stride, 0, reduced));
                // SAFETY: the caller's promise; `shape` has refused a k above the length of the axis.
                unsafe { top_k(input, walk, output, outputs[1].cast()) };
            }
            // Every slice has a single element, so the output is a copy.
            _ if whole.iter().zip(along).all(|(&len, &reduced)| len == 1 || !reduced) => {
                let bytes = whole.iter().fold(size, |bytes, &len| bytes.wrapping_mul(len as usize));
                // SAFETY: the caller's promise; the output has the same number of elements. Without elements, null is valid too.
                unsafe { ptr::copy_nonoverlapping(data, output, bytes) };
            }
            _ => {
                let walk = axes.map(|(len, stride, reduced)| (len, stride, 0, reduced));
                let target =
                    Target { values: output, indices: ptr::null_mut(), index: IndexType::Int64, only_empty: false };
                // SAFETY: the caller's promise; no index is written.
                unsafe { select(array, in_c_order(walk), &[target]) };
            }
        }
        Ok(())
    }
}
