//! Tests that a kernel which reads beyond its rows is stopped, with debug assertions. Its rows count as shorter than what the
//! kernel is told, so that it reads bytes that are there, but that are none of its rows.

use crate::element::order::Largest;
use crate::element::rank::Extreme;
use crate::element::{ElementType, Pattern};
use crate::isa::{Task, with_set};
use crate::kernels::columns::Columns;
use crate::kernels::elementwise::{Pass, accumulate};
use crate::kernels::lanes::{Lines, LinesToWrite, Masked, Outputs, Plain, Source};
use crate::kernels::omit::ReplaceSkipped;
use crate::kernels::pack::Pack;
use crate::kernels::passes::Passes;
use crate::kernels::rows::Rows;
use crate::kernels::short_rows::ShortRows;
use crate::kernels::small_inner::SmallInner;
use crate::kernels::sweep::Sweep;
use crate::operations::choice::{
    RowsWithoutMask, fill_registers, reads_both_at_once, short_kernel, short_kernel_under_mask,
};
use crate::operations::top_k::top_k;
use crate::operations::top_k_walk::TopK;
use crate::thresholds::Answer;
use crate::vector::extent::tests::CUT;
use crate::vector::extent::{Readable, Writable};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Checks that a kernel runs with the right extents, and is stopped where its lines count as `cut` bytes shorter. The kernel
/// returns how much it has done.
fn is_stopped(name: &str, cut: usize, kernel: impl Fn() -> usize) {
    assert!(kernel() > 0, "{name}: not done");
    CUT.set(cut);
    let result = catch_unwind(AssertUnwindSafe(kernel));
    CUT.set(0);
    assert!(result.is_err(), "{name}: a wrong extent is not noticed");
}

/// Memory for what kernels read and write.
const BYTES: usize = 1 << 15;

/// Rows of elements of up to 32 bits, `gap` elements apart, with or without a mask. Places come with their values. The first row does not
/// begin where a register would.
fn short_rows(element: ElementType, (rows, len, gap): (usize, usize, usize), masked: bool, answer: Answer) -> usize {
    let both = answer == Answer::Both;
    let size = element.size();
    let data = vec![7i32; BYTES / 4];
    let mask = vec![1u8; BYTES / 4];
    let [mut values, mut other] = [vec![0i32; rows], vec![0i32; rows]];
    let mut index = vec![0i64; rows];
    let mut identity_seen = false;
    let stride = len + gap;
    assert!(4 + rows * stride * size <= BYTES);
    // SAFETY: the memory holds the rows and their mask.
    let mut lines = unsafe { Lines::plain(data.as_ptr().add(1).cast(), (stride * size) as isize, rows, len * size) };
    if masked {
        // SAFETY: as above.
        lines.mask = unsafe { Readable::lines(mask.as_ptr(), stride as isize, rows, len) };
        lines.mask_stride = stride as isize;
    }
    let places = if answer == Answer::Places { index.as_mut_ptr() } else { ptr::null_mut() };
    // SAFETY: there is an element and an index for each row.
    let to = unsafe { Outputs::new(ptr::null_mut(), values.as_mut_ptr().cast(), places, rows) };
    let rows_without_mask = RowsWithoutMask {
        element,
        number: rows,
        len,
        follow: gap == 0,
        answer: if both { Answer::Both } else { answer },
        of_memory: false,
    };
    let kernel = ShortRows {
        lines,
        rows,
        len,
        element,
        largest: true,
        last: false,
        ignore_nan: false,
        minus_one_for_identity: false,
        to,
        identity_seen: &mut identity_seen,
        // SAFETY: there is an element for each row.
        other: if both { unsafe { Writable::bytes(other.as_mut_ptr().cast(), size * rows) } } else { Writable::none() },
        ahead: ptr::null(),
        fill_registers: !masked && fill_registers(rows_without_mask),
        bytes: 0,
    };
    let choice = match masked {
        true => short_kernel_under_mask(element, rows, len),
        false => short_kernel(rows_without_mask),
    };
    // SAFETY: the memory holds the rows, their mask and their results.
    choice.map_or(0, |choice| unsafe { kernel.run(choice) })
}

/// Blocks of rows of 32-bit integers. Values come with their places, or alone.
fn small_inner(blocks: usize, rows: usize, columns: usize, places: bool) -> usize {
    let data = vec![7i32; blocks * rows * columns];
    let mut values = vec![0i32; blocks * columns];
    let mut index = vec![0i64; blocks * columns];
    let results = blocks * columns;
    let places = if places { index.as_mut_ptr() } else { ptr::null_mut() };
    // SAFETY: there is an element for each column, and an index unless places are not wanted.
    let to = unsafe { Outputs::new(ptr::null_mut(), values.as_mut_ptr().cast(), places, results) };
    let kernel = SmallInner {
        data: data.as_ptr().cast(),
        block: (4 * rows * columns) as isize,
        blocks,
        row: 4 * columns as isize,
        rows,
        columns,
        element: ElementType::Int32,
        largest: true,
        last: false,
        ahead: 64,
        to,
    };
    // SAFETY: the memory holds the blocks and their results.
    unsafe { kernel.run() }
}

/// Every `step`-th of some elements.
fn packed(elements: usize, step: usize) -> usize {
    sevens_copied(elements * step, elements, (1, 0), (elements, 4 * step as isize))
}

/// Rows of `len` elements become columns.
fn transposed(rows: usize, len: usize, gap: usize) -> usize {
    sevens_copied(rows * (len + gap), rows * len, (len, 4), (rows, 4 * (len + gap) as isize))
}

/// How many of the elements of a copy come from the memory that is packed, which has so many elements.
fn sevens_copied(there: usize, elements: usize, outer: (usize, isize), inner: (usize, isize)) -> usize {
    let data = vec![7u32; there];
    let mut to = vec![0u32; elements];
    let kernel = Pack {
        data: data.as_ptr().cast(),
        outer,
        inner,
        size: 4,
        scratch: true,
        swapped: false,
        to: to.as_mut_ptr().cast(),
        step: 4 * inner.0,
    };
    // SAFETY: the memory holds the elements and their copy.
    unsafe { kernel.run() };
    to.iter().filter(|&&element| element == 7).count()
}

/// Lines of `len` 32-bit integers, with a mask or without one, for the kernels that the compiler vectorises.
fn lines_of(data: &[i32], mask: &[u8], lines: usize, len: usize, masked: bool) -> Lines {
    assert!(lines * len <= data.len() && lines * len <= mask.len());
    // SAFETY: the memory holds the lines and their mask.
    unsafe {
        let plain = Lines::plain(data.as_ptr().cast(), 4 * len as isize, lines, 4 * len);
        let mask = Readable::lines(mask.as_ptr(), len as isize, lines, len);
        if masked { Lines { mask, mask_stride: len as isize, ..plain } } else { plain }
    }
}

/// The kernels for long rows and for columns.
fn long_lines(lines: usize, len: usize, masked: bool, columns: bool) -> usize {
    let data = vec![7i32; BYTES / 4];
    let mask = vec![1u8; BYTES / 4];
    let mut index = vec![-1i64; lines.max(len)];
    // SAFETY: there is an index for each line, and for each column.
    let to = [unsafe { Outputs::new(ptr::null_mut(), ptr::null_mut(), index.as_mut_ptr(), index.len()) }];
    let read = lines_of(&data, &mask, lines, len, masked);
    // SAFETY: the memory holds the lines, their mask and their results.
    unsafe {
        match (masked, columns) {
            (false, false) => rows::<Plain<i32>>(read, lines, len, &to),
            (true, false) => rows::<Masked<i32>>(read, lines, len, &to),
            (false, true) => columns_of::<Plain<i32>>(read, lines, len, &to),
            (true, true) => columns_of::<Masked<i32>>(read, lines, len, &to),
        }
    }
    index.iter().filter(|&&index| index == 0).count()
}

/// # Safety
/// The lines may be read, and there is room for a place for each of them.
unsafe fn rows<S: Source<Element: Sweep>>(lines: Lines, rows: usize, len: usize, to: &[Outputs]) {
    let against = &[Readable::none()];
    // SAFETY: the caller's promise.
    unsafe { Rows::<S, Largest> { lines, rows, len, last: false, ahead: 64, against, to, ends: PhantomData }.run() }
}

/// # Safety
/// The lines may be read, and there is room for a place for each of their columns.
unsafe fn columns_of<S: Source>(lines: Lines, rows: usize, columns: usize, to: &[Outputs]) {
    // SAFETY: the caller's promise.
    unsafe {
        Columns::<S, Largest> {
            lines,
            rows,
            columns,
            last: false,
            to,
            passes: Passes::OF_CACHES,
            large: Writable::none(),
            ends: PhantomData,
        }
        .run()
    }
}

/// The larger of two lines.
fn elementwise(len: usize) -> usize {
    let data = vec![7i32; len];
    let mut to = vec![0i32; len];
    let operand = lines_of(&data, &vec![1; len], 1, len, false);
    let extreme = Extreme { largest: true, omit: false };
    // SAFETY: the memory holds the operands and the result.
    unsafe {
        let to = LinesToWrite::new(to.as_mut_ptr().cast(), 0, 1, 4 * len);
        let pass = Pass { first: None, operands: &[operand, operand], to, rows: 1, len };
        accumulate(pass, ElementType::Int32, extreme);
    }
    to.iter().filter(|&&element| element == 7).count()
}

/// Lines in which elements are skipped.
fn omitted(lines: usize, len: usize) -> usize {
    let data = vec![7u32; lines * len];
    let mask = vec![1u8; lines * len];
    let mut to = vec![0u32; lines * len];
    let task = ReplaceSkipped {
        from: data.as_ptr().cast(),
        to: to.as_mut_ptr().cast(),
        size: 4,
        lens: (lines, len),
        mask: mask.as_ptr(),
        mask_strides: (len as isize, 1),
        pattern: Pattern::NONE,
        fill: 0,
    };
    // SAFETY: the memory holds the block, its mask and its copy.
    unsafe { task.run() };
    to.iter().filter(|&&element| element == 7).count()
}

/// The `k` best of each of some lines of 32-bit integers, contiguous or side by side.
fn best(lines: usize, len: usize, k: usize, side_by_side: bool) -> usize {
    let data = vec![7i32; lines * len];
    let mut values = vec![0i32; lines * k];
    let mut indices = vec![0i64; lines * k];
    let input = TopK {
        data: data.as_ptr().cast(),
        element: ElementType::Int32,
        swapped: false,
        largest: true,
        nan_first: true,
        times: false,
        k,
        sorted: true,
        mask: ptr::null(),
    };
    let [line, element] = if side_by_side { [4, 4 * lines as isize] } else { [4 * len as isize, 4] };
    let dimensions = [(len, element, 0, true), (lines, line, 0, false)];
    // SAFETY: the memory holds the lines and their results.
    unsafe { top_k(input, dimensions.into_iter(), values.as_mut_ptr().cast(), indices.as_mut_ptr()) };
    values.iter().filter(|&&value| value == 7).count()
}

#[test]
fn a_kernel_that_reads_beyond_its_rows_is_stopped() {
    for (rows, len, gap) in [(20, 12, 0), (20, 12, 3), (20, 3, 0), (20, 3, 5)] {
        is_stopped(&format!("transpose {len} {gap}"), 1, || transposed(rows, len, gap));
    }
    for (lines, len, masked) in [(1, 1500, false), (3, 70, false), (3, 70, true), (2, 5, false)] {
        is_stopped(&format!("rows {len}"), 1, || long_lines(lines, len, masked, false));
        is_stopped(&format!("columns {len}"), 1, || long_lines(lines, len, masked, true));
    }
    is_stopped("elementwise", 1, || elementwise(100));
    is_stopped("omit", 1, || omitted(3, 20));
    is_stopped("pack", 1, || packed(20, 3));
    // Builds with debug assertions have the other kernels for some instruction sets only.
    if !with_set!(_I => true, false) {
        return;
    }
    for (rows, len, gap) in [
        (40, 2, 0),
        (40, 3, 0),
        (40, 7, 0),
        (40, 7, 2),
        (40, 16, 0),
        (40, 20, 0),
        (40, 20, 3),
        (40, 64, 0),
        (40, 150, 1),
        (1, 1500, 0),
        (1, 1536, 0),
    ] {
        for answer in [Answer::Places, Answer::Values] {
            is_stopped(&format!("{answer:?} of short rows {len} {gap}"), 1, || {
                short_rows(ElementType::Int32, (rows, len, gap), false, answer)
            });
        }
    }
    for answer in [Answer::Places, Answer::Values] {
        is_stopped(&format!("{answer:?} of rows of two parts"), 1, || {
            short_rows(ElementType::Int16, (70, 16, 0), false, answer)
        });
    }
    // Narrow registers read longer rows for one end of the order after the other.
    for len in [7, 20, 40].into_iter().filter(|&len| reads_both_at_once(ElementType::Int32, len)) {
        is_stopped(&format!("both ends {len}"), 1, || {
            short_rows(ElementType::Int32, (40, len, 0), false, Answer::Both)
        });
    }
    if cfg!(all(target_arch = "x86_64", not(miri))) {
        is_stopped("under a mask", 1, || short_rows(ElementType::Int32, (40, 40, 2), true, Answer::Places));
    }
    for (rows, columns) in [(9, 100), (9, 20), (9, 9), (40, 2)] {
        for places in [true, false] {
            is_stopped(&format!("small inner {columns}, {places}"), 1, || small_inner(3, rows, columns, places));
        }
    }
    // Each line, the chunks of one long line, and lines side by side.
    for (lines, len, k, side_by_side) in [(3, 200, 5, false), (1, 5000, 600, false), (100, 64, 5, true)] {
        is_stopped(&format!("top k {len} {k}"), 1, || best(lines, len, k, side_by_side));
    }
}

#[test]
fn rows_of_one_element_are_left_to_the_caller() {
    // Threads may cut rows this short. The kernels would read neighbouring rows with them.
    for answer in [Answer::Places, Answer::Values, Answer::Both] {
        assert_eq!(short_rows(ElementType::Int32, (40, 1, 0), false, answer), 0);
    }
}
