//! Values and indices at one or both ends, with elements left out: what `select` has to give.

use crate::Random;
use crate::case::{Case, fitting};
use crate::key::{NAN, bytes_of};
use crate::memory::{Bytes, Memory, positions, strides};
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};
use std::ptr;

/// Makes the call, and panics where its results are wrong.
pub fn run(case: &Case, random: &mut Random) {
    let Case { element, swapped, last, .. } = *case;
    let input = case.input(random);
    let mask = random.one_in(2).then(|| mask(case, random));
    let omit = match element {
        _ if element.is_float() => random.pick(&[Omit::Nothing, Omit::Nan]),
        ElementType::Int64 => random.pick(&[Omit::Nothing, Omit::NotATime]),
        _ => Omit::Nothing,
    };
    let (kept, block) = case.split();
    let kept = positions(&kept);
    let index = random.pick(&[IndexType::Int64, IndexType::Int32, IndexType::Int16, IndexType::Int8]);
    let index = fitting(index, block.iter().product());
    let sizes = [element.size(), index.size()];
    let ends: &[bool] = random.pick(&[&[true], &[false], &[true, false]]);
    // Values, indices, or both, in memory exactly as large as they are.
    let wanted = random.pick(&[[true, true], [true, false], [false, true]]);
    let room = |what: usize| Bytes::new(if wanted[what] { kept.len() * sizes[what] } else { 0 }, true);
    let mut found: Vec<[Bytes; 2]> = ends.iter().map(|_| [room(0), room(1)]).collect();
    let target = |(&largest, found): (&bool, &mut [Bytes; 2])| {
        let [values, indices] = found.each_mut().map(|bytes| bytes.as_mut_ptr());
        let [values, indices] = [(values, wanted[0]), (indices, wanted[1])]
            .map(|(bytes, wanted)| if wanted { bytes } else { ptr::null_mut() });
        Target { largest, values, indices, index }
    };
    let targets: Vec<Target> = ends.iter().zip(&mut found).map(target).collect();
    let data = mask.as_ref().map_or(ptr::null(), Memory::data);
    let selection = Selection { data: input.data(), element, swapped, last, mask: data, omit };
    let dimensions = (0..case.lens.len()).rev().map(|axis| Dimension {
        len: case.lens[axis],
        stride: input.strides[axis],
        mask: mask.as_ref().map_or(0, |mask| mask.strides[axis]),
        reduced: case.reduced[axis],
    });
    input.deny_gaps(&case.lens);
    // SAFETY: the dimensions describe the input and its mask, and the results are as many as what is kept.
    let lacking = unsafe { select(selection, dimensions, &targets) };
    input.bytes.allow();
    assert!(!input.is_changed() && !mask.as_ref().is_some_and(Memory::is_changed), "an input has changed");
    let takes_part = |position: &[usize], key: i128| {
        let left_out = match omit {
            Omit::Nothing => false,
            Omit::Nan => key == NAN,
            Omit::NotATime => key.abs() == 1 << 63,
        };
        !left_out && mask.as_ref().is_none_or(|mask| mask.element(position) != [0])
    };
    for (&largest, [values, indices]) in ends.iter().zip(&found) {
        let mut none = 0;
        for (number, outside) in kept.iter().enumerate() {
            let best = case.best(&input, outside, (largest, last), takes_part);
            none += usize::from(best.is_none());
            let place = best.as_ref().map_or(u64::MAX, |&(place, _)| place as u64);
            let at = format!("{omit:?}, mask {}, at {outside:?}, not {}", mask.is_some(), place as i64);
            let result = |bytes: &Bytes, size| bytes[number * size..][..size].to_vec();
            assert!(!wanted[1] || result(indices, sizes[1]) == bytes_of(place, sizes[1]), "index: {at}");
            if let Some((_, position)) = best.filter(|_| wanted[0]) {
                let mut value = result(values, sizes[0]);
                if swapped {
                    value.reverse();
                }
                assert!(value == input.element(&position), "value: {at}");
            }
        }
        assert_eq!(none, lacking);
    }
}

/// A mask that leaves out some, all or none.
fn mask(case: &Case, random: &mut Random) -> Memory {
    let strides = strides(random, &case.lens, 1);
    let mut mask = Memory::new(random, &case.lens, 1, strides);
    let share = random.pick(&[0, 1, 4, 7, 8]);
    mask.fill_by(|_| if random.below(8) < share { random.pick(&[1, 1, 2, 0x80, 0xff]) } else { 0 });
    mask
}
