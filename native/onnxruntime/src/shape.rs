//! The shape of a tensor, by the cheapest call that an ONNX Runtime has.

use crate::api::{Api, Result, call};
use ort_sys::{OrtTensorTypeAndShapeInfo, OrtValue};
use std::borrow::Cow;
use std::{ptr, slice};

/// The shape that a description holds.
pub fn described(api: Api, info: *const OrtTensorTypeAndShapeInfo) -> Result<Vec<i64>> {
    let mut rank = 0;
    call!(api, GetDimensionsCount(info, &raw mut rank));
    let mut shape = vec![0; rank];
    call!(api, GetDimensions(info, shape.as_mut_ptr(), rank));
    Ok(shape)
}

/// The shape of a tensor.
///
/// # Safety
/// The tensor outlives what is returned.
pub unsafe fn of_tensor<'a>(api: Api, tensor: *const OrtValue) -> Result<Cow<'a, [i64]>> {
    if api.refers_to_shapes() {
        // A description is three allocations: a fifth of what a small node costs.
        let (mut element, mut sizes, mut rank) = (0i32, ptr::null(), 0);
        let number = (&raw mut element).cast();
        call!(api, GetTensorElementTypeAndShapeDataReference(tensor, number, &raw mut sizes, &raw mut rank));
        // SAFETY: the sizes belong to the tensor; of rank 0 there may be none.
        return Ok(if rank == 0 { &[] } else { unsafe { slice::from_raw_parts(sizes, rank) } }.into());
    }
    let mut info = ptr::null_mut();
    call!(api, GetTensorTypeAndShape(tensor, &raw mut info));
    let shape = described(api, info);
    // SAFETY: the description is ours, and this is its only release.
    unsafe { ((*api.table()).ReleaseTensorTypeAndShapeInfo)(info) };
    Ok(shape?.into())
}
