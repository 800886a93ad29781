//! Writing past the caches. What is written there as usual is read first, line by line, only to be overwritten: where an output
//! is too large to stay, that is a third of what goes through memory.

use crate::isa::InstructionSet;
#[cfg(target_arch = "x86_64")]
use crate::kernels::cache_line::LINE;

/// Whether there are stores for that.
pub fn streams() -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && InstructionSet::current().is_wide()
}

/// Copies `len` bytes past the caches: others see them once [`settle`] has run.
///
/// # Safety
/// The bytes may be read, and as many written, elsewhere; it has been found that there are [stores for that](streams).
#[inline(always)]
pub unsafe fn stream(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        whole_lines(from, to, len);
        #[cfg(not(target_arch = "x86_64"))]
        from.copy_to_nonoverlapping(to, len);
    }
}

/// Makes what has been streamed so far appear before all that is written later.
pub fn settle() {
    // SAFETY: part of the baseline.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Streams whole lines of the cache; what is at either end is copied: a line that is streamed in parts takes longer than
/// one that is read first.
///
/// # Safety
/// As for [`stream`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn whole_lines(from: *const u8, to: *mut u8, len: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    let head = to.align_offset(LINE).min(len);
    let lines = (len - head) / LINE;
    // SAFETY: the caller's; lines are aligned for the stores.
    unsafe {
        from.copy_to_nonoverlapping(to, head);
        for line in 0..lines {
            let at = head + line * LINE;
            let (from, to) = (from.add(at).cast::<__m256i>(), to.add(at).cast::<__m256i>());
            let (low, high) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
            _mm256_stream_si256(to, low);
            _mm256_stream_si256(to.add(1), high);
        }
        let end = head + lines * LINE;
        from.add(end).copy_to_nonoverlapping(to.add(end), len - end);
    }
}
