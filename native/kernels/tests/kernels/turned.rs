//! Elementwise work on arrays that lie in memory in different orders: what is turned on the way in or out, in tiles with
//! remainders, is what the same elements give one after the other.

use crate::loops::{ELEMENTS, Random, cases, settings, ways};
use extremum_kernels::{ElementType, Extreme, Operand, extremum, threads};

/// What lies between the elements of an output.
const UNTOUCHED: u8 = 0xa5;

/// An array of any order of axes, apart by gaps, some of them downwards.
#[derive(Clone)]
struct Array {
    bytes: Vec<u8>,
    first: isize,
    strides: Vec<isize>,
}

impl Array {
    fn new(random: &mut Random, lens: &[usize], size: usize) -> Self {
        let mut order: Vec<usize> = (0..lens.len()).collect();
        order.rotate_left(random.below(lens.len()));
        if random.below(2) == 0 {
            order.reverse();
        }
        let (mut strides, mut first, mut step) = (vec![0; lens.len()], 0, size as isize);
        for axis in order {
            step += random.pick(&[0, 0, 0, 0, 0, size as isize, 1]);
            strides[axis] = step;
            let reach = step * (lens[axis] as isize - 1);
            if random.below(5) == 0 {
                first += reach;
                strides[axis] = -step;
            }
            step *= lens[axis] as isize;
        }
        Self { bytes: vec![UNTOUCHED; step as usize + size], first, strides }
    }

    fn filled(mut self, random: &mut Random) -> Self {
        // In some arrays many floats are NaN, and not all the same.
        let rich = random.below(2) == 0;
        let mut byte = || if rich { random.pick(&[0x7f, 0xff, 0xc0, 0, 1]) } else { random.below(256) as u8 };
        self.bytes.iter_mut().for_each(|each| *each = byte());
        self
    }

    /// Where the elements begin, the last dimension fastest.
    fn places(&self, lens: &[usize]) -> Vec<usize> {
        let all = lens.iter().zip(&self.strides).fold(vec![self.first], |all, (&len, &stride)| {
            all.iter().flat_map(|&place| (0..len).map(move |at| place + stride * at as isize)).collect()
        });
        all.into_iter().map(|place| place as usize).collect()
    }

    fn operand(&self, swapped: bool) -> Operand {
        let data = self.bytes.as_ptr().wrapping_offset(self.first);
        Operand { data, strides: self.strides.iter().rev().copied().collect(), swapped }
    }
}

/// The elements of an array one after the other, their bytes in order.
fn gathered(array: &Array, lens: &[usize], size: usize, swapped: bool) -> Vec<u8> {
    let mut elements = Vec::new();
    for place in array.places(lens) {
        let element = &array.bytes[place..][..size];
        if swapped { elements.extend(element.iter().rev()) } else { elements.extend(element) }
    }
    elements
}

#[test]
fn arrays_of_different_orders_give_what_lines_give() {
    let _settings = settings();
    let mut random = Random(15);
    let before = threads::set_grain_size(1 << 16);
    let mut mixed = 0;
    for element in ELEMENTS {
        for _ in 0..cases(16, 1) {
            let lengths: &[usize] = if cfg!(miri) { &[3, 18, 33] } else { &[3, 7, 65, 130, 259, 300, 530] };
            let mut lens = vec![random.pick(lengths), random.pick(lengths)];
            if random.below(3) == 0 {
                lens.insert(random.below(3), random.pick(&[2, 5]));
            }
            mixed += usize::from(check(&mut random, element, &lens));
        }
    }
    threads::set_grain_size(before);
    threads::set_limit(1);
    assert!(cfg!(miri) || mixed > 100, "{mixed} cases with arrays of different orders");
}

#[cfg_attr(miri, ignore = "large")]
#[test]
fn lines_longer_or_more_than_a_tile_has_give_what_lines_give() {
    let _settings = settings();
    let mut random = Random(16);
    for element in ELEMENTS {
        for lens in [[35, 4170], [4170, 35], [4 * 1050 / element.size(), 1050]] {
            check(&mut random, element, &lens);
        }
    }
    threads::set_limit(1);
}

/// Holds one case equal to the same of contiguous arrays; says whether one of its arrays had to be turned.
fn check(random: &mut Random, element: ElementType, lens: &[usize]) -> bool {
    let size = element.size();
    let count = random.pick(&[1, 2, 2, 2, 3, 5, 9]);
    let largest = random.below(2) == 0;
    let arrays: Vec<(Array, bool)> =
        (0..count).map(|_| (Array::new(random, lens, size).filled(random), size > 1 && random.below(5) == 0)).collect();
    let in_place = random.below(4) == 0;
    let mut output = Array::new(random, lens, size);
    if in_place {
        output = output.filled(random);
    }
    let place = random.below(count);
    let lines: Vec<Vec<u8>> = arrays.iter().map(|(array, swapped)| gathered(array, lens, size, *swapped)).collect();
    let own = gathered(&output, lens, size, false);
    let (elements, extreme) = (lens.iter().product::<usize>(), Extreme::new(largest, false));
    let mut expected = vec![0u8; elements * size];
    for way in ways() {
        threads::set_limit(1 + random.below(3));
        let line = |bytes: &Vec<u8>| Operand {
            data: bytes.as_ptr(),
            strides: [size as isize].into_iter().collect(),
            swapped: false,
        };
        let mut operands: Vec<Operand> = lines.iter().map(line).collect();
        let mut found = output.clone();
        let mut turned: Vec<Operand> = arrays.iter().map(|(array, swapped)| array.operand(*swapped)).collect();
        if in_place {
            operands.insert(place, line(&own));
            turned.insert(place, found.operand(false));
        }
        let to = found.bytes.as_mut_ptr().wrapping_offset(found.first);
        if in_place {
            turned[place].data = to;
        }
        let axes: Vec<_> = lens.iter().copied().zip(found.strides.iter().copied()).rev().collect();
        // SAFETY: the axes describe all arrays; at most the output itself is an operand.
        unsafe {
            let line = [(elements, size as isize)];
            extremum(&operands, element, extreme, line.into_iter(), expected.as_mut_ptr());
            extremum(&turned, element, extreme, axes.into_iter(), to);
        }
        let strides: Vec<_> = arrays.iter().map(|(array, _)| &array.strides).collect();
        let at = format!("{way:?} {element:?} {lens:?} {strides:?} to {:?}, in place {in_place}", output.strides);
        let mut rest = output.bytes.clone();
        for (number, place) in found.places(lens).into_iter().enumerate() {
            let (found, expected) = (&found.bytes[place..][..size], &expected[number * size..][..size]);
            assert_eq!(found, expected, "{at}: {number}");
            rest[place..][..size].copy_from_slice(found);
        }
        assert!(found.bytes == rest, "{at}: something else was written");
    }
    arrays.iter().any(|(array, _)| array.strides.iter().zip(&output.strides).any(|(a, b)| a.abs() != b.abs()))
}
