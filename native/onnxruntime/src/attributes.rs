//! The attributes of a node, read while its kernel is made or while shapes are inferred.

use crate::api::{Api, Refusal, Result};
use crate::operators::PerAxis;
use ort_sys::{OrtKernelInfo, OrtOpAttr, OrtOpAttrType, OrtShapeInferContext, OrtStatusPtr};
use std::ffi::{CStr, CString, c_void};
use std::ops::Range;
use std::{mem, ptr};

/// Where attributes are read; an attribute that the node does not state is None.
pub trait Attributes {
    /// An integer.
    fn int(&self, name: &CStr) -> Result<Option<i64>>;
    /// A list of integers, at least one.
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

/// The attributes of all operators of the domain.
const NAMES: [&CStr; 9] = [
    c"order",
    c"axes",
    c"axis",
    c"to_last",
    c"keepdims",
    c"select_last_index",
    c"broadcast",
    c"noop_with_empty_axes",
    c"identity",
];

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
        match NAMES.iter().find(|name| !own.contains(name) && self.stated(name)) {
            None => Ok(()),
            Some(name) => {
                let own: Vec<_> = own.iter().map(|name| name.to_string_lossy()).collect();
                let reason = format!("there is no attribute '{}'", name.to_string_lossy());
                Err(Refusal::new(reason, format!("the attributes are {}", own.join(", "))).into())
            }
        }
    }

    /// Whether the node has an attribute of that name, whatever its kind.
    ///
    /// ONNX Runtime looks at no kind where it is asked for a list: one of another kind is an empty list to it.
    fn stated(&self, name: &CStr) -> bool {
        self.read_ints(name).is_some()
            || self.read_int(name).is_some()
            || self.read_float(name).is_some()
            || self.read_text(name).is_some()
    }

    fn read_int(&self, name: &CStr) -> Option<i64> {
        let mut value = 0;
        // SAFETY: the promise of `new`; the name ends with a zero, the value is written on success only.
        let status =
            unsafe { ((*self.api.table()).KernelInfoGetAttribute_int64)(self.info, name.as_ptr(), &raw mut value) };
        self.api.succeeded(status).then_some(value)
    }

    fn read_float(&self, name: &CStr) -> Option<f32> {
        let mut value = 0.0;
        // SAFETY: as for an integer.
        let status =
            unsafe { ((*self.api.table()).KernelInfoGetAttribute_float)(self.info, name.as_ptr(), &raw mut value) };
        self.api.succeeded(status).then_some(value)
    }

    fn read_ints(&self, name: &CStr) -> Option<Vec<i64>> {
        // SAFETY: the table has the function.
        let read = unsafe { (*self.api.table()).KernelInfoGetAttributeArray_int64 };
        // SAFETY: the promise of `new`; the name ends with a zero, and `read_list` gives the room that it says.
        self.read_list(|values, size| unsafe { read(self.info, name.as_ptr(), values, size) })
    }

    fn read_floats(&self, name: &CStr) -> Option<Vec<f32>> {
        // SAFETY: the table has the function.
        let read = unsafe { (*self.api.table()).KernelInfoGetAttributeArray_float };
        // SAFETY: as for integers.
        self.read_list(|values, size| unsafe { read(self.info, name.as_ptr(), values, size) })
    }

    fn read_text(&self, name: &CStr) -> Option<String> {
        // SAFETY: the table has the function.
        let read = unsafe { (*self.api.table()).KernelInfoGetAttribute_string };
        // SAFETY: as for integers; a C character and a byte are of one size.
        let bytes =
            self.read_list(|bytes: *mut u8, size| unsafe { read(self.info, name.as_ptr(), bytes.cast(), size) });
        bytes.map(|bytes| {
            let text = bytes.split_last().map_or(&[][..], |(_zero, text)| text);
            String::from_utf8_lossy(text).into_owned()
        })
    }

    /// Reads a list by asking for its length first: `read` gets room, or null, and the number of values there is room for.
    fn read_list<T: Default + Clone>(&self, read: impl Fn(*mut T, *mut usize) -> OrtStatusPtr) -> Option<Vec<T>> {
        let mut size = 0;
        if !self.api.succeeded(read(ptr::null_mut(), &raw mut size)) {
            return None;
        }
        let mut values = vec![T::default(); size];
        if size > 0 && !self.api.succeeded(read(values.as_mut_ptr(), &raw mut size)) {
            return None;
        }
        Some(values)
    }

    /// Passes a value on; none is fine only where the node has no attribute of that name.
    fn unless_mistyped<T>(&self, name: &CStr, wanted: &str, value: Option<T>) -> Result<Option<T>> {
        if value.is_none() && self.stated(name) {
            let name = name.to_string_lossy();
            return Err(Refusal {
                given: Some(format!("{name}={}", self.given(&name))),
                ..Refusal::new(format!("attribute '{name}' is not {wanted}"), format!("give it as {wanted}"))
            }
            .into());
        }
        Ok(value)
    }

    /// The value of an attribute, as far as it can be read.
    fn given(&self, name: &str) -> String {
        let name = &CString::new(name).unwrap_or_default();
        let integer = self.read_int(name).map(|value| value.to_string());
        integer
            .or_else(|| self.read_float(name).map(|value| format!("{value:?}")))
            .or_else(|| self.read_text(name).map(|value| format!("{value:?}")))
            .or_else(|| self.read_ints(name).filter(|list| !list.is_empty()).map(|list| format!("{list:?}")))
            .or_else(|| self.read_floats(name).filter(|list| !list.is_empty()).map(|list| format!("{list:?}")))
            .unwrap_or_else(|| "(an empty list, or neither numbers nor a text)".into())
    }
}

impl Attributes for OfKernel {
    fn int(&self, name: &CStr) -> Result<Option<i64>> {
        self.unless_mistyped(name, "an integer", self.read_int(name))
    }

    fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>> {
        let values = self.read_ints(name).filter(|values| !values.is_empty());
        self.unless_mistyped(name, "a list of at least one integer", values)
    }

    fn text(&self, name: &CStr) -> Result<Option<String>> {
        self.unless_mistyped(name, "a text", self.read_text(name))
    }
}

/// The attributes of the node whose output shape is asked for. Those of a wrong kind are its kernel's to refuse.
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
    fn read(&self, name: &CStr, kind: OrtOpAttrType) -> Option<Vec<u64>> {
        let mut attribute: *const OrtOpAttr = ptr::null();
        let table = self.api.table();
        // SAFETY: the promise of `new`; the name ends with a zero, the attribute belongs to the node.
        let status =
            unsafe { ((*table).ShapeInferContext_GetAttribute)(self.context, name.as_ptr(), &raw mut attribute) };
        if !self.api.succeeded(status) {
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
            let read = self.api.succeeded(status);
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
        Ok(self.read(name, OrtOpAttrType::ORT_OP_ATTR_INT).and_then(|words| Some(*words.first()? as i64)))
    }

    fn ints(&self, name: &CStr) -> Result<Option<Vec<i64>>> {
        let words = self.read(name, OrtOpAttrType::ORT_OP_ATTR_INTS);
        let values = words.filter(|words| !words.is_empty());
        Ok(values.map(|words| words.into_iter().map(|word| word as i64).collect()))
    }

    fn text(&self, name: &CStr) -> Result<Option<String>> {
        let words = self.read(name, OrtOpAttrType::ORT_OP_ATTR_STRING);
        let bytes = words.map(|words| words.into_iter().flat_map(u64::to_ne_bytes).collect::<Vec<u8>>());
        let text = bytes.and_then(|bytes| CStr::from_bytes_until_nul(&bytes).ok().map(CString::from));
        Ok(text.map(|text| text.to_string_lossy().into_owned()))
    }
}

/// Reads `order`: whether the largest is wanted, or the smallest.
pub fn largest(attributes: &impl Attributes) -> Result<bool> {
    match attributes.text(c"order")?.as_deref() {
        None | Some("max") => Ok(true),
        Some("min") => Ok(false),
        Some(other) => {
            Err(Refusal::new(format!("attribute 'order' is '{other}'"), "use 'max', the default, or 'min'").into())
        }
    }
}

/// The axes that a node looks along.
#[derive(Debug, PartialEq, Eq)]
pub enum Axes {
    /// `axes`: those that are listed.
    Listed(Vec<i64>),
    /// `axis`: one.
    One(i64),
    /// `axis` with `to_last`: one and all that follow it.
    ToLast(i64),
}

impl Axes {
    /// Reads `axes`, `axis` and `to_last`; the defaults are those of `axis` without and with `to_last`.
    pub fn read(attributes: &impl Attributes, one: i64, to_last: i64) -> Result<Self> {
        let listed = attributes.ints(c"axes")?;
        let axis = attributes.int(c"axis")?;
        match (listed, axis, attributes.flag(c"to_last", false)?) {
            (None, axis, false) => Ok(Self::One(axis.unwrap_or(one))),
            (None, axis, true) => Ok(Self::ToLast(axis.unwrap_or(to_last))),
            (Some(axes), None, false) => Ok(Self::Listed(axes)),
            (Some(_), ..) => {
                let reason = "attribute 'axes' cannot stand beside 'axis' or 'to_last'";
                Err(Refusal::new(reason, "list all axes, or give one axis").into())
            }
        }
    }

    /// Those of an input of some rank.
    pub fn of(&self, rank: usize) -> Result<Chosen> {
        Ok(match self {
            Self::One(axis) => {
                let axis = position(*axis, rank)?;
                Chosen::Run(axis..axis + 1)
            }
            Self::ToLast(axis) => Chosen::Run(position(*axis, rank)?..rank),
            Self::Listed(axes) => Chosen::listed(axes, rank)?,
        })
    }
}

/// Axes of an input whose rank is known.
#[derive(Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Neighbours, or one.
    Run(Range<usize>),
    /// Whether each axis is among them.
    Listed(Vec<bool>),
}

impl Chosen {
    /// Those of a list.
    pub fn listed(axes: &[i64], rank: usize) -> Result<Self> {
        let mut chosen = vec![false; rank];
        for &axis in axes {
            if mem::replace(&mut chosen[position(axis, rank)?], true) {
                return Err(Refusal::new(format!("axis {axis} is listed twice"), "list each axis once").into());
            }
        }
        Ok(Self::Listed(chosen))
    }

    /// Whether an axis is among them.
    pub fn contains(&self, axis: usize) -> bool {
        match self {
            Self::Run(axes) => axes.contains(&axis),
            Self::Listed(chosen) => chosen[axis],
        }
    }

    /// Refuses a shape of which one of them has no element.
    pub fn refuse_empty(&self, shape: &[i64]) -> Result<()> {
        match shape.iter().enumerate().position(|(axis, &size)| size == 0 && self.contains(axis)) {
            None => Ok(()),
            Some(axis) => {
                let reason = format!("there is nothing to choose from: axis {axis} of the input has no element");
                Err(Refusal::new(reason, "reduce axes that are not empty").into())
            }
        }
    }

    /// What a reduction over them leaves of a shape.
    pub fn reduced(&self, shape: &[i64], keepdims: bool) -> PerAxis<i64> {
        let sizes = shape.iter().enumerate();
        sizes
            .filter_map(|(axis, &size)| match self.contains(axis) {
                false => Some(size),
                true => keepdims.then_some(1),
            })
            .collect()
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
    Err(Refusal::new(format!("axis {axis} is out of range for an input of rank {rank}"), help).into())
}

#[cfg(test)]
mod tests_of_axes {
    use super::*;
    use crate::api::Failure;

    fn chosen(axes: &Axes, rank: usize) -> std::result::Result<Vec<bool>, String> {
        axes.of(rank).map(|chosen| (0..rank).map(|axis| chosen.contains(axis)).collect()).map_err(|failure| {
            match failure {
                Failure::Refusal(refusal) => refusal.reason,
                Failure::Status(_) => unreachable!("no call was made"),
            }
        })
    }

    #[test]
    fn axes_are_resolved_against_the_rank() {
        assert_eq!(chosen(&Axes::One(-1), 3), Ok(vec![false, false, true]));
        assert_eq!(chosen(&Axes::ToLast(-2), 3), Ok(vec![false, true, true]));
        assert_eq!(chosen(&Axes::Listed(vec![2, -3]), 3), Ok(vec![true, false, true]));
    }

    #[test]
    fn axes_out_of_range_and_twice_are_refused() {
        assert_eq!(chosen(&Axes::One(0), 0), Err("axis 0 is out of range for an input of rank 0".into()));
        assert_eq!(chosen(&Axes::ToLast(1), 1), Err("axis 1 is out of range for an input of rank 1".into()));
        assert_eq!(
            chosen(&Axes::One(i64::MIN), 2),
            Err(format!("axis {} is out of range for an input of rank 2", i64::MIN))
        );
        assert_eq!(chosen(&Axes::Listed(vec![1, -1]), 2), Err("axis -1 is listed twice".into()));
    }
}
