//! The k best of a line: keys that are larger the earlier an element comes, a bound that the k-th of them reaches, and insertion.
//!
//! ```text
//! one line at a time:                              lines side by side, for few k:
//!     write keys, and the best of each block           write keys
//!     the k-th of these is a bound                     for each row of 16 lanes:
//!     of the blocks that reach it: collect                 if a lane beats its k-th best: move it to its place
//!         keys above the bound, and the first k equal to it
//! ```
//!
//! At most k - 1 blocks have a key above the bound, so no input has many candidates. A key and its place are one integer where both
//! fit 64 bits: to sort those breaks ties by itself. Only the map from elements to keys knows types.

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: the memory is there, with room for the results"
)]

use crate::element::ElementType;
use crate::element::compare::Index;
use crate::isa::{Task, dispatch};
use std::array::from_fn;
use std::marker::PhantomData;

/// Keys that are compared side by side.
pub const LANES: usize = 16;

/// An integer that is larger the earlier its element comes.
pub trait Key: Copy + Ord + Send + Sync + 'static {
    /// A place in a line of less than 2^32 elements, as wide as the key.
    type Place: Index;
    const LOWEST: Self;
    /// The bits of the key, those of smaller keys being larger.
    fn descending(self) -> u64;
    fn narrow(number: i64) -> Self;
}

macro_rules! keys {
    ($($key:ty as $bits:ty),*) => {$(
        impl Key for $key {
            type Place = $bits;
            const LOWEST: Self = Self::MIN;
            #[inline(always)]
            fn descending(self) -> u64 {
                ((self ^ Self::MAX) as $bits).into()
            }
            #[inline(always)]
            fn narrow(number: i64) -> Self {
                number as Self
            }
        }
    )*};
}

keys!(i32 as u32, i64 as u64);

/// A key and a place in one integer, which is smaller the earlier its element comes.
pub trait Packed: Copy + Ord + Send + 'static {
    fn new<K: Key>(key: K, place: usize) -> Self;
    fn place(self) -> usize;
}

impl Packed for u64 {
    #[inline(always)]
    fn new<K: Key>(key: K, place: usize) -> Self {
        key.descending() << 32 | place as u64
    }
    #[inline(always)]
    fn place(self) -> usize {
        self as u32 as usize
    }
}

impl Packed for u128 {
    #[inline(always)]
    fn new<K: Key>(key: K, place: usize) -> Self {
        u128::from(key.descending()) << 64 | place as u128
    }
    #[inline(always)]
    fn place(self) -> usize {
        self as u64 as usize
    }
}

/// How the elements of a type become keys.
#[derive(Clone, Copy)]
pub struct Rule<K> {
    /// What is flipped of an integer, or whether a float is negated: all bits or none.
    flip: K,
    /// What is added to an integer; the key of NaN.
    shift: K,
    /// The largest byte that counts; the infinity of a float.
    limit: K,
}

impl<K: Key> Rule<K> {
    /// The rule for an element type. NaN, and the smallest integer of `times`, comes first or last.
    pub fn new(element: ElementType, largest: bool, nan_first: bool, times: bool) -> Self {
        let (bits, key_bits) = (8 * element.size() as u32, 8 * size_of::<K>() as u32);
        let ends = if largest { 0 } else { -1 };
        let (flip, shift, limit) = match element.is_float() {
            // (The loser among the smallest is infinity.)
            true => (ends, (i64::MAX >> (64 - key_bits)) ^ -i64::from(!nan_first), element.loser(false) as i64),
            false => {
                // Where the key is as wide as the element, the sign is that of the key.
                let turned = element.is_signed() != (bits == key_bits);
                let shift = if times && largest == nan_first { if largest { -1 } else { 1 } } else { 0 };
                (ends ^ (i64::from(turned) << (bits - 1)), shift, if element == ElementType::Bool { 1 } else { 0xff })
            }
        };
        Self { flip: K::narrow(flip), shift: K::narrow(shift), limit: K::narrow(limit) }
    }
}

/// Elements as they are stored, and their keys.
trait Code {
    type Stored: Copy;
    type Key: Key;
    fn key(stored: Self::Stored, rule: Rule<Self::Key>) -> Self::Key;
}

/// Integers and bools.
struct Integer<S>(PhantomData<S>);

/// Floats.
struct Float<S>(PhantomData<S>);

macro_rules! codes {
    ($($code:ident $stored:ty as $signed:ty => $key:ty, |$bits:ident, $rule:ident| $body:expr;)*) => {$(
        impl Code for $code<$stored> {
            type Stored = $stored;
            type Key = $key;
            #[inline(always)]
            fn key($bits: $stored, $rule: Rule<$key>) -> $key {
                $body
            }
        }
    )*};
    (@integers $($stored:ty => $key:ty;)*) => {
        codes! { $(Integer $stored as $stored => $key, |bits, rule| (bits as $key ^ rule.flip).wrapping_add(rule.shift);)* }
    };
    (@floats $($stored:ty as $signed:ty => $key:ty;)*) => {
        codes! { $(Float $stored as $signed => $key, |bits, rule| {
            let bits = bits as $signed as $key;
            let magnitude = bits & <$signed>::MAX as $key;
            let sign = (bits >> (<$key>::BITS - 1)) ^ rule.flip;
            // Sign and magnitude to two's complement, where both zeros are 0.
            let key = (magnitude ^ sign) - sign;
            if magnitude > rule.limit { rule.shift } else { key }
        };)* }
    };
}

codes! { Integer u8 as u8 => i32, |bits, rule| bits.min(rule.limit as u8) as i32 ^ rule.flip; }
codes! { @integers u16 => i32; u32 => i32; u64 => i64; }
codes! { @floats u16 as i16 => i32; u32 as i32 => i32; u64 as i64 => i64; }

/// Writes the keys of contiguous elements, and the largest of each block.
struct Keys<C: Code> {
    from: *const C::Stored,
    len: usize,
    rule: Rule<C::Key>,
    keys: *mut C::Key,
    block: usize,
    best: *mut C::Key,
}

impl<C: Code> Task for Keys<C> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { from, len, rule, keys, block, best } = self;
        let key = |at: usize| C::key(from.add(at).read_unaligned(), rule);
        for (number, start) in (0..len).step_by(block).enumerate() {
            let end = len.min(start + block);
            let whole = start + (end - start) / LANES * LANES;
            let mut largest = [C::Key::LOWEST; LANES];
            for at in (start..whole).step_by(LANES) {
                let part: [C::Key; LANES] = from_fn(|lane| key(at + lane));
                keys.add(at).cast::<[C::Key; LANES]>().write_unaligned(part);
                largest = from_fn(|lane| largest[lane].max(part[lane]));
            }
            let mut of_block = largest.into_iter().fold(C::Key::LOWEST, Ord::max);
            for at in whole..end {
                keys.add(at).write(key(at));
                of_block = of_block.max(key(at));
            }
            if !best.is_null() {
                best.add(number).write(of_block);
            }
        }
    }
}

/// Writes the keys of contiguous elements, and, unless `best` is null, the largest of each block.
pub unsafe fn write_keys<K: Key>(
    element: ElementType,
    rule: Rule<K>,
    (from, len): (*const u8, usize),
    keys: *mut K,
    block: usize,
    best: *mut K,
) {
    unsafe fn run<C: Code>(from: *const u8, len: usize, rule: *const u8, keys: *mut u8, block: usize, best: *mut u8) {
        let (rule, keys, best) = (rule.cast::<Rule<C::Key>>().read(), keys.cast(), best.cast());
        dispatch(Keys::<C> { from: from.cast(), len, rule, keys, block, best })
    }
    let run = match (element.size(), element.is_float()) {
        (1, _) => run::<Integer<u8>>,
        (2, false) => run::<Integer<u16>>,
        (2, true) => run::<Float<u16>>,
        (4, false) => run::<Integer<u32>>,
        (4, true) => run::<Float<u32>>,
        (_, false) => run::<Integer<u64>>,
        (_, true) => run::<Float<u64>>,
    };
    assert_eq!(size_of::<K>() == 8, element.size() == 8);
    run(from, len, (&raw const rule).cast(), keys.cast(), block, best.cast())
}

/// Collects from the keys of a block those above a bound, and some of those equal to it.
pub struct Collect<'a, K, P> {
    pub keys: &'a [K],
    /// The place of the first key.
    pub first: usize,
    pub bound: K,
    /// How many equal to the bound are wanted yet.
    pub equal: &'a mut usize,
    /// Receives the candidates in the order of their places.
    pub found: &'a mut Vec<P>,
}

impl<K: Key, P: Packed> Task for Collect<'_, K, P> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { keys, mut first, bound, equal, found } = self;
        found.reserve(keys.len());
        let (to, mut count, mut left) = (found.as_mut_ptr(), found.len(), *equal);
        let mut take = |keys: &[K], first: usize| {
            // (Without a branch: nobody would foresee it.)
            for (at, &key) in keys.iter().enumerate() {
                to.add(count).write(P::new(key, first + at));
                let of_equals = (key == bound) & (left > 0);
                left -= usize::from(of_equals);
                count += usize::from((key > bound) | of_equals);
            }
        };
        let parts = keys.chunks_exact(LANES);
        let rest = parts.remainder();
        for part in parts {
            if part.iter().fold(false, |any, &key| any | (key >= bound)) {
                take(part, first);
            }
            first += LANES;
        }
        take(rest, first);
        *equal = left;
        found.set_len(count);
    }
}

/// Moves the keys of some rows to their places among the best of each lane.
pub struct Insert<'a, K: Key> {
    /// The rows, `pitch` keys apart.
    pub keys: &'a [K],
    pub pitch: usize,
    /// The number of the first row.
    pub first: usize,
    /// How many of the best are kept.
    pub k: usize,
    /// For each group of lanes, its best keys and their rows.
    pub best: &'a mut [[K; LANES]],
    pub places: &'a mut [[K::Place; LANES]],
}

impl<K: Key> Task for Insert<'_, K> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { keys, pitch, first, k, best, places } = self;
        for (group, (best, places)) in best.chunks_exact_mut(k).zip(places.chunks_exact_mut(k)).enumerate() {
            for (row, keys) in keys.chunks_exact(pitch).enumerate() {
                let key: &[K; LANES] = keys[group * LANES..][..LANES].try_into().expect("as many lanes");
                let row = first + row;
                if row < k {
                    best[row] = [K::LOWEST; LANES];
                    insert(&mut best[..=row], &mut places[..=row], key, row, |key, least| key >= least);
                } else if key.iter().zip(&best[k - 1]).fold(false, |any, (key, least)| any | (key > least)) {
                    insert(best, places, key, row, |key, least| key > least);
                }
            }
        }
    }
}

/// Moves keys to their places; the last of the best is given up where they come before it.
#[inline(always)]
fn insert<K: Key>(
    best: &mut [[K; LANES]],
    places: &mut [[K::Place; LANES]],
    key: &[K; LANES],
    row: usize,
    enters: impl Fn(K, K) -> bool,
) {
    let (row, last) = (K::Place::new(row), best.len() - 1);
    for at in (0..=last).rev() {
        let (own, place) = (best[at], places[at]);
        let (before, place_before) = if at == 0 { (*key, [row; LANES]) } else { (best[at - 1], places[at - 1]) };
        for lane in 0..LANES {
            let key = key[lane];
            let passes = at > 0 && key > before[lane];
            let moves = if at == last { enters(key, own[lane]) } else { key > own[lane] };
            let (new, new_place) = if passes { (before[lane], place_before[lane]) } else { (key, row) };
            best[at][lane] = if moves { new } else { own[lane] };
            places[at][lane] = if moves { new_place } else { place[lane] };
        }
    }
}
