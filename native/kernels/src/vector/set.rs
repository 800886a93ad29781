//! Which registers each instruction set has, and how a kernel is compiled for the one in force.
//!
//! [`with_set!`] and [`with_kind!`] turn what is known at run time, the instruction set and the element type, into types. A kernel is
//! then written once, for a [`Set`] and a [`Kind`]. The value of a set is its token: it exists only where the instruction set was
//! detected, so that [`Set::run`] needs no condition of its own.

use crate::isa::{self, Task};
use crate::vector::extent::Writable;
use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register, splat};

/// Bytes of the narrowest register, and of the widest.
pub const NARROWEST: usize = 16;
pub const WIDEST: usize = 64;

/// A register that holds lanes of every kind.
pub trait AllLanes:
    Lanes<Int8> + Lanes<Int16> + Lanes<Int32> + Lanes<Int64> + Lanes<Float16> + Lanes<Float32> + Lanes<Float64>
{
}
impl<V> AllLanes for V where
    V: Lanes<Int8> + Lanes<Int16> + Lanes<Int32> + Lanes<Int64> + Lanes<Float16> + Lanes<Float32> + Lanes<Float64>
{
}

/// An instruction set with the registers that it works on.
pub trait Set: Copy {
    /// The widest register.
    type Register: AllLanes;
    /// The next narrower register, and the narrowest; the same type where there is no narrower register.
    type Half: AllLanes;
    type Narrow: AllLanes;
    /// Runs a task compiled for this instruction set.
    ///
    /// # Safety
    /// The conditions of [`Task::run`] hold.
    unsafe fn run<T: Task>(self, task: T) -> T::Output;
}

/// Implements [`Set`] for the token of an instruction set.
macro_rules! set {
    ($token:ty, $register:ty, $half:ty, $narrow:ty) => {
        impl Set for $token {
            type Register = $register;
            type Half = $half;
            type Narrow = $narrow;
            #[inline(always)]
            unsafe fn run<T: Task>(self, task: T) -> T::Output {
                self.run(task)
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod sets {
    use super::{Set, Task, isa};
    use std::arch::x86_64::{__m128i, __m256i, __m512i};

    set!(isa::sse42::Token, __m128i, __m128i, __m128i);
    set!(isa::avx2::Token, __m256i, __m128i, __m128i);
    set!(isa::avx512::Token, __m512i, __m256i, __m128i);
}

/// The registers of every AArch64; arrays on other architectures and under Miri.
#[cfg(any(not(target_arch = "x86_64"), miri))]
mod sets {
    use super::{Set, Task, isa};
    #[cfg(any(not(target_arch = "aarch64"), miri))]
    use crate::vector::portable::Part as Only;
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    use std::arch::aarch64::uint8x16_t as Only;

    set!(isa::baseline::Token, Only, Only, Only);
}

/// Evaluates an expression with names bound to the type and to the token of the instruction set in force, if it is one of these.
macro_rules! with_set {
    ($I:ident, $set:ident => $body:expr, $otherwise:expr) => {
        match $crate::isa::InForce::now() {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            $crate::isa::InForce::Avx512($set) if $crate::isa::EVERY_COPY => {
                type $I = $crate::isa::avx512::Token;
                $body
            }
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            $crate::isa::InForce::Avx2($set) => {
                type $I = $crate::isa::avx2::Token;
                $body
            }
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            $crate::isa::InForce::Sse42($set) if $crate::isa::EVERY_COPY => {
                type $I = $crate::isa::sse42::Token;
                $body
            }
            #[cfg(any(not(target_arch = "x86_64"), miri))]
            $crate::isa::InForce::Baseline($set) => {
                type $I = $crate::isa::baseline::Token;
                $body
            }
            #[allow(unreachable_patterns, reason = "some architectures have one instruction set")]
            _ => $otherwise,
        }
    };
    ($I:ident => $body:expr, $otherwise:expr) => {
        $crate::vector::set::with_set!($I, _set => $body, $otherwise)
    };
}

pub(crate) use with_set;

/// Evaluates an expression with names bound to the kind of an element type that is not bool, to the bits to flip so that the
/// largest of the kind is wanted, and to the infinity of 16-bit floats.
macro_rules! with_kind {
    ($element:expr, $largest:expr, $K:ident, $flip:ident, $infinity:ident => $body:expr) => {{
        use $crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64};
        let all = if $largest { 0 } else { -1i64 };
        let top = 1i64 << (8 * $element.size() - 1);
        $crate::vector::set::with_kind! { @ $element, $K, $flip, $infinity => $body,
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
