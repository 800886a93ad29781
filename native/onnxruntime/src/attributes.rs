//! The attributes of a node, read while its kernel is made or while shapes are inferred.

use crate::api::{Api, Refusal, Result, refuse};
use crate::operators::{OPERATORS, PerAxis};
use ort_sys::{OrtKernelInfo, OrtOpAttr, OrtOpAttrType, OrtShapeInferContext, OrtStatusPtr};
use std::ffi::{CStr, c_void};
use std::{mem, ptr};

/// The value of an attribute.
pub enum Value {
    Int(i64),
    Text(String),
    /// At least one.
    Ints(Vec<i64>),
    /// A value that no attribute has, as a message says it.
    Other(String),
}

impl Value {
    fn mistyped<T>(&self, name: &CStr, wanted: &str) -> Result<T> {
        let name = name.to_string_lossy();
        let given = match self {
            Self::Int(value) => format!("{name}={value}"),
            Self::Text(value) => format!("{name}={value:?}"),
            Self::Ints(values) => format!("{name}={values:?}"),
            Self::Other(value) => format!("{name}={value}"),
        };
        Err(Refusal::new(format!("attribute '{name}' is not {wanted}"), format!("give it as {wanted}")).given(given))
    }
}

/// Where attributes are read; an attribute that the node does not state is None.
pub trait Attributes {
    /// The value of an attribute, whatever its kind.
    fn value(&self, name: &CStr) -> Option<Value>;

    /// An integer.
    fn int(&self, name: &CStr) -> Result<Option<i64>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Int(value)) => Ok(Some(value)),
            Some(other) => other.mistyped(name, "an integer"),
        }
    }

    /// A list of integers, at least one.
    fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Ints(values)) => Ok(Some(values)),
            Some(other) => other.mistyped(name, "a list of at least one integer"),
        }
    }

    /// An integer that is 0 or 1.
    fn flag(&self, name: &CStr, default: bool) -> Result<bool> {
        match self.int(name)? {
            None => Ok(default),
            Some(value @ (0 | 1)) => Ok(value == 1),
            Some(other) => {
                refuse(format!("attribute '{}' takes 0 or 1, not {other}", name.to_string_lossy()), "use 0 or 1")
            }
        }
    }

    /// The attribute `order`: whether the largest is wanted, or the smallest.
    fn largest(&self) -> Result<bool> {
        match self.value(c"order") {
            None => Ok(true),
            Some(Value::Text(order)) if order == "max" || order == "min" => Ok(order == "max"),
            Some(Value::Text(other)) => {
                refuse(format!("attribute 'order' is '{other}'"), "use 'max', the default, or 'min'")
            }
            Some(other) => other.mistyped(c"order", "a text"),
        }
    }
}

/// The attributes of the node that a kernel is made for.
pub struct OfKernel {
    api: Api,
    info: *const OrtKernelInfo,
}

impl OfKernel {
    /// The attributes behind the information that a kernel is made from.
    ///
    /// # Safety
    /// The information is of the API's ONNX Runtime and outlives what is made here.
    pub unsafe fn new(api: Api, info: *const OrtKernelInfo) -> Self {
        Self { api, info }
    }

    /// Refuses attributes of other operators of the domain; the C API cannot list what else a node has.
    pub fn refuse_all_but(&self, own: &[&CStr]) -> Result<()> {
        let mut all = OPERATORS.iter().flat_map(|operator| operator.attributes);
        match all.find(|name| !own.contains(name) && self.value(name).is_some()) {
            None => Ok(()),
            Some(name) => {
                let own: Vec<_> = own.iter().map(|name| name.to_string_lossy()).collect();
                let reason = format!("there is no attribute '{}'", name.to_string_lossy());
                refuse(reason, format!("the attributes are {}", own.join(", ")))
            }
        }
    }

    /// Reads one value.
    fn one<T: Default>(&self, read: impl FnOnce(*mut T) -> OrtStatusPtr) -> Option<T> {
        let mut value = T::default();
        self.api.succeeded(read(&raw mut value)).then_some(value)
    }

    /// Reads a list by asking for its length first: `read` gets room, or null, and the number of values there is room for.
    fn list<T: Default + Clone>(&self, read: impl Fn(*mut T, *mut usize) -> OrtStatusPtr) -> Option<Vec<T>> {
        let mut size = 0;
        if !self.api.succeeded(read(ptr::null_mut(), &raw mut size)) {
            return None;
        }
        let mut values = vec![T::default(); size];
        (size == 0 || self.api.succeeded(read(values.as_mut_ptr(), &raw mut size))).then_some(values)
    }
}

impl Attributes for OfKernel {
    /// (ONNX Runtime looks at no kind where it is asked for a list: one of another kind is an empty list to it.)
    fn value(&self, name: &CStr) -> Option<Value> {
        let (info, name, table) = (self.info, name.as_ptr(), self.api.table);
        // SAFETY: the promise of `new`; the name ends with a zero, `one` and `list` give the room that they say, and a C
        // character and a byte are of one size.
        unsafe {
            if let Some(value) = self.one(|value| ((*table).KernelInfoGetAttribute_int64)(info, name, value)) {
                return Some(Value::Int(value));
            }
            if let Some(value) = self.one(|value| ((*table).KernelInfoGetAttribute_float)(info, name, value)) {
                return Some(Value::Other(format!("{value:?}")));
            }
            let text = |bytes: *mut u8, size| ((*table).KernelInfoGetAttribute_string)(info, name, bytes.cast(), size);
            if let Some(bytes) = self.list(text) {
                let text = bytes.split_last().map_or(&[][..], |(_zero, text)| text);
                return Some(Value::Text(String::from_utf8_lossy(text).into_owned()));
            }
            let ints = self.list(|values, size| ((*table).KernelInfoGetAttributeArray_int64)(info, name, values, size));
            let floats =
                self.list(|values, size| ((*table).KernelInfoGetAttributeArray_float)(info, name, values, size));
            match (ints, floats) {
                (Some(ints), _) if !ints.is_empty() => Some(Value::Ints(ints)),
                (_, Some(floats)) if !floats.is_empty() => Some(Value::Other(format!("{floats:?}"))),
                (ints, _) => ints.map(|_| Value::Other("(an empty list, or neither numbers nor a text)".into())),
            }
        }
    }
}

/// The attributes of the node whose output shape is asked for.
pub struct OfInference {
    api: Api,
    context: *const OrtShapeInferContext,
}

impl OfInference {
    /// The attributes behind the context of an inference.
    ///
    /// # Safety
    /// The context is of the API's ONNX Runtime and outlives what is made here.
    pub unsafe fn new(api: Api, context: *const OrtShapeInferContext) -> Self {
        Self { api, context }
    }

    /// Reads an attribute into a buffer that grows until the value fits; its length in bytes is known afterwards.
    fn read(&self, attribute: *const OrtOpAttr, kind: OrtOpAttrType) -> Option<Vec<u64>> {
        let mut words = vec![0u64; 1];
        loop {
            let (room, mut needed) = (words.len() * size_of::<u64>(), 0);
            let data = words.as_mut_ptr().cast::<c_void>();
            // SAFETY: the buffer has the room that is stated.
            let status = unsafe { ((*self.api.table).ReadOpAttr)(attribute, kind, data, room, &raw mut needed) };
            let read = self.api.succeeded(status);
            words.resize(needed.div_ceil(size_of::<u64>()), 0);
            if read || needed <= room {
                return (read && needed > 0).then_some(words);
            }
        }
    }
}

impl Attributes for OfInference {
    fn value(&self, name: &CStr) -> Option<Value> {
        let mut attribute: *const OrtOpAttr = ptr::null();
        // SAFETY: the promise of `new`; the name ends with a zero, the attribute belongs to the node.
        let status = unsafe {
            ((*self.api.table).ShapeInferContext_GetAttribute)(self.context, name.as_ptr(), &raw mut attribute)
        };
        if !self.api.succeeded(status) {
            return None;
        }
        if let Some(words) = self.read(attribute, OrtOpAttrType::ORT_OP_ATTR_INT) {
            return Some(Value::Int(words[0] as i64));
        }
        if let Some(words) = self.read(attribute, OrtOpAttrType::ORT_OP_ATTR_INTS) {
            return Some(Value::Ints(words.into_iter().map(|word| word as i64).collect()));
        }
        let words = self.read(attribute, OrtOpAttrType::ORT_OP_ATTR_STRING)?;
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).collect();
        Some(Value::Text(CStr::from_bytes_until_nul(&bytes).ok()?.to_string_lossy().into_owned()))
    }
}

/// The axes that a node looks along.
pub struct Axes {
    /// Those of `axes`.
    pub listed: Option<Vec<i64>>,
    axis: Option<i64>,
    /// Whether all axes that follow the one are meant too.
    to_last: bool,
}

impl Axes {
    /// Reads `axes`, `axis` and `to_last`.
    pub fn read(attributes: &impl Attributes) -> Result<Self> {
        let (listed, axis) = (attributes.ints(c"axes")?, attributes.int(c"axis")?);
        let to_last = attributes.flag(c"to_last", false)?;
        if listed.is_some() && (axis.is_some() || to_last) {
            let reason = "attribute 'axes' cannot stand beside 'axis' or 'to_last'";
            return refuse(reason, "list all axes, or give one axis");
        }
        Ok(Self { listed, axis, to_last })
    }

    /// Those of an input of some rank; the defaults are those of `axis` without and with `to_last`.
    pub fn of(&self, rank: usize, one: i64, first: i64) -> Result<Chosen> {
        let axis = [self.axis.unwrap_or(if self.to_last { first } else { one })];
        let Chosen(mut chosen) = Chosen::listed(self.listed.as_deref().unwrap_or(&axis), rank)?;
        for axis in 1..if self.to_last { rank } else { 0 } {
            chosen[axis] |= chosen[axis - 1];
        }
        Ok(Chosen(chosen))
    }
}

/// Of each axis of an input whose rank is known, whether it is among those that a node looks along.
pub struct Chosen(pub PerAxis<bool>);

impl Chosen {
    /// Those of a list.
    pub fn listed(axes: &[i64], rank: usize) -> Result<Self> {
        let mut chosen = PerAxis::from_elem(false, rank);
        for &axis in axes {
            if mem::replace(&mut chosen[position(axis, rank)?], true) {
                return refuse(format!("axis {axis} is listed twice"), "list each axis once");
            }
        }
        Ok(Self(chosen))
    }

    /// Refuses a shape of which one of them has no element.
    pub fn refuse_empty(&self, shape: &[i64]) -> Result<()> {
        match shape.iter().zip(&self.0).position(|(&size, &chosen)| size == 0 && chosen) {
            None => Ok(()),
            Some(axis) => {
                let reason = format!("there is nothing to choose from: axis {axis} of the input has no element");
                refuse(reason, "reduce axes that are not empty")
            }
        }
    }

    /// What a reduction over them leaves of a shape.
    pub fn reduced(&self, shape: &[i64], keepdims: bool) -> PerAxis<i64> {
        let sizes = shape.iter().zip(&self.0).filter(|&(_, &chosen)| keepdims || !chosen);
        sizes.map(|(&size, &chosen)| if chosen { 1 } else { size }).collect()
    }
}

fn position(axis: i64, rank: usize) -> Result<usize> {
    let from_front = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    if (0..rank as i64).contains(&from_front) {
        return Ok(from_front as usize);
    }
    let help = match rank {
        0 => "give it at least one axis".into(),
        _ => format!("use an axis in [-{rank}, {}]", rank - 1),
    };
    refuse(format!("axis {axis} is out of range for an input of rank {rank}"), help)
}
