//! Kernels of a host that is made up: what a call is given, and what goes wrong with it.

use super::*;
use crate::attributes::Attributes;
use crate::host::{self, Call, Node, Tensor};
use crate::operators::{ArgReduce, Extremum, Inputs, PerAxis, Reduce};
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
