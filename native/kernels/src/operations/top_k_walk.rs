//! The walk over the lines of `top_k`: reads those of a tile in the form that was chosen, and writes the best of each.

use crate::element::rule::Rule;
use crate::element::{ElementType, Pattern};
use crate::isa::{Set, dispatch, with_set};
use crate::kernels::lanes::{LINE, Scratch, bits, prefetch};
use crate::kernels::omit::ReplaceSkipped as Replace;
use crate::kernels::pack::Pack;
use crate::kernels::top_k::{Candidates, Collect, Destination, Find, Packed, SAMPLED_LEAST_ELEMENTS, kth};
use crate::kernels::top_k_columns::Insert;
use crate::layout::{ReductionAxes, ReductionAxis, ReductionOffsets, position};
use crate::vector::with_kind;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct TopK {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the byte order of each element is the opposite of this machine's.
    pub swapped: bool,
    /// Whether the largest are wanted, or the smallest.
    pub largest: bool,
    /// Whether NaN comes before every number, or after.
    pub nan_first: bool,
    /// Whether the smallest 64-bit integer stands for NaT (not a time), which comes where NaN does.
    pub times: bool,
    /// How many elements are wanted, at most the length of the axis.
    pub k: usize,
    /// Whether the results have to be in order, from the best to the worst.
    pub sorted: bool,
    /// The mask's byte for the first element, 0 where the element does not take part; null without a mask.
    pub mask: *const u8,
}

/// How lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineForm {
    /// One in each lane: they lie side by side.
    SideBySide,
    /// The same, of a copy that is transposed.
    Transpose,
    /// One after the other.
    OneByOne,
}

/// Lines that are packed at a time: adjacent lines then have cache lines to themselves.
const PACKED_LINES: usize = 16;

/// Lines that are read at a time: as many as a word has bits.
pub(super) const FIND_LINES: usize = 64;

/// Samples between the one that is read and the one that is prefetched. The samples of a line took longer than all the rest of it:
/// 64 MB of lines of 100,000 32- and 64-bit elements take 0.75 to 0.9 times as long with prefetches (EPYC, family 26, model 2,
/// AVX-512 and AVX2).
const SAMPLES_AHEAD: usize = 32;

/// Elements that are packed, if need be, and collected at a time.
const CHUNK_ELEMENTS: usize = 4096;

/// The lines, and where their results go.
///
/// Each line may be read, with its mask, wherever the axes `outer`, `across` and `line` lead from `origin`, and there is room for
/// `k` results of each: the caller of `top_k` promises it. A position `at` is the first element of a line, and a `place` is
/// less than `len`; debug assertions check both.
pub(super) struct Walk<'a> {
    pub(super) input: TopK,
    pub(super) rule: Rule,
    pub(super) form: LineForm,
    /// Whether [`Find`] reads the lines that are read one by one, and whether it need not pack them first.
    pub(super) finds: bool,
    pub(super) ready: bool,
    /// The elements of a line, and the axes along which they lie.
    pub(super) len: usize,
    pub(super) line: ReductionAxes,
    /// The axis along which lines lie side by side, or are taken one by one; the other kept axes.
    pub(super) across: ReductionAxis,
    pub(super) outer: &'a [ReductionAxis],
    pub(super) origin: ReductionOffsets,
    /// The number of tiles of lines, which are nearly equal in length, and the lines of a register.
    pub(super) tiles: usize,
    pub(super) lanes: usize,
    pub(super) results: Destination,
}

// SAFETY: threads write the results of different lines.
unsafe impl Sync for Walk<'_> {}

/// Memory that is reused from line to line.
struct Work<P> {
    packed: Scratch,
    mask: Scratch,
    state: Scratch,
    keys: Vec<i64>,
    to: Candidates<P>,
    /// Whether the last tile of lines has NaN.
    nans: bool,
}

impl Walk<'_> {
    /// Finds the best of the lines of some tiles.
    ///
    /// # Safety
    /// No other thread has these tiles: their results are written.
    pub(super) unsafe fn run<P: Packed>(&self, units: Range<usize>) {
        let to = Candidates { rule: self.rule, k: self.input.k, bound: 0, equal: 0, first: 0, items: Vec::new() };
        let mut work = Work::<P> {
            packed: Scratch::default(),
            mask: Scratch::default(),
            state: Scratch::default(),
            keys: Vec::new(),
            to,
            nans: false,
        };
        let lines = self.across.len;
        let tiles = self.tiles;
        for unit in units {
            let outer = unit / tiles;
            let tile = unit % tiles;
            let first = lines * tile / tiles;
            let end = lines * (tile + 1) / tiles;
            let at = self.across.after(position(self.outer, self.origin, outer), first);
            let number = end - first;
            self.debug_assert_lines(at, number);
            if self.form != LineForm::OneByOne {
                // SAFETY: these lines belong to the tile.
                unsafe { self.lines(&mut work, at, number) };
                continue;
            }
            let mut done = 0;
            while self.finds && done < number {
                let some = (number - done).min(if self.ready { FIND_LINES } else { PACKED_LINES });
                // SAFETY: as above.
                unsafe { self.find(&mut work, self.across.after(at, done), some) };
                done += some;
            }
            for line in done..number {
                // SAFETY: as above.
                unsafe { self.line(&mut work, self.across.after(at, line)) };
            }
        }
    }

    /// Stops a test unless the `number` neighbouring lines from `at` on lie among those of the walk.
    #[inline(always)]
    fn debug_assert_lines(&self, at: ReductionOffsets, number: usize) {
        if cfg!(debug_assertions) && number > 0 {
            let end = self.across.after(at, number - 1);
            assert!(number <= self.across.len, "{number} lines of {}", self.across.len);
            let offsets: [fn(ReductionOffsets) -> isize; 3] = [|at| at.input, |at| at.mask, |at| at.output];
            for offset in offsets {
                let spans = || {
                    self.outer.iter().chain([&self.across]).map(|axis| offset(axis.strides) * (axis.len as isize - 1))
                };
                let lowest = offset(self.origin) + spans().filter(|&span| span < 0).sum::<isize>();
                let highest = offset(self.origin) + spans().filter(|&span| span > 0).sum::<isize>();
                let there = lowest..=highest;
                assert!(there.contains(&offset(at)) && there.contains(&offset(end)), "{at:?} to {end:?}: {there:?}");
            }
        }
    }

    /// The results from a position on.
    fn results(&self, at: ReductionOffsets) -> Destination {
        let bytes = at.output * self.input.element.size() as isize;
        let (values, indices) =
            (self.results.values.wrapping_offset(bytes), self.results.indices.wrapping_offset(at.output));
        Destination { values, indices, ..self.results }
    }

    /// The bits of the element at a place of a line; `at` is the line's first element.
    ///
    /// # Safety
    /// The line is one of the walk, and has this place.
    #[inline(always)]
    unsafe fn bits(&self, at: ReductionOffsets, place: usize) -> u64 {
        debug_assert!(place < self.len, "place {place} of {}", self.len);
        let TopK { data, element, swapped, .. } = self.input;
        // SAFETY: the caller's promise: the walk may read all elements of its lines.
        unsafe { bits(data.wrapping_offset(at.input + self.places(place).input), element.size(), swapped) }
    }

    /// Bytes from the first element of a line to the element at a place.
    #[inline(always)]
    fn offset(&self, place: usize) -> isize {
        self.places(place).input
    }

    /// From the first element of a line to the element at a place.
    #[inline(always)]
    fn places(&self, place: usize) -> ReductionOffsets {
        match &self.line[..] {
            [axis] => axis.after(ReductionOffsets::default(), place),
            axes => position(axes, ReductionOffsets::default(), place),
        }
    }

    /// Whether the element at a place of a line takes part; `at` is the line's first element.
    ///
    /// # Safety
    /// As for [`bits`](Self::bits).
    #[inline(always)]
    unsafe fn takes_part(&self, at: ReductionOffsets, place: usize) -> bool {
        debug_assert!(place < self.len, "place {place} of {}", self.len);
        let mask = self.input.mask;
        // SAFETY: the caller's promise: the mask has a byte for each element of the lines.
        mask.is_null() || unsafe { *mask.wrapping_offset(at.mask + self.places(place).mask) } != 0
    }

    /// Finds the best of one line.
    ///
    /// # Safety
    /// The line is one of the walk, and no other thread writes its results.
    unsafe fn line<P: Packed>(&self, work: &mut Work<P>, at: ReductionOffsets) {
        let TopK { k, sorted, mask, .. } = self.input;
        let len = self.len;
        self.debug_assert_lines(at, 1);
        let samples = len >= SAMPLED_LEAST_ELEMENTS && k <= len / 4;
        // SAFETY: the caller's promise.
        let mut bound = if samples { unsafe { self.sample(work, at) } } else { i64::MIN };
        if !mask.is_null() && bound <= self.rule.key(self.rule.identity) {
            // Masked elements would reach this bound.
            bound = i64::MIN;
        }
        // The lowest key may be the bound itself: masked elements must not count as elements that equal it.
        let equal = if !mask.is_null() && bound == i64::MIN { usize::MAX } else { k };
        work.to.begin(bound, equal);
        // SAFETY: the caller's promise.
        unsafe { self.collect(work, at) };
        if work.to.items.len() < k && bound > self.rule.lowest() {
            work.to.begin(i64::MIN, usize::MAX);
            // SAFETY: the caller's promise.
            unsafe { self.collect(work, at) };
        } else if work.to.items.len() < k && bound > i64::MIN {
            // SAFETY: the caller's promise; the line has each place that `complete` asks about.
            let key = |place: usize| self.rule.key(unsafe { self.bits(at, place) });
            // SAFETY: as above.
            work.to.complete(len, |place| unsafe { self.takes_part(at, place) }.then(|| key(place)));
        }
        let there = if mask.is_null() { k } else { k.min(work.to.items.len()) };
        // SAFETY: the caller's promise; candidates are places of the line.
        unsafe { self.write(at, work.to.best(there, sorted)) };
    }

    /// A key that slightly more elements of a line reach than are wanted, as a sample suggests.
    ///
    /// # Safety
    /// The line is one of the walk.
    unsafe fn sample<P>(&self, work: &mut Work<P>, at: ReductionOffsets) -> i64 {
        let TopK { data, k, .. } = self.input;
        let len = self.len;
        let samples = (len / 64).clamp(256, 2048);
        // In 65,536ths of an element: a division for each sample takes as long as reading it.
        let step = ((len - 1) << 16) / (samples - 1);
        let place = |number: usize| ((number * step) >> 16).min(len - 1);
        let places = (0..samples).map(|number| {
            let later = place(number + SAMPLES_AHEAD);
            prefetch::<LINE>(data.wrapping_offset(at.input + self.offset(later)));
            place(number)
        });
        // SAFETY: the caller's promise; no place is beyond `len - 1`.
        let taken = places.filter(|&place| unsafe { self.takes_part(at, place) });
        work.keys.clear();
        // SAFETY: as above.
        work.keys.extend(taken.map(|place| self.rule.key(unsafe { self.bits(at, place) })));
        // Masked elements are missing in the line as they are in the sample.
        let share = k * samples / len;
        let rank = share + 3 * share.isqrt() + 4;
        if rank < work.keys.len() { kth(&mut work.keys, rank).max(self.rule.lowest()) } else { i64::MIN }
    }

    /// Collects the candidates of a line.
    ///
    /// # Safety
    /// The line is one of the walk.
    unsafe fn collect<P: Packed>(&self, work: &mut Work<P>, at: ReductionOffsets) {
        let TopK { data, element, largest, swapped, k, mask, .. } = self.input;
        let size = element.size();
        let inner = self.line[0];
        let data = data.wrapping_offset(at.input);
        let contiguous = !swapped && self.line.len() == 1 && inner.strides.input == size as isize && mask.is_null();
        let to = &mut work.to;
        let most = (4 * k).max(2 * CHUNK_ELEMENTS);
        for first in (0..self.len).step_by(CHUNK_ELEMENTS) {
            let len = CHUNK_ELEMENTS.min(self.len - first);
            let mut from = data.wrapping_offset(self.offset(first));
            if !contiguous {
                let packed = work.packed.reserve(CHUNK_ELEMENTS * size);
                let packed_mask = self.room_for_mask(&mut work.mask, CHUNK_ELEMENTS);
                let mut done = 0;
                while done < len {
                    // The rest of the innermost axis, or of the chunk.
                    let run = (inner.len - (first + done) % inner.len).min(len - done);
                    let place = self.places(first + done);
                    let block = Block {
                        start: ReductionOffsets { input: at.input + place.input, mask: at.mask + place.mask, ..at },
                        outer: ReductionAxis::POINT,
                        inner: ReductionAxis { len: run, ..inner },
                    };
                    debug_assert!(run > 0 && done + run <= CHUNK_ELEMENTS, "{run} elements after {done}");
                    // SAFETY: the block is a part of the line; there is room for a chunk.
                    unsafe { self.pack(block, run, packed.add(done * size), packed_mask.wrapping_add(done)) };
                    done += run;
                }
                from = packed;
            }
            let before = to.items.len();
            let kinds = if element == ElementType::Bool { ElementType::UInt8 } else { element };
            // SAFETY: `from` has `len` elements: a chunk of the line where they follow one another, or its copy.
            unsafe {
                if to.bound == i64::MIN {
                    to.add_all(from, len, first);
                } else {
                    with_set!(I, set => with_kind!(kinds, largest, K, _flip, infinity => {
                        let kind = PhantomData::<(K, <I as Set>::Register)>;
                        set.run(Collect { from, len, first, infinity, to, kind });
                        0
                    }), { to.add_all(from, len, first); 0 });
                }
            }
            if !mask.is_null() {
                // SAFETY: candidates are places of the line.
                to.retain(before, |place| unsafe { self.takes_part(at, place) });
            }
            if to.items.len() > most {
                to.items.select_nth_unstable(k - 1);
                to.items.truncate(k);
                // SAFETY: as above.
                let last = unsafe { self.bits(at, to.items[k - 1].place()) };
                to.exceed(self.rule.key(last));
            }
            if to.equal == 0 {
                break;
            }
        }
    }

    /// Room for the mask of some elements; null without a mask.
    fn room_for_mask(&self, room: &mut Scratch, len: usize) -> *mut u8 {
        if self.input.mask.is_null() { ptr::null_mut() } else { room.reserve(len) }
    }

    /// Copies elements of some lines, and their mask if there is one; in the copy, where lines are `step` elements apart, the masked
    /// elements are replaced.
    ///
    /// # Safety
    /// The block lies among the lines of the walk; `to` has room for its lines, and `mask` as well where there is a mask.
    unsafe fn pack(&self, block: Block, step: usize, to: *mut u8, mask: *mut u8) {
        let TopK { data, element, swapped, .. } = self.input;
        let Block { start, outer, inner } = block;
        let size = element.size();
        debug_assert!(inner.len <= step || outer.len == 1, "lines of {} elements, {step} apart", inner.len);
        let elements = Pack {
            data: data.wrapping_offset(start.input),
            outer: (outer.len, outer.strides.input),
            inner: (inner.len, inner.strides.input),
            size,
            scratch: true,
            swapped,
            to,
            step: step * size,
        };
        // SAFETY: the caller's promise.
        unsafe { elements.run() };
        if self.input.mask.is_null() {
            return;
        }
        let bytes = Pack {
            data: self.input.mask.wrapping_offset(start.mask),
            outer: (outer.len, outer.strides.mask),
            inner: (inner.len, inner.strides.mask),
            size: 1,
            scratch: true,
            swapped: false,
            to: mask,
            step,
        };
        let replace = Replace {
            from: ptr::null(),
            to,
            size,
            lens: (outer.len, step),
            mask,
            mask_strides: (step as isize, 1),
            pattern: Pattern::NONE,
            fill: self.rule.identity,
        };
        // SAFETY: the caller's promise; the copy and the copy of its mask have `step` elements for each line.
        unsafe {
            bytes.run();
            dispatch(replace);
        }
    }

    /// Finds the best of some lines, which are packed first where they are not contiguous, or masked.
    ///
    /// # Safety
    /// The lines are those of the walk from `at` on, at most [`FIND_LINES`]; no other thread writes their results.
    unsafe fn find<P: Packed>(&self, work: &mut Work<P>, at: ReductionOffsets, lines: usize) {
        let TopK { data, element, largest, k, sorted, .. } = self.input;
        let mut from = data.wrapping_offset(at.input);
        let len = self.len;
        let mut stride = self.across.strides.input;
        self.debug_assert_lines(at, lines);
        debug_assert!(lines <= FIND_LINES && self.finds, "{lines} lines at a time");
        if !self.ready {
            let step = len * element.size();
            let to = work.packed.reserve(lines * step);
            let packed_mask = self.room_for_mask(&mut work.mask, lines * len);
            let outer = ReductionAxis { len: lines, ..self.across };
            // SAFETY: the caller's promise; there is room for all lines.
            unsafe { self.pack(Block { start: at, outer, inner: self.line[0] }, len, to, packed_mask) };
            (from, stride) = (to, step as isize);
        }
        let to = self.results(at);
        let candidates = &mut work.to;
        let left: u64 = with_set!(I, set => with_kind!(element, largest, K, _flip, infinity => {
            let identity = element.identity(largest) as i64;
            let kind = PhantomData::<(K, <I as Set>::Register)>;
            let find = Find { from, lines, stride, len, k, sorted, infinity, identity, to, candidates, kind };
            // SAFETY: the lines are there, in place or in the copy, and `to` has room for their results.
            unsafe { set.run(find) }
        }), 0);
        for line in 0..lines {
            let at = self.across.after(at, line);
            // SAFETY: the caller's promise; the results of a line that is done have been written.
            unsafe {
                match left >> line & 1 {
                    0 => self.drop_masked(at, 1),
                    _ => self.line(work, at),
                }
            }
        }
    }

    /// Finds the best of a tile of lines, one in each lane.
    ///
    /// # Safety
    /// The lines are the `number` of the walk from `at` on; where they are not packed, they fill a register. No other thread writes
    /// their results.
    unsafe fn lines<P>(&self, work: &mut Work<P>, at: ReductionOffsets, number: usize) {
        let TopK { data, element, largest, nan_first, k, .. } = self.input;
        let size = element.size();
        let mut from = data.wrapping_offset(at.input);
        let rows = self.len;
        let mut pitch = self.line[0].strides.input;
        let columns = number.max(self.lanes);
        self.debug_assert_lines(at, number);
        debug_assert!(self.form == LineForm::Transpose || number == columns, "{number} lines fill no register");
        if self.form == LineForm::Transpose {
            let packed = work.packed.reserve(rows * columns * size);
            let mask = self.room_for_mask(&mut work.mask, rows * columns);
            if number < columns {
                // Lanes without a line get zeros, which are not NaN.
                // SAFETY: there is room for as many elements, and for as many bytes of a mask if there is one.
                unsafe {
                    packed.write_bytes(0, rows * columns * size);
                    mask.write_bytes(0, if mask.is_null() { 0 } else { rows * columns });
                }
            }
            let inner = ReductionAxis { len: number, ..self.across };
            // SAFETY: the caller's promise; there is room for `columns` elements of each row.
            unsafe { self.pack(Block { start: at, outer: self.line[0], inner }, columns, packed, mask) };
            (from, pitch) = (packed, (columns * size) as isize);
        }
        let results = self.results(at);
        let state = 2 * k * columns.next_multiple_of(self.lanes) * size;
        let adjacent = results.across == 1 && number == columns;
        // The state, then indices and values.
        let best = work.state.reserve(state + k * columns * (size + 8));
        let indices = best.wrapping_add(state).cast::<i64>();
        let values = indices.wrapping_add(k * columns).cast();
        let to = match adjacent {
            true => results,
            false => Destination { values, indices, across: 1, along: columns as isize },
        };
        let nans = work.nans;
        let seen = with_set!(I, set => with_kind!(element, largest, K, flip, infinity => {
            let kind = PhantomData::<(K, <I as Set>::Register)>;
            let insert = Insert { from, pitch, rows, columns, k, flip, infinity, nan_first, nans, best, to, kind };
            // SAFETY: the columns are there, in place or in the copy; the state and `to` have room for `k` of each.
            usize::from(unsafe { set.run(insert) })
        }), 0);
        work.nans = seen > 0;
        let copied = if adjacent { 0 } else { number };
        for line in 0..copied {
            for nth in 0..k {
                let at = nth * columns + line;
                // SAFETY: the kernel has written `k` results for each of the columns, which are at least as many as the lines.
                unsafe {
                    let place = to.indices.add(at).read_unaligned() as usize;
                    results.write(line, nth, bits(to.values.add(at * size), size, false), place, size);
                }
            }
        }
        // SAFETY: the caller's promise; the results have been written.
        unsafe { self.drop_masked(at, number) };
    }

    /// Replaces what does not take part among the results of some lines.
    ///
    /// Such elements are in a result as those that lose to all others. What takes part and is not in the result equals them, and
    /// lies behind all its equals in the result.
    ///
    /// # Safety
    /// The lines are those of the walk from `at` on, and have `k` results each; no other thread writes them.
    unsafe fn drop_masked(&self, at: ReductionOffsets, lines: usize) {
        let TopK { k, mask, .. } = self.input;
        let identity = self.rule.key(self.rule.identity);
        if mask.is_null() {
            return;
        }
        for line in 0..lines {
            let at = self.across.after(at, line);
            let results = self.results(at);
            // SAFETY: the caller's promise.
            let found = || (0..k).map(|nth| unsafe { results.index(nth) });
            // SAFETY: what has been found, and what is looked at below, are places of the line.
            let takes_part = |place: usize| unsafe { self.takes_part(at, place) };
            if found().all(takes_part) {
                continue;
            }
            let mut places: SmallVec<[usize; 32]> = found().filter(|&place| takes_part(place)).collect();
            // SAFETY: as above.
            let loses = |place: &usize| self.rule.key(unsafe { self.bits(at, *place) }) == identity;
            let next = places.iter().copied().filter(loses).max().map_or(0, |last| last + 1);
            let others = (next..self.len).filter(|&place| takes_part(place)).filter(loses);
            let missing = k - places.len();
            places.extend(others.take(missing));
            // SAFETY: the caller's promise.
            unsafe { self.write(at, places.into_iter()) };
        }
    }

    /// Writes the results of a line from their places, of which there may be fewer than `k`.
    ///
    /// # Safety
    /// The line is one of the walk, and has these places; no other thread writes its results.
    unsafe fn write(&self, at: ReductionOffsets, places: impl Iterator<Item = usize>) {
        let results = self.results(at);
        let size = self.input.element.size();
        let mut count = 0;
        for place in places {
            debug_assert!(count < self.input.k, "result {count} of {}", self.input.k);
            // SAFETY: the caller's promise; there is room for `k` results.
            unsafe { results.write(0, count, self.bits(at, place), place, size) };
            count += 1;
        }
        for nth in count..self.input.k {
            // SAFETY: as above.
            unsafe { results.write(0, nth, self.rule.identity, NOWHERE, size) };
        }
    }
}

/// Elements of some lines, a part of each.
struct Block {
    /// The first element.
    start: ReductionOffsets,
    /// From line to line, and within a line.
    outer: ReductionAxis,
    inner: ReductionAxis,
}

/// The place of an element that is not there: index -1.
const NOWHERE: usize = usize::MAX;
