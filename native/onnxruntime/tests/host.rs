//! The library in a host without Python, which is this program: it loads, registers, runs and closes the library. The host has
//! the few functions of the C API that it needs, over tensors that say what a test wants.

use libloading::Library;
use ort_sys::{
    ONNXTensorElementDataType, OrtApi, OrtApiBase, OrtCustomOp, OrtCustomOpDomain, OrtErrorCode, OrtKernelContext,
    OrtKernelInfo, OrtSessionOptions, OrtStatus, OrtStatusPtr, OrtTensorTypeAndShapeInfo, OrtValue,
};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{MaybeUninit, forget};
use std::sync::Mutex;
use std::{env, ptr};

type RegisterCustomOps = unsafe extern "system" fn(*mut OrtSessionOptions, *const OrtApiBase) -> OrtStatusPtr;

/// Loads the file that cargo has made of the same crate, next to this program. A library that needs a symbol of Python or of an
/// ONNX Runtime does not load: Rust has all symbols bound at once. Also returns the function that a host needs, as an address that
/// is not bound to the handle.
fn load() -> (Library, RegisterCustomOps) {
    let name = format!("{}extremum_onnxruntime{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let path = env::current_exe().expect("this program has a path").with_file_name(name);
    // SAFETY: the library does nothing while it is loaded.
    let library = unsafe { Library::new(&path) };
    let library = library.unwrap_or_else(|error| panic!("{} does not load: {error}", path.display()));
    // SAFETY: the function has this type.
    let function = *unsafe { library.get::<RegisterCustomOps>(b"RegisterCustomOps\0") }.expect("it has the function");
    (library, function)
}

/// Registers the library; returns what went wrong, in words.
fn register(function: RegisterCustomOps) -> Option<String> {
    // SAFETY: the table is this host's, and the pointer to the options is not followed.
    text_of(unsafe { function(ptr::without_provenance_mut(1), &BASE) })
}

/// The operators that were added to a domain.
static OPERATORS: Mutex<Vec<&OrtCustomOp>> = Mutex::new(Vec::new());

fn operators() -> Vec<&'static OrtCustomOp> {
    OPERATORS.lock().expect("no test has failed").clone()
}

fn name(operator: &OrtCustomOp) -> String {
    // SAFETY: an operator has a name.
    unsafe { text(operator.GetName.expect("a function")(operator)) }
}

/// A tensor: what a value and its description point to.
#[derive(Clone)]
struct Tensor {
    number: i32,
    rank: usize,
    shape: Vec<i64>,
    words: [u64; 2],
}

/// A node without attributes, and a call of it: the information for a kernel and the context point to this.
struct Call {
    /// The inputs, as many as the node has; None for one that is left out.
    inputs: Vec<Option<Tensor>>,
    /// The outputs; None for one that is not wanted. The kernel sets their shape, the test their type and their memory.
    outputs: Vec<Option<Tensor>>,
}

/// # Safety
/// The text ends with a zero.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The text of a status, which is released.
fn text_of(status: OrtStatusPtr) -> Option<String> {
    // SAFETY: a status of this host, or null.
    (!status.0.is_null()).then(|| *unsafe { Box::from_raw(status.0.cast::<String>()) })
}

/// The functions of the host by their names in its table, and the table. Each function gets valid pointers to what its parameters
/// say; the unsafe blocks rely on that.
macro_rules! host {
    // The functions of the first list always succeed. Those of the second fail: no node of this host has an attribute.
    ([$($fine:ident($($of:ident: $its:ty),*) $work:block)*] [$($absent:ident($($to:ident: $room:ty),*))*]
     $($name:ident($($parameter:ident: $type:ty),*) -> $result:ty $body:block)*) => {
        host! { $($fine($($of: $its),*) -> Status { $work; OrtStatusPtr(ptr::null_mut()) })*
                $($absent(_info: *const OrtKernelInfo, name: *const c_char, $($to: $room),*) -> Status {
                    CreateStatus(OrtErrorCode::ORT_FAIL, name)
                })*
                $($name($($parameter: $type),*) -> $result $body)* }
    };
    ($($name:ident($($parameter:ident: $type:ty),*) -> $result:ty $body:block)*) => {
        $(#[allow(non_snake_case)]
        unsafe extern "system" fn $name($($parameter: $type),*) -> $result {
            // SAFETY: the library calls it as the C API documents it, with objects of this host.
            #[allow(unused_unsafe)]
            unsafe { $body }
        })*

        static TABLE: MaybeUninit<OrtApi> = {
            let mut table = MaybeUninit::<OrtApi>::zeroed();
            // SAFETY: these are places of functions in the table.
            unsafe { $((&raw mut (*table.as_mut_ptr()).$name).write($name);)* }
            table
        };
    };
}

type Status = OrtStatusPtr;
type Info = OrtTensorTypeAndShapeInfo;

host! {
    [
    CreateCustomOpDomain(name: *const c_char, domain: *mut *mut OrtCustomOpDomain) {
        assert_eq!(text(name), "ai.extremum");
        // The pointer is not followed.
        *domain = ptr::without_provenance_mut(1);
    }
    CustomOpDomain_Add(_domain: *mut OrtCustomOpDomain, operator: *const OrtCustomOp) {
        // The library never frees an operator.
        OPERATORS.lock().expect("no test has failed").push(&*operator);
    }
    AddCustomOpDomain(_options: *mut OrtSessionOptions, _domain: *mut OrtCustomOpDomain) {}
    HasSessionConfigEntry(_options: *const OrtSessionOptions, _key: *const c_char, has: *mut c_int) { *has = 0; }
    AddSessionConfigEntry(_options: *mut OrtSessionOptions, _key: *const c_char, _value: *const c_char) {}
    KernelInfo_GetInputCount(info: *const OrtKernelInfo, count: *mut usize) {
        let Call { inputs, .. } = &*info.cast();
        *count = inputs.len();
    }
    KernelInfo_GetOutputCount(info: *const OrtKernelInfo, count: *mut usize) {
        let Call { outputs, .. } = &*info.cast();
        *count = outputs.len();
    }
    KernelContext_GetInput(context: *const OrtKernelContext, index: usize, value: *mut *const OrtValue) {
        let Call { inputs, .. } = &mut *context.cast_mut().cast();
        *value = inputs[index].as_mut().map_or(ptr::null(), |tensor| ptr::from_mut(tensor).cast_const().cast());
    }
    KernelContext_GetOutput(
        context: *mut OrtKernelContext, index: usize, sizes: *const i64, rank: usize, value: *mut *mut OrtValue
    ) {
        let Call { outputs, .. } = &mut *context.cast();
        *value = outputs[index].as_mut().map_or(ptr::null_mut(), |tensor| {
            (tensor.shape, tensor.rank) = ((0..rank).map(|axis| *sizes.add(axis)).collect(), rank);
            ptr::from_mut(tensor).cast()
        });
    }
    GetTensorMutableData(value: *mut OrtValue, data: *mut *mut c_void) {
        *data = (*value.cast::<Tensor>()).words.as_mut_ptr().cast();
    }
    GetTensorTypeAndShape(value: *const OrtValue, info: *mut *mut Info) {
        *info = Box::into_raw(Box::new((*value.cast::<Tensor>()).clone())).cast();
    }
    GetTensorElementType(info: *const Info, number: *mut ONNXTensorElementDataType) {
        *number.cast::<i32>() = (*info.cast::<Tensor>()).number;
    }
    GetDimensionsCount(info: *const Info, count: *mut usize) { *count = (*info.cast::<Tensor>()).rank; }
    GetDimensions(info: *const Info, sizes: *mut i64, count: usize) {
        ptr::copy_nonoverlapping((*info.cast::<Tensor>()).shape.as_ptr(), sizes, count);
    }
    ]
    [
    KernelInfoGetAttribute_int64(_to: *mut i64)
    KernelInfoGetAttribute_float(_to: *mut f32)
    KernelInfoGetAttribute_string(_to: *mut c_char, _size: *mut usize)
    KernelInfoGetAttributeArray_int64(_to: *mut i64, _size: *mut usize)
    KernelInfoGetAttributeArray_float(_to: *mut f32, _size: *mut usize)
    ]
    CreateStatus(_code: OrtErrorCode, message: *const c_char) -> Status {
        OrtStatusPtr(Box::into_raw(Box::new(text(message))).cast())
    }
    ReleaseStatus(status: *mut OrtStatus) -> () { drop(text_of(OrtStatusPtr(status))) }
    ReleaseTensorTypeAndShapeInfo(info: *mut Info) -> () { drop(Box::from_raw(info.cast::<Tensor>())) }
}

extern "system" fn version() -> *const c_char {
    c"1.18.0".as_ptr()
}

extern "system" fn table(_: u32) -> *const OrtApi {
    TABLE.as_ptr()
}

const BASE: OrtApiBase = OrtApiBase { GetApi: table, GetVersionString: version };

#[test]
fn it_is_registered_and_stays() {
    let (library, function) = load();
    assert_eq!(register(function), None);
    let mut names: Vec<_> = operators().into_iter().map(name).collect();
    names.sort();
    assert_eq!(names, ["ArgReduce", "Extremum", "OneHot", "Reduce", "TopK"].map(|name| [name; 13]).as_flattened());

    // The host closes the library with the last session, and the registered operators are still there for the next session.
    library.close().expect("the library can be closed");
    assert_eq!(register(function), None);
    assert_eq!(operators().len(), 5 * 13);
}

const INT8: i32 = 3;
const INT64: i32 = 7;

fn tensor(number: i32, shape: &[i64], words: [u64; 2]) -> Option<Tensor> {
    Some(Tensor { number, rank: shape.len(), shape: shape.into(), words })
}

fn x() -> Option<Tensor> {
    tensor(INT64, &[2], [1, 3])
}

/// Makes a kernel for int64 and runs it on a call; returns the text of an error, if there is one.
fn outcome(operation: &str, call: &mut Call) -> Option<String> {
    let (library, function) = load();
    forget(library);
    assert_eq!(register(function), None);
    let mut kernel = ptr::null_mut();
    // SAFETY: the operator's own functions; the information and the context are the call.
    unsafe {
        let is_wanted = |operator: &&OrtCustomOp| {
            let first = operator.GetInputType.expect("a function")(*operator, 0);
            name(operator) == operation && first as i32 == INT64
        };
        let operator = operators().into_iter().find(is_wanted).expect("the library has it");
        let create = operator.CreateKernelV2.expect("a function");
        let status = create(operator, ptr::null(), ptr::from_ref(call).cast(), &raw mut kernel);
        text_of(status).or_else(|| {
            let done = operator.KernelComputeV2.expect("a function")(kernel, ptr::from_mut(call).cast());
            operator.KernelDestroy.expect("a function")(kernel);
            text_of(done)
        })
    }
}

#[test]
fn a_call_is_answered() {
    let list = |number: u64| vec![x(), tensor(INT64, &[1], [number, 0])];
    let output = || tensor(INT64, &[], [0, 0]);
    for inputs in [vec![x()], vec![x(), None], list(0)] {
        let mut call = Call { inputs, outputs: vec![output()] };
        assert_eq!(outcome("Reduce", &mut call), None);
        assert!(call.outputs[0].as_ref().is_some_and(|output| output.shape == [1] && output.words[0] == 3));
    }
    // An output that is not wanted is not written.
    assert_eq!(outcome("ArgReduce", &mut Call { inputs: vec![x()], outputs: vec![None] }), None);
    // If only one of two outputs is wanted, it is written.
    for outputs in [vec![output(), output()], vec![None, output()], vec![output(), None], vec![None, None]] {
        let mut call = Call { inputs: list(2), outputs };
        assert_eq!(outcome("TopK", &mut call), None);
        for (output, expected) in call.outputs.into_iter().zip([[3, 1], [1, 0]]) {
            assert!(output.is_none_or(|output| output.shape == [2] && output.words == expected));
        }
    }
}

#[test]
fn what_a_kernel_cannot_run_on_is_refused() {
    let list = |number, shape: &[i64]| vec![x(), tensor(number, shape, [7, 0])];
    let refusal = |operator: &str, inputs, outputs, message: &str| {
        let message = Some(format!("{operator}: {message}"));
        assert_eq!(outcome(operator, &mut Call { inputs, outputs }), message);
    };
    for (operator, inputs, output, message) in [
        ("Extremum", list(INT8, &[]), x(), "input 1 is of element type 3, not 7"),
        ("ArgReduce", vec![x()], tensor(INT8, &[], [0, 0]), "output 0 is of element type 3, not 7"),
        ("Reduce", list(INT8, &[1]), x(), "input 1 is of element type 3, not 7"),
    ] {
        let message = format!("{message}; help: make the model anew: its types contradict each other");
        refusal(operator, inputs, vec![output], &message);
    }
    let no_list = "input 1 is not a list: its shape is []; help: give axes as a tensor of rank 1";
    let no_axis =
        "axis 7 is out of range for an input of rank 1; given: int64[2], axes: [7]; help: use an axis in [-1, 0]";
    let no_k = "there is no k; given: int64[2]; help: give it as an attribute or as an input";
    let above = "k is 7, but axis 0 of the input has 2 elements; given: int64[2], k: [7]; help: use a k in [0, 2]";
    for (operator, inputs, outputs, message) in [
        ("Extremum", vec![x(), None], 1, "input 1 is left out; help: give every input"),
        ("Reduce", list(INT64, &[]), 1, no_list),
        ("Reduce", list(INT64, &[1]), 1, no_axis),
        ("TopK", vec![x()], 2, no_k),
        ("TopK", list(INT64, &[1]), 2, above),
    ] {
        refusal(operator, inputs, vec![x(); outputs], message);
    }
    for (operator, inputs, outputs, has) in [
        ("ArgReduce", 2, 1, "takes one input and has one output"),
        ("Extremum", 0, 1, "takes inputs and has one output"),
        ("Reduce", 3, 1, "takes one input and a list of axes and has one output"),
        ("TopK", 2, 1, "takes one input and k and has two outputs"),
    ] {
        let message = format!("the node has {inputs} inputs and {outputs} outputs; help: the operator {has}");
        refusal(operator, vec![x(); inputs], vec![None; outputs], &message);
    }
    // A panic is an error that asks for a report.
    let endless = Some(Tensor { rank: usize::MAX, ..x().expect("a tensor") });
    let message = "extremum failed inside, please report this: capacity overflow".into();
    assert_eq!(outcome("OneHot", &mut Call { inputs: vec![endless], outputs: vec![None] }), Some(message));
}
