//! A node of a session: its kernel made and run.

use crate::api::{Api, Failure, Refusal, Result, call};
use crate::attributes::OfKernel;
use crate::element::name;
use crate::operator::{Input, Operator};
use crate::pool::SessionPool;
use crate::tensor::{self, Tensor};
use extremum_kernels::{ElementType, pool};
use ort_sys::ONNXTensorElementDataType as Number;
use ort_sys::{OrtKernelContext, OrtKernelInfo, OrtValue};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

/// The kernel of one node. It is only read while it runs, so any number of threads may run it at once.
pub struct Kernel<O> {
    api: Api,
    operator: O,
    number: Number,
    element: ElementType,
    /// How many inputs the node has.
    inputs: usize,
    /// Whether the output turned out to be of the type that is written. The node decides its type, so it is asked once.
    output_fits: AtomicBool,
}

impl<O: Operator> Kernel<O> {
    /// Makes the kernel of the node that `info` describes, for inputs of one element type.
    ///
    /// # Safety
    /// The information is of the API's ONNX Runtime and valid for the call.
    pub unsafe fn new(api: Api, info: *const OrtKernelInfo, number: Number, element: ElementType) -> Result<Self> {
        // SAFETY: the caller's promise.
        let attributes = unsafe { OfKernel::new(api, info) };
        let read = || {
            attributes.refuse_all_but(O::ATTRIBUTES)?;
            O::new(&attributes)
        };
        let operator = read().map_err(|failure| worded::<O>(failure, None))?;
        let (mut inputs, mut outputs) = (0, 0);
        call!(api, KernelInfo_GetInputCount(info, &raw mut inputs));
        call!(api, KernelInfo_GetOutputCount(info, &raw mut outputs));
        if !(1..=O::INPUTS.most()).contains(&inputs) || outputs != 1 {
            let reason = format!("the node has {inputs} inputs and {outputs} outputs");
            let refusal = Refusal::new(reason, format!("the operator {} and has one output", O::INPUTS.said()));
            return Err(worded::<O>(refusal.into(), None));
        }
        Ok(Self { api, operator, number, element, inputs, output_fits: AtomicBool::new(false) })
    }

    /// The table of functions of the ONNX Runtime that the kernel was made for.
    pub fn api(&self) -> Api {
        self.api
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
        let shape = self.operator.shape(&inputs).map_err(|failure| worded::<O>(failure, Some(self.given(&inputs))))?;
        let mut value = ptr::null_mut();
        call!(api, KernelContext_GetOutput(context, 0, shape.as_ptr(), shape.len(), &raw mut value));
        if value.is_null() {
            // Nobody wants it.
            return Ok(());
        }
        if !self.output_fits.load(Ordering::Relaxed) {
            // SAFETY: the output of a call lives as long as the call.
            let tensor = unsafe { tensor::of_value(api, value)? };
            self.require_type("the output", tensor.number, O::output(self.number))?;
            self.output_fits.store(true, Ordering::Relaxed);
        }
        let mut output = ptr::null_mut();
        call!(api, GetTensorMutableData(value, &raw mut output));
        // SAFETY: the caller's promise.
        let session = unsafe { SessionPool::new(api, context) };
        // SAFETY: ONNX Runtime's tensors are in C order; the inputs are of the element type; the output is new, of the
        // shape and the type that are written.
        pool::within(&session, || unsafe { self.operator.run(self.element, &inputs, &shape, output.cast()) })
    }

    /// An input of one call.
    ///
    /// # Safety
    /// The promise of [`Kernel::run`]; what is returned is not used after the call.
    unsafe fn input<'a>(&self, context: *const OrtKernelContext, index: usize) -> Result<Option<Input<'a>>> {
        let api = self.api;
        let mut value = ptr::null();
        call!(api, KernelContext_GetInput(context, index, &raw mut value));
        let is_axes = O::INPUTS.is_axes(index);
        if value.is_null() && is_axes {
            return Ok(None);
        }
        if value.is_null() {
            let refusal = Refusal::new(format!("input {index} is left out"), "give every input");
            return Err(worded::<O>(refusal.into(), None));
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
            let refusal = Refusal::new("the axes are no list", "give them as a tensor of rank 1");
            return Err(worded::<O>(refusal.into(), Some(format!("axes: int64{:?}", tensor.shape))));
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
        Err(worded::<O>(Refusal::new(reason, "make the model anew: its types contradict each other").into(), None))
    }
}

/// Adds the name of the operator, and what was given where that is known, to a refusal.
#[cold]
fn worded<O: Operator>(failure: Failure, given: Option<String>) -> Failure {
    match failure {
        Failure::Refusal(refusal) => {
            let reason = format!("{}: {}", O::NAME.to_string_lossy(), refusal.reason);
            Refusal { reason, given: refusal.given.or(given), ..refusal }.into()
        }
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arg_reduce::ArgReduce;
    use crate::attributes::Attributes;
    use crate::extremum::Extremum;
    use crate::host::{self, Call, Node, Tensor};
    use crate::operator::{Inputs, PerAxis};
    use crate::reduce::Reduce;
    use std::ffi::CStr;

    const FLOAT: i32 = Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT as i32;
    const INT8: i32 = Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 as i32;
    const INT64: i32 = Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 as i32;

    /// The text of the error, if there is one, that making a kernel and running it on a call end in.
    fn outcome<O: Operator>(outputs: usize, call: &mut Call) -> Option<String> {
        let api = host::api();
        let node = Node { inputs: call.inputs.len(), outputs };
        let number = Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
        host::text(api.status(|| {
            // SAFETY: the information and the context of the host are a node and a call.
            unsafe {
                let kernel = Kernel::<O>::new(api, (&raw const node).cast(), number, ElementType::Float32)?;
                kernel.run((&raw mut *call).cast())
            }
        }))
    }

    fn floats(values: [f32; 2]) -> Option<Tensor> {
        let words = vec![u64::from(values[0].to_bits()) | u64::from(values[1].to_bits()) << 32];
        let words = if cfg!(target_endian = "big") { vec![words[0].rotate_left(32)] } else { words };
        Some(Tensor { number: FLOAT, shape: vec![2], words })
    }

    fn empty(number: i32) -> Option<Tensor> {
        Some(Tensor { number, shape: vec![], words: vec![0; 2] })
    }

    #[test]
    fn a_call_is_answered() {
        let mut call = Call { inputs: vec![floats([1.0, 3.0])], output: empty(INT64) };
        assert_eq!(outcome::<ArgReduce>(1, &mut call), None);
        let output = call.output.expect("it was wanted");
        assert_eq!((output.shape, output.words[0]), (vec![1], 1));
    }

    #[test]
    fn an_output_that_nobody_wants_is_not_written() {
        let mut call = Call { inputs: vec![floats([1.0, 3.0])], output: None };
        assert_eq!(outcome::<ArgReduce>(1, &mut call), None);
    }

    #[test]
    fn tensors_of_other_types_than_the_kernels_are_refused() {
        let help = "help: make the model anew: its types contradict each other";
        let narrow = Some(Tensor { number: INT8, ..Tensor::default() });
        let mut call = Call { inputs: vec![floats([1.0, 3.0]), narrow], output: empty(FLOAT) };
        let message = format!("Extremum: an input is of element type 3, not 1; {help}");
        assert_eq!(outcome::<Extremum>(1, &mut call), Some(message));
        let mut call = Call { inputs: vec![floats([1.0, 3.0])], output: empty(INT8) };
        let message = format!("ArgReduce: the output is of element type 3, not 7; {help}");
        assert_eq!(outcome::<ArgReduce>(1, &mut call), Some(message));
    }

    fn axes(listed: [i64; 1]) -> Option<Tensor> {
        Some(Tensor { number: INT64, shape: vec![1], words: vec![listed[0] as u64] })
    }

    #[test]
    fn a_list_of_axes_may_be_left_out() {
        for list in [None, axes([0]), axes([-1])] {
            let mut call = Call { inputs: vec![floats([1.0, 3.0]), list], output: empty(FLOAT) };
            assert_eq!(outcome::<Reduce>(1, &mut call), None);
            let output = call.output.expect("it was wanted");
            let expected = floats([3.0, 0.0]).expect("a tensor").words[0];
            assert_eq!((output.shape, output.words[0]), (vec![1], expected));
        }
    }

    #[test]
    fn axes_that_are_no_list_of_int64_are_refused() {
        let narrow = Some(Tensor { number: INT8, ..axes([0]).expect("a tensor") });
        let mut call = Call { inputs: vec![floats([1.0, 3.0]), narrow], output: empty(FLOAT) };
        let help = "help: make the model anew: its types contradict each other";
        let message = format!("Reduce: the list of axes is of element type 3, not 7; {help}");
        assert_eq!(outcome::<Reduce>(1, &mut call), Some(message));
        let scalar = Some(Tensor { shape: vec![], ..axes([0]).expect("a tensor") });
        let mut call = Call { inputs: vec![floats([1.0, 3.0]), scalar], output: empty(FLOAT) };
        let message = "Reduce: the axes are no list; given: axes: int64[]; help: give them as a tensor of rank 1";
        assert_eq!(outcome::<Reduce>(1, &mut call).as_deref(), Some(message));
        let mut call = Call { inputs: vec![floats([1.0, 3.0]), axes([7])], output: empty(FLOAT) };
        let message = "Reduce: axis 7 is out of range for an input of rank 1; given: float32[2], axes: [7]; \
                       help: use an axis in [-1, 0]";
        assert_eq!(outcome::<Reduce>(1, &mut call).as_deref(), Some(message));
    }

    #[test]
    fn an_input_that_is_left_out_is_named() {
        let mut call = Call { inputs: vec![floats([1.0, 3.0]), None], output: empty(FLOAT) };
        let message = "Extremum: input 1 is left out; help: give every input";
        assert_eq!(outcome::<Extremum>(1, &mut call).as_deref(), Some(message));
    }

    #[test]
    fn a_node_with_other_inputs_and_outputs_is_refused() {
        let message = |operator: &str, inputs, outputs, takes: &str| {
            let given = format!("the node has {inputs} inputs and {outputs} outputs");
            Some(format!("{operator}: {given}; help: the operator {takes} and has one output"))
        };
        for inputs in [0, 2] {
            let mut call = Call { inputs: vec![floats([1.0, 3.0]); inputs], output: empty(INT64) };
            let expected = message("ArgReduce", inputs, 1, "takes one input");
            assert_eq!(outcome::<ArgReduce>(1, &mut call), expected);
        }
        let mut call = Call::default();
        assert_eq!(outcome::<Extremum>(1, &mut call), message("Extremum", 0, 1, "takes inputs"));
        for inputs in [0, 3] {
            let mut call = Call { inputs: vec![floats([1.0, 3.0]); inputs], output: empty(FLOAT) };
            let expected = message("Reduce", inputs, 1, "takes one input and a list of axes");
            assert_eq!(outcome::<Reduce>(1, &mut call), expected);
        }
        let mut call = Call { inputs: vec![floats([1.0, 3.0])], output: empty(FLOAT) };
        assert_eq!(outcome::<Extremum>(2, &mut call), message("Extremum", 1, 2, "takes inputs"));
    }

    /// An operator with a mistake.
    struct Broken;

    impl Operator for Broken {
        const NAME: &'static CStr = c"Broken";
        const ATTRIBUTES: &'static [&'static CStr] = &[];
        const INPUTS: Inputs = Inputs::Any;
        const INDICES: bool = false;

        fn new(_: &impl Attributes) -> Result<Self> {
            Ok(Self)
        }

        fn shape(&self, inputs: &[Input<'_>]) -> Result<PerAxis<i64>> {
            assert!(inputs.is_empty(), "a mistake");
            Ok(PerAxis::new())
        }

        unsafe fn run(&self, _: ElementType, _: &[Input<'_>], _: &[i64], _: *mut u8) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_an_error_that_asks_for_a_report() {
        let mut call = Call { inputs: vec![floats([1.0, 3.0])], output: empty(FLOAT) };
        let message = "extremum failed inside, please report this: a mistake";
        assert_eq!(outcome::<Broken>(1, &mut call).as_deref(), Some(message));
    }
}
