//! An operator as ONNX Runtime sees it: a table of functions, made from an [`Operator`]; the kernels of its nodes, and the shapes
//! of their outputs, inferred while a model is loaded.

use crate::api::{Api, OLDEST, Result, call, refuse, tensor_from, tensor_of};
use crate::attributes::{of_inference, of_kernel};
use crate::operators::{ELEMENT_TYPES, Node, NodeInput, Operator, UNKNOWN};
use crate::pool::{SessionPool, Sharing};
use extremum_kernels::{ElementType, threads};
use ort_sys::{
    ONNXTensorElementDataType as Number, OrtApi, OrtCustomOp, OrtCustomOpInputOutputCharacteristic as Characteristic,
    OrtKernelContext, OrtKernelInfo, OrtMemType, OrtShapeInferContext, OrtStatusPtr,
};
use smallvec::SmallVec;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

/// An operator on one element type, registered with one ONNX Runtime.
///
/// Each type has its own table, all under one name: so ONNX Runtime itself refuses other types, and infers the type of the
/// output from the table, in subgraphs and functions too.
#[repr(C)]
pub struct Registration {
    /// The part that ONNX Runtime knows. It comes first, so that a pointer to it is also a pointer to the whole.
    table: OrtCustomOp,
    api: Api,
    operator: &'static Operator,
    number: Number,
    element: ElementType,
}

impl Registration {
    /// The registration of an operator. ONNX Runtime keeps pointers to it, so it is never freed.
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
    CreateKernelV2: Some(create),
    KernelComputeV2: Some(compute),
    InferOutputShapeFn: Some(infer_shape),
    // SAFETY: null stands for a function that is absent.
    ..unsafe { MaybeUninit::zeroed().assume_init() }
};

/// The functions of a table. ONNX Runtime calls them as the C API documents it: with a registration's table, which is
/// never freed, a kernel that `create` made for it and that has not been destroyed, and the objects of the call.
macro_rules! functions {
    ($($name:ident($($parameter:ident: $type:ty),*) -> $result:ty $body:block)*) => {$(
        #[allow(unused_unsafe, reason = "some read nothing")]
        unsafe extern "system" fn $name($($parameter: $type),*) -> $result {
            // SAFETY: ONNX Runtime's promise, as above.
            unsafe { $body }
        }
    )*};
}

functions! {
    name(table: *const OrtCustomOp) -> *const c_char { (*table.cast::<Registration>()).operator.name.as_ptr() }
    // Null stands for the default, which is the CPU.
    processor(_table: *const OrtCustomOp) -> *const c_char { ptr::null() }
    input_type(table: *const OrtCustomOp, index: usize) -> Number {
        let Registration { operator, number, .. } = &*table.cast();
        operator.input(index, *number)
    }
    // How many inputs are described: a variadic input is described once.
    input_count(table: *const OrtCustomOp) -> usize {
        let operator = (*table.cast::<Registration>()).operator;
        if operator.takes_any() { 1 } else { operator.inputs().0 }
    }
    output_type(table: *const OrtCustomOp, index: usize) -> Number {
        let Registration { operator, number, .. } = &*table.cast();
        operator.output(index, *number)
    }
    output_count(table: *const OrtCustomOp) -> usize { (*table.cast::<Registration>()).operator.outputs() }
    yes(_table: *const OrtCustomOp) -> c_int { 1 }
    input_characteristic(table: *const OrtCustomOp, index: usize) -> Characteristic {
        match (*table.cast::<Registration>()).operator {
            operator if operator.takes_any() => Characteristic::INPUT_OUTPUT_VARIADIC,
            operator if operator.is_list(index) => Characteristic::INPUT_OUTPUT_OPTIONAL,
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
        let registration = &*table.cast::<Registration>();
        registration.api.status(|| {
            let result = NodeKernel::new(registration, info).map_err(|failure| failure.of(registration.operator.name))?;
            *kernel = Box::into_raw(Box::new(result)).cast();
            Ok(())
        })
    }
    compute(kernel: *mut c_void, context: *mut OrtKernelContext) -> OrtStatusPtr {
        let kernel = &*kernel.cast::<NodeKernel>();
        let Registration { api, operator, .. } = kernel.registration;
        api.status(|| kernel.run(context).map_err(|failure| failure.of(operator.name)))
    }
    destroy(kernel: *mut c_void) -> () { drop(Box::from_raw(kernel.cast::<NodeKernel>())) }
    // The table may be that of another element type. ONNX Runtime ignores a status here and would not release it.
    infer_shape(table: *const OrtCustomOp, context: *mut OrtShapeInferContext) -> OrtStatusPtr {
        let Registration { api, operator, .. } = &*table.cast();
        api.is_success(api.status(|| infer(*api, operator, context)));
        OrtStatusPtr(ptr::null_mut())
    }
}

/// The kernel of one node. It is only read while it runs, so any number of threads may run it at once.
struct NodeKernel {
    registration: &'static Registration,
    node: Node,
    inputs: usize,
    /// Whether the outputs have the types that are written. The node decides their types, so one check is enough.
    outputs_fit: AtomicBool,
    sharing: Sharing,
}

impl NodeKernel {
    /// Reads the attributes of a node.
    ///
    /// # Safety
    /// `info` is that of the node, and belongs to the ONNX Runtime of the registration.
    unsafe fn new(registration: &'static Registration, info: *const OrtKernelInfo) -> Result<Self> {
        let &Registration { api, operator, .. } = registration;
        // SAFETY: the caller's promise.
        let node = Node::new(operator, &|name| unsafe { of_kernel(api, info, name) })?;
        let mut inputs = 0;
        let mut outputs = 0;
        call!(api, KernelInfo_GetInputCount(info, &raw mut inputs));
        call!(api, KernelInfo_GetOutputCount(info, &raw mut outputs));
        let (most, takes) = operator.inputs();
        if !(1..=most).contains(&inputs) || outputs != operator.outputs() {
            let reason = format!("the node has {inputs} inputs and {outputs} outputs");
            let has = if operator.outputs() == 1 { "one output" } else { "two outputs" };
            return refuse(reason, format!("the operator {takes} and has {has}"));
        }
        Ok(Self { registration, node, inputs, outputs_fit: AtomicBool::new(false), sharing: Sharing::default() })
    }

    /// Computes the outputs of one call.
    ///
    /// # Safety
    /// `context` is that of a call of this node, and belongs to the ONNX Runtime of the registration.
    unsafe fn run(&self, context: *mut OrtKernelContext) -> Result<()> {
        let &Registration { api, operator, number, element, .. } = self.registration;
        let mut inputs: SmallVec<[NodeInput; 2]> = SmallVec::new();
        for index in 0..self.inputs {
            // SAFETY: the caller's promise; the inputs are not used after the call.
            inputs.extend(unsafe { self.input(context, index) }?);
        }
        let shape = self.node.shape(&inputs).map_err(|failure| failure.given(&self.describe(&inputs)))?;
        let (mut outputs, mut has_output): (SmallVec<[*mut u8; 2]>, _) = (SmallVec::new(), false);
        // Memory for an output that is not wanted, if another output is wanted.
        let mut spare = Vec::<u64>::new();
        for index in 0..operator.outputs() {
            let mut value = ptr::null_mut();
            let mut data = ptr::null_mut();
            call!(api, KernelContext_GetOutput(context, index, shape.as_ptr(), shape.len(), &raw mut value));
            if value.is_null() {
                let elements = if operator.outputs() > 1 { shape.iter().product::<i64>() as usize } else { 0 };
                spare.resize(elements, 0);
                outputs.push(spare.as_mut_ptr().cast());
                continue;
            }
            has_output = true;
            if !self.outputs_fit.load(Ordering::Relaxed) {
                // SAFETY: ONNX Runtime has just made the value, for this call.
                let (actual, _) = unsafe { tensor_of(api, value) }?;
                require_type("output", index, actual, operator.output(index, number))?;
            }
            call!(api, GetTensorMutableData(value, &raw mut data));
            outputs.push(data.cast());
        }
        if !has_output {
            return Ok(());
        }
        self.outputs_fit.store(true, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        let session = unsafe { SessionPool::new(api, context, &self.sharing) };
        // SAFETY: the inputs are of the element type; the outputs are new, of the shape and the types that are written.
        threads::within(&session, || unsafe { self.node.run(element, &inputs, &shape, &outputs) })
    }

    /// An input of one call, which may be a list.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the result is not used after the call.
    unsafe fn input<'a>(&self, context: *const OrtKernelContext, index: usize) -> Result<Option<NodeInput<'a>>> {
        let &Registration { api, operator, number: element, .. } = self.registration;
        let mut value = ptr::null();
        let mut data = ptr::null_mut();
        call!(api, KernelContext_GetInput(context, index, &raw mut value));
        let is_list = operator.is_list(index);
        if value.is_null() {
            return if is_list { Ok(None) } else { refuse(format!("input {index} is left out"), "give every input") };
        }
        // SAFETY: the value is an input of this call.
        let (number, shape) = unsafe { tensor_of(api, value) }?;
        require_type("input", index, number, operator.input(index, element))?;
        call!(api, GetTensorMutableData(value.cast_mut(), &raw mut data));
        let list = match shape[..] {
            _ if !is_list => None,
            // An empty list may have no memory.
            [0] => Some(&[][..]),
            // SAFETY: the tensor has as many integers: its type is that of a list.
            [count] => Some(unsafe { slice::from_raw_parts(data.cast(), count as usize) }),
            _ => {
                let help = format!("give {} as a tensor of rank 1", operator.list());
                return refuse(format!("input {index} is not a list: its shape is {shape:?}"), help);
            }
        };
        Ok(Some(NodeInput { data: data.cast(), shape, list }))
    }

    /// The inputs of a call, as text for a message.
    fn describe(&self, inputs: &[NodeInput]) -> String {
        let name = self.registration.operator.list();
        let texts = inputs.iter().map(|input| match input.list {
            None => format!("{:?}{:?}", self.registration.element, input.shape).to_lowercase(),
            Some(list) => format!("{name}: {list:?}"),
        });
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// Refuses a tensor of a type that the kernel was not made for: an ONNX Runtime that is built without checks of the graph
/// believes the types that a model states.
fn require_type(what: &str, index: usize, number: i32, expected: Number) -> Result<()> {
    if number == expected as i32 {
        return Ok(());
    }
    let reason = format!("{what} {index} is of element type {number}, not {}", expected as i32);
    refuse(reason, "make the model anew: its types contradict each other")
}

/// Infers the shape of the outputs from the shapes of the inputs.
///
/// Errors in the node are left to its kernel, which can report them: here ONNX Runtime ignores them.
///
/// # Safety
/// `context` is that of a node, and belongs to the ONNX Runtime of the API.
unsafe fn infer(api: Api, operator: &'static Operator, context: *mut OrtShapeInferContext) -> Result<()> {
    // SAFETY: the caller's promise.
    let node = Node::new(operator, &|name| unsafe { of_inference(api, context, name) })?;
    let mut element = None;
    let mut names = Vec::new();
    let mut count = 0;
    call!(api, ShapeInferContext_GetInputCount(context, &raw mut count));
    let mut inputs = Vec::with_capacity(count);
    for index in 0..count {
        let mut info = ptr::null_mut();
        call!(api, ShapeInferContext_GetInputTypeShape(context, index, &raw mut info));
        // SAFETY: ONNX Runtime keeps the description for as long as the context.
        let (number, mut shape) = unsafe { tensor_from(api, info) }?;
        // The type of the first input: a list has a type of its own. ONNX Runtime may have numbers that are not declared.
        if index == 0 {
            element = ELEMENT_TYPES.iter().map(|&(each, _)| each).find(|&each| each as i32 == number);
        }
        // A tensor of unknown rank looks the same here as one of rank 0.
        if shape.is_empty() {
            return Ok(());
        }
        let mut symbols = vec![ptr::null(); shape.len()];
        call!(api, GetSymbolicDimensions(info, symbols.as_mut_ptr(), symbols.len()));
        for (size, symbol) in shape.iter_mut().zip(symbols) {
            if *size < 0 {
                // SAFETY: the name lives as long as the description.
                *size = unsafe { number_of(symbol, &mut names) };
            }
        }
        inputs.push(NodeInput { data: ptr::null(), shape: shape.into(), list: None });
    }
    let Some(element) = element else { return Ok(()) };
    let shape = node.shape(&inputs)?;
    if shape.contains(&UNKNOWN) {
        return Ok(());
    }
    let symbols = shape.iter().map(|&size| if size < 0 { names[(-1 - size) as usize] } else { c"" });
    let mut symbols: Vec<*const c_char> = symbols.map(CStr::as_ptr).collect();
    let sizes: Vec<i64> = shape.iter().map(|&size| size.max(-1)).collect();
    let mut info = ptr::null_mut();
    call!(api, CreateTensorTypeAndShapeInfo(&raw mut info));
    let result = (0..operator.outputs()).try_for_each(|index| -> Result<()> {
        // ONNX Runtime 1.19 and later take over the type too, and would take float if it were not set.
        call!(api, SetTensorElementType(info, operator.output(index, element)));
        call!(api, SetDimensions(info, sizes.as_ptr(), sizes.len()));
        call!(api, SetSymbolicDimensions(info, symbols.as_mut_ptr(), symbols.len()));
        call!(api, ShapeInferContext_SetOutputTypeShape(context, index, info));
        Ok(())
    });
    // SAFETY: the description is ours, and this is its only release.
    unsafe { ((*api.table).ReleaseTensorTypeAndShapeInfo)(info) };
    result
}

/// The negative number that stands for a symbolic size; equal names get the same number. A size without a name has null or
/// an empty text.
///
/// # Safety
/// The name is null, or a text of C that outlives the names.
unsafe fn number_of<'a>(symbol: *const c_char, names: &mut Vec<&'a CStr>) -> i64 {
    // SAFETY: the caller's promise; an empty text has its end.
    if symbol.is_null() || unsafe { *symbol } == 0 {
        return UNKNOWN;
    }
    // SAFETY: the caller's promise.
    let symbol: &'a CStr = unsafe { CStr::from_ptr(symbol) };
    let place = names.iter().position(|&name| name == symbol);
    -1 - place.unwrap_or_else(|| {
        names.push(symbol);
        names.len() - 1
    }) as i64
}
