//! Blocks of rows of a few columns, many of them: a short axis is reduced that has a tiny kept one inside. A block is over
//! before a tile would pay; here several are read in one call of a kernel.

use crate::kernels::down::{Down, serve};
use crate::kernels::outputs::Outputs;
use crate::kernels::source::Lines;
use crate::layout::axis::{position, positions};
use crate::layout::reduction::{ReductionAxis, ReductionLayout, ReductionOffsets};
use crate::operations::block::read_columns;
use crate::operations::input::Input;
use crate::operations::sink::{Sink, Tile};
use crate::threads;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// Columns of the blocks that are read together, at most.
const COLUMNS: usize = 512;

/// Bytes of the largest block: a larger one is worth tiles.
const BLOCK: isize = 1 << 16;

/// Whether this is the way for an input of which nothing is left out.
pub fn serves(input: &Input, layout: &ReductionLayout) -> bool {
    let ([columns, _, ..], [rows]) = (&layout.kept[..], &layout.reduced[..]) else { return false };
    let size = input.element.size();
    columns.strides.input == size as isize
        && rows.strides.input >= columns.strides.input * columns.len as isize
        && rows.strides.input.saturating_mul(rows.len as isize) <= BLOCK
        && !input.swapped
        && !input.numbers
        && serve(
            input.element,
            rows.len,
            columns.len,
            rows.strides.input == columns.strides.input * columns.len as isize,
        )
}

/// Reduces inputs that differ in the end of the order alone.
///
/// # Safety
/// The input is readable wherever the layout leads, which is [served](serves); the sinks were made for the layout.
#[inline(never)]
pub unsafe fn reduce<const ENDS: usize>(
    inputs: [Input; ENDS],
    layout: &ReductionLayout,
    sinks: [&(impl Sink + Sync); ENDS],
    num_threads: usize,
) {
    let (columns, outer) = layout.kept.split_first().expect("columns");
    let blocks = Blocks { columns, outer, rows: &layout.reduced[0] };
    // SAFETY: the caller's promise.
    let walk = |numbers: Range<usize>| unsafe { blocks.read(&inputs, layout.origin, numbers, &sinks) };
    let all = positions(outer);
    match num_threads {
        1 => walk(0..all),
        _ => {
            threads::map(threads::ranges(all, threads::tasks(num_threads)), walk);
        }
    }
}

/// Blocks of rows of columns.
#[derive(Clone, Copy, Debug)]
struct Blocks<'a> {
    columns: &'a ReductionAxis,
    /// Along which blocks follow one another.
    outer: &'a [ReductionAxis],
    rows: &'a ReductionAxis,
}

impl Blocks<'_> {
    /// Reads some blocks.
    ///
    /// # Safety
    /// As for [`reduce`].
    unsafe fn read(
        &self,
        inputs: &[Input],
        origin: ReductionOffsets,
        numbers: Range<usize>,
        sinks: &[&(impl Sink + Sync)],
    ) {
        let line = self.outer[0].len;
        let mut number = numbers.start;
        while number < numbers.end {
            let at = position(self.outer, origin, number);
            let len = (COLUMNS / self.columns.len).min(line - number % line).min(numbers.end - number);
            for (input, &sink) in inputs.iter().zip(sinks) {
                // SAFETY: the caller's.
                unsafe { self.read_group(input, at, len, sink) };
            }
            number += len;
        }
    }

    /// Reads neighbouring blocks and hands the results on, where they are not written to the output straight away.
    ///
    /// # Safety
    /// As for [`reduce`], of no more than [`COLUMNS`] columns in all.
    unsafe fn read_group(&self, input: &Input, at: ReductionOffsets, blocks: usize, sink: &impl Sink) {
        let (columns, size) = (self.columns.len, input.element.size());
        let outer = self.outer[0].strides;
        let (wants, mut to) = (sink.wants(), Outputs::NOTHING);
        if blocks == 1 || outer.output == self.columns.strides.output * columns as isize {
            to = sink.direct_output(at, self.columns);
        }
        let is_direct = !(wants.sight || wants.index && to.index.is_null() || wants.values && to.values.is_null());
        let mut index = [const { MaybeUninit::<i64>::uninit() }; COLUMNS];
        let mut values = [const { MaybeUninit::<u64>::uninit() }; COLUMNS];
        if !wants.index {
            to.index = ptr::null_mut();
        } else if to.index.is_null() {
            to.index = index.as_mut_ptr().cast();
        }
        if !wants.values {
            to.values = ptr::null_mut();
        } else if to.values.is_null() {
            to.values = values.as_mut_ptr().cast();
        }
        let mut done = 0;
        // SAFETY: the caller's; there is room for so many results.
        unsafe {
            while done < blocks {
                let data = input.data.wrapping_offset(at.input + outer.input * done as isize);
                let into = to.from(done * columns, size);
                let found = self.down(input, data, (blocks - done, outer.input), into);
                done += found;
                if done < blocks {
                    // There is NaN in it.
                    let data = data.wrapping_offset(outer.input * found as isize);
                    self.one(input, data, to.from(done * columns, size));
                    done += 1;
                }
            }
            let step = self.rows.strides.index;
            if wants.index && (step, at.index) != (1, 0) {
                for place in 0..blocks * columns {
                    let index = to.index.add(place);
                    index.write_unaligned(at.index + step * index.read_unaligned());
                }
            }
            for block in 0..if is_direct { 0 } else { blocks } {
                let Outputs { values, index, .. } = to.from(block * columns, size);
                sink.take(self.outer[0].moved(at, block), self.columns, Tile { len: columns, index, values });
            }
        }
    }

    /// Reads blocks that are `block` bytes apart, up to one with NaN; returns how many those are.
    ///
    /// # Safety
    /// As for [`read_group`](Self::read_group).
    unsafe fn down(&self, input: &Input, data: *const u8, (blocks, block): (usize, isize), to: Outputs) -> usize {
        let &Input { element, largest, .. } = input;
        let (row, rows, columns, last) = (self.rows.strides.input, self.rows.len, self.columns.len, self.last(input));
        let Outputs { values, index, .. } = to;
        // SAFETY: the caller's.
        unsafe { Down { data, block, blocks, row, rows, columns, element, largest, last, index, values }.run() }
    }

    /// Reads one block.
    ///
    /// # Safety
    /// As for [`read_group`](Self::read_group).
    #[cold]
    unsafe fn one(&self, input: &Input, data: *const u8, to: Outputs) {
        let lines = Lines::plain(data, self.rows.strides.input);
        let asked = (&[*input][..], &[ptr::null()][..], &[to][..]);
        // SAFETY: the caller's.
        unsafe { read_columns(asked, lines, self.rows.len, self.columns.len, self.last(input)) }
    }

    /// Ties go to the smallest or the largest index; where the index falls along the axis, the walk runs the other way.
    fn last(&self, input: &Input) -> bool {
        input.last == (self.rows.strides.index >= 0)
    }
}
