//! Blocks of rows of a few columns, of which many are read together: numbers of rows, columns and blocks around those of
//! vectors, in memory that ends (or begins) where nobody may read.

use crate::fenced::{Fenced, MOST};
use crate::loops::{ELEMENTS, Random, naive, settings, ways};
use crate::values::{self, Value, value};
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};
use std::ptr;

const ROWS: [usize; 20] = [2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 256];

/// Blocks that lie in memory one after the other, and what is asked of them.
#[derive(Debug)]
struct Blocks {
    element: ElementType,
    blocks: usize,
    rows: usize,
    columns: usize,
    /// Elements between two blocks.
    gap: usize,
    last: bool,
}

impl Blocks {
    fn new(random: &mut Random, element: ElementType) -> Self {
        let columns = random.pick(&[8, 8, 16, 16, 32, 64, 4, 24]);
        let rows = random.pick(&ROWS);
        let most = MOST / element.size() / columns / (rows + 1);
        let blocks = random.pick(&[1, 7, 8, 9, 16, 31, 64, 65, 130]).min(most.max(1));
        Self { element, blocks, rows, columns, gap: 3 * random.below(2), last: random.below(2) == 0 }
    }

    /// Elements from one block to the next.
    fn step(&self) -> usize {
        self.rows * self.columns + self.gap
    }

    /// Few different bytes; NaN in some blocks or in none, and all elements alike in some.
    fn contents(&self, random: &mut Random) -> Vec<u8> {
        let size = self.element.size();
        let mut all = values::bytes(random, self.blocks * self.step() * size, size);
        match random.below(3) {
            0 => {}
            1 if self.element == ElementType::Bool => all.iter_mut().for_each(|byte| *byte &= 1),
            _ => all.chunks_exact_mut(size).for_each(|element| element[size - 1] &= 0xbf),
        }
        let alike = random.pick(&[2, 5, 100]);
        for block in all.chunks_mut(self.step() * size) {
            if random.below(alike) == 0 {
                let first = block[..size].to_vec();
                block.chunks_exact_mut(size).for_each(|element| element.copy_from_slice(&first));
            }
        }
        all
    }

    /// The place of each column's extremum, and its number among all elements.
    fn best(&self, contents: &[u8], largest: bool) -> Vec<(usize, usize)> {
        let size = self.element.size();
        let number = |block: usize, row: usize, column: usize| block * self.step() + row * self.columns + column;
        let columns = (0..self.blocks).flat_map(|block| (0..self.columns).map(move |column| (block, column)));
        let best = |(block, column)| {
            let read = |row| value(self.element, &contents[number(block, row, column) * size..][..size]);
            let values: Vec<Value> = (0..self.rows).map(read).collect();
            let row = naive(&values, largest, self.last);
            (row, number(block, row, column))
        };
        columns.map(best).collect()
    }

    /// Holds values and places at some ends of the order equal to a loop.
    fn check(&self, contents: &[u8], data: *const u8, ends: &[bool], (values, indices): (bool, bool)) {
        let (size, element) = (self.element.size(), self.element);
        let results = self.blocks * self.columns;
        let expected: Vec<_> = ends.iter().map(|&largest| self.best(contents, largest)).collect();
        for way in ways() {
            let mut found: Vec<_> = ends.iter().map(|_| (vec![0u8; results * size], vec![-1i64; results])).collect();
            let targets: Vec<Target> = ends
                .iter()
                .zip(&mut found)
                .map(|(&largest, (bytes, places))| Target {
                    largest,
                    values: if values { bytes.as_mut_ptr() } else { ptr::null_mut() },
                    indices: if indices { places.as_mut_ptr().cast() } else { ptr::null_mut() },
                    index: IndexType::Int64,
                })
                .collect();
            let Self { last, blocks, rows, columns, .. } = *self;
            let selection =
                Selection { data, element, swapped: false, last, mask: ptr::null_mut(), omit: Omit::Nothing };
            let dimension = |len: usize, elements: usize, reduced: bool| {
                let stride = (elements * size) as isize;
                Dimension { len, stride, mask: 0, reduced }
            };
            let dimensions =
                [dimension(columns, 1, false), dimension(rows, columns, true), dimension(blocks, self.step(), false)];
            // SAFETY: the dimensions describe the blocks, and there is room for the results.
            unsafe { select(selection, dimensions.into_iter(), &targets) };
            for (at, ((bytes, places), expected)) in found.iter().zip(&expected).enumerate() {
                let at = format!("{way:?} {self:?} {}", ends[at]);
                for (number, &(place, from)) in expected.iter().enumerate() {
                    assert!(!indices || places[number] == place as i64, "{at}: {number} {} {place}", places[number]);
                    let (bytes, element) = (&bytes[number * size..][..size], &contents[from * size..][..size]);
                    assert!(!values || bytes == element, "{at}: {number} {bytes:?} {element:?}");
                }
            }
        }
    }
}

#[test]
fn blocks_of_a_few_columns_agree_with_a_loop() {
    let _settings = settings();
    let (mut random, memory) = (Random(21), Fenced::new());
    for element in ELEMENTS {
        for _ in 0..if element.size() > 2 { 60 } else { 600 } {
            let blocks = Blocks::new(&mut random, element);
            let mut contents = blocks.contents(&mut random);
            // Nothing lies behind the last block.
            contents.truncate(contents.len() - blocks.gap * element.size());
            let data = memory.place(contents.len(), random.below(2) == 0);
            // SAFETY: the place has room for them.
            unsafe { data.copy_from_nonoverlapping(contents.as_ptr(), contents.len()) };
            let ends: &[bool] = random.pick(&[&[true], &[false], &[false, true]]);
            let wanted = random.pick(&[(false, true), (true, true), (true, false)]);
            blocks.check(&contents, data, ends, wanted);
        }
    }
}
