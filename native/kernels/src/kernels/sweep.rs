//! The extreme key of a block of contiguous elements: only the value, without its place.
//!
//! ```text
//! best = K registers, each of the worst lane there is
//! for each step of K registers, in the order of addresses; the last one ends where the block does:
//!     best[k] = better of best[k] and register k, for each k
//!     for each pair of registers: note the lanes where one of the two is NaN
//! if a lane was NaN: the key is NaN's
//! best = better of all best[k]
//! if no lane of it is better than the champion so far: nothing
//! the key is the best of its lanes
//! ```
//!
//! Memory is read once, in the order of addresses, as one stream, which the processor reads ahead by itself; what the caches do not
//! hold is prefetched nevertheless. A kernel that kept the best lanes in memory, and took several stretches at a time to load and store them less often,
//! looked like eight streams: on Zen 3 and Zen 4 it took up to three times as long beyond the caches, and twice as long within
//! them. Eight registers hide the latency of a comparison (Zen 3, AVX2: 150 GB/s from the first-level cache; four give 97).

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

use crate::element::compare::{HasLane, Index, Key, Lane, better_key, pick, utmost, worst};
use crate::element::order::{Ends, Largest, Order, Smallest};
use crate::element::types::{Bool, Float16Bits, SIGN};
use crate::kernels::lanes::{IndexOf, LaneOf, Plain, Source};
use crate::thresholds::FLOAT16_BITS_LEAST_ELEMENTS;
use std::hint::black_box;
use std::ops::BitOr;

/// An element type whose blocks can be swept: lane by lane, unless there is a faster way for the type.
pub trait Sweep: HasLane {
    /// Whether the type has only two keys: a search for the first element with the better key is then enough.
    const TWO_KEYS: bool = false;

    /// For each end of the order, the extreme key of a block, if it is better than the champion so far. Elements `ahead` bytes
    /// further on are prefetched meanwhile, unless that is 0.
    ///
    /// # Safety
    /// As for [`sweep_ends`].
    #[inline(always)]
    unsafe fn sweep<X: Ends>(data: Plain<Self>, len: usize, ahead: usize, champions: Keys<Self>) -> Keys<Self> {
        sweep_ends::<Plain<Self>, X>(data, len, ahead, champions)
    }
}

macro_rules! by_lanes {
    ($($type:ty)*) => {$( impl Sweep for $type {} )*};
}

by_lanes!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

impl Sweep for Bool {
    const TWO_KEYS: bool = true;
}

impl<const INFINITY: i16, const ONE: u16> Sweep for Float16Bits<INFINITY, ONE> {
    /// Compares bits, which is as cheap as comparing integers. As signed integers, the positive floats are in order and
    /// above all others; as unsigned integers, the negative ones are, in reverse order. A block without a float of the wanted sign is
    /// read once more, from the first-level cache.
    #[inline(always)]
    unsafe fn sweep<X: Ends>(data: Plain<Self>, len: usize, ahead: usize, champions: Keys<Self>) -> Keys<Self> {
        if len < FLOAT16_BITS_LEAST_ELEMENTS || !X::First::NAN_WINS {
            return sweep_ends::<Plain<Self>, X>(data, len, ahead, champions);
        }
        let (signed, unsigned) = sweep_bits(data.cast(), len, ahead);
        let first = Self::by_bits::<X::First>(data, len, signed, unsigned, champions[0]);
        [first, if X::BOTH { Self::by_bits::<X::Second>(data, len, signed, unsigned, champions[1]) } else { None }]
    }
}

impl<const INFINITY: i16, const ONE: u16> Float16Bits<INFINITY, ONE> {
    /// The extreme key of a block, if it is better than the champion so far. `signed` and `unsigned` are the largest of the bits,
    /// as signed and as unsigned integers.
    ///
    /// # Safety
    /// As for [`sweep_ends`].
    #[inline(always)]
    unsafe fn by_bits<O: Order>(
        data: Plain<Self>,
        len: usize,
        signed: i16,
        unsigned: u16,
        champion: Option<i16>,
    ) -> Option<i16> {
        // NaN has a larger magnitude than infinity: a positive one is the largest signed integer, a negative one the largest
        // unsigned integer.
        let key = if signed > INFINITY || unsigned > INFINITY as u16 | SIGN {
            utmost::<O, _>()
        } else {
            // A float of the wanted sign wins, the largest or smallest as an integer. Without one, the float with the least
            // magnitude does.
            Self::lane_of::<O>(match O::LARGEST {
                true if signed >= 0 => signed,
                true => -((sweep_again::<u16, Smallest>(data.cast(), len)? & !SIGN) as i16),
                false if unsigned >= SIGN => -((unsigned & !SIGN) as i16),
                false => sweep_again::<i16, Smallest>(data.cast(), len)?,
            })
        };
        Some(key).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
    }
}

/// The largest of 16-bit integers, as signed and as unsigned ones, in one go: 256 KB take 0.66 (SSE4.2) to 0.78 times as long (AVX-512) as
/// one after the other, 64 MB 0.9 times. Of four registers of each, AVX2 and SSE4.2 would keep some in memory: 1.15 to 1.25 times as
/// long (Xeon, family 6, model 167). Elements `ahead` bytes further on are prefetched meanwhile, unless that is 0.
///
/// # Safety
/// As for [`sweep_ends`]; there are at least [`FLOAT16_BITS_LEAST_ELEMENTS`].
#[inline(always)]
unsafe fn sweep_bits(data: Plain<i16>, len: usize, ahead: usize) -> (i16, u16) {
    const W: usize = 32;
    const K: usize = 2;
    debug_assert!(len >= K * W, "{len} elements do not fill {K} registers of {W}");
    let mut signed = [[i16::MIN; W]; K];
    let mut unsigned = [[u16::MIN; W]; K];
    let mut at = 0;
    while at < len {
        // Reading an element twice does not change an extremum.
        at = at.min(len - K * W);
        if ahead > 0 {
            data.prefetch(at + ahead / size_of::<i16>(), K * W);
        }
        for number in 0..K {
            let from = at + number * W;
            take::<Largest, _, W>(&mut signed[number], register::<_, Largest, W>(data, from));
            take::<Largest, _, W>(&mut unsigned[number], register::<_, Largest, W>(data.cast::<u16>(), from));
        }
        at += K * W;
    }
    // As in `sweep_registers`: vectors for arrays that must be in memory.
    let signed = join::<Largest, _, W, K>(black_box(signed));
    let unsigned = join::<Largest, _, W, K>(black_box(unsigned));
    (signed.into_iter().fold(i16::MIN, i16::max), unsigned.into_iter().fold(u16::MIN, u16::max))
}

/// Bytes that are swept before each comparison with the best value so far: enough to hide the comparison, and few
/// enough to be still in the first-level cache when the place is searched.
pub const SWEEP_BYTES: usize = 16384;

/// Elements that are searched side by side. The compiler unrolls loops over fewer elements before it vectorises, and then does
/// not vectorise them at all.
pub const STRETCH_ELEMENTS: usize = 64;

/// The extreme key of a block that the first-level cache holds.
///
/// # Safety
/// As for [`sweep_ends`].
#[inline(always)]
unsafe fn sweep_again<E: HasLane, O: Order>(data: Plain<E>, len: usize) -> Option<Key<E>> {
    sweep_ends::<Plain<E>, O>(data, len, 0, [None; 2])[0]
}

/// A key for each end of the order, where there is one.
pub type Keys<E> = [Option<Key<E>>; 2];

/// For each end of the order, the extreme key of a block without its masked elements, if it is better than the champion so
/// far. Elements `ahead` bytes further on are prefetched meanwhile, with their mask, unless that is 0.
///
/// # Safety
/// The source has `len` elements, at least one, which may be read.
#[inline(always)]
pub unsafe fn sweep_ends<S: Source, X: Ends>(
    source: S,
    len: usize,
    ahead: usize,
    champions: Keys<S::Element>,
) -> Keys<S::Element> {
    debug_assert!(len > 0, "a block without elements has no extremum");
    match size_of::<S::Element>() {
        1 => sweep_by::<S, X, 64, 32>(source, len, ahead, champions),
        2 => sweep_by::<S, X, 32, 16>(source, len, ahead, champions),
        4 => sweep_by::<S, X, 16, 8>(source, len, ahead, champions),
        _ => sweep_by::<S, X, 8, 4>(source, len, ahead, champions),
    }
}

/// [`sweep_ends`] with registers of `W` lanes, which fill the widest register there is. Few elements use `HALF` lanes. With
/// AVX-512 the compiler joined halves by shuffles: a Xeon of family 6, model 167, then read 1 MB of binary32 in 12.7 us, and now
/// reads it in 8.7.
///
/// # Safety
/// As for [`sweep_ends`].
#[inline(always)]
unsafe fn sweep_by<S: Source, X: Ends, const W: usize, const HALF: usize>(
    source: S,
    len: usize,
    ahead: usize,
    champions: Keys<S::Element>,
) -> Keys<S::Element> {
    // Both ends, and a mask, need twice as many registers: then two of each are as many as there are.
    if len >= 4 * W && !X::BOTH && !S::MASKED {
        sweep_registers::<S, X, W, 4>(source, len, ahead, champions)
    } else if len >= 2 * W && (X::BOTH || S::MASKED) {
        sweep_registers::<S, X, W, 2>(source, len, ahead, champions)
    } else if len >= 2 * HALF {
        sweep_registers::<S, X, HALF, 2>(source, len, ahead, champions)
    } else {
        let second = if X::BOTH { sweep_few::<S, X::Second>(source, len, champions[1]) } else { None };
        [sweep_few::<S, X::First>(source, len, champions[0]), second]
    }
}

/// The extreme key of a few elements, if it is better than the champion so far.
///
/// # Safety
/// As for [`sweep_ends`].
#[inline(always)]
unsafe fn sweep_few<S: Source, O: Order>(
    source: S,
    len: usize,
    champion: Option<Key<S::Element>>,
) -> Option<Key<S::Element>> {
    let keys = (0..len).map(|at| source.lane::<O>(at).key::<O>());
    keys.reduce(better_key::<O, _>).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
}

/// Sweeps `K` registers of `W` lanes in each step. The compiler keeps such small arrays in registers if all loops over them have
/// constant bounds.
///
/// # Safety
/// The source has `len` elements, at least `K * W`, which may be read.
#[inline(always)]
unsafe fn sweep_registers<S: Source, X: Ends, const W: usize, const K: usize>(
    source: S,
    len: usize,
    ahead: usize,
    champions: Keys<S::Element>,
) -> Keys<S::Element> {
    debug_assert!(len >= K * W && K.is_multiple_of(2), "{len} elements do not fill {K} registers of {W}");
    let mut first = [[worst::<X::First, LaneOf<S>>(); W]; K];
    let mut second = [[worst::<X::Second, LaneOf<S>>(); W]; K];
    let mut nan = [IndexOf::<S>::ZERO; W];
    let mut at = 0;
    while at < len {
        // Reading an element twice does not change an extremum.
        at = at.min(len - K * W);
        if ahead > 0 {
            source.prefetch(at + ahead / size_of::<S::Element>(), K * W);
        }
        for pair in (0..K).step_by(2) {
            let low = at + pair * W;
            let high = at + pair * W + W;
            let one = register::<S, X::First, W>(source, low);
            let other = register::<S, X::First, W>(source, high);
            take::<X::First, _, W>(&mut first[pair], one);
            take::<X::First, _, W>(&mut first[pair + 1], other);
            for lane in 0..W {
                // With AVX-512 this is one instruction; combining truth values takes three.
                nan[lane] = if one[lane].unordered::<X::First>(other[lane]) { Index::MAX } else { nan[lane] };
            }
            if X::BOTH {
                take::<X::Second, _, W>(&mut second[pair], register::<S, X::Second, W>(source, low));
                take::<X::Second, _, W>(&mut second[pair + 1], register::<S, X::Second, W>(source, high));
            }
        }
        at += K * W;
    }
    // The compiler builds vectors for arrays that must be in memory at the end, but none if single lanes are combined. Without this,
    // both ends of 5,000 to 50,000 64-bit integers take 5.2 (AVX2) to 8 times (AVX-512) as long, of floats 1.9 to 2.9 times, of
    // narrower integers 1 to 1.2 times, and one end 0.9 to 1.06 times (EPYC, family 26, model 2).
    let first = black_box(first);
    let second = if X::BOTH { black_box(second) } else { second };
    if LaneOf::<S>::NAN && black_box(nan).into_iter().reduce(BitOr::bitor).is_some_and(Index::any) {
        return [Some(utmost::<X::First, _>()), X::BOTH.then(utmost::<X::Second, _>)];
    }
    let best = join::<X::First, _, W, K>(first);
    let other =
        if X::BOTH { better_than::<X::Second, _, W>(join::<X::Second, _, W, K>(second), champions[1]) } else { None };
    [better_than::<X::First, _, W>(best, champions[0]), other]
}

/// The `W` lanes that start at `from`.
///
/// # Safety
/// They may be read.
#[inline(always)]
unsafe fn register<S: Source, O: Order, const W: usize>(source: S, from: usize) -> [LaneOf<S>; W] {
    let mut lanes = [LaneOf::<S>::LOWEST; W];
    for lane in 0..W {
        lanes[lane] = source.lane_or_nan::<O>(from + lane);
    }
    lanes
}

/// Replaces lanes of `best` by better ones.
#[inline(always)]
fn take<O: Order, L: Lane, const W: usize>(best: &mut [L; W], lanes: [L; W]) {
    for lane in 0..W {
        best[lane] = pick::<O, _>(lanes[lane], best[lane]);
    }
}

/// The best lanes of all registers.
#[inline(always)]
fn join<O: Order, L: Lane, const W: usize, const K: usize>(registers: [[L; W]; K]) -> [L; W] {
    let mut best = registers[0];
    for other in &registers[1..] {
        take::<O, _, W>(&mut best, *other);
    }
    best
}

/// The extreme key of a register, if it is better than the champion so far. Few blocks beat the champion, and this check costs
/// less than finding the block's own key.
#[inline(always)]
fn better_than<O: Order, L: Lane, const W: usize>(best: [L; W], champion: Option<L::Key>) -> Option<L::Key> {
    if let Some(champion) = champion {
        let mut better = false;
        for lane in 0..W {
            better |= O::better(best[lane].key::<O>(), champion);
        }
        if !better {
            return None;
        }
    }
    let mut key = worst::<O, L::Key>();
    for lane in best {
        key = better_key::<O, _>(key, lane.key::<O>());
    }
    Some(key)
}
