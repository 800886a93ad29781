//! Reading ahead, where the processor does not arrange it by itself.
//!
//! It is a hint; an architecture without a stable way to give it goes without.

#[cfg(target_arch = "x86_64")]
use crate::kernels::cache_line::LINE;

/// Asks for `BYTES` bytes at `from`, which will be read after a pause; any address is allowed.
#[inline(always)]
pub fn prefetch<const BYTES: usize>(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..BYTES).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}
