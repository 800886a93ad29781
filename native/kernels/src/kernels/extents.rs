//! Tests that a kernel which reads beyond its rows is stopped, with debug assertions. Its rows count as shorter than what the
//! kernel is told, so that it reads bytes that are there, but that are none of its rows.

use crate::element::ElementType;
use crate::kernels::down::Down;
use crate::kernels::lanes::{Lines, Outputs};
use crate::kernels::pack::Pack;
use crate::kernels::short_rows::{ShortRows, with_set};
use crate::vector::extent::tests::CUT;
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

/// Rows of 32-bit integers, `gap` elements apart, with or without a mask, for one end of the order or both.
fn short_rows(rows: usize, len: usize, gap: usize, masked: bool, both: bool) -> usize {
    let data = vec![7i32; BYTES / 4];
    let mask = vec![1u8; BYTES / 4];
    let [mut values, mut other] = [vec![0i32; rows], vec![0i32; rows]];
    let mut index = vec![0i64; rows];
    let mut fills = false;
    assert!(rows * (len + gap) <= data.len());
    let stride = (len + gap) as isize;
    let lines = Lines {
        data: data.as_ptr().cast(),
        stride: 4 * stride,
        mask: if masked { mask.as_ptr() } else { ptr::null() },
        mask_stride: if masked { stride } else { 0 },
    };
    let to = Outputs {
        keys: ptr::null_mut(),
        values: values.as_mut_ptr().cast(),
        index: if both { ptr::null_mut() } else { index.as_mut_ptr() },
    };
    let kernel = ShortRows {
        lines,
        rows,
        len,
        element: ElementType::Int32,
        largest: true,
        last: false,
        numbers: false,
        marks: false,
        to,
        fills: &mut fills,
        other: if both { other.as_mut_ptr().cast() } else { ptr::null_mut() },
        ahead: ptr::null(),
    };
    // SAFETY: the memory holds the rows, their mask and their results.
    unsafe { kernel.run() }
}

/// Blocks of rows of 32-bit integers.
fn down(blocks: usize, rows: usize, columns: usize) -> usize {
    let data = vec![7i32; blocks * rows * columns];
    let mut values = vec![0i32; blocks * columns];
    let mut index = vec![0i64; blocks * columns];
    let kernel = Down {
        data: data.as_ptr().cast(),
        block: (4 * rows * columns) as isize,
        blocks,
        row: 4 * columns as isize,
        rows,
        columns,
        element: ElementType::Int32,
        largest: true,
        last: false,
        index: index.as_mut_ptr(),
        values: values.as_mut_ptr().cast(),
    };
    // SAFETY: the memory holds the blocks and their results.
    unsafe { kernel.run() }
}

/// Rows of `len` elements become columns.
fn transposed(rows: usize, len: usize, gap: usize) -> usize {
    let data = vec![7u32; rows * (len + gap)];
    let mut to = vec![0u32; rows * len];
    let kernel = Pack {
        data: data.as_ptr().cast(),
        outer: (len, 4),
        inner: (rows, 4 * (len + gap) as isize),
        size: 4,
        scratch: true,
        swapped: false,
        to: to.as_mut_ptr().cast(),
        step: 4 * rows,
    };
    // SAFETY: the memory holds the block and its copy.
    unsafe { kernel.run() };
    to.iter().filter(|&&element| element == 7).count()
}

#[test]
fn a_kernel_that_reads_beyond_its_rows_is_stopped() {
    // All rows that are shorter than a register count as one line, and the last of them are not read.
    for (rows, len, gap, cut) in [(20, 12, 0, 1), (20, 12, 3, 1), (20, 3, 0, 12), (20, 3, 5, 40)] {
        is_stopped(&format!("transpose {len} {gap}"), cut, || transposed(rows, len, gap));
    }
    // Builds with debug assertions have the other kernels for some instruction sets only.
    if !with_set!(I => size_of::<I>() == 0, false) {
        return;
    }
    for (rows, len, gap) in
        [(40, 2, 0), (40, 3, 0), (40, 7, 0), (40, 7, 2), (40, 20, 0), (40, 20, 3), (40, 150, 1), (1, 1500, 0)]
    {
        is_stopped(&format!("short rows {len} {gap}"), 1, || short_rows(rows, len, gap, false, false));
    }
    for len in [7, 20, 40] {
        is_stopped(&format!("both ends {len}"), 1, || short_rows(40, len, 0, false, true));
    }
    if cfg!(all(target_arch = "x86_64", not(miri))) {
        is_stopped("under a mask", 1, || short_rows(40, 40, 2, true, false));
    }
    for (rows, columns) in [(9, 100), (9, 20), (9, 9), (40, 2)] {
        is_stopped(&format!("down {columns}"), 1, || down(3, rows, columns));
    }
}
