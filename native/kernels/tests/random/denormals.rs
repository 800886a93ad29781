//! Hosts may make processors treat denormal floats as zeros (onnxruntime's `session.set_denormal_as_zero`). Then denormals tie
//! with zeros, but places stay inside the row.

use crate::{Random, settings};
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::{ElementType, IndexType, Input, Omit, argreduce, set_small_limit, threads};
use std::arch::asm;
use std::ptr;

#[test]
fn places_stay_inside_the_row_where_denormals_are_zeros() {
    let _settings = settings();
    // A thread that starts here would keep the control word for the other tests.
    threads::set_limit(1);
    set_small_limit(0);
    let mut usual = 0u32;
    // SAFETY: the control word is stored.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut usual) };
    let flush = usual | 1 << 6 | 1 << 15;
    let mut random = Random(5);
    for len in [5, 70, 300, 1000, 3000, 50_000] {
        let rows = 20;
        let tiny = f32::from_bits(7);
        // Few zeros and denormals: a stretch with a zero ties with a stretch far behind it that has a denormal.
        let data: Vec<f32> = (0..rows * len).map(|_| [tiny, -tiny, 0.0, -1.0][random.below(700).min(3)]).collect();
        let axes = [(len, 4, 0, true), (rows, 4 * len as isize, 8, false)];
        for (largest, last) in [(true, false), (true, true), (false, false), (false, true)] {
            let element = ElementType::Float32;
            let data_start = data.as_ptr().cast();
            let omit = Omit::Nothing;
            let mask = ptr::null();
            let input = Input { data: data_start, element, swapped: false, largest, last, omit, mask };
            for set in InstructionSet::ALL.into_iter().filter(|set| set.force()) {
                let mut places = vec![-1i64; rows];
                // SAFETY: the axes describe `data`; there is an index for each row; two more flags of the control word are set,
                // and it is put back.
                unsafe {
                    asm!("ldmxcsr [{}]", in(reg) &raw const flush);
                    argreduce(input, axes.into_iter(), places.as_mut_ptr().cast(), IndexType::Int64);
                    asm!("ldmxcsr [{}]", in(reg) &raw const usual);
                }
                for (row, place) in data.chunks_exact(len).zip(places) {
                    let values: Vec<i32> = row.iter().map(|&value| value.round() as i32).collect();
                    let best = if largest { values.iter().max() } else { values.iter().min() };
                    assert_eq!(values.get(place as usize), best, "{set:?} {len} {largest} {last} {place}");
                }
            }
        }
    }
}
