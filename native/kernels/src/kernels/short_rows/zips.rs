//! How [transposed](super::transposed) rows move between the registers of a part: zips, pairs of an element and its rank, and the order
//! of the rows.

#![allow(unsafe_op_in_unsafe_fn, reason = "a few instructions each, with one safety condition")]

use crate::kernels::short_rows::TRANSPOSED_PART_BYTES;
use crate::vector::{Kind, Lanes, Register, unroll, zip};

/// Brings lanes into the order of the rows, where registers were loaded whole: neighbouring parts held neighbouring rows, of which `Q`
/// now follow one another in each part.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
pub unsafe fn in_order<V: Register, const Q: usize>(lanes: V) -> V {
    if V::BYTES == TRANSPOSED_PART_BYTES {
        return lanes;
    }
    // Blocks of parts change places between parts, then rows within each part.
    lanes
        .exchange_blocks()
        .shuffle(const { &rows_in_order(V::BYTES / TRANSPOSED_PART_BYTES, TRANSPOSED_PART_BYTES / Q) })
}

/// The shuffle of [`in_order`] within each part: one row of each block, then the next of each, of `bytes` bytes each.
const fn rows_in_order(blocks: usize, bytes: usize) -> [u8; TRANSPOSED_PART_BYTES] {
    let mut table = [0; TRANSPOSED_PART_BYTES];
    let mut at = 0;
    while at < TRANSPOSED_PART_BYTES {
        let (row, block) = (at / bytes / blocks, at / bytes % blocks);
        table[at] = (block * (TRANSPOSED_PART_BYTES / blocks) + row * bytes + at % bytes) as u8;
        at += 1;
    }
    table
}

/// Turns the lanes of a part into its columns: after as many rounds of zips as 16 bytes have doublings of an element.
///
/// # Safety
/// The registers belong to the instruction set in force.
#[inline(always)]
pub unsafe fn transpose<K: Kind, V: Lanes<K>, const Q: usize>(mut lanes: [V; Q]) -> [V; Q] {
    unroll!(@ (TRANSPOSED_PART_BYTES / K::SIZE).trailing_zeros() as usize, _round, lanes = zips::<K, V, Q>(lanes), 0 1 2 3);
    lanes
}

/// Pairs each element with its rank, and joins the lower half of each part with the upper half.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
pub unsafe fn best_pairs<K: Kind, V: Lanes<K>>(ranks: V, elements: V) -> V {
    let (low, high) = zip::<K, V>(ranks, elements);
    max_of_pairs::<K, V>(low, high)
}

/// The larger of each two pairs of a rank and the element behind it.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
pub unsafe fn max_of_pairs<K: Kind, V: Lanes<K>>(one: V, other: V) -> V {
    match K::SIZE {
        1 => one.max_pairs::<1>(other),
        _ => one.max_pairs::<2>(other),
    }
}

/// Interleaves pairs.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
pub unsafe fn zip_pairs<K: Kind, V: Lanes<K>>(one: V, other: V) -> (V, V) {
    match K::SIZE {
        1 => one.zip::<2>(other),
        _ => one.zip::<4>(other),
    }
}

/// One round of zips: of each register of the first half with that of the second.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
pub unsafe fn zips<K: Kind, V: Lanes<K>, const Q: usize>(before: [V; Q]) -> [V; Q] {
    let mut after = before;
    unroll!(Q / 2, at => (after[2 * at], after[2 * at + 1]) = zip::<K, V>(before[at], before[at + Q / 2]));
    after
}

/// Takes the pairs of two registers apart: the ranks of both, then the elements, those of the two in turns.
///
/// # Safety
/// As for [`transpose`].
#[inline(always)]
pub unsafe fn apart<K: Kind, V: Lanes<K>>(one: V, other: V) -> (V, V) {
    let halves = const { &halves_of_pairs(K::SIZE) };
    zip::<K, V>(one.shuffle(halves), other.shuffle(halves))
}

/// The shuffle that takes pairs apart: the first of each, then the second of each.
const fn halves_of_pairs(size: usize) -> [u8; TRANSPOSED_PART_BYTES] {
    let mut table = [0; TRANSPOSED_PART_BYTES];
    let mut at = 0;
    while at < TRANSPOSED_PART_BYTES {
        let lane = at / size;
        let lanes = TRANSPOSED_PART_BYTES / size;
        table[at] = ((2 * lane % lanes + 2 * lane / lanes) * size + at % size) as u8;
        at += 1;
    }
    table
}
