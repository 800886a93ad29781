//! Rows of every length that kernels treat in their own way, at every instruction set, against a loop.

use crate::loops::{ELEMENTS, Random, cases, naive, settings, ways};
use crate::values::{self, Value, value};
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};

/// Elements without an order to them: few different ones, equal ones, or any bits.
fn contents(random: &mut Random, elements: usize, size: usize) -> Vec<u8> {
    let byte = |random: &mut Random| random.below(256) as u8;
    match random.below(4) {
        0 => (0..elements * size).map(|_| byte(random)).collect(),
        1 => {
            let one: Vec<u8> = (0..size).map(|_| byte(random)).collect();
            one.repeat(elements)
        }
        _ => values::bytes(random, elements * size, size),
    }
}

/// Holds the places and the values of the extremes of rows equal to those that a loop finds.
fn check(random: &mut Random, element: ElementType, rows: usize, len: usize, gap: usize) {
    let (size, last) = (element.size(), random.below(2) == 0);
    let mut bytes = contents(random, rows * (len + gap), size);
    if element == ElementType::Bool {
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    }
    // So that nothing is read behind the last row.
    bytes.truncate((rows * (len + gap) - gap) * size);
    let at = |row: usize, place: usize| &bytes[(row * (len + gap) + place) * size..][..size];
    let ends: &[bool] = random.pick(&[&[true], &[false], &[false, true]]);
    let (wants_values, wants_places) = random.pick(&[(true, true), (true, false), (false, true)]);
    for way in ways() {
        let mut found: Vec<_> = ends.iter().map(|_| (vec![0u8; rows * size], vec![-1i64; rows])).collect();
        let targets: Vec<Target> = ends
            .iter()
            .zip(&mut found)
            .map(|(&largest, (values, places))| Target {
                largest,
                values: if wants_values { values.as_mut_ptr() } else { std::ptr::null_mut() },
                indices: if wants_places { places.as_mut_ptr().cast() } else { std::ptr::null_mut() },
                index: IndexType::Int64,
            })
            .collect();
        let mask = std::ptr::null();
        let selection = Selection { data: bytes.as_ptr(), element, swapped: false, last, mask, omit: Omit::Nothing };
        let dimension =
            |len, elements, reduced| Dimension { len, stride: (elements * size) as isize, mask: 0, reduced };
        let dimensions = [dimension(len, 1, true), dimension(rows, len + gap, false)];
        // SAFETY: the dimensions describe the rows, and there is room for the results.
        unsafe { select(selection, dimensions.into_iter(), &targets) };
        for (&largest, (values, places)) in ends.iter().zip(&found) {
            for row in 0..rows {
                let all: Vec<Value> = (0..len).map(|place| value(element, at(row, place))).collect();
                let best = naive(&all, largest, last);
                let case = format!("{way:?} {element:?} {rows}x{len} gap {gap} largest {largest} last {last}, {row}");
                assert!(!wants_places || places[row] == best as i64, "{case}: {} is not {best}", places[row]);
                assert!(!wants_values || &values[row * size..][..size] == at(row, best), "{case}: value");
            }
        }
    }
}

#[test]
fn short_rows_of_every_length_agree_with_a_loop() {
    let _settings = settings();
    let mut random = Random(20);
    let lengths = (2..140).chain((140..600).step_by(13)).chain([1000, 1023, 1024, 1025, 2049, 4095, 4096, 4200]);
    for len in lengths.take(cases(usize::MAX, 20)) {
        for element in ELEMENTS {
            let rows = random.pick(&[1, 3, 4, 5, 8, 15, 16, 17, 32, 33, 67, 131]).min(1 + 20_000 / len);
            let gap = random.pick(&[0, 0, 1, 7]);
            check(&mut random, element, rows, len, gap);
        }
    }
}
