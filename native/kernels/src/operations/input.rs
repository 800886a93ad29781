//! What a reduction reads.

use crate::element::ElementType;

/// What is being reduced.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equals wins, or the first.
    pub last: bool,
}

// SAFETY: the kernels only read the input.
unsafe impl Sync for Input {}
