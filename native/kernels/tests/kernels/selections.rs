//! Values and places at one or both ends, under masks, of rows and columns whose lengths lie around those of vectors, at times
//! with gaps between their elements, in memory that ends (or begins) where nobody may read.

use crate::fenced::{Fenced, MOST};
use crate::loops::{ELEMENTS, Random, naive, settings, ways};
use crate::values::{self, Value, value};
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};
use std::ptr;

const ROWS: [usize; 9] = [1, 2, 3, 7, 15, 16, 17, 33, 70];
const LENGTHS: [usize; 26] =
    [1, 2, 3, 4, 5, 6, 8, 10, 15, 16, 17, 21, 31, 32, 33, 40, 63, 64, 65, 100, 127, 128, 130, 257, 1030, 5000];

/// What takes part in a table, and what is asked of it.
struct Draw {
    element: ElementType,
    rows: usize,
    len: usize,
    /// From one element to the next, in elements.
    step: usize,
    down: bool,
    last: bool,
    omit: Omit,
    mask: Option<Vec<u8>>,
}

impl Draw {
    fn new(random: &mut Random, element: ElementType) -> Self {
        let (rows, len) = (random.pick(&ROWS), random.pick(&LENGTHS));
        let rows = if rows * len > 8192 { 2 } else { rows };
        let (rows, len) = if random.below(4) == 0 { (len, rows) } else { (rows, len) };
        let share = random.pick(&[0, 1, 5, 9, 10]);
        // (Any byte but 0 is true.)
        let mut mask: Vec<u8> = (0..rows * len)
            .map(|_| if random.below(10) < share { random.pick(&[1, 1, 2, 0x80, 0xff]) } else { 0 })
            .collect();
        mask.chunks_exact_mut(len).filter(|_| random.below(5) == 0).for_each(|row| row.fill(0));
        let floats = [ElementType::Float16, ElementType::BFloat16, ElementType::Float32, ElementType::Float64];
        let omit = if floats.contains(&element) { random.pick(&[Omit::Nothing, Omit::Nan]) } else { Omit::Nothing };
        let (down, last) = (random.below(2) == 0, random.below(2) == 0);
        let step = random.pick(&[1, 1, 1, 2, 3, 4, 5]).min(MOST / (rows * len * element.size()));
        Self { element, rows, len, step, down, last, omit, mask: (random.below(3) > 0).then_some(mask) }
    }

    /// The elements of each slice, as numbers in the table.
    fn slices(&self) -> Vec<Vec<usize>> {
        let Self { rows, len, .. } = *self;
        match self.down {
            true => (0..len).map(|column| (0..rows).map(|row| row * len + column).collect()).collect(),
            false => (0..rows).map(|row| (row * len..(row + 1) * len).collect()).collect(),
        }
    }

    /// The place of each slice's extremum, and its number in the table.
    fn best(&self, contents: &[u8], largest: bool) -> Vec<Option<(usize, usize)>> {
        let size = self.element.size();
        let read = |number: usize| value(self.element, &contents[number * self.step * size..][..size]);
        let nan = |value: Value| matches!(value, Value::Float(float) if float.is_nan());
        let takes_part = |number: usize| {
            self.mask.as_ref().is_none_or(|mask| mask[number] != 0) && !(self.omit == Omit::Nan && nan(read(number)))
        };
        let found = |slice: &Vec<usize>| {
            let all: Vec<(usize, usize)> =
                slice.iter().copied().enumerate().filter(|&(_, at)| takes_part(at)).collect();
            let values: Vec<Value> = all.iter().map(|&(_, number)| read(number)).collect();
            (!all.is_empty()).then(|| all[naive(&values, largest, self.last)])
        };
        self.slices().iter().map(found).collect()
    }
}

#[test]
fn selections_agree_with_a_loop_and_touch_nothing_else() {
    let _settings = settings();
    let mut random = Random(11);
    let (memory, mask_memory) = (Fenced::new(), Fenced::new());
    for _ in 0..400 {
        for element in ELEMENTS {
            let draw = Draw::new(&mut random, element);
            let size = element.size();
            let mut contents = values::bytes(&mut random, ((draw.rows * draw.len - 1) * draw.step + 1) * size, size);
            if element == ElementType::Bool && random.below(3) > 0 {
                // As NumPy writes them.
                contents.iter_mut().for_each(|byte| *byte = (*byte != 0).into());
            }
            let at_end = random.below(2) == 0;
            let data = memory.place(contents.len(), at_end);
            // SAFETY: the place has room for them.
            unsafe { data.copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
            let mask = draw.mask.as_ref().map_or(ptr::null_mut(), |mask| {
                let to = mask_memory.place(mask.len(), at_end);
                // SAFETY: as above.
                unsafe { to.copy_from_nonoverlapping(mask.as_ptr(), mask.len()) };
                to
            });
            let ends: &[bool] = random.pick(&[&[true], &[false], &[false, true], &[true, false]]);
            let wanted = random.pick(&[(true, true), (true, false), (false, true)]);
            check(&draw, &contents, (data, mask), ends, wanted, &mut random);
        }
    }
}

/// Holds what is found every way there is equal to a loop.
fn check(
    draw: &Draw,
    contents: &[u8],
    (data, mask): (*const u8, *const u8),
    ends: &[bool],
    (values, indices): (bool, bool),
    random: &mut Random,
) {
    let &Draw { element, rows, len, step, down, last, omit, .. } = draw;
    let size = element.size();
    let expected: Vec<_> = ends.iter().map(|&largest| draw.best(contents, largest)).collect();
    let results = expected[0].len();
    let index = random.pick(&[IndexType::Int64, IndexType::Int32, IndexType::Int16, IndexType::Int8]);
    let index = if len.max(rows) as u64 > index.max() { IndexType::Int64 } else { index };
    // One byte in, so that nothing is aligned.
    let shift = random.below(2);
    for way in ways() {
        let mut found: Vec<_> = ends
            .iter()
            .map(|_| (vec![0u8; results * size + shift], vec![0u8; results * index.size() + shift]))
            .collect();
        let part = |bytes: &mut Vec<u8>, wanted: bool| match wanted {
            true => bytes.as_mut_ptr().wrapping_add(shift),
            false => ptr::null_mut(),
        };
        let targets: Vec<Target> = ends
            .iter()
            .zip(&mut found)
            .map(|(&largest, (bytes, places))| Target {
                largest,
                values: part(bytes, values),
                indices: part(places, indices),
                index,
            })
            .collect();
        let selection = Selection { data, element, swapped: false, last, mask, omit };
        let dimensions = [
            Dimension { len, stride: (step * size) as isize, mask: 1, reduced: !down },
            Dimension { len: rows, stride: (len * step * size) as isize, mask: len as isize, reduced: down },
        ];
        // SAFETY: the dimensions describe the table and its mask, and there is room for the results.
        let lacking = unsafe { select(selection, dimensions.into_iter(), &targets) };
        let at = format!(
            "{way:?} {element:?} {rows}x{len} step {step} down {down} last {last} {omit:?} mask {}",
            !mask.is_null()
        );
        assert_eq!(lacking, expected[0].iter().filter(|best| best.is_none()).count(), "{at}");
        for ((bytes, places), expected) in found.iter().zip(&expected) {
            for (number, best) in expected.iter().enumerate() {
                if indices {
                    let place = best.map_or(-1, |(place, _)| place as i64).to_ne_bytes();
                    let low = if cfg!(target_endian = "little") { 0 } else { 8 - index.size() };
                    let place = &place[low..][..index.size()];
                    assert_eq!(&places[shift + number * index.size()..][..index.size()], place, "{at}, {number}");
                }
                if let Some((_, from)) = best.filter(|_| values) {
                    let element = &contents[from * step * size..][..size];
                    assert_eq!(&bytes[shift + number * size..][..size], element, "{at}, {number}");
                }
            }
        }
    }
}
