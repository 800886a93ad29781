//! 16-bit floats that are compared as integers, and by their keys where integers do not decide.
//!
//! To make a key takes two to four instructions, and to note NaN another. Above zero, integers have the order of the floats: an
//! extremum above zero, with no NaN among the elements, needs no keys. Of random floats of both signs nearly every row of 16 has one;
//! logarithms of probabilities have none. So the kernels compare integers first:
//!
//! ```text
//! until all is done:
//!     compare integers up to a batch that they do not decide
//!     compare keys in that batch and in some that follow it
//! ```
//!
//! Elements that are never above zero take 1.0 to 1.05 times as long as by their keys alone.

use crate::thresholds::KEYS_BATCHES;
use crate::vector::{Kind, Lanes, Mask, splat};

/// Whether a lane is not above zero, where integers have the opposite order of the floats.
///
/// # Safety
/// The registers belong to the instruction set in force.
#[inline(always)]
pub unsafe fn is_undecided<K: Kind, V: Lanes<K>>(best: V) -> bool {
    // SAFETY: the caller's promise.
    unsafe { splat::<K, V>(1).gt(best).any() }
}

/// Compares `integers`, or `keys` where they do not decide, in all of `count` rows or blocks. Each takes the number of the first, and
/// how many there are, at least `batch`; it returns how many are done. Returns the number done: the next has NaN.
#[inline(always)]
pub fn in_turns(
    count: usize,
    batch: usize,
    integers: impl Fn(usize, usize) -> usize,
    keys: impl Fn(usize, usize) -> usize,
) -> usize {
    debug_assert!(count >= batch);
    // The last of them are read with those before them, where they are fewer than a batch.
    let mut first = 0;
    loop {
        first += integers(first, count - first);
        if first == count {
            return count;
        }
        first = first.min(count - batch);
        let next = (KEYS_BATCHES * batch).min(count - first);
        let done = keys(first, next);
        first += done;
        if first == count || done < next {
            return first;
        }
        first = first.min(count - batch);
    }
}
