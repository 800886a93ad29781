//! The k best elements of contiguous lines. [`top_k_columns`](super::top_k_columns) has those of adjacent lines.
//!
//! ```text
//! reduce the line to a few registers of largest lanes; the k-th best of these lanes is a bound that k elements reach
//! collect the elements that are not below the bound; once k of them equal it, only those above it
//! sort them
//! ```
//!
//! In a random line little more than k elements reach the bound: with m lanes, m ln(m / (m - k)). In a sorted line the largest
//! registers hold its end, since they take turns. Each key is collected in one integer with its place: the smaller, the earlier
//! its element comes. So ties break by themselves, and NaN has a key.
//!
//! Measured on a Xeon of family 6, model 167, with AVX-512 and with AVX2: 50 of 50257 float32 take 6.4 and 7.7 us, where argmax
//! takes 6; onnxruntime's heap takes 27 (descending) to 63. 8 of 64 take 80 and 135 ns for each of many lines.
//!
//! Not done: finding the best, replacing it and comparing its block again, which waits for each step in turn (5 of 1000: 330 ns,
//! here 175); a bound from a sample for lines that fit the cache (50257: 12 us); a bound that is the k-th of more lanes.

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

use crate::element::rule::Rule;
use crate::isa::Task;
use crate::kernels::lanes::{read_bits, write_bits};
use crate::vector::extent::{Readable, Writable};
use crate::vector::{Kind, Lanes, Mask, fold, splat};
use std::marker::PhantomData;

/// A key and a place in one integer: the smaller the integer, the earlier its element comes.
pub trait Packed: Copy + Ord + Send + 'static {
    fn new(key: i64, place: usize) -> Self;
    fn place(self) -> usize;
}

/// For elements of at most 4 bytes, in lines of fewer than 2^32 elements.
impl Packed for u64 {
    #[inline(always)]
    fn new(key: i64, place: usize) -> Self {
        u64::from((key as i32 ^ i32::MAX) as u32) << 32 | place as u64
    }
    #[inline(always)]
    fn place(self) -> usize {
        self as u32 as usize
    }
}

impl Packed for u128 {
    #[inline(always)]
    fn new(key: i64, place: usize) -> Self {
        u128::from((key ^ i64::MAX) as u64) << 64 | place as u128
    }
    #[inline(always)]
    fn place(self) -> usize {
        self as u64 as usize
    }
}

/// Candidates for the best elements of a line.
pub struct Candidates<P> {
    pub rule: Rule,
    /// How many elements are wanted.
    pub k: usize,
    /// The least key that is wanted.
    pub bound: i64,
    /// How many more elements with the key `bound` are wanted; if 0, no more elements of any key are wanted.
    pub equal: usize,
    /// How many elements with the largest key of all are still missing until no others are wanted.
    pub first: usize,
    /// Elements whose key is wanted; of equal elements, the first ones.
    pub items: Vec<P>,
}

impl<P: Packed> Candidates<P> {
    /// Adds an element if it is wanted. Returns whether it was the last wanted element with its key.
    ///
    /// # Safety
    /// The element may be read, and the list has room for it.
    #[inline(always)]
    unsafe fn add(&mut self, from: *const u8, place: usize, size: usize, float: bool) -> bool {
        let key = self.rule.key_as(read_bits(from, size), size, float);
        if key < self.bound || self.equal == 0 {
            return false;
        }
        let count = self.items.len();
        debug_assert!(count < self.items.capacity(), "no room for candidate {count}");
        self.items.as_mut_ptr().add(count).write(P::new(key, place));
        self.items.set_len(count + 1);
        if key > self.bound {
            if key < self.rule.largest {
                return false;
            }
            self.first -= 1;
            if self.first == 0 {
                (self.bound, self.equal) = (key, 0);
            }
            return self.first == 0;
        }
        self.equal -= 1;
        if self.equal == 0 {
            self.exceed(key);
        }
        self.bound > key || self.equal == 0
    }

    /// Begins anew with a list that is empty: wants `equal` elements with the key `bound`, and all elements with a larger key.
    pub fn begin(&mut self, bound: i64, equal: usize) {
        (self.bound, self.equal, self.first) = (bound, equal, self.k);
        self.items.clear();
        // A list that grows step by step would allocate memory again and again.
        self.items.reserve(if equal < usize::MAX { equal + equal / 2 } else { 0 });
    }

    /// The places of the `k` best elements. Fewer are found only where another thread has written to the line meanwhile.
    pub fn best(&mut self, k: usize, sorted: bool) -> impl Iterator<Item = usize> {
        let items = &mut self.items;
        items.resize(items.len().max(k), P::new(i32::MIN.into(), 0));
        if k == 0 {
            items.clear();
        } else if !sorted || items.len() > 2 * k {
            items.select_nth_unstable(k - 1);
            items.truncate(k);
        }
        if sorted {
            items.sort_unstable();
        }
        items[..k].iter().map(|item| item.place())
    }

    /// Adds the first elements below the bound until there are as many as are wanted: all others are candidates already, and these
    /// are equal. `key` gives the key of an element, unless it does not take part.
    pub fn complete(&mut self, len: usize, key: impl Fn(usize) -> Option<i64>) {
        for place in 0..len {
            if self.items.len() >= self.k {
                break;
            }
            if let Some(key) = key(place)
                && key < self.bound
            {
                self.items.push(P::new(key, place));
            }
        }
    }

    /// Drops elements from the candidate with the number `first` on, except those to keep.
    pub fn retain(&mut self, first: usize, keeps: impl Fn(usize) -> bool) {
        let mut kept = first;
        for at in first..self.items.len() {
            let item = self.items[at];
            self.items[kept] = item;
            kept += usize::from(keeps(item.place()));
        }
        self.items.truncate(kept);
    }

    /// From now on, only larger keys are wanted: the least of them is the bound, and any number of elements may have it. There
    /// are no larger keys than the largest: then nothing is wanted any more.
    pub fn exceed(&mut self, key: i64) {
        let more = key < self.rule.largest;
        (self.bound, self.equal) = if more { (key + 1, usize::MAX) } else { (key, 0) };
    }

    /// Adds contiguous elements one by one, whatever the instruction set.
    ///
    /// # Safety
    /// The `len` elements may be read.
    pub unsafe fn add_all(&mut self, from: *const u8, len: usize, first: usize) {
        self.items.reserve(len);
        let size = self.rule.size;
        let float = self.rule.is_float();
        for at in 0..len {
            self.add(from.add(at * size), first + at, size, float);
        }
    }
}

/// The most registers whose hits fill a word.
const GROUP_REGISTERS: usize = 8;

/// Adds the contiguous elements that are wanted. `infinity` is that of 16-bit floats.
///
/// # Safety
/// The `len` elements may be read.
#[inline(always)]
unsafe fn collect<K: Kind, V: Lanes<K>, P: Packed>(
    from: *const u8,
    len: usize,
    first: usize,
    infinity: i64,
    to: &mut Candidates<P>,
) {
    match to.rule.is_nan_last() {
        true if K::FLOAT => collect_reaching::<K, V, P, true>(from, len, first, infinity, to),
        _ => collect_reaching::<K, V, P, false>(from, len, first, infinity, to),
    }
}

/// Adds the contiguous elements that are wanted. If `NUMBERS`, NaN comes last, and the bound is a number.
///
/// # Safety
/// As for [`collect`].
#[inline(always)]
unsafe fn collect_reaching<K: Kind, V: Lanes<K>, P: Packed, const NUMBERS: bool>(
    from: *const u8,
    len: usize,
    first: usize,
    infinity: i64,
    to: &mut Candidates<P>,
) {
    to.items.reserve(len);
    let flip = splat::<K, V>(to.rule.flip);
    let bound_of = |to: &Candidates<P>| (to.rule.bits(to.bound), K::KEYS || !to.rule.is_nan(to.bound));
    let (bits, mut numbers) = bound_of(to);
    let mut bound = splat::<K, V>(bits).xor(flip).lanes();
    // A 16-bit NaN of either sign lies beyond an infinity; for other floats, comparisons with NaN do not hold.
    let least = splat::<K, V>(infinity | 0x8000).lanes();
    let most = splat::<K, V>(infinity);
    let group = V::GROUP * V::LANES;
    if len < group {
        return to.add_all(from, len, first);
    }
    let all = Readable::bytes(from, len * K::SIZE);
    let mut done = 0;
    while done < len && to.equal > 0 {
        // The last group overlaps the one before.
        let at = done.min(len - group);
        // Masks first: a closure that compares would not always be inlined, and then its instructions would not be either.
        let mut below = [V::Mask::none(); GROUP_REGISTERS];
        let mut beyond = [V::Mask::none(); GROUP_REGISTERS];
        for number in 0..V::GROUP {
            let lanes = read::<K, V>(all.add(at * K::SIZE), number, flip);
            if NUMBERS {
                let nan = if K::KEYS { lanes.gt(most) } else { lanes.unordered(lanes) };
                below[number] = bound.gt(lanes).or(nan);
                continue;
            }
            below[number] = if numbers { bound.gt(lanes) } else { lanes.eq(lanes) };
            if K::KEYS {
                beyond[number] = least.gt(lanes);
            }
        }
        // An element is a hit unless it is below the bound; so is a 16-bit NaN, which may have any key.
        let mut hits = !word::<K, V>(V::GROUP, |number| below[number]);
        if K::KEYS && !NUMBERS {
            hits |= word::<K, V>(V::GROUP, |number| beyond[number]);
        }
        // Not those behind the group, nor those that the group before had.
        hits &= u64::MAX >> (64 - group * V::BITS) & u64::MAX << ((done - at) * V::BITS);
        done = at + group;
        // Hits are rare, in the order of places, so that of equal elements the first are added. Each may raise the bound.
        while hits != 0 {
            let lane = hits.trailing_zeros() as usize / V::BITS;
            hits &= !(u64::MAX >> (64 - V::BITS) << (lane * V::BITS));
            if to.add(from.add((at + lane) * K::SIZE), first + at + lane, K::SIZE, K::FLOAT) {
                let bits;
                (bits, numbers) = bound_of(to);
                bound = splat::<K, V>(bits).xor(flip).lanes();
            }
        }
    }
}

/// Adds the contiguous elements that are wanted.
pub struct Collect<'a, K, V, P> {
    pub from: *const u8,
    pub len: usize,
    /// The place of the first element.
    pub first: usize,
    /// The infinity of 16-bit floats.
    pub infinity: i64,
    pub to: &'a mut Candidates<P>,
    pub kind: PhantomData<(K, V)>,
}

impl<K: Kind, V: Lanes<K>, P: Packed> Task for Collect<'_, K, V, P> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { from, len, first, infinity, to, .. } = self;
        match (K::SIZE < 8) == (size_of::<P>() == 8) {
            true => collect::<K, V, P>(from, len, first, infinity, to),
            // Such long lines of short elements are rare.
            false => to.add_all(from, len, first),
        }
    }
}

/// Registers that hold the largest lanes so far.
pub const LARGEST_REGISTERS: usize = 8;

/// Finds the best elements of contiguous lines.
pub struct Find<'a, K, V, P> {
    pub from: *const u8,
    /// At most 64.
    pub lines: usize,
    /// Bytes from one line to the next.
    pub stride: isize,
    /// Elements of a line; whole registers hold at least `k` of them.
    pub len: usize,
    /// How many are wanted, at most the lanes of [`LARGEST_REGISTERS`] registers.
    pub k: usize,
    pub sorted: bool,
    /// The infinity of 16-bit floats, and the bits of the identity.
    pub infinity: i64,
    pub identity: i64,
    pub to: Destination,
    pub candidates: &'a mut Candidates<P>,
    pub kind: PhantomData<(K, V)>,
}

impl<K: Kind, V: Lanes<K>, P: Packed> Task for Find<'_, K, V, P> {
    /// A bit for each line that is not done: its few lanes with numbers give no bound, and a sample does.
    type Output = u64;
    #[inline(always)]
    unsafe fn run(self) -> u64 {
        let Self { from, lines, stride, len, k, sorted, infinity, identity, to, candidates, .. } = self;
        if (K::SIZE < 8) != (size_of::<P>() == 8) {
            unreachable!("such a line is not read so");
        }
        let flip = splat::<K, V>(candidates.rule.flip);
        let least = splat::<K, V>(identity).xor(flip).lanes();
        let most = splat::<K, V>(infinity);
        let registers = len / V::LANES;
        // Whether 16-bit NaN hides numbers: it is larger than they are, but comes last.
        let mut hidden = false;
        let mut left = 0;
        // As few registers as have enough lanes, or a part of one register: fewer lanes are compared sooner.
        let count = (2 * k).div_ceil(V::LANES).next_power_of_two().min(LARGEST_REGISTERS);
        let width = (2 * k * K::SIZE).next_power_of_two().clamp(16, V::BYTES);
        let mut bits_of = [0u64; LARGEST_REGISTERS * 8];
        let mut keys = [0i64; LARGEST_REGISTERS * 64];
        for line in 0..lines {
            let from = from.wrapping_offset(stride * line as isize);
            let all = Readable::bytes(from, len * K::SIZE);
            let bound = loop {
                let mut largest = match K::KEYS && hidden {
                    true => largest::<K, V, true>(all, registers, flip, least, most),
                    false => largest::<K, V, false>(all, registers, flip, least, most),
                };
                // Join registers until as many are left as have enough lanes, then lanes until they fill as many bytes.
                for half in [4, 2, 1] {
                    let joined = if count <= half { half } else { 0 };
                    for number in 0..joined {
                        largest[number] = largest[number].max(largest[number + half]);
                    }
                }
                if width < V::BYTES {
                    largest[0] = if width == 16 { fold::<K, V>(largest[0], 16) } else { fold::<K, V>(largest[0], 32) };
                }
                let bits_of = Writable::bytes(bits_of.as_mut_ptr().cast(), size_of_val(&bits_of));
                for number in 0..LARGEST_REGISTERS {
                    // Bits, not lanes: the flip is undone.
                    if number < count {
                        largest[number].lanes().xor(flip).store(bits_of.add(number * V::BYTES));
                    }
                }
                let keys = &mut keys[..count * width / K::SIZE];
                let rule = candidates.rule;
                for (lane, key) in keys.iter_mut().enumerate() {
                    let bits = bits_of.readable().add(lane * K::SIZE).read(K::SIZE);
                    *key = rule.key_as(read_bits(bits, K::SIZE), K::SIZE, K::FLOAT);
                }
                // The k-th best of these lanes is a bound that k elements reach: nothing below it is among the best. Unless it is
                // a 16-bit NaN that comes last: then once more without NaN, and all lines that follow are read so at once.
                let bound = kth(keys, k);
                if !K::KEYS || bound >= candidates.rule.lowest() {
                    break bound;
                }
                hidden = true;
            };
            if bound == candidates.rule.lowest() && candidates.rule.is_nan_last() && len >= SAMPLED_LEAST_ELEMENTS {
                left |= 1 << line;
                continue;
            }
            candidates.begin(bound, k);
            collect::<K, V, P>(from, len, 0, infinity, candidates);
            if candidates.items.len() < k {
                // All numbers are candidates, unless another thread has written to the line meanwhile.
                let rule = candidates.rule;
                let bits = |place: usize| read_bits(from.add(place * K::SIZE), K::SIZE);
                candidates.complete(len, |place| Some(rule.key(bits(place))));
            }
            for (nth, place) in candidates.best(k, sorted).enumerate() {
                to.write(line, nth, read_bits(from.add(place * K::SIZE), K::SIZE), place, K::SIZE);
            }
        }
        left
    }
}

/// Reduces some registers to those with the largest lanes, which they take in turns, so that a sorted line does not end in one of
/// them. If `NUMBERS`, NaN does not count.
///
/// # Safety
/// The registers may be read, and belong to the instruction set in force.
#[inline(always)]
unsafe fn largest<K: Kind, V: Lanes<K>, const NUMBERS: bool>(
    all: Readable,
    registers: usize,
    flip: V,
    least: V,
    infinity: V,
) -> [V; LARGEST_REGISTERS] {
    let mut largest = [least; LARGEST_REGISTERS];
    for start in (0..registers).step_by(LARGEST_REGISTERS) {
        let whole = start + LARGEST_REGISTERS <= registers;
        for number in 0..LARGEST_REGISTERS {
            if whole || start + number < registers {
                let lanes = read::<K, V>(all, start + number, flip);
                let lanes = if NUMBERS { lanes.replace_nan(least, infinity) } else { lanes };
                largest[number] = lanes.max(largest[number]);
            }
        }
    }
    largest
}

/// The k-th largest of some keys.
#[inline(always)]
pub fn kth(keys: &mut [i64], k: usize) -> i64 {
    if keys.len() > COMPARED_MOST_KEYS {
        let rank = keys.len() - k;
        return *keys.select_nth_unstable(rank).1;
    }
    // Without a branch, which would be mispredicted.
    let mut result = i64::MAX;
    for &key in keys.iter() {
        let mut above = 0u64;
        for &other in keys.iter() {
            above += u64::from(other > key);
        }
        result = if above < k as u64 { result.min(key) } else { result };
    }
    result
}

/// Elements of the shortest line that is sampled.
pub const SAMPLED_LEAST_ELEMENTS: usize = 1024;

/// Up to this many keys are each compared with every other key.
const COMPARED_MOST_KEYS: usize = 32;

/// Where results go.
#[derive(Clone, Copy)]
pub struct Destination {
    pub values: *mut u8,
    pub indices: *mut i64,
    /// From one line to the next, and from one result of a line to the next.
    pub across: isize,
    pub along: isize,
}

impl Destination {
    /// The index of a result of the first line.
    ///
    /// # Safety
    /// It has been written.
    #[inline(always)]
    pub unsafe fn index(&self, nth: usize) -> usize {
        self.indices.offset(self.along * nth as isize).read_unaligned() as usize
    }

    /// Writes a result of a line.
    ///
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    pub unsafe fn write(&self, line: usize, nth: usize, bits: u64, place: usize, size: usize) {
        let to = self.across * line as isize + self.along * nth as isize;
        self.indices.offset(to).write_unaligned(place as i64);
        write_bits(self.values.offset(to * size as isize), bits, size);
    }
}

/// The lanes of the register with this number, counted from an element.
///
/// # Safety
/// It may be read, and belongs to the instruction set in force.
#[inline(always)]
unsafe fn read<K: Kind, V: Lanes<K>>(from: Readable, number: usize, flip: V) -> V {
    V::load(from.add(number * V::BYTES)).xor(flip).lanes()
}

/// The bits of some masks, in the form of [`Lanes::eq_bits`].
///
/// # Safety
/// The masks belong to the instruction set in force.
#[inline(always)]
unsafe fn word<K: Kind, V: Lanes<K>>(count: usize, mask: impl Fn(usize) -> V::Mask) -> u64 {
    match K::SIZE {
        1 => V::Mask::word::<1>(count, mask),
        2 => V::Mask::word::<2>(count, mask),
        4 => V::Mask::word::<4>(count, mask),
        _ => V::Mask::word::<8>(count, mask),
    }
}
