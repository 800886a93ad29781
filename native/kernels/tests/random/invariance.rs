//! What must not depend on the way that a call takes: which NaN is passed on, how the host treats denormal floats.

use crate::{settings, ways};
use extremum_kernels::{ElementType, Extreme, Operand, extremum};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use {
    crate::Random,
    extremum_kernels::{IndexType, Input, argreduce, threads},
};

/// Any NaN will do, but the same one whatever the way: results do not change with the processor or with `small`.
#[test]
fn all_ways_pass_on_the_same_nan() {
    let _settings = settings();
    let nan = |payload: u32| f32::from_bits(0x7fc0_0000 | payload);
    let (many, one) = ([nan(1), nan(2), 3.0], nan(4));
    let mut found = Vec::new();
    for way in ways() {
        for scalar_first in [false, true] {
            let operand = |data: *const f32, stride| Operand {
                data: data.cast(),
                strides: [stride].into_iter().collect(),
                swapped: false,
            };
            let mut operands = [operand(many.as_ptr(), 4), operand(&raw const one, 0)];
            if scalar_first {
                operands.reverse();
            }
            let mut result = [0f32; 3];
            let to = result.as_mut_ptr().cast();
            // SAFETY: three elements, one that is broadcast, and room for three.
            unsafe {
                extremum(
                    &operands,
                    ElementType::Float32,
                    Extreme { largest: true, omit: false },
                    [(3, 4)].into_iter(),
                    to,
                )
            };
            found.push((way, result.map(f32::to_bits)));
        }
    }
    for (way, bits) in &found {
        assert_eq!(bits, &found[0].1, "{way:?}");
    }
}

/// Hosts may have denormal floats taken for zeros (onnxruntime's `session.set_denormal_as_zero`). Then they tie with zeros;
/// places stay inside the row all the same.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn places_stay_inside_the_row_where_denormals_are_zeros() {
    let _settings = settings();
    // A thread that starts here would keep the control word for the other tests.
    threads::set_limit(1);
    let (mut usual, mut flushed) = (0u32, 0u32);
    // SAFETY: the control word is stored, and set with two more of its flags.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut usual) };
    flushed |= usual | 1 << 6 | 1 << 15;
    let mut random = Random(5);
    for len in [5, 70, 300, 1000, 3000, 50_000] {
        let rows = 20;
        let tiny = f32::from_bits(7);
        // Few zeros and denormals: a stretch with a zero ties with one with a denormal far behind.
        let data: Vec<f32> = (0..rows * len).map(|_| [tiny, -tiny, 0.0, -1.0][random.below(700).min(3)]).collect();
        let axes = [(rows, 4 * len as isize, 8, false), (len, 4, 0, true)];
        for (largest, last) in [(true, false), (true, true), (false, false), (false, true)] {
            let (data_start, element) = (data.as_ptr().cast(), ElementType::Float32);
            let input = Input { data: data_start, element, swapped: false, largest, last, numbers: false };
            for way in ways() {
                let mut found = vec![-1i64; rows];
                // SAFETY: the axes describe `data`; there is an index for each row; the control word is put back.
                unsafe {
                    std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const flushed);
                    argreduce(input, axes.into_iter().rev(), found.as_mut_ptr().cast(), IndexType::Int64);
                    std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const usual);
                }
                for (row, place) in found.into_iter().enumerate() {
                    let values: Vec<i32> = data[row * len..][..len].iter().map(|&value| value.round() as i32).collect();
                    let best = if largest { values.iter().max() } else { values.iter().min() };
                    assert_eq!(values.get(place as usize), best, "{way:?} {len} {largest} {last} {place}");
                }
            }
        }
    }
}
