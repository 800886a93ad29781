//! Layouts of arrays: any lengths and strides.

use crate::loops::Random;

/// A layout: lengths and strides in bytes.
#[derive(Clone, Debug)]
pub struct Layout {
    pub lens: Vec<usize>,
    pub strides: Vec<isize>,
}

impl Layout {
    /// A random one: axes in any order, packed, apart, unaligned, overlapping, broadcast, reversed.
    pub fn random(random: &mut Random, lens: &[usize], size: usize) -> Self {
        let mut order: Vec<usize> = (0..lens.len()).collect();
        order.rotate_left(random.below(lens.len().max(1)));
        let mut strides = vec![0; lens.len()];
        let mut extent = size;
        for axis in order {
            let stride = match random.below(10) {
                0 => extent + size * random.pick(&[1, 3, 20]),
                1 => extent + 1,
                2 => 0,
                3 => random.pick(&[1, size, 2 * size]),
                _ => extent,
            };
            extent += stride * (lens[axis] - 1);
            strides[axis] = if random.below(4) == 0 { -(stride as isize) } else { stride as isize };
        }
        Self { lens: lens.to_vec(), strides }
    }

    /// One after the other, the last dimension fastest.
    pub fn packed(lens: &[usize], size: usize) -> Self {
        let mut strides = vec![0; lens.len()];
        let mut step = size as isize;
        for axis in (0..lens.len()).rev() {
            strides[axis] = step;
            step *= lens[axis] as isize;
        }
        Self { lens: lens.to_vec(), strides }
    }

    /// Bytes before the first element, and from the first byte of all to the last.
    pub fn extent(&self, size: usize) -> (usize, usize) {
        let reach = |axis: usize| self.strides[axis] * (self.lens[axis] as isize - 1);
        let before: isize = (0..self.lens.len()).map(|axis| reach(axis).min(0)).sum();
        let all: isize = (0..self.lens.len()).map(|axis| reach(axis).abs()).sum();
        (before.unsigned_abs(), all as usize + size)
    }

    /// The byte offsets of all elements, the last dimension fastest.
    pub fn offsets(&self) -> Vec<isize> {
        self.lens.iter().zip(&self.strides).fold(vec![0], |all, (&len, &stride)| {
            all.iter().flat_map(|&offset| (0..len).map(move |at| offset + stride * at as isize)).collect()
        })
    }

    pub fn part(&self, axes: &[bool], wanted: bool) -> Self {
        let axes = || (0..self.lens.len()).filter(|&axis| axes[axis] == wanted);
        Self { lens: axes().map(|axis| self.lens[axis]).collect(), strides: axes().map(|a| self.strides[a]).collect() }
    }
}
