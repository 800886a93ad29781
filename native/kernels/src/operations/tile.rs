//! One tile of an elementwise operation: all operands pass over it while it stays in the cache.
//!
//! Along its lines each operand is contiguous, broadcast (stride 0) or is packed first. An operand that is contiguous from
//! line to line is turned on the way, and so is the result where the output is.

use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::pack::Pack;
use crate::kernels::pass::{Lines, Start};
use crate::kernels::passes::Passes;
use crate::kernels::squares::accumulate;
use crate::kernels::stream::stream;
use crate::kernels::turned::{Turned, VECTOR, fits};
use crate::layout::elementwise::Offsets;
use crate::operations::arrays::{Arrays, Pair};
use smallvec::SmallVec;
use std::ptr;

/// A tile of `rows` lines of `len` elements.
pub struct Tile<'a> {
    pub arrays: &'a Arrays<'a>,
    pub at: &'a Offsets,
    pub rows: usize,
    pub len: usize,
}

/// Scratch memory for what cannot be read or written in place, made where it is needed: most calls do without.
#[derive(Default)]
pub struct Scratch {
    packed: Packed,
    accumulated: Memory,
    starts: Memory,
}

/// Memory for one packed operand.
#[derive(Default)]
struct Packed {
    memory: Memory,
    /// Whether a pass may still have to read it.
    waiting: bool,
}

/// Lines of the cache.
type Memory = Vec<Aligned<[u8; LINE]>>;

/// So many bytes at least.
fn reserve(memory: &mut Memory, bytes: usize) -> *mut u8 {
    memory.reserve(bytes.div_ceil(LINE));
    memory.as_mut_ptr().cast()
}

/// Bytes from one line of scratch memory to the next. An odd number of lines of the cache: with a large power of two
/// between them, what is written from line to line would have few places in the cache.
pub fn pitch(len: usize, size: usize) -> usize {
    ((len * size).div_ceil(LINE) | 1) * LINE
}

impl Tile<'_> {
    /// Accumulates all operands and leaves the result in the output.
    ///
    /// # Safety
    /// Every operand is readable and the output writable at every position of the tile; nobody else writes it, and an
    /// operand overlaps the output only where it is the output itself.
    #[inline(always)]
    pub unsafe fn run(&self, scratch: &mut Scratch) {
        let Arrays { output, lines, direct_output, .. } = *self.arrays;
        let Scratch { packed, accumulated, starts } = scratch;
        let output = output.wrapping_offset(self.at.output());
        let to = if direct_output {
            Lines { data: output, step: lines.map_or(0, |lines| lines.strides.output) }
        } else {
            let step = self.pitch();
            Lines { data: reserve(accumulated, self.rows * step), step: step as isize }
        };
        // SAFETY: the caller's; the output is written in place, and neither of two operands that are turned.
        unsafe {
            if let Some(turned) = self.turned(to) {
                return accumulate(turned, self.arrays.element, self.arrays.extreme);
            }
            let start = self.start(starts, packed);
            self.accumulate(start, to, packed);
            if !direct_output {
                self.write(to, output);
            }
        }
    }

    /// Two operands that are accumulated while one of them is turned.
    fn turned(&self, to: Lines<*mut u8>) -> Option<Turned> {
        let Arrays { operands, element, inner, lines: Some(lines), pair: Some(Pair::Turned([one, other])), .. } =
            *self.arrays
        else {
            return None;
        };
        let first = |number: usize| operands[number].data.wrapping_offset(self.at.operand(number));
        let turned = Turned {
            one: Lines { data: first(one), step: lines.strides.operand(one) },
            other: first(other),
            stride: inner.strides.operand(other),
            other_first: other < one,
            to,
            rows: self.rows,
            len: self.len,
            ahead: self.arrays.ahead,
        };
        fits(element.size(), self.rows, self.len).then_some(turned)
    }

    fn pitch(&self) -> usize {
        pitch(self.len, self.arrays.element.size())
    }

    /// Makes the operands that are broadcast along a line one element for each line, which the first pass starts from.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn start(&self, starts: &mut Memory, packed: &mut Packed) -> Start {
        let Arrays { operands, element, extreme, broadcast, .. } = *self.arrays;
        if broadcast == 0 {
            return Start::Nothing;
        }
        let size = element.size();
        // One alone is read where it is, if its bytes are in order.
        let read_in_place = broadcast == 1 && self.operands(true).all(|number| !operands[number].swapped);
        let to = if read_in_place { ptr::null_mut() } else { reserve(starts, self.rows * size) };
        let to = Lines { data: to, step: size as isize };
        let mut passes = Passes::new(element, extreme, to, (self.rows, 1), Start::Nothing);
        // SAFETY: the caller's; where there is more than one operand, there is scratch memory for their results.
        unsafe {
            self.operands(true).for_each(|number| self.read(number, &mut passes, packed));
            if packed.waiting {
                self.flush(&mut passes, packed);
            }
            passes.start()
        }
    }

    /// Accumulates the operands that vary along a line.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the tile `to` may be written.
    #[inline(always)]
    unsafe fn accumulate(&self, start: Start, to: Lines<*mut u8>, packed: &mut Packed) {
        let Arrays { element, extreme, pair, .. } = *self.arrays;
        let mut passes = Passes::new(element, extreme, to, (self.rows, self.len), start);
        if let Some(Pair::Apart(apart)) = pair {
            passes.apart = apart;
        }
        // SAFETY: the caller's.
        unsafe {
            self.operands(false).for_each(|number| self.read(number, &mut passes, packed));
            self.flush(&mut passes, packed);
        }
    }

    /// Does the pass, after which nothing that was packed is needed any more.
    ///
    /// # Safety
    /// As for [`Passes::flush`].
    #[inline(always)]
    unsafe fn flush(&self, passes: &mut Passes, packed: &mut Packed) {
        // SAFETY: the caller's.
        unsafe { passes.flush() };
        packed.waiting = false;
    }

    /// The operands, by number, that are broadcast along a line, or those that are not.
    #[inline]
    fn operands(&self, broadcast: bool) -> impl Iterator<Item = usize> {
        let strides = self.arrays.inner.strides;
        (0..self.arrays.operands.len()).filter(move |&number| (strides.operand(number) == 0) == broadcast)
    }

    /// Gives an operand to a pass: where it lies, or packed first.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn read(&self, number: usize, passes: &mut Passes, packed: &mut Packed) {
        let Arrays { operands, element, inner, lines, pair, .. } = self.arrays;
        let (size, swapped) = (element.size(), operands[number].swapped);
        let stride = inner.strides.operand(number);
        let step = lines.map_or(0, |lines| lines.strides.operand(number));
        let data = operands[number].data.wrapping_offset(self.at.operand(number));
        // SAFETY: the caller's promise.
        unsafe {
            if swapped || (stride != 0 && stride != size as isize && !matches!(pair, Some(Pair::Apart(_)))) {
                if packed.waiting {
                    self.flush(passes, packed);
                }
                passes.push(self.pack(data, (passes.len, stride), step, swapped, &mut packed.memory));
                packed.waiting = true;
            } else {
                passes.push(Lines { data, step });
            }
        }
    }

    /// Where the only line of a tile is in those arrays that are read or written in place.
    fn beside(&self) -> SmallVec<[*const u8; 4]> {
        let Arrays { operands, element, output, inner, direct_output, ahead, .. } = *self.arrays;
        let mut beside = SmallVec::new();
        if ahead && self.rows == 1 {
            let output = output.wrapping_offset(self.at.output()).cast_const();
            beside.extend(direct_output.then_some(output));
            let in_place = |&number: &usize| inner.strides.operand(number) == element.size() as isize;
            let place = |number: usize| operands[number].data.wrapping_offset(self.at.operand(number));
            beside.extend(self.operands(false).filter(in_place).map(place));
        }
        beside
    }

    /// Packs an operand, its elements along a line `stride` bytes apart and the lines `step`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(never)]
    unsafe fn pack(
        &self,
        data: *const u8,
        (len, stride): (usize, isize),
        step: isize,
        swapped: bool,
        memory: &mut Memory,
    ) -> Lines<*const u8> {
        let size = self.arrays.element.size();
        let beside = self.beside();
        let ahead = self.arrays.ahead.then_some(&*beside);
        if len == 1 {
            // Lines of one element are one line.
            let to = reserve(memory, self.rows * size);
            let (outer, inner) = ((1, 0), (self.rows, step));
            let pack = Pack { data, outer, inner, size, scratch: true, ahead: None, swapped, to, step: 0 };
            // SAFETY: the caller's.
            unsafe { pack.run() };
            return Lines { data: to, step: size as isize };
        }
        let pitch = self.pitch();
        let to = reserve(memory, self.rows * pitch);
        // Lines that follow one another downwards are packed from the last one on.
        let downwards = step == -(size as isize);
        let last = self.rows - 1;
        let (data, step) = if downwards { (data.wrapping_offset(step * last as isize), -step) } else { (data, step) };
        // SAFETY: the caller's; there is a pitch for each row.
        unsafe {
            let (outer, inner) = ((self.rows, step), (len, stride));
            Pack { data, outer, inner, size, scratch: true, ahead, swapped, to, step: pitch }.run();
        };
        if downwards {
            Lines { data: to.wrapping_add(last * pitch), step: -(pitch as isize) }
        } else {
            Lines { data: to, step: pitch as isize }
        }
    }

    /// Copies a finished tile to where the output has it.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of lines in scratch memory.
    #[inline(never)]
    unsafe fn write(&self, from: Lines<*mut u8>, output: *mut u8) {
        let Arrays { element, inner, lines, streamed, .. } = *self.arrays;
        let size = element.size();
        let (stride, step) = (inner.strides.output, lines.map_or(0, |lines| lines.strides.output));
        if streamed {
            // SAFETY: the caller's; the plan has found that there are stores for that.
            return unsafe { stream(from, Lines { data: output, step }, self.rows, self.len * size) };
        }
        // Of lines that the output has one beside the other, as many as whole vectors hold are turned: not one byte more is
        // written.
        let turned = if step == size as isize { self.rows - self.rows % (VECTOR / size) } else { 0 };
        let ragged = self.len * size % VECTOR;
        // SAFETY: the caller's; what is turned are whole vectors.
        unsafe {
            if ragged > 0 {
                // Lines are read in whole vectors: there is something behind them.
                for row in 0..turned {
                    let end = from.data.wrapping_offset(from.step * row as isize).add(self.len * size);
                    end.write_bytes(0, VECTOR - ragged);
                }
            }
            if turned > 0 {
                let (outer, inner) = ((self.len, size as isize), (turned, from.step));
                let (data, to, step) = (from.data, output, stride as usize);
                Pack { data, outer, inner, size, scratch: false, ahead: None, swapped: false, to, step }.run();
            }
            for row in turned..self.rows {
                let from = from.data.wrapping_offset(from.step * row as isize);
                let output = output.wrapping_offset(step * row as isize);
                if stride == size as isize {
                    from.copy_to_nonoverlapping(output, self.len * size);
                    continue;
                }
                for at in 0..self.len {
                    from.add(at * size).copy_to_nonoverlapping(output.wrapping_offset(stride * at as isize), size);
                }
            }
        }
    }
}
