//! Masks that lie as the elements of a block do: copies of what is broadcast or strided, and those for rows of which every so
//! manieth element counts.

use crate::isa::Task;
use std::ops::Mul;

/// Bytes of a mask that are copied for one block, at most.
pub const MASK_SCRATCH: usize = 1 << 16;

/// Bytes behind the copy that are written, too.
pub const MASK_SLACK: usize = size_of::<Wide>();

/// As many bytes as are written at once where lines are short.
type Wide = [u8; 16];

/// Copies the lines of a mask, which follow one another in the copy.
pub struct CopyMask {
    /// The first place.
    pub mask: *const u8,
    /// Lines, and bytes from one to the next.
    pub outer: (usize, isize),
    /// Places in a line, and bytes from one to the next.
    pub inner: (usize, isize),
    /// Receives the copy, and [`MASK_SLACK`] more bytes.
    pub to: *mut u8,
}

impl Task for CopyMask {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { mask, outer: (lines, stride), inner: (len, step), to } = self;
        debug_assert!(lines * len <= MASK_SCRATCH);
        // One line that is broadcast is written once, and then as often again as there are already.
        let written = if stride == 0 { 1 } else { lines };
        if (stride, step) == (1, 0) && matches!(len, 2 | 4 | 8) {
            // SAFETY: the caller vouches for the mask and for the room.
            return unsafe {
                match len {
                    2 => spread(mask, to.cast::<u16>(), lines, 0x0101),
                    4 => spread(mask, to.cast::<u32>(), lines, 0x0101_0101),
                    _ => spread(mask, to.cast::<u64>(), lines, 0x0101_0101_0101_0101),
                }
            };
        }
        for line in 0..written {
            let (mask, to) = (mask.wrapping_offset(stride * line as isize), to.wrapping_add(line * len));
            // SAFETY: the caller vouches for the mask and for the room.
            unsafe {
                match step {
                    // The next line is written over what is too much.
                    0 if len <= size_of::<Wide>() => to.cast::<Wide>().write([*mask; size_of::<Wide>()]),
                    0 => to.write_bytes(*mask, len),
                    1 => to.copy_from_nonoverlapping(mask, len),
                    _ => (0..len).for_each(|at| to.add(at).write(*mask.wrapping_offset(step * at as isize))),
                }
            }
        }
        let mut done = written;
        while done < lines {
            let more = done.min(lines - done);
            // SAFETY: as above.
            unsafe { to.add(done * len).copy_from_nonoverlapping(to, more * len) };
            done += more;
        }
    }
}

/// Writes each byte of a mask as a number that is made of it.
///
/// # Safety
/// There are as many bytes, and there is room for as many numbers.
#[inline(always)]
unsafe fn spread<T: From<u8> + Mul<Output = T> + Copy>(mask: *const u8, to: *mut T, lines: usize, ones: T) {
    for line in 0..lines {
        // SAFETY: the caller's; alignment is not needed.
        unsafe { to.add(line).write_unaligned(T::from(*mask.add(line)) * ones) };
    }
}

/// Elements from one that counts to the next, at most.
pub const WIDEST: usize = 4;

/// Elements of a mask.
pub const SPAN: usize = 16384;

/// The masks for every second element, every third and every fourth.
static GAPS: [[u8; SPAN]; WIDEST - 1] = [mask(2), mask(3), mask(4)];

const fn mask(step: usize) -> [u8; SPAN] {
    let mut all = [0; SPAN];
    let mut at = 0;
    while at < SPAN {
        all[at] = 1;
        at += step;
    }
    all
}

/// The mask under which every `step`th element counts, the first of all among them: [`SPAN`] elements.
pub fn gaps(step: usize) -> *const u8 {
    GAPS[step - 2].as_ptr()
}
