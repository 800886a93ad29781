//! A node of a session: its kernel made and run.

use crate::api::{Api, Failure, Refusal, Result, call, refuse};
use crate::attributes::OfKernel;
use crate::operators::{Input, Node, Operator};
use crate::pool::{SessionPool, Sharing};
use crate::tensor::{self, Tensor, name};
use extremum_kernels::{ElementType, threads};
use ort_sys::ONNXTensorElementDataType as Number;
use ort_sys::{OrtKernelContext, OrtKernelInfo, OrtValue};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

/// The kernel of one node. It is only read while it runs, so any number of threads may run it at once.
pub struct Kernel {
    /// Of the ONNX Runtime that the kernel was made for.
    pub api: Api,
    node: Node,
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
        let attributes = unsafe { OfKernel::new(api, info) };
        let read = || {
            attributes.refuse_all_but(operator.attributes)?;
            Node::new(operator, &attributes)
        };
        let node = named(operator, None, read())?;
        let (mut inputs, mut outputs) = (0, 0);
        call!(api, KernelInfo_GetInputCount(info, &raw mut inputs));
        call!(api, KernelInfo_GetOutputCount(info, &raw mut outputs));
        if !(1..=operator.inputs.most).contains(&inputs) || outputs != 1 {
            let reason = format!("the node has {inputs} inputs and {outputs} outputs");
            let help = format!("the operator {} and has one output", operator.inputs.said);
            return named(operator, None, refuse(reason, help));
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
        let shape = named(self.node.operator, Some(&|| self.given(&inputs)), self.node.shape(&inputs))?;
        let mut value = ptr::null_mut();
        call!(api, KernelContext_GetOutput(context, 0, shape.as_ptr(), shape.len(), &raw mut value));
        if value.is_null() {
            // Nobody wants it.
            return Ok(());
        }
        if !self.output_fits.load(Ordering::Relaxed) {
            // SAFETY: the output of a call lives as long as the call.
            let tensor = unsafe { tensor::of_value(api, value)? };
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

    /// An input of one call.
    ///
    /// # Safety
    /// The promise of [`Kernel::run`]; what is returned is not used after the call.
    unsafe fn input<'a>(&self, context: *const OrtKernelContext, index: usize) -> Result<Option<Input<'a>>> {
        let api = self.api;
        let mut value = ptr::null();
        call!(api, KernelContext_GetInput(context, index, &raw mut value));
        let is_axes = self.node.operator.inputs.is_axes(index);
        if value.is_null() && is_axes {
            return Ok(None);
        }
        if value.is_null() {
            return named(self.node.operator, None, refuse(format!("input {index} is left out"), "give every input"));
        }
        // SAFETY: the inputs of a call live as long as the call.
        let tensor = unsafe { tensor::of_value(api, value)? };
        if is_axes {
            // SAFETY: the caller's promise.
            return unsafe { self.axes(value, tensor).map(Some) };
        }
        self.require_type("an input", tensor.number, self.number)?;
        let mut data = ptr::null_mut();
        call!(api, GetTensorMutableData(value.cast_mut(), &raw mut data));
        Ok(Some(Input { data: data.cast(), shape: tensor.shape, axes: None }))
    }

    /// The list of axes of one call.
    ///
    /// # Safety
    /// The tensor is that of the value, an input of the call, and what is returned is not used after it.
    unsafe fn axes<'a>(&self, value: *const OrtValue, tensor: Tensor<'a>) -> Result<Input<'a>> {
        self.require_type("the list of axes", tensor.number, Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64)?;
        let &[count] = &tensor.shape[..] else {
            let given = || format!("axes: int64{:?}", tensor.shape);
            return named(
                self.node.operator,
                Some(&given),
                refuse("the axes are no list", "give them as a tensor of rank 1"),
            );
        };
        let mut data = ptr::null_mut();
        call!(self.api, GetTensorMutableData(value.cast_mut(), &raw mut data));
        // SAFETY: a tensor of as many int64; one without elements may have no memory.
        let axes = if count == 0 { &[] } else { unsafe { slice::from_raw_parts(data.cast(), count as usize) } };
        Ok(Input { data: data.cast(), shape: tensor.shape, axes: Some(axes) })
    }

    /// The inputs of a call, as a message says them.
    fn given(&self, inputs: &[Input]) -> String {
        let said = inputs.iter().map(|input| match input.axes {
            None => format!("{}{:?}", name(self.element), input.shape),
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
        named(self.node.operator, None, refuse(reason, "make the model anew: its types contradict each other"))
    }
}

/// Adds the name of the operator, and what was given where that is known, to a refusal.
fn named<T>(operator: &Operator, given: Option<&dyn Fn() -> String>, result: Result<T>) -> Result<T> {
    result.map_err(|failure| match failure {
        Failure::Refusal(refusal) => {
            let reason = format!("{}: {}", operator.name.to_string_lossy(), refusal.reason);
            Refusal { reason, ..refusal }.given(given.map(|given| given()))
        }
        status => status,
    })
}
