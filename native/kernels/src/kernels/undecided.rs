//! Which columns of a tile are still undecided once their lanes have been compared: those with a NaN that wins, and those of 16-bit floats
//! that integers do not decide. They are compared once more, by keys.

use std::ops::Range;

/// Which stretches of the columns of a tile are undecided, a bit each.
#[derive(Clone, Copy)]
pub struct Undecided {
    bits: [u64; Self::MOST_STRETCHES / 64],
    /// Columns of a stretch.
    pub stretch: usize,
    /// The stretches that were taken, from the first on.
    taken: usize,
}

impl Undecided {
    const MOST_STRETCHES: usize = 512;

    /// Columns of the shortest stretch.
    const LEAST_COLUMNS: usize = 64;

    /// None of a number of columns.
    #[inline(always)]
    pub fn none(columns: usize) -> Self {
        let stretch = columns.div_ceil(Self::MOST_STRETCHES).max(Self::LEAST_COLUMNS);
        Self { bits: [0; Self::MOST_STRETCHES / 64], stretch, taken: 0 }
    }

    /// All of a number of columns.
    #[inline(always)]
    pub fn all(columns: usize) -> Self {
        Self { bits: [u64::MAX; Self::MOST_STRETCHES / 64], ..Self::none(columns) }
    }

    /// Adds the stretches that have columns from number `from` to before `to`.
    #[cold]
    pub fn add(&mut self, from: usize, to: usize) {
        for stretch in from / self.stretch..to.div_ceil(self.stretch) {
            self.bits[stretch / 64] |= 1 << (stretch % 64);
        }
    }

    /// Takes the next columns of a tile of `columns` that are undecided, at most `most` of them.
    pub fn take(&mut self, columns: usize, most: usize) -> Option<Range<usize>> {
        if self.bits == [0; Self::MOST_STRETCHES / 64] {
            return None;
        }
        let has = |&stretch: &usize| self.bits[stretch / 64] >> (stretch % 64) & 1 == 1;
        let stretches = columns.div_ceil(self.stretch);
        let start = (self.taken..stretches).find(has)?;
        let most = stretches.min(start + most / self.stretch);
        let end = (start..most).find(|stretch| !has(stretch)).unwrap_or(most);
        self.taken = end;
        Some(start * self.stretch..columns.min(end * self.stretch))
    }
}
