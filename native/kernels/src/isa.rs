//! Instruction sets: the one dispatch point.
//!
//! Kernels are written once, inside a [`Task`]. Each instruction set gets its own copy of every task, inlined into a function
//! with those target features. Most are plain loops that the compiler vectorises: [`dispatch`] runs them. `short_rows`,
//! `small_inner`, `top_k` and `transpose` use the registers of `vector`: they are written for a [`Set`], the type to which
//! [`with_set!`] turns the instruction set in force. The value of a set is a token, which exists only where the instruction set was
//! detected, so that [`Set::run`] needs no condition of its own.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Lanes};
use std::sync::atomic::{AtomicU8, Ordering};

/// Work that is compiled once per instruction set. Mark `run` as `#[inline(always)]`.
pub trait Task {
    /// What the work returns.
    type Output;
    /// Does the work.
    ///
    /// # Safety
    /// The pointers of the task are valid for what its fields describe.
    unsafe fn run(self) -> Self::Output;
}

/// An instruction set that has its own copy of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InstructionSet {
    /// What every processor of the architecture has: SSE2 on x86-64, NEON on AArch64.
    Baseline = 1,
    /// SSE4.2: x86-64-v2.
    Sse42 = 2,
    /// AVX2 with BMI.
    Avx2 = 3,
    /// AVX-512 with the F, BW, CD, DQ and VL parts.
    Avx512 = 4,
}

/// 0: not detected yet.
static LEVEL: AtomicU8 = AtomicU8::new(0);

impl InstructionSet {
    /// All instruction sets, simplest first.
    pub const ALL: [Self; 4] = [Self::Baseline, Self::Sse42, Self::Avx2, Self::Avx512];

    /// The name that users see and may force.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Sse42 => "sse4.2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the instruction set, and this build its kernels.
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Baseline => true,
            Self::Sse42 => EVERY_COPY && sse42::is_available(),
            Self::Avx2 => avx2::is_available(),
            Self::Avx512 => EVERY_COPY && avx512::is_available(),
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Self::Baseline
        }
    }

    /// The instruction set in force: the best available one unless [`force`](Self::force) chose another.
    #[inline]
    pub fn current() -> Self {
        let level = LEVEL.load(Ordering::Relaxed);
        Self::ALL.into_iter().find(|&set| set as u8 == level).unwrap_or_else(Self::detect)
    }

    /// Makes every later call use this instruction set; returns false if the processor lacks it.
    pub fn force(self) -> bool {
        let available = self.is_available();
        if available {
            LEVEL.store(self as u8, Ordering::Relaxed);
        }
        available
    }

    #[cold]
    fn detect() -> Self {
        let best = Self::ALL.into_iter().rev().find(|set| set.is_available()).unwrap_or(Self::Baseline);
        LEVEL.store(best as u8, Ordering::Relaxed);
        best
    }

    /// Whether this is AVX2 or AVX-512, or the only instruction set of its architecture. Kernels that only save time are compiled
    /// for no other.
    pub fn is_wide(self) -> bool {
        matches!(self, Self::Avx2 | Self::Avx512) || cfg!(not(target_arch = "x86_64"))
    }
}

/// What every processor has.
pub(crate) mod baseline {
    use crate::isa::{Task, dispatch_narrow};

    /// The right to run code for the baseline, which every processor has.
    #[derive(Clone, Copy, Debug)]
    pub struct Token;

    impl Token {
        /// Runs a task compiled for the baseline.
        ///
        /// # Safety
        /// The conditions of [`Task::run`] hold.
        #[inline(always)]
        pub unsafe fn run<T: Task>(self, task: T) -> T::Output {
            // SAFETY: the caller's promise.
            unsafe { dispatch_narrow(task) }
        }
    }
}

/// The instruction set in force, with the token that runs its code.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InForce {
    Baseline(baseline::Token),
    #[cfg(target_arch = "x86_64")]
    Sse42(sse42::Token),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Token),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Token),
}

impl InForce {
    /// The instruction set in force.
    #[inline(always)]
    pub fn now() -> Self {
        match InstructionSet::current() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: it comes into force only after detection: see `force` and `detect`.
            InstructionSet::Sse42 => Self::Sse42(unsafe { sse42::Token::new() }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: it comes into force only after detection: see `force` and `detect`.
            InstructionSet::Avx2 => Self::Avx2(unsafe { avx2::Token::new() }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: it comes into force only after detection: see `force` and `detect`.
            InstructionSet::Avx512 => Self::Avx512(unsafe { avx512::Token::new() }),
            _ => Self::Baseline(baseline::Token),
        }
    }
}

/// With debug assertions nothing is vectorised, and similar copies took half of the compile time: plain loops are compiled only for
/// the baseline, and kernels that use registers only for AVX2. Builds for AddressSanitizer compile all copies.
pub const EVERY_COPY: bool = !cfg!(debug_assertions) || option_env!("EXTREMUM_EVERY_COPY").is_some();

/// Runs a task compiled for the instruction set in force.
///
/// # Safety
/// The conditions of [`Task::run`] hold.
#[inline(always)]
pub unsafe fn dispatch<T: Task>(task: T) -> T::Output {
    if !EVERY_COPY {
        // SAFETY: the caller's promise.
        return unsafe { dispatch_narrow(task) };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match InForce::now() {
            #[cfg(target_arch = "x86_64")]
            InForce::Avx512(set) => set.run(task),
            #[cfg(target_arch = "x86_64")]
            InForce::Avx2(set) => set.run(task),
            #[cfg(target_arch = "x86_64")]
            InForce::Sse42(set) => set.run(task),
            InForce::Baseline(set) => set.run(task),
        }
    }
}

/// Runs a task compiled for the instruction set in force, which must be [wide](InstructionSet::is_wide).
///
/// # Safety
/// The conditions of [`Task::run`] hold.
#[inline(always)]
pub unsafe fn dispatch_wide<T: Task>(task: T) -> T::Output {
    if !EVERY_COPY {
        // SAFETY: the caller's promise.
        return unsafe { dispatch_narrow(task) };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match InForce::now() {
            #[cfg(target_arch = "x86_64")]
            InForce::Avx512(set) => set.run(task),
            #[cfg(target_arch = "x86_64")]
            InForce::Avx2(set) => set.run(task),
            #[cfg(target_arch = "x86_64")]
            _ => unreachable!("such a task is compiled for wide instruction sets only"),
            #[cfg(not(target_arch = "x86_64"))]
            InForce::Baseline(set) => set.run(task),
        }
    }
}

/// Runs a task compiled for the baseline. It is not inlined: it would be compiled again wherever tasks are dispatched, and each
/// of these places would reserve the memory that it needs.
///
/// # Safety
/// The conditions of [`Task::run`] hold.
#[inline(never)]
pub unsafe fn dispatch_narrow<T: Task>(task: T) -> T::Output {
    // SAFETY: the caller's promise.
    unsafe { task.run() }
}

/// For each instruction set, the features that the compiler may use. All are detected, because a hypervisor may hide any of them.
/// A set includes the features of the sets before it. Features that others imply for the compiler are listed too.
macro_rules! instruction_sets {
    ([$($has:tt)*]) => {};
    ([$($has:tt)*] $set:ident [$($more:tt)*] $($rest:tt)*) => {
        instruction_sets! { @module $set $($has)* $($more)* }
        instruction_sets! { [$($has)* $($more)*] $($rest)* }
    };
    (@module $set:ident $($feature:tt)+) => {
        #[cfg(target_arch = "x86_64")]
        pub(crate) mod $set {
            use crate::isa::Task;

            /// The right to run code for this instruction set: the module `isa` makes it after detection.
            #[derive(Clone, Copy, Debug)]
            pub struct Token(());

            pub fn is_available() -> bool {
                $(is_x86_feature_detected!($feature))&&+
            }

            impl Token {
                /// # Safety
                /// The processor has the instruction set.
                pub(super) unsafe fn new() -> Self {
                    debug_assert!(is_available());
                    Self(())
                }

                /// Runs a task compiled for this instruction set, which a token proves to be there.
                ///
                /// # Safety
                /// The conditions of [`Task::run`] hold.
                #[inline(always)]
                pub unsafe fn run<T: Task>(self, task: T) -> T::Output {
                    // SAFETY: the caller's promise, and the token's.
                    unsafe { compiled(task) }
                }
            }

            /// # Safety
            /// The conditions of [`Task::run`] hold, and the processor has the instruction set.
            $(#[target_feature(enable = $feature)])+
            unsafe fn compiled<T: Task>(task: T) -> T::Output {
                // SAFETY: the caller's promise.
                unsafe { task.run() }
            }
        }
    };
}

instruction_sets! {
    []
    sse42 ["sse3" "ssse3" "sse4.1" "sse4.2" "popcnt"]
    avx2 ["avx" "avx2" "bmi1" "bmi2" "lzcnt"]
    avx512 ["f16c" "fma" "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"]
}

/// A register that holds lanes of every kind.
pub(crate) trait AllLanes:
    Lanes<Int8> + Lanes<Int16> + Lanes<Int32> + Lanes<Int64> + Lanes<Float16> + Lanes<Float32> + Lanes<Float64>
{
}
impl<V> AllLanes for V where
    V: Lanes<Int8> + Lanes<Int16> + Lanes<Int32> + Lanes<Int64> + Lanes<Float16> + Lanes<Float32> + Lanes<Float64>
{
}

/// An instruction set with the registers that it works on.
pub(crate) trait Set: Copy {
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
                // SAFETY: the caller's promise.
                unsafe { self.run(task) }
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod sets {
    use super::{Set, Task};
    use std::arch::x86_64::{__m128i, __m256i, __m512i};

    set!(super::sse42::Token, __m128i, __m128i, __m128i);
    set!(super::avx2::Token, __m256i, __m128i, __m128i);
    set!(super::avx512::Token, __m512i, __m256i, __m128i);
}

/// The registers of every AArch64; arrays on other architectures and under Miri.
#[cfg(any(not(target_arch = "x86_64"), miri))]
mod sets {
    use super::{Set, Task};
    #[cfg(any(not(target_arch = "aarch64"), miri))]
    use crate::vector::portable::Part as Only;
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    use std::arch::aarch64::uint8x16_t as Only;

    set!(super::baseline::Token, Only, Only, Only);
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
        $crate::isa::with_set!($I, _set => $body, $otherwise)
    };
}

pub(crate) use with_set;
