//! Lines of the cache: what the processor moves between memory and its caches at a time.

/// Bytes of a line.
pub const LINE: usize = 64;

/// A value that begins where a line does.
///
/// Scratch memory on the stack begins where that happens to be, in every process elsewhere. A vector that straddles two
/// lines takes twice as long, and a load from what such a store has just written longer still: the same kernel was measured
/// up to 15 % slower or faster from one process to the next.
#[repr(align(64))]
pub struct Aligned<T>(pub T);

const _: () = assert!(align_of::<Aligned<u8>>() == LINE);
