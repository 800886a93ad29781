//! The attributes of a node, read while its kernel is made or while shapes are inferred.

use crate::api::{Api, Result, refuse};
use ort_sys::{OrtKernelInfo, OrtOpAttrType, OrtShapeInferContext, OrtStatusPtr};
use std::ffi::CStr;
use std::ptr;

/// What an attribute holds.
pub enum Value {
    Int(i64),
    Text(String),
    /// At least one.
    Ints(Vec<i64>),
    /// A value of a kind that no attribute here has, as text for a message.
    Other(String),
}

/// The attributes of a node; an attribute that the node does not state reads as None.
pub struct Attributes<'a> {
    /// The names that the operator has. The C API cannot list what else a node has.
    pub own: &'static [&'static CStr],
    /// Reads the value of the attribute with a name.
    pub value: &'a dyn Fn(&CStr) -> Option<Value>,
}

impl Attributes<'_> {
    /// Reads an attribute of the wanted kind; refuses another kind, and an attribute of another operator.
    fn read<T>(&self, name: &CStr, kind: &str, take: impl Fn(&Value) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = (self.value)(name) else { return Ok(None) };
        let is_own = self.own.contains(&name);
        let name = name.to_string_lossy();
        if !is_own {
            let own: Vec<_> = self.own.iter().map(|name| name.to_string_lossy()).collect();
            return refuse(format!("there is no attribute '{name}'"), format!("the attributes are {}", own.join(", ")));
        }
        if let Some(result) = take(&value) {
            return Ok(Some(result));
        }
        let given = match value {
            Value::Int(value) => value.to_string(),
            Value::Text(value) => format!("{value:?}"),
            Value::Ints(values) => format!("{values:?}"),
            Value::Other(value) => value,
        };
        let reason = format!("attribute '{name}' is not {kind}; given: {name}={given}");
        refuse(reason, format!("give it as {kind}"))
    }

    pub fn int(&self, name: &CStr) -> Result<Option<i64>> {
        self.read(name, "an integer", |value| if let Value::Int(value) = value { Some(*value) } else { None })
    }

    /// A list of at least one integer.
    pub fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>> {
        let ints = |value: &Value| if let Value::Ints(values) = value { Some(values.clone()) } else { None };
        self.read(name, "a list of at least one integer", ints)
    }

    /// An integer that is 0 or 1.
    pub fn flag(&self, name: &CStr, default: bool) -> Result<bool> {
        match self.int(name)? {
            None => Ok(default),
            Some(value @ (0 | 1)) => Ok(value == 1),
            Some(other) => {
                refuse(format!("attribute '{}' takes 0 or 1, not {other}", name.to_string_lossy()), "use 0 or 1")
            }
        }
    }

    /// The attribute `order`: whether the largest is wanted, or the smallest.
    pub fn largest(&self) -> Result<bool> {
        let text = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
        match self.read(c"order", "a text", text)?.as_deref() {
            None | Some("max") => Ok(true),
            Some("min") => Ok(false),
            Some(other) => refuse(format!("attribute 'order' is '{other}'"), "use 'max', the default, or 'min'"),
        }
    }
}

/// Reads an attribute while a kernel is made.
///
/// When ONNX Runtime is asked for a list, it ignores the kind: an attribute of another kind reads as an empty list.
///
/// # Safety
/// The information is of the API's ONNX Runtime, and valid for the call.
pub unsafe fn of_kernel(api: Api, info: *const OrtKernelInfo, name: &CStr) -> Option<Value> {
    let name = name.as_ptr();
    let table = api.table;
    // SAFETY: the caller's promise; the name ends with a zero, `one` and `list` give the room that they state, and a C
    // character is as large as a byte.
    unsafe {
        if let Some(value) = one(api, |value| ((*table).KernelInfoGetAttribute_int64)(info, name, value)) {
            return Some(Value::Int(value));
        }
        if let Some(value) = one::<f32>(api, |value| ((*table).KernelInfoGetAttribute_float)(info, name, value)) {
            return Some(Value::Other(format!("{value:?}")));
        }
        let text = |bytes: *mut u8, size| ((*table).KernelInfoGetAttribute_string)(info, name, bytes.cast(), size);
        if let Some(bytes) = list(api, text) {
            let text = bytes.split_last().map_or(&[][..], |(_zero, text)| text);
            return Some(Value::Text(String::from_utf8_lossy(text).into_owned()));
        }
        let ints = list(api, |values, size| ((*table).KernelInfoGetAttributeArray_int64)(info, name, values, size));
        let floats: Option<Vec<f32>> =
            list(api, |values, size| ((*table).KernelInfoGetAttributeArray_float)(info, name, values, size));
        match (ints, floats) {
            (Some(ints), _) if !ints.is_empty() => Some(Value::Ints(ints)),
            (_, Some(floats)) if !floats.is_empty() => Some(Value::Other(format!("{floats:?}"))),
            (ints, _) => ints.map(|_| Value::Other("(an empty list, or neither numbers nor a text)".into())),
        }
    }
}

/// Reads an attribute while shapes are inferred. No shape depends on a text, so only numbers are read.
///
/// # Safety
/// The context is of the API's ONNX Runtime, and valid for the call.
pub unsafe fn of_inference(api: Api, context: *const OrtShapeInferContext, name: &CStr) -> Option<Value> {
    let table = api.table;
    let mut attribute = ptr::null();
    // SAFETY: the caller's promise; the name ends with a zero.
    let status = unsafe { ((*table).ShapeInferContext_GetAttribute)(context, name.as_ptr(), &raw mut attribute) };
    if !api.is_success(status) {
        return None;
    }
    let ints = |kind| {
        // SAFETY: the attribute belongs to the node; `list` gives the room that it states, here in bytes.
        list(api, |values: *mut i64, size: *mut usize| unsafe {
            let status = ((*table).ReadOpAttr)(attribute, kind, values.cast(), *size * size_of::<i64>(), size);
            *size /= size_of::<i64>();
            status
        })
    };
    let int = ints(OrtOpAttrType::ORT_OP_ATTR_INT).map(|value| Value::Int(value[0]));
    int.or_else(|| ints(OrtOpAttrType::ORT_OP_ATTR_INTS).filter(|values| !values.is_empty()).map(Value::Ints))
}

fn one<T: Default>(api: Api, read: impl FnOnce(*mut T) -> OrtStatusPtr) -> Option<T> {
    let mut value = T::default();
    api.is_success(read(&raw mut value)).then_some(value)
}

/// Reads a list by asking for its length first: `read` gets room, or null, and the number of values there is room for.
fn list<T: Default + Clone>(api: Api, read: impl Fn(*mut T, *mut usize) -> OrtStatusPtr) -> Option<Vec<T>> {
    let mut size = 0;
    // `ReadOpAttr` tells the length while it fails.
    if !api.is_success(read(ptr::null_mut(), &raw mut size)) && size == 0 {
        return None;
    }
    let mut values = vec![T::default(); size];
    (size == 0 || api.is_success(read(values.as_mut_ptr(), &raw mut size))).then_some(values)
}
