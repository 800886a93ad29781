//! Values and indices at one or both ends, with elements left out: what `select` has to give.

use crate::Random;
use crate::case::{Case, fitting};
use crate::key::{NAN, bytes_of};
use crate::memory::{Bytes, Memory, positions, strides};
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};
use std::ptr;

/// What is drawn beside a case.
struct Draw {
    mask: Option<Memory>,
    omit: Omit,
    index: IndexType,
}

/// Where one end's results go: memory exactly as large as they are.
struct Results {
    largest: bool,
    values: Bytes,
    indices: Bytes,
}

/// Makes the call, and panics where its results are wrong.
pub fn run(case: &Case, random: &mut Random) {
    let input = case.input(random);
    let draw = Draw::new(case, random);
    let kept = case.split().0;
    let results = positions(&kept).len();
    let (size, index) = (case.element.size(), draw.index.size());
    let ends: &[bool] = random.pick(&[&[true], &[false], &[true, false]]);
    let (values, indices) = random.pick(&[(true, true), (true, false), (false, true)]);
    let room = |wanted, size: usize| Bytes::new(if wanted { results * size } else { 0 }, true);
    let end = |&largest| Results { largest, values: room(values, size), indices: room(indices, index) };
    let mut found: Vec<Results> = ends.iter().map(end).collect();
    let pointer = |bytes: &mut Bytes, wanted| if wanted { bytes.as_mut_ptr() } else { ptr::null_mut() };
    let targets: Vec<Target> = found
        .iter_mut()
        .map(|end| Target {
            largest: end.largest,
            values: pointer(&mut end.values, values),
            indices: pointer(&mut end.indices, indices),
            index: draw.index,
        })
        .collect();
    let Case { element, swapped, last, .. } = *case;
    let mask = draw.mask.as_ref().map_or(ptr::null(), Memory::data);
    let selection = Selection { data: input.data(), element, swapped, last, mask, omit: draw.omit };
    let dimensions = (0..case.lens.len()).rev().map(|axis| Dimension {
        len: case.lens[axis],
        stride: input.strides[axis],
        mask: draw.mask.as_ref().map_or(0, |mask| mask.strides[axis]),
        reduced: case.reduced[axis],
    });
    input.deny_gaps(&case.lens);
    // SAFETY: the dimensions describe the input and its mask, and the results are as many as what is kept.
    let lacking = unsafe { select(selection, dimensions, &targets) };
    input.bytes.allow();
    assert!(!input.is_changed() && !draw.mask.as_ref().is_some_and(Memory::is_changed), "an input has changed");
    for end in &found {
        let mut none = 0;
        for (number, outside) in positions(&kept).iter().enumerate() {
            let expected = draw.best(case, &input, outside, end.largest);
            none += usize::from(expected.is_none());
            let (place, value) = expected.map_or((u64::MAX, None), |(place, value)| (place as u64, Some(value)));
            let at = format!("{:?}, mask {}, at {outside:?}, not {}", draw.omit, draw.mask.is_some(), place as i64);
            assert!(!indices || end.indices[number * index..][..index] == bytes_of(place, index), "index: {at}");
            assert!(!values || value.is_none_or(|value| end.values[number * size..][..size] == value), "value: {at}");
        }
        assert_eq!(none, lacking);
    }
}

impl Draw {
    fn new(case: &Case, random: &mut Random) -> Self {
        let masked = random.one_in(2);
        let mask = masked.then(|| {
            let strides = strides(random, &case.lens, 1);
            let mut mask = Memory::new(random, &case.lens, 1, strides);
            let share = random.pick(&[0, 1, 4, 7, 8]);
            mask.fill_by(|_| if random.below(8) < share { random.pick(&[1, 1, 2, 0x80, 0xff]) } else { 0 });
            mask
        });
        let omit = match case.element {
            element if element.is_float() => random.pick(&[Omit::Nothing, Omit::Nan]),
            ElementType::Int64 => random.pick(&[Omit::Nothing, Omit::NotATime]),
            _ => Omit::Nothing,
        };
        let index = random.pick(&[IndexType::Int64, IndexType::Int32, IndexType::Int16, IndexType::Int8]);
        Self { mask, omit, index: fitting(index, case.split().1.iter().product()) }
    }

    /// The place of the extremum among what takes part, and its bytes in this machine's order.
    fn best(&self, case: &Case, input: &Memory, outside: &[usize], largest: bool) -> Option<(usize, Vec<u8>)> {
        let takes_part = |position: &[usize], key: i128| {
            let left_out = match self.omit {
                Omit::Nothing => false,
                Omit::Nan => key == NAN,
                Omit::NotATime => key.abs() == 1 << 63,
            };
            !left_out && self.mask.as_ref().is_none_or(|mask| mask.element(position) != [0])
        };
        let (place, position) = case.best(input, outside, (largest, case.last), takes_part)?;
        let mut bytes = input.element(&position).to_vec();
        if case.swapped {
            bytes.reverse();
        }
        Some((place, bytes))
    }
}
