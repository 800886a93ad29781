//! Where the results of batches go.

use crate::kernels::batches::batch::Batches;
use crate::kernels::cache_line::LINE;
use crate::kernels::outputs::Outputs;
use crate::kernels::prefetch::prefetch;

/// How many bytes ahead room for results is asked for where more than places is written: a store that waits for its line of
/// the cache holds up the next one. Without the hint both results of short rows took up to a quarter longer.
const ROOM: usize = 1024;

/// What is wanted of each row. (Known before the first batch: to ask it of each would take longer than to write it.)
#[derive(Clone, Copy)]
pub struct Wanted {
    pub values: bool,
    pub index: bool,
    pub notes: bool,
}

impl Wanted {
    /// Places alone, unless `VALUES`.
    #[inline(always)]
    pub fn new<const VALUES: bool>(batches: &Batches) -> Self {
        let Outputs { values, index, notes, .. } = batches.to;
        match VALUES {
            true => Self { values: !values.is_null(), index: !index.is_null(), notes: !notes.is_null() },
            false => Self { values: false, index: true, notes: false },
        }
    }
}

impl Batches {
    /// Where values and places of a batch of `rows` go, as far as they are wanted.
    #[inline(always)]
    pub fn room<const VALUES: bool>(
        &self,
        wanted: Wanted,
        start: usize,
        rows: usize,
        size: usize,
    ) -> (*mut u8, *mut i64) {
        let (values, index) = (self.to.values.wrapping_add(start * size), self.to.index.wrapping_add(start));
        if VALUES && wanted.values {
            ask_for_room(values, rows * size);
        }
        if VALUES && wanted.index {
            ask_for_room(index.cast(), rows * size_of::<i64>());
        }
        (values, index)
    }
}

/// Asks for the room that results of so many bytes, two lines of the cache at most, will soon need.
#[inline(always)]
pub fn ask_for_room(to: *const u8, bytes: usize) {
    let ahead = to.wrapping_add(ROOM);
    if bytes > LINE {
        prefetch::<{ 2 * LINE }>(ahead);
    } else {
        prefetch::<LINE>(ahead);
    }
}
