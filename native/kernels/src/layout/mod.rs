//! Layout normalisation: what an operation does to memory, with everything else taken out.
//!
//! A call arrives as shapes and strides; it leaves as short lists of axes, ordered by distance in memory. Axes of one
//! element are gone, directions run upwards in memory, a reduced axis that is broadcast (stride 0) is gone, and
//! neighbours that lie end to end are one axis. The kernels therefore see a transposed array, a Fortran-ordered
//! one, a reversed one and a plain one as the same thing. [`axis`] does this for any operands; [`reduction`] and
//! [`elementwise`] say which there are.

pub(crate) mod axis;
pub(crate) mod elementwise;
pub(crate) mod reduction;

use smallvec::SmallVec;

/// One value for each axis, in most arrays without an allocation, which is a large part of the cost of a small call.
pub type PerAxis<T> = SmallVec<[T; 8]>;

/// Sorts a short list, equals in the order in which they are: what sorts a long one is several kilobytes for each list.
#[inline]
pub fn sort<T, K: PartialOrd>(list: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && key(&list[at]) < key(&list[at - 1]) {
            list.swap(at, at - 1);
            at -= 1;
        }
    }
}
