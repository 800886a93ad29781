//! Two operands of which one is not contiguous, and is read where it is: what comes out, byte by byte, is what a contiguous copy
//! of it gives, and nothing beside its elements is read.

use crate::fenced::Fenced;
use crate::loops::{ELEMENTS, Random, settings, ways};
use extremum_kernels::{Extreme, Operand, extremum};

/// Elements of a line: less than a vector, whole vectors and what remains, long enough for a beginning of its own, and for parts
/// in which NaN is looked for.
const LENGTHS: [usize; 8] = [33, 64, 65, 127, 257, 300, 1031, 5400];

const EXTREMES: [Extreme; 4] = [Extreme::Maximum, Extreme::Minimum, Extreme::MaximumNumber, Extreme::MinimumNumber];

#[test]
fn what_is_read_where_it_is_gives_what_its_copy_gives() {
    let _settings = settings();
    let mut random = Random(16);
    let (plain, apart, output) = (Fenced::new(), Fenced::new(), Fenced::new());
    for element in ELEMENTS {
        let size = element.size();
        for (len, apart_by) in LENGTHS.into_iter().flat_map(|len| [-2isize, -1, 2, 3].map(|apart| (len, apart))) {
            let extreme = random.pick(&EXTREMES);
            if element.nan().is_none() && matches!(extreme, Extreme::MaximumNumber | Extreme::MinimumNumber) {
                continue;
            }
            let at_end = random.below(2) == 0;
            let bytes = |len: usize, random: &mut Random| -> Vec<u8> {
                // In some lines no element is NaN: the highest byte of each leaves the exponent short.
                let most = random.pick(&[256, 64]);
                (0..len * size).map(|_| random.below(most) as u8).collect()
            };
            let (one, other) = (bytes(len, &mut random), bytes(len, &mut random));
            let reach = (len - 1) * apart_by.unsigned_abs() * size + size;
            let (one_at, other_at) = (plain.place(len * size, at_end), apart.place(reach, at_end));
            let to = output.place(len * size, at_end);
            let stride = apart_by * size as isize;
            let first = if stride < 0 { other_at.wrapping_add(reach - size) } else { other_at };
            // SAFETY: both places have room for what is put there.
            unsafe {
                one_at.copy_from_nonoverlapping(one.as_ptr(), one.len());
                for (number, element) in other.chunks_exact(size).enumerate() {
                    first.offset(stride * number as isize).copy_from_nonoverlapping(element.as_ptr(), size);
                }
            }
            let operand = |data, stride| Operand { data, strides: [stride].into_iter().collect(), swapped: false };
            let line = || [(len, size as isize)].into_iter();
            for (way, swapped) in ways().flat_map(|way| [false, true].map(move |swapped| (way, swapped))) {
                let mut pair = [operand(one_at.cast_const(), size as isize), operand(first.cast_const(), stride)];
                let mut copies = [&one, &other].map(|bytes| operand(bytes.as_ptr(), size as isize));
                if swapped {
                    pair.reverse();
                    copies.reverse();
                }
                let mut expected = vec![0; len * size];
                // SAFETY: the operands have `len` elements each, and so has the output; what else is read is found out.
                let found = unsafe {
                    extremum(&copies, element, extreme, line(), expected.as_mut_ptr());
                    extremum(&pair, element, extreme, line(), to);
                    std::slice::from_raw_parts(to, len * size)
                };
                assert_eq!(found, expected, "{way:?} {element:?} {extreme:?} {len} {apart_by} {swapped}");
            }
        }
    }
}
