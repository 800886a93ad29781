//! Narrow columns: neighbouring rows are read as one wide row, then the columns that belong together are combined.
//!
//! ```text
//! the parts: the elements before the first wide row, the extrema of the columns of wide rows, the elements behind them
//! the parts are rows of narrow columns once more, and their columns are combined
//! where values alone are wanted: of columns where a zero or a NaN wins, the first (or last) of them is looked for
//! ```
//!
//! The first wide row begins at a cache line where that pays: no vector crosses lines then.

use crate::isa::with_set;
use crate::kernels::lanes::{Aligned, LINE, Lines, Outputs, read_bits};
use crate::kernels::passes::Passes;
use crate::operations::block::{Blocks, EndsOfBlock, read_columns};
use crate::operations::sink::{Results, combine};
use crate::thresholds::{INTERLEAVED_MOST_COLUMNS, Limits};
use std::mem::MaybeUninit;
use std::ptr;

/// Elements of narrow columns that are combined once wide rows have been read: the extrema of those, fewer elements before them than a
/// cache line has, and fewer behind them than a wide row has.
const PARTS: usize = 2 * INTERLEAVED_MOST_COLUMNS + LINE;

/// Bits for the number of a row among the rows of these parts.
const ROW_BITS: u32 = 12;

const _: () = assert!(PARTS < 1 << ROW_BITS);

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Whether the values of narrow columns are combined, without keys and places: unless NaN is ignored.
    pub fn has_values_of_wide_rows(&self) -> bool {
        self.plan.values_alone && !self.inputs[0].ignores_nan()
    }

    /// Reads neighbouring rows of `len` columns, `group` of them at a time, as one wide row. Each begins where
    /// the last one ends, without a mask; keys and indices are wanted, or [values](Self::has_values_of_wide_rows).
    ///
    /// # Safety
    /// The rows are readable, and there is room for the results.
    pub unsafe fn interleaved(&self, ends: EndsOfBlock, lines: Lines, rows: usize, len: usize, group: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            self.wide_rows(ends, lines, rows, len, group);
            if !ends.to[0].wants_keys() && !self.settle_values(ends, lines, rows, len) {
                self.values_by_places(ends, lines, rows, len, group);
            }
        }
    }

    /// Of several zeros or NaNs of a column the first (or last) is wanted, and wide rows give another one. Looks for it in as many
    /// elements as a column has, which is enough for a few columns, or for many that begin with it. Returns whether all were found.
    ///
    /// 256 KB of 32 columns of floats take 0.5 to 0.67 times as long as by their places, also where columns are all zero; 0.9 to 1.25 times
    /// where one has a NaN, and 1.7 to 2.2 times where many have a NaN or a zero that is not found (Xeon, family 6, model 167).
    ///
    /// # Safety
    /// The rows are readable, and there is a value for each column.
    unsafe fn settle_values(&self, ends: EndsOfBlock, lines: Lines, rows: usize, len: usize) -> bool {
        let element = ends.inputs[0].element;
        let size = element.size();
        let Some(nan) = element.nan() else { return true };
        let mut left = rows;
        for to in ends.to {
            for column in 0..len {
                // SAFETY: the caller's promise.
                let value = unsafe { to.values_of(len, size).add(column * size) };
                // SAFETY: as above.
                let bits = unsafe { read_bits(value.readable().read(size), size) };
                let is_nan = nan.matches(bits);
                if !is_nan && bits & nan.magnitude != 0 {
                    continue;
                }
                let element = |step: usize| {
                    let row = if self.last() { rows - 1 - step } else { step };
                    lines.from(row as isize).data.wrapping_add(column * size).read(size)
                };
                let equals = |&step: &usize| {
                    // SAFETY: the caller's promise.
                    let bits = unsafe { read_bits(element(step), size) };
                    if is_nan { nan.matches(bits) } else { bits & nan.magnitude == 0 }
                };
                let Some(step) = (0..left).find(equals) else { return false };
                // SAFETY: the caller's promise.
                unsafe { value.write(size).copy_from_nonoverlapping(element(step), size) };
                left -= step;
            }
        }
        true
    }

    /// Writes the values of narrow columns by their places.
    ///
    /// # Safety
    /// As for [`interleaved`](Self::interleaved), whose values are wanted.
    #[inline(never)]
    unsafe fn values_by_places(&self, ends: EndsOfBlock, lines: Lines, rows: usize, len: usize, group: usize) {
        let size = ends.inputs[0].element.size();
        let mut results = [(); ENDS].map(|()| Results::new(len, size));
        let places = results.each_mut().map(Results::outputs);
        let by_places = EndsOfBlock { to: &places[..ends.to.len()], ..ends };
        // SAFETY: the caller's promise; there is a place for each column then, where an element lies.
        unsafe {
            self.wide_rows(by_places, lines, rows, len, group);
            for (to, places) in ends.to.iter().zip(by_places.to) {
                let (values, places) = (to.values_of(len, size), places.places_of(len));
                for column in 0..len {
                    let row = lines.from(places.element::<i64>(column).read() as isize);
                    let element = row.data.wrapping_add(column * size).read(size);
                    values.add(column * size).write(size).copy_from_nonoverlapping(element, size);
                }
            }
        }
    }

    /// As [`interleaved`](Self::interleaved), but the values of floats may be those of other zeros or NaNs.
    ///
    /// # Safety
    /// The rows are readable, and there is room for the results.
    unsafe fn wide_rows(&self, ends: EndsOfBlock, lines: Lines, rows: usize, len: usize, group: usize) {
        let EndsOfBlock { inputs, against, to } = ends;
        let size = inputs[0].element.size();
        let last = self.last();
        let width = len * group;
        let column = rows / group * size;
        let least = with_set!(I => I::WIDE_ROWS_ALIGNED_LEAST_COLUMN_BYTES, usize::MAX);
        let is_aligned = (width * size).is_multiple_of(LINE) && (!to[0].wants_keys() || column >= least);
        let head = match is_aligned {
            true => (lines.data.address().addr().wrapping_neg() % LINE / size).min(rows * len),
            false => 0,
        };
        let wide = (rows * len - head) / width;
        if wide == 0 {
            // SAFETY: the caller's promise.
            return unsafe { read_columns(ends, lines, (rows, len), last, Passes::OF_CACHES) };
        }
        debug_assert!(width <= INTERLEAVED_MOST_COLUMNS, "{group} rows of {len} columns");
        let mut elements = MaybeUninit::<[Aligned<[u64; PARTS]>; ENDS]>::uninit();
        let mut index = MaybeUninit::<[Aligned<[i64; PARTS]>; ENDS]>::uninit();
        let elements = elements.as_mut_ptr().cast::<Aligned<[u64; PARTS]>>();
        let index = index.as_mut_ptr().cast::<Aligned<[i64; PARTS]>>();
        let parts: [Outputs; ENDS] = std::array::from_fn(|end| {
            let elements = elements.wrapping_add(end).cast();
            let (keys, values, index) = match to[0].wants_keys() {
                true => (elements, ptr::null_mut(), index.wrapping_add(end).cast()),
                false => (ptr::null_mut(), elements, ptr::null_mut()),
            };
            // SAFETY: there is room for as many.
            unsafe { Outputs::new(keys, values, index, PARTS) }
        });
        let behind = head + wide * width;
        let left = rows * len - behind;
        for (first, number, columns, part) in
            [(0, 1, head, 0), (head, wide, width, head), (behind, 1, left, head + width)]
        {
            let to = parts.map(|parts| parts.from(part, size));
            let ends = EndsOfBlock { inputs, against, to: &to[..inputs.len()] };
            let lines = Lines { data: lines.data.wrapping_add(first * size), ..lines }.every(group as isize);
            // SAFETY: the caller's promise; the parts have room for as many columns.
            unsafe { read_columns(ends, lines, (number, columns), last, self.plan.passes) };
        }
        let rows = (head + width + left) / len;
        for (end, parts) in parts[..inputs.len()].iter().enumerate() {
            let one = EndsOfBlock { inputs: &inputs[end..=end], against: &against[end..=end], to: &to[end..=end] };
            // SAFETY: all of the parts have been written, and there is room for the results.
            unsafe {
                if parts.wants_keys() {
                    let behind = parts.from(head + width, size);
                    behind.map_places(left, |_, place| if place < 0 { -1 } else { wide as i64 - 1 });
                    join(one, *parts, (rows, len), group, last);
                } else {
                    let values = parts.values_of(rows * len, size).address();
                    let lines = Lines::plain(values, (len * size) as isize, rows, len * size);
                    read_columns(one, lines, (rows, len), last, Passes::OF_CACHES);
                }
            }
        }
    }
}

/// Combines rows of `len` results each, which follow one another, at one end of the order. Their places are the numbers of wide rows of
/// `group` rows; what has been combined is lost.
///
/// # Safety
/// All of the results have been written, and there is room for `len` results.
unsafe fn join(end: EndsOfBlock, results: Outputs, (mut rows, len): (usize, usize), group: usize, last: bool) {
    let size = end.inputs[0].element.size();
    // SAFETY: the caller's promise: the rows behind `rows` are combined with the first ones.
    unsafe {
        // Which wide row an element belongs to, and which row of that: shifts are cheaper than a multiplication for each part.
        for row in 0..rows {
            results.from(row * len, size).map_places(len, |_, wide| wide << ROW_BITS | row as i64);
        }
        while rows > 1 {
            let joined = rows / 2;
            rows -= joined;
            combine(joined * len, results, results.from(rows * len, size), &end.inputs[0], last);
        }
        let row = |place: i64| (place >> ROW_BITS) * group as i64 + (place & ((1 << ROW_BITS) - 1));
        end.to[0].copy_from(results, len, size);
        end.to[0].map_places(len, |_, place| if place < 0 { -1 } else { row(place) });
    }
}
