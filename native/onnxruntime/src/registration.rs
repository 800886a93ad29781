//! An operator as ONNX Runtime sees it: a table of functions, made from an [`Operator`].

use crate::api::{Api, OLDEST};
use crate::inference::infer;
use crate::kernel::Kernel;
use crate::operators::Operator;
use extremum_kernels::ElementType;
use ort_sys::{
    ONNXTensorElementDataType as Number, OrtApi, OrtCustomOp, OrtCustomOpInputOutputCharacteristic as Characteristic,
    OrtKernelContext, OrtKernelInfo, OrtMemType, OrtShapeInferContext, OrtStatusPtr,
};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// An operator on one element type, registered with one ONNX Runtime.
///
/// One table for each type, all under one name: ONNX Runtime refuses other types by itself, and infers the type of the
/// output from the table, in subgraphs and functions too.
#[repr(C)]
pub struct Registration {
    /// What ONNX Runtime knows of; it comes first, so that a pointer to it is one to the whole.
    table: OrtCustomOp,
    api: Api,
    number: Number,
    element: ElementType,
}

impl Registration {
    /// The registration of an operator. ONNX Runtime keeps pointers to it: it is never freed.
    pub fn of<O: Operator>(api: Api, number: Number, element: ElementType) -> *const OrtCustomOp {
        let registration: &'static Self = Box::leak(Box::new(Self { table: table::<O>(), api, number, element }));
        (&raw const *registration).cast()
    }

    /// The whole of which ONNX Runtime has the beginning.
    ///
    /// # Safety
    /// The pointer comes from [`Registration::of`].
    unsafe fn behind(table: *const OrtCustomOp) -> &'static Self {
        // SAFETY: the caller's promise, and registrations are never freed.
        unsafe { &*table.cast::<Self>() }
    }
}

const fn table<O: Operator>() -> OrtCustomOp {
    OrtCustomOp {
        version: OLDEST,
        CreateKernel: None,
        GetName: Some(name::<O>),
        GetExecutionProviderType: Some(processor),
        GetInputType: Some(input_type::<O>),
        GetInputTypeCount: Some(input_count::<O>),
        GetOutputType: Some(output_type::<O>),
        GetOutputTypeCount: Some(one),
        KernelCompute: None,
        KernelDestroy: Some(destroy::<O>),
        GetInputCharacteristic: Some(input_characteristic::<O>),
        GetOutputCharacteristic: Some(output_characteristic),
        GetInputMemoryType: Some(memory),
        GetVariadicInputMinArity: Some(yes),
        GetVariadicInputHomogeneity: Some(yes),
        GetVariadicOutputMinArity: Some(yes),
        GetVariadicOutputHomogeneity: Some(yes),
        CreateKernelV2: Some(create::<O>),
        KernelComputeV2: Some(compute::<O>),
        InferOutputShapeFn: Some(infer_shape::<O>),
        GetStartVersion: None,
        GetEndVersion: None,
        GetMayInplace: None,
        ReleaseMayInplace: None,
        GetAliasMap: None,
        ReleaseAliasMap: None,
    }
}

unsafe extern "system" fn name<O: Operator>(_: *const OrtCustomOp) -> *const c_char {
    O::NAME.as_ptr()
}

/// None named: the default, which is the CPU.
unsafe extern "system" fn processor(_: *const OrtCustomOp) -> *const c_char {
    ptr::null()
}

unsafe extern "system" fn input_type<O: Operator>(operator: *const OrtCustomOp, index: usize) -> Number {
    if O::INPUTS.is_axes(index) {
        return Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    }
    // SAFETY: the only tables that ONNX Runtime has from us are the beginnings of registrations.
    unsafe { Registration::behind(operator) }.number
}

/// How many inputs are described: any number of one kind are described as one.
unsafe extern "system" fn input_count<O: Operator>(_: *const OrtCustomOp) -> usize {
    if O::INPUTS.are_any() { 1 } else { O::INPUTS.most }
}

unsafe extern "system" fn output_type<O: Operator>(operator: *const OrtCustomOp, _: usize) -> Number {
    // SAFETY: as above.
    O::output(unsafe { Registration::behind(operator) }.number)
}

unsafe extern "system" fn one(_: *const OrtCustomOp) -> usize {
    1
}

unsafe extern "system" fn yes(_: *const OrtCustomOp) -> c_int {
    1
}

unsafe extern "system" fn input_characteristic<O: Operator>(_: *const OrtCustomOp, index: usize) -> Characteristic {
    match O::INPUTS {
        inputs if inputs.are_any() => Characteristic::INPUT_OUTPUT_VARIADIC,
        inputs if inputs.is_axes(index) => Characteristic::INPUT_OUTPUT_OPTIONAL,
        _ => Characteristic::INPUT_OUTPUT_REQUIRED,
    }
}

unsafe extern "system" fn output_characteristic(_: *const OrtCustomOp, _: usize) -> Characteristic {
    Characteristic::INPUT_OUTPUT_REQUIRED
}

unsafe extern "system" fn memory(_: *const OrtCustomOp, _: usize) -> OrtMemType {
    OrtMemType::OrtMemTypeDefault
}

unsafe extern "system" fn create<O: Operator>(
    operator: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: as above.
    let Registration { api, number, element, .. } = unsafe { Registration::behind(operator) };
    api.status(|| {
        // SAFETY: ONNX Runtime's information on the node that it wants a kernel for.
        let made = Box::new(unsafe { Kernel::<O>::new(*api, info, *number, *element)? });
        // SAFETY: ONNX Runtime gives room for one pointer; `destroy` takes the box back.
        unsafe { kernel.write(Box::into_raw(made).cast()) };
        Ok(())
    })
}

unsafe extern "system" fn compute<O: Operator>(kernel: *mut c_void, context: *mut OrtKernelContext) -> OrtStatusPtr {
    // SAFETY: the kernel is one that `create` made for this operator, and has not been destroyed.
    let kernel = unsafe { &*kernel.cast::<Kernel<O>>() };
    // SAFETY: ONNX Runtime's context of the call that is running.
    kernel.api.status(|| unsafe { kernel.run(context) })
}

unsafe extern "system" fn destroy<O: Operator>(kernel: *mut c_void) {
    // SAFETY: the kernel is one that `create` made for this operator, and nobody uses it any more.
    drop(unsafe { Box::from_raw(kernel.cast::<Kernel<O>>()) });
}

unsafe extern "system" fn infer_shape<O: Operator>(
    operator: *const OrtCustomOp,
    context: *mut OrtShapeInferContext,
) -> OrtStatusPtr {
    // SAFETY: as above.
    let api = unsafe { Registration::behind(operator) }.api;
    // The table is that of any element type. ONNX Runtime looks at no status here and would not release one.
    // SAFETY: ONNX Runtime's context of the inference that is running.
    api.succeeded(api.status(|| unsafe { infer::<O>(api, context) }));
    OrtStatusPtr(ptr::null_mut())
}
