//! Copies past the caches, for results that are not read soon.

/// Copies bytes past the caches: memory is not read first where they go. [`end_of_copies`] has to follow.
///
/// # Safety
/// They may be read and written, and do not overlap.
pub unsafe fn copy_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        const PIECE: usize = size_of::<__m128i>();
        let head = to.addr().wrapping_neg() % PIECE;
        if bytes >= head + PIECE {
            let pieces = (bytes - head) / PIECE;
            let end = head + pieces * PIECE;
            // SAFETY: the caller's promise; the pieces are aligned in the output.
            unsafe {
                from.copy_to_nonoverlapping(to, head);
                for piece in 0..pieces {
                    let at = head + piece * PIECE;
                    _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast()));
                }
                from.add(end).copy_to_nonoverlapping(to.add(end), bytes - end);
            }
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { from.copy_to_nonoverlapping(to, bytes) };
}

/// Makes what has been copied past the caches visible to other threads before what this thread writes next.
pub fn end_of_copies() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a fence accesses nothing.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::{copy_past_caches, end_of_copies};

    #[test]
    fn copies_past_the_caches_begin_and_end_anywhere() {
        let from: [u8; 100] = std::array::from_fn(|at| at as u8 + 1);
        for start in 0..20 {
            for bytes in [0, 1, 7, 15, 16, 17, 31, 32, 33, 48, 79] {
                let mut to = [0u8; 100];
                // SAFETY: both have as many bytes.
                unsafe { copy_past_caches(from.as_ptr(), to.as_mut_ptr().add(start), bytes) };
                end_of_copies();
                assert_eq!(to[start..start + bytes], from[..bytes]);
                assert!(to[..start].iter().chain(&to[start + bytes..]).all(|&byte| byte == 0));
            }
        }
    }
}
