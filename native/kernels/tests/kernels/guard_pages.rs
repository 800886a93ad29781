//! Arrays whose first or last byte lies at an unmapped page: reading or writing one byte too many ends the process.
//!
//! Unix only, for `mmap`. Elsewhere the same kernels run, and what they may read does not depend on the system.

use crate::fenced::{Fenced, MOST};
use crate::layout::Layout;
use crate::loops::{ELEMENTS, Random, naive, settings, ways};
use crate::values::{self, Value, value};

use extremum_kernels::{ElementType, Extreme, IndexType, Input, Operand, argreduce, extremum, onehot};

/// Random elements at the edge of the memory.
struct Array<'a> {
    layout: Layout,
    element: ElementType,
    swapped: bool,
    first: *const u8,
    memory: &'a Fenced,
}

impl<'a> Array<'a> {
    fn new(
        random: &mut Random,
        memory: &'a Fenced,
        layout: Layout,
        (element, swapped): (ElementType, bool),
        at_end: bool,
    ) -> Self {
        let (before, bytes) = layout.extent(element.size());
        let from = memory.place(bytes, at_end);
        let mut contents = values::bytes(random, bytes, element.size());
        if swapped {
            contents.chunks_exact_mut(element.size()).for_each(<[u8]>::reverse);
        }
        // SAFETY: the place has room for them.
        unsafe { from.copy_from_nonoverlapping(contents.as_ptr(), bytes) };
        Self { layout, element, swapped, first: from.wrapping_add(before), memory }
    }

    fn value(&self, offset: isize) -> Value {
        let mut bytes = vec![0; self.element.size()];
        // SAFETY: the offset leads to an element.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(self.first.offset(offset), bytes.len()) };
        if self.swapped {
            bytes.reverse();
        }
        value(self.element, &bytes)
    }

    /// Where the extremum lies in each slice.
    fn places(&self, reduced: &[bool], largest: bool, last: bool) -> Vec<usize> {
        let inside = self.layout.part(reduced, true).offsets();
        let outside = self.layout.part(reduced, false).offsets();
        let slice = |at: &isize| inside.iter().map(|inside| self.value(at + inside)).collect::<Vec<_>>();
        outside.iter().map(|at| naive(&slice(at), largest, last)).collect()
    }

    /// The axes as the kernels take them, with the strides of an output.
    fn axes(&self, out: &[isize], reduced: &[bool]) -> Vec<(usize, isize, isize, bool)> {
        let Layout { lens, strides } = &self.layout;
        (0..lens.len()).rev().map(|axis| (lens[axis], strides[axis], out[axis], reduced[axis])).collect()
    }

    /// Holds both reductions equal to a loop.
    fn check(&self, output: &Fenced, reduced: &[bool], (largest, last): (bool, bool), index: IndexType) {
        let Self { element, swapped, .. } = *self;
        let lens = &self.layout.lens;
        let expected = self.places(reduced, largest, last);
        let input = Input { data: self.first, element, swapped, largest, last, numbers: false };
        let kept: Vec<usize> = lens.iter().zip(reduced).map(|(&len, &reduced)| if reduced { 1 } else { len }).collect();
        let places = Layout::packed(&kept, index.size());
        let to = output.place(expected.len() * index.size(), true);
        for way in ways() {
            // SAFETY: the axes lead to the elements and to the places; what else they lead to is found out.
            unsafe { argreduce(input, self.axes(&places.strides, reduced).into_iter(), to, index) };
            for (at, &expected) in expected.iter().enumerate() {
                // SAFETY: as many places were written.
                let found = unsafe {
                    match index.size() {
                        8 => to.cast::<u64>().add(at).read_unaligned() as usize,
                        _ => to.cast::<u32>().add(at).read_unaligned() as usize,
                    }
                };
                assert_eq!(found, expected, "{way:?} {element:?} {:?} {reduced:?} {largest} {last}", self.layout);
            }
        }
        if !largest || last {
            return;
        }
        let ones = Layout::packed(lens, element.size());
        let hot = output.place(lens.iter().product::<usize>() * element.size(), true);
        let (inside, outside) = (ones.part(reduced, true).offsets(), ones.part(reduced, false).offsets());
        for way in ways() {
            // SAFETY: as above.
            unsafe { onehot(self.first, element, swapped, self.axes(&ones.strides, reduced).into_iter(), hot) };
            for (outside, &expected) in outside.iter().zip(&expected) {
                for (at, inside) in inside.iter().enumerate() {
                    let mut found = vec![0; element.size()];
                    // SAFETY: an element of the output.
                    unsafe { found.as_mut_ptr().copy_from(hot.offset(outside + inside), found.len()) };
                    let found = value(element, &found);
                    let one = found == Value::Integer(1) || found == Value::Float(1.0);
                    let zero = found == Value::Integer(0) || found == Value::Float(0.0);
                    let right = if at == expected { one } else { zero };
                    assert!(right, "{way:?} {element:?} {:?} {reduced:?} {expected} {at}", self.layout);
                }
            }
        }
    }
}

/// Element types, and whether their bytes are swapped.
fn kinds() -> impl Iterator<Item = (ElementType, bool)> {
    ELEMENTS.into_iter().flat_map(|element| {
        let foreign: &[bool] = if element.size() > 1 { &[false, true] } else { &[false] };
        foreign.iter().map(move |&swapped| (element, swapped))
    })
}

fn lens(random: &mut Random) -> Vec<usize> {
    let mut left = 5000;
    let lens = (0..=random.below(3)).map(|_| {
        let len = random.pick(&[1, 2, 3, 5, 8, 9, 15, 16, 17, 18, 33, 40, 65, 130, 300]).min(left);
        left /= len;
        len
    });
    lens.collect()
}

#[test]
fn reductions_stay_inside_any_layout() {
    let _settings = settings();
    let (mut random, memory, output) = (Random(11), Fenced::new(), Fenced::new());
    for kind in kinds() {
        for _ in 0..120 {
            let lens = lens(&mut random);
            let layout = Layout::random(&mut random, &lens, kind.0.size());
            let reduced: Vec<bool> = lens.iter().map(|_| random.below(2) == 0).collect();
            let at_end = random.below(4) > 0;
            let wanted = (random.below(3) > 0, random.below(3) == 0);
            let index = random.pick(&[IndexType::Int64, IndexType::UInt32]);
            if layout.extent(kind.0.size()).1 <= MOST {
                Array::new(&mut random, &memory, layout, kind, at_end).check(&output, &reduced, wanted, index);
            }
        }
    }
}

/// Short rows are read in whole vectors, which end behind them.
#[test]
fn reductions_stay_inside_short_rows() {
    let _settings = settings();
    let (mut random, memory, output) = (Random(12), Fenced::new(), Fenced::new());
    for (element, swapped) in kinds() {
        let size = element.size() as isize;
        for len in (1..=18).chain([31, 33, 40, 66]) {
            let row = len as isize * size;
            for stride in [0, 1, size, row - size, row, row + 1, row + size, row + 5 * size] {
                for (transposed, at_end) in [(false, false), (false, true), (true, false), (true, true)] {
                    let rows = random.pick(&[2, 3, 8, 15, 16, 17, 18, 33]);
                    let stride = if random.below(4) == 0 { -stride } else { stride };
                    let mut layout = Layout { lens: vec![rows, len], strides: vec![stride, size] };
                    if transposed {
                        layout.lens.reverse();
                        layout.strides.reverse();
                    }
                    let wanted = (random.below(3) > 0, random.below(3) == 0);
                    let array = Array::new(&mut random, &memory, layout, (element, swapped), at_end);
                    let reduced = random.pick(&[[false, true], [false, true], [true, false], [true, true]]);
                    array.check(&output, &reduced, wanted, IndexType::Int64);
                }
            }
        }
    }
}

/// As many vectors as a row has, the last of them in part: what is read of rows ends where they do.
#[test]
fn reductions_stay_inside_rows_of_any_number_of_vectors() {
    let _settings = settings();
    let (mut random, memory, output) = (Random(15), Fenced::new(), Fenced::new());
    for element in ELEMENTS {
        let size = element.size();
        for vectors in (1..=9).chain([12, 33, 63]) {
            for len in [64 * vectors / size - 1, 64 * vectors / size, 64 * vectors / size + 1] {
                let layout = Layout { lens: vec![17, len], strides: vec![(len * size) as isize, size as isize] };
                let (last, at_end) = (random.below(2) == 0, random.below(4) > 0);
                let array = Array::new(&mut random, &memory, layout, (element, false), at_end);
                array.check(&output, &[false, true], (random.below(4) > 0, last), IndexType::Int64);
            }
        }
    }
}

/// Nothing says that what lies between two rows is readable.
#[test]
fn reductions_do_not_read_between_rows_that_are_far_apart() {
    let _settings = settings();
    let (mut random, memory, output) = (Random(13), Fenced::new(), Fenced::new());
    let rows = memory.bytes / memory.page / 2;
    assert!(rows >= 16 || memory.page > 4096);
    for element in ELEMENTS {
        let size = element.size();
        for len in (1..=18).chain([31, 33, 40, 66, 130]) {
            for reduced in [[false, true], [true, false], [true, true]] {
                let stride = 2 * memory.page as isize;
                // Every other page is there, and each row ends where its page does.
                let layout = Layout { lens: vec![rows, len], strides: vec![stride, size as isize] };
                let mut array = Array::new(&mut random, &memory, layout, (element, false), true);
                array.first = memory.place(memory.bytes, true).wrapping_add(memory.page - len * size);
                for row in 0..rows {
                    let contents = values::bytes(&mut random, len * size, size);
                    let to = array.first.cast_mut().wrapping_offset(stride * row as isize);
                    // SAFETY: a row of its own.
                    unsafe { to.copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
                    memory.deny((2 * row + 1) * memory.page, memory.page);
                }
                array.check(&output, &reduced, (true, random.below(2) == 0), IndexType::Int64);
                array.memory.allow(0, memory.bytes);
            }
        }
    }
}

#[test]
fn elementwise_work_stays_inside_any_layout() {
    let _settings = settings();
    let mut random = Random(14);
    let (memory, output) = ([(); 6].map(|()| Fenced::new()), Fenced::new());
    for (element, swapped) in kinds() {
        for _ in 0..80 {
            let lens = lens(&mut random);
            let (size, largest) = (element.size(), random.below(2) == 0);
            let mut arrays = Vec::new();
            for memory in &memory[..1 + random.below(memory.len())] {
                let layout = Layout::random(&mut random, &lens, size);
                if layout.extent(size).1 <= MOST {
                    let foreign = swapped && random.below(2) == 0;
                    let at_end = random.below(4) > 0;
                    arrays.push(Array::new(&mut random, memory, layout, (element, foreign), at_end));
                }
            }
            if arrays.is_empty() {
                continue;
            }
            let mut out = Layout::packed(&lens, size);
            if random.below(2) == 0 {
                let backwards: Vec<usize> = lens.iter().rev().copied().collect();
                out.strides = Layout::packed(&backwards, size).strides.into_iter().rev().collect();
            }
            out.strides.iter_mut().for_each(|stride| *stride *= random.pick(&[1, 1, -1]));
            let (before, bytes) = out.extent(size);
            let to = output.place(bytes, random.below(4) > 0).wrapping_add(before);
            let offsets: Vec<Vec<isize>> = arrays.iter().map(|array| array.layout.offsets()).collect();
            for way in ways() {
                let operand = |array: &Array| Operand {
                    data: array.first,
                    strides: array.layout.strides.iter().rev().copied().collect(),
                    swapped: array.swapped,
                };
                let operands: Vec<Operand> = arrays.iter().map(operand).collect();
                let axes = (0..lens.len()).rev().map(|axis| (lens[axis], out.strides[axis]));
                // SAFETY: the axes lead to the elements; what else they lead to is found out.
                unsafe { extremum(&operands, element, Extreme::new(largest, false), axes, to) };
                for (at, &offset) in out.offsets().iter().enumerate() {
                    let values: Vec<Value> =
                        arrays.iter().zip(&offsets).map(|(array, offsets)| array.value(offsets[at])).collect();
                    let expected = values[naive(&values, largest, false)];
                    let mut found = vec![0; size];
                    // SAFETY: an element of the output.
                    unsafe { found.as_mut_ptr().copy_from(to.offset(offset), size) };
                    let found = value(element, &found);
                    let both_nan = expected != expected && found != found;
                    let layouts: Vec<_> = arrays.iter().map(|array| &array.layout).collect();
                    assert!(found == expected || both_nan, "{way:?} {element:?} {layouts:?} {out:?} {largest}");
                }
            }
        }
    }
}
