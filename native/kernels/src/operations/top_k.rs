//! `TopK`: the k largest or smallest along one axis with their indices, best first; equal elements by ascending index.
//!
//! ```text
//! k is 1                                               select
//! few are wanted of lines that lie side by side        many lines at a time
//! few are wanted of short lines                        the same, after they have been transposed
//! else                                                 one line at a time
//! ```

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: the input and the outputs are there wherever the layout leads"
)]

use crate::element::ElementType;
use crate::element::compare::Index;
use crate::isa::dispatch;
use crate::kernels::pack::Pack;
use crate::kernels::top_k::{Collect, Insert, Key, LANES, Packed, Rule, write_keys};
use crate::layout::{Axis, ReductionAxes, ReductionAxis, ReductionOffsets, merge, position, positions};
use crate::operations::select::{Dimension, Omit, Selection, Target, bits, select};
use crate::threads;
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct TopK {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
    /// Whether the largest are wanted, or the smallest.
    pub largest: bool,
    /// Whether NaN comes before every number, or after.
    pub nan_first: bool,
    /// Whether the smallest 64-bit integer stands for a time that is none, and comes where NaN does.
    pub times: bool,
    /// How many are wanted, at most as many as the axis has.
    pub k: usize,
    /// Whether they have to stand from the best to the worst.
    pub sorted: bool,
}

/// Finds the k best along an axis, or of a block of neighbouring axes in row-major order.
///
/// `dimensions` yields, last dimension first, the length, the stride in bytes and whether it is one of those axes. The values, their
/// bytes in this machine's order, and the indices go to memory in C order, with one axis of `k` in the place of those.
///
/// # Safety
/// The input is readable at every position; there is room for all results, clear of it.
pub unsafe fn top_k(
    input: TopK,
    dimensions: impl Iterator<Item = (usize, isize, bool)>,
    values: *mut u8,
    indices: *mut i64,
) {
    let TopK { data, element, swapped, largest, k, .. } = input;
    let dimensions: SmallVec<[_; 8]> = dimensions.collect();
    let (mut kept, mut line, mut origin) = (ReductionAxes::new(), ReductionAxes::new(), ReductionOffsets::default());
    let (mut step, mut along) = (1, 0);
    for &(len, input, reduced) in &dimensions {
        let axis = Axis { len, strides: ReductionOffsets { input, output: step, ..ReductionOffsets::default() } };
        if !reduced {
            step *= len as isize;
            kept.extend((len != 1).then(|| axis.upwards(&mut origin)));
            continue;
        }
        if along == 0 {
            (along, step) = (step, step * k as isize);
        }
        match line.last_mut() {
            _ if len == 1 => {}
            Some(inner) if input == inner.strides.input * inner.len as isize => inner.len *= len,
            _ => line.push(axis),
        }
    }
    merge(&mut kept);
    if line.is_empty() {
        line.push(ReductionAxis::POINT);
    }
    let (len, elements) = (positions(&line), positions(&kept) * positions(&line));
    debug_assert!(k <= len);
    if elements == 0 || k == 0 {
        return;
    }
    if k == 1 && (!input.times || largest != input.nan_first) {
        let omit = match input.nan_first {
            false if input.times => Omit::NotATime,
            false if element.is_float() => Omit::Nan,
            _ => Omit::Nothing,
        };
        let selection = Selection { data, element, swapped, last: false, mask: ptr::null(), omit };
        let walk = dimensions.iter().map(|&(len, stride, reduced)| Dimension { len, stride, mask: 0, reduced });
        let target = Target { largest, values, indices: indices.cast(), index: ElementType::Int64 };
        if select(selection, walk, &[target]) == 0 {
            return;
        }
    }
    let size = element.size();
    let beside = |axis: &ReductionAxis| axis.strides.input == size as isize;
    if let Some(longest) = (0..kept.len()).max_by_key(|&axis| kept[axis].len)
        && !beside(&kept[0])
    {
        kept.swap(0, longest);
    }
    let (&across, outer) = kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    let plain = beside(&across) && !swapped;
    let short = if plain { u32::MAX as usize } else { SHORT };
    let width = match k <= FEW && across.len >= LANES / 2 && line.len() == 1 && len <= short {
        true if plain => WIDE,
        true => LANES,
        false => 1,
    };
    let walk = Walk { input, len, line, across, outer, origin, along, width, plain, values, indices };
    let num_threads = threads::num_threads(elements.saturating_mul(size));
    let units = across.len.div_ceil(width) * positions(outer);
    threads::map(threads::ranges(units, threads::tasks(num_threads)), |units| match size {
        8 => walk.run::<i64, u128>(units),
        _ if len as u64 > u32::MAX.into() => walk.run::<i32, u128>(units),
        _ => walk.run::<i32, u64>(units),
    });
}

/// Lines are compared side by side where no more are wanted of each.
const FEW: usize = 16;

/// Elements of lines, at most, that are transposed for that.
const SHORT: usize = 512;

/// Lines that lie side by side are read so many at a time.
const WIDE: usize = 256;

/// Keys that are written before they are read: they stay in the first-level cache.
const CHUNK: usize = 4096;

/// The lines, and where their results go.
struct Walk<'a> {
    input: TopK,
    /// The elements of a line, and the axes along which they lie.
    len: usize,
    line: ReductionAxes,
    /// The axis along which lines lie side by side, or are taken one by one; the others.
    across: ReductionAxis,
    outer: &'a [ReductionAxis],
    origin: ReductionOffsets,
    /// From one result of a line to the next.
    along: isize,
    /// Lines that are read at a time.
    width: usize,
    /// Whether lines side by side need not be transposed.
    plain: bool,
    values: *mut u8,
    indices: *mut i64,
}

// SAFETY: threads write the results of different lines.
unsafe impl Sync for Walk<'_> {}

/// Memory that serves one line after the other.
struct Work<K: Key, P> {
    rule: Rule<K>,
    packed: Vec<u64>,
    keys: Vec<K>,
    blocks: Vec<K>,
    found: Vec<P>,
    best: Vec<[K; LANES]>,
    places: Vec<[K::Place; LANES]>,
}

impl Walk<'_> {
    unsafe fn run<K: Key, P: Packed>(&self, units: Range<usize>) {
        let TopK { element, largest, nan_first, times, .. } = self.input;
        let rule = Rule::new(element, largest, nan_first, times);
        let (keys, packed) = (Vec::new(), Vec::new());
        let (blocks, found, best, places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut work = Work::<K, P> { rule, packed, keys, blocks, found, best, places };
        let tiles = self.across.len.div_ceil(self.width);
        for unit in units {
            let first = unit % tiles * self.width;
            let at = self.across.moved(position(self.outer, self.origin, unit / tiles), first);
            match self.width {
                1 => self.line(&mut work, at),
                _ => self.lines(&mut work, at, self.width.min(self.across.len - first)),
            }
        }
    }

    /// Finds the best of one line.
    unsafe fn line<K: Key, P: Packed>(&self, work: &mut Work<K, P>, at: ReductionOffsets) {
        let (len, k) = (self.len, self.input.k);
        let data = self.input.data.wrapping_offset(at.input);
        let block = block(len, k);
        work.found.clear();
        work.blocks.clear();
        work.blocks.reserve(len.div_ceil(block));
        let (mut bound, mut equal) = (K::LOWEST, len);
        if block > 1 {
            for start in (0..len).step_by(CHUNK) {
                self.keys(work, data, start..len.min(start + CHUNK), block, true);
            }
            bound = *work.blocks.clone().select_nth_unstable_by(k - 1, |a, b| b.cmp(a)).1;
            equal = k;
        }
        let step = if block > 1 { block } else { CHUNK };
        for start in (0..len).step_by(step) {
            let end = len.min(start + step);
            if block > 1 {
                let best = work.blocks[start / block];
                if best < bound || best == bound && equal == 0 {
                    continue;
                }
            }
            if block == 1 || len > CHUNK {
                self.keys(work, data, start..end, end - start, false);
            }
            let from = if block == 1 || len > CHUNK { 0 } else { start };
            let keys = &work.keys[from..from + end - start];
            dispatch(Collect { keys, first: start, bound, equal: &mut equal, found: &mut work.found });
        }
        let found = &mut work.found;
        // (They are fewer where another thread has written meanwhile.)
        found.resize(found.len().max(k), P::new(K::LOWEST, 0));
        if found.len() > k {
            found.select_nth_unstable(k - 1);
            found.truncate(k);
        }
        if self.input.sorted {
            found.sort_unstable();
        }
        for (number, found) in found.iter().enumerate() {
            self.write(at, number, found.place());
        }
    }

    /// Writes the keys of a stretch of a line, and the largest of each block where they are wanted.
    unsafe fn keys<K: Key, P>(
        &self,
        work: &mut Work<K, P>,
        data: *const u8,
        stretch: Range<usize>,
        block: usize,
        blocks: bool,
    ) {
        let TopK { element, swapped, .. } = self.input;
        let (size, number, inner) = (element.size(), stretch.len(), self.line[0]);
        let mut from = data.wrapping_offset(self.offset(stretch.start));
        work.keys.resize(work.keys.len().max(number), K::LOWEST);
        if swapped || self.line.len() > 1 || inner.strides.input != size as isize {
            work.packed.resize(work.packed.len().max(number * size / 8 + 1), 0);
            let (to, mut done) = (work.packed.as_mut_ptr().cast::<u8>(), 0);
            while done < number {
                let place = stretch.start + done;
                let (data, to) = (data.wrapping_offset(self.offset(place)), to.add(done * size));
                let run = (inner.len - place % inner.len).min(number - done);
                let (outer, inner) = ((1, 0), (run, inner.strides.input));
                Pack { data, outer, inner, size, scratch: true, swapped, to, step: run * size }.run();
                done += run;
            }
            from = to;
        }
        let known = work.blocks.len();
        let best = if blocks { work.blocks.as_mut_ptr().add(known) } else { ptr::null_mut() };
        write_keys(element, work.rule, (from, number), work.keys.as_mut_ptr(), block, best);
        work.blocks.set_len(known + if blocks { number.div_ceil(block) } else { 0 });
    }

    /// From the first element of a line to another one.
    #[inline(always)]
    fn offset(&self, place: usize) -> isize {
        match &self.line[..] {
            [axis] => axis.strides.input * place as isize,
            axes => position(axes, ReductionOffsets::default(), place).input,
        }
    }

    /// Finds the best of some lines that are compared side by side.
    unsafe fn lines<K: Key, P>(&self, work: &mut Work<K, P>, at: ReductionOffsets, number: usize) {
        let TopK { data, element, swapped, k, .. } = self.input;
        let (data, size) = (data.wrapping_offset(at.input), element.size());
        let pitch = number.next_multiple_of(LANES);
        let rows = (CHUNK / pitch).min(self.len);
        work.keys.resize(work.keys.len().max(rows * pitch), K::LOWEST);
        work.best.resize(pitch / LANES * k, [K::LOWEST; LANES]);
        work.places.resize(pitch / LANES * k, [K::Place::ZERO; LANES]);
        let keys = work.keys.as_mut_ptr();
        for first in (0..self.len).step_by(rows) {
            let rows = rows.min(self.len - first);
            let from = data.wrapping_offset(self.offset(first));
            if self.plain {
                for row in 0..rows {
                    let from = from.wrapping_offset(self.offset(row));
                    write_keys(element, work.rule, (from, number), keys.add(row * pitch), number, ptr::null_mut());
                }
            } else {
                work.packed.resize(work.packed.len().max(rows * pitch * size / 8 + 1), 0);
                let to = work.packed.as_mut_ptr().cast::<u8>();
                let (outer, inner) = ((rows, self.line[0].strides.input), (number, self.across.strides.input));
                Pack { data: from, outer, inner, size, scratch: true, swapped, to, step: pitch * size }.run();
                write_keys(element, work.rule, (to, rows * pitch), keys, rows * pitch, ptr::null_mut());
            }
            let (best, places) = (&mut work.best[..], &mut work.places[..]);
            let keys = &work.keys[..rows * pitch];
            dispatch(Insert { keys, pitch, first, k, best, places });
        }
        for line in 0..number {
            let at = self.across.moved(at, line);
            for nth in 0..k {
                let place = work.places[line / LANES * k + nth][line % LANES];
                self.write(at, nth, place.widen() as usize);
            }
        }
    }

    /// Writes the element at a place of a line as the n-th best.
    #[inline(always)]
    unsafe fn write(&self, at: ReductionOffsets, nth: usize, place: usize) {
        let TopK { data, element, swapped, .. } = self.input;
        let (size, to) = (element.size(), at.output + self.along * nth as isize);
        let from = data.wrapping_offset(at.input + self.offset(place));
        self.indices.offset(to).write_unaligned(place as i64);
        let bits = bits(from, size, swapped);
        let values = self.values.wrapping_offset(to * size as isize);
        match size {
            1 => values.write(bits as u8),
            2 => values.cast::<u16>().write_unaligned(bits as u16),
            4 => values.cast::<u32>().write_unaligned(bits as u32),
            _ => values.cast::<u64>().write_unaligned(bits),
        }
    }
}

/// Elements of a block of a line of which k are wanted, 1 where all are candidates. A block more takes some five times as long as an
/// element that is looked at once more.
fn block(len: usize, k: usize) -> usize {
    let ideal = (3 * len / k).isqrt().next_power_of_two().clamp(LANES, 1024);
    if len / ideal < 2 * k { 1 } else { ideal }
}
