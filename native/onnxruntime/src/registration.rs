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
use std::mem::MaybeUninit;
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
}

const TABLE: OrtCustomOp = OrtCustomOp {
    version: OLDEST,
    GetName: Some(name),
    GetExecutionProviderType: Some(processor),
    GetInputType: Some(input_type),
    GetInputTypeCount: Some(input_count),
    GetOutputType: Some(output_type),
    GetOutputTypeCount: Some(output_count),
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
    // SAFETY: no function is there.
    ..unsafe { MaybeUninit::zeroed().assume_init() }
};

/// The functions of a table. The only tables that ONNX Runtime has from us are the beginnings of registrations.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $type:ty),*) -> $result:ty $body:block)*) => {$(
        $(#[$doc])*
        unsafe extern "system" fn $name($($parameter: $type),*) -> $result {
            // SAFETY: ONNX Runtime calls it as the C API documents it: with a registration's table, which is never freed, a
            // kernel that `create` made for it and that has not been destroyed, and what belongs to the call.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

functions! {
    name(table: *const OrtCustomOp) -> *const c_char { (*table.cast::<Registration>()).operator.name.as_ptr() }
    /// None named: the default, which is the CPU.
    processor(_table: *const OrtCustomOp) -> *const c_char { ptr::null() }
    input_type(table: *const OrtCustomOp, index: usize) -> Number {
        let Registration { operator, number, .. } = &*table.cast();
        if operator.is_axes(index) { Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 } else { *number }
    }
    /// How many inputs are described: any number of one kind are described as one.
    input_count(table: *const OrtCustomOp) -> usize {
        let operator = (*table.cast::<Registration>()).operator;
        if operator.takes_any() { 1 } else { operator.inputs.0 }
    }
    output_type(table: *const OrtCustomOp, _index: usize) -> Number {
        let Registration { operator, number, .. } = &*table.cast();
        operator.output(*number)
    }
    output_count(_table: *const OrtCustomOp) -> usize { 1 }
    yes(_table: *const OrtCustomOp) -> c_int { 1 }
    input_characteristic(table: *const OrtCustomOp, index: usize) -> Characteristic {
        match (*table.cast::<Registration>()).operator {
            operator if operator.takes_any() => Characteristic::INPUT_OUTPUT_VARIADIC,
            operator if operator.is_axes(index) => Characteristic::INPUT_OUTPUT_OPTIONAL,
            _ => Characteristic::INPUT_OUTPUT_REQUIRED,
        }
    }
    output_characteristic(_table: *const OrtCustomOp, _index: usize) -> Characteristic {
        Characteristic::INPUT_OUTPUT_REQUIRED
    }
    memory(_table: *const OrtCustomOp, _index: usize) -> OrtMemType { OrtMemType::OrtMemTypeDefault }
    create(
        table: *const OrtCustomOp, _api: *const OrtApi, info: *const OrtKernelInfo, kernel: *mut *mut c_void
    ) -> OrtStatusPtr {
        let Registration { api, operator, number, element, .. } = &*table.cast();
        api.status(|| {
            let made = Kernel::new(*api, operator, info, *number, *element).map_err(|failure| failure.of(operator.name))?;
            *kernel = Box::into_raw(Box::new(made)).cast();
            Ok(())
        })
    }
    compute(kernel: *mut c_void, context: *mut OrtKernelContext) -> OrtStatusPtr {
        let kernel = &*kernel.cast::<Kernel>();
        kernel.api.status(|| kernel.run(context).map_err(|failure| failure.of(kernel.node.operator.name)))
    }
    destroy(kernel: *mut c_void) -> () { drop(Box::from_raw(kernel.cast::<Kernel>())) }
    /// The table is that of any element type. ONNX Runtime looks at no status here and would not release one.
    infer_shape(table: *const OrtCustomOp, context: *mut OrtShapeInferContext) -> OrtStatusPtr {
        let Registration { api, operator, .. } = &*table.cast();
        api.succeeded(api.status(|| infer(*api, operator, context)));
        OrtStatusPtr(ptr::null_mut())
    }
}
