//! Reading ends where nothing can beat what was found: a True, the largest integer, a NaN. The pages that need not be read are
//! inaccessible, so that a call which reads them ends the process.

use crate::memory::Bytes;
use crate::settings;
use extremum_kernels::{ElementType, IndexType, Input, Omit, argreduce, set_small_limit, threads};
use std::ptr;

/// Bytes of a row: more than one thread has to read.
const ROW: usize = 1 << 18;

/// Bytes that a call may read at the end of a row where ties win.
const HEAD: usize = 1 << 14;

/// Element types, and the bytes of an element that none beats.
const UTMOST: [(ElementType, &[u8]); 4] = [
    (ElementType::Bool, &[1]),
    (ElementType::UInt8, &[255]),
    (ElementType::Int16, &i16::MAX.to_ne_bytes()),
    (ElementType::Float32, &f32::NAN.to_ne_bytes()),
];

/// The places of the largest elements of contiguous rows on four threads.
///
/// # Safety
/// All elements that the call needs are readable.
unsafe fn places(bytes: &Bytes, element: ElementType, (rows, len): (usize, usize), last: bool) -> Vec<i64> {
    let omit = Omit::Nothing;
    let mask = ptr::null();
    let input = Input { data: bytes.as_ptr(), element, swapped: false, largest: true, last, omit, mask };
    let size = element.size() as isize;
    let axes = [(len, size, 0, true), (rows, size * len as isize, 8, false)];
    let mut places = vec![-1i64; rows];
    set_small_limit(0);
    threads::set_limit(4);
    threads::set_grain_size(1024);
    // SAFETY: the axes describe the bytes, and there is an index for each row.
    unsafe { argreduce(input, axes.into_iter(), places.as_mut_ptr().cast(), IndexType::Int64) };
    places
}

/// Without inaccessible pages the test could not fail.
#[test]
#[cfg(all(unix, not(miri)))]
fn a_call_reads_no_further_than_an_element_that_nothing_beats() {
    let _settings = settings();
    for (element, utmost) in UTMOST {
        let size = element.size();
        let rows = 3;
        let len = ROW / size;
        for last in [false, true] {
            let place = if last { len - 3 } else { 2 };
            let mut bytes = Bytes::new(rows * ROW, false);
            let start = |row: usize| row * ROW + place * size;
            (0..rows).for_each(|row| bytes[start(row)..][..size].copy_from_slice(utmost));
            let head = if last { ROW - HEAD..ROW } else { 0..HEAD };
            bytes.deny_all_but((0..rows).map(|row| row * ROW + head.start..row * ROW + head.end));
            // SAFETY: the pages of the heads can be read.
            let found = unsafe { places(&bytes, element, (rows, len), last) };
            assert_eq!(found, [place as i64; 3], "{element:?}, last: {last}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "reads megabytes")]
fn parts_that_stop_each_other_find_the_place_that_wins_ties() {
    let _settings = settings();
    for (element, utmost) in UTMOST {
        let size = element.size();
        let len = ROW / size;
        // Around the borders of the head and of the parts of a row.
        let borders = [1, HEAD / size, len / 4, len / 2, len - HEAD / size, len - 1];
        let around: Vec<usize> = borders.into_iter().flat_map(|border| border - 1..len.min(border + 1)).collect();
        let mut bytes = Bytes::new(ROW, true);
        let pairs =
            around.iter().enumerate().flat_map(|(at, &one)| around[at..].iter().map(move |&other| (one, other)));
        for (one, other) in pairs {
            for place in [one, other] {
                bytes[place * size..][..size].copy_from_slice(utmost);
            }
            for (last, expected) in [(false, one), (true, other)] {
                // SAFETY: all of the row can be read.
                let found = unsafe { places(&bytes, element, (1, len), last) };
                assert_eq!(found, [expected as i64], "{element:?}, {one} and {other}, last: {last}");
            }
            for place in [one, other] {
                bytes[place * size..][..size].fill(0);
            }
        }
    }
}
