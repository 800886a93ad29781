//! One call: its random inputs, and the result that is expected.

use crate::key::{ELEMENTS, Key, NAN, bytes_of, key, landmarks};
use crate::memory::{Bytes, Memory, strides_without_gaps};
use crate::{Random, Scope};
use extremum_kernels::isa::InstructionSet;
use extremum_kernels::{
    ElementType, Extreme, IndexType, Input, Omit, Operand, Target, TopK, argreduce, extremum, onehot, select,
    set_small_limit, threads, top_k,
};
use std::{ptr, slice};

/// What the operations have in common.
#[derive(Debug)]
pub struct Case {
    operation: Operation,
    element: ElementType,
    swapped: bool,
    largest: bool,
    last: bool,
    lens: Vec<usize>,
    reduced: Vec<bool>,
    set: InstructionSet,
    small: usize,
    threads: usize,
    grain_size: usize,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    ArgReduce(IndexType),
    OneHot,
    Select,
    TopK,
    Extremum,
}

/// The integers among the elements.
const INDEX_TYPES: &[IndexType] = ELEMENTS.split_at(1).1.split_at(8).0;

impl Case {
    pub fn new(random: &mut Random) -> Self {
        let index = random.pick(INDEX_TYPES);
        let operation = random.pick(&[
            Operation::ArgReduce(index),
            Operation::ArgReduce(IndexType::Int64),
            Operation::OneHot,
            Operation::Select,
            Operation::TopK,
            Operation::Extremum,
        ]);
        let (lens, favourite) = shape(random);
        // An empty block has no extremum: callers refuse it.
        let has_answer = |len: usize| len > 0 || !matches!(operation, Operation::ArgReduce(_));
        let reduced = match random.one_in(3) {
            true => lens.iter().map(|&len| random.one_in(2) && has_answer(len)).collect(),
            false => lens.iter().zip(favourite).map(|(&len, reduced)| reduced && has_answer(len)).collect(),
        };
        let sets: Vec<_> = InstructionSet::ALL.into_iter().filter(|set| set.is_available()).collect();
        Self {
            operation,
            element: random.pick(&ELEMENTS),
            swapped: random.one_in(6),
            largest: random.one_in(2),
            last: random.one_in(2),
            lens,
            reduced,
            set: random.pick(&sets),
            small: random.pick(&[0, usize::MAX]),
            threads: 1 + random.below(if cfg!(miri) { 2 } else { 4 }),
            grain_size: random.pick(&[64, 1024, 1 << 30, 1 << 30, 1 << 30, 1 << 30]),
        }
    }

    pub fn run(&self, random: &mut Random) {
        assert!(self.set.force());
        set_small_limit(self.small);
        threads::set_limit(self.threads);
        threads::set_grain_size(self.grain_size);
        let mut call = || match self.operation {
            Operation::ArgReduce(index) => self.reduce(random, Some(index)),
            Operation::OneHot => self.reduce(random, None),
            Operation::Select => self.select(random),
            Operation::TopK => self.top_k(random),
            Operation::Extremum => self.extremum(random),
        };
        if cfg!(miri) { threads::within(&Scope, call) } else { call() }
    }

    /// Writes indices of a type, or the one-hot array.
    fn reduce(&self, random: &mut Random, index: Option<IndexType>) {
        let Self { element, swapped, largest, last, ref lens, ref reduced, .. } = *self;
        let index = index.map(|index| self.fit(index));
        let kept = kept_lens(lens, reduced);
        let (form, size) = index.map_or((lens, element.size()), |index| (&kept, index.size()));
        // `onehot` always takes the largest and the first.
        let which = if index.is_some() { (largest, last) } else { (true, false) };
        let input = self.input(random, lens);
        let mut output = new_output(random, form, size);
        let mut expected = output.bytes.to_vec();
        for (slice, results) in input.slices(lens, reduced).iter().zip(output.slices(form, reduced)) {
            results.iter().for_each(|&at| expected[at..][..size].fill(0));
            let Some(place) = self.best(&input, slice, which, |_, _| true) else { continue };
            let (at, bits) = if index.is_some() { (0, place as u64) } else { (place, landmarks(element).1) };
            expected[results[at]..][..size].copy_from_slice(&bytes_of(bits, size));
        }
        let axis = |axis| (self.lens[axis], input.strides[axis], output.strides[axis], self.reduced[axis]);
        let axes: Vec<_> = (0..self.lens.len()).rev().map(axis).collect();
        let axes = axes.into_iter();
        let to = output.data_mut();
        let omit = Omit::Nothing;
        let mask = ptr::null();
        let view = Input { data: input.data(), element, swapped, largest, last, omit, mask };
        input.deny_gaps(&self.lens);
        // SAFETY: the axes describe both arrays; lengths are small, and no block is empty where its index is wanted.
        unsafe {
            match index {
                Some(index) => argreduce(view, axes, to, index),
                None => onehot(view.data, element, swapped, axes, to),
            }
        }
        input.bytes.allow();
        judge(slice::from_ref(&input), &output, &expected);
    }

    /// Values and indices at one or both ends, with skipped elements.
    fn select(&self, random: &mut Random) {
        let Self { element, swapped, last, ref lens, ref reduced, .. } = *self;
        let input = self.input(random, lens);
        let slices = input.slices(lens, reduced);
        let mask = random.one_in(2).then(|| self.mask(random));
        let omit = match element {
            _ if element.is_float() => random.pick(&[Omit::Nothing, Omit::Nan]),
            ElementType::Int64 => random.pick(&[Omit::Nothing, Omit::NotATime]),
            _ => Omit::Nothing,
        };
        let index = self.fit(random.pick(&[IndexType::Int64, IndexType::Int32, IndexType::Int16, IndexType::Int8]));
        let sizes = [element.size(), index.size()];
        let ends: &[bool] = random.pick(&[&[true], &[false], &[true, false], &[false, true]]);
        // Values, indices, or both, in memory exactly as large as they are.
        let outputs = random.pick(&[[true, true], [true, false], [false, true]]);
        let only_empty = outputs == [true, true] && random.one_in(3);
        let room = |what: usize| Bytes::new(if outputs[what] { slices.len() * sizes[what] } else { 0 }, true);
        let mut results: Vec<[Bytes; 2]> = ends.iter().map(|_| [room(0), room(1)]).collect();
        let target = |results: &mut [Bytes; 2]| {
            let to = |what: usize| if outputs[what] { results[what].as_mut_ptr() } else { ptr::null_mut() };
            let [values, indices] = [0, 1].map(to);
            Target { values, indices, index, only_empty }
        };
        let targets: Vec<Target> = results.iter_mut().map(target).collect();
        // The results lie in any order of the kept axes.
        let kept = kept_lens(lens, reduced);
        let order = strides_without_gaps(random, &kept);
        let places = kept.iter().zip(&order).fold(vec![0], |all, (&len, &stride)| {
            all.into_iter().flat_map(|from| (0..len).map(move |at| from + at * stride as usize)).collect()
        });
        let data = mask.as_ref().map_or(ptr::null(), Memory::data);
        let view = Input { data: input.data(), element, swapped, largest: ends[0], last, omit, mask: data };
        let dimensions = (0..self.lens.len()).rev().map(|axis| {
            let mask = mask.as_ref().map_or(0, |mask| mask.strides[axis]);
            (self.lens[axis], input.strides[axis], mask, order[axis], self.reduced[axis])
        });
        input.deny_gaps(&self.lens);
        // SAFETY: the dimensions describe the input and its mask, and there is room for a result at each kept position.
        let empty_slices = unsafe { select(view, dimensions, &targets) };
        input.bytes.allow();
        assert!(!input.is_changed() && !mask.as_ref().is_some_and(Memory::is_changed), "an input has changed");
        let masks = mask.as_ref().map(|mask| (mask, mask.slices(lens, reduced)));
        for (&largest, [values, indices]) in ends.iter().zip(&results) {
            let mut none = 0;
            for (number, slice) in slices.iter().enumerate() {
                let takes_part = |place: usize, key: i128| {
                    let omits = match omit {
                        Omit::Nothing => false,
                        Omit::Nan => key == NAN,
                        Omit::NotATime => key.abs() == 1 << 63,
                    };
                    !omits && masks.as_ref().is_none_or(|(mask, slices)| mask.element(slices[number][place]) != [0])
                };
                let best = self.best(&input, slice, (largest, last), takes_part);
                none += usize::from(best.is_none());
                let place = best.map_or(u64::MAX, |place| place as u64);
                let at = format!("{omit:?}, mask {}, slice {number}, not {}", mask.is_some(), place as i64);
                let result = |bytes: &Bytes, size| bytes[places[number] * size..][..size].to_vec();
                let is_right = |index: Vec<u8>| match only_empty {
                    true => (index == bytes_of(u64::MAX, sizes[1])) == best.is_none(),
                    false => index == bytes_of(place, sizes[1]),
                };
                assert!(!outputs[1] || is_right(result(indices, sizes[1])), "index: {at}");
                if let Some(place) = best.filter(|_| outputs[0]) {
                    let value = as_result(element, input.in_order(slice[place], swapped));
                    assert!(result(values, sizes[0]) == value, "value: {at}");
                }
            }
            assert_eq!(none, empty_slices);
        }
    }

    /// A mask that skips some, all or no elements.
    fn mask(&self, random: &mut Random) -> Memory {
        let mut mask = Memory::new(random, &self.lens, 1, false);
        let share = random.pick(&[0, 1, 4, 7, 8]);
        mask.fill_by(|_| if random.below(8) < share { random.pick(&[1, 1, 2, 0x80, 0xff]) } else { 0 });
        mask
    }

    /// The best along one axis, along a block of neighbouring axes, or of all elements.
    fn top_k(&self, random: &mut Random) {
        let Self { element, swapped, largest, last: nan_first, ref lens, .. } = *self;
        let mut input = self.input(random, &self.lens);
        if element.is_float() && !lens.contains(&0) && random.one_in(3) {
            input.put_nan(random, element, lens, swapped);
        }
        let size = element.size();
        let rank = lens.len();
        let axis = self.reduced.iter().rposition(|&reduced| reduced).or(rank.checked_sub(1)).unwrap_or(0);
        let block = if random.one_in(6) { 0..rank } else { axis..rank.min(axis + random.pick(&[1, 1, 1, 2])) };
        let inside: Vec<bool> = (0..rank).map(|axis| block.contains(&axis)).collect();
        let slices = input.slices(lens, &inside);
        let len = lens[block.clone()].iter().product();
        let after = lens[block.end..].iter().product::<usize>();
        let k = random.pick(&[0, 1, 1, 2, 3, 5, 8, 16, 17, 40, len / 100, len / 9, len / 2, len]).min(len);
        let times = element == ElementType::Int64 && random.one_in(2);
        let sorted = !random.one_in(4);
        let [mut values, mut indices] = [size, 8].map(|size| Bytes::new(slices.len() * k * size, true));
        let mask = random.one_in(3).then(|| self.mask(random));
        let walk = (0..rank).rev().map(|axis| {
            let stride = mask.as_ref().map_or(0, |mask| mask.strides[axis]);
            (lens[axis], input.strides[axis], stride, inside[axis])
        });
        let data = input.data();
        let data_of_mask = mask.as_ref().map_or(ptr::null(), Memory::data);
        let view = TopK { data, element, swapped, largest, nan_first, times, k, sorted, mask: data_of_mask };
        input.deny_gaps(lens);
        // SAFETY: the dimensions describe the input, and there is room for the results.
        unsafe { top_k(view, walk, values.as_mut_ptr(), indices.as_mut_ptr().cast()) };
        input.bytes.allow();
        assert!(!input.is_changed(), "an input has changed");
        let masks = mask.as_ref().map(|mask| mask.slices(lens, &inside));
        for (number, slice) in slices.iter().enumerate() {
            let is_masked = |place: usize| {
                let (Some(mask), Some(masks)) = (&mask, &masks) else { return false };
                mask.element(masks[number][place])[0] == 0
            };
            let rank = |place: &usize| {
                let (key, _) = key(element, input.element(slice[*place]), swapped, largest);
                let is_nan = key == NAN || times && key.abs() == 1 << 63;
                let group = i128::from(is_nan) * if nan_first { -1 } else { 1 };
                (group, if is_nan { 0 } else { -key }, *place)
            };
            let mut best: Vec<usize> = (0..len).filter(|&place| !is_masked(place)).collect();
            best.sort_by_cached_key(rank);
            best.truncate(k);
            let first = number / after * after * k + number % after;
            let result = |bytes: &Bytes, nth, size| bytes[(first + nth * after) * size..][..size].to_vec();
            let mut ranking = Vec::new();
            for nth in 0..k {
                let place = u64::from_ne_bytes(result(&indices, nth, 8).try_into().expect("an index")) as usize;
                if nth >= best.len() {
                    assert_eq!(place, usize::MAX, "{k} of {len}, slice {number}: only {} take part", best.len());
                    continue;
                }
                // One element is found by a reduction, several are copied.
                let [value, there] = [result(&values, nth, size), input.in_order(slice[place], swapped)]
                    .map(|bytes| as_result(element, bytes));
                assert!(value == there, "{k}, slice {number}: {place}");
                ranking.push(place);
            }
            if !sorted {
                ranking.sort_by_cached_key(rank);
            }
            assert_eq!(ranking, best, "{k} of {len}, slice {number}, strides {:?}", input.strides);
        }
    }

    fn extremum(&self, random: &mut Random) {
        let size = self.element.size();
        let mut output = new_output(random, &self.lens, size);
        let count = random.pick(&[1, 2, 2, 2, 3, 5, 9]);
        let mut operand = |_| {
            let mut lens = self.lens.clone();
            lens.iter_mut().filter(|len| **len > 0).for_each(|len| *len = if random.one_in(5) { 1 } else { *len });
            let mut input = self.input(random, &lens);
            lens.iter().zip(&mut input.strides).for_each(|(&len, stride)| *stride *= isize::from(len != 1));
            input
        };
        let inputs: Vec<Memory> = (0..count).map(&mut operand).collect();
        let operand = |data, strides: &[isize], swapped| {
            let strides = strides.iter().rev().copied().collect();
            Operand { data, strides, swapped }
        };
        let mut operands: Vec<_> =
            inputs.iter().map(|input| operand(input.data(), &input.strides, self.swapped)).collect();
        let line = |input: &Memory, swapped| -> Vec<u8> {
            input.elements(&self.lens).into_iter().flat_map(|at| input.in_order(at, swapped)).collect()
        };
        let mut lines: Vec<Vec<u8>> = inputs.iter().map(|input| line(input, self.swapped)).collect();
        // At times the output is an operand too.
        let place = random.one_in(5).then(|| random.below(count));
        if let Some(place) = place {
            output.fill(random, self.element);
            lines.insert(place, line(&output, false));
        }
        let mut gaps = output.bytes.to_vec();
        let to = output.data_mut();
        if let Some(place) = place {
            operands.insert(place, operand(to, &output.strides, false));
        }
        let extreme = Extreme { largest: self.largest, omit: random.one_in(3) && self.element.is_float() };
        let axes: Vec<_> = self.lens.iter().copied().zip(output.strides.iter().copied()).rev().collect();
        // SAFETY: the axes describe all arrays; no operand overlaps the output except the output itself.
        unsafe { extremum(&operands, self.element, extreme, axes.into_iter(), to) };
        // It is unspecified which of several NaN wins, but without broadcasting it is the NaN that wins in contiguous operands.
        let operands: Vec<_> = lines.iter().map(|bytes| operand(bytes.as_ptr(), &[size as isize], false)).collect();
        let mut in_line = vec![0; lines[0].len()];
        let axis = [(in_line.len() / size, size as isize)].into_iter();
        // SAFETY: the axis describes all lines.
        unsafe { extremum(&operands, self.element, extreme, axis, in_line.as_mut_ptr()) };
        let repeats =
            |input: &Memory| self.lens.iter().zip(&input.strides).any(|(&len, &stride)| len > 1 && stride == 0);
        let broadcast = inputs.iter().any(repeats);
        let key = |bytes: &[u8]| key(self.element, bytes, false, self.largest);
        for ((number, at), in_line) in
            output.elements(&self.lens).into_iter().enumerate().zip(in_line.chunks_exact(size))
        {
            let keys: Vec<Key> = lines.iter().map(|line| key(&line[number * size..][..size])).collect();
            let numbers = keys.iter().filter(|key| extreme.omit && key.0 != NAN).max();
            assert_eq!(Some(&key(output.element(at))), numbers.or(keys.iter().max()), "at {at}");
            assert!(broadcast || output.element(at) == in_line, "at {at}: {in_line:?} in a line");
            gaps[at..][..size].copy_from_slice(&output.bytes[at..][..size]);
        }
        judge(&inputs, &output, &gaps);
    }

    fn input(&self, random: &mut Random, lens: &[usize]) -> Memory {
        let mut input = Memory::new(random, lens, self.element.size(), false);
        input.fill(random, self.element);
        input
    }

    /// An index type, or the widest one if it cannot hold the last index of a slice.
    fn fit(&self, index: IndexType) -> IndexType {
        let len: usize =
            self.lens.iter().zip(&self.reduced).map(|(&len, &reduced)| if reduced { len } else { 1 }).product();
        if len.saturating_sub(1) as u64 > index.max() { IndexType::Int64 } else { index }
    }

    /// The place of the extremum in a slice; None if no element takes part.
    fn best(
        &self,
        input: &Memory,
        slice: &[usize],
        (largest, last): (bool, bool),
        takes_part: impl Fn(usize, i128) -> bool,
    ) -> Option<usize> {
        let key = |&at: &usize| key(self.element, input.element(at), self.swapped, largest).0;
        let keys = slice.iter().map(key).enumerate().filter(|&(place, key)| takes_part(place, key));
        // Of equal keys, `max_by_key` takes the last.
        let best = if last { keys.max_by_key(|&(_, key)| key) } else { keys.rev().max_by_key(|&(_, key)| key) };
        best.map(|(place, _)| place)
    }
}

/// The bytes of an element as the result of a reduction has them: any byte but 0 is True, and becomes 1.
fn as_result(element: ElementType, mut bytes: Vec<u8>) -> Vec<u8> {
    if element == ElementType::Bool {
        bytes[0] = bytes[0].min(1);
    }
    bytes
}

/// The lengths of the axes of a result that keeps reduced axes with length 1.
fn kept_lens(lens: &[usize], reduced: &[bool]) -> Vec<usize> {
    lens.iter().zip(reduced).map(|(&len, &reduced)| if reduced { 1 } else { len }).collect()
}

/// Memory for an output, filled so that a write between its elements is detected.
fn new_output(random: &mut Random, lens: &[usize], size: usize) -> Memory {
    let mut output = Memory::new(random, lens, size, true);
    output.bytes.fill(0xa5);
    output
}

/// Checks that inputs are unchanged, and that the output is as expected: its elements and the gaps between them.
fn judge(inputs: &[Memory], output: &Memory, expected: &[u8]) {
    assert!(!inputs.iter().any(Memory::is_changed), "an input has changed");
    let wrong = output.bytes.iter().zip(expected).position(|(byte, expected)| byte != expected);
    let strides: Vec<_> = inputs.iter().chain([output]).map(|memory| &memory.strides).collect();
    assert!(wrong.is_none(), "byte {wrong:?} from {}, strides {strides:?}", output.first);
}

/// A shape, and the axes that its kernels reduce: any, rows, rows that may fill registers, blocks of a few columns, lines to transpose,
/// long rows of columns, one long row.
fn shape(random: &mut Random) -> (Vec<usize>, Vec<bool>) {
    let most = if cfg!(miri) { 140 } else { 20_000 };
    match random.below(11) {
        0..=2 => {
            let len = match random.below(4) {
                0 => random.pick(&[1000, 1023, 1024, 1025, 2049, 4095, 4096, 4200]),
                1 => 140 + random.below(460),
                _ => 1 + random.below(140),
            };
            let rows = random.pick(&[1, 2, 3, 4, 5, 8, 15, 16, 17, 18, 32, 33, 67, 131]).min(1 + most / len);
            let blocks = random.pick(&[1, 1, 1, 2]);
            (vec![blocks, rows, len], vec![random.one_in(4), random.one_in(6), true])
        }
        10 => {
            let len = random.pick(&[4, 8, 16, 32, 64, 128, 256]);
            let rows = random.pick(&[8, 16, 31, 32, 33, 48, 64, 100, 131]).min(1 + most / len);
            (vec![rows, len], vec![false, true])
        }
        3 => {
            let columns = random.pick(&[8, 8, 16, 16, 32, 64, 4, 24]);
            let rows = random.pick(&[2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 256]);
            let blocks = random.pick(&[1, 7, 8, 9, 16, 31, 64, 65, 130]).min(1 + most / rows / columns);
            (vec![blocks, rows, columns], vec![false, true, false])
        }
        4 if !cfg!(miri) && random.one_in(4) => {
            let columns = random.pick(&[1025, 1100, 2050, 3000, 4097, 8200, 8700, 17_000]);
            let rows = random.pick(&[2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 17]).min(1 + 2 * most / columns);
            (vec![random.pick(&[1, 1, 1, 2]), rows, columns], vec![false, true, false])
        }
        4 => {
            let len = |random: &mut Random| random.pick(&[3, 7, 31, 33, 64, 65, 100, 130, 259, 300, 530]);
            let rows = len(random);
            let len = len(random);
            (vec![random.pick(&[1, 1, 2, 5]).min(1 + most / rows / len), rows, len], vec![false, true, false])
        }
        5 if !cfg!(miri) && random.one_in(8) => {
            let rows = random.pick(&[1, 1, 4, 5]);
            (vec![rows, random.pick(&[9000, 20_000, 40_000, 114_688, 140_000])], vec![rows == 1, true])
        }
        _ => {
            let lens = lens(random);
            (lens.clone(), lens.iter().map(|_| random.one_in(2)).collect())
        }
    }
}

/// Lengths for rank 0 to 7, many of them around the blocks of kernels, and now and then 0.
fn lens(random: &mut Random) -> Vec<usize> {
    const LENGTHS: [usize; 28] =
        [1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 20, 31, 33, 40, 63, 65, 100, 127, 130, 257, 1000, 2050, 9000];
    let most = if cfg!(miri) { random.pick(&[4, 12, 35, 140]) } else { random.pick(&[8, 33, 300, 300, 3000, 20_000]) };
    let rank = random.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 7]);
    let mut lens = vec![1; rank];
    let mut left: usize = most;
    for _ in 0..rank {
        let len = random.pick(&LENGTHS).min(left);
        lens[random.below(rank)] = len;
        left = most / lens.iter().product::<usize>().max(1);
    }
    if rank > 0 && random.one_in(40) {
        lens[random.below(rank)] = 0;
    }
    lens
}
