//! Writing past the caches. What is written there as usual is read first, line by line, only to be overwritten: where an output
//! is too large to stay, that is a third of what goes through memory.

use crate::isa::{InstructionSet, Task, dispatch_wide};
#[cfg(target_arch = "x86_64")]
use crate::kernels::cache_line::LINE;
use crate::kernels::pass::Lines;

/// Whether there are stores for that.
pub fn streams() -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && InstructionSet::current().is_wide()
}

/// Copies lines past the caches: others see them once [`settle`] has run.
///
/// # Safety
/// `rows` lines of `len` bytes may be read, and as many written, elsewhere; there are [stores for that](streams).
#[inline(never)]
pub unsafe fn stream(from: Lines<*mut u8>, to: Lines<*mut u8>, rows: usize, len: usize) {
    // SAFETY: the caller's.
    unsafe { dispatch_wide(Stream { from, to, rows, len }) }
}

/// Makes what has been streamed so far appear before all that is written later.
pub fn settle() {
    // SAFETY: part of the baseline.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

struct Stream {
    from: Lines<*mut u8>,
    to: Lines<*mut u8>,
    rows: usize,
    len: usize,
}

impl Task for Stream {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        for row in 0..self.rows as isize {
            let from = self.from.data.wrapping_offset(self.from.step * row);
            let to = self.to.data.wrapping_offset(self.to.step * row);
            // SAFETY: the caller's; where there are stores for that, there is AVX.
            unsafe { line(from, to, self.len) };
        }
    }
}

/// Streams whole lines of the cache; what is at either end is copied: a line that is streamed in parts takes longer than
/// one that is read first.
///
/// # Safety
/// As for [`stream`], of one line; there is AVX.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn line(from: *const u8, to: *mut u8, len: usize) {
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

/// # Safety
/// As for [`stream`], of one line.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn line(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe { from.copy_to_nonoverlapping(to, len) }
}

#[cfg(test)]
mod tests {
    use super::{settle, stream, streams};
    use crate::kernels::pass::Lines;

    #[test]
    fn all_is_written_and_no_more() {
        if !streams() {
            return;
        }
        const STEPS: [usize; 2] = [701, 605];
        let mut from: Vec<u8> = (0..3 * STEPS[0]).map(|at| (at % 251) as u8).collect();
        for (start, len) in (0..70).flat_map(|start| [0, 1, 63, 64, 65, 127, 128, 200, 384].map(|len| (start, len))) {
            let mut to = vec![255; 3 * STEPS[1]];
            let lines = |bytes: &mut Vec<u8>, start, step| Lines {
                data: bytes.as_mut_ptr().wrapping_add(start),
                step: step as isize,
            };
            // SAFETY: three lines inside both.
            unsafe { stream(lines(&mut from, start / 3, STEPS[0]), lines(&mut to, start, STEPS[1]), 3, len) };
            settle();
            for row in 0..3 {
                let (from, to) = (&from[row * STEPS[0] + start / 3..], &to[row * STEPS[1]..][..STEPS[1]]);
                assert_eq!(to[start..start + len], from[..len]);
                assert!(to[..start].iter().chain(&to[start + len..]).all(|&byte| byte == 255));
            }
        }
    }
}
