//! The extreme key of a block of contiguous elements: values alone, without their places.

use crate::element::compare::{Compared, Index, Key, Lane, NanState, better_key, pick, utmost, worst};
use crate::element::integers::Bool;
use crate::element::order::Order;
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::prefetch::prefetch;
use std::mem::MaybeUninit;

/// An element type whose blocks can be swept: lane by lane, unless there is a faster way for the type.
pub trait Sweep: Compared {
    /// How much of a row is searched, before any of it is swept, for the key that no other beats: nothing after it can win.
    const HEAD: Head = Head::NONE;

    /// The extreme key of a block, if it is better than the champion so far. Where `ahead`, what comes after it is asked for.
    ///
    /// # Safety
    /// `data` points at `len >= 1` elements, of any alignment.
    #[inline(always)]
    unsafe fn sweep<O: Order>(
        data: *const Self,
        len: usize,
        champion: Option<Key<Self>>,
        ahead: bool,
    ) -> Option<Key<Self>> {
        // SAFETY: the caller's.
        unsafe { sweep_lanes::<Self, O>(data, len, champion, ahead) }
    }
}

/// The beginning of a row, from the end whose ties win.
pub struct Head {
    /// Elements of the beginning.
    pub len: usize,
    /// Elements of the shortest row that is worth it.
    pub least: usize,
    /// Whether there are but two keys, so that the search says all.
    pub two_keys: bool,
}

impl Head {
    /// There is nothing to search for.
    const NONE: Self = Self { len: 0, least: usize::MAX, two_keys: false };
}

impl Sweep for f32 {}

impl Sweep for f64 {}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Sweep for $type {
            // (Among random bytes there is an extreme in it.)
            const HEAD: Head = Head {
                len: if size_of::<$type>() == 1 { 2048 } else { LANES },
                least: BLOCK / size_of::<$type>(),
                two_keys: false,
            };
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Sweep for Bool {
    const HEAD: Head = Head { len: BLOCK, least: 1, two_keys: true };
    /// By bytes, the copies of whose loop are there already: any but zero is true.
    #[inline(always)]
    unsafe fn sweep<O: Order>(data: *const Self, len: usize, champion: Option<u8>, ahead: bool) -> Option<u8> {
        let reach = champion.map(|champion| if O::LARGEST { champion } else { champion.min(1) });
        // SAFETY: the caller's; a bool is a byte.
        let best = unsafe { sweep_lanes::<u8, O>(data.cast(), len, reach, ahead) };
        best.map(|byte| if byte == 0 { 0 } else { u8::MAX })
    }
}

/// Bytes that are swept before the best value so far is compared: long enough to hide the comparison, short
/// enough to be still in the first-level cache when the answer is looked up in it.
pub const BLOCK: usize = 16384;

/// Bytes of accumulators that a sweep uses where a row is long enough.
pub const ACCUMULATORS: usize = 256;

/// Bytes ahead of what is being read that are asked for: rows follow each other in most arrays, so this reaches into
/// the next row.
pub const DISTANCE: usize = 4096;

/// Whether sweeps of a type ask for what comes later. Elements of one or two bytes are compared as fast as they can be
/// loaded, some of them several times; to ask for them takes longer than it gains.
pub const fn asks_ahead<E: Compared>() -> bool {
    size_of::<E>() >= 4
}

/// Whether each lane is also watched for NaN, which takes longer than the accumulators do.
pub const fn watched<E: Compared>() -> bool {
    size_of::<E>() >= 4 && size_of::<<E::Lane as Lane>::NanState>() > 0
}

/// Elements that are the least to go through side by side. Loops over fewer are unrolled by the compiler
/// before it vectorises them, and then not vectorised at all.
pub const LANES: usize = 64;

/// The extreme key of a block, if it is better than the champion so far.
///
/// # Safety
/// `data` points at `len >= 1` elements, of any alignment.
#[inline(always)]
pub unsafe fn sweep_lanes<E: Compared, O: Order>(
    data: *const E,
    len: usize,
    champion: Option<Key<E>>,
    ahead: bool,
) -> Option<Key<E>> {
    // SAFETY: as many elements are read as there are.
    unsafe {
        let wide = const { if ACCUMULATORS / size_of::<E>() > LANES { ACCUMULATORS / size_of::<E>() } else { LANES } };
        // Short rows end before the processor reads ahead by itself, and to watch for NaN leaves time to ask.
        let pays = asks_ahead::<E>() && (watched::<E>() || len * size_of::<E>() < BLOCK);
        if pays && ahead && len >= LANES {
            sweep_by::<E, O, true>(data, len, champion, LANES)
        } else if len >= 16 * wide {
            sweep_by::<E, O, false>(data, len, champion, wide)
        } else if len >= LANES {
            sweep_by::<E, O, false>(data, len, champion, LANES)
        } else {
            let key = (0..len).map(|at| load::<E, O>(data, at).key::<O>());
            key.reduce(better_key::<O, _>).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
        }
    }
}

/// Sweeps `lanes` elements side by side, at most [`ACCUMULATORS`] of them.
///
/// The accumulators stay in memory: a pass takes up to eight stretches into them, so they are loaded and stored once for
/// all eight. More would be further apart: passes over eight kilobytes look like eight walks to a processor that reads
/// ahead, and took up to twice as long. Where lanes are watched for NaN, two are nearer still, which pays where more comes
/// after them. (Accumulators in an array that should stay in registers were spilled at every step.)
///
/// # Safety
/// `data` points at `len >= lanes` elements, and `lanes` is a multiple of [`LANES`].
#[inline(always)]
unsafe fn sweep_by<E: Compared, O: Order, const AHEAD: bool>(
    data: *const E,
    len: usize,
    champion: Option<Key<E>>,
    lanes: usize,
) -> Option<Key<E>> {
    let mut best = Aligned([const { MaybeUninit::<E::Lane>::uninit() }; ACCUMULATORS]);
    let best = &mut best.0[..lanes];
    let near = AHEAD && watched::<E>();
    let mut nan = false;
    let mut at = 0;
    while at < len {
        // The last stretch overlaps the one before: an extremum does not mind reading an element twice.
        at = at.min(len - lanes);
        // SAFETY: each pass reads as many stretches as its constant says, and so many are left.
        let taken = unsafe {
            match ((len - at) / lanes, at == 0) {
                (8.., true) if !near => stretch::<E, O, 8, true, AHEAD>(data.add(at), best, &mut nan),
                (4.., true) if !near => stretch::<E, O, 4, true, AHEAD>(data.add(at), best, &mut nan),
                (2.., true) => stretch::<E, O, 2, true, AHEAD>(data.add(at), best, &mut nan),
                (_, true) => stretch::<E, O, 1, true, AHEAD>(data.add(at), best, &mut nan),
                (8.., false) if !near => stretch::<E, O, 8, false, AHEAD>(data.add(at), best, &mut nan),
                (4.., false) if !near => stretch::<E, O, 4, false, AHEAD>(data.add(at), best, &mut nan),
                (2.., false) => stretch::<E, O, 2, false, AHEAD>(data.add(at), best, &mut nan),
                (_, false) => stretch::<E, O, 1, false, AHEAD>(data.add(at), best, &mut nan),
            }
        };
        at += taken * lanes;
    }
    if nan {
        return Some(utmost::<O, _>());
    }
    // SAFETY: the passes have filled the accumulators.
    let best = unsafe { std::slice::from_raw_parts_mut(best.as_mut_ptr().cast::<E::Lane>(), lanes) };
    if let Some(champion) = champion {
        // Few blocks beat the champion, and to see that they do not costs less than to find their own.
        let mut better = <E::Lane as Lane>::Index::ZERO;
        for lane in best.iter() {
            better = better.or(O::better(lane.key::<O>(), champion));
        }
        if !better.any() {
            return None;
        }
    }
    // By halves first, then by key: integers are what the compiler reduces within a register.
    let mut width = lanes;
    while width > LANES {
        width /= 2;
        let (low, high) = best.split_at_mut(width);
        for lane in 0..width {
            low[lane] = pick::<O, _>(high[lane], low[lane]);
        }
    }
    // From the first lane on: vectors loaded across those just stored would have to wait for memory.
    let mut key = worst::<O, Key<E>>();
    for lane in &best[..LANES] {
        key = better_key::<O, _>(key, lane.key::<O>());
    }
    Some(key)
}

/// Accumulates `COUNT` neighbouring stretches, each as long as `best`, into `best`, or begins it where `FRESH`; asks for
/// what comes later where `AHEAD`. Returns `COUNT` and raises `nan` where a lane was NaN.
///
/// # Safety
/// There are `COUNT` stretches; unless `FRESH`, `best` is filled.
#[inline(always)]
unsafe fn stretch<E: Compared, O: Order, const COUNT: usize, const FRESH: bool, const AHEAD: bool>(
    data: *const E,
    best: &mut [MaybeUninit<E::Lane>],
    nan: &mut bool,
) -> usize {
    let lanes = best.len();
    if AHEAD {
        for line in (0..COUNT * lanes * size_of::<E>()).step_by(LINE) {
            prefetch::<LINE>(data.cast::<u8>().wrapping_add(DISTANCE + line));
        }
    }
    let mut flags = <E::Lane as Lane>::Index::ZERO;
    for lane in 0..lanes {
        // SAFETY: the caller vouches for `COUNT` stretches and for accumulators that are filled unless `FRESH`.
        unsafe {
            let mut champion = if FRESH { worst::<O, _>() } else { best[lane].assume_init() };
            let mut state = <E::Lane as Lane>::NanState::new::<O>();
            for step in 0..COUNT {
                let value = load::<E, O>(data, lane + step * lanes);
                state = state.observe::<O>(value);
                champion = pick::<O, _>(value, champion);
            }
            flags = flags.or(state.saw_nan::<O>(champion));
            best[lane].write(champion);
        }
    }
    *nan |= flags.any();
    COUNT
}

/// The lane of the element at `at`.
///
/// # Safety
/// The element may be read.
#[inline(always)]
pub unsafe fn load<E: Compared, O: Order>(data: *const E, at: usize) -> E::Lane {
    // SAFETY: the caller keeps `at` inside the row; alignment is not needed.
    unsafe { data.add(at).read_unaligned() }.lane::<O>()
}
