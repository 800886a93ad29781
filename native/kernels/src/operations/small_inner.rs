//! Many blocks of rows of a few columns: the reduced axis is short and has a tiny kept axis inside. Such a block ends before a
//! tile would pay; here one call of a kernel reads several blocks.

use crate::kernels::lanes::Lines;
use crate::kernels::passes::Passes;
use crate::kernels::small_inner::SmallInner;
use crate::kernels::streaming::end_of_copies;
use crate::layout::{ReductionLayout, ReductionOffsets, position, positions};
use crate::operations::block::{EndsOfBlock, read_columns};
use crate::operations::choice::Beyond;
use crate::operations::input::Input;
use crate::operations::sink::{Direct, MinusOne, Place, Results, Sink, Tile};
use crate::threads;
use crate::thresholds::SMALL_INNER_TILE_COLUMNS;
use crate::vector::extent::Readable;
use std::ops::Range;

/// Reduces inputs that differ only in the end of the order. The layout is one that [`choose`](super::choice::choose) has chosen this for.
///
/// # Safety
/// The inputs are readable wherever the layout leads, and the sinks take their tiles.
#[inline(never)]
pub unsafe fn reduce<const ENDS: usize>(
    inputs: [Input; ENDS],
    layout: &ReductionLayout,
    sinks: [&(impl Sink + Sync); ENDS],
    num_threads: usize,
    beyond: Beyond,
) {
    let (columns, outer) = layout.kept.split_first().expect("columns");
    let line = outer[0].len;
    let walk = |numbers: Range<usize>| {
        let mut memory = Results::new(SMALL_INNER_TILE_COLUMNS, inputs[0].element.size());
        let mut number = numbers.start;
        while number < numbers.end {
            let at = position(outer, layout.origin, number);
            // As many blocks of one line as the memory for results holds: the next line lies elsewhere.
            let blocks = (SMALL_INNER_TILE_COLUMNS / columns.len).min(line - number % line).min(numbers.end - number);
            debug_assert!(blocks > 0, "a block of {} columns does not fit", columns.len);
            for (input, &sink) in inputs.iter().zip(&sinks) {
                // SAFETY: the caller's promise. Each block is read by one thread.
                unsafe { read(input, layout, at, blocks, sink, &mut memory, beyond) };
            }
            number += blocks;
        }
        if beyond.past_caches {
            end_of_copies();
        }
    };
    threads::share(positions(outer), num_threads, walk);
}

/// Reads neighbouring blocks, the first of which begins at `at`, and hands the results on where they are not written directly to
/// the output. The blocks have at most [`SMALL_INNER_TILE_COLUMNS`] columns in all.
///
/// # Safety
/// As for [`reduce`]; no other thread reads these blocks.
unsafe fn read(
    input: &Input,
    layout: &ReductionLayout,
    at: ReductionOffsets,
    blocks: usize,
    sink: &impl Sink,
    memory: &mut Results,
    beyond: Beyond,
) {
    let &Input { element, largest, .. } = input;
    let line = &layout.kept[0];
    let next = &layout.kept[1];
    let rows = &layout.reduced[0];
    let columns = line.len;
    let size = element.size();
    let block = next.strides.input;
    let follow = blocks == 1 || next.strides.output == line.strides.output * columns as isize;
    let direct = if follow { sink.direct_output(at, line) } else { Direct::NOTHING };
    // SAFETY: the caller's promise: the output has room for all blocks where they follow one another.
    let place = unsafe { memory.with(direct, sink.wants(MinusOne::Unused), blocks * columns, beyond.past_caches) };
    let Place { to, takes, .. } = place;
    // Ties go to the smallest or the largest index; where the index falls along the axis, the walk runs the other way.
    let row = rows.strides.input;
    let step = rows.strides.index;
    let last = input.last == (step >= 0);
    debug_assert!(
        blocks * columns <= SMALL_INNER_TILE_COLUMNS || !takes,
        "{blocks} blocks of {columns} columns have no room"
    );
    let mut done = 0;
    while done < blocks {
        let data = input.data.wrapping_offset(at.input + block * done as isize);
        let blocks = blocks - done;
        let into = to.from(done * columns, size);
        let rows = rows.len;
        let task = SmallInner {
            data,
            block,
            blocks,
            row,
            rows,
            columns,
            element,
            largest,
            last,
            ahead: beyond.ahead,
            to: into,
        };
        // SAFETY: the caller's promise; `to` has room for all blocks, or is null where nothing is wanted.
        let count = unsafe { task.run() };
        if count < blocks {
            // The next block contains NaN.
            let data = data.wrapping_offset(block * count as isize);
            let ends = EndsOfBlock {
                inputs: &[*input],
                against: &[Readable::none()],
                to: &[into.from(count * columns, size)],
            };
            // SAFETY: as above.
            unsafe {
                let lines = Lines::plain(data, row, rows, columns * size);
                read_columns(ends, lines, (rows, columns), last, Passes::OF_CACHES);
            }
        }
        done += count + 1;
    }
    if to.wants_places() && (step, at.index) != (1, 0) {
        // SAFETY: the kernels have written a place for each column of each block.
        unsafe { to.map_places(blocks * columns, |_, place| at.index + step * place) };
    }
    // SAFETY: the kernels have written all of them.
    unsafe { place.copy_past_caches(blocks * columns, size) };
    let taken = if takes { blocks } else { 0 };
    for block in 0..taken {
        // SAFETY: the caller's promise; what the sink wants has been written for each column.
        unsafe {
            let tile = Tile::of(to.from(block * columns, size), columns, size, MinusOne::Unused);
            sink.take(next.after(at, block), line, tile);
        }
    }
}
