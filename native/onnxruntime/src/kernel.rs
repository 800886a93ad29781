//! A node of a session: its kernel made, run and destroyed, and the shape of its output inferred.

use crate::api::{Api, Failure, Refusal, Result, call};
use crate::attributes::{OfInference, OfKernel};
use crate::element::name;
use crate::operator::{Input, Operator, UNKNOWN};
use crate::pool::SessionPool;
use crate::shape;
use extremum_kernels::{ElementType, pool};
use ort_sys::ONNXTensorElementDataType::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
use ort_sys::{OrtKernelContext, OrtKernelInfo, OrtShapeInferContext};
use smallvec::SmallVec;
use std::ffi::{CStr, c_char};
use std::ptr;

/// The kernel of one node. It is only read while it runs, so any number of threads may run it at once.
pub struct Kernel<O> {
    api: Api,
    operator: O,
    element: ElementType,
    /// How many inputs the node has.
    inputs: usize,
}

impl<O: Operator> Kernel<O> {
    /// Makes the kernel of the node that `info` describes, for inputs of one element type.
    pub fn new(api: Api, info: *const OrtKernelInfo, element: ElementType) -> Result<Self> {
        let operator = O::new(&OfKernel(api, info)).map_err(|failure| worded::<O>(failure, None))?;
        let mut inputs = 0;
        call!(api, KernelInfo_GetInputCount(info, &raw mut inputs));
        Ok(Self { api, operator, element, inputs })
    }

    /// The table of functions of the ONNX Runtime that the kernel was made for.
    pub fn api(&self) -> Api {
        self.api
    }

    /// Runs the kernel on the inputs of one call.
    pub fn run(&self, context: *mut OrtKernelContext) -> Result<()> {
        let api = self.api;
        let mut inputs: SmallVec<[Input; 2]> = SmallVec::new();
        for index in 0..self.inputs {
            inputs.push(self.input(context, index)?);
        }
        let shape = self.operator.shape(&inputs).map_err(|failure| {
            let given = inputs.iter().map(|input| format!("{}{:?}", name(self.element), input.shape));
            worded::<O>(failure, Some(given.collect::<Vec<_>>().join(", ")))
        })?;
        let mut value = ptr::null_mut();
        call!(api, KernelContext_GetOutput(context, 0, shape.as_ptr(), shape.len(), &raw mut value));
        let mut output = ptr::null_mut();
        call!(api, GetTensorMutableData(value, &raw mut output));
        let session = SessionPool::new(api, context);
        // SAFETY: ONNX Runtime's tensors are in C order; the output is new, of the shape and the type declared.
        pool::within(&session, || unsafe { self.operator.run(self.element, &inputs, &shape, output.cast()) })
    }

    fn input<'a>(&'a self, context: *mut OrtKernelContext, index: usize) -> Result<Input<'a>> {
        let api = self.api;
        let mut value = ptr::null();
        call!(api, KernelContext_GetInput(context, index, &raw mut value));
        if value.is_null() {
            let refusal = Refusal::new(format!("input {index} is left out"), "give every input");
            return Err(worded::<O>(refusal.into(), None));
        }
        let mut data = ptr::null_mut();
        call!(api, GetTensorMutableData(value.cast_mut(), &raw mut data));
        // SAFETY: the inputs of a call live as long as the call, and so do the shapes that are made here.
        Ok(Input { data: data.cast(), shape: unsafe { shape::of_tensor(api, value)? } })
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

/// Tells what the shapes of the inputs say about the shape of the output.
///
/// Whatever is wrong with the node is left to its kernel, which can say so: here nobody listens.
pub fn infer<O: Operator>(api: Api, context: *mut OrtShapeInferContext) -> Result<()> {
    let operator = O::new(&OfInference(api, context))?;
    let mut element = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    let mut names: Vec<*const c_char> = Vec::new();
    let mut count = 0;
    call!(api, ShapeInferContext_GetInputCount(context, &raw mut count));
    let mut inputs = Vec::with_capacity(count);
    for index in 0..count {
        let mut info = ptr::null_mut();
        call!(api, ShapeInferContext_GetInputTypeShape(context, index, &raw mut info));
        if !O::INDICES {
            call!(api, GetTensorElementType(info, &raw mut element));
        }
        let mut shape = shape::described(api, info)?;
        // A tensor of unknown rank looks the same here as one of rank 0.
        if shape.is_empty() {
            return Ok(());
        }
        let mut symbols = vec![ptr::null(); shape.len()];
        call!(api, GetSymbolicDimensions(info, symbols.as_mut_ptr(), symbols.len()));
        for (size, symbol) in shape.iter_mut().zip(symbols) {
            if *size < 0 {
                *size = numbered(symbol, &mut names);
            }
        }
        inputs.push(Input { data: ptr::null(), shape: shape.into() });
    }
    let shape = operator.shape(&inputs)?;
    if shape.contains(&UNKNOWN) {
        return Ok(());
    }
    let mut symbols: Vec<*const c_char> =
        shape.iter().map(|&size| if size < 0 { names[(-1 - size) as usize] } else { c"".as_ptr() }).collect();
    let sizes: Vec<i64> = shape.iter().map(|&size| size.max(-1)).collect();
    let mut info = ptr::null_mut();
    call!(api, CreateTensorTypeAndShapeInfo(&raw mut info));
    let mut tell = || -> Result<()> {
        // ONNX Runtime 1.19 and later take the type over too, and would take float for one that is not set.
        call!(api, SetTensorElementType(info, element));
        call!(api, SetDimensions(info, sizes.as_ptr(), sizes.len()));
        call!(api, SetSymbolicDimensions(info, symbols.as_mut_ptr(), symbols.len()));
        call!(api, ShapeInferContext_SetOutputTypeShape(context, 0, info));
        Ok(())
    };
    let told = tell();
    // SAFETY: the information is ours, and this is its only release.
    unsafe { ((*api.table()).ReleaseTensorTypeAndShapeInfo)(info) };
    told
}

/// The negative number that stands for a symbolic size, the same for the same name.
fn numbered(symbol: *const c_char, names: &mut Vec<*const c_char>) -> i64 {
    // SAFETY: ONNX Runtime's symbols are texts that live as long as the context.
    let text = |symbol: *const c_char| unsafe { CStr::from_ptr(symbol) };
    if symbol.is_null() || text(symbol).is_empty() {
        return UNKNOWN;
    }
    let known = names.iter().position(|&known| text(known) == text(symbol));
    -1 - known.unwrap_or_else(|| {
        names.push(symbol);
        names.len() - 1
    }) as i64
}
