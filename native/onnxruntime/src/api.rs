//! The C API that a host hands over: its calls as results, failures as statuses, and descriptions of tensors.

use ort_sys::{OrtApi, OrtApiBase, OrtErrorCode, OrtStatusPtr, OrtTensorTypeAndShapeInfo, OrtValue};
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

pub type Result<T> = std::result::Result<T, Failure>;

/// Why something failed.
pub enum Failure {
    /// Refused here: what is wrong, in one sentence without a full stop, and the values that were given; what is right.
    Refusal { reason: String, help: String },
    /// Refused by ONNX Runtime: its status goes back unchanged.
    Status(OrtStatusPtr),
}

impl Failure {
    /// Adds what was given.
    pub fn given(mut self, values: &str) -> Self {
        if let Self::Refusal { reason, .. } = &mut self {
            *reason = format!("{reason}; given: {values}");
        }
        self
    }

    /// Adds the name of the operator that refuses.
    pub fn of(mut self, name: &CStr) -> Self {
        if let Self::Refusal { reason, .. } = &mut self {
            *reason = format!("{}: {reason}", name.to_string_lossy());
        }
        self
    }
}

pub fn refuse<T>(reason: impl Into<String>, help: impl Into<String>) -> Result<T> {
    Err(Failure::Refusal { reason: reason.into(), help: help.into() })
}

/// The oldest version of the C API that works here: ONNX Runtime 1.18 is the first that infers the type of an operator
/// with any number of inputs.
pub const OLDEST: u32 = 18;

/// The most characters of a message.
const MESSAGE_MOST_CHARACTERS: usize = 1000;

/// The table of functions of the ONNX Runtime that called us.
#[derive(Clone, Copy)]
pub struct Api {
    /// The functions; of the declared ones, those of [`OLDEST`]. Not a reference: an older ONNX Runtime has a shorter table.
    pub table: *const OrtApi,
    /// Whether the table has `GetTensorElementTypeAndShapeDataReference` too, as it has since ONNX Runtime 1.24.
    pub refers_to_shapes: bool,
}

// SAFETY: the table is constant and its functions may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// Runs `work` with the table of an ONNX Runtime, and refuses one that is too old.
    ///
    /// The status is null too if not even the function that makes a status is available.
    ///
    /// # Safety
    /// `base` is null or comes from an ONNX Runtime that stays loaded.
    pub unsafe fn with(base: *const OrtApiBase, work: impl FnOnce(Self) -> Result<()>) -> OrtStatusPtr {
        // SAFETY: the caller's promise.
        let Some(base) = (unsafe { base.as_ref() }) else { return OrtStatusPtr(ptr::null_mut()) };
        // SAFETY: the caller's promise; the version is a constant text.
        let version = unsafe { (base.GetVersionString)().as_ref().map(|text| CStr::from_ptr(text)) };
        let version = version.map_or("of no version".into(), CStr::to_string_lossy);
        let minor = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0);
        let old = version.starts_with("0.") || version.starts_with("1.") && minor < OLDEST;
        // An ONNX Runtime prints to stderr when it is asked for a version that it lacks, so an old one is not asked.
        // SAFETY: the caller's promise.
        let table = if old { ptr::null() } else { unsafe { (base.GetApi)(OLDEST) } };
        let fits = !table.is_null();
        // Every ONNX Runtime has version 1, and only the function that makes a status is called from its table.
        // SAFETY: the caller's promise.
        let table = if fits { table } else { unsafe { (base.GetApi)(1) } };
        if table.is_null() {
            return OrtStatusPtr(ptr::null_mut());
        }
        let api = Self { table, refers_to_shapes: minor >= 24 };
        let reason = format!("extremum needs ONNX Runtime 1.{OLDEST} or later, this is {version}");
        api.status(|| if fits { work(api) } else { refuse(reason, "upgrade onnxruntime") })
    }

    /// Whether a status says that a call succeeded; releases the status.
    pub fn is_success(self, status: OrtStatusPtr) -> bool {
        if status.0.is_null() {
            return true;
        }
        // SAFETY: the status is ours, and this is its only release.
        unsafe { ((*self.table).ReleaseStatus)(status.0) };
        false
    }

    /// Runs `work` and turns its result, or its panic, into a status.
    pub fn status(self, work: impl FnOnce() -> Result<()>) -> OrtStatusPtr {
        // Nothing that a panic leaves behind is used again: the output is discarded with the run.
        let (code, text) = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => return OrtStatusPtr(ptr::null_mut()),
            Ok(Err(Failure::Status(status))) => return status,
            Ok(Err(Failure::Refusal { reason, help })) => {
                (OrtErrorCode::ORT_INVALID_ARGUMENT, format!("{reason}; help: {help}"))
            }
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(ToString::to_string);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                (OrtErrorCode::ORT_FAIL, format!("extremum failed inside, please report this: {text}"))
            }
        };
        // The text quotes the model, which may make it long.
        let text = match text.char_indices().nth(MESSAGE_MOST_CHARACTERS) {
            None => text,
            Some((end, _)) => format!("{} ...", &text[..end]),
        };
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the text ends with a zero and is copied.
        unsafe { ((*self.table).CreateStatus)(code, text.as_ptr()) }
    }
}

/// Calls a function of the table and returns early if its status says that it failed.
macro_rules! call {
    ($api:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let api: $crate::api::Api = $api;
        // SAFETY: the function is called as the C API documents it, with pointers that are valid for the call.
        let status = unsafe { ((*api.table).$function)($($argument),*) };
        if !status.0.is_null() {
            return Err($crate::api::Failure::Status(status));
        }
    }};
}
pub(crate) use call;

/// What a description says: the number of the element type in the C API, which may be an undeclared number, and the shape.
///
/// # Safety
/// The description is of the API's ONNX Runtime.
pub unsafe fn tensor_from(api: Api, info: *const OrtTensorTypeAndShapeInfo) -> Result<(i32, Vec<i64>)> {
    let mut number = 0i32;
    let mut rank = 0;
    call!(api, GetTensorElementType(info, (&raw mut number).cast()));
    call!(api, GetDimensionsCount(info, &raw mut rank));
    let mut shape = vec![0; rank];
    call!(api, GetDimensions(info, shape.as_mut_ptr(), rank));
    Ok((number, shape))
}

/// The number of the element type of a tensor, and its shape.
///
/// # Safety
/// The value is of the API's ONNX Runtime and outlives what is returned.
pub unsafe fn tensor_of<'a>(api: Api, value: *const OrtValue) -> Result<(i32, Cow<'a, [i64]>)> {
    if api.refers_to_shapes {
        // A description takes three allocations: a fifth of the cost of a small node.
        let mut number = 0i32;
        let mut sizes = ptr::null();
        let mut rank = 0;
        let element = (&raw mut number).cast();
        call!(api, GetTensorElementTypeAndShapeDataReference(value, element, &raw mut sizes, &raw mut rank));
        // SAFETY: the sizes belong to the tensor; a tensor of rank 0 may have none.
        let shape = if rank == 0 { &[] } else { unsafe { slice::from_raw_parts(sizes, rank) } };
        return Ok((number, shape.into()));
    }
    let mut info = ptr::null_mut();
    call!(api, GetTensorTypeAndShape(value, &raw mut info));
    // SAFETY: the description was made by the API's ONNX Runtime.
    let described = unsafe { tensor_from(api, info) };
    // SAFETY: the description is ours, and this is its only release.
    unsafe { ((*api.table).ReleaseTensorTypeAndShapeInfo)(info) };
    described.map(|(number, shape)| (number, shape.into()))
}
