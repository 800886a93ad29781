//! The attributes of a node, read while its kernel is made or while shapes are inferred.

use crate::api::{Api, Refusal, Result};
use ort_sys::{OrtKernelInfo, OrtOpAttr, OrtOpAttrType, OrtShapeInferContext};
use std::ffi::{CStr, CString, c_void};
use std::ptr;

/// Where attributes are read; an attribute that the node does not state is None.
pub trait Attributes {
    /// An integer.
    fn int(&self, name: &CStr) -> Result<Option<i64>>;
    /// A list of integers.
    fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>>;
    /// A text.
    fn text(&self, name: &CStr) -> Result<Option<String>>;

    /// An integer that is 0 or 1.
    fn flag(&self, name: &CStr, default: bool) -> Result<bool> {
        match self.int(name)? {
            None => Ok(default),
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => {
                let name = name.to_string_lossy();
                Err(Refusal::new(format!("attribute '{name}' takes 0 or 1, not {other}"), "use 0 or 1").into())
            }
        }
    }
}

/// The attributes of the node that a kernel is made for.
pub struct OfKernel(pub Api, pub *const OrtKernelInfo);

impl OfKernel {
    fn read_int(&self, name: &CStr) -> Option<i64> {
        let mut value = 0;
        // SAFETY: the name ends with a zero, the value is written on success only.
        let status = unsafe { ((*self.0.table()).KernelInfoGetAttribute_int64)(self.1, name.as_ptr(), &raw mut value) };
        self.0.succeeded(status).then_some(value)
    }

    fn read_ints(&self, name: &CStr) -> Option<Vec<i64>> {
        // SAFETY: the table has the function.
        let read = unsafe { (*self.0.table()).KernelInfoGetAttributeArray_int64 };
        let mut size = 0;
        // SAFETY: without room the call says how much is needed.
        let status = unsafe { read(self.1, name.as_ptr(), ptr::null_mut(), &raw mut size) };
        if !self.0.succeeded(status) {
            return None;
        }
        let mut values = vec![0; size];
        // SAFETY: the room is what was asked for.
        let status = unsafe { read(self.1, name.as_ptr(), values.as_mut_ptr(), &raw mut size) };
        self.0.succeeded(status).then_some(values)
    }

    fn read_text(&self, name: &CStr) -> Option<String> {
        // SAFETY: the table has the function.
        let read = unsafe { (*self.0.table()).KernelInfoGetAttribute_string };
        let mut size = 0;
        // SAFETY: without room the call says how much is needed.
        let status = unsafe { read(self.1, name.as_ptr(), ptr::null_mut(), &raw mut size) };
        if !self.0.succeeded(status) {
            return None;
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the room is what was asked for.
        let status = unsafe { read(self.1, name.as_ptr(), bytes.as_mut_ptr().cast(), &raw mut size) };
        bytes.pop();
        self.0.succeeded(status).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_float(&self, name: &CStr) -> Option<f32> {
        let mut value = 0.0;
        // SAFETY: as for an integer.
        let status = unsafe { ((*self.0.table()).KernelInfoGetAttribute_float)(self.1, name.as_ptr(), &raw mut value) };
        self.0.succeeded(status).then_some(value)
    }

    /// Passes a value on; none is fine only where the node has no attribute of that name in any type.
    fn unless_mistyped<T>(&self, name: &CStr, wanted: &str, value: Option<T>) -> Result<Option<T>> {
        let stated = || {
            self.read_int(name).is_some()
                || self.read_ints(name).is_some_and(|values| !values.is_empty())
                || self.read_text(name).is_some()
                || self.read_float(name).is_some()
        };
        if value.is_none() && stated() {
            let reason = format!("attribute '{}' is not {wanted}", name.to_string_lossy());
            return Err(Refusal::new(reason, format!("give it as {wanted}")).into());
        }
        Ok(value)
    }
}

impl Attributes for OfKernel {
    fn int(&self, name: &CStr) -> Result<Option<i64>> {
        self.unless_mistyped(name, "an integer", self.read_int(name))
    }

    fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>> {
        self.unless_mistyped(name, "a list of integers", self.read_ints(name))
    }

    fn text(&self, name: &CStr) -> Result<Option<String>> {
        self.unless_mistyped(name, "a text", self.read_text(name))
    }
}

/// The attributes of the node whose output shape is asked for.
pub struct OfInference(pub Api, pub *const OrtShapeInferContext);

impl OfInference {
    /// Reads an attribute into a buffer that grows until the value fits; its length in bytes is known afterwards.
    fn read(&self, name: &CStr, kind: OrtOpAttrType) -> Option<Vec<u64>> {
        let mut attribute: *const OrtOpAttr = ptr::null();
        let table = self.0.table();
        // SAFETY: the name ends with a zero; the attribute belongs to the node.
        let status = unsafe { ((*table).ShapeInferContext_GetAttribute)(self.1, name.as_ptr(), &raw mut attribute) };
        if !self.0.succeeded(status) {
            return None;
        }
        let mut words = vec![0u64; 1];
        loop {
            let room = words.len() * size_of::<u64>();
            let mut needed = 0;
            // SAFETY: the buffer has the room that is stated.
            let status = unsafe {
                ((*table).ReadOpAttr)(attribute, kind, words.as_mut_ptr().cast::<c_void>(), room, &raw mut needed)
            };
            let read = self.0.succeeded(status);
            if read || needed <= room {
                words.truncate(needed.div_ceil(size_of::<u64>()));
                return read.then_some(words);
            }
            words.resize(needed.div_ceil(size_of::<u64>()), 0);
        }
    }
}

impl Attributes for OfInference {
    fn int(&self, name: &CStr) -> Result<Option<i64>> {
        Ok(self.read(name, OrtOpAttrType::ORT_OP_ATTR_INT).map(|words| words[0] as i64))
    }

    fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>> {
        let words = self.read(name, OrtOpAttrType::ORT_OP_ATTR_INTS);
        Ok(words.map(|words| words.into_iter().map(|word| word as i64).collect()))
    }

    fn text(&self, name: &CStr) -> Result<Option<String>> {
        let words = self.read(name, OrtOpAttrType::ORT_OP_ATTR_STRING);
        let bytes = words.map(|words| words.into_iter().flat_map(u64::to_ne_bytes).collect::<Vec<u8>>());
        let text = bytes.and_then(|bytes| CStr::from_bytes_until_nul(&bytes).ok().map(CString::from));
        Ok(text.map(|text| text.to_string_lossy().into_owned()))
    }
}
