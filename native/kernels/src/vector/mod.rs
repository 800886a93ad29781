//! Vector registers behind two traits, so that a kernel is written once for all instruction sets.
//!
//! [`Register`] has the operations that do not depend on the lanes' kind: load, store, move lanes. [`Lanes`] has those on lanes
//! of a [`Kind`]: compare them, which gives a [`Mask`], and find a lane again. Every operation is one to four instructions. The
//! largest lane always wins: a kernel that wants the smallest, or whose integers are unsigned, flips bits of what it loads.
//!
//! No load stops before the end of a register, and no load takes a mask: kernels read whole registers that lie inside the array.
//! A register consists of one or more *parts* of 16 bytes. Zips and shuffles work within each part, as they do in AVX2.

// Each function here, and in the kernels that build on it, is a few instructions with one safety condition: see `Register`.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc, reason = "the condition is the same for every operation")]

/// A loop that is written out, because what it indexes has to be in registers: the compiler left 16 of them in memory. The
/// condition is evaluated before code is generated: otherwise these loops were three quarters of all kernels.
macro_rules! unroll {
    ($count:expr, $at:ident => $body:expr) => { unroll!(@ $count, $at, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) };
    (@ $count:expr, $at:ident, $body:expr, $($number:literal)*) => {$(
        if const { $number < $count } {
            let $at: usize = $number;
            $body;
        }
    )*};
}

pub(crate) use unroll;

/// Implements [`Lanes`] for a register with functions of two registers. `$view` converts their arguments; `$bits` and `$mask_of`
/// convert their results back.
macro_rules! lanes {
    ($register:ty: $($kind:ident $mask:ty, $view:ident $bits:ident $mask_of:ident,
       $max:expr, $min:expr, $gt:expr, $eq:expr $(, $unordered:expr)?;)*) => {$(
        impl Lanes<$kind> for $register {
            type Mask = $mask;
            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                $bits($max($view(self), $view(other)))
            }
            #[inline(always)]
            unsafe fn min(self, other: Self) -> Self {
                $bits($min($view(self), $view(other)))
            }
            #[inline(always)]
            unsafe fn gt(self, other: Self) -> $mask {
                $mask_of($gt($view(self), $view(other)))
            }
            #[inline(always)]
            unsafe fn eq(self, other: Self) -> $mask {
                $mask_of($eq($view(self), $view(other)))
            }
            $(#[inline(always)]
            unsafe fn unordered(self, other: Self) -> $mask {
                $mask_of($unordered($view(self), $view(other)))
            })?
        }
    )*};
}

pub mod extent;
#[cfg(target_arch = "aarch64")]
pub mod neon;
#[cfg(any(miri, test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub mod portable;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use extent::{Readable, Writable};
use std::hint::select_unpredictable;

/// A kind of lanes.
pub trait Kind: Copy + 'static {
    /// Bytes of a lane.
    const SIZE: usize;
    /// Whether there are two zeros.
    const FLOAT: bool = false;
    /// Whether lanes are keys, which take several instructions to make and do not tell the two zeros apart.
    const KEYS: bool = false;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $size:literal $float:literal $keys:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $kind;
        impl Kind for $kind {
            const SIZE: usize = $size;
            const FLOAT: bool = $float;
            const KEYS: bool = $keys;
        }
    )*};
}

kinds! {
    /// Signed integers of 8 bits.
    Int8 1 false false;
    /// Signed integers of 16 bits.
    Int16 2 false false;
    /// Signed integers of 32 bits.
    Int32 4 false false;
    /// Signed integers of 64 bits.
    Int64 8 false false;
    /// Both 16-bit floats: they differ only in their infinity.
    Float16 2 true true;
    /// binary32.
    Float32 4 true false;
    /// binary64.
    Float64 8 true false;
}

/// Evaluates an expression with names bound to the kind of an element type that is not bool, to the bits to flip so that the
/// largest of the kind is wanted, and to the infinity of 16-bit floats.
macro_rules! with_kind {
    ($element:expr, $largest:expr, $K:ident, $flip:ident, $infinity:ident => $body:expr) => {{
        use $crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64};
        let all = if $largest { 0 } else { -1i64 };
        let top = 1i64 << (8 * $element.size() - 1);
        $crate::vector::with_kind! { @ $element, $K, $flip, $infinity => $body,
            Int8 Int8 all 0, UInt8 Int8 (all ^ top) 0, Int16 Int16 all 0, UInt16 Int16 (all ^ top) 0,
            Int32 Int32 all 0, UInt32 Int32 (all ^ top) 0, Int64 Int64 all 0, UInt64 Int64 (all ^ top) 0,
            Float16 Float16 (all & top) 0x7c00, BFloat16 Float16 (all & top) 0x7f80,
            Float32 Float32 (all & top) 0, Float64 Float64 (all & top) 0 }
    }};
    (@ $element:expr, $K:ident, $flip:ident, $infinity:ident => $body:expr,
     $($name:ident $kind:ident $bits:tt $limit:literal),*) => {
        match $element {
            $crate::element::ElementType::Bool => 0,
            $($crate::element::ElementType::$name => {
                type $K = $kind;
                let ($flip, $infinity) = ($bits, $limit);
                $body
            })*
        }
    };
}

pub(crate) use with_kind;

/// Bytes of the narrowest register, and of the widest.
pub const NARROWEST: usize = 16;
pub const WIDEST: usize = 64;

/// A vector register.
///
/// # Safety
/// Every operation of these traits requires that the register's instruction set is in force, and that the memory that it reads or
/// writes is valid. Nothing needs to be aligned.
pub trait Register: Copy {
    /// Bytes of the register, a multiple of 16.
    const BYTES: usize;
    /// For lanes of 1, 2, 4 and 8 bytes: the bits per lane in a word of [`eq_bits`](Lanes::eq_bits), and the registers per word.
    const EQ_BITS: [(usize, usize); 4];
    /// Loads a register, without a check: for [`load`](Self::load) alone.
    unsafe fn load_raw(from: *const u8) -> Self;
    /// Loads parts of 16 bytes, without a check: for [`load_parts`](Self::load_parts) alone.
    unsafe fn load_parts_raw(from: *const u8, stride: isize) -> Self;
    /// Stores the register, without a check: for [`store`](Self::store) alone.
    unsafe fn store_raw(self, to: *mut u8);
    /// Loads a register from bytes that may be read: where assertions are on, that is checked.
    #[inline(always)]
    unsafe fn load(from: Readable) -> Self {
        Self::load_raw(from.read(Self::BYTES))
    }
    /// Loads parts of 16 bytes that are `stride` bytes apart: where assertions are on, each of them is checked.
    #[inline(always)]
    unsafe fn load_parts(from: Readable, stride: isize) -> Self {
        if cfg!(debug_assertions) {
            for part in 0..(Self::BYTES / 16) as isize {
                from.wrapping_offset(part * stride).read(16);
            }
        }
        Self::load_parts_raw(from.address(), stride)
    }
    /// Stores the register where bytes may be written: where assertions are on, that is checked.
    #[inline(always)]
    unsafe fn store(self, to: Writable) {
        self.store_raw(to.write(Self::BYTES))
    }
    /// The exclusive or.
    unsafe fn xor(self, other: Self) -> Self;
    /// Copies the low `SIZE` bytes to every lane of `SIZE` bytes.
    unsafe fn splat<const SIZE: usize>(bits: i64) -> Self;
    /// Interleaves lanes of `SIZE` bytes: those of each part's lower half, and those of its upper half.
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self);
    /// Picks, in each part, the bytes that the table names.
    unsafe fn shuffle(self, table: &[u8; 16]) -> Self;
    /// Swaps parts that are `PARTS` apart.
    unsafe fn exchange<const PARTS: usize>(self) -> Self;
    /// The parts with even numbers of both registers, and those with odd numbers.
    #[inline(always)]
    unsafe fn deal_parts(self, other: Self) -> (Self, Self) {
        (self, other)
    }
    /// Cuts each part into as many blocks as the register has parts, and swaps block `b` of part `p` with block `p` of part `b`.
    unsafe fn exchange_blocks(self) -> Self;
    /// Converts 16-bit lanes from sign and magnitude to two's complement, or back.
    unsafe fn complement(self) -> Self;
    /// The larger of each two unsigned 16-bit lanes.
    unsafe fn max_u16(self, other: Self) -> Self;
    /// The larger of each two pairs of lanes of `SIZE` bytes, 1 or 2: of an unsigned rank, and behind it a signed element, which
    /// decides unless two are equal. In little-endian order a pair is a signed lane of twice the bytes.
    unsafe fn max_pairs<const SIZE: usize>(self, other: Self) -> Self;
    /// The lanes of `SIZE` bytes whose byte in the mask is not 0, and `other` in place of the others.
    #[inline(always)]
    unsafe fn select_by_bytes<const SIZE: usize>(self, mask: *const u8, other: Self) -> Self {
        let mut lanes = [0u8; 64];
        let mut others = [0u8; 64];
        self.store_raw(lanes.as_mut_ptr());
        other.store_raw(others.as_mut_ptr());
        for at in 0..Self::BYTES {
            lanes[at] = if *mask.add(at / SIZE) == 0 { others[at] } else { lanes[at] };
        }
        Self::load_raw(lanes.as_ptr())
    }
}

/// For each lane of a register, whether a comparison holds.
pub trait Mask<V>: Copy {
    /// A mask that holds nowhere.
    unsafe fn none() -> Self;
    /// Where either mask holds.
    unsafe fn or(self, other: Self) -> Self;
    /// Where this mask holds and the other does not.
    unsafe fn without(self, other: Self) -> Self;
    /// Whether the mask holds anywhere.
    unsafe fn any(self) -> bool;
    /// The lanes of `yes` where the mask holds, and of `no` elsewhere.
    unsafe fn select(self, yes: V, no: V) -> V;
    /// Packs `count` masks for lanes of `SIZE` bytes into a word, as [`Register::EQ_BITS`] says.
    unsafe fn word<const SIZE: usize>(count: usize, mask: impl Fn(usize) -> Self) -> u64;
}

/// A register as lanes of a kind. The largest lane wins.
pub trait Lanes<K: Kind>: Register {
    /// The number of lanes in a register.
    const LANES: usize = Self::BYTES / K::SIZE;
    /// Bits per lane in a word of [`eq_bits`](Self::eq_bits).
    const BITS: usize = Self::EQ_BITS[K::SIZE.trailing_zeros() as usize].0;
    /// Registers per word.
    const GROUP: usize = Self::EQ_BITS[K::SIZE.trailing_zeros() as usize].1;
    /// The result of comparing two registers.
    type Mask: Mask<Self>;

    /// The larger of each two lanes. A NaN may be lost.
    unsafe fn max(self, other: Self) -> Self;
    /// The smaller of each two lanes, the second of equal ones. A NaN may be lost.
    unsafe fn min(self, other: Self) -> Self;
    /// Where these lanes are larger than those of `other`.
    unsafe fn gt(self, other: Self) -> Self::Mask;
    /// Where lanes are equal.
    unsafe fn eq(self, other: Self) -> Self::Mask;
    /// Where either float is NaN.
    #[inline(always)]
    unsafe fn unordered(self, _other: Self) -> Self::Mask {
        Self::Mask::none()
    }

    /// Converts loaded elements to lanes.
    #[inline(always)]
    unsafe fn lanes(self) -> Self {
        if K::KEYS { self.complement() } else { self }
    }
    /// These lanes, with `least` in place of NaN. `infinity` is the infinity of a keyed kind.
    #[inline(always)]
    unsafe fn replace_nan(self, least: Self, infinity: Self) -> Self {
        if K::KEYS {
            self.gt(infinity).select(least, self).max(least)
        } else if K::FLOAT && cfg!(target_arch = "aarch64") {
            self.unordered(self).select(least, self)
        } else {
            // If either lane is NaN, `max` returns the second.
            self.max(least)
        }
    }
    /// Where a lane is NaN. `infinity` is the infinity of a keyed kind, and `least` that with a sign.
    #[inline(always)]
    unsafe fn nan(self, infinity: Self, least: Self) -> Self::Mask {
        if K::KEYS { self.gt(infinity).or(least.gt(self)) } else { self.unordered(self) }
    }
    /// Where these lanes beat `best`, they replace it, and `number` replaces `place`. Equal lanes keep the bits of `best`.
    #[inline(always)]
    unsafe fn update_max(self, number: Self, best: &mut Self, place: &mut Self) {
        let above = self.gt(*best);
        // With NEON the maximum of two zeros is +0.
        *best = if cfg!(target_arch = "aarch64") { above.select(self, *best) } else { self.max(*best) };
        *place = above.select(number, *place);
    }
    /// Whether any lane equals the same lane of the other register.
    #[inline(always)]
    unsafe fn any_eq(self, other: Self) -> bool {
        self.eq(other).any()
    }
    /// Which lanes of up to [`GROUP`](Self::GROUP) registers equal the same lane of the needle.
    #[inline(always)]
    unsafe fn eq_bits(registers: &[Self], needle: Self) -> u64 {
        debug_assert!(registers.len() <= Self::GROUP, "a word holds the hits of {} registers", Self::GROUP);
        let mask = |at: usize| registers[at].eq(needle);
        match K::SIZE {
            1 => Self::Mask::word::<1>(registers.len(), mask),
            2 => Self::Mask::word::<2>(registers.len(), mask),
            4 => Self::Mask::word::<4>(registers.len(), mask),
            _ => Self::Mask::word::<8>(registers.len(), mask),
        }
    }
    /// The state before any NaN is seen.
    #[inline(always)]
    unsafe fn no_nan() -> Nans<K, Self> {
        Nans { nan: Self::Mask::none(), most: Self::splat::<8>(0) }
    }
    /// Looks for NaN in two registers of elements.
    #[inline(always)]
    unsafe fn note_nan(nans: &mut Nans<K, Self>, one: Self, other: Self) {
        if K::KEYS {
            nans.most = one.max_u16(other).max_u16(nans.most);
        } else if K::FLOAT {
            nans.nan = nans.nan.or(one.unordered(other));
        }
    }
    /// Whether NaN was seen; `best` has the largest lanes. `infinity` is the infinity of a keyed kind.
    #[inline(always)]
    unsafe fn has_nan(nans: Nans<K, Self>, best: Self, infinity: Self) -> bool {
        if K::KEYS {
            let negative = nans.most.xor(Self::splat::<2>(i16::MIN.into()));
            best.gt(infinity).or(negative.gt(infinity)).any()
        } else {
            K::FLOAT && nans.nan.any()
        }
    }
}

/// What was seen of NaN: `nan` is where elements were unordered. For keyed kinds, whose NaNs lie beyond the infinities,
/// `most` has the highest bits: those of a negative NaN, if there is one.
#[derive(Clone, Copy)]
pub struct Nans<K: Kind, V: Lanes<K>> {
    nan: V::Mask,
    most: V,
}

/// Copies the bits of an element to every lane.
#[inline(always)]
pub unsafe fn splat<K: Kind, V: Lanes<K>>(bits: i64) -> V {
    match K::SIZE {
        1 => V::splat::<1>(bits),
        2 => V::splat::<2>(bits),
        4 => V::splat::<4>(bits),
        _ => V::splat::<8>(bits),
    }
}

/// Zips lanes of a kind.
#[inline(always)]
pub unsafe fn zip<K: Kind, V: Lanes<K>>(one: V, other: V) -> (V, V) {
    match K::SIZE {
        1 => one.zip::<1>(other),
        2 => one.zip::<2>(other),
        4 => one.zip::<4>(other),
        _ => one.zip::<8>(other),
    }
}

/// A table that takes byte `(at + by) % of` of each group of `of` bytes.
const fn rotation(of: usize, by: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut at = 0;
    while at < 16 {
        table[at] = (at / of * of + (at + by) % of) as u8;
        at += 1;
    }
    table
}

/// A table that repeats one word of four bytes.
const fn broadcast(word: usize) -> [u8; 16] {
    let mut table = [0; 16];
    let mut at = 0;
    while at < 16 {
        table[at] = (4 * word + at % 4) as u8;
        at += 1;
    }
    table
}

/// Sets all lanes that lie `width` bytes apart, a power of two, to the largest of them.
#[inline(always)]
pub unsafe fn fold<K: Kind, V: Lanes<K>>(mut best: V, width: usize) -> V {
    debug_assert!(width.is_power_of_two() && width >= K::SIZE, "lanes of {} bytes, {width} bytes apart", K::SIZE);
    // Each step joins a lane with one half as far away: from the width of the register down to the one that is wanted.
    if V::BYTES >= 64 && width <= 32 {
        best = best.max(best.exchange::<2>());
    }
    if V::BYTES >= 32 && width <= 16 {
        best = best.max(best.exchange::<1>());
    }
    if width <= 8 {
        best = best.max(best.shuffle(const { &rotation(16, 8) }));
    }
    if width <= 4 {
        best = best.max(best.shuffle(const { &rotation(16, 4) }));
    }
    within_words::<K, V>(best, width)
}

/// The part of [`fold`] that works within each word of four bytes.
#[inline(always)]
unsafe fn within_words<K: Kind, V: Lanes<K>>(mut best: V, width: usize) -> V {
    if width <= 2 {
        best = best.max(best.shuffle(const { &rotation(4, 2) }));
    }
    if width == 1 {
        best = best.max(best.shuffle(const { &rotation(4, 1) }));
    }
    best
}

/// Copies the largest lane to all lanes.
#[inline(always)]
pub unsafe fn spread<K: Kind, V: Lanes<K>>(best: V) -> V {
    fold::<K, V>(best, K::SIZE)
}

/// The largest lane of each of four registers, at bytes 0, 4, 8 and 12 of the first register; for lanes of 8 bytes at bytes 0 and
/// 8 of the first, then of the second. Zips join pairs of registers, so that four take little longer than one.
#[inline(always)]
pub unsafe fn fold_four<K: Kind, V: Lanes<K>>([a, b, c, d]: [V; 4]) -> [V; 2] {
    let [ab, cd] = join_four::<K, V>([a, b, c, d]);
    if K::SIZE == 8 {
        return [fold::<K, V>(ab, 16), fold::<K, V>(cd, 16)];
    }
    [within_words::<K, V>(fold::<K, V>(ab, 16), K::SIZE); 2]
}

/// The largest lanes of four registers in each part of one: four bytes of each register. Lanes of 8 bytes are in two, of two each.
#[inline(always)]
unsafe fn join_four<K: Kind, V: Lanes<K>>([a, b, c, d]: [V; 4]) -> [V; 2] {
    let join = |(low, high): (V, V)| low.max(high);
    if K::SIZE == 8 {
        return [join(a.zip::<8>(b)), join(c.zip::<8>(d))];
    }
    let ab = join(a.zip::<4>(b));
    let cd = join(c.zip::<4>(d));
    [join(ab.zip::<8>(cd)); 2]
}

/// Copies each of the lanes that [`fold_four`] found to all lanes of a register.
#[inline(always)]
pub unsafe fn spread_four<K: Kind, V: Lanes<K>>([ab, cd]: [V; 2]) -> [V; 4] {
    if K::SIZE == 8 {
        let ((a, b), (c, d)) = (ab.zip::<8>(ab), cd.zip::<8>(cd));
        return [a, b, c, d];
    }
    [
        ab.shuffle(const { &broadcast(0) }),
        ab.shuffle(const { &broadcast(1) }),
        ab.shuffle(const { &broadcast(2) }),
        ab.shuffle(const { &broadcast(3) }),
    ]
}

/// The most groups of four registers that [`fold_groups`] joins: as many as the widest register has parts.
pub const MOST_GROUPS: usize = WIDEST / 16;

/// The largest lane of each register of as many groups as a register has parts, one after the other: each in four bytes, which it
/// fills, or in eight.
#[inline(always)]
pub unsafe fn fold_groups<K: Kind, V: Lanes<K>>(groups: [[V; 4]; MOST_GROUPS]) -> [V; 2] {
    let join = |(even, odd): (V, V)| even.max(odd);
    // Each part has all registers of its group. Two neighbours are joined until each part has a group of its own.
    let each = if K::SIZE == 8 { 2 } else { 1 };
    let mut joined = [groups[0][0]; 2 * MOST_GROUPS];
    unroll!(@ V::BYTES / 16, at, {
        let [low, high] = join_four::<K, V>(groups[at]);
        joined[each * at] = low;
        if K::SIZE == 8 {
            joined[each * at + 1] = high;
        }
    }, 0 1 2 3);
    unroll!(@ (V::BYTES / 16).trailing_zeros() as usize, round, {
        let left = (each * V::BYTES / 16) >> (round + 1);
        unroll!(@ MOST_GROUPS, at, if at < left {
            joined[at] = join(joined[2 * at].deal_parts(joined[2 * at + 1]));
        }, 0 1 2 3);
    }, 0 1);
    let first = within_words::<K, V>(joined[0], K::SIZE);
    [first, if K::SIZE == 8 { joined[1] } else { first }]
}

/// The first (or last) place of `needle` in `N` registers, `N <= 8`, that hold `len` elements. A register that would reach beyond
/// the last element ends there instead. If nothing equals `needle`, because memory has changed, it returns some place.
#[inline(always)]
pub unsafe fn place<K: Kind, V: Lanes<K>, const N: usize, const LAST: bool>(
    registers: &[V; N],
    needle: V,
    len: usize,
) -> usize {
    debug_assert!(N > 0 && len >= V::LANES && len <= N * V::LANES, "{len} elements in {N} registers of {}", V::LANES);
    let place = place_of_hit::<K, V, N, LAST>(registers, needle);
    // A lane of the last register lies beyond the last element by as much as that register was moved back to end there.
    place.min(place % V::LANES + (len - V::LANES))
}

/// The first (or last) lane of `N` registers, `N <= 8`, that equals `needle`; a number beyond them if none does.
#[inline(always)]
pub unsafe fn place_of_hit<K: Kind, V: Lanes<K>, const N: usize, const LAST: bool>(
    registers: &[V; N],
    needle: V,
) -> usize {
    let words = N.div_ceil(V::GROUP);
    let mut place = 0;
    // The word whose hits win comes last, and replaces the others without a branch, which would be mispredicted.
    for step in 0..words {
        let at = if LAST { step } else { words - 1 - step };
        let hits = V::eq_bits(&registers[at * V::GROUP..N.min((at + 1) * V::GROUP)], needle);
        let bit = if LAST { 63 ^ hits.leading_zeros() } else { hits.trailing_zeros() };
        let here = at * V::GROUP * V::LANES + bit as usize / V::BITS;
        place = if step == 0 { here } else { select_unpredictable(hits != 0, here, place) };
    }
    place
}

/// Writes a place for each lane. `SIGNED` says whether lanes have a sign.
///
/// # Safety
/// There is room for them.
#[inline(always)]
pub unsafe fn store_places<K: Kind, V: Lanes<K>, const SIGNED: bool>(places: V, to: Writable) {
    if K::SIZE == 8 {
        return places.store(to);
    }
    let lanes = Unpacked::new(places);
    for lane in 0..V::LANES {
        let place = if SIGNED { lanes.signed::<K>(lane) } else { lanes.get::<K>(lane) as i64 };
        to.element::<i64>(lane).write_unaligned(place);
    }
}

/// Writes the elements from which lanes were made. Keys and elements convert alike in both directions, but a key does not tell
/// the zeros apart: for zeros the elements are read again, from where `element` finds them by lane and place.
///
/// # Safety
/// There is room for them.
#[inline(always)]
pub unsafe fn values<K: Kind, V: Lanes<K>>(
    lanes: V,
    places: V,
    flip: V,
    element: impl Fn(usize, usize) -> *const u8,
    to: Writable,
) {
    // Keys and elements convert alike in both directions: the same operation gives the elements back.
    let zero = splat::<K, V>(0);
    lanes.lanes().xor(flip).store(to);
    if K::KEYS && lanes.any_eq(zero) {
        let places = Unpacked::new(places);
        for lane in 0..V::LANES {
            let from = element(lane, places.get::<K>(lane));
            to.add(lane * K::SIZE).write(K::SIZE).copy_from_nonoverlapping(from, K::SIZE);
        }
    }
}

/// The lanes of a register in memory.
pub struct Unpacked([u64; WIDEST / 8]);

impl Unpacked {
    #[inline(always)]
    pub unsafe fn new<V: Register>(register: V) -> Self {
        let mut lanes = [0; WIDEST / 8];
        register.store(Writable::bytes(lanes.as_mut_ptr().cast(), WIDEST));
        Self(lanes)
    }

    /// A lane of eight bytes, or as many neighbours as fill them.
    #[inline(always)]
    pub fn whole(&self, number: usize) -> u64 {
        self.0[number]
    }

    /// A lane as a signed number.
    #[inline(always)]
    unsafe fn signed<K: Kind>(&self, lane: usize) -> i64 {
        let beyond = 64 - 8 * K::SIZE as u32;
        (self.get::<K>(lane) as i64) << beyond >> beyond
    }

    /// A lane as an unsigned number.
    #[inline(always)]
    pub unsafe fn get<K: Kind>(&self, lane: usize) -> usize {
        let lanes = self.0.as_ptr();
        match K::SIZE {
            1 => usize::from(*lanes.cast::<u8>().add(lane)),
            2 => usize::from(*lanes.cast::<u16>().add(lane)),
            4 => *lanes.cast::<u32>().add(lane) as usize,
            _ => *lanes.add(lane) as usize,
        }
    }
}
