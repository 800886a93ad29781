//! Batches of rows of up to `N` registers: the loop over a row is unrolled.
//!
//! ```text
//! for each row: read its N registers, the last of which overlap those before; keep the largest lane of each position
//! join the lanes of four rows at once: the largest lane of each row
//! to find a place: compare the N registers with it, pack the comparisons to a word, count zero bits
//! ```
//!
//! The search reads the row again, from the first-level cache, unless lanes were expensive to make: then it reads a copy of them.

use crate::kernels::short_rows::{Batch, Constants, Job, Mode, Reduced, decide};
use crate::vector::{Kind, Lanes, Mask, place, splat};
use std::marker::PhantomData;

/// Rows of at most `N` registers, which are compared in the mode `M`.
pub struct Unrolled<M, const N: usize>(PhantomData<M>);

impl<M: Mode, const N: usize> Unrolled<M, N> {
    /// Whether the lanes of a row are kept for the search: keys, and lanes that a mask has replaced.
    #[inline(always)]
    fn keeps_lanes<K: Kind>() -> bool {
        M::has_keys::<K>() || M::MASKED
    }

    /// Where a register of a row begins, in elements: the last overlaps the one before, and is read twice where `N` is rounded up.
    /// The others need no comparison with the end of the row, except where rows of fewer registers share the code.
    #[inline(always)]
    fn start<K: Kind, V: Lanes<K>>(len: usize, at: usize) -> usize {
        debug_assert!(at < N && len >= V::LANES && len <= N * V::LANES);
        if at > 0 && (M::MASKED || at + 1 == N || at + 2 == N && N > 4) {
            (at * V::LANES).min(len - V::LANES)
        } else {
            at * V::LANES
        }
    }

    /// The elements of a register that begins some bytes after its row, masked ones replaced by the element that loses to all.
    ///
    /// # Safety
    /// As for [`Batch::reduce`]; the row has a whole register there.
    #[inline(always)]
    unsafe fn masked<K: Kind, V: Lanes<K>>(job: &Job, elements: V, identity: V, row: usize, after: usize) -> V {
        let mask = job.mask(row).add(after / K::SIZE).read(V::LANES);
        match K::SIZE {
            1 => elements.select_by_bytes::<1>(mask, identity),
            2 => elements.select_by_bytes::<2>(mask, identity),
            4 => elements.select_by_bytes::<4>(mask, identity),
            _ => elements.select_by_bytes::<8>(mask, identity),
        }
    }
}

impl<K: Kind, V: Lanes<K>, M: Mode, const N: usize, const ROWS: usize> Batch<K, V, ROWS> for Unrolled<M, N> {
    type Mode = M;
    const IS_SHORT: bool = true;

    #[inline(always)]
    unsafe fn reduce(job: &Job, first: usize, constants: Constants<V>, spill: *mut V) -> Reduced<V, ROWS> {
        let flip = constants.flip;
        let mut nans = V::no_nan();
        let mut best = [flip; ROWS];
        let mut least = [flip; ROWS];
        let mut only = [flip; ROWS];
        let identity = splat::<K, V>(job.identity);
        let start = job.row(first);
        // Row after row, register after register: with `N` and `ROWS` known, all of these loops are written out by the compiler.
        for row in 0..ROWS {
            let from = start.wrapping_offset(job.lines.stride * row as isize);
            let mut read = [flip; N];
            for at in 0..N {
                let after = Self::start::<K, V>(job.len, at) * K::SIZE;
                let mut elements = V::load(from.add(after));
                if M::MASKED {
                    elements = Self::masked::<K, V>(job, elements, identity, first + row, after);
                }
                // NaN is noted in elements, before it is lost in lanes.
                read[at] = M::elements::<K, V>(constants, elements);
                let lanes = M::lanes::<K, V>(constants, read[at]);
                best[row] = if at == 0 { lanes } else { lanes.max(best[row]) };
                if M::BOTH {
                    least[row] = if at == 0 { lanes } else { lanes.min(least[row]) };
                }
                if Self::keeps_lanes::<K>() {
                    spill.add(row * N + at).write(lanes);
                }
            }
            // The smallest lane becomes the largest, so that both ends are joined in the same way.
            least[row] = least[row].xor(splat::<K, V>(Job::reversal::<K>()));
            only[row] = read[0];
            // One comparison notes the NaN of two registers: of one row, or below of two.
            if N > 1 {
                for at in (0..N).step_by(2) {
                    V::note_nan(&mut nans, read[at], read[(at + 1).min(N - 1)]);
                }
            }
        }
        // Rows of one register have no second register to look at with it: two rows are looked at together.
        if N == 1 {
            for row in (0..ROWS).step_by(2) {
                V::note_nan(&mut nans, only[row], only[(row + 1).min(ROWS - 1)]);
            }
        }
        decide::<K, V, M, ROWS>(best, least, nans, constants)
    }

    #[inline(always)]
    unsafe fn find<const LAST: bool>(
        job: &Job,
        first: usize,
        constants: Constants<V>,
        spill: *const V,
        needle: [V; ROWS],
    ) -> [usize; ROWS] {
        let start = job.row(first);
        let mut places = [0; ROWS];
        for row in 0..ROWS {
            let from = start.wrapping_offset(job.lines.stride * row as isize);
            // Equal lanes have equal bits, and NaN equals nothing. So the needle is flipped instead of the elements.
            let as_lanes = Self::keeps_lanes::<K>() || !M::FLIPS;
            let bits = if as_lanes { needle[row] } else { needle[row].xor(constants.flip) };
            let mut read = [constants.flip; N];
            // The row is in the first-level cache, which is faster than keeping its registers on the stack, unless lanes were
            // expensive to make.
            for at in 0..N {
                read[at] = match Self::keeps_lanes::<K>() {
                    true => *spill.add(row * N + at),
                    false => V::load(from.add(Self::start::<K, V>(job.len, at) * K::SIZE)),
                };
            }
            // A lane that two registers hold has the same place in both.
            places[row] = place::<K, V, N, LAST>(&read, bits, job.len);
        }
        places
    }

    #[inline(always)]
    unsafe fn has_identity(job: &Job, first: usize, identity: V) -> bool {
        // Masked elements count too: then the caller's second look finds nothing to correct.
        let mut identity_seen = V::Mask::none();
        for row in first..first + ROWS {
            for at in 0..N {
                let elements = V::load(job.row(row).add(Self::start::<K, V>(job.len, at) * K::SIZE));
                identity_seen = identity_seen.or(elements.eq(identity));
            }
        }
        identity_seen.any()
    }
}
