//! How far rows may be read beyond their ends.

// Where nothing is transposed by squares, nobody asks.
#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]

/// The smallest page of any system: where memory begins or ends to be readable is a multiple of it.
const PAGE: usize = 4096;

/// How many of `rows` rows of `len` bytes, the first ones, may be read as if they had `whole >= len` bytes.
///
/// This is the one place where a kernel reads what it was not asked for, so it is the one that has to know when it may.
/// A caller vouches for the bytes of the rows and for no other. What is read behind a row is there nevertheless where it
/// belongs to later rows, or lies in the gap before one of them and in the page of one of its ends. Rows that all begin at
/// one place (stride 0) or run downwards have no such row behind them.
#[inline(never)]
pub fn rows_read_beyond(rows: usize, stride: isize, len: usize, whole: usize) -> usize {
    match usize::try_from(stride) {
        _ if whole == len => rows,
        Ok(stride @ 1..) if stride < len + PAGE => rows.saturating_sub((whole - len).div_ceil(stride)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE, rows_read_beyond};

    /// Byte by byte: what is read of a row is part of a row, or in a gap that no page fits into.
    fn may_be_read(row: usize, rows: usize, stride: usize, len: usize, whole: usize) -> bool {
        (stride * row..stride * row + whole).all(|byte| {
            let behind = (0..rows).any(|row| byte < stride * row + len);
            let inside = (0..rows).any(|row| (stride * row..stride * row + len).contains(&byte));
            inside || (behind && stride < len + PAGE)
        })
    }

    #[test]
    fn no_row_is_read_beyond_what_is_there() {
        // (An interpreter would take minutes for the larger ones.)
        for rows in [0, 1, 2, 5, 16, 17, 40].into_iter().take(if cfg!(miri) { 3 } else { 7 }) {
            for stride in [0, 1, 2, 7, 8, 12, 15, 16, 17, 24, 100, 4100, 4110, 4111, 4112, 8192] {
                for (len, whole) in [(1, 16), (12, 16), (15, 16), (16, 16), (17, 32), (24, 32)] {
                    let safe = rows_read_beyond(rows, stride as isize, len, whole);
                    let all = (0..rows).take_while(|&row| may_be_read(row, rows, stride, len, whole)).count();
                    assert_eq!(safe, all, "{rows} {stride} {len} {whole}");
                    let backwards = rows_read_beyond(rows, -(stride as isize), len, whole);
                    assert_eq!(backwards, if len == whole { rows } else { 0 });
                }
            }
        }
    }
}
