//! Two operands of which one is not contiguous, and is read where it is: what comes out, byte by byte, is what a contiguous copy
//! of it gives, and nothing beside its elements is read.

use crate::fenced::Fenced;
use crate::loops::{ELEMENTS, Random, settings, ways};
use extremum_kernels::{ElementType, Extreme, Operand, extremum};

/// Elements of a line: less than a vector, whole vectors and what remains, long enough for a beginning of its own, and for parts
/// in which NaN is looked for.
const LENGTHS: [usize; 8] = [33, 64, 65, 127, 257, 300, 1031, 5400];

/// Lines, and elements of each: fewer than a square has, whole squares and what remains, many of them.
const SHAPES: [(usize, usize); 9] =
    [(2, 31), (7, 40), (16, 64), (17, 65), (33, 100), (100, 33), (70, 200), (129, 121), (64, 128)];

#[test]
fn what_is_read_where_it_is_gives_what_its_copy_gives() {
    let _settings = settings();
    let (mut random, fences) = (Random(16), Fences::new());
    for element in ELEMENTS {
        for (len, apart) in LENGTHS.into_iter().flat_map(|len| [-2isize, -1, 2, 3].map(|apart| (len, apart))) {
            fences.check(&mut random, element, &[(len, apart)]);
        }
    }
}

#[test]
fn what_is_turned_gives_what_its_copy_gives() {
    let _settings = settings();
    let (mut random, fences) = (Random(17), Fences::new());
    for element in ELEMENTS {
        for (rows, len) in SHAPES {
            fences.check(&mut random, element, &[(rows, 1), (len, rows as isize)]);
        }
    }
}

/// Memory for a contiguous operand, for one that is not, and for the output.
struct Fences {
    plain: Fenced,
    other: Fenced,
    output: Fenced,
}

impl Fences {
    fn new() -> Self {
        Self { plain: Fenced::new(), other: Fenced::new(), output: Fenced::new() }
    }

    /// Holds what a contiguous operand and one whose elements are so many elements apart along each axis give equal to what a copy
    /// of it gives.
    fn check(&self, random: &mut Random, element: ElementType, axes: &[(usize, isize)]) {
        let size = element.size();
        let elements = axes.iter().map(|&(len, _)| len).product::<usize>();
        let extremes = [Extreme::Maximum, Extreme::Minimum, Extreme::MaximumNumber, Extreme::MinimumNumber];
        let extreme = random.pick(&extremes[..if element.nan().is_some() { 4 } else { 2 }]);
        let at_end = random.below(2) == 0;
        let [one, other] = [(); 2].map(|()| bytes(random, elements * size));
        let reach = axes.iter().map(|&(len, apart)| (len - 1) * apart.unsigned_abs() * size).sum::<usize>() + size;
        let backwards = axes.iter().map(|&(len, apart)| (len - 1) * apart.min(0).unsigned_abs() * size).sum::<usize>();
        let plain = self.plain.place(elements * size, at_end);
        let first = self.other.place(reach, at_end).wrapping_add(backwards);
        let to = self.output.place(elements * size, at_end);
        let offsets = axes.iter().fold(vec![0], |all, &(len, apart)| {
            let steps = |at: isize| (0..len as isize).map(move |step| at + step * apart * size as isize);
            all.into_iter().flat_map(steps).collect()
        });
        // SAFETY: both places have room for what is put there.
        unsafe {
            plain.copy_from_nonoverlapping(one.as_ptr(), one.len());
            for (element, offset) in other.chunks_exact(size).zip(offsets) {
                first.offset(offset).copy_from_nonoverlapping(element.as_ptr(), size);
            }
        }
        // The last dimension first.
        let contiguous = axes.iter().rev().scan(size as isize, |step, &(len, _)| {
            let stride = *step;
            *step *= len as isize;
            Some(stride)
        });
        let contiguous: Vec<isize> = contiguous.collect();
        let apart: Vec<isize> = axes.iter().rev().map(|&(_, apart)| apart * size as isize).collect();
        let lens = || axes.iter().rev().map(|&(len, _)| len).zip(contiguous.iter().copied());
        let operand =
            |data, strides: &Vec<isize>| Operand { data, strides: strides.iter().copied().collect(), swapped: false };
        for (way, exchanged) in ways().flat_map(|way| [false, true].map(move |exchanged| (way, exchanged))) {
            let mut pair = [operand(plain.cast_const(), &contiguous), operand(first.cast_const(), &apart)];
            let mut copies = [&one, &other].map(|bytes| operand(bytes.as_ptr(), &contiguous));
            if exchanged {
                pair.reverse();
                copies.reverse();
            }
            let mut expected = vec![0; elements * size];
            // SAFETY: the axes lead to the elements of all arrays; what else is read or written is found out.
            let found = unsafe {
                extremum(&copies, element, extreme, lens(), expected.as_mut_ptr());
                extremum(&pair, element, extreme, lens(), to);
                std::slice::from_raw_parts(to, elements * size)
            };
            assert!(found == expected, "{way:?} {element:?} {extreme:?} {axes:?} {exchanged}");
        }
    }
}

/// Random bytes; in some arrays many floats are NaN, and not all the same, and in others none.
fn bytes(random: &mut Random, len: usize) -> Vec<u8> {
    let rich = random.below(2) == 0;
    let mut byte = || if rich { random.pick(&[0x7f, 0xff, 0xc0, 0, 1]) } else { random.below(64) as u8 };
    (0..len).map(|_| byte()).collect()
}
