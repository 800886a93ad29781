//! The read bandwidth of this machine, which the benchmark compares the kernels with.

use crate::element::order::Largest;
use crate::isa::{Task, dispatch};
use crate::kernels::sweep::sweep_lanes;
use crate::threads::{map, num_threads, ranges};
use std::ops::Range;

/// Reads memory once, as fast as this machine can with the threads that a call may use.
///
/// # Safety
/// `data` points at `len` readable 32-bit integers.
pub unsafe fn read_bandwidth(data: *const i32, len: usize) -> i32 {
    let data = Memory(data);
    let read = |range: Range<usize>| {
        let Memory(data) = &data;
        // SAFETY: the caller's; a range is part of the integers.
        unsafe { dispatch(ReadAll { data: data.wrapping_add(range.start), len: range.len() }) }
    };
    if len == 0 { 0 } else { map(ranges(len, num_threads(len * 4)), read).into_iter().max().unwrap_or(0) }
}

/// Memory that is only read.
struct Memory(*const i32);

// SAFETY: it is only read.
unsafe impl Sync for Memory {}

/// The largest of `len` 32-bit integers: the fastest way to read memory there is here.
struct ReadAll {
    /// The first integer.
    data: *const i32,
    /// The number of integers, at least one.
    len: usize,
}

impl Task for ReadAll {
    type Output = i32;
    #[inline(always)]
    unsafe fn run(self) -> i32 {
        // SAFETY: the caller vouches for `len` integers.
        unsafe { sweep_lanes::<i32, Largest>(self.data, self.len, None).unwrap_or(i32::MIN) }
    }
}
