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
    operator: &'static Operator,
    number: Number,
    element: ElementType,
}

impl Registration {
    /// The registration of an operator. ONNX Runtime keeps pointers to it: it is never freed.
    pub fn of(api: Api, operator: &'static Operator, number: Number, element: ElementType) -> *const OrtCustomOp {
        let registration: &'static Self = Box::leak(Box::new(Self { table: TABLE, api, operator, number, element }));
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

const TABLE: OrtCustomOp = OrtCustomOp {
    version: OLDEST,
    CreateKernel: None,
    GetName: Some(name),
    GetExecutionProviderType: Some(processor),
    GetInputType: Some(input_type),
    GetInputTypeCount: Some(input_count),
    GetOutputType: Some(output_type),
    GetOutputTypeCount: Some(one),
    KernelCompute: None,
    KernelDestroy: Some(destroy),
    GetInputCharacteristic: Some(input_characteristic),
    GetOutputCharacteristic: Some(output_characteristic),
    GetInputMemoryType: Some(memory),
    GetVariadicInputMinArity: Some(yes),
    GetVariadicInputHomogeneity: Some(yes),
    GetVariadicOutputMinArity: Some(yes),
    GetVariadicOutputHomogeneity: Some(yes),
    CreateKernelV2: Some(create),
    KernelComputeV2: Some(compute),
    InferOutputShapeFn: Some(infer_shape),
    GetStartVersion: None,
    GetEndVersion: None,
    GetMayInplace: None,
    ReleaseMayInplace: None,
    GetAliasMap: None,
    ReleaseAliasMap: None,
};

unsafe extern "system" fn name(operator: *const OrtCustomOp) -> *const c_char {
    // SAFETY: the only tables that ONNX Runtime has from us are the beginnings of registrations.
    unsafe { Registration::behind(operator) }.operator.name.as_ptr()
}

/// None named: the default, which is the CPU.
unsafe extern "system" fn processor(_: *const OrtCustomOp) -> *const c_char {
    ptr::null()
}

unsafe extern "system" fn input_type(operator: *const OrtCustomOp, index: usize) -> Number {
    // SAFETY: as above.
    let Registration { operator, number, .. } = unsafe { Registration::behind(operator) };
    if operator.inputs.is_axes(index) { Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 } else { *number }
}

/// How many inputs are described: any number of one kind are described as one.
unsafe extern "system" fn input_count(operator: *const OrtCustomOp) -> usize {
    // SAFETY: as above.
    let inputs = &unsafe { Registration::behind(operator) }.operator.inputs;
    if inputs.are_any() { 1 } else { inputs.most }
}

unsafe extern "system" fn output_type(operator: *const OrtCustomOp, _: usize) -> Number {
    // SAFETY: as above.
    let Registration { operator, number, .. } = unsafe { Registration::behind(operator) };
    operator.output(*number)
}

unsafe extern "system" fn one(_: *const OrtCustomOp) -> usize {
    1
}

unsafe extern "system" fn yes(_: *const OrtCustomOp) -> c_int {
    1
}

unsafe extern "system" fn input_characteristic(operator: *const OrtCustomOp, index: usize) -> Characteristic {
    // SAFETY: as above.
    match &unsafe { Registration::behind(operator) }.operator.inputs {
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

unsafe extern "system" fn create(
    operator: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: as above.
    let Registration { api, operator, number, element, .. } = unsafe { Registration::behind(operator) };
    api.status(|| {
        // SAFETY: ONNX Runtime's information on the node that it wants a kernel for.
        let made = Box::new(unsafe { Kernel::new(*api, operator, info, *number, *element)? });
        // SAFETY: ONNX Runtime gives room for one pointer; `destroy` takes the box back.
        unsafe { kernel.write(Box::into_raw(made).cast()) };
        Ok(())
    })
}

unsafe extern "system" fn compute(kernel: *mut c_void, context: *mut OrtKernelContext) -> OrtStatusPtr {
    // SAFETY: the kernel is one that `create` made for this operator, and has not been destroyed.
    let kernel = unsafe { &*kernel.cast::<Kernel>() };
    // SAFETY: ONNX Runtime's context of the call that is running.
    kernel.api.status(|| unsafe { kernel.run(context) })
}

unsafe extern "system" fn destroy(kernel: *mut c_void) {
    // SAFETY: the kernel is one that `create` made for this operator, and nobody uses it any more.
    drop(unsafe { Box::from_raw(kernel.cast::<Kernel>()) });
}

unsafe extern "system" fn infer_shape(
    operator: *const OrtCustomOp,
    context: *mut OrtShapeInferContext,
) -> OrtStatusPtr {
    // SAFETY: as above.
    let Registration { api, operator, .. } = unsafe { Registration::behind(operator) };
    // The table is that of any element type. ONNX Runtime looks at no status here and would not release one.
    // SAFETY: ONNX Runtime's context of the inference that is running.
    api.succeeded(api.status(|| unsafe { infer(*api, operator, context) }));
    OrtStatusPtr(ptr::null_mut())
}
