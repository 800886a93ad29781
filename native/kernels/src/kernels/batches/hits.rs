//! Hits: a bit for each element of the rows of a batch, and the place of the first or last one in each row.
//!
//! A vector finds the places of eight rows at a time. The bits go there by way of memory, where those of neighbouring
//! vectors of a row lie side by side: to move them to registers, and to choose among them there, took longer than to compare.

use crate::kernels::batches::batch::ROWS;
use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Rows whose places are found at once.
pub const EIGHT: usize = 8;

/// Words of the longest row, and one for where its words begin.
const WORDS: usize = 9;

/// The bits of a batch, and beside them its extremes.
pub struct Hits {
    /// A word of each row, then the next word of each.
    words: MaybeUninit<[[u64; ROWS]; WORDS]>,
    /// The extreme lane of each row; narrow ones fill four bytes.
    extremes: MaybeUninit<__m512i>,
}

impl Hits {
    #[inline(always)]
    pub fn new() -> Self {
        Self { words: MaybeUninit::uninit(), extremes: MaybeUninit::uninit() }
    }

    /// Sets the extreme lane of a row, given a vector of it.
    ///
    /// # Safety
    /// AVX-512 is in force, and a batch has such a row.
    #[inline(always)]
    pub unsafe fn set_extreme<K: Kind>(&mut self, row: usize, extreme: __m512i) {
        // SAFETY: the caller's; the extremes of all rows are a vector.
        unsafe {
            match K::SIZE {
                8 => {
                    let lane = _mm_cvtsi128_si64(_mm512_castsi512_si128(extreme));
                    self.extremes.as_mut_ptr().cast::<i64>().add(row).write(lane);
                }
                _ => self.extremes.as_mut_ptr().cast::<i32>().add(row).write(_mm512_cvtsi512_si32(extreme)),
            }
        }
    }

    /// The extreme lanes of all rows.
    ///
    /// # Safety
    /// AVX-512 is in force, and they have been set.
    #[inline(always)]
    pub unsafe fn extremes(&self) -> __m512i {
        // SAFETY: the caller's.
        unsafe { self.extremes.assume_init() }
    }

    /// A word of a row. (No check is in the way: the compiler would see from it how many rows there may be.)
    #[inline(always)]
    fn word(&mut self, word: usize, row: usize) -> *mut u64 {
        debug_assert!(word < WORDS && row < ROWS);
        self.words.as_mut_ptr().cast::<u64>().wrapping_add(word * ROWS + row)
    }

    /// Sets where the words of a row begin.
    ///
    /// # Safety
    /// A batch has such a row.
    #[inline(always)]
    pub unsafe fn start(&mut self, row: usize, place: usize) {
        // SAFETY: there is room for so many words of so many rows.
        unsafe { self.word(WORDS - 1, row).write(place as u64) }
    }

    /// Sets a word of a row.
    ///
    /// # Safety
    /// A batch has such a row, and a row such a word.
    #[inline(always)]
    pub unsafe fn set(&mut self, word: usize, row: usize, hits: u64) {
        // SAFETY: there is room for so many words of so many rows.
        unsafe { self.word(word, row).write(hits) }
    }

    /// Sets the part of a row's words that is a vector's, of which there are `vectors` in all. The first one clears what no
    /// vector has of its word.
    ///
    /// # Safety
    /// As for [`set`](Self::set).
    #[inline(always)]
    pub unsafe fn set_part<K: Kind>(&mut self, vector: usize, vectors: usize, row: usize, hits: u64) {
        let each = 64 / K::LANES;
        let (word, part) = (vector / each, vector % each);
        // SAFETY: the caller's; the parts of a word fill it.
        unsafe {
            let to = self.word(word, row);
            match K::LANES {
                _ if part == 0 && vectors - vector < each => to.write(hits),
                64 => to.write(hits),
                32 => to.cast::<u32>().add(part).write(hits as u32),
                16 => to.cast::<u16>().add(part).write(hits as u16),
                _ => to.cast::<u8>().add(part).write(hits as u8),
            }
        }
    }

    /// The place of the first (or last) hit in each of eight rows, and which of them have one. A row has so many words, each
    /// of which begins 64 places after the one before, but none beyond where the last one is said to begin. Where a row has no
    /// hit, its place is that of the `far` bit, in the word that is the last to be asked. All rows begin at 0, unless `STARTS`.
    ///
    /// # Safety
    /// AVX-512 is in force, and the words of these rows are set.
    #[inline(always)]
    pub unsafe fn places<const LAST: bool, const STARTS: bool>(
        &self,
        row: usize,
        words: usize,
        last_word: usize,
        far: u64,
    ) -> (__m512i, __mmask8) {
        let start = |word: usize| (word * 64).min(last_word);
        // From the end that loses ties.
        let order = |step: usize| if LAST { step } else { words - 1 - step };
        // SAFETY: the caller's.
        unsafe {
            let word = |word: usize| _mm512_loadu_epi64(self.words.as_ptr().cast::<i64>().add(word * ROWS + row));
            let ends = |word: usize| _mm512_set1_epi64((start(word) + 63) as i64);
            let mut hits = word(order(0));
            let mut there = _mm512_test_epi64_mask(hits, hits);
            hits = _mm512_or_si512(hits, _mm512_set1_epi64(far.cast_signed()));
            let mut end = ends(order(0));
            for step in 1..words {
                let these = word(order(step));
                let any = _mm512_test_epi64_mask(these, these);
                hits = _mm512_mask_mov_epi64(hits, any, these);
                end = _mm512_mask_mov_epi64(end, any, ends(order(step)));
                there |= any;
            }
            if !LAST {
                hits = _mm512_and_si512(hits, _mm512_sub_epi64(_mm512_setzero_si512(), hits));
            }
            if STARTS {
                end = _mm512_add_epi64(end, word(WORDS - 1));
            }
            (_mm512_sub_epi64(end, _mm512_lzcnt_epi64(hits)), there)
        }
    }
}
