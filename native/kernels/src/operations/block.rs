//! Reads one block with the kernel that the plan has chosen, and prepares what the kernel needs.
//!
//! - Rows and columns are read in place, or from a packed copy of the block in scratch memory.
//! - Short rows are read several at a time up to a batch with NaN, which is read as columns or row by row.
//! - Narrow columns are read as [wide rows](super::wide_rows).

use crate::element::order::Ends;
use crate::isa::{InstructionSet, dispatch, dispatch_wide};
use crate::kernels::columns::{Columns, bytes_of_large_tile};
use crate::kernels::lanes::{Aligned, Lines, Outputs, Scratch, Source, bits};
use crate::kernels::omit::{OMIT_BLOCK_BYTES, ReplaceSkipped};
use crate::kernels::pack::{Pack, pitch};
use crate::kernels::passes::Passes;
use crate::kernels::rows::Rows;
use crate::kernels::short_rows::ShortRows;
use crate::layout::ReductionOffsets;
use crate::operations::choice::{
    RowsWithoutMask, fill_registers, form_of_other_rows, reads_both_at_once, short_kernel, short_kernel_under_mask,
};
use crate::operations::input::{Input, with_sources};
use crate::operations::plan::{Form, Plan};
use crate::operations::sink::MinusOne;
use crate::thresholds::{
    Answer, MASK_COPY_BYTES, NAN_RETRY_ROWS, ROWS_LEAST_ELEMENTS, ROWS_OF_MEMORY_LEAST_ARRAY_BYTES,
};
use crate::vector::extent::{Readable, Writable};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// The blocks of a plan.
#[derive(Debug)]
pub struct Blocks<'a, const ENDS: usize> {
    /// The inputs, which differ only in the end of the order; where there are two, the one for the smallest comes first.
    pub inputs: [Input; ENDS],
    pub plan: &'a Plan<'a>,
    /// The first elements in memory.
    pub origin: ReductionOffsets,
}

/// One end of the order of a block, or both.
#[derive(Clone, Copy)]
pub struct EndsOfBlock<'a> {
    /// The inputs, which differ in the end of the order alone.
    pub inputs: &'a [Input],
    /// For each end, the keys to reach, or null.
    pub against: &'a [Readable],
    /// For each end, what receives the results.
    pub to: &'a [Outputs],
}

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads one block, which begins at `at` and covers a `span` of the reduced axis. For each of its `len` positions, writes the
    /// key, the element and the place along that axis of the extremum, as far as `to` wants them; `against` has the best keys so
    /// far, or nothing. Returns whether an element that takes part may equal what replaces skipped elements.
    ///
    /// # Safety
    /// The inputs are readable wherever the layout of the plan leads from `at` on; `to` has room for `len` results, and `against`
    /// has as many keys.
    pub unsafe fn read(
        &self,
        at: &ReductionOffsets,
        len: usize,
        span: Range<usize>,
        against: &[Readable; ENDS],
        to: &[Outputs; ENDS],
    ) -> bool {
        let ends = EndsOfBlock { inputs: &self.inputs, against, to };
        debug_assert!(len <= self.plan.tile && span.len() <= self.plan.chunk, "a block of {len} positions, {span:?}");
        // Skipped elements are replaced by a different element at each end.
        let mut identity_seen = false;
        let at_once = !self.inputs[0].omits();
        // SAFETY: the caller's promise.
        by_ends(ends, at_once, |ends| identity_seen |= unsafe { self.read_ends(ends, at, len, span.clone()) });
        identity_seen
    }

    /// Reads one block for ends of the order that share what replaces skipped elements.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    unsafe fn read_ends(&self, ends: EndsOfBlock, at: &ReductionOffsets, len: usize, span: Range<usize>) -> bool {
        let input = &ends.inputs[0];
        let kept = self.plan.kept.strides;
        let reduced = self.plan.reduced.strides;
        let corner = self.plan.reduced.after(*at, span.start);
        let data = input.data.wrapping_offset(corner.input);
        let mask = if input.mask.is_null() { input.mask } else { input.mask.wrapping_offset(corner.mask) };
        let form = self.plan.form;
        let height = span.len();
        let has_columns = matches!(form, Form::Columns | Form::Interleaved(_));
        // The lines of the block, and the elements along them: a line is a row of columns, or a slice that is reduced.
        let (strides, number, len_of_line, along) = match has_columns {
            true => (&reduced, height, len, &kept),
            false => (&kept, len, height, &reduced),
        };
        // A block that is packed, and a mask with gaps, are read by `Pack`, which knows both of its axes.
        let bytes = if self.plan.packed { 0 } else { len_of_line * input.element.size() };
        let mask_bytes = if along.mask == 1 { len_of_line } else { 0 };
        let mask_stride = if mask.is_null() { 0 } else { strides.mask };
        // SAFETY: the caller's promise: the block lies in the layout.
        let lines = unsafe {
            Lines {
                data: Readable::lines(data, strides.input, number, bytes),
                stride: strides.input,
                mask: Readable::lines(mask, mask_stride, number, mask_bytes),
                mask_stride,
            }
        };
        // SAFETY: the lines are those of the block, or of its copy, which has the same shape.
        let read = |lines, ahead| unsafe {
            match form {
                Form::Rows => read_rows(ends, lines, (len, height), self.last(), self.plan.rows_ahead),
                Form::RowBatches => return self.row_batches(ends, lines, ahead, len, height),
                Form::Columns if self.plan.copies_mask => self.columns_under_copy(ends, lines, height, len, kept.mask),
                Form::Columns => read_columns(ends, lines, (height, len), self.last(), self.plan.passes),
                Form::Interleaved(group) => self.interleaved(ends, lines, height, len, group),
            }
            true
        };
        match self.plan.packed {
            false => read(lines, ptr::null()),
            // SAFETY: a packed block fits the scratch memory: see the plan.
            true => unsafe { self.pack(input.omits().then_some(input), lines, number, (len_of_line, along), read) },
        }
    }

    /// Packs a block into contiguous lines in scratch memory, which it fits, replaces there what an input omits, and reads the
    /// copy. Not inlined, so that blocks that are read in place do not pay for the scratch memory.
    ///
    /// # Safety
    /// The elements, and those of the mask, are readable wherever the strides of the lines and of `along` lead.
    #[inline(never)]
    unsafe fn pack(
        &self,
        omission: Option<&Input>,
        lines: Lines,
        number: usize,
        (len, along): (usize, &ReductionOffsets),
        read: impl FnOnce(Lines, *const u8) -> bool,
    ) -> bool {
        let Input { element, swapped, .. } = self.inputs[0];
        let size = element.size();
        let mut scratch = Aligned([const { MaybeUninit::<u64>::uninit() }; OMIT_BLOCK_BYTES / 8]);
        let to = scratch.0.as_mut_ptr().cast::<u8>();
        // Rows that follow one another in memory do so in the copy as well, where nothing is transposed.
        let step = size * if omission.is_some() { len } else { pitch(len, size) };
        debug_assert!(number * step <= OMIT_BLOCK_BYTES, "{number} lines of {len} elements do not fit");
        let Lines { stride, mask_stride, .. } = lines;
        let data = lines.data.address();
        let mask = lines.mask.address();
        // Lines that follow one another are packed as one line.
        let one = omission.is_some() && stride == len as isize * along.input;
        let ready = one && along.input == size as isize && !swapped;
        let (outer_len, inner_len) = if one { (1, number * len) } else { (number, len) };
        let outer = (outer_len, stride);
        let inner = (inner_len, along.input);
        // What is ready to be read needs no copy of its own: replacing skipped elements makes one.
        if !ready {
            // SAFETY: the caller's promise; the scratch memory has room for all lines.
            unsafe { Pack { data, outer, inner, size, scratch: true, swapped, to, step }.run() };
        }
        let identity_seen = omission.is_some_and(|input| {
            let from = if ready { data } else { ptr::null() };
            // SAFETY: the block is there, or has been packed.
            unsafe { omit(input, (from, to, size), (number, len), mask, (mask_stride, along.mask)) }
        });
        // The next block probably follows this one.
        let ahead = if ready { data.wrapping_add(number * len * size) } else { ptr::null() };
        // SAFETY: the copy has all lines.
        let copy = unsafe { Lines::plain(to, step as isize, number, len * size) };
        read(copy, ahead) && identity_seen
    }

    /// Ties go to the smallest or the largest index; where the index falls along the axis, the walk runs the other way.
    pub fn last(&self) -> bool {
        self.inputs[0].last == (self.plan.reduced.strides.index >= 0)
    }

    /// Reads columns with a copy of their mask, in which neighbouring columns are `step` bytes apart. The copy fits the
    /// scratch memory.
    ///
    /// # Safety
    /// The rows and their mask are readable, and there is room for the results.
    #[inline(never)]
    unsafe fn columns_under_copy(&self, ends: EndsOfBlock, lines: Lines, rows: usize, len: usize, step: isize) {
        let mut scratch = Aligned([const { MaybeUninit::<u8>::uninit() }; MASK_COPY_BYTES]);
        let data = lines.mask.address();
        let to = scratch.0.as_mut_ptr().cast::<u8>();
        debug_assert!(rows * len <= MASK_COPY_BYTES, "a mask of {rows} rows of {len} bytes does not fit");
        let outer = (rows, lines.mask_stride);
        let inner = (len, step);
        // SAFETY: the caller's promise; the scratch memory has room for the mask.
        unsafe {
            Pack { data, outer, inner, size: 1, scratch: true, swapped: false, to, step: len }.run();
            let mask = Readable::bytes(to, rows * len);
            let lines = Lines { mask, mask_stride: len as isize, ..lines };
            read_columns(ends, lines, (rows, len), self.last(), self.plan.passes);
        }
    }

    /// Reads short rows of `len` elements for both ends of the order at once or for one after the other.
    ///
    /// # Safety
    /// The rows are readable, and there is room for the results.
    unsafe fn row_batches(&self, ends: EndsOfBlock, lines: Lines, ahead: *const u8, rows: usize, len: usize) -> bool {
        let input = ends.inputs[0];
        let to = ends.to[0];
        let are_bare = !to.wants_keys() && !to.wants_places();
        let both = are_bare && !input.ignores_nan() && reads_both_at_once(input.element, len);
        let mut identity_seen = false;
        by_ends(ends, both, |EndsOfBlock { inputs, to, .. }| {
            // SAFETY: the caller's promise.
            identity_seen |= unsafe { self.row_batches_of(inputs, to, lines, ahead, rows, len) };
        });
        identity_seen
    }

    /// Reads short rows; `ahead` is what is read after them, or null. Returns whether an element may equal what replaces skipped
    /// elements.
    ///
    /// # Safety
    /// The rows are readable, and there is room for the results.
    unsafe fn row_batches_of(
        &self,
        inputs: &[Input],
        all: &[Outputs],
        lines: Lines,
        ahead: *const u8,
        rows: usize,
        len: usize,
    ) -> bool {
        let mut identity_seen = lines.mask.is_null();
        let Input { element, largest, .. } = inputs[0];
        let size = element.size();
        let ignore_nan = inputs[0].ignores_nan();
        let minus_one_for_identity = self.minus_one() == MinusOne::EmptyOrIdentity;
        let last = self.last();
        let bytes = if self.plan.packed { 0 } else { self.plan.bytes };
        let of_memory = bytes >= ROWS_OF_MEMORY_LEAST_ARRAY_BYTES;
        // Where batch after batch has NaN, fewer batches are tried in vain.
        let most = match len < ROWS_LEAST_ELEMENTS {
            true => (OMIT_BLOCK_BYTES / size / len) & !(NAN_RETRY_ROWS - 1),
            false => 16 * NAN_RETRY_ROWS,
        };
        let mut done = 0;
        let mut singly = NAN_RETRY_ROWS;
        while done < rows {
            let lines = lines.from(done as isize);
            let rows = rows - done;
            let to = all[0].from(done, size);
            let other = match all {
                // SAFETY: the caller's promise.
                [_, other] => unsafe { other.from(done, size).values_of(rows, size) },
                _ => Writable::none(),
            };
            let follow = lines.stride == (len * size) as isize;
            let answer = match (other.is_null(), to.wants_places()) {
                (false, _) => Answer::Both,
                (true, true) => Answer::Places,
                (true, false) => Answer::Values,
            };
            let rows_without_mask = RowsWithoutMask { element, number: rows, len, follow, answer, of_memory };
            let kernel = match lines.mask.is_null() {
                true => short_kernel(rows_without_mask),
                false => short_kernel_under_mask(element, rows, len),
            };
            let is_plain = lines.mask.is_null() && ahead.is_null() && !ignore_nan && !minus_one_for_identity;
            let short_rows = ShortRows {
                lines,
                rows,
                len,
                element,
                largest,
                last,
                ignore_nan,
                minus_one_for_identity,
                identity_seen: &raw mut identity_seen,
                to,
                other,
                ahead,
                fill_registers: is_plain && fill_registers(rows_without_mask),
                bytes,
            };
            // SAFETY: the caller's promise.
            let count = kernel.map_or(0, |kernel| unsafe { short_rows.run(kernel) });
            if to.wants_keys() {
                // SAFETY: the kernel has written a place for each of these rows.
                with_sources!(inputs, lines, S, X => unsafe {
                    lines.write_keys::<S, <X as Ends>::First>(count, to)
                });
            }
            // The kernel has stopped at a batch with NaN, or at the end: the next rows are read in another way.
            singly = if count > 0 { NAN_RETRY_ROWS } else { (2 * singly).min(most) };
            let rest = singly.min(rows - count);
            if rest > 0 {
                identity_seen = true;
                let lines = lines.from(count as isize);
                let rests = [all[0], all[all.len() - 1]].map(|to| to.from(done + count, size));
                let ends =
                    EndsOfBlock { inputs, against: &[Readable::none(); 2][..all.len()], to: &rests[..all.len()] };
                // SAFETY: the caller's promise.
                unsafe { self.row_by_row(ends, lines, rest, len) };
                if minus_one_for_identity {
                    // SAFETY: the kernels have written a place for each of these rows.
                    unsafe { write_minus_ones(&inputs[0], lines, rest, to.from(count, size)) };
                }
            }
            done += count + rest;
        }
        identity_seen
    }

    /// Reads short rows without the kernels for them: as columns of a copy, or one by one.
    ///
    /// # Safety
    /// The rows are readable, and there is room for the results.
    unsafe fn row_by_row(&self, ends: EndsOfBlock, lines: Lines, rows: usize, len: usize) {
        let last = self.last();
        if form_of_other_rows(len, !lines.mask.is_null()) == Form::Rows {
            // SAFETY: the caller's promise.
            return unsafe { read_rows(ends, lines, (rows, len), last, self.plan.rows_ahead) };
        }
        let kept = ReductionOffsets { input: lines.stride, ..ReductionOffsets::default() };
        let size = ends.inputs[0].element.size();
        // SAFETY: the caller's promise: `Pack` alone reads these lines, across the rows. The copy has a row for each place.
        unsafe {
            let columns = Lines::plain(lines.data.address(), size as isize, 0, 0);
            self.pack(None, columns, len, (rows, &kept), |lines, _| {
                read_columns(ends, lines, (len, rows), last, Passes::OF_CACHES);
                true
            });
        }
    }
}

// The scratch memory has room for a copy of as many short rows as are tried at a time: each line of it is rounded up to whole vectors,
// of at most 16 elements.
const _: () = assert!(NAN_RETRY_ROWS.is_multiple_of(16));
const _: () = assert!(NAN_RETRY_ROWS * (ROWS_LEAST_ELEMENTS - 1) * size_of::<u64>() <= OMIT_BLOCK_BYTES);

/// Replaces places by -1 where the element is skipped or is the identity, as the kernels for short rows do it themselves: other
/// kernels give such rows a place, or -1.
///
/// # Safety
/// The rows are readable, and have the places that have been written.
unsafe fn write_minus_ones(input: &Input, lines: Lines, rows: usize, to: Outputs) {
    let size = input.element.size();
    // Whether the element at a place of a row is skipped, or is the identity.
    let is_out = |row: usize, place: isize| {
        let line = lines.from(row as isize);
        // SAFETY: the caller's promise.
        let bits = unsafe { bits(line.data.wrapping_offset(place * size as isize).read(size), size, false) };
        // SAFETY: the caller's promise.
        let masked = !line.mask.is_null() && unsafe { *line.mask.wrapping_offset(place).read(1) } == 0;
        masked || bits == input.element.identity(input.largest) || input.pattern().matches(bits)
    };
    // SAFETY: the caller's promise.
    unsafe { to.map_places(rows, |row, place| if place < 0 || is_out(row, place as isize) { -1 } else { place }) };
}

/// Reads both ends of the order `at_once`, or one after the other.
fn by_ends(ends: EndsOfBlock, at_once: bool, mut read: impl FnMut(EndsOfBlock)) {
    let EndsOfBlock { inputs, against, to } = ends;
    let step = if at_once { inputs.len() } else { 1 };
    let mut end = 0;
    while end < inputs.len() {
        let next = end + step;
        read(EndsOfBlock { inputs: &inputs[end..next], against: &against[end..next], to: &to[end..next] });
        end = next;
    }
}

// These functions are neither inlined nor generic over the number of ends, so that each kernel exists only once. A mask or both
// ends need a wide instruction set: kernels that only save time are compiled for no other.

/// Reads rows one by one.
///
/// # Safety
/// The rows are readable, with their mask, and there is room for the results.
#[inline(never)]
unsafe fn read_rows(request: EndsOfBlock, lines: Lines, (rows, len): (usize, usize), last: bool, ahead: usize) {
    by_ends(request, InstructionSet::current().is_wide(), |EndsOfBlock { inputs, against, to }| {
        with_sources!(inputs, lines, S, X => {
            let task = Rows::<S, X> { lines, rows, len, last, ahead, against, to, ends: PhantomData };
            // SAFETY: the caller's promise.
            unsafe { if S::MASKED || X::BOTH { dispatch_wide(task) } else { dispatch(task) } }
        })
    })
}

/// Reads rows of adjacent columns.
///
/// # Safety
/// As for [`read_rows`].
#[inline(never)]
pub unsafe fn read_columns(
    request: EndsOfBlock,
    lines: Lines,
    (rows, columns): (usize, usize),
    last: bool,
    passes: Passes,
) {
    // Here, memory for a large tile is not compiled for each kernel.
    let mut scratch = Scratch::default();
    let bytes = bytes_of_large_tile(columns * request.inputs[0].element.size());
    // SAFETY: the memory has as many bytes.
    let large = unsafe { if bytes == 0 { Writable::none() } else { Writable::bytes(scratch.reserve(bytes), bytes) } };
    by_ends(request, InstructionSet::current().is_wide(), |EndsOfBlock { inputs, to, .. }| {
        with_sources!(inputs, lines, S, X => {
            let task = Columns::<S, X> { lines, rows, columns, last, to, passes, large, ends: PhantomData };
            // SAFETY: the caller's promise.
            unsafe { if S::MASKED || X::BOTH { dispatch_wide(task) } else { dispatch(task) } }
        })
    })
}

/// Copies a block, which fits the scratch memory, and replaces skipped elements, as [`ReplaceSkipped`] says. Not inlined, so that
/// blocks without a mask do not pay for that memory.
///
/// # Safety
/// The block and its mask are readable, or `to` already holds the block; `to` has room for the copy.
#[inline(never)]
unsafe fn omit(
    input: &Input,
    (from, to, size): (*const u8, *mut u8, usize),
    lens: (usize, usize),
    mut mask: *const u8,
    mut mask_strides: (isize, isize),
) -> bool {
    let pattern = input.pattern();
    let fill = input.element.identity(input.largest);
    let mut scratch = Aligned([const { MaybeUninit::<u64>::uninit() }; OMIT_BLOCK_BYTES / 8]);
    let repeats = mask_strides.0 == 0 && lens.0 > 1;
    if !mask.is_null() && (repeats || !matches!(mask_strides.1, 0 | 1)) {
        // A mask with another layout is packed, and a line of the mask that belongs to all lines is repeated for each.
        let to = scratch.0.as_mut_ptr().cast::<u8>();
        let step = lens.1;
        let all = lens.0 * step;
        debug_assert!(all <= OMIT_BLOCK_BYTES, "a mask of {all} bytes does not fit");
        let outer = (if repeats { 1 } else { lens.0 }, mask_strides.0);
        let inner = (step, mask_strides.1);
        // SAFETY: the caller's promise; the scratch memory has a byte for each element of the block.
        unsafe { Pack { data: mask, outer, inner, size: 1, scratch: true, swapped: false, to, step }.run() };
        let mut done = outer.0 * step;
        while done < all {
            let more = done.min(all - done);
            // SAFETY: what is copied has been written, and ends before what is written.
            unsafe { to.copy_to_nonoverlapping(to.add(done), more) };
            done += more;
        }
        (mask, mask_strides) = (to, (step as isize, 1));
    }
    // SAFETY: the caller's promise; the mask has a byte for each element, or one for each line.
    unsafe { dispatch(ReplaceSkipped { from, to, size, lens, mask, mask_strides, pattern, fill }) }
}
