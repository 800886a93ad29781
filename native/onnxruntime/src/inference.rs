//! The shape of the output of a node, inferred while its model is loaded.

use crate::api::{Api, Result, Tensor, call, tensor_described};
use crate::attributes::{Attributes, Source};
use crate::operators::{Input, Node, Operator, UNKNOWN, declared};
use ort_sys::OrtShapeInferContext;
use std::ffi::{CStr, c_char};
use std::ptr;

/// Tells what the shapes of the inputs say about the shape of the output.
///
/// Whatever is wrong with the node is left to its kernel, which can say so: here nobody listens.
///
/// # Safety
/// The context is of the API's ONNX Runtime and valid for the call.
pub unsafe fn infer(api: Api, operator: &'static Operator, context: *mut OrtShapeInferContext) -> Result<()> {
    // SAFETY: the caller's promise.
    let node = Node::new(operator, &unsafe { Attributes::new(api, Source::Inference(context)) })?;
    let mut element = None;
    let mut names: Vec<*const c_char> = Vec::new();
    let mut count = 0;
    call!(api, ShapeInferContext_GetInputCount(context, &raw mut count));
    let mut inputs = Vec::with_capacity(count);
    for index in 0..count {
        let mut info = ptr::null_mut();
        call!(api, ShapeInferContext_GetInputTypeShape(context, index, &raw mut info));
        // SAFETY: the description belongs to the context.
        let Tensor { number, shape } = unsafe { tensor_described(api, info)? };
        // That of the first: a list of axes is of a type of its own.
        if index == 0 {
            element = declared(number);
        }
        let mut shape = shape.into_owned();
        // A tensor of unknown rank looks the same here as one of rank 0.
        if shape.is_empty() {
            return Ok(());
        }
        let mut symbols = vec![ptr::null(); shape.len()];
        call!(api, GetSymbolicDimensions(info, symbols.as_mut_ptr(), symbols.len()));
        for (size, symbol) in shape.iter_mut().zip(symbols) {
            if *size < 0 {
                // SAFETY: ONNX Runtime's symbols are texts that live as long as the context.
                *size = unsafe { numbered(symbol, &mut names) };
            }
        }
        inputs.push(Input { data: ptr::null(), shape: shape.into(), axes: None });
    }
    let Some(element) = element else { return Ok(()) };
    let shape = node.shape(&inputs)?;
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
        call!(api, SetTensorElementType(info, operator.output(element)));
        call!(api, SetDimensions(info, sizes.as_ptr(), sizes.len()));
        call!(api, SetSymbolicDimensions(info, symbols.as_mut_ptr(), symbols.len()));
        call!(api, ShapeInferContext_SetOutputTypeShape(context, 0, info));
        Ok(())
    };
    let told = tell();
    // SAFETY: the information is ours, and this is its only release.
    unsafe { ((*api.table).ReleaseTensorTypeAndShapeInfo)(info) };
    told
}

/// The negative number that stands for a symbolic size, the same for the same name.
///
/// # Safety
/// The symbol and the names are null or texts.
unsafe fn numbered(symbol: *const c_char, names: &mut Vec<*const c_char>) -> i64 {
    // SAFETY: the caller's promise.
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
