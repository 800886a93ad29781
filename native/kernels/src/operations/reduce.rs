//! Reductions: the walk over the blocks of a plan.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. The blocks of a tile are combined; a finished tile goes to a [`Sink`].
//! Each thread takes some of the tiles, or parts of tiles where there are fewer tiles than tasks.
//!
//! [`argreduce`] is the plainest reduction: its sink stores the indices that the walk finds.
//!
//! Reading ends early where nothing can beat what was found: a True, the largest integer, a NaN.
//!
//! ```text
//! for each tile: the caller reads a short stretch from the side where ties win; if that settles the tile, it is done
//! at the first tile that this does not settle, threads start, and share it and all others
//! a part of a tile ends when it is settled, or when a part that wins ties against it is
//! ```

use crate::element::IndexType;
use crate::kernels::lanes::Outputs;
use crate::kernels::streaming::end_of_copies;
use crate::layout::{ReductionAxis, ReductionLayout, ReductionOffsets, position, positions};
use crate::operations::block::Blocks;
use crate::operations::choice::{Kernel, choose, is_small};
use crate::operations::copies;
use crate::operations::input::Input;
use crate::operations::plan::{Form, Request};
use crate::operations::sink::{Direct, MinusOne, Place, Results, Sink, Tile, are_utmost, combine, elements_of_keys};
use crate::operations::small;
use crate::operations::small_inner;
use crate::operations::two_steps;
use crate::threads;
use crate::thresholds::HEAD_BYTES;
use crate::vector::extent::Readable;
use std::array;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes the row-major index, within the reduced axes, of the extremum at every kept position. The input skips no elements.
///
/// `axes` yields, last dimension first, the length, the input stride, the output stride (ignored on reduced
/// axes) and whether the axis is reduced. No reduced axis may be empty; empty kept axes mean no work.
///
/// # Safety
/// The input is readable and the output writable at every position that the axes lead to; the two do not
/// overlap; an index fits the index type.
pub unsafe fn argreduce(
    input: Input,
    axes: impl Iterator<Item = (usize, isize, isize, bool)>,
    output: *mut u8,
    index: IndexType,
) {
    let axes = axes.map(|(len, input, output, reduced)| {
        let output = if reduced { 0 } else { output };
        (len, ReductionOffsets { input, output, ..ReductionOffsets::default() }, reduced)
    });
    let mut layout = ReductionLayout::default();
    layout.fill(axes, input.last);
    if copies::are_copies(&input, &layout) {
        // SAFETY: the caller's promise.
        return unsafe { copies::write_indices(index, &layout, 1, output) };
    }
    let sink = Indices { output, index };
    // SAFETY: the caller's promise.
    unsafe { reduce(&input, &mut layout, &sink) }
}

/// Stores indices in the output's type and layout.
struct Indices {
    output: *mut u8,
    index: IndexType,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Indices {}

impl Sink for Indices {
    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Direct {
        let plain = self.index.size() == 8 && (axis.strides.output == 8 || axis.len == 1);
        let index = if plain { self.output.wrapping_offset(at.output).cast() } else { ptr::null_mut() };
        Direct { values: ptr::null_mut(), index }
    }

    #[inline]
    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        let output = self.output.wrapping_offset(at.output);
        // SAFETY: the output is writable wherever the layout leads; a sink wants indices by default.
        unsafe { self.index.write(output, axis.strides.output, tile.index, tile.len) }
    }
}

/// Reduces `input` over a normalised layout, with as many threads as pay.
///
/// # Safety
/// As for [`reduce_ends`].
#[inline]
pub unsafe fn reduce<S: Sink + Sync>(input: &Input, layout: &mut ReductionLayout, sink: &S) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    if elements == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match is_small(input, elements) {
            true => small::reduce(input, layout, sink),
            false => reduce_ends([*input], layout, [sink]),
        }
    }
}

/// Reduces an input for one or both ends of the order at once. The layout has at least one position; the inputs differ only in
/// the end of the order, the smallest first. Not inlined: small arrays need none of its memory.
///
/// # Safety
/// The inputs are readable wherever the layout leads, and the sinks take its tiles: what they write has room there.
#[inline(never)]
pub unsafe fn reduce_ends<const ENDS: usize, S: Sink + Sync>(
    inputs: [Input; ENDS],
    layout: &mut ReductionLayout,
    sinks: [&S; ENDS],
) {
    let told = if inputs[0].ignores_nan() { MinusOne::Empty } else { MinusOne::Unused };
    let places = sinks.iter().any(|sink| sink.wants(told).index);
    if layout.reduced.len() > 1 && !places && !inputs[0].element.is_float() && !inputs[0].skips() {
        layout.forget_indices();
    }
    // SAFETY: the caller's promise.
    if two_steps::may_be_faster(&inputs[0], layout) && unsafe { two_steps::reduce(inputs, layout, sinks) } {
        return;
    }
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    let num_threads = threads::num_threads(elements.saturating_mul(inputs[0].element.size() * S::TRAFFIC));
    let origin = layout.origin;
    // Where elements are skipped, sinks see each tile.
    let are_direct = |kept: &ReductionAxis| {
        let is_direct = |sink: &&S| sink.direct_output(origin, kept).has(sink.wants(MinusOne::Unused));
        !inputs[0].skips() && sinks.iter().all(is_direct)
    };
    let request = Request { input: &inputs[0], ends: ENDS, places, are_direct: &are_direct };
    let kernel = choose(&request, layout, threads::tasks(num_threads));
    let plan = match &kernel {
        Kernel::Blocks(plan) => plan,
        Kernel::SmallInner(beyond) => {
            // SAFETY: the caller's promise.
            return unsafe { small_inner::reduce(inputs, layout, sinks, num_threads, *beyond) };
        }
    };
    let walk = Blocks { inputs, plan, origin };
    // Without a division for a small call.
    if num_threads == 1 {
        // SAFETY: the caller's promise.
        return unsafe { walk.run(0..plan.tiles(), sinks) };
    }
    // SAFETY: the caller's promise.
    unsafe { walk.run_on_threads(num_threads, sinks) }
}

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reduces the given tiles and hands each to the sinks.
    ///
    /// # Safety
    /// As for [`reduce_ends`]; no other thread reduces these tiles.
    unsafe fn run(&self, tiles: Range<usize>, sinks: [&impl Sink; ENDS]) {
        let plan = self.plan;
        let size = self.inputs[0].element.size();
        let plain = self.are_tiles();
        let minus_one = self.minus_one();
        let mut states = self.results();
        let mut block = self.results();
        for tile in tiles {
            let (at, len) = self.tile(tile);
            if !plain {
                // SAFETY: the caller's promise; the first call leaves results for the second.
                unsafe {
                    self.reduce_blocks(at, len, 0..plan.blocks(), &mut states, &mut block, || true);
                    self.hand_on(at, len, &mut states, sinks);
                }
                continue;
            }
            // Directly into the outputs where possible.
            let places: [Place; ENDS] = array::from_fn(|end| {
                let direct = sinks[end].direct_output(at, &plan.kept);
                // SAFETY: the caller's promise: the sink takes the tile.
                unsafe { states[end].with(direct, sinks[end].wants(minus_one), len, plan.past_caches) }
            });
            let to = places.map(|place| place.to);
            // SAFETY: the caller's promise; `to` has room for the tile, in the output or in memory of its own.
            let identity_seen = unsafe { self.read(&at, len, 0..plan.reduced.len, &[Readable::none(); ENDS], &to) };
            for (place, sink) in places.iter().zip(sinks) {
                let minus_one = match minus_one {
                    MinusOne::EmptyOrIdentity if !identity_seen => MinusOne::Empty,
                    _ => minus_one,
                };
                // SAFETY: what the sink wants has been written.
                unsafe {
                    match place.takes {
                        true => sink.take(at, &plan.kept, Tile::of(place.to, len, size, minus_one)),
                        false => place.copy_past_caches(len, size),
                    }
                }
            }
        }
        if plan.past_caches {
            end_of_copies();
        }
    }

    /// Whether a tile is a single block, not combined from parts, whose places already are the indices.
    fn are_tiles(&self) -> bool {
        let is_interleaved = matches!(self.plan.form, Form::Interleaved(_)) && !self.has_values_of_wide_rows();
        self.plan.is_whole && self.plan.blocks() == 1 && !is_interleaved
    }

    /// What an index of -1 says in the tiles of this walk. The kernels for columns and rows know which of them have no number.
    pub fn minus_one(&self) -> MinusOne {
        let input = &self.inputs[0];
        match self.plan.form {
            Form::Columns | Form::Interleaved(_) | Form::Rows if input.ignores_nan() => MinusOne::Empty,
            Form::RowBatches if input.skips() && self.are_tiles() => MinusOne::EmptyOrIdentity,
            _ => MinusOne::Unused,
        }
    }

    /// Where a tile begins, and its length.
    fn tile(&self, tile: usize) -> (ReductionOffsets, usize) {
        let plan = self.plan;
        let (line, start) = match plan.per_line() {
            1 => (tile, 0),
            per_line => (tile / per_line, tile % per_line * plan.tile),
        };
        let at = plan.kept.after(position(plan.outer_kept, self.origin, line), start);
        (at, plan.tile.min(plan.kept.len - start))
    }

    /// Memory for the results of a tile.
    fn results(&self) -> [Results; ENDS] {
        [(); ENDS].map(|()| Results::new(self.plan.tile, self.inputs[0].element.size()))
    }

    /// Hands the finished results of a tile to the sinks.
    ///
    /// # Safety
    /// There are keys and indices for each position of the tile, which begins at `at`.
    unsafe fn hand_on(
        &self,
        at: ReductionOffsets,
        len: usize,
        states: &mut [Results; ENDS],
        sinks: [&impl Sink; ENDS],
    ) {
        let size = self.inputs[0].element.size();
        for ((state, sink), input) in states.iter_mut().zip(sinks).zip(&self.inputs) {
            let results = state.outputs();
            let minus_one = self.minus_one();
            // SAFETY: the caller's promise; the sink fetches values that are missing.
            unsafe {
                let mut tile = Tile::of(results, len, size, minus_one);
                if sink.wants(minus_one).values {
                    // The keys of integers are the integers, and that of a True is no zero.
                    tile.values = results.keys_of_size(len, size).address();
                    tile.has_any_equals = input.element.is_float();
                }
                if tile.has_any_equals {
                    elements_of_keys(len, results, input);
                }
                sink.take(at, &self.plan.kept, tile);
            }
        }
    }

    /// Reduces some of the blocks of one tile into `states`, each block but the first through `block`. It begins where ties
    /// win, and ends when the tile is settled, or before a block that is not needed. Returns whether there are results.
    ///
    /// # Safety
    /// As for [`reduce_ends`]; the tile begins at `at`, and both memories are those of a tile.
    unsafe fn reduce_blocks(
        &self,
        at: ReductionOffsets,
        len: usize,
        blocks: Range<usize>,
        states: &mut [Results; ENDS],
        block: &mut [Results; ENDS],
        is_needed: impl Fn() -> bool,
    ) -> bool {
        let plan = self.plan;
        let per_line = plan.blocks_per_line();
        let states = states.each_mut().map(Results::outputs);
        for step in 0..blocks.len() {
            // Asked only where a block follows.
            // SAFETY: the states have results for the tile once a block has been read.
            if step > 0 && unsafe { self.is_settled(len, &states) } {
                return true;
            }
            if !is_needed() {
                return step > 0;
            }
            let number = if self.last() { blocks.end - 1 - step } else { blocks.start + step };
            let at = position(plan.outer_reduced, at, number / per_line);
            let start = number % per_line * plan.chunk;
            let span = start..plan.reduced.len.min(start + plan.chunk);
            if step == 0 {
                // SAFETY: the caller's promise.
                unsafe { self.reduce_span(at, len, span, &[Readable::none(); ENDS], &states) };
            } else {
                // Only a block that reaches the keys found so far has to report places.
                let size = self.inputs[0].element.size();
                // SAFETY: the blocks before have left keys.
                let against = states.map(|state| unsafe { state.keys_of_size(len, size).readable() });
                let block = block.each_mut().map(Results::outputs);
                // SAFETY: the caller's promise.
                unsafe { self.reduce_span(at, len, span, &against, &block) };
                for ((state, block), input) in states.iter().zip(block).zip(&self.inputs) {
                    // SAFETY: both have results for the tile.
                    unsafe { combine(len, *state, block, input, input.last) };
                }
            }
        }
        true
    }

    /// Reduces a span of the reduced axis into `to`, with row-major indices. A line of that axis begins at `at`.
    ///
    /// # Safety
    /// As for [`reduce_ends`]; the results have room for the tile.
    unsafe fn reduce_span(
        &self,
        at: ReductionOffsets,
        len: usize,
        span: Range<usize>,
        against: &[Readable; ENDS],
        to: &[Outputs; ENDS],
    ) {
        let reduced = self.plan.reduced;
        let first_index = reduced.after(at, span.start).index;
        // SAFETY: the caller's promise.
        unsafe { self.read(&at, len, span, against, to) };
        let step = reduced.strides.index;
        for to in to {
            // A place along the axis becomes an index; -1 is none.
            // SAFETY: a place has been written for each position.
            unsafe { to.map_places(len, |_, place| if place < 0 { -1 } else { first_index + place * step }) };
        }
    }

    /// Whether what a tile has found cannot change any more: no key beats those found, and since the walk begins where ties
    /// win, no equal key does. Along several reduced axes the walk has another order than the indices.
    ///
    /// # Safety
    /// There is a key for each of the `len` positions.
    unsafe fn is_settled(&self, len: usize, states: &[Outputs; ENDS]) -> bool {
        let mut ends = states.iter().zip(&self.inputs);
        self.plan.outer_reduced.is_empty()
            && ends.all(|(state, input)| {
                // SAFETY: the caller's promise.
                unsafe { are_utmost(len, *state, input) }
            })
    }

    /// Reduces all tiles on several threads. Not inlined: a call on one thread would have to jump over it.
    ///
    /// # Safety
    /// As for [`reduce_ends`].
    #[inline(never)]
    unsafe fn run_on_threads(&self, num_threads: usize, sinks: [&(impl Sink + Sync); ENDS]) {
        let tiles = self.plan.tiles();
        // SAFETY: the caller's promise.
        let done = unsafe { self.run_heads(tiles, sinks) };
        let left = tiles - done;
        if left == 0 {
            return;
        }
        match threads::tasks(num_threads).div_ceil(left).min(self.plan.blocks()) {
            1 => threads::share(left, num_threads, |tiles| {
                // SAFETY: the caller's promise; threads share the tiles without overlap.
                unsafe { self.run(done + tiles.start..done + tiles.end, sinks) }
            }),
            // SAFETY: the caller's promise.
            parts => unsafe { self.run_in_parts(done..tiles, parts, sinks) },
        }
    }

    /// Hands on the tiles, from the first on, which a short stretch of each row settles, and returns their number: threads that
    /// start would take a thousand times as long.
    ///
    /// # Safety
    /// As for [`reduce_ends`].
    unsafe fn run_heads(&self, tiles: usize, sinks: [&impl Sink; ENDS]) -> usize {
        let plan = self.plan;
        if plan.form != Form::Rows || !plan.outer_reduced.is_empty() {
            return 0;
        }
        let mut states = self.results();
        for tile in 0..tiles {
            let (at, len) = self.tile(tile);
            let head = (HEAD_BYTES / self.inputs[0].element.size() / len).clamp(1, plan.chunk);
            let start = if self.last() { plan.reduced.len - head } else { 0 };
            let to = states.each_mut().map(Results::outputs);
            // SAFETY: the caller's promise; the first call leaves results for the others.
            unsafe {
                self.reduce_span(at, len, start..start + head, &[Readable::none(); ENDS], &to);
                if !self.is_settled(len, &to) {
                    return tile;
                }
                self.hand_on(at, len, &mut states, sinks);
            }
        }
        tiles
    }

    /// Reduces each of a few tiles in several parts at once and hands it to the sinks.
    ///
    /// # Safety
    /// As for [`reduce_ends`].
    unsafe fn run_in_parts(&self, tiles: Range<usize>, parts: usize, sinks: [&impl Sink; ENDS]) {
        let blocks = threads::ranges(self.plan.blocks(), parts);
        // For each tile, the part that settles it, counted from where ties win: no later part is needed.
        let settled: Vec<_> = tiles.clone().map(|_| AtomicUsize::new(usize::MAX)).collect();
        let reduce_part = |number: Range<usize>| {
            let tile = number.start / parts;
            let part = number.start % parts;
            let (at, len) = self.tile(tiles.start + tile);
            let rank = if self.last() { parts - 1 - part } else { part };
            let is_needed = || rank <= settled[tile].load(Ordering::Relaxed);
            let mut states = self.results();
            let mut block = self.results();
            // SAFETY: the caller's promise.
            if !unsafe { self.reduce_blocks(at, len, blocks[part].clone(), &mut states, &mut block, is_needed) } {
                return None;
            }
            // SAFETY: the part has results for the tile.
            if unsafe { self.is_settled(len, &states.each_mut().map(Results::outputs)) } {
                settled[tile].fetch_min(rank, Ordering::Relaxed);
            }
            Some(states)
        };
        let all = tiles.len() * parts;
        let mut results = threads::map(threads::ranges(all, all), reduce_part);
        for (tile, results) in tiles.zip(results.chunks_mut(parts)) {
            let (at, len) = self.tile(tile);
            let mut results = results.iter_mut().flatten();
            let totals = results.next().expect("a part that is needed");
            for states in results {
                for ((total, state), input) in totals.iter_mut().zip(states).zip(&self.inputs) {
                    // SAFETY: both have results for the tile.
                    unsafe { combine(len, total.outputs(), state.outputs(), input, input.last) };
                }
            }
            // SAFETY: as above.
            unsafe { self.hand_on(at, len, totals, sinks) };
        }
    }
}
