//! A node of a session: its kernel made and run.

use crate::api::{Api, Failure, Result, Tensor, call, refuse, tensor_of};
use crate::attributes::{Attributes, Source};
use crate::operators::{Input, Node, Operator};
use crate::pool::{SessionPool, Sharing};
use extremum_kernels::{ElementType, threads};
use ort_sys::ONNXTensorElementDataType as Number;
use ort_sys::{OrtKernelContext, OrtKernelInfo};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

/// The kernel of one node. It is only read while it runs, so any number of threads may run it at once.
pub struct Kernel {
    /// Of the ONNX Runtime that the kernel was made for.
    pub api: Api,
    /// The operator and its attributes.
    pub node: Node,
    number: Number,
    element: ElementType,
    /// How many inputs the node has.
    inputs: usize,
    /// Whether the output turned out to be of the type that is written. The node decides its type, so it is asked once.
    output_fits: AtomicBool,
    sharing: Sharing,
}

impl Kernel {
    /// Makes the kernel of the node that `info` describes, for inputs of one element type.
    ///
    /// # Safety
    /// The information is of the API's ONNX Runtime and valid for the call.
    pub unsafe fn new(
        api: Api,
        operator: &'static Operator,
        info: *const OrtKernelInfo,
        number: Number,
        element: ElementType,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let attributes = unsafe { Attributes::new(api, Source::Kernel(info)) };
        attributes.refuse_all_but(operator.attributes)?;
        let node = Node::new(operator, &attributes)?;
        let (mut inputs, mut outputs) = (0, 0);
        call!(api, KernelInfo_GetInputCount(info, &raw mut inputs));
        call!(api, KernelInfo_GetOutputCount(info, &raw mut outputs));
        let (most, takes) = operator.inputs;
        if !(1..=most).contains(&inputs) || outputs != 1 {
            let reason = format!("the node has {inputs} inputs and {outputs} outputs");
            return refuse(reason, format!("the operator {takes} and has one output"));
        }
        let (output_fits, sharing) = (AtomicBool::new(false), Sharing::default());
        Ok(Self { api, node, number, element, inputs, output_fits, sharing })
    }

    /// Runs the kernel on the inputs of one call.
    ///
    /// # Safety
    /// The context is that of a running call of the node that the kernel was made for.
    pub unsafe fn run(&self, context: *mut OrtKernelContext) -> Result<()> {
        let api = self.api;
        let mut inputs: SmallVec<[Input; 2]> = SmallVec::new();
        for index in 0..self.inputs {
            // SAFETY: the caller's promise.
            inputs.extend(unsafe { self.input(context, index)? });
        }
        let shape = self.node.shape(&inputs).map_err(|failure| failure.given(|| self.given(&inputs)))?;
        let mut value = ptr::null_mut();
        call!(api, KernelContext_GetOutput(context, 0, shape.as_ptr(), shape.len(), &raw mut value));
        if value.is_null() {
            // Nobody wants it.
            return Ok(());
        }
        if !self.output_fits.load(Ordering::Relaxed) {
            // SAFETY: the output of a call lives as long as the call.
            let tensor = unsafe { tensor_of(api, value)? };
            self.require_type("the output", tensor.number, self.node.operator.output(self.number))?;
            self.output_fits.store(true, Ordering::Relaxed);
        }
        let mut output = ptr::null_mut();
        call!(api, GetTensorMutableData(value, &raw mut output));
        // SAFETY: the caller's promise.
        let session = unsafe { SessionPool::new(api, context, &self.sharing) };
        // SAFETY: ONNX Runtime's tensors are in C order; the inputs are of the element type; the output is new, of the
        // shape and the type that are written.
        threads::within(&session, || unsafe { self.node.run(self.element, &inputs, &shape, output.cast()) })
    }

    /// An input of one call, or its list of axes.
    ///
    /// # Safety
    /// The promise of [`Kernel::run`]; what is returned is not used after the call.
    unsafe fn input<'a>(&self, context: *const OrtKernelContext, index: usize) -> Result<Option<Input<'a>>> {
        let api = self.api;
        let (mut value, mut data) = (ptr::null(), ptr::null_mut());
        call!(api, KernelContext_GetInput(context, index, &raw mut value));
        let is_axes = self.node.operator.is_axes(index);
        if value.is_null() {
            return if is_axes { Ok(None) } else { refuse(format!("input {index} is left out"), "give every input") };
        }
        // SAFETY: the inputs of a call live as long as the call.
        let Tensor { number, shape } = unsafe { tensor_of(api, value)? };
        if is_axes {
            self.require_type("the list of axes", number, Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64)?;
        } else {
            self.require_type("an input", number, self.number)?;
        }
        call!(api, GetTensorMutableData(value.cast_mut(), &raw mut data));
        let axes = match shape[..] {
            _ if !is_axes => None,
            // There may be no memory.
            [0] => Some(&[][..]),
            // SAFETY: a tensor of as many int64.
            [count] => Some(unsafe { slice::from_raw_parts(data.cast(), count as usize) }),
            _ => {
                let failure = Failure::new("the axes are no list", "give them as a tensor of rank 1");
                return Err(failure.given(|| format!("axes: int64{shape:?}")));
            }
        };
        Ok(Some(Input { data: data.cast(), shape, axes }))
    }

    /// The inputs of a call, as a message says them.
    fn given(&self, inputs: &[Input]) -> String {
        let said = inputs.iter().map(|input| match input.axes {
            None => format!("{:?}{:?}", self.element, input.shape).to_lowercase(),
            Some(axes) => format!("axes: {axes:?}"),
        });
        said.collect::<Vec<_>>().join(", ")
    }

    /// Refuses a tensor of another type than the kernel was made for: an ONNX Runtime that is built without checks of
    /// the graph believes what a model says of types.
    fn require_type(&self, what: &str, number: i32, wanted: Number) -> Result<()> {
        if number == wanted as i32 {
            return Ok(());
        }
        let reason = format!("{what} is of element type {number}, not {}", wanted as i32);
        refuse(reason, "make the model anew: its types contradict each other")
    }
}
