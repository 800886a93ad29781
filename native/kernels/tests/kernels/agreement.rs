//! The core operations against loops that can be checked by eye, over random shapes, strides and ties.

use crate::loops::{ELEMENTS, Random, cases, naive, settings, ways};
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::{ElementType, IndexType, Input, argreduce, onehot};

/// A random array of up to three dimensions, as its lengths and the strides of a random order of axes.
fn shape(random: &mut Random) -> (Vec<usize>, Vec<isize>) {
    let rank = 1 + random.below(3);
    let lengths: Vec<usize> = (0..rank).map(|_| [1, 2, 3, 7, 16, 33, 70, 130][random.below(8)]).collect();
    let mut order: Vec<usize> = (0..rank).collect();
    order.rotate_left(random.below(rank));
    let mut strides = vec![0; rank];
    let mut step = 1;
    for axis in order {
        strides[axis] = step;
        step *= lengths[axis] as isize;
    }
    (lengths, strides)
}

/// All positions of a shape in row-major order.
fn positions(lengths: &[usize]) -> Vec<Vec<usize>> {
    lengths.iter().fold(vec![vec![]], |all, &len| {
        all.iter().flat_map(|head| (0..len).map(move |at| [&head[..], &[at]].concat())).collect()
    })
}

fn at(position: &[usize], strides: &[isize]) -> usize {
    position.iter().zip(strides).map(|(&at, &stride)| at as isize * stride).sum::<isize>() as usize
}

#[test]
fn reductions_agree_with_a_loop() {
    let _settings = settings();
    let mut random = Random(1);
    for _ in 0..cases(400, 3) {
        let (lengths, strides) = shape(&mut random);
        let mut data: Vec<f32> = (0..lengths.iter().product()).map(|_| random.float()).collect();
        if random.below(2) == 0 {
            // What notices the NaN of one sign must not be needed for those of the other.
            let sign = [1.0, -1.0][random.below(2)];
            data.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = value.copysign(sign));
        }
        let reduced: Vec<bool> = lengths.iter().map(|_| random.below(2) == 0).collect();
        let (largest, last) = (random.below(2) == 0, random.below(2) == 0);

        let kept: Vec<usize> =
            lengths.iter().zip(&reduced).map(|(&len, &reduced)| if reduced { 1 } else { len }).collect();
        let block: Vec<usize> =
            lengths.iter().zip(&reduced).map(|(&len, &reduced)| if reduced { len } else { 1 }).collect();
        let inside = positions(&block);
        let expected: Vec<i64> = positions(&kept)
            .iter()
            .map(|outside| {
                let values: Vec<f32> =
                    inside.iter().map(|inside| data[at(outside, &strides) + at(inside, &strides)]).collect();
                naive(&values, largest, last) as i64
            })
            .collect();

        let mut step = 8;
        let mut out = vec![0isize; lengths.len()];
        for axis in (0..lengths.len()).rev() {
            out[axis] = step;
            step *= kept[axis] as isize;
        }
        // All of these values are bfloat16 too.
        let bits: Vec<u16> = data.iter().map(|value| (value.to_bits() >> 16) as u16).collect();
        for (data, element) in
            [(data.as_ptr().cast::<u8>(), ElementType::Float32), (bits.as_ptr().cast(), ElementType::BFloat16)]
        {
            let size = element.size() as isize;
            let axes =
                (0..lengths.len()).rev().map(|axis| (lengths[axis], size * strides[axis], out[axis], reduced[axis]));
            let input = Input { data, element, swapped: false, largest, last, numbers: false };
            for way in ways() {
                let mut found = vec![-1i64; expected.len()];
                // SAFETY: the axes describe the data, and `found` has one index for each kept position.
                unsafe { argreduce(input, axes.clone(), found.as_mut_ptr().cast(), IndexType::Int64) };
                assert_eq!(found, expected, "{way:?} {element:?} {lengths:?} {strides:?} {reduced:?} {largest} {last}");
            }
        }
    }
}

/// Rows are short enough to be transposed into columns, or compared in batches, or read one by one: the instruction
/// sets draw the lines in different places.
#[test]
fn instruction_sets_agree_on_rows_of_every_length() {
    let _settings = settings();
    let mut random = Random(3);
    for element in ELEMENTS {
        let size = element.size();
        for len in (2..6).chain(1..70).chain((70..1100).step_by(53)).step_by(cases(1, 60)) {
            // Two blocks of rows, which meet where their axis is reduced too; one NaN in 3000 bytes or so.
            let (blocks, rows, pitch) = (2, cases(37, 9), len + 3 * random.below(2));
            let top = |random: &mut Random| match random.below(6000) {
                0 => [0xff, 0x7f][random.below(2)],
                _ => [0, 0x80, 0x3f, 0xbf, 0x40][random.below(5)],
            };
            let mut data: Vec<u8> = (0..blocks * rows * pitch * size)
                .map(|at| if at % size == size - 1 { top(&mut random) } else { [0, 0x80, 0xc0][random.below(3)] })
                .collect();
            // Some rows hold one value throughout: the least and the largest of each type and the infinities are among
            // them, which lanes that a row does not fill must not be taken for.
            for row in data.chunks_exact_mut(pitch * size).step_by(5) {
                let (low, top) =
                    [(0, 0), (0, 0x80), (0xff, 0x7f), (0xff, 0xff), (0, 0xfc), (0x80, 0xff)][random.below(6)];
                for (at, byte) in row.iter_mut().enumerate() {
                    *byte = if at % size == size - 1 { top } else { low };
                }
            }
            let row = (pitch * size) as isize;
            for (largest, last, both) in
                [(true, false, false), (false, true, true), (true, true, false), (false, false, true)]
                    .into_iter()
                    .take(cases(4, 2))
            {
                let input = Input { data: data.as_ptr(), element, swapped: false, largest, last, numbers: false };
                let axes = [
                    (blocks, row * rows as isize, 8 * rows as isize, both),
                    (rows, row, 8, false),
                    (len, size as isize, 0, true),
                ];
                let find = || {
                    let mut found = vec![-1i64; blocks * rows];
                    // SAFETY: the axes describe `data`, and there is an index for every kept position.
                    unsafe { argreduce(input, axes.into_iter().rev(), found.as_mut_ptr().cast(), IndexType::Int64) };
                    found
                };
                assert!(InstructionSet::Baseline.force());
                let expected = find();
                for way in ways() {
                    assert_eq!(find(), expected, "{way:?} {element:?} {len} {largest} {last} {both}");
                }
            }
        }
    }
}

/// Long blocks of 16-bit floats are swept by their bits.
#[test]
fn long_rows_of_bfloat16_agree_with_a_loop() {
    let _settings = settings();
    let mut random = Random(4);
    for round in 0..cases(300, 1) {
        let len = [2048, 3001, 9000, 40000][random.below(cases(4, 2))];
        // All signs, none, or all but none; NaN of either sign or not at all; magnitudes of few values.
        let signs = random.below(3);
        let mut bits: Vec<u16> = (0..len)
            .map(|_| {
                let magnitude = [0, 1, 0x3f80, 0x4000, 0x7f80][random.below(3 + 2 * (round % 2))];
                magnitude | [[0, 0], [0x8000, 0x8000], [0, 0x8000]][signs][random.below(2)]
            })
            .collect();
        for _ in 0..random.below(3) {
            let place = random.below(len);
            bits[place] = [0x7f81, 0xff81, 0x7fff, 0xffff, 0x4001, 0xc001][random.below(6)];
        }
        let values: Vec<f32> = bits.iter().map(|&bits| f32::from_bits((bits as u32) << 16)).collect();
        for (largest, last) in [(true, false), (true, true), (false, false), (false, true)] {
            let input = Input {
                data: bits.as_ptr().cast(),
                element: ElementType::BFloat16,
                swapped: false,
                largest,
                last,
                numbers: false,
            };
            for way in ways() {
                let mut found = -1i64;
                // SAFETY: the axis describes `bits`; there is one index.
                unsafe { argreduce(input, [(len, 2, 0, true)].into_iter(), (&raw mut found).cast(), IndexType::Int64) };
                assert_eq!(found as usize, naive(&values, largest, last), "{way:?} {len} {signs} {largest} {last}");
            }
        }
    }
}

#[test]
fn one_hot_marks_the_first_maximum_of_each_row() {
    let _settings = settings();
    let mut random = Random(2);
    for len in [1, 2, 5, 16, 64, 100, 1000].into_iter().take(cases(7, 4)) {
        let data: Vec<f32> = (0..7 * len).map(|_| random.float()).collect();
        // What lies behind the output is not touched.
        let mut hot = vec![9f32; 7 * len + 20];
        let (row, size) = (4 * len as isize, 4);
        let axes = [(7, row, row, false), (len, size, size, true)];
        // SAFETY: the axes describe both arrays.
        unsafe {
            onehot(data.as_ptr().cast(), ElementType::Float32, false, axes.into_iter().rev(), hot.as_mut_ptr().cast());
        }
        assert!(hot[7 * len..].iter().all(|&behind| behind == 9.0));
        for (values, hot) in data.chunks(len).zip(hot.chunks(len)) {
            let expected: Vec<f32> = (0..len).map(|at| (at == naive(values, true, false)) as u8 as f32).collect();
            assert_eq!(hot, expected);
        }
    }
}
