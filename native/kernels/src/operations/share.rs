//! Sharing a walk among threads: each takes some of the tiles, or parts of them where there are fewer tiles than tasks.

use crate::layout::axis::position;
use crate::operations::reduce::Walk;
use crate::operations::results::{Partial, Results};
use crate::operations::sink::Sink;
use crate::threads;
use std::ops::Range;
use std::ptr;

/// Elements that are looked at before threads are asked for help: to ask takes longer.
const HEAD: usize = 4096;

impl<const ENDS: usize> Walk<'_, ENDS> {
    /// Shares the work among threads. (Not inlined: a call on one thread would have to step over it.)
    ///
    /// # Safety
    /// As for [`run`](Self::run), of all tiles.
    #[inline(never)]
    pub unsafe fn share(&self, num_threads: usize, sinks: [&(impl Sink + Sync); ENDS]) {
        let (tiles, tasks) = (self.plan().tiles(), threads::tasks(num_threads));
        let parts = tasks.div_ceil(tiles).min(self.plan().blocks());
        // SAFETY: the caller's; the ranges are different tiles.
        unsafe {
            if self.ends_early(sinks) {
                return;
            }
            if parts == 1 {
                threads::map(threads::ranges(tiles, tasks), |tiles| self.run(tiles, sinks));
            } else {
                self.run_in_parts(tiles, parts, sinks);
            }
        }
    }

    /// Looks at the beginning of a single row of integers, from the end whose ties win, and hands the result to the sinks where
    /// nothing after it can win.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn ends_early(&self, sinks: [&impl Sink; ENDS]) -> bool {
        let (plan, inputs) = (self.plan(), &self.blocks.inputs);
        let single = plan.kept.len == 1 && plan.outer_kept.is_empty() && plan.outer_reduced.is_empty();
        if !single || inputs[0].element.nan().is_some() {
            return false;
        }
        let (len, head) = (plan.reduced.len, HEAD.min(plan.chunk));
        let span = if self.blocks.last() { len - head..len } else { 0..head };
        let mut states = [const { Results::new() }; ENDS];
        // SAFETY: the caller's; the block fills its results.
        unsafe {
            self.blocks.read_with_indices(&self.origin, 1, span, &[ptr::null(); ENDS], &mut states);
            let ended = states.iter_mut().zip(inputs).all(|(state, input)| state.is_utmost(input));
            if ended {
                self.hand_on(self.origin, 1, &mut states, sinks);
            }
            ended
        }
    }

    /// Reduces each of a few tiles in several parts at once and hands it to the sinks.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of all tiles; each has so many blocks.
    unsafe fn run_in_parts(&self, tiles: usize, parts: usize, sinks: [&impl Sink; ENDS]) {
        let plan = self.plan();
        let size = self.blocks.inputs[0].element.size();
        let place = |tile: usize| {
            let (line, start) = (tile / plan.per_line(), tile % plan.per_line() * plan.tile);
            let at = plan.kept.moved(position(plan.outer_kept, self.origin, line), start);
            (at, plan.tile.min(plan.kept.len - start))
        };
        let blocks = threads::ranges(plan.blocks(), parts);
        let partial = |number: Range<usize>| {
            let (tile, part) = (number.start / parts, number.start % parts);
            let (at, len) = place(tile);
            let mut states = [const { Results::new() }; ENDS];
            // SAFETY: the caller's promise; the blocks fill as many results as the tile has.
            unsafe {
                self.reduce_blocks(at, len, blocks[part].clone(), &mut states);
                states.each_mut().map(|state| Partial::of(state, len, size))
            }
        };
        let found = threads::map(threads::ranges(tiles * parts, tiles * parts), partial);
        for (tile, found) in found.chunks(parts).enumerate() {
            let (at, len) = place(tile);
            let mut totals = [const { Results::new() }; ENDS];
            for (number, states) in found.iter().enumerate() {
                for ((total, state), input) in totals.iter_mut().zip(states).zip(&self.blocks.inputs) {
                    match number {
                        0 => state.copy_into(total),
                        // SAFETY: each part has filled its results, which are of the input.
                        _ => unsafe { state.combine_into(total, input) },
                    }
                }
            }
            // SAFETY: the caller's promise.
            unsafe { self.hand_on(at, len, &mut totals, sinks) };
        }
    }
}
