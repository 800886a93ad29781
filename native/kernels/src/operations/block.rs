//! Reading one block: the kernel that the plan has chosen, and what it needs around it.

use crate::element::compare::{Compared, Key, Lane};
use crate::isa::dispatch;
use crate::kernels::batches::batch::{Batches, ROWS};
use crate::kernels::cache_line::Aligned;
use crate::kernels::columns::Columns;
use crate::kernels::omit::{OMIT_SCRATCH, Omit};
use crate::kernels::pack::{Pack, pitch};
use crate::kernels::rows::Rows;
use crate::layout::reduction::ReductionOffsets;
use crate::operations::input::{Input, Omission, with_input};
use crate::operations::plan::{Form, Plan};
use crate::operations::results::Results;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// The blocks of a plan.
#[derive(Debug)]
pub struct Blocks<'a> {
    pub input: Input,
    /// What is left out; such blocks are packed.
    pub omission: Option<&'a Omission>,
    pub plan: &'a Plan<'a>,
}

impl Blocks<'_> {
    /// Reads one block, which begins at `at` but for its `span` of the reduced axis: the key and the place along that axis
    /// of each position's extremum.
    ///
    /// # Safety
    /// The input is readable wherever the positions lead; there is room for as many keys, unless they are null, and
    /// places, and as many keys to reach, unless they are null.
    pub unsafe fn read(
        &self,
        at: &ReductionOffsets,
        len: usize,
        span: Range<usize>,
        against: *const u8,
        keys: *mut u8,
        index: *mut i64,
    ) {
        let kept = (len, self.plan.kept.strides.input);
        let reduced = (span.len(), self.plan.reduced.strides.input);
        let data = self.input.data.wrapping_offset(at.input + reduced.1 * span.start as isize);
        let mask = || {
            let (kept, reduced) = (self.plan.kept.strides.mask, self.plan.reduced.strides.mask);
            (at.mask + reduced * span.start as isize, kept, reduced)
        };
        debug_assert!(len <= self.plan.tile && span.len() <= self.plan.chunk);
        // SAFETY: the caller's promise; what is packed is as large as the block.
        unsafe {
            match self.plan.form {
                Form::Rows { packed: false } => self.rows(data, kept, span.len(), against, keys, index),
                Form::RowBatches { packed: false } => self.row_batches(data, kept, span.len(), keys, index),
                Form::RowBatches { packed: true } => self.packed(data, kept, reduced, mask(), |data, stride| {
                    self.row_batches(data, (len, stride), span.len(), keys, index)
                }),
                Form::Columns { packed: false } => self.columns(data, reduced, len, keys, index),
                Form::Rows { packed: true } => self.packed(data, kept, reduced, mask(), |data, stride| {
                    self.rows(data, (len, stride), span.len(), against, keys, index)
                }),
                Form::Columns { packed: true } => {
                    let (first, outer, inner) = mask();
                    self.packed(data, reduced, kept, (first, inner, outer), |data, stride| {
                        self.columns(data, (span.len(), stride), len, keys, index)
                    })
                }
                Form::Interleaved(rows) => self.interleaved(data, reduced, len, rows, keys, index),
            }
        }
    }

    /// Packs a block so that `inner` lies contiguous, and lets it be read there, with the new stride of `outer`.
    ///
    /// Not inlined, so that blocks that are read where they lie do not pay for the scratch memory.
    ///
    /// # Safety
    /// The block is readable and fits the scratch memory.
    #[inline(never)]
    unsafe fn packed(
        &self,
        data: *const u8,
        outer: (usize, isize),
        inner: (usize, isize),
        (mask, mask_outer, mask_inner): (isize, isize, isize),
        read: impl FnOnce(*const u8, isize),
    ) {
        let size = self.input.element.size();
        let mut scratch = Aligned([const { MaybeUninit::<u64>::uninit() }; OMIT_SCRATCH / 8]);
        let to = scratch.0.as_mut_ptr().cast::<u8>();
        // Rows that follow one another in memory do so in the copy as well, where nothing is transposed.
        let pitch = if self.omission.is_some() { inner.0 } else { pitch(inner.0, size) };
        let pack = Pack { data, outer, inner, size, swapped: self.input.swapped, to };
        // SAFETY: the caller's.
        unsafe {
            match self.omission {
                None => dispatch(pack),
                Some(&Omission { mask: first, pattern, fill }) => {
                    let mask = if first.is_null() { first } else { first.wrapping_offset(mask) };
                    dispatch(Omit { pack, mask, mask_strides: (mask_outer, mask_inner), pattern, fill });
                }
            }
        }
        read(to, (pitch * size) as isize);
    }

    /// Ties go to the smallest or the largest index; where the index falls along the axis, the walk runs the other way.
    fn last(&self) -> bool {
        self.input.last == (self.plan.reduced.strides.index >= 0)
    }

    /// # Safety
    /// As for [`read`](Self::read), of `kept` rows of `len` elements.
    unsafe fn rows(
        &self,
        data: *const u8,
        kept: (usize, isize),
        len: usize,
        against: *const u8,
        keys: *mut u8,
        index: *mut i64,
    ) {
        let (rows, stride) = kept;
        let last = self.last();
        // SAFETY: the caller's.
        with_input!(self.input, E, O => unsafe { dispatch(Rows::<E, O> {
            data, stride, rows, len, last, against: against.cast(), keys: keys.cast(), index, order: PhantomData,
        }) })
    }

    /// Reads rows in batches, and those that batches leave out one by one.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of `kept` rows of `len` elements; AVX-512 is in force.
    unsafe fn row_batches(&self, data: *const u8, kept: (usize, isize), len: usize, keys: *mut u8, index: *mut i64) {
        let Input { element, largest, numbers, .. } = self.input;
        let (rows, stride) = kept;
        let mut done = 0;
        while done < rows {
            let (data, index) = (data.wrapping_offset(stride * done as isize), index.wrapping_add(done));
            let left = rows - done;
            // SAFETY: the caller's; the plan chose batches because AVX-512 is in force.
            let found = unsafe {
                Batches { data, stride, rows: left, len, element, largest, numbers, last: self.last(), index }.run()
            };
            if !keys.is_null() {
                with_input!(self.input, E, O => for row in 0..found {
                    // SAFETY: the batches have found a place in each of these rows; the keys have room for them.
                    unsafe {
                        let place = *index.add(row) as usize;
                        let chosen = data.offset(stride * row as isize).cast::<E>().add(place).read_unaligned();
                        keys.cast::<Key<E>>().add(done + row).write(chosen.lane::<O>().key::<O>());
                    }
                })
            }
            done += found;
            let rest = ROWS.min(left - found);
            if rest > 0 {
                let data = data.wrapping_offset(stride * found as isize);
                let keys = if keys.is_null() { keys } else { keys.wrapping_add(done * element.size()) };
                // SAFETY: the caller's; so many rows are left.
                unsafe { self.rows(data, (rest, stride), len, ptr::null(), keys, index.wrapping_add(found)) };
                done += rest;
            }
        }
    }

    /// # Safety
    /// As for [`read`](Self::read), of `reduced` rows of so many columns.
    unsafe fn columns(&self, data: *const u8, reduced: (usize, isize), columns: usize, keys: *mut u8, index: *mut i64) {
        let (rows, stride) = reduced;
        let last = self.last();
        // SAFETY: the caller's.
        with_input!(self.input, E, O => unsafe { dispatch(Columns::<E, O> {
            data, stride, rows, columns, last, keys: keys.cast(), index, order: PhantomData,
        }) })
    }

    /// Reads `interleaved` neighbouring rows of `len` columns as one wide row, then combines the columns that belong
    /// together.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of `reduced` rows of `len` columns, each of which begins where the last one ends.
    #[inline(never)]
    unsafe fn interleaved(
        &self,
        data: *const u8,
        reduced: (usize, isize),
        len: usize,
        interleaved: usize,
        keys: *mut u8,
        index: *mut i64,
    ) {
        let (rows, stride) = reduced;
        let (wide, rest) = (rows / interleaved, rows % interleaved);
        let (input, last) = (&self.input, self.last());
        let size = input.element.size();
        let mut total = Results::new();
        let mut part = Results::new();
        // SAFETY: the caller's; each part is filled before it is read, and there is room for `len` results.
        unsafe {
            if wide > 0 {
                let (keys, places) = part.pointers();
                self.columns(data, (wide, stride * interleaved as isize), len * interleaved, keys, places);
                for (column, index) in part.index_slice(len * interleaved).iter_mut().enumerate() {
                    *index = *index * interleaved as i64 + (column / len) as i64;
                }
                total.copy(&part, len, size);
                for neighbour in 1..interleaved {
                    total.combine(len, &mut part, neighbour * len, input, last);
                }
            }
            if rest > 0 {
                let into = if wide > 0 { &mut part } else { &mut total };
                let start = wide * interleaved;
                let (keys, places) = into.pointers();
                self.columns(data.wrapping_offset(stride * start as isize), (rest, stride), len, keys, places);
                for index in into.index_slice(len) {
                    *index += start as i64;
                }
                if wide > 0 {
                    total.combine(len, &mut part, 0, input, last);
                }
            }
            let (total_keys, total_index) = total.pointers();
            if !keys.is_null() {
                keys.copy_from_nonoverlapping(total_keys, len * size);
            }
            // (The places may be the output's, which are not aligned.)
            index.cast::<u8>().copy_from_nonoverlapping(total_index.cast(), len * 8);
        }
    }
}
