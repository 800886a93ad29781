//! Reading one block: the kernel that the plan has chosen, and what it needs around it.

use crate::isa::dispatch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::columns::Columns;
use crate::kernels::omit::{OMIT_SCRATCH, Omit};
use crate::kernels::outputs::Outputs;
use crate::kernels::pack::{Pack, pitch};
use crate::kernels::rows::Rows;
use crate::kernels::source::Lines;
use crate::layout::reduction::ReductionOffsets;
use crate::operations::input::{Input, Omission, with_sources};
use crate::operations::plan::{Form, Plan};
use crate::operations::results::Results;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// The blocks of a plan.
#[derive(Debug)]
pub struct Blocks<'a, const ENDS: usize> {
    /// What is reduced, which differs in the end of the order alone; where there are two, the smallest comes first.
    pub inputs: [Input; ENDS],
    /// What is left out: as it is compared where a mask alone says so and vectors can read it, else as blocks are packed.
    pub omissions: [Option<&'a Omission>; ENDS],
    pub plan: &'a Plan<'a>,
    /// Whether there are kernels for both ends at once.
    pub wide: bool,
}

/// One end of the order of a block, or both: what is reduced, keys to reach (or null), and what receives the results.
pub type Asked<'a> = (&'a [Input], &'a [*const u8], &'a [Outputs]);

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads one block, which begins at `at` but for its `span` of the reduced axis: the key, the element and the place along
    /// that axis of each position's extremum, as far as they are wanted.
    ///
    /// # Safety
    /// The input is readable wherever the positions lead; there is room for as many results, and as many keys to reach,
    /// unless they are null.
    pub unsafe fn read(
        &self,
        at: &ReductionOffsets,
        len: usize,
        span: Range<usize>,
        against: &[*const u8; ENDS],
        to: &[Outputs; ENDS],
    ) {
        let ends: Asked = (&self.inputs, against, to);
        debug_assert!(len <= self.plan.tile && span.len() <= self.plan.chunk);
        // SAFETY: the caller's promise; what is packed is as large as the block.
        unsafe {
            if self.omissions.iter().all(Option::is_none) && (self.wide || ENDS == 1) {
                self.read_ends(ends, None, at, len, span);
            } else {
                // What stands in for what is left out is another element at each end.
                for end in 0..ENDS {
                    let ends = (&self.inputs[end..=end], &against[end..=end], &to[end..=end]);
                    self.read_ends(ends, self.omissions[end], at, len, span.clone());
                }
            }
        }
    }

    /// Reads a `span` of the reduced axis, with the indices that its places have.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    pub unsafe fn read_with_indices(
        &self,
        at: &ReductionOffsets,
        len: usize,
        span: Range<usize>,
        against: &[*const u8; ENDS],
        into: &mut [Results; ENDS],
    ) {
        let reduced = &self.plan.reduced;
        let first_index = reduced.moved(*at, span.start).index;
        // SAFETY: the caller's promise; the block fills what is read of it.
        unsafe {
            self.read(at, len, span, against, &Results::outputs(into));
            for results in into {
                for index in results.index_slice(len) {
                    *index = first_index + *index * reduced.strides.index;
                }
            }
        }
    }

    /// Reads one block for some ends of the order, which leave out the same.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    unsafe fn read_ends(
        &self,
        ends: Asked,
        omission: Option<&Omission>,
        at: &ReductionOffsets,
        len: usize,
        span: Range<usize>,
    ) {
        let (kept, reduced) = (self.plan.kept.strides, self.plan.reduced.strides);
        let corner = self.plan.reduced.moved(*at, span.start);
        let data = self.inputs[0].data.wrapping_offset(corner.input);
        let mask = omission.map_or(ptr::null(), |omission| match omission.mask.is_null() {
            true => ptr::null(),
            false => omission.mask.wrapping_offset(corner.mask),
        });
        let lines = |strides: &ReductionOffsets| {
            let mask_stride = if mask.is_null() { 0 } else { strides.mask };
            Lines { data, stride: strides.input, mask, mask_stride }
        };
        let (rows, columns, height) = (lines(&kept), lines(&reduced), span.len());
        // SAFETY: the caller's promise; what is packed is as large as the block.
        unsafe {
            match self.plan.form {
                _ if self.plan.mask_copied => self.masked(ends, (rows, columns), len, height),
                Form::Rows { packed: false } => self.rows(ends, rows, len, height),
                Form::Gapped(step) => self.gapped(ends, rows, len, height, step),
                Form::RowBatches { packed: false } => self.row_batches(ends, rows, len, height),
                Form::Columns { packed: false } => self.columns(ends, columns, height, len),
                Form::Interleaved(joined) if ends.0.len() == 1 => {
                    self.interleaved::<1>(ends, columns, height, len, joined)
                }
                Form::Interleaved(joined) => self.interleaved::<2>(ends, columns, height, len, joined),
                Form::Rows { packed: true } => {
                    self.packed(omission, rows, len, (height, &reduced), |lines| self.rows(ends, lines, len, height))
                }
                Form::RowBatches { packed: true } => self.packed(omission, rows, len, (height, &reduced), |lines| {
                    self.row_batches(ends, lines, len, height)
                }),
                Form::Columns { packed: true } => {
                    self.packed(omission, columns, height, (len, &kept), |lines| self.columns(ends, lines, height, len))
                }
            }
        }
    }

    /// Packs a block so that what lies along its lines becomes contiguous, and lets it be read there.
    ///
    /// Not inlined, so that blocks that are read where they lie do not pay for the scratch memory.
    ///
    /// # Safety
    /// The block is readable and fits the scratch memory.
    #[inline(never)]
    pub(super) unsafe fn packed(
        &self,
        omission: Option<&Omission>,
        lines: Lines,
        number: usize,
        (len, along): (usize, &ReductionOffsets),
        read: impl FnOnce(Lines),
    ) {
        let Input { element, swapped, .. } = self.inputs[0];
        let size = element.size();
        let mut scratch = Aligned([const { MaybeUninit::<u64>::uninit() }; OMIT_SCRATCH / 8]);
        let to = scratch.0.as_mut_ptr().cast::<u8>();
        // Rows that follow one another in memory do so in the copy as well, where nothing is transposed.
        let step = size * if omission.is_some() { len } else { pitch(len, size) };
        let Lines { data, stride, mask, mask_stride } = lines;
        // Lines that follow one another are one.
        let length = len as isize;
        let one = omission.is_some() && stride == length * along.input && mask_stride == length * along.mask;
        let (outer, inner) = if one { (1, number * len) } else { (number, len) };
        let pack = Pack {
            data,
            outer: (outer, stride),
            inner: (inner, along.input),
            size,
            scratch: true,
            ahead: if self.plan.ahead { Some(&[]) } else { None },
            swapped,
            to,
            step,
        };
        // SAFETY: the caller's.
        unsafe {
            match omission {
                None => pack.run(),
                Some(&Omission { pattern, fill, .. }) => {
                    dispatch(Omit { pack, mask, mask_strides: (mask_stride, along.mask), pattern, fill });
                }
            }
        }
        read(Lines::plain(to, step as isize));
    }

    /// Ties go to the smallest or the largest index; where the index falls along the axis, the walk runs the other way.
    pub fn last(&self) -> bool {
        self.inputs[0].last == (self.plan.reduced.strides.index >= 0)
    }

    /// # Safety
    /// As for [`read`](Self::read), of so many rows of `len` elements.
    pub unsafe fn rows(&self, asked: Asked, lines: Lines, rows: usize, len: usize) {
        // SAFETY: the caller's.
        unsafe { read_rows(asked, lines, rows, len, self.last()) }
    }

    /// # Safety
    /// As for [`read`](Self::read), of so many rows of so many columns.
    pub unsafe fn columns(&self, asked: Asked, lines: Lines, rows: usize, columns: usize) {
        // SAFETY: the caller's.
        unsafe { read_columns(asked, lines, rows, columns, self.last()) }
    }
}

// (Neither is inlined, nor part of what is made for one end and for both: the kernels are there once.)

/// Reads rows one by one.
///
/// # Safety
/// As for [`Blocks::read`], of so many rows of `len` elements.
#[inline(never)]
unsafe fn read_rows((inputs, against, to): Asked, lines: Lines, rows: usize, len: usize, last: bool) {
    // SAFETY: the caller's.
    with_sources!(inputs, lines, S, X, dispatch => unsafe {
        dispatch(Rows::<S, X> { lines, rows, len, last, against, to, ends: PhantomData })
    })
}

/// Reads rows of columns that lie side by side.
///
/// # Safety
/// As for [`Blocks::read`], of so many rows of so many columns.
#[inline(never)]
pub unsafe fn read_columns((inputs, _, to): Asked, lines: Lines, rows: usize, columns: usize, last: bool) {
    // SAFETY: the caller's.
    with_sources!(inputs, lines, S, X, dispatch => unsafe {
        dispatch(Columns::<S, X> { lines, rows, columns, last, to, ends: PhantomData })
    })
}
